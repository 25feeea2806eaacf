"""`ironarm log` and `ironarm warm`: durable agents from a terminal."""

import json
import sqlite3

import pytest

import ironarm as ia
from ironarm.cli import main


@pytest.fixture
def log(tmp_path):
    """The log of an agent with rewards of all kinds."""
    path = tmp_path / "agent.db"
    with ia.DurableAgent(path, ia.UCB(), arms=["a", "b"], seed=1) as agent:
        agent.warm_start([("a", 1.5, "user 1"), ("b", 0.5)])
        agent.learn(agent.decide(), 2.0, source="user 2")
        agent.update("b", float("inf"))
        agent.cancel(agent.decide())
    return path


def test_verify_says_how_many_entries_there_are(log, capsys):
    """And which one was changed."""
    assert main(["log", "verify", str(log)]) == 0
    assert "7 entries, all there and unchanged" in capsys.readouterr().out
    with sqlite3.connect(log) as connection:
        connection.execute("UPDATE log SET value = 5 WHERE kind = 'rewarded'")
    connection.close()
    assert main(["log", "verify", str(log)]) == 2
    assert "entry 4 was changed" in capsys.readouterr().err


def test_what_is_exported_can_be_replayed(log, tmp_path, capsys):
    """Rewards with and without a decision."""
    out = tmp_path / "rewards.csv"
    assert main(["log", "export", str(log), "-o", str(out)]) == 0
    lines = out.read_text().splitlines()
    assert lines[0] == "time,arm,reward,source,decision"
    assert [line.split(",")[1:4] for line in lines[1:]] == [
        ["a", "1.5", "user 1"],
        ["b", "0.5", ""],
        ["a", "2.0", "user 2"],
        ["b", "inf", ""],
    ]
    out.write_text("\n".join(lines[:-1]))
    assert ia.ReplayBandit(out).means.tolist() == [1.75, 0.5]


def test_a_source_that_lies_can_be_left_out(log, capsys):
    """What is exported is taken for the truth by what replays it."""
    assert main(["log", "export", str(log), "--without-source", "user 2"]) == 0
    shown = capsys.readouterr()
    assert [line.split(",")[3] for line in shown.out.splitlines()[1:]] == ["user 1", "", ""]
    assert shown.err == "left out 1 reward of 'user 2'\n"


def test_a_source_that_sent_nothing_is_named(log, tmp_path, capsys):
    """A typing error shows; and what was written is counted."""
    out = tmp_path / "rewards.csv"
    assert main(["log", "export", str(log), "--without-source", "user 3", "-o", str(out)]) == 0
    shown = capsys.readouterr()
    assert shown.err == "no reward is from 'user 3'\n"
    assert shown.out == f"wrote {out}: 4 rewards\n"


def test_every_entry_can_be_exported(log, capsys):
    """As JSON lines, on the terminal."""
    assert main(["log", "export", str(log), "--all"]) == 0
    entries = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [entry["kind"] for entry in entries] == [
        "created",
        "warmed",
        "decided",
        "rewarded",
        "observed",
        "decided",
        "cancelled",
    ]


@pytest.mark.parametrize("arguments", [["verify", "none.db"], ["export", "none.db"]])
def test_a_log_that_is_not_there_is_not_made(arguments, tmp_path, monkeypatch, capsys):
    """It is refused with a sentence."""
    monkeypatch.chdir(tmp_path)
    assert main(["log", *arguments]) == 2
    assert "does not exist" in capsys.readouterr().err
    assert not (tmp_path / "none.db").exists()


def test_the_log_itself_is_not_overwritten(log, capsys):
    """By a slip of the hand."""
    before = log.read_bytes()
    assert main(["log", "export", str(log), "-o", str(log)]) == 2
    assert "is the log itself" in capsys.readouterr().err
    assert log.read_bytes() == before


def test_warm_compiles_policies(capsys):
    """By name; without one the default."""
    assert main(["warm", "UCB", "RUCB(omega=2)"]) == 0
    assert "UCB: ready" in capsys.readouterr().out


def test_another_policy_on_a_logged_agents_arms(tmp_path, capsys):
    """What is exported is a bandit for `simulate`; failures are left out, and said."""
    path, out = tmp_path / "agent.db", tmp_path / "rewards.csv"
    with ia.DurableAgent(path, ia.RUCB(), arms=["a", "b"], seed=1) as agent:
        for k in range(12):
            agent.learn(agent.decide(), k / 7)
        with agent._shared.appending:
            agent._shared.logged.reward(
                agent._shared.logged.decide().id, float("-inf"), kind="failed"
            )
    assert main(["log", "export", str(path), "-o", str(out)]) == 0
    assert "1 failure has no finite reward" in capsys.readouterr().err
    words = ["--bandit", f"ReplayBandit({str(out)!r})", "--policies", "UCB", "RUCB"]
    assert main(["simulate", *words, "--rho", "0.1", "--horizon", "200", "--trials", "2"]) == 0
    assert "RUCB" in capsys.readouterr().out
