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

    texts = ("name", "tier")
    parameters = {key: numbers_from_text(value) if isinstance(value, str) and key not in texts else value for key, value in data.items() if key != "name"}
    name = data.get("name")
    known_bandits = [*BANDITS, "RadioBandit"]
    if name not in known_bandits:
        raise InvalidInput(f"unknown bandit {name!r}; expected one of {', '.join(known_bandits)}.{did_you_mean(name, known_bandits)}")
    kind = BANDITS.get(name) or _radio_bandit()
    known = inspect.signature(kind).parameters
    for key in parameters:
        if key not in known:
            raise InvalidInput(f"{name} has no parameter {key!r}; it has {', '.join(known)}.{did_you_mean(key, known)}")
    if "means" not in parameters and known["means"].default is inspect.Parameter.empty:
        raise InvalidInput(f"{name} needs means, for example means = [0, 1].")
    return kind(**parameters)


def _radio_bandit() -> type[Bandit]:
    """Return RadioBandit, loaded only when a file names it."""
    from ..radio.bandit import RadioBandit

    return RadioBandit


__all__ = ["BANDITS", "Bandit", "BernoulliBandit", "GaussianBandit", "ReplayBandit", "ScipyBandit", "make"]
