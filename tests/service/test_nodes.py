"""Several nodes on one log: the state is a function of the log alone."""

import os
import random

import pytest

from ironarm.agent import logged, replay
from ironarm.agent.logged import keep_snapshot
from ironarm.agent.verify import verified
from ironarm.errors import BadFile, PrunedEntries
from ironarm.service.directory import create
from ironarm.service.hosted import Hosted, planned
from ironarm.service.location import StoreLocation
from ironarm.service.postgres import PostgresStore
from ironarm.testing import check_store

from ..every_policy import EVERY_POLICY
from .database import database, programs
from .faults import comparable

KINDS = ("CoherentIMED", "EXP3", "TrimmedUCB", "TrustThompson", "BARBAR", "RestartingIMED")
PLAIN = os.environ.get("NUMBA_DISABLE_JIT") == "1"
POLICIES = [policy for policy in EVERY_POLICY if PLAIN or type(policy).__name__ in KINDS]
"""All of them as plain Python. Compiled, one of every kind: an index or chances,
rewards to remember, sources, epochs, restarts."""
# without the JIT, NumPy's scalars warn where compiled integers wrap round
pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")


class Nodes:
    """Three nodes, as far as logs go: each has a connection and a memory of its own."""

    def __init__(self, place, policy):
        self.stores = [place.open(create=True) for _ in range(3)]
        _, described = planned(arms=["a", "b", 3], policy=policy, seed=5)
        create(self.stores[0], "ads", described, True)
        self.frozen = []
        self.hosted = [Hosted(store, 1, self.frozen.append) for store in self.stores]

    def at(self, node, work):
        """Let a node do something in a transaction of its own."""
        store, hosted = self.stores[node], self.hosted[node]
        with store.transaction():
            store.hold([1])
            hosted.catch_up()
            answer = work(hosted)
            hosted.log.hand_over()
        while self.frozen:
            keep_snapshot(store, 1, self.frozen.pop())
        return answer

    def states(self):
        """Return the state of each."""
        for hosted in self.hosted:
            hosted.catch_up()
        return [comparable(hosted.replay.copied()()) for hosted in self.hosted]

    def play(self, rounds, seed):
        """Decide and learn in all the ways there are, each time at another node."""
        world = random.Random(seed)
        open_ids = []
        for i in range(rounds):
            decision, _ = self.at(world.randrange(3), lambda h: h.decide_once("k", None))
            open_ids.append(decision.id)
            world.shuffle(open_ids)
            kind = world.random()
            if kind < 0.6:
                id, x = open_ids.pop(), world.random()
                sender = f"user {world.randrange(4)}"
                for _ in range(2):  # sent twice, to different nodes
                    self.at(
                        world.randrange(3),
                        lambda h, id=id, x=x, sender=sender: h.reward_once(id, x, sender, "k"),
                    )
            elif kind < 0.7:
                id = open_ids.pop()
                self.at(world.randrange(3), lambda h, id=id: h.cancel(id, "k"))
            if i == rounds // 2:
                self.at(world.randrange(3), lambda h: h.add_arm_once("new", None, 10))
                self.at(world.randrange(3), lambda h: h.remove_arm("b"))
                self.states()
                left = {id for id, _ in self.hosted[0].core.open_pairs()}
                open_ids = [id for id in open_ids if id in left]

    def close(self):
        for store in self.stores:
            store.close()


def check(place, policy, rounds, monkeypatch):
    monkeypatch.setattr(replay, "REFRESH", 32)
    monkeypatch.setattr(logged, "SNAPSHOT", 64)
    nodes = Nodes(place, policy)
    try:
        nodes.play(rounds, seed=3)
        first, second, third = nodes.states()
        assert first == second == third
        assert nodes.stores[0].snapshots(1)
        assert not verified(nodes.stores[0], 1).not_replayed  # the snapshot is the entries' sum
        late = Hosted(nodes.stores[0], 1, lambda frozen: None)  # joins, from a snapshot
        late.catch_up()
        assert comparable(late.replay.copied()()) == first
        nodes.stores[0].drop_snapshots(1)
        late.replay.forget()  # and from the first entry
        late.catch_up()
        assert comparable(late.replay.copied()()) == first
    finally:
        nodes.close()


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: type(policy).__name__)
def test_three_nodes_agree_to_the_last_bit(policy, tmp_path, monkeypatch):
    """Whatever each of them decided and learnt; also who joins late."""
    check(StoreLocation(tmp_path / "agents"), repr(policy), 60, monkeypatch)


def check_prune(place, monkeypatch):
    monkeypatch.setattr(replay, "REFRESH", 32)
    monkeypatch.setattr(logged, "REFRESH", 32)
    monkeypatch.setattr(logged, "SNAPSHOT", 64)
    nodes = Nodes(place, "RUCB()")
    store = nodes.stores[0]
    try:
        nodes.play(40, seed=4)
        before = nodes.states()[0]
        assert Hosted(store, 1, lambda frozen: None).prune(keep=10) > 0
        assert nodes.states() == [before] * 3  # also those that were away meanwhile
        for _ in range(40):
            decision, _ = nodes.at(1, lambda h: h.decide_once("k", None))
            nodes.at(2, lambda h, id=decision.id: h.reward_once(id, 1.0, None, "k"))
        assert len(store.snapshots(1)) == 2
        found = verified(store, 1)
        assert found.prune is not None
        assert verified(store, 1, since=(found.last, found.hash)) == found
        with pytest.raises(BadFile, match="has not the hash"):
            verified(store, 1, since=(found.last, bytes(16)))
        with pytest.raises(PrunedEntries, match=f"up to {found.prune.number} were pruned"):
            nodes.hosted[0].log.seek(3)
        with store.transaction():
            number, digest, _ = found.prune[:3]
            store._count("UPDATE pruned SET number = ?", number + 1)
        with pytest.raises(BadFile, match="no entry proves"):
            verified(store, 1)
        with store.transaction():
            store._count("UPDATE pruned SET number = ?, hash = ?", number, digest)
            store._count("UPDATE snapshot SET state = ?", "sealed")
        with pytest.raises(BadFile, match="replaces the pruned entries, is missing or was changed"):
            verified(store, 1)
        with pytest.raises(BadFile, match="replaces them is missing or was changed"):
            Hosted(store, 1, lambda frozen: None).load()
    finally:
        nodes.close()


def test_a_prune_proves_itself(tmp_path, monkeypatch):
    """Nodes go on, and what was changed afterwards is found."""
    check_prune(StoreLocation(tmp_path / "agents"), monkeypatch)


@pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed")
def test_a_prune_proves_itself_on_postgresql_too(monkeypatch):
    """By the same entries."""
    with database() as server:
        check_prune(StoreLocation(database=server.url), monkeypatch)


@pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed")
def test_postgresql_keeps_the_contract_of_stores():
    """The same suite as for SQLite."""
    with database() as server:
        check_store(lambda: PostgresStore.open(server.url))


@pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed")
@pytest.mark.parametrize("policy", ["CoherentIMED", "EXP3(gamma=0.2)"])
def test_three_nodes_agree_on_postgresql_too(policy, monkeypatch):
    """The values come back as they were stored."""
    with database() as server:
        check(StoreLocation(database=server.url), policy, 60, monkeypatch)
