"""The state of one policy at work, and how it is resized, saved and restored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..estimators import Estimator
from ..policy import Policy
from .machine import machine_for

CANCELLED, JOINED, SETTLE, RECOUNT, OWE = range(5)


class State:
    """The state of one policy at work: arrays, and the machine that moves them."""

    def __init__(
        self,
        policy: Policy,
        arms: int,
        horizon: int | None = None,
        live: bool = False,
        estimator: type[Estimator] | None = None,
        pool: np.ndarray | None = None,
    ) -> None:
        constants = policy.constants(arms, horizon)
        self.machine = machine_for(policy, constants, arms, estimator)
        self.ints, self.floats = self.machine.layout.allocate(arms, constants)
        self.pool = np.empty(0) if pool is None else pool
        self._view: Any = None
        # a simulation's pool serves the next trial too; an agent's stays
        self._slack = 1.125 if live else 2.0
        self.ints[2] = live
        self.view.unrewarded[0] = arms
        if self.machine.estimator:
            self.view.estimate[:] = -np.inf
        self._fresh = None if live else (self.ints.copy(), self.floats.copy())

    def renew(self) -> None:
        """Forget everything, for the next trial.

        The pool stays and its slots keep their places: nothing needs to be moved while
        they fill again.
        """
        assert self._fresh is not None
        places = (
            ("slot_start", "slot_room", "pool_used")
            if self.machine.estimator and self.machine.estimator.holds_rewards
            else ()
        )
        kept = [getattr(self.view, name).copy() for name in places]
        self.ints[:], self.floats[:] = self._fresh
        for name, values in zip(places, kept, strict=True):
            getattr(self.view, name)[:] = values

    @property
    def view(self) -> Any:
        """The state as named arrays; get it anew after the pool has grown."""
        if self._view is None or self._view.pool is not self.pool:
            self._view = self.machine.layout.view(self.ints, self.floats, self.pool)
        return self._view

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
        """Return a state for other arms: each is one of the present arms, by number,
        or None for a newcomer. This state stays as it is.
        """
        new = State(
            policy,
            len(keep),
            live=bool(self.ints[2]),
            estimator=self.machine.estimator,
            pool=self.pool,
        )
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
                    target[to * field.width : (to + 1) * field.width] = source[
                        arm * field.width : (arm + 1) * field.width
                    ]
        new_view.unrewarded[0] = int((new_view.rewards == 0).sum())
        for to, arm in enumerate(keep):
            if arm is None:
                new.adjust(JOINED, to)
        new.adjust(RECOUNT)
        new.adjust(OWE)
        return new

    def dump(self) -> dict[str, Any]:
        """Return everything that decides future choices as plain data: fields by
        name, and the rewards that the estimator holds.
        """
        view, estimator = self.view, self.machine.estimator
        skipped = self._rebuilt_fields()
        for field in self.machine.layout.fields:
            # forgotten here as they will be after a load, so that both go on alike to
            # the last bit
            if field.cache:
                getattr(view, field.name)[:] = 0
        self.adjust(RECOUNT)
        data: dict[str, Any] = {
            "rounds": int(self.ints[1]),
            "fields": {
                f.name: getattr(view, f.name).tolist()
                for f in self.machine.layout.fields
                if not f.cache and f.name not in skipped
            },
        }
        if skipped and estimator:
            data["rewards"] = [estimator.samples(view, a).tolist() for a in range(view.arms)]  # type: ignore[union-attr]
        return data

    def _rebuilt_fields(self) -> set[str]:
        """Return the estimator's fields that are not saved but rebuilt from the
        rewards it holds.
        """
        estimator = self.machine.estimator
        return (
            set(estimator.fields) - set(estimator.saved)
            if estimator and estimator.samples(self.view, 0) is not None
            else set()
        )

    def restore(self, data: dict[str, Any]) -> None:
        """Take over what `dump` returned, into a fresh state.

        Raises KeyError, TypeError or ValueError if it does not fit.

        Everything that compiled code will use as a count or an index is checked first:
        compiled code does not look whether an index is in bounds.
        """
        estimator = self.machine.estimator
        rebuilt = self._rebuilt_fields()
        fields = _checked_fields(
            data["fields"],
            {
                f.name: getattr(self.view, f.name)
                for f in self.machine.layout.fields
                if not f.cache and f.name not in rebuilt
            },
        )
        counts = fields["rewards"]
        if estimator and rebuilt:
            held = [[float(x) for x in rewards] for rewards in data["rewards"]]
            forgotten = (
                fields["below"] + fields["above"] if estimator.forgets else np.zeros_like(counts)
            )
            if [len(rewards) for rewards in held] != (counts - forgotten).tolist() or any(
                x != x for rewards in held for x in rewards
            ):
                raise ValueError("its rewards do not fit their counts")
            rebuild = self.machine.call("rebuild")
            for arm, rewards in enumerate(held):
                for i, x in enumerate(rewards):
                    # an estimator that forgets is told the final count, one that holds
                    # everything counts along
                    while not rebuild(
                        self.ints,
                        self.floats,
                        self.pool,
                        arm,
                        x,
                        int(counts[arm]) if estimator.forgets else i + 1,
                    ):
                        self.grow()
        view = self.view
        for name, values in fields.items():
            getattr(view, name)[:] = values
        view.unrewarded[0] = int((counts == 0).sum())
        view.owing_arms[0] = int((view.owing > 0).sum())
        self.ints[1] = _count(data["rounds"])
        self.adjust(RECOUNT)


def _checked_fields(saved: dict[str, Any], targets: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the saved fields as arrays of the right kind and length; counts must be
    counts.
    """
    if set(saved) != set(targets):
        raise ValueError("its fields are not those of the policy")
    fields = {}
    for name, target in targets.items():
        values = np.array(saved[name])
        if values.shape != target.shape or (target.dtype == np.int64 and values.dtype != np.int64):
            raise ValueError(f"the field {name!r} is not what it should be")
        fields[name] = values.astype(target.dtype)
    for name in ("n", "rewards", "owing", "below", "above", "lost"):
        if name in fields and fields[name].min() < 0:
            raise ValueError(f"the field {name!r} is negative")
    if (fields["n"] < fields["rewards"]).any():
        raise ValueError("it has more rewards than decisions")
    return fields


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**62:
        raise ValueError(f"{value!r} is not a count")
    return value
