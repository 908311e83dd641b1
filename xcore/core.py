"""The classes behind traced values: names as in ``jax.core``."""

from ._core.trace import Tracer  # noqa: F401
from ._core.types import ArrayType as ShapedArray  # noqa: F401
from ._core.types import typeof as get_aval  # noqa: F401
