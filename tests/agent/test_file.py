"""Files of agents: exact, whole or not at all, and never trusted."""

import json
import tracemalloc

import pytest

import ironarm as ia
from ironarm.agent import file as agent_file
from ironarm.agent.log import Entry, Log
from ironarm.agent.sqlite import SqliteStore
from ironarm.engine import machine
from ironarm.engine.state import State
from ironarm.files import PIECE
from tests.agent.playing import NAMES, POLICIES, play, rewards


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: p.label)
def test_saved_and_loaded_it_continues_with_the_same_choices(policy, tmp_path):
    """A save and a load in the middle, with decisions open and infinite rewards
    held, change nothing.
    """
    agent = ia.Agent(policy, arms=NAMES, seed=5)
    play(agent, rewards(1, 150))
    late = [agent.decide() for _ in range(6)]
    agent.save(tmp_path / "agent.json")
    loaded = ia.Agent.load(tmp_path / "agent.json")
    assert repr(agent) == repr(loaded)
    assert agent.open_decisions == loaded.open_decisions
    for decision in reversed(late):
        agent.learn(decision.id, 1.5)
        loaded.learn(decision.id, 1.5)
    more = rewards(2, 250)
    assert play(agent, more) == play(loaded, more)
    assert repr(agent) == repr(loaded)


def smuggle_slots(data):
    """What the estimator would rebuild itself, given as if it had been saved:
    indices far outside.
    """
    data["state"].pop("rewards")
    state = State(ia.RUCB(), len(NAMES), live=True)
    fields = {
        f.name: getattr(state.view, f.name).tolist() for f in state.machine.fields if not f.cache
    }
    data["state"]["fields"] = {
        **fields,
        **data["state"]["fields"],
        "slot_start": [10**9] * 8,
        "spare": [100] * 4,
    }


def damaged(path, change):
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda p: p.write_bytes(p.read_bytes()[:-40]), "incomplete"),
        (lambda p: p.write_text("hello"), "not valid JSON"),
        (lambda p: p.write_text("[" * 10**5 + "]" * 10**5), "it is nested too deeply"),
        (
            lambda p: p.write_text(
                p.read_text().replace('"state": {', f'"state": {{"more": {"[" * 950 + "]" * 950}, ')
            ),
            "it is nested too deeply",
        ),
        (lambda p: p.write_text("[1, 2]"), "not an agent's file"),
        (lambda p: p.write_text('{"format": "other"}'), "not an agent's file"),
        (lambda p: damaged(p, lambda d: d.update(version=99)), "newer"),
        (lambda p: damaged(p, lambda d: d.pop("state")), "'state' is missing"),
        (lambda p: damaged(p, lambda d: d["state"]["fields"].pop("n")), "damaged"),
        (lambda p: damaged(p, lambda d: d["state"]["fields"].update(n=[1])), "damaged"),
        (lambda p: damaged(p, lambda d: d.update(arms=["x"])), "damaged"),
        (lambda p: damaged(p, lambda d: d.update(arms=["x", "y", "z", "u", "v"])), "damaged"),
        (
            lambda p: damaged(p, lambda d: d["state"]["rewards"].append([1.0])),
            "do not fit their counts",
        ),
        (lambda p: damaged(p, lambda d: d["state"].pop("rewards")), "damaged"),
        (lambda p: damaged(p, smuggle_slots), "damaged"),
        (lambda p: damaged(p, lambda d: d["policy"].update(parameters=[1])), "damaged"),
        (
            lambda p: damaged(p, lambda d: d["policy"].update(policy=["RUCB"])),
            "damaged|cannot be made",
        ),
        (lambda p: damaged(p, lambda d: d["policy"]["parameters"].update(omega=10**400)), "omega"),
        (
            lambda p: damaged(p, lambda d: d["state"]["rewards"][0].append(1.0)),
            "do not fit their counts",
        ),
        (
            lambda p: damaged(
                p,
                lambda d: d["state"]["rewards"].__setitem__(
                    0, ["nan"] * len(d["state"]["rewards"][0])
                ),
            ),
            "damaged",
        ),
        (
            lambda p: damaged(p, lambda d: d["state"]["fields"]["rewards"].__setitem__(0, -1)),
            "negative",
        ),
        (
            lambda p: damaged(p, lambda d: d["state"]["fields"]["rewards"].__setitem__(0, 10**6)),
            "more rewards than decisions",
        ),
        (lambda p: damaged(p, lambda d: d["state"]["fields"]["n"].__setitem__(0, 2.5)), "damaged"),
        (lambda p: damaged(p, lambda d: d["state"].update(rounds=-5)), "damaged"),
        (lambda p: damaged(p, lambda d: d["tickets"].append([7, 99, 0.0, 1.0])), "damaged"),
        (lambda p: damaged(p, lambda d: d["tickets"].append([7, -1, 0.0, 1.0])), "damaged"),
        (lambda p: damaged(p, lambda d: d.update(queues=[])), "damaged"),
        (lambda p: damaged(p, lambda d: d.update(stream=[0, 0, 0, 0])), "damaged"),
        (lambda p: damaged(p, lambda d: d.update(stream=[1, 2])), "damaged"),
        (lambda p: damaged(p, lambda d: d["policy"].update(policy="Nonesuch")), "policy=..."),
        (lambda p: damaged(p, lambda d: d["policy"]["parameters"].update(omega=-1)), "omega"),
        (lambda p: p.unlink(), "does not exist"),
    ],
)
def test_a_damaged_foreign_or_newer_file_is_refused(spoil, message, tmp_path):
    """Each with a sentence that says what is wrong."""
    agent = ia.Agent(ia.RUCB(), arms=NAMES, seed=1)
    play(agent, [1.0, 2.0, 3.0, 4.0, 5.0])
    path = tmp_path / "agent.json"
    agent.save(path)
    spoil(path)
    with pytest.raises(ia.errors.BadFile, match=message):
        ia.Agent.load(path)


def test_a_saved_file_never_loads_code(tmp_path):
    """It says so and how to give the policy, not --allow-code, which it has not."""
    path = tmp_path / "agent.json"
    ia.Agent(ia.RUCB(), arms=NAMES, seed=1).save(path)
    damaged(path, lambda data: data["policy"].update(policy="from_afar.py:Evil"))
    with pytest.raises(
        ia.errors.BadFile, match=r"a saved file never loads code.* policy=\.\.\."
    ) as caught:
        ia.Agent.load(path)
    assert "--allow-code" not in str(caught.value)


def test_a_parameter_added_since_has_its_default(tmp_path):
    """A file from before a policy had `variance` is the plain policy's, also if the
    policy is given.
    """
    path, known = tmp_path / "agent.json", ia.TsallisINF(reward_range=(0, 2))
    ia.Agent(known, arms=NAMES, seed=1).save(path)
    damaged(path, lambda d: d["policy"]["parameters"].pop("variance"))
    assert ia.Agent.load(path).policy == ia.Agent.load(path, policy=known).policy == known
    for other in (
        ia.TsallisINF(reward_range=(0, 2), variance="reduced"),
        ia.TsallisINF(),
        ia.policies.EXP3PlusPlus(reward_range=(0, 2)),
    ):
        with pytest.raises(ia.errors.BadFile, match="was given"):
            ia.Agent.load(path, policy=other)


def test_a_save_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    """Whole or not at all."""
    agent = ia.Agent(ia.UCB(), arms=NAMES, seed=1)
    path = tmp_path / "agent.json"
    agent.save(path)
    before = path.read_bytes()
    play(agent, [1.0] * 9)
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        agent.save(path)
    assert before == path.read_bytes()
    assert [path] == list(tmp_path.iterdir())


def test_what_is_no_policy_is_refused_with_a_sentence(tmp_path):
    """A class, and text as the command line takes it."""
    path = tmp_path / "agent.json"
    with machine.uncompiled():
        ia.Agent(ia.UCB(), arms=NAMES, seed=1).save(path)
    for given in (ia.UCB, "mine.py:Mine"):
        with pytest.raises(ia.InvalidInput, match=r"expected a policy, .* ia.MedEUCB\(\)"):
            ia.Agent.load(path, policy=given)


def test_a_folder_is_no_file_to_save_to(tmp_path):
    """Nor is a hidden file in it named, which nobody has asked for."""
    with machine.uncompiled():
        agent = ia.Agent(ia.UCB(), arms=NAMES, seed=1)
        with pytest.raises(ia.InvalidInput, match=r"is a folder; name a file in it\.$"):
            agent.save(tmp_path)


@pytest.mark.filterwarnings("ignore::ironarm.RewardWarning")
def test_an_agent_with_many_arms(tmp_path):
    """More arms than numbers that are written at a time."""
    agent = ia.Agent(ia.CoherentIMED(), arms=PIECE + 100, seed=1)
    for i in range(800):
        agent.update(agent.select(), float(i % 7))
    agent.save(tmp_path / "agent.json")
    again = ia.Agent.load(tmp_path / "agent.json")
    assert again.rewards == agent.rewards
    assert [agent.select() for _ in range(50)] == [again.select() for _ in range(50)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data.update(arms=10**9), "not a list of names"),
        (
            lambda data: data.update(
                policy={"policy": "SlidingMedUCB", "parameters": {"window": 2**30, "b": 1}}
            ),
            "needs memory for .* numbers, and the file has",
        ),
    ],
)
def test_a_file_cannot_ask_for_more_memory_than_it_accounts_for(change, words, tmp_path):
    """It is refused before anything is allocated."""
    path = tmp_path / "agent.json"
    ia.Agent(ia.RUCB(), arms=["x", "y"], seed=1).save(path)
    damaged(path, change)
    tracemalloc.start()
    try:
        with pytest.raises(ia.errors.BadFile, match=words):
            ia.Agent.load(path)
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()


def test_a_large_window_of_ones_own_is_read_if_its_policy_is_given(tmp_path, monkeypatch):
    """The file of a new agent has few numbers; the policy vouches for the size."""
    monkeypatch.setattr(agent_file, "ROOM", 1000)
    path, policy = tmp_path / "agent.json", ia.policies.SlidingMedUCB(window=5000, b=1)
    ia.Agent(policy, arms=["x", "y"], seed=1).save(path)
    with pytest.raises(ia.errors.BadFile, match="give that policy"):
        ia.Agent.load(path)
    assert ia.Agent.load(path, policy=policy).policy == policy


def test_a_log_cannot_ask_for_a_number_of_arms(tmp_path):
    """Its first entry names them."""
    path = tmp_path / "agent.db"
    store = SqliteStore.open(path, create=True)
    agent = ia.Agent(ia.RUCB(), arms=["x"], seed=1)
    data = {**json.loads(agent._core.described()), "arms": 10**9}
    log = Log(store)
    log.begin()
    log.append(Entry(1, 0.0, "created", extra=json.dumps(data)))
    log.commit()
    log.close()
    with pytest.raises(ia.errors.BadFile, match="not a list of names"):
        ia.DurableAgent(path)
