"""Data frames in and out: whatever narwhals, Arrow or the interchange protocol reads.

Nothing here is imported before somebody has a frame or asks for one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .errors import InvalidInput, MissingExtra, missing_extra
from .validation import choice

KINDS = ("pandas", "polars", "arrow")


def is_frame(table: object) -> bool:
    """Return whether a value is a data frame, of whichever library."""
    return not isinstance(table, type) and any(
        hasattr(table, name) for name in ("__arrow_c_stream__", "__dataframe__", "collect_schema")
    )


def pairs_of_frame(frame: Any) -> list[tuple[Any, Any]]:
    """Return the arms and rewards of a frame, row by row.

    The columns are `arm` and `reward`, in small or capital letters. Where a value is
    missing it is refused.
    """
    table = _table(frame)
    arms, rewards = (table[name].to_list() for name in _wanted(table.columns))
    for row, pair in enumerate(zip(arms, rewards, strict=True), start=1):
        for what, value in zip(("arm", "reward"), pair, strict=True):
            if _missing(value):
                raise InvalidInput(
                    f"row {row} of the data frame has no {what}; leave out rows without one."
                )
    return list(zip(arms, rewards, strict=True))


def column_for(wanted: str, names: Sequence[Any], where: str) -> Any:
    """Return the name of the column that is meant, whatever the case of its letters.

    >>> column_for("arm", ["Reward", "ARM"], "the data frame")
    'ARM'
    """
    found = [name for name in names if name == wanted] or [
        name for name in names if str(name).strip().lower() == wanted
    ]
    if len(found) > 1:
        raise InvalidInput(
            f"{where} has {len(found)} columns called {wanted!r}; expected one of each, 'arm' and "
            "'reward'."
        )
    if not found:
        raise InvalidInput(
            f"{where} must have the columns 'arm' and 'reward', got "
            f"{', '.join(map(str, names)) or 'none'}."
        )
    return found[0]


def _wanted(names: Sequence[Any]) -> list[Any]:
    return [column_for(name, names, "the data frame") for name in ("arm", "reward")]


def _table(frame: Any) -> Any:
    """Return a frame of any library as one of narwhals, in memory.

    A query that speaks Arrow, as DuckDB's do, comes that way: narwhals must know each
    release of DuckDB, and Arrow's stream stays the same. Others, narwhals runs.
    """
    import narwhals.stable.v2 as narwhals
    from narwhals.dependencies import is_into_dataframe
    from narwhals.exceptions import DuplicateError

    if hasattr(frame, "__arrow_c_stream__") and not is_into_dataframe(frame):
        frame = _by_arrow(frame)
    try:
        table = narwhals.from_native(frame, pass_through=True)
    except DuplicateError:
        # pandas and Arrow let names repeat: leave out columns that nobody asked for
        if hasattr(frame, "iloc"):
            return _table(frame[_wanted(frame.columns)])
        return _table(frame.select(_wanted(frame.column_names)))
    if isinstance(table, narwhals.LazyFrame):
        return table.collect()
    return table if isinstance(table, narwhals.DataFrame) else _table(_by_arrow(frame))


def _by_arrow(frame: Any) -> Any:
    try:
        import pyarrow
        from pyarrow.interchange import from_dataframe
    except ImportError:
        raise missing_extra(f"a data frame of the type {type(frame).__name__}", "study") from None
    try:
        if hasattr(frame, "__arrow_c_stream__"):
            return pyarrow.table(frame)
        return from_dataframe(frame)
    except (TypeError, ValueError, NotImplementedError) as error:
        raise InvalidInput(
            f"the data frame, a {type(frame).__name__}, cannot be read ({error})."
        ) from None


def _missing(value: Any) -> bool:
    # pandas has two marks of its own beside None and NaN
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float) and value != value)
    )


def frame_of(
    columns: Mapping[str, np.ndarray], categories: Mapping[str, Sequence[str]], kind: str
) -> Any:
    """Return columns as a frame of that kind.

    `categories` has the texts of the columns whose values are their numbers.
    """
    choice("kind", kind, KINDS)
    if kind == "pandas":
        pandas = _library("pandas", "pip install pandas")
        return pandas.DataFrame(
            {
                name: pandas.Categorical.from_codes(values, categories[name])
                if name in categories
                else values
                for name, values in columns.items()
            }
        )
    if kind == "polars":
        polars = _library("polars", "pip install polars")
        return polars.DataFrame(
            {
                name: polars.Series(
                    np.array(categories[name], dtype=object)[values].tolist(),
                    dtype=polars.Enum(list(categories[name])),
                )
                if name in categories
                else values
                for name, values in columns.items()
            }
        )
    pyarrow = _library("pyarrow", "pip install '.[study]' in the project's folder")
    return pyarrow.table(
        {
            name: pyarrow.DictionaryArray.from_arrays(pyarrow.array(values), list(categories[name]))
            if name in categories
            else values
            for name, values in columns.items()
        }
    )


def _library(name: str, install: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise MissingExtra(f"this frame needs {name}. Install it with: {install}") from None
