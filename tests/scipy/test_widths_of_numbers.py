"""Python's numbers beside arrays of float64 in sparse matrices, distributions and rotations: no digit is lost."""

import numpy as np
import pytest
import scipy.sparse
import scipy.stats

import xcore.scipy.sparse as sparse
from xcore import stats
from xcore.scipy.spatial.transform import Rotation, Slerp

KINDS = ("csr_array", "csc_array", "coo_array", "bsr_array", "dia_array")
OPERATIONS = {
    "*": lambda a, c: a * c, "reflected *": lambda a, c: c * a, "/": lambda a, c: a / c,
    "multiply": lambda a, c: a.multiply(c), "nested": lambda a, c: (a * c + a) / c,
}  # fmt: skip


@pytest.mark.parametrize("c", [0.1, 1 / 3, 7, 0.1 + 0.2j, 1e300])
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_matrices_and_numbers(kind, name, c):
    dense = np.diag([1.0, 2.0, 3.0]) + np.diag([0.5, 0.25], 1)
    found = OPERATIONS[name](getattr(sparse, kind)(dense), c)
    expected = OPERATIONS[name](getattr(scipy.sparse, kind)(dense), c).todense()
    np.testing.assert_allclose(np.asarray(found.todense()), expected, rtol=1e-15)
    whole = getattr(sparse, kind)(np.diag([1, 2, 3]))
    assert np.asarray((whole * 2).todense()).dtype == np.int64


@pytest.mark.parametrize(
    "name",
    [
        "uniform",
        "norm",
        "gumbel_l",
        "gumbel_r",
        "laplace",
        "logistic",
        "maxwell",
        "rayleigh",
        "expon",
    ],
)
def test_moments_of_families(name):
    ours, theirs = getattr(stats, name), getattr(scipy.stats, name)
    for which in ("std", "var", "mean", "median"):
        found = getattr(ours, which)(np.float64(0.3), np.float64(1.7))
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, getattr(theirs, which)(0.3, 1.7), rtol=1e-14)


def test_times_between_rotations():
    turns = Rotation.from_rotvec(np.array([[0, 0, 0.0], [0, 0, 1.0]]))
    for times in (np.array([0.0, 1.0]), [0.0, 1.0]):
        for t in (0.3, [0.3, 0.1]):
            angle = np.asarray(Slerp(times, turns)(t).as_rotvec())[..., 2]
            np.testing.assert_allclose(angle, t, rtol=1e-14)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_quaternions_of_any_length(scale):
    q = np.array([0.1, 0.2, 0.3, 0.9])
    expected = Rotation.from_quat(q).as_matrix()
    np.testing.assert_allclose(Rotation.from_quat(q * scale).as_matrix(), expected, atol=1e-14)
