"""Rules for vmap, under the names of ``jax.custom_batching``."""

from ._control.custom_batch import custom_vmap, sequential_vmap

__all__ = ["custom_vmap", "sequential_vmap"]
