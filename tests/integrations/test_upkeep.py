"""What all integrations see to besides their requests, by a clock that a test turns."""

import logging
from collections import namedtuple

import pytest

import ironarm as ia
from ironarm.integrations.upkeep import (
    AT_ONCE,
    MOST_SAID,
    REST,
    SAY_EVERY,
    Rest,
    Troubles,
    closed,
    overdue,
)

Open = namedtuple("Open", "made")


class Clock:
    """Tells the time that a test sets."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


class Store:
    """Fails after some seconds, and counts how often it is asked."""

    def __init__(self, clock, takes=0.0, error=ia.StoreError):
        self.clock, self.takes, self.error, self.asked = clock, takes, error, 0

    def __call__(self):
        self.asked += 1
        self.clock.now += self.takes
        raise self.error("the disk is full.")


def attempt(rest, store):
    """Ask a store that fails; return what the error says."""
    with pytest.raises(ia.IronarmError) as caught:
        rest.asked(store)
    return str(caught.value)


# rest


def test_what_is_asked_is_returned(clock):
    """With what was given to it."""
    assert Rest("agents", clock).asked(divmod, 7, 2) == (3, 1)


def test_who_failed_is_left_alone_for_some_seconds(clock):
    """The failure itself is told; who comes after it is refused at once."""
    rest, store = Rest("agents", clock), Store(clock)
    assert attempt(rest, store) == "the disk is full."
    clock.now = REST - 0.01
    refused = "agents failed less than 5 seconds ago; not asked again yet."
    assert [attempt(rest, store), store.asked] == [refused, 1]
    clock.now = REST
    assert [attempt(rest, store), store.asked] == ["the disk is full.", 2]


def test_a_refusal_does_not_prolong_the_rest(clock):
    """However many ask meanwhile."""
    rest, store = Rest("agents", clock), Store(clock)
    for clock.now in (0.0, 1.0, 2.0, 3.0, 4.0):
        attempt(rest, store)
    clock.now = REST
    assert rest.asked(int) == 0
    assert store.asked == 1


def test_the_rest_begins_when_the_failure_is_known(clock):
    """Not when the agent was asked, which may be long before."""
    rest, store = Rest("agents", clock), Store(clock, takes=10.0)
    attempt(rest, store)
    clock.now = 10.0 + REST - 0.01
    assert "not asked again yet" in attempt(rest, store)


@pytest.mark.parametrize(("takes", "asked"), [(0.25, 3), (0.5, 1)])
def test_a_failure_that_holds_up_nobody_needs_no_rest(clock, takes, asked):
    """If the integration says which failures are slow."""
    rest, store = Rest("agents", clock, slow=0.5), Store(clock, takes)
    for _ in range(3):
        attempt(rest, store)
    assert store.asked == asked


def test_only_a_store_that_fails_is_left_alone(clock):
    """A mistake of one caller does not stop the others."""
    rest, store = Rest("agents", clock), Store(clock, error=ia.InvalidInput)
    for _ in range(3):
        assert attempt(rest, store) == "the disk is full."
    assert store.asked == 3


# trouble


@pytest.fixture
def troubles(clock):
    return Troubles(logging.getLogger("ironarm.test"), clock)


@pytest.fixture
def said(caplog):
    """Return a function that says which lines of a level the log has."""
    caplog.set_level(logging.DEBUG, "ironarm.test")
    return lambda level: [each.message for each in caplog.records if each.levelno == level]


def test_the_same_trouble_is_said_once_a_minute(clock, troubles, said):
    """The others can be read at the level DEBUG; the line says how many there were."""
    for clock.now in (0.0, 1.0, SAY_EVERY - 0.01, SAY_EVERY):
        troubles.report("no decision", ia.StoreError("the disk is full"))
    assert said(logging.WARNING) == [
        "no decision: the disk is full (1 troubles so far)",
        "no decision: the disk is full (4 troubles so far)",
    ]
    assert len(said(logging.DEBUG)) == 2


def test_another_trouble_is_said_at_once(troubles, said):
    """It may be the cause of the first."""
    for why in ("the disk is full", "no answer", "the disk is full"):
        troubles.report("no decision", ia.StoreError(why))
    assert [line.split(": ")[1] for line in said(logging.WARNING)] == [
        "the disk is full (1 troubles so far)",
        "no answer (2 troubles so far)",
    ]


def test_troubles_that_all_differ_do_not_fill_the_log(clock, troubles, said):
    """End users have a hand in their texts. All are counted."""
    for i in range(1000):
        troubles.report("an event", ia.InvalidInput(f"no ticket: {i}"))
    assert len(said(logging.WARNING)) == MOST_SAID
    assert troubles.count == 1000
    clock.now = SAY_EVERY
    troubles.report("an event", ia.InvalidInput("no ticket: 0"))
    assert len(said(logging.WARNING)) == MOST_SAID + 1


def test_an_error_without_a_text_is_said_by_its_type(troubles, said):
    """So that no line ends with a colon."""
    troubles.report("cut off", TimeoutError())
    assert said(logging.WARNING) == ["cut off: TimeoutError (1 troubles so far)"]


# decisions that wait


def taken(waiting, *given):
    """Take out what is overdue, as one call of an integration does."""
    keys = []
    for key in overdue(waiting, *given):
        del waiting[key]
        keys.append(key)
    return keys


def test_old_decisions_come_a_few_at_a_time():
    """The oldest first, so that no call takes long."""
    waiting = {key: Open(float(key)) for key in range(AT_ONCE + 5)}
    assert taken(waiting, 1000.0) == list(range(AT_ONCE))
    assert taken(waiting, 1000.0) == list(range(AT_ONCE, AT_ONCE + 5))
    assert taken(waiting, 1000.0) == []


def test_decisions_that_may_wait_on_do_not_come():
    """One that was made at the given moment has waited long enough."""
    waiting = {key: Open(float(key)) for key in range(5)}
    assert taken(waiting, 2.0) == [0, 1, 2]


def test_decisions_come_early_if_they_are_too_many():
    """The oldest, until there are few enough."""
    waiting = {key: Open(float(key)) for key in range(5)}
    assert taken(waiting, -1.0, 3) == [0, 1]


@pytest.fixture
def agent():
    return ia.Agent(ia.UCB(), arms=["red", "green"], seed=7)


def test_a_decision_is_closed_with_a_reward_and_who_sent_it(agent):
    """As the integration knows them."""
    for source in (None, "ann"):
        assert closed(agent, agent.decide().id, 1.0, source)
    assert sum(agent.rewards.values()) == 2
    assert [each.source for each in agent.sources()] == ["ann"]


def test_a_decision_is_closed_without_a_reward(agent):
    """If there is nothing to learn."""
    assert closed(agent, agent.decide().id, None)
    assert (sum(agent.rewards.values()), agent.open_decisions) == (0, [])


@pytest.mark.parametrize("reward", [1.0, None])
def test_a_decision_that_is_closed_already_is_no_trouble(agent, reward):
    """It has expired, or its arm is gone: the answer is no."""
    made = agent.decide()
    agent.cancel(made.id)
    assert not closed(agent, made.id, reward)
