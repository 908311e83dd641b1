"""What the references of the table need beyond NumPy and SciPy. ``h`` in their text."""

import functools

import numpy as np
import scipy.special as sp

from tests.fuzz.programs import np_dtype

logistic = sigmoid = expit = sp.expit
erf, erfc, lgamma, digamma, erf_inv = sp.erf, sp.erfc, sp.gammaln, sp.digamma, sp.erfinv
sin, cos, tanh, exp, exp2, log1p, sqrt = (
    np.sin, np.cos, np.tanh, np.exp, np.exp2, np.log1p, np.sqrt)  # fmt: skip
neg, floor, ceil, sign = np.negative, np.floor, np.ceil, np.sign
add, sub, mul, max, min = np.add, np.subtract, np.multiply, np.maximum, np.minimum
eq, ne, lt, ge = np.equal, np.not_equal, np.less, np.greater_equal


# Activations


def relu(x):
    return np.maximum(x, 0)


def relu6(x):
    return np.clip(x, 0, 6)


def leaky_relu(x):
    return np.where(x >= 0, x, 0.01 * x)


def elu(x):
    return np.where(x > 0, x, np.expm1(x))


celu = elu


def selu(x):
    return 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))


def _ends_at_0(x, y):
    """Values of a function with the limit 0 at -∞."""
    return np.where(x == -np.inf, 0.0, y)


def silu(x):
    return _ends_at_0(x, x * sp.expit(x))


def softplus(x):
    return np.logaddexp(x, 0)


def log_sigmoid(x):
    return -np.logaddexp(-x, 0)


def soft_sign(x):
    return x / (1 + np.abs(x))


def hard_tanh(x):
    return np.clip(x, -1, 1)


def hard_sigmoid(x):
    return np.clip(x + 3, 0, 6) / 6


def mish(x):
    return x * np.tanh(softplus(x))


def squareplus(x):
    return _ends_at_0(x, (x + np.sqrt(x**2 + 4)) / 2)


# SciPy's are NaN at infinity


def i1(x):
    return np.where(np.isinf(x), x, sp.i1(x))


def beta(x, y):
    smaller, larger = np.minimum(x, y), np.maximum(x, y)
    return np.where((larger == np.inf) & (smaller > 0), 0.0, sp.beta(x, y))


def gelu(x, approximate):
    if approximate:
        return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return x * sp.ndtr(x)


# Entropies
# SciPy's own lose the digits in which x and y agree.


def rel_entr(x, y):
    near, e = _difference(x, y)
    return np.where(near, -x * np.log1p(e), sp.rel_entr(x, y))


def kl_div(x, y):
    near, e = _difference(x, y)
    series = x * sum((-e) ** k / k for k in range(2, 16))
    return np.where(near, series, sp.kl_div(x, y))


def _difference(x, y):
    """Where y is near x > 0, and (y - x) / x there."""
    e = (y - x) / x
    near = (x > 0) & (np.abs(e) < 0.1)
    return near, np.where(near, e, 0)


# Conversions


def spence(x):
    """SciPy's, which is NaN where the limit is minus infinity."""
    return np.where(x == np.inf, -np.inf, sp.spence(x))


def floor_quotient(x, y):
    """Where an operand is infinite the Array API wants the quotient, and NumPy gives NaN or -1."""
    out = np.floor_divide(x, y)
    infinite = np.isinf(x) | np.isinf(y)
    return np.where(infinite, np.divide(x, y), out).astype(out.dtype) if infinite.any() else out


def quantile(x, q, axis):
    """NumPy's interpolation is NaN between equal infinities."""
    low, high = (np.quantile(x, q, axis=axis, method=m) for m in ("lower", "higher"))
    return np.where(low == high, low, np.quantile(x, q, axis=axis))


def cast(x, dtype):
    """A conversion that keeps floats wide. Floats beyond an integer's range are refused."""
    target = np_dtype(dtype)
    letter = "f" if dtype == "bfloat16" else target.kind
    if letter in "fc":
        return x.astype(np.complex128 if letter == "c" else np.float64)
    if letter == "b" or x.dtype.kind != "f":
        return x.astype(target)
    info, whole = np.iinfo(target), np.trunc(x)
    if not np.all((whole >= float(info.min)) & (whole < float(info.max) - 256)):
        raise Unfit("a float out of the integer's range")
    return whole.astype(target)


class Unfit(Exception):
    """What the values would make of it is not defined, or costs too much."""


def at_least_int(x):
    return int if x.dtype == bool else x.dtype


def nan_to_num(x, dtype):
    largest = float(np.finfo(np.float32).max)
    return np.nan_to_num(x, posinf=largest, neginf=-largest)


def cumulative(ufunc, x, axis, reverse):
    if reverse:
        return np.flip(ufunc.accumulate(np.flip(x, axis), axis), axis)
    return ufunc.accumulate(x, axis)


def population_count(x):
    """The bits of negative numbers are those of their complement, unlike in ``np.bitwise_count``."""
    return np.bitwise_count(x.view(f"u{x.dtype.itemsize}")).astype(x.dtype)


def top_k(x, n):
    below = np.signbit(x) & (x == 0)  # as sorting does: 0.0 stands above -0.0, and NaN above all
    order = np.lexsort((below, -x, ~np.isnan(x)))[..., :n]
    return np.take_along_axis(x, order, -1), order


def nonzero(x, n):
    found = np.nonzero(x)[0][:n]
    return np.concatenate([found, np.zeros(n - len(found), int)])


def lax_padded(x, config):
    for axis, (low, high, gap) in enumerate(config):
        n = x.shape[axis]
        wide = np.zeros(
            (*x.shape[:axis], n + (n - 1) * gap if n else 0, *x.shape[axis + 1 :]), x.dtype
        )
        wide = np.moveaxis(wide, axis, 0)
        wide[:: gap + 1] = np.moveaxis(x, axis, 0)
        wide = wide[-low:] if low < 0 else np.concatenate([np.zeros((low, *wide.shape[1:]), x.dtype), wide])  # fmt: skip
        wide = np.concatenate([wide, np.zeros((high, *wide.shape[1:]), x.dtype)])
        x = np.moveaxis(wide, 0, axis)
    return x


# Indexing


def _counted(i, n):
    """Negative positions count from the end."""
    i = i.astype(np.int64)
    return np.where(i < 0, i + n, i)


def taken(x, i):
    return x[np.clip(_counted(i, x.shape[0]), 0, x.shape[0] - 1)]


def filled(x, i):
    i = _counted(i, x.shape[0])
    inside = ((i >= 0) & (i < x.shape[0])).reshape(i.shape + (1,) * (x.ndim - 1))
    return np.where(inside, x[np.clip(i, 0, x.shape[0] - 1)], np.asarray(7, x.dtype))


def scattered(x, i, v):
    out, i = x.copy(), _counted(i, x.shape[0])
    inside = (i >= 0) & (i < x.shape[0])
    np.add.at(out, i[inside], v.astype(x.dtype))
    return out


def at(x, index, v, how):
    out, v = x.copy(), cast(v, v.dtype) if v.dtype == x.dtype else _like(v, x)
    if how == "set":
        out[index] = v
    else:
        getattr(np, how).at(out, index, v)
    return out


def _like(v, x):
    return cast(v, str(x.dtype)) if x.dtype.kind in "iu" else v.astype(x.dtype)


class _Index:
    def __getitem__(self, index):
        return index


I = _Index()


def dynamic_slice(x, i, n):
    i = int(np.clip(_counted(i, x.shape[0]), 0, x.shape[0] - n))
    return x[i : i + n]


def dynamic_update(x, v, i):
    i, out = int(np.clip(_counted(i, x.shape[0]), 0, x.shape[0] - len(v))), x.copy()
    out[i : i + len(v)] = v
    return out


def dynamic_index(x, i, axis, keep):
    i = int(np.clip(_counted(i, x.shape[axis]), 0, x.shape[axis] - 1))
    return np.take(x, [i] if keep else i, axis)


@functools.lru_cache(1024)
def drawn_by(name, seed, shape, dtype):
    """Random numbers have no reference: those of an eager call."""
    import xcore as xc

    more = (-5, 9) if name == "randint" else ()
    return np.asarray(getattr(xc.random, name)(xc.random.key(seed), shape, *more, dtype=dtype))
