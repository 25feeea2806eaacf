"""The tape: the random numbers of a stretch of rounds, the same for every policy of a trial.

Each round takes one number from the noise stream and three from the attack's: the coin and two for the attack's own use. A fixed number, so that the tape does not depend on
what any policy does, nor on rho (with a larger rho the attacked rounds include those of a smaller one), nor on the lengths of the stretches it is drawn in.
"""

from __future__ import annotations

import numpy as np

from ..draws import fill_open_uniform
from ..marks import hot
from .machine import compiled
from .normal import fill_normal


@hot
def draw_tape(noise_stream, attack_stream, rho, normal, noise, coin, draws):
    """Fill the tape's arrays with the next rounds' numbers; `draws` takes the attack stream's three for each round."""
    if normal:
        uniforms = draws[: len(noise)]  # free until the attack's own numbers are drawn
        fill_open_uniform(noise_stream, uniforms)
        fill_normal(uniforms, noise, draws[len(noise) :])
    else:
        fill_open_uniform(noise_stream, noise)
    if rho > 0.0:
        fill_open_uniform(attack_stream, draws)
        for i in range(len(noise)):
            coin[i] = draws[3 * i] < rho
    else:
        coin[:] = 0


class Tape:
    """The numbers of up to `length` rounds at a time."""

    def __init__(self, length: int, rho: float, normal: bool) -> None:
        self._rho, self._normal = rho, normal
        self._noise, self._draws = np.empty(length), np.empty(3 * length)
        self._coin = np.empty(length, np.uint8)
        self._draw = compiled(draw_tape)

    def rewind(self, noise_stream: np.ndarray, attack_stream: np.ndarray) -> None:
        """Begin a new trial."""
        self._streams = noise_stream, attack_stream

    def next(self, rounds: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return noise, coin, and the attack's draws of the next rounds (views that the following call overwrites)."""
        parts = self._noise[:rounds], self._coin[:rounds], self._draws[: 3 * rounds]
        self._draw(*self._streams, self._rho, self._normal, *parts)
        return parts
