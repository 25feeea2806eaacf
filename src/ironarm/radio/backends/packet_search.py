"""Find the packet of a round in the samples of a radio that runs all the time.

A real radio has no rounds: a packet comes some time after it was asked for. So windows
of two packets' length, which overlap, are searched until one holds the packet.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Protocol

import numpy as np

from ..signal.receiver import PacketReport, Receiver
from ..signal.waveform import HALF_SPAN

ROOM = 8
"""Symbols on each side of a packet that was found."""


class SampleStream(Protocol):
    """A radio whose samples are numbered."""

    def receive(self, count: int, at: int | None = None) -> np.ndarray:
        """Return `count` samples, from number `at` on."""


def listen(
    radio: SampleStream,
    receiver: Receiver,
    round_number: int,
    at: int,
    samples: int,
    meanwhile: Callable[[], None] = lambda: None,
) -> PacketReport:
    """Return the report on the packet of a round, or on one whose number is unreadable.

    If neither comes, the report says that the packet was missed. Its `timing` is
    counted from sample `at`.

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
    meanwhile : called again and again, for heartbeats.
    """
    for report in _packets(radio, receiver, at, samples, 1, meanwhile):
        if not report.crc_ok or report.round == round_number % 2**32:
            return report
    return receiver.receive(np.empty(0))


def listen_to_train(
    radio: SampleStream, receiver: Receiver, numbers: range, at: int, samples: int
) -> dict[int, PacketReport]:
    """Return the reports on packets that follow each other, by their numbers.

    A packet that is not found, or whose number cannot be read, is left out. A report's
    `timing` is counted from sample `at`.
    """
    train: dict[int, PacketReport] = {}
    # of two windows, one lies far enough from the packet before to miss its preamble
    for report in _packets(radio, receiver, at, samples, 2):
        number = report.round
        if number is not None and number in numbers:
            train[number] = max(train.get(number, report), report, key=_sinr)
            if number == numbers[-1]:
                break
    return train


def ends(report: PacketReport, receiver: Receiver) -> int:
    """Return after how many samples a packet that was found is over."""
    return math.ceil((report.timing + receiver.format.length + HALF_SPAN) * receiver.sps)


def _packets(
    radio: SampleStream,
    receiver: Receiver,
    at: int,
    samples: int,
    times: int,
    meanwhile: Callable[[], None] = lambda: None,
) -> Iterator[PacketReport]:
    """Yield the packets in a radio's samples; a packet may come more than once.

    Windows overlap so that each packet lies in `times` of them.
    """
    packet = (receiver.format.length + 2 * HALF_SPAN) * receiver.sps
    for begin in range(at, at + samples, packet // times):
        meanwhile()
        report = receiver.receive(radio.receive(2 * packet, at=begin))
        if report.detected:
            # again with the packet in the middle: a window that cuts the packet's end
            # reads too little
            middle = max(begin + round((report.timing - HALF_SPAN - ROOM) * receiver.sps), 0)
            again = receiver.receive(radio.receive(packet + 2 * ROOM * receiver.sps, at=middle))
            yield max(
                _counted_from(at, report, begin, receiver.sps),
                _counted_from(at, again, middle, receiver.sps),
                key=_sinr,
            )


def _counted_from(at: int, report: PacketReport, begin: int, sps: int) -> PacketReport:
    """Return a report on samples from number `begin` on, timed from number `at`."""
    return replace(report, timing=report.timing + (begin - at) / sps)


def _sinr(report: PacketReport) -> float:
    return report.sinr_db
