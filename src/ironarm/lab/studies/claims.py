"""Claims: sentences of the paper, each with the check that settles it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from ...errors import InvalidInput
from ...naming.toml_fields import distinct, fields, text
from ...validation import choice
from ..kit.evidence import Evidence
from . import checks, growth_checks  # noqa: F401  (importing them fills CHECKS)
from .checking import (
    CANNOT_TELL,
    CHECKS,
    Check,
    Measured,
    at_all_horizons,
    how_it_moves,
    together,
)
from .judged import JudgedClaim, JudgedSetting, Judgement
from .long_run import LongRun
from .reward_checks import EACH, Rewards, can_be_checked
from .runner import StudyFindings
from .study import Run, Study

REQUIRED = ("sentence", "source", "check")
WORDS = ("short", "reading", "note", "if_disagree", "apart", "relation")
RELATIONS = ("exactly this", "a stronger case", "ours")
"""What a check may be to the paper's words; a colon and a reason may follow."""
FEWEST_TRIALS = 10


def check_claim(study: Study, claim: Mapping[str, Any]) -> None:
    """Refuse a claim that names what the study or the check does not have."""
    what = f"claim {str(claim.get('sentence', ''))[:40]!r}"
    check = CHECKS[choice(f"{what}: check", claim.get("check"), CHECKS)]
    place = "horizons" if check.growth else "run"
    fields(what, claim, [*REQUIRED, place, *check.parameters], WORDS)
    for part in ("sentence", "source", *WORDS):
        if part in claim:
            text(f"{what}: {part}", claim[part])
    if relation(claim).partition(":")[0] not in RELATIONS:
        raise InvalidInput(
            f"{what}: relation must begin with one of {', '.join(RELATIONS)}, got "
            f"{claim['relation']!r}."
        )
    for name in claim["policies"] if isinstance(claim.get("against"), list) else ():
        if name in claim["against"]:
            raise InvalidInput(f"{what}: {name!r} cannot be in policies and in against.")
    for names in series(claim):
        if not names:
            raise InvalidInput(
                f"{what}: {place} must be the name of a run or a list of them, got []."
            )
        for name in names:
            choice(f"{what}: {place}", name, [run.name for run in study.runs])
        distinct(f"{what}: the run", names)
        runs = [study.run(name) for name in names]
        if check.growth:
            _check_horizons(what, runs)
        for run in runs:
            _check_run(what, check, claim, run, run is runs[0])


def _check_horizons(what: str, runs: Sequence[Run]) -> None:
    if len(runs) < 2:
        raise InvalidInput(
            f"{what}: horizons must name at least two runs: a law of growth is not seen at one "
            "horizon."
        )
    for one, other in pairwise(runs):
        if one.horizon >= other.horizon:
            raise InvalidInput(
                f"{what}: horizons must begin with the shortest run, but {one.name!r} has "
                f"{one.horizon:,} rounds and {other.name!r} after it {other.horizon:,}."
            )
        if not set(runs[0].rho) <= set(other.rho):
            raise InvalidInput(
                f"{what}: the run {other.name!r} must have every rho of {runs[0].name!r}: growth "
                "is judged at each rho."
            )


def _check_run(what: str, check: Check, claim: Mapping[str, Any], run: Run, first: bool) -> None:
    if run.long and not check.growth:
        raise InvalidInput(
            f"{what}: the run {run.name!r} is run with --long only, so it cannot settle this."
        )
    if check.subject is Rewards and not can_be_checked(run.bandit):
        raise InvalidInput(
            f"{what}: the check {claim['check']} needs a bandit whose arms have attacked "
            f"laws, such as RadioBandit, got {run.bandit!r}."
        )
    for parameter, refuse in check.parameters.items():
        value = claim[parameter]
        if not first and check.growth and parameter == "policies" and isinstance(value, list):
            value = [name for name in value if name in run.policies]  # some may be too slow
            if not value:
                raise InvalidInput(
                    f"{what}: the run {run.name!r} has none of the policies "
                    f"{', '.join(map(repr, claim[parameter]))}."
                )
        refuse(f"{what}: {parameter}", value, run)


def relation(claim: Mapping[str, Any]) -> str:
    """Return what the check is to the paper's words."""
    return str(claim.get("relation", RELATIONS[0]))


def series(claim: Mapping[str, Any]) -> list[list[Any]]:
    """Return the names of the runs that a claim is checked on.

    Of growth, each list is one setting at several horizons; else all are one list.
    """
    if "horizons" not in claim:
        named = claim["run"]
        return [named if isinstance(named, list) else [named]]
    horizons = claim["horizons"]
    if isinstance(horizons, list) and horizons and all(isinstance(one, list) for one in horizons):
        return horizons
    return [horizons if isinstance(horizons, list) else [horizons]]


def judge(findings: StudyFindings, kept: LongRun | None = None) -> list[JudgedClaim]:
    """Return the study's claims with their judgements, from the results.

    `kept` is what a long run found that was made before. It stands where this one has
    nothing, or fewer trials.
    """
    study = findings.study
    rewards: dict[str, Rewards] = {}  # drawn once for all claims about them
    return [
        JudgedClaim(
            claim,
            tuple(_settings(findings, claim, kept, rewards)),
            number,
            not study.has_paper or relation(claim).startswith("ours"),
        )
        for number, claim in enumerate(study.claims, 1)
    ]


def _settings(
    findings: StudyFindings,
    claim: Mapping[str, Any],
    kept: LongRun | None,
    rewards: dict[str, Rewards],
) -> list[JudgedSetting]:
    study, check = findings.study, CHECKS[claim["check"]]
    if check.growth:
        return [
            _growth(findings, claim, [study.run(name) for name in names], rho, kept)
            for names in series(claim)
            for rho in study.run(names[0]).rho
        ]
    found = []
    for run in map(study.run, series(claim)[0]):
        if check.subject is Rewards:
            if run.name not in rewards:
                rewards[run.name] = Rewards(run.bandit, study.seed, study.arm, study.unit)
            measured = check.measure(rewards[run.name], claim)
            full = _together((EACH, EACH), measured, "rewards")
            found.append(JudgedSetting((run.name,), None, (run.horizon,), full, ours=run.ours))
            continue
        for rho in run.rho:
            full, few = (
                settle(claim, findings.evidence(run, rho, trials))
                for trials in (None, study.paper_trials)
            )
            found.append(
                JudgedSetting(
                    (run.name,),
                    rho,
                    (run.horizon,),
                    full,
                    few if few.trials < full.trials else None,
                    run.ours,
                )
            )
    return found


def settle(claim: Mapping[str, Any], evidence: Evidence) -> Judgement:
    """Return what the evidence says about a claim."""
    span = evidence.span([*claim["policies"], *claim.get("against", [])])
    return _together(span, _measured(claim, evidence))


def _together(
    trials: tuple[int, int], measured: Sequence[Measured], unit: str = "trials"
) -> Judgement:
    return Judgement(trials, together(part.judgement for part in measured), tuple(measured), unit)


def _measured(claim: Mapping[str, Any], evidence: Evidence) -> list[Measured]:
    """Apply a claim's check; too few trials settle nothing."""
    found = CHECKS[claim["check"]].measure(evidence, claim)
    names = [*claim["policies"], *claim.get("against", [])]
    if evidence.span(names)[0] < FEWEST_TRIALS:  # for a bootstrap interval to mean anything
        found = [replace(part, judgement=CANNOT_TELL) for part in found]
    return found


def _growth(
    findings: StudyFindings,
    claim: Mapping[str, Any],
    runs: Sequence[Run],
    rho: float,
    kept: LongRun | None,
) -> JudgedSetting:
    """Judge a law of growth: at each horizon, then all of them together."""
    parts = [part for run in runs for part in at_horizon(findings, claim, run, rho, kept)]
    by_policy = {
        name: [part for part in parts if part.policy == name] for name in claim["policies"]
    }
    horizons = {
        name: sum(rho in run.rho and name in run.policies for run in runs) for name in by_policy
    }
    says = together(at_all_horizons(group, horizons[name]) for name, group in by_policy.items())
    missing = [
        f"T = {run.horizon:,} was not run, so this cannot be settled; --long runs it"
        for run in runs
        if not any(part.horizon == run.horizon for part in parts)
    ]
    trials = [part.trials for part in parts] or [0]
    return JudgedSetting(
        tuple(run.name for run in runs),
        rho,
        tuple(run.horizon for run in runs),
        Judgement(
            (min(trials), max(trials)),
            says,
            tuple(part for group in by_policy.values() for part in group),
        ),
        ours=runs[0].ours,
        moves=(*filter(None, map(how_it_moves, by_policy.values())), *missing),
    )


def at_horizon(
    findings: StudyFindings,
    claim: Mapping[str, Any],
    run: Run,
    rho: float,
    kept: LongRun | None,
) -> list[Measured]:
    """Return what a run shows of growth, each policy on the most trials there are."""
    here: dict[str, Measured] = {}
    names = [name for name in claim["policies"] if name in run.policies]
    if (run.name, rho) in findings.outcomes and names:
        evidence = findings.evidence(run, rho)
        here = {
            part.policy: replace(part, horizon=run.horizon, trials=evidence.trials_of(part.policy))
            for part in _measured({**claim, "policies": names}, evidence)
        }
    elsewhere = kept.measured(findings.study, claim, run, rho) if kept else {}
    found = []
    for name in names:
        both = [table[name] for table in (here, elsewhere) if name in table]
        if both:
            found.append(max(both, key=lambda part: part.trials))
    return found
