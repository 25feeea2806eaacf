"""Claims: sentences of the paper, each with the check that settles it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...errors import InvalidInput
from ...naming.toml_fields import distinct, fields, text
from ...validation import choice
from ..kit.evidence import Evidence
from . import checks  # noqa: F401  (importing checks and reward_checks fills CHECKS)
from .checking import CANNOT_TELL, CHECKS, Measured, together
from .reward_checks import EACH, Rewards, can_be_checked
from .runner import StudyFindings
from .study import Study

REQUIRED = ("sentence", "source", "check", "run")
WORDS = ("short", "reading", "note", "if_disagree")
FEWEST_TRIALS = 10


@dataclass(frozen=True)
class Verdict:
    """What the results say about one claim, on this many trials.

    A claim about the rewards alone counts rewards: `unit` says which.
    """

    trials: int
    verdict: str
    measured: tuple[Measured, ...]
    unit: str = "trials"


@dataclass(frozen=True)
class CheckedClaim:
    """One claim in one run at one rho, on the paper's number of trials and on all.

    `rho` is None if the claim does not depend on it.
    """

    claim: Mapping[str, Any]
    run: str
    rho: float | None
    horizon: int
    paper: Verdict
    full: Verdict

    @property
    def ours(self) -> bool:
        """Whether the claim is a question of the study, not a sentence of the paper."""
        return bool(self.claim.get("ours", False))

    @property
    def setting(self) -> tuple[str, float | None]:
        """Where the claim was checked."""
        return self.run, self.rho

    @property
    def explanation(self) -> str:
        """Why the paper and the measurement differ; empty if they do not."""
        return str(self.claim.get("if_disagree", "")) if self.full.verdict == "disagree" else ""


def check_claim(study: Study, claim: Mapping[str, Any]) -> None:
    """Refuse a claim that names what the study or the check does not have."""
    what = f"claim {str(claim.get('sentence', ''))[:40]!r}"
    check = CHECKS[choice(f"{what}: check", claim.get("check"), CHECKS)]
    fields(what, claim, [*REQUIRED, *check.parameters], [*WORDS, "ours"])
    for part in ("sentence", "source", *WORDS):
        if part in claim:
            text(f"{what}: {part}", claim[part])
    if not isinstance(claim.get("ours", False), bool):
        raise InvalidInput(f"{what}: ours must be true or false, got {claim['ours']!r}.")
    if claim["run"] == []:
        raise InvalidInput(f"{what}: run must be the name of a run or a list of them, got [].")
    for name in run_names(claim):
        choice(f"{what}: run", name, [run.name for run in study.runs])
        run = study.run(name)
        if check.subject is Rewards and not can_be_checked(run.bandit):
            raise InvalidInput(
                f"{what}: the check {claim['check']} needs a bandit whose arms have attacked "
                f"laws, such as RadioBandit, got {run.bandit!r}."
            )
        for parameter, refuse in check.parameters.items():
            refuse(f"{what}: {parameter}", claim[parameter], run)
    distinct(f"{what}: the run", run_names(claim))


def run_names(claim: Mapping[str, Any]) -> list[Any]:
    """Return the names of the runs that a claim is checked on."""
    return claim["run"] if isinstance(claim["run"], list) else [claim["run"]]


def judge(findings: StudyFindings) -> list[CheckedClaim]:
    """Return a row for each claim, run and rho, with verdicts from the results."""
    rows = []
    rewards = {
        run.name: Rewards(run.bandit, findings.study.seed, findings.study.arm, findings.study.unit)
        for run in findings.study.runs
        if can_be_checked(run.bandit)
    }
    for claim in findings.study.claims:
        for run in map(findings.study.run, run_names(claim)):
            check = CHECKS[claim["check"]]
            if check.subject is Rewards:
                measured = check.measure(rewards[run.name], claim)
                verdict = Verdict(
                    EACH, together(part.verdict for part in measured), tuple(measured), "rewards"
                )
                rows.append(CheckedClaim(claim, run.name, None, run.horizon, verdict, verdict))
                continue
            for rho in run.rho:
                results = findings.outcomes[run.name, rho]
                paper, full = (
                    settle(claim, Evidence(results, trials, findings.study.unit))
                    for trials in (findings.study.paper_trials, run.trials)
                )
                rows.append(CheckedClaim(claim, run.name, rho, run.horizon, paper, full))
    return rows


def settle(claim: Mapping[str, Any], evidence: Evidence) -> Verdict:
    """Return what the evidence says about a claim."""
    measured = CHECKS[claim["check"]].measure(evidence, claim)
    if evidence.trials < FEWEST_TRIALS:  # too few for a bootstrap interval to mean anything
        measured = [replace(part, verdict=CANNOT_TELL) for part in measured]
    return Verdict(evidence.trials, together(part.verdict for part in measured), tuple(measured))
