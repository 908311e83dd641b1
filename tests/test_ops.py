"""Reductions over segments, against a loop."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp

RNG = np.random.default_rng(0)
KINDS = {
    "segment_sum": (np.add, 0), "segment_prod": (np.multiply, 1), "segment_max": (np.maximum, -np.inf),
    "segment_min": (np.minimum, np.inf),
}  # fmt: skip


def by_loop(name, x, ids, count):
    function, neutral = KINDS[name]
    if x.dtype.kind == "i" and not np.isfinite(neutral):
        neutral = np.iinfo(x.dtype).min if neutral < 0 else np.iinfo(x.dtype).max
    out = np.full((count, *x.shape[ids.ndim :]), neutral, x.dtype)
    for place in np.ndindex(ids.shape):
        if 0 <= ids[place] < count:
            out[ids[place]] = function(out[ids[place]], x[place])
    return out


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_segments(name, dtype):
    x = (RNG.normal(size=(5, 2)) * 4).astype(dtype)
    for ids in ([0, 2, 2, 0, 4], [1, -1, 9, 1, 1]):
        ids = np.asarray(ids)
        np.testing.assert_allclose(
            getattr(xc.ops, name)(x, ids, 6), by_loop(name, x, ids, 6), rtol=1e-12
        )
    pairs = RNG.integers(0, 3, (5, 2))
    np.testing.assert_allclose(
        getattr(xc.ops, name)(x, pairs), by_loop(name, x, pairs, pairs.max() + 1), rtol=1e-12
    )
    assert getattr(xc.ops, name)(x[:0], np.zeros(0, int), 2).shape == (2, 2)


def test_under_transformations():
    x, ids = RNG.normal(size=4), xnp.asarray([0, 1, 1, 0])
    f = lambda x: xc.ops.segment_sum(x, ids, 2)
    np.testing.assert_allclose(xc.jacobian(f)(x), [[1, 0, 0, 1], [0, 1, 1, 0]])
    np.testing.assert_allclose(xc.vmap(f)(np.stack([x, -x])), [f(x), -f(x)])
    with pytest.raises(xc.errors.ConcretizationError, match="num_segments"):
        xc.jit(lambda x, i: xc.ops.segment_sum(x, i))(x, ids)
    with pytest.raises(ValueError, match="segment_ids"):
        xc.ops.segment_sum(x, xnp.zeros(3, int), 2)


def test_the_older_spelling_of_at():
    x = np.arange(5.0)
    at = xc.ops.index[1:3]
    for name, want in {
        "update": 7.0,
        "add": x[1:3] + 7,
        "mul": x[1:3] * 7,
        "min": x[1:3],
        "max": 7.0,
    }.items():
        expected = x.copy()
        expected[1:3] = want
        np.testing.assert_array_equal(getattr(xc.ops, f"index_{name}")(x, at, 7.0), expected)
