"""Convolutions whose groups are parts of the batch, which the table of samples does not know."""

import numpy as np
import pytest

import xcore as xc
from tests._ops import reference
from xcore import lax
from xcore.testing import check_grads

RNG = np.random.default_rng(0)
X, K = RNG.normal(size=(4, 2, 5)), RNG.normal(size=(6, 2, 2))
ONE = {"strides": (1,), "padding": ((0, 0),), "lhs_dilation": (1,), "rhs_dilation": (1,)}


def by_groups_of_the_batch(x, k):
    return lax.conv_general_dilated(x, k, (1,), "VALID", batch_group_count=2)


def test_each_part_of_the_batch_meets_its_part_of_the_kernel():
    parts = [
        reference.conv(x, k, **ONE) for x, k in zip(np.split(X, 2), np.split(K, 2), strict=True)
    ]
    np.testing.assert_allclose(by_groups_of_the_batch(X, K), np.concatenate(parts, 1), rtol=1e-12)
    check_grads(by_groups_of_the_batch, (X, K), order=2)


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0)])
def test_lanes(axes):
    xs, ks = (
        np.stack([a, 2 * a]) if axis == 0 else a for a, axis in zip((X, K), axes, strict=True)
    )
    once = np.asarray(by_groups_of_the_batch(X, K))
    scale = 2.0 ** sum(axis == 0 for axis in axes)
    np.testing.assert_allclose(
        xc.vmap(by_groups_of_the_batch, axes)(xs, ks), [once, scale * once], rtol=1e-12
    )


def test_counts_that_do_not_divide():
    with pytest.raises(ValueError, match="divisor of the batch size 4"):
        lax.conv_general_dilated(X, K, (1,), "VALID", batch_group_count=3)
    with pytest.raises(ValueError, match="feature_group_count"):
        lax.conv_general_dilated(X, K, (1,), "VALID", batch_group_count=2, feature_group_count=2)
