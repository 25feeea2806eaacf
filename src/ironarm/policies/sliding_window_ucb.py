"""SW-UCB: upper confidence bounds on the last rounds only."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..estimators import SlidingMean
from ..estimators.structures.ring import capacity_for
from ..marks import cold, hot
from ..rules.highest_index import FIELDS, highest_line, line_moved
from ..rules.reward_range import RangedPolicy
from ..validation import number, whole


@cold
def first_unseen(s):
    """Return the arm without a reward in the window, fewest open decisions first."""
    best = -1
    for a in range(s.arms):
        waiting = s.n[a] - s.rewards[a]
        if s.held[a] == 0 and (best < 0 or waiting < s.n[best] - s.rewards[best]):
            best = a
    return best


@hot
def in_window_moved(s, a):
    """Take note that the estimate or the count of arm a has changed."""
    m = s.held[a] + s.n[a] - s.rewards[a]
    s.spread[a] = 1.0 / math.sqrt(m) if m > 0 else 0.0
    line_moved(s, a)
    s.all_seen[0] = 0 if s.held[a] == 0 else s.all_seen[0]


@dataclass(frozen=True)
class SlidingWindowUCB(RangedPolicy):
    """SW-UCB of Garivier and Moulines: for bounded rewards whose laws change.

    Only the last `window` rounds count. A round pulls an arm that was not pulled in
    them, lowest number first, or else the arm with the largest

        mean_a + B sqrt(xi log(min(t, window)) / n_a),

    where t is the number of rounds so far, n_a and mean_a are the number and the mean
    of the arm's rewards in the window, and B is the width of the range. The paper's
    window for T rounds with U changes is about 2 B sqrt(T log T / U).

    **Not under attack**: a share rho of corrupt rewards moves a mean by rho B. Use
    `SlidingMedUCB` or `RestartingIMED`. Behind an agent the window counts rewards, and
    a late one enters it when it arrives.

    Parameters
    ----------
    window : rounds, over all arms, that are remembered (the paper's tau); 1 to 2^30.
    xi : exploration, > 0; the paper's theorem needs more than 1/2.
    reward_range : (low, high), the range of the rewards; others are clipped to it.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.BernoulliBandit([0.2, 0.8])
    >>> policy = ia.policies.SlidingWindowUCB(window=1000)
    >>> result = ia.simulate(
    ...     policy, bandit, horizon=5000, trials=20, seed=1, progress=False
    ... )
    >>> bool(0.95 < result.optimal[0, :, -1].mean() < 1)
    True

    References
    ----------
    Garivier and Moulines, On upper-confidence bound policies for switching bandit
    problems, ALT 2011.
    """

    window: int
    xi: float = 0.6
    reward_range: tuple[float, float] = (0.0, 1.0)

    needs = {"reward_range": "range"}
    family = "upper confidence, for arms that change", "mean in a known range"
    use_when = (
        "nobody corrupts the rewards, which lie in a known range, and arms change; kept for "
        "comparison"
    )

    estimator = SlidingMean  # type: ignore[assignment]
    weighs_by_chance = False
    fields = {**FIELDS, "all_seen": "cache int[1]"}

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            window=whole("window", self.window, at_least=1, below=2**30 + 1),
            xi=number("xi", self.xi, above=0),
        )

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        low, high = self.reward_range
        return {
            "low": low,
            "high": high,
            "coefficient": self.xi * (high - low) ** 2,
            "window": float(self.window),
            "capacity": float(capacity_for(self.window)),
        }

    @staticmethod
    @hot
    def choose(s, t, g):
        if s.all_seen[0] == 0:
            arm = first_unseen(s)
            if arm >= 0:
                return arm
            s.all_seen[0] = 1
        return highest_line(s, max(1, min(t - 1, int(s.window))), s.coefficient)

    @staticmethod
    @hot
    def update(s, a, x):
        in_window_moved(s, a)
        out = s.left[0] - 1
        if out >= 0 and out != a:
            in_window_moved(s, out)

    @staticmethod
    @hot
    def recount(s, a):
        in_window_moved(s, a)
