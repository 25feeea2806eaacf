"""med-E-UCB in the simulator against a hand-written C loop (yardstick.c) with the same
data structure and random streams.

Both play the same trials: first the pulls and the regret at every checkpoint are
compared bit for bit, then the two take turns and the shortest CPU time of each is kept.
ironarm's time is that of a warm `ia.simulate(..., workers=1)` of several trials,
everything included (threads, seeds, checkpoints, result); C's is that of its loop
alone, its seeds ready. C finds the highest index with the lazy leader or, above 64
arms, also with a kinetic tree; ironarm chooses by itself, and is measured against the
better of the two.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import ironarm as ia
from ironarm.engine.streams import streams
from measure import alternate, at_most, options, show

HERE = Path(__file__).resolve().parent
SEED = 7


def build() -> ctypes.CDLL:
    """Compile the C loop with the system's gcc."""
    library = HERE / "build" / "yardstick.so"
    library.parent.mkdir(exist_ok=True)
    subprocess.run(
        [
            "gcc",
            "-O3",
            "-march=native",
            "-ffp-contract=off",
            "-shared",
            "-fPIC",
            str(HERE / "yardstick.c"),
            "-lm",
            "-o",
            str(library),
        ],
        check=True,
    )
    return ctypes.CDLL(str(library))


class Game(ctypes.Structure):
    """The C loop's own description of what to play."""

    _fields_ = [
        *(
            (name, ctypes.c_int64)
            for name in ("arms", "block", "horizon", "lazy", "trials", "marks")
        ),
        *((name, ctypes.c_double) for name in ("sigma", "rho", "attack_scale", "b", "omega")),
        *(
            (name, ctypes.c_void_p)
            for name in ("means", "states", "checkpoints", "pulls", "regret")
        ),
    ]


def c_player(
    library: ctypes.CDLL,
    bandit: ia.GaussianBandit,
    attack: ia.OppositeUniform,
    horizon: int,
    trials: int,
    rounds: np.ndarray,
    lazy: bool,
) -> Callable[[], dict[str, np.ndarray]]:
    """Return a call that plays all trials in C and returns pulls and regret as
    `simulate` does.
    """
    policy = ia.MedEUCB()
    arrays = {
        "means": bandit.means,
        "states": np.concatenate(
            [word for trial in range(trials) for word in streams(SEED, trial)[:2]]
        ),
        "checkpoints": np.append(rounds, 0).astype(np.int64),
        "pulls": np.zeros((trials, bandit.arms), np.int64),
        "regret": np.zeros((trials, len(rounds))),
    }
    numbers = (bandit.sigma[0], attack.rho, attack.scale, policy.b, policy.omega)
    game = Game(
        bandit.arms,
        policy.block_for(bandit.arms),
        horizon,
        lazy,
        trials,
        len(rounds),
        *numbers,
        *(array.ctypes.data for array in arrays.values()),
    )

    def play() -> dict[str, np.ndarray]:
        library.play_trials(ctypes.byref(game))
        return arrays

    return play


def main() -> None:
    quick = options(__doc__).quick
    if not shutil.which("gcc"):
        print("The C yardstick is skipped: there is no gcc on this machine.")
        return
    library = build()
    rows = []
    settings = [
        (100_000, 10, 0.125, 20),
        (100_000, 10, 0.3, 20),
        (1_000_000, 100, 0.125, 4),
        (1_000_000, 100, 0.3, 4),
        (1_000_000, 1000, 0.125, 4),
        (1_000_000, 1000, 0.3, 4),
    ]
    for horizon, arms, rho, trials in settings:
        bandit = ia.GaussianBandit(means=range(2, 2 * arms + 1, 2))
        attack = ia.OppositeUniform(rho=rho, scale=1800)

        def simulate(
            bandit: ia.extend.Bandit = bandit,
            attack: ia.extend.Attack = attack,
            horizon: int = horizon,
            trials: int = trials,
        ) -> ia.Result:
            return ia.simulate(
                ia.MedEUCB(),
                bandit,
                attack,
                horizon=horizon,
                trials=trials,
                seed=SEED,
                workers=1,
                progress=False,
            )

        result = simulate()
        contenders: dict[str, Callable[[], object]] = {"ironarm": simulate}
        for name, lazy in [("lazy leader", True)] + [("kinetic tree", False)] * (arms > 64):
            play = c_player(library, bandit, attack, horizon, trials, result.rounds, lazy)
            played = play()
            if not (
                np.array_equal(played["pulls"], result.pulls[0])
                and np.array_equal(played["regret"], result.regret[0])
            ):
                sys.exit(f"The trajectories differ: T={horizon}, K={arms}, rho={rho}, {name}.")
            contenders[name] = play
        best = alternate(contenders, (8 if quick else 50) if arms == 10 else (3 if quick else 12))
        each = {name: seconds / (horizon * trials) * 1e9 for name, seconds in best.items()}
        in_c = {name: time for name, time in each.items() if name != "ironarm"}
        for name, time in in_c.items():
            ratio = each["ironarm"] / time
            better = time == min(in_c.values())
            rows.append(
                [
                    f"{horizon:.0e}",
                    arms,
                    rho,
                    name,
                    f"{time:.1f}",
                    f"{each['ironarm']:.1f}",
                    f"{ratio:.2f}",
                    *(at_most(ratio, 1.25) if better else ("", "for information")),
                ]
            )
    show(
        "med-E-UCB against hand-written C",
        ["T", "K", "rho", "argmax in C", "C, ns/round", "ironarm, ns/round", "ratio", "target", ""],
        rows,
        "Pulls and regret at every checkpoint are identical, bit for bit.",
    )


if __name__ == "__main__":
    main()
