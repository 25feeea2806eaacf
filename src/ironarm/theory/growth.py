"""How the regret of med-E-UCB grows when b is too small.

An exact model of its best arm under far-away outliers, with the factors of log T that a
power alone hides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..validation import number, whole
from .arms import poison_rate


def expected_wrong_rounds(
    rho: float, b: float, horizons: Sequence[int], *, arms: int = 10, block: int = 1000
) -> np.ndarray:
    """Return the expected number of rounds with a wrong median of the best arm.

    There is one number for each horizon. In these rounds med-E-UCB leaves the best arm
    alone. All outliers are far away.

    Let S be the number of attacked minus clean rewards of the best arm. Its median is
    wrong exactly if S >= 0; then the arm gets only forced pulls. If one of them makes S
    negative, the arm is pulled in every round. S then returns to 0 with probability
    (rho/(1 - rho))^|S|, within a few rounds, which the model counts as none. Otherwise
    the median stays right. This is a walk on 0, 1, 2, ... with a step for each forced
    pull: up with probability rho, down with 1 - rho. At 0 it stays with probability
    rho, and ends, right for good, with probability 1 - 2 rho.

    After n steps it is still wrong with probability of order
    n^(-3/2) (4 rho (1 - rho))^(n/2). With n = b log t, the expected number of wrong
    rounds grows as **T^(1 - b kl(1/2, rho)) (log T)^(-3/2)**. docs/certify.md compares
    this with measured regret.

    Examples
    --------
    >>> rounds = expected_wrong_rounds(0.3, 4, [10_000, 100_000, 1_000_000])
    >>> (
    ...     rounds.round().tolist(),
    ...     local_exponents([10_000, 100_000, 1_000_000], rounds).round(2).tolist(),
    ... )
    ([96.0, 346.0, 1185.0], [0.55, 0.54])
    """
    rho = poison_rate(rho)
    b = number("b", b, above=0)
    last = [whole("a horizon", T, at_least=1) for T in horizons]
    K, G = whole("arms", arms, at_least=2), whole("block", block, at_least=2)
    first = math.ceil(b * math.log(G))
    size = 2 * math.ceil(b * math.log(max(last) + G)) + 2
    state = _after_first_pulls(rho, first, size)
    wrong = np.zeros(len(last))
    start = K * first + 1
    count = first
    while start <= max(last):
        # rounds with `count` forced pulls: up to the block that brings the next one
        k = math.floor(math.exp(count / b) / G)
        end = max(start, k * G + 1)
        wrong += state.sum() * np.clip(np.array(last, dtype=float) - start + 1, 0, end - start)
        # at least one, even if exp and log round neighbouring blocks to the same value
        pulls = max(1, math.ceil(b * math.log((k + 1) * G)) - count)
        for _ in range(pulls):
            state = _one_more_pull(state, rho)
        start, count = end, count + pulls
    return wrong


def local_exponents(horizons: Sequence[int], values: np.ndarray) -> np.ndarray:
    """Return the slopes of log value against log horizon between neighbours.

    >>> local_exponents([10, 100], np.array([3.0, 30.0])).tolist()
    [1.0]
    """
    return np.diff(np.log(np.asarray(values, dtype=float))) / np.diff(
        np.log(np.asarray(horizons, dtype=float))
    )


def _after_first_pulls(rho: float, first: int, size: int) -> np.ndarray:
    """Return the probabilities of S = 0, 1, 2, ... after the first pulls.

    What comes back to 0 is added there.
    """
    from scipy.special import gammaln, xlogy

    attacked = np.arange(first + 1)
    log_pmf = (
        gammaln(first + 1)
        - gammaln(attacked + 1)
        - gammaln(first - attacked + 1)
        + xlogy(attacked, rho)
        + xlogy(first - attacked, 1 - rho)
    )
    excess = 2 * attacked - first
    state = np.zeros(size)
    ahead = excess >= 0
    state[excess[ahead]] = np.exp(log_pmf[ahead])
    state[0] += float((np.exp(log_pmf[~ahead]) * (rho / (1 - rho)) ** -excess[~ahead]).sum())
    return state


def _one_more_pull(state: np.ndarray, rho: float) -> np.ndarray:
    after = np.zeros_like(state)
    after[1:] = rho * state[:-1]
    after[:-1] += (1 - rho) * state[1:]
    after[0] += rho * state[0]  # down to -1 with 1 - rho, and back with rho/(1 - rho)
    return after
