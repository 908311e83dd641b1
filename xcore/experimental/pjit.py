"""The name under which JAX had ``jit`` with shardings of arguments and results.

>>> import xcore as xc
>>> from xcore.experimental.pjit import pjit
>>> here = xc.NamedSharding(xc.make_mesh((1,), "x"), xc.P("x"))
>>> pjit(lambda x: 2 * x, in_shardings=here, out_shardings=here)(xc.numpy.arange(2.0))
Array([0., 2.], dtype=float32)
"""

from .._control import jit as pjit
from .._control.sharding import with_sharding_constraint
from .._core import NamedSharding

__all__ = ["NamedSharding", "pjit", "with_sharding_constraint"]
