"""``scipy.fft``: see xcore.fft."""

from ..fft import *  # noqa: F403
from ..fft import __all__  # noqa: F401
from ._names import guide as _guide

__getattr__ = _guide(__name__)
