"""Gauss-Newton steps and general optimisers on all factors; what tells whether a model is right."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import decomp, random
from xcore.decomp._gauss_newton import masked_normal_product, normal_product, products

RNG = np.random.default_rng(4)


def collinear(n, rank, cosine):
    """Columns of length 1, any two of them at the same angle."""
    root = np.linalg.cholesky(np.full((rank, rank), cosine) + np.eye(rank) * (1 - cosine)).T
    return np.linalg.qr(RNG.normal(size=(n, rank)))[0] @ root


def dense(factors):
    return decomp.CP(None, tuple(factors)).to_dense()


SHAPE = (5, 6, 4)
FACTORS = [RNG.normal(size=(n, 3)) for n in SHAPE]
X = np.asarray(dense(FACTORS))


def test_the_normal_matrix_and_the_slopes():
    changes = [RNG.normal(size=f.shape) for f in FACTORS]
    moved = xc.jvp(dense, (FACTORS,), (changes,))[1]
    back = xc.vjp(dense, FACTORS)[1]
    for a, b in zip(
        normal_product(list(map(xc.numpy.asarray, FACTORS)), changes), back(moved)[0], strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-10)
    known = RNG.random(SHAPE) < 0.5
    part = masked_normal_product(list(map(xc.numpy.asarray, FACTORS)), changes, known)
    for a, b in zip(part, back(xc.numpy.where(known, moved, 0))[0], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)
    y = xc.numpy.asarray(RNG.normal(size=SHAPE))
    for a, b in zip(products(y, list(map(xc.numpy.asarray, FACTORS))), back(y)[0], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


def test_collinear_terms_where_alternation_crawls():
    true = decomp.CP(None, [collinear(12, 4, 0.9) for _ in range(3)])
    x, key = true.to_dense(), xc.random.key(1)
    found = decomp.cp_gauss_newton(x, 4, key=key)
    crawls = decomp.cp_als(x, 4, key=key, rtol=0.0, max_steps=int(found.steps))
    assert decomp.factor_match_score(true, found.value) > 0.999 and float(found.error) < 1e-5
    assert decomp.factor_match_score(true, crawls.value) < 0.99
    assert (np.diff(found.history) <= 1e-9).all()


TRUE = decomp.CP(None, FACTORS)


@pytest.mark.parametrize("method", [None, "bfgs"])
def test_optimisers(method):
    found = decomp.cp_gradient(X, 3, method=method, key=xc.random.key(3), rtol=1e-9)
    assert decomp.factor_match_score(TRUE, found.value) > 0.999 and float(found.error) < 1e-3


def test_missing_elements_do_not_enter():
    known = RNG.random(X.shape) > 0.3
    found = decomp.cp_gradient(
        np.where(known, X, np.nan), 3, mask=known, key=xc.random.key(5), rtol=1e-10, max_steps=3000
    )
    assert decomp.factor_match_score(TRUE, found.value) > 0.99
    holes = np.where(known, X, np.nan)
    near = [f + 0.2 * RNG.normal(size=f.shape) for f in FACTORS]
    found = decomp.cp_gauss_newton(holes, 3, mask=known, init=near, rtol=1e-12)
    assert decomp.factor_match_score(TRUE, found.value) > 0.99999 and float(found.error) < 1e-5
    assert int(found.steps) < 20


def test_weights_choose():
    """Two tensors added up, with weights that see one of them only."""
    wrong = X.copy()
    wrong[0] += 10
    weights = np.ones(SHAPE)
    weights[0] = 0
    found = decomp.cp_gradient(
        wrong, 3, weights=weights, key=xc.random.key(2), rtol=1e-9, max_steps=3000
    )
    assert float(found.error) < 1e-3


# Judgement

NOISY = X + 0.02 * X.std() * RNG.normal(size=SHAPE)


def test_the_rank_shows():
    scan = decomp.scan_ranks(NOISY, [1, 2, 3, 5], max_steps=500)
    assert scan.best == 3
    assert float(scan.consistency[2]) > 95 > float(scan.consistency[3])
    assert all(
        float(a) >= float(b) - 0.01 for a, b in zip(scan.errors, scan.errors[1:], strict=False)
    )


def test_degeneracy():
    """x ∘ x ∘ y + x ∘ y ∘ x + y ∘ x ∘ x is of rank 3, and a limit of tensors of rank 2."""
    assert not bool(decomp.degeneracy(TRUE).degenerate)
    x, y = np.eye(3)[:, :1], np.eye(3)[:, 1:2]
    near = decomp.CP(np.asarray([100.0, -100.0]), [np.hstack([x + y / 100, x])] * 3)
    told = decomp.degeneracy(near)
    assert bool(told.degenerate) and float(told.weight_ratio) > 10 and float(told.condition) > 100


def test_uncertainty_is_the_spread_of_fits():
    """Standard deviations from one fit beside those of fits to many noisy tensors."""
    sigma, spread = 0.05, []
    start = decomp.normalize(TRUE)
    root = np.asarray(start.weights) ** (1 / 3)
    factors = [np.asarray(f) * root for f in start.factors]
    x0 = np.asarray(dense(factors))
    fit = xc.jit(lambda x: decomp.cp_als(x, 3, init=tuple(factors), max_steps=60, rtol=0.0).value)
    for _ in range(60):
        found = fit(x0 + sigma * RNG.normal(size=SHAPE))
        scale = np.asarray(found.weights) ** (1 / 3)
        spread.append([np.asarray(f) * scale for f in found.factors])
    noisy = x0 + sigma * RNG.normal(size=SHAPE)
    value = fit(noisy)
    one = decomp.CP(
        None, [np.asarray(f) * np.asarray(value.weights) ** (1 / 3) for f in value.factors]
    )
    for k, found in enumerate(decomp.factor_uncertainty(noisy, one)):
        many = np.std([s[k] for s in spread], axis=0)
        assert 0.7 < np.median(np.asarray(found) / many) < 1.4


@pytest.mark.parametrize("call, words", [
    (lambda: decomp.cp_gauss_newton(X * 1j, 2), "cp_als"), (lambda: decomp.cp_gradient(X * 1j, 2), "cp_als"),
    (lambda: decomp.cp_gradient(X, 2, weights=np.ones(3)), "weights"), (lambda: decomp.scan_ranks(X, [1], share=2), "share"),
    (lambda: decomp.cp_gradient(X, 2, weights=-np.ones(SHAPE)), "none that is negative"),
    (lambda: decomp.scan_ranks(X, []), "one rank or more"), (lambda: decomp.factor_uncertainty(X * 1j, TRUE), "real"),
    (lambda: decomp.core_consistency(X[0], TRUE), "core_consistency"), (lambda: decomp.cp_gauss_newton(X, 0), "rank"),
])  # fmt: skip
def test_bad_arguments(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("shape, rank, missing", [
    ((10, 11, 12), 3, 0.7), ((10, 11, 12), 2, 0.8), ((20, 20, 20), 3, 0.8), ((6, 7, 8, 5), 2, 0.7),
], ids=str)  # fmt: skip
def test_gauss_newton_finds_what_sweeps_find_with_most_missing(shape, rank, missing):
    rng = np.random.default_rng(1)
    true = decomp.CP(None, [rng.normal(size=(n, rank)) for n in shape])
    x, known = true.to_dense(), xnp.asarray(rng.random(shape) > missing)

    def errors(fit):
        found = [fit(random.key(seed)) for seed in range(6)]
        return np.asarray([float(decomp.relative_error(x, f.value)) for f in found])

    swept = errors(
        lambda key: decomp.cp_als(x, rank, mask=known, key=key, max_steps=2000, rtol=1e-10)
    )
    stepped = errors(lambda key: decomp.cp_gauss_newton(x, rank, mask=known, key=key))
    assert (stepped < 1e-3).sum() >= (swept < 1e-3).sum() > 0
    best = decomp.cp_gauss_newton(x, rank, mask=known, restarts=6)
    assert float(decomp.relative_error(x, best.value)) < 1e-6 and int(best.status) == 0
