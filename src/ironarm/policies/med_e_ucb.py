"""med-E-UCB: the median, an upper confidence bonus, and forced exploration."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import InvalidInput
from ..estimators import LowerMedian
from ..marks import cold, hot
from ..rules.highest_index import IndexPolicy, highest_index
from ..validation import number, optional, whole

MARGIN = 1.05  # b of `for_rho` over the sharp condition
ENOUGH = 0.5  # the least b of `for_rho`


@hot
def forced_total(b, block, k):
    """Return how many forced pulls each arm has had after block k (from 0).

    It is ceil(b log((k+1) G)).
    """
    return math.ceil(b * math.log((k + 1) * block))


@cold
def plan_block(plan, arms, b, block, t):
    """Write the schedule around round t to `plan`.

    It holds the window's first round, the pulls of each arm in it, its last round, and
    the round at which to plan again.
    """
    first = forced_total(b, block, 0)
    if t <= arms * first:
        plan[0] = 1
        plan[1] = first
        plan[2] = arms * first
        plan[3] = arms * first + 1
        return
    # rounds kG+1 .. (k+1)G belong together: round kG itself closes the block before
    k = (t - 1) // int(block)
    start = k * int(block)
    each = forced_total(b, block, k) - forced_total(b, block, k - 1) if k >= 1 else 0
    plan[0] = start + 1
    plan[1] = each
    plan[2] = start + arms * each
    plan[3] = start + int(block) + 1


@hot
def forced_arm(s, t):
    """Return the arm that the schedule forces at round t, or -1."""
    if t >= s.plan[3]:
        plan_block(s.plan, s.arms, s.b, s.block, t)
    if t <= s.plan[2]:
        return (t - s.plan[0]) // s.plan[1]
    return -1


def smallest_block(arms: int, b: float, at_least: int) -> int:
    """Return the smallest block G >= at_least with G >= K ceil(b log G)."""
    block = at_least
    while block < arms * math.ceil(b * math.log(block)):
        # jumping to the right-hand side is safe: it grows with the block, so no smaller
        # block fits
        block = arms * math.ceil(b * math.log(block))
    return block


@dataclass(frozen=True)
class MedEUCB(IndexPolicy):
    """med-E-UCB, the paper's first policy, survives any corrupt rewards.

    An attacker may replace the reward by anything, with probability rho in each round.
    Time is cut into blocks of `block` rounds (the paper's G). Forced pulls at the start
    and at the head of each block give every arm at least b log t rewards at every other
    round t. Those rounds pull the arm with the largest

        median_a + sqrt(omega log t / n_a)

    with the lower median (Algorithm 1). A median is wrong only if about half of its
    rewards are. b log t rewards make that rare enough for b of at least 1/kl(1/2, rho)
    if the outliers are far away: 2.4 for rho = 0.125, 11.5 for rho = 0.3
    (`MedEUCB.for_rho`). The default b = 4 is the paper's; at rho = 0.3 a few trials in
    a thousand stay stuck with it. docs/policies.md describes the forced pulls.

    **Not for 0/1 rewards** or heavy ties: all medians are then equal. **Not for skewed
    rewards** if the arm with the best mean does not have the best median. Without
    corruption the forced exploration is wasted: on the paper's arms `UCB` has a
    thirtieth of the regret.

    Parameters
    ----------
    b : forced pulls of each arm per unit of log t, > 0.
    omega : exploration, in squared units of reward, > 0. 4 suits rewards with a
        standard deviation of 1; scale it with the variance.
    block : rounds in a block. None: 1000, or the smallest valid block where more arms
        need more. A block smaller than K ceil(b log block) is refused.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=range(2, 21, 2))
    >>> attack = ia.OppositeUniform(rho=0.125, scale=1800)
    >>> result = ia.simulate(
    ...     ia.MedEUCB(),
    ...     bandit,
    ...     attack,
    ...     horizon=10_000,
    ...     trials=3,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> result.regret[0, :, -1].tolist()
    [3330.0, 3330.0, 3330.0]

    References
    ----------
    Guan, Ji, Bucci, Hu, Palombo, Liston, Liang, Robust stochastic bandit algorithms
    under probabilistic unbounded adversarial attack, AAAI 2020, Algorithm 1.
    """

    b: float = 4.0
    omega: float = 4.0
    block: int | None = None

    needs = {"omega": "sigma"}
    family = "upper confidence and forced exploration", "median"
    use_when = (
        "a share of the rewards is corrupt, by any amount, and you know the scale of the clean "
        "ones; `for_rho` if you also know the corrupt share `rho`, which sets the number of "
        "forced pulls"
    )

    estimator = LowerMedian
    fields = {**IndexPolicy.fields, "plan": "cache int[4]"}

    def __post_init__(self) -> None:
        self._set(
            b=number("b", self.b, above=0),
            omega=number("omega", self.omega, above=0),
            block=optional(whole, "block", self.block, at_least=2),
        )

    @classmethod
    def for_rho(cls, rho: float, omega: float = 4.0, block: int | None = None) -> MedEUCB:
        """Return the policy with the forced pulls that a corrupt share rho needs.

        It has b = 1.05 / kl(1/2, rho), but at least 0.5. The median of n rewards is
        wrong with a probability of about exp(-n kl(1/2, rho)), where kl(1/2, rho) =
        log(1 / (4 rho (1 - rho))) / 2, if the corrupt ones are far away. With n = b log
        t that sums to a bounded number of wrong rounds for b > 1/kl(1/2, rho), and to a
        power of T for a smaller b. So the condition is sharp, and b is a twentieth
        above it. Near rho = 0 the condition needs nothing; b = 0.5, four pulls of each
        arm at the start, leaves the rest to the exploration bonus.

        Parameters
        ----------
        rho : the share of corrupt rewards, 0 <= rho < 0.5.
        omega, block : as for the policy.

        >>> import ironarm as ia
        >>> [round(ia.MedEUCB.for_rho(rho).b, 2) for rho in (0, 0.05, 0.125, 0.3, 0.4)]
        [0.5, 1.26, 2.54, 12.04, 51.44]
        """
        rho = number("rho", rho, at_least=0, below=0.5)
        rate = math.log(1 / (4 * rho * (1 - rho))) / 2 if rho > 0 else math.inf
        return cls(b=max(ENOUGH, MARGIN / rate), omega=omega, block=block)

    def block_for(self, arms: int) -> int:
        """Return the block length for these arms; refuse one that is too small."""
        if self.block is None:
            return smallest_block(arms, self.b, 1000)
        needed = arms * math.ceil(self.b * math.log(self.block))
        if self.block < needed:
            raise InvalidInput(
                f"block={self.block} is too small for {arms} arms with b={self.b:g}: it must hold "
                f"ceil(b log block) pulls of each arm, {needed} rounds. Use "
                f"block={smallest_block(arms, self.b, self.block)} or more, or block=None."
            )
        return self.block

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        return {"b": self.b, "coefficient": self.omega, "block": float(self.block_for(arms))}

    @staticmethod
    @hot
    def choose(s, t, g):
        arm = forced_arm(s, t)
        if arm >= 0:
            return arm
        return highest_index(s, t, s.coefficient)

    @staticmethod
    @hot
    def owed(s, t):
        return forced_total(s.b, s.block, (t - 1) // int(s.block))
