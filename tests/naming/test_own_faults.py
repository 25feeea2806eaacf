"""What one's own code raises becomes one sentence, with the file and the line."""

import sys
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import ironarm as ia
from ironarm.bandits import bandit_from_text
from ironarm.cli import main
from ironarm.engine import announce, kept, machine
from ironarm.engine.state import State
from ironarm.extend import Policy, hot
from ironarm.lab.arena.advice import _reach
from ironarm.lab.arena.read import read_arena, with_policies
from ironarm.lab.arena.standings import Standing
from ironarm.naming import own_code
from ironarm.naming.own_faults import is_authors
from ironarm.policies import policy_from_text
from ironarm.testing.policy import it_works_as_plain_python

POLICY = """from dataclasses import dataclass
from ironarm.extend import Policy, hot

@dataclass(frozen=True)
class Mine(Policy):
    a: float = 1.0
    estimator = None

    def __post_init__(self):
        if self.a < 0:
            raise ValueError("a is negative")

    def constants(self, arms, horizon):
        return {"a": 1 / self.a}

    @staticmethod
    @hot
    def choose(s, t, g):
        if t == 5:
            raise ValueError("no")
        return t % s.arms
"""
BANDIT = """
from ironarm.extend import Bandit, finite_means

class Broken(Bandit):
    def __init__(self, means):
        self.means = finite_means(means)

    def rewards(self, arm, noise):
        raise KeyError("nothing")

    def to_dict(self):
        return {"bandit": "Broken"}

class Undescribed(Broken):
    to_dict = Bandit.to_dict

class Unmade(Bandit):
    def __init__(self):
        raise OSError("no file")
"""
SIMULATE = [
    "simulate",
    "--workers",
    "1",
    "--horizon",
    "20",
    "--trials",
    "1",
    "--seed",
    "1",
    "--attack",
    "NoAttack",
]
CHECK = "Fix that line, and check the policy with `ironarm check mine.py:Mine`."


@dataclass(frozen=True)
class Typed(Policy):
    """Raises in round 5."""

    estimator = None

    @staticmethod
    @hot
    def choose(s, t, g):
        """Raise later."""
        if t == 5:
            raise ValueError("no")
        return 0


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A folder with a policy that raises, to stand in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(own_code, "_loaded", {})
    (tmp_path / "mine.py").write_text(POLICY + BANDIT)
    return tmp_path


def mine(text="mine.py:Mine"):
    with own_code.allowed():
        return policy_from_text(text)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--policies", "mine.py:Mine"], f"Mine failed: mine.py, line 20: ValueError: no. {CHECK}"),
        (["--policies", "mine.py:Mine(a=-1)"], "mine.py, line 11: ValueError: a is negative. Fix"),
        (["--policies", "mine.py:Mine(a=0)"], "mine.py, line 14: ZeroDivisionError: "),
        (
            ["--policies", "UCB", "--bandit", "mine.py:Broken([1, 2])"],
            "Broken failed: mine.py, line 30: KeyError: 'nothing'. Fix that line of the bandit.",
        ),
        (
            ["--policies", "UCB", "--bandit", "mine.py:Undescribed([1, 2])"],
            "Undescribed has no `to_dict`: write one that returns its parameters",
        ),
        (
            ["--policies", "UCB", "--bandit", "mine.py:Unmade"],
            "Unmade failed: mine.py, line 40: OSError: no file. Fix that line of the bandit.",
        ),
    ],
)
def test_the_command_line_says_one_sentence(lab, words, message, capsys):
    """And ends with the exit code of other errors."""
    with machine.uncompiled():
        assert main([*SIMULATE, *words]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said


def test_other_errors_stay_what_they_are(monkeypatch):
    """A fault of ironarm's own is not blamed on anybody's code."""
    monkeypatch.setattr("ironarm.commands.check.run", lambda options: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        main(["check", "UCB"])


def test_an_agent_says_so_too(lab):
    """`select`, `decide` and `decide(among=...)`."""
    policy = mine()
    for ask in (lambda a: a.select(), lambda a: a.decide(), lambda a: a.decide(among=["a", "b"])):
        with machine.uncompiled():
            agent = ia.Agent(policy, arms=["a", "b", "c"], seed=1)
            for _ in range(4):
                agent.update(agent.select(), 1.0)
            with pytest.raises(ia.errors.PolicyFault, match=r"mine.py, line 20: ValueError: no\."):
                ask(agent)


@pytest.mark.parametrize("plain", [True, False])
def test_a_step_that_raises(plain):
    """Compiled or not, the line is known; the error itself is the cause.

    For a policy typed in Python there is no file to name on the command line.
    """
    how = machine.uncompiled() if plain else nullcontext()
    with how, pytest.raises(ia.errors.PolicyFault) as raised:
        ia.simulate(Typed(), ia.GaussianBandit([0, 1]), horizon=20, trials=1, seed=1, workers=1)
    said = str(raised.value)
    line = Typed.choose.__code__.co_firstlineno + 5
    assert said.startswith(f"Typed failed: test_own_faults.py, line {line}: ValueError: no. Fix")
    assert said.endswith("check the policy with `ironarm.testing.check_policy`.")
    assert type(raised.value.__cause__) is ValueError


def test_whose_file_it_is():
    """Python's, NumPy's and Numba's own files are nobody's mistake."""
    import random

    import numba
    import numpy

    assert is_authors(__file__)
    assert is_authors(sys.modules["ironarm.policies.ucb"].__file__)
    for module in (random, numpy, numba, machine):
        assert not is_authors(module.__file__)


def test_a_radio_run_that_ends_early_is_saved(lab, capsys, monkeypatch):
    """With the rounds played so far, whatever ended it. No packet need be compiled."""
    bed = "ironarm.radio.testbed.closed_loop.CompiledTestbed.measure"
    monkeypatch.setattr(bed, lambda self, round_number, channel: (20.0, False))
    words = ["radio", "run", "--policy", "mine.py:Mine", "--rounds", "10", "--save", "run.json"]
    with machine.uncompiled():
        assert main(words) == 2
    assert "wrote the 4 rounds played so far to run.json" in capsys.readouterr().err
    assert (lab / "run.json").exists()


def test_bandits_that_work_are_let_be(lab):
    """The wrapping is of errors alone."""
    with own_code.allowed():
        assert bandit_from_text("mine.py:Broken([1, 2])").arms == 2


def test_a_policy_needs_to_know_nothing_only_where_that_is_stated(lab):
    """The advice of an arena; UCB states it."""
    arena = read_arena(Path(__file__).parents[1] / "lab" / "arena" / "small_arena.toml")
    with own_code.allowed():
        arena = with_policies(replace(arena, policies={"UCB": "UCB"}), {"Mine": "mine.py:Mine"})
        said = {
            name: _reach(Standing(name, (), 1.0, "", 1.0, 0.0, 50.0, 0), arena)
            for name in arena.policies
        }
    assert said["UCB"].startswith("It needs to know nothing about the rewards or the attack.")
    assert said["Mine"].startswith("What it needs to know is not stated.")


def test_compiling_promises_to_keep_only_what_is_kept(monkeypatch):
    """Without a folder for it, the warning about that would be contradicted."""
    monkeypatch.setattr(kept, "directory", lambda: None)
    assert announce.reason("it is new") == "it is new"
    monkeypatch.setattr(kept, "directory", lambda: ".")
    assert announce.reason("it is new") == "it is new; kept for the next time"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("estimator = None", "estimator = 'median'", "must be a class of ironarm.extend, such as"),
        (
            "return t % s.arms",
            "return random.randrange(2)",
            r"line 21: .* with uniform\(g\) or",
        ),
        (
            "return t % s.arms",
            "return int(np.sort(s.n)[0])",
            "line 21: compiled steps cannot create lists, arrays .* a field of your own",
        ),
        ("return t % s.arms", "return s.arsm - 1", "line 21: .*'arsm'.* Did you mean 'arms'"),
    ],
)
def test_mistakes_in_a_policy_say_what_was_meant(lab, old, new, message):
    """An estimator that is text, a field that is misspelt."""
    (lab / "mine.py").write_text(POLICY.replace(old, new) + "import random, numpy as np")
    with pytest.raises(ia.errors.PolicyFault, match=message):
        State(mine(), 2).call("select")


def test_the_check_names_the_error_and_the_line(lab):
    """Not what it might have been."""
    expected = r"Mine fails as plain Python: mine.py, line 20: ValueError: no\.$"
    with pytest.raises(ia.errors.PolicyFault, match=expected):
        it_works_as_plain_python(mine())
