"""The arm with the highest index estimate_a + sqrt(coefficient * log t) / sqrt(n_a),
lowest number first among equals. With coefficient 0: the highest estimate.

Between two pulls of an arm its index is a line in c = sqrt(coefficient log t), and c
creeps. Two consequences, both exact:

* **Lazy leader**, here. `threat` is the largest index the other arms can reach until
  round `threat_until`; while the leader's index exceeds it, the leader is the answer.
  The c of an earlier round, `leader_scale`, is enough to know that, because c only
  grows: one comparison, no logarithm. Otherwise all indices are computed.
* **Kinetic tree**, in `kinetic_tree.py`. From 65 arms on the engine puts it in the
  place of `highest_line` and `line_moved`.
"""

from __future__ import annotations

import math

from ..marks import cold, hot

FIELDS = {
    "spread": "cache float[arms]",
    "leader": "cache int[1]",
    "leader_scale": "cache float[1]",
    "threat": "cache float[1]",
    "threat_scale": "cache float[1]",
    "threat_until": "cache int[1]",
    "tree_winner": "cache int[arms*4]",
    "tree_until": "cache float[arms*4]",
    "tree_at": "cache float[1]",
    "tree_ready": "cache int[1]",
}


@hot
def highest_index(s, t, coefficient):
    """Return the arm with the highest index at round t; an arm without any reward
    comes first, fewest open decisions first. The coefficient must not shrink from
    round to round.
    """
    if s.unrewarded[0] > 0:
        return first_unrewarded(s.n, s.rewards, s.fresh)
    return highest_line(s, t, coefficient)


@hot
def highest_line(s, t, coefficient):
    """Return the arm with the highest index at round t, arms without a reward last."""
    leader = s.leader[0]
    # the bare estimate first: where it is enough, nothing waits for the square root in
    # the spread
    if (
        leader >= 0
        and t <= s.threat_until[0]
        and (
            s.estimate[leader] > s.threat[0]
            or s.estimate[leader] + s.leader_scale[0] * s.spread[leader] > s.threat[0]
        )
    ):
        return leader
    return scan(
        s.estimate,
        s.spread,
        s.leader,
        s.leader_scale,
        s.threat,
        s.threat_scale,
        s.threat_until,
        t,
        coefficient,
    )


@hot
def index_moved(s, a):
    """Take note that the estimate or the count of arm a has changed."""
    s.spread[a] = 1.0 / math.sqrt(s.n[a]) if s.n[a] > 0 else 0.0
    line_moved(s, a)


@hot
def line_moved(s, a):
    """Take note that the estimate or the spread of arm a has changed, for policies
    whose spread is not 1 / sqrt(n).
    """
    if a != s.leader[0]:
        s.threat[0] = max(s.threat[0], s.estimate[a] + s.threat_scale[0] * s.spread[a])


@cold
def scan(
    estimate, spread, leader, leader_scale, threat, threat_scale, threat_until, t, coefficient
):
    """Compute all indices, and what the others can reach until about t * 17/16."""
    c = math.sqrt(coefficient * math.log(t))
    leader_scale[0] = c
    if t <= threat_until[0] and estimate[leader[0]] + c * spread[leader[0]] > threat[0]:
        return leader[0]
    until = t + t // 16 + 8
    later = math.sqrt(coefficient * math.log(until))
    best = 0
    highest = estimate[0] + c * spread[0]
    reach = estimate[0] + later * spread[0]
    runner_up = -math.inf
    for a in range(1, len(estimate)):
        index = estimate[a] + c * spread[a]
        its_reach = estimate[a] + later * spread[a]
        if index > highest:
            runner_up = max(runner_up, reach)
            best = a
            highest = index
            reach = its_reach
        else:
            runner_up = max(runner_up, its_reach)
    leader[0] = best
    threat[0] = runner_up
    threat_scale[0] = later
    threat_until[0] = until
    return best


@cold
def first_unrewarded(n, rewards, fresh):
    """Return the arm without a reward that has the fewest open decisions; `fresh`
    walks once over the arms never chosen.
    """
    while fresh[0] < len(n):
        if n[fresh[0]] == 0:
            return fresh[0]
        fresh[0] += 1
    best = -1
    for a in range(len(n)):
        if rewards[a] == 0 and (best < 0 or n[a] < n[best]):
            best = a
    return best
