"""Reward laws. A new bandit is one file, its test, and one line here; one in `BANDITS` lets study files name it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from ..errors import InvalidInput
from ..validation import did_you_mean
from .base import Bandit
from .bernoulli import BernoulliBandit
from .gaussian import GaussianBandit
from .replay import ReplayBandit
from .scipy_laws import ScipyBandit

BANDITS: dict[str, type[Bandit]] = {"GaussianBandit": GaussianBandit, "BernoulliBandit": BernoulliBandit}


def make(data: Mapping[str, Any]) -> Bandit:
    """Return the bandit that a table describes: its name and its parameters; means may be a range as text.

    >>> make({"name": "GaussianBandit", "means": "2:6:2", "sigma": 1})
    GaussianBandit(means=[2.0, 4.0, 6.0], sigma=1)
    """
    from ..notation import numbers_from_text

    parameters = {key: numbers_from_text(value) if isinstance(value, str) else value for key, value in data.items() if key != "name"}
    name = data.get("name")
    if name not in BANDITS:
        raise InvalidInput(f"unknown bandit {name!r}; expected one of {', '.join(BANDITS)}.{did_you_mean(name, BANDITS)}")
    known = inspect.signature(BANDITS[name]).parameters
    for key in parameters:
        if key not in known:
            raise InvalidInput(f"{name} has no parameter {key!r}; it has {', '.join(known)}.{did_you_mean(key, known)}")
    if "means" not in parameters:
        raise InvalidInput(f"{name} needs means, for example means = [0, 1].")
    return BANDITS[name](**parameters)


__all__ = ["BANDITS", "Bandit", "BernoulliBandit", "GaussianBandit", "ReplayBandit", "ScipyBandit", "make"]
