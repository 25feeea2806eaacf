"""What the paper's theorems say about a policy, as a certificate shows it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..policies import MedEpsilonGreedy, MedEUCB, Policy
from .arms import Arms
from .theorems_greedy import GreedyGuarantee, theorem_3, theorem_4
from .theorems_ucb import UcbGuarantee, theorem_1, theorem_2
from .unmet import Unmet, does_not_apply
from .wording import at_most, figure


@dataclass(frozen=True)
class TheoremBound:
    """One bound on the regret, and the parameters that it is for.

    `value` is infinite if it does not apply to them, and `why_not` says why.
    `doubts` is what is wrong with the paper's proof of it.
    """

    parameters: dict[str, float]
    value: float
    vacuous: bool
    why_not: tuple[Unmet, ...]
    doubts: tuple[Unmet, ...] = ()

    @property
    def applies(self) -> bool:
        """Whether there is a bound."""
        return not self.why_not

    @property
    def remark(self) -> str:
        """What a reader of the number must know, in a few words; often nothing."""
        if not self.applies:
            return does_not_apply(self.why_not)
        doubt = [unmet.short for unmet in self.doubts[:1]]  # more would not fit
        return "; ".join((["vacuous"] if self.vacuous else []) + doubt)


@dataclass(frozen=True)
class TheoremPart:
    """What the paper's theorems say about the chosen parameters.

    If `name`, the theorem in expectation, applies to the chosen parameters, all bounds
    are for these. If not, each is for the parameters that make it smallest.

    Attributes
    ----------
    name, likely_name : the theorem in expectation, and that with high probability.
    sharper_name, own_name : where `expected` and `likely` come from.
    chosen : the policy's parameters.
    applies, why_not : whether the first theorem applies to them, and what fails if not.
    expected, expected_printed : the bound on the expected regret, as it can be proved
        and as the paper prints it.
    likely, likely_printed : the bound that holds with probability 1 - delta: ironarm's
        own, and the paper's.
    """

    name: str
    likely_name: str
    sharper_name: str
    own_name: str
    chosen: dict[str, float]
    applies: bool
    why_not: tuple[Unmet, ...]
    expected: TheoremBound
    expected_printed: TheoremBound
    likely: TheoremBound
    likely_printed: TheoremBound

    @property
    def bound(self) -> float:
        """The bound on the expected regret for the chosen parameters, or infinity."""
        return self.expected.value if self.applies else math.inf

    def text(self, delta: float) -> str:
        """Return the certificate's sentences about the paper."""
        if self.applies:
            sentences = [f"{self.name} applies.", self._expected()]
        else:
            sentences = [f"{self.name} does not apply because {_reasons(self.why_not)}"]
            if self.expected.why_not == self.why_not:  # it is not the parameters' fault
                return sentences[0]
            sentences.append(
                self._expected()
                if self.expected.applies
                else f"No other parameters help: {_reasons(self.expected.why_not)}"
            )
        return " ".join([*sentences, *self._likely(f"with probability {1 - delta:g}")])

    def _expected(self) -> str:
        """Return the bounds on the expected regret, the paper's and what is proved."""
        printed, own = self.expected_printed, f"{self.sharper_name} {self._gives}"
        if not printed.applies:
            return f"Its printed bound {printed.remark}; {own} {_value(self.expected)}."
        given = "It" if self.applies else f"With {_parameters(printed)} it"
        return (
            f"{given} {self._bounds} the expected regret by {_value(printed, ' as printed')}; "
            f"{own} {_value(self.expected)}."
        )

    def _likely(self, probably: str) -> list[str]:
        """Return the bounds with high probability, the paper's and ironarm's."""
        paper, own = self.likely_printed, self.likely
        who, ours = f"{self.likely_name} as printed", self.own_name
        if not paper.applies and paper.remark == own.remark:
            return [f"For the same reason neither {who} nor {ours} applies."]
        first = (
            f"{self._with(paper)}{who} {self._bounds} the regret by {_value(paper)} {probably}."
            if paper.applies
            else f"{who} {paper.remark}."
        )
        if not own.applies:
            return [first, f"{ours} {own.remark}."]
        given = "" if own.parameters == paper.parameters else self._with(own)
        gives = (
            f"{self._gives} {_value(own)}"
            if paper.applies
            else f"{self._bounds} the regret by {_value(own)} {probably}"
        )
        return [first, f"{given}{ours} {gives}."]

    @property
    def _bounds(self) -> str:
        return "bounds" if self.applies else "would bound"

    @property
    def _gives(self) -> str:
        return "gives" if self.applies else "would give"

    def _with(self, bound: TheoremBound) -> str:
        return "" if self.applies else f"With {_parameters(bound)}, "


def theorem_part(
    arms: Arms, rho: float, policy: Policy, T: int, delta: float
) -> TheoremPart | None:
    """Return what the paper's theorems say; None for a policy without a theorem."""
    largest = T * arms.largest_gap
    if isinstance(policy, MedEUCB):
        block = policy.block_for(arms.count)
        b, omega, G = policy.b, policy.omega, block
        here = theorem_1(arms, rho, T, b=b, omega=omega, block=G)
        if here.holds:
            one = here
            own = theorem_2(arms, rho, T, delta, b=b, omega=omega, block=G, printed=False)
            two = theorem_2(arms, rho, T, delta, b=b, omega=omega, block=G)
        else:
            one = theorem_1(arms, rho, T)
            own = theorem_2(arms, rho, T, delta, printed=False)
            two = theorem_2(arms, rho, T, delta)
        return TheoremPart(
            "Theorem 1",
            "Theorem 2",
            "its proof",
            "ironarm's union bound",
            {"b": b, "omega": omega, "block": float(block)},
            here.holds,
            here.why_not,
            of_ucb(one, one.proved, largest),
            of_ucb(one, one.printed, largest),
            of_ucb(own, own.proved, largest),
            of_ucb(two, two.printed, largest),
        )
    if isinstance(policy, MedEpsilonGreedy):
        met = theorem_3(arms, rho, T, c=policy.c)
        c = policy.c if met.holds else None
        three, four = theorem_3(arms, rho, T, c=c), theorem_4(arms, rho, T, delta, c=c)
        return TheoremPart(
            "Theorem 3",
            "Theorem 4",
            "ironarm's repair of its proof",
            "ironarm's repair of its proof",
            {"c": policy.c},
            met.holds,
            met.why_not,
            repaired(three, largest),
            printed(three, largest),
            repaired(four, largest),
            printed(four, largest),
        )
    return None


def of_ucb(g: UcbGuarantee, value: float, largest: float) -> TheoremBound:
    """Return a bound of Theorem 1 or 2; `largest` is the largest possible regret."""
    parameters = {"b": g.b, "omega": g.omega, "block": g.block}
    return TheoremBound(parameters, value, g.holds and value > largest, g.why_not)


def printed(g: GreedyGuarantee, largest: float) -> TheoremBound:
    """Return the bound of Theorem 3 or 4 as the paper prints it."""
    vacuous = not g.why_not_printed and g.printed > largest
    return TheoremBound({"c": g.c}, g.printed, vacuous, g.why_not_printed, g.doubts)


def repaired(g: GreedyGuarantee, largest: float) -> TheoremBound:
    """Return the bound that a repaired proof of Theorem 3 or 4 gives."""
    # a repaired proof needs Assumption 2, and no particular c
    why_not = () if math.isfinite(g.c) else g.why_not
    return TheoremBound({"c": g.c}, g.proved, not why_not and g.proved > largest, why_not)


def _value(bound: TheoremBound, form: str = "") -> str:
    doubts = [unmet.sentence.removesuffix(".") for unmet in bound.doubts]
    remarks = "; ".join((["vacuous"] if bound.vacuous else []) + doubts)
    return at_most(bound.value) + form + (f" ({remarks})" if remarks else "")


def _parameters(bound: TheoremBound) -> str:
    p = bound.parameters
    if "c" in p:
        return f"c just above {figure(p['c'])}"  # the theorem allows no c equal to it
    return (
        f"b = {figure(p['b'])}, omega = {figure(p['omega'])} and blocks of {p['block']:,.0f} rounds"
    )


def _reasons(why_not: tuple[Unmet, ...]) -> str:
    first, *others = (unmet.sentence for unmet in why_not)
    return " ".join([first, *(other[:1].upper() + other[1:] for other in others)])
