"""The one file that knows Numba's options, the private ones included.

Compiled code here reads and writes arrays that Python owns; it never creates one. So it
does without reference counting (`_nrt=False`), which is what makes a loop over small
functions four times slower than C. Numba has no public switch for that, none to keep a
rare function out of its callers' loops, and none to call a compiled function without
looking up its types. Each of the three is probed once; where a Numba release lacks one,
the public way is used, correct and slower.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np
from numba import config, njit, types
from numba.core.errors import NumbaError
from numba.extending import intrinsic

__all__ = [
    "ATTACK",
    "NumbaError",
    "attack_pointer",
    "bare_call",
    "call_attack",
    "carray",
    "cold",
    "entry",
    "floats_at",
    "hot",
    "ints_at",
    "part",
    "stay_out_of_line",
    "types",
]

DISABLED = bool(config.DISABLE_JIT)

PUBLIC_ONLY = os.environ.get("IRONARM_PUBLIC_NUMBA") == "1"
"""Do without the private options, whatever this Numba knows: a way out if one of
them misbehaves, and how the tests see that the public way is correct.
"""


def known(**options: Any) -> dict[str, Any]:
    """Return those of the private options that this release of Numba has; it refuses
    others, but only when it compiles.
    """
    try:
        from numba.core.registry import cpu_target
    except ImportError:
        return {}
    return (
        {}
        if PUBLIC_ONLY
        else {name: value for name, value in options.items() if hasattr(cpu_target.options, name)}
    )


def _compilers() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options that choose the compilers of `compiler.py` for helpers and
    for entry points; none where this Numba is built differently.
    """
    if DISABLED or len(known(_nrt=False, no_cpython_wrapper=True)) < 2:
        return {}, {}
    try:
        from .compiler import EntryCompiler, HelperCompiler
    except (ImportError, AttributeError):
        return {}, {}
    return {"pipeline_class": HelperCompiler}, {"pipeline_class": EntryCompiler}


_COMMON: dict[str, Any] = {"error_model": "numpy", **known(_nrt=False)}
_FOR_HELPERS, _FOR_ENTRIES = _compilers()
_HELPER: dict[str, Any] = {
    **_COMMON,
    **_FOR_HELPERS,
    **known(no_cpython_wrapper=True, no_cfunc_wrapper=True),
}


@intrinsic  # type: ignore[misc]
def _stay_out_of_line(typingctx):  # type: ignore[no-untyped-def]
    """Mark the function being compiled as cold, so that LLVM does not copy it into
    hot loops (and compile it again and again).
    """

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        try:
            builder.function.attributes.add("noinline")
            builder.function.attributes.add("cold")
        except Exception:  # an optimisation only
            pass
        return context.get_dummy_value()

    return types.none(), codegen


def _slice(array: Any, start: Any, length: Any) -> Any:
    return array[start : start + length]


def _make_part() -> Any:
    """Return `part(array, start, length)`, a view of a one-dimensional array: as a
    slice, but without the code for negative and overlong bounds, which takes Numba
    30 ms each.
    """
    if DISABLED:
        return _slice
    if "_nrt" not in _COMMON:
        # references are counted, which the view below does not do
        return njit(inline="always")(_slice)
    try:
        from numba.np.arrayobj import make_array, populate_array
    except ImportError:
        return njit(inline="always")(_slice)

    @intrinsic  # type: ignore[misc]
    def part(typingctx, array, start, length):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            whole = make_array(array)(context, builder, args[0])
            view = make_array(array)(context, builder)
            populate_array(
                view,
                data=builder.gep(whole.data, [args[1]]),
                shape=[args[2]],
                strides=[whole.itemsize],
                itemsize=whole.itemsize,
                meminfo=whole.meminfo,
                parent=whole.parent,
            )
            return view._getvalue()

        return array(array, types.intp, types.intp), codegen

    return part


part = _make_part()


def _plain() -> None:
    """The stand-in for `_stay_out_of_line` where nothing is compiled."""


stay_out_of_line = _plain if DISABLED else _stay_out_of_line


def hot(function: Callable[..., Any]) -> Any:
    """Compile into the caller.

    A function on the state is merged before typing: passing a state of thirty arrays
    through each layer would triple the compile time. So is `bind`, which makes it,
    where the state is then taken apart (`compiler.py`).
    """
    takes_state = function.__code__.co_varnames[:1] == ("s",) or (
        function.__name__ == "bind" and bool(_FOR_ENTRIES)
    )
    return (
        njit(inline="always", **_HELPER)(function)
        if takes_state
        else njit(forceinline=True, **_HELPER)(function)
    )


def cold(function: Callable[..., Any]) -> Any:
    """Compile once, out of line.

    The options are spelled out because Numba hands a caller's options down to whatever
    does not set them.
    """
    return njit(forceinline=False, fastmath=False, **_HELPER)(function)


def _machine_code_cache() -> Any:
    """Return Numba's cache without what it does before it looks: import everything
    that could be compiled, scipy's linear algebra included, which takes longer than
    loading all policies. Finished machine code refers to Numba's runtime, C's math
    functions and Python only; the runtime is set up here, the others by importing
    Numba.
    """
    if "_nrt" not in _COMMON:
        return None
    try:
        from numba.core.caching import FunctionCache
        from numba.core.runtime.nrt import rtsys
    except ImportError:
        return None
    if not hasattr(FunctionCache, "_load_overload") or not hasattr(rtsys, "initialize"):
        return None

    class MachineCodeCache(FunctionCache):  # type: ignore[misc]
        def load_overload(self, signature: Any, target_context: Any) -> Any:
            rtsys.initialize(target_context)
            with self._guard_against_spurious_io_errors():
                return self._load_overload(signature, target_context)

    return MachineCodeCache


_MachineCodeCache = None if DISABLED else _machine_code_cache()


def entry(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls, keep it on disk, and let other threads
    run meanwhile.
    """
    dispatcher = njit(
        cache=_MachineCodeCache is None,
        nogil=True,
        fastmath=False,
        **_COMMON,
        **_FOR_ENTRIES,
        **known(no_cfunc_wrapper=True),
    )(function)
    if _MachineCodeCache is not None:
        dispatcher._cache = _MachineCodeCache(function)
    return dispatcher


@contextmanager
def _no_collection() -> Iterator[None]:
    """Leave Python's garbage where it is: a compiler makes hundreds of thousands of
    objects and few cycles, and searching for them takes a twentieth of its time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def bare_call(dispatcher: Any, signature: Any) -> Callable[..., Any]:
    """Return a callable without type look-up (about 0.1 us instead of 2): arguments
    must have exactly the types of the signature.
    """
    if DISABLED:
        return dispatcher
    with _no_collection():
        dispatcher.compile(signature)
    try:
        call = dispatcher.overloads[signature].entry_point
    except (AttributeError, KeyError):
        return dispatcher
    return call if callable(call) else dispatcher


FLOATS = types.Array(types.float64, 1, "C")
INTS = types.Array(types.int64, 1, "C")
BYTES = types.Array(types.uint8, 1, "C")
WORDS = types.Array(types.uint64, 1, "C")

ATTACK = types.float64(
    types.int64, types.float64, types.int64, types.float64, types.float64, types.int64
)
"""An attack as the loop calls it: (arm, clean reward, round, u, v, address of the
scene) -> observed reward. The scene is an array of addresses and lengths: arrays by
value would be seventy words on the stack, more time than most attacks take.
"""


def _plain_call(attack: Any, scene: Any, a: int, x: float, t: int, u: float, v: float) -> float:
    return attack(a, x, t, u, v, scene)


@intrinsic  # type: ignore[misc]
def _call_attack(typingctx, address, scene, a, x, t, u, v):  # type: ignore[no-untyped-def]
    """Call the attack at that address."""
    from llvmlite import ir

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        whole, real = ir.IntType(64), ir.DoubleType()
        function = ir.FunctionType(real, [whole, real, whole, real, real, whole])
        return builder.call(builder.inttoptr(args[0], function.as_pointer()), [*args[2:], args[1]])

    return types.float64(
        types.int64,
        types.int64,
        types.int64,
        types.float64,
        types.int64,
        types.float64,
        types.float64,
    ), codegen


call_attack = _plain_call if DISABLED else _call_attack


def _pointer_intrinsic(kind: Any) -> Any:
    @intrinsic  # type: ignore[misc]
    def pointer(typingctx, address):  # type: ignore[no-untyped-def]
        result = types.CPointer(kind)

        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            return builder.inttoptr(args[0], context.get_value_type(result))

        return result(types.int64), codegen

    return pointer


floats_at = _pointer_intrinsic(types.float64)
ints_at = _pointer_intrinsic(types.int64)
carray = numba.carray


def attack_pointer(function: Callable[..., Any]) -> Any:
    """Compile an attack to something the loop can call by address, so that attacks
    and policies need no compilation for each pair.
    """
    if DISABLED:
        return function
    if _MachineCodeCache is None:
        return numba.cfunc(ATTACK, cache=True, error_model="numpy", **_FOR_ENTRIES)(function)
    from numba.core.ccallback import CFunc

    # forceinline: the function stays on its own, but LLVM then sees that it raises
    # nothing, and the wrapper that C calls is a third as long
    pointer: Any = CFunc(
        function,
        (ATTACK.args, ATTACK.return_type),
        {},
        {"error_model": "numpy", "forceinline": True},
        **_FOR_ENTRIES,
    )
    pointer._cache = _MachineCodeCache(function)
    pointer.compile()
    return pointer


def fingerprint() -> str:
    """Return what, beside the sources, decides what compiled code looks like."""
    return (
        f"numba {numba.__version__} numpy {np.__version__} boundscheck {config.BOUNDSCHECK} opt "
        f"{config.OPT} options {sorted(_HELPER)}"
    )
