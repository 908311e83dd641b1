"""Recomputation in the backward pass, under the names of ``jax.ad_checkpoint``."""

from ._control.checkpoint import (
    checkpoint,
    checkpoint_name,
    checkpoint_policies,
    print_saved_residuals,
    remat,
)

__all__ = [
    "checkpoint", "checkpoint_name", "checkpoint_policies", "print_saved_residuals", "remat",
]  # fmt: skip
