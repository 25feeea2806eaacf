"""Any law of scipy.stats, one for each arm."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import InvalidInput
from .base import Bandit, finite_means


class ScipyBandit(Bandit):
    """Arms with any frozen law of `scipy.stats`.

    Parameters
    ----------
    laws : one frozen law for each arm, each with a finite mean.

    Examples
    --------
    >>> import ironarm as ia
    >>> from scipy.stats import expon, gamma
    >>> bandit = ia.ScipyBandit([expon(scale=2), gamma(3)])
    >>> bandit.means.tolist()
    [2.0, 3.0]
    """

    def __init__(self, laws: Iterable[Any]) -> None:
        if not isinstance(laws, Iterable) or isinstance(laws, str):
            raise InvalidInput(
                "laws must be a list with one law for each arm, for example [norm(0, 1), "
                f"gamma(3)], got {_named(laws)}."
            )
        self.laws = tuple(laws)
        for law in self.laws:
            if hasattr(law, "freeze"):  # a family of laws, whose members have parameters
                raise InvalidInput(
                    f"laws must be laws with their parameters, for example norm(0, 1), got the "
                    f"family {_named(law)}; write {_named(law)}(...)."
                )
            if not (callable(getattr(law, "ppf", None)) and callable(getattr(law, "mean", None))):
                raise InvalidInput(
                    "laws must be frozen laws of scipy.stats, for example scipy.stats.norm(0, "
                    f"1), got {law!r}."
                )
        means = [float(law.mean()) for law in self.laws]
        for i, mean in enumerate(means):
            if not math.isfinite(mean):
                raise InvalidInput(
                    f"the law of arm {i} has no finite mean ({mean}), so regret is not defined. "
                    "Use laws with a mean."
                )
        self.means = finite_means(means)

    def rewards(self, arm: int, noise: np.ndarray) -> np.ndarray:
        return np.asarray(self.laws[arm].ppf(noise), dtype=float)

    def to_dict(self) -> dict[str, Any]:
        return {"bandit": "ScipyBandit", "laws": [_describe(law) for law in self.laws]}

    def __repr__(self) -> str:
        return f"ScipyBandit([{', '.join(map(_describe, self.laws))}])"


def _named(law: Any) -> str:
    """Return a law or a family as text; scipy shows only where it is in memory."""
    if hasattr(law, "dist"):
        return _describe(law)
    return str(law.name) if hasattr(law, "freeze") else repr(law)


def _describe(law: Any) -> str:
    """Return a law as text: its name and arguments where scipy keeps them."""
    name = getattr(getattr(law, "dist", None), "name", type(law).__name__)
    arguments = [_exactly(x) for x in getattr(law, "args", ())] + [
        f"{k}={_exactly(x)}" for k, x in getattr(law, "kwds", {}).items()
    ]
    return f"{name}({', '.join(arguments)})"


def _exactly(x: float) -> str:
    """Return a number as the shortest text that keeps its value.

    Stored simulations are found again by this text.
    """
    return f"{x:g}" if float(f"{x:g}") == x else repr(float(x))
