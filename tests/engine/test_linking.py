"""Compiled code is kept between processes, never outlives an edit, and lives where
only its owner can write.
"""

import os
import shutil
import subprocess
import sys
import textwrap
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import ironarm as ia
from ironarm.engine import kept
from ironarm.engine.linking import COMMON, Linker
from ironarm.engine.state import State

HELPER = """
from ironarm.extend import hot

@hot
def favourite(s):
    return {arm}
"""
POLICY = """
from dataclasses import dataclass
from ironarm.extend import Policy, hot
from helper import favourite

@dataclass(frozen=True)
class Mine(Policy):
    @staticmethod
    @hot
    def choose(s, t, g):
        return favourite(s)
"""
RUN = """
import sys, os
import ironarm as ia
from ironarm.engine import kept
compiled, save = [], kept.write
def noting(name, data):
    compiled.append(name)
    save(name, data)
kept.write = noting
from mine import Mine
result = ia.simulate(Mine(), ia.GaussianBandit([0, 1, 2]), horizon=50, trials=1, seed=1)
print(result.pulls[0, 0].tolist())
print("compiled anew", sum("Mine" in name for name in compiled))
print("compiler loaded", "numba" in sys.modules)
"""


def run(code, folder, **environment):
    completed = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
            "PYTHONDONTWRITEBYTECODE": "1",
            **environment,
        },
        capture_output=True,
        text=True,
    )
    assert completed.returncode == 0, completed.stderr
    return completed.stdout.splitlines(), completed.stderr


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A folder with a policy, its helper, and a cache with what they compile to."""
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "mine.py").write_text(POLICY)
    (folder / "helper.py").write_text(HELPER.format(arm=1))
    code = "import os; os.umask(0)\n" + RUN
    assert run(code, folder, IRONARM_CACHE_DIR=str(folder / "cache"))[0] == [
        "[0, 50, 0]",
        "compiled anew 1",
        "compiler loaded True",
    ]
    return folder


@pytest.fixture
def copied(compiled, tmp_path):
    """A copy of it, and the environment that names its cache."""
    shutil.copytree(compiled, tmp_path, dirs_exist_ok=True)
    return {"IRONARM_CACHE_DIR": str(tmp_path / "cache")}


def test_an_edit_in_a_helper_file_is_never_missed(tmp_path, copied):
    """The policy's own file keeps its time and contents; a process reuses compiled
    code, the next one, after the edit, does not.
    """
    # what is compiled is loaded without its compiler
    assert run(RUN, tmp_path, **copied)[0] == [
        "[0, 50, 0]",
        "compiled anew 0",
        "compiler loaded False",
    ]
    status = (tmp_path / "helper.py").stat()
    (tmp_path / "helper.py").write_text(HELPER.format(arm=2))
    os.utime(tmp_path / "helper.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert run(RUN, tmp_path, **copied)[0][:2] == ["[0, 0, 50]", "compiled anew 1"]


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
@pytest.mark.parametrize(
    ("cache", "message"),
    [
        ("another user's", "belongs to another user"),
        ("open to all", "other users can write"),
        ("in a file", "cannot be created"),
    ],
)
def test_an_unsafe_or_impossible_cache_is_not_used(tmp_path, cache, message):
    """Its owner could put code there: a warning, and nothing is kept."""
    place = tmp_path / "cache"
    if cache == "in a file":
        place.write_text("not a folder")
        place = place / "cache"
    else:
        place.mkdir()
        place.chmod(0o777 if cache == "open to all" else 0o700)
    if cache == "another user's":
        if os.getuid() != 0:
            pytest.skip("needs root to give a directory away")
        os.chown(place, 12345, 12345)
    code = """
    from ironarm.engine import kept
    print(kept.directory(), kept.is_kept("anything"))
    """
    output, errors = run(code, tmp_path, IRONARM_CACHE_DIR=str(place))
    assert output == ["None False"]
    assert message in errors


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
@pytest.mark.parametrize("mode", [0o720, 0o702, 0o770, 0o755])
def test_a_cache_that_others_can_write_to_is_unsafe(tmp_path, mode):
    """Those of one's own group are others too; reading does no harm."""
    tmp_path.chmod(mode)
    problem = kept._problem(tmp_path)
    assert (problem is None) == (mode == 0o755)
    assert problem is None or "other users can write" in problem


def test_without_numbas_private_options_the_choices_are_the_same(tmp_path):
    """The fallback for a Numba that lacks them: slower, and correct."""
    code = """
    import ironarm as ia
    policies = [ia.MedEUCB(b=1, block=60)]
    bandit, attack = ia.GaussianBandit([0, 1, 2]), ia.OppositeUniform(rho=0.2)
    result = ia.simulate(policies, bandit, attack, horizon=3000, trials=2, seed=1)
    agent = ia.Agent(ia.MedEUCB(b=1, block=60), arms=2, seed=1)
    for x in range(300):
        agent.update(agent.select(), x % 7 / 3)
    from ironarm.engine import jit
    print(jit.known(_nrt=False, no_such_option=1))
    print(result.pulls.tolist(), agent.rewards)
    """
    usual, _ = run(code, tmp_path)
    public, _ = run(code, tmp_path, IRONARM_PUBLIC_NUMBA="1")
    assert (usual[0], public[0]) == ("{'_nrt': False}", "{}")
    assert usual[1] == public[1]


def test_a_numba_that_keeps_code_in_another_way_compiles_anew(tmp_path):
    """One warning, and the work is done."""
    code = """
    from ironarm.engine import jit
    jit._library_class = lambda: None
    import ironarm as ia
    result = ia.simulate(ia.UCB(), ia.GaussianBandit([0, 9]), horizon=50, trials=1, seed=1)
    print(result.pulls[0, 0].sum())
    """
    output, errors = run(
        code, tmp_path, IRONARM_CACHE_DIR=str(tmp_path / "cache"), IRONARM_SHIPPED="0"
    )
    assert output == ["50"]
    assert errors.count("SlowNumba:") == 1
    assert "compiles in a way that ironarm does not know" in errors
    assert not list((tmp_path / "cache").glob("UCB*"))


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
def test_the_cache_is_private(compiled):
    """Created with no access for others, whatever the umask; its files too."""
    cache = compiled / "cache"
    assert {path.stat().st_mode & 0o077 for path in (cache, *cache.iterdir())} == {0}


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
@pytest.mark.parametrize("whose", ["another user's", "writable by all", "a link"])
def test_files_that_others_have_put_into_the_cache_are_not_run(tmp_path, copied, whose):
    """Not even if the directory was made safe afterwards, as a message says to do."""
    if whose == "another user's" and os.getuid() != 0:
        pytest.skip("needs root to give a file away")
    kept = sorted((tmp_path / "cache").glob("*Mine*"))
    assert kept
    for path in kept:
        planted = path.read_bytes()  # nothing is wrong with it but whose it is
        path.unlink()
        if whose == "a link":
            (tmp_path / path.name).write_bytes(planted)
            path.symlink_to(tmp_path / path.name)
        else:
            path.write_bytes(planted)
            path.chmod(0o666 if whose == "writable by all" else 0o600)
            if whose == "another user's":
                os.chown(path, 12345, 12345)
    output, errors = run(RUN, tmp_path, **copied)
    assert output[:2] == ["[0, 50, 0]", "compiled anew 1"]
    assert "they were removed, and nothing of them was run" in errors
    (tmp_path / "cache" / "folder").mkdir()
    (tmp_path / "cache" / "folder").chmod(0o777)  # nothing is loaded from it
    assert "removed" not in run(RUN, tmp_path, **copied)[1]


def make(**functions):
    steps = {name: staticmethod(function) for name, function in functions.items()}
    return dataclass(frozen=True)(type("Mine", (ia.extend.Policy,), steps))


def plain_helper(s):
    return 0


@ia.extend.hot
def uses_a_plain_function(s, t, g):
    return plain_helper(s)


@ia.extend.hot
def uses_an_unknown_name(s, t, g):
    return no_such_name  # noqa: F821


@ia.extend.hot
def uses_text(s, t, g):
    return Path


@ia.extend.hot
def calls_itself(s, t, g):
    return one_more(s, t, g)


@ia.extend.hot
def one_more(s, t, g):
    return calls_itself(s, t + 1, g)


def unmarked(s, t, g):
    return 0


ARM = 2


@ia.extend.hot
def uses_a_number(s, t, g):
    return ARM


@pytest.mark.parametrize(
    ("choose", "message"),
    [
        (
            uses_a_plain_function,
            "'plain_helper', which cannot be compiled: if it is a function, mark it",
        ),
        (uses_an_unknown_name, "'no_such_name', which is not defined"),
        (uses_text, "'Path', which cannot be compiled"),
        (calls_itself, "one_more calls itself through 'calls_itself'; write a loop"),
        (unmarked, "choose is not marked"),
    ],
)
def test_what_cannot_be_compiled_is_refused_with_a_sentence(choose, message):
    """Before the compiler is asked."""
    with pytest.raises(ia.errors.PolicyFault, match=message):
        State(make(choose=choose)(), 3).call("select")


def test_a_hash_does_not_depend_on_where_things_are_installed(monkeypatch):
    """Another checkout, or another environment, finds what was compiled before."""

    @ia.extend.hot
    def root(x):
        return np.sqrt(x)

    here = Linker().key(root)
    monkeypatch.setattr(np.__spec__, "origin", "/elsewhere/numpy/__init__.py")
    COMMON._keys.pop(root)
    assert Linker().key(root) == here


def test_numbers_of_the_module_and_of_enclosing_functions_are_known():
    """Module constants and closures."""
    inner_arm = 1

    @ia.extend.hot
    def choose(s, t, g):
        return inner_arm

    for function, arm in ((choose, 1), (uses_a_number, 2)):
        policy = make(choose=function)()
        state = State(policy, 3)
        assert state.select() == arm


def test_a_function_out_of_line_can_take_the_whole_state():
    """The compiler takes the state apart, but not where something asks for all of
    it.
    """

    @ia.extend.cold
    def takes_the_whole_state(s, t):
        return (t + s.n[1]) % s.arms

    @ia.extend.hot
    def hands_the_state_on(s, t, g):
        return takes_the_whole_state(s, t)

    state = State(make(choose=hands_the_state_on)(), 3)
    assert [state.select() for _ in range(4)] == [1, 0, 1, 0]


def test_code_without_a_source_file_compiles():
    """A policy typed at the bare prompt, and a lambda."""
    names = {"ia": ia}
    exec("@ia.extend.hot\ndef choose(s, t, g):\n    return t % s.arms", names)
    for choose in (names["choose"], ia.extend.hot(eval("lambda s, t, g: t % s.arms"))):
        state = State(make(choose=choose)(), 3)
        assert [state.select() for _ in range(4)] == [1, 2, 0, 1]


def test_names_of_attributes_are_not_taken_for_functions():
    """A field may have the name of the function that reads it, or of another."""

    @ia.extend.hot
    def plain_helper_of_mine(s, t, g):
        return int(s.plain_helper[0]) + int(s.plain_helper_of_mine[0])

    fields = {"plain_helper": "int[1]", "plain_helper_of_mine": "int[1]"}
    kind = type("Mine", (make(choose=plain_helper_of_mine),), {"fields": fields})
    state = State(kind(), 3)
    state.view.plain_helper[0] = 2
    assert state.select() == 2


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"mine": "float[2"}, "declared as 'float\\[2'"),
        ({"mine": "text[arms]"}, "declared as"),
        ({"not a name": "int[1]"}, "declared as"),
        ({"n": "int[arms]"}, "'n' is used twice"),
        ({"_mine": "int[1]"}, "declared as"),
        ({"class": "int[1]"}, "declared as"),
        ({"mine": 3}, "declared as"),
    ],
)
def test_bad_fields_are_refused(fields, message):
    """With an example of what is expected."""
    kind = dataclass(frozen=True)(type("Mine", (make(choose=uses_a_number),), {"fields": fields}))
    with pytest.raises(ia.errors.PolicyFault, match=message):
        State(kind(), 3)


@ia.extend.hot
def with_default(s, arm=2):
    return arm


@ia.extend.hot
def uses_a_default(s, t, g):
    return with_default(s)


@ia.extend.hot
def first_name(s):
    return int(s.second_name[0])


@ia.extend.hot
def second_name(s):
    return int(s.first_name[0])


@ia.extend.hot
def calls_both(s, t, g):
    return first_name(s) + second_name(s)


def test_defaults_are_known_and_names_of_fields_may_be_names_of_helpers():
    """Two helpers that have each other's fields as names do not call each other."""
    state = State(make(choose=uses_a_default)(), 3)
    assert state.select() == 2
    fields = {"first_name": "int[1]", "second_name": "int[1]"}
    kind = type("Mine", (make(choose=calls_both),), {"fields": fields})
    state = State(kind(), 3)
    state.view.first_name[0] = 2
    assert state.select() == 2


SHADOWED = """
from dataclasses import dataclass
from ironarm.extend import Policy, hot
{before}
@dataclass(frozen=True)
class Mine(Policy):
    @staticmethod
    @hot
    def choose(s, t, g):
        return max(0, min(t, 2))
"""


def test_a_builtin_that_is_hidden_is_noticed(tmp_path, copied):
    """Code kept from before must not be used."""
    (tmp_path / "mine.py").write_text(SHADOWED.format(before=""))
    assert run(RUN, tmp_path, **copied)[0][0] == "[0, 1, 49]"
    hidden = "@hot\ndef max(a, b): return 1\n"
    (tmp_path / "mine.py").write_text(SHADOWED.format(before=hidden))
    assert run(RUN, tmp_path, **copied)[0][0] == "[0, 50, 0]"


@pytest.mark.parametrize("damage", ["cut off", "cut off early", "a bit"])
def test_a_damaged_file_of_compiled_code_is_compiled_anew(tmp_path, copied, damage):
    """The next process then finds it whole again."""
    for path in (tmp_path / "cache").glob("*Mine*"):
        data = bytearray(path.read_bytes())
        data[-100] ^= damage == "a bit"
        path.write_bytes(data[: {"cut off": -40, "cut off early": 40}.get(damage)])
    assert run(RUN, tmp_path, **copied)[0][:2] == ["[0, 50, 0]", "compiled anew 1"]
    assert run(RUN, tmp_path, **copied)[0][:2] == ["[0, 50, 0]", "compiled anew 0"]


def test_a_folder_in_the_place_of_compiled_code_is_no_obstacle(tmp_path, copied):
    """It cannot be removed as a file is, so the code is compiled and not kept."""
    for path in (tmp_path / "cache").glob("*Mine*"):
        path.unlink()
        path.mkdir()
    assert run(RUN, tmp_path, **copied)[0][:2] == ["[0, 50, 0]", "compiled anew 1"]


def test_a_file_that_gets_its_name_meanwhile_is_no_obstacle(tmp_path, monkeypatch):
    """Other processes write to the cache while its files are looked at."""
    (tmp_path / "temporary").write_text("")
    scandir = os.scandir

    @contextmanager
    def renamed(folder):
        with scandir(folder) as entries:
            found = list(entries)
        (tmp_path / "temporary").rename(tmp_path / "final")
        yield found

    monkeypatch.setattr(os, "scandir", renamed)
    kept._remove_foreign(tmp_path)
    assert (tmp_path / "final").exists()


@ia.extend.hot
def sets_a_number(s, t, g):
    s.arms = 3
    return 0


def test_setting_a_number_of_the_state_is_refused_with_a_hint():
    """Arrays are what can be changed."""
    with pytest.raises(ia.errors.PolicyFault, match="cannot be set; use an array"):
        State(make(choose=sets_a_number)(), 3).call("select")


def test_files_that_are_none_of_ours_stay(tmp_path):
    """The folder may be one that people use, too."""
    cache = tmp_path / "cache"
    cache.mkdir()
    cache.chmod(0o755)
    others = cache / "thesis.tex", cache / "mine.o"
    for path in others:
        path.write_text("x")
        path.chmod(0o664)
    (cache / "link").symlink_to(others[0])
    code = "from ironarm.engine import kept; print(kept.directory())"
    assert run(code, tmp_path, IRONARM_CACHE_DIR=str(cache))[0] == [str(cache)]
    assert all(path.exists() for path in (*others, cache / "link"))


@pytest.mark.skipif(os.name != "posix", reason="POSIX files")
def test_what_is_no_file_and_what_has_another_name_is_not_loaded(tmp_path, monkeypatch):
    """A pipe would be waited for; an exchanged file is compiled anew."""
    monkeypatch.setattr(kept, "directory", lambda: tmp_path)
    first, second, third = (f"UCB_run-{i:016x}" for i in range(3))
    kept.write(first, b"code")
    assert kept.read(first) == b"code"
    (tmp_path / f"{first}.o").rename(tmp_path / f"{second}.o")
    assert kept.read(second) is None
    os.mkfifo(tmp_path / f"{third}.o", 0o600)
    assert kept.read(third) is None


@ia.extend.hot
def outer(s):
    return s.inner + inner(s)


@ia.extend.hot
def inner(s):
    return s.outer * 2  # an attribute that has the name of its caller


def test_a_hash_does_not_depend_on_what_was_hashed_first():
    """Though names of attributes make two functions seem to reach each other."""
    found = []
    for order in ((outer, inner), (inner, outer)):
        COMMON._keys.clear()
        keys = {function: Linker().key(function) for function in order}
        found.append([keys[outer], keys[inner]])
        assert "" not in COMMON._keys.values()
    assert found[0][0] == found[1][0]


def test_an_interrupted_hash_is_not_kept(monkeypatch):
    """Half a hash would be found under the name of other code."""
    COMMON._keys.clear()
    whole = Linker().key(outer)
    COMMON._keys.clear()
    original = Linker._owner

    def interrupted(self, function):
        if function is inner:
            raise KeyboardInterrupt
        return original(self, function)

    monkeypatch.setattr(Linker, "_owner", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Linker().key(outer)
    monkeypatch.undo()
    assert Linker().key(outer) == whole


MODULE_NUMBER = 1


@ia.extend.hot
def number_of_this_module(s, t, g):
    return MODULE_NUMBER


def test_what_is_compiled_is_named_by_the_numbers_that_it_has(monkeypatch):
    """Also if they have changed since they were first looked at."""
    policy = make(choose=number_of_this_module)
    entry = State(policy(), 4).machine.entry_point("select")
    before, written = entry.name, []
    monkeypatch.setattr(kept, "read", lambda name: None)
    monkeypatch.setattr(kept, "write", lambda name, data: written.append(name.partition("-")[0]))
    monkeypatch.setitem(globals(), "MODULE_NUMBER", 2)
    call = entry.load()
    assert written == [entry.name] != [before]
    assert call(State(policy(), 4).handle, -1, 0, 0.0) == 2


def test_a_hash_leaves_nothing_out():
    """As texts of long arrays and of numbers can."""

    class Odd(float):
        def __repr__(self):
            return "1.0"

    def key(default):
        @ia.extend.hot
        def function(s, table=default):
            return table

        return Linker().key(function)

    long, other = np.zeros(5000), np.zeros(5000)
    other[2500] = 1
    assert len({key(long), key(other), key(Odd(1)), key(Odd(2)), key((long,)), key((other,))}) == 6
