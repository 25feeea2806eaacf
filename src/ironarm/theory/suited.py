"""Whether a median is the right tool for these rewards, and what to use if not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..policies import Policy, TrimmedEpsilonGreedy
from .arms import Arms
from .bounded import TIED_SHARE, bounded_rewards, tied_share
from .limits import median_threshold

TRIM_MORE = 0.1


@dataclass(frozen=True)
class Suitability:
    """Whether medians suit the rewards.

    Attributes
    ----------
    suited : False if medians do not find the arm with the best mean, however many
        rewards there are.
    remark : one sentence about the problem; empty if there is none. There can be a
        remark about ties although medians still find the best arm.
    instead : what to do instead, in one sentence.
    policy : the policy to use then, if ironarm has one.
    """

    suited: bool
    remark: str = ""
    instead: str = ""
    policy: Policy | None = None


def suitability(arms: Arms, rho: float) -> Suitability:
    """Judge laws: 0/1 rewards, mostly zeros, jumps at the median, skewed laws.

    Skew matters if the arm with the best mean does not have the best median.

    Examples
    --------
    >>> import ironarm as ia
    >>> judgement = suitability(Arms.of(ia.BernoulliBandit([0.2, 0.4])), rho=0.1)
    >>> judgement.suited, judgement.policy
    (False, KLUCB(c=0.0, reward_range=(0.0, 1.0)))
    >>> print(judgement.instead.partition(": ")[2])
    each finds the best arm for rho below 0.1667.
    """
    ordered = arms.median_order_is_mean_order
    bounded = bounded_rewards(arms)
    if bounded is not None and bounded.kind == "0 or 1":
        # a rate of 1/2 has a median that the least attack moves
        ordered = ordered and median_threshold(arms) > 0
        return Suitability(ordered, zero_one_remark(ordered), *bounded.advice(rho))
    if bounded is not None and bounded.kind == "mostly 0":
        return Suitability(False, MOSTLY_ZERO, *bounded.advice(rho))
    if not ordered:
        remark = (
            "the arm with the best mean does not have the best median, alone: a policy on medians "
            "converges to another arm, also without any attack."
        )
        instead, policy = trimmed_means(arms, rho)
        if policy is None and bounded is not None:
            instead, policy = bounded.advice(rho)
        return Suitability(False, remark, instead, policy)
    tied = tied_share(arms)
    if tied >= TIED_SHARE:
        advice = (
            ("If the rewards have a known range, use KLUCB(reward_range=(low, high)).", None)
            if bounded is None
            else bounded.advice(rho)
        )
        return Suitability(True, ties_remark(tied), *advice)
    return Suitability(True)


MOSTLY_ZERO = (
    "most rewards are 0, so every median is 0, and so is every trimmed mean that trims at least "
    "the share that pays: neither can tell such arms apart."
)


def zero_one_remark(ordered: bool) -> str:
    """Return the sentence about medians of 0/1 rewards."""
    return (
        "a median of rewards that are 0 or 1 is 0 or 1 as well: it tells arms apart only if their "
        f"means lie on both sides of 1/2{'; here they do' if ordered else ''}."
    )


def ties_remark(share: float) -> str:
    """Return the sentence about ties at the median."""
    return (
        f"{100 * share:.0f} % of an arm's rewards tie at its median: medians then move in jumps, "
        "and a small difference between arms stays unseen."
    )


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
        "about is their median, or use KLUCB(reward_range=(low, high)) if they have a known range.",
        None,
    )
