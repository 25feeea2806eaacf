"""Forced pulls for policies whose confidence bounds hold only from `each` log t
rewards of an arm on: an arm with fewer has an infinite index.
"""

from __future__ import annotations

import math

from ..marks import cold


@cold
def too_few(n, rewards, enough_until, t, each):
    """Return the arm to pull because it has fewer than each * log t rewards, or -1
    if there is none; until round `enough_until` there will be none.
    """
    need = each * math.log(t)
    waiting = -1
    fewest = rewards[0]
    for a in range(len(n)):
        if n[a] == 0 or n[a] < need:
            return a
        # live use: enough decisions, but their rewards are not all in. No reward at all
        # comes first, then the fewest decisions
        lacks = rewards[a] == 0 or rewards[a] < need
        if lacks and (waiting < 0 or (rewards[a] > 0, n[a]) < (rewards[waiting] > 0, n[waiting])):
            waiting = a
        fewest = min(fewest, rewards[a])
    if waiting < 0:
        # a hair early: rounds in between are simply checked again
        enough_until[0] = int(math.exp(min(fewest / each * (1.0 - 1e-12), 41.0)))
    return waiting
