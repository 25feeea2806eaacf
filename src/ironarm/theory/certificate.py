"""What theory promises a policy on given arms, as a short page and as plain data."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import Any

from ..files import json_ready
from ..notebook import html_table
from ..policies import Policy
from .finite_time import FiniteTimeBound
from .from_data import Fit
from .suitability import Suitability

WIDTH = 110
LABEL = 16


@dataclass(frozen=True)
class TheoremPart:
    """What the paper's theorem says about the chosen parameters.

    `bound` is for those if the theorem applies, else for the required ones.
    """

    name: str
    applies: bool
    why_not: tuple[str, ...]
    required: dict[str, float]
    chosen: dict[str, float]
    bound: float
    bound_printed: float
    high_probability_bound: float
    vacuous: bool
    printed_note: str = ""


@dataclass(frozen=True)
class SharpPart:
    """The sharp condition on b or c for these arms.

    `needed` is under the worst attack, `needed_far` for far-away outliers. The regret
    grows as T^`exponent` if the condition is not met.
    """

    parameter: str
    chosen: float
    needed: float
    needed_far: float
    met: bool
    exponent: float


@dataclass(frozen=True)
class Budget:
    """The largest rho, exclusive.

    `corollaries` is by the paper's corollaries, for normal arms with one sigma;
    `malicious` against an adversary who sees the clean rewards; `coin` against an
    independent coin.
    """

    corollaries: float | None
    malicious: float
    coin: float


@dataclass(frozen=True, eq=False)
class Certificate:
    """What theory guarantees for given laws, rho and parameters, and what it does not.

    Made by `ia.certify`; printing it shows a page.

    Attributes
    ----------
    policy, rho, horizon, delta : what was asked.
    guaranteed : whether some bound on the regret holds for this policy and is below the
        largest possible regret.
    why_not : the reason if there is none, a sentence.
    bound : the smallest bound on the expected regret that holds under an independent
        coin, at most the largest possible regret.
    largest_regret : the horizon times the largest gap: a bound above it is vacuous.
    theorem : what the paper's theorem says, or None for a policy without one.
    sharp : the sharp condition on b or c, or None.
    finite_time : ironarm's own bound, or None.
    budget : how much poison these arms can take.
    floor_worst, floor_far : lower bounds for any policy, under the worst attack and
        under far-away outliers; None unless the arms are normal with one sigma.
    recommended, recommended_bound : a policy with parameters, and its bound on the
        expected regret; None if nothing helps.
    advice : one sentence about the recommendation.
    suitability : whether medians suit the rewards.
    fit : the estimates, if the certificate was made from data.
    """

    policy: Policy
    rho: float
    horizon: int
    delta: float
    arms: int
    best: str
    smallest_gap: float
    spread: float
    guaranteed: bool
    why_not: str
    bound: float
    largest_regret: float
    theorem: TheoremPart | None
    sharp: SharpPart | None
    finite_time: FiniteTimeBound | None
    budget: Budget
    floor_worst: float | None
    floor_far: float | None
    recommended: Policy | None
    recommended_bound: float | None
    advice: str
    suitability: Suitability
    fit: Fit | None = None

    def __str__(self) -> str:
        head = self._head()
        if self.fit is not None:
            head += ["", str(self.fit)]
        parts = [_paragraph(label, text) for label, text in self._parts()]
        return "\n".join([*head, "", *parts])

    def _repr_html_(self) -> str:
        title, about = self._head()
        logged = "" if self.fit is None else self.fit._repr_html_()
        page = html_table((), self._parts(), caption=f"{title}: {about}", texts=(0, 1))
        return page + logged

    def _head(self) -> list[str]:
        return [
            f"Certificate for {self.policy}",
            f"{self.arms} arms, best {self.best}, smallest gap "
            f"{self.smallest_gap:.4g}{self._in_sigmas()}; rho = {self.rho:g}, {self.horizon:,} "
            "rounds",
        ]

    def _parts(self) -> list[tuple[str, str]]:
        """Return the paragraphs that have something to say, with their labels."""
        parts = [
            ("promise", self._promise()),
            ("rewards", self._rewards()),
            ("paper", self._paper()),
            ("growth", self._growth()),
            ("poison budget", self._budget()),
        ]
        parts += [("lower bound", self._floor()), ("recommended", self.advice)]
        return [(label, text) for label, text in parts if text]

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as plain data for JSON.

        Infinite numbers are the text "inf", what does not exist is None.
        """
        return {name: plain(getattr(self, name)) for name in self.__dataclass_fields__}

    def _in_sigmas(self) -> str:
        return (
            f" = {self.smallest_gap / self.spread:.3g} sigma"
            if self.spread > 0 and self.budget.corollaries is not None
            else ""
        )

    def _promise(self) -> str:
        if not self.guaranteed:
            return f"none: {self.why_not}"
        estimated = (
            "" if self.fit is None else " This is for normal laws that are exactly as estimated."
        )
        limit = (
            f"an expected regret of at most {_figure(self.bound)}, of "
            f"{_figure(self.largest_regret)} possible"
        )
        return (
            f"{limit}, under any attack whose coin is independent of the clean reward.{estimated}"
        )

    def _rewards(self) -> str:
        # what to do instead is the recommendation
        judged = self.suitability
        return _sentence(judged.remark)

    def _paper(self) -> str:
        part = self.theorem
        if part is None:
            return ""
        wanted = ", ".join(
            f"{name} {'above' if name == 'c' else 'at least'} {_figure(value)}"
            for name, value in part.required.items()
        )
        vacuous = ", which is vacuous: more than the largest possible" if part.vacuous else ""
        likely = f"with probability {1 - self.delta:g} it is {_figure(part.high_probability_bound)}"
        beside = (
            f" As printed the bound is {_figure(part.bound_printed)}{part.printed_note}; {likely}."
        )
        if part.applies:
            return (
                f"{part.name} applies: an expected regret of at most "
                f"{_figure(part.bound)}{vacuous}. It asks for {wanted}.{beside}"
            )
        if not all(map(math.isfinite, part.required.values())):
            return f"{part.name} does not apply: {' '.join(part.why_not)}"
        return (
            f"{part.name} does not apply: {' '.join(part.why_not)} It would ask for {wanted}, and "
            f"then promise {_figure(part.bound)}{vacuous}.{beside}"
        )

    def _growth(self) -> str:
        part = self.sharp
        if part is None:
            return ""
        if math.isinf(part.needed):
            return (
                f"no {part.parameter} is enough: under the worst attack medians do not find the "
                "best arm at this rho."
            )
        least = "above" if part.parameter == "c" else "of at least"
        need = (
            f"these arms need {part.parameter} {least} {part.needed:.4g} under the worst attack, "
            f"{part.needed_far:.4g} if outliers are far away"
        )
        if part.met:
            return f"logarithmic: {part.parameter} = {part.chosen:g}, and {need}."
        return (
            f"as T^{part.exponent:.2f}, up to factors of log T: {part.parameter} = "
            f"{part.chosen:g} is too small; {need}."
        )

    def _budget(self) -> str:
        rows = (
            []
            if self.budget.corollaries is None
            else [f"{self.budget.corollaries:.4f} by the paper's corollaries"]
        )
        optimal = (
            "; nobody can do better"
            if self.budget.corollaries is not None and self.arms >= 2
            else ""
        )
        rows += [
            f"{self.budget.malicious:.4f} against an adversary who sees the clean rewards (the "
            "paper's theorems)",
            f"{self.budget.coin:.4f} against an independent coin{optimal}",
        ]
        interval = ""
        if self.fit is not None:
            level = 100 * self.fit.level
            interval = (
                f" The data says {self.fit.malicious} and {self.fit.coin} ({level:g} % "
                "intervals), without assuming normal laws."
            )
        return f"rho below {', '.join(rows)}.{interval}"

    def _floor(self) -> str:
        if self.floor_worst is None or self.floor_far is None:
            return ""
        if math.isinf(self.floor_worst):
            return "linear regret: under the worst attack no policy can tell these arms apart."
        return (
            f"no policy can promise less than {_figure(self.floor_worst)} under the worst attack, "
            f"{_figure(self.floor_far)} if outliers are far away (asymptotically)."
        )


def _paragraph(label: str, text: str) -> str:
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=f"  {label:<{LABEL - 2}}",
        subsequent_indent=" " * LABEL,
        break_on_hyphens=False,
    )


def _figure(x: float) -> str:
    """Return a number as people read it."""
    if not math.isfinite(x):
        return "nothing" if math.isnan(x) else "infinity"
    if abs(x) >= 1e7:
        return f"{x:.2g}"
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.4g}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: infinities as text, NaN as None."""
    return json_ready(value, lambda x: None if math.isnan(x) else str(x))
