"""Where the named fields of a state lie: one array of integers, one of floats, and a
pool that grows.

Two flat arrays instead of twenty small ones because handing an array to compiled code
costs more than a round of most policies. `bind_source` writes the compiled function
that gives the pieces their names back.
"""

from __future__ import annotations

import re
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import PolicyFault

HEADER = 4  # ints[0] arms, ints[1] rounds so far, ints[2] live
ENGINE_FIELDS = {
    "n": "int[arms]",
    "rewards": "int[arms]",
    "estimate": "float[arms]",
    "unrewarded": "int[1]",
    "chance": "float[1]",
    "fresh": "cache int[1]",
    "owing": "int[arms]",
    "owing_arms": "int[1]",
}
_DECLARATION = re.compile(r"(cache )?(int|float)\[(?:(\d+)|arms(?:\*(\d+))?)\]")


@dataclass(frozen=True)
class Field:
    """One named array: `width` numbers for each arm, or `width` in all."""

    name: str
    kind: str
    per_arm: bool
    width: int
    cache: bool

    def length(self, arms: int) -> int:
        """Return how many numbers it holds for so many arms."""
        return self.width * arms if self.per_arm else self.width


class Layout:
    """The fields and constants of one kind of state."""

    def __init__(self, fields: dict[str, str], constants: tuple[str, ...]) -> None:
        self.constants = constants
        self.fields = tuple(
            _parse(name, text) for name, text in {**ENGINE_FIELDS, **fields}.items()
        )
        names = [f.name for f in self.fields] + ["arms", "live", "pool", *constants]
        twice = {name for name in names if names.count(name) > 1} | (
            fields.keys() & ENGINE_FIELDS.keys()
        )
        if twice:
            raise PolicyFault(
                f"the name {sorted(twice)[0]!r} is used twice in the policy's state; rename the "
                "field or the constant."
            )
        self._places: dict[int, list[tuple[str, int, int]]] = {}
        names = ["arms", "live", "pool", *constants, *(f.name for f in self.fields)]
        self.state_type: Any = namedtuple("State", names)  # type: ignore[misc]

    def allocate(self, arms: int, constants: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
        """Return fresh arrays (ints, floats) for so many arms."""
        ints = np.zeros(
            HEADER + sum(f.length(arms) for f in self.fields if f.kind == "int"), np.int64
        )
        floats = np.zeros(
            len(self.constants) + sum(f.length(arms) for f in self.fields if f.kind == "float")
        )
        ints[0] = arms
        for i, name in enumerate(self.constants):
            try:
                floats[i] = constants[name]
            except (TypeError, ValueError):
                raise PolicyFault(
                    f"the constant {name!r} must be a number, got {constants[name]!r}."
                ) from None
        return ints, floats

    def view(self, ints: np.ndarray, floats: np.ndarray, pool: np.ndarray) -> Any:
        """Return the state as Python sees it: a named tuple of views."""
        arms = int(ints[0])
        places = self._places.get(arms)
        if places is None:
            places = self._find_places(arms)
            # one number of arms is enough: a simulation asks for the same in every
            # trial
            self._places = {arms: places}
        parts = [(ints if kind == "int" else floats)[start:stop] for kind, start, stop in places]
        return self.state_type(
            arms, int(ints[2]), pool, *floats[: len(self.constants)].tolist(), *parts
        )

    def _find_places(self, arms: int) -> list[tuple[str, int, int]]:
        """Return for each field which array it is in, and from where to where."""
        at = {"int": HEADER, "float": len(self.constants)}
        places = []
        for f in self.fields:
            start = at[f.kind]
            at[f.kind] += f.length(arms)
            places.append((f.kind, start, at[f.kind]))
        return places

    def bind_source(self) -> str:
        """Return the source of the state's type and of `bind`, the compiled
        counterpart of `view`.
        """
        lines = ["class State(NamedTuple):"]
        lines += [f"    {name}: object" for name in self.state_type._fields]
        lines += [
            "",
            "@hot",
            "def bind(ints, floats, pool):",
            "    arms = ints[0]",
            f"    i = {HEADER}",
            f"    f = {len(self.constants)}",
        ]
        for field in self.fields:
            index, array = ("i", "ints") if field.kind == "int" else ("f", "floats")
            length = f"{field.width} * arms" if field.per_arm else str(field.width)
            lines += [
                f"    {field.name} = part({array}, {index}, {length})",
                f"    {index} += {length}",
            ]
        constants = [f"floats[{i}]" for i in range(len(self.constants))]
        lines.append(
            "    return "
            f"State({', '.join(['arms', 'ints[2]', 'pool', *constants, *(f.name for f in self.fields)])})"
        )
        return "\n".join(lines) + "\n"


def _parse(name: str, text: str) -> Field:
    match = _DECLARATION.fullmatch(text)
    if not match or not name.isidentifier():
        raise PolicyFault(
            f"the field {name!r} is declared as {text!r}; expected for example 'float[arms]', "
            "'int[1]' or 'cache float[arms*4]'."
        )
    cache, kind, fixed, per_arm = match.groups()
    return Field(name, kind, fixed is None, int(fixed or per_arm or 1), bool(cache))
