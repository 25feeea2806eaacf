"""All policies, one algorithm per file. A new policy is one file, its test, and one line in `POLICIES`."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from ..errors import InvalidInput
from ..validation import did_you_mean
from .base import Policy
from .catoni_ucb import CatoniUCB
from .epsilon_greedy import EpsilonGreedy
from .exp3 import EXP3
from .med_e_ucb import MedEUCB
from .med_epsilon_greedy import MedEpsilonGreedy
from .rucb import RUCB
from .trimmed_epsilon_greedy import TrimmedEpsilonGreedy
from .trimmed_ucb import TrimmedUCB
from .ucb import UCB

POLICIES: dict[str, type[Policy]] = {
    policy.__name__: policy
    for policy in (
        MedEUCB,
        MedEpsilonGreedy,
        UCB,
        EpsilonGreedy,
        RUCB,
        EXP3,
        CatoniUCB,
        TrimmedUCB,
        TrimmedEpsilonGreedy,
    )
}


def make(name: str, parameters: dict[str, Any]) -> Policy:
    """Return the policy of that name with these parameters, or say what may have been meant."""
    if name not in POLICIES:
        raise InvalidInput(f"unknown policy {name!r}; expected one of {', '.join(POLICIES)}.{did_you_mean(name, POLICIES)}")
    known = list(POLICIES[name].__dataclass_fields__)  # type: ignore[attr-defined]
    for parameter in parameters:
        if parameter not in known:
            raise InvalidInput(f"{name} has no parameter {parameter!r}; it has {', '.join(known)}.{did_you_mean(parameter, known)}")
    for field in fields(POLICIES[name]):  # type: ignore[arg-type]
        if field.default is MISSING and field.default_factory is MISSING and field.name not in parameters:
            raise InvalidInput(f"{name} needs {field.name}, for example {name}({field.name}=0.2).")
    return POLICIES[name](**parameters)


def from_dict(data: dict[str, Any]) -> Policy:
    """Read back what `Policy.to_dict` wrote."""
    parameters = {name: tuple(value) if isinstance(value, list) else value for name, value in data["parameters"].items()}
    return make(data["policy"], parameters)


__all__ = ["POLICIES", "Policy", "from_dict", "make", *POLICIES]
