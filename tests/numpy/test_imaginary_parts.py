"""Nothing loses an imaginary part without a word: complex values among real ones are refused, or all become complex."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
import xcore.scipy.sparse.linalg as iterative
from xcore import lax

X, Z = np.arange(6, dtype=np.float32), np.full(2, 1 + 0.5j, np.complex64)
REFUSED = {
    "dynamic_update_slice": lambda x, z: lax.dynamic_update_slice(x, z, (1,)),
    "dynamic_update_slice_in_dim": lambda x, z: lax.dynamic_update_slice_in_dim(x, z, 1, 0),
    "dynamic_update_index_in_dim": lambda x, z: lax.dynamic_update_index_in_dim(x, z[0], 1, 0),
    "pad": lambda x, z: lax.pad(x, z[0], [(1, 1, 0)]),
    "reduce": lambda x, z: lax.reduce(x, z[0], lax.add, (0,)),
    "reduce_window": lambda x, z: lax.reduce_window(x, z[0], lax.add, (2,)),
    "lax.full": lambda x, z: lax.full((2,), 1j, x.dtype),
    "lax.full_like": lambda x, z: lax.full_like(x, 1j),
    "numpy.full": lambda x, z: xnp.full(3, 1j, x.dtype),
    "numpy.full_like": lambda x, z: xnp.full_like(x, 1j),
    "at": lambda x, z: x.at[:2].set(z),
    "fill_diagonal": lambda x, z: xnp.fill_diagonal(x.reshape(2, 3), 1j, inplace=False),
    "apply_updates": lambda x, z: xc.optimize.apply_updates(x, x * z[0]),
}


@pytest.mark.parametrize("wrap", [lambda f: f, xc.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, wrap):
    with pytest.raises(xc.errors.DTypeError, match="complex values cannot be assigned"):
        wrap(REFUSED[name])(xnp.asarray(X), xnp.asarray(Z))


A = np.asarray([[4.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.0, -1.0, 5.0]])
HERMITIAN = A + np.asarray([[0, 1j, 0], [-1j, 0, 2j], [0, -2j, 0]])
B = np.asarray([1.0, 2.0, -1.0])
METHODS = {
    "cg": HERMITIAN, "minres": HERMITIAN, "gmres": A * (1 + 0.5j), "bicgstab": A * (1 + 0.5j),
}  # fmt: skip


@pytest.mark.parametrize("form", ["matrix", "sparse", "function"])
@pytest.mark.parametrize("name", METHODS)
def test_systems_with_a_real_right_side(name, form):
    a, solve = METHODS[name], getattr(iterative, name)
    with xc.enable_x64(True):
        given = {
            "matrix": xnp.asarray(a),
            "sparse": xc.sparse.from_dense(xnp.asarray(a)),
            "function": lambda x: xnp.asarray(a) @ x,
        }[form]
        x, info = solve(given, xnp.asarray(B), rtol=1e-12)
        guessed, _ = solve(xnp.asarray(A), xnp.asarray(B), xnp.asarray(B) * 1j, rtol=1e-12)
    assert info == 0
    np.testing.assert_allclose(x, np.linalg.solve(a, B), rtol=1e-10)
    np.testing.assert_allclose(guessed, np.linalg.solve(A, B), rtol=1e-10, atol=1e-10)


def test_a_matrix_of_more_digits():
    with xc.enable_x64(True):
        x, _ = iterative.cg(xnp.asarray(A), xnp.asarray(B, np.float32), rtol=1e-12)
    assert x.dtype == np.float64
    np.testing.assert_allclose(x, np.linalg.solve(A, B), rtol=1e-10)


def test_all_become_complex():
    d = xnp.full(3, 2.0)
    x = lax.linalg.tridiagonal_solve(xnp.zeros(3), d, xnp.zeros(3), xnp.full((3, 1), 2j))
    np.testing.assert_array_equal(x, np.full((3, 1), 1j))
    q = xnp.ones((1, 2, 1, 4))
    np.testing.assert_allclose(xc.nn.dot_product_attention(q, q, q * 1j), np.full((1, 2, 1, 4), 1j))
