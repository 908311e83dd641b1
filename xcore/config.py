from ._core import config as _config
from ._core.config import (
    __getattr__,  # noqa: F401  # settings as attributes: config.debug_nans
    base,  # noqa: F401
    context,  # noqa: F401
    override,
    read,
    settings,  # noqa: F401
    update,
)

__doc__ = _config.__doc__
__all__ = ["override", "read", "update"]
