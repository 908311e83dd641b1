"""Covariances and correlations, against NumPy."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from tests.numpy.reference import check_call, values
from xcore.testing import check_grads

X = values("float64", (3, 6))
ROWS = """
m.cov(x) | m.cov(x[0]) | m.cov(x, rowvar=False) | m.cov(x, bias=True) | m.cov(x, ddof=0) | m.cov(x, x + 1) | m.cov(x[0], x[1])
m.cov(x, fweights=np.array([1, 2, 0, 1, 3, 1])) | m.cov(x, aweights=np.array([1.0, 2, 0.5, 1, 3, 1]))
m.cov(x, fweights=np.array([1, 2, 0, 1, 3, 1]), aweights=np.arange(1.0, 7), ddof=2) | m.cov(x * (1 + 2j))
m.corrcoef(x) | m.corrcoef(x, rowvar=False) | m.corrcoef(x[0], x[1]) | m.corrcoef(x * (1 + 2j)) | m.corrcoef(x[0])
"""
EXPRESSIONS = [e.strip() for line in ROWS.strip().splitlines() for e in line.split(" | ")]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_as_numpy(text):
    check_call(text, X, ulps=64)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "float32"])
def test_dtypes(dtype):
    x = values(dtype, (2, 5))
    got = xnp.cov(xnp.asarray(x))
    assert got.dtype == "float32"
    np.testing.assert_allclose(np.asarray(got), np.cov(x.astype(float)), rtol=1e-5, atol=1e-6)
    assert xnp.cov(xnp.asarray(x), dtype="float64").dtype == "float64"


def test_lanes_and_derivatives():
    x = xnp.asarray(values("float64", (2, 3, 4)))
    lanes = np.asarray(xc.vmap(xnp.corrcoef)(x))
    np.testing.assert_allclose(lanes, [np.corrcoef(v) for v in np.asarray(x)], rtol=1e-10)
    check_grads(xnp.cov, (X,))


def test_errors():
    with pytest.raises(ValueError, match="2"):
        xnp.cov(xnp.ones((2, 2, 2)))
    with pytest.raises((ValueError, TypeError), match="weight for each"):
        xnp.cov(xnp.ones((2, 3)), fweights=np.ones((2, 3), int))
