"""What programs are written as for platforms that lack something: loaded where one is lowered for them."""

from __future__ import annotations

import importlib
from typing import Any

from .._core import Program, dtypes
from .._core.op import rewriting

WIDE = (dtypes.float64, dtypes.complex128)


def _for_tpu(p: Program) -> Program:
    return importlib.import_module("xcore._control.pair_rules").in_pairs(p)


def without_wide_tables(variant: Any) -> Any:
    """A variant of a jitted function whose captured float64 stand in the program."""
    if not variant.pure():
        return variant
    with_tables = importlib.import_module("xcore._control.in_pairs").with_tables
    return variant.with_program(*with_tables(variant.program, variant.captured))


rewriting["tpu"] = _for_tpu
