"""Two short cuts on the way to the same machine code, which save about a quarter of the
compile time.

* The state is taken apart: `s.window` becomes the array that `bind` made for it. A
  state is a tuple of thirty arrays of seven words each; Numba would load it as a whole
  for each `s.window`, and LLVM would take its time to find out which of the two hundred
  words are wanted. Arrays that an entry point never asks for are not made at all.
* Functions that only compiled functions call become machine code only as parts of an
  entry point, not also on their own, and on their own within each other.

Both are written against parts of Numba that may change; `jit.py` does without where
they cannot be imported.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from numba.core import ir
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.environment import lookup_environment
from numba.core.ir_utils import build_definitions
from numba.core.untyped_passes import InlineInlinables


@register_pass(mutates_CFG=False, analysis_only=False)
class UnpackState(FunctionPass):  # type: ignore[misc]
    """Replace the attributes of a named tuple by what the tuple was made of; forget
    what is then not used.
    """

    _name = "ironarm_unpack_state"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Change the function in place; return whether anything changed."""
        blocks = state.func_ir.blocks
        definitions = {
            name: values[0]
            for name, values in build_definitions(blocks).items()
            if len(values) == 1
        }
        made = _made(definitions)
        if not made:
            return False
        for block in blocks.values():
            for statement in block.body:
                value = getattr(statement, "value", None)
                if (
                    isinstance(value, ir.Expr)
                    and value.op == "getattr"
                    and value.attr in made.get(value.value.name, {})
                ):
                    statement.value = made[value.value.name][value.attr]
        _forget(blocks, definitions, set(made))
        state.func_ir._definitions = build_definitions(blocks)
        return True


def _made(definitions: dict[str, Any]) -> dict[str, dict[str, ir.Var]]:
    """Return for each variable that is a named tuple, made in one place, the
    variables it was made of.
    """
    made: dict[str, dict[str, ir.Var]] = {}
    for name, value in definitions.items():
        if isinstance(value, ir.Expr) and value.op == "call" and not value.kws:
            names = getattr(getattr(definitions.get(value.func.name), "value", None), "_fields", ())
            # a call with more than thirty arguments arrives as f(*tuple)
            parts = (
                definitions[value.vararg.name].items
                if value.vararg and not value.args
                else value.args
            )
            if (
                names
                and len(names) == len(parts)
                and all(part.name in definitions for part in parts)
            ):
                made[name] = dict(zip(names, parts, strict=True))
    found = True
    while found:
        found = False
        for name, value in definitions.items():
            source = value.value if isinstance(value, ir.Expr) and value.op == "cast" else value
            # another name of the same
            if name not in made and isinstance(source, ir.Var) and source.name in made:
                made[name] = made[source.name]
                found = True
    return made


def _forget(blocks: dict[int, ir.Block], definitions: dict[str, Any], candidates: set[str]) -> None:
    """Remove the assignments to candidates that nothing uses, and with them what
    only they used: nothing that a state is made of does more than compute.
    """
    uses = Counter(
        variable.name
        for block in blocks.values()
        for statement in block.body
        for variable in _read(statement)
    )
    gone: set[str] = set()
    waiting = [name for name in candidates if not uses[name]]
    while waiting:
        name = waiting.pop()
        gone.add(name)
        value = definitions[name]
        for variable in (
            [value]
            if isinstance(value, ir.Var)
            else value.list_vars()
            if isinstance(value, ir.Expr)
            else []
        ):
            uses[variable.name] -= 1
            if (
                not uses[variable.name]
                and variable.name in definitions
                and not isinstance(definitions[variable.name], ir.Arg)
            ):
                waiting.append(variable.name)
    for block in blocks.values():
        block.body = [
            statement
            for statement in block.body
            if not (isinstance(statement, ir.Assign) and statement.target.name in gone)
        ]


def _read(statement: ir.Stmt) -> list[ir.Var]:
    """Return the variables that a statement reads, each as often as it does."""
    if isinstance(statement, ir.Assign):
        return (
            [statement.value]
            if isinstance(statement.value, ir.Var)
            else statement.value.list_vars()
            if isinstance(statement.value, ir.Expr)
            else []
        )
    return statement.list_vars()


class MergedOnly(JITCodeLibrary):  # type: ignore[misc]
    """The code of a function that only compiled functions call: it waits, neither
    optimised nor made machine code, until it is part of an entry point, which is
    both.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Python cannot call it."""
        return 0

    @property
    def codegen(self) -> Any:
        """Who is asked to `set_env`."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """There is no place for it yet; see `Whole`."""


class Whole(JITCodeLibrary):  # type: ignore[misc]
    """The code of an entry point with all that was merged into it."""

    def _finalize_specific(self) -> None:
        super()._finalize_specific()
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name)
            if environment is not None:
                self._codegen.set_env(variable.name, environment)


class HelperCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler for functions that are merged into others."""

    def define_pipelines(self) -> list[Any]:
        """Return the steps."""
        self.state.library = MergedOnly(
            self.state.targetctx.codegen(), self.state.func_id.func_qualname
        )
        return [DefaultPassBuilder.define_nopython_pipeline(self.state)]


class EntryCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler for entry points."""

    def define_pipelines(self) -> list[Any]:
        """Return the steps."""
        self.state.library = Whole(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(UnpackState, InlineInlinables)
        passes.finalize()
        return [passes]
