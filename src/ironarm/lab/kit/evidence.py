"""What claims, tables and figures look at: the results of one run at one rho."""

from __future__ import annotations

import numpy as np

from ...simulation import Result


class Evidence:
    """The policies' results in one run at one rho, limited to the first trials.

    `unit` is the unit of the regret.
    """

    def __init__(self, results: dict[str, Result], trials: int, unit: str = "") -> None:
        self._results, self.unit = results, unit
        self.trials = min([trials, *(result.regret.shape[1] for result in results.values())])

    def rounds(self, name: str) -> np.ndarray:
        """The checkpoints."""
        return self._results[name].rounds

    def curves(self, name: str) -> np.ndarray:
        """Regret, array (trial, checkpoint)."""
        return self._results[name].regret[0, : self.trials]

    def optimal_curves(self, name: str) -> np.ndarray:
        """Share of optimal pulls so far, array (trial, checkpoint)."""
        return self._results[name].optimal[0, : self.trials]

    def regret(self, name: str) -> np.ndarray:
        """Final regret of each trial."""
        return self.curves(name)[:, -1]

    def last_tenth(self, name: str) -> np.ndarray:
        """Share of optimal pulls in the last tenth of the rounds, for each trial."""
        return self._results[name].last_tenth[0, : self.trials]

    def stuck(self, name: str) -> np.ndarray:
        """Whether each trial is stuck; see `Result.stuck`."""
        return self._results[name].stuck[0, : self.trials]
