"""The multi-layer race: arm elimination in layers that see less and less corruption."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..marks import cold, hot
from ..random import uniform
from ..rules.reward_range import MeanOfRange, share_of_range
from ..validation import number, optional, whole

LAYERS = 40  # places for each arm; a horizon of 10^12 rounds needs all of them


@hot
def drawn_layer(u, layers):
    """Return layer l with probability 2^-l, and layer 1 with what remains."""
    layer = 1
    edge = 0.5
    while u < edge:
        if layer == layers:
            return 1
        layer += 1
        edge *= 0.5
    return layer


@hot
def layer_of(chance, layers):
    """Return the layer that is drawn with this probability."""
    layer = 1
    share = 0.5
    while share > chance and layer < layers:
        layer += 1
        share *= 0.5
    return layer


@hot
def empty_layers(s):
    """Return the number of layers that all arms have left: the first ones."""
    empty = s.left[0]
    for a in range(1, s.arms):
        empty = min(empty, s.left[a])
    return empty


@hot
def least_pulled(s, layer):
    """Return the active arm with the fewest pulls in the layer, which has one.

    Rewards that have not come count as well, whatever layer they are for: else late
    rewards would make it repeat one arm.
    """
    arm = 0
    fewest = math.inf
    for a in range(s.arms):
        if s.left[a] < layer:
            n = s.pulls[a * LAYERS + layer - 1] + s.n[a] - s.rewards[a]
            if n < fewest:
                fewest = n
                arm = a
    return arm


@cold
def first_with(s, left):
    """Return the first arm that has left so many layers."""
    arm = 0
    while s.left[arm] != left:
        arm += 1
    return arm


@cold
def eliminate(s, layer):
    """Drop each arm of a layer that is clearly worse than another, here and below.

    The arm with the highest lower bound stays, so one look at all arms is enough.
    """
    highest = -math.inf
    for a in range(s.arms):
        at = a * LAYERS + layer - 1
        if s.left[a] < layer and s.pulls[at] > 0:
            width = s.log_term / s.pulls[at]
            highest = max(highest, s.sums[at] / s.pulls[at] - (math.sqrt(width) + width))
    for a in range(s.arms):
        at = a * LAYERS + layer - 1
        if s.left[a] < layer and s.pulls[at] > 0:
            width = s.log_term / s.pulls[at]
            if s.sums[at] / s.pulls[at] + (math.sqrt(width) + width) < highest:
                s.left[a] = layer


@cold
def reopen(s):
    """Make all arms active again; those that are clearly worse leave at once.

    Only if arms were taken away can all the others have left the last layer.
    """
    for a in range(s.arms):
        s.left[a] = 0
    for layer in range(1, int(s.layers) + 1):
        eliminate(s, layer)


@dataclass(frozen=True)
class MultiLayerRace(MeanOfRange):
    """The multi-layer active arm elimination race, for corruption of C in total.

    You need not know C. A round belongs to layer l = 1, ..., ceil(log2 T) with
    probability 2^-l, else to layer 1. It pulls the layer's active arm with the fewest
    pulls n there. With the layer's means of rewards in [0, 1] and

        width = sqrt(L / n) + L / n,   L = scale ln(4 K T log2(T) / delta),

    an active arm that is worse than another by more than both widths is eliminated from
    this layer and all below. A layer without active arms pulls the first one of the
    lowest layer above that has any, and learns nothing. Layer l sees about 2^-l C of
    the corruption. Layers from log2 C on are right, and put faster ones right.

    **Experimental.** The paper's text was not available. One other implementation has
    the same width. That an empty layer learns nothing was not checked.

    **Not for a share rho of corrupt rewards**: C then grows with T. **Not for small
    gaps**: an arm leaves layer 1 after more than 4 L / gap^2 pulls, and L is about 20.

    Behind an agent: see docs/policies.md.

    Parameters
    ----------
    horizon : rounds T that the layers and L are computed for, below 10^12. None: a
        simulation uses its own; an agent needs one.
    delta : the probability that the regret exceeds the guarantee, 0 < delta < 1.
    reward_range : (low, high), the rewards that map to 0 and 1; others are clipped.
    scale : a factor of L, > 0. Below 1 arms leave sooner, but the guarantee is lost.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.BernoulliBandit([0.1, 0.9])
    >>> policies = [
    ...     ia.policies.MultiLayerRace(),
    ...     ia.policies.MultiLayerRace(scale=0.1),
    ... ]
    >>> result = ia.simulate(
    ...     policies, bandit, horizon=5000, trials=20, seed=1, progress=False
    ... )
    >>> result.optimal[:, :, -1].mean(axis=1).round(2).tolist()
    [0.83, 0.97]

    References
    ----------
    Lykouris, Mirrokni, Paes Leme, Stochastic bandits robust to adversarial corruptions,
    STOC 2018.
    """

    horizon: int | None = None
    delta: float = 0.05
    reward_range: tuple[float, float] = (0.0, 1.0)
    scale: float = 1.0

    experimental = True
    needs = {"horizon": "horizon", "reward_range": "range"}
    family = "arm elimination in layers", "mean in a known range"
    use_when = "kept for comparison, where gaps are large in the range of the rewards"

    # the probability of a decision is that of its layer, which it tells `update`
    weighs_by_chance = True
    # an arm has left the layers 1 to `left`. The sets of active arms are nested, so
    # this says in which layers it is active
    fields = {
        "left": "int[arms]",
        "pulls": f"int[arms*{LAYERS}]",
        "sums": f"float[arms*{LAYERS}]",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            horizon=optional(whole, "horizon", self.horizon, at_least=1, below=10**12),
            delta=number("delta", self.delta, above=0, below=1),
            scale=number("scale", self.scale, above=0),
        )

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        rounds = max(self._rounds(horizon), 2)
        log = math.log(4 * arms * rounds * math.log2(rounds) / self.delta)
        return {
            **super().constants(arms, horizon),
            "layers": float(min(math.ceil(math.log2(rounds)), LAYERS)),
            "log_term": self.scale * log,
        }

    @staticmethod
    @hot
    def choose(s, t, g):
        layers = int(s.layers)
        layer = drawn_layer(uniform(g), layers)
        s.chance[0] = 0.5**layer + (0.5**layers if layer == 1 else 0.0)
        if s.arms == 1:
            # if there is one arm to decide among, an agent does not ask
            s.chance[0] = 1.0
        empty = empty_layers(s)
        if empty >= layers:
            reopen(s)
            empty = empty_layers(s)
        if empty >= layer:
            return first_with(s, empty)
        return least_pulled(s, layer)

    @staticmethod
    @hot
    def update(s, a, x):
        layer = layer_of(s.chance[0], int(s.layers))
        if s.left[a] < layer:
            at = a * LAYERS + layer - 1
            s.pulls[at] += 1
            s.sums[at] += share_of_range(s, x)
            eliminate(s, layer)
