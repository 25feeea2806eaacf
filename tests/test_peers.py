"""The comparison with other libraries: its rewards, its tables, its page."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import ironarm as ia

from .naive import TWINS

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
FOLDERS = [str(BENCHMARKS), str(BENCHMARKS / "peer_players")]
sys.path[:0] = FOLDERS

import playing  # noqa: E402

import peer_tables  # noqa: E402
import peers  # noqa: E402

# other tests have modules of the same names
del sys.path[: len(FOLDERS)]


@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_peers_get_the_rewards_of_a_simulation(rho):
    """A plain UCB on the table that peers play has the regret of a simulation."""
    setting, policy = peers.Setting(rho, 300), ia.UCB()

    def naive_ucb(value, seed):
        state = {"t": 0}
        naive = TWINS["UCB"](10, 300, None, policy.alpha, policy.sigma)

        def select():
            state["t"] += 1
            return naive.select(state["t"])

        return select, naive.update

    result = ia.simulate(
        policy,
        ia.GaussianBandit(means=peers.PAPER_MEANS),
        setting.attack,
        horizon=300,
        trials=3,
        seed=5,
        workers=1,
        progress=False,
    )
    tables = peers.rewards_shown(setting, 5, range(3))
    played = [playing.play(playing.Contender(naive_ucb), None, table, 1) for table in tables]
    regret, last_tenth = np.array(played).T
    assert regret == pytest.approx(result.regret[0, :, -1])
    assert last_tenth == pytest.approx(result.last_tenth[0])


def test_the_page_has_the_tables_of_the_last_record():
    """docs/peers.md shows what benchmarks/peers.json holds, and nothing older."""
    page = peer_tables.PAGE.read_text(encoding="utf-8")
    assert peer_tables.written(page, peer_tables.recorded()) == page


def test_the_record_is_of_the_peers_that_are_pinned():
    """Each peer is in both measurements, in its pinned version."""
    record = peer_tables.recorded()
    pinned = {peer.label for peer in peers.PEERS} | {f"ironarm {ia.__version__}"}
    assert {row["package"] for row in record["speed"]} == pinned
    assert {row["package"] for row in record["behaviour"]} == pinned


def test_what_an_interrupted_run_measured_is_kept(tmp_path):
    """A line that was being written is lost; those before and after it are not."""
    path = tmp_path / "kept.jsonl"
    peers.Kept(path, fresh=False).keep("a", 1)
    with path.open("a") as file:
        file.write('\n{"b": [1, ')
    peers.Kept(path, fresh=False).keep("c", 3)
    kept = peers.Kept(path, fresh=False)
    assert [kept.speed(key) for key in "abc"] == [1, None, 3]
    assert peers.Kept(path, fresh=True).speed("a") is None


def test_cells_say_what_was_found():
    """Mean, interval, share stuck, value, a mark at the grid's end; or the error."""
    found = {"mean": 1234.4, "low": 1000, "high": 1500, "stuck": 0.05, "value": 0.1, "edge": True}
    assert peer_tables.cell(found, None) == "1,234 (1,000 to 1,500), 5 % stuck*"
    assert peer_tables.cell(found, "tau").endswith("5 % stuck; tau = 0.1*")
    failed = {"failed": "OverflowError: math range error", "value": 2}
    assert peer_tables.cell(failed, "tau") == "fails: OverflowError; tau = 2"


def test_a_policy_that_fails_is_reported():
    """The error of a peer's policy is an answer; an unknown policy's too."""
    contenders = {"broken": playing.Contender(lambda value, seed: 1 / value)}
    request = {"what": "contenders"}
    (shown,) = playing.answer(json.loads(json.dumps(request)), contenders, {})
    assert shown == {"policy": "broken", "parameter": None, "default": None, "grid": []}
    with pytest.raises(ZeroDivisionError):
        playing.play(contenders["broken"], 0, np.zeros((10, 10)), 1)
