"""Operations of ``xcore.lax`` with explicit shapes, against plain loops and closed forms."""

import itertools

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from tests._ops import reference
from xcore import lax
from xcore.testing import check_grads

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 7, 6))


def windows_of(x, window, strides, padding, base, dilation, fill):
    """The windows of an array along all axes, one after the other: a list of flat arrays, and their grid."""
    low, high = zip(*padding, strict=True)
    x = reference.pad(
        x, np.asarray(fill, x.dtype), low=low, high=high, interior=[b - 1 for b in base]
    )
    reach = [(w - 1) * d + 1 for w, d in zip(window, dilation, strict=True)]
    grid = [max(0, (n - r) // s + 1) for n, r, s in zip(x.shape, reach, strides, strict=True)]
    out = []
    for at in itertools.product(*map(range, grid)):
        start = np.multiply(at, strides)
        out.append(
            x[
                tuple(slice(a, a + r, d) for a, r, d in zip(start, reach, dilation, strict=True))
            ].ravel()
        )
    return out, grid


OPTIONS = {
    "plain": {},
    "strides": {"window_strides": (1, 2, 3)},
    "padding": {"padding": ((0, 1), (2, 0), (1, 1))},
    "dilated": {"base_dilation": (1, 2, 1), "window_dilation": (1, 1, 2)},
    "long": {"window_dimensions": (1, 7, 5)},
    "nothing fits": {"window_dimensions": (3, 1, 1)},
}


def with_defaults(options):
    ones = (1, 1, 1)
    return {"window_dimensions": (1, 3, 2), "window_strides": ones, "padding": ((0, 0),) * 3,
            "base_dilation": ones, "window_dilation": ones} | options  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("function, init, numpy", [
    (lax.add, 0.0, np.sum), (lax.max, -np.inf, np.max), (lambda a, b: a * b, 1.0, np.prod),
], ids=["add", "max", "own"])  # fmt: skip
def test_reduce_window(function, init, numpy, options):
    o = with_defaults(options)
    parts, grid = windows_of(X, *o.values(), init)
    want = np.asarray([numpy(p) for p in parts]).reshape(grid)
    got = lax.reduce_window(X, init, function, **o)
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_windows_of_every_length():
    x = RNG.normal(size=40)
    for window, dilation in itertools.product((1, 2, 5, 16, 31), (1, 3)):
        parts, _ = windows_of(x, (window,), (1,), ((0, 0),), (1,), (dilation,), 0)
        got = lax.reduce_window(x, 0.0, lax.add, (window,), window_dilation=(dilation,))
        np.testing.assert_allclose(got, [p.sum() for p in parts], atol=1e-12)


def test_windows_of_pairs():
    """The largest element and where it stands, from one pass."""

    def larger(a, b):
        better = a[0] >= b[0]
        return xnp.where(better, a[0], b[0]), xnp.where(better, a[1], b[1])

    x = RNG.normal(size=12)
    values, places = lax.reduce_window((x, np.arange(12)), (-np.inf, 0), larger, (4,), (4,))
    np.testing.assert_array_equal(values, x.reshape(3, 4).max(1))
    np.testing.assert_array_equal(places, np.add(x.reshape(3, 4).argmax(1), [0, 4, 8]))


def test_windows_differentiate_and_batch():
    def pool(x):
        return lax.reduce_window(x, -np.inf, lax.max, (1, 2, 3), (1, 2, 3), "SAME")

    check_grads(pool, (X,), order=1)
    many = np.stack([X, -X])
    np.testing.assert_array_equal(xc.vmap(pool)(many), [pool(x) for x in many])


def test_wrong_windows():
    with pytest.raises(ValueError, match="window_dimensions"):
        lax.reduce_window(X, 0.0, lax.add, (2,))
    with pytest.raises(ValueError, match="window_strides"):
        lax.reduce_window(X, 0.0, lax.add, (1, 1, 1), (1, 0, 1))


@pytest.mark.parametrize("axes", [(0,), (1, 2), (0, 1, 2), ()])
def test_reduce(axes):
    for function, init, numpy in [
        (lax.add, 1.0, lambda x: x.sum(axes) + 1), (lax.mul, 2.0, lambda x: 2 * x.prod(axes)),
        (lax.min, 0.3, lambda x: np.minimum(x.min(axes), 0.3)),
        (lambda a, b: a + b - 0.5, 0.5, lambda x: (x - 0.5).sum(axes) + 0.5),
    ]:  # fmt: skip
        np.testing.assert_allclose(
            lax.reduce(X, init, function, axes), numpy(X), rtol=1e-12, atol=1e-12
        )


def test_reduce_of_nothing_is_where_it_begins():
    assert lax.reduce(np.zeros((0, 2)), 7.0, lambda a, b: a + b - 7, (0,)).tolist() == [7.0, 7.0]
    check_grads(lambda x: lax.reduce(x, 0.0, lambda a, b: xnp.hypot(a, b), (1,)), (X[0],), order=1)


# Convolutions


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("padding", ["SAME", "VALID", ((2, 1),)], ids=str)
def test_conv_transpose_adds_a_kernel_for_each_element(stride, padding):
    x, k = RNG.normal(size=(2, 5, 3)), RNG.normal(size=(4, 3, 2))
    full = np.zeros((2, 4 * stride + 4, 2))
    for i in range(5):  # a convolution does not flip its kernel, so copies are flipped
        full[:, i * stride : i * stride + 4] += np.einsum("ni,kio->nko", x[:, i], k[::-1])
    got = np.asarray(lax.conv_transpose(x, k, (stride,), padding))
    length = {"SAME": 5 * stride, "VALID": max(5 * stride + max(4 - stride, 0), 0)}.get(padding)
    if length is None:
        # padding (a, b) of the dilated operand leaves out kernel - 1 - a elements at the front
        want = full[:, 3 - 2 : full.shape[1] - (3 - 1)]
    else:
        assert got.shape[1] == length
        first = 0 if padding == "VALID" else 3 - (3 if stride > 3 else -(-(4 + stride - 2) // 2))
        want = full[:, first : first + length]
    np.testing.assert_allclose(got[:, : want.shape[1]], want, rtol=1e-12, atol=1e-12)


def test_transposed_kernel_is_the_adjoint():
    x, k = RNG.normal(size=(1, 6, 6, 2)), RNG.normal(size=(3, 3, 2, 4))
    layout = ("NHWC", "HWIO", "NHWC")
    forward = lambda x: lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=layout)
    y = RNG.normal(size=(1, 6, 6, 4))
    back = lax.conv_transpose(y, k, (1, 1), "SAME", transpose_kernel=True)
    np.testing.assert_allclose(back, xc.vjp(forward, x)[1](y)[0], rtol=1e-10, atol=1e-12)


def test_patches_times_a_kernel_are_a_convolution():
    x, k = RNG.normal(size=(2, 3, 6, 5)), RNG.normal(size=(4, 3, 2, 3))
    patches = lax.conv_general_dilated_patches(x, (2, 3), (2, 1), "SAME")
    got = xnp.einsum("nfhw,of->nohw", patches, k.reshape(4, -1))
    np.testing.assert_allclose(
        got, lax.conv_general_dilated(x, k, (2, 1), "SAME"), rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("f", [lax.conv, lax.conv_general_dilated, lax.conv_with_general_padding])
def test_sums_of_small_integers_are_as_wide_as_asked(f):
    x, k = np.full((1, 1, 8), 100, np.int8), np.full((1, 1, 4), 100, np.int8)
    got = f(x, k, (1,), [(0, 0)], preferred_element_type=np.int32)
    assert got.dtype == np.int32 and (got == 40000).all() and got.shape == (1, 1, 5)


def test_layouts():
    numbers = lax.conv_dimension_numbers((1, 8, 8, 3), (3, 3, 3, 4), ("NHWC", "HWIO", "NHWC"))
    assert numbers == ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))


# Gather and scatter

ROWS = lax.GatherDimensionNumbers((1,), (0,), (0,))
INTO_ROWS = lax.ScatterDimensionNumbers((1,), (0,), (0,))
INDICES = np.asarray([[2], [9], [0], [2]])


def test_gather():
    x = X[0]
    rows = INDICES[:, 0]
    np.testing.assert_array_equal(lax.gather(x, INDICES, ROWS, (1, 6)), x[np.clip(rows, 0, 6)])
    filled = np.where(rows[:, None] > 6, 5.0, x[np.clip(rows, 0, 6)])
    got = lax.gather(
        x, INDICES, ROWS, (1, 6), mode=lax.GatherScatterMode.FILL_OR_DROP, fill_value=5.0
    )
    np.testing.assert_array_equal(got, filled)


@pytest.mark.parametrize("name, numpy", [
    ("scatter_add", np.add), ("scatter_sub", np.subtract), ("scatter_mul", np.multiply),
    ("scatter_min", np.minimum), ("scatter_max", np.maximum),
])  # fmt: skip
def test_scatter(name, numpy):
    x, u = X[0].copy(), RNG.normal(size=(4, 6))
    got = getattr(lax, name)(x, INDICES, u, INTO_ROWS)
    inside = INDICES[:, 0] < 7
    numpy.at(x, INDICES[inside, 0], u[inside])
    np.testing.assert_allclose(got, x, rtol=1e-12)
    with pytest.raises(TypeError, match="updates"):
        getattr(lax, name)(x, INDICES, u.astype("float32"), INTO_ROWS)


# Shapes


def test_shapes():
    assert lax.collapse(X, 0, 2).shape == (14, 6) and lax.collapse(X, 1).shape == (2, 42)
    assert lax.broadcast_to_rank(X[0], 4).shape == (1, 1, 7, 6)
    parts = lax.split(X, (3, 0, 4), axis=1)
    for part, want in zip(parts, np.split(X, [3, 3], 1), strict=True):
        np.testing.assert_array_equal(part, want)
    with pytest.raises(ValueError, match="add up to 7"):
        lax.split(X, (3, 3), axis=1)
    np.testing.assert_array_equal(lax.index_take(X, (np.asarray([1, 0]), np.asarray([2, 6])), (0, 1)),
                                  X[[1, 0], [2, 6]].reshape(2, 6))  # fmt: skip


def test_top_elements_along_any_axis():
    values, places = lax.approx_max_k(X, 2, 1)
    np.testing.assert_array_equal(values, -np.sort(-X, 1)[:, :2])
    np.testing.assert_array_equal(np.take_along_axis(X, np.asarray(places), 1), values)
    np.testing.assert_array_equal(lax.approx_min_k(X, 3)[0], np.sort(X, -1)[..., :3])


@pytest.mark.parametrize(
    "f", [lax.round, lax.exp2, lax.floor, lambda x: xnp.round(x, 2), lambda x: xnp.around(x, -1)]
)
def test_functions_of_python_numbers_take_the_dtype_of_what_they_meet(f):
    half = xnp.ones(2, "bfloat16")
    assert f(0.5).weak_type and (f(0.5) * half).dtype == half.dtype
    assert not f(np.float32(0.5)).weak_type and f(half).dtype == half.dtype


def test_scalars():
    assert lax.dtype(np.dtype("int8")) == lax.dtype(np.int8) == np.int8
    assert lax.exp2(3.0) == 8 and lax.dtype(1) == np.int32 and lax.empty((2,)).shape == (2,)
    assert lax.mulhi(np.int32(2**30), np.int32(8)) == 2
    assert (
        lax.platform_dependent(1.0, cpu=lambda x: x + 1, cuda=lambda x: x) == 2.0
        or xc.default_backend() != "cpu"
    )
    with pytest.raises(ValueError, match="default"):
        lax.platform_dependent(1.0, moon=lambda x: x)


# Factorisations


def test_factorisations_as_lax_gives_them():
    a = RNG.normal(size=(3, 4, 4))
    s = a @ a.swapaxes(-1, -2) + np.eye(4)
    one = lax.linalg
    c = np.asarray(one.cholesky(s))
    np.testing.assert_allclose(c @ c.swapaxes(-1, -2), s, rtol=1e-10)
    v, w = map(np.asarray, one.eigh(s))
    np.testing.assert_allclose(v * w[:, None] @ v.swapaxes(-1, -2), s, rtol=1e-9, atol=1e-9)
    factors, _, order = map(np.asarray, one.lu(a))
    lower = np.tril(factors, -1) + np.eye(4)
    np.testing.assert_allclose(
        lower @ np.triu(factors), np.take_along_axis(a, order[..., None], 1), atol=1e-10
    )
    q, r = map(np.asarray, one.qr(a, full_matrices=False))
    np.testing.assert_allclose(q @ r, a, atol=1e-10)
    u, d, vh = map(np.asarray, one.svd(a))
    np.testing.assert_allclose(u * d[:, None] @ vh, a, atol=1e-10)
    x = one.triangular_solve(c, s, left_side=True, lower=True, transpose_a=True)
    np.testing.assert_allclose(c.swapaxes(-1, -2) @ np.asarray(x), s, rtol=1e-9, atol=1e-9)


# Tutorial code calls by keyword

A = np.float32([[0.5, 0.25], [0.75, 0.125]])
BY_KEYWORD = {
    "one array": (lambda: lax.abs(x=-A), A),
    "accuracy": (lambda: lax.sin(x=A, accuracy=None), np.sin(A)),
    "accuracy of a mode": (lambda: lax.exp(A, accuracy=lax.AccuracyMode.HIGHEST), np.exp(A)),
    "two arrays": (lambda: lax.sub(x=A, y=A.T), A - A.T),
    "nextafter": (lambda: lax.nextafter(x1=A, x2=2 * A), np.nextafter(A, 2 * A)),
    "zeta": (lambda: lax.zeta(x=2.0, q=1.0), np.float32(np.pi**2 / 6)),
    "polygamma": (lambda: lax.polygamma(m=1.0, x=1.0), np.float32(np.pi**2 / 6)),
    "stack": (lambda: lax.stack(operands=[A, A], axis=1), np.stack([A, A], 1)),
    "tile": (lambda: lax.tile(operand=A, reps=(2, 1)), np.tile(A, (2, 1))),
    "unstack": (lambda: lax.unstack(A, 1)[0], A[:, 0]),
    "dot": (lambda: lax.dot(A, A, dimension_numbers=(((0,), (1,)), ((), ()))), A.T @ A.T),
    "fft": (lambda: lax.fft(A, fft_type=lax.FftType.FFT, fft_lengths=(2,)), np.fft.fft(A)),
    "from the end": (lambda: lax.dynamic_slice(A, (-1, 0), (1, 2)), A[1:]),
    "no wrapping": (
        lambda: lax.dynamic_slice(A, (-1, -1), (1, 1), allow_negative_indices=(False, True)),
        A[:1, 1:],
    ),
    "no wrapping, one axis": (
        lambda: lax.dynamic_index_in_dim(A, -1, axis=0, allow_negative_indices=False),
        A[:1],
    ),
}  # fmt: skip


@pytest.mark.parametrize("call, want", BY_KEYWORD.values(), ids=BY_KEYWORD)
def test_calls_by_keyword(call, want):
    np.testing.assert_allclose(call(), want, rtol=1e-6)


def test_rounding_of_halves_and_of_what_is_just_less():
    x = np.float32([0.5, -0.5, 1.5, 2.5, np.nextafter(np.float32(0.5), 0), 8388609, np.inf, -2.75])
    away = [1, -1, 2, 3, 0, 8388609, np.inf, -3]
    np.testing.assert_array_equal(lax.round(x), away)
    even = lax.round(x, rounding_method=lax.RoundingMethod.TO_NEAREST_EVEN)
    np.testing.assert_array_equal(even, np.round(x))


ONES = xnp.ones((2, 3))
# (call, what the message says); each of these reached the compiler once, or said nothing of use
WRONG = {
    "fft of no kind": (lambda: lax.fft(ONES, "foo", (3,)), "fft_type.*RFFT"),
    "rev of no axis": (lambda: lax.rev(ONES, (4,)), "rev.*no axes"),
    "rev twice": (lambda: lax.rev(ONES, (0, 0)), "rev.*twice"),
    "pad": (lambda: lax.pad(ONES, 0.0, [(0, 0, -1), (0, 0, 0)]), "interior.*0 or more"),
    "reduce_precision": (lambda: lax.reduce_precision(ONES, 0, 0), "1 or more .exponent"),
    "concatenate nothing": (lambda: lax.concatenate([], 0), "one array or more"),
    "broadcast_in_dim": (lambda: lax.broadcast_in_dim(ONES, (2,), (0, 1)), "must fit shape"),
    "expand_dims twice": (lambda: lax.expand_dims(ONES, (0, 0)), "duplicate"),
    "argmax as float": (lambda: lax.argmax(ONES, 0, "float32"), "index_dtype"),
    "select_n by floats": (lambda: lax.select_n(ONES, ONES, ONES), "bool and integer"),
    "lexsort of a number": (lambda: xnp.lexsort(5), "sequence of arrays"),
    "repeat by halves": (lambda: xnp.repeat(ONES, 1.5), "repeats must be integers"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "text"), WRONG.values(), ids=WRONG)
def test_wrong_calls_are_explained(call, text):
    with pytest.raises((ValueError, TypeError), match=text):
        call()


def _first_of_each_window(x, window, strides, ahead):
    """The position of the largest (or smallest) element of each window, of equal ones the first in memory."""
    view = np.lib.stride_tricks.sliding_window_view(x, window)[
        tuple(slice(None, None, s) for s in strides)
    ]
    place = ahead(view.reshape(*view.shape[: x.ndim], -1), axis=-1)
    inner = np.unravel_index(place, window)
    return [np.arange(n).reshape([-1 if k == i else 1 for k in range(x.ndim)]) * s + inner[i]
            for i, (n, s) in enumerate(zip(view.shape, strides))]  # fmt: skip


@pytest.mark.parametrize(
    "computation, init, ahead", [(lax.max, -np.inf, np.argmax), (lax.min, np.inf, np.argmin)]
)
@pytest.mark.parametrize(
    "window, strides", [((2, 2), (2, 2)), ((3, 3), (1, 1)), ((1, 5), (1, 2)), ((7, 2), (1, 1))]
)
def test_of_equal_elements_of_a_window_the_first_has_the_derivative(
    computation, init, ahead, window, strides
):
    """As in max pooling behind relu, where most are 0."""
    x = np.random.default_rng(0).integers(0, 2, (8, 9)).astype(np.float32)
    pooled = lambda x: lax.reduce_window(x, init, computation, window, strides)
    out = np.asarray(pooled(x))
    weights = np.arange(1.0, out.size + 1, dtype=np.float32).reshape(out.shape)
    place = _first_of_each_window(x, window, strides, ahead)
    want = np.zeros_like(x)
    np.add.at(want, tuple(place), weights)
    found = xc.jit(xc.grad(lambda x: (pooled(x) * weights).sum()))(x)
    np.testing.assert_array_equal(found, want)
    np.testing.assert_array_equal(out, x[tuple(place)])
    tangent = np.random.default_rng(1).normal(size=x.shape).astype(np.float32)
    np.testing.assert_array_equal(xc.jvp(pooled, (x,), (tangent,))[1], tangent[tuple(place)])
    np.testing.assert_array_equal(pooled(np.where(x, np.nan, x)), np.where(np.isnan(
        np.asarray(pooled(np.where(x, np.nan, x)))), np.nan, 0))  # fmt: skip


def test_windows_of_integers_have_extremes():
    x = np.asarray([3, 1, 2, 2, 0], np.int32)
    assert lax.reduce_window(x, np.int32(-9), lax.max, (2,)).tolist() == [3, 2, 2, 2]
    assert lax.reduce_window(x, np.int32(9), lax.min, (2,), (1,), "SAME").tolist() == [
        1,
        1,
        2,
        0,
        0,
    ]
