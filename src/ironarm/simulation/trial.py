"""Trials: every policy on the same tape, stretch by stretch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..attacks import Attack
from ..bandits import Bandit
from ..engine import loop
from ..engine.adversary import Adversary
from ..engine.record import Record
from ..engine.state import State
from ..engine.streams import streams
from ..engine.tape import Tape
from ..errors import IronarmError, PolicyFault
from ..naming.own_faults import failed, failures_of
from ..policies import Policy
from .delay import Delay, Waits
from .post import AT_ONCE, NOBODY, Post
from .sources import Senders, Sources

STRETCH_ROUNDS = 16_384
COLUMN_CELLS = 1 << 21  # at most 16 MB of reward columns for each worker


@dataclass(frozen=True)
class Simulation:
    """What all trials of a simulation share."""

    policies: tuple[Policy, ...]
    bandit: Bandit
    attack: Attack
    horizon: int
    seed: int
    checkpoints: np.ndarray
    sources: Sources | None = None
    delay: Delay | None = None

    @property
    def stretch(self) -> int:
        """Rounds on a tape; any length gives the same result."""
        if self.bandit.location_scale is not None:
            return min(STRETCH_ROUNDS, self.horizon)
        fitting = max(64, min(STRETCH_ROUNDS, self.horizon, COLUMN_CELLS // self.bandit.law_count))
        return min(fitting, self.bandit.stretch or fitting)

    @cached_property
    def segments(self) -> tuple[tuple[int, Bandit, Adversary], ...]:
        """Who serves from which round on: bandits, and the attack at work on each."""
        return tuple(
            (first, bandit, Adversary(self.attack, bandit))
            for first, bandit in self.bandit.segments
            if first <= self.horizon
        )

    @property
    def adversary(self) -> Adversary:
        """The attack at work on the first bandit."""
        return self.segments[0][2]

    @property
    def entry(self) -> str:
        """The loop that this simulation needs."""
        return entry_for(self.adversary, self.sources, self.delay)


def entry_for(adversary: Adversary, sources: Sources | None, delay: Delay | None) -> str:
    """Return the name of the loop that plays such rewards."""
    return adversary.entry if sources is None and delay is None else "run_late"


class Columns:
    """The arms' rewards for the noise on the tape.

    An arm's rewards are computed when it is first pulled in a stretch.
    """

    def __init__(self, bandit: Bandit, stretch: int) -> None:
        normal = bandit.location_scale is not None
        self.location = np.empty(bandit.law_count if normal else 0)
        self.scale = np.empty_like(self.location)
        self.filled = np.zeros(0 if normal else bandit.law_count, np.uint8)
        self.cells = np.empty(0 if normal else bandit.law_count * stretch)

    def serve(self, bandit: Bandit) -> None:
        """Draw from this bandit's laws from now on."""
        self._bandit = bandit
        if bandit.location_scale is not None:
            self.location[:], self.scale[:] = bandit.location_scale

    def forget(self) -> None:
        """A new stretch: nothing is known."""
        self.filled[:] = 0

    def fill(self, law: int, noise: np.ndarray, coin: np.ndarray) -> None:
        """Compute one law's rewards.

        Those of the attacked rounds only, for a law that only an attack can show.
        """
        column = self.cells[law * len(noise) : (law + 1) * len(noise)]
        with failures_of(type(self._bandit), "bandit"):
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
        bandit, adversary, length = simulation.bandit, simulation.adversary, simulation.stretch
        self._simulation = simulation
        self._tape = Tape(length, adversary.rho, bandit.location_scale is not None, adversary.burst)
        self._columns = Columns(bandit, length)
        sources, delay = simulation.sources, simulation.delay
        self._senders = Senders(sources, adversary.rho, length) if sources else None
        self._waits = Waits(delay, length) if delay else None
        self.players = [Player(simulation, policy, self._columns) for policy in simulation.policies]

    def play(self, trial: int, stop: Callable[[], bool]) -> bool:
        """Play one trial of all policies; False if it was stopped on the way."""
        simulation, tape = self._simulation, self._tape
        noise, attack, policy, senders, waits = streams(simulation.seed, trial, 5)
        tape.rewind(noise, attack)
        if self._senders:
            self._senders.rewind(senders)
        if self._waits:
            self._waits.rewind(waits)
        for player in self.players:
            player.begin(policy)
        ends = [first - 1 for first, _, _ in simulation.segments[1:]] + [simulation.horizon]
        played = 0
        for (_, bandit, adversary), end in zip(simulation.segments, ends, strict=True):
            self._columns.serve(bandit)
            for player in self.players:
                player.enter(bandit, adversary)
            while played < end:
                if stop():
                    return False
                rounds = min(simulation.stretch, end - played)
                self._play_stretch(played, rounds)
                played += rounds
        return True

    def _play_stretch(self, played: int, rounds: int) -> None:
        """Play the next rounds, in which the laws stay the same."""
        on_tape = self._tape.next(rounds)
        senders = self._senders.next(on_tape[1]) if self._senders else NOBODY
        waits = self._waits.next(rounds) if self._waits else AT_ONCE
        self._columns.forget()
        for player in self.players:
            if player.post:
                player.post.set_rounds(senders, waits)
            player.play(played, on_tape)


class Player:
    """One policy, trial after trial.

    At each checkpoint `regret` and `optimal` get a number, and `pulls` is counted anew.
    """

    def __init__(self, simulation: Simulation, policy: Policy, columns: Columns) -> None:
        arms, marks = simulation.bandit.arms, len(simulation.checkpoints) - 1
        self._policy = policy
        self._first = self._adversary = adversary = simulation.adversary
        self._columns = columns
        entry = simulation.entry
        self.post = _post(simulation) if entry == "run_late" else None
        self.state = State(policy, arms, simulation.horizon, live=self.post is not None)
        self._run = self.state.call(entry)
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
            gaps=np.zeros(arms),
            since=np.zeros(arms, np.int64),
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
        r.chosen[0] = loop.NOTHING
        r.attacker[0] = loop.PYTHON if self._first.in_python else loop.COMPILED
        r.gaps[:], r.since[:], r.earlier[:] = 0.0, 0, 0.0
        self._memory[:] = self._first.start
        if self.post:
            self.post.empty()

    def enter(self, bandit: Bandit, adversary: Adversary) -> None:
        """Count regret against this bandit's best arm from now on."""
        r = self._stretch.view
        pulls = self.post.decisions if self.post else self.state.view.n
        lately = pulls - r.since
        r.earlier[0] += r.gaps @ lately
        r.earlier[1] += lately[r.gaps == 0.0].sum()
        r.since[:], r.gaps[:] = pulls, bandit.gaps
        if adversary is not self._adversary:
            self._adversary = adversary
            adversary.set_scene(self._scene)
            self._stretch.point("shows", adversary.shows)

    def play(self, before: int, on_tape: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
        """Play the rounds on the tape."""
        state, stretch, adversary = self.state, self._stretch, self._adversary
        if len(on_tape[0]) != len(stretch.view.noise):  # else it is the same memory
            for name, array in zip(("noise", "coin", "draws"), on_tape, strict=True):
                stretch.point(name, array)
        r = stretch.view
        r.before[0], r.played[0] = before, 0
        machine = state.machine
        attack, *others = adversary.targets
        scene = adversary.handle(self._scene)
        mail = machine.handle(self.post.record) if self.post else 0
        arguments = state.handle, machine.handle(stretch), attack, scene, mail, *others
        while True:
            try:
                status = self._run(*arguments)
            except IronarmError:
                raise
            except Exception as error:
                raise failed(type(self._policy), error) from error
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


def _post(simulation: Simulation) -> Post:
    """Return an empty post that is large enough for this simulation."""
    delay = simulation.delay or Delay()
    expire = delay.expire or 0
    longest = max(delay.longest + simulation.attack.longest_hold, expire)
    return Post(simulation.bandit.arms, min(longest, simulation.horizon) + 1, expire)
