"""What the tests of xcore.numpy share: arguments of every dtype, and comparing with NumPy."""

import warnings

import ml_dtypes
import numpy as np

import xcore as xc
import xcore.numpy as xnp

BOOLS = ("bool",)
INTS = ("int8", "uint8", "int32", "uint32", "int64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
REAL = BOOLS + INTS + FLOATS
ALL = REAL + COMPLEX


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name)) if name == "bfloat16" else np.dtype(name)


def values(dtype, shape=(7,), seed=0, low=-3.0, high=3.0):
    """Numbers between two bounds (integers and bools where the dtype wants them)."""
    dtype = dtype_of(dtype)
    rng = np.random.default_rng([seed, *shape])
    if dtype == bool:
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "u":
        return rng.integers(max(0, int(low)), int(high) + 1, shape).astype(dtype)
    if dtype.kind == "i":
        return rng.integers(int(low), int(high) + 1, shape).astype(dtype)
    x = rng.uniform(low, high, shape)
    if dtype.kind == "c":
        x = x + 1j * rng.uniform(low, high, shape)
    return x.astype(dtype)


def wide(x):
    """The same numbers in a dtype in which NumPy computes exactly enough."""
    x = np.asarray(x)
    if x.dtype.kind in "biu":
        return x
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def default_dtype(dtype):
    """What NumPy's 64-bit defaults are here."""
    return {
        "int64": np.int32,
        "uint64": np.uint32,
        "float64": np.float32,
        "complex128": np.complex64,
    }.get(np.dtype(dtype).name, dtype)


def eps_of(dtype):
    return float(ml_dtypes.finfo(dtype).eps) if np.dtype(dtype).kind in "fcV" else 0.0


def assert_same(got, want, ulps=4.0, floor=0.0):
    """Equal up to a few units in the last place of got's dtype; NaN and infinities in the same places.

    ``floor`` is the size below which absolute instead of relative distance counts.
    """
    got = np.asarray(got)
    assert got.shape == np.shape(want), (got.shape, np.shape(want))
    bound = ulps * eps_of(got.dtype)
    got, want = wide(got), wide(want)
    if got.dtype.kind in "biu" and want.dtype.kind in "biu":
        np.testing.assert_array_equal(got, want)
        return
    np.testing.assert_allclose(got, want, rtol=bound, atol=bound * floor)


def rounded(want, dtype):
    """NumPy's result as it comes out in a narrower dtype: overflow gives infinity."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(want).astype(dtype)


def jitted(f):
    """The function compiled as a user would, for comparing with eager calls."""
    return xc.jit(f)


def leaves(result):
    """Arrays of a result that may be a tuple or list of them, also nested."""
    if isinstance(result, (tuple, list)):
        return [x for part in result for x in leaves(part)]
    return [np.asarray(result)]


def check_call(text, x, ulps=8.0, floor=1.0, traced=True, **others):
    """An expression in ``m`` and ``x``, as a user writes it: NumPy's value, ours, and ours under jit.

    NumPy computes in double precision. Results of floats have the dtype of x.
    """
    names = {k: np.asarray(v) for k, v in others.items()}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = leaves(eval(text, {"m": np, "np": np, "x": wide(x), **names}))

    def ours(x):
        return eval(
            text, {"m": xnp, "np": np, "x": x, **{k: xnp.asarray(v) for k, v in names.items()}}
        )

    for f in [ours, xc.jit(ours)] if traced else [ours]:
        got = leaves(f(xnp.asarray(x)))
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            assert a.dtype.kind == b.dtype.kind or (a.dtype.kind, b.dtype.kind) == ("V", "f"), (
                a,
                b,
            )
            if b.dtype.kind in "fc" and x.dtype.kind in "fcV":
                assert a.dtype.itemsize in (
                    x.dtype.itemsize,
                    2 * x.dtype.itemsize,
                    x.dtype.itemsize // 2,
                )
            assert_same(a, b, ulps, floor)
