"""xcore.numpy.fft against NumPy, in value and derivative, compiled and in vmap."""

import importlib
import inspect
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore.numpy import fft
from xcore.testing import check_grads

ALONG_AXIS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
ALONG_AXES = ("fftn", "ifftn", "rfftn", "irfftn")
ALONG_TWO = ("fft2", "ifft2", "rfft2", "irfft2")
REAL_ONLY = ("rfft", "rfftn", "rfft2", "ihfft")
NORMS = (None, "backward", "ortho", "forward")


def random(shape, dtype="float64", seed=0):
    rng = np.random.default_rng([seed, *shape])
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return np.asarray(x).astype(dtype)


def suited(name, shape, dtype="float64"):
    """Real numbers for transforms of real ones, else complex ones."""
    real = name in REAL_ONLY
    return random(shape, dtype if real else np.result_type(dtype, np.complex64))


def assert_as_numpy(name, x, *args, **kwargs):
    """The function does what NumPy's of the same name does, and in the dtype of the argument."""
    same(
        getattr(fft, name)(xnp.asarray(x), *args, **kwargs),
        getattr(np.fft, name)(x, *args, **kwargs),
    )


def assert_all_as_numpy(name, x, calls):
    """The same for many calls, compiled together."""
    together = xc.jit(lambda x: [getattr(fft, name)(x, *args) for args in calls])
    for got, args in zip(together(x), calls, strict=True):
        same(got, getattr(np.fft, name)(x, *args))


def same(got, want):
    assert got.dtype == want.dtype
    bound = 20 * np.finfo(got.dtype).eps * max(1, np.abs(want).max(initial=0))
    np.testing.assert_allclose(got, want, rtol=0, atol=bound)


@pytest.mark.parametrize("name", ALONG_AXIS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_lengths(name, dtype):
    for n in (1, 2, 3, 7, 8):
        calls = [(other,) for other in sorted({1, n + 1, n + 4, max(1, n - 2)})]
        calls += [()] if name not in ("irfft", "hfft") or n > 1 else []
        assert_all_as_numpy(name, suited(name, (2, n), dtype), calls)


@pytest.mark.parametrize("name", ALONG_AXIS)
def test_norms_and_axes_of_one(name):
    x = suited(name, (3, 4, 5))
    assert_all_as_numpy(name, x, [(None, axis, norm) for norm in NORMS for axis in (0, 1, -1)])
    assert_as_numpy(name, x, n=6, axis=-2, norm="ortho")


S_AND_AXES = [
    (None, None), (None, (0,)), (None, (2, 0)), (None, (0, 1, 2)), ((4, 6), (0, 1)),
    ((2, 7), (2, 0)), ((-1, 3), (0, 2)), (None, (1, 1)), ((5, 4), (2, 2)), (None, (0, -1, 0)),
]  # fmt: skip


@pytest.mark.parametrize("name", ALONG_AXES)
def test_several_axes(name):
    calls = [(s, axes, norm) for s, axes in S_AND_AXES for norm in ("ortho", "forward")]
    assert_all_as_numpy(name, suited(name, (3, 4, 5)), calls)


@pytest.mark.parametrize("name", ALONG_TWO)
def test_two_axes(name):
    x = suited(name, (3, 4, 5))
    assert_all_as_numpy(name, x, [(), ((6, 3), (0, 1)), (None, (-2, -1), "ortho")])


@pytest.mark.parametrize("name", ALONG_AXES)
def test_more_axes_than_one_operation_transforms(name):
    assert_as_numpy(name, suited(name, (2, 3, 2, 3, 4)))
    assert_as_numpy(name, suited(name, (2, 3, 2, 3, 4)), None, (4, 0, 2, 1, 3))


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_long_row(name, dtype):
    assert_as_numpy(name, suited(name, (1000,), dtype))
    assert_as_numpy(name, suited(name, (1, 997, 1), dtype), None, 1, "ortho")


@pytest.mark.parametrize("name", ["fft", "ifft"])
@pytest.mark.parametrize("n", [1 << 14, 24_300, 149 * 151])
def test_rows_that_are_transformed_in_two_steps(name, n):
    rng = np.random.default_rng(n)
    z = rng.standard_normal(n) + 1j * rng.standard_normal(n)
    want = getattr(np.fft, name)(z)
    np.testing.assert_allclose(getattr(fft, name)(xnp.asarray(z)), want, atol=1e-14 * n)


SHARED_BY_THREADS = [
    (1 << 17) - 4,
    1 << 17,
    370 * 360,
]  # around the length from which two threads work


@pytest.mark.parametrize("n", SHARED_BY_THREADS)
def test_rows_that_two_threads_share_are_as_accurate_as_short_ones(n):
    z = random((n,), "complex128").astype("complex64")
    for name in ("fft", "ifft"):
        want = getattr(np.fft, name)(z.astype("complex128"))
        got = getattr(fft, name)(xnp.asarray(z))
        # rounding errors grow with the root of the number of levels; they reach a third of this
        bound = np.finfo("float32").eps * np.sqrt(np.log2(n))
        assert np.linalg.norm(got - want) <= bound * np.linalg.norm(want), name


def test_programs_that_share_the_kernels_threads_run_side_by_side():
    rows = random((4, 1 << 17), "complex64")
    each = xc.jit(lambda x: xc.lax.map(fft.fft, x))
    given = [xnp.asarray(rows[:2]), xnp.asarray(rows[2:])]
    with ThreadPoolExecutor(2) as pool:
        got = np.concatenate(list(pool.map(lambda x: np.asarray(each(x)), given)))
    want = np.fft.fft(rows.astype("complex128"))
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-6 * np.abs(want).max())


@pytest.mark.parametrize("n", [1 << 15, 49_000, 2 * 16_411])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_long_real_rows_as_complex_ones_of_half_length(n, dtype):
    x = random((n,), dtype)
    z = random((n // 2 + 1,), np.result_type(dtype, np.complex64))  # its ends are not real
    for name, given in {"rfft": x, "irfft": z}.items():
        want = getattr(np.fft, name)(given.astype(np.result_type(given, np.float64)))
        got = getattr(fft, name)(xnp.asarray(given))
        assert got.dtype == getattr(np.fft, name)(given).dtype
        bound = 20 * np.finfo(dtype).eps * np.sqrt(np.mean(np.abs(want) ** 2)) * np.log2(n)
        np.testing.assert_allclose(got, want, rtol=0, atol=bound)


def test_derivatives_of_long_real_rows():
    x, ct = random((1 << 15,)), random((1 << 15,), seed=1)
    there_and_back = lambda x: fft.irfft(fft.rfft(x) * 2.0)
    _, back = xc.vjp(there_and_back, xnp.asarray(x))
    np.testing.assert_allclose(back(xnp.asarray(ct))[0], 2 * ct, rtol=0, atol=1e-13)


def test_long_rows_inside_loops_and_derivatives():
    x = suited("fft", (3, 600))
    rows = xc.lax.scan(lambda c, row: (c + 1, fft.fft(row)), 0, xnp.asarray(x))[1]
    np.testing.assert_allclose(rows, np.fft.fft(x), atol=1e-11)
    check_grads(lambda x: fft.ifft(x, norm="ortho"), (x[0],), order=1)


def test_s_without_axes_means_the_last_ones():
    x = suited("fftn", (3, 4, 5))
    want = np.fft.fftn(x, (2, 6), axes=(1, 2))
    np.testing.assert_allclose(fft.fftn(xnp.asarray(x), (2, 6)), want, atol=1e-12)


@pytest.mark.parametrize("name", ALONG_AXIS)
def test_a_batch_of_none(name):
    assert_as_numpy(name, suited(name, (0, 4)))
    assert_as_numpy(name, suited(name, (4, 0)), None, 0)
    assert (
        getattr(fft, name)(xnp.zeros((3, 0)), 4).shape
        == getattr(np.fft, name)(np.zeros((3, 0)), 4).shape
    )
    mapped = xc.vmap(getattr(fft, name))(xnp.asarray(suited(name, (0, 4))))
    assert mapped.shape == getattr(np.fft, name)(np.zeros((0, 4))).shape


@pytest.mark.parametrize(
    ("dtype", "result"),
    [
        ("bool", "complex64"), ("int8", "complex64"), ("int32", "complex64"),
        ("int64", "complex128"), ("float16", "complex64"), ("bfloat16", "complex64"),
        ("float32", "complex64"), ("float64", "complex128"), ("complex64", "complex64"),
        ("complex128", "complex128"),
    ],
)  # fmt: skip
def test_dtypes(dtype, result):
    x = xnp.asarray([0, 1, 1, 0]).astype(dtype)
    for name in ("fft", "ifft", "fftn", "irfft", "hfft"):
        got = getattr(fft, name)(x)
        real = np.dtype(result).type(0).real.dtype
        assert got.dtype == (real if name in ("irfft", "hfft") else result), name
        want = getattr(np.fft, name)(np.asarray(x).astype("complex128"))
        np.testing.assert_allclose(got, want, atol=1e-6)


def test_fftn_over_no_axes_is_the_identity():
    x = xnp.asarray([1.0, 2.0])
    np.testing.assert_array_equal(fft.fftn(x, axes=()), x)
    assert fft.fftn(xnp.asarray(3.0)).shape == ()


def test_infinity_stays_where_it_is():
    got = np.asarray(fft.ifft(xnp.asarray([complex(np.inf, 1)]), norm="ortho"))
    assert got[0].real == np.inf
    assert got[0].imag == 1


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: fft.fft(x, 0), ValueError, "n must be 1 or more"),
        (lambda x: fft.fft(x, 2.5), ValueError, "n must be an int"),
        (lambda x: fft.fft(x, norm="other"), ValueError, "norm must be"),
        (lambda x: fft.hfft(x, norm="other"), ValueError, "norm must be"),
        (lambda x: fft.fft(x, axis=2), IndexError, "axis 2 is out of bounds"),
        (lambda x: fft.fft(x[0, 0]), ValueError, "0-d"),
        (lambda x: fft.fft(x[:0], axis=0), ValueError, "n must be 1 or more"),
        (lambda x: fft.irfft(x[:, :1]), ValueError, "n must be 1 or more"),
        (lambda x: fft.rfft(x + 1j), TypeError, "only real dtypes"),
        (lambda x: fft.ihfft(x + 1j), TypeError, "only real dtypes"),
        (lambda x: fft.fftn(x, (3,), (0, 1)), ValueError, "s must be as long as axes"),
        (lambda x: fft.fft2(x[0]), IndexError, "axis -2 is out of bounds"),
        (lambda x: fft.rfftn(x, axes=()), ValueError, "one axis or more"),
        (lambda x: fft.fftn(x, axes=1), ValueError, "a tuple of ints"),
        (lambda x: fft.fftfreq(0), ValueError, "n must be 1 or more"),
        (lambda x: fft.fftfreq(2.5), ValueError, "n must be an int"),
        (lambda x: fft.rfftfreq(4, dtype="int32"), TypeError, "floating"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(xnp.ones((2, 3)))


@pytest.mark.parametrize("name", ALONG_AXIS)
def test_derivatives(name):
    for n in (5, 6):
        x = suited(name, (2, n))
        check_grads(lambda x, n=n: getattr(fft, name)(x, n, 1, "ortho"), (x,), order=1)
    check_grads(lambda x: getattr(fft, name)(x, 7, 0), (suited(name, (3, 2)),), order=2)


@pytest.mark.parametrize("name", ALONG_AXES)
def test_derivatives_along_axes(name):
    x = suited(name, (3, 4, 2))
    check_grads(lambda x: getattr(fft, name)(x, (4, 5), (2, 0)), (x,), order=1)
    check_grads(getattr(fft, name), (x,), order=1)


@pytest.mark.parametrize("name", ALONG_AXES + ALONG_AXIS)
def test_compiled_and_mapped(name):
    f = getattr(fft, name)
    x = suited(name, (3, 4, 5))
    want = np.stack([getattr(np.fft, name)(row) for row in x])
    np.testing.assert_allclose(xc.jit(xc.vmap(f))(xnp.asarray(x)), want, atol=1e-12)
    inner = xc.vmap(f, in_axes=1, out_axes=1)(xnp.asarray(x))
    want = np.stack([getattr(np.fft, name)(x[:, i]) for i in range(4)], 1)
    np.testing.assert_allclose(inner, want, atol=1e-12)


# Frequencies


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_frequencies(name, n):
    ours, numpys = getattr(fft, name), getattr(np.fft, name)
    assert ours(n).dtype == np.float32
    np.testing.assert_allclose(ours(n, 0.3), numpys(n, 0.3), rtol=2e-7)
    np.testing.assert_allclose(ours(n, d=0.3, dtype="float64"), numpys(n, 0.3), rtol=1e-15)
    np.testing.assert_allclose(xc.jit(lambda d: ours(n, d))(0.3), numpys(n, 0.3), rtol=5e-7)
    inside = xc.jit(lambda x: x * ours(n, 0.3, dtype="float64"))(np.float64(1))
    np.testing.assert_allclose(inside, numpys(n, 0.3), rtol=1e-15)
    check_grads(lambda d: ours(n, d, dtype="float64"), (np.float64(0.3),), order=1)


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
@pytest.mark.parametrize("axes", [None, 0, (0, 1), (-1,), [1, 0], (1, 1)])
def test_shifts(name, axes):
    x = np.arange(15).reshape(3, 5)
    np.testing.assert_array_equal(
        getattr(fft, name)(xnp.asarray(x), axes), getattr(np.fft, name)(x, axes)
    )


def test_shift_of_nothing():
    assert fft.fftshift(xnp.zeros((0, 3))).shape == (0, 3)
    assert fft.fftshift(xnp.asarray(1.0)).shape == ()


def test_all_of_numpys_are_there():
    for name in np.fft.__all__:
        assert callable(getattr(fft, name)), name
    for name in (*ALONG_AXES, *ALONG_AXIS, *ALONG_TWO, "fftshift", "fftfreq"):
        ours = list(inspect.signature(getattr(fft, name)).parameters)
        want = [p for p in inspect.signature(getattr(np.fft, name)).parameters if p != "out"]
        assert ours[: len(want) - ("device" in want)] == want[: len(want) - ("device" in want)], (
            name
        )


@pytest.mark.parametrize("axis", [[0, 1], (0, 1), 1.0, None, "0"], ids=str)
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_one_axis_is_one_axis(name, axis):
    with pytest.raises(TypeError, match=rf"xcore.numpy.fft.{name}: axis must be an int") as told:
        getattr(xnp.fft, name)(xnp.ones((2, 2)), axis=axis)
    if isinstance(axis, (list, tuple)):
        module = "xcore.fft" if "hfft" in name else "xcore.numpy.fft"
        assert f"{module}.{name}n(x, axes=(0, 1))" in str(told.value)
        whole = getattr(importlib.import_module(module), f"{name}n")
        assert whole(xnp.ones((2, 2)), axes=(0, 1)).ndim == 2


@pytest.mark.parametrize(
    "given", [{"axes": 1.0}, {"axes": 1}, {"axes": "01"}, {"s": 4}, {"s": 4.0}]
)
@pytest.mark.parametrize("name", ["fft2", "ifftn", "rfftn", "irfft2"])
def test_several_axes_are_a_tuple(name, given):
    with pytest.raises(TypeError, match=rf"{name}: {next(iter(given))} must be a tuple of ints"):
        getattr(xnp.fft, name)(xnp.ones((2, 2)), **given)
