"""Trees of arrays as vectors, under the names of ``jax.flatten_util``."""

from .numpy._tree import Unravel, ravel_pytree

__all__ = ["ravel_pytree", "Unravel"]
