"""Several fields at once: elasticity, coupled diffusion, Stokes' flow on faces and cells; orders, claims, derivatives."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.pde import _system_cycles as system_cycles
from xcore.pde import _systems as systems
from xcore.testing import check_grads


@pytest.fixture(autouse=True)
def _double():
    with xc.enable_x64():
        yield


def order(cells, errors):
    return -np.polyfit(np.log(cells), np.log(errors), 1)[0]


def elastic(grid, mu=1.0, lam=2.0, faces=None):
    """Navier's equations: ∂ₓ((λ + 2μ) uₓ + λ v_y) + ∂_y μ (u_y + vₓ), and the same turned."""
    h, k = grid.spacing
    faces = (pde.Dirichlet(0.0), pde.Dirichlet(0.0)) if faces is None else faces
    cross = [
        pde.Stencil(grid, lambda u: (u[1, 1] + u[-1, -1] - u[1, -1] - u[-1, 1]) / (4 * h * k), f)
        for f in faces
    ]
    stiff = [
        pde.Diffusion(grid, a, f)
        for a, f in zip(((lam + 2 * mu, mu), (mu, lam + 2 * mu)), faces, strict=True)
    ]

    def f(u):
        ways = [s(x) + s.boundary() for s, x in zip(stiff, u, strict=True)]
        mixed = [(lam + mu) * (c(x) + c.boundary()) for c, x in zip(cross, u, strict=True)]
        return ways[0] + mixed[1], ways[1] + mixed[0]

    return f, stiff[0]


def test_linear_elasticity():
    s, c = (lambda x: xnp.sin(np.pi * x)), (lambda x: xnp.cos(np.pi * x))
    u, v = (lambda x, y: s(x) * s(y)), (lambda x, y: 2 * s(x) * s(2 * y))
    p2 = np.pi**2
    right = (
        lambda x, y: -5 * p2 * u(x, y) + 3 * 4 * p2 * c(x) * c(2 * y),
        lambda x, y: -(1 + 16) * p2 * v(x, y) + 3 * p2 * c(x) * c(y),
    )
    cells, errors = (8, 16, 32), []
    for n in cells:
        f, op = elastic(pde.Grid((n, n)))
        answer = pde.solve_system(f, tuple(map(op.field, right)), report=True)
        assert bool(answer.ok) and float(answer.error) < 1e-12
        gaps = [np.abs(x - op.field(y)).max() for x, y in zip(answer.value, (u, v), strict=True)]
        errors.append(max(map(float, gaps)))
    assert order(cells, errors) > 1.9, errors


def test_a_rigid_motion_is_exact():
    """Displacements (y, -x) on the edge, which turn without strain."""
    grid = pde.Grid((7, 6))
    faces = pde.Dirichlet(lambda x, y: y), pde.Dirichlet(lambda x, y: -x)
    f, op = elastic(grid, faces=faces)
    u, v = pde.solve_system(f, (xnp.zeros(op.field_shape),) * 2)
    x, y = op.points()
    assert np.abs(u - y).max() < 1e-12 and np.abs(v + x).max() < 1e-12


def stokes(n: int):
    """-Δ(u, v) + ∇p, div: velocities on the inner faces of n × n cells, at rest on the walls, pressures in cells."""
    h = 1 / n

    def second(u, axis, on_face):
        """Along an axis whose ends are faces, or half a cell away from them."""
        u = xnp.moveaxis(u, axis, 0)
        ends = (0 * u[:1], 0 * u[-1:]) if on_face else (-u[:1], -u[-1:])
        wide = xnp.concatenate([ends[0], u, ends[1]])
        return xnp.moveaxis((wide[2:] - 2 * wide[1:-1] + wide[:-2]) / h**2, 0, axis)

    def f(w):
        u, v, p = w["u"], w["v"], w["p"]
        flows = xnp.pad(u, ((1, 1), (0, 0))), xnp.pad(v, ((0, 0), (1, 1)))
        return {
            "u": -second(u, 0, True) - second(u, 1, False) + (p[1:] - p[:-1]) / h,
            "v": -second(v, 1, True) - second(v, 0, False) + (p[:, 1:] - p[:, :-1]) / h,
            "p": (flows[0][1:] - flows[0][:-1] + flows[1][:, 1:] - flows[1][:, :-1]) / h,
        }

    return f


def test_stokes_flow_on_faces_and_cells():
    """Of the stream function (x (1 - x) y (1 - y))², with the pressure cos(π x) sin(π y)."""
    g, dg = (lambda x: (x * (1 - x)) ** 2), (lambda x: 2 * x * (1 - x) * (1 - 2 * x))
    ddg, dddg = (lambda x: 2 - 12 * x + 12 * x * x), (lambda x: 24 * x - 12)
    cells, errors = (8, 16, 32), []
    for n in cells:
        inner, middle = np.arange(1, n) / n, (np.arange(n) + 0.5) / n
        x, y = np.meshgrid(inner, middle, indexing="ij")
        u = g(x) * dg(y)
        right_u = -(ddg(x) * dg(y) + g(x) * dddg(y)) - np.pi * np.sin(np.pi * x) * np.sin(np.pi * y)
        x, y = np.meshgrid(middle, inner, indexing="ij")
        v = -dg(x) * g(y)
        right_v = dddg(x) * g(y) + dg(x) * ddg(y) + np.pi * np.cos(np.pi * x) * np.cos(np.pi * y)
        still = {"u": 0 * u, "v": 0 * v, "p": np.ones((n, n))}
        right = {"u": right_u, "v": right_v, "p": np.zeros((n, n))}
        answer = pde.solve_system(stokes(n), right, kernel=still, report=True)
        assert bool(answer.ok)
        w = answer.value
        assert abs(float(xnp.sum(w["p"]))) < 1e-9
        errors.append(max(np.abs(w["u"] - u).max(), np.abs(w["v"] - v).max()))
    assert order(cells, errors) > 1.75, errors  # 1.80 from 8 to 16 cells, 1.89 from 16 to 32
    missing = pde.solve_system(
        stokes(8), {k: x[:8, :8] * 0 + 1 for k, x in stokes_like(8).items()}, report=True
    )
    assert not bool(missing.ok)  # without the kernel the pressure is not determined
    unbalanced = stokes_like(8) | {"p": np.ones((8, 8))}
    kernel = stokes_like(8) | {"p": np.ones((8, 8))}
    assert not bool(pde.solve_system(stokes(8), unbalanced, kernel=kernel, report=True).ok)


def stokes_like(n: int) -> dict:
    return {"u": np.zeros((n - 1, n)), "v": np.zeros((n, n - 1)), "p": np.zeros((n, n))}


def test_units_do_not_matter_and_derivatives_are_those_of_the_equation():
    grid = pde.Grid((9, 8))
    d = pde.Diffusion(grid, lambda x, y: 1 + x)

    def total(k, b, a=1.0, c=1.0):
        """Units of the second field and of the second equation are a and c."""
        f = lambda u: (d(u[0]) - k * u[0] + k / a * u[1], c * (2 * d(u[1] / a) + u[0]))
        answer = pde.solve_system(
            f, (b * xnp.ones(d.field_shape), 0 * xnp.ones(d.field_shape)), report=True
        )
        return xnp.sum(answer.value[0]) + xnp.sum(answer.value[1] / a), answer

    want, first = total(3.0, -1.0)
    for a, c in ((1e12, 1e-20), (1e-15, 1e9)):
        got, answer = total(3.0, -1.0, a, c)
        assert bool(answer.ok) and abs(float(got / want) - 1) < 1e-9
    assert bool(first.ok)
    check_grads(lambda k, b: total(k, b)[0], (3.0, -1.0), order=1, modes=("rev",))
    assert abs(float(xc.jit(lambda k: total(k, -1.0)[0])(3.0) / want) - 1) < 1e-12
    wide = pde.solve_system(
        lambda u: (d(u[0]) + 2j * u[0] + u[1], d(u[1]) - 1j * u[0]), (np.ones((8, 7)),) * 2
    )
    assert np.iscomplexobj(wide[0])


def test_statuses_of_what_is_not_finite_empty_or_zero():
    d, one = pde.Diffusion(pde.Grid(6), 1.0), np.ones(5)
    solve = lambda *b: pde.solve_system(lambda u: (d(u[0]), *u[1:]), b, report=True)
    assert solve(one * np.nan).status == pde.Status.not_finite
    assert bool(solve(0 * one).ok) and bool(solve(one, np.zeros(0)).ok)
    for size in (1e-200, 1e200):
        assert abs(float(solve(-size * one).value[0].max()) / size - 0.125) < 1e-12


def test_what_is_refused():
    d = pde.Diffusion(pde.Grid(6), 1.0)
    one = np.ones(5)
    for call, words in (
        (
            lambda: pde.solve_system(lambda u: (d(u[0]) + u[1] ** 2, u[1]), (one, one)),
            "linear in u",
        ),
        (lambda: pde.solve_system(lambda u: u[0], (one, one)), "one equation for each unknown"),
        (lambda: pde.solve_system(lambda u: u, ()), "a tree of arrays"),
        (lambda: pde.solve_system(lambda u: (d(u[0]),), (one,), kernel=(one,)), "takes to 0"),
        (lambda: pde.solve_system(lambda u: (d(u[0]),), (one,), kernel=[one, one]), "like b"),
        (lambda: pde.solve_system(lambda u: (u[0] - u[0][::-1],), (np.arange(5.0),)), "singular"),
    ):
        with pytest.raises(Exception, match=words):
            call()


def elastic_3d(n, mu=1.0, lam=2.0):
    grid = pde.Grid((n, n + 1, n + 2))
    h, last = grid.spacing, lam + 2 * mu
    stiff = [pde.Diffusion(grid, tuple(np.where(np.arange(3) == i, last, mu))) for i in range(3)]

    def cross(i, j):
        at = lambda a, b: tuple(a if k == i else b if k == j else 0 for k in range(3))
        corners = lambda u: u[at(1, 1)] + u[at(-1, -1)] - u[at(1, -1)] - u[at(-1, 1)]
        return pde.Stencil(grid, lambda u: corners(u) / (4 * h[i] * h[j]))

    mixed = {(i, j): cross(i, j) for i in range(3) for j in range(3) if i != j}

    def f(u):
        others = [sum(mixed[i, j](u[j]) for j in range(3) if j != i) for i in range(3)]
        return tuple(s(x) + (lam + mu) * o for s, x, o in zip(stiff, u, others, strict=True))

    return f, stiff[0]


def reacting(n, unit=1.0, equation=1.0):
    """Two substances that flow and react; units of the second, and of the first equation."""
    grid = pde.Grid((n, n))
    flow = pde.Advection(grid, (40.0, 20.0), scheme="upwind")
    op = pde.Diffusion(grid, 1.0) - flow
    f = lambda u: (
        equation * (op(u[0]) - 30 * u[0] + 20 * u[1] / unit),
        op(u[1] / unit) + 10 * (u[0] - u[1] / unit),
    )
    return f, flow


@pytest.mark.parametrize(
    ("make", "count", "most"),
    [
        (lambda: elastic(pde.Grid((28, 40))), 2, 25), (lambda: elastic(pde.Grid((60, 20))), 2, 30),
        (lambda: elastic_3d(9), 3, 25), (lambda: reacting(30), 2, 4), (lambda: reacting(30, 1e9, 1e-6), 2, 4),
        (lambda: reacting(30, 1e-9, 1e6), 2, 4),
    ],
)  # fmt: skip
def test_multigrid_of_the_nodes_finds_what_factors_find(make, count, most, monkeypatch):
    """Steps stay few in every unit; answer, claim and derivative are those of factors."""
    f, op = make()
    b = tuple(np.random.default_rng(k).normal(size=op.field_shape) for k in range(count))

    def found(s):
        answer = pde.solve_system(f, tuple(s * x for x in b), report=True)
        return tuple(map(xnp.sum, answer.value)), answer

    def slopes():
        return xc.jacrev(lambda s: found(s)[0])(2.0), found(2.0)[1]

    want, factors = slopes()
    monkeypatch.setattr(system_cycles, "FACTORS_AT_MOST", {})
    monkeypatch.setattr(system_cycles, "_IN_SPACE", 0)
    got, cycles = slopes()
    assert (factors.method, cycles.method) == ("sparse", "algebraic") and bool(cycles.ok)
    assert int(cycles.steps) <= most
    for x, y in zip(factors.value, cycles.value, strict=True):
        np.testing.assert_allclose(y, x, atol=1e-8 * float(abs(x).max()))
    np.testing.assert_allclose(got, want, rtol=1e-7)


def test_many_unknowns_without_an_own_equation_are_refused(monkeypatch):
    monkeypatch.setattr(systems, "_MOST", 100)
    still = stokes_like(8)
    with pytest.raises(ValueError, match=r"at most 100 unknowns in all, or fields of one shape"):
        pde.solve_system(stokes(8), still, kernel=still | {"p": np.ones((8, 8))})


@pytest.mark.parametrize("bits", [32, 64])
def test_a_singular_system_is_not_solved_by_cycles(bits, monkeypatch):
    """Two substances that react and do not leave: sources that balance are no reason for success."""
    monkeypatch.setattr(system_cycles, "FACTORS_AT_MOST", {})
    monkeypatch.setattr(system_cycles, "_IN_SPACE", 0)
    with xc.enable_x64(bits == 64):
        op = pde.Diffusion(pde.Grid((14, 11)), 1.0, pde.Neumann())
        f = lambda u: (op(u[0]) - 3 * u[0] + 3 * u[1], op(u[1]) + 3 * u[0] - 3 * u[1])
        rng = np.random.default_rng(2)
        x = [rng.normal(size=op.field_shape).astype(f"float{bits}") for _ in range(2)]
        b = f(tuple(map(xnp.asarray, x)))
        assert not bool(pde.solve_system(f, b, report=True).ok)
        one = (xnp.ones(op.field_shape, f"float{bits}"),) * 2
        found = pde.solve_system(f, b, kernel=one, report=True)
        assert bool(found.ok) and found.method == "algebraic"
