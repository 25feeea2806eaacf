"""The agents of a store, for commands that work on it without a node."""

from __future__ import annotations

from ..agent.store import Store
from ..errors import InvalidInput, OtherAgent
from ..validation import did_you_mean
from .hosted import Hosted, same_agent
from .keys import agent_name


def agents_of(store: Store) -> dict[str, int]:
    """Return the agents' numbers by name; an agent's own file holds one without one."""
    return store.agents() or {"": 1}


def number_of(store: Store, name: str | None) -> int:
    """Return the number of an agent; the only one needs no name."""
    known = agents_of(store)
    if name is None and len(known) == 1:
        return next(iter(known.values()))
    if name is None:
        raise InvalidInput(
            f"{store.place} holds {len(known)} agents; say which with --agent: "
            f"{', '.join(sorted(known)[:10])}."
        )
    if name not in known:
        raise InvalidInput(f"there is no agent {name!r}.{did_you_mean(name, sorted(known))}")
    return known[name]


def opened(store: Store, number: int) -> Hosted:
    """Return an agent, read to the end of its log."""
    hosted = Hosted(store, number, lambda frozen: None)
    hosted.catch_up()
    return hosted


def create(store: Store, name: str, described: str, seed_given: bool) -> bool:
    """Make an agent in a store; False if the same is there."""
    agent_name(name)
    with store.transaction():
        known = store.agents()
        number = known[name] if name in known else store.add_agent(name)
        store.hold([number])
        hosted = opened(store, number)
        made = make_or_compare(hosted, name, described, seed_given, None)
        hosted.log.hand_over()
        return made


def make_or_compare(
    hosted: Hosted, name: str, described: str, seed_given: bool, key: str | None
) -> bool:
    """Make an agent; False if the same is there, an error if another one is."""
    if hosted.replay.loaded is None:
        hosted.create(described, key)
        return True
    different = same_agent(hosted.replay.created, described, seed_given)
    if different is not None or hosted.replay.archived:
        what = "is archived" if different is None else f"differs in {different}"
        raise OtherAgent(f"there is already an agent {name!r}, and it {what}.")
    return False
