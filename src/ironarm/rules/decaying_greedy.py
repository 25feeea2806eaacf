"""The start and the exploration of decaying epsilon-greedy: each arm `first_pulls`
times, then a uniform arm with probability min(1, c K / t).
"""

from __future__ import annotations

from ..marks import hot
from ..random import integer, uniform
from .highest_index import first_unrewarded, highest_line


@hot
def greedy_after_start(s, t, g):
    """Return the scheduled arm during the start, a uniform arm with probability
    min(1, c K / t) after it, otherwise the arm with the highest estimate.
    """
    if t <= s.arms * s.first_pulls:
        return int((t - 1) // s.first_pulls)
    if uniform(g) < s.c * s.arms / t:
        return integer(g, s.arms)
    # A live agent tries an arm that has shown no reward yet; a simulation follows Auer
    # et al., where such an arm counts as -inf
    if s.live and s.unrewarded[0] > 0:
        return first_unrewarded(s.n, s.rewards, s.fresh)
    return highest_line(s, t, 0.0)
