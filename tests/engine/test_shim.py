"""What stands between Python and machine code takes numbers, and nothing else."""

import gc
import json
import math
import subprocess
import sys
import textwrap
from dataclasses import dataclass

import numpy as np
import pytest

import ironarm as ia
from ironarm.engine import jit, shipped, switches
from ironarm.engine.entry_point import EntryPoint
from ironarm.engine.linking import Linker
from ironarm.extend import hot

pytestmark = pytest.mark.skipif(
    switches.DISABLED or switches.PUBLIC_ONLY, reason="Python or Numba calls the functions"
)


@hot
def combined(i, x, j):
    return x * i - j


@hot
def counted(i, j):
    return i + 2 * j


@hot
def is_more(x, y):
    return x > y


@hot
def nothing(i):
    pass


@hot
def refuses(i):
    if i > 3:
        raise ValueError("more than three")
    return i


def loaded(function, signature):
    name = function.__name__
    return EntryPoint(Linker(), function, name, signature, name).load()


@pytest.mark.parametrize(
    ("function", "signature", "arguments", "expected"),
    [
        (combined, "ifi", (3, 2.5, -4), 11.5),
        (combined, "ifi", (-(2**40), 1e-3, 2**62), -(2**40) * 1e-3 - 2**62),
        (combined, "ifi", (True, 2, np.int64(5)), -3.0),
        (combined, "ifi", (1, float("inf"), 0), float("inf")),
        (counted, "ii", (2**62, 2**61 - 2**60), 2**62 + 2**61),
        (counted, "ii", (-1, -1), -3),
        (is_more, "ff", (-1.0, -2.0), True),
        (is_more, "ff", (-1.0, -1.0), False),
        (nothing, "i", (7,), None),
        (refuses, "i", (-1,), -1),
    ],
)
def test_each_argument_comes_to_its_place(function, signature, arguments, expected):
    """Whole numbers, floats; -1 among them, which in C may also mean an error."""
    result = loaded(function, signature)(*arguments)
    assert result == expected
    assert type(result) is type(expected)
    assert loaded(function, f"{signature}*")(*arguments) == expected  # others run meanwhile


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((), TypeError, "takes 3 numbers"),
        ((1, 2.0), TypeError, "takes 3 numbers"),
        ((1, 2.0, 3, 4), TypeError, "takes 3 numbers"),
        (("1", 2.0, 3), TypeError, "integer"),
        ((1.5, 2.0, 3), TypeError, "integer"),
        ((1, "2", 3), TypeError, "real number"),
        ((1, None, 3), TypeError, "real number"),
        ((2**63, 2.0, 3), OverflowError, "int too big"),
        ((1, 10**400, 3), OverflowError, "int too large"),
    ],
)
def test_a_wrong_call_is_an_error_of_python(arguments, error, message):
    """Also if Numba is loaded: it gives some of Python's names another meaning."""
    call = loaded(combined, "ifi")
    with pytest.raises(error, match=message):
        call(*arguments)


def test_errors_name_the_authors_line():
    """Their kind, their words, and the place."""
    call = loaded(refuses, "i")
    assert call(3) == 3
    with pytest.raises(ValueError, match="more than three") as raised:
        call(4)
    last = raised.traceback[-1]
    assert last.name == "refuses"
    assert last.lineno + 1 == refuses.__code__.co_firstlineno + 3


def test_nothing_is_left_behind():
    """No object is lost by a hundred thousand calls, good ones and bad."""
    calls = loaded(combined, "ifi"), loaded(nothing, "i"), loaded(refuses, "i")

    def rounds(number):
        for i in range(number):
            calls[0](i, 0.5, -i)
            calls[1](i)
            for wrong in ((calls[0], (i,)), (calls[0], (i, "x", i)), (calls[2], (1000 + i,))):
                with pytest.raises((TypeError, ValueError)):
                    wrong[0](*wrong[1])

    rounds(500)
    gc.collect()
    before, nones = sys.getallocatedblocks(), sys.getrefcount(None)
    rounds(20_000)
    gc.collect()
    assert sys.getallocatedblocks() - before < 500
    assert abs(sys.getrefcount(None) - nones) < 500


FAILS = """
import sys
import ironarm as ia
from ironarm.extend import hot
if sys.argv[1] == "with Numba":
    import numba

@hot
def corrupt(e, a, x, u, v):
    if e.t > 3:
        raise ValueError("no more")
    return x

bandit, attack = ia.GaussianBandit([0, 1]), ia.CustomAttack(0.9, corrupt)
result = ia.simulate(ia.UCB(), bandit, attack, horizon=20, trials=1, seed=1)
print(result.pulls.sum(), "numba" in sys.modules)
"""


@pytest.mark.parametrize("numba", ["with Numba", "without"])
def test_an_attack_that_fails_does_not_end_the_process(numba, tmp_path):
    """Python says that it ignores an error, and the simulation goes on with zeros."""
    (tmp_path / "program.py").write_text(textwrap.dedent(FAILS))
    for _ in range(2):  # at last, nothing is compiled any more
        done = subprocess.run(
            [sys.executable, "program.py", numba], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["20", str(numba == "with Numba")]
    assert "RuntimeError" in done.stderr
    assert "no more" in done.stderr


def test_parts_of_machine_code_may_lie_anywhere():
    """It holds addresses of 64 bits only: with others, LLVM ends a process that has
    large arrays in between.
    """
    from llvmlite.binding import ObjectFileRef

    if "x86_64" not in shipped.place().name:
        pytest.skip("these are the numbers of x86-64")
    state = ia.Agent(ia.MedEUCB(), arms=2)._core.state
    code = state.machine.entry_point("observe").compiled("observed")
    kinds = set()
    for section in ObjectFileRef.from_data(code).sections():
        if bytes(section.name() or b"").startswith(b".rela"):
            rows = np.frombuffer(section.data(), np.uint64).reshape(-1, 3)
            kinds |= set((rows[:, 1] & 0xFFFFFFFF).tolist())
    r_x86_64_64, r_x86_64_pc64 = 1, 24
    assert kinds
    assert kinds <= {r_x86_64_64, r_x86_64_pc64}


def test_any_alphabet_will_do():
    """In names of classes, and in what errors say, however long."""

    @ia.extend.hot
    def choose(s, t, g):
        if t > 1:
            raise ValueError("選択できません" * 40)
        return 0

    kind = dataclass(frozen=True)(
        type("Größe", (ia.extend.Policy,), {"choose": staticmethod(choose)})
    )
    agent = ia.Agent(kind(), arms=["a", "b"], seed=1)
    assert agent.select() == "a"
    with pytest.raises(ia.errors.PolicyFault, match="選択できません"):
        agent.select()


@pytest.mark.parametrize("room", [60, 70, 100, 1000])
@pytest.mark.parametrize("text", ["", "x" * 500, "選" * 200, '"\n' * 100])
def test_a_description_has_exactly_the_room_that_there_is(room, text):
    """What does not fit is cut."""
    found = jit.description("ValueError", [text], ["choose", "mine.py", 3], room)
    assert len(found) == room
    kind, (said,), place = json.loads(found)
    assert kind == "ValueError"
    assert text.startswith(said)
    assert (said == text) or room < 700
    assert place in (None, ["choose", "mine.py", 3])


def test_functions_of_the_math_module_that_numba_has_can_be_used():
    """Some are Numba's own; the rest is refused with a sentence."""

    @ia.extend.hot
    def gamma(s, t, g):
        return int(math.gamma(3.0)) - 1

    @ia.extend.hot
    def dot(s, t, g):
        return int(np.dot(s.means, s.means))

    def policy(choose, **more):
        members = {"choose": staticmethod(choose), **more}
        return dataclass(frozen=True)(type("Mine", (ia.extend.Policy,), members))()

    assert ia.Agent(policy(gamma), arms=["a", "b"], seed=1).select() == "b"
    with pytest.raises(ia.errors.PolicyFault, match=r"cannot be compiled.*memory of its own"):
        ia.Agent(policy(dot, fields={"means": "float[arms]"}), arms=["a", "b"], seed=1).select()
