"""`ironarm serve`, `keys`, `agents`, and the logs of a service."""

import json
import re
import sys
import time

import pytest

import ironarm as ia
from ironarm.agent import logged, replay
from ironarm.cli import main
from ironarm.service.location import StoreLocation

from ..service.database import postgres, programs
from ..service.running import Talk, ask, running

needs_postgres = pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed")


def test_a_stranger_gets_a_key_an_agent_and_a_decision(tmp_path, capsys):
    """Commands and HTTP work on the same store, at the same time."""
    data = str(tmp_path / "agents")
    words = ["ads", "--arms", "red,green", "--policy", "UCB", "--data", data]
    assert main(["agents", "create", *words]) == 0
    assert main(["agents", "create", *words]) == 0
    assert main(["keys", "add", "web", "--scope", "decide", "--scope", "reward", *words[-2:]]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[:2] == ["created ads: UCB, 2 arms", "ads already exists, with the same settings"]
    key = out[2]
    with running(StoreLocation(tmp_path / "agents")) as node:
        assert ask(node.port, "POST", "/v1/agents/ads/decisions")[0] == 401
        status, decision = ask(node.port, "POST", "/v1/agents/ads/decisions", key=key)
        assert (status, decision["arm"]) == (201, "red")
        path = f"/v1/decisions/{decision['id']}/reward"
        assert ask(node.port, "PUT", path, {"value": 2.5}, key=key)[0] == 200
        assert main(["agents", "list", "--data", data]) == 0
        assert "ads: UCB, 2 arms, 1 decisions, best red" in capsys.readouterr().out
        assert main(["log", "verify", data]) == 0
        assert "ads: 3 entries, all there and unchanged" in capsys.readouterr().out
        assert main(["keys", "revoke", key.split("_")[1], "--data", data]) == 0
        deadline = time.monotonic() + 120
        while ask(node.port, "POST", "/v1/agents/ads/decisions", key=key)[0] != 401:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert main(["serve", "--data", data, "--port", str(node.port)]) == 2
        assert "cannot be used" in capsys.readouterr().err
        assert node.stop() == 0
    assert main(["agents", "archive", "ads", "--data", data]) == 0
    assert main(["agents", "show", "ads", "--json", "--data", data]) == 0
    shown = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert shown["archived"]
    assert shown["arms"][0]["estimate"] == 2.5


def test_keys_are_listed_without_their_secret(tmp_path, capsys):
    """Only `add` shows it, once."""
    data = ["--data", str(tmp_path)]
    assert main(["keys", "add", "web", "--scope", "read", "--agent", "ads", *data]) == 0
    key = capsys.readouterr().out.strip()
    assert re.fullmatch(r"ia_[a-z0-9]{12}_[A-Za-z0-9_-]{43}", key)
    assert main(["keys", "list", *data]) == 0
    listed = capsys.readouterr().out
    assert "web: read (ads)" in listed
    assert key.split("_", 2)[2] not in listed
    assert key.encode() not in (tmp_path / "ironarm.db").read_bytes()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["keys", "add", "x", "--scope", "all"], "scopes are decide"),
        (["keys", "add", "x"], "got none"),
        (["keys", "add"], "needs a name"),
        (["keys", "revoke", "x"], "there is no key 'x'"),
        (["agents", "show", "x"], "there is no agent 'x'"),
        (["agents", "create", "x"], "needs --arms"),
        (["agents", "create", "a b", "--arms", "a,b"], "an agent's name"),
        (["agents", "create", "x", "--arms", "a,b", "--policy", "m.py:P"], "files are not loaded"),
        (["serve", "--host", "0.0.0.0"], "there is no key yet"),
        (["serve", "--port", "65536"], "--port"),
        (["serve", "--source-rate", "-1"], "--source-rate"),
    ],
)
def test_bad_words_are_refused(words, expected, tmp_path, capsys):
    """With what to do."""
    StoreLocation(tmp_path).open(create=True).close()
    assert main([*words, "--data", str(tmp_path)]) == 2
    assert expected in capsys.readouterr().err


def test_places_that_are_not_there(tmp_path, capsys):
    """A folder without agents, a database that is none."""
    assert main(["agents", "list", "--data", str(tmp_path / "no")]) == 2
    assert "holds no agents" in capsys.readouterr().err
    assert not (tmp_path / "no").exists()
    assert main(["serve", "--database", "mysql://x"]) == 2
    assert "postgresql://" in capsys.readouterr().err
    pytest.importorskip("psycopg")
    url = "postgresql://u:secret@127.0.0.1:1/x"
    assert main(["agents", "list", "--database", url]) == 2
    message = capsys.readouterr().err
    assert "Try again" in message
    assert "secret" not in message


def test_a_pruned_log_goes_on(tmp_path, capsys, monkeypatch):
    """With the same state; it can be verified, and what is left exported."""
    monkeypatch.setattr(replay, "REFRESH", 8)
    monkeypatch.setattr(logged, "REFRESH", 8)
    path = tmp_path / "agent.db"
    with ia.DurableAgent(path, ia.RUCB(), arms=["a", "b"], seed=1) as agent:
        first = agent.decide()
        for k in range(10):
            agent.learn(agent.decide(), float(k))
        before = agent.summary()
    assert before["entries"] == 22
    assert main(["log", "prune", str(path), "--keep", "10"]) == 0
    assert "12 entries deleted" in capsys.readouterr().out
    assert main(["log", "prune", str(path)]) == 0
    assert "4 entries deleted" in capsys.readouterr().out
    assert main(["log", "verify", str(path)]) == 0
    assert "8 entries" in capsys.readouterr().out
    assert main(["log", "export", str(path)]) == 0
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 4
    assert shown.err == "the entries up to 16 were pruned, so they are left out\n"
    with ia.DurableAgent(path) as again:
        assert again.summary() == {**before, "entries": before["entries"] + 2}
        again.learn(first, 3.0)
        again.decide()
    assert main(["log", "prune", str(path)]) == 0
    with ia.DurableAgent(path) as again:
        assert again.decisions == 12


@needs_postgres
def test_commands_work_on_postgresql_too(capsys, tmp_path):
    """Also on names that are numbers, or hold what SQL would notice."""
    with postgres() as url:
        place = ["--database", url]
        arms = "a';--,7,ü"
        assert main(["agents", "create", "ads", "--arms", arms, "--policy", "UCB", *place]) == 0
        with running(StoreLocation(database=url)) as node:
            talk = Talk(node.port)
            for _ in range(3):
                decision = talk.ask("POST", "/v1/agents/ads/decisions")[1]
                body = {"value": 1.5, "source": 'x"y'}
                path = f"/v1/decisions/{decision['id']}/reward"
                assert talk.ask("PUT", path, body)[0] == 200
            talk.close()
        assert main(["log", "verify", url]) == 0
        assert main(["log", "export", url, "--agent", "ads"]) == 0
        out = capsys.readouterr().out
        assert "7 entries, all there" in out
        assert "a';--" in out


@pytest.mark.skipif(sys.platform == "win32", reason="there are no permissions of that kind")
def test_nobody_else_can_read_the_store(tmp_path):
    """Ids are in it."""
    StoreLocation(tmp_path / "agents").open(create=True).close()
    assert (tmp_path / "agents").stat().st_mode & 0o077 == 0
    assert (tmp_path / "agents" / "ironarm.db").stat().st_mode & 0o077 == 0
