"""Queues of open decisions against plain lists, in Python and in compiled code."""

from hypothesis import given
from hypothesis import strategies as st

import ironarm as ia
from ironarm.engine.loop import (
    ANY,
    ANY_LOCKED,
    LEARNT,
    NOT_NOW,
    NOTHING_OPEN,
    OLDEST_LOCKED,
    OLDEST_OPEN,
)
from ironarm.engine.state import State
from ironarm.engine.waiting import Queues

ARMS = 3
steps = st.lists(
    st.tuples(
        st.sampled_from(["open", "open", "close", "select", "update"]), st.integers(0, ARMS - 1)
    ),
    max_size=80,
)


@given(steps)
def test_they_are_plain_lists(story):
    """In order, however Python and compiled code take turns; room is made."""
    waiting, state, expected = Queues(ARMS), State(ia.UCB(), ARMS), [[] for _ in range(ARMS)]
    select, observe = state.call("select"), state.call("observe")
    place = state.machine.handle(waiting.record)
    waiting.shut = False
    for made, (what, arm) in enumerate(map(tuple, story)):
        if what == "open":
            waiting.open(arm, float(made))
            expected[arm].append(float(made))
        elif what == "close" and expected[arm]:
            waiting.close(arm)
            del expected[arm][0]
        elif what == "select":
            chosen = select(state.handle, ANY, place, float(made))
            if chosen == NOT_NOW:
                assert sum(map(len, expected)) == len(waiting.view.made)
                waiting.grow()
                chosen = select(state.handle, ANY, place, float(made))
            expected[chosen].append(float(made))
        elif what == "update":
            done = observe(state.handle, arm, 0.5, 1.0, -1, OLDEST_OPEN, place)
            assert done == (LEARNT if expected[arm] else NOT_NOW)
            del expected[arm][:1]
        for a in range(ARMS):
            assert waiting.times(a) == expected[a]
            assert waiting.has(a) == bool(expected[a])
            assert waiting.oldest(a) == (expected[a][0] if expected[a] else None)


def test_who_is_shut_out_changes_nothing():
    """Only who holds the lock comes in; other decisions and rewards do not ask."""
    waiting, state = Queues(ARMS), State(ia.MedEUCB(), ARMS)
    select, observe = state.call("select"), state.call("observe")
    place, handle = state.machine.handle(waiting.record), state.handle
    waiting.open(1, 5.0)
    assert waiting.shut
    before = state.record.words.copy(), waiting.record.words.copy()
    assert select(handle, ANY, place, 1.0) == NOT_NOW
    assert observe(handle, 1, 2.0, 1.0, -1, OLDEST_OPEN, place) == NOT_NOW
    assert (state.record.words == before[0]).all()
    assert (waiting.record.words == before[1]).all()
    state.observe(1, 2.0, opened=NOTHING_OPEN)  # makes room in the pool
    assert observe(handle, 1, 2.0, 1.0, -1, OLDEST_LOCKED, place) == LEARNT
    assert select(handle, ANY_LOCKED, place, 7.0) == 0
    assert (waiting.times(0), waiting.times(1)) == ([7.0], [])
