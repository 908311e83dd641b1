"""Traced values and programs, for programs that inspect traces: names as in ``jax.core``."""

from ._core import Eqn as JaxprEqn
from ._core import Op as Primitive
from ._core import Program as Jaxpr
from ._core import Tracer
from ._core import typeof as get_aval
from ._core.pprint import subprograms as jaxprs_in_params
from ._core.program import Literal, Var, eval_jaxpr, jaxpr_as_fun
from ._core.program import Program as ClosedJaxpr
from ._core.types import ArrayType as ShapedArray

__all__ = [
    "ClosedJaxpr", "eval_jaxpr", "get_aval", "Jaxpr", "jaxpr_as_fun", "JaxprEqn",
    "jaxprs_in_params", "Literal", "Primitive", "ShapedArray", "Tracer", "Var",
]  # fmt: skip
