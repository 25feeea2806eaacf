"""What the arena's scores say: worst cases, standings, and pairs of policies."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..kit.statistics import Estimate
from .arena import Setting
from .runner import ArenaFindings, PolicyScore

ENOUGH_TRIALS = 20  # with fewer in any setting, the advice is not reliable


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
