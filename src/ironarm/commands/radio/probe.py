"""`ironarm radio probe`: which radios SoapySDR finds, and what they can do."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from ...errors import MissingExtra
from ...radio.backends.soapy_binding import bounds, bounds_text, soapy

HELP = "list the radios that SoapySDR finds, and what they can do"
EXAMPLES = (
    "probe                                           the radios of this machine",
    "probe --device driver=redpitaya,addr=192.168.1.100    one that cannot be found by searching",
)
MODULES = "apt-cache search soapysdr-module"


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument(
        "--device",
        metavar="ARGS",
        help=(
            "only this device, for example driver=uhd; needed for drivers that cannot search, "
            "such as driver=redpitaya,addr=192.168.1.100"
        ),
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a page")


def run(options: argparse.Namespace) -> int:
    """Print what there is; 1 if there is no radio."""
    try:
        module = soapy()
    except MissingExtra as error:
        print(f"ironarm: {error}", file=sys.stderr)
        return 1
    modules = [path.replace("\\", "/").rsplit("/", 1)[-1] for path in module.listModules()]
    found = [dict(one) for one in module.Device.enumerate(options.device or "")]
    devices = [describe(module, one) for one in found]
    if options.json:
        print(
            json.dumps(
                {"soapysdr": module.getAPIVersion(), "modules": modules, "devices": devices},
                indent=2,
            )
        )
    else:
        print(page(module.getAPIVersion(), modules, devices))
    return 0 if devices else 1


def describe(module: Any, arguments: dict[str, str]) -> dict[str, Any]:
    """Return what a device reports: identity, frequencies, rates and gains."""
    text = ",".join(f"{key}={value}" for key, value in arguments.items())
    try:
        device = module.Device(text)
    except RuntimeError as error:
        return {"arguments": text, "error": str(error)}
    try:
        found: dict[str, Any] = {
            "arguments": text,
            "driver": device.getDriverKey(),
            "hardware": device.getHardwareKey(),
            "info": dict(device.getHardwareInfo()),
        }
        for word, way in (("receive", module.SOAPY_SDR_RX), ("transmit", module.SOAPY_SDR_TX)):
            found[word] = [
                {
                    "frequency_hz": bounds(device.getFrequencyRange(way, channel)),
                    "rate_hz": bounds(device.getSampleRateRange(way, channel)),
                    "gain_db": bounds([device.getGainRange(way, channel)])
                    if device.listGains(way, channel)
                    else None,
                    "antennas": list(device.listAntennas(way, channel)),
                }
                for channel in range(device.getNumChannels(way))
            ]
        return found
    finally:
        device.close()


def page(version: str, modules: list[str], devices: list[dict[str, Any]]) -> str:
    """Return what was found as text."""
    lines = [f"SoapySDR {version}, driver modules: {', '.join(modules) or 'none'}"]
    if not modules:
        lines.append(
            f"Without a driver module no radio can be found: `{MODULES}` lists them, for example "
            "soapysdr-module-uhd for USRPs (B200)."
        )
    elif not devices:
        lines.append(
            "No radio was found. Is it connected, and is the module of its driver among those "
            f"above (`{MODULES}`)? Some drivers cannot search: name the device with --device."
        )
    for device in devices:
        lines.append(f"\n{device['arguments']}")
        if "error" in device:
            lines.append(f"  cannot be opened: {device['error']}")
            continue
        for word in ("receive", "transmit"):
            for number, one in enumerate(device[word]):
                gain = (
                    "no gain that can be set"
                    if one["gain_db"] is None
                    else f"gain {bounds_text(one['gain_db'], 1)} dB"
                )
                lines.append(
                    f"  {word} {number}: {bounds_text(one['frequency_hz'], 1e6)} MHz; "
                    f"{bounds_text(one['rate_hz'], 1e6)} MS/s; {gain}"
                )
            if not device[word]:
                lines.append(f"  cannot {word}")
    return "\n".join(lines)
