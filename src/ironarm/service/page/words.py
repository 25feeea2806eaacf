"""Numbers and names as people read them."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from ...agent.input import Name

LONGEST = 60
"""Characters of a name that are shown."""


def shown(name: Name | None) -> str:
    r"""Return a name with everything in sight: no control or direction marks.

    >>> shown("a\u202eb"), shown(7), len(shown("x" * 200))
    ('a\\u202eb', '7', 60)
    """
    text = "" if name is None else str(name)
    text = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[: 4 * LONGEST]
    )
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def sender(source: Name | None) -> str:
    """Return a source's name; None stands for all that are not told apart.

    >>> sender("user 3"), sender(None)
    ('user 3', 'all others together')
    """
    return "all others together" if source is None else shown(source)


def number(x: float | None) -> str:
    """Return a number with four digits.

    >>> (
    ...     number(1234567.0),
    ...     number(2.41234),
    ...     number(None),
    ...     number(-1e300),
    ...     number(0.0),
    ... )
    ('1,234,567', '2.412', '–', '-1e+300', '0')
    """
    if x is None or math.isnan(x):
        return "–"
    if math.isinf(x):
        return "∞" if x > 0 else "-∞"
    if 1000 <= abs(x) < 1e9:
        return f"{x:,.0f}"
    return f"{x:.4g}"


def percent(x: float | None) -> str:
    """Return a share in percent.

    >>> (
    ...     percent(0.1234),
    ...     percent(0.0312),
    ...     percent(0.0002),
    ...     percent(0.0),
    ...     percent(0.9999),
    ... )
    ('12 %', '3.1 %', 'below 0.1 %', '0 %', 'above 99.9 %')
    """
    if x is None or math.isnan(x):
        return "–"
    if 0 < x < 0.001:
        return "below 0.1 %"
    if 0.999 < x < 1:
        return "above 99.9 %"
    if x < 0.095 or 0.985 < x < 1:
        return f"{100 * x:.1f}".removesuffix(".0") + " %"
    return f"{100 * x:.0f} %"


def confidence(x: float) -> str:
    """Return a confidence, rounded down.

    >>> confidence(0.98769), confidence(0.99999), confidence(0.5)
    ('98.7 %', 'more than 99.9 %', '50 %')
    """
    if x > 0.999:
        return "more than 99.9 %"
    return f"{math.floor(1000 * x) / 10:g} %"


def odds(chance: float) -> str:
    """Return how probable an accident is.

    >>> odds(0.5), odds(0.0123), odds(3e-7), odds(0.0)
    ('luck explains it', '1 in 81', '1 in 3 million', 'none to speak of')
    """
    if chance < 1e-12:
        return "none to speak of"
    if chance > 0.05:
        return "luck explains it"
    count = 1 / chance
    for size, name in ((1e9, " billion"), (1e6, " million")):
        if count >= size:
            return f"1 in {count / size:,.0f}{name}"
    return f"1 in {count:,.0f}"


def moment(time: float) -> str:
    """Return a time, for people.

    >>> moment(0.0)
    '1970-01-01 00:00:00 UTC'
    """
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def several(count: int, one: str, many: str | None = None) -> str:
    """Return a number of things.

    >>> several(1, "source"), several(1200, "source")
    ('1 source', '1,200 sources')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"
