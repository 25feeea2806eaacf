"""Scenarios as JSON lines: a head, then a line for each request."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...errors import BadFile
from ...files import json_fault
from .scenario import Scenario
from .spec import HOME, shipped

FORMAT, VERSION = "ironarm-scenario", 1
SUMS = HOME / "SHA256SUMS"
"""The hashes of our scenarios with the seeds 1 to 20, as `sha256sum` writes them."""


def file_name(name: str, seed: int) -> str:
    """Return the name of a scenario's file.

    >>> file_name("stalls", 3)
    'stalls-3.jsonl'
    """
    return f"{name}-{seed}.jsonl"


def as_text(scenario: Scenario) -> str:
    """Return a scenario as the text of its file."""
    return "".join(line + "\n" for line in lines(scenario))


def lines(scenario: Scenario) -> Iterator[str]:
    """Yield the lines of a scenario's file."""
    yield json.dumps(
        {
            "format": FORMAT,
            "version": VERSION,
            "name": scenario.name,
            "title": scenario.title,
            "seed": scenario.seed,
            "goal": scenario.goal,
            "unit": scenario.unit,
            "spread": scenario.spread,
            "requests": scenario.requests,
            "deployments": [
                {"name": name, "from": joins, "until": leaves}
                for name, joins, leaves in zip(
                    scenario.names, scenario.joins, scenario.leaves, strict=True
                )
            ],
            "clean": [{"from": begins, "values": values} for begins, values in scenario.clean],
        }
    )
    for t, (row, told) in enumerate(zip(scenario.readings, scenario.after, strict=True), start=1):
        line: dict[str, Any] = {"request": t, "readings": row}
        if any(told[k] != 0 for k, reading in enumerate(row) if reading is not None):
            line["after"] = told
        yield json.dumps(line, separators=(",", ":"))


def read_scenario(path: Path) -> Scenario:
    """Return the scenario of a file of JSON lines; refuse anything else."""
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror}.") from None
    except RecursionError as error:
        raise BadFile(f"{path} is not a scenario: {json_fault(error)}.") from None
    except (UnicodeDecodeError, json.JSONDecodeError):
        raise BadFile(f"{path} is not a scenario, or incomplete: not JSON lines.") from None
    head = rows[0] if rows else None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise BadFile(f"{path} is not a scenario: its first line has no format {FORMAT!r}.")
    if head.get("version") != VERSION:
        raise BadFile(
            f"{path} has version {head.get('version')!r} of the format; expected {VERSION}."
        )
    try:
        return _scenario(head, rows[1:])
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise BadFile(f"{path} is a damaged scenario: {error}.") from None


def _scenario(head: dict[str, Any], rows: list[Any]) -> Scenario:
    deployments = head["deployments"]
    count = len(deployments)
    if len(rows) != head["requests"]:
        raise ValueError(f"it has {len(rows)} requests, and its head says {head['requests']}")
    if head["goal"] not in ("min", "max"):
        raise ValueError(f"its goal must be min or max, got {head['goal']!r}")
    if count < 1:
        raise ValueError("it has no deployments")
    requests = [_request(t, row, count) for t, row in enumerate(rows, start=1)]
    clean = tuple((int(c["from"]), tuple(map(float, c["values"]))) for c in head["clean"])
    if not clean or clean[0][0] != 1 or any(len(values) != count for _, values in clean):
        raise ValueError('its "clean" needs a value for each deployment from request 1 on')
    return Scenario(
        name=str(head["name"]),
        title=str(head["title"]),
        seed=int(head["seed"]),
        goal=head["goal"],
        unit=str(head["unit"]),
        spread=float(head["spread"]),
        names=tuple(str(one["name"]) for one in deployments),
        joins=tuple(int(one["from"]) for one in deployments),
        leaves=tuple(int(one["until"]) for one in deployments),
        clean=clean,
        readings=[readings for readings, _ in requests],
        after=[after for _, after in requests],
    )


def _request(t: int, row: dict[str, Any], count: int) -> tuple[list[Any], list[Any]]:
    """Return the readings of request t, and after how many requests each is known.

    None is a deployment that is not there yet, or a reading that never comes.
    """
    values, told = row["readings"], row.get("after")
    if row["request"] != t or len(values) != count or all(x is None for x in values):
        raise ValueError(f"request {t} needs a reading for one of {count} deployments")
    if not all(x is None or (type(x) in (int, float) and math.isfinite(x)) for x in values):
        raise ValueError(f"request {t} has a reading that is not a finite number")
    if told is None:
        told = [None if x is None else 0 for x in values]
    if len(told) != count or not all(x is None or (type(x) is int and x >= 0) for x in told):
        raise ValueError(f'request {t} has a bad list "after"')
    return values, told


def known_sum(name: str, seed: int) -> str | None:
    """Return the hash that one of our scenarios must have; None if we have none."""
    if name not in shipped() or not SUMS.exists():
        return None
    sums = (line.split() for line in SUMS.read_text(encoding="utf-8").splitlines())
    return next((digest for digest, file in sums if file == file_name(name, seed)), None)


def digest(text: str) -> str:
    """Return the SHA-256 of a file's text."""
    return hashlib.sha256(text.encode()).hexdigest()
