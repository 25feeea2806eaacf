"""An attack as the loop calls it: a compiled function by address, or a Python
function asked round by round.
"""

from __future__ import annotations

import inspect
from collections import namedtuple
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

import numpy as np

from ..attacks.base import Attack
from ..attacks.none import NoAttack
from ..bandits.base import Bandit
from ..errors import InvalidInput, PolicyFault
from ..marks import mark_of
from . import units
from .machine import reason

SCENE = ("t", "arms", "best", "runner_up", "means", "pulls", "estimate", "memory")


class Adversary:
    """An attack at work on a bandit, shared by all trials; what changes in a trial
    is passed in.
    """

    def __init__(self, attack: Attack, bandit: Bandit) -> None:
        constants = attack.constants()
        taken = constants.keys() & set(SCENE)
        if taken:
            raise PolicyFault(
                f"the attack's number {sorted(taken)[0]!r} has a name that the scene already "
                "uses; rename it."
            )
        _check_arguments(attack.corrupt)
        self.rho = attack.rho
        self.burst = attack.burst
        # one row of numbers, whatever shape a table has
        self.start = np.array(attack.start(bandit), dtype=float).ravel()
        self.settings = np.array([bandit.best, bandit.runner_up, *constants.values()], dtype=float)
        self.shows = np.array(attack.shows(bandit), dtype=np.int64)
        if (
            self.shows.shape != (bandit.arms,)
            or self.shows.min() < 0
            or self.shows.max() >= bandit.law_count
        ):
            raise PolicyFault(
                f"{type(attack).__name__}.shows must return, for each of the {bandit.arms} arms, "
                f"the number of a law below {bandit.law_count}, got {self.shows.tolist()[:10]}."
            )
        self.means = np.ascontiguousarray(bandit.means, dtype=float).copy()
        self.attack = attack
        self.in_python = mark_of(attack.corrupt) is None
        self._function = attack.corrupt
        self._scene = _scene_type(tuple(constants))
        self._constants = tuple(constants.values())

    @cached_property
    def pointer(self) -> Any:
        """What the loop calls, compiled on first use."""
        return compiled_attack(NoAttack() if self.in_python else self.attack)

    def handles(
        self, pulls: np.ndarray, estimate: np.ndarray, memory: np.ndarray
    ) -> tuple[Any, Any, Any]:
        """Return what the loop calls, what it hands over (addresses, for compiled
        code), and what must be kept alive meanwhile.
        """
        arrays = self.means, pulls, estimate, self.settings, memory
        if not hasattr(self.pointer, "address"):
            return self.pointer, arrays, None
        table = np.array(
            [*(array.ctypes.data for array in arrays), len(self.means), len(memory)], np.int64
        )
        return self.pointer.address, table.ctypes.data, (table, arrays)

    def answer(
        self,
        t: int,
        a: int,
        x: float,
        u: float,
        v: float,
        pulls: np.ndarray,
        estimate: np.ndarray,
        memory: np.ndarray,
    ) -> float:
        """Ask a Python attack what the policy shall see."""
        best, runner_up = (int(i) for i in self.settings[:2])
        scene = self._scene(
            t,
            len(self.means),
            best,
            runner_up,
            self.means,
            pulls,
            estimate,
            memory,
            *self._constants,
        )
        value = self._function(scene, a, x, u, v)
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):
            raise InvalidInput(f"the attack must return a number, got {value!r}.") from None


def compiled_attack(attack: Attack) -> Any:
    """Return the attack behind the fixed signature that `jit.ATTACK` describes,
    compiled if need be.
    """
    return _pointer(attack.corrupt, tuple(attack.constants()))


def _check_arguments(function: Callable[..., Any]) -> None:
    """Refuse a function that cannot be called as corrupt(e, a, x, u, v)."""
    try:
        inspect.signature(function).bind(*"eaxuv")
    except TypeError:
        raise PolicyFault(
            f"an attack's function must take (e, a, x, u, v), got {inspect.signature(function)}."
        ) from None
    except ValueError:
        pass  # a built-in that does not tell its arguments


def _scene_type(constants: tuple[str, ...]) -> Any:
    return namedtuple("Scene", [*SCENE, *constants])  # type: ignore[misc]


def _unpacked(settings: int) -> list[str]:
    """Return the lines that make arrays of a table of addresses."""
    return [
        "    table = carray(ints_at(scene), 7)",
        "    means = carray(floats_at(table[0]), table[5])",
        "    pulls = carray(ints_at(table[1]), table[5])",
        "    estimate = carray(floats_at(table[2]), table[5])",
        f"    settings = carray(floats_at(table[3]), {settings})",
        "    memory = carray(floats_at(table[4]), table[6])",
    ]


@cache
def _pointer(function: Callable[..., Any], constants: tuple[str, ...]) -> Any:
    """Return the function behind the fixed signature that `jit.ATTACK` describes."""
    from . import jit

    fields = [*SCENE, *constants]
    numbers = "".join(f", settings[{i + 2}]" for i in range(len(constants)))
    text = "\n".join(
        [
            "class Scene(NamedTuple):",
            *(f"    {name}: object" for name in fields),
            "",
            "def observed(a, x, t, u, v, scene):",
            *(
                ["    means, pulls, estimate, settings, memory = scene"]
                if jit.DISABLED
                else _unpacked(len(constants) + 2)
            ),
            "    e = Scene(t, len(means), int(settings[0]), int(settings[1]), means, pulls, "
            f"estimate, memory{numbers})",
            "    return float(corrupt(e, a, x, u, v))",
            "",
            "observed = attack_pointer(observed)",
            "",
        ]
    )
    if jit.DISABLED:
        namespace: dict[str, Any] = {
            "NamedTuple": __import__("typing").NamedTuple,
            "corrupt": function,
            "attack_pointer": jit.attack_pointer,
        }
        exec(text, namespace)
        return namespace["observed"]
    unit = units.write_unit(
        f"attack_{function.__module__.rpartition('.')[2]}_{function.__name__}",
        {"corrupt": function},
        text,
    )
    try:
        return units.load_unit(unit).observed
    except (jit.NumbaError, ValueError, TypeError) as error:
        raise PolicyFault(
            f"the attack {function.__qualname__} cannot be compiled: {reason(error)}"
        ) from error
