"""The tables of a recorded comparison (peers.json), as benchmarks/peers.py prints them
and docs/peers.md shows them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from measure import ROOT, show_lines

RECORD = Path(__file__).resolve().parent / "peers.json"
PAGE = ROOT / "docs" / "peers.md"


def tables(record: dict[str, Any]) -> dict[str, list[str]]:
    """Return the lines of each table of a record, by its name in the page."""
    settings = [setting["label"] for setting in record["settings"]]
    return {
        "speed": speed(record["speed"]),
        "defaults": behaviour(record["behaviour"], settings, "default"),
        "tuned": behaviour(record["behaviour"], settings, "tuned"),
    }


def speed(rows: list[dict[str, Any]]) -> list[str]:
    """Return the table of nanoseconds per round."""
    return show_lines(
        ["package", "plays", "microseconds a round", "times ironarm's"],
        [
            [
                row["package"],
                row["plays"],
                microseconds(row["ns"]),
                f"{row['ns'] / row['ironarm']:,.0f}",
            ]
            for row in rows
        ],
    )


def microseconds(ns: float) -> str:
    """Return nanoseconds as microseconds, with about three digits.

    >>> microseconds(17.3), microseconds(13700), microseconds(4530000)
    ('0.0173', '13.7', '4,530')
    """
    return f"{ns / 1000:,.0f}" if ns >= 100_000 else f"{ns / 1000:.3g}"


def behaviour(rows: list[dict[str, Any]], settings: list[str], how: str) -> list[str]:
    """Return the table of regret and stuck trials, with defaults or tuned.

    ironarm's policies, which are not tuned, stand in both.
    """
    shown = [row for row in rows if row[how] or not row["parameter"]]
    return show_lines(
        ["package", "policy", "trials", *settings],
        [
            [
                row["package"],
                row["policy"],
                str(row["trials"]),
                *(cell(found, row["parameter"]) for found in row[how] or row["default"]),
            ]
            for row in shown
        ],
    )


def cell(found: dict[str, Any], parameter: str | None) -> str:
    """Return one cell: the mean regret, its interval, the share stuck, the value used.

    >>> cell(
    ...     {
    ...         "mean": 1234.5,
    ...         "low": 1000,
    ...         "high": 1500,
    ...         "stuck": 0.05,
    ...         "value": None,
    ...     },
    ...     None,
    ... )
    '1,234 (1,000 to 1,500), 5 % stuck'
    >>> cell({"failed": "OverflowError: math range error", "value": 2}, "tau")
    'fails: OverflowError; tau = 2'
    """
    used = f"; {parameter} = {found['value']:g}" if parameter else ""
    if "failed" in found:
        return f"fails: {found['failed'].partition(':')[0]}{used}"
    mark = "*" if found.get("edge") else ""
    interval = f"({found['low']:,.0f} to {found['high']:,.0f})"
    return f"{found['mean']:,.0f} {interval}, {found['stuck']:.0%} stuck{used}{mark}".replace(
        "% stuck", " % stuck"
    )


def written(page: str, record: dict[str, Any]) -> str:
    """Return the page with the record's tables and date in their places."""
    for name, lines in tables(record).items():
        page = replaced(page, name, "\n".join(lines))
    return replaced(page, "when", f"Measured on {record['date']}, {record['machine']}.")


def replaced(page: str, name: str, text: str) -> str:
    """Return the page with the text between the marks of that name.

    >>> replaced("a\\n<!-- x -->\\nold\\n<!-- end of x -->\\nb", "x", "new")
    'a\\n<!-- x -->\\n\\nnew\\n\\n<!-- end of x -->\\nb'
    """
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, found, rest = page.partition(start)
    _, found_too, after = rest.partition(end)
    if not (found and found_too):
        raise ValueError(f"the page needs the lines {start.strip()} and {end}")
    return f"{before}{start}\n{text}\n\n{end}{after}"


def recorded() -> dict[str, Any]:
    """Return the last record."""
    record: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return record
