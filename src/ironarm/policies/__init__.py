"""All policies, one algorithm per file.

A new policy is one file, its import here and its name in `__all__`. The public surface,
the command line and saved files then know it.
"""

from __future__ import annotations

from typing import Any

from ..by_name import make_by_name
from ..errors import InvalidInput
from ..policy import Policy
from .barbar import BARBAR
from .bernoulli_imed import BernoulliIMED
from .catoni_ucb import CatoniUCB
from .coherent_imed import CoherentIMED
from .count_imed import CountIMED
from .crimed import CRIMED, CRIMEDStar
from .crucb import CRUCB
from .discounted_ucb import DiscountedUCB
from .epsilon_greedy import EpsilonGreedy
from .exp3 import EXP3
from .exp3_plus_plus import EXP3PlusPlus
from .glr_kl_ucb import GLRKLUCB
from .huber_ucb import HuberUCB
from .imed import IMED
from .klucb import KLUCB
from .med_e_ucb import MedEUCB
from .med_epsilon_greedy import MedEpsilonGreedy
from .median_of_means_ucb import MedianOfMeansUCB
from .mucb import MUCB
from .restarting_imed import RestartingIMED
from .rucb import RUCB
from .sliding_med_ucb import SlidingMedUCB
from .sliding_window_ucb import SlidingWindowUCB
from .thompson_beta import ThompsonBeta
from .thompson_gaussian import ThompsonGaussian
from .trimmed_epsilon_greedy import TrimmedEpsilonGreedy
from .trimmed_ucb import TrimmedUCB
from .truncated_mean_ucb import TruncatedMeanUCB
from .trust_thompson import TrustThompson
from .tsallis_inf import TsallisINF
from .ucb import UCB

__all__ = [  # noqa: RUF022 - the order in messages and tables
    "MedEUCB",
    "MedEpsilonGreedy",
    "UCB",
    "EpsilonGreedy",
    "RUCB",
    "EXP3",
    "CatoniUCB",
    "TrimmedUCB",
    "TrimmedEpsilonGreedy",
    "CRUCB",
    "HuberUCB",
    "MedianOfMeansUCB",
    "TruncatedMeanUCB",
    "IMED",
    "CRIMED",
    "CRIMEDStar",
    "CountIMED",
    "CoherentIMED",
    "ThompsonGaussian",
    "KLUCB",
    "BernoulliIMED",
    "ThompsonBeta",
    "TsallisINF",
    "EXP3PlusPlus",
    "BARBAR",
    "TrustThompson",
    "RestartingIMED",
    "SlidingMedUCB",
    "SlidingWindowUCB",
    "DiscountedUCB",
    "GLRKLUCB",
    "MUCB",
]
POLICIES: dict[str, type[Policy]] = {name: globals()[name] for name in __all__}
REPLACED: dict[str, type[Policy]] = {"AdaptiveCountIMED": CoherentIMED}
"""What has gone, and what does its work now. Files of agents go on with it."""


def make(name: str, parameters: dict[str, Any]) -> Policy:
    """Return the policy of that name with these parameters.

    `Name.for_rho` is the policy that suits a rho. An unknown name or parameter is
    refused, with the closest known one.

    >>> make("CountIMED.for_rho", {"rho": 0.125})
    CountIMED(epsilon=0.175, sigma=1.0, shift=True)
    """
    if name in REPLACED:
        raise InvalidInput(f"{name} has been replaced by {REPLACED[name].__name__}; use that.")
    return make_by_name("policy", POLICIES, name, parameters)


def from_dict(data: dict[str, Any]) -> Policy:
    """Read back what `Policy.to_dict` wrote."""
    parameters = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in data["parameters"].items()
    }
    return make(data["policy"], parameters)
