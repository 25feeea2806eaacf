"""Policies and attacks as people write them on a command line: `MedEUCB`, `MedEUCB(b=8, omega=4)`. Read as data, never run."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from . import attacks, policies
from .attacks import Attack
from .errors import InvalidInput
from .policies import Policy


def policy_from_text(text: str) -> Policy:
    """Return the policy that the text describes.

    >>> policy_from_text("MedEUCB(b=8)")
    MedEUCB(b=8.0, omega=4.0, block=None)
    """
    return policies.make(*parse(text, "policy"))


def attack_from_text(text: str, rho: float | None) -> Attack:
    """Return the attack that the text describes; rho is given there or beside it, and 0.125 if nowhere.

    >>> attack_from_text("OppositeUniform(scale=100)", 0.2)
    OppositeUniform(rho=0.2, scale=100.0)
    """
    name, parameters = parse(text, "attack")
    if rho is not None and ("rho" in parameters or name == "NoAttack"):
        raise InvalidInput(f"rho is given twice: {rho:g} beside the attack {text!r}, which has its own. Leave one out.")
    given = {} if name == "NoAttack" else {"rho": 0.125 if rho is None else rho}
    return attacks.make(name, {**given, **parameters})


def parse(text: str, what: str, value: Callable[[ast.expr], Any] = ast.literal_eval) -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters in a text; `value` reads one parameter, and raises a ValueError if it cannot.

    >>> parse("MedEUCB(b=8)", "policy")
    ('MedEUCB', {'b': 8})
    """
    problem = InvalidInput(f"cannot read the {what} {text!r}; write it like Name or Name(parameter=1, other=2.5).")
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):  # a ValueError: zero bytes
        raise problem from None
    if isinstance(node, ast.Name):
        return node.id, {}
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.args:
        raise problem
    parameters: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise problem
        try:
            parameters[keyword.arg] = value(keyword.value)
        except (ValueError, TypeError):
            raise problem from None
    return node.func.id, parameters


def numbers_from_text(text: str) -> list[float]:
    """Return the numbers of "1,2.5,3", or of a range "first:last:step" that includes its last number.

    >>> numbers_from_text("2:20:6")
    [2.0, 8.0, 14.0, 20.0]
    """
    try:
        if ":" in text:
            first, last, step = (float(part) for part in text.split(":"))
            count = round((last - first) / step)
            if count < 0 or abs(first + count * step - last) > 1e-9 * max(1.0, abs(last)):
                raise ValueError
            return [first + i * step for i in range(count + 1)]
        return [float(part) for part in text.split(",")]
    except (ValueError, ZeroDivisionError):
        raise InvalidInput(f"cannot read the numbers {text!r}; write them like 1,2.5,3 or as first:last:step, for example 2:20:2.") from None
