"""Claims: sentences of the paper, each with the check that settles it from the results."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import InvalidInput
from ..validation import choice, number
from .checks import CANNOT_TELL, CHECKS, Evidence, Measured, together
from .run import Findings
from .study import Study, known_policies
from .typed import fields, text

REQUIRED = ("sentence", "source", "check", "run", "policies")
OPTIONAL = ("against", "than", "span", "since", "share", "within", "reading", "if_disagree", "ours")


# what a check's numbers may be
BOUNDS: dict[str, dict[str, float]] = {
    "than": {},
    "span": {"above": 1},
    "since": {"at_least": 1},
    "share": {"above": 0, "below": 1},
    "within": {"above": 0},
}
WITHOUT_OTHERS = ("fails", "nearly_always_optimal")
FEWEST_TRIALS = 10


@dataclass(frozen=True)
class Verdict:
    """What the results say of one claim at one rho, on so many trials."""

    trials: int
    verdict: str
    measured: tuple[Measured, ...]


@dataclass(frozen=True)
class Row:
    """One claim at one rho: on the paper's number of trials, and on all of them."""

    claim: Mapping[str, Any]
    rho: float
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
    for part in ("sentence", "source", "reading", "if_disagree"):
        if part in claim:
            text(f"{what}: {part}", claim[part])
    if not isinstance(claim.get("ours", False), bool):
        raise InvalidInput(f"{what}: ours must be true or false, got {claim['ours']!r}.")
    choice(f"{what}: check", claim["check"], CHECKS)
    choice(f"{what}: run", claim["run"], [run.name for run in study.runs])
    run = study.run(claim["run"])
    for part in ("policies", "against"):
        if part in claim and not (claim[part] == [] and part == "against" and claim["check"] in WITHOUT_OTHERS):
            known_policies(what, claim[part], run.policies)
    wanted = list(inspect.signature(CHECKS[claim["check"]]).parameters)[1:]
    for parameter in wanted:
        if parameter not in claim:
            raise InvalidInput(f"{what}: the check {claim['check']} needs {parameter!r}.")
    for parameter, bounds in BOUNDS.items():
        if parameter in claim:
            number(f"{what}: {parameter}", claim[parameter], **bounds)
            if parameter not in wanted:
                raise InvalidInput(f"{what}: the check {claim['check']} does not use {parameter!r}.")
    if "span" in claim and claim["span"] ** 2 > run.horizon:
        raise InvalidInput(f"{what}: span must be at most the square root of the horizon {run.horizon}, got {claim['span']}.")
    if "since" in claim and claim["since"] > run.horizon / 10:
        raise InvalidInput(f"{what}: since must leave a decade up to the horizon {run.horizon}, got {claim['since']}.")


def judge(findings: Findings) -> list[Row]:
    """Return a row for each claim and rho; every verdict is computed from the results."""
    rows = []
    for claim in findings.study.claims:
        run = findings.study.run(claim["run"])
        for rho in run.rho:
            results = findings.outcomes[run.name, rho]
            paper, full = (settle(claim, Evidence(results, trials)) for trials in (findings.study.paper_trials, run.trials))
            rows.append(Row(claim, rho, run.horizon, paper, full))
    return rows


def settle(claim: Mapping[str, Any], evidence: Evidence) -> Verdict:
    """Return what the evidence says of a claim."""
    check = CHECKS[claim["check"]]
    arguments = {name: claim[name] for name in list(inspect.signature(check).parameters)[1:]}
    measured = check(evidence, **arguments)
    if evidence.trials < FEWEST_TRIALS:  # resampling so few says nothing of how sure they are
        measured = [replace(part, verdict=CANNOT_TELL) for part in measured]
    return Verdict(evidence.trials, together(part.verdict for part in measured), tuple(measured))
