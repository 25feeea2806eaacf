"""The arena's settings for routers are those of the scenarios' files."""

import math

import pytest

import ironarm as ia
from ironarm.errors import InvalidInput
from ironarm.lab.arena.read import read_arena
from ironarm.lab.arena.scenario_setting import from_scenario
from ironarm.lab.scenarios.scenario import make_scenario
from ironarm.lab.scenarios.spec import read_spec


def test_the_arena_of_routers_takes_its_arms_from_the_scenarios():
    """Rewards are minus the logarithm of seconds; the best one is the best arm."""
    arena = read_arena("routers")
    settings = {setting.name: setting for setting in arena.settings}
    spec = read_spec("delayed")
    late = settings["delayed"]
    expected = [-math.log(one.at(1)) for one in spec.deployments]
    assert expected == late.bandit.means.tolist()
    assert late.bandit.best == spec.best(1)
    assert late.delay == ia.Delay(mean=50, lost=0.1, expire=500)
    assert late.known["gap"] == pytest.approx(math.log(0.75 / 0.5))
    assert late.horizon == spec.requests
    assert late.title == "The same; outcomes come 50 requests late on average, one in ten never"
    drift = settings["degradation"].bandit
    spec = read_spec("degradation")
    for request in (1, 1000, 1001, 2000):
        assert drift.best_at(request) == spec.best(request)
    assert settings["scores"].bandit.means.tolist() == [5.0, 5.5, 6.0, 7.0]
    assert settings["latencies"].delay is None


def test_arms_have_the_law_of_the_readings():
    """Mean and spread of minus the logarithm; 4.5 sigma, so 1e-5 for a false alarm."""
    found = from_scenario("calm")["bandit"]
    readings = make_scenario(read_spec("calm"), 9).readings
    for k, mu in enumerate(found["means"]):
        rewards = [-math.log(row[k]) for row in readings]
        assert abs(sum(rewards) / len(rewards) - mu) < 4.5 * found["sigma"] / math.sqrt(2000)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("new-deployment", "come or go"),
        ("stals", "Did you mean 'stalls'"),
        (3, "must be the name"),
    ],
)
def test_what_the_arena_cannot_play_is_refused(name, message):
    """With a sentence."""
    with pytest.raises(InvalidInput, match=message):
        from_scenario(name)


def test_what_a_setting_says_itself_wins(tmp_path):
    """Over what its scenario says."""
    text = """
title = "t"
seed = 1
[policies]
"UCB" = "UCB(sigma=sigma)"
[attacks]
"none" = "NoAttack"
[[settings]]
name = "s"
scenario = "stalls"
rho = 0.1
trials = 2
horizon = 50
"""
    path = tmp_path / "mine.toml"
    path.write_text(text)
    setting = read_arena(path).settings[0]
    assert setting.horizon == 50
    assert setting.title == read_spec("stalls").title
