"""Checks of an agent's input: names, rewards, pairs, the kind of memory."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import InvalidInput
from ..estimators import BoundedMedian, Estimator, LowerMedian
from ..policies import Policy
from ..validation import NUMBERS, whole

Name = str | int


def estimator_for(policy: Policy, memory: str) -> type[Estimator] | None:
    """Return the estimator that the memory asks for, or None for the policy's own."""
    if memory == "exact":
        return None
    if policy.estimator is LowerMedian:
        return BoundedMedian
    if policy.estimator is not None and policy.estimator.forgets:
        return None  # its memory is always bounded
    if policy.estimator is not None and policy.estimator.holds_rewards:
        raise InvalidInput(
            f'memory="bounded" works only for policies based on the lower median, and {policy!r} '
            'needs all rewards. Use memory="exact".'
        )
    return None


def names_of(arms: Iterable[Name] | int) -> list[Name]:
    """Return the arms' names."""
    if isinstance(arms, NUMBERS):
        return list(range(whole("arms", arms, at_least=1, below=2**31)))
    if (
        isinstance(arms, (str, bytes))
        or not isinstance(arms, Iterable)
        or getattr(arms, "ndim", 1) == 0
    ):
        raise InvalidInput(f"arms must be a list of names, or their number, got {arms!r}.")
    return [name_of(arm) for arm in arms]


def rows_of(items: Iterable[tuple[Any, ...]], what: str) -> list[tuple[Any, Any, Any]]:
    """Return pairs as rows of three, with None or a source at the end."""
    if not isinstance(items, Iterable):
        raise InvalidInput(f"expected pairs of {what}, got {items!r}.")
    rows = []
    for item in items:
        try:
            first, second, *source = item
            if len(source) > 1:
                raise ValueError
        except (TypeError, ValueError):
            raise InvalidInput(f"expected pairs of {what}, got {item!r}.") from None
        rows.append((first, second, source[0] if source else None))
    return rows


def name_of(arm: object) -> Name:
    """Return an arm's name: text or a whole number, which JSON keeps as they are."""
    if isinstance(arm, np.generic):
        arm = arm.item()
    if isinstance(arm, bool) or not isinstance(arm, (str, int)):
        raise InvalidInput(f"an arm's name must be a string or a whole number, got {arm!r}.")
    return plain_name("an arm's name", arm)


def plain_name(what: str, name: Name) -> Name:
    """Return a name that files and databases give back as it is, or refuse it.

    A subclass becomes a plain string or number: it would not come back as itself.
    """
    if isinstance(name, int):
        if not -(2**63) <= name < 2**63:
            raise InvalidInput(f"{what} must be text, or a whole number of at most 63 bits.")
        return int(name)
    text = str.__str__(name)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{what} must be text that UTF-8 can hold, got {text!r}.") from None
    return text


def reward_of(reward: object) -> float:
    """Return a reward as a float that is not NaN."""
    if isinstance(reward, np.ndarray) and reward.ndim == 0:
        reward = reward.item()
    if not isinstance(reward, (*NUMBERS, np.bool_)):
        raise InvalidInput(f"a reward must be a number, got {reward!r}.")
    try:
        x = float(reward)
    except OverflowError:
        x = math.inf if reward > 0 else -math.inf  # type: ignore[operator]  # as any float operation would have it
    except ValueError:  # a signalling NaN of `decimal`
        x = math.nan
    if math.isnan(x):
        raise InvalidInput(
            "a reward must not be NaN. If the measurement failed, cancel the decision; if the "
            "failure itself is the outcome, give the worst possible reward."
        )
    return x
