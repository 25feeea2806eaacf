"""From translated functions to machine code that can be kept and shipped.

A function and all that it calls become one object file, which can be loaded anywhere
and needs nothing but the C library's mathematics, and Python's stable ABI where Python
calls it. So it works for any Python, and without Numba.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import chain
from typing import Any

from llvmlite import binding

from . import shim
from .jit import Translated
from .objects import machine_code_for, start_llvm

FROM_OUTSIDE = re.compile(
    r"Py\w+|_Py_NoneStruct|mem(cpy|set|move)|f?(log|exp|pow|sqrt|sin|cos|tan|mod|abs|ma|floor)\w*"
    r"|(l|t)gamma\w*|erfc?\w*|a?(sin|cos|tan)h?\w*|atan2f?|hypotf?|ldexpf?|frexpf?|(ceil|trunc|r?int"
    r"|round|copysign|cbrt|nextafter)\w*|numba_(gamma|ldexp|frexp|cpow)f?"
)
"""What an object may ask of the process that loads it; the last, if Numba is loaded."""


def object_of(code: Translated, name: str, signature: str, level: int) -> bytes:
    """Return an object file with a function of that name.

    For the signature of an attack this is a C function that compiled code calls, for
    all others one that Python calls.
    """
    wrapper = shim.wrapper(code, name, signature)
    module = code.module
    # it calls the function, whose own linkage may hide it
    module.get_function(code.name).linkage = "external"
    module.link_in(binding.parse_assembly(str(wrapper)))
    for function in module.functions:
        if not function.is_declaration and function.name != name:
            function.linkage = "internal"
    target = _target(level)
    optimise(module, target)
    forget_names(module, name)
    module.verify()
    missing = asked_from_outside(module)
    if missing:
        what = missing[0].removeprefix("numba_")
        raise TypeError(
            f"it needs {what!r}, which needs Python or memory of its own; use what the math module "
            "has, and fields of the policy"
        )
    return bytes(target.emit_object(module))


def optimise(module: Any, target: Any) -> None:
    """Let LLVM optimise a whole module, for the processor that it is meant for."""
    options = binding.create_pipeline_tuning_options()
    options.speed_level, options.loop_vectorization = 3, True
    options.slp_vectorization = False  # as Numba
    builder = binding.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)


def forget_names(module: Any, name: str) -> None:
    """Number what nobody outside asks for, so that the same code gives the same file.

    Numba's names hold numbers that count what a process has compiled before.
    """
    values = chain(module.functions, module.global_variables)
    inside = [value for value in values if not value.is_declaration and value.name != name]
    for number, value in enumerate(inside):
        if not value.name.startswith("llvm."):
            value.name = f".{number}"


def asked_from_outside(module: Any) -> list[str]:
    """Return the names that a module needs and that not every process has."""
    names = [f.name for f in module.functions if f.is_declaration]
    names += [v.name for v in module.global_variables if v.is_declaration]
    return [n for n in names if not n.startswith("llvm.") and not FROM_OUTSIDE.fullmatch(n)]


@cache
def _target(level: int) -> Any:
    start_llvm()
    target = binding.Target.from_default_triple()
    processor, features = machine_code_for(level)
    # addresses of 64 bits, which the loader fills in: parts of an object, and what it
    # calls, may lie anywhere. With 32 bits LLVM ends the process if they happen to lie
    # more than 2 GB apart
    return target.create_target_machine(
        cpu=processor, features=features, opt=3, reloc="static", codemodel="large"
    )
