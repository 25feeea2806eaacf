"""A policy at work on named arms: live decisions, with rewards now or later."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path
from time import time
from typing import Any, NamedTuple

from ..engine.loop import ANY, LEARNT, NO_SUCH_ARM, NOT_NOW, OLDEST_LOCKED, OLDEST_OPEN, ONE_OPEN
from ..errors import InvalidInput, UnknownDecision
from ..frames import is_frame, pairs_of_frame
from ..policies import Policy
from ..validation import number
from . import file as agent_file
from . import shown
from .alone import Shut, calls_are_atomic
from .core import Core, plain
from .input import Name, reward_of, rows_of
from .reward_check import Watch, warn_of_lost
from .source_book import HELD, Source, optional_source


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
        sources_held: int = HELD,
    ) -> None:
        core = Core(
            policy,
            arms,
            seed=seed,
            minimize=minimize,
            memory=memory,
            sources_held=sources_held,
        )
        self._begin(core, Watch(core.policy))

    def _begin(self, core: Core, watch: Watch | None) -> None:
        self._core, self._watch = core, watch
        self._lock = threading.RLock()
        self._without_lock = not core.needs_python and calls_are_atomic()
        core.open.waiting.shut = not self._without_lock
        # where all take the lock, to take it twice costs least
        self._shut = Shut(core) if self._without_lock else self._lock
        self._memory_watched = core.bounded
        self._watching = watch is not None or core.bounded
        self._minimize = core.minimize
        self._look_up()

    def _look_up(self) -> None:
        """Take from the core what the hot path uses, again whenever the arms change."""
        core = self._core
        self._names = core.names
        self._to_select = self._to_update = None
        if self._without_lock:
            # each is read in one step, so what is in it belongs together, and the
            # records live as long as somebody has their addresses
            places = core.handle, core.place, (core.state.record, core.open.waiting.record)
            self._to_select = core.call_select, core.names, *places
            self._to_update = core.call_observe, core.index, core.open.ids, *places

    # decisions

    # `select` and `update` are the hot path. What they change, they change in one call
    # of compiled code, during which Python lets no other thread run: so they need no
    # lock. That call does nothing where Python must do more, or while another thread
    # has the agent for itself (`Shut`)

    def select(self) -> Name:
        """Decide which arm to use now, and return its name."""
        hot = self._to_select
        if hot is None:
            return self._select_locked()
        select, names, state, waiting, _ = hot
        try:
            arm = select(state, ANY, waiting, time())
        except Exception as error:
            self._core.blame_policy(error)
        if arm >= 0:
            return names[arm]
        if arm == NO_SUCH_ARM:
            self._core.refuse_choice()
        return self._select_locked()

    def _select_locked(self) -> Name:
        with self._lock, self._shut:
            core = self._core
            if core.chance is None:
                arm = core.choose_without_id(time())
            else:
                arm, chance = core.choose()
                core.open.add(arm, chance, time())
            return core.names[arm]

    def update(self, arm: Name, reward: float, source: Name | None = None) -> None:
        """Learn a reward of an arm.

        The reward closes the arm's oldest open decision. If none is open, it counts as
        an extra observation. `source` says who sent the reward: a user, a publisher, a
        sensor.
        """
        if type(reward) is not float or reward != reward:
            reward = reward_of(reward)
        hot = self._to_update
        if hot is None or source is not None:
            self._update_locked(arm, reward, source)
            return
        observe, numbers, ids, state, waiting, _ = hot
        try:
            number = numbers[arm]
        except (KeyError, TypeError):
            self._core.refuse_arm(arm)
        x = -reward if self._minimize else reward
        done = NOT_NOW
        try:
            if not ids[number]:
                done = observe(state, number, x, 1.0, -1, OLDEST_OPEN, waiting)
        except Exception as error:
            self._core.blame_policy(error)
        if done != LEARNT:
            self._update_locked(arm, reward, None)
        elif self._watching:
            with self._lock:
                self._look(arm, reward, None)

    def _update_locked(self, arm: Name, reward: float, source: Name | None) -> None:
        with self._lock:
            core = self._core
            number = core.number_of(arm)
            if core.chance is None and not core.open.ids[number]:
                core.take(number, reward, source, opened=OLDEST_LOCKED)
            else:
                self._update_oldest(arm, number, reward, optional_source(source))
            if self._watching:
                self._look(arm, reward, source)

    def _update_oldest(self, arm: Name, number: int, reward: float, source: Name | None) -> None:
        """Close the oldest of decisions of which some have an id, or observe."""
        core = self._core
        with self._lock, self._shut:
            ticket = core.open.pop(number)
            if ticket is None:
                core.check_observation(arm, "select() or decide()")
                core.take(number, reward, source)
            else:
                core.take(number, reward, source, ticket.chance, ONE_OPEN)

    def decide(self, among: Iterable[Name] | None = None) -> Decision:
        """Decide which arm to use now, and return it with an id for its reward.

        `among` lists the arms you can use this time, if not all: servers that are up,
        articles in stock. The policy chooses as if there were no other arms, and the
        decision counts like any other.
        """
        with self._lock, self._lock if among is None else self._shut:
            arm, chance = self._core.choose(among)
            return Decision(self._core.open.add(arm, chance, time()), self._names[arm])

    def prepare(self) -> Agent:
        """Compile everything that live use needs, and return the agent.

        After that, no call has to compile anything. The compiled code is cached on
        disk, so only the first process waits for it.
        """
        with self._lock:
            self._core.prepare()
        return self

    def best(self) -> Name:
        """Return the arm with the best estimate; before any reward, the first arm.

        Use it when you are done learning. Once any arm has a reward, an arm without one
        is never returned.
        """
        with self._lock, self._shut:
            return self._core.best()

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

    def _learn(self, id: int, reward: float, source: Name | None) -> None:
        arm = self._core.reward(id, reward, source)
        if self._watching:
            self._look(self._names[arm], reward, source)

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
            self._core.cancel(self._open_id(id))

    def expire(self, older_than: float) -> int:
        """Cancel all decisions older than this many seconds; return how many."""
        with self._lock, self._shut:
            return self._core.expire(time() - number("older_than", older_than, at_least=0))

    def warm_start(self, log: Iterable[tuple[Name, float]] | Any) -> None:
        """Learn from logged pairs (arm, reward), as if the agent had chosen the arms.

        If the log lacks forced pulls, the agent makes them first. A log can also be
        rows (arm, reward, source), or a data frame (pandas, polars, Arrow) with the
        columns `arm` and `reward`.
        """
        with self._lock, self._shut:
            rows = [
                (self._core.number_of(arm), reward_of(reward), optional_source(source))
                for arm, reward, source in rows_of(
                    pairs_of_frame(log) if is_frame(log) else log, "an arm and a reward"
                )
            ]
            self._core.warm(rows)
            for arm, reward, source in rows if self._watching else ():
                self._look(self._names[arm], reward, source)

    # arms

    def add_arm(self, arm: Name) -> None:
        """Add an arm at the end.

        The agent first makes the forced pulls that the policy's schedule would have
        given it by now.
        """
        with self._lock, self._shut:
            self._core.add(arm)
            self._look_up()

    def remove_arm(self, arm: Name) -> None:
        """Remove an arm and close its open decisions; the others keep their state.

        If you add it again, it starts from scratch.
        """
        with self._lock, self._shut:
            self._core.remove(arm)
            self._look_up()

    # what is known

    @property
    def policy(self) -> Policy:
        """The policy."""
        return self._core.policy

    @property
    def arms(self) -> tuple[Name, ...]:
        """The arms' names, in order."""
        return self._core.arms

    @property
    def decisions(self) -> int:
        """How many decisions have been made; each is a round."""
        return self._core.decisions

    @property
    def open_decisions(self) -> list[Decision]:
        """The decisions made by `decide` that have no reward yet, oldest first."""
        with self._lock:
            return [Decision(*pair) for pair in self._core.open_pairs()]

    @property
    def estimates(self) -> dict[Name, float]:
        """The arms' current estimates, in units of reward; NaN before the first
        reward.
        """
        with self._lock, self._shut:
            return self._core.estimates

    def summary(self) -> dict[str, Any]:
        """Return what the agent knows of each arm, as data that JSON can hold.

        Values that are unknown or not finite are None.

        >>> import ironarm as ia
        >>> agent = ia.Agent(ia.UCB(), arms=["a", "b"], seed=1)
        >>> agent.update(agent.select(), 2.0)
        >>> agent.summary()["arms"][1]
        {'arm': 'b', 'rewards': 0, 'open': 0, 'estimate': None}
        """
        with self._lock, self._shut:
            return self._core.summary()

    @property
    def rewards(self) -> dict[Name, int]:
        """How many rewards each arm has."""
        with self._lock, self._shut:
            return self._core.rewards

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
        with self._lock:
            report = self._core.sources_later()
        return report()

    @property
    def inexact(self) -> list[Name]:
        """With memory="bounded", the arms whose median has ever left its window."""
        with self._lock:
            return self._core.inexact

    def __repr__(self) -> str:
        with self._lock, self._shut:
            return shown.as_text(self._core)

    def _repr_html_(self) -> str:
        with self._lock, self._shut:
            return shown.as_html(self._core)

    def plot(self, path: str | Path | None = None, *, ax: Any = None, column: bool = False) -> Any:
        """Draw the arms' estimates and numbers of rewards; return the figure.

        Parameters
        ----------
        path : a .pdf, .svg or .png file to write the figure to, or None.
        ax : your own axes to draw into.
        column : True for a figure as wide as a column in print.
        """
        from ..show.curves import Look
        from .plot import plot_agent, seen

        with self._lock, self._shut:
            now = seen(self._core)
        return plot_agent(now, Look(ax=ax, column=column, path=path))

    # files

    def save(self, path: str | Path) -> None:
        """Write the agent to a JSON file, whole or not at all.

        After loading, it continues with exactly the same choices.
        """
        with self._lock, self._shut:
            data, state = self._core.frozen()
        data = {"policy": self.policy.to_dict(), **plain(data), "state": state.dump_arrays()}
        agent_file.write(Path(path), data)

    @classmethod
    def load(cls, path: str | Path, policy: Policy | None = None) -> Agent:
        """Read a file that `save` wrote.

        If the policy is your own, pass it: the file holds data, never code.
        """
        place, given = Path(path), policy is not None
        data, policy = agent_file.read(place, policy)
        with agent_file.damage_reported(place):
            if not given:
                agent_file.check_size(place, policy, data)
            return cls._of_data(policy, data)

    @classmethod
    def _of_data(cls, policy: Policy, data: dict[str, Any]) -> Agent:
        """Return the agent that was saved as these data."""
        agent = cls.__new__(cls)
        core = Core.thawed(policy, data)
        agent._begin(core, Watch(policy) if core.decisions == 0 else None)
        return agent

    def __reduce__(self) -> Any:
        """Let pickle and copy work as `save` and `load` do."""
        with self._lock, self._shut:
            data, state = self._core.frozen()
        return type(self)._of_data, (self.policy, {**plain(data), "state": state.dump()})

    # inside

    def _look(self, arm: Name, reward: float, source: object) -> None:
        """Watch the first rewards, and a bounded memory for as long as it is exact."""
        number = self._core.index.get(arm)
        if number is None:
            return  # another thread has just removed it
        if self._watch is not None:
            self._watch.signed |= source is not None
            if self._watch.saw(self._names[number], reward):
                self._watch = None
        if self._memory_watched and self._core.state.view.lost[number]:
            self._memory_watched = False
            warn_of_lost(self._names[number])
        self._watching = self._watch is not None or self._memory_watched

    def _open_id(self, decision: object) -> int:
        """Return the id of an open decision, given as such or by its id."""
        id = decision.id if isinstance(decision, Decision) else decision
        arm = self._names[self._core.open.ticket(id).arm]
        if isinstance(decision, Decision) and decision.arm != arm:
            raise UnknownDecision(
                f"decision {id} of this agent is for {arm!r}, got one for {decision.arm!r}: "
                "another agent made it."
            )
        return int(id)  # type: ignore[call-overload]
