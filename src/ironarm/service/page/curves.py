"""The numbers behind the curves: shares, estimates with bands, rewards as they came."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...agent.input import Name
from ...theory.from_log.evidence import mean_intervals, median_interval, range_of
from ..history import History, PastReward
from ..insight import Insight, far_from
from ..messages import encode
from .words import shown

COLOURS = 8
"""Arms that have a curve of their own."""
BINS = 60
ROLLING = 300
"""Rewards of an arm that a point of its curve is made from, at most."""
POINTS = 2_500
"""Rewards that are drawn, at most."""
POINTWISE = math.log(2 / 0.05)
"""Of the bands: each point holds at the level 0.95 on its own."""


def coloured(insight: Insight) -> dict[Name, int]:
    """Return which arm has which colour: those that matter most, in their order."""
    arms = insight.arms
    if len(arms) > COLOURS:
        best = insight.best
        ranked = sorted(arms, key=lambda arm: (arm.arm != best, -arm.decided, -arm.rewards))
        wanted = {arm.arm for arm in ranked[:COLOURS]}
        arms = tuple(arm for arm in arms if arm.arm in wanted)
    return {arm.arm: colour for colour, arm in enumerate(arms)}


def curves(insight: Insight, history: History) -> bytes:
    """Return all curves as JSON, in which nothing looks like HTML."""
    colours = coloured(insight)
    data = {
        "arms": [shown(arm) for arm in colours],
        "entries": insight.number,
        "shares": _shares(history, colours),
        "estimates": _estimates(insight, history, colours),
        "rewards": _rewards(insight, history, colours),
    }
    text = encode(data)
    for mark in (b"<", b">", b"&"):
        text = text.replace(mark, b"\\u%04x" % ord(mark))
    return text


def _bins(count: int) -> list[tuple[int, int]]:
    """Cut so many things into bins of equal size, at most `BINS`, at least of 20."""
    bins = max(1, min(BINS, count // 20)) if count else 0
    edges = [round(i * count / bins) for i in range(bins + 1)] if bins else []
    return list(pairwise(edges))


def _rising(times: list[float]) -> list[float]:
    """Return times of which each is above the one before, as a chart needs them."""
    for i in range(1, len(times)):
        if times[i] <= times[i - 1]:
            times[i] = times[i - 1] + 1e-3
    return times


def _shares(history: History, colours: dict[Name, int]) -> dict[str, Any]:
    """Return each arm's share of the decisions in each bin, and last the rest's."""
    decisions = list(history.decisions)
    times, shares = [], []
    for first, after in _bins(len(decisions)):
        counts = np.zeros(len(colours) + 1)
        for made in decisions[first:after]:
            counts[colours.get(made.arm, -1)] += 1
        times.append(decisions[after - 1].time)
        shares.append((counts / (after - first)).round(4).tolist())
    return {"times": _rising(times), "shares": [list(row) for row in zip(*shares, strict=True)]}


def _estimates(insight: Insight, history: History, colours: dict[Name, int]) -> dict[str, Any]:
    lying = {source.source for source in insight.liars}
    rows = [
        [r for r in each if r.source is None or r.source not in lying]
        for each in history.held(colours)
    ]
    seen = list(history.rewards)
    ends = [seen[after - 1] for _, after in _bins(len(seen))]
    series = [_band(each, ends, insight.best_arm.of) for each in rows]
    middles = [m for each in series for m in each["middle"] if m is not None]
    reach = [arm.interval for arm in insight.arms if arm.arm in colours]
    known = [x for i in reach for x in (i.low, i.high, i.value) if math.isfinite(x)]
    low, high = (min(known + middles), max(known + middles)) if middles else (0.0, 1.0)
    # bands of few rewards may reach to an outlier; they are cut there
    room = 0.15 * (high - low) or 1.0
    return {
        "times": _rising([end.time for end in ends]),
        "arms": series,
        "range": [low - room, high + room],
        "of": insight.best_arm.of,
    }


def _band(
    rewards: list[PastReward], ends: list[PastReward], of: str
) -> dict[str, list[float | None]]:
    numbers = [reward.number for reward in rewards]
    values = np.array([reward.value for reward in rewards])
    parts = []
    for end in ends:
        after = bisect_right(numbers, end.number)
        parts.append(values[max(0, after - ROLLING) : after])
    if of == "mean" and any(len(part) for part in parts):
        within = range_of([values])
        within = within if within[1] > within[0] else (within[0], within[0] + 1.0)
        clipped = [np.clip(part, *within) for part in parts]
        sums = np.array([part.sum() for part in clipped])
        sizes = np.array([len(part) for part in clipped])
        found = mean_intervals(sums, sizes, within, POINTWISE)
    else:
        found = [median_interval(np.sort(part), POINTWISE) for part in parts]
    return {
        "middle": [_finite(i.value) for i in found],
        "low": [_finite(i.low) for i in found],
        "high": [_finite(i.high) for i in found],
    }


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None


def _rewards(insight: Insight, history: History, colours: dict[Name, int]) -> dict[str, Any]:
    """Return rewards: times, values, colours and marks; failures have no value.

    Those that stand out are all there, up to a number; of the others as many as fit.
    """
    lying = {source.source for source in insight.liars}
    limits = {
        arm.arm: far_from(sample) for arm, sample in zip(insight.arms, insight.samples, strict=True)
    }
    ordinary: list[tuple[PastReward, int]] = []
    special: list[tuple[PastReward, int]] = []
    for reward in history.rewards:
        middle, reach = limits.get(reward.arm, (0.0, math.inf))
        lies = reward.source is not None and reward.source in lying
        far = insight.corruption.outliers_show and abs(reward.value - middle) > reach
        mark = 3 if reward.failed else 2 if lies else 1 if far else 0
        (special if mark else ordinary).append((reward, mark))
    some = thinned(special, POINTS // 2)
    kept = some + thinned(ordinary, POINTS - len(some))
    kept.sort(key=lambda pair: pair[0].number)
    pooled = [sample[np.isfinite(sample)] for sample in insight.samples]
    values = np.concatenate([np.zeros(0), *pooled])
    middle = float(np.median(values)) if len(values) else 0.0
    spread = float(np.median(np.abs(values - middle))) if len(values) else 0.0
    return {
        "times": _rising([reward.time for reward, _ in kept]),
        "values": [None if mark == 3 else reward.value for reward, mark in kept],
        "colours": [colours.get(reward.arm, -1) for reward, _ in kept],
        "marks": [mark for _, mark in kept],
        "middle": middle,
        "linear": 4 * spread or max(1.0, abs(middle)),
        "all": len(history.rewards),
        "bad_side": "high" if insight.summary["minimize"] else "low",
    }


def thinned(rows: Sequence[Any], most: int) -> list[Any]:
    """Return at most so many, evenly spread.

    >>> thinned(range(10), 4)
    [0, 3, 6, 9]
    """
    if len(rows) <= most:
        return list(rows)
    places = np.linspace(0, len(rows) - 1, most).round().astype(np.int64)
    return [rows[place] for place in places.tolist()]
