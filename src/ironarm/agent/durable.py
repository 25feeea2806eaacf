"""A durable agent: every decision and reward is on disk before the call returns.

The log is the truth, and the agent in memory is what its entries add up to. An entry is
made on the state after all entries before it, while nobody else can append. So every
process that reads the log comes to the same state, to the last bit:

* the random numbers of a decision come from the agent's seed and the entry's number;
* caches, which may differ in the last bit from what is computed anew, are cleared after
  every `REFRESH` entries, by everybody. Snapshots are made there and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import StoreError, UnknownDecision
from ..frames import is_frame, pairs_of_frame
from ..policies import Policy
from ..policy import require_policy
from ..validation import number
from . import file as agent_file
from . import shown
from .core import Core
from .input import Name, reward_of, rows_of
from .logged import DurableDecision, rows_by_id
from .reward_check import Watch, warn_of_lost
from .shared_log import SharedLog
from .source_book import Source, optional_source


class DurableAgent:
    """An agent in a file: an `Agent` that survives crashes and can be shared.

    Every decision and reward is in an append-only log on disk before the call returns.
    Open the same path again and the agent resumes, open decisions included. Several
    processes and threads can open the same path; they share one agent.

    It has the methods of `Agent`, with four differences. Ids are text, unique across
    agents. You can report the same reward of a decision twice, and it counts once; a
    different value is an error. If the disk fails, the call raises `StoreError` and
    nothing is stored. There is no `load`: the path opens it.

    Parameters
    ----------
    path : the file. If it does not exist, it is created; that needs `arms`.
    policy : as for `Agent`. For an agent that exists, leave it out, or give the same; a
        policy of your own must always be given.
    arms, seed, minimize, memory, sources_held : as for `Agent`. For an agent that
        exists, leave it out, or give the same.
    commit_within : how long, in seconds, entries may wait for the disk, so that many
        share one commit. 0: none waits. With 0.01, a crash loses at most the last 10
        ms.

    Examples
    --------
    >>> import os, tempfile
    >>> import ironarm as ia
    >>> path = os.path.join(tempfile.mkdtemp(), "ads.db")
    >>> agent = ia.DurableAgent(path, ia.UCB(), arms=["a", "b"], seed=7)
    >>> decision = agent.decide()
    >>> agent.close()
    >>> again = ia.DurableAgent(path)
    >>> again.open_decisions == [decision]
    True
    >>> again.learn(decision.id, 3.2)
    >>> again.learn(decision.id, 3.2)  # the same again changes nothing
    >>> again.rewards
    {'a': 1, 'b': 0}
    >>> again.close()
    """

    def __init__(
        self,
        path: str | Path,
        policy: Policy | None = None,
        arms: Iterable[Name] | int | None = None,
        *,
        seed: int | None = None,
        minimize: bool | None = None,
        memory: str | None = None,
        sources_held: int | None = None,
        commit_within: float = 0.0,
    ) -> None:
        within = number("commit_within", commit_within, at_least=0, at_most=60)
        if policy is not None:
            require_policy(policy)
        # made in memory first, so that bad input leaves no file behind
        given = {
            "seed": seed,
            "minimize": minimize,
            "memory": memory,
            "sources_held": sources_held,
        }
        asked = {name: value for name, value in given.items() if value is not None}
        new = None if arms is None else Core(policy, arms, **asked)  # type: ignore[arg-type]
        self._path = Path(path)
        self._shared = SharedLog(self._path, policy, create=new is not None, within=within)
        self._watch: Watch | None = None  # looks at the first rewards of a new agent
        self._memory_watched = False
        try:
            self._shared.logged.catch_up()
            self._shared.logged.seal()
            with self._shared.appending:
                if self._shared.replay.loaded is not None:
                    self._shared.replay.check_same(None if new is None else new.arms, asked)
                elif new is not None:
                    self._shared.logged.create(new.described())
                    self._watch = Watch(new.policy)
                else:
                    raise StoreError(f"{path} holds no agent; give arms to create one there.")
            self.flush()
            self._memory_watched = self._shared.replay.core.bounded
        except BaseException:
            self._shared.log.close()
            raise
        self._shared.commit_in_time()

    # decisions

    def select(self) -> Name:
        """Decide which arm to use now, and return its name."""
        return self.decide().arm

    def decide(self, among: Iterable[Name] | None = None) -> DurableDecision:
        """Decide which arm to use now, and return it with an id for its reward.

        `among` lists the arms you can use this time, if not all.
        """
        # a generator may use the agent itself, so it is read before the log is held
        usable = among if among is None or isinstance(among, str) else list(among)
        with self._shared.appending:
            return self._shared.logged.decide(among=usable)

    def best(self) -> Name:
        """Return the arm with the best estimate; before any reward, the first arm."""
        with self._shared.reading() as core:
            return core.best()

    def prepare(self) -> DurableAgent:
        """Compile everything that live use needs, and return the agent."""
        with self._shared.reading() as core:
            core.prepare()
        return self

    # rewards

    def update(self, arm: Name, reward: float, source: Name | None = None) -> None:
        """Learn a reward of an arm.

        The reward closes the arm's oldest open decision. If none is open, it counts as
        an extra observation.
        """
        with self._shared.appending:
            x = reward_of(reward)
            sender = optional_source(source)
            name = self._shared.logged.update(arm, x, sender)
        self._look([(name, x, sender)])

    def learn(self, id: str | DurableDecision, reward: float, source: Name | None = None) -> None:
        """Learn the reward of a decision, however late and in any order.

        Repeating the same reward changes nothing; a different one is refused.
        """
        text, x, sender = id_of(id), reward_of(reward), optional_source(source)
        with self._shared.appending:
            arm = self._shared.logged.reward(text, x, sender)
        if arm is not None:
            self._look([(arm, x, sender)])

    def learn_batch(
        self, rewards: Iterable[tuple[str | DurableDecision, float] | tuple[Any, float, Name]]
    ) -> None:
        """Learn many rewards: (decision or id, reward), optionally with a source.

        If one of them is invalid, none is learnt.
        """
        # a generator may use the agent itself, so it is read before the log is held
        rows = rows_of(rewards, "a decision or its id, and a reward")
        with self._shared.appending:
            wanted = rows_by_id(
                (id_of(given), reward_of(reward), optional_source(source))
                for given, reward, source in rows
            )
            new = {
                id: row
                for id, row in wanted.items()
                if not self._shared.logged.is_known(id, row[0])
            }
            seen = []
            for id, (x, sender) in new.items():
                arm = self._shared.logged.reward(id, x, sender)
                assert arm is not None
                seen.append((arm, x, sender))
        self._look(seen)

    def _look(self, seen: list[tuple[Name, float, Name | None]]) -> None:
        """Look at first rewards for mistakes, and at a bounded memory.

        When the rewards are stored: it may warn.
        """
        if self._watch is None and not self._memory_watched:
            return
        with self._shared.lock:
            for arm, x, source in seen:
                if self._watch is None:
                    break
                self._watch.signed |= source is not None
                if self._watch.saw(arm, x):
                    self._watch = None
            if self._memory_watched and self._shared.replay.loaded is not None:
                inexact = set(self._shared.replay.core.inexact)
                lost = next((arm for arm, _, _ in seen if arm in inexact), None)
                if lost is not None:
                    self._memory_watched = False
                    warn_of_lost(lost)

    def cancel(self, id: str | DurableDecision) -> None:
        """Close a decision that will never get a reward; repeating it does nothing."""
        with self._shared.appending:
            self._shared.logged.cancel(id_of(id))

    def expire(self, older_than: float) -> int:
        """Cancel all decisions older than this many seconds; return how many."""
        with self._shared.appending:
            age = number("older_than", older_than, at_least=0)
            return self._shared.logged.expire(self._shared.logged.now() - age)

    def warm_start(self, log: Iterable[tuple[Name, float]] | Any) -> None:
        """Learn from logged pairs (arm, reward), as if the agent had chosen the arm."""
        given = rows_of(pairs_of_frame(log) if is_frame(log) else log, "an arm and a reward")
        with self._shared.appending:
            self._shared.logged.warm(
                [(arm, reward_of(reward), optional_source(source)) for arm, reward, source in given]
            )

    # arms

    def add_arm(self, arm: Name) -> None:
        """Add an arm at the end; the agent first makes the forced pulls it lacks."""
        with self._shared.appending:
            self._shared.logged.add_arm(arm)

    def remove_arm(self, arm: Name) -> None:
        """Remove an arm and close its open decisions; the others keep their state."""
        with self._shared.appending:
            self._shared.logged.remove_arm(arm)

    # what is known

    @property
    def policy(self) -> Policy:
        """The policy."""
        with self._shared.reading() as core:
            return core.policy

    @property
    def arms(self) -> tuple[Name, ...]:
        """The arms' names, in order."""
        with self._shared.reading() as core:
            return core.arms

    @property
    def decisions(self) -> int:
        """How many decisions have been made; each is a round."""
        with self._shared.reading() as core:
            return core.decisions

    @property
    def open_decisions(self) -> list[DurableDecision]:
        """The decisions that have no reward yet, oldest first."""
        with self._shared.reading() as core:
            return [DurableDecision(*pair) for pair in core.open_pairs()]

    @property
    def estimates(self) -> dict[Name, float]:
        """The arms' current estimates; NaN before the first reward."""
        with self._shared.reading() as core:
            return core.estimates

    @property
    def rewards(self) -> dict[Name, int]:
        """How many rewards each arm has."""
        with self._shared.reading() as core:
            return core.rewards

    @property
    def inexact(self) -> list[Name]:
        """With memory="bounded", the arms whose median has ever left its window."""
        with self._shared.reading() as core:
            return core.inexact

    def sources(self) -> list[Source]:
        """Return what the agent knows of each source; see `Agent.sources`."""
        with self._shared.reading() as core:
            report = core.sources_later()
        return report()

    def summary(self) -> dict[str, Any]:
        """Return what the agent knows of each arm; see `Agent.summary`."""
        with self._shared.reading() as core:
            return {**core.summary(), "entries": self._shared.log.last}

    def save(self, path: str | Path) -> None:
        """Write the agent as it is now to a separate file for `Agent.load`.

        In that file, open decisions are numbered in the order in which they were made.
        """
        with self._shared.reading():
            saved = self._shared.replay.copied()
        agent_file.write(Path(path), saved())

    def plot(self, path: str | Path | None = None, *, ax: Any = None, column: bool = False) -> Any:
        """Draw the arms' estimates and numbers of rewards; see `Agent.plot`."""
        from ..show.curves import Look
        from .plot import plot_agent, seen

        with self._shared.reading() as core:
            now = seen(core)
        return plot_agent(now, Look(ax=ax, column=column, path=path))

    def __repr__(self) -> str:
        with self._shared.reading() as core:
            return shown.as_text(core, f"DurableAgent({str(self._path)!r}, ")

    # the file

    def flush(self) -> None:
        """Write all waiting entries to the disk."""
        self._shared.flush()

    def close(self) -> None:
        """Write all waiting entries to the disk, and close the file.

        With `commit_within`, this also happens when a script ends normally, but not in
        a `multiprocessing` process or one that is killed.
        """
        self._shared.close()

    def __enter__(self) -> DurableAgent:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def id_of(decision: object) -> str:
    """Return the id of a decision, given as such or by its id."""
    id = decision.id if isinstance(decision, DurableDecision) else decision
    if not isinstance(id, str):
        raise UnknownDecision(
            f"a durable agent's decision ids are text, got {id!r}; ids come from decide()."
        )
    return id
