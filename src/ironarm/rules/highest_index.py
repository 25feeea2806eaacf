"""The arm with the highest index estimate_a + sqrt(coefficient * log t) / sqrt(n_a).

Among equals it is the lowest number. With coefficient 0: the highest estimate.
`IndexPolicy` is what policies that pull it share.

Between two pulls of an arm its index is a line in c = sqrt(coefficient log t), and c
creeps. Two consequences, both exact but for rounding: of indices that differ by less
than that, either may win.

* **Lazy leader.** `threat` is the largest index that the other arms can reach until
  round `threat_until`. While the leader's index exceeds it, the leader is the answer.
  The c of an earlier round, `leader_scale`, is enough to know that, because c only
  grows: one comparison, no logarithm. Otherwise all indices are computed.
* **Kinetic tree** (`kinetic_tree.py`). It costs something in every round, but never
  looks at all arms.

Which one is cheaper depends on how often the lead changes. So the leader is tried
first, and when its scans have cost clearly more than a tree would have, the tree takes
over for a while.
"""

from __future__ import annotations

import math

from ..errors import PolicyFault
from ..marks import cold, hot
from ..policy import Policy
from .kinetic_tree import tree_levels, tree_top, tree_touch

FIELDS = {
    "spread": "cache float[arms]",
    "leader": "cache int[1]",
    "leader_scale": "cache float[1]",
    "threat": "cache float[1]",
    "threat_scale": "cache float[1]",
    "threat_until": "cache int[1]",
    "scan_debt": "cache float[1]",
    "pulls_at_scan": "cache int[1]",
    "tree_left": "cache int[1]",
    "tree_winner": "cache int[arms*4]",
    "tree_until": "cache float[arms*4]",
    "tree_at": "cache float[1]",
    "tree_ready": "cache int[1]",
}
TREE_COST = 5.0  # of one of its levels in one round, where looking at an arm costs 1
PATIENCE = 16  # scans, beyond what a tree would have cost, before the tree takes over
TREE_ROUNDS = 16  # for each arm, before the leader is tried again


@hot
def highest_index(s, t, coefficient):
    """Return the arm with the highest index at round t.

    Arms without a reward come first, fewest open decisions first. The coefficient must
    stay the same; if it changes, set `s.threat_until[0] = 0` to recompute all indices.
    """
    if s.unrewarded[0] > 0:
        return first_unrewarded(s.n, s.rewards, s.fresh)
    return highest_line(s, t, coefficient)


@hot
def highest_line(s, t, coefficient):
    """Return the arm with the highest index at round t, arms without a reward last."""
    leader = s.leader[0]
    # the bare estimate first: where it is enough, nothing waits for the square root in
    # the spread
    if (
        leader >= 0
        and t <= s.threat_until[0]
        and (
            s.estimate[leader] > s.threat[0]
            or s.estimate[leader] + s.leader_scale[0] * s.spread[leader] > s.threat[0]
        )
    ):
        return leader
    return search(s, t, coefficient)


@hot
def index_moved(s, a):
    """Take note that the estimate or the count of arm a has changed."""
    s.spread[a] = 1.0 / math.sqrt(s.n[a]) if s.n[a] > 0 else 0.0
    line_moved(s, a)


@hot
def line_moved(s, a):
    """Take note that the estimate or the spread of arm a has changed.

    For policies whose spread is not 1 / sqrt(n).
    """
    if s.tree_ready[0] != 0:
        tree_touch(s.estimate, s.spread, s.tree_winner, s.tree_until, s.tree_at, a)
    elif a != s.leader[0]:
        s.threat[0] = max(s.threat[0], s.estimate[a] + s.threat_scale[0] * s.spread[a])


@cold
def search(s, t, coefficient):
    """Find the highest index where the leader's own is not known to be it."""
    c = math.sqrt(coefficient * math.log(t))
    if s.tree_left[0] > 0:
        s.tree_left[0] -= 1
        if s.tree_left[0] > 0:
            return tree_top(
                s.estimate, s.spread, s.tree_winner, s.tree_until, s.tree_at, s.tree_ready, c
            )
        s.tree_ready[0] = 0
    s.leader_scale[0] = c
    leader = s.leader[0]
    if t <= s.threat_until[0] and s.estimate[leader] + c * s.spread[leader] > s.threat[0]:
        return leader
    # the rounds since the last scan were the leader's
    saved = TREE_COST * tree_levels(s.arms) * (s.n[leader] - s.pulls_at_scan[0] + 1)
    s.scan_debt[0] = max(0.0, s.scan_debt[0] - saved) + s.arms
    best = scan(s, t, coefficient, c)
    s.pulls_at_scan[0] = s.n[best]
    if s.scan_debt[0] > PATIENCE * s.arms:
        s.scan_debt[0] = 0.0
        s.threat_until[0] = 0  # there is no leader while the tree is in use
        s.tree_left[0] = TREE_ROUNDS * s.arms
        tree_top(s.estimate, s.spread, s.tree_winner, s.tree_until, s.tree_at, s.tree_ready, c)
    return best


@cold
def scan(s, t, coefficient, c):
    """Compute all indices, and what the others can reach until about t * 17/16."""
    until = t + t // 16 + 8
    later = math.sqrt(coefficient * math.log(until))
    estimate = s.estimate
    spread = s.spread
    best = 0
    highest = estimate[0] + c * spread[0]
    reach = estimate[0] + later * spread[0]
    runner_up = -math.inf
    for a in range(1, len(estimate)):
        index = estimate[a] + c * spread[a]
        its_reach = estimate[a] + later * spread[a]
        if index > highest:
            runner_up = max(runner_up, reach)
            best = a
            highest = index
            reach = its_reach
        else:
            runner_up = max(runner_up, its_reach)
    s.leader[0] = best
    s.threat[0] = runner_up
    s.threat_scale[0] = later
    s.threat_until[0] = until
    return best


@cold
def first_unrewarded(n, rewards, fresh):
    """Return the arm without a reward that has the fewest open decisions; `fresh`
    walks once over the arms never chosen.
    """
    while fresh[0] < len(n):
        if n[fresh[0]] == 0:
            return fresh[0]
        fresh[0] += 1
    best = -1
    for a in range(len(n)):
        if rewards[a] == 0 and (best < 0 or n[a] < n[best]):
            best = a
    return best


class IndexPolicy(Policy):
    """Pull the arm with the largest estimate_a + sqrt(coefficient log t / n_a).

    Every arm is pulled once first. A subclass names its parameters, its `estimator` and
    its `coefficient`; see `RUCB`. One that sometimes chooses in another way writes its
    own `choose` around `highest_index(s, t, s.coefficient)`; see `MedEUCB`.
    """

    fields = FIELDS

    @property
    def coefficient(self) -> float:
        """What log t / n is multiplied by under the root, in squared units of reward.

        The default is the parameter `omega`.
        """
        omega: float | None = getattr(self, "omega", None)
        if omega is None:
            name = type(self).__name__
            raise PolicyFault(
                f"{name} does not say how much it explores: give it a parameter `omega`, or a "
                "property `coefficient` that returns a number."
            )
        return omega

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        return {**super().constants(arms, horizon), "coefficient": self.coefficient}

    @property
    def expected_spread(self) -> float | None:
        # a coefficient of 4 suits rewards with a standard deviation of 1
        return super().expected_spread or self.coefficient**0.5 / 2

    @staticmethod
    @hot
    def choose(s, t, g):
        return highest_index(s, t, s.coefficient)

    @staticmethod
    @hot
    def update(s, a, x):
        index_moved(s, a)

    @staticmethod
    @hot
    def recount(s, a):
        index_moved(s, a)
