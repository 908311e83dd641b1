"""scipy.sparse: its module ``linalg``, for operators given by what they do to a vector."""

from . import linalg

__all__ = ["linalg"]
