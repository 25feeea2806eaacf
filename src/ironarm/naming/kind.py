"""What text can name: a kind of thing, its contract, and the table of its names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Kind(Generic[T]):
    """Policies, attacks or bandits, for the functions of this package.

    Each of these packages makes its own. So nothing in here imports them, and they can
    use what is in here.
    """

    word: str
    """As messages call one of them: "policy"."""
    base: type[T]
    """What one's own class must be a subclass of."""
    table: Mapping[str, Callable[..., T]]
    """What is built in, by name: classes, and other functions that make one."""

    @property
    def plural(self) -> str:
        """As messages call several of them; also the command that lists them."""
        return "policies" if self.word == "policy" else f"{self.word}s"

    @property
    def group(self) -> str:
        """The entry point under which installed packages offer their own."""
        return f"ironarm.{self.plural}"

    @property
    def contract(self) -> str:
        """Where authors find the base class."""
        return f"ironarm.extend.{self.base.__name__}"

    @property
    def example(self) -> str:
        """How one's own is written."""
        return f"mine.py:My{self.word.capitalize()}"
