"""Let mkdocstrings read our docstrings, whose parameters have words and no types.

NumPy's format takes what follows the colon in `rho : the corrupt share` for a type.
Types stand in the signature, so the words are moved to where that format has them.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

SECTION = re.compile(r"^(Parameters|Attributes)\n-+\n", re.MULTILINE)
ENTRY = re.compile(r"^(\w[\w, *]*?) : (.*)$")


def with_words_below(text: str) -> str:
    r"""Return a docstring with the words about a parameter in lines of their own.

    >>> print(
    ...     with_words_below(
    ...         "Sum.\n\nParameters\n----------\nx : a number, or\n    two"
    ...     )
    ... )
    Sum.
    <BLANKLINE>
    Parameters
    ----------
    x
        a number, or
        two
    """
    lines = []
    inside = False
    for line in SECTION.sub(lambda found: found[0].replace("\n-", "\n\0-", 1), text).split("\n"):
        if line.startswith("\0"):
            inside = True
            line = line[1:]
        elif inside and line and not line.startswith(" ") and not ENTRY.match(line):
            inside = False
        entry = ENTRY.match(line) if inside else None
        lines += [entry[1], f"    {entry[2]}"] if entry else [line]
    return "\n".join(lines)


def with_examples(text: str) -> str:
    r"""Return a docstring whose examples have a heading, so that they become code.

    >>> with_examples("Sum.\n\n>>> 1 + 1\n2")
    'Sum.\n\nExamples\n--------\n>>> 1 + 1\n2'
    """
    if "Examples\n--" in text:
        return text
    return re.sub(r"^>>> ", "Examples\n--------\n>>> ", text, count=1, flags=re.MULTILINE)


class PlainParameters(griffe.Extension):
    """Rewrite each docstring when griffe has read it."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object, if it has one."""
        if obj.docstring is not None:
            obj.docstring.value = with_examples(with_words_below(obj.docstring.value))
