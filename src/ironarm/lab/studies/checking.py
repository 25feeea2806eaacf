"""How a check is written: what it returns, how it compares, what a claim may ask of it.

A check is one function marked with `@check`, in `checks.py` or `reward_checks.py`, or
with `@growth_check` in `growth_checks.py`:

    @check
    def fails(evidence: Evidence, policies: Policies, share: Share) -> list[Measured]:

Its first parameter is what it looks at: `Evidence`, the results of one run at one rho,
or `Rewards`, the rewards themselves. Every other parameter is a field of a claim in
`claims.toml`, and its annotation says what that field may hold. Nothing else has to be
registered.

A check compares a measurement and its 95 % interval with the bound that a claim needs.
It agrees if the whole interval lies on the claim's side of the bound, disagrees if it
lies wholly on the other side, and cannot tell otherwise.

A law of growth is not seen at one horizon. A growth check is applied at each of the
horizons that its claim names, and its claim is settled for a policy only if all of them
say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, get_type_hints

from ...errors import InvalidInput
from ...validation import number
from ..kit.grid import known_names
from ..kit.statistics import Estimate
from .study import Run

AGREE, DISAGREE, CANNOT_TELL = "agree", "disagree", "cannot tell"


@dataclass(frozen=True)
class Measured:
    """One part of a check: what was measured, and what it says about the claim.

    Of growth, `policy` is whom it is about, `horizon` where it was measured, on how
    many `trials`, and `elsewhere` whether that was in a run that was not made here.
    """

    what: str
    estimate: Estimate
    judgement: str
    text: str
    policy: str = ""
    horizon: int = 0
    trials: int = 0
    elsewhere: bool = False


def below(estimate: Estimate, bound: float) -> str:
    """Return the judgement on "it is below the bound"."""
    if estimate.high < bound:
        return AGREE
    return DISAGREE if estimate.low >= bound else CANNOT_TELL


def above(estimate: Estimate, bound: float) -> str:
    """Return the judgement on "it is above the bound"."""
    if estimate.low > bound:
        return AGREE
    return DISAGREE if estimate.high <= bound else CANNOT_TELL


def near(estimate: Estimate, target: float, within: float) -> str:
    """Return the judgement on "it differs from the target by at most `within`"."""
    if target - within < estimate.low and estimate.high < target + within:
        return AGREE
    outside = estimate.low > target + within or estimate.high < target - within
    return DISAGREE if outside else CANNOT_TELL


def together(judgements: Iterable[str]) -> str:
    """Return the judgement on several parts.

    One disagreement is enough to disagree; without one, one doubt leaves it open.

    >>> together([AGREE, CANNOT_TELL]), together([AGREE, DISAGREE, CANNOT_TELL])
    ('cannot tell', 'disagree')
    """
    found = set(judgements)
    return DISAGREE if DISAGREE in found else AGREE if found == {AGREE} else CANNOT_TELL


def at_all_horizons(parts: Sequence[Measured], horizons: int) -> str:
    """Return the judgement on growth, from one policy at several horizons.

    They must all say the same, and all be there.

    >>> at = [
    ...     Measured("", Estimate(0, 0, 0), AGREE, "", "UCB", T) for T in (10, 100)
    ... ]
    >>> at_all_horizons(at, 2), at_all_horizons(at[:1], 2)
    ('agree', 'cannot tell')
    """
    found = {part.judgement for part in parts}
    all_there = len(parts) == horizons >= 2
    return found.pop() if len(found) == 1 and all_there else CANNOT_TELL


def how_it_moves(parts: Sequence[Measured]) -> str:
    """Say how a measurement moves from horizon to horizon; nothing if it is not one.

    >>> at = [
    ...     Measured("exponent", Estimate(v, v - 0.01, v + 0.01), AGREE, "")
    ...     for v in (0.2, 0.1)
    ... ]
    >>> how_it_moves(at)
    'exponent: 0.20, 0.10; falls with the horizon'
    """
    if len(parts) < 2 or len({part.what for part in parts}) > 1:
        return ""
    values = [part.estimate.value for part in parts]
    first, last = parts[0].estimate, parts[-1].estimate
    way = "no clear move with the horizon"
    if last.high < first.low and values == sorted(values, reverse=True):
        way = "falls with the horizon"
    elif last.low > first.high and values == sorted(values):
        way = "rises with the horizon"
    shown = ", ".join(f"{value:.2f}".replace("-0.00", "0.00") for value in values)
    return f"{parts[0].what}: {shown.replace('-', '−')}; {way}"


# raises InvalidInput if a field of a claim may not have this value in this run
Refuse = Callable[[str, Any, Run], object]


def _within(**bounds: float) -> Refuse:
    return lambda what, value, run: number(what, value, **bounds)


def _names(what: str, value: Any, run: Run) -> None:
    known_names(what, value, run.policies)


def _names_or_none(what: str, value: Any, run: Run) -> None:
    if value != []:
        _names(what, value, run)


def _span(what: str, value: Any, run: Run) -> None:
    if number(what, value, above=1) ** 2 > run.horizon:
        raise InvalidInput(
            f"{what} must be at most the square root of the horizon {run.horizon}, got {value}."
        )


def _since(what: str, value: Any, run: Run) -> None:
    if number(what, value, at_least=1) > run.horizon / 10:
        raise InvalidInput(
            f"{what} must leave a decade up to the horizon {run.horizon}, got {value}."
        )


def _means(what: str, value: Any, run: Run) -> None:
    if not isinstance(value, list) or len(value) != run.bandit.arms:
        raise InvalidInput(
            f"{what} must be a list of {run.bandit.arms} numbers, one for each arm, got {value!r}."
        )
    for mean in value:
        number(what, mean)


# what a claim may give to a parameter of a check
Policies = Annotated[Sequence[str], _names]  # of the run, at least one
PoliciesOrNone = Annotated[Sequence[str], _names_or_none]
Number = Annotated[float, _within()]
Positive = Annotated[float, _within(above=0)]
Share = Annotated[float, _within(above=0, below=1)]
Span = Annotated[float, _span]  # a factor between rounds; the horizon holds it twice
Since = Annotated[int, _since]  # a round at least a decade before the horizon
Means = Annotated[Sequence[float], _means]  # a number for each arm


@dataclass(frozen=True)
class Check:
    """A check, the class of what it looks at, and what its parameters may be."""

    function: Callable[..., list[Measured]]
    subject: type
    parameters: Mapping[str, Refuse]
    growth: bool = False
    """Whether it is about a law of growth, and so judged at several horizons."""

    def measure(self, subject: object, claim: Mapping[str, Any]) -> list[Measured]:
        """Apply the check to what it looks at, with the parameters of a claim."""
        return self.function(subject, **{name: claim[name] for name in self.parameters})


CHECKS: dict[str, Check] = {}
"""All checks by name; `@check` adds them."""

Function = TypeVar("Function", bound=Callable[..., list[Measured]])


def check(function: Function) -> Function:
    """Register a check; see the module's docstring."""
    return _register(function, growth=False)


def growth_check(function: Function) -> Function:
    """Register a check of growth, which is applied at each horizon of a claim."""
    return _register(function, growth=True)


def _register(function: Function, growth: bool) -> Function:
    hints = get_type_hints(function, include_extras=True)
    hints.pop("return")
    subject = hints.pop(next(iter(hints)))
    for name, kind in hints.items():
        if not hasattr(kind, "__metadata__"):
            raise TypeError(
                f"{function.__name__}: annotate {name} with what a claim may give it: Policies, "
                f"Share or another kind in {__name__}, not {kind!r}."
            )
    parameters = {name: kind.__metadata__[0] for name, kind in hints.items()}
    CHECKS[function.__name__] = Check(function, subject, parameters, growth)
    return function
