"""What files of studies, arenas and sweeps say alike: names, rates and attacks.

Each function refuses what cannot be, in one sentence that says where.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ... import attacks
from ...attacks import Attack
from ...bandits import Bandit
from ...errors import InvalidInput
from ...naming.toml_fields import distinct
from ...validation import did_you_mean, number


def named(what: str, table: object) -> dict[str, Any]:
    """Return a table of things by the names that the file gives them."""
    if not isinstance(table, dict) or not table:
        raise InvalidInput(
            f"{what} must be a table of names and texts, with at least one, got {table!r}."
        )
    return table


def known_names(
    what: str, names: object, known: Collection[str], word: str = "policy", least: int = 1
) -> tuple[str, ...]:
    """Return a list of names if all of them are known and none comes twice."""
    plural = "policies" if word == "policy" else f"{word}s"
    if not isinstance(names, list) or len(names) < least:
        raise InvalidInput(f"{what} must be a list of names of {plural}, got {names!r}.")
    for name in names:
        if name not in known:
            raise InvalidInput(
                f"{what}: there is no {word} {name!r}; expected one of "
                f"{', '.join(known)}.{did_you_mean(str(name), known)}"
            )
    distinct(f"{what}: the {word}", names)
    return tuple(names)


def rates(what: str, value: object, below: float = 1.0) -> tuple[float, ...]:
    """Return one rho or a list of them, each once."""
    given = value if isinstance(value, list) else [value]
    if not given:
        raise InvalidInput(f"{what}: rho is empty; expected at least one number.")
    distinct(f"{what}: rho", [f"{x:g}" if isinstance(x, (int, float)) else x for x in given])
    return tuple(number("rho", x, at_least=0, below=below) for x in given)


def attack_at(what: str, name: str, parameters: Mapping[str, Any], rho: float) -> Attack:
    """Return an attack at the rho that the file has elsewhere; NoAttack takes none."""
    if "rho" in parameters:
        raise InvalidInput(
            f"{what} has a rho of its own, but rho has its own line. Leave it out of the attack."
        )
    given = {} if name == "NoAttack" else {"rho": rho}
    return attacks.make(name, {**given, **parameters})


def fitting(what: str, where: str, attack: Attack, bandit: Bandit, hint: str = "") -> Attack:
    """Return an attack if it can be played on a bandit."""
    try:
        attack.shows(bandit)
        attack.start(bandit)
    except InvalidInput as error:
        raise InvalidInput(f"{what} does not fit {where}: {error}{hint}") from None
    return attack
