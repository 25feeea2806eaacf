"""What is wrong with a policy or an attack, in a sentence that names the line."""

from __future__ import annotations

import dis
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent.parent
WRITTEN_BY_AUTHORS = ("policies", "attacks", "rules")
"""The folders of this package in which a line can be the author's mistake."""

HINTS = {
    "lowering the state": "numbers of the state cannot be set; use an array, such as int[1]",
    "lowering the scene": "numbers of the scene cannot be set; use e.memory",
    "of type the state": "declare it in `fields`, or return it from `constants`",
    "of type the scene": "give it to CustomAttack as a number, or return it from `constants`",
    "getitem": "arrays are indexed by whole numbers",
}


def reason(error: Exception, choose: Callable[..., Any] | None = None) -> str:
    """Return what a compiler says is wrong, and in which line of the author's file.

    What `choose` returns is used by the engine alone: if no line of the author's is
    named, that is what is wrong.
    """
    if "NRT required" in str(error):
        return f"{_authors_line(str(error))}compiled steps cannot create lists, arrays or text"
    text = re.sub(r"\b(State|Scene)_\w+", lambda match: f"the {match[1].lower()}", str(error))
    where = _authors_line(text)
    if not where and choose is not None and re.search(r">>> (getitem|lt|ge)\(", text):
        return _bad_return(choose)
    lines = [line.strip() for line in text.splitlines() if line.strip("^~ ")]
    hint = next(
        (f" ({hint})" for text, hint in HINTS.items() if any(text in line for line in lines)), ""
    )
    told: list[str] = []
    for line in lines:
        if line.startswith(("There are ", "File ", "During:")):
            break
        if not line.startswith("Failed in "):
            told.append(re.sub(r" Raised from .*", "", line))
    return f"{where}{' '.join(dict.fromkeys(told))[:400]}{hint}"


def place_of(code: Any, line: int | None = None) -> str:
    """Return "file.py, line 12: ", for the beginning of a sentence about code."""
    return _place(code.co_filename, code.co_firstlineno if line is None else line)


def _place(file: str, line: int | str) -> str:
    return f"{Path(file).name}, line {line}: "


def _authors_line(text: str) -> str:
    """Return the first place in an author's file that the compiler names."""
    places = re.findall(r"(?:\bat|Raised from) (\S.*?) \((\d+)\)\s*$", text, re.MULTILINE)
    places += re.findall(r'^\s*File "(.*?)", line (\d+):', text, re.MULTILINE)
    for file, line in places:
        path = Path(file).resolve()
        if not path.is_relative_to(PACKAGE) or path.parent.name in WRITTEN_BY_AUTHORS:
            return _place(file, line)
    return ""


def _bad_return(choose: Callable[..., Any]) -> str:
    """Say that `choose` must return a whole number, and where it may not."""
    code: Any = choose.__code__  # type: ignore[attr-defined]
    steps = list(dis.get_instructions(code))
    returns = [
        (step.positions.lineno if step.positions else None, _constant(before, step))
        for before, step in zip([None, *steps], steps, strict=False)
        if step.opname in ("RETURN_VALUE", "RETURN_CONST")
    ]
    wrong = [(line, shown) for line, shown in returns if shown]
    line, shown = wrong[0] if wrong else returns[0]
    text = f"{place_of(code, line)}`choose` must return a whole number on every path, the arm's"
    if shown:
        return f"{text}; here it returns {shown}"
    others = sorted({str(other) for other, _ in returns if other not in (None, line)}, key=int)
    return f"{text}; it also returns in line {', '.join(others)}" if others else text


def _constant(before: Any, step: Any) -> str:
    """Return the constant that a step returns, as text, if it is no whole number."""
    loads = step if step.opname == "RETURN_CONST" else before
    if loads is None or loads.opname not in ("RETURN_CONST", "LOAD_CONST"):
        return ""
    value = loads.argval
    return "" if isinstance(value, int) else repr(value)
