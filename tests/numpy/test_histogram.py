"""Counts in bins, against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xcore as xc
import xcore.numpy as xnp
from tests.numpy.reference import check_call, values

X = values("float64", (40,))
W = values("float64", (40,), seed=1, low=0)

ROWS = """
m.histogram(x) | m.histogram(x, 3) | m.histogram(x, bins=5, range=(-1, 1)) | m.histogram(x, 4, density=True)
m.histogram(x, 4, weights=w) | m.histogram(x, 4, weights=w, density=True) | m.histogram(x, np.array([-3.0, -1, 0, 2.5]))
m.histogram(x, np.array([-3.0, -1, 0, 2.5]), density=True) | m.histogram(x.reshape(8, 5), 3) | m.histogram(x[:0], 3)
m.histogram(x[:1], 3) | m.histogram(x * 0, 3) | m.histogram_bin_edges(x, 4) | m.histogram_bin_edges(x, 4, range=(0, 2))
m.histogram_bin_edges(x, np.array([0.0, 1, 3])) | m.histogramdd(x.reshape(20, 2), weights=w[:20], bins=2)
"""
EXPRESSIONS = [e.strip() for line in ROWS.strip().splitlines() for e in line.split(" | ")]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_as_numpy(text):
    check_call(text, X, ulps=64, w=W)


JOINT = """
m.histogram2d(x, w, 3) | m.histogram2d(x, w, (3, 4), density=True) | m.histogram2d(x, w, bins=(np.array([-3.0, 0, 3]), 2))
m.histogram2d(x, w, 3, range=((-1, 1), (0, 2)), weights=w) | m.histogramdd(x.reshape(20, 2), 3)
m.histogramdd(x.reshape(10, 4), (2, 1, 2, 1), density=True) | m.histogramdd((x, w), (2, 3))
"""


@pytest.mark.parametrize(
    "text", [e.strip() for line in JOINT.strip().splitlines() for e in line.split(" | ")]
)
def test_joint_histograms_as_numpy(text):
    """Their counts are integers here: NumPy's are floats."""
    check_call(f"(lambda h: (h[0] * 1.0, *h[1:]))({text})", X, ulps=64, w=W)


@pytest.mark.parametrize(
    "rule", ["auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"]
)
def test_rules_for_the_number_of_bins(rule):
    check_call(f"m.histogram(x, bins='{rule}')", X, ulps=64, traced=False)


BINS = """
m.bincount(x) | m.bincount(x, minlength=12) | m.bincount(x, weights=np.arange(8.0)) | m.bincount(x[:0]) | m.bincount(x[:0], minlength=2)
"""


@pytest.mark.parametrize("text", [e.strip() for e in BINS.split("|")])
def test_bincount(text):
    x = np.array([0, 3, 1, 1, 7, 3, 3, 0])
    check_call(text, x, traced=False)


def test_bincount_under_jit_takes_a_length():
    x = np.array([0, 3, 1, 1, 7, 3])
    count = xc.jit(lambda x: xnp.bincount(x, length=5))(x)
    assert count.tolist() == np.bincount(x)[:5].tolist()  # what lies beyond is dropped
    with pytest.raises(xc.errors.ConcretizationError, match="length"):
        xc.jit(xnp.bincount)(x)
    slope = xc.grad(lambda w: xnp.bincount(x, w, length=8)[3])(np.ones(6))
    assert slope.tolist() == (x == 3).tolist()


@given(st.lists(st.integers(-4, 4), max_size=30), st.integers(1, 6))
def test_every_element_in_range_is_counted_once(x, bins):
    x = np.asarray(x, float)
    counts, edges = xnp.histogram(x, bins, range=(-3, 3))
    assert int(counts.sum()) == ((x >= -3) & (x <= 3)).sum()
    np.testing.assert_array_equal(np.asarray(counts), np.histogram(x, np.asarray(edges))[0])


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float16", "float32"])
def test_dtypes(dtype):
    x = values(dtype, (30,), low=0)
    counts, edges = xnp.histogram(xnp.asarray(x), 3)
    want, _ = np.histogram(
        x.astype(np.uint8) if dtype == "bool" else x, np.asarray(edges, np.float64)
    )
    assert counts.tolist() == want.tolist() and counts.dtype.kind == "i" and edges.dtype.kind == "f"


def test_lanes():
    x = xnp.asarray(X.reshape(4, 10))
    lanes = xc.vmap(lambda v: xnp.histogram(v, 3, range=(-3, 3))[0])(x)
    assert lanes.tolist() == [np.histogram(v, 3, range=(-3, 3))[0].tolist() for v in np.asarray(x)]


BAD = [
    (lambda: xnp.histogram(xnp.ones(3), 0), "bins"), (lambda: xnp.histogram(xnp.ones(3), np.array([1.0, 0.0])), "ris|increas|order"),
    (lambda: xnp.histogram(xnp.ones(3), 3, range=(1, 0)), "range"), (lambda: xnp.bincount(xnp.asarray([1.5])), "int"),
    (lambda: xnp.bincount(xnp.asarray([-1, 2])), "negative|0 or more"), (lambda: xnp.histogram(xnp.ones(3), weights=xnp.ones(2)), "shape"),
    (lambda: xnp.histogram(xnp.ones(3), "best"), "best"),
]  # fmt: skip


@pytest.mark.parametrize("call, pattern", BAD)
def test_errors(call, pattern):
    with pytest.raises((ValueError, TypeError), match=pattern):
        call()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_have_no_range(bad):
    """As in NumPy; with a range, or edges, they are in no bin."""
    x = xnp.asarray([1.0, bad, 2.0])
    for f in (
        xnp.histogram,
        xnp.histogram_bin_edges,
        lambda x: xnp.histogram2d(x, x),
        lambda x: xnp.histogramdd(x[:, None]),
    ):
        with pytest.raises(ValueError, match="must be finite where range is left out"):
            f(x)
    for how in ({"range": (0, 3)}, {"bins": np.array([0.0, 1.0, 3.0])}):
        counts, edges = xnp.histogram(x, **how)
        wanted = np.histogram(np.asarray(x), **how)
        np.testing.assert_array_equal(counts, wanted[0])
        np.testing.assert_allclose(edges, wanted[1])
    with xc.config.override(clamp=True):
        assert xnp.histogram(x)[0].shape == (10,)
