"""Machine code that is loaded, not compiled: no Numba is needed.

A function and all that it calls are one object file (`emit.py`). Files that were
compiled here are in the user's folder (`kept.py`), those of the policies and attacks of
ironarm come with the package. Their names carry a hash of the code that they were
compiled from, so an edit is never missed.
"""

from __future__ import annotations

import builtins
import ctypes
import json
import platform
from collections.abc import Callable
from functools import cache
from typing import Any, NoReturn

ATTACK = "ififfi"
"""What the loop gives an attack: arm, clean reward, round, u, v, scene's address."""
FASTCALL = 0x80  # METH_FASTCALL of Python's C API


USUAL, NEWER = 2, 3
"""Levels of x86-64: nearly any processor since 2011, and most since 2015."""
HAS = {
    USUAL: {"cx16", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2"},
    NEWER: {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"},
}
"""What a processor of a level has, beside that of the one below, as LLVM calls it."""


def machine_code_for(level: int) -> tuple[str, str]:
    """Return the processor that code is made for, and its features, in LLVM's words."""
    if _is_x86() and level_here() >= USUAL:
        return f"x86-64-v{level}", ""
    from llvmlite import binding

    return str(binding.get_host_cpu_name()), str(binding.get_host_cpu_features().flatten())


@cache
def level_here() -> int:
    """Return the highest level that this processor has, of those we use, or less."""
    try:
        from llvmlite import binding
    except ModuleNotFoundError:  # then nothing can be loaded either
        return USUAL
    if not _is_x86():
        return USUAL
    has = binding.get_host_cpu_features()
    reached = [level for level, names in HAS.items() if all(has.get(name) for name in names)]
    return len(reached) + 1


def _is_x86() -> bool:
    return platform.machine().lower() in ("x86_64", "amd64")


@cache
def start_llvm() -> None:
    """Make LLVM know this kind of processor."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()


@cache
def _engine() -> Any:
    """Return what loads object files."""
    from llvmlite import binding

    start_llvm()
    machine = binding.Target.from_default_triple().create_target_machine()
    return binding.create_mcjit_compiler(binding.parse_assembly(""), machine)


_loaded: dict[str, int] = {}


def address_in(code: bytes, name: str) -> int:
    """Load an object file, and return the address of its function of that name.

    Not in two threads at a time.
    """
    from llvmlite import binding

    if name not in _loaded:
        if b"numba_" in code:
            from . import jit

            jit.offer_functions()
        engine = _engine()
        engine.add_object_file(binding.ObjectFileRef.from_data(code))
        engine.finalize_object()
        address = int(engine.get_function_address(name))
        if address == 0:
            raise RuntimeError(f"an object file has no function {name!r}")
        _loaded[name] = address
    return _loaded[name]


class _Method(ctypes.Structure):
    """Python's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_methods: list[_Method] = []  # Python reads them as long as their functions live


def callable_at(address: int, name: str) -> Callable[..., Any]:
    """Return a function for Python, whose code (`shim.py`) is at an address."""
    method = _Method(name.encode(), address, FASTCALL, None)
    _methods.append(method)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = (ctypes.POINTER(_Method), ctypes.py_object, ctypes.c_void_p)
    function: Callable[..., Any] = make(method, raise_described, None)
    return function


def raise_described(description: bytes) -> NoReturn:
    """Raise the error that compiled code describes, at the line where it arose.

    Only Python's own errors can be: compiled code knows no others.
    """
    name, arguments, place = json.loads(description)
    kind = getattr(builtins, name)
    assert issubclass(kind, BaseException)
    error = kind(*arguments)
    error.of_compiled_code = True
    if place is None:
        raise error
    function, file, line = place
    # a frame with the name of the author's function and file, for the traceback
    code = compile("\n" * (line - 1) + "raise error", file, "exec")
    exec(code.replace(co_name=function, co_qualname=function), {"error": error})
    raise AssertionError("unreachable")
