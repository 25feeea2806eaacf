"""The client: the names of `Agent`, the library's errors, nothing done twice."""

import asyncio
import inspect
import itertools
import json
import math
import sys
import threading
import time

import pytest

import ironarm as ia
from ironarm.service.calls import Backoff, Pause
from ironarm.service.remote import AgentCalls
from ironarm.testing import check_agent
from tests.service.running import ask, free_port
from tests.service.serving import BadLine, serving

BUSY = b"HTTP/1.1 503 Busy\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n"
HTML = b"HTTP/1.1 %d X\r\ncontent-length: 15\r\n\r\n<html>hi</html>"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """A service with keys; each test makes agents of its own."""
    with serving(tmp_path_factory.mktemp("service"), keys=True) as running:
        yield running
        assert running.errors.read_text() == ""


@pytest.fixture
def keyed(service):
    """Make clients with keys, and close them."""
    made = []

    def make(key):
        made.append(ia.Client(service.url, key))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def client(service, keyed):
    return keyed(service.admin)


@pytest.fixture
def short_pauses(monkeypatch):
    """Let nobody wait long for what is sure to fail."""
    monkeypatch.setattr("ironarm.service.calls.FIRST_PAUSE", 0.005)


@pytest.fixture
def name(request):
    """A name for an agent of this test."""
    return "".join(c if c.isalnum() else "-" for c in request.node.name)[:100]


class Waiting:
    """An `AsyncClient` behind the interface of `Client`: one test tests both."""

    def __init__(self, *args, **options):
        self._loop = asyncio.new_event_loop()
        self._inner = ia.AsyncClient(*args, **options)

    def agent(self, name):
        return WaitingAgent(self._loop, self._inner.agent(name))

    def close(self):
        self._loop.run_until_complete(self._inner.close())
        self._loop.close()


class WaitingAgent:
    def __init__(self, loop, inner):
        self._loop, self._inner = loop, inner

    def __getattr__(self, name):
        value = getattr(self._inner, name)
        if inspect.iscoroutine(value):
            return self._loop.run_until_complete(value)
        return lambda *args, **named: self._loop.run_until_complete(value(*args, **named))


@pytest.fixture(params=[ia.Client, Waiting], ids=["sync", "async"])
def either(request, service):
    """Make a client of either kind, over a line that does what `fate` says."""
    made = []

    def make(fate, key=service.admin, **options):
        line = BadLine(service.port, fate)
        made.append((line, request.param(line.url, key, **options)))
        return line, made[-1][1]

    yield make
    for line, client in made:
        client.close()
        line.close()


def test_an_agent_at_the_service_does_what_agents_do(service, name):
    """Code moves by changing one line: the contract of all live agents."""
    numbers = itertools.count()
    with ia.Client(service.url, service.admin) as client:
        check_agent(lambda policy, **more: client.create(f"{name}-{next(numbers)}", policy, **more))


def test_with_asyncio_too(service, name):
    """Its calls are awaited, and give the same."""
    numbers, loop = itertools.count(), asyncio.new_event_loop()
    client = ia.AsyncClient(service.url, service.admin)

    def make(policy, **more):
        return loop.run_until_complete(client.create(f"{name}-{next(numbers)}", policy, **more))

    try:
        check_agent(make, loop.run_until_complete)
    finally:
        loop.run_until_complete(client.close())
        loop.close()


def test_an_arm_that_only_failed_has_the_worst_estimate(service, name):
    """JSON has no infinities, and yet it is not an arm without rewards."""
    with ia.Client(service.url, service.admin) as client:
        for minimize, worst in ((False, -math.inf), (True, math.inf)):
            agent = client.create(f"{name}-{minimize}", ia.RUCB(), ["a", "b"], minimize=minimize)
            agent.fail(agent.decide())
            assert agent.estimates["a"] == worst
            assert math.isnan(agent.estimates["b"])


def test_names_and_parameters_are_those_of_a_durable_agent():
    """What the service cannot do is missing; the rest is there, and called alike."""
    of_agent = {name for name in vars(ia.DurableAgent) if not name.startswith("_")}
    of_client = {name for name in vars(AgentCalls) if not name.startswith("_")}
    here = {"policy", "open_decisions", "inexact", "warm_start", "plot", "flush", "close"}
    assert here == of_agent - of_client
    assert {"name", "fail", "archive"} == of_client - of_agent
    for shared in of_agent & of_client:
        ours, theirs = getattr(AgentCalls, shared), getattr(ia.DurableAgent, shared)
        if not isinstance(theirs, property):
            assert list(inspect.signature(theirs).parameters) == list(
                inspect.signature(ours).parameters
            )
        assert inspect.getdoc(ours)


def once(fate):
    """Treat the first try of each request so, and let the next one pass."""
    return lambda number: fate if number % 2 == 0 else "pass"


@pytest.mark.parametrize(
    "fate",
    [
        once("drop"),
        once("lose"),
        lambda number: "pass" if number % 3 == 2 else BUSY,
        lambda number: ["lose", BUSY, "drop", "lose", "pass"][number % 5],
    ],
    ids=["dropped", "lost after the commit", "503 twice", "all of it"],
)
@pytest.mark.usefixtures("short_pauses")
def test_nothing_is_done_twice_however_bad_the_line(client, either, service, name, fate):
    """Every call is tried again until it works, and its entry is in the log once."""
    client.create(name, ia.RUCB(), arms=["a", "b"], seed=1)
    _, bad = either(fate)
    agent = bad.agent(name)
    first, second, third, fourth = (agent.decide() for _ in range(4))
    assert len({first.id, second.id, third.id, fourth.id}) == 4
    agent.learn(first, 1.0)
    agent.fail(second)
    agent.learn_batch([(third, 2.0)])
    agent.cancel(fourth)
    agent.update(agent.select(), 3.0)
    agent.update("a", 4.0)
    agent.update("a", 4.0)  # another observation of the same value
    agent.add_arm("c")
    agent.remove_arm("c")
    kinds = [entry["kind"] for entry in log_of(service, name)]
    rewards = ["rewarded", "failed", "rewarded", "cancelled"]
    more = ["decided", "rewarded", "observed", "observed", "added", "removed"]
    assert ["created", *4 * ["decided"], *rewards, *more] == kinds


def log_of(service, name):
    """Return the entries of an agent's log."""
    _, text = ask(service.port, "GET", f"/v1/agents/{name}/log", None, service.admin)
    return [json.loads(line) for line in text.splitlines()]


def test_a_call_has_one_idempotency_key_and_the_next_has_another(client, either, name):
    """However often a decision is asked for, it is the same question."""
    client.create(name, ia.RUCB(), arms=["a", "b"])
    line, bad = either(lambda number: ["drop", BUSY, "pass", "pass"][number])
    agent = bad.agent(name)
    agent.decide()
    agent.decide()
    keys = [
        next(part for part in request.split(b"\r\n") if part.lower().startswith(b"idempotency"))
        for request in line.requests
    ]
    assert keys[0] == keys[1] == keys[2] != keys[3]


def test_update_after_an_unknown_outcome_means_the_same_decision(client, either, service, name):
    """The caller tries again where the client has given up: still one reward."""
    client.create(name, ia.RUCB(), arms=["a", "b"])
    _, bad = either(lambda number: "lose" if number == 1 else "pass", patience=0)
    agent = bad.agent(name)
    arm = agent.select()
    with pytest.raises(ia.StoreError, match="may be done or not"):
        agent.update(arm, 1.0)
    agent.update(arm, 1.0)
    assert ["created", "decided", "rewarded"] == [each["kind"] for each in log_of(service, name)]


def test_a_request_that_was_never_sent_did_nothing():
    """Nobody listens there, and the error says so."""
    with ia.Client(f"http://127.0.0.1:{free_port()}", patience=0) as nobody:
        with pytest.raises(ia.StoreError, match="Nothing was done"):
            nobody.agent("ads").decide()
        with pytest.raises(ia.StoreError, match="refused"):
            nobody.agents()


def test_lines_that_come_too_fast_are_sent_again_by_themselves(client, either, name):
    """A batch is answered line by line."""
    agent = client.create(name, ia.RUCB(), arms=["a", "b"])
    first, second = agent.decide(), agent.decide()
    slow = {"status": 429, "title": "", "detail": "too fast", "error": "StoreError"}
    body = b"\n".join(json.dumps(each).encode() for each in ({"status": 200}, slow))
    head = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body)
    line, bad = either(lambda number: head + body if number == 0 else "pass")
    bad.agent(name).learn_batch([(first, 1.0), (second, 2.0)])
    assert 2 == line.requests[0].count(b'"id"')
    assert json.loads(line.requests[1].partition(b"\r\n\r\n")[2])["id"] == second.id
    assert agent.rewards == {"a": 0, "b": 1}  # the first answer was not the service's


def test_a_batch_with_a_bad_decision_learns_the_others(client, name):
    """The first refusal is raised, and says how many there were."""
    agent = client.create(name, ia.RUCB(), arms=["a", "b"])
    good, closed = agent.decide(), agent.decide()
    agent.cancel(closed)
    with pytest.raises(ia.errors.ClosedDecision) as caught:
        agent.learn_batch([(closed, 1.0), (good, 2.0)])
    assert ["1 of 2 rewards were refused; the others are learnt."] == caught.value.__notes__
    assert sum(agent.rewards.values()) == 1
    with pytest.raises(ia.InvalidInput, match="in the batch twice"):
        agent.learn_batch([(good, 2.0), (good, 3.0)])
    agent.learn_batch([])


def test_bad_rewards_are_not_even_sent(client, either, name):
    """NaN, text, and the infinity that is no failure."""
    client.create(name, ia.RUCB(), arms=["a", "b"])
    line, bad = either(lambda number: "pass")
    agent = bad.agent(name)
    decision = agent.decide()
    agent.summary()  # so that it is known whether small is good
    sent = len(line.requests)
    for reward in (math.nan, math.inf, "5", None):
        for learn in (
            lambda x: agent.learn(decision, x),
            lambda x: agent.update("a", x),
            lambda x: agent.learn_batch([(decision, 1.0), (agent, x)]),
        ):
            with pytest.raises(ia.InvalidInput):
                learn(reward)
    with pytest.raises(ia.InvalidInput):
        agent.learn(decision, 1.0, source=1.5)
    with pytest.raises(ia.errors.UnknownDecision):
        agent.learn(17, 1.0)
    with pytest.raises(ia.InvalidInput, match="decide\\(\\) and fail"):
        agent.update("a", -math.inf)
    assert sent == len(line.requests)


def test_the_worst_reward_is_a_failure(client, keyed, service, name):
    """Minus infinity, or infinity where small is good; `fail` needs no knowledge."""
    agent = client.create(name, ia.RUCB(), arms=["a"], minimize=True)
    same = client.agent(name)  # which must ask
    with pytest.raises(ia.InvalidInput, match="the best"):
        same.learn(same.decide(), -math.inf)
    same.learn(same.decide(), math.inf)
    agent.learn(agent.decide(), math.inf)
    posts = keyed(service.key("reward")).agent(name)
    decision = agent.decide()
    with pytest.raises(ia.InvalidInput, match="may not read"):
        posts.learn(decision, math.inf)
    posts.fail(decision)
    posts.fail(decision)
    with pytest.raises(ia.errors.OtherReward, match="a failure"):
        posts.learn(decision, 2.0)
    kinds = [entry["kind"] for entry in log_of(service, name)]
    assert kinds.count("failed") == 3
    finite = client.create(f"{name}-mean", ia.UCB(), arms=["a"])
    with pytest.raises(ia.InvalidInput, match="failed_reward"):
        finite.fail(finite.decide())
    stated = client.create(f"{name}-stated", ia.UCB(), arms=["a"], failed_reward=-9.0)
    stated.fail(stated.decide())
    assert stated.estimates == {"a": -9.0}


def test_errors_are_the_librarys_own(client, keyed, service, name):
    """Each with the sentence of the service."""
    agent = client.create(name, "RUCB(omega=2)", arms=["a", "b"])
    other = client.agent(f"{name}-other")
    with pytest.raises(ia.errors.UnknownAgent, match="there is no agent"):
        other.decide()
    with pytest.raises(LookupError):
        other.summary()
    with pytest.raises(ia.errors.OtherAgent, match="differs in arms"):
        client.create(name, "RUCB(omega=2)", arms=["a"])
    with pytest.raises(ia.InvalidInput, match="policy"):
        client.create(f"{name}-other", "Nonsense()", arms=["a"])
    with pytest.raises(ia.InvalidInput, match="read the same"):
        client.create(f"{name}-other", ia.RUCB(), arms=[7, "7"])
    with pytest.raises(ia.InvalidInput, match="read the same"):
        (client.create(f"{name}-7", ia.RUCB(), arms=[7])).add_arm("7")
    with pytest.raises(ia.InvalidInput, match="agent's name"):
        client.agent("../keys")
    with pytest.raises(ia.InvalidInput, match="arms is missing"):
        client.create(f"{name}-other")
    with pytest.raises(ia.InvalidInput, match="last arm"):
        client.create(f"{name}-one", ia.RUCB(), arms=["a"]).remove_arm("a")
    decision = agent.decide()
    agent.cancel(decision)
    with pytest.raises(ia.errors.ClosedDecision, match="cancelled"):
        agent.learn(decision, 1.0)
    with pytest.raises(ia.InvalidInput, match="never"):
        agent.expire(3600)
    agent.archive()
    agent.archive()
    with pytest.raises(ia.errors.ClosedDecision, match="archived"):
        agent.decide()
    with pytest.raises(ia.errors.NotAllowed, match="send a key"):
        keyed(None).agents()
    with pytest.raises(PermissionError, match="may not decide"):
        keyed(service.key("reward")).agent(name).decide()
    with pytest.raises(ia.errors.NotAllowed, match="unknown"):
        keyed("ia_" + 12 * "a" + "_" + 43 * "a").agents()


def test_what_the_service_expires_itself_needs_no_expiring(client, name):
    """An age at which the service has closed all gives 0; a lower one, an error."""
    agent = client.create(name, ia.RUCB(), arms=["a"], reward_within=60.0, missing_reward=0.0)
    assert 0 == agent.expire(3600)
    with pytest.raises(ia.InvalidInput, match="after 60 seconds"):
        agent.expire(10)


@pytest.mark.parametrize("arm", ["a/b", "../a", ".a", "?x=1", "ä #%2F", "7", 8, -3])
def test_arms_of_any_name_come_and_go(client, name, arm):
    """Slashes, dots and numbers are names like others; but for dots alone, which many
    clients take for a folder.
    """
    with pytest.raises(ia.InvalidInput, match="dots"):
        client.create(name, ia.RUCB(), arms=["first", ".."])
    agent = client.create(name, ia.RUCB(), arms=["first", arm])
    agent.add_arm(arm)
    assert agent.arms == ("first", arm)
    agent.update(arm, 2.0)
    assert agent.rewards[arm] == 1
    agent.remove_arm(arm)
    assert agent.arms == ("first",)


def test_many_threads_share_a_client(client, name):
    """Each reward finds a decision."""
    agent = client.create(name, ia.RUCB(), arms=["a", "b"])
    failed = []

    def work():
        try:
            for _ in range(20):
                agent.update(agent.select(), 1.0)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    summary = agent.summary()
    assert (160, 0) == (summary["decisions"], summary["open"])
    assert sum(agent.rewards.values()) == 160


def test_tasks_share_an_async_client(client, service, name):
    """So do coroutines; properties are awaited."""
    client.create(name, ia.RUCB(), arms=["a", "b"])

    async def work():
        async with ia.AsyncClient(service.url, service.admin) as many:
            agent = many.agent(name)
            decisions = await asyncio.gather(*(agent.decide() for _ in range(50)))
            await asyncio.gather(*(agent.learn(each, 1.0) for each in decisions))
            made = await many.create(f"{name}-new", ia.RUCB(), arms=["a"])
            return await agent.decisions, await agent.rewards, await made.arms

    decisions, rewards, arms = asyncio.run(work())
    assert (50, 50, ("a",)) == (decisions, sum(rewards.values()), arms)


def test_a_key_with_a_rate_slows_the_client_down_and_loses_nothing(client, keyed, service, name):
    """It waits as long as it is told to."""
    agent = client.create(name, ia.RUCB(), arms=["a"])
    slow = keyed(service.key("decide", rate=1)).agent(name)
    began = time.monotonic()
    for _ in range(3):  # 2 at once, then 1 a second
        slow.decide()
    assert time.monotonic() - began > 0.9  # also if the first two took long
    assert agent.decisions == 3


def test_pauses_double_are_random_and_end():
    """A Retry-After comes on top; what would end too late is not begun."""
    error = ia.StoreError("no")
    for tries, most in ((0, 0.1), (1, 0.2), (2, 0.4), (9, 5.0)):
        backoff = Backoff(100.0)
        backoff._tries = tries
        assert most / 2 <= backoff.pause(None, error).seconds <= most
    assert len({Backoff(100.0).pause(None, error) for _ in range(5)}) == 5
    assert 3 <= Backoff(100.0).pause("3", error).seconds <= 3.1
    assert Backoff(100.0).pause("Wed, 21 Oct 2015", error).seconds <= 0.1
    for asked, patience in (("100", 99.0), ("9" * 400, 1e6), (None, 0)):
        with pytest.raises(ia.StoreError, match="no"):
            Backoff(patience).pause(asked, error)
    assert isinstance(Backoff(1.0).pause(None, error), Pause)


def test_who_is_not_there_is_a_store_error_after_a_while(either):
    """It says so, and what to think of it."""
    line, bad = either(lambda number: "drop", patience=1.5)
    with pytest.raises(ia.StoreError, match="did not answer"):
        bad.agent("ads").decide()
    assert len(line.requests) > 1
    line, bad = either(lambda number: BUSY, patience=0)
    with pytest.raises(ia.StoreError, match="503"):
        bad.agent("ads").summary()
    assert len(line.requests) == 1


def test_an_answer_that_takes_too_long_is_a_lost_one(client, either, service, name):
    """The client waits `timeout` seconds for it, and asks again."""
    client.create(name, ia.RUCB(), arms=["a"])

    def slow(number):
        if number == 0:
            time.sleep(1.0)
        return "pass"

    _, bad = either(slow, timeout=0.3)
    bad.agent(name).decide()
    time.sleep(1.0)  # until the first one has arrived too
    assert ["created", "decided"] == [entry["kind"] for entry in log_of(service, name)]


@pytest.mark.parametrize(
    ("status", "error"), [(200, ia.StoreError), (404, ia.InvalidInput), (500, ia.StoreError)]
)
def test_an_address_of_something_else_is_said_to_be_one(either, status, error):
    """Whatever another server answers."""
    _, bad = either(lambda number: HTML % status, patience=0)
    agent = bad.agent("ads")
    for work in (agent.decide, agent.summary, lambda: agent.update("a", 1.0)):
        with pytest.raises(error, match="address of an ironarm service"):
            work()


def test_bad_settings_are_refused():
    """With a sentence that does not repeat the key."""
    for url in ("", "127.0.0.1:80", "ftp://x", "http://[", "http://", "http://x:99999999"):
        with pytest.raises(ia.InvalidInput, match="cannot use the address"):
            ia.Client(url)
    for key in ("", "a b", "a\nb", "ä"):
        with pytest.raises(ia.InvalidInput, match="a key is text"):
            ia.Client("http://x", key)
    with pytest.raises(ia.InvalidInput, match="timeout"):
        ia.Client("http://x", timeout=0)
    with pytest.raises(ia.InvalidInput, match="cannot use the address"):
        ia.Client("http://x", nonsense=1)
    client = ia.Client("http://x", "ia_secret")
    assert "secret" not in repr(client) + repr(client.agent("ads"))
    client.close()
    with pytest.raises(ia.InvalidInput, match="is closed"):
        client.agents()


def test_without_the_extra_the_error_names_it(monkeypatch):
    """The surface loads the client on first use."""
    monkeypatch.delattr(ia, "Client")  # which was loaded before
    monkeypatch.delitem(sys.modules, "ironarm.service.client")
    monkeypatch.delattr("ironarm.service.client")
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(ia.errors.MissingExtra, match=r"\[serve\]"):
        ia.Client  # noqa: B018
