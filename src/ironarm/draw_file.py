"""One function that draws whatever ironarm has saved."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .errors import BadFile, InvalidInput, missing_extra
from .policies import Policy
from .show.curves import Look

CAN_BE_DRAWN = (
    "what can be drawn: a result (.npz), the folder of a sweep or its checkpoints.parquet, a run "
    "of the radio testbed (.json), a recording (.sigmf-meta), an agent (.json)"
)


def plot(
    file: str | Path,
    out: str | Path | None = None,
    *,
    policies: Iterable[str | int] | str | int | None = None,
    labels: Mapping[str, str] | Iterable[str] | None = None,
    what: str | None = None,
    x: str | None = None,
    where: Mapping[str, Any] | None = None,
    policy: Policy | None = None,
    ax: Any = None,
    column: bool = False,
) -> Any:
    """Draw a file that ironarm has saved, and return the figure (matplotlib).

    The file can be a result, the folder of a sweep or its table of checkpoints, a run
    of the radio testbed, a SigMF recording, or an agent; its kind is detected. An
    option that would change nothing is refused. Needs the extra `study`.

    Parameters
    ----------
    file : what to draw.
    out : a .pdf, .svg or .png file to write the figure to, or None.
    policies, labels, what, x, ax, column : as in `Result.plot`.
    where : for a sweep, columns and the values to draw, such as `{"rho": 0.3}`.
    policy : for an agent whose policy is your own, that policy; as in `Agent.load`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import ironarm as ia
    >>> agent = ia.Agent(ia.RUCB(), arms=["a", "b"], seed=7)
    >>> agent.warm_start([("a", 1.0), ("b", 3.0)])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     agent.save(Path(folder) / "agent.json")
    ...     figure = ia.plot(Path(folder) / "agent.json")
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['a', 'b']
    """
    path = Path(file)
    look = Look(what, x, ax, column, out)
    given = {
        name
        for name, value in (
            ("policies", policies),
            ("labels", labels),
            ("what", what),
            ("x", x),
            ("where", where or None),
            ("policy", policy),
        )
        if value is not None
    }
    kind = kind_of(path)
    _refuse_unused(kind, given)
    if kind == "a sweep":
        try:
            from .lab.sweeps.plot import plot_sweep
        except ImportError:
            raise missing_extra("the table of a sweep", "study") from None
        return plot_sweep(path, look, policies, labels, where)
    if kind == "a radio run":
        from .radio.testbed.records import RunRecord
        from .radio.testbed.run_figure import plot_run

        return plot_run(RunRecord.load(path), look, labels)
    if kind == "a recording":
        from .radio.testbed.recording_figure import plot_recording

        return plot_recording(path.with_suffix(".sigmf-meta"), look)
    if kind == "an agent":
        from .agent import Agent
        from .agent.plot import plot_agent, seen

        return plot_agent(seen(Agent.load(path, policy=policy)), look)
    from .simulation import Result
    from .simulation.plot import plot_result

    return plot_result(Result.load(path), look, policies, labels)


USED = {
    "a result": {"policies", "labels", "what", "x"},
    "a sweep": {"policies", "labels", "what", "x", "where"},
    "a radio run": {"labels", "what", "x"},
    "a recording": set[str](),
    "an agent": {"policy"},
}


OPTIONS = {"policy": "policy (on the command line, --own)"}
"""What is called otherwise there."""


def kind_of(path: Path) -> str:
    """Return what a file holds, by its contents; refuse what cannot be drawn."""
    if path.is_dir():
        if (path / "checkpoints.parquet").exists():
            return "a sweep"
        drawn = sorted(file.name for file in (path / "figures").glob("*.pdf"))
        if (path / "report.html").exists() and drawn:
            raise BadFile(
                f"{path} holds a report, whose figures are already drawn: {', '.join(drawn)} in "
                f"{path / 'figures'}, each also as .svg and .png; {CAN_BE_DRAWN}."
            )
        if (path / "cells").is_dir():
            return "a sweep"
        raise BadFile(f"{path} is a folder without a sweep's tables; {CAN_BE_DRAWN}.")
    try:
        with path.open("rb") as stream:
            begin = stream.read(4)
        if begin.startswith(b"PK"):
            return "a result"
        if begin == b"PAR1":
            return "a sweep"
        if path.suffix == ".sigmf-data":
            return "a recording"
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise BadFile(f"{path} does not exist.") from None
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, dict):
        if "ironarm_radio_run" in data:
            return "a radio run"
        if data.get("format") == "ironarm agent":
            return "an agent"
        if isinstance(data.get("global"), dict) and "core:datatype" in data["global"]:
            return "a recording"
    raise BadFile(f"{path} is none of the files that ironarm draws; {CAN_BE_DRAWN}.")


def _refuse_unused(kind: str, given: set[str]) -> None:
    unused = sorted(OPTIONS.get(name, name) for name in given - USED[kind])
    if unused:
        raise InvalidInput(
            f"the figure of {kind} has no choice of {', '.join(unused)}; leave "
            f"{'it' if len(unused) == 1 else 'them'} out."
        )
