"""Records as Numba's types: `s.n` in compiled code computes where the array lies.

A record is its address. Passing one through a dozen small functions therefore costs
nothing, neither at run time nor at compile time: a tuple of thirty arrays would be two
hundred words that LLVM has to take apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model

from .record import Field, Layout

WORD = ir.IntType(64)
KINDS = {
    "int": types.int64,
    "float": types.float64,
    "word": types.uint64,
    "byte": types.uint8,
    "single": types.float32,
}


class RecordType(types.Type):  # type: ignore[misc]
    """The type of records with one layout."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        super().__init__(name=f"{layout.title}_{layout.key}")


@register_model(RecordType)
class _RecordModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, record: RecordType) -> None:
        super().__init__(manager, record, WORD)


def _type_of(field: Field) -> Any:
    kind = KINDS[field.kind]
    return kind if field.shape == "number" else types.Array(kind, 1, "C")


@infer_getattr
class _RecordAttributes(AttributeTemplate):  # type: ignore[misc]
    key = RecordType

    def generic_resolve(self, record: RecordType, name: str) -> Any:
        field = record.layout.fields.get(name)
        return None if field is None else _type_of(field)


@lower_getattr_generic(RecordType)  # type: ignore[untyped-decorator]
def _read(context: Any, builder: Any, record: RecordType, address: Any, name: str) -> Any:
    """Write the instructions that read a field."""
    field = record.layout.fields[name]
    block = builder.inttoptr(address, WORD.as_pointer())

    def fixed(place: Any, kind: Any = WORD) -> Any:
        """Read what does not change while compiled code runs; LLVM may read it once."""
        value = builder.load(builder.bitcast(place, kind.as_pointer()))
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value

    arms = fixed(block)
    first, for_each_arm = record.layout.offsets[name]
    offset = builder.add(WORD(first), builder.mul(WORD(for_each_arm), arms))
    place = builder.gep(block, [offset])
    kind = context.get_value_type(KINDS[field.kind])
    if field.changes:
        return builder.load(builder.bitcast(place, kind.as_pointer()))
    if field.shape == "number":
        return fixed(place, kind)
    if field.shape == "elsewhere":
        data = builder.inttoptr(fixed(place), kind.as_pointer())
        length = fixed(builder.gep(place, [WORD(1)]))
    else:
        data = builder.bitcast(place, kind.as_pointer())
        length = builder.mul(WORD(field.width), arms) if field.per_arm else WORD(field.width)
    array = context.make_array(_type_of(field))(context, builder)
    size = KINDS[field.kind].bitwidth // 8
    context.populate_array(
        array, data=data, shape=[length], strides=[WORD(size)], itemsize=WORD(size), meminfo=None
    )
    return array._getvalue()


@cache
def record_at(layout: Layout) -> Any:
    """Return a compiled function: the address of such a record -> the record."""
    record = RecordType(layout)

    @intrinsic  # type: ignore[untyped-decorator]
    def at(typingctx, address):  # type: ignore[no-untyped-def]
        return record(types.int64), lambda context, builder, signature, args: args[0]

    return at


@cache
def dated_record_at(layout: Layout) -> Any:
    """As `record_at`, but also writes a round into the second word, the field `t`."""
    record = RecordType(layout)

    @intrinsic  # type: ignore[untyped-decorator]
    def at(typingctx, address, t):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            block = builder.inttoptr(args[0], WORD.as_pointer())
            builder.store(args[1], builder.gep(block, [WORD(1)]))
            return args[0]

        return record(types.int64, types.int64), codegen

    return at


def contents_at(layout: Layout, names: Sequence[str], inside: Mapping[str, Layout]) -> Any:
    """Return a compiled function: the address of such a record -> these fields.

    Those of `inside` are addresses, and become records.
    """
    record = RecordType(layout)
    kinds = types.Tuple(
        [
            RecordType(inside[name]) if name in inside else _type_of(layout.fields[name])
            for name in names
        ]
    )

    @intrinsic  # type: ignore[untyped-decorator]
    def at(typingctx, address):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            values = [_read(context, builder, record, args[0], name) for name in names]
            return context.make_tuple(builder, kinds, values)

        return kinds(types.int64), codegen

    return at
