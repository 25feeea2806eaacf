"""A study is read and checked as a whole before anything runs.

Here are the tests of `study.py` and `read.py`.
"""

import shutil
from pathlib import Path

import pytest

from ironarm import InvalidInput, TrimmedUCB
from ironarm.errors import BadFile
from ironarm.lab.studies import STUDIES
from ironarm.lab.studies.read import read_study

SMALL = Path(__file__).parent / "small"
FIRST_CLAIM = 'check = "lower_mean_regret"\nrun = "main"\npolicies = ["median"]\nagainst = ["mean"]'
GROWTH = (
    'check = "logarithmic"\nhorizons = {horizons}\npolicies = ["median"]\nthan = 0.2\n'
    "since = {since}"
)


@pytest.mark.parametrize("name", STUDIES)
def test_our_studies_can_be_read(name):
    """Also in their quick sizes, which have fewer trials of as many rounds."""
    full, quick = read_study(name), read_study(name, quick=True)
    small, large = (
        sum(run.trials_for(policy) * run.horizon for run in study.played for policy in run.policies)
        for study in (quick, full)
    )
    assert small < large / 5
    assert [run.horizon for run in quick.runs] == [run.horizon for run in full.runs]
    assert full.claims == quick.claims


def test_the_papers_study_is_the_papers():
    """Ten arms N(2i, 1), both rho, T = 100,000, its 20 trials and many more.

    Tuning is on other seeds. Where failures are rare there are thousands of trials.
    """
    study = read_study("synthetic")
    run = study.run("Section 5.1")
    assert run.bandit.means.tolist() == list(range(2, 21, 2))
    assert (run.rho, run.horizon, run.trials, study.paper_trials) == (
        (0.125, 0.3),
        100_000,
        200,
        20,
    )
    assert {run.trials_for(name) for name in ("med-E-UCB", "med-ε-greedy")} == {4000}
    assert study.tuning.seed != study.seed
    assert run.attack_at(0.3).scale == 1800
    assert {
        "MedEUCB",
        "MedEpsilonGreedy",
        "RUCB",
        "EXP3",
        "CatoniUCB",
        "UCB",
        "EpsilonGreedy",
        "TrimmedUCB",
        "TrimmedEpsilonGreedy",
    } == {type(entry.candidates(0.3)[0]).__name__ for entry in study.policies.values()}


def test_rho_stands_for_the_settings_own():
    """Alone or in a sum."""
    study = read_study(str(SMALL))
    assert study.policies["trimmed"].candidates(0.2) == [TrimmedUCB(alpha=0.3)]


def test_a_grid_gives_every_combination():
    """In the order of the file."""
    assert [policy.alpha for policy in read_study(str(SMALL)).policies["mean"].candidates(0.1)] == [
        0.5,
        2.0,
        8.0,
    ]


def test_trials_take_the_place_of_every_runs_own():
    """As --trials does."""
    assert {
        run.trials_for(name)
        for run in read_study("synthetic", trials=7).runs
        for name in run.policies
    } == {7}


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("runs", "MedEUCB(b=2", "MedUCB(b=2", "Did you mean 'MedEUCB'"),
        ("runs", "MedEUCB(b=2", "MedEUCB(bb=2", "Did you mean 'b'"),
        ("runs", "MedEUCB(b=2, block=200)", "MedEUCB(b=2, block=10)", "block=10 is too small"),
        ("runs", "alpha = [0.5, 2, 8]", "alhpa = [0.5, 2]", "Did you mean 'alpha'"),
        ("runs", "alpha = [0.5, 2, 8]", "alpha = 2", "tune must give each parameter a list"),
        ("runs", "alpha = [0.5, 2, 8]", "alpha = [-1]", "alpha must be above 0"),
        ("runs", "OppositeUniform", "OpositeUniform", "Did you mean 'OppositeUniform'"),
        ("runs", "scale = 100", "scal = 100", "Did you mean 'scale'"),
        (
            "runs",
            'name = "OppositeUniform"\nscale = 100',
            'name = "ACE"\ntarget = 7',
            "ACE does not fit the bandit of the run",
        ),
        ("runs", "GaussianBandit", "GausianBandit", "Did you mean 'GaussianBandit'"),
        ("runs", "means = [0, 2, 4]", "mean = [0, 2, 4]", "Did you mean 'means'"),
        ("runs", "rho = [0.1, 0.2]", "rho = [0.1, 1.2]", "rho must be"),
        ("runs", "horizon = 20_000", "horizons = 20_000", "Did you mean 'horizon'"),
        ("runs", "horizon = 20_000", "horizon = 0", "horizon must be a whole number"),
        ("runs", "trials = 400", "trials = 1", "trials must be a whole number"),
        ("runs", "seed = 4\n", "seed = 3\n", "tuning must not use the study's own seed"),
        ("runs", "[tuning]\nseed = 4\ntrials = 3\n", "", "there is no table [tuning]"),
        ("runs", "title =", "title", "not valid TOML"),
        ("claims", "lower_mean_regret", "lower_mean_regrets", "Did you mean 'lower_mean_regret'"),
        ("claims", 'policies = ["median"]', 'policies = ["medain"]', "Did you mean 'median'"),
        ("claims", 'against = ["mean"]\n', "", "needs the field 'against'"),
        (
            "claims",
            'against = ["mean"]\n',
            'against = ["mean"]\nshare = 0.5\n',
            "unknown field 'share'",
        ),
        ("claims", 'run = "main"', 'run = "mian"', "Did you mean 'main'"),
        ("runs", "rho = [0.1, 0.2]", "rho = []", "rho is empty"),
        ("runs", "rho = [0.1, 0.2]", "rho = [0.1, 0.1]", "appears twice"),
        ("runs", 'title = "A small study"', "title = []", "title must be text"),
        ("runs", '"MedEUCB(b=2, block=200)"', "5", "must be a table with policy"),
        ("runs", '"MedEUCB(b=2, block=200)"', "{ policy = 5 }", "must be text"),
        ("runs", "MedEUCB(b=2, block=200)", "MedEUCB(b=" + "-" * 20_000 + "2)", "characters long"),
        ("runs", 'name = "GaussianBandit"', 'name = ["GaussianBandit"]', "must be text"),
        ("runs", "means = [0, 2, 4]", 'means = "0:1000000000:1"', "cannot read the numbers"),
        ("runs", "scale = 100", "scale = 100\nrho = 0.3", "a rho of its own"),
        ("runs", 'name = "OppositeUniform"\nscale = 100', 'name = "NoAttack"', "rho"),
        ("runs", "trials = 400", "trials = 999999999999999", "trials must be a whole number"),
        (
            "runs",
            "[[runs]]",
            '[[runs]]\nname = "main"\nrho = 0.3\nhorizon = 10\ntrials = 2\n[[runs]]',
            "appears twice",
        ),
        ("runs", "quick = { trials = 5, horizon = 1000 }", "quick = 5", "must be a table"),
        ("claims", "[[claims]]", "[claims]", "TOML"),
        ("claims", 'sentence = "The median beats the mean."', "sentence = 5", "must be text"),
        ("claims", 'policies = ["median"]', "policies = []", "must be a list of names"),
        ("claims", 'against = ["mean"]', "against = []", "must be a list of names"),
        ("claims", 'source = "here"', 'source = "here"\nrelation = "so"', "relation must begin"),
        ("claims", "source", 'relation = "exactly thistle"\nsource', "relation must begin"),
        ("claims", 'against = ["mean"]', 'against = ["median"]', "in policies and in against"),
        ("runs", "quick = { trials = 5,", 'quick = { trials = "five",', "trials must be a whole"),
        ("runs", "trials = 400", "trials = 400\nlong = { trials_of = { meen = 9 } }", "'mean'"),
        ("runs", "trials = 400", "trials = 400\nlong = { horizon = 0 }", "horizon must be a whole"),
        ("show", 'kind = "tuning"', 'kind = "theory"\nfrom = 10', "run must be one of"),
        ("runs", "trials = 400", "trials = 400\nours = 1", "ours must be true or false"),
        ("runs", "trials = 400\n", "", "needs trials, or long"),
        ("runs", "trials = 400\n", "long = { trials = 4 }\n", "the first run must not be one"),
        ("runs", "trials = 400", "trials = 400\ntrials_of = { meen = 9 }", "Did you mean 'mean'"),
        ("claims", 'check = "lower_mean_regret"', 'check = "fails"\nshare = 5', "share must be"),
        ("claims", 'run = "main"', 'horizons = ["main"]', "unknown field 'horizons'"),
        ("claims", FIRST_CLAIM, GROWTH.format(horizons='["main"]', since=100), "at least two runs"),
        ("claims", FIRST_CLAIM, GROWTH.format(horizons="[]", since=100), "horizons must be"),
        ("show", 'name = "regret"', 'name = "../regret"', "files are named after it"),
        ("show", 'name = "regret"', 'name = "<b>"', "files are named after it"),
        ("show", 'name = "regret"', 'name = "scheme"', "appears twice"),
        ("show", 'trials = "paper"', 'trials = "papr"', "Did you mean 'paper'"),
        ("show", 'policies = ["median"]', 'policies = ["mean"]', "a schedule is drawn of MedEUCB"),
        ("show", 'title = "Regret"', "title = 5", "must be text"),
        (
            "show",
            'title = "Final regret"\nrun = "main"',
            'title = "Final regret"',
            "run must be one of",
        ),
        ("show", 'kind = "regret"', 'kind = "regrets"', "Did you mean 'regret'"),
        ("show", '"trimmed"', '"trimed"', "Did you mean 'trimmed'"),
    ],
)
def test_mistakes_are_refused_with_what_was_meant(tmp_path, file, old, new, message):
    """Before anything runs."""
    folder = tmp_path / "study"
    shutil.copytree(SMALL, folder)
    path = folder / f"{file}.toml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(BadFile) as caught:
        read_study(str(folder))
    assert message in str(caught.value)


def test_quick_needs_quick_sizes(tmp_path):
    """Or it would silently run everything."""
    shutil.copytree(SMALL, tmp_path / "study")
    runs = tmp_path / "study" / "runs.toml"
    runs.write_text(runs.read_text().replace("quick = { trials = 5, horizon = 1000 }", ""))
    with pytest.raises(BadFile, match="no quick sizes"):
        read_study(str(tmp_path / "study"), quick=True)


def test_a_study_of_runs_alone_has_a_table_of_each(tmp_path):
    """Else its report would have no number."""
    (tmp_path / "study").mkdir()
    shutil.copy(SMALL / "runs.toml", tmp_path / "study")
    study = read_study(str(tmp_path / "study"))
    assert [table["run"] for table in study.show["tables"]] == [run.name for run in study.runs]
    assert {table["kind"] for table in study.show["tables"]} == {"tails"}
    (tmp_path / "study" / "show.toml").write_text('introduction = "Words alone."')
    assert read_study(str(tmp_path / "study")).show["tables"] == study.show["tables"]


def test_an_unknown_study_is_refused():
    """With the ones there are."""
    with pytest.raises(InvalidInput, match="Did you mean 'synthetic'"):
        read_study("synthetik")
