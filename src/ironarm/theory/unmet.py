"""A condition of a theorem that fails, in a few signs and as a sentence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Unmet:
    """A condition that a theorem, or its proof, needs and does not have.

    `short` fits into a cell of a table, `sentence` says what is wrong.

    >>> print(Unmet("T <= G", "the horizon must be longer than a block."))
    the horizon must be longer than a block.
    """

    short: str
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def does_not_apply(why_not: tuple[Unmet, ...]) -> str:
    """Return what stands where a bound would, if its conditions are not met.

    >>> does_not_apply(
    ...     (Unmet("T <= G", "the horizon must be longer than a block."),)
    ... )
    'does not apply: T <= G'
    """
    return f"does not apply: {', '.join(unmet.short for unmet in why_not)}"
