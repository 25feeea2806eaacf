"""SAO: arm elimination that goes over to Exp3.P if rewards do not look random."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..marks import cold, hot
from ..random import uniform
from ..rules.reward_range import MeanOfRange, newcomer_estimate, share_of_range
from ..validation import number, optional, whole


@hot
def width(s, x):
    """Return the paper's confidence width after x rounds of equal chances."""
    spread = s.arms * s.log_beta / x
    return math.sqrt(4.0 * spread + 5.0 * spread * spread)


@cold
def begin_again(s):
    """Make all arms active, and forget what the tests compare."""
    for a in range(s.arms):
        s.tau[a] = 0
        s.weighted[a] = 0.0
        s.gathered[a] = 0.0
        s.pulls[a] = 0
    s.age[0] = 0


@hot
def share_out(s):
    """Compute the probabilities for the next round; False if no arm is active."""
    active = 0
    rest = 1.0
    for a in range(s.arms):
        if s.tau[a] == 0:
            active += 1
        else:
            s.p[a] = s.q[a] * s.tau[a] / (s.age[0] + 1)
            rest -= s.p[a]
    for a in range(s.arms):
        if s.tau[a] == 0:
            s.p[a] = rest / active
    return active > 0


@hot
def rate_of(s):
    """Return the learning rate of Exp3.P."""
    return 0.95 * math.sqrt(math.log(s.arms) / (s.left[0] * s.arms))


@hot
def mixed_in(s):
    """Return the share of even exploration of Exp3.P."""
    return min(1.05 * math.sqrt(s.arms * math.log(s.arms) / s.left[0]), 1.0)


@hot
def weigh(s):
    """Compute the probabilities of Exp3.P."""
    eta = rate_of(s)
    gamma = mixed_in(s)
    top = s.weighted[0]
    for a in range(1, s.arms):
        top = max(top, s.weighted[a])
    total = 0.0
    for a in range(s.arms):
        s.p[a] = math.exp(eta * (s.weighted[a] - top))
        total += s.p[a]
    for a in range(s.arms):
        s.p[a] = (1.0 - gamma) * s.p[a] / total + gamma / s.arms


@cold
def plan(s):
    """Compute the probabilities for the arms that there are now."""
    if s.left[0] > 0:
        weigh(s)
    elif not share_out(s):
        begin_again(s)
        share_out(s)
    s.planned_for[0] = s.arms


@hot
def disagrees(s, a, t, gap):
    """Say whether an arm does not look like random rewards of a fixed law.

    The gap is how far its estimate is below that of the best active arm.
    """
    left = s.tau[a]
    until = left if left > 0 else t
    if s.pulls[a] > 0:
        rounds = s.arms * until / (t * t)
        if left > 0:
            rounds += (t - until) / (s.q[a] * left * t)
        spread = s.arms * s.log_beta / until
        bound = math.sqrt(2.0 * s.log_beta / s.pulls[a])
        bound += math.sqrt(4.0 * rounds * s.log_beta + 5.0 * spread * spread)
        if abs(s.weighted[a] / t - s.gathered[a] / s.pulls[a]) > bound:
            return True
    if left == 0:
        return False
    return (left > 1 and gap > 10.0 * width(s, left - 1.0)) or gap <= 2.0 * width(s, left)


@hot
def run_tests(s):
    """Deactivate arms; say whether the rewards seem to follow no fixed law."""
    t = s.age[0]
    best = -math.inf
    for a in range(s.arms):
        if s.tau[a] == 0:
            best = max(best, s.weighted[a] / t)
    enough = 6.0 * width(s, t)
    found = False
    for a in range(s.arms):
        gap = best - s.weighted[a] / t
        if s.tau[a] == 0 and gap > enough:  # never the best one, so the best stays
            s.tau[a] = t
            s.q[a] = s.p[a]
        found = found or disagrees(s, a, t, gap)
    return found


@cold
def learn_as_exp3p(s, a, y):
    """Add the reward y, and a bonus to every arm, by the probabilities.

    Each arm has at least gamma / K. A smaller probability is that of a decision from
    before the start of Exp3.P, whose reward comes late; it would swamp the others.
    """
    bonus = min(math.sqrt(s.log_beta / (s.left[0] * s.arms)), 1.0)
    for k in range(s.arms):
        if k == a:
            s.weighted[k] += (y + bonus) / max(s.chance[0], mixed_in(s) / s.arms)
        else:
            s.weighted[k] += bonus / s.p[k]


@dataclass(frozen=True)
class SAO(MeanOfRange):
    """SAO, Stochastic and Adversarial Optimal: elimination with tests, else Exp3.P.

    Let W_a be the sum of the rewards of arm a in [0, 1], each divided by the
    probability of its decision, over the rounds t; w(x) = sqrt(4 B / x + 5 (B / x)^2),
    B = K ln beta. An active arm is deactivated in round tau_a if max W - W_a > 6 w(t),
    the maximum over active arms. Then its probability is q_a tau_a / (t + 1), q_a the
    last one before; active arms share the rest. If W_a and the plain mean differ too
    much, or max W - W_a of an inactive arm is above 10 w(tau_a - 1) or not above 2
    w(tau_a), Exp3.P takes over.

    The regret is O(K log K log^2 T / gap) for random rewards, and O(log K log^1.5 T
    sqrt(T K)) for any.

    **Experimental.** Algorithm 1 is as in the paper. The parameters of Exp3.P were not
    checked in the thesis that it cites.

    **Slow**: no arm is deactivated before round 144 B / gap^2, and ln beta is 46 for T
    = 100,000. **Not for unbounded attacks**: see `TsallisINF`.

    docs/policies.md has more, also on agents.

    Parameters
    ----------
    horizon : the number of rounds T. None: a simulation uses its own; an agent needs
        one.
    beta : how sure the tests are, > 1. None: T^4. With 10 K T^3 / delta the bounds hold
        with probability 1 - delta.
    reward_range : (low, high), the rewards that map to 0 and 1; others are clipped.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.BernoulliBandit([0.1, 0.9])
    >>> policies = [ia.policies.SAO(), ia.policies.SAO(beta=10)]
    >>> result = ia.simulate(
    ...     policies, bandit, horizon=5000, trials=20, seed=1, progress=False
    ... )
    >>> result.optimal[:, :, -1].mean(axis=1).round(2).tolist()
    [0.5, 0.74]

    References
    ----------
    Bubeck and Slivkins, The best of both worlds: stochastic and adversarial bandits,
    COLT 2012, Algorithm 1. Bubeck and Cesa-Bianchi, Regret analysis of stochastic and
    nonstochastic multi-armed bandit problems, 2012, for Exp3.P.
    """

    horizon: int | None = None
    beta: float | None = None
    reward_range: tuple[float, float] = (0.0, 1.0)

    experimental = True
    needs = {"horizon": "horizon", "reward_range": "range"}
    family = "drawn from probabilities", "weighted rewards in a known range"
    use_when = "as for `TsallisINF`, in very many rounds; kept for comparison"

    weighs_by_chance = True
    # `age` is t; `tau` the t at which an arm was deactivated, 0 while it is active.
    # `weighted` is t W, and the gains of Exp3.P once it has started. `left` is the
    # number of rounds it was started for, 0 before. `planned_for` is the number of arms
    # that `p` is for
    fields = {
        "tau": "int[arms]",
        "q": "float[arms]",
        "p": "float[arms]",
        "weighted": "float[arms]",
        "gathered": "float[arms]",
        "pulls": "int[arms]",
        "age": "int[1]",
        "last_round": "int[1]",
        "left": "int[1]",
        "planned_for": "int[1]",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            horizon=optional(whole, "horizon", self.horizon, at_least=1),
            beta=optional(number, "beta", self.beta, above=1),
        )

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        rounds = self._rounds(horizon)
        log_beta = 4 * math.log(max(rounds, 2)) if self.beta is None else math.log(self.beta)
        return {
            **super().constants(arms, horizon),
            "length": float(rounds),
            "log_beta": log_beta,
        }

    @staticmethod
    @hot
    def choose(s, t, g):
        s.last_round[0] = t
        if s.planned_for[0] != s.arms:
            plan(s)
        u = uniform(g)
        arm = 0
        reached = 0.0
        for a in range(s.arms - 1):
            reached += s.p[a]
            arm += reached <= u
        s.chance[0] = s.p[arm]
        return arm

    @staticmethod
    @hot
    def update(s, a, x):
        y = share_of_range(s, x)
        if s.planned_for[0] != s.arms:
            plan(s)
        if s.left[0] > 0:
            learn_as_exp3p(s, a, y)
            weigh(s)
            return
        s.age[0] += 1
        s.weighted[a] += y / s.chance[0]
        s.gathered[a] += y
        s.pulls[a] += 1
        if run_tests(s):
            s.left[0] = max(int(s.length) - s.last_round[0], 1)
            for k in range(s.arms):
                s.weighted[k] = 0.0
            weigh(s)
        else:
            share_out(s)

    @staticmethod
    @hot
    def welcome(s, a):
        if s.left[0] > 0:
            s.weighted[a] = newcomer_estimate(s.weighted, a, rate_of(s))
        else:
            begin_again(s)
        s.planned_for[0] = 0
