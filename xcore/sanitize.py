"""One switch that finds what is silent by default: ``xc.config.update("sanitize", True)``.

Also ``XCORE_SANITIZE=1`` in the environment, and ``python -m xcore sanitize script.py``. What is found,
and how to say that something is meant to be so, stands in docs/sanitize.md.
"""

from ._core.errors import SanitizeError, SanitizeOverflowError, SanitizeWarning
from ._core.findings import allow

__all__ = ["allow", "SanitizeError", "SanitizeOverflowError", "SanitizeWarning"]
