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

from . import signals

try:
    from . import simulation as _  # loads NumPy and most of ironarm: half a second
except KeyboardInterrupt:
    signals.exit_if_command()
    raise
from . import attacks, errors, policies
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
from .show.figures import give_looks
from .simulation import Delay, Result, Sources, simulate
from .theory import Certificate, certify
from .version import __version__

if TYPE_CHECKING:
    from . import extend, testing
    from .draw_file import plot
    from .radio.bandit import RadioBandit
    from .service.client import AsyncClient, Client

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
give_looks(policies.POLICIES)  # here, since figures know policies by their names alone
ON_FIRST_USE = {
    "AsyncClient": "service.client",
    "Client": "service.client",
    "RadioBandit": "radio.bandit",
    "plot": "draw_file",
}
"""What needs an extra, and the modules that have it."""


ROOMS = ("policies", "attacks", "errors", "extend", "testing")
"""Modules with more public names; the last two are loaded on first use."""

if not TYPE_CHECKING:  # type checkers know the names above, and that there are no others

    def __getattr__(name: str) -> Any:
        """Load what waits for its first use; say where other names are."""
        if name in ON_FIRST_USE:
            return getattr(import_module(f".{ON_FIRST_USE[name]}", __name__), name)
        if name in ROOMS:
            return import_module(f".{name}", __name__)
        if name in policies.REPLACED:
            raise AttributeError(
                f"{name} has been replaced by {policies.REPLACED[name].__name__}; use that."
            )
        for room in (policies, attacks, errors, import_module(".extend", __name__)):
            if name in room.__all__:
                short = room.__name__.partition(".")[2]
                raise AttributeError(
                    f"{name} is in {room.__name__}: write ia.{short}.{name}, or "
                    f"`from {room.__name__} import {name}`."
                )
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, also those that are not loaded yet."""
    return [*__all__, *ROOMS]
