"""Theorems 1 and 2: what the paper guarantees for med-E-UCB."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..bandits import Bandit
from ..policies.med_e_ucb import smallest_block
from ..validation import number, whole
from .arms import Arms, poison_rate
from .assumptions import Separation, density_floor, quantile_gaps, separation
from .ucb_parameters import Choices, shortest
from .unmet import Unmet

# how large omega l^2 must be
THEOREM_1 = 2.0
THEOREM_2_PRINTED = 3.5
THEOREM_2_NEEDED = 1.5


@dataclass(frozen=True)
class UcbGuarantee:
    """What Theorem 1 or 2 says about med-E-UCB.

    Attributes
    ----------
    why_not : the conditions that fail at this horizon; none if the theorem applies.
    s, xi, l : the constants of Assumption 1 that were used.
    b, omega, block : the parameters that the bound is for; infinite if there are none.
    printed : the bound on the regret as the paper prints it.
    proved : the bound that its proof gives, with b log(T + G) in place of b log(2T),
        and for Theorem 2 by a plain union bound. A theorem that does not apply bounds
        nothing: both are infinite then, whatever its formula would give.
    """

    why_not: tuple[Unmet, ...]
    s: float = math.nan
    xi: float = math.nan
    l: float = math.nan
    b: float = math.inf
    omega: float = math.inf
    block: float = math.inf
    printed: float = math.inf
    proved: float = math.inf

    def __post_init__(self) -> None:
        if self.why_not:
            object.__setattr__(self, "printed", math.inf)
            object.__setattr__(self, "proved", math.inf)

    @property
    def holds(self) -> bool:
        """Whether the theorem applies: its conditions are met at this horizon."""
        return not self.why_not


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
    all s and xi whose blocks are shorter than the horizon; with them it checks whether
    some s and xi make the theorem apply. Where it does not apply there is no bound:
    `printed` and `proved` are infinite, and `why_not` says which condition fails.

    **What is wrong in the paper:** the last line of the proof has b log 2 log T, which
    is not b log(2T). The statement is right, because b log(T + G) <= b log(2T) for
    T > G; `proved` uses the former.

    **When not to rely on it:** at the horizons of experiments. For the paper's arms and
    rho = 0.125 its smallest bound, 190,000, is for b = 156 and blocks of 15,000 rounds;
    with b = 4 the measured regret is 4,230. At rho = 0.3 it does not apply before round
    138,000. See `finite_time` for a realistic bound.

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
    >>> g = theorem_1(ia.GaussianBandit(range(2, 21, 2)), rho=0.3, horizon=100_000)
    >>> g.holds, g.printed, g.why_not[0].short
    (False, inf, 'T <= G')

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

    Like Theorem 1, but with omega >= 3.5/l^2 and, instead of 2 + 2 pi^2/3,

        e (bK/(2 delta))^(1/4) + 2K/delta + 3 + pi^2/3

    **What is wrong in the paper:** the proof multiplies by t^4 through Markov's
    inequality. But an indicator exceeds t^-4 only where it is 1, so a plain union bound
    is enough, and omega >= 1.5/l^2 suffices. With `printed=False` the parameters are
    checked and chosen for that. On the good event no wrong index remains. So, with

        l0_j = max(ceil(4 omega log T / gap_j^2), 2K/delta + 1,
                   e^(2/b) (K/(delta (s-rho)^2))^(1/(2 b (s-rho)^2))),

    the regret is at most sum_j Delta_j [1 + b log(T + G) + l0_j]: `proved`.

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


def least_b(source: Bandit | Arms, rho: float, factor: float = THEOREM_1) -> float:
    """Return the smallest b that Theorem 1 allows on these arms, with any omega.

    It is infinite beyond the limit on rho. Blocks grow with b, so the horizon must be
    longer than the blocks of this b for the theorem to apply at all. For Theorem 2 the
    `factor` is `THEOREM_2_PRINTED`.

    >>> import ironarm as ia
    >>> round(least_b(ia.GaussianBandit(range(2, 21, 2)), rho=0.125), 1)
    154.1
    """
    arms, rho = Arms.of(source), poison_rate(rho)
    room = separation(arms)
    if not room.assumption_1(rho):
        return math.inf
    return Choices(arms, rho, room.s_max, factor).least_b.b


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
        return UcbGuarantee((_no_assumption(room, rho),))
    if b is None or omega is None:
        return _smallest(Choices(arms, rho, room.s_max, factor), T, bounds, by_printed)
    b, omega = number("b", b, above=0), number("omega", omega, above=0)
    G = float(
        smallest_block(arms.count, b, 1000) if block is None else whole("block", block, at_least=2)
    )
    return _check(arms, rho, T, factor, bounds, room.s_max, b, omega, G)


def _no_assumption(room: Separation, rho: float) -> Unmet:
    if not room.densities:
        return Unmet("no density", "Assumption 1 needs laws with a density.")
    return Unmet(
        f"rho >= {room.s_max:.4f}",
        f"Assumption 1 needs rho below s_max = {room.s_max:.4f}, got {rho:g}.",
    )


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
        why_not.append(
            Unmet(
                f"G < {needed}",
                f"block={G:g} is too small: it must hold K ceil(b log G) = {needed} rounds.",
            )
        )
    if G >= T:
        why_not.append(
            Unmet("T <= G", f"the horizon, {T:,}, must be longer than a block, {G:,.0f}.")
        )
    # b fixes the smallest s and xi, and both make the bound worse as they grow
    first, xi = rho + math.sqrt(2 / b), math.sqrt(omega / b)
    if first >= s_max:
        least = 2 / (s_max - rho) ** 2
        why_not.append(
            Unmet(
                "b too small",
                f"b={b:g} is too small: on these arms it must be above 2/(s_max - rho)^2 = "
                f"{least:,.4g}, with s_max = {s_max:.4f}.",
            )
        )
        return UcbGuarantee(tuple(why_not), xi=xi, b=b, omega=omega, block=G)
    tried = np.linspace(first, s_max, 64, endpoint=False)
    floors = np.array([float(density_floor(arms, s, xi)) for s in tried])
    fits = np.flatnonzero(omega * floors**2 >= factor)
    if len(fits) == 0:
        least = factor / floors.max() ** 2 if floors.max() > 0 else math.inf
        why_not.append(
            Unmet(
                "omega too small",
                f"omega={omega:g} is too small for b={b:g}: it must be at least {factor:g}/l^2 = "
                f"{least:.3g}, with l the density within xi = sqrt(omega/b) = {xi:.3g}.",
            )
        )
        return UcbGuarantee(tuple(why_not), float(first), xi, float(floors.max()), b, omega, G)
    s = float(tried[fits[0]])
    printed, proved = bounds(s, np.array(b), np.array(omega), np.array(G))
    l = float(floors[fits[0]])
    return UcbGuarantee(tuple(why_not), s, xi, l, b, omega, G, float(printed), float(proved))


def _smallest(choices: Choices, T: int, bounds: Bounds, by_printed: bool) -> UcbGuarantee:
    """Return the parameters with the smallest bound at this horizon."""

    def value(s: float, b: np.ndarray, omega: np.ndarray) -> np.ndarray:
        # b log(2T) stands in for b log(T + G) while searching: G is not known
        # before b is
        stated, proved = bounds(s, b, omega, np.array(float(T)))
        return stated if by_printed else proved

    found = shortest(choices, value, T)
    s, xi, b, omega = found.s, found.xi, found.b, found.omega
    if not math.isfinite(b):
        nowhere = Unmet("l = 0", "a density vanishes near a quantile that Assumption 1 needs.")
        return UcbGuarantee((nowhere,), s, xi, 0.0)
    G = choices.block(found)
    why_not = () if T > G else (_too_short(choices, T),)
    printed, proved = bounds(s, np.array(b), np.array(omega), np.array(G))
    l = float(density_floor(choices.arms, s, xi))
    return UcbGuarantee(why_not, s, xi, l, b, omega, G, float(printed), float(proved))


def _too_short(choices: Choices, T: int) -> Unmet:
    least = choices.least_b
    return Unmet(
        "T <= G",
        f"the horizon, {T:,}, must be longer than a block, and even the smallest b that the "
        f"theorem allows on these arms, {least.b:,.4g}, needs blocks of "
        f"{choices.block(least):,.0f} rounds.",
    )
