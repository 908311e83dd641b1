"""Polynomials by their coefficients, highest power first, against NumPy."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xcore as xc
import xcore.numpy as xnp
from tests.numpy.reference import check_call, values
from xcore.testing import check_grads

P = values("float64", (5,))
ROWS = """
m.polyval(x, 0.5) | m.polyval(x, q) | m.polyval(x, np.ones((2, 3))) | m.polyval(x[:1], q) | m.polyval(x, q * 1j)
m.polyadd(x, q) | m.polyadd(q, x) | m.polysub(x, q) | m.polysub(q, x) | m.polyadd(x, x) | m.polymul(x, q) | m.polymul(q, x)
m.polyder(x) | m.polyder(x, 2) | m.polyder(x, 0) | m.polyder(x, 7) | m.polyint(x) | m.polyint(x, 2) | m.polyint(x, 3, [1.0, 2, 3]) | m.polyint(x, k=2.0)
m.polyint(x, 0) | m.poly(x) | m.poly(x[:0]) | m.poly(q.reshape(1, 3)[:, :1])
m.poly(m.asarray([[2.0, 1.0], [0.5, -1.0]]))
m.polyfit(np.arange(5.0), x, 2) | m.polyfit(np.arange(5.0), x, 4) | m.polyfit(np.arange(5.0), x, 1, w=np.array([1.0, 2, 1, 0.5, 1]))
m.polyfit(np.arange(5.0), m.stack([x, x * 2], axis=1), 2) | m.polyfit(np.arange(5.0), x, 1, cov=True) | m.polyfit(np.arange(5.0), x, 1, cov='unscaled')
"""
EXPRESSIONS = [e.strip() for line in ROWS.strip().splitlines() for e in line.split(" | ")]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_as_numpy(text):
    check_call(text, P, ulps=4096, q=np.array([1.5, -0.5, 2.0]))


def test_remainders_have_the_length_of_the_dividend_unless_trimmed():
    """Only where values are known can leading zeros be left out, which NumPy always does."""
    p = xnp.asarray(P)
    for q in ([1.5, -0.5, 2.0], [2.0], [1.0, 0, 0, 0, 0, 3.0]):
        want, got = np.polydiv(P, q), xnp.polydiv(p, np.asarray(q))
        trimmed = xnp.polydiv(p, np.asarray(q), trim_leading_zeros=True)
        np.testing.assert_allclose(np.asarray(got[0]), want[0], atol=1e-14)
        assert got[1].shape == (5,) and trimmed[1].shape == want[1].shape
        np.testing.assert_allclose(np.asarray(trimmed[1]), want[1], atol=1e-14)
    product = xnp.polymul(np.array([0.0, 1.0]), np.array([0.0, 2.0, 1.0]), trim_leading_zeros=True)
    assert product.tolist() == [2.0, 1.0]


def test_conjugate_roots():
    """The dtype cannot depend on values: complex roots give complex coefficients."""
    got = np.asarray(xnp.poly(np.array([1j, -1j, 2.0])))
    assert got.dtype == complex
    np.testing.assert_allclose(got, [1, -2, 1, -2], atol=1e-15)


def test_numbers_keep_their_digits():
    p = xnp.asarray(P)
    assert float(xc.jit(lambda p: xnp.polyval(p, 0.7))(p)) == pytest.approx(
        np.polyval(P, 0.7), rel=1e-14
    )
    assert float(xnp.polyadd(p, 0.7)[-1]) == P[-1] + 0.7


def sorted_roots(p):
    return np.sort_complex(np.asarray(p))


ROOTS = [
    [1, -3, 2],
    [1, 0, 1],
    [2.0, -4, 0, 0],
    [0, 0, 1, -1],
    [3.0],
    [0.0, 0.0],
    [1, -6, 11, -6],
    [1j, 1, -1j],
]


@pytest.mark.parametrize("p", ROOTS, ids=str)
def test_roots(p):
    want = sorted_roots(np.roots(p))
    got = sorted_roots(xnp.roots(xnp.asarray(p, "complex128" if np.iscomplexobj(p) else "float64")))
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, atol=1e-9)


def test_roots_of_a_fixed_number_under_jit():
    p = xnp.asarray([1.0, -3.0, 2.0, 0.0], "float64")
    got = np.asarray(xc.jit(lambda p: xnp.roots(p, strip_zeros=False))(p))
    np.testing.assert_allclose(sorted_roots(got), [0, 1, 2], atol=1e-9)
    with pytest.raises(xc.errors.ConcretizationError, match="strip_zeros"):
        xc.jit(xnp.roots)(p)


def test_all_of_polyfit():
    x, y = np.arange(8.0), np.cos(np.arange(8.0))
    want, got = np.polyfit(x, y, 2, full=True), xnp.polyfit(x, y, 2, full=True)
    assert len(got) == len(want) == 5
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-9)


@pytest.mark.parametrize("dtype", ["int8", "int32", "float16", "float32", "complex64"])
def test_dtypes(dtype):
    p, q = values(dtype, (4,), low=1), values(dtype, (3,), seed=2, low=1)  # NumPy strips zeros
    for name in ("polyadd", "polysub", "polymul"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want = getattr(np, name)(p, q)
        got = getattr(xnp, name)(xnp.asarray(p), xnp.asarray(q))
        assert got.dtype == p.dtype
        np.testing.assert_allclose(
            np.asarray(got),
            want,
            rtol=5e-3 if dtype == "float16" else 1e-5,
            atol=1e-2 if dtype == "float16" else 1e-6,
        )
    assert xnp.polyder(xnp.asarray(p)).dtype == (np.dtype("int32") if dtype == "int8" else p.dtype)
    assert xnp.polyder(xnp.ones(4, bool)).tolist() == [3, 2, 1]
    assert xnp.polyint(xnp.asarray(p)).dtype == (
        p.dtype if p.dtype.kind in "fc" else np.dtype("float32")
    )


@given(
    st.lists(st.integers(-5, 5), min_size=1, max_size=5),
    st.lists(st.integers(-5, 5), min_size=1, max_size=4),
)
def test_division_undoes_multiplication(p, q):
    if not q[0] or not p[0]:
        return
    quotient, rest = xnp.polydiv(
        xnp.polymul(np.asarray(p, float), np.asarray(q, float)), np.asarray(q, float)
    )
    np.testing.assert_allclose(np.asarray(quotient), p, atol=1e-9)
    np.testing.assert_allclose(np.asarray(rest), 0, atol=1e-6)


def test_lanes_and_derivatives():
    ps = xnp.asarray(values("float64", (3, 4)))
    lanes = np.asarray(xc.vmap(lambda p: xnp.polyval(p, 0.7))(ps))
    np.testing.assert_allclose(lanes, [np.polyval(p, 0.7) for p in np.asarray(ps)], rtol=1e-10)
    check_grads(xnp.polyval, (P, np.array([0.5, -1.0])))
    check_grads(lambda y: xnp.polyfit(np.arange(5.0), y, 2), (P,), order=1)
    check_grads(xnp.polymul, (P, P[:3]))
    check_grads(lambda r: xnp.poly(r), (P[:3],), order=1)


BAD = [
    (lambda: xnp.polyder(xnp.ones(3), -1), "m"), (lambda: xnp.polyint(xnp.ones(3), 2, [1.0, 2.0, 3.0]), "k"),
    (lambda: xnp.polyfit(xnp.ones(3), xnp.ones(4), 1), "shape|length|need"), (lambda: xnp.polyfit(xnp.ones(3), xnp.ones(3), -1), "deg"),
    (lambda: xnp.roots(xnp.ones((2, 2))), "1-d|one axis|1 axis"), (lambda: xnp.poly(xnp.ones((2, 3))), "square"),
]  # fmt: skip


@pytest.mark.parametrize("call, pattern", BAD)
def test_errors(call, pattern):
    with pytest.raises((ValueError, TypeError), match=pattern):
        call()


@pytest.mark.parametrize("size", [1e9, 1e-9, 1e12])
@pytest.mark.parametrize("deg", [1, 3])
def test_powers_of_coordinates_beyond_the_range_are_fitted(size, deg):
    """x⁵ of numbers near 1e9 is no float32."""
    x = np.linspace(0.1, 1, 20)
    y = np.polyval([3.0, -2.0, 1.0, 0.5][-deg - 1 :], x)
    found = xnp.polyfit((x * size).astype("float32"), y.astype("float32"), deg)
    want = np.polyfit(x, y, deg) / size ** np.arange(deg, -1.0, -1)
    np.testing.assert_allclose(found, want, rtol=1e-4)


@pytest.mark.parametrize("deg", [1, 3, 5])
def test_fitted_coefficients_and_their_covariance_do_not_depend_on_units(deg):
    """In single precision squares of residuals, and powers of coordinates, leave the range before these do."""
    rng = np.random.default_rng(deg)
    z, noise = np.linspace(-1, 2, 12), rng.standard_normal((2, 12))
    want, spread = np.polyfit(z, z + noise[0], deg, cov=True)
    many, each = np.polyfit(z, (z + noise).T, deg, cov=True)
    low, high = np.finfo("f").tiny, np.finfo("f").max
    for x_unit in (1e-9, 1e-5, 1.0, 1e5, 1e9):
        for y_unit in (1e-25, 1.0, 1e25):
            x, y = (x_unit * z).astype("f"), (y_unit * (z + noise)).astype("f")
            units = y_unit / np.float64(x_unit) ** np.arange(deg, -1, -1)
            for found, right in (
                (
                    xnp.polyfit(x, y[0], deg, cov=True),
                    (want * units, spread * np.outer(units, units)),
                ),
                (
                    xnp.polyfit(x, y.T, deg, cov=True),
                    (many * units[:, None], each * np.outer(units, units)[:, :, None]),
                ),
            ):
                for a, b in zip(found, right, strict=True):
                    holds = (np.abs(b) > 1e3 * low) & (np.abs(b) < 1e-3 * high)
                    # of a row, or of a column, that cancels, so many digits
                    near = np.abs(np.asarray(a, float) / b - 1)[holds]
                    assert np.all(near < 2e-2), (x_unit, y_unit, near.max())
