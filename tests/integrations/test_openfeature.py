"""Flags that learn, through the real SDK of OpenFeature."""

import asyncio
import logging
import threading
import time

import pytest

import ironarm as ia

pytest.importorskip("openfeature", reason="OPENFEATURE IS NOT TESTED: openfeature-sdk is missing")

from openfeature import api
from openfeature.evaluation_context import EvaluationContext
from openfeature.event import ProviderEvent
from openfeature.exception import ErrorCode
from openfeature.flag_evaluation import Reason
from openfeature.track import TrackingEventDetails

from ironarm.integrations import flag as module
from ironarm.integrations import upkeep
from ironarm.integrations.openfeature import AgentProvider

ANN, BOB = EvaluationContext("ann"), EvaluationContext("bob")


def wait_for(seen, expected):
    """Wait: the SDK calls handlers in threads of its own, in any order."""
    for _ in range(6000):
        if len(seen) >= len(expected):
            break
        time.sleep(0.01)
    assert sorted(map(str, expected)) == sorted(map(str, seen))


def reward(value=1.0, **attributes):
    return TrackingEventDetails(value, attributes)


def an_agent(**options):
    return ia.Agent(ia.UCB(), arms=["red", "green"], seed=7, **options)


@pytest.fixture
def serve():
    """Register a provider, and return a client; the SDK is cleared at the end."""

    def of(*providers, **domains):
        for provider in providers:
            api.set_provider_and_wait(provider)
        for domain, provider in domains.items():
            api.set_provider_and_wait(provider, domain)
        return api.get_client()

    yield of
    api.clear_providers()


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test turns."""
    now = [1000.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    return now


def test_a_flag_learns_which_variant_is_best(serve):
    """A hundred users; green pays three times as much."""
    agent = an_agent()
    client = serve(AgentProvider({"button": agent}))
    shown = []
    for i in range(100):
        user = EvaluationContext(f"user {i}")
        shown.append(client.get_string_value("button", "none", user))
        client.track("button", user, reward({"red": 1.0, "green": 9.0}[shown[-1]]))
    assert agent.rewards == {"red": shown.count("red"), "green": shown.count("green")}
    assert shown[-20:] == ["green"] * 20
    assert agent.open_decisions == []


def test_a_user_keeps_the_variant_until_the_reward(serve):
    """And many evaluations are one decision; the next one is new."""
    agent = an_agent()
    client = serve(AgentProvider({"button": agent}))
    first = client.get_string_details("button", "none", ANN)
    assert first.variant == first.value
    assert first.reason == Reason.SPLIT
    again = client.get_string_details("button", "none", ANN)
    assert again.reason == Reason.CACHED
    assert (again.value, again.flag_metadata) == (first.value, first.flag_metadata)
    other = client.get_string_details("button", "none", BOB)
    assert other.flag_metadata != first.flag_metadata
    assert agent.decisions == 2
    client.track("button", ANN, reward())
    assert client.get_string_details("button", "none", ANN).reason == Reason.SPLIT
    assert agent.decisions == 3


def test_a_hundred_events_are_one_reward(serve):
    """So a user who sends many cannot do more than one who sends one."""
    agent = an_agent()
    provider = AgentProvider({"button": agent})
    client = serve(provider)
    client.get_string_value("button", "none", ANN)
    for _ in range(100):
        client.track("button", ANN, reward())
    client.track("button", BOB, reward())
    client.track("button", None, reward())
    assert sum(agent.rewards.values()) == 1
    assert provider.unmatched == 101
    assert provider.troubles == 0


def test_without_a_user_a_ticket_says_which_decision_it_was(serve):
    """In any order; with a user it wins over the targeting key."""
    agent = an_agent()
    client = serve(AgentProvider({"button": agent}))
    tickets = {}
    for _ in range(2):
        details = client.get_string_details("button", "none")
        tickets[details.value] = details.flag_metadata["decision"]
    client.track("button", None, reward(5.0, decision=tickets["green"]))
    assert agent.rewards == {"red": 0, "green": 1}
    client.get_string_value("button", "none", ANN)
    client.track("button", ANN, reward(2.0, decision=[tickets["red"]]))
    assert agent.rewards == {"red": 1, "green": 1}
    assert agent.estimates == {"red": 2.0, "green": 5.0}


def test_events_have_their_own_names_and_may_reward_several_flags(serve):
    """An event that no flag is rewarded by does nothing."""
    colour, layout = an_agent(), an_agent()
    provider = AgentProvider(
        {"colour": colour, "layout": layout}, events={"colour": ["sale", "lead"], "layout": "sale"}
    )
    client = serve(provider)
    for flag in ("colour", "layout"):
        client.get_string_value(flag, "none", ANN)
    client.track("colour", ANN, reward())
    client.track("page view", ANN, reward())
    assert sum(colour.rewards.values()) == 0
    client.track("sale", ANN, reward())
    assert sum(colour.rewards.values()) == sum(layout.rewards.values()) == 1
    client.get_string_value("colour", "none", ANN)
    client.track("lead", ANN, reward())
    assert sum(colour.rewards.values()) == 2
    assert provider.unmatched == 0


def test_silence_counts_as_told(serve, clock):
    """0 for a purchase that never comes; else the decision is cancelled."""
    counted, cancelled = an_agent(), an_agent()
    serve(AgentProvider({"button": counted}, missing=0, patience=60))
    serve(a=AgentProvider({"button": cancelled}, patience=60))
    for domain in (None, "a"):
        client = api.get_client(domain)
        client.get_string_value("button", "none", ANN)
        clock[0] += 59
        assert client.get_string_details("button", "none", ANN).reason == Reason.CACHED
        clock[0] += 2
        assert client.get_string_details("button", "none", ANN).reason == Reason.SPLIT
        client.track("button", ANN)
    assert counted.estimates == {"red": 0.0, "green": 1.0}
    assert sum(cancelled.rewards.values()) == 0
    assert len(cancelled.open_decisions) == 1


def test_an_event_without_a_value_needs_to_know_what_silence_is(serve, caplog):
    """Else all that is learnt would be ones; it is said once."""
    agent = an_agent()
    client = serve(AgentProvider({"button": agent}))
    client.get_string_value("button", "none", ANN)
    with caplog.at_level(logging.WARNING, "ironarm.openfeature"):
        client.track("button", ANN)
        client.track("button", ANN)
    assert [record.message for record in caplog.records] == [
        "the event 'button': an event for the flag 'button' has no value, so it is ignored; give "
        "it a value, or give the provider missing=0 if silence counts as 0. (1 troubles so far)"
    ]
    assert sum(agent.rewards.values()) == 0


def test_a_missing_reward_that_the_agent_refuses_is_said_once(serve, clock, caplog):
    """Its decisions are given up, so that they do not come again."""
    agent = an_agent()

    def refuse(id, value):
        raise ia.InvalidInput("rewards are above 1.")

    agent.learn = refuse
    provider = AgentProvider({"button": agent}, missing=0, patience=60)
    client = serve(provider)
    for user in ("a", "b", "c"):
        client.get_string_value("button", "none", EvaluationContext(user))
    clock[0] += 61
    with caplog.at_level(logging.WARNING, "ironarm.openfeature"):
        assert client.get_string_value("button", "none", ANN) != "none"
    assert [record.message for record in caplog.records] == [
        "missing = 0.0 for the flag 'button': rewards are above 1. (1 troubles so far)"
    ]
    assert provider.troubles == 3
    assert len(provider._flags["button"]._open) == 1


def test_what_waits_is_bounded(serve, clock):
    """The oldest goes first; old ones are closed a few at a time."""
    agent = an_agent()
    provider = AgentProvider({"button": agent}, most_open=100, patience=60)
    client = serve(provider)
    for i in range(150):
        client.get_string_value("button", "none", EvaluationContext(str(i)))
    assert len(agent.open_decisions) == 100
    client.track("button", EvaluationContext("3"), reward())
    assert provider.unmatched == 1
    clock[0] += 61
    client.track("button", None, reward(decision="button/none"))
    assert len(agent.open_decisions) == 100 - upkeep.AT_ONCE
    for _ in range(10):
        client.get_string_value("button", "none", ANN)
    assert len(agent.open_decisions) == 1
    flag = provider._flags["button"]
    assert len(flag._open) == len(flag._by_user) == 1


@pytest.mark.parametrize(
    ("values", "getter", "expected"),
    [
        ({"red": True, "green": False}, "get_boolean_details", True),
        ({"red": 10, "green": 20}, "get_integer_details", 10),
        ({"red": 0.5, "green": 1.5}, "get_float_details", 0.5),
        ({"red": {"size": 1}, "green": {"size": 2}}, "get_object_details", {"size": 1}),
        ({"red": "#f00", "green": "#0f0"}, "get_string_details", "#f00"),
    ],
)
def test_variants_stand_for_values_of_any_type(serve, values, getter, expected):
    """Another type gets the default, and burns no decision."""
    agent = an_agent()
    client = serve(AgentProvider({"flag": agent}, values={"flag": values}))
    details = getattr(client, getter)("flag", expected)
    assert (details.value, details.variant) == (expected, "red")
    others = {
        "get_boolean_details": False,
        "get_integer_details": 7,
        "get_object_details": {},
        "get_string_details": "none",
    }
    for other, default in others.items():
        if other != getter:
            wrong = getattr(client, other)("flag", default)
            assert wrong.value == default
            assert wrong.error_code == ErrorCode.TYPE_MISMATCH
    assert agent.decisions == 1


def test_a_flag_that_does_not_exist_gets_the_default(serve):
    """As OpenFeature says it."""
    details = serve(AgentProvider({"button": an_agent()})).get_string_details("buton", "none")
    assert (details.value, details.reason) == ("none", Reason.ERROR)
    assert details.error_code == ErrorCode.FLAG_NOT_FOUND


class Broken:
    """An agent whose disk is full, until it is not."""

    arms = ("red", "green")

    def __init__(self):
        self.agent, self.full = an_agent(), True

    def decide(self):
        if self.full:
            raise ia.StoreError("the disk is full")
        return self.agent.decide()

    def learn(self, id, value):
        if self.full:
            raise ia.StoreError("the disk is full")
        self.agent.learn(id, value)


def test_trouble_never_reaches_the_application(serve, caplog):
    """It gets the default; events tell when it begins and when it is over."""
    agent = Broken()
    provider = AgentProvider({"button": agent})
    client = serve(provider)
    seen = []
    client.add_handler(ProviderEvent.PROVIDER_ERROR, lambda event: seen.append(event.message))
    client.add_handler(ProviderEvent.PROVIDER_READY, lambda event: seen.append(event.message))
    wait_for(seen, [None])  # a handler is called at once if the provider is ready
    seen.clear()
    for _ in range(3):
        details = client.get_string_details("button", "none", ANN)
        assert (details.value, details.error_code) == ("none", ErrorCode.GENERAL)
    assert provider.troubles == 3
    wait_for(seen, ["the disk is full"])
    agent.full = False
    assert client.get_string_value("button", "none", ANN) == "red"
    wait_for(seen, ["the disk is full", "the agents answer again"])
    agent.full = True
    client.track("button", ANN, reward())
    agent.full = False
    client.track("button", ANN, reward())  # the decision still waits
    assert agent.agent.rewards["red"] == 1
    wait_for(seen, ["the disk is full", "the agents answer again"] * 2)


def test_a_reward_that_is_none_changes_nothing(serve):
    """NaN is refused by the agent; the decision waits on."""
    agent = an_agent()
    provider = AgentProvider({"button": agent})
    client = serve(provider)
    client.get_string_value("button", "none", ANN)
    client.track("button", ANN, reward(float("nan")))
    assert provider.troubles == 1
    client.track("button", ANN, reward(2.0))
    assert sum(agent.rewards.values()) == 1


def test_a_variant_that_was_removed_is_not_shown_again(serve):
    """Its reward is dropped."""
    agent = an_agent()
    provider = AgentProvider({"button": agent})
    client = serve(provider)
    first = client.get_string_details("button", "none", ANN)
    agent.remove_arm(first.value)
    second = client.get_string_details("button", "none", ANN)
    assert second.value != first.value
    client.track("button", ANN, reward(1.0, decision=first.flag_metadata["decision"]))
    assert provider.unmatched == 1
    client.track("button", ANN, reward())
    assert agent.rewards == {second.value: 1}


def test_a_new_variant_needs_a_value(serve):
    """Until it has one, whoever would get it gets the default."""
    agent = an_agent()
    provider = AgentProvider({"size": agent}, values={"size": {"red": 1, "green": 2}})
    client = serve(provider)
    agent.add_arm("blue")
    seen = [client.get_integer_value("size", 0, EvaluationContext(str(i))) for i in range(3)]
    assert seen == [1, 2, 0]
    assert len(agent.open_decisions) == 2
    provider.add_flag("size", agent, values={"red": 1, "green": 2, "blue": 3})
    assert client.get_integer_value("size", 0, ANN) == 3


def test_two_processes_share_a_durable_agent(serve, tmp_path):
    """One decides, and the other learns by the ticket; twice is once."""
    path = tmp_path / "button.db"
    with (
        ia.DurableAgent(path, ia.UCB(), arms=["red", "green"], seed=7) as one,
        ia.DurableAgent(path) as two,
    ):
        web, worker = AgentProvider({"button": one}), AgentProvider({"button": two})
        serve(web=web, worker=worker)
        details = api.get_client("web").get_string_details("button", "none", ANN)
        ticket = details.flag_metadata["decision"]
        for _ in range(2):
            api.get_client("worker").track("button", None, reward(decision=ticket))
        api.get_client("worker").track("button", None, reward(decision="button/none"))
        assert one.rewards == {"red": 1, "green": 0}
        assert worker.unmatched == 1
        api.get_client("web").track("button", ANN, reward(3.0))  # another value: refused
        assert one.estimates["red"] == 1.0


@pytest.mark.parametrize(("sources", "told"), [(True, ["ann"]), (False, [])])
def test_who_sent_a_reward_is_told_if_asked(serve, sources, told):
    """So that sources can be judged; users are not written down without need."""
    agent = an_agent()
    client = serve(AgentProvider({"button": agent}, sources=sources))
    client.get_string_value("button", "none", ANN)
    client.track("button", ANN, reward())
    assert agent.rewards == {"red": 1, "green": 0}
    assert [each.source for each in agent.sources()] == told


def test_flags_come_and_go(serve):
    """Clients are told which."""
    provider = AgentProvider({"button": an_agent()})
    client = serve(provider)
    changed = []
    client.add_handler(
        ProviderEvent.PROVIDER_CONFIGURATION_CHANGED,
        lambda event: changed.append(event.flags_changed),
    )
    provider.add_flag("menu", an_agent(), values={"red": 1, "green": 2})
    assert client.get_integer_value("menu", 0) == 1
    provider.remove_flag("menu")
    assert client.get_integer_value("menu", 0) == 0
    wait_for(changed, [["menu"], ["menu"]])


def test_after_shutdown_there_are_defaults(tmp_path):
    """And what waited is on disk."""
    with ia.DurableAgent(
        tmp_path / "a.db", ia.UCB(), arms=["red"], seed=7, commit_within=60
    ) as agent:
        provider = AgentProvider({"button": agent})
        api.set_provider_and_wait(provider)
        client = api.get_client()
        client.get_string_value("button", "none", ANN)
        api.shutdown()
        with ia.DurableAgent(tmp_path / "a.db") as other:
            assert other.decisions == 1
        assert provider.resolve_string_details("button", "none").value == "none"
        api.clear_providers()


def test_async_evaluations_do_not_block_the_loop(serve):
    """A slow agent decides in a thread; one in memory at once."""
    main = threading.get_ident()
    seen = []

    class Slow(Broken):
        def decide(self):
            seen.append(threading.get_ident())
            return self.agent.decide()

    quick = an_agent()
    client = serve(AgentProvider({"slow": Slow(), "quick": quick}))

    async def ask():
        return (
            await client.get_string_value_async("slow", "none", ANN),
            await client.get_string_value_async("quick", "none", ANN),
        )

    assert asyncio.run(ask()) == ("red", "red")
    assert seen
    assert seen[0] != main


def test_users_who_ask_from_many_threads_get_one_decision_each(serve):
    """And every reward is credited once."""
    agent = an_agent()
    provider = AgentProvider({"button": agent})
    client = serve(provider)
    variants = [set() for _ in range(20)]
    start = threading.Barrier(8)

    def work():
        start.wait()
        for i in range(20):
            variants[i].add(client.get_string_value("button", "none", EvaluationContext(str(i))))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(len(each) == 1 for each in variants)
    assert agent.decisions == 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"events": {"menu": "sale"}}, "events names the flag 'menu'; expected one of button"),
        ({"values": {"menu": {}}}, "values names the flag 'menu'"),
        ({"values": {"button": {"red": 1}}}, "each of its variants stands for: red, green"),
        ({"missing": "no"}, "missing must be a number"),
        ({"patience": 0}, "patience must be above 0"),
        ({"most_open": 0}, "most_open must be"),
    ],
)
def test_mistakes_are_refused_when_the_provider_is_made(options, message):
    """Not in the middle of a request."""
    with pytest.raises(ia.InvalidInput, match=message):
        AgentProvider({"button": an_agent()}, **options)


def test_a_service_that_hangs_holds_up_one_caller_and_not_all(serve, clock):
    """Who comes after a slow failure is refused at once, for some seconds."""
    agent, asked = an_agent(), []
    decide = agent.decide

    def hang():
        asked.append(clock[0])
        clock[0] += 10
        raise ia.StoreError("no answer")

    agent.decide = hang
    client = serve(AgentProvider({"button": agent}))
    for user in ("a", "b", "c"):
        assert client.get_string_value("button", "none", EvaluationContext(user)) == "none"
    assert len(asked) == 1
    agent.decide = decide
    clock[0] += 5
    assert client.get_string_value("button", "none", ANN) != "none"


def test_a_flag_that_is_added_again_keeps_what_waits(serve):
    """With the same agent; with another one, and when it is removed, it is closed."""
    agent, other = an_agent(), an_agent()
    provider = AgentProvider({"button": agent})
    client = serve(provider)
    client.get_string_value("button", "none", ANN)
    provider.add_flag("button", agent)
    client.track("button", ANN, reward())
    assert (sum(agent.rewards.values()), agent.open_decisions) == (1, [])
    client.get_string_value("button", "none", ANN)
    provider.add_flag("button", other)
    assert agent.open_decisions == []
    client.get_string_value("button", "none", ANN)
    client.get_string_value("button", "none", BOB)
    cancel, failed = other.cancel, []

    def fail_once(id):
        if not failed:
            failed.append(id)
            raise ia.StoreError("the disk is full")
        cancel(id)

    other.cancel = fail_once
    late = provider._flags["button"]
    provider.remove_flag("button")
    assert len(other.open_decisions) == 1  # the others were closed all the same
    with pytest.raises(ia.InvalidInput, match="removed"):
        late.decide("somebody who came at that moment")


def test_what_an_end_user_sends_is_no_fault_of_the_provider(serve):
    """Tickets and keys of wrong types are troubles, but the agents answer on."""
    agent = an_agent()
    provider = AgentProvider({"button": agent})
    client = serve(provider)
    for ticket in (17, 3.5, True, {"a": 1}):
        client.track("button", ANN, reward(decision=ticket))
    provider.track(["button"], ANN, reward())
    for key in (["ann"], {"a": 1}, 7):
        context = EvaluationContext(key)
        assert provider.resolve_string_details("button", "none", context).value == "none"
    assert provider.troubles == 7
    assert not provider._failing


def test_values_of_arms_that_are_numbers(serve):
    """Named by the numbers themselves."""
    agent = ia.Agent(ia.UCB(), arms=[1, 2], seed=7)
    client = serve(AgentProvider({"size": agent}, values={"size": {1: 10, 2: 20}}))
    assert client.get_integer_value("size", 0, ANN) in (10, 20)
