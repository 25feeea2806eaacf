"""The public surface: what `dir(ia)` shows, and what importing ironarm does not do."""

import ast
import inspect
import re
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import pytest

import ironarm as ia
from ironarm import attacks, bandits, errors, extend, policies, which_policy

ROOT = Path(__file__).parent.parent
PAPER = {
    "MedEUCB",
    "MedEpsilonGreedy",
    "UCB",
    "EpsilonGreedy",
    "RUCB",
    "EXP3",
    "CatoniUCB",
    "TrimmedUCB",
    "TrimmedEpsilonGreedy",
}
ATTACKS = {
    "Constant",
    "CustomAttack",
    "Infinite",
    "LeastFavourable",
    "Mimic",
    "NoAttack",
    "OppositeUniform",
}
ERRORS = {"InvalidInput", "IronarmError", "StoreError"}
CORE = {
    "Agent",
    "AsyncClient",
    "Certificate",
    "Client",
    "Decision",
    "Delay",
    "DurableAgent",
    "RadioBandit",
    "Result",
    "RewardWarning",
    "Sources",
    "__version__",
    "certify",
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
    "narwhals",
    "httpx",
    "msgspec",
    "psycopg",
    "starlette",
    "uvicorn",
)
# the author's tools are in `extend`; below these packages each module is documented
PUBLIC = tuple(
    f"ironarm{room}" for room in ("", ".attacks", ".errors", ".extend", ".policies", ".testing")
)
DOCUMENTED = (
    "ironarm.lab.arena",
    "ironarm.integrations",
    "ironarm.radio",
    "ironarm.lab.studies",
    "ironarm.theory",
)


def test_dir_shows_the_public_names_and_nothing_else():
    """The paper's policies, those of the table "which policy", and what all need."""
    advised = {re.match(r"\w+", advice.use)[0] for advice in which_policy.ADVICE}
    expected = CORE | PAPER | advised | ATTACKS | ERRORS | {*bandits.__all__}
    assert expected == set(ia.__all__)
    rooms = {"policies", "attacks", "errors", "extend", "testing"}
    assert sorted(expected | rooms) == dir(ia)


@pytest.mark.parametrize("module", [policies, attacks, errors, extend], ids=lambda m: m.__name__)
def test_a_name_that_is_elsewhere_says_where(module):
    """`ia.Overtake` names its module, and the module's name works."""
    modules = {"normal"}  # `ia.normal` is a module
    for name in set(module.__all__) - set(ia.__all__) - modules:
        with pytest.raises(
            AttributeError, match=rf"{name} is in ironarm\.\w+: write ia\."
        ) as raised:
            getattr(ia, name)
        path = re.search(r"write ia\.(\w+)\.(\w+),", str(raised.value))
        assert getattr(getattr(ia, path[1]), path[2]) is getattr(module, name)


def test_a_name_that_is_nowhere_is_refused_as_usual():
    """As Python says it."""
    with pytest.raises(AttributeError, match="module 'ironarm' has no attribute 'Nothing'"):
        ia.Nothing  # noqa: B018


def test_no_name_is_there_twice():
    """A policy, an attack and a bandit have names of their own."""
    assert len(ia.__all__) == len(set(ia.__all__))


def test_a_class_has_a_name_of_its_own():
    """One word, one thing: no two classes of the package share a name."""
    files = (Path(ia.__file__).parent).rglob("*.py")
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8")))]
    counts = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    assert [name for name, count in counts.items() if count > 1] == []


@pytest.mark.parametrize(
    "module", [ia, policies, attacks, errors, extend], ids=lambda module: module.__name__
)
def test_every_public_name_can_be_had_and_is_documented(module):
    """Names that are loaded on first use included."""
    for name in module.__all__:
        value = getattr(module, name)
        assert isinstance(value, str) or inspect.getdoc(value), name


@pytest.mark.parametrize(
    "module", [ia, policies, attacks, errors, extend], ids=lambda module: module.__name__
)
def test_help_fits_on_a_screen(module):
    """What comes before the first section has at most 200 words; docs/ has the rest."""
    for name in module.__all__:
        text = inspect.getdoc(getattr(module, name)) or ""
        explanation = re.split(r"^\w+\n-{3,}$", text, maxsplit=1, flags=re.MULTILINE)[0]
        words = len(explanation.split())
        assert words <= 200, f"{name} has {words} words: move some to a page in docs/"


def test_every_policy_and_attack_of_the_package_is_listed():
    """A class in policies/ or attacks/ that is not in the table would be lost."""
    for package, base in ((policies, ia.extend.Policy), (attacks, ia.extend.Attack)):
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
