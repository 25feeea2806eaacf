"""Rewards of 0 and 1, or in a known range: what nobody can do, and what can be done.

An independent coin decides with probability rho whether a reward is attacked. Attacked
rewards are anything, knowing everything so far; a policy clips them to the range.
`limit_on_rho` has the condition and its proof.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..bandits import Bandit
from ..errors import InvalidInput
from ..policies import KLUCB, Policy
from ..validation import number, whole
from .arms import Arms, ZeroOne, poison_rate
from .sharp import kl

TIED_SHARE = 0.2
"""From this share of rewards on that equal an arm's median, medians are blunt."""
MOSTLY = 0.5
"""From this share of zeros on in every arm, all medians are 0."""


def limit_on_rho(distance: float) -> float:
    """Return the largest rho, exclusive, at which arms can be told apart: d/(1 + d).

    **Rewards of 0 and 1.** d is the gap of the two rates. An attacked reward is 1 with
    a probability q that the attacker chooses, so an arm of rate p shows, given all that
    was before, a rate of (1 - rho) p + rho q: anything in

        I(p) = [(1 - rho) p, (1 - rho) p + rho].

    Let p* be the best rate and p* - d another one. I(p*) lies above I(p* - d) if and
    only if (1 - rho) p* > (1 - rho) (p* - d) + rho, that is (1 - rho) d > rho, that is
    rho < d/(1 + d).

    *Below the limit it is possible.* Pull K arms in turn, n times each, and take the
    highest mean. With m = (1 - rho) d - rho > 0, a mean is m/2 or more outside its I(p)
    on a given side with probability at most exp(-n m^2 / 2): the rewards are in
    [0, 1] and their conditional means within I(p), so Hoeffding's and Azuma's
    inequality holds whatever the attacker does. If no mean is, the best arm's is the
    highest. So the error is at most K exp(-n m^2 / 2).

    *From the limit on nobody can.* I(p*) and I(p* - d) then have a common rate r, so
    the attacker can show both arms with the rate r. Swap the two arms: the attacker can
    show the same again. What a policy sees has the same law in both cases, so whatever
    it does, it is wrong in one of them at least half of the time. (Beyond the limit the
    order can even be reversed.)

    **Rewards in [low, high]**, any laws. d is the gap of the means in units of the
    width, high - low. Mapped to [0, 1], the conditional means lie in the same I, so
    means of clipped rewards find the best arm below the limit, as above. From the limit
    on nobody does who knows the range only, because the arms may pay low and high and
    nothing between, which is the case above.

    **Two given laws**, whatever they are. d is their total variation distance, the
    largest difference of the probabilities that they give to one event. The attacker
    can make them look alike if and only if (1 - rho) d <= rho: (1 - rho) F + rho H =
    (1 - rho) G + rho H' asks H' - H to be (F - G)(1 - rho)/rho, which is a difference
    of two laws if and only if its positive part has at most the mass 1. So nobody can
    tell them apart from the limit on. For a gap of means d is at least gap/width, with
    equality if the laws differ only at the ends of the range; and 2 Phi(gap/2 sigma) -
    1 for normal laws, which gives `thresholds(...).coin`.

    **Zero-inflated rewards**: 0 with probability 1 - s, else something positive. The
    distance of two such laws is at most the larger s, because an event without 0 has at
    most the probability s under either, and any other event differs as much as its
    complement. So with 97 % zeros, from rho = 0.03/1.03 = 0.029 on nobody can tell the
    arms apart, whatever they pay. Means of rewards clipped to [0, high] are certain to
    do for rho below gap/(gap + high), which is never more. If two arms differ only in
    s, not in what they pay when they pay, the distance is the difference of the two s.
    Then "was it above 0?" is a reward of 0 or 1 that reaches this limit.

    Parameters
    ----------
    distance : d, from 0 to 1.

    Examples
    --------
    Click rates of 0.1 and 0.12, and two thumbs-up rates:

    >>> round(limit_on_rho(0.02), 4), round(limit_on_rho(0.25), 2)
    (0.0196, 0.2)

    References
    ----------
    Huber, A robust version of the probability ratio test, 1965. Altschuler, Brunel,
    Malek, Best arm identification for contaminated bandits, 2019.
    """
    distance = number("distance", distance, at_least=0, at_most=1)
    return distance / (1 + distance)


def attacked_rates(source: Bandit | Arms | Sequence[float], rho: float) -> np.ndarray:
    """Return the rates that a policy sees under the worst attack on 0/1 rewards.

    (1 - rho) p for the best arm, (1 - rho) p + rho for any other: `FakeClicks(rho)`.

    >>> attacked_rates([0.2, 0.4], 0.1).round(4).tolist()
    [0.28, 0.36]
    """
    rates, rho = _rates(source), poison_rate(rho)
    shown = (1 - rho) * rates + rho
    best = int(np.argmax(rates))
    shown[best] -= rho
    return shown


def rate_floor(source: Bandit | Arms | Sequence[float], rho: float, horizon: int) -> float:
    """Return the lower bound on the regret for arms of 0/1 rewards under attack.

    It is Lai and Robbins' for the rates after the worst attack (`attacked_rates`), in
    true gaps:

        log T * sum_j gap_j / kl(p'_j, p'*),

    infinite if the order of the rates does not survive. It holds as T grows, for any
    policy that does well, at all rates, wherever the best arm also shows the highest
    rate, even if it knows rho. For let arm j be truly the best, barely, and its rewards
    attacked with 0: then it shows (1 - rho) p* = p'*, barely more, the others show what
    they did, and the policy must find j. To tell this from p'_j it needs log T /
    kl(p'_j, p'*) rewards of j (Lai and Robbins). (A policy that knows rho, and need
    do well only for gaps beyond the limit, can do with less: it has to rule out only
    that j shows more than p'* + rho.)

    kl-UCB, Bernoulli IMED and Thompson sampling reach it under `FakeClicks(rho)`, which
    shows them a Bernoulli bandit with these rates. kl-UCB does not exceed it, with c =
    3 and in the long run, under any other attack with an independent coin: its proof
    uses the rates only through E exp(l X) <= 1 + r (exp(l) - 1), given the past, with
    r >= p'* for the best arm and r <= p'_j for the others.

    Examples
    --------
    >>> (
    ...     round(rate_floor([0.2, 0.4], 0, 10_000), 1),
    ...     rate_floor([0.2, 0.4], 0.2, 10_000),
    ... )
    (20.1, inf)

    References
    ----------
    Lai and Robbins, Asymptotically efficient adaptive allocation rules, Advances in
    Applied Mathematics 6, 1985. Garivier and Cappe, COLT 2011.
    """
    rates, shown = _rates(source), attacked_rates(source, rho)
    T = whole("horizon", horizon, at_least=2)
    best = int(np.argmax(rates))
    others = [j for j in range(len(rates)) if j != best]
    if not (shown[best] > shown[others]).all():
        return math.inf
    return math.log(T) * sum(
        float(rates[best] - rates[j]) / kl(float(shown[j]), float(shown[best])) for j in others
    )


def _rates(source: Bandit | Arms | Sequence[float]) -> np.ndarray:
    if isinstance(source, (Bandit, Arms)):
        arms = Arms.of(source)
        if not all(isinstance(law, ZeroOne) for law in arms.laws):
            raise InvalidInput(
                "this is about rewards of 0 and 1; give a BernoulliBandit, or a list of rates."
            )
        return arms.means.copy()
    rates = np.array([number("a rate", rate, at_least=0, at_most=1) for rate in source])
    if len(rates) < 2 or np.count_nonzero(rates == rates.max()) > 1:
        raise InvalidInput(
            f"there must be at least 2 rates, and one best of them, got {rates.tolist()}."
        )
    return rates


@dataclass(frozen=True)
class Bounded:
    """Rewards in a range, where means are what to compare.

    Attributes
    ----------
    kind : "0 or 1", "mostly 0" or "in a range".
    low, high : the range.
    gap : the smallest gap of the means, in units of reward.
    limit : means of clipped rewards find the best arm for rho below it.
    nobody : from this rho on nobody finds it; infinite if that is not known. For 0/1
        rewards it is the limit, or the upper end of its interval.
    positive : for rewards that are mostly 0, or nearly all 0 or 1: "is it above 0?"
        finds the arm that pays most often for rho below it. None if that is another arm
        than the best.
    share : for rewards that are mostly 0: how many are not, in the best arm.
    interval : of the limit, if it was estimated from data.
    strays : in a log in which nearly all rewards are 0 or 1, how many are neither.
    """

    kind: str
    low: float
    high: float
    gap: float
    limit: float
    nobody: float
    positive: float | None = None
    share: float | None = None
    interval: tuple[float, float] | None = None
    strays: int = 0

    @property
    def width(self) -> float:
        """High - low."""
        return self.high - self.low

    @property
    def policy(self) -> Policy:
        """The policy for these rewards."""
        return KLUCB(reward_range=(self.low, self.high))

    @property
    def surely(self) -> float:
        """The limit, or the lower end of its interval if it was estimated."""
        return self.limit if self.interval is None else min(self.limit, self.interval[0])

    @property
    def limit_text(self) -> str:
        """The limit, with its interval if it has one."""
        interval = self.interval
        more = "" if interval is None else f" ({interval[0]:.4f} to {interval[1]:.4f})"
        return f"{self.limit:.4f}{more}"

    def unclear(self, rho: float) -> bool:
        """Say whether more data may show that means find the best arm at this rho."""
        return self.interval is not None and self.limit <= rho < self.interval[1]

    def for_range(self, low: float, high: float) -> Bounded:
        """Return the case of the same rewards, taken to lie in a wider range."""
        wider = (high - low) / self.width

        def limit(of: float) -> float:
            return limit_on_rho(of / (1 - of) / wider)

        ends = self.interval
        interval = None if ends is None else (limit(ends[0]), limit(ends[1]))
        return replace(self, low=low, high=high, limit=limit(self.limit), interval=interval)

    def possible(self, rho: float, medians: float = 0.0) -> str:
        """Return "yes", "no" or "unclear", and why, in a few sentences.

        Medians work for rho below `medians`.
        """
        if self.kind == "0 or 1":
            why = (
                "rewards are 0 or 1, so all that they tell is their rate, and a share rho moves a "
                "rate p anywhere between (1 - rho) p and (1 - rho) p + rho. The best arm can be "
                f"found for rho below gap/(1 + gap) = {self.limit_text}, and from there on by "
                "nobody."
            )
        else:
            why = (
                f"an attacker moves the mean of rewards clipped to [{self.low:g}, {self.high:g}] "
                f"by at most rho times {self.width:g}. Means find the best arm for rho below "
                f"gap/(gap + {self.width:g}) = {self.limit_text}."
            )
        if self.kind == "mostly 0":
            why = (
                f"only {100 * (self.share or 0):.3g} % of the best arm's rewards are not 0, so "
                f"from rho = {self.nobody:.4f} on nobody can find it, whatever the arms pay. "
                f"A{why[1:]}"
            )
        if self.kind == "in a range" and medians > 0:
            why += f" Medians do for rho below {medians:.4f}."
        if rho < max(self.surely, medians):
            return f"yes: {why}"
        return f"no: {why}" if rho >= self.nobody else f"unclear: {why}"

    def advice(self, rho: float) -> tuple[str, Policy | None]:
        """Return what to use, as a sentence and as a policy."""
        if rho < self.limit:
            what = (
                "KLUCB(), BernoulliIMED() or ThompsonBeta()"
                if self.kind == "0 or 1"
                else f"KLUCB(reward_range=({self.low:g}, {self.high:g}))"
            )
            who = "each finds" if self.kind == "0 or 1" else "it finds"
            return (
                f"Use {what}: {who} the best arm for rho below {self.limit_text}."
                f"{self._without_strays()}",
                self.policy,
            )
        text = self._without_strays()
        if text:
            text = f"{text.strip()} Otherwise "
        elif self.positive is not None and rho < self.positive:
            text = (
                "If what counts is how often an arm pays, feed 1 for a reward above 0 and use "
                f"KLUCB(): that works for rho below {self.positive:.4f}. Otherwise "
            )
        text += (
            "no policy is sure to find the best arm from the rewards alone. Bring rho below "
            f"{self.limit_text}, or find out who sends the rewards: with a source for each, "
            "TrustThompson() tolerates far more. Sums of many rewards help if attacks come in "
            "bursts, not if each reward is attacked on its own."
        )
        return text[:1].upper() + text[1:], None

    def _without_strays(self) -> str:
        """Say what a few rewards that are neither 0 nor 1 cost, and what helps."""
        if self.strays == 0:
            return ""
        one = self.strays == 1
        text = (
            f" {self.strays:,} reward{' is' if one else 's are'} neither 0 nor 1, and the range is "
            f"[{self.low:g}, {self.high:g}] only because of {'it' if one else 'them'}. "
        )
        if self.positive is None:
            them = "it is a mistake, leave it" if one else "they are mistakes, leave them"
            return f"{text}If {them} out."
        return (
            f"{text}If all that counts is whether an arm pays, feed 1 for a reward above 0 and "
            f"use KLUCB(): that works for rho below {self.positive:.4f}."
        )


def bounded_rewards(arms: Arms) -> Bounded | None:
    """Return what is known of laws in a range, or None if medians suit them better.

    >>> import ironarm as ia
    >>> bounded = bounded_rewards(
    ...     Arms.of(ia.BernoulliBandit([0.019, 0.031, 0.062]))
    ... )
    >>> bounded.kind, round(bounded.limit, 4)
    ('0 or 1', 0.0301)
    """
    if all(isinstance(law, ZeroOne) for law in arms.laws):
        return zero_one(arms.smallest_gap)
    ends = np.array([law.support() for law in arms.laws if hasattr(law, "support")], dtype=float)
    if len(ends) < arms.count or not np.isfinite(ends).all():
        return None
    low, high = float(ends[:, 0].min()), float(ends[:, 1].max())
    zeros = np.array([jump(law, 0.0) for law in arms.laws])
    if low >= 0 and zeros.min() >= MOSTLY:
        return mostly_zero(arms.smallest_gap, high, 1 - zeros, arms.best)
    if arms.median_order_is_mean_order and tied_share(arms) < TIED_SHARE:
        return None
    return in_range(arms.smallest_gap, low, high)


def zero_one(gap: float, interval: tuple[float, float] | None = None) -> Bounded:
    """Return the case of 0/1 rewards; the interval is that of the gap."""
    limit, limits = limit_on_rho(gap), _limits(interval, 1.0)
    nobody = limit if limits is None else max(limit, limits[1])
    return Bounded("0 or 1", 0.0, 1.0, gap, limit, nobody, interval=limits)


def in_range(
    gap: float, low: float, high: float, interval: tuple[float, float] | None = None
) -> Bounded:
    """Return the case of rewards in a range, of unknown laws."""
    width = high - low
    return Bounded(
        "in a range",
        low,
        high,
        gap,
        limit_on_rho(gap / width),
        math.inf,
        interval=_limits(interval, width),
    )


def mostly_zero(
    gap: float,
    high: float,
    shares: np.ndarray,
    best: int,
    interval: tuple[float, float] | None = None,
) -> Bounded:
    """Return the case of rewards that are mostly 0; `shares` of them are not."""
    others = np.delete(shares, best)
    lead = float(shares[best] - others.max())
    return Bounded(
        "mostly 0",
        0.0,
        high,
        gap,
        limit_on_rho(gap / high),
        # the arm that pays most rarely is the hardest to tell from the best
        limit_on_rho(max(float(shares[best]), float(others.min()))),
        positive=limit_on_rho(lead) if lead > 0 else None,
        share=float(shares[best]),
        interval=_limits(interval, high),
    )


def _limits(interval: tuple[float, float] | None, width: float) -> tuple[float, float] | None:
    """Return the interval of the limit, from that of the gap."""
    if interval is None:
        return None
    low, high = (limit_on_rho(min(max(gap / width, 0.0), 1.0)) for gap in interval)
    return low, high


def tied_share(arms: Arms) -> float:
    """Return the largest probability of an arm's median itself."""
    if arms.continuous:
        return 0.0
    return max(jump(law, float(law.ppf(0.5))) for law in arms.laws)


def jump(law: Any, x: float) -> float:
    """Return the probability of x under a law."""
    return float(law.cdf(x)) - float(law.cdf(np.nextafter(x, -math.inf)))
