"""Fits do not depend on the units of the data, from one end of the range to the other."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import Solution, Status, decomp

RNG = np.random.default_rng(5)
SHAPE = (5, 6, 4)
FACTORS = [RNG.normal(size=(n, 2)) for n in SHAPE]
X = np.einsum("ir,jr,kr->ijk", *FACTORS) + 0.02 * RNG.normal(size=SHAPE)
X /= np.abs(X).max()
KNOWN = RNG.random(SHAPE) > 0.3
SHORT = {"max_steps": 25}

FITS = {
    "cp_als": lambda x: decomp.cp_als(x, 2, **SHORT),
    "cp_als extrapolated": lambda x: decomp.cp_als(x, 2, extrapolate=True, **SHORT),
    "cp_als masked": lambda x: decomp.cp_als(x, 2, mask=KNOWN, **SHORT),
    "cp_als restarts": lambda x: decomp.cp_als(x, 2, restarts=3, **SHORT),
    "cp_als hosvd": lambda x: decomp.cp_als(x, 2, init="hosvd", **SHORT),
    "cp_nonneg": lambda x: decomp.cp_nonneg(xnp.abs(x), 2, **SHORT),
    "cp_constrained": lambda x: decomp.cp_constrained(x, 2, lambda a, step: xnp.maximum(a, 0), **SHORT),
    "cp_gauss_newton": lambda x: decomp.cp_gauss_newton(x, 2, **SHORT),
    "cp_gauss_newton masked": lambda x: decomp.cp_gauss_newton(x, 2, mask=KNOWN, **SHORT),
    "cp_gradient": lambda x: decomp.cp_gradient(x, 2, **SHORT),
    "cp_gradient masked": lambda x: decomp.cp_gradient(x, 2, mask=KNOWN, **SHORT),
    "cp_arls": lambda x: decomp.cp_arls(x, 2, **SHORT),
    "tucker_als": lambda x: decomp.tucker_als(x, 2),
    "tucker_nonneg": lambda x: decomp.tucker_nonneg(xnp.abs(x), 2, **SHORT),
    "hosvd": lambda x: decomp.hosvd(x, 2),
    "hosvd tol": lambda x: decomp.hosvd(x, rtol=0.3),
    "st_hosvd": lambda x: decomp.st_hosvd(x, 2),
    "hooi": lambda x: decomp.hooi(x, 2),
    "tucker_random": lambda x: decomp.tucker_random(x, 2),
    "round_tucker": lambda x: decomp.round_tucker(decomp.hosvd(x, 3), rtol=0.3),
    "tt_svd": lambda x: decomp.tt_svd(x, 2),
    "tt_svd tol": lambda x: decomp.tt_svd(x, rtol=0.3),
    "round_tt": lambda x: decomp.round_tt(decomp.tt_svd(x, 4), rtol=0.3),
}  # fmt: skip
SIZES = {"float32": (2.0**-83, 2.0**-50, 2.0**83, 2.0**120), "float64": (2.0**-900, 2.0**900)}


def _dense(found):
    value = getattr(found, "value", found)
    return np.asarray(value.to_dense()).astype(np.longdouble)


def _error(x, found, used=True):
    x = np.where(used, np.asarray(x), 0).astype(np.longdouble)
    left = np.where(used, x - _dense(found), 0)
    return float(np.sqrt((left**2).sum() / (x**2).sum()))


@pytest.mark.parametrize("dtype", SIZES)
@pytest.mark.parametrize("name", FITS)
def test_powers_of_two_change_nothing_else(name, dtype):
    fit, x = FITS[name], X.astype(dtype)
    usual = fit(x)
    for size in SIZES[dtype]:
        found = fit((x * size).astype(dtype))
        exact = "constrained" not in name  # factors share their units there, by roots
        near = 0 if exact else 1e-3
        wanted = _dense(usual) * np.longdouble(size)
        np.testing.assert_allclose(_dense(found), wanted, rtol=0, atol=near * abs(wanted).max())
        if isinstance(found, Solution) and exact:
            assert int(found.steps) == int(usual.steps) and int(found.status) == int(usual.status)
            np.testing.assert_array_equal(found.history, usual.history)


@pytest.mark.parametrize("name", ["cp_als", "cp_gauss_newton", "cp_gradient masked", "tucker_als"])
def test_no_success_and_no_error_of_0_beside_nan(name):
    """Under jit nothing can be refused: it is told."""
    x = np.where(np.arange(X.size).reshape(SHAPE) == np.argmax(KNOWN), np.nan, X)
    found = xc.jit(FITS[name])(x.astype(np.float32))
    assert int(found.status) == Status.not_finite and np.isnan(found.error)


@pytest.mark.parametrize(
    "name", [n for n in FITS if n.startswith(("cp", "tucker_als", "tucker_nonneg"))]
)
def test_the_error_told_is_the_error(name):
    used = KNOWN if "masked" in name else True
    for size in (1e-30, 3e-15, 1.0, 7e20, 1e30):
        x = (X * size).astype(np.float32)
        found = FITS[name](x)
        given = np.abs(x) if "nonneg" in name else x
        assert float(found.error) == pytest.approx(_error(given, found, used), rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("size", [1e-25, 1.0, 1e25])
def test_transformed(size):
    x = xnp.asarray((X * size).astype(np.float32))
    usual = decomp.cp_als(x, 2, **SHORT)
    for found in (
        xc.jit(lambda x: decomp.cp_als(x, 2, **SHORT))(x),
        xc.tree.map(
            lambda a: a[1],
            xc.vmap(lambda x: decomp.cp_als(x, 2, **SHORT))(xnp.stack([1 + 0 * x, x])),
        ),
    ):
        np.testing.assert_allclose(_dense(found) / size, _dense(usual) / size, atol=1e-4)
        assert float(found.error) == pytest.approx(float(usual.error), rel=1e-3)
    slope = xc.grad(lambda x: decomp.cp_als(x, 2, rtol=1e-7, max_steps=300).value.to_dense().sum())(
        x
    )
    one = xc.grad(lambda x: decomp.cp_als(x, 2, rtol=1e-7, max_steps=300).value.to_dense().sum())(
        x / size
    )
    np.testing.assert_allclose(slope, one, atol=0.02)
    slope = xc.grad(lambda x: decomp.cp_als(x, 2, rtol=1e-7, max_steps=300).error)(x) * size
    one = xc.grad(lambda x: decomp.cp_als(x, 2, rtol=1e-7, max_steps=300).error)(x / size)
    np.testing.assert_allclose(slope, one, atol=1e-3)


def test_a_penalty_keeps_its_meaning():
    """min ‖x - y‖² + ridge Σ ‖factors‖² by a general optimiser, in the user's units."""
    x, ridge = xnp.asarray(1e3 * X), 2e3
    found = decomp.cp_als(x, 2, ridge=ridge, rtol=1e-12, max_steps=2000)
    weights = np.cbrt(np.asarray(found.value.weights))
    start = [np.asarray(f) * weights for f in found.value.factors]

    def loss(factors):
        return ((x - decomp.CP(None, tuple(factors)).to_dense()) ** 2).sum() + ridge * sum(
            (f * f).sum() for f in factors
        )

    slopes = xc.grad(loss)([xnp.asarray(f) for f in start])
    assert max(float(xnp.abs(s).max()) for s in slopes) < 1e-3 * float(loss(start)) ** 0.5
    thresholds = decomp.cp_constrained(
        x, 1, lambda a, step: xnp.sign(a) * xnp.maximum(xnp.abs(a) - 300.0 * step, 0)
    )
    assert 0.1 < float(thresholds.error) < 1 and np.isfinite(float(thresholds.error))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sixteen_bits_are_fitted_in_thirty_two(dtype):
    x = xnp.asarray(X * 100).astype(dtype)
    for name in (
        "cp_als",
        "cp_gauss_newton",
        "cp_gradient",
        "cp_arls",
        "tucker_als",
        "hosvd",
        "tt_svd",
    ):
        found = FITS[name](x)
        assert getattr(found, "value", found).dtype == np.float32
        if name == "cp_als":
            assert float(found.error) < 0.2


def test_ends():
    zero = decomp.cp_als(np.zeros(SHAPE, np.float32), 2)
    assert float(zero.error) == 0 and not np.asarray(zero.value.weights).any()
    zero = decomp.cp_gauss_newton(np.zeros(SHAPE), 2)  # its start shrinks, but is never zero
    assert zero.ok and float(zero.error) == 0 and not np.asarray(zero.value.to_dense()).any()
    for size in (1e-37, 1e-40):  # elements that count as zero, some of them or all
        x = (X * size).astype(np.float32)
        small = decomp.cp_gauss_newton(x, 2)
        assert float(small.error) >= _error(x, small)
        assert size == 1e-37 or not small.ok
    huge = decomp.cp_als(np.full(SHAPE, 3e38, np.float32), 1)  # ‖x‖ is beyond the dtype
    assert huge.status == Status.not_finite and "NaN" in huge.message
    lost = xc.jit(lambda x: decomp.cp_als(x, 2))(np.full(SHAPE, np.nan, np.float32))
    assert lost.status == Status.not_finite


BELOW = {
    "als": lambda x: decomp.cp_als(x, 2, max_steps=30),
    "nonneg": lambda x: decomp.cp_nonneg(xnp.abs(x), 2, max_steps=30),
    "gauss-newton": lambda x: decomp.cp_gauss_newton(x, 2, max_steps=20),
    "tucker": lambda x: decomp.tucker_als(x, 2),
}


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("name", BELOW)
def test_errors_are_bounds_where_elements_fall_below_the_range(name, kind):
    """Of the data, and of what fits them, whose real and imaginary parts count as zero one by one."""
    if kind == "complex" and name in ("gauss-newton", "nonneg"):
        pytest.skip("fits of real numbers")
    rng = np.random.default_rng(3)
    x = X + 0.1 * rng.standard_normal(SHAPE)
    x = x + 1j * rng.standard_normal(SHAPE) if kind == "complex" else x
    for size in (1e-30, 1e-36, 1e-37, 3e-38, 1e-38, 1e-39):
        given = (x * size).astype(np.complex64 if kind == "complex" else np.float32)
        found = BELOW[name](xnp.asarray(given))
        wide = np.abs(given) if name == "nonneg" else given
        wide = wide.astype(complex if kind == "complex" else float)
        model = np.asarray(found.value.to_dense()).astype(wide.dtype)
        true = np.linalg.norm((wide - model) / size) / np.linalg.norm(wide / size)
        assert true <= float(found.error) * (1 + 1e-5), size
