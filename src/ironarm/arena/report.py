"""The arena's page: advice, standings, and a heat map and tables for each setting.

The same findings are written as JSON.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .. import attacks as all_attacks
from .. import policies as all_policies
from ..by_name import find
from ..notation import parse
from ..simulation.progress import Progress
from ..simulation.summary import short
from ..studies.page import (
    kept_report,
    panel,
    provenance,
    render,
    require_extras,
    state_of,
    write_report,
)
from ..studies.statistics import interval, percent
from ..studies.tables import Table
from .figures import in_setting, overview
from .read import Arena, Setting
from .runner import Findings, cell_keys, run_arena
from .standings import (
    ENOUGH_TRIALS,
    advice,
    comparisons,
    rows,
    standings,
)

NOTE = (
    "Sorted by the worst case: the largest mean regret over the attacks within the model. Floors "
    "are lower bounds on the regret, asymptotic, for policies that do well on all shifts of these "
    "laws under every attack; a ratio below 1 is possible at a finite horizon, or for a policy "
    "that fails elsewhere. In brackets 95 % intervals. A trial is stuck if less than half of its "
    "last tenth went to the best arm; the share is the largest over the attacks."
)
CAPTION = (
    "Each number is the worst over settings and ρ: mean regret in units of the smallest worst "
    "case of any policy there. A number below 1 is a regret below every policy's worst case. * "
    "outside the model: the coin comes in runs."
)


def arena_report(
    arena: Arena, out: Path, command: str, *, workers: int | None = None, force: bool = False
) -> tuple[dict[str, Any], Findings | None]:
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


def _write(findings: Findings, out: Path, command: str, state: str) -> dict[str, Any]:
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
                panels.append(panel(map_of_rho, folder, f"{setting.name}-{rho:g}"))
                bar.advance()
            caption = (
                "Mean regret; shades count from the smallest worst case. ° more than 1 % of the "
                "trials stuck. * outside the model."
            )
            figure = {
                "name": f"{setting.name}-map",
                "title": "Mean regret",
                "caption": caption,
                "panels": panels,
                "wide": True,
            }
            parts.append(
                {
                    "setting": setting,
                    "figure": figure,
                    "tables": [_setting_table(findings, setting, rho) for rho in setting.rho],
                }
            )
    found = _for_machines(findings)
    how = provenance(command, findings.seconds, findings.computed, findings.kept)
    page = render(
        "arena.html",
        arena=arena,
        advice=advice(findings),
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


def standings_table(findings: Findings) -> Table:
    """Return the policies over all settings, the best first."""
    made = standings(findings)
    reference = findings.nanoseconds.get("MedEUCB", math.nan)
    body = tuple(
        (
            standing.policy,
            ", ".join(standing.told) or "nothing",
            f"{_times(standing.most)} ({standing.where})",
            _times(standing.average),
            f"{100 * standing.stuck:.3g} %",
            f"{standing.nanoseconds:.0f} ns"
            + (
                f" ({standing.nanoseconds / reference:.2g} times)" if reference == reference else ""
            ),
        )
        for standing in made
    )
    head = (
        "policy",
        "told",
        "worst case / best, at most",
        "on average",
        "stuck, at most",
        "a round (times MedEUCB)",
    )
    note = (
        "For each setting and ρ, a policy's largest mean regret over the attacks, in units of the "
        "smallest such of any policy there: the largest ratio, and the geometric mean of all of "
        "them."
    )
    places: dict[str, dict[str, str]] = {}
    for (setting, rho, policy), why in findings.refused.items():
        places.setdefault(policy, {})[f"{setting} at ρ = {rho:g}"] = why
    refusals = "".join(
        f" {policy} does not play in {', '.join(where)}: {next(iter(where.values()))}"
        for policy, where in places.items()
    )
    return Table(
        "Standings", head, body, tuple(asdict(standing) for standing in made), note + refusals
    )


def _setting_table(findings: Findings, setting: Setting, rho: float) -> Table:
    made = rows(findings, setting, rho)
    worst = findings.worst_floor[setting.name, rho]
    body = tuple(
        (
            row.policy,
            interval(row.worst.regret),
            row.attack,
            _times(row.to_best),
            _times(row.to_worst_floor) if math.isfinite(worst) else "",
            _times(row.to_attack_floor),
            percent(row.worst.stuck)
            if row.worst.stuck.value == row.stuck
            else f"{100 * row.stuck:.3g} %",
            "" if row.clean is None else short(row.clean),
            *([] if row.outside is None else [f"{short(row.outside[1])} ({row.outside[0]})"]),
        )
        for row in made
    )
    beyond = ["outside the model"] if made and made[0].outside is not None else []
    head = (
        "policy",
        "worst case",
        "under",
        "/ best",
        "/ floor, worst attack",
        "/ floor, that attack",
        "stuck, at most",
        "without attack",
        *beyond,
    )
    if math.isnan(worst):
        floors = "No floor is known: not all of these laws have a density. "
    else:
        floors = (
            f"The floor under the worst attack is {short(worst)}. "
            if math.isfinite(worst)
            else "Under the worst attack the arms cannot be told apart. "
        )
    data = tuple({"setting": setting.name, "rho": rho, **asdict(row)} for row in made)
    return Table(f"ρ = {rho:g}", head, body, data, floors + NOTE)


def _attacks_table(findings: Findings) -> Table:
    body = []
    for name, text in findings.arena.attacks.items():
        kind = _kind("attack", all_attacks.ATTACKS, text)
        body.append(
            (
                name,
                text,
                "within" if findings.within_model[name] else "outside",
                _first_sentence(kind),
            )
        )
    return Table(
        "Attacks", ("attack", "as", "the model", "what it does"), tuple(body), (), words=True
    )


def _policies_table(findings: Findings) -> Table:
    body = []
    for name, text in findings.arena.policies.items():
        kind = _kind("policy", all_policies.POLICIES, text)
        told = ", ".join(findings.arena.told(name)) or "nothing"
        warning = "Experimental: not all of its formulas are checked. " if kind.experimental else ""
        body.append((name, text, told, warning + _first_sentence(kind)))
    return Table("Policies", ("policy", "as", "told", "what it is"), tuple(body), (), words=True)


def _kind(what: str, table: Mapping[str, type], text: str) -> Any:
    """Return the class that a text names."""
    name = parse(text, what, lambda node: None)[0]
    return find(what, table, name.removesuffix(".for_rho"))


def _first_sentence(kind: type) -> str:
    return (kind.__doc__ or "").strip().split("\n")[0].split(". ")[0].rstrip(".") + "."


def _for_machines(findings: Findings) -> dict[str, Any]:
    arena = findings.arena
    return {
        "title": arena.title,
        "seed": arena.seed,
        "policies": {
            name: {"text": text, "told": list(arena.told(name))}
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
                "told": dict(setting.told),
                "without": list(setting.without),
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
    if not math.isfinite(x):
        return ""
    return f"{x:,.0f}" if x >= 100 else f"{x:.2g}" if x < 10 else f"{x:.0f}"
