"""What a certificate says where no bound is computed: 0/1 rewards, and logs of ties."""

from __future__ import annotations

import math

from ..policies import (
    EXP3,
    RUCB,
    UCB,
    CatoniUCB,
    EpsilonGreedy,
    MedEpsilonGreedy,
    MedEUCB,
    Policy,
    TrimmedEpsilonGreedy,
    TrimmedUCB,
)
from ..rules.reward_range import MeanOfRange
from .arms import Arms
from .bounded import Bounded, rate_floor
from .certificate import Budget, Certificate
from .from_log.fit import Fit
from .limits import regret_floor

WRONG_TOOL = "a median is the wrong tool for these rewards."


def policy_for(bounded: Bounded | None) -> Policy:
    """Return the policy for those who do not name one."""
    return MedEUCB() if bounded is None else bounded.policy


def worst_floor(arms: Arms, rho: float, horizon: int, bounded: Bounded | None) -> float | None:
    """Return the lower bound under the worst attack, at most the largest regret.

    None if none is known for such laws; infinite if 0/1 arms cannot be told apart.
    """
    if bounded is not None and bounded.kind == "0 or 1":
        floor = rate_floor(arms, rho, horizon)
        return floor if math.isinf(floor) else min(horizon * arms.largest_gap, floor)
    if bounded is not None or arms.common_sigma is None:
        return None
    return min(horizon * arms.largest_gap, regret_floor(arms, rho, horizon))


def nothing_promised(bounded: Bounded | None, policy: Policy, rho: float) -> str:
    """Return why there is no promise that has to do with the range of the rewards."""
    if bounded is None:
        return ""
    if rho >= bounded.nobody:
        return f"at rho = {rho:g} nobody can find the best arm from these rewards alone."
    if not isinstance(policy, MeanOfRange):
        return ""
    low, high = policy.reward_range
    if low > bounded.low or high < bounded.high:
        return (
            f"{type(policy).__name__} clips rewards to [{low:g}, {high:g}], and these lie in "
            f"[{bounded.low:g}, {bounded.high:g}]. Give it "
            f"reward_range=({bounded.low:g}, {bounded.high:g})."
        )
    wider = (low, high) != (bounded.low, bounded.high)
    bounded = bounded.for_range(low, high)
    if rho < bounded.surely:
        long_run = (
            " In the long run its regret is that of the lower bound."
            if bounded.kind == "0 or 1"
            else ""
        )
        return f"{type(policy).__name__} finds the best arm, but no bound is computed.{long_run}"
    return (
        f"rho = {rho:g} may be above the limit up to which comparing means finds the best arm, "
        f"{bounded.limit_text}{f' with reward_range=({low:g}, {high:g})' if wider else ''}."
    )


def no_theorem(policy: Policy, rho: float) -> str:
    """Return why there is no promise for a policy, whatever the arms; else empty."""
    if isinstance(policy, (MedEUCB, MedEpsilonGreedy)):
        return ""
    name = type(policy).__name__
    if isinstance(policy, RUCB):
        return (
            "RUCB forces no exploration, so an attack on the first rewards of the best arm "
            "can bury it for good."
        )
    if isinstance(policy, (TrimmedUCB, TrimmedEpsilonGreedy)):
        return (
            f"there is no theorem for {name}; trimming holds only while the attacked share of "
            "every arm stays below alpha."
        )
    if rho == 0:
        return f"certificates cover MedEUCB and MedEpsilonGreedy, not {name}."
    failed = (
        " It fails in the paper's setting."
        if isinstance(policy, (UCB, EpsilonGreedy, CatoniUCB, EXP3))
        else ""
    )
    return f"there is no theorem for {name} if a share of the rewards is corrupt.{failed}"


def has_laws(logged: Fit) -> bool:
    """Whether the log gives laws with spreads and one best median."""
    return all(arm.sigma.value > 0 for arm in logged.fitted) and all(
        arm.gap.value > 0 for j, arm in enumerate(logged.fitted) if j != logged.best
    )


def without_laws(
    logged: Fit, policy: Policy, rho: float, horizon: int, delta: float
) -> Certificate:
    """Return the certificate of a log in which medians or spreads coincide.

    It promises nothing and says what to use instead.
    """
    means = sorted((arm.mean.value for arm in logged.fitted), reverse=True)
    largest = horizon * (means[0] - means[-1])
    judged, bounded = logged.suitability, logged.bounded
    wrong = WRONG_TOOL if not judged.suited else ""
    why_not = (
        (logged.cannot_tell if isinstance(policy, MeanOfRange) or logged.tied else "")
        or nothing_promised(bounded, policy, rho)
        or no_theorem(policy, rho)
        or wrong
        or logged.cannot_tell
        or "two arms have the same median."
    )
    floor = None
    if bounded is not None and bounded.kind == "0 or 1" and not logged.cannot_tell:
        floor = rate_floor(means, rho, horizon)
        floor = floor if math.isinf(floor) else min(largest, floor)
    advice = judged.instead
    if bounded is not None and (logged.tied or bounded.unclear(rho)):
        advice = ""  # more rewards may show which arm is best, or that rho is low enough
    return Certificate(
        policy=policy,
        rho=rho,
        horizon=horizon,
        delta=delta,
        arms=len(logged.fitted),
        best="" if logged.tied else logged.fitted[logged.best].name,
        smallest_gap=means[0] - means[1],
        spread=0.0,
        guaranteed=False,
        why_not=why_not,
        bound=largest,
        largest_regret=largest,
        theorem=None,
        sharp=None,
        finite_time=None,
        budget=Budget(None, logged.malicious.value, logged.coin.value),
        bounded=bounded,
        floor_worst=floor,
        floor_far=None,
        floor_unknown=None,
        recommended=judged.policy if advice else None,
        recommended_bound=None,
        advice=advice or "log more rewards first.",
        suitability=judged,
        fit=logged,
        best_mean=means[0],
    )
