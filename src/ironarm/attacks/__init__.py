"""All attacks, one adversary per file.

A new attack is one file and one line here. `ia.attacks` and the command line then
know it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import InvalidInput
from ..lazy import Classes, Names
from ..naming.by_name import make_by_name
from ..naming.kind import Kind
from ..naming.notation import parse
from .base import Attack

if TYPE_CHECKING:
    # One line an attack, in the order of messages and tables; so they are not sorted.
    # An attack is loaded when its name is first used; see `lazy.py`. `as` tells type
    # checkers that the name is public, as a name written in `__all__` does.
    # isort: off
    from .opposite_uniform import OppositeUniform as OppositeUniform
    from .sometimes_large import SometimesLarge as SometimesLarge
    from .infinite import Infinite as Infinite
    from .constant import Constant as Constant
    from .mimic import Mimic as Mimic
    from .front_loaded import FrontLoaded as FrontLoaded
    from .median_chaser import MedianChaser as MedianChaser
    from .overtake import Overtake as Overtake
    from .understate import Understate as Understate
    from .jammer import Jammer as Jammer
    from .least_favourable import LeastFavourable as LeastFavourable
    from .cauchy import Cauchy as Cauchy
    from .fake_clicks import FakeClicks as FakeClicks
    from .ace import ACE as ACE
    from .jun import Jun as Jun
    from .shaped import Shaped as Shaped
    from .bursts import Bursts as Bursts
    from .suppress import Suppress as Suppress
    from .fake_change import FakeChange as FakeChange
    from .hide_change import HideChange as HideChange
    from .none import NoAttack as NoAttack
    from .custom import CustomAttack as CustomAttack
    # isort: on

NAMES = Names(__name__, __file__)
# CustomAttack holds a function, so no text or file can name it
ATTACKS: Classes[Attack] = Classes(NAMES, without=("CustomAttack",))
__all__ = list(NAMES)
ATTACK = Kind("attack", Attack, ATTACKS)

if not TYPE_CHECKING:
    __getattr__, __dir__ = NAMES.get, NAMES.all


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
