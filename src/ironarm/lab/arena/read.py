"""Arena files: which policies meet which attacks, where, and for how long.

What is read is data, never run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ... import bandits
from ...attacks import Attack
from ...errors import InvalidInput
from ...naming.toml_fields import (
    distinct,
    fields,
    file_name,
    read_toml,
    tables,
    text,
)
from ...simulation.feedback import FIELDS as FEEDBACK
from ...simulation.feedback import feedback_of
from ...validation import number, whole
from ..kit.grid import fitting, known_names, named, rates
from .arena import KNOWN, Arena, Setting, names_in
from .names import arena_file
from .scenario_setting import from_scenario


def read_arena(
    path: str | Path | None = None, *, trials: int | None = None, quick: bool = False
) -> Arena:
    """Return the arena that a file describes, one of ironarm's by name, or the default.

    `trials` replaces the settings' own numbers, `quick` selects the file's small ones.
    """
    if trials is not None:
        whole("trials", trials, at_least=1)
    path = arena_file(path)
    data = read_toml(path)
    try:
        return _arena(data, trials, quick)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None


def with_policies(arena: Arena, texts: Mapping[str, str]) -> Arena:
    """Return the arena with more policies, by name."""
    made = replace(arena, policies={**arena.policies, **texts})
    for name in texts:
        made.policy(name, made.settings[0], made.settings[0].rho[0])
    return made


def _arena(data: dict[str, Any], trials: int | None, quick: bool) -> Arena:
    needed = ("title", "seed", "policies", "attacks", "settings")
    fields("an arena", data, needed, ("compare", "rivals"))
    settings = tuple(
        _setting(table, trials, quick) for table in tables("settings", data["settings"])
    )
    if not settings:
        raise InvalidInput("an arena needs at least one setting, under [[settings]].")
    distinct("setting", [setting.name for setting in settings])
    texts = _texts(data, "policies")
    arena = Arena(
        text("title", data["title"]),
        whole("seed", data["seed"], below=2**63),
        texts,
        _texts(data, "attacks"),
        settings,
        _pairs(data.get("compare", []), texts),
        known_names("rivals", data.get("rivals", []), texts, least=0),
    )
    for setting in settings:
        what = f"without of the setting {setting.name!r}"
        known_names(what, list(setting.without), arena.attacks, "attack", least=0)
        for what, entries in (
            ("policy", arena.policies),
            ("attack", {name: arena.attacks[name] for name in arena.attacks_in(setting)}),
        ):
            for name, entry in entries.items():
                for word in sorted((KNOWN & names_in(entry)) - setting.known.keys()):
                    raise InvalidInput(
                        f"the {what} {name!r} uses {word}, which the setting {setting.name!r} "
                        f"does not state; add {word} to its known."
                    )
    # a name or a parameter that does not exist is refused before anything is run
    for setting in settings:
        made = [_fitting(arena, name, setting) for name in arena.attacks_in(setting)]
        if not any(attack.within_model for attack in made):
            raise InvalidInput(
                f"all attacks in the setting {setting.name!r} are outside the model, and policies "
                "are judged by those within it; add one, for example NoAttack or "
                "OppositeUniform."
            )
    for name in arena.attacks:
        if all(name in setting.without for setting in settings):
            raise InvalidInput(
                f"no setting plays the attack {name!r}; leave it out of [attacks], or let a "
                "setting play it."
            )
    for name in arena.policies:
        arena.policy(name, settings[0], settings[0].rho[0])
    return arena


def _fitting(arena: Arena, name: str, setting: Setting) -> Attack:
    """Return an attack of a setting, or report that it does not fit the bandit."""
    attack = arena.attack(name, setting, max(setting.rho))
    where, hint = f"the setting {setting.name!r}", f" Or add without = [{name!r}] to the setting."
    return fitting(f"the attack {name!r}", where, attack, setting.bandit, hint)


def _texts(data: dict[str, Any], key: str) -> dict[str, str]:
    return {name: text(f"{key}: {name}", value) for name, value in named(key, data[key]).items()}


def _pairs(value: object, known: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(name, str) for name in pair)
        for pair in value
    ):
        raise InvalidInput(
            f'compare must be pairs of policies, for example [["UCB", "MedEUCB"]], got {value!r}.'
        )
    for pair in value:
        known_names("compare", pair, known)
    return tuple((first, second) for first, second in value)


def _setting(table: dict[str, Any], trials: int | None, quick: bool) -> Setting:
    if "scenario" in table:
        given = {key: value for key, value in table.items() if key != "scenario"}
        table = {**from_scenario(table["scenario"]), **given}
    fields(
        "a setting",
        table,
        ("name", "title", "bandit", "rho", "horizon", "trials"),
        ("known", "quick", "without", *FEEDBACK),
    )
    name = file_name("a setting's name", table["name"])
    known = table.get("known", {})
    fields(f"known of the setting {name!r}", known, (), sorted(KNOWN))
    without = table.get("without", [])
    if not isinstance(without, list):
        raise InvalidInput(
            f"without of the setting {name!r} must be a list of attacks, got {without!r}."
        )
    if not isinstance(table["bandit"], dict):
        raise InvalidInput(
            f'the setting {name!r} needs a bandit such as {{ name = "GaussianBandit", means = [0, '
            f"1] }}, got {table['bandit']!r}."
        )
    setting = Setting(
        name=name,
        title=text("a setting's title", table["title"]),
        bandit=bandits.make(table["bandit"]),
        known={key: number(key, value) for key, value in known.items()},
        rho=rates(f"the setting {name!r}", table["rho"], below=0.5),
        horizon=whole("horizon", table["horizon"], at_least=10, below=2**48),
        trials=whole("trials", table["trials"], at_least=1),
        without=tuple(text(f"without of the setting {name!r}", attack) for attack in without),
        **feedback_of(f"the setting {name!r}", table),
    )
    if setting.bandit.gaps.max() == 0:
        raise InvalidInput(
            f"in the setting {name!r} all arms have the same mean, so there is no regret; "
            "expected at least two different means."
        )
    if quick:
        setting = replace(setting, trials=whole("quick", table.get("quick", 2), at_least=1))
    return (
        setting if trials is None else replace(setting, trials=whole("trials", trials, at_least=1))
    )
