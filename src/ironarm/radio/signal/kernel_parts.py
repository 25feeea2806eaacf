"""What the compiled kernels share: tables, memory, and the inner loops.

Complex numbers are two arrays in single precision.

The words come from `randomness.py`. The inverse normal is AS 241's single-precision
version (PPND7), which has shorter polynomials than the one in `ironarm.normal`, and
vectorises twice as wide. The two agree to 2e-5; a test compares them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...marks import cold
from .randomness import mix

PAD = 16
BANK_ROWS = 16
"""Rows of the table of pulses for each sample of delay."""
EACH = 48
"""Taps of each phase of the pulse: 2 * HALF_SPAN + 1, then zeros, a multiple of 8."""

_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_TOP = np.uint64(0x80000000)
_2_TO_MINUS_32 = np.float32(2.0**-32)
_2_TO_MINUS_33 = np.float32(2.0**-33)
_HALF = np.float32(0.5)
_CENTRE = np.float32(0.425)
_CENTRE_SQUARE = np.float32(0.180625)
_ONE = np.float32(1.0)
_SHIFT = np.float32(1.6)
# PPND7 of Wichura's AS 241
_A0, _A1, _A2, _A3 = (
    np.float32(3.3871327179e0),
    np.float32(5.0434271938e1),
    np.float32(1.5929113202e2),
    np.float32(5.9109374720e1),
)
_B1, _B2, _B3 = np.float32(1.7895169469e1), np.float32(7.8757757664e1), np.float32(6.7187563600e1)
_C0, _C1, _C2, _C3 = (
    np.float32(1.4234372777e0),
    np.float32(2.7568153900e0),
    np.float32(1.3067284816e0),
    np.float32(1.7023821103e-1),
)
_D1, _D2 = np.float32(7.3700164250e-1), np.float32(1.2021132975e-1)


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
def draw_normals(key, step, first, second, places, tails):
    """Fill two arrays with independent standard normal numbers.

    Numbers i come from the upper and the lower half of the word key + i * step.
    """
    count = len(first)
    for i in range(count):
        word = mix(key + np.uint64(i) * step)
        first[i] = np.float32(np.int32((word >> _32) ^ _TOP)) * _2_TO_MINUS_32
        second[i] = np.float32(np.int32((word & _LOW) ^ _TOP)) * _2_TO_MINUS_32
    normals_of(first, places, tails)
    normals_of(second, places, tails)


@cold
def normals_of(out, places, tails):
    """Turn numbers uniform on (-1/2, 1/2) into standard normal ones.

    First all of them as if they were central, then the 15 % in the tails again.
    """
    count = len(out)
    found = 0
    for i in range(count):
        places[found] = i
        found += abs(out[i]) > _CENTRE
    for k in range(found):
        tails[k] = out[places[k]]
    for i in range(count):
        q = out[i]
        r = _CENTRE_SQUARE - q * q
        out[i] = (
            q * (((_A3 * r + _A2) * r + _A1) * r + _A0) / (((_B3 * r + _B2) * r + _B1) * r + _ONE)
        )
    for k in range(found):
        # the clamp keeps the logarithm finite where rounding has reached the end
        r = math.sqrt(-math.log(max(_HALF - abs(tails[k]), _2_TO_MINUS_33))) - _SHIFT
        z = (((_C3 * r + _C2) * r + _C1) * r + _C0) / ((_D2 * r + _D1) * r + _ONE)
        out[places[k]] = z if tails[k] > 0 else -z


@cold
def carrier(angle, re, im):
    """Fill arrays with cos and sin of 0, angle, 2 angle, ..., by doubling."""
    re[0] = 1.0
    im[0] = 0.0
    count = len(re)
    done = 1
    while done < count:
        c = np.float32(math.cos(angle * done))
        s = np.float32(math.sin(angle * done))
        more = min(done, count - done)
        old_re, old_im, new_re, new_im = (
            re[:more],
            im[:more],
            re[done : done + more],
            im[done : done + more],
        )
        for i in range(more):
            a, b = old_re[i], old_im[i]
            new_re[i] = a * c - b * s
            new_im[i] = a * s + b * c
        done += more


@cold
def add_turned(out_re, out_im, in_re, in_im, w_re, w_im, c, s):
    """Add the numbers times the carrier times (c + j s)."""
    for i in range(len(out_re)):
        a = w_re[i] * c - w_im[i] * s
        b = w_re[i] * s + w_im[i] * c
        out_re[i] += in_re[i] * a - in_im[i] * b
        out_im[i] += in_re[i] * b + in_im[i] * a


@cold
def add_conjugate(out_re, out_im, in_re, in_im, c, s):
    """Add the numbers times (c - j s)."""
    for i in range(len(out_re)):
        out_re[i] += in_re[i] * c + in_im[i] * s
        out_im[i] += in_im[i] * c - in_re[i] * s


@cold
def add_scaled(out, numbers, factor):
    """Add the numbers times the factor."""
    for i in range(len(out)):
        out[i] += numbers[i] * factor


@cold
def add_filtered(out, source, taps):
    """Add the sum over k of taps[k] * source[n + k] to each out[n].

    The number of taps is a multiple of 8.
    """
    count = len(out)
    for k in range(0, len(taps), 8):
        h0, h1, h2, h3, h4, h5, h6, h7 = (
            taps[k],
            taps[k + 1],
            taps[k + 2],
            taps[k + 3],
            taps[k + 4],
            taps[k + 5],
            taps[k + 6],
            taps[k + 7],
        )
        s0, s1, s2, s3 = (
            source[k : k + count],
            source[k + 1 : k + 1 + count],
            source[k + 2 : k + 2 + count],
            source[k + 3 : k + 3 + count],
        )
        s4, s5, s6, s7 = (
            source[k + 4 : k + 4 + count],
            source[k + 5 : k + 5 + count],
            source[k + 6 : k + 6 + count],
            source[k + 7 : k + 7 + count],
        )
        for n in range(count):
            out[n] += (
                h0 * s0[n]
                + h1 * s1[n]
                + h2 * s2[n]
                + h3 * s3[n]
                + h4 * s4[n]
                + h5 * s5[n]
                + h6 * s6[n]
                + h7 * s7[n]
            )


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
