"""Recomputation in the backward pass, under the names of ``jax.ad_checkpoint``."""

from ._control.checkpoint import (  # noqa: F401
    checkpoint,
    checkpoint_name,
    checkpoint_policies,
    print_saved_residuals,
    remat,
)
