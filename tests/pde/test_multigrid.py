"""Convergence factors of multigrid cycles, whatever the operator, whatever the size of the grid."""

import numpy as np
import pytest
import scipy.sparse.linalg

import xcore as xc
import xcore.numpy as xnp
from xcore.pde import (
    Diffusion,
    Dirichlet,
    Grid,
    Masked,
    Neumann,
    Periodic,
    Robin,
    _multigrid,
    solve,
)

D, N, R, P = Dirichlet(), Neumann(), Robin(1.0, 2.0), Periodic()


def inclusion(x, y, *z):
    found = (x > 0.3) & (x < 0.7) & (y > 0.25) & (y < 0.6)
    return found & (z[0] > 0.4) if z else found


def where(test, yes, no=1.0):
    """A coefficient that jumps."""
    return lambda *x: xnp.where(test(*x), yes, no)


checkered = lambda x, y: (xnp.floor(4 * x) + xnp.floor(4 * y)) % 2 > 0
slanted = lambda x, y: x + 0.5 * y < 0.7
left = lambda x, y: x < 0.5
wavy = lambda x, y: 1 + 0.5 * xnp.sin(3 * x) * xnp.cos(2 * y)
nowhere = lambda x, y: 0 * x  # as an array: programs of operators alike are shared
ellipse = lambda x, y: x**2 + (y / 0.8) ** 2 < 0.81
lshape = lambda x, y: (x < 0) | (y > 0)


def flat(a, bc=D, c=0.0):
    return lambda n: Diffusion(Grid((n, n)), a, bc, c)


def solid(a):
    return lambda n: Diffusion(Grid((n // 4,) * 3), a)


def masked(inside):
    return lambda n: Masked(Grid((n, n), -1.0, 1.0), inside, edge="symmetric")


OPERATORS = {
    "constant": flat(1.0),
    "smooth": flat(wavy, c=nowhere),
    "inclusion of 1000": flat(where(inclusion, 1e3), c=nowhere),
    "inclusion of 1/1000": flat(where(inclusion, 1e-3), c=nowhere),
    "checkered, 1000": flat(where(checkered, 1e3), c=nowhere),
    "slanted jump of 1000": flat(where(slanted, 1e3), c=nowhere),
    "jump with damping": flat(where(inclusion, 1e3), c=where(left, 1e3, 0.0)),
    "Dirichlet, Neumann, ring": flat(1.0, [(D, N), P]),
    "jump, Neumann all around": flat(where(inclusion, 1e3), N),
    "jump, ring, Robin, Neumann": flat(where(inclusion, 1e3), [P, (R, N)]),
    "anisotropy of 1000": flat((1.0, 1e3)),
    "anisotropy that turns": flat((where(left, 1e3), where(left, 1.0, 1e3))),
    "smooth, odd rings": lambda n: Diffusion(Grid((n + 1, n - 1)), wavy, P),
    "jump, odd ring": lambda n: Diffusion(Grid((n + 1, n)), where(inclusion, 1e3), [P, (D, N)]),
    "odd rings of constants": lambda n: Diffusion(Grid((n - 1, n + 1)), 1.0, P),
    "L": masked(lshape),
    "ellipse": masked(ellipse),
    "cube": solid(1.0),
    "jump in a cube": solid(where(inclusion, 1e3)),
}


@xc.jit(static_argnums=1)
def energies(op, smoother):
    """Of the errors that cycles leave, one after the other, from an irregular one."""
    level = _multigrid.hierarchy(op)
    e = xnp.asarray(np.random.default_rng(0).standard_normal(level.shape))
    e = xnp.where(op.inside, e, 0) if isinstance(op, Masked) else e

    def step(e, _):
        e = e - xnp.mean(e) if op.singular else e
        r = level(e)
        # not compiled on its own: that would be done for each level once more
        return e - _multigrid._cycle(level, r, "V", smoother, 3), xnp.sum(e * r)

    return xc.lax.scan(step, e, None, length=14)[1]


@pytest.mark.parametrize("name", OPERATORS)
def test_convergence_factors(name, monkeypatch):
    """In the norm of energy, over the last seven of fourteen cycles: at most 0.15."""
    monkeypatch.setattr(_multigrid, "cycle", _multigrid._cycle)
    smoother = "lines" if "anisotropy" in name else "chebyshev"
    with xc.enable_x64():
        for n in (32, 64):
            energy = np.asarray(energies(OPERATORS[name](n), smoother))
            factor = (energy[-1] / energy[-8]) ** (0.5 / 7)
            assert 1e-4 < factor <= 0.15, (n, factor)


@pytest.mark.parametrize("method, bc", [("multigrid", D), ("cg", N)])
def test_solutions_where_coefficients_jump(method, bc):
    with xc.enable_x64():
        op = Diffusion(Grid((48, 40)), where(inclusion, 1e3), bc)
        f = np.random.default_rng(0).standard_normal(op.field_shape)
        f = f - op.integrate(f) / op.integrate(np.ones_like(f))
        answer = solve(op, f, rtol=1e-10, method=method, report=True)
        assert answer.ok and int(answer.iterations) <= 11, int(answer.iterations)
        residual = np.asarray(op(answer.value)) - f
        assert np.linalg.norm(residual) < 1e-9 * np.linalg.norm(f)


@pytest.mark.parametrize(
    "shape, bc, a",
    [
        ((1025,), P, lambda x: 1 + 0.9 * xnp.sin(2 * np.pi * x)),
        ((1021,), P, lambda x: xnp.where(x < 0.4, 1e4, 1.0)),
        ((65, 73), P, wavy),
        ((127, 128), [P, D], wavy),
        ((61, 64), N, wavy),
        ((13, 15, 17), P, lambda x, y, z: wavy(x, y)),
    ],
    ids=lambda given: "a" if callable(given) else str(given),
)
def test_steps_do_not_grow_on_odd_rings(shape, bc, a):
    with xc.enable_x64():
        op = Diffusion(Grid(shape), a, bc)
        f = np.random.default_rng(0).standard_normal(op.field_shape)
        f = f - op.integrate(f) / op.integrate(np.ones_like(f)) if op.singular else f
        answer = solve(op, f, rtol=1e-8, method="multigrid", report=True)
        assert answer.ok and int(answer.iterations) <= 8, int(answer.iterations)
        residual = np.asarray(op(answer.value)) - f
        assert np.linalg.norm(residual) < 1e-8 * np.linalg.norm(f)


JUMPING = {
    "inclusion": (inclusion, 130), "checkered": (checkered, 136), "slanted": (slanted, 129),
    "off the lines": (lambda x, y: (x - 0.43) ** 2 + (y - 0.51) ** 2 < 0.07, 131),
    "islands": (lambda x, y: xnp.sin(23 * x) * xnp.cos(19 * y + x) > 0.3, 130),
}  # fmt: skip


@pytest.mark.parametrize("jump", [1e-6, 1e6, 1e8])
@pytest.mark.parametrize("name", JUMPING)
def test_steps_do_not_grow_with_jumps(name, jump):
    """With cycles in single precision: regions of large coefficients hang together by 1e-6 and less
    of the diagonal, which is what it is rounded by."""
    inside, n = JUMPING[name]
    with xc.enable_x64():
        nodes = np.arange(n + 1) / n
        a = np.asarray(where(inside, jump)(nodes[:, None], nodes[None, :])) + np.zeros(
            (n + 1, n + 1)
        )
        op = Diffusion(Grid((n, n)), a)
        f = np.random.default_rng(0).standard_normal(op.field_shape)
        answer = solve(op, f, rtol=1e-6, report=True)
        assert answer.ok and int(answer.iterations) <= 12, int(answer.iterations)


@pytest.mark.parametrize("shape, bc", [((41, 38), N), ((41, 38), P), ((9, 8, 7), [P, N, N])])
def test_constants_flow_nowhere_on_any_level(shape, bc):
    """Exactly, in single precision too, whatever jumps; and no flow is lost on its way."""
    a = 10 ** np.random.default_rng(0).uniform(-6, 6, [n + 1 for n in shape])
    for level in _multigrid.levels(_multigrid.hierarchy(Diffusion(Grid(shape), a, bc))):
        assert not np.asarray(level(xnp.full(level.shape, 1 / 3, np.float32))).any()
        u = np.random.default_rng(1).standard_normal(level.shape).astype(np.float32)
        flows = np.asarray(level(u), np.float64)
        assert abs(flows.sum()) < 1e-5 * abs(flows).sum()


def test_cycles_in_single_precision():
    """On large grids; numbers far from 1, beside SciPy's elimination."""
    with xc.enable_x64():
        op = Diffusion(Grid((160, 112)), lambda x, y: 1e-30 * where(inclusion, 1e3)(x, y), N)
        f = np.random.default_rng(0).standard_normal(op.field_shape)
        f = f - op.integrate(f) / op.integrate(np.ones_like(f))
        answer = solve(op, f, rtol=1e-10, method="cg", report=True)
        assert answer.ok and int(answer.iterations) <= 11, int(answer.iterations)
        matrix, right = op.as_sparse().tolil(), np.ravel(f).copy()
        matrix[0], right[0] = 1e-24 * op.weights.ravel(), 0  # in place of one: the mean
        expected = scipy.sparse.linalg.spsolve(matrix.tocsc(), right)
        assert np.allclose(np.ravel(answer.value), expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("shape, bc", [((11, 8), [(D, N), P]), ((6, 5, 7), [(N, D), R, D])])
def test_coarse_operators_are_products_of_matrices(shape, bc, monkeypatch):
    """The stencil found from coloured fields, beside pᵀ a p from dense matrices; and what goes up
    keeps constants, away from Dirichlet faces."""
    monkeypatch.setattr(_multigrid, "_DENSE_UP_TO", 20)
    with xc.enable_x64():
        grid = Grid(shape)
        a = np.exp(np.random.default_rng(0).standard_normal(grid.shape))
        level = _multigrid.hierarchy(Diffusion(grid, a, bc))
        matrix = lambda f, shape: (
            xc.vmap(f)(np.eye(int(np.prod(shape))).reshape(-1, *shape))
            .reshape(int(np.prod(shape)), -1)
            .T
        )
        p = matrix(lambda u: _multigrid.prolong(level, u), level.coarse.shape)
        whole, coarse = matrix(level, level.shape), matrix(level.coarse, level.coarse.shape)
        assert np.allclose(p.T @ whole @ p, coarse, atol=1e-12 * np.abs(coarse).max())
        assert np.allclose(np.diag(coarse), np.ravel(level.coarse.diagonal))
        sums = (p @ np.ones(p.shape[1])).reshape(level.shape)
        assert (sums < 1 + 1e-12).all() and np.isclose(sums.max(), 1)


@pytest.mark.parametrize("condition", [1.0, 1e2, 1e4, 1e8, 1e12])
@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1.0, 1e30])
def test_inverses_by_products_are_those_of_lu(condition, scale):
    """What a GPU's coarsest grid gets, beyond what products find as well."""
    inverse = xc.jit(_multigrid._inverse_by_products)
    for n in (1, 2, 9, 60):
        q = np.linalg.qr(np.random.default_rng(n).normal(size=(n, n)))[0]
        a = scale * (q * np.geomspace(1, condition, n)) @ q.T
        want = np.linalg.inv(a)
        with xc.enable_x64():
            error = np.abs(np.asarray(inverse(a)) - want).max() / np.abs(want).max()
        assert error < 1e-14 * condition * n


@pytest.mark.parametrize(
    "a",
    [np.diag([1.0, -2.0, 3.0]), np.array([[0.0, 1.0], [-1.0, 0.0]])],
    ids=["indefinite", "turned"],
)
def test_inverses_by_products_of_what_is_not_definite(a):
    with xc.enable_x64():
        found = np.asarray(xc.jit(_multigrid._inverse_by_products)(a))
    np.testing.assert_allclose(found, np.linalg.inv(a), atol=1e-15)
