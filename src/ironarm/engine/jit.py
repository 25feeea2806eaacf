"""How Numba compiles: the one file that knows its private options.

Importing this file loads Numba, so others import it inside functions.

Compiled code here reads and writes memory that Python owns; it never creates any. So it
does without reference counting (`_nrt=False`), which makes a loop over small functions
19 times faster. Numba has no public switch for that. Where a release lacks the private
one, the public way is used: correct, slower, and announced by a warning.
"""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import config, njit, types
from numba.core import errors as numba_errors
from numba.core.errors import NumbaError
from numba.extending import intrinsic

__all__ = ["NumbaError", "address_of", "bare_entry", "call_attack", "entry", "helper", "types"]

REFUSALS = (
    NumbaError,
    # later releases have it, and it is no NumbaError
    getattr(numba_errors, "UnsupportedBytecodeError", NumbaError),
    NotImplementedError,
    KeyError,
    RecursionError,
    # from computing with the code's constants, as in float("a")
    TypeError,
    ValueError,
)
"""What Numba raises about code that it cannot compile."""
DISABLED = bool(config.DISABLE_JIT)
PUBLIC_ONLY = os.environ.get("IRONARM_PUBLIC_NUMBA") == "1"
"""Do without private options, whatever this Numba knows: a way out, and for tests."""


class SlowNumba(RuntimeWarning):
    """This release of Numba lacks what makes compiled code fast."""


def known(**options: Any) -> dict[str, Any]:
    """Return those of the private options that this release of Numba has."""
    try:
        from numba.core.registry import cpu_target
    except ImportError:
        return {}
    if PUBLIC_ONLY:
        return {}
    return {name: value for name, value in options.items() if hasattr(cpu_target.options, name)}


_COMMON: dict[str, Any] = {"error_model": "numpy", **known(_nrt=False)}
# Numba puts a hot function's code in the place of each call and compiles it there,
_HOT = {"inline": "always"}
# and hands a caller's options down to functions that do not set them, so cold ones do
_COLD = {
    **_COMMON,
    "fastmath": False,
    "forceinline": False,
    **known(no_cpython_wrapper=True, no_cfunc_wrapper=True),
}
_ENTRY = {**_COMMON, "fastmath": False, **known(no_cfunc_wrapper=True)}
# forceinline lets LLVM see that an attack raises nothing; its wrapper is then short
_POINTER = {**_COMMON, "fastmath": False, "forceinline": True, **known(no_cpython_wrapper=True)}


@cache
def _marks_are_valid() -> bool:
    """Say whether LLVM accepts the mark of a function that stays out of line.

    Old releases of llvmlite put it where LLVM then refuses the whole module.
    """
    from llvmlite import binding

    module = binding.parse_assembly("define void @f() { ret void }")
    module.get_function("f").add_function_attribute("noinline")
    try:
        module.verify()
    except RuntimeError:
        return False
    return True


class OutOfLine:
    """Keep compiled functions out of their callers' loops.

    Numba has no option for that. It shows a function just compiled to the dispatcher's
    cache, and only then to its callers: the moment to tell LLVM.
    """

    def load_overload(self, signature: Any, target_context: Any) -> None:
        """Nothing is kept."""

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Mark the function; where that is impossible, LLVM decides."""
        with suppress(AttributeError, NameError):
            if not _marks_are_valid():
                return
            module = compiled.library._final_module
            function = module.get_function(compiled.fndesc.llvm_func_name)
            function.add_function_attribute("noinline")


def helper(function: Callable[..., Any], mark: str) -> Any:
    """Compile a function for others to call: into its caller if it is hot."""
    dispatcher = njit(**(_HOT if mark == "hot" else _COLD))(function)
    if mark == "cold" and not PUBLIC_ONLY:
        dispatcher._cache = OutOfLine()
    return dispatcher


@cache
def warn_if_slow() -> None:
    """Say once that the fast way is missing."""
    if "_nrt" not in _COMMON and not PUBLIC_ONLY:
        warnings.warn(
            f"numba {numba.__version__} has no option _nrt, so compiled code is about 15 times "
            "slower than it could be. Install a release that ironarm names: pip install "
            "--upgrade ironarm numba.",
            SlowNumba,
            stacklevel=2,
        )


@contextmanager
def _no_collection() -> Iterator[None]:
    """Switch garbage collection off: a compiler makes many objects and few cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def entry(function: Callable[..., Any], kept: Any) -> Any:
    """Return a function that Python calls; it is compiled when first called.

    Other threads run meanwhile.
    """
    return _dispatcher(function, kept, {**_ENTRY, "nogil": True})


def bare_entry(function: Callable[..., Any], kept: Any, signature: str) -> Any:
    """Compile a function that Python calls with arguments of exactly these types.

    In the signature i stands for a whole number, f for a float, and * at the end lets
    other threads run meanwhile, which takes a tenth of a microsecond. The result skips
    Numba's look-up of types, which takes 2.
    """
    dispatcher = _dispatcher(function, kept, {**_ENTRY, "nogil": signature.endswith("*")})
    letters = {"i": types.int64, "f": types.float64}
    kinds = tuple(letters[letter] for letter in signature.rstrip("*"))
    with _no_collection():
        dispatcher.compile(kinds)
    try:
        call = dispatcher.overloads[kinds].entry_point
    except (AttributeError, KeyError):
        return dispatcher
    return call if callable(call) else dispatcher


def _dispatcher(function: Any, kept: Any, options: dict[str, Any]) -> Any:
    warn_if_slow()
    dispatcher = njit(**options)(function)
    if kept is not None:
        dispatcher._cache = kept
    return dispatcher


ATTACK = (types.int64, types.float64, types.int64, types.float64, types.float64, types.int64)
"""What the loop gives an attack: arm, clean reward, round, u, v, scene's address."""


def address_of(function: Callable[..., Any], kept: Any) -> tuple[int, Any]:
    """Compile an attack; return its address, and what must stay alive meanwhile.

    By address, so that attacks and policies are not compiled for each pair.
    """
    dispatcher = _dispatcher(function, kept, _POINTER)
    with _no_collection():
        dispatcher.compile(ATTACK)
    try:
        compiled = dispatcher.overloads[ATTACK]
        name = compiled.fndesc.llvm_cfunc_wrapper_name
        return int(compiled.library.get_pointer_to_function(name)), dispatcher
    except (AttributeError, KeyError):
        pointer: Any = numba.cfunc(types.float64(*ATTACK), error_model="numpy")(function)
        return int(pointer.address), pointer


@intrinsic  # type: ignore[untyped-decorator]
def call_attack(typingctx, address, scene, a, x, t, u, v):  # type: ignore[no-untyped-def]
    """Call the attack at that address."""
    from llvmlite import ir

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        whole, real = ir.IntType(64), ir.DoubleType()
        function = ir.FunctionType(real, [whole, real, whole, real, real, whole])
        return builder.call(builder.inttoptr(args[0], function.as_pointer()), [*args[2:], args[1]])

    return types.float64(types.int64, types.int64, *ATTACK[:5]), codegen


call_attack.compiled_key = "call_attack"


def fingerprint() -> str:
    """Return what, beside the functions themselves, decides what is compiled."""
    return (
        f"numba {numba.__version__} numpy {np.__version__} "
        f"boundscheck {config.BOUNDSCHECK} opt {config.OPT} options {sorted(_COLD)}"
    )
