"""Convolutions and trends beside SciPy's."""

import numpy as np
import pytest
import scipy.signal as theirs

import xcore as xc
import xcore.scipy.signal as ours
from xcore.testing import check_grads

rng = np.random.default_rng(0)
SHAPES = [((7,), (4,)), ((3,), (6,)), ((5, 6), (2, 3))]


@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("shapes", SHAPES)
def test_convolutions(name, shapes):
    a = rng.standard_normal(shapes[0])
    b = rng.standard_normal(shapes[1]) + 1j * rng.standard_normal(shapes[1])
    for mode in ("full", "same", "valid"):
        wanted = getattr(theirs, name)(a, b, mode)
        for method in ("direct", "fft"):
            found = getattr(ours, name)(a, b, mode, method)
            assert found.shape == wanted.shape and np.allclose(found, wanted), (mode, method)


@pytest.mark.parametrize("name", ["convolve2d", "correlate2d"])
@pytest.mark.parametrize("boundary", ["fill", "wrap", "symm"])
def test_convolutions_of_matrices(name, boundary):
    a, b = rng.standard_normal((4, 5)), rng.standard_normal((2, 3))
    for mode in ("full", "same", "valid"):
        for x, y in ((a, b), (b, a)) if mode == "valid" else ((a, b),):
            wanted = getattr(theirs, name)(x, y, mode, boundary, 2.0)
            found = getattr(ours, name)(x, y, mode, boundary, 2.0)
            assert found.shape == wanted.shape and np.allclose(found, wanted), mode


def test_some_axes_and_other_dtypes():
    a, b = rng.standard_normal((3, 6)), rng.standard_normal((1, 4))
    for mode in ("full", "same", "valid"):
        assert np.allclose(
            ours.fftconvolve(a, b, mode, axes=1), theirs.fftconvolve(a, b, mode, axes=1)
        )
    n = np.array([3, 200, -7]), np.array([1000, 5])
    for method in ("direct", "fft"):
        found = ours.convolve(*n, method=method)
        assert found.dtype.kind == "i" and np.array_equal(found, np.convolve(*n))
    flags = np.array([True, False, True])
    assert np.array_equal(ours.convolve(flags, flags), [True, False, True, False, True])


def test_trends():
    x = rng.standard_normal((3, 9)).cumsum(axis=1)
    for options in ({}, {"type": "constant"}, {"bp": [4, 6]}, {"axis": 0}):
        assert np.allclose(ours.detrend(x, **options), theirs.detrend(x, **options)), options
    with pytest.raises(ValueError, match="bp"):
        ours.detrend(x, bp=[12])


def test_derivatives_and_lanes():
    a, b = rng.standard_normal((2, 5)), rng.standard_normal(3)
    check_grads(lambda a, b: ours.convolve(a, b, "same"), (a[0], b))
    check_grads(lambda a, b: ours.fftconvolve(a, b, "valid"), (a[0], b), order=1)
    found = xc.vmap(lambda a: ours.correlate(a, b))(a)
    assert np.allclose(found, [theirs.correlate(x, b) for x in a])


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda x: ours.convolve(x, x, "some"), "mode"),
        (lambda x: ours.convolve(x, x, method="fast"), "method"),
        (lambda x: ours.convolve(x, x[0]), "axes"),
        (lambda x: ours.convolve(x, x[:0]), "empty"),
        (lambda x: ours.convolve(np.ones((2, 5)), np.ones((3, 2)), "valid"), "shorter"),
        (lambda x: ours.convolve2d(x, x, boundary="open"), "boundary"),
        (lambda x: ours.convolve2d(x[0], x[0]), "matrices"),
        (lambda x: ours.fftconvolve(x, x, axes=2), "axes"),
        (lambda x: ours.detrend(x, type="cubic"), "type"),
    ],
)
def test_what_does_not_fit(call, match):
    with pytest.raises(ValueError, match=match):
        call(np.ones((3, 3)))
