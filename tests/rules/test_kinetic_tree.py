"""The kinetic tree against a plain scan of all lines."""

import math
from types import SimpleNamespace

from hypothesis import example, given, settings
from hypothesis import strategies as st

from ironarm.rules.kinetic_tree import tree_top, tree_touch

INF = math.inf
often = settings(deadline=None, derandomize=True, max_examples=120)


class Tree:
    """A tree over lines estimate + c * spread; `top` is its answer, `scan` the plain
    one.
    """

    def __init__(self, lines):
        arms = len(lines)
        self.lines = SimpleNamespace(estimate=[e for e, _ in lines], spread=[s for _, s in lines])
        self.winner, self.until = [0] * (4 * arms), [0.0] * (4 * arms)
        self.at, self.ready = [0.0], [0]

    def top(self, c):
        return tree_top(
            self.lines.estimate, self.lines.spread, self.winner, self.until, self.at, self.ready, c
        )

    def touch(self, a, estimate, spread):
        self.lines.estimate[a], self.lines.spread[a] = estimate, spread
        if self.ready[0]:
            tree_touch(self.lines.estimate, self.lines.spread, self.winner, self.until, self.at, a)

    def heights(self, c):
        return [e + c * s for e, s in zip(self.lines.estimate, self.lines.spread, strict=True)]

    def scan(self, c):
        heights = self.heights(c)
        return heights.index(max(heights))


def rarely_infinite(estimates):
    """Infinite estimates now and then: where they are common, nothing else is ever
    on top.
    """
    return st.integers(0, 30).flatmap(
        lambda k: st.sampled_from([INF, -INF]) if k == 0 else estimates
    )


# small multiples of 1/8: every height is exact, many are equal, and lines cross at the
# very c of a query
exact_lines = st.tuples(
    rarely_infinite(st.integers(-8, 8).map(float)), st.integers(0, 8).map(lambda s: s / 8)
)
any_lines = st.tuples(
    rarely_infinite(st.floats(-10, 10) | st.floats(-1e3, 1e3)),
    st.integers(1, 10**6).map(lambda n: 1 / math.sqrt(n)),
)


def stories(lines, steps):
    """Lines, and what happens then: steps of c, each after some lines have changed."""
    changes = st.lists(st.tuples(st.integers(0, 1000), lines), max_size=3)
    some = st.lists(lines, min_size=1, max_size=6) | st.lists(lines, min_size=7, max_size=70)
    return st.tuples(some, st.lists(st.tuples(changes, steps), min_size=1, max_size=20))


def tell(story):
    """Yield the tree and c after each part of a story."""
    lines, parts = story
    tree, c = Tree(lines), 0.0
    for changes, step in parts:
        for a, line in changes:
            tree.touch(a % len(lines), *line)
        c = max(0.0, c + step)
        yield tree, c


@often
@given(stories(exact_lines, st.integers(0, 16).map(lambda c: c / 8)))
@example(([(1.0, 0.0), (0.0, 1.0), (0.0, 1.0)], [([], 0.5), ([], 0.5), ([], 0.125)]))
@example(
    (
        [(1.0, 0.0), (-8.0, 0.0), (-8.0, 0.0), (-8.0, 0.0)],
        [([], 0.5), ([(1, (0.0, 1.0))], 0.25), ([], 0.75)],
    )
)
@example(
    (
        [(0.0, 1.0), (1.0, 0.0)],
        [([], 0.5), ([], 0.5), ([(0, (INF, 0.0)), (1, (INF, 1.0))], 0.125), ([], 9.0)],
    )
)
def test_top_is_that_of_a_scan(story):
    """While c grows and lines change, the top is the highest line, the lowest number
    among equals; infinite and equal lines included.
    """
    for tree, c in tell(story):
        expected = tree.scan(c)
        actual = tree.top(c)
        assert expected == actual


@often
@given(stories(any_lines, st.floats(0, 2)))
def test_top_of_any_lines(story):
    """Whatever the lines, no line is higher than the top by more than the rounding
    of its height.
    """
    for tree, c in tell(story):
        heights = tree.heights(c)
        highest, actual = max(heights), heights[tree.top(c)]
        assert highest == actual or highest - actual <= 4 * math.ulp(highest)


@often
@given(stories(exact_lines, st.integers(-8, 8).map(lambda c: c / 8)))
def test_c_may_fall(story):
    """A query at a smaller c than the last builds the tree anew and is right too."""
    for tree, c in tell(story):
        expected = tree.scan(c)
        actual = tree.top(c)
        assert expected == actual


def test_few_matches_are_played(monkeypatch):
    """Among a thousand lines, a query at a c that has hardly grown and a changed
    line that loses cost a few matches, not a thousand.
    """
    from ironarm.rules import kinetic_tree

    tree = Tree([(a / 1000, 1 / math.sqrt(1 + a)) for a in range(1000)])
    tree.top(1.0)
    played = []
    play = kinetic_tree.play
    monkeypatch.setattr(kinetic_tree, "play", lambda *arguments: played.append(play(*arguments)))
    tree.top(1.0 + 1e-9)
    tree.touch(500, -1.0, 0.01)
    assert len(played) <= 20
    assert tree.scan(1.0 + 1e-9) == tree.top(1.0 + 1e-9)
