"""Run a study: tune first, then run every policy. Each result is kept as a cell."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

from ...errors import InvalidInput
from ...naming.own_faults import constants_of
from ...policies import Policy
from ...show.text import counted
from ...simulation import Result
from ...simulation.cells import Cell, CellStore, compile_cells, run_together
from ...simulation.progress import Portion, Progress
from .study import Run, Study
from .tuning import Tuned, next_value

Task = tuple[Run, float, str]
"""A run, a rho and a policy's name."""


@dataclass
class StudyFindings:
    """What a study found: results by run and rho, and what tuning chose."""

    study: Study
    outcomes: dict[tuple[str, float], dict[str, Result]] = field(default_factory=dict)
    choices: list[Tuned] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    kept: int = 0
    computed: int = 0
    seconds: float = 0.0


TOGETHER = 4
"""Noise is drawn once for this many policies. An interrupt loses no more cells."""

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
        self._findings = StudyFindings(study)
        self._obtained = 0

    def run(self) -> StudyFindings:
        """Run what is missing, and return everything."""
        started = time.monotonic()
        places = [(run, rho) for run in self._study.runs for rho in run.rho]
        tasks = [(run, rho, name) for run, rho in places for name in run.policies]
        grids = self._grids([task for task in tasks if self._study.policies[task[2]].tune])
        likely = [self._cell(run, rho, self._first(name, rho)) for run, rho, name in tasks]
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
            for run, rho in places:
                wanted = {
                    name: chosen.get((run, rho, name)) or self._first(name, rho)
                    for name in run.policies
                }
                results = self._obtain(
                    [(name, self._cell(run, rho, policy)) for name, policy in wanted.items()],
                    rho,
                    bar,
                )
                self._findings.outcomes[run.name, rho] = dict(zip(wanted, results, strict=True))
        self._findings.seconds = time.monotonic() - started
        return self._findings

    def _first(self, name: str, rho: float) -> Policy:
        """Return a policy as it is, or the first of its grid."""
        return self._study.policies[name].candidates(rho)[0]

    def _tune(self, cells: list[Cell], tuned: list[Task], bar: Progress) -> Tuned:
        """Play a policy's grid, and go on beyond its end while that is better."""
        run, rho, name = tuned[0]
        entry = self._study.policies[name]
        runs = tuple(run.name for run, _, _ in tuned)
        choice = Tuned(name, rho, cells[0].trials, tuple(entry.tune), (), runs)
        grid = product(*entry.tune.values())
        for values, cell, regret in zip(
            grid, cells, self._regrets(cells, name, rho, bar), strict=True
        ):
            choice = choice.with_candidate(values, cell.policy, regret)
        while (value := next_value(choice)) is not None:
            try:
                policy = entry.candidate(rho, [value])
                constants_of(policy, run.bandit.arms, run.horizon)
            except InvalidInput:  # the parameter has no values beyond
                break
            cell = replace(cells[0], policy=policy)
            self._total += 1
            bar.extend(cell.rounds * round_work(cell))
            [regret] = self._regrets([cell], name, rho, bar)
            choice = choice.with_candidate([value], policy, regret)
        return choice

    def _regrets(self, cells: list[Cell], name: str, rho: float, bar: Progress) -> list[float]:
        """Return the cells' mean final regrets."""
        results = self._obtain([(f"tuning {name}", cell) for cell in cells], rho, bar)
        return [float(result.regret[0, :, -1].mean()) for result in results]

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
                run.sources,
                run.delay,
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
            run.sources,
            run.delay,
        )

    def _obtain(self, cells: Iterable[tuple[str, Cell]], rho: float, bar: Progress) -> list[Result]:
        """Return the results of labelled cells that differ only in their policy."""
        found: dict[str, Result] = {}
        missing: dict[str, tuple[str, Cell]] = {}
        keys = []
        for label, cell in cells:
            keys.append(cell.key)
            # a tuned and an untuned policy may be the same cell; count it once
            shared = cell.key in self._findings.keys
            self._findings.keys.append(cell.key)
            result = None if self._force and not shared else self._store.get(cell)
            if result is None and cell.key not in missing:
                missing[cell.key] = label, cell
                continue
            if result is not None:
                found[cell.key] = result
                self._findings.kept += not shared
            self._obtained += 1
            bar.advance(cell.rounds * round_work(cell))
        waiting = list(missing.values())
        for first in range(0, len(waiting), TOGETHER):
            found |= self._run(waiting[first : first + TOGETHER], rho, bar)
        return [found[key] for key in keys]

    def _run(self, cells: list[tuple[str, Cell]], rho: float, bar: Progress) -> dict[str, Result]:
        """Run cells as one simulation and keep their results."""
        label, cell = cells[0]
        more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
        self._obtained += len(cells)
        part = Portion(
            bar,
            f"{self._obtained} of {self._total}: {label}{more}, rho = {rho:g}, "
            f"{counted(cell.trials, 'trial')} of {cell.horizon:,} rounds",
            len(cells) * cell.horizon * round_work(cell),
        )
        results = run_together([cell for _, cell in cells], self._workers, part)
        for (_, cell), result in zip(cells, results, strict=True):
            self._store.put(cell, result)
            self._findings.computed += 1
        return {cell.key: result for (_, cell), result in zip(cells, results, strict=True)}
