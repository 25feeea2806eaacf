"""Many packets at once through the compiled chain of `kernels.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from ...engine.announce import announced_by
from ...engine.interrupts import interrupts_wait
from ...engine.machine import compiled, held
from ...errors import InvalidInput
from . import kernels
from .kernel_parts import BANK_ROWS, EACH, PAD, Tables, Workspace
from .medium import window_symbols
from .receiver import Receiver, design, segment_template
from .waveform import HALF_SPAN, rrc


@dataclass(frozen=True)
class CompiledChain:
    """Sends packets through one channel and measures them, in compiled code.

    It does what `Medium.narrowband` and `Receiver.receive` do for a packet's key, in a
    fraction of the time; a test compares the two.

    A packet depends on its key, noise, jamming and wander alone, so batches of any size
    give the same numbers, bit for bit. Threads may share it.

    Parameters
    ----------
    receiver : the receiver, with its packet format, samples a symbol and floor.

    Examples
    --------
    >>> from ironarm.radio.signal.randomness import key
    >>> keys = np.array([key(1, 0, i) for i in range(100)])
    >>> chain = CompiledChain()
    >>> clean, jammed = (
    ...     chain.sinr(keys, n0=10**-4.1),
    ...     chain.sinr(keys, n0=10**-4.1, jam=0.1),
    ... )
    >>> round(float(clean.mean()), 1), round(float(jammed.mean()), 1)
    (41.0, 10.0)
    """

    receiver: Receiver = field(default_factory=Receiver)

    def sinr(
        self,
        keys: np.ndarray,
        n0: Any,
        jam: Any = 0.0,
        wander_db: Any = 0.0,
        rounds: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return each packet's SINR in dB, the floor for packets that were missed.

        Parameters
        ----------
        keys : the packets' keys, 64-bit words; `randomness.key(seed, trial, round)`
            gives those of `Medium`.
        n0 : noise for each complex sample; one number, or one for each packet.
        jam : power of a jammer's noise; one number, or one for each packet.
        wander_db : standard deviation of the packet's level; the same.
        rounds : the numbers in the headers; None for 0.
        """
        keys = np.ascontiguousarray(keys, np.uint64)
        count = len(keys)
        numbers = [np.full(count, value, dtype=float) for value in (n0, jam, wander_db)]
        headers = (
            np.zeros(count, np.int64)
            if rounds is None
            else np.ascontiguousarray(np.asarray(rounds, np.int64) % 2**32)
        )
        out = np.empty(count)
        with self._memory() as memory:
            compiled(kernels.measure)(*memory, keys, headers, *numbers, out)
        return out

    def prepare(self, say: Callable[[str], None]) -> None:
        """Compile `sinr` before it is needed; `say` gets a text if it takes long."""
        with interrupts_wait(), announced_by(say):
            self.sinr(np.zeros(1, np.uint64), n0=1.0)

    def receive(self, windows: np.ndarray) -> np.ndarray:
        """Return the SINR of the packet in each window.

        A window is a row of samples, as `Medium.narrowband` returns them.
        """
        windows = np.atleast_2d(windows)
        if windows.shape[1] != self.tables.width * self.tables.sps:
            raise InvalidInput(
                f"each window must have {self.tables.width * self.tables.sps} samples, got "
                f"{windows.shape[1]}; for other lengths use Receiver.receive."
            )
        re, im = (
            np.ascontiguousarray(part, np.float32).ravel() for part in (windows.real, windows.imag)
        )
        out = np.empty(len(windows))
        with self._memory() as memory:
            compiled(kernels.measure_windows)(*memory, re, im, out)
        return out

    @cached_property
    def tables(self) -> Tables:
        """The tables that all packets share."""
        format, sps = self.receiver.format, self.receiver.sps
        fit = design(format)
        return Tables(
            sps=sps,
            width=window_symbols(format),
            length=format.length,
            repeats=format.header_repeats,
            places=window_symbols(format) - (format.length - 1) - 2 * HALF_SPAN,
            known=float(format.known_count),
            middle=float(-fit.places[0]),
            detect_db=float(self.receiver.detect_db),
            floor_db=float(self.receiver.floor_db),
            reference=_parts(fit.reference),
            slope=_parts(fit.slope),
            inverse=np.append(fit.inverse.ravel(), np.vdot(fit.slope, fit.reference).real),
            template=_parts(segment_template(sps)),
            bank=pulse_bank(sps),
        )

    @cached_property
    def _sent(self) -> np.ndarray:
        """A packet's symbols between zeros, without a header; real parts first."""
        return _parts(
            np.concatenate(
                [
                    np.zeros(2 * HALF_SPAN),
                    self.receiver.format.reference,
                    np.zeros(2 * HALF_SPAN + EACH),
                ]
            )
        )

    @contextmanager
    def _memory(self) -> Iterator[tuple[Any, Any]]:
        """Lend the tables, and a workspace for one call."""
        tables, free = self._held
        try:
            workspace = free.pop()
        except IndexError:  # other threads have all that there are
            workspace = held(self.workspace())
        yield tables, workspace
        free.append(workspace)

    @cached_property
    def _held(self) -> tuple[Any, list[Any]]:
        return held(self.tables), []

    def workspace(self) -> Workspace:
        """Return memory for calls, one at a time."""
        tables = self.tables
        window, single, sent = (
            tables.sps * (tables.width + PAD),
            tables.width + EACH + PAD,
            len(self._sent) // 2,
        )
        sizes = [window, window, sent, sent, *[single] * 6, tables.sps * EACH, EACH, single]
        floats = np.zeros(sum(sizes), np.float32)
        floats[2 * window : 2 * (window + sent)] = self._sent
        ends = list(accumulate(sizes))
        return Workspace._make(
            [
                *(floats[end - size : end] for size, end in zip(sizes, ends, strict=True)),
                np.empty(single, np.int64),
                np.zeros(5),
            ]
        )


def pulse_bank(sps: int) -> np.ndarray:
    """Return the pulse at delays -1/R, 0, 1/R, ... 1 + 1/R samples (R = BANK_ROWS).

    Each row has EACH taps for each phase of the samples.
    """
    delays = (np.arange(BANK_ROWS + 3) - 1) / BANK_ROWS
    bank = np.zeros((len(delays), sps, EACH), np.float32)
    for phase in range(sps):
        taps = np.arange(2 * HALF_SPAN + 1 if phase == 0 else 2 * HALF_SPAN) * sps + phase
        bank[:, phase, : len(taps)] = rrc(
            (taps - HALF_SPAN * sps - delays[:, None]) / sps
        ) / np.sqrt(sps)
    return bank.ravel()


def _parts(values: np.ndarray) -> np.ndarray:
    return np.concatenate([values.real, values.imag]).astype(np.float32)
