"""Who sent which rewards: what an agent counts for each source, and what it tells.

For each arm and source three numbers are counted: its rewards, how many lie above a
reference value of the arm, and how many lie far from it. The reference is the lower
median of the arm's first rewards, so it does not move, and an outlier counts like any
other reward. With rewards of 0 and 1, "above" is a click.

A source that is like the others has, on every arm, the others' share above and far.
`report` says how far it is from that, and how surely.

Counts are held for the pairs of arm and source that have rewards, and for no more than
`most` sources one by one. Names may be made up, one for each reward; so when there is
no room for another, the eighth with the fewest rewards, the oldest of equals first, are
put together into one account for all others. Of each of these little could be said.
"""

from __future__ import annotations

import copy
import hashlib
from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidInput
from .input import Name, plain_name

FIRST = 25
"""Rewards of an arm before its reference is chosen."""
FAR = 4.0
"""Far is so many standard deviations away, as the arm's first rewards show them."""
MAD_TO_SIGMA = 1.482602218505602
COUNTS = ("rewards", "above", "far")
SURE = 0.01
"""A source that differs by accident with less than this probability is left out of what
others are compared with."""
EQUAL = 1e-6
"""Logarithms of probabilities that differ by less than this share are equal."""
NOBODY = 1e-6
"""Fewer rewards of others than this are none: what is left of a sum by rounding."""
HELD = 100_000
"""Sources that are told apart, unless somebody asks for another number."""
BATCH = 1024
"""Rewards that wait to be counted together, at least: one by one each costs more."""
OTHERS = 0
"""The row of the account for all sources that are not told apart."""


class Source(NamedTuple):
    """What an agent knows of one source.

    `source` is its name, or None for the entry that stands for all sources that are not
    told apart. `difference` is the share of its rewards above the arms' references,
    minus the share expected if it were like the others. `far` is the share of its
    rewards that lie far from the references. `chance` bounds the probability that any
    of the sources, if all were alike, would differ this much in either: 0.01 or less
    means that it is no accident.
    """

    source: Name | None
    rewards: int
    difference: float
    far: float
    chance: float


def source_name(source: object) -> Name:
    """Return a source's name: text or a whole number."""
    if isinstance(source, np.generic):
        source = source.item()
    if isinstance(source, bool) or not isinstance(source, (str, int)):
        raise InvalidInput(f"a source must be a string or a whole number, got {source!r}.")
    return plain_name("a source", source)


def optional_source(source: object) -> Name | None:
    """Return a source's name, or None for None."""
    return None if source is None else source_name(source)


def source_number(source: Name, seed: int) -> int:
    """Return a number below 2**62 that stands for a source.

    It depends on the agent's seed, so who does not know the seed cannot choose a name
    that shares its number, or its slot, with another.
    """
    return _number(source, _salt(seed))


def _salt(seed: int) -> bytes:
    return hashlib.blake2b(str(seed).encode(), digest_size=32).digest()


def _number(source: Name, salt: bytes) -> int:
    text = f"{type(source).__name__}:{source}".encode()
    digest = hashlib.blake2b(text, digest_size=8, key=salt).digest()
    return int.from_bytes(digest, "big") >> 2


class SourceBook:
    """The counts of the sources of an agent.

    Each source has a row, and the pair of a row and an arm has the key row * arms +
    arm. Keys are in ascending order, and so are their counts. Rewards are counted many
    at a time; those of an arm without a reference wait until it has one.
    """

    def __init__(self, arms: int, seed: int, most: int = HELD) -> None:
        self._arms, self._most = arms, most
        self._salt = _salt(seed)
        self._rows: dict[Name, int] = {}
        self._numbers = array("q", [-1])
        self._keys = np.zeros(0, np.int64)
        self._counts = np.zeros((0, len(COUNTS)), np.int64)
        self._waiting = array("q")  # keys
        self._rewards = array("d")  # of those
        self._room = BATCH
        self._reference: list[tuple[float, float] | None] = [None] * arms

    def add(self, source: object, arm: int, reward: float) -> int:
        """Count a reward; return the row of its source, until the next one is added."""
        # a name that is known needs no check, but True is not the source 1
        known = type(source) is str or type(source) is int
        row = self._rows.get(source) if known else None  # type: ignore[call-overload]
        if row is None:
            row = self._row(source_name(source))
        self._waiting.append(row * self._arms + arm)
        self._rewards.append(reward)
        if len(self._waiting) >= self._room:
            self._count()
        return row

    def number(self, row: int) -> int:
        """Return the number that stands for a source in a policy's eyes."""
        return self._numbers[row]

    def _row(self, source: Name) -> int:
        """Return the row of a source, which may be new."""
        if source not in self._rows:
            if len(self._rows) >= self._most:
                self._make_room()
            self._rows[source] = len(self._numbers)
            self._numbers.append(_number(source, self._salt))
        return self._rows[source]

    def _count(self) -> None:
        """Count the rewards that wait, but those of arms that have no reference."""
        keys, x = np.array(self._waiting), np.array(self._rewards)
        arm = keys % self._arms
        for a in np.flatnonzero(np.bincount(arm, minlength=self._arms) >= FIRST).tolist():
            if self._reference[a] is None:
                self._reference[a] = _reference(x[arm == a][:FIRST].tolist())
        known = np.array([each is not None for each in self._reference])[arm]
        middle, reach = np.array([each or (0.0, 0.0) for each in self._reference])[arm[known]].T
        counts = np.ones((len(middle), len(COUNTS)), np.int64)
        counts[:, 1] = x[known] > middle
        with np.errstate(invalid="ignore"):  # infinity less infinity is far
            counts[:, 2] = ~(np.abs(x[known] - middle) <= reach)
        self._merge(keys[known], counts)
        self._wait(keys[~known], x[~known])

    def _wait(self, keys: np.ndarray, rewards: np.ndarray) -> None:
        """Let these rewards wait, and no others."""
        self._waiting, self._rewards = array("q", keys.tobytes()), array("d", rewards.tobytes())
        self._room = len(keys) + max(BATCH, len(self._keys) // 2)

    def _merge(self, keys: np.ndarray, counts: np.ndarray) -> None:
        """Add counts of pairs, in any order and perhaps several of one."""
        if len(keys) == 0:
            return
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
        keys, counts = keys[first], np.add.reduceat(counts[order], first, axis=0)
        at = np.searchsorted(self._keys, keys)
        new = np.append(self._keys, -1)[at] != keys
        self._counts[at[~new]] += counts[~new]
        self._keys = np.insert(self._keys, at[new], keys[new])
        self._counts = np.insert(self._counts, at[new], counts[new], axis=0)

    def _totals(self) -> np.ndarray:
        """Return how many rewards each row has, those that wait included."""
        rows = len(self._numbers)
        waiting = np.array(self._waiting) // self._arms
        counted = np.bincount(self._keys // self._arms, self._counts[:, 0], rows)
        return counted.astype(np.int64) + np.bincount(waiting, minlength=rows)

    def _make_room(self) -> None:
        """Put the eighth of the sources with the fewest rewards to all others."""
        self._count()
        names, total = list(self._rows), self._totals()[1:]
        gone = len(total) - self._most + max(1, self._most // 8)
        kept = np.sort(np.argsort(total, kind="stable")[gone:])
        row = np.full(len(self._numbers), OTHERS)
        row[1 + kept] = 1 + np.arange(len(kept))
        self._rows = {names[i]: 1 + at for at, i in enumerate(kept.tolist())}
        self._numbers = array("q", [-1, *(self._numbers[1 + i] for i in kept.tolist())])
        self._renumber(row, np.arange(self._arms), self._arms)

    def _renumber(self, row: np.ndarray, arm: np.ndarray, arms: int) -> None:
        """Give rows and arms, by their old numbers, new ones; an arm of -1 goes."""
        old, self._arms = self._arms, arms
        keys, counts = self._keys, self._counts
        self._keys, self._counts = keys[:0], counts[:0]
        stays = arm[keys % old] >= 0
        renamed = row[keys // old] * self._arms + arm[keys % old]
        self._merge(renamed[stays], counts[stays])
        waiting, x = np.array(self._waiting), np.array(self._rewards)
        stays = arm[waiting % old] >= 0
        renamed = row[waiting // old] * self._arms + arm[waiting % old]
        self._wait(renamed[stays], x[stays])

    def copy(self) -> SourceBook:
        """Return the same book, which goes its own way."""
        self._count()
        new = copy.copy(self)
        new._rows, new._numbers = dict(self._rows), self._numbers[:]
        new._counts, new._reference = self._counts.copy(), list(self._reference)
        new._waiting, new._rewards = self._waiting[:], self._rewards[:]
        return new

    def for_arms(self, keep: Sequence[int | None]) -> SourceBook:
        """Return the book for other arms: present ones by number, None for new."""
        new = self.copy()
        to = np.full(self._arms, -1)
        for place, arm in enumerate(keep):
            if arm is not None:
                to[arm] = place
        new._renumber(np.arange(len(self._numbers)), to, len(keep))
        new._reference = [None if arm is None else self._reference[arm] for arm in keep]
        return new

    def report(self) -> list[Source]:
        """Return every source, those that differ most surely first."""
        self._count()
        rows, row = len(self._numbers), self._keys // self._arms
        total = self._totals()
        first = OTHERS if total[OTHERS] else 1
        judged = judge(row - first, self._keys % self._arms, self._counts, rows - first)
        counted = np.bincount(row, self._counts[:, 0], rows)[first:]
        far = np.bincount(row, self._counts[:, 2], rows)[first:] / np.maximum(counted, 1)
        names = [*([None] if first == OTHERS else []), *self._rows]
        columns = total[first:], judged.difference, far, judged.chance
        found = map(Source, names, *(column.tolist() for column in columns))
        return sorted(found, key=lambda each: (each.chance, -abs(each.difference)))

    def to_dict(self) -> dict[str, Any]:
        """Return the book as plain data."""
        self._count()
        return {
            "names": list(self._rows),
            "pairs": self._keys.tolist(),
            "counts": self._counts.ravel().tolist(),
            "waiting": self._waiting.tolist(),
            "rewards": self._rewards.tolist(),
            "reference": [list(r) if r else None for r in self._reference],
        }

    @classmethod
    def restore(cls, data: dict[str, Any], arms: int, seed: int, most: int = HELD) -> SourceBook:
        """Return the book that `to_dict` described; raises ValueError if it is none."""
        data = data if "pairs" in data else _by_pairs(data, arms)
        book = cls(arms, seed, most)
        names = [source_name(name) for name in data["names"]]
        for name in names:
            book._rows[name] = len(book._numbers)
            book._numbers.append(_number(name, book._salt))
        keys = np.array(data["pairs"], dtype=np.int64)
        counts = np.array(data["counts"], dtype=np.int64).reshape(len(keys), len(COUNTS))
        waiting = np.array(data["waiting"], dtype=np.int64)
        rewards = np.array([float(x) for x in data["rewards"]])
        for each in (keys, waiting):
            if each.ndim != 1 or (each < 0).any() or (each >= (len(names) + 1) * arms).any():
                raise ValueError("its sources do not fit their rewards")
        rewarded, kinds = counts[:, :1], counts[:, 1:]
        fits = (rewarded > 0).all() and (kinds >= 0).all() and (kinds <= rewarded).all()
        ordered = len(book._rows) == len(names) and (np.diff(keys) > 0).all()
        if not fits or not ordered or len(waiting) != len(rewards):
            raise ValueError("its sources are not valid")
        if len(data["reference"]) != arms:
            raise ValueError("its sources do not fit its arms")
        book._keys, book._counts = keys, counts
        book._wait(waiting, rewards)
        book._reference = [
            (float(r[0]), float(r[1])) if r is not None else None for r in data["reference"]
        ]
        book._count()
        return book


def _by_pairs(data: dict[str, Any], arms: int) -> dict[str, Any]:
    """Return the data of a book that counted every source on every arm as they are now.

    Its rows began at 0, without one for all others.
    """
    counts = np.array(data["counts"], dtype=np.int64).reshape(-1, len(COUNTS))
    some = counts.any(axis=1)
    if len(data["waiting"]) != arms:
        raise ValueError("its sources do not fit its arms")
    waiting = [
        ((1 + int(row)) * arms + arm, x)
        for arm, queue in enumerate(data["waiting"])
        for row, x in queue
    ]
    return {
        **data,
        "pairs": (arms + np.flatnonzero(some)).tolist(),
        "counts": counts[some].ravel().tolist(),
        "waiting": [key for key, _ in waiting],
        "rewards": [x for _, x in waiting],
    }


def _reference(first: list[float]) -> tuple[float, float]:
    """Return the value to compare rewards with, and how far is far.

    The value is the lower median. If nothing lies above it, as with clicks that most
    people make, it is the next one below: then some rewards lie above, and some not.
    """
    ordered = sorted(first)
    middle = ordered[(len(ordered) + 1) // 2 - 1]
    if ordered[-1] == middle:
        middle = max((x for x in ordered if x < middle), default=middle)
    distances = sorted(abs(x - middle) if x != middle else 0.0 for x in ordered)
    spread = MAD_TO_SIGMA * distances[len(distances) // 2]
    # most rewards are equal: anything that was not seen among the first ones is far
    reach = FAR * spread if spread > 0 else distances[-1]
    return middle, reach


class Judged(NamedTuple):
    """What `judge` finds for each source."""

    difference: np.ndarray
    chance: np.ndarray


def judge(source: np.ndarray, arm: np.ndarray, counts: np.ndarray, sources: int) -> Judged:
    """Compare each source with the others, those left out that clearly differ.

    One source that sends much nonsense makes all the others look different from the
    rest. So those that differ most are left out of the rest, step by step, until nobody
    in it differs surely; then all are judged by it. In the rest nobody counts for more
    than a source of median size. It takes for granted that more than half of the
    sources are honest, whatever they send, and leaves out no more than the others. Of
    those that differ equally, all are left out or none: nobody can say which of two
    sources lies, so both differ, and so do two halves that are mirror images. Which of
    two halves shows otherwise is decided by small differences.

    On an arm where a source has no company there is nothing to compare it with, so that
    arm does not count; alone on all arms, its difference is 0 and its chance 1.

    source, arm : of each pair that has rewards, by number.
    counts : (pair, kind), see `COUNTS`.
    sources : how many there are.
    """
    total = np.bincount(source, counts[:, 0], sources)
    kept = total > 0
    least = int(kept.sum()) // 2 + 1
    usual = np.median(total[kept]) if kept.any() else 0.0
    capped = counts * np.minimum(1.0, usual / np.maximum(total, 1))[source, None]
    while True:
        inside = np.where(kept[source, None], capped, 0.0)
        of_arm = np.stack([np.bincount(arm, column) for column in inside.T], axis=1)
        rest = np.maximum(of_arm[arm] - inside, 0.0)  # below 0 by rounding
        others = rest[:, 0]
        # one of each kind more, so that no share is 0 or 1 by accident
        shares = (rest + 0.5) / (others + 1.0)[:, None]
        # two kinds, so each has half of the probability
        logs = np.log(2) + np.minimum(
            *(log_chances(source, counts[:, [0, k]], shares[:, k], others, sources) for k in (1, 2))
        )
        chance = holm(np.exp(np.minimum(logs, 0.0)))
        sure = kept & (chance < SURE)
        room = int(kept.sum()) - least
        if room <= 0 or not sure.any():
            break
        # those that differ at least half as surely as the worst, but not too many
        out = np.flatnonzero(sure & (logs <= logs[sure].min() / 2))
        if len(out) > room:
            first_to_stay = np.sort(logs[out])[room]
            out = out[logs[out] < first_to_stay * (1 + EQUAL)]  # logarithms are negative
        if len(out) == 0:
            break
        kept[out] = False
    compared = np.where(others > NOBODY, counts[:, 1] - counts[:, 0] * shares[:, 1], 0.0)
    above = np.bincount(source, compared, sources)
    return Judged(above / np.maximum(total, 1), chance)


def log_chances(
    source: np.ndarray, counts: np.ndarray, share: np.ndarray, others: np.ndarray, sources: int
) -> np.ndarray:
    """Return the logarithm of how probable it is, at most, that a like source differs
    as much.

    The first four are for each pair of source and arm: the source, its rewards and how
    many of them are of a kind, the others' share of that kind, and how many rewards the
    others have. Two questions, each for half of the probability: does a source differ
    in the sum over all arms, and does it differ on some arm? Both are answered by
    Chernoff's bound, which holds for any counts. The others' share is itself an
    estimate; against as many rewards as its own a source's evidence on an arm counts
    half, and against none it counts nothing.
    """
    n, k = counts.T.astype(float)
    weight = others / np.maximum(others + n, 1.0)
    apart = np.zeros(sources)
    np.maximum.at(apart, source, n * weight * binary_kl(k / np.maximum(n, 1.0), share))
    arms = np.maximum(np.bincount(source[n > 0], minlength=sources), 1)
    on_some_arm = np.log(2.0 * arms) - apart
    seen = np.bincount(source, k * weight, sources)
    in_all = np.log(2.0) - pooled_exponents(source, n * weight, share, seen)
    return np.minimum(0.0, np.log(2.0) + np.minimum(on_some_arm, in_all))


def pooled_exponents(
    source: np.ndarray, n: np.ndarray, p: np.ndarray, total: np.ndarray
) -> np.ndarray:
    """Return Chernoff's exponents of sums of binomials: for each source the supremum
    over s of s total - sum n log(1 - p + p e^s).

    n and p are for each pair of source and arm, the total is for each source.
    """
    low, high = np.full(len(total), -40.0), np.full(len(total), 40.0)
    # the expected sum grows with s; where it is the total is the top
    for _ in range(32):
        s = (low + high) / 2
        odds = p * np.exp(s)[source]
        too_low = np.bincount(source, n * odds / (1 - p + odds), len(total)) < total
        low, high = np.where(too_low, s, low), np.where(too_low, high, s)
    logs = np.log1p(p * np.expm1(s)[source])
    return np.maximum(s * total - np.bincount(source, n * logs, len(total)), 0.0)


def binary_kl(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the binary relative entropy of shares p and q, 0 < q < 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(p > 0, p * np.log(p / q), 0.0)
        second = np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - q)), 0.0)
    return first + second


def holm(chances: np.ndarray) -> np.ndarray:
    """Return probabilities adjusted for their number, by Holm's method.

    >>> holm(np.array([0.01, 0.5, 0.02])).round(3).tolist()
    [0.03, 0.5, 0.04]
    """
    order = np.argsort(chances, kind="stable")
    factors = np.arange(len(chances), 0, -1)
    adjusted = np.empty(len(chances))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(chances[order] * factors))
    return adjusted
