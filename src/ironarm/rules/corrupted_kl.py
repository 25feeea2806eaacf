"""The corrupted divergence kl_eps(D) of two normal laws.

It is what one reward can tell about a gap of D standard deviations when a share eps of
the rewards is corrupt: the divergence of Huber's least favourable pair. The pair is the
two laws N(0, 1) and N(D, 1), brought as close as a share eps of corruption allows. Its
likelihood ratio is that of the normal laws clipped to [c, 1/c]:

    1/(1 - eps)      = c Phi(D-/2) + Phi(D+/2),  D-, D+ = D -+ (2/D) log(1/c)
    kl_eps / (1-eps) = (1 - c) Phi(D-/2) log(1/c) + (D^2/2) (Phi(D+/2) - Phi(D-/2))
                       - D (phi(D-/2) - phi(D+/2))

kl_eps is 0 up to D = Dmin = 2 Phi^-1(1/(2 (1 - eps))), where corruption can make both
laws look the same. It never exceeds (1 - 2 eps) log((1 - eps)/eps): every arm, however
bad, must be pulled in proportion to log T.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from ..marks import cold, hot

POINTS = 1600
STEP = 0.01  # standard deviations between two points of the table, which begins at Dmin
ROOT_2 = math.sqrt(2.0)
ROOT_2_PI = math.sqrt(2.0 * math.pi)
FIELDS = {"divergences": f"cache float[{POINTS}]"}


def smallest_gap(epsilon: float) -> float:
    """Return Dmin, the largest gap that a share epsilon of corruption can hide.

    The unit is a standard deviation.

    >>> round(smallest_gap(0.4), 4)
    1.9348
    """
    return 2 * NormalDist().inv_cdf(1 / (2 * (1 - epsilon)))


@hot
def cdf(z):
    """Return Phi(z)."""
    return 0.5 * math.erfc(-z / ROOT_2)


@hot
def density(z):
    """Return phi(z)."""
    return math.exp(-z * z / 2.0) / ROOT_2_PI


@cold
def clipping(D, epsilon):
    """Return log(1/c) for a gap D > 0 and epsilon > 0, by bisection.

    It is 0 if corruption can make both laws look the same.
    """
    low = 0.0
    high = math.log((1.0 - epsilon) / epsilon)  # its value for an infinite gap
    if 2.0 * cdf(D / 2.0) <= 1.0 / (1.0 - epsilon):
        return 0.0
    for _ in range(60):
        lc = 0.5 * (low + high)
        if math.exp(-lc) * cdf(D / 2.0 - lc / D) + cdf(D / 2.0 + lc / D) > 1.0 / (1.0 - epsilon):
            low = lc
        else:
            high = lc
    return low


@cold
def corrupted_kl(D, epsilon):
    """Return kl_eps(D) for a gap D > 0 and epsilon > 0."""
    low = clipping(D, epsilon)
    if low == 0.0:
        return 0.0
    minus = D / 2.0 - low / D
    plus = D / 2.0 + low / D
    within = cdf(plus) - cdf(minus)
    return (1.0 - epsilon) * (
        (1.0 - math.exp(-low)) * cdf(minus) * low
        + D * D / 2.0 * within
        - D * (density(minus) - density(plus))
    )


@cold
def tabulated_kl(divergences, excess, epsilon, least):
    """Return kl_eps(least + excess) by interpolation in the table; `least` is Dmin.

    A point of the table is computed when it is first needed; 0 means not yet.
    """
    place = min(max(excess, 0.0) / STEP, POINTS - 1.0)
    i = min(int(place), POINTS - 2)
    for k in range(max(i, 1), i + 2):
        if divergences[k] == 0.0:
            divergences[k] = corrupted_kl(least + k * STEP, epsilon)
    low = divergences[i]
    return low + (place - i) * (divergences[i + 1] - low)
