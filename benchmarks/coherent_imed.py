"""The default policy, CoherentIMED: every figure of docs/coherent-imed.md.

    python benchmarks/coherent_imed.py paper
    python benchmarks/coherent_imed.py stuck --trials 100000 --attack Jun
    python benchmarks/coherent_imed.py weak --quick
    python benchmarks/coherent_imed.py paper --set BONUS=0 --trials 200 --seed 9101

Each line has the mean regret with its 95 % interval, the largest regret, and how many
trials ended stuck on a wrong arm, with Wilson's 95 % interval of that share.

**paper.** The paper's arms and attack, 100,000 rounds: 2,000 trials. **attacks.** The
other attacks on those arms: 200 trials. **arms.** A hundred arms: 200 trials.
**stuck.** Which attacks leave it on a wrong arm within 10,000 rounds: 20,000 trials,
about a minute of two processors for each line. **weak.** Small gaps, unequal spreads,
rounded rewards, arms that always pay the same, and the attack that was made for it.
**time.** What a round costs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import ndtri

import ironarm as ia
from ironarm.attacks import attack_from_text
from ironarm.extend import Bandit
from ironarm.lab.kit.statistics import share
from ironarm.policies import policy_from_text
from measure import PAPER_MEANS, alternate

POLICY = ia.CoherentIMED()
PAPER = ia.GaussianBandit(means=PAPER_MEANS)
HUNDRED = ia.GaussianBandit(means=[20.0, *np.linspace(18.0, 0.0, 99)])
SMALL_GAPS = ia.GaussianBandit(means=[1, 0.5, 0.5, 0.5, 0.5])
RHOS = (0.125, 0.3)
PAPERS_ATTACK = "OppositeUniform(scale=1800)"
SCATTER = (PAPERS_ATTACK, "FrontLoaded(pulls=20)", "Jun", "MedianChaser")
GATHER = (
    "Infinite",
    "Constant(value=100)",
    "Mimic",
    "LeastFavourable",
    "ACE",
    "Cauchy(up=22, down=0)",
    "Overtake",
    "Understate",
)


class Rounded(Bandit):
    """The paper's arms, with rewards that are multiples of `step`."""

    def __init__(self, step: float) -> None:
        self.means, self.step = PAPER.means, step

    def rewards(self, arm: int, noise: np.ndarray) -> np.ndarray:
        """Return clean rewards of an arm."""
        return np.round((self.means[arm] + ndtri(noise)) / self.step) * self.step

    def to_dict(self) -> dict[str, object]:
        """Return what it is."""
        return {"bandit": "Rounded", "step": self.step}


class OneValue(Bandit):
    """The paper's arms, of which one always pays the same."""

    def __init__(self, arm: int, value: float) -> None:
        self.means, self.arm, self.value = PAPER.means, arm, value

    def rewards(self, arm: int, noise: np.ndarray) -> np.ndarray:
        """Return clean rewards of an arm."""
        if arm == self.arm:
            return np.full_like(noise, self.value)
        return self.means[arm] + ndtri(noise)

    def to_dict(self) -> dict[str, object]:
        """Return what it is."""
        return {"bandit": "OneValue", "arm": self.arm, "value": self.value}


@dataclass(frozen=True)
class Line:
    """One line of a table: who plays what, where, how long, how often."""

    attack: str
    rho: float | None
    horizon: int
    trials: int
    seed: int
    policy: ia.extend.Policy = POLICY
    bandit: Bandit = PAPER
    place: str = ""


def lines(section: str) -> Iterator[Line]:
    """Return the lines of a section."""
    if section == "paper":
        for rho in RHOS:
            yield Line(PAPERS_ATTACK, rho, 100_000, 2000, 777001)
            for other in (ia.CountIMED.for_rho(rho), ia.MedEUCB.for_rho(rho)):
                yield Line(PAPERS_ATTACK, rho, 100_000, 2000, 2020, other)
    elif section == "attacks":
        yield Line("NoAttack", None, 100_000, 200, 777003)
        for attack in (*SCATTER[1:], *GATHER):
            for rho in RHOS:
                yield Line(attack, rho, 100_000, 200, 777003)
    elif section == "arms":
        yield Line(PAPERS_ATTACK, 0.3, 20_000, 200, 777003, bandit=HUNDRED, place="100 arms")
    elif section == "stuck":
        for attack in (*SCATTER, *GATHER):
            for rho in RHOS:
                yield Line(attack, rho, 10_000, 20_000, 515152)
    else:
        for attack in (PAPERS_ATTACK, "LeastFavourable", "Overtake"):
            yield Line(
                attack, 0.125, 20_000, 200, 777003, bandit=SMALL_GAPS, place="gaps of half a sigma"
            )
        for rho in RHOS:
            yield Line("Understate", rho, 100_000, 500, 101)
        same = {"worst arm is down": OneValue(0, -1e6), "best arm pays 20": OneValue(9, 20.0)}
        for place, bandit in same.items():
            for attack, rho in (("NoAttack", None), (PAPERS_ATTACK, 0.125), (PAPERS_ATTACK, 0.3)):
                yield Line(attack, rho, 10_000, 1000, 888002, bandit=bandit, place=place)
        spreads = {"best arm has sigma 2": [1] * 9 + [2], "others have sigma 2": [2] * 9 + [1]}
        for place, sigma in spreads.items():
            unequal = ia.GaussianBandit(PAPER_MEANS, sigma=sigma)
            for rho in RHOS:
                yield Line(PAPERS_ATTACK, rho, 10_000, 1000, 888002, bandit=unequal, place=place)
        for step in (1.0, 0.1, 0.01):
            for attack in (PAPERS_ATTACK, "Constant(value=100)"):
                for rho in RHOS:
                    yield Line(
                        attack,
                        rho,
                        10_000,
                        1000,
                        888002,
                        bandit=Rounded(step),
                        place=f"rounded to {step:g} sigma",
                    )


def show(line: Line, trials: int) -> None:
    """Play the trials of a line, and print it."""
    result = ia.simulate(
        line.policy,
        line.bandit,
        attack_from_text(line.attack, line.rho),
        horizon=line.horizon,
        trials=trials,
        seed=line.seed,
        progress=True,
    )
    regret, stuck = result.regret[0, :, -1], result.stuck[0]
    summary = result.summary().rows[0]
    rate = share(stuck)
    print(
        f"{line.policy.label:22} {line.attack:28} {line.rho or 0:5g}  {line.place:21} "
        f"{summary.mean:9,.0f} ({summary.low:,.0f} to {summary.high:,.0f}), "
        f"largest {regret.max():,.0f}, stuck {stuck.sum():,} of {trials:,} "
        f"({1000 * rate.low:.2f} to {1000 * rate.high:.2f} in 1,000), seed {line.seed}",
        flush=True,
    )


def times() -> None:
    """Print what a round costs, in processor time, beside one of `MedEUCB`."""
    for rho in RHOS:
        attack = attack_from_text(PAPERS_ATTACK, rho)
        for horizon, trials in ((100_000, 8), (10_000, 80)):
            alone = {"horizon": horizon, "trials": trials, "seed": 5, "workers": 1}
            players = {
                name: partial(ia.simulate, policy, PAPER, attack, progress=False, **alone)
                for name, policy in (("mine", POLICY), ("MedEUCB", ia.MedEUCB()))
            }
            for play in players.values():
                play()  # compiles
            spent = alternate(players, 7)
            print(
                f"rho = {rho:g}, T = {horizon:,}: {1e9 * spent['mine'] / trials / horizon:.0f} ns "
                f"a round, {spent['mine'] / spent['MedEUCB']:.2f} times MedEUCB",
                flush=True,
            )


def change(name: str, value: str) -> None:
    """Give a constant of the rule another value; what reaches it is compiled anew."""
    # here, so that --policy works on a source that is older than these modules
    from ironarm.rules import coherent_choice, coherent_evidence

    holders = [module for module in (coherent_choice, coherent_evidence) if hasattr(module, name)]
    if not holders:
        raise SystemExit(f"The rule has no constant {name}. See ironarm/rules/coherent_choice.py.")
    for module in holders:
        setattr(module, name, type(getattr(module, name))(value))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("section", choices=["paper", "attacks", "arms", "stuck", "weak", "time"])
    parser.add_argument("--attack", help="only attacks whose name begins so")
    parser.add_argument("--rho", type=float, help="only this rho")
    parser.add_argument("--policy", help="this one in the place of CoherentIMED")
    parser.add_argument("--trials", type=int, help="so many, not the page's number")
    parser.add_argument("--seed", type=int, help="this one, not the page's")
    parser.add_argument(
        "--set", metavar="NAME=VALUE", help="another value of a constant of the rule, to try it"
    )
    parser.add_argument("--quick", action="store_true", help="a twentieth of the trials")
    options = parser.parse_args()
    if options.set:
        change(*options.set.split("=", 1))
    if options.section == "time":
        times()
        raise SystemExit
    for line in lines(options.section):
        if not line.attack.startswith(options.attack or "") or options.rho not in (None, line.rho):
            continue
        if line.policy != POLICY and (options.policy or options.set):
            continue
        if options.policy:
            line = replace(line, policy=policy_from_text(options.policy))
        if options.seed is not None:
            line = replace(line, seed=options.seed)
        show(line, options.trials or (line.trials // 20 if options.quick else line.trials))
