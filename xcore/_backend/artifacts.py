"""Modules as files: written in the form that later versions of StableHLO read, and taken into others."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import contextlib
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from . import mlir as func
    from . import mlir as hlo
    from . import mlir as ir
    from . import surface as xla
else:
    from jaxlib import xla_client as xla
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import func
    from jaxlib.mlir.dialects import stablehlo as hlo

from . import ffi

_CALLS_PYTHON = ("xla_ffi_python", "xla_ffi_partitioned_python", "xla_buffer_python")
# of jax's modules: its CUDA kernels, and what says where arrays are
_FOREIGN = frozenset(
    """cu_threefry2x32_ffi annotate_device_placement Sharding SPMDFullToShardShape SPMDShardToFullShape
    shape_assertion Qr Eigh ProductOfElementaryHouseholderReflectors ApproxTopK TopK""".split()
)


class Damaged(ValueError):
    """Bytes that are no module, or one of another form than is expected."""


class Adopted(NamedTuple):
    """A function taken from a file.

    Attributes:
        function: in the module that took it.
        inputs, results: the MLIR types of its arguments and results.
        by_platform: whether its first argument is the number of a platform.
        targets: what it calls outside of XLA.
    """

    function: func.FuncOp
    inputs: list[ir.Type]
    results: list[ir.Type]
    by_platform: bool
    targets: set[str]


class Artifacts:
    """Methods of Builder."""

    if TYPE_CHECKING:  # what Builder has
        module: ir.Module
        functions: dict[Hashable, Any]
        _context: ir.Context

        def bytecode(self) -> bytes: ...

    def portable(self) -> bytes:
        """The module in a form that jaxlib reads half a year from now, and did twelve weeks ago."""
        oldest = hlo.StablehloCompatibilityRequirement.WEEK_12
        version = hlo.get_version_from_compatibility_requirement(oldest)
        return xla._xla.mlir.serialize_portable_artifact(self.bytecode(), version)

    def targets(self) -> set[str]:
        """The names of what the module calls outside of XLA."""
        return _targets(self.module)

    def adopt(self, key: Hashable, blob: bytes) -> Adopted:
        """The function ``main`` of a module in portable form, as a private one of this module."""
        found = self.functions.get(key)
        if found is None:
            found = self.functions[key] = self._adopted(blob, f"exported_{len(self.functions)}")
        return found

    def _adopted(self, blob: bytes, prefix: str) -> Adopted:
        other = self._parsed(blob)
        targets = _targets(other)
        if any(t.startswith("lapack_") for t in targets):
            ffi.ensure_lapack()
        operations = list(other.body.operations)
        mains = [f for f in operations if f.operation.name == "func.func" and _name(f) == "main"]
        if len(mains) != 1:
            raise Damaged("it has no function main")
        main = mains[0]
        marks = list(main.attributes["arg_attrs"]) if "arg_attrs" in main.attributes else []
        by_platform = bool(marks) and "jax.global_constant" in marks[0]
        for f in operations:
            name = _name(f)
            if name:
                ir.SymbolTable.replace_all_symbol_uses(name, f"{prefix}.{name}", other.operation)
                ir.SymbolTable.set_symbol_name(f.operation, f"{prefix}.{name}")
        for mark in ("arg_attrs", "res_attrs"):  # donation and placement are the caller's
            if mark in main.attributes:
                del main.attributes[mark]
        ir.SymbolTable.set_visibility(main.operation, "private")
        end = ir.InsertionPoint(self.module.body)
        copies = [f.operation.clone(end) for f in operations]
        function: Any = copies[operations.index(main)]
        kind = function.function_type.value
        return Adopted(function, list(kind.inputs), list(kind.results), by_platform, targets)

    def _parsed(self, blob: bytes) -> ir.Module:
        """A module of this context from its portable form. What only says where values lie is left out."""
        said: list[str] = []
        with self._context.attach_diagnostic_handler(lambda d: _heard(d, said)):
            try:
                module = hlo.deserialize_portable_artifact(self._context, blob)
            except (ValueError, RuntimeError, ir.MLIRError) as error:
                raise Damaged("; ".join([*said, str(error)])) from None
        for op in _all_of(module):
            if op.name == "sdy.sharding_constraint":
                op.results[0].replace_all_uses_with(op.operands[0])
                op.erase()
        return module

    def artifact_text(self, blob: bytes) -> str:
        """A module in portable form, for reading."""
        return self._parsed(blob).operation.get_asm(enable_debug_info=False)


def _heard(diagnostic: ir.Diagnostic, said: list[str]) -> bool:
    with contextlib.suppress(RuntimeError):  # a text that is none, of damaged bytes
        said.append(str(diagnostic.message))
    return True


def _name(op: ir.OpView) -> str:
    attributes = op.operation.attributes
    return attributes["sym_name"].value if "sym_name" in attributes else ""


def _all_of(module: ir.Module) -> list[ir.OpView]:
    found: list[ir.OpView] = []

    def note(op: ir.OpView) -> ir.WalkResult:
        found.append(op)
        return ir.WalkResult.ADVANCE

    module.operation.walk(note)
    return found


def _targets(module: ir.Module) -> set[str]:
    calls = [op for op in _all_of(module) if op.name == "stablehlo.custom_call"]
    return {op.attributes["call_target_name"].value for op in calls}


def calls_python(target: str) -> bool:
    return target.startswith(_CALLS_PYTHON)


def stays(target: str) -> bool:
    """Whether a custom call means the same in other processes and in versions to come."""
    known = [r.target.partition("{}") for r in (*ffi.LAPACK.values(), *ffi.CUDA.values())]
    others = [r.complex_target for r in (*ffi.LAPACK.values(), *ffi.CUDA.values())]
    more = [t.partition("{}") for t in others if t]
    return target in _FOREIGN or any(
        target.startswith(a) and target.endswith(c) for a, _, c in [*known, *more]
    )
