"""Reward laws.

A new bandit is one file, its import here and its name in `__all__`. A line in `BANDITS`
lets study files name it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..errors import InvalidInput
from ..naming.by_name import make_by_name
from ..naming.kind import Kind
from ..naming.notation import numbers_from_text, parse
from .base import Bandit
from .bernoulli import BernoulliBandit
from .drifting import DriftingBandit
from .gaussian import GaussianBandit
from .law_notation import law_from_text
from .replay import ReplayBandit
from .scipy_laws import ScipyBandit

__all__ = [
    "BernoulliBandit",
    "DriftingBandit",
    "GaussianBandit",
    "ReplayBandit",
    "ScipyBandit",
]
BANDITS: dict[str, type[Bandit]] = {
    "GaussianBandit": GaussianBandit,
    "BernoulliBandit": BernoulliBandit,
    "ScipyBandit": ScipyBandit,
    "DriftingBandit": DriftingBandit,
    "ReplayBandit": ReplayBandit,
}
WAYS: dict[str, Callable[..., Bandit]] = {
    f"DriftingBandit.{way}": getattr(DriftingBandit, way)
    for way in ("permutations", "linear", "walk")
}
"""Other ways to make a bandit."""
BANDIT: Kind[Bandit] = Kind("bandit", Bandit, {**BANDITS, **WAYS})
NEEDED = {
    "GaussianBandit": "means = [0, 1]",
    "BernoulliBandit": "means = [0.2, 0.7]",
    "ScipyBandit": 'laws = ["norm(0, 1)", "t(3, loc=1)"]',
    "DriftingBandit": "times = [1, 501], means = [[0, 1], [1, 0]]",
    "ReplayBandit": 'table = "rewards.csv"',
}


def make(data: Mapping[str, Any]) -> Bandit:
    """Return the bandit that a table describes: its name and its parameters.

    Numbers may be a range as text; laws are text.

    >>> make({"name": "GaussianBandit", "means": "2:6:2", "sigma": 1})
    GaussianBandit(means=[2.0, 4.0, 6.0], sigma=1)
    >>> make({"name": "ScipyBandit", "laws": ["norm(0, 1)", "t(3, loc=1)"]})
    ScipyBandit([norm(0, 1), t(3, loc=1)])
    """
    name = data.get("name")
    parameters = {key: _value(key, value) for key, value in data.items() if key != "name"}
    if name in NEEDED and not parameters:
        raise InvalidInput(f"{name} needs its arms, for example {NEEDED[name]}.")
    kind = BANDIT if name in BANDIT.table else with_radio()
    return make_by_name(kind, str(name), parameters)


def _value(key: str, value: Any) -> Any:
    if key == "laws":
        if not isinstance(value, list) or not all(isinstance(law, str) for law in value):
            raise InvalidInput(
                f"laws must be a list of texts, for example {NEEDED['ScipyBandit']}, got {value!r}."
            )
        return [law_from_text(law) for law in value]
    words = ("tier", "law", "table")
    return numbers_from_text(value) if isinstance(value, str) and key not in words else value


def with_radio() -> Kind[Bandit]:
    """Return the kind with RadioBandit, which the public surface loads on first use."""
    from .. import RadioBandit

    return replace(BANDIT, table={**BANDIT.table, "RadioBandit": RadioBandit})


def bandit_from_text(text: str) -> Bandit:
    """Return the bandit that the text describes.

    >>> bandit_from_text("GaussianBandit([2, 4], sigma=0.5)")
    GaussianBandit(means=[2.0, 4.0], sigma=0.5)
    """
    name, parameters = parse(text, BANDIT)
    return make({"name": name, **parameters})
