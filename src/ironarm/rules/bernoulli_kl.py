"""The relative entropy of two Bernoulli laws, and the rate that it bounds from above.

For rewards in [0, 1] with any law of mean p it bounds how improbable a larger mean is,
as for rewards of 0 and 1: a convex function of such a reward lies below its chord, so
E exp(l X) <= 1 - p + p exp(l).
"""

from __future__ import annotations

import math

from ..marks import cold, hot

CLOSE = 1e-8  # relative; after a Newton step of this size the error is its square
BELOW_ONE = 1.0 - 2.0**-53  # the largest number below 1


@hot
def kl_plus(p, q):
    """Return the binary relative entropy of p and q if p < q, else 0."""
    if p >= q:
        return 0.0
    if q >= 1.0:
        return math.inf
    if p <= 0.0:
        return -math.log(1.0 - q)
    return p * math.log(p / q) + (1.0 - p) * math.log((1.0 - p) / (1.0 - q))


@hot
def largest_variance(p, q):
    """Return the largest x (1 - x) for x between p and q, p <= q.

    kl(p, q) is the integral of (x - p) / (x (1 - x)) from p to q, so it is at least (q
    - p)^2 / 2 over this.
    """
    return q * (1.0 - q) if q < 0.5 else p * (1.0 - p) if p > 0.5 else 0.25


@cold
def kl_upper(p, nats):
    """Return the largest q with kl(p, q) <= nats, for p in [0, 1] and nats >= 0.

    kl(p, q) is convex in q and grows from q = p on. So Newton's method comes down to
    the root from any point above it. The start is from kl >= (q - p)^2 / 2 over the
    largest variance between, twice; or from kl >= p log p + (1 - p) log((1 - p) / (1 -
    q)) where that is not below 1. For p < 1 the result is below 1, at least by a
    rounding.
    """
    if p >= 1.0 or nats <= 0.0:
        return p
    if p <= 0.0:
        return min(-math.expm1(-nats), BELOW_ONE)
    q = p + math.sqrt(0.5 * nats)
    if q < 1.0:
        q = p + math.sqrt(2.0 * nats * largest_variance(p, q))
    else:
        q = 1.0 - (1.0 - p) * math.exp((p * math.log(p) - nats) / (1.0 - p))
        q = min(q, BELOW_ONE)
    moves = q > p
    while moves:
        step = (kl_plus(p, q) - nats) * q * (1.0 - q) / (q - p)
        # kl bends within q - p of p, and within 1 - q of 1; smaller steps are rounding,
        # and so is a step up, or one down to p
        moves = step > CLOSE * min(q - p, 1.0 - q) and p < q - step < q
        q = max(min(q - step, q), p)
    return q


@hot
def may_exceed(p, nats, q):
    """Say whether `kl_upper(p, nats)` may exceed q: False only if it does not.

    It spares most of the roots that a scan over arms would solve for, and asks for a
    logarithm only if a parabola does not decide.
    """
    if p >= q:
        return True
    if q >= 1.0 or (q - p) * (q - p) > 2.0 * nats * (1.0 + 1e-9) * largest_variance(p, q):
        return False
    return kl_plus(p, q) <= nats * (1.0 + 1e-9)
