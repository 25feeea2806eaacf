"""EXP3++: EXP3 whose exploration of each arm fades as the arm is seen to be worse."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..marks import hot
from ..random import uniform
from ..rules.reward_range import RangedPolicy, newcomer_estimate, share_of_range
from ..validation import number

CONFIDENCE = 3.0  # alpha of the paper


@hot
def scale_of_round(arms, t):
    """Return sqrt(ln K / (t K)).

    The learning rate and the exploration are multiples of it.
    """
    return math.sqrt(math.log(arms) / (t * arms))


@hot
def weigh(s, t):
    """Compute the weights and the exploration at round t; return the sums of both."""
    scale = scale_of_round(s.arms, t)
    eta = s.rate * scale
    log_t = math.log(t)
    radius = math.sqrt((CONFIDENCE * log_t + math.log(s.arms)) / 2.0)
    top = s.estimate[0]
    least_upper = math.inf
    for a in range(s.arms):
        top = max(top, s.estimate[a])
        least_upper = min(least_upper, s.mean_loss[a] + radius * s.spread[a])
    most = min(0.5 / s.arms, 0.5 * scale)
    total = 0.0
    explored = 0.0
    for a in range(s.arms):
        s.weight[a] = math.exp(eta * (s.estimate[a] - top))
        total += s.weight[a]
        gap = s.mean_loss[a] - radius * s.spread[a] - least_upper
        s.explore[a] = min(most, s.beta * log_t / (t * gap * gap)) if gap > 0.0 else most
        explored += s.explore[a]
    return total, explored


@hot
def mean_moved(s, a):
    """Take note that the mean loss or the number of rewards of arm a may have changed.

    An arm without rewards has an infinite radius.
    """
    n = s.rewards[a]
    s.mean_loss[a] = s.loss[a] / n if n > 0 else 0.0
    s.spread[a] = 1.0 / math.sqrt(n) if n > 0 else math.inf


@dataclass(frozen=True)
class EXP3PlusPlus(RangedPolicy):
    """EXP3++: EXP3 that explores an arm less once its mean loss is clearly worse.

    It needs no horizon. A reward is mapped to y in [0, 1] by `reward_range` and
    clipped; its loss is 1 - y. L_a is the sum of the losses of arm a, each divided by
    the probability of its decision, and l_a their plain mean over the N_a rewards. With
    c_t = sqrt(ln K / (t K)) and eta_t = rate c_t, round t pulls arm a with probability

        p_a   = (1 - sum(eps)) exp(-eta_t L_a) / sum(exp(-eta_t L)) + eps_a,
        eps_a = min(1/(2K), c_t / 2, beta ln t / (t D_a^2)),

    where D_a = max(0, l_a - r_a - min(l + r)), r_a = sqrt(3 ln(t K^(1/3)) / (2 N_a)),
    estimates the gap from below; while it is 0, the last term does not count. The
    regret is O(sqrt(T K ln K)) for any rewards, and O(log^2 T) for random ones. With
    beta = 256, for which that is proved, the last term is the smallest only from about
    1e8 rounds on.

    **Not for unbounded attacks**, for the reason given in `TsallisINF`, which has
    better guarantees.

    Behind an agent, `estimates` are -L_a.

    Parameters
    ----------
    reward_range : (low, high), the rewards that map to 0 and 1; others are clipped.
    beta : exploration of arms that are known to be worse, > 0.
    rate : the learning rate as a multiple of c_t, > 0. The bound for any rewards holds
        for 1/2, the one for random rewards for 1/2 and above. Larger rates learn
        faster.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.BernoulliBandit([0.2, 0.8])
    >>> result = ia.simulate(
    ...     ia.policies.EXP3PlusPlus(),
    ...     bandit,
    ...     horizon=5000,
    ...     trials=20,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> bool(0.95 < result.optimal[0, :, -1].mean() < 1)
    True

    References
    ----------
    Seldin and Lugosi, An improved parametrization and analysis of the EXP3++ algorithm
    for stochastic and adversarial bandits, COLT 2017. Seldin and Slivkins, One
    practical algorithm for both stochastic and adversarial bandits, ICML 2014, for
    larger learning rates.
    """

    reward_range: tuple[float, float] = (0.0, 1.0)
    beta: float = 256.0
    rate: float = 0.5

    needs = {"reward_range": "range"}
    family = "drawn from probabilities", "weighted rewards in a known range"
    use_when = "as for `TsallisINF`; kept for comparison"

    # s.estimate holds -L; `loss` the sum of the plain losses; `weight` and `explore`
    # are those of this round; only `welcome` reads `last_round`
    fields = {
        "loss": "float[arms]",
        "mean_loss": "cache float[arms]",
        "spread": "cache float[arms]",
        "weight": "cache float[arms]",
        "explore": "cache float[arms]",
        "last_round": "int[1]",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            beta=number("beta", self.beta, above=0),
            rate=number("rate", self.rate, above=0),
        )

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        return {"beta": self.beta, "rate": self.rate, **super().constants(arms, horizon)}

    @staticmethod
    @hot
    def choose(s, t, g):
        if s.spread[0] == 0.0:  # the first round: not set yet
            for a in range(s.arms):
                mean_moved(s, a)
        total, explored = weigh(s, t)
        scale = (1.0 - explored) / total
        s.last_round[0] = t
        u = uniform(g)
        arm = 0
        reached = 0.0
        for a in range(s.arms - 1):
            reached += scale * s.weight[a] + s.explore[a]
            arm += reached <= u
        s.chance[0] = scale * s.weight[arm] + s.explore[arm]
        return arm

    @staticmethod
    @hot
    def update(s, a, x):
        loss = 1.0 - share_of_range(s, x)
        s.loss[a] += loss
        s.estimate[a] -= loss / s.chance[0]
        mean_moved(s, a)

    @staticmethod
    @hot
    def recount(s, a):
        mean_moved(s, a)

    @staticmethod
    @hot
    def welcome(s, a):
        eta = s.rate * scale_of_round(s.arms, max(s.last_round[0], 1))
        s.estimate[a] = newcomer_estimate(s.estimate, a, eta)
