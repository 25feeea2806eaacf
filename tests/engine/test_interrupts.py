"""What comes from outside does not come between two steps that belong together."""

import os
import signal
import threading

import numpy as np
import pytest

import ironarm as ia
from ironarm.engine import entry_point, switches
from ironarm.engine.interrupts import interrupts_wait
from ironarm.engine.machine import Machine
from ironarm.engine.state import State

posix = pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="POSIX signals")


class Arrived(Exception):
    """What a handler raises."""


@pytest.fixture
def raising():
    """Let two signals raise."""
    came = []

    def handler(number, frame):
        came.append(number)
        raise Arrived

    numbers = signal.SIGUSR1, signal.SIGALRM
    before = [signal.signal(number, handler) for number in numbers]
    yield came
    for number, old in zip(numbers, before, strict=True):
        signal.signal(number, old)


@posix
def test_all_that_arrived_is_handled_afterwards(raising):
    """Though each handler raises."""
    with pytest.raises(Arrived), interrupts_wait():  # noqa: PT012 -- in its middle
        signal.raise_signal(signal.SIGUSR1)
        signal.raise_signal(signal.SIGALRM)
        assert raising == []
    assert sorted(raising) == sorted([signal.SIGUSR1, signal.SIGALRM])


@posix
@pytest.mark.skipif(switches.DISABLED, reason="a policy's own code is what raises then")
def test_rewards_survive_a_signal_while_their_pool_grows(raising, monkeypatch):
    """A handler that raises between moving them and saying where they are."""
    agent = ia.Agent(ia.MedEUCB(b=1.0), arms=["a", "b"], seed=1).prepare()
    usual, grown = Machine.call, []

    def call(machine, name):
        function = usual(machine, name)
        if name != "repack":
            return function

        def interrupted(handle):
            function(handle)
            grown.append(handle)
            signal.raise_signal(signal.SIGALRM)

        return interrupted

    monkeypatch.setattr(Machine, "call", call)
    rewards, arrived = np.random.default_rng(1).normal(size=2000), 0
    for reward in rewards:
        before = agent.rewards["a"]
        while agent.rewards["a"] == before:
            try:
                agent.update("a", reward)
            except Arrived:
                arrived += 1
                view = agent._core.state.view
                assert view.slot_room.sum() <= len(view.pool)  # where slots have moved to
    assert arrived == len(grown) > 3
    assert agent.estimates["a"] == np.sort(rewards)[(len(rewards) - 1) // 2]


@posix
@pytest.mark.skipif(switches.DISABLED, reason="a policy's own code is what raises then")
def test_what_a_handler_raises_is_not_the_policys_fault(raising, monkeypatch):
    """It comes through as it is."""
    agent = ia.Agent(ia.UCB(), arms=["a", "b"], seed=1)

    def interrupted(*_):
        signal.raise_signal(signal.SIGALRM)

    monkeypatch.setattr(agent._core, "call_select", interrupted)
    with pytest.raises(Arrived):
        agent.decide()


@pytest.mark.skipif(switches.DISABLED, reason="plain Python shuts nobody out")
def test_an_interrupt_keeps_no_lock(monkeypatch):
    """In the middle of shutting others out: they only take longer from then on."""
    agent = ia.Agent(ia.UCB(), arms=["a", "b"], seed=1)
    shut = type(agent._shut)
    usual = shut.__enter__

    def interrupted(self):
        usual(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(shut, "__enter__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        agent.best()
    monkeypatch.undo()
    done = []
    other = threading.Thread(target=lambda: done.append((agent.best(), agent.select())))
    other.start()
    other.join(60)
    assert done == [("a", "a")]
    agent.update("a", 1.0)
    assert agent.rewards == {"a": 1, "b": 0}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.skipif(switches.DISABLED or switches.PUBLIC_ONLY, reason="nothing is loaded")
def test_a_child_does_not_wait_for_a_thread_that_it_has_not():
    """A fork in the middle of compiling, in another thread."""
    entry = State(ia.UCB(), 3).machine.entry_point("select")
    entry.load()  # its code is there
    held, enough = threading.Event(), threading.Event()

    def hold():
        with entry_point.alone():
            held.set()
            enough.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(60)
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # a child that hangs is ended, and the test fails
        entry.load()
        os._exit(7)
    _, status = os.waitpid(child, 0)
    enough.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 7
