"""Whether a median is the right tool for these rewards, and what to use if not."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..policies import UCB, Policy, TrimmedEpsilonGreedy
from .arms import Arms, ZeroOne

TIED_SHARE = 0.2
TRIM_MORE = 0.1


@dataclass(frozen=True)
class Suitability:
    """Whether medians suit the rewards.

    Attributes
    ----------
    suited : False if medians do not find the arm with the best mean, however many
        rewards there are.
    remark : what the trouble is, a sentence; empty if there is none. Ties can be a
        remark although medians still find the best arm.
    instead : what to do instead, a sentence.
    policy : the policy for that, if there is one in ironarm.
    """

    suited: bool
    remark: str = ""
    instead: str = ""
    policy: Policy | None = None


def suitability(arms: Arms, rho: float) -> Suitability:
    """Judge laws: 0/1 rewards, jumps at the median, skewed laws.

    Skew matters if the best mean is not the best median.

    Examples
    --------
    >>> import ironarm as ia
    >>> verdict = suitability(Arms.of(ia.BernoulliBandit([0.2, 0.4])), rho=0.1)
    >>> verdict.suited, verdict.policy
    (False, UCB(alpha=2.1, sigma=0.5))
    >>> print(verdict.instead.partition(": ")[2])
    it finds the best arm for rho below 0.1667.
    """
    ordered = arms.median_order_is_mean_order
    if all(isinstance(law, ZeroOne) for law in arms.laws):
        instead, policy = clipped_mean(arms.smallest_gap, 0.0, 1.0, rho)
        remark = (
            "rewards are 0 or 1, and a median of such rewards is 0 or 1 as well: it tells arms "
            "apart only if their means lie on both sides of 1/2"
        )
        return Suitability(
            ordered, remark + ("; here they do." if ordered else "."), instead, policy
        )
    tied = max(_jump_at_median(law) for law in arms.laws) if not arms.continuous else 0.0
    if not ordered:
        remark = (
            "the arm with the best mean does not have the best median, alone: a policy on medians "
            "converges to another arm, also without any attack."
        )
        return Suitability(False, remark, *trimmed_means(arms, rho))
    if tied >= TIED_SHARE:
        return Suitability(True, ties_remark(tied), *_with_support(arms, rho))
    return Suitability(True)


def clipped_mean(gap: float, low: float, high: float, rho: float) -> tuple[str, Policy | None]:
    """Return the advice for rewards of a known range: clip them and use means.

    An attack then moves a mean by at most rho times the range's width, so means work
    for rho < gap/(gap + width).
    """
    width = high - low
    if width == 0:
        return (
            "All rewards are the same number, so there is nothing to choose by. Log something "
            "that differs between arms.",
            None,
        )
    limit = gap / (gap + width)
    policy = UCB(sigma=width / 2)
    clip = (
        f"Replace rewards outside [{low:g}, {high:g}] by the nearer end, so that an attack can "
        f"move a mean by at most rho{'' if width == 1 else f' times {width:g}'}"
    )
    if rho < limit:
        return (
            f"{clip}, and use UCB(sigma={width / 2:g}): it finds the best arm for rho below "
            f"{limit:.4f}.",
            policy,
        )
    return (
        f"{clip}; even then means find the best arm only for rho below {limit:.4f}, and rho is "
        f"{rho:g}. Sum rewards at their source, before anybody can touch them.",
        None,
    )


def ties_remark(share: float) -> str:
    """Return the sentence about ties at the median."""
    return (
        f"{100 * share:.0f} % of an arm's rewards tie at its median: medians then move in jumps, "
        "and a small difference between arms stays unseen."
    )


def _with_support(arms: Arms, rho: float) -> tuple[str, Policy | None]:
    """Advise means of clipped rewards where the laws have a known range."""
    ends = np.array([law.support() for law in arms.laws if hasattr(law, "support")], dtype=float)
    if len(ends) == arms.count and np.isfinite(ends).all():
        return clipped_mean(
            arms.smallest_gap, float(ends[:, 0].min()), float(ends[:, 1].max()), rho
        )
    return "If the rewards have a known range, clip them to it and use UCB.", None


def _jump_at_median(law: object) -> float:
    """Return the probability of the median itself."""
    x = float(law.ppf(0.5))  # type: ignore[attr-defined]
    below = np.nextafter(x, -math.inf)
    return float(law.cdf(x)) - float(law.cdf(below))  # type: ignore[attr-defined]


def trimmed_means(arms: Arms, rho: float) -> tuple[str, Policy | None]:
    """Say whether trimmed means have the right order.

    They are averages of quantiles between alpha and 1 - alpha.
    """
    alpha = rho + TRIM_MORE
    if alpha < 0.5:
        levels = np.linspace(alpha, 1 - alpha, 2001)
        trimmed = np.array([float(np.mean(law.ppf(levels))) for law in arms.laws])
        if (trimmed[arms.best] > trimmed[list(arms.others)]).all():
            policy = TrimmedEpsilonGreedy(alpha=round(alpha, 4))
            return (
                "Trimmed means have the right order here: use "
                f"TrimmedEpsilonGreedy(alpha={alpha:g}), for which there is no theorem.",
                policy,
            )
    return (
        "Trimmed means have the wrong order too. Transform the rewards so that what you care "
        "about is their median, or clip them to a known range and use UCB.",
        None,
    )
