"""What a router is told, when, and how it is scored."""

import dataclasses

import pytest

from ironarm.errors import InvalidInput, RouterFault
from ironarm.lab.scenarios.play import play
from ironarm.lab.scenarios.results import run, table
from ironarm.lab.scenarios.routers import PATIENCE, Greedy, PolicyRouter, RoundRobin, built_in
from ironarm.lab.scenarios.scenario import Scenario, make_scenario
from ironarm.lab.scenarios.spec import read_spec

SMALL = Scenario(
    name="small",
    title="t",
    seed=1,
    goal="min",
    unit="seconds",
    spread=0.1,
    names=("a", "b", "new"),
    joins=(1, 1, 3),
    leaves=(4, 4, 4),
    clean=((1, (1.0, 2.0, 0.5)), (3, (1.0, 2.0, 0.5))),
    readings=[[1.1, 2.1, None], [1.2, 2.2, None], [1.3, 2.3, 0.4], [1.4, 2.4, 0.6]],
    after=[[2, 0, None], [0, None, None], [0, 0, 0], [0, 0, 0]],
)


class Scripted:
    """Chooses as told, and writes down what it hears."""

    def __init__(self, *choices):
        self.choices = choices

    def start(self, scenario):
        self.heard = ["start"]

    def choose(self, request, deployments):
        self.heard.append((request, tuple(deployments)))
        return self.choices[request - 1]

    def outcome(self, request, deployment, value):
        self.heard.append((request, deployment, value))

    def end(self):
        self.heard.append("end")


def test_outcomes_are_told_when_they_are_due():
    """Late ones after so many further requests; suppressed ones never."""
    router = Scripted("a", "b", "a", "new")
    play(router, SMALL)
    assert router.heard == [
        "start",
        (1, ("a", "b")),
        (2, ("a", "b")),
        (3, ("a", "b", "new")),
        (1, "a", 1.1),
        (3, "a", 1.3),
        (4, ("a", "b", "new")),
        "end",
    ]


def test_the_score_is_that_of_the_clean_values():
    """Second half: requests 3 and 4. Excess: 0, 1, 0.5, 0."""
    score = play(Scripted("a", "b", "a", "new"), SMALL)
    assert score.best == 0.5
    assert score.excess == 1.5 / 4
    assert score.chosen == [0, 1, 0, 2]
    upside = dataclasses.replace(SMALL, goal="max")
    assert play(Scripted("a", "b", "b", "b"), upside).excess == 1 / 4


def test_a_deployment_that_is_not_there_is_refused():
    """Not yet, or not at all."""
    with pytest.raises(RouterFault, match="chose 'new' for request 1 of small, seed 1"):
        play(Scripted("new"), SMALL)


def test_round_robin_takes_turns():
    """Among those that are there."""
    assert play(RoundRobin(), SMALL).chosen == [0, 1, 2, 0]


def test_greedy_keeps_the_last_ten_and_takes_the_best_mean():
    """Untried ones first."""
    router = Greedy()
    router.start(SMALL)
    for _ in range(30):
        router.outcome(1, "a", 1.0)
        router.outcome(1, "b", 2.0)
    assert router.choose(1, ["a", "b"]) == "a"
    assert router.choose(1, ["a", "b", "new"]) == "new"
    for _ in range(10):
        router.outcome(1, "a", 3.0)
    assert router.choose(1, ["a", "b"]) == "b"


def test_a_policy_follows_deployments_and_cancels_what_never_comes():
    """Open decisions stay bounded; an outcome that comes after that is dropped."""
    router = PolicyRouter("RUCB")
    router.start(SMALL)
    for request in range(1, PATIENCE + 101):
        router.choose(request, ["a", "b"])
    assert len(router._agent.open_decisions) == PATIENCE
    router.outcome(1, "a", 1.0)
    assert sum(router._agent.rewards.values()) == 0
    router.outcome(PATIENCE + 100, "a", 1.0)
    assert sum(router._agent.rewards.values()) == 1
    router.choose(PATIENCE + 101, ["b", "c"])
    assert set(router._agent.arms) == {"b", "c"}
    for request in range(1, PATIENCE + 102):
        router.outcome(request, "a", 1.0 + 3 * (request % 7))  # of one that is gone, or not


def test_the_policy_without_parameters_stands_where_greedy_falls():
    """On two of ours, with two seeds, which is far from a coin's toss."""
    for name in ("fail-fast", "poisoned-scores"):
        for seed in (1, 2):
            scenario = make_scenario(read_spec(name), seed)
            assert play(built_in("policy:CoherentIMED"), scenario).best > 0.95
            assert play(Greedy(), scenario).best < 0.1


def test_all_routers_meet_the_same_requests():
    """Company and order change nothing, and a second run gives the same."""
    scenarios = {"stalls": [make_scenario(read_spec("stalls"), seed) for seed in (1, 2)]}
    alone = run({"greedy": Greedy()}, scenarios)
    routers = {"round-robin": RoundRobin(), "greedy": Greedy()}
    both = run(routers, scenarios)
    assert alone[0] == both[1]
    assert both == run(routers, scenarios)
    assert both[0].best.value == 0.2
    assert both[0].excess.value == pytest.approx(0.5)
    lines = table(both).splitlines()
    assert lines[-1].startswith(min(both, key=lambda one: one.best.value).router)


def test_what_is_no_router_is_refused():
    """A policy that does not exist; a command is left to others."""
    with pytest.raises(InvalidInput, match="Did you mean 'UCB'"):
        built_in("policy:UBC")
    with pytest.raises(InvalidInput, match="empty"):
        built_in(" ")
    assert built_in("python mine.py") is None
