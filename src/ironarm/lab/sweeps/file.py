"""Sweep files: which cells a sweep has, as a small TOML file.

A file gives one value or a list for policies, attacks, rho and gap; the sweep has a
cell for each combination. Policies and attacks are written as on the command line. A
list in place of a parameter's value stands for each of its values, and `rho` in a
parameter is the cell's own:

    policies = ["MedEUCB(b=[4, 8])", "TrimmedUCB(alpha=[rho, rho + 0.1])"]
    attacks  = ["OppositeUniform(scale=1800)", "NoAttack"]
    rho      = [0.125, 0.3]
    arms     = 10           # normal arms, means gap, 2 gap, ...; or: means = [2, 4, 6]
    gap      = [0.5, 2]
    sigma    = 1            # may be left out
    horizon  = 10_000
    trials   = 50
    seed     = 7

The file is data, never run; all of it is checked before anything runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from ... import policies
from ...attacks import ATTACK, Attack
from ...bandits import GaussianBandit
from ...errors import InvalidInput
from ...naming.kind import Kind
from ...naming.notation import parse, tidy, value_with
from ...naming.own_faults import constants_of
from ...naming.toml_fields import read_toml
from ...policies import POLICY, Policy
from ...simulation.cells import Cell
from ...simulation.simulate import checkpoint_rounds
from ...validation import did_you_mean, number, whole
from ..kit.grid import attack_at

KEYS = {
    "policies": 'policies = ["MedEUCB", "UCB(alpha=[1, 2])"]',
    "attacks": 'attacks = ["OppositeUniform"]',
    "rho": "rho = [0.125, 0.3]",
    "means": "means = [2, 4, 6]",
    "arms": "arms = 10",
    "gap": "gap = [0.5, 2]",
    "sigma": "sigma = 1",
    "horizon": "horizon = 10_000",
    "trials": "trials = 20",
    "seed": "seed = 7",
}
"""The keys a file may have, with an example of each."""


def read_sweep(path: str | Path, trials: int | None = None) -> tuple[Cell, ...]:
    """Return the cells of a sweep file, each once, in the file's order.

    `trials` replaces the file's own number.
    """
    path = Path(path)
    data = read_toml(path)
    try:
        return sweep_cells(data if trials is None else {**data, "trials": trials})
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None


def sweep_cells(data: dict[str, Any]) -> tuple[Cell, ...]:
    """Return the cells that a sweep file's content describes.

    >>> data = {
    ...     "policies": ["UCB(alpha=[1, 2])", "TrimmedUCB(alpha=rho + 0.1)"],
    ...     "attacks": "Infinite",
    ...     "rho": 0.2,
    ...     "means": [0, 1],
    ...     "horizon": 100,
    ...     "trials": 5,
    ...     "seed": 1,
    ... }
    >>> [(cell.policy.label, cell.attack.rho) for cell in sweep_cells(data)]
    [('UCB(alpha=1)', 0.2), ('UCB(alpha=2)', 0.2), ('TrimmedUCB(alpha=0.3)', 0.2)]
    """
    for key in data:
        if key not in KEYS:
            raise InvalidInput(
                f"unknown key {key!r}; expected one of {', '.join(KEYS)}.{did_you_mean(key, KEYS)}"
            )
    horizon = whole("horizon", _needed(data, "horizon"), at_least=1, below=2**48)
    trials = whole("trials", _needed(data, "trials"), at_least=1)
    seed = whole("seed", _needed(data, "seed"), below=2**63)
    checkpoints = tuple(checkpoint_rounds(horizon).tolist())
    # a dictionary, because a combination can come up twice: NoAttack for each rho,
    # alpha=[rho, 0.3] where rho is 0.3
    cells: dict[tuple[int, Attack, Policy], Cell] = {}
    for place, bandit in enumerate(_bandits(data)):
        for attack in _attacks(data):
            for policy in _policies(data, attack.rho):
                constants_of(policy, bandit.arms, horizon)  # refuses what does not fit
                cells.setdefault(
                    (place, attack, policy),
                    Cell(policy, bandit, attack, horizon, trials, seed, checkpoints),
                )
    return tuple(cells.values())


def _bandits(data: dict[str, Any]) -> list[GaussianBandit]:
    sigma = number("sigma", data.get("sigma", 1), at_least=0)
    if "means" in data:
        for key in ("arms", "gap"):
            if key in data:
                raise InvalidInput(
                    f"both means and {key} are given; expected means alone, or arms and gap. "
                    "Leave one out."
                )
        return [GaussianBandit(_numbers(data, "means"), sigma)]
    if "arms" not in data and "gap" not in data:
        raise InvalidInput(
            f"the arms are missing; add a line such as {KEYS['means']!r}, or two such as "
            f"{KEYS['arms']!r} and {KEYS['gap']!r}."
        )
    arms = whole("arms", _needed(data, "arms"), at_least=2)
    gaps = dict.fromkeys(number("gap", gap, above=0) for gap in _numbers(data, "gap"))  # each once
    return [GaussianBandit([tidy(gap * i) for i in range(1, arms + 1)], sigma) for gap in gaps]


def _attacks(data: dict[str, Any]) -> Iterator[Attack]:
    for text in _texts(data, "attacks"):
        if parse(text, ATTACK, partial(value_with, names={"rho": 0.0}))[0] == "NoAttack":
            chances = [0.0]  # nothing is attacked, whatever the other cells' rho
        else:
            chances = [number("rho", rho, at_least=0, below=1) for rho in _numbers(data, "rho")]
        for rho in chances:
            for name, parameters in _variants(text, ATTACK, rho):
                yield attack_at(f"the attack {text!r}", name, parameters, rho)


def _policies(data: dict[str, Any], rho: float) -> Iterator[Policy]:
    for text in _texts(data, "policies"):
        for name, parameters in _variants(text, POLICY, rho):
            yield policies.make(name, parameters)


def _variants(text: str, kind: Kind[Any], rho: float) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the parameters for each combination of listed values."""
    name, parameters = parse(text, kind, partial(value_with, names={"rho": rho}))
    choices = [value if isinstance(value, list) else [value] for value in parameters.values()]
    for parameter, values in zip(parameters, choices, strict=True):
        if not values:
            raise InvalidInput(
                f"the {kind.word} {text!r} has no value for {parameter}; expected one, or a list "
                "of at least one."
            )
    for chosen in product(*choices):
        yield name, dict(zip(parameters, chosen, strict=True))


def _needed(data: dict[str, Any], key: str) -> Any:
    if key not in data:
        raise InvalidInput(f"{key} is missing; add a line such as {KEYS[key]!r}.")
    return data[key]


def _some(data: dict[str, Any], key: str) -> list[Any]:
    """Return the values of a key that takes one or a list."""
    value = _needed(data, key)
    values = value if isinstance(value, list) else [value]
    if not values:
        raise InvalidInput(f"{key} is empty; expected at least one, for example {KEYS[key]!r}.")
    return values


def _numbers(data: dict[str, Any], key: str) -> list[float]:
    return [number(key, value) for value in _some(data, key)]


def _texts(data: dict[str, Any], key: str) -> list[str]:
    for value in _some(data, key):
        if not isinstance(value, str):
            raise InvalidInput(
                f"{key} must be text in quotes, for example {KEYS[key]!r}, got {value!r}."
            )
    return _some(data, key)
