"""The state of one policy at work, and how it is resized, saved and restored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..estimators import Estimator
from ..policies.base import Policy
from .machine import machine_for

CANCELLED, JOINED, SETTLE, RECOUNT, OWE = range(5)


class State:
    """The state of one policy at work: arrays, and the machine that moves them."""

    def __init__(self, policy: Policy, arms: int, horizon: int | None = None, live: bool = False, estimator: type[Estimator] | None = None, pool: np.ndarray | None = None) -> None:
        constants = policy.constants(arms, horizon)
        self.machine = machine_for(policy, constants, arms, estimator)
        self.ints, self.floats = self.machine.layout.allocate(arms, constants)
        self.pool = np.empty(0) if pool is None else pool
        self._slack = 1.125 if live else 2.0  # a simulation's pool serves the next trial too; an agent's stays
        self.ints[2] = live
        view = self.view
        view.unrewarded[0] = arms
        if self.machine.estimator:
            view.estimate[:] = -np.inf

    @property
    def view(self) -> Any:
        """The state as named arrays; get it anew after the pool has grown."""
        return self.machine.layout.view(self.ints, self.floats, self.pool)

    def grow(self) -> None:
        """Make the pool large enough for what was last refused."""
        view = self.view
        slot, room = (int(x) for x in view.pool_wanted)
        view.slot_room[slot] = room
        pool = np.empty(int(view.slot_room.sum() * self._slack) + 64)
        self.machine.call("repack")(self.ints, self.floats, self.pool, pool)
        self.pool = pool

    def adjust(self, what: int, arm: int = 0) -> None:
        """Carry out one of the rare live operations; see `loop.adjust`."""
        self.machine.call("adjust")(self.ints, self.floats, self.pool, what, arm)

    def resized(self, policy: Policy, keep: Sequence[int | None]) -> State:
        """Return a state for other arms: each is one of the present arms, by number, or None for a newcomer. This state stays as it is."""
        new = State(policy, len(keep), live=bool(self.ints[2]), estimator=self.machine.estimator, pool=self.pool)
        new.ints[1] = self.ints[1]
        old_view, new_view = self.view, new.view
        for field in self.machine.layout.fields:
            if field.cache:
                continue
            source, target = getattr(old_view, field.name), getattr(new_view, field.name)
            if not field.per_arm:
                target[:] = source
                continue
            for to, arm in enumerate(keep):
                if arm is not None:
                    target[to * field.width : (to + 1) * field.width] = source[arm * field.width : (arm + 1) * field.width]
        new_view.unrewarded[0] = int((new_view.rewards == 0).sum())
        for to, arm in enumerate(keep):
            if arm is None:
                new.adjust(JOINED, to)
        new.adjust(RECOUNT)
        new.adjust(OWE)
        return new

    def dump(self) -> dict[str, Any]:
        """Return everything that decides future choices as plain data: fields by name, and the rewards that the estimator holds."""
        view, estimator = self.view, self.machine.estimator
        skipped = set(estimator.fields) - set(estimator.saved) if estimator and estimator.samples(view, 0) is not None else set()
        data: dict[str, Any] = {
            "rounds": int(self.ints[1]),
            "fields": {f.name: getattr(view, f.name).tolist() for f in self.machine.layout.fields if not f.cache and f.name not in skipped},
        }
        if skipped and estimator:
            data["rewards"] = [estimator.samples(view, a).tolist() for a in range(view.arms)]  # type: ignore[union-attr]
        return data

    def restore(self, data: dict[str, Any]) -> None:
        """Take over what `dump` returned. Raises KeyError, TypeError or ValueError if it does not fit."""
        view = self.view
        fields = data["fields"]
        counts = np.array(fields["rewards"], dtype=np.int64)
        rebuild = self.machine.call("rebuild")
        for arm, rewards in enumerate(data.get("rewards", [])):
            for i, x in enumerate(rewards):
                # an estimator that forgets rewards is told the true count, one that holds all of them counts along
                count = i + 1 if len(rewards) == counts[arm] else int(counts[arm])
                while not rebuild(self.ints, self.floats, self.pool, arm, float(x), count):
                    self.grow()
        view = self.view
        expected = {f.name for f in self.machine.layout.fields if not f.cache}
        if self.machine.estimator and "rewards" in data:
            expected -= set(self.machine.estimator.fields) - set(self.machine.estimator.saved)
        if set(fields) != expected:
            raise ValueError("its fields are not those of the policy")
        for name, values in fields.items():
            target = getattr(view, name)
            array = np.array(values, dtype=target.dtype)
            if array.shape != target.shape:
                raise ValueError(f"the field {name!r} has the wrong length")
            target[:] = array
        self.ints[1] = int(data["rounds"])
        self.adjust(RECOUNT)
