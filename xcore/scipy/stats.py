"""``scipy.stats``: see xcore.stats."""

from ..stats import *  # noqa: F403
from ..stats import __all__  # noqa: F401
from ._names import guide as _guide

__getattr__ = _guide(__name__)
