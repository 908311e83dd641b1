"""Cosine and sine transforms against SciPy, in value and derivative, compiled and in vmap."""

import itertools

import numpy as np
import pytest
import scipy.fft

import xcore as xc
import xcore.numpy as xnp
from xcore import fft
from xcore._core.program import eval_program, trace_closed
from xcore._core.types import ArrayType
from xcore._ops import trigonometric as program
from xcore.testing import check_grads

NAMES = ("dct", "idct", "dst", "idst")
TYPES = (1, 2, 3, 4)
NORMS = (None, "ortho", "forward")
PAIRS = list(itertools.product(("dct", "dst"), TYPES))


def random(shape, dtype="float64"):
    x = np.random.default_rng([1, *shape]).standard_normal(shape)
    return x.astype(dtype) if np.dtype(dtype).kind != "c" else (x + 1j * x[::-1]).astype(dtype)


def defined(name, type, n):
    return n > 1 or type > 1 or "dst" in name


def close(got, want, ulps=20):
    got = np.asarray(got)
    eps = np.finfo(got.dtype).eps
    np.testing.assert_allclose(
        got, want, rtol=0, atol=ulps * eps * max(1, np.abs(want).max(initial=0))
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("type", TYPES)
def test_lengths_norms_and_ends(name, type):
    ours, scipys = getattr(fft, name), getattr(scipy.fft, name)
    for n in (1, 2, 3, 8, 9):
        if not defined(name, type, n):
            continue
        x = random((2, n))
        settings = [
            {"norm": norm, "orthogonalize": o} for norm in NORMS for o in (None, True, False)
        ]
        together = xc.jit(lambda x, s=settings: [ours(x, type, **k) for k in s])(x)
        for got, k in zip(together, settings, strict=True):
            close(got, scipys(x, type, **k))


@pytest.mark.parametrize("kind", ["DCT", "DST"])
@pytest.mark.parametrize("type", TYPES)
def test_long_axes_of_few_rows_and_of_devices_without_kernels(kind, type):
    """The programs that are not a product with a matrix and not a call of SciPy."""
    f = {"DCT": scipy.fft.dctn, "DST": scipy.fft.dstn}[kind]
    for shape, axes in [((2, 65), (1,)), ((66, 3), (0,)), ((67, 2, 68), (0, 2))]:
        for norm, ends in [(None, False), ("ortho", True)]:
            x = random(shape)
            p = trace_closed(
                lambda x, a=axes, n=norm, e=ends: program._in_program(x, kind, type, a, n, e),
                [ArrayType(x.shape, x.dtype)],
            )
            got = xc.jit(lambda x, p=p: eval_program(p, [x])[0])(x)
            close(got, f(x, type, axes=axes, norm=norm, orthogonalize=ends))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_arrays(name, type, dtype):
    x = random((3, 300, 5), dtype)
    calls = [
        {"axis": axis, "norm": norm} for axis, norm in ((1, None), (-1, "ortho"), (0, "forward"))
    ]
    together = xc.jit(lambda x: [getattr(fft, name)(x, type, **k) for k in calls])
    for got, k in zip(together(x), calls, strict=True):
        assert got.dtype == dtype
        close(got, getattr(scipy.fft, name)(x, type, **k))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("s", "axes"),
    [
        (None, None),
        (None, (0,)),
        ((4, 6), None),
        ((2, 7), (2, 0)),
        ((-1, 3), (0, 1)),
        (None, 1),
        (None, ()),
    ],
)
def test_several_axes(name, s, axes):
    for shape in ((2, 3, 5), (12, 13, 5)):
        x = random(shape)
        got = getattr(fft, f"{name}n")(xnp.asarray(x), 2, s, axes)
        want = getattr(scipy.fft, f"{name}n")(x, 2, s, axes) if axes != () else x
        close(got, want)


@pytest.mark.parametrize("name", NAMES)
def test_points_are_cut_off_or_filled_up(name):
    x = random((3, 6))
    for n in (1, 4, 9):
        close(getattr(fft, name)(xnp.asarray(x), 3, n), getattr(scipy.fft, name)(x, 3, n))


@pytest.mark.parametrize(("name", "type"), PAIRS)
@pytest.mark.parametrize("shape", [(3, 5), (20, 30)])
def test_inverses(name, type, shape):
    x = xnp.asarray(random(shape))
    for norm in NORMS:
        there = getattr(fft, f"{name}n")(x, type, norm=norm)
        close(getattr(fft, f"i{name}n")(there, type, norm=norm), x)


def test_complex_numbers_and_other_dtypes():
    z = random((2, 5), "complex128")
    close(fft.dct(xnp.asarray(z)), scipy.fft.dct(z))
    close(fft.idstn(xnp.asarray(z), 1), scipy.fft.idstn(z, 1))
    for dtype, result in [
        ("int32", "float32"),
        ("int64", "float64"),
        ("float16", "float32"),
        ("bool", "float32"),
    ]:
        x = xnp.asarray([0, 1, 1]).astype(dtype)
        assert fft.dct(x).dtype == result
        close(fft.dct(x), scipy.fft.dct(np.asarray([0.0, 1, 1])))


@pytest.mark.parametrize("shape", [(0, 4), (4, 0)])
def test_empty_batches(shape):
    axis = shape.index(4)
    x = xnp.zeros(shape)
    assert fft.dst(x, 1, axis=axis).shape == shape
    assert xc.vmap(lambda r: fft.dct(r))(xnp.zeros((0, 4))).shape == (0, 4)


@pytest.mark.parametrize(("name", "type"), PAIRS)
def test_derivatives(name, type):
    f = getattr(fft, name)
    check_grads(lambda x: f(x, type, norm="ortho"), (random((2, 4)),), order=1)
    check_grads(lambda x: f(x, type, axis=0), (random((5, 2)),), order=1)
    check_grads(lambda x: f(x, type, axis=0, norm="ortho") ** 2, (random((30, 20)),), order=2)


@pytest.mark.parametrize(("name", "type"), PAIRS)
def test_transposes_of_large_arrays(name, type):
    """The matrix of the pullback is the transpose of the function's."""
    f = lambda x: getattr(fft, name)(x, type)
    eye = xnp.eye(24, dtype="float64")
    _, pull = xc.vjp(f, eye)
    close(pull(eye)[0], f(eye).T)


@pytest.mark.parametrize("name", NAMES)
def test_compiled_and_mapped(name):
    x = random((30, 4, 20))
    f = lambda x: getattr(fft, name)(x, 2)
    want = getattr(scipy.fft, name)
    close(xc.jit(xc.vmap(f))(x), want(x))
    close(xc.vmap(f, in_axes=2, out_axes=2)(xnp.asarray(x)), want(x, axis=1))
    carried = xc.lax.scan(
        lambda c, r: (c + f(r), f(r)), xnp.zeros((4, 20), "float64"), xnp.asarray(x)
    )
    close(carried[0], want(x).sum(0))
    close(carried[1], want(x))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: fft.dct(x, 5), ValueError, "type must be 1, 2, 3 or 4"),
        (lambda x: fft.dct(x, norm="other"), ValueError, "norm must be"),
        (lambda x: fft.dct(x, n=0), ValueError, "n must be 1 or more"),
        (lambda x: fft.dct(x, 1, n=1), ValueError, "2 or more for type 1"),
        (lambda x: fft.dct(x[:, :0]), ValueError, "n must be 1 or more"),
        (lambda x: fft.dct(x[0, 0]), ValueError, "0-d"),
        (lambda x: fft.dctn(x, axes=(0, 0)), ValueError, "different axes"),
        (lambda x: fft.dctn(x, s=(2,), axes=(0, 1)), ValueError, "as long as axes"),
        (lambda x: fft.dst(x, axis=2), IndexError, "axis 2 is out of bounds"),
        (lambda x: fft.next_fast_len(0), ValueError, "1 or more"),
        (lambda x: fft.prev_fast_len(2.5), ValueError, "1 or more"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(xnp.ones((2, 3)))


@pytest.mark.parametrize("name", ["hfftn", "ihfftn", "hfft2", "ihfft2"])
def test_hermitian(name):
    x = random((4, 5), "float64" if name[0] == "i" else "complex128")
    for args in ((), ((6, 4),), (None, (1, 0)), (None, (0, 1), "ortho")):
        close(getattr(fft, name)(xnp.asarray(x), *args), getattr(scipy.fft, name)(x, *args))


@pytest.mark.parametrize("real", [False, True])
def test_fast_lengths(real):
    for n in (1, 2, 7, 13, 97, 121, 1021, 99991):
        assert fft.next_fast_len(n, real) == scipy.fft.next_fast_len(n, real)
        assert fft.prev_fast_len(n, real) == scipy.fft.prev_fast_len(n, real)


def test_one_length_stands_for_a_tuple_of_it():
    x = np.arange(20.0).reshape(4, 5)
    got, exact = fft.dctn(x, s=6, axes=0), scipy.fft.dctn(x, s=6, axes=0)
    np.testing.assert_allclose(got, exact, atol=1e-13 * abs(exact).max())


@pytest.mark.parametrize("shape", [(1, 3), (3, 1), (0, 3)])
def test_axes_that_are_too_short_for_the_operation_itself(shape):
    with pytest.raises(xc.errors.ShapeError, match="need 2 points"):
        program.trig(xnp.ones(shape), kind="DCT", type=1, axes=(0, 1))
