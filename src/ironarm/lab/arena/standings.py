"""What the arena's scores say: worst cases, standings, and which policy to use when."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

from ...show.text import listed
from ..kit.statistics import Estimate
from .arena import Arena, Setting
from .runner import ArenaFindings, PolicyScore

ENOUGH_TRIALS = 20  # with fewer in any setting, the advice is not reliable
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
class StandingsRow:
    """One policy in one setting at one rho.

    It is judged by the attack within the model that hurts it most. `stuck` is the
    largest share of stuck trials under such an attack, `stuck_share` the same with its
    interval.
    """

    policy: str
    attack: str
    worst: PolicyScore
    stuck: float
    stuck_share: Estimate
    clean: float | None
    to_worst_floor: float
    to_attack_floor: float
    to_best: float
    outside: tuple[str, float] | None


@dataclass(frozen=True)
class Standing:
    """One policy over all settings: the ratio of its worst case to the best policy's.

    `most` is the largest ratio, `average` the geometric mean.
    """

    policy: str
    needs: tuple[str, ...]
    most: float
    where: str
    average: float
    stuck: float
    nanoseconds: float
    refused: int


@dataclass(frozen=True)
class Recommendation:
    """One sentence on what to use."""

    when: str
    policy: str
    why: str


def rows(findings: ArenaFindings, setting: Setting, rho: float) -> list[StandingsRow]:
    """Return the policies of a setting, the smallest worst case first."""
    arena = findings.arena
    played = arena.attacks_in(setting)
    inside = [name for name in played if findings.within_model[name]]
    beyond = [name for name in played if not findings.within_model[name]]
    clean = next((name for name in played if arena.attack(name, setting, rho).rho == 0), None)
    made = []
    for policy in findings.scores[setting.name, rho, inside[0]]:
        scores = {name: findings.scores[setting.name, rho, name][policy] for name in played}
        attack = max(inside, key=lambda name: scores[name].regret.value)
        worst = scores[attack]
        stuck_share = max((scores[name].stuck for name in inside), key=lambda share: share.value)
        made.append(
            StandingsRow(
                policy=policy,
                attack=attack,
                worst=worst,
                stuck=stuck_share.value,
                stuck_share=stuck_share,
                clean=None if clean is None else scores[clean].regret.value,
                to_worst_floor=ratio_of(
                    worst.regret.value, findings.worst_floor[setting.name, rho]
                ),
                to_attack_floor=ratio_of(
                    worst.regret.value, findings.attack_floor[setting.name, rho, attack]
                ),
                to_best=math.nan,
                outside=max(
                    ((name, scores[name].regret.value) for name in beyond),
                    key=lambda pair: pair[1],
                    default=None,
                ),
            )
        )
    best = min(row.worst.regret.value for row in made)
    return sorted(
        (replace(row, to_best=ratio_of(row.worst.regret.value, best)) for row in made),
        key=lambda row: row.worst.regret.value,
    )


def ratio_of(regret: float, to: float) -> float:
    """Return a ratio; 1 if both are 0."""
    if to == 0:
        return 1.0 if regret == 0 else math.inf
    return regret / to


def standings(findings: ArenaFindings) -> list[Standing]:
    """Return the policies over all settings, the smallest largest ratio first.

    Policies that refuse a setting come last.
    """
    ratios: dict[str, dict[str, float]] = {name: {} for name in findings.arena.policies}
    stuck = dict.fromkeys(findings.arena.policies, 0.0)
    for setting in findings.arena.settings:
        for rho in setting.rho:
            for row in rows(findings, setting, rho):
                ratios[row.policy][f"{setting.name}, rho = {rho:g}"] = row.to_best
                stuck[row.policy] = max(stuck[row.policy], row.stuck)
    made = []
    for name, by_place in ratios.items():
        if not by_place:
            continue
        where = max(by_place, key=lambda place: by_place[place])
        average = math.exp(
            sum(math.log(max(ratio, 1e-300)) for ratio in by_place.values()) / len(by_place)
        )
        refused = sum(1 for _, _, policy in findings.refused if policy == name)
        made.append(
            Standing(
                name,
                findings.arena.needs(name),
                by_place[where],
                where,
                average,
                stuck[name],
                findings.nanoseconds.get(name, math.nan),
                refused,
            )
        )
    return sorted(made, key=lambda standing: (standing.refused > 0, standing.most))


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


@dataclass(frozen=True)
class Comparison:
    """The largest ratio of two policies' regrets under one attack.

    Only attacks within the model count, and only where the second policy is never
    stuck.
    """

    first: str
    second: str
    most: float
    setting: str
    rho: float
    attack: str
    regrets: tuple[float, float]
    groups: int
    """In how many groups both play and the second is never stuck."""


def comparisons(findings: ArenaFindings) -> list[Comparison]:
    """Return the comparisons that the arena file asks for, of pairs that meet."""
    made = []
    for first, second in findings.arena.compare:
        ratios = {}
        for group, scores in findings.scores.items():
            if (
                findings.within_model[group[2]]
                and first in scores
                and second in scores
                and scores[second].stuck.value == 0
                and scores[second].regret.value > 0
            ):
                ratios[group] = scores[first].regret.value / scores[second].regret.value
        if ratios:
            worst = max(ratios, key=lambda group: ratios[group])
            regrets = tuple(findings.scores[worst][name].regret.value for name in (first, second))
            made.append(
                Comparison(
                    first, second, ratios[worst], *worst, (regrets[0], regrets[1]), len(ratios)
                )
            )
    return made


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
