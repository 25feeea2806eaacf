"""`ironarm policies`, `attacks` and `bandits` list what there is, and print pages."""

import ast
import importlib.metadata
import json
import re
import sys
from importlib.metadata import EntryPoint

import pytest

from ironarm.attacks import __all__ as attack_names
from ironarm.cli import main
from ironarm.lab.arena.arena import names_in
from ironarm.lab.arena.read import read_arena
from ironarm.naming import own_code
from ironarm.naming.notation import parse
from ironarm.policies import POLICIES, POLICY
from tests.script import ROOT

OWN = '''
from dataclasses import dataclass
from ironarm.extend import IndexPolicy, LowerMedian

@dataclass(frozen=True)
class Mine(IndexPolicy):
    """My own rule."""

    omega: float = 4.0
    estimator = LowerMedian
    needs = {"omega": "sigma"}

@dataclass(frozen=True)
class Silent(IndexPolicy):
    omega: float
    estimator = LowerMedian
'''


@pytest.fixture
def lab(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(own_code, "_loaded", {})
    (tmp_path / "mine.py").write_text(OWN)
    return tmp_path


def printed(capsys, *arguments):
    assert main(arguments) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("verb", "names"),
    [
        ("policies", list(POLICIES)),
        ("attacks", attack_names),
        ("bandits", ["GaussianBandit", "ReplayBandit", "RadioBandit"]),
    ],
)
def test_all_are_listed_in_80_columns(verb, names, capsys):
    """Each at the beginning of a line."""
    lines = printed(capsys, verb).splitlines()
    assert max(map(len, lines)) <= 80
    firsts = [line.split(" ")[0] for line in lines]
    assert [name for name in names if name not in firsts] == []


def test_a_line_has_parameters_defaults_and_what_one_must_know(capsys):
    """MedEUCB needs to know nothing about rho, unless `for_rho` makes it."""
    rows = {line.split(" ")[0]: line for line in printed(capsys, "policies").splitlines()}
    assert rows["MedEUCB"].split("  ")[-1].strip() == "sigma (omega); for_rho: rho"
    assert "b=4, omega=4, block=None" in rows["MedEUCB"]
    data = {row["name"]: row for row in json.loads(printed(capsys, "policies", "--json"))}
    assert data["CountIMED"]["needs"] == {"epsilon": "bound on rho", "sigma": "sigma"}
    assert data["CountIMED"]["parameters"] == {"epsilon": None, "sigma": "1", "shift": "True"}
    assert data["CoherentIMED"]["needs"] == {}
    assert data["CoherentIMED"]["use_when"] == POLICIES["CoherentIMED"].use_when
    assert data["HuberUCB"]["remarks"] == ["experimental"]


def test_what_policies_need_is_what_the_arena_gives_them():
    """The same parameters; the arena's horizon is the simulation's."""
    arena = read_arena()
    for text in arena.policies.values():
        name, given = parse(text, POLICY, lambda node: node)
        if name.endswith(".for_rho"):
            continue
        words = {"rho", "sigma", "low", "high", "gap"}
        named = {key for key, node in given.items() if names_in(ast.unparse(node)) & words}
        assert named == set(POLICIES[name].needs) - {"horizon"}, name


@pytest.mark.parametrize("kind", POLICIES.values())
def test_what_a_policy_needs_sets_a_parameter(kind):
    """No key of `needs` is misspelt, and `for_rho` is not needed to know them."""
    assert kind.needs is not None
    assert set(kind.needs) <= set(kind.__dataclass_fields__)


@pytest.mark.parametrize("kind", POLICIES.values())
def test_a_policy_says_what_it_is_and_when_to_use_it(kind):
    """docs/policies.md has it in two tables; names and pages in it exist."""
    assert all(kind.family), f'{kind.__name__}: write family = "its rule", "its estimator"'
    assert "use_when" in vars(kind), f'{kind.__name__}: write use_when = "..." under its needs'
    assert "\n" not in kind.use_when
    assert "|" not in kind.use_when  # it would end the cell of a table
    assert set(re.findall(r"`([A-Z]\w+)`", kind.use_when)) <= set(POLICIES)
    for page in re.findall(r"docs/[\w-]+\.md", kind.use_when):
        assert (ROOT / page).is_file(), page


def test_a_name_prints_its_page(capsys):
    """What one must know, parameters and docstring."""
    page = printed(capsys, "policies", "MedEUCB")
    assert page.startswith("MedEUCB(b=4, omega=4, block=None)\nneeds to know: sigma (omega)\n")
    assert "forced pulls of each arm per unit of log t" in page
    assert "use when: a share of the rewards is corrupt, by any amount" in page
    assert "experimental" in printed(capsys, "policies", "HuberUCB")
    assert "outside the model" in printed(capsys, "attacks", "Bursts")
    assert "drawn at random" in printed(capsys, "bandits", "ReplayBandit")
    assert json.loads(printed(capsys, "attacks", "Mimic", "--json"))["parameters"] == {"rho": None}


def test_own_files_are_listed_and_have_pages(lab, capsys):
    """Only a policy that says so is listed as needing to know nothing."""
    output = printed(capsys, "policies", "mine.py")
    assert "mine.py:Mine " in output
    assert "sigma (omega)" in output
    assert "not stated" in output
    assert "My own rule." in printed(capsys, "policies", "mine.py:Mine")
    assert main(["attacks", "mine.py"]) == 2
    assert "mine.py defines no attack" in capsys.readouterr().err


def test_installed_ones_are_listed_and_a_broken_one_does_not_hide_the_others(
    lab, capsys, monkeypatch
):
    """It says what is wrong with it."""
    points = [
        EntryPoint("Theirs", "ironarm.policies.rucb:RUCB", "ironarm.policies"),
        EntryPoint("Broken", "nowhere_at_all:Policy", "ironarm.policies"),
    ]
    monkeypatch.setattr(
        importlib.metadata,
        "entry_points",
        lambda group: points if group == "ironarm.policies" else [],
    )
    output = " ".join(printed(capsys, "policies").split())
    assert "Theirs omega=4, median='lower' sigma (omega)" in output
    assert "cannot be loaded" in output
    assert printed(capsys, "policies", "Theirs").startswith("Theirs(omega=4")


def test_an_unknown_name_is_refused_with_the_closest(capsys):
    assert main(["policies", "MedUCB"]) == 2
    assert "Did you mean 'MedEUCB'" in capsys.readouterr().err
