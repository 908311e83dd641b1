"""The runner of NumPy's and SciPy's own tests puts our functions in their place."""

import numpy as np
import scipy.special

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
    assert face.array is np.array and face.float64 is np.float64
    assert face.sort(np.array(["b", "a"])).tolist() == ["a", "b"]
    out = np.empty(2)
    assert face.add(np.ones(2), 1.0, out=out) is out
    assert suites.in_their_place(len) is len
