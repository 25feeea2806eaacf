"""`ironarm decide` and `ironarm learn`: a durable agent from a shell."""

import io
import json
import subprocess
import sys

import pytest

import ironarm as ia
from ironarm.cli import main
from ironarm.commands.decide import _follow


@pytest.fixture
def shell(capsys):
    """Run a command; return its exit code, its JSON or text, and its error."""

    def run(*words):
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        text = captured.out.strip()
        return code, json.loads(text) if text[:1] == "{" else text, captured.err

    return run


@pytest.fixture
def db(tmp_path):
    return tmp_path / "mirrors.db"


NEW = ("--arms", "eu", "us", "--policy", "RUCB", "--minimize", "--seed", 7)


def test_a_script_decides_and_learns(shell, db):
    """Each call is a process of its own in life; the file is all that they share."""
    latency = {"eu": 0.3, "us": 1.2}
    shown = []
    for _ in range(12):
        code, decision, _ = shell("decide", db, *NEW)
        assert code == 0
        assert decision.keys() == {"id", "arm"}
        shown.append(decision["arm"])
        code, done, _ = shell("learn", db, decision["id"], latency[decision["arm"]])
        assert (code, done) == (0, {"learnt": 1, "cancelled": 0, "open": 0})
    with ia.DurableAgent(db) as agent:
        assert agent.rewards == {"eu": shown.count("eu"), "us": shown.count("us")}
        assert agent.estimates == latency
    assert shell("decide", db, "--best") == (0, {"arm": "eu"}, "")
    assert shown.count("eu") > shown.count("us")


def test_plain_output_is_an_id_and_an_arm(shell, db):
    """For `read -r id arm`; a blank in an arm's name does no harm there."""
    _, line, _ = shell("decide", db, "--arms", "old server", "--policy", "UCB", "--plain")
    id, arm = line.split(" ", 1)
    assert arm == "old server"
    with ia.DurableAgent(db) as agent:
        assert [one.id for one in agent.open_decisions] == [id]


@pytest.mark.parametrize("reward", ["-1e-05", "-inf", "-3", "-.5", "2.5"])
def test_every_number_can_be_a_reward(shell, db, reward):
    """Also those that look like an option."""
    _, decision, _ = shell("decide", db, "--arms", "a", "--policy", "RUCB")
    assert shell("learn", db, decision["id"], reward)[0] == 0
    with ia.DurableAgent(db) as agent:
        assert agent.estimates == {"a": float(reward)}


def test_ids_never_begin_with_a_dash(tmp_path):
    """Else one in 64 could not be given to a command; P(a false pass) < 1e-6."""
    with ia.DurableAgent(tmp_path / "a.db", ia.UCB(), arms=["a"], commit_within=1) as agent:
        assert not any(agent.decide().id.startswith("-") for _ in range(1000))


def test_the_same_reward_twice_is_once_and_another_is_refused(shell, db):
    """So a script may repeat what it is not sure of."""
    _, decision, _ = shell("decide", db, *NEW)
    assert shell("learn", db, decision["id"], 1)[0] == 0
    assert shell("learn", db, decision["id"], 1)[0] == 0
    code, _, error = shell("learn", db, decision["id"], 2)
    assert code == 3
    assert "already has its reward (1)" in error
    with ia.DurableAgent(db) as agent:
        assert sum(agent.rewards.values()) == 1


def test_a_batch_is_learnt_whole_or_not_at_all(shell, db, tmp_path, monkeypatch):
    """From a file, or from standard input."""
    ids = [shell("decide", db, *NEW)[1]["id"] for _ in range(3)]
    file = tmp_path / "rewards.jsonl"
    rows = [{"id": id, "reward": 1.0, "source": "probe"} for id in ids]
    file.write_text("\n".join(json.dumps(row) for row in [*rows, {"id": "none", "reward": 1}]))
    code, _, error = shell("learn", db, "--batch", file)
    assert code == 3
    assert "no decision 'none'" in error
    with ia.DurableAgent(db) as agent:
        assert sum(agent.rewards.values()) == 0
    rows[1]["reward"] = "inf"
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(map(json.dumps, rows)) + "\n\n"))
    assert shell("learn", db, "--batch", "-")[1]["learnt"] == 3
    with ia.DurableAgent(db) as agent:
        assert sum(agent.rewards.values()) == 3
        assert [each.source for each in agent.sources()] == ["probe"]


def test_decisions_are_cancelled_and_expire(shell, db):
    """A reward that comes then is refused with 3."""
    first, second = (shell("decide", db, *NEW)[1]["id"] for _ in range(2))
    assert shell("learn", db, first, "--cancel")[1] == {"learnt": 0, "cancelled": 1, "open": 1}
    assert shell("learn", db, "--expire", 3600)[1]["expired"] == 0
    assert shell("learn", db, "--expire", 0)[1] == {
        "learnt": 0,
        "cancelled": 0,
        "expired": 1,
        "open": 0,
    }
    for id, why in ((first, "cancelled"), (second, "expired"), ("none", "no decision")):
        code, out, error = shell("learn", db, id, 1)
        assert (code, out) == (3, "")
        assert why in error


def test_arms_follow_the_list(shell, db):
    """New ones are added, old ones go, and the others keep what they know."""
    _, decision, _ = shell("decide", db, *NEW)
    shell("learn", db, decision["id"], 1)
    assert shell("decide", db, "--arms", "eu", "asia", "--follow")[0] == 0
    with ia.DurableAgent(db) as agent:
        assert agent.arms == ("eu", "asia")
        assert agent.rewards["eu"] == 1
    assert shell("decide", db, "--arms", "us", "--follow")[1]["arm"] == "us"


def test_another_process_may_have_followed_the_list_first():
    """What it has done already is no error; anything else is."""

    class Faster:
        arms = ("a",)

        def add_arm(self, arm):
            if arm == "b":
                self.arms = ("a", "b")
            raise ia.InvalidInput("refused")

        def remove_arm(self, arm):
            self.arms = ("b",)
            raise ia.errors.UnknownArm("refused")

    agent = Faster()
    _follow(agent, ["b"])
    assert agent.arms == ("b",)
    with pytest.raises(ia.InvalidInput):
        _follow(agent, ["b", "c"])


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["decide", "none.db"], 4, "does not exist; to create an agent there, give arms"),
        (["decide", "no/folder.db", "--arms", "a"], 4, "its folder does not exist"),
        (["decide", "new.db", "--arms", "a", "a"], 2, "every arm needs a name of its own"),
        (["decide", "new.db", "--arms", "a", "--policy", "UBC"], 2, "Did you mean 'UCB'"),
        (["decide", "new.db", "--follow"], 2, "give --arms too"),
        (["decide", "text.db"], 2, "is not an agent's log"),
        (["learn", "none.db", "x", "1"], 4, "does not exist"),
        (["learn", "none.db"], 2, "give one decision"),
        (["learn", "none.db", "x"], 2, "needs a reward"),
        (["learn", "none.db", "x", "fast"], 2, "must be a number, got 'fast'"),
        (["learn", "none.db", "x", "1", "--cancel"], 2, "no reward"),
        (["learn", "none.db", "x", "1", "--batch", "b"], 2, "give one decision"),
        (["learn", "none.db", "--batch", "none.jsonl"], 4, "none.jsonl"),
        (["learn", "none.db", "--batch", "bad.jsonl"], 2, "line 2 of --batch bad.jsonl must be"),
        (["learn", "none.db", "--batch", "text.db", "--cancel"], 2, "needs the ID"),
        (["learn", "none.db", "--expire", "1", "--source", "x"], 2, "--source is for"),
    ],
)
def test_mistakes_have_a_code_and_change_nothing(
    words, code, message, shell, tmp_path, monkeypatch
):
    """One sentence on standard error, nothing on standard output, no file made."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.db").write_text("not a database, but long enough to look like a file\n" * 9)
    (tmp_path / "bad.jsonl").write_text('{"id": "x", "reward": 1}\n{"id": "x"}\n')
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    got, out, error = shell(*words)
    assert (code, "") == (got, out), error
    assert message in error
    assert error.startswith("ironarm: ")
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


def test_a_nan_is_refused(shell, db):
    """The decision stays open."""
    _, decision, _ = shell("decide", db, *NEW)
    code, _, error = shell("learn", db, decision["id"], "nan")
    assert code == 2
    assert "NaN" in error
    assert shell("learn", db, decision["id"], 1)[0] == 0


def test_a_shell_script_runs_them(tmp_path):
    """Two processes, and what the first printed is what the second takes."""
    command = [sys.executable, "-m", "ironarm"]
    new = ["--arms", "a", "b", "--policy", "UCB", "--plain"]
    done = subprocess.run(
        [*command, "decide", "x.db", *new], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    id, _ = done.stdout.split()
    learnt = subprocess.run(
        [*command, "learn", "x.db", id, "1.5"], cwd=tmp_path, capture_output=True, check=True
    )
    assert json.loads(learnt.stdout) == {"learnt": 1, "cancelled": 0, "open": 0}
