"""Compare policies with the arena's best: one page about where yours wins and breaks.

It is an arena of few policies: yours, and the `rivals` that the arena file names. Two
things are added: regret over the rounds, as a figure for a paper, and a search for the
attack that hurts your policy most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...errors import InvalidInput
from ...naming.own_code import split
from ...simulation.cells import Cell
from ...simulation.progress import Progress
from ..kit.cell_runner import CellRunner
from ..kit.page import require_extras
from .arena import Arena
from .compare_page import write_page
from .places import Compared, Place, Search
from .read import with_policies
from .runner import ArenaFindings, run_arena
from .standings import rows, standings
from .worst_case import by_trials, damage, worst_case

SEARCH = {False: {"trials": 200, "budget": 64}, True: {"trials": 16, "budget": 8}}
"""How long to search for a worse attack: in full, and quickly."""


def with_rivals(arena: Arena, texts: Sequence[str], against: Sequence[str] | None) -> Arena:
    """Return the arena of these policies and their rivals, yours first."""
    mine = named(texts)
    rivals = list(arena.rivals or arena.policies) if against is None else list(against)
    others = {}
    for name in rivals:
        others.update({name: arena.policies[name]} if name in arena.policies else named([name]))
    others = {name: text for name, text in others.items() if name not in mine}
    if not others:
        raise InvalidInput("there is nothing to compare with; name another policy with --against.")
    return with_policies(replace(arena, policies={}, compare=()), {**mine, **others})


def named(texts: Sequence[str]) -> dict[str, str]:
    """Return texts by the names to show: without the file's path, and each once.

    >>> named(["lab/mine.py:MyPolicy(b=2)", "UCB"])
    {'MyPolicy(b=2)': 'lab/mine.py:MyPolicy(b=2)', 'UCB': 'UCB'}
    """
    found: dict[str, str] = {}
    for text in texts:
        name = split(text)[1]
        if found.setdefault(name, text) != text:
            name = text  # the same name in two files
        found[name] = text
    return found


def compare(
    arena: Arena,
    mine: Sequence[str],
    out: Path,
    command: str,
    *,
    quick: bool = False,
    workers: int | None = None,
) -> tuple[list[Compared], ArenaFindings]:
    """Run what is missing, and write the page, JSON and figures into a folder.

    `arena` is what `with_rivals` returns; `mine` names the user's policies in it.
    """
    require_extras()  # now, not after the simulations
    steps = len(mine) + 2

    def step(number: int, what: str) -> Progress:
        return Progress(what, 1, True, f"step {number} of {steps}")

    with step(1, "") as bar:
        bar.announce("preparing")
        findings = run_arena(arena, out, workers=workers, progress=bar)
    order = standings(findings)
    found = []
    for number, name in enumerate(mine, start=2):
        standing = next((each for each in order if each.policy == name), None)
        if standing is None:
            why = next(why for (_, _, policy), why in findings.refused.items() if policy == name)
            raise InvalidInput(f"{name} plays in no setting: {why}")
        places = tuple(_places(findings, name, set(mine)))
        found.append(
            Compared(
                name,
                order.index(standing) + 1,
                len(order),
                standing,
                places,
                _search(arena, name, places, out, quick, workers, step(number, "")),
                arena.settings[0].bandit.arms,
            )
        )
    with step(steps, "") as bar:
        bar.announce("drawing figures")
        write_page(findings, found, order, out, command, quick=quick, workers=workers)
    return found, findings


def _places(findings: ArenaFindings, name: str, mine: set[str]) -> list[Place]:
    """Return the places where a policy plays beside a rival."""
    made = []
    for setting, rho in findings.arena.places:
        by_policy = {row.policy: row for row in rows(findings, setting, rho)}
        rivals = [row for policy, row in by_policy.items() if policy not in mine]
        if name in by_policy and rivals:
            best = min(rivals, key=lambda row: row.worst.regret.value)
            made.append(Place(setting.name, rho, setting.trials, by_policy[name], best))
    return made


def _search(
    arena: Arena,
    name: str,
    places: Sequence[Place],
    out: Path,
    quick: bool,
    workers: int | None,
    bar: Progress,
) -> Search:
    """Search for the worst attack in the first setting at its largest rho.

    The best rival there then plays against the same attacks, on the same seeds.
    """
    setting = arena.settings[0]
    rho = max(setting.rho)
    with bar:
        bar.announce("searching for a worse attack")
        worst = worst_case(
            arena.policy(name, setting, rho),
            setting.bandit,
            out / "worst-case",
            rho=rho,
            horizon=min(setting.horizon, 10_000),
            seed=arena.seed,
            workers=workers,
            progress=bar,
            **SEARCH[quick],
        )
    here = (place for place in places if (place.setting, place.rho) == (setting.name, rho))
    place = next(here, None)
    if place is None:  # nobody else plays there
        return Search(setting.name, worst, "", ())
    rival = arena.policy(place.rival.policy, setting, rho)
    attacks = [each.attack for each in (worst.found, *worst.named)]
    cells = [
        Cell(
            rival,
            setting.bandit,
            attack,
            worst.horizon,
            worst.trials,
            worst.seed + 1,
            (worst.horizon,),
        )
        for attack in attacks
    ]
    with bar:
        runner = CellRunner(out / "worst-case", workers, work=by_trials)
        runner.prepare(cells, bar)
        what = f"{place.rival.policy} under the same attacks"
        results = runner.obtain(cells, bar, what)
    rivals = tuple(map(damage, attacks, results))
    return Search(setting.name, worst, place.rival.policy, rivals)
