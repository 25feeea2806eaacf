"""Trials: every policy on the same tape, stretch by stretch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..bandits import Bandit
from ..engine.adversary import Adversary
from ..engine.loop_status import (
    ASK,
    DONE,
    FILL,
    GROW,
)
from ..engine.state import State
from ..engine.streams import streams
from ..engine.tape import Tape
from ..errors import PolicyFault
from ..policies import Policy

STRETCH = 16_384
COLUMN_CELLS = 1 << 21  # at most 16 MB of reward columns for each worker


@dataclass(frozen=True)
class Setting:
    """What all trials of a simulation share."""

    policies: tuple[Policy, ...]
    bandit: Bandit
    adversary: Adversary
    horizon: int
    seed: int
    checkpoints: np.ndarray

    @property
    def stretch(self) -> int:
        """Rounds on a tape; any length gives the same result."""
        if self.bandit.location_scale is not None:
            return min(STRETCH, self.horizon)
        fitting = max(64, min(STRETCH, self.horizon, COLUMN_CELLS // self.bandit.law_count))
        return min(fitting, self.bandit.stretch or fitting)


class Columns:
    """Rewards of the arms for the noise on the tape, computed when an arm is first
    pulled in a stretch.
    """

    def __init__(self, bandit: Bandit, stretch: int) -> None:
        self._bandit = bandit
        normal = bandit.location_scale
        self.location = np.array(normal[0] if normal else [], dtype=float)
        self.scale = np.array(normal[1] if normal else [], dtype=float)
        self.filled = np.zeros(0 if normal else bandit.law_count, np.uint8)
        self.cells = np.empty(0 if normal else bandit.law_count * stretch)

    def forget(self) -> None:
        """A new stretch: nothing is known."""
        self.filled[:] = 0

    def fill(self, law: int, noise: np.ndarray, coin: np.ndarray) -> None:
        """Compute one law's rewards; for a law that only an attack can show, those
        of the attacked rounds.
        """
        column = self.cells[law * len(noise) : (law + 1) * len(noise)]
        if law < self._bandit.arms:
            column[:] = self._bandit.rewards(law, noise)
        else:
            attacked = coin != 0
            column[attacked] = self._bandit.rewards(law, noise[attacked])
        self.filled[law] = 1


class Trials:
    """Plays trials of a setting, one after the other, in memory that is made once:
    making it anew would take longer than a short trial.
    """

    def __init__(self, setting: Setting) -> None:
        bandit, adversary = setting.bandit, setting.adversary
        self._setting = setting
        self._tape = Tape(
            setting.stretch, adversary.rho, bandit.location_scale is not None, adversary.burst
        )
        self._columns = Columns(bandit, setting.stretch)
        self.players = [Player(setting, policy) for policy in setting.policies]

    def play(self, trial: int, stop: Callable[[], bool]) -> bool:
        """Play one trial of all policies; False if it was stopped on the way."""
        setting, tape, columns = self._setting, self._tape, self._columns
        noise_stream, attack_stream, policy_stream = streams(setting.seed, trial)
        tape.rewind(noise_stream, attack_stream)
        for player in self.players:
            player.begin(policy_stream)
        played = 0
        while played < setting.horizon:
            if stop():
                return False
            rounds = min(setting.stretch, setting.horizon - played)
            stretch = tape.next(rounds)
            columns.forget()
            for player in self.players:
                player.play(played, stretch, columns)
            played += rounds
        return True


class Player:
    """One policy, trial after trial.

    At each checkpoint `regret` and `optimal` get a number, and `pulls` is counted anew.
    """

    def __init__(self, setting: Setting, policy: Policy) -> None:
        arms, marks = setting.bandit.arms, len(setting.checkpoints) - 1
        self._policy = policy
        self._adversary: Adversary = setting.adversary
        self.state = State(policy, arms, setting.horizon)
        self._run = self.state.machine.call("run")
        self._stream = np.zeros(4, np.uint64)
        self._loop = np.zeros(6, np.int64)
        self._memory = setting.adversary.start.copy()
        self._reply = np.zeros(1)
        self._gaps = np.ascontiguousarray(setting.bandit.gaps)
        self._checkpoints = setting.checkpoints
        self.regret, self.optimal, self.pulls = (
            np.zeros(marks),
            np.zeros(marks),
            np.zeros(arms, np.int64),
        )
        self._attack, self._scene, self._kept_alive = setting.adversary.handles(
            self.state.view.n, self.state.view.estimate, self._memory
        )

    def begin(self, stream: np.ndarray) -> None:
        """Begin a trial."""
        self.state.renew()
        self._stream[:] = stream
        self._loop[:] = 0
        self._loop[5] = self._adversary.in_python
        self._memory[:] = self._adversary.start

    def play(self, played: int, stretch: Sequence[np.ndarray], columns: Columns) -> None:
        """Play the rounds on the tape."""
        state, loop, adversary = self.state, self._loop, self._adversary
        noise, coin, draws = stretch
        loop[0] = 0
        loop[2] = played
        while True:
            status = self._run(
                state.ints,
                state.floats,
                state.pool,
                self._stream,
                loop,
                noise,
                coin,
                draws,
                columns.cells,
                columns.filled,
                columns.location,
                columns.scale,
                adversary.shows,
                self._attack,
                self._scene,
                self._reply,
                self._gaps,
                self.pulls,
                self._checkpoints,
                self.regret,
                self.optimal,
            )
            if status == DONE:
                return
            if status == GROW:
                state.grow()
            elif status == FILL:
                columns.fill(int(loop[4]), noise, coin)
            elif status == ASK:
                i = int(loop[0])
                a = int(loop[3]) - 1
                x = float(self._reply[0])
                self._reply[0] = adversary.answer(
                    played + i + 1,
                    a,
                    x,
                    draws[3 * i + 1],
                    draws[3 * i + 2],
                    state.view.n,
                    state.view.estimate,
                    self._memory,
                )
                loop[5] = 2
            else:
                raise PolicyFault(
                    f"{type(self._policy).__name__}.choose returned arm {int(loop[4])} in round "
                    f"{played + int(loop[0]) + 1}; arms are numbered 0 to {state.ints[0] - 1}."
                )
