"""Sources: what an agent counts for each, and what it says of them."""

import copy
import json
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import ironarm as ia
from ironarm.agent import source_book
from ironarm.agent.source_book import (
    FIRST,
    SourceBook,
    binary_kl,
    judge,
    pooled_exponents,
    source_number,
)
from tests.naive.source_book import NaiveBook


def clicks(agent, rates, senders, rounds, seed=3):
    """Feed an agent rewards of 0 and 1; `rates(sender, arm)` is the chance of a 1."""
    world = np.random.default_rng(seed)
    for i in range(rounds):
        arm, sender = agent.select(), senders[i % len(senders)]
        agent.update(arm, float(world.random() < rates(sender, arm)), source=sender)


def agent_of(**more):
    return ia.Agent(ia.UCB(sigma=0.5), arms=["a", "b"], seed=1, **more)


def judged(counts):
    """Judge counts of (source, arm, kind), every arm of every source."""
    sources, arms, _ = counts.shape
    pairs = counts.reshape(-1, 3)
    return judge(*np.divmod(np.arange(len(pairs)), arms), pairs, sources)


def test_a_hostile_source_is_named_and_honest_ones_are_not():
    """Twenty sources of which one clicks on nothing but arm b. False alarm: 1 %."""
    agent = agent_of()
    honest = {"a": 0.3, "b": 0.2}
    clicks(
        agent,
        lambda sender, arm: float(arm == "b") if sender == 7 else honest[arm],
        list(range(20)),
        4000,
    )
    first, *others = agent.sources()
    assert first.source == 7
    assert first.rewards == 200
    assert first.chance < 1e-6
    assert min(other.chance for other in others) > 0.01
    assert len(agent.sources()) == 20


def test_a_broken_sensor_is_named():
    """One of ten is stuck at a value far away, one is shifted by a sigma. 1 %."""
    agent = ia.Agent(arms=["a", "b"], seed=1)
    world = np.random.default_rng(5)
    for i in range(3000):
        arm, sender = agent.select(), i % 10
        x = world.normal({"a": 1.0, "b": 3.0}[arm])
        agent.update(arm, 99.0 if sender == 2 else x + (sender == 5), source=sender)
    report = {each.source: each for each in agent.sources()}
    assert {name for name, each in report.items() if each.chance < 0.01} == {2, 5}
    assert report[2].far == 1.0
    assert report[5].far < 0.05
    assert report[5].difference > 0.2


def test_like_sources_are_hardly_ever_accused():
    """In 100 worlds of 30 like sources someone is accused at 5 % in at most 5 of them;
    with a false-alarm probability of 1e-6 in at most 17.
    """
    accused = 0
    for seed in range(100):
        world = np.random.default_rng(seed)
        sizes = world.poisson(40, (30, 3))
        above, far = (world.binomial(sizes, rates) for rates in ([0.05, 0.1, 0.5], 0.01))
        accused += judged(np.stack([sizes, above, far], axis=2)).chance.min() < 0.05
    assert accused <= stats.binom.isf(1e-6, 100, 0.05)


def test_many_hostile_sources_do_not_make_the_others_look_hostile():
    """Forty of a hundred, four times as active, who click on everything. 1 %."""
    world = np.random.default_rng(2)
    hostile = np.arange(100) < 40
    sizes = world.poisson(np.where(hostile, 400, 100)[:, None], (100, 2))
    above = world.binomial(sizes, np.where(hostile[:, None], 0.9, [0.1, 0.2]))
    counts = np.stack([sizes, above, np.zeros_like(sizes)], axis=2)
    assert np.array_equal(judged(counts).chance < 0.01, hostile)


def of_one_arm(*clicked):
    """Return counts of sources with 100 rewards each, so many of them above."""
    return np.array([[[100, k, 0]] for k in clicked])


@pytest.mark.parametrize("clicked", [0, 30, 100])
def test_a_source_without_others_differs_from_nobody(clicked):
    """There is nothing to compare it with, whatever it sends."""
    found = judged(of_one_arm(clicked))
    assert (found.difference.tolist(), found.chance.tolist()) == ([0.0], [1.0])


@pytest.mark.parametrize("half", [1, 2, 3, 10])
def test_in_an_even_split_nobody_is_blamed_alone(half):
    """Both sides differ, in whichever order they came."""
    counts = of_one_arm(*[100] * half, *[0] * half)
    for order in (counts, counts[::-1]):
        assert (judged(order).chance < 1e-6).all()


def test_one_more_than_half_is_enough():
    """The others are named, and only they."""
    for half in (1, 2, 10):
        counts = of_one_arm(*[100] * half, *[0] * (half + 1))
        assert np.array_equal(judged(counts).chance < 0.01, counts[:, 0, 1] > 0)


def test_an_arm_that_only_one_source_has_says_nothing_of_it():
    """It has a better arm to itself, and on the other arm is like everybody else."""
    shared, own, none = [500, 250, 0], [500, 450, 0], [0, 0, 0]
    found = judged(np.array([[own, shared], [none, shared], [none, shared]]))
    assert found.chance.tolist() == [1.0, 1.0, 1.0]
    assert found.difference == pytest.approx([0.0] * 3, abs=0.001)


def test_the_bound_is_one():
    """Chernoff's exponent bounds the exact tail of a binomial, for one arm or three."""
    n, p = np.array([[10.0, 20.0, 5.0]]), np.array([[0.1, 0.3, 0.6]])
    # the exact law of the sum, by convolution
    law = np.ones(1)
    for size, rate in zip(n[0].astype(int), p[0], strict=True):
        law = np.convolve(law, stats.binom.pmf(np.arange(size + 1), size, rate))
    mean = float((n * p).sum())
    for total in range(36):
        exponent = pooled_exponents(np.zeros(3, int), n[0], p[0], np.array([float(total)]))[0]
        tail = law[total:].sum() if total >= mean else law[: total + 1].sum()
        assert tail <= math.exp(-exponent) * (1 + 1e-9)
        # and it is not empty: the square root of a small tail is a usual loss
        assert exponent >= -0.5 * math.log(max(tail, 1e-300)) - 1.5
    assert binary_kl(np.array([0.0, 1.0, 0.3]), np.array([0.5, 0.5, 0.3])) == pytest.approx(
        [math.log(2), math.log(2), 0.0]
    )


def test_numbers_of_sources_depend_on_the_seed_and_differ():
    """Ten thousand names, no two with the same number; other seeds, other numbers."""
    numbers = {source_number(f"user {i}", 1) for i in range(10_000)}
    assert len(numbers) == 10_000
    assert max(numbers) < 2**62
    assert source_number("user 1", 1) != source_number("user 1", 2)
    assert source_number("1", 1) != source_number(1, 1)


def test_sources_are_saved_and_continue(tmp_path):
    """With the first rewards, from which the reference is yet to be chosen."""
    for rounds in (10, 200):
        agent = agent_of()
        clicks(agent, lambda sender, arm: 0.4, ["x", "y", 3], rounds)
        agent.save(tmp_path / "agent.json")
        loaded = ia.Agent.load(tmp_path / "agent.json")
        assert agent.sources() == loaded.sources()
        for each in (agent, loaded):
            clicks(each, lambda sender, arm: 0.4, ["x", "z"], 100, seed=9)
        assert agent.sources() == loaded.sources()
        assert repr(agent) == repr(loaded)


def test_arms_come_and_go():
    """Counts of the others stay, and a new arm has none."""
    agent = agent_of()
    clicks(agent, lambda sender, arm: 0.4, ["x", "y"], 300)
    before = sum(each.rewards for each in agent.sources())
    of_a = agent.rewards["a"]
    agent.add_arm("c")
    assert sum(each.rewards for each in agent.sources()) == before
    agent.remove_arm("a")
    assert sum(each.rewards for each in agent.sources()) == before - of_a


def test_every_way_to_learn_takes_a_source():
    """update, learn, learn_batch and warm_start; without one nothing is counted."""
    agent = agent_of()
    agent.update(agent.select(), 1.0)
    assert agent.sources() == []
    agent.update(agent.select(), 1.0, source="x")
    agent.learn(agent.decide(), 1.0, source="x")
    first, second = agent.decide(), agent.decide()
    agent.learn_batch([(first, 0.0, "y"), (second.id, 1.0)])
    agent.warm_start([("a", 1.0, "y"), ("b", 0.0)])
    assert {each.source: each.rewards for each in agent.sources()} == {"x": 2, "y": 2}


@pytest.mark.parametrize("source", [1.5, True, b"x", ["x"]])
def test_a_bad_source_changes_nothing(source):
    """It is refused before anything is counted."""
    agent = agent_of()
    arm = agent.select()
    decision = agent.decide()
    before = repr(agent)
    for call in (
        lambda: agent.update(arm, 1.0, source=source),
        lambda: agent.learn(decision, 1.0, source=source),
        lambda: agent.learn_batch([(decision, 1.0, source)]),
        lambda: agent.warm_start([("a", 1.0, source)]),
    ):
        with pytest.raises(ia.InvalidInput, match="a source must be"):
            call()
    assert repr(agent) == before
    assert agent.sources() == []


def test_a_refused_reward_is_not_counted():
    """EXP3 refuses a reward without a decision."""
    agent = ia.Agent(ia.EXP3(gamma=0.1), arms=["a", "b"], seed=1)
    with pytest.raises(ia.InvalidInput):
        agent.update("a", 1.0, source="x")
    assert agent.sources() == []


@pytest.mark.parametrize("values", [[1.0], [math.inf, -math.inf, 0.0], [0.0, 0.0, 5.0]])
def test_ties_and_infinities_are_counted(values):
    """Whatever the first rewards are, every reward is counted and nothing breaks."""
    book = SourceBook(1, 1)
    for i in range(4 * FIRST):
        book.add(i % 3, 0, values[i % len(values)])
    report = book.report()
    assert sum(each.rewards for each in report) == 4 * FIRST
    assert all(0 <= each.chance <= 1 and math.isfinite(each.difference) for each in report)


def test_a_damaged_book_is_refused(tmp_path):
    """Counts that cannot be are found when the file is read."""
    agent = agent_of()
    clicks(agent, lambda sender, arm: 0.4, ["x", "y"], 100)
    path = tmp_path / "agent.json"
    agent.save(path)
    text = path.read_text()
    for old, new in (
        ('"names": ["x", "y"]', '"names": ["x", "x"]'),
        ('"names": ["x", "y"]', '"names": ["x"]'),
        ('"counts": [', '"counts": [-'),
        ('"counts": [', '"counts": [0, 0, 0, '),
        ('"pairs": [2, ', '"pairs": [9, '),
        ('"pairs": [2, ', '"pairs": [-2, '),
        ('"waiting": []', '"waiting": [99]'),
        ('"rewards": []', '"rewards": [1.0]'),
        ('"reference": [', '"reference": [null, '),
    ):
        assert old in text
        path.write_text(text.replace(old, new))
        with pytest.raises(ia.errors.BadFile):
            ia.Agent.load(path)


SENT = st.tuples(
    st.integers(0, 5), st.integers(0, 1), st.sampled_from([0.0, 1.0, 1.0, 7.0, -math.inf, math.inf])
)


@settings(max_examples=40)
@given(st.lists(SENT, max_size=90), st.integers(2, 7), st.integers(1, 40), st.data())
def test_the_book_is_the_naive_one(sent, most, batch, data):
    """Whatever is sent, however many wait, wherever it is saved, copied and asked."""
    naive, book = NaiveBook(2, most), SourceBook(2, 1, most)
    stops = data.draw(st.sets(st.integers(0, 90), max_size=3))
    for i, (source, arm, x) in enumerate(sent):
        book._room = min(book._room, len(book._waiting) + batch)
        naive.add(f"user {source}", arm, x)
        row = book.add(f"user {source}", arm, x)
        assert book.number(row) == source_number(f"user {source}", 1)
        assert len(book._rows) <= most
        if i in stops:
            book.copy().add("user 99", 0, 1.0)  # a copy goes its own way
            saved = json.loads(json.dumps(book.to_dict()))
            book = SourceBook.restore(saved, 2, 1, most)
    found = book.report()
    expected = naive.report()
    assert {each.source: each.rewards for each in found} == {
        name: rewards for name, (rewards, *_) in expected.items()
    }
    for each in found:
        _, *numbers = expected[each.source]
        assert each[2:] == pytest.approx(numbers, abs=1e-9)


def test_a_name_for_each_reward_does_not_fill_the_memory():
    """The book stops growing, and whoever sends again and again stays in it.

    The account for all others shows the flood: it always clicks.
    """
    world = np.random.default_rng(1)
    agent = ia.Agent(ia.UCB(sigma=0.5), arms=["a", "b"], seed=1, sources_held=400)
    sizes = []
    for i in range(6000):
        arm = agent.select()
        if i % 10 == 0:
            agent.update(arm, 1.0, source=f"invented {i}")
        else:
            agent.update(arm, float(world.random() < 0.3), source=(i - i // 10) % 300)
        if i % 2000 == 1999:
            sizes.append(len(agent._core.book._keys) + len(agent._core.book._numbers))
            assert len(agent.sources()) <= 401
    assert max(sizes) <= 3 * 401
    report = {each.source: each for each in agent.sources()}
    assert all(report[sender].rewards == 18 for sender in range(300))
    assert all(report[sender].chance > 0.01 for sender in range(300))
    assert report[None].chance < 1e-6
    assert report[None].difference > 0.5
    assert sum(each.rewards for each in report.values()) == 6000
    again = copy.copy(agent)  # as save and load
    assert again.sources() == agent.sources()
    assert again._core.sources_held == 400


def test_memory_is_for_pairs_that_have_rewards():
    """2,000 sources that touch one of 100 arms each; all pairs would take 4.8 MB."""
    tracemalloc.start()
    try:
        book = SourceBook(100, 1)
        for i in range(4000):
            book.add(i % 2000, i % 100, float(i))
        book.report()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(book._keys) == 2000
    assert held < 1e6


def test_a_book_of_all_pairs_loads(tmp_path):
    """As it was saved before counts were held for pairs that have rewards."""
    agent = agent_of()
    clicks(agent, lambda sender, arm: 0.4, ["x", "y", 3], 80)
    agent.add_arm("late")
    agent.update("late", 1.0, source="y")
    path = tmp_path / "agent.json"
    agent.save(path)
    data = json.loads(path.read_text())
    book = data["sources"]
    dense = np.zeros((4 * 3, 3), int)
    dense[book["pairs"]] = np.reshape(book.pop("counts"), (-1, 3))
    book["counts"] = dense[3:].ravel().tolist()
    waiting = [[], [], []]
    for key, x in zip(book["waiting"], book.pop("rewards"), strict=True):
        waiting[key % 3].append([key // 3 - 1, x])
    del book["pairs"]
    book["waiting"] = waiting
    path.write_text(json.dumps(data))
    loaded = ia.Agent.load(path)
    assert loaded.sources() == agent.sources()
    assert waiting[2] == [[1, 1.0]]


@pytest.mark.parametrize("held", [1, 2.5, "many"])
def test_a_number_of_sources_that_makes_no_sense_is_refused(held):
    """With a sentence."""
    with pytest.raises(ia.InvalidInput, match="sources_held"):
        agent_of(sources_held=held)


def test_rewards_are_counted_together(monkeypatch):
    """Asked at any time, what waits is counted first."""
    monkeypatch.setattr(source_book, "BATCH", 7)
    few = agent_of()
    clicks(few, lambda sender, arm: 0.4, ["x", "y", 3], 200)
    monkeypatch.undo()
    many = agent_of()
    clicks(many, lambda sender, arm: 0.4, ["x", "y", 3], 200)
    assert few.sources() == many.sources()
