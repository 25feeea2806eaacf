"""The policies' cost per round relative to med-E-UCB, how it grows with the horizon,
and how UCB's grows with the arms.

Each figure is the shortest CPU time of a warm `ia.simulate` of one policy with one
worker, all included: a policy alone pays for drawing its random numbers, about a
quarter of med-E-UCB's time. Contenders take turns. Setting where not said otherwise:
the paper's, K = 10, T = 100,000, rho = 0.125.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

import ironarm as ia
from measure import PAPER_MEANS, alternate, at_most, options, show

PAPER = ia.GaussianBandit(means=PAPER_MEANS)
ATTACK = ia.OppositeUniform(rho=0.125, scale=1800)
TARGETS = {
    ia.UCB: 0.7,
    ia.EpsilonGreedy: 0.7,
    ia.EXP3: 1.0,
    ia.TrimmedUCB: 1.6,
    ia.TrimmedEpsilonGreedy: 1.6,
    ia.CatoniUCB: 15.0,
}
NINE = [
    ia.MedEUCB(),
    ia.MedEpsilonGreedy(),
    ia.UCB(),
    ia.EpsilonGreedy(),
    ia.RUCB(),
    ia.EXP3(),
    ia.CatoniUCB(),
    ia.TrimmedUCB(alpha=0.2),
    ia.TrimmedEpsilonGreedy(alpha=0.2),
]

BEYOND = [
    ia.IMED(),
    ia.policies.CRIMED(epsilon=0.125),
    ia.policies.CRIMEDStar(epsilon=0.125),
    ia.CountIMED(epsilon=0.175),
    ia.CoherentIMED(),
    ia.MedEUCB.for_rho(0.125),
    ia.policies.TruncatedMeanUCB(u=401),  # the largest second moment of an arm
    ia.policies.MedianOfMeansUCB(),
    ia.policies.CRUCB(alpha=0.2),
    ia.policies.CRUCB(alpha=0.2, mean="shorth"),
    ia.policies.HuberUCB(epsilon=0.125),
    ia.policies.ThompsonGaussian(),
    ia.TsallisINF(reward_range=(0, 22)),
    ia.TsallisINF(reward_range=(0, 22), variance="reduced"),
    ia.policies.EXP3PlusPlus(reward_range=(0, 22)),
    ia.policies.BARBAR(reward_range=(0, 22)),
]

CLICKS = ia.BernoulliBandit([0.04, 0.06, 0.08, 0.1, 0.12])
FOR_CLICKS = [
    ia.KLUCB(),
    ia.policies.BernoulliIMED(),
    ia.policies.ThompsonBeta(),
    ia.UCB(sigma=0.5),
]


def player(
    policy: ia.extend.Policy,
    bandit: ia.extend.Bandit,
    attack: ia.extend.Attack | None,
    horizon: int,
    trials: int,
) -> Callable[[], ia.Result]:
    """Return a call that simulates; it is called once here, so that everything is
    compiled.
    """

    def play(trials: int = trials) -> ia.Result:
        return ia.simulate(
            policy,
            bandit,
            attack,
            horizon=horizon,
            trials=trials,
            seed=7,
            workers=1,
            progress=False,
        )

    play(1)
    return play


def costs(
    players: dict[str, tuple[Callable[[], ia.Result], int]], repeats: int
) -> dict[str, float]:
    """Return nanoseconds per round of players, each with the rounds it plays."""
    best = alternate({name: play for name, (play, _) in players.items()}, repeats)
    return {name: seconds / players[name][1] * 1e9 for name, seconds in best.items()}


def nine_policies(quick: bool) -> None:
    trials, horizon = 10, 100_000
    each = costs(
        {
            type(p).__name__: (player(p, PAPER, ATTACK, horizon, trials), trials * horizon)
            for p in NINE
        },
        4 if quick else 15,
    )
    base = each["MedEUCB"]
    rows = []
    for policy in NINE:
        name, target = type(policy).__name__, TARGETS.get(type(policy))
        ratio = each[name] / base
        rows.append(
            [
                name,
                f"{each[name]:.0f}",
                f"{ratio:.2f}",
                *(at_most(ratio, target) if target else ("", "")),
            ]
        )
    show(
        "The nine policies, K = 10, T = 1e5, rho = 0.125",
        ["policy", "ns/round", "relative to med-E-UCB", "target", ""],
        rows,
    )


def beside_med_e_ucb(
    title: str,
    policies: list[ia.extend.Policy],
    bandit: ia.extend.Bandit,
    attack: ia.extend.Attack | None,
    quick: bool,
    target: float | None,
) -> None:
    """Show what a round of each policy costs, relative to one of med-E-UCB there."""
    trials, horizon = 10, 100_000
    each = costs(
        {
            p.label: (player(p, bandit, attack, horizon, trials), trials * horizon)
            for p in [ia.MedEUCB(), *policies]
        },
        4 if quick else 15,
    )
    rows = []
    for name, cost in each.items():
        ratio = cost / each["MedEUCB"]
        judged = target is not None and name != "MedEUCB"
        rows.append(
            [name, f"{cost:.0f}", f"{ratio:.2f}", *(at_most(ratio, target) if judged else ("", ""))]
        )
    show(title, ["policy", "ns/round", "relative to med-E-UCB", "target", ""], rows)


def beyond(quick: bool) -> None:
    beside_med_e_ucb(
        "Policies beyond the paper's, same setting", BEYOND, PAPER, ATTACK, quick, 10.0
    )
    beside_med_e_ucb(
        "Policies for clicks, rates 0.04 to 0.12, no attack", FOR_CLICKS, CLICKS, None, quick, None
    )


def horizons(quick: bool) -> None:
    lengths = [10_000, 100_000, 1_000_000] + [10_000_000] * (not quick)
    rows = []
    for policy in (ia.MedEUCB(), ia.UCB()):
        fixed = costs({"fixed": (player(policy, PAPER, ATTACK, 1, 300), 300)}, 4 if quick else 8)[
            "fixed"
        ]
        players = {
            f"{T:.0e}": (
                player(policy, PAPER, ATTACK, T, max(1, 3_000_000 // T)),
                max(T, 3_000_000 // T * T),
            )
            for T in lengths
        }
        each = costs(players, 4 if quick else 15)
        growing = {length: cost - fixed / float(length) for length, cost in each.items()}
        for length, cost in each.items():
            ratio = growing[length] / growing["1e+04"]
            rows.append(
                [
                    type(policy).__name__,
                    length,
                    f"{cost:.0f}",
                    f"{growing[length]:.0f}",
                    f"{ratio:.2f}",
                    *at_most(ratio, 1.5),
                ]
            )
    show(
        "Cost per round against the horizon",
        [
            "policy",
            "T",
            "ns/round",
            "without the fixed cost of a trial",
            "relative to T = 1e4",
            "target",
            "",
        ],
        rows,
        "Flat, within the logarithm that an exact median costs and the memory that it needs. The "
        "fixed cost is that of a trial of one round.",
    )


def many_arms(quick: bool) -> None:
    horizon = 200_000 if quick else 1_000_000
    uniform = np.random.default_rng(1).uniform(0, 1, 10_000)
    rows = []
    for label, means in [
        ("means uniform on (0, 1)", uniform),
        ("means 2, 4, 6, ...", 2.0 * np.arange(1, 10_001)),
    ]:
        for attack_label, attack in [("none", None), ("rho = 0.125", ATTACK)]:
            players = {
                str(K): (
                    player(ia.UCB(), ia.GaussianBandit(means=means[:K]), attack, horizon, 1),
                    horizon,
                )
                for K in (10, 100, 1000, 10_000)
            }
            each = costs(players, 3 if quick else 6)
            ratio = each["10000"] / each["10"]
            rows.append(
                [
                    label,
                    attack_label,
                    *(f"{cost:.0f}" for cost in each.values()),
                    f"{ratio:.1f}",
                    *at_most(ratio, 10),
                ]
            )
    show(
        f"UCB against the number of arms, T = {horizon:.0e}",
        [
            "instance",
            "attack",
            "ns/round: K = 10",
            "100",
            "1,000",
            "10,000",
            "10,000 to 10",
            "target",
            "",
        ],
        rows,
    )


def main() -> None:
    quick = options(__doc__).quick
    for part in (nine_policies, beyond, horizons, many_arms):
        part(quick)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
