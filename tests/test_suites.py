"""The runner of NumPy's and SciPy's own tests puts our functions in their place."""

import numpy as np
import scipy.optimize
import scipy.sparse
import scipy.special
import scipy.stats

import xcore as xc
from tests import suites


def test_functions_are_ours_and_values_theirs():
    face = suites.in_their_place(np)
    for f, x in (
        (face.sort, [3.0, 1.0]),
        (face.linalg.norm, [3.0, 4.0]),
        (face.add.reduce, [1.0, 2.0]),
    ):
        found, want = f(np.array(x)), f.theirs(np.array(x))
        assert type(found) is type(want) and found.dtype == want.dtype
        np.testing.assert_allclose(found, want)
    assert suites.in_their_place(np.sort).ours is xc.numpy.sort
    assert suites.in_their_place(scipy.special.erf).ours is xc.special.erf


def test_what_we_do_not_have_stays_theirs():
    face = suites.in_their_place(np)
    assert face.empty is np.empty and face.float64 is np.float64
    assert type(face.array([1.0])) is np.ndarray
    assert face.sort(np.array(["b", "a"])).tolist() == ["a", "b"]
    out = np.empty(2)
    assert face.add(np.ones(2), 1.0, out=out) is out
    assert suites.in_their_place(len) is len


def test_functions_of_tests_are_traced():
    """``np.array`` is ours where something is traced, and what ours gives stays traced."""
    face = suites.in_their_place(np)
    found = suites.in_their_place(scipy.optimize.minimize)(
        lambda x: face.sum(face.array([x[0] - 1, face.sin(x[1])]) ** 2), [0.5, 0.5]
    )
    assert type(found.x) is np.ndarray
    np.testing.assert_allclose(found.x, [1.0, 0.0], atol=1e-3)


def test_classes_and_distributions_are_ours():
    csr = suites.in_their_place([scipy.sparse.csr_array])[0]
    a = csr(np.eye(3))
    assert isinstance(a, xc.sparse.Sparse) and isinstance(a, csr)
    assert suites.in_their_place(scipy.sparse.linalg.spsolve).ours(a, np.ones(3)).shape == (3,)
    norm = suites.in_their_place(scipy.stats).norm
    assert norm.pdf.ours is xc.stats.norm.pdf and norm.rvs.__self__ is scipy.stats.norm
