"""Choose the best of several options from feedback that an attacker can corrupt.

    import ironarm as ia

    bandit = ia.GaussianBandit(means=range(2, 21, 2))
    attack = ia.OppositeUniform(rho=0.3, scale=1800)
    result = ia.simulate(
        [ia.MedEUCB(), ia.UCB()], bandit, attack, horizon=100_000, trials=20, seed=7
    )
    print(result.summary())

`__all__` is the public surface. If you write policies, attacks or bandits, you also
need `ironarm.extend` and `ironarm.testing`. Everything else may change.
"""

from typing import TYPE_CHECKING, Any

from . import signals

try:
    from . import simulation as _  # loads NumPy and most of ironarm: half a second
except KeyboardInterrupt:
    signals.exit_if_command()
    raise
from .agent import Agent, Decision, DurableAgent, RewardWarning
from .attacks import *  # noqa: F403
from .attacks.base import Attack
from .bandits import *  # noqa: F403
from .bandits.base import Bandit
from .errors import (
    BadFile,
    ClosedDecision,
    InvalidInput,
    IronarmError,
    MissingExtra,
    NotAllowed,
    OtherAgent,
    OtherReward,
    PolicyFault,
    PrunedEntries,
    StoreError,
    UnknownAgent,
    UnknownArm,
    UnknownDecision,
)
from .marks import cold, hot
from .policies import *  # noqa: F403
from .policy import Policy
from .simulation import Delay, Result, Sources, simulate
from .theory import Certificate, certify
from .version import __version__

# isort: split
from . import attacks, bandits, policies  # for `__all__`

if TYPE_CHECKING:
    from .draw_file import plot
    from .radio.bandit import RadioBandit
    from .service.client import AsyncClient, Client

__all__ = [
    "Agent",
    "AsyncClient",
    "Attack",
    "BadFile",
    "Bandit",
    "Certificate",
    "Client",
    "ClosedDecision",
    "Decision",
    "Delay",
    "DurableAgent",
    "InvalidInput",
    "IronarmError",
    "MissingExtra",
    "NotAllowed",
    "OtherAgent",
    "OtherReward",
    "Policy",
    "PolicyFault",
    "PrunedEntries",
    "RadioBandit",
    "Result",
    "RewardWarning",
    "Sources",
    "StoreError",
    "UnknownAgent",
    "UnknownArm",
    "UnknownDecision",
    "__version__",
    "certify",
    "cold",
    "hot",
    "plot",
    "simulate",
]
__all__ += attacks.__all__
__all__ += bandits.__all__
__all__ += policies.__all__


def __getattr__(name: str) -> Any:
    """Load on first use what needs an extra: the radio, the client, the figures."""
    if name in ("AsyncClient", "Client"):
        from .service import client

        return getattr(client, name)
    if name == "RadioBandit":
        from .radio.bandit import RadioBandit

        return RadioBandit
    if name == "plot":
        from .draw_file import plot

        return plot
    if name in policies.REPLACED:
        raise AttributeError(
            f"{name} has been replaced by {policies.REPLACED[name].__name__}; use that."
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, also those that are not loaded yet."""
    return __all__
