"""Which share of hostile sources can be tolerated: by anybody, and by `TrustThompson`.

A source that sends n rewards of an arm reveals its mean up to sigma / sqrt(n). Smaller
lies cannot be told from luck, larger ones can. So it matters how many rewards each
source sends, not only how many sources are hostile.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from ..rules.source_trust import CAUTION, MOST_SPREAD, most_distance
from ..validation import number, whole


def sources_limit(gap: float, sigma: float, rewards: float) -> float:
    """Return the share of hostile sources at which no policy can find the best arm.

    Two arms differ by `gap`, with standard deviation `sigma`, and every source sends
    `rewards` rewards of each. What one source sends then has nearly a normal law. Let P
    be that law if the first arm is the better one, and Q if the second is.
    Hostile sources, a share rho of all, can make both worlds look alike if

        (1 - rho) P + rho P' = (1 - rho) Q + rho Q'

    for some laws P' and Q', and that is so if and only if the total variation V of P
    and Q is at most rho / (1 - rho). So the limit is V / (1 + V), with V = 2 Phi(gap
    sqrt(2 n) / (2 sigma)) - 1: gap / sigma * sqrt(n / pi) for few rewards, and one half
    for many. No number of sources helps.

    >>> [round(sources_limit(0.02, 0.32, n), 3) for n in (1, 10, 100, 1000)]
    [0.034, 0.1, 0.255, 0.456]
    """
    gap, sigma, rewards = _checked(gap, sigma, rewards)
    variation = 2 * NormalDist().cdf(gap * math.sqrt(2 * rewards) / (2 * sigma)) - 1
    return variation / (1 + variation)


def unnoticed_lie(sigma: float, rewards: float, arms: int) -> float:
    """Return by how much a source can lie on each of two arms and stay trusted.

    It sends `rewards` rewards of each, and nothing false of the others. `TrustThompson`
    drops it when the squared distance of its means from those of the others, in
    standard errors and summed over the arms, is too large for luck. (Clicks at a rate
    below 0.04 count for less while a source has few of them, so it can lie more.)

    >>> [round(unnoticed_lie(0.32, n, 5), 2) for n in (10, 100, 1000)]
    [0.43, 0.1, 0.03]
    """
    _, sigma, rewards = _checked(1, sigma, rewards)
    arms = whole("arms", arms, at_least=2)
    return sigma * math.sqrt(most_distance(arms) / 2 * (rewards + CAUTION)) / rewards


def tolerated_share(
    gap: float, sigma: float, rewards: float, arms: int, wild: bool = False
) -> float:
    """Return the share of hostile sources that `TrustThompson` tolerates.

    Below it the policy finds the best arm, whatever they send.

    A hostile source that stays trusted is at most `unnoticed_lie` away from the centre
    of the trusted sources. No source counts for more than a usual one, so a share rho
    of hostile ones moves the centre from the honest mean by at most rho / (1 - rho)
    times that. Two arms that differ by `gap` stay in order if

        rho / (1 - rho) 2 lie < gap.

    If rewards have no range, hostile sources can send `wild` ones too, so that the
    variance by which all are judged grows, and with it the lie that stays unnoticed. A
    source may have 9 times the variance of a usual one, all of it on two arms if it
    likes. That makes the lie at most sqrt(1 + 4.5 rho / (1 - rho) (arms + 8 / rewards))
    times as large.

    The bound is never above `sources_limit`. It holds for many sources, each of which
    has sent `rewards` rewards of both arms, and presumes that the search began near the
    honest majority. Against most attacks the policy tolerates more, because sources
    that tell the same lie are found together.

    >>> [round(tolerated_share(0.02, 0.32, n, 5), 3) for n in (10, 100, 1000)]
    [0.023, 0.088, 0.239]
    >>> round(tolerated_share(0.02, 0.32, 1000, 5, wild=True), 3)
    0.13
    """
    gap, sigma, rewards = _checked(gap, sigma, rewards)
    lie = unnoticed_lie(sigma, rewards, arms)
    own = gap / (gap + 2 * lie)
    if wild:
        most = MOST_SPREAD * (arms + CAUTION / rewards) / 2

        def beyond(rho: float) -> bool:
            odds = rho / (1 - rho)
            return 2 * lie * math.sqrt(1 + most * odds) * odds >= gap

        low = 0.0  # what is moved grows with rho, so this halves to the root
        for _ in range(60):
            middle = (low + own) / 2
            low, own = (low, middle) if beyond(middle) else (middle, own)
    return min(own, sources_limit(gap, sigma, rewards))


def _checked(gap: float, sigma: float, rewards: float) -> tuple[float, float, float]:
    return (
        number("gap", gap, above=0),
        number("sigma", sigma, above=0),
        number("rewards", rewards, above=0),
    )
