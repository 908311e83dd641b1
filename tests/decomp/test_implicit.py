"""Derivatives of fitted factors with respect to the data, beside finite differences of whole fits."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import decomp
from xcore.decomp._common import balanced
from xcore.decomp._implicit import flat, follow, parts_of

RNG = np.random.default_rng(6)
SHAPE, RANK, STEP = (5, 4, 3), 2, 1e-4
TRUE = decomp.CP(None, [RNG.normal(size=(n, RANK)) for n in SHAPE])
X = np.asarray(TRUE.to_dense()) + 0.1 * RNG.normal(size=SHAPE)
D = RNG.normal(size=SHAPE)
EXACT = {"init": TRUE, "rtol": -1.0, "max_steps": 400}  # sweeps until nothing moves


def numbers(cp):
    """What does not depend on how a term's length is shared among its columns."""
    cp = decomp.fix_signs(cp)
    return flat([cp.weights, *cp.factors])


def differences(f, x, d):
    return (np.asarray(f(x + STEP * d)) - np.asarray(f(x - STEP * d))) / (2 * STEP)


def check(f, x=X, d=D):
    """Forward mode against central differences, whose error is of the order of STEP²."""
    found = xc.jit(lambda x, d: xc.jvp(f, (x,), (d,))[1])(x, d)
    np.testing.assert_allclose(found, differences(xc.jit(f), x, d), atol=1e-5)


def test_factors_in_every_mode_of_differentiation():
    def factors(x):
        return numbers(decomp.cp_als(x, RANK, **EXACT).value)

    wanted = differences(xc.jit(factors), X, D)
    np.testing.assert_allclose(xc.jvp(factors, (X,), (D,))[1], wanted, atol=1e-5)
    c = RNG.normal(size=wanted.shape)
    slopes = xc.jit(xc.vmap(xc.grad(lambda x: factors(x) @ c)))(np.stack([X, X + STEP * D]))
    np.testing.assert_allclose((slopes[0] * D).sum(), wanted @ c, atol=1e-5)
    assert np.abs(slopes[1] - slopes[0]).max() > 0  # the second lane is its own


def test_missing_elements_a_penalty_and_a_fixed_factor():
    known = RNG.random(SHAPE) > 0.2

    def fit(p):
        init = decomp.CP(None, (TRUE.factors[0], TRUE.factors[1] + p, TRUE.factors[2]))
        x = xnp.where(known, X + p * D, np.nan)
        options = EXACT | {"init": init, "fixed": (1,), "ridge": 0.1 + p}
        found = decomp.cp_als(x, RANK, mask=known, **options)
        return xnp.concatenate([numbers(found.value), found.error[None]])

    check(fit, np.float64(0.0), np.float64(1.0))


def test_zeros_of_non_negative_factors_stay():
    true = [np.abs(f) * (RNG.random(f.shape) > 0.3) for f in map(np.asarray, TRUE.factors)]
    x = np.asarray(decomp.CP(None, true).to_dense()) + 0.05 * RNG.normal(size=SHAPE)
    start = tuple(f + 0.1 for f in true)

    def factors(x):
        return numbers(decomp.cp_nonneg(x, RANK, init=start, rtol=-1.0, max_steps=2000).value)

    at = np.asarray(xc.jit(factors)(x))
    change = np.asarray(xc.jit(lambda x: xc.jvp(factors, (x,), (D,))[1])(x))
    assert 0 < (at == 0).sum() < at.size / 2 and not change[at == 0].any()
    np.testing.assert_allclose(change, differences(xc.jit(factors), x, D), atol=1e-5)


PROXES = {
    "not negative": lambda a, step: xnp.maximum(a, 0),
    "sparse": lambda a, step: xnp.sign(a) * xnp.maximum(xnp.abs(a) - 0.3 * step, 0),
    "one mode": (None, lambda a, step: a / (1 + 0.5 * step), None),
}  # fmt: skip


@pytest.mark.parametrize("name", PROXES)
def test_fixed_points_of_proximal_maps(name):
    rng = np.random.default_rng(0)
    true = [np.abs(np.asarray(f)) * (rng.random(f.shape) > 0.3) for f in TRUE.factors]
    x = np.asarray(decomp.CP(None, true).to_dense()) + 0.05 * D
    options = {"init": tuple(f + 0.1 for f in true), "rtol": -1.0, "max_steps": 1500, "ridge": 0.3}

    def fit(x):  # the ridge and most maps fix the lengths: terms and lengths are compared
        found = decomp.cp_constrained(x, RANK, PROXES[name], **options)
        return xnp.concatenate([found.value.to_dense().ravel(), flat(found.value.factors)])

    both = xc.jit(lambda x: (fit(x), xc.jvp(fit, (x,), (D,))[1]))
    at, change = map(np.asarray, both(x))
    ahead, back = (np.asarray(both(x + s * D)[0]) for s in (STEP, -STEP))
    np.testing.assert_allclose(change, (ahead - back) / (2 * STEP), atol=2e-5)
    if name != "one mode":
        zero = at == 0
        assert zero.any() and np.abs(change[zero]).max() < 1e-12


def test_derivatives_of_large_constrained_fits_say_what_to_do():
    x = xnp.ones((250, 9, 250))
    error = lambda x: decomp.cp_constrained(x, 4, PROXES["sparse"], max_steps=1).error
    with pytest.raises(ValueError, match="stop_gradient"):
        xc.jit(xc.grad(error)).trace(x)


def test_complex_terms():
    """Phases of single columns are free, so that only the tensor and the weights are compared."""
    rng = np.random.default_rng(3)
    true = decomp.CP(None, [np.asarray(f) + 1j * rng.normal(size=f.shape) for f in TRUE.factors])
    x = np.asarray(true.to_dense()) + 0.1 * D

    def tensor(p):
        value = decomp.cp_als(x + p * D * (1 + 2j), RANK, **EXACT | {"init": true}).value
        dense = value.to_dense().ravel()
        return xnp.concatenate([dense.real, dense.imag, value.weights.real])

    check(tensor, np.float64(0.0), np.float64(1.0))


@pytest.mark.parametrize("fit", [
    lambda x: decomp.cp_gauss_newton(x, RANK, init=TRUE, rtol=0.0),
    lambda x: decomp.cp_gradient(x, RANK, init=TRUE, method="bfgs", rtol=1e-9, max_steps=500),
], ids=["gauss_newton", "gradient"])  # fmt: skip
def test_all_methods_have_the_derivatives_of_one_minimum(fit):
    def slope(fit):
        def error(x):
            found = fit(x).value
            return (found.to_dense() * D).sum() + found.weights.max()

        return xc.jit(xc.grad(error))(X)

    exact = slope(lambda x: decomp.cp_als(x, RANK, **EXACT))
    np.testing.assert_allclose(slope(fit), exact, atol=1e-4 * np.abs(exact).max())


def test_the_solution_of_least_norm():
    """Beside the pseudo-inverse of the whole Hessian, whose null space are the lengths of columns."""
    value = decomp.cp_als(X, RANK, **EXACT).value
    parts = [np.asarray(value.factors[0]) * np.asarray(value.weights), *value.factors[1:]]
    fit = balanced(list(map(xnp.asarray, parts)), range(3))

    def slope(v, x):
        left = decomp.CP(None, tuple(parts_of(v, fit))).to_dense() - x
        return (left * left).sum() / 2

    at = flat(fit)
    hessian = np.asarray(xc.jit(xc.hessian(slope))(at, X))
    cross = np.asarray(
        xc.jit(lambda v, x, d: xc.jvp(lambda x: xc.grad(slope)(v, x), (x,), (d,))[1])(at, X, D)
    )
    sizes = np.linalg.eigvalsh(hessian)
    assert (np.abs(sizes) < 1e-8 * sizes[-1]).sum() == 2 * RANK  # (3 - 1) lengths for each term
    wanted = -np.linalg.pinv(hessian, rcond=1e-8, hermitian=True) @ cross
    found = xc.jit(lambda x, d: xc.jvp(lambda x: flat(follow(x, fit)), (x,), (d,))[1])(X, D)
    np.testing.assert_allclose(found, wanted, atol=1e-8)
