"""All attacks, one adversary per file.

A new attack is one file, its import here and its name in `__all__`. `ia.attacks`
and the command line then know it.
"""

from __future__ import annotations

from typing import Any

from ..errors import InvalidInput
from ..naming.by_name import make_by_name
from ..naming.kind import Kind
from ..naming.notation import parse
from .ace import ACE
from .base import Attack
from .bursts import Bursts
from .cauchy import Cauchy
from .constant import Constant
from .custom import CustomAttack
from .fake_change import FakeChange
from .fake_clicks import FakeClicks
from .front_loaded import FrontLoaded
from .hide_change import HideChange
from .infinite import Infinite
from .jammer import Jammer
from .jun import Jun
from .least_favourable import LeastFavourable
from .median_chaser import MedianChaser
from .mimic import Mimic
from .none import NoAttack
from .opposite_uniform import OppositeUniform
from .overtake import Overtake
from .shaped import Shaped
from .suppress import Suppress
from .understate import Understate

__all__ = [  # noqa: RUF022 - the order in messages and tables
    "OppositeUniform",
    "Infinite",
    "Constant",
    "Mimic",
    "FrontLoaded",
    "MedianChaser",
    "Overtake",
    "Understate",
    "Jammer",
    "LeastFavourable",
    "Cauchy",
    "FakeClicks",
    "ACE",
    "Jun",
    "Shaped",
    "Bursts",
    "Suppress",
    "FakeChange",
    "HideChange",
    "NoAttack",
    "CustomAttack",
]
# a CustomAttack holds a function, so no text or file can name it
ATTACKS: dict[str, type[Attack]] = {
    name: globals()[name] for name in __all__ if name != "CustomAttack"
}
ATTACK = Kind("attack", Attack, ATTACKS)


def make(name: str, parameters: dict[str, Any]) -> Attack:
    """Return the attack of that name with these parameters.

    An unknown name or parameter is refused, with the closest known one.
    """
    if name == "CustomAttack":
        raise InvalidInput(
            "CustomAttack holds a Python function, so it cannot be written as text; use "
            "ia.CustomAttack(rho, function) in Python. In text, name a class in a file, like "
            "mine.py:MyAttack."
        )
    return make_by_name(ATTACK, name, parameters)


def attack_from_text(text: str, rho: float | None) -> Attack:
    """Return the attack that the text describes.

    rho is given in the text or beside it; by default it is 0.125.

    >>> attack_from_text("OppositeUniform(scale=100)", 0.2)
    OppositeUniform(rho=0.2, scale=100.0)
    """
    name, parameters = parse(text, ATTACK)
    if rho is not None and name == "NoAttack":
        raise InvalidInput(f"NoAttack takes no rho, got {rho:g}. Leave it out.")
    if rho is not None and "rho" in parameters:
        raise InvalidInput(
            f"rho is given twice: {rho:g}, and in the attack {text!r}. Leave one out."
        )
    given = {} if name == "NoAttack" else {"rho": 0.125 if rho is None else rho}
    return make(name, {**given, **parameters})
