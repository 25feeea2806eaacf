"""Cells: simulations of one policy that are kept on disk and never run twice.

A cell is one policy on one bandit under one attack, with its horizon, trials, seed and
checkpoints. Its result is one file, named by a hash of everything that determines it,
the code included, and written whole or not at all. So interrupted work resumes, and
finished work is never repeated. Cells of the same seed meet the same noise and coins,
whenever and wherever they run, so they can be compared trial by trial.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..attacks import Attack
from ..bandits import Bandit
from ..engine.adversary import Adversary
from ..engine.machine import Machine, machine_for
from ..engine.warm import compile_all
from ..errors import BadFile, InvalidInput
from ..naming.own_faults import constants_of
from ..policies import Policy
from .delay import Delay
from .fingerprint import code_fingerprint, hash_of
from .progress import Progress
from .result import Result
from .simulate import simulate, specification
from .sources import Sources
from .trial import entry_for


@dataclass(frozen=True, eq=False)
class Cell:
    """One policy in one setting; see the module's docstring.

    >>> import ironarm as ia
    >>> cell = Cell(
    ...     ia.UCB(),
    ...     ia.GaussianBandit([0, 1]),
    ...     ia.NoAttack(),
    ...     horizon=100,
    ...     trials=3,
    ...     seed=1,
    ...     checkpoints=(10, 100),
    ... )
    >>> cell.run(progress=False).regret.shape
    (1, 3, 2)
    """

    policy: Policy
    bandit: Bandit
    attack: Attack
    horizon: int
    trials: int
    seed: int
    checkpoints: tuple[int, ...]
    sources: Sources | None = None
    delay: Delay | None = None

    @cached_property
    def specification(self) -> dict[str, Any]:
        """What determines the result, except the checkpoints and the code."""
        return specification(
            (self.policy,),
            self.bandit,
            self.attack,
            self.horizon,
            self.trials,
            self.seed,
            self.sources,
            self.delay,
        )

    def setting(self) -> str:
        """What determines the result besides the policy; for `run_together`."""
        rest = {key: value for key, value in self.specification.items() if key != "policies"}
        return json.dumps([rest, self.checkpoints], sort_keys=True)

    @cached_property
    def key(self) -> str:
        """A hash of everything that determines the result."""
        code = code_fingerprint(type(self.policy), type(self.attack), type(self.bandit))
        text = json.dumps([self.specification, self.checkpoints, code], sort_keys=True)
        return hash_of(text)[:32]

    @property
    def rounds(self) -> int:
        """How many rounds are to be played in all: a measure of its work."""
        return self.trials * self.horizon

    def run(self, workers: int | None = None, progress: bool | Progress | None = None) -> Result:
        """Run the simulation."""
        return self._simulate([self.policy], workers, progress)

    def _simulate(
        self,
        policies: Sequence[Policy],
        workers: int | None,
        progress: bool | Progress | None,
    ) -> Result:
        """Run the simulation with these policies."""
        return simulate(
            policies,
            self.bandit,
            self.attack,
            horizon=self.horizon,
            trials=self.trials,
            seed=self.seed,
            workers=workers,
            checkpoints=self.checkpoints,
            progress=progress,
            sources=self.sources,
            delay=self.delay,
        )


def run_together(
    cells: Sequence[Cell], workers: int | None = None, progress: bool | Progress | None = None
) -> list[Result]:
    """Run cells that differ only in the policy as one simulation.

    Noise is drawn once and rewards are computed once for all of them. The results are
    the same as one by one.
    """
    result = cells[0]._simulate([cell.policy for cell in cells], workers, progress)
    parts = []
    for i, cell in enumerate(cells):
        arrays = {
            name: getattr(result, name)[i : i + 1]
            for name in ("regret", "optimal", "pulls", "last_tenth")
        }
        parts.append(
            Result(
                policies=(cell.policy,),
                rounds=result.rounds,
                specification=cell.specification,
                seconds=None,
                **arrays,
            )
        )
    return parts


def compile_cells(cells: Sequence[Cell], say: Callable[[str], None]) -> None:
    """Compile everything that the cells need, on two processors.

    Whoever runs the cells, here or in other processes, then only loads it.
    """
    adversaries = {type(cell.attack): Adversary(cell.attack, cell.bandit) for cell in cells}
    # a policy's loops are compiled one after the other, so it is announced once
    loops: dict[tuple[int, Machine], tuple[Cell, set[str]]] = {}
    for cell in cells:
        arms = cell.bandit.arms
        machine = machine_for(cell.policy, constants_of(cell.policy, arms, cell.horizon))
        _, entries = loops.setdefault((arms, machine), (cell, set()))
        entries.add(entry_for(adversaries[type(cell.attack)], cell.sources, cell.delay))
    together: dict[tuple[int, tuple[str, ...]], list[Cell]] = {}
    for (arms, _), (cell, entries) in loops.items():
        together.setdefault((arms, tuple(sorted(entries))), []).append(cell)
    for (arms, needed), group in together.items():
        compile_all(
            [cell.policy for cell in group],
            adversaries[type(group[0].attack)],
            arms,
            group[0].horizon,
            say,
            needed,
        )
    for adversary in adversaries.values():
        adversary.prepare()
    for cell in cells:
        cell.bandit.prepare(say)


class CellStore:
    """A folder of finished cells.

    Several processes may use it at once: a file is there whole or not at all, and both
    would write the same.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput(
                f"the folder {self.folder} cannot be created: {error.strerror}. Choose another."
            ) from None

    def path(self, cell: Cell) -> Path:
        """Return where a cell's result is kept."""
        return self.folder / f"{cell.key}.npz"

    def get(self, cell: Cell) -> Result | None:
        """Return a cell's result; None if it is missing or damaged."""
        try:
            result = Result.load(self.path(cell))
        except BadFile:
            return None
        fits = (
            result.specification == cell.specification
            and result.regret.shape[1] == cell.trials
            and tuple(result.rounds.tolist()) == cell.checkpoints
        )
        return result if fits and np.isfinite(result.regret).all() else None

    def put(self, cell: Cell, result: Result) -> None:
        """Keep a cell's result, without the time it took.

        So the file is the same whenever and wherever it is made.
        """
        replace(result, seconds=None).save(self.path(cell))

    def obtain(
        self, cell: Cell, workers: int | None = None, progress: bool | Progress | None = None
    ) -> Result:
        """Return a cell's result, running the simulation if it is not there."""
        result = self.get(cell)
        if result is None:
            result = cell.run(workers, progress)
            self.put(cell, result)
        return result
