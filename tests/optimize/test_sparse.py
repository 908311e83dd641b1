"""Least squares and equations with sparse Jacobians: beside dense methods and SciPy's, and what they claim."""

import numpy as np
import pytest
import scipy.optimize

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo
from xcore import Status, sparse

N = 12
RNG = np.random.default_rng(0)
DATA = RNG.normal(size=N)


def curve(x, data, np=xnp):
    """Residuals of a chain, in which each unknown meets its neighbours."""
    d = x[1:] - x[:-1]
    return np.concatenate([x**3 / 3 + x - data, 2 * d**2, 3 * d])


def fit(data, start, **how):
    return xo.least_squares(lambda x: curve(x, data), start, **{"method": "sparse"} | how)


@pytest.mark.parametrize("loss", ["linear", "soft_l1"])
def test_fits_beside_those_of_scipy(loss):
    start = xnp.zeros(N, dtype="float64")
    found = fit(xnp.asarray(DATA), start, loss=loss, f_scale=0.5)
    peer = scipy.optimize.least_squares(
        lambda x: curve(x, DATA, np),
        np.zeros(N),
        loss=loss,
        f_scale=0.5,
        xtol=1e-15,
        ftol=1e-15,
        gtol=1e-15,
    )
    assert found.success and found.certificate.error < 1e-7
    np.testing.assert_allclose(found.x, peer.x, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found.stats["cost"], peer.cost, rtol=1e-12)


def test_given_jacobians_other_factors_and_trees():
    start, data = xnp.zeros(N, dtype="float64"), xnp.asarray(DATA)
    want = fit(data, start).x
    f = lambda x: curve(x, data)
    for how in (
        {"jac": sparse.jacobian(f), "method": None},
        {"jac": lambda x: xc.jacfwd(f)(x), "method": "lm"},
    ):
        found = xo.least_squares(f, start, **how)
        assert found.success
        np.testing.assert_allclose(found.x, want, rtol=1e-9, atol=1e-11)
    tree = {"a": start[:5].reshape(5, 1), "b": start[5:]}
    found = xo.least_squares(
        lambda t: f(xnp.concatenate([t["a"][:, 0], t["b"]])), tree, method="sparse"
    )
    np.testing.assert_allclose(
        xnp.concatenate([found.x["a"][:, 0], found.x["b"]]), want, rtol=1e-10
    )


def test_derivatives_and_batches():
    start, data = xnp.zeros(N, dtype="float64"), xnp.asarray(DATA)
    slope = lambda m: xc.jit(xc.grad(lambda d: xnp.sin(fit(d, start, method=m).x).sum()))(data)
    np.testing.assert_allclose(slope("sparse"), slope("lm"), rtol=1e-9, atol=1e-12)
    many = data * xnp.asarray([[1.0], [0.5], [3.0]])
    method = xo.SparseLevenbergMarquardt(factors="cholesky")
    found = xc.jit(xc.vmap(lambda d: fit(d, start, method=method)))(many)
    assert found.success.all()
    one = xc.jit(lambda d: fit(d, start).x)
    np.testing.assert_allclose(found.x, xnp.stack([one(d) for d in many]), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_units_change_nothing(dtype):
    """The same problem in units of unknowns and residuals over much of the range."""
    far = 1e30 if dtype == "float64" else 1e8

    @xc.jit
    def solve(unit, size):
        f = lambda x: curve(x / unit, DATA.astype(dtype)) * size
        return xo.least_squares(f, xnp.zeros(N, dtype) + 0.1 * unit, method="sparse")

    plain = solve(*xnp.ones(2, dtype))
    assert plain.success
    for unit, size in ((far, 1), (1 / far, 1), (1, far), (1, 1 / far), (far, 1 / far)):
        found = solve(xnp.asarray(unit, dtype), xnp.asarray(size, dtype))
        assert found.success
        np.testing.assert_allclose(
            found.x / unit, plain.x, rtol=2e-3 if dtype == "float32" else 1e-9, atol=1e-5
        )


def test_what_is_no_minimum_is_not_claimed():
    start = xnp.full(4, 0.7, dtype="float64")
    d = lambda x: x[1:] - x[:-1]
    # differences alone leave a sum open
    cubic = lambda x: xnp.concatenate([d(x) - 1.0, d(x) ** 2 + 3])
    assert not xo.least_squares(cubic, start, method="sparse").success
    # a maximum between two minima, in every unknown
    humps = lambda x: xnp.concatenate([x**2 - 4.0, 0.1 * d(x)])
    assert xo.least_squares(humps, xnp.zeros(4, dtype="float64"), method="sparse").status in (
        Status.saddle,
        Status.flat,
    )
    assert xo.least_squares(humps, start, method="sparse").success
    wrong = lambda x: (
        sparse.jacobian(humps)(x) * 0.5 + sparse.jacobian(lambda x: humps(x) * x[0])(x)
    )
    assert not xo.least_squares(humps, start, jac=wrong, maxiter=30).success
    assert (
        xo.least_squares(lambda x: humps(x) * xnp.nan, start, method="sparse").status
        == Status.not_finite
    )
    # an unknown that nothing sees
    blind = lambda x: humps(x * xnp.asarray([1.0, 1.0, 1.0, 0.0])) + 1e-3
    assert xo.least_squares(blind, start, method="sparse").status == Status.flat


def test_small_ones_and_mistakes():
    f = lambda x: xnp.stack([x[0] - 2, x[0] ** 2 - 3])
    one = xo.least_squares(f, xnp.ones(1, dtype="float64"), method="sparse")
    assert one.success and abs(one.x - xo.least_squares(f, xnp.ones(1, dtype="float64")).x) < 1e-9
    assert xo.least_squares(lambda x: xnp.zeros(2), xnp.zeros(0), method="sparse").x.shape == (0,)
    j = sparse.jacobian(f)
    with pytest.raises(ValueError, match="todense"):
        xo.least_squares(f, xnp.ones(1), jac=j, method="lm")
    with pytest.raises(xc.errors.ShapeError, match=r"\(2, 1\)"):
        xo.least_squares(f, xnp.ones(1), jac=lambda x: j(x).T)
    with pytest.raises(ValueError, match="knows no bounds"):
        xo.least_squares(f, xnp.ones(1), jac=j, bounds=(0, 1))
    with pytest.raises(ValueError, match="factors"):
        xo.SparseLevenbergMarquardt(factors="qr")
    with pytest.raises(ValueError, match="todense"):
        xo.root(lambda x: x**2 - 2, xnp.ones(3), jac=sparse.jacobian(lambda x: x**2), method="hybr")


def bratu(u, strength):
    """-u'' = strength exp u, between walls at 0."""
    p = xnp.pad(u, 1)
    return (p[2:] - 2 * u + p[:-2]) * (u.shape[0] + 1) ** 2 + strength * xnp.exp(u)


def test_equations():
    start = xnp.zeros(20, dtype="float64")

    def solved(strength, **how):
        return xo.root(lambda u: bratu(u, strength), start, **how)

    dense = solved(3.0)
    for how in (
        {"method": "sparse"},
        {"jac": sparse.jacobian(lambda u: bratu(u, 3.0))},
        {"jac": xc.jacfwd(lambda u: bratu(u, 3.0))},
    ):
        found = solved(3.0, **how)
        assert found.success and found.certificate.error < 1e-10
        np.testing.assert_allclose(found.x, dense.x, rtol=1e-10)
    assert not solved(4.0, method="sparse").success  # beyond the fold nothing solves it
    slope = lambda m: xc.jit(xc.grad(lambda s: solved(s, method=m).x.sum()))(
        xnp.asarray(3.0, dtype="float64")
    )
    np.testing.assert_allclose(slope("sparse"), slope("newton"), rtol=1e-9)
    apart = lambda x: xnp.stack([x[0] + x[1] - 1, x[0] + x[1] - 2, x[2]])
    assert not xo.root(apart, xnp.zeros(3), method="sparse").success
    f = lambda x, unit: xnp.stack([(x[0] / unit) ** 2 - x[1], x[1] - 4.0]) * unit
    solve = xc.jit(lambda unit: xo.root(f, xnp.stack([unit, unit * 0 + 1]), unit, method="sparse"))
    for unit in (1e-150, 1e150):
        found = solve(xnp.asarray(unit, dtype="float64"))
        assert found.success and abs(found.x[0] / unit - 2) < 1e-9


def test_a_minimum_without_curvature_is_no_saddle():
    sixth = lambda x, unit: unit * (xnp.sum((x - 1) ** 6) + xnp.sum(xnp.diff(x) ** 2))
    for seed in range(6):
        rng = np.random.default_rng(seed)
        start, unit = 1 + rng.uniform(-0.5, 0.5, 2), 10.0 ** rng.integers(-15, 15)
        for dtype in (np.float32, np.float64):
            found = xo.minimize(
                sixth, start.astype(dtype), args=(dtype(unit),), method=xo.SparseNewton()
            )
            assert found.status != xo.Status.saddle, (dtype, start, unit)
            assert not found.ok, (dtype, start, unit)
