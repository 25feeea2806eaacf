"""An agent decides live, learns in any order, survives bad input unchanged, and
continues exactly from a file.
"""

import copy
import inspect
import math
import pickle
import threading
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import ironarm as ia
from ironarm.agent import plot
from ironarm.agent.source_book import HELD
from ironarm.engine.state import State
from ironarm.engine.streams import streams
from tests.agent.playing import NAMES, POLICIES, play, rewards


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: p.label)
def test_an_agent_makes_the_choices_of_the_simulator(policy):
    """With rewards at once, the arms are those that the steps choose in a simulation
    from the same stream.
    """
    agent = ia.Agent(policy, arms=NAMES, seed=3)
    values = rewards(0, 400)
    state = State(policy, 4)
    state.view.stream[:] = streams(3, 0)[2]
    expected = []
    for x in values:
        arm = state.select()
        expected.append(NAMES[arm])
        chance = float(state.view.chance[0])
        state.observe(arm, x + arm, chance)
    assert expected == play(agent, values)


def test_bounded_memory_for_policies_that_hold_nothing_is_what_they_have_anyway():
    """UCB and EXP3 accept it."""
    for policy in (ia.UCB(), ia.EXP3(horizon=100)):
        agent = ia.Agent(policy, arms=2, seed=1, memory="bounded")
        agent.update(agent.select(), 0.5)
        assert agent.inexact == []


@pytest.mark.parametrize(
    "policy",
    [
        ia.EXP3(horizon=4000),
        ia.TsallisINF(),
        ia.policies.EXP3PlusPlus(),
        ia.policies.BARBAR(horizon=4000, scale=0.5),
    ],
    ids=lambda p: p.label,
)
def test_policies_for_a_range_minimise_within_it(policy):
    """The range is that of the rewards as given: the arm with small ones is found."""
    agent = ia.Agent(policy, arms=["high", "low"], seed=1, minimize=True)
    for _ in range(4000):
        arm = agent.select()
        agent.update(arm, {"high": 0.9, "low": 0.1}[arm])
    assert agent.best() == "low"
    assert agent.rewards["low"] > 3500


def test_a_log_is_learnt_as_if_the_agent_had_decided_and_its_gaps_are_filled():
    """After a warm start, arms that lack forced pulls come first."""
    agent = ia.Agent(ia.MedEpsilonGreedy(c=5), arms=["a", "b"], seed=1)
    agent.warm_start([("a", 1.0)] * 50 + [("b", 2.0)] * 2)
    assert agent.decisions == 52
    assert ["b", "b", "b"] == play(agent, [1.0] * 3)
    assert agent.best() == "b"


def test_minimize_prefers_small_rewards_and_shows_them_as_they_are():
    """Latency: the smallest median is best."""
    agent = ia.Agent(ia.RUCB(), arms=["slow", "fast"], seed=1, minimize=True)
    seen = {"slow": [], "fast": []}
    for noise in np.random.default_rng(0).normal(size=200).tolist():
        arm = agent.select()
        seen[arm].append({"slow": 9.0, "fast": 5.0}[arm] + noise)
        agent.update(arm, seen[arm][-1])
    assert agent.best() == "fast"
    # the lower median of the negated rewards is the upper one of the rewards
    assert {
        name: sorted(values)[len(values) // 2] for name, values in seen.items()
    } == agent.estimates
    assert agent.rewards["fast"] > 150


def test_minimize_holds_for_every_way_to_learn():
    """A reward by its decision, one of a log, and one without a decision."""
    agent = ia.Agent(ia.RUCB(), arms=["slow", "fast"], seed=1, minimize=True)
    agent.warm_start([("slow", 9.0), ("fast", 5.0)])
    assert (agent.best(), agent.estimates) == ("fast", {"slow": 9.0, "fast": 5.0})
    agent = ia.Agent(ia.RUCB(), arms=["slow", "fast"], seed=1, minimize=True)
    for decision in [agent.decide(), agent.decide()]:
        agent.learn(decision, {"slow": 9.0, "fast": 5.0}[decision.arm])
    assert (agent.best(), agent.estimates) == ("fast", {"slow": 9.0, "fast": 5.0})
    agent.update("fast", 4.0)
    assert agent.estimates["fast"] == 5.0  # the upper of the two


BAD = [
    (lambda a: a.update("a", math.nan), ia.InvalidInput, "NaN"),
    (lambda a: a.update("a", "3.5"), ia.InvalidInput, "must be a number"),
    (lambda a: a.update("a", None), ia.InvalidInput, "must be a number"),
    (lambda a: a.learn_batch(5), ia.InvalidInput, "expected pairs"),
    (lambda a: a.update("A1", 1.0), ia.errors.UnknownArm, "the arms are"),
    (lambda a: a.update(["a"], 1.0), ia.errors.UnknownArm, "the arms are"),
    (lambda a: a.learn(99, 1.0), ia.errors.UnknownDecision, "no decision 99"),
    (lambda a: a.learn(0, 1.0), ia.errors.UnknownDecision, "closed"),
    (lambda a: a.learn("x", 1.0), ia.errors.UnknownDecision, "ids come from"),
    (lambda a: a.learn(1, math.nan), ia.InvalidInput, "NaN"),
    (lambda a: a.cancel(0), ia.errors.UnknownDecision, "closed"),
    (lambda a: a.learn_batch([(1, 1.0), (99, 1.0)]), ia.errors.UnknownDecision, "99"),
    (lambda a: a.learn_batch([(1, 1.0), 2]), ia.InvalidInput, "expected pairs"),
    (
        lambda a: a.warm_start(["ab", 1]),
        ia.InvalidInput,
        "expected pairs|unknown arm|must be a number",
    ),
    (lambda a: a.warm_start([(["a"], 1.0)]), ia.errors.UnknownArm, "the arms are"),
    (lambda a: a.remove_arm(["a"]), ia.errors.UnknownArm, "the arms are"),
    (lambda a: a.learn_batch([(1, 1.0), (1, 1.0)]), ia.InvalidInput, "twice"),
    (lambda a: a.learn_batch([(1, 1.0), (2, math.nan)]), ia.InvalidInput, "NaN"),
    (lambda a: a.warm_start([("a", 1.0), ("z", 1.0)]), ia.errors.UnknownArm, "'z'"),
    (lambda a: a.warm_start([("a", 1.0), ("b", math.nan)]), ia.InvalidInput, "NaN"),
    (lambda a: a.add_arm("a"), ia.InvalidInput, "already"),
    (lambda a: a.add_arm(1.5), ia.InvalidInput, "string or a whole number"),
    (lambda a: a.remove_arm("z"), ia.errors.UnknownArm, "'z'"),
    (lambda a: a.expire(-1), ia.InvalidInput, "older_than"),
]


@pytest.mark.parametrize(("act", "error", "message"), BAD)
def test_bad_input_gets_a_sentence_and_changes_nothing(act, error, message):
    """The agent is as it was, to the last bit."""
    agent = ia.Agent(ia.MedEUCB(b=1, block=50), arms=["a", "b", "c"], seed=1)
    agent.learn(agent.decide().id, 1.0)
    agent.decide()
    agent.decide()
    before = (
        agent._core.state.dump(),
        agent.open_decisions,
        agent.arms,
        agent._core.state.view.stream.tolist(),
        agent._core.open.dump(),
    )
    with pytest.raises(error, match=message):
        act(agent)
    assert before == (
        agent._core.state.dump(),
        agent.open_decisions,
        agent.arms,
        agent._core.state.view.stream.tolist(),
        agent._core.open.dump(),
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(policy="MedEUCB", arms=["a"]), "expected a policy"),
        (dict(policy=ia.UCB(), arms=[]), "empty"),
        (dict(policy=ia.UCB(), arms="abc"), "list of names"),
        (dict(policy=ia.UCB(), arms=None), "list of names"),
        (dict(policy=ia.UCB(), arms=["a", "a"]), "name of its own"),
        (dict(policy=ia.UCB(), arms=[1.5]), "string or a whole number"),
        (dict(policy=ia.UCB(), arms=["a"], memory="small"), "memory"),
        (dict(policy=ia.CatoniUCB(), arms=["a"], memory="bounded"), "needs all rewards"),
        (dict(policy=ia.UCB(), arms=["a"], seed=-1), "seed"),
    ],
)
def test_an_agent_that_cannot_be_is_refused(arguments, message):
    """Each with a sentence."""
    with pytest.raises(ia.InvalidInput, match=message):
        ia.Agent(**arguments)


def test_bounded_memory_is_exact_for_independent_rewards_and_small():
    """20,000 attacked rewards of one arm: the same medians as with all of them, from
    a few hundred values.
    """
    exact = ia.Agent(ia.RUCB(), arms=["a"], seed=1)
    bounded = ia.Agent(ia.RUCB(), arms=["a"], seed=1, memory="bounded")
    generator = np.random.default_rng(3)
    for i in range(20_000):
        x = float(generator.normal(20) if generator.random() > 0.3 else -1800 * generator.random())
        exact.update("a", x)
        bounded.update("a", x)
        if i % 50 == 0:
            assert exact.estimates == bounded.estimates
    assert bounded.inexact == []
    assert bounded._core.state.view.pool.nbytes < 20_000


def test_bounded_memory_says_when_it_stops_being_exact(tmp_path):
    """A drift drives the median out of its window: one warning, and the arm is
    listed; also after a load.
    """
    agent = ia.Agent(ia.RUCB(), arms=["a"], seed=1, memory="bounded")
    for i in range(2000):
        agent.update("a", math.sin(i))
    with pytest.warns(ia.RewardWarning, match="no longer exact"):
        for i in range(20_000):
            agent.update("a", 100.0 + math.sin(i))
    assert agent.inexact == ["a"]
    agent.save(tmp_path / "a.json")
    loaded = ia.Agent.load(tmp_path / "a.json")
    assert loaded.inexact == ["a"]
    assert agent.estimates == loaded.estimates


@pytest.mark.parametrize("with_tickets", [False, True])
def test_several_threads_lose_nothing(with_tickets):
    """Four threads, decisions and rewards interleaved: all counted, none open."""
    agent = ia.Agent(ia.MedEUCB(b=1, block=50), arms=NAMES, seed=1)

    def work(seed):
        for x in rewards(seed, 800):
            if with_tickets:
                agent.learn(agent.decide().id, x)
            else:
                agent.update(agent.select(), x)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert agent.decisions == sum(agent.rewards.values()) == 3200
    assert agent._core.state.view.n.sum() == 3200
    assert agent.open_decisions == []


def test_catoni_estimates_do_not_depend_on_the_order_or_on_decisions():
    """Fed before the first decision, or with few rewards: near the middle, whatever
    the order.
    """
    agent = ia.Agent(ia.CatoniUCB(variance=16), arms=["x"], seed=1)
    for value in (1.0, 5.0, 9.0):
        agent.update("x", value)
    assert agent.estimates["x"] == pytest.approx(5.0)
    estimates = []
    for values in ([1e6, *[0.0] * 7], [*[0.0] * 7, 1e6]):
        agent = ia.Agent(ia.CatoniUCB(), arms=["x", "y"], seed=1)
        agent.warm_start([("y", 0.0)] * 1000 + [("x", value) for value in values])
        estimates.append(agent.estimates["x"])
    assert estimates[0] == pytest.approx(estimates[1], rel=1e-9)


def test_numbers_of_other_kinds_are_welcome():
    """NumPy's scalars, fractions and whole numbers as rewards; NumPy's count of
    arms; huge whole numbers as infinities.
    """
    agent = ia.Agent(ia.RUCB(), arms=np.int64(2), seed=2**127 + 12345)
    for reward in (np.float32(1), np.int64(1), np.bool_(True), True, 1, Fraction(1)):
        agent.update(0, reward)
    assert agent.estimates[0] == 1.0
    agent.update(1, 10**400)
    assert agent.estimates[1] == math.inf
    assert agent._core.seed == 2**127 + 12345


def test_the_table_shows_names_counts_and_the_best_arm():
    """`repr` is a readable table."""
    agent = ia.Agent(ia.UCB(), arms=["left", 7], seed=1)
    agent.update("left", 1.0)
    agent.update(7, 2.5)
    agent.decide()
    assert repr(agent).splitlines() == [
        "Agent(UCB(alpha=2.1, sigma=1.0), 1 decision)",
        "  arm   rewards  open  estimate",
        "  left        1     0         1",
        "* 7           1     1       2.5",
    ]


def test_a_pickled_or_copied_agent_goes_on_alike():
    """With its open decisions, and for a policy that draws."""
    agent = ia.Agent(ia.EpsilonGreedy(), arms=["a", "b", "c"], seed=4, minimize=True)
    play_on = [agent.decide() for _ in range(6)]
    agent.learn(play_on[2], 1.5)
    others = [pickle.loads(pickle.dumps(agent)), copy.deepcopy(agent)]
    chosen = []
    for one in (agent, *others):
        one.learn(play_on[0], 2.5)
        chosen.append([one.select() for _ in range(40)])
    assert chosen[0] == chosen[1] == chosen[2]
    assert agent.arms == others[0].arms
    others[0].add_arm("d")
    assert agent.arms == ("a", "b", "c")


def test_a_decimal_is_a_number():
    """As a reward, as a parameter, as a horizon; but not one that is NaN."""
    agent = ia.Agent(ia.UCB(sigma=Decimal("0.5")), arms=Decimal(2), seed=1)
    agent.update(agent.select(), Decimal("1.25"))
    assert sorted(agent.estimates.values())[0] == 1.25
    assert ia.MedEUCB(block=Decimal("2000")).block == 2000
    for bad in (Decimal("NaN"), Decimal("sNaN")):
        with pytest.raises(ia.InvalidInput, match="must not be NaN"):
            agent.update(0, bad)
        with pytest.raises(ia.InvalidInput, match="must be finite"):
            ia.UCB(alpha=bad)


def test_the_default_number_of_sources_held_is_the_one_that_files_leave_out():
    """The signature shows it as a number, and files hold only another one."""
    default = inspect.signature(ia.Agent).parameters["sources_held"].default
    assert default == HELD


@pytest.mark.parametrize("durable", [False, True])
def test_decisions_do_not_wait_for_a_figure(durable, monkeypatch, tmp_path):
    """It is drawn from what was seen at one moment."""
    pytest.importorskip("matplotlib")
    kind = partial(ia.DurableAgent, tmp_path / "agent.db") if durable else ia.Agent
    agent = kind(ia.UCB(), arms=["a", "b"], seed=1)
    held, lock = [], (agent._shared.lock if durable else agent._lock)
    monkeypatch.setattr(plot, "plot_agent", lambda *_: held.append(lock._is_owned()))
    agent.plot()
    assert held == [False]
