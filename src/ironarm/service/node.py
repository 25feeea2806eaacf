"""A node: agents in memory, the writer, keys, limits, counts."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from ..agent.log import Entry
from ..agent.logged import Frozen, keep_snapshot
from ..agent.store import Store
from ..errors import InvalidInput, IronarmError, StoreError, UnknownAgent
from ..which_policy import default_policy
from .compiling import Compiler
from .directory import make_or_compare
from .hosted import Hosted
from .insight import Insights
from .keys import Buckets, Key, KeyRing
from .location import StoreLocation
from .problems import Problem, unknown_decision
from .writer import Work, Writer

log = logging.getLogger("ironarm")

TICK = 1.0
"""Seconds between looks at keys, late rewards and what other nodes have appended."""
FOLLOW = 60.0
"""Seconds for which an agent is followed after somebody asked for it."""
PATIENCE = 5.0
"""Seconds that the database may take for an answer."""
POSTGRES_WORKERS = 1
ID = re.compile(r"([1-9][0-9]{0,14})\.[A-Za-z0-9_-]{1,64}")
"""An id: the agent's number, and what nobody can guess. No store sees anything else."""


@dataclass(frozen=True)
class Limits:
    """What a request may ask for."""

    body: int = 64 * 1024
    batch_body: int = 8 * 1024 * 1024
    batch: int = 10_000
    arms: int = 1_000
    name: int = 200
    source_rate: float | None = None
    """Rewards a second from one source; None for no limit."""
    read_seconds: float = 15.0
    streams: int = 100


@dataclass
class Counts:
    """What has happened since the node started."""

    requests: Counter[tuple[str, int]] = field(default_factory=Counter)
    """By route and status."""
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    events: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By agent and kind: decisions, rewards, refused values, late rewards."""


class Node:
    """One process of the service."""

    def __init__(
        self,
        place: StoreLocation,
        limits: Limits | None = None,
        say: Callable[[str], None] = log.info,
    ) -> None:
        self.place, self.limits = place, limits or Limits()
        self.counts = Counts()
        self.keys = KeyRing()
        self._key_buckets = Buckets()
        self._source_buckets = Buckets()  # apart: senders choose the names of sources
        self.id = secrets.token_hex(4)
        self.ready = False
        self.secret = b""
        self.insights = Insights(self)
        self._names: dict[str, int] = {}
        self._numbers: dict[int, str] = {}
        self._looking = asyncio.Lock()
        self._next_look: asyncio.Task[None] | None = None
        self._reader: Store | None = None
        self._reading = threading.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._snapshots = ThreadPoolExecutor(1, "ironarm snapshot")
        self._threads = ThreadPoolExecutor(4, "ironarm reader")
        self.compiler = Compiler(say)
        self._compiled: set[int] = set()  # agents whose policy is loaded
        self._used: dict[int, float] = {}
        self._expiring: set[int] = set()
        self.streams = 0
        """Event streams that are open."""

    # life

    async def start(self) -> None:
        """Open the store, and read every agent."""
        self._reader = await self.in_thread(lambda: self.place.open(create=True))
        self.secret = bytes.fromhex(
            await self.read(lambda store: store.setting("secret", secrets.token_hex(32)))
        )
        await self.look()
        self.writer = Writer(
            self.place.open,
            self._make,
            workers=POSTGRES_WORKERS if self.place.shared else 1,
        )
        self._spawn(self._load())
        self._spawn(self._tick())
        self._spawn(self._watch())

    async def stop(self) -> None:
        """Answer what waits, and end."""
        self.ready = False
        for task in self._tasks:
            task.cancel()
        await self.in_thread(lambda: self.writer.stop(PATIENCE))
        self._snapshots.shutdown(wait=True)
        if self._reader is not None:
            self._reader.give_up(0)
            self._threads.shutdown(wait=True)
            self._reader.close()

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _load(self) -> None:
        """Compile the default policy and read the agents, before anybody needs them."""
        await self.compiler.prepare(default_policy(), 2)
        for number in list(self._numbers):
            try:
                await self._get_ready(number)
                await self.writer.submit(number, Hosted.load, writes=False)
            except Exception as error:
                log.error("agent %s cannot be read: %s", self._numbers[number], error)
        self.ready = True

    async def _watch(self) -> None:
        """Give up a database that does not answer; the next question asks anew."""
        while True:
            await asyncio.sleep(TICK)
            for store in (self._reader, *self.writer.stores):
                if store is not None:
                    store.give_up(PATIENCE)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            try:
                await self.look()
                self._follow()
            except Exception as error:
                log.warning("%s", error)

    def _follow(self) -> None:
        """Expire late decisions; learn what other nodes have appended."""
        now = monotonic()
        for hosted in self.writer.loaded():
            number = hosted.number
            if number in self._expiring:
                continue
            within = hosted.reward_within
            if within is not None and not hosted.replay.archived:
                self._spawn(self._expire(number))
            elif self.place.shared and now - self._used.get(number, -FOLLOW) < FOLLOW:
                self._spawn(self._catch_up(number))

    async def _expire(self, number: int) -> None:
        self._expiring.add(number)
        try:
            while count := await self.writer.submit(number, Hosted.expire_late):
                self.count(number, "expired", count)
        except Exception as error:
            log.warning("%s", error)
        finally:
            self._expiring.discard(number)

    async def _catch_up(self, number: int) -> None:
        self._expiring.add(number)
        try:
            await self.writer.submit(number, lambda hosted: None, writes=False)
        except Exception as error:
            log.warning("%s", error)
        finally:
            self._expiring.discard(number)

    # the store, for questions that need no agent

    async def in_thread(self, work: Callable[[], Any]) -> Any:
        """Do something that takes long without holding the event loop up."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def read(self, work: Callable[[Store], Any]) -> Any:
        """Ask the store something."""

        def ask() -> Any:
            assert self._reader is not None
            with self._reading:
                return work(self._reader)

        return await self.in_thread(ask)

    async def look(self) -> None:
        """Look which keys and agents there are.

        Who asks while somebody looks waits for the next look, and all share it: so what
        was there before the question is found, and strangers cost one look at a time.
        """
        if self._next_look is None:
            self._next_look = asyncio.get_running_loop().create_task(self._look())
        await asyncio.shield(self._next_look)

    async def _look(self) -> None:
        async with self._looking:
            self._next_look = None
            rows, names = await self.read(lambda store: (store.api_keys(), store.agents()))
            first = self.keys.empty and bool(rows) and self.ready
            self.keys.take(rows)
            if first:
                log.warning("there is a key now: from here on every request needs one")
            self._names = names
            self._numbers = {number: name for name, number in names.items()}

    def _make(self, store: Store, number: int) -> Hosted:
        return Hosted(store, number, lambda frozen: self._keep(number, frozen))

    def _keep(self, number: int, frozen: Frozen) -> None:
        """Write a snapshot behind; a failure costs time at the next start."""

        def write() -> None:
            with suppress(IronarmError):
                store = self.place.open()
                try:
                    keep_snapshot(store, number, frozen)
                finally:
                    store.close()

        with suppress(RuntimeError):  # the node stops
            self._snapshots.submit(write)

    # agents

    async def number_of(self, name: str) -> int:
        """Return the number of an agent."""
        number = self._names.get(name)
        if number is None:
            await self.look()
            number = self._names.get(name)
        if number is None:
            raise UnknownAgent(f"there is no agent {name[:100]!r}.")
        if number not in self._compiled:
            await self._get_ready(number)
        self._used[number] = monotonic()
        return number

    def knows_agent_of(self, id: str) -> bool:
        """Say whether the agent that an id names was there at the last look."""
        return _agent_in(id) in self._numbers

    async def owner(self, id: str, look: bool = True) -> tuple[int, str]:
        """Return the number and the name of the agent that a decision's id names.

        With `look`, an agent that is new here is looked for.
        """
        number = _agent_in(id)
        name = self._numbers.get(number)
        if name is None and number > 0 and look:
            await self.look()
            name = self._numbers.get(number)
        if name is None:
            raise unknown_decision(id)
        if number not in self._compiled:
            await self._get_ready(number)
        self._used[number] = monotonic()
        return number, name

    async def _get_ready(self, number: int) -> None:
        """Have the policy of an agent compiled, so that the writer only loads it.

        An agent that another node has made may have a policy that is new here.
        """

        def first(store: Store) -> Entry | None:
            with closing(store.after(number, 0)) as rows:
                row = next(rows, None)
            return None if row is None else Entry(*row[:-1])

        with suppress(InvalidInput, StoreError):  # then the writer says what is wrong
            entry = await self.read(first)
            if entry is None:
                return  # nobody has made it yet
            if entry.kind == "created":  # else the beginning was pruned
                await self.compiler.prepare_created(entry.extra or "")
            self._compiled.add(number)

    def names(self) -> list[str]:
        """Return the names of the agents."""
        return sorted(self._names)

    def name_of(self, number: int) -> str:
        """Return the name of an agent."""
        return self._numbers.get(number, str(number))

    async def ask(self, number: int, work: Work) -> Any:
        """Ask an agent something that changes nothing."""
        return await self.writer.submit(number, work, writes=False)

    async def create(self, name: str, described: str, seed_given: bool, key: str | None) -> bool:
        """Make an agent; False if the same is there."""

        def number_for(store: Store) -> int:
            with store.transaction():
                known = store.agents()
                return known[name] if name in known else store.add_agent(name)

        number = await self.read(number_for)

        def work(hosted: Hosted) -> bool:
            return make_or_compare(hosted, name, described, seed_given, key)

        made = bool(await self.writer.submit(number, work))
        self._compiled.add(number)
        await self.look()
        return made

    # keys

    async def allow(self, text: str | None, scope: str, agent: str | None) -> Key | None:
        """Return the key of a request, or refuse it; None if there are no keys."""
        if text is None:
            if self.keys.empty:
                return None
            raise Problem(401, "send a key: 'Authorization: Bearer ia_...'.")
        key = self.keys.find(text)
        if key is None:
            await self.look()
            key = self.keys.find(text)
        if key is None:
            raise Problem(401, "the key is unknown, or it was revoked.")
        self.check_key(key, scope, agent)
        return key

    def check_key(self, key: Key, scope: str, agent: str | None) -> None:
        """Refuse what a key does not allow, and what comes too fast."""
        if not key.may(scope, agent):
            where = "" if agent is None else f" for the agent {agent[:100]!r}"
            what = "create, change or archive agents" if scope == "admin" else scope
            raise Problem(403, f"this key may not {what}{where}.")
        if key.rate is not None:
            _slow_down(self._key_buckets, key.id, key.rate)

    def may_still(self, id: str | None, scope: str, agent: str) -> bool:
        """Say whether a key that was let in, None for none, would be let in now."""
        if id is None:
            return self.keys.empty
        key = self.keys.get(id)
        return key is not None and key.may(scope, agent)

    def charge(self, key: Key | None, more: int) -> None:
        """Count more requests of a key that has been let in: it may owe them."""
        if key is not None and key.rate is not None:
            self._key_buckets.owe(key.id, key.rate, more)

    def check_source(self, number: int, source: Any) -> None:
        """Refuse a reward of a source that sends an agent too many."""
        if self.limits.source_rate is not None:
            _slow_down(self._source_buckets, (number, source), self.limits.source_rate)

    def count(self, number: int, kind: str, by: int = 1) -> None:
        """Count an event of an agent."""
        self.counts.events[self.name_of(number), kind] += by


def _slow_down(buckets: Buckets, name: Any, rate: float) -> None:
    """Refuse what comes too fast."""
    wait = buckets.take(name, rate)
    if wait:
        raise Problem(429, f"too many requests; {rate:g} a second are allowed.", max(1.0, wait))


def _agent_in(id: str) -> int:
    """Return the number of the agent that an id names; 0 for what is no id."""
    form = ID.fullmatch(id)
    return 0 if form is None else int(form[1])
