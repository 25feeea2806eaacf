"""`ironarm radio record`: rounds of the testbed as a SigMF recording."""

from __future__ import annotations

import argparse
from pathlib import Path

from ...naming import own_code
from . import jammer_options

RHO = 0.3
HELP = "write rounds as a SigMF recording of all five channels"
EXAMPLES = (
    "record --out recordings --rounds 20             what is received on all five channels, as "
    "SigMF",
    "record --out recordings --name best --jammer best --rho 0.5 --format cf32_le",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for the recording"
    )
    parser.add_argument(
        "--name", default="testbed", help="name of the recording (default: testbed)"
    )
    parser.add_argument(
        "--rounds", type=int, default=20, metavar="N", help="rounds, one packet each (default: 20)"
    )
    parser.add_argument(
        "--policy",
        default="EpsilonGreedy(c=10)",
        metavar="POLICY",
        help="the policy that chooses the channels (default: EpsilonGreedy(c=10))",
    )
    jammer_options.add(parser, rho=RHO)
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="the same seed gives the same recording (default: 0)",
    )
    parser.add_argument(
        "--milliseconds",
        type=float,
        default=4.0,
        metavar="MS",
        help="how much of each round is kept, the packet in the middle (default: 4)",
    )
    parser.add_argument(
        "--format",
        choices=["ci16_le", "cf32_le"],
        default="ci16_le",
        help="type of the samples: 16-bit numbers or floats (default: ci16_le)",
    )


def run(options: argparse.Namespace) -> int:
    """Play the rounds and write them."""
    from ...naming.toml_fields import file_name
    from ...policies import policy_from_text
    from ...radio.bandit import RadioBandit
    from ...radio.testbed.config import RadioConfig
    from ...radio.testbed.jamming import strategy_of, uses_rho
    from ...radio.testbed.recording import record
    from ...radio.testbed.wideband_rounds import wideband_rounds
    from ...validation import whole

    config = RadioConfig.of({"jammer": {"rho": RHO, **jammer_options.changes(options)}})
    jammer_options.check_rho(options, config.jammer)
    bandit, strategy = RadioBandit(), strategy_of(config)
    known = {"rho": config.jammer.rho} if uses_rho(config.jammer) else {}
    with own_code.allowed():
        policy = policy_from_text(options.policy, **known)
    seed = whole("seed", options.seed)
    heard = wideband_rounds(
        bandit,
        strategy,
        policy,
        rounds=options.rounds,
        seed=seed,
        milliseconds=options.milliseconds,
        same_power=config.jammer.same_power,
    )
    words = (
        f"{options.rounds} rounds of {options.policy}, jammer "
        f"{jammer_options.words(config.jammer)}, seed {seed}; simulated"
    )
    meta, annotations = record(
        heard,
        bandit,
        options.out / file_name("name", options.name),
        form=options.format,
        description=words,
        same_power=config.jammer.same_power,
    )
    size = meta.with_suffix(".sigmf-data").stat().st_size
    print(
        f"wrote {meta} with {annotations} annotations, and {size / 1e6:.1f} MB of samples beside it"
    )
    return 0
