"""What `ironarm policies`, `ironarm attacks` and `ironarm bandits` share."""

from __future__ import annotations

import argparse
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import InvalidInput
from ..files import json_ready
from ..naming import own_code
from ..naming.by_name import require
from ..naming.kind import Kind
from ..policy import short_value
from ..show.text import text_table, wrapped
from .common import describe


@dataclass(frozen=True)
class Listed:
    """A policy, an attack or a bandit, as a list shows it."""

    name: str
    origin: str
    parameters: dict[str, str | None]
    needs: dict[str, str] | None
    remarks: tuple[str, ...]
    summary: str
    use_when: str = ""

    @classmethod
    def of(cls, kind: Any, name: str, origin: str) -> Listed:
        """Describe a class."""
        doc = inspect.getdoc(kind) or ""
        return cls(
            name, origin, parameters_of(kind), getattr(kind, "needs", None), _remarks(kind),
            " ".join(doc.partition("\n\n")[0].split()), getattr(kind, "use_when", ""),
        )  # fmt: skip

    def row(self, with_needs: bool) -> tuple[str, ...]:
        """Return the cells of a table's row."""
        given = ", ".join(
            name if default is None else f"{name}={default}"
            for name, default in self.parameters.items()
        )
        notes = ", ".join(self.remarks)
        if not with_needs:
            return self.name, given or "none", notes
        return self.name, given or "none", "; ".join(filter(None, (needs_text(self.needs), notes)))


def parameters_of(maker: Callable[..., Any]) -> dict[str, str | None]:
    """Return the parameters with their defaults as text; None for those without one.

    >>> import ironarm as ia
    >>> parameters_of(ia.CountIMED)
    {'epsilon': None, 'sigma': '1', 'shift': 'True'}
    """
    return {
        name: None
        if parameter.default is parameter.empty
        else "..."
        if repr(parameter.default).startswith("<")  # a dataclass's factory
        else short_value(parameter.default)
        for name, parameter in inspect.signature(maker).parameters.items()
    }


def needs_text(needs: dict[str, str] | None) -> str:
    """Return what the user of a policy must know, with the parameter it sets.

    >>> needs_text({"epsilon": "bound on rho", "sigma": "sigma"}), needs_text({})
    ('bound on rho (epsilon), sigma', 'nothing')
    """
    if needs is None:
        return "not stated"
    return (
        ", ".join(what if what == name else f"{what} ({name})" for name, what in needs.items())
        or "nothing"
    )


def _remarks(kind: Any) -> tuple[str, ...]:
    """Return what a user must know beside the parameters."""
    remarks = []
    suited = getattr(kind, "for_rho", None)
    if suited is not None:
        words = {"rho": "rho", "gap": "smallest gap"}
        asked = [word for name, word in words.items() if name in parameters_of(suited)]
        remarks.append(f"for_rho: {', '.join(asked)}")
    if getattr(kind, "experimental", False):
        remarks.append("experimental")
    if not getattr(kind, "within_model", True):
        remarks.append("outside the model")
    return tuple(remarks)


@dataclass(frozen=True)
class Listing:
    """A command that lists a kind of thing: policies, attacks or bandits."""

    kind: Kind[Any]
    examples: str
    classes: Mapping[str, type] | None = None
    """What is listed; by default all that text can name."""
    after: Callable[[], str] | None = None
    """What is printed below the table of all."""
    needs: bool = False
    """Whether the table says what one must know."""

    def add(self, parser: argparse.ArgumentParser) -> None:
        """Describe the options."""
        describe(
            parser,
            (
                f"List the {self.kind.plural}: built in, installed, or in a Python file, which is "
                "then run. With a name, print its page."
            ),
            self.examples,
        )
        parser.add_argument(
            "name", nargs="?", metavar="NAME", help="a name, mine.py, or mine.py:MyClass"
        )
        parser.add_argument("--json", action="store_true", help="print JSON instead of text")

    def run(self, options: argparse.Namespace) -> int:
        """Print the list, or one page."""
        name = options.name
        with own_code.allowed():
            if name is None or name.endswith(".py"):
                entries = list(self._everything() if name is None else self._in_file(name))
                print(_as_json(entries) if options.json else self._table(entries))
                if name is None and self.after is not None and not options.json:
                    print(self.after())
                return 0
            found = require(replace(self.kind, table=self._built_in), name)
        entry = self._listed(found, name, found.__module__)
        print(_as_json(entry) if options.json else _page(entry, found))
        return 0

    @property
    def _built_in(self) -> Mapping[str, Any]:
        return self.kind.table if self.classes is None else self.classes

    def _listed(self, kind: Any, name: str, origin: str) -> Listed:
        entry = Listed.of(kind, name, origin)
        if name in self._built_in and name not in self.kind.table:
            return replace(entry, remarks=(*entry.remarks, "for Python only"))
        return entry

    def _everything(self) -> Iterator[Listed]:
        known = self._built_in
        for name, kind in known.items():
            yield self._listed(kind, name, "ironarm")
        for point in own_code.installed(self.kind):
            if point.name in known:
                continue  # text with that name means the built-in one
            origin = point.dist.name if point.dist else point.value
            try:
                entry = Listed.of(own_code.find(self.kind, point.name), point.name, origin)
            except InvalidInput as error:
                entry = Listed(point.name, origin, {}, None, (str(error),), "")
            yield entry

    def _in_file(self, path: str) -> Iterator[Listed]:
        module = own_code.load_file(path)
        names = own_code.names_in(self.kind, module)
        if not names:
            raise InvalidInput(f"{path} defines no {self.kind.word}.")
        for name in names:
            yield Listed.of(getattr(module, name), f"{path}:{name}", path)

    def _table(self, entries: list[Listed]) -> str:
        head = (self.kind.word, "parameters", "needs to know" if self.needs else "remarks")
        body = [
            (*row[:2], f"{row[2]}; from {entry.origin}".removeprefix("; "))
            if entry.origin not in ("ironarm", entry.name.partition(":")[0])
            else row
            for entry, row in ((entry, entry.row(self.needs)) for entry in entries)
        ]
        note = (
            "needs to know: what you must know about the rewards or the attack to set the "
            "parameters; the parameter stands in brackets. for_rho: what you must also know for "
            "Name.for_rho(...), which chooses parameters for a rho.\n"
        )
        if any(entry.needs is None for entry in entries):
            note = note.replace(
                ".\n", '. A class states what it needs: needs = {"b": "bound on rho"}.\n'
            )
        return "\n".join(
            [
                text_table(head, body, words=(1, 2)),
                "",
                *([wrapped(note)] if self.needs else []),
                f"'ironarm {self.kind.plural} NAME' prints a page.",
            ]
        )


def _page(entry: Listed, kind: Any) -> str:
    """Return all that is known about a class, as text."""
    name, given, *_ = entry.row(False)
    shown = "" if given == "none" else given
    lines = [wrapped(f"{name}({shown})", "", "    ")]
    if hasattr(kind, "needs"):
        lines.append(wrapped(f"needs to know: {needs_text(entry.needs)}", "", "    "))
    if entry.use_when:
        lines.append(wrapped(f"use when: {entry.use_when}", "", "    "))
    lines += [wrapped(remark, "", "    ") for remark in entry.remarks]
    return "\n".join([*lines, "", inspect.getdoc(kind) or "It has no docstring."])


def _as_json(shown: Listed | list[Listed]) -> str:
    return json.dumps(json_ready(shown), indent=2)
