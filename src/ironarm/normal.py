"""The inverse normal distribution function: Wichura's AS 241, accurate to 1e-16.

One uniform number becomes one normal number, so every law uses a round's noise in the
same way: through its inverse distribution function.
"""

from __future__ import annotations

import math

from .marks import hot

CENTRE = 0.425


@hot
def central(p):
    """Return the inverse for |p - 1/2| <= 0.425; some finite number elsewhere."""
    q = p - 0.5
    r = 0.180625 - q * q
    top = 2.5090809287301226727e3
    top = top * r + 3.3430575583588128105e4
    top = top * r + 6.7265770927008700853e4
    top = top * r + 4.5921953931549871457e4
    top = top * r + 1.3731693765509461125e4
    top = top * r + 1.9715909503065514427e3
    top = top * r + 1.3314166789178437745e2
    top = top * r + 3.3871328727963666080e0
    bottom = 5.2264952788528545610e3
    bottom = bottom * r + 2.8729085735721942674e4
    bottom = bottom * r + 3.9307895800092710610e4
    bottom = bottom * r + 2.1213794301586595867e4
    bottom = bottom * r + 5.3941960214247511077e3
    bottom = bottom * r + 6.8718700749205790830e2
    bottom = bottom * r + 4.2313330701600911252e1
    return q * top / (bottom * r + 1.0)


@hot
def near_tail(r):
    """Return the inverse in the upper tail for r = sqrt(-log(1 - p)) <= 5."""
    r -= 1.6
    top = 7.74545014278341407640e-4
    top = top * r + 2.27238449892691845833e-2
    top = top * r + 2.41780725177450611770e-1
    top = top * r + 1.27045825245236838258e0
    top = top * r + 3.64784832476320460504e0
    top = top * r + 5.76949722146069140550e0
    top = top * r + 4.63033784615654529590e0
    top = top * r + 1.42343711074968357734e0
    bottom = 1.05075007164441684324e-9
    bottom = bottom * r + 5.47593808499534494600e-4
    bottom = bottom * r + 1.51986665636164571966e-2
    bottom = bottom * r + 1.48103976427480074590e-1
    bottom = bottom * r + 6.89767334985100004550e-1
    bottom = bottom * r + 1.67638483018380384940e0
    bottom = bottom * r + 2.05319162663775882187e0
    return top / (bottom * r + 1.0)


@hot
def tail(p):
    """Return the inverse for |p - 1/2| > 0.425."""
    r = math.sqrt(-math.log(p if p < 0.5 else 1.0 - p))
    if r <= 5.0:
        z = near_tail(r)
    else:
        r -= 5.0
        top = 2.01033439929228813265e-7
        top = top * r + 2.71155556874348757815e-5
        top = top * r + 1.24266094738807843860e-3
        top = top * r + 2.65321895265761230930e-2
        top = top * r + 2.96560571828504891230e-1
        top = top * r + 1.78482653991729133580e0
        top = top * r + 5.46378491116411436990e0
        top = top * r + 6.65790464350110377720e0
        bottom = 2.04426310338993978564e-15
        bottom = bottom * r + 1.42151175831644588870e-7
        bottom = bottom * r + 1.84631831751005468180e-5
        bottom = bottom * r + 7.86869131145613259100e-4
        bottom = bottom * r + 1.48753612908506148525e-2
        bottom = bottom * r + 1.36929880922735805310e-1
        bottom = bottom * r + 5.99832206555887937690e-1
        z = top / (bottom * r + 1.0)
    return -z if p < 0.5 else z


@hot
def inverse_normal(p):
    """Return z with P(Z <= z) = p, for 0 < p < 1."""
    return central(p) if abs(p - 0.5) <= CENTRE else tail(p)


@hot
def fill_normal(uniforms, out, scratch):
    """Fill `out` with the inverses of `uniforms`, three times as fast as one by one.

    First all are computed as if central, in a loop that the compiler vectorises. Then
    come the 15 % in the tails, which are listed in `scratch` without a branch that
    would be mispredicted. Their loops are vectorised too, except the one with the
    logarithm. `scratch` is twice as long as `out`.
    """
    count = len(out)
    for i in range(count):
        out[i] = central(uniforms[i])
    tails = 0
    for i in range(count):
        scratch[tails] = i
        tails += abs(uniforms[i] - 0.5) > CENTRE
    for k in range(tails):
        p = uniforms[int(scratch[k])]
        scratch[count + k] = -math.log(min(p, 1.0 - p))
    for k in range(tails):
        scratch[count + k] = near_tail(math.sqrt(scratch[count + k]))
    for k in range(tails):
        i = int(scratch[k])
        p = uniforms[i]
        out[i] = -scratch[count + k] if p < 0.5 else scratch[count + k]
        if min(p, 1.0 - p) < 2e-11:
            out[i] = tail(p)
