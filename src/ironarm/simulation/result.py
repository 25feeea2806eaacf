"""What a simulation found: arrays, a summary, a plot, a file."""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BadFile, InvalidInput
from ..files import require_ending, write_whole
from ..frames import frame_of
from ..naming.own_code import split
from ..policies import Policy, from_dict
from ..show.text import counted
from .summary import Summary, summarise

FORMAT = "ironarm result"
FORMAT_VERSION = 1
ARRAYS = ("rounds", "regret", "optimal", "pulls", "last_tenth")
STUCK_BELOW = 0.5
ROOM = 64 * 2**20
"""Bytes that the arrays of a file may take, whatever it holds."""
RATIO = 100
"""Larger arrays must have at least this part of their bytes in the file. Regret hardly
gets ten times smaller."""


@dataclass(frozen=True, eq=False)
class Result:
    """The result of `simulate`.

    Attributes
    ----------
    policies : the policies, in the order given.
    rounds : the rounds of the checkpoints; the last is the horizon.
    regret : array (policy, trial, checkpoint), the sum of the true gaps of the arms
        pulled so far.
    optimal : the share of pulls of the best arm so far, same shape.
    pulls : array (policy, trial, arm), final counts.
    last_tenth : array (policy, trial), the share of pulls of the best arm in the last
        tenth of the rounds.
    stuck : array (policy, trial), whether that share is below one half.
    specification : everything that determines the result, as plain data: policies,
        bandit, attack, horizon, trials, seed, versions.
    seconds : how long it took; None in files whose bytes must be reproducible.

    Examples
    --------
    >>> import ironarm as ia
    >>> result = ia.simulate(
    ...     ia.UCB(),
    ...     ia.GaussianBandit([0, 1]),
    ...     horizon=100,
    ...     trials=3,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> result.pulls.sum(axis=2).tolist()
    [[100, 100, 100]]
    """

    policies: tuple[Policy | dict[str, Any], ...]
    rounds: np.ndarray
    regret: np.ndarray
    optimal: np.ndarray
    pulls: np.ndarray
    last_tenth: np.ndarray
    specification: dict[str, Any]
    seconds: float | None

    @property
    def stuck(self) -> np.ndarray:
        """Whether a trial spent less than half of its last tenth on the best arm."""
        return self.last_tenth < STUCK_BELOW

    @property
    def labels(self) -> list[str]:
        """A short name for each policy, for tables and legends.

        This is the name given to `simulate`, or the policy's own label.
        """
        if "names" in self.specification:
            return list(self.specification["names"])
        return [p.label if isinstance(p, Policy) else split(p["policy"])[1] for p in self.policies]

    def summary(self) -> Summary:
        """Return a table of final regret, and the paired differences.

        The table has a 95 % interval of the mean, the tails, and the share of trials
        that are stuck.

        Examples
        --------
        >>> import ironarm as ia
        >>> bandit = ia.GaussianBandit(means=range(2, 21, 2))
        >>> attack = ia.OppositeUniform(rho=0.125)
        >>> result = ia.simulate(
        ...     [ia.MedEUCB(), ia.UCB()],
        ...     bandit,
        ...     attack,
        ...     horizon=10_000,
        ...     trials=10,
        ...     seed=1,
        ... )
        >>> row = result.summary().rows[0]
        >>> row.policy, row.mean, row.stuck
        ('MedEUCB', 3330.0, 0.0)
        """
        return summarise(self.labels, self.regret[:, :, -1], self.optimal[:, :, -1], self.stuck)

    def plot(
        self,
        path: str | Path | None = None,
        *,
        policies: Iterable[str | int] | str | int | None = None,
        labels: Mapping[str, str] | Iterable[str] | None = None,
        what: str | None = None,
        x: str | None = None,
        ax: Any = None,
        column: bool = False,
    ) -> Any:
        """Draw the result with 95 % bands, and return the figure (matplotlib).

        The axis of rounds starts where the policies begin to differ. Needs the extra
        `study`.

        Parameters
        ----------
        path : a .pdf, .svg or .png file to write the figure to, or None.
        policies : which to draw, in which order, by label or number; None for all.
        labels : other labels: one for each policy drawn, or a dict
            `{label: other label}`.
        what : "regret" or "optimal" (share of optimal pulls) over the rounds, or
            "pulls" of each arm at the end; None for the first two, one above the other.
        x : "log" for logarithmic axes of rounds and regret, or "linear"; None for
            "log".
        ax : your own axes to draw into.
        column : True for print: as wide as a column (3.3 inches), 8-point text, no
            title.

        Examples
        --------
        >>> import ironarm as ia
        >>> result = ia.simulate(
        ...     {"robust": ia.MedEUCB(), "usual": ia.UCB()},
        ...     ia.GaussianBandit([0, 1]),
        ...     horizon=100,
        ...     seed=1,
        ... )
        >>> figure = result.plot(policies=["usual", "robust"], what="regret")
        >>> [line.get_label() for line in figure.axes[0].lines]
        ['usual', 'robust']
        """
        from ..show.curves import Look
        from .plot import plot_result

        return plot_result(self, Look(what, x, ax, column, path), policies, labels)

    def to_frame(self, kind: str = "pandas") -> Any:
        """Return a data frame with one row for each policy, trial and checkpoint.

        Parameters
        ----------
        kind : "pandas", "polars", or "arrow" for a pyarrow table. The library must be
            installed.

        Examples
        --------
        >>> import ironarm as ia
        >>> result = ia.simulate(
        ...     ia.UCB(), ia.GaussianBandit([0, 1]), horizon=100, trials=3, seed=1
        ... )
        >>> result.to_frame("polars").columns
        ['policy', 'trial', 'round', 'regret', 'optimal']
        """
        policies, trials, rounds = self.regret.shape
        labels = list(dict.fromkeys(self.labels))
        numbers = np.array([labels.index(label) for label in self.labels], dtype=np.int32)
        return frame_of(
            {
                "policy": np.repeat(numbers, trials * rounds),
                "trial": np.tile(np.repeat(np.arange(trials), rounds), policies),
                "round": np.tile(self.rounds, policies * trials),
                "regret": self.regret.ravel(),
                "optimal": self.optimal.ravel(),
            },
            {"policy": labels},
            kind,
        )

    def save(self, path: str | Path) -> None:
        """Write the result to an .npz file of arrays and JSON, whole or not at all."""
        path = Path(path)
        require_ending(path, ".npz", " For a table, use to_frame().")
        header = {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "specification": self.specification,
            "seconds": self.seconds,
        }
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer,
            header=np.array(json.dumps(header)),
            **{name: getattr(self, name) for name in ARRAYS},
        )
        if not path.parent.is_dir():
            raise InvalidInput(f"{path} cannot be written: its folder does not exist.")
        write_whole(path, buffer.getvalue())

    @classmethod
    def load(cls, path: str | Path) -> Result:
        """Read a file that `save` wrote. It holds data; nothing in it is run."""
        path = Path(path)
        try:
            result = cls(**_content(path))
        except FileNotFoundError:
            raise BadFile(f"{path} does not exist.") from None
        except BadFile:
            raise
        # NumPy parses the headers of arrays as Python literals: damaged bytes can raise
        # nearly anything there, from SyntaxError and TokenError to MemoryError
        except Exception as error:
            raise BadFile(f"{path} is damaged or not a result of ironarm.") from error
        if not _fits_together(result):
            raise BadFile(f"{path} is damaged: its arrays do not fit together.")
        if not _shows(result):
            raise BadFile(f"{path} is damaged: it does not say what was simulated.")
        names = result.specification.get("names", [""] * len(result.policies))
        if not (
            isinstance(names, list)
            and len(names) == len(result.policies)
            and all(isinstance(name, str) for name in names)
        ):
            raise BadFile(f"{path} is damaged: it does not name each policy.")
        return result

    def __repr__(self) -> str:
        horizon, trials = self.specification["horizon"], self.specification["trials"]
        return (
            f"<Result: {', '.join(self.labels)}; {counted(trials, 'trial')} of "
            f"{counted(horizon, 'round')}, seed {self.specification['seed']}>"
        )

    def _repr_html_(self) -> str:
        horizon, trials = self.specification["horizon"], self.specification["trials"]
        rounds = f"{counted(trials, 'trial')} of {counted(horizon, 'round')}"
        return self.summary().to_html(f"{rounds}, seed {self.specification['seed']}")


def _content(path: Path) -> dict[str, Any]:
    """Return what a file holds, by the names of the fields of `Result`."""
    data = path.read_bytes()
    _check_sizes(path, data)
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        if not isinstance(file, np.lib.npyio.NpzFile) or "header" not in file:
            raise BadFile(f"{path} is not a result of ironarm.")
        header = json.loads(str(file["header"]))
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise BadFile(f"{path} is not a result of ironarm.")
        if header["version"] > FORMAT_VERSION:
            raise BadFile(
                f"{path} was written by a newer ironarm (format {header['version']}, this "
                f"one reads up to {FORMAT_VERSION}). Update ironarm to read it."
            )
        return {
            "policies": tuple(_policy(data) for data in header["specification"]["policies"]),
            "specification": header["specification"],
            "seconds": None if header["seconds"] is None else float(header["seconds"]),
            **{name: file[name] for name in ARRAYS},
        }


def _fits_together(result: Result) -> bool:
    """Say whether the arrays are those of the same policies, trials and rounds."""
    trials = result.regret.shape[1] if result.regret.ndim == 3 else -1
    shape = (len(result.policies), trials, len(result.rounds))
    return (
        result.regret.shape == result.optimal.shape == shape
        and result.pulls.shape[:2] == result.last_tenth.shape == shape[:2]
    )


def _check_sizes(path: Path, data: bytes) -> None:
    """Refuse arrays that are larger than the file's contents account for.

    A few bytes can ask for gigabytes, which NumPy would allocate before it reads.
    """
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return  # which whoever reads it says
    total = 0
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in set(archive.namelist()) & {f"{name}.npy" for name in ("header", *ARRAYS)}:
            size = archive.getinfo(name).file_size
            with archive.open(name) as member:
                version = np.lib.format.read_magic(member)
                header = (
                    np.lib.format.read_array_header_1_0
                    if version == (1, 0)
                    else np.lib.format.read_array_header_2_0
                )
                shape, _, dtype = header(member)
            total += max(size, math.prod(shape) * dtype.itemsize)
            if math.prod(shape) * dtype.itemsize > size:
                raise BadFile(f"{path} is damaged: {name} is larger than what it holds.")
    if total > max(ROOM, RATIO * len(data)):
        raise BadFile(
            f"{path} is not read: its {len(data):,} bytes would become {total:,}, and those of a "
            f"result at most {RATIO} times as many."
        )


def _shows(result: Result) -> bool:
    """Say whether a result that was read can be shown."""
    specification = result.specification
    return (
        all(type(specification.get(name)) is int for name in ("horizon", "trials"))
        and "seed" in specification
        and all(
            isinstance(policy, Policy) or isinstance(policy.get("policy"), str)
            for policy in result.policies
        )
        and all(getattr(result, name).dtype.kind in "iuf" for name in ARRAYS)
    )


def _policy(data: dict[str, Any]) -> Policy | dict[str, Any]:
    """Return the policy, or its description if its code is not here."""
    try:
        return from_dict(data)
    except InvalidInput:
        return dict(data)
