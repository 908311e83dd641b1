"""Arguments under the names that NumPy and JAX have for them, and the ones that arrays here cannot take."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp

X = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]], np.float32)
SAME = """
m.add(x, 1, out=None) | m.exp(x, out=None) | m.less(x, 1, where=True) | m.logical_or(x, 0, out=None)
m.isneginf(x, out=None) | m.isreal(x=x) | m.iscomplex(x=x) | m.sinc(x=x + 0.25) | m.i0(x=x)
m.clip(x, a_min=0, a_max=2) | m.clip(x, 0, a_max=2) | m.clip(x, a_min=None, a_max=x[0])
m.unravel_index(np.array([3, 5]), (2, 3), order="F") | m.unravel_index(np.array([3, 5]), (2, 3), order="C")
"""


def parts(result):
    return list(result) if isinstance(result, tuple) else [result]


@pytest.mark.parametrize(
    "text", [t.strip() for t in SAME.replace("\n", "|").split("|") if t.strip()]
)
def test_names_of_numpy(text):
    want = parts(eval(text, {"m": np, "np": np, "x": X}))
    got = parts(eval(text, {"m": xnp, "np": np, "x": xnp.asarray(X)}))
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-6)


def test_names_of_jax():
    x = xnp.asarray(X)
    order = xnp.argsort(x, axis=1, dtype="int8")
    assert order.dtype == np.int8 and order.tolist() == np.argsort(X, 1).tolist()
    assert xnp.matmul(a=x, b=x.T).tolist() == (X @ X.T).tolist()
    assert xnp.fmax(x1=x, x2=1).tolist() == np.fmax(X, 1).tolist()
    row = xnp.asarray([-1, 1, 7])
    for mode, last in (("fill", np.nan), ("clip", 3.0)):
        # positions below 0 are out of range like those beyond the end
        got = xnp.take_along_axis(x[0], row, 0, mode=mode, wrap_negative_indices=False)
        first = np.nan if mode == "fill" else 1.0
        np.testing.assert_array_equal(np.asarray(got), [first, -2.0, last])
    assert float(xnp.take_along_axis(x[0], row, 0, mode="clip", wrap_negative_indices=True)[0]) == 3


def test_some_singular_values():
    u, s, vh = xnp.linalg.svd(xnp.asarray(X), full_matrices=False)
    part = xnp.linalg.svd(xnp.asarray(X), full_matrices=False, subset_by_index=(1, 2))
    for got, want in zip(part, (u[:, 1:], s[1:], vh[1:]), strict=True):
        np.testing.assert_array_equal(np.asarray(got), np.asarray(want))
    only = xnp.linalg.svd(xnp.asarray(X), compute_uv=False, subset_by_index=(0, 1))
    np.testing.assert_allclose(np.asarray(only), np.asarray(s[:1]), rtol=1e-6)


REFUSED = [
    (lambda x: xnp.add(x, 1, where=x > 0), "where must be None"), (lambda x: xnp.sqrt(x, out=x), "out must be None"),
    (lambda x: xnp.equal(x, x, out=x), "out must be None"), (lambda x: xnp.clip(x, 1, a_min=2), "a_min must be left out"),
    (lambda x: xnp.unravel_index(3, (2, 3), order="A"), "order must be"),
    (lambda x: xnp.linalg.svd(x, subset_by_index=(0, 1)), "full_matrices=False"),
    (lambda x: xnp.linalg.svd(x, False, subset_by_index=(1, 4)), "rising from 0 to 2"),
]  # fmt: skip


@pytest.mark.parametrize("call, message", REFUSED)
def test_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(xnp.asarray(X))


def test_counts_of_observations_are_integers():
    with pytest.raises(TypeError, match="fweights"):
        xnp.cov(xnp.asarray(X), fweights=xnp.asarray([1.0, 2.0, 1.0]))


def test_complex_powers_of_two_at_infinity():
    z = xnp.asarray([complex(np.inf, 1), complex(-np.inf, 0), 3 + 0j])
    with np.errstate(invalid="ignore"):
        want = np.exp2(np.asarray(z).astype(complex))
    np.testing.assert_allclose(np.asarray(xc.jit(xnp.exp2)(z)), want, rtol=1e-6)


@pytest.mark.parametrize("call", [
    lambda m: m.eye(-1), lambda m: m.eye(2, -1), lambda m: m.identity(-2),
    lambda m: m.choose(m.asarray([3]), [m.arange(1), m.arange(1)]),
    lambda m: m.choose(m.asarray([-1]), [m.arange(1)]),
])  # fmt: skip
def test_value_errors_of_numpy(call):
    for module in (np, xnp):
        with pytest.raises(ValueError):
            call(module)


def test_triangles_of_negative_sizes_are_empty():
    for sizes in ((2, -3), (-2, 3)):
        assert xnp.tri(*sizes).shape == np.tri(*sizes).shape
