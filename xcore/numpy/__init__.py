"""The NumPy API on xcore arrays: ``import xcore.numpy as xnp``."""
# ruff: noqa: I001 (names stand in lines, not one on each)

import importlib as _importlib
import math as _math

import numpy as _np

from . import _operators  # installs operators and methods
from . import fft, linalg
from ._apply import apply_along_axis, apply_over_axes, vectorize
from ._calculus import diff, ediff1d, gradient, interp, trapezoid, unwrap
from ._convolve import convolve, correlate
from ._creation import (
    array, asarray, copy, empty, empty_like, full, full_like, ones, ones_like, zeros, zeros_like,
)  # fmt: skip
from ._cumulative import cumprod, cumsum, cumulative_prod, cumulative_sum
from ._einsum import einsum, einsum_path
from ._dot import (
    cross, diagonal, dot, inner, kron, matmul, matvec, outer, tensordot, trace, vdot, vecdot,
    vecmat,
)  # fmt: skip
from ._elementwise import (
    abs, absolute, add, bitwise_and, bitwise_count, bitwise_invert, bitwise_left_shift, bitwise_not, bitwise_or,
    bitwise_right_shift, bitwise_xor, divide, divmod, equal, fabs, float_power, floor_divide, fmod, greater,
    greater_equal, invert, left_shift, less, less_equal, logical_and, logical_not, logical_or, logical_xor, maximum,
    minimum, mod, multiply, negative, not_equal, positive, pow, power, reciprocal, remainder, right_shift, square,
    subtract, true_divide,
)  # fmt: skip
from ._floats import (
    allclose, array_equal, array_equiv, copysign, fmax, fmin, frexp, isclose, iscomplex, isfinite, isinf, isnan,
    isneginf, isposinf, isreal, ldexp, modf, nan_to_num, nextafter, signbit, spacing,
)  # fmt: skip
from ._functions import (
    acos, acosh, angle, arccos, arccosh, arcsin, arcsinh, arctan, arctan2, arctanh, asin, asinh, atan, atan2, atanh,
    cbrt, conj, conjugate, cos, cosh, deg2rad, degrees, exp, exp2, expm1, heaviside, hypot, i0, imag, log, log1p,
    log2, log10, logaddexp, logaddexp2, rad2deg, radians, real, sign, sin, sinc, sinh, sqrt, tan, tanh,
)  # fmt: skip
from ._grid import (
    c_, diag_indices, diag_indices_from, index_exp, indices, ix_, mask_indices, mgrid, ogrid, r_, ravel_multi_index,
    s_, tril_indices, tril_indices_from, triu_indices, triu_indices_from, unravel_index, vander,
)  # fmt: skip
from ._histogram import bincount, histogram, histogram2d, histogram_bin_edges, histogramdd
from ._info import (
    __array_namespace_info__, array_repr, array_str, can_cast, finfo, get_printoptions, iinfo, iscomplexobj, isdtype,
    isrealobj, isscalar, issubdtype, iterable, ndim, printoptions, promote_types, result_type, set_printoptions,
    shape, size,
)  # fmt: skip
from ._io import (
    from_dlpack, frombuffer, fromfile, fromfunction, fromiter, fromstring, load, packbits, save, savez, unpackbits,
)  # fmt: skip
from ._join import (
    append, array_split, block, column_stack, concat, concatenate, dsplit, dstack, hsplit, hstack, split, stack,
    unstack, vsplit, vstack,
)  # fmt: skip
from ._ranges import arange, geomspace, linspace, logspace, meshgrid
from ._moments import average, mean, std, var
from ._nan import (
    nanargmax, nanargmin, nancumprod, nancumsum, nanmax, nanmean, nanmin, nanprod, nanstd, nansum, nanvar,
)  # fmt: skip
from ._pad import pad
from ._poly import (
    poly, polyadd, polyder, polydiv, polyfit, polyint, polymul, polysub, polyval, roots,
)  # fmt: skip
from ._quantile import median, nanmedian, nanpercentile, nanquantile, percentile, quantile
from ._reduce import all, amax, amin, any, argmax, argmin, count_nonzero, max, min, prod, ptp, sum
from ._rounding import around, ceil, clip, fix, floor, gcd, lcm, rint, round, trunc
from ._select import (
    argwhere, choose, compress, extract, flatnonzero, nonzero, piecewise, place, select, where,
)  # fmt: skip
from ._repeat import flip, fliplr, flipud, repeat, resize, roll, rot90, tile
from ._sets import (
    intersect1d, isin, setdiff1d, setxor1d, union1d, unique, unique_all, unique_counts, unique_inverse, unique_values,
)  # fmt: skip
from ._shape import (
    atleast_1d, atleast_2d, atleast_3d, broadcast_arrays, broadcast_shapes, broadcast_to, expand_dims,
    matrix_transpose, moveaxis, permute_dims, ravel, reshape, rollaxis, squeeze, swapaxes, transpose,
)  # fmt: skip
from ._sort import (
    argpartition, argsort, digitize, lexsort, partition, searchsorted, sort, sort_complex,
)  # fmt: skip
from ._stats import corrcoef, cov
from ._take import (
    delete, fill_diagonal, insert, put, put_along_axis, putmask, take, take_along_axis, trim_zeros,
)  # fmt: skip
from ._triangles import diag, diagflat, eye, identity, tri, tril, triu
from ._types import (
    astype, bfloat16, bool_, cdouble, character, complex64, complex128, complex_, complexfloating, csingle, double,
    dtype, flexible, float4_e2m1fn, float8_e3m4, float8_e4m3, float8_e4m3b11fnuz, float8_e4m3fn, float8_e4m3fnuz,
    float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu, float16, float32, float64, float_, floating, generic, inexact,
    int2, int4, int8, int16, int32, int64, int_, integer, number, object_, signedinteger, single, uint, uint2,
    uint4, uint8, uint16, uint32, uint64, unsignedinteger,
)  # fmt: skip
from ._types import bool_ as bool
from .._core.array import Array as ndarray
from .._core.package import guide as _guide
from ._ufunc import frompyfunc, ufunc
from ._window import bartlett, blackman, hamming, hanning, kaiser

__array_api_version__ = "2024.12"
pi, e, euler_gamma = _math.pi, _math.e, 0.57721566490153286060651209008240243
inf, nan, newaxis = _math.inf, _math.nan, None
ComplexWarning = _np.exceptions.ComplexWarning

# Names that NumPy 2 dropped and older tutorials still use.
_OLD_NAMES = {
    "alltrue": "all", "sometrue": "any", "product": "prod", "cumproduct": "cumprod", "in1d": "isin",
    "row_stack": "vstack", "trapz": "trapezoid", "round_": "round",
}  # fmt: skip
_ABOVE: dict[str, str] = {}  # modules in layers above, by NumPy's names: see xcore/__init__.py


def _load(name: str):
    if name in _OLD_NAMES:
        return globals()[_OLD_NAMES[name]]
    return _importlib.import_module(_ABOVE[name]) if name in _ABOVE else None


__getattr__ = _guide(__name__, _load)
