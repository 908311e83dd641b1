"""What accelerators do without Schur forms, on a CPU: against SciPy, which has them."""

import numpy as np
import pytest
import scipy.linalg

import xcore as xc
import xcore.numpy as xnp
from xcore._control.platforms import by_platform
from xcore.linalg import _functions, _sylvester, _without_forms
from xcore.testing import check_grads

DTYPES = ("float32", "float64", "complex64", "complex128")
SCALES = (1.0, 1e15, 1e-15)
rng = np.random.default_rng(0)


def draw(dtype, *shape):
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if "complex" in dtype else x).astype(dtype)


def eps_of(x):
    return np.finfo(np.asarray(x).dtype).eps


def apart(a, b):
    """The smallest singular value of x ↦ a x + x b."""
    m, n = len(a), len(b)
    whole = np.kron(a, np.eye(n)) + np.kron(np.eye(m), b.T)
    return np.linalg.svd(whole.astype(complex), compute_uv=False)[-1]


def check_sylvester(xs, bad, a, b, c):
    wide = "complex128"
    for x, at, bt, ct in zip(np.asarray(xs), a, b, c, strict=True):
        left = at.astype(wide) @ x + x @ bt.astype(wide) - ct
        size = np.linalg.norm(at) + np.linalg.norm(bt)
        assert np.linalg.norm(left) <= sum(x.shape) * eps_of(x) * size * np.linalg.norm(x)
        if x.size < 100:
            want = scipy.linalg.solve_sylvester(at.astype(wide), bt.astype(wide), ct.astype(wide))
            most = 4 * sum(x.shape) * eps_of(x) * size / apart(at / size, bt / size) / size
            assert np.linalg.norm(x - want) <= max(most, eps_of(x)) * np.linalg.norm(want)
    assert not np.asarray(bad).any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_sylvester_as_one_system(dtype):
    """Eigenvalues lie anywhere; one matrix of each batch is far from normal."""
    a, b, c = draw(dtype, 4, 5, 5), draw(dtype, 4, 3, 3), draw(dtype, 4, 5, 3)
    a[3] = np.triu(a[3], 1) * 10 + np.diag(np.arange(1.0, 6))
    for i, scale in enumerate(SCALES):
        a[i], b[i] = a[i] * scale, b[i] * scale
    x, bad = xc.jit(_without_forms.sylvester)(a, b, c)
    assert x.dtype == dtype
    check_sylvester(x, bad, a, b, c)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_sylvester_as_a_sum(dtype):
    """Of eigenvalues right, left, right of a line that is not the axis, and over five decades."""
    a, b = (draw(dtype, 4, n, n) / n**0.5 + 2 * np.eye(n) for n in (36, 30))
    a[1], b[1] = -a[1] * 1e15, -b[1] * 1e15
    a[2], b[2] = a[2] + 9 * np.eye(36), b[2] - 9 * np.eye(30)
    q = [np.linalg.qr(draw(dtype, n, n))[0] for n in (36, 30)]
    a[3], b[3] = (u @ np.diag(np.logspace(-5, 0, len(u))) @ u.conj().T for u in q)
    a, b, c = a.astype(dtype), b.astype(dtype), draw(dtype, 4, 36, 30)
    x, bad = xc.jit(_without_forms.sylvester)(a, b, c)
    check_sylvester(x[:3], bad[:3], a[:3], b[:3], c[:3])
    if dtype == "complex128":
        check_sylvester(x[3:], bad[3:], a[3:], b[3:], c[3:])


def test_no_solution_is_seen():
    """Eigenvalues of a and -b that meet; and large matrices that no line parts."""
    one = np.array([[1.0, 2], [0, 3]])
    for a, b in ((one, -one.T), (0 * one, 0 * one), (one, np.array([[-3.0, 5], [0, 8]]))):
        x, bad = _without_forms.sylvester(xnp.asarray(a), xnp.asarray(b), xnp.asarray(one))
        assert bad and np.isnan(x).all()
    wide = draw("float64", 36, 36)
    x, bad = xc.jit(_without_forms.sylvester)(wide, wide[:30, :30], draw("float64", 36, 30))
    assert bad and np.isnan(x).all()
    x, bad = xc.jit(_without_forms.sylvester)(
        wide - wide.T, wide[:30, :30] - wide[:30, :30].T, wide[:, :30]
    )
    assert bad and np.isnan(x).all()


def kinds_of_roots(dtype):
    """(matrices, their roots): near 1, of eigenvalues over decades, far from normal, of several scales."""
    real = {"complex64": "float32", "complex128": "float64"}[dtype]
    decades = 4 if dtype == "complex64" else 9
    roots = [np.eye(6) * 2 + draw(dtype, 6, 6) / 6]
    v = np.eye(6) + draw(dtype, 6, 6) / 9
    roots.append(v @ np.diag(np.logspace(-decades / 2, 0, 6)) @ np.linalg.inv(v))
    roots.append(np.triu(draw(dtype, 6, 6), 1) * 10 + np.eye(6))
    roots += [roots[0] * s for s in (1e14, 1e-14)]
    roots = np.asarray(roots, "complex128")
    return (roots @ roots).astype(dtype), roots, np.finfo(real).eps


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_roots(dtype):
    a, roots, eps = kinds_of_roots(dtype)
    x, bad = xc.jit(_without_forms.square_root)(a)
    assert x.dtype == dtype and not np.asarray(bad).any()
    for y, at, root in zip(np.asarray(x).astype("complex128"), a, roots, strict=True):
        size = np.linalg.norm(y)
        assert np.linalg.norm(y @ y - at) <= 6 * eps * size**2
        off = 20 * 6 * eps * size**2 / apart(root / size, root / size) / size**2
        assert np.linalg.norm(y - root) <= off * size
        assert np.linalg.eigvals(y).real.min() > 0


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_roots_of_hermitian_matrices(dtype):
    """Of any signs: eigenvalues below 0 have roots on the positive imaginary axis; zeros are none."""
    q = np.linalg.qr(draw("complex128", 5, 5))[0]
    for w in ([4.0, 1, 9, 16, 25], [-4.0, 1, -9, 16, 0], [0.0, 0, 0, 0, 0]):
        a = (q * w) @ q.conj().T
        a = ((a + a.conj().T) / 2).astype(dtype)
        x, bad = xc.jit(_without_forms.square_root)(a)
        want = (q * np.sqrt(np.asarray(w, complex))) @ q.conj().T
        near = np.finfo(dtype).eps ** (0.4 if 0 in w else 0.9)
        assert not bad and np.allclose(x, want, atol=20 * near)


def test_roots_that_are_not_found():
    a = np.array([[[0, 1], [0, 0]], [[-1, 3], [0, -2]], [[2, 1], [0, 3]]], "complex128")
    x, bad = xc.jit(_without_forms.square_root)(a)
    assert np.asarray(bad).tolist() == [True, True, False]
    assert np.isnan(x[:2]).all() and np.allclose(x[2] @ x[2], a[2])


# As users get it on a GPU and a TPU: with LAPACK behind it, and without


@pytest.fixture(params=["cuda", "tpu"])
def elsewhere(request, monkeypatch):
    """Functions as they are on another platform."""
    name, p = request.param, _sylvester
    gpu, types = name == "cuda", p._of_reduced.type
    reduced = by_platform(
        f"reduced {name}", lambda a: [a.strong(), a.strong()], lambda a: (a, p.identity_like(a))
    )
    solution = by_platform(
        f"solution {name}", types, p._or_on_the_host if gpu else p._of_matrices,
    )  # fmt: skip
    way = _functions._root_or_on_the_host if gpu else lambda a: _without_forms.square_root(a)[:1]
    root = by_platform(f"root {name}", lambda a: [a.strong()], way)
    monkeypatch.setattr(p, "_reduced", reduced)
    monkeypatch.setattr(p, "_of_reduced", solution)
    monkeypatch.setattr(_functions, "_principal_root", root)
    yield name
    for op in (reduced, solution, root):
        del xc._core.op.registry[op.name]


def test_derivatives_batches_and_what_is_empty(elsewhere):
    a, b, c = draw("float64", 2, 3, 3), draw("float64", 2, 2, 2), draw("float64", 2, 3, 2)
    solve = lambda a, b, c: _sylvester._where_it_runs(a, b, c)[0]
    root = lambda a: xnp.real(_functions._sqrtm(a.astype("complex128")))
    found = xc.jit(xc.vmap(solve))(a, b, c)
    for x, *given in zip(np.asarray(found), a, b, c, strict=True):
        assert np.allclose(x, scipy.linalg.solve_sylvester(*given))
    near = [x / 9 + np.eye(x.shape[-1]) for x in (a, b)]
    check_grads(solve, (*near, c), order=1)
    check_grads(root, (a[0] / 4 + 2 * np.eye(3),), order=1)
    nothing = xnp.zeros((2, 0, 0), "complex64")
    assert _functions._sqrtm(nothing).shape == (2, 0, 0)


def test_what_is_not_found_is_left_to_the_host_of_a_gpu(elsewhere):
    a = np.array([[[-1, 3], [0, -2]], [[2, 1], [0, 3]]], "complex128")
    x = xc.jit(lambda a: _functions._sqrtm(a))(a)
    assert np.allclose(x[1], scipy.linalg.sqrtm(a[1]))
    assert np.allclose(x[0] @ x[0], a[0]) if elsewhere == "cuda" else np.isnan(x[0]).all()
    turn = draw("float64", 36, 36)
    a, b, c = turn, turn[:30, :30] + np.eye(30), draw("float64", 36, 30)
    x, pivot = xc.jit(lambda *xs: _sylvester._where_it_runs(*xs))(a, b, c)
    if elsewhere == "tpu":
        assert pivot == 0 and np.isnan(x).all()
    else:
        want = scipy.linalg.solve_sylvester(a, b, c)
        assert pivot == -1 and np.allclose(x, want, rtol=1e-7, atol=1e-7 * abs(want).max())
