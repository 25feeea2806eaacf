"""The round loop: choose a channel, have a packet sent, measure it, learn.

`closed_loop.run` plays it in one process, `network/node_process.py` in the receiver's
own process. They differ in how a packet is asked for and measured, which they pass in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import monotonic, sleep
from typing import TYPE_CHECKING

from ...errors import NodeLost
from .ack import Ack
from .config import RadioConfig
from .records import Round

if TYPE_CHECKING:
    from .rx_agent import RxAgent

Try = Callable[[int, int, int], tuple[Ack, tuple[float, bool] | None]]
"""Called with round, attempt and channel: asks for a packet and measures it.

Returns the ACK, and either (SINR in dB, missed) or None. None repeats the round.
"""


def play(
    config: RadioConfig,
    agent: RxAgent,
    try_once: Try,
    *,
    most_repeats: int | None = None,
    wait: Callable[[float], object] = sleep,
) -> Iterator[Round]:
    """Play the rounds that the agent has not played yet, and yield a record of each.

    A round whose ACK is lost is repeated in the same channel, and the agent learns
    nothing from the lost attempt. Records don't say whether a packet was jammed,
    because the receiver doesn't know.

    Parameters
    ----------
    config : says how many rounds there are, and how long each lasts at least.
    agent : chooses the channels and learns the rewards.
    try_once : asks for a packet and measures it.
    most_repeats : after this many repeats of one round, raise NodeLost. None: no limit.
    wait : called with the seconds left until the round is over; may return early.
    """
    while agent.round < config.rounds:
        until = monotonic() + config.round_seconds
        number, channel = agent.decide()
        attempt = 0
        ack, measured = try_once(number, attempt, channel)
        while measured is None:
            attempt += 1
            if most_repeats is not None and attempt > most_repeats:
                raise NodeLost(
                    f"round {number} was repeated {most_repeats} times and its ACK was lost each "
                    "time; the transmitter does not answer."
                )
            ack, measured = try_once(number, attempt, channel)
        sinr, missed = measured
        agent.learn(sinr)
        yield Round(
            number,
            channel,
            sinr,
            jammed=None,
            missed=missed,
            reward=sinr,
            regret=agent.regret,
            repeats=attempt,
            ack_ms=1000 * ack.seconds,
        )
        while (left := until - monotonic()) > 0:
            wait(left)
