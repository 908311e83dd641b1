"""Intervals around the factors of a fit hold the truth as often as they say."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import decomp

DRAWS = 500


def _unit(factors):
    """Columns of length 1, and the products of the lengths."""
    lengths = [np.linalg.norm(f, axis=-2, keepdims=True) for f in factors]
    return [f / n for f, n in zip(factors, lengths, strict=True)], np.prod(lengths, 0)[..., 0, :]


def _aligned(found, true):
    """The fitted columns in the order and with the signs of the truth: (factors, order)."""
    score = np.prod(
        [np.abs(np.einsum("dir,is->drs", f, t)) for f, t in zip(found, true, strict=True)], 0
    )
    order = np.argmax(score, 1)
    assert (np.sort(order, 1) == np.arange(order.shape[1])).all()
    out = [np.take_along_axis(f, order[:, None], 2) for f in found]
    signs = [np.sign(np.einsum("dir,ir->dr", f, t)) for f, t in zip(out, true, strict=True)]
    return [f * s[:, None] for f, s in zip(out, signs, strict=True)], order


CASES = {
    "rank 1": ((6, 5, 4), 1, 0.05, 0.0, "float64"), "rank 2": ((7, 6, 5), 2, 0.02, 0.0, "float64"),
    "rank 3": ((8, 7, 9), 3, 0.05, 0.0, "float64"), "little noise": ((7, 6, 5), 2, 1e-4, 0.0, "float64"),
    "missing": ((8, 7, 6), 2, 0.02, 0.3, "float64"), "single": ((7, 6, 5), 2, 0.02, 0.0, "float32"),
    "four modes": ((5, 4, 3, 4), 2, 0.02, 0.0, "float64"), "tiny units": ((7, 6, 5), 2, 0.02, 0.0, "float32 1e-25"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_intervals_cover(case):
    shape, rank, noise, missing, dtype = CASES[case]
    rng = np.random.default_rng(7)
    dtype, unit = dtype.split()[0], float([*dtype.split(), "1"][1])
    true = [rng.normal(size=(n, rank)) for n in shape]
    x = np.asarray(decomp.CP(None, true).to_dense())
    mask = xnp.asarray(rng.random(shape) >= missing) if missing else None
    drawn = x + noise * np.abs(x).max() * rng.standard_normal((DRAWS, *shape))
    true, sizes = _unit(true)
    start = decomp.CP((sizes * unit).astype(dtype), tuple(t.astype(dtype) for t in true))

    def one(x):
        cp = decomp.cp_als(
            x, rank, init=start, mask=mask, rtol=0, max_steps=60 if mask is None else 250
        ).value
        return cp, decomp.factor_uncertainty(x, cp, mask=mask).interval(0.95)

    cp, half = xc.jit(xc.vmap(one))(xnp.asarray((drawn * unit).astype(dtype)))
    found, order = _aligned([np.asarray(f, float) for f in cp.factors], true)
    inside = [
        (np.abs(f - t) <= np.take_along_axis(np.asarray(h, float), order[:, None], 2)).reshape(
            DRAWS, -1
        )
        for f, t, h in zip(found, true, half, strict=True)
    ]
    for part in inside:  # of each factor: its intervals are of one draw, and not independent
        assert 0.93 <= part.mean() <= 0.97
    every = np.concatenate(inside, 1).mean(0)
    assert 0.94 <= every.mean() <= 0.96
    deviation = (0.95 * 0.05 / DRAWS) ** 0.5
    assert np.abs(every - 0.95).max() < 4.5 * deviation
    weights = np.take_along_axis(np.abs(np.asarray(cp.weights, float)), order, 1)
    spread = np.take_along_axis(np.asarray(half.weights, float), order, 1)
    assert np.abs((np.abs(weights - sizes * unit) <= spread).mean(0) - 0.95).max() < 4.5 * deviation


def test_intervals_of_few_elements_are_too_short_by_no_more_than_is_said():
    """72 elements, 24 parameters, a twentieth of noise: to first order in it 0.95 is 0.92 or more."""
    shape, rank, draws = (8, 3, 3), 2, 250
    starts, drawn, truths = [], [], []
    for seed in (2, 3, 5, 7):
        rng = np.random.default_rng(seed)
        true = [rng.normal(size=(n, rank)) for n in shape]
        x = np.asarray(decomp.CP(None, true).to_dense())
        drawn.append(x + 0.05 * np.abs(x).max() * rng.standard_normal((draws, *shape)))
        units, sizes = _unit(true)
        starts.append([np.broadcast_to(f, (draws, *f.shape)) for f in (sizes, *units)])
        truths.append(units)

    def one(x, sizes, *factors):
        cp = decomp.cp_als(x, rank, init=decomp.CP(sizes, factors), rtol=0, max_steps=60).value
        return cp.factors, decomp.factor_uncertainty(x, cp).interval(0.95).factors

    every = [np.concatenate(parts) for parts in zip(*starts, strict=True)]
    found, half = xc.jit(xc.vmap(one))(np.concatenate(drawn), *every)
    for k, true in enumerate(truths):
        mine = slice(k * draws, (k + 1) * draws)
        factors, order = _aligned([np.asarray(f[mine]) for f in found], true)
        wide = [np.take_along_axis(np.asarray(h[mine]), order[:, None], 2) for h in half]
        inside = [np.abs(f - t) <= h for f, t, h in zip(factors, true, wide, strict=True)]
        share = np.mean([part.mean((0, 2)).mean() for part in inside])
        assert 0.92 - 3 * (0.92 * 0.08 / draws / 4) ** 0.5 < share < 0.965, share


def test_lengths_and_units():
    rng = np.random.default_rng(3)
    true = [rng.normal(size=(n, 2)) for n in (6, 5, 4)]
    x = np.asarray(decomp.CP(None, true).to_dense()) + 0.05 * rng.normal(size=(6, 5, 4))
    cp = decomp.cp_als(x, 2, rtol=1e-12).value
    usual = decomp.factor_uncertainty(x, cp)
    lengths = [3.0, 0.1, 2.0]
    other = decomp.CP(
        cp.weights / 0.6, tuple(f * n for f, n in zip(cp.factors, lengths, strict=True))
    )
    for k, found in enumerate(decomp.factor_uncertainty(x, other)):
        np.testing.assert_allclose(found, usual[k] * lengths[k], rtol=1e-6)
    large = decomp.factor_uncertainty(x * 1e100, decomp.CP(cp.weights * 1e100, cp.factors))
    np.testing.assert_allclose(large[1], usual[1], rtol=1e-6)
    np.testing.assert_allclose(large.weights, usual.weights * 1e100, rtol=1e-6)
    assert usual.degrees == 120 - 2 * (15 - 2)


def test_what_is_not_known_is_infinite():
    rng = np.random.default_rng(4)
    a, b, c = (rng.normal(size=(n, 1)) for n in (6, 5, 4))
    x = np.asarray(decomp.CP(None, (a, b, c)).to_dense()) + 0.01 * rng.normal(size=(6, 5, 4))
    twice = decomp.CP(None, tuple(np.hstack([f, f]) * 0.5 ** (1 / 3) for f in (a, b, c)))
    spread = decomp.factor_uncertainty(x, twice)
    assert np.isinf(np.asarray(spread.weights)).all() and np.isinf(np.asarray(spread[0])).any()
    alike = decomp.CP(
        None, (np.hstack([a, a]), np.hstack([b, b]), np.hstack([c, c + 0.1]))
    )  # b and c mix
    assert np.isinf(
        np.asarray(decomp.factor_uncertainty(np.asarray(alike.to_dense()) + x * 0, alike)[2])
    ).any()
    few = decomp.factor_uncertainty(
        x[:2, :2, :2], decomp.CP(None, tuple(rng.normal(size=(2, 2)) for _ in range(3)))
    )
    assert np.isinf(np.asarray(few.weights)).all()  # as many unknowns as elements
    hidden = np.ones(x.shape, bool)
    hidden[0] = False
    lost = decomp.factor_uncertainty(x, decomp.cp_als(x, 1).value, mask=hidden)
    assert np.isinf(np.asarray(lost[0])[0]).all() and np.isfinite(np.asarray(lost[1])).all()
