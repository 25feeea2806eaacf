"""Theorems 1 and 2 and Corollary 1: what the paper guarantees for med-E-UCB."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..bandits import Bandit
from ..policies.med_e_ucb import smallest_block
from ..validation import number, whole
from .arms import Arms, Normal, poison_rate
from .assumptions import density_floor, quantile_gaps, separation

# how large omega l^2 must be
THEOREM_1 = 2.0
THEOREM_2_PRINTED = 3.5
THEOREM_2_NEEDED = 1.5


@dataclass(frozen=True)
class UcbGuarantee:
    """What Theorem 1 or 2 says of med-E-UCB.

    Attributes
    ----------
    holds : whether the theorem applies: its conditions are met at this horizon.
    why_not : a sentence for each condition that fails.
    s, xi, l : the constants of Assumption 1 that were used.
    b, omega, block : the parameters that the bound is for; infinite if there are none.
    printed : the bound on the regret as the paper prints it.
    proved : the bound that its proof gives, with b log(T + G) in place of b log(2T),
        and for Theorem 2 by a plain union bound.
    """

    holds: bool
    why_not: tuple[str, ...]
    s: float
    xi: float
    l: float
    b: float
    omega: float
    block: float
    printed: float
    proved: float


def theorem_1(
    source: Bandit | Arms,
    rho: float,
    horizon: int,
    *,
    b: float | None = None,
    omega: float | None = None,
    block: int | None = None,
) -> UcbGuarantee:
    """Return Theorem 1: a bound on the expected regret of med-E-UCB.

    If Assumption 1 holds with (s, xi, l), rho < s, T > G, omega >= 2/l^2 and b >=
    max(omega/xi^2, 2/(s - rho)^2), then

        regret <= sum_j Delta_j [ b log(2T) + 4 omega log T / g_j^2 + 2 + 2 pi^2/3 ]

    with g_j = q_best(1/2 - s) - q_j(1/2 + s).

    Without `b` and `omega` this returns the parameters with the smallest bound, over
    all s and xi; with them it checks whether some s and xi make the theorem apply.

    **What is wrong in the paper:** the last line of the proof has b log 2 log T, which
    is not b log(2T). The statement is right, because b log(T + G) <= b log(2T) for
    T > G; `proved` uses the former.

    **When not to rely on it:** at the horizons of experiments. For the paper's arms and
    rho = 0.125 it asks for b = 156 and blocks of 15,000 rounds, and promises a regret
    below 190,000 where 4,230 is measured with b = 4. See `finite_time` for a bound that
    is near the truth.

    Examples
    --------
    >>> import ironarm as ia
    >>> g = theorem_1(
    ...     ia.GaussianBandit(range(2, 21, 2)), rho=0.125, horizon=100_000
    ... )
    >>> (
    ...     round(g.s, 3),
    ...     round(g.xi, 2),
    ...     round(g.omega),
    ...     round(g.b),
    ...     f"{g.printed:.3g}",
    ... )
    (0.238, 0.66, 68, 156, '1.88e+05')
    >>> theorem_1(
    ...     ia.GaussianBandit(range(2, 21, 2)),
    ...     rho=0.125,
    ...     horizon=100_000,
    ...     b=4,
    ...     omega=4,
    ... ).why_not[0]
    'b=4 is too small: even s = rho + sqrt(2/b) = 0.832 must be below s_max = 0.3413.'

    References
    ----------
    Guan et al. 2020, Theorem 1.
    """
    arms = Arms.of(source)
    T = whole("horizon", horizon, at_least=2)

    def bounds(
        s: float, b: np.ndarray, omega: np.ndarray, block: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        middle = _middle(arms, s, omega, T) + arms.gaps.sum() * (2 + 2 * math.pi**2 / 3)
        return arms.gaps.sum() * b * math.log(2 * T) + middle, arms.gaps.sum() * b * np.log(
            T + block
        ) + middle

    return _apply(arms, poison_rate(rho), T, THEOREM_1, bounds, b, omega, block)


def theorem_2(
    source: Bandit | Arms,
    rho: float,
    horizon: int,
    delta: float = 0.05,
    *,
    b: float | None = None,
    omega: float | None = None,
    block: int | None = None,
    printed: bool = True,
) -> UcbGuarantee:
    """Return Theorem 2: a regret bound for med-E-UCB.

    It holds with probability 1 - delta.

    As Theorem 1, but with omega >= 3.5/l^2 and, in place of 2 + 2 pi^2/3,

        e (bK/(2 delta))^(1/4) + 2K/delta + 3 + pi^2/3

    **What is wrong in the paper:** the proof multiplies by t^4 through Markov's
    inequality; but an indicator exceeds t^-4 only where it is 1, so a plain union bound
    does, and omega >= 1.5/l^2 suffices. With `printed=False` the parameters are checked
    and chosen for that. On the good event no wrong index remains, so that with l0_j =
    max(ceil(4 omega log T / gap_j^2), e^(2/b) (K/(delta (s-rho)^2))^(1/(2 b
    (s-rho)^2)), 2K/delta + 1) the regret is at most sum_j Delta_j [1 + b log(T + G) +
    l0_j]: `proved`.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(range(2, 21, 2))
    >>> printed = theorem_2(bandit, rho=0.125, horizon=100_000)
    >>> proved = theorem_2(bandit, rho=0.125, horizon=100_000, printed=False)
    >>> f"{printed.printed:.3g}", f"{proved.proved:.3g}"
    ('3.14e+05', '1.82e+05')

    References
    ----------
    Guan et al. 2020, Theorem 2.
    """
    arms = Arms.of(source)
    rho = poison_rate(rho)
    T = whole("horizon", horizon, at_least=2)
    delta = number("delta", delta, above=0, below=1)
    K = arms.count

    def bounds(
        s: float, b: np.ndarray, omega: np.ndarray, block: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        total = arms.gaps.sum()
        tail = math.e * (b * K / (2 * delta)) ** 0.25 + 2 * K / delta + 3 + math.pi**2 / 3
        stated = total * (b * math.log(2 * T) + tail) + _middle(arms, s, omega, T)
        e2 = (s - rho) ** 2
        settled = np.ceil(
            np.maximum(np.exp(2 / b) * (K / (delta * e2)) ** (1 / (2 * b * e2)), 2 * K / delta + 1)
        )
        proved = sum(
            delta_j
            * (
                1
                + b * np.log(T + block)
                + np.maximum(np.ceil(4 * omega * math.log(T) / gap**2), settled)
            )
            for delta_j, gap in zip(arms.gaps, quantile_gaps(arms, s), strict=True)
        )
        return stated, np.asarray(proved)

    return _apply(
        arms,
        rho,
        T,
        THEOREM_2_PRINTED if printed else THEOREM_2_NEEDED,
        bounds,
        b,
        omega,
        block,
        by_printed=printed,
    )


@dataclass(frozen=True)
class Corollary1:
    """What Corollary 1 asks for: rho below `threshold`, and these omega and b.

    There is one pair for a bound in expectation and one with high probability; both are
    infinite where rho is too large.
    """

    threshold: float
    omega: float
    b: float
    omega_high_probability: float
    b_high_probability: float


def corollary_1(gap: float, sigma: float, rho: float) -> Corollary1:
    """Return Corollary 1: Theorem 1 for normal arms.

    It has s = Phi(Delta_min/4 sigma) - 1/2 and xi = 1.

    Then l = phi((Delta_min/4 + 1)/sigma)/sigma, omega = 2/l^2 and b = max(omega, 2/(s -
    rho)^2).

    **What is wrong in the paper:** one omega >= 2/l^2 for both claims, while Theorem 2
    asks for 3.5/l^2 (1.5/l^2 would do). And xi = 1 is a number without a unit: measured
    in millivolts instead of volts, the same arms get another b. Prefer `theorem_1`,
    whose b does not depend on units.

    Examples
    --------
    >>> c = corollary_1(gap=2, sigma=1, rho=0.125)
    >>> round(c.threshold, 4), round(c.omega), round(c.b)
    (0.1915, 119, 453)
    """
    gap = number("gap", gap, above=0)
    sigma = number("sigma", sigma, above=0)
    rho = poison_rate(rho)
    unit = Normal(0, 1)
    s = float(unit.cdf(gap / (4 * sigma))) - 0.5
    if rho >= s:
        return Corollary1(s, math.inf, math.inf, math.inf, math.inf)
    l = float(unit.pdf((gap / 4 + 1) / sigma)) / sigma
    if l == 0:
        return Corollary1(s, math.inf, math.inf, math.inf, math.inf)
    share = 2 / (s - rho) ** 2
    return Corollary1(s, 2 / l**2, max(2 / l**2, share), 3.5 / l**2, max(3.5 / l**2, share))


Bounds = Callable[[float, np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def _middle(arms: Arms, s: float, omega: np.ndarray, T: int) -> np.ndarray:
    """Return sum_j Delta_j 4 omega log T / gap_j(s)^2."""
    return 4 * omega * math.log(T) * float((arms.gaps / quantile_gaps(arms, s) ** 2).sum())


def _apply(
    arms: Arms,
    rho: float,
    T: int,
    factor: float,
    bounds: Bounds,
    b: float | None,
    omega: float | None,
    block: int | None,
    by_printed: bool = True,
) -> UcbGuarantee:
    room = separation(arms)
    if not room.assumption_1(rho):
        reason = (
            f"Assumption 1 needs rho below s_max = {room.s_max:.4f}, got {rho:g}."
            if room.densities
            else "Assumption 1 needs laws with a density."
        )
        return UcbGuarantee(
            False,
            (reason,),
            math.nan,
            math.nan,
            math.nan,
            math.inf,
            math.inf,
            math.inf,
            math.inf,
            math.inf,
        )
    if b is None or omega is None:
        return _smallest(arms, rho, T, factor, bounds, room.s_max, by_printed)
    b, omega = number("b", b, above=0), number("omega", omega, above=0)
    G = float(
        smallest_block(arms.count, b, 1000) if block is None else whole("block", block, at_least=2)
    )
    return _check(arms, rho, T, factor, bounds, room.s_max, b, omega, G)


def _check(
    arms: Arms,
    rho: float,
    T: int,
    factor: float,
    bounds: Bounds,
    s_max: float,
    b: float,
    omega: float,
    G: float,
) -> UcbGuarantee:
    """Say whether the theorem applies to given parameters."""
    why_not = []
    needed = arms.count * math.ceil(b * math.log(G))
    if needed > G:
        why_not.append(f"block={G:g} is too small: it must hold K ceil(b log G) = {needed} rounds.")
    if G >= T:
        why_not.append(f"the horizon {T:,} must be larger than the block, {G:,.0f}.")
    # b fixes the smallest s and xi, and both make the bound worse as they grow
    first, xi = rho + math.sqrt(2 / b), math.sqrt(omega / b)
    if first >= s_max:
        why_not.append(
            f"b={b:g} is too small: even s = rho + sqrt(2/b) = {first:.3f} must be below s_max = "
            f"{s_max:.4f}."
        )
        return UcbGuarantee(
            False, tuple(why_not), math.nan, xi, math.nan, b, omega, G, math.inf, math.inf
        )
    tried = np.linspace(first, s_max, 64, endpoint=False)
    floors = np.array([float(density_floor(arms, s, xi)) for s in tried])
    fits = np.flatnonzero(omega * floors**2 >= factor)
    if len(fits) == 0:
        least = factor / floors.max() ** 2 if floors.max() > 0 else math.inf
        why_not.append(
            f"omega={omega:g} is too small for b={b:g}: it must be at least {factor:g}/l^2 = "
            f"{least:.3g}, with l the density within xi = sqrt(omega/b) = {xi:.3g}."
        )
        return UcbGuarantee(
            False,
            tuple(why_not),
            float(first),
            xi,
            float(floors.max()),
            b,
            omega,
            G,
            math.inf,
            math.inf,
        )
    s = float(tried[fits[0]])
    printed, proved = bounds(s, np.array(b), np.array(omega), np.array(G))
    return UcbGuarantee(
        not why_not,
        tuple(why_not),
        s,
        xi,
        float(floors[fits[0]]),
        b,
        omega,
        G,
        float(printed),
        float(proved),
    )


def _smallest(
    arms: Arms, rho: float, T: int, factor: float, bounds: Bounds, s_max: float, by_printed: bool
) -> UcbGuarantee:
    """Return the parameters with the smallest bound.

    It searches over s, and for each s over xi, on grids refined around their best
    point.
    """
    from scipy.optimize import minimize_scalar

    def parameters(s: float, xi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(divide="ignore", over="ignore"):
            omega = factor / density_floor(arms, s, xi) ** 2
            return np.maximum(omega / xi**2, 2 / (s - rho) ** 2), omega

    def value(s: float, xi: np.ndarray) -> np.ndarray:
        b, omega = parameters(s, xi)
        with np.errstate(over="ignore", invalid="ignore"):
            # b log(2T) stands in for b log(T + G) while searching: G is not known
            # before b is
            stated, proved = bounds(s, b, omega, np.array(float(T)))
        return np.nan_to_num(stated if by_printed else proved, nan=math.inf)

    widths = arms.spread * np.geomspace(1e-3, 10, 160)

    def best_xi(s: float, refine: bool = True) -> tuple[float, float]:
        values = value(s, widths)
        i = int(np.argmin(values))
        if not refine:
            return float(widths[i]), float(values[i])
        around = np.log(widths[max(0, i - 1)]), np.log(widths[min(len(widths) - 1, i + 1)])
        fine = minimize_scalar(
            lambda x: float(value(s, np.array(math.exp(x)))),
            bounds=around,
            method="bounded",
            options={"xatol": 1e-7},
        )
        return (
            (math.exp(fine.x), float(fine.fun))
            if fine.fun <= values[i]
            else (float(widths[i]), float(values[i]))
        )

    shares = rho + (s_max - rho) * np.linspace(0.02, 0.98, 49)
    values = [best_xi(s, refine=False)[1] for s in shares]
    i = int(np.argmin(values))
    low = shares[i - 1] if i > 0 else rho + 1e-9 * (s_max - rho)
    high = shares[i + 1] if i + 1 < len(shares) else s_max - 1e-9 * (s_max - rho)
    fine = minimize_scalar(
        lambda s: best_xi(s)[1], bounds=(low, high), method="bounded", options={"xatol": 1e-7}
    )
    s = float(fine.x) if fine.fun <= values[i] else float(shares[i])
    xi = best_xi(s)[0]
    b, omega = (float(x) for x in parameters(s, np.array(xi)))
    if not math.isfinite(b):
        return UcbGuarantee(
            False,
            ("a density vanishes near a quantile that Assumption 1 needs.",),
            s,
            xi,
            0.0,
            math.inf,
            math.inf,
            math.inf,
            math.inf,
            math.inf,
        )
    G = float(smallest_block(arms.count, b, 2))
    why_not = (
        ()
        if T > G
        else (f"the horizon {T:,} must be larger than the block that b={b:.4g} needs, {G:,.0f}.",)
    )
    printed, proved = bounds(s, np.array(b), np.array(omega), np.array(G))
    return UcbGuarantee(
        not why_not,
        why_not,
        s,
        xi,
        float(density_floor(arms, s, xi)),
        b,
        omega,
        G,
        float(printed),
        float(proved),
    )
