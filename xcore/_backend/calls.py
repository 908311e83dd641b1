"""Calls that leave XLA, or that XLA writes itself: the part of a Builder that is about custom calls."""

from __future__ import annotations

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo as hlo

from . import ffi, partitioned


class Calls:
    """Methods of Builder."""

    def routine(self, name: str, dtype, operands, results, **settings) -> list:
        """A routine of LAPACK or its twin on a GPU, by LAPACK's name; see the tables in ffi."""
        return ffi.factor_call(self, name, dtype, operands, results, **settings)

    def xla_call(self, target: str, operands, results, config: str = "") -> list:
        """A custom call that XLA itself turns into loops (its "Qr", "Eigh", …)."""
        return list(self.op(
            "stablehlo.custom_call", results, operands, call_target_name=self.text(target),
            api_version=self.integer(1, 32), backend_config=self.text(config),
            has_side_effect=self.flag(False),
        ))  # fmt: skip

    def callback(
        self, function, operands, results, ordered_token=None, side_effect: bool = True, row_major: bool = False,
    ):  # fmt: skip
        """Call a Python function of NumPy arrays. Returns (results, token)."""
        if self.platform == "tpu":
            raise ffi.NotHere(
                "xcore: programs for a TPU cannot call Python functions (callbacks, debug.print, progress bars). "
                "Return the values, or choose by platform: xcore.lax.platform_dependent."
            )
        index = len(self.callbacks)
        self.callbacks.append(function)
        target = f"xla_ffi_python_{'cpu' if self.platform == 'cpu' else 'gpu'}_callback"
        if ordered_token is not None:
            operands, results = [ordered_token, *operands], [hlo.TokenType.get(), *results]
        where = self._on_first_device(results)
        if row_major:
            where["operand_layouts"] = self._row_major([x.type for x in operands])
            where["result_layouts"] = self._row_major(results)
        outs = list(self.op(
            "stablehlo.custom_call", results, operands, call_target_name=self.text(target),
            api_version=self.integer(4, 32), has_side_effect=self.flag(side_effect),
            backend_config=self.parse(f"{{index = {index} : ui64}}"), **where,
        ))  # fmt: skip
        return (outs[1:], outs[0]) if ordered_token is not None else (outs, None)

    def host_kernel(self, call, operands, results) -> list:
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

    def _row_major(self, types):
        """Layouts in which the last axis varies fastest: without them XLA may choose others."""
        return ir.ArrayAttr.get([
            ir.DenseIntElementsAttr.get(
                np.arange(t.rank)[::-1].copy(), type=ir.IndexType.get(), shape=[t.rank]
            )
            for t in map(ir.RankedTensorType, types)
        ])  # fmt: skip

    def fft_of_rows(self, x, result, kind: str, lengths, dtypes):
        """The same on several devices, for arrays with axes in front of the transformed ones."""
        partitioned.ensure(type(self))
        shape_in, shape_out = tuple(x.type.shape), tuple(result.shape)
        rule = ffi.batch_rule([shape_in], [shape_out], len(shape_in) - len(lengths))
        attributes = {"sdy.sharding_rule": self.parse(rule)}
        return self.one(
            "stablehlo.custom_call", result, [x], call_target_name=self.text(partitioned.TARGET),
            api_version=self.integer(2, 32), has_side_effect=self.flag(False),
            backend_config=self.text(partitioned.describe(kind, lengths, *dtypes)), **attributes,
        )  # fmt: skip
