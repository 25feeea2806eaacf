"""One's own policies, attacks and bandits: from files and from installed packages."""

import pickle
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import ironarm as ia
from ironarm.attacks import attack_from_text
from ironarm.bandits import bandit_from_text
from ironarm.cli import main
from ironarm.naming import own_code
from ironarm.policies import policy_from_text

POLICY = """
from dataclasses import dataclass
from ironarm.extend import IndexPolicy, LowerMedian, number

@dataclass(frozen=True)
class Mine(IndexPolicy):
    omega: float = 4.0
    estimator = LowerMedian

    @classmethod
    def for_rho(cls, rho):
        return cls(omega=4 + rho)
"""
ATTACK = """
from dataclasses import dataclass
from ironarm.extend import Attack, hot

@dataclass(frozen=True)
class Shove(Attack):
    rho: float
    size: float = 50.0

    @staticmethod
    @hot
    def corrupt(e, a, x, u, v):
        return x - e.size if a == e.best else x
"""
BANDIT = """
import numpy as np
from ironarm.extend import Bandit, finite_means

class Uniform(Bandit):
    def __init__(self, means):
        self.means = finite_means(means)

    def rewards(self, arm, noise):
        return self.means[arm] - 0.5 + noise

    def to_dict(self):
        return {"bandit": "Uniform", "means": self.means.tolist()}
"""
OPTIONS = ["--trials", "3", "--horizon", "200", "--seed", "1"]


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A folder with a policy, an attack and a bandit in a subfolder, to stand in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(own_code, "_loaded", {})
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "mine.py").write_text(POLICY + ATTACK + BANDIT)
    return tmp_path


def test_text_names_a_class_in_a_file(lab):
    """With parameters, with `for_rho`, and with values without names."""
    with own_code.allowed():
        policy = policy_from_text("sub/mine.py:Mine(omega=2)")
        assert (policy.omega, policy.label) == (2.0, "Mine(omega=2)")
        assert policy == policy_from_text("./sub/mine.py:Mine(2)")
        assert policy_from_text("sub/mine.py:Mine.for_rho(rho=0.5)").omega == 4.5
        assert attack_from_text("sub/mine.py:Shove(size=7)", 0.25).size == 7
        assert bandit_from_text("sub/mine.py:Uniform([1, 2])").arms == 2
    assert policy.to_dict() == {"policy": "sub/mine.py:Mine", "parameters": {"omega": 2.0}}


def test_a_file_is_not_run_unless_it_is_allowed(lab):
    """Neither by text, nor by a file of data that names it."""
    (lab / "evil.py").write_text("raise SystemExit('run')")
    with pytest.raises(ia.InvalidInput, match="--allow-code"):
        policy_from_text("evil.py:Mine")
    with own_code.allowed(when=False), pytest.raises(ia.InvalidInput, match="--allow-code"):
        policy_from_text("evil.py:Mine")
    with own_code.allowed():
        policy = policy_from_text("sub/mine.py:Mine")
    result = ia.simulate(
        policy, ia.GaussianBandit([0, 1]), horizon=50, trials=2, seed=1, progress=False
    )
    result.save(lab / "r.npz")
    agent = ia.Agent(policy, arms=["a", "b"], seed=1)
    agent.save(lab / "agent.json")
    for path in (lab / "r.npz", lab / "agent.json"):
        own_code._loaded.clear()
        (lab / "sub" / "mine.py").write_text("raise SystemExit('run')")
        if path.suffix == ".npz":
            loaded = ia.Result.load(path)
            assert loaded.policies[0]["policy"] == "sub/mine.py:Mine"
            assert loaded.labels == ["Mine"]
            loaded.summary()
        else:
            with pytest.raises(ia.errors.BadFile, match="give it as policy="):
                ia.Agent.load(path)
            assert ia.Agent.load(path, policy=policy).policy == policy


@pytest.mark.parametrize(
    ("code", "name", "message"),
    [
        (POLICY, "Mien", "It has Mine. Did you mean 'Mine'"),
        (ATTACK, "Mine", "defines no policy"),
        ("x = 1\ny = nothing", "Mine", "line 2: NameError: name 'nothing' is not defined"),
        ("x = = 1", "Mine", "line 1: invalid syntax"),
        ("import nowhere_to_be_found", "Mine", "line 1: ModuleNotFoundError"),
        ("raise SystemExit", "Mine", "line 1: SystemExit"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence(lab, code, name, message):
    """With its line."""
    (lab / "bad.py").write_text(code)
    with own_code.allowed(), pytest.raises(ia.InvalidInput) as caught:
        policy_from_text(f"bad.py:{name}")
    assert message in str(caught.value)


def test_a_missing_file_is_one_sentence(lab):
    """So is a folder."""
    (lab / "folder.py").mkdir()
    for path, problem in (("nothing.py", "does not exist"), ("folder.py", "cannot be read")):
        with own_code.allowed(), pytest.raises(ia.InvalidInput, match=problem):
            policy_from_text(f"{path}:Mine")


def test_it_can_be_sent_to_another_process(lab):
    """Also where the file is not: its source goes along."""
    with own_code.allowed():
        sent = [
            policy_from_text("sub/mine.py:Mine(3)"),
            attack_from_text("sub/mine.py:Shove", 0.5),
            bandit_from_text("sub/mine.py:Uniform([1, 2])"),
        ]
    data = pickle.dumps(sent)
    del sys.modules[type(sent[0]).__module__]
    (lab / "sub" / "mine.py").unlink()
    policy, attack, bandit = pickle.loads(data)
    assert (policy.omega, attack.rho, bandit.means.tolist()) == (3.0, 0.5, [1.0, 2.0])
    assert policy.to_dict() == sent[0].to_dict()


def test_a_file_may_import_from_beside_itself(lab):
    """Relative to the file, not to where the command was started."""
    (lab / "sub" / "own_helper_of_mine.py").write_text("OMEGA = 9.0")
    text = "from own_helper_of_mine import OMEGA\n" + POLICY.replace("= 4.0", "= OMEGA")
    (lab / "sub" / "other.py").write_text(text)
    with own_code.allowed():
        assert policy_from_text("sub/other.py:Mine").omega == 9.0


def sweep_file(lab):
    """A sweep of an own policy under an own attack, relative to the file's folder."""
    (lab / "sub" / "sweep.toml").write_text(
        textwrap.dedent(
            """
            policies = ["mine.py:Mine(omega=[1, 2])", "UCB"]
            attacks = ["mine.py:Shove(size=20)"]
            rho = 0.1
            means = [1, 2]
            horizon = 100
            trials = 2
            seed = 7
            """
        )
    )
    return ["sweep", "sub/sweep.toml", "--out", "out"]


def test_the_commands_take_them(lab, capsys):
    """simulate, worst-case and certify from the command line."""
    own = ["--policies", "sub/mine.py:Mine", "UCB", "--attack", "sub/mine.py:Shove(size=30)"]
    assert main(["simulate", *own, "--bandit", "sub/mine.py:Uniform([1, 5])", *OPTIONS]) == 0
    output = capsys.readouterr().out
    assert "Mine" in output
    assert "Shove" in output
    worst = ["worst-case", "--policy", "sub/mine.py:Mine", "--means", "1,5", "--trials", "4"]
    assert main([*worst, "--budget", "2", "--horizon", "100", "--out", "worst"]) == 0
    assert "Mine" in capsys.readouterr().out


@pytest.mark.parametrize("where", [["--workers", "2"], ["--dask", "local"]])
def test_a_sweep_takes_them_in_other_processes(lab, capsys, where):
    """With --allow-code; an edit runs exactly its own cells again."""
    command = sweep_file(lab)
    assert main(command) == 2
    assert "--allow-code" in capsys.readouterr().err
    assert main([*command, "--allow-code", *where]) == 0
    assert "Mine(omega=2)" in capsys.readouterr().out
    path = lab / "sub" / "mine.py"
    path.write_text(path.read_text().replace("4 + rho", "5 + rho"))
    (lab / "sub" / "sweep.toml").write_text(
        (lab / "sub" / "sweep.toml").read_text().replace("mine.py:Shove(size=20)", "Infinite")
    )
    assert main([*command, "--allow-code", "--workers", "1"]) == 0
    capsys.readouterr()
    path.write_text(path.read_text().replace("5 + rho", "6 + rho"))
    assert main([*command, "--allow-code", "--workers", "1"]) == 0
    assert "1 of 3 cells are already finished" in capsys.readouterr().err


def package(folder: Path) -> None:
    """Install a package with entry points into a folder, as pip would."""
    (folder / "borrowed_policies.py").write_text(POLICY + ATTACK + BANDIT)
    about = folder / "borrowed_policies-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: borrowed-policies\nVersion: 1.0\n"
    )
    (about / "entry_points.txt").write_text(
        "[ironarm.policies]\nMine = borrowed_policies:Mine\nBroken = borrowed_policies:Nothing\n"
        "Wrong = borrowed_policies:Shove\n"
        "[ironarm.attacks]\nShove = borrowed_policies:Shove\n"
        "[ironarm.bandits]\nUniform = borrowed_policies:Uniform\n"
    )


def test_an_installed_package_offers_them(lab, monkeypatch, capsys):
    """By name alone, without --allow-code: the user has installed it."""
    (lab / "site").mkdir()
    package(lab / "site")
    monkeypatch.syspath_prepend(str(lab / "site"))
    policy = policy_from_text("Mine(omega=3)")
    assert policy.to_dict() == {"policy": "Mine", "parameters": {"omega": 3.0}}
    own = ["--policies", "Mine", "--attack", "Shove", "--bandit", "Uniform([1, 5])"]
    assert main(["simulate", *own, *OPTIONS]) == 0
    assert "Mine" in capsys.readouterr().out
    agent = ia.Agent(policy, arms=2, seed=1)
    agent.save(lab / "agent.json")
    assert ia.Agent.load(lab / "agent.json").policy == policy
    for name, message in (("Broken", "cannot be loaded"), ("Wrong", "is not a subclass of")):
        with pytest.raises(ia.InvalidInput, match=message):
            policy_from_text(name)


def test_radio_run_takes_them(lab, capsys):
    """In one process and as processes; from a file with --allow-code."""
    command = ["radio", "run", "--rounds", "40", "--policy", "sub/mine.py:Mine"]
    assert main([*command, "--json"]) == 0
    assert main([*command, "--processes", "--json"]) == 0
    assert "Mine" in capsys.readouterr().out
    (lab / "sub" / "bench.toml").write_text('rounds = 40\n[agent]\npolicy = "mine.py:Mine"\n')
    assert main(["radio", "run", "--config", "sub/bench.toml"]) == 2
    assert "--allow-code" in capsys.readouterr().err
    assert main(["radio", "run", "--config", "sub/bench.toml", "--allow-code", "--json"]) == 0


def test_a_study_takes_them(lab, capsys):
    """`reproduce --study` with its file beside runs.toml."""
    study = lab / "study"
    study.mkdir()
    (study / "mine.py").write_text(POLICY + ATTACK + BANDIT)
    (study / "runs.toml").write_text(
        textwrap.dedent(
            """
            title = "Mine"
            seed = 1
            [bandit]
            name = "mine.py:Uniform"
            means = [1, 2]
            [attack]
            name = "mine.py:Shove"
            size = 9
            [policies]
            "mine" = "mine.py:Mine(omega=1)"
            [[runs]]
            name = "main"
            rho = 0.1
            horizon = 100
            trials = 3
            """
        )
    )
    command = ["reproduce", "--study", "study", "--out", "out"]
    assert main(command) == 2
    assert "--allow-code" in capsys.readouterr().err
    assert main([*command, "--allow-code"]) == 0


def test_results_are_those_of_an_imported_class(lab):
    """A file's class is compiled as any other."""
    with own_code.allowed():
        policy = policy_from_text("sub/mine.py:Mine(omega=4)")
    bandit = ia.GaussianBandit([0, 1, 2])
    results = [
        ia.simulate(one, bandit, ia.Infinite(0.1), horizon=300, trials=3, seed=2, progress=False)
        for one in (policy, ia.RUCB(omega=4))
    ]
    assert np.array_equal(results[0].pulls, results[1].pulls)
