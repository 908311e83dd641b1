"""A table with a row for each first-order operation: what to call it with, what NumPy says.

``sample(op, *inputs, expect=…)`` is a row. Inputs are named by intent: ``positive``, ``with_ties``.
An input without a shape is elementwise and is tried in several shapes; one with a shape, such as
``reals(2, 3)``, is of that shape. An input without a dtype is tried in every dtype of the row.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

import numpy as np
import scipy.fft
import scipy.special

from tests._ops import reference
from xcore import _ops as ops
from xcore._core.types import typeof

FLOATS = ("float32", "float64")
REAL = ("bfloat16", "float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
INEXACT = REAL + COMPLEX
INTS = ("int8", "int16", "int32", "int64")
UINTS = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = INTS + UINTS
BITS = (*INTEGERS, "bool")
ORDERED = (*REAL, *INTEGERS)
NUMBERS = (*ORDERED, *COMPLEX)
ALL = (*NUMBERS, "bool")

# Inputs


@dataclass(frozen=True)
class Input:
    """Random numbers of a certain kind. Called with a shape it is an input of that shape."""

    draw: object
    shape: tuple | None = None
    dtype: str | None = None

    def __call__(self, *shape, dtype=None) -> Input:
        return Input(self.draw, shape, dtype)

    def make(self, rng, shape, dtype: str) -> np.ndarray:
        shape = shape if self.shape is None else self.shape
        dtype = np.dtype(self.dtype or dtype)
        x = self.draw(rng, shape, dtype)
        return np.asarray(x).astype(dtype)


def uniform(low: float, high: float, whole=(-9, 9)):
    """Floats of an interval (complex numbers with both parts there); integers of a range."""

    def draw(rng, shape, dtype):
        if dtype.kind == "b":
            return rng.integers(0, 2, shape)
        if dtype.kind in "iu":
            return rng.integers(
                0 if dtype.kind == "u" else whole[0], whole[1], shape, endpoint=True
            )
        x = rng.uniform(low, high, shape)
        return x + 1j * rng.uniform(low, high, shape) if dtype.kind == "c" else x

    return draw


def _away_from_zero(rng, shape, dtype):
    if dtype.kind in "bu":
        return rng.integers(1, 2 if dtype.kind == "b" else 9, shape, endpoint=True)
    x = uniform(0.3, 2.0, (1, 9))(rng, shape, dtype)
    return np.where(rng.integers(0, 2, shape), x, -x)


def _with_ties(rng, shape, dtype):
    return rng.integers(0, 2 if dtype.kind == "b" else 4, shape)


def _with_nans(rng, shape, dtype):
    edges = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -3.0]
    return rng.choice(edges, shape) if dtype.kind == "f" else rng.integers(0, 3, shape)


def _bits(rng, shape, dtype):
    """Any bit pattern."""
    if dtype.kind == "b":
        return rng.integers(0, 2, shape)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


def _shift_counts(rng, shape, dtype):
    return rng.integers(0, 8 * dtype.itemsize, shape)


def _distinct(rng, shape, dtype):
    """No two equal."""
    n = int(np.prod(shape))
    x = rng.permutation(n) - (0 if dtype.kind in "bu" else n // 2)
    return (x.reshape(shape) + (0.1 if dtype.kind == "f" else 0)) * (
        0.3 if dtype.kind == "f" else 1
    )


reals = Input(uniform(-1.5, 1.5))
positive = Input(uniform(0.3, 2.0, (1, 9)))
away_from_zero = Input(_away_from_zero)
unit = Input(uniform(-0.8, 0.8))
above_one = Input(uniform(1.2, 3.0))
away_from_halves = Input(
    lambda rng, shape, dtype: rng.integers(-9, 9, shape) + rng.uniform(0.1, 0.4, shape)
)
with_ties = Input(_with_ties)
with_nans = Input(_with_nans)
bits = Input(_bits)
shift_counts = Input(_shift_counts)
distinct = Input(_distinct)
booleans = Input(uniform(0, 1), dtype="bool")


def exactly(*values, dtype="int32") -> Input:
    """These numbers, as an array of that shape."""
    array = np.asarray(values[0] if len(values) == 1 else values)
    return Input(lambda rng, shape, dtype: array, array.shape, dtype)


# Table


@dataclass(frozen=True)
class Sample:
    """One row: an operation with its params, its inputs, and the function that says what is right."""

    name: str
    call: object
    inputs: tuple
    expect: object
    dtypes: tuple
    order: int  # up to which order derivatives are compared with differences; 0: they vanish
    ulps: float
    id: str
    number: int

    @property
    def elementwise(self) -> bool:
        return any(i.shape is None for i in self.inputs)

    @property
    def repeats(self) -> bool:
        """Whether another row calls the same operation in the same way, with other numbers."""
        return self.id.endswith(("-edges", "-nans", "-empty", "-halves"))

    def some_dtypes(self) -> list[str]:
        """A few of the dtypes, by turns; single and double precision of elementwise rows always."""
        always = [d for d in FLOATS if d in self.dtypes] if self.elementwise else []
        others = [d for d in self.dtypes if d not in always]
        turn = 3 * self.number % max(len(others), 1)
        return always + (others + others)[turn : turn + min(3, len(others))]

    def arguments(self, dtype: str, shape=(2, 3), seed: int = 0) -> list[np.ndarray]:
        rng = np.random.default_rng([seed, *self.name.encode()])
        return [i.make(rng, shape, dtype) for i in self.inputs]

    def results(self, args) -> list:
        """The operation's results, always as a list."""
        outs = self.call(*args)
        return list(outs) if isinstance(outs, (list, tuple)) else [outs]


SAMPLES: list[Sample] = []
LINEAR = 1  # the order up to which derivatives of linear operations say something


def sample(op, *inputs, expect, dtypes=INEXACT, order=2, ulps=8.0, of=None, note="", **params):
    """Add a row. ``note`` tells rows of one operation apart."""
    name = of or op.name
    call = functools.partial(op, **params) if params else op
    known = functools.partial(expect, **params) if params else expect
    taken = sum(s.name == name for s in SAMPLES)
    label = f"{name}-{note}" if note else name if not taken else f"{name}-{taken}"
    SAMPLES.append(Sample(name, call, inputs, known, dtypes, order, ulps, label, len(SAMPLES)))


# Operations whose tests are elsewhere, with the reason.
ELSEWHERE = {
    "tests/_ops/test_factor.py": (
        "cholesky lu qr geqrf householder_product triangular_solve tridiagonal_solve exchange_rows "
        "lu_pivots_to_permutation eigh svd eig schur hessenberg tridiagonal"
    ),
    "tests/linalg/test_coalescing.py": "aligned coupled settled",
    "tests/as_jax/gradients.py": "pvary psum_invariant",
    "tests/sharding/test_spread.py": "sharding_constraint inspect_sharding",
    "tests/pde/test_sharded.py": "spread_along",
    "tests/_transforms/test_vmap.py": (
        "psum pmax pmin axis_index all_gather psum_scatter all_to_all ppermute"
    ),
}

# Arithmetic

sample(ops.neg, reals, expect=np.negative, dtypes=NUMBERS, order=LINEAR)
sample(ops.add, reals, reals, expect=np.add, dtypes=ALL, order=LINEAR)
sample(ops.sub, reals, reals, expect=np.subtract, dtypes=NUMBERS, order=LINEAR)
sample(ops.mul, reals, reals, expect=np.multiply, dtypes=ALL)


def _quotient(x, y):
    """Integers round toward zero."""
    if x.dtype.kind in "iu":
        return (np.sign(x) * np.sign(y) * (np.abs(x) // np.abs(y))).astype(x.dtype)
    return x / y


def _remainder(x, y):
    return np.fmod(x, y)


sample(ops.div, reals, away_from_zero, expect=_quotient, dtypes=NUMBERS)
sample(
    ops.div, reals, exactly(np.zeros((2, 3)), dtype=None), expect=lambda x, y: np.zeros_like(x),
    dtypes=INTEGERS, note="by zero",
)  # fmt: skip
sample(ops.rem, away_from_halves, exactly(np.full((2, 3), 1.0), dtype=None), expect=_remainder,
       dtypes=("float32", "float64"), note="by one")  # fmt: skip
sample(ops.rem, reals, away_from_zero, expect=_remainder, dtypes=INTEGERS)
sample(
    ops.rem, reals, exactly(np.zeros((2, 3)), dtype=None), expect=lambda x, y: np.zeros_like(x),
    dtypes=INTEGERS, note="by zero",
)  # fmt: skip
sample(ops.max, reals, reals, expect=np.maximum, dtypes=(*ORDERED, "bool"))
sample(ops.min, reals, reals, expect=np.minimum, dtypes=(*ORDERED, "bool"))
sample(ops.max, with_nans, with_nans, expect=np.maximum, dtypes=FLOATS, order=None, note="nans")
sample(ops.min, with_nans, with_nans, expect=np.minimum, dtypes=FLOATS, order=None, note="nans")
sample(ops.pow, positive, reals, expect=np.power, dtypes=INEXACT, ulps=40)
_EXPONENTS = np.asarray([[0, 1, 2], [3, 2, 1]])
sample(
    ops.pow, reals, exactly(_EXPONENTS, dtype=None), expect=np.power, order=None,
    dtypes=(*FLOATS, "int8", "int32", "uint8", "int64"), note="whole exponents",
)  # fmt: skip
sample(
    lambda x: ops.pow(x, _EXPONENTS.astype(x.dtype)), exactly([[0, -1, 0], [-0.5, 0.7, 0]], dtype=None),
    expect=lambda x: np.power(x, _EXPONENTS), dtypes=FLOATS, of="pow", note="in the base, at 0",
)  # fmt: skip
sample(ops.pow, with_nans, with_nans, expect=np.power, dtypes=FLOATS, order=None, note="edges")
sample(ops.atan2, away_from_zero, away_from_zero, expect=np.arctan2, dtypes=REAL)
sample(ops.atan2, with_nans, with_nans, expect=np.arctan2, dtypes=FLOATS, order=None, note="edges")
sample(ops.nextafter, reals, reals, expect=np.nextafter, dtypes=FLOATS, order=0, ulps=0)

# Rounding and magnitude

sample(ops.floor, away_from_halves, expect=np.floor, dtypes=REAL, order=0, ulps=0)
sample(ops.ceil, away_from_halves, expect=np.ceil, dtypes=REAL, order=0, ulps=0)
sample(ops.round_even, away_from_halves, expect=np.rint, dtypes=REAL, order=0, ulps=0)
sample(
    ops.round_even, exactly([0.5, 1.5, 2.5, -0.5, -1.5, 3.5], dtype=None), expect=np.rint,
    dtypes=REAL, order=None, ulps=0, note="halves",
)  # fmt: skip
sample(ops.sign, away_from_zero, expect=np.sign, dtypes=(*NUMBERS,), order=0)
sample(ops.sign, with_nans, expect=np.sign, dtypes=FLOATS, order=None, note="nans")
sample(ops.abs, away_from_zero, expect=np.abs, dtypes=NUMBERS)
sample(ops.is_finite, with_nans, expect=np.isfinite, dtypes=REAL, order=0)

# Exponential and trigonometric

sample(ops.exp, reals, expect=np.exp)
sample(ops.expm1, reals, expect=np.expm1)
sample(ops.log, positive, expect=np.log)
sample(ops.log1p, positive, expect=np.log1p)
sample(ops.sqrt, positive, expect=np.sqrt)
sample(ops.rsqrt, positive, expect=lambda x: 1 / np.sqrt(x))
sample(ops.cbrt, away_from_zero, expect=np.cbrt, dtypes=REAL)
sample(ops.logistic, reals, expect=lambda x: 1 / (1 + np.exp(-x)))
sample(ops.sin, reals, expect=np.sin)
sample(ops.cos, reals, expect=np.cos)
sample(ops.tan, unit, expect=np.tan)
sample(ops.tanh, reals, expect=np.tanh)
sample(ops.sinh, reals, expect=np.sinh)
sample(ops.cosh, reals, expect=np.cosh)
sample(ops.asin, unit, expect=np.arcsin)
sample(ops.acos, unit, expect=np.arccos)
sample(ops.atan, unit, expect=np.arctan)
sample(ops.asinh, reals, expect=np.arcsinh)
sample(ops.acosh, above_one, expect=np.arccosh)
sample(ops.atanh, unit, expect=np.arctanh)

for _op, _known in [
    (ops.exp, np.exp), (ops.expm1, np.expm1), (ops.log, np.log), (ops.log1p, np.log1p),
    (ops.sqrt, np.sqrt), (ops.tanh, np.tanh), (ops.sinh, np.sinh), (ops.cosh, np.cosh),
    (ops.atan, np.arctan), (ops.asinh, np.arcsinh), (ops.sin, np.sin), (ops.cos, np.cos),
    (ops.asin, np.arcsin), (ops.acos, np.arccos), (ops.acosh, np.arccosh), (ops.atanh, np.arctanh),
    (ops.cbrt, np.cbrt), (ops.logistic, scipy.special.expit), (ops.erf, scipy.special.erf),
    (ops.erfc, scipy.special.erfc), (ops.abs, np.abs), (ops.floor, np.floor), (ops.neg, np.negative),
]:  # fmt: skip
    sample(_op, with_nans, expect=_known, dtypes=FLOATS, order=None, note="edges")

# Far from and close to zero, where a formula that is good near one cancels or overflows.
_FAR = exactly([[-30.0, -8.0, -1.1, -1e-3, -1e-6], [1e-6, 1e-3, 1.1, 8.0, 30.0]], dtype=None)
for _op, _known in [
    (ops.exp, np.exp), (ops.expm1, np.expm1), (ops.tanh, np.tanh), (ops.sinh, np.sinh), (ops.cosh, np.cosh),
    (ops.atan, np.arctan), (ops.asinh, np.arcsinh), (ops.cbrt, np.cbrt), (ops.logistic, scipy.special.expit),
    (ops.erf, scipy.special.erf), (ops.erfc, scipy.special.erfc),
]:  # fmt: skip
    order = None if _op is ops.cbrt else 1  # its derivative has no bound at zero
    sample(_op, _FAR, expect=_known, dtypes=FLOATS, order=order, ulps=16, note="far")

# Special functions

sample(ops.erf, reals, expect=scipy.special.erf, dtypes=REAL)
sample(ops.erfc, reals, expect=scipy.special.erfc, dtypes=REAL, ulps=16)
sample(ops.erf_inv, unit, expect=scipy.special.erfinv, dtypes=FLOATS, ulps=32)
sample(ops.lgamma, positive, expect=scipy.special.gammaln, dtypes=FLOATS, ulps=64)
sample(ops.digamma, positive, expect=scipy.special.digamma, dtypes=FLOATS, ulps=64)
sample(
    ops.polygamma, exactly([[0, 1, 2], [3, 1, 2]], dtype=None), positive, dtypes=FLOATS, ulps=128,
    expect=lambda n, x: scipy.special.polygamma(n.astype(int), x),
    order=None,
)  # fmt: skip
sample(
    lambda x: ops.polygamma(ops.ones(typeof(x).strong()), x),
    positive, expect=lambda x: scipy.special.polygamma(1, x), dtypes=FLOATS, ulps=128,
    of="polygamma", note="in x",
)  # fmt: skip
sample(
    lambda q: ops.zeta(ops.full_like_type(typeof(q).strong(), 2.5), q), positive, dtypes=FLOATS, ulps=64,
    expect=lambda q: scipy.special.zeta(2.5, q), of="zeta",
)  # fmt: skip

# Bits


def _mulhi(x, y):
    bits = 8 * x.dtype.itemsize
    high = [(int(a) * int(b)) >> bits for a, b in zip(x.flat, y.flat, strict=True)]
    return np.asarray(high, object).astype(x.dtype).reshape(x.shape)


def _unsigned(x):
    return x.view(np.dtype(f"uint{8 * x.dtype.itemsize}"))


def _leading_zeros(x):
    n = [8 * x.dtype.itemsize - int(a).bit_length() for a in _unsigned(x).flat]
    return np.asarray(n).astype(x.dtype).reshape(x.shape)


def _ones(x):
    n = [int(a).bit_count() for a in _unsigned(x).flat]
    return np.asarray(n).astype(x.dtype).reshape(x.shape)


sample(ops.not_, bits, expect=np.invert, dtypes=BITS, order=None)
sample(ops.and_, bits, bits, expect=np.bitwise_and, dtypes=BITS, order=None)
sample(ops.or_, bits, bits, expect=np.bitwise_or, dtypes=BITS, order=None)
sample(ops.xor, bits, bits, expect=np.bitwise_xor, dtypes=BITS, order=None)
sample(ops.shift_left, bits, shift_counts, expect=np.left_shift, dtypes=INTEGERS, order=None)
sample(
    ops.shift_right_logical, bits, shift_counts, dtypes=INTEGERS, order=None,
    expect=lambda x, n: (_unsigned(x) >> _unsigned(n)).view(x.dtype),
)  # fmt: skip
sample(
    ops.shift_right_arithmetic, bits, shift_counts, dtypes=INTS, expect=np.right_shift, order=None
)
sample(ops.population_count, bits, expect=_ones, dtypes=INTEGERS, order=None)
sample(ops.clz, bits, expect=_leading_zeros, dtypes=INTEGERS, order=None)
sample(
    ops.mulhi, bits, bits, expect=_mulhi, dtypes=("int32", "int64", "uint32", "uint64"), order=None
)

# Comparison, selection, conversion

for _op, _known in [
    (ops.eq, np.equal), (ops.ne, np.not_equal), (ops.lt, np.less), (ops.le, np.less_equal),
    (ops.gt, np.greater), (ops.ge, np.greater_equal),
]:  # fmt: skip
    _kinds = ALL if _op in (ops.eq, ops.ne) else (*ORDERED, "bool")
    sample(_op, with_ties, with_ties, expect=_known, dtypes=_kinds, order=0)
    sample(_op, with_nans, with_nans, expect=_known, dtypes=FLOATS, order=0, note="nans")

sample(ops.select, booleans, reals, reals, expect=np.where, dtypes=ALL, order=LINEAR)
sample(
    ops.select,
    exactly(True, dtype="bool"),
    reals,
    reals,
    expect=np.where,
    note="one for all",
    order=LINEAR,
)


def _converted(x, *, dtype, weak=False):
    if x.dtype.kind == "c" and dtype.kind == "b":
        return x != 0
    return x.astype(dtype)


for _target in ("float64", "float32", "bfloat16", "complex128"):
    sample(
        ops.convert, reals, expect=_converted, note=f"to {_target}", ulps=0, dtype=np.dtype(_target),
        dtypes=(*REAL, "int32", "uint8", "bool", *(COMPLEX if _target == "complex128" else ())),
        order=LINEAR if _target in ("float64", "complex128") else None,
    )  # fmt: skip
for _target in ("int32", "uint8", "bool"):
    sample(
        ops.convert, positive, expect=_converted, dtypes=(*ORDERED, "bool"), note=f"to {_target}",
        order=0, dtype=np.dtype(_target),
    )  # fmt: skip
sample(
    ops.bitcast_convert, reals(2, 4), expect=lambda x, *, dtype: x.view(dtype), dtype=np.dtype("int32"),
    dtypes=("float32", "uint32"), order=None, ulps=0,
)  # fmt: skip
sample(
    ops.bitcast_convert, bits(2, 4), dtype=np.dtype("int8"), dtypes=("int32", "uint16"), order=None,
    expect=lambda x, *, dtype: x.view(dtype).reshape(*x.shape, -1), note="narrower",
)  # fmt: skip
sample(
    ops.bitcast_convert, bits(2, 4), dtype=np.dtype("float64"), dtypes=("int16",), order=None,
    expect=lambda x, *, dtype: x.view(dtype).reshape(x.shape[:-1]), note="wider",
)  # fmt: skip
sample(
    ops.reduce_precision, reals, expect=lambda x, **_: x.astype("float16").astype(x.dtype),
    dtypes=FLOATS, order=None, ulps=0, exponent_bits=5, mantissa_bits=10,
)  # fmt: skip
sample(ops.stop_gradient, reals, expect=np.positive, dtypes=NUMBERS, order=0, ulps=0)
sample(
    functools.partial(ops.name_op, name="x"),
    reals,
    expect=np.positive,
    dtypes=NUMBERS,
    ulps=0,
    of="name",
    order=LINEAR,
)
sample(
    ops.optimization_barrier, reals, reals, expect=lambda *xs: xs, dtypes=ALL, ulps=0, order=LINEAR
)

# Layout


def _spread(x, *, shape, dims):
    wide = np.ones(len(shape), int)
    wide[list(dims)] = x.shape
    return np.broadcast_to(x.reshape(wide), shape)


for _shape, _target, _dims in [
    ((3,), (2, 3, 4), (1,)), ((1, 4), (3, 4), (0, 1)), ((), (2, 2), ()), ((2, 1), (2, 3, 1), (0, 2)),
    ((3,), (0, 3), (1,)),
]:  # fmt: skip
    sample(
        ops.broadcast_in_dim,
        reals(*_shape),
        expect=_spread,
        dtypes=ALL,
        ulps=0,
        shape=_target,
        dims=_dims,
        order=LINEAR,
    )
sample(
    ops.reshape,
    reals(2, 6),
    expect=lambda x, *, shape: x.reshape(shape),
    dtypes=ALL,
    ulps=0,
    order=LINEAR,
    shape=(3, 1, 4),
)
sample(
    ops.reshape,
    reals(0, 3),
    expect=lambda x, *, shape: x.reshape(shape),
    note="empty",
    ulps=0,
    order=LINEAR,
    shape=(2, 0),
)
sample(
    ops.transpose,
    reals(2, 3, 4),
    expect=lambda x, *, perm: x.transpose(perm),
    dtypes=ALL,
    ulps=0,
    order=LINEAR,
    perm=(2, 0, 1),
)
sample(
    ops.rev,
    reals(2, 3, 2),
    expect=lambda x, *, axes: np.flip(x, axes),
    dtypes=ALL,
    ulps=0,
    order=LINEAR,
    axes=(0, 1),
)


def _iota(*, shape, dtype, axis):
    column = np.arange(shape[axis], dtype=dtype).reshape(
        [-1 if i == axis else 1 for i in range(len(shape))]
    )
    return np.broadcast_to(column, shape)


for _dtype in ("int32", "float32", "uint8", "complex64", "bfloat16"):
    sample(
        ops.iota, expect=_iota, dtypes=("float32",), order=None, ulps=0, note=_dtype, shape=(2, 3), axis=1,
        dtype=np.dtype(_dtype),
    )  # fmt: skip
sample(
    ops.concatenate, reals(2, 3), reals(2, 0), reals(2, 1), dtypes=ALL, ulps=0, axis=1, order=LINEAR,
    expect=lambda *xs, axis: np.concatenate(xs, axis),
)  # fmt: skip


def _sliced(x, *, start, limit, strides):
    return x[tuple(slice(*z) for z in zip(start, limit, strides, strict=True))]


for _where in [
    ((1, 0), (4, 5), (1, 1)),
    ((0, 1), (5, 5), (3, 2)),
    ((2, 2), (2, 4), (1, 1)),
    ((4, 0), (5, 4), (2, 3)),
]:
    sample(
        ops.slice, reals(5, 5), expect=_sliced, dtypes=ALL, ulps=0, start=_where[0], limit=_where[1],
        strides=_where[2], order=LINEAR,
    )  # fmt: skip
for _low, _high, _gap in [
    ((1, 0), (2, 3), (0, 0)), ((0, 1), (0, 0), (2, 1)), ((-1, 2), (-1, -1), (0, 0)), ((-2, -3), (1, 2), (2, 1)),
    ((0, 0), (0, 0), (1, 1)),
]:  # fmt: skip
    sample(
        ops.pad, reals(3, 4), reals(), expect=reference.pad, dtypes=ALL, ulps=0, low=_low, high=_high,
        interior=_gap, order=LINEAR,
    )  # fmt: skip
sample(ops.pad, reals(0, 2), reals(), expect=reference.pad, note="empty", ulps=0, order=LINEAR, low=(1, 0), high=(1, 1),
       interior=(2, 0))  # fmt: skip

# Reductions


def _reduced(function, **more):
    return lambda x, *, axes: function(x, axis=axes, **more)


def _sums(x, *, axes):
    return x.sum(axis=axes, dtype=x.dtype)


def _products(x, *, axes):
    return x.prod(axis=axes, dtype=x.dtype)


for _axes in [(0,), (1,), (0, 2), (0, 1, 2), ()]:
    sample(
        ops.reduce_sum,
        reals(2, 3, 4),
        expect=_sums,
        dtypes=NUMBERS,
        ulps=32,
        order=LINEAR,
        axes=_axes,
    )
sample(ops.reduce_sum, reals(2, 0, 3), expect=_sums, note="empty", order=LINEAR, axes=(1,))
for _axes in [(1,), (0, 2)]:
    sample(
        ops.reduce_prod,
        away_from_zero(2, 2, 3),
        expect=_products,
        dtypes=NUMBERS,
        ulps=32,
        axes=_axes,
    )
sample(
    ops.reduce_prod, exactly([[0.0, 2.0, 3.0], [0.0, 0.0, 1.5]], dtype=None), expect=_products,
    dtypes=FLOATS, note="with zeros", axes=(1,),
)  # fmt: skip
sample(ops.reduce_prod, reals(2, 7), expect=_products, note="seven", axes=(1,))
sample(ops.reduce_prod, reals(5, 2, 6), expect=_products, note="thirty", axes=(0, 2), order=LINEAR)
sample(ops.reduce_prod, reals(2, 0), expect=_products, note="empty", axes=(1,))
for _op, _known, _bound in [(ops.reduce_max, np.max, -np.inf), (ops.reduce_min, np.min, np.inf)]:
    sample(
        _op,
        distinct(2, 3, 4),
        expect=_reduced(_known),
        dtypes=(*ORDERED, "bool"),
        ulps=0,
        axes=(0, 2),
    )
    sample(
        _op,
        with_nans(4, 4),
        expect=_reduced(_known),
        dtypes=FLOATS,
        order=None,
        note="nans",
        axes=(1,),
    )
    sample(
        _op,
        reals(0, 2),
        expect=_reduced(_known, initial=_bound),
        dtypes=REAL,
        order=None,
        note="empty",
        axes=(0,),
    )
for _op, _known in [
    (ops.reduce_and, np.bitwise_and), (ops.reduce_or, np.bitwise_or), (ops.reduce_xor, np.bitwise_xor)
]:  # fmt: skip
    sample(_op, bits(2, 3, 2), expect=_reduced(_known.reduce), dtypes=BITS, order=None, axes=(0, 2))
    sample(
        _op,
        bits(0, 2),
        expect=_reduced(_known.reduce),
        dtypes=BITS,
        order=None,
        note="empty",
        axes=(0,),
    )
for _op, _find in [(ops.argmax, np.argmax), (ops.argmin, np.argmin)]:
    _known = functools.partial(reference.argextremum, find=_find)
    for _kind, _input, _dtypes in [
        ("", distinct(3, 4), (*ORDERED, "bool")), ("ties", with_ties(3, 6), (*ORDERED, "bool")),
        ("nans", with_nans(3, 6), FLOATS),
    ]:  # fmt: skip
        sample(
            _op, _input, expect=_known, dtypes=_dtypes, order=0 if _kind != "nans" else None, note=_kind, axis=1,
            dtype=np.dtype("int32"),
        )  # fmt: skip

for _op, _accumulate, _kinds in [
    (ops.cumsum, np.add.accumulate, NUMBERS), (ops.cumprod, np.multiply.accumulate, NUMBERS),
    (ops.cummax, np.maximum.accumulate, ORDERED), (ops.cummin, np.minimum.accumulate, ORDERED),
    (ops.cumlogsumexp, np.logaddexp.accumulate, REAL),
]:  # fmt: skip
    _expect = reference.running(lambda x, axis, f=_accumulate: f(x, axis=axis, dtype=x.dtype))
    sample(_op, reals(2, 5), expect=_expect, dtypes=_kinds, ulps=32, axis=1)
    sample(
        _op,
        reals(5, 2),
        expect=_expect,
        dtypes=FLOATS,
        ulps=32,
        note="reverse",
        axis=0,
        reverse=True,
    )
    sample(_op, with_nans(3, 6), expect=_expect, dtypes=FLOATS, order=None, note="nans", axis=1)
    sample(_op, reals(0, 2), expect=_expect, dtypes=FLOATS, order=None, note="empty", axis=0)

# Products and sorts


def _einsum(x, y, *, contract, batch, out=None, precision=None):
    names = iter("abcdefghijklmnop")
    left = [next(names) for _ in range(x.ndim)]
    right = [next(names) for _ in range(y.ndim)]
    for i, j in [*zip(*contract, strict=True), *zip(*batch, strict=True)]:
        right[j] = left[i]
    gone = {left[i] for i in contract[0]}
    shared = [left[i] for i in batch[0]]
    rest = [c for c in [*left, *right] if c not in gone and c not in shared]
    spec = f"{''.join(left)},{''.join(right)}->{''.join([*shared, *rest])}"
    wide = np.result_type(x.dtype, out) if out else x.dtype
    return np.einsum(spec, x.astype(wide), y.astype(wide)).astype(out or x.dtype)


for _a, _b, _contract, _batch in [
    ((3, 4), (4, 2), ((1,), (0,)), ((), ())),
    ((4, 3), (2, 4), ((0,), (1,)), ((), ())),
    ((2, 3, 4), (4, 2, 5), ((2,), (0,)), ((0,), (1,))),
    ((3, 2, 4), (2, 5, 3), ((0, 1), (2, 0)), ((), ())),
    ((2, 3, 4, 2), (2, 4, 3, 2), ((1, 2), (2, 1)), ((0, 3), (3, 0))),
    ((3,), (2,), ((), ()), ((), ())),
    ((2, 0), (0, 3), ((1,), (0,)), ((), ())),
    ((), (2,), ((), ()), ((), ())),
]:  # fmt: skip
    sample(
        ops.dot_general, reals(*_a), reals(*_b), expect=_einsum, dtypes=(*NUMBERS, "bool"), ulps=32,
        contract=_contract, batch=_batch,
    )  # fmt: skip
sample(
    ops.dot_general, reals(3, 4), reals(4, 2), expect=_einsum, dtypes=("bfloat16", "float16", "int8"), ulps=32,
    order=None, note="wider result", contract=((1,), (0,)), batch=((), ()), out=np.dtype("float32"),
)  # fmt: skip

for _x, _k, _more in [
    ((2, 3, 7), (4, 3, 3), {}),
    ((1, 2, 6, 5), (3, 2, 2, 3), {"strides": (2, 1), "padding": ((1, 2), (0, 1))}),
    ((2, 2, 7), (3, 2, 2), {"rhs_dilation": (3,), "padding": ((2, 1),)}),
    ((1, 2, 4), (2, 2, 3), {"lhs_dilation": (2,), "strides": (3,), "padding": ((1, 3),)}),
    ((2, 4, 5), (6, 2, 3), {"groups": 2, "padding": ((1, 1),)}),
    ((2, 4, 4, 3), (6, 2, 2, 3), {"groups": 2, "padding": ((1, 0), (1, 1))}),
    ((1, 1, 6), (1, 1, 2), {"padding": ((-1, -2),)}),
]:  # fmt: skip
    _n = len(_x) - 2
    _plain = {
        "strides": (1,) * _n,
        "padding": ((0, 0),) * _n,
        "lhs_dilation": (1,) * _n,
        "rhs_dilation": (1,) * _n,
    }
    sample(
        ops.conv,
        reals(*_x),
        reals(*_k),
        expect=reference.conv,
        dtypes=INEXACT,
        ulps=64,
        **(_plain | _more),
    )

sample(
    ops.sort,
    distinct(3, 5),
    expect=reference.sort,
    dtypes=(*ORDERED, *COMPLEX, "bool"),
    ulps=0,
    axis=1,
)
sample(
    ops.sort, with_nans(4, 6), exactly(np.arange(24).reshape(4, 6)), expect=reference.sort, dtypes=FLOATS,
    order=None, note="nans", axis=1,
)  # fmt: skip
sample(
    ops.sort, with_ties(6, 3), distinct(6, 3), exactly(np.arange(18).reshape(6, 3)), expect=reference.sort,
    dtypes=(*FLOATS, "int32"), ulps=0, note="two keys", order=None, axis=0, num_keys=2,
)  # fmt: skip
sample(
    ops.sort, with_ties(2, 9), reals(2, 9), expect=reference.sort, dtypes=(*FLOATS, "uint8"), ulps=0,
    note="stable", order=None, axis=1,
)  # fmt: skip
sample(ops.sort, reals(0, 2), expect=reference.sort, note="empty", order=None, axis=0)
sample(ops.top_k, distinct(2, 6), expect=reference.top_k, dtypes=ORDERED, ulps=0, k=3)
sample(
    ops.top_k,
    with_ties(3, 6),
    expect=reference.top_k,
    dtypes=ORDERED,
    ulps=0,
    note="ties",
    order=None,
    k=4,
)
sample(ops.top_k, reals(2, 3), expect=reference.top_k, note="none", dtypes=FLOATS, order=None, k=0)

# Slices and indices


def _dynamic(x, *starts, sizes):
    starts = [int(np.clip(i, 0, n - s)) for i, n, s in zip(starts, x.shape, sizes, strict=True)]
    return x[tuple(slice(i, i + s) for i, s in zip(starts, sizes, strict=True))]


def _dynamic_update(x, update, *starts):
    starts = [
        int(np.clip(i, 0, n - s)) for i, n, s in zip(starts, x.shape, update.shape, strict=True)
    ]
    out = x.copy()
    out[tuple(slice(i, i + s) for i, s in zip(starts, update.shape, strict=True))] = update
    return out


for _i, _j, _type in [(1, 2, "int32"), (-3, 1 << 33, "int64"), (4, 0, "uint8")]:
    _starts = (exactly(_i, dtype=_type), exactly(_j, dtype=_type))
    sample(
        ops.dynamic_slice,
        reals(4, 5),
        *_starts,
        expect=_dynamic,
        dtypes=ALL,
        ulps=0,
        order=LINEAR,
        sizes=(2, 3),
    )
    sample(
        ops.dynamic_update_slice,
        reals(4, 5),
        reals(2, 3),
        *_starts,
        expect=_dynamic_update,
        dtypes=ALL,
        ulps=0,
        order=LINEAR,
    )
sample(ops.dynamic_update_slice, reals(5), reals(2), exactly(2), expect=_dynamic_update, note="1-d",
       dtypes=FLOATS, ulps=0, order=LINEAR)  # fmt: skip
sample(
    ops.dynamic_slice,
    reals(),
    expect=lambda x, sizes: x,
    note="0-d",
    ulps=0,
    order=LINEAR,
    sizes=(),
)
sample(
    ops.dynamic_update_slice,
    reals(),
    reals(),
    expect=lambda x, u: u,
    note="0-d",
    ulps=0,
    order=LINEAR,
)

_INSIDE = exactly([[0, 2], [3, 1], [3, 3]])
_OUTSIDE = exactly([[0, 2], [-1, 1], [4, 0], [2, 9]])
# name: (dims, sizes of the window, shape of the operand, indices, shape of the updates)
_PATTERNS = {
    "elements": (((), (0, 1), (0, 1)), (1, 1), (4, 4), "inside", (3,)),
    "rows": (((1,), (0,), (0,)), (1, 5), (4, 5), [[1], [1], [3]], (3, 5)),
    "columns": (((0,), (1,), (1,)), (4, 1), (4, 5), [[4], [0]], (4, 2)),
    "blocks": (((1, 2), (), (0, 1)), (2, 2), (6, 6), "inside", (3, 2, 2)),
    "a batch of blocks": (((0, 3), (), (1, 0)), (2, 3), (5, 6), [[[0, 1], [2, 3]]], (2, 1, 2, 3)),
    "element of each row": (((), (1,), (1,), (0,), (0,)), (1, 1), (3, 4), [[2], [0], [3]], (3,)),
    "nowhere": (((1,), (0,), (0,)), (1, 5), (4, 5), np.zeros((0, 1), int), (0, 5)),
}
for _name, (_dims, _sizes, _shape, _where, _updates) in _PATTERNS.items():
    _indices = _INSIDE if isinstance(_where, str) else exactly(_where)
    sample(
        ops.gather, reals(*_shape), _indices, expect=reference.gather, dtypes=ALL, ulps=0, of="gather",
        note=_name, dims=ops.GatherDims(*_dims), sizes=_sizes, order=LINEAR,
    )  # fmt: skip
    for _how in ("add", "set"):
        if _how == "set" and _name == "rows":
            continue  # two writers to one row: which one wins is not defined
        sample(
            ops.scatter, reals(*_shape), _indices, reals(*_updates), expect=reference.scatter, dtypes=NUMBERS,
            of="scatter", note=f"{_how} {_name}", dims=ops.ScatterDims(*_dims), how=_how, order=LINEAR,
        )  # fmt: skip
_ELEMENTS = ((), (0, 1), (0, 1))
for _mode in ("clip", "fill"):
    sample(
        ops.gather, reals(4, 4), _OUTSIDE, expect=reference.gather, dtypes=FLOATS, ulps=0, of="gather",
        note=f"{_mode} outside", dims=ops.GatherDims(*_ELEMENTS), sizes=(1, 1), mode=_mode,
        fill_value=7 if _mode == "fill" else None, order=LINEAR,
    )  # fmt: skip
for _mode in ("clip", "drop"):
    sample(
        ops.scatter, reals(4, 4), _OUTSIDE, reals(4), expect=reference.scatter, dtypes=FLOATS, of="scatter",
        note=f"{_mode} outside", dims=ops.ScatterDims(*_ELEMENTS), how="add", mode=_mode, order=LINEAR,
    )  # fmt: skip
for _how in ("mul", "min", "max"):
    sample(
        ops.scatter, away_from_zero(4, 4), exactly([[0, 2], [3, 1], [0, 2]]), away_from_zero(3), of="scatter",
        expect=reference.scatter, dtypes=(*FLOATS, "int32", "uint8"), note=_how, how=_how,
        dims=ops.ScatterDims(*_ELEMENTS),
    )  # fmt: skip
sample(
    ops.scatter, reals(4, 4), exactly([[0, 2], [3, 1], [3, 3]]), reals(3), of="scatter", how="set", unique=True,
    expect=reference.scatter, dtypes=FLOATS, note="set, promised unique", order=LINEAR, dims=ops.ScatterDims(*_ELEMENTS),
)  # fmt: skip

# Complex numbers and fft

sample(ops.real, reals, expect=np.real, dtypes=COMPLEX, ulps=0, order=LINEAR)
sample(ops.imag, reals, expect=np.imag, dtypes=COMPLEX, ulps=0, order=LINEAR)
sample(ops.conj, reals, expect=np.conj, dtypes=COMPLEX, ulps=0, order=LINEAR)
sample(
    ops.complex, reals, reals, expect=lambda x, y: x + 1j * y, dtypes=FLOATS, ulps=0, order=LINEAR
)

_TRANSFORMS = {
    "FFT": np.fft.fftn,
    "IFFT": np.fft.ifftn,
    "RFFT": np.fft.rfftn,
    "IRFFT": np.fft.irfftn,
}


def _transformed(x, *, kind, lengths):
    axes = tuple(range(x.ndim - len(lengths), x.ndim))
    return _TRANSFORMS[kind](x, s=lengths, axes=axes)


for _kind, _lengths in itertools.product(_TRANSFORMS, [(6,), (5,), (4, 3), (2, 3, 4)]):
    _shape = (*_lengths[:-1], _lengths[-1] // 2 + 1) if _kind == "IRFFT" else _lengths
    sample(
        ops.fft, reals(2, *_shape), expect=_transformed, ulps=64, kind=_kind, lengths=_lengths,
        dtypes=FLOATS if _kind == "RFFT" else COMPLEX, note=f"{_kind} {'x'.join(map(str, _lengths))}",
        order=LINEAR if len(_lengths) < 3 else None,
    )  # fmt: skip


def _cosines_or_sines(x, *, kind, type, axes, norm=None, orthogonalize=False):
    f = scipy.fft.dctn if kind == "DCT" else scipy.fft.dstn
    return f(x, type, axes=axes, norm=norm, orthogonalize=orthogonalize)


for _kind, _type in itertools.product(("DCT", "DST"), (1, 2, 3, 4)):
    sample(
        ops.trig, reals(3, 4), expect=_cosines_or_sines, ulps=64, kind=_kind, type=_type, axes=(0, 1),
        dtypes=("float32", "float64"), note=f"{_kind} {_type}", order=LINEAR,
    )  # fmt: skip
for _kind, _type in itertools.product(("DCT", "DST"), (1, 2, 3, 4)):
    sample(
        ops.trig, reals(5, 2), expect=_cosines_or_sines, ulps=64, kind=_kind, type=_type, axes=(0,), norm="ortho",
        orthogonalize=True, dtypes=("float64",), note=f"orthogonal {_kind} {_type}", order=LINEAR,
    )  # fmt: skip
