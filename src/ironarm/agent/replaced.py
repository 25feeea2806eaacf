"""Agents whose policy has been replaced: their rewards go to the policy's successor."""

from __future__ import annotations

import warnings
from typing import Any

from ..estimators.sampled_median import LIMIT
from ..policies import POLICIES, REPLACED

# what the gone policies kept for themselves, which their successors do not read
OWN_FIELDS = {"AdaptiveCountIMED": ("evidence", "at", "stage", "learnt", "next_look")}


def renewed(data: dict[str, Any]) -> dict[str, Any]:
    """Return an agent's data as its policy's successor would have saved it.

    The successor has learnt nothing yet beside the rewards. It looks at them in the
    first round. Raises KeyError, TypeError or ValueError if the data are damaged.
    """
    name = data["policy"]["policy"]
    if name not in REPLACED:
        return data
    successor = POLICIES[REPLACED[name]]
    warnings.warn(
        f"{name} has been replaced by {successor.__name__}, which continues with this agent's "
        "rewards.",
        FutureWarning,
        stacklevel=4,  # the caller of Agent.load
    )
    state = data["state"]
    arms = len(state["fields"]["n"])
    fields = {key: values for key, values in state["fields"].items() if key not in OWN_FIELDS[name]}
    for key, kind in successor.fields.items():
        if not kind.startswith("cache "):
            fields[key] = [float(0) if kind.startswith("float") else 0] * (
                arms if "[arms]" in kind else 1
            )
    samples = [_sample([float(x) for x in rewards]) for rewards in state["rewards"]]
    fields["skipped"] = [
        len(rewards) - len(held)
        for rewards, (held, _) in zip(state["rewards"], samples, strict=True)
    ]
    fields["mask"] = [mask for _, mask in samples]
    return {
        **data,
        "policy": {"policy": successor.__name__, "parameters": {}},
        "state": {**state, "fields": fields, "rewards": [held for held, _ in samples]},
    }


def _sample(rewards: list[float]) -> tuple[list[float], int]:
    """Return what `SampledMedian` would hold of the rewards, and its mask."""
    mask = 0
    while len(rewards) >= LIMIT:
        rewards, mask = sorted(rewards)[1::2], 2 * mask + 1
    return rewards, mask
