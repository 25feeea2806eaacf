"""A table of a page: text for people, the same rows as numbers for machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Table:
    """A table: headings, rows of text, and the same rows as numbers for machines."""

    title: str
    head: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]
    data: tuple[dict[str, Any], ...]
    note: str = ""
    words: bool = False
    """Whether the cells hold words rather than numbers."""
    marked: tuple[str, ...] = ()
    """The first cells of the rows to mark."""
    judgements: Mapping[str, str] = field(default_factory=dict)
    """Cells that are judgements, each with its colour: agree, disagree or cannot."""
