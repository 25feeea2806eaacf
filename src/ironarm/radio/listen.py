"""Wait for the packet of a round in the samples of a radio that runs on by itself.

On the simulated medium a window is a round's. A real radio has no rounds: the packet comes some time after it was asked for, soon or late. So windows that overlap are looked
through, each two packets long, until one holds the packet.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .receiver import PacketReport, Receiver
from .waveform import HALF_SPAN


class Stream(Protocol):
    """A radio whose samples are numbered."""

    def receive(self, count: int, at: int | None = None) -> np.ndarray:
        """Return so many samples, from number `at` on."""


def listen(radio: Stream, receiver: Receiver, round_number: int, at: int, samples: int) -> PacketReport:
    """Return the report on the packet of a round, or on a packet whose number cannot be read; a missed packet if neither comes.

    A packet with another round's number, for example one that was sent twice, is passed over.

    Parameters
    ----------
    radio : for example a `SoapyRadio`.
    receiver : with the radio's samples a symbol.
    round_number : the packet's.
    at : the number of the first sample to look at, taken before the packet was asked for.
    samples : how many samples to look through.
    """
    packet = (receiver.format.length + 2 * HALF_SPAN) * receiver.sps
    unread: PacketReport | None = None
    for begin in range(at, at + samples, packet):
        report = receiver.receive(radio.receive(2 * packet, at=begin))
        if report.detected and report.crc_ok and report.round == round_number % 2**32:
            return report
        if unread is not None:  # the window before held a packet that cannot be read, and this one, which overlaps, nothing better
            return max((one for one in (unread, report) if one.detected and not one.crc_ok), key=lambda one: one.sinr_db)
        if report.detected and not report.crc_ok:
            unread = report
    return unread or receiver.receive(np.empty(0))
