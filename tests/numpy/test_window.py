"""Windows, covariances: small tables against NumPy."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning"])
def test_windows(name):
    for n in (0, 1, 2, 5, 8, -1):
        want = getattr(np, name)(n)
        got = getattr(xnp, name)(n)
        assert got.dtype == "float32" and got.shape == want.shape
        np.testing.assert_allclose(np.asarray(got), want, atol=3e-7)
    with xc.config.override(default_bits=64):
        np.testing.assert_allclose(
            np.asarray(getattr(xnp, name)(9)), getattr(np, name)(9), atol=1e-15
        )


def test_kaiser():
    for n, beta in ((0, 1.0), (1, 3.0), (6, 0.0), (7, 14.0), (12, 2.5)):
        np.testing.assert_allclose(
            np.asarray(xnp.kaiser(n, beta)), np.kaiser(n, beta), rtol=1e-5, atol=1e-6
        )
    slope = xc.grad(lambda b: xnp.kaiser(5, b)[1])(xnp.asarray(2.0, "float64"))
    step = 1e-6
    want = (np.kaiser(5, 2 + step)[1] - np.kaiser(5, 2 - step)[1]) / (2 * step)
    np.testing.assert_allclose(float(slope), want, rtol=1e-6)
