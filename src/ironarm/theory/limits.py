"""What no policy can do: limits on rho, corrupted relative entropy, lower bounds.

There are two adversaries. The **independent coin** decides whether a reward is
attacked before, and without regard to, the clean reward. ironarm's attacks work this
way, and it is how we read the paper's model. The **malicious** adversary sees the clean
reward and corrupts any share rho of the sample; it is stronger, and the paper's lemmas
cover it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..bandits import Bandit
from ..errors import InvalidInput
from ..rules import corrupted_kl as kl
from ..validation import number, whole
from .arms import (
    Arms,
    Law,
    Normal,
    poison_rate,
)
from .assumptions import separation

WINDOW = 12.0  # standard deviations beyond which a normal density does not matter
POINTS = 8001
UNKNOWN = 0.4  # a policy that does not know rho may have to stand this share


@dataclass(frozen=True)
class Thresholds:
    """The largest rho, exclusive, for a given gap.

    Attributes
    ----------
    corollaries : the paper's Corollaries 1 and 2, Phi(Delta/4 sigma) - 1/2.
    malicious : the paper's theorems with the best s, Phi(Delta/2 sigma) - 1/2. It is
        half the total variation distance, so against a malicious adversary no policy
        can do better.
    coin : 1 - 1/(2 Phi(Delta/2 sigma)), the limit for any policy, and for medians, if
        the coin is independent of the clean reward.
    """

    corollaries: float
    malicious: float
    coin: float


def thresholds(gap: float, sigma: float = 1.0) -> Thresholds:
    """Return the three limits on rho for two normal arms with this gap.

    Examples
    --------
    >>> for ratio in (0.5, 1, 2, 3, 4, 6):
    ...     t = thresholds(ratio)
    ...     print(
    ...         ratio, *(f"{x:.4f}" for x in (t.corollaries, t.malicious, t.coin))
    ...     )
    0.5 0.0497 0.0987 0.1649
    1 0.0987 0.1915 0.2769
    2 0.1915 0.3413 0.4057
    3 0.2734 0.4332 0.4642
    4 0.3413 0.4772 0.4884
    6 0.4332 0.4987 0.4993

    References
    ----------
    Guan et al. 2020, Corollaries 1 and 2. Huber, A robust version of the probability
    ratio test, 1965. Altschuler, Brunel, Malek, Best arm identification for
    contaminated bandits, 2019.
    """
    ratio = number("gap", gap, above=0) / number("sigma", sigma, above=0)
    unit = Normal(0, 1)
    half = float(unit.cdf(ratio / 2))
    return Thresholds(float(unit.cdf(ratio / 4)) - 0.5, half - 0.5, 1 - 1 / (2 * half))


def median_threshold(source: Bandit | Arms) -> float:
    """Return the largest rho, exclusive, at which medians can find the best arm.

    It is 2 s_max/(1 + 2 s_max), for an independent coin.

    Under an independent coin a median can be pushed to the quantiles 1/2 -+ rho/(2(1 -
    rho)), so rho is tolerable as long as rho/(2(1 - rho)) < s_max. For normal laws with
    one sigma it is `thresholds(...).coin`, which no other method exceeds; for other
    laws another estimator might.

    >>> import ironarm as ia
    >>> round(median_threshold(ia.GaussianBandit(range(2, 21, 2))), 4)
    0.4057
    """
    s = separation(source).s_max
    return 2 * s / (1 + 2 * s)


def smallest_gap(rho: float, sigma: float = 1.0) -> float:
    """Return Dmin, the gap below which two normal arms are indistinguishable.

    At this rho it is 2 sigma Phi^{-1}(1/(2(1 - rho))).

    >>> round(smallest_gap(0.3), 4), smallest_gap(0)
    (1.1319, 0.0)
    """
    return number("sigma", sigma, above=0) * kl.smallest_gap(poison_rate(rho))


def corrupted_kl(gap: float, rho: float, sigma: float = 1.0) -> float:
    """Return the corrupted relative entropy of two normal arms.

    It is the least evidence that a reward of the worse arm gives against its being the
    best, when any reward may be attacked.

    It is the smallest relative entropy of (1 - rho) N(0, 1) + rho H to (1 - rho) N(D,
    1) + rho H' over all H and H', with D = gap/sigma:

        kl_rho(D)/(1 - rho) = (1 - c) Phi(D-/2) log(1/c)
            + (D^2/2) [Phi(D+/2) - Phi(D-/2)] - D [phi(D-/2) - phi(D+/2)]

    with c and D+- as in `ironarm.rules.corrupted_kl`. It is 0 up to Dmin, D^2/2 for
    rho = 0, and stays below (1 - 2 rho) log((1 - rho)/rho) however large the gap is:
    under attack every arm costs pulls, however bad it is.

    Examples
    --------
    >>> (
    ...     [round(corrupted_kl(gap, 0.125), 4) for gap in (1, 2, 4)],
    ...     round(corrupted_kl_limit(0.125), 4),
    ... )
    ([0.0998, 0.5369, 1.2907], 1.4594)

    References
    ----------
    Agrawal, Mathieu, Basu, Maillard, CRIMED: lower and upper bounds on regret for
    bandits with unbounded stochastic corruption, ALT 2024.
    """
    D = number("gap", gap, above=0) / number("sigma", sigma, above=0)
    rho = poison_rate(rho)
    return D * D / 2 if rho == 0 else float(kl.corrupted_kl(D, rho))


def corrupted_kl_limit(rho: float) -> float:
    """Return the corrupted relative entropy for an infinite gap.

    It is (1 - 2 rho) log((1 - rho)/rho).

    >>> [round(corrupted_kl_limit(rho), 4) for rho in (0.05, 0.125, 0.3)]
    [2.65, 1.4594, 0.3389]
    """
    rho = poison_rate(rho)
    return math.inf if rho == 0 else (1 - 2 * rho) * math.log((1 - rho) / rho)


def observed_kl(
    gap: float,
    rho: float,
    sigma: float = 1.0,
    attacked: Law | None = None,
    cap: float | None = None,
) -> float:
    """Return the least relative entropy of what is seen, under a given attack.

    It is the least evidence that a reward of the worse arm gives against its being the
    best.

    The policy sees P = (1 - rho) N(0, sigma^2) + rho H; the result is the smallest
    relative entropy of P to (1 - cap) N(m, sigma^2) + cap H' over all H' and m >= gap,
    which is reached by Q = max((1 - cap) N(m, sigma^2), c P) with the c that makes Q a
    density. For large gaps and outliers far away it is log(1/cap), which is more than
    the worst attack leaves, and it is never more than that.

    Parameters
    ----------
    gap : the arm's gap, in units of reward; the arm's clean mean is 0 here.
    attacked : the law H of an attacked reward of this arm, relative to its mean, with
        cdf and pdf. None: far away from all clean rewards.
    cap : the largest share against which the policy must do well, at least rho. None:
        rho, which the policy knows.

    Examples
    --------
    >>> round(observed_kl(2, 0.125), 4), round(observed_kl(40, 0.125), 4)
    (0.9338, 2.0794)

    A share that is not known costs pulls even where nothing is corrupt:

    >>> observed_kl(2, 0), round(observed_kl(2, 0, cap=0.125), 4)
    (2.0, 0.8718)
    """
    gap = number("gap", gap, above=0)
    sigma = number("sigma", sigma, above=0)
    rho = poison_rate(rho)
    cap = rho if cap is None else number("cap", cap, at_least=rho, below=0.5)
    if cap == 0:
        return (gap / sigma) ** 2 / 2
    if attacked is None:
        return _observed_far(gap / sigma, rho, cap)
    from scipy.optimize import minimize_scalar

    candidates = gap + sigma * np.linspace(0, 4, 17)
    values = [_observed(m / sigma, rho, cap, sigma, attacked) for m in candidates]
    i = int(np.argmin(values))
    # the nearest alternative, as for every attack that does not imitate a still better
    # arm
    if i == 0:
        return values[0]
    fine = minimize_scalar(
        lambda m: _observed(m / sigma, rho, cap, sigma, attacked),
        bounds=(candidates[i - 1], candidates[min(i + 1, len(candidates) - 1)]),
        method="bounded",
    )
    return min(values[i], float(fine.fun))


def regret_floor(
    source: Bandit | Arms,
    rho: float,
    horizon: int,
    *,
    far: bool = False,
    cap: float | None = None,
) -> float:
    """Return the lower bound on regret, log T sum_j Delta_j / kl_j.

    It holds for any policy that does well on all normal arms under every attack.

    With `far` the attack is fixed, with outliers far away; otherwise it is the worst
    one. The bound is asymptotic: at a finite horizon a policy can be below it. It is
    infinite if an arm cannot be told apart from the best.

    With `cap` the attack still has the share rho, but the policy does not know it: it
    must do well under every attack with a share up to cap. It then pays for cap even if
    nothing is corrupt. A policy that relies on visible signs of an attack, and fails
    where there are none, can be below the bound at any horizon. If a gap is at most
    `smallest_gap(cap, sigma)`, no policy does well under all of these attacks.

    Examples
    --------
    >>> import ironarm as ia
    >>> paper = ia.GaussianBandit(range(2, 21, 2))
    >>> (
    ...     [round(regret_floor(paper, rho, 100_000)) for rho in (0.125, 0.3)],
    ...     [
    ...         round(regret_floor(paper, rho, 100_000, far=True))
    ...         for rho in (0.125, 0.3)
    ...     ],
    ... )
    ([742, 3369], [514, 885])
    >>> [
    ...     round(regret_floor(paper, rho, 100_000, far=True, cap=0.4))
    ...     for rho in (0, 0.125, 0.3)
    ... ]
    [1176, 1172, 1166]
    """
    arms = Arms.of(source)
    sigma = arms.common_sigma
    if sigma is None:
        raise InvalidInput(
            "the lower bound is for normal arms that share one sigma; use GaussianBandit(means, "
            "sigma) with one number."
        )
    if cap is not None and not far:
        raise InvalidInput("cap is for a given attack, not for the worst one; add far=True.")
    T = whole("horizon", horizon, at_least=2)
    tell = [
        observed_kl(float(gap), rho, sigma, cap=cap)
        if far
        else corrupted_kl(float(gap), rho, sigma)
        for gap in arms.gaps
    ]
    return math.inf if min(tell) == 0 else math.log(T) * float((arms.gaps / np.array(tell)).sum())


def unknown_share_floor(source: Bandit | Arms, rho: float, horizon: int) -> float:
    """Return the lower bound for a policy that does not know rho, outliers far away.

    It is `regret_floor` for a policy that must do well under every attack with a share
    up to 0.4, or up to rho if that is more. Infinite if no policy does on these arms.

    Examples
    --------
    >>> import ironarm as ia
    >>> paper = ia.GaussianBandit(range(2, 21, 2))
    >>> round(unknown_share_floor(paper, 0.125, 100_000))
    1172
    >>> unknown_share_floor(ia.GaussianBandit([0, 1]), 0.125, 100_000)
    inf
    """
    arms, cap = Arms.of(source), share_to_stand(rho)
    sigma = arms.common_sigma
    if sigma is not None and arms.smallest_gap <= smallest_gap(cap, sigma):
        return math.inf
    return regret_floor(arms, rho, horizon, far=True, cap=cap)


def share_to_stand(rho: float) -> float:
    """Return the share that a policy may have to stand if it does not know rho.

    That is 0.4, or rho if that is more.

    >>> share_to_stand(0.1), share_to_stand(0.45)
    (0.4, 0.45)
    """
    return max(UNKNOWN, poison_rate(rho))


def _observed_far(D: float, rho: float, cap: float) -> float:
    """Return the relative entropy of P to Q for outliers far away.

    Q explains them as c times as frequent, and clean rewards too up to x0, where both
    parts of Q are equal. It grows with D, so the nearest alternative is the best.
    """
    from scipy.optimize import brentq

    ratio = math.log((1 - rho) / (1 - cap))

    def edge(lc: float) -> float:
        return D / 2 + (ratio - lc) / D

    def explained(x0: float) -> float:
        return rho + (1 - rho) * kl.cdf(x0)

    def excess(lc: float) -> float:
        x0 = edge(lc)
        return math.exp(-lc) * explained(x0) - cap - (1 - cap) * kl.cdf(x0 - D)

    if excess(0.0) <= 0:  # the arm's rewards hide all that the alternative needs
        return 0.0
    # c is at least cap; one more for rounding
    lc = float(brentq(excess, 0.0, 1 - math.log(cap), xtol=1e-14))
    x0 = edge(lc)
    return lc * explained(x0) + (1 - rho) * ((ratio + D * D / 2) * kl.cdf(-x0) - D * kl.density(x0))


def _observed(D: float, rho: float, cap: float, sigma: float, attacked: Law) -> float:
    """Return the relative entropy of P to Q for the alternative mean D.

    Sigma is 1. It is integrated over the window in which clean rewards lie.
    """
    from scipy.optimize import brentq

    y = np.linspace(-WINDOW, D + WINDOW, POINTS)
    unit = Normal(0, 1)
    inside = float(attacked.cdf(sigma * y[-1]) - attacked.cdf(sigma * y[0]))
    density = sigma * np.asarray(attacked.pdf(sigma * y))  # type: ignore[attr-defined]
    observed = (1 - rho) * unit.pdf(y) + rho * density
    alternative = (1 - cap) * unit.pdf(y - D)
    outside = rho * (1 - inside)  # there Q is c P

    def excess(lc: float) -> float:
        c = math.exp(-lc)
        return float(np.trapezoid(np.maximum(alternative, c * observed), y)) + c * outside - 1

    if excess(0.0) <= 0:
        return 0.0
    high = 1.0
    while excess(high) > 0 and high < 1e4:
        high *= 2
    lc = float(brentq(excess, 0.0, high, xtol=1e-13))
    explained = np.maximum(alternative, math.exp(-lc) * observed)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(observed > 0, observed * np.log(observed / explained), 0.0)
    return float(np.trapezoid(terms, y)) + outside * lc
