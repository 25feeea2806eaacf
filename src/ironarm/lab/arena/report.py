"""The arena's page: advice, standings, and a heat map and tables for each setting.

The same findings are written as JSON.
"""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ...attacks import ATTACK
from ...naming.notation import class_named
from ...policies import POLICY
from ...show.text import counted
from ...simulation.progress import Progress
from ...theory.limits import share_to_stand
from ..kit.page import greek, panel, render, require_extras
from ..kit.report_files import kept_report, provenance, state_of, write_report
from ..kit.statistics import interval, percent
from ..kit.table import Table
from .advice import advice
from .arena import Arena, Setting
from .figures import in_setting, overview
from .runner import ArenaFindings, cell_keys, run_arena
from .standings import ENOUGH_TRIALS, comparisons, rows, standings

CAPTION = (
    "How many times the smallest worst case of any policy the mean regret is; each number is the "
    "largest over the settings and ρ. Darker is worse. A number below 1 means less regret than "
    "every policy has in its worst case. * outside the model: attacked rounds come in runs."
)
CAPTION_OF_SETTING = (
    "The numbers are mean regrets: 4.2k is 4,200, 1.8M is 1,800,000. The colour tells how many "
    "times the smallest worst case they are; darker is worse. ° more than 1 % of the trials ended "
    "on a wrong arm. * outside the model: attacked rounds come in runs."
)


def arena_report(
    arena: Arena, out: Path, command: str, *, workers: int | None = None, force: bool = False
) -> tuple[dict[str, Any], ArenaFindings | None]:
    """Run what is missing, and write the page, JSON and figures into a folder.

    Returns what report.json holds; and what was found, or None if all of it was there
    already.
    """
    require_extras()  # now, not after the simulations
    state = state_of(repr(arena), *cell_keys(arena))
    found = None if force else kept_report(out, state)
    if found is not None:
        return found, None
    findings = run_arena(arena, out, workers=workers, force=force)
    return _write(findings, out, command, state), findings


def _write(findings: ArenaFindings, out: Path, command: str, state: str) -> dict[str, Any]:
    arena, folder = findings.arena, out / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    with Progress(
        "drawing figures",
        1 + sum(len(setting.rho) for setting in arena.settings),
        True,
    ) as bar:
        whole: dict[str, Any] = {
            "name": "overview-map",
            "title": "Policies and attacks over all settings",
            "caption": CAPTION,
            "panels": [panel(overview(findings), folder, "overview-map")],
            "wide": True,
        }
        parts: list[dict[str, Any]] = []
        for setting in arena.settings:
            panels = []
            for rho in setting.rho:
                bar.note(f"drawing {setting.name}")
                map_of_rho = in_setting(findings, setting, rho)
                made = panel(map_of_rho, folder, f"{setting.name}-{rho:g}")
                panels.append({**made, "title": f"ρ = {rho:g}"})
                bar.advance()
            figure = {
                "name": f"{setting.name}-map",
                "title": "Mean regret of every policy under every attack",
                "caption": CAPTION_OF_SETTING,
                "panels": panels,
                "wide": True,
            }
            known = ", ".join(f"{key} = {value:g}" for key, value in setting.known.items())
            parts.append(
                {
                    "setting": setting,
                    "known": greek(known),
                    "figure": figure,
                    "tables": [_setting_table(findings, setting, rho) for rho in setting.rho],
                }
            )
    found = _for_machines(findings)
    how = provenance(command, findings.seconds, findings.computed, findings.kept)
    page = render(
        "arena.html",
        arena=arena,
        advice=[
            replace(piece, when=greek(piece.when), why=greek(piece.why))
            for piece in advice(findings)
        ],
        standings=standings_table(findings),
        comparisons=comparisons(findings),
        overview=whole,
        settings=parts,
        attacks=_attacks_table(findings),
        policies=_policies_table(findings),
        trials=sorted({setting.trials for setting in arena.settings}),
        enough=ENOUGH_TRIALS,
        run=how,
    )
    figures = [whole, *(part["figure"] for part in parts)]
    names = [each["name"] for figure in figures for each in figure["panels"]]
    run = {**asdict(how), "nanoseconds_per_round": findings.nanoseconds}
    write_report(out, page, found, names, run, state)
    return found


def standings_table(findings: ArenaFindings) -> Table:
    """Return the policies over all settings, the best first."""
    made, arms = standings(findings), findings.arena.settings[0].bandit.arms
    reference = findings.nanoseconds.get("MedEUCB", math.nan)
    body = tuple(
        (
            standing.policy,
            needs_text(findings.arena, standing.policy),
            f"{_times(standing.most)} ({greek(standing.where)})",
            _times(standing.average),
            f"{100 * standing.stuck:.1f} %",
            f"{standing.nanoseconds:.0f} ns"
            + (f" ({_times(standing.nanoseconds / reference)})" if reference == reference else ""),
        )
        for standing in made
    )
    head = (
        "policy",
        "needs to know",
        "times the best, at most",
        "on average",
        "stuck, at most",
        f"a round, {counted(arms, 'arm')}" + (" (times MedEUCB)" if reference == reference else ""),
    )
    note = (
        "In each setting and for each ρ, a policy's worst case is divided by the smallest worst "
        "case of any policy. The table has the largest of these ratios and where that was, and "
        "their geometric mean. It is sorted by the largest ratio; policies that refuse a setting "
        "come last. “Needs to know” lists what you must know to use a policy. “Stuck” is the "
        "largest share of trials, under any one attack, that ended on a wrong arm."
    )
    places: dict[str, dict[str, str]] = {}
    for (setting, rho, policy), why in findings.refused.items():
        places.setdefault(policy, {})[f"{setting} at ρ = {rho:g}"] = why
    refusals = "".join(
        f" {policy} does not play in {', '.join(where)}: {greek(next(iter(where.values())))}"
        for policy, where in places.items()
    )
    return Table(
        "Standings", head, body, tuple(asdict(standing) for standing in made), note + refusals
    )


def needs_text(arena: Arena, name: str) -> str:
    """Return what you must know to use a policy, in words.

    It is not stated where the text names nothing of the setting, and the class does not
    say that it needs nothing.
    """
    needs = greek(", ".join(arena.needs(name)))
    return needs or ("nothing" if arena.states_needs(name) else "not stated")


def _setting_table(findings: ArenaFindings, setting: Setting, rho: float) -> Table:
    made = rows(findings, setting, rho)
    worst = findings.worst_floor[setting.name, rho]
    # one format for all: whole numbers, unless the smallest worst case has one digit
    form = ",.0f" if made[0].worst.regret.value >= 10 else ",.1f"
    body = tuple(
        (
            row.policy,
            interval(row.worst.regret, form),
            row.attack,
            _times(row.to_best),
            _times(row.to_worst_floor) if math.isfinite(worst) else "",
            _times(row.to_attack_floor),
            percent(row.stuck_share),
            "" if row.clean is None else format(row.clean, form),
            *([] if row.outside is None else [f"{row.outside[1]:{form}} ({row.outside[0]})"]),
        )
        for row in made
    )
    beyond = ["outside the model"] if made and made[0].outside is not None else []
    head = (
        "policy",
        "worst case",
        "under",
        "times the best",
        "times the floor, any attack",
        "times the floor, this attack",
        "stuck, at most",
        "without attack",
        *beyond,
    )
    if setting.without_floor:
        floor = f"No floor is known: {setting.without_floor}."
    elif math.isnan(worst):
        floor = "No floor is known: not all of these laws have a density."
    elif math.isfinite(worst):
        floor = f"The floor under any attack is {worst:{form}}."
    else:
        floor = "Under the worst attack the arms cannot be told apart, so there is no floor."
    data = tuple({"setting": setting.name, "rho": rho, **asdict(row)} for row in made)
    note = floor + _share_unknown(findings.unknown_floor[setting.name, rho], rho, form)
    return Table(f"Worst cases at ρ = {rho:g}", head, body, data, note)


def _share_unknown(floor: float, rho: float, form: str) -> str:
    """Return a sentence on the floor of policies that do not know rho, if any."""
    share = f"every share up to {share_to_stand(rho):g}"
    if math.isnan(floor):
        return ""
    if math.isinf(floor):
        return f" Here no policy can stand {share}."
    return (
        f" A policy that does not know ρ and must stand {share} has a floor of {floor:{form}}, "
        "even if outliers are far away."
    )


def _attacks_table(findings: ArenaFindings) -> Table:
    body = []
    for name, text in findings.arena.attacks.items():
        kind = class_named(ATTACK, text)
        body.append(
            (
                name,
                text,
                "within" if findings.within_model[name] else "outside",
                _first_sentence(kind),
            )
        )
    head = ("attack", "written as", "the model", "what it does")
    return Table("Attacks", head, tuple(body), (), words=True)


def _policies_table(findings: ArenaFindings) -> Table:
    body = []
    for name, text in findings.arena.policies.items():
        kind = class_named(POLICY, text)
        needs = needs_text(findings.arena, name)
        warning = "Experimental: not all of its formulas are checked. " if kind.experimental else ""
        body.append((name, text, needs, warning + _first_sentence(kind)))
    head = ("policy", "written as", "needs to know", "what it is")
    return Table("Policies", head, tuple(body), (), words=True)


def _first_sentence(kind: type) -> str:
    return (kind.__doc__ or "").strip().split("\n")[0].split(". ")[0].rstrip(".") + "."


def _for_machines(findings: ArenaFindings) -> dict[str, Any]:
    arena = findings.arena
    return {
        "title": arena.title,
        "seed": arena.seed,
        "policies": {
            name: {"text": text, "needs": list(arena.needs(name))}
            for name, text in arena.policies.items()
        },
        "attacks": {
            name: {"text": text, "within_model": findings.within_model[name]}
            for name, text in arena.attacks.items()
        },
        "settings": [
            {
                **{
                    key: getattr(setting, key)
                    for key in ("name", "title", "rho", "horizon", "trials")
                },
                "known": dict(setting.known),
                "without": list(setting.without),
                "sources": None if setting.sources is None else setting.sources.to_dict(),
                "delay": None if setting.delay is None else setting.delay.to_dict(),
                "bandit": setting.bandit.to_dict(),
            }
            for setting in arena.settings
        ],
        "advice": [asdict(piece) for piece in advice(findings)],
        "comparisons": [asdict(one) for one in comparisons(findings)],
        # how long a round took differs from run to run: that is in run.json
        "standings": [
            {key: value for key, value in asdict(standing).items() if key != "nanoseconds"}
            for standing in standings(findings)
        ],
        "worst_cases": [
            {"setting": setting.name, "rho": rho, **asdict(row)}
            for setting in arena.settings
            for rho in setting.rho
            for row in rows(findings, setting, rho)
        ],
        "floors": [
            {
                "setting": setting.name,
                "rho": rho,
                "any_attack": findings.worst_floor[setting.name, rho],
                "share_unknown": findings.unknown_floor[setting.name, rho],
            }
            for setting, rho in arena.places
        ],
        "scores": [
            {
                "setting": setting,
                "rho": rho,
                "attack": attack,
                "floor": findings.attack_floor[setting, rho, attack],
                "policy": policy,
                **asdict(score),
            }
            for (setting, rho, attack), scores in findings.scores.items()
            for policy, score in scores.items()
        ],
        "refused": [
            {"setting": setting, "rho": rho, "policy": policy, "why": why}
            for (setting, rho, policy), why in findings.refused.items()
        ],
    }


def _times(x: float) -> str:
    return f"{x:,.1f}" if math.isfinite(x) else ""
