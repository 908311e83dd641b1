"""``scipy.special``: see xcore.special."""

from ..special import *  # noqa: F403
from ..special import __all__  # noqa: F401
