"""Saving and restoring pytrees of arrays.

The module can also be called: ``xcore.checkpoint(f)`` recomputes instead of storing, as
``jax.checkpoint`` does (see ``xcore.remat``, its other name).
"""

import sys
import types
from typing import TYPE_CHECKING

from ._control.checkpoint import remat
from ._control.saving import (
    NODES,
    Checkpointer,
    read_metadata,
    restore,
    save,
    structure,
)
from ._core.exceptions import CheckpointError

__all__ = [
    "Checkpointer", "CheckpointError", "read_metadata", "restore", "save", "structure",
]  # fmt: skip


def _key(keys, parts):
    random = sys.modules["xcore"].random  # loaded where a checkpoint has keys, not before
    return random.wrap_key_data(parts[0], impl=keys[0])


NODES["KeyArray"] = _key


class _Module(types.ModuleType):
    """A module that is also the function of the same name."""

    if TYPE_CHECKING:

        @property
        def __call__(self):  # with both of its signatures
            return remat

        Checkpointer, CheckpointError = Checkpointer, CheckpointError
        save, restore = staticmethod(save), staticmethod(restore)
        structure, read_metadata = staticmethod(structure), staticmethod(read_metadata)
    else:
        __call__ = staticmethod(remat)


sys.modules[__name__].__class__ = _Module
