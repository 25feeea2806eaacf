"""What a long run of a study found, kept as a small file for those who do not run it.

`ironarm reproduce --long` writes `long.json`: what was measured of growth in each run,
with the command, the version and the date. A study that has such a file in its folder
shows these numbers where it has none of its own, and says that they were not run here.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ...errors import BadFile
from ...files import json_ready
from ...simulation.fingerprint import hash_of
from ...version import __version__
from ..kit.statistics import Estimate
from .checking import CHECKS, Measured
from .judged import SIGNS, JudgedClaim
from .study import Run, Study

FILE = "long.json"
FORMAT = "ironarm long run"


@dataclass(frozen=True)
class LongRun:
    """A long run of a study, as its file has it."""

    command: str
    version: str
    date: str
    seed: int
    found: Mapping[str, Measured]
    """By `_key`."""

    def measured(
        self, study: Study, claim: Mapping[str, Any], run: Run, rho: float
    ) -> dict[str, Measured]:
        """Return what was measured of a claim in a run, by policy.

        Nothing of a claim, run or policy that has changed since.
        """
        keys = {
            name: _key(study, claim, run, rho, name)
            for name in claim["policies"]
            if name in run.policies
        }
        found = {name: self.found[key] for name, key in keys.items() if key in self.found}
        return {
            name: part
            for name, part in found.items()
            if (part.policy, part.horizon) == (name, run.horizon)
        }


def read_long_run(study: Study) -> LongRun | None:
    """Return the long run that lies in a study's folder; None if there is none."""
    path = study.folder / FILE
    if not path.is_file():
        return None
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT:
            raise ValueError(data["format"])
        run = data["run"]
        found = {key: _measured(part) for key, part in data["found"].items()}
        return LongRun(run["command"], run["version"], run["date"], run["seed"], found)
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise BadFile(
            f"{path} is not a summary of a long run. Delete it, or write it again with "
            "ironarm reproduce --long."
        ) from None


def summary_of(study: Study, claims: Iterable[JudgedClaim], command: str) -> dict[str, Any]:
    """Return what `long.json` holds: what was measured of growth, and how."""
    return {
        "format": FORMAT,
        "run": {
            "command": command,
            "version": __version__,
            "date": time.strftime("%Y-%m-%d"),
            "seed": study.seed,
        },
        "found": {key: json_ready(asdict(part)) for key, part in _growth(study, claims)},
    }


def _growth(study: Study, claims: Iterable[JudgedClaim]) -> Iterator[tuple[str, Measured]]:
    for judged in claims:
        if not CHECKS[judged.claim["check"]].growth:
            continue
        for setting in judged.settings:
            runs = {run.horizon: run for run in map(study.run, setting.runs)}
            for part in setting.full.measured:
                assert setting.rho is not None, "growth is judged at a rho"
                yield _key(study, judged.claim, runs[part.horizon], setting.rho, part.policy), part


def _key(study: Study, claim: Mapping[str, Any], run: Run, rho: float, name: str) -> str:
    """Return a name for what was measured: readable, with a hash of what defines it.

    The number of trials, the seed and the code of policies do not belong to it.
    """
    check, entry, tuning = CHECKS[claim["check"]], study.policies[name], study.tuning
    what = [
        claim["check"],
        {key: claim[key] for key in check.parameters if key != "policies"},
        run.bandit.to_dict(),
        repr(run.attack_at(rho)),
        run.horizon,
        repr([run.sources, run.delay]),
        [repr(policy) for policy in entry.candidates(rho)],
    ]
    if entry.tune and tuning:
        trials = run.tuning_trials or entry.tuning_trials or tuning.trials
        what += [run.tuned_on.to_dict(), trials]
    digest = hash_of(json.dumps(what, sort_keys=True))[:8]
    return f"{claim['check']}, {name}, {run.name}, rho = {rho:g} [{digest}]"


def _measured(data: Mapping[str, Any]) -> Measured:
    """Return what a file has of a measurement; infinite numbers are kept as text."""
    estimate = Estimate(**{key: float(value) for key, value in data["estimate"].items()})
    part = Measured(**{**data, "estimate": estimate, "elsewhere": True})
    fits = (
        part.judgement in SIGNS
        and all(isinstance(text, str) for text in (part.what, part.text, part.policy))
        and all(type(count) is int and count > 0 for count in (part.horizon, part.trials))
        and not any(math.isnan(end) for end in (estimate.low, estimate.high))
    )
    if not fits:
        raise ValueError(data)
    return part
