"""ironarm chooses the best of several options from feedback that an attacker can
corrupt, however badly.

    import ironarm as ia

    bandit = ia.GaussianBandit(means=range(2, 21, 2))
    attack = ia.OppositeUniform(rho=0.3, scale=1800)
    result = ia.simulate([ia.MedEUCB(), ia.UCB()], bandit, attack, horizon=100_000, trials=20, seed=7)
    print(result.summary())

Everything public is here; everything else may change.
"""

from typing import TYPE_CHECKING, Any

from . import signals

try:
    from . import simulation as _  # loads NumPy, Numba and most of ironarm: half a second
except KeyboardInterrupt:
    signals.exit_if_command()
    raise
from .agent import Agent, Decision, RewardWarning
from .attacks import (
    ACE,
    Attack,
    Bursts,
    Cauchy,
    Constant,
    CustomAttack,
    FrontLoaded,
    Infinite,
    Jammer,
    Jun,
    LeastFavourable,
    MedianChaser,
    Mimic,
    NoAttack,
    OppositeUniform,
    Shaped,
)
from .bandits import (
    Bandit,
    BernoulliBandit,
    GaussianBandit,
    ReplayBandit,
    ScipyBandit,
)
from .errors import (
    BadFile,
    InvalidInput,
    IronarmError,
    MissingExtra,
    PolicyFault,
    UnknownArm,
    UnknownDecision,
)
from .marks import cold, hot
from .policies import (
    BARBAR,
    CRIMED,
    CRUCB,
    EXP3,
    IMED,
    RUCB,
    UCB,
    AdaptiveCountIMED,
    CatoniUCB,
    CountIMED,
    CRIMEDStar,
    EpsilonGreedy,
    EXP3PlusPlus,
    HuberUCB,
    MedEpsilonGreedy,
    MedEUCB,
    MedianOfMeansUCB,
    Policy,
    ThompsonGaussian,
    TrimmedEpsilonGreedy,
    TrimmedUCB,
    TruncatedMeanUCB,
    TsallisINF,
)
from .simulation import Result, simulate
from .theory import Certificate, certify

if TYPE_CHECKING:
    from .radio.bandit import RadioBandit

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Load the radio testbed when it is first asked for; nothing else needs it."""
    if name == "RadioBandit":
        from .radio.bandit import RadioBandit

        return RadioBandit
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
