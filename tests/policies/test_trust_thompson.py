"""TrustThompson: whom it trusts, and that its twin chooses the same with sources."""

import json
import os
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ironarm as ia
from ironarm.engine.state import State
from ironarm.rules.source_rows import nth_smallest, row_of
from ironarm.rules.source_trust import judge
from tests.naive import play
from tests.naive import sources as naive
from tests.naive.sources import split

SMALL = os.environ.get("NUMBA_DISABLE_JIT") == "1"
CLICKS = ia.BernoulliBandit([0.1, 0.3, 0.2])
RARE = ia.BernoulliBandit([0.02, 0.005])
NORMAL = ia.GaussianBandit([5.0, 6.0, 4.0, 5.5])


@pytest.mark.parametrize(
    ("bandit", "attack"),
    [
        (CLICKS, ia.NoAttack()),
        (CLICKS, ia.Constant(rho=0.2, value=1)),
        (RARE, ia.attacks.FakeClicks(rho=0.2, shift=0.3)),
        (NORMAL, ia.OppositeUniform(rho=0.2)),
        (NORMAL, ia.Infinite(rho=0.1)),
        (NORMAL, ia.Constant(rho=0.3, value=0.5)),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "sources",
    [ia.Sources(20), ia.Sources(12, zipf=1), ia.Sources(60, active=5), ia.Sources(400)],
    ids=str,
)
def test_choices_with_sources_are_the_twins(bandit, attack, sources):
    """In every round; the last sources are more than the slots, so some share one."""
    check_against_twin(bandit, attack, sources, 150 if SMALL else 1000)


def check_against_twin(bandit, attack, sources, horizon):
    policy = ia.TrustThompson(slots=128)
    result = ia.simulate(
        policy,
        bandit,
        attack,
        sources=sources,
        horizon=horizon,
        trials=2,
        seed=3,
        workers=1,
        checkpoints=range(1, horizon + 1),
        progress=False,
    )
    choices, _ = play(policy, bandit, attack, horizon, 3, 1, sources)
    pulls = np.cumsum(np.eye(bandit.arms, dtype=int)[choices], axis=0)
    assert pulls[-1].tolist() == result.pulls[0, 1].tolist()
    np.testing.assert_allclose(pulls @ bandit.gaps, result.regret[0, 1], rtol=0, atol=1e-9)


@ia.extend.hot
def small_lie(e, a, x, u, v):
    return x - 0.3 if a == e.best else x + 0.3


@pytest.mark.skipif(SMALL, reason="needs thousands of rewards")
@pytest.mark.parametrize(
    ("rho", "sources"), [(0.3, ia.Sources(60, active=3)), (0.2, ia.Sources(40))], ids=str
)
def test_choices_are_the_twins_where_sources_are_split(rho, sources, monkeypatch):
    """Common small lies: two groups explain the rewards better, at several looks."""
    gains = []

    def watched(n, *others):
        found = split(n, *others)
        gains.append(found[0] > 2 + 2 * np.log(n.shape[1]))
        return found

    monkeypatch.setattr(naive, "split", watched)
    attack = ia.CustomAttack(rho=rho, function=small_lie)
    check_against_twin(ia.GaussianBandit([5.0, 5.5]), attack, sources, 5000)
    assert sum(gains) >= 3


def judged(sent):
    """Return the weights of sources that sent these rewards, lists by [source][arm]."""
    state = State(ia.TrustThompson(slots=512), len(sent[0]))
    view = state.view
    for source, by_arm in enumerate(sent):
        row = row_of(view, source)
        for a, rewards in enumerate(by_arm):
            at = a * 512 + row
            view.row_rewards[at] = len(rewards)
            view.row_sum[at] = np.sum(rewards)
            view.row_squares[at] = np.square(rewards).sum()
    judge(view)
    return view.row_weight[: len(sent)].copy()


def drawn(sources, liars, lie, rewards=150, seed=1):
    """Return normal rewards of three arms; the first sources lie on two of them."""
    rng = np.random.default_rng(seed)
    return [
        [
            rng.normal(mean + (lie if source < liars else 0) * sign, 1, rewards // 3)
            for mean, sign in ((1, -1), (2, 1), (3, 0))
        ]
        for source in range(sources)
    ]


def test_honest_sources_are_trusted():
    """All of them, in 20 drawings of 40; a source is dropped by accident with a
    probability below 0.001, so more than 5 of 800 are with one below 1e-3.
    """
    weights = np.concatenate([judged(drawn(40, 0, 0, seed=seed)) for seed in range(20)])
    assert (weights < 1).sum() <= 5


@pytest.mark.parametrize("liars", [1, 12, 19])
@pytest.mark.parametrize("lie", [2.0, 1e6, -1e99])
def test_large_lies_are_dropped(lie, liars):
    """Up to just below half of the sources."""
    weights = judged(drawn(40, liars, lie))
    assert (weights[:liars] == 0).all()
    assert (weights[liars:] > 0).mean() > 0.95


def test_small_lies_are_found_together():
    """Each liar is within luck: 1.7 standard errors on each of two arms."""
    weights = judged(drawn(300, 45, 0.24))
    assert weights[:45].mean() < 0.4
    assert weights[45:].mean() > 0.9


@pytest.mark.parametrize("rewards", [1, 5, 25])
@pytest.mark.parametrize("paid", [1.0, 19.99])
def test_rare_clicks_of_honest_sources_count(rewards, paid):
    """Few rewards a source, and rates of 0.5 and 1 %: most have no click.

    A source with one, which a normal law would call impossible, keeps its weight. With
    three by accident it may be dropped; at most one in 200 is.
    """
    rng = np.random.default_rng(rewards)
    sent = [
        [paid * (rng.random(rewards) < rate) for rate in (0.01, 0.005)]
        for _ in range(100 if SMALL else 500)
    ]
    assert (judged(sent) == 1).mean() >= 0.995


@pytest.mark.parametrize("liars", [1, 8])
def test_wild_rewards_hide_nothing(liars):
    """Some sources send a million times as much, with either sign, and hardly count;
    one that lies by three standard deviations is found beside them.
    """
    sent = drawn(20, 1, 3)
    rng = np.random.default_rng(2)
    for source in range(1, 1 + liars):
        sent[source] = [1e6 * rng.choice([-1.0, 1.0], 50) + mean for mean in (1, 2, 3)]
    weights = judged(sent)
    assert weights[0] == 0
    assert weights[1 : 1 + liars].max() < 1e-10
    assert (weights[1 + liars :] > 0).all()


def test_sources_that_vary_little_do_not_condemn_the_others():
    """Rare clicks: two in five honest sources have none. Hostile ones, a fifth of all,
    always send the same. The median source by its variance must not be one of them.
    """
    rng = np.random.default_rng(3)
    sent = [[(rng.random(10) < 0.05) * 1.0 for _ in range(2)] for _ in range(100)]
    sent[:20] = [[np.ones(10), np.zeros(10)]] * 20
    weights = judged(sent)
    assert (weights[:20] == 0).all()
    assert (weights[20:] == 1).mean() > 0.95


def test_half_of_the_sources_are_always_kept():
    """Even where the means of honest sources differ by far more than luck."""
    rng = np.random.default_rng(1)
    sent = [[rng.normal(mean + rng.normal(0, 5), 1, 50) for mean in (1, 2, 3)] for _ in range(100)]
    assert (judged(sent) > 0).sum() >= 50


def test_a_busy_source_counts_like_a_usual_one():
    """Its weight is the median number of rewards over its own."""
    sent = drawn(9, 0, 0)
    sent[4] = drawn(1, 0, 0, rewards=3000, seed=9)[0]
    weights = judged(sent)
    assert weights[4] == pytest.approx(150 / 3000)
    assert (np.delete(weights, 4) == 1).all()


BROKEN = {
    "stuck at the best value": lambda arm, rng: 3.0,
    "stuck far away": lambda arm, rng: 1e12,
    "infinite": lambda arm, rng: np.inf if arm == 0 else -np.inf,
    "offset on one arm": lambda arm, rng: rng.normal(arm + (4 if arm == 0 else 0), 1),
    "the wrong way round": lambda arm, rng: rng.normal(3 - arm, 1),
}


def sensed(broken, scale=1.0, rounds=1500, signed=True):
    """Return an agent fed by twenty sensors, two of them broken, and its choices."""
    rng = np.random.default_rng(4)
    agent = ia.Agent(ia.TrustThompson(slots=64), arms=range(4), seed=2)
    choices = []
    for _ in range(rounds):
        arm = agent.select()
        sensor = int(rng.integers(20))
        x = broken(arm, rng) if sensor < 2 else rng.normal(arm, 1)
        agent.update(arm, scale * x, source=f"sensor {sensor}" if signed else None)
        choices.append(arm)
    return agent, choices


@pytest.mark.filterwarnings("ignore::ironarm.RewardWarning")
@pytest.mark.parametrize("broken", BROKEN)
def test_broken_sensors_do_not_matter(broken):
    """Real-valued rewards: the best arm is found, at the value of the working ones."""
    _, choices = sensed(BROKEN[broken], rounds=400 if SMALL else 1500)
    assert np.mean(np.array(choices[-100:]) == 3) > 0.95


def test_without_sources_a_broken_sensor_is_not_noticed():
    """The same rewards unsigned: there is no defence, and the agent says so."""
    with pytest.warns(ia.RewardWarning, match="without sources it has no defence"):
        _, choices = sensed(BROKEN["stuck far away"], rounds=400, signed=False)
    assert np.mean(np.array(choices[-100:]) == 3) < 0.95


def test_the_unit_does_not_matter():
    """Rewards that are 1024 times as large give the same choices."""
    broken, rounds = BROKEN["offset on one arm"], 300
    assert sensed(broken, rounds=rounds)[1] == sensed(broken, 1024.0, rounds)[1]


def test_a_dropped_source_can_return():
    """A sensor that is repaired is trusted again, once most of its rewards are good."""
    rng = np.random.default_rng(4)
    agent = ia.Agent(ia.TrustThompson(slots=16), arms=["a", "b"], seed=2)
    trust = []
    for t in range(600 if SMALL else 6000):
        arm, sensor = agent.select(), int(rng.integers(5))
        off = 3.0 if sensor == 0 and t < 100 else 0.0
        agent.update(arm, rng.normal(arm == "b", 1) + off, source=sensor)
        first = (
            agent._core.state.view.row_source.tolist().index(
                agent._core.book.number(agent._core.book._rows[0])
            )
            if t > 30
            else 0
        )
        trust.append(agent._core.state.view.row_weight[first])
    assert min(trust[60:200]) == 0
    if not SMALL:
        assert trust[-1] > 0


def test_saved_with_sources_it_goes_on_alike(tmp_path):
    """The counts of all sources, and the trust in them, are in the file."""
    agent, _ = sensed(BROKEN["infinite"], rounds=100)
    agent.save(tmp_path / "agent.json")
    loaded = ia.Agent.load(tmp_path / "agent.json")
    for t in range(200):
        arm = agent.select()
        assert loaded.select() == arm
        for one in (agent, loaded):
            one.update(arm, float(arm) + (t * 7 % 11) / 5, source=f"sensor {t % 23}")


def signed_clicks(arms):
    """Return an agent with a few rewards of 30 sources, and slots for 64."""
    agent = ia.Agent(ia.TrustThompson(slots=64), arms=range(arms), seed=2)
    for i in range(60):
        agent.update(agent.select(), -0.0 if i % 3 else 1.0, source=i % 30)
    return agent


def test_its_file_is_as_long_as_it_has_rewards(tmp_path):
    """Slots that nobody has used take no room, and it goes on alike."""
    agent, path = signed_clicks(arms=10), tmp_path / "agent.json"
    agent.save(path)
    data = json.loads(path.read_text())
    fields = data["state"]["fields"]
    assert len(fields["row_rewards"]["at"]) <= 60
    loaded = ia.Agent.load(path)
    for name in fields:  # a file of before has all slots
        fields[name] = getattr(agent._core.state.view, name).tolist()
    path.write_text(json.dumps(data))
    for other in (loaded, ia.Agent.load(path)):
        for name in fields:
            one, two = (getattr(each._core.state.view, name) for each in (agent, other))
            assert one.tobytes() == two.tobytes(), name


@pytest.mark.parametrize(
    ("field", "part", "value"),
    [
        ("rows", 0, 65),
        ("rows", 0, -1),
        ("rows", 0, 5),
        ("place_row", 7, 31),
        ("place_row", 7, -1),
        ("row_sum", "at", [640]),
        ("row_sum", "at", [-1]),
        ("row_sum", "length", 5),
        ("row_sum", "values", [1.0, 1.0]),
    ],
)
def test_rows_that_cannot_be_are_refused(field, part, value, tmp_path):
    """Compiled code would look outside of its memory, or for ever."""
    path = tmp_path / "agent.json"
    signed_clicks(arms=10).save(path)
    data = json.loads(path.read_text())
    fields = data["state"]["fields"]
    fields["row_sum"] = {"length": 640, "at": [3], "values": [1.0]}
    path.write_text(json.dumps(data))
    ia.Agent.load(path)
    fields[field][part] = value
    path.write_text(json.dumps(data))
    with pytest.raises(ia.errors.BadFile, match="damaged"):
        ia.Agent.load(path)


def test_arms_come_and_go():
    """A new arm is tried, and the trust in sources outlives an arm."""
    agent, _ = sensed(BROKEN["offset on one arm"], rounds=300)
    agent.remove_arm(3)
    agent.add_arm("better")
    rng = np.random.default_rng(1)
    for _ in range(200):
        arm = agent.select()
        value = 9.0 if arm == "better" else float(arm)
        agent.update(arm, rng.normal(value, 1), source=f"sensor {int(rng.integers(20))}")
    assert agent.best() == "better"


@given(st.lists(st.integers(-(2**62) + 2, 2**62), max_size=80), st.integers(1, 40))
def test_rows_are_those_of_a_dictionary(sources, slots):
    """Every source has its own row, by arrival; late ones share by their number."""
    policy = ia.TrustThompson(slots=64)
    view = SimpleNamespace(
        place_row=np.zeros(2 * slots, np.int64),
        row_source=np.zeros(slots, np.int64),
        rows=np.zeros(1, np.int64),
    )
    assert policy.constants(2, None)["places"] == 2 * policy.slots
    rows = {}
    for source in sources:
        if len(rows) < slots:
            rows.setdefault(source, len(rows))
        assert row_of(view, source) == rows.get(source, source % slots)


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=60), st.data())
def test_nth_smallest(values, data):
    """That of the sorted list, with ties and infinities."""
    nth = data.draw(st.integers(0, len(values) - 1))
    assert nth_smallest(np.array(values), len(values), nth) == sorted(values)[nth]


@pytest.mark.parametrize("slots", [0, 2.5, "many", 2**24])
def test_slots_that_make_no_sense_are_refused(slots):
    """With a sentence."""
    with pytest.raises(ia.InvalidInput, match="slots"):
        ia.TrustThompson(slots=slots)
