"""The file of an agent: JSON with a format version.

Infinities, and the NaN of a sum of both, travel as strings, because JSON has none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..engine.state import size_of
from ..errors import BadFile, InvalidInput, PolicyFault, PrunedEntries
from ..files import json_fault, json_pieces, json_ready, whole_file
from ..naming.own_code import is_here, split
from ..policies import Policy, from_dict
from ..policy import require_policy
from .input import estimator_for
from .replaced import renewed

FORMAT = "ironarm agent"
FORMAT_VERSION = 1
KEYS = (
    "policy",
    "arms",
    "minimize",
    "memory",
    "seed",
    "stream",
    "next_id",
    "tickets",
    "queues",
    "state",
)
ROOM = 2**25
"""Numbers that a file's agent may have, however short the file is: 256 MiB."""


def write(path: Path, data: dict[str, Any]) -> None:
    """Write an agent's data."""
    if not path.parent.is_dir():
        raise InvalidInput(f"{path} cannot be written: its folder does not exist.")
    with whole_file(path) as file:
        for piece in pieces(data):
            file.write(piece.encode())


def pieces(data: dict[str, Any]) -> Iterator[str]:
    """Return an agent's data as JSON, in pieces between which other threads run."""
    return json_pieces({"format": FORMAT, "version": FORMAT_VERSION, **json_ready(data)})


def read(path: Path, policy: Policy | None) -> tuple[dict[str, Any], Policy]:
    """Return an agent's data and its policy."""
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise BadFile(f"{path} does not exist.") from None
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror}.") from None
    except RecursionError as error:
        raise BadFile(f"{path} is not an agent's file: {json_fault(error)}.") from None
    except ValueError as error:
        raise BadFile(
            f"{path} is not an agent's file, or it is incomplete: {json_fault(error)}."
        ) from None
    return understood(path, data, policy)


def understood(path: Path, data: Any, policy: Policy | None) -> tuple[dict[str, Any], Policy]:
    """Return an agent's data and its policy, from what a file or a snapshot holds."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise BadFile(f"{path} is not an agent's file.")
    if not isinstance(data.get("version"), int) or data["version"] > FORMAT_VERSION:
        raise BadFile(
            f"{path} was written by a newer ironarm (format {data.get('version')}, this one reads "
            f"up to {FORMAT_VERSION}). Update ironarm to read it."
        )
    missing = [key for key in KEYS if key not in data]
    if missing:
        raise BadFile(f"{path} is damaged: {missing[0]!r} is missing.")
    check_arms(path, data)
    with damage_reported(path):
        data = renewed(_decoded(data))
    return data, policy_of(path, data["policy"], policy)


def check_arms(path: Path, data: dict[str, Any]) -> None:
    """Refuse a number in the place of names: it could ask for any amount of memory."""
    if not isinstance(data["arms"], list):
        raise BadFile(f"{path} is damaged: its arms are not a list of names.")


def check_size(path: Path, policy: Policy, data: dict[str, Any]) -> None:
    """Refuse a file whose policy needs far more memory than the file accounts for.

    Numbers that are 0 need not be in it, so some more is usual.
    """
    working = policy.mirrored() if data["minimize"] else policy
    needed = size_of(working, len(data["arms"]), estimator_for(policy, data["memory"]))
    held = path.stat().st_size
    if needed > max(ROOM, held):
        raise BadFile(
            f"{path} is not read: {policy!r} needs memory for {needed:,} numbers, and the file "
            f"has {held:,} bytes. If you trust it, give that policy as policy=..."
        )


def policy_of(path: Path, saved: dict[str, Any], policy: Policy | None) -> Policy:
    """Return the policy that was saved; the given one, if it is the same."""
    with damage_reported(path):
        name, parameters = saved["policy"], dict(saved["parameters"])
    if policy is None:
        with damage_reported(path):
            try:
                policy = from_dict(saved)
            except InvalidInput as error:
                # the error's own advice is for what was typed, not for what was saved
                reason = error if is_here(name) else "a saved file never loads code."
                problem = (
                    f"{path} holds an agent with the policy {name}, which cannot be made here "
                    f"({reason})"
                )
                raise BadFile(
                    f"{problem} If it is your own, give it as policy=..., or as --own "
                    "mine.py:MyPolicy to `ironarm plot`."
                ) from None
        return policy
    require_policy(policy, f" The file holds {name}.")
    if not _is_saved(policy, saved):
        raise BadFile(
            f"{path} holds an agent with {name} and parameters {parameters}, but {policy!r} was "
            "given. Leave the policy out to open that agent, or choose another path."
        )
    return policy


def _is_saved(policy: Policy, saved: dict[str, Any]) -> bool:
    """Return whether a policy is the one that was saved.

    Parameters that it did not have then must have their defaults.
    """
    # the class may have been named by its file then, and be imported now
    saved = {**saved, "policy": split(saved["policy"])[1]}
    given = {**policy.to_dict(), "policy": type(policy).__name__}
    defaults = {field.name: field.default for field in fields(policy)}  # type: ignore[arg-type]
    since = [name for name in given["parameters"] if name not in saved["parameters"]]
    filled = {
        **saved,
        "parameters": {
            **saved["parameters"],
            **{name: given["parameters"][name] for name in since},
        },
    }
    return given == filled and all(getattr(policy, name) == defaults[name] for name in since)


@contextmanager
def damage_reported(path: Path | str) -> Iterator[None]:
    """Turn what goes wrong with damaged contents into one sentence."""
    try:
        yield
    except (BadFile, PrunedEntries, PolicyFault):
        raise
    except RecursionError as error:
        raise BadFile(f"{path} is damaged: {json_fault(error)}.") from None
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError) as error:
        raise BadFile(f"{path} is damaged ({error}).") from None


def _decoded(value: Any) -> Any:
    """Turn texts into infinities, but only inside the state.

    Nothing else has infinite numbers, and an arm may well be called "inf".
    """
    return {**value, "state": _with_infinities(value["state"])}


def _with_infinities(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_infinities(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_infinities(item) for item in value]
    return float(value) if value in ("inf", "-inf", "nan") else value
