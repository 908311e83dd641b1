"""Building StableHLO. One Builder writes one module; lowering rules call its methods.

Operations are created by name with their result types given (programs know them): that is less
than half the cost of the typed builders, which infer types again.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from . import mlir as func
    from . import mlir as hlo
    from . import mlir as ir
else:
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import func
    from jaxlib.mlir.dialects import stablehlo as hlo

from . import context, ffi, provenance, quirks
from .artifacts import Artifacts
from .calls import Calls
from .client import VERSION
from .partitions import Partitions

if TYPE_CHECKING:
    from .mlir import Value
    from .surface import HasType

    Values = Sequence[Value]
    Types = Sequence[ir.Type]

    Ints = Sequence[int]
    Pairs = Sequence[Sequence[int]]
    DType = str | np.dtype[Any] | type
    Body = Callable[..., Iterable[Value]]
    Combine = Callable[[Value, Value], Value]
    Axes = Sequence[Sequence[str] | None]  # for each array axis the mesh axes that split it


def _listing(combine: Combine) -> Body:
    """The body of a region that combines two values."""

    def body(a: Value, b: Value) -> list[Value]:
        return [combine(a, b)]

    return body


_TF32 = (
    "#stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, "
    "lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = {}, "
    "allow_imprecise_accumulation = false>"
)


class Builder(Calls, Artifacts, Partitions):
    """Writes the operations of one module. The names of its methods are StableHLO's."""

    factors = staticmethod(provenance.factors)
    has_term = staticmethod(provenance.has_term)
    may_be_multiple = staticmethod(provenance.may_be_multiple)
    may_be_quotient = staticmethod(provenance.may_be_quotient)
    may_be_known = staticmethod(provenance.may_be_known)
    has_reciprocal = staticmethod(provenance.has_reciprocal)
    may_repeat = staticmethod(provenance.may_repeat)
    may_overlap = staticmethod(provenance.may_overlap)
    in_main = staticmethod(provenance.in_main)
    number = staticmethod(provenance.number)
    reassociates = quirks.REASSOCIATES.is_here()
    log1p_is_inaccurate = quirks.LOG1P_INACCURATE.is_here()

    def __init__(self, platform: str, partitions: int = 1) -> None:
        self.platform = platform
        self._entry = context.take()
        self._context = self._entry[0]
        self._context.__enter__()
        self.location = ir.Location.unknown()
        self.location.__enter__()
        self._unknown = self.location
        self.module = ir.Module.create()
        self.module.operation.attributes["sym_name"] = ir.StringAttr.get("xcore")
        self.module.operation.attributes["mhlo.num_partitions"] = ir.IntegerAttr.get(
            ir.IntegerType.get_signless(32), partitions
        )
        self._types: dict[HasType, ir.Type] = {}
        self._elements: dict[np.dtype[Any], ir.Type] = {}
        self._locations: dict[Hashable, ir.Location] = {}
        self.callbacks: list[Callable[..., Any]] = []
        self.functions: dict[Hashable, func.FuncOp] = {}
        self.partitions, self._channels = partitions, 0
        self.waiting = 2  # calls that may wait for threads of the pool they run in: one alone may
        self.manual: Any = None  # what shard_map says of the part of the module being written

    @property
    def is_local(self) -> bool:
        """Whether values here are arrays of one device, so that code of one device can work on them."""
        return self.partitions == 1

    def close(self) -> None:
        self._unknown.__exit__(None, None, None)
        self._context.__exit__(None, None, None)
        del self.module
        context.give_back(self._entry)

    # Types, places, attributes

    def element(self, dtype: np.dtype[Any]) -> ir.Type:
        found = self._elements.get(dtype)
        if found is None:
            if self.platform == "tpu" and dtype.name in ("float64", "complex128"):
                raise ffi.NotHere(
                    f"xcore: a TPU has no {dtype.name}, and XLA's compiler for it ends the process at some of its "
                    "operations. Use float32 and complex64: x.astype(xnp.float32); xc.config.default_bits is 32."
                )
            found = self._elements[dtype] = context.ELEMENTS[dtype.name]()
        return found

    def type(self, t: HasType) -> ir.Type:
        """The MLIR type of anything with shape and dtype that hashes by identity."""
        found = self._types.get(t)
        if found is None:
            found = self._types[t] = ir.RankedTensorType.get(t.shape, self.element(t.dtype))
        return found

    @staticmethod
    def real_type_of(value: Value) -> ir.Type:
        """The MLIR type of the parts of a complex value."""
        t = ir.RankedTensorType(value.type)
        return ir.RankedTensorType.get(t.shape, ir.ComplexType(t.element_type).element_type)

    def tensor(self, shape: Ints, dtype: DType) -> ir.RankedTensorType:
        return ir.RankedTensorType.get(shape, self.element(np.dtype(dtype)))

    def number_for(self, t: ir.Type) -> ir.Type:
        """An integer's type in the place of a boolean's that is alone; any other as it is."""
        if not isinstance(t, ir.RankedTensorType) or t.element_type != self.element(np.dtype(bool)):
            return t
        return self.tensor(t.shape, np.dtype(np.int32)) if math.prod(t.shape) == 1 else t

    def tensor_of(self, shape: Ints, element: str) -> ir.RankedTensorType:
        """The same with an element as MLIR writes it."""
        return ir.RankedTensorType.get(shape, ir.Type.parse(element))

    def at(self, key: Hashable, place: tuple[str, int, str] | None) -> None:
        """Following operations come from this (file, line, function); ``key`` caches."""
        found = self._locations.get(key)
        if found is None:
            if place is None:
                found = self._unknown
            else:
                found = ir.Location.name(place[2], childLoc=ir.Location.file(place[0], place[1], 0))
            self._locations[key] = found
        self.location = found

    def known_location(self, key: Hashable) -> bool:
        """Move to a location seen before; False if it is new."""
        found = self._locations.get(key)
        if found is None:
            return False
        self.location = found
        return True

    @staticmethod
    def i64s(values: Iterable[int]) -> ir.Attribute:
        return ir.DenseI64ArrayAttr.get(list(values))

    @staticmethod
    def integer(value: int, bits: int = 64) -> ir.IntegerAttr:
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(bits), value)

    @staticmethod
    def text(value: str) -> ir.StringAttr:
        return ir.StringAttr.get(value)

    @staticmethod
    def flag(value: bool) -> ir.BoolAttr:
        return ir.BoolAttr.get(value)

    def parse(self, text: str) -> ir.Attribute:
        """An attribute from its textual form."""
        return ir.Attribute.parse(text)

    # Operations

    def op(
        self, name: str, results: Types, operands: Values, **attributes: ir.Attribute
    ) -> Sequence[Value]:
        """One operation; a list of its results. ``results`` are MLIR types."""
        return ir.Operation.create(
            name, results, operands, attributes or None, None, 0, self.location
        ).results

    def one(
        self, name: str, result: ir.Type, operands: Values, **attributes: ir.Attribute
    ) -> Value:
        return ir.Operation.create(
            name, [result], operands, attributes or None, None, 0, self.location
        ).results[0]

    def constant(self, value: Any, dtype: DType | None = None) -> Value:
        """A constant with the content of a NumPy array."""
        value = np.asarray(value, dtype)
        attribute = context.dense(value, self.element(value.dtype))
        return self.one("stablehlo.constant", attribute.type, (), value=attribute)

    def scalar(self, value: complex, like: Value) -> Value:
        """A scalar constant with the element type of an MLIR value."""
        element = ir.RankedTensorType(like.type).element_type
        return self.one(
            "stablehlo.constant",
            ir.RankedTensorType.get((), element),
            (),
            value=self._splat((), element, value),
        )

    def filled(self, t: ir.RankedTensorType, value: complex) -> Value:
        """A constant of an MLIR type filled with one value."""
        splat = self._splat(t.shape, t.element_type, value)
        return self.one("stablehlo.constant", t, (), value=splat)

    def _splat(self, shape: Ints, element: ir.Type, value: Any) -> ir.DenseElementsAttr:
        if isinstance(element, ir.IntegerType):
            attribute = ir.IntegerAttr.get(element, int(value))
        elif isinstance(element, ir.ComplexType):
            wide = isinstance(element.element_type, ir.F64Type)
            data = np.asarray(value, np.complex128 if wide else np.complex64)
            return ir.DenseElementsAttr.get(data, type=element, shape=shape)
        else:
            attribute = ir.FloatAttr.get(element, float(value))
        return ir.DenseElementsAttr.get_splat(ir.RankedTensorType.get(shape, element), attribute)

    def full(self, t: HasType, value: complex) -> Value:
        """A constant of type ``t`` filled with one value."""
        dtype = t.dtype
        if dtype.kind in "fib" and dtype.itemsize >= 1 and not t.shape == ():
            mlir = self.type(t)
            element = self.element(dtype)
            return self.one(
                "stablehlo.constant", mlir, (), value=self._splat(t.shape, element, value)
            )
        scalar = self.constant(np.asarray(value, dtype))
        return scalar if t.shape == () else self.broadcast_in_dim(scalar, self.type(t), ())

    def broadcast_in_dim(self, x: Value, result: ir.Type, dims: Ints) -> Value:
        return self.one(
            "stablehlo.broadcast_in_dim", result, [x], broadcast_dimensions=self.i64s(dims)
        )

    def reshape(self, x: Value, result: ir.Type) -> Value:
        return self.one("stablehlo.reshape", result, [x])

    def transpose(self, x: Value, result: ir.Type, perm: Ints) -> Value:
        return self.one("stablehlo.transpose", result, [x], permutation=self.i64s(perm))

    def source_of_transpose(self, x: Value) -> Value | None:
        """The matrix whose transpose a value is, if the module says so; else None."""
        made = x.owner
        if isinstance(made, ir.Block) or made.name != "stablehlo.transpose":
            return None
        return made.operands[0] if list(made.attributes["permutation"]) == [1, 0] else None

    def convert(self, x: Value, result: ir.Type) -> Value:
        return self.one("stablehlo.convert", result, [x])

    def slice(self, x: Value, result: ir.Type, start: Ints, limit: Ints, strides: Ints) -> Value:
        return self.one(
            "stablehlo.slice", result, [x],
            start_indices=self.i64s(start), limit_indices=self.i64s(limit), strides=self.i64s(strides),
        )  # fmt: skip

    def pad(
        self, x: Value, value: Value, result: ir.Type, low: Ints, high: Ints, interior: Ints
    ) -> Value:
        return self.one(
            "stablehlo.pad", result, [x, value],
            edge_padding_low=self.i64s(low), edge_padding_high=self.i64s(high),
            interior_padding=self.i64s(interior),
        )  # fmt: skip

    def dynamic_slice(self, x: Value, starts: Values, result: ir.Type, sizes: Ints) -> Value:
        return self.one(
            "stablehlo.dynamic_slice", result, [x, *starts], slice_sizes=self.i64s(sizes)
        )

    def dynamic_update_slice(self, x: Value, update: Value, starts: Values) -> Value:
        return self.one("stablehlo.dynamic_update_slice", x.type, [x, update, *starts])

    def iota(self, result: ir.Type, dimension: int) -> Value:
        return self.one("stablehlo.iota", result, (), iota_dimension=self.integer(dimension))

    def concatenate(self, xs: Values, result: ir.Type, dimension: int) -> Value:
        return self.one(
            "stablehlo.concatenate", result, list(xs), dimension=self.integer(dimension)
        )

    def compare(
        self, x: Value, y: Value, result: ir.Type, direction: str, total_order: bool = False
    ) -> Value:
        kind = {"compare_type": hlo.ComparisonTypeAttr.get("TOTALORDER")} if total_order else {}
        return self.one(
            "stablehlo.compare", result, [x, y],
            comparison_direction=hlo.ComparisonDirectionAttr.get(direction), **kind,
        )  # fmt: skip

    def select(self, which: Value, x: Value, y: Value) -> Value:
        return self.one("stablehlo.select", x.type, [which, x, y])

    def dot_general(
        self, x: Value, y: Value, result: ir.Type, contract: tuple[Ints, Ints],
        batch: tuple[Ints, Ints], precision: str, tf32: int | None = None,
    ) -> Value:  # fmt: skip
        """``tf32``: of so many products of numbers with 11 bits, which GPUs have units for."""
        numbers = hlo.DotDimensionNumbers.get(
            lhs_batching_dimensions=list(batch[0]), rhs_batching_dimensions=list(batch[1]),
            lhs_contracting_dimensions=list(contract[0]), rhs_contracting_dimensions=list(contract[1]),
        )  # fmt: skip
        config = ir.ArrayAttr.get([hlo.PrecisionAttr.get(precision)] * 2)
        more: dict[str, ir.Attribute] = {}
        if tf32:
            more["algorithm"] = ir.Attribute.parse(_TF32.format(tf32))
            config = ir.ArrayAttr.get([hlo.PrecisionAttr.get("DEFAULT")] * 2)
        return self.one(
            "stablehlo.dot_general",
            result,
            [x, y],
            dot_dimension_numbers=numbers,
            precision_config=config,
            **more,
        )

    def region(self, region: ir.Region, types: Types, body: Body) -> None:
        """Fill a region: ``body(*arguments) -> values`` in a block with arguments of these types."""
        block = region.blocks.append(*types)
        with ir.InsertionPoint(block):
            values = body(*block.arguments)
            ir.Operation.create("stablehlo.return", [], list(values), None, None, 0, self.location)

    def with_region(
        self, name: str, results: Types, operands: Values, region_types: Types, body: Body,
        **attributes: ir.Attribute,
    ) -> list[Value]:  # fmt: skip
        """An operation with one region whose block arguments have these types."""
        op = ir.Operation.create(
            name, results, operands, attributes or None, None, 1, self.location
        )
        self.region(op.regions[0], region_types, body)
        return list(op.results)

    def _scalar_types(self, values: Values) -> list[ir.Type]:
        return [
            ir.RankedTensorType.get((), ir.RankedTensorType(v.type).element_type) for v in values
        ]

    def reduce(
        self, xs: Values, inits: Values, results: Types, dims: Ints, body: Body
    ) -> list[Value]:
        """Reduce several arrays together; ``body(*accumulators, *elements)`` returns the new ones."""
        types = self._scalar_types(xs)
        return self.with_region(
            "stablehlo.reduce",
            results,
            [*xs, *inits],
            types + types,
            body,
            dimensions=self.i64s(dims),
        )

    def _combiner(self, name: str) -> Body:
        return _listing(lambda a, b: self.one(name, a.type, [a, b]))

    def reduce_with(self, name: str, x: Value, init: Value, result: ir.Type, dims: Ints) -> Value:
        """Reduce by one binary operation, such as "stablehlo.add"."""
        return self.reduce([x], [init], [result], dims, self._combiner(name))[0]

    def reduce_window(
        self, name: str, x: Value, init: Value, result: ir.Type, window: Ints, strides: Ints,
        padding: Pairs, base: Ints | None = None, dilation: Ints | None = None,
    ) -> Value:  # fmt: skip
        ones = [1] * len(window)
        return self.with_region(
            "stablehlo.reduce_window", [result], [x, init], self._scalar_types([x, x]),
            self._combiner(name),
            window_dimensions=self.i64s(window), window_strides=self.i64s(strides),
            base_dilations=self.i64s(base or ones), window_dilations=self.i64s(dilation or ones),
            padding=self._pairs(padding),
        )[0]  # fmt: skip

    @staticmethod
    def _pairs(padding: Pairs) -> ir.Attribute:
        return ir.DenseIntElementsAttr.get(np.asarray(padding, np.int64).reshape(-1, 2))

    def sort(
        self, xs: Values, dimension: int, less: Callable[..., Value], stable: bool = True
    ) -> list[Value]:
        """Sort arrays together; ``less(a0, b0, a1, b1, …)`` compares two positions."""
        scalars = self._scalar_types(xs)
        types = [t for s in scalars for t in (s, s)]
        return self.with_region(
            "stablehlo.sort", [x.type for x in xs], list(xs), types, lambda *ab: [less(*ab)],
            dimension=self.integer(dimension), is_stable=self.flag(stable),
        )  # fmt: skip

    def while_(self, inits: Values, cond: Callable[..., Value], body: Body) -> list[Value]:
        """Loop on a list of values. ``cond`` returns one predicate, ``body`` the next values."""
        types = [x.type for x in inits]
        op = ir.Operation.create(
            "stablehlo.while", types, list(inits), None, None, 2, self.location
        )
        self.region(op.regions[0], types, lambda *xs: [cond(*xs)])
        self.region(op.regions[1], types, body)
        return list(op.results)

    def case(
        self, index: Value, results: Types, branches: Sequence[Callable[[], Iterable[Value]]]
    ) -> list[Value]:
        """Run the branch of that number; each is a function without arguments returning values."""
        op = ir.Operation.create(
            "stablehlo.case", results, [index], None, None, len(branches), self.location
        )
        for region, branch in zip(op.regions, branches, strict=True):
            self.region(region, [], branch)
        return list(op.results)

    def gather(self, x: Value, indices: Value, result: ir.Type, *, offset: Ints, collapsed: Ints,
               operand_batch: Ints, indices_batch: Ints, start_map: Ints, sizes: Ints,
               sorted_: bool = False) -> Value:  # fmt: skip
        numbers = hlo.GatherDimensionNumbers.get(
            offset_dims=list(offset), collapsed_slice_dims=list(collapsed),
            operand_batching_dims=list(operand_batch), start_indices_batching_dims=list(indices_batch),
            start_index_map=list(start_map), index_vector_dim=ir.RankedTensorType(indices.type).rank - 1,
        )  # fmt: skip
        return self.one(
            "stablehlo.gather", result, [x, indices], dimension_numbers=numbers,
            slice_sizes=self.i64s(sizes), indices_are_sorted=self.flag(sorted_),
        )  # fmt: skip

    def scatter(self, x: Value, indices: Value, updates: Value, combine: Combine, *,
                window: Ints, inserted: Ints, operand_batch: Ints, indices_batch: Ints, to_operand: Ints,
                sorted_: bool = False, unique: bool = False) -> Value:  # fmt: skip
        numbers = hlo.ScatterDimensionNumbers.get(
            update_window_dims=list(window), inserted_window_dims=list(inserted),
            input_batching_dims=list(operand_batch), scatter_indices_batching_dims=list(indices_batch),
            scattered_dims_to_operand_dims=list(to_operand),
            index_vector_dim=ir.RankedTensorType(indices.type).rank - 1,
        )  # fmt: skip
        return self.with_region(
            "stablehlo.scatter", [x.type], [x, indices, updates], self._scalar_types([x, x]),
            _listing(combine), scatter_dimension_numbers=numbers,
            indices_are_sorted=self.flag(sorted_), unique_indices=self.flag(unique),
        )[0]  # fmt: skip

    def convolution(self, x: Value, kernel: Value, result: ir.Type, *, strides: Ints,
                    padding: Pairs, lhs_dilation: Ints, rhs_dilation: Ints,
                    numbers: tuple[Ints, Ints, Ints], groups: int, precision: str) -> Value:  # fmt: skip
        lhs, rhs, out = (
            numbers  # each (batch or output feature, feature or input feature, *spatial)
        )
        dims = hlo.ConvDimensionNumbers.get(
            input_batch_dimension=lhs[0], input_feature_dimension=lhs[1],
            input_spatial_dimensions=list(lhs[2:]), kernel_output_feature_dimension=rhs[0],
            kernel_input_feature_dimension=rhs[1], kernel_spatial_dimensions=list(rhs[2:]),
            output_batch_dimension=out[0], output_feature_dimension=out[1],
            output_spatial_dimensions=list(out[2:]),
        )  # fmt: skip
        return hlo.convolution(
            result, x, kernel, dimension_numbers=dims, feature_group_count=groups,
            batch_group_count=1, window_strides=self.i64s(strides), padding=self._pairs(padding),
            lhs_dilation=self.i64s(lhs_dilation), rhs_dilation=self.i64s(rhs_dilation),
            window_reversal=ir.DenseBoolArrayAttr.get([False] * len(strides)),
            precision_config=ir.ArrayAttr.get([hlo.PrecisionAttr.get(precision)] * 2), loc=self.location,
        )  # fmt: skip

    def fft(self, x: Value, result: ir.Type, kind: str, lengths: Ints) -> Value:
        return self.one(
            "stablehlo.fft",
            result,
            [x],
            fft_type=hlo.FftTypeAttr.get(kind),
            fft_length=self.i64s(lengths),
        )

    def top_k(self, x: Value, k: int, results: Types) -> list[Value]:
        stable = {} if VERSION < 490 else {"is_stable": self.flag(True)}
        return list(self.op("chlo.top_k", results, [x], k=self.integer(k), **stable))

    def token(self) -> Value:
        return self.one("stablehlo.create_token", hlo.TokenType.get(), ())

    # Functions

    def function(self, name: str, in_types: Types, out_types: Types, body: Body, public: bool = False,
                 donors: Collection[int] = (), in_axes: Sequence[Axes | None] | None = None,
                 out_axes: Sequence[Axes | None] | None = None) -> func.FuncOp:  # fmt: skip
        """A function of the module: ``body(*arguments) -> values``.

        Args:
            donors: numbers of arguments whose memory results may take.
            in_axes, out_axes: how arguments and results are spread, None where that is open; see
                ``sharding``.
        """
        with ir.InsertionPoint(self.module.body):
            f = func.FuncOp(
                name,
                ir.FunctionType.get(in_types, out_types),
                visibility="public" if public else "private",
            )
        if donors or in_axes:
            f.arg_attrs = self._marks(in_axes or [None] * len(in_types), donors)
        if out_axes:
            f.result_attrs = self._marks(out_axes)
        block = f.add_entry_block()
        with ir.InsertionPoint(block):
            values = body(*block.arguments)
            ir.Operation.create("func.return", [], list(values), None, None, 0, self._unknown)
        return f

    def _marks(self, axes: Iterable[Axes | None], donors: Collection[int] = ()) -> ir.ArrayAttr:
        """Attributes of arguments or results."""
        marks: list[ir.DictAttr] = []
        for i, a in enumerate(axes):
            mark: dict[str, ir.Attribute] = {} if a is None else {"sdy.sharding": self.sharding(a)}
            if i in donors:
                mark["jax.buffer_donor"] = ir.BoolAttr.get(True)
            marks.append(ir.DictAttr.get(mark))
        return ir.ArrayAttr.get(marks)

    def call(self, f: func.FuncOp, operands: Values, one_kernel: bool = False) -> list[Value]:
        marks = {"xla_cpu_small_call": "true", "inlineable": "false"}
        known = self.platform == "cpu" and one_kernel
        more = {"mhlo.frontend_attributes": self._texts(marks)} if known else {}
        return list(self.op(
            "func.call", list(f.function_type.value.results), operands,
            callee=ir.FlatSymbolRefAttr.get(f.sym_name.value), **more,
        ))  # fmt: skip

    def _texts(self, pairs: dict[str, str]) -> ir.DictAttr:
        return ir.DictAttr.get({k: self.text(v) for k, v in pairs.items()})

    def bytecode(self) -> bytes:
        out = io.BytesIO()
        self.module.operation.write_bytecode(out)
        return out.getvalue()

    def verify(self) -> None:
        self.module.operation.verify()

    def as_text(self, locations: bool = False) -> str:
        return self.module.operation.get_asm(enable_debug_info=locations)
