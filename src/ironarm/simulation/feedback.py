"""How rewards come, as files and command lines say it: from whom, and how late."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InvalidInput
from ..naming.by_name import make_by_name
from ..naming.kind import Kind
from .delay import Delay
from .sources import Sources

FIELDS = ("sources", "delay")
"""The fields of a run or a setting that `feedback_of` reads."""


def feedback_of(what: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sources and the delay that a table describes, None where it does not.

    >>> feedback_of("a run", {"sources": {"count": 400, "active": 5}, "rho": 0.1})
    {'sources': Sources(count=400, zipf=0.0, active=5.0), 'delay': None}
    """
    made: dict[str, Any] = {}
    kinds: dict[str, type] = {"sources": Sources, "delay": Delay}
    for name, kind in kinds.items():
        data = table.get(name)
        if data is not None and not isinstance(data, dict):
            raise InvalidInput(
                f"{what}: {name} must be a table, for example sources = {{ count = 400 }} or "
                f"delay = {{ mean = 50 }}, got {data!r}."
            )
        one = Kind(name, kind, {name: kind})
        made[name] = None if data is None else make_by_name(one, name, data)
    return made
