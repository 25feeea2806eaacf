"""The state of one policy at work, and how it is resized, saved and restored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np

from ..errors import PolicyFault
from ..estimators import Estimator
from ..naming.own_faults import constants_of, failures_of
from ..policy import Policy
from .interrupts import interrupts_wait
from .loop import ANY, JOINED, MUST_GROW, ONE_OPEN, OWE, RECOUNT
from .machine import machine_for
from .record import Field, Record

LONG = 256
"""From this length on, an array that is mostly 0 is saved without its zeros."""
POOL_PLACES = ("slot_start", "slot_room", "pool_used")

LIVE_ENTRIES = ("select", "observe", "adjust", "rebuild")
"""What an agent calls; and `repack`, if its estimator holds rewards."""


class State:
    """The state of one policy at work: a record, and the machine that moves it."""

    def __init__(
        self,
        policy: Policy,
        arms: int,
        horizon: int | None = None,
        live: bool = False,
        estimator: type[Estimator] | None = None,
        pool: np.ndarray | None = None,
    ) -> None:
        constants = constants_of(policy, arms, horizon)
        self.machine = machine_for(policy, constants, estimator)
        self.record = Record(
            self.machine.layout,
            arms,
            live=live,
            pool=np.empty(0) if pool is None else pool,
            larger_pool=np.empty(0),
            **{name: _constant(name, value) for name, value in constants.items()},
        )
        self.handle = self.machine.handle(self.record)
        # a simulation, which has a horizon, uses its pool in the next trial too; an
        # agent's only has to last
        self._slack = 1.125 if horizon is None else 2.0
        self.view.unrewarded[0] = arms
        self.view.source[0] = -1  # until a reward says who sent it
        if self.machine.estimator:
            self.view.estimate[:] = -np.inf
        self._fresh = None if horizon is None else self.record.words.copy()

    @property
    def view(self) -> Any:
        """The state as named arrays; ask again after the pool has grown."""
        return self.record.view

    @property
    def rounds(self) -> int:
        """The decisions made so far."""
        return int(self.view.rounds[0])

    def call(self, name: str) -> Callable[..., Any]:
        """Return an entry point of the policy; it takes this state's `handle` first."""
        return self.machine.call(name)

    def select(self, told: int = ANY) -> int:
        """Decide, or take an arm that was chosen elsewhere; return the arm."""
        return int(self.call("select")(self.handle, told, 0, 0.0))

    def observe(
        self,
        arm: int,
        x: float,
        chance: float = 1.0,
        source: int = -1,
        opened: int = ONE_OPEN,
    ) -> None:
        """Learn a reward of an arm; see `loop.observe`."""
        observe = self.call("observe")
        while observe(self.handle, arm, x, chance, source, opened, 0) == MUST_GROW:
            self.grow()

    def prepare(self) -> None:
        """Compile every entry point that an agent can come to use."""
        with self.machine.announced(self._live_entries):
            for name in self._live_entries:
                self.call(name)

    @property
    def prepared(self) -> bool:
        """Whether `prepare` would compile nothing."""
        return all(map(self.machine.is_there, self._live_entries))

    @property
    def _live_entries(self) -> tuple[str, ...]:
        return self.machine.needed(LIVE_ENTRIES)

    def renew(self, stream: np.ndarray) -> None:
        """Forget everything, for the next trial.

        The pool stays and its slots keep their places, so nothing needs to be moved
        while they fill again.
        """
        assert self._fresh is not None
        estimator, view = self.machine.estimator, self.view
        places = POOL_PLACES if estimator and estimator.holds_rewards else ()
        kept = [getattr(view, name).copy() for name in places]
        pool = view.pool
        self.record.words[:] = self._fresh
        self.record.point("pool", pool)
        for name, values in zip(places, kept, strict=True):
            getattr(view, name)[:] = values
        view.stream[:] = stream

    def grow(self) -> None:
        """Make the pool large enough for what was last refused."""
        view = self.view
        slot, room = (int(x) for x in view.pool_wanted)
        view.slot_room[slot] = room
        pool = np.empty(int(view.slot_room.sum() * self._slack) + 64)
        repack = self.call("repack")
        with interrupts_wait():  # slots and the pool that they are in change together
            self.record.point("larger_pool", pool)
            repack(self.handle)
            self.record.point("pool", pool)
            self.record.point("larger_pool", np.empty(0))

    def adjust(self, what: int, arm: int = 0) -> None:
        """Carry out one of the rare live operations; see `loop.adjust`."""
        with failures_of(self.machine.policy):
            self.call("adjust")(self.handle, what, arm)

    @property
    def _kept_fields(self) -> list[Field]:
        """The fields that are no caches."""
        return [field for field in self.machine.fields if not field.cache]

    def resized(self, policy: Policy, keep: Sequence[int | None]) -> State:
        """Return a state for other arms; this one stays as it is.

        Each of them is one of the present arms, by number, or None for a newcomer.
        """
        old = self.view
        new = State(
            policy,
            len(keep),
            live=bool(old.live),
            estimator=self.machine.estimator,
            pool=old.pool,
        )
        view = new.view
        view.rounds[:], view.stream[:] = old.rounds, old.stream
        for field in self._kept_fields:
            source, target = getattr(old, field.name), getattr(view, field.name)
            if not field.per_arm:
                target[:] = source
                continue
            source, target = source.reshape(-1, field.width), target.reshape(-1, field.width)
            for to, arm in enumerate(keep):
                if arm is not None:
                    target[to] = source[arm]
        view.unrewarded[0] = int((view.rewards == 0).sum())
        for to, arm in enumerate(keep):
            if arm is None:
                new.adjust(JOINED, to)
        new.adjust(RECOUNT)
        new.adjust(OWE)
        return new

    def refresh(self) -> None:
        """Clear the caches, as after a load: so both go on alike to the last bit."""
        for field in self.machine.fields:
            if field.cache:
                getattr(self.view, field.name)[:] = 0
        self.adjust(RECOUNT)

    def copy(self) -> State:
        """Return a state of its own that is the same; this takes as long as copying
        the memory does.
        """
        twin = copy(self)
        twin.record = self.record.copy()
        twin.handle = self.machine.handle(twin.record)
        return twin

    def dump(self) -> dict[str, Any]:
        """Return everything that decides future choices, as plain data.

        That is the fields by name, and the rewards that the estimator holds. Whoever
        goes on with this state calls `refresh` first, and so does whoever loads it.
        """
        return _as_lists(self.dump_arrays())

    def dump_arrays(self) -> dict[str, Any]:
        """Return what `dump` returns, with arrays in the place of lists of numbers.

        `json_pieces` writes them, and decisions wait less for it.
        """
        view, estimator = self.view, self.machine.estimator
        skipped = self._rebuilt_fields()
        data: dict[str, Any] = {
            "rounds": self.rounds,
            "fields": {
                field.name: _written(getattr(view, field.name))
                for field in self._kept_fields
                if field.name not in skipped
            },
        }
        if skipped and estimator:
            data["rewards"] = [estimator.samples(view, a) for a in range(view.arms)]
        return data

    def _rebuilt_fields(self) -> set[str]:
        """Return the estimator's fields that are not saved but rebuilt from rewards."""
        estimator = self.machine.estimator
        if estimator is None or estimator.samples(self.view, 0) is None:
            return set()
        return set(estimator.fields) - set(estimator.saved)

    def restore(self, data: dict[str, Any]) -> None:
        """Take over what `dump` returned, into a fresh state.

        Raises KeyError, TypeError or ValueError if it does not fit. Everything that
        compiled code uses as a count or an index is checked first: compiled code does
        not check whether an index is in bounds.
        """
        estimator = self.machine.estimator
        rebuilt = self._rebuilt_fields()
        expected = {
            field.name: getattr(self.view, field.name)
            for field in self._kept_fields
            if field.name not in rebuilt
        }
        fields = _checked_fields(data["fields"], expected)
        self.machine.policy._check_saved(fields)
        if estimator and rebuilt:
            self._rebuild(estimator, data["rewards"], fields)
        view = self.view
        for name, values in fields.items():
            getattr(view, name)[:] = values
        view.unrewarded[0] = int((view.rewards == 0).sum())
        view.owing_arms[0] = int((view.owing > 0).sum())
        view.rounds[0] = _count(data["rounds"])
        self.adjust(RECOUNT)

    def _rebuild(self, estimator: type[Estimator], rewards: Any, fields: dict[str, Any]) -> None:
        """Give the estimator the rewards that it held."""
        held = [[float(x) for x in of_one_arm] for of_one_arm in rewards]
        counts = fields["rewards"]
        forgotten = sum((fields[name] for name in estimator.forgets), 0 * counts)
        fits = [len(of_one_arm) for of_one_arm in held] == (counts - forgotten).tolist()
        if not fits or any(x != x for of_one_arm in held for x in of_one_arm):
            raise ValueError("its rewards do not fit their counts")
        rebuild = self.call("rebuild")
        for arm, of_one_arm in enumerate(held):
            for i, x in enumerate(of_one_arm):
                # one that forgets needs the final count, the others count along
                count = int(counts[arm]) if estimator.forgets else i + 1
                while not rebuild(self.handle, arm, x, count):
                    self.grow()


def size_of(policy: Policy, arms: int, estimator: type[Estimator] | None = None) -> int:
    """Return how many numbers a state begins with, without making one."""
    layout = machine_for(policy, constants_of(policy, arms, None), estimator).layout
    fixed, per_arm = layout.words
    return fixed + per_arm * arms


def _constant(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise PolicyFault(f"the constant {name!r} must be a number, got {value!r}.") from None


def _written(values: np.ndarray) -> np.ndarray | dict[str, Any]:
    """Return what is written of an array: of a long one that is mostly 0, the rest."""
    at = np.flatnonzero(values.view(np.int64))  # -0.0 is not 0 here
    if len(values) < LONG or 2 * len(at) > len(values):
        return values
    return {"length": len(values), "at": at, "values": values[at]}


def _as_lists(data: Any) -> Any:
    """Return data with lists of numbers in the place of arrays."""
    if isinstance(data, np.ndarray):
        return data.tolist()
    if isinstance(data, dict):
        return {key: _as_lists(value) for key, value in data.items()}
    return [_as_lists(value) for value in data] if isinstance(data, list) else data


def _read(saved: Any, target: np.ndarray) -> np.ndarray:
    """Return what `_written` was given; the array that it is meant for has its size."""
    if not isinstance(saved, dict):
        return np.array(saved)
    at, some = np.array(saved["at"], dtype=np.int64), np.array(saved["values"])
    fits = saved["length"] == len(target) and len(at) == len(some)
    if not fits or (len(at) and not 0 <= at.min() <= at.max() < len(target)):
        raise ValueError("a field has the wrong length")
    values = np.zeros_like(target)
    if target.dtype == np.int64 and len(some) and some.dtype != np.int64:
        raise ValueError("a count is not a whole number")
    values[at] = some
    return values


def _checked_fields(saved: dict[str, Any], targets: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the saved fields as arrays of the right kind and length.

    Counts must be counts.
    """
    if set(saved) != set(targets):
        raise ValueError("its fields are not those of the policy")
    fields = {}
    for name, target in targets.items():
        values = _read(saved[name], target)
        if values.shape != target.shape or (target.dtype == np.int64 and values.dtype != np.int64):
            raise ValueError(f"the field {name!r} is not valid")
        fields[name] = values.astype(target.dtype)
    for name in ("n", "rewards", "owing", "below", "above", "lost", "skipped"):
        if name in fields and fields[name].min() < 0:
            raise ValueError(f"the field {name!r} is negative")
    if (fields["n"] < fields["rewards"]).any():
        raise ValueError("it has more rewards than decisions")
    return fields


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**62:
        raise ValueError(f"{value!r} is not a count")
    return value
