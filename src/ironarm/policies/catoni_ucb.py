"""Catoni UCB (robust UCB with Catoni's M-estimator); the paper writes "Cantoni"."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..estimators import Catoni
from ..estimators.catoni import (
    COEFFICIENTS,
    ROUNDING,
    anchor,
    distance,
    exact_root,
    model_error,
    model_slope,
    model_value,
)
from ..marks import cold, hot
from ..policy import Policy
from ..rules.forced_pulls import too_few
from ..validation import number

# indices this close, relative to 1 + their size, are equal, and the lowest arm wins:
# far above rounding, far below anything that matters
TIE = 1e-9
REACH = 0.3  # how far from its anchor a model is used
# the accuracy of estimates, relative to 1 + their size: coarse, fine, and as fine as
# ties need
FIRST = 1e-5
SECOND = 1e-8
LAST = 1e-11


@hot
def catoni_scale(n, t, variance):
    """Return alpha for n rewards at round t.

    It is sqrt(2 L / (n (v + 2 v L / (n - 2 L)))) with L = 2 log t.
    """
    level = 2.0 * math.log(t)
    return math.sqrt(2.0 * level * (n - 2.0 * level) / variance) / n


@hot
def catoni_bonus(n, t, variance):
    """Return sqrt(8 v log t / n)."""
    return math.sqrt(8.0 * variance * math.log(t) / n)


@hot
def surely_above(s, a, alpha, theta):
    """Say whether the estimate of arm a is certainly above theta.

    False may also mean that the model cannot tell.
    """
    at = a * COEFFICIENTS
    h = alpha / s.anchor_scale[a] - 1.0
    # the sum falls as theta grows: if it is positive at a higher point within reach, it
    # is at theta too
    b = max(alpha * (theta - s.anchor_at[a]), -0.1 * (1.0 + s.model[at + 15]))
    return model_value(s.model, at, h, b) > model_error(s.model, at, h, b) + ROUNDING * s.rewards[a]


@cold
def certified_root(s, a, alpha, width):
    """Return the estimate of arm a for scale alpha, certainly within `width`.

    Rounding may add to that. The model is anchored anew if it cannot promise that.
    """
    n = s.rewards[a]
    at = a * COEFFICIENTS
    guess = s.anchor_at[a]
    for attempt in range(3):
        h = alpha / s.anchor_scale[a] - 1.0
        b = 0.0
        within = abs(h) < REACH
        if within:
            for _ in range(20):
                step = model_value(s.model, at, h, b) / model_slope(s.model, at, h, b)
                b -= step
                within = distance(s.model, at, h, b) < REACH
                if not within or abs(step) < 1e-16 + 1e-3 * alpha * width:
                    break
        if within:
            guess = s.anchor_at[a] + b / alpha
            eta = alpha * width
            error = max(model_error(s.model, at, h, b - eta), model_error(s.model, at, h, b + eta))
            # once the model's error is below the rounding of the sum, a new anchor does
            # not help
            if error <= ROUNDING * n or (
                model_value(s.model, at, h, b - eta) > error
                and -model_value(s.model, at, h, b + eta) > error
            ):
                return guess
        else:
            guess = exact_root(s.pool, s.slot_start[a], n, alpha, guess)
        if attempt < 2:
            s.anchor_at[a] = guess
            s.anchor_scale[a] = alpha
            anchor(s.pool, s.slot_start[a], n, s.model, at, guess, alpha)
    return exact_root(s.pool, s.slot_start[a], n, alpha, guess)


@cold
def upper_until_later(s, a, t, until):
    """Return a bound on the estimate of arm a in rounds t..until without a reward."""
    n = s.rewards[a]
    alpha = catoni_scale(n, t, s.variance)
    later = catoni_scale(n, until, s.variance)
    # for fixed m the sum's second derivative in log alpha is at most 4 n, so between
    # the two scales it exceeds the larger of its ends by at most this
    drift = math.log(later / alpha)
    slack = 0.5 * n * drift * drift + ROUNDING * n
    m = certified_root(s, a, alpha, 1e-2 / alpha)
    at = a * COEFFICIENTS
    h = alpha / s.anchor_scale[a] - 1.0
    h_later = later / s.anchor_scale[a] - 1.0
    slope = -model_slope(s.model, at, h, alpha * (m - s.anchor_at[a]))
    step = (
        1.5
        * (max(0.0, model_value(s.model, at, h_later, later * (m - s.anchor_at[a]))) + slack)
        / slope
        + 1e-3
    ) / alpha
    for _ in range(6):
        b = alpha * (m + step - s.anchor_at[a])
        b_later = later * (m + step - s.anchor_at[a])
        highest = max(
            model_value(s.model, at, h, b) + model_error(s.model, at, h, b),
            model_value(s.model, at, h_later, b_later) + model_error(s.model, at, h_later, b_later),
        )
        if highest < -slack:
            return m + step
        step *= 2.0
    return math.inf


@hot
def certified_estimate(s, a, t, width):
    """Return the estimate of arm a for the scale of round t, within `width`."""
    return certified_root(s, a, catoni_scale(s.rewards[a], t, s.variance), width)


@cold
def contest(s, t):
    """Return the arm with the highest index at round t.

    It solves for as few arms, and to as few digits, as the answer needs.
    """
    until = t + t // 32
    for a in range(s.arms):
        if s.upper_until[a] < t:
            s.upper[a] = upper_until_later(s, a, t, until)
            s.upper_until[a] = until
        s.middle[a] = s.upper[a]
    best = s.leader[0]
    size = 1.0 + abs(s.anchor_at[best])
    width = FIRST * size
    s.middle[best] = certified_estimate(s, best, t, width)
    s.estimate[best] = s.middle[best]
    # the highest index is certainly no lower
    floor = s.middle[best] - width + catoni_bonus(s.n[best], t, s.variance)
    size = 1.0 + abs(floor)
    known = 0.0  # how well the middles are known; at first they are upper bounds
    for level in range(3):
        best_so_far = -math.inf
        contenders = 0
        width = size * (FIRST if level == 0 else (SECOND if level == 1 else LAST))
        for a in range(s.arms):
            bonus = catoni_bonus(s.n[a], t, s.variance)
            if (level == 0 and a == s.leader[0]) or (
                s.middle[a] + known + bonus < floor - TIE * size
            ):
                continue
            s.middle[a] = certified_estimate(s, a, t, width)
            s.estimate[a] = s.middle[a]
            floor = max(floor, s.middle[a] - width + bonus)
        known = width
        for a in range(s.arms):
            index = s.middle[a] + catoni_bonus(s.n[a], t, s.variance)
            if index + known >= floor - TIE * size:
                contenders += 1
            if index > best_so_far + (
                TIE * (1.0 + abs(best_so_far)) if level == 2 and best_so_far > -math.inf else 0.0
            ):
                best_so_far = index
                best = a
        if contenders == 1:
            break
    s.leader[0] = best
    valid = until
    for a in range(s.arms):
        if a != best:
            valid = min(valid, s.upper_until[a])
    s.threat[0] = -math.inf
    for a in range(s.arms):
        if a != best:
            s.threat[0] = max(s.threat[0], s.upper[a] + catoni_bonus(s.n[a], valid, s.variance))
    s.threat_until[0] = valid
    return best


@dataclass(frozen=True)
class CatoniUCB(Policy):
    """Robust UCB with Catoni's M-estimator, for heavy tails and a bounded variance.

    With L = 2 log t, the estimate m_a of arm a is the root of sum psi(alpha (X_i - m))
    = 0, psi(x) = sign(x) log(1 + |x| + x^2/2), alpha = sqrt(2L / (n (v + 2vL/(n -
    2L)))). Round t pulls an arm with fewer than 8 log t rewards (lowest number first)
    or else the arm with the largest

        m_a + sqrt(8 v log t / n_a).

    A huge reward weighs only as its logarithm. That is enough for heavy tails, whose
    huge values are rare, **but not against an attacker** who sends a constant share of
    them: under the paper's attack this policy fails in every trial. Its forced
    exploration is twice that of `MedEUCB`.

    A round costs about a microsecond. With a `variance` far below the true one (by a
    factor of a million, say) it costs time in proportion to the rewards held.
    docs/policies.md says how the choices are computed.

    Parameters
    ----------
    variance : an upper bound v on the rewards' variance, in squared units of reward, >
        0.

    Examples
    --------
    >>> import ironarm as ia
    >>> from scipy.stats import t as student
    >>> bandit = ia.ScipyBandit([student(df=3, loc=0), student(df=3, loc=1)])
    >>> result = ia.simulate(
    ...     ia.CatoniUCB(variance=3),
    ...     bandit,
    ...     horizon=2000,
    ...     trials=10,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> bool(result.optimal[0, :, -1].mean() > 0.8)
    True

    References
    ----------
    Bubeck, Cesa-Bianchi, Lugosi, Bandits with heavy tail, IEEE Transactions on
    Information Theory 59, 2013.
    """

    variance: float = 1.0

    needs = {"variance": "variance"}
    family = "upper confidence", "Catoni"
    use_when = "nobody corrupts the rewards, but their tails are heavy"

    estimator = Catoni
    fields = {
        "upper": "cache float[arms]",
        "upper_until": "cache int[arms]",
        "middle": "cache float[arms]",
        "enough_until": "cache int[1]",
        "leader": "cache int[1]",
        "threat": "cache float[1]",
        "threat_until": "cache int[1]",
    }

    def __post_init__(self) -> None:
        self._set(variance=number("variance", self.variance, above=0))

    @property
    def expected_spread(self) -> float:
        return self.variance**0.5

    @staticmethod
    @hot
    def choose(s, t, g):
        # log t is 0 at t = 1, where an agent can have estimates from a warm start
        t = max(t, 2)
        if t > s.enough_until[0]:
            forced = too_few(s.n, s.rewards, s.enough_until, t, 8.0)
            if forced >= 0:
                return forced
        leader = s.leader[0]
        if t <= s.threat_until[0]:
            theta = (
                s.threat[0]
                + TIE * (1.0 + abs(s.threat[0]))
                - catoni_bonus(s.n[leader], t, s.variance)
            )
            if surely_above(s, leader, catoni_scale(s.rewards[leader], t, s.variance), theta):
                return leader
        return contest(s, t)

    @staticmethod
    @hot
    def update(s, a, x):
        s.upper_until[a] = 0
        if a != s.leader[0]:
            s.threat_until[0] = 0

    @staticmethod
    @hot
    def recount(s, a):
        s.enough_until[0] = 0
        s.threat_until[0] = 0

    @staticmethod
    @hot
    def settle(s, t):
        for a in range(s.arms):
            n = s.rewards[a]
            if n > 0 and n < 8.0 * math.log(max(t, 2)):
                s.estimate[a] = exact_root(
                    s.pool, s.slot_start[a], n, 1.0 / math.sqrt(s.variance), s.anchor_at[a]
                )
            elif n > 0:
                width = LAST * (1.0 + abs(s.anchor_at[a]))
                s.estimate[a] = certified_estimate(s, a, max(t, 2), width)
