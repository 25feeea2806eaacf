"""The routing strategy for LiteLLM, in the real Router with mocked deployments."""

import asyncio
import gc
import math
import random
import sys
import threading
import types
from collections import Counter

import pytest

import ironarm as ia

litellm = pytest.importorskip(
    "litellm", reason="THE LITELLM STRATEGY IS NOT TESTED: pip install 'ironarm[litellm]'"
)

from ironarm.integrations import litellm as integration  # noqa: E402
from ironarm.integrations.litellm import RobustRouting  # noqa: E402
from tests.integrations.mock_deployments import (  # noqa: E402
    ASK,
    GROUP,
    Mock,
    error,
    forget_callbacks,
    mocked_router,
    model_list,
    until,
)


@pytest.fixture
def mock():
    yield Mock()
    forget_callbacks()


@pytest.fixture
def routed(mock):
    """Return a function that makes a Router with the strategy installed."""
    made = []

    def make(names=("east", "west", "north"), *, router=None, **options):
        router = mocked_router(names, **(router or {}))
        made.append(RobustRouting(**{"seed": 1, **options}).install(router))
        return router, made[-1]

    yield make
    for routing in made:
        routing.close()


def ask(router, **more):
    return router.acompletion(GROUP, ASK, **more)


async def closed(routing):
    await until(
        lambda: (
            routing.open_tickets == 0
            and not any(agent.open_decisions for agent in routing.agents.values())
        )
    )


def play(router, routing, requests, **more):
    """Make requests one after the other; return how many failed."""

    async def all_of_them():
        failed = 0
        for _ in range(requests):
            try:
                await ask(router, **more)
            except Exception:
                failed += 1
            await closed(routing)
        return failed

    return asyncio.run(all_of_them())


def learnt(routing, group=GROUP):
    """Return the rewards of each arm, and check that nothing is open."""
    agent = routing.agents[group]
    assert agent.open_decisions == []
    assert routing.open_tickets == 0
    return agent.rewards


def raising(kind, *names):
    """Let some deployments raise an error."""

    async def behave(name):
        if name in names:
            raise error(kind, name)

    return behave


def waiting(**seconds):
    """Let deployments wait before they answer."""

    async def behave(name):
        await asyncio.sleep(seconds[name])

    return behave


# credit


def test_every_answer_is_credited_to_the_deployment_that_gave_it(routed, mock):
    """Sixty requests at once, whose answers come in another order."""
    router, routing = routed()
    order = iter(range(60))

    async def behave(name):
        await asyncio.sleep(0.1 - 0.0015 * next(order))

    async def run():
        await asyncio.gather(*(ask(router) for _ in range(60)))
        await closed(routing)

    mock.behave = behave
    asyncio.run(run())
    assert learnt(routing) == Counter(mock.calls)
    assert routing.agents[GROUP].decisions == 60
    assert routing.troubles == routing.late == 0


def test_the_reward_is_minus_the_logarithm_of_the_seconds(routed, mock):
    """Slow machines make it longer, never shorter."""
    router, routing = routed(["east"])
    mock.behave = waiting(east=0.05)
    play(router, routing, 5)
    assert -math.log(0.5) < routing.agents[GROUP].estimates["east"] <= -math.log(0.05)


def test_it_prefers_the_fast_deployment(routed, mock):
    """After the first requests nearly all go there."""
    router, routing = routed()
    mock.behave = waiting(east=0.03, west=0.0, north=0.03)
    play(router, routing, 60)
    assert mock.calls[20:].count("west") >= 30


def test_two_routers_do_not_mix_their_tickets(mock):
    """Callbacks are LiteLLM's, for all Routers of the process."""
    routers = [mocked_router(names) for names in (["east", "west"], ["north", "south"])]
    routings = [RobustRouting(seed=i).install(router) for i, router in enumerate(routers)]
    for _ in range(10):
        for router, routing in zip(routers, routings, strict=True):
            play(router, routing, 1)
    assert [sum(learnt(routing).values()) for routing in routings] == [10, 10]
    for routing in routings:
        routing.close()


# failures


@pytest.mark.parametrize(
    "kind", ["RateLimitError", "Timeout", "InternalServerError", "APIConnectionError"]
)
def test_a_failure_is_the_worst_there_is(kind, routed, mock):
    """So is a timeout."""
    router, routing = routed(["east"])
    mock.behave = raising(getattr(litellm, kind), "east")
    assert play(router, routing, 3) == 3
    assert learnt(routing) == {"east": 3}
    assert routing.agents[GROUP].estimates["east"] == pytest.approx(-1e6)


def test_what_the_caller_did_wrong_is_not_the_deployments_fault(routed, mock):
    """A bad request closes the decision without a reward."""
    router, routing = routed(["east"])
    mock.behave = raising(litellm.BadRequestError, "east")
    assert play(router, routing, 3) == 3
    assert learnt(routing) == {"east": 0}
    assert routing.agents[GROUP].decisions == 3


def test_a_number_can_stand_for_a_failure(routed, mock):
    """For policies on means."""
    router, routing = routed(["east"], policy=ia.UCB(), worst=-7)
    mock.behave = raising(litellm.RateLimitError, "east")
    play(router, routing, 2)
    assert routing.agents[GROUP].estimates["east"] == pytest.approx(-7.0)


@pytest.mark.parametrize("broken", [["north"], ["east", "north"]])
def test_a_deployment_that_always_fails_is_left_alone(broken, routed, mock):
    """Also if nothing cools it down: equal rewards would count once, and it would get a
    quarter of the requests.
    """
    world = random.Random(1)
    router, routing = routed(reward=lambda outcome: world.gauss(0.0, 0.3))
    chosen = Counter()
    for _ in range(1000):
        info = router.get_available_deployment(GROUP, ASK)["model_info"]
        chosen[info["id"]] += 1
        call = {"litellm_params": {"model_info": info}}
        if info["id"] in broken:
            routing.log_failure_event(call, None, None, None)
        else:
            routing.log_success_event(call, None, None, None)
    assert sum(learnt(routing).values()) == 1000
    assert sum(chosen[name] for name in broken) <= 40


def test_every_retry_is_a_decision_of_its_own(routed, mock):
    """And is closed with its own outcome."""
    router, routing = routed(router={"num_retries": 3})
    mock.behave = raising(litellm.InternalServerError, "east", "west")
    play(router, routing, 10)
    assert len(mock.calls) > 10
    assert learnt(routing) == Counter(mock.calls)
    assert routing.agents[GROUP].estimates["north"] > -math.inf
    assert routing.agents[GROUP].decisions == len(mock.calls)


def test_retries_are_told_apart_as_in_the_proxy(routed, mock):
    """There one logging object serves all calls of a request, and reports only one
    failure.
    """
    router, routing = routed(router={"num_retries": 2})
    mock.behave = raising(litellm.InternalServerError, "east", "west", "north")

    async def run():
        for _ in range(5):
            shared, _ = litellm.utils.function_setup(
                "acompletion",
                litellm.utils.Rules(),
                integration.datetime.now(),
                model=GROUP,
                messages=ASK,
                litellm_call_id="one request",
            )
            with pytest.raises(litellm.InternalServerError):
                await ask(router, litellm_logging_obj=shared)
        await closed(routing)

    asyncio.run(run())
    assert len(mock.calls) == 15
    assert learnt(routing) == Counter(mock.calls)


def test_a_fallback_is_a_decision_of_its_own(routed, mock):
    """Of the other group's agent."""
    router, routing = routed(["east"], router={"fallbacks": [{GROUP: ["spare"]}]})
    for description in model_list(["north", "south"], "spare"):
        router.add_deployment(litellm.types.router.Deployment(**description))
    mock.behave = raising(litellm.InternalServerError, "east")
    assert play(router, routing, 4) == 0
    assert learnt(routing) == {"east": 4}
    assert sum(learnt(routing, "spare").values()) == 4


def test_a_deployment_that_cools_down_is_not_chosen(routed, mock):
    """However good it was."""
    router, routing = routed(router={"disable_cooldowns": False, "cooldown_time": 60})
    mock.behave = waiting(east=0.02, west=0.0, north=0.02)
    play(router, routing, 20)
    mock.behave = raising(litellm.RateLimitError, "west")
    play(router, routing, 10)
    since = mock.calls.index("west", len(mock.calls) - 10)
    assert "west" not in mock.calls[since + 1 :]
    assert learnt(routing) == Counter(mock.calls)
    assert "west" in routing.agents[GROUP].arms


def test_a_cancelled_request_expires(routed, mock):
    """No callback comes for it. Its decision is closed without a reward."""
    router, routing = routed(["east", "west"])
    mock.behave = waiting(east=5, west=5)

    async def run():
        tasks = [asyncio.create_task(ask(router)) for _ in range(4)]
        await until(lambda: len(mock.calls) == 4)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert len(routing.agents[GROUP].open_decisions) == routing.open_tickets == 4
        assert routing.expire(600) == 0
        routing._expire_after, routing._next_expiry = 0.0, 0.0  # the time has passed
        mock.behave = waiting(east=0, west=0)
        await ask(router)
        await closed(routing)

    asyncio.run(run())
    assert sum(learnt(routing).values()) == 1
    assert routing.agents[GROUP].decisions == 5


def test_many_decisions_expire_a_few_at_a_time(routed, monkeypatch):
    """So that none of the requests that see to it holds up the event loop."""
    now = 0.0
    monkeypatch.setattr(integration, "monotonic", lambda: now)
    router, routing = routed()
    for _ in range(50):
        router.get_available_deployment(GROUP, ASK)
    now = 599.0
    router.get_available_deployment(GROUP, ASK)
    waiting = [routing.open_tickets]
    now = 600.0
    for _ in range(4):
        router.get_available_deployment(GROUP, ASK)
        waiting.append(routing.open_tickets)
    assert waiting == [51, 32, 13, 4, 5]  # 20, 20 and 10 were old; one is new each time
    assert len(routing.agents[GROUP].open_decisions) == 5
    assert routing.late == routing.troubles == 0


def test_an_answer_that_comes_after_its_decision_has_expired_changes_nothing(routed, mock):
    """It is counted as late if only the agent has forgotten it."""
    router, routing = routed(["east"])

    async def behave(name):
        routing.agents[GROUP].expire(0)

    mock.behave = behave
    play(router, routing, 3)
    assert learnt(routing) == {"east": 0}
    assert routing.late == 3
    assert routing.troubles == 0


# streams, calls without asyncio, the cache


def test_a_stream_is_rewarded_at_its_end(routed, mock):
    """The time to the first token is known too."""
    seen = []
    router, routing = routed(["east"], reward=lambda outcome: seen.append(outcome) or 1.0)
    mock.behave, mock.pause = waiting(east=0.02), 0.03

    async def run():
        stream = await ask(router, stream=True)
        words = [chunk.choices[0].delta.content or "" async for chunk in stream]
        assert "".join(words) == "abc"
        await closed(routing)

    asyncio.run(run())
    assert learnt(routing) == {"east": 1}
    (outcome,) = seen
    assert 0.02 <= outcome.first_token <= outcome.seconds - 0.05
    assert outcome.response.choices[0].message.content == "abc"


@pytest.mark.parametrize("breaks_after", [0, 2])
def test_a_stream_that_breaks_is_a_failure(breaks_after, routed, mock):
    """Also if it has begun."""
    router, routing = routed(["east"])
    mock.breaks_after = breaks_after

    async def run():
        with pytest.raises(litellm.APIConnectionError):
            async for _ in await ask(router, stream=True):
                pass
        await closed(routing)

    asyncio.run(run())
    assert learnt(routing) == {"east": 1}
    assert routing.agents[GROUP].estimates["east"] == pytest.approx(-1e6)


def test_calls_without_asyncio_are_routed_too(routed, mock):
    """Answers, streams and failures."""
    router, routing = routed(["east", "west"])
    for _ in range(4):
        router.completion(GROUP, ASK)
    for _ in range(2):
        assert len(list(router.completion(GROUP, ASK, stream=True))) >= 3
    asyncio.run(closed(routing))
    mock.behave = raising(litellm.RateLimitError, "east", "west")
    for _ in range(2):
        with pytest.raises(litellm.RateLimitError):
            router.completion(GROUP, ASK)
    assert learnt(routing) == Counter(mock.calls)
    assert routing.agents[GROUP].decisions == 8


def test_an_answer_from_the_cache_teaches_nothing(routed, mock):
    """It is not the deployment's."""
    router, routing = routed(["east"])

    async def run():
        chosen = await router.async_get_available_deployment(GROUP, {}, ASK)
        call = {"cache_hit": True, "litellm_params": {"model_info": chosen["model_info"]}}
        now = integration.datetime.now()
        await routing.async_log_success_event(call, object(), now, now)

    asyncio.run(run())
    assert learnt(routing) == {"east": 0}
    assert routing.agents[GROUP].decisions == 1


@pytest.mark.parametrize(
    ("exception", "blamed"),
    [
        (error(litellm.AuthenticationError, "x"), True),
        (error(litellm.NotFoundError, "x"), True),
        (error(litellm.ServiceUnavailableError, "x"), True),
        (TimeoutError(), True),
        (ValueError("a broken answer"), True),
        (error(litellm.ContextWindowExceededError, "x"), False),
        (error(litellm.ContentPolicyViolationError, "x"), False),
        (litellm.BudgetExceededError(current_cost=2, max_budget=1), False),
        (ImportError("nobody was called"), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whose_fault_a_failure_is(exception, blamed):
    """The caller's own faults must not make a deployment look bad."""
    assert integration.is_deployments_fault(exception) == blamed


# rewards


@pytest.mark.parametrize("is_async", [False, True])
def test_a_function_of_the_answer_can_be_the_reward(is_async, routed, mock):
    """A judge's score; it may take its time, and have nothing to say."""

    def score(outcome):
        assert outcome.response.choices[0].message.content == "hello"
        assert outcome.call["messages"] == ASK
        return {"east": 0.25, "west": 0.75, "north": None}[outcome.deployment]

    async def slow_score(outcome):
        await asyncio.sleep(0.01)
        return score(outcome)

    router, routing = routed(reward=slow_score if is_async else score)
    play(router, routing, 12)
    agent = routing.agents[GROUP]
    assert agent.rewards["north"] == 0
    assert (agent.estimates["east"], agent.estimates["west"]) == (0.25, 0.75)
    assert agent.open_decisions == []
    assert routing.troubles == 0


@pytest.mark.parametrize("reward", [lambda outcome: 1 / 0, lambda outcome: math.nan, lambda _: "x"])
def test_a_reward_function_that_fails_closes_the_decision(reward, routed, mock, caplog):
    """Requests go on, and the log says what happened, once a minute."""
    router, routing = routed(["east"], reward=reward)
    assert play(router, routing, 3) == 0
    assert learnt(routing) == {"east": 0}
    assert routing.troubles == 3
    assert len([record for record in caplog.records if "ironarm" in record.name]) == 1


def test_an_async_function_and_a_call_without_asyncio(routed, mock):
    """There is no event loop to run it on."""

    async def score(outcome):
        return 1.0

    router, routing = routed(["east"], reward=score)
    router.completion(GROUP, ASK)
    asyncio.run(closed(routing))
    assert learnt(routing) == {"east": 0}
    assert routing.troubles == 1


def test_the_cost_is_what_litellm_computes(routed, mock):
    """Tokens times prices; without prices there is nothing to learn."""
    router, routing = routed(["east"], reward="cost")
    play(router, routing, 1)
    known = routing.agents[GROUP].rewards
    price = {"input_cost_per_token": 0.1, "output_cost_per_token": 1.0}
    for each in router.model_list:
        each["litellm_params"].update(price)
    play(router, routing, 1)
    assert learnt(routing)["east"] == known["east"] + 1
    assert routing.agents[GROUP].estimates["east"] in (0.0, pytest.approx(-5.1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reward": "speed"}, "latency"),
        ({"worst": math.nan}, "NaN"),
        ({"expire_after": 0}, "expire_after"),
        ({"agent": lambda group, ids: None, "path": "x"}, "leave out"),
        ({"policy": "UCB"}, "policy"),
    ],
)
def test_bad_options_are_refused(options, message):
    """Before anything is installed."""
    with pytest.raises(ia.InvalidInput, match=message):
        RobustRouting(**options)


# deployments that come and go


def test_a_new_deployment_is_tried_and_one_that_leaves_is_forgotten(routed, mock):
    """Also if all are replaced."""
    router, routing = routed(["east", "west"])
    play(router, routing, 8)
    (north,) = model_list(["north"])
    router.add_deployment(litellm.types.router.Deployment(**north))
    router.delete_deployment("east")
    play(router, routing, 8)
    assert "north" in mock.calls
    assert set(routing.agents[GROUP].arms) == {"west", "north"}
    router.set_model_list(model_list(["south"]))
    play(router, routing, 2)
    assert routing.agents[GROUP].arms == ("south",)
    assert mock.calls[-2:] == ["south", "south"]


def test_names_under_a_wildcard_share_an_agent(routed, mock):
    """Callers invent them, and an agent takes memory."""
    router, routing = routed(["east"])
    wild = {**model_list(["*"], "mock/*")[0], "model_info": {"id": "wild"}}
    router.add_deployment(litellm.types.router.Deployment(**wild))

    async def run():
        for i in range(5):
            await router.acompletion(f"mock/name-{i}", ASK)
        await closed(routing)

    asyncio.run(run())
    assert set(routing.agents) == {"mock/*"}
    assert learnt(routing, "mock/*") == {"wild": 5}


# agents that keep what they have learnt


def test_what_is_learnt_survives_a_restart(routed, mock, tmp_path):
    """The log of each model group is a file."""
    for turn in (1, 2):
        router, routing = routed(["east", "west"], path=tmp_path / "learnt")
        play(router, routing, 6)
        assert sum(routing.agents[GROUP].rewards.values()) == 6 * turn
        routing.close()
    with ia.DurableAgent(tmp_path / "learnt" / f"{GROUP}.db") as agent:
        assert agent.rewards == Counter(mock.calls)
        assert agent.open_decisions == []


def test_two_proxies_share_an_agent(routed, mock, tmp_path):
    """And may have other deployments, in part."""
    one = routed(["east", "west"], path=tmp_path)
    two = routed(["west", "north"], path=tmp_path)
    for _ in range(5):
        play(*one, 1)
        play(*two, 1)
    for _, routing in (one, two):
        routing.agents[GROUP].flush()
    agent = one[1].agents[GROUP]
    assert agent.rewards == two[1].agents[GROUP].rewards == Counter(mock.calls)
    assert agent.open_decisions == []
    assert one[1].troubles == two[1].troubles == 0


def test_an_agent_on_disk_does_not_hold_up_the_event_loop(routed, mock, tmp_path):
    """It works in a thread of its own."""
    router, routing = routed(["east", "west"], path=tmp_path)
    play(router, routing, 3)
    agent = routing.agents[GROUP]
    inside, go_on = threading.Event(), threading.Event()
    decide = agent.decide

    def slow(among=None):
        inside.set()
        assert go_on.wait(10)
        return decide(among)

    async def run():
        agent.decide = slow
        request = asyncio.create_task(ask(router))
        await until(inside.is_set)  # the loop runs while the agent is busy
        go_on.set()
        await request
        await closed(routing)

    asyncio.run(run())
    assert sum(learnt(routing).values()) == 4


def test_a_request_is_served_even_if_no_decision_can_be_made(routed, mock, caplog, monkeypatch):
    """By a deployment at random; the log says why."""
    # without a seed, 20 requests miss one of three deployments once in 1,100 runs
    monkeypatch.setattr(integration.random, "choice", random.Random(1).choice)

    class Down(ia.Agent):
        def decide(self, among=None):
            raise ia.StoreError("the disk is full.")

    router, routing = routed(seed=None, agent=lambda group, ids: Down(arms=ids))
    assert play(router, routing, 20) == 0
    assert len(set(mock.calls)) == 3
    assert routing.troubles == 20
    assert caplog.text.count("the disk is full") == 1


# installation


def test_the_router_can_be_asked_for_its_settings_and_given_back(routed, mock):
    """It shows the strategy in whose place ours is, and shuffles afterwards."""
    router, routing = routed()
    assert router.get_settings()["routing_strategy"] == "latency-based-routing"
    assert routing.install(router) is routing
    assert litellm.callbacks.count(routing) == 1
    routing.close()
    assert routing not in litellm.callbacks
    play(router, types.SimpleNamespace(open_tickets=0, agents={}), 3)
    assert routing.agents == {}


def test_it_takes_the_place_of_litellms_own_handler(routed, mock):
    """Which gets no more callbacks."""
    router, routing = routed(router={"routing_strategy": "latency-based-routing"})
    kinds = [type(each).__name__ for each in litellm.callbacks]
    assert kinds.count("LowestLatencyLoggingHandler") == 0
    play(router, routing, 3)
    assert sum(learnt(routing).values()) == 3


def test_a_router_that_would_not_ask_is_refused_and_stays_as_it_was(mock, monkeypatch, caplog):
    """As if a release had renamed the slot: no request of the user may fail of it."""
    asked = []
    monkeypatch.setattr(
        litellm.Router, "get_available_deployment", lambda self, model, **more: asked.append(model)
    )
    router = mocked_router(["east"], routing_strategy="latency-based-routing")
    handler = router.lowestlatency_logger
    routing = RobustRouting(seed=1)
    with pytest.raises(ia.errors.MissingExtra, match=r"LiteLLM .* does not ask ironarm's strategy"):
        routing.install(router)
    assert asked == [GROUP]
    assert router.lowestlatency_logger is handler
    assert routing not in litellm.callbacks
    # in the proxy: one line in its log, and requests go on without us
    proxy_server = types.ModuleType("litellm.proxy.proxy_server")
    proxy_server.llm_router = router
    monkeypatch.setitem(sys.modules, "litellm.proxy.proxy_server", proxy_server)
    for _ in range(3):
        asyncio.run(routing.async_pre_call_hook(None, None, {}, "completion"))
    assert [each.levelname for each in caplog.records if "ironarm" in each.name] == ["ERROR"]
    play(router, types.SimpleNamespace(open_tickets=0, agents={}), 3)
    assert len(mock.calls) == 3
    routing.close()


def test_a_request_while_the_strategy_is_installed_is_served(mock):
    """By one of its deployments: the Router's slot is never empty."""
    router = mocked_router()
    look, found = router.get_available_deployment, []

    def in_between(**given):
        found.append(asyncio.run(router.async_get_available_deployment(GROUP, {}, ASK)))
        return look(**given)

    router.get_available_deployment = in_between
    routing = RobustRouting(seed=1).install(router)
    assert [each["model_info"]["id"] in ("east", "west", "north") for each in found] == [True]
    assert (routing.agents, routing.troubles) == ({}, 0)
    routing.close()


def test_installing_makes_no_decision(routed, mock):
    """The Router is asked once whom it asks; that is no request."""
    router, routing = routed()
    assert routing.agents == {}
    assert routing.install(router) is routing
    assert mock.calls == []


def test_one_line_of_the_proxys_configuration_is_enough(mock, monkeypatch):
    """The strategy is made when it is asked for, and installs itself in the Router that
    the proxy has at the next request.
    """
    routing = integration.proxy
    assert routing is integration.proxy
    proxy_server = types.ModuleType("litellm.proxy.proxy_server")
    monkeypatch.setitem(sys.modules, "litellm.proxy.proxy_server", proxy_server)
    hook = (None, None, {}, "completion")
    proxy_server.llm_router = None
    asyncio.run(routing.async_pre_call_hook(*hook))
    for _ in range(2):  # the proxy makes a new one when its settings change
        proxy_server.llm_router = router = mocked_router()
        asyncio.run(routing.async_pre_call_hook(*hook))
        play(router, routing, 2)
    assert sum(learnt(routing).values()) == 4
    routing.close()
    del integration.proxy


def test_an_unknown_name_of_the_module():
    """Only `proxy` is made on demand."""
    with pytest.raises(AttributeError, match="nothing"):
        integration.nothing  # noqa: B018


def test_nothing_is_kept_of_requests_that_are_over(routed, mock):
    """Answers are freed, and no ticket is left."""
    router, routing = routed(["east", "west"])
    play(router, routing, 30)
    gc.collect()
    assert routing._tickets == {}
    outcomes = [each for each in gc.get_objects() if type(each) is integration.Outcome]
    assert outcomes == []


def test_nobody_can_close_a_decision_of_somebody_else(mock, routed):
    """A caller's own model_info comes to callbacks; small numbers name no ticket."""
    router, routing = routed()
    group = integration.RobustRouting.async_get_available_deployments
    open_ones = [asyncio.run(group(routing, GROUP, router.get_model_list())) for _ in range(20)]
    tickets = {one["model_info"][integration.TICKET] for one in open_ones}
    assert len(tickets) == routing.open_tickets == 20
    assert min(tickets) > 10**6  # each is less with a probability of 1e-13
    for guess in (*range(1000), [], {}, None, "1"):
        forged = {"model_info": {integration.TICKET: guess}}
        wrong = litellm.AuthenticationError("no", "mock", "east")
        asyncio.run(routing.async_post_call_failure_deployment_hook(forged, wrong, None))
    assert routing.open_tickets == 20
    assert sum(routing.agents[GROUP].rewards.values()) == 0
    routing.expire(0)


def test_a_judge_that_is_cut_off_leaves_nothing_open(mock, routed):
    """LiteLLM cancels a callback that takes too long: nothing is learnt then."""

    async def judge(outcome):
        raise asyncio.CancelledError

    router, routing = routed(reward=judge)
    play(router, routing, 3)
    assert sum(learnt(routing).values()) == 0
    assert routing.troubles == 3


def test_a_strategy_has_one_router(mock, routed, tmp_path):
    """The one before gets its own strategy back, also when all is closed."""
    first, routing = routed(("east", "west"), path=tmp_path)
    play(first, routing, 2)
    second = mocked_router(("north", "south"))
    routing.install(second)
    play(first, routing, 3)
    play(second, routing, 4)
    assert learnt(routing).keys() == {"north", "south"}
    assert (sum(learnt(routing).values()), routing.late) == (4, 0)
    routing.close()
    for router in (first, second):
        asyncio.run(ask(router))


def test_requests_go_on_while_the_strategy_is_closed(mock, routed, tmp_path):
    """One that is on its way then gets a deployment at random."""
    router, routing = routed(path=tmp_path)
    routing._worker.shutdown()
    found = asyncio.run(routing.async_get_available_deployments(GROUP, router.get_model_list()))
    assert found in router.get_model_list()
    assert routing.troubles == 1


def test_a_folder_that_cannot_be_made_is_refused_at_once():
    """And does not show as random routing."""
    with pytest.raises(ia.InvalidInput, match="cannot be created"):
        RobustRouting(path="/dev/null/agents")


def test_the_proxy_finds_the_hook_of_a_subclass():
    """It looks for it in the class itself."""

    class Mine(RobustRouting):
        pass

    assert "async_pre_call_hook" in vars(Mine)
