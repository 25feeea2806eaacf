"""Records: named numbers and arrays in one block of memory.

A policy's state, what a trial plays with and what an attacker knows are records. Python
sees a record as a named tuple of NumPy views. Compiled code gets its address, one whole
number: handing over twenty arrays would cost more than a round of most policies. There,
`s.n` computes where the array lies and makes nothing (`record_type.py`).

A block consists of words of eight bytes. Its first word is the number of arms.
"""

from __future__ import annotations

import hashlib
import keyword
import re
from collections import namedtuple
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import PolicyFault

DTYPES = {
    "int": np.int64,
    "float": np.float64,
    "word": np.uint64,
    "byte": np.uint8,
    "single": np.float32,
}
_DECLARATION = re.compile(r"(cache )?(int|float)\[(?:arms|(arms\*)?(\w+))\]")
MOST_NUMBERS = 2**32
"""No field holds more numbers for each arm, or in all."""


@dataclass(frozen=True)
class Field:
    """What has a name in a record.

    shape "number": one number, the same while compiled code runs unless `changes`.
    "here": an array inside the block, `width` numbers for each arm, side by side, or in
    all.
    "elsewhere": an array outside, by address and length. A cache can be computed again,
    and is not saved.
    """

    name: str
    kind: str
    shape: str = "number"
    per_arm: bool = False
    width: int = 1
    cache: bool = False
    changes: bool = False

    @property
    def words(self) -> tuple[int, int]:
        """Words it takes in the block: for itself, and for each arm."""
        if self.shape == "here" and self.per_arm:
            return 0, self.width
        return {"number": 1, "here": self.width, "elsewhere": 2}[self.shape], 0

    def length(self, arms: int) -> int:
        """Return how many numbers an array inside the block holds."""
        return self.width * arms if self.per_arm else self.width


ARMS = Field("arms", "int")


def is_field_name(name: str) -> bool:
    """Return whether a record can have a field of that name."""
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")


def size_names(texts: Iterable[str]) -> set[str]:
    """Return the names of the constants that declared sizes depend on.

    >>> sorted(size_names(["float[arms*window]", "int[2]", "int[arms]"]))
    ['window']
    """
    found = [match[4] for text in texts if (match := _DECLARATION.fullmatch(str(text)))]
    return {name for name in found if name and not name.isdigit()}


def declared(name: str, text: str, sizes: Mapping[str, float] | None = None) -> Field:
    """Return the field that a policy or an estimator declares, such as "float[arms]".

    A size may be one of the policy's constants, here in `sizes`.

    >>> declared("window", "cache float[arms*4]").width
    4
    >>> declared("recent", "float[arms*window]", {"window": 50.0}).width
    50
    """
    match = _DECLARATION.fullmatch(text) if isinstance(text, str) else None
    if not match or not is_field_name(name):
        raise PolicyFault(
            f"the field {name!r} is declared as {text!r}; expected for example 'float[arms]', "
            "'int[1]', 'cache float[arms*4]' or 'float[arms*window]' with a parameter window."
        )
    cache, kind, times_arms, size = match.groups()
    return Field(
        name,
        kind,
        "here",
        size is None or times_arms is not None,
        1 if size is None else _whole_size(name, text, size, sizes or {}),
        bool(cache),
    )


def _whole_size(field: str, text: str, size: str, sizes: Mapping[str, float]) -> int:
    if size.isdigit():
        return int(size)
    if size not in sizes:
        raise PolicyFault(
            f"the field {field!r} is declared as {text!r}, but the policy has no constant "
            f"{size!r}; make it a parameter, or return it from `constants`."
        )
    value = sizes[size]
    if not (1 <= value <= MOST_NUMBERS and value == int(value)):
        raise PolicyFault(
            f"the field {field!r} is declared as {text!r}, so {size} must be a whole number of "
            f"at least 1, got {value:g}."
        )
    return int(value)


class Layout:
    """Where the fields of one kind of record lie."""

    def __init__(self, title: str, fields: Iterable[Field]) -> None:
        self.title = title
        self.fields = {field.name: field for field in (ARMS, *fields)}
        self.offsets: dict[str, tuple[int, int]] = {}
        fixed = per_arm = 0
        # those of fixed length first: where they lie does not depend on the arms
        for field in sorted(self.fields.values(), key=lambda field: field.words[1] > 0):
            self.offsets[field.name] = fixed, per_arm
            more_fixed, more_per_arm = field.words
            fixed, per_arm = fixed + more_fixed, per_arm + more_per_arm
        self.words = fixed, per_arm
        self.view_type: Any = namedtuple(title, self.fields)  # type: ignore[misc]

    @cached_property
    def key(self) -> str:
        """A hash of everything that decides how compiled code reads a record."""
        text = repr((list(self.fields.values()), self.offsets))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def offset(self, name: str, arms: int) -> int:
        """Return the word at which a field begins."""
        fixed, per_arm = self.offsets[name]
        return fixed + per_arm * arms


class Record:
    """A block of memory with named contents.

    `address` is what compiled code gets. Arrays elsewhere must be kept alive, so the
    record holds them, and `point` replaces one by another.
    """

    def __init__(self, layout: Layout, arms: int, **contents: Any) -> None:
        fixed, per_arm = layout.words
        self.layout, self.arms = layout, arms
        self.words = np.zeros(fixed + per_arm * arms, np.int64)
        self.address = int(self.words.ctypes.data)
        self._floats = self.words.view(np.float64)
        self._elsewhere: dict[str, np.ndarray] = {}
        self._view: Any = None
        for name, value in {"arms": arms, **contents}.items():
            if layout.fields[name].shape == "elsewhere":
                self.point(name, value)
            else:
                self.put(name, value)

    def copy(self) -> Record:
        """Return the same contents in memory of its own, arrays elsewhere included."""
        twin = Record(self.layout, self.arms)
        twin.words[:] = self.words
        for name, array in self._elsewhere.items():
            twin.point(name, array.copy())
        return twin

    def put(self, name: str, value: float) -> None:
        """Give a number its value; not while compiled code runs."""
        target = self._floats if self.layout.fields[name].kind == "float" else self.words
        target[self.layout.offset(name, self.arms)] = value
        if self._view is not None:
            self._view = self._view._replace(**{name: value})

    def point(self, name: str, array: np.ndarray) -> None:
        """Let a field stand for an array that lies elsewhere."""
        assert array.flags.c_contiguous
        assert array.dtype == DTYPES[self.layout.fields[name].kind]
        at = self.layout.offset(name, self.arms)
        self.words[at], self.words[at + 1] = array.ctypes.data, array.size
        self._elsewhere[name] = array
        if self._view is not None:
            self._view = self._view._replace(**{name: array})

    @property
    def view(self) -> Any:
        """The record as Python sees it; ask again after `point`."""
        if self._view is None:
            self._view = self.layout.view_type(*map(self._part, self.layout.fields.values()))
        return self._view

    def _part(self, field: Field) -> Any:
        if field.shape == "elsewhere":
            return self._elsewhere[field.name]
        at = self.layout.offset(field.name, self.arms)
        source = self.words if field.kind == "int" else self.words.view(DTYPES[field.kind])
        if field.shape == "number":
            return source[at].item()
        return source[at : at + field.length(self.arms)]
