"""Run a study: tune first, then run every policy. Each result is kept as a cell."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby, product
from pathlib import Path
from typing import Any

from ...errors import InvalidInput
from ...naming.own_faults import constants_of
from ...policies import Policy
from ...show.text import counted
from ...simulation import Result
from ...simulation.cells import Cell
from ...simulation.progress import Progress
from ..kit.cell_runner import CellRunner
from ..kit.evidence import Evidence
from ..kit.statistics import Losses
from .certified import proven
from .study import Run, Study, StudyPolicy
from .tuning import TIMES, Candidate, Tuned, next_value, to_play_again

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

    def evidence(self, run: Run, rho: float, trials: int | None = None) -> Evidence:
        """Return what a run shows at one rho, on all trials or on the first."""
        return Evidence(
            self.outcomes[run.name, rho],
            sys.maxsize if trials is None else trials,
            self.study.unit,
            largest=run.largest_regret,
            proven=lambda policy: proven(policy, run, rho),
        )


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
        self._on_tuning: dict[str, Run] = {}

    def run(self) -> StudyFindings:
        """Run what is missing, and return everything."""
        started = time.monotonic()
        places = [(run, rho) for run in self._study.played for rho in run.rho]
        tasks = [(run, rho, name) for run, rho in places for name in run.policies]
        grids = self._grids([task for task in tasks if self._study.policies[task[2]].tune])
        likely = [self._cell(run, rho, name, self._first(name, rho)) for run, rho, name in tasks]
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
                    name: self._cell(
                        run, rho, name, chosen.get((run, rho, name)) or self._first(name, rho)
                    )
                    for name in run.policies
                }
                results: dict[str, Result] = {}
                # only what has as many trials can share its noise
                for _, group in groupby(sorted(wanted, key=run.trials_for), run.trials_for):
                    names = list(group)
                    cells = [wanted[name] for name in names]
                    found = self._obtain(list(zip(names, cells, strict=True)), rho, bar)
                    results |= dict(zip(names, found, strict=True))
                self._findings.outcomes[run.name, rho] = {name: results[name] for name in wanted}
        done = self._cells
        self._findings.keys = done.keys
        self._findings.kept, self._findings.computed = done.kept, done.computed
        self._findings.seconds = time.monotonic() - started
        return self._findings

    def _first(self, name: str, rho: float) -> Policy:
        """Return a policy as it is, or the first of its grid."""
        return self._study.policies[name].candidates(rho)[0]

    def _tune(self, cells: list[Cell], tuned: list[Task], bar: Progress) -> Tuned:
        """Find the best value of a policy's grid; `tuning.py` says how."""
        run, rho, name = tuned[0]
        entry = self._study.policies[name]
        choice = Tuned(name, rho, tuple(entry.tune), (), tuple(run.name for run, _, _ in tuned))
        values: Iterable[tuple[Any, ...]] = product(*entry.tune.values())
        first = cells[0].trials
        while cells:
            found = self._regrets(cells, run, name, rho, bar)
            choice = choice.with_candidates(
                Candidate(tuple(one), cell.policy, losses)
                for one, cell, losses in zip(values, cells, found, strict=True)
            )
            cells, values = self._more(cells[0], choice, entry, run, first)
            self._total += len(cells)
            bar.extend(sum(map(cell_work, cells)))
        return choice

    def _more(
        self, like: Cell, choice: Tuned, entry: StudyPolicy, run: Run, first: int
    ) -> tuple[list[Cell], list[tuple[Any, ...]]]:
        """Return what to play next, as cells and values; nothing if all is known."""
        if (value := next_value(choice)) is not None:
            with suppress(InvalidInput):  # if the parameter has no values beyond
                policy = entry.candidate(choice.rho, [value])
                constants_of(policy, run.bandit.arms, run.horizon)
                most = max(one.trials for one in choice.candidates)
                return [replace(like, policy=policy, trials=most)], [(value,)]
        if self._study.quick:
            return [], []
        again = to_play_again(choice, first, run.horizon)
        cells = [replace(like, policy=one.policy, trials=TIMES * first) for one in again]
        return cells, [one.values for one in again]

    def _regrets(
        self, cells: list[Cell], run: Run, name: str, rho: float, bar: Progress
    ) -> list[Losses]:
        """Return the cells' final regrets."""
        results = self._obtain([(f"tuning {name}", cell) for cell in cells], rho, bar)
        # what is proven must be about the arms that it was played on
        run = self._on_tuning.setdefault(run.name, replace(run, bandit=run.tuned_on))
        found = []
        for result, cell in zip(results, cells, strict=True):
            proof = proven(cell.policy, run, rho)
            found.append(Losses(result.regret[0, :, -1], proof.bound if proof else None))
        return found

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
        trials = run.tuning_trials or entry.tuning_trials or tuning.trials
        if self._study.quick:
            trials = min(trials, tuning.trials)
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

    def _cell(self, run: Run, rho: float, name: str, policy: Policy) -> Cell:
        return Cell(
            policy,
            run.bandit,
            run.attack_at(rho),
            run.horizon,
            run.trials_for(name),
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
