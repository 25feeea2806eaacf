"""Choose the best of several options from feedback that an attacker can corrupt.

    import ironarm as ia

    bandit = ia.GaussianBandit(means=range(2, 21, 2))
    attack = ia.OppositeUniform(rho=0.3, scale=1800)
    result = ia.simulate(
        [ia.MedEUCB(), ia.UCB()], bandit, attack, horizon=100_000, trials=20, seed=7
    )
    print(result.summary())

`__all__` has what most people need. All policies are in `ironarm.policies`, all attacks
in `ironarm.attacks`, all errors in `ironarm.errors`. If you write policies, attacks or
bandits, you also need `ironarm.extend` and `ironarm.testing`. Everything else may
change.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .lazy import Names
from .show.looks import built_in_are
from .version import __version__

if TYPE_CHECKING:
    # what these names stand for is loaded when they are first used; see `lazy.py`
    from . import attacks, errors, extend, policies, testing
    from .agent import Agent, Decision, DurableAgent, RewardWarning
    from .attacks import (
        Constant,
        CustomAttack,
        Infinite,
        LeastFavourable,
        Mimic,
        NoAttack,
        OppositeUniform,
    )
    from .bandits import (
        BernoulliBandit,
        DriftingBandit,
        GaussianBandit,
        ReplayBandit,
        ScipyBandit,
    )
    from .draw_file import plot
    from .errors import InvalidInput, IronarmError, StoreError
    from .policies import (
        EXP3,
        IMED,
        KLUCB,
        RUCB,
        UCB,
        CatoniUCB,
        CoherentIMED,
        CountIMED,
        EpsilonGreedy,
        MedEpsilonGreedy,
        MedEUCB,
        RestartingIMED,
        TrimmedEpsilonGreedy,
        TrimmedUCB,
        TrustThompson,
        TsallisINF,
    )
    from .radio.bandit import RadioBandit
    from .service.client import AsyncClient, Client
    from .simulation import Delay, Result, Sources
    from .simulation.simulate import simulate
    from .theory import Certificate
    from .theory.certification import certify

__all__ = [
    "EXP3",
    "IMED",
    "KLUCB",
    "RUCB",
    "UCB",
    "Agent",
    "AsyncClient",
    "BernoulliBandit",
    "CatoniUCB",
    "Certificate",
    "Client",
    "CoherentIMED",
    "Constant",
    "CountIMED",
    "CustomAttack",
    "Decision",
    "Delay",
    "DriftingBandit",
    "DurableAgent",
    "EpsilonGreedy",
    "GaussianBandit",
    "Infinite",
    "InvalidInput",
    "IronarmError",
    "LeastFavourable",
    "MedEUCB",
    "MedEpsilonGreedy",
    "Mimic",
    "NoAttack",
    "OppositeUniform",
    "RadioBandit",
    "ReplayBandit",
    "RestartingIMED",
    "Result",
    "RewardWarning",
    "ScipyBandit",
    "Sources",
    "StoreError",
    "TrimmedEpsilonGreedy",
    "TrimmedUCB",
    "TrustThompson",
    "TsallisINF",
    "__version__",
    "certify",
    "plot",
    "simulate",
]
NAMES = Names(__name__, __file__)
ROOMS = ("policies", "attacks", "errors", "extend", "testing")
"""Modules with more public names."""
built_in_are(lambda: import_module(".policies", __name__).POLICIES)

if not TYPE_CHECKING:  # type checkers know the names above, and that there are no others

    def __getattr__(name: str) -> Any:
        """Load what has that name; say where other names are."""
        if name in NAMES:
            return NAMES.get(name)
        policies, *others = (import_module(f".{room}", __name__) for room in ROOMS[:4])
        if name in policies.REPLACED:
            raise AttributeError(
                f"{name} has been replaced by {policies.REPLACED[name]}; use that."
            )
        for room in (policies, *others):
            if name in room.__all__:
                short = room.__name__.partition(".")[2]
                raise AttributeError(
                    f"{name} is in {room.__name__}: write ia.{short}.{name}, or "
                    f"`from {room.__name__} import {name}`."
                )
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names."""
    return [*__all__, *ROOMS]
