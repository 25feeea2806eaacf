"""Checks of the table `[hardware]` when a configuration is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import InvalidInput
from ...validation import did_you_mean, number
from ..signal.medium import CENTRES_HZ

CHANNELS = len(CENTRES_HZ)
HARDWARE_KEYS = (
    "bands_mhz",
    "max_gain_db",
    "setup",
    "frequency_translation_hz",
    "digital_gain",
    "listen_seconds",
    "jam_seconds",
    "devices",
    "gains_db",
)
SECONDS = {"listen_seconds": (1.0, 0.01, 60.0), "jam_seconds": (0.1, 0.01, 10.0)}
"""Times in `[hardware]`: default, least and most. A packet takes 0.001 s."""

DEVICE_ROLES = ("tx", "rx", "jammer", "noise")


def check_hardware(table: Any) -> None:
    """Check the names in `[hardware]`, its times and its gains.

    What a node may do is checked when its device is opened, by `backends/hardware.py`
    and `safety.py`.
    """
    check_keys("[hardware]", table, HARDWARE_KEYS)
    for name, (_, least, most) in SECONDS.items():
        if name in table:
            number(f"{name} in [hardware]", table[name], at_least=least, at_most=most)
    gains = table.get("gains_db", {})
    check_keys("[hardware.gains_db]", gains, DEVICE_ROLES)
    for role, gain in gains.items():
        of_channels = role == "jammer" and isinstance(gain, list | tuple)
        if of_channels and len(gain) != CHANNELS:
            raise InvalidInput(
                "the jammer's gains in [hardware.gains_db] must be one number, or one for each "
                f"of the {CHANNELS} channels, got {list(gain)!r}."
            )
        for one in gain if of_channels else [gain]:
            number(f"the gain of {role} in [hardware.gains_db]", one)
    devices = table.get("devices", {})
    for role, device in devices.items() if isinstance(devices, dict) else ():
        if not isinstance(device, str) or not device.strip():
            raise InvalidInput(
                f"the device of {role} in [hardware.devices] must be text such as "
                f"'driver=uhd,serial=30F4A7B', got {device!r}; `ironarm radio probe` lists "
                "devices."
            )


def check_keys(where: str, table: Any, known: Sequence[str]) -> None:
    """Refuse a table with unknown keys, or what is no table."""
    if not isinstance(table, dict):
        raise InvalidInput(f"{where} must be a table of names and values, got {table!r}.")
    for key in table:
        if key not in known:
            raise InvalidInput(
                f"unknown key {key!r} in {where}; expected one of "
                f"{', '.join(known)}.{did_you_mean(key, known)}"
            )
