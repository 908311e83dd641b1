"""Matrices for the tests of factorisations, and when two are equal."""

import numpy as np


def random(shape, dtype, seed=0):
    rng = np.random.default_rng([seed, *shape])
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def hermitian(x):
    return x + x.conj().swapaxes(-1, -2)


def definite(x):
    return x @ x.conj().swapaxes(-1, -2) + np.eye(x.shape[-1], dtype=x.dtype)


def adjoint(x):
    return x.conj().swapaxes(-1, -2)


def close(got, want, dtype, scale=1.0):
    """Equal up to a hundred roundings (or a thousand, of larger numbers)."""
    want = np.asarray(want)
    bound = 300 * np.finfo(dtype).eps * max(1.0, np.abs(want).max(initial=0)) * scale
    np.testing.assert_allclose(np.asarray(got), want, rtol=0, atol=bound)


def arrays(values):
    return [np.asarray(x) for x in values]
