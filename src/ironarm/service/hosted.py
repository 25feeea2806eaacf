"""One agent of the service: its log, and the rules for late and failed rewards."""

from __future__ import annotations

import hashlib
import json
import math
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from time import time
from typing import Any

from ..agent.core import Core
from ..agent.input import Name
from ..agent.log import Log
from ..agent.logged import DurableDecision, Frozen, LoggedAgent, new_id
from ..agent.replay import Replay
from ..agent.store import Store
from ..errors import ClosedDecision, InvalidInput
from ..estimators import BoundedMedian, LowerMedian, TrimmedMean
from ..estimators.sliding_median import SlidingMedian
from ..policies import Policy, TrustThompson, policy_from_text
from ..rules.reward_range import RangedPolicy
from ..validation import number
from ..which_policy import default_policy

RULES = ("reward_within", "missing_reward", "failed_reward")
EXPIRE_AT_ONCE = 1000
"""Decisions that expire in one transaction; the next ones follow a moment later."""


def takes_infinities(policy: Policy) -> bool:
    """Say whether an infinite reward does no lasting harm to a policy."""
    counts = (LowerMedian, BoundedMedian, SlidingMedian, TrimmedMean)
    return isinstance(policy, (RangedPolicy, TrustThompson)) or (
        policy.estimator is not None and issubclass(policy.estimator, counts)
    )


def planned(
    *,
    arms: Iterable[Name],
    policy: str | None = None,
    minimize: bool = False,
    memory: str | None = None,
    seed: int | None = None,
    reward_within: float | None = None,
    missing_reward: float | None = None,
    failed_reward: float | None = None,
) -> tuple[Core, str]:
    """Return a new agent, and what the first entry of its log carries.

    The salt makes ids from a client's Idempotency-Key that nobody can guess.
    """
    if reward_within is not None:
        number("reward_within", reward_within, above=0, at_most=10 * 365.25 * 86_400)
    elif missing_reward is not None:
        raise InvalidInput("missing_reward needs reward_within, which says when one is missing.")
    for name, value in (("missing_reward", missing_reward), ("failed_reward", failed_reward)):
        if value is not None:
            number(name, value)
    asked = {"seed": seed, "memory": memory}
    new = Core(
        policy_named(policy),
        arms,
        minimize=minimize,
        **{name: value for name, value in asked.items() if value is not None},  # type: ignore[arg-type]
    )
    check_texts(new.arms)
    if failed_reward is None and takes_infinities(new.policy):
        failed_reward = math.inf if minimize else -math.inf
    return new, new.described(
        reward_within=reward_within,
        missing_reward=missing_reward,
        failed_reward=failed_reward,
        salt=secrets.token_hex(16),
    )


def check_texts(arms: tuple[Name, ...]) -> None:
    """Refuse arms that look the same where names are text, as in addresses."""
    if len({str(arm) for arm in arms}) < len(arms):
        raise InvalidInput("two arms have names that read the same, such as 7 and '7'.")


def policy_named(text: str | None) -> Policy:
    """Return the policy that a text names, the default one for None; never a file's."""
    if text is None:
        return default_policy()
    # what names a file is not looked at: the answer would say whether it is there
    if any(sign in text for sign in ":/\\") or text.strip().endswith(".py"):
        raise InvalidInput(
            "a policy must be built in, or installed as a package; files are not loaded here."
        )
    return policy_from_text(text)


def same_agent(existing: dict[str, Any], wanted: str, seed_given: bool) -> str | None:
    """Return what differs between an agent and a wanted one; None if nothing does."""
    asked = json.loads(wanted)
    for name in ("policy", "arms", "minimize", "memory", "seed", *RULES):
        if name == "seed" and not seed_given:
            continue
        if existing.get(name) != asked.get(name):
            return name
    return None


def _fingerprint(among: list[Name] | None) -> str:
    """Return what tells a request for a decision from others, as its entry has it."""
    digest = hashlib.blake2b(json.dumps(among).encode(), digest_size=8)
    return json.dumps({"asked": digest.hexdigest()})


class Hosted(LoggedAgent):
    """An agent of the service."""

    def __init__(self, store: Store, number: int, snapshot_due: Callable[[Frozen], None]) -> None:
        self.number = number
        replay = Replay(Path(store.place), None)
        super().__init__(Log(store, number), replay, snapshot_due)

    @property
    def _rules(self) -> dict[str, Any]:
        return self.replay.created

    @property
    def reward_within(self) -> float | None:
        """The seconds that a reward may take."""
        return self._rules.get("reward_within")

    def load(self) -> None:
        """Read the log, and compile all that is needed, so that no decision does."""
        self.catch_up()
        self.seal()
        if self.replay.loaded is not None:
            self.core.prepare()

    def check_live(self) -> None:
        """Refuse what comes after the end."""
        if self.replay.loaded is None or self.replay.archived:
            raise ClosedDecision("the agent is archived; its log can still be read.")

    def decide_once(
        self, key: str | None, request: str | None, among: list[Name] | None = None
    ) -> tuple[DurableDecision, bool]:
        """Decide; the same request of the same key gets the same decision again.

        Also return whether the decision is new. `among` are the arms that can be used.
        """
        if request is None:
            return self.decide(f"{self.number}.{new_id(time())}", key, among), True
        id, asked = self._id(key, request), _fingerprint(among)
        if (before := self._decided_before(id, among, asked)) is not None:
            return before, False
        return self.decide(id, key, among, asked), True

    def _decided_before(
        self, id: str, among: list[Name] | None, asked: str
    ) -> DurableDecision | None:
        """Return the decision of an earlier request; refuse a request that differs."""
        found = [entry for entry in self.log.about(id) if entry.kind == "decided"]
        if found:
            arm, before = found[0].arm, found[0].extra
            assert arm is not None
        elif self.core.is_open(id):  # its entry was pruned
            arm, before = self.core.arm_of(id), None
        else:
            return None
        # older logs do not say what was asked, only what came of it
        same = before == asked if before is not None else among is None or arm in among
        if not same:
            raise InvalidInput(
                "this Idempotency-Key was already used for a decision among other arms; a "
                "different request needs its own."
            )
        return DurableDecision(id, arm)

    def _id(self, key: str | None, *request: str | int) -> str:
        """Return an id made from a request, so that it can be repeated.

        It begins with the agent's number, by which a reward finds its agent.
        """
        salt = bytes.fromhex(self._rules["salt"])
        text = json.dumps([key, *request]).encode()
        return f"{self.number}.{hashlib.blake2b(text, digest_size=16, key=salt).hexdigest()}"

    def reward_once(self, id: str, x: float | None, source: Name | None, key: str | None) -> bool:
        """Learn the reward of a decision, None for a failure; True if it was new."""
        self.check_live()
        kind = "rewarded"
        if x is None:
            kind, x = "failed", self.failed_reward()
        if (
            self.reward_within is not None
            and self.core.is_open(id)
            and self.core.open.tickets[id].made < self.now() - self.reward_within
        ):
            # who expires them comes every second, and takes only so many at once
            raise ClosedDecision(f"decision {id} is closed: it has expired.")
        return self.reward(id, x, source, kind, key) is not None

    def failed_reward(self) -> float:
        """Return what is learnt of a failure."""
        value = self._rules.get("failed_reward")
        if value is None:
            raise InvalidInput(
                f"{self._rules['policy']['policy']} needs finite rewards, and a failure has none. "
                "Create the agent with failed_reward, or send a value."
            )
        return float(value)  # an infinity is text in JSON

    def observe_once(
        self,
        arm: Name,
        x: float,
        source: Name | None,
        key: str | None,
        request: str | None,
        line: int,
    ) -> bool:
        """Learn a reward without a decision; True if it was new.

        It is a line of a request, by which it is known again.
        """
        self.check_live()
        return self.observe(arm, x, source, self.observation_id(key, request, line), key)

    def observation_id(self, key: str | None, request: str | None, line: int) -> str | None:
        """Return the id by which an observation is known again; None if it is not.

        A decision's id is made of two parts, so none equals this one.
        """
        return None if request is None else self._id(key, request, line)

    def expire_late(self) -> int:
        """Close the decisions whose reward did not come in time."""
        if self.reward_within is None or self.replay.archived:
            return 0
        missing = self._rules.get("missing_reward")
        limit = self.now() - self.reward_within
        return self.expire(limit, missing, EXPIRE_AT_ONCE)

    def add_arm_once(self, arm: Name, key: str | None, most: int) -> bool:
        """Add an arm, if there are not so many; False if it is there."""
        if arm in self.core.arms:
            return False
        if len(self.core.arms) >= most:
            raise InvalidInput(f"an agent has at most {most:,} arms here; see --max-arms.")
        check_texts((*self.core.arms, arm))
        self.add_arm(arm, key)
        return True

    def archive_once(self, key: str | None) -> bool:
        """End the agent; False if that was done before."""
        if self.replay.archived:
            return False
        self.archive(key)
        return True

    def summary(self) -> dict[str, Any]:
        """Return what is known, as plain data."""
        rules = {
            name: float(value) if isinstance(value, str) else value
            for name in RULES
            if (value := self._rules.get(name)) is not None
        }
        return {
            **self.core.summary(),
            "open": len(self.core.open.tickets),
            "entries": self.log.last,
            "archived": self.replay.archived,
            **{name: value for name, value in rules.items() if math.isfinite(value)},
        }
