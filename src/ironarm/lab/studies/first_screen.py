"""The first screen of a report: what was done, who survived, where the paper errs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ...show.text import counted_span, listed
from ..kit import statistics
from ..kit.statistics import interval, percent
from ..kit.table import Table
from .checking import DISAGREE
from .claims import FEWEST_TRIALS
from .judged import JudgedClaim
from .runner import StudyFindings

MOST_PARTED = 3
"""So many disagreements stand on the first screen."""

LOST = 0.05
"""A policy that loses a smaller share of trials survives."""


@dataclass(frozen=True)
class FirstScreen:
    """What a reader sees first."""

    done: str
    survivors: Table | None
    who: str
    """Who survived, in a sentence or two."""
    parted: tuple[JudgedClaim, ...]
    """The claims of the paper that disagree, the most important first."""
    more: int
    """How many more of them disagree."""


def first_screen(findings: StudyFindings, claims: Sequence[JudgedClaim]) -> FirstScreen:
    """Return the first screen of a study's report."""
    study = findings.study
    disagree = [claim for claim in claims if claim.says == DISAGREE and not claim.ours]
    # those with a sentence of their own come first, in the order of the file
    disagree.sort(key=lambda claim: "apart" not in claim.claim)
    table, who = _survivors(findings) if "survivors" in study.show else (None, "")
    return FirstScreen(
        str(study.show.get("introduction", "")),
        table,
        who,
        tuple(disagree[:MOST_PARTED]),
        len(disagree[MOST_PARTED:]),
    )


def _survivors(findings: StudyFindings) -> tuple[Table, str]:
    """Return the small table of regret and lost trials, and what it says in words."""
    study, spec = findings.study, findings.study.show["survivors"]
    run = study.run(spec["run"])
    evidence = {rho: findings.evidence(run, rho) for rho in run.rho}
    unit = f", {study.unit}" if study.unit else ""
    head = ["policy"]
    for rho in run.rho:
        head += [f"regret{unit}, ρ = {rho:g}", f"lost, ρ = {rho:g}"]
    body, data = [], []
    survives: dict[float, list[str]] = {rho: [] for rho in run.rho}
    fails: dict[float, list[str]] = {rho: [] for rho in run.rho}
    for name in spec["policies"]:
        cells: list[str] = []
        row: dict[str, Any] = {"policy": name}
        for rho, seen in evidence.items():
            mean, lost = seen.mean_regret(name), statistics.share(seen.stuck(name))
            cells += [interval(mean, ",.0f"), percent(lost)]
            row[f"{rho:g}"] = {"mean": asdict(mean), "lost": asdict(lost)}
            if lost.high < LOST:
                survives[rho].append(name)
            elif lost.low > LOST:
                fails[rho].append(name)
        body.append((name, *cells))
        data.append(row)
    trials = evidence[run.rho[0]].span(spec["policies"])
    note = (
        f"Mean regret at T = {run.horizon:,} and share of lost trials in the run “{run.name}”, on "
        f"{counted_span(trials, 'trial')}, with 95 % intervals; “surely” means all of it. The "
        "interval of a mean allows for losses that no trial showed: what happens in none of n "
        "trials may happen in 3/n of them, and cost up to "
        f"{run.largest_regret:,.0f}{' ' + study.unit if study.unit else ''}, unless a certificate "
        "rules it out."
    )
    table = Table("Who survived", tuple(head), tuple(body), tuple(data), note)
    if trials[0] < FEWEST_TRIALS:
        return table, "There are too few trials to say who survived."
    return table, who_survived(survives, fails, len(spec["policies"]))


def who_survived(
    survives: dict[float, list[str]], fails: dict[float, list[str]], policies: int
) -> str:
    """Say who surely loses fewer than one trial in twenty, and who surely more.

    The shorter of both lists is named, the other counted.
    """
    same: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for rho, names in survives.items():
        same.setdefault((tuple(names), tuple(fails[rho])), []).append(f"{rho:g}")
    sentences = []
    for (few, lost), rhos in same.items():
        one, other = ("fewer", "more") if len(few) <= len(lost) else ("more", "fewer")
        named, counted = sorted((few, lost), key=len)
        doubtful = policies - len(few) - len(lost)
        quoted = [f"“{name}”" if "," in name else name for name in named]
        who = listed(quoted, "and") if quoted else "none"
        sentences.append(
            f"At ρ = {listed(rhos, 'and')}, of {policies} policies {who} surely "
            f"{'lose' if len(named) > 1 else 'loses'} {one} than one trial in twenty, "
            f"{len(counted) or 'none'} surely {'loses' if len(counted) == 1 else 'lose'} {other}"
            f"{f', and of {doubtful} it is open' if doubtful else ''}."
        )
    return " ".join(sentences)
