"""Directions in which two unknowns just cancel: estimates of inverses must see them, whichever two it is."""

import itertools

import numpy as np
import pytest

import xcore as xc
from xcore import linalg, sparse
from xcore.linalg._equations import coins

N = 12


def _nearly_equal(tiny):
    """Symmetric matrices of small integers with rows and columns i, j equal but for one element; x, and b = A x
    without rounding."""
    matrices, answers = [], []
    for i, j in itertools.combinations(range(N), 2):
        rng = np.random.default_rng(N * i + j)
        a = rng.integers(-3, 4, (N, N)).astype(float)
        a = a + a.T + 60 * np.eye(N)
        a[:, j], a[j] = a[:, i], a[i]
        a[i, j] = a[j, i] = a[j, j] = a[i, i]
        a[j, j] += tiny
        matrices.append(a)
        answers.append(rng.integers(1, 300, N) / 256)
    a, x = np.array(matrices), np.array(answers)[..., None]
    return a, x, a @ x


def _whole(a):
    return sparse.from_dense(a, sparse.Pattern(*np.nonzero(np.ones((N, N))), (N, N)))


SOLVERS = {
    "dense": lambda a, b: linalg.solve(a, b, report=True),
    "lu": lambda a, b: sparse.solve(_whole(a), b, report=True),
    "cholesky": lambda a, b: sparse.factorise(_whole(a), "cholesky").solve(b, report=True),
    "ldl": lambda a, b: sparse.factorise(_whole(a), "ldl").solve(b, report=True),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_bounds_hold_where_two_rows_are_nearly_equal(name):
    with xc.enable_x64():
        a, x, b = _nearly_equal(2.0**-33)
        found = SOLVERS[name](a, b)
        error = np.abs(np.asarray(found.value) - x).max((1, 2))
        told = np.asarray(found.certificate.error).reshape(-1)
        assert (error <= told).all()
        assert not (np.asarray(found.ok) & (error > 1e-3)).any()


def test_no_inertia_is_certain_of_a_singular_matrix():
    with xc.enable_x64():
        a, _, _ = _nearly_equal(0.0)
        found = sparse.factorise(_whole(a), "ldl").inertia()
        assert not np.asarray(found.certain).any()


def test_probes_have_sizes_of_their_own():
    x = np.asarray(coins(4096, 2, np.float32))
    assert (np.abs(x) >= 0.5).all() and (np.abs(x) <= 1).all()
    assert len(np.unique(np.abs(x))) > 8000
    assert abs(x.mean()) < 0.03 and abs((np.abs(x)).mean() - 0.75) < 0.01
