"""The arena's page says what the scores say, and its bounds agree with theory's.

An interrupted arena resumes.
"""

import json
import math
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

import ironarm as ia
from ironarm.cli import main
from ironarm.errors import BadFile, InvalidInput
from ironarm.lab.arena import runner as arena_runner
from ironarm.lab.arena.advice import advice
from ironarm.lab.arena.floors import attack_floor, unknown_floor, worst_floor
from ironarm.lab.arena.names import shipped
from ironarm.lab.arena.read import read_arena
from ironarm.lab.arena.report import _setting_table
from ironarm.lab.arena.runner import ArenaFindings, PolicyScore, run_arena
from ironarm.lab.arena.standings import comparisons, rows, standings
from ironarm.lab.kit import cell_runner
from ironarm.lab.kit.statistics import Estimate
from ironarm.simulation.progress import Progress
from ironarm.theory import regret_floor

FILE = Path(__file__).parent / "small_arena.toml"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The small arena, run once."""
    out = tmp_path_factory.mktemp("arena")
    assert main(["arena", str(FILE), "--out", str(out)]) == 0
    return out


def test_every_policy_meets_every_attack(finished):
    """A score for each, but for the policy that refuses a setting, and says why."""
    found = json.loads((finished / "report.json").read_text())
    places = {
        (score["setting"], score["rho"], score["attack"], score["policy"])
        for score in found["scores"]
    }
    assert len(places) == len(found["scores"]) == 2 * 3 * 4 + 1 * 3 * 3
    assert [(one["setting"], one["policy"]) for one in found["refused"]] == [("close", "CountIMED")]
    assert "can hide a gap" in found["refused"][0]["why"]


def test_a_score_is_the_simulation_of_that_policy_alone(finished):
    """The same numbers as `simulate` gives without the others."""
    found = json.loads((finished / "report.json").read_text())
    score = next(
        s
        for s in found["scores"]
        if (s["setting"], s["rho"], s["attack"], s["policy"]) == ("close", 0.2, "Mimic", "UCB")
    )
    bandit = read_arena(FILE).settings[1].bandit
    alone = ia.simulate(
        ia.UCB(sigma=1.73),
        bandit,
        ia.Mimic(rho=0.2),
        horizon=1000,
        trials=4,
        seed=1,
        progress=False,
    )
    assert score["regret"]["value"] == pytest.approx(alone.regret[0, :, -1].mean(), rel=1e-12)
    assert score["stuck"]["value"] == alone.stuck.mean()


def test_an_interrupted_arena_goes_on(finished, tmp_path, monkeypatch):
    """Half of the cells are there, one of them damaged.

    The others are run, and the page has the same numbers.
    """
    shutil.copytree(finished / "cells", tmp_path / "cells")
    files = sorted((tmp_path / "cells").iterdir())
    for path in files[::2]:
        path.unlink()
    files[1].write_bytes(b"not a result")
    asked = []
    together = cell_runner.run_together
    monkeypatch.setattr(
        cell_runner,
        "run_together",
        lambda cells, *rest: asked.extend(cells) or together(cells, *rest),
    )
    assert main(["arena", str(FILE), "--out", str(tmp_path)]) == 0
    assert len(asked) == len(files[::2]) + 1
    before, after = (
        json.loads((folder / "report.json").read_text()) for folder in (finished, tmp_path)
    )
    assert before["scores"] == after["scores"]
    assert sorted(p.name for p in (tmp_path / "cells").iterdir()) == [p.name for p in files]


def test_a_repeated_arena_runs_nothing(finished, monkeypatch, capsys):
    """Everything is there, the page included."""
    monkeypatch.setattr(cell_runner, "run_together", lambda *_: pytest.fail("it was run again"))
    written = (finished / "report.html").stat().st_mtime_ns
    assert main(["arena", str(FILE), "--out", str(finished)]) == 0
    assert (finished / "report.html").stat().st_mtime_ns == written
    assert "already there" in capsys.readouterr().out


def fabricated(regrets):
    """Findings with given mean regrets, {policy: {attack: regret}}.

    The only place is normal at rho = 0.1. One trial in ten is stuck where the regret
    exceeds 1,000.
    """
    arena = read_arena(FILE)
    arena = type(arena)(
        arena.title,
        arena.seed,
        {name: arena.policies[name] for name in regrets},
        arena.attacks,
        (arena.settings[0],),
    )
    object.__setattr__(arena.settings[0], "rho", (0.1,))
    findings = ArenaFindings(
        arena,
        within_model=dict.fromkeys(arena.attacks, True),
        nanoseconds=dict.fromkeys(regrets, 50.0),
    )
    for attack in arena.attacks:
        findings.scores["normal", 0.1, attack] = {
            name: PolicyScore(
                Estimate(values[attack], values[attack], values[attack]),
                values[attack],
                Estimate(0.1 * (values[attack] > 1000), 0, 1),
                0.9,
            )
            for name, values in regrets.items()
        }
        findings.attack_floor["normal", 0.1, attack] = 100.0
    findings.worst_floor["normal", 0.1] = 200.0
    findings.unknown_floor["normal", 0.1] = 300.0
    return findings


def test_policies_are_sorted_by_their_worst_case():
    """Not by how they do without an attack."""
    findings = fabricated(
        {
            "UCB": {"none": 10, "Infinite": 5000, "Mimic": 20},
            "MedEUCB": {"none": 300, "Infinite": 310, "Mimic": 305},
            "CountIMED": {"none": 100, "Infinite": 90, "Mimic": 155},
        }
    )
    made = rows(findings, findings.arena.settings[0], 0.1)
    assert [row.policy for row in made] == ["CountIMED", "MedEUCB", "UCB"]
    assert [row.attack for row in made] == ["Mimic", "Infinite", "Infinite"]
    assert [row.to_best for row in made] == [1, 2, pytest.approx(5000 / 155)]
    assert made[0].to_worst_floor == 155 / 200
    assert made[0].to_attack_floor == 1.55
    assert [row.stuck for row in made] == [0, 0, 0.1]
    assert [standing.most for standing in standings(findings)] == [row.to_best for row in made]


def test_advice_follows_from_the_scores_and_from_what_a_policy_needs():
    """With less knowledge, the best of the policies that need no more is advised.

    Without an attack the plain policy wins.
    """
    findings = fabricated(
        {
            "UCB": {"none": 10, "Infinite": 5000, "Mimic": 20},
            "MedEUCB": {"none": 300, "Infinite": 310, "Mimic": 305},
            "CountIMED": {"none": 100, "Infinite": 90, "Mimic": 155},
        }
    )
    given = [(piece.when, piece.policy) for piece in advice(findings)]
    assert [policy for _, policy in given] == ["CountIMED", "MedEUCB", "CountIMED", "UCB"]
    assert given[-1][0] == "Nobody attacks"
    turned = fabricated(
        {
            "UCB": {"none": 10, "Infinite": 20, "Mimic": 20},
            "CountIMED": {"none": 100, "Infinite": 90, "Mimic": 155},
        }
    )
    assert advice(turned)[0].policy == "UCB"


def test_an_attack_outside_the_model_does_not_count():
    """It is shown, and not what a policy is judged by."""
    findings = fabricated(
        {
            "UCB": {"none": 10, "Infinite": 5000, "Mimic": 20},
            "MedEUCB": {"none": 300, "Infinite": 310, "Mimic": 305},
        }
    )
    findings.within_model["Infinite"] = False
    made = rows(findings, findings.arena.settings[0], 0.1)
    assert [(row.policy, row.attack, row.outside) for row in made] == [
        ("UCB", "Mimic", ("Infinite", 5000)),
        ("MedEUCB", "Mimic", ("Infinite", 310)),
    ]


def test_two_policies_are_compared_attack_by_attack():
    """The largest ratio counts, within the model and where the second is not stuck."""
    findings = fabricated(
        {
            "UCB": {"none": 10, "Infinite": 5000, "Mimic": 20},
            "MedEUCB": {"none": 300, "Infinite": 310, "Mimic": 305},
        }
    )
    object.__setattr__(findings.arena, "compare", (("MedEUCB", "UCB"), ("UCB", "MedEUCB")))
    one, other = comparisons(findings)
    assert (one.most, one.attack, one.groups) == (30, "none", 2)  # under Infinite UCB is stuck
    assert (other.most, other.attack, other.regrets) == (5000 / 310, "Infinite", (5000, 310))
    findings.within_model["Infinite"] = False
    assert comparisons(findings)[1].attack == "Mimic"


def test_what_a_policy_needs_is_read_off_its_text():
    """Names in the parameters, and the horizon if its numbers depend on it."""
    arena = read_arena(FILE)
    assert {name: arena.needs(name) for name in arena.policies} == {
        "UCB": ("sigma",),
        "MedEUCB": ("sigma",),
        "CountIMED": ("rho", "sigma", "smallest gap"),
        "EXP3": ("range", "horizon"),
    }


@pytest.mark.parametrize("rho", [0.05, 0.125, 0.3])
def test_floors_agree_with_theory_for_normal_arms(rho):
    """The integrals on a grid against the closed forms, to four digits."""
    bandit = ia.GaussianBandit(range(2, 21, 2), sigma=1)
    assert worst_floor(bandit, rho, 100_000) == pytest.approx(
        regret_floor(bandit, rho, 100_000), rel=1e-4
    )
    assert attack_floor(bandit, ia.Infinite(rho=rho), rho, 100_000) == pytest.approx(
        regret_floor(bandit, rho, 100_000, far=True), rel=1e-4
    )


def test_the_floor_for_a_share_that_is_not_known():
    """As theory has it for normal arms with one sigma; for others there is none."""
    bandit = ia.GaussianBandit(range(2, 21, 2), sigma=1)
    assert unknown_floor(bandit, 0.3, 100_000) == regret_floor(
        bandit, 0.3, 100_000, far=True, cap=0.4
    )
    assert unknown_floor(ia.GaussianBandit([0, 1.9]), 0.1, 1000) == math.inf
    for other in (
        ia.GaussianBandit([0, 4], sigma=[1, 2]),
        ia.GaussianBandit([4, 4]),
        ia.BernoulliBandit([0.2, 0.9]),
    ):
        assert math.isnan(unknown_floor(other, 0.1, 1000))


def test_the_report_has_the_floors_of_each_place(finished):
    """Heavy tails have none for a share that is not known; JSON has no NaN."""
    found = json.loads((finished / "report.json").read_text())["floors"]
    assert [(one["setting"], one["rho"]) for one in found] == [
        ("normal", 0.1),
        ("normal", 0.3),
        ("close", 0.2),
    ]
    normal = ia.GaussianBandit([4, 2, 0])
    for one in found[:2]:
        known = regret_floor(normal, one["rho"], 2000, far=True)
        assert known < one["share_unknown"] == unknown_floor(normal, one["rho"], 2000)
        assert one["any_attack"] == worst_floor(normal, one["rho"], 2000)
    assert not isinstance(found[2]["share_unknown"], float)
    assert "must stand every share up to 0.4 has a floor of" in (
        finished / "report.html"
    ).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("floor", "words"),
    [
        (1171.9, "every share up to 0.4 has a floor of 1,172, even if outliers"),
        (math.inf, "Here no policy can stand every share up to 0.4."),
        (math.nan, None),
    ],
)
def test_the_page_has_the_floor_for_a_share_that_is_not_known(floor, words):
    """Below the table of each place, as far as it is known."""
    findings = fabricated({"UCB": {"none": 10, "Infinite": 5000, "Mimic": 20}})
    findings.unknown_floor["normal", 0.1] = floor
    note = _setting_table(findings, findings.arena.settings[0], 0.1).note
    assert note.startswith("The floor under any attack is 200.")
    assert words in note if words else "share" not in note


def test_the_worst_attack_has_the_lowest_information():
    """No given attack has a floor above the worst one's, for other laws too.

    Indistinguishable arms have an infinite floor.
    """
    for setting in read_arena().settings:
        for rho in setting.rho:
            worst = worst_floor(setting.bandit, rho, setting.horizon)
            for attack in (ia.NoAttack(), ia.Infinite(rho=rho), ia.Mimic(rho=rho)):
                assert (
                    0
                    < attack_floor(setting.bandit, attack, rho, setting.horizon)
                    <= worst * (1 + 1e-6)
                )
    assert worst_floor(ia.GaussianBandit([0, 1]), 0.3, 1000) == math.inf


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"Infinite" = "Infinite"', '"Infinite" = "Infinit"', "Did you mean"),
        ("UCB(sigma=sigma)", "UCB(sigm=sigma)", "has no parameter 'sigm'"),
        ('name    = "close"', 'name    = "normal"', "appears twice"),
        ("rho     = 0.2", "rho     = 0.7", "rho must be"),
        ("horizon = 1_000", "horizont = 1_000", "horizont"),
        ('"t(3)"', '"student(3)"', "unknown law"),
        ("gap = 0.5", "gab = 0.5", "unknown field 'gab'"),
        ("sigma = 1.73, ", "", "uses sigma, which the setting 'close' does not state"),
        ('"Infinite" = "Infinite"', '"Infinite" = "Infinite(rho=0.3)"', "rho of its own"),
        ("rho     = [0.1, 0.3]", "rho     = [0.1, 0.10000001]", "appears twice"),
        ("means = [4, 2, 0]", "means = [2, 2, 2]", "same mean"),
        ("rho     = 0.2", "rho     = 0.2\nwithout = ['mimic']", "Did you mean 'Mimic'"),
        ("rho     = 0.2", "rho     = 0.2\nwithout = 'Mimic'", "must be a list of attacks"),
        (
            "rho     = 0.2",
            "rho     = 0.2\nwithout = ['none', 'Infinite', 'Mimic']",
            "all attacks in the setting 'close' are outside the model",
        ),
    ],
)
def test_a_bad_file_is_refused_with_what_was_meant(tmp_path, old, new, words):
    """Before anything is run."""
    assert old in FILE.read_text()
    path = tmp_path / "arena.toml"
    path.write_text(FILE.read_text().replace(old, new, 1))
    with pytest.raises(InvalidInput, match=words):
        read_arena(path)


def test_policies_are_judged_within_the_model(tmp_path):
    """So one attack must be."""
    path = tmp_path / "arena.toml"
    path.write_text(
        FILE.read_text().replace(
            '"none"     = "NoAttack"\n"Infinite" = "Infinite"\n"Mimic"    = "Mimic"',
            '"Bursts" = "Bursts"',
        )
    )
    with pytest.raises(InvalidInput, match="outside the model"):
        read_arena(path)


def test_a_place_where_nobody_plays_is_refused(tmp_path):
    """Before anything is run, with the reason."""
    path = tmp_path / "arena.toml"
    lines = [
        line
        for line in FILE.read_text().splitlines()
        if not line.startswith(('"UCB"', '"MedEUCB"', '"EXP3"'))
    ]
    path.write_text("\n".join(lines))
    with pytest.raises(
        InvalidInput,
        match=r"no policy plays in the setting 'close' at rho = 0\.2: .* can hide a gap",
    ):
        run_arena(read_arena(path), tmp_path)
    assert not list((tmp_path / "cells").glob("*.npz"))


def test_laws_without_densities_have_no_floor(tmp_path):
    """The page says so, and does not call the arms indistinguishable.

    An attack that needs densities is refused, by its name and the setting's, or left
    out there alone.
    """
    path = tmp_path / "arena.toml"
    words = (
        FILE.read_text()
        .replace('"t(3, loc=0.5)", "t(3)"', '"binom(10, 0.7)", "binom(10, 0.3)"')
        .replace('"Mimic"    = "Mimic"', '"Hidden"   = "LeastFavourable"')
    )
    path.write_text(words)
    with pytest.raises(
        InvalidInput,
        match=(
            r"the attack 'Hidden' does not fit the setting 'close': LeastFavourable needs arms "
            r"with densities.* add without = \['Hidden'\]"
        ),
    ):
        read_arena(path)
    path.write_text(f"{words}without = ['Hidden']\n")
    assert main(["arena", str(path), "--trials", "1", "--out", str(tmp_path)]) == 0
    page = (tmp_path / "report.html").read_text()
    assert "No floor is known" in page
    assert "cannot be told apart" not in page
    assert "Not played here: Hidden." in page
    played = {
        (score["setting"], score["attack"])
        for score in json.loads((tmp_path / "report.json").read_text())["scores"]
    }
    assert played == {
        (setting, attack)
        for setting in ("normal", "close")
        for attack in ("none", "Infinite", "Hidden")
    } - {("close", "Hidden")}


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    """Not there, not a file, not TOML."""
    with pytest.raises(InvalidInput, match=r"there is no arena file .*none\.toml"):
        read_arena(tmp_path / "none.toml")
    with pytest.raises(BadFile, match="cannot be read"):
        read_arena(tmp_path)
    (tmp_path / "broken.toml").write_text("title = ")
    with pytest.raises(BadFile, match="TOML"):
        read_arena(tmp_path / "broken.toml")


def test_the_default_arena_can_be_read_and_printed(capsys):
    """Every policy, attack and setting of it exists.

    What is printed can be used as a file.
    """
    arena = read_arena()
    assert {setting.name for setting in arena.settings} >= {
        "paper",
        "radio",
        "small-gaps",
        "hundred-arms",
        "student-t",
        "skewed",
    }
    everywhere = [read_arena(path) for path in shipped().values()]
    kinds = {
        text.split("(")[0].split(".")[0] for each in everywhere for text in each.policies.values()
    }
    assert kinds <= set(ia.policies.POLICIES)  # a selection: a policy need not be there
    # all but the one for radio channels alone
    known = {text.split("(")[0] for each in everywhere for text in each.attacks.values()}
    assert known == set(ia.attacks.ATTACKS) - {"Jammer"}
    assert main(["arena", "--print"]) == 0
    assert capsys.readouterr().out.startswith("# What the arena runs")


def test_quick_and_trials_change_the_trials_alone(tmp_path):
    """From the file, or from the command line."""
    assert [setting.trials for setting in read_arena(FILE, quick=True).settings] == [3, 2]
    assert [setting.trials for setting in read_arena(FILE, trials=5).settings] == [5, 5]
    findings = run_arena(read_arena(FILE, trials=1), tmp_path)
    assert findings.computed + findings.shared == 33
    assert findings.kept == 0


def test_lower_bounds_for_coins_are_not_shown_where_sources_are_corrupt(tmp_path):
    """Nor where arms change; a run of a setting with sources writes none."""
    ours = {name: read_arena(shipped()[name]).settings for name in ("sources", "drift")}
    assert all(setting.without_floor == "" for setting in read_arena(FILE).settings)
    assert all("sources" in setting.without_floor for setting in ours["sources"])
    changes = [len(setting.bandit.segments) > 1 for setting in ours["drift"]]
    assert changes == [setting.without_floor == "the arms change" for setting in ours["drift"]]
    assert any(changes)
    (tmp_path / "sourced.toml").write_text("""
        title = "sources"
        seed = 1
        policies = { UCB = "UCB(sigma=sigma)" }
        attacks = { none = "NoAttack", Mimic = "Mimic" }
        [[settings]]
        name = "sensors"
        title = "sensors"
        bandit = { name = "GaussianBandit", means = [2, 0], sigma = 1 }
        known = { sigma = 1 }
        sources = { count = 20, active = 3 }
        rho = 0.1
        horizon = 100
        trials = 2
    """)
    findings = run_arena(read_arena(tmp_path / "sourced.toml"), tmp_path / "out")
    for floors in (findings.worst_floor, findings.unknown_floor, findings.attack_floor):
        assert floors
        assert all(math.isnan(floor) for floor in floors.values())


@dataclass(frozen=True)
class TimedCell:
    """A cell whose runs take the time that a list says."""

    name: str
    log: tuple[list, ...]
    takes: tuple[float, ...]
    horizon: int = 100_000
    trials: int = 7
    checkpoints: tuple[int, ...] = ()

    @property
    def rounds(self):
        return self.horizon * self.trials

    def run(self, workers, progress):
        order, clock = self.log
        assert workers == 1
        clock[0] += self.takes[order.count(self.name)]
        order.append(self.name)


def test_speeds_are_the_shortest_processor_time_of_turns(monkeypatch):
    """Policies take turns, and one slow run in the list changes nothing."""
    order, clock = [], [0.0]
    log = order, clock
    monkeypatch.setattr(arena_runner, "_clock", lambda: clock[0])
    monkeypatch.setattr(arena_runner, "TIMED_RUNS", 3)
    cells = {
        "a": TimedCell("a", log, (9.0, 2.0, 3.0)),
        "b": TimedCell("b", log, (4.0, 5.0, 4.5)),
    }
    with Progress("", 1, False) as bar:
        speeds = arena_runner._speeds({("s", 0.1, "x"): cells}, bar)
    rounds = 20_000 * arena_runner.TIMED_TRIALS
    assert speeds == {"a": 1e9 * 2 / rounds, "b": 1e9 * 4 / rounds}
    assert order == ["a", "b"] * 3
