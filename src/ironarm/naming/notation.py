"""Things as text: `MedEUCB`, `MedEUCB(b=8, omega=4)`, `MedEUCB(8)`.

The text is read as data, never run. One's own classes are written
`path/to/file.py:MyPolicy(b=8)`; see `own_code.py`. `policy_from_text` in
`ironarm.policies`, and its like for attacks and bandits, make what the text describes.
"""

from __future__ import annotations

import ast
import inspect
import operator
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

from ..errors import InvalidInput
from . import own_code
from .by_name import find
from .kind import Kind

LONGEST = 1000
MOST_NUMBERS = 1_000_000
SUMS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}


def parse(
    text: str, kind: Kind[Any], value: Callable[[ast.expr], Any] = ast.literal_eval
) -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters in a text.

    `value` reads one parameter and raises ValueError if it cannot.

    >>> from ironarm.policies import POLICY
    >>> parse("MedEUCB(b=8)", POLICY)
    ('MedEUCB', {'b': 8})
    """
    problem = InvalidInput(
        f"cannot read the {kind.word} {text!r}; write it like Name or Name(parameter=1, "
        f"other=2.5), and one of your own like {kind.example}."
    )
    if len(text) > LONGEST:
        raise InvalidInput(
            f"the {kind.word} {text[:40]!r}... is {len(text):,} characters long; expected at most "
            f"{LONGEST:,}."
        )
    path, rest = own_code.split(text)
    before = f"{path}:" if path else ""
    if not path and rest.endswith(".py"):
        own_code.require_file(rest)
        raise InvalidInput(
            f"{rest} is a file; say which {kind.word} in it: {rest}:My{kind.word.capitalize()}. "
            f"`ironarm {kind.plural} {rest}` lists them."
        )
    if rest.endswith(".for_rho"):
        raise InvalidInput(f"{rest} needs rho: write for example '{rest}(rho=0.3)'.")
    try:
        node = ast.parse(rest, mode="eval").body
    except (SyntaxError, ValueError):  # a ValueError: zero bytes
        raise problem from None
    if isinstance(node, ast.Name):
        return before + node.id, {}
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
        raise problem
    if isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, ast.Name):
        raise problem
    name, parameters = before + ast.unparse(node.func), dict[str, Any]()
    for parameter, given in [
        *_named(node.args, name, kind, text),
        *((keyword.arg, keyword.value) for keyword in node.keywords),
    ]:
        if parameter is None:
            raise problem
        if parameter in parameters:
            raise InvalidInput(f"the {kind.word} {text!r} has {parameter} twice; leave one out.")
        try:
            parameters[parameter] = value(given)
        except InvalidInput as error:
            raise InvalidInput(f"cannot read the {kind.word} {text!r}: {error}") from None
        except (ValueError, TypeError):
            raise problem from None
    return name, parameters


def _named(
    values: list[ast.expr], name: str, kind: Kind[Any], text: str
) -> list[tuple[str, ast.expr]]:
    """Return values without names with the names that Python would give them."""
    if not values:
        return []
    maker = find(kind, name)
    if maker is None:
        return []  # `make` reports unknown names
    known = list(inspect.signature(maker).parameters)
    if len(values) > len(known):
        raise InvalidInput(
            f"the {kind.word} {text!r} has {len(values)} values; {name} takes "
            f"{', '.join(known) or 'none'}."
        )
    return list(zip(known, values, strict=False))


def value_with(node: ast.expr, names: Mapping[str, float]) -> Any:
    """Return a parameter's value: data, a known name, a sum, a product, or a list."""
    if isinstance(node, ast.List | ast.Tuple):
        values = [value_with(part, names) for part in node.elts]
        return values if isinstance(node, ast.List) else tuple(values)
    if isinstance(node, ast.Name):
        if node.id not in names:
            raise InvalidInput(
                f"unknown name {node.id!r} in a parameter; known here: "
                f"{', '.join(names) or 'none'}. Text is written in quotes."
            )
        return names[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in SUMS:
        left, right = value_with(node.left, names), value_with(node.right, names)
        if not (isinstance(left, Real) and isinstance(right, Real)):
            raise ValueError
        return tidy(SUMS[type(node.op)](left, right))
    return ast.literal_eval(node)


def tidy(x: float) -> float:
    """Return a number without binary rounding: 0.2 + 0.1 becomes 0.3."""
    try:
        return float(f"{x:.12g}")
    except OverflowError:
        raise InvalidInput("a number is too large to compute with.") from None


def numbers_from_text(text: str) -> list[float]:
    """Return the numbers of "1,2.5,3" or of a range "first:last:step".

    "0*3" stands for three zeros. A range includes its last number.

    >>> numbers_from_text("2:20:6"), numbers_from_text("1,0*3")
    ([2.0, 8.0, 14.0, 20.0], [1.0, 0.0, 0.0, 0.0])
    """
    try:
        if ":" in text:
            first, last, step = (float(part) for part in text.split(":"))
            count = round((last - first) / step)
            if not 0 <= count <= MOST_NUMBERS or abs(first + count * step - last) > 1e-9 * max(
                1.0, abs(last)
            ):
                raise ValueError
            return [first + i * step for i in range(count + 1)]
        numbers: list[float] = []
        for part in text.split(","):
            value, _, times = part.partition("*")
            count = int(times) if times else 1
            if not 0 < count <= MOST_NUMBERS - len(numbers):
                raise ValueError
            numbers += [float(value)] * count
        return numbers
    except (ValueError, ZeroDivisionError):
        raise InvalidInput(
            f"cannot read the numbers {text!r}; write them like 1,2.5,3 or 1,0*9, or as "
            "first:last:step, for example 2:20:2."
        ) from None


def class_named(kind: Kind[Any], text: str) -> Any:
    """Return the class that a text names, whatever its parameters."""
    name = parse(text, kind, lambda node: None)[0]
    return find(kind, name.removesuffix(".for_rho"))
