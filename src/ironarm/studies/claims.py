"""Claims: sentences of the paper, each with the check that settles it from the results."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidInput
from ..validation import choice, number
from .checks import CHECKS, Evidence, Measured, together
from .run import Findings
from .study import Study, fields, known_policies

REQUIRED = ("sentence", "source", "check", "run", "policies")
OPTIONAL = ("against", "than", "span", "since", "share", "within", "reading", "if_disagree", "ours")


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
    what = f"claim {claim.get('sentence', '')[:40]!r}" if isinstance(claim, Mapping) else "a claim"
    fields(what, claim, REQUIRED, OPTIONAL)
    choice(f"{what}: check", claim["check"], CHECKS)
    choice(f"{what}: run", claim["run"], [run.name for run in study.runs])
    available = study.run(claim["run"]).policies
    for part in ("policies", "against"):
        if part in claim and claim[part] != []:
            known_policies(what, claim[part], available)
    wanted = list(inspect.signature(CHECKS[claim["check"]]).parameters)[1:]
    for parameter in wanted:
        if parameter not in claim:
            raise InvalidInput(f"{what}: the check {claim['check']} needs {parameter!r}.")
    for parameter in ("than", "span", "since", "share", "within"):
        if parameter in claim:
            number(f"{what}: {parameter}", claim[parameter])
            if parameter not in wanted:
                raise InvalidInput(f"{what}: the check {claim['check']} does not use {parameter!r}.")


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
    return Verdict(evidence.trials, together(part.verdict for part in measured), tuple(measured))
