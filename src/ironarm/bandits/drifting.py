"""Laws that drift: the arms' means change while the rounds go on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InvalidInput
from ..show.text import counted
from ..validation import choice, number, whole
from .base import Bandit, finite_means
from .bernoulli import BernoulliBandit
from .gaussian import GaussianBandit

LONGEST_STEP = 100
"""No step of a walk is longer than so many times its range. Far beyond that, numbers
have no digits left to say where within the range a mean is."""


class DriftingBandit(Bandit):
    """Arms whose means change: row k of `means` holds from round `times[k]` on.

    Regret is measured against the best arm of the moment. The best arm and the means
    that an attacker knows are also those of the moment. Between two times the laws stay
    the same; a slow drift is a table of many small steps, which `linear` and `walk`
    build. The attribute `means` is the first row, and `table` has all rows.

    Parameters
    ----------
    times : the rounds at which rows begin, in increasing order; the first is 1.
    means : a row of means for each time.
    sigma : the rewards' standard deviation, one for all arms or one for each; only for
        normal rewards.
    law : "normal", or "bernoulli" for rewards of 0 and 1, whose means are rates.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.DriftingBandit(times=[1, 501], means=[[0, 2, 5], [5, 2, 0]])
    >>> bandit.best, bandit.best_at(501)
    (2, 0)
    >>> result = ia.simulate(
    ...     ia.UCB(), bandit, horizon=1000, trials=20, seed=1, progress=False
    ... )
    >>> regret = result.regret[0].mean(axis=0)
    >>> at_change = regret[list(result.rounds).index(501)]
    >>> bool(regret[-1] > 10 * at_change)  # UCB takes long to notice
    True
    """

    def __init__(
        self,
        times: Iterable[int],
        means: Iterable[Iterable[float]],
        sigma: float | Sequence[float] = 1.0,
        law: str = "normal",
    ) -> None:
        self.times = tuple(whole("a time", time, at_least=1) for time in _listed("times", times))
        rows = [finite_means(row) for row in _listed("means", means)]
        if not rows or not self.times:
            raise InvalidInput(
                "times and means must not be empty, for example times=[1, 501], "
                "means=[[0, 1], [1, 0]]."
            )
        if len(rows) != len(self.times):
            raise InvalidInput(
                f"means must have a row for each of the {len(self.times)} times, got {len(rows)}."
            )
        if len({len(row) for row in rows}) > 1:
            raise InvalidInput("every row of means must have the same number of arms.")
        if self.times[0] != 1 or any(
            later <= earlier for earlier, later in zip(self.times, self.times[1:], strict=False)
        ):
            raise InvalidInput(
                f"times must be increasing and begin with 1, got {list(self.times)[:10]}."
            )
        self.law = choice("law", law, ["normal", "bernoulli"])
        self.sigma = sigma
        self.means = rows[0]
        self.table = np.array(rows)
        self.table.flags.writeable = False
        _ = self.segments  # refuses a sigma or a rate that is none

    @cached_property
    def segments(self) -> tuple[tuple[int, Bandit], ...]:  # type: ignore[override]
        if self.law == "bernoulli":
            parts: list[Bandit] = [BernoulliBandit(row) for row in self.table]
        else:
            parts = [GaussianBandit(row, self.sigma) for row in self.table]
        return tuple(zip(self.times, parts, strict=True))

    def best_at(self, t: int) -> int:
        """Return the best arm of round t."""
        return int(np.argmax(self.table[np.searchsorted(self.times, t, side="right") - 1]))

    @property
    def location_scale(self) -> tuple[np.ndarray, np.ndarray] | None:
        return self.segments[0][1].location_scale

    def rewards(self, arm: int, noise: np.ndarray) -> np.ndarray:
        """Return the arm's rewards for this noise while the first row holds."""
        return self.segments[0][1].rewards(arm, noise)

    @classmethod
    def permutations(
        cls,
        means: Iterable[float],
        changes: int,
        horizon: int,
        seed: int = 0,
        sigma: float | Sequence[float] = 1.0,
        law: str = "normal",
    ) -> DriftingBandit:
        """Return arms that exchange their means `changes` times, equally spaced.

        Each time another arm becomes the best. The new order is drawn from `seed`, the
        same in every trial.

        Parameters
        ----------
        means : of the arms at first.
        changes : how often they exchange them.
        horizon : rounds over which the changes are spread.
        seed : of the new orders.
        sigma, law : as for the class.

        Examples
        --------
        >>> import ironarm as ia
        >>> bandit = ia.DriftingBandit.permutations([0, 1, 5], changes=3, horizon=4000)
        >>> bandit.times
        (1, 1001, 2001, 3001)
        >>> [bandit.best_at(time) for time in bandit.times]
        [2, 0, 1, 0]
        """
        row = finite_means(means)
        changes = whole("changes", changes, at_least=0)
        horizon = whole("horizon", horizon, at_least=changes + 1)
        if changes and (len(row) < 2 or np.sort(row)[-2] == row.max()):
            raise InvalidInput(
                "arms can only exchange their means if there are at least two and one is the "
                f"best, got {row.tolist()}."
            )
        generator = np.random.default_rng(whole("seed", seed))
        rows = [row]
        while len(rows) <= changes:
            drawn = generator.permutation(row)
            if np.argmax(drawn) != np.argmax(rows[-1]):
                rows.append(drawn)
        times = [1 + horizon * k // (changes + 1) for k in range(changes + 1)]
        return cls(times, rows, sigma, law)

    @classmethod
    def linear(
        cls,
        start: Iterable[float],
        end: Iterable[float],
        horizon: int,
        steps: int = 100,
        sigma: float | Sequence[float] = 1.0,
        law: str = "normal",
    ) -> DriftingBandit:
        """Return arms whose means move from `start` to `end` in equal steps.

        Parameters
        ----------
        start, end : the means at first and at last.
        horizon : rounds over which the steps are spread.
        steps : how many steps the means take.
        sigma, law : as for the class.

        Examples
        --------
        >>> import ironarm as ia
        >>> ia.DriftingBandit.linear(
        ...     [0, 4], [4, 0], horizon=400, steps=4
        ... ).table.tolist()
        [[0.0, 4.0], [1.0, 3.0], [2.0, 2.0], [3.0, 1.0], [4.0, 0.0]]
        """
        first, last = finite_means(start), finite_means(end)
        if len(first) != len(last):
            raise InvalidInput(
                f"start and end must have the same number of arms, got {len(first)} and "
                f"{len(last)}."
            )
        steps = whole("steps", steps, at_least=1)
        horizon = whole("horizon", horizon, at_least=steps + 1)
        share = np.linspace(0, 1, steps + 1)[:, None]
        times = [1 + horizon * k // (steps + 1) for k in range(steps + 1)]
        return cls(times, first + share * (last - first), sigma, law)

    @classmethod
    def walk(
        cls,
        means: Iterable[float],
        step: float,
        horizon: int,
        seed: int = 0,
        steps: int = 100,
        low: float | None = None,
        high: float | None = None,
        sigma: float | Sequence[float] = 1.0,
        law: str = "normal",
    ) -> DriftingBandit:
        """Return arms whose means walk at random, by normal steps, within bounds.

        A mean that would pass a bound is reflected there. The walk is the same in every
        trial.

        Parameters
        ----------
        means : of the arms at first.
        step : standard deviation of a step, at most 100 times high - low.
        horizon : rounds over which the steps are spread.
        seed : of the walk.
        steps : how many steps the means take.
        low, high : the bounds; None for the lowest and the highest of `means`.
        sigma, law : as for the class.

        Examples
        --------
        >>> import ironarm as ia
        >>> bandit = ia.DriftingBandit.walk([0, 1, 2], step=0.3, horizon=10_000)
        >>> (
        ...     bandit.table.shape,
        ...     bool(bandit.table.min() >= 0),
        ...     bool(bandit.table.max() <= 2),
        ... )
        ((101, 3), True, True)
        """
        row = finite_means(means)
        floor = float(row.min()) if low is None else number("low", low)
        roof = float(row.max()) if high is None else number("high", high)
        if not floor < roof or (row < floor).any() or (row > roof).any():
            raise InvalidInput(
                f"the means must lie between low and high, and low must be below high, got "
                f"{floor:g} and {roof:g}."
            )
        width = number("high - low", roof - floor, at_most=1e300)
        step = number("step", step, above=0)
        if step > LONGEST_STEP * width:
            raise InvalidInput(
                f"step must be at most {LONGEST_STEP} times high - low, {LONGEST_STEP * width:g}, "
                f"got {step:g}. After a step as long as high - low a mean may already be anywhere."
            )
        steps = whole("steps", steps, at_least=1)
        horizon = whole("horizon", horizon, at_least=steps + 1)
        generator = np.random.default_rng(whole("seed", seed))
        moved = row + np.cumsum(generator.normal(0, step, (steps, len(row))), axis=0)
        # walking between two mirrors is walking on a circle, seen from the side
        turned = np.mod(moved - floor, 2 * width)
        rows = np.vstack([row, floor + np.minimum(turned, 2 * width - turned)])
        times = [1 + horizon * k // (steps + 1) for k in range(steps + 1)]
        return cls(times, rows, sigma, law)

    def to_dict(self) -> dict[str, Any]:
        sigma = self.sigma if isinstance(self.sigma, (int, float)) else list(self.sigma)
        return {
            "bandit": "DriftingBandit",
            "times": list(self.times),
            "means": self.table.tolist(),
            "sigma": sigma,
            "law": self.law,
        }

    def __repr__(self) -> str:
        size = f"{counted(self.arms, 'arm')}, {counted(len(self.times) - 1, 'change')}"
        return f"<DriftingBandit: {size}, {self.law}>"


def _listed(name: str, values: Iterable[Any]) -> list[Any]:
    try:
        return list(values)
    except TypeError:
        raise InvalidInput(f"{name} must be a list, got {values!r}.") from None
