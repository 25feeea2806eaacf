"""What a study's show.toml may hold: words, figures and tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import InvalidInput
from ...naming.toml_fields import distinct, fields, file_name, tables, text
from ...policies import MedEUCB
from ...validation import choice, whole
from ..kit.grid import known_names
from .figures import KINDS, PICTURES
from .study import Study
from .tables import TABLES

FIGURE = (
    ["name", "kind", "title", "run", "caption"],
    ["policies", "trials", "heading"],
)
TABLE = (["name", "kind", "title"], ["run", "from"])
"""The fields that a figure and a table must have, and those that they may have."""


def check_show(study: Study) -> None:
    """Refuse words, figures and tables that name what the study does not have."""
    if "introduction" in study.show:
        text("introduction", study.show["introduction"])
    if "survivors" in study.show:
        table = fields("survivors", study.show["survivors"], ["run", "policies"])
        choice("survivors: run", table["run"], [run.name for run in study.runs if not run.long])
        known_names("survivors: policies", table["policies"], study.run(table["run"]).policies)
    for part in ("words", "policies"):
        known = study.policies if part == "policies" else study.show.get(part, {})
        for term, meaning in fields(part, study.show.get(part, {}), [], known).items():
            text(f"{part}: {term}", meaning)
    for part in ("figures", "tables"):
        items = tables(part, study.show.get(part, []))
        for item in items:
            what = f"{part[:-1]} {item.get('name', '')!r}"
            fields(what, item, *(FIGURE if part == "figures" else TABLE))
            file_name(f"{what}: name", item["name"])
            for words in ("title", "caption", "heading"):
                if words in item:
                    text(f"{what}: {words}", item[words])
            choice(
                f"{what}: kind", item["kind"], [*KINDS, *PICTURES] if part == "figures" else TABLES
            )
            if "run" in item or "from" in item or item["kind"] in ("tails", "growth"):
                choice(f"{what}: run", item.get("run"), [run.name for run in study.runs])
            if part == "figures":
                _check_figure(study, what, item)
            if "from" in item:
                horizon = study.run(item["run"]).horizon
                whole(f"{what}: from", item["from"], at_least=1, below=horizon)
        distinct(f"the name of {part}", [item["name"] for item in items])


def _check_figure(study: Study, what: str, item: Mapping[str, Any]) -> None:
    """Refuse a figure whose kind does not fit what it shows."""
    kind, run = item["kind"], study.run(item["run"])
    if ("policies" in item) == (kind in PICTURES):
        fault = "shows no policies; leave them out" if "policies" in item else "needs policies"
        raise InvalidInput(f"{what}: a figure of the kind {kind!r} {fault}.")
    if "heading" in item and kind in (*PICTURES, "schedule"):
        raise InvalidInput(
            f"{what}: a figure of the kind {kind!r} has no panels to head; leave heading out."
        )
    if kind in PICTURES and run.bandit.to_dict()["bandit"] != "RadioBandit":
        raise InvalidInput(f"{what}: a {kind} is drawn of a RadioBandit, got {run.bandit!r}.")
    if "policies" in item:
        known_names(f"{what}: policies", item["policies"], run.policies)
    if "trials" in item:
        choice(f"{what}: trials", item["trials"], ["paper"])
    if kind == "schedule" and not isinstance(
        study.policies[item["policies"][0]].candidates(0.1)[0], MedEUCB
    ):
        raise InvalidInput(f"{what}: a schedule is drawn of MedEUCB, got {item['policies'][0]!r}.")
