"""What is told of ranks and terms does not depend on the units of the data."""

import numpy as np
import pytest

import xcore as xc
from tests.decomp.test_scale import X
from xcore import decomp


@pytest.mark.parametrize("size", [1e-25, 1e25])
def test_ranks_are_judged_in_all_units(size):
    def told(x):
        found = decomp.scan_ranks(x.astype(np.float32), [1, 2], key=xc.random.key(0))
        terms = decomp.degeneracy(decomp.cp_als(x.astype(np.float32), 2).value)
        return [
            *found.errors,
            *found.held_out,
            float(terms.weight_ratio),
            *np.divide(found.consistency, 100),
        ]

    usual = told(X)
    assert np.all(np.isfinite(usual)) and 0.3 < float(usual[2]) < 1 and float(usual[3]) < 0.1
    np.testing.assert_allclose(told(X * size), usual, rtol=2e-2)
