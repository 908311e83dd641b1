"""The name under which JAX introduced shard_map."""

from .._control.mapped import shard_map

__all__ = ["shard_map"]
