"""The tape: the random numbers of a stretch of rounds, the same for every policy of a
trial.

Each round takes one number from the noise stream and three from the attack's: the coin
and two for the attack's own use. A fixed number, so that the tape does not depend on
what any policy does, nor on rho (with a larger rho the attacked rounds include those of
a smaller one), nor on the lengths of the stretches it is drawn in.

A coin with bursts is a chain of two states: an attacked round is the last of its run
with probability 1/burst, and a run begins so often that the long-run share is rho.
"""

from __future__ import annotations

import numpy as np

from ..marks import hot
from ..normal import fill_normal
from ..random import fill_open_uniform
from .arrays import bound
from .machine import compiled


@hot
def draw_tape(noise_stream, attack_stream, rho, normal, burst, last, noise, coin, draws):
    """Fill the tape's arrays with the next rounds' numbers.

    `draws` takes three numbers a round from the attack's stream. `last` holds the coin
    of the round before, or -1.
    """
    if normal:
        uniforms = draws[: len(noise)]  # free until the attack's own numbers are drawn
        fill_open_uniform(noise_stream, uniforms)
        fill_normal(uniforms, noise, draws[len(noise) :])
    else:
        fill_open_uniform(noise_stream, noise)
    if rho > 0.0:
        fill_open_uniform(attack_stream, draws)
        if burst > 0.0:
            # in the first round, after a clean one, after an attacked one
            chance = rho, rho / ((1.0 - rho) * burst), 1.0 - 1.0 / burst
            for i in range(len(noise)):
                last[0] = draws[3 * i] < chance[last[0] + 1]
                coin[i] = last[0]
        else:
            for i in range(len(noise)):
                coin[i] = draws[3 * i] < rho
    else:
        coin[:] = 0


class Tape:
    """The numbers of up to `length` rounds at a time."""

    def __init__(self, length: int, rho: float, normal: bool, burst: float = 0.0) -> None:
        self._rho, self._normal, self._burst = rho, normal, burst
        self._last = np.array([-1])
        self._noise, self._draws = np.empty(length), np.empty(3 * length)
        self._coin = np.empty(length, np.uint8)
        self._rounds = -1

    def rewind(self, noise_stream: np.ndarray, attack_stream: np.ndarray) -> None:
        """Begin a new trial."""
        self._streams = noise_stream, attack_stream
        self._last[0], self._rounds = -1, -1

    def next(self, rounds: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return noise, coin, and the attack's draws of the next rounds (views that
        the following call overwrites).
        """
        if rounds != self._rounds:  # nearly all stretches are equally long
            self._parts = self._noise[:rounds], self._coin[:rounds], self._draws[: 3 * rounds]
            coin = self._rho, self._normal, self._burst, self._last
            self._draw = bound(compiled(draw_tape), *self._streams, *coin, *self._parts)
            self._rounds = rounds
        self._draw()
        return self._parts
