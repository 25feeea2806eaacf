"""What a run leaves: a record for each round, a summary, a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...errors import BadFile, InvalidInput
from ...files import json_fault, require_ending, write_whole
from ...validation import number, whole
from .config import CHANNELS, RadioConfig

FORMAT = 1
MOST_ROUNDS = 2**32


class Round(NamedTuple):
    """What happened in a round."""

    round: int
    channel: int
    sinr_db: float
    """As measured; the floor if the packet was missed."""
    jammed: bool | None
    """The jammer's own record, which the agent never sees; None if unknown."""
    missed: bool
    reward: float
    regret: float
    """Sum so far of best mean - mean of the channel used, in dB."""
    repeats: int = 0
    """How often the round was repeated because its ACK was lost."""
    ack_ms: float = 0.0
    """How long the ACK took, in milliseconds."""

    @classmethod
    def of(cls, fields: Any, **known: Any) -> Round:
        """Return the round that a node reports.

        `known` replaces what the report says; fields of another version are ignored.

        >>> Round.of(
        ...     {
        ...         "round": 3,
        ...         "channel": 0,
        ...         "sinr_db": 41,
        ...         "jammed": None,
        ...         "missed": False,
        ...         "reward": 41,
        ...         "regret": 0,
        ...         "colour": "red",
        ...     }
        ... ).sinr_db
        41.0
        """
        if not isinstance(fields, dict):
            raise InvalidInput(
                f"the record of a round must have names and values, got {type(fields).__name__}."
            )
        record = {
            name: value
            for name, value in {**cls._field_defaults, **fields, **known}.items()
            if name in cls._fields
        }
        lacking = [name for name in cls._fields if name not in record]
        if lacking:
            raise InvalidInput(f"the record of a round lacks {', '.join(lacking)}.")
        for name, most in (("round", MOST_ROUNDS), ("channel", CHANNELS), ("repeats", MOST_ROUNDS)):
            record[name] = whole(name, record[name], below=most)
        for name in ("sinr_db", "reward", "regret", "ack_ms"):
            record[name] = number(name, record[name])
        if not isinstance(record["missed"], bool) or not isinstance(record["jammed"], bool | None):
            raise InvalidInput(
                f"missed and jammed must be true or false, got {record['missed']!r} and "
                f"{record['jammed']!r}."
            )
        return cls(**record)


@dataclass(frozen=True)
class RunRecord:
    """All rounds of a run, with the config they were made with."""

    config: RadioConfig
    rounds: Sequence[Round]
    seconds: float

    @cached_property
    def channels(self) -> np.ndarray:
        """The channel of each round."""
        return np.array([record.channel for record in self.rounds], dtype=int)

    def summary(self) -> dict[str, Any]:
        """Return the run in a few numbers; shares are between 0 and 1."""
        means, policy = self.config.channels.means, self.config.known_policy
        best = int(np.argmax(means))
        last = self.channels[-max(1, len(self.channels) // 10) :]
        measured: list[list[float | None]] = []
        for jammed in (False, True):
            sinrs = [
                [
                    r.sinr_db
                    for r in self.rounds
                    if (r.channel, bool(r.jammed), r.missed) == (channel, jammed, False)
                ]
                for channel in range(len(means))
            ]
            measured.append([float(np.mean(values)) if values else None for values in sinrs])
        return {
            "policy": repr(policy) if policy else self.config.policy_name,
            "rounds": len(self.rounds),
            "seed": self.config.seed,
            "regret": self.rounds[-1].regret if self.rounds else 0.0,
            "optimal": float(np.mean(self.channels == best)) if self.rounds else 0.0,
            "optimal_last_tenth": float(np.mean(last == best)) if self.rounds else 0.0,
            "pulls": np.bincount(self.channels, minlength=len(means)).tolist(),
            "clean_sinr_db": measured[0],
            "jammed_sinr_db": measured[1],
            "jammed": sum(bool(r.jammed) for r in self.rounds),
            "missed": sum(r.missed for r in self.rounds),
            "repeats": sum(r.repeats for r in self.rounds),
            "ack_ms": float(np.median([r.ack_ms for r in self.rounds])) if self.rounds else 0.0,
            "seconds": self.seconds,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, rounds by column."""
        columns = {
            name: [getattr(record, name) for record in self.rounds] for name in Round._fields
        }
        return {
            "ironarm_radio_run": FORMAT,
            "settings": self.config.to_dict(),
            "summary": self.summary(),
            "rounds": columns,
        }

    def plot(
        self,
        path: str | Path | None = None,
        *,
        labels: Mapping[str, str] | Iterable[str] | None = None,
        what: str | None = None,
        x: str | None = None,
        ax: Any = None,
        column: bool = False,
    ) -> Any:
        """Draw the run and return the figure (matplotlib).

        The parameters are those of `Result.plot`; `labels` has one label, the policy's.
        """
        from ...show.curves import Look
        from .run_figure import plot_run

        return plot_run(self, Look(what, x, ax, column, path), labels)

    def save(self, path: str | Path) -> None:
        """Write the run as a JSON file, whole or not at all."""
        require_ending(Path(path), ".json")
        write_whole(Path(path), (json.dumps(self.to_dict()) + "\n").encode())

    @classmethod
    def load(cls, path: str | Path) -> RunRecord:
        """Read a run that was saved; no code in it is run."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
            if data.pop("ironarm_radio_run") != FORMAT:
                raise KeyError
            columns = data["rounds"]
            return cls(
                RadioConfig.recorded(data["settings"]),
                [
                    Round(*values)
                    for values in zip(*(columns[name] for name in Round._fields), strict=True)
                ],
                data["summary"]["seconds"],
            )
        except OSError as error:
            raise BadFile(f"{path} cannot be read: {error.strerror}.") from None
        except RecursionError as error:
            raise BadFile(
                f"{path} is not a run of the radio testbed: {json_fault(error)}."
            ) from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise BadFile(
                f"{path} is not a run of the radio testbed; `ironarm radio run --save FILE` "
                "writes one."
            ) from None
