"""``A.at[...]`` has the shapes and results of a dense array's."""

import numpy as np
import pytest

from xcore import sparse

DENSE = np.arange(1.0, 13).reshape(3, 4)
CHANGES = {
    "set": lambda x, v: v, "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide,
    "power": np.power, "min": np.minimum, "max": np.maximum,
}  # fmt: skip
PLACES = [
    np.s_[:, 1], np.s_[1], np.s_[-1, :], np.s_[0:2, [0, 2]], np.s_[1, 1:], np.s_[[0, 2], 1:], np.s_[1, 2], np.s_[:, :],
    np.s_[[0, 1], [1, 3]], np.s_[::-1, 3],
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_elements_have_the_shape_of_a_dense_arrays(place):
    a, want = sparse.from_dense(DENSE), DENSE[place]
    got = np.asarray(a.at[place].get())
    assert got.shape == want.shape
    np.testing.assert_array_equal(got, want)
    values = 2 + np.arange(want.size).reshape(want.shape) / 8
    for name, change in CHANGES.items():
        dense = DENSE.copy()
        dense[place] = change(want, values)
        np.testing.assert_allclose(getattr(a.at[place], name)(values).todense(), dense, rtol=1e-5)
