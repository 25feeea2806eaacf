"""One trial: every policy on the same tape, stretch by stretch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..bandits import Bandit
from ..engine.adversary import Adversary
from ..engine.loop_status import ASK, DONE, FILL, GROW
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


@dataclass
class Output:
    """Where a trial's results go: one row for each policy."""

    regret: np.ndarray
    optimal: np.ndarray
    pulls: np.ndarray


class Columns:
    """Rewards of the arms for the noise on the tape, computed when an arm is first pulled in a stretch."""

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
        """Compute one law's rewards; for a law that only an attack can show, those of the attacked rounds."""
        column = self.cells[law * len(noise) : (law + 1) * len(noise)]
        if law < self._bandit.arms:
            column[:] = self._bandit.rewards(law, noise)
        else:
            attacked = coin != 0
            column[attacked] = self._bandit.rewards(law, noise[attacked])
        self.filled[law] = 1


@dataclass
class Spare:
    """What a thread hands from one trial to its next, because making it anew takes longer than a short trial."""

    tape: Tape | None = None
    columns: Columns | None = None
    states: dict[int, State] = field(default_factory=dict)


def run_trial(setting: Setting, trial: int, output: Output, stop: Callable[[], bool], spare: Spare) -> bool:
    """Run one trial of all policies; False if it was stopped on the way."""
    noise_stream, attack_stream, policy_stream = streams(setting.seed, trial)
    adversary, bandit = setting.adversary, setting.bandit
    if spare.tape is None or spare.columns is None:
        spare.tape = Tape(setting.stretch, adversary.rho, bandit.location_scale is not None, adversary.burst)
        spare.columns = Columns(bandit, setting.stretch)
    tape, columns = spare.tape, spare.columns
    tape.rewind(noise_stream, attack_stream)
    players = [Player(setting, policy, policy_stream, output, i, spare.states.get(i)) for i, policy in enumerate(setting.policies)]
    played = 0
    while played < setting.horizon:
        if stop():
            return False
        rounds = min(setting.stretch, setting.horizon - played)
        stretch = tape.next(rounds)
        columns.forget()
        for player in players:
            player.play(played, stretch, columns)
        played += rounds
    spare.states.update((i, player.state) for i, player in enumerate(players))
    return True


class Player:
    """One policy in one trial."""

    def __init__(self, setting: Setting, policy: Policy, stream: np.ndarray, output: Output, row: int, last: State | None = None) -> None:
        self._policy = policy
        self._adversary: Adversary = setting.adversary
        self._state = State(policy, setting.bandit.arms, setting.horizon, last=last)
        self._run = self._state.machine.call("run")
        self._stream = stream.copy()
        self._loop = np.zeros(6, np.int64)
        self._loop[5] = setting.adversary.in_python
        self._memory = setting.adversary.start.copy()
        self._reply = np.zeros(1)
        self._gaps = np.ascontiguousarray(setting.bandit.gaps)
        self._checkpoints = setting.checkpoints
        self._regret, self._optimal, self._pulls = output.regret[row], output.optimal[row], output.pulls[row]
        view = self._state.view
        self._attack, self._scene, self._kept_alive = setting.adversary.handles(view.n, view.estimate, self._memory)

    @property
    def state(self) -> State:
        """The policy's state, whose memory the next trial takes over."""
        return self._state

    def play(self, played: int, stretch: Sequence[np.ndarray], columns: Columns) -> None:
        """Play the rounds on the tape."""
        state, loop, adversary = self._state, self._loop, self._adversary
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
                self._pulls,
                self._checkpoints,
                self._regret,
                self._optimal,
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
                self._reply[0] = adversary.answer(played + i + 1, a, x, draws[3 * i + 1], draws[3 * i + 2], state.view.n, state.view.estimate, self._memory)
                loop[5] = 2
            else:
                raise PolicyFault(
                    f"{type(self._policy).__name__}.choose returned arm {int(loop[4])} in round {played + int(loop[0]) + 1}; arms are numbered 0 to {state.ints[0] - 1}."
                )
