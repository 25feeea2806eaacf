"""The page of `ironarm compare`, its figures, and the same findings as JSON."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ...policies import Policy
from ...show.figures import looks_of
from ...show.text import counted, listed, short
from ...simulation.cells import Cell
from ...simulation.progress import Progress
from ...simulation.simulate import checkpoint_rounds
from ..kit.cell_runner import CellRunner
from ..kit.evidence import Evidence
from ..kit.page import greek, panel, render
from ..kit.panels import regret, share_axes
from ..kit.report_files import provenance, write_report
from ..kit.table import Table
from .arena import Arena, Setting
from .figures import overview
from .places import CANNOT_TELL, LOSES, TOO_FEW, WINS, Compared, first_look
from .report import standings_table
from .runner import ArenaFindings
from .standings import ENOUGH_TRIALS, Standing
from .worst_case import Damage

SHOWN_ATTACK = "OppositeUniform"
"""The attack of the figure, the paper's, if the arena has it."""

SIGNS = {
    WINS: ("✓", "agree"),
    LOSES: ("✗", "disagree"),
    CANNOT_TELL: ("?", "cannot"),
    TOO_FEW: ("?", "cannot"),
}
"""The sign of each judgement, and its colour on a page."""


def write_page(
    findings: ArenaFindings,
    found: Sequence[Compared],
    order: Sequence[Standing],
    out: Path,
    command: str,
    *,
    quick: bool,
    workers: int | None,
) -> None:
    """Draw the figures, and write the page and the JSON."""
    arena, folder = findings.arena, out / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    mine = tuple(one.policy for one in found)
    setting = arena.settings[0]
    attack = SHOWN_ATTACK if SHOWN_ATTACK in arena.attacks_in(setting) else None
    attack = attack or arena.attacks_in(setting)[0]
    curves = _curves(findings, setting, attack, mine, out, workers)
    panels = [panel(figure, folder, name) for name, figure in curves]
    whole = panel(overview(findings), folder, "overview-map")
    reference = findings.nanoseconds.get("MedEUCB", math.nan)
    how = provenance(command, findings.seconds, findings.computed, findings.kept)
    page = render(
        "compare.html",
        title=f"{', '.join(mine)} against the best",
        first_look=first_look(arena, quick),
        sentences=[[*map(_letters, one.sentences()), one.speed(reference)] for one in found],
        attacks=[name for name, text in arena.attacks.items() if text != "NoAttack"],
        arena=arena,
        rivals=[name for name in arena.policies if name not in mine],
        outside=[name for name, within in findings.within_model.items() if not within],
        settings=[_setting_text(each) for each in arena.settings],
        regret={
            "name": "regret-curves",
            "title": f"Setting {setting.name}, under {attack}",
            "caption": (
                f"Mean with a 95 % bootstrap band, on logarithmic axes. {listed(mine, 'and')} "
                f"{'has' if len(mine) == 1 else 'have'} the thick line."
            ),
            "panels": panels,
            "fits": True,
        },
        overview={
            "name": "overview-map",
            "title": "Every policy under every attack",
            "caption": (
                "Each number is the worst over settings and ρ: mean regret divided by the "
                "best policy's worst case in that place. * outside the model."
            ),
            "panels": [whole],
            "wide": True,
        },
        standings=replace(standings_table(findings), marked=mine),
        tables=[_places_table(one) for one in found],
        searches=[
            {"table": _search_table(one), "attack": repr(one.search.worst.found.attack)}
            for one in found
        ],
        run=how,
    )
    write_report(
        out,
        page,
        _for_machines(arena, found, order, quick),
        [*(each["name"] for each in panels), "overview-map"],
        {
            **asdict(how),
            "cells_shared": findings.shared,
            "nanoseconds_per_round": findings.nanoseconds,
        },
        "",
    )


def _curves(
    findings: ArenaFindings,
    setting: Setting,
    attack: str,
    mine: Collection[str],
    out: Path,
    workers: int | None,
) -> list[tuple[str, Any]]:
    """Return a figure of regret over the rounds for each rho of a setting.

    The user's own policies lie on top.
    """
    arena, runner, quiet = findings.arena, CellRunner(out, workers), Progress("", 1, False)
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
        results = runner.obtain(list(cells.values()), quiet, "")
        evidence = Evidence(dict(zip(cells, results, strict=True)), setting.trials)
        kinds = {name: type(policy).__name__ for name, policy in playing.items()}
        title = f"ρ = {rho:g}, {counted(evidence.trials, 'trial')}"
        made = regret(evidence, looks_of(kinds), title, above=mine)
        drawn.append((f"regret-rho-{rho:g}", made))
    share_axes([figure.axes[0] for _, figure in drawn])
    return drawn


def _setting_text(setting: Setting) -> tuple[str, str]:
    rho = " and ".join(f"{each:g}" for each in setting.rho)
    return setting.name, (
        f"{greek(setting.title)}; {_letters('rho = ')}{rho}; {counted(setting.horizon, 'round')}, "
        f"{counted(setting.trials, 'trial')}"
    )


def _places_table(one: Compared) -> Table:
    body = tuple(
        (
            _letters(str(place)),
            f"{SIGNS[place.judgement][0]} {place.judgement}",
            f"{place.ratio:,.2f}" if math.isfinite(place.ratio) else "∞",
            f"{short(place.mine.worst.regret.value)} ({place.mine.attack})",
            f"{short(place.rival.worst.regret.value)} ({place.rival.policy})",
            f"{100 * place.mine.stuck:.1f} %",
            f"{100 * place.rival.stuck:.1f} %",
        )
        for place in one.places
    )
    head = (
        "place",
        "judgement",
        "times the rival's",
        "worst case (under)",
        "rival's worst case (who)",
        "stuck, at most",
        "rival stuck, at most",
    )
    note = (
        "The rival is the best of the others in that place. “Times the rival's” is the policy's "
        "worst case divided by the rival's: below 1 it is better. A policy wins or loses where "
        "the two 95 % intervals, which are in report.json, do not overlap; where they overlap, "
        f"there is no judgement. Fewer than {ENOUGH_TRIALS} trials give none either. “Stuck” is "
        "the largest share of trials, under any one attack, that ended on a wrong arm."
    )
    return Table(
        f"{one.policy}, place by place",
        head,
        body,
        (),
        note,
        judgements={f"{sign} {judgement}": colour for judgement, (sign, colour) in SIGNS.items()},
    )


def _search_table(one: Compared) -> Table:
    search, worst = one.search, one.search.worst
    rivals: Sequence[Damage | None] = search.rivals or [None] * (1 + len(worst.named))
    names = ["found by the search", *(type(each.attack).__name__ for each in worst.named)]
    damage = zip(names, (worst.found, *worst.named), rivals, strict=True)
    body = tuple(
        (
            name,
            f"{short(mine.mean)} ({short(mine.low)} to {short(mine.high)})",
            f"{100 * mine.stuck:.1f} %",
            *(
                ()
                if theirs is None
                else (
                    f"{short(theirs.mean)} ({short(theirs.low)} to {short(theirs.high)})",
                    f"{100 * theirs.stuck:.1f} %",
                )
            ),
        )
        for name, mine, theirs in sorted(damage, key=lambda row: -row[1].mean)
    )
    head: tuple[str, ...] = ("attack", "mean regret (95 % interval)", "stuck")
    if search.rivals:
        head = (*head, f"mean regret of {search.rival}", "stuck")
    note = (
        f"{_letters(search.sentence())} All rows: setting {search.setting} at ρ = {worst.rho:g}, "
        f"{counted(worst.trials, 'fresh trial')} of {worst.horizon:,} rounds. The search can miss "
        "worse attacks. The named ones are all that ironarm has within the model, with their "
        "default parameters; the tables above have those that the arena chose, with its own."
    )
    return Table(
        f"{one.policy} in the setting {search.setting} at ρ = {worst.rho:g}", head, body, (), note
    )


def _letters(text: str) -> str:
    """Return text for a page; names of policies stay as they are typed."""
    letter = text.replace("rho = ", "ρ\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
    return letter.replace("and rho", "and ρ")


def _for_machines(
    arena: Arena, found: Sequence[Compared], order: Sequence[Standing], quick: bool
) -> dict[str, Any]:
    return {
        "title": "compare",
        "quick": quick,
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
                    {**asdict(place), "ratio": place.ratio, "judgement": place.judgement}
                    for place in one.places
                ],
                "searched_in": {"setting": one.search.setting, "rho": one.search.worst.rho},
                "worst_found": one.search.worst.found.to_dict(),
                "worst_named": [each.to_dict() for each in one.search.worst.named],
                "rival": one.search.rival,
                "rival_under_them": [each.to_dict() for each in one.search.rivals],
                "ratio": list(one.search.worst.ratio),
            }
            for one in found
        ],
    }
