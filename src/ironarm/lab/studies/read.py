"""Read a study from its folder: `runs.toml`, `claims.toml` and `show.toml`.

`studies/synthetic/` is the example to copy; its comments explain the fields. Everything
is checked before anything runs. An unknown policy, parameter, attack, check or field is
refused with what may have been meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ... import bandits
from ...errors import BadFile, InvalidInput
from ...naming.own_faults import constants_of
from ...naming.toml_fields import distinct, fields, read_toml, tables, text
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


def read_study(where: str, *, trials: int | None = None, quick: bool = False) -> Study:
    """Read one of ironarm's studies by its name, or a user's by its folder.

    `trials` replaces every run's own number; `quick` selects the study's quick sizes.
    """
    folder = _folder(where)
    runs, claims, show = (
        read_toml(path) if (path := folder / f"{part}.toml").exists() else {}
        for part in ("runs", "claims", "show")
    )
    try:
        return _study(folder, runs, claims, show, trials, quick)
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
    trials: int | None,
    quick: bool,
) -> Study:
    top = fields(
        "runs.toml",
        runs,
        ["title", "seed", "bandit", "attack", "policies", "runs"],
        ["paper", "paper_trials", "proposed", "tuning", "arm", "unit"],
    )
    entries = {
        name: _entry(name, data) for name, data in named("policies", top["policies"]).items()
    }
    tuning = _tuning(top["tuning"], quick) if "tuning" in top else None
    listed = [
        _run(data, top, entries, tuning, trials, quick) for data in tables("runs", top["runs"])
    ]
    if not listed:
        raise InvalidInput("the study has no run; add one under [[runs]].")
    distinct("the run name", [run.name for run in listed])
    if quick and not any("quick" in data for data in top["runs"]):
        raise InvalidInput(
            "the study has no quick sizes; leave out --quick, or add quick = { trials = 20 } to "
            "its runs."
        )
    for run in listed:
        _check_run(run, entries)
    seed = whole("seed", top["seed"])
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
            "show.toml", show, [], ["introduction", "words", "policies", "figures", "tables"]
        ),
        quick=quick,
        arm=text("arm", top.get("arm", "arm")),
        unit=text("unit", top["unit"]) if "unit" in top else "",
        proposed=known_names("proposed", top["proposed"], entries) if "proposed" in top else (),
    )
    if not study.show:  # a report without a number would say nothing
        study = replace(study, show={"tables": [_results_of(run) for run in study.runs]})
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
        isinstance(values, list) and values for values in tune.values()
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
    trials: int | None,
    quick: bool,
) -> Run:
    table = fields(
        "a run",
        data,
        ["name", "rho", "horizon", "trials"],
        ["policies", "quick", "bandit", "attack", *FEEDBACK],
    )
    what = f"run {text('the name of a run', table['name'])!r}"
    if "quick" in table:
        fields(f"{what}, quick", table["quick"], [], ["trials", "horizon"])
    if quick:
        table = {**table, **table.get("quick", {})}
    chosen = known_names(f"{what}: policies", table.get("policies", list(entries)), entries)
    bandit, attack = (_own(part, study[part], table.get(part, {})) for part in ("bandit", "attack"))
    rho = rates(what, table["rho"])
    parameters = {key: value for key, value in attack.items() if key != "name"}
    attack_at(f"{what}: the attack", attack["name"], parameters, rho[0])
    return Run(
        name=str(table["name"]),
        rho=rho,
        horizon=whole("horizon", table["horizon"], at_least=1, below=10**12),
        trials=whole(
            "trials", table["trials"] if trials is None else trials, at_least=2, below=10**8
        ),
        policies=chosen,
        bandit=bandits.make(bandit),
        attack=attack,
        tuned_on=bandits.make(
            {**bandit, **tuning.bandit}
            if tuning and any(entries[name].tune for name in chosen)
            else bandit
        ),
        **feedback_of(what, table),
    )


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


def _tuning(data: object, quick: bool) -> Tuning:
    table = fields("tuning", data, ["seed", "trials"], ["quick", "bandit"])
    if quick:
        table = {**table, **fields("tuning, quick", table.get("quick", {}), [], ["trials"])}
    bandit = table.get("bandit", {})
    fields("tuning, bandit", bandit, [], bandit if isinstance(bandit, dict) else [])
    return Tuning(
        whole("seed", table["seed"]), whole("trials", table["trials"], at_least=2), bandit
    )
