"""Recordings in SigMF, the format that tools for radio signals share.

One file has the samples, another describes them in JSON.

Each round is a *capture*, a piece of the recording with its time: `core:global_index`
counts samples from the first round on, at two seconds a round, including the idle time
that is left out. Each packet and each jamming burst is
an *annotation* with its edges in frequency and, as fields of our own, round, channel
and SINR.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import BadFile, missing_extra
from ...files import whole_file, write_whole
from ...validation import choice
from ...version import __version__
from ..bandit import RadioBandit
from ..signal.medium import (
    CENTRES_HZ,
    MIDDLE_HZ,
    WIDE_RATE,
    WIDE_SPS,
    WIDTH_HZ,
)
from .wideband_rounds import ROUND_SECONDS, WidebandRound

FORMATS = ("ci16_le", "cf32_le")
EXTENSION = {"name": "ironarm", "version": "1.0.0", "optional": True}
HEADROOM = 8.0
"""Full scale of 16-bit samples, over the root mean square of the loudest round.

Gaussian noise exceeds it less than once in 1e14 samples.
"""


def record(
    heard: Iterable[WidebandRound],
    bandit: RadioBandit,
    out: str | Path,
    *,
    form: str = "ci16_le",
    description: str = "",
    same_power: bool = False,
) -> tuple[Path, int]:
    """Write rounds as a SigMF recording, whole or not at all.

    Returns the path of the metadata and the number of annotations.

    Parameters
    ----------
    heard : what is heard, round by round; it is written as it comes, so it need not
        fit in memory.
    bandit : the channels it was heard on.
    out : the recording's name without an ending, for example recordings/first:
        `.sigmf-data` and `.sigmf-meta` are added. What is there is replaced.
    form : the samples' type: "ci16_le", two 16-bit numbers, or "cf32_le", two 32-bit
        floats.
    description : put into the metadata.
    same_power : whether the jammer had the same power in all channels.
    """
    choice("form", form, FORMATS)
    sigmf = _sigmf()
    out = Path(out)
    data, meta = (out.with_name(f"{out.name}.{ending}") for ending in ("sigmf-data", "sigmf-meta"))
    scale = full_scale(bandit)
    jammed_laws = bandit.same_power_laws if same_power else bandit.jammed_laws
    captures, annotations, position, digest = [], [], 0, hashlib.sha512()
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadFile(
            f"the folder {out.parent} cannot be created: {error.strerror}. Choose another one."
        ) from None
    with whole_file(data) as file:
        for one in heard:
            written = encode(one.samples, form, scale)
            file.write(written)
            digest.update(written)
            when = round((one.round - 1) * ROUND_SECONDS * WIDE_RATE)
            captures.append(
                {
                    "core:sample_start": position,
                    "core:global_index": when,
                    "core:frequency": MIDDLE_HZ,
                    "ironarm:round": one.round,
                }
            )
            annotations += [
                {**annotation, "core:sample_start": annotation["core:sample_start"] + position}
                for annotation in annotations_of(one)
            ]
            position += len(one.samples)
        everything = {
            "global": {
                "core:version": sigmf.__specification__,
                "core:datatype": form,
                "core:sample_rate": WIDE_RATE,
                "core:num_channels": 1,
                "core:sha512": digest.hexdigest(),
                "core:description": description or "packets of the ironarm testbed, simulated",
                "core:recorder": f"ironarm {__version__}",
                "core:extensions": [EXTENSION],
                "ironarm:full_scale": scale if form == "ci16_le" else 1.0,
                "ironarm:clean_db": bandit.means.tolist(),
                "ironarm:jammed_db": [bandit.mean_of(int(law)) for law in jammed_laws],
            },
            "captures": captures,
            "annotations": sorted(
                annotations, key=lambda annotation: annotation["core:sample_start"]
            ),
        }
        sigmf.SigMFFile(metadata=json.loads(json.dumps(everything))).validate()
        meta.unlink(missing_ok=True)  # old metadata must never describe new samples
    write_whole(meta, (json.dumps(everything, indent=2) + "\n").encode())
    return meta, len(annotations)


def annotations_of(one: WidebandRound) -> list[dict[str, Any]]:
    """Return the annotations of one round, counted from the beginning of its one."""
    centre = CENTRES_HZ[one.channel]
    where = {
        "core:freq_lower_edge": centre - WIDTH_HZ / 2,
        "core:freq_upper_edge": centre + WIDTH_HZ / 2,
        "ironarm:round": one.round,
        "ironarm:channel": one.channel,
    }
    outcome = f"{one.report.sinr_db:.1f} dB" if one.report.detected else "missed"
    packet = {
        "core:label": "packet",
        "core:comment": f"round {one.round}, channel {one.channel}: {outcome}",
        "ironarm:sinr_db": round(one.report.sinr_db, 3),
    }
    found = [
        {
            "core:sample_start": one.packet[0],
            "core:sample_count": one.packet[1],
            **packet,
            **where,
        }
    ]
    if one.jam:
        jam = {
            "core:label": "jamming",
            "core:comment": f"round {one.round}, channel {one.channel}",
        }
        found.append(
            {"core:sample_start": one.jam[0], "core:sample_count": one.jam[1], **jam, **where}
        )
    return found


def full_scale(bandit: RadioBandit) -> float:
    """Return the amplitude of the largest 16-bit number, for the whole recording."""
    # at four standard deviations of its wander
    packet = 10 ** (0.4 * float(bandit.wander_db.max())) / WIDE_SPS
    noise = float((bandit.n0 + bandit.jam).max()) * WIDTH_HZ / WIDE_RATE
    return HEADROOM * math.sqrt(packet + noise)


def encode(samples: np.ndarray, form: str, scale: float) -> bytes:
    """Return samples as bytes of that type."""
    pairs = np.stack([samples.real, samples.imag], axis=-1)
    if form == "cf32_le":
        return pairs.astype("<f4").tobytes()
    return np.clip(np.round(pairs * (32767 / scale)), -32768, 32767).astype("<i2").tobytes()


def _sigmf() -> Any:
    try:
        import sigmf
    except ImportError:
        raise missing_extra("a SigMF recording", "radio") from None
    return sigmf
