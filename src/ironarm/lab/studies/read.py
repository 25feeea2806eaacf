"""Read a study from its folder: `runs.toml`, `claims.toml` and `show.toml`.

`studies/synthetic/` is the example to copy; its comments explain the fields. Everything
is checked before anything runs. An unknown policy, parameter, attack, check or field is
refused with what may have been meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ... import bandits
from ...errors import BadFile, InvalidInput
from ...naming.own_faults import constants_of
from ...naming.toml_fields import distinct, fields, read_toml, tables, text, yes_or_no
from ...policies import policy_from_text
from ...simulation.feedback import FIELDS as FEEDBACK
from ...simulation.feedback import feedback_of
from ...validation import did_you_mean, whole
from ..kit.grid import attack_at, fitting, known_names, named, rates
from . import STUDIES
from .claims import check_claim
from .show import check_show
from .study import Run, Study, StudyPolicy, Tuning

HOME = Path(__file__).parent


class Sizes(NamedTuple):
    """Which sizes a study is run at: "quick", "long", or "" for its own.

    `trials`, if not None, replaces all numbers of trials.
    """

    trials: int | None
    which: str


def read_study(
    where: str,
    *,
    trials: int | None = None,
    quick: bool = False,
    long: bool = False,
    seed_offset: int = 0,
) -> Study:
    """Read one of ironarm's studies by its name, or a user's by its folder.

    `trials` replaces every run's own number; `quick` selects the study's quick sizes,
    `long` its long ones, with the runs that take long. `seed_offset` is added to the
    seeds of the study and of its tuning.
    """
    if quick and long:
        raise InvalidInput("a study is run at its quick sizes or at its long ones, not at both.")
    folder = _folder(where)
    runs, claims, show = (
        read_toml(path) if (path := folder / f"{part}.toml").exists() else {}
        for part in ("runs", "claims", "show")
    )
    try:
        sizes = Sizes(trials, "quick" if quick else "long" if long else "")
        return _study(folder, runs, claims, show, sizes, seed_offset)
    except InvalidInput as error:
        raise BadFile(f"the study in {folder} cannot be run: {error}") from None


def _folder(where: str) -> Path:
    folder = HOME / where if where in STUDIES else Path(where)
    if not (folder / "runs.toml").is_file():
        problem = (
            f"the folder {where} has no runs.toml"
            if folder.is_dir()
            else f"there is no study {where!r}"
        )
        raise InvalidInput(
            f"{problem}; expected one of {', '.join(STUDIES)}, or a folder with runs.toml and, "
            f"optionally, claims.toml and show.toml.{did_you_mean(where, STUDIES)}"
        )
    return folder


def _study(
    folder: Path,
    runs: dict[str, Any],
    claims: dict[str, Any],
    show: dict[str, Any],
    sizes: Sizes,
    seed_offset: int,
) -> Study:
    top = fields(
        "runs.toml",
        runs,
        ["title", "seed", "bandit", "attack", "policies", "runs"],
        ["paper", "paper_trials", "tuning", "arm", "unit"],
    )
    entries = {
        name: _entry(name, data) for name, data in named("policies", top["policies"]).items()
    }
    tuning = _tuning(top["tuning"], sizes, seed_offset) if "tuning" in top else None
    listed = [_run(data, top, entries, tuning, sizes) for data in tables("runs", top["runs"])]
    if not listed:
        raise InvalidInput("the study has no run; add one under [[runs]].")
    distinct("the run name", [run.name for run in listed])
    which = sizes.which
    if which and not any(which in data for data in top["runs"]):
        raise InvalidInput(
            f"the study has no {which} sizes; leave out --{which}, or add {which} = "
            "{ trials = 20 } to its runs."
        )
    if listed[0].long:
        raise InvalidInput("the first run must not be one that is run with --long only.")
    for run in listed:
        _check_run(run, entries)
    seed = whole("seed", top["seed"]) + seed_offset
    _check_tuning(tuning, entries, seed)
    study = Study(
        name=folder.name,
        title=text("title", top["title"]),
        seed=seed,
        paper_trials=whole("paper_trials", top.get("paper_trials", 20), at_least=2),
        paper=text("paper", top["paper"]) if "paper" in top else "",
        policies=entries,
        tuning=tuning,
        runs=tuple(listed),
        claims=tuple(
            tables("claims", fields("claims.toml", claims, [], ["claims"]).get("claims", []))
        ),
        show=fields(
            "show.toml",
            show,
            [],
            ["introduction", "survivors", "words", "policies", "figures", "tables"],
        ),
        quick=which == "quick",
        long=which == "long",
        folder=folder,
        arm=text("arm", top.get("arm", "arm")),
        unit=text("unit", top["unit"]) if "unit" in top else "",
    )
    if not study.show.keys() & {"figures", "tables"}:  # it would say nothing in numbers
        results = [_results_of(run) for run in study.played]
        study = replace(study, show={**study.show, "tables": results})
    for claim in study.claims:
        check_claim(study, claim)
    check_show(study)
    return study


def _check_run(run: Run, entries: Mapping[str, StudyPolicy]) -> None:
    """Refuse an attack that does not fit the bandit, and policies that cannot play."""
    for rho in run.rho:
        attack = run.attack_at(rho)
        if attack.rho != rho or (run.attack["name"] == "NoAttack" and rho > 0):
            raise InvalidInput(f"NoAttack attacks nothing, so rho must be 0, got {rho:g}.")
        where = f"the bandit of the run {run.name!r}"
        fitting(f"the attack {run.attack['name']}", where, attack, run.bandit)
        for name in run.policies:
            for policy in entries[name].candidates(attack.rho):
                constants_of(policy, run.bandit.arms, run.horizon)


def _check_tuning(tuning: Tuning | None, entries: Mapping[str, StudyPolicy], seed: int) -> None:
    """Refuse grids without trials to tune them on, or with the study's own trials."""
    if any(entry.tune for entry in entries.values()) and tuning is None:
        raise InvalidInput(
            "a policy has a grid to tune, but there is no table [tuning] with seed and trials."
        )
    if tuning and tuning.seed == seed:
        raise InvalidInput(
            f"tuning must not use the study's own seed {seed}: a policy would be judged on the "
            "trials it was tuned on."
        )


def _results_of(run: Run) -> dict[str, str]:
    """Return the table of a run that a study without show.toml gets."""
    title = f"Results of {run.name}"
    return {"name": f"results-{run.name}", "kind": "tails", "title": title, "run": run.name}


def _entry(name: str, data: object) -> StudyPolicy:
    if isinstance(data, str):
        data = {"policy": data}
    table = fields(f"policy {name!r}", data, ["policy"], ["tune", "tuning_trials"])
    tune = table.get("tune", {})
    if not isinstance(tune, dict) or not all(
        isinstance(values, list) and values and not any(isinstance(one, list) for one in values)
        for values in tune.values()
    ):
        raise InvalidInput(
            f"policy {name!r}: tune must give each parameter a list of values, for example {{ c = "
            f"[1, 10] }}, got {tune!r}."
        )
    policy = policy_from_text(text(f"policy {name!r}", table["policy"]), rho=0.1)
    for parameter in tune:
        if parameter not in policy.parameters:
            raise InvalidInput(
                f"policy {name!r}: {type(policy).__name__} has no parameter {parameter!r} to "
                f"tune.{did_you_mean(parameter, policy.parameters)}"
            )
    trials = table.get("tuning_trials")
    if trials is not None:
        trials = whole(f"policy {name!r}: tuning_trials", trials, at_least=2)
    return StudyPolicy(
        name,
        table["policy"],
        {parameter: tuple(values) for parameter, values in tune.items()},
        trials,
    )


def _run(
    data: object,
    study: Mapping[str, Any],
    entries: Mapping[str, StudyPolicy],
    tuning: Tuning | None,
    sizes: Sizes,
) -> Run:
    table = fields(
        "a run",
        data,
        ["name", "rho", "horizon"],
        [
            *("trials", "trials_of", "tuning_trials", "policies", "bandit", "attack", "ours"),
            *("quick", "long"),
            *FEEDBACK,
        ],
    )
    what = f"run {text('the name of a run', table['name'])!r}"
    long = "trials" not in table
    if long and "long" not in table:
        raise InvalidInput(
            f"{what} needs trials, or long = {{ trials = 20 }} if it is run with --long only."
        )
    for which in ("quick", "long"):
        if which in table:
            required = ["trials"] if long and which == "long" else []
            fields(f"{what}, {which}", table[which], required, ["trials", "trials_of", "horizon"])
    for sized in (table, *(table[which] for which in ("quick", "long") if which in table)):
        _check_sizes(what, sized, _chosen(what, table, entries))
    own = table.get(sizes.which, {})
    if "trials" in own and "trials_of" not in own:  # other sizes are for all policies
        table = {key: value for key, value in table.items() if key != "trials_of"}
    # a run that is not run needs a number all the same
    table = {"trials": 2, **table, **own}
    chosen = _chosen(what, table, entries)
    bandit, attack = (_own(part, study[part], table.get(part, {})) for part in ("bandit", "attack"))
    rho = rates(what, table["rho"])
    parameters = {key: value for key, value in attack.items() if key != "name"}
    attack_at(f"{what}: the attack", attack["name"], parameters, rho[0])
    return Run(
        name=str(table["name"]),
        rho=rho,
        horizon=_horizon(table["horizon"]),
        trials=_trials("trials", table["trials"] if sizes.trials is None else sizes.trials),
        policies=chosen,
        bandit=bandits.make(bandit),
        attack=attack,
        tuned_on=bandits.make(
            {**bandit, **tuning.bandit}
            if tuning and any(entries[name].tune for name in chosen)
            else bandit
        ),
        trials_of=(
            _trials_of(what, table.get("trials_of", {}), chosen) if sizes.trials is None else {}
        ),
        tuning_trials=(
            _trials(f"{what}: tuning_trials", table["tuning_trials"])
            if "tuning_trials" in table
            else None
        ),
        long=long,
        ours=yes_or_no(f"{what}: ours", table.get("ours", False)),
        **feedback_of(what, table),
    )


def _chosen(
    what: str, table: Mapping[str, Any], entries: Mapping[str, StudyPolicy]
) -> tuple[str, ...]:
    """Return the names of a run's policies: all of the study, or its own."""
    return known_names(f"{what}: policies", table.get("policies", list(entries)), entries)


def _check_sizes(what: str, sizes: Mapping[str, Any], chosen: Sequence[str]) -> None:
    """Refuse impossible numbers of trials and rounds, also if others are run now."""
    if "trials" in sizes:
        _trials(f"{what}: trials", sizes["trials"])
    if "horizon" in sizes:
        _horizon(sizes["horizon"])
    _trials_of(what, sizes.get("trials_of", {}), chosen)


def _horizon(value: object) -> int:
    return whole("horizon", value, at_least=1, below=10**12)


def _trials_of(what: str, table: object, chosen: Sequence[str]) -> dict[str, int]:
    counts = fields(f"{what}: trials_of", table, [], chosen)
    return {name: _trials(f"{what}: trials_of {name}", count) for name, count in counts.items()}


def _trials(what: str, value: object) -> int:
    return whole(what, value, at_least=2, below=10**8)


def _own(part: str, study: object, run: object) -> dict[str, Any]:
    """Return a run's bandit or attack, completed from the study's.

    One with a name of its own takes nothing from the study.
    """
    study, run = (
        fields(part, table, [], table if isinstance(table, dict) else []) for table in (study, run)
    )
    own = run if "name" in run else {**study, **run}
    text(f"the {part}'s name", fields(part, own, ["name"], own)["name"])
    return own


def _tuning(data: object, sizes: Sizes, seed_offset: int) -> Tuning:
    table = fields("tuning", data, ["seed", "trials"], ["quick", "bandit"])
    if sizes.which == "quick":
        table = {**table, **fields("tuning, quick", table.get("quick", {}), [], ["trials"])}
    bandit = table.get("bandit", {})
    fields("tuning, bandit", bandit, [], bandit if isinstance(bandit, dict) else [])
    return Tuning(
        whole("seed", table["seed"]) + seed_offset,
        whole("trials", table["trials"], at_least=2),
        bandit,
    )
