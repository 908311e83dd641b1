"""Names that JAX keeps under ``jax.experimental``."""

from .._control.callback import io_callback, pure_callback
from . import checkify, multihost_utils, shard_map
