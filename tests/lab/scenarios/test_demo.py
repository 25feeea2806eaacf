"""Routers side by side: each plays as it would alone, and the page shows it."""

import re

import pytest

from ironarm.cli import main
from ironarm.lab.scenarios import demo, litellm_strategies
from ironarm.lab.scenarios.demo import ChangingTable, PlainView, side_by_side, view_for
from ironarm.lab.scenarios.litellm_strategies import STRATEGIES, LiteLLMRouter
from ironarm.lab.scenarios.play import play
from ironarm.lab.scenarios.routers import Greedy, RoundRobin
from ironarm.lab.scenarios.scenario import make_scenario
from ironarm.lab.scenarios.spec import read_spec


@pytest.fixture(scope="module")
def scenario():
    return make_scenario(read_spec("degradation"), 1)


def test_each_plays_as_it_would_alone(scenario):
    """Score and choices; the share is that of the last 100 requests."""
    routers = {"greedy": Greedy(), "turns": RoundRobin()}
    found = side_by_side(routers, scenario, lambda request, courses: None)
    for name, router in (("greedy", Greedy()), ("turns", RoundRobin())):
        assert found[name][0] == play(router, scenario)
    excess = scenario.excess()
    score, recent = found["greedy"]
    for t in (0, 50, 99, 1000, 1999):
        window = range(max(0, t - 99), t + 1)
        expected = sum(excess[i][score.chosen[i]] == 0 for i in window) / len(window)
        assert recent[t] == pytest.approx(expected)


def test_a_pipe_gets_a_line_now_and_then(scenario, capsys):
    """Eight of them; the last one says how it ended."""
    with PlainView(scenario) as view:
        side_by_side({"turns": RoundRobin()}, scenario, view)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 8
    assert lines[-1] == "request 2,000: turns 20 %"


def test_a_terminal_gets_a_table(scenario, capsys, monkeypatch):
    """With a bar for each; the last picture stays."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    view = view_for(scenario)
    assert isinstance(view, ChangingTable)
    monkeypatch.setattr(demo, "FRAMES", 1e-9)  # the first and the last picture only
    with view as show:
        side_by_side({"turns": RoundRobin()}, scenario, show)
    output = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().out)
    assert "request 2,000 of 2,000" in output
    assert "█████░" in output
    assert "1,050" in output  # seconds lost: 2,000 times 0.525


def test_without_litellm_the_simplest_take_its_place(tmp_path, monkeypatch, capsys):
    """And the page says nothing about it."""
    monkeypatch.setattr(litellm_strategies, "is_installed", lambda: False)
    assert main(["demo", "router", "--out", str(tmp_path / "demo")]) == 0
    captured = capsys.readouterr()
    assert "LiteLLM is not installed" in captured.err
    rows = [line.split("  ")[0] for line in captured.out.splitlines() if "%" in line][-3:]
    assert rows[0] == "ironarm"
    assert set(rows[1:]) == {"greedy, last 10", "round robin"}
    page = (tmp_path / "demo" / "router.html").read_text()
    assert page.count("<figure") == 1
    assert "ironarm scenarios run fail-fast" in page
    assert "LiteLLM" not in page
    assert (tmp_path / "demo" / "figures" / "share-on-the-best.svg").stat().st_size > 1000


def test_mistakes_get_a_sentence(tmp_path, capsys):
    """Before anything is played."""
    assert main(["demo", "router", "--scenario", "stals", "--out", str(tmp_path)]) == 2
    assert "Did you mean 'stalls'" in capsys.readouterr().err
    assert main(["demo", "router", "--seconds", "-1", "--out", str(tmp_path)]) == 2
    assert "--seconds must be" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")  # LiteLLM's own, when it is imported
@pytest.mark.skipif(
    not litellm_strategies.is_installed(),
    reason="LITELLM'S STRATEGIES ARE NOT TESTED: litellm is missing",
)
def test_the_strategies_of_litellm_play(scenario):
    """The real Router: latency-based keeps the fastest, shuffling takes them all."""
    names = ["slow", "fast"]
    seconds = {"slow": 2.0, "fast": 0.5, "new": 0.1}
    chosen = {}
    for label, (strategy, arguments) in STRATEGIES.items():
        router = LiteLLMRouter(strategy, arguments)
        router.start(scenario)
        chosen[label] = []
        for request in range(1, 61):
            offered = names if request <= 40 else [*names, "new"]
            choice = router.choose(request, offered)
            chosen[label].append(choice)
            router.outcome(request, choice, seconds[choice])
        router.end()
    latency = chosen["LiteLLM latency-based"]
    assert set(latency[5:40]) == {"fast"}
    assert set(latency[45:]) == {"new"}
    shuffled = chosen["LiteLLM simple-shuffle"]
    assert {*shuffled[:40]} == {"slow", "fast"}  # all alike: 1 in 5e11
