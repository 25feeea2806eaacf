"""How often the events of the paper's lemmas happen when the adversary does its worst.

The events are rare, so they are drawn from another law, under which they are common,
and every draw is weighted by how much less likely it is under the true law (importance
sampling). The mean stays right, and a few thousand draws give two digits of 1e-10 too.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np

from ..validation import number, whole
from .arms import Law
from .lemmas import attacked_share_rounds, quantile_concentration

DRAWS = 20_000
CELLS = 12_000_000
"""Rewards drawn for one probability, at most: long samples are drawn less often."""
AT_ONCE = 500_000
Z95 = 1.959963984540054
UNTIL = 4
"""Shares are followed up to so many times Lemma 2's N."""

Side = Literal["below", "above"]


class EventRate(NamedTuple):
    """A bound on a probability, and the measured probability with its 95 % interval."""

    bound: float
    value: float
    low: float
    high: float


def corrupted(rewards: np.ndarray, s: float, side: Side) -> np.ndarray:
    """Return what the malicious adversary shows for each row of clean rewards.

    It sees the whole row and may change floor(s n) of its n rewards. To push quantiles
    down it turns the largest into -inf, to push them up the smallest into +inf.

    >>> corrupted(np.array([[3.0, 1.0, 2.0, 5.0, 4.0]]), 0.2, "below")
    array([[  3.,   1.,   2., -inf,   4.]])
    """
    n = rewards.shape[1]
    attacked = _floor(s * n)
    shown = rewards.copy()
    if attacked:
        first = n - attacked if side == "below" else attacked - 1
        order = np.argpartition(rewards, first, axis=1)
        chosen = order[:, first:] if side == "below" else order[:, :attacked]
        np.put_along_axis(shown, chosen, -math.inf if side == "below" else math.inf, axis=1)
    return shown


def sample_quantile(rewards: np.ndarray, p: float) -> np.ndarray:
    """Return the p-quantile of each row, as the paper defines it.

    It is the smallest reward that at least a share p of the row does not exceed.

    >>> sample_quantile(np.array([[3.0, 1.0, 2.0, 4.0]]), 0.5)
    array([2.])
    """
    place = -_floor(-p * rewards.shape[1]) - 1
    return np.partition(rewards, place, axis=1)[:, place]


def measured_quantile(
    law: Law, n: int, s: float, margin: float, p: float = 0.5, side: Side = "below", seed: int = 0
) -> EventRate:
    """Measure one of the two probabilities of Lemmas 1 and 3, for a law with a density.

    `below` is P(quantile <= q(p - s) - margin), `above` is P(quantile >= q(p + s) +
    margin), where the quantile is that of n rewards after the attack of `corrupted`.
    The parameters are those of `quantile_concentration`.

    Rewards are drawn as F(x): that keeps their order, and so what the adversary does.
    They come from a law under which the point is the (p - s)- or the (p + s)-quantile,
    so that the event happens about every other time.

    >>> from ironarm.theory import Normal
    >>> measured = measured_quantile(Normal(0, 1), n=40, s=0.2, margin=0.3)
    >>> round(measured.bound, 4), round(measured.value, 2)
    (0.4847, 0.1)
    """
    bounds = quantile_concentration(law, n, s, margin, p)
    down = side == "below"
    bound, edge = (bounds.below, bounds.low) if down else (bounds.above, bounds.high)
    true, drawn = float(law.cdf(edge)), p - s if down else p + s
    rng = np.random.default_rng(seed)
    draws = min(DRAWS, CELLS // n)
    step = max(1, AT_ONCE // n)
    weights = np.concatenate(
        [
            _weights(rng.random((min(step, draws - start), n)), true, drawn, s, p, side)
            for start in range(0, draws, step)
        ]
    )
    return EventRate(bound, *_estimate(weights))


def _weights(
    x: np.ndarray, true: float, drawn: float, s: float, p: float, side: Side
) -> np.ndarray:
    """Return for each row the weight with which the event happened, or 0."""
    under = x < drawn
    x = np.where(under, x * (true / drawn), 1 - (1 - x) * ((1 - true) / (1 - drawn)))
    quantile = sample_quantile(corrupted(x, s, side), p)
    happened = quantile <= true if side == "below" else quantile >= true
    count = under.sum(axis=1)
    return np.where(happened, _likelihood(count, x.shape[1], true, drawn), 0.0)


def measured_share(arms: int, rho: float, excess: float, delta: float, seed: int = 0) -> EventRate:
    """Measure the probability of Lemma 2: an attacked share is high after N rewards.

    That is, for some arm more than a share rho + excess of its first m rewards is
    attacked, at some m >= N. A coin of probability rho decides about each reward, so
    arms are independent and alike, and one is drawn. It is followed up to 4 N rewards;
    what can happen later is at most arms exp(-2 e^2 4 N)/(2 e^2), e = excess, by the
    lemma's own union bound, and is added to the upper end of the interval.

    >>> measured = measured_share(10, rho=0.3, excess=0.1, delta=0.05)
    >>> measured.bound, f"{measured.value:.0e}"
    (0.05, '4e-05')
    """
    first = attacked_share_rounds(arms, excess, delta)
    arms = whole("arms", arms, at_least=1)
    s = number("rho", rho, above=0, below=1) + number("excess", excess, below=1 - rho)
    rng = np.random.default_rng(seed)
    attacked = rng.binomial(first, s, size=DRAWS)
    weights = np.zeros(DRAWS)
    found = 0
    for m in range(first, UNTIL * first + 1):
        over = attacked > _floor(s * m)
        if over.any():
            now = _likelihood(attacked[over], m, rho, s)
            weights[found : found + len(now)] = now
            found += len(now)
            attacked = attacked[~over]
        attacked = attacked + (rng.random(len(attacked)) < s)
    value, low, high = (-math.expm1(arms * math.log1p(-x)) for x in _estimate(weights))
    rate = 2 * excess**2
    later = arms / rate * math.exp(-rate * UNTIL * first)
    return EventRate(delta, value, low, high + later)


def _likelihood(count: np.ndarray, n: int, true: float, drawn: float) -> np.ndarray:
    """Return how likely `count` of n coins in a given order are, true by drawn."""
    return np.exp(count * math.log(true / drawn) + (n - count) * math.log((1 - true) / (1 - drawn)))


def _estimate(weights: np.ndarray) -> tuple[float, float, float]:
    """Return the mean with its 95 % interval."""
    mean = float(weights.mean())
    reach = Z95 * float(weights.std()) / math.sqrt(len(weights))
    return mean, max(0.0, mean - reach), min(1.0, mean + reach)


def _floor(x: float) -> int:
    """Round down, but 28.999999999999996, which is 0.29 times 100, to 29."""
    return math.floor(round(x, 9))
