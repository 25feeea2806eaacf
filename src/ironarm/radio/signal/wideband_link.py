"""Many packets at once in the 5 MS/s view of all five channels: compiled noise and
reception, and SciPy's FFT between them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy import fft

from ...engine.machine import compiled
from . import kernels
from .link import Link
from .medium import Medium, channel_bin, in_channel
from .randomness import JAM, NOISE, fold
from .receiver import Receiver

CHUNK = 16
"""Packets whose recordings are in memory together; any number gives the same
results.
"""


@dataclass(frozen=True)
class WideLink:
    """Packets through a wideband medium: the same as `Medium.wideband`, `channelise`
    and `Receiver.receive` for the packet's key, faster.

    Parameters
    ----------
    medium : noise, floor, gains and wander; its seed is not used, because packets come
        with their keys.
    receiver : with 3 samples a symbol.

    Examples
    --------
    >>> from ironarm.radio.signal.randomness import key
    >>> link = WideLink(
    ...     Medium(noise=[10 ** (-sinr / 10) for sinr in (41, 37, 35, 31, 28)])
    ... )
    >>> keys = np.array([key(1, 0, i) for i in range(20)])
    >>> (
    ...     round(float(link.sinr(keys, channel=3).mean())),
    ...     link.recordings(keys[:2], channel=3).shape,
    ... )
    (31, (2, 5400))
    """

    medium: Medium
    receiver: Receiver = field(default_factory=lambda: Receiver(sps=3))

    def sinr(
        self, keys: np.ndarray, channel: int, jam: float = 0.0, rounds: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the SINR in dB of each packet sent in a channel; `jam` is the power
        of a jammer's noise there.
        """
        headers = np.zeros(len(keys), np.int64) if rounds is None else rounds
        parts = [slice(i, i + CHUNK) for i in range(0, len(keys), CHUNK)]
        return np.concatenate(
            [
                self.receive(self.recordings(keys[part], channel, jam, headers[part]), channel)
                for part in parts
            ]
        )

    def recordings(
        self, keys: np.ndarray, channel: int, jam: float = 0.0, rounds: np.ndarray | None = None
    ) -> np.ndarray:
        """Return what the receiver hears of all channels at 5 MS/s, a row for each
        packet.
        """
        keys = np.ascontiguousarray(keys, np.uint64)
        headers = (
            np.zeros(len(keys), np.int64)
            if rounds is None
            else np.ascontiguousarray(np.asarray(rounds, np.int64) % 2**32)
        )
        chain, space = self._link.chain, self._link.space()
        count, narrow = 12 * chain.width, 3 * chain.width
        noise = np.empty((2, len(keys) * count), np.float32)
        compiled(kernels.draw_noise)(
            fold(keys, NOISE),
            noise[0],
            noise[1],
            np.empty(count, np.int64),
            np.empty(count, np.float32),
        )
        spectrum = (noise[0] + 1j * noise[1]).reshape(len(keys), count) * self._bin_scale
        sent = np.empty((2, len(keys) * narrow), np.float32)
        gain = self.medium.gain("transmitter", channel)
        compiled(kernels.send)(
            chain, space, keys, headers, float(self.medium.wander_db), sent[0], sent[1]
        )
        signal = fft.fft((sent[0] + 1j * sent[1]).reshape(len(keys), narrow)) * np.float32(2 * gain)
        if jam > 0:
            noise = np.empty((2, len(keys) * narrow), np.float32)
            compiled(kernels.draw_noise)(
                fold(fold(keys, 1001), JAM),
                noise[0],
                noise[1],
                np.empty(count, np.int64),
                np.empty(count, np.float32),
            )
            amplitude = 2 * math.sqrt(0.5 * jam) * self.medium.gain("jammer", channel)
            signal += fft.fft((noise[0] + 1j * noise[1]).reshape(len(keys), narrow)) * (
                in_channel(chain.width, 3) * np.float32(amplitude)
            )
        spectrum[:, self._bins(channel)] += signal
        return np.asarray(fft.ifft(spectrum, overwrite_x=True))

    def receive(self, recordings: np.ndarray, channel: int) -> np.ndarray:
        """Return the SINR of the packet in a channel of each recording."""
        spectrum = fft.fft(np.asarray(recordings, np.complex64))[:, self._bins(channel)]
        return self._link.receive(fft.ifft(spectrum, overwrite_x=True))

    @cached_property
    def _link(self) -> Link:
        return Link(self.receiver)

    @cached_property
    def _bin_scale(self) -> np.ndarray:
        """What a standard normal pair is multiplied with in each bin."""
        variance = self.medium.noise_in_bins(self._link.chain.width)
        return np.sqrt(0.5 * variance * len(variance)).astype(np.float32)

    def _bins(self, channel: int) -> np.ndarray:
        """Return the wideband bins of a channel's narrowband bins."""
        width = self._link.chain.width
        half = (3 * width + 1) // 2
        bins = np.concatenate([np.arange(half), np.arange(half - 3 * width, 0)])
        return (bins + channel_bin(channel, width)) % (12 * width)
