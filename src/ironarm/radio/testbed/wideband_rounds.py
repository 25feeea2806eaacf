"""Rounds of the testbed in the wideband view, for recordings and figures.

A policy chooses a channel. A packet is sent, maybe jammed, and received, and its SINR
is the policy's reward. Studies go through `signal/compiled_chain.py` instead, which
renders one channel only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...agent.agent import Agent
from ...attacks import Attack
from ...policies import Policy
from ...validation import number, whole
from ..bandit import RadioBandit
from ..signal.medium import (
    SYMBOL_RATE,
    WIDE_SPS,
    Emission,
    Medium,
    Noise,
    Packet,
    channelise,
    window_symbols,
)
from ..signal.randomness import key, uniform
from ..signal.receiver import PacketReport, Receiver
from ..signal.waveform import HALF_SPAN
from .jamming import PerChannel, Strategy

ROUND_SECONDS = 2.0
"""The paper's time between packets."""

FLOOR_DB = 10.0
"""How far the receiver's own noise lies below the quietest channel.

Outside the channels there is nothing else.
"""

JAM_PACKETS = 2.0
"""Length of a jamming burst, in packets.

It begins before the packet and ends after it, as in the paper's spectrogram.
"""

COIN = 77
"""Keeps the jammer's coins apart from all other random numbers of a round."""


@dataclass(frozen=True)
class WidebandRound:
    """What is heard around one packet at 5 MS/s, without the idle time between packets.

    Attributes
    ----------
    round : 1 for the first.
    channel : where the packet was sent.
    jammed : whether the jammer hit it.
    samples : complex samples.
    packet : first sample and number of samples of the packet.
    jam : the same of the jamming; None if there is none.
    report : the receiver's report on the packet.
    """

    round: int
    channel: int
    jammed: bool
    samples: np.ndarray
    packet: tuple[int, int]
    jam: tuple[int, int] | None
    report: PacketReport


def medium_of(bandit: RadioBandit, seed: int) -> Medium:
    """Return a medium whose channels have the noise of the bandit's."""
    floor = float(bandit.n0.min()) * 10 ** (-FLOOR_DB / 10)
    return Medium(
        noise=[float(n0) - floor for n0 in bandit.n0],
        floor=floor,
        wander_db=float(bandit.wander_db.mean()),
        seed=seed,
    )


def jamming(channel: int, power: float, symbols: int, start: float) -> Emission:
    """Return a jammer's noise; its power is that over a packet's."""
    return Emission(
        Noise(symbols),
        channel,
        emitter="jammer",
        power_db=10 * math.log10(max(power, 1e-30)),
        start=start,
        moving=False,
    )


def wideband_rounds(
    bandit: RadioBandit,
    attack: Attack | Strategy,
    policy: Policy,
    *,
    rounds: int,
    seed: int = 0,
    milliseconds: float = 4.0,
    same_power: bool = False,
) -> Iterator[WidebandRound]:
    """Play rounds one after another, and yield what is heard in each.

    Parameters
    ----------
    bandit : the channels; its tier does not matter. It must have five channels.
    attack : a `Jammer`, or a strategy of `jamming`, for which the first round is round
        0. Other attacks do not change the signal.
    policy : chooses the channels.
    rounds : how many.
    seed : of everything; the same seed gives the same samples.
    milliseconds : how much of each round is heard, the packet in its middle; a packet
        takes 0.94, a jammed one twice that.
    same_power : whether a strategy jams with the same power in all channels. A `Jammer`
        has a `same_power` of its own.

    Examples
    --------
    >>> import ironarm as ia
    >>> heard = list(
    ...     wideband_rounds(
    ...         ia.RadioBandit(), ia.attacks.Jammer(0.3), ia.UCB(), rounds=5, seed=4
    ...     )
    ... )
    >>> [one.channel for one in heard], len(heard[0].samples) / 5e6
    ([0, 1, 2, 3, 4], 0.004008)
    >>> all(one.report.round == one.round for one in heard if not one.jammed)
    True
    """
    rounds = whole("rounds", rounds, at_least=1)
    medium = medium_of(bandit, seed)
    packet, jam = medium.format.length, round(JAM_PACKETS * medium.format.length)
    shortest = (jam + window_symbols(medium.format) - packet) / SYMBOL_RATE * 1000
    number("milliseconds", milliseconds, at_least=math.ceil(shortest * 10) / 10)
    symbols = math.ceil(milliseconds / 1000 * SYMBOL_RATE / 10) * 10
    channels = np.arange(bandit.arms)
    if isinstance(attack, Attack):
        laws = attack.shows(bandit)
        strategy: Strategy = PerChannel((attack.rho * (laws != channels)).tolist())
    else:
        laws = bandit.same_power_laws if same_power else bandit.jammed_laws
        strategy = attack
    powers = [bandit.jam_of(int(law)) for law in laws]
    agent, receiver = (
        Agent(policy, arms=bandit.arms, seed=seed),
        Receiver(medium.format, sps=3, floor_db=bandit.missed),
    )
    for number_of_round in range(1, rounds + 1):
        channel = int(agent.select())
        start = (symbols - window_symbols(medium.format)) // 2
        sent = [Emission(Packet(medium.format.symbols(number_of_round)), channel, start=start)]
        jammed = bool(
            powers[channel] > 0
            and strategy.hits(
                number_of_round - 1, channel, uniform(key(seed, number_of_round, COIN))
            )
        )
        begin = start + HALF_SPAN - (jam - packet) // 2
        if jammed:
            sent.append(jamming(channel, powers[channel], jam, begin))
        samples = medium.wideband(sent, symbols=symbols, round_number=number_of_round)
        report = receiver.receive(channelise(samples, channel))
        agent.update(channel, report.sinr_db)
        first = start + HALF_SPAN + medium.path(0, number_of_round).delay
        place = (round(first * WIDE_SPS), packet * WIDE_SPS)
        yield WidebandRound(
            number_of_round,
            channel,
            jammed,
            samples,
            place,
            (begin * WIDE_SPS, jam * WIDE_SPS) if jammed else None,
            report,
        )
