"""Small pictures that the server draws: only numbers, in SVG's own units."""

from __future__ import annotations

import math
from typing import NamedTuple

from ...theory.from_log.tolerance import Tolerance as Limit
from ..insight import CorruptShare, Insight

WIDTH = 100.0


class Whisker(NamedTuple):
    """An interval as a line with a dot, on a scale from 0 to `WIDTH`."""

    low: float
    high: float
    dot: float


class Scale(NamedTuple):
    """What 0 and `WIDTH` stand for."""

    low: float
    high: float

    def place(self, x: float) -> float:
        """Return where a value is; what is outside is at an end."""
        span = self.high - self.low
        part = (x - self.low) / span if span > 0 and math.isfinite(span) else 0.5
        return round(WIDTH * min(1.0, max(0.0, part)), 2)


def scale_of(insight: Insight) -> Scale:
    """Return a scale on which all medians and most intervals lie.

    An arm with few rewards may reach to an outlier; its line then ends at the edge.
    """
    known = [arm.interval for arm in insight.arms if math.isfinite(arm.interval.value)]
    if not known:
        return Scale(0.0, 1.0)
    values = [i.value for i in known]
    low, high = min(values), max(values)
    widths = sorted(i.high - i.low for i in known if math.isfinite(i.high - i.low))
    usual = widths[len(widths) // 2] if widths else 0.0
    room = max(usual, 0.1 * (high - low)) or max(1.0, abs(low)) * 0.1
    return Scale(low - room, high + room)


def whiskers(insight: Insight) -> list[Whisker | None]:
    """Return the intervals of all arms on one scale; None without rewards."""
    scale = scale_of(insight)
    return [
        Whisker(*(scale.place(x) for x in (i.low, i.high, i.value)))
        if math.isfinite(i.value)
        else None
        for i in (arm.interval for arm in insight.arms)
    ]


class Gauge(NamedTuple):
    """The corrupt share beside what the arms can take, from 0 to one half."""

    seen: float
    low: float | None
    high: float


def gauge(corruption: CorruptShare, limit: Limit | None) -> Gauge | None:
    """Return the picture of how much corruption there is and can be."""
    if corruption.share is None:
        return None
    scale = Scale(0.0, 0.5)
    seen = scale.place(corruption.share)
    if limit is None:
        return Gauge(seen, None, 0.0)
    return Gauge(seen, scale.place(limit.low), scale.place(limit.high))
