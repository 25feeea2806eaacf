"""The end of a log in memory is what a naive reader of the whole log would see."""

import random

import pytest

from ironarm.agent.log import Entry
from ironarm.service import history as history_module
from ironarm.service.history import History
from ironarm.service.hosted import Hosted, planned
from ironarm.service.location import StoreLocation

from .database import database


@pytest.fixture(scope="module")
def server():
    with database() as found:
        yield found


@pytest.fixture(params=["sqlite", "postgresql"])
def store(tmp_path, request):
    place = StoreLocation(tmp_path)
    if request.param == "postgresql":
        server = request.getfixturevalue("server")
        if server is None:
            pytest.skip("POSTGRESQL IS MISSING: logs in it were NOT read. Install `postgresql`.")
        place = StoreLocation(database=server.url)
    store = place.open(create=True)
    yield store
    store.close()


def play(store, rounds, seed=1):
    """Decide, reward some, cancel some, leave some open; remove and add an arm."""
    world = random.Random(seed)
    number = store.add_agent(f"a{len(store.agents())}")
    hosted = Hosted(store, number, lambda frozen: None)
    with store.transaction():
        hosted.create(planned(arms=["a", "b", "c"], policy="UCB", seed=1)[1], None)
        for i in range(rounds):
            if i == rounds // 3:
                hosted.remove_arm("c")
            if i == rounds // 2:
                hosted.add_arm("c")
            made, _ = hosted.decide_once(None, None)
            fate = world.random()
            if fate < 0.7:
                hosted.reward(made.id, world.random(), world.choice(["x", "y"]), "rewarded", None)
            elif fate < 0.8:
                hosted.cancel(made.id)
            elif fate < 0.9:
                hosted.observe("a", world.random(), None)
        hosted.log.hand_over()
    return number, hosted.log.last


def read(store, number, last, first=0):
    history = History(first)
    while history.last < last:
        assert history.read(store, number) > 0
    return history


def naive(store, number, first):
    """What became of each decision after an entry, and each reward, from all rows."""
    entries = [Entry(*values) for *values, _ in store.after(number, first)]
    decisions, rewards = {}, []
    for entry in entries:
        if entry.kind == "decided":
            decisions[entry.decision] = [entry.arm, "open"]
        elif entry.kind in ("rewarded", "cancelled") and entry.decision in decisions:
            decisions[entry.decision][1] = entry.kind
        elif entry.kind == "removed":
            for each in decisions.values():
                if each == [entry.arm, "open"]:
                    each[1] = "removed"
        if entry.kind in ("rewarded", "observed"):
            rewards.append((entry.number, entry.arm, entry.value, entry.source))
    return list(decisions.values()), rewards


def seen(history):
    return (
        [[made.arm, made.outcome] for made in history.decisions],
        [(r.number, r.arm, r.value, r.source) for r in history.rewards],
    )


@pytest.mark.parametrize("view", [50, 100_000])
def test_what_is_in_view_is_what_a_naive_reader_sees(store, monkeypatch, view):
    """Of the last entries, in pieces or at once."""
    monkeypatch.setattr(history_module, "VIEW", view)
    monkeypatch.setattr(history_module, "CHUNK", 7)
    number, last = play(store, 150)
    history = read(store, number, last)
    assert seen(history) == naive(store, number, max(0, last - view))
    assert [entry.number for entry in history.end] == list(range(last - 14, last + 1))


def test_a_removed_arm_starts_afresh(store):
    """Its earlier rewards are in view, but do not count."""
    number, last = play(store, 150)
    history = read(store, number, last)
    removed = next(e.number for e in entries(store, number) if e.kind == "removed")
    (held,) = history.held(["c"])
    assert held
    assert all(reward.number > removed for reward in held)
    assert any(r.arm == "c" and r.number < removed for r in history.rewards)


def entries(store, number):
    return [Entry(*values) for *values, _ in store.after(number, 0)]


def test_older_rewards_of_a_rare_arm_are_found(store, monkeypatch):
    """All that came after its last removal; once."""
    monkeypatch.setattr(history_module, "VIEW", 40)
    number, last = play(store, 150)
    every = entries(store, number)
    removed = next(e.number for e in every if e.kind == "removed")
    history = read(store, number, last, first=last - 40)
    counts = {"a": 90, "b": 90, "c": 90}
    assert history.scarce(counts) == ["a", "b", "c"]
    history.search(store, number, ["a", "c"])
    assert history.scarce(counts) == ["b"]
    kinds = ("rewarded", "observed")
    for arm, after in (("a", 0), ("c", removed)):
        expected = [e.value for e in every if e.kind in kinds and e.arm == arm and e.number > after]
        (sample,) = history.samples([arm], frozenset())
        assert sample.tolist() == expected
    (without,) = history.samples(["a"], frozenset(["x"]))
    assert without.tolist() == [
        e.value for e in every if e.kind in kinds and e.arm == "a" and e.source != "x"
    ]


def test_rewards_that_leave_the_view_are_held(store, monkeypatch):
    """A rare arm keeps its rewards while others push them out."""
    monkeypatch.setattr(history_module, "VIEW", 30)
    number, last = play(store, 150)
    history = read(store, number, last)
    values = [
        e.value
        for e in entries(store, number)
        if e.kind in ("rewarded", "observed") and e.arm == "b"
    ]
    assert history.samples(["b"], frozenset())[0].tolist() == values
