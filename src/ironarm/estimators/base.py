"""The contract of an estimator.

An estimator keeps what it needs of each arm's rewards in named arrays of a state `s`.
It knows nothing of policies.

* `fields` names the arrays: `"float[arms]"`, `"int[arms*2]"`, `"float[1]"`. They start
  at zero.
* `add(s, a, x)` takes the reward `x` of arm `a` and returns the arm's new estimate.
  `s.rewards[a]` already counts `x`. `x` may be infinite but is never NaN. The engine
  reads a NaN result (the mean of +inf and -inf) as -inf.
* `room(s, a)` says whether one more reward of arm `a` fits the memory that is held.
* `samples(s, a)` returns the rewards held, in an order from which `add` rebuilds the
  estimator's state; an agent saves these. None if `fields` hold the whole state; they
  are then saved as is.
* `saved` names the fields that are saved beside the samples. `forgets` names those that
  count the rewards which are not held. `any_order` says that how rewards lie in memory
  depends on how the state came about, and that nothing else depends on it.

Each estimator's docstring states the cost of an update.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..marks import hot
from .structures import pool
from .structures.pool import slot_has_room


class Estimator:
    """The base of all estimators; the module's docstring has the contract."""

    fields: ClassVar[dict[str, str]] = {}
    holds_rewards: ClassVar[bool] = False
    saved: ClassVar[tuple[str, ...]] = ()
    forgets: ClassVar[tuple[str, ...]] = ()
    any_order: ClassVar[bool] = False

    @staticmethod
    @hot
    def add(s, a, x):
        raise NotImplementedError

    @staticmethod
    @hot
    def room(s, a):
        return True

    @staticmethod
    def samples(s: Any, a: int) -> np.ndarray | None:
        return None


class HoldsRewards(Estimator):
    """The base of estimators that keep an arm's rewards in the pool.

    By default an arm has one slot, its rewards in the order of arrival.
    """

    fields = pool.fields(1)
    holds_rewards = True

    @staticmethod
    @hot
    def room(s, a):
        return slot_has_room(s, a, s.slot_size[a], s.slot_size[a] + 8)

    @staticmethod
    def samples(s: Any, a: int) -> np.ndarray:
        return pool.values(s, a)
