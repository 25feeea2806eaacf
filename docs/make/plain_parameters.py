"""Let mkdocstrings read our docstrings, whose parameters have words and no types.

NumPy's format takes what follows the colon in `rho : the corrupt share` for a type.
Types stand in the signature, so the words are moved to where that format has them.
Pages that a docstring names become links. Defaults that are constants of a module are
shown as their values. `ia.simulate` is the function, not the module of that name.
"""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import griffe

SECTION = re.compile(r"^(Parameters|Attributes)\n-+\n", re.MULTILINE)
PARAMETERS = re.compile(r"^Parameters\n-+\n(?:\S.* : .*\n?|[ \t]+\S.*\n?)+", re.MULTILINE)
TOGETHER = re.compile(r"^([*\w]+(?:, [*\w]+)+)( : .*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
ENTRY = re.compile(r"^(\w[\w, *]*?) : (.*)$")
PAGE = re.compile(r"(?<![`/\w])docs/([a-z-]+\.md)\b")
CONSTANT = re.compile(r"[A-Z][A-Z_]+")
NAVIGATION = Path(__file__).resolve().parent.parent / "navigation.toml"


def one_by_one(text: str) -> str:
    r"""Return a docstring with an entry for each parameter.

    Where several share one, mkdocstrings gives all of them the first one's type.

    >>> print(one_by_one("Parameters\n----------\nx, y : numbers,\n    both\n"))
    Parameters
    ----------
    x : numbers,
        both
    y : numbers,
        both
    <BLANKLINE>
    """

    def apart(found: re.Match[str]) -> str:
        return "\n".join(name + found[2] for name in found[1].split(", "))

    return PARAMETERS.sub(lambda found: TOGETHER.sub(apart, found[0]), text)


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


def with_links(text: str) -> str:
    """Return a docstring in which names of pages are links, as the reference has them.

    >>> with_links("See docs/live.md.")
    'See [Use an agent](../live.md).'
    """
    titles = titles_of(tomllib.loads(NAVIGATION.read_text()))
    return PAGE.sub(lambda found: f"[{titles.get(found[1], found[1])}](../{found[1]})", text)


def titles_of(tree: dict[str, Any]) -> dict[str, str]:
    """Return the titles that a navigation gives its pages.

    >>> titles_of({"A": "a.md", "D": {"E": "e.md"}})
    {'a.md': 'A', 'e.md': 'E'}
    """
    found = {}
    for title, value in tree.items():
        found.update({value: title} if isinstance(value, str) else titles_of(value))
    return found


class PlainParameters(griffe.Extension):
    """Rewrite what griffe has read."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object, if it has one."""
        if obj.docstring is not None:
            text = with_examples(with_words_below(one_by_one(obj.docstring.value)))
            obj.docstring.value = with_links(text)

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Show the values of constants as defaults, and what a client gives back."""
        if steps := re.fullmatch(r"Steps\[(.*)\]", str(func.returns)):
            func.returns = "RemoteAgent" if steps[1] == "A" else steps[1]
        for parameter in func.parameters:
            name = str(parameter.default)
            if CONSTANT.fullmatch(name):
                value = getattr(import_module(func.module.path), name)
                parameter.default = f"{value:_}" if isinstance(value, int | float) else name

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Let public names lead to functions whose modules have the same name."""
        for name, member in list(pkg.members.items()):
            if isinstance(member, griffe.Alias):
                inside = member.target_path.removeprefix(f"{pkg.path}.")
                target = pkg.members.get(inside.partition(".")[0]) and pkg[inside]
                if target and not target.is_alias and target.is_module and name in target.members:
                    pkg.set_member(name, griffe.Alias(name, f"{target.path}.{name}", parent=pkg))
