"""Which policy to use when, from the arena's scores alone."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from ...show.text import listed
from .arena import Arena, Setting
from .runner import ArenaFindings
from .standings import Standing, StandingsRow, rows, standings

KNOWLEDGE = (
    (
        "You know a bound on rho, and the spread of clean rewards",
        {"rho", "sigma", "smallest gap", "range", "horizon"},
    ),
    ("You know the spread of clean rewards, but not rho", {"sigma", "range", "horizon"}),
    ("You know neither", {"horizon"}),
)
"""What somebody may know, and what a policy may then need to know."""


@dataclass(frozen=True)
class Recommendation:
    """One sentence on what to use."""

    when: str
    policy: str
    why: str


def advice(findings: ArenaFindings) -> list[Recommendation]:
    """Return which policy to use when, from the scores alone.

    There is advice for what is known, for each setting, and for the case without an
    attack.
    """
    all_standings = standings(findings)
    given = []
    for when, allowed in KNOWLEDGE:
        found = next(
            (standing for standing in all_standings if set(standing.needs) <= allowed), None
        )
        if found is not None:
            given.append(Recommendation(when, found.policy, _reach(found, findings.arena)))
    given += [
        piece
        for setting in findings.arena.settings
        if (piece := _in_setting(findings, setting)) is not None
    ]
    clean = _unattacked(findings)
    return given if clean is None else [*given, clean]


def _reach(standing: Standing, arena: Arena) -> str:
    needed = [word if word in ("rho", "sigma") else f"the {word}" for word in standing.needs]
    needs = "It needs to know nothing about the rewards or the attack."
    if needed:
        needs = f"You must know {listed(needed, 'and')} to use it."
    elif not arena.states_needs(standing.policy):
        needs = "What it needs to know is not stated."
    share = f"{100 * standing.stuck:.1f}\N{NO-BREAK SPACE}%"
    stuck = (
        f"Under one attack {share} of its trials ended on a wrong arm."
        if standing.stuck
        else "It was never stuck on a wrong arm."
    )
    if standing.most <= 1:
        return f"{needs} It has the smallest worst case everywhere. {stuck}"
    return (
        f"{needs} Its worst case is at most {standing.most:.1f} times the smallest of any policy "
        f"({standing.where}), and {standing.average:.1f} times on average. {stuck}"
    )


def _in_setting(findings: ArenaFindings, setting: Setting) -> Recommendation | None:
    """Return the policy with the smallest worst case in a setting, over its rho.

    The text also names the best policy that needs to know nothing.
    """
    by_policy: dict[str, list[StandingsRow]] = {}
    for rho in setting.rho:
        for row in rows(findings, setting, rho):
            by_policy.setdefault(row.policy, []).append(row)
    whole = {name: made for name, made in by_policy.items() if len(made) == len(setting.rho)}

    if not whole:
        return None

    def most(names: Collection[str]) -> str:
        return min(names, key=lambda name: max(row.to_best for row in whole[name]))

    best = most(whole)
    free = most(
        [
            name
            for name in whole
            if not set(findings.arena.needs(name)) & {"rho", "sigma", "smallest gap", "range"}
            and findings.arena.states_needs(name)
        ]
        or list(whole)
    )
    text = f"Its worst case is {_figures(whole[best], setting)}."
    if free != best:
        text += (
            f" {free}, which needs to know nothing about the rewards or the attack: "
            f"{_figures(whole[free], setting)}."
        )
    return Recommendation(setting.title, best, text)


def _figures(made: list[StandingsRow], setting: Setting) -> str:
    return ", ".join(
        f"{row.worst.regret.value:,.0f} at rho = {rho:g} ({row.attack})"
        for row, rho in zip(made, setting.rho, strict=True)
    )


def _unattacked(findings: ArenaFindings) -> Recommendation | None:
    """Return the policy with the smallest regret without an attack, and the next."""
    arena = findings.arena
    groups = {}
    for setting in arena.settings:
        name = next(
            (
                name
                for name in arena.attacks_in(setting)
                if arena.attack(name, setting, setting.rho[0]).rho == 0
            ),
            None,
        )
        if name is not None:
            groups[setting.name] = findings.scores[setting.name, setting.rho[0], name]
    everywhere = [
        name for name in arena.policies if all(name in scores for scores in groups.values())
    ]
    if not groups or not everywhere:
        return None

    def average(name: str) -> float:
        return math.exp(
            sum(math.log(max(1.0, scores[name].regret.value)) for scores in groups.values())
            / len(groups)
        )

    best = min(everywhere, key=average)
    price = ", ".join(
        f"{name} {average(name) / average(best):.1f} times as much"
        for name in sorted(everywhere, key=average)[1:4]
    )
    others = f" The next have more: {price}." if price else ""
    return Recommendation(
        "Nobody attacks",
        best,
        f"It has the smallest regret without an attack, on average over the settings.{others} "
        "That says nothing about what an attack does to it.",
    )
