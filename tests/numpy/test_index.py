"""Indexing and changed copies, against NumPy."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import xcore as xc
import xcore.numpy as xnp

X = np.arange(2 * 3 * 4, dtype="float32").reshape(2, 3, 4)
ROWS, COLS = np.array([1, 0, 1]), np.array([[2], [0]])
MASK = X % 3 == 0

CASES = [
    np.s_[0], np.s_[-1], np.s_[0, 1], np.s_[0, -1, 2], np.s_[:], np.s_[...], np.s_[..., 0], np.s_[0, ...], np.s_[1:],
    np.s_[:, ::2], np.s_[:, ::-1], np.s_[:, 3:0:-2], np.s_[5:], np.s_[:, 1:1], np.s_[None], np.s_[:, None, 0],
    np.s_[..., None], np.s_[None, ..., None], np.s_[()], np.s_[ROWS], np.s_[:, ROWS], np.s_[ROWS, ROWS],
    np.s_[ROWS, :, ROWS], np.s_[0, :, ROWS], np.s_[0, ROWS], np.s_[:, 0, ROWS], np.s_[ROWS, 1:], np.s_[ROWS, COLS],
    np.s_[..., COLS], np.s_[COLS % 2, None], np.s_[ROWS, None, 0], np.s_[ROWS, None, ROWS], np.s_[[1, 0]], np.s_[[]],
    np.s_[[[0, 1], [1, 0]]], np.s_[:, [True, False, True]], np.s_[MASK], np.s_[MASK[:, :, 0]], np.s_[MASK[:, 0, 0]],
    np.s_[0, MASK[0]], np.s_[:, MASK[0]], np.s_[..., MASK[0, 0]], np.s_[ROWS[:1], MASK[0, :, 0]], np.s_[True], np.s_[False],
    np.s_[True, 0], np.s_[:, True], np.s_[np.int64(1)], np.s_[np.array(1)], np.s_[0:0], np.s_[ROWS[:0]], np.s_[-ROWS - 1],
    np.s_[np.zeros((0, 2), int)], np.s_[:, ROWS.astype("uint8")], np.s_[::2, ROWS, ::-1], np.s_[0, 0, 0],
    np.s_[(0, 1),], np.s_[:, (0, 2)], np.s_[(0, 1), (1, 2)], np.s_[0, (1, 2), (0, 3)], np.s_[(True, False),], np.s_[((0,), (1,)),],
    np.s_[(),], np.s_[..., (0, 1)],
]  # fmt: skip


def device(index):
    """The same index with xcore arrays."""
    if isinstance(index, tuple):
        return tuple(device(i) for i in index)
    return xnp.asarray(index) if isinstance(index, np.ndarray) else index


@pytest.mark.parametrize("index", CASES, ids=lambda i: repr(i).replace("\n", "")[:40])
def test_reading(index):
    want = X[index]
    x = xnp.asarray(X)
    for given_index in (index, device(index)):
        got = x[given_index]
        assert got.dtype == X.dtype
        np.testing.assert_array_equal(np.asarray(got), want)
    np.testing.assert_array_equal(np.asarray(xc.jit(lambda x: x[index])(X)), want)


@pytest.mark.parametrize("index", CASES[::3], ids=lambda i: repr(i).replace("\n", "")[:40])
def test_assigning(index):
    for how, change in (("set", lambda old, new: new), ("add", np.add), ("multiply", np.multiply)):
        want = X.copy()
        value = (np.arange(want[index].size, dtype="float32") + 10).reshape(want[index].shape)
        if how != "set" and not unique(index):
            continue
        if how == "set" and not unique(index):
            value = np.float32(7)
        want[index] = change(want[index], value)
        got = getattr(xnp.asarray(X).at[device(index)], how)(value)
        np.testing.assert_array_equal(np.asarray(got), want, err_msg=how)
    want = X.copy()
    want[index] = 5
    np.testing.assert_array_equal(np.asarray(xc.jit(lambda x: x.at[index].set(5))(X)), want)


def unique(index) -> bool:
    """Whether an index names no element twice."""
    numbers = np.arange(X.size).reshape(X.shape)[index]
    return len(np.unique(numbers)) == np.size(numbers)


@given(st.data())
def test_any_basic_index(data):
    shape = data.draw(hnp.array_shapes(max_dims=3, max_side=3))
    x = np.arange(int(np.prod(shape)), dtype="float32").reshape(shape)
    index = data.draw(hnp.basic_indices(shape, allow_newaxis=True))
    np.testing.assert_array_equal(np.asarray(xnp.asarray(x)[index]), x[index])


@given(st.data())
def test_any_array_index(data):
    shape = (2, 3, 2)
    x = np.arange(12, dtype="float32").reshape(shape)
    parts = data.draw(
        hnp.integer_array_indices(
            shape[: data.draw(st.integers(1, 3))],
            result_shape=hnp.array_shapes(max_dims=2, max_side=2),
        )
    )
    np.testing.assert_array_equal(np.asarray(xnp.asarray(x)[device(parts)]), x[parts])


def test_positions_known_only_at_run_time():
    read = xc.jit(lambda x, i, j: (x[i], x[i, j], x[:, i], x[..., j], x[i, 1:], x[0, i]))
    for i, j in ((0, 1), (1, -1), (-1, 2)):
        got = read(X, i, j)
        want = X[i], X[i, j], X[:, i], X[..., j], X[i, 1:], X[0, i]
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(np.asarray(a), b)
    write = xc.jit(lambda x, i, v: x.at[i].set(v).at[0, i].add(1.0))
    want = X.copy()
    want[1] = 3
    want[0, 1] += 1
    np.testing.assert_array_equal(np.asarray(write(X, 1, 3.0)), want)


def test_out_of_range():
    x = xnp.asarray(X)
    for index in (2, (0, 3), -3, np.array([0, 5]), (slice(None), np.array(-4))):
        with pytest.raises(IndexError, match="out of bounds for axis"):
            x[index]
        with pytest.raises(IndexError, match="out of bounds for axis"):
            xc.jit(lambda x, index=index: x[index])(x)
    # of positions on a device nothing is known: reading clamps, writing drops
    far = xnp.asarray([0, 9])
    assert x[far].tolist() == [X[0].tolist(), X[1].tolist()]
    assert x.at[far].set(0).tolist() == np.stack([0 * X[0], X[1]]).tolist()


def test_modes():
    x, far = xnp.arange(3.0), xnp.asarray([0, 5, -1, -7])
    assert x.at[far].get(mode="clip").tolist() == [0, 2, 2, 0]
    filled = np.asarray(x.at[far].get(mode="fill"))
    np.testing.assert_array_equal(filled, [0, np.nan, 2, np.nan])
    assert x.at[far].get(mode="fill", fill_value=-1).tolist() == [0, -1, 2, -1]
    assert x.at[far].set(9, mode="clip").tolist() == [9, 1, 9]
    assert x.at[far].set(9, mode="drop").tolist() == [9, 1, 9]
    assert xnp.arange(3).at[5 + 0 * far].get(mode="fill").tolist() == [np.iinfo("int32").min] * 4
    assert xnp.arange(3, dtype="uint8").at[far[1:2]].get(mode="fill").tolist() == [255]
    with pytest.raises(ValueError, match="mode must be"):
        x.at[far].get(mode="raise")


@pytest.mark.parametrize("mode", ["wrap", "bogus", ["clip"], {}, 3])
def test_modes_that_are_none(mode):
    """Whatever the index is, also where no position can be outside."""
    x = xnp.arange(3)
    mask, empty = xnp.asarray([True, False, True]), xnp.zeros(0, int)
    for index in (0, slice(2), ..., None, mask, np.asarray(mask), far_of(x), empty, [0, 1]):
        for change in ("set", "add", "subtract", "multiply", "divide", "power", "min", "max"):
            with pytest.raises(ValueError, match="mode must be 'clip', 'fill', 'drop' or"):
                getattr(x.at[index], change)(2, mode=mode)
        with pytest.raises(ValueError, match="mode must be 'clip', 'fill', 'drop' or"):
            x.at[index].get(mode=mode)
        with pytest.raises(ValueError, match="mode must be 'clip', 'fill', 'drop' or"):
            x.at[index].apply(lambda v: v, mode=mode)


def far_of(x):
    return xnp.asarray([0, x.size + 4])


UPDATES = [
    ("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply), ("divide", np.divide), ("min", np.minimum),
    ("max", np.maximum), ("power", np.power), ("mul", np.multiply),
]  # fmt: skip


@pytest.mark.parametrize("name, ufunc", UPDATES)
def test_updates_at_repeated_positions(name, ufunc):
    x = np.array([1.0, 2.0, 3.0, 4.0])
    index, v = np.array([0, 2, 2, 3]), np.array([2.0, 3.0, 0.5, 1.5])
    want = x.copy()
    ufunc.at(want, index, v)
    got = getattr(xnp.asarray(x).at[xnp.asarray(index)], name)(xnp.asarray(v))
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-14)
    by_slice = getattr(xnp.asarray(x).at[1:3], name)(2.0)
    want = x.copy()
    want[1:3] = ufunc(want[1:3], 2.0)
    np.testing.assert_allclose(np.asarray(by_slice), want, rtol=1e-14)


def test_apply_and_dtypes_of_updates():
    x = xnp.arange(4.0)
    assert x.at[1:3].apply(xnp.square).tolist() == [0, 1, 4, 3]
    assert x.at[xnp.asarray([0, 3])].apply(lambda v: v + 10).tolist() == [10, 1, 2, 13]
    y = xnp.arange(4, dtype="int8")
    assert y.at[0].set(2.9).dtype == np.int8 and y.at[0].set(2.9).tolist() == [2, 1, 2, 3]
    with pytest.raises(TypeError, match="complex"):
        x.at[0].set(1j)
    with pytest.raises(TypeError, match=r"x\.at\[index\]\.set"):
        x[0] = 1
    with pytest.raises(ValueError, match="cannot be assigned"):
        x.at[:2].set(xnp.ones(3))


MASKS = [
    ((), ()), ((2, 3), ()), ((2, 3), (2,)), ((2, 3), (2, 3)), ((2, 3), (0,)), ((2, 3), (2, 0)), ((2, 3), (0, 3)),
    ((0, 3), (0,)), ((0, 3), (0, 3)),
]  # fmt: skip


# an ellipsis for no axis keeps arrays apart, and a bool alone is a new axis
APART = [
    (slice(None), np.array([[1], [0]]), ..., [0, 2, 1]), (1, ..., np.array([0, 2])), (slice(None), True, ..., 2),
    (slice(None), np.arange(2), ..., 1), (slice(None, None, -1), True, 2), (slice(2, None, -2), np.False_, 1), (..., 1, 2),
]  # fmt: skip


@pytest.mark.parametrize("index", APART, ids=repr)
def test_arrays_kept_apart(index):
    x = np.arange(12.0).reshape(3, 4) if len(index) < 4 else np.arange(24.0).reshape(2, 3, 4)
    got = xnp.asarray(x)[index]
    assert got.shape == x[index].shape
    np.testing.assert_array_equal(got, x[index])
    doubled = xnp.asarray(x).at[index].multiply(2)
    x[index] *= 2
    np.testing.assert_array_equal(doubled, x)


@pytest.mark.parametrize("shape, mask_shape", MASKS)
def test_masks_with_few_axes_or_elements(shape, mask_shape):
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    for value in (True, False):
        mask = np.full(mask_shape, value)
        want = x[mask]
        for key in (mask, xnp.asarray(mask)):
            got = xnp.asarray(x)[key]
            assert got.shape == want.shape and got.tolist() == want.tolist()


@pytest.mark.parametrize(
    "shape, mask_shape", [((), (1,)), ((2, 3), (3,)), ((2, 3), (2, 1)), ((2,), (2, 2))]
)
def test_masks_that_do_not_fit(shape, mask_shape):
    with pytest.raises(IndexError):
        xnp.ones(shape)[xnp.ones(mask_shape, bool)]


def test_masks():
    x = xnp.asarray(X)
    want = np.where(MASK, 0, X)
    np.testing.assert_array_equal(np.asarray(x.at[xnp.asarray(MASK)].set(0)), want)
    np.testing.assert_array_equal(np.asarray(xc.jit(lambda x: x.at[x % 3 == 0].set(0))(X)), want)
    added = X + MASK
    np.testing.assert_array_equal(np.asarray(xc.jit(lambda x, m: x.at[m].add(1))(X, MASK)), added)
    rows = MASK[:, 0, 0]
    want = X.copy()
    want[rows] = -1
    np.testing.assert_array_equal(np.asarray(xc.jit(lambda x, m: x.at[m].set(-1))(X, rows)), want)
    with pytest.raises(xc.errors.ConcretizationError, match=r"x.at.mask..set"):
        xc.jit(lambda x: x[x > 1])(X)
    with pytest.raises(IndexError, match="boolean index"):
        x[xnp.ones((2, 2), bool)]


@pytest.mark.parametrize("index, message", [
    (1.5, "only integers"), ("a", "only integers"), (np.array([1.0]), "integer or bool"), ((0, 0, 0, 0), "too many indices"),
    ((..., ...), "single ellipsis"),
])  # fmt: skip
def test_wrong_indices(index, message):
    with pytest.raises(IndexError, match=message):
        xnp.asarray(X)[index]


def test_empty_arrays():
    e = xnp.zeros((0, 3))
    assert (
        e[:, 1].shape == (0,)
        and e[xnp.zeros(0, "int32")].shape == (0, 3)
        and e.at[:, 0].set(1).shape == (0, 3)
    )
    with pytest.raises(IndexError):
        e[0]
    with pytest.raises(IndexError, match="empty array"):
        e[xnp.asarray([0])]
    assert e.at[xnp.asarray([0])].set(1.0).shape == (0, 3)
    weak = xnp.resize(xnp.asarray(3.0), (4,))  # takes the dtype of what it meets, empty or not
    assert all(
        (weak[np.zeros(n, int)] + xnp.zeros(n, "bfloat16")).dtype == "bfloat16" for n in (0, 2)
    )


def test_derivatives_and_lanes():
    x = xnp.asarray(X)
    got = xc.grad(lambda x: (x[xnp.asarray([0, 0, 1])] ** 2).sum())(x)
    np.testing.assert_allclose(np.asarray(got), 2 * X * np.array([2, 1]).reshape(2, 1, 1))
    got = xc.grad(lambda v: (x.at[0, 1].set(v) ** 2).sum())(xnp.ones(4))
    np.testing.assert_allclose(np.asarray(got), 2)
    got = xc.grad(lambda x: (x.at[0].multiply(3.0)).sum())(x)
    np.testing.assert_allclose(np.asarray(got), np.stack([3 * np.ones((3, 4)), np.ones((3, 4))]))
    index = np.array([0, 2, 1])
    got = xc.vmap(lambda x, i: x[i])(xnp.asarray(X[:, :, 0].repeat(2, 0)[:3]), xnp.asarray(index))
    np.testing.assert_array_equal(np.asarray(got), X[:, :, 0].repeat(2, 0)[:3][np.arange(3), index])
    got = xc.vmap(lambda i: x.at[i].set(0.0))(xnp.asarray([0, 1]))
    np.testing.assert_array_equal(
        np.asarray(got), np.stack([np.stack([0 * X[0], X[1]]), np.stack([X[0], 0 * X[1]])])
    )


def test_static_indices_become_slices():
    text = str(xc.make_jaxpr(lambda x: (x[0, 1:], x[..., ::2], x[:, None, -1]))(X))
    assert "gather" not in text and "slice" in text
    assert "gather" not in str(xc.make_jaxpr(lambda x, i: x[i, 1:])(X, 0))


def test_iteration_and_membership():
    x = xnp.arange(3)
    assert [int(v) for v in x] == [0, 1, 2] and 2 in x and 7 not in x and len(x) == 3
    a, b = xnp.asarray([[1, 2], [3, 4]])
    assert b.tolist() == [3, 4]
    with pytest.raises(TypeError, match="iteration over a 0-d array"):
        iter(xnp.asarray(1)).__next__()


def test_values_keep_their_digits():
    x = xnp.zeros(2, "float64")
    assert (
        float(x.at[0].set(0.1)[0]) == 0.1 and float(xc.jit(lambda x: x.at[0].set(0.1))(x)[0]) == 0.1
    )
    assert float(x.at[xnp.asarray([0])].add(0.1)[0]) == 0.1
    with pytest.raises(OverflowError):
        xnp.zeros(2, "uint8").at[0].set(300)


def test_loops_over_positions_run_one_program():
    x = xnp.zeros((7, 3), "int16")
    for i in range(3):
        x = x.at[i].set(i).at[i, 1:].add(1)
    before = dict(xc._core.compile.counts)
    for i in range(3, 7):
        x = x.at[i].set(i).at[i, 1:].add(1)
    assert xc._core.compile.counts == before
    assert x.tolist() == [[i, i + 1, i + 1] for i in range(7)]


@pytest.mark.parametrize("method, how", [("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply),
                                         ("min", np.minimum), ("max", np.maximum)])  # fmt: skip
def test_integers_meet_floats_as_floats(method, how):
    x, index = np.array([[2**24 + 1, -3, 5], [7, 8, 9]], np.int32), np.array([1, 2])
    want = x.copy()
    want[:, index] = how(want[:, index], np.float32(2.5)).astype(np.int32)
    for i in (index, xnp.asarray(index)):
        got = getattr(xnp.asarray(x).at[:, i], method)(2.5)
        assert got.dtype == np.int32 and got.tolist() == want.tolist()
    flags = np.array([True, False])
    want = how(flags, np.int32(1)).astype(bool)
    assert getattr(xnp.asarray(flags).at[:], method)(1).tolist() == want.tolist()
    if method in ("min", "max"):
        for at in (0, slice(1), index - 1):
            change = lambda x, at=at: getattr(x.at[at], method)(1)
            for f in (change, xc.jit(change)):
                with pytest.raises(TypeError, match="real"):
                    f(xnp.ones(2, complex))


@pytest.mark.parametrize("kind", [int, np.array, xnp.asarray], ids=["int", "numpy", "xcore"])
@pytest.mark.parametrize("mode, read, changed", [("fill", np.nan, [0, 1, 2]), ("clip", 0, [9, 1, 2])])  # fmt: skip
def test_negative_positions_that_do_not_count_from_the_end(kind, mode, read, changed):
    x, i = xnp.arange(3.0), kind(-1)
    options = {"mode": mode, "wrap_negative_indices": False}
    np.testing.assert_array_equal(x.at[i].get(**options), read)
    assert x.at[i].set(9, **options).tolist() == changed
    assert x.at[i].get(mode=mode) == 2 and x.at[kind(1)].get(**options) == 1
    if kind is not xnp.asarray:
        with pytest.raises(IndexError, match="-1"):
            x.at[i].set(9, wrap_negative_indices=False)


def test_lanes_of_empty_batches():
    x, i = xnp.zeros((0, 3)), xnp.zeros(0, "int32")
    take = lambda x, i: x[i] * x.at[i].set(2.0)[i]
    assert xc.vmap(take)(x, i).shape == xc.jit(xc.vmap(take))(x, i).shape == (0,)
    assert xc.grad(lambda x: xc.vmap(take)(x, i).sum())(x).shape == (0, 3)
    assert xc.grad(lambda x: xnp.sort(x, axis=1).sum())(x).shape == (0, 3)


PLACES = 0, -1, slice(None), slice(0, 1), slice(None, 2), slice(1, 1)


@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (1, 3, 1), (2, 1, 3), (1, 2, 3), (3, 1, 1), (1, 1, 2)]
)
def test_windows_with_axes_of_length_one(shape):
    values = np.arange(math.prod(shape), dtype=np.float32).reshape(shape)
    x = xnp.asarray(values)
    for index in itertools.chain(*(itertools.product(PLACES, repeat=n) for n in (1, 2, 3))):
        part = x[index]
        assert part.shape == np.asarray(part).shape == values[index].shape, index
        np.testing.assert_array_equal(part, values[index])
        want = values.copy()
        want[index] = -np.arange(values[index].size).reshape(values[index].shape)
        np.testing.assert_array_equal(x.at[index].set(want[index]), want)
        want[index] = values[index] + 1
        np.testing.assert_array_equal(x.at[index].add(1.0), want)


@pytest.mark.parametrize(
    "index", [[0, 0, 2], [0, 7, 7, -1], (..., [2, 2, 2, 1]), slice(0, 2), 1, [True, False, True]]
)
def test_apply_to_repeated_positions(index):
    """One after the other, as ``ufunc.at``; positions outside are ignored."""
    f, x = lambda z: 2 * z + 1, np.asarray([1.0, 2.0, 3.0])
    index = tuple(map(listed, index)) if isinstance(index, tuple) else listed(index)
    flat = np.arange(3)[index] if not hasattr(index, "shape") or index.dtype == bool else index
    wanted, slopes = x.copy(), np.ones(3)
    for i in np.ravel(flat):
        if -3 <= i < 3:
            wanted[i], slopes[i] = f(wanted[i]), 2 * slopes[i]
    given = xnp.asarray(index) if hasattr(index, "shape") else index
    apply = lambda x: x.at[given].apply(f)
    for g in (apply, xc.jit(apply)):
        np.testing.assert_array_equal(g(xnp.asarray(x)), wanted)
        np.testing.assert_array_equal(xc.grad(lambda x: g(x).sum())(xnp.asarray(x)), slopes)  # noqa: B023


def listed(index):
    return np.asarray(index) if isinstance(index, list) else index


def test_apply_under_vmap():
    i = xnp.asarray([[0, 0], [1, 2]])
    found = xc.vmap(lambda i: xnp.ones(3).at[i].apply(lambda z: 3 * z))(i)
    assert found.tolist() == [[9, 1, 1], [1, 3, 3]]
