"""GLR-klUCB: kl-UCB with restarts by a generalised likelihood ratio test."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..marks import cold, hot
from ..rules.bernoulli_kl import kl_plus
from ..rules.count_evidence import upper_bound
from ..rules.reward_range import RangedPolicy, share_of_range
from ..validation import choice, number, optional, whole

SPLITS = 512  # that are held of an arm; when there are so many, every second one goes
EXPLORATION = 0.1  # the authors' factor in alpha


@hot
def kl(p, q):
    """Return the binary relative entropy of p and q."""
    return kl_plus(p, q) + kl_plus(1.0 - p, 1.0 - q)


@cold
def has_changed(s, a, n):
    """Say whether some split of the n rewards of arm a is too unlikely by chance."""
    base = a * SPLITS
    mean = s.total[a] / n
    limit = math.log(3.0 * n * math.sqrt(n) / s.delta)
    for j in range(s.splits[a] - 1):
        m = (j + 1) * s.spacing[a]
        first = s.sums[base + j]
        later = min(max((s.total[a] - first) / (n - m), 0.0), 1.0)
        if m * kl(first / m, mean) + (n - m) * kl(later, mean) >= limit:
            return True
    return False


@cold
def thin_splits(s, a):
    """Let every second split of arm a go, and make later ones half as often."""
    base = a * SPLITS
    for j in range(SPLITS // 2):
        s.sums[base + j] = s.sums[base + 2 * j + 1]
    s.splits[a] = SPLITS // 2
    s.spacing[a] *= 2


@cold
def forget_arm(s, a):
    """Forget the rewards of arm a."""
    s.before[a] = s.rewards[a]
    s.began[a] = max(s.now[0], s.rounds[0])
    s.total[a] = 0.0
    s.splits[a] = 0
    s.spacing[a] = int(s.step)
    s.estimate[a] = -math.inf


@cold
def highest_kl_index(s, t):
    """Return the arm with the highest kl-UCB index."""
    best = -1
    highest = -math.inf
    for a in range(s.arms):
        m = s.rewards[a] - s.before[a]
        n = s.n[a] - s.before[a]
        if m == 0:
            index = math.inf
            if highest == math.inf and n >= s.n[best] - s.before[best]:
                continue
        else:
            age = math.log(t - s.began[a]) if t > s.began[a] else 0.0
            level = max(0.0, age + 3.0 * math.log(max(age, 1.0)))
            mean = s.total[a] / m
            # Pinsker's inequality: the index is not above this
            if mean + math.sqrt(level / (2.0 * n)) <= highest:
                continue
            index = upper_bound(mean * n, n, level)
            if index <= highest:
                continue
        highest = index
        best = a
    return best


@dataclass(frozen=True)
class GLRKLUCB(RangedPolicy):
    """GLR-klUCB of Besson et al.: kl-UCB that watches for changes of bounded rewards.

    Rewards are mapped to [0, 1]. In a share alpha of all rounds the arms are pulled in
    turn. All other rounds pull the arm with the largest q for which n_a kl(mean_a, q)
    <= log t_a + 3 log log t_a, counting the arm's rewards and the rounds t_a since its
    last change. The arm pulled has changed if, for some split of its n rewards into the
    first m and the rest,

        m kl(first mean, mean) + (n - m) kl(later mean, mean)

    is at least log(3 n sqrt(n) / delta). Then the policy forgets the rewards of this
    arm ("local") or of all arms ("global"). As in the authors' experiments, only every
    tenth reward is tried as a split (`step`). An arm keeps 512 splits, so memory is
    bounded. docs/policies.md has the details, and the defaults of delta and alpha,
    which are those of the authors' code.

    **Not under attack**: corrupt rewards trigger the alarm, or move the means. Use
    `RestartingIMED`.

    Parameters
    ----------
    changes : how many changes to expect (the paper's Upsilon), > 0.
    restart : "local" or "global".
    step : rewards between two splits, >= 1; 1 is the full test.
    delta : how unlikely a false alarm is, 0 < delta < 1; None for the default.
    exploration : alpha, 0 to 1; None for the default.
    horizon : the number of rounds T. None: the simulation's. An agent needs it to
        compute the default delta or alpha.
    reward_range : (low, high), the rewards that map to 0 and 1; others are clipped.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.BernoulliBandit([0.2, 0.8])
    >>> policy = ia.policies.GLRKLUCB(changes=1)
    >>> result = ia.simulate(
    ...     policy, bandit, horizon=5000, trials=20, seed=1, progress=False
    ... )
    >>> bool(0.98 < result.optimal[0, :, -1].mean() < 1)
    True

    References
    ----------
    Besson, Kaufmann, Maillard, Seznec, Efficient change-point detection for tackling
    piecewise-stationary bandits, Journal of Machine Learning Research 23, 2022.
    """

    changes: float = 5.0
    restart: str = "local"
    step: int = 10
    delta: float | None = None
    exploration: float | None = None
    horizon: int | None = None
    reward_range: tuple[float, float] = (0.0, 1.0)

    needs = {"reward_range": "range"}
    family = "upper confidence, for arms that change", "mean in a known range"
    use_when = (
        "as for `MUCB`; the best of `SlidingWindowUCB`, `DiscountedUCB`, `MUCB` and this one "
        "where it was measured"
    )

    weighs_by_chance = False
    fields = {
        "sums": f"float[arms*{SPLITS}]",  # of the rewards up to each split
        "splits": "int[arms]",
        "spacing": "int[arms]",
        "total": "float[arms]",
        "before": "int[arms]",
        "began": "int[arms]",
        "now": "int[1]",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            changes=number("changes", self.changes, above=0),
            restart=choice("restart", self.restart, ("local", "global")),
            step=whole("step", self.step, at_least=1, below=2**20),
            delta=optional(number, "delta", self.delta, above=0, below=1),
            exploration=optional(number, "exploration", self.exploration, at_least=0, at_most=1),
            horizon=optional(whole, "horizon", self.horizon, at_least=1),
        )

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        delta, alpha = self.delta, self.exploration
        if delta is None or alpha is None:
            rounds = self._rounds(horizon, ", or both delta and exploration")
            events = self.changes * (arms if self.restart == "local" else 1)
            if delta is None:
                delta = 1 / math.sqrt(max(events * rounds, 1.0))
            if alpha is None:
                alpha = EXPLORATION * math.sqrt(events * math.log(rounds) / rounds)
        return {
            **super().constants(arms, horizon),
            "step": float(self.step),
            "delta": delta,
            "cycle": float(math.floor(arms / min(alpha, 1))) if alpha > 0 else math.inf,
            "everywhere": float(self.restart == "global"),
        }

    @staticmethod
    @hot
    def choose(s, t, g):
        s.now[0] = t
        place = t % int(s.cycle) if s.cycle < 1e18 else 0
        if 1 <= place <= s.arms:
            return place - 1
        return highest_kl_index(s, t)

    @staticmethod
    @hot
    def update(s, a, x):
        s.total[a] += share_of_range(s, x)
        n = s.rewards[a] - s.before[a]
        s.estimate[a] = s.low + (s.high - s.low) * (s.total[a] / n)
        if s.spacing[a] <= 0 or s.splits[a] < 0 or s.splits[a] >= SPLITS:
            # the arm is new, or the agent's file was damaged
            s.spacing[a] = int(s.step)
            s.splits[a] = 0
        if n % s.spacing[a] == 0:
            s.sums[a * SPLITS + s.splits[a]] = s.total[a]
            s.splits[a] += 1
            if has_changed(s, a, n):
                for k in range(s.arms):
                    if k == a or s.everywhere == 1.0:
                        forget_arm(s, k)
            elif s.splits[a] == SPLITS:
                thin_splits(s, a)
