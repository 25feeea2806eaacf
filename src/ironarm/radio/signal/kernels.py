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

import numpy as np

from ...marks import cold, hot
from ...normal import inverse_normal
from .kernel_parts import (
    EACH,
    PAD,
    add_filtered,
    add_scaled,
    add_turned,
    carrier,
    draw_normals,
    take_taps,
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
from .receive_kernels import receive
from .waveform import (
    HALF_SPAN,
    HEADER_BITS,
    SEGMENT,
    SYMBOL_RATE,
)

SECOND = np.uint64(EMITTER + 1)
"""The jammer is the second emitter."""


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
