"""The files of a report: how they came about, and whether they are still as written."""

from __future__ import annotations

import hashlib
import html
import json
import os
import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ...files import json_ready, write_whole
from ...show.figures import FORMATS
from ...simulation.fingerprint import hash_of, source_texts
from ...version import __version__

LAB = Path(__file__).parents[1]
FOLDERS = tuple(LAB / room for room in ("kit", "studies", "arena"))
"""Where reports are made, and their templates are."""
OTHERS = "<!-- other reports -->"
"""On the same line follow a page's links to other reports."""
PACKAGES = ("ironarm", "numpy", "numba", "scipy", "matplotlib")


@dataclass(frozen=True)
class Provenance:
    """How a page came about."""

    command: str
    seconds: float
    cells_computed: int
    cells_kept: int
    versions: Mapping[str, str]
    machine: str


def provenance(command: str, seconds: float, computed: int, kept: int) -> Provenance:
    """Return how a page comes about on this machine."""
    return Provenance(
        command, seconds, computed, kept, versions(), f"{platform.system()} on {platform.machine()}"
    )


def digest(path: Path) -> str:
    """Return a file's hash."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def state_of(*parts: str) -> str:
    """Return a hash of everything that a page depends on, except the time it took.

    That is the code and templates of studies and arena, the versions, and `parts`.
    """
    return hash_of(*source_texts(*FOLDERS), repr(versions()), *parts)


def kept_report(out: Path, state: str) -> dict[str, Any] | None:
    """Return the contents of report.json, if it was made from this state; else None.

    Every file beside it must be as it was written.
    """
    try:
        run = json.loads((out / "run.json").read_text(encoding="utf-8"))
        if run["state"] == state and all(
            digest(out / name) == value for name, value in run["files"].items()
        ):
            return dict(json.loads((out / "report.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    return None


def link_reports(out: Path, names: Iterable[str]) -> None:
    """Let the report in a folder and those in its subfolders link each other.

    The subfolders have the studies' names; `out` may be either folder. Nothing else
    changes.
    """
    home = out.parent if out.name in names and (out.parent / "report.html").is_file() else out
    titles = {}
    for folder in (home, *(home / name for name in names)):
        with suppress(OSError, ValueError, KeyError, TypeError):
            titles[folder] = str(
                json.loads((folder / "report.json").read_text(encoding="utf-8"))["title"]
            )
    for folder in titles:
        others = {
            other: os.path.relpath(other / "report.html", folder).replace(os.sep, "/")
            for other in titles
            if other != folder
        }
        links = "; ".join(
            f'<a href="{html.escape(link)}">{html.escape(titles[other])}</a>'
            for other, link in others.items()
        )
        with suppress(OSError, ValueError, KeyError):
            _put_links(folder, f'<p id="others">See also: {links}</p>' if links else "")


def _put_links(folder: Path, links: str) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    before, mark, after = page.partition(OTHERS)
    linked = f"{before}{mark}{links}\n" + after[after.index("\n") + 1 :] if mark else page
    if linked != page:
        run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        write_whole(folder / "report.html", linked.encode())
        run["files"]["report.html"] = digest(folder / "report.html")
        write_json(folder / "run.json", run)


def write_json(path: Path, data: Any) -> None:
    """Write data as JSON, whole or not at all; null replaces infinities and NaN."""
    text = json.dumps(
        json_ready(data, lambda _: None), indent=1, ensure_ascii=False, allow_nan=False
    )
    write_whole(path, f"{text}\n".encode())


def write_report(
    out: Path,
    page: bytes,
    found: Mapping[str, Any],
    figures: Iterable[str],
    run: Mapping[str, Any],
    state: str,
) -> None:
    """Write report.html, report.json, and run.json, which lists the report's files.

    `found` goes to report.json. `run` says how the page was made, and `figures` names
    the figures that are already written.
    """
    write_json(out / "report.json", found)
    write_whole(out / "report.html", page)
    files = [
        "report.html",
        "report.json",
        *(f"figures/{name}.{form}" for name in figures for form in FORMATS),
    ]
    hashes = {name: digest(out / name) for name in files}
    write_json(out / "run.json", {**run, "files": hashes, "state": state})


def versions() -> dict[str, str]:
    """Return the versions of the packages that a result depends on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = __version__ if package == "ironarm" else "unknown"
    return found
