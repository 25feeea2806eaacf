"""Watch a run in several processes.

An observer gets every round, and hears of every node that is lost or back. It takes no
part in the run, and may join late.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable
from typing import Any

from ...errors import InvalidInput, NodeLost
from ..testbed.config import ProcessConfig
from ..testbed.records import Round
from .hub_client import HubClient, RunEnded
from .messages import BY_HAND, Message


def observe(
    config: ProcessConfig,
    run: str = BY_HAND,
    on_round: Callable[[Round], None] = lambda _: None,
    say: Callable[[str], None] = lambda text: print(text, file=sys.stderr, flush=True),
    look: Callable[[bool], None] = lambda _: None,
) -> list[Round]:
    """Return all rounds of a run when it is over; NodeLost if it ended early.

    Rounds from before the observer joined are included.

    Parameters
    ----------
    config : where the medium is, and the times.
    run : the name of the run.
    on_round : called with each round, once.
    say : called with a line of text when a node is lost or returns.
    look : called again and again with whether all nodes have been there; what it raises
        ends the watching.
    """
    # a random name: two observers of one name would replace each other
    client = HubClient(config, f"observer.{secrets.token_hex(4)}", say=say, run=run)
    records: dict[int, Round] = {}
    hub, started = "", False

    def take(message: Message) -> None:
        nonlocal started
        if message.op == "status":
            started = started or message.fields.get("what") == "started"
            say(str(message.fields.get("text")))
        elif message.op == "rounds":
            for record in rounds_in(message, say):
                started = True
                if record.round not in records:
                    records[record.round] = record
                    on_round(record)

    try:
        while True:
            message = client.next(100)
            look(started)
            if client.hub != hub:
                hub = client.hub
                client.tell({"op": "watch"})
            if message is not None:
                take(message)
    except RunEnded as end:
        for message in end.unread:
            take(message)
        if end.reason:
            raise NodeLost(end.reason) from None
    finally:
        client.close()
    return [records[number] for number in sorted(records)]


def rounds_in(message: Message, say: Callable[[str], None]) -> list[Round]:
    """Return the rounds in a message; invalid ones are reported and skipped."""
    rounds: list[Round] = []
    listed: Any = message.fields.get("rounds")
    for fields in listed if isinstance(listed, list) else [listed]:
        try:
            rounds.append(Round.of(fields))
        except InvalidInput as error:
            say(f"passed over a record from the medium that makes no sense: {error}")
    return rounds
