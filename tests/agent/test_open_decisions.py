"""Open decisions against the obvious model: a list of all that are open, in order."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ironarm.agent import open_decisions
from ironarm.agent.open_decisions import OpenDecisions

ARMS = 3
steps = st.lists(
    st.tuples(
        st.sampled_from(["select", "select", "decide", "decide", "close", "pop", "expire", "dump"]),
        st.integers(0, ARMS - 1),
        st.integers(0, 999),
    ),
    max_size=60,
) | st.lists(
    # long queues with one decision that stays open at their front
    st.tuples(st.sampled_from(["decide", "decide", "close last"]), st.just(0), st.just(0)),
    min_size=200,
    max_size=400,
)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(steps)
def test_they_are_those_of_a_plain_list(story):
    """Queues and tickets, in order, whatever is closed, expired or saved."""
    clock = iter(range(10_000))
    now = open_decisions.time
    open_decisions.time = lambda: float(next(clock))
    try:
        play(story)
    finally:
        open_decisions.time = now


def play(story):
    """Do the same with both, and compare after every step."""
    actual, expected = OpenDecisions(ARMS), []  # expected: (arm, time, id or None)
    for what, arm, number in story:
        ids = [id for _, _, id in expected if id is not None]
        if what == "select":
            made = open_decisions.time()
            actual.queues[arm].append(made)
            expected.append((arm, made, None))
        elif what == "decide":
            id = actual.issue(arm, 0.5)
            actual.queues[arm].append(id)
            expected.append((arm, actual.tickets[id].made, id))
        elif what in ("close", "close last") and ids:
            id = ids[-1] if what == "close last" else ids[number % len(ids)]
            closed = next(entry for entry in expected if entry[2] == id)
            assert actual.close(id)[:2] == closed[:2]
            expected.remove(closed)
        elif what == "pop":
            first = next((entry for entry in expected if entry[0] == arm), None)
            ticket = actual.pop(arm)
            assert (ticket and ticket[:2]) == (first and first[:2])
            if first:
                expected.remove(first)
        elif what == "expire":
            limit = float(number % 50)
            old = [entry for entry in expected if entry[1] < limit]
            assert sorted(actual.expire(limit)) == sorted(entry[0] for entry in old)
            expected = [entry for entry in expected if entry[1] >= limit]
        elif what == "dump":
            again = OpenDecisions(ARMS)
            again.restore(actual.dump())
            actual = again
        waiting = [(arm, made, id) for arm, made, id in expected if id is not None]
        assert sorted(waiting) == sorted((t.arm, t.made, id) for id, t in actual.tickets.items())
        for k in range(ARMS):
            of_arm = [
                entry[1] if entry[2] is None else entry[2] for entry in expected if entry[0] == k
            ]
            oldest = actual.oldest(k)
            assert oldest == (of_arm[0] if of_arm else None)
            left = [x for x in actual.queues[k] if type(x) is float or x in actual.tickets]
            assert left == of_arm
            assert len(actual.queues[k]) <= 2 * len(of_arm) + 130


def test_other_arms_keep_their_decisions():
    """By their new numbers; those of arms that left are forgotten."""
    before = OpenDecisions(3)
    for arm in (0, 1, 2, 1):
        before.queues[arm].append(before.issue(arm, 1.0))
    after = before.for_arms([2, 1, None])
    assert {id: ticket.arm for id, ticket in after.tickets.items()} == {1: 1, 2: 0, 3: 1}
    assert [list(queue) for queue in after.queues] == [[2], [1, 3], []]
    assert after.issue(0, 1.0) == 4


def test_expiry_does_not_need_times_in_order():
    """The clock may have been set back between two decisions of `select`."""
    decisions = OpenDecisions(1)
    decisions.queues[0].extend([100.0, 5.0, 101.0, 6.0])
    assert decisions.expire(50.0) == [0, 0]
    assert list(decisions.queues[0]) == [100.0, 101.0]


def test_times_are_put_in_order():
    """For snapshots from when the clock could set them back."""
    decisions = OpenDecisions(1)
    for made in (1.0, 9.0, 2.0, 10.0):
        decisions.issue(0, 1.0, made)
    assert decisions.sort_times() == 10.0
    assert [ticket.made for ticket in decisions.tickets.values()] == [1.0, 9.0, 9.0, 10.0]
