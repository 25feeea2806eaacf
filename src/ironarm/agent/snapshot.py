"""A snapshot: the state after an entry of a log, sealed by two hashes.

It is stored as one line with the hashes, and the state as JSON. The first hash is that
of the entry, the second that of the state, so a snapshot of another log or one that was
changed is not used. Snapshots that were written before there were seals have no such
line.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

WORD = "sealed"


class Snapshot(NamedTuple):
    """A snapshot as it was found."""

    number: int
    """Of the entry."""
    entry: bytes | None
    """The hash of the entry, as the snapshot has it; None without a seal."""
    content: bytes
    """The hash of the state as it is."""
    state: str
    whole: bool
    """Whether the state is what was sealed."""

    def fits(self, entry: bytes | None) -> bool:
        """Say whether it is unchanged, and stands for the entry with this hash."""
        return self.whole and entry is not None and self.entry == entry


def content_hash(state: str) -> bytes:
    """Return the hash of a state."""
    return hashlib.blake2b(state.encode(), digest_size=16).digest()


def sealed(entry: bytes, state: str) -> str:
    """Return what is stored: the state after the entry with this hash."""
    return f"{WORD} {entry.hex()} {content_hash(state).hex()}\n{state}"


def snapshot_of(number: int, stored: str) -> Snapshot:
    """Return the snapshot that was stored for an entry."""
    if stored.startswith("{"):
        return Snapshot(number, None, content_hash(stored), stored, False)
    line, _, state = stored.partition("\n")
    content = content_hash(state)
    try:
        word, entry, expected = line.split(" ")
        whole = word == WORD and bytes.fromhex(expected) == content
        return Snapshot(number, bytes.fromhex(entry), content, state, whole)
    except ValueError:
        return Snapshot(number, b"", content, state, False)
