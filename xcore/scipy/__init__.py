"""SciPy's names, as in ``jax.scipy``: whoever comes from there changes only the import.

>>> from xcore.scipy.special import gammaln
>>> gammaln(3.0)
Array(0.69315, dtype=float32, weak_type=True)

Each module is a face of a package of xcore; a further one is a file beside this and a name here.
"""

import importlib as _importlib
import typing as _typing

if _typing.TYPE_CHECKING:  # what is loaded on first use
    from . import (
        cluster,
        fft,
        integrate,
        interpolate,
        linalg,
        ndimage,
        optimize,
        signal,
        sparse,
        special,
        stats,
    )

__all__ = [
    "cluster", "fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse",
    "special", "stats",
]  # fmt: skip

if not _typing.TYPE_CHECKING:

    def __getattr__(name: str):
        if name in __all__:
            return _importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module 'xcore.scipy' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})
