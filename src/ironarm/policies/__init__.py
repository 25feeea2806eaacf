"""All policies, one algorithm per file.

A new policy is one file and one line here. `ia.policies`, the command line and saved
files then know it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import InvalidInput
from ..lazy import Classes, Names
from ..naming.by_name import make_by_name
from ..naming.kind import Kind
from ..naming.notation import parse, value_with
from ..policy import Policy

if TYPE_CHECKING:
    # One line a policy, in the order of messages and tables; so they are not sorted.
    # A policy is loaded when its name is first used; see `lazy.py`. `as` tells type
    # checkers that the name is public, as a name written in `__all__` does.
    # isort: off
    from .med_e_ucb import MedEUCB as MedEUCB
    from .med_epsilon_greedy import MedEpsilonGreedy as MedEpsilonGreedy
    from .ucb import UCB as UCB
    from .epsilon_greedy import EpsilonGreedy as EpsilonGreedy
    from .rucb import RUCB as RUCB
    from .exp3 import EXP3 as EXP3
    from .catoni_ucb import CatoniUCB as CatoniUCB
    from .trimmed_ucb import TrimmedUCB as TrimmedUCB
    from .trimmed_epsilon_greedy import TrimmedEpsilonGreedy as TrimmedEpsilonGreedy
    from .crucb import CRUCB as CRUCB
    from .huber_ucb import HuberUCB as HuberUCB
    from .median_of_means_ucb import MedianOfMeansUCB as MedianOfMeansUCB
    from .truncated_mean_ucb import TruncatedMeanUCB as TruncatedMeanUCB
    from .imed import IMED as IMED
    from .crimed import CRIMED as CRIMED
    from .crimed import CRIMEDStar as CRIMEDStar
    from .count_imed import CountIMED as CountIMED
    from .coherent_imed import CoherentIMED as CoherentIMED
    from .thompson_gaussian import ThompsonGaussian as ThompsonGaussian
    from .klucb import KLUCB as KLUCB
    from .bernoulli_imed import BernoulliIMED as BernoulliIMED
    from .thompson_beta import ThompsonBeta as ThompsonBeta
    from .tsallis_inf import TsallisINF as TsallisINF
    from .exp3_plus_plus import EXP3PlusPlus as EXP3PlusPlus
    from .barbar import BARBAR as BARBAR
    from .multi_layer_race import MultiLayerRace as MultiLayerRace
    from .sao import SAO as SAO
    from .trust_thompson import TrustThompson as TrustThompson
    from .restarting_imed import RestartingIMED as RestartingIMED
    from .sliding_med_ucb import SlidingMedUCB as SlidingMedUCB
    from .sliding_window_ucb import SlidingWindowUCB as SlidingWindowUCB
    from .discounted_ucb import DiscountedUCB as DiscountedUCB
    from .glr_kl_ucb import GLRKLUCB as GLRKLUCB
    from .mucb import MUCB as MUCB
    # isort: on

NAMES = Names(__name__, __file__)
POLICIES: Classes[Policy] = Classes(NAMES)
__all__ = list(POLICIES)
POLICY = Kind("policy", Policy, POLICIES)
REPLACED = {"AdaptiveCountIMED": "CoherentIMED"}
"""What has gone, and what does its work now. Files of agents go on with it."""

if not TYPE_CHECKING:
    __getattr__, __dir__ = NAMES.get, NAMES.all


def make(name: str, parameters: dict[str, Any]) -> Policy:
    """Return the policy of that name with these parameters.

    `Name.for_rho` is the policy that suits a rho. An unknown name or parameter is
    refused, with the closest known one.

    >>> make("CountIMED.for_rho", {"rho": 0.125})
    CountIMED(epsilon=0.175, sigma=1.0, shift=True)
    """
    if name in REPLACED:
        raise InvalidInput(f"{name} has been replaced by {REPLACED[name]}; use that.")
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
