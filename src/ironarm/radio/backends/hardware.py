"""Open the radio that a configuration names for a node.

A node that transmits needs a permit. docs/radio.md describes the table `[hardware]`.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import Any, NamedTuple

from ...errors import InvalidInput
from ...validation import did_you_mean, number
from ..signal.medium import WIDTH_HZ
from ..signal.waveform import SYMBOL_RATE
from ..testbed.config import CHANNELS, RadioConfig
from ..testbed.hardware_table import SECONDS
from ..testbed.nodes import TxNode
from .in_background import InBackground
from .safety import GuardedRadio, Permit, TransmitRules

SPS = 3
LEAD_SECONDS = 0.25
"""Longest wait for noise to begin, before a packet is sent into it."""

MOST_COVER_SECONDS = 5.0
"""Noise over a packet is not made longer than this if packets come late."""

TRANSMITTING = {"tx": "transmitter", "jammer": "jammer", "noise": "noise source"}


def check_devices(config: RadioConfig) -> bool:
    """Return whether the testbed is on hardware.

    It must be so as a whole: a packet from a simulated transmitter never reaches a real
    receiver.
    """
    devices = _devices(config)
    needed = ["tx", "rx", "jammer", *(["noise"] if config.processes.noise_node else [])]
    for role in devices:
        if role not in needed:
            raise InvalidInput(
                f"[hardware.devices] names a device for {role!r}; the nodes are "
                f"{', '.join(needed)}.{did_you_mean(role, needed)}"
            )
    for role in needed:
        if devices and role not in devices:
            without = " set noise_node = false in [processes]," if role == "noise" else ""
            raise InvalidInput(
                f"[hardware.devices] names a device for {', '.join(devices)}, but none for "
                f"{role}. Name one,{without} or leave all of them out to simulate."
            )
    # a receiver and a transmitter can share some radios
    sending = [role for role in devices if role in TRANSMITTING]
    for i, role in enumerate(sending):
        for other in sending[:i]:
            if devices[other] == devices[role]:
                raise InvalidInput(
                    f"[hardware.devices] names the same device for {other} and {role}; each node "
                    "that transmits needs one of its own."
                )
    return bool(devices)


def check_times(config: RadioConfig) -> None:
    """Refuse times with which no round on hardware could ever be played."""
    lasts, ack = seconds(config, "jam_seconds"), config.ack
    if config.round_seconds <= lasts:
        raise InvalidInput(
            f"round_seconds must be more than jam_seconds in [hardware], {lasts:g}, or a packet's "
            f"noise meets the next packet too; got {config.round_seconds:g}."
        )
    patience = ack.timeout_seconds * (ack.retries + 1)
    if patience <= 2 * lead_seconds(config):
        raise InvalidInput(
            f"an ACK is given up after {patience:g} s, timeout_seconds times retries + 1 in "
            f"[ack], and noise may take {lead_seconds(config):g} s to begin before a packet is "
            f"sent; make timeout_seconds longer, so that there are more than "
            f"{2 * lead_seconds(config):g} s."
        )


class Use(NamedTuple):
    """How a node uses its radio: what it may do, and what it is set to."""

    permit: Permit | None
    gain_db: float | None
    digital_gain: bool
    translation_hz: float


def check_use(config: RadioConfig, role: str, acknowledged: str | None) -> Use:
    """Return how a node uses its radio; refuse what the configuration does not allow.

    No device is touched.
    """
    table = config.hardware or {}
    permit = (
        TransmitRules.from_table(table).permit(acknowledged, TRANSMITTING[role])
        if role in TRANSMITTING
        else None
    )
    digital = table.get("digital_gain", False)
    if not isinstance(digital, bool):
        raise InvalidInput(f"digital_gain in [hardware] must be true or false, got {digital!r}.")
    # a digital gain is 0 dB unless set
    wanted = table.get("gains_db", {}).get(role, 0.0 if permit and digital else None)
    gain = max(wanted) if isinstance(wanted, list | tuple) else wanted
    if permit and gain is not None:
        permit.check_gain(gain)
    translation = number("frequency_translation_hz", table.get("frequency_translation_hz", 0.0))
    for centre in config.centres_hz:
        if permit:
            permit.check_frequency(centre, WIDTH_HZ, translation)
    return Use(permit, gain, permit is not None and digital, translation)


def check_calibrated(config: RadioConfig) -> None:
    """Refuse a noise source that does not know its levels."""
    if config.processes.noise_node and config.calibration is None:
        raise InvalidInput(
            "the noise source does not know its levels: make them with `ironarm radio "
            "calibrate`, and name the file as calibration in the configuration."
        )


def open_radio(config: RadioConfig, role: str, acknowledged: str | None) -> Any:
    """Return the node's radio, a `GuardedRadio`.

    What is not allowed is refused before any device is touched, what the device cannot
    do before anything is sent.
    """
    permit, gain, digital, translation = check_use(config, role, acknowledged)
    middle = config.centres_hz[CHANNELS // 2]
    if translation:
        own = (middle + translation) / 1e6
        print(
            f"{role}: for {middle / 1e6:g} MHz on the air the device itself is tuned to {own:g} "
            f"MHz (frequency_translation_hz = {translation:g})",
            file=sys.stderr,
            flush=True,
        )
    from .soapy import SoapyRadio  # type: ignore[import-not-found,import-untyped,unused-ignore]

    with ExitStack() as unless_all_is_well:
        radio = SoapyRadio(
            _devices(config)[role],
            frequency_hz=middle,
            rate_hz=SPS * SYMBOL_RATE,
            gain_db=gain,
            permit=permit,
            digital_gain=digital,
            frequency_translation_hz=translation,
        )
        unless_all_is_well.callback(radio.close)
        for centre in config.centres_hz:  # don't fail late in the run
            radio.check_range(centre)
        unless_all_is_well.pop_all()
    # jammer and noise source announce their noise before it is over
    return GuardedRadio(
        InBackground(radio, lead_seconds(config)) if role in ("jammer", "noise") else radio,
        permit,
        WIDTH_HZ,
    )


def device_transmitter(config: RadioConfig, radio: Any, *, calibrating: bool = False) -> TxNode:
    """Return the transmitter with its radio.

    With a calibration its packets' levels wander as that found; while calibrating there
    is room for it.
    """
    wander_db = config.medium().wander_db if config.calibration and not calibrating else 0.0
    headroom_db = 3 * config.channels.spread if config.calibration or calibrating else 0.0
    return TxNode(
        radio,
        sps=SPS,
        centres_hz=config.centres_hz,
        wander_db=wander_db,
        headroom_db=headroom_db,
        seed=config.seed,
    )


def jammer_gains(config: RadioConfig, radio: Any) -> list[float]:
    """Return the jammer's gain in each channel: as configured, else the device's."""
    wanted = (config.hardware or {}).get("gains_db", {}).get("jammer")
    if isinstance(wanted, list | tuple):
        return [float(gain) for gain in wanted]
    return [float(wanted if wanted is not None else radio.info().gain_db or 0.0)] * CHANNELS


def cover_symbols(config: RadioConfig, attempt: int = 0) -> int:
    """Return for how many symbols a packet is jammed or covered with noise.

    Each attempt at a round lasts twice as long as the one before, because a packet that
    came later than its noise is a reason to repeat a round.
    """
    lasts = seconds(config, "jam_seconds")
    longest = max(lasts, MOST_COVER_SECONDS)
    return round(min(lasts * 2.0 ** min(attempt, 20), longest) * SYMBOL_RATE)


def lead_seconds(config: RadioConfig) -> float:
    """Return how long noise may take to begin before a packet is sent into it."""
    return min(seconds(config, "jam_seconds") / 4, LEAD_SECONDS)


def seconds(config: RadioConfig, name: str) -> float:
    """Return a time of `[hardware]`."""
    return float((config.hardware or {}).get(name, SECONDS[name][0]))


def _devices(config: RadioConfig) -> dict[str, Any]:
    devices = (config.hardware or {}).get("devices", {})
    if not isinstance(devices, dict):
        raise InvalidInput(
            f"[hardware.devices] must be a table with a device for each node, got {devices!r}."
        )
    return devices
