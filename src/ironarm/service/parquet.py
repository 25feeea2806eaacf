"""Entries of a log as Parquet."""

from __future__ import annotations

import io

from ..agent.log import Entry
from ..errors import missing_extra

TEXTS = ("kind", "decision", "arm", "source", "extra", "key")


def table_of(entries: list[Entry]) -> bytes:
    """Return a table; names are text there, also those that are numbers."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise missing_extra("Parquet", "study") from None
    columns = {}
    for place, name in enumerate(Entry._fields):
        values = [entry[place] for entry in entries]
        if name in TEXTS:
            kind = pa.string()
            values = [None if value is None else str(value) for value in values]
        else:
            kind = pa.int64() if name == "number" else pa.float64()
        columns[name] = pa.array(values, kind)
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()
