"""Modules as files: written in the form that later versions of StableHLO read, and taken into others."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from . import mlir as func
    from . import mlir as hlo
    from . import mlir as ir
    from . import mlir as sdy
    from . import surface as xla
    from .hlo import Builder
else:
    from jaxlib import xla_client as xla
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import func, sdy
    from jaxlib.mlir.dialects import stablehlo as hlo

from . import ffi, partitioned, shardy

_CALLS_PYTHON = ("xla_ffi_python", "xla_ffi_partitioned_python", "xla_buffer_python")
# of jax's modules: its CUDA kernels, and what says where arrays are
_FOREIGN = frozenset(
    """cu_threefry2x32_ffi annotate_device_placement Sharding SPMDFullToShardShape SPMDShardToFullShape
    shape_assertion Qr Eigh ProductOfElementaryHouseholderReflectors ApproxTopK TopK""".split()
)


class Damaged(ValueError):
    """Bytes that are no StableHLO module, or one of an unexpected form."""


class Adopted(NamedTuple):
    """A function taken from a file.

    Attributes:
        function: in the module that took it.
        inputs, results: the MLIR types of its arguments and results.
        by_platform: whether its first argument is the number of a platform.
        targets: what it calls outside of XLA.
        meshes: those that its module names, by their names there.
    """

    function: func.FuncOp
    inputs: list[ir.Type]
    results: list[ir.Type]
    by_platform: bool
    targets: set[str]
    meshes: dict[str, shardy.Named]


class Artifacts:
    """Methods of Builder."""

    if TYPE_CHECKING:  # what Builder has
        module: ir.Module
        functions: dict[Hashable, Any]
        partitions: int
        barriers: bool
        _context: ir.Context

        def bytecode(self) -> bytes: ...
        def _channel(self) -> ir.Attribute: ...

    def portable(self, places: Sequence[int] = ()) -> bytes:
        """The module in a form that jaxlib reads half a year from now, and did twelve weeks ago.

        Args:
            places: of a module over several devices the numbers by which the file knows them.
        """
        for op in _all_of(self.module) if places else ():
            if op.name == "sdy.mesh":
                axes = sdy.MeshAttr(op.attributes["mesh"]).axes
                op.attributes["mesh"] = sdy.MeshAttr.get(axes, [])
            shardy.renumber(op, places)
        oldest = hlo.StablehloCompatibilityRequirement.WEEK_12
        version = hlo.get_version_from_compatibility_requirement(oldest)
        return xla._xla.mlir.serialize_portable_artifact(self.bytecode(), version, bool(places))

    def targets(self) -> set[str]:
        """The names of what the module calls outside of XLA."""
        return _targets(self.module)

    def adopt(self, key: Hashable, blob: bytes, site: shardy.Site | None = None) -> Adopted:
        """The function ``main`` of a module in portable form, as a private one of this module.

        Args:
            site: of a module over several devices what they are here; without, it is only looked at.
        """
        found = self.functions.get(key)
        if found is None:
            prefix = f"exported_{len(self.functions)}"
            found = self.functions[key] = self._merge(blob, prefix, site)
        return found

    def _merge(self, blob: bytes, prefix: str, site: shardy.Site | None) -> Adopted:
        other = self._parse_portable(blob, site is not None)
        targets = _targets(other)
        self.barriers |= any(op.name == "stablehlo.optimization_barrier" for op in _all_of(other))
        if any(t.startswith("lapack_") for t in targets):
            ffi.ensure_lapack()
        for target in targets & partitioned.WRITERS.keys():
            partitioned.ensure(cast("type[Builder]", type(self)), target)
        operations = list(other.body.operations)
        while any(_name(f).startswith(f"{prefix}.") for f in operations):  # of a function in it
            prefix += "_"
        mains = [f for f in operations if f.operation.name == "func.func" and _name(f) == "main"]
        if len(mains) != 1:
            raise Damaged("it has no function main")
        main = mains[0]
        marks = list(main.attributes["arg_attrs"]) if "arg_attrs" in main.attributes else []
        by_platform = bool(marks) and "jax.global_constant" in marks[0]
        for mark in ("arg_attrs", "res_attrs"):  # donation and placement are the caller's
            if mark in main.attributes:
                del main.attributes[mark]
        meshes = shardy.meshes_of(operations)
        if site is not None:
            self._move(other, meshes, site)
            operations = [f for f in operations if f.operation.name != "sdy.mesh"]
        for f in operations:
            name = _name(f)
            if name:
                ir.SymbolTable.replace_all_symbol_uses(name, f"{prefix}.{name}", other.operation)
                ir.SymbolTable.set_symbol_name(f.operation, f"{prefix}.{name}")
        ir.SymbolTable.set_visibility(main.operation, "private")
        end = ir.InsertionPoint(self.module.body)
        copies = [f.operation.clone(end) for f in operations]
        function: Any = copies[operations.index(main)]
        kind = function.function_type.value
        return Adopted(
            function, list(kind.inputs), list(kind.results), by_platform, targets, meshes
        )

    def _move(self, other: ir.Module, meshes: dict[str, shardy.Named], site: shardy.Site) -> None:
        """Renumber a module's devices and rename its mesh axes to those of this module."""
        move = shardy.Move(meshes, site)
        for op in _all_of(other):
            if "channel_handle" in op.attributes:
                op.attributes["channel_handle"] = self._channel()
            move.operation(op)

    def _parse_portable(self, blob: bytes, spread: bool = False) -> ir.Module:
        """A module of this context from its portable form.

        What only says where values lie is left out, unless it is for several devices.
        """
        messages: list[str] = []
        with self._context.attach_diagnostic_handler(lambda d: _collect_error(d, messages)):
            try:
                module = hlo.deserialize_portable_artifact(self._context, blob)
            except (ValueError, RuntimeError, ir.MLIRError) as error:
                raise Damaged("; ".join([*messages, str(error)])) from None
        for op in () if spread else _all_of(module):
            if op.name == "sdy.sharding_constraint":
                op.results[0].replace_all_uses_with(op.operands[0])
                op.erase()
        return module

    def artifact_text(self, blob: bytes, spread: bool = False) -> str:
        """A module in portable form, for reading; ``spread``: whether it is for several devices."""
        return self._parse_portable(blob, spread).operation.get_asm(enable_debug_info=False)


def _collect_error(diagnostic: ir.Diagnostic, messages: list[str]) -> bool:
    with contextlib.suppress(RuntimeError):  # a text that is none, of damaged bytes
        messages.append(str(diagnostic.message))
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
    return target in (*_FOREIGN, *partitioned.WRITERS) or any(
        target.startswith(a) and target.endswith(c) for a, _, c in [*known, *more]
    )
