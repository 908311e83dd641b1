"""The stages of compiling ahead of time: traced, lowered, compiled.

>>> import xcore as xc
>>> traced = xc.jit(lambda x: x + 1).trace(1.0)
>>> isinstance(traced.lower(), xc.stages.Lowered)
True
"""

from ._control.ahead import Compiled, Lowered, Traced, Wrapped

__all__ = ["Compiled", "Lowered", "Traced", "Wrapped"]
