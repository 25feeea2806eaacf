"""What the pages of studies and arena share: templates, figures, JSON, provenance."""

from __future__ import annotations

import hashlib
import html
import json
import os
import platform
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ...errors import missing_extra
from ...files import json_ready, write_whole
from ...show.figures import DARK, FORMATS, write_figure
from ...show.text import counted
from ...simulation.fingerprint import hash_of, source_texts
from ...version import __version__

LAB = Path(__file__).parents[1]
FOLDERS = tuple(LAB / room for room in ("kit", "studies", "arena"))
"""Where reports are made, and their templates are."""

TEMPLATES = (*FOLDERS, LAB / "scenarios")

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


def require_extras() -> None:
    """Raise MissingExtra now, before work is done that could not be shown."""
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
    except ImportError:
        raise missing_extra("the report", "study") from None


def render(template: str, **values: Any) -> bytes:
    """Return a page from a template; values are escaped."""
    import jinja2
    from markupsafe import Markup, escape

    def names(text: object, longest: int = 0) -> Markup:
        """Let long names break between their words.

        Those of up to `longest` letters, and intervals in brackets, do so on narrow
        screens only.
        """
        made = Markup("")
        for part in re.split(r"(\([−\d.,e+]+ to [−\d.,e+]+\))", str(text)):
            if re.fullmatch(r"\(\S+ to \S+\)", part):
                made += Markup('<span class="whole">{}</span>').format(part)
                continue
            for word in re.split(r"(?<=\s)", part):
                end = Markup("<wbr>" if len(word) > longest else '<wbr class="phone">')
                made += end.join(map(escape, name_parts(word)))
        return made

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    def tight(text: object) -> str:
        """Keep a number on one line with its unit."""
        return re.sub(r"(?<=\d) (?=%|dB\b)", "\N{NO-BREAK SPACE}", str(text))

    environment.filters |= {"names": names, "tight": tight, "counted": counted}
    values |= {"dark": {line_variable(colour): other for colour, other in DARK.items()}}
    return environment.get_template(template).render(**values).encode()


def line_variable(colour: str) -> str:
    """Return the name of the variable that holds a colour on a page.

    >>> line_variable("#332288")
    '--line-332288'
    """
    return f"--line-{colour.removeprefix('#').lower()}"


def name_parts(text: str) -> list[str]:
    """Return the parts of names between which a line may end.

    >>> name_parts("CubeRootMedianUCB.for_rho(omega=4*sigma) 1,024")
    ['Cube', 'Root', 'Median', 'UCB', '.for_rho(', 'omega=', '4*', 'sigma) 1,024']
    """
    return re.split(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=\.[a-z])|(?<=\w[(=*/:])", text)


LETTERS = {"rho": "ρ", "sigma": "σ", "omega": "ω", "alpha": "α", "xi": "ξ"}


def greek(text: str) -> str:
    r"""Return text for a page: Greek letters and signs, and "ρ = 0.3" in one line.

    >>> greek("paper, rho = 0.3; needs sigma").replace("\N{NO-BREAK SPACE}", "_")
    'paper, ρ_=_0.3; needs σ'
    >>> greek("does not apply: T <= G"), greek("CountIMED.for_rho")
    ('does not apply: T ≤ G', 'CountIMED.for_rho')
    """
    text = re.sub(rf"\b({'|'.join(LETTERS)})\b", lambda word: LETTERS[word[0]], text)
    text = text.replace("<=", "≤").replace(">=", "≥")
    return text.replace("ρ = ", "ρ\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")


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


def panel(figure: Any, folder: Path, name: str) -> dict[str, str]:
    """Write a figure in every format, and return it as a panel of a page."""
    return {
        "name": name,
        "svg": inline_svg(write_figure(figure, folder, name)["svg"].decode(), name),
    }


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


def inline_svg(text: str, name: str) -> str:
    """Return an SVG file as an element of a page.

    Black becomes the page's text colour, colours that vanish on a dark ground become
    variables of the page, names become unique, and the page sets the size.

    >>> inline_svg(
    ...     '<?xml version="1.0"?><svg width="9pt" viewBox="0 0 9 5"></svg>', "f"
    ... )
    '<svg viewBox="0 0 9 5"></svg>'
    >>> inline_svg('<svg><path id="p" style="stroke: #000000"/></svg>', "f")
    '<svg><path id="f-p" style="stroke: currentColor"/></svg>'
    >>> inline_svg('<svg><use xlink:href="#p"/></svg>', "f")
    '<svg><use xlink:href="#f-p"/></svg>'
    >>> inline_svg('<svg><path style="fill-opacity: 0.18"/></svg>', "f")
    '<svg><path style="fill: currentColor; fill-opacity: 0.18"/></svg>'
    >>> inline_svg('<svg><path style="stroke: #332288"/></svg>', "f")
    '<svg><path style="stroke: var(--line-332288, #332288)"/></svg>'
    """
    text = text[text.index("<svg") :].rstrip()
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    head, rest = text.split(">", 1)
    head = re.sub(r'\s(?:width|height)="[^"]*"', "", head)
    rest = re.sub(r'\bid="', f'id="{name}-', rest)
    rest = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", rest)
    rest = re.sub(r"(stroke|fill): #000000", r"\1: currentColor", rest)
    # what has no colour is black in SVG: matplotlib leaves it out
    rest = re.sub(
        r'style="(?![^"]*\bfill: )(?=[^"]*\bfill-opacity: )', 'style="fill: currentColor; ', rest
    )
    for colour in DARK:
        rest = re.sub(
            rf"(stroke|fill): ({colour})\b",
            rf"\1: var({line_variable(colour)}, \2)",
            rest,
            flags=re.IGNORECASE,
        )
    return f"{head}>{rest}"


def versions() -> dict[str, str]:
    """Return the versions of the packages that a result depends on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = __version__ if package == "ironarm" else "unknown"
    return found
