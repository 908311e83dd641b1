"""Triangular solutions and incomplete factors are those of plain loops, traced, batched and differentiated."""

import numpy as np
import pytest
import scipy.sparse as sp

import xcore as xc
import xcore.numpy as xnp
from xcore import sparse
from xcore.sparse import Sparse
from xcore.sparse._incomplete import eliminated

rng = np.random.default_rng(0)


def line(n):
    return sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))


def grid(n):
    return sp.csr_array(sp.kronsum(line(n), line(n)))


def triangle(n, density, lower, unit, dtype="float64"):
    a = sp.random_array((n, n), density=density, rng=rng).toarray() if n else np.zeros((0, 0))
    a = (np.tril(a, -1) if lower else np.triu(a, 1)) / 4
    a = a * np.exp(1j * a) if dtype[0] == "c" else a
    return (a + (np.eye(n) if unit else np.diag(rng.uniform(1, 2, n)))).astype(dtype)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("unit", [True, False])
def test_triangular_solutions(lower, unit):
    for n, density, dtype in (
        (0, 0.1, "float64"),
        (1, 1.0, "float32"),
        (37, 0.1, "complex128"),
        (60, 0.9, "float64"),
    ):
        t = triangle(n, density, lower, unit, dtype)
        b = rng.normal(size=(n, 2)).astype(dtype)
        # what is not looked at: the other triangle, and the diagonal where it is 1
        other = t + (np.triu if lower else np.tril)(
            np.full((n, n), 7.0), 0 if unit else (1 if lower else -1)
        )
        x = sparse.solve_triangular(other.astype(dtype), b, lower=lower, unit_diagonal=unit)
        assert x.dtype == dtype
        eps = 100 * np.finfo(dtype).eps
        np.testing.assert_allclose(
            t @ np.asarray(x), b, rtol=eps, atol=eps * (1 + np.abs(x).max(initial=0))
        )
    column = sparse.solve_triangular(other, b[:, 0], lower=lower, unit_diagonal=unit)
    np.testing.assert_allclose(column, x[:, 0], rtol=1e-12)


def test_triangular_solutions_of_long_rows_and_long_chains():
    n = 300
    arrow = sp.lil_array(sp.eye_array(n) * 2.0)
    arrow[-1, :] = arrow[:, 0] = 0.5
    arrow[-1, -1] = 3.0
    for a in (arrow, sp.diags_array([np.ones(n), np.full(n - 1, -0.5)], offsets=[0, -1])):
        a = sp.csr_array(a)
        b = rng.normal(size=n)
        x = sparse.solve_triangular(a, b)
        np.testing.assert_allclose(a @ np.asarray(x), b, rtol=1e-12, atol=1e-13)


def test_triangular_derivatives_and_batches():
    t = triangle(12, 0.4, True, False)
    s = sparse.from_dense(t)
    p, b = s.pattern, rng.normal(size=(12, 2))
    with xc.enable_x64():

        def loss(v, b, dense):
            a = Sparse(v, p)
            x = xnp.linalg.solve(a.todense(), b) if dense else sparse.solve_triangular(a, b)
            return xnp.sin(x).sum()

        v, b = xnp.asarray(s.values), xnp.asarray(b)
        for f in (
            xc.grad(loss, (0, 1)),
            lambda v, b, d: xc.jvp(lambda v, b: loss(v, b, d), (v, b), (v**2, b)),
        ):
            for one, other in zip(f(v, b, False), f(v, b, True), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
        many = v * xnp.asarray([[1.0], [2.0]])
        batch = sparse.solve_triangular(Sparse(many, p), b)
        mapped = xc.jit(xc.vmap(lambda v: sparse.solve_triangular(Sparse(v, p), b)))(many)
        np.testing.assert_allclose(batch, mapped, rtol=1e-12)
        np.testing.assert_allclose(batch[1], batch[0] / 2, rtol=1e-12)


def plain(a):
    """Incomplete elimination in loops."""
    a, there = a.copy(), a != 0
    for i in range(len(a)):
        for k in np.flatnonzero(there[i, :i]):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= np.where(there[i, k + 1 :], a[i, k] * a[k, k + 1 :], 0)
    return a


@pytest.mark.parametrize("n, density", [(1, 1.0), (40, 0.1), (30, 1.0)])
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_factors_without_fill(n, density, dtype):
    a = (
        (sp.random_array((n, n), density=density, rng=rng) + n * sp.eye_array(n))
        .toarray()
        .astype(dtype)
    )
    f = sparse.factorise(sparse.from_dense(a), "ilu0")
    eps = 30 * np.finfo(dtype).eps
    np.testing.assert_allclose(f.factors.todense(), plain(a), rtol=eps, atol=eps)
    x = rng.normal(size=n).astype(dtype)
    whole = plain(a)
    exact = np.linalg.solve((np.tril(whole, -1) + np.eye(n)) @ np.triu(whole), x)
    np.testing.assert_allclose(f @ x, exact, rtol=20 * eps, atol=eps)
    np.testing.assert_allclose(x @ f.as_matrix(dtype), f.T @ x, rtol=50 * eps, atol=eps)
    if density == 1:
        np.testing.assert_allclose(a @ np.asarray(f @ x), x, rtol=100 * eps, atol=100 * eps)


def test_incomplete_factors_are_traced_in_batches():
    a = sparse.from_scipy(grid(6))
    with xc.enable_x64():
        many = xnp.asarray(a.values) * xnp.asarray([[1.0], [3.0]])
        found = xc.jit(
            xc.vmap(lambda v: sparse.factorise(Sparse(v, a.pattern), "ic0") @ xnp.ones(36))
        )(many)
        np.testing.assert_allclose(found[0], 3 * found[1], rtol=1e-12)


def test_preconditioners_save_steps():
    a = sparse.from_scipy(grid(24)).replace(symmetric=True, positive=True)
    b = rng.normal(size=576)
    steps = {}
    with xc.enable_x64():
        for name, m in {
            "none": None, "blocks": sparse.block_jacobi(a, 24), "inverse": sparse.approximate_inverse(a),
            "ic0": sparse.factorise(a, "ic0"), "ilut": sparse.factorise(a, "ilut", drop_tol=1e-3),
        }.items():  # fmt: skip
            found = xc.linalg.linear_solve(
                a, b, xc.linalg.CG(rtol=1e-9, flexible=True), preconditioner=m, report=True
            )
            assert found.ok and np.linalg.norm(
                b - a.to_scipy() @ np.asarray(found.value)
            ) <= 1e-9 * np.linalg.norm(b)
            steps[name] = int(found.steps)
        d = np.asarray(sparse.factorise(a, "ic0").as_matrix())
    assert (
        steps["ilut"] < steps["ic0"] / 2 and steps["ic0"] < steps["inverse"] < steps["none"] / 1.4
    )
    assert steps["blocks"] < steps["none"]
    assert np.abs(d - d.T).max() < 1e-12 and np.linalg.eigvalsh(d).min() > 0


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_approximate_inverses_are_the_best_of_their_places(scale):
    a = (sp.random_array((20, 20), density=0.15, rng=rng) + 3 * sp.eye_array(20)).toarray() * scale
    for power in (1, 2):
        m = np.asarray(sparse.approximate_inverse(sparse.from_dense(a), power).todense())
        where = np.linalg.matrix_power((a != 0).astype(int), power) > 0
        for j in range(20):
            exact = np.linalg.lstsq(a[:, where[:, j]] / scale, np.eye(20)[:, j])[0] / scale
            np.testing.assert_allclose(m[where[:, j], j], exact, rtol=1e-7, atol=1e-12 / scale)
        assert not m[~where].any()


KERSHAWS = np.array([[3.0, -2, 0, 2], [-2, 3, -2, 0], [0, -2, 3, -2], [2, 0, -2, 3]])


@pytest.mark.parametrize("scale", [1e-250, 1.0, -1.0, 1e250])
def test_pivots_that_vanish_are_those_of_the_matrix(scale):
    """Kershaw's matrix is positive definite, and has a pivot of -5 without fill."""
    plain_pivots = np.diag(plain(KERSHAWS))
    assert np.linalg.eigvalsh(KERSHAWS)[0] > 0 > plain_pivots[-1]
    a = sparse.from_dense(KERSHAWS * scale)
    np.testing.assert_allclose(sparse.factorise(a, "ilu0").pivots / scale, plain_pivots, rtol=1e-12)
    np.testing.assert_allclose(
        sparse.factorise(a, "ic0").pivots / scale, [*plain_pivots[:-1], 3], rtol=1e-12
    )
    # the second pivot vanishes; the third row has no elements, the fourth none on the diagonal
    b = np.array([[1.0, 2, 0, 0], [2, 4, 0, 3], [0, 0, 0, 0], [0, 0.5, 0, 0]]) * scale
    f = sparse.factorise(sparse.from_dense(b), "ilu0")
    np.testing.assert_allclose(f.pivots, [scale, 4 * scale, 1, -0.125 * 3 * scale], rtol=1e-12)
    assert np.isfinite(f @ xnp.ones(4)).all()


def test_factors_of_definite_matrices_precondition_conjugate_gradients():
    """Of a matrix whose rows have large elements of either sign: without fill pivots were negative."""
    rng = np.random.default_rng(0)
    g = sp.random_array(
        (65, 60), density=0.08, rng=rng, data_sampler=lambda size: rng.normal(size=size)
    )
    a = sp.csr_array(g.T @ g + 1e-3 * sp.eye_array(60))
    assert np.diag(plain(a.toarray())).min() < 0
    m = sparse.from_scipy(a).replace(symmetric=True, positive=True)
    f = sparse.factorise(m, "ic0")
    assert np.linalg.eigvalsh(f.as_matrix()).min() > 0
    b = rng.normal(size=60)
    solver = xc.linalg.CG(rtol=1e-8, max_steps=2000)
    found, alone = (
        xc.linalg.linear_solve(m, b, solver, preconditioner=p, report=True) for p in (f, None)
    )
    assert found.ok and found.steps < alone.steps
    assert np.linalg.norm(b - a @ np.asarray(found.value)) <= 2e-8 * np.linalg.norm(b)


@pytest.mark.parametrize("kind", ["ilu0", "ic0", "ilut"])
def test_factors_are_made_anew_of_other_values(kind):
    a = sparse.from_scipy(grid(5))
    f = sparse.factorise(a, kind)
    update = xc.jit(xc.vmap(lambda v: f.update(a.like(v)) @ xnp.ones(25)))
    found = update(a.values * xnp.asarray([[1.0], [4.0]]))
    np.testing.assert_allclose(found[0], f @ np.ones(25), rtol=1e-5)
    np.testing.assert_allclose(4 * found[1], found[0], rtol=1e-5)


def test_what_breaks_down_is_told():
    zero = sparse.from_dense(np.array([[0.0, 1.0], [1.0, 0.0]]))
    with pytest.raises(xc.errors.SingularMatrixError, match="block_jacobi: a block of 1 rows"):
        sparse.block_jacobi(zero, 1)
    with pytest.raises(xc.errors.SingularMatrixError, match="approximate_inverse: columns are 0"):
        sparse.approximate_inverse(sparse.from_dense(np.diag([1.0, 0.0])))
    with pytest.raises(ValueError, match="update"):
        xc.jit(lambda v: sparse.factorise(zero.like(v), "ilut") @ xnp.ones(2))(zero.values)
    with pytest.raises(ValueError, match="drop_tol must be 0 or more"):
        sparse.factorise(zero, "ilut", drop_tol=-1.0)
    empty = sparse.from_dense(np.diag([1.0, 0.0]))
    with pytest.raises(xc.errors.SolverError, match="is preconditioner"):
        xc.linalg.linear_solve(empty, xnp.ones(2), preconditioner=sparse.factorise(empty, "ilu"))
    with pytest.raises(xc.errors.SingularMatrixError, match="solve -a x = -b"):
        xc.linalg.linear_solve(-grid(5), xnp.ones(25), xc.linalg.CG())
    with pytest.raises(xc.errors.SingularMatrixError):
        a = sparse.coo_array(([1.0, 0.0], ([0, 1], [0, 1])), shape=(2, 2))
        sparse.solve_triangular(a, np.ones(2))
    with pytest.raises(ValueError, match="row 1"):
        sparse.solve_triangular(sparse.coo_array(([1.0], ([0], [0])), shape=(2, 2)), np.ones(2))
    with pytest.raises(ValueError, match="ilu0"):
        sparse.factorise(sparse.from_dense(np.array([[1.0, 1.0], [0.0, 1.0]])), "ic0")
    with pytest.raises(ValueError, match="divisor"):
        sparse.block_jacobi(zero, 3)
    with pytest.raises(ValueError, match="those of kind"):
        sparse.factorise(zero, "ilu0", drop_tol=1e-2)
    assert eliminated(sparse.eye_array(3).pattern, xnp.ones(3)).shape == (3,)
