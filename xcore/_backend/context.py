"""MLIR's contexts, and what of NumPy's they know: element types and constants."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from . import mlir as _jax_mlir_ext
    from . import mlir as chlo
    from . import mlir as hlo
    from . import mlir as ir
    from . import mlir as sdy
    from .surface import NDArray
else:
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import chlo, sdy
    from jaxlib.mlir.dialects import stablehlo as hlo

_registry = ir.DialectRegistry()
_jax_mlir_ext.register_dialects(_registry)

# Attributes, types and locations are interned in a context until it dies, so contexts are used a
# number of times and then dropped; one lowering has its context to itself.
_USES = 24
Entry = list[Any]  # a context, and how often it may still be used
_idle: list[Entry] = []
_guard = threading.Lock()


def take() -> Entry:
    """A context and how often it may still be used."""
    with _guard:
        if _idle:
            return _idle.pop()
    context = ir.Context()
    context.append_dialect_registry(_registry)
    context.load_all_available_dialects()
    for dialect in (hlo, chlo, sdy):
        dialect.register_dialect(context)
    return [context, _USES]


def give_back(entry: Entry) -> None:
    entry[1] -= 1
    if entry[1] > 0:
        with _guard:
            _idle.append(entry)


ELEMENTS: dict[str, Callable[[], ir.Type]] = {
    "bool": lambda: ir.IntegerType.get_signless(1),
    "float16": ir.F16Type.get,
    "bfloat16": ir.BF16Type.get,
    "float32": ir.F32Type.get,
    "float64": ir.F64Type.get,
    "complex64": lambda: ir.ComplexType.get(ir.F32Type.get()),
    "complex128": lambda: ir.ComplexType.get(ir.F64Type.get()),
    **{f"int{n}": (lambda n=n: ir.IntegerType.get_signless(n)) for n in (2, 4, 8, 16, 32, 64)},
    **{f"uint{n}": (lambda n=n: ir.IntegerType.get_unsigned(n)) for n in (2, 4, 8, 16, 32, 64)},
    "float8_e3m4": ir.Float8E3M4Type.get,
    "float8_e4m3": ir.Float8E4M3Type.get,
    "float8_e4m3fn": ir.Float8E4M3FNType.get,
    "float8_e4m3b11fnuz": ir.Float8E4M3B11FNUZType.get,
    "float8_e4m3fnuz": ir.Float8E4M3FNUZType.get,
    "float8_e5m2": ir.Float8E5M2Type.get,
    "float8_e5m2fnuz": ir.Float8E5M2FNUZType.get,
    "float8_e8m0fnu": ir.Float8E8M0FNUType.get,
    "float4_e2m1fn": ir.Float4E2M1FNType.get,
}
_SAME_BITS = {2: np.uint16, 1: np.uint8}


def dense(value: NDArray, element: ir.Type) -> ir.DenseElementsAttr:
    """A constant attribute with the content of an array."""
    shape, value = value.shape, np.ascontiguousarray(value)  # which makes 0-d arrays 1-d
    if value.dtype.kind == "V":  # NumPy knows no buffer format for the types of ml_dtypes
        value = value.view(_SAME_BITS[value.dtype.itemsize])
    return ir.DenseElementsAttr.get(value, type=element, shape=shape)
