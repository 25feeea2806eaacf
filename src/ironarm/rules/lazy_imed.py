"""A leader that is certain to stay the choice, for policies of the IMED kind.

Such a policy pulls the arm with the smallest index. The leader, the arm with the
highest estimate, has the index log n. The index of any other arm grows with the
evidence against it, which grows with the leader's estimate. So a scan over all arms
also knows how long its answer holds: until the leader has `until` rewards, as long as
its estimate stays above `rival`, the highest of the others, and above `floor`, for
which the other indices were computed. Most rounds then need only a few comparisons.
Zero in `until` means that nothing is known.
"""

from __future__ import annotations

import math

from ..marks import cold, hot
from ..policy import Policy

FIELDS = {
    "leader": "cache int[1]",
    "until": "cache int[1]",
    "rival": "cache float[1]",
    "floor": "cache float[1]",
}


@hot
def still_leads(s):
    """Return whether the leader will certainly be chosen."""
    lead = s.leader[0]
    return (
        s.n[lead] < s.until[0] and s.estimate[lead] > s.rival[0] and s.estimate[lead] >= s.floor[0]
    )


@hot
def others_moved(s, a):
    """Take note that the estimate or the count of arm a has changed."""
    if a != s.leader[0]:
        s.until[0] = 0


@hot
def rewards_until(index):
    """Return a count below which log n is certainly less than the index.

    The difference is more than rounding or a tie.
    """
    return int(math.exp(min(index, 40.0)) * (1.0 - 1e-6))


@hot
def found_leader(s, lead, others, second, low):
    """Write down the leader, and until when it is certain to be the choice.

    `others` is the smallest index of the other arms if the leader's estimate falls to
    `low`, and `second` their highest estimate.
    """
    s.leader[0] = lead
    s.rival[0] = second
    s.floor[0] = low
    s.until[0] = rewards_until(others)


@cold
def highest_estimate(estimate):
    """Return the arm with the highest estimate, lowest number first among equals."""
    best = 0
    for a in range(1, len(estimate)):
        if estimate[a] > estimate[best]:
            best = a
    return best


class ImedPolicy(Policy):
    """The base of policies that pull the arm with the smallest index.

    `choose` begins with `still_leads(s)`; see `IMED`.
    """

    fields = FIELDS

    @staticmethod
    @hot
    def update(s, a, x):
        others_moved(s, a)

    @staticmethod
    @hot
    def recount(s, a):
        others_moved(s, a)
