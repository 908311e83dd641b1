"""Traced values and programs, for programs that inspect traces: names as in ``jax.core``."""

from ._core.op import Op as Primitive  # noqa: F401
from ._core.pprint import subprograms as jaxprs_in_params  # noqa: F401
from ._core.program import Eqn as JaxprEqn  # noqa: F401
from ._core.program import Literal, Var, eval_jaxpr, jaxpr_as_fun  # noqa: F401
from ._core.program import Program as ClosedJaxpr  # noqa: F401
from ._core.program import Program as Jaxpr  # noqa: F401
from ._core.trace import Tracer  # noqa: F401
from ._core.types import ArrayType as ShapedArray  # noqa: F401
from ._core.types import typeof as get_aval  # noqa: F401
