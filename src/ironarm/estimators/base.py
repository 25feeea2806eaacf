"""What every estimator promises.

An estimator keeps, for each arm, what it needs of the rewards seen, in named arrays of
a state `s`. It knows nothing of policies.

* `fields` names the arrays: `"float[arms]"`, `"int[arms*2]"`, `"float[1]"`. They start
  at zero.
* `add(s, a, x)` takes the reward `x` of arm `a` and returns the arm's new estimate.
  `s.rewards[a]` already counts `x`. `x` may be infinite, never NaN. A NaN result (the
  mean of +inf and -inf) is read as -inf by the engine.
* `room(s, a)` says whether one more reward of arm `a` fits the memory held; an
  estimator that holds rewards asks `ironarm.estimators.structures.pool` for more.
* `samples(s, a)` returns the rewards held, in an order from which `add` rebuilds what
  the estimator knows, and an agent saves those. None where `fields` say everything:
  then `fields` are saved as they are.
* `saved` names fields that are saved beside the samples, and `forgets` says that some
  rewards are only counted (in `s.below` and `s.above`).

The cost per update is stated in each estimator's docstring.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..marks import hot


class Estimator:
    """The base of all estimators; see the module's docstring for the contract."""

    fields: ClassVar[dict[str, str]] = {}
    holds_rewards: ClassVar[bool] = False
    saved: ClassVar[tuple[str, ...]] = ()
    forgets: ClassVar[bool] = False

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
