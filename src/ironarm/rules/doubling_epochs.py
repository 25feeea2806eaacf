"""Robust UCB with a confidence level that changes only when t doubles.

Robust UCB uses estimates that depend on the confidence delta, with delta = t^-2: every
estimate would change in every round. Here round t uses delta = tau^-2, where tau is the
smallest power of two that is at least t and at least 2. As tau >= t, each confidence
bound holds with probability at least 1 - t^-2 for each fixed number of rewards; the
price is log(2 t) in place of log t. The number of rewards n_a is random, so the regret
constants of Bubeck et al. are not claimed. t^-2 keeps the regret logarithmic; a
constant remainder would need t^-4.

Within an epoch an estimate changes only with its own arm's rewards, and so does the
index

    estimate_a + width / n_a^exponent,    exponent = e / (1 + e),

where `width` is the estimator's radius for one reward. All estimates are computed anew
at the start of an epoch, in O(n). Since n <= t, that is O(1) per round on average.
"""

from __future__ import annotations

import math

from ..marks import cold, hot
from ..policy import Policy
from ..validation import number
from .highest_index import FIELDS as INDEX_FIELDS
from .highest_index import highest_index, line_moved

FIELDS = {
    **INDEX_FIELDS,
    "tau": "cache int[1]",
    "level": "cache float[1]",
    "coefficient": "cache float[1]",
}


@cold
def start_epoch(s, t):
    """Set tau and log(1/delta) = 2 log tau for round t; forget the indices."""
    s.tau[0] = 2
    while s.tau[0] < t:
        s.tau[0] *= 2
    s.level[0] = 2.0 * math.log(s.tau[0])
    s.threat_until[0] = 0
    s.tree_ready[0] = 0


@cold
def coefficient_for(width, tau):
    """Return the coefficient with which `highest_index` adds width times the spread.

    It adds sqrt(coefficient log t) times the spread, and is called with t = tau.
    """
    return width * width / math.log(tau)


@hot
def highest_in_epoch(s):
    """Return the arm with the highest estimate + width / n^exponent."""
    return highest_index(s, s.tau[0], s.coefficient[0])


@hot
def moment_index_moved(s, a):
    """Take note that the estimate or the count of arm a has changed."""
    if s.exponent == 0.5:
        s.spread[a] = 1.0 / math.sqrt(s.n[a]) if s.n[a] > 0 else 0.0
    else:
        s.spread[a] = s.n[a] ** -s.exponent if s.n[a] > 0 else 0.0
    line_moved(s, a)


class EpochPolicy(Policy):
    """Pull the arm with the largest estimate_a + width / n_a^exponent in each epoch.

    A subclass names its parameters, `epsilon` among them: rewards have a finite moment
    of order 1 + epsilon. It starts its epochs in `settle` and in `choose`, which ends
    with `highest_in_epoch`; see `TruncatedMeanUCB`.
    """

    epsilon: float

    fields = FIELDS

    def __post_init__(self) -> None:
        self._set(epsilon=number("epsilon", self.epsilon, above=0, at_most=1))

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        order = 1 + self.epsilon
        return {
            **super().constants(arms, horizon),
            "order": order,
            "exponent": self.epsilon / order,
        }

    @staticmethod
    @hot
    def update(s, a, x):
        moment_index_moved(s, a)

    @staticmethod
    @hot
    def recount(s, a):
        moment_index_moved(s, a)
