"""Find the packet of a round in the samples of a radio that runs all the time.

A real radio has no rounds: a packet comes some time after it was asked for. So windows
of two packets' length, which overlap, are searched until one holds the packet.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from ..signal.receiver import PacketReport, Receiver
from ..signal.waveform import HALF_SPAN

ROOM = 8
"""Symbols on each side of a packet that was found."""


class Stream(Protocol):
    """A radio whose samples are numbered."""

    def receive(self, count: int, at: int | None = None) -> np.ndarray:
        """Return `count` samples, from number `at` on."""


def listen(
    radio: Stream, receiver: Receiver, round_number: int, at: int, samples: int
) -> PacketReport:
    """Return the report on the packet of a round, or on one whose number is unreadable.

    If neither comes, the report says that the packet was missed.

    A packet with another round's number, for example one that was sent twice, is passed
    over.

    Parameters
    ----------
    radio : for example a `SoapyRadio`.
    receiver : with the radio's samples a symbol.
    round_number : the packet's.
    at : the number of the first sample to look at, taken before the packet was asked
        for.
    samples : how many samples to look through.
    """
    for report in _packets(radio, receiver, at, samples, 1):
        if not report.crc_ok or report.round == round_number % 2**32:
            return report
    return receiver.receive(np.empty(0))


def listen_to_train(
    radio: Stream, receiver: Receiver, numbers: range, at: int, samples: int
) -> list[float]:
    """Return the SINRs of packets that follow each other, numbered in order.

    A packet that is not found, or whose number cannot be read, has the receiver's
    floor.
    """
    found = dict.fromkeys(numbers, receiver.floor_db)
    # of two windows, one lies far enough from the packet before to miss its preamble
    for report in _packets(radio, receiver, at, samples, 2):
        if report.crc_ok and report.round in found:
            found[report.round] = max(found[report.round], report.sinr_db)
            if report.round == numbers[-1]:
                break
    return list(found.values())


def _packets(
    radio: Stream, receiver: Receiver, at: int, samples: int, times: int
) -> Iterator[PacketReport]:
    """Yield the packets in a radio's samples; a packet may come more than once.

    Windows overlap so that each packet lies in `times` of them.
    """
    packet = (receiver.format.length + 2 * HALF_SPAN) * receiver.sps
    for begin in range(at, at + samples, packet // times):
        report = receiver.receive(radio.receive(2 * packet, at=begin))
        if report.detected:
            # again with the packet in the middle: a window that cuts the packet's end
            # reads too little
            middle = begin + round((report.timing - HALF_SPAN - ROOM) * receiver.sps)
            again = receiver.receive(
                radio.receive(packet + 2 * ROOM * receiver.sps, at=max(middle, 0))
            )
            yield max(report, again, key=lambda one: one.sinr_db)
