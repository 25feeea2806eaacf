"""Regret and share of optimal pulls over the rounds, with bands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidInput
from ..figures import Styles, pyplot
from .summary import bootstrap_interval

if TYPE_CHECKING:
    from .result import Result


def plot_result(result: Result, path: str | Path | None = None) -> Any:
    """Draw a result; see `Result.plot`."""
    plt = pyplot()
    figure, (above, below) = plt.subplots(2, 1, figsize=(8, 8), sharex=True, layout="constrained")
    names = [str(data["policy"]) for data in result.specification["policies"]]
    styles = Styles()
    for i, (name, label) in enumerate(zip(names, result.labels, strict=True)):
        colour, line, _ = styles.next(name)
        for axes, values in ((above, result.regret[i]), (below, result.optimal[i])):
            mean = values.mean(axis=0)
            axes.plot(result.rounds, mean, line, color=colour, label=label, linewidth=1.8)
            if values.shape[0] > 1:
                low, high = bootstrap_interval(np.ascontiguousarray(values.T))
                axes.fill_between(result.rounds, low, high, color=colour, alpha=0.18, linewidth=0)
    above.set(xscale="log", yscale="log", ylabel="regret")
    positive = result.regret[result.regret > 0]
    if positive.size:
        above.set_ylim(bottom=max(float(positive.min()), float(result.regret.max()) * 1e-7))
    below.set(xscale="log", xlabel="round", ylabel="share of optimal pulls", ylim=(-0.03, 1.03))
    figure.suptitle(_title(result), fontsize=10)
    figure.legend(
        *above.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False
    )
    if path is not None:
        path = Path(path)
        try:
            figure.savefig(path, dpi=150)
        except (OSError, ValueError) as error:
            raise InvalidInput(f"the figure cannot be written to {path}: {error}") from None
        finally:
            plt.close(figure)
    return figure


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
