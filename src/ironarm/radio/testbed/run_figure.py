"""The figure of a run of the testbed: the regret, the channels, what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InvalidInput
from ...show.curves import Band, Look, PolicyCurve, chosen, draw

if TYPE_CHECKING:
    from .records import RunRecord


def plot_run(
    run: RunRecord, look: Look, labels: Mapping[str, str] | Iterable[str] | None = None
) -> Any:
    """Draw a run; see `RunRecord.plot`."""
    if not run.rounds:
        raise InvalidInput("the run has no rounds, so there is nothing to draw.")
    means = run.config.channels.means
    best = run.channels == int(np.argmax(means))
    count = np.arange(1, len(run.rounds) + 1)
    policy, name = run.config.known_policy, run.config.policy_name
    line = PolicyCurve(
        chosen([policy.label if policy else name], None, labels)[0][1],
        type(policy).__name__ if policy else name,
        count,
        {
            panel: Band(values)
            for panel, values in {
                "regret": np.array([record.regret for record in run.rounds]),
                "optimal": np.cumsum(best) / count,
                "pulls": np.bincount(run.channels, minlength=len(means)).astype(float),
            }.items()
            if panel in look.panels
        },
        len(means),
    )
    megahertz = [f"{centre / 1e6:.1f} MHz" for centre in run.config.centres_hz]
    title = f"{len(run.rounds):,} rounds of the radio testbed, seed {run.config.seed}"
    return draw([line], look, title=title, unit="dB", arms=megahertz)
