"""``scipy.stats``: see xcore.stats."""

from ..stats import *  # noqa: F403
from ..stats import __all__  # noqa: F401
