"""The spectrogram of a recording in SigMF, ours or another."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import BadFile, InvalidInput
from ...show.curves import Look
from ...show.figures import pyplot
from ...show.looks import RED

BINS = 160
"""Frequencies of the spectrogram."""

MOST_COLUMNS = 3000
"""More could not be seen; longer recordings average more spectra into a column."""

LEAST_AVERAGED = 3
TYPES = {"ci16_le": ("<i2", 32768.0), "cf32_le": ("<f4", 1.0)}


@dataclass(frozen=True, eq=False)
class Recording:
    """A recording: samples on disk, and what its metadata says.

    Attributes
    ----------
    pairs : array (sample, 2) of real and imaginary parts, as stored.
    full : the stored number that stands for one.
    rate : samples in a second.
    middle : the frequency in the middle, Hz.
    starts : the first sample of each capture.
    annotations : as in the file.
    """

    pairs: np.ndarray
    full: float
    rate: float
    middle: float
    starts: list[int]
    annotations: list[dict[str, Any]]

    @classmethod
    def load(cls, meta: str | Path) -> Recording:
        """Open a recording by its .sigmf-meta; the samples stay on disk."""
        meta = Path(meta)
        try:
            described = json.loads(meta.read_text(encoding="utf-8"))
            about, captures = described["global"], described["captures"]
            form, rate = about["core:datatype"], float(about["core:sample_rate"])
            scale = float(about.get("ironarm:full_scale", 1.0))
            starts = sorted({int(capture["core:sample_start"]) for capture in captures}) or [0]
            middle = float(captures[0].get("core:frequency", 0.0)) if captures else 0.0
            annotations = [dict(one) for one in described.get("annotations", [])]
        except OSError as error:
            raise BadFile(f"{meta} cannot be read: {error.strerror}.") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise BadFile(f"{meta} is not the metadata of a recording in SigMF.") from None
        if form not in TYPES or about.get("core:num_channels", 1) != 1:
            raise BadFile(
                f"{meta} has samples of the type {form} in {about.get('core:num_channels', 1)} "
                f"channels; expected {' or '.join(TYPES)} in one."
            )
        kind, full = TYPES[form]
        data = meta.with_suffix(".sigmf-data")
        try:
            stored = np.memmap(data, dtype=kind, mode="r")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is empty or damaged"
            raise BadFile(f"the samples in {data} cannot be read: {reason}.") from None
        pairs = stored[: len(stored) // 2 * 2].reshape(-1, 2)
        if not (np.isfinite(rate) and rate > 0 and starts[0] >= 0 and starts[-1] < len(pairs)):
            raise BadFile(f"{meta} is damaged: it does not fit to the samples beside it.")
        return cls(pairs, full / scale, rate, middle, starts, annotations)

    def samples(self, first: int, end: int) -> np.ndarray:
        """Return complex samples."""
        pairs = self.pairs[first:end].astype(np.float64) / self.full
        return np.asarray(pairs[:, 0] + 1j * pairs[:, 1])

    def power_db(self) -> tuple[np.ndarray, np.ndarray, list[int]]:
        """Return the power in dB, the frequencies' edges, and where captures begin.

        The power is an array (frequency, time), the edges are in Hz, the beginnings
        are columns of the power, with the number of columns at the end.
        """
        window = np.hanning(BINS)
        window /= np.sqrt((window**2).sum())
        ends = [*self.starts[1:], len(self.pairs)]
        averaged = max(LEAST_AVERAGED, -(-len(self.pairs) // (BINS * MOST_COLUMNS)))
        columns, places = [], [0]
        for first, end in zip(self.starts, ends, strict=True):
            each = min(averaged, (end - first) // BINS)
            if each == 0:
                places.append(places[-1])
                continue
            count = (end - first) // (BINS * each)
            for k in range(count):
                start = first + k * BINS * each
                frames = self.samples(start, start + BINS * each).reshape(each, BINS)
                power = (np.abs(np.fft.fft(frames * window, axis=-1)) ** 2).mean(axis=0)
                columns.append(np.fft.fftshift(power))
            places.append(places[-1] + count)
        if not columns:
            raise InvalidInput(
                f"the recording has {len(self.pairs)} samples, too few for a spectrogram; expected "
                f"at least {BINS} in a row."
            )
        power = np.maximum(np.array(columns).T, 1e-30)
        edges = self.middle + (np.arange(BINS + 1) - (BINS + 1) / 2) * self.rate / BINS
        return 10 * np.log10(power), edges, places


def plot_recording(meta: str | Path, look: Look) -> Any:
    """Draw the power of a recording over time and frequency, and return the figure.

    Captures stand side by side without the idle time between them. A triangle marks
    those in which an annotation says "jamming".

    Parameters
    ----------
    meta : the file with the metadata, .sigmf-meta; the samples are beside it.
    look : how it looks; only `ax`, `column` and `path` matter.
    """
    recording = Recording.load(meta)
    power, edges, places = recording.power_db()
    axes = look.ax
    if axes is None:
        _, axes = pyplot().subplots(
            figsize=(look.width(9), 2.4 if look.column else 4.8), layout="constrained"
        )
    several = len(recording.starts) > 1
    seconds = len(recording.pairs) / recording.rate
    width = places[-1] if several else 1e3 * seconds
    low, high = np.quantile(power, 0.02), power.max()
    image = axes.imshow(
        power,
        aspect="auto",
        origin="lower",
        extent=(0, width, edges[0] / 1e6, edges[-1] / 1e6),
        cmap="viridis",
        vmin=low,
        vmax=high,
        interpolation="none",
    )
    if several:
        _name_captures(axes, places, look)
        _mark_jamming(axes, recording, places, look)
    axes.set_xlabel("round (idle time left out)" if several else "time, ms", fontsize=look.size)
    axes.set_ylabel("frequency, MHz", fontsize=look.size)
    axes.tick_params(labelsize=look.size)
    axes.grid(False)
    bar = axes.get_figure().colorbar(image, ax=axes, pad=0.02)
    bar.set_label("power density, dB", size=look.size)
    bar.ax.tick_params(labelsize=look.size)
    return look.finish(axes.get_figure())


def _name_captures(axes: Any, places: list[int], look: Look) -> None:
    middles = [(a + b) / 2 for a, b in pairwise(places)]
    step = -(-len(middles) // (10 if look.column else 20))
    first = range(0, len(middles), step) if step == 1 else range(step - 1, len(middles), step)
    axes.set_xticks([middles[i] for i in first], [str(i + 1) for i in first])
    if len(middles) <= 50:
        for place in places[1:-1]:
            axes.axvline(place, color="white", linewidth=0.4, alpha=0.6)


def _mark_jamming(axes: Any, recording: Recording, places: list[int], look: Look) -> None:
    jammed = {
        int(np.searchsorted(recording.starts, one.get("core:sample_start", 0), side="right")) - 1
        for one in recording.annotations
        if one.get("core:label") == "jamming"
    }
    for i in jammed:
        axes.plot(
            (places[i] + places[i + 1]) / 2,
            1.04 if look.column else 1.02,
            "v",
            color=RED,
            markersize=0.6 * look.size,
            clip_on=False,
            transform=axes.get_xaxis_transform(),
        )
    if jammed:
        axes.set_title("▼ jammed", loc="right", color=RED, fontsize=look.size, pad=14)
