"""Run a study: tune first, then run every policy. Each result is kept as a cell."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

from ...errors import InvalidInput
from ...naming.own_faults import constants_of
from ...policies import Policy
from ...show.text import counted
from ...simulation import Result
from ...simulation.cells import Cell
from ...simulation.progress import Progress
from ..kit.cell_runner import CellRunner
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


def cell_work(cell: Cell) -> int:
    """Return how much work a cell is, in usual rounds."""
    return cell.rounds * (SIGNAL_LEVEL if getattr(cell.bandit, "tier", "") == "iq" else 1)


class Runner:
    """One execution of a study on a store of cells."""

    def __init__(
        self, study: Study, out: Path, *, workers: int | None = None, force: bool = False
    ) -> None:
        self._study, self._findings = study, StudyFindings(study)
        self._cells = CellRunner(out, workers, force=force, together=TOGETHER, work=cell_work)
        self._shown = self._total = 0

    def run(self) -> StudyFindings:
        """Run what is missing, and return everything."""
        started = time.monotonic()
        places = [(run, rho) for run in self._study.runs for rho in run.rho]
        tasks = [(run, rho, name) for run, rho in places for name in run.policies]
        grids = self._grids([task for task in tasks if self._study.policies[task[2]].tune])
        likely = [self._cell(run, rho, self._first(name, rho)) for run, rho, name in tasks]
        everything = [*(cell for cells, _ in grids for cell in cells), *likely]
        self._total = len(everything)
        with Progress("preparing", 1, True) as bar:
            self._cells.prepare(everything, bar)
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
        found, done = self._findings, self._cells
        found.keys, found.kept, found.computed = done.keys, done.kept, done.computed
        found.seconds = time.monotonic() - started
        return found

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
            bar.extend(cell_work(cell))
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

    def _obtain(self, labelled: list[tuple[str, Cell]], rho: float, bar: Progress) -> list[Result]:
        """Return the results of labelled cells that differ only in their policy."""
        cells = [cell for _, cell in labelled]
        labels = {cell.key: label for label, cell in reversed(labelled)}

        def label(batch: Sequence[Cell]) -> str:
            self._shown += len(batch)
            first, more = batch[0], f" and {len(batch) - 1} more" if len(batch) > 1 else ""
            return (
                f"{self._shown} of {self._total}: {labels[first.key]}{more}, rho = {rho:g}, "
                f"{counted(first.trials, 'trial')} of {first.horizon:,} rounds"
            )

        before = self._cells.computed
        results = self._cells.obtain(cells, bar, label)
        self._shown += len(cells) - (self._cells.computed - before)
        return results
