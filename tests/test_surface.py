"""The public surface: what `dir(ia)` shows, and what importing ironarm does not do."""

import ast
import inspect
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import ironarm as ia
from ironarm import attacks, bandits, extend, policies

ROOT = Path(__file__).parent.parent
CORE = {
    "Agent",
    "AsyncClient",
    "Attack",
    "BadFile",
    "Bandit",
    "Certificate",
    "Client",
    "ClosedDecision",
    "Decision",
    "Delay",
    "DurableAgent",
    "InvalidInput",
    "IronarmError",
    "MissingExtra",
    "NotAllowed",
    "OtherAgent",
    "OtherReward",
    "Policy",
    "PolicyFault",
    "PrunedEntries",
    "RadioBandit",
    "Result",
    "RewardWarning",
    "Sources",
    "StoreError",
    "UnknownAgent",
    "UnknownArm",
    "UnknownDecision",
    "__version__",
    "certify",
    "cold",
    "hot",
    "plot",
    "simulate",
}
EXTRAS = (
    "matplotlib",
    "jinja2",
    "pyarrow",
    "dask",
    "distributed",
    "zmq",
    "sigmf",
    "openfeature",
    "pandas",
    "httpx",
    "msgspec",
    "psycopg",
    "starlette",
    "uvicorn",
)
# the author's tools are in `extend`; below these packages each module is documented
PUBLIC = ("ironarm", "ironarm.attacks", "ironarm.extend", "ironarm.policies", "ironarm.testing")
DOCUMENTED = (
    "ironarm.lab.arena",
    "ironarm.integrations",
    "ironarm.radio",
    "ironarm.lab.studies",
    "ironarm.theory",
)


def test_dir_shows_the_public_names_and_nothing_else():
    """These, and every policy, attack and bandit; test_recorded.py pins their names."""
    expected = CORE | {*policies.__all__, *attacks.__all__, *bandits.__all__}
    assert sorted(expected) == dir(ia)
    assert sorted(ia.__all__) == dir(ia)


def test_no_name_is_there_twice():
    """A policy, an attack and a bandit have names of their own."""
    assert len(ia.__all__) == len(set(ia.__all__))


@pytest.mark.parametrize("module", [ia, extend], ids=lambda module: module.__name__)
def test_every_public_name_can_be_had_and_is_documented(module):
    """Names that are loaded on first use included."""
    for name in module.__all__:
        value = getattr(module, name)
        assert isinstance(value, str) or inspect.getdoc(value), name


@pytest.mark.parametrize("module", [ia, extend], ids=lambda module: module.__name__)
def test_help_fits_on_a_screen(module):
    """What comes before the first section has at most 200 words; docs/ has the rest."""
    for name in module.__all__:
        text = inspect.getdoc(getattr(module, name)) or ""
        explanation = re.split(r"^\w+\n-{3,}$", text, maxsplit=1, flags=re.MULTILINE)[0]
        words = len(explanation.split())
        assert words <= 200, f"{name} has {words} words: move some to a page in docs/"


def test_every_policy_and_attack_of_the_package_is_listed():
    """A class in policies/ or attacks/ that is not in the table would be lost."""
    for package, base in ((policies, ia.Policy), (attacks, ia.Attack)):
        defined = set()
        for path in Path(package.__file__).parent.glob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            defined |= {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
        assert defined - {base.__name__} == set(package.__all__)


def test_importing_changes_nothing_in_the_process():
    """Neither the umask nor a signal handler, and no extra is loaded."""
    program = f"""
import os, signal, sys
def state():
    mask = os.umask(0o27)
    os.umask(mask)
    return mask, [signal.getsignal(number) for number in sorted(signal.valid_signals())]
before = state()
import ironarm
assert state() == before
loaded = sorted(set({EXTRAS!r}) & set(sys.modules))
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def imported(source):
    """The modules of ironarm that a program imports from."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def examples():
    """The programs in the documentation, by the file that they are in."""
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = path.read_text(encoding="utf-8")
        for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
            if ">>>" in block:
                lines = re.findall(r"^(?:>>>|\.\.\.) ?(.*)$", block, flags=re.MULTILINE)
                block = "\n".join(lines)
            yield path.name, block
    for path in sorted((ROOT / "docs" / "examples").rglob("*.py")):
        yield path.name, path.read_text(encoding="utf-8")


def test_the_documentation_imports_from_public_modules_only():
    """What a user copies from there keeps working."""
    checked = 0
    for name, source in examples():
        for module in imported(textwrap.dedent(source)):
            if module.partition(".")[0] == "ironarm":
                checked += 1
                assert module in PUBLIC or module.startswith(DOCUMENTED), (name, module)
    assert checked > 10
