"""The radio study, small and whole.

Its claims are settled by what was measured, one way or the other.
"""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import ironarm as ia
from ironarm.cli import main
from ironarm.lab.kit.report_files import link_reports
from ironarm.lab.studies.checking import CHECKS
from ironarm.lab.studies.claims import judge, relation
from ironarm.lab.studies.read import read_study
from ironarm.lab.studies.reward_checks import Rewards
from ironarm.lab.studies.runner import SIGNAL_LEVEL, Runner
from ironarm.lab.studies.tables import TABLES
from ironarm.simulation.progress import Progress
from tests.lab.studies.test_claims import TRIALS, logarithm, world

SMALL = Path(__file__).parent / "small_radio"


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """Two policies, three trials at signal level, from the command line."""
    out = tmp_path_factory.mktemp("radio")
    assert main(["reproduce", "--study", str(SMALL), "--out", str(out)]) == 0
    return out


def test_every_run_has_its_own_bandit_and_attack(out):
    """What a run does not say is the study's.

    A bandit or an attack with a name of its own stands alone.
    """
    runs = {run["name"]: run for run in json.loads((out / "report.json").read_text())["runs"]}
    assert [runs[name]["bandit"].get("tier") for name in ("signal", "analytic", "normal")] == [
        "iq",
        "analytic",
        None,
    ]
    assert runs["analytic"]["bandit"]["means"] == [41, 37, 35, 31, 28]
    assert [runs[name]["attack"] for name in ("analytic", "normal")] == [
        {"name": "Jammer", "strategy": "best"},
        {"name": "Infinite"},
    ]


def test_results_are_those_of_simulate(out):
    """On the run's own bandit, under its own attack."""
    study = read_study(str(SMALL))
    findings = Runner(study, out).run()
    assert findings.computed == 0
    for name, bandit in (
        ("signal", ia.RadioBandit("iq")),
        ("analytic", ia.RadioBandit("analytic")),
    ):
        settings = {"horizon": 300, "trials": 3, "seed": 3, "progress": False}
        alone = ia.simulate(
            ia.MedEUCB(b=2, block=100), bandit, ia.attacks.Jammer(0.3, strategy="best"), **settings
        )
        assert np.array_equal(
            findings.outcomes[name, 0.3]["median"].regret[0, :3, -1], alone.regret[0, :, -1]
        )


def test_runs_that_are_tuned_alike_are_tuned_once(out):
    """Both on the analytic tier."""
    report = json.loads((out / "report.json").read_text())
    assert [row["runs"] for row in report["tables"]["grids"]] == [["signal", "analytic"]]
    [row] = report["tables"]["grids"]
    tried = [one["trials"] for one in row["candidates"]]
    # on 3 trials first, then some of them on 48; one that the grid was continued by
    # only on 48
    assert set(tried) <= {3, 48}
    cells = len(list((out / "cells").glob("*.npz")))
    assert 4 + 2 + len(tried) <= cells <= 4 + 2 + 2 * len(tried)


def test_a_claim_is_judged_on_each_of_its_runs(out):
    """Three trials settle nothing, two hundred do.

    A claim about the rewards alone has no rho.
    """
    claims = json.loads((out / "report.json").read_text())["claims"]
    settings = [one for claim in claims for one in claim["settings"]]
    assert [(one["runs"], one["rho"], one["judgement"]) for one in settings] == [
        (["signal"], 0.3, "cannot tell"),
        (["analytic"], 0.3, "agree"),
        (["analytic"], None, "disagree"),
    ]
    assert [claim["judgement"] for claim in claims] == ["cannot tell", "disagree"]
    assert settings[2]["on_all_trials"]["rewards"] == [4000, 4000]
    page = (out / "report.html").read_text()
    assert "It takes less from bad channels." in page
    assert all(
        f'aria-label="{title}: {name}"' in page
        for title, name in (
            ("The setup", "setup"),
            ("Power", "spectrogram"),
            ("Symbols", "constellation"),
        )
    )


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (
            "runs",
            'bandit = { tier = "analytic" }\nrho',
            "bandit = { tire = 1 }\nrho",
            "Did you mean 'tier'",
        ),
        (
            "runs",
            'bandit = { tier = "analytic" }\nrho',
            'bandit = "analytic"\nrho',
            "must be a table",
        ),
        (
            "runs",
            'attack = { name = "Infinite" }',
            'attack = { strategy = "any" }',
            "a Jammer needs a bandit whose channels can be jammed",
        ),
        (
            "runs",
            'attack = { name = "Infinite" }',
            'attack = { name = "Infinite", rho = 0.1 }',
            "a rho of its own",
        ),
        (
            "runs",
            'trials = 3\nbandit = { tier = "analytic" }',
            'trials = 3\nbandit = { tier = "fast" }',
            "tier must be one of",
        ),
        (
            "claims",
            'run = ["signal", "analytic"]',
            'run = ["signal", "analitic"]',
            "Did you mean 'analytic'",
        ),
        (
            "claims",
            'run = ["signal", "analytic"]',
            "run = []",
            "must be the name of a run or a list",
        ),
        (
            "claims",
            'run = "analytic"',
            'run = "normal"',
            "needs a bandit whose arms have attacked laws",
        ),
        ("claims", "drop = 30\n", "", "needs the field 'drop'"),
        ("claims", "drop = 30\n", 'drop = 30\npolicies = ["median"]\n', "unknown field 'policies'"),
        (
            "claims",
            'check = "attack_takes"\nrun = "analytic"\ndrop = 30',
            'check = "clean_rewards"\nrun = "analytic"\nspread = 1\nmeans = [1, 2]',
            "a list of 5 numbers",
        ),
        (
            "show",
            'kind = "setup"\ntitle = "The setup"\nrun = "signal"',
            'kind = "setup"\ntitle = "The setup"\nrun = "normal"',
            "is drawn of a RadioBandit",
        ),
        (
            "show",
            'caption = "Nodes."',
            'caption = "Nodes."\npolicies = ["mean"]',
            "shows no policies",
        ),
        ("show", 'policies = ["median", "mean"]\n', "", "needs policies"),
        (
            "show",
            'caption = "Nodes."',
            'caption = "Nodes."\nheading = "any"',
            "has no panels to head",
        ),
        ("show", '"A receiver and a jammer."', "5", "introduction must be text"),
        ("show", '"What was given away."', "5", "words: regret must be text"),
        ("show", '"median" = "goes', '"medain" = "goes', "Did you mean 'median'"),
        ("runs", 'unit = "dB"', "unit = 1", "unit must be text"),
        ("claims", 'note = "So it was configured."', "note = 1", "note must be text"),
    ],
)
def test_mistakes_are_refused(tmp_path, file, old, new, message):
    """Before anything runs."""
    shutil.copytree(SMALL, tmp_path / "study")
    path = tmp_path / "study" / f"{file}.toml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(ia.errors.BadFile) as caught:
        read_study(str(tmp_path / "study"))
    assert message in str(caught.value)


def test_the_papers_study_is_the_papers():
    """Five channels, both rho, T = 2000, G = 200, two jammers, and one of one power.

    There are 20 trials at signal level and a thousand others; of one power 500.
    """
    study = read_study("radio")
    sizes = {
        (run.bandit.tier, run.attack_at(0.3)): (run.rho, run.horizon, run.trials)
        for run in study.runs
        if run.horizon == 2000
    }
    assert sizes == {
        (tier, ia.attacks.Jammer(0.3, whom, same_power)): ((0.125, 0.3), 2000, trials)
        for tier, trials, whom, same_power in (
            ("iq", 20, "any", False),
            ("iq", 20, "best", False),
            ("analytic", 1000, "any", False),
            ("analytic", 1000, "best", False),
            ("analytic", 500, "any", True),
        )
    }
    # the paper's text is one of them; the others are settings of our own
    assert [run.name for run in study.runs if not run.ours] == ["any packet, signal level"]
    assert study.policies["med-E-UCB"].candidates(0.3) == [ia.MedEUCB(b=4, omega=4, block=200)]
    assert study.policies["Count-IMED"].candidates(0.3) == [ia.CountIMED(epsilon=0.35)]


def test_every_panel_names_its_jammer(out):
    """A figure's file is also seen without the page's title."""
    figures = [figure for figure in read_study("radio").show["figures"] if "policies" in figure]
    assert len(figures) == 7
    for figure in figures:
        assert figure["heading"] == figure["run"].replace(",", " jammed,", 1)
    assert (
        "ρ = 0.3, 3 trials: five channels, jammed"
        in (out / "figures" / "regret-rho-0.3.svg").read_text()
    )


def test_the_page_explains_itself(out):
    """What was run comes first, its terms and policies last.

    A claim names its run, its unit and what was tuned.
    """
    page = (out / "report.html").read_text()
    assert (
        page.index("A receiver and a jammer.")
        < page.index('id="claims"')
        < page.index("What was given away.")
        < page.index("goes by medians")
    )
    for words in (
        "So it was configured.",
        "<b>signal, ρ = 0.3</b>, T = 300",
        "<b>analytic, ρ = 0.3</b>, T = 300",
        "channel 0: falls by 30.97 dB",
        "alpha tuned from 0.1, 1, 10",
    ):
        assert words in page, words
    assert re.search(r"median: [\d.,]+ dB; mean: [\d.,]+ dB; difference −[\d.,]+ dB \(", page)
    assert "regret, dB" in (out / "figures" / "regret-rho-0.3.svg").read_text()


@pytest.mark.parametrize("study", ["radio", "synthetic"])
def test_every_claim_can_be_read_alone(study):
    """Each stands in a box of its own: a whole sentence, and how it is measured."""
    for claim in read_study(study).claims:
        assert not re.match(r"…|So ", claim["sentence"]), claim["sentence"]
        assert not claim["reading"].startswith("as above")
        assert not claim.get("if_disagree", "").startswith("As above")


def test_every_claim_of_the_paper_says_where_it_stands():
    """Its own sentences in section 5.2, section 1.1 or the abstract, and nowhere else.

    What it does not say is a question of ours.
    """
    for claim in read_study("radio").claims:
        of_the_paper = re.match(r"section (5\.2, (on|first)|1\.1, last item)", claim["source"])
        of_the_testbed = relation(claim).startswith("ours: it checks the simulated testbed")
        ours = relation(claim).startswith("ours")
        assert bool(of_the_paper) == (not ours or of_the_testbed), claim["source"]


def test_the_papers_sentences_on_mean_policies_are_checked_on_tuned_ones():
    """Its appendix A tunes them."""
    for claim in read_study("radio").claims:
        if not relation(claim).startswith("ours"):
            assert not {"UCB", "ε-greedy"} & {*claim.get("policies", []), *claim.get("against", [])}


@pytest.mark.parametrize("study", ["radio", "synthetic"])
def test_every_policy_is_described(study):
    """Or it is a variant of one that is."""
    study = read_study(study)
    assert all(
        any(
            name.startswith(described.removesuffix(", tuned"))
            for described in study.show["policies"]
        )
        for name in study.policies
    )


def test_claims_on_rewards_say_that_they_check_the_configuration():
    """The testbed is set to the paper's numbers, so they confirm nothing of it."""
    about_rewards = [
        claim
        for claim in read_study("radio").claims
        if CHECKS[claim["check"]].subject is Rewards and claim["check"] != "attack_takes"
    ]
    assert len(about_rewards) == 5
    assert all("says nothing about the paper's testbed" in relation(one) for one in about_rewards)


def test_progress_goes_with_the_work(tmp_path, monkeypatch):
    """A round at signal level is much more work, and what is run is counted."""
    bars = []

    class Watched(Progress):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            bars.append(self)

    monkeypatch.setattr("ironarm.lab.studies.runner.Progress", Watched)
    Runner(read_study(str(SMALL)), tmp_path).run()
    signal, analytic, normal = 2 * 3 * 300, 2 * 200 * 300, 2 * 12 * 300
    assert bars[0]._done == bars[0]._total
    # the rest is tuning, on 3 or 48 trials
    tuning = bars[0]._total - (SIGNAL_LEVEL * signal + analytic + normal)
    assert tuning > 0
    assert tuning % (3 * 300) == 0
    Runner(read_study(str(SMALL)), tmp_path).run()
    assert bars[1]._done == bars[1]._total == 0


def test_the_page_speaks_of_the_trials_there_are(out):
    """Of few and all only where there are more than a few."""
    page = (out / "report.html").read_text()
    assert "3, 12 or 200 trials. Every policy" in page
    assert "Where there are more than 20 trials, the judgement on the first 20" in page
    assert "quick sizes" not in page
    findings = Runner(read_study(str(SMALL)), out).run()
    tables = {
        run: [table.head[1:3] for table in TABLES["tails"](findings, {"title": "", "run": run})]
        for run in ("signal", "analytic")
    }
    assert tables == {
        "signal": [("trials", "mean")],
        "analytic": [("trials", "mean of 20")],
    }
    assert "95 % quantile" in TABLES["tails"](findings, {"title": "", "run": "signal"})[0].head


def steep(rounds):
    return 20 * rounds


@pytest.mark.parametrize(
    ("good", "bad", "expected"), [(logarithm, steep, "agree"), (steep, logarithm, "disagree")]
)
def test_claims_on_policies_follow_the_results(good, bad, expected):
    """Claims on policies agree where the paper is right and disagree where it is wrong.

    Claims on rewards are measured and stay. Nothing proves at rho = 0.3 that a mean
    without rare trials is logarithmic.
    """
    claims = judge(world(good, bad, read_study("radio", trials=TRIALS, long=True)))
    about_rewards = {
        claim.claim["check"]: claim.says
        for claim in claims
        if CHECKS[claim.claim["check"]].subject is Rewards
    }
    assert about_rewards == {
        "attack_takes": "disagree",
        "reads_linearly": "agree",
        "clean_means": "agree",
        "constant_level": "disagree",
        "clean_rewards": "agree",
        "attacked_rewards": "agree",
    }
    found = {
        (claim.name, one.where): one.full.says
        for claim in claims
        for one in claim.settings
        if not claim.ours and one.rho is not None
    }
    assert len(found) == 2 * (2 + 3 + 4 + 4 + 6)
    for (name, where), says in found.items():
        if "logarithmic" not in name:
            assert says == expected, (name, where)
        elif good is logarithm:
            open_question = "not" not in name and "0.3" in where
            assert says == ("cannot tell" if open_question else "agree"), (name, where)
        else:  # losses that no trial showed could still make the others' regret larger
            assert says in ("disagree", "cannot tell"), (name, where)


def test_reports_link_each_other(out, tmp_path):
    """The one in the folder and the one in a folder of its name inside.

    A second time nothing changes; a report that has gone is not linked.
    """
    for folder in (tmp_path, tmp_path / "radio"):
        shutil.copytree(out, folder, dirs_exist_ok=True)
    link_reports(tmp_path / "radio", ["synthetic", "radio"])
    assert 'href="radio/report.html"' in (tmp_path / "report.html").read_text()
    assert 'href="../report.html"' in (tmp_path / "radio" / "report.html").read_text()
    before = (tmp_path / "report.html").stat().st_mtime_ns
    link_reports(tmp_path, ["synthetic", "radio"])
    # with its links the page still counts as whole: the same command finds it and
    # leaves it
    assert main(["reproduce", "--study", str(SMALL), "--out", str(tmp_path)]) == 0
    assert (tmp_path / "report.html").stat().st_mtime_ns == before
    shutil.rmtree(tmp_path / "radio")
    link_reports(tmp_path, ["synthetic", "radio"])
    assert (tmp_path / "report.html").read_bytes() == (out / "report.html").read_bytes()
