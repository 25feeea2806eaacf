"""The interval heap against a sorted list."""

from bisect import insort

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ironarm.estimators.structures.interval_heap import heap_pop, heap_push
from tests.estimators.feed import many, rewards

TAKE_SMALLEST, TAKE_LARGEST = "take the smallest", "take the largest"


class Heap:
    """The heap in slot 1 of 3, in a pool of which nothing else must change."""

    def __init__(self, room):
        self.pool = np.full(room + 10, 7.5)
        self.start, self.size, self.sifted = (
            np.array([0, 5, room + 5]),
            np.zeros(3, np.int64),
            np.zeros(3, np.int64),
        )

    def push(self, x):
        heap_push(self.pool, self.start, self.size, self.sifted, 1, x)

    def pop(self, side):
        return heap_pop(self.pool, self.start, self.size, self.sifted, 1, side)

    def held(self):
        return self.pool[5 : 5 + self.size[1]].tolist()


def check(steps):
    heap, ordered = Heap(len(steps)), []
    for place, step in enumerate(steps):
        if step not in (TAKE_SMALLEST, TAKE_LARGEST):
            insort(ordered, step)
            heap.push(step)
        elif ordered:
            side = step == TAKE_LARGEST
            assert ordered.pop(-1 if side else 0) == heap.pop(int(side))
        if place % 16 == 0 or len(ordered) < 50:  # of many, sorting takes its time
            assert ordered == sorted(heap.held())
    assert ordered == sorted(heap.held())
    assert [*heap.pool[:5], *heap.pool[len(steps) + 5 :]] == [7.5] * 10
    assert [heap.size[0], heap.size[2], heap.sifted[0], heap.sifted[2]] == [0] * 4


@many
@given(st.lists(rewards | st.sampled_from([TAKE_SMALLEST, TAKE_LARGEST]), max_size=300))
def test_smallest_and_largest_in_any_order_of_calls(steps):
    """The smallest and the largest come out, whatever is added or removed."""
    check(steps)


@many
@given(st.permutations(range(700)), st.integers(0, 700), st.booleans())
def test_everything_comes_out_sorted(values, smallest, again):
    """Many values come out from both ends in order, and the heap can be used again."""
    steps = (
        [float(x) for x in values] + [TAKE_SMALLEST] * smallest + [TAKE_LARGEST] * (700 - smallest)
    )
    check(steps + steps[:50] if again else steps)
