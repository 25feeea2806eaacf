"""Compare policies with the arena's best: one page about where yours wins and breaks.

It is an arena of few policies: yours, and the `rivals` that the arena file names. Two
things are added: regret over the rounds, as a figure for a paper, and a search for the
attack that hurts your policy most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import InvalidInput
from ..own_code import split
from ..policies import Policy
from ..simulation.cells import Cell, CellStore, run_together
from ..simulation.progress import Progress
from ..simulation.simulate import checkpoint_rounds
from ..simulation.summary import short
from ..studies.evidence import Evidence
from ..studies.figures import regret, share_axes
from ..studies.page import panel, provenance, render, require_extras, write_report
from ..studies.tables import Table
from ..text import counted
from .figures import overview
from .read import Arena, Setting, with_policies
from .report import standings_table
from .runner import Findings, run_arena
from .standings import Row, Standing, rows, standings
from .worst_case import WorstCase, worst_case

SHOWN_ATTACK = "OppositeUniform"
"""The attack of the figure, the paper's, if the arena has it."""

SEARCH = {False: {"trials": 200, "budget": 64}, True: {"trials": 16, "budget": 8}}
"""How long to search for a worse attack: in full, and quickly."""

WINS, LEVEL, LOSES = "wins", "level", "loses"


@dataclass(frozen=True)
class Place:
    """How one policy fares in one setting at one rho, against its best rival."""

    setting: str
    rho: float
    mine: Row
    rival: Row

    @property
    def ratio(self) -> float:
        """Its worst case in units of the rival's."""
        to = self.rival.worst.regret.value
        return self.mine.worst.regret.value / to if to else math.inf

    @property
    def verdict(self) -> str:
        """Which worst case is smaller; level if the two intervals overlap."""
        mine, theirs = self.mine.worst.regret, self.rival.worst.regret
        if mine.high < theirs.low:
            return WINS
        return LOSES if mine.low > theirs.high else LEVEL


@dataclass(frozen=True)
class Compared:
    """What was found about one of the user's policies."""

    policy: str
    rank: int
    standing: Standing
    places: tuple[Place, ...]
    worst: WorstCase
    """What the search found, in the arena's first setting at its largest rho."""

    def count(self, verdict: str) -> int:
        """In how many places it wins, is level or loses."""
        return sum(place.verdict == verdict for place in self.places)

    def sentences(self, of: int, reference: float) -> list[str]:
        """Return what is most worth knowing, in three sentences."""
        most, average = _times(self.standing.most), _times(self.standing.average)
        breaks = max(self.places, key=lambda place: (place.mine.stuck, place.mine.to_best))
        stuck = (
            f"It breaks in {breaks.setting} at ρ = {breaks.rho:g}, where up to "
            f"{100 * breaks.mine.stuck:.3g} % of the trials end stuck on a wrong arm."
            if breaks.mine.stuck > 0
            else "It was stuck on a wrong arm in no trial."
        )
        speed = self.standing.nanoseconds
        other = f"; one of MedEUCB takes {reference:.0f}" if reference == reference else ""
        return [
            f"{self.policy} is number {self.rank} of {of}: over the attacks, its worst case is at "
            f"most {most} times the best policy's ({self.standing.where}), {average} times on "
            "average.",
            f"Against the best rival of each place it wins in {self.count(WINS)} of "
            f"{len(self.places)} places, is level in {self.count(LEVEL)} and loses in "
            f"{self.count(LOSES)}.",
            f"{stuck} {_search_sentence(self.worst)} A round takes {speed:.0f} ns{other}.",
        ]


def with_rivals(arena: Arena, texts: Sequence[str], against: Sequence[str] | None) -> Arena:
    """Return the arena of these policies and their rivals, yours first."""
    mine = named(texts)
    rivals = list(arena.rivals or arena.policies) if against is None else list(against)
    others = {}
    for name in rivals:
        others.update({name: arena.policies[name]} if name in arena.policies else named([name]))
    others = {name: text for name, text in others.items() if name not in mine}
    if not others:
        raise InvalidInput("there is nobody to compare with; name another policy with --against.")
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
) -> tuple[list[Compared], Findings]:
    """Run what is missing, and write the page, JSON and figures into a folder.

    `arena` is what `with_rivals` returns; `mine` names the user's policies in it.
    """
    require_extras()  # now, not after the simulations
    findings = run_arena(arena, out, workers=workers)
    order = standings(findings)
    setting = arena.settings[0]
    found = []
    for name in mine:
        standing = next((each for each in order if each.policy == name), None)
        if standing is None:
            why = next(why for (_, _, policy), why in findings.refused.items() if policy == name)
            raise InvalidInput(f"{name} plays in no setting: {why}")
        searched = worst_case(
            arena.policy(name, setting, max(setting.rho)),
            setting.bandit,
            out / "worst-case",
            rho=max(setting.rho),
            horizon=min(setting.horizon, 10_000),
            seed=arena.seed,
            workers=workers,
            progress=True,
            **SEARCH[quick],
        )
        places = tuple(_places(findings, name, set(mine)))
        found.append(Compared(name, order.index(standing) + 1, standing, places, searched))
    _write(findings, found, order, out, command, workers)
    return found, findings


def _places(findings: Findings, name: str, mine: set[str]) -> list[Place]:
    """Return the places where a policy plays beside a rival."""
    made = []
    for setting, rho in findings.arena.places:
        by_policy = {row.policy: row for row in rows(findings, setting, rho)}
        rivals = [row for policy, row in by_policy.items() if policy not in mine]
        if name in by_policy and rivals:
            best = min(rivals, key=lambda row: row.worst.regret.value)
            made.append(Place(setting.name, rho, by_policy[name], best))
    return made


def _write(
    findings: Findings,
    found: list[Compared],
    order: list[Standing],
    out: Path,
    command: str,
    workers: int | None,
) -> None:
    arena, folder = findings.arena, out / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    mine = tuple(one.policy for one in found)
    with Progress("drawing figures", 3, True) as bar:
        setting = arena.settings[0]
        attack = SHOWN_ATTACK if SHOWN_ATTACK in arena.attacks_in(setting) else None
        attack = attack or arena.attacks_in(setting)[0]
        curves = _curves(findings, setting, attack, out, workers)
        panels = [panel(figure, folder, name) for name, figure in curves]
        bar.advance(2)
        whole = panel(overview(findings), folder, "overview-map")
    reference = findings.nanoseconds.get("MedEUCB", math.nan)
    how = provenance(command, findings.seconds, findings.computed, findings.kept)
    names = ", ".join(mine)
    page = render(
        "compare.html",
        title=f"{names} against the best",
        found=found,
        sentences=[one.sentences(len(order), reference) for one in found],
        arena=arena,
        rivals=[name for name in arena.policies if name not in mine],
        regret={
            "name": "regret",
            "title": "Regret over the rounds",
            "caption": (
                f"{setting.title}, under {attack}: mean with a 95 % bootstrap band, on logarithmic "
                "axes."
            ),
            "panels": panels,
        },
        overview={
            "name": "overview",
            "title": "Attack by attack",
            "caption": (
                "Each number is the worst over settings and ρ: mean regret in units of the "
                "smallest worst case of any policy there. * outside the model."
            ),
            "panels": [whole],
            "wide": True,
        },
        standings=replace(standings_table(findings), marked=mine),
        tables=[_places_table(one) for one in found],
        searches=[_search_table(one) for one in found],
        run=how,
    )
    write_report(
        out,
        page,
        _for_machines(arena, found, order),
        [*(each["name"] for each in panels), "overview-map"],
        {**asdict(how), "nanoseconds_per_round": findings.nanoseconds},
        "",
    )


def _curves(
    findings: Findings, setting: Setting, attack: str, out: Path, workers: int | None
) -> list[tuple[str, Any]]:
    """Return a figure of regret over the rounds for each rho of a setting."""
    arena, store = findings.arena, CellStore(out / "cells")
    checkpoints = tuple(checkpoint_rounds(setting.horizon).tolist())
    drawn = []
    for rho in setting.rho:
        playing: dict[str, Policy] = {
            name: arena.policy(name, setting, rho)
            for name in findings.scores[setting.name, rho, attack]
        }
        cells = {
            name: Cell(
                policy,
                setting.bandit,
                arena.attack(attack, setting, rho),
                setting.horizon,
                setting.trials,
                arena.seed,
                checkpoints,
            )
            for name, policy in playing.items()
        }
        results = {name: store.get(cell) for name, cell in cells.items()}
        missing = [name for name, result in results.items() if result is None]
        if missing:
            made = run_together([cells[name] for name in missing], workers, False)
            for name, result in zip(missing, made, strict=True):
                store.put(cells[name], result)
                results[name] = result
        evidence = Evidence({k: v for k, v in results.items() if v is not None}, setting.trials)
        kinds = {name: type(policy).__name__ for name, policy in playing.items()}
        title = f"ρ = {rho:g}, {counted(evidence.trials, 'trial')}"
        drawn.append((f"regret-rho-{rho:g}", regret(evidence, kinds, title)))
    share_axes([figure.axes[0] for _, figure in drawn])
    return drawn


def _places_table(one: Compared) -> Table:
    body = tuple(
        (
            f"{place.setting}, ρ = {place.rho:g}",
            place.verdict,
            _times(place.ratio),
            f"{short(place.mine.worst.regret.value)} ({place.mine.attack})",
            f"{short(place.rival.worst.regret.value)} ({place.rival.policy})",
            f"{100 * place.mine.stuck:.3g} %",
        )
        for place in one.places
    )
    head = ("place", "", "/ rival's", "worst case (under)", "rival's (who)", "stuck, at most")
    note = (
        "The worst case is the largest mean regret over the attacks within the model. The rival "
        "is the best of the others in that place. A policy wins or loses where the two 95 % "
        "intervals, which are in report.json, do not overlap."
    )
    return Table(f"{one.policy}: where it wins and loses", head, body, (), note)


def _search_table(one: Compared) -> Table:
    worst = one.worst
    damage = [
        ("found by the search", worst.found),
        *((type(each.attack).__name__, each) for each in worst.named),
    ]
    body = tuple(
        (
            name,
            f"{short(each.mean)} ({short(each.low)} to {short(each.high)})",
            f"{100 * each.stuck:.1f} %",
        )
        for name, each in sorted(damage, key=lambda row: -row[1].mean)
    )
    note = (
        f"{_search_sentence(worst)} It ended with {worst.found.attack!r}, which `ironarm simulate "
        f"--attack` reads. {counted(worst.trials, 'fresh trial')} of {worst.horizon:,} rounds at "
        f"ρ = {worst.rho:g}. The search can miss worse attacks."
    )
    head = ("attack", "mean regret (95 % interval)", "stuck")
    return Table(f"{one.policy}: the worst attack found", head, body, (), note)


def _search_sentence(worst: WorstCase) -> str:
    """Say whether the search found an attack that is worse than all named ones."""
    ratio, low, _ = worst.ratio
    named = type(worst.named[0].attack).__name__
    if not math.isfinite(ratio) or low <= 1:
        return f"A search found no attack that is clearly worse than {named}."
    return f"A search found an attack {ratio:.2f} times as bad as the worst named one, {named}."


def _for_machines(arena: Arena, found: list[Compared], order: list[Standing]) -> dict[str, Any]:
    return {
        "title": "compare",
        "policies": dict(arena.policies),
        "standings": [
            {key: value for key, value in asdict(each).items() if key != "nanoseconds"}
            for each in order
        ],
        "compared": [
            {
                "policy": one.policy,
                "rank": one.rank,
                "places": [
                    {**asdict(place), "ratio": place.ratio, "verdict": place.verdict}
                    for place in one.places
                ],
                "worst_found": one.worst.found.to_dict(),
                "worst_named": [each.to_dict() for each in one.worst.named],
                "ratio": list(one.worst.ratio),
            }
            for one in found
        ],
    }


def _times(x: float) -> str:
    if not math.isfinite(x):
        return "∞"
    return f"{x:,.0f}" if x >= 100 else f"{x:.2g}" if x < 10 else f"{x:.0f}"
