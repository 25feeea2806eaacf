"""An alarm for changes of an arm's rewards that corrupt ones cannot ring.

**The test.** An arm has a reference m, the lower median of its rewards so far. The next
reward is a hit if it lies outside of m - slack - d to m + slack + 3 sigma. Without a
change a clean reward is one with a chance of at most 1 - c, c = Phi(d / sigma) +
Phi(3) - 1, as long as the slack covers what corruption and chance have moved the
reference. At most a share eps of the rewards is corrupt, wherever they lie. So,
whatever came before, the next reward is a hit with a chance of at most

    p0 = eps + (1 - eps) (1 - c).

Let L be the likelihood ratio of p1 against p0, p1 = p0 + lift (1 - p0): 1 - lift for a
reward that is no hit, 1 + lift (1 - p0) / p0 for a hit. Its mean is at most 1 without a
change. The Shiryaev-Roberts sum R <- (1 + R) L then grows by at most 1 in the mean with
each reward: R - n is a supermartingale. Stop at A or after n rewards, whichever comes
first: the mean of R is then at most n, so

    P(R reaches A within n rewards) <= n / A.

After a fall of the arm hits are more frequent, with a chance p, and log R grows by
about kl(p, p0) a reward where p1 is near p. R looks at every moment at which a change
may have begun, so there is no window to choose.

**Several tests.** Three distances d and two lifts, for a fall and, mirrored, for a
rise: twelve sums. Their mean has the same bound, and it rings. So in n rewards of all
arms there is a false alarm with a chance of at most n / A, if eps is at least rho and
the slack is enough. `s.alarm_rate` = 1 / A is a parameter; the other two are
assumptions.

**Which side.** A fall concerns only the leader: an arm behind may fall unseen, without
harm. A rise concerns every arm, but one behind the leader only if it rises about as
high. So there a hit lies above m + slack + d and above the leader's reference minus
sigma, and nowhere else, which only lowers its chance.
"""

from __future__ import annotations

import math

from ..estimators.sampled_median import held_rewards
from ..marks import cold

LEVELS = 3  # d = 0.5, 1, 2 sigma
LIFTS = 2  # 0.3, 0.7
SIDE = LEVELS * LIFTS
TESTS = 2 * SIDE
ENOUGH = 16  # rewards of an arm before its reference counts
NOISE = 4.0  # the slack has so many sigma / sqrt(n), two standard errors at eps = 0.3

FIELDS = {
    "reference": "float[arms]",  # the arm's estimate before the newest reward
    "suspicion": f"float[arms*{TESTS}]",
}


@cold
def highest_of_others(s, a):
    """Return the highest estimate of all arms but a."""
    highest = -math.inf
    for k in range(s.arms):
        if k != a:
            highest = max(highest, s.estimate[k])
    return highest


@cold
def suspect(s, a, side, x, near, far, sigma, eps):
    """Let the tests of one side of arm a take in the reward x.

    For a fall all three are negated. x is a hit if it lies above `near` plus a distance
    or below `far`.
    """
    for level in range(LEVELS):
        if level == 0:
            d = 0.5
            clean = 0.690112563242383  # Phi(d) + Phi(3) - 1
        elif level == 1:
            d = 1.0
            clean = 0.8399948480369128
        else:
            d = 2.0
            clean = 0.9758999700201907
        p0 = 1.0 - (1.0 - eps) * clean
        hit = x > near + d * sigma or x < far
        for j in range(LIFTS):
            lift = 0.3 + 0.4 * j
            ratio = 1.0 + lift * (1.0 - p0) / p0 if hit else 1.0 - lift
            k = a * TESTS + side * SIDE + level * LIFTS + j
            s.suspicion[k] = (1.0 + s.suspicion[k]) * ratio


@cold
def rings(s, a, x, sigma, beta, eps):
    """Take in the reward x of arm a, and say whether the alarm rings.

    The estimator has x already; `s.reference[a]` has not.
    """
    n = held_rewards(s, a) - 1
    if n < ENOUGH or sigma == 0.0:
        return False
    reference = s.reference[a]
    # where nothing has moved since the last scan, the others need not be asked
    if s.until[0] > 0 and a == s.leader[0] and reference > s.rival[0]:
        others = -math.inf
    else:
        others = highest_of_others(s, a)
    slack = max(beta, 0.0) + NOISE * sigma / math.sqrt(n)
    if reference >= others:
        far = slack + 3.0 * sigma
        suspect(s, a, 0, -x, slack - reference, -reference - far, sigma, eps)
        suspect(s, a, 1, x, reference + slack, reference - far, sigma, eps)
    elif x > others - sigma:
        suspect(s, a, 1, x, reference + slack, -math.inf, sigma, eps)
    else:
        suspect(s, a, 1, -math.inf, math.inf, -math.inf, sigma, eps)
    total = 0.0
    for k in range(a * TESTS, (a + 1) * TESTS):
        total += s.suspicion[k]
    return total * s.alarm_rate >= TESTS


@cold
def trust_again(s, a):
    """Forget all suspicion of arm a."""
    for k in range(a * TESTS, (a + 1) * TESTS):
        s.suspicion[k] = 0.0
    s.reference[a] = -math.inf
