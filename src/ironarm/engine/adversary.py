"""An attack as the loop calls it: compiled, or Python that is asked round by round."""

from __future__ import annotations

import builtins
import inspect
import types
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

import numpy as np

from ..attacks.base import Attack
from ..bandits.base import Bandit
from ..errors import InvalidInput, PolicyFault
from ..marks import hot, mark_of
from ..validation import number
from .entry_point import EntryPoint
from .faults import refusals_explained
from .linking import Linker, is_own, record_at
from .loop import PYTHON
from .objects import ATTACK
from .record import Field, Layout, Record, is_field_name
from .switches import DISABLED

SCENE = (
    Field("t", "int", changes=True),
    Field("best", "int"),
    Field("runner_up", "int"),
    Field("means", "float", "elsewhere"),
    Field("pulls", "int", "elsewhere"),
    Field("estimate", "float", "elsewhere"),
    Field("memory", "float", "elsewhere"),
)

# filled in below: the attack's own function, and the scene's layout
function: Any = None
scene_at: Any = None


@hot
def corrupt(a, x, t, u, v, scene):
    """Return what the policy sees in place of x."""
    return float(function(scene_at(scene, t), a, x, u, v))


@hot
def observe(a, x, t, shown, unused, scene):
    """Tell the attack of a round.

    It is compiled and called as `corrupt` is, hence the argument and the result that
    nobody uses.
    """
    function(scene_at(scene, t), a, x, shown)
    return 0.0


# what an attack can have: how it is called, and its arguments. `hold` takes and returns
# what `corrupt` does
CALLS = {"corrupt": corrupt, "observe": observe, "hold": corrupt}
ARGUMENTS = {
    "corrupt": ("e", "a", "x", "u", "v"),
    "observe": ("e", "a", "x", "shown"),
    "hold": ("e", "a", "x", "u", "v"),
}


class Adversary:
    """An attack at work on a bandit, shared by all trials.

    What changes in a trial is in the scene, which `scene` makes. Where means drift,
    there is one adversary for each segment, and `set_scene` leads to the next.
    """

    def __init__(self, attack: Attack, bandit: Bandit) -> None:
        self._constants = attack.constants()
        bad = [name for name in self._constants if not is_field_name(name)]
        if bad:
            raise PolicyFault(f"the attack's number {bad[0]!r} needs a name that Python allows.")
        taken = self._constants.keys() & {"arms", *(field.name for field in SCENE)}
        if taken:
            raise PolicyFault(
                f"the attack's number {sorted(taken)[0]!r} has a name that the scene already "
                "uses; rename it."
            )
        for name, step in _steps(attack).items():
            _check_arguments(name, step)
        self.rho = number("rho", attack.rho, at_least=0, below=1)
        self.burst = attack.burst
        self._bandit = bandit
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
        self._best, self._runner_up = bandit.best, bandit.runner_up
        self.attack = attack
        self.entry = "run" if attack.observe is None else "run_observed"
        if attack.hold is not None:
            self.entry = "run_late"
        # where one of the two is plain Python, both are called from there
        self.in_python = any(mark_of(step) is None for step in _steps(attack).values())
        if self.in_python and attack.hold is not None:
            raise PolicyFault(
                f"an attack that holds rewards up must be compiled: mark each function of "
                f"{type(attack).__name__} with @hot."
            )
        self._layout = _layout(tuple(self._constants))

    @cached_property
    def start(self) -> np.ndarray:
        """What the attack's memory holds at the start of each trial."""
        # one row of numbers, whatever shape a table has
        return np.array(self.attack.start(self._bandit), dtype=float).ravel()

    def set_scene(self, scene: Record) -> None:
        """Show the attacker the means of this adversary's bandit."""
        scene.put("best", self._best)
        scene.put("runner_up", self._runner_up)
        scene.point("means", self.means)

    @cached_property
    def targets(self) -> tuple[Any, ...]:
        """What the loop calls, compiled on first use: `corrupt`, `observe` and `hold`.

        0 for what the attack does not have. Where Python answers, the numbers only say
        what it has.
        """
        attack = self.attack
        has = dict.fromkeys(_steps(attack), PYTHON) if self.in_python else compiled_attack(attack)
        return tuple(has.get(name, 0) for name in CALLS)

    def is_there(self) -> bool:
        """Say whether nothing of it need be compiled any more."""
        return self.in_python or all(entry.is_there() for entry in entry_points(self.attack))

    def prepare(self) -> None:
        """Compile what the loop calls, before threads do."""
        _ = self.targets

    def scene(self, pulls: np.ndarray, estimate: np.ndarray, memory: np.ndarray) -> Record:
        """Return what the attacker knows in a trial."""
        return Record(
            self._layout,
            len(self.means),
            best=self._best,
            runner_up=self._runner_up,
            means=self.means,
            pulls=pulls,
            estimate=estimate,
            memory=memory,
            **self._constants,
        )

    def handle(self, scene: Record) -> Any:
        """Return what the attack gets for a scene: its address, if compiled."""
        return scene if DISABLED else scene.address

    def answer(self, scene: Record, t: int, a: int, x: float, u: float, v: float) -> float:
        """Ask a Python attack what the policy shall see."""
        value = self.attack.corrupt(_dated(scene, t), a, x, u, v)
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):
            raise InvalidInput(f"the attack must return a number, got {value!r}.") from None

    def tell(self, scene: Record, t: int, a: int, x: float, shown: float) -> None:
        """Tell a Python attack of a round."""
        assert self.attack.observe is not None
        self.attack.observe(_dated(scene, t), a, x, shown)


def compiled_attack(attack: Attack) -> dict[str, Any]:
    """Return what the loop calls by name: `corrupt`, and what else the attack has."""
    constants = tuple(attack.constants())
    return {name: _compiled(name, step, constants)[0] for name, step in _steps(attack).items()}


def entry_points(attack: Attack) -> list[EntryPoint]:
    """Return what a compiled attack's functions are compiled from."""
    constants = tuple(attack.constants())
    return [_entry_point(name, step, constants) for name, step in _steps(attack).items()]


def _steps(attack: Attack) -> dict[str, Callable[..., Any]]:
    """Return the attack's own functions by name."""
    steps = {name: getattr(attack, name) for name in CALLS}
    return {name: step for name, step in steps.items() if step is not None}


def _check_arguments(name: str, function: Callable[..., Any]) -> None:
    """Refuse a function that cannot be called with an attack's arguments."""
    try:
        inspect.signature(function).bind(*ARGUMENTS[name])
    except TypeError:
        raise PolicyFault(
            f"an attack's {name} must take ({', '.join(ARGUMENTS[name])}), got "
            f"{inspect.signature(function)}."
        ) from None
    except ValueError:
        pass  # a built-in that does not tell its arguments


@cache
def _layout(constants: tuple[str, ...]) -> Layout:
    return Layout("Scene", [*SCENE, *(Field(name, "float") for name in constants)])


def _dated(scene: Record, t: int) -> Any:
    return scene.view._replace(t=t)


@cache
def _compiled(name: str, function: Callable[..., Any], constants: tuple[str, ...]) -> Any:
    """Return what the loop calls, and what must stay alive meanwhile."""
    if DISABLED:
        names = {"__builtins__": builtins, "function": function, "scene_at": _dated}
        return types.FunctionType(CALLS[name].__code__, names), None
    with refusals_explained(f"the attack {function.__qualname__}"):
        return _entry_point(name, function, constants).address()


def _entry_point(name: str, function: Callable[..., Any], constants: tuple[str, ...]) -> EntryPoint:
    steps = {"function": function, "scene_at": record_at(_layout(constants), dated=True)}
    linker = Linker((__name__,), steps)
    label, what = f"attack_{function.__name__}", f"the attack {function.__qualname__}"
    return EntryPoint(linker, CALLS[name], label, ATTACK, what, is_own(function))
