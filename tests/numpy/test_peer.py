"""Calls that the tests of NumPy's other implementations make, against NumPy and against their errors."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp

X = np.arange(12.0).reshape(3, 4)
HUGE = 2**100

# what is called with either library as its argument; both must give the same
SAME = {
    "eye far off": lambda lib: lib.eye(4, 3, k=HUGE),
    "tri far below": lambda lib: lib.tri(4, k=-(2**33)),
    "tri far above": lambda lib: lib.tri(2, 3, k=2**33),
    "tril far above": lambda lib: lib.tril(X, 2**33),
    "mgrid of nothing": lambda lib: lib.mgrid[()],
    "c_ with axis and axes": lambda lib: lib.c_["0,2", [1, 2, 3], [4, 5, 6]],
    "c_ as a row": lambda lib: np.asarray(lib.c_["r", [1, 2, 3], [4, 5, 6]]),
    "c_ as a column": lambda lib: np.asarray(lib.c_["c", [1, 2, 3], [4, 5, 6]]),
    "r_ as a row": lambda lib: np.asarray(lib.r_["r", [1, 2, 3], [4, 5, 6]]),
    "r_ as a column": lambda lib: np.asarray(lib.r_["c", [1, 2, 3], [4, 5, 6]]),
    "r_ of matrices": lambda lib: np.asarray(lib.r_["r", X, X]),
    "unravel bytes": lambda lib: lib.unravel_index(np.array([0, 11], np.uint8), (3, 4)),
    "repeat a number along axis 0": lambda lib: lib.repeat(3.0, 2, axis=0),
    "array_equal of lists": lambda lib: lib.array_equal([1, 2], [1, 2]),
    "array_equiv of lists": lambda lib: lib.array_equiv([1, 2], [[1, 2], [1, 2]]),
    "a shape that is an array": lambda lib: lib.zeros(np.array(4, np.int32)),
    "gradient beside infinity": lambda lib: lib.gradient(np.array([0.0, np.inf, 2.0, 3.0])),
    "take_along_axis": lambda lib: lib.take_along_axis(X, np.array([[3], [0], [1]]), axis=1),
    "average by weights of turned axes": lambda lib: lib.average(X, (1, 0), X.T + 1),
    "setdiff1d of mixed dtypes": lambda lib: lib.setdiff1d(
        np.array([3, 1, 2], np.int8), np.array([2.0, 5.5], np.float32)
    ),
    "step of no gaps": lambda lib: lib.linspace(X[0], X[1], 1, retstep=True)[1],
    "iscomplexobj of None": lambda lib: lib.iscomplexobj(None),
    "trapezoids of their own widths": lambda lib: lib.trapezoid(X, dx=np.arange(1.0, 5), axis=0),
    "trapezoids over fewer axes": lambda lib: lib.trapezoid(np.stack([X, X + 1]), X**2, axis=-2),
    "round of a float": lambda lib: round(lib.float32(1.6)),
}  # fmt: skip


@pytest.mark.parametrize("call", SAME.values(), ids=SAME)
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # NumPy's matrices
def test_same_as_numpy(call):
    expected, given = call(np), call(xnp)
    np.testing.assert_array_equal(given, expected)
    assert np.shape(given) == np.shape(expected)
    if isinstance(expected, np.ndarray) and expected.itemsize < 4:
        assert given.dtype == expected.dtype


# (call, what it raises in any of the libraries)
ERRORS = {
    "clip of complex": (lambda: xnp.clip(1j, 0, 1), ValueError),
    "hypot of complex": (lambda: xnp.hypot(1j, 1), (ValueError, TypeError)),
    "gcd of floats": (lambda: xnp.gcd(1.5, 2), ValueError),
    "ldexp by floats": (lambda: xnp.ldexp(X, X), ValueError),
    "var of complex as real": (lambda: xnp.var(X * 1j, dtype=np.float32), ValueError),
    "corrcoef as int": (lambda: xnp.corrcoef(X, dtype=int), ValueError),
    "sum where int": (lambda: xnp.sum(X, where=np.ones(4, int)), ValueError),
    "mean where int": (lambda: xnp.mean(X, where=np.ones(4, int)), ValueError),
    "nanmean where int": (lambda: xnp.nanmean(X, where=np.ones(4, int)), ValueError),
    "tensordot over too many axes": (lambda: xnp.tensordot(X, X[0], axes=2), TypeError),
    "transpose by a repeated axis": (lambda: xnp.transpose(X, (0, 0)), TypeError),
    "a negative shape": (lambda: xnp.full((-1, 1), 2), (ValueError, TypeError)),
    "broadcast to a negative shape": (lambda: xnp.broadcast_to(X[0], (-1, 4)), ValueError),
    "a negative number of samples": (lambda: xnp.geomspace(1, 5, -1), ValueError),
    "accumulate over all axes": (lambda: xnp.add.accumulate(X, axis=None), ValueError),
    "a negative excluded position": (lambda: xnp.vectorize(abs, excluded=(-1,)), ValueError),
    "an excluded name alone": (lambda: xnp.vectorize(abs, excluded="b"), TypeError),
    "None as an array": (lambda: xnp.asarray([0.0, None]), ValueError),
    "a float as an index": (lambda: xnp.arange(3)[0.0], TypeError),
    "a float as an index of NumPy": (lambda: xnp.arange(3)[0.0], IndexError),
    "a string as an index": (lambda: xnp.arange(3)["a"], TypeError),
    "a float in a slice": (lambda: xnp.arange(3)[0.0:2], TypeError),
    "ragged lists as an index": (lambda: xnp.asarray(X)[[0, [0, 1]]], TypeError),
    "a traced slice": (lambda: xc.jit(lambda i: xnp.arange(3)[i:])(1), IndexError),
    "a number out of range": (lambda: xnp.array(300, np.uint8), OverflowError),
    "complex as real": (lambda: xnp.array([1.0, 2j], np.float32), TypeError),
    "a period with axes": (lambda: xnp.interp(0.0, X[0], X[0], period=np.ones(1)), ValueError),
    "take that raises": (lambda: xnp.take(X, np.array([0]), mode="raise"), NotImplementedError),
    "an unknown way to pad": (lambda: xnp.pad(X, 1, mode="mean of all"), NotImplementedError),
    "take that raises, as a value": (lambda: xnp.take(X, np.array([0]), mode="raise"), ValueError),
    "a range to nowhere": (lambda: xnp.arange(None), TypeError),
    "an unknown way to sort": (lambda: xnp.sort(X, kind="foo"), ValueError),
    "a number as a function": (lambda: xnp.vectorize(1), TypeError),
    "tensordot over unequal axes": (lambda: xnp.tensordot(X, X[0], ([0], [0, 1])), TypeError),
    "a traced shape": (lambda: xc.jit(xnp.zeros)(2), TypeError),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error"), ERRORS.values(), ids=ERRORS)
def test_errors_are_those_of_the_peers(call, error):
    kinds = error if isinstance(error, tuple) else (error,)
    with pytest.raises(kinds) as caught:
        call()
    assert all(isinstance(caught.value, k) for k in kinds[:1])


@pytest.mark.parametrize("make", [xnp.eye, xnp.tri], ids=["eye", "tri"])
def test_traced_diagonals(make):
    ks = np.array([-1, 0, 2, 70000])
    found = xc.vmap(lambda k: make(3, 4, k=k))(ks)
    np.testing.assert_array_equal(found, [getattr(np, make.__name__)(3, 4, k=k) for k in ks])
    assert make(3, 4, k=np.int8(1)).shape == (3, 4)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64])
@pytest.mark.parametrize("decimals", [40, 100, 1000, -400])
def test_rounding_far_from_the_point(dtype, decimals):
    x = np.array([1.5, -3.25, 0.0], dtype)
    np.testing.assert_array_equal(xnp.round(x, decimals), x if decimals > 0 else 0 * x)


def test_ufuncs_of_one_function_are_equal():
    f, g = (xnp.frompyfunc(abs, 1, 1) for _ in range(2))
    assert f == g and hash(f) == hash(g) and f != xnp.frompyfunc(abs, 1, 1, identity=0)


def test_vectorized_functions_take_none():
    f = xnp.vectorize(lambda a, b: a if b is None else a + b, signature="(n),()->(n)")
    np.testing.assert_array_equal(f(X, None), X)
    np.testing.assert_array_equal(f(X, X[:, 0]), X + X[:, :1])


def test_modes_of_positions():
    x = xnp.asarray(X)
    found = xnp.take_along_axis(x, xnp.asarray([[3], [0], [9]]), axis=1, mode="one_hot")
    np.testing.assert_array_equal(found, [[3], [4], [0]])
    np.testing.assert_array_equal(x.at[0, :2].set([7, 8])[0], [7, 8, 2, 3])
    far = xnp.ravel_multi_index((xnp.asarray([5]), xnp.asarray([2])), (3, 4), mode="ignore")
    np.testing.assert_array_equal(far, [22])
    assert (x.aval.shape, x.aval.dtype, x.aval.weak_type) == ((3, 4), x.dtype, False)
