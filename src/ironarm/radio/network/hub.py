"""The medium as a process of its own, which all nodes talk to.

It renders what the receiver hears, notices which nodes are missing, and keeps the
records of the rounds. The way of one packet:

    rx -> tx         the ACK link: round, attempt, channel (see `ack`)
    tx -> medium     "announce": a packet is about to come
    medium -> jammer "packet": the jammer decides; it may "transmit" samples
    jammer -> medium "heard", with whether it jams
    medium -> tx     "go"
    tx -> medium     "transmit" samples (`TxNode`); then it answers the ACK
    rx -> medium     "receive": answered with samples that `Medium.narrowband` renders
    rx -> medium     "record": what `Receiver` measured and the agent learnt
    rx -> medium     "late" instead, on hardware: the packet came later than its noise

The medium adds to a record whether the packet was jammed, and tells observers, but
never the receiver.

Time is virtual: each step waits for the one before. A node that is silent for
`lost_seconds` is lost. The run stops until it returns, and ends after `return_seconds`.
A receiver that returns asks for the history and learns it again. The noise source takes
no part in a simulated round: its levels hold until it is lost. On hardware it hears of
each packet, as the jammer does.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from time import monotonic
from typing import Any
from uuid import uuid4

import numpy as np

from ...errors import InvalidInput, NodeLost
from ...validation import number, whole
from ..signal.medium import (
    CENTRES_HZ,
    Emission,
    Samples,
)
from ..testbed.config import RadioConfig
from ..testbed.records import MOST_ROUNDS, Round
from .messages import (
    BY_HAND,
    Message,
    decoded,
    encoded,
    router,
    run_name,
    samples_of,
)
from .round_medium import RoundMedium, channel_centred_at, samples_per_symbol

NAMES = {
    "tx": "transmitter",
    "jammer": "jammer",
    "rx": "receiver",
    "noise": "noise source",
    "observer": "observer",
    "medium": "medium",
}
EMITTERS = {"tx": "transmitter", "jammer": "jammer"}
MOST_GAIN_DB = 200.0


def kind(role: str) -> str:
    """Return a role without the word after the dot that tells observers apart."""
    return "observer" if role.startswith("observer.") else role


class Hub:
    """The medium's process; `serve` runs until the run is over.

    Parameters
    ----------
    config : of the run.
    run : the run's name; nodes of another run are refused.
    """

    def __init__(self, config: RadioConfig, run: str = BY_HAND) -> None:
        self.config, self.times, self.run = config, config.processes, run_name(run)
        medium = config.medium()
        self.round_medium = RoundMedium(medium)
        self.needed = ["tx", "jammer", "rx", *(["noise"] if self.times.noise_node else [])]
        if self.times.noise_node:
            # until the noise source sets it
            self.round_medium.set_noise((0.0,) * len(CENTRES_HZ))
        self.name = uuid4().hex
        self.seen: dict[str, float] = {}
        self.lost: dict[str, float] = {}
        self.packet: tuple[int, int, int] | None = None
        """Round, attempt and channel of the packet that is announced."""
        self.asked = [
            "jammer",
            *(
                ["noise"]
                if self.times.noise_node and (config.hardware or {}).get("devices")
                else []
            ),
        ]
        """Nodes that hear of a packet before it is sent.

        Each says when its noise is on the air. In simulation the medium adds the noise
        source's noise, so only the jammer is asked.
        """
        self.heard: set[str] = set()
        self.sent: tuple[int, int] | None = None
        self.truth: dict[int, bool] = {}
        self.records: dict[int, dict[str, Any]] = {}
        self._began, self._started = monotonic(), False
        self._over: str | None = None
        self._refused: set[bytes] = set()
        self._socket = router(f"tcp://{self.times.host}:{self.times.port}")

    def serve(self) -> None:
        """Serve until all rounds are played; NodeLost if a node does not return."""
        try:
            while self._over is None:
                if self._socket.poll(50):
                    sender, *parts = self._socket.recv_multipart()
                    (run, _, role), message = (
                        sender.decode(errors="replace").rpartition("/"),
                        decoded(parts),
                    )
                    if message is None or kind(role) not in NAMES:
                        continue
                    if run != self.run:
                        self._refuse(sender, run, role)
                        continue
                    self._arrived(role)
                    try:
                        self._handle(role, message)
                    except (
                        InvalidInput,
                        KeyError,
                        TypeError,
                        ValueError,
                        ArithmeticError,
                    ) as error:
                        reason = f"{error} is missing" if type(error) is KeyError else str(error)
                        self._say(
                            f"passed over a message from the {NAMES[kind(role)]} that makes no "
                            f"sense: {reason}"
                        )
                        if "id" in message.fields:  # the sender waits for an answer
                            self._tell(
                                role,
                                {"op": "senseless", "id": message.fields["id"], "reason": reason},
                            )
                else:
                    self._look()
            for role in self.seen:
                self._tell(role, {"op": "end", "reason": self._over})
        except BaseException:
            for role in self.seen:
                self._tell(role, {"op": "end", "reason": "the medium was stopped."})
            raise
        finally:
            self._socket.close()
        if self._over:
            raise NodeLost(self._over)

    def _refuse(self, sender: bytes, run: str, role: str) -> None:
        self._socket.send_multipart([sender, *encoded({"op": "refused", "run": self.run})])
        if sender not in self._refused:
            self._refused.add(sender)
            self._say(
                f"refused the {NAMES[kind(role)]} of another run, {run!r}; this is the run "
                f"{self.run!r}"
            )

    @property
    def complete(self) -> bool:
        """Whether all nodes have joined and none is lost."""
        return all(role in self.seen and role not in self.lost for role in self.needed)

    def _arrived(self, role: str) -> None:
        now = monotonic()
        silent, returned = (
            now - self.seen.get(role, -math.inf),
            self.lost.pop(role, None) is not None,
        )
        self.seen[role] = now
        if returned:
            self._report(role, "back", f"the {NAMES[role]} is back after {silent:.1f} s of silence")
        if (returned or silent == math.inf) and role in self.asked and role not in self.heard:
            self._ask(role)
        if not self._started and self.complete:
            self._started = True
            self._report("medium", "started", "all nodes are there")
            if not self._observers:
                self._say(
                    "nobody watches; `ironarm radio watch` shows and saves the rounds until the "
                    "run is over"
                )
        self._look()

    def _look(self) -> None:
        """Check which nodes are missing."""
        now = monotonic()
        for role in self.needed:
            if (
                role in self.seen
                and role not in self.lost
                and now - self.seen[role] > self.times.lost_seconds
            ):
                self.lost[role] = now
                if role in EMITTERS:
                    self.round_medium.silence(EMITTERS[role])
                self.sent = None
                self._report(
                    role,
                    "lost",
                    f"the {NAMES[role]} has been silent for {self.times.lost_seconds:g} s; "
                    f"waiting {self.times.return_seconds:g} s for its return",
                )
            if role in self.lost and now - self.lost[role] > self.times.return_seconds:
                self._over = (
                    f"the {NAMES[role]} did not return within {self.times.return_seconds:g} s; "
                    f"the run ended after {len(self.records)} rounds."
                )
        if not self._started and now - self._began > self.times.start_seconds:
            missing = ", ".join(NAMES[role] for role in self.needed if role not in self.seen)
            self._over = (
                f"after {self.times.start_seconds:g} s these nodes had not started: {missing}."
            )

    def _handle(self, role: str, message: Message) -> None:
        """Do what a node asks for; what is not a role's to ask is passed over."""
        may, do = ORDERS.get(message.op, (_nobody, Hub._alive))
        if may(self, role):
            do(self, role, message, {"id": message.fields.get("id")})

    def _alive(self, role: str, message: Message, answer: dict[str, Any]) -> None:
        self._tell(role, {"op": "alive", "hub": self.name})

    def _heard(self, role: str, message: Message, answer: dict[str, Any]) -> None:
        fields = message.fields
        if self.packet and self.packet[:2] == (fields["round"], fields["attempt"]):
            if role == "jammer":
                self.truth[self.packet[0]] = bool(fields["hit"])
            self.heard.add(role)
            if self.heard.issuperset(self.asked):
                self._tell("tx", {"op": "go", "round": self.packet[0], "attempt": self.packet[1]})

    def _late(self, role: str, message: Message, answer: dict[str, Any]) -> None:
        round_number = whole("round", message.fields["round"], below=MOST_ROUNDS)
        self._report(
            "tx",
            "late",
            f"round {round_number} took longer than its packet's noise lasts, and is repeated "
            "with noise that lasts longer; if that happens often, make jam_seconds longer",
        )

    def _set_noise(self, role: str, message: Message, answer: dict[str, Any]) -> None:
        self.round_medium.set_noise(tuple(float(level) for level in message.fields["levels"]))
        self._tell(role, {"op": "set", **answer})

    def _record(self, role: str, message: Message, answer: dict[str, Any]) -> None:
        self._keep(message.fields["rounds"])
        self._tell(role, {"op": "kept", **answer})

    def _send_history(self, role: str, message: Message, answer: dict[str, Any]) -> None:
        if self.complete:  # the receiver waits until all nodes have joined
            self._tell(role, {"op": "history", "history": self._history(), **answer})

    def _send_rounds(self, role: str, message: Message, answer: dict[str, Any]) -> None:
        self._tell(role, {"op": "rounds", "rounds": list(self.records.values())})

    def _finish(self, role: str, message: Message, answer: dict[str, Any]) -> None:
        self._over = ""

    def _announce(self, role: str, message: Message, answer: dict[str, Any]) -> None:
        round_number, attempt, channel = (
            whole(name, message.fields[name], below=MOST_ROUNDS)
            for name in ("round", "attempt", "channel")
        )
        if not 0 <= channel < len(CENTRES_HZ):
            raise InvalidInput(f"channel {channel} does not exist.")
        self.packet, self.sent = (round_number, attempt, channel), None
        self.heard.clear()
        self.round_medium.begin(round_number)
        for role in self.asked:
            if role not in self.lost:
                self._ask(role)

    def _ask(self, role: str) -> None:
        if self.packet:
            self._tell(
                role,
                {
                    "op": "packet",
                    **dict(zip(("round", "attempt", "channel"), self.packet, strict=True)),
                },
            )

    def _transmit(self, role: str, message: Message, answer: dict[str, Any]) -> None:
        self._emit(role, message)
        self._tell(role, {"op": "sent", **answer})

    def _emit(self, role: str, message: Message) -> None:
        fields = message.fields
        if self.packet is None or (
            role == "tx" and (fields.get("round"), fields.get("attempt")) != self.packet[:2]
        ):
            return
        sps = samples_per_symbol(float(fields["rate_hz"]))
        if not len(message.payload):
            raise InvalidInput("a burst needs samples of one channel.")
        gain = number("gain_db", fields["gain_db"], at_least=-MOST_GAIN_DB, at_most=MOST_GAIN_DB)
        burst = Emission(
            Samples(samples_of(message), sps),
            channel_centred_at(float(fields["frequency_hz"])),
            EMITTERS[role],
            gain,
            0.0,
            role == "tx",
        )
        self.round_medium.silence(EMITTERS[role])  # a burst sent again replaces the first
        self.round_medium.emit(burst)
        if role == "tx":
            self.sent = self.packet[:2]

    def _receive(self, role: str, message: Message, answer: dict[str, Any]) -> None:
        fields = message.fields
        if not self.complete:
            return  # the receiver asks again
        if self.sent != (fields["round"], fields["attempt"]):
            self._tell("rx", {"op": "nothing", **answer})
            return
        count = int(fields["count"])
        if not 0 < count <= 10_000_000:
            raise InvalidInput(f"{count} samples cannot be received at once.")
        self._tell(
            "rx",
            {"op": "samples", **answer},
            self.round_medium.hear(float(fields["frequency_hz"]), float(fields["rate_hz"]), count),
        )

    def _keep(self, rounds: list[Any]) -> None:
        for record in [Round.of(fields, jammed=None) for fields in rounds]:  # all or none
            if record.round not in self.records:
                self.records[record.round] = record._replace(
                    jammed=self.truth.get(record.round)
                )._asdict()
                self._tell_observers({"op": "rounds", "rounds": [self.records[record.round]]})

    def _history(self) -> list[dict[str, Any]]:
        """Return the records from the first round on, for a restarted receiver.

        They don't say which packets were jammed, which no receiver knows.
        """
        history: list[dict[str, Any]] = []
        while (record := self.records.get(len(history))) is not None:
            history.append({name: value for name, value in record.items() if name != "jammed"})
        return history

    def _report(self, role: str, what: str, text: str) -> None:
        self._say(text)
        self._tell_observers({"op": "status", "role": role, "what": what, "text": text})

    def _say(self, text: str) -> None:
        print(f"medium: {text}", file=sys.stderr, flush=True)

    def _tell_observers(self, fields: dict[str, Any]) -> None:
        for role in self._observers:
            self._tell(role, fields)

    @property
    def _observers(self) -> list[str]:
        return [role for role in self.seen if kind(role) == "observer"]

    def _tell(self, role: str, fields: dict[str, Any], samples: np.ndarray | None = None) -> None:
        if role in self.seen:
            self._socket.send_multipart([f"{self.run}/{role}".encode(), *encoded(fields, samples)])


def _nobody(hub: Hub, role: str) -> bool:
    return False


def _only(role: str) -> Callable[[Hub, str], bool]:
    return lambda hub, asking: asking == role


Order = Callable[[Hub, str, Message, dict[str, Any]], None]
ORDERS: dict[str, tuple[Callable[[Hub, str], bool], Order]] = {
    "alive": (lambda hub, role: True, Hub._alive),
    "announce": (_only("tx"), Hub._announce),
    "heard": (lambda hub, role: role in hub.asked, Hub._heard),
    "late": (_only("rx"), Hub._late),
    "transmit": (lambda hub, role: role in EMITTERS, Hub._transmit),
    "receive": (_only("rx"), Hub._receive),
    "noise": (_only("noise"), Hub._set_noise),
    "record": (_only("rx"), Hub._record),
    "history": (_only("rx"), Hub._send_history),
    "watch": (lambda hub, role: kind(role) == "observer", Hub._send_rounds),
    "finish": (_only("rx"), Hub._finish),
}
"""What nodes can ask the hub to do: who may, and what it does."""
