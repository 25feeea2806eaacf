"""What claims, tables and figures look at: the results of one run at one rho."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

import numpy as np

from ...policies import Policy
from ...simulation import Result
from . import statistics
from .statistics import Estimate, Losses


class Proof(Protocol):
    """What theory may prove of a policy's mean final regret."""

    @property
    def bound(self) -> float:
        """It is at most this, under any attack of the model."""

    @property
    def exponent(self) -> float:
        """It grows as T to this power; 0 is logarithmic."""

    @property
    def forced(self) -> float:
        """What forced and random pulls cost."""

    @property
    def floor(self) -> float | None:
        """The least possible for any policy; None if that is not known."""


class Evidence:
    """The policies' results in one run at one rho, limited to the first trials.

    Parameters
    ----------
    results : by the policies' names; they may have different numbers of trials.
    trials : at most so many are looked at.
    unit : the unit of the regret.
    largest : the largest regret possible, with which intervals allow for losses that no
        trial showed; None for no allowance.
    proven : what theory proves about a policy here, None where it has no proof.
    """

    def __init__(
        self,
        results: dict[str, Result],
        trials: int,
        unit: str = "",
        *,
        largest: float | None = None,
        proven: Callable[[Policy], Proof | None] = lambda policy: None,
    ) -> None:
        self._results, self._most, self.unit = results, trials, unit
        self.largest, self._proven = largest, proven

    @property
    def trials(self) -> int:
        """How many trials every policy has."""
        return min(map(self.trials_of, self._results))

    def trials_of(self, name: str) -> int:
        """How many trials a policy has."""
        return min(self._most, self._results[name].regret.shape[1])

    def span(self, names: Iterable[str]) -> tuple[int, int]:
        """The smallest and the largest number of trials among policies."""
        counts = [self.trials_of(name) for name in names]
        return min(counts), max(counts)

    def rounds(self, name: str) -> np.ndarray:
        """The checkpoints."""
        return self._results[name].rounds

    def policy(self, name: str) -> Policy | None:
        """The policy as it was played, tuned; None if its code is not here."""
        found = self._results[name].policies[0]
        return found if isinstance(found, Policy) else None

    def curves(self, name: str) -> np.ndarray:
        """Regret, array (trial, checkpoint)."""
        return self._results[name].regret[0, : self._most]

    def optimal_curves(self, name: str) -> np.ndarray:
        """Share of optimal pulls so far, array (trial, checkpoint)."""
        return self._results[name].optimal[0, : self._most]

    def regret(self, name: str) -> np.ndarray:
        """Final regret of each trial."""
        return self.curves(name)[:, -1]

    def mean_regret(self, name: str) -> Estimate:
        """Mean final regret; its interval allows for losses that no trial showed."""
        return statistics.mean_loss(self.regret(name), self.largest, self.bound(name))

    def proven(self, name: str) -> Proof | None:
        """What theory proves about a policy here; None without a proof."""
        policy = self.policy(name)
        return None if policy is None else self._proven(policy)

    def bound(self, name: str) -> float | None:
        """The certificate's bound on a policy's mean final regret, if there is one."""
        found = self.proven(name)
        return None if found is None else found.bound

    def difference(self, one: str, other: str) -> Estimate:
        """Mean final regret of one minus that of another, trial by trial."""
        first, second = (Losses(self.regret(name), self.bound(name)) for name in (one, other))
        return statistics.mean_difference(first, second, self.largest)

    def last_tenth(self, name: str) -> np.ndarray:
        """Share of optimal pulls in the last tenth of the rounds, for each trial."""
        return self._results[name].last_tenth[0, : self._most]

    def stuck(self, name: str) -> np.ndarray:
        """Whether each trial is stuck; see `Result.stuck`."""
        return self._results[name].stuck[0, : self._most]
