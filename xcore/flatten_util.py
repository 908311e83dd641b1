"""Trees of arrays as vectors, under the names of ``jax.flatten_util``."""

from .numpy._tree import Unravel, ravel_pytree  # noqa: F401
