"""Run the arena: one simulation per setting, rho and attack, for all missing policies.

Each policy's result is kept as a cell.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ...attacks import Attack
from ...errors import InvalidInput
from ...policies import Policy
from ...simulation import Result
from ...simulation.cells import Cell, compile_cells
from ...simulation.progress import Progress
from ...validation import whole
from ..kit import statistics
from ..kit.cell_runner import CellRunner
from ..kit.statistics import Estimate
from .arena import Arena, Setting
from .floors import attack_floor, unknown_floor, worst_floor

GROUP = tuple[str, float, str]
"""A setting's name, rho, an attack's name: where policies meet."""

TIMED_RUNS, TIMED_TRIALS = 5, 20
"""How often a policy's speed is measured, and how many trials each time."""


@dataclass(frozen=True)
class PolicyScore:
    """How one policy fared in one setting against one attack."""

    regret: Estimate
    median: float
    stuck: Estimate
    optimal: float


@dataclass
class ArenaFindings:
    """What the arena found.

    `refused` says why a policy does not play in a setting; `within_model` which attacks
    obey an independent coin of probability rho.
    """

    arena: Arena
    scores: dict[GROUP, dict[str, PolicyScore]] = field(default_factory=dict)
    refused: dict[tuple[str, float, str], str] = field(default_factory=dict)
    worst_floor: dict[tuple[str, float], float] = field(default_factory=dict)
    unknown_floor: dict[tuple[str, float], float] = field(default_factory=dict)
    attack_floor: dict[GROUP, float] = field(default_factory=dict)
    within_model: dict[str, bool] = field(default_factory=dict)
    nanoseconds: dict[str, float] = field(default_factory=dict)
    kept: int = 0
    """Cells that were there before."""
    computed: int = 0
    shared: int = 0
    """How often a kept or computed cell served once more: without an attack, all rho
    of a setting share their cells.
    """
    seconds: float = 0.0


def run_arena(
    arena: Arena,
    out: Path,
    *,
    workers: int | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> ArenaFindings:
    """Run what is not there yet, and return everything."""
    if workers is not None:
        whole("workers", workers, at_least=1)
    started = time.monotonic()
    runner, findings = CellRunner(out, workers, force=force), ArenaFindings(arena)
    groups = _groups(arena, findings)
    with Progress("preparing", 1, True) if progress is None else progress as bar:
        runner.prepare((cell for cells in groups.values() for cell in cells.values()), bar)
        findings.scores = {group: {} for group in groups}  # in the arena's order
        for number, group in enumerate(_mixed(groups), start=1):
            label = f"{number} of {len(groups)}, {group[0]}, rho = {group[1]:g}, {group[2]}"
            cells = groups[group]
            results = runner.obtain(list(cells.values()), bar, label)
            findings.scores[group] = dict(zip(cells, map(_score, results), strict=True))
        # the results of the first group may be kept from before
        compile_cells(list(next(iter(groups.values())).values()), bar.compiling)
        findings.nanoseconds = _speeds(groups, bar)
        bar.note("computing lower bounds")
        for setting, rho in arena.places:
            place, known = (setting.bandit, rho, setting.horizon), not setting.without_floor
            findings.worst_floor[setting.name, rho] = worst_floor(*place) if known else math.nan
            findings.unknown_floor[setting.name, rho] = unknown_floor(*place) if known else math.nan
            for name in arena.attacks_in(setting):
                attack = arena.attack(name, setting, rho)
                findings.attack_floor[setting.name, rho, name] = (
                    attack_floor(setting.bandit, attack, rho, setting.horizon)
                    if known
                    else math.nan
                )
    findings.kept, findings.computed, findings.shared = runner.kept, runner.computed, runner.shared
    findings.seconds = time.monotonic() - started
    return findings


def _mixed(groups: Iterable[GROUP]) -> list[GROUP]:
    """Return the groups in an order in which settings and attacks take turns.

    A round's time differs from setting to setting and from attack to attack. In the
    arena's order the slow ones come late, and the time left would look too short.

    >>> _mixed([("s", 0.1, "a"), ("s", 0.1, "b"), ("z", 0.2, "a"), ("z", 0.2, "b")])
    [('s', 0.1, 'a'), ('z', 0.2, 'b'), ('s', 0.1, 'b'), ('z', 0.2, 'a')]
    """
    listed = list(groups)
    places = list(dict.fromkeys(group[:2] for group in listed))
    attacks = list(dict.fromkeys(group[2] for group in listed))

    def turn(group: GROUP) -> tuple[int, int]:
        place = places.index(group[:2])
        return (attacks.index(group[2]) + place) % len(attacks), place

    return sorted(listed, key=turn)


def cell_keys(arena: Arena) -> list[str]:
    """Return the names of all cells of an arena, without running anything."""
    return [
        cell.key
        for cells in _groups(arena, ArenaFindings(arena)).values()
        for cell in cells.values()
    ]


def _groups(arena: Arena, findings: ArenaFindings) -> dict[GROUP, dict[str, Cell]]:
    """Return the cells by group and policy; note which policies refuse a setting."""
    groups: dict[GROUP, dict[str, Cell]] = {}
    for setting, rho in arena.places:
        playing = {}
        for name in arena.policies:
            try:
                playing[name] = arena.policy(name, setting, rho)
            except InvalidInput as error:
                findings.refused[setting.name, rho, name] = str(error)
        if not playing:
            why = findings.refused[setting.name, rho, next(iter(arena.policies))]
            raise InvalidInput(
                f"no policy plays in the setting {setting.name!r} at rho = {rho:g}: {why}"
            )
        for name in arena.attacks_in(setting):
            attack = arena.attack(name, setting, rho)
            findings.within_model[name] = attack.within_model
            groups[setting.name, rho, name] = {
                policy: _cell(arena, setting, attack, made) for policy, made in playing.items()
            }
    return groups


def _cell(arena: Arena, setting: Setting, attack: Attack, policy: Policy) -> Cell:
    return Cell(
        policy,
        setting.bandit,
        attack,
        setting.horizon,
        setting.trials,
        arena.seed,
        (setting.horizon,),
        setting.sources,
        setting.delay,
    )


def _score(result: Result) -> PolicyScore:
    regret, stuck = result.regret[0, :, -1], result.stuck[0]
    return PolicyScore(
        statistics.mean(regret),
        float(np.median(regret)),
        statistics.share(stuck),
        float(result.optimal[0, :, -1].mean()),
    )


def _speeds(groups: Mapping[GROUP, Mapping[str, Cell]], bar: Progress) -> dict[str, float]:
    """Return each policy's nanoseconds per round, of one processor's own time.

    It plays the first group. On a busy machine time on the wall says more about the
    others at work, so the processor's time counts, in which this thread ran. Policies
    take turns, so that none has the quiet moments alone, and the shortest run counts.
    """
    first = next(iter(groups.values()))
    bar.note("timing")
    shortest = dict.fromkeys(first, math.inf)
    for _ in range(TIMED_RUNS):
        for name, cell in first.items():
            horizon = min(cell.horizon, 20_000)
            short = replace(cell, horizon=horizon, trials=TIMED_TRIALS, checkpoints=(horizon,))
            began = _clock()
            short.run(1, False)  # one worker is this thread
            shortest[name] = min(shortest[name], 1e9 * (_clock() - began) / short.rounds)
    return shortest


def _clock() -> float:
    """Return this thread's time on a processor, where a system counts it finely."""
    fine = time.get_clock_info("thread_time").resolution < 1e-4
    return time.thread_time() if fine else time.perf_counter()
