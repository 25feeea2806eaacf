"""Importing ironarm loads names; modules are loaded when their names are used."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import ironarm as ia
from ironarm.engine import switches
from ironarm.lazy import Names

PACKAGES = ["ironarm", *(f"ironarm.{x}" for x in ("policies", "attacks", "agent", "estimators"))]
PACKAGES += ["ironarm.theory"]


def loaded_by(program, *arguments):
    """The modules that a new process has loaded after a program."""
    ending = "\nimport sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program + ending, *arguments],
        check=True,
        capture_output=True,
        text=True,
    )
    return set(done.stdout.split())


def test_importing_ironarm_loads_almost_nothing():
    """Neither NumPy nor any policy; the same for the command line."""
    of_numpy = {"numpy", "scipy", "numba", "llvmlite", "rich"}
    assert not of_numpy & loaded_by("import ironarm")
    assert not of_numpy & loaded_by("import ironarm.cli")
    loaded = loaded_by("import ironarm.policies, ironarm.attacks, ironarm.theory")
    here = {name for name in loaded if name.startswith("ironarm.")}
    assert not {"ironarm.policies.ucb", "ironarm.attacks.constant", "ironarm.theory.sharp"} & here


def test_a_name_loads_what_it_needs_and_no_other():
    """A policy does not load the others, nor an agent the simulator."""
    loaded = loaded_by("import ironarm as ia; ia.MedEUCB(); ia.Agent")
    policies = {name for name in loaded if name.startswith("ironarm.policies.")}
    assert policies == {"ironarm.policies.med_e_ucb"}
    assert not {"ironarm.simulation", "ironarm.theory.sharp", "scipy.stats"} & loaded
    assert "importlib.metadata" not in loaded


@pytest.mark.skipif(
    switches.DISABLED or switches.PUBLIC_ONLY, reason="nothing is compiled, or not kept"
)
def test_what_is_compiled_already_needs_no_numba():
    """An agent and a simulation: the first process compiles, the second only loads."""
    program = """if True:
    import ironarm as ia
    agent = ia.Agent(arms=["a", "b"], seed=1)
    agent.update(agent.select(), 1.0)
    ia.simulate(ia.UCB(), ia.GaussianBandit([0, 1]), horizon=10, trials=1, seed=1)
    """
    loaded_by(program)
    assert not {"numba", "scipy"} & loaded_by(program)


@pytest.mark.parametrize("verb", ["", "simulate", "serve", "decide", "keys", "reproduce"])
def test_help_needs_no_numpy(verb):
    """Nor does the help of a verb load what the verb would run."""
    program = """if True:
    import contextlib, io, sys
    from ironarm.cli import main
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main([*sys.argv[1:], "--help"])
    """
    loaded = loaded_by(program, *filter(None, [verb]))
    assert not {"numba", "scipy", "matplotlib", "starlette", "uvicorn"} & loaded
    if not verb:
        assert "numpy" not in loaded


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_can_be_had(package):
    """It is shown by `dir`, and what it stands for is the same each time."""
    module = import_module(package)
    for name in module.NAMES:
        assert name in dir(module)
        assert getattr(module, name) is getattr(module, name)
    with pytest.raises(AttributeError, match=rf"module '{package}' has no attribute 'Nothing'"):
        module.Nothing  # noqa: B018


@pytest.mark.parametrize("package", PACKAGES)
def test_no_name_is_that_of_a_module(package):
    """Python would put the module in its place as soon as somebody loads it."""
    module = import_module(package)
    modules = {path.stem for path in Path(module.__file__).parent.iterdir()}
    found = {name for name in module.NAMES if name in modules}
    assert found == ({*ia.ROOMS} if package == "ironarm" else set())


def test_names_are_read_from_the_block_for_type_checkers(tmp_path, monkeypatch):
    """In its order, in brackets too; a name can stand for a module."""
    folder = tmp_path / "lazily"
    folder.mkdir()
    (folder / "one.py").write_text("class A: pass\nclass B: pass\n")
    (folder / "two.py").write_text("C = 3\n")
    (folder / "__init__.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "from ironarm.lazy import Names\n"
        "if TYPE_CHECKING:\n"
        "    from math import pi\n"
        "    from .two import C as C\n"
        "    from .one import (\n        B,\n        A,\n    )\n"
        "    from . import two\n"
        "NAMES = Names(__name__, __file__)\n"
        "__getattr__, __dir__ = NAMES.get, NAMES.all\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    package = import_module("lazily")
    assert isinstance(package.NAMES, Names)
    assert list(package.NAMES) == ["C", "B", "A", "two"]
    assert "one" not in vars(package)
    assert (package.C, package.A.__name__, package.two.C) == (3, "A", 3)
    assert {"A", "B", "C", "two", "NAMES"} <= set(dir(package))
    assert list(package.NAMES.all()) == sorted(package.NAMES.all())


def test_classes_by_name_are_loaded_when_asked_for():
    """As a mapping in the order of messages; a class of the same name is not in it."""
    policies = ia.policies.POLICIES
    assert list(policies)[:2] == ["MedEUCB", "MedEpsilonGreedy"]
    assert len(policies) == len(ia.policies.__all__)
    assert policies["UCB"] is ia.UCB
    assert policies.has(ia.UCB)
    assert not policies.has(type("UCB", (), {}))
    assert "Policy" not in policies
    with pytest.raises(KeyError):
        policies["Policy"]
    assert "CustomAttack" not in ia.attacks.ATTACKS
    assert "CustomAttack" in ia.attacks.__all__


def test_threads_that_would_wait_for_each_other_try_again(monkeypatch):
    """Python tells one of them; the names are there all the same."""
    from importlib._bootstrap import _DeadlockError

    from ironarm import lazy

    usual, told = lazy.import_module, []

    def import_module(name, package):
        told.append(name)
        if len(told) < 3:
            raise _DeadlockError("would deadlock")
        return usual(name, package)

    monkeypatch.setattr(lazy, "import_module", import_module)
    assert ia.policies.NAMES.get("UCB").__name__ == "UCB"
    assert len(told) == 3
