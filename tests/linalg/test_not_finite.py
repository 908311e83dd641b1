"""Decompositions of matrices with NaN and infinities end, with NaN; those beside them are right."""

import numpy as np
import pytest

import xcore.linalg as xl
import xcore.numpy as xnp

ROUTINES = {
    "svd": lambda a: xl.svd(a),
    "svdvals": lambda a: [xnp.linalg.svd(a, compute_uv=False)],
    "eigh": lambda a: xl.eigh(a),
    "eigvalsh": lambda a: [xnp.linalg.eigvalsh(a)],
    "eig": lambda a: xnp.linalg.eig(a),
    "schur": lambda a: xl.schur(a),
    "polar": lambda a: xl.polar(a),
    "pinv": lambda a: [xnp.linalg.pinv(a)],
}


def _matrices(n: int, dtype: str):
    """Batches of 100, most of them with elements that are not finite on and below the diagonal."""
    rng = np.random.default_rng(n)
    a = rng.standard_normal((100, n, n)).astype(dtype)
    if a.dtype.kind == "c":
        a += 1j * rng.standard_normal(a.shape)
    a = a + np.swapaxes(a, -1, -2).conj()
    share = rng.choice([1 / n**2, 0.1, 0.5], 100)[:, None, None]
    places = np.tril(rng.random(a.shape) < share)
    values = [np.inf, -np.inf, np.nan]
    if a.dtype.kind == "c":
        values = [complex(x, y) for x in (*values, 1) for y in (*values, 1)][:-1]
    bad = a.copy()
    bad[places] = rng.choice(values, places.sum())
    return a, bad, ~places.any((-2, -1))


@pytest.mark.parametrize("n", [3, 7, 40])  # LAPACK divides and conquers from 26 on
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("name", ROUTINES)
def test_what_is_not_finite_gives_nan_and_moves_nothing_else(name, dtype, n):
    a, bad, fine = _matrices(n, dtype)
    for good, got in zip(ROUTINES[name](a), ROUTINES[name](bad)):
        good, got = np.asarray(good), np.asarray(got)
        np.testing.assert_array_equal(got[fine], good[fine])
        assert np.isnan(got[~fine]).reshape((~fine).sum(), -1).all()


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_singular_values_with_every_set_of_infinities(value):
    places = (np.arange(1, 512)[:, None] >> np.arange(9)) % 2 == 1
    a = np.where(places.reshape(-1, 3, 3), value, np.random.default_rng(0).random((3, 3)))
    assert np.isnan(np.asarray(xl.svd(a)[1])).all()
