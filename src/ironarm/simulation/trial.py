"""Trials: every policy on the same tape, stretch by stretch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..bandits import Bandit
from ..engine import loop
from ..engine.adversary import Adversary
from ..engine.record import Record
from ..engine.state import State
from ..engine.streams import streams
from ..engine.tape import Tape
from ..errors import PolicyFault
from ..policies import Policy

STRETCH_ROUNDS = 16_384
COLUMN_CELLS = 1 << 21  # at most 16 MB of reward columns for each worker


@dataclass(frozen=True)
class Simulation:
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
            return min(STRETCH_ROUNDS, self.horizon)
        fitting = max(64, min(STRETCH_ROUNDS, self.horizon, COLUMN_CELLS // self.bandit.law_count))
        return min(fitting, self.bandit.stretch or fitting)


class Columns:
    """The arms' rewards for the noise on the tape.

    An arm's rewards are computed when it is first pulled in a stretch.
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
        """Compute one law's rewards.

        Those of the attacked rounds only, for a law that only an attack can show.
        """
        column = self.cells[law * len(noise) : (law + 1) * len(noise)]
        if law < self._bandit.arms:
            column[:] = self._bandit.rewards(law, noise)
        else:
            attacked = coin != 0
            column[attacked] = self._bandit.rewards(law, noise[attacked])
        self.filled[law] = 1


class Trials:
    """Plays the trials of a simulation, one after the other.

    Their memory is made once: making it anew would take longer than a short trial.
    """

    def __init__(self, simulation: Simulation) -> None:
        bandit, adversary = simulation.bandit, simulation.adversary
        self._simulation = simulation
        self._tape = Tape(
            simulation.stretch, adversary.rho, bandit.location_scale is not None, adversary.burst
        )
        self._columns = Columns(bandit, simulation.stretch)
        self.players = [Player(simulation, policy, self._columns) for policy in simulation.policies]

    def play(self, trial: int, stop: Callable[[], bool]) -> bool:
        """Play one trial of all policies; False if it was stopped on the way."""
        simulation, tape, columns = self._simulation, self._tape, self._columns
        noise_stream, attack_stream, policy_stream = streams(simulation.seed, trial)
        tape.rewind(noise_stream, attack_stream)
        for player in self.players:
            player.begin(policy_stream)
        played = 0
        while played < simulation.horizon:
            if stop():
                return False
            rounds = min(simulation.stretch, simulation.horizon - played)
            on_tape = tape.next(rounds)
            columns.forget()
            for player in self.players:
                player.play(played, on_tape)
            played += rounds
        return True


class Player:
    """One policy, trial after trial.

    At each checkpoint `regret` and `optimal` get a number, and `pulls` is counted anew.
    """

    def __init__(self, simulation: Simulation, policy: Policy, columns: Columns) -> None:
        arms, marks = simulation.bandit.arms, len(simulation.checkpoints) - 1
        self._policy = policy
        self._adversary = adversary = simulation.adversary
        self._columns = columns
        self.state = State(policy, arms, simulation.horizon)
        self._run = self.state.call(adversary.entry)
        self.regret, self.optimal = np.zeros(marks), np.zeros(marks)
        self.pulls = np.zeros(arms, np.int64)
        self._memory = adversary.start.copy()
        view = self.state.view
        self._scene = adversary.scene(view.n, view.estimate, self._memory)
        self._stretch = Record(
            loop.STRETCH,
            arms,
            noise=np.empty(0),
            coin=np.empty(0, np.uint8),
            draws=np.empty(0),
            location=columns.location,
            scale=columns.scale,
            column=columns.cells,
            filled=columns.filled,
            shows=adversary.shows,
            gaps=np.ascontiguousarray(simulation.bandit.gaps),
            checkpoints=simulation.checkpoints,
            regret=self.regret,
            optimal=self.optimal,
            pulls=self.pulls,
        )

    def begin(self, stream: np.ndarray) -> None:
        """Begin a trial."""
        self.state.renew(stream)
        r = self._stretch.view
        r.checkpoint[0] = 0
        r.chosen[0] = -1
        r.attacker[0] = loop.PYTHON if self._adversary.in_python else loop.COMPILED
        self._memory[:] = self._adversary.start

    def play(self, before: int, on_tape: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
        """Play the rounds on the tape."""
        state, stretch, adversary = self.state, self._stretch, self._adversary
        if len(on_tape[0]) != len(stretch.view.noise):  # else it is the same memory
            for name, array in zip(("noise", "coin", "draws"), on_tape, strict=True):
                stretch.point(name, array)
        r = stretch.view
        r.before[0], r.played[0] = before, 0
        machine = state.machine
        handles = state.handle, machine.handle(stretch)
        targets, scene = adversary.targets, adversary.handle(self._scene)
        while True:
            status = self._run(*handles, *targets, scene)
            if status == loop.DONE:
                return
            if status == loop.GROW:
                state.grow()
            elif status == loop.FILL:
                self._columns.fill(int(r.wanted[0]), r.noise, r.coin)
            elif status == loop.ASK:
                i, a = int(r.played[0]), int(r.chosen[0])
                u, v = r.draws[3 * i + 1], r.draws[3 * i + 2]
                x = float(r.reply[0])
                r.reply[0] = adversary.answer(self._scene, before + i + 1, a, x, u, v)
                r.attacker[0] = loop.ANSWERED
            elif status == loop.TELL:
                x, shown = r.reply.tolist()
                t = before + int(r.played[0])
                adversary.tell(self._scene, t, int(r.wanted[0]), x, shown)
            else:
                raise PolicyFault(
                    f"{type(self._policy).__name__}.choose returned arm "
                    f"{int(r.wanted[0])} in round {before + int(r.played[0]) + 1}; "
                    f"arms are numbered 0 to {r.arms - 1}."
                )
