"""Small libraries of neural networks and optimizers, under the names that older JAX tutorials use.

For new code see ``xcore.nn`` and ``xcore.optimize``, which have more and check more.
"""

from . import optimizers, stax

__all__ = ["optimizers", "stax"]
