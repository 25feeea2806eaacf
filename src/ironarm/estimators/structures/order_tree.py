"""The rewards of each arm that are in the ring, in order: one balanced tree for each.

A node is a place of the ring (`ring.py`), so a reward that leaves the ring is found in
its tree without a search, and the trees of all arms share the memory of one window.
The trees are balanced by weight: neither side of a node has more than three times the
weight of the other, a weight being the number of nodes plus one. A rotation where that
is broken mends it, a double one if the inner grandchild weighs twice the outer or more
(Hirai and Yamamoto 2011 proved these two numbers right for insertions and deletions).
So each of them costs O(log n) in the worst case, whatever the values are: equal,
sorted, infinite, or chosen by an attacker.

Trees are not saved. They are grown anew from the ring where they are missing.
"""

from __future__ import annotations

from ...marks import cold
from .ring import arm_at, oldest_place

FIELDS = {
    "root": "cache int[arms]",
    "child": "cache int[links]",  # of node i: 2 i and 2 i + 1
    "parent": "cache int[capacity]",
    "nodes": "cache int[capacity]",  # in the tree below a node, itself included
    "trees_grown": "cache int[1]",
}
HEAVY = 3
INNER = 2


@cold
def replace_node(s, a, old, new):
    """Hang node `new`, or nothing, where node `old` hangs."""
    above = s.parent[old]
    if above == 0:
        s.root[a] = new
    else:
        s.child[2 * above + (s.child[2 * above + 1] == old)] = new
    if new != 0:
        s.parent[new] = above


@cold
def lift(s, a, i, side):
    """Rotate: the child of node i on that side takes its place, and i hangs below."""
    c = s.child[2 * i + side]
    inner = s.child[2 * c + 1 - side]
    replace_node(s, a, i, c)
    s.child[2 * i + side] = inner
    if inner != 0:
        s.parent[inner] = i
    s.child[2 * c + 1 - side] = i
    s.parent[i] = c
    s.nodes[c] = s.nodes[i]
    s.nodes[i] = 1 + s.nodes[s.child[2 * i]] + s.nodes[s.child[2 * i + 1]]


@cold
def mend(s, a, i):
    """Count and balance anew from node i up to the root."""
    while i != 0:
        low = s.nodes[s.child[2 * i]] + 1
        high = s.nodes[s.child[2 * i + 1]] + 1
        s.nodes[i] = low + high - 1
        if low > HEAVY * high or high > HEAVY * low:
            side = 1 if high > low else 0
            c = s.child[2 * i + side]
            outer = s.nodes[s.child[2 * c + side]] + 1
            if s.nodes[s.child[2 * c + 1 - side]] + 1 >= INNER * outer:
                lift(s, a, c, 1 - side)
            lift(s, a, i, side)
            i = s.parent[i]
        i = s.parent[i]


@cold
def tree_insert(s, a, i):
    """Add the reward at place i of the ring to the tree of arm a."""
    x = s.ring_value[i]
    above = 0
    at = s.root[a]
    side = 0
    while at != 0:
        above = at
        side = 1 if x >= s.ring_value[at] else 0
        at = s.child[2 * at + side]
    s.child[2 * i] = 0
    s.child[2 * i + 1] = 0
    s.parent[i] = above
    s.nodes[i] = 1
    if above == 0:
        s.root[a] = i
    else:
        s.child[2 * above + side] = i
        mend(s, a, above)


@cold
def tree_remove(s, a, i):
    """Take the reward at place i of the ring out of the tree of arm a."""
    low = s.child[2 * i]
    high = s.child[2 * i + 1]
    if low == 0 or high == 0:
        begin = s.parent[i]
        replace_node(s, a, i, low if high == 0 else high)
    else:
        # the next larger one takes its place
        j = high
        while s.child[2 * j] != 0:
            j = s.child[2 * j]
        begin = s.parent[j] if s.parent[j] != i else j
        replace_node(s, a, j, s.child[2 * j + 1])
        replace_node(s, a, i, j)
        for side in range(2):
            c = s.child[2 * i + side]
            s.child[2 * j + side] = c
            if c != 0:
                s.parent[c] = j
    mend(s, a, begin)


@cold
def tree_value(s, a, rank):
    """Return the reward of that rank (from 0) of arm a, which has more than that."""
    at = s.root[a]
    while True:
        below = s.nodes[s.child[2 * at]]
        if rank == below:
            return s.ring_value[at]
        if rank < below:
            at = s.child[2 * at]
        else:
            at = s.child[2 * at + 1]
            rank -= below + 1


@cold
def grow_trees(s):
    """Grow the trees of all arms from the ring, oldest reward first."""
    window = int(s.window)
    first = oldest_place(s) - 1
    for k in range(window):
        place = (first + k) % window + 1
        a = arm_at(s, place)
        if a >= 0:
            tree_insert(s, a, place)
    s.trees_grown[0] = 1
