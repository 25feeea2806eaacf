"""The attacks that a search for the worst case tries.

They are random members of the family `Shaped`; the named attacks are for comparison.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from ...attacks import (
    ATTACKS,
    Attack,
    NoAttack,
    Shaped,
    make,
)
from ...bandits import Bandit
from ...engine.adversary import Adversary
from ...errors import InvalidInput

UNBOUNDED = 1e300
"""A shift that stands for one without bounds."""

# likely attacks get more weight; those that seem to help the policy are tried rarely
TO_BEST = {"down": 0.35, "place": 0.15, "chase": 0.2, "mimic": 0.2, "up": 0.05, "leave": 0.05}
# down, to send the policy to a still worse arm
TO_ANOTHER = {"up": 0.25, "place": 0.15, "chase": 0.15, "mimic": 0.15, "leave": 0.15, "down": 0.15}
EVERY = 8
"""One in so many candidates is like Understate, where few outliers are shown."""


def candidates(bandit: Bandit, rho: float, horizon: int, count: int, seed: int) -> list[Shaped]:
    """Return `count` different members of the family.

    The first seven are known to hurt, so a search starts from them.

    >>> import ironarm as ia
    >>> found = candidates(ia.GaussianBandit([0, 1, 3]), 0.2, 1000, 8, seed=1)
    >>> for attack in found[5:]:
    ...     print(
    ...         attack.best,
    ...         attack.runner_up,
    ...         attack.worst,
    ...         attack.others,
    ...         attack.size,
    ...     )
    down down up down 1e+300
    sink up up up 1800.0
    sink up up mimic 1e+300
    """
    gap = float(np.min(bandit.gaps[bandit.gaps > 0]))
    found: dict[Shaped, None] = dict.fromkeys(
        [
            _all(rho, "up", best="down", size=1800.0, spread=1.0),
            _all(rho, "up", best="down", size=UNBOUNDED),
            _all(rho, "mimic"),
            _all(rho, "leave", best="chase", size=0.001),
            _all(rho, "place", size=100.0),
            _all(rho, "down", worst="up", size=UNBOUNDED),
            _all(rho, "up", best="sink", size=1800.0, spread=1.0, shown=0.4),
        ][:count]
    )
    # two generators: what one draws does not depend on how often the other is asked
    generator, another = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    while len(found) < count:
        drawn = (
            _like_understate(another, rho)
            if len(found) % EVERY == EVERY - 1
            else _drawn(generator, bandit, rho, horizon, gap)
        )
        found[drawn] = None
    return list(found)


def _like_understate(generator: np.random.Generator, rho: float) -> Shaped:
    """Return a member that hides how often it strikes, drawn at random."""

    def one_of(actions: list[str]) -> str:
        return str(generator.choice(actions))

    outliers = ["up", "up", "mimic", "leave"]
    return Shaped(
        rho,
        best=one_of(["sink", "sink", "mimic"]),
        runner_up=one_of(outliers),
        worst=one_of(outliers),
        others=one_of(outliers),
        size=float(generator.choice([1800.0, UNBOUNDED])),
        spread=1.0,
        shown=round(generator.uniform(0.05, 0.95), 2),
    )


def _drawn(
    generator: np.random.Generator, bandit: Bandit, rho: float, horizon: int, gap: float
) -> Shaped:
    """Return one member, drawn at random."""

    def one_of(weights: dict[str, float]) -> str:
        return str(generator.choice(list(weights), p=list(weights.values())))

    def rounds(most: float) -> int:
        """Return a log-uniform whole number between 1 and `most`."""
        return int(max(1.0, most) ** generator.random())

    scales = (
        [gap] if bandit.location_scale is None else [gap, float(bandit.location_scale[1].max())]
    )
    size = max(float(generator.choice(scales)), 1e-3 * gap) * 10 ** generator.uniform(-1.5, 2)
    return Shaped(
        rho,
        best=one_of(TO_BEST),
        runner_up=one_of(TO_ANOTHER),
        worst=one_of(TO_ANOTHER),
        others=one_of(TO_ANOTHER),
        size=UNBOUNDED if generator.random() < 0.25 else float(f"{size:.3g}"),
        spread=float(generator.choice([0.0, 0.5, 1.0])),
        first=rounds(horizon / 4) if generator.random() < 0.3 else 0,
        after=rounds(horizon / 2) if generator.random() < 0.2 else 0,
        leader=one_of({"any": 0.6, "right": 0.25, "wrong": 0.15}),
    )


def _all(rho: float, action: str, **different: Any) -> Shaped:
    """Return the attack that does the same to all arms, but for what is given."""
    return Shaped(
        **{
            "rho": rho,
            "best": action,
            "runner_up": action,
            "worst": action,
            "others": action,
            **different,
        }
    )


def named_attacks(bandit: Bandit, rho: float) -> list[Attack]:
    """Return every named attack within the model that works on this bandit.

    It has its default parameters and the bandit's sigma.

    >>> import ironarm as ia
    >>> attacks = named_attacks(ia.BernoulliBandit([0.2, 0.7]), 0.1)
    >>> {"OppositeUniform", "Mimic"} <= {
    ...     type(attack).__name__ for attack in attacks
    ... }
    True
    """
    sigma = 0.0 if bandit.location_scale is None else float(bandit.location_scale[1].max())
    attacks = []
    for name, kind in ATTACKS.items():
        if kind.within_model and kind not in (NoAttack, Shaped):
            known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
            given = {"sigma": sigma} if sigma > 0 and "sigma" in known else {}
            attack = make(name, {"rho": rho, **given})
            try:
                _ = Adversary(attack, bandit).start
            except InvalidInput:  # one that needs densities, where there are none
                continue
            attacks.append(attack)
    return attacks
