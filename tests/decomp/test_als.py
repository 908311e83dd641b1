"""Fits by alternating least squares: known factors come back, errors fall, constraints hold."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import decomp
from xcore.decomp._als import _tensor_times

RNG = np.random.default_rng(1)


def tensor(shape, rank, positive=False, rng=RNG):
    factors = [rng.normal(size=(n, rank)) for n in shape]
    return decomp.CP(None, [np.abs(f) for f in factors] if positive else factors)


TRUE = tensor((10, 11, 12), 3)
X = np.asarray(TRUE.to_dense())


@pytest.mark.parametrize("options", [
    {}, {"init": "hosvd"}, {"restarts": 4}, {"extrapolate": True}, {"ridge": 1e-9},
], ids=str)  # fmt: skip
def test_known_factors_come_back(options):
    found = decomp.cp_als(X, 3, rtol=1e-10, **options)
    assert decomp.factor_match_score(TRUE, found.value) > 0.999
    assert int(found.status) == 0 and found.message and float(found.error) < 1e-6
    errors = np.asarray(found.history)[1:]
    assert (np.diff(errors[errors > 1e-6]) <= 0).all()  # below, rounding of the formula shows
    assert len(errors) == int(found.steps)


@pytest.mark.parametrize(
    "shape, rank", [((6, 5), 1), ((5, 4, 3, 6), 2), ((4, 3, 4, 3, 4), 2)], ids=str
)
def test_orders(shape, rank):
    true = tensor(shape, rank)
    found = decomp.cp_als(true.to_dense(), rank, restarts=4, rtol=1e-10)
    assert decomp.factor_match_score(true, found.value) > 0.999


@pytest.mark.parametrize("axes", [(None, 0), (0, None), (0, 0)], ids=str)
def test_the_first_product_in_lanes(axes):
    rng = np.random.default_rng(2)
    x, k = rng.normal(size=(2, 3, 4, 5, 2)), rng.normal(size=(2, 6, 5, 2))
    given = [a if axis == 0 else a[0] for a, axis in zip((x, k), axes, strict=True)]
    terms = [t[axis is None :] for t, axis in zip(("nijkl", "nrkl"), axes, strict=True)]
    wanted = np.einsum(f"{','.join(terms)}->nrij", *given)
    found = xc.vmap(_tensor_times, axes)(*map(xnp.asarray, given))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_the_error_is_that_of_the_tensor():
    noisy = X + 0.1 * np.linalg.norm(X) / np.sqrt(X.size) * RNG.normal(size=X.shape)
    found = decomp.cp_als(noisy, 3)
    np.testing.assert_allclose(found.error, decomp.relative_error(noisy, found.value), rtol=1e-6)
    assert 0.08 < float(found.error) < 0.11 and decomp.factor_match_score(TRUE, found.value) > 0.97


def test_single_precision():
    found = decomp.cp_als(X.astype(np.float32), 3)
    assert found.value.dtype == np.float32 and decomp.factor_match_score(TRUE, found.value) > 0.999


def test_complex_numbers():
    rng = np.random.default_rng(3)
    true = decomp.CP(
        None, [rng.normal(size=(n, 2)) + 1j * rng.normal(size=(n, 2)) for n in (5, 6, 7)]
    )
    found = decomp.cp_als(true.to_dense(), 2, rtol=1e-11)
    assert decomp.factor_match_score(true, found.value) > 0.999
    np.testing.assert_allclose(found.value.to_dense(), true.to_dense(), atol=1e-3)


def test_more_terms_than_there_are():
    found = decomp.cp_als(X, 5, max_steps=50)
    assert float(found.error) < 1e-3 and np.isfinite(np.asarray(found.value.to_dense())).all()


def test_missing_elements():
    known = RNG.random(X.shape) > 0.7
    # from one start it may take more steps than these, on one processor and not on another
    options = {"rtol": 1e-12, "max_steps": 3000, "restarts": 4}
    found = decomp.cp_als(np.where(known, X, np.nan), 3, mask=known, **options)
    assert decomp.factor_match_score(TRUE, found.value) > 0.999
    begun = decomp.cp_als(np.where(known, X, np.nan), 3, mask=known, init="hosvd", max_steps=3)
    assert np.isfinite(float(begun.error))
    with pytest.raises(ValueError, match="mask"):
        decomp.cp_als(np.where(known, X, np.nan), 3)


def test_fixed_modes_stay():
    start = decomp.CP(
        None, [*[np.asarray(f) for f in tensor((10, 11), 3).factors], np.asarray(TRUE.factors[2])]
    )
    found = decomp.cp_als(X, 3, init=start, fixed=(2,), rtol=1e-12)
    assert decomp.factor_match_score(TRUE, found.value) > 0.999
    columns = np.asarray(TRUE.factors[2])
    np.testing.assert_allclose(
        found.value.factors[2], columns / np.linalg.norm(columns, axis=0), rtol=1e-12
    )


POSITIVE = tensor((8, 9, 7), 3, positive=True)


@pytest.mark.parametrize("fit", [
    decomp.cp_nonneg, lambda x, r, **kw: decomp.cp_constrained(x, r, lambda a, step: xnp.maximum(a, 0), **kw),
], ids=["hals", "admm"])  # fmt: skip
def test_non_negative_factors(fit):
    found = fit(POSITIVE.to_dense(), 3, rtol=1e-10, max_steps=2000)
    assert all((np.asarray(f) >= 0).all() for f in found.value.factors)
    assert decomp.factor_match_score(POSITIVE, found.value) > 0.999
    mixed = fit(X, 3, max_steps=100)  # what is negative cannot be reached, but the factors obey
    assert all((np.asarray(f) >= 0).all() for f in mixed.value.factors) and float(mixed.error) > 0.1


def test_a_penalty_shrinks():
    def soften(a, step):
        return xnp.sign(a) * xnp.maximum(xnp.abs(a) - 20 * step, 0)

    found = decomp.cp_constrained(X, 5, soften, max_steps=300)
    plain = decomp.cp_als(X, 5, max_steps=300)
    assert (np.abs(found.value.factors[0]) < 1e-12).sum() > (
        np.abs(plain.value.factors[0]) < 1e-12
    ).sum()


def test_under_transformations():
    """Derivatives are in test_implicit.py."""
    start = tensor((5, 4, 3), 2)
    x = tensor((5, 4, 3), 2).to_dense()
    known = np.arange(60).reshape(x.shape) % 7 > 0

    def error(x):
        return decomp.cp_als(x, 2, init=start, mask=known, max_steps=3, rtol=0.0).error

    alone = xc.jit(error)
    many = xc.vmap(error)(xnp.stack([x, 2 * x]))
    np.testing.assert_allclose(many, [alone(x), alone(2 * x)], rtol=1e-8)
    np.testing.assert_allclose(error(x), alone(x), rtol=1e-8)


@pytest.mark.parametrize("arguments, words", [
    ((np.ones(3), 1), "two or more modes"), ((X, 0), "rank"), ((X, 1.5), "rank"), ((np.ones((2, 0, 3)), 1), "empty"),
    ((X, 2, {"init": "svd"}), "init"), ((X, 2, {"init": TRUE}), "init"), ((X, 3, {"fixed": (0,)}), "fixed"),
    ((X, 3, {"init": TRUE, "fixed": (0, 1, 2)}), "fixed"), ((X, 111), "at most 110"), ((X, 3, {"mask": np.ones(3, bool)}), "mask"),
    ((X, 3, {"mask": np.zeros(X.shape, bool)}), "mask"), ((X, 3, {"restarts": 0}), "restarts must be"),
    ((X, 3, {"restarts": 2, "init": TRUE}), "restarts must be"), ((X, 3, {"restarts": 2, "init": "hosvd"}), "restarts must be"),
    ((X, 3, {"max_steps": -1}), "max_steps must be"), ((X, 3, {"ridge": -1.0}), "ridge must be 0 or more"),
])  # fmt: skip
def test_bad_arguments(arguments, words):
    *positional, options = arguments if isinstance(arguments[-1], dict) else (*arguments, {})
    with pytest.raises(ValueError, match=words):
        decomp.cp_als(*positional, **options)


def test_what_is_not_negative_is_real():
    with pytest.raises(ValueError, match="x must be real"):
        decomp.cp_nonneg(X * 1j, 2)
    with pytest.raises(ValueError, match="modes must be different modes below 3"):
        decomp.cp_nonneg(X, 2, modes=(0, 3))


@pytest.mark.parametrize("fit", [decomp.cp_als, decomp.cp_nonneg])
def test_single_precision_in_a_program_of_the_users(fit):
    x = xnp.asarray(np.random.default_rng(3).random((4, 5, 6)).astype(np.float32))
    whole = fit(x, 2, max_steps=3)
    inside = xc.jit(lambda x: fit(x, 2, max_steps=3))(x)
    assert inside.error.dtype == whole.value.factors[0].dtype == xnp.float32
    np.testing.assert_allclose(inside.error, whole.error, rtol=1e-5)
    lanes = xc.vmap(lambda x: fit(x, 2, max_steps=3).error)(xnp.stack([x, x**2]))
    alone = [whole.error, fit(x**2, 2, max_steps=3).error]
    np.testing.assert_allclose(lanes, alone, rtol=1e-4)


@pytest.mark.parametrize("name", ["cp_als", "cp_gauss_newton", "cp_gradient", "cp_nonneg"])
def test_slices_without_data_are_refused(name):
    f = getattr(decomp, name)
    x = np.abs(np.random.default_rng(0).normal(size=(5, 4, 3)))
    mask = np.ones(x.shape, bool)
    mask[2] = False
    with pytest.raises(ValueError, match="slice 2 of mode 0"):
        f(x, 2, mask=mask)
    if name == "cp_gradient":  # a ridge makes that row 0
        found = f(x, 2, mask=mask, ridge=1e-3, max_steps=500).value
        assert float(xnp.abs(found.to_dense()[2]).max()) < 1e-2
    if name == "cp_als":  # factors that are given need no data
        start = decomp.CP(
            xnp.ones(2),
            tuple(xnp.asarray(np.random.default_rng(1).normal(size=(n, 2))) for n in x.shape),
        )
        assert f(x, 2, mask=mask, init=start, fixed=(0,)).steps > 0
