"""All policies, one algorithm per file.

A new policy is one file, its import here and its name in `__all__`. `ia.policies`,
the command line and saved files then know it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ..errors import InvalidInput
from ..naming.by_name import make_by_name
from ..naming.kind import Kind
from ..naming.notation import parse, value_with
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
POLICY = Kind("policy", Policy, POLICIES)
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
    return make_by_name(POLICY, name, parameters)


def from_dict(data: dict[str, Any]) -> Policy:
    """Read back what `Policy.to_dict` wrote."""
    parameters = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in data["parameters"].items()
    }
    return make(data["policy"], parameters)


def policy_from_text(text: str, **names: float) -> Policy:
    """Return the policy that the text describes.

    In its parameters, names like rho stand for the numbers given here.

    >>> policy_from_text("MedEUCB(b=8)")
    MedEUCB(b=8.0, omega=4.0, block=None)
    >>> policy_from_text("TrimmedUCB(alpha=rho + 0.1)", rho=0.3)
    TrimmedUCB(alpha=0.4, omega=4.0)
    >>> policy_from_text(
    ...     "MedEUCB.for_rho(rho=rho, omega=4*sigma*sigma)", rho=0, sigma=2
    ... )
    MedEUCB(b=0.5, omega=16.0, block=None)
    >>> policy_from_text("CountIMED.for_rho(0.125)")
    CountIMED(epsilon=0.175, sigma=1.0, shift=True)
    """
    return make(*parse(text, POLICY, partial(value_with, names=names)))
