"""Saving and restoring pytrees of arrays.

The module can also be called: ``xcore.checkpoint(f)`` recomputes instead of storing, as
``jax.checkpoint`` does (see ``xcore.remat``, its other name).
"""

import sys
import types

from ._control.checkpoint import remat
from ._control.saving import (  # noqa: F401
    Checkpointer,
    read_metadata,
    restore,
    save,
    structure,
)
from ._core.exceptions import CheckpointError  # noqa: F401


class _Module(types.ModuleType):
    """A module that is also the function of the same name."""

    def __call__(self, *args, **kwargs):
        return remat(*args, **kwargs)


sys.modules[__name__].__class__ = _Module
