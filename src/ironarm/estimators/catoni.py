"""Catoni's M-estimator, kept as a certified local model: one more reward costs O(1).

The estimate for scale `alpha` is the root m of sum psi(alpha (X_i - m)) = 0 with psi(x)
= sign(x) log(1 + |x| + x^2/2). It has no streaming form, because alpha changes in every
round.

**The model.** At an anchor (theta, alpha0) with y_i = alpha0 (X_i - theta), every other
(m, alpha) changes the arguments by d_i = h y_i - b, where alpha = alpha0 (1 + h) and b
= alpha (m - theta). So the sum is, to third order, a cubic in (h, b) with ten
coefficients sum psi^(k)(y_i) y_i^j, and a new reward adds one term to each.

**The certificate.** psi has three continuous derivatives and |psi''''(y)| <= 3 / D(y)^2
with D(y) = 1 + |y| + y^2/2, because 2 D is the squared distance of |y| to the points -1
+- i. That distance, sqrt(2 D), changes at most as fast as y does, and |d_i| <= e (1 +
|y_i|) <= e sqrt(2 D(y_i)) with e = |h| + |b| / (1 + min |y_i|). Hence for e < 1 the
error of the cubic is at most sum d_i^4 / D(y_i)^2 / (8 (1 - e)^4): a quartic in (h, b)
with five more coefficients. It holds for any rewards, and reaches far if all of them
are far from the anchor, as under an attack. If the bound is too large for the question,
the model is anchored anew, in O(n).

Rewards are clipped to +-1e12 first: the root with infinite arguments is undefined.
"""

from __future__ import annotations

import math

from ..marks import cold, hot
from .base import HoldsRewards

LARGEST = 1e12
COEFFICIENTS = 16  # ten of the cubic, five of its error, and the smallest |y|
ROUNDING = 1e-14


@hot
def psi(x):
    """Return sign(x) log(1 + |x| + x^2/2)."""
    size = abs(x)
    value = math.log1p(size + 0.5 * size * size)
    return value if x >= 0.0 else -value


@hot
def psi_slope(x):
    """Return the derivative of psi."""
    size = abs(x)
    return (1.0 + size) / (1.0 + size + 0.5 * size * size)


@hot
def add_terms(model, at, y):
    """Add the terms of one reward, y = alpha0 (X - theta), to model[at:]."""
    size = abs(y)
    d = 1.0 + size + 0.5 * size * size
    value = math.log(d)
    first = (1.0 + size) / d
    second = (1.0 - d) / (d * d)
    third = first * (d - 2.0) / (d * d)
    if y < 0.0:
        value = -value
        second = -second
    yy = y * y
    model[at] += value
    model[at + 1] += first
    model[at + 2] += first * y
    model[at + 3] += second
    model[at + 4] += second * y
    model[at + 5] += second * yy
    model[at + 6] += third
    model[at + 7] += third * y
    model[at + 8] += third * yy
    model[at + 9] += third * yy * y
    q = 1.0 / (d * d)
    model[at + 10] += q
    model[at + 11] += q * y
    model[at + 12] += q * yy
    model[at + 13] += q * yy * y
    model[at + 14] += q * yy * yy
    model[at + 15] = min(model[at + 15], size)


@hot
def model_value(c, at, h, b):
    """Return the cubic's value at (h, b)."""
    return (
        c[at]
        + (h * c[at + 2] - b * c[at + 1])
        + 0.5 * (h * h * c[at + 5] - 2.0 * h * b * c[at + 4] + b * b * c[at + 3])
        + (
            h * h * h * c[at + 9]
            - 3.0 * h * h * b * c[at + 8]
            + 3.0 * h * b * b * c[at + 7]
            - b * b * b * c[at + 6]
        )
        / 6.0
    )


@hot
def model_slope(c, at, h, b):
    """Return the cubic's derivative in b (negative near the root)."""
    return (
        -c[at + 1]
        - h * c[at + 4]
        + b * c[at + 3]
        - 0.5 * (h * h * c[at + 8] - 2.0 * h * b * c[at + 7] + b * b * c[at + 6])
    )


@hot
def distance(c, at, h, b):
    """Return e, how far (h, b) is from the anchor.

    |d_i| <= e (1 + |y_i|) for every reward.
    """
    return abs(h) + abs(b) / (1.0 + c[at + 15])


@hot
def model_error(c, at, h, b):
    """Return a bound on the cubic's error at (h, b).

    It is infinite where the certificate does not reach.
    """
    e = distance(c, at, h, b)
    if e >= 0.5:
        return math.inf
    quartic = (
        h * h * h * h * c[at + 14]
        - 4.0 * h * h * h * b * c[at + 13]
        + 6.0 * h * h * b * b * c[at + 12]
        - 4.0 * h * b * b * b * c[at + 11]
        + b * b * b * b * c[at + 10]
    )
    left = (1.0 - e) * (1.0 - e)
    return abs(quartic) / (8.0 * left * left)


@cold
def anchor(values, start, n, model, at, theta, alpha):
    """Compute the coefficients at (theta, alpha) from all rewards."""
    for k in range(COEFFICIENTS):
        model[at + k] = 0.0
    model[at + 15] = math.inf
    for i in range(start, start + n):
        add_terms(model, at, alpha * (values[i] - theta))


@cold
def exact_root(values, start, n, alpha, guess):
    """Solve sum psi(alpha (X - m)) = 0 by Newton's method inside a bracket.

    Each step costs O(n).
    """
    low = values[start]
    high = values[start]
    for i in range(start + 1, start + n):
        low = min(low, values[i])
        high = max(high, values[i])
    m = min(max(guess, low), high)
    last = math.inf
    for _ in range(200):
        total = 0.0
        slope = 0.0
        for i in range(start, start + n):
            y = alpha * (values[i] - m)
            total += psi(y)
            slope += psi_slope(y)
        if total > 0.0:
            low = m
        else:
            high = m
        step = total / (alpha * slope)
        new = m + step
        if not low <= new <= high or abs(total) > 0.5 * last:
            new = 0.5 * (low + high)  # Newton alone can cycle
        last = abs(total)
        if abs(new - m) <= 1e-15 * (1.0 + abs(m)):
            return new
        m = new
    return m


class Catoni(HoldsRewards):
    """Catoni's estimator.

    `add` is O(1) and returns the model's first-order root for the anchor's scale.
    `CatoniUCB` solves for as much accuracy as its choice needs.

    About 11 bytes per reward and 0.2 KB per arm. A new anchor costs O(n) and is needed
    when n has grown by a constant factor, so the amortised cost is O(1) for a fixed
    accuracy.
    """

    fields = {
        **HoldsRewards.fields,
        "model": f"float[arms*{COEFFICIENTS}]",
        "anchor_at": "float[arms]",
        "anchor_scale": "float[arms]",
    }

    @staticmethod
    @hot
    def add(s, a, x):
        x = min(max(x, -LARGEST), LARGEST)
        n = s.slot_size[a]
        s.pool[s.slot_start[a] + n] = x
        s.slot_size[a] = n + 1
        at = a * COEFFICIENTS
        if n == 0:
            s.anchor_at[a] = x
            s.anchor_scale[a] = 1.0 / math.sqrt(s.variance)
            s.model[at + 15] = math.inf
        add_terms(s.model, at, s.anchor_scale[a] * (x - s.anchor_at[a]))
        return s.anchor_at[a] + s.model[at] / (s.anchor_scale[a] * s.model[at + 1])
