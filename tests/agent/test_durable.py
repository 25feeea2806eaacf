"""A durable agent: nothing acknowledged is lost, and the state is what the log says."""

import copy
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import ironarm as ia
from ironarm.agent import logged, replay
from ironarm.agent.log import Log
from ironarm.files import json_ready

POLICIES = [
    ia.CoherentIMED(),
    ia.MedEUCB(b=1, omega=1, block=40),
    ia.EXP3(gamma=0.2),
    ia.policies.BARBAR(horizon=2000),
    ia.policies.ThompsonGaussian(),
]
WORKER = """
import random, sys
import ironarm as ia
world = random.Random(int(sys.argv[2]))
with ia.DurableAgent(sys.argv[1]) as agent:
    for _ in range(int(sys.argv[3])):
        decision = agent.decide()
        if world.random() < 0.9:
            agent.learn(decision, world.random())
            print(decision.id, flush=True)
"""


def frozen(agent):
    """Return the state of a durable agent, to the last bit.

    Rewards that an estimator holds are sorted: how they lie in memory depends on how
    they came there, and no choice depends on it.
    """
    with agent._shared.reading():
        data, state = agent._shared.replay.frozen()
        data = json_ready(data)
    dumped = state.dump()
    dumped["rewards"] = [sorted(held) for held in dumped.get("rewards", [])]
    return {**data, "state": dumped}


def play(agent, rounds, seed=3):
    """Decide and learn in all the ways there are; return the choices."""
    world = random.Random(seed)
    choices = []
    for i in range(rounds):
        decision = agent.decide()
        choices.append(decision.arm)
        if world.random() < 0.5:
            agent.learn(decision, world.random(), source=f"user {world.randrange(4)}")
        elif world.random() < 0.3:
            agent.update(decision.arm, world.random())
        elif world.random() < 0.3:
            agent.cancel(decision)
        if i % 50 == 49:
            agent.expire(older_than=0.0)
    return choices


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.label)
def test_what_is_opened_again_goes_on_to_the_last_bit(policy, tmp_path, monkeypatch):
    """From the log, and from a snapshot: the same state, and then the same choices."""
    monkeypatch.setattr(replay, "REFRESH", 64)
    monkeypatch.setattr(logged, "SNAPSHOT", 256)
    path = tmp_path / "agent.db"
    with ia.DurableAgent(path, policy, arms=["a", "b", 3], seed=5) as agent:
        play(agent, 300)
        before = frozen(agent)
    with ia.DurableAgent(path) as again:
        assert frozen(again) == before
        assert again._shared.log.snapshot() is not None
    log = Log.open(path, create=False)
    log.store.drop_snapshots(1)
    log.close()
    with ia.DurableAgent(path) as first, ia.DurableAgent(path) as second:
        assert frozen(first) == frozen(second) == before
        play(first, 60, seed=8)
        assert frozen(first) == frozen(second)
        assert [first.decide() for _ in range(3)] == second.open_decisions[-3:]


def test_several_processes_share_one_agent(tmp_path):
    """Three at once: every decision is there once, and the log adds up."""
    path = tmp_path / "agent.db"
    ia.DurableAgent(path, ia.UCB(), arms=3, seed=1).close()
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(path), str(k), "40"],
            stdout=subprocess.PIPE,
            text=True,
        )
        for k in range(3)
    ]
    told = [line for worker in workers for line in worker.communicate()[0].split()]
    assert all(worker.returncode == 0 for worker in workers)
    assert len(set(told)) == len(told)
    with ia.DurableAgent(path) as agent:
        assert agent.decisions == 120
        assert sum(agent.rewards.values()) == len(told)
        assert len(agent.open_decisions) == 120 - len(told)
        assert agent._shared.log.verify() == 1 + 120 + len(told)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_killed_without_warning_nothing_acknowledged_is_lost(tmp_path):
    """Four times, in the middle of its work; each reward is there once."""
    path = tmp_path / "agent.db"
    ia.DurableAgent(path, ia.UCB(), arms=3, seed=1).close()
    told = []
    for k in range(4):
        worker = subprocess.Popen(
            [sys.executable, "-c", WORKER, str(path), str(k), "100000"],
            stdout=subprocess.PIPE,
            text=True,
        )
        told += [worker.stdout.readline().strip() for _ in range(15)]
        worker.send_signal(signal.SIGKILL)
        told += worker.communicate()[0].split("\n")[:-1]  # the last line may be a part
    with ia.DurableAgent(path) as agent:
        log = agent._shared.log
        for id in told:
            assert [entry.kind for entry in log.about(id)] == ["decided", "rewarded"]
        assert log.verify() == log.last


def test_a_reward_twice_is_the_same_as_once(tmp_path):
    """With another value it is refused, and nothing changes."""
    with ia.DurableAgent(tmp_path / "agent.db", ia.UCB(), arms=2, seed=1) as agent:
        first, second = agent.decide(), agent.decide()
        agent.learn(first, 2.0)
        agent.learn(first.id, 2.0)
        entries = agent.summary()["entries"]
        with pytest.raises(ia.InvalidInput, match=r"already has its reward \(2\), got 3"):
            agent.learn(first, 3.0)
        with pytest.raises(ia.InvalidInput, match="twice, with 1 and 2"):
            agent.learn_batch([(second, 1.0), (second.id, 2.0)])
        with pytest.raises(ia.InvalidInput):
            agent.learn_batch([(second, 1.0), (first, 3.0)])
        assert agent.summary()["entries"] == entries
        agent.learn_batch([(second, 1.0), (first, 2.0), (second, 1.0)])
        assert agent.rewards == {0: 1, 1: 1}


def test_ids_of_others_and_closed_decisions_are_refused(tmp_path):
    """Each with the reason."""
    with (
        ia.DurableAgent(tmp_path / "a.db", ia.UCB(), arms=["x", "y"], seed=1) as agent,
        ia.DurableAgent(tmp_path / "b.db", ia.UCB(), arms=["x", "y"], seed=1) as other,
    ):
        foreign = other.decide()
        gone, expired = agent.decide(), agent.decide()
        assert (gone.arm, expired.arm) == ("x", "y")
        for bad, words in ((foreign, "there is no"), (0, "are text"), ("x", "there is no")):
            with pytest.raises(ia.errors.UnknownDecision, match=words):
                agent.learn(bad, 1.0)
        agent.cancel(gone)
        agent.cancel(gone)
        with pytest.raises(ia.errors.UnknownDecision, match="cancelled"):
            agent.learn(gone, 1.0)
        assert agent.expire(older_than=0.0) == 1
        with pytest.raises(ia.errors.UnknownDecision, match="expired"):
            agent.learn(expired, 1.0)
        last = agent.decide()
        agent.remove_arm(last.arm)
        with pytest.raises(ia.errors.UnknownDecision, match="arm was removed"):
            agent.learn(last, 1.0)
        with pytest.raises(ia.InvalidInput, match="last arm"):
            agent.remove_arm(agent.arms[0])


def test_arms_and_logs_are_entries_too(tmp_path):
    """They survive like all else; opened with its first arms it is the same agent."""
    path = tmp_path / "agent.db"
    with ia.DurableAgent(path, ia.MedEUCB(b=1), arms=["x"], seed=1) as agent:
        agent.warm_start([("x", 1.0), ("x", 2.0, "user 1")])
        agent.add_arm("y")
        agent.update("y", 5.0, source="user 2")
        before = frozen(agent)
        with pytest.raises(ia.InvalidInput, match="already"):
            agent.add_arm("y")
    with ia.DurableAgent(path, arms=["x"], seed=1) as again:
        assert again.arms == ("x", "y")
        assert frozen(again) == before
        assert {each.source for each in again.sources()} == {"user 1", "user 2"}
        assert again.estimates == {"x": 1.0, "y": 5.0}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"arms": ["x", "z"]}, "arms = "),
        ({"seed": 2}, "seed = 1, got 2"),
        ({"minimize": True}, "minimize = False"),
        ({"policy": ia.UCB(alpha=3)}, "but UCB"),
    ],
)
def test_opened_as_another_agent_it_is_refused(given, words, tmp_path):
    """By name of what differs."""
    path = tmp_path / "agent.db"
    ia.DurableAgent(path, ia.UCB(), arms=["x", "y"], seed=1).close()
    with pytest.raises(ia.InvalidInput, match=words):
        ia.DurableAgent(path, **given)


def test_a_full_disk_is_reported_and_nothing_is_stored(tmp_path):
    """Nor in memory: afterwards the agent is that of the log."""
    with ia.DurableAgent(tmp_path / "agent.db", ia.UCB(), arms=2, seed=1) as agent:
        play(agent, 5)
        before, entries = frozen(agent), agent.summary()["entries"]
        connection = agent._shared.log.store.connection
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(ia.StoreError, match=r"full.*Nothing was stored.*make room"):
            play(agent, 10_000)
        stored = agent.summary()["entries"]
        connection.execute("PRAGMA max_page_count = 1000000")
        assert agent._shared.log.verify() == stored >= entries
        agent.decide()
        assert agent.summary()["entries"] == stored + 1
        assert before != frozen(agent)


def test_a_database_that_cannot_be_written_is_reported(tmp_path):
    """Reading goes on."""
    with ia.DurableAgent(tmp_path / "agent.db", ia.UCB(), arms=2, seed=1) as agent:
        decision = agent.decide()
        agent._shared.log.store.connection.execute("PRAGMA query_only = ON")
        with pytest.raises(ia.StoreError, match="readonly"):
            agent.learn(decision, 1.0)
        assert agent.rewards == {0: 0, 1: 0}
        agent._shared.log.store.connection.execute("PRAGMA query_only = OFF")
        agent.learn(decision, 1.0)
        assert agent.rewards == {0: 1, 1: 0}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("UPDATE log SET value = 99 WHERE kind = 'rewarded'", "entry 3 was changed"),
        ("DELETE FROM log WHERE number = 3", "entry 3 is missing"),
        ("UPDATE log SET arm = 1 WHERE number = 2", "entry 2 was changed"),
    ],
)
def test_an_altered_log_is_found(change, words, tmp_path):
    """By its hashes; a missing entry also by whoever opens it."""
    path = tmp_path / "agent.db"
    with ia.DurableAgent(path, ia.UCB(), arms=2, seed=1) as agent:
        for _ in range(4):
            agent.learn(agent.decide(), 1.0)
    with sqlite3.connect(path) as connection:
        connection.execute(change)
    connection.close()
    log = Log.open(path, create=False)
    with pytest.raises(ia.errors.BadFile, match=words):
        log.verify()
    log.close()
    if "DELETE" in change:
        with pytest.raises(ia.errors.BadFile, match=words):
            ia.DurableAgent(path)


def test_foreign_files_are_refused(tmp_path):
    """Text, another database, nothing at all, a folder that is not there."""
    (tmp_path / "text").write_text("no database at all, but long enough to be looked at" * 50)
    with sqlite3.connect(tmp_path / "other") as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    for name, error in (
        ("text", ia.errors.BadFile),
        ("other", ia.errors.BadFile),
        ("none", ia.StoreError),
        ("no/folder", ia.StoreError),
    ):
        with pytest.raises(error):
            ia.DurableAgent(tmp_path / name)
    assert not (tmp_path / "none").exists()
    with pytest.raises(ia.InvalidInput):
        ia.DurableAgent(tmp_path / "bad", arms=["x", "x"])
    assert not (tmp_path / "bad").exists()


def test_batched_commits_reach_the_disk_in_time(tmp_path):
    """Without any further call; and all at once when it is closed."""
    path = tmp_path / "agent.db"
    agent = ia.DurableAgent(path, ia.UCB(), arms=2, seed=1, commit_within=0.05)
    for _ in range(20):
        agent.learn(agent.decide(), 1.0)
    deadline = time.monotonic() + 120
    with sqlite3.connect(path, timeout=120) as reader:
        while reader.execute("SELECT max(number) FROM log").fetchone()[0] < 41:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    reader.close()
    agent.decide()
    agent.close()
    with ia.DurableAgent(path) as again:
        assert again.summary()["entries"] == 42
    with pytest.raises(ia.StoreError, match="is closed"):
        agent.decide()


def test_a_failure_behind_the_caller_reaches_the_next_call(tmp_path):
    """Entries that waited for the disk and never got there are not lost silently."""
    agent = ia.DurableAgent(tmp_path / "agent.db", ia.UCB(), arms=2, seed=1, commit_within=0.05)
    commit = agent._shared.log.commit

    def fail():
        raise ia.StoreError("the disk is gone.")

    agent._shared.log.commit = fail
    agent.decide()
    deadline = time.monotonic() + 120
    while agent._shared._failure is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    agent._shared.log.commit = commit
    with pytest.raises(ia.StoreError, match="are lost"):
        agent.decide()
    assert agent.decide().arm == 0
    agent.close()


def test_threads_share_one_agent(tmp_path):
    """Four threads: every decision is theirs alone."""
    seen = []
    with ia.DurableAgent(
        tmp_path / "agent.db", ia.MedEUCB(b=1), arms=3, seed=1, commit_within=0.01
    ) as agent:

        def work():
            world = random.Random(1)
            for _ in range(100):
                decision = agent.decide()
                seen.append(decision.id)
                agent.learn(decision, world.gauss(0, 1))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(seen)) == 400 == agent.decisions
        assert agent.open_decisions == []


def test_a_warning_about_rewards_loses_nothing(tmp_path):
    """It comes when the reward is stored, even if warnings are errors."""
    path = tmp_path / "agent.db"
    with ia.DurableAgent(path, ia.RUCB(), arms=2, seed=1, commit_within=5) as agent:
        with pytest.warns(ia.RewardWarning, match="all rewards so far are 0 or 1"):
            for i in range(60):
                agent.learn(agent.decide(), float(i % 2))
        assert sum(agent.rewards.values()) == 60
    with ia.DurableAgent(path) as again:
        assert sum(again.rewards.values()) == 60


def test_it_can_be_saved_as_an_agent_in_memory(tmp_path):
    """With its open decisions, which have whole numbers there."""
    with ia.DurableAgent(tmp_path / "agent.db", ia.UCB(), arms=2, seed=1) as agent:
        play(agent, 20)
        agent.save(tmp_path / "agent.json")
        loaded = ia.Agent.load(tmp_path / "agent.json")
        assert loaded.rewards == agent.rewards
        assert [d.arm for d in loaded.open_decisions] == [d.arm for d in agent.open_decisions]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.label)
def test_prepared_agents_compile_nothing_more(policy, monkeypatch):
    """Whatever is called afterwards."""
    agent = ia.Agent(policy, arms=["a", "b"], seed=1).prepare()
    machine = agent._core.state.machine
    ready = set(machine._calls) if not machine.plain else None
    world = np.random.default_rng(1)
    for _ in range(200):
        agent.learn(agent.decide(), float(world.random()))
    agent.cancel(agent.decide())
    agent.add_arm("c")
    agent.remove_arm("a")
    copied = copy.copy(agent)
    assert copied.best() == agent.best()
    assert ready is None or set(machine._calls) == ready


@pytest.mark.skipif(sys.platform == "win32", reason="there are no permissions of that kind")
def test_nobody_else_can_read_a_new_file(tmp_path):
    """Nor those beside it, whatever the umask; what is there keeps its permissions."""
    path = tmp_path / "agent.db"
    before = os.umask(0)
    try:
        with ia.DurableAgent(path, ia.UCB(), arms=2, seed=1) as agent:
            agent.decide()
            found = {each.name: each.stat().st_mode & 0o777 for each in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert found == dict.fromkeys(["agent.db", "agent.db-wal", "agent.db-shm"], 0o600)
    path.chmod(0o640)
    ia.DurableAgent(path, arms=2).close()
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_summary_is_plain_data(tmp_path):
    """JSON can hold it, whatever the estimates are."""
    import json

    with ia.DurableAgent(tmp_path / "agent.db", ia.RUCB(), arms=["a", "b"], seed=1) as agent:
        agent.update("a", float("inf"))
        text = json.dumps(agent.summary(), allow_nan=False)
        assert json.loads(text)["arms"][0]["estimate"] is None
        assert repr(agent.estimates) == "{'a': inf, 'b': nan}"


def test_a_script_that_ends_by_itself_loses_nothing(tmp_path):
    """Entries that wait for the disk get there when Python ends, by an error too."""
    path = tmp_path / "agent.db"
    code = (
        "import sys, ironarm as ia\n"
        "agent = ia.DurableAgent(sys.argv[1], ia.UCB(), arms=2, seed=1, commit_within=30)\n"
        "agent.learn(agent.decide(), 1.0)\n"
        "if sys.argv[2] == 'error': raise SystemExit('an error')\n"
    )
    for k, end in enumerate(("end", "error")):
        subprocess.run([sys.executable, "-c", code, str(path), end], capture_output=True)
        with ia.DurableAgent(path) as agent:
            assert agent.summary()["entries"] == 1 + 2 * (k + 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_after_a_fork_it_is_refused(tmp_path):
    """Two processes must not share one connection to the file."""
    with ia.DurableAgent(tmp_path / "agent.db", ia.UCB(), arms=2, seed=1) as agent:
        child = os.fork()
        if child == 0:
            try:
                agent.decide()
            except ia.StoreError as error:
                os._exit(7 if "was forked" in str(error) else 1)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert agent.decisions == 0
        agent.decide()


def test_a_refused_call_loses_nothing_of_others(tmp_path):
    """Entries that wait for the disk stay, whatever a later call does wrong."""
    path = tmp_path / "agent.db"
    policy = ia.MedEUCB(block=30)
    with ia.DurableAgent(path, policy, arms=["a", "b"], seed=1, commit_within=30) as agent:
        first = [agent.decide() for _ in range(3)]
        with pytest.raises(ia.InvalidInput, match="block"):
            agent.add_arm("c")
        with pytest.raises(ZeroDivisionError):
            agent.learn_batch((first[k], 1 / (1 - k)) for k in range(3))
        assert agent.open_decisions == first
        agent.learn(first[0], 1.0)
    with ia.DurableAgent(path) as again:
        assert again.decisions == 3
        assert sum(again.rewards.values()) == 1
        assert again._shared.log.verify() == 5


def test_a_generator_may_use_the_agent(tmp_path):
    """It is read before the log is held."""
    with ia.DurableAgent(tmp_path / "agent.db", ia.UCB(), arms=2, seed=1) as agent:
        agent.learn_batch((agent.decide(), 1.0) for _ in range(5))
        assert sum(agent.rewards.values()) == 5
        assert agent._shared.log.verify() == 11


@pytest.mark.parametrize("arm", [np.int64(1), np.str_("x")])
def test_names_that_only_look_like_names(arm, tmp_path):
    """They are logged as the agent has them, and -0.0 as 0.0."""
    path = tmp_path / "agent.db"
    with ia.DurableAgent(path, ia.UCB(), arms=[1, "x"], seed=1) as agent:
        agent.update(arm, -0.0, source=np.int64(7))
        agent.warm_start([(arm, 1.0)])
        before = frozen(agent)
    with ia.DurableAgent(path) as again:
        assert frozen(again) == before
        assert again._shared.log.verify() == 3


@pytest.mark.parametrize("source", ["\ud800", 2**63, 10**5000], ids=["half", "large", "huge"])
def test_names_that_no_file_can_hold_are_refused(source, tmp_path):
    """By both kinds of agent, and nothing changes."""
    with ia.DurableAgent(tmp_path / "agent.db", ia.UCB(), arms=2, seed=1) as durable_agent:
        for agent in (durable_agent, ia.Agent(ia.UCB(), arms=2, seed=1)):
            decision = agent.decide()
            with pytest.raises(ia.InvalidInput, match="a source must be"):
                agent.learn(decision, 1.0, source=source)
            agent.learn(decision, 1.0, source="x")
            assert [each.source for each in agent.sources()] == ["x"]


def test_the_number_of_sources_that_are_told_apart_is_in_the_log(tmp_path):
    """Whoever opens the log tells the same sources apart."""
    path = tmp_path / "a.db"
    world = random.Random(5)
    with ia.DurableAgent(path, ia.UCB(), arms=["a", "b"], seed=1, sources_held=8) as agent:
        for i in range(60):
            agent.update(agent.select(), world.random(), source=i if i % 2 else i % 3)
        found = agent.sources()
    assert len(found) <= 9
    assert None in {each.source for each in found}
    with ia.DurableAgent(path, sources_held=8) as again:
        assert again.sources() == found
    with pytest.raises(ia.InvalidInput, match="sources_held = 8, got 9"):
        ia.DurableAgent(path, sources_held=9)
    with ia.DurableAgent(tmp_path / "b.db", ia.UCB(), arms=["a"], seed=1) as usual:
        assert "sources_held" not in usual._shared.replay.created
    with ia.DurableAgent(tmp_path / "b.db", sources_held=100_000):
        pass


def test_expiry_goes_on_when_the_clock_is_set_back(tmp_path, monkeypatch):
    """A decision of the hour that never was does not keep the others open."""
    now = 1e9
    monkeypatch.setattr(logged, "time", lambda: now)
    with ia.DurableAgent(tmp_path / "agent.db", ia.UCB(), arms=2, seed=1) as agent:
        now += 3600
        agent.decide()
        now -= 3600
        agent.decide()
        assert agent.expire(older_than=10) == 0
        now += 11
        assert agent.expire(older_than=10) == 2
