"""Values at zeros with a sign, infinities and NaN, against NumPy's, which are those of C99."""

import itertools

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp

EDGES = [0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, np.nan]
POINTS = np.array([complex(a, b) for a, b in itertools.product(EDGES, EDGES)])
INF, NAN = np.inf, np.nan

# Where C99 leaves a sign open.
OPEN = {
    "asin": lambda x, y: np.isinf(x) & np.isnan(y), "atan": lambda x, y: np.isinf(x) & np.isnan(y),
    "cos": lambda x, y: (y == 0) & ~np.isfinite(x), "cosh": lambda x, y: (x == 0) & ~np.isfinite(y),
    "sin": lambda x, y: np.isinf(y) & ~np.isfinite(x), "sinh": lambda x, y: np.isinf(x) & ~np.isfinite(y),
}  # fmt: skip
NAMES = """abs acos acosh asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2 sign sin sinh
sqrt square tan tanh""".split()


def same(a, b, signed):
    close = (a == b) | (np.abs(a - b) <= 1e-14 * np.abs(b))
    signs = ~signed | (np.signbit(a) == np.signbit(b))
    return (np.isnan(a) & np.isnan(b)) | (close & signs)


def numpy_value(name, z):
    if name != "expm1":
        return getattr(np, name)(z)
    # NumPy makes NaN of infinities here; the standard has e^z - 1
    return np.where(z.imag == 0, [complex(np.expm1(v.real), v.imag) for v in z], np.exp(z) - 1)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", NAMES)
def test_edges_as_numpy(name):
    want = numpy_value(name, POINTS)
    got = np.asarray(getattr(xnp, name)(xnp.asarray(POINTS)))
    free = OPEN[name](POINTS.real, POINTS.imag) if name in OPEN else np.zeros(POINTS.shape, bool)
    for part in (np.real, np.imag):
        a, b = (np.where(free, np.abs(part(v)), part(v)) for v in (got, want))
        fine = same(a, b, ~free)
        assert fine.all(), list(zip(POINTS[~fine], got[~fine], want[~fine], strict=True))


# f(x + iy) = u + iv of the standard's tables, points in the upper half plane
TABLE = [
    ("acos", complex(0, NAN), complex(np.pi / 2, NAN)), ("acos", complex(-INF, INF), complex(3 * np.pi / 4, -INF)),
    ("acosh", complex(INF, INF), complex(INF, np.pi / 4)), ("asinh", complex(NAN, 0), complex(NAN, 0)),
    ("atanh", complex(1, 0), complex(INF, 0)), ("atanh", complex(INF, NAN), complex(0, NAN)),
    ("cosh", complex(INF, NAN), complex(INF, NAN)), ("exp", complex(-INF, NAN), 0),
    ("expm1", complex(INF, 0), complex(INF, 0)), ("expm1", complex(-INF, NAN), -1),
    ("log", complex(NAN, INF), complex(INF, NAN)), ("log", complex(-0.0, 0), complex(-INF, np.pi)),
    ("sinh", complex(0, NAN), complex(0, NAN)), ("sqrt", complex(-INF, NAN), complex(NAN, INF)),
    ("tanh", complex(INF, INF), 1), ("tanh", complex(NAN, 0), complex(NAN, 0)), ("sign", complex(0.0, -0.0), 0),
    ("abs", complex(NAN, INF), INF), ("asin", complex(1e30, NAN), complex(NAN, NAN)),
    ("acos", complex(1e30, NAN), complex(NAN, NAN)), ("acosh", complex(1e30, NAN), complex(NAN, NAN)),
    ("asinh", complex(NAN, 1e30), complex(NAN, NAN)),
    ("log1p", complex(-1, 1e-30), complex(np.log(1e-30), np.pi / 2)),
    ("atanh", complex(1, 1e-30), complex(np.log(2e30) / 2, np.pi / 4)),
    ("atan", complex(1e-30, 1), complex(np.pi / 4, np.log(2e30) / 2)),
]  # fmt: skip


@pytest.mark.parametrize("name, z, want", TABLE)
def test_values_of_the_standard(name, z, want):
    for dtype in ("complex64", "complex128"):
        got = complex(xc.jit(getattr(xnp, name))(xnp.asarray(z, dtype=dtype)))
        np.testing.assert_allclose(
            [got.real, got.imag], [complex(want).real, complex(want).imag], rtol=1e-6
        )


def test_far_out_and_close_to_the_poles():
    f = xc.jit(lambda z: (xnp.arcsin(z), xnp.log1p(1j * xnp.imag(z) - 1)))
    arcsin, log1p = f(xnp.asarray([complex(1e300, NAN), 1e-300j], dtype="complex128"))
    assert np.isnan([np.real(arcsin)[0], np.imag(arcsin)[0]]).all()
    np.testing.assert_allclose(complex(log1p[1]), complex(np.log(1e-300), np.pi / 2), rtol=1e-14)


def test_sign_of_zero_is_zero():
    assert not np.signbit(np.asarray(xnp.sign(xnp.asarray([-0.0, 0.0])))).any()
    assert not np.signbit(np.asarray(xnp.sign(xnp.asarray([-0.0, 0.0], "float64")))).any()


@pytest.mark.parametrize("name", ["exp", "sinh", "tanh", "asinh", "sqrt", "log"])
def test_derivatives_on_the_real_line(name):
    """There the imaginary part is 0, an edge: the derivative must not notice."""
    f, x = getattr(xnp, name), 0.75
    slope = xc.grad(lambda x: f(x + 0j).real)(xnp.asarray(x, "float64"))
    np.testing.assert_allclose(
        float(slope), float(xc.grad(f)(xnp.asarray(x, "float64"))), rtol=1e-12
    )
