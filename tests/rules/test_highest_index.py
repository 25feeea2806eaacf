"""The highest index, by leader or by tree, against a plain scan of all arms."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from ironarm.rules.highest_index import FIELDS, highest_index, index_moved


def state_of(arms):
    """Return a state with the rule's fields, as plain arrays."""
    fields = {}
    for name, text in FIELDS.items():
        length = eval(text.split("[")[1].rstrip("]"), {"arms": arms})
        fields[name] = np.zeros(length, np.int64 if "int" in text else float)
    return SimpleNamespace(
        arms=arms,
        n=np.zeros(arms, np.int64),
        rewards=np.zeros(arms, np.int64),
        estimate=np.full(arms, -math.inf),
        unrewarded=np.array([arms]),
        fresh=np.zeros(1, np.int64),
        **fields,
    )


@pytest.mark.parametrize(
    ("arms", "gap", "coefficient", "uses_tree"),
    [(5, 0.5, 2.0, False), (40, 0.0, 4.0, False), (150, 0.01, 1.0, True), (150, 5.0, 0.1, False)],
)
def test_choices_are_those_of_a_scan(arms, gap, coefficient, uses_tree):
    """Round by round; the tree takes over only where the lead changes often."""
    draw = np.random.default_rng(arms)
    s, total = state_of(arms), np.zeros(arms)
    modes = []
    for t in range(1, 4000):
        chosen = highest_index(s, t, coefficient)
        if s.unrewarded[0] == 0:
            index = s.estimate + math.sqrt(coefficient * math.log(t)) * s.spread
            # of indices that differ by their rounding only, either may win
            assert index[chosen] >= index.max() - 1e-12, t
        modes.append(bool(s.tree_ready[0]))
        s.n[chosen] += 1
        s.unrewarded[0] -= s.rewards[chosen] == 0
        s.rewards[chosen] += 1
        total[chosen] += round(draw.normal(gap * chosen), 1)
        s.estimate[chosen] = total[chosen] / s.n[chosen]
        index_moved(s, chosen)
    assert any(modes) == uses_tree
    if uses_tree:
        changes = sum(a != b for a, b in itertools.pairwise(modes))
        assert changes >= 2  # the leader was tried again
