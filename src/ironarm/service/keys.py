"""Keys: who may do what.

A key is text, `ia_` with an id and 256 random bits. The store holds the id and a hash
of the whole. The random bits are as many as the hash has, so a slow hash would add
nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import monotonic, time
from typing import Any

from ..agent.store import Row, Store
from ..errors import InvalidInput

SCOPES = {
    "decide": "make and cancel decisions",
    "reward": "send rewards and observations, and nothing else",
    "read": "read agents, their logs and the page",
    "admin": "create, change and archive agents, and all of the above",
}
FORM = re.compile(r"ia_([a-z0-9]{12})_[A-Za-z0-9_-]{43}")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class Key:
    """A key as the store has it; `agents` are the names it is for, None for all."""

    id: str
    hash: bytes
    name: str
    scopes: frozenset[str]
    agents: frozenset[str] | None
    rate: float | None
    made: float
    revoked: float | None = None

    @classmethod
    def of_row(cls, row: Row) -> Key:
        """Return the key in a row of the store."""
        id, digest, name, scopes, agents, rate, made, revoked = row
        return cls(
            id,
            bytes(digest),
            name,
            frozenset(json.loads(scopes)),
            None if agents is None else frozenset(json.loads(agents)),
            rate,
            made,
            revoked,
        )

    def may(self, scope: str, agent: str | None) -> bool:
        """Say whether the key allows this, for this agent; None for no agent at all."""
        if self.agents is not None and agent is not None and agent not in self.agents:
            return False
        return scope in self.scopes or "admin" in self.scopes


def agent_name(name: object) -> str:
    """Return an agent's name, or refuse it."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise InvalidInput(
            "an agent's name has 1 to 100 letters, digits, dots, dashes and underscores, and "
            f"begins with a letter or a digit; got {str(name)[:120]!r}."
        )
    return name


def make_key(
    store: Store,
    name: str,
    scopes: Iterable[str],
    agents: Sequence[str] | None = None,
    rate: float | None = None,
) -> str:
    """Make a key, keep its hash, and return its text, which nobody can read again."""
    wanted = sorted(set(scopes))
    unknown = [scope for scope in wanted if scope not in SCOPES]
    if unknown or not wanted:
        raise InvalidInput(f"scopes are {', '.join(SCOPES)}; got {', '.join(unknown) or 'none'}.")
    if not name.strip() or len(name) > 100 or not name.isprintable():
        raise InvalidInput("a key needs a name, such as web-1, of at most 100 characters.")
    if rate is not None and not 0 < rate < 1e9:
        raise InvalidInput(f"a key's rate is requests a second, above 0; got {rate:g}.")
    id = "".join(secrets.choice("abcdefghijklmnopqrstuvwxyz0123456789") for _ in range(12))
    text = f"ia_{id}_{secrets.token_urlsafe(32)}"
    names = None if agents is None else json.dumps(sorted(agent_name(agent) for agent in agents))
    store.add_key((id, digest_of(text), name, json.dumps(wanted), names, rate, time(), None))
    return text


def digest_of(text: str) -> bytes:
    """Return the hash that is kept of a key."""
    return hashlib.sha256(text.encode()).digest()


class KeyRing:
    """The keys of a store, in memory. Without any key, everything is allowed."""

    def __init__(self) -> None:
        self._keys: dict[str, Key] = {}

    def take(self, rows: Iterable[Row]) -> None:
        """Take over what the store has now."""
        keys = [Key.of_row(row) for row in rows]
        self._keys = {key.id: key for key in keys}

    @property
    def empty(self) -> bool:
        """Whether there is no key at all; a revoked one counts."""
        return not self._keys

    def get(self, id: str) -> Key | None:
        """Return a key by its id, if it is not revoked."""
        key = self._keys.get(id)
        return None if key is None or key.revoked is not None else key

    def find(self, text: str) -> Key | None:
        """Return the key with this text; None if there is none."""
        found = FORM.fullmatch(text)
        key = None if found is None else self.get(found[1])
        digest = digest_of(text)  # also without a key, so that both take as long
        if key is None or not hmac.compare_digest(digest, key.hash):
            return None
        return key


class Buckets:
    """How many requests each name may still send: `rate` a second, and a burst.

    A name can owe some: then it must wait until they are paid off. Names that were full
    again are forgotten, so memory follows those who are active.
    """

    BURST = 2.0
    """Seconds' worth of requests that may come at once."""
    MOST = 50_000

    def __init__(self) -> None:
        self._levels: dict[Any, tuple[float, float]] = {}

    def take(self, name: Any, rate: float) -> float:
        """Take one; return 0, or the seconds after which there is one again."""
        now, level = self._level(name, rate)
        if level < 1:
            self._levels[name] = level, now
            return (1 - level) / rate
        if name not in self._levels and len(self._levels) >= self.MOST:
            self._forget(now, rate)
        self._levels[name] = level - 1, now
        return 0.0

    def owe(self, name: Any, rate: float, more: int) -> None:
        """Take more, whether they are there or not."""
        now, level = self._level(name, rate)
        self._levels[name] = level - more, now

    def _level(self, name: Any, rate: float) -> tuple[float, float]:
        """Return the time, and how many there are now."""
        now, most = monotonic(), max(1.0, rate * self.BURST)
        level, since = self._levels.get(name, (most, now))
        return now, min(most, level + (now - since) * rate)

    def _forget(self, now: float, rate: float) -> None:
        """Make room: forget who is full again, or else the half that came first."""
        most = max(1.0, rate * self.BURST)
        kept = {
            name: (level, since)
            for name, (level, since) in self._levels.items()
            if level + (now - since) * rate < most
        }
        if len(kept) > self.MOST // 2:
            kept = dict(list(kept.items())[len(kept) // 2 :])
        self._levels = kept
