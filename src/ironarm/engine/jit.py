"""How Numba compiles: the one file that knows its private options.

Importing this file loads Numba, so others import it when something has to be compiled.

Compiled code here reads and writes memory that Python owns; it never creates any. So it
does without reference counting (`_nrt=False`), which makes a loop over small functions
19 times faster. Numba has no public switch for that.

Numba translates functions to LLVM, and by itself it also optimises each of them and
turns each into machine code. Here it only translates (`_library_class`). `emit.py` does
the rest, once, for an entry point and all that it calls: a third of the time.

Where a release lacks something private, the public way is used: correct, slower, not
kept on disk, and announced by a warning.
"""

from __future__ import annotations

import gc
import json
import pickle
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import numba
from llvmlite import binding, ir
from numba import njit, types
from numba.core import errors as numba_errors
from numba.core.errors import NumbaError
from numba.extending import intrinsic

from .objects import ATTACK
from .switches import PUBLIC_ONLY

__all__ = ["NumbaError", "call_attack", "helper", "public_entry", "translated", "types"]

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


_COMMON: dict[str, Any] = {
    "error_model": "numpy",
    "fastmath": False,
    **known(_nrt=False, no_cfunc_wrapper=True),
}
# A caller's options are handed down to functions that do not set them. LLVM puts a hot
# function's code in the place of each call.
_HOT = {**_COMMON, "forceinline": True, **known(no_cpython_wrapper=True)}
_COLD = {**_COMMON, "forceinline": False, **known(no_cpython_wrapper=True)}
COLD_NAME = re.compile(r"_cold[0-9a-f]{16}")


def helper(function: Callable[..., Any], mark: str) -> Any:
    """Compile a function for others to call: into its caller if it is hot.

    Numba has no option that keeps a function out of its callers' loops. `linking.py`
    gives cold ones a name that says it, and `keep_apart` tells LLVM.
    """
    return njit(**(_HOT if mark == "hot" else _COLD))(function)


def keep_apart(module: ir.Module) -> None:
    """Mark cold functions for LLVM."""
    for function in module.functions:
        if COLD_NAME.search(function.name) and not function.is_declaration:
            function.attributes.add("noinline")


@cache
def knows_the_fast_way() -> bool:
    """Say whether this release of Numba has what is private; if not, warn once."""
    if PUBLIC_ONLY:
        return False
    if "_nrt" in _COMMON and _library_class() is not None:
        return True
    warnings.warn(
        f"numba {numba.__version__} compiles in a way that ironarm does not know, so compiled "
        "code is up to 15 times slower than it could be, and not kept for other processes. "
        "Install a release that ironarm names: pip install --upgrade ironarm numba.",
        SlowNumba,
        stacklevel=2,
    )
    return False


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


class Translated(NamedTuple):
    """A function and all that it calls, translated to LLVM and not yet optimised."""

    module: Any
    name: str
    result: str
    """What it returns: a letter of `TYPES`."""


TYPES = {"i": types.int64, "f": types.float64, "b": types.boolean, "": types.none}


def translated(function: Callable[..., Any], signature: str) -> Translated:
    """Translate a function whose arguments have these types, letters of `TYPES`."""
    dispatcher = njit(**_COLD)(function)
    kinds = tuple(TYPES[letter] for letter in signature.rstrip("*"))
    with _no_collection(), _only_translating():
        dispatcher.compile(kinds)
    compiled = dispatcher.overloads[kinds]
    returned = compiled.signature.return_type
    result = next((letter for letter, kind in TYPES.items() if kind == returned), None)
    if result is None:
        raise TypeError(f"compiled code must return a number, got {returned}")
    module = compiled.library._final_module
    return Translated(module, compiled.fndesc.llvm_func_name, result)


def public_entry(function: Callable[..., Any], signature: str) -> Any:
    """Return a function that Python calls, compiled by Numba's public means alone."""
    dispatcher = njit(**{**_COMMON, "nogil": signature.endswith("*")})(function)
    with _no_collection():
        dispatcher.compile(tuple(TYPES[letter] for letter in signature.rstrip("*")))
    return dispatcher


def public_pointer(function: Callable[..., Any]) -> tuple[int, Any]:
    """Return an attack's address by public means, and what must stay alive."""
    attack = types.float64(*(TYPES[letter] for letter in ATTACK))
    pointer: Any = numba.cfunc(attack, error_model="numpy")(function)
    return int(pointer.address), pointer


@cache
def _library_class() -> Any:
    """Return Numba's library without optimiser and loader, None if it differs."""
    try:
        from numba.core.codegen import JITCodeLibrary

        JITCodeLibrary._optimize_functions  # noqa: B018
        JITCodeLibrary._optimize_final_module  # noqa: B018
        JITCodeLibrary._finalize_final_module  # noqa: B018
        binding.create_pass_builder  # noqa: B018
    except (ImportError, AttributeError):
        return None

    class Library(JITCodeLibrary):  # type: ignore[misc]
        @property
        def codegen(self) -> Any:
            return WithoutEnvironments(self._codegen)

        def add_ir_module(self, ir_module: Any) -> None:
            describe_errors(ir_module)
            keep_apart(ir_module)
            super().add_ir_module(ir_module)

        def _optimize_functions(self, ll_module: Any) -> None:
            ll_module.data_layout = self._codegen._data_layout

        def _optimize_final_module(self) -> None:
            """`emit.py` does, when all is linked."""

        def _finalize_final_module(self) -> None:
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()
            return 0

    return Library


class WithoutEnvironments:
    """Numba's code generator for libraries that are not loaded: they have no data."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """There is nowhere to write it."""


@contextmanager
def _only_translating() -> Iterator[None]:
    """Let Numba make libraries of our class.

    It compiles one function at a time; who compiles inside holds the lock.
    """
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.registry import cpu_target

    with global_compiler_lock:
        codegen = cpu_target.target_context.codegen()
        usual = codegen._library_class
        codegen._library_class = _library_class()
        try:
            yield
        finally:
            codegen._library_class = usual


def describe_errors(module: Any) -> None:
    """Write what compiled code can raise as JSON, in the place of Numba's pickles.

    What is loaded later is data: `objects.raise_described` reads it. A description is
    shorter than the pickle, and blanks fill it up.
    """
    for name, variable in module.globals.items():
        if name.startswith(".const.pickledata.") and not name.endswith(".sha1"):
            room = len(variable.initializer.constant)
            kind, arguments, place = pickle.loads(bytes(variable.initializer.constant))
            text = description(kind.__name__, [str(each) for each in arguments], place, room)
            variable.initializer = ir.Constant(variable.initializer.type, bytearray(text))


def description(kind: str, arguments: list[str], place: Any, room: int) -> bytes:
    """Return an error as JSON of exactly so many bytes; a long text is cut."""
    while True:
        text = json.dumps([kind, arguments, place], ensure_ascii=False).encode(errors="replace")
        if len(text) <= room:
            return text.ljust(room)
        if any(arguments):
            arguments = [each[: len(each) * 3 // 4] for each in arguments]
        elif place is not None:
            place = None
        else:
            raise ValueError("an error is raised whose description has no room")


def offer_functions() -> None:
    """Let machine code find the few functions of Numba's that it may call."""
    from numba.core.registry import cpu_target

    cpu_target.target_context  # noqa: B018 -- is made when it is first asked for


@intrinsic  # type: ignore[untyped-decorator]
def call_attack(typingctx, address, scene, a, x, t, u, v):  # type: ignore[no-untyped-def]
    """Call the attack at that address."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        kinds = [context.get_value_type(TYPES[letter]) for letter in ATTACK]
        function = ir.FunctionType(ir.DoubleType(), kinds)
        return builder.call(builder.inttoptr(args[0], function.as_pointer()), [*args[2:], args[1]])

    attack = [TYPES[letter] for letter in ATTACK]
    return types.float64(types.int64, types.int64, *attack[:5]), codegen
