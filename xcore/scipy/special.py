"""``scipy.special``: see xcore.special."""

from ..special import *  # noqa: F403
from ..special import __all__  # noqa: F401
from ._names import guide as _guide

_ABSENT = {
    "jv jve":
        "Of whole order there are jn, j0 and j1; on the host SciPy's own takes any: from scipy.special import jv.",
    "yv yve":
        "Of whole order there are yn, y0 and y1; on the host SciPy's own takes any: from scipy.special import yv.",
    "kv kve":
        "Of whole order there are kn, k0 and k1; on the host SciPy's own takes any: from scipy.special import kv.",
    "iv ive": "There are i0, i1, i0e and i1e; on the host SciPy's own takes any order: from scipy.special import iv.",
    "sph_harm": "SciPy's name is sph_harm_y.",
}  # fmt: skip
__getattr__ = _guide(__name__, _ABSENT)
