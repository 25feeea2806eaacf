"""The radio testbed: packets per CPU-second of one core, and one closed loop.

A packet has 392 symbols (320 known, 72 of header). Narrowband rows go from the
transmitter's symbols to the measured SINR, at 2 samples a symbol. The wideband row is
the receiving half: it takes one of the five channels out of a recording at 5 MS/s, and
measures the packet there in compiled code. Compilation is not counted.

The closed loop is `ia.simulate` of one policy for 2,000 rounds, each reward a packet
through the signal-level chain, with a jammer.
"""

from __future__ import annotations

import numpy as np

import ironarm as ia
from ironarm.radio.signal.compiled_chain import CompiledChain
from ironarm.radio.signal.medium import Emission, Medium, Packet, channelise
from ironarm.radio.signal.randomness import key
from ironarm.radio.signal.receiver import Receiver
from ironarm.radio.testbed import closed_loop
from ironarm.radio.testbed.config import RadioConfig
from measure import alternate, at_least, at_most, options, show

BATCH = 500
N0 = [10 ** (-sinr / 10) for sinr in (41, 37, 35, 31, 28)]


def numpy_chain(medium: Medium, receiver: Receiver, packets: int) -> None:
    for i in range(packets):
        receiver.receive(
            medium.narrowband(0, [Emission(Packet(medium.format.symbols(i)), 0)], round_number=i)
        )


def main() -> None:
    repeats = 5 if options(__doc__).quick else 20
    chain, medium, bandit = CompiledChain(), Medium(noise=N0, wander_db=0.97), ia.RadioBandit()
    symbol, analytic = ia.RadioBandit("symbol"), ia.RadioBandit("analytic")
    wide_chain = CompiledChain(Receiver(sps=3))
    recordings = [
        medium.wideband([Emission(Packet(medium.format.symbols(i)), 2)], round_number=i)
        for i in range(100)
    ]
    keys = np.array([key(1, 0, i) for i in range(BATCH)])
    ones = [keys[i : i + 1] for i in range(BATCH)]
    noise = np.random.default_rng(1).random(BATCH)
    # name: what runs, packets in it, the least that is asked for
    contenders = {
        "iq, narrowband, batch of 500": (lambda: chain.sinr(keys, N0[0], 0.0, 0.97), BATCH, 15_000),
        "iq, narrowband, jammed": (lambda: chain.sinr(keys, N0[0], 0.1, 0.97), BATCH, 15_000),
        "iq, narrowband, batch of 1": (
            lambda: [chain.sinr(one, N0[0], 0.0, 0.97) for one in ones],
            BATCH,
            None,
        ),
        "iq, one channel of 5 MS/s received": (
            lambda: [wide_chain.receive(channelise(heard, 2)) for heard in recordings],
            100,
            1_500,
        ),
        "iq, narrowband, NumPy alone": (lambda: numpy_chain(medium, Receiver(), 20), 20, None),
        "symbol tier": (lambda: symbol.rewards(0, noise), BATCH, None),
        "analytic tier": (lambda: analytic.rewards(0, noise), BATCH, None),
    }
    for run, _, _ in contenders.values():
        run()
    best = alternate({name: run for name, (run, _, _) in contenders.items()}, repeats)
    rows = []
    for name, (_, packets, wanted) in contenders.items():
        pace = packets / best[name]
        rows.append(
            [
                name,
                f"{best[name] / packets * 1e6:.1f}",
                f"{pace:,.0f}",
                *(at_least(pace, wanted) if wanted else ("", "")),
            ]
        )
    show(
        "Packets per CPU-second, one core",
        ["", "microseconds a packet", "packets a second", "target", ""],
        rows,
    )

    def loop(policy: ia.extend.Policy) -> None:
        ia.simulate(
            policy,
            bandit,
            ia.attacks.Jammer(0.3),
            horizon=2000,
            trials=1,
            seed=1,
            workers=1,
            progress=False,
        )

    policies = {"MedEUCB": ia.MedEUCB(block=200), "UCB": ia.UCB()}
    loops = {name: lambda policy=policy: loop(policy) for name, policy in policies.items()}
    loops["the testbed's nodes, MedEUCB"] = lambda: closed_loop.run(
        RadioConfig.of({"jammer": {"rho": 0.3}})
    )
    for run in loops.values():
        run()
    seconds = alternate(loops, max(2, repeats // 4))
    show(
        "One closed loop at signal level, 2,000 rounds, jammed with probability 0.3",
        ["", "CPU seconds", "target", ""],
        [[name, f"{value:.2f}", *at_most(value, 1)] for name, value in seconds.items()],
    )


if __name__ == "__main__":
    main()
