"""A family of attacks: what to do to which arm, how far, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..marks import hot
from ..validation import choice, number, whole
from .base import Attack, no_estimate

if TYPE_CHECKING:
    from ..bandits import Bandit

ACTIONS = ("leave", "up", "down", "mimic", "place", "chase", "sink")
LEADERS = ("any", "right", "wrong")
LEAVE, UP, DOWN, MIMIC, PLACE, CHASE, SINK = range(7)


@dataclass(frozen=True)
class Shaped(Attack):
    """A family of attacks that `ironarm worst-case` searches for a policy's worst one.

    You choose what happens to an attacked reward of each arm: the best, the runner-up,
    the worst if it is neither of them, and all others.

        "leave"   left alone
        "up"      raised by size (1 - spread w), w uniform on (0, 1)
        "down"    lowered by as much
        "mimic"   moved to the rival's mean: its law, if arms differ in means only
        "place"   the rival's mean plus the shift; for the best arm, minus the shift
        "chase"   the same with the policy's estimate of the rival in place of its mean
        "sink"    moved to the worst arm's mean

    The best arm's rival is the runner-up; the rival of any other arm is the best. The
    attack acts only if all conditions hold, and shows the clean reward otherwise. The
    family includes OppositeUniform, FrontLoaded, MedianChaser, Understate and, for arms
    that differ only in their means, Mimic.

    Parameters
    ----------
    rho : probability of an attack in a round, 0 <= rho < 1.
    best, runner_up, worst : what to do to rewards of this arm.
    others : what to do to rewards of any other arm.
    size : the largest shift, in units of reward, > 0; 1e300 is as good as infinite.
    spread : 0: every shift is `size`; 1: shifts are uniform on (0, size).
    first : only during an arm's first pulls, this many; 0: no limit.
    after : only after this round.
    leader : only while the arm that the policy estimates highest is the best arm
        ("right") or is not ("wrong"); "any": always.
    shown : only in this share of the attacked rounds, drawn at random, 0 to 1. Attacks
        on the best arm are not limited by it.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=range(2, 21, 2))
    >>> paper = ia.simulate(
    ...     ia.MedEUCB(),
    ...     bandit,
    ...     ia.OppositeUniform(rho=0.3),
    ...     horizon=2000,
    ...     trials=4,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> same = ia.simulate(
    ...     ia.MedEUCB(),
    ...     bandit,
    ...     ia.attacks.Shaped(rho=0.3, size=1800, spread=1),
    ...     horizon=2000,
    ...     trials=4,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> bool((paper.regret == same.regret).all())
    True
    """

    rho: float
    best: str = "down"
    runner_up: str = "up"
    worst: str = "up"
    others: str = "up"
    size: float = 1.0
    spread: float = 0.0
    first: int = 0
    after: int = 0
    leader: str = "any"
    shown: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("best", "runner_up", "worst", "others"):
            choice(name, getattr(self, name), ACTIONS)
        choice("leader", self.leader, LEADERS)
        self._set(
            size=number("size", self.size, above=0),
            spread=number("spread", self.spread, at_least=0, at_most=1),
            shown=number("shown", self.shown, at_least=0, at_most=1),
        )
        self._set(first=whole("first", self.first), after=whole("after", self.after))

    def constants(self) -> dict[str, float]:
        return {
            "to_best": float(ACTIONS.index(self.best)),
            "to_runner_up": float(ACTIONS.index(self.runner_up)),
            "to_worst": float(ACTIONS.index(self.worst)),
            "to_others": float(ACTIONS.index(self.others)),
            "size": self.size,
            "spread": self.spread,
            "first": float(self.first),
            "after": float(self.after),
            "leader": float(LEADERS.index(self.leader)),
            "shown": self.shown,
        }

    def start(self, bandit: Bandit) -> np.ndarray:
        """Return the worst arm."""
        return np.array([np.argmin(bandit.means)])

    @staticmethod
    @hot
    def corrupt(e, a, x, u, v):
        action = (
            e.to_best
            if a == e.best
            else e.to_runner_up
            if a == e.runner_up
            else e.to_worst
            if a == e.memory[0]
            else e.to_others
        )
        if (
            action == LEAVE
            or e.t <= e.after
            or (0.0 < e.first < e.pulls[a])
            or (a != e.best and v >= e.shown)
            or not leader_fits(e.estimate, e.pulls, e.best, e.leader)
        ):
            return x
        # 1 - u has the law of u; with it the shift is that of OppositeUniform, number
        # for number, where spread is 1
        shift = e.size * (1.0 - e.spread * (1.0 - u))
        if action == UP:
            return x + shift
        if action == DOWN:
            return x - shift
        if action == SINK:
            return x + e.means[int(e.memory[0])] - e.means[a]
        rival = e.runner_up if a == e.best else e.best
        if action == MIMIC:
            return x + e.means[rival] - e.means[a]
        known = action == CHASE and not no_estimate(e, rival)
        target = e.estimate[rival] if known else e.means[rival]
        return target - shift if a == e.best else target + shift


@hot
def leader_fits(estimate, pulls, best, wanted):
    """Say whether the policy's leader, the arm with the highest estimate, is as wanted.

    Wanted is 0 for any, 1 for the best arm, 2 for another one.
    """
    if wanted == 0.0:
        return True
    lead = best
    for a in range(len(estimate)):
        if pulls[a] > 0 and (pulls[lead] == 0 or estimate[a] > estimate[lead]):
            lead = a
    return (lead == best) == (wanted == 1.0)
