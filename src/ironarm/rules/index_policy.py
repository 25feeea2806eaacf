"""What policies share that pull the arm with the highest upper confidence bound."""

from __future__ import annotations

from ..errors import PolicyFault
from ..marks import hot
from ..policy import Policy
from .highest_index import FIELDS, highest_index, index_moved


class IndexPolicy(Policy):
    """Pull the arm with the largest estimate_a + sqrt(coefficient log t / n_a).

    Every arm is pulled once first. A subclass names its parameters, its `estimator` and
    its `coefficient`; see `RUCB`. One that sometimes chooses in another way writes its
    own `choose` around `highest_index(s, t, s.coefficient)`; see `MedEUCB`.
    """

    fields = FIELDS

    @property
    def coefficient(self) -> float:
        """What log t / n is multiplied by under the root, in squared units of reward.

        The default is the parameter `omega`.
        """
        omega: float | None = getattr(self, "omega", None)
        if omega is None:
            name = type(self).__name__
            raise PolicyFault(
                f"{name} does not say how much it explores: give it a parameter `omega`, or a "
                "property `coefficient` that returns a number."
            )
        return omega

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        return {**super().constants(arms, horizon), "coefficient": self.coefficient}

    @property
    def expected_spread(self) -> float | None:
        # a coefficient of 4 suits rewards with a standard deviation of 1
        return super().expected_spread or self.coefficient**0.5 / 2

    @staticmethod
    @hot
    def choose(s, t, g):
        return highest_index(s, t, s.coefficient)

    @staticmethod
    @hot
    def update(s, a, x):
        index_moved(s, a)

    @staticmethod
    @hot
    def recount(s, a):
        index_moved(s, a)
