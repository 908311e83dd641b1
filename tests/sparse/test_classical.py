"""Classical multigrid: weights are those of the formula, steps are PyAMG's, statuses true, values traced."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.spatial

import xcore as xc
import xcore.numpy as xnp
from tests.sparse.test_multigrid import grid, holds, line
from xcore import sparse
from xcore.linalg import GMRES, linear_solve
from xcore.sparse import Sparse
from xcore.sparse import _classical as classical
from xcore.sparse._splitting import coarse_unknowns

rng = np.random.default_rng(0)


def random(n, kind, seed):
    """Diagonals that are not smaller than the sums of rows; some rows without neighbours, or without a diagonal."""
    rng = np.random.default_rng(seed)
    a = sp.random_array((n, n), density=0.15, rng=rng).toarray()
    a = -np.where(rng.random((n, n)) < 0.15, -0.5, 1) * (a + a.T) / 2
    if kind == "skew":
        a = a * (rng.random((n, n)) < 0.7)
    if kind == "complex":
        a = a * np.exp(0.3j * rng.normal(size=(n, n)))
        a = (a + a.conj().T) / 2
    a[3], a[:, 3] = 0, 0
    a = a - np.diag(a.diagonal()) + np.diag(np.abs(a).sum(1) + 0.1)
    if kind == "skew":
        a[5, 5] = 0
    return sp.csr_array(-a if kind == "negative" else a)


def reference(a, strength, most):
    """The prolongator, element by element, of the splitting that was chosen."""
    n = len(a)
    d = a.diagonal()
    sign = np.where(d == 0, 0, d / np.where(d == 0, 1, np.abs(d)))
    against = -np.real(a * sign.conj()[:, None])
    np.fill_diagonal(against, 0)
    top = np.maximum(against, 0).max(1)
    strong = [
        [j for j in range(n) if against[i, j] > 0 and against[i, j] >= strength * top[i]]
        for i in range(n)
    ]
    places = np.array([(i, j) for i in range(n) for j in strong[i]]).reshape(-1, 2)
    pattern = sparse.Pattern(*places.T, a.shape)
    coarse = coarse_unknowns(pattern)
    p = np.zeros_like(a)
    bar = np.where(against < 0, 0, a) * (1 - np.eye(n)) * (against > 0)
    for i in range(n):
        if coarse[i]:
            p[i, i] = 1
            continue
        fine = [k for k in strong[i] if not coarse[k]]
        reach = {j for k in [i, *fine] for j in strong[k] if coarse[j]}
        w = {j: a[i, j] for j in reach}
        diagonal = d[i] + sum(
            a[i, j] for j in range(n) if j != i and j not in reach and j not in fine
        )
        for k in fine:
            b = sum(bar[k, m] for m in reach | {i})
            if b == 0:
                diagonal += a[i, k]
                continue
            diagonal += a[i, k] * bar[k, i] / b
            for j in reach:
                w[j] += a[i, k] * bar[k, j] / b
        w = {j: -v / diagonal if diagonal else 0.0 for j, v in w.items()}
        kept = sorted(w, key=lambda j: -abs(w[j]))
        if len(kept) > most:  # what is alike stays together, as long as something stays
            larger = [j for j in kept if abs(w[j]) > (1 + 1e-9) * abs(w[kept[most]])]
            kept = larger or kept[:most]
        whole = sum(w[j] for j in kept)
        for j in kept:
            p[i, j] = w[j] * (sum(w.values()) / whole if len(kept) < len(w) else 1)
    return p[:, coarse]


@pytest.mark.parametrize("most", [2, 50])
@pytest.mark.parametrize("kind", ["plain", "negative", "skew", "complex"])
def test_weights_are_those_of_the_formula(kind, most):
    for seed in range(6):
        a = random(25, kind, seed)
        m = sparse.from_scipy(a)
        found = classical.split(
            m.pattern, np.asarray(m.values), strength=0.25, most=most, max_coarse=5, max_levels=2
        )
        (made,) = found[0].splits
        for weights in (classical._known_weights, classical._weights):
            how = (np, classical._total) if weights is classical._weights else ()
            w = weights(made, m.pattern, np.asarray(m.values), *how)
            w = classical._prolonged(made, w, np, classical._total)
            p = Sparse(xnp.asarray(w), made.down).todense()
            np.testing.assert_allclose(p, reference(a.toarray(), 0.25, most), rtol=1e-9, atol=1e-12)


def test_traced_weights_are_those_of_the_host():
    a = random(25, "complex", 0)
    m = sparse.multigrid(sparse.from_scipy(a), kind="classical", max_coarse=15)
    assert len(m.levels) > 1
    np.testing.assert_allclose(m.levels[0].p.todense(), reference(a.toarray(), 0.25, 5), rtol=1e-9)


def strong_of(m):
    return m.pattern.chosen(classical._is_strong(m.pattern, np.asarray(m.values), 0.25))[0]


def test_fine_unknowns_have_coarse_ones_to_depend_on():
    for a in (grid(30), grid(30, weight=1e-3), triangles(500)):
        m = sparse.from_scipy(a)
        strong = strong_of(m)
        coarse = coarse_unknowns(strong)
        of = sp.csr_array((np.ones(strong.nnz), strong.indices, strong.indptr), shape=strong.shape)
        assert np.all((of @ coarse > 0) | coarse) and coarse.mean() < 0.55


def graphs():
    """Strong neighbours of chains, stars, rings and random graphs, some of which go one way."""
    rng = np.random.default_rng(0)
    for density in (0.002, 0.02, 0.2):
        a = sp.random_array((300, 300), density=density, rng=rng)
        yield from (a, a + a.T)
    hub = np.zeros(400, int)
    for i, j in ((np.arange(3000), np.arange(3000) + 1), (hub, np.arange(400))):
        a = sp.coo_array((np.ones(len(i)), (i, j)), shape=(3001, 3001))
        yield from (a, a.T, a + a.T)


def test_no_two_neighbours_are_coarse_and_none_is_without():
    for a in graphs():
        a = sp.csr_array(a)
        a.setdiag(0)
        a.eliminate_zeros()
        strong = sparse.Pattern(*a.nonzero(), a.shape)
        coarse = coarse_unknowns(strong)
        of = sp.csr_array((np.ones(strong.nnz), strong.indices, strong.indptr), shape=strong.shape)
        wanted = of.T @ ~coarse > 0  # by fine ones
        assert np.all((of @ coarse > 0) | coarse | ~wanted)
        if strong.is_symmetric:
            assert not np.any((of @ coarse > 0) & coarse)


def test_regular_grids_stay_regular():
    """Every second unknown of five points, every fourth of nine."""
    for a, share in ((grid(40), 2), (turned(41, 1.0, 0.0), 4)):
        m = sparse.from_scipy(a)
        coarse = coarse_unknowns(strong_of(m))
        n = int(len(coarse) ** 0.5)
        i, j = np.nonzero(coarse.reshape(n, n))
        same = (i + j) % 2 if share == 2 else 2 * (i % 2) + j % 2
        assert len(set(same)) == 1 and abs(share * coarse.mean() - 1) < 0.06


# Steps


def triangles(n):
    """Linear elements on triangles between random points."""
    points = np.random.default_rng(0).random((n, 2))
    t = scipy.spatial.Delaunay(points).simplices
    p = points[t]
    e = np.stack([p[:, 2] - p[:, 1], p[:, 0] - p[:, 2], p[:, 1] - p[:, 0]], 1)
    area = 2 * np.abs(e[:, 0, 0] * e[:, 1, 1] - e[:, 0, 1] * e[:, 1, 0])
    k = np.einsum("tid,tjd->tij", e, e) / area[:, None, None]
    a = sp.csr_array((k.ravel(), (np.repeat(t, 3, 1).ravel(), np.tile(t, (1, 3)).ravel())))
    free = np.setdiff1d(np.arange(n), scipy.spatial.ConvexHull(points).vertices)
    return sp.csr_array(a[free][:, free])


def turned(n, weak, angle):
    """Bilinear elements for diffusion that is weak across a direction."""
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s], [s, c]])
    d = turn @ np.diag([1, weak]) @ turn.T
    mass, slope, mixed = (
        sp.diags_array(v, offsets=[-1, 0, 1], shape=(n, n))
        for v in ([1 / 6, 4 / 6, 1 / 6], [-1.0, 2.0, -1.0], [-0.5, 0.0, 0.5])
    )
    a = (
        d[0, 0] * sp.kron(mass, slope)
        + d[1, 1] * sp.kron(slope, mass)
        - 2 * d[0, 1] * sp.kron(mixed, mixed)
    )
    return sp.csr_array(a)


def jumps(n):
    """Five points with coefficients from 1e-4 to 1e4 in squares."""
    k = np.kron(10.0 ** np.random.default_rng(0).integers(-4, 5, (n // 4, n // 4)), np.ones((4, 4)))
    number, a = np.arange(n * n).reshape(n, n), sp.dok_array((n * n, n * n))
    for one, other in ((np.s_[1:], np.s_[:-1]), (np.s_[:, 1:], np.s_[:, :-1])):
        w = 2 / (1 / k[one] + 1 / k[other])
        for i, j, v in zip(number[one].flat, number[other].flat, w.flat, strict=True):
            a[i, j] = a[j, i] = -v
    a.setdiag(np.asarray(-a.sum(1)).ravel() + 2 * np.where(number % n == 0, k, 0).ravel())
    return sp.csr_array(a)


PROBLEMS: dict[str, Any] = {
    "five points": grid(30), "three axes": sp.csr_array(sp.kronsum(grid(9), line(9))),
    "weak along an axis": grid(30, weight=1e-3), "weak across 30 degrees": turned(30, 1e-3, np.pi / 6),
    "triangles": triangles(900), "jumps": jumps(32),
}  # fmt: skip


@pytest.mark.parametrize("name", PROBLEMS)
def test_as_few_steps_as_pyamg(name):
    pyamg = pytest.importorskip("pyamg")
    a, b, theirs = PROBLEMS[name], rng.normal(size=PROBLEMS[name].shape[0]), []
    old = pyamg.ruge_stuben_solver(sp.csr_matrix(a), max_coarse=100)
    old.solve(b, tol=1e-8, accel="cg", residuals=theirs)
    m = sparse.multigrid(sparse.from_scipy(a), kind="classical", max_coarse=100)
    assert m.symmetric and len(m.levels) > 2
    found = m.solve(b, rtol=1e-8, report=True)
    assert found.ok and holds(a, found.value, b, 1e-8)
    assert found.steps <= len(theirs) - 1 + 1


def test_steps_with_flows_are_those_of_pyamg():
    pyamg = pytest.importorskip("pyamg")
    up = sp.diags_array([-1.0, 1.0], offsets=[-1, 0], shape=(30, 30))
    a = sp.csr_array(sp.kronsum(line(30) + 3 * up, line(30) + 2 * up))
    b, theirs = rng.normal(size=900), []
    pyamg.ruge_stuben_solver(sp.csr_matrix(a), max_coarse=100).solve(
        b, tol=1e-8, accel="gmres", residuals=theirs
    )
    m = sparse.multigrid(sparse.from_scipy(a), kind="classical", max_coarse=100)
    assert not m.symmetric and m.smoother == "jacobi"
    few = GMRES(restart=len(theirs) + 1, max_steps=1, rtol=1e-8)
    found = linear_solve(sparse.from_scipy(a), b, few, preconditioner=m, report=True)
    assert found.ok and holds(a, found.value, b, 1e-8)


@pytest.mark.parametrize("scale, dtype", [(1e-150, "float64"), (1e150, "float64"), (1e-30, "float32"), (1e30, "float32")])  # fmt: skip
def test_units_change_nothing(scale, dtype):
    a = (grid(20) * scale).astype(dtype)
    m = sparse.multigrid(sparse.from_scipy(a), kind="classical", max_coarse=60)
    b = rng.normal(size=400).astype(dtype)
    found = m.solve(b, rtol=1e-5, report=True)
    assert found.ok and found.steps < 8 and holds(a.astype("float64"), found.value, b, 2e-5)


def test_new_values_are_traced_with_gradients_and_batches():
    a = sparse.from_scipy(grid(8))
    p = a.pattern
    with xc.enable_x64():
        m = sparse.multigrid(a, kind="classical", max_coarse=20)
        v = a.values * xnp.asarray(rng.uniform(0.9, 1.1, p.nnz))
        v = (v + v[p.order]) / 2
        weight, along = rng.normal(size=m.levels[1].a.shape), xnp.asarray(rng.normal(size=p.nnz))

        @xc.jit
        @xc.vmap
        def coarse(v):
            f = lambda v: (m.update(Sparse(v, p)).levels[1].a.todense() * weight).sum()
            return f(v), xc.grad(f)(v)

        step = 1e-5
        values, slopes = coarse(xnp.stack([v, v + step * along, v - step * along]))
        prolongator = reference(np.asarray(Sparse(v, p).todense()), 0.25, 5)
        dense = prolongator.T @ np.asarray(Sparse(v, p).todense()) @ prolongator
        np.testing.assert_allclose(values[0], (dense * weight).sum(), rtol=1e-10)
        np.testing.assert_allclose(
            slopes[0] @ along, (values[1] - values[2]) / (2 * step), rtol=1e-6
        )


def test_derivatives_of_solutions():
    a = sparse.from_scipy(grid(8))
    p, x = a.pattern, rng.normal(size=64)
    with xc.enable_x64():
        m = sparse.multigrid(a, kind="classical", max_coarse=20)
        solution = lambda v: m.update(Sparse(v, p)).solve(x, rtol=1e-12).sum()
        back = xc.jit(xc.grad(solution))(a.values)
    inverse = np.linalg.inv(a.to_scipy().toarray())
    exact = -np.outer(inverse @ np.ones(64), inverse @ x)[p.rows, p.columns]
    np.testing.assert_allclose(back, exact, rtol=1e-7, atol=1e-9)


def test_what_has_nothing_to_coarsen():
    pairs = sp.csr_array(sp.block_diag([[[2.0, 1.0], [1.0, 2.0]]] * 150))  # of the diagonal's sign
    several: list[Any] = [
        np.zeros((0, 0)),
        np.full((1, 1), 4.0),
        np.diag(np.arange(1.0, 300)),
        pairs,
    ]
    for a in several:
        m = sparse.multigrid(a, kind="classical", max_coarse=20)
        b = np.ones(a.shape[0])
        found = m.solve(b, report=True)
        assert np.all(found.ok) and len(m.levels) == 1
        np.testing.assert_allclose(a @ np.asarray(found.value), b, rtol=1e-4)


def test_what_is_not_for_it_is_told_apart():
    """Couplings of the diagonal's sign, or none where values are 0: slow or not, no status is false."""
    for a in (abs(grid(14)), grid(14) - 3 * sp.eye_array(196), grid(14) * 0):
        m = sparse.multigrid(sparse.from_scipy(sp.csr_array(a)), kind="classical", max_coarse=20)
        b = rng.normal(size=196)
        found = m.solve(b, rtol=1e-8, max_steps=40, report=True)
        assert not found.ok or holds(a, found.value, b, 1e-8)


def test_arguments():
    a = sparse.from_scipy(grid(5))
    for how, match in (
        ({"kind": "rs"}, "kind"), ({"block": 5}, "block"), ({"near_nullspace": np.ones(25)}, "near_nullspace"),
        ({"strength": 1.5}, "at most 1"), ({"strength": -1.0}, "strength"), ({"smoother": "gs"}, "smoother"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=match):
            sparse.multigrid(a, **{"kind": "classical", **how})
