"""A setting of the arena from the spec of a router scenario.

The deployments are its arms. Rewards are to be maximised, so a latency becomes minus
its logarithm, and a score stays what it is. What corrupts readings is the arena's own:
its attacks, each at each rho.
"""

from __future__ import annotations

import math
from typing import Any

from ...errors import InvalidInput
from ..scenarios.routers import PATIENCE
from ..scenarios.spec import Spec, read_spec

REACH = 4
"""A range of so many standard deviations beyond the means holds nearly all rewards."""


def from_scenario(name: object) -> dict[str, Any]:
    """Return the fields of a setting that a scenario determines.

    >>> found = from_scenario("stalls")
    >>> found["bandit"]["name"], found["horizon"], found["known"]["sigma"]
    ('GaussianBandit', 2000, 0.3)
    """
    if not isinstance(name, str):
        raise InvalidInput(f"scenario must be the name of a router scenario, got {name!r}.")
    spec = read_spec(name)
    if any(one.joins > 1 or one.until < spec.requests for one in spec.deployments):
        raise InvalidInput(
            f"the scenario {name!r} has deployments that come or go, which the arena's arms "
            "cannot; `ironarm scenarios run` plays it."
        )
    rows = [[_reward(spec, one.at(moment)) for one in spec.deployments] for moment in spec.changes]
    values = [x for row in rows for x in row]
    bandit: dict[str, Any] = {"name": "GaussianBandit", "means": rows[0], "sigma": spec.spread}
    if len(rows) > 1:
        bandit.update(name="DriftingBandit", times=spec.changes, means=rows)
    late = {"mean": spec.late, "lost": spec.lost, "expire": PATIENCE}
    return {
        "title": spec.title,
        "bandit": bandit,
        "known": {
            "sigma": spec.spread,
            "low": min(values) - REACH * spec.spread,
            "high": max(values) + REACH * spec.spread,
            "gap": min(max(row) - x for row in rows for x in row if x < max(row)),
        },
        "horizon": spec.requests,
        **({"delay": late} if spec.late or spec.lost else {}),
    }


def _reward(spec: Spec, value: float) -> float:
    """Return a deployment's clean value as a mean reward."""
    x = math.log(value) if spec.law == "lognormal" else value
    return x if spec.goal == "max" else -x
