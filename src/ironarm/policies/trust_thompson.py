"""TrustThompson: Thompson sampling on the rewards of sources that can be trusted."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..marks import cold, hot
from ..policy import Policy
from ..random import normal
from ..rules import source_rows, source_trust
from ..rules.forced_pulls import arm_below
from ..rules.source_rows import LARGEST, count_reward, row_of
from ..rules.source_trust import judge
from ..validation import whole

FIRST = 4  # pulls of each arm, before anything else
LOOK = 8  # a look comes when the rewards have grown by an eighth
WIDEN = 1.5  # the variance of the draws, in units of the belief's own
LEAST_REWARDS = 0.1


@hot
def belief_moved(s, a):
    """Take note that rewards, open decisions or trust of arm a have changed."""
    if s.weighted[a] > 0.0:
        s.estimate[a] = s.weighted_sum[a] / s.weighted[a]
    elif s.rewards[a] > 0:
        s.estimate[a] = s.overall[0]  # all its rewards are from sources without trust
    waiting = s.n[a] - s.rewards[a]
    s.spread[a] = math.sqrt(WIDEN * s.variance[a] / max(s.weighted[a] + waiting, LEAST_REWARDS))


@cold
def look(s):
    """Judge all sources anew."""
    pooled = judge(s)
    total = 0.0
    count = 0.0
    for a in range(s.arms):
        # an arm that seems bad may be as good as others, and then varies as they do
        s.variance[a] = max(s.variance[a], pooled)
        total += s.weighted_sum[a]
        count += s.weighted[a]
    s.overall[0] = total / count if count > 0.0 else 0.0
    for a in range(s.arms):
        belief_moved(s, a)
    s.next_look[0] = s.learnt[0] + max(1, s.learnt[0] // LOOK, s.rows[0])


@dataclass(frozen=True)
class TrustThompson(Policy):
    """Thompson sampling for rewards from sources, some of them hostile or broken.

    `agent.update(arm, x, source="publisher-17")` says who sent a reward: a user, a
    publisher, a rater, a sensor. Honest sources send rewards of the same laws. The
    others, fewer than half, send anything, as much as they like. From that alone
    the policy finds out whom to trust: it drops sources whose rewards differ from the
    others' by more than luck. Then round t pulls the arm with the largest

        theta_a ~ N(mean_a, 1.5 v_a / N_a),

    computed from the rewards of arm a, each with the weight of its source. Rewards may
    be 0 or 1 or any numbers; scale and offset do not matter. docs/policies.md has the
    rule, docs/sources.md the measurements.

    **What it cannot do.** An attacker who can create sources at will soon owns most of
    them, so a source should cost something. Without sources this is plain Thompson
    sampling, with no defence at all. A hostile source can lie as much as luck allows
    for the number of its rewards; `ironarm.theory.tolerated_share` computes the harm.
    If a coin corrupts rewards of all sources alike, use `CoherentIMED`.

    Parameters
    ----------
    slots : how many sources are told apart; further ones share slots by a hash. Memory
        is 24 bytes for each arm and slot.

    Examples
    --------
    Fifteen of a hundred users click on everything but the best arm, for which they
    send -1. Trials that end stuck on a wrong arm, as a share:

    >>> import ironarm as ia
    >>> result = ia.simulate(
    ...     [ia.TrustThompson(), ia.UCB(sigma=0.5)],
    ...     ia.BernoulliBandit([0.1, 0.2, 0.3]),
    ...     ia.Constant(rho=0.15, value=1),
    ...     sources=ia.Sources(100),
    ...     horizon=10_000,
    ...     trials=20,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> result.stuck.mean(axis=1).tolist()
    [0.0, 1.0]

    References
    ----------
    The rule is ours. Related: Qiao and Valiant, Learning discrete distributions from
    untrusted batches, ITCS 2018, for what many small samples of which some are hostile
    can tell; Agrawal and Goyal, Near-optimal regret bounds for Thompson sampling,
    Journal of the ACM 64, 2017.
    """

    slots: int = 4096

    estimator = None
    needs = {}
    family = "drawn from a belief", "mean"
    use_when = (
        "each reward says who sent it, and some of the senders, less than half, are hostile or "
        "broken (docs/sources.md)"
    )
    reads_source = True
    fields = {
        **source_rows.FIELDS,
        **source_trust.FIELDS,
        "spread": "cache float[arms]",
        "started": "cache int[1]",
        "learnt": "int[1]",
        "next_look": "int[1]",
        "overall": "float[1]",
    }

    def __post_init__(self) -> None:
        self._set(slots=whole("slots", self.slots, at_least=1, below=2**24))

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        return {"slots": self.slots, "places": 2 * self.slots}

    @staticmethod
    def _check_saved(fields: dict[str, np.ndarray]) -> None:
        source_rows.check_saved(fields)

    @staticmethod
    @hot
    def choose(s, t, g):
        if s.started[0] == 0:
            arm = arm_below(s.n, s.rewards, FIRST)
            if arm >= 0:
                return arm
            s.started[0] = 1
        best = 0
        highest = -math.inf
        for a in range(s.arms):
            drawn = s.estimate[a] + s.spread[a] * normal(g)
            if drawn > highest:
                highest = drawn
                best = a
        return best

    @staticmethod
    @hot
    def update(s, a, x):
        known = s.rows[0]
        row = row_of(s, s.source[0])
        if s.rows[0] > known:
            s.row_weight[row] = 1.0
        x = min(max(x, -LARGEST), LARGEST)
        count_reward(s, a, row, x)
        s.weighted[a] += s.row_weight[row]
        s.weighted_sum[a] += s.row_weight[row] * x
        s.learnt[0] += 1
        if s.learnt[0] >= s.next_look[0]:
            look(s)
        else:
            belief_moved(s, a)

    @staticmethod
    @hot
    def recount(s, a):
        if s.rewards[a] < FIRST:
            s.started[0] = 0
        belief_moved(s, a)
