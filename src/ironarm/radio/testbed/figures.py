"""Figures of the testbed: the setup, the spectrogram, constellations.

They are drawn from its configuration and its signals, for studies and notebooks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...attacks import Attack, Jammer
from ...policies import EpsilonGreedy
from ...show.figures import pyplot
from ...show.looks import BLUE, GREEN, ORANGE, RED
from ..bandit import RadioBandit
from ..signal.medium import (
    CENTRES_HZ,
    MIDDLE_HZ,
    WIDE_RATE,
    WIDTH_HZ,
    Emission,
    Packet,
    window_symbols,
)
from ..signal.receiver import PacketReport, Receiver
from ..signal.waveform import STANDARD
from .wideband_rounds import WidebandRound, jamming, medium_of, wideband_rounds

BINS = 160
"""Frequencies of the spectrogram, 31 kHz each."""

AVERAGED = 3
"""Spectra averaged into one column (0.1 ms), so that noise looks like its level."""

INSET = 0.29
"""Side of the magnified part of a constellation, as a share of the panel's."""

GREY = "#7F7F7F"


def setup(bandit: RadioBandit, *attacks: Attack) -> Any:
    """Draw the nodes, what passes between them, and the channels.

    Channels have their frequencies and SINRs, clean and jammed by any of the attacks.
    Two jammed SINRs are those of each channel's own power, and of the same in all.
    """
    figure, axes = pyplot().subplots(figsize=(9, 5), layout="constrained")
    axes.set(xlim=(0, 18), ylim=(0, 10))
    axes.axis("off")
    rate = f"{(WIDTH_HZ / 1e3):g} kHz QPSK packet, {STANDARD.length} symbols"
    _box(axes, 0.2, 3.9, 3.9, 2.2, BLUE, "transmitter", rate.replace(", ", ",\n"))
    _box(
        axes,
        13.9,
        3.9,
        3.9,
        2.2,
        BLUE,
        "receiver",
        "policy chooses a channel,\nreward = measured SINR",
    )
    _box(axes, 4.3, 0.1, 3.9, 1.5, GREEN, "noise source", "a level for each channel")
    whom, rho = (
        " or ".join(dict.fromkeys(words))
        for words in (map(_whom, attacks), (f"{attack.rho:g}" for attack in attacks))
    )
    laws = np.array([attack.shows(bandit) for attack in attacks])
    both = np.isin([bandit.arms, 2 * bandit.arms], laws - np.arange(bandit.arms)).all()
    power = "; own or same power" if both else ""
    _box(axes, 8.9, 0.1, 5.7, 1.5, RED, "jammer", f"hits {whom},\nρ = {rho}{power}")
    axes.text(5.6, 7.85, "channel", fontsize=9, color=GREY)
    axes.text(12.4, 7.85, "SINR, clean → jammed", ha="right", fontsize=9, color=GREY)
    for channel, centre in enumerate(CENTRES_HZ[: bandit.arms]):
        y = 7.05 - channel * 1.0
        axes.add_patch(
            _patches().Rectangle(
                (5.4, y - 0.38),
                7.2,
                0.76,
                facecolor=GREEN,
                alpha=0.10 + 0.13 * channel,
                edgecolor="none",
            )
        )
        jammed = [bandit.mean_of(int(law)) for law in np.unique(laws[:, channel]) if law != channel]
        levels = (
            f"{bandit.means[channel]:.1f} → {' or '.join(f'{mean:.1f}' for mean in jammed)} dB"
            if jammed
            else f"{bandit.means[channel]:.1f} dB, never jammed"
        )
        axes.text(5.6, y, f"{channel}", va="center", fontsize=10, fontweight="bold")
        axes.text(6.2, y, f"{centre / 1e6:.1f} MHz", va="center", fontsize=10)
        axes.text(12.4, y, levels, va="center", ha="right", fontsize=10)
    _arrow(axes, (4.1, 5.05), (5.35, 5.05), BLUE)
    _arrow(axes, (12.65, 5.05), (13.85, 5.05), BLUE)
    _arrow(axes, (6.25, 1.65), (6.25, 2.55), GREEN)
    _arrow(axes, (11.75, 1.65), (11.75, 2.55), RED)
    axes.annotate(
        "",
        xy=(2.1, 6.2),
        xytext=(15.9, 6.2),
        arrowprops={
            "arrowstyle": "-|>",
            "color": ORANGE,
            "linestyle": "--",
            "linewidth": 1.8,
            "connectionstyle": "bar,fraction=0.25",
        },
    )
    axes.text(
        9, 9.2, "ACK channel: round and chosen channel", ha="center", va="center", fontsize=10
    )
    return figure


def spectrogram(bandit: RadioBandit, attack: Attack, rounds: int = 20, seed: int = 1) -> Any:
    """Draw the power over time and frequency in the first rounds of ε-greedy.

    It still tries all channels then. Time between packets is left out.
    """
    heard = list(wideband_rounds(bandit, attack, EpsilonGreedy(c=10), rounds=rounds, seed=seed))
    columns, edges = power_db(heard)
    figure, axes = pyplot().subplots(figsize=(9, 4.8), layout="constrained")
    low = 10 * np.log10(bandit.n0.min()) - 12
    extent = (0.5, rounds + 0.5, edges[0] / 1e6, edges[-1] / 1e6)
    image = axes.imshow(
        columns,
        aspect="auto",
        origin="lower",
        extent=extent,
        cmap="viridis",
        vmin=low,
        vmax=0,
        interpolation="none",
    )
    for edge in np.append(np.array(CENTRES_HZ) - WIDTH_HZ / 2, CENTRES_HZ[-1] + WIDTH_HZ / 2) / 1e6:
        axes.axhline(edge, color="white", linewidth=0.4, alpha=0.6)
    for one in heard:
        if one.jammed:
            axes.plot(
                one.round,
                1.02,
                "v",
                color=RED,
                markersize=6,
                clip_on=False,
                transform=axes.get_xaxis_transform(),
            )
    axes.set(
        xlabel="round (idle time left out)", ylabel="frequency, MHz", xticks=range(1, rounds + 1)
    )
    axes.set_title("▼ jammed", loc="right", color=RED, fontsize=10, pad=14)
    axes.set_yticks(np.array(CENTRES_HZ) / 1e6, [f"{centre / 1e6:.1f}" for centre in CENTRES_HZ])
    axes.set_ylim((MIDDLE_HZ - 1.6e6) / 1e6, (MIDDLE_HZ + 1.6e6) / 1e6)
    axes.grid(False)
    figure.colorbar(image, ax=axes, label="power density, dB (packet: 0)", pad=0.02)
    return figure


def power_db(heard: Iterable[WidebandRound]) -> tuple[np.ndarray, np.ndarray]:
    """Return the power in dB of rounds one after another, and the frequencies' edges.

    The power is an array (frequency, time), the edges are in Hz. White noise of N0
    reads 10 log10 N0.
    """
    window = np.hanning(BINS)
    window /= np.sqrt((window**2).sum())
    columns = []
    for one in heard:
        frames = one.samples[: len(one.samples) // (BINS * AVERAGED) * BINS * AVERAGED].reshape(
            -1, AVERAGED, BINS
        )
        power = (np.abs(np.fft.fft(frames * window, axis=-1)) ** 2).mean(axis=1)
        columns.append(np.fft.fftshift(power, axes=-1))
    edges = MIDDLE_HZ + (np.arange(BINS + 1) - (BINS + 1) / 2) * WIDE_RATE / BINS
    return 10 * np.log10(np.concatenate(columns).T), edges


def constellation(bandit: RadioBandit, seed: int = 1) -> Any:
    """Draw the received symbols of one packet in the best channel, clean and jammed."""
    figure, axes = pyplot().subplots(
        1, 2, figsize=(8, 4.3), sharex=True, sharey=True, layout="constrained"
    )
    for panel, jammed in zip(axes, (False, True), strict=True):
        report = received(bandit, bandit.best, jammed, seed)
        assert report.symbols is not None
        known = report.symbols[STANDARD.known]
        corners = np.array([1, 1, -1, -1]) * np.sqrt(0.5), np.array([1, -1, 1, -1]) * np.sqrt(0.5)
        close = [panel.inset_axes((0.355, 0.355, INSET, INSET))] if report.sinr_db > 25 else []
        for view in (panel, *close):
            view.plot(*corners, "+", color="#000000", markersize=11, markeredgewidth=1.2)
            view.plot(
                known.real,
                known.imag,
                "o",
                color=RED if jammed else BLUE,
                markersize=3,
                alpha=0.6,
                markeredgewidth=0,
            )
        for view in close:  # the points of a good packet are too small to be seen
            reach = 4 * report.evm
            view.set(
                xlim=(np.sqrt(0.5) - reach, np.sqrt(0.5) + reach),
                ylim=(np.sqrt(0.5) - reach, np.sqrt(0.5) + reach),
                xticks=[],
                yticks=[],
            )
            view.spines[:].set_visible(True)
            view.text(
                0.5,
                0.05,
                f"{1.8 / reach * INSET:.0f} times larger",
                ha="center",
                fontsize=8,
                transform=view.transAxes,
            )
        panel.set(
            title=f"{'jammed' if jammed else 'clean'}: SINR {report.sinr_db:.1f} dB",
            xlabel="in phase",
            xlim=(-1.8, 1.8),
            ylim=(-1.8, 1.8),
            aspect="equal",
        )
    axes[0].set_ylabel("quadrature")
    return figure


def received(bandit: RadioBandit, channel: int, jammed: bool, seed: int) -> PacketReport:
    """Return the receiver's report on one packet, with its symbols.

    With and without jamming it is the same packet.
    """
    medium = medium_of(bandit, seed)
    sent = [Emission(Packet(medium.format.symbols(1)), channel)]
    if jammed:
        power = float(bandit.jam[channel])
        sent.append(jamming(channel, power, window_symbols(medium.format), 0))
    return Receiver(medium.format).receive(
        medium.narrowband(channel, sent, round_number=1), keep_symbols=True
    )


def _whom(attack: Attack) -> str:
    """Return whom a jammer hits, in words."""
    if not isinstance(attack, Jammer):
        return type(attack).__name__
    if isinstance(attack.strategy, str):
        return {"any": "any packet", "best": "only the best channel"}[attack.strategy]
    return "channels " + ", ".join(str(channel) for channel in attack.strategy)


def _box(
    axes: Any, x: float, y: float, width: float, height: float, colour: str, name: str, words: str
) -> None:
    axes.add_patch(
        _patches().FancyBboxPatch(
            (x + 0.15, y + 0.15),
            width - 0.3,
            height - 0.3,
            boxstyle="round,pad=0.15",
            facecolor="none",
            edgecolor=colour,
            linewidth=1.8,
        )
    )
    axes.text(
        x + width / 2,
        y + height - 0.45,
        name,
        ha="center",
        va="center",
        fontsize=11,
        fontweight="bold",
    )
    axes.text(x + width / 2, y + (height - 0.6) / 2, words, ha="center", va="center", fontsize=9.2)


def _arrow(axes: Any, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    axes.annotate(
        "", xy=end, xytext=start, arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 2}
    )


def _patches() -> Any:
    from matplotlib import patches

    return patches
