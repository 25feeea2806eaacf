"""A policy at work on named arms: live decisions, with rewards now or later."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import time
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..engine.loop import CANCELLED, OWE, SETTLE
from ..engine.state import State, size_of
from ..engine.streams import fresh_seed, streams
from ..errors import (
    BadFile,
    InvalidInput,
    PolicyFault,
    UnknownArm,
    UnknownDecision,
)
from ..estimators import BoundedMedian
from ..frames import is_frame, pairs_of_frame
from ..notebook import html_table
from ..own_faults import failed, failures_of
from ..policies import Policy
from ..policy import require_policy
from ..text import counted
from ..validation import (
    choice,
    did_you_mean,
    number,
    whole,
)
from ..which_policy import default_policy
from . import file as agent_file
from .input import (
    Name,
    estimator_for,
    name_of,
    names_of,
    reward_of,
    rows_of,
)
from .open_decisions import OpenDecisions
from .reward_check import Watch, warn
from .source_book import HELD, Source, SourceBook, optional_source

HEAD = ("arm", "rewards", "open", "estimate")
ROOM = 2**25
"""Numbers that a file's agent may have, however short the file is: 256 MiB."""


class Decision(NamedTuple):
    """The arm to use, and the id to report its reward with."""

    id: int
    arm: Name


class Agent:
    """A policy at work on named arms.

    Use `select` and `update` if each reward arrives before the next decision. Use
    `decide` and `learn` if rewards arrive late, in any order, or never (`cancel`,
    `expire`). Rounds and schedules count decisions, the exploration bonus counts
    rewards and open decisions, and estimates count rewards. When arms are compared,
    those without a reward come first; among them, the one with the fewest open
    decisions. You can call all methods from several threads.

    Parameters
    ----------
    policy : the policy, for example `ia.MedEUCB()`. Without one it is `CoherentIMED()`,
        which needs to know nothing about the rewards or the attack.
    arms : the arms' names, strings or whole numbers, each once; or their number.
    seed : a whole number; None for a fresh one. The same seed and the same rewards give
        the same choices.
    minimize : True if small rewards are good: latencies, costs.
    memory : "exact" keeps every reward. "bounded", for policies based on the lower
        median, keeps a window of max(64, 4 sqrt(n)) of the n rewards around the median.
        It is exact until the median leaves the window; then the agent warns, and lists
        the arm in `inexact`. `CoherentIMED` and policies that store no rewards always
        have bounded memory.
    sources_held : how many sources `sources` tells apart. Beyond that number, those
        with the fewest rewards are merged into one entry. It never changes a decision.

    Examples
    --------
    >>> import ironarm as ia
    >>> agent = ia.Agent(ia.RUCB(), arms=["a", "b"], seed=7)
    >>> for reward in [1.0, 3.0, 1.2, 900.0, 2.9, 3.1]:
    ...     arm = agent.select()
    ...     agent.update(arm, reward)
    >>> late = agent.decide()
    >>> agent.learn(late.id, 3.0)
    >>> agent
    Agent(RUCB(omega=4.0, median='lower'), 7 decisions)
      arm  rewards  open  estimate
      a          2     0         1
    * b          5     0         3
    """

    def __init__(
        self,
        policy: Policy | None = None,
        arms: Iterable[Name] | int | None = None,
        *,
        seed: int | None = None,
        minimize: bool = False,
        memory: str = "exact",
        sources_held: int = 100_000,
    ) -> None:
        if policy is None:
            policy = default_policy()
        require_policy(policy)
        if arms is None:
            raise InvalidInput(
                'arms is missing; give a list of names, for example arms=["a", "b"].'
            )
        names = names_of(arms)
        if not names:
            raise InvalidInput("arms is empty; give at least one name.")
        if len(set(names)) < len(names):
            raise InvalidInput(f"every arm needs a name of its own, got {names!r}.")
        estimator = estimator_for(policy, choice("memory", memory, ["exact", "bounded"]))
        self._policy, self._memory, self._minimize = policy, memory, bool(minimize)
        self._seed = fresh_seed() if seed is None else whole("seed", seed)
        self._lock = threading.RLock()
        self._acquire, self._release = self._lock.acquire, self._lock.release
        self._watch: Watch | None = Watch(policy)
        self._book: SourceBook | None = None
        self._sources_held = whole("sources_held", sources_held, at_least=2, below=2**31)
        self._bounded = self._memory_watched = estimator is BoundedMedian
        self._watching = True
        # inside, rewards are always to be maximised
        self._working = policy.mirrored() if self._minimize else policy
        state = State(self._working, len(names), live=True, estimator=estimator)
        state.view.stream[:] = streams(self._seed, 0)[2]
        self._take_over(state, names, OpenDecisions(len(names)))

    def _take_over(self, state: State, names: list[Name], waiting: OpenDecisions) -> None:
        """Install a state with its arms and open decisions; nothing here can fail."""
        self._senders = state.view.source if self._policy.reads_source else None
        self._state, self._names, self._open = state, names, waiting
        self._queues = waiting.queues
        self._index = {name: i for i, name in enumerate(names)}
        self._chance = state.view.chance if self._policy.weighs_by_chance else None
        self._handle = state.handle
        self._call_select, self._call_observe = state.call("select"), state.call("observe")

    # decisions

    # `select` and `update` are the hot path. They spell out what `decide` and `learn`
    # leave to helpers, and lock without `with`, which saves a third of their time

    def select(self) -> Name:
        """Decide which arm to use now, and return its name."""
        self._acquire()
        try:
            try:
                arm = self._call_select(self._handle)
            except Exception as error:
                self._blame_policy(error)
            if arm < 0:
                self._refuse_choice()
            self._queues[arm].append(time() if self._chance is None else self._issue(arm))
            return self._names[arm]
        finally:
            self._release()

    def update(self, arm: Name, reward: float, source: Name | None = None) -> None:
        """Learn a reward of an arm.

        The reward closes the arm's oldest open decision. If none is open, it counts as
        an extra observation. `source` says who sent the reward: a user, a publisher, a
        sensor.
        """
        self._acquire()
        try:
            try:
                index = self._index[arm]
            except (KeyError, TypeError):
                self._refuse_arm(arm)
            if type(reward) is not float or reward != reward:
                reward = reward_of(reward)
            queue = self._queues[index]
            if queue and type(queue[0]) is float:
                if source is not None or self._senders is not None:
                    self._signed(index, reward, source)
                queue.popleft()
                x = -reward if self._minimize else reward
                try:
                    while not self._call_observe(self._handle, index, x, 1.0, 1):
                        self._state.grow()
                except Exception as error:
                    self._blame_policy(error)
                if self._watching:
                    self._look(index, reward)
            else:
                self._update_by_ticket(arm, index, reward, source)
        finally:
            self._release()

    def _update_by_ticket(self, arm: Name, index: int, reward: float, source: Name | None) -> None:
        if self._chance is not None and self._open.oldest(index) is None:
            raise InvalidInput(
                f"{type(self._policy).__name__} weighs a reward by the probability of its "
                f"decision, and no decision for {arm!r} is open. Call select() or decide() "
                "first."
            )
        self._signed(index, reward, source)
        ticket = self._open.pop(index)
        self._observe(index, reward, ticket.chance if ticket else 1.0, int(ticket is not None))

    def decide(self, among: Iterable[Name] | None = None) -> Decision:
        """Decide which arm to use now, and return it with an id for its reward.

        `among` lists the arms you can use this time, if not all: servers that are up,
        articles in stock. The policy chooses as if there were no other arms, and the
        decision counts like any other.
        """
        with self._lock:
            arm, chance = self._choice(among)
            id = self._open.issue(arm, chance)
            self._queues[arm].append(id)
            return Decision(id, self._names[arm])

    def _choice(self, among: Iterable[Name] | None) -> tuple[int, float]:
        """Make a decision; return the arm's number and the choice's probability."""
        if (
            among is not None
            # most often all can be used, and then their numbers need not be found
            and (type(among) is not list or among != self._names)
            and len(usable := self._numbers(among)) < len(self._names)
        ):
            arm, chance = self._choice_among(usable)
            # the schedule goes on, and the decision counts for the arm that is used
            with failures_of(type(self._policy)):
                self._state.call("follow")(self._handle, arm)
            return arm, chance
        try:
            arm = self._call_select(self._handle)
        except Exception as error:
            self._blame_policy(error)
        if arm < 0:
            self._refuse_choice()
        return arm, 1.0 if self._chance is None else float(self._chance[0])

    def _choice_among(self, usable: Sequence[int]) -> tuple[int, float]:
        """Return what the policy chooses if there are no other arms; change nothing."""
        if len(usable) == 1:
            return usable[0], 1.0
        others_gone = self._state.resized(self._working, usable)
        with failures_of(type(self._policy)):
            place = others_gone.call("select")(others_gone.handle)
        if place < 0:
            self._refuse_choice()
        chance = 1.0 if self._chance is None else float(others_gone.view.chance[0])
        return usable[place], chance

    def _numbers(self, among: Iterable[Name]) -> list[int]:
        """Return the numbers of these arms, in order."""
        if isinstance(among, str):
            raise InvalidInput(f"among must be a list of arms, got {among!r}; use [{among!r}].")
        numbers = sorted({self._index_of(arm) for arm in among})
        if not numbers:
            raise InvalidInput("among is empty; name at least one arm that can be used.")
        return numbers

    def _issue(self, arm: int) -> int:
        return self._open.issue(arm, 1.0 if self._chance is None else float(self._chance[0]))

    def prepare(self) -> Agent:
        """Compile everything that live use needs, and return the agent.

        After that, no call has to compile anything. The compiled code is cached on
        disk, so only the first process waits for it.
        """
        with self._lock:
            self._state.prepare()
            np.median([0.0])  # else the look at the first rewards loads a part of NumPy
        return self

    def best(self) -> Name:
        """Return the arm with the best estimate; before any reward, the first arm.

        Use it when you are done learning. Once any arm has a reward, an arm without one
        is never returned.
        """
        with self._lock:
            self._state.adjust(SETTLE)
            view = self._state.view
            return self._names[int(np.argmax(np.where(view.rewards > 0, view.estimate, -np.inf)))]

    # rewards

    def learn(self, id: int | Decision, reward: float, source: Name | None = None) -> None:
        """Learn the reward of a decision, however late and in any order.

        Pass the decision's id, or the decision itself. `source` says who sent the
        reward.
        """
        with self._lock:
            if type(id) is not int:
                id = self._open_id(id)
            if type(reward) is not float or reward != reward:
                reward = reward_of(reward)
            self._learn(id, reward, optional_source(source))

    def learn_batch(
        self, rewards: Iterable[tuple[int | Decision, float] | tuple[int | Decision, float, Name]]
    ) -> None:
        """Learn many rewards: (decision or id, reward), optionally with a source.

        If one of them is invalid, none is learnt.
        """
        with self._lock:
            rows = [
                (self._open_id(id), reward_of(reward), optional_source(source))
                for id, reward, source in rows_of(rewards, "a decision or its id, and a reward")
            ]
            ids = [row[0] for row in rows]
            if len(set(ids)) < len(ids):
                raise InvalidInput(
                    f"decision {next(id for id in ids if ids.count(id) > 1)} is in the batch "
                    "twice; a decision takes one reward."
                )
            for row in rows:
                self._learn(*row)

    def cancel(self, id: int | Decision) -> None:
        """Close a decision that will never get a reward. Pass it or its id."""
        with self._lock:
            self._state.adjust(CANCELLED, self._open.close(self._open_id(id)).arm)

    def expire(self, older_than: float) -> int:
        """Cancel all decisions older than this many seconds; return how many."""
        with self._lock:
            old = self._open.expire(time() - number("older_than", older_than, at_least=0))
            for arm in old:
                self._state.adjust(CANCELLED, arm)
            return len(old)

    def warm_start(self, log: Iterable[tuple[Name, float]] | Any) -> None:
        """Learn from logged pairs (arm, reward), as if the agent had chosen the arms.

        If the log lacks forced pulls, the agent makes them first. A log can also be
        rows (arm, reward, source), or a data frame (pandas, polars, Arrow) with the
        columns `arm` and `reward`.
        """
        with self._lock:
            if self._chance is not None:
                raise InvalidInput(
                    f"{type(self._policy).__name__} weighs a reward by the probability of its "
                    "decision, which a log does not contain; start it without a log."
                )
            rows = [
                (self._index_of(arm), reward_of(reward), optional_source(source))
                for arm, reward, source in rows_of(
                    pairs_of_frame(log) if is_frame(log) else log, "an arm and a reward"
                )
            ]
            for index, reward, source in rows:
                self._signed(index, reward, source)
                self._observe(index, reward, 1.0, 0)
            self._state.view.rounds[0] += len(rows)
            self._state.adjust(OWE)

    # arms

    def add_arm(self, arm: Name) -> None:
        """Add an arm at the end.

        The agent first makes the forced pulls that the policy's schedule would have
        given it by now.
        """
        with self._lock:
            name = name_of(arm)
            self._check_new(name)
            self._resize([*range(len(self._names)), None], [*self._names, name])

    def remove_arm(self, arm: Name) -> None:
        """Remove an arm and close its open decisions; the others keep their state.

        If you add it again, it starts from scratch.
        """
        with self._lock:
            index = self._check_removable(arm)
            keep = [i for i in range(len(self._names)) if i != index]
            self._resize(keep, [self._names[i] for i in keep])

    def _check_new(self, name: Name) -> None:
        if name in self._index:
            raise InvalidInput(
                f"there is already an arm {name!r}; every arm needs a name of its own."
            )

    def _check_removable(self, arm: Name) -> int:
        index = self._index_of(arm)
        if len(self._names) == 1:
            raise InvalidInput(f"{arm!r} is the last arm and cannot be removed; add another first.")
        return index

    def _resize(self, keep: Sequence[int | None], names: list[Name]) -> None:
        state = self._state.resized(self._working, keep)
        if self._book is not None:
            self._book = self._book.for_arms(keep)
        self._take_over(state, names, self._open.for_arms(keep))

    # what is known

    @property
    def policy(self) -> Policy:
        """The policy."""
        return self._policy

    @property
    def arms(self) -> tuple[Name, ...]:
        """The arms' names, in order."""
        return tuple(self._names)

    @property
    def decisions(self) -> int:
        """How many decisions have been made; each is a round."""
        return self._state.rounds

    @property
    def open_decisions(self) -> list[Decision]:
        """The decisions made by `decide` that have no reward yet, oldest first."""
        with self._lock:
            tickets = sorted(self._open.tickets.items())
            return [Decision(id, self._names[ticket.arm]) for id, ticket in tickets]

    @property
    def estimates(self) -> dict[Name, float]:
        """The arms' current estimates, in units of reward; NaN before the first
        reward.
        """
        with self._lock:
            self._state.adjust(SETTLE)
            view = self._state.view
            sign = -1.0 if self._minimize else 1.0
            return {
                name: sign * float(view.estimate[i]) if view.rewards[i] else math.nan
                for i, name in enumerate(self._names)
            }

    def summary(self) -> dict[str, Any]:
        """Return what the agent knows of each arm, as data that JSON can hold.

        Values that are unknown or not finite are None.

        >>> import ironarm as ia
        >>> agent = ia.Agent(ia.UCB(), arms=["a", "b"], seed=1)
        >>> agent.update(agent.select(), 2.0)
        >>> agent.summary()["arms"][1]
        {'arm': 'b', 'rewards': 0, 'open': 0, 'estimate': None}
        """
        with self._lock:
            estimates, view = self.estimates, self._state.view
            return {
                "policy": self._policy.label,
                "decisions": self.decisions,
                "minimize": self._minimize,
                "best": self.best(),
                "arms": [
                    {
                        "arm": name,
                        "rewards": int(view.rewards[i]),
                        "open": int(view.n[i] - view.rewards[i]),
                        "estimate": estimates[name] if math.isfinite(estimates[name]) else None,
                    }
                    for i, name in enumerate(self._names)
                ],
            }

    @property
    def rewards(self) -> dict[Name, int]:
        """How many rewards each arm has."""
        with self._lock:
            return {
                name: int(n) for name, n in zip(self._names, self._state.view.rewards, strict=True)
            }

    def sources(self) -> list[Source]:
        """Return what the agent knows of each source, the clearest outliers first.

        Each entry says how many rewards the source sent, how far they are from the
        others' on the same arms, and an upper bound on the probability that this is an
        accident, corrected for the number of sources. It judges what a source sends,
        not why. If there are more than `sources_held` sources, one entry, whose source
        is None, stands for all the rest.

        Examples
        --------
        >>> import random
        >>> import ironarm as ia
        >>> world = random.Random(7)
        >>> agent = ia.Agent(ia.UCB(sigma=0.5), arms=["a", "b"], seed=7)
        >>> for i in range(2000):
        ...     arm, sender = agent.select(), f"user {i % 10}"
        ...     rate = 0.9 if sender == "user 3" else {"a": 0.1, "b": 0.2}[arm]
        ...     agent.update(arm, float(world.random() < rate), source=sender)
        >>> first, second, *_ = agent.sources()
        >>> first.source, first.rewards, round(first.difference, 1), first.chance < 1e-6
        ('user 3', 200, 0.7, True)
        >>> second.chance > 0.01
        True
        """
        return self._sources_later()()

    def _sources_later(self) -> Callable[[], list[Source]]:
        """Return what says it as of now: it takes a while, and nothing need wait."""
        with self._lock:
            return list if self._book is None else self._book.copy().report

    @property
    def inexact(self) -> list[Name]:
        """With memory="bounded", the arms whose median has ever left its window."""
        if not self._bounded:
            return []
        with self._lock:
            return [
                name for name, lost in zip(self._names, self._state.view.lost, strict=True) if lost
            ]

    def __repr__(self) -> str:
        with self._lock:
            best = self.best()
            rows = [HEAD, *self._cells()]
            widths = [max(len(row[k]) for row in rows) for k in range(4)]
            marks = [" ", *("*" if name == best else " " for name in self._names)]
            lines = [
                f"{mark} {row[0]:<{widths[0]}}  "
                + "  ".join(f"{row[k]:>{widths[k]}}" for k in range(1, 4))
                for mark, row in zip(marks, rows, strict=True)
            ]
            return "\n".join([self._title(), *lines])

    def _repr_html_(self) -> str:
        with self._lock:
            bold = [self._index[self.best()]]
            return html_table(HEAD, self._cells(), caption=self._title(), bold=bold)

    def _title(self) -> str:
        goal = ", minimizing" if self._minimize else ""
        return f"Agent({self._policy!r}, {counted(self.decisions, 'decision')}{goal})"

    def _cells(self) -> list[Sequence[str]]:
        """Return a row of texts for each arm."""
        estimates, view = self.estimates, self._state.view
        rows: list[Sequence[str]] = []
        for i, name in enumerate(self._names):
            waiting = int(view.n[i] - view.rewards[i])
            value = "-" if math.isnan(estimates[name]) else f"{estimates[name]:.6g}"
            rows.append((str(name), str(int(view.rewards[i])), str(waiting), value))
        return rows

    def plot(self, path: str | Path | None = None, *, ax: Any = None, column: bool = False) -> Any:
        """Draw the arms' estimates and numbers of rewards; return the figure.

        Parameters
        ----------
        path : a .pdf, .svg or .png file to write the figure to, or None.
        ax : your own axes to draw into.
        column : True for a figure as wide as a column in print.
        """
        from ..curves import Look
        from .plot import plot_agent

        return plot_agent(self, Look(ax=ax, column=column, path=path))

    # files

    def save(self, path: str | Path) -> None:
        """Write the agent to a JSON file, whole or not at all.

        After loading, it continues with exactly the same choices.
        """
        data, state = self._frozen()
        agent_file.write(
            Path(path),
            {"policy": self._policy.to_dict(), **_plain(data), "state": state.dump_arrays()},
        )

    def _data(self) -> dict[str, Any]:
        """Return all but the policy, as plain data.

        Decisions wait only while the memory is copied.
        """
        data, state = self._frozen()
        return {**_plain(data), "state": state.dump()}

    def _frozen(self, refresh: bool = True) -> tuple[dict[str, Any], State]:
        """Return all but the policy as it is now: data for a file, a copy of the
        state.
        """
        with self._lock:
            if refresh:
                self._state.refresh()
            data = {
                "arms": list(self._names),
                "minimize": self._minimize,
                "memory": self._memory,
                "seed": self._seed,
                "stream": self._state.view.stream.tolist(),
                **self._open.dump(),
                **({} if self._book is None else {"sources": self._book.copy()}),
                **self._chosen_size(),
            }
            return data, self._state.copy()

    def _chosen_size(self) -> dict[str, int]:
        """Return `sources_held` as plain data, if it is not what everybody has."""
        return {} if self._sources_held == HELD else {"sources_held": self._sources_held}

    @classmethod
    def load(cls, path: str | Path, policy: Policy | None = None) -> Agent:
        """Read a file that `save` wrote.

        If the policy is your own, pass it: the file holds data, never code.
        """
        place, given = Path(path), policy is not None
        data, policy = agent_file.read(place, policy)
        with agent_file.damage_reported(place):
            if not given:
                cls._check_size(policy, data, place)
            return cls._of_data(policy, data)

    @staticmethod
    def _check_size(policy: Policy, data: dict[str, Any], path: Path) -> None:
        """Refuse a file whose policy needs far more memory than the file accounts for.

        Numbers that are 0 need not be in it, so some more is usual.
        """
        working = policy.mirrored() if data["minimize"] else policy
        needed = size_of(working, len(data["arms"]), estimator_for(policy, data["memory"]))
        held = path.stat().st_size
        if needed > max(ROOM, held):
            raise BadFile(
                f"{path} is not read: {policy!r} needs memory for {needed:,} numbers, and the file "
                f"has {held:,} bytes. If you trust it, give that policy as policy=..."
            )

    @classmethod
    def _of_data(cls, policy: Policy, data: dict[str, Any]) -> Agent:
        """Return the agent that `_data` described."""
        agent = cls(
            policy,
            data["arms"],
            seed=data["seed"],
            minimize=data["minimize"],
            memory=data["memory"],
            sources_held=data.get("sources_held", HELD),
        )
        agent._state.restore(data["state"])
        agent._state.view.stream[:] = np.array(data["stream"], dtype=np.uint64)
        agent._open.restore(data)
        if "sources" in data:
            agent._book = SourceBook.restore(
                data["sources"], len(agent._names), agent._seed, agent._sources_held
            )
        if len(data["stream"]) != 4 or not any(data["stream"]):
            raise ValueError("its random stream is not valid")
        agent._take_over(agent._state, agent._names, agent._open)
        agent._watch = Watch(policy) if agent.decisions == 0 else None
        agent._watching = agent._watch is not None or agent._memory_watched
        return agent

    def __reduce__(self) -> Any:
        """Let pickle and copy work as `save` and `load` do."""
        return type(self)._of_data, (self._policy, self._data())

    # inside

    def _signed(self, index: int, reward: float, source: object = None) -> None:
        """Take note of who sent the reward that is about to be learnt."""
        number = -1
        if source is not None:
            book = self._book
            if book is None:
                book = SourceBook(len(self._names), self._seed, self._sources_held)
            row = book.add(source, index, reward)
            if self._senders is not None:
                number = book.number(row)
            self._book = book  # not before: what is refused leaves nothing behind
            if self._watch is not None:
                self._watch.signed = True
        if self._senders is not None:
            self._senders[0] = number

    def _observe(self, index: int, reward: float, chance: float, opened: int) -> None:
        x = -reward if self._minimize else reward
        try:
            while not self._call_observe(self._handle, index, x, chance, opened):
                self._state.grow()
        except Exception as error:
            self._blame_policy(error)
        if self._watching:
            self._look(index, reward)

    def _look(self, index: int, reward: float) -> None:
        """Watch the first rewards, and a bounded memory for as long as it is exact."""
        if self._watch is not None and self._watch.saw(self._names[index], reward):
            self._watch = None
        if self._memory_watched and self._state.view.lost[index]:
            self._memory_watched = False
            warn(
                f"the median of {self._names[index]!r} has left its window, so its estimate is no "
                "longer exact: the rewards drift. Use memory='exact', or a new agent once the "
                "drift is over."
            )
        self._watching = self._watch is not None or self._memory_watched

    def _open_id(self, decision: object) -> int:
        """Return the id of an open decision, given as such or by its id."""
        id = decision.id if isinstance(decision, Decision) else decision
        arm = self._names[self._open.ticket(id).arm]
        if isinstance(decision, Decision) and decision.arm != arm:
            raise UnknownDecision(
                f"decision {id} of this agent is for {arm!r}, got one for {decision.arm!r}: "
                "another agent made it."
            )
        return int(id)  # type: ignore[call-overload]

    def _learn(self, id: int, reward: float, source: Name | None = None) -> None:
        arm, _, chance = self._open.close(id)
        if source is not None or self._senders is not None:
            self._signed(arm, reward, source)
        self._observe(arm, reward, chance, 1)

    def _index_of(self, arm: Name) -> int:
        try:
            return self._index[arm]
        except (KeyError, TypeError):
            self._refuse_arm(arm)

    def _blame_policy(self, error: Exception) -> NoReturn:
        """Say that the policy's own code has failed."""
        if isinstance(error, MemoryError):  # from growing the pool
            raise error
        raise failed(type(self._policy), error) from error

    def _refuse_choice(self) -> NoReturn:
        raise PolicyFault(
            f"{type(self._policy).__name__}.choose returned an arm that does not exist; arms are "
            f"numbered 0 to {len(self._names) - 1}."
        )

    def _refuse_arm(self, arm: object) -> NoReturn:
        known = [str(name) for name in self._names]
        shown = ", ".join(map(repr, self._names[:10])) + (", ..." if len(known) > 10 else "")
        raise UnknownArm(f"unknown arm {arm!r}; the arms are {shown}.{did_you_mean(arm, known)}")


def _plain(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value.to_dict() if key == "sources" else value for key, value in data.items()}
