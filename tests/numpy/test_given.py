"""What is given in place of arrays and dtypes: dtypes among other objects, arrays that have no place here."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore.scipy.interpolate import RegularGridInterpolator

NAMES = ["bool_", "int8", "uint64", "float16", "float32", "float64", "complex64", "bfloat16"]


@pytest.mark.parametrize("name", NAMES)
def test_dtypes_compare_as_scalar_types_do(name):
    ours = getattr(xnp, name)
    theirs = ours.dtype.type
    for other in ("any text", name, "f4", None, 3, object(), [], {}, float, int, b"x", type):
        assert (ours == other) is (theirs == other) is False and ours != other
    assert ours == theirs and ours == np.dtype(theirs) and np.dtype(theirs) == ours
    assert {ours: 1, name: 2, "any text": 3}[np.dtype(theirs)] == 1
    assert ours.__name__ == ours.dtype.name
    assert xc.jit(lambda x, d: x.astype(d), static_argnums=1)(xnp.ones(2), ours).dtype == ours


FOREIGN = {
    "longdouble": np.zeros(2, np.longdouble), "clongdouble": np.zeros((), np.clongdouble),
    "void": np.zeros(2, "V4"), "record": np.zeros(2, [("a", "f4")]), "text": np.array(["a"]),
    "object": np.array([object()]), "date": np.zeros(2, "M8[s]"),
}  # fmt: skip


@pytest.mark.parametrize("x", FOREIGN.values(), ids=FOREIGN)
def test_arrays_of_dtypes_that_devices_have_not(x):
    for f in (xnp.asarray, xnp.sum, xc.jit(lambda x: x), xc.device_put):
        with pytest.raises(TypeError, match="dtype"):
            f(x)


def test_masked_arrays_are_refused():
    x = np.ma.masked_array([1.0, 2, 3], [0, 1, 0])
    calls = [xnp.sum, xnp.asarray, xnp.array, xc.jit(lambda x: x + 1), xc.grad(lambda x: x.sum()),
             lambda x: xnp.ones(3) + x, lambda x: x + xnp.ones(3), xc.vmap(lambda x: x), xc.device_put,
             lambda x: xnp.ones(3).at[0].set(x[1:].sum() * x[:1])]  # fmt: skip
    for f in calls:
        with pytest.raises(xc.errors.ArgumentError, match=r"mask.*filled"):
            f(x)
    assert float(xnp.sum(x.filled(0))) == 4


@pytest.mark.parametrize("method", ["linear", "nearest"])
@pytest.mark.parametrize("fill", [3.0, None, np.nan])
def test_interpolation_at_nan_is_nan(method, fill):
    grid = np.arange(3.0)
    f = RegularGridInterpolator((grid, grid), grid[:, None] + grid, method, False, fill)
    points = np.array([[np.nan, 1.0], [1.0, np.nan], [1.0, 1.0]])
    for g in (f, xc.jit(f)):
        np.testing.assert_array_equal(g(points), [np.nan, np.nan, 2])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
@pytest.mark.parametrize("method", ["average", "min", "max", "dense", "ordinal"])
def test_ranks(method, dtype):
    import scipy.stats

    x = np.array([3, 1, 1, 7, 3, 3], dtype)
    np.testing.assert_array_equal(xc.stats.rankdata(x, method), scipy.stats.rankdata(x, method))


def test_sums_of_a_number():
    assert xnp.cumulative_sum(xnp.asarray(3.0)).tolist() == [3.0]
    assert xnp.cumulative_prod(xnp.asarray(3.0), include_initial=True).tolist() == [1.0, 3.0]


def test_counts_that_do_not_fit_and_covariances_without_a_factor():
    rng = xc.random.Generator(xc.random.key(0))
    for lam in (1e20, 3e9, [1.0, 1e12]):
        with pytest.raises(ValueError, match=r"poisson.*must be less than.*int32"):
            rng.poisson(lam)
    assert rng.poisson(3e9, dtype="int64") > 2.9e9
    singular = np.ones((2, 2))
    with pytest.raises(ValueError, match=r"not positive definite.*svd"):
        rng.multivariate_normal(np.zeros(2), singular, method="cholesky")
    for method in ("svd", "eigh"):
        assert np.isfinite(rng.multivariate_normal(np.zeros(2), singular, method=method)).all()
