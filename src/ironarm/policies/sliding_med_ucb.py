"""Sliding med-E-UCB: the median of the last rounds, with forced exploration."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..estimators import SlidingMedian
from ..estimators.structures.ring import capacity_for
from ..marks import cold, hot
from ..rules.highest_index import IndexPolicy, highest_line, line_moved
from ..validation import number, whole
from .med_e_ucb import MedEUCB

NEVER = 1 << 62
SLIGHTLY_EARLY = 1.0 - 1e-12  # the rounds in between are simply checked again


@hot
def recent(s, a):
    """Return the rewards of arm a in the window plus its open decisions."""
    return s.held[a] + s.n[a] - s.rewards[a]


@cold
def due_arm(s, t):
    """Return the arm that must be explored at round t, or -1.

    If there is none, write down up to which round that is sure.
    """
    need = max(1, math.ceil(s.b * math.log(min(t, int(s.window)))))
    s.need[0] = need
    due = -1
    soonest = NEVER
    fewest = NEVER
    for a in range(s.arms):
        wanted = recent(s, a) < need or t - s.last_pull[a] >= s.rest
        if wanted and (due < 0 or s.last_pull[a] < s.last_pull[due]):
            due = a
        soonest = min(soonest, s.last_pull[a] + int(s.rest))
        fewest = min(fewest, recent(s, a))
    if due < 0:
        s.sure_until[0] = soonest - 1
        if fewest < s.b * math.log(s.window):
            short_after = int(math.exp(fewest / s.b * SLIGHTLY_EARLY))
            s.sure_until[0] = min(soonest - 1, short_after)
    return due


@hot
def recent_moved(s, a):
    """Take note that the estimate or the recent count of arm a has changed."""
    m = recent(s, a)
    s.spread[a] = 1.0 / math.sqrt(m) if m > 0 else 0.0
    line_moved(s, a)
    if m < s.need[0]:
        s.sure_until[0] = 0


@dataclass(frozen=True)
class SlidingMedUCB(IndexPolicy):
    """med-E-UCB on the last rounds only, for arms that change under attack.

    This is the project's own policy. It is `MedEUCB` with a memory of `window` rounds
    over all arms. Let n_a be the rewards of arm a among them, and w the smaller of t
    and the window. Forced pulls, spread over the window, keep n_a at b log w or more.
    All other rounds pull the arm with the largest

        median_a + sqrt(omega log w / n_a)

    with the lower median of those rewards. A change of any arm, the leader or not,
    shows after about half a window. docs/policies.md describes the forced pulls.

    **The price** is K b log(window) pulls in every window, for ever. `RestartingIMED`
    has less regret wherever both were measured, far less if changes are abrupt. In
    return you get a promise: nothing older than the window counts. Behind an agent the
    window counts rewards, and a late one enters it when it arrives.

    **Not for 0/1 rewards** or heavy ties: all medians are then equal. **Not for** a
    window of fewer than K b log(window) rounds: every round is then forced.

    Parameters
    ----------
    window : rounds, over all arms, that are remembered; 2 to 2^30.
    b : forced pulls of each arm per unit of log w, > 0. `SlidingMedUCB.for_rho` chooses
        it for a corrupt share.
    omega : exploration, in squared units of reward, > 0. 4 suits rewards with a
        standard deviation of 1; scale it with the variance.

    Examples
    --------
    >>> import ironarm as ia
    >>> agent = ia.Agent(
    ...     ia.policies.SlidingMedUCB(window=10, b=0.5), arms=["a", "b"], seed=7
    ... )
    >>> for t in range(40):
    ...     arm = agent.select()
    ...     agent.update(arm, 1.0 if (arm == "a") == (t < 20) else 0.0)
    >>> agent.best()
    'b'

    References
    ----------
    Guan, Ji, Bucci, Hu, Palombo, Liston, Liang, Robust stochastic bandit algorithms
    under probabilistic unbounded adversarial attack, AAAI 2020 (forced exploration).
    Garivier and Moulines, On upper-confidence bound policies for switching bandit
    problems, ALT 2011 (the window).
    """

    window: int
    b: float = 4.0
    omega: float = 4.0

    needs = {"omega": "sigma"}
    family = "upper confidence, for arms that change", "median"
    use_when = "as `MedEUCB`, and nothing older than `window` rounds may count"

    estimator = SlidingMedian
    fields = {
        **IndexPolicy.fields,
        "last_pull": "int[arms]",
        "need": "cache int[1]",
        "sure_until": "cache int[1]",
    }

    def __post_init__(self) -> None:
        self._set(
            window=whole("window", self.window, at_least=2, below=2**30 + 1),
            b=number("b", self.b, above=0),
            omega=number("omega", self.omega, above=0),
        )

    @classmethod
    def for_rho(cls, rho: float, window: int, omega: float = 4.0) -> SlidingMedUCB:
        """Return the policy with the forced pulls that a corrupt share rho needs.

        b is that of `MedEUCB.for_rho`.

        Parameters
        ----------
        rho : the share of corrupt rewards, 0 <= rho < 0.5.
        window, omega : as for the policy.

        >>> import ironarm as ia
        >>> round(ia.policies.SlidingMedUCB.for_rho(0.125, window=1000).b, 2)
        2.54
        """
        return cls(window=window, b=MedEUCB.for_rho(rho).b, omega=omega)

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        capacity = capacity_for(self.window)
        pulls = math.ceil(self.b * math.log(self.window))
        return {
            "b": self.b,
            "coefficient": self.omega,
            "window": float(self.window),
            "rest": float(max(1, self.window // pulls)),
            "capacity": float(capacity),
            "links": float(2 * capacity),
        }

    @staticmethod
    @hot
    def choose(s, t, g):
        arm = -1
        if t > s.sure_until[0]:
            arm = due_arm(s, t)
        if arm < 0:
            arm = highest_line(s, min(t, int(s.window)), s.coefficient)
        s.last_pull[arm] = t
        return arm

    @staticmethod
    @hot
    def update(s, a, x):
        recent_moved(s, a)
        out = s.left[0] - 1
        if out >= 0 and out != a:
            recent_moved(s, out)

    @staticmethod
    @hot
    def recount(s, a):
        recent_moved(s, a)
        s.sure_until[0] = 0
