"""``scipy.fft``: see xcore.fft."""

from ..fft import *  # noqa: F403
from ..fft import __all__  # noqa: F401
