"""An adaptive attack that stays just under the runner-up."""

from __future__ import annotations

from dataclasses import dataclass

from ..marks import hot
from ..validation import number
from .base import Attack, no_estimate


@dataclass(frozen=True)
class MedianChaser(Attack):
    """Adaptive and inconspicuous: shows the best arm just below the runner-up.

    An attacked reward of the best arm is put just below the runner-up's current
    estimate, its lower median for policies that use medians. Before the runner-up has
    an estimate, its true mean is used. Other arms are left alone.

    Parameters
    ----------
    rho : probability of an attack in a round, 0 <= rho < 1.
    margin : how far below, in units of reward, > 0.

    Examples
    --------
    >>> import ironarm as ia
    >>> ia.attacks.MedianChaser(rho=0.3)
    MedianChaser(rho=0.3, margin=0.001)
    """

    rho: float
    margin: float = 0.001

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(margin=number("margin", self.margin, above=0))

    @staticmethod
    @hot
    def corrupt(e, a, x, u, v):
        if a != e.best or e.arms < 2:
            return x
        if no_estimate(e, e.runner_up):
            return e.means[e.runner_up] - e.margin
        return e.estimate[e.runner_up] - e.margin
