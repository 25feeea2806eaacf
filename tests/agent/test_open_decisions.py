"""Open decisions against the obvious model: a list of all that are open, in order."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    clock = map(float, range(10_000))
    actual, expected = OpenDecisions(ARMS), []  # expected: (arm, time, id or None)
    kinds = {what for what, _, _ in story}
    for what, arm, number in story:
        ids = [id for _, _, id in expected if id is not None]
        if what == "select":
            made = next(clock)
            actual.waiting.open(arm, made)
            expected.append((arm, made, None))
        elif what == "decide":
            made = next(clock)
            # some have ids of their own, as in a log, unless they are saved by number
            named = f"id {made}" if number % 2 and "dump" not in kinds else None
            expected.append((arm, made, actual.add(arm, 0.5, made, named)))
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
        assert waiting == [(t.arm, t.made, id) for id, t in actual.tickets.items()]
        for k in range(ARMS):
            named = [id for arm, _, id in expected if arm == k and id is not None]
            assert actual.oldest(k) == (named[0] if named else None)
            assert [id for id in actual.ids[k] if id in actual.tickets] == named
            assert actual.waiting.times(k) == [
                m for arm, m, id in expected if arm == k and id is None
            ]
            assert len(actual.ids[k]) <= 2 * len(named) + 130


def test_other_arms_keep_their_decisions():
    """By their new numbers; those of arms that left are forgotten."""
    before = OpenDecisions(3)
    for arm in (0, 1, 2, 1):
        before.add(arm, 1.0, 5.0)
    after = before.for_arms([2, 1, None])
    assert {id: ticket.arm for id, ticket in after.tickets.items()} == {1: 1, 2: 0, 3: 1}
    assert [list(queue) for queue in after.ids] == [[2], [1, 3], []]
    assert after.add(0, 1.0, 6.0) == 4


def test_a_file_has_one_queue_for_both():
    """Numbers and times, oldest first; what is closed is not in it."""
    decisions = OpenDecisions(2)
    for made in (1.0, 3.0, 5.0):
        decisions.add(0, 1.0, made)
    for made in (2.0, 4.0):
        decisions.waiting.open(0, made)
    decisions.close(1)
    assert decisions.dump()["queues"] == [[0, 2.0, 4.0, 2], []]


def test_files_may_name_closed_decisions_in_their_queues():
    """Those of earlier versions do."""
    data = {"next_id": 4, "tickets": [[2, 0, 7.0, 1.0]], "queues": [[0, 1.5, 1, 2], [3]]}
    decisions = OpenDecisions(2)
    decisions.restore(data)
    assert list(decisions.ids[0]) == [2]
    assert decisions.waiting.times(0) == [1.5]
    assert not decisions.ids[1]


def test_ids_take_the_place_of_numbers():
    """As in a snapshot; there must be one for each."""
    data = {"next_id": 9, "tickets": [[2, 0, 7.0, 1.0], [5, 1, 8.0, 0.5]], "queues": [[2], [5]]}
    decisions = OpenDecisions(2)
    decisions.restore(data, {2: "x", 5: "y"})
    assert decisions.numbers() == {"x": 2, "y": 5}
    assert decisions.oldest(1) == "y"
    assert decisions.dump() == data
    with pytest.raises(ValueError, match="do not match their ids"):
        OpenDecisions(2).restore(data, {2: "x"})


def test_expiry_does_not_need_times_in_order():
    """The clock may have been set back between two decisions of `select`."""
    decisions = OpenDecisions(1)
    for made in (100.0, 5.0, 101.0, 6.0):
        decisions.waiting.open(0, made)
    assert decisions.expire(50.0) == [0, 0]
    assert decisions.waiting.times(0) == [100.0, 101.0]


def test_times_are_put_in_order():
    """For snapshots from when the clock could set them back."""
    decisions = OpenDecisions(1)
    for made in (1.0, 9.0, 2.0, 10.0):
        decisions.add(0, 1.0, made)
    assert decisions.sort_times() == 10.0
    assert [ticket.made for ticket in decisions.tickets.values()] == [1.0, 9.0, 9.0, 10.0]
