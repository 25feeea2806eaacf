"""Lower bounds on regret in a setting: under the worst attack, and under a given one.

Both are for policies that do well on all shifts of the setting's laws under every
attack with this rho. They are asymptotic, log T times a constant: at a finite horizon a
policy can lie below them, and one that gives up elsewhere can do so at any horizon.

A third one is for policies that do not know rho: they must do well under every share.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ...attacks import (
    Attack,
    Cauchy,
    Constant,
    FakeClicks,
    FrontLoaded,
    Infinite,
    LeastFavourable,
    MedianChaser,
    Mimic,
    NoAttack,
    OppositeUniform,
)
from ...bandits import Bandit, BernoulliBandit, GaussianBandit, ScipyBandit
from ...errors import InvalidInput
from ...theory.bounded import rate_floor
from ...theory.limits import unknown_share_floor
from ...theory.location_floor import observed_shifted_kl, shifted_kl
from ...theory.sharp import kl

FAR = 50.0
"""Attacked rewards this many standard deviations away say nothing about the mean."""


class NotFixed(Exception):
    """The attacked rewards of an arm have no law that stays the same."""


def worst_floor(bandit: Bandit, rho: float, horizon: int) -> float:
    """Return the lower bound under the worst attack.

    It is infinite if some arm cannot be distinguished from the best, and NaN if the
    laws have no known densities.

    >>> import ironarm as ia
    >>> round(worst_floor(ia.GaussianBandit(range(2, 21, 2)), 0.125, 100_000))
    742
    """
    if isinstance(bandit, BernoulliBandit):
        return rate_floor(bandit, rho, horizon)
    return _floor(bandit, horizon, lambda law, gap, best: _kept(shifted_kl, _text(law), gap, rho))


def attack_floor(bandit: Bandit, attack: Attack, rho: float, horizon: int) -> float:
    """Return the lower bound under this attack; NaN if its rewards have no fixed law.

    >>> import ironarm as ia
    >>> round(
    ...     attack_floor(
    ...         ia.GaussianBandit(range(2, 21, 2)),
    ...         ia.Infinite(rho=0.125),
    ...         0.125,
    ...         100_000,
    ...     )
    ... )
    514
    """
    if isinstance(attack, LeastFavourable):
        return worst_floor(bandit, rho, horizon)
    try:
        if isinstance(bandit, BernoulliBandit):
            return _rates_under(bandit, attack, rho, horizon)
        return _floor(
            bandit,
            horizon,
            lambda law, gap, best: _kept(
                observed_shifted_kl, _text(law), gap, rho, _text(attacked_law(attack, law, best))
            ),
        )
    except NotFixed:
        return math.nan


def _rates_under(bandit: BernoulliBandit, attack: Attack, rho: float, horizon: int) -> float:
    """Return the lower bound for 0/1 rewards under a given attack.

    As in `theory.rate_floor`: an arm that shows the rate r must be told apart from the
    best one, whose rewards are attacked with 0.
    """
    lowest, total = (1 - rho) * bandit.means[bandit.best], 0.0
    for arm, (rate, gap) in enumerate(zip(bandit.means, bandit.gaps, strict=True)):
        if gap > 0:
            shown = (1 - rho) * rate + rho * _attacked_rate(bandit, attack, arm)
            if shown >= lowest:
                return math.inf
            total += float(gap) / kl(float(shown), float(lowest))
    return math.log(horizon) * total


def _attacked_rate(bandit: BernoulliBandit, attack: Attack, arm: int) -> float:
    """Return the rate of attacked rewards of an arm that is not the best, clipped."""
    own = float(bandit.means[arm])
    if isinstance(attack, NoAttack):
        return own
    if isinstance(attack, Mimic):
        return float(bandit.means[bandit.best])
    if isinstance(attack, Infinite):
        return own if attack.sides == "down" else 1.0
    if isinstance(attack, FakeClicks) and attack.within_model:
        if attack.shift is not None:
            return min(own + attack.shift, 1.0)
        rate = attack.runner_up if arm == bandit.runner_up else attack.others
        return own if rate is None else rate
    raise NotFixed


def unknown_floor(bandit: Bandit, rho: float, horizon: int) -> float:
    """Return the lower bound for a policy that does not know rho, outliers far away.

    It is infinite if no policy can stand the largest share, and NaN unless the arms are
    normal, share one sigma and have one best.

    >>> import ironarm as ia
    >>> round(unknown_floor(ia.GaussianBandit(range(2, 21, 2)), 0.125, 100_000))
    1172
    """
    try:
        return unknown_share_floor(bandit, rho, horizon)
    except InvalidInput:
        return math.nan


def attacked_law(attack: Attack, law: Any, best: Any) -> Any:
    """Return the law of an attacked reward of an arm that is not the best.

    None means that it lies far away from all clean rewards.
    """
    if isinstance(attack, (NoAttack, MedianChaser, FrontLoaded)):
        return law  # rewards of such arms are left alone, by FrontLoaded after the first pulls
    if isinstance(attack, Infinite):
        return None
    if isinstance(attack, OppositeUniform) and attack.scale > 2 * FAR * law.std():
        return None
    if isinstance(attack, Constant) and abs(attack.value - law.mean()) > FAR * law.std():
        return None
    if isinstance(attack, Mimic):
        return best
    if isinstance(attack, Cauchy):
        from scipy.stats import cauchy

        return cauchy(attack.up, attack.scale)
    raise NotFixed


def laws(bandit: Bandit) -> list[Any]:
    """Return the arms' laws, with densities; none if they are not known."""
    from scipy.stats import norm

    if (
        isinstance(bandit, GaussianBandit)
        and bandit.location_scale is not None
        and min(bandit.location_scale[1]) > 0
    ):
        return [norm(mean, sigma) for mean, sigma in zip(*bandit.location_scale, strict=True)]
    if isinstance(bandit, ScipyBandit) and all(
        callable(getattr(law, "pdf", None)) for law in bandit.laws
    ):
        return list(bandit.laws)
    return []


def _floor(bandit: Bandit, horizon: int, tells: Callable[[Any, float, Any], float]) -> float:
    total = 0.0
    known = laws(bandit)
    for arm, gap in enumerate(bandit.gaps.tolist()):
        if gap > 0:
            if not known:
                return math.nan
            tell = tells(known[arm], gap, known[bandit.best])
            total += gap / tell if tell > 1e-9 else math.inf
    return math.log(horizon) * total


def _text(law: Any) -> tuple[Any, ...] | None:
    """Return a key for a law; equal laws share one integral."""
    return (
        None
        if law is None
        else (
            law.dist.name,
            tuple(map(float, law.args)),
            tuple((key, float(value)) for key, value in law.kwds.items()),
        )
    )


@lru_cache(maxsize=4096)
def _kept(
    function: Callable[..., float],
    law: tuple[Any, ...],
    gap: float,
    rho: float,
    *attacked: tuple[Any, ...] | None,
) -> float:
    from scipy import stats

    def made(text: tuple[Any, ...] | None) -> Any:
        return None if text is None else getattr(stats, text[0])(*text[1], **dict(text[2]))

    return function(made(law), gap, rho, *map(made, attacked))
