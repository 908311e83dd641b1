"""Making arrays: against NumPy, with the default dtypes, from every kind of data."""

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xcore as xc
import xcore.numpy as xnp
from tests.numpy.reference import ALL, assert_same, default_dtype, dtype_of, values

SHAPES = [(), (0,), (3,), (2, 0), (2, 3)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["zeros", "ones", "empty"])
def test_filled(name, shape):
    f = getattr(xnp, name)
    assert f(shape).dtype == np.float32 and f(shape).shape == shape
    for dtype in ALL:
        got = f(shape, dtype)
        assert got.dtype == dtype_of(dtype) and got.shape == shape
        if name != "empty":
            np.testing.assert_array_equal(
                np.asarray(got), getattr(np, name)(shape, dtype_of(dtype))
            )
    compiled = xc.jit(lambda: f(shape, "int16"))()
    assert compiled.dtype == np.int16 and compiled.shape == shape


def test_shapes_may_be_ints_and_numpy_ints():
    assert xnp.zeros(3).shape == (3,) and xnp.zeros(np.int64(3)).shape == (3,)
    assert xnp.zeros([2, np.int32(3)]).shape == (2, 3) and xnp.zeros(xnp.asarray(2)).shape == (2,)


@pytest.mark.parametrize(
    "value", [7, 1.5, True, 2 - 1j, np.float64(3), np.arange(3.0, dtype="float32")]
)
def test_full(value):
    got = xnp.full((2, 3), value)
    want = np.full((2, 3), value)
    assert got.dtype == (want.dtype if hasattr(value, "dtype") else default_dtype(want.dtype))
    np.testing.assert_array_equal(np.asarray(got), want)
    assert xnp.full((2, 3), value, "complex64").dtype == np.complex64
    np.testing.assert_array_equal(np.asarray(xc.jit(lambda: xnp.full((2, 3), value))()), want)


def test_full_of_a_traced_value():
    assert xc.jit(lambda v: xnp.full(2, v))(3.0).tolist() == [3, 3]
    assert float(xc.grad(lambda v: xnp.full(3, v).sum())(1.0)) == 3


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like"])
def test_like(name):
    f = getattr(xnp, name)
    for x in (xnp.ones((2, 3), "int8"), np.ones(2), 3.0, True):
        want = np.asarray(x)
        assert f(x).shape == want.shape
        assert f(x).dtype == (want.dtype if hasattr(x, "dtype") else default_dtype(want.dtype))
    x = xnp.ones((2, 3), "int8")
    assert f(x, dtype="float16").dtype == np.float16 and f(x, shape=(4,)).shape == (4,)
    assert f(xc.ShapeDtypeStruct((2,), "uint8")).dtype == np.uint8
    assert xnp.full_like(x, 2.7).tolist() == [[2] * 3] * 2
    assert f(2.0).weak_type and not f(x).weak_type


@given(st.integers(-20, 20), st.integers(-20, 20), st.integers(-5, 5).filter(bool))
def test_arange_of_ints(start, stop, step):
    got = xnp.arange(start, stop, step)
    assert got.dtype == np.int32
    np.testing.assert_array_equal(np.asarray(got), np.arange(start, stop, step))


@given(st.floats(-3, 3), st.floats(-3, 3), st.floats(0.1, 2))
def test_arange_of_floats(start, stop, step):
    got = xnp.arange(start, stop, step, dtype="float64")
    np.testing.assert_array_equal(np.asarray(got), np.arange(start, stop, step))


def test_arange_dtypes():
    assert xnp.arange(3.0).dtype == np.float32 and xnp.arange(np.float64(2)).dtype == np.float64
    assert xnp.arange(2**31, 2**31 + 2).dtype == np.int64
    assert xnp.arange(3, dtype="bfloat16").tolist() == [0, 1, 2]
    assert xnp.arange(70000).tolist()[-1] == 69999 and xnp.arange(100000, 0, -1).tolist()[:2] == [
        100000,
        99999,
    ]
    assert xnp.arange(stop=2, start=1).tolist() == [1]
    np.testing.assert_array_equal(np.asarray(xc.jit(lambda: xnp.arange(1, 7, 2))()), [1, 3, 5])
    with pytest.raises(ZeroDivisionError, match="step must be different from 0"):
        xnp.arange(0, 1, 0)
    with pytest.raises(xc.errors.ConcretizationError, match=r"numpy\.arange"):
        xc.jit(xnp.arange)(3)


@pytest.mark.parametrize(
    "options", [{}, {"num": 5}, {"num": 1}, {"num": 0}, {"num": 4, "endpoint": False}]
)
def test_linspace(options):
    for ends in ((0, 1), (2.5, -1.5), (0, 0), (1j, 2.0)):
        want, step = np.linspace(*ends, retstep=True, **options)
        got, got_step = xnp.linspace(*ends, retstep=True, **options)
        assert got.dtype == default_dtype(want.dtype)
        assert_same(got, want, 2, floor=1)
        assert_same(got_step, step, 2)
    for ends in ((0.1, 0.7), (-1.0, 2.0), (-3.3, 3.3)):
        exact = xnp.linspace(*ends, dtype="float64", **options)
        np.testing.assert_array_equal(np.asarray(exact), np.linspace(*ends, **options))
    ends = (xnp.float32(-1), xnp.float32(2))  # computed where the ends are; 0 is 0 there too
    np.testing.assert_array_equal(np.asarray(xnp.linspace(*ends, 4)), np.linspace(-1, 2, 4))


def test_integers_of_linspace_are_exact():
    """A whole number is not rounded down to the one below, and 64 bits are not rounded to 53."""
    traced = xc.jit(lambda stop: xnp.linspace(0.0, stop, 50, dtype=int))
    for got in (
        xnp.linspace(0, 49, 50, dtype=int),
        xnp.linspace(0.0, 49.0, 50, dtype=int),
        traced(49.0),
    ):
        assert got.tolist() == list(range(50))
    for dtype, start, stop in (
        ("uint64", 0, 2**64 - 1),
        ("int64", 2**63 - 1, -(2**63)),
        ("int8", -128, 127),
    ):
        for endpoint in (True, False):
            want = [start + i * (stop - start) // (6 - endpoint) for i in range(6)]
            assert xnp.linspace(start, stop, 6, endpoint, dtype=dtype).tolist() == want
    assert (
        xnp.linspace(3, 7, 1, dtype=int).tolist() == [3]
        and xnp.linspace(3, 7, 0, dtype=int).size == 0
    )


def test_linspace_of_arrays_and_of_integers():
    a, b = np.array([0.0, 1.0]), np.array([[2.0], [3.0]])
    for axis in (0, 1, -1):
        assert_same(xnp.linspace(a, b, 4, axis=axis), np.linspace(a, b, 4, axis=axis), 2)
    for ends in ((0, 10), (-3, 7)):
        np.testing.assert_array_equal(
            np.asarray(xnp.linspace(*ends, 4, dtype=int)), np.linspace(*ends, 4, dtype=int)
        )
    assert xnp.linspace(0.0, 3.0, 7)[-1] == 3.0
    assert float(xc.grad(lambda b: xnp.linspace(0.0, b, 3).sum())(1.0)) == pytest.approx(1.5)


@pytest.mark.parametrize("endpoint", [True, False])
def test_numbers_between_arrays_are_numpys_to_the_bit(endpoint):
    """Whole numbers among them are whole: edges of bins are such numbers."""
    rng = np.random.default_rng(5)
    sizes = 10.0 ** rng.integers(-290, 290, 40)
    start = np.concatenate([rng.integers(-50, 50, 40), rng.normal(size=40) * sizes])
    stop = np.concatenate([rng.integers(-50, 50, 40), rng.normal(size=40) * sizes])
    for num in (1, 2, 3, 6, 11, 50):
        exact = np.linspace(start, stop, num, endpoint)
        for between in (xnp.linspace, xc.jit(xnp.linspace, static_argnums=(2, 3))):
            np.testing.assert_array_equal(between(start, stop, num, endpoint), exact)
    far = xnp.linspace(np.array([-1.7e308]), np.array([1.7e308]), 5)[
        :, 0
    ]  # whose difference is infinite
    np.testing.assert_allclose(far, 1.7e308 * np.array([-1, -0.5, 0, 0.5, 1]))
    counts, _ = xnp.histogram(xnp.asarray(np.arange(-5.0, 6.0)), bins=5)
    assert counts.tolist() == [2, 2, 2, 2, 3]


def test_logspace_and_geomspace():
    for options in ({}, {"num": 5}, {"num": 4, "endpoint": False}):
        assert_same(xnp.logspace(0, 2, **options), np.logspace(0, 2, **options), 32)
        assert_same(xnp.logspace(0, 2, base=2, **options), np.logspace(0, 2, base=2, **options), 32)
        assert_same(xnp.geomspace(1, 1000, **options), np.geomspace(1, 1000, **options), 32)
        assert_same(xnp.geomspace(-8.0, -1.0, **options), np.geomspace(-8.0, -1.0, **options), 32)
    base = np.array([2.0, 3.0])
    assert_same(xnp.logspace(0.0, 2, 3, base=base), np.logspace(0.0, 2, 3, base=base), 16)


@pytest.mark.parametrize("options", [{}, {"M": 4}, {"k": 1}, {"k": -2, "M": 2}, {"k": 9}])
def test_eye_and_tri(options):
    for dtype in ("float32", "int8", "bool", "complex64"):
        np.testing.assert_array_equal(
            np.asarray(xnp.eye(3, dtype=dtype, **options)), np.eye(3, dtype=dtype, **options)
        )
        np.testing.assert_array_equal(
            np.asarray(xnp.tri(3, dtype=dtype, **options)), np.tri(3, dtype=dtype, **options)
        )
    assert xnp.identity(2).tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("k", [2**31, -(2**70)])
def test_diagonals_far_outside(k):
    x = xnp.ones((2, 2))
    assert not xnp.eye(2, k=k).any()
    for f, above, kept in ((xnp.tril, k < 0, k > 0), (xnp.triu, k > 0, k < 0)):
        assert f(x, k=k).sum() == 4 * kept == 4 - 4 * above


@pytest.mark.parametrize("k", [-4, -1, 0, 2, 5])
def test_diagonals_and_triangles(k):
    for shape in ((3, 4), (2, 3, 3), (0, 2)):
        x = values("int32", shape)
        for name in ("tril", "triu"):
            np.testing.assert_array_equal(
                np.asarray(getattr(xnp, name)(xnp.asarray(x), k)), getattr(np, name)(x, k)
            )
    m, v = values("float32", (3, 4)), values("float32", (3,))
    np.testing.assert_array_equal(np.asarray(xnp.diag(xnp.asarray(m), k)), np.diag(m, k))
    np.testing.assert_array_equal(np.asarray(xnp.diag(xnp.asarray(v), k)), np.diag(v, k))
    np.testing.assert_array_equal(np.asarray(xnp.diagflat(xnp.asarray(m), k)), np.diagflat(m, k))


@pytest.mark.parametrize(
    "options", [{}, {"sparse": True}, {"indexing": "ij"}, {"indexing": "ij", "sparse": True}]
)
def test_meshgrid(options):
    for count in range(4):
        xs = [np.arange(n + 1) for n in range(count)]
        got, want = xnp.meshgrid(*xs, **options), np.meshgrid(*xs, **options)
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(np.asarray(a), b)
    with pytest.raises(ValueError, match="'xy' or 'ij'"):
        xnp.meshgrid(xs[1], indexing="yx")


# From data


@pytest.mark.parametrize(
    "data",
    [3, 2.5, True, 1j, [], [[]], [1, 2], [1, 2.5], [True, 2], [True, False], [[1, 2], [3, 4]], (1, (2)), [1j, 2],
     [[[1.5]]], range(3), np.arange(3.0), np.float32(2), [np.float32(1), 2]],
)  # fmt: skip
def test_asarray(data):
    want = np.asarray(data)
    got = xnp.asarray(data)
    assert got.dtype == (want.dtype if isinstance(data, np.ndarray) else default_dtype(want.dtype))
    np.testing.assert_array_equal(np.asarray(got), want)
    for dtype in ("int8", "float64", "complex64", "bool", "bfloat16"):
        if want.dtype.kind == "c" and dtype not in ("complex64", "bool"):
            continue
        cast = xnp.asarray(data, dtype)
        assert cast.dtype == dtype_of(dtype)
        np.testing.assert_array_equal(np.asarray(cast), want.astype(dtype_of(dtype)))


def test_lists_of_arrays():
    x = xnp.ones(2, "int8")
    assert xnp.asarray([x, [3, 4]]).dtype == np.int8
    assert xnp.asarray([[x[0], 2.5]]).tolist() == [[1.0, 2.5]]
    stacked = xc.jit(lambda a: xnp.asarray([[a, 1], [2, a]]))(5)
    assert stacked.tolist() == [[5, 1], [2, 5]] and stacked.dtype == np.int32
    assert float(xc.grad(lambda a: (xnp.array([a, 2 * a]) ** 2).sum())(1.0)) == 10


def test_data_that_make_no_array():
    for data in ([1, [2]], [[1, 2], [3]]):
        with pytest.raises(ValueError, match="nested lists of equal lengths"):
            xnp.asarray(data)
    for data in (None, "abc", {1: 2}, object()):
        with pytest.raises(TypeError):
            xnp.asarray(data)
    with pytest.raises(TypeError, match="not a dtype"):
        xnp.asarray(np.array(["a"]))
    with pytest.raises(OverflowError):
        xnp.asarray([2**70])
    with pytest.raises(OverflowError):
        xnp.asarray([300], dtype="uint8")
    assert xnp.asarray([2**40]).dtype == np.int64


def test_copies():
    x = xnp.arange(3)
    assert xnp.asarray(x) is x
    for y in (
        xnp.array(x),
        xnp.copy(x),
        x.copy(),
        copy.deepcopy(x),
        xnp.asarray(x, copy=True),
        pickle.loads(pickle.dumps(x)),
    ):
        assert y is not x and y.tolist() == x.tolist() and y.dtype == x.dtype
    assert xnp.array(x, ndmin=3).shape == (1, 1, 3)
    assert xnp.asarray(x, copy=False) is x
    with pytest.raises(ValueError, match="copy=False forbids it"):
        xnp.asarray([1, 2], copy=False)
    host = np.arange(3.0)
    made = xnp.asarray(host)
    host[0] = 9
    assert made.tolist() == [0, 1, 2]


def test_pickle_keeps_every_dtype():
    for dtype in ALL:
        x = xnp.ones(2, dtype)
        back = pickle.loads(pickle.dumps(x))
        assert back.dtype == x.dtype and back.tolist() == x.tolist()


def test_devices():
    device = xc.devices()[0]
    x = xnp.zeros(2, device=device)
    assert x.device == device and x.to_device(device).device == device


def test_dtype_objects():
    assert xnp.float32(2).dtype == np.float32 and xnp.int8([1, 2]).tolist() == [1, 2]
    assert (
        xnp.float32 == np.dtype("float32")
        and np.dtype("float32") == xnp.float32
        and xnp.float32 == np.float32
    )
    assert xnp.float32 != xnp.float64 and xnp.float32 != "nothing" and xnp.int_ == np.int32
    assert (
        hash(xnp.bfloat16) == hash(np.dtype(ml_dtypes.bfloat16))
        and {xnp.int8: 1}[np.dtype("int8")] == 1
    )
    assert np.zeros(2, xnp.float32).dtype == np.float32
    assert repr(xnp.float32) == "xcore.numpy.float32" and xnp.int16.itemsize == 2
    assert xnp.zeros(1, xnp.bool).dtype == bool and xnp.bool_(3).item() is True
    assert xc.jit(lambda x: xnp.float64(x))(1).dtype == np.float64


def test_astype():
    x = np.array([0.0, 1.7, -1.7, 100.0])
    for dtype in ALL[1:]:
        if dtype_of(dtype).kind == "u":
            continue
        np.testing.assert_array_equal(
            np.asarray(xnp.asarray(x).astype(dtype)), x.astype(dtype_of(dtype))
        )
    assert xnp.asarray(x).astype(bool).tolist() == [False, True, True, True]
    assert xnp.asarray([1 + 2j]).astype("float32").tolist() == [1]
    assert xnp.asarray([0, 1j]).astype(bool).tolist() == [False, True]
    y = xnp.asarray(x)
    assert y.astype(y.dtype) is y and xnp.astype(y, y.dtype, copy=True) is not y
    assert xnp.asarray([300, -1]).astype("uint8").tolist() == [44, 255]


VIEWS = [
    ("float32", "int16"), ("int16", "float32"), ("complex64", "float32"), ("float32", "complex128"),
    ("complex64", "complex128"), ("uint8", "complex64"), ("bool", "int8"), ("uint8", "bool"), ("float64", "uint8"),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [bool, "int8", "float16", "float64", "complex64"])
def test_view_as_nothing_else(dtype):
    x = xnp.ones((2, 3), dtype)
    for seen in (x.view(), xc.jit(lambda x: x.view())(x), x[0, 0].view().reshape(1)):
        assert seen.dtype == dtype and (seen == 1).all()
    assert x.view().shape == np.ones((2, 3), dtype).view().shape


@pytest.mark.parametrize("old, new", VIEWS)
def test_view(old, new):
    x = (np.arange(16) % 2).astype(old).reshape(2, 8)
    got, want = xnp.asarray(x).view(new), x.view(new)
    assert got.dtype == want.dtype and got.shape == want.shape
    assert np.asarray(got).tobytes() == want.tobytes()
    with pytest.raises(ValueError, match="0-d array"):
        xnp.asarray(1.0).view("int8")


def test_default_bits():
    with xc.config.override(default_bits=64):
        assert xnp.zeros(1).dtype == np.float64 and xnp.arange(2).dtype == np.int64
        assert xnp.int_ == np.int64 and xnp.asarray([1.5]).dtype == np.float64
        assert xnp.linspace(0, 1, 3).dtype == np.float64 and (xnp.arange(2) / 2).dtype == np.float64


@pytest.mark.parametrize(
    "items", [[2**63 + 1, 1], [[2**64 - 1, 0], [2**53 + 1, 3]], [1.5, 2**62 + 1]]
)
def test_ints_of_lists_keep_their_digits(items):
    """Such ints have no integer dtype in common, in NumPy's eyes: a float that would round them."""
    np.testing.assert_array_equal(
        xnp.asarray(items, "uint64"), np.asarray(items, "uint64"), strict=True
    )


@pytest.mark.parametrize("items", [[2**63, 1], [2**63, -1], [300, 2**64 - 1]])
@pytest.mark.parametrize("dtype", ["int64", "int8"])
def test_ints_out_of_range_are_refused_beside_others(items, dtype):
    with pytest.raises(OverflowError):
        xnp.asarray(items, dtype)


def test_ints_of_more_than_64_bits():
    for dtype in ("float64", "float32", "complex128", "bool"):
        np.testing.assert_array_equal(
            xnp.asarray([2**64, -(2**70), 0], dtype), np.asarray([2**64, -(2**70), 0], dtype), strict=True
        )  # fmt: skip
    with pytest.raises(OverflowError, match="64 bits"):
        xnp.asarray([2**64, 1])


@pytest.mark.parametrize("kind", ["float64", "float32", "complex128", "int64", "uint8", "bool"])
@pytest.mark.parametrize("other", [2, 2.5, True, np.float32(3), np.float64(4)])
def test_lists_of_numbers_of_numpy(kind, other):
    """A np.float64 is a Python float too, and has a dtype of its own: that of the arrays stacked."""
    one = np.dtype(kind).type(1)
    for items in ([one], [one, other], (other, one), [[one, other], [other, one]]):
        got, flat = xnp.asarray(items), np.asarray(items, complex).ravel()
        assert got.dtype == xnp.result_type(*[xnp.asarray(x) for x in (one, other)][: flat.size])
        np.testing.assert_array_equal(np.asarray(got).ravel(), flat)
