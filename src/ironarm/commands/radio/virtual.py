"""`ironarm radio virtual`: serve virtual radios to SoapySDR, as a process."""

from __future__ import annotations

import argparse
import json
import signal
import threading

from ...errors import InvalidInput

MOST_DB = 200.0

HELP = "serve virtual radios to SoapySDR, on the simulated medium"
EXAMPLES = (
    "virtual                                         four virtual radios on free ports, until "
    "Ctrl-C",
    "virtual --devices transmitter,receiver --ports 5741,5742 --sinr 30*5",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument(
        "--devices",
        default="transmitter,jammer,receiver,noise",
        metavar="A,B",
        help="names of the devices (default: transmitter,jammer,receiver,noise)",
    )
    parser.add_argument(
        "--ports", metavar="P,Q", help="a port for each device (default: free ones)"
    )
    parser.add_argument(
        "--sinr",
        default="41,37,35,31,28",
        metavar="DB",
        help="SINR of each channel in dB, for a packet of unit power (default: 41,37,35,31,28)",
    )
    parser.add_argument(
        "--wander",
        type=float,
        default=0.0,
        metavar="DB",
        help="standard deviation of the packets' level in dB (default: 0)",
    )
    parser.add_argument("--seed", type=int, default=0, help="a whole number (default: 0)")
    parser.add_argument(
        "--realtime",
        action="store_true",
        help=(
            "keep to the wall clock and drop what is not read in time (default: wait for slow "
            "receivers)"
        ),
    )
    parser.add_argument("--json", action="store_true", help="print the devices as one line of JSON")


def run(options: argparse.Namespace) -> int:
    """Serve until interrupted or terminated."""
    from ...naming.notation import numbers_from_text
    from ...radio.signal.medium import CENTRES_HZ, Medium
    from ...radio.virtual.server import VirtualRadio
    from ...validation import number, whole

    targets = [
        number("a channel's SINR (--sinr)", sinr, at_least=-MOST_DB, at_most=MOST_DB)
        for sinr in numbers_from_text(options.sinr)
    ]
    if len(targets) != len(CENTRES_HZ):
        raise InvalidInput(
            f"--sinr must have one number for each of the {len(CENTRES_HZ)} channels, got "
            f"{len(targets)}."
        )
    medium = Medium(
        noise=[10 ** (-sinr / 10) for sinr in targets], wander_db=options.wander, seed=options.seed
    )
    names = [name.strip() for name in options.devices.split(",")]
    ports = (
        None
        if options.ports is None
        else [whole("a port", port, below=65536) for port in numbers_from_text(options.ports)]
    )
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    with VirtualRadio(medium, names, ports=ports, realtime=options.realtime) as virtual:
        devices = {
            name: ",".join(f"{key}={value}" for key, value in virtual.arguments(name).items())
            for name in names
        }
        if options.json:
            print(
                json.dumps(
                    {"devices": devices, "frequency_translation_hz": virtual.translation_hz}
                ),
                flush=True,
            )
        else:
            lines = [f"{name:<12} {arguments}" for name, arguments in devices.items()]
            print("\n".join([*lines, tuning(virtual.translation_hz)]), flush=True)
        said = 0
        while virtual.serving and not ended.wait(0.2):
            for complaint in virtual.complaints[said:]:
                print(complaint, flush=True)
                said += 1
    return 0


def tuning(translation_hz: float) -> str:
    """Return in words to which frequency a device is to be tuned.

    >>> print(tuning(-1180e6).split(",")[0])
    Tune each to the on-air frequency minus 1180 MHz (1200 MHz: 20 MHz)
    """
    from ...radio.signal.medium import CENTRES_HZ

    shift, on_air = translation_hz / 1e6, CENTRES_HZ[0] / 1e6
    return (
        f"Tune each to the on-air frequency {'minus' if shift < 0 else 'plus'} {abs(shift):g} MHz "
        f"({on_air:g} MHz: {on_air + shift:g} MHz), at 1.25 MS/s. Ctrl-C ends."
    )
