"""A study as data: what is run, which claims it checks, how it is shown.

`read.py` reads one from its folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from ... import attacks
from ...attacks import Attack
from ...bandits import Bandit
from ...policies import Policy, policy_from_text
from ...simulation import Delay, Sources
from ...simulation.simulate import checkpoint_rounds


@dataclass(frozen=True)
class StudyPolicy:
    """A policy under the name that the study gives it.

    `tune` is a grid of parameters to choose from, at first on `tuning_trials` trials or
    on the study's own number (None).
    """

    name: str
    text: str
    tune: Mapping[str, tuple[Any, ...]]
    tuning_trials: int | None = None

    def candidates(self, rho: float) -> list[Policy]:
        """Return the policies of the grid at this rho; just one if nothing is tuned."""
        return [self.candidate(rho, values) for values in product(*self.tune.values())]

    def candidate(self, rho: float, values: Iterable[Any]) -> Policy:
        """Return the policy with these values of the tuned parameters."""
        policy = policy_from_text(self.text, rho=rho)
        return replace(policy, **dict(zip(self.tune, values, strict=True)))  # type: ignore[type-var]


@dataclass(frozen=True, eq=False)
class Run:
    """Policies in one setting, for each rho."""

    name: str
    rho: tuple[float, ...]
    horizon: int
    trials: int
    policies: tuple[str, ...]
    bandit: Bandit
    attack: Mapping[str, Any]
    tuned_on: Bandit
    """What parameters are tuned on: `bandit`, unless [tuning] changes it, for example
    to a faster tier.
    """
    sources: Sources | None = None
    delay: Delay | None = None
    trials_of: Mapping[str, int] = field(default_factory=dict)
    """Policies with another number of trials than `trials`."""
    tuning_trials: int | None = None
    """On how many trials policies are tuned first; None for the study's number."""
    long: bool = False
    """Whether it is run with --long only."""
    ours: bool = False
    """Whether it is a setting of this study's own, and not one of the paper's."""

    def trials_for(self, name: str) -> int:
        """Return how many trials a policy has in this run."""
        return self.trials_of.get(name, self.trials)

    @property
    def largest_regret(self) -> float:
        """The largest regret possible: every pull is the worst."""
        worst = max(float(part.gaps.max()) for _, part in self.bandit.segments)
        return self.horizon * worst

    def attack_at(self, rho: float) -> Attack:
        """Return the run's attack at this rho."""
        parameters = {key: value for key, value in self.attack.items() if key != "name"}
        return attacks.make(self.attack["name"], {"rho": rho, **parameters})

    @property
    def checkpoints(self) -> tuple[int, ...]:
        """The rounds that are recorded."""
        return tuple(checkpoint_rounds(self.horizon).tolist())


@dataclass(frozen=True)
class Tuning:
    """The trials on which parameters are tuned; their seed is not the study's."""

    seed: int
    trials: int
    bandit: Mapping[str, Any]
    """What differs from the run's bandit."""


@dataclass(frozen=True)
class Study:
    """A study that was read and checked."""

    name: str
    title: str
    seed: int
    paper_trials: int
    """How many trials the paper had; if it does not say, how many count as few."""
    paper: str
    """The paper whose claims are checked; empty if there is none."""
    policies: Mapping[str, StudyPolicy]
    tuning: Tuning | None
    runs: tuple[Run, ...]
    claims: tuple[Mapping[str, Any], ...]
    show: Mapping[str, Any]
    quick: bool
    """Whether these are the study's quick sizes, not its own."""
    folder: Path = field(default=Path(), repr=False)
    """Where its files are."""
    arm: str = "arm"
    """What the study calls an arm, for example a channel."""
    unit: str = ""
    """The unit of rewards, and so of regret."""
    long: bool = False
    """Whether the runs that take long are run too, and others at their long sizes."""

    @property
    def has_paper(self) -> bool:
        """Whether the study checks what a paper says."""
        return bool(self.paper)

    @property
    def played(self) -> tuple[Run, ...]:
        """The runs that are run: those that take long only if that was asked for."""
        return tuple(run for run in self.runs if self.long or not run.long)

    def run(self, name: str) -> Run:
        """Return the run of that name."""
        return next(run for run in self.runs if run.name == name)
