"""How a policy learns: a reward is taken, or a decision is cancelled."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import hot

# filled in by `machine.py`
update: Any = None
recount: Any = None
add: Any = None
estimate_reward: Any = None


@hot
def no_estimate(s, a, x):
    """The policy keeps its own estimates."""


@hot
def estimate_by_adding(s, a, x):
    """Let the estimator add a reward; an estimate of NaN counts as -inf."""
    estimate = add(s, a, x)
    s.estimate[a] = estimate if estimate == estimate else -np.inf


@hot
def take(s, a, x):
    """Give the reward x to arm a."""
    if s.rewards[a] == 0:
        s.unrewarded[0] -= 1
    s.rewards[a] += 1
    estimate_reward(s, a, x)
    update(s, a, x)


@hot
def cancel(s, a):
    """An open decision of arm a will never be rewarded."""
    s.n[a] -= 1
    s.fresh[0] = 0
    recount(s, a)
