"""Progress says what is true: once, and for the work that is counted."""

import pytest

import ironarm as ia
from ironarm.simulation import progress
from ironarm.simulation.cells import Cell, compile_cells
from ironarm.simulation.progress import Progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test moves."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_time_to_prepare_does_not_count(clock, capsys):
    """So the first line is about the work, and tells how long the rest takes."""
    with Progress("", 100, True, "step 1 of 2") as bar:
        bar.announce("compiling")
        clock[0] += 60
        bar.note("working")
        bar.refresh()
        clock[0] += 10
        bar.advance(25)
        bar.refresh()
    assert capsys.readouterr().err == (
        "step 1 of 2: compiling\nstep 1 of 2: working: 25 %, 10 s, about 30 s left in this step\n"
    )


def test_the_same_is_announced_once(capsys):
    """In a pipe, where lines stay."""
    with Progress("", 1, True) as bar:
        for _ in range(2):
            bar.announce("compiling")
    assert capsys.readouterr().err == "compiling\n"


def test_what_is_missing_is_announced_once_for_all_policies_and_loops(monkeypatch, tmp_path):
    """An attack that sees every reward needs a second one; and never without need."""
    from ironarm.engine import machine, warm

    loops = []
    monkeypatch.setattr(machine.Machine, "is_there", lambda self, name: name in loops)
    monkeypatch.setattr(warm, "_start", lambda *_: [])
    bandit = ia.GaussianBandit([0, 1])
    cells = [
        Cell(policy, bandit, attack, 10, 1, 1, (10,))
        for policy in (ia.UCB(), ia.RUCB())
        for attack in (ia.NoAttack(), ia.attacks.Overtake(rho=0.1))
    ]
    for there, expected in (([], 1), (["run"], 1), (["run", "run_observed", "repack"], 0)):
        loops[:] = there
        said = []
        compile_cells(cells, said.append)
        assert len([line for line in said if line.startswith("compiling ")]) == expected
        assert len([line for line in said if line.startswith("compiled in ")]) == bool(expected)
