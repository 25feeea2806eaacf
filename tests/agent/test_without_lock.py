"""`select` and `update` take no lock; no thread sees half of what another does."""

import sys
import threading
from contextlib import suppress

import numpy as np
import pytest

import ironarm as ia
from ironarm.agent import agent as agent_module
from ironarm.engine import switches
from ironarm.engine.loop import ANY, NOT_NOW, OLDEST_OPEN

ARMS = ["a", "b", "c"]
compiled = pytest.mark.skipif(switches.DISABLED, reason="plain Python always takes the lock")


@pytest.fixture
def hectic():
    """Let threads take turns as often as Python can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def consistent(agent):
    """Say whether decisions, rewards and open decisions of a copy add up."""
    core = agent._core
    view, open = core.state.view, core.open
    waits = [len(open.waiting.times(a)) for a in range(len(core.names))]
    for ticket in open.tickets.values():
        waits[ticket.arm] += 1
    return (view.n - view.rewards).tolist() == waits


def run(workers):
    """Run functions in threads of their own, and raise what one of them has raised."""
    raised = []

    def watched(work):
        try:
            work()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=watched, args=(work,)) for work in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


@pytest.mark.parametrize(
    "policy",
    [ia.MedEUCB(b=1, block=50), ia.UCB(), ia.EXP3(gamma=0.1), ia.TrustThompson()],
    ids=lambda policy: type(policy).__name__,
)
def test_nothing_is_seen_half_done(policy, hectic, tmp_path):
    """Threads decide and learn with ids and without, others look, save and change arms.

    Whatever is saved meanwhile adds up, and at the end nothing is lost.
    """
    agent = ia.Agent(policy, arms=ARMS, seed=1)
    made, saved = [0], []

    def decides():
        for i in range(400):
            arm = agent.select()
            try:
                agent.update(arm, i % 7 / 6, source=f"user {i % 3}" if i % 4 == 0 else None)
            except (ia.errors.UnknownArm, ia.InvalidInput):
                # the arm has just left; or, with chances, its decision has left with it
                assert arm == "new"
        made.append(400)

    def decides_with_ids():
        for i in range(200):
            # it may have been closed: as the oldest of its arm, or its arm left
            with suppress(ia.errors.UnknownDecision):
                agent.learn(agent.decide().id, i % 7 / 6)
        made.append(200)

    def looks():
        for i in range(15):
            agent.summary()
            repr(agent)
            agent.save(tmp_path / f"{threading.get_ident()}.json")
            saved.append(ia.Agent.load(tmp_path / f"{threading.get_ident()}.json"))
            agent.expire(1e9 + i)

    def changes():
        for _ in range(25):
            agent.add_arm("new")
            agent.best()
            agent.remove_arm("new")

    run([decides, decides, decides_with_ids, looks, changes])
    assert len(saved) == 15
    assert all(map(consistent, saved))
    assert consistent(agent)
    assert agent.decisions == sum(made) == 1000
    assert agent.arms == ("a", "b", "c")


@compiled
def test_while_somebody_has_it_alone_others_wait():
    """Their call does nothing; inside, the same thread may still decide and learn."""
    agent = ia.Agent(ia.UCB(), arms=ARMS, seed=1)
    core = agent._core
    with agent._lock, agent._shut:
        assert core.call_select(core.handle, ANY, core.place, 1.0) == NOT_NOW
        with agent._lock, agent._shut:
            agent.update(agent.select(), 1.0)
        assert core.call_select(core.handle, ANY, core.place, 1.0) == NOT_NOW
    assert agent.decisions == 1
    assert core.call_select(core.handle, ANY, core.place, 1.0) >= 0


@compiled
@pytest.mark.parametrize("change", [lambda a: a.add_arm("d"), lambda a: a.remove_arm("b")])
def test_who_still_has_the_arms_of_before_is_turned_away(change):
    """A thread may stop between reading where the agent is and calling it."""
    agent = ia.Agent(ia.UCB(), arms=ARMS, seed=1)
    agent.select()
    (select, _, *places), (observe, _, _, *_) = agent._to_select, agent._to_update
    change(agent)
    state, waiting, records = places
    before = records[0].words.copy()
    assert select(state, ANY, waiting, 1.0) == NOT_NOW
    assert observe(state, 0, 1.0, 1.0, -1, OLDEST_OPEN, waiting) == NOT_NOW
    assert (records[0].words == before).all()
    assert agent.decisions == 1


def test_a_python_without_a_global_lock_gets_ours(monkeypatch):
    """With the same choices."""

    def play(agent):
        g, chosen = np.random.default_rng(3), []
        for i in range(300):
            chosen.append(agent.select())
            if i % 5:
                agent.update(chosen[-1], g.normal(ARMS.index(chosen[-1])))
        return chosen, repr(agent), agent._core.open.dump()["queues"]

    usual = play(ia.Agent(ia.MedEUCB(b=1, block=50), arms=ARMS, seed=1))
    monkeypatch.setattr(agent_module, "calls_are_atomic", lambda: False)
    locked = ia.Agent(ia.MedEUCB(b=1, block=50), arms=ARMS, seed=1)
    assert locked._to_select is locked._to_update is None
    assert locked._core.open.waiting.shut
    again = play(locked)
    assert again[:2] == usual[:2]
    assert [len(queue) for queue in again[2]] == [len(queue) for queue in usual[2]]


def test_many_decisions_wait_for_their_rewards():
    """Room is made as they come; an update closes the oldest, expiry all old ones."""
    agent = ia.Agent(ia.UCB(), arms=ARMS, seed=1)
    chosen = [agent.select() for _ in range(1000)]
    for arm in chosen[:400]:
        agent.update(arm, 1.0)
    left = {arm: chosen[400:].count(arm) for arm in ARMS}
    assert agent._core.waiting == left
    assert agent.expire(3600) == 0
    agent.remove_arm("a")
    assert agent.expire(0) == left["b"] + left["c"]
    assert agent._core.waiting == {"b": 0, "c": 0}
