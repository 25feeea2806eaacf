"""What every live agent does, said once.

There are four kinds: `Agent` in memory, `DurableAgent` in a file, `Client.agent` at the
service, and `AsyncClient.agent`, whose calls are awaited. They have the same methods,
which do the same. `ironarm.testing.check_agent` holds them to it.

The kinds differ in this, and in nothing else:

* Ids are whole numbers in `Agent`, text elsewhere.
* The same reward of a decision can be sent again to all but `Agent`, and counts once.
  `Agent` forgets a decision when it closes, so it calls it unknown; the others say how
  it was closed.
* Only `Agent` and `DurableAgent` have `policy`, `open_decisions`, `inexact`,
  `warm_start` and `plot`. `Agent.load` reads what any of them has saved; a
  `DurableAgent` is opened by its path.
* At the service, decisions expire by the agent's own rule, so `expire` only checks it.
  Infinite rewards must be the worst possible; they are failures.
* A policy that draws random numbers draws others in each kind.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

from .input import Name
from .source_book import Source


class LiveAgent(Protocol):
    """A live agent; `docs/live.md` explains each call."""

    def select(self) -> Name:
        """Decide which arm to use now, and return its name."""

    def decide(self, among: Any = None) -> Any:
        """Decide among all arms or some; the decision has an `id` and an `arm`."""

    def update(self, arm: Any, reward: float, source: Any = None) -> None:
        """Reward the arm's oldest open decision; with none open, observe."""

    def learn(self, id: Any, reward: float, source: Any = None) -> None:
        """Learn the reward of a decision, in any order."""

    def learn_batch(self, rewards: Iterable[Any]) -> None:
        """Learn the rewards of many decisions, or none if one is invalid."""

    def cancel(self, id: Any) -> None:
        """Close a decision that will not be rewarded."""

    def expire(self, older_than: float) -> int:
        """Close all decisions older than this many seconds; return how many."""

    def add_arm(self, arm: Any) -> None:
        """Add an arm."""

    def remove_arm(self, arm: Any) -> None:
        """Remove an arm, and close its open decisions."""

    def best(self) -> Name:
        """Return the arm with the best estimate."""

    def prepare(self) -> Any:
        """Compile everything that live use needs; return the agent."""

    @property
    def arms(self) -> tuple[Name, ...]:
        """The arms' names, in order."""

    @property
    def decisions(self) -> int:
        """How many decisions have been made."""

    @property
    def estimates(self) -> dict[Name, float]:
        """The arms' estimates; NaN before the first reward."""

    @property
    def rewards(self) -> dict[Name, int]:
        """How many rewards each arm has."""

    def summary(self) -> dict[str, Any]:
        """Return what is known of each arm, as data that JSON can hold."""

    def sources(self) -> list[Source]:
        """Return what is known of each source, the clearest outliers first."""

    def save(self, path: str | Path) -> None:
        """Write the agent to a file for `Agent.load`."""
