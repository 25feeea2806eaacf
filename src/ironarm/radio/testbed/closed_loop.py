"""The testbed in one process, as `ironarm radio run` plays it.

The way of one packet:

1. `round_loop.play` asks `RxAgent` for a channel, and `InProcessAck` for the packet.
2. `CompiledTestbed.announce` lets `JammerNode` decide whether to jam the packet.
3. `CompiledTestbed.measure` calls `signal/compiled_chain.py`, which renders the packet,
   the noise and the jamming, receives them, and returns the SINR. The compiled code is
   `signal/kernels.py`.
4. `RxAgent` learns the SINR as its reward, and `play` yields the round's record.

No samples leave the compiled code, so `TxNode`, `Medium.narrowband` and
`Receiver.receive` are not on this way. They are on that of `ironarm radio run
--processes`, where nodes send samples (see `network/hub.py`). With the same seed both
measure the same SINRs of clean packets within 0.1 dB: compiled code shapes a packet's
symbols at their delay, and the medium delays a node's samples by interpolation. The
jammer's noise differs, at the same power.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from ..signal.compiled_chain import CompiledChain
from ..signal.medium import CENTRES_HZ
from ..signal.randomness import key
from ..signal.receiver import Receiver
from .ack import Ack, InProcessAck
from .config import CHANNELS, RadioConfig
from .jamming import strategy_of
from .nodes import JammerNode
from .records import Round, RunRecord
from .round_loop import play
from .rx_agent import RxAgent, compile_policy

MOST_REPEATS = 1000
"""After this many lost ACKs in a row the run ends."""


class CompiledTestbed:
    """Transmitter, jammer, medium and receiver in compiled code, a packet at a time."""

    def __init__(self, config: RadioConfig) -> None:
        medium = config.medium()
        channels = range(len(CENTRES_HZ))
        self.jammer = JammerNode(strategy_of(config), config.seed)
        self._chain = CompiledChain(Receiver(floor_db=config.channels.missed))
        self._seed, self._wander, self._jammed = config.seed, medium.wander_db, False
        # packets have unit power, so a path gain divides the noise instead
        self._n0 = [medium.n0(c) / medium.gain("transmitter", c) ** 2 for c in channels]
        self._jam = [
            10 ** (config.jam_power_db(c) / 10)
            * (medium.gain("jammer", c) / medium.gain("transmitter", c)) ** 2
            for c in channels
        ]

    def prepare(self, say: Callable[[str], None]) -> None:
        """Compile before the first packet; `say` gets a text if it takes long."""
        self._chain.prepare(say)

    def announce(self, round_number: int, attempt: int, channel: int) -> None:
        """Let the jammer decide; `measure` renders the packet."""
        self._jammed = self.jammer.decide(round_number, channel)

    def measure(self, round_number: int, channel: int) -> tuple[float, bool]:
        """Return the SINR of a packet, and whether it was missed."""
        packet, header = np.array([key(self._seed, 0, round_number)]), np.array([round_number])
        sinr = float(
            self._chain.sinr(
                packet,
                self._n0[channel],
                self._jam[channel] if self._jammed else 0.0,
                self._wander,
                header,
            )[0]
        )
        return sinr, sinr < self._chain.receiver.detect_db


def run(
    config: RadioConfig | None = None,
    testbed: CompiledTestbed | None = None,
    on_round: Callable[[Round], None] = lambda _: None,
    say: Callable[[str], None] = lambda _: None,
) -> RunRecord:
    """Run the closed loop in this process.

    Parameters
    ----------
    config : the configuration; None for the defaults.
    testbed : what sends and measures packets; None for a `CompiledTestbed`.
    on_round : called with the record of each round, for example by a live view.
    say : called with a line of text if something must be compiled before the first
        round, which can take half a minute; it does not count in the run's seconds.

    Examples
    --------
    >>> result = run(
    ...     RadioConfig.of(
    ...         {"rounds": 300, "seed": 3, "agent": {"policy": "MedEUCB(block=90)"}}
    ...     )
    ... )
    >>> result.rounds[0].channel, result.summary()["pulls"]
    (0, [204, 24, 24, 24, 24])
    """
    config = config or RadioConfig()
    bed = testbed or CompiledTestbed(config)
    compile_policy(config.policy, CHANNELS, say)
    if testbed is None:
        bed.prepare(say)
    agent = RxAgent(config.policy, config.channels.means, config.seed)
    link = InProcessAck(
        bed.announce, loss=config.ack.loss, retries=config.ack.retries, seed=config.seed
    )

    def try_once(
        round_number: int, attempt: int, channel: int
    ) -> tuple[Ack, tuple[float, bool] | None]:
        ack = link.request(round_number, attempt, channel)
        return ack, bed.measure(round_number, channel) if ack.arrived else None

    records: list[Round] = []
    began = perf_counter()
    for record in play(config, agent, try_once, most_repeats=MOST_REPEATS):
        records.append(record._replace(jammed=bed.jammer.truth.get(record.round)))
        on_round(records[-1])
    return RunRecord(config, records, perf_counter() - began)
