"""A record is the same memory for Python and for compiled code."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ironarm.engine import jit
from ironarm.engine.entry_point import EntryPoint
from ironarm.engine.linking import Linker, record_at
from ironarm.engine.record import Field, Layout, Record, declared
from ironarm.errors import PolicyFault
from ironarm.extend import hot

kinds = st.sampled_from(["int", "float"])
shapes = st.sampled_from(["number", "here", "elsewhere"])
few_fields = st.lists(
    st.tuples(kinds, shapes, st.booleans(), st.integers(1, 5)), min_size=1, max_size=8
)


def fill(record):
    """Write 1, 2, 3, ... into all fields, in order; return what each holds."""
    expected, count = {}, 0
    for field in list(record.layout.fields.values())[1:]:
        part = getattr(record.view, field.name)
        if field.shape == "number":
            continue
        part[:] = range(count + 1, count + 1 + len(part))
        count += len(part)
        expected[field.name] = part.tolist()
    return expected


@settings(deadline=None, derandomize=True, max_examples=100)
@given(few_fields, st.integers(1, 7))
def test_fields_do_not_overlap(fields, arms):
    """Whatever their kinds and lengths: each keeps what was written into it."""
    layout = Layout(
        "Any",
        [
            Field(f"f{i}", kind, shape, per_arm, width)
            for i, (kind, shape, per_arm, width) in enumerate(fields)
        ],
    )
    contents = {
        field.name: 7
        if field.shape == "number"
        else np.zeros(3, np.int64 if field.kind == "int" else float)
        for field in list(layout.fields.values())[1:]
        if field.shape != "here"
    }
    record = Record(layout, arms, **contents)
    expected = fill(record)
    for name, values in expected.items():
        assert getattr(record.view, name).tolist() == values
    for field in layout.fields.values():
        if field.shape == "number":
            assert getattr(record.view, field.name) == (arms if field.name == "arms" else 7)


LAYOUT = Layout(
    "Test",
    [
        Field("factor", "float"),
        Field("each", "float", "here", per_arm=True, width=2),
        Field("flags", "byte", "elsewhere"),
        Field("words", "word", "here", width=4),
        Field("count", "int", "here"),
        Field("values", "float", "elsewhere"),
    ],
)
test_at = None


LINKER = Linker((__name__,), {"test_at": record_at(LAYOUT)})


@hot
def use(address):
    """Read and write every field."""
    r = test_at(address)
    r.count[0] += r.arms + len(r.each) + len(r.values)
    r.words[3] += r.words[0]
    for a in range(len(r.each)):
        r.each[a] = r.factor * r.values[a % len(r.values)] + r.flags[0]


def test_compiled_code_reads_and_writes_the_same_memory():
    """Also after an array elsewhere was replaced by another."""
    call = EntryPoint(LINKER, use, "use", "i", "use").load()
    values, flags = np.array([1.0, 2.0, 3.0]), np.array([0, 1], np.uint8)
    record = Record(LAYOUT, 4, factor=2.5, values=values, flags=flags)
    record.view.words[:] = [2**64 - 1, 0, 0, 3]
    call(record.address)
    assert record.view.each.tolist() == [2.5, 5.0, 7.5, 2.5, 5.0, 7.5, 2.5, 5.0]
    assert (int(record.view.count[0]), int(record.view.words[3])) == (4 + 8 + 3, 2)
    record.point("values", np.array([4.0]))
    record.point("flags", np.array([1], np.uint8))
    call(record.address)
    assert record.view.each.tolist() == [11.0] * 8
    assert values.tolist() == [1.0, 2.0, 3.0]


def test_an_unknown_field_is_a_compilers_error():
    """Not a silent zero."""

    @hot
    def wrong(address):
        return test_at(address).missing[0]

    with pytest.raises(jit.NumbaError, match="Unknown attribute 'missing' of type Test_"):
        EntryPoint(LINKER, wrong, "wrong", "i", "wrong").load()


def test_arrays_of_another_kind_are_refused():
    """Compiled code would read nonsense."""
    record = Record(LAYOUT, 1, factor=1, values=np.empty(0), flags=np.empty(0, np.uint8))
    with pytest.raises(AssertionError):
        record.point("values", np.zeros(3, np.int64))
    with pytest.raises(AssertionError):
        record.point("values", np.zeros((4, 4))[:, 0])


def test_a_declaration_says_what_it_takes():
    """Width, kind, for each arm or in all, cache or not."""
    assert declared("x", "float[arms]") == Field("x", "float", "here", True, 1, False)
    assert declared("x", "cache int[arms*3]") == Field("x", "int", "here", True, 3, True)
    assert declared("x", "int[12]") == Field("x", "int", "here", False, 12, False)


def test_a_size_may_be_a_constant():
    """And what is wrong with it is one sentence."""
    assert declared("x", "float[arms*w]", {"w": 7.0}) == Field("x", "float", "here", True, 7, False)
    assert declared("x", "int[w]", {"w": 7.0}) == Field("x", "int", "here", False, 7, False)
    for text, sizes, message in (
        ("float[arms*w]", {}, "has no constant 'w'"),
        ("float[arms*w]", {"w": 2.5}, "w must be a whole number of at least 1, got 2.5"),
        ("float[w]", {"w": 0.0}, "w must be a whole number of at least 1, got 0"),
    ):
        with pytest.raises(PolicyFault, match=message):
            declared("x", text, sizes)
