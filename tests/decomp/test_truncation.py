"""Tucker and tensor-train approximations: exact where they can be, within their bounds elsewhere."""

import itertools

import numpy as np
import pytest

import xcore as xc
from xcore import decomp

RNG = np.random.default_rng(2)
SHAPE = (7, 8, 9)
LOW = np.asarray(decomp.Tucker(
    RNG.normal(size=(2, 3, 4)), [np.linalg.qr(RNG.normal(size=p))[0] for p in zip(SHAPE, (2, 3, 4), strict=True)]
).to_dense())  # fmt: skip
FULL = RNG.normal(size=SHAPE) * 0.5 ** np.arange(9)


def tails(x, ranks):
    """The squares of the singular values of each unfolding beyond its rank, added up."""
    return [
        (np.linalg.svd(np.asarray(decomp.unfold(x, k)), compute_uv=False)[r:] ** 2).sum()
        for k, r in enumerate(ranks)
    ]


def squared_error(x, y):
    return ((x - np.asarray(y.to_dense())) ** 2).sum()


TUCKER = {
    "hosvd": decomp.hosvd,
    "st_hosvd": decomp.st_hosvd,
    "hooi": decomp.hooi,
    "random": decomp.tucker_random,
}


@pytest.mark.parametrize("fit", TUCKER.values(), ids=TUCKER)
def test_low_rank_comes_back(fit):
    found = fit(LOW, (2, 3, 4))
    assert squared_error(LOW, found) < 1e-24 * (LOW**2).sum()
    for f in found.factors:
        np.testing.assert_allclose(np.asarray(f).T @ np.asarray(f), np.eye(f.shape[1]), atol=1e-12)


@pytest.mark.parametrize(
    "fit", [decomp.hosvd, decomp.st_hosvd, decomp.hooi], ids=lambda f: f.__name__
)
def test_bounds_of_truncation(fit):
    for ranks in ((3, 3, 3), (7, 2, 4), (1, 1, 1)):
        lost = tails(FULL, ranks)
        error = squared_error(FULL, fit(FULL, ranks))
        assert max(lost) * (1 - 1e-9) <= error <= sum(lost) * (1 + 1e-9)


def test_iteration_improves():
    errors = [squared_error(FULL, decomp.hooi(FULL, 2, max_steps=k)) for k in (0, 1, 4, 16)]
    assert all(b <= a + 1e-12 for a, b in itertools.pairwise(errors)) and errors[-1] < errors[0]


@pytest.mark.parametrize(
    "fit", [decomp.hosvd, decomp.st_hosvd, decomp.tt_svd], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-6])
def test_tolerances_are_kept(fit, tol):
    found = fit(FULL, rtol=tol)
    assert float(decomp.relative_error(FULL, found)) <= tol
    with pytest.raises(xc.errors.ConcretizationError, match="ranks="):
        xc.jit(lambda x: fit(x, rtol=tol))(FULL)


def test_sums_of_tucker_tensors_are_rounded():
    t = decomp.hosvd(FULL, 2)
    found = decomp.round_tucker(t + 0.5 * t, rtol=1e-10)
    assert found.rank == t.rank
    np.testing.assert_allclose(found.to_dense(), 1.5 * t.to_dense(), atol=1e-12)
    low = xc.jit(lambda t: decomp.round_tucker(t, 1))(t)
    best = decomp.relative_error(t, decomp.hooi(t.to_dense(), 1, max_steps=50))
    assert best - 1e-9 <= decomp.relative_error(t, low) <= np.sqrt(t.ndim) * best
    for call, words in (
        (lambda: decomp.round_tucker(t, 3), "ranks"), (lambda: decomp.round_tucker(FULL, 1), "st_hosvd"),
        (lambda: decomp.round_tucker(t), "tol"), (lambda: decomp.hosvd(np.full((2, 3), np.nan), 1), "fill them in"),
        (lambda: decomp.hooi(FULL, 1, max_steps=-1), "max_steps must be"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            call()


def test_non_negative_tucker():
    true = decomp.Tucker(
        np.abs(RNG.normal(size=(2, 2, 2))), [np.abs(RNG.normal(size=(n, 2))) for n in (5, 6, 4)]
    )
    x = true.to_dense()
    found = decomp.tucker_nonneg(x, 2, max_steps=300)
    assert all((np.asarray(p) >= 0).all() for p in (found.value.core, *found.value.factors))
    history = np.asarray(found.history)
    assert (np.diff(history) < 1e-8).all() and history[0] > history[9] and found.error < 0.05
    np.testing.assert_allclose(found.error, decomp.relative_error(x, found.value), rtol=1e-10)
    with pytest.raises(ValueError, match="negative"):
        decomp.tucker_nonneg(FULL, 2)


# Trains


def test_trains_of_low_rank():
    true = decomp.TT([RNG.normal(size=s) for s in ((1, 5, 2), (2, 4, 3), (3, 6, 2), (2, 3, 1))])
    x = np.asarray(true.to_dense())
    found = decomp.tt_svd(x, (2, 3, 2))
    np.testing.assert_allclose(found.to_dense(), x, atol=1e-11)
    assert decomp.tt_svd(x, rtol=1e-6).rank == (1, 2, 3, 2, 1)
    assert decomp.tt_svd(x, 100).rank == (1, 5, 18, 3, 1)  # no more than the unfoldings have


def test_trains_keep_their_bound():
    x = FULL
    cut = [
        np.linalg.svd(x.reshape(7, -1), compute_uv=False),
        np.linalg.svd(x.reshape(56, -1), compute_uv=False),
    ]
    for rank in (1, 3, 5):
        error = squared_error(x, decomp.tt_svd(x, rank))
        assert error <= sum((s[rank:] ** 2).sum() for s in cut) * (1 + 1e-9)


def test_rounding():
    t = decomp.tt_svd(FULL, 4)
    long = t + t - t * 0.5
    assert long.rank == (1, 12, 12, 1)
    short = decomp.round_tt(long, rtol=1e-9)
    assert short.rank == t.rank
    np.testing.assert_allclose(short.to_dense(), 1.5 * np.asarray(t.to_dense()), atol=1e-10)
    fixed = xc.jit(lambda t: decomp.round_tt(t, 2))(long)
    assert fixed.rank == (1, 2, 2, 1)
    best = decomp.tt_svd(1.5 * np.asarray(t.to_dense()), 2)
    np.testing.assert_allclose(squared_error(1.5 * np.asarray(t.to_dense()), fixed),
                               squared_error(1.5 * np.asarray(t.to_dense()), best), rtol=1e-6)  # fmt: skip


def test_cross_interpolation():
    shape = (6, 7, 5, 6, 4)
    found = decomp.tt_cross(lambda p: 1 / (1.0 + p.sum(-1)), shape, 6, dtype="float64")
    where = np.stack(np.unravel_index(RNG.integers(0, np.prod(shape), 500), shape))
    np.testing.assert_allclose(found[tuple(where)], 1 / (1 + where.sum(0)), rtol=1e-4)
    exact = decomp.tt_cross(lambda p: (p * 1.0).sum(-1), shape, 2, dtype="float64")
    np.testing.assert_allclose(exact[tuple(where)], where.sum(0), rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("call, words", [
    (lambda: decomp.hosvd(FULL), "one of ranks= and rtol="), (lambda: decomp.hosvd(FULL, 2, rtol=0.1), "one of"),
    (lambda: decomp.hosvd(FULL, (2, 2)), "one for each mode"), (lambda: decomp.hosvd(FULL, 8), "between 1 and the lengths"),
    (lambda: decomp.tt_svd(FULL, 0), "at least 1"), (lambda: decomp.tt_svd(FULL, rtol=-1), "not negative"),
    (lambda: decomp.round_tt(FULL, 2), "tt_svd"), (lambda: decomp.tt_cross(1, (2, 2), 1), "function"),
    (lambda: decomp.tt_cross(lambda p: p, (2, 2), 1), "one value for each"),
    (lambda: decomp.hooi(FULL, 2, init=decomp.hosvd(FULL, 3)), "init"),
    (lambda: decomp.hosvd(np.full((2, 2), np.nan), 1), "NaN"), (lambda: decomp.hooi(FULL, 2, init="random"), "init"),
    (lambda: decomp.tt_cross(lambda p: p.sum(-1), (2, 2), 1, max_steps=0), "max_steps must be"),
    (lambda: decomp.tucker_random(FULL, 2, n_oversamples=-1), "n_oversamples must be"),
    (lambda: decomp.tucker_random(FULL, 2, n_iter=-1), "n_iter must be"),
])  # fmt: skip
def test_bad_arguments(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("cut", ["hosvd", "st_hosvd", "tt_svd"])
def test_tolerances_below_the_root_of_eps_are_kept(cut):
    """Where products of unfoldings with themselves have lost what is to be left out."""
    for dtype, shape, tols in (
        (np.float32, (4, 20, 30), (1e-3, 1e-4, 1e-5)), (np.float64, (4, 20, 30), (1e-8, 1e-10, 1e-12)),
        (np.float32, (20, 12, 20), (1e-4, 1e-5)), (np.float64, (20, 12, 20), (1e-10,)),
    ):  # fmt: skip
        x = (1 / (1 + sum(np.meshgrid(*map(np.arange, shape), indexing="ij")))).astype(dtype)
        for tol in tols:
            gap = x - np.asarray(getattr(decomp, cut)(x, rtol=tol).to_dense(), float)
            assert np.linalg.norm(gap) <= (tol + 30 * np.finfo(dtype).eps) * np.linalg.norm(x), (
                shape,
                tol,
            )
