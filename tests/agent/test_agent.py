"""An agent decides live, learns in any order, survives bad input unchanged, and
continues exactly from a file.
"""

import json
import math
import threading
from fractions import Fraction

import numpy as np
import pytest

import ironarm as ia
from ironarm.engine.state import State
from ironarm.engine.streams import streams

POLICIES = [
    ia.MedEUCB(b=1, block=60),
    ia.MedEpsilonGreedy(c=2),
    ia.UCB(),
    ia.EpsilonGreedy(c=2),
    ia.RUCB(median="upper"),
    ia.EXP3(horizon=500, reward_range=(-3, 6)),
    ia.CatoniUCB(),
    ia.TrimmedUCB(alpha=0.2),
    ia.TrimmedEpsilonGreedy(alpha=0.2, c=2),
    ia.ThompsonGaussian(),
    ia.TsallisINF(reward_range=(-3, 6)),
    ia.TsallisINF(reward_range=(-3, 6), variance="reduced"),
    ia.EXP3PlusPlus(reward_range=(-3, 6)),
    ia.BARBAR(horizon=500, scale=0.5, reward_range=(-3, 6)),
    ia.CRUCB(alpha=0.2),
    ia.CRUCB(alpha=0.2, mean="shorth"),
    ia.HuberUCB(epsilon=0.01),
    ia.MedianOfMeansUCB(v=0.3),
    ia.TruncatedMeanUCB(u=1, epsilon=0.5),
]
NAMES = ["a", "b", "c", "d"]


def rewards(seed, count):
    values = np.random.default_rng(seed).normal(size=count)
    values[::11] = np.inf
    values[5::17] = -np.inf
    return values.tolist()


def play(agent, values):
    chosen = []
    for x in values:
        arm = agent.select()
        chosen.append(arm)
        agent.update(arm, x + agent.arms.index(arm))
    return chosen


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
        arm = state.call("select")(state.handle)
        expected.append(NAMES[arm])
        chance = float(state.view.chance[0])
        while not state.call("observe")(state.handle, arm, x + arm, chance, 1):
            state.grow()
    assert expected == play(agent, values)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: p.label)
def test_saved_and_loaded_it_continues_with_the_same_choices(policy, tmp_path):
    """A save and a load in the middle, with decisions open and infinite rewards
    held, change nothing.
    """
    agent = ia.Agent(policy, arms=NAMES, seed=5)
    play(agent, rewards(1, 150))
    late = [agent.decide() for _ in range(6)]
    agent.save(tmp_path / "agent.json")
    loaded = ia.Agent.load(tmp_path / "agent.json")
    assert repr(agent) == repr(loaded)
    assert agent.open_decisions == loaded.open_decisions
    for decision in reversed(late):
        agent.learn(decision.id, 1.5)
        loaded.learn(decision.id, 1.5)
    more = rewards(2, 250)
    assert play(agent, more) == play(loaded, more)
    assert repr(agent) == repr(loaded)


def test_bounded_memory_for_policies_that_hold_nothing_is_what_they_have_anyway():
    """UCB and EXP3 accept it."""
    for policy in (ia.UCB(), ia.EXP3(horizon=100)):
        agent = ia.Agent(policy, arms=2, seed=1, memory="bounded")
        agent.update(agent.select(), 0.5)
        assert agent.inexact == []


@pytest.mark.parametrize(
    "policy",
    [ia.EXP3(horizon=4000), ia.TsallisINF(), ia.EXP3PlusPlus(), ia.BARBAR(horizon=4000, scale=0.5)],
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


def test_late_rewards_in_any_order_give_the_same_estimates_as_at_once():
    """Estimates count rewards, whenever they come."""
    agent = ia.Agent(ia.RUCB(), arms=NAMES, seed=1)
    decisions = [agent.decide() for _ in range(40)]
    values = {d.id: float(i % 7) for i, d in enumerate(decisions)}
    for decision in decisions[::-1]:
        agent.learn(decision.id, values[decision.id])
    for name in NAMES:
        own = sorted(values[d.id] for d in decisions if d.arm == name)
        assert own[(len(own) - 1) // 2] == agent.estimates[name]
    assert agent.open_decisions == []


def test_an_arm_without_a_reward_comes_first_fewest_open_first():
    """While rewards are late, arms are tried in turn; a reward for one leaves the
    others first.
    """
    agent = ia.Agent(ia.UCB(), arms=["a", "b", "c"], seed=1)
    assert ["a", "b", "c", "a", "b"] == [agent.select() for _ in range(5)]
    agent.update("a", 1.0)
    assert ["c", "b", "c"] == [agent.select() for _ in range(3)]


def test_update_closes_the_oldest_open_decision_or_is_an_extra_observation():
    """The count for the bonus is rewards plus open decisions."""
    agent = ia.Agent(ia.UCB(), arms=["a", "b"], seed=1)
    first = agent.decide()
    agent.update("a", 1.0)
    with pytest.raises(ia.UnknownDecision, match="closed"):
        agent.learn(first.id, 2.0)
    agent.update("a", 3.0)
    assert {"a": 2, "b": 0} == agent.rewards
    assert agent.estimates["a"] == 2.0
    assert [2, 0] == agent._state.view.n.tolist()


def test_cancel_and_expire_take_open_decisions_back():
    """A cancelled decision counts as a round but not for the bonus."""
    agent = ia.Agent(ia.UCB(), arms=["a", "b"], seed=1)
    decision = agent.decide()
    agent.cancel(decision.id)
    assert agent.decisions == 1
    assert [0, 0] == agent._state.view.n.tolist()
    assert agent.select() == "a"
    agent.decide()
    assert agent.expire(older_than=3600) == 0
    assert agent.expire(older_than=0) == 2
    assert [0, 0] == agent._state.view.n.tolist()
    agent.decide()
    agent.select()
    agent.decide()
    assert agent.expire(older_than=0) == 3  # tickets and others, in whatever order they stand
    assert [0, 0] == agent._state.view.n.tolist()
    agent.update("a", 1.0)  # nothing open: an extra observation
    assert [1, 0] == agent._state.view.n.tolist()


def test_exp3_weighs_a_late_reward_by_the_chance_of_its_decision():
    """The log-weight grows by gamma y / (p K) with the p at the time of the
    decision.
    """
    agent = ia.Agent(ia.EXP3(gamma=0.5), arms=["a", "b"], seed=2)
    early = agent.decide()
    for _ in range(30):
        agent.learn(agent.decide().id, 1.0)
    before = agent._state.view.estimate.copy()
    agent.learn(early.id, 1.0)
    grown = agent._state.view.estimate - before
    assert grown[agent.arms.index(early.arm)] == pytest.approx(0.5 / (0.5 * 2), rel=1e-12)
    with pytest.raises(ia.InvalidInput, match="probability"):
        ia.Agent(ia.EXP3(gamma=0.5), arms=["a", "b"]).update("a", 1.0)
    with pytest.raises(ia.InvalidInput, match="horizon"):
        ia.Agent(ia.EXP3(), arms=["a", "b"])


def chances_of(policy, estimates, late):
    """The probabilities of two arms with these estimates at round `late`, the
    losses' plain means being 0.
    """
    if isinstance(policy, ia.BARBAR):
        return [0.5, 0.5]
    losses = -estimates
    if isinstance(policy, ia.EXP3PlusPlus):
        eta = 0.5 * math.sqrt(math.log(2) / (2 * late))
        weights = np.exp(-eta * (losses - losses.min()))
        explore = min(0.25, eta)
        return (1 - 2 * explore) * weights / weights.sum() + explore
    low, high = losses.min() - 2 * math.sqrt(2 * late), losses.min() - math.sqrt(late) / 2
    for _ in range(200):
        x = (low + high) / 2
        low, high = (x, high) if (late * (losses - x) ** -2.0).sum() < 1 else (low, x)
    return late * (losses - x) ** -2.0


@pytest.mark.parametrize(
    "policy", [ia.TsallisINF(), ia.EXP3PlusPlus(), ia.BARBAR(horizon=100)], ids=lambda p: p.label
)
def test_a_late_reward_counts_by_the_chance_of_its_decision(policy):
    """What an arm has gathered changes by y / p, or its loss, with the p at the time
    of the decision, whatever p is when the reward comes.
    """
    agent = ia.Agent(policy, arms=["a", "b"], seed=2)
    field = "gathered" if isinstance(policy, ia.BARBAR) else "estimate"
    first = agent.decide()  # both arms alike: p = 1/2
    for _ in range(10):
        agent.learn(agent.decide().id, 0.5)
    known = agent._state.view.estimate.copy()
    second = agent.decide()
    for _ in range(30):
        agent.learn(agent.decide().id, 0.25)
    for decision, chances in ((first, [0.5, 0.5]), (second, chances_of(policy, known, 12))):
        before = getattr(agent._state.view, field).copy()
        agent.learn(decision.id, 0.5)
        changed = getattr(agent._state.view, field) - before
        arm = agent.arms.index(decision.arm)
        assert abs(changed[arm]) == pytest.approx(0.5 / chances[arm], rel=1e-9)
        assert changed[1 - arm] == 0
    with pytest.raises(ia.InvalidInput, match="probability"):
        agent.warm_start([("a", 1.0)])


@pytest.mark.parametrize("policy", [ia.TsallisINF(), ia.EXP3PlusPlus()], ids=lambda p: p.label)
def test_a_newcomer_among_weighted_arms_gets_about_its_share(policy):
    """Joining after a thousand rounds, an arm is chosen with a probability of about
    1/4 at once.
    """
    agent = ia.Agent(policy, arms=["a", "b", "c"], seed=1)
    for _ in range(1000):
        arm = agent.select()
        agent.update(arm, {"a": 0.3, "b": 0.5, "c": 0.6}[arm])
    agent.add_arm("d")
    while (decision := agent.decide()).arm != "d":  # no reward comes, so nothing changes but t
        assert agent.decisions < 1100
    assert 0.2 < agent._open.tickets[decision.id][2] < 0.3


def test_barbar_needs_a_horizon_and_begins_an_epoch_again_when_arms_change():
    """Live, it has no horizon but its own; with other arms the plan is made anew,
    the gaps known so far stay.
    """
    with pytest.raises(ia.InvalidInput, match="horizon"):
        ia.Agent(ia.BARBAR(), arms=["a", "b"])
    agent = ia.Agent(ia.BARBAR(horizon=1000, scale=0.5), arms=["a", "b", "c"], seed=1)
    for _ in range(200):
        arm = agent.select()
        agent.update(arm, {"a": 0.0, "b": 0.5, "c": 1.0}[arm])
    gaps = agent._state.view.gap.tolist()
    assert gaps[0] > gaps[1] > gaps[2] > 0
    for change, expected in (
        (lambda: agent.remove_arm("b"), [gaps[0], gaps[2]]),
        (lambda: agent.add_arm("b"), [gaps[0], gaps[2], 1.0]),
    ):
        change()
        agent.select()
        view = agent._state.view
        assert view.gap.tolist() == expected
        assert view.gathered.sum() == 0
        assert view.until[0] == agent.decisions - 1 + math.ceil(view.planned.sum())


@pytest.mark.parametrize(
    "policy",
    [ia.MedEUCB(b=2, block=100), ia.MedEpsilonGreedy(c=7), ia.TrimmedEpsilonGreedy(alpha=0.1, c=7)],
    ids=lambda p: p.label,
)
def test_a_newcomer_gets_the_forced_pulls_it_has_missed(policy):
    """It is pulled as often as the schedule would have pulled it by now, before
    anything else.
    """
    agent = ia.Agent(policy, arms=["a", "b", "c"], seed=1)
    values = rewards(4, 950)
    play(agent, values)
    agent.add_arm("d")
    k = agent.decisions // 100
    owed = math.ceil(2 * math.log((k + 1) * 100)) if isinstance(policy, ia.MedEUCB) else 7
    assert ["d"] * owed == play(agent, values[:owed])[:owed]


def test_every_arm_keeps_the_forced_pulls_when_arms_come_and_go_in_a_window():
    """At every index round after a change, each arm has at least b log t rewards."""
    policy = ia.MedEUCB(b=3, block=60)
    for change_at in (5, 37, 59, 60, 61, 62, 65, 70, 121, 123, 181, 300):
        agent = ia.Agent(policy, arms=["a", "b", "c"], seed=1)
        values = iter(rewards(change_at, 3000))
        for _ in range(change_at):
            agent.update(agent.select(), next(values))
        agent.remove_arm("b")
        agent.add_arm("e")
        for _ in range(700):
            agent.update(agent.select(), next(values))
            view = agent._state.view
            forced = view.owing_arms[0] > 0 or agent.decisions <= view.plan[2]
            if not forced and agent.decisions % 60:
                assert view.n.min() >= 3 * math.log(agent.decisions), (change_at, agent.decisions)


def test_a_removed_arm_takes_its_decisions_with_it_and_starts_afresh():
    """A late reward for it is refused, the others keep what they know, the last arm
    stays.
    """
    agent = ia.Agent(ia.RUCB(), arms=["a", "b", "c"], seed=1)
    play(agent, [1.0] * 30)
    open_b = [d for d in (agent.decide() for _ in range(12)) if d.arm == "c"]
    kept = agent.estimates["a"], agent.rewards["a"]
    agent.remove_arm("c")
    with pytest.raises(ia.UnknownDecision, match="removed"):
        agent.learn(open_b[0].id, 1.0)
    assert kept == (agent.estimates["a"], agent.rewards["a"])
    agent.add_arm("c")
    assert agent.rewards["c"] == 0
    agent.remove_arm("a")
    agent.remove_arm("b")
    with pytest.raises(ia.InvalidInput, match="last arm"):
        agent.remove_arm("c")


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


BAD = [
    (lambda a: a.update("a", math.nan), ia.InvalidInput, "NaN"),
    (lambda a: a.update("a", "3.5"), ia.InvalidInput, "must be a number"),
    (lambda a: a.update("a", None), ia.InvalidInput, "must be a number"),
    (lambda a: a.learn_batch(5), ia.InvalidInput, "expected pairs"),
    (lambda a: a.update("A1", 1.0), ia.UnknownArm, "the arms are"),
    (lambda a: a.update(["a"], 1.0), ia.UnknownArm, "the arms are"),
    (lambda a: a.learn(99, 1.0), ia.UnknownDecision, "no decision 99"),
    (lambda a: a.learn(0, 1.0), ia.UnknownDecision, "closed"),
    (lambda a: a.learn("x", 1.0), ia.UnknownDecision, "ids come from"),
    (lambda a: a.learn(1, math.nan), ia.InvalidInput, "NaN"),
    (lambda a: a.cancel(0), ia.UnknownDecision, "closed"),
    (lambda a: a.learn_batch([(1, 1.0), (99, 1.0)]), ia.UnknownDecision, "99"),
    (lambda a: a.learn_batch([(1, 1.0), 2]), ia.InvalidInput, "expected pairs"),
    (
        lambda a: a.warm_start(["ab", 1]),
        ia.InvalidInput,
        "expected pairs|unknown arm|must be a number",
    ),
    (lambda a: a.warm_start([(["a"], 1.0)]), ia.UnknownArm, "the arms are"),
    (lambda a: a.remove_arm(["a"]), ia.UnknownArm, "the arms are"),
    (lambda a: a.learn_batch([(1, 1.0), (1, 1.0)]), ia.InvalidInput, "twice"),
    (lambda a: a.learn_batch([(1, 1.0), (2, math.nan)]), ia.InvalidInput, "NaN"),
    (lambda a: a.warm_start([("a", 1.0), ("z", 1.0)]), ia.UnknownArm, "'z'"),
    (lambda a: a.warm_start([("a", 1.0), ("b", math.nan)]), ia.InvalidInput, "NaN"),
    (lambda a: a.add_arm("a"), ia.InvalidInput, "already"),
    (lambda a: a.add_arm(1.5), ia.InvalidInput, "string or a whole number"),
    (lambda a: a.remove_arm("z"), ia.UnknownArm, "'z'"),
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
        agent._state.dump(),
        agent.open_decisions,
        agent.arms,
        agent._stream.tolist(),
        [list(q) for q in agent._queues],
    )
    with pytest.raises(error, match=message):
        act(agent)
    assert before == (
        agent._state.dump(),
        agent.open_decisions,
        agent.arms,
        agent._stream.tolist(),
        [list(q) for q in agent._queues],
    )


def test_an_explicit_block_that_more_arms_outgrow_is_refused_and_nothing_changes():
    """The schedule would not fit."""
    agent = ia.Agent(ia.MedEUCB(b=4, block=60), arms=["a", "b", "c"], seed=1)
    with pytest.raises(ia.InvalidInput, match="block=60 is too small for 4 arms"):
        agent.add_arm("d")
    assert agent.arms == ("a", "b", "c")
    assert agent.select() == "a"


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


def smuggle_slots(data):
    """What the estimator would rebuild itself, given as if it had been saved:
    indices far outside.
    """
    data["state"].pop("rewards")
    state = State(ia.RUCB(), len(NAMES), live=True)
    fields = {
        f.name: getattr(state.view, f.name).tolist()
        for f in state.machine.layout.fields
        if not f.cache
    }
    data["state"]["fields"] = {
        **fields,
        **data["state"]["fields"],
        "slot_start": [10**9] * 8,
        "spare": [100] * 4,
    }


def damaged(path, change):
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda p: p.write_bytes(p.read_bytes()[:-40]), "only a part"),
        (lambda p: p.write_text("hello"), "not valid JSON"),
        (lambda p: p.write_text("[1, 2]"), "not the file of an agent"),
        (lambda p: p.write_text('{"format": "other"}'), "not the file of an agent"),
        (lambda p: damaged(p, lambda d: d.update(version=99)), "newer"),
        (lambda p: damaged(p, lambda d: d.pop("state")), "'state' is missing"),
        (lambda p: damaged(p, lambda d: d["state"]["fields"].pop("n")), "damaged"),
        (lambda p: damaged(p, lambda d: d["state"]["fields"].update(n=[1])), "damaged"),
        (lambda p: damaged(p, lambda d: d.update(arms=["x"])), "damaged"),
        (lambda p: damaged(p, lambda d: d.update(arms=["x", "y", "z", "u", "v"])), "damaged"),
        (
            lambda p: damaged(p, lambda d: d["state"]["rewards"].append([1.0])),
            "do not fit their counts",
        ),
        (lambda p: damaged(p, lambda d: d["state"].pop("rewards")), "damaged"),
        (lambda p: damaged(p, smuggle_slots), "damaged"),
        (lambda p: damaged(p, lambda d: d["policy"].update(parameters=[1])), "damaged"),
        (
            lambda p: damaged(p, lambda d: d["policy"].update(policy=["RUCB"])),
            "damaged|cannot be made",
        ),
        (lambda p: damaged(p, lambda d: d["policy"]["parameters"].update(omega=10**400)), "omega"),
        (
            lambda p: damaged(p, lambda d: d["state"]["rewards"][0].append(1.0)),
            "do not fit their counts",
        ),
        (
            lambda p: damaged(
                p,
                lambda d: d["state"]["rewards"].__setitem__(
                    0, ["nan"] * len(d["state"]["rewards"][0])
                ),
            ),
            "damaged",
        ),
        (
            lambda p: damaged(p, lambda d: d["state"]["fields"]["rewards"].__setitem__(0, -1)),
            "negative",
        ),
        (
            lambda p: damaged(p, lambda d: d["state"]["fields"]["rewards"].__setitem__(0, 10**6)),
            "more rewards than decisions",
        ),
        (lambda p: damaged(p, lambda d: d["state"]["fields"]["n"].__setitem__(0, 2.5)), "damaged"),
        (lambda p: damaged(p, lambda d: d["state"].update(rounds=-5)), "damaged"),
        (lambda p: damaged(p, lambda d: d["tickets"].append([7, 99, 0.0, 1.0])), "damaged"),
        (lambda p: damaged(p, lambda d: d["tickets"].append([7, -1, 0.0, 1.0])), "damaged"),
        (lambda p: damaged(p, lambda d: d.update(queues=[])), "damaged"),
        (lambda p: damaged(p, lambda d: d.update(stream=[0, 0, 0, 0])), "damaged"),
        (lambda p: damaged(p, lambda d: d.update(stream=[1, 2])), "damaged"),
        (lambda p: damaged(p, lambda d: d["policy"].update(policy="Nonesuch")), "policy=..."),
        (lambda p: damaged(p, lambda d: d["policy"]["parameters"].update(omega=-1)), "omega"),
        (lambda p: p.unlink(), "does not exist"),
    ],
)
def test_a_damaged_foreign_or_newer_file_is_refused(spoil, message, tmp_path):
    """Each with a sentence that says what is wrong."""
    agent = ia.Agent(ia.RUCB(), arms=NAMES, seed=1)
    play(agent, [1.0, 2.0, 3.0, 4.0, 5.0])
    path = tmp_path / "agent.json"
    agent.save(path)
    spoil(path)
    with pytest.raises(ia.BadFile, match=message):
        ia.Agent.load(path)


def test_a_parameter_added_since_has_its_default(tmp_path):
    """A file from before a policy had `variance` is the plain policy's, also if the
    policy is given.
    """
    path, known = tmp_path / "agent.json", ia.TsallisINF(reward_range=(0, 2))
    ia.Agent(known, arms=NAMES, seed=1).save(path)
    damaged(path, lambda d: d["policy"]["parameters"].pop("variance"))
    assert ia.Agent.load(path).policy == ia.Agent.load(path, policy=known).policy == known
    for other in (
        ia.TsallisINF(reward_range=(0, 2), variance="reduced"),
        ia.TsallisINF(),
        ia.EXP3PlusPlus(reward_range=(0, 2)),
    ):
        with pytest.raises(ia.BadFile, match="was given"):
            ia.Agent.load(path, policy=other)


def test_a_save_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    """Whole or not at all."""
    agent = ia.Agent(ia.UCB(), arms=NAMES, seed=1)
    path = tmp_path / "agent.json"
    agent.save(path)
    before = path.read_bytes()
    play(agent, [1.0] * 9)
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        agent.save(path)
    assert before == path.read_bytes()
    assert [path] == list(tmp_path.iterdir())


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
    assert bounded._state.view.pool.nbytes < 20_000


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


@pytest.mark.parametrize(
    ("policy", "draw", "message"),
    [
        (ia.MedEUCB(), lambda g: float(g.integers(2)), "0 or 1"),
        (ia.MedEpsilonGreedy(), lambda g: float(min(2, g.poisson(0.5))), "same value"),
        (ia.MedEUCB(), lambda g: 1000 * g.normal(), "omega"),
        (ia.UCB(), lambda g: 0.01 * g.normal(), r"UCB\(sigma=0\.0"),
        (ia.CatoniUCB(), lambda g: 50 * g.normal(), "variance"),
        (ia.EXP3(horizon=1000), lambda g: 20 + g.normal(), "Give EXP3 the range"),
        (ia.TsallisINF(), lambda g: 20 + g.normal(), "Give TsallisINF the range"),
        (ia.CRUCB(alpha=0.2), lambda g: 0.01 * g.normal(), r"CRUCB with sigma=0\.0"),
        (
            ia.MedianOfMeansUCB(),
            lambda g: 50 * g.normal(),
            r"MedianOfMeansUCB\(v=2[0-9]00, epsilon=1\)",
        ),
        (ia.ThompsonGaussian(), lambda g: 0.01 * g.normal(), r"ThompsonGaussian\(sigma=0\.0"),
    ],
)
def test_rewards_that_do_not_fit_the_policy_are_warned_about_once(policy, draw, message):
    """One warning that names what to use instead."""
    generator = np.random.default_rng(0)
    agent = ia.Agent(policy, arms=2, seed=1)
    with pytest.warns(ia.RewardWarning, match=message) as caught:
        for _ in range(1500):
            agent.update(agent.select(), draw(generator))
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_fitting_rewards_raise_no_warning():
    """Normal rewards with outliers, mean policies on 0/1 rewards: silence (warnings
    are errors here).
    """
    generator = np.random.default_rng(0)
    for policy, draw in (
        (ia.MedEUCB(), lambda: float(generator.normal() if generator.random() > 0.3 else 1e6)),
        (ia.UCB(sigma=0.5), lambda: float(generator.integers(2))),
    ):
        agent = ia.Agent(policy, arms=3, seed=1)
        for _ in range(1500):
            agent.update(agent.select(), draw())


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
    assert agent._state.view.n.sum() == 3200
    assert agent.open_decisions == []


def test_memory_does_not_grow_with_decisions_that_are_closed():
    """A decision that is never closed does not keep the ids of all that follow."""
    agent = ia.Agent(ia.UCB(), arms=["a"], seed=1)
    agent.decide()
    for _ in range(1000):
        agent.learn(agent.decide().id, 1.0)
    assert len(agent._queues[0]) < 200


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
    assert agent._seed == 2**127 + 12345


def test_the_table_shows_names_counts_and_the_best_arm():
    """`repr` is a readable table."""
    agent = ia.Agent(ia.UCB(), arms=["left", 7], seed=1)
    agent.update("left", 1.0)
    agent.update(7, 2.5)
    agent.decide()
    assert repr(agent).splitlines() == [
        "Agent(UCB(alpha=2.1, sigma=1.0), 1 decisions)",
        "  arm   rewards  open  estimate",
        "  left        1     0         1",
        "* 7           1     1       2.5",
    ]


@pytest.mark.parametrize("policy", [ia.MedEUCB(), ia.MedianOfMeansUCB(), ia.CRUCB(alpha=0.2)])
@pytest.mark.parametrize("scale", [1e160, 1e308])
def test_rewards_too_large_to_compute_with_get_a_warning_and_no_error(policy, scale):
    """The reward is learnt; the advice names no parameter that would overflow."""
    agent = ia.Agent(policy, arms=2, seed=1)
    with pytest.warns(ia.RewardWarning, match="other units"):
        for k in range(300):
            agent.update(agent.select(), scale * math.sin(k))
