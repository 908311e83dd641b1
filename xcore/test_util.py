"""The name under which JAX has its numeric checks of derivatives; see ``xcore.testing`` for all."""

from .testing import check_grads, check_jvp, check_vjp

__all__ = ["check_grads", "check_jvp", "check_vjp"]
