"""Run a study: tune first, then run every policy. Each result is kept as a cell."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

from ..errors import InvalidInput
from ..policies import Policy
from ..simulation import Result
from ..simulation.cells import Cell, CellStore, compile_cells
from ..simulation.progress import Part, Progress
from .study import Run, Study
from .tuning import Choice, next_value

Task = tuple[Run, float, str]
"""A run, a rho and a policy's name."""


@dataclass
class Findings:
    """What a study found: results by run and rho, and what tuning chose."""

    study: Study
    outcomes: dict[tuple[str, float], dict[str, Result]] = field(default_factory=dict)
    choices: list[Choice] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    kept: int = 0
    computed: int = 0
    seconds: float = 0.0


SIGNAL_LEVEL = 90
"""A round at signal level, with a packet sent and received, takes as long as this many
others (measured: 70 to 120).
"""


def round_work(cell: Cell) -> int:
    """Return how much work one round of a cell is, in units of a usual round."""
    return SIGNAL_LEVEL if getattr(cell.bandit, "tier", "") == "iq" else 1


class Runner:
    """One execution of a study on a store of cells."""

    def __init__(
        self, study: Study, out: Path, *, workers: int | None = None, force: bool = False
    ) -> None:
        self._study, self._store, self._workers, self._force = (
            study,
            CellStore(out / "cells"),
            workers,
            force,
        )
        self._findings = Findings(study)
        self._obtained = 0

    def run(self) -> Findings:
        """Run what is missing, and return everything."""
        started = time.monotonic()
        tasks = [
            (run, rho, name) for run in self._study.runs for rho in run.rho for name in run.policies
        ]
        grids = self._grids([task for task in tasks if self._study.policies[task[2]].tune])
        likely = [
            self._cell(run, rho, self._study.policies[name].candidates(rho)[0])
            for run, rho, name in tasks
        ]
        everything = [*(cell for cells, _ in grids for cell in cells), *likely]
        work = sum(cell.rounds * round_work(cell) for cell in everything)
        with Progress("preparing", work, True) as bar:
            compile_cells(everything, bar.announce)
            bar.restart(work)
            self._total = len(everything)
            chosen: dict[Task, Policy] = {}
            for cells, tuned in grids:
                choice = self._tune(cells, tuned, bar)
                self._findings.choices.append(choice)
                chosen |= dict.fromkeys(tuned, choice.policy)
            for run, rho, name in tasks:
                policy = (
                    chosen.get((run, rho, name)) or self._study.policies[name].candidates(rho)[0]
                )
                result = self._obtain(self._cell(run, rho, policy), name, rho, bar)
                self._findings.outcomes.setdefault((run.name, rho), {})[name] = result
        self._findings.seconds = time.monotonic() - started
        return self._findings

    def _tune(self, cells: list[Cell], tuned: list[Task], bar: Progress) -> Choice:
        """Play a policy's grid, and go on beyond its end while that is better."""
        run, rho, name = tuned[0]
        entry = self._study.policies[name]
        runs = tuple(run.name for run, _, _ in tuned)
        choice = Choice(name, rho, cells[0].trials, tuple(entry.tune), (), runs)
        grid = product(*entry.tune.values())
        for values, cell in zip(grid, cells, strict=True):
            choice = choice.with_candidate(values, cell.policy, self._regret(cell, name, rho, bar))
        while (value := next_value(choice)) is not None:
            try:
                policy = entry.candidate(rho, [value])
                policy.constants(run.bandit.arms, run.horizon)
            except InvalidInput:  # the parameter has no values beyond
                break
            cell = replace(cells[0], policy=policy)
            self._total += 1
            bar.extend(cell.rounds * round_work(cell))
            choice = choice.with_candidate([value], policy, self._regret(cell, name, rho, bar))
        return choice

    def _regret(self, cell: Cell, name: str, rho: float, bar: Progress) -> float:
        """Return a cell's mean final regret."""
        return float(self._obtain(cell, f"tuning {name}", rho, bar).regret[0, :, -1].mean())

    def _grids(self, tasks: list[Task]) -> list[tuple[list[Cell], list[Task]]]:
        """Return the cells that each policy is tuned on, with the tasks that use them.

        Runs that differ only in what tuning changes are tuned together.
        """
        found: dict[tuple[str, ...], tuple[list[Cell], list[Task]]] = {}
        for task in tasks:
            cells = self._tuning_cells(*task)
            found.setdefault((task[2], *(cell.key for cell in cells)), (cells, []))[1].append(task)
        return list(found.values())

    def _tuning_cells(self, run: Run, rho: float, name: str) -> list[Cell]:
        tuning = self._study.tuning
        assert tuning is not None, (
            "a study with a grid and without [tuning] is refused when it is read"
        )
        entry = self._study.policies[name]
        trials = tuning.trials if self._study.quick else entry.tuning_trials or tuning.trials
        # only the final regret matters, so only the horizon is recorded
        return [
            Cell(
                policy,
                run.tuned_on,
                run.attack_at(rho),
                run.horizon,
                trials,
                tuning.seed,
                (run.horizon,),
            )
            for policy in entry.candidates(rho)
        ]

    def _cell(self, run: Run, rho: float, policy: Policy) -> Cell:
        return Cell(
            policy,
            run.bandit,
            run.attack_at(rho),
            run.horizon,
            run.trials,
            self._study.seed,
            run.checkpoints,
        )

    def _obtain(self, cell: Cell, name: str, rho: float, bar: Progress) -> Result:
        self._obtained += 1
        # a tuned and an untuned policy may be the same cell; count it once
        shared = cell.key in self._findings.keys
        self._findings.keys.append(cell.key)
        found = None if self._force and not shared else self._store.get(cell)
        if found is not None:
            self._findings.kept += not shared
            bar.advance(cell.rounds * round_work(cell))
            return found
        part = Part(
            bar,
            f"{self._obtained} of {self._total}: {name}, rho = {rho:g}, {cell.trials:,} trials of "
            f"{cell.horizon:,} rounds",
            cell.horizon * round_work(cell),
        )
        result = cell.run(self._workers, part)
        self._store.put(cell, result)
        self._findings.computed += 1
        return result
