"""What a study's show.toml may hold: words, figures and tables."""

from __future__ import annotations

from collections.abc import Iterable

from ...errors import InvalidInput
from ...naming.toml_fields import distinct, fields, file_name, tables, text
from ...policies import MedEUCB
from ...validation import choice, whole
from .figures import KINDS, PICTURES
from .study import Study, known_policies
from .tables import TABLES


def check_show(study: Study) -> None:
    """Refuse words, figures and tables that name what the study does not have."""
    if "introduction" in study.show:
        text("introduction", study.show["introduction"])
    for part in ("words", "policies"):
        for term, meaning in fields(
            part,
            study.show.get(part, {}),
            [],
            study.policies if part == "policies" else study.show.get(part, {}),
        ).items():
            text(f"{part}: {term}", meaning)
    parts: list[tuple[str, Iterable[str], list[str], list[str]]] = [
        (
            "figures",
            [*KINDS, *PICTURES],
            ["name", "kind", "title", "run", "caption"],
            ["policies", "trials", "heading"],
        ),
        ("tables", TABLES, ["name", "kind", "title"], ["run", "from"]),
    ]
    for part, kinds, required, optional in parts:
        items = tables(part, study.show.get(part, []))
        for item in items:
            what = f"{part[:-1]} {item.get('name', '')!r}"
            fields(what, item, required, optional)
            file_name(f"{what}: name", item["name"])
            for words in ("title", "caption", "heading"):
                if words in item:
                    text(f"{what}: {words}", item[words])
            choice(f"{what}: kind", item["kind"], kinds)
            if "run" in item or item["kind"] in ("tails", "growth"):
                choice(f"{what}: run", item.get("run"), [run.name for run in study.runs])
            if part == "figures" and ("policies" in item) == (item["kind"] in PICTURES):
                fault = (
                    "shows no policies; leave them out" if "policies" in item else "needs policies"
                )
                raise InvalidInput(f"{what}: a figure of the kind {item['kind']!r} {fault}.")
            if "heading" in item and (item["kind"] in PICTURES or item["kind"] == "schedule"):
                raise InvalidInput(
                    f"{what}: a figure of the kind {item['kind']!r} has no panels to head; leave "
                    "heading out."
                )
            if (
                item["kind"] in PICTURES
                and study.run(item["run"]).bandit.to_dict()["bandit"] != "RadioBandit"
            ):
                raise InvalidInput(
                    f"{what}: a {item['kind']} is drawn of a RadioBandit, got "
                    f"{study.run(item['run']).bandit!r}."
                )
            if "policies" in item:
                known_policies(
                    f"{what}: policies", item["policies"], study.run(item["run"]).policies
                )
            if "trials" in item:
                choice(f"{what}: trials", item["trials"], ["paper"])
            if "from" in item:
                whole(
                    f"{what}: from", item["from"], at_least=1, below=study.run(item["run"]).horizon
                )
            if item["kind"] == "schedule" and not isinstance(
                study.policies[item["policies"][0]].candidates(0.1)[0], MedEUCB
            ):
                raise InvalidInput(
                    f"{what}: a schedule is drawn of MedEUCB, got {item['policies'][0]!r}."
                )
        distinct(f"the name of {part}", [item["name"] for item in items])
