"""The figure of an agent: what it knows of each arm."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ..policies import Policy
from ..show.curves import Look
from ..show.figures import plain_label, pyplot
from ..show.looks import BLUE, styles
from ..show.text import counted
from .input import Name

if TYPE_CHECKING:
    from .agent import Agent
    from .core import Core

GREY = "#7F7F7F"


class Seen(NamedTuple):
    """What a figure shows of an agent."""

    policy: Policy
    decisions: int
    estimates: dict[Name, float]
    rewards: dict[Name, int]
    best: Name


def seen(agent: Agent | Core) -> Seen:
    """Look at an agent once: drawing takes a while, and decisions must not wait."""
    return Seen(agent.policy, agent.decisions, agent.estimates, agent.rewards, agent.best())


def plot_agent(agent: Seen, look: Look) -> Any:
    """Draw estimates and numbers of rewards; see `Agent.plot`."""
    estimates, rewards, best = agent.estimates, agent.rewards, agent.best
    axes = look.ax
    if axes is None:
        height = min(30.0, (0.8 if look.column else 1.3) + 0.022 * look.size * len(estimates))
        _, axes = pyplot().subplots(figsize=(look.width(), height), layout="constrained")
    colour = styles().get(type(agent.policy).__name__, (BLUE, ""))[0]
    for place, (name, value) in enumerate(estimates.items()):
        if math.isfinite(value):
            axes.plot(
                value,
                place,
                "o",
                color=colour,
                markersize=0.8 * look.size,
                markerfacecolor=colour if name == best else "white",
            )
        count = f"{rewards[name]:,}{_too_far(value)}"
        # counts stand in a column of their own, where no point can be
        axes.annotate(
            count,
            (1, place),
            (6, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            fontsize=look.size,
            color=GREY,
        )
    axes.annotate(
        "rewards",
        (1, 1),
        (6, 4),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=look.size,
        color=GREY,
    )
    axes.set_yticks(range(len(estimates)), [plain_label(str(name)) for name in estimates])
    axes.set_ylim(len(estimates) - 0.5, -0.5)
    axes.set_xlabel("estimate (filled: the best arm)", fontsize=look.size)
    if not any(math.isfinite(value) for value in estimates.values()):
        axes.set_xlim(0, 1)
    axes.tick_params(labelsize=look.size)
    axes.grid(True, axis="y", alpha=0.25)
    if look.ax is None and not look.column:
        axes.set_title(
            plain_label(f"{agent.policy.label}, {counted(agent.decisions, 'decision')}"),
            fontsize=look.size,
            loc="left",
        )
    return look.finish(axes.get_figure())


def _too_far(value: float) -> str:
    """Say what cannot be drawn."""
    return f" (estimate {value})" if math.isinf(value) else ""
