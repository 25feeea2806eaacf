"""Laws as people write them on a command line: `norm(2, 1)`, `gamma(3, scale=2)`.

Names of scipy.stats and numbers, read as data, never run.
"""

from __future__ import annotations

import ast
from typing import Any

from ..errors import InvalidInput
from ..validation import did_you_mean


def law_from_text(text: str) -> Any:
    """Return the frozen law of `scipy.stats` that the text describes.

    >>> law_from_text("expon(scale=2)").mean().item()
    2.0
    """
    problem = InvalidInput(
        f"cannot read the law {text!r}; write a name of scipy.stats with numbers, like norm(2, 1) "
        "or gamma(3, scale=2)."
    )
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise problem from None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise problem
    try:
        shapes = [_number(argument) for argument in node.args]
        named = {
            keyword.arg: _number(keyword.value)
            for keyword in node.keywords
            if keyword.arg is not None
        }
    except ValueError:
        raise problem from None
    if len(named) != len(node.keywords):
        raise problem
    law = _family(node.func.id)
    try:
        frozen = law(*shapes, **named)
    except TypeError:
        shape_names = ", ".join(
            filter(None, (law.shapes, "loc", "scale" if hasattr(law, "pdf") else ""))
        )
        raise InvalidInput(
            f"the law {text!r} has too few or unknown parameters; {node.func.id} takes "
            f"{shape_names}."
        ) from None
    middle = float(frozen.ppf(0.5))
    if middle != middle:
        raise InvalidInput(
            f"the law {text!r} has parameters outside their range; see scipy.stats.{node.func.id}."
        )
    return frozen


def _number(node: ast.expr) -> float:
    value = ast.literal_eval(node)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError
    return float(value)


def _family(name: str) -> Any:
    """Return a family of laws; nothing else in scipy.stats can be named."""
    from scipy import stats

    families = {
        key: value
        for key, value in vars(stats).items()
        if isinstance(value, (stats.rv_continuous, stats.rv_discrete))
    }
    if name not in families:
        raise InvalidInput(
            f"unknown law {name!r}; expected the name of a law of scipy.stats, like norm, t, "
            f"gamma, lognorm or binom.{did_you_mean(name, families)}"
        )
    return families[name]
