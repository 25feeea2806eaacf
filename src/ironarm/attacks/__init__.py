"""All attacks, one adversary per file.

A new attack is one file, its test, and one line in `ATTACKS`.
"""

from __future__ import annotations

from typing import Any

from ..by_name import make_by_name
from .ace import ACE
from .base import Attack
from .bursts import Bursts
from .cauchy import Cauchy
from .constant import Constant
from .custom import CustomAttack
from .front_loaded import FrontLoaded
from .infinite import Infinite
from .jammer import Jammer
from .jun import Jun
from .least_favourable import LeastFavourable
from .median_chaser import MedianChaser
from .mimic import Mimic
from .none import NoAttack
from .opposite_uniform import OppositeUniform
from .shaped import Shaped

ATTACKS: dict[str, type[Attack]] = {
    attack.__name__: attack
    for attack in (
        OppositeUniform,
        Infinite,
        Constant,
        Mimic,
        FrontLoaded,
        MedianChaser,
        Jammer,
        LeastFavourable,
        Cauchy,
        ACE,
        Jun,
        Shaped,
        Bursts,
        NoAttack,
    )
}


def make(name: str, parameters: dict[str, Any]) -> Attack:
    """Return the attack of that name with these parameters, or say what may have
    been meant.
    """
    return make_by_name("attack", ATTACKS, name, parameters)


__all__ = ["ATTACKS", "Attack", "CustomAttack", "make", *ATTACKS]
