"""Decisions expire in time, also when the clock is set forward and back."""

import pytest

from ironarm.agent import logged
from ironarm.agent.sqlite import SqliteStore
from ironarm.errors import ClosedDecision
from ironarm.service import hosted
from ironarm.service.directory import create
from ironarm.service.hosted import Hosted, planned
from ironarm.service.location import StoreLocation

HOUR = 3600.0


class Clock:
    """The computer's clock, set by hand."""

    def __init__(self):
        self.now = 1e9

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(logged, "time", clock)
    monkeypatch.setattr(hosted, "time", clock)
    return clock


@pytest.fixture
def store(tmp_path, clock):
    """A store with an agent whose rewards may take 10 seconds."""
    store = StoreLocation(tmp_path / "agents").open(create=True)
    _, described = planned(arms=["a", "b"], policy="UCB", seed=1, reward_within=10)
    create(store, "ads", described, True)
    yield store
    store.close()


class At:
    """A node's hold on the agent."""

    def __init__(self, store):
        self.store, self.hosted = store, Hosted(store, 1, lambda frozen: None)

    def do(self, work):
        with self.store.transaction():
            self.hosted.catch_up()
            answer = work(self.hosted)
            self.hosted.log.hand_over()
            return answer

    def decide(self):
        return self.do(lambda hosted: hosted.decide_once("k", None)[0].id)

    def reward(self, id):
        return self.do(lambda hosted: hosted.reward_once(id, 1.0, None, "k"))

    def tick(self):
        """Expire what is late, as the node does every second."""
        return self.do(Hosted.expire_late)


def test_an_hour_forward_and_back(store, clock):
    """What was made before, meanwhile and after expires after 10 s; not later."""
    node = At(store)
    clock.now += HOUR
    meanwhile = node.decide()
    clock.now -= HOUR - 1
    after = node.decide()
    clock.now += 9
    assert node.tick() == 0
    assert node.reward(after)
    after = node.decide()
    clock.now += 2
    with pytest.raises(ClosedDecision, match="it has expired"):
        node.reward(meanwhile)
    assert node.tick() == 1
    clock.now += 9
    with pytest.raises(ClosedDecision, match="it has expired"):
        node.reward(after)
    assert node.tick() == 1


def test_set_back_without_a_decision_since(store, clock):
    """The next tick notices, and counts on from there."""
    node = At(store)
    clock.now += HOUR
    late = [node.decide() for _ in range(3)]
    clock.now -= HOUR
    assert node.tick() == 0
    clock.now += 11
    for id in late:
        with pytest.raises(ClosedDecision, match="it has expired"):
            node.reward(id)
    assert node.tick() == 3


def test_a_restart_after_the_clock_was_set_back(store, clock):
    """What is open expires 10 s after the start at the latest."""
    clock.now += HOUR
    id = At(store).decide()
    clock.now -= HOUR
    node = At(store)
    assert node.tick() == 0
    clock.now += 11
    with pytest.raises(ClosedDecision, match="it has expired"):
        node.reward(id)
    assert node.tick() == 1


def test_set_back_while_a_decision_waits(store, clock):
    """It does not get more time."""
    node = At(store)
    id = node.decide()
    clock.now += 8
    assert node.tick() == 0
    clock.now -= 5
    assert node.tick() == 0
    clock.now += 3
    with pytest.raises(ClosedDecision, match="it has expired"):
        node.reward(id)


def test_when_nothing_is_open_the_log_has_the_computers_time_again(store, clock):
    """It is ahead only as long as an order must be kept."""
    node = At(store)
    clock.now += HOUR
    first = node.decide()
    clock.now -= HOUR
    second = node.decide()
    times = [entry.time for entry in node.hosted.log.about(second)]
    assert times[0] >= 1e9 + HOUR
    node.reward(first)
    node.reward(second)
    third = node.decide()
    assert [entry.time for entry in node.hosted.log.about(third)] == [1e9]


def test_nodes_with_different_clocks_agree(store, clock, tmp_path):
    """The one that is ahead counts, and nothing expires too soon for its own."""
    other = SqliteStore.open(tmp_path / "agents" / "ironarm.db", create=False)
    slow, fast = At(store), At(other)
    ids = []
    for _ in range(3):
        ids.append(slow.decide())
        clock.now += 5
        ids.append(fast.decide())
        clock.now -= 4
    made = [slow.hosted.core.open.tickets[id].made for id in ids if slow.do(lambda hosted: True)]
    assert made == sorted(made)
    assert made[-1] - made[0] <= 3 + 5
    assert slow.tick() == 0
    expired = 0
    for _ in range(11):
        clock.now += 1
        expired += slow.tick()
    assert expired == len(ids)
    assert fast.do(lambda hosted: hosted.core.open_pairs()) == []
    other.close()


def test_a_reward_that_is_too_late_is_refused_however_many_are(store, clock, monkeypatch):
    """Decisions expire some at a time; the others are late too."""
    monkeypatch.setattr(hosted, "EXPIRE_AT_ONCE", 1)
    node = At(store)
    ids = [node.decide() for _ in range(3)]
    clock.now += 11
    last = node.hosted.log.last
    with pytest.raises(ClosedDecision, match="it has expired"):
        node.reward(ids[2])
    assert node.hosted.log.last == last
    assert [node.tick() for _ in range(4)] == [1, 1, 1, 0]


def test_looking_for_late_decisions_costs_no_more_than_there_are(store, clock):
    """The service asks every second, and a million may be open."""
    node = At(store)
    for _ in range(50):
        node.decide()
    looked = []

    class Tickets(dict):
        def items(self):
            for pair in super().items():
                looked.append(pair)
                yield pair

    clock.now += HOUR
    node.decide()
    clock.now -= HOUR
    node.decide()
    decisions = node.hosted.core.open
    decisions.tickets = Tickets(decisions.tickets)
    assert len(decisions.older(1e9 + 1, 10)) == 10
    assert len(looked) == 10
    looked.clear()
    assert decisions.older(1e9 - 1, 10) == []
    assert len(looked) == 1
