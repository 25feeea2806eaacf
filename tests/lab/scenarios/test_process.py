"""Routers behind a pipe play as they would here, and every fault has a sentence."""

import sys
from pathlib import Path

import pytest

from ironarm.errors import RouterFault
from ironarm.lab.scenarios import process
from ironarm.lab.scenarios.play import play
from ironarm.lab.scenarios.process import ProcessRouter
from ironarm.lab.scenarios.routers import RoundRobin
from ironarm.lab.scenarios.scenario import make_scenario
from ironarm.lab.scenarios.spec import read_spec

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "router.py"
LOOP = """
import json, sys, time
for line in sys.stdin:
    m = json.loads(line)
    if m["type"] == "request":
        n = m["request"]
        d = m["deployments"]
        {answer}
"""
ANSWER = 'print(json.dumps({"deployment": d[(n - 1) % len(d)]}), flush=True)'


@pytest.fixture(scope="module")
def scenario():
    return make_scenario(read_spec("delayed"), 1)


@pytest.fixture
def router(tmp_path):
    """Make a router of the code that answers a request; it is closed at the end."""
    made = []

    def of(answer, **options):
        file = tmp_path / "router.py"
        file.write_text(LOOP.replace("{answer}", answer))
        made.append(ProcessRouter(f"{sys.executable} {file}", **options))
        return made[-1]

    yield of
    for one in made:
        one.close()


@pytest.mark.parametrize("restart", [False, True])
def test_a_command_plays_as_the_same_router_here(router, scenario, restart):
    """Also in a second run, by the same process or by a new one."""
    command = router(ANSWER, restart=restart)
    first, second = play(command, scenario), play(command, scenario)
    assert first == second == play(RoundRobin(), scenario)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ('print("east", flush=True)', "answered 'east'; expected one line like"),
        ("print(json.dumps(d[0]), flush=True)", "answered"),
        ('print(\'{"deployment": "mars"}\', flush=True)', "with one of east, west"),
        ('print(\'{"deployment": ["east"]}\', flush=True)', "answered"),
        ("print('x' * 200_000, flush=True)", "answered 'xxx"),
        ("sys.exit(3)", "ended with exit code 3"),
        ("1 / 0", "It wrote on standard error: .*ZeroDivisionError"),
        ("__import__('os').close(1)", "closed its standard input or output"),
    ],
)
def test_a_fault_says_what_and_where(router, scenario, answer, message, monkeypatch):
    """At which request, of which scenario and seed; and the process is gone."""
    monkeypatch.setattr(process, "PATIENCE", 1.0)
    command = router(f"exec({answer!r}) if n == 3 else {ANSWER}")
    with pytest.raises(RouterFault, match=message) as caught:
        play(command, scenario)
    assert "at request 3 of delayed, seed 1" in str(caught.value)
    assert command._process is None


def test_an_answer_that_does_not_come_is_waited_for_so_long(router, scenario):
    """And not longer; the process is ended."""
    command = router(f"time.sleep(60) if n == 2 else {ANSWER}", timeout=0.3)
    with pytest.raises(RouterFault, match=r"gave no answer within 0\.3 s"):
        play(command, scenario)
    assert command._process is None


def test_a_command_that_does_not_exist():
    """It says what else a router can be."""
    with pytest.raises(RouterFault, match=r"cannot be started.*round-robin, greedy"):
        ProcessRouter("no-such-command").start(make_scenario(read_spec("calm"), 1))


def test_the_example_of_the_documentation_learns():
    """On medians with some exploring: it stands fail-fast."""
    command = ProcessRouter(f"{sys.executable} {EXAMPLE}")
    try:
        score = play(command, make_scenario(read_spec("fail-fast"), 1))
    finally:
        command.close()
    assert 0.8 < score.best < 0.98  # one request in ten explores
