"""What stands between Python, or compiled code, and a translated function.

Written as LLVM from the letters of a signature, so that no argument can be in the wrong
place. It uses Python's stable ABI alone.
"""

from __future__ import annotations

import json
from typing import Any

from llvmlite import ir

from .jit import Translated
from .objects import ATTACK

STATUS, WORD, FLOAT = ir.IntType(32), ir.IntType(64), ir.DoubleType()
OBJECT = ir.IntType(8).as_pointer()
VALUES: dict[str, ir.Type] = {"i": WORD, "f": FLOAT, "b": ir.IntType(8), "": OBJECT}
"""The letters: a whole number, a float, True or False, and nothing."""
ERROR = ir.LiteralStructType([OBJECT, STATUS, OBJECT, OBJECT, STATUS])
"""How Numba describes an error: first the description and its length."""
SUCCESS = 0, -2  # what Numba's functions return where there is no error


def wrapper(code: Translated, name: str, signature: str) -> ir.Module:
    """Return a module with a function of that name that calls the translated one."""
    module = ir.Module(name)
    make = _called_by_attack if signature == ATTACK else _called_by_python
    make(module, code, name, signature)
    return module


class _Call:
    """A call of a translated function, and what it leaves behind."""

    def __init__(self, builder: ir.IRBuilder, code: Translated, signature: str) -> None:
        self.builder = builder
        result = VALUES[code.result]
        # first, so that they are allocated once however often the wrapper is inlined
        self.result, self.error = builder.alloca(result), builder.alloca(ERROR.as_pointer())
        kinds = [result.as_pointer(), ERROR.as_pointer().as_pointer()]
        kinds += [VALUES[letter] for letter in signature]
        self.function = ir.Function(builder.module, ir.FunctionType(STATUS, kinds), code.name)

    def make(self, arguments: list[Any]) -> None:
        """Call it."""
        self.status = self.builder.call(self.function, [self.result, self.error, *arguments])

    def succeeded(self) -> Any:
        """Say whether it raised nothing."""
        good = [self.builder.icmp_signed("==", self.status, STATUS(n)) for n in SUCCESS]
        return self.builder.or_(*good)

    def description(self) -> tuple[Any, Any]:
        """Return the text that describes the error, and its length."""
        error = self.builder.load(self.builder.load(self.error))
        length = self.builder.sext(self.builder.extract_value(error, 1), WORD)
        return self.builder.extract_value(error, 0), length


class _Python:
    """Calls of Python's functions, by name."""

    def __init__(self, builder: ir.IRBuilder) -> None:
        self._builder = builder
        self._known: dict[str, Any] = {}

    def call(self, name: str, result: ir.Type, *values: Any, var_arg: bool = False) -> Any:
        if name not in self._known:
            kinds = [value.type for value in values[: 1 if var_arg else None]]
            kind = ir.FunctionType(result, kinds, var_arg)
            self._known[name] = ir.Function(self._builder.module, kind, name)
        return self._builder.call(self._known[name], list(values))

    def raised(self, itself: Any, text: Any, length: Any) -> Any:
        """Let what a function is bound to raise the error that a text describes."""
        described = self.call("PyBytes_FromStringAndSize", OBJECT, text, length)
        raised = self.call(
            "PyObject_CallFunctionObjArgs", OBJECT, itself, described, OBJECT(None), var_arg=True
        )
        self.call("Py_DecRef", ir.VoidType(), described)
        return raised


def _called_by_attack(module: ir.Module, code: Translated, name: str, signature: str) -> None:
    kind = ir.FunctionType(FLOAT, [VALUES[letter] for letter in signature])
    function = ir.Function(module, kind, name)
    builder = ir.IRBuilder(function.append_basic_block())
    call = _Call(builder, code, signature)
    call.make(list(function.args))
    with builder.if_then(builder.not_(call.succeeded()), likely=False):
        # nobody up there can raise it: Python prints that it is ignored
        python = _Python(builder)
        lock = python.call("PyGILState_Ensure", STATUS)
        text = python.call("PyUnicode_FromStringAndSize", OBJECT, *call.description())
        # not by PyExc_RuntimeError: where Numba is loaded, that is another thing
        builtins = python.call("PyEval_GetBuiltins", OBJECT)
        name = builder.bitcast(_text(module, "RuntimeError"), OBJECT)
        kind = python.call("PyDict_GetItemString", OBJECT, builtins, name)
        python.call("PyErr_SetObject", ir.VoidType(), kind, text)
        python.call("Py_DecRef", ir.VoidType(), text)
        python.call("PyErr_WriteUnraisable", ir.VoidType(), OBJECT(None))
        python.call("PyGILState_Release", ir.VoidType(), lock)
        builder.ret(FLOAT(0.0))
    builder.ret(builder.load(call.result))


def _called_by_python(module: ir.Module, code: Translated, name: str, signature: str) -> None:
    """Write a function that Python calls with METH_FASTCALL; see `objects.callable_at`.

    A star at the end of the signature lets other threads run meanwhile.
    """
    letters = signature.rstrip("*")
    kind = ir.FunctionType(OBJECT, [OBJECT, OBJECT.as_pointer(), WORD])
    function = ir.Function(module, kind, name)
    builder = ir.IRBuilder(function.append_basic_block())
    python, (itself, arguments, count) = _Python(builder), function.args
    call = _Call(builder, code, letters)
    with builder.if_then(builder.icmp_signed("!=", count, WORD(len(letters))), likely=False):
        error = json.dumps(["TypeError", [f"takes {len(letters)} numbers"], None])
        text = builder.bitcast(_text(module, error), OBJECT)
        builder.ret(python.raised(itself, text, WORD(len(error))))
    values = []
    for i, letter in enumerate(letters):
        given = builder.load(builder.gep(arguments, [WORD(i)]))
        if letter == "f":
            values.append(python.call("PyFloat_AsDouble", FLOAT, given))
            odd = builder.fcmp_ordered("==", values[-1], FLOAT(-1.0))
        else:
            values.append(python.call("PyLong_AsLongLong", WORD, given))
            odd = builder.icmp_signed("==", values[-1], WORD(-1))
        with builder.if_then(odd, likely=False):  # a number, or an error
            error = python.call("PyErr_Occurred", OBJECT)
            with builder.if_then(builder.icmp_unsigned("!=", error, OBJECT(None))):
                builder.ret(OBJECT(None))
    if letters != signature:
        thread = python.call("PyEval_SaveThread", OBJECT)
    call.make(values)
    if letters != signature:
        python.call("PyEval_RestoreThread", ir.VoidType(), thread)
    with builder.if_then(builder.not_(call.succeeded()), likely=False):
        builder.ret(python.raised(itself, *call.description()))
    builder.ret(_boxed(builder, python, code.result, call))


def _boxed(builder: ir.IRBuilder, python: _Python, letter: str, call: _Call) -> Any:
    """Return the result as a Python object."""
    if letter == "":
        nothing = ir.GlobalVariable(builder.module, ir.IntType(8), "_Py_NoneStruct")
        python.call("Py_IncRef", ir.VoidType(), nothing)
        return nothing
    value = builder.load(call.result)
    if letter == "f":
        return python.call("PyFloat_FromDouble", OBJECT, value)
    if letter == "b":
        return python.call("PyBool_FromLong", OBJECT, builder.zext(value, WORD))
    return python.call("PyLong_FromLongLong", OBJECT, value)


def _text(module: ir.Module, text: str) -> ir.GlobalVariable:
    data = bytearray(text.encode() + b"\0")
    variable = ir.GlobalVariable(module, ir.ArrayType(ir.IntType(8), len(data)), "text")
    variable.linkage, variable.global_constant = "internal", True
    variable.initializer = ir.Constant(variable.value_type, data)
    return variable
