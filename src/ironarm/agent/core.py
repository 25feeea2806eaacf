"""What every live agent is inside: a policy's state, named arms, open decisions.

It has no lock, no clock and no file, and it warns of nothing. `Agent` adds these, and
the entries of a log are applied to it (`replay.py`). Arms are numbers in the calls that
others build on; `number_of` finds that of a name.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from ..engine.loop import (
    ANY,
    ANY_LOCKED,
    CANCELLED,
    LEARNT,
    MUST_GROW,
    NOT_NOW,
    NOTHING_OPEN,
    ONE_OPEN,
    OWE,
    SETTLE,
)
from ..engine.state import State
from ..engine.streams import fresh_seed, streams
from ..errors import InvalidInput, PolicyFault, UnknownArm
from ..estimators import BoundedMedian
from ..files import json_ready
from ..naming.own_faults import failed, failures_of
from ..policies import Policy
from ..policy import require_policy
from ..validation import choice, did_you_mean, whole
from ..which_policy import default_policy
from .input import Name, estimator_for, name_of, names_of
from .open_decisions import Id, OpenDecisions
from .source_book import HELD, Source, SourceBook


class Core:
    """A policy at work on named arms; the parameters are those of `Agent`."""

    def __init__(
        self,
        policy: Policy | None,
        arms: Iterable[Name] | int | None,
        *,
        seed: int | None = None,
        minimize: bool = False,
        memory: str = "exact",
        sources_held: int = HELD,
    ) -> None:
        if policy is None:
            policy = default_policy()
        require_policy(policy)
        if arms is None:
            raise InvalidInput(
                'arms is missing; give a list of names, for example arms=["a", "b"].'
            )
        names = names_of(arms)
        if not names:
            raise InvalidInput("arms is empty; give at least one name.")
        if len(set(names)) < len(names):
            raise InvalidInput(f"every arm needs a name of its own, got {names!r}.")
        estimator = estimator_for(policy, choice("memory", memory, ["exact", "bounded"]))
        self.policy, self.memory, self.minimize = policy, memory, bool(minimize)
        self.seed = fresh_seed() if seed is None else whole("seed", seed)
        self.sources_held = whole("sources_held", sources_held, at_least=2, below=2**31)
        self.book: SourceBook | None = None
        """What is known of the sources, from the first reward that has one."""
        self.bounded = estimator is BoundedMedian
        # inside, rewards are always to be maximised
        self._working = policy.mirrored() if self.minimize else policy
        state = State(self._working, len(names), live=True, estimator=estimator)
        state.view.stream[:] = streams(self.seed, 0)[2]
        self._take_over(state, names, OpenDecisions(len(names)))

    def _take_over(self, state: State, names: list[Name], waiting: OpenDecisions) -> None:
        """Install a state with its arms and open decisions; nothing here can fail.

        What is public here is so for the hot path of `Agent`, which looks it up once.
        """
        self.state, self.names, self.open = state, names, waiting
        self.index = {name: i for i, name in enumerate(names)}
        self.handle, self.place = state.handle, state.machine.handle(waiting.waiting.record)
        """Where compiled code finds the state, and the open decisions without an id."""
        usual = state.machine.needed(("select", "observe"))
        with state.machine.announced(usual):
            self.call_select, self.call_observe, *_ = [state.call(name) for name in usual]
        self.chance = state.view.chance if self.policy.weighs_by_chance else None
        """Where the policy leaves the probability of its choice, if that matters."""

    @property
    def needs_python(self) -> bool:
        """Whether Python has a part in every `select` and `update`."""
        return self.chance is not None or self.state.machine.plain

    def prepare(self) -> None:
        """Compile everything that live use needs."""
        self.state.prepare()
        np.median([0.0])  # else the look at the first rewards loads a part of NumPy

    # decisions

    def choose(self, among: Iterable[Name] | None = None) -> tuple[int, float]:
        """Make a decision; return the arm and the choice's probability."""
        if (
            among is not None
            # most often all can be used, and then their numbers need not be found
            and (type(among) is not list or among != self.names)
            and len(usable := self._numbers(among)) < len(self.names)
        ):
            arm, chance = self._choose_among(usable)
            self.follow(arm)
            return arm, chance
        try:
            arm = self.call_select(self.handle, ANY, 0, 0.0)
        except Exception as error:
            self.blame_policy(error)
        if arm < 0:
            self.refuse_choice()
        return arm, 1.0 if self.chance is None else float(self.chance[0])

    def choose_without_id(self, made: float) -> int:
        """Make a decision that is told by its arm alone; return that."""
        try:
            while (arm := self.call_select(self.handle, ANY_LOCKED, self.place, made)) == NOT_NOW:
                self.open.waiting.grow()
        except Exception as error:
            self.blame_policy(error)
        if arm < 0:
            self.refuse_choice()
        return arm

    def _choose_among(self, usable: Sequence[int]) -> tuple[int, float]:
        """Return what the policy chooses if there are no other arms; change nothing."""
        if len(usable) == 1:
            return usable[0], 1.0
        others_gone = self.state.resized(self._working, usable)
        with failures_of(type(self.policy)):
            place = others_gone.select()
        if place < 0:
            self.refuse_choice()
        chance = 1.0 if self.chance is None else float(others_gone.view.chance[0])
        return usable[place], chance

    def _numbers(self, among: Iterable[Name]) -> list[int]:
        """Return the numbers of these arms, in order."""
        if isinstance(among, str):
            raise InvalidInput(f"among must be a list of arms, got {among!r}; use [{among!r}].")
        numbers = sorted({self.number_of(arm) for arm in among})
        if not numbers:
            raise InvalidInput("among is empty; name at least one arm that can be used.")
        return numbers

    def follow(self, arm: int) -> None:
        """Take an arm that was chosen elsewhere.

        The schedule goes on, and the decision counts for the arm.
        """
        with failures_of(type(self.policy)):
            self.state.select(arm)

    def draw_from(self, number: int) -> None:
        """Let the next random numbers come from the seed and this number."""
        key = str(self.seed).encode()
        digest = hashlib.blake2b(number.to_bytes(8, "big"), digest_size=32, key=key[:64]).digest()
        self.state.view.stream[:] = np.frombuffer(digest, np.uint64)

    # rewards

    def reward(self, id: Id, x: float, source: Name | None = None) -> int:
        """Learn the reward of an open decision; return its arm."""
        arm, _, chance, _ = self.open.close(id)
        self.take(arm, x, source, chance, ONE_OPEN)
        return arm

    def take(
        self,
        arm: int,
        x: float,
        source: Name | None,
        chance: float = 1.0,
        opened: int = NOTHING_OPEN,
    ) -> None:
        """Learn a reward of an arm; `opened` says which decision asked for it.

        OLDEST_LOCKED: the oldest without an id, if one is open.
        """
        sender = -1 if source is None else self._sender(source, arm, x)
        if self.minimize:
            x = -x
        try:
            while (
                done := self.call_observe(self.handle, arm, x, chance, sender, opened, self.place)
            ) != LEARNT:
                if done == MUST_GROW:
                    self._grow()
                else:
                    opened = NOTHING_OPEN
        except Exception as error:
            self.blame_policy(error)

    def _grow(self) -> None:
        """Make room for rewards, and let nobody in meanwhile."""
        waiting = self.open.waiting
        before, waiting.shut = waiting.shut, True
        try:
            self.state.grow()
        finally:
            waiting.shut = before

    def _sender(self, source: Name, arm: int, x: float) -> int:
        """Take note of who sends a reward; return its number for the policy, or -1."""
        book = self.book
        if book is None:
            book = SourceBook(len(self.names), self.seed, self.sources_held)
        row = book.add(source, arm, x)
        self.book = book  # not before: what is refused leaves nothing behind
        return book.number(row) if self.policy.reads_source else -1

    def check_observation(self, arm: Name, first: str = "decide()") -> None:
        """Refuse a reward without a decision where that cannot be learnt."""
        self.number_of(arm)
        if self.chance is not None:
            raise InvalidInput(
                f"{type(self.policy).__name__} weighs a reward by the probability of its "
                f"decision, and no decision for {arm!r} is open. Call {first} first."
            )

    def warm(self, rows: Sequence[tuple[int, float, Name | None]]) -> None:
        """Learn logged rewards of arms, as if these had been chosen."""
        if self.chance is not None:
            raise InvalidInput(
                f"{type(self.policy).__name__} weighs a reward by the probability of its "
                "decision, which a log does not contain; start it without a log."
            )
        for arm, x, source in rows:
            self.take(arm, x, source)
        self.state.view.rounds[0] += len(rows)
        self.state.adjust(OWE)

    def cancel(self, id: Id) -> None:
        """Close a decision without a reward."""
        self.state.adjust(CANCELLED, self.open.close(id).arm)

    def expire(self, limit: float) -> int:
        """Close all decisions made before that time; return how many."""
        arms = self.open.expire(limit)
        for arm in arms:
            self.state.adjust(CANCELLED, arm)
        return len(arms)

    # arms

    def number_of(self, arm: object) -> int:
        """Return an arm's number; refuse one that is not there."""
        try:
            return self.index[arm]  # type: ignore[index]
        except (KeyError, TypeError):
            self.refuse_arm(arm)

    def name_of(self, arm: object) -> Name:
        """Return an arm's name as it was given, from whatever equals it."""
        return self.names[self.number_of(arm)]

    def arm_of(self, id: Id) -> Name:
        """Return the arm of an open decision."""
        return self.names[self.open.tickets[id].arm]

    def is_open(self, id: Id) -> bool:
        """Say whether a decision waits for its reward."""
        return id in self.open.tickets

    def open_pairs(self) -> list[tuple[Any, Name]]:
        """Return the open decisions' ids and arms, oldest first."""
        return [(id, self.names[ticket.arm]) for id, ticket in self.open.tickets.items()]

    def add(self, arm: object) -> None:
        """Add an arm at the end."""
        name = name_of(arm)
        self.check_new(name)
        self._resize([*range(len(self.names)), None], [*self.names, name])

    def remove(self, arm: object) -> None:
        """Remove an arm and its open decisions."""
        index = self.check_removable(arm)
        keep = [i for i in range(len(self.names)) if i != index]
        self._resize(keep, [self.names[i] for i in keep])

    def check_new(self, name: Name) -> None:
        """Refuse an arm that is there."""
        if name in self.index:
            raise InvalidInput(
                f"there is already an arm {name!r}; every arm needs a name of its own."
            )

    def check_removable(self, arm: object) -> int:
        """Return an arm's number; refuse one that is not there, and the last one."""
        index = self.number_of(arm)
        if len(self.names) == 1:
            raise InvalidInput(f"{arm!r} is the last arm and cannot be removed; add another first.")
        return index

    def _resize(self, keep: Sequence[int | None], names: list[Name]) -> None:
        state = self.state.resized(self._working, keep)
        if self.book is not None:
            self.book = self.book.for_arms(keep)
        self._take_over(state, names, self.open.for_arms(keep))

    # what is known

    @property
    def arms(self) -> tuple[Name, ...]:
        """The arms' names, in order."""
        return tuple(self.names)

    @property
    def decisions(self) -> int:
        """How many decisions have been made."""
        return self.state.rounds

    def best(self) -> Name:
        """Return the arm with the best estimate; before any reward, the first arm."""
        self.state.adjust(SETTLE)
        view = self.state.view
        return self.names[int(np.argmax(np.where(view.rewards > 0, view.estimate, -np.inf)))]

    @property
    def estimates(self) -> dict[Name, float]:
        """The arms' estimates, in units of reward; NaN before the first reward."""
        self.state.adjust(SETTLE)
        view = self.state.view
        sign = -1.0 if self.minimize else 1.0
        return {
            name: sign * float(view.estimate[i]) if view.rewards[i] else math.nan
            for i, name in enumerate(self.names)
        }

    @property
    def rewards(self) -> dict[Name, int]:
        """How many rewards each arm has."""
        return {name: int(n) for name, n in zip(self.names, self.state.view.rewards, strict=True)}

    @property
    def waiting(self) -> dict[Name, int]:
        """How many open decisions each arm has."""
        view = self.state.view
        return {name: int(view.n[i] - view.rewards[i]) for i, name in enumerate(self.names)}

    @property
    def inexact(self) -> list[Name]:
        """With memory="bounded", the arms whose median has ever left its window."""
        if not self.bounded:
            return []
        lost = self.state.view.lost
        return [name for i, name in enumerate(self.names) if lost[i]]

    def summary(self) -> dict[str, Any]:
        """Return what is known of each arm, as data that JSON can hold."""
        estimates, rewards, waiting = self.estimates, self.rewards, self.waiting
        return {
            "policy": self.policy.label,
            "decisions": self.decisions,
            "minimize": self.minimize,
            "best": self.best(),
            "arms": [
                {
                    "arm": name,
                    "rewards": rewards[name],
                    "open": waiting[name],
                    "estimate": estimates[name] if math.isfinite(estimates[name]) else None,
                }
                for name in self.names
            ],
        }

    def sources_later(self) -> Callable[[], list[Source]]:
        """Return what reports the sources as of now.

        The report takes a while, and nothing need wait for it.
        """
        return list if self.book is None else self.book.copy().report

    # as data

    def described(self, **more: Any) -> str:
        """Return what a new agent is, as the first entry of its log carries it."""
        data = {
            "policy": self.policy.to_dict(),
            "arms": list(self.names),
            "minimize": self.minimize,
            "memory": self.memory,
            "seed": self.seed,
            **self._chosen_size(),
            **more,
        }
        return json.dumps(json_ready(data), allow_nan=False)

    def _chosen_size(self) -> dict[str, int]:
        """Return `sources_held` as plain data, if it is not what everybody has."""
        return {} if self.sources_held == HELD else {"sources_held": self.sources_held}

    def frozen(self, refresh: bool = True) -> tuple[dict[str, Any], State]:
        """Return all but the policy as it is now: data, and a copy of the state.

        It takes as long as copying the memory does.
        """
        if refresh:
            self.state.refresh()
        data = {
            "arms": list(self.names),
            "minimize": self.minimize,
            "memory": self.memory,
            "seed": self.seed,
            "stream": self.state.view.stream.tolist(),
            **self.open.dump(),
            **({} if self.book is None else {"sources": self.book.copy()}),
            **self._chosen_size(),
        }
        return data, self.state.copy()

    @classmethod
    def thawed(
        cls, policy: Policy, data: dict[str, Any], ids: Mapping[int, str] | None = None
    ) -> Core:
        """Return what `frozen` described, from data for a file.

        `ids` gives the open decisions ids in the place of their numbers.
        """
        core = cls(
            policy,
            data["arms"],
            seed=data["seed"],
            minimize=data["minimize"],
            memory=data["memory"],
            sources_held=data.get("sources_held", HELD),
        )
        core.state.restore(data["state"])
        core.state.view.stream[:] = np.array(data["stream"], dtype=np.uint64)
        core.open.restore(data, ids)
        if "sources" in data:
            core.book = SourceBook.restore(
                data["sources"], len(core.names), core.seed, core.sources_held
            )
        if len(data["stream"]) != 4 or not any(data["stream"]):
            raise ValueError("its random stream is not valid")
        return core

    # refusals

    def blame_policy(self, error: Exception) -> NoReturn:
        """Say that the policy's own code has failed."""
        if isinstance(error, MemoryError):  # from growing the pool
            raise error
        if not (self.state.machine.plain or getattr(error, "of_compiled_code", False)):
            raise error  # from the handler of a signal
        raise failed(type(self.policy), error) from error

    def refuse_choice(self) -> NoReturn:
        """Say that the policy chose an arm that does not exist."""
        raise PolicyFault(
            f"{type(self.policy).__name__}.choose returned an arm that does not exist; arms are "
            f"numbered 0 to {len(self.names) - 1}."
        )

    def refuse_arm(self, arm: object) -> NoReturn:
        """Say that there is no such arm."""
        known = [str(name) for name in self.names]
        shown = ", ".join(map(repr, self.names[:10])) + (", ..." if len(known) > 10 else "")
        raise UnknownArm(f"unknown arm {arm!r}; the arms are {shown}.{did_you_mean(arm, known)}")


def plain(data: dict[str, Any]) -> dict[str, Any]:
    """Return what `Core.frozen` described as data for a file."""
    return {key: value.to_dict() if key == "sources" else value for key, value in data.items()}
