"""A tournament over lines estimate_a + c * spread_a that stays valid while c grows: the
highest line among thousands for the price of a few comparisons.

Every node stores the winner of its subtree and the largest c up to which no winner in
that subtree changes. A query at c visits only nodes whose time has come. A changed line
re-plays the log2(K) matches on its way up. Both compare the lines themselves, with the
same arithmetic as a plain scan. The stored times are taken a hair early, so rounding in
them costs at most a comparison. Only of lines that differ by less than their own
rounding may either win. Node 1 is the root, nodes `size`.. are the leaves.
"""

from __future__ import annotations

import math

from ..marks import cold, hot

A_HAIR_EARLY = 1.0 - 1e-12


@hot
def tree_levels(arms):
    """Return the number of levels: the matches on the way from a leaf to the root."""
    levels = 0
    while 1 << levels < arms:
        levels += 1
    return levels


@hot
def tree_size(arms):
    """Return the number of leaves: the power of two that holds all arms."""
    return 1 << tree_levels(arms)


@hot
def play(estimate, spread, winner, until, c, node):
    """Let the winners below `node` meet at c.

    Hot, though it runs in searches only: a call with four arrays costs more than a
    match, and a changed line plays one on every level.
    """
    left = winner[2 * node]
    right = winner[2 * node + 1]
    valid = min(until[2 * node], until[2 * node + 1])
    if right < 0:
        winner[node] = left
        until[node] = valid
        return
    if estimate[right] + c * spread[right] > estimate[left] + c * spread[left]:
        best = right
        other = left
    else:
        best = left
        other = right
    winner[node] = best
    if spread[other] > spread[best]:
        crossing = (
            A_HAIR_EARLY * (estimate[best] - estimate[other]) / (spread[other] - spread[best])
        )
        if crossing == crossing:  # two infinite estimates of one sign stay equal for ever
            valid = min(valid, max(c, crossing))
    until[node] = valid


@cold
def tree_build(estimate, spread, winner, until, c):
    """Play all matches at c."""
    arms = len(estimate)
    size = tree_size(arms)
    for leaf in range(size):
        winner[size + leaf] = leaf if leaf < arms else -1
        until[size + leaf] = math.inf
    for node in range(size - 1, 0, -1):
        play(estimate, spread, winner, until, c, node)


@cold
def tree_top(estimate, spread, winner, until, at, ready, c):
    """Return the arm with the highest line at c, which is at least the c of the last
    query.
    """
    if ready[0] == 0 or c < at[0]:
        tree_build(estimate, spread, winner, until, c)
        ready[0] = 1
    at[0] = c
    if until[1] >= c:
        return winner[1]
    node = 1
    size = tree_size(len(estimate))
    while True:
        if 2 * node < size and until[2 * node] < c:
            node = 2 * node
        elif 2 * node + 1 < size and until[2 * node + 1] < c:
            node = 2 * node + 1
        else:
            play(estimate, spread, winner, until, c, node)
            if node == 1:
                return winner[1]
            node //= 2


@cold
def tree_touch(estimate, spread, winner, until, at, a):
    """Re-play the matches of arm a after its line has changed."""
    node = (tree_size(len(estimate)) + a) // 2
    while node > 0:
        before = winner[node]
        valid = until[node]
        play(estimate, spread, winner, until, at[0], node)
        if before != a and winner[node] == before and until[node] == valid:
            return  # arm a lost here before and now: nothing above has changed
        node //= 2
