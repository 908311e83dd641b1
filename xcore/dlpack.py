"""Exchange of arrays with other libraries by DLPack."""

from .numpy import from_dlpack

__all__ = ["from_dlpack"]
