"""The search for the worst attack stays within the model and reports simulations.

It can be interrupted, and resumes.
"""

import json
from dataclasses import replace

import numpy as np
import pytest

import ironarm as ia
from ironarm.attacks import ATTACKS, attack_from_text
from ironarm.cli import main
from ironarm.lab.arena.attack_candidates import candidates, named_attacks
from ironarm.lab.arena.worst_case import worst_case
from ironarm.simulation.cells import Cell
from tests.attacks.recording import coin_rounds, seen

BANDIT = ia.GaussianBandit([0, 2, 4])
SETTING = {"rho": 0.2, "horizon": 300, "trials": 40, "budget": 20, "seed": 3}
COMMAND = [
    "worst-case",
    "--policy",
    "UCB",
    "--means",
    "0,2,4",
    "--rho",
    "0.2",
    "--horizon",
    "300",
    "--trials",
    "16",
    "--budget",
    "8",
]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return worst_case(ia.UCB(), BANDIT, tmp_path_factory.mktemp("search"), **SETTING)


def test_the_numbers_are_those_of_simulations(found):
    """Rungs with the search's seed, the attack found and the named ones with the next.

    The text reads back as the attack.
    """

    def regret(attack, trials, seed):
        return ia.simulate(ia.UCB(), BANDIT, attack, horizon=300, trials=trials, seed=seed).regret[
            0, :, -1
        ]

    assert [(len(rung.attacks), rung.trials) for rung in found.rungs] == [(20, 2), (5, 5), (2, 20)]
    for rung in found.rungs:
        assert rung.means == tuple(sorted(rung.means, reverse=True))
        assert regret(rung.attacks[-1], rung.trials, 3).mean() == rung.means[-1]
    assert found.rungs[1].attacks[0] in found.rungs[0].attacks[:5]
    assert found.found.attack == found.rungs[-1].attacks[0]
    again = regret(attack_from_text(repr(found.found.attack), None), 40, 4)
    assert again.mean() == found.found.mean
    worst = max((regret(attack, 40, 4) for attack in named_attacks(BANDIT, 0.2)), key=np.mean)
    assert found.ratio[0] == pytest.approx(again.mean() / worst.mean())
    assert found.ratio[1] <= found.ratio[0] <= found.ratio[2]


def test_it_finds_what_sends_ucb_to_the_worst_arm(found):
    """The attack found costs UCB over 90 % of the largest regret, 4 a round.

    That is more than any named attack costs, in the mean of 40 fresh trials.
    """
    assert 0.9 * 4 * 300 < found.found.mean <= 4 * 300
    assert found.ratio[1] > 1


def test_nothing_is_tried_outside_the_model(found):
    """Every candidate has the given rho and an independent coin.

    The attack found changes rewards only when that coin falls.
    """
    tried = [attack for rung in found.rungs for attack in rung.attacks]
    for attack in [
        *tried,
        found.found.attack,
        *(each.attack for each in found.named),
        *candidates(BANDIT, 0.2, 10_000, 300, seed=5),
    ]:
        assert (attack.rho, attack.within_model, attack.burst) == (0.2, True, 0.0)
    changed = seen(found.found.attack) != seen(ia.NoAttack())
    assert changed.any()
    assert not (changed & ~coin_rounds(0.2)).any()


def test_candidates_differ_and_cover_the_family():
    """300 different candidates have every action and condition, and all sizes.

    The same seed gives the same candidates.
    """
    tried = candidates(BANDIT, 0.2, 10_000, 300, seed=1)
    assert len(set(tried)) == 300
    assert (
        tried
        == candidates(BANDIT, 0.2, 10_000, 300, seed=1)
        != candidates(BANDIT, 0.2, 10_000, 300, seed=2)
    )
    assert tried[:50] == candidates(BANDIT, 0.2, 10_000, 50, seed=1)
    for name in ("best", "runner_up", "worst", "others"):
        assert len({getattr(attack, name) for attack in tried}) == 6 + (name == "best")
    assert min(attack.size for attack in tried) < 0.1 < 1e299 < max(attack.size for attack in tried)
    assert {attack.leader for attack in tried} == {"any", "right", "wrong"}
    assert any(attack.first for attack in tried)
    assert any(attack.after for attack in tried)
    hidden = [attack.shown for attack in tried if attack.shown < 1]
    assert len(hidden) > 30
    assert min(hidden) < 0.2 < 0.8 < max(hidden)


def test_the_search_starts_from_understate_too():
    """One of the first seven candidates shows what `Understate` does."""
    settings = dict(horizon=500, trials=4, seed=6)
    named = ia.simulate(ia.RUCB(), BANDIT, ia.attacks.Understate(rho=0.3), **settings)
    starts = [
        ia.simulate(ia.RUCB(), BANDIT, attack, **settings)
        for attack in candidates(BANDIT, 0.3, 500, 7, seed=1)
    ]
    assert [np.array_equal(named.pulls, each.pulls) for each in starts] == [False] * 6 + [True]


def test_all_named_attacks_within_the_model_are_compared():
    """But for those that the arms do not allow; sigma is the arms'."""
    names = {
        type(attack).__name__ for attack in named_attacks(ia.GaussianBandit([0, 1], sigma=3), 0.2)
    }
    assert names == {name for name, attack in ATTACKS.items() if attack.within_model} - {
        "NoAttack",
        "Shaped",
        "Jammer",
    }
    assert "Jammer" in {type(attack).__name__ for attack in named_attacks(ia.RadioBandit(), 0.2)}
    assert {
        attack.sigma
        for attack in named_attacks(ia.GaussianBandit([0, 1], sigma=3), 0.2)
        if hasattr(attack, "sigma")
    } == {3.0}
    assert "LeastFavourable" not in {
        type(attack).__name__ for attack in named_attacks(ia.BernoulliBandit([0.2, 0.7]), 0.2)
    }


def test_interrupted_it_goes_on_and_finished_it_runs_nothing(tmp_path, capsys, monkeypatch):
    """Ctrl-C is answered with a sentence and exit code 130.

    What is finished is not run again; the answer is that of an uninterrupted search.
    """
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert main([*COMMAND, "--out", str(whole)]) == 0
    original, ran = Cell._simulate, []

    def run(cell, *arguments):
        ran.append(cell.key)
        if len(ran) == 6:
            raise KeyboardInterrupt
        return original(cell, *arguments)

    monkeypatch.setattr(Cell, "_simulate", run)
    assert main([*COMMAND, "--out", str(parts)]) == 130
    assert "the same command resumes" in capsys.readouterr().err
    assert main([*COMMAND, "--out", str(parts)]) == 0
    assert len(set(ran)) == len(ran) - 1  # only the one that was interrupted was run twice
    finished = len(ran)
    assert main([*COMMAND, "--out", str(parts)]) == 0
    assert len(ran) == finished
    assert (parts / "worst_case.json").read_bytes() == (whole / "worst_case.json").read_bytes()


def test_the_page_and_the_json_say_the_same(tmp_path, capsys):
    """The attack as text, its regret, how many candidates were tried."""
    assert main([*COMMAND, "--out", str(tmp_path)]) == 0
    page = " ".join(capsys.readouterr().out.split())
    assert main([*COMMAND, "--out", str(tmp_path), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert f"the worst attack found: {data['found']['attack']} " in page
    assert "8 candidates in 2 trials, then 2 candidates in 8 trials" in page
    assert data["candidates"] == len(data["rungs"][0]["candidates"]) == 8
    assert f"{data['ratio_to_worst_named']['value']:.2f} times" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rho", "0"], "rho must be above 0"),
        (["--means", "1,1"], "have the same mean"),
        (["--budget", "0"], "budget must be a whole number of at least 1"),
        (["--trials", "2"], "trials must be a whole number of at least 4"),
        (["--policy", "UBC"], "Did you mean 'UCB'"),
    ],
)
def test_mistakes_are_one_sentence(tmp_path, capsys, arguments, message):
    """And nothing is run."""
    assert main([*COMMAND, "--out", str(tmp_path), *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_it_says_first_if_it_found_nothing_worse(found):
    """The page begins with the named attack; the JSON says so too."""
    assert found.found_worse
    assert "nothing worse" not in str(found)
    assert "the worst attack found: Shaped(" in str(found)
    harmless = replace(found.found, mean=found.named[0].mean)
    other = replace(found, found=harmless, ratio=(1.0, 0.9, 1.1))
    text = " ".join(str(other).split())
    worst = repr(found.named[0].attack)
    assert text.startswith(f"the search found nothing worse than a named attack, {worst}")
    assert "the worst attack found" not in text
    assert (found.to_dict()["found_worse"], other.to_dict()["found_worse"]) == (True, False)
    for page in (str(found), str(other)):
        assert max(map(len, page.splitlines())) <= 80


def test_swapped_arguments_get_a_sentence(tmp_path):
    with pytest.raises(ia.InvalidInput, match="worst_case\\(policy, bandit, out\\)"):
        worst_case(BANDIT, ia.UCB(), tmp_path, rho=0.2)
    with pytest.raises(ia.InvalidInput, match="got the class GaussianBandit"):
        worst_case(ia.UCB(), ia.GaussianBandit, tmp_path, rho=0.2)
