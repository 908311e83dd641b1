"""``scipy.cluster``."""

from . import vq

__all__ = ["vq"]
