"""What ironarm's theory proves about a policy in a run; see `theory.certify`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ...errors import IronarmError
from ...policies import MedEpsilonGreedy, MedEUCB, Policy
from ...theory import (
    Arms,
    exponent_on,
    med_e_ucb_bound,
    med_epsilon_greedy_bound,
    regret_floor,
)
from .study import Run


@dataclass(frozen=True)
class Proven:
    """What is proven of a policy's mean final regret, under any attack of the model.

    It is at most `bound`, grows as T to the power `exponent` (0: logarithmically), and
    forced and random pulls cost `forced` of it. `floor` is the least possible for any
    policy; None if that is not known.
    """

    bound: float
    exponent: float
    forced: float
    floor: float | None


@lru_cache(maxsize=1000)
def proven(policy: Policy, run: Run, rho: float) -> Proven | None:
    """Return what is proven about a policy in a run; None if theory does not cover it.

    It covers the paper's two policies, under attacks whose coin is independent of the
    clean reward, on arms that stay as they are, with rewards that are not late.
    """
    if (
        not run.attack_at(rho).within_model
        or len(run.bandit.segments) > 1
        or run.sources is not None
        or run.delay is not None
    ):
        return None
    T = run.horizon
    try:
        arms = Arms.of(run.bandit)
        if type(policy) is MedEUCB:  # a subclass may do anything
            block = policy.block_for(arms.count)
            bound = med_e_ucb_bound(arms, rho, T, b=policy.b, omega=policy.omega, block=block)
            exponent = exponent_on(arms, rho, b=policy.b, omega=policy.omega)
        elif type(policy) is MedEpsilonGreedy:
            bound = med_epsilon_greedy_bound(arms, rho, T, c=policy.c)
            exponent = exponent_on(arms, rho, c=policy.c)
        else:
            return None
        floor = None if arms.common_sigma is None else regret_floor(arms, rho, T)
    except IronarmError:  # laws without a unique best median, say
        return None
    return Proven(bound.total, exponent, bound.forced, floor)
