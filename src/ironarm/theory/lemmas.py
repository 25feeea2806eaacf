"""The paper's lemmas: quantiles and shares when an attacker has part of the sample."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import InvalidInput
from ..validation import number, whole
from .arms import Law


@dataclass(frozen=True)
class QuantileBound:
    """Bounds on the probability that a sample quantile leaves [`low`, `high`].

    `below` is for under `low`, `above` for over `high`.
    """

    low: float
    high: float
    below: float
    above: float


def quantile_concentration(
    law: Law, n: int, s: float, margin: float, p: float = 0.5
) -> QuantileBound:
    """Bound the p-quantile of n rewards of which at most a share s is attacked.

    Lemma 1 is for the median, Lemma 3 is the general case.

    Whatever the attacker does to at most s n rewards, even if it sees all of them
    before choosing which, the p-quantile of the sample lies between the (p - s)- and
    the (p + s)-quantile of the clean sample. Hoeffding's inequality for the number of
    clean rewards beyond a point gives, with q = F's quantile function and a margin a >
    0,

        P(quantile <= q(p - s) - a) <= exp(-2 n [p - s - F(q(p - s) - a)]^2)
        P(quantile >= q(p + s) + a) <= exp(-2 n [F(q(p + s) + a) - p - s]^2)

    **A slip in the paper:** for a law with a jump at q(p + s) + a, the second line
    needs the probability of values below that point, not F. For laws with a density
    there is no difference. For the others, the bound as printed holds for the event
    "quantile > q(p + s) + a", which is all that the theorems need. `above` is that
    bound.

    Parameters
    ----------
    law : the clean law.
    n : rewards, >= 1.
    s : the attacked share, 0 <= s < min(p, 1 - p).
    margin : the paper's a and b, in units of reward, > 0.
    p : which quantile; 0.5 is the median.

    Examples
    --------
    >>> from ironarm.theory.arms import Normal
    >>> bound = quantile_concentration(Normal(0, 1), n=100, s=0.125, margin=0.5)
    >>> round(bound.low, 3), round(bound.high, 3), round(bound.below, 4)
    (-0.819, 0.819, 0.0034)

    References
    ----------
    Guan et al. 2020, Lemma 1, and Lemma 3 of its appendix.
    """
    n = whole("n", n, at_least=1)
    p = number("p", p, above=0, below=1)
    s = number("s", s, at_least=0)
    if s >= min(p, 1 - p):
        raise InvalidInput(
            f"s must be below p and below 1 - p, got s={s:g} for p={p:g}: with more attacked "
            "rewards the quantile can be anywhere."
        )
    margin = number("margin", margin, above=0)
    low = float(law.ppf(p - s)) - margin
    high = float(law.ppf(p + s)) + margin
    below = math.exp(-2 * n * max(0.0, p - s - float(law.cdf(low))) ** 2)
    above = math.exp(-2 * n * max(0.0, float(law.cdf(high)) - p - s) ** 2)
    return QuantileBound(low, high, below, above)


def attacked_share_rounds(arms: int, excess: float, delta: float) -> int:
    """Return Lemma 2's N: from the N-th reward on, attacked shares stay low.

    With probability 1 - delta, every arm's attacked share stays below rho + excess from
    its N-th reward on, for ever.

        N = ceil(log(K / (2 e^2 delta)) / (2 e^2)) + 1,     e = excess

    by Hoeffding's inequality and a union bound over arms and over all m >= N.

    Examples
    --------
    >>> attacked_share_rounds(arms=10, excess=0.1, delta=0.05)
    462

    References
    ----------
    Guan et al. 2020, Lemma 2 of its appendix.
    """
    arms = whole("arms", arms, at_least=1)
    excess = number("excess", excess, above=0, below=1)
    delta = number("delta", delta, above=0, below=1)
    return max(1, math.ceil(math.log(arms / (2 * excess**2 * delta)) / (2 * excess**2)) + 1)
