"""Checks of TOML tables: the right fields, and text, lists and tables in them.

Each error says what, expected, got.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import BadFile, InvalidInput
from ..validation import did_you_mean

FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,80}")


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a TOML file holds, or say why it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise BadFile(f"{path} cannot be read: it is not text.") from None
    except tomllib.TOMLDecodeError as error:
        raise BadFile(
            f"{path} is not valid TOML: {error}. Text is written in quotes, lists like [1, 2]."
        ) from None


def fields(
    what: str, data: object, required: Iterable[str], optional: Iterable[str] = ()
) -> dict[str, Any]:
    """Return a table if its fields are the expected ones, or report the first fault."""
    needed, known = list(required), [*required, *optional]
    if not isinstance(data, dict):
        raise InvalidInput(
            f"{what} must be a table with {', '.join(needed) or 'its fields'}, got {data!r}."
        )
    for key in data:
        if key not in known:
            raise InvalidInput(
                f"{what} has an unknown field {key!r}; expected "
                f"{', '.join(known)}.{did_you_mean(key, known)}"
            )
    for key in needed:
        if key not in data:
            raise InvalidInput(f"{what} needs the field {key!r}.")
    return data


def text(what: str, value: object) -> str:
    """Return a value if it is text."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{what} must be text in quotes, got {value!r}.")
    return value


def yes_or_no(what: str, value: object) -> bool:
    """Return a value if it is true or false."""
    if not isinstance(value, bool):
        raise InvalidInput(f"{what} must be true or false, got {value!r}.")
    return value


def file_name(what: str, value: object) -> str:
    """Return a value if it can be the name of a file on any system."""
    if not isinstance(value, str) or not FILE_NAME.fullmatch(value):
        raise InvalidInput(
            f"{what} must be a name of letters, digits, dots, dashes and underscores, because "
            f"files are named after it, got {value!r}."
        )
    return value


def tables(what: str, value: object) -> list[dict[str, Any]]:
    """Return a value if it is a list of tables, as [[...]] in TOML makes one."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise InvalidInput(f"{what} must be tables, each under [[{what}]], got {value!r}.")
    return value


def distinct(what: str, values: Iterable[Any]) -> None:
    """Refuse a list in which something comes twice."""
    seen: list[Any] = []
    for value in values:
        if value in seen:
            raise InvalidInput(f"{what} {value!r} appears twice; give each its own.")
        seen.append(value)
