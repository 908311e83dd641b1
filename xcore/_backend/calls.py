"""Calls that leave XLA, or that XLA writes itself: the part of a Builder that is about custom calls."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

if TYPE_CHECKING:
    from . import mlir as hlo
    from . import mlir as ir
    from .hlo import Builder
    from .mlir import Attribute, RankedTensorType, Value

    Values = Sequence[Value]
    Types = Sequence[ir.Type]
    DType = str | np.dtype[Any]
else:
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo as hlo

from . import batches, ffi, partitioned


class Calls:
    """Methods of Builder."""

    if TYPE_CHECKING:  # what Builder has
        platform: str
        callbacks: list[Callable[..., Any]]
        partitions: int
        waiting: int

        @property
        def is_local(self) -> bool: ...
        def op(
            self, name: str, results: Types, operands: Values, **attributes: Attribute
        ) -> Sequence[Value]: ...
        def one(
            self, name: str, result: ir.Type, operands: Values, **attributes: Attribute
        ) -> Value: ...
        @staticmethod
        def text(value: str) -> Attribute: ...
        @staticmethod
        def flag(value: bool) -> Attribute: ...
        @staticmethod
        def integer(value: int, bits: int = 64) -> Attribute: ...
        def parse(self, text: str) -> Attribute: ...
        def _on_first_device(self, results: Types) -> dict[str, Attribute]: ...

    @staticmethod
    def refuse(why: str) -> NoReturn:
        """Raise: the platform cannot do it. The message says what, and what to do."""
        raise ffi.NotHere(f"xcore: {why}")

    def routine(
        self, name: str, dtype: DType, operands: Values, results: Types, **settings: Any
    ) -> list[Value]:
        """A routine of LAPACK or its twin on a GPU, by LAPACK's name; see the tables in ffi."""
        tensors = cast("Sequence[RankedTensorType]", results)
        call = functools.partial(ffi.factor_call, self, name, dtype, **settings)
        shape = ir.RankedTensorType(operands[-1].type).shape
        if self.platform != "cpu" or (self.partitions == 1 and self.waiting < 2):
            return call(operands, tensors)
        few = batches.piece(name, np.dtype(dtype), shape)
        if few is None:
            return call(operands, tensors)
        if self.is_local:
            return batches.by_pieces(cast("Builder", self), few, operands, tensors, call)
        parts = name, np.dtype(dtype).name, settings
        return self._of_parts(partitioned.ROUTINE, operands, tensors, 2, parts)

    def xla_call(
        self, target: str, operands: Values, results: Types, config: str = ""
    ) -> list[Value]:
        """A custom call that XLA itself turns into loops (its "Qr", "Eigh", …)."""
        return list(self.op(
            "stablehlo.custom_call", results, operands, call_target_name=self.text(target),
            api_version=self.integer(1, 32), backend_config=self.text(config),
            has_side_effect=self.flag(False),
        ))  # fmt: skip

    def callback(
        self, function: Callable[..., Any], operands: Values, results: Types,
        ordered_token: Value | None = None, side_effect: bool = True,
    ) -> tuple[list[Value], Value | None]:  # fmt: skip
        """Call a Python function of NumPy arrays. Returns (results, token)."""
        if self.platform == "tpu":
            raise ffi.NotHere(
                "xcore: programs for a TPU cannot call Python functions (callbacks, debug.print, progress bars). "
                "Return the values, or choose by platform: xcore.lax.platform_dependent."
            )
        index = len(self.callbacks)
        self.callbacks.append(function)
        target = f"xla_ffi_python_{'cpu' if self.platform == 'cpu' else 'gpu'}_callback"
        ordered = ordered_token is not None
        layouts = {
            "operand_layouts": self._row_major([x.type for x in operands], ordered),
            "result_layouts": self._row_major(results, ordered),
        }
        if ordered_token is not None:
            operands, results = [ordered_token, *operands], [hlo.TokenType.get(), *results]
        where = self._on_first_device(results) | layouts
        outs = list(self.op(
            "stablehlo.custom_call", results, operands, call_target_name=self.text(target),
            api_version=self.integer(4, 32), has_side_effect=self.flag(side_effect),
            backend_config=self.parse(f"{{index = {index} : ui64}}"), **where,
        ))  # fmt: skip
        return (outs[1:], outs[0]) if ordered_token is not None else (outs, None)

    def host_kernel(
        self, call: Callable[..., Any], operands: Values, results: Types
    ) -> list[Value]:
        """Call ``call(context, *buffers)``, which writes to the buffers of the results (CPU only)."""
        index = len(self.callbacks)
        self.callbacks.append(call)
        return list(self.op(
            "stablehlo.custom_call", results, operands, api_version=self.integer(4, 32),
            call_target_name=self.text("xla_buffer_python_cpu_callback"),
            has_side_effect=self.flag(False), backend_config=self.parse(f"{{index = {index} : ui64}}"),
            operand_layouts=self._row_major([x.type for x in operands]),
            result_layouts=self._row_major(results),
        ))  # fmt: skip

    def _row_major(self, types: Types, token: bool = False) -> Attribute:
        """Layouts in which the last axis varies fastest, perhaps behind a token: without them XLA may choose
        others, of which the memory is read as if it were these."""
        ranks = [*([0] if token else []), *(ir.RankedTensorType(t).rank for t in types)]
        return ir.ArrayAttr.get([
            ir.DenseIntElementsAttr.get(
                np.arange(rank)[::-1].copy(), type=ir.IndexType.get(), shape=[rank]
            )
            for rank in ranks
        ])  # fmt: skip

    def fft_of_rows(
        self, x: Value, result: RankedTensorType, kind: str, lengths: Sequence[int]
    ) -> Value:
        """The same on several devices, for arrays with axes in front of the transformed ones."""
        call = kind, tuple(lengths)
        return self._of_parts(partitioned.FFT, [x], [result], len(lengths), call)[0]

    def _of_parts(
        self, target: str, operands: Values, results: Sequence[RankedTensorType], rows: int,
        call: Sequence[Any],
    ) -> list[Value]:  # fmt: skip
        """A call that each device answers for its part of all axes but the last ``rows``."""
        partitioned.ensure(cast("type[Builder]", type(self)), target)
        given = [ir.RankedTensorType(x.type) for x in operands]
        shapes_in, shapes_out = ([tuple(t.shape) for t in types] for types in (given, results))
        ins, outs = ([str(t.element_type) for t in types] for types in (given, results))
        rule = ffi.batch_rule(shapes_in, shapes_out, len(shapes_in[0]) - rows)
        return list(self.op(
            "stablehlo.custom_call", results, operands, call_target_name=self.text(target),
            api_version=self.integer(2, 32), has_side_effect=self.flag(False),
            backend_config=self.text(partitioned.described(rows, ins, outs, call)),
            **{"sdy.sharding_rule": self.parse(rule)},
        ))  # fmt: skip
