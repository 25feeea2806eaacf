"""A compiled attack, asked outside a simulation."""

import numba
import numpy as np

from ironarm.engine.adversary import Adversary
from ironarm.engine.jit import call_attack


class Asked:
    """An attack at work on a bandit: keeps its memory from one answer to the next."""

    def __init__(self, attack, bandit, pulls=None, estimate=None):
        self.adversary = Adversary(attack, bandit)
        self.pulls = np.ones(bandit.arms, np.int64) if pulls is None else np.array(pulls, np.int64)
        self.estimate = bandit.means.copy() if estimate is None else np.array(estimate, float)
        self.memory = self.adversary.start.copy()
        self._scene = self.adversary.scene(self.pulls, self.estimate, self.memory)

    def __call__(self, arm, x, u=0.25, v=0.75, t=1):
        """Return what the policy sees in place of x."""
        return call(self.adversary.targets[0], self._scene.address, arm, x, t, u, v)


@numba.njit
def call(attack_at, scene, a, x, t, u, v):
    return call_attack(attack_at, scene, a, x, t, u, v)
