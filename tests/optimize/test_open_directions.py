"""Directions that no residual sees are counted in the certificate, in any units; SciPy's ``jac_sparsity``."""

import numpy as np
import pytest
import scipy.sparse

import xcore.numpy as xnp
import xcore.optimize as xo
from xcore import sparse
from xcore.scipy.optimize import least_squares

T = np.linspace(0, 1, 9)
PROBLEMS = {  # (residuals, start, how many directions are open)
    "a line": (lambda x: xnp.stack([x[0] + x[1] - 1, 2 * (x[0] + x[1]) - 3]), [1.0, 1.0], 1),
    "a curve": (lambda p: p[0] * p[1] * xnp.exp(-p[2] * T) - 2 * np.exp(-T) - 0.1 * np.sin(9 * T), [1.0, 0.5, 0.1], 1),
    "no influence": (lambda p: xnp.stack([p[0] - 1.0, p[1] - 3, 0 * p[2] + 0.1]), [2.0, 0.5, 1.0], 1),
    "two of four": (lambda p: xnp.stack([p[0] + p[1] - 1.0, p[2] - p[3], p[2] - p[3] - 1]), [2.0, 0.5, 1.0, 3.0], 2),
    "none": (lambda p: p[0] * xnp.exp(-p[1] * T) - 2 * np.exp(-T), [1.0, 0.5], 0),
    "none, residuals left": (lambda p: xnp.stack([p[0] - 1.0, p[0] - 2, p[1] + p[0]]), [2.0, 0.5], 0),
}  # fmt: skip


@pytest.mark.parametrize("method", ["lm", "trf"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_open_directions_are_counted(name, method):
    f, x0, count = PROBLEMS[name]
    for size in (1.0, 1e8, 1e-8):
        units = size ** np.linspace(-1, 1, len(x0))
        found = xo.least_squares(lambda x, u=units: f(x * u), np.array(x0) / units, method=method)
        assert bool(found.success) and int(found.certificate.undetermined) == count, (size, found)


def test_a_variable_at_its_bound_is_not_open():
    found = xo.least_squares(
        lambda p: p - 3, np.ones(3), bounds=(np.zeros(3), np.array([1.0, 2.0, 9.0]))
    )
    assert bool(found.success) and int(found.certificate.undetermined) == 0


def broyden(x):
    h = (3 - 0.5 * x) * x + 1
    return h.at[1:].add(-x[:-1]).at[:-1].add(-2 * x[1:])


@pytest.mark.parametrize("form", ["lil", "dense", "ours"])
def test_scipys_pattern_of_jacobians(form):
    n = 100
    places = scipy.sparse.diags_array([1.0, 1.0, 1.0], offsets=[-1, 0, 1], shape=(n, n)).tolil()
    given = {"lil": places, "dense": places.toarray(), "ours": sparse.from_scipy(places.tocsr())}[
        form
    ]
    found = least_squares(broyden, -np.ones(n), jac_sparsity=given)
    assert found.success and found.cost < 1e-20 and isinstance(found.jac, sparse.Sparse)
    with_bounds = least_squares(broyden, -np.ones(n), jac_sparsity=given, bounds=(-2, 2))
    np.testing.assert_allclose(with_bounds.x, found.x, rtol=1e-8)
    with pytest.raises(ValueError, match="jac_sparsity"):
        least_squares(broyden, -np.ones(n), jac_sparsity=np.ones((5, n)))
