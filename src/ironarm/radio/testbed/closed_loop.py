"""The testbed in one process: choose a channel, ACK, packet, perhaps jamming, measure,
learn; round after round.

The default renders and receives every packet in compiled code (`CompiledTestbed`).
`RadioTestbed` does the same with radios, simulated or real: the transmitter and the
jammer send samples, the receiver takes samples. On the simulated medium both give the
same SINRs of clean packets within 0.1 dB: the compiled code shapes a packet's symbols
at their delay, a radio's samples are delayed by interpolation. Jamming is other noise
of the same power.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, perf_counter, sleep
from typing import Protocol

import numpy as np

from ...errors import NodeLost
from ..backends.protocol import Radio
from ..backends.simulated import Air, SimulatedRadio
from ..signal.link import Link
from ..signal.medium import CENTRES_HZ, window_symbols
from ..signal.randomness import key
from ..signal.receiver import Receiver, judged
from .ack import InProcessAck
from .jamming import strategy_of
from .nodes import JammerNode, TxNode
from .records import Round, Run
from .rx_agent import RxAgent
from .settings import Settings

MOST_REPEATS = 1000
"""After so many lost ACKs in a row nobody is there."""


class AnyTestbed(Protocol):
    """What the loop needs of a transmitter, a jammer and a receiver."""

    jammer: JammerNode

    def send(self, round_number: int, attempt: int, channel: int) -> None:
        """Let the transmitter send the packet of a round, and the jammer jam it or not.

        The same twice is once.
        """

    def receive(self, round_number: int, channel: int) -> tuple[float, bool]:
        """Return the SINR measured, and whether the packet was missed."""


class CompiledTestbed:
    """Transmitter, jammer, medium and receiver in compiled code, one packet at a
    time.
    """

    def __init__(self, settings: Settings) -> None:
        medium = settings.medium()
        channels = range(len(CENTRES_HZ))
        self.jammer = JammerNode(strategy_of(settings), settings.seed)
        self._link = Link(Receiver(floor_db=settings.channels.missed))
        self._seed, self._wander, self._jammed = settings.seed, medium.wander_db, False
        # the link's packets have unit power: a path gain is so much less noise
        self._n0 = [medium.n0(c) / medium.gain("transmitter", c) ** 2 for c in channels]
        self._jam = [
            10 ** (settings.jam_power_db(c) / 10)
            * (medium.gain("jammer", c) / medium.gain("transmitter", c)) ** 2
            for c in channels
        ]

    def send(self, round_number: int, attempt: int, channel: int) -> None:
        """Ask the jammer; the packet itself is rendered when it is received."""
        self._jammed = self.jammer.decide(round_number, channel)

    def receive(self, round_number: int, channel: int) -> tuple[float, bool]:
        """Render, receive and measure one packet."""
        packet, header = np.array([key(self._seed, 0, round_number)]), np.array([round_number])
        sinr = float(
            self._link.sinr(
                packet,
                self._n0[channel],
                self._jam[channel] if self._jammed else 0.0,
                self._wander,
                header,
            )[0]
        )
        return sinr, sinr < self._link.receiver.detect_db


class RadioTestbed:
    """Transmitter, jammer and receiver with radios in this process.

    Parameters
    ----------
    transmitter, jammer : the nodes, each with its radio.
    radio : the receiver's.
    receiver : what finds and measures the packet.
    count : samples to receive; None for a packet's window. Real radios need more,
        because nobody knows when exactly the packet comes.
    now : the receiving radio's clock, in samples: what is received begins where it was
        before the packet was sent. None on the simulated medium, which has no time of
        its own.
    begin : called with the round before the packet is sent, once for each attempt; for
        the simulated air.
    """

    def __init__(
        self,
        transmitter: TxNode,
        jammer: JammerNode,
        radio: Radio,
        receiver: Receiver,
        *,
        count: int | None = None,
        now: Callable[[], int] | None = None,
        begin: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.transmitter, self.jammer, self.radio, self.receiver = (
            transmitter,
            jammer,
            radio,
            receiver,
        )
        self.count = window_symbols(receiver.format) * receiver.sps if count is None else count
        self._now, self._begin = now, begin
        self._at: int | None = None

    @classmethod
    def simulated(cls, settings: Settings) -> RadioTestbed:
        """Return radios on the simulated medium."""
        air = Air(settings.medium())
        powers = [settings.jam_power_db(channel) for channel in range(len(CENTRES_HZ))]
        jammer = JammerNode(
            strategy_of(settings), settings.seed, powers, SimulatedRadio(air, "jammer")
        )
        return cls(
            TxNode(SimulatedRadio(air)),
            jammer,
            SimulatedRadio(air, "receiver"),
            Receiver(floor_db=settings.channels.missed),
            begin=air.begin,
        )

    def send(self, round_number: int, attempt: int, channel: int) -> None:
        """Jam and send; the jammer goes first, because noise that comes late leaves
        the preamble clean.
        """
        if self.transmitter.is_sent(round_number, attempt):
            return
        self._begin(round_number)
        self.radio.tune(CENTRES_HZ[channel])
        self._at = self._now() if self._now else None
        self.jammer.act(round_number, channel)
        self.transmitter.send(round_number, attempt, channel)

    def receive(self, round_number: int, channel: int) -> tuple[float, bool]:
        """Take the samples and measure the packet in them; a packet of another round
        is as good as none.
        """
        return judged(self.receiver, self.radio.receive(self.count, self._at), round_number)


def run(
    settings: Settings | None = None,
    testbed: AnyTestbed | None = None,
    on_round: Callable[[Round], None] = lambda _: None,
) -> Run:
    """Run the closed loop in this process.

    Parameters
    ----------
    settings : everything; see `settings`.
    testbed : None for `CompiledTestbed`.
    on_round : called with each round as it is over, for a live view.

    Examples
    --------
    >>> result = run(
    ...     Settings.of(
    ...         {"rounds": 300, "seed": 3, "agent": {"policy": "MedEUCB(block=90)"}}
    ...     )
    ... )
    >>> result.rounds[0].channel, result.summary()["pulls"]
    (0, [204, 24, 24, 24, 24])
    """
    settings = settings or Settings()
    agent = RxAgent(settings.policy, settings.channels.means, settings.seed)
    bed = testbed or CompiledTestbed(settings)
    link = InProcessAck(
        bed.send, loss=settings.ack.loss, retries=settings.ack.retries, seed=settings.seed
    )
    records: list[Round] = []
    began = perf_counter()
    for _ in range(settings.rounds):
        started = monotonic()
        number, channel = agent.decide()
        attempt, ack = 0, link.request(number, 0, channel)
        while not ack.arrived:
            if (attempt := attempt + 1) > MOST_REPEATS:
                raise NodeLost(
                    f"round {number} was repeated {MOST_REPEATS} times and its ACK was lost each "
                    "time; the transmitter does not answer."
                )
            ack = link.request(number, attempt, channel)
        sinr, missed = bed.receive(number, channel)
        agent.learn(sinr)
        records.append(
            Round(
                number,
                channel,
                sinr,
                bed.jammer.truth.get(number),
                missed,
                sinr,
                agent.regret,
                attempt,
                1000 * ack.seconds,
            )
        )
        on_round(records[-1])
        if settings.round_seconds:
            sleep(max(0.0, started + settings.round_seconds - monotonic()))
    return Run(settings, records, perf_counter() - began)
