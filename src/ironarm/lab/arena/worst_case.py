"""The worst case: a search for the attack that hurts a policy most, within the model.

Random members of the family `Shaped` compete by successive halving: all play a few
trials, the quarter with the largest mean regret plays four times as many, and so on.
All meet the same noise and coins. The last one standing then plays fresh seeds, because
it was chosen for its luck too, beside every named attack. What is found is a lower
bound on the worst case: the search can miss a worse attack, and there are attacks
outside the family.

Every simulation is a cell that is kept: you can interrupt a search, and it resumes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...attacks import Attack
from ...bandits import Bandit
from ...errors import InvalidInput
from ...policies import Policy
from ...policy import require_policy
from ...show.text import counted, short, text_table, wrapped
from ...simulation.cells import Cell
from ...simulation.progress import Progress
from ...simulation.result import Result
from ...simulation.summary import bootstrap_interval, resampling_weights
from ...validation import instance, number, whole
from ..kit.cell_runner import CellRunner
from ..kit.report_files import write_json
from .attack_candidates import candidates, named_attacks

KEPT = 4
"""One in this many candidates reaches the next rung, with as many times the trials."""


@dataclass(frozen=True)
class Damage:
    """What an attack does on fresh seeds: mean regret and share of trials stuck."""

    attack: Attack
    mean: float
    low: float
    high: float
    stuck: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "attack": repr(self.attack),
            "mean": self.mean,
            "low": self.low,
            "high": self.high,
            "stuck": self.stuck,
        }


@dataclass(frozen=True)
class Rung:
    """One rung of the search: the candidates by the damage they did, worst first."""

    trials: int
    attacks: tuple[Attack, ...]
    means: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "trials": self.trials,
            "candidates": [
                {"attack": repr(attack), "mean": mean}
                for attack, mean in zip(self.attacks, self.means, strict=True)
            ],
        }


@dataclass(frozen=True)
class WorstCase:
    """What a search has found.

    Attributes
    ----------
    found : the attack that the search ended with, measured on fresh seeds.
    named : the named attacks on the same seeds, the worst first.
    ratio : mean regret under the attack found over that under the worst named one, with
        a 95 % interval from the trials' pairs; NaN if that one does no harm.
    rungs : what was tried.
    found_worse : whether the attack found does more harm than every named one.
    """

    policy: Policy
    bandit: Bandit
    rho: float
    horizon: int
    trials: int
    seed: int
    found: Damage
    named: tuple[Damage, ...]
    ratio: tuple[float, float, float]
    rungs: tuple[Rung, ...]

    def __str__(self) -> str:
        """Show the attack, all attacks by the damage they do, and what was tried."""
        head = ("attack", "mean regret", "95 % interval", "stuck")
        rows = sorted(
            [("found", self.found), *((type(each.attack).__name__, each) for each in self.named)],
            key=lambda row: -row[1].mean,
        )
        body = [
            (
                name,
                short(each.mean),
                f"{short(each.low)} to {short(each.high)}",
                f"{100 * each.stuck:.1f} %",
            )
            for name, each in rows
        ]
        ratio, low, high = self.ratio
        worst = type(self.named[0].attack).__name__
        tried = ", then ".join(
            f"{counted(len(rung.attacks), 'candidate')} in {counted(rung.trials, 'trial')}"
            for rung in self.rungs
        )
        compared = (
            f"{ratio:.2f} times the regret under the worst named attack, {worst} (95 % interval "
            f"{low:.2f} to {high:.2f})"
            if math.isfinite(ratio)
            else f"{worst} does no harm"
        )
        setting = f"{self.policy!r} on {self.bandit!r}, rho = {self.rho:g}, {self.horizon:,} rounds"
        nothing = f"the search found nothing worse than a named attack, {self.named[0].attack!r}"
        found = "the worst attack found" if self.found_worse else "where the search ended"
        lines = [
            *([] if self.found_worse else [wrapped(nothing, "", "  "), ""]),
            wrapped(setting, "", "  "),
            "",
            wrapped(f"{found}: {self.found.attack!r}", "", "  "),
            wrapped(compared, "  ", "  "),
            "",
            text_table(head, body),
            "",
            wrapped(
                f"tried: {tried} (seed {self.seed}); then the last one and the named attacks in "
                f"{counted(self.trials, 'fresh trial')} (seed {self.seed + 1}). There may be "
                "worse attacks."
            ),
        ]
        return "\n".join(lines)

    @property
    def found_worse(self) -> bool:
        """Whether the attack found does more harm than every named one."""
        return self.found.mean > self.named[0].mean

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        ratio = (
            dict(zip(("value", "low", "high"), self.ratio, strict=True))
            if math.isfinite(self.ratio[0])
            else None
        )
        setting = {
            "rho": self.rho,
            "horizon": self.horizon,
            "trials": self.trials,
            "seed": self.seed,
        }
        return {
            "policy": self.policy.to_dict(),
            "bandit": self.bandit.to_dict(),
            **setting,
            "found": self.found.to_dict(),
            "found_worse": self.found_worse,
            "named": [each.to_dict() for each in self.named],
            "ratio_to_worst_named": ratio,
            "candidates": len(self.rungs[0].attacks),
            "rungs": [rung.to_dict() for rung in self.rungs],
        }


def worst_case(
    policy: Policy,
    bandit: Bandit,
    out: str | Path,
    *,
    rho: float,
    horizon: int = 10_000,
    trials: int = 200,
    budget: int = 64,
    seed: int = 2020,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> WorstCase:
    """Search for the attack that causes a policy the largest mean regret.

    The answer is also written to a folder.

    Parameters
    ----------
    policy, bandit : the policy under attack, and the arms.
    out : the folder for worst_case.json and the finished cells.
    rho : probability of an attack in a round; every candidate's.
    horizon : rounds in a trial.
    trials : fresh trials for the attack found and the named ones. The last rung of the
        search has half as many, the ones before a quarter of the next.
    budget : candidates on the first rung.
    seed : of the search; the fresh trials have seed + 1.
    workers : threads; None for one on each processor.
    progress : show progress on standard error; None for yes, if it is a terminal.

    Examples
    --------
    >>> import ironarm as ia
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     worst = worst_case(
    ...         ia.MedEUCB(),
    ...         ia.GaussianBandit([0, 2, 4]),
    ...         folder,
    ...         rho=0.3,
    ...         horizon=1000,
    ...         trials=16,
    ...         budget=8,
    ...     )
    >>> worst.found.attack.within_model, worst.found.attack.rho
    (True, 0.3)
    """
    usage = " The order is worst_case(policy, bandit, out)."
    require_policy(policy, usage)
    instance("a bandit", bandit, Bandit, "ia.GaussianBandit(means=[0, 1])", usage)
    rho, horizon = number("rho", rho, above=0, below=1), whole("horizon", horizon, at_least=10)
    trials, budget, seed = (
        whole("trials", trials, at_least=4),
        whole("budget", budget, at_least=1),
        whole("seed", seed),
    )
    if not (bandit.gaps > 0).any():
        raise InvalidInput(
            f"all arms of {bandit!r} have the same mean, so there is no regret to cause. Use "
            "means that differ."
        )
    runner = CellRunner(Path(out), workers, work=by_trials)
    sizes, lengths = _ladder(budget, trials // 2)
    named = named_attacks(bandit, rho)
    rungs: list[Rung] = []
    standing: list[Attack] = list(candidates(bandit, rho, horizon, budget, seed))
    # the rungs after the first and the fresh trials of their winner, whoever that is
    later = trials + sum(size * length for size, length in zip(sizes[1:], lengths[1:], strict=True))

    def cells(attacks: Sequence[Attack], trials: int, seed: int) -> list[Cell]:
        return [
            Cell(policy, bandit, attack, horizon, trials, seed, (horizon,)) for attack in attacks
        ]

    with progress if isinstance(progress, Progress) else Progress("", 1, progress) as bar:
        # all is compiled now: later it would be announced once more
        known = [*cells(standing, lengths[0], seed), *cells(named, trials, seed + 1)]
        runner.prepare(known, bar)
        bar.extend(later)
        bar.note("searching")

        def run(attacks: Sequence[Attack], trials: int, seed: int, what: str) -> list[Result]:
            return runner.obtain(cells(attacks, trials, seed), bar, what)

        for size, length in zip(sizes, lengths, strict=True):
            results = run(
                standing[:size],
                length,
                seed,
                f"rung {len(rungs) + 1} of {len(sizes)}, {counted(size, 'candidate')}",
            )
            means = [float(result.regret[0, :, -1].mean()) for result in results]
            order = sorted(range(size), key=lambda i: -means[i])
            standing = [standing[i] for i in order]
            rungs.append(Rung(length, tuple(standing), tuple(means[i] for i in order)))
        fresh = run(
            [standing[0], *named],
            trials,
            seed + 1,
            "the attack found and the named ones, fresh trials",
        )
    worst = max(fresh[1:], key=lambda result: float(result.regret[0, :, -1].mean()))
    ratio = _ratio(fresh[0].regret[0, :, -1], worst.regret[0, :, -1])
    found, *others = (
        damage(attack, result) for attack, result in zip([standing[0], *named], fresh, strict=True)
    )
    outcome = WorstCase(
        policy,
        bandit,
        rho,
        horizon,
        trials,
        seed,
        found,
        tuple(sorted(others, key=lambda each: -each.mean)),
        ratio,
        tuple(rungs),
    )
    write_json(Path(out) / "worst_case.json", outcome.to_dict())
    return outcome


def by_trials(cell: Cell) -> float:
    """Return a cell's work where all cells have the same horizon."""
    return cell.trials


def _ladder(candidates: int, trials: int) -> tuple[list[int], list[int]]:
    """Return the rungs' numbers of candidates, falling, and of trials, rising.

    >>> _ladder(64, 100)
    ([64, 16, 4], [6, 25, 100])
    """
    sizes = [candidates]
    while sizes[-1] > KEPT:
        sizes.append(-(-sizes[-1] // KEPT))
    return sizes, [max(2, trials // KEPT**left) for left in reversed(range(len(sizes)))]


def damage(attack: Attack, result: Result) -> Damage:
    """Return what an attack did to the one policy of a result."""
    final = result.regret[0, :, -1]
    low, high = bootstrap_interval(final)
    return Damage(attack, float(final.mean()), float(low), float(high), float(result.stuck.mean()))


def _ratio(found: np.ndarray, named: np.ndarray) -> tuple[float, float, float]:
    """Return the ratio of two means over the same trials, with a 95 % interval.

    It is NaN if the second mean is 0.
    """
    if named.mean() == 0:
        return math.nan, math.nan, math.nan
    ratios: Sequence[np.ndarray] = [
        weights @ found / np.maximum(weights @ named, 1e-300)
        for weights in resampling_weights(len(found))
    ]
    low, high = np.quantile(np.concatenate(ratios), [0.025, 0.975])
    return float(found.mean() / named.mean()), float(low), float(high)
