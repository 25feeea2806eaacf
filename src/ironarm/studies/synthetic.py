"""The paper's synthetic experiment: 10 arms N(2i, 1), the attack of section 5, T = 100,000, nine policies, rho = 0.125 and 0.3."""

from __future__ import annotations

import sys
from pathlib import Path

from ..attacks import OppositeUniform
from ..bandits import GaussianBandit
from ..errors import InvalidInput
from ..policies import EXP3, RUCB, UCB, CatoniUCB, EpsilonGreedy, MedEpsilonGreedy, MedEUCB, Policy, TrimmedEpsilonGreedy, TrimmedUCB
from ..simulation import Result, simulate

HORIZON = 100_000
SHARES = (0.125, 0.3)
SCALE = 1800


def policies(rho: float) -> list[Policy]:
    """Return the paper's nine policies; trimming uses alpha = rho, and EXP3 the range of the clean rewards."""
    return [
        MedEUCB(),
        MedEpsilonGreedy(),
        RUCB(),
        EXP3(reward_range=(0, 22)),
        CatoniUCB(),
        UCB(),
        EpsilonGreedy(),
        TrimmedUCB(alpha=rho),
        TrimmedEpsilonGreedy(alpha=rho),
    ]


def run(rho: float, trials: int, seed: int, workers: int | None = None) -> Result:
    """Run the experiment for one rho."""
    bandit = GaussianBandit(means=range(2, 21, 2), sigma=1.0)
    return simulate(
        policies(rho),
        bandit,
        OppositeUniform(rho=rho, scale=SCALE),
        horizon=HORIZON,
        trials=trials,
        seed=seed,
        workers=workers,
        progress=None if sys.stderr.isatty() else True,
    )


def reproduce(out: Path, trials: int, seed: int, workers: int | None = None) -> None:
    """Run the experiment for both rho, print the tables, and write results and figures to a folder."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"the folder {out} cannot be made: {error.strerror}.") from None
    for rho in SHARES:
        result = run(rho, trials, seed, workers)
        name = f"synthetic-rho-{rho:g}"
        result.save(out / f"{name}.npz")
        result.plot(out / f"{name}.png")
        result.plot(out / f"{name}.svg")
        print(f"\nrho = {rho:g}: {trials} trials of {HORIZON:,} rounds, seed {seed}, {result.seconds:.1f} s\n")
        print(result.summary())
    print(f"\nwrote {out}/synthetic-rho-*.png, .svg and .npz")
