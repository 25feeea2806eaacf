"""What theory promises a policy on given arms, as a short page and as plain data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..files import json_ready
from ..policies import Policy
from ..show.notebook import html_table
from ..show.text import listed, wrapped
from .bounded import Bounded
from .by_source import BySource
from .finite_time import FiniteTimeBound
from .from_log.fit import Fit
from .limits import share_to_stand
from .suited import Suitability
from .theorem_part import TheoremPart
from .wording import at_least, at_most, figure

LABEL = 16


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

    Made by `ia.certify`; printing it shows a page, which docs/certify.md explains.

    Attributes
    ----------
    policy, rho, horizon, delta : what was asked.
    arms : how many there are.
    best : the name of the best arm; empty if a log has several that are equal.
    smallest_gap : the distance of the two best arms.
    spread : the standard deviation of the rewards; 0 if a log does not show it.
    guaranteed : whether a bound on the regret holds and is below `largest_regret`.
    why_not : the reason if there is none, a sentence.
    bound : the smallest bound on the expected regret under an independent coin, at most
        `largest_regret`.
    largest_regret : the horizon times the largest gap.
    theorem : what the paper's theorem says, or None for a policy without one.
    sharp : the sharp condition on b or c, or None.
    finite_time : ironarm's own bound, or None.
    budget : the largest rho that medians can take here.
    bounded : for means of rewards in a range, such as 0/1 rewards: up to which rho they
        can be compared, and by whom. None elsewhere.
    floor_worst : lower bound for any policy under the worst attack, infinite if nobody
        can tell the arms apart. None unless the arms are normal with one sigma, or
        rewards are 0 and 1.
    floor_far : the same under far-away outliers. None unless normal with one sigma.
    floor_unknown : floor_far for a policy that knows no share and must tolerate every
        one up to 0.4, or rho if that is more; infinite if none can.
    recommended, recommended_bound : a policy and its bound; None if nothing helps.
    advice : one sentence about the recommendation.
    suitability : whether medians suit the rewards.
    fit : the estimates, if made from data.
    best_mean : the mean of the best arm.
    by_source : which share of hostile sources can be tolerated, if you gave their
        number.
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
    bounded: Bounded | None
    floor_worst: float | None
    floor_far: float | None
    floor_unknown: float | None
    recommended: Policy | None
    recommended_bound: float | None
    advice: str
    suitability: Suitability
    fit: Fit | None = None
    best_mean: float = math.nan
    by_source: BySource | None = None

    def __str__(self) -> str:
        head = [wrapped(line) for line in self._head()]
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
            f"{self.arms} arms, {self._first()}; rho = {self.rho:g}, {self.horizon:,} rounds",
        ]

    def _first(self) -> str:
        if self.fit is not None and self.fit.tied:
            return f"none is the best: {listed(list(self.fit.tied), 'and')} are equal"
        # where means and medians differ, the arms of a log are listed by medians
        medians = self.fit is not None and self.bounded is None and not self.suitability.suited
        by = " by its median" if medians else ""
        return f"best {self.best}{by}, smallest gap {self.smallest_gap:.4g}{self._in_sigmas()}"

    def _parts(self) -> list[tuple[str, str]]:
        """Return the paragraphs that have something to say, with their labels."""
        parts = [
            ("possible", self._possible()),
            ("promise", self._promise()),
            ("rewards", self._rewards()),
            ("paper", "" if self.theorem is None else self.theorem.text(self.delta)),
            ("growth", self._growth()),
            ("limit on rho", self._budget()),
            ("by source", "" if self.by_source is None else self.by_source.text(self.rho)),
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
            if self.spread > 0 and self.budget.corollaries is not None and self.bounded is None
            else ""
        )

    def _possible(self) -> str:
        if self.bounded is None or (self.fit is not None and self.fit.tied):
            return ""
        medians = self.budget.coin if self.suitability.suited else 0.0
        return self.bounded.possible(self.rho, medians)

    def _promise(self) -> str:
        if not self.guaranteed:
            return f"none: {self.why_not}"
        estimated = (
            "" if self.fit is None else " This is for normal laws that are exactly as estimated."
        )
        return (
            f"an expected regret of at most {at_most(self.bound)}, where "
            f"{figure(self.largest_regret)} is possible. It holds under any attack that chooses "
            f"which rewards to corrupt without seeing them.{estimated}"
        )

    def _rewards(self) -> str:
        # what to do instead is the recommendation
        judged = self.suitability
        return _sentence(judged.remark)

    def _growth(self) -> str:
        part = self.sharp
        if part is None:
            return ""
        if math.isinf(part.needed):
            return (
                f"no {part.parameter} is enough: under the worst attack medians do not find the "
                "best arm at this rho."
            )
        least = "more than" if part.parameter == "c" else "at least"
        chosen = f"{part.parameter} = {part.chosen:g}"
        need = (
            f"these arms need {least} {part.needed:.4g} under the worst attack, and "
            f"{part.needed_far:.4g} if outliers are far away."
        )
        if part.met:
            return f"logarithmic in the long run, because {chosen} is large enough: {need}"
        return (
            f"as T^{part.exponent:.2f} in the long run, up to factors of log T, because {chosen} "
            f"is too small: {need}"
        )

    def _budget(self) -> str:
        if not self.suitability.suited:
            return ""  # medians take nothing
        if self.fit is not None and self.fit.tied:
            return ""  # no arm to be found
        limit = f"below {self.budget.malicious:.4f}"
        if self.budget.corollaries is None:
            paper, optimal = f"the paper's theorems need rho {limit}", ""
        else:
            corollaries = f"the paper's corollaries need rho below {self.budget.corollaries:.4f}"
            paper = f"{corollaries}, its theorems {limit}"
            # so it is for normal laws; rewards in a range are none
            optimal = "; beyond that no policy does" if self.bounded is None else ""
        interval = ""
        if self.fit is not None:
            level = 100 * self.fit.level
            interval = (
                f" Without assuming normal laws, the data says {self.fit.malicious} and "
                f"{self.fit.coin} ({level:g} % intervals)."
            )
        return (
            f"{paper}; they hold even if the attacker sees each reward before deciding whether to "
            "corrupt it. If the attacker does not, medians work for rho below "
            f"{self.budget.coin:.4f}{optimal}.{interval}"
        )

    def _floor(self) -> str:
        if self.bounded is not None and self.floor_worst is not None:
            if math.isinf(self.floor_worst):
                blind = "" if self.by_source is None else " that does not see who sends the rewards"
                return f"linear regret, for any policy{blind}."
            return (
                "as T grows, no policy can promise less than a multiple of log T: at this horizon "
                f"{at_least(self.floor_worst)}, computed for the rates as they look under the "
                "worst attack."
            )
        if self.floor_worst is None or self.floor_far is None or self.floor_unknown is None:
            return ""
        if math.isinf(self.floor_worst):
            return "linear regret: under the worst attack no policy can tell these arms apart."
        share = f"every share up to {share_to_stand(self.rho):g}"
        unknown = (
            f"On these arms no policy can tolerate {share}."
            if math.isinf(self.floor_unknown)
            else f"The latter is {at_least(self.floor_unknown)} for a policy that does not know "
            f"rho and must tolerate {share}."
        )
        return (
            "as T grows, no policy can promise less than a multiple of log T: at this horizon "
            f"{at_least(self.floor_worst)} under the worst attack, and {at_least(self.floor_far)} "
            f"if outliers are far away. {unknown}"
        )


def _paragraph(label: str, text: str) -> str:
    return wrapped(text, f"  {label:<{LABEL - 2}}", " " * LABEL)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: infinities as text, NaN as None."""
    return json_ready(value, lambda x: None if math.isnan(x) else str(x))
