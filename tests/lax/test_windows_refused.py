"""Windows that arrays do not have, bits that mean nothing, and loops that cannot be: refused in our own words."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import errors, lax

X = np.arange(12.0, dtype=np.float32).reshape(3, 4)
AT = np.zeros((2, 1), np.int32)


def gather(at=AT, sizes=(1, 4), offset=(1,), collapsed=(0,), index=(0,), batch=(), of_indices=()):
    dims = lax.GatherDimensionNumbers(offset, collapsed, index, batch, of_indices)
    return lax.gather(X, at, dims, sizes)


def scatter(updates=(2, 4), at=AT, window=(1,), inserted=(0,), index=(0,), batch=(), of_indices=()):
    dims = lax.ScatterDimensionNumbers(window, inserted, index, batch, of_indices)
    return lax.scatter_add(X, at, np.ones(updates, np.float32), dims)


WINDOWS = {
    "gather, offset out of range": lambda: gather(offset=(5,)),
    "gather, offset twice": lambda: gather(offset=(1, 1), collapsed=()),
    "gather, offset falling": lambda: gather(offset=(2, 1), collapsed=()),
    "gather, wide collapsed": lambda: gather(sizes=(2, 4)),
    "gather, collapsed out of range": lambda: gather(collapsed=(7,)),
    "gather, collapsed falling": lambda: gather(sizes=(1, 1), collapsed=(1, 0), offset=()),
    "gather, index twice": lambda: gather(np.zeros((2, 2), np.int32), index=(0, 0)),
    "gather, index out of range": lambda: gather(index=(2,)),
    "gather, sizes too large": lambda: gather(sizes=(1, 9)),
    "gather, sizes too few": lambda: gather(sizes=(1,)),
    "gather, rows too long": lambda: gather(np.zeros((2, 3), np.int32)),
    "gather, floats": lambda: gather(np.zeros((2, 1), np.float32)),
    "gather, batch of another length": lambda: gather(collapsed=(), offset=(1,), index=(1,), batch=(0,), of_indices=(0,)),
    "gather, batch without a pair": lambda: gather(collapsed=(), offset=(1,), index=(1,), batch=(0,)),
    "scatter, window out of range": lambda: scatter(window=(5,)),
    "scatter, window too wide": lambda: scatter((2, 9)),
    "scatter, other rows": lambda: scatter((3, 4)),
    "scatter, too few axes": lambda: scatter((2,)),
    "scatter, nothing inserted": lambda: scatter(inserted=()),
    "scatter, index out of range": lambda: scatter(index=(9,)),
    "scatter, index twice": lambda: scatter(at=np.zeros((2, 2), np.int32), index=(0, 0)),
    "scatter, batch of another length": lambda: scatter(inserted=(), index=(1,), batch=(0,), of_indices=(0,)),
}  # fmt: skip


@pytest.mark.parametrize("wrap", [lambda f: f, lambda f: lambda: xc.jit(lambda _: f())(0)])
@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name, wrap):
    with pytest.raises(errors.ShapeError):
        wrap(WINDOWS[name])()


def test_windows_that_are_there():
    np.testing.assert_array_equal(gather(), X[[0, 0]])
    np.testing.assert_array_equal(scatter()[0], X[0] + 2)
    of_rows = gather(np.zeros((3, 1), np.int32), (1, 1), (), (1,), (1,), (0,), (0,))
    np.testing.assert_array_equal(of_rows, X[:, 0])


H = np.ones(2, np.float16)
IMAGE, KERNEL = np.ones((1, 1, 4, 4), np.float32), np.ones((1, 1, 2, 2), np.float32)
OTHERS = {
    "bits of booleans": lambda: lax.bitcast_convert_type(np.array([True]), np.int8),
    "bits of complex numbers": lambda: lax.bitcast_convert_type(np.array([1j], np.complex64), np.float32),
    "bits as complex numbers": lambda: lax.bitcast_convert_type(np.ones(2, np.float32), np.complex64),
    "complex halves": lambda: lax.complex(H, H),
    "complex product as floats": lambda: lax.dot(1j * np.ones((2, 2)), 1j * np.ones((2, 2)), preferred_element_type=float),
    "stride 0": lambda: lax.conv(IMAGE, KERNEL, (0, 1), "SAME"),
    "dilation 0": lambda: lax.conv_general_dilated(IMAGE, KERNEL, (1, 1), "SAME", (1, 0)),
    "padding by a number": lambda: lax.conv(IMAGE, KERNEL, (1, 1), 3),
    "padding by numbers": lambda: lax.conv(IMAGE, KERNEL, (1, 1), (3, 3)),
    "padding of one axis": lambda: lax.conv(IMAGE, KERNEL, (1, 1), [(1, 1)]),
    "exp2 of integers": lambda: lax.exp2(np.array([-1, 3])),
    "axis that is not there": lambda: lax.associative_scan(lax.add, np.ones((3, 2)), axis=5),
    "axis before the first": lambda: lax.associative_scan(lax.add, np.ones((3, 2)), axis=-3),
    "axis of a number": lambda: lax.associative_scan(lax.add, 3.0),
    "axis that one has not": lambda: lax.associative_scan(lambda a, b: a, (np.ones((3, 2)), np.ones(3)), axis=1),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_others(name):
    with pytest.raises((errors.ArgumentError, errors.DTypeError)):
        OTHERS[name]()


# What is taken


def test_tuples_with_arrays_in_them_are_positions():
    x, one = xnp.arange(12).reshape(3, 4), xnp.int32(1)
    np.testing.assert_array_equal(x[(1, 2), (xnp.int32(0), one)], [4, 9])
    at = lambda i: x[:, (i, i + 1)]
    for f in (at, xc.jit(at)):
        np.testing.assert_array_equal(f(1), np.asarray(x)[:, [1, 2]])
    np.testing.assert_array_equal(
        xc.vmap(at)(xnp.arange(2)), [np.asarray(x)[:, [i, i + 1]] for i in (0, 1)]
    )
    np.testing.assert_array_equal(x[((0, one), (one, 2)), 0], np.asarray(x)[[[0, 1], [1, 2]], 0])
    np.testing.assert_array_equal(x.at[(0, one), 0].set(7)[:, 0], [7, 7, 8])
    with pytest.raises(TypeError, match="list of arrays"):
        x[[one, one]]


def test_loops_between_floats():
    add = lambda i, c: c + i
    assert float(lax.fori_loop(0.0, 3.0, add, 7.0)) == 10.0
    assert float(lax.fori_loop(0.5, 3.0, add, 0.0)) == 0.5 + 1.5 + 2.5
    assert float(lax.fori_loop(2.0, -1.0, add, 7.0)) == 7.0
    assert float(xc.jit(lambda n: lax.fori_loop(0.0, n, add, 0.0))(3.0)) == 3.0
    assert float(xc.grad(lambda x: lax.fori_loop(x, x + 2.0, lambda i, c: 3 * c, x))(1.0)) == 9.0
    assert lax.fori_loop(0, 2.0, add, 0.0) == 1.0
    with pytest.raises(TypeError, match="lower must be"):
        lax.fori_loop(1j, 3, add, 0.0)


def test_a_pair_may_be_a_list():
    carry, ys = lax.scan(lambda c, x: [c + x, c], xnp.int32(0), xnp.arange(3))
    assert int(carry) == 3 and ys.tolist() == [0, 0, 1]


def test_loops_in_python_return_arrays():
    with xc.config.override(disable_jit=True):
        out = lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 2, s[1]), (0, 1.5))
    assert [type(x) for x in out] == [xc.Array] * 2


def test_negative_positions_of_index_take():
    assert lax.index_take(xnp.arange(4), (xnp.asarray([-1, 0]),), (0,)).tolist() == [3, 0]


def test_numbers_are_arrays():
    for out in (
        lax.select_n(3, 2.0),
        lax.select_n(True, 2.0),
        xc.jit(lambda: lax.select_n(0, 2.0))(),
    ):
        assert isinstance(out, xc.Array) and float(out) == 2.0
    assert lax.select(xnp.asarray([0, 1]), xnp.ones(2), xnp.zeros(2)).tolist() == [0, 1]
