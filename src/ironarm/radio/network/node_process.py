"""One node as a process: `ironarm radio node medium|tx|jammer|rx|noise`.

It joins the medium's process, does its work, and ends with the run.

A real radio is switched off when the process ends, also by an exception or a signal. It
is switched off too when the medium falls silent for `lost_seconds`; the node then ends,
and must be started again to transmit. Before the medium's first message the node waits,
and transmits nothing.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
from contextlib import ExitStack, nullcontext, suppress
from typing import Any, NoReturn

from ...errors import NodeLost
from ...validation import choice
from ..backends.hardware import (
    SPS,
    check_calibrated,
    check_devices,
    check_times,
    cover_symbols,
    device_transmitter,
    jammer_gains,
    open_radio,
    seconds,
)
from ..backends.remote import NothingSent, RemoteRadio
from ..backends.safety import Watchdog
from ..signal.medium import CENTRES_HZ, window_symbols
from ..signal.receiver import Receiver, judged
from ..signal.waveform import STANDARD, SYMBOL_RATE
from ..testbed.ack import Ack, AckClient, AckServer
from ..testbed.config import RadioConfig
from ..testbed.jamming import strategy_of
from ..testbed.nodes import JammerNode, NoiseNode, TxNode
from ..testbed.round_loop import play
from .hub import Hub
from .hub_client import HubClient, RunEnded
from .messages import BY_HAND

ROLES = ("medium", "tx", "jammer", "rx", "noise")
ENDING = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
    if hasattr(signal, name)
]
"""Windows has only the first two."""

BETWEEN_BEATS = 50 * 1250
"""Samples of a device, 0.05 s, that are waited for without a heartbeat."""


def run_node(
    role: str,
    config: RadioConfig,
    *,
    acknowledged: str | None = None,
    with_parent: bool = False,
    run: str = BY_HAND,
) -> None:
    """Run a node until the run is over.

    Parameters
    ----------
    role : "medium", "tx", "jammer", "rx" or "noise".
    config : the same for all nodes of a run.
    acknowledged : the set-up's word from the command line; a node that transmits on
        hardware needs it.
    with_parent : end when standard input does, that is with the process that started
        this one, however that ended.
    run : the name of the run, the same for all its nodes; they refuse those of another.
    """
    choice("role", role, ROLES)
    config.check_for_processes()
    end_on_signals()
    if with_parent:
        threading.Thread(target=_end_with_parent, daemon=True).start()
    if role == "medium":
        Hub(config, run).serve()
        return
    with ExitStack() as stack:
        hardware = check_devices(config)
        if hardware:
            check_times(config)
        radio: Any = (
            stack.enter_context(open_radio(config, role, acknowledged)) if hardware else None
        )
        client = HubClient(config.processes, role, run=run)
        stack.callback(client.close)
        if radio is None:
            radio = RemoteRadio(client)
        elif role != "rx":
            watchdog = Watchdog(
                config.processes.lost_seconds,
                radio.close,
                on_starved=lambda: _starved(role, config.processes.lost_seconds),
                from_first_feed=True,
            )
            client.on_heard = stack.enter_context(watchdog).feed
        try:
            {"tx": _transmitter, "jammer": _jammer, "rx": _receiver, "noise": _noise}[role](
                config, client, radio, hardware
            )
        except RunEnded as end:
            if end.reason:
                raise NodeLost(end.reason) from None


def _transmitter(config: RadioConfig, client: HubClient, radio: Any, hardware: bool) -> NoReturn:
    node = device_transmitter(config, radio) if hardware else TxNode(radio)

    def send(round_number: int, attempt: int, channel: int) -> bool:
        if node.is_sent(round_number, attempt):
            return True
        if channel >= len(CENTRES_HZ):
            return False
        client.tell(
            {"op": "announce", "round": round_number, "attempt": attempt, "channel": channel}
        )
        # after this time the receiver gives up, and asks anew
        for _ in range(round(config.ack.timeout_seconds * (config.ack.retries + 1) / 0.05)):
            message = client.next(50)
            if (
                message
                and message.op == "go"
                and (message.fields.get("round"), message.fields.get("attempt"))
                == (round_number, attempt)
            ):
                radio.round_number, radio.attempt = round_number, attempt
                node.send(round_number, attempt, channel)
                return True
        return False

    server = AckServer(
        f"tcp://{config.processes.host}:{config.processes.ack_port}", send, client.run
    )
    try:
        while True:
            client.beat()
            server.serve(50)
    finally:
        server.close()


def _jammer(config: RadioConfig, client: HubClient, radio: Any, hardware: bool) -> NoReturn:
    if hardware:
        node = JammerNode(
            strategy_of(config),
            config.seed,
            jammer_gains(config, radio),
            radio,
            SPS,
            centres_hz=config.centres_hz,
        )
    else:
        node = JammerNode(
            strategy_of(config),
            config.seed,
            [config.jam_power_db(channel) for channel in range(len(CENTRES_HZ))],
            radio,
        )
    while True:
        message = client.next(50)
        if message and message.op == "packet":
            packet = {name: int(message.fields[name]) for name in ("round", "attempt", "channel")}
            if hardware:
                node.symbols = cover_symbols(config, packet["attempt"])
            hit = node.act(packet["round"], packet["channel"])
            client.tell({"op": "heard", "hit": hit, **packet})


def _noise(config: RadioConfig, client: HubClient, radio: Any, hardware: bool) -> NoReturn:
    node, hub = NoiseNode(config.medium().noise, config.seed), ""
    if hardware:
        check_calibrated(config)
        node = NoiseNode(node.levels, config.seed, radio, SPS, centres_hz=config.centres_hz)
    while True:
        message = client.next(50)
        if message and message.op == "packet":
            packet = {name: int(message.fields[name]) for name in ("round", "attempt", "channel")}
            node.symbols = cover_symbols(config, packet["attempt"])
            node.act(packet["round"], packet["channel"])
            client.tell({"op": "heard", **packet})
        if client.hub != hub:  # a new hub knows no levels
            hub = client.hub
            client.request({"op": "noise", "levels": node.levels})


def _receiver(config: RadioConfig, client: HubClient, radio: Any, hardware: bool) -> None:
    from ..testbed.rx_agent import RxAgent

    agent = RxAgent(config.policy, config.channels.means, config.seed)
    _compile(config)
    receiver = Receiver(sps=SPS if hardware else 2, floor_db=config.channels.missed)
    address = f"tcp://{config.processes.host}:{config.processes.ack_port}"
    link = AckClient(
        address,
        timeout_seconds=config.ack.timeout_seconds,
        retries=config.ack.retries,
        meanwhile=client.beat,
        run=client.run,
    )
    history = client.request({"op": "history"})
    records: list[dict[str, Any]] = history.fields["history"] if history else []
    agent.replay((record["channel"], record["reward"]) for record in records)
    hub = client.hub

    def try_once(number: int, attempt: int, channel: int) -> tuple[Ack, tuple[float, bool] | None]:
        radio.round_number, radio.attempt = number, attempt
        radio.tune((config.centres_hz if hardware else CENTRES_HZ)[channel])
        measured = None
        with radio.radio.hold() if hardware else nullcontext(0) as at:
            ack = link.request(number, attempt, channel)
            if ack.arrived and hardware:
                measured = _waited_for(config, client, radio, receiver, number, attempt, at)
            elif ack.arrived:
                with suppress(NothingSent):
                    samples = radio.receive(window_symbols(STANDARD) * receiver.sps)
                    measured = judged(receiver, samples, number)
        if hardware:
            # Before the next packet, let this one and its noise pass. Count in the
            # device's own time: on a busy computer a device lags behind.
            until = radio.radio.now() + cover_symbols(config, attempt) * SPS
            while (left := until - radio.radio.now()) > 0:
                client.beat()
                radio.receive(min(left, BETWEEN_BEATS))
        return ack, measured

    def wait(seconds: float) -> None:
        client.next(min(50, math.ceil(1000 * seconds)))

    for record in play(config, agent, try_once, wait=wait):
        records.append(record._asdict())
        client.request({"op": "record", "rounds": records[-1:]})
        if client.hub != hub:  # the hub was restarted, and has lost the other records
            client.request({"op": "record", "rounds": records})
        hub = client.hub
    while True:  # until the medium says that the run is over
        client.tell({"op": "finish"})
        client.next(500)


def _compile(config: RadioConfig) -> None:
    """Compile the policy before the node joins, on an agent that is thrown away.

    A node that compiles sends no heartbeats.
    """
    from ..testbed.rx_agent import RxAgent

    spare = RxAgent(config.policy, config.channels.means, config.seed)
    spare.decide()
    spare.learn(0.0)


def _waited_for(
    config: RadioConfig,
    client: HubClient,
    radio: Any,
    receiver: Receiver,
    number: int,
    attempt: int,
    at: int,
) -> tuple[float, bool] | None:
    """Find a packet after sample `at`; return its SINR and if it was missed.

    None if it came so late that its noise may have ended before it. The noise began
    after sample `at`, because the packet was asked for after that. This is counted in
    the device's own time, in which a busy computer doesn't matter.
    """
    from ..backends.packet_search import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
        ends,
        listen,
    )

    # the packet was sent before its ACK, which may have taken long
    waited = radio.radio.now() - at
    lasts = round(seconds(config, "listen_seconds") * SYMBOL_RATE) * SPS
    report = listen(radio, receiver, number, at, waited + lasts, client.beat)
    if report.detected and ends(report, receiver) > cover_symbols(config, attempt) * SPS:
        client.tell({"op": "late", "round": number, "attempt": attempt})
        return None
    return report.sinr_db, not report.detected


def end_on_signals() -> None:
    """Turn signals that end a process into exceptions, which switch the device off.

    SIGHUP comes when a terminal or a connection is closed.
    """
    for known in ENDING:
        # nohup or a shell ignores it on purpose
        if not (known.name in ("SIGHUP", "SIGINT") and signal.getsignal(known) == signal.SIG_IGN):
            signal.signal(known, _stopped)


def _stopped(number: int, _: Any) -> NoReturn:
    for other in ENDING:  # a second signal must not stop the switching off
        # not SIG_IGN: Python complains about signals that came before that
        signal.signal(other, _held_off)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)


def _held_off(number: int, _: Any) -> None:
    pass


def _starved(role: str, silent_seconds: float) -> None:
    """Say why the device was switched off, and end the node.

    The watchdog's thread calls it.
    """
    print(
        f"{role}: the medium was silent for {silent_seconds:g} s, so the device was switched off "
        "and the node ends; start it again to transmit.",
        file=sys.stderr,
        flush=True,
    )
    os.kill(os.getpid(), signal.SIGTERM)


def _end_with_parent() -> None:
    try:
        while os.read(sys.stdin.fileno(), 1024):
            pass
    except (OSError, ValueError):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
