"""What the pages of the lab share: templates, words, figures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ...errors import missing_extra
from ...show.figures import write_figure
from ...show.looks import DARK
from ...show.text import counted
from .report_files import FOLDERS, LAB

TEMPLATES = (*FOLDERS, LAB / "scenarios")


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


def panel(figure: Any, folder: Path, name: str) -> dict[str, str]:
    """Write a figure in every format, and return it as a panel of a page."""
    return {
        "name": name,
        "svg": inline_svg(write_figure(figure, folder, name)["svg"].decode(), name),
    }


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
