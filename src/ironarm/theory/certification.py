"""`certify`: from arms, rho, a policy and a horizon to a certificate."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..bandits import Bandit, ReplayBandit
from ..errors import InvalidInput
from ..frames import is_frame
from ..policies import UCB, MedEpsilonGreedy, MedEUCB, Policy
from ..policy import require_policy
from ..validation import number, whole
from .arms import Arms, poison_rate
from .assumptions import separation
from .bounded import Bounded, bounded_rewards
from .by_source import with_sources
from .certificate import Budget, Certificate, SharpPart
from .finite_time import FiniteTimeBound, med_e_ucb_bound, med_epsilon_greedy_bound
from .from_log.fit import Fit, fit
from .limits import median_threshold, regret_floor, thresholds, unknown_share_floor
from .sharp import (
    exponent_on,
    needed_b,
    needed_c,
    sharp_b,
    sharp_c,
)
from .suited import Suitability, suitability
from .theorem_part import theorem_part
from .without_bounds import (
    WRONG_TOOL,
    has_laws,
    no_theorem,
    nothing_promised,
    policy_for,
    without_laws,
    worst_floor,
)
from .wording import at_most


def certify(
    bandit: Bandit | str | Path | Any,
    rho: float,
    policy: Policy | None = None,
    horizon: int = 100_000,
    delta: float = 0.05,
    sources: int | None = None,
) -> Certificate:
    """Say what theory promises a policy on these arms when rewards are corrupt.

    How much corruption can they take, which parameters are needed, what regret is
    promised, and is that promise worth anything at this horizon?

    The promise is ironarm's own bound (`theory.finite_time`), which holds for the
    parameters as they are, under any attack whose coin is independent of the clean
    reward; the paper's theorem is shown beside it, with what it asks for. A bound above
    the largest possible regret is called vacuous.

    **When not to trust it:** if the laws are wrong. The certificate is about the laws
    it is given; from data it takes normal laws with the estimated medians and spreads,
    and shows intervals. It covers `MedEUCB` and `MedEpsilonGreedy`; for other policies
    it says why there is no promise. For rewards of 0 and 1 it says first whether
    anybody can find the best arm at this rho (`theory.limit_on_rho`).

    Parameters
    ----------
    bandit : the arms, with a unique best mean; for logged rewards a `ReplayBandit`, or
        a data frame or the path of a CSV file with the columns `arm` and `reward`.
    rho : probability that a reward is corrupt, 0 <= rho < 1/2.
    policy : with its parameters; None for `MedEUCB()`, or for `KLUCB` where means of
        rewards in a range are to be compared, as for rewards of 0 and 1.
    horizon : rounds.
    delta : the theorems that hold with high probability hold with probability 1 -
        delta.
    sources : how many sources send the rewards, if each reward says which. Then
        `by_source` says which share of them may be hostile; everything else is about an
        independent coin.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=range(2, 21, 2), sigma=1.0)
    >>> certificate = ia.certify(
    ...     bandit, rho=0.125, policy=ia.MedEUCB(), horizon=100_000
    ... )
    >>> (
    ...     certificate.guaranteed,
    ...     round(certificate.bound),
    ...     certificate.theorem.applies,
    ... )
    (True, 4245, False)
    >>> print(certificate.advice)
    MedEUCB(b=2.6): an expected regret of at most 2,773.

    References
    ----------
    Guan, Ji, Bucci, Hu, Palombo, Liston, Liang, Robust stochastic bandit algorithms
    under probabilistic unbounded adversarial attack, AAAI 2020.
    """
    if sources is not None:
        return with_sources(certify(bandit, rho, policy, horizon, delta), sources)
    if policy is not None:
        require_policy(policy)
    rho = poison_rate(rho)
    horizon = whole("horizon", horizon, at_least=2, below=2**48)
    delta = number("delta", delta, at_least=1e-12, below=1)
    if isinstance(bandit, (str, Path, ReplayBandit)) or is_frame(bandit):
        logged = fit(bandit, rho=rho)
        policy = policy or policy_for(logged.bounded)
        if not has_laws(logged):
            return without_laws(logged, policy, rho, horizon, delta)
        return _of_laws(_Laws.of_log(logged), rho, policy, horizon, delta)
    if not isinstance(bandit, Bandit):
        raise InvalidInput(
            "bandit must be a bandit, for example ia.GaussianBandit(means=[0, 1]), a data frame "
            f"or the path of a CSV file, got {bandit!r}."
        )
    laws = _Laws.of(bandit, rho)
    return _of_laws(laws, rho, policy or policy_for(laws.bounded), horizon, delta)


@dataclass(frozen=True)
class _Laws:
    """The laws of arms: given, or estimated from logged rewards."""

    arms: Arms
    bounded: Bounded | None
    judged: Suitability
    name: str
    """Of the best arm."""
    logged: Fit | None = None

    @classmethod
    def of(cls, bandit: Bandit, rho: float) -> _Laws:
        arms = Arms.of(bandit)
        return cls(arms, bounded_rewards(arms), suitability(arms, rho), f"arm {arms.best}")

    @classmethod
    def of_log(cls, logged: Fit) -> _Laws:
        name = logged.fitted[logged.best].name
        return cls(logged.arms, logged.bounded, logged.suitability, name, logged)


def _of_laws(laws: _Laws, rho: float, policy: Policy, horizon: int, delta: float) -> Certificate:
    arms, bounded, judged, logged = laws.arms, laws.bounded, laws.judged, laws.logged
    theorem = theorem_part(arms, rho, policy, horizon, delta)
    sharp = _sharp(arms, rho, policy)
    finite = _finite_time(arms, rho, policy, horizon)
    largest = horizon * arms.largest_gap
    sigma = arms.common_sigma
    budget = Budget(
        thresholds(arms.smallest_gap, sigma).corollaries if sigma else None,
        separation(arms).s_max,
        median_threshold(arms),
    )
    bound = min(
        largest,
        finite.total if finite else math.inf,
        theorem.bound if theorem else math.inf,
    )
    why_not = nothing_promised(bounded, policy, rho) or _why_not(
        policy, judged, budget, rho, bound < largest, logged
    )
    recommended, recommended_bound, advice = _recommend(arms, rho, horizon, judged, budget, bounded)
    if logged and logged.cannot_tell and judged.suited:
        recommended, recommended_bound, advice = None, None, "log more rewards first."
    elif finite and sharp and recommended_bound is not None and finite.total < recommended_bound:
        if sharp.met:
            recommended, recommended_bound, advice = policy, finite.total, f"keep {_short(policy)}."
        else:
            advice += (
                " That is more than the chosen policy's at this horizon, and less in the long run."
            )
    # lower bounds for normal laws say nothing of rewards in a range
    normal = sigma is not None and bounded is None
    far, unknown = _normal_floors(arms, rho, horizon) if normal else (None, None)
    certificate = Certificate(
        policy=policy,
        rho=rho,
        horizon=horizon,
        delta=delta,
        arms=arms.count,
        best=laws.name,
        smallest_gap=bounded.gap if logged and bounded else arms.smallest_gap,
        spread=arms.spread,
        guaranteed=not why_not,
        why_not=why_not,
        bound=bound,
        largest_regret=largest,
        theorem=theorem,
        sharp=sharp,
        finite_time=finite,
        budget=budget,
        bounded=bounded,
        floor_worst=worst_floor(arms, rho, horizon, bounded),
        floor_far=far,
        floor_unknown=unknown,
        recommended=recommended,
        recommended_bound=recommended_bound,
        advice=advice,
        suitability=judged,
        fit=logged,
        best_mean=float(arms.means[arms.best]),
    )
    if judged.suited:
        return certificate
    # medians converge to another arm: nothing that is computed from their order holds
    return replace(certificate, theorem=None, sharp=None, finite_time=None, bound=largest)


def _normal_floors(arms: Arms, rho: float, horizon: int) -> tuple[float, float]:
    """Return the lower bounds for normal laws: with a known share, and an unknown one.

    The second is infinite if no policy stands every share on these arms.
    """
    largest = horizon * arms.largest_gap
    unknown = unknown_share_floor(arms, rho, horizon)
    return (
        min(largest, regret_floor(arms, rho, horizon, far=True)),
        min(largest, unknown) if math.isfinite(unknown) else unknown,
    )


def _sharp(arms: Arms, rho: float, policy: Policy) -> SharpPart | None:
    if isinstance(policy, MedEUCB):
        needed = needed_b(arms, rho, policy.omega)
        return SharpPart(
            "b",
            policy.b,
            needed,
            sharp_b(rho),
            policy.b >= needed,
            exponent_on(arms, rho, b=policy.b, omega=policy.omega),
        )
    if isinstance(policy, MedEpsilonGreedy):
        needed = needed_c(arms, rho)
        return SharpPart(
            "c",
            policy.c,
            needed,
            sharp_c(rho),
            policy.c > needed,
            exponent_on(arms, rho, c=policy.c),
        )
    return None


def _finite_time(arms: Arms, rho: float, policy: Policy, T: int) -> FiniteTimeBound | None:
    if isinstance(policy, MedEUCB):
        return med_e_ucb_bound(
            arms, rho, T, b=policy.b, omega=policy.omega, block=policy.block_for(arms.count)
        )
    if isinstance(policy, MedEpsilonGreedy):
        return med_epsilon_greedy_bound(arms, rho, T, c=policy.c)
    return None


def _why_not(
    policy: Policy,
    judged: Suitability,
    budget: Budget,
    rho: float,
    useful: bool,
    logged: Fit | None,
) -> str:
    """Return why there is no promise, or nothing if there is one."""
    if reason := no_theorem(policy, rho):
        return reason
    if not judged.suited:
        return WRONG_TOOL
    if logged is not None and logged.cannot_tell:
        return logged.cannot_tell
    if rho >= budget.coin:
        return f"rho = {rho:g} is beyond what medians can take on these arms, {budget.coin:.4f}."
    if logged is not None and rho >= logged.coin.low:
        return (
            f"the data cannot tell whether these arms can take rho = {rho:g}: the limit is "
            f"{logged.coin}. Log more."
        )
    if not useful:
        return (
            "every bound is vacuous at this horizon: it exceeds the largest possible regret, the "
            "horizon times the largest gap."
        )
    return ""


def _recommend(
    arms: Arms, rho: float, T: int, judged: Suitability, budget: Budget, bounded: Bounded | None
) -> tuple[Policy | None, float | None, str]:
    """Return the policy with the smallest bound among some that meet the conditions."""
    beyond_means = bounded is not None and rho >= bounded.limit
    medians_do = judged.suited and rho < budget.coin
    if judged.instead and not (beyond_means and medians_do):
        if bounded is not None and bounded.unclear(rho):
            return None, None, "log more rewards first."
        return judged.policy, None, judged.instead
    if rho == 0:
        policy: Policy = UCB(sigma=_two_digits(arms.spread))
        return (
            policy,
            None,
            f"{_short(policy)}: without any corruption means are better than medians. As "
            "insurance against some, take a certificate for that rho.",
        )
    if rho >= budget.coin:
        return (
            None,
            None,
            f"nothing: bring rho below {budget.coin:.4f}, or compare arms whose gaps are larger.",
        )
    omega = _two_digits(4 * arms.spread**2)
    candidates: list[tuple[float, Policy]] = []
    for factor in (1.05, 1.5, 2.5):
        # for a tiny rho any positive b is enough
        b = _two_digits(factor * (needed_b(arms, rho, omega) or 1e-4))
        first = MedEUCB(b=b, omega=omega)
        candidates.append((med_e_ucb_bound(arms, rho, T, b=b, omega=omega).total, first))
        c = _two_digits(factor * needed_c(arms, rho))
        candidates.append(
            (med_epsilon_greedy_bound(arms, rho, T, c=c).total, MedEpsilonGreedy(c=c))
        )
    bound, best = min(candidates, key=lambda pair: pair[0])
    if bound < T * arms.largest_gap:
        return best, bound, f"{_short(best)}: an expected regret of at most {at_most(bound)}."
    return (
        best,
        bound,
        f"{_short(best)}, whose regret is logarithmic in the long run; at this horizon nothing "
        "can be promised on these arms.",
    )


def _two_digits(x: float) -> float:
    """Round up to two digits, so that a condition that is met stays met."""
    if x <= 0 or not math.isfinite(x):
        return x
    step = 10.0 ** (math.floor(math.log10(x)) - 1)
    return float(f"{math.ceil(x / step - 1e-9) * step:.2g}")


def _short(policy: Policy) -> str:
    """Return a policy with the parameters that differ from their defaults."""
    default = type(policy)()
    changed = {
        name: value for name, value in policy.parameters.items() if value != getattr(default, name)
    }
    text = ", ".join(f"{name}={value:g}" for name, value in changed.items())
    return f"{type(policy).__name__}({text})"
