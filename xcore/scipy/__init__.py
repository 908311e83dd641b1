"""SciPy's names, as in ``jax.scipy``: whoever comes from there changes only the import.

>>> from xcore.scipy.special import gammaln
>>> gammaln(3.0)
Array(0.69315, dtype=float32, weak_type=True)

Each module is a face of a package of xcore; a further one is a file beside this and a name here. Names
of SciPy that are not here say so when they are imported, and what to do instead.
"""

import sys as _sys
import typing as _typing

from ._names import NoModule as _NoModule
from ._names import guide as _guide

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
        spatial,
        special,
        stats,
    )

__all__ = [
    "cluster", "fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse",
    "spatial", "special", "stats",
]  # fmt: skip
_ABSENT = {
    "constants": "They are plain numbers: from scipy import constants.",
    "io": "It reads files on the host: from scipy import io. Arrays are saved by xcore.numpy.save, xcore.checkpoint.",
    "odr":
        "See xcore.optimize.least_squares, with the errors of x among the unknowns; or, on the host, from scipy "
        "import odr.",
    "datasets differentiate misc": "It works on the host: import it from scipy. Derivatives are those of xcore.grad.",
}  # fmt: skip
if not _typing.TYPE_CHECKING:
    __getattr__ = _guide(__name__, _ABSENT, modules=__all__)
_sys.meta_path.append(_NoModule(__name__))


def __dir__():
    return sorted({*globals(), *__all__})
