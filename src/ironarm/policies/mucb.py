"""M-UCB: UCB that restarts when the halves of an arm's last rewards differ."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import InvalidInput
from ..marks import cold, hot
from ..rules.reward_range import RangedPolicy, share_of_range
from ..validation import number, optional, whole


@cold
def begin_again(s):
    """Forget all rewards."""
    for a in range(s.arms):
        s.before[a] = s.rewards[a]
        s.total[a] = 0.0
        s.difference[a] = 0.0
        s.estimate[a] = -math.inf


@cold
def halves_differ(s, a, y):
    """Take in the reward y; say whether the halves of the window differ too much.

    `difference` is the sum of the newer half minus that of the older one.
    """
    window = int(s.window)
    half = window // 2
    n = s.rewards[a] - s.before[a] - 1  # rewards before this one
    base = a * window
    if n >= half:
        # one reward goes over from the newer half to the older
        s.difference[a] -= 2.0 * s.recent[base + (n - half) % window]
    if n >= window:
        s.difference[a] += s.recent[base + n % window]
    s.difference[a] += y
    s.recent[base + n % window] = y
    return n + 1 >= window and abs(s.difference[a]) > s.threshold


@cold
def highest_since(s, t):
    """Return the arm with the highest index, t rounds after the last change."""
    level = math.sqrt(2.0 * math.log(t))
    best = 0
    highest = -math.inf
    for a in range(s.arms):
        m = s.n[a] - s.before[a]
        index = math.inf
        if s.rewards[a] > s.before[a]:
            index = s.total[a] / (s.rewards[a] - s.before[a]) + level / math.sqrt(m)
        if index > highest:
            highest = index
            best = a
    return best


@dataclass(frozen=True)
class MUCB(RangedPolicy):
    """M-UCB of Cao et al.: UCB that watches for changes of bounded rewards.

    Rewards are mapped to [0, 1]. Let t rounds have been played since the last change
    that was found. If A = t mod floor(K / gamma) is 1 to K, arm A is pulled: a share
    gamma of all rounds. All other rounds pull the arm with the largest mean_a + sqrt(2
    log t / n_a), n_a and mean_a from the rewards since that change. If the sums of the
    two halves of the pulled arm's last w rewards differ by more than b, the policy
    restarts.

    The paper's b is sqrt(w/2 log(2 K T^2)), and its gamma sqrt(M K (2 b + 3 sqrt(w)) /
    (2 T)) for M changes.

    **Not under attack**: corrupt rewards trigger the alarm, or move the means. Use
    `RestartingIMED`.

    Parameters
    ----------
    window : rewards of an arm that are compared (the paper's w), even, >= 2.
    changes : how many changes to expect (the paper's M), > 0.
    threshold : b, > 0; None for the paper's.
    exploration : gamma, 0 to 1; None for the paper's.
    horizon : the number of rounds T. None: the simulation's. An agent needs it to
        compute the paper's b or gamma.
    reward_range : (low, high), the rewards that map to 0 and 1; others are clipped.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.BernoulliBandit([0.2, 0.8])
    >>> policy = ia.policies.MUCB(window=200, changes=1)
    >>> result = ia.simulate(
    ...     policy, bandit, horizon=5000, trials=20, seed=1, progress=False
    ... )
    >>> bool(0.8 < result.optimal[0, :, -1].mean() < 1)
    True

    References
    ----------
    Cao, Wen, Kveton, Xie, Nearly optimal adaptive procedure with change detection for
    piecewise-stationary bandit, AISTATS 2019.
    """

    window: int = 200
    changes: float = 5.0
    threshold: float | None = None
    exploration: float | None = None
    horizon: int | None = None
    reward_range: tuple[float, float] = (0.0, 1.0)

    needs = {"reward_range": "range"}
    family = "upper confidence, for arms that change", "mean in a known range"
    use_when = (
        "nobody corrupts the rewards, which lie in a known range, and arms change; kept for "
        "comparison"
    )

    weighs_by_chance = False
    fields = {
        "recent": "float[arms*window]",
        "difference": "float[arms]",
        "total": "float[arms]",
        "before": "int[arms]",
        "began": "int[1]",
        "now": "int[1]",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        window = whole("window", self.window, at_least=2, below=2**20)
        if window % 2:
            raise InvalidInput(f"window must be even, to have two halves, got {window}.")
        self._set(
            window=window,
            changes=number("changes", self.changes, above=0),
            threshold=optional(number, "threshold", self.threshold, above=0),
            exploration=optional(number, "exploration", self.exploration, at_least=0, at_most=1),
            horizon=optional(whole, "horizon", self.horizon, at_least=1),
        )

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        w, b, gamma = self.window, self.threshold, self.exploration
        if b is None or gamma is None:
            rounds = self._rounds(horizon, ", or both threshold and exploration")
            if b is None:
                b = math.sqrt(w / 2 * math.log(2 * arms * rounds**2))
            if gamma is None:
                gamma = math.sqrt(self.changes * arms * (2 * b + 3 * math.sqrt(w)) / (2 * rounds))
        return {
            **super().constants(arms, horizon),
            "window": float(w),
            "threshold": b,
            "cycle": float(math.floor(arms / min(gamma, 1))) if gamma > 0 else math.inf,
        }

    @staticmethod
    @hot
    def choose(s, t, g):
        s.now[0] = t
        age = t - s.began[0]
        place = age % int(s.cycle) if s.cycle < 1e18 else age
        if 1 <= place <= s.arms:
            return place - 1
        return highest_since(s, age)

    @staticmethod
    @hot
    def update(s, a, x):
        y = share_of_range(s, x)
        if halves_differ(s, a, y):
            begin_again(s)
            s.began[0] = max(s.now[0], s.rounds[0])
        else:
            s.total[a] += y
            m = s.rewards[a] - s.before[a]
            s.estimate[a] = s.low + (s.high - s.low) * (s.total[a] / m)
