"""Claims: sentences of the paper, each with the check that settles it from the
results.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import InvalidInput
from ..toml_fields import distinct, fields, text
from ..validation import choice, number
from .checks import (
    CANNOT_TELL,
    CHECKS,
    Evidence,
    Measured,
    together,
)
from .reward_checks import (
    EACH,
    REWARD_CHECKS,
    Rewards,
    can_be_checked,
)
from .run import Findings
from .study import Run, Study, known_policies

REQUIRED = ("sentence", "source", "check", "run")
OPTIONAL = (
    "policies",
    "against",
    "than",
    "span",
    "since",
    "share",
    "within",
    "means",
    "spread",
    "low",
    "high",
    "drop",
    "reading",
    "note",
    "if_disagree",
    "ours",
)
ALL_CHECKS = {**CHECKS, **REWARD_CHECKS}


# what a check's numbers may be
BOUNDS: dict[str, dict[str, float]] = {
    "than": {},
    "span": {"above": 1},
    "since": {"at_least": 1},
    "share": {"above": 0, "below": 1},
    "within": {"above": 0},
    "spread": {"above": 0},
    "low": {},
    "high": {},
    "drop": {},
}
WITHOUT_OTHERS = ("fails", "nearly_always_optimal")
FEWEST_TRIALS = 10


@dataclass(frozen=True)
class Verdict:
    """What the results say of one claim, on so many trials, or rewards if it is
    about the rewards alone.
    """

    trials: int
    verdict: str
    measured: tuple[Measured, ...]
    unit: str = "trials"


@dataclass(frozen=True)
class Row:
    """One claim in one run at one rho (None if it does not depend on it): on the
    paper's number of trials, and on all of them.
    """

    claim: Mapping[str, Any]
    run: str
    rho: float | None
    horizon: int
    paper: Verdict
    full: Verdict

    @property
    def explanation(self) -> str:
        """Why the paper and the measurement differ; nothing where they do not."""
        return str(self.claim.get("if_disagree", "")) if self.full.verdict == "disagree" else ""


def check_claim(study: Study, claim: Mapping[str, Any]) -> None:
    """Refuse a claim that names what the study does not have."""
    what = f"claim {str(claim.get('sentence', ''))[:40]!r}"
    fields(what, claim, REQUIRED, OPTIONAL)
    for part in ("sentence", "source", "reading", "note", "if_disagree"):
        if part in claim:
            text(f"{what}: {part}", claim[part])
    if not isinstance(claim.get("ours", False), bool):
        raise InvalidInput(f"{what}: ours must be true or false, got {claim['ours']!r}.")
    choice(f"{what}: check", claim["check"], ALL_CHECKS)
    if claim["run"] == []:
        raise InvalidInput(f"{what}: run must be the name of a run or a list of them, got [].")
    for name in run_names(claim):
        choice(f"{what}: run", name, [run.name for run in study.runs])
        _check_numbers(what, claim, study.run(name))
    distinct(f"{what}: the run", run_names(claim))


def run_names(claim: Mapping[str, Any]) -> list[Any]:
    """Return the names of the runs that a claim is checked on."""
    return claim["run"] if isinstance(claim["run"], list) else [claim["run"]]


def _check_numbers(what: str, claim: Mapping[str, Any], run: Run) -> None:
    """Refuse a claim with what its check does not use or the run does not have."""
    wanted = list(inspect.signature(ALL_CHECKS[claim["check"]]).parameters)[1:]
    for part in ("policies", "against"):
        if part in claim and not (
            claim[part] == [] and part == "against" and claim["check"] in WITHOUT_OTHERS
        ):
            known_policies(what, claim[part], run.policies)
    if claim["check"] in REWARD_CHECKS and not can_be_checked(run.bandit):
        raise InvalidInput(
            f"{what}: the check {claim['check']} needs a bandit whose arms have attacked laws, "
            f"such as RadioBandit, got {run.bandit!r}."
        )
    if "means" in claim:
        means = claim["means"] if isinstance(claim["means"], list) else []
        if len(means) != run.bandit.arms:
            raise InvalidInput(
                f"{what}: means must be a list of {run.bandit.arms} numbers, one for each arm, "
                f"got {claim['means']!r}."
            )
        for mean in means:
            number(f"{what}: means", mean)
    for parameter in wanted:
        if parameter not in claim:
            raise InvalidInput(f"{what}: the check {claim['check']} needs {parameter!r}.")
    for parameter in ("policies", "means", *BOUNDS):
        if parameter in claim:
            if parameter in BOUNDS:
                number(f"{what}: {parameter}", claim[parameter], **BOUNDS[parameter])
            if parameter not in wanted:
                raise InvalidInput(
                    f"{what}: the check {claim['check']} does not use {parameter!r}."
                )
    if "span" in claim and claim["span"] ** 2 > run.horizon:
        raise InvalidInput(
            f"{what}: span must be at most the square root of the horizon {run.horizon}, got "
            f"{claim['span']}."
        )
    if "since" in claim and claim["since"] > run.horizon / 10:
        raise InvalidInput(
            f"{what}: since must leave a decade up to the horizon {run.horizon}, got "
            f"{claim['since']}."
        )


def judge(findings: Findings) -> list[Row]:
    """Return a row for each claim, run and rho; every verdict is computed from the
    results.
    """
    rows = []
    rewards = {
        run.name: Rewards(run.bandit, findings.study.seed, findings.study.arm, findings.study.unit)
        for run in findings.study.runs
        if can_be_checked(run.bandit)
    }
    for claim in findings.study.claims:
        for run in map(findings.study.run, run_names(claim)):
            if claim["check"] in REWARD_CHECKS:
                measured = _measure(claim, rewards[run.name])
                verdict = Verdict(
                    EACH, together(part.verdict for part in measured), tuple(measured), "rewards"
                )
                rows.append(Row(claim, run.name, None, run.horizon, verdict, verdict))
                continue
            for rho in run.rho:
                results = findings.outcomes[run.name, rho]
                paper, full = (
                    settle(claim, Evidence(results, trials, findings.study.unit))
                    for trials in (findings.study.paper_trials, run.trials)
                )
                rows.append(Row(claim, run.name, rho, run.horizon, paper, full))
    return rows


def _measure(claim: Mapping[str, Any], evidence: Evidence | Rewards) -> list[Measured]:
    check = ALL_CHECKS[claim["check"]]
    return check(
        evidence, **{name: claim[name] for name in list(inspect.signature(check).parameters)[1:]}
    )


def settle(claim: Mapping[str, Any], evidence: Evidence) -> Verdict:
    """Return what the evidence says of a claim."""
    measured = _measure(claim, evidence)
    if evidence.trials < FEWEST_TRIALS:  # resampling so few says nothing of how sure they are
        measured = [replace(part, verdict=CANNOT_TELL) for part in measured]
    return Verdict(evidence.trials, together(part.verdict for part in measured), tuple(measured))
