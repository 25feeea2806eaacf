"""Sharp conditions on b and c, and how the regret grows below them.

These are ironarm's; they are not in the paper.

If attacked rewards are far away, the median of n rewards of the best arm is wrong
exactly if at least half of them are attacked, which has a probability of about exp(-n
kl(1/2, rho)). med-E-UCB has n = b log t of them where it counts, so a wrong leader at
round t has a probability of about t^(-b kl(1/2, rho)), and the regret is O(log T) if
and only if b kl(1/2, rho) >= 1. In the same way the numbers of attacked and clean
random pulls of med-epsilon-greedy are about Poisson(rho c log t) and Poisson((1 - rho)
c log t), and the first exceeds the second with a probability of about t^(-c (sqrt(1 -
rho) - sqrt(rho))^2).

Powers are stated up to factors of log T, which `growth` names. All of it assumes that
the attacker's coin is independent of the clean reward, as ironarm's attacks do.
"""

from __future__ import annotations

import math

from ..bandits import Bandit
from ..validation import number
from .arms import Arms, poison_rate


def kl(p: float, q: float) -> float:
    """Return the relative entropy of a coin with probability p to one with q.

    >>> round(kl(0.5, 0.3), 5)
    0.08718
    """
    p = number("p", p, at_least=0, at_most=1)
    q = number("q", q, at_least=0, at_most=1)
    left = 0.0 if p == 0 else (math.inf if q == 0 else p * math.log(p / q))
    right = 0.0 if p == 1 else (math.inf if q == 1 else (1 - p) * math.log((1 - p) / (1 - q)))
    return left + right


def sharp_b(rho: float) -> float:
    """Return the b that med-E-UCB needs against far-away outliers, 1/kl(1/2, rho).

    kl(1/2, rho) is log(1/(4 rho (1 - rho)))/2.

    >>> [round(sharp_b(rho), 2) for rho in (0.05, 0.125, 0.2, 0.3, 0.4)]
    [1.2, 2.42, 4.48, 11.47, 48.99]
    """
    return 1 / kl(0.5, poison_rate(rho))


def sharp_c(rho: float) -> float:
    """Return what med-epsilon-greedy's c must exceed against far-away outliers.

    It is 1/(sqrt(1 - rho) - sqrt(rho))^2.

    >>> [round(sharp_c(rho), 2) for rho in (0.05, 0.125, 0.2, 0.3, 0.4)]
    [1.77, 2.95, 5.0, 11.98, 49.49]
    """
    return 1 / _poisson_rate(1 - poison_rate(rho))


def growth_exponent(rho: float, *, b: float | None = None, c: float | None = None) -> float:
    """Return the power of T by which expected regret grows under far-away outliers.

    It is 1 - b kl(1/2, rho), or 1 - c (sqrt(1 - rho) - sqrt(rho))^2; 0 means
    logarithmic.

    Factors of log T are left out; they make a power fitted at finite T smaller. See
    `growth.expected_wrong_rounds`.

    >>> (
    ...     round(growth_exponent(0.3, b=4), 2),
    ...     round(growth_exponent(0.3, c=10), 2),
    ...     growth_exponent(0.125, b=4),
    ... )
    (0.65, 0.17, 0.0)
    """
    rho = poison_rate(rho)
    if b is not None:
        return max(0.0, 1 - number("b", b, above=0) * kl(0.5, rho))
    return max(0.0, 1 - number("c", c, above=0) * _poisson_rate(1 - rho))


def clean_majority(source: Bandit | Arms, rho: float, bonus: float = 0.0) -> float:
    """Return how likely a reward of the best arm exceeds all others' worst medians.

    It is the probability under the worst attack; `bonus` lowers the medians.

    Under an independent coin the median of arm j is at most its 1/(2(1 - rho))-quantile
    y_j in the long run: its mean plus beta = sigma Phi^{-1}(1/(2(1 - rho))) for a
    normal law. The best arm's reward exceeds y = max_j y_j - bonus with probability at
    least (1 - rho)(1 - F_best(y)). Above 1/2, its median does so in the long run too.

    >>> import ironarm as ia
    >>> (
    ...     round(clean_majority(ia.GaussianBandit([0, 2]), 0.3), 4),
    ...     round(clean_majority(ia.GaussianBandit([0, 200]), 0.3), 4),
    ... )
    (0.647, 0.7)
    """
    arms = Arms.of(source)
    rho = poison_rate(rho)
    bonus = number("bonus", bonus, at_least=0)
    worst = max(float(arms.laws[j].ppf(0.5 / (1 - rho))) for j in arms.others)
    return (1 - rho) * (1 - float(arms.laws[arms.best].cdf(worst - bonus)))


def exponent_on(
    source: Bandit | Arms,
    rho: float,
    *,
    b: float | None = None,
    omega: float = 4.0,
    c: float | None = None,
) -> float:
    """Return the growth exponent for these arms, whose gaps are finite.

    It is 1 - b kl(1/2, q), or 1 - c (sqrt(q) - sqrt(1 - q))^2, with q the
    `clean_majority`; 0 means logarithmic.

    The bonus sqrt(omega/b), which an arm with b log t rewards has, helps the best arm
    of med-E-UCB. A wrong leader is pulled often, so its own median is as accurate as
    the attack allows: only a wrong median of the best arm has to be rare.

    >>> import ironarm as ia
    >>> paper = ia.GaussianBandit(range(2, 21, 2))
    >>> (
    ...     round(exponent_on(paper, 0.3, b=4), 2),
    ...     round(exponent_on(paper, 0.3, c=10), 2),
    ...     exponent_on(paper, 0.125, b=4),
    ... )
    (0.67, 0.56, 0.0)
    """
    arms = Arms.of(source)
    rho = poison_rate(rho)
    if b is not None:
        b = number("b", b, above=0)
        return max(0.0, 1 - b * _rate_ucb(arms, rho, b, number("omega", omega, above=0)))
    return max(0.0, 1 - number("c", c, above=0) * _poisson_rate(clean_majority(arms, rho)))


def needed_b(source: Bandit | Arms, rho: float, omega: float = 4.0) -> float:
    """Return the smallest b with logarithmic regret here under the worst attack.

    It is infinite beyond the limit on rho.

    It solves b kl(1/2, q) = 1, where the `clean_majority` q depends on b through the
    bonus.

    >>> import ironarm as ia
    >>> (
    ...     round(needed_b(ia.GaussianBandit(range(2, 21, 2)), 0.3), 2),
    ...     round(needed_b(ia.GaussianBandit([0, 1000]), 0.3), 2),
    ... )
    (13.92, 11.47)
    """
    arms = Arms.of(source)
    rho = poison_rate(rho)
    omega = number("omega", omega, above=0)
    if clean_majority(arms, rho) <= 0.5:
        return math.inf
    from scipy.optimize import brentq

    def short(log_b: float) -> float:
        b = math.exp(log_b)
        return b * _rate_ucb(arms, rho, b, omega) - 1

    low, high = -10.0, 5.0
    while short(high) < 0:
        high += 5
        if high > 100:  # rho is at the limit, to the last digits
            return math.inf
    return math.exp(brentq(short, low, high, xtol=1e-12)) if short(low) < 0 else 0.0


def needed_c(source: Bandit | Arms, rho: float) -> float:
    """Return the c above which regret is logarithmic here under the worst attack.

    It is infinite beyond the limit on rho.

    It is 1/(sqrt(q) - sqrt(1 - q))^2, with q the `clean_majority`.

    >>> import ironarm as ia
    >>> (
    ...     round(needed_c(ia.GaussianBandit(range(2, 21, 2)), 0.3), 2),
    ...     round(needed_c(ia.GaussianBandit([0, 1000]), 0.3), 2),
    ... )
    (22.64, 11.98)
    """
    majority = clean_majority(source, rho)
    return 1 / _poisson_rate(majority) if majority > 0.5 else math.inf


def _rate_ucb(arms: Arms, rho: float, b: float, omega: float) -> float:
    majority = clean_majority(arms, rho, math.sqrt(omega / b))
    return kl(0.5, majority) if majority > 0.5 else 0.0


def _poisson_rate(majority: float) -> float:
    """Return (sqrt(q) - sqrt(1 - q))^2 for a majority q above 1/2, else 0."""
    return (math.sqrt(majority) - math.sqrt(1 - majority)) ** 2 if majority > 0.5 else 0.0
