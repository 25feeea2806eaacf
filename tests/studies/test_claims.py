"""The claims of the paper's study are settled by the results alone.

On a made-up world where the paper is right all of them hold, and where it is wrong they
do not.
"""

from dataclasses import replace

import numpy as np
import pytest

from ironarm.simulation.simulate import checkpoint_rounds
from ironarm.studies.checking import Measured
from ironarm.studies.claims import Verdict, judge
from ironarm.studies.read import read_study
from ironarm.studies.report import summary, why
from ironarm.studies.runner import Findings
from ironarm.studies.statistics import Estimate
from tests.studies import fabricated


def world(good, bad, study):
    """Findings in which the paper's algorithms do as `good`, all others as `bad`."""
    findings = Findings(study)
    for run in study.runs:
        for rho in run.rho:
            outcome = findings.outcomes.setdefault((run.name, rho), {})
            for i, name in enumerate(run.policies):
                median = name.startswith("med-")
                base = (good if median else bad)(checkpoint_rounds(run.horizon).astype(float))
                # the paper's order: med-E-UCB before med-epsilon-greedy, whatever G and
                # c
                size = 1.0 if name.startswith("med-E-UCB") else 1.5 if median else 1 + 0.01 * i
                made = fabricated.result(
                    fabricated.noisy(size * base, trials=200, spread=0.001, seed=9),
                    1.0 if median == (good is logarithm) else 0.0,
                )
                outcome[name] = type(made)(
                    **{**vars(made), "rounds": checkpoint_rounds(run.horizon)}
                )
    return findings


def logarithm(rounds):
    return 400 * np.log(rounds + 1)


def line(rounds):
    return 2 * rounds


@pytest.fixture(scope="module")
def study():
    return read_study("synthetic", trials=200)


def test_where_the_paper_is_right_every_claim_of_it_agrees(study):
    """Its two algorithms grow logarithmically, all others fail.

    The one sentence that is ours and says that trimming fails in any case is then true
    as well.
    """
    verdicts = {
        (row.claim["sentence"], row.rho): row.full.verdict
        for row in judge(world(logarithm, line, study))
    }
    assert set(verdicts.values()) == {"agree"}


def test_where_the_paper_is_wrong_its_claims_disagree(study):
    """Its algorithms fail and all others succeed.

    Nothing agrees but what does not compare the two.
    """
    rows = judge(world(line, logarithm, study))
    agreeing = {row.claim["check"] for row in rows if row.full.verdict == "agree"}
    assert {
        row.full.verdict
        for row in rows
        if row.claim["check"]
        in ("fails", "grows_faster", "nearly_always_optimal", "less_often_stuck")
    } == {"disagree"}
    assert agreeing <= {"same_mean_regret", "lower_mean_regret", "excess_grows_slower"}
    outperform = [row for row in rows if "outperform the other" in row.claim["sentence"]]
    assert outperform
    assert {row.full.verdict for row in outperform} == {"disagree"}


def test_explanations_appear_only_with_disagreements(study):
    """And each claim that this study is known to disagree with has one."""
    rows = judge(world(line, logarithm, study))
    assert all(
        bool(row.explanation) == (row.full.verdict == "disagree" and "if_disagree" in row.claim)
        for row in rows
    )
    assert any(row.explanation for row in rows)


def test_a_folded_verdict_says_how_much_is_folded(study):
    """How many parts there are, how they came out, and the one that settled it."""
    parts = [
        Measured(str(i), Estimate(i, i, i), verdict, f"part {i}")
        for i, verdict in enumerate(["agree", "cannot tell", "agree", "agree"])
    ]
    assert (
        summary(Verdict(20, "cannot tell", tuple(parts)))
        == "1 of 4 parts (3 agree, 1 cannot tell): part 1"
    )


def test_an_explanation_names_the_rows_it_is_about(study):
    """Unless they all disagree."""
    rows = [
        row for row in judge(world(line, logarithm, study)) if row.claim["check"] == "grows_slower"
    ]
    assert why(rows) == (rows[0].claim["if_disagree"], "")
    rows[0] = replace(rows[0], full=replace(rows[0].full, verdict="agree"))
    assert why(rows) == (rows[1].claim["if_disagree"], "paper: ρ = 0.3")
    assert why(rows[:1]) == ("", "")


def test_each_claim_is_judged_on_the_papers_trials_and_on_all(study):
    """So that the difference can be seen."""
    for row in judge(world(logarithm, line, study)):
        assert (row.paper.trials, row.full.trials) == (20, 200)
