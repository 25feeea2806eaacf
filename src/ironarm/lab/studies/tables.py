"""The tables of a study, as plain data: each kind is one function.

A new kind is one function and one line in `TABLES`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from ...policies import MedEUCB
from ...policies.med_e_ucb import forced_total
from ...show.text import counted_span
from ...theory import LEMMA_HEAD, LEMMA_NOTES, PAPER_NOTES, kl, lemma_table, paper_table
from ..kit import statistics
from ..kit.page import greek
from ..kit.statistics import interval, percent
from ..kit.table import Table
from .runner import StudyFindings
from .tuning import TIMES


def tails(findings: StudyFindings, spec: Mapping[str, Any]) -> list[Table]:
    """Final regret of every policy: mean, median, tails, share stuck, optimal pulls."""
    run = findings.study.run(spec["run"])
    tables = []
    for rho in run.rho:
        evidence = findings.evidence(run, rho)
        first = findings.study.paper_trials
        apart = first < evidence.span(run.policies)[1]  # else the first trials are all
        # one format for all: whole numbers, unless the smallest mean has one digit
        smallest = min(evidence.regret(name).mean() for name in run.policies)
        form = ",.0f" if smallest >= 10 else ",.1f"
        body, data = [], []
        for name in run.policies:
            regret, stuck = evidence.regret(name), evidence.stuck(name)
            mean, share = evidence.mean_regret(name), statistics.share(stuck)
            far, carried = statistics.carried_by_few(regret)
            optimal = float(evidence.optimal_curves(name)[:, -1].mean())
            few = statistics.mean(regret[:first])
            q95 = float(np.quantile(regret, 0.95))
            numbers = (
                f"{len(regret):,}",
                *([format(few.value, form)] if apart else []),
                interval(mean, form) + (" †" if carried else ""),
                *(format(x, form) for x in (np.median(regret), q95, regret.max())),
            )
            body.append(
                (
                    name,
                    *numbers,
                    f"{100 * far:.2f} %" if far else "none",
                    percent(share),
                    f"{100 * optimal:.2f} %",
                )
            )
            row = {
                "rho": rho,
                "policy": name,
                "trials": len(regret),
                "mean": asdict(mean),
                "certified_bound": evidence.bound(name),
                "mean_of_paper_trials": asdict(few),
                "median": float(np.median(regret)),
            }
            data.append(
                {
                    **row,
                    "q95": q95,
                    "worst": float(regret.max()),
                    "above_ten_medians": far,
                    "rare_trials_carry_the_mean": carried,
                    "stuck": asdict(share),
                    "optimal": optimal,
                }
            )
        head = (
            "policy",
            "trials",
            *([f"mean of {first}"] if apart else []),
            "mean",
            "median",
            "95 % quantile",
            "worst",
            "above 10 × median",
            "trials stuck",
            "optimal pulls",
        )
        unit = f" in {findings.study.unit}" if findings.study.unit else ""
        note = (
            f"Regret at T{unit}, over the trials; in brackets 95 % intervals. Those of the mean "
            "allow for losses that no trial showed: what happens in none of n trials may happen "
            f"in 3/n of them, and cost up to {run.largest_regret:,.0f}; a certificate, where there "
            "is one, rules that out. † marks a mean that rare trials carry: those above ten times "
            "the median add a tenth and more to it. A trial is stuck if, in the last tenth of its "
            f"rounds, it chose the best {findings.study.arm} less than half of the time."
        )
        tables.append(
            Table(
                f"{spec['title']}, ρ = {rho:g}, T = {run.horizon:,}",
                head,
                tuple(body),
                tuple(data),
                note,
            )
        )
    return tables


def growth(findings: StudyFindings, spec: Mapping[str, Any]) -> list[Table]:
    """Regret at several horizons, and fitted exponents beside the one that b allows."""
    run = findings.study.run(spec["run"])
    first = int(spec.get("from", 1000))
    decades = [
        10**k for k in range(round(math.log10(first)), 1 + math.floor(math.log10(run.horizon)))
    ]
    tables = []
    for rho in run.rho:
        evidence = findings.evidence(run, rho)
        body, data = [], []
        for name in run.policies:
            rounds, curves = evidence.rounds(name), evidence.curves(name)
            at = np.searchsorted(rounds, decades)
            exponent = statistics.measured_exponent(rounds, curves)
            policy = findings.study.policies[name].candidates(rho)[0]
            row: dict[str, Any] = {
                "rho": rho,
                "policy": name,
                "rounds": decades,
                "mean": curves[:, at].mean(axis=0).tolist(),
                "median": np.median(curves[:, at], axis=0).tolist(),
            }
            cells = [
                f"{mean:,.0f} / {median:,.0f}"
                for mean, median in zip(row["mean"], row["median"], strict=True)
            ]
            row["exponent"] = asdict(exponent)
            cells.append(interval(exponent, ".2f"))
            if isinstance(policy, MedEUCB):
                late = rounds >= first
                block = policy.block_for(run.bandit.arms)
                forced = float(run.bandit.gaps.sum()) * np.array(
                    [
                        forced_total(policy.b, float(block), (t - 1) // block)
                        for t in rounds[late].tolist()
                    ]
                )
                excess = statistics.fitted_slope(rounds[late], curves[:, late], forced)
                most = max(0.0, 1 - policy.b * kl(0.5, rho) if rho else 0.0)
                row |= {
                    "excess_exponent": asdict(excess),
                    "excess_at_end": float(curves[:, -1].mean() - forced[-1]),
                    "largest_exponent": most,
                }
                cells += [
                    f"{row['excess_at_end']:,.0f}",
                    interval(excess, ".2f") if row["excess_at_end"] > 0.01 * forced[-1] else "none",
                    f"{most:.2f}" if most else "0 (logarithmic)",
                ]
            body.append((name, *cells, *[""] * (4 + len(decades) - len(cells))))
            data.append(row)
        head = (
            "policy",
            *(f"T = {t:,}" for t in decades),
            "exponent of the mean",
            "above forced exploration",
            "its exponent",
            "1 − b kl(1/2, ρ)",
        )
        note = (
            "Mean / median regret. The exponent of the mean compares what the last two decades "
            "added (0: logarithmic, 1: linear). “Above forced exploration” is what is left of the "
            "mean at the end without the regret that forced exploration costs in any case; its "
            f"exponent is fitted by least squares from T = {first:,} on. 1 − b "
            "kl(1/2, ρ) is the exponent under far outliers as T grows, up to factors of log T; a "
            "fit at finite T also sees early effects."
        )
        tables.append(
            Table(
                f"{spec['title']}, ρ = {rho:g}, "
                f"{counted_span(evidence.span(run.policies), 'trial')}",
                head,
                tuple(body),
                tuple(data),
                note,
            )
        )
    return tables


def tuning(findings: StudyFindings, spec: Mapping[str, Any]) -> list[Table]:
    """The grids that were searched, each candidate's mean regret, and the choice."""
    settings = findings.study.tuning
    if settings is None:
        return []
    body, data = [], []
    several = len({choice.runs for choice in findings.choices}) > 1
    for choice in findings.choices:
        best, which = choice.best, ", ".join(choice.parameters)
        shown = _shown(best.values)
        if choice.at_edge:
            shown += " (at the edge of what was tried)"
        near = " · ".join(
            f"{_shown(one.values)}: {interval(choice.regret(one), ',.0f')} on {one.trials:,}"
            for one in choice.candidates
            if one is best or one in choice.neighbours
        )
        rivals = ", ".join(_shown(one.values) for one in choice.rivals)
        others = " · ".join(
            f"{_shown(one.values)}: {choice.regret(one).value:,.0f}"
            for one in choice.candidates
            if one is not best and one not in choice.neighbours
        )
        body.append(
            (
                choice.name,
                f"{choice.rho:g}",
                greek(which),
                shown,
                near,
                rivals or "none",
                others,
                *(("; ".join(choice.runs),) if several else ()),
            )
        )
        data.append(
            {
                "policy": choice.name,
                "rho": choice.rho,
                "parameters": which,
                "candidates": [
                    {"value": ", ".join(map(_value, one.values)), "trials": one.trials}
                    | {"mean_regret": asdict(choice.regret(one))}
                    for one in choice.candidates
                ],
                "chosen": ", ".join(map(_value, best.values)),
                "not_told_apart": [", ".join(map(_value, one.values)) for one in choice.rivals],
                "at_edge": choice.at_edge,
                "runs": list(choice.runs),
            }
        )
    unit = f", in {findings.study.unit}," if findings.study.unit else ""
    note = (
        f"Mean final regret{unit} of the chosen value and its neighbours, with 95 % intervals that "
        "allow for losses that no trial showed, as large as the largest of any value, and the "
        "number of trials; then the means of the others. The trials are those of seed "
        f"{settings.seed}, which the study itself does not use; every candidate meets the same "
        "noise and the same attacks. A grid whose best value was its first or last was continued "
        "until the best value lay inside. The best value and its neighbours, as far as they might "
        f"be the best, were played again on {TIMES} times the trials. Values that still cannot be "
        "told apart from the chosen one are named."
    )
    head = (
        "policy",
        "ρ",
        "parameter",
        "chosen",
        "it and its neighbours",
        "not told apart",
        "others",
    )
    return [
        Table(
            str(spec["title"]),
            (*head, *(["runs"] if several else [])),
            tuple(body),
            tuple(data),
            note,
            words=True,
        )
    ]


def _shown(values: Iterable[Any]) -> str:
    return ", ".join(f"{x:,g}" if isinstance(x, (int, float)) else str(x) for x in values)


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


def theory(findings: StudyFindings, spec: Mapping[str, Any]) -> list[Table]:
    """What the theorems and sharper conditions say for the paper's own settings."""
    rows = paper_table()
    columns = list(rows[0].values)
    body = tuple(
        (greek(row.quantity), *(greek(row.shown(column)) for column in columns)) for row in rows
    )
    data = tuple(row.to_dict() for row in rows)
    return [Table(str(spec["title"]), ("", *columns), body, data, greek(" ".join(PAPER_NOTES)))]


def lemmas(findings: StudyFindings, spec: Mapping[str, Any]) -> list[Table]:
    """The lemmas' bounds beside what the malicious adversary achieves."""
    rows = lemma_table()
    return [
        Table(
            str(spec["title"]),
            LEMMA_HEAD,
            tuple(row.shown() for row in rows),
            tuple(row.to_dict() for row in rows),
            greek(" ".join(LEMMA_NOTES)),
        )
    ]


TABLES: dict[str, Callable[[StudyFindings, Mapping[str, Any]], list[Table]]] = {
    "tails": tails,
    "growth": growth,
    "tuning": tuning,
    "theory": theory,
    "lemmas": lemmas,
}
