"""An arena as data: policies, attacks, and the settings in which they meet.

`read.py` reads one from its file.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from ...attacks import ATTACK, Attack
from ...bandits import Bandit
from ...naming.notation import parse, value_with
from ...naming.own_code import split
from ...naming.own_faults import constants_of
from ...policies import Policy, policy_from_text
from ...simulation import Delay, Sources
from ..kit.grid import attack_at

KNOWN = frozenset({"sigma", "low", "high", "gap"})


@dataclass(frozen=True, eq=False)
class Setting:
    """A bandit, how long it is played, and what is known of it.

    The texts of policies and attacks may use what is known.
    """

    name: str
    title: str
    bandit: Bandit
    known: Mapping[str, float]
    rho: tuple[float, ...]
    horizon: int
    trials: int
    without: tuple[str, ...] = ()
    """Attacks that are not played here."""
    sources: Sources | None = None
    delay: Delay | None = None

    @property
    def without_floor(self) -> str:
        """Why no lower bound is known here; "" if one may be.

        Those of `floors` are for arms that stay the same and coins that fall in every
        round. A policy that looks at sources may lie far below them.
        """
        if self.sources is not None:
            return "sources are corrupt here, and lower bounds are known only for coins"
        if len(self.bandit.segments) > 1:
            return "the arms change"
        return ""


@dataclass(frozen=True, eq=False)
class Arena:
    """Everything that an arena file says."""

    title: str
    seed: int
    policies: Mapping[str, str]
    attacks: Mapping[str, str]
    settings: tuple[Setting, ...]
    compare: tuple[tuple[str, str], ...] = ()
    """Pairs of policies: how many times the second one's regret is the first one's,
    at most?
    """
    rivals: tuple[str, ...] = ()
    """The policies that `ironarm compare` compares others with."""

    @property
    def places(self) -> list[tuple[Setting, float]]:
        """Each setting with each of its rho."""
        return [(setting, rho) for setting in self.settings for rho in setting.rho]

    def attacks_in(self, setting: Setting) -> list[str]:
        """Return the names of the attacks that are played in a setting."""
        return [name for name in self.attacks if name not in setting.without]

    def policy(self, name: str, setting: Setting, rho: float) -> Policy:
        """Return a policy for a setting; its text may use what is known there.

        It raises InvalidInput if it cannot play there.
        """
        policy = policy_from_text(self.policies[name], rho=rho, **setting.known)
        constants_of(policy, setting.bandit.arms, setting.horizon)
        return policy

    def attack(self, name: str, setting: Setting, rho: float) -> Attack:
        """Return the attack of that name for a setting."""
        kind, parameters = parse(
            self.attacks[name], ATTACK, partial(value_with, names={"rho": rho, **setting.known})
        )
        return attack_at(f"the attack {name!r}", kind, parameters, rho)

    def needs(self, name: str) -> tuple[str, ...]:
        """Return what you must know about a setting to use a policy there.

        These are the names that its text uses, and the horizon if its constants depend
        on it.
        """
        used = names_in(self.policies[name])
        named = (
            ["rho"] * ("rho" in used)
            + ["sigma"] * ("sigma" in used)
            + ["range"] * bool({"low", "high"} & used)
            + ["smallest gap"] * ("gap" in used)
        )
        setting = self.settings[0]
        policy = self.policy(name, setting, setting.rho[0])
        arms, horizon = setting.bandit.arms, setting.horizon
        return (
            *named,
            *["horizon"]
            * (constants_of(policy, arms, horizon) != constants_of(policy, arms, 2 * horizon)),
        )

    def states_needs(self, name: str) -> bool:
        """Say whether a policy's class states what it needs; one's own may not."""
        setting = self.settings[0]
        return type(self.policy(name, setting, setting.rho[0])).needs is not None


def names_in(text: str) -> set[str]:
    """Return the names in the text of a policy or an attack.

    There are none if the text cannot be read; `parse` reports that.

    >>> sorted(names_in("UCB(sigma=2*sigma, alpha=rho)"))
    ['UCB', 'rho', 'sigma']
    """
    try:
        return {
            node.id
            for node in ast.walk(ast.parse(split(text)[1], mode="eval"))
            if isinstance(node, ast.Name)
        }
    except (SyntaxError, ValueError):
        return set()
