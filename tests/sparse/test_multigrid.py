"""Multigrid: few cycles, whatever the matrix is of; true statuses; values, gradients and batches traced."""

import numpy as np
import pytest
import scipy.sparse as sp

import xcore as xc
import xcore.numpy as xnp
from xcore import sparse
from xcore.sparse import Sparse, _aggregation

rng = np.random.default_rng(0)


def line(n, first=2.0):
    a = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n)).tolil()
    a[0, 0] = a[-1, -1] = first
    return a.tocsr()


def grid(n, first=2.0, weight=1.0):
    return sp.csr_array(sp.kronsum(line(n, first), weight * line(n, first)))


def truss(n):
    """Bars between the neighbours of n by n nodes, one side held, with its three rigid motions."""
    x, y = (v.ravel().astype(float) for v in np.meshgrid(np.arange(n), np.arange(n)))
    number = np.arange(n * n).reshape(n, n)
    ends = [(number[:, 1:], number[:, :-1]), (number[1:], number[:-1]), (number[1:, 1:], number[:-1, :-1]),
            (number[1:, :-1], number[:-1, 1:])]  # fmt: skip
    i, j = (np.concatenate([e[k].ravel() for e in ends]) for k in (0, 1))
    along = np.stack([x[i] - x[j], y[i] - y[j]], 1)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    rows = np.repeat(np.arange(len(i)), 4)
    columns = np.stack([2 * i, 2 * i + 1, 2 * j, 2 * j + 1], 1).ravel()
    b = sp.csr_array((np.concatenate([along, -along], 1).ravel(), (rows, columns)))
    near = np.zeros((2 * n * n, 3))
    near[::2, 0] = near[1::2, 1] = 1
    near[::2, 2], near[1::2, 2] = -y, x
    free = np.repeat(x > 0, 2)
    return sp.csr_array((b.T @ b).tocsr()[free][:, free]), near[free]


def holds(a, x, b, rtol):
    return np.linalg.norm(b - a @ np.asarray(x)) <= rtol * np.linalg.norm(b)


PROBLEMS = {
    "five points": (grid(40), {}, 9),
    "one direction weak": (grid(40, weight=0.01), {"strength": 0.1}, 9),
    "bars": (truss(20)[0], {"near_nullspace": truss(20)[1], "block": 2}, 15),
    "floating": (grid(30, 1.0), {}, 10),
    "three axes": (sp.csr_array(sp.kronsum(grid(9), line(9))), {}, 9),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_few_cycles_and_true_statuses(name):
    a, how, most = PROBLEMS[name]
    b = rng.normal(size=a.shape[0])
    b = b - b.mean() if name == "floating" else b
    m = sparse.multigrid(sparse.from_scipy(a), max_coarse=60, **how)
    assert len(m.levels) > 1 and m.symmetric
    with xc.enable_x64():
        found = m.solve(b, rtol=1e-8, report=True, history=True)
    assert found.ok and found.steps <= most and holds(a, found.value, b, 1e-8)
    assert found.history.shape == (int(found.steps) + 1,)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("how", [{"cycle": "W"}, {"cycle": "K"}, {"smoother": "jacobi"}])
def test_other_cycles_at_other_scales(how, scale):
    a = grid(20) * scale
    m = sparse.multigrid(sparse.from_scipy(a), max_coarse=10, **how)
    b = rng.normal(size=400)
    found = m.solve(b, rtol=1e-9, report=True)
    assert found.ok and found.steps < 14 and holds(a, found.value, b, 1e-9)


def test_cycles_alone_converge_and_say_when_they_do_not():
    a = grid(20)
    b = rng.normal(size=400)
    m = sparse.multigrid(sparse.from_scipy(a), max_coarse=40)
    found = m.solve(b, accelerate=False, rtol=1e-8, report=True)
    assert found.ok and holds(a, found.value, b, 1e-8)
    short = m.solve(b, accelerate=False, rtol=1e-8, max_steps=2, report=True)
    assert short.status == xc.Status.max_steps
    negative = sparse.multigrid(sparse.from_scipy(a - 3 * sp.eye_array(400)), max_coarse=40)
    found = negative.solve(b, rtol=1e-8, max_steps=30, report=True)
    assert not found.ok or holds(a - 3 * sp.eye_array(400), found.value, b, 1e-8)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_the_cycle_is_hermitian_and_its_coarse_matrix_galerkins(dtype):
    a = grid(8).astype(dtype)
    if dtype == "complex128":  # a magnetic field
        turn = np.exp(1j * np.arange(64) ** 2)
        a = sp.csr_array(sp.diags_array(turn) @ a @ sp.diags_array(turn.conj()))
    m = sparse.multigrid(sparse.from_scipy(a), max_coarse=20)
    eps = 100 * np.finfo(dtype).eps
    d = np.asarray(m.as_matrix(dtype))
    assert d.dtype == dtype and np.abs(d - d.conj().T).max() < eps * np.abs(d).max()
    assert np.linalg.eigvalsh(d).min() > 0
    top, p = m.levels[0], np.asarray(m.levels[0].p.todense())
    coarse = p.conj().T @ a.toarray() @ p
    np.testing.assert_allclose(m.levels[1].a.todense(), coarse, atol=eps)
    assert top.top >= 0.99 * np.abs(np.linalg.eigvals(a.toarray() / a.diagonal()[:, None])).max()


def test_new_values_are_traced_with_gradients_and_batches():
    a = sparse.from_scipy(grid(9))
    x, p = rng.normal(size=81), a.pattern
    with xc.enable_x64():
        m = sparse.multigrid(a, max_coarse=20)
        v = a.values * xnp.asarray(rng.uniform(0.9, 1.1, p.nnz))
        v = (v + v[p.order]) / 2

        t = Sparse(m.tentative[0], m.hierarchy.down[0]).todense()
        weight = xnp.asarray(rng.normal(size=m.levels[1].a.shape))

        def coarse(v):
            return (m.update(Sparse(v, p)).levels[1].a.todense() * weight).sum()

        def dense(v, top):  # the estimate of the largest eigenvalue is held fixed by derivatives
            a = Sparse(v, p).todense()
            q = t - 1.4 / top * (a @ t) / xnp.diagonal(a)[:, None]
            return (q.T @ a @ q * weight).sum()

        top = m.update(Sparse(v, p)).levels[0].top
        for mine, other in zip(
            xc.jit(xc.value_and_grad(coarse))(v), xc.value_and_grad(dense)(v, top), strict=True
        ):
            np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-11)

        def solution(v, b):
            return m.update(Sparse(v, p)).solve(b, rtol=1e-12)

        many = xnp.stack([v, 2 * v, v * 0.5])
        found, back = xc.jit(
            xc.vmap(lambda v: xc.value_and_grad(lambda v: solution(v, x).sum())(v))
        )(many)
        for k in range(3):
            dense = np.linalg.inv(np.asarray(Sparse(many[k], p).todense()))
            np.testing.assert_allclose(found[k], (dense @ x).sum(), rtol=1e-9)
            exact = -np.outer(dense.T @ np.ones(81), dense @ x)[p.rows, p.columns]
            np.testing.assert_allclose(back[k], exact, rtol=1e-7, atol=1e-9)


def test_matrices_without_symmetry():
    skew = sp.diags_array([-1.5, 2.0, -0.5], offsets=[-1, 0, 1], shape=(18, 18))
    a = sp.csr_array(sp.kronsum(skew, line(18)))
    b = rng.normal(size=324)
    with xc.enable_x64():
        m = sparse.multigrid(sparse.from_scipy(a), max_coarse=40)
        assert not m.symmetric
        found = m.solve(b, rtol=1e-9, report=True)
        assert found.ok and holds(a, found.value, b, 1e-9)
        back = xc.grad(lambda b: m.solve(b, rtol=1e-11).sum())(xnp.asarray(b))
    np.testing.assert_allclose(back, np.linalg.solve(a.toarray().T, np.ones(324)), rtol=1e-7)
    with pytest.raises(ValueError, match="symmetric"):
        sparse.multigrid(sparse.from_scipy(a), cycle="K")


def test_what_has_no_neighbours():
    for a in (np.zeros((0, 0)), np.full((1, 1), 4.0), np.diag(np.arange(1.0, 400))):
        m = sparse.multigrid(a, max_coarse=20)
        b = np.ones(len(a))
        found = m.solve(b, report=True)
        assert np.all(found.ok)
        np.testing.assert_allclose(a @ np.asarray(found.value), b, rtol=1e-4)


def test_arguments():
    a = sparse.from_scipy(grid(5))
    with pytest.raises(ValueError, match="cycle"):
        sparse.multigrid(a, cycle="F")
    with pytest.raises(ValueError, match="square"):
        sparse.multigrid(a[:3])
    with pytest.raises(ValueError, match="divisor"):
        sparse.multigrid(a, block=3)
    with pytest.raises(ValueError, match="vectors"):
        sparse.multigrid(a, near_nullspace=np.ones(3))
    with pytest.raises(ValueError, match="near_nullspace must be finite"):
        sparse.multigrid(a, near_nullspace=np.full(a.shape[0], np.inf))
    with pytest.raises(ValueError, match="finite"):
        sparse.multigrid(a * np.nan)
    with pytest.raises(ValueError, match="update"):
        xc.jit(sparse.multigrid)(a)
    with pytest.raises(ValueError, match="pattern"):
        sparse.multigrid(a).update(a[:4, :4])


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("kind", ["aggregation", "classical"])
@pytest.mark.parametrize("scale", [1.0, 1e-30])
def test_first_levels_are_those_of_an_update(kind, dtype, scale):
    with xc.enable_x64():
        line = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(24, 24))
        a = sparse.kronsum(line, 0.3 * line).astype(dtype)
        if dtype == "complex128":  # Hermitian
            turn = np.exp(1j * np.arange(576))
            a = a * (turn[:, None] * turn.conj())
        m = sparse.multigrid(a * scale, kind=kind, max_coarse=40)
        again = m.update(a * scale)
        assert len(m.levels) > 2
        assert xc.tree.structure(m) == xc.tree.structure(again)
        for x, y in zip(xc.tree.leaves(m), xc.tree.leaves(again), strict=True):
            assert xc.typeof(x) == xc.typeof(y)
            size = np.abs(y).max(initial=0)
            np.testing.assert_allclose(x, y, atol=float(2e3 * xnp.finfo(dtype).eps * size), rtol=0)


def test_places_stay_where_sums_cancel():
    """Elements that are 0 for the first values and not for others have their places."""
    p = sparse.Pattern([0, 0, 1, 1], [0, 1, 0, 1], (2, 2))
    q, v = _aggregation._product(p, np.array([1.0, 1, 0, 1]), p, np.array([1.0, 0, -1, 1]))
    np.testing.assert_array_equal(sparse.Sparse(v, q).todense(), [[0, 1], [-1, 1]])
    assert q.nnz == 4
