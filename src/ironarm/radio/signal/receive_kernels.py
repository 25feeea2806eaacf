"""The receiver, compiled: the steps of `receiver.py`, a packet at a time.

Find the preamble, filter the symbols, refine gain, carrier and timing, measure. A test
compares it with `Receiver.receive` on the same samples.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
# marked functions have no annotations: they are compiled

from __future__ import annotations

import math

import numpy as np

from ...marks import cold, hot
from .kernel_parts import (
    EACH,
    PAD,
    add_conjugate,
    add_filtered,
    add_turned,
    carrier,
    take_taps,
)
from .receiver import BLOCK, PASSES, TAIL
from .waveform import HALF_SPAN, SEGMENT


@hot
def product(a, b, at):
    """Return the sum of the products of neighbouring segments, the last one negated."""
    p_re = 0.0
    p_im = 0.0
    for k in range(3):
        i = at + k * SEGMENT
        j = i + SEGMENT
        sign = 1.0 if k < 2 else -1.0
        p_re += sign * (np.float64(a[i]) * a[j] + np.float64(b[i]) * b[j])
        p_im += sign * (np.float64(a[i]) * b[j] - np.float64(b[i]) * a[j])
    return p_re, p_im


@cold
def find(c, x):
    """Find the first symbol (samples) and the carrier offset (radians a sample)."""
    sps, lags = c.sps, c.places + 3 * SEGMENT
    size = len(c.template) // 2
    for phase in range(sps):
        a, b = x.a[phase * lags : (phase + 1) * lags], x.b[phase * lags : (phase + 1) * lags]
        a[:] = 0.0
        b[:] = 0.0
        for i in range(size):
            at = ((phase + i) % sps) * (c.width + PAD) + HALF_SPAN - TAIL + (phase + i) // sps
            add_conjugate(
                a,
                b,
                x.re[at : at + lags],
                x.im[at : at + lags],
                c.template[i],
                c.template[size + i],
            )
    best = -1.0
    best_at = 0
    for lag in range(c.places * sps):
        p_re, p_im = product(x.a, x.b, (lag % sps) * lags + lag // sps)
        if p_re * p_re + p_im * p_im > best:
            best = p_re * p_re + p_im * p_im
            best_at = lag
    p_re, p_im = product(x.a, x.b, (best_at % sps) * lags + best_at // sps)
    offset = 0.0
    if 0 < best_at < c.places * sps - 1:
        u, v = product(x.a, x.b, ((best_at - 1) % sps) * lags + (best_at - 1) // sps)
        before = math.sqrt(u * u + v * v)
        u, v = product(x.a, x.b, ((best_at + 1) % sps) * lags + (best_at + 1) // sps)
        after = math.sqrt(u * u + v * v)
        bend = before - 2.0 * math.sqrt(best) + after
        if bend < 0.0:
            offset = 0.5 * (before - after) / bend
    x.found[0] = HALF_SPAN * sps + best_at + offset
    x.found[1] = math.atan2(p_im, p_re) / (SEGMENT * sps)


@cold
def filter_symbols(c, x, begin, turn):
    """Undo the carrier offset, and fill z with the pulse filter's output.

    z has the packet's symbols, the first of them at `begin`.
    """
    sps = c.sps
    at = min(int(begin), (HALF_SPAN + c.places) * sps - 1)
    take_taps(c, x, begin - at)
    carrier(-turn * sps, x.w_re, x.w_im)
    z_re, z_im = x.z_re[: c.length], x.z_im[: c.length]
    z_re[:] = 0.0
    z_im[:] = 0.0
    count = c.length + 2 * HALF_SPAN
    for phi in range(sps):
        first = at - HALF_SPAN * sps + phi
        start = (first % sps) * (c.width + PAD) + first // sps
        angle = turn * (HALF_SPAN * sps - phi)
        x.a[:] = 0.0
        x.b[:] = 0.0
        add_turned(
            x.a[:count],
            x.b[:count],
            x.re[start : start + count],
            x.im[start : start + count],
            x.w_re,
            x.w_im,
            np.float32(math.cos(angle)),
            np.float32(math.sin(angle)),
        )
        taps = x.taps[phi * EACH : (phi + 1) * EACH]
        add_filtered(z_re, x.a, taps)
        add_filtered(z_im, x.b, taps)


@hot
def carrier_of_blocks(c, x):
    """Return how fast the phase of (received * conj(known)) moves, radians a symbol."""
    s_re, s_im = c.reference[: c.length], c.reference[c.length :]
    last_re, last_im, u, v = 0.0, 0.0, 0.0, 0.0
    for k in range(c.length // BLOCK):
        t_re, t_im = 0.0, 0.0
        for n in range(k * BLOCK, (k + 1) * BLOCK):
            t_re += s_re[n] * x.z_re[n] + s_im[n] * x.z_im[n]
            t_im += s_re[n] * x.z_im[n] - s_im[n] * x.z_re[n]
        u += last_re * t_re + last_im * t_im
        v += last_re * t_im - last_im * t_re
        last_re, last_im = t_re, t_im
    return math.atan2(v, u) / BLOCK


@cold
def refine(c, x):
    """Fit gain, carrier and timing to the filter's output."""
    length = c.length
    shift = carrier_of_blocks(c, x)
    carrier(-shift, x.w_re, x.w_im)
    a, b = x.a[:length], x.b[:length]
    a[:] = 0.0
    b[:] = 0.0
    add_turned(
        a,
        b,
        x.z_re,
        x.z_im,
        x.w_re,
        x.w_im,
        np.float32(math.cos(shift * c.middle)),
        np.float32(math.sin(shift * c.middle)),
    )
    s_re, s_im, d_re, d_im = (
        c.reference[:length],
        c.reference[length:],
        c.slope[:length],
        c.slope[length:],
    )
    g_re, g_im, n_re, n_im, t_re, t_im, power = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for n in range(length):
        sr, si, zr, zi = (
            np.float64(s_re[n]),
            np.float64(s_im[n]),
            np.float64(a[n]),
            np.float64(b[n]),
        )
        along = sr * zr + si * zi
        across = sr * zi - si * zr
        g_re += along
        g_im += across
        n_re += along * (n - c.middle)
        n_im += across * (n - c.middle)
        dr, di = np.float64(d_re[n]), np.float64(d_im[n])
        t_re += dr * zr + di * zi
        t_im += dr * zi - di * zr
        power += (zr * zr + zi * zi) * (sr * sr + si * si)
    g_re /= c.known
    g_im /= c.known
    square = g_re * g_re + g_im * g_im
    # the columns' products with the error z / g - s; those of s and j s are 0, because
    # g is already the best fit
    turned = (n_im * g_re - n_re * g_im) / square
    late = (t_re * g_re + t_im * g_im) / square - c.inverse[16]
    gain_re = 1.0 + c.inverse[2] * turned + c.inverse[3] * late
    gain_im = c.inverse[6] * turned + c.inverse[7] * late
    by_carrier = c.inverse[10] * turned + c.inverse[11] * late
    by_timing = c.inverse[14] * turned + c.inverse[15] * late
    x.found[2] = shift + by_carrier
    x.found[3] = by_timing
    x.found[4] = (power / square - c.known - turned * by_carrier - late * by_timing) / (
        gain_re * gain_re + gain_im * gain_im
    )


@cold
def receive(c, x):
    """Return the SINR in dB of the packet in the window, or the floor."""
    find(c, x)
    begin, turn = x.found[0], x.found[1]
    first, last = HALF_SPAN * c.sps, (HALF_SPAN + c.places) * c.sps
    for _ in range(PASSES):
        if not (begin >= first and begin <= last and abs(turn) < 4.0):
            return c.floor_db  # also if something is NaN
        filter_symbols(c, x, begin, turn)
        refine(c, x)
        begin = min(max(begin - min(max(x.found[3], -0.5), 0.5) * c.sps, first), last)
        turn += x.found[2] / c.sps
    left = x.found[4]
    if not left > 0.0:
        return c.floor_db
    sinr = -10.0 * math.log10(left / (c.known - 2.0))
    return sinr if sinr >= c.detect_db else c.floor_db
