"""What type checkers see of MLIR's bindings in jaxlib, whose own types are partly unknown and change.

As ``surface``, but for ``jaxlib.mlir.ir`` and the dialects ``stablehlo``, ``chlo``, ``func`` and ``sdy``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

# Contexts and places

class DialectRegistry: ...

class Diagnostic:
    message: str

class MLIRError(Exception): ...

class Context:
    def append_dialect_registry(self, registry: DialectRegistry) -> None: ...
    def load_all_available_dialects(self) -> None: ...
    def attach_diagnostic_handler(self, handler: Callable[[Diagnostic], bool]) -> Self: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exc: object) -> None: ...

class Location:
    @staticmethod
    def unknown() -> Location: ...
    @staticmethod
    def file(filename: str, line: int, col: int) -> Location: ...
    @staticmethod
    def name(name: str, childLoc: Location) -> Location: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exc: object) -> None: ...

class InsertionPoint:
    current: InsertionPoint
    block: Block
    def __init__(self, place: Block | OpView) -> None: ...
    @staticmethod
    def at_block_begin(block: Block) -> InsertionPoint: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exc: object) -> None: ...

def register_dialects(registry: DialectRegistry) -> None: ...
def register_dialect(context: Context) -> None: ...

# Types

class Type:
    @staticmethod
    def parse(text: str) -> Type: ...

class IntegerType(Type):
    @staticmethod
    def get_signless(width: int) -> IntegerType: ...
    @staticmethod
    def get_unsigned(width: int) -> IntegerType: ...

class _Scalar(Type):
    @classmethod
    def get(cls) -> Self: ...

class F16Type(_Scalar): ...
class BF16Type(_Scalar): ...
class F32Type(_Scalar): ...
class F64Type(_Scalar): ...
class Float8E3M4Type(_Scalar): ...
class Float8E4M3Type(_Scalar): ...
class Float8E4M3FNType(_Scalar): ...
class Float8E4M3B11FNUZType(_Scalar): ...
class Float8E4M3FNUZType(_Scalar): ...
class Float8E5M2Type(_Scalar): ...
class Float8E5M2FNUZType(_Scalar): ...
class Float8E8M0FNUType(_Scalar): ...
class Float4E2M1FNType(_Scalar): ...
class IndexType(_Scalar): ...
class TokenType(_Scalar): ...

class ComplexType(Type):
    element_type: Type

    def __init__(self, type: Type) -> None: ...
    @staticmethod
    def get(element: Type) -> ComplexType: ...

class RankedTensorType(Type):
    shape: list[int]
    rank: int
    element_type: Type

    def __init__(self, type: Type) -> None: ...
    @staticmethod
    def get(shape: Sequence[int], element: Type) -> RankedTensorType: ...

class FunctionType(Type):
    results: list[Type]

    @staticmethod
    def get(inputs: Sequence[Type], results: Sequence[Type]) -> FunctionType: ...

# Attributes

class Attribute:
    def __init__(self, cast_from_attr: Attribute) -> None: ...
    @staticmethod
    def parse(text: str) -> Attribute: ...

class IntegerAttr(Attribute):
    @staticmethod
    def get(type: Type, value: int) -> IntegerAttr: ...

class FloatAttr(Attribute):
    value: float

    @staticmethod
    def get(type: Type, value: float) -> FloatAttr: ...

class StringAttr(Attribute):
    value: str

    @staticmethod
    def get(value: str) -> StringAttr: ...

class BoolAttr(Attribute):
    @staticmethod
    def get(value: bool) -> BoolAttr: ...

class UnitAttr(Attribute):
    @staticmethod
    def get() -> UnitAttr: ...

class ArrayAttr(Attribute):
    def __iter__(self) -> Iterator[Attribute]: ...
    @staticmethod
    def get(attributes: Sequence[Attribute]) -> ArrayAttr: ...

class DictAttr(Attribute):
    def __getitem__(self, name: str) -> Attribute: ...
    @staticmethod
    def get(value: Mapping[str, Attribute]) -> DictAttr: ...

class FlatSymbolRefAttr(Attribute):
    @staticmethod
    def get(name: str) -> FlatSymbolRefAttr: ...

class TypeAttr(Attribute):
    value: FunctionType

class DenseI64ArrayAttr(Attribute):
    @staticmethod
    def get(values: Sequence[int]) -> DenseI64ArrayAttr: ...

class DenseBoolArrayAttr(Attribute):
    @staticmethod
    def get(values: Sequence[bool]) -> DenseBoolArrayAttr: ...

class DenseElementsAttr(Attribute):
    type: Type
    is_splat: bool

    @classmethod
    def get(
        cls, array: np.ndarray[Any, Any], *, type: Type | None = None,
        shape: Sequence[int] | None = None,
    ) -> Self: ...  # fmt: skip
    @staticmethod
    def get_splat(type: Type, element: Attribute) -> DenseElementsAttr: ...
    def get_splat_value(self) -> FloatAttr: ...

class DenseIntElementsAttr(DenseElementsAttr): ...
class DenseFPElementsAttr(DenseElementsAttr): ...

# Operations

class Value:
    type: Type

    @property
    def owner(self) -> OpView | Block: ...
    def replace_all_uses_with(self, other: Value) -> None: ...

class BlockArgument(Value):
    arg_number: int

    def __init__(self, value: Value) -> None: ...

class Region:
    blocks: BlockList

class BlockList(Sequence["Block"]):
    def append(self, *types: Type) -> Block: ...

class Block:
    operations: Iterable[OpView]
    arguments: list[Value]
    owner: OpView

class OpView:
    name: str
    operation: Operation
    operands: list[Value]
    results: list[Value]
    attributes: dict[str, Any]

    def erase(self) -> None: ...

class Operation:
    name: str
    operands: list[Value]
    results: list[Value]
    regions: list[Region]
    attributes: dict[str, Any]

    @staticmethod
    def create(
        name: str, results: Sequence[Type] = (), operands: Sequence[Value] = (),
        attributes: Mapping[str, Attribute] | None = None, successors: None = None,
        regions: int = 0, loc: Location | None = None,
    ) -> Operation: ...  # fmt: skip
    def write_bytecode(self, file: object) -> None: ...
    def verify(self) -> bool: ...
    def get_asm(self, *, enable_debug_info: bool = False) -> str: ...
    def walk(self, visit: Callable[[OpView], WalkResult]) -> None: ...
    def clone(self, ip: InsertionPoint) -> OpView: ...

class WalkResult:
    ADVANCE: WalkResult

class SymbolTable:
    @staticmethod
    def replace_all_symbol_uses(old: str, new: str, from_op: Operation) -> None: ...
    @staticmethod
    def set_symbol_name(symbol: Operation, name: str) -> None: ...
    @staticmethod
    def set_visibility(symbol: Operation, visibility: str) -> None: ...

class Module:
    body: Block
    operation: Operation

    @staticmethod
    def create() -> Module: ...

class FuncOp:
    sym_name: StringAttr
    function_type: TypeAttr
    arg_attrs: ArrayAttr
    result_attrs: ArrayAttr

    def __init__(self, name: str, type: FunctionType, visibility: str) -> None: ...
    def add_entry_block(self) -> Block: ...

# StableHLO

class StablehloCompatibilityRequirement:
    WEEK_12: StablehloCompatibilityRequirement

def get_version_from_compatibility_requirement(
    requirement: StablehloCompatibilityRequirement,
) -> str: ...
def deserialize_portable_artifact(context: Context, artifact: bytes) -> Module: ...

class _Named(Attribute):
    @classmethod
    def get(cls, value: str) -> Self: ...

class ComparisonTypeAttr(_Named): ...
class ComparisonDirectionAttr(_Named): ...
class PrecisionAttr(_Named): ...
class FftTypeAttr(_Named): ...

class _Numbers(Attribute):
    @classmethod
    def get(cls, **numbers: int | list[int]) -> Self: ...

class DotDimensionNumbers(_Numbers): ...
class GatherDimensionNumbers(_Numbers): ...
class ScatterDimensionNumbers(_Numbers): ...
class ConvDimensionNumbers(_Numbers): ...

class ChannelHandle(Attribute):
    @staticmethod
    def get(handle: int, type: int) -> ChannelHandle: ...

def convolution(
    result: Type, lhs: Value, rhs: Value, *, dimension_numbers: Attribute,
    feature_group_count: int, batch_group_count: int, window_strides: Attribute,
    padding: Attribute, lhs_dilation: Attribute, rhs_dilation: Attribute,
    window_reversal: Attribute, precision_config: Attribute, loc: Location,
) -> Value: ...  # fmt: skip

# Shardy

class MeshAxisAttr(Attribute):
    name: str
    size: int

    @staticmethod
    def get(name: str, size: int) -> MeshAxisAttr: ...

class MeshAttr(Attribute):
    axes: list[Attribute]
    device_ids: list[int]

    @staticmethod
    def get(axes: Sequence[Attribute], device_ids: Sequence[int]) -> MeshAttr: ...

class AxisRefAttr(Attribute):
    name: str
    sub_axis_info: Attribute | None

    @staticmethod
    def get(name: str) -> AxisRefAttr: ...

class DimensionShardingAttr(Attribute):
    axes: list[Attribute]
    is_closed: bool
    priority: int | None

    @staticmethod
    def get(
        axes: Sequence[AxisRefAttr], is_closed: bool, priority: int | None = None
    ) -> DimensionShardingAttr: ...

class TensorShardingAttr(Attribute):
    mesh_or_ref: Any
    dimension_shardings: list[Attribute]
    replicated_axes: list[Attribute]
    unreduced_axes: list[Attribute]

    @staticmethod
    def get(
        mesh: str | MeshAttr, dimensions: Sequence[Attribute],
        replicated_axes: Sequence[AxisRefAttr] = (), unreduced_axes: Sequence[AxisRefAttr] = (),
    ) -> TensorShardingAttr: ...  # fmt: skip

class TensorShardingPerValueAttr(Attribute):
    shardings: list[Attribute]

    @staticmethod
    def get(shardings: Sequence[Attribute]) -> TensorShardingPerValueAttr: ...

class ManualAxesAttr(Attribute):
    def __iter__(self) -> Iterator[str]: ...
    @staticmethod
    def get(axes: Iterable[StringAttr]) -> ManualAxesAttr: ...

def mesh(name: str, mesh: MeshAttr, loc: Location) -> OpView: ...
