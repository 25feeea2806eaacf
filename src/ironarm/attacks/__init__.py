"""All attacks, one adversary per file. A new attack is one file, its test, and one line in `ATTACKS`."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from ..errors import InvalidInput
from ..validation import did_you_mean
from .base import Attack
from .constant import Constant
from .custom import CustomAttack
from .front_loaded import FrontLoaded
from .infinite import Infinite
from .median_chaser import MedianChaser
from .mimic import Mimic
from .none import NoAttack
from .opposite_uniform import OppositeUniform

ATTACKS: dict[str, type[Attack]] = {
    attack.__name__: attack
    for attack in (
        OppositeUniform,
        Infinite,
        Constant,
        Mimic,
        FrontLoaded,
        MedianChaser,
        NoAttack,
    )
}


def make(name: str, parameters: dict[str, Any]) -> Attack:
    """Return the attack of that name with these parameters, or say what may have been meant."""
    if name not in ATTACKS:
        raise InvalidInput(f"unknown attack {name!r}; expected one of {', '.join(ATTACKS)}.{did_you_mean(name, ATTACKS)}")
    known = list(ATTACKS[name].__dataclass_fields__)  # type: ignore[attr-defined]
    for parameter in parameters:
        if parameter not in known:
            raise InvalidInput(f"{name} has no parameter {parameter!r}; it has {', '.join(known)}.{did_you_mean(parameter, known)}")
    for field in fields(ATTACKS[name]):  # type: ignore[arg-type]
        if field.default is MISSING and field.default_factory is MISSING and field.name not in parameters:
            raise InvalidInput(f"{name} needs {field.name}, for example {name}({field.name}=0.2).")
    return ATTACKS[name](**parameters)


__all__ = ["ATTACKS", "Attack", "CustomAttack", "make", *ATTACKS]
