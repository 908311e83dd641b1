"""Types of xcore.numpy. Written by tools/stubs.py."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, overload

import numpy as np

from xcore._core.array import Array
from xcore._core.typing import ArrayLike, Axis, DTypeLike, Key, Shape

from xcore._core.surface import UnaryFunction, BinaryFunction
from xcore.numpy._sets import UniqueAll, UniqueCounts, UniqueInverse
from xcore.numpy._types import DType
from xcore._core.typing import DeviceLike
from numpy import character as character
from numpy import complexfloating as complexfloating
from numpy import dtype as dtype
from numpy import flexible as flexible
from numpy import floating as floating
from numpy import generic as generic
from numpy import inexact as inexact
from numpy import integer as integer
from numpy import number as number
from numpy import object_ as object_
from numpy import signedinteger as signedinteger
from numpy import unsignedinteger as unsignedinteger
from numpy.exceptions import ComplexWarning as ComplexWarning
from xcore._core.array import Array as ndarray
from xcore.numpy import fft as fft
from xcore.numpy import linalg as linalg
from xcore.numpy._info import finfo as finfo
from xcore.numpy._info import iinfo as iinfo
from xcore.numpy._ufunc import ufunc as ufunc
from builtins import bool as _bool

abs: UnaryFunction
"""|x|."""
absolute: UnaryFunction
"""|x|."""
acos: UnaryFunction
"""Arc cosine, in [0, π]."""
acosh: UnaryFunction
"""Inverse of cosh, 0 or more."""
add: BinaryFunction
"""x1 + x2."""
def all(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: _bool = False, *, where: ArrayLike | None = None) -> Array:
    """Whether all elements are true (not zero)."""
def allclose(a: ArrayLike, b: ArrayLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: _bool = False) -> Array:
    """Whether all elements are close; see ``isclose``."""
def amax(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: _bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """The largest element; NaN if there is one."""
def amin(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: _bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """The smallest element; NaN if there is one."""
def angle(z: ArrayLike, deg: int = False) -> Array:
    """The angle of complex numbers, in (-π, π]."""
def any(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: _bool = False, *, where: ArrayLike | None = None) -> Array:
    """Whether any element is true (not zero)."""
def append(arr: ArrayLike, values: Any, axis: Axis = None) -> Array:
    """An array with values at its end."""
def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: ArrayLike, *args: Any, **kwargs: Any) -> Array:
    """A function of vectors applied to all slices along an axis."""
def apply_over_axes(func: Callable[..., Any], a: ArrayLike, axes: int | Sequence[int]) -> Array:
    """A function of an array and an axis applied along several axes, one after the other."""
def arange(start: Any, stop: Any = None, step: Any = None, dtype: DTypeLike | None = None, *, device: DeviceLike | None = None, out_sharding: DeviceLike | None = None) -> Array:
    """Numbers from start (included) to stop (excluded), step apart."""
arccos: UnaryFunction
"""Arc cosine, in [0, π]."""
arccosh: UnaryFunction
"""Inverse of cosh, 0 or more."""
arcsin: UnaryFunction
"""Arc sine, in [-π/2, π/2]."""
arcsinh: UnaryFunction
"""Inverse of sinh."""
arctan: UnaryFunction
"""Arc tangent, in [-π/2, π/2]."""
arctan2: BinaryFunction
"""The angle of the point (x2, x1), in [-π, π]."""
arctanh: UnaryFunction
"""Inverse of tanh."""
def argmax(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: _bool = False) -> Array:
    """The position of the largest element (the first of equal ones; a NaN counts as largest)."""
def argmin(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: _bool = False) -> Array:
    """The position of the smallest element (the first of equal ones; a NaN counts as smallest)."""
def argpartition(a: ArrayLike, kth: ArrayLike, axis: Axis = -1) -> Array:
    """The positions that partition an array; see ``partition``."""
def argsort(a: ArrayLike, axis: Axis = -1, kind: str | None = None, order: str | None = None, *, stable: _bool = True, descending: _bool = False, dtype: DTypeLike | None = None) -> Array:
    """The positions that sort an array along an axis; equal elements keep their order."""
def argwhere(a: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """The positions of the elements that are not zero, as rows."""
def around(a: ArrayLike, decimals: int = 0, out: None = None) -> Array:
    """Rounded to a number of decimals: ``round`` under its older name."""
def array(object: Any, dtype: DTypeLike | None = None, copy: _bool | None = True, order: str = 'K', ndmin: int = 0, *, device: DeviceLike | None = None, out_sharding: DeviceLike | None = None) -> Array:
    """A new array of what ``object`` holds; see ``asarray``."""
def array_equal(a1: Any, a2: Any, equal_nan: _bool = False) -> Array:
    """Whether two arrays have the same shape and the same elements."""
def array_equiv(a1: Any, a2: Any) -> Array:
    """Whether two arrays (or lists of numbers) broadcast to the same elements."""
def array_repr(arr: ArrayLike, max_line_width: Any = None, precision: Any = None, suppress_small: _bool | None = None) -> str:
    """An array as text, with its dtype."""
def array_split(ary: ArrayLike, indices_or_sections: int | Sequence[int] | ArrayLike, axis: Axis = 0) -> list[Array]:
    """A list of consecutive pieces along an axis, the first ones longer if they cannot be equal."""
def array_str(a: ArrayLike, max_line_width: Any = None, precision: Any = None, suppress_small: _bool | None = None) -> str:
    """The content of an array as text."""
def asarray(a: Any, dtype: DTypeLike | None = None, order: str | None = None, *, copy: _bool | None = None, device: DeviceLike | None = None, out_sharding: DeviceLike | None = None) -> Array:
    """An array of what ``a`` holds: an array, a number, nested lists, anything with ``__array__``."""
asin: UnaryFunction
"""Arc sine, in [-π/2, π/2]."""
asinh: UnaryFunction
"""Inverse of sinh."""
def astype(x: ArrayLike, dtype: DTypeLike, /, *, copy: _bool = False, device: DeviceLike | None = None) -> Array:
    """An array in another dtype. Complex numbers become real by their real part."""
atan: UnaryFunction
"""Arc tangent, in [-π/2, π/2]."""
atan2: BinaryFunction
"""The angle of the point (x2, x1), in [-π, π]."""
atanh: UnaryFunction
"""Inverse of tanh."""
def atleast_1d(*arys: ArrayLike) -> Array:
    """Numbers become arrays of one element; the rest stays."""
def atleast_2d(*arys: ArrayLike) -> Array:
    """New axes in front, until there are two."""
def atleast_3d(*arys: ArrayLike) -> Array:
    """At least three axes: a vector of n becomes (1, n, 1), a matrix gets a last axis."""
@overload
def average(a: ArrayLike, axis: Axis = None, weights: ArrayLike | None = None, returned: Literal[False] = False, keepdims: _bool = False) -> Array: ...
@overload
def average(a: ArrayLike, axis: Axis = None, weights: ArrayLike | None = None, returned: _bool = False, keepdims: _bool = False) -> Any:
    """The weighted mean."""
def bartlett(M: int) -> Array:
    """The triangular window 1 - |t|, for t from -1 to 1."""
bfloat16: DType
def bincount(x: ArrayLike, weights: ArrayLike | None = None, minlength: int = 0, *, length: Any = None, out_sharding: DeviceLike | None = None) -> Array:
    """How often each of the integers 0, 1, 2, … occurs."""
bitwise_and: BinaryFunction
"""Bitwise and of integers; logical and of bools."""
def bitwise_count(x: ArrayLike, *, out: None = None, where: ArrayLike | None = None) -> Array:
    """The number of ones among the bits of |x|."""
bitwise_invert: UnaryFunction
"""Bitwise not; logical not of bools."""
bitwise_left_shift: BinaryFunction
"""x1 · 2^x2 of integers."""
bitwise_not: UnaryFunction
"""Bitwise not; logical not of bools."""
bitwise_or: BinaryFunction
"""Bitwise or of integers; logical or of bools."""
bitwise_right_shift: BinaryFunction
"""x1 / 2^x2 of integers, rounded down."""
bitwise_xor: BinaryFunction
"""Bitwise exclusive or."""
def blackman(M: int) -> Array:
    """The window 0.42 + 0.5 cos(πt) + 0.08 cos(2πt), for t from -1 to 1."""
def block(arrays: Any) -> Array:
    """An array from nested lists of blocks: the innermost are joined along the last axis."""
bool: DType
bool_: DType
def broadcast_arrays(*args: Any) -> list[Array]:
    """Arrays repeated to their common shape, as a list."""
def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The shape that arrays of several shapes broadcast to."""
def broadcast_to(array: ArrayLike, shape: int | Shape, *, out_sharding: DeviceLike | None = None) -> Array:
    """An array repeated along axes of length 1, and along new axes in front."""
c_: Any
def can_cast(from_: Any, to: Any, casting: str = 'safe') -> _bool:
    """Whether a dtype (or an array's) can be converted to another one without loss."""
cbrt: UnaryFunction
"""Cube root, of negative numbers too."""
cdouble: DType
ceil: UnaryFunction
"""The smallest whole number not below x."""
def choose(a: ArrayLike, choices: Any, out: None = None, mode: str = 'raise') -> Array:
    """Elements of the choice that an array of numbers names: choices[a[i]][i]."""
def clip(arr: ArrayLike | None = None, /, min: ArrayLike | None = None, max: ArrayLike | None = None, a_min: ArrayLike | None = None, a_max: ArrayLike | None = None) -> Array:
    """Elements limited to an interval."""
def column_stack(tup: Sequence[ArrayLike] | ArrayLike, dtype: DTypeLike | None = None) -> Array:
    """Vectors as the columns of a matrix; matrices as they are."""
complex128: DType
complex64: DType
complex_: DType
def compress(condition: ArrayLike, a: ArrayLike, axis: Axis = None, *, size: int | None = None, fill_value: ArrayLike = 0, out: None = None) -> Array:
    """The slices along an axis where a condition holds."""
def concat(arrays: Sequence[ArrayLike] | ArrayLike, /, *, axis: Axis = 0) -> Array:
    """Arrays joined along an axis: ``concatenate`` under its name in the Array API."""
def concatenate(arrays: Sequence[ArrayLike] | ArrayLike, axis: Axis = 0, dtype: DTypeLike | None = None) -> Array:
    """Arrays joined along an axis."""
conj: UnaryFunction
"""The complex conjugate."""
conjugate: UnaryFunction
"""The complex conjugate."""
def convolve(a: ArrayLike, v: ArrayLike, mode: str = 'full', *, precision: Any = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """The convolution of two vectors: element k is Σᵢ a[i] v[k - i]."""
def copy(a: Any, order: str | None = None) -> Array:
    """A copy of an array."""
copysign: BinaryFunction
"""|x1| with the sign of x2."""
def corrcoef(x: ArrayLike, y: ArrayLike | None = None, rowvar: _bool = True, *, dtype: DTypeLike | None = None) -> Array:
    """The correlation coefficients of variables: their covariances over their deviations."""
def correlate(a: ArrayLike, v: ArrayLike, mode: str = 'valid', *, precision: Any = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """The correlation of two vectors: element k is Σᵢ a[i + k] conj(v[i])."""
cos: UnaryFunction
"""Cosine of an angle in radians."""
cosh: UnaryFunction
"""Hyperbolic cosine."""
def count_nonzero(a: ArrayLike, axis: Axis = None, keepdims: _bool = False) -> Array:
    """How many elements are not zero."""
def cov(m: ArrayLike, y: ArrayLike | None = None, rowvar: _bool = True, bias: _bool = False, ddof: float | int | None = None, fweights: ArrayLike | None = None, aweights: ArrayLike | None = None, *, dtype: DTypeLike | None = None) -> Array:
    """The covariance matrix of variables: the mean product of their distances from their means."""
def cross(a: ArrayLike, b: ArrayLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Axis = None) -> Array:
    """The vector product in three dimensions; in two, its only component."""
csingle: DType
def cumprod(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """Running products along an axis."""
def cumsum(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """Running sums Σ_(j≤i) a_j along an axis."""
def cumulative_prod(x: ArrayLike, /, *, axis: Axis = None, dtype: DTypeLike | None = None, include_initial: _bool = False) -> Array:
    """Running products along an axis; small integers are multiplied in the default width."""
def cumulative_sum(x: ArrayLike, /, *, axis: Axis = None, dtype: DTypeLike | None = None, include_initial: _bool = False) -> Array:
    """Running sums along an axis; small integers are added in the default width."""
deg2rad: UnaryFunction
"""Degrees in radians."""
degrees: UnaryFunction
"""Radians in degrees."""
def delete(arr: ArrayLike, obj: Any, axis: int | None = None, *, assume_unique_indices: _bool = False) -> Array:
    """An array without the slices at given positions along an axis."""
def diag(v: ArrayLike, k: int = 0) -> Array:
    """The diagonal of a matrix, or the matrix with a given diagonal."""
def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """The positions of the main diagonal of an array with ``ndim`` axes of length n."""
def diag_indices_from(arr: ArrayLike) -> tuple[Array, ...]:
    """The positions of the main diagonal of an array whose axes have one length."""
def diagflat(v: ArrayLike, k: int = 0) -> Array:
    """The matrix whose diagonal holds all elements of an array."""
def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The diagonals of matrices, along a last axis."""
def diff(a: ArrayLike, n: int = 1, axis: Axis = -1, prepend: ArrayLike | None = None, append: ArrayLike | None = None) -> Array:
    """Differences of neighbours along an axis."""
def digitize(x: ArrayLike, bins: Any, right: ArrayLike = False, *, method: str | None = None) -> Array:
    """The index of the interval between edges to which each value belongs; 0 is before the first."""
divide: BinaryFunction
"""x1 / x2; integers divide to floats."""
def divmod(x1: ArrayLike, x2: ArrayLike, *, out: None = None, where: ArrayLike | None = None) -> tuple[Array, Array]:
    """The pair (floor_divide(x1, x2), remainder(x1, x2))."""
def dot(a: ArrayLike, b: ArrayLike, *, precision: Any = None, preferred_element_type: DTypeLike | None = None, out_sharding: DeviceLike | None = None) -> Array:
    """The sum of products over the last axis of ``a`` and the second to last of ``b``."""
double: DType
def dsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int] | ArrayLike) -> list[Array]:
    """Pieces along axis 2; see ``split``."""
def dstack(tup: Sequence[ArrayLike] | ArrayLike, dtype: DTypeLike | None = None) -> Array:
    """Arrays joined along the third axis."""
e: float
def ediff1d(ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None) -> Array:
    """Differences of neighbours in the flattened array."""
def einsum(subscripts: Any, /, *operands: Any, out: None = None, optimize: Any = 'auto', precision: Any = None, preferred_element_type: DTypeLike | None = None, out_sharding: DeviceLike | None = None) -> Array:
    """Sums of products written with indices: ``"ij,jk->ik"`` is a matrix product."""
def einsum_path(subscripts: Any, /, *operands: Any, optimize: Any = 'greedy') -> Any:
    """The order in which ``einsum`` contracts its operands, and a description of it."""
def empty(shape: int | Shape, dtype: DTypeLike | None = None, *, device: DeviceLike | None = None, out_sharding: DeviceLike | None = None) -> Array:
    """An array whose content does not matter: here, zeros."""
def empty_like(prototype: Any, dtype: DTypeLike | None = None, shape: int | Shape | None = None, *, device: DeviceLike | None = None, out_sharding: DeviceLike | None = None) -> Array:
    """An array like another whose content does not matter: here, zeros."""
equal: BinaryFunction
"""x1 == x2."""
euler_gamma: float
exp: UnaryFunction
"""e^x."""
exp2: UnaryFunction
"""2^x."""
def expand_dims(a: ArrayLike, axis: Axis) -> Array:
    """New axes of length 1."""
expm1: UnaryFunction
"""e^x - 1, accurate near 0."""
def extract(condition: ArrayLike, arr: ArrayLike, *, size: int | None = None, fill_value: ArrayLike = 0) -> Array:
    """The elements where a condition holds, flattened."""
def eye(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None, *, device: DeviceLike | None = None) -> Array:
    """A matrix with ones on a diagonal."""
def fabs(x: ArrayLike, *, out: None = None, where: ArrayLike | None = None) -> Array:
    """|x| as a float."""
def fill_diagonal(a: ArrayLike, val: Any, wrap: _bool = False, *, inplace: _bool = True) -> Array:
    """A copy of an array with values on its main diagonal."""
def fix(x: ArrayLike, out: None = None) -> Array:
    """x rounded toward zero."""
def flatnonzero(a: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """The positions of the elements that are not zero, in the flattened array."""
def flip(m: ArrayLike, axis: Axis = None) -> Array:
    """Elements in reverse order along axes."""
def fliplr(m: ArrayLike) -> Array:
    """Columns in reverse order."""
def flipud(m: ArrayLike) -> Array:
    """Rows in reverse order."""
float16: DType
float32: DType
float4_e2m1fn: DType
float64: DType
float8_e3m4: DType
float8_e4m3: DType
float8_e4m3b11fnuz: DType
float8_e4m3fn: DType
float8_e4m3fnuz: DType
float8_e5m2: DType
float8_e5m2fnuz: DType
float8_e8m0fnu: DType
float_: DType
float_power: BinaryFunction
"""x1 raised to x2, as floats."""
floor: UnaryFunction
"""The largest whole number not above x."""
floor_divide: BinaryFunction
"""The largest integer not above x1 / x2."""
fmax: BinaryFunction
"""The larger of two; a NaN only if both are."""
fmin: BinaryFunction
"""The smaller of two; a NaN only if both are."""
fmod: BinaryFunction
"""The remainder of x1 / x2 rounded toward zero: has the sign of x1."""
def frexp(x: ArrayLike, *, out: None = None, where: ArrayLike | None = None) -> tuple[Array, Array]:
    """The pair (m, n) with x = m · 2^n and 0.5 <= |m| < 1."""
def from_dlpack(x: ArrayLike, /, *, device: DeviceLike | None = None, copy: _bool | None = None) -> Array:
    """An array of another library that speaks DLPack; memory is shared where alignment allows it."""
def frombuffer(buffer: Any, dtype: DTypeLike = ..., count: int = -1, offset: int = 0) -> Array:
    """The bytes of a buffer as a 1-d array."""
def fromfile(file: Any, dtype: DTypeLike = ..., count: int = -1, sep: Any = '', offset: int = 0) -> Array:
    """Numbers from a file as a 1-d array; see ``numpy.fromfile``."""
def fromfunction(function: Callable[..., Any], shape: Sequence[int], *, dtype: DTypeLike = ..., **kwargs: Any) -> Array:
    """The values of a function at the positions of a grid."""
def fromiter(iter: Any, dtype: DTypeLike, count: int = -1) -> Array:
    """A 1-d array of what an iterable gives."""
def frompyfunc(func: Callable[..., Any], /, nin: Any, nout: Any, *, identity: Any = None) -> Callable[..., Any]:
    """A function of numbers as a ufunc: applied to each element of arrays that broadcast."""
def fromstring(string: Any, dtype: DTypeLike = ..., count: int = -1, *, sep: Any) -> Array:
    """Numbers written in a text as a 1-d array."""
def full(shape: int | Shape, fill_value: Any, dtype: DTypeLike | None = None, *, device: DeviceLike | None = None, out_sharding: DeviceLike | None = None) -> Array:
    """An array filled with one value."""
def full_like(a: Any, fill_value: Any, dtype: DTypeLike | None = None, shape: int | Shape | None = None, *, device: DeviceLike | None = None, out_sharding: DeviceLike | None = None) -> Array:
    """One value in the shape and dtype of an array."""
gcd: BinaryFunction
"""Greatest common divisor."""
def geomspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: _bool = True, dtype: DTypeLike | None = None, axis: int = 0) -> Array:
    """Numbers from start to stop with a constant ratio."""
def get_printoptions() -> Any:
    """How arrays are printed: NumPy's settings, which xcore's arrays follow."""
def gradient(f: ArrayLike, *varargs: Any, axis: Axis = None, edge_order: int = 1) -> Any:
    """The derivative of a sampled function: central differences inside, one-sided ones at the ends."""
greater: BinaryFunction
"""x1 > x2."""
greater_equal: BinaryFunction
"""x1 >= x2."""
def hamming(M: int) -> Array:
    """The window 0.54 + 0.46 cos(πt), for t from -1 to 1."""
def hanning(M: int) -> Array:
    """The window 0.5 + 0.5 cos(πt), for t from -1 to 1."""
heaviside: BinaryFunction
"""0 for x1 < 0, 1 for x1 > 0, and x2 at 0."""
def histogram(a: ArrayLike, bins: Any = 10, range: Any = None, weights: ArrayLike | None = None, density: _bool | None = None) -> tuple[Array, Array]:
    """How many values fall into each bin: (counts, edges)."""
def histogram2d(x: ArrayLike, y: ArrayLike, bins: Any = 10, range: Any = None, weights: ArrayLike | None = None, density: _bool | None = None) -> tuple[Array, Array, Array]:
    """How many pairs fall into each cell of a grid: (counts, edges of x, edges of y)."""
def histogram_bin_edges(a: ArrayLike, bins: Any = 10, range: Any = None, weights: ArrayLike | None = None) -> Array:
    """The edges of the bins that ``histogram`` uses."""
def histogramdd(sample: Any, bins: Any = 10, range: Any = None, weights: ArrayLike | None = None, density: _bool | None = None) -> tuple[Array, list[Array]]:
    """How many points fall into each cell of a grid: (counts, list of edges)."""
def hsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int] | ArrayLike) -> list[Array]:
    """Pieces along axis 1 (along axis 0 of a vector); see ``split``."""
def hstack(tup: Sequence[ArrayLike] | ArrayLike, dtype: DTypeLike | None = None) -> Array:
    """Arrays joined along columns."""
hypot: BinaryFunction
"""√(x1² + x2²), without overflow on the way."""
def i0(x: ArrayLike, *, out: None = None, where: ArrayLike | None = None) -> Array:
    """The modified Bessel function of order 0."""
def identity(n: int, dtype: DTypeLike | None = None) -> Array:
    """The identity matrix of n rows."""
def imag(x: ArrayLike, *, out: None = None, where: ArrayLike | None = None) -> Array:
    """The imaginary part; 0 for real numbers."""
index_exp: Any
def indices(dimensions: Sequence[int], dtype: DTypeLike | None = None, sparse: _bool = False) -> Array:
    """The positions of a grid: one array of indices for each axis."""
inf: float
def inner(a: ArrayLike, b: ArrayLike, *, precision: Any = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """The sum of products over the last axes of both."""
def insert(arr: ArrayLike, obj: Any, values: Any, axis: int | None = None) -> Array:
    """An array with slices inserted before given positions along an axis."""
int16: DType
int2: DType
int32: DType
int4: DType
int64: DType
int8: DType
int_: DType
def interp(x: ArrayLike, xp: ArrayLike, fp: ArrayLike, left: ArrayLike | None = None, right: ArrayLike | None = None, period: Any = None) -> Array:
    """Values between samples, on the straight lines that join these."""
@overload
def intersect1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: _bool = False, return_indices: Literal[False] = False, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array: ...
@overload
def intersect1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: _bool = False, return_indices: _bool = False, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Any:
    """The distinct elements that two arrays have in common, in rising order."""
invert: UnaryFunction
"""Bitwise not; logical not of bools."""
def isclose(a: ArrayLike, b: ArrayLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: _bool = False) -> Array:
    """|a - b| <= atol + rtol · |b|, element by element; infinities are close to equal ones."""
def iscomplex(x: ArrayLike, *, out: None = None, where: ArrayLike | None = None) -> Array:
    """The imaginary part of x is not 0."""
def iscomplexobj(x: Any) -> _bool:
    """Whether an array or number is of complex dtype."""
def isdtype(dtype: DTypeLike, kind: Any) -> _bool:
    """Whether a dtype is another one, or of a kind."""
def isfinite(x: ArrayLike, *, out: None = None, where: ArrayLike | None = None) -> Array:
    """x is neither infinite nor NaN."""
def isin(element: ArrayLike, test_elements: ArrayLike, assume_unique: _bool = False, invert: _bool = False, *, method: str = 'auto', kind: str | None = None) -> Array:
    """Whether each element is among others."""
def isinf(x: ArrayLike, *, out: None = None, where: ArrayLike | None = None) -> Array:
    """x is infinite."""
def isnan(x: ArrayLike, *, out: None = None, where: ArrayLike | None = None) -> Array:
    """x is not a number."""
def isneginf(x: ArrayLike, *, out: None = None, where: ArrayLike | None = None) -> Array:
    """x is negative infinity."""
def isposinf(x: ArrayLike, *, out: None = None, where: ArrayLike | None = None) -> Array:
    """x is positive infinity."""
def isreal(x: ArrayLike, *, out: None = None, where: ArrayLike | None = None) -> Array:
    """The imaginary part of x is 0."""
def isrealobj(x: Any) -> _bool:
    """Whether an array or number is not of complex dtype."""
def isscalar(element: Any) -> _bool:
    """Whether something is a number: one of Python's or NumPy's, or a 0-d array."""
def issubdtype(arg1: Any, arg2: Any) -> _bool:
    """Whether a dtype is below another one in NumPy's hierarchy of types, where ``float`` is float64."""
def iterable(y: Any) -> _bool:
    """Whether one can loop over something."""
def ix_(*args: Any) -> tuple[Array, ...]:
    """1-d arrays shaped so that together they index the grid they span; masks become positions."""
def kaiser(M: int, beta: ArrayLike) -> Array:
    """The window I0(β sqrt(1 - t²)) / I0(β), for t from -1 to 1, with the Bessel function I0."""
def kron(a: ArrayLike, b: ArrayLike) -> Array:
    """The Kronecker product: every element of ``a`` times the whole of ``b``, as blocks."""
lcm: BinaryFunction
"""Least common multiple."""
def ldexp(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """x1 · 2^x2 for whole x2, without overflow on the way."""
left_shift: BinaryFunction
"""x1 · 2^x2 of integers."""
less: BinaryFunction
"""x1 < x2."""
less_equal: BinaryFunction
"""x1 <= x2."""
def lexsort(keys: Any, axis: Axis = -1) -> Array:
    """The positions that sort by several keys: by the last one, ties by the one before, and so on."""
@overload
def linspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: _bool = True, retstep: Literal[False] = False, dtype: DTypeLike | None = None, axis: int = 0, *, device: DeviceLike | None = None) -> Array: ...
@overload
def linspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: _bool = True, retstep: _bool = False, dtype: DTypeLike | None = None, axis: int = 0, *, device: DeviceLike | None = None) -> Any:
    """Numbers evenly spaced from start to stop."""
def load(file: Any, *args: Any, **kwargs: Any) -> Any:
    """An array from a .npy file, or what a .npz file holds, by name; see ``numpy.load``."""
log: UnaryFunction
"""Natural logarithm."""
log10: UnaryFunction
"""Logarithm to the base 10."""
log1p: UnaryFunction
"""log(1 + x), accurate near 0."""
log2: UnaryFunction
"""Logarithm to the base 2."""
logaddexp: BinaryFunction
"""log(e^x1 + e^x2), without overflow on the way."""
logaddexp2: BinaryFunction
"""log2(2^x1 + 2^x2), without overflow on the way."""
logical_and: BinaryFunction
"""Both are true (not zero)."""
logical_not: UnaryFunction
"""x is zero or False."""
logical_or: BinaryFunction
"""Either is true (not zero)."""
logical_xor: BinaryFunction
"""Exactly one is true."""
def logspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: _bool = True, base: ArrayLike = 10.0, dtype: DTypeLike | None = None, axis: int = 0) -> Array:
    """Powers of a base whose exponents are evenly spaced."""
def mask_indices(n: int, mask_func: Callable[..., Any], k: int = 0, *, size: int | None = None) -> tuple[Array, ...]:
    """The positions that a function such as ``triu`` keeps of an n × n matrix."""
def matmul(a: ArrayLike, b: ArrayLike, *, precision: Any = None, preferred_element_type: DTypeLike | None = None, out_sharding: DeviceLike | None = None) -> Array:
    """The product of matrices; stacks of them multiply pairwise. Vectors count as a row or column."""
def matrix_transpose(x: ArrayLike, /) -> Array:
    """The last two axes exchanged."""
def matvec(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Matrices times vectors: axes (..., m, n) and (..., n) give (..., m)."""
def max(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: _bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """The largest element; NaN if there is one."""
maximum: BinaryFunction
"""The larger of two; NaN if either is. Equal ones share the derivative."""
def mean(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, keepdims: _bool = False, *, where: ArrayLike | None = None) -> Array:
    """The arithmetic mean 1/n Σ_i a_i; of 16-bit floats computed in float32, of integers a float."""
def median(a: ArrayLike, axis: Axis = None, out: None = None, overwrite_input: _bool = False, keepdims: _bool = False) -> Array:
    """The middle element; the mean of the two in the middle if there are two."""
def meshgrid(*xi: ArrayLike, copy: _bool = True, sparse: _bool = False, indexing: str = 'xy') -> list[Array]:
    """Coordinate arrays of the grid that vectors span, as a list."""
mgrid: Any
def min(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: _bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """The smallest element; NaN if there is one."""
minimum: BinaryFunction
"""The smaller of two; NaN if either is. Equal ones share the derivative."""
mod: BinaryFunction
"""x1 - x2 * floor(x1 / x2): has the sign of x2."""
def modf(x: ArrayLike, *, out: None = None, where: ArrayLike | None = None) -> tuple[Array, Array]:
    """The fractional and the whole part, both with the sign of x."""
def moveaxis(a: ArrayLike, source: int | Sequence[int], destination: int | Sequence[int]) -> Array:
    """Axes moved to other places; the rest keep their order."""
multiply: BinaryFunction
"""x1 * x2."""
nan: float
def nan_to_num(x: ArrayLike, copy: _bool = True, nan: ArrayLike = 0.0, posinf: ArrayLike | None = None, neginf: ArrayLike | None = None) -> Array:
    """NaN and infinities replaced by numbers."""
def nanargmax(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: _bool = False) -> Array:
    """The position of the largest element that is not NaN; -1 if all are."""
def nanargmin(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: _bool = False) -> Array:
    """The position of the smallest element that is not NaN; -1 if all are."""
def nancumprod(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """Running products, which NaNs leave alone."""
def nancumsum(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """Running sums, to which NaNs add nothing."""
def nanmax(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: _bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """The largest element that is not NaN; NaN if all are."""
def nanmean(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, keepdims: _bool = False, where: ArrayLike | None = None) -> Array:
    """The mean of the elements that are not NaN."""
def nanmedian(a: ArrayLike, axis: Axis = None, out: None = None, overwrite_input: _bool = False, keepdims: _bool = False) -> Array:
    """The middle one of the elements that are not NaN."""
def nanmin(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: _bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """The smallest element that is not NaN; NaN if all are."""
def nanpercentile(a: ArrayLike, q: ArrayLike | Sequence[float], axis: Axis = None, out: None = None, overwrite_input: _bool = False, method: str = 'linear', keepdims: _bool = False, *, weights: ArrayLike | None = None, interpolation: str | None = None) -> Array:
    """The values below which given percentages of what is not NaN lie."""
def nanprod(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, keepdims: _bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """The product of the elements that are not NaN."""
def nanquantile(a: ArrayLike, q: ArrayLike | Sequence[float], axis: Axis = None, out: None = None, overwrite_input: _bool = False, method: str = 'linear', keepdims: _bool = False, *, weights: ArrayLike | None = None, interpolation: str | None = None) -> Array:
    """The values below which given parts of what is not NaN lie."""
def nanstd(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, ddof: float | int = 0, keepdims: _bool = False, where: ArrayLike | None = None, mean: ArrayLike | None = None, correction: float | int | None = None) -> Array:
    """The standard deviation of the elements that are not NaN."""
def nansum(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, keepdims: _bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """The sum of the elements that are not NaN."""
def nanvar(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, ddof: float | int = 0, keepdims: _bool = False, where: ArrayLike | None = None, mean: ArrayLike | None = None, correction: float | int | None = None) -> Array:
    """The variance of the elements that are not NaN."""
def ndim(a: Any) -> int:
    """The number of axes."""
negative: UnaryFunction
"""-x."""
newaxis: None
nextafter: BinaryFunction
"""The next float after x1 towards x2."""
def nonzero(a: ArrayLike, *, size: int | None = None, fill_value: Any = None) -> tuple[Array, ...]:
    """The positions of the elements that are not zero: an array of indices for each axis."""
not_equal: BinaryFunction
"""x1 != x2."""
ogrid: Any
def ones(shape: int | Shape, dtype: DTypeLike | None = None, *, device: DeviceLike | None = None, out_sharding: DeviceLike | None = None) -> Array:
    """An array of ones."""
def ones_like(a: ArrayLike, dtype: DTypeLike | None = None, shape: int | Shape | None = None, *, device: DeviceLike | None = None, out_sharding: DeviceLike | None = None) -> Array:
    """Ones in the shape and dtype of an array."""
def outer(a: ArrayLike, b: ArrayLike, out: None = None) -> Array:
    """All products of an element of ``a`` with one of ``b``; both are flattened."""
def packbits(a: ArrayLike, axis: Axis = None, bitorder: str = 'big') -> Array:
    """Truth values as the bits of bytes, eight in one."""
def pad(array: ArrayLike, pad_width: Any, mode: Any = 'constant', **kwargs: Any) -> Array:
    """An array made longer at the ends of its axes."""
def partition(a: ArrayLike, kth: ArrayLike, axis: Axis = -1) -> Array:
    """The elements so ordered that those at ``kth`` are where sorting puts them, smaller ones before."""
def percentile(a: ArrayLike, q: ArrayLike | Sequence[float], axis: Axis = None, out: None = None, overwrite_input: _bool = False, method: str = 'linear', keepdims: _bool = False, *, weights: ArrayLike | None = None, interpolation: str | None = None) -> Array:
    """The values below which given percentages of the elements lie."""
def permute_dims(x: ArrayLike, /, axes: Sequence[int]) -> Array:
    """Axes in another order: ``transpose`` under its name in the Array API."""
pi: float
def piecewise(x: ArrayLike, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Array:
    """A function that is given by another formula where each condition holds."""
def place(arr: ArrayLike, mask: ArrayLike, vals: Any, *, inplace: _bool = True) -> Array:
    """A copy of an array whose elements under a mask are replaced by values, in turn."""
def poly(seq_of_zeros: Any) -> Array:
    """The polynomial with given roots, or the characteristic polynomial of a square matrix."""
def polyadd(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The sum of two polynomials."""
def polyder(p: ArrayLike, m: int = 1) -> Array:
    """The derivative of a polynomial; small integers are multiplied in the default width."""
def polydiv(u: ArrayLike, v: ArrayLike, *, trim_leading_zeros: _bool = False) -> tuple[Array, Array]:
    """Quotient and remainder of two polynomials."""
@overload
def polyfit(x: ArrayLike, y: ArrayLike, deg: int, rcond: float | None = None, full: Literal[False] = False, w: ArrayLike | None = None, cov: Literal[False] = False) -> Array: ...
@overload
def polyfit(x: ArrayLike, y: ArrayLike, deg: int, rcond: float | None = None, full: _bool = False, w: ArrayLike | None = None, cov: _bool = False) -> Any:
    """The polynomial that fits samples best, in the sense of least squares."""
def polyint(p: ArrayLike, m: int = 1, k: ArrayLike | Sequence[float] | None = None) -> Array:
    """The integral of a polynomial."""
def polymul(a1: ArrayLike, a2: ArrayLike, *, trim_leading_zeros: _bool = False) -> Array:
    """The product of two polynomials."""
def polysub(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The difference of two polynomials."""
def polyval(p: ArrayLike, x: ArrayLike, *, unroll: int = 16) -> Array:
    """The value of a polynomial, by Horner's scheme."""
positive: UnaryFunction
"""+x: the array itself."""
pow: BinaryFunction
"""x1 raised to x2; exact for integers."""
power: BinaryFunction
"""x1 raised to x2; exact for integers."""
def printoptions(*args: Any, **kwargs: Any) -> Any:
    """Settings of printing for a ``with`` block."""
def prod(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, keepdims: _bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None, promote_integers: _bool = True) -> Array:
    """The product of elements. Small integers are multiplied in the default width."""
def promote_types(a: DTypeLike, b: DTypeLike) -> np.dtype[Any]:
    """The dtype of the result of combining two dtypes."""
def ptp(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: _bool = False) -> Array:
    """The largest element minus the smallest one."""
def put(a: ArrayLike, ind: Any, v: Any, mode: str | None = None, *, inplace: _bool = True) -> Array:
    """A copy of an array with values at positions of the flattened array."""
def put_along_axis(arr: ArrayLike, indices: Any, values: Any, axis: Axis, inplace: _bool = True, *, mode: str | None = None) -> Array:
    """A copy of an array with values at positions along one axis."""
def putmask(a: ArrayLike, mask: ArrayLike, values: Any, *, inplace: _bool = True) -> Array:
    """A copy of an array with values where a mask holds, each from its own position."""
def quantile(a: ArrayLike, q: ArrayLike | Sequence[float], axis: Axis = None, out: None = None, overwrite_input: _bool = False, method: str = 'linear', keepdims: _bool = False, *, weights: ArrayLike | None = None, interpolation: str | None = None) -> Array:
    """The values below which given parts of the elements lie."""
r_: Any
rad2deg: UnaryFunction
"""Radians in degrees."""
radians: UnaryFunction
"""Degrees in radians."""
def ravel(a: ArrayLike, order: str = 'C', *, out_sharding: DeviceLike | None = None) -> Array:
    """All elements along one axis."""
def ravel_multi_index(multi_index: Any, dims: Shape, mode: Any = 'raise', order: str = 'C', *, dtype: DTypeLike | None = None) -> Array:
    """An index for each axis as positions in the flattened array."""
def real(x: ArrayLike, *, out: None = None, where: ArrayLike | None = None) -> Array:
    """The real part."""
reciprocal: UnaryFunction
"""1 / x."""
remainder: BinaryFunction
"""x1 - x2 * floor(x1 / x2): has the sign of x2."""
def repeat(a: ArrayLike, repeats: ArrayLike | Sequence[int], axis: int | None = None, *, total_repeat_length: int | None = None, out_sharding: DeviceLike | None = None) -> Array:
    """Each element several times in a row."""
def reshape(a: ArrayLike, shape: int | Shape | None = None, order: str = 'C', *, copy: _bool | None = None, out_sharding: DeviceLike | None = None) -> Array:
    """The same elements in another shape."""
def resize(a: ArrayLike, new_shape: int | Shape) -> Array:
    """The elements of an array, repeated as often as needed, in a new shape."""
def result_type(*args: Any) -> np.dtype[Any]:
    """The dtype of the result of combining arrays, numbers and dtypes; None is the one of floats by default."""
right_shift: BinaryFunction
"""x1 / 2^x2 of integers, rounded down."""
rint: UnaryFunction
"""The nearest whole number; of two, the even one."""
def roll(a: ArrayLike, shift: ArrayLike | Sequence[int], axis: Axis = None) -> Array:
    """Elements shifted along axes; what leaves at one end enters at the other."""
def rollaxis(a: ArrayLike, axis: Axis, start: Any = 0) -> Array:
    """One axis moved to stand before another."""
def roots(p: ArrayLike, *, strip_zeros: _bool = True) -> Array:
    """The roots of a polynomial: the eigenvalues of its companion matrix."""
def rot90(m: ArrayLike, k: int = 1, axes: int | Sequence[Any] = ...) -> Array:
    """A turn by k times 90 degrees in the plane of two axes, from the first towards the second."""
def round(a: ArrayLike, decimals: int = 0, out: None = None) -> Array:
    """Rounded to a number of decimals; halves go to the even neighbour."""
s_: Any
def save(file: Any, arr: Any, allow_pickle: _bool = True) -> None:
    """Write an array to a .npy file; see ``numpy.save``."""
def savez(file: Any, *args: Any, allow_pickle: _bool = True, **kwds: Any) -> None:
    """Write arrays to a .npz file; see ``numpy.savez``."""
def searchsorted(a: ArrayLike, v: ArrayLike, side: str = 'left', sorter: ArrayLike | None = None, *, method: str = 'scan') -> Array:
    """Where to insert values into a sorted array so that it stays sorted."""
def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Array:
    """Elements of the choice whose condition is the first to hold; the default where none does."""
def set_printoptions(*args: Any, **kwargs: Any) -> None:
    """How arrays are printed: NumPy's settings, which xcore's arrays follow."""
def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: _bool = False, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """The distinct elements of one array that are not in another, in rising order."""
def setxor1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: _bool = False, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """The distinct elements that are in exactly one of two arrays, in rising order."""
def shape(a: Any) -> tuple[int, ...]:
    """The length along each axis."""
sign: UnaryFunction
"""-1, 0 or 1; x / |x| of complex numbers."""
def signbit(x: ArrayLike, *, out: None = None, where: ArrayLike | None = None) -> Array:
    """x has a minus sign (-0.0 too)."""
sin: UnaryFunction
"""Sine of an angle in radians."""
def sinc(x: ArrayLike, *, out: None = None, where: ArrayLike | None = None) -> Array:
    """sin(πx) / (πx), and 1 at 0."""
single: DType
sinh: UnaryFunction
"""Hyperbolic sine."""
def size(a: Any, axis: Axis = None) -> int:
    """The number of elements, or the length along axes."""
def sort(a: ArrayLike, axis: Axis = -1, kind: str | None = None, order: str | None = None, *, stable: _bool = True, descending: _bool = False) -> Array:
    """The elements in rising order along an axis."""
def sort_complex(a: ArrayLike) -> Array:
    """The elements in rising order along the last axis, as complex numbers."""
def spacing(x: ArrayLike, *, out: None = None, where: ArrayLike | None = None) -> Array:
    """The distance to the next float, away from 0."""
def split(ary: ArrayLike, indices_or_sections: int | Sequence[int] | ArrayLike, axis: int = 0) -> list[Array]:
    """A list of consecutive pieces along an axis."""
sqrt: UnaryFunction
"""Square root; NaN for negative reals."""
square: UnaryFunction
"""x²."""
def squeeze(a: ArrayLike, axis: Axis = None) -> Array:
    """Axes of length 1 removed."""
def stack(arrays: Sequence[ArrayLike] | ArrayLike, axis: int = 0, out: None = None, dtype: DTypeLike | None = None) -> Array:
    """Arrays of one shape joined along a new axis."""
def std(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, ddof: float | int = 0, keepdims: _bool = False, *, where: ArrayLike | None = None, mean: ArrayLike | None = None, correction: float | int | None = None) -> Array:
    """The standard deviation: √(Σ_i |a_i - m|² / (n - ddof)), with m the mean of the n numbers."""
subtract: BinaryFunction
"""x1 - x2."""
def sum(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, keepdims: _bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None, promote_integers: _bool = True) -> Array:
    """The sum of elements. Small integers are added in the default width, 16-bit floats in float32."""
def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> Array:
    """Two axes exchanged."""
def take(a: ArrayLike, indices: ArrayLike | Sequence[Any], axis: int | None = None, out: None = None, mode: str | None = None, unique_indices: _bool = False, indices_are_sorted: _bool = False, fill_value: ArrayLike | None = None) -> Array:
    """Elements (or slices along an axis) at given positions."""
def take_along_axis(arr: ArrayLike, indices: ArrayLike, axis: int | None = -1, mode: str | None = None, fill_value: ArrayLike | None = None, *, wrap_negative_indices: _bool | None = None) -> Array:
    """Elements at positions along one axis, with other positions for each of the other axes."""
tan: UnaryFunction
"""Tangent of an angle in radians."""
tanh: UnaryFunction
"""Hyperbolic tangent."""
def tensordot(a: ArrayLike, b: ArrayLike, axes: int | Sequence[Any] = 2, *, precision: Any = None, preferred_element_type: DTypeLike | None = None, out_sharding: DeviceLike | None = None) -> Array:
    """The sum of products over pairs of axes."""
def tile(A: ArrayLike, reps: int | Sequence[int]) -> Array:
    """An array repeated as a block."""
def trace(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """The sum along a diagonal."""
def transpose(a: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """Axes in another order; reversed by default."""
def trapezoid(y: ArrayLike, x: ArrayLike | None = None, dx: float = 1.0, axis: Axis = -1) -> Array:
    """The integral of a sampled function by the trapezoidal rule."""
def tri(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None) -> Array:
    """Ones on and below a diagonal, zeros above."""
def tril(m: ArrayLike, k: int = 0) -> Array:
    """A matrix with zeros above a diagonal."""
def tril_indices(n: int, k: int = 0, m: ArrayLike | None = None) -> tuple[Array, ...]:
    """The positions on and below a diagonal of a matrix of n rows and m columns."""
def tril_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Array, ...]:
    """The positions on and below a diagonal of a matrix like ``arr``."""
def trim_zeros(filt: Any, trim: str = 'fb', axis: Axis = None) -> Array:
    """An array without the zeros at its ends."""
def triu(m: ArrayLike, k: int = 0) -> Array:
    """A matrix with zeros below a diagonal."""
def triu_indices(n: int, k: int = 0, m: ArrayLike | None = None) -> tuple[Array, ...]:
    """The positions on and above a diagonal of a matrix of n rows and m columns."""
def triu_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Array, ...]:
    """The positions on and above a diagonal of a matrix like ``arr``."""
true_divide: BinaryFunction
"""x1 / x2; integers divide to floats."""
trunc: UnaryFunction
"""x rounded toward zero."""
uint: DType
uint16: DType
uint2: DType
uint32: DType
uint4: DType
uint64: DType
uint8: DType
def union1d(ar1: ArrayLike, ar2: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """The distinct elements of two arrays together, in rising order."""
@overload
def unique(ar: ArrayLike, return_index: Literal[False] = False, return_inverse: Literal[False] = False, return_counts: Literal[False] = False, axis: Axis = None, *, equal_nan: _bool = True, size: int | None = None, fill_value: ArrayLike | None = None, sorted: _bool = True) -> Array: ...
@overload
def unique(ar: ArrayLike, return_index: _bool = False, return_inverse: _bool = False, return_counts: _bool = False, axis: Axis = None, *, equal_nan: _bool = True, size: int | None = None, fill_value: ArrayLike | None = None, sorted: _bool = True) -> Any:
    """The distinct elements (or slices along an axis), in rising order."""
def unique_all(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None) -> UniqueAll:
    """Distinct elements, where each occurs first, which one each element is, and their counts."""
def unique_counts(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None) -> UniqueCounts:
    """Distinct elements and how often each occurs. Every NaN is an element of its own."""
def unique_inverse(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None) -> UniqueInverse:
    """Distinct elements, and which one each element is. Every NaN is an element of its own."""
def unique_values(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """Distinct elements. Every NaN is an element of its own."""
def unpackbits(a: ArrayLike, axis: Axis = None, count: int | None = None, bitorder: str = 'big') -> Array:
    """The bits of bytes as an array of zeros and ones."""
def unravel_index(indices: Any, shape: int | Shape, order: str = 'C') -> tuple[Array, ...]:
    """Positions in a flattened array as an index for each axis."""
def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The arrays along an axis, as a tuple."""
def unwrap(p: ArrayLike, discont: Any = None, axis: int = -1, period: Any = 6.283185307179586) -> Array:
    """Jumps of more than half a period between neighbours taken out."""
def vander(x: ArrayLike, N: int | None = None, increasing: _bool = False) -> Array:
    """The matrix whose columns are powers of a vector."""
def var(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, ddof: float | int = 0, keepdims: _bool = False, *, where: ArrayLike | None = None, mean: ArrayLike | None = None, correction: float | int | None = None) -> Array:
    """The variance: Σ_i |a_i - m|² / (n - ddof), with m the mean of the n numbers."""
def vdot(a: ArrayLike, b: ArrayLike, *, precision: Any = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """The sum of conj(a) * b over all elements."""
def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: Axis = -1, precision: Any = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """The sum of conj(x1) * x2 along one axis; other axes broadcast."""
def vecmat(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Conjugated vectors times matrices: axes (..., m) and (..., m, n) give (..., n)."""
def vectorize(pyfunc: Callable[..., Any], *, excluded: Any = ..., signature: Any = None) -> Callable[..., Any]:
    """A function of numbers (or of small arrays) applied over arrays that broadcast."""
def vsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int] | ArrayLike) -> list[Array]:
    """Pieces along axis 0; see ``split``."""
def vstack(tup: Sequence[ArrayLike] | ArrayLike, dtype: DTypeLike | None = None) -> Array:
    """Arrays stacked as rows."""
@overload
def where(condition: ArrayLike, x: None = None, y: None = None, /, *, size: int | None = None, fill_value: Any = None) -> tuple[Array, ...]: ...
@overload
def where(condition: ArrayLike, x: ArrayLike, y: ArrayLike, /) -> Array:
    """x where the condition holds, else y. With one argument: positions where it holds."""
def zeros(shape: int | Shape, dtype: DTypeLike | None = None, *, device: DeviceLike | None = None, out_sharding: DeviceLike | None = None) -> Array:
    """An array of zeros."""
def zeros_like(a: ArrayLike, dtype: DTypeLike | None = None, shape: int | Shape | None = None, *, device: DeviceLike | None = None, out_sharding: DeviceLike | None = None) -> Array:
    """Zeros in the shape and dtype of an array."""
__array_namespace_info__: Any
__array_api_version__: Any
