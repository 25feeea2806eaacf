"""Specs of scenarios: TOML files that say which deployments there are, and what breaks.

What is read is data, never run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import InvalidInput
from ...naming.toml_fields import distinct, fields, file_name, read_toml, tables, text, yes_or_no
from ...validation import choice, did_you_mean, number, whole

HOME = Path(__file__).parent
WHOM = ("any", "best", "others")


@dataclass(frozen=True)
class Deployment:
    """One option of a router: when it is there, and its clean value over time."""

    name: str
    values: tuple[tuple[int, float], ...]
    """Pairs: from this request on, this median or mean. The first is when it joins."""
    until: int

    @property
    def joins(self) -> int:
        """The first request that it can serve."""
        return self.values[0][0]

    def at(self, request: int) -> float:
        """Return its clean value at a request; before it joins, its first one."""
        value = self.values[0][1]
        for begins, later in self.values:
            if begins <= request:
                value = later
        return value


@dataclass(frozen=True)
class Corruption:
    """What is done to a share of the requests' outcomes."""

    share: float
    on: str | tuple[str, ...]
    begins: int
    until: int
    reading: tuple[float, float] | None
    """The reading is uniform between these; None: the outcome never comes."""
    contrary: bool
    """Only outcomes that contradict it: good ones of the best, bad ones of others."""


@dataclass(frozen=True)
class Spec:
    """Everything that the file of a scenario says."""

    name: str
    title: str
    about: str
    goal: str
    unit: str
    law: str
    spread: float
    requests: int
    deployments: tuple[Deployment, ...]
    corrupt: tuple[Corruption, ...]
    late: float
    lost: float

    @property
    def names(self) -> list[str]:
        """The deployments' names, in order."""
        return [one.name for one in self.deployments]

    def present(self, request: int) -> list[int]:
        """Return the numbers of the deployments that can serve a request."""
        return [k for k, one in enumerate(self.deployments) if one.joins <= request <= one.until]

    def best(self, request: int) -> int:
        """Return the number of the deployment with the best clean value."""
        sign = 1.0 if self.goal == "max" else -1.0
        return max(self.present(request), key=lambda k: sign * self.deployments[k].at(request))

    @property
    def changes(self) -> list[int]:
        """The requests at which a clean value changes or a deployment comes or goes."""
        moments = {1}
        for one in self.deployments:
            moments |= {begins for begins, _ in one.values} | {one.until + 1}
        return sorted(moment for moment in moments if moment <= self.requests)


def shipped() -> dict[str, Path]:
    """Return the specs that come with ironarm, by name.

    >>> "stalls" in shipped()
    True
    """
    return {path.stem: path for path in sorted(HOME.glob("*.toml"))}


def read_spec(where: str | Path) -> Spec:
    """Return one of ironarm's scenarios by its name, or that of a TOML file."""
    known = shipped()
    if str(where) not in known and Path(where).suffix != ".toml":
        raise InvalidInput(
            f"there is no scenario {str(where)!r}; expected one of {', '.join(known)}, or a file "
            f"that ends in .toml or .jsonl.{did_you_mean(str(where), known)}"
        )
    path = known.get(str(where), Path(where))
    data = read_toml(path)
    try:
        return _spec(path.stem, data)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None


def _spec(name: str, data: dict[str, Any]) -> Spec:
    needed = ("title", "about", "goal", "unit", "law", "spread", "requests", "deployments")
    fields("a scenario", data, needed, ("corrupt", "late"))
    requests = whole("requests", data["requests"], at_least=2, below=10**6)
    law = choice("law", data["law"], ["lognormal", "normal"])
    deployments = tuple(
        _deployment(table, requests, law) for table in tables("deployments", data["deployments"])
    )
    names = [one.name for one in deployments]
    distinct("deployment", names)
    late = fields("late", data.get("late", {}), (), ("mean", "lost"))
    spec = Spec(
        name=file_name("a scenario's name", name),
        title=text("title", data["title"]),
        about=text("about", data["about"]),
        goal=choice("goal", data["goal"], ["min", "max"]),
        unit=text("unit", data["unit"]),
        law=law,
        spread=number("spread", data["spread"], above=0),
        requests=requests,
        deployments=deployments,
        corrupt=tuple(
            _corruption(table, requests, names)
            for table in tables("corrupt", data.get("corrupt", []))
        ),
        late=number("late.mean", late.get("mean", 0), at_least=0, at_most=requests),
        lost=number("late.lost", late.get("lost", 0), at_least=0, below=1),
    )
    for moment in spec.changes:
        if len(spec.present(moment)) < 2:
            raise InvalidInput(
                f"at request {moment} there are fewer than two deployments, so there is nothing "
                "to choose."
            )
    return spec


def _deployment(table: dict[str, Any], requests: int, law: str) -> Deployment:
    fields("a deployment", table, ("name", "value"), ("from", "until", "changes"))
    name = text("a deployment's name", table["name"])
    lowest = {"above": 0.0} if law == "lognormal" else {}
    begins = whole("from", table.get("from", 1), at_least=1, below=requests + 1)
    until = whole("until", table.get("until", requests), at_least=begins, below=requests + 1)
    values = [(begins, number("value", table["value"], **lowest))]
    for change in tables("changes", table.get("changes", [])):
        fields(f"a change of the deployment {name!r}", change, ("from", "value"))
        moment = whole("from", change["from"], at_least=values[-1][0] + 1, below=until + 1)
        values.append((moment, number("value", change["value"], **lowest)))
    return Deployment(name, tuple(values), until)


def _corruption(table: Mapping[str, Any], requests: int, names: list[str]) -> Corruption:
    fields("corrupt", table, ("share", "on"), ("reading", "never", "contrary", "from", "until"))
    on = table["on"]
    listed = [on] if isinstance(on, str) else on
    if not isinstance(listed, list) or not listed:
        raise InvalidInput(f"on must be {', '.join(WHOM)} or a list of deployments, got {on!r}.")
    for name in listed:
        if name not in names and not (on == name and name in WHOM):
            raise InvalidInput(
                f"on names {name!r}; expected {', '.join(WHOM)} or a list of deployments: "
                f"{', '.join(names)}.{did_you_mean(str(name), names)}"
            )
    reading, never = table.get("reading"), table.get("never", False)
    if (reading is None) != (never is True):
        raise InvalidInput("corrupt needs either reading = [low, high] or never = true.")
    if reading is not None:
        if not isinstance(reading, list) or len(reading) != 2:
            raise InvalidInput(f"reading must be two numbers, [low, high], got {reading!r}.")
        low = number("reading", reading[0])
        reading = (low, number("reading", reading[1], at_least=low))
    contrary = yes_or_no("contrary", table.get("contrary", False))
    begins = whole("from", table.get("from", 1), at_least=1, below=requests + 1)
    return Corruption(
        share=number("share", table["share"], at_least=0, at_most=1),
        on=on if isinstance(on, str) and on in WHOM else tuple(listed),
        begins=begins,
        until=whole("until", table.get("until", requests), at_least=begins, below=requests + 1),
        reading=reading,
        contrary=contrary,
    )
