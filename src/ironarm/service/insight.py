"""What can be said of an agent: the best arm, corruption, sources, missing rewards.

All of it comes from the end of the log (`history`) and from what the agent itself has
counted. It is computed in a thread, and kept for a moment: any number of people may
look at an agent at the price of one.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from ..agent.input import Name
from ..agent.log import Entry
from ..agent.reward_check import complaint
from ..agent.source_book import FAR, MAD_TO_SIGMA, SURE, Source, SourceBook, judge
from ..errors import StoreError, UnknownAgent
from ..policies import Policy
from ..rules.reward_range import RangedPolicy
from ..theory.from_log.best_arm import BestArm, best_arm_of
from ..theory.from_log.bounded_log import ENOUGH
from ..theory.from_log.evidence import Interval, kind_of
from ..theory.from_log.tolerance import Tolerance, tolerance_of
from .history import VIEW, History
from .hosted import Hosted

if TYPE_CHECKING:
    from .node import Node

AGENTS = 64
"""Agents of which something is kept in memory."""
FRESH = 2.0
"""Seconds for which an answer serves everybody who looks at the page."""
MISSING = 0.05
"""How much more of an arm's rewards must be missing to be worth an alarm."""


@dataclass(frozen=True)
class ArmView:
    """What is known of an arm.

    `estimate` and `rewards` are the agent's own; `interval` is from `sampled` rewards
    of the log. Decisions are those in view: `missing` of them were cancelled or have
    expired, of `closed` in all. `missing_more` says that no accident explains why more
    are missing than of the other arms.
    """

    arm: Name
    estimate: float | None
    rewards: int
    open: int
    sampled: int
    interval: Interval
    decided: int
    share: float | None
    closed: int
    missing: int
    failed: int
    missing_more: bool

    @property
    def missing_share(self) -> float | None:
        """The share of closed decisions without a reward."""
        return self.missing / self.closed if self.closed else None


@dataclass(frozen=True)
class CorruptShare:
    """How much of the rewards in view seems corrupt.

    `far` rewards are more than `FAR` spreads away from the median of their arm,
    `by_liars` came from sources that differ, `either` is one or the other. For rewards
    of 0 and 1 only others than these are far, and for those that are mostly equal none.
    """

    rewards: int
    far: int
    by_liars: int
    either: int
    sourced: int
    outliers_show: bool

    @property
    def share(self) -> float | None:
        """The share that seems corrupt."""
        return self.either / self.rewards if self.rewards else None


@dataclass(frozen=True)
class Insight:
    """All of it, at one entry of the log."""

    number: int
    name: str
    summary: dict[str, Any]
    arms: tuple[ArmView, ...]
    best_arm: BestArm
    best_with_liars: Name | None
    sources: tuple[Source, ...]
    source_count: int
    liars: tuple[Source, ...]
    corruption: CorruptShare
    tolerance: Tolerance | None
    samples: tuple[np.ndarray, ...]
    end: tuple[Entry, ...]
    warning: str = ""
    """Why the policy does not suit the rewards, as an agent in a process would warn."""

    @property
    def best(self) -> Name | None:
        """The arm that looks best by its rewards."""
        return None if self.best_arm.best is None else self.arms[self.best_arm.best].arm

    @property
    def too_corrupt(self) -> bool:
        """Whether there is surely more corruption than the arms can take.

        If there is not, this is true with a probability of at most `tolerance.WRONG`.
        """
        seen = self.corruption
        return self.tolerance is not None and self.tolerance.exceeded(seen.either, seen.rewards)

    @property
    def alarms(self) -> list[str]:
        """What somebody should look at, in few words."""
        found = []
        if self.too_corrupt:
            found.append("more corruption than the arms can take")
        if self.liars:
            count = len(self.liars)
            found.append("1 source differs" if count == 1 else f"{count:,} sources differ")
        missing = [arm for arm in self.arms if arm.missing_more]
        if missing:
            found.append(
                "rewards of 1 arm go missing"
                if len(missing) == 1
                else f"rewards of {len(missing)} arms go missing"
            )
        if self.best_arm.sure and self.best != self.summary["best"]:
            found.append("the agent takes another arm for the best")
        if self.warning:
            found.append("the policy does not suit the rewards")
        return found


class Insights:
    """What was found out lately, by agent."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._kept: OrderedDict[int, _Kept] = OrderedDict()

    async def of(self, number: int, name: str, within: float = FRESH) -> Insight:
        """Return what is known of an agent, as it was within so many seconds."""
        kept = self._kept.get(number)
        if kept is None:
            kept = self._kept[number] = _Kept()
            if len(self._kept) > AGENTS:
                self._kept.popitem(last=False)
        self._kept.move_to_end(number)
        async with kept.lock:
            if kept.insight is None or monotonic() - kept.looked >= within:
                kept.insight = await self._look(kept, number, name)
                kept.looked = monotonic()
            return kept.insight

    async def add_to(self, arms: list[dict[str, Any]], number: int, name: str) -> dict[str, Any]:
        """Add each arm's share of recent decisions; return what corruption there is."""
        try:
            seen = await self.of(number, name)
        except StoreError:  # what the agent itself knows is told all the same
            shares, corrupt, tolerance, warning = {}, None, None, ""
        else:
            shares = {arm.arm: arm.share for arm in seen.arms}
            corrupt, tolerance, warning = seen.corruption.share, seen.tolerance, seen.warning
        for arm in arms:
            arm["share"] = shares.get(arm["arm"])
        return {
            "corrupt_share": corrupt,
            "can_take": None if tolerance is None else tolerance.low,
            "can_take_about": None if tolerance is None else tolerance.about,
            "can_take_at_most": None if tolerance is None else tolerance.high,
            "warning": warning or None,
        }

    async def derived(
        self, number: int, name: str, work: Callable[[Insight, History], bytes]
    ) -> bytes:
        """Return what is made from an insight and the log, made once for each."""
        insight = await self.of(number, name)
        kept = self._kept[number]
        async with kept.lock:
            if kept.derived is None or kept.derived[0] is not insight:
                made = await self._node.in_thread(lambda: work(insight, kept.history))
                kept.derived = insight, made
            return kept.derived[1]

    async def _look(self, kept: _Kept, number: int, name: str) -> Insight:
        summary, book, policy = await self._node.ask(number, _asked(name))
        history, last = kept.history, summary["entries"]
        if last - history.last > VIEW:
            history = kept.history = History(last - VIEW)
        before = kept.insight
        if before is not None and before.number == last:
            return before
        while history.last < last:
            if not await self._node.read(lambda store: history.read(store, number)):
                break  # the log was cut; what is there is told
        scarce = history.scarce({arm["arm"]: arm["rewards"] for arm in summary["arms"]})
        if scarce:
            await self._node.in_thread(lambda: self._search(history, number, scarce))

        def compute() -> Insight:
            return insight_of(history, name, summary, book, policy)

        found: Insight = await self._node.in_thread(compute)
        return found

    def _search(self, history: History, number: int, arms: list[Name]) -> None:
        # a connection of its own: a long log takes a second, and others want to read
        store = self._node.place.open()
        try:
            history.search(store, number, arms)
        finally:
            store.close()


class _Kept:
    """What is kept of one agent."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.history = History()
        self.insight: Insight | None = None
        self.looked = 0.0
        self.derived: tuple[Insight, bytes] | None = None


def _asked(name: str) -> Callable[[Hosted], Any]:
    """Return a question for the writer's thread; it does as little as possible."""

    def work(hosted: Hosted) -> Any:
        if hosted.replay.loaded is None:
            raise UnknownAgent(f"there is no agent {name!r}.")
        book = hosted.core.book
        if book is not None:
            book = book.copy()
        return hosted.summary(), book, hosted.core.policy

    return work


def insight_of(
    history: History,
    name: str,
    summary: dict[str, Any],
    book: SourceBook | None,
    policy: Policy,
) -> Insight:
    """Find out all of it; takes tens of milliseconds.

    Rewards may be so large that their differences are infinite.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return _insight_of(history, name, summary, book, policy)


def _insight_of(
    history: History,
    name: str,
    summary: dict[str, Any],
    book: SourceBook | None,
    policy: Policy,
) -> Insight:
    ends = policy.reward_range if isinstance(policy, RangedPolicy) else None
    names = [arm["arm"] for arm in summary["arms"]]
    sources = [] if book is None else book.report()
    liars = [source for source in sources if source.chance < SURE]
    lying = frozenset(liar.source for liar in liars if liar.source is not None)
    samples = history.samples(names, lying)
    minimize = summary["minimize"]
    best_arm = best_arm_of(samples, minimize, ends)
    corruption = _corruption(history, names, samples, lying)
    best_with_liars = None
    if lying:
        other = best_arm_of(history.samples(names, frozenset()), minimize, ends)
        best_with_liars = None if other.best is None else names[other.best]
    return Insight(
        history.last,
        name,
        summary,
        _arms(history, summary, samples, best_arm),
        best_arm,
        best_with_liars,
        tuple(sources[:200]),
        len(sources),
        tuple(liars),
        corruption,
        tolerance_of(clean(samples, corruption.outliers_show), best_arm, minimize, ends),
        tuple(samples),
        tuple(history.end),
        complaint(policy, [_some(x) for x in samples], corruption.sourced > 0),
    )


def _some(rewards: np.ndarray) -> list[float]:
    """Return the finite rewards of an arm, or some hundreds of many."""
    finite = rewards[np.isfinite(rewards)]
    some: list[float] = finite[:: 1 + len(finite) // 1000].tolist()
    return some


def _arms(
    history: History, summary: dict[str, Any], samples: list[np.ndarray], best_arm: BestArm
) -> tuple[ArmView, ...]:
    seen = Counter((made.arm, made.outcome) for made in history.decisions)
    total = len(history.decisions)
    names = [arm["arm"] for arm in summary["arms"]]

    def count(arm: Name, *outcomes: str) -> int:
        return sum(seen[arm, outcome] for outcome in outcomes)

    closed = [count(arm, "rewarded", "failed", "expired", "cancelled") for arm in names]
    missing = [count(arm, "expired", "cancelled") for arm in names]
    counts = np.zeros((len(names), 3), np.int64)
    counts[:, 0], counts[:, 1] = closed, missing
    # each arm is a source here, and all of them are on one arm
    judged = judge(np.arange(len(names)), np.zeros(len(names), np.int64), counts, len(names))
    return tuple(
        ArmView(
            arm["arm"],
            arm["estimate"],
            arm["rewards"],
            arm["open"],
            len(samples[i]),
            best_arm.intervals[i],
            decided := sum(seen[arm["arm"], outcome] for outcome in _OUTCOMES),
            decided / total if total else None,
            closed[i],
            missing[i],
            count(arm["arm"], "failed"),
            bool(judged.chance[i] < SURE and judged.difference[i] > MISSING),
        )
        for i, arm in enumerate(summary["arms"])
    )


_OUTCOMES = ("open", "rewarded", "failed", "expired", "cancelled", "removed")


def far_from(ordered: np.ndarray) -> tuple[float, float]:
    """Return the median of rewards, and from which distance on one is far."""
    finite = ordered[np.isfinite(ordered)]
    if len(finite) < ENOUGH:
        return 0.0, math.inf
    middle = float(np.median(finite))
    reach = FAR * MAD_TO_SIGMA * float(np.median(np.abs(finite - middle)))
    return middle, reach if reach > 0 else math.inf


def _corruption(
    history: History, names: list[Name], samples: list[np.ndarray], lying: frozenset[Name]
) -> CorruptShare:
    kind = kind_of(samples)
    shows = not kind
    middle_and_reach = (0.5, 0.5) if kind == "0 or 1" else (0.0, math.inf)
    limits = {
        name: far_from(x) if shows else middle_and_reach
        for name, x in zip(names, samples, strict=True)
    }
    far = by_liars = either = rewards = sourced = 0
    for reward in history.rewards:
        if reward.failed or reward.arm not in limits:
            continue
        middle, reach = limits[reward.arm]
        is_far = abs(reward.value - middle) > reach
        lies = reward.source is not None and reward.source in lying
        rewards += 1
        far += is_far
        by_liars += lies
        either += is_far or lies
        sourced += reward.source is not None
    return CorruptShare(rewards, far, by_liars, either, sourced, shows)


def clean(samples: list[np.ndarray], outliers_show: bool) -> list[np.ndarray]:
    """Return the arms' rewards without those that stand out; failures stay."""
    if not outliers_show:
        return samples
    limits = [far_from(x) for x in samples]
    return [
        x[(np.abs(x - middle) <= reach) | np.isinf(x)]
        for x, (middle, reach) in zip(samples, limits, strict=True)
    ]
