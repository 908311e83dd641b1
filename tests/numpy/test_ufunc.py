"""Methods of all functions of two arrays, against NumPy's; details are in test_binary."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xcore as xc
import xcore.numpy as xnp
from tests.numpy.reference import values

INTS = values("int32", (3, 4), low=1, high=6)
REALS = values("float64", (3, 4), low=0.5)
ARITHMETIC = "add subtract multiply divide power maximum minimum fmax fmin hypot logaddexp logaddexp2 arctan2 fmod floor_divide remainder copysign heaviside".split()
WHOLE = "bitwise_and bitwise_or bitwise_xor left_shift right_shift gcd lcm".split()
LOGIC = "logical_and logical_or logical_xor equal not_equal less less_equal greater greater_equal".split()
IDENTITIES = "add multiply logical_and logical_or logical_xor bitwise_or bitwise_xor bitwise_and gcd hypot logaddexp logaddexp2".split()


def argument(name):
    return INTS if name in WHOLE else REALS


def same(got, want):
    assert got.shape == want.shape and got.dtype.kind == want.dtype.kind
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-12)


@pytest.mark.parametrize("name", ARITHMETIC + WHOLE + LOGIC)
def test_outer(name):
    x, f = argument(name), getattr(xnp, name)
    same(f.outer(xnp.asarray(x[0]), xnp.asarray(x[1:])), getattr(np, name).outer(x[0], x[1:]))
    assert (f.nin, f.nout, f.nargs) == (2, 1, 3)


@pytest.mark.parametrize("name", ARITHMETIC + WHOLE)
def test_reduce_and_accumulate_fold_from_the_left(name):
    # along axis 0: NumPy's own vector code for power and arctan2 takes other orders along the last
    x, f, theirs = argument(name), getattr(xnp, name), getattr(np, name)
    got = xc.jit(lambda v: (f.reduce(v), f.accumulate(v)))(xnp.asarray(x))
    same(got[0], theirs.reduce(x))
    same(got[1], theirs.accumulate(x))


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_reduction_of_logic(name):
    x = np.array([[True, False, True], [True, True, True]])
    for axis in (0, 1):
        same(
            getattr(xnp, name).reduce(xnp.asarray(x), axis=axis),
            getattr(np, name).reduce(x, axis=axis),
        )


@pytest.mark.parametrize("name", IDENTITIES)
def test_reductions_of_nothing_give_the_identity(name):
    dtype = "int32" if name in WHOLE else bool if name in LOGIC else "float64"
    x = np.zeros((0, 2), dtype)
    got = getattr(xnp, name).reduce(xnp.asarray(x))
    assert got.tolist() == getattr(np, name).reduce(x).astype(dtype).tolist()


def test_reductions_of_nothing_without_an_identity():
    for name in ("subtract", "maximum", "divide"):
        with pytest.raises(ValueError, match="with elements"):
            getattr(xnp, name).reduce(xnp.zeros((0, 2)))
        assert getattr(xnp, name).reduce(xnp.zeros((0, 2)), initial=3.0).tolist() == [3, 3]


def test_options_of_reductions():
    x = xnp.asarray(REALS)
    same(
        xnp.add.reduce(x, axis=(0, 1), initial=2.0), np.add.reduce(REALS, axis=(0, 1), initial=2.0)
    )
    same(xnp.multiply.reduce(x, axis=None), np.multiply.reduce(REALS, axis=None))
    where = REALS > 1
    same(xnp.add.reduce(x, where=where), np.add.reduce(REALS, where=where))
    same(
        xnp.logaddexp.reduce(x, where=where, initial=0.0),
        np.logaddexp.reduce(REALS, where=where, initial=0.0),
    )
    assert xnp.add.reduce(xnp.asarray(INTS), dtype="float32").dtype == "float32"
    assert xnp.add.accumulate(xnp.asarray(INTS), dtype="float64").dtype == "float64"
    with pytest.raises(ValueError, match="initial"):
        xnp.subtract.reduce(x, where=where)


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=20))
def test_accumulations_end_in_reductions(x):
    for name in ("add", "maximum", "bitwise_xor"):
        f = getattr(xnp, name)
        assert (
            int(f.accumulate(np.asarray(x))[-1])
            == int(f.reduce(np.asarray(x)))
            == int(getattr(np, name).reduce(x))
        )


def test_derivatives_and_lanes():
    x = xnp.asarray(REALS)
    slope = xc.grad(lambda v: xnp.logaddexp.reduce(v))(x[0])
    np.testing.assert_allclose(
        np.asarray(slope), np.exp(REALS[0]) / np.exp(REALS[0]).sum(), rtol=1e-12
    )
    same(xc.vmap(xnp.hypot.reduce)(x), np.hypot.reduce(REALS, axis=1))


def test_elementwise_functions_are_ufuncs():
    given = [xnp.add, xnp.logaddexp, xnp.sin, xnp.negative, xnp.frompyfunc(lambda x: x, 1, 1)]
    assert all(isinstance(f, xnp.ufunc) for f in given)
    others = [xnp.sum, np.add, abs, 1, None]
    assert not any(isinstance(f, xnp.ufunc) for f in others)
    assert (xnp.add.nin, xnp.add.nout, xnp.add.nargs, xnp.add.identity) == (2, 1, 3, 0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_logaddexp2_of_equal_and_of_close_numbers(dtype):
    x = np.array([-1.0, 0.0, 3.0, -0.5, 1e5, -np.inf, 2.0, 2.0, 5.0], dtype)
    y = np.array([-1.0, 0.0, 3.0, -0.51, 1e5, -np.inf, 1.01, 0.99, -40.0], dtype)
    found = np.asarray(xnp.logaddexp2(x, y))
    assert (found[:3] == [0, 1, 4]).all() and found[4] == 1e5 + 1 and found[5] == -np.inf
    exact = np.logaddexp2(x.astype("float64"), y.astype("float64"))
    np.testing.assert_allclose(found[3:], exact[3:], rtol=4 * np.finfo(dtype).eps)


def test_logaddexp2_far_from_the_larger():
    far = np.array([-20.5, -30.0, -100.25], np.float32)
    expected = np.log1p(2.0 ** far.astype(np.float64)) / np.log(2.0)
    np.testing.assert_allclose(xnp.logaddexp2(np.float32(0), far), expected, rtol=4 * 2.0**-24)
