"""Choosing, taking, putting, inserting, grids of positions: against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xcore as xc
import xcore.numpy as xnp
from tests.numpy.reference import values
from xcore.numpy._select import cut, safe_divide

X = values("float32", (3, 4))
I = np.array([[0, 3, 1], [2, 2, 0]])


def equal(got, want):
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            equal(a, b)
        return
    assert np.shape(got) == np.shape(want)
    np.testing.assert_array_equal(np.asarray(got), want)


# Where


def test_where():
    for args in ((X > 0, X, 0.0), (X > 0, X[0], X), (True, X, 2), (X[:, :1] > 0, 1, -1)):
        equal(
            xnp.where(*[xnp.asarray(a) if isinstance(a, np.ndarray) else a for a in args]),
            np.where(*args),
        )
    assert xnp.where(xnp.asarray([1, 0]), 1, 2.5).tolist() == [1, 2.5]
    assert xnp.where(xnp.asarray([True]), xnp.ones(1, "int8"), 3).dtype == np.int8
    equal(xnp.where(xnp.asarray(X > 0)), np.where(X > 0))
    for wrong in ({"x": 1}, {"x": 1, "y": 2, "size": 3}):
        with pytest.raises((ValueError, TypeError)):
            xnp.where(True, **wrong)
    with pytest.raises(ValueError, match="both given or both left out"):
        xnp.where(True, 1)
    assert float(xc.grad(lambda x: xnp.where(x > 0, x, 2 * x))(-1.0)) == 2


def test_select():
    conditions, choices = [X < 0, X > 1], [X, 2 * X]
    equal(
        xnp.select([xnp.asarray(c) for c in conditions], choices, 5.0),
        np.select(conditions, choices, np.float32(5)),
    )
    with pytest.raises(ValueError, match="as long as condlist"):
        xnp.select(conditions, choices[:1])
    with pytest.raises(TypeError, match="only bool"):
        xnp.select([xnp.ones(2)], [xnp.ones(2)])


def test_choose():
    a, choices = (
        np.array([[0, 1, 2], [2, 1, 0]]),
        [np.arange(3), np.arange(3) + 10, np.full((2, 1), 7)],
    )
    equal(xnp.choose(xnp.asarray(a), choices), np.choose(a, choices))
    for mode in ("clip", "wrap"):
        equal(
            xnp.choose(xnp.asarray(a + 2), choices, mode=mode), np.choose(a + 2, choices, mode=mode)
        )
    equal(
        xnp.choose(xnp.asarray(a), xnp.arange(9).reshape(3, 3)),
        np.choose(a, np.arange(9).reshape(3, 3)),
    )


def test_piecewise():
    x = np.linspace(-2, 2, 7)
    cases = [
        ([x < 0, x >= 1], [lambda v: -v, 5.0]), ([x < 0, x >= 1], [1, 2, lambda v: v * 2]), ([x < 0], [3]),
        (x < 0, [lambda v: v, 1]),
    ]  # fmt: skip
    for conditions, functions in cases:
        equal(
            xnp.piecewise(xnp.asarray(x), conditions, functions),
            np.piecewise(x, conditions, functions),
        )
    got = xc.jit(lambda x: xnp.piecewise(x, [x < 0], [lambda v, k: k * v, 0], 3.0))(x)
    equal(got, np.piecewise(x, [x < 0], [lambda v, k: k * v, 0], 3.0))
    with pytest.raises(ValueError, match="1 or 2 functions"):
        xnp.piecewise(xnp.asarray(x), [x < 0], [1, 2, 3])


# Positions


@pytest.mark.parametrize("shape", [(5,), (2, 3), (2, 0), (2, 2, 2)])
def test_positions(shape):
    x = values("int32", shape, low=0, high=1)
    a = xnp.asarray(x)
    equal(xnp.nonzero(a), np.nonzero(x))
    equal(a.nonzero(), np.nonzero(x))
    equal(xnp.argwhere(a), np.argwhere(x))
    equal(xnp.flatnonzero(a), np.flatnonzero(x))
    n = int((x != 0).sum())
    for size in (0, n, n + 3, max(n - 1, 0)):
        want = [np.pad(p[:size], (0, max(size - n, 0)), constant_values=-1) for p in np.nonzero(x)]
        got = xc.jit(lambda a, size=size: xnp.nonzero(a, size=size, fill_value=-1))(a)
        equal(got, tuple(want))
        equal(xnp.argwhere(a, size=size, fill_value=-1), np.stack(want, axis=1))
        equal(xnp.where(a, size=size, fill_value=-1), tuple(want))


def test_positions_need_a_size_under_jit():
    for f in (xnp.nonzero, xnp.flatnonzero, xnp.argwhere, xnp.where):
        with pytest.raises(xc.errors.ConcretizationError, match="Give size="):
            xc.jit(f)(xnp.ones(3))
    with pytest.raises(ValueError, match="1 or more axes"):
        xnp.nonzero(xnp.asarray(1))
    assert xnp.argwhere(xnp.asarray(1)).shape == (1, 0) and xnp.argwhere(xnp.asarray(0)).shape == (
        0,
        0,
    )
    got = xnp.nonzero(xnp.asarray([[1, 0], [0, 1]]), size=3, fill_value=(7, 8))
    assert [p.tolist() for p in got] == [[0, 1, 7], [0, 1, 8]]


def test_extract_compress_place():
    mask = X > 0
    equal(xnp.extract(xnp.asarray(mask), xnp.asarray(X)), np.extract(mask, X))
    equal(xnp.extract(xnp.asarray(mask), xnp.asarray(X), size=20, fill_value=9)[-1], np.float32(9))
    for condition, axis in (
        ([True, False, True], 0),
        ([False, True], 1),
        ([True, False, True], None),
    ):
        equal(xnp.compress(condition, xnp.asarray(X), axis), np.compress(condition, X, axis))
        equal(
            xnp.asarray(X).compress(xnp.asarray(condition), axis), np.compress(condition, X, axis)
        )
    got = xc.jit(lambda c, x: xnp.compress(c, x, axis=1, size=3, fill_value=-5))(
        np.array([False, True, False, True]), X
    )
    equal(got, np.concatenate([X[:, [1, 3]], np.full((3, 1), -5, "float32")], axis=1))
    want = X.copy()
    np.place(want, mask, [1.0, 2.0])
    equal(xnp.place(xnp.asarray(X), xnp.asarray(mask), [1.0, 2.0], inplace=False), want)
    with pytest.raises(ValueError, match="immutable"):
        xnp.place(xnp.asarray(X), mask, 1.0)
    with pytest.raises(IndexError):
        xnp.compress([False] * 4 + [True], xnp.asarray(X), axis=1)


# Take and put


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_take(axis):
    index = I % 3
    equal(xnp.take(xnp.asarray(X), xnp.asarray(index), axis=axis), np.take(X, index, axis=axis))
    equal(xnp.asarray(X).take(xnp.asarray(index), axis), np.take(X, index, axis=axis))
    far = np.array([-1, 0, 50, -70])
    for mode in ("clip", "wrap"):
        equal(
            xnp.take(xnp.asarray(X), xnp.asarray(far), axis=axis, mode=mode),
            np.take(X, far, axis=axis, mode=mode),
        )
    filled = np.asarray(xnp.take(xnp.asarray(X), xnp.asarray(far), axis=axis))
    assert np.isnan(filled).any() and np.isnan(np.take(filled, [2, 3], axis=axis or 0)).all()
    equal(xnp.take(xnp.asarray(X), 1, axis=axis), np.take(X, 1, axis=axis))


def test_take_details():
    assert xnp.take(xnp.arange(3), [2, 0]).tolist() == [2, 0]
    assert xnp.take(xnp.arange(3), xnp.asarray([7]), fill_value=-1).tolist() == [-1]
    assert xnp.take(xnp.arange(3), []).shape == (0,)
    with pytest.raises(ValueError, match="cannot raise"):
        xnp.take(xnp.arange(3), 1, mode="raise")
    with pytest.raises(TypeError, match="integer"):
        xnp.take(xnp.arange(3), 1.5)


@pytest.mark.parametrize("axis", [0, 1, None])
def test_along_an_axis(axis):
    order = np.argsort(X, axis=axis)
    equal(
        xnp.take_along_axis(xnp.asarray(X), xnp.asarray(order), axis),
        np.take_along_axis(X, order, axis),
    )
    want = X.copy()
    np.put_along_axis(want, order, 2.5, axis)
    equal(xnp.put_along_axis(xnp.asarray(X), xnp.asarray(order), 2.5, axis, inplace=False), want)


def test_along_an_axis_broadcasts():
    index = np.array([[1], [0], [3]])
    equal(
        xnp.take_along_axis(xnp.asarray(X), xnp.asarray(index), 1), np.take_along_axis(X, index, 1)
    )
    equal(xnp.take_along_axis(xnp.asarray(X), xnp.asarray(index)), np.take_along_axis(X, index, -1))
    row = np.array([[2, 0, 1, 2]])
    equal(xnp.take_along_axis(xnp.asarray(X), xnp.asarray(row), 0), np.take_along_axis(X, row, 0))
    one = values("float32", (1, 4))
    equal(xnp.take_along_axis(xnp.asarray(one), xnp.asarray(I), 1), np.take_along_axis(one, I, 1))
    assert np.isnan(np.asarray(xnp.take_along_axis(xnp.asarray(X), xnp.asarray([[9]]), 1))).all()
    with pytest.raises(ValueError, match="equally many axes"):
        xnp.take_along_axis(xnp.asarray(X), xnp.asarray([0]), 0)
    with pytest.raises(ValueError):
        xnp.take_along_axis(xnp.asarray(X), xnp.zeros((2, 4), "int32"), 1)


@pytest.mark.parametrize("mode", ["clip", "wrap"])
def test_put(mode):
    for index, v in (
        ([0, 5], [1.0, 2.0]),
        ([3, -1, 7], [9.0]),
        ([100, -100], [1.0, 2.0]),
        ([], [1.0]),
        ([[1, 2], [3, 4]], 0.0),
    ):
        want = X.copy()
        np.put(want, np.array(index, int), v, mode=mode)
        if mode == "clip" and min(np.ravel(index), default=0) < 0:
            continue  # NumPy counts no negative positions then
        equal(xnp.put(xnp.asarray(X), index, v, mode=mode, inplace=False), want)
    with pytest.raises(ValueError, match="immutable"):
        xnp.put(xnp.asarray(X), 0, 1.0)


@pytest.mark.parametrize(
    "shape, wrap",
    [((3, 3), False), ((5, 2), False), ((5, 2), True), ((2, 5), False), ((2, 2, 2), False)],
)
def test_fill_diagonal(shape, wrap):
    for value in (7.0, [1.0, 2.0]):
        want = np.zeros(shape, "float32")
        np.fill_diagonal(want, value, wrap)
        equal(xnp.fill_diagonal(xnp.zeros(shape), value, wrap, inplace=False), want)


@pytest.mark.parametrize(
    "obj", [0, -1, [0, 2], slice(None, None, 2), np.array([True, False, True]), [], [1, 1], [-1, 0]]
)
def test_delete(obj):
    equal(xnp.delete(xnp.asarray(X), obj, axis=0), np.delete(X, obj, axis=0))
    if not isinstance(obj, np.ndarray):
        equal(xnp.delete(xnp.asarray(X[:, :3]), obj, axis=1), np.delete(X[:, :3], obj, axis=1))
        equal(xnp.delete(xnp.asarray(X), obj), np.delete(X, obj))


def test_delete_at_traced_positions():
    for i in (0, 2, -1):
        equal(xc.jit(lambda i: xnp.delete(X, i, axis=1))(i), np.delete(X, i, axis=1))
    f = xc.jit(lambda i: xnp.delete(X, i, axis=1, assume_unique_indices=True))
    equal(f(np.array([3, 0])), np.delete(X, [3, 0], axis=1))
    with pytest.raises(xc.errors.ConcretizationError, match="assume_unique_indices"):
        xc.jit(lambda i: xnp.delete(X, i, axis=1))(np.array([3, 0]))
    with pytest.raises(IndexError):
        xnp.delete(xnp.arange(3), 3)


INSERTS = [
    (1, 9.0, None), (-1, 9.0, None), (0, [1.0, 2.0], None), ([1, 3], [5.0, 6.0], None), ([3, 1, 1], [5.0, 6.0, 7.0], None),
    (1, 5.0, 0), (3, 5.0, 0), (1, [1.0, 2.0, 3.0, 4.0], 0), (1, [1.0, 2.0, 3.0], 1), ([0, 2], 5.0, 1),
    ([0, 2], [[1.0, 2.0]], 1), (slice(0, 2), 7.0, 0), ([1], [[1.0], [2.0], [3.0]], 1), ([2, 2], [[1.0, 2.0]], 1),
    (np.array([True, False, True]), 4.0, 0),
]  # fmt: skip


@pytest.mark.parametrize("obj, v, axis", INSERTS, ids=str)
def test_insert(obj, v, axis):
    equal(
        xnp.insert(xnp.asarray(X), obj, np.array(v, "float32"), axis),
        np.insert(X, obj, np.array(v, "float32"), axis),
    )


def test_insert_at_traced_positions():
    for i in (0, 2, -1):
        equal(xc.jit(lambda i: xnp.insert(X, i, 5.0, axis=1))(i), np.insert(X, i, 5.0, axis=1))
    equal(
        xc.jit(lambda i: xnp.insert(X[0], i, xnp.asarray([5.0, 6.0])))(np.array([3, 0])),
        np.insert(X[0], [3, 0], [5.0, 6.0]),
    )
    with pytest.raises(IndexError):
        xnp.insert(xnp.arange(3), 4, 1)


def test_trim_zeros():
    for data in ([0, 0, 1, 0, 2, 0], [0, 0], [1, 2], []):
        x = np.array(data, int)
        for trim in ("fb", "f", "b"):
            equal(xnp.trim_zeros(xnp.asarray(x), trim), np.trim_zeros(x, trim))
    x = np.zeros((4, 5), int)
    x[1:3, 2] = 1
    equal(xnp.trim_zeros(xnp.asarray(x)), np.trim_zeros(x))
    equal(xnp.trim_zeros(xnp.asarray(x), axis=1), np.trim_zeros(x, axis=1))
    with pytest.raises(xc.errors.ConcretizationError):
        xc.jit(xnp.trim_zeros)(x)


# Grids


def test_grids():
    for shape in ((2, 3), (4,), ()):
        equal(xnp.indices(shape), np.indices(shape))
        equal(xnp.indices(shape, sparse=True), np.indices(shape, sparse=True))
    assert xnp.indices((2,), dtype="float16").dtype == np.float16
    for name in ("mgrid", "ogrid"):
        mine, theirs = getattr(xnp, name), getattr(np, name)
        equal(mine[0:3], theirs[0:3])
        equal(mine[:3, 1:7:2], theirs[:3, 1:7:2])
        equal(mine[0:1:5j], theirs[0:1:5j].astype("float32"))
        got, want = mine[0:1:3j, 0:2], theirs[0:1:3j, 0:2]
        equal(list(got), [w.astype("float32") for w in want])


def test_joining_by_index():
    a, b = np.arange(3), np.array([7, 8])
    keys = [
        np.s_[1:4, 0, a], np.s_[a, b], np.s_["0,2", a, a], np.s_["-1,2", a, b], np.s_["0,2,0", a, b], np.s_["1,3,1", a, b],
        np.s_[0:6:2, 9], np.s_["-1", a, b],
    ]  # fmt: skip
    for key in keys:
        equal(xnp.r_[key], np.r_[key])
    equal(xnp.r_[0:1:3j], np.r_[0:1:3j].astype("float32"))
    for key in (np.s_[a, a], np.s_[a, a, a], np.s_[0:3, a]):
        equal(xnp.c_[key], np.c_[key])
    assert xnp.r_["r", 1:3].tolist() == [[1, 2]] and xnp.r_["c", 1:3].tolist() == [[1], [2]]
    with pytest.raises(ValueError, match="directive"):
        xnp.r_["x", 1]
    assert xnp.s_[1:2, ...] == np.s_[1:2, ...] and xnp.index_exp[1] == (1,)


def test_indices_of_matrices():
    for args in ((3,), (3, 1), (3, -1, 4), (0,)):
        equal(xnp.tril_indices(*args), np.tril_indices(*args))
        equal(xnp.triu_indices(*args), np.triu_indices(*args))
    equal(xnp.tril_indices_from(xnp.asarray(X), 1), np.tril_indices_from(X, 1))
    equal(xnp.triu_indices_from(xnp.asarray(X)), np.triu_indices_from(X))
    equal(xnp.diag_indices(3, 3), np.diag_indices(3, 3))
    equal(xnp.diag_indices_from(xnp.ones((2, 2))), np.diag_indices_from(np.ones((2, 2))))
    equal(xnp.mask_indices(3, xnp.triu, 1), np.mask_indices(3, np.triu, 1))
    equal(xnp.asarray(X)[xnp.ix_([0, 2], [1, 3])], X[np.ix_([0, 2], [1, 3])])
    equal(xnp.ix_(xnp.asarray([True, False, True]), [1]), np.ix_([True, False, True], [1]))
    for call in (
        lambda: xnp.diag_indices_from(xnp.ones((2, 3))),
        lambda: xnp.tril_indices_from(xnp.ones(2)),
        lambda: xnp.ix_(X),
    ):
        with pytest.raises(ValueError):
            call()


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_flat_positions_and_back(shape, data):
    shape = tuple(shape)
    flat = np.array(data.draw(st.lists(st.integers(0, int(np.prod(shape)) - 1), max_size=4)), int)
    parts = xnp.unravel_index(xnp.asarray(flat), shape)
    equal(parts, np.unravel_index(flat, shape))
    equal(xnp.ravel_multi_index(parts, shape), flat)
    equal(
        xnp.ravel_multi_index(parts, shape, order="F"),
        np.ravel_multi_index(np.unravel_index(flat, shape), shape, order="F"),
    )


def test_flat_positions_out_of_range():
    assert [p.tolist() for p in xnp.unravel_index(xnp.asarray([-1, 100]), (2, 3))] == [
        [1, 1],
        [2, 2],
    ]
    far = (np.array([1, 5]), np.array([-1, 1]))
    for mode in ("clip", "wrap", ("clip", "wrap")):
        equal(
            xnp.ravel_multi_index([xnp.asarray(p) for p in far], (3, 3), mode=mode),
            np.ravel_multi_index(far, (3, 3), mode=mode),
        )
    with pytest.raises(ValueError, match="between 0 and 2"):
        xnp.ravel_multi_index([xnp.asarray(p) for p in far], (3, 3))
    with pytest.raises(xc.errors.ConcretizationError, match="mode="):
        xc.jit(lambda p: xnp.ravel_multi_index((p, p), (3, 3)))(far[0])


@pytest.mark.parametrize(
    "options", [{}, {"N": 2}, {"N": 0}, {"increasing": True}, {"N": 5, "increasing": True}]
)
def test_vander(options):
    x = np.array([1, 2, -3])
    equal(xnp.vander(xnp.asarray(x), **options), np.vander(x, **options))


def test_putmask():
    mask = X > 0
    for v in (0.0, [1.0, 2.0, 3.0], np.arange(20, dtype=X.dtype)):
        want = X.copy()
        np.putmask(want, mask, v)
        equal(xnp.putmask(xnp.asarray(X), xnp.asarray(mask), v, inplace=False), want)
    with pytest.raises(ValueError, match="immutable"):
        xnp.putmask(xnp.asarray(X), mask, 0)


def test_safe_divide():
    x, y = np.asarray([1.0, 2.0, 3.0, np.nan]), np.asarray([2.0, 0.0, -4.0, 0.0])
    np.testing.assert_array_equal(safe_divide(x, y), [0.5, 0.0, -0.75, 0.0])
    np.testing.assert_array_equal(safe_divide(x, y, 7), [0.5, 7.0, -0.75, 7.0])
    np.testing.assert_array_equal(safe_divide(x, y, x, where=y > 0), [0.5, 2.0, 3.0, np.nan])
    slopes = xc.grad(lambda y: safe_divide(1.0, y).sum())(y)
    np.testing.assert_array_equal(slopes, [-0.25, 0.0, -0.0625, 0.0])


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_cut(axis):
    x = np.arange(60).reshape(3, 4, 5)
    np.testing.assert_array_equal(cut(xnp.asarray(x), axis, 1, 3), x.take([1, 2], axis))
    np.testing.assert_array_equal(
        cut(xnp.asarray(x), axis, None, -1, 2), x.take(range(0, x.shape[axis] - 1, 2), axis)
    )
