"""Logged rewards, drawn again at random."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidInput
from ..frames import is_frame, pairs_of_frame
from ..show.text import counted
from .base import Bandit, finite_means

LARGEST = 1e300
"""Sums of rewards up to it are numbers."""


class ReplayBandit(Bandit):
    """Arms that pay what they have paid before.

    Each reward is drawn at random, with replacement, from the arm's logged rewards. The
    means are those of the log, so the regret is that of a world exactly like the log.

    Parameters
    ----------
    table : a CSV file or a data frame (pandas, polars, Arrow) with the columns `arm`
        and `reward`, or an iterable of (arm, reward) pairs. Arms keep the order in
        which they first appear; `names` lists them. The file may be separated by
        commas, semicolons (then 1,5 is a number) or tabs.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.ReplayBandit([("x", 1.0), ("y", 4.0), ("x", 3.0)])
    >>> bandit.names, bandit.means.tolist()
    (['x', 'y'], [2.0, 4.0])
    """

    def __init__(self, table: str | Path | Iterable[tuple[Any, float]] | Any) -> None:
        pairs: list[Any]
        if is_frame(table):
            pairs = pairs_of_frame(table)
        else:
            pairs = _read_csv(Path(table)) if isinstance(table, (str, Path)) else list(table)
        logged: dict[Any, list[float]] = {}
        for row, pair in enumerate(pairs, start=1):
            try:
                arm, reward = pair
            except (TypeError, ValueError):
                raise InvalidInput(
                    f"row {row} of the table must be an arm and a reward, got {pair!r}."
                ) from None
            try:
                value = float(reward)
            except (TypeError, ValueError):
                raise InvalidInput(
                    f"the reward in row {row} of the table must be a number (0 or 1 for clicks), "
                    f"got {reward!r}."
                ) from None
            if not np.isfinite(value):
                raise InvalidInput(
                    f"row {row} of the table has the reward {reward!r}; a bandit replays clean "
                    "rewards, so it must be finite."
                )
            if abs(value) > LARGEST:
                raise InvalidInput(
                    f"row {row} of the table has the reward {reward!r}, which is too large to "
                    "compute with; use other units."
                )
            name = arm.item() if isinstance(arm, np.generic) else arm
            if not isinstance(name, Hashable):
                raise InvalidInput(
                    f"row {row} of the table has the arm {arm!r}; a name must be text or a number."
                )
            logged.setdefault(name, []).append(value)
        if not logged:
            raise InvalidInput("the table has no rows; expected arm and reward in each.")
        self.names = list(logged)
        # sorted, so that picking by position is the inverse of the empirical
        # distribution function
        self.logged = [np.sort(np.array(rewards)) for rewards in logged.values()]
        self.means = finite_means([rewards.mean() for rewards in self.logged])

    def rewards(self, arm: int, noise: np.ndarray) -> np.ndarray:
        rewards = self.logged[arm]
        return rewards[(noise * len(rewards)).astype(np.int64)]

    def to_dict(self) -> dict[str, Any]:
        digest = hashlib.sha256(b"".join(rewards.tobytes() for rewards in self.logged)).hexdigest()
        return {
            "bandit": "ReplayBandit",
            "names": [str(name) for name in self.names],
            "counts": [len(x) for x in self.logged],
            "sha256": digest,
        }

    def __repr__(self) -> str:
        rewards = counted(sum(map(len, self.logged)), "reward")
        return f"ReplayBandit({counted(len(self.names), 'arm')}, {rewards})"


def _read_csv(path: Path) -> list[tuple[str, str]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            head = file.readline()
            mark = next((mark for mark in ",;\t" if mark in head), ",")
            columns = next(csv.reader([head], delimiter=mark), [])
            names = [column.strip().lower() for column in columns]
            if names.count("arm") != 1 or names.count("reward") != 1:
                raise InvalidInput(
                    f"{path} must have the columns 'arm' and 'reward' in its first line, once "
                    f"each, got {', '.join(columns) or 'nothing'}."
                )
            arm, reward = names.index("arm"), names.index("reward")
            return [
                _cells(row, arm, reward, mark) for row in csv.reader(file, delimiter=mark) if row
            ]
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not a text file in UTF-8.") from None


def _cells(row: list[str], arm: int, reward: int, mark: str) -> tuple[str, str]:
    """Return the arm and the reward of a row; with semicolons, 1,5 is a number too."""
    name, text = ((row[i] if i < len(row) else "") for i in (arm, reward))
    decimal_comma = mark == ";" and text.count(",") == 1 and "." not in text
    return name, text.replace(",", ".") if decimal_comma else text
