"""What is wrong with a policy or an attack, in a sentence that names the line."""

from __future__ import annotations

import dis
import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..errors import IronarmError, PolicyFault
from ..naming.own_faults import is_authors, place
from ..show.text import listed
from ..validation import did_you_mean

HINTS = {
    "lowering the state": "numbers of the state cannot be set; use an array, such as int[1]",
    "lowering the scene": "numbers of the scene cannot be set; use e.memory",
    "of type the state": "declare it in `fields`, or return it from `constants`",
    "of type the scene": "give it to CustomAttack as a number, or return it from `constants`",
    "getitem": "arrays are indexed by whole numbers: write int(...) around a constant",
    "setitem": "arrays are indexed by whole numbers: write int(...) around a constant",
}

CREATES = ("NRT required", "Only accept returning of array passed into the function")
"""What Numba says of code that takes memory, if it must do without."""


@contextmanager
def refusals_explained(
    what: str, choose: Callable[..., Any] | None = None, names: Sequence[str] = ()
) -> Iterator[None]:
    """Turn what the compiler raises about the author's code into a sentence.

    `names` are those of the state, of which one may be misspelt.
    """
    try:
        yield
    except IronarmError:
        raise
    except Exception as error:
        from . import jit

        if not isinstance(error, jit.REFUSALS):
            raise
        raise PolicyFault(f"{what} cannot be compiled: {reason(error, choose, names)}") from error


def reason(
    error: Exception, choose: Callable[..., Any] | None = None, names: Sequence[str] = ()
) -> str:
    """Return what a compiler says is wrong, and in which line of the author's file.

    What `choose` returns is used by the engine alone: if no line of the author's is
    named, that is what is wrong.
    """
    if any(phrase in str(error) for phrase in CREATES):
        return (
            f"{_authors_line(str(error))}compiled steps cannot create lists, arrays or text, as "
            "np.sort and np.zeros do; keep the numbers in a field of your own"
        )
    text = re.sub(r"\b(State|Scene)_\w+", lambda match: f"the {match[1].lower()}", str(error))
    where = _authors_line(text)
    if not where and choose is not None and re.search(r">>> (getitem|lt|ge)\(", text):
        return _bad_return(choose)
    lines = [line.strip() for line in text.splitlines() if line.strip("^~ ")]
    hint = next(
        (f" ({hint})" for text, hint in HINTS.items() if any(text in line for line in lines)), ""
    )
    unknown = re.search(r"Unknown attribute '(\w+)' of type the state", text)
    if unknown and (meant := did_you_mean(unknown[1], names)):
        hint = f".{meant}"
    told: list[str] = []
    for line in lines:
        if line.startswith(("There are ", "File ", "During:")):
            break
        if not line.startswith("Failed in "):
            told.append(re.sub(r" Raised from .*", "", line))
    return f"{where}{' '.join(dict.fromkeys(told))[:400]}{hint}"


def instead_of(value: object) -> str:
    """Say what to write in the place of what compiled code cannot use."""
    if getattr(value, "__module__", None) == "random" or value is random:
        return "draw from the stream g, with uniform(g) or integer(g, n) of ironarm.extend"
    return "if it is a function, mark it with @hot or @cold; otherwise make it a number"


def place_of(code: Any, line: int | None = None) -> str:
    """Return "file.py, line 12: ", for the beginning of a sentence about code."""
    return place(code.co_filename, code.co_firstlineno if line is None else line)


def _authors_line(text: str) -> str:
    """Return the first place in an author's file that the compiler names."""
    places = re.findall(r"(?:\bat|Raised from) (\S.*?) \((\d+)\)\s*$", text, re.MULTILINE)
    places += re.findall(r'^\s*File "(.*?)", line (\d+):', text, re.MULTILINE)
    for file, line in places:
        if is_authors(file):
            return place(file, line)
    return ""


def _bad_return(choose: Callable[..., Any]) -> str:
    """Say that `choose` must return a whole number, and where it may not.

    Where no line is wrong by its looks, all that return are named alike.
    """
    code: Any = choose.__code__  # type: ignore[attr-defined]
    steps = list(dis.get_instructions(code))
    returns = [
        (step.positions.lineno if step.positions else None, _not_whole(before, step))
        for before, step in zip([None, *steps], steps, strict=False)
        if step.opname in ("RETURN_VALUE", "RETURN_CONST")
    ]
    rule = "`choose` must return a whole number on every path, the arm's"
    for line, shown in returns:
        if shown:
            return f"{place_of(code, line)}{rule}; here it returns {shown}"
    lines = sorted({line for line, _ in returns if line is not None})
    if len(lines) < 2:
        return f"{place_of(code, *lines)}{rule}"
    return f"{place_of(code)}{rule}; it returns in lines {listed(list(map(str, lines)), 'and')}"


def _not_whole(before: Any, step: Any) -> str:
    """Return what a step returns, as text, if it is no whole number by its looks."""
    loads = step if step.opname == "RETURN_CONST" else before
    if loads is None:
        return ""
    if loads.opname == "BINARY_OP" and loads.argrepr == "/":
        return "the result of /, which is a float; // gives a whole number"
    if loads.opname not in ("RETURN_CONST", "LOAD_CONST") or isinstance(loads.argval, int):
        return ""
    return repr(loads.argval)
