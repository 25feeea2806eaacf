"""Bounds on the expected regret at any horizon, for any parameters, near the truth.

They are ironarm's own; they are not in the paper.

They rest on two facts about an attack whose coin is independent of the clean reward,
whatever the attacker knows and does.

* A reward of the best arm is at most x with probability at most p = rho + (1 - rho)
  F_best(x), and the indicator is dominated by independent coins of probability p.
* The lower median of n rewards is at most x exactly if those coins' walk, +1 for "at
  most x" and -1 otherwise, is at 0 or above. For p < 1/2, by reflection,

      P(the walk is at 0 or above at some time n, n + 1, ...)
          = P(S_n >= 0) + P(S_n > 0) <= (4 p (1 - p))^(n/2)

  so there is no need for a union bound over all numbers of rewards, which costs the
  paper's proofs their constants.

An arm j is pulled for its index only if the best arm's index is at most x_j or its own
is above x_j. The first is rare once every arm has its forced pulls. The second can
happen for each number v of rewards of arm j only once, so it is summed over v and not
over rounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..bandits import Bandit
from ..policies import MedEUCB
from ..validation import number, whole
from .arms import Arms, poison_rate
from .power_sums import power_sum

# where to put x_j between the medians. Fixed, so that more corruption never gives a
# smaller bound
PIVOTS = np.linspace(0.08, 0.92, 20)
GROUPS = 32
LEVELS = 32
STEP = 1.14
ONE_BY_ONE = 500
MOST_PIVOTS = 24


@dataclass(frozen=True)
class FiniteTimeBound:
    """A bound on the expected regret, and where it comes from.

    Attributes
    ----------
    total : the bound; never above the largest possible regret, horizon times the
        largest gap.
    forced : the cost of forced and random pulls.
    extra : the cost of pulls of other arms whose own medians or bonuses are high.
    wrong : the cost of rounds in which the best arm's median is low.
    """

    total: float
    forced: float
    extra: float
    wrong: float


def med_e_ucb_bound(
    source: Bandit | Arms,
    rho: float,
    horizon: int,
    *,
    b: float = 4.0,
    omega: float = 4.0,
    block: int | None = None,
) -> FiniteTimeBound:
    """Bound the expected regret of med-E-UCB under any attack with an independent coin.

    **When not to use it:** if the attacker sees the clean reward before deciding
    whether to attack; then only the theorems hold.

    Examples
    --------
    >>> import ironarm as ia
    >>> paper = ia.GaussianBandit(range(2, 21, 2))
    >>> bound = med_e_ucb_bound(paper, rho=0.125, horizon=100_000)
    >>> round(bound.forced), 4230 < bound.total < 5500
    (4230, True)

    4,230 is measured; Theorem 1 says 180,000 at parameters forty times as large.
    """
    arms = Arms.of(source)
    rho = poison_rate(rho)
    T = whole("horizon", horizon, at_least=1)
    b, omega = number("b", b, above=0), number("omega", omega, above=0)
    # refuses a block without room for the first pulls, for which nothing is proved
    G = MedEUCB(b=b, omega=omega, block=block).block_for(arms.count)
    first = math.ceil(b * math.log(G))
    forced = float(arms.gaps.sum()) * min(T, math.ceil(b * math.log(((T - 1) // G + 1) * G)))
    counts, starts, rounds = _schedule(arms.count, b, G, first, T)
    candidates = [_bound(arms, T, forced, math.inf, math.inf)]
    for pivots in _pivots(arms, rho):
        different, which = np.unique(pivots, return_inverse=True)
        low_index = np.stack([_best_low(arms, rho, counts, starts, omega, x) for x in different])[
            which
        ]
        extra = _extra(arms, rho, pivots, first, omega, T)
        candidates.append(
            _bound(
                arms, T, forced, extra, float((_layered(arms, pivots, low_index) * rounds).sum())
            )
        )
    return min(candidates, key=lambda bound: bound.extra + bound.wrong)


def med_epsilon_greedy_bound(
    source: Bandit | Arms, rho: float, horizon: int, *, c: float = 10.0
) -> FiniteTimeBound:
    """Bound the expected regret of med-epsilon-greedy.

    It holds under any attack with an independent coin.

    After ceil(c) first pulls the number of an arm's random pulls up to round t is a sum
    of coins c/k, so that E z^n <= z^ceil(c) (M/t)^(c (1 - z)), M = ceil(c) K + 1; with
    z = 2 sqrt(p (1 - p)) that bounds the probability of a wrong median, and 1 - z =
    (sqrt(1 - p) - sqrt(p))^2 is the rate of `sharp`.

    Examples
    --------
    >>> import ironarm as ia
    >>> paper = ia.GaussianBandit(range(2, 21, 2))
    >>> round(
    ...     med_epsilon_greedy_bound(paper, rho=0.125, horizon=100_000).forced
    ... )  # 7,131 is measured
    7117
    """
    arms = Arms.of(source)
    rho = poison_rate(rho)
    T = whole("horizon", horizon, at_least=1)
    c = number("c", c, above=0)
    start = math.ceil(c) * arms.count
    forced = float(arms.gaps.sum()) * (min(T, math.ceil(c)) + c * math.log(max(1.0, T / start)))

    def wrong_rounds(p: float) -> float:
        z = 2 * math.sqrt(p * (1 - p))
        return power_sum(z ** math.ceil(c), start + 1, c * (1 - z), T)

    candidates = [_bound(arms, T, forced, math.inf, math.inf)]
    for pivots in _pivots(arms, rho):
        best = np.array(
            [[wrong_rounds(rho + (1 - rho) * float(arms.laws[arms.best].cdf(x)))] for x in pivots]
        )
        others = [
            gap * wrong_rounds(rho + (1 - rho) * (1 - float(arms.laws[j].cdf(x))))
            for gap, j, x in zip(arms.gaps, arms.others, pivots, strict=True)
        ]
        candidates.append(
            _bound(arms, T, forced, float(sum(others)), float(_layered(arms, pivots, best)[0]))
        )
    return min(candidates, key=lambda bound: bound.extra + bound.wrong)


def ever_at_least_half(n: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the probability that at least half of the coins ever come up, from n on.

    Each coin comes up with probability p; the share is of all coins thrown so far.

    >>> ever_at_least_half(np.array([46]), np.array([0.3])).round(5).tolist()
    [0.00485]
    """
    from scipy.special import bdtrc

    n, p = np.broadcast_arrays(np.asarray(n, dtype=float), p)
    few = np.minimum(p, 0.5)
    return np.where(
        p < 0.5,
        np.minimum(
            1.0,
            bdtrc(np.ceil(n / 2) - 1, n.astype(np.int64), few)
            + bdtrc(np.floor(n / 2), n.astype(np.int64), few),
        ),
        1.0,
    )


def _bound(arms: Arms, T: int, forced: float, extra: float, wrong: float) -> FiniteTimeBound:
    return FiniteTimeBound(min(T * arms.largest_gap, forced + extra + wrong), forced, extra, wrong)


def _pivots(arms: Arms, rho: float) -> list[np.ndarray]:
    """Return candidates for (x_j), between the medians.

    In the long run, the attack can push neither the best arm's median below x_j nor arm
    j's above it.
    """
    quantile = 0.5 / (1 - rho)
    lowest = float(arms.laws[arms.best].ppf(1 - quantile))
    highest = np.array([float(arms.laws[j].ppf(quantile)) for j in arms.others])
    median = float(arms.laws[arms.best].ppf(0.5))
    medians = np.array([float(arms.laws[j].ppf(0.5)) for j in arms.others])
    candidates = [_few(median - share * (median - medians)) for share in PIVOTS]
    return [x for x in candidates if (x < lowest).all() and (x >= highest).all()]


def _few(pivots: np.ndarray) -> np.ndarray:
    """Raise pivots to one of a few values, the largest among them.

    So many arms take little longer than some. Any x_j between the limits is valid.
    """
    levels = np.unique(pivots)
    if len(levels) > MOST_PIVOTS:
        levels = levels[np.round(np.linspace(0, len(levels) - 1, MOST_PIVOTS)).astype(np.int64)]
    return levels[np.searchsorted(levels, pivots)]


def _extra(arms: Arms, rho: float, pivots: np.ndarray, first: int, omega: float, T: int) -> float:
    """Return what pulls of the other arms cost because their own index is too high.

    That is above their pivot. For normal arms with one sigma and one pivot, the best of
    them stands for all.
    """
    if arms.common_sigma is None:
        return float(
            sum(
                gap * _others_high(arms, rho, j, x, first, omega, T)
                for gap, j, x in zip(arms.gaps, arms.others, pivots, strict=True)
            )
        )
    total = 0.0
    for x in np.unique(pivots):
        group = np.flatnonzero(pivots == x)
        best = arms.others[group[np.argmin(arms.gaps[group])]]
        total += float(arms.gaps[group].sum()) * _others_high(
            arms, rho, best, float(x), first, omega, T
        )
    return total


def _schedule(
    K: int, b: float, G: int, first: int, T: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return groups of rounds: forced pulls of each arm, first round, number of rounds.

    Each arm has had at least that many forced pulls in the group.
    """
    last = max(first, math.ceil(b * math.log(((T - 1) // G + 1) * G)))
    counts = np.unique(np.round(np.linspace(first, last, GROUPS))).astype(np.int64)
    # count n is reached in the first block k with b log((k+1) G) > n - 1
    blocks = np.floor(np.exp(np.minimum((counts - 1) / b, 700.0)) / G)
    starts = np.minimum(blocks * G + 1, T + 1)
    starts[0] = min(K * first + 1, T + 1)
    starts = np.maximum.accumulate(starts)
    return counts, starts, np.append(starts[1:], T + 1) - starts


def _best_low(
    arms: Arms, rho: float, counts: np.ndarray, starts: np.ndarray, omega: float, x: float
) -> np.ndarray:
    """Bound the probability that the best arm's index is at most x, for each group.

    It holds for any number of rewards from the group's on.

    The numbers of rewards are cut into levels, each a seventh larger than the last.
    Within a level the bonus is at least that at its end, so one reflection serves the
    whole level; beyond the last level the bonus is left out. The best last level is
    taken.
    """
    law = arms.laws[arms.best]
    levels = np.ceil(counts[:, None] * STEP ** np.arange(LEVELS + 1))
    bonus = np.sqrt(omega * np.log(starts)[:, None] / levels[:, 1:])
    within = ever_at_least_half(levels[:, :-1], rho + (1 - rho) * np.asarray(law.cdf(x - bonus)))
    beyond = ever_at_least_half(levels, np.asarray(rho + (1 - rho) * float(law.cdf(x))))
    before = np.concatenate([np.zeros((len(counts), 1)), np.cumsum(within, axis=1)], axis=1)
    return np.minimum(1.0, (before + beyond).min(axis=1))


def _others_high(
    arms: Arms, rho: float, j: int, x: float, first: int, omega: float, T: int
) -> float:
    """Bound the expected number of pulls of arm j while its own index is above x.

    There is at most one such pull for each number v of rewards.

    Small v are summed one by one. Larger ones are taken in groups: the bonus falls with
    v, and so does the chance of a majority among an odd number of coins, which is
    larger than among the even number above it; so the odd number at or below a group's
    first v bounds the whole group.
    """
    from scipy.special import betainc

    single = np.arange(first, min(T, first + ONE_BY_ONE))
    edges = (
        np.unique(
            np.round(
                np.geomspace(
                    first + ONE_BY_ONE,
                    T,
                    2 + int(math.log(T / (first + ONE_BY_ONE)) / math.log(1.02)),
                )
            )
        )
        if first + ONE_BY_ONE < T
        else np.array([])
    )
    v = np.concatenate([single, edges[:-1]]).astype(np.int64)
    weights = np.concatenate([np.ones(len(single)), np.diff(edges)])
    p = rho + (1 - rho) * (
        1 - np.asarray(arms.laws[j].cdf(x - np.sqrt(omega * math.log(max(T, 2)) / v)))
    )
    coins = np.where(np.arange(len(v)) < len(single), v, v - 1 + v % 2)
    # the chance of more than half heads, as an incomplete beta function, because
    # scipy's binomial tail ends at 2^31 coins
    majority = betainc(coins // 2 + 1.0, coins - coins // 2, np.minimum(p, 0.5))
    return float((weights * np.where(p < 0.5, majority, 1.0)).sum())


def _layered(arms: Arms, pivots: np.ndarray, low_index: np.ndarray) -> np.ndarray:
    """Bound the mean of max_j Delta_j 1{index <= x_j} by the events' probabilities.

    Layer by layer, it takes the largest gap whose pivot lies above the index.
    """
    order = np.argsort(-pivots)
    reached = np.maximum.accumulate(arms.gaps[order])
    layers = np.diff(reached, prepend=0.0)
    return (layers[:, None] * low_index[order]).sum(axis=0)
