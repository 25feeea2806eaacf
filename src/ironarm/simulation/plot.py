"""The figure of a result: means over the trials, with bands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..show.curves import Band, Look, PolicyCurve, chosen, draw
from .summary import bootstrap_interval

if TYPE_CHECKING:
    from .result import Result


def plot_result(
    result: Result,
    look: Look,
    policies: Iterable[str | int] | str | int | None = None,
    labels: Mapping[str, str] | Iterable[str] | None = None,
) -> Any:
    """Draw a result; see `Result.plot`."""
    names = [str(data["policy"]) for data in result.specification["policies"]]
    arrays = {"regret": result.regret, "optimal": result.optimal, "pulls": result.pulls}
    lines = [
        PolicyCurve(
            label,
            names[i],
            result.rounds,
            {panel: _band(arrays[panel][i]) for panel in look.panels},
            result.pulls.shape[2],
        )
        for i, label in chosen(result.labels, policies, labels)
    ]
    arms = result.specification["bandit"].get("names")
    return draw(lines, look, title=_title(result), arms=arms)


def _band(values: np.ndarray) -> Band:
    """Return means over the trials, an array (trial, place), and 95 % intervals."""
    mean = values.mean(axis=0)
    return (
        Band(mean, *bootstrap_interval(np.ascontiguousarray(values.T)))
        if values.shape[0] > 1
        else Band(mean)
    )


def _title(result: Result) -> str:
    specification = result.specification
    attack = specification["attack"]
    numbers = ", ".join(
        f"{name}={value:g}" if isinstance(value, (int, float)) else f"{name}={value}"
        for name, value in attack["parameters"].items()
    )
    trials = specification["trials"]
    return (
        f"{attack['attack']}({numbers}), {trials} trials: mean and 95 % band"
        if trials > 1
        else f"{attack['attack']}({numbers}), one trial"
    )
