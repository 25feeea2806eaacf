"""The last `s.window` rewards over all arms, in a ring.

Every new reward takes the place of the oldest one, whichever arm that was of. So an
arm's share of the window can shrink without any reward of its own, down to nothing. In
a simulation there is one reward in each round, and the window counts rounds. Behind an
agent it counts rewards: one that comes late counts from when it comes.

Places are numbered from 1 to `s.window`, so that 0 can stand for "none". A place holds
the reward and the tag of its arm: the arm's own number, which it keeps when other arms
leave. A place with tag 0 has not been used. O(1) a reward; O(arms) after an arm has
left.

`s.capacity` is the length of the arrays. Lengths are compiled in, so it is a power of
two, and windows of about the same length share their compiled code.
"""

from __future__ import annotations

from ...marks import cold, hot

FIELDS = {
    "ring_value": "float[capacity]",
    "ring_tag": "int[capacity]",
    "ring_last": "int[1]",  # the place of the newest reward
    "tag": "int[arms]",
    "last_tag": "int[1]",
    "held": "int[arms]",  # rewards of the arm that are in the window
    "left": "cache int[1]",  # 1 + the arm of the reward that has just left
}


def capacity_for(window: int) -> int:
    """Return the smallest power of two above the window.

    >>> capacity_for(1000), capacity_for(1024)
    (1024, 2048)
    """
    return 1 << window.bit_length()


@hot
def oldest_place(s):
    """Return the place that the next reward takes."""
    place = s.ring_last[0] + 1
    return place if 1 <= place <= int(s.window) else 1


@cold
def tag_of(s, a):
    """Return the tag of arm a; it gets one with its first reward."""
    if s.last_tag[0] == 0:
        for k in range(s.arms):
            s.tag[k] = k + 1
        s.last_tag[0] = s.arms
    if s.tag[a] == 0:
        s.last_tag[0] += 1
        s.tag[a] = s.last_tag[0]
    return s.tag[a]


@hot
def arm_at(s, place):
    """Return the arm of the reward at a place, -1 if there is none any more."""
    tag = s.ring_tag[place]
    if tag <= 0:
        return -1
    if tag <= s.arms and s.tag[tag - 1] == tag:
        return tag - 1
    return arm_with(s, tag)


@cold
def arm_with(s, tag):
    """Return the arm with that tag, or -1."""
    for k in range(s.arms):
        if s.tag[k] == tag:
            return k
    return -1


@hot
def write_newest(s, a, x, place):
    """Write the reward x of arm a to the place of the oldest."""
    s.ring_value[place] = x
    tag = s.tag[a]
    s.ring_tag[place] = tag if tag > 0 else tag_of(s, a)
    s.ring_last[0] = place
    s.held[a] += 1
