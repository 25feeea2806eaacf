"""Forced pulls, for policies whose confidence bounds need a number of rewards.

Below that number an arm's index counts as infinite, so the arm is pulled. (MedEUCB's
schedule is another matter, in `policies/med_e_ucb.py`.)
"""

from __future__ import annotations

import math

from ..marks import cold


@cold
def arm_below(n, rewards, need):
    """Return the lowest arm with fewer than `need` rewards, or -1 if there is none.

    Live, an arm may have enough decisions whose rewards are still open. Such arms come
    last: first those without any reward, then those with the fewest decisions.
    """
    waiting = -1
    for a in range(len(n)):
        if n[a] == 0 or n[a] < need:
            return a
        lacks = rewards[a] == 0 or rewards[a] < need
        if lacks and (waiting < 0 or (rewards[a] > 0, n[a]) < (rewards[waiting] > 0, n[waiting])):
            waiting = a
    return waiting


@cold
def too_few(n, rewards, enough_until, t, each):
    """Return the lowest arm with fewer than each * log t rewards, or -1.

    If there is none, `enough_until` is set to the last round up to which that is sure.
    """
    arm = arm_below(n, rewards, each * math.log(t))
    if arm < 0:
        fewest = rewards[0]
        for a in range(1, len(n)):
            fewest = min(fewest, rewards[a])
        # slightly early: the rounds in between are simply checked again
        enough_until[0] = int(math.exp(min(fewest / each * (1.0 - 1e-12), 41.0)))
    return arm
