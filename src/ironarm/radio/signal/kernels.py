"""The narrowband chain, compiled: path, pulses, noise, reception, measurement.

`compiled_chain.py` calls it, for `ironarm radio run` and `RadioBandit`. It takes the
same steps as `Medium.narrowband` and `Receiver.receive`, with the same random numbers.
A test holds the two to 0.002 dB of each other. What makes it fast:

* real and imaginary parts are separate, in single precision;
* samples are kept phase by phase (all first samples of the symbols, then all second
  ones), so that inner loops run along symbols over neighbouring memory;
* carriers are built by doubling instead of a sine for each sample;
* pulses between the samples come from a small table.

A window is `sps` streams of `width` numbers. Sample m * sps + p is number m of stream
p. Each stream ends with PAD zeros, for filters that run over the end.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...marks import cold, hot
from ...normal import inverse_normal
from .kernel_parts import (
    add_conjugate,
    add_filtered,
    add_scaled,
    add_turned,
    carrier,
    draw_normals,
)
from .medium import CARRIER_HZ, DELAY_SYMBOLS
from .randomness import (
    CARRIER,
    DELAY,
    EMITTER,
    JAM,
    NOISE,
    PHASE,
    STEP,
    WANDER,
    fold_word,
    uniform_of,
)
from .receiver import BLOCK, PASSES, TAIL
from .waveform import (
    HALF_SPAN,
    HEADER_BITS,
    SEGMENT,
    SYMBOL_RATE,
)

PAD = 16
BANK_ROWS = 16
"""Rows of the table of pulses for each sample of delay."""
EACH = 48
"""Taps of each phase of the pulse: 2 * HALF_SPAN + 1, then zeros, a multiple of 8."""

SECOND = np.uint64(EMITTER + 1)
"""The jammer is the second emitter."""


class Tables(NamedTuple):
    """What all packets of a format share.

    Complex arrays are their real parts followed by their imaginary parts.
    """

    sps: int
    width: int  # symbols in a window
    length: int  # symbols in a packet
    repeats: int  # of the header
    places: int  # symbols at which a packet may begin
    known: float  # how many symbols are known
    middle: float  # the mean place of the known symbols
    detect_db: float
    floor_db: float
    reference: np.ndarray
    slope: np.ndarray
    inverse: np.ndarray  # 4 x 4, of the least squares; then the product of slope and reference
    template: np.ndarray  # one segment of the preamble
    bank: np.ndarray  # pulses, 1/BANK_ROWS of a sample apart


class Workspace(NamedTuple):
    """Where one thread works."""

    re: np.ndarray  # the window
    im: np.ndarray
    symbols_re: np.ndarray  # of the packet sent, between zeros
    symbols_im: np.ndarray
    a: np.ndarray  # scratch
    b: np.ndarray
    w_re: np.ndarray  # a carrier
    w_im: np.ndarray
    z_re: np.ndarray  # symbols received
    z_im: np.ndarray
    taps: np.ndarray  # a pulse, phase by phase
    backwards: np.ndarray
    tails: np.ndarray
    places: np.ndarray
    # begin, carrier; changes of carrier and timing; the sum of squares that is left
    found: np.ndarray


@cold
def take_taps(c, x, delay):
    """Take the pulse `delay` samples (0 to 1) late: EACH taps for each phase.

    It is a cubic through four rows of the table.
    """
    place = delay * BANK_ROWS
    row = min(int(place), BANK_ROWS - 1)
    u = place - row
    c0 = np.float32(-u * (u - 1.0) * (u - 2.0) / 6.0)
    c1 = np.float32((u + 1.0) * (u - 1.0) * (u - 2.0) / 2.0)
    c2 = np.float32(-(u + 1.0) * u * (u - 2.0) / 2.0)
    c3 = np.float32((u + 1.0) * u * (u - 1.0) / 6.0)
    size = c.sps * EACH
    rows = c.bank[row * size : (row + 4) * size]
    r0, r1, r2, r3 = rows[:size], rows[size : 2 * size], rows[2 * size : 3 * size], rows[3 * size :]
    taps = x.taps
    for i in range(size):
        taps[i] = c0 * r0[i] + c1 * r1[i] + c2 * r2[i] + c3 * r3[i]
    if delay > 0.0:
        taps[0] = 0.0  # it has moved out of the pulse's span


@cold
def write_header(number, repeats, re, im):
    """Write the header: the round's number and its CRC-16 (CCITT), repeated."""
    crc = 0xFFFF
    for i in range(32):
        bit = (number >> (31 - i)) & 1
        top = (crc >> 15) & 1
        crc = (crc << 1) & 0xFFFF
        if top != bit:
            crc ^= 0x1021
    word = (number << 16) | crc
    level = np.float32(math.sqrt(0.5))
    pairs = HEADER_BITS // 2
    for i in range(pairs):
        a = level if (word >> (47 - 2 * i)) & 1 == 0 else -level
        b = level if (word >> (46 - 2 * i)) & 1 == 0 else -level
        for k in range(repeats):
            re[k * pairs + i] = a
            im[k * pairs + i] = b


@cold
def add_noise(c, x, key, variance):
    """Add white noise to the window; sample w uses word w + 1 of the key."""
    scale = np.float32(math.sqrt(0.5 * variance))
    a, b = x.a[: c.width], x.b[: c.width]
    for p in range(c.sps):
        at = p * (c.width + PAD)
        draw_normals(
            key + np.uint64(p + 1) * STEP, np.uint64(c.sps) * STEP, a, b, x.places, x.tails
        )
        add_scaled(x.re[at : at + c.width], a, scale)
        add_scaled(x.im[at : at + c.width], b, scale)


@cold
def add_packet(c, x, key, round_number, wander_db):
    """Add a packet to the window, through its path."""
    span = 2 * HALF_SPAN
    header = span + 4 * SEGMENT
    write_header(round_number, c.repeats, x.symbols_re[header:], x.symbols_im[header:])
    late = DELAY_SYMBOLS * c.sps * uniform_of(fold_word(key, DELAY))
    ahead = int(late)
    angle = (
        2.0
        * math.pi
        * CARRIER_HZ
        * (2.0 * uniform_of(fold_word(key, CARRIER)) - 1.0)
        / (SYMBOL_RATE * c.sps)
    )
    phase = 2.0 * math.pi * uniform_of(fold_word(key, PHASE))
    amplitude = 10.0 ** (wander_db * inverse_normal(uniform_of(fold_word(key, WANDER))) / 20.0)
    take_taps(c, x, late - ahead)
    carrier(angle * c.sps, x.w_re, x.w_im)
    count = c.length + span
    a, b = x.a[:count], x.b[:count]
    for phi in range(c.sps):
        # sample j of this phase is the sum over k of taps[k] * symbols[j - k]: the taps
        # run backwards
        for k in range(span + 1):
            x.backwards[k] = x.taps[phi * EACH + span - k]
        a[:] = 0.0
        b[:] = 0.0
        add_filtered(a, x.symbols_re, x.backwards)
        add_filtered(b, x.symbols_im, x.backwards)
        first = ahead + phi
        at = (first % c.sps) * (c.width + PAD) + first // c.sps
        turn = phase + angle * phi
        add_turned(
            x.re[at : at + count],
            x.im[at : at + count],
            a,
            b,
            x.w_re,
            x.w_im,
            np.float32(amplitude * math.cos(turn)),
            np.float32(amplitude * math.sin(turn)),
        )


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
    for rho in range(sps):
        a, b = x.a[rho * lags : (rho + 1) * lags], x.b[rho * lags : (rho + 1) * lags]
        a[:] = 0.0
        b[:] = 0.0
        for i in range(size):
            at = ((rho + i) % sps) * (c.width + PAD) + HALF_SPAN - TAIL + (rho + i) // sps
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


@hot
def measure(c, x, keys, rounds, n0, jam, wander_db, out):
    """Fill `out` with the SINRs of packets sent through noise n0 and jamming `jam`."""
    for i in range(len(keys)):
        key = keys[i]
        x.re[:] = 0.0
        x.im[:] = 0.0
        add_noise(c, x, fold_word(key, NOISE), n0[i])
        if jam[i] > 0.0:
            add_noise(c, x, fold_word(fold_word(key, SECOND), JAM), jam[i])
        add_packet(c, x, key, rounds[i], wander_db[i])
        out[i] = receive(c, x)


@hot
def measure_windows(c, x, re, im, out):
    """Fill `out` with the SINRs of the packets in windows given sample by sample."""
    size = c.sps * c.width
    for i in range(len(out)):
        for p in range(c.sps):
            for m in range(c.width):
                x.re[p * (c.width + PAD) + m] = re[i * size + m * c.sps + p]
                x.im[p * (c.width + PAD) + m] = im[i * size + m * c.sps + p]
        out[i] = receive(c, x)


@cold
def add_symbol_noise(key, variance, re, im, a, b, places, tails):
    """Add noise to symbols; the word of symbol n is number n + 1 of the key."""
    draw_normals(key + STEP, STEP, a, b, places, tails)
    scale = np.float32(math.sqrt(0.5 * variance))
    add_scaled(re, a, scale)
    add_scaled(im, b, scale)


@hot
def measure_symbols(keys, n0, jam, wander_db, floats, places, out):
    """Fill `out` with the SINRs of packets without pulses.

    There is only noise on the known symbols, each turned to 1, and the fit of the gain.
    """
    known = len(places)
    re, im, a, b, tails = (
        floats[:known],
        floats[known : 2 * known],
        floats[2 * known : 3 * known],
        floats[3 * known : 4 * known],
        floats[4 * known :],
    )
    for i in range(len(keys)):
        key = keys[i]
        re[:] = np.float32(
            10.0 ** (wander_db * inverse_normal(uniform_of(fold_word(key, WANDER))) / 20.0)
        )
        im[:] = 0.0
        add_symbol_noise(fold_word(key, NOISE), n0, re, im, a, b, places, tails)
        if jam > 0.0:
            add_symbol_noise(
                fold_word(fold_word(key, SECOND), JAM), jam, re, im, a, b, places, tails
            )
        gain_re, gain_im, power = 0.0, 0.0, 0.0
        for n in range(known):
            u, v = np.float64(re[n]), np.float64(im[n])
            gain_re += u
            gain_im += v
            power += u * u + v * v
        gain = (gain_re * gain_re + gain_im * gain_im) / (known * known)
        left = (power - known * gain) / (known - 1.0)
        out[i] = 10.0 * math.log10(gain / left)
