"""What the service finds out about an agent that was played with known lies."""

import asyncio

import pytest

from ironarm.service.insight import Insights
from ironarm.service.location import StoreLocation
from ironarm.service.node import Node
from ironarm.theory.limits import thresholds

from .played import LIARS, Played


def look(folder, name="ads"):
    """Return an insight."""

    async def run():
        node = Node(StoreLocation(folder))
        await node.start()
        try:
            number = await node.number_of(name)
            return await node.insights.of(number, name, 0.0)
        finally:
            await node.stop()

    return asyncio.run(run())


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("played")
    Played().into(StoreLocation(folder), "ads")
    return look(folder)


def test_the_best_arm_is_named(found):
    """South has the best rewards, and that is sure."""
    assert (found.best, found.best_arm.sure) == ("south", True)
    assert sum(arm.share for arm in found.arms) == pytest.approx(1)
    assert max(found.arms, key=lambda arm: arm.share).arm == "south"


def test_liars_are_named_and_nobody_else(found):
    """Two of twenty sources lie."""
    assert {source.source for source in found.liars} == set(LIARS)
    assert found.source_count == 20


def test_the_corrupt_share_is_near_the_truth(found):
    """A tenth of the rewards are lies, and 2 % of the others outliers: 11.8 %."""
    assert found.corruption.share == pytest.approx(0.118, abs=0.02)
    assert found.corruption.by_liars == pytest.approx(0.1 * found.corruption.rewards, rel=0.2)


def test_what_the_arms_can_take_lies_between_the_bounds(found):
    """The smallest gap is 0.7 sigma."""
    truth = thresholds(0.7, 1.0).coin
    assert found.tolerance.low < truth < found.tolerance.high < 0.45
    assert found.tolerance.about == pytest.approx(truth, abs=0.1)


def test_rewards_that_are_held_back_show(found):
    """A third of harbour's rewards is cancelled, of the others' 3 %."""
    assert [arm.arm for arm in found.arms if arm.missing_more] == ["harbour"]
    harbour = next(arm for arm in found.arms if arm.arm == "harbour")
    assert harbour.missing_share > 0.15


def test_alarms_say_what_to_look_at(found):
    """Lies and missing rewards, but corruption is within limits."""
    assert "2 sources differ" in found.alarms
    assert "rewards of 1 arm go missing" in found.alarms
    assert not [alarm for alarm in found.alarms if alarm.startswith("more corruption")]


def test_an_honest_agent_has_no_alarm(tmp_path):
    """Nobody lies, nothing is far, nothing is held back."""
    Played(liars=(), outliers=0.0, held_back=(), rounds=1500).into(StoreLocation(tmp_path), "calm")
    found = look(tmp_path, "calm")
    assert (found.alarms, found.liars) == ([], ())
    assert found.corruption.share < 0.005


def test_clicks_are_judged_by_means(tmp_path):
    """Nothing is far, so only the sources tell; the limit is that of a gap of rates."""
    rates = {"a": 0.1, "b": 0.2, "c": 0.5}
    Played(arms=rates, clicks=True, policy="UCB", rounds=3000).into(
        StoreLocation(tmp_path), "clicks"
    )
    found = look(tmp_path, "clicks")
    assert (found.best, found.best_arm.of) == ("c", "mean")
    assert {source.source for source in found.liars} == set(LIARS)
    assert (found.corruption.outliers_show, found.corruption.far) == (False, 0)
    assert found.tolerance.of == "mean"
    assert found.tolerance.low <= 0.3 / 1.3 <= found.tolerance.high


def test_small_rewards_can_be_good(tmp_path):
    """For latencies the arm with the smallest median is the best."""
    Played(minimize=True, liars=(), rounds=1500).into(StoreLocation(tmp_path), "latency")
    assert look(tmp_path, "latency").best == "west"


def test_what_is_known_is_shared(tmp_path, monkeypatch):
    """Ten who look at once cost one look; agents that nobody looks at are forgotten."""
    Played(rounds=50).into(StoreLocation(tmp_path), "a")
    Played(rounds=50).into(StoreLocation(tmp_path), "b")
    looks = []
    original = Insights._look

    async def counted(self, kept, number, name):
        looks.append(name)
        return await original(self, kept, number, name)

    monkeypatch.setattr(Insights, "_look", counted)
    monkeypatch.setattr("ironarm.service.insight.AGENTS", 1)

    async def run():
        node = Node(StoreLocation(tmp_path))
        await node.start()
        try:
            await asyncio.gather(*(node.insights.of(1, "a", 60.0) for _ in range(10)))
            await node.insights.of(2, "b", 60.0)
            await node.insights.of(1, "a", 60.0)
        finally:
            await node.stop()

    asyncio.run(run())
    assert looks == ["a", "b", "a"]
