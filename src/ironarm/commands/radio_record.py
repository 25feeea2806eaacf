"""`ironarm radio record`: rounds of the testbed as a SigMF recording."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

EXAMPLES = """\
examples:
  ironarm radio record --out recordings --rounds 20
  ironarm radio record --out recordings --rounds 50 --rho 0.125 --jammer best --policy 'MedEUCB(block=200)'
  ironarm radio record --out recordings --name floats --format cf32_le --milliseconds 10
"""


def add(verbs: Any) -> None:
    """Describe the options."""
    record = verbs.add_parser(
        "record",
        help="rounds as a SigMF recording of all five channels",
        description="Play rounds in simulation, and write what is heard of all five channels at 5 MS/s as a SigMF recording: DIR/NAME.sigmf-data and DIR/NAME.sigmf-meta.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    record.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the recording")
    record.add_argument("--name", default="testbed", help="name of the recording (default: testbed)")
    record.add_argument("--rounds", type=int, default=20, metavar="N", help="rounds, one packet each (default: 20)")
    record.add_argument("--policy", default="EpsilonGreedy(c=10)", metavar="POLICY", help="who chooses the channels (default: EpsilonGreedy(c=10))")
    record.add_argument("--rho", type=float, default=0.3, help="probability that a packet is jammed (default: 0.3)")
    record.add_argument("--jammer", choices=["any", "best"], default="any", help="jam any packet, or only those in the best channel (default: any)")
    record.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed gives the same recording (default: 0)")
    record.add_argument("--milliseconds", type=float, default=4.0, metavar="MS", help="how much of each round is kept, the packet in the middle (default: 4)")
    record.add_argument("--format", choices=["ci16_le", "cf32_le"], default="ci16_le", help="type of the samples: 16-bit numbers or floats (default: ci16_le)")


def run(options: argparse.Namespace) -> int:
    """Play the rounds and write them."""
    from ..attacks import Jammer
    from ..notation import policy_from_text
    from ..radio.bandit import RadioBandit
    from ..radio.record import record
    from ..radio.scene import bursts
    from ..studies.typed import file_name
    from ..validation import whole

    bandit, attack = RadioBandit(), Jammer(options.rho, strategy=options.jammer)
    policy, seed = policy_from_text(options.policy, rho=options.rho), whole("seed", options.seed)
    heard = bursts(bandit, attack, policy, rounds=options.rounds, seed=seed, milliseconds=options.milliseconds)
    jammed = "any packet" if options.jammer == "any" else "the best channel"
    words = f"{options.rounds} rounds of {options.policy}, jammer on {jammed} with rho = {options.rho:g}, seed {seed}; simulated"
    meta, annotations = record(heard, bandit, options.out / file_name("name", options.name), form=options.format, description=words)
    size = meta.with_suffix(".sigmf-data").stat().st_size
    print(f"wrote {meta} with {annotations} annotations, and {size / 1e6:.1f} MB of samples beside it")
    return 0
