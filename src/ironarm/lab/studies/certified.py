"""What ironarm's theory proves about a policy in a run; see `theory.certify`."""

from __future__ import annotations

from functools import lru_cache

from ...errors import IronarmError
from ...policies import MedEpsilonGreedy, MedEUCB, Policy
from ...theory import Certificate, certify
from .study import Run


@lru_cache(maxsize=1000)
def certificate(policy: Policy, run: Run, rho: float) -> Certificate | None:
    """Return the certificate of a policy in a run; None if theory does not cover it.

    It covers the paper's two policies, under attacks whose coin is independent of the
    clean reward, on arms that stay as they are, with rewards that are not late.
    """
    covered = (
        isinstance(policy, (MedEUCB, MedEpsilonGreedy))
        and run.attack_at(rho).within_model
        and len(run.bandit.segments) == 1
        and run.sources is None
        and run.delay is None
    )
    if not covered:
        return None
    try:
        found = certify(run.bandit, rho, policy, run.horizon)
    except IronarmError:  # laws without a unique best median, say
        return None
    return found if found.guaranteed else None


def proven_bound(policy: Policy, run: Run, rho: float) -> float | None:
    """Return the proven bound on a policy's mean final regret; None without one."""
    found = certificate(policy, run, rho)
    return None if found is None else found.bound
