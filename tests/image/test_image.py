"""Images of other sizes, beside sums over kernels written out, and closed forms."""

import numpy as np
import pytest

import xcore as xc
from xcore.image import ResizeMethod, resize, scale_and_translate
from xcore.testing import check_grads

rng = np.random.default_rng(0)


def keys(x):
    return np.where(
        x < 1, 1.5 * x**3 - 2.5 * x**2 + 1, np.where(x < 2, -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2, 0)
    )


KERNELS = {
    "linear": lambda x: np.clip(1 - x, 0, None),
    "cubic": keys,
    "lanczos3": lambda x: np.where(x < 3, np.sinc(x) * np.sinc(x / 3), 0),
    "lanczos5": lambda x: np.where(x < 5, np.sinc(x) * np.sinc(x / 5), 0),
}


def along_first_axis(image, new, scale, move, kernel, antialias):
    """Pixel by pixel, as the definition says it."""
    out = np.zeros((new, *image.shape[1:]), np.result_type(image, float))
    for j in range(new):
        at = (j + 0.5 - move) / scale
        if 0 <= at <= len(image):
            w = kernel(
                np.abs(at - 0.5 - np.arange(len(image))) / (max(1 / scale, 1) if antialias else 1)
            )
            out[j] = np.tensordot(w / w.sum(), image, 1)
    return out


@pytest.mark.parametrize("method", KERNELS)
@pytest.mark.parametrize("antialias", [True, False])
def test_resize(method, antialias):
    image = rng.standard_normal((7, 4, 2))
    ours = xc.jit(lambda x: resize(x, (3, 9, 2), method, antialias))(image)
    rows = along_first_axis(image, 3, 3 / 7, 0, KERNELS[method], antialias)
    both = along_first_axis(rows.swapaxes(0, 1), 9, 9 / 4, 0, KERNELS[method], antialias).swapaxes(
        0, 1
    )
    assert np.allclose(ours, both)
    assert np.allclose(resize(np.ones((5,)), (3,), method, antialias), 1)


@pytest.mark.parametrize("method", KERNELS)
def test_scale_and_translate(method):
    image = rng.standard_normal((3, 6))
    f = xc.jit(lambda x, s, t: scale_and_translate(x, (3, 8), (-1,), s, t, method))
    for scale, move in ((0.7, 1.3), (1.9, -2.4)):
        wanted = along_first_axis(image.T, 8, scale, move, KERNELS[method], True).T
        assert np.allclose(f(image, np.array([scale]), np.array([move])), wanted)


def test_linear_is_interpolation_between_middles():
    x = rng.standard_normal(5)
    wanted = np.interp((np.arange(8) + 0.5) * 5 / 8, np.arange(5) + 0.5, x)
    assert np.allclose(resize(x, (8,), ResizeMethod.LINEAR), wanted)
    assert np.allclose(resize(x, (8,), "bilinear"), wanted)


def test_nearest_takes_pixels_of_any_dtype():
    x = np.arange(10, dtype=np.int8).reshape(5, 2)
    small, large = resize(x, (3, 2), "nearest"), resize(x, (7, 4), "nearest")
    assert small.dtype == np.int8 and np.array_equal(small, x[[0, 2, 4]])
    rows = np.floor((np.arange(7) + 0.5) * 5 / 7).astype(int)
    assert np.array_equal(large, x[rows][:, [0, 0, 1, 1]])
    assert resize(x > 3, (2, 2), "nearest").dtype == bool


def test_dtypes_and_empty_images():
    x = rng.standard_normal((4, 3))
    z = resize(x + 1j * x, (2, 5), "cubic")
    assert z.dtype == np.complex128 and np.allclose(z.imag, resize(x, (2, 5), "cubic"))
    assert resize(np.arange(4), (2,), "linear").dtype == np.float32
    half = resize(x.astype(np.float16), (2, 5), "linear")
    assert half.dtype == np.float16 and np.allclose(half, resize(x, (2, 5), "linear"), atol=4e-3)
    assert resize(np.ones((0, 3)), (0, 5), "linear").shape == (0, 5)
    assert resize(np.ones((3, 2)), (0, 2), "nearest").shape == (0, 2)


def test_derivatives_and_batches():
    x, s, t = rng.standard_normal((2, 6)), np.array([1.3]), np.array([0.4])
    f = lambda x, s, t: scale_and_translate(x, (7,), (0,), s, t, "cubic")
    check_grads(f, (x[0], s, t), order=1)
    each = xc.vmap(lambda x: resize(x, (4,), "lanczos3"))(x)
    assert np.allclose(each, resize(x, (2, 4), "lanczos3"))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda x: resize(x, (3,), "linear"), "shape"),
        (lambda x: resize(x, (3, 3), "sharp"), "method"),
        (lambda x: resize(x[:0], (3, 3), "linear"), "empty"),
        (lambda x: scale_and_translate(x, (3, 3), (0,), [1.0], [0.0], "linear"), "spatial_dims"),
        (lambda x: scale_and_translate(x, (3, 4), (2,), [1.0], [0.0], "linear"), "spatial_dims"),
        (lambda x: scale_and_translate(x, (3, 4), (0,), [1.0, 2.0], [0.0], "linear"), "scale"),
        (lambda x: scale_and_translate(x, (3, 4), (0,), [1.0], [0.0], "nearest"), "resize"),
    ],
)
def test_what_does_not_fit(call, match):
    with pytest.raises(ValueError, match=match):
        call(np.ones((5, 4)))
