"""What requests carry, as types that are checked when they are read.

msgspec refuses NaN, infinities, unknown fields and wrong types. A field that comes
twice is refused here: programs differ in which of the two they take. Bounds that the
interface's description states beside that are checked by the library, whose sentences
say more.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import msgspec

T = TypeVar("T")
Name = str | int
Text = Annotated[
    str,
    msgspec.Meta(
        description="Printable characters.", extra_json_schema={"minLength": 1, "maxLength": 200}
    ),
]
BITS_63 = {"minimum": -(2**63), "maximum": 2**63 - 1}
# to JSON, 7.0 is a whole number too; `whole` makes it one
Number = (
    Annotated[int, msgspec.Meta(extra_json_schema=BITS_63)]
    | Annotated[float, msgspec.Meta(extra_json_schema={"multipleOf": 1, **BITS_63})]
)


def described(text: str, **schema: Any) -> Any:
    """Return a description of a field, and what its schema says beside its type."""
    return msgspec.Meta(description=text, extra_json_schema=schema or None)


class NewAgent(msgspec.Struct, forbid_unknown_fields=True):
    """An agent to create."""

    arms: Annotated[list[Text | Number], described("Each once.", minItems=1, uniqueItems=True)]
    policy: Annotated[
        str | None, described('Text such as "MedEUCB(b=8)"; null for the default policy.')
    ] = None
    minimize: Annotated[bool, described("True if small rewards are good.")] = False
    memory: Annotated[str | None, described("As for `Agent`.", enum=["exact", "bounded", None])] = (
        None
    )
    seed: Annotated[
        int | float | None, described("Null for a random one.", minimum=0, multipleOf=1)
    ] = None
    reward_within: Annotated[
        float | None,
        described(
            "Seconds after which a decision without a reward expires; null for never.",
            exclusiveMinimum=0,
            maximum=10 * 365.25 * 86_400,
        ),
    ] = None
    missing_reward: Annotated[
        float | None,
        described("What is learnt of a decision that expires; it needs reward_within."),
    ] = None
    failed_reward: Annotated[
        float | None,
        described("What is learnt of a failure; null for the worst there is, -inf or inf."),
    ] = None


class NewDecision(msgspec.Struct, forbid_unknown_fields=True):
    """A decision to make."""

    among: Annotated[
        list[Text | Number] | None,
        described("The arms that can be used this time; null for all.", minItems=1),
    ] = None


class Reward(msgspec.Struct, forbid_unknown_fields=True):
    """The reward of a decision: a value, or a failure."""

    value: Annotated[float | None, described("A finite number.")] = None
    failed: Annotated[bool, described("True in the place of a value.")] = False
    source: Annotated[Text | Number | None, described("Who sent the reward.")] = None


class RewardLine(Reward, kw_only=True, forbid_unknown_fields=True):
    """A reward in a batch."""

    id: Annotated[str, described("The decision's id.")]


class ObservationLine(msgspec.Struct, forbid_unknown_fields=True):
    """A reward without a decision."""

    arm: Text | Number
    value: float
    source: Annotated[Text | Number | None, described("Who sent the reward.")] = None


class NewArm(msgspec.Struct, forbid_unknown_fields=True):
    """An arm to add."""

    arm: Text | Number


def whole(given: Any) -> Any:
    """Return a whole number that was written with a point as one; all else as it is."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


def _no_field_twice(fields: list[tuple[str, Any]]) -> None:
    names = [name for name, _ in fields]
    for name in names:
        if names.count(name) > 1:
            raise msgspec.ValidationError(f"Object has the field `{name}` twice")


# numbers are not read: msgspec has, and Python refuses some that are long
_fields = json.JSONDecoder(object_pairs_hook=_no_field_twice, parse_int=len, parse_float=len)


def reader(kind: type[T]) -> Callable[[bytes], T]:
    """Return what reads a body of this kind."""
    decode = msgspec.json.Decoder(kind).decode

    def read(body: bytes) -> T:
        found = decode(body)
        if body.count(b":") > 1:
            _fields.decode(body.decode())
        return found

    return read


encode = msgspec.json.Encoder().encode


def reading_problem(error: Exception) -> str:
    """Return what is wrong with a body, as a sentence."""
    text = str(error) or type(error).__name__
    return f"the body is not what is expected: {text[:300]}."


def schemas(types: tuple[Any, ...]) -> tuple[Any, dict[str, Any]]:
    """Return JSON schemas of types, and the components that they refer to."""
    return msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
