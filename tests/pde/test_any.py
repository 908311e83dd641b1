"""Any linear operator on a grid: what is read off, cycles made of elements, solutions beside SciPy's, what they claim."""

import importlib.util
import itertools
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.pde import (
    Advection,
    Diffusion,
    Dirichlet,
    Grid,
    IncompatibleError,
    Laplacian,
    Masked,
    Neumann,
    Periodic,
    Robin,
    Status,
    Stencil,
    _blackbox,
    _boxcycle,
    _factors,
    _general,
    _portrait,
    solve,
)
from xcore.testing import check_grads

rng = np.random.default_rng(0)
dissected = _factors.dissected
D, N, R, P = Dirichlet(), Neumann(), Robin(1.0, 2.0), Periodic()
BENT = (lambda x, y: 1 - y**2, lambda x, y: 0.5 + x)


def survey():
    path = Path(__file__).parents[2] / "benchmarks" / "pde_survey.py"
    spec = importlib.util.spec_from_file_location("pde_survey", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SURVEY = survey()


def matrix(op):
    """SciPy's matrix, made by the operators' own rules for that."""
    return sp.csc_array(op.as_sparse())


def flow(grid, bc, strength=30.0):
    wind = lambda w: lambda x, y: strength * w(x, y)
    return Diffusion(grid, lambda x, y: 1 + x * y, bc) - Advection(grid, tuple(map(wind, BENT)), bc)


# What is read off


@pytest.mark.parametrize("cells", [(5, 7), (4, 2), (3, 6)])
@pytest.mark.parametrize("bc", [D, [P, (N, D)], P], ids=["D", "mixed", "P"])
def test_elements_are_those_of_the_matrix(cells, bc):
    with xc.enable_x64():
        op = (
            Diffusion(Grid(cells), lambda x, y: 1 + x * y, bc)
            - Advection(Grid(cells), (3.0, -2.0), bc)
            + 1j
        )
        c = _general.elements(op)
        values, rows, columns = c.triples()
        found = np.zeros(op.shape, complex)
        np.add.at(found, (rows, columns), values)
        want = matrix(op).toarray()
        assert np.allclose(found, want, atol=1e-12 * np.abs(want).max())
        back = np.zeros(op.shape, complex)
        values, rows, columns = c.T.triples()
        np.add.at(back, (rows, columns), values)
        assert np.allclose(back, want.T, atol=1e-12 * np.abs(want).max())
        if cells == (4, 2):
            return
        rings = tuple(a.ring for a in op.axes)
        traced = _general.elements_in_program(op, op.field_shape, rings, 1)
        for x, o in zip(traced, c.elements, strict=True):
            assert np.allclose(x, c.elements[o], atol=1e-12 * np.abs(want).max())


@pytest.mark.parametrize(
    "op, reach",
    [
        (Laplacian(Grid((14, 13)), order=4) - 1.0, None),
        (Laplacian(Grid((12, 9)), [P, D]) @ Laplacian(Grid((12, 9)), [P, D]), 2),
        (Stencil(Grid((9, 8)), lambda u: u[2, -1] - 3 * u[0, 0] + u[1, 1], [(D, N), P]), 2),
    ],
    ids=["order 4", "product", "stencil"],
)
def test_wide_rows_are_read_as_far_as_they_look(op, reach):
    with xc.enable_x64():
        c = _general.elements(op)
        x = rng.standard_normal(op.field_shape)
        want = matrix(op) @ x.ravel() if not isinstance(op, Stencil) else np.asarray(op(x)).ravel()
        assert np.allclose(c(x).ravel(), want, atol=1e-11 * np.abs(want).max())
        assert reach is None or c.reach == reach


@pytest.mark.parametrize("bc", [D, [P, (N, D), P]], ids=["D", "mixed"])
def test_wide_rows_in_space_take_room_for_what_they_have(bc):
    """Of 729 offsets within reach 25 lead anywhere; 24³ nodes took 80 seconds when each was looked at."""
    with xc.enable_x64():
        op = (lambda x, y, z: 1 + x * y) * Laplacian(Grid((12, 11, 10)), bc, order=4) - 1.0
        c = _general.elements(op)
        x = rng.standard_normal(op.field_shape)
        want = matrix(op) @ x.ravel()
        for made, u in ((c, want), (c.T, matrix(op).T @ x.ravel())):
            assert np.allclose(made(x).ravel(), u, atol=1e-11 * np.abs(want).max())
        for made in (c, c.T, c.map(lambda x: 2 * x)):
            assert len({id(x) for x in made.elements.values()}) <= 3 * (2 * c.reach + 1)
        answer, far = compared(op, x)
        assert bool(answer.ok) and far < 1e-9


def test_arithmetic_is_that_of_matrices():
    with xc.enable_x64():
        grid = Grid((6, 5))
        a, b = Diffusion(grid, 2.0), Advection(grid, (1.0, 2.0))
        k = rng.standard_normal(a.field_shape)
        ma, mb, one = matrix(a).toarray(), matrix(b).toarray(), np.eye(a.shape[0])
        rows = np.diag(k.ravel())
        for made, want in [
            (a + b, ma + mb), (a - b, ma - mb), (2 * a - 3, 2 * ma - 3 * one), (4 - a, 4 * one - ma),
            (k * a, rows @ ma), (a + k, ma + rows), (k - a, rows - ma), (a / 2 - b / 4, ma / 2 - mb / 4), (-a, -ma),
            (a @ b, ma @ mb), ((a + b) * (1 + 1j), (ma + mb) * (1 + 1j)), (a - (b - 1.0), ma - mb + one),
        ]:  # fmt: skip
            assert isinstance(made, pde._fields.GridOperator)
            x = rng.standard_normal(a.shape[0])
            assert np.allclose(made @ x, want @ x, atol=1e-10)
            assert np.allclose(matrix(made).toarray(), want, atol=1e-10)
            assert not made.symmetric or np.allclose(want, want.conj().T)
        assert np.allclose((a + np.diag(k.ravel())) @ x, (ma + rows) @ x)  # matrices stay matrices


def test_data_on_faces_go_through_sums_and_products():
    with xc.enable_x64():
        grid, bc = Grid((8, 7)), [(Dirichlet(2.0), Neumann(1.0)), Dirichlet(lambda x, y: 1 + x)]
        a, b = Diffusion(grid, 1.0, bc), Advection(grid, (1.0, 2.0), bc)
        u = rng.standard_normal(a.field_shape)
        both = 2 * a - b + 3.0
        want = 2 * (a(u) + a.boundary()) - (b(u) + b.boundary()) + 3 * u
        assert np.allclose(both(u) + both.boundary(), want)
        twice = a @ a
        assert np.allclose(twice(u) + twice.boundary(), a(a(u) + a.boundary()) + a.boundary())
        assert np.allclose(both(solve(both, u)) + both.boundary(), u, atol=1e-8)


# Cycles


KINDS = {
    "diffusion": lambda n: Diffusion(Grid((n, n - 3)), lambda x, y: 1 + x, [(N, D), R]) - 0.0,
    "rings": lambda n: Diffusion(Grid((n, n + 1)), 1.0, [P, P]) - 1.0,
    "flow": lambda n: flow(Grid((n, n)), D, 1e5),
    "slow flow": lambda n: flow(Grid((n, n)), [P, D], 5.0),
    "solid": lambda n: (
        Diffusion(Grid((10, 9, 11)), lambda x, y, z: 1 + x * y + z, [D, P, (N, D)]) - 0.0
    ),
    "line": lambda n: Diffusion(Grid(700), lambda x: 1 + x) - 0.0,
}


def set_up(op, factors):
    c = _general.elements(op)
    held = np.asarray(op.weights)
    p = _portrait.portrait(c, held, 2e-16)
    c = c.map(lambda x: np.conj(p.turn) * held * x)
    starts = tuple(int(not a.ring and a.kinds[0][1] == 0) for a in op.axes)
    kind = _blackbox.Kind(
        starts, not p.symmetric, p.symmetric and p.dominant, p.singular, True, factors
    )
    return c, p, _blackbox.hierarchy(c, kind)


@pytest.mark.parametrize("name", KINDS)
def test_cycles_are_near_the_inverse_and_symmetric_where_the_operator_is(name):
    with xc.enable_x64():
        c, p, (plans, arrays) = set_up(KINDS[name](41), 40)
        assert len(plans) > 2 and plans[-1].last
        arrays = _boxcycle.in_dtype(arrays, np.float64)
        run = xc.jit(xc.vmap(lambda b: _boxcycle.cycle(plans, arrays, b)))
        x, y = rng.standard_normal((2, *c.shape))
        zx, zy = (np.asarray(z) for z in run(np.stack([x, y])))
        if p.symmetric:
            assert np.isclose(np.sum(y * zx), np.sum(x * zy), rtol=1e-9)
        e = x
        for _ in range(6):
            before = np.linalg.norm(e)
            e = e - np.asarray(run(np.stack([c(e), c(e)]))[0])
        assert np.linalg.norm(e) < 0.35 * before


def brick(u):
    """Linear elements on bricks: 27 points, of which those straight along the axes are 0."""
    weights = (-8 / 3, 0.0, 1 / 6, 1 / 12)
    return sum(weights[sum(map(abs, o))] * u[o] for o in itertools.product((-1, 0, 1), repeat=3))


@pytest.mark.parametrize(
    "f, cells",
    [
        (brick, (12, 11, 10)),
        (lambda u: 2 * u[0, 0], (30, 31)),
        (lambda u: u[1, 1] + u[-1, -1] + u[1, -1] + u[-1, 1] - 4 * u[0, 0], (31, 30)),
        (lambda u: u[1, 0] + u[-1, 0] - 2 * u[0, 0], (32, 30)),
    ],
    ids=["brick", "number", "crossed", "one axis"],
)
def test_cycles_end_whatever_is_coupled(f, cells):
    with xc.enable_x64():
        op = Stencil(Grid(cells), f)
        _, _, (plans, _) = set_up(op, 40)
        assert plans[-1].last and len(plans) <= 6
        assert f is not brick or plans[0].strides == (2, 2, 2)


def test_coarse_operators_of_flows_keep_their_signs():
    with xc.enable_x64():
        for op in (flow(Grid((200, 90)), D, 1e6), SURVEY.wind(150, 1e3, "upwind", SURVEY.ROUND)):
            c, _, (plans, arrays) = set_up(op, 301)
            assert [p.smoother for p in plans[:-1]] == ["marches"] * (len(plans) - 1) and len(
                plans
            ) > 2
            for held in arrays[:-1]:
                off = [x for k, x in enumerate(held["a"]) if k != len(held["a"]) // 2]
                assert max(x.max() for x in off) <= 0 and min(held["a"][4].ravel()) > 0


def test_transfers_of_programs_are_those_of_the_set_up():
    with xc.enable_x64():
        for name in ("rings", "flow", "solid"):
            c, _, (plans, arrays) = set_up(KINDS[name](20), 20)
            plan, held = plans[0], arrays[0]
            u = rng.standard_normal(_blackbox.coarse_shape(plan))
            r = rng.standard_normal(plan.shape)
            w = tuple(held["p"])
            assert np.allclose(
                _boxcycle.prolong(plan, w, xnp.asarray(u)), _blackbox._prolong(plan, w, u)
            )
            down = _blackbox._restrict(plan, w, r)
            assert np.allclose(_boxcycle.restrict(plan, w, xnp.asarray(r)), down)
            assert np.isclose(np.sum(down * u), np.sum(r * _blackbox._prolong(plan, w, u)))
            assert np.allclose(_boxcycle.product(plan, held["a"], xnp.asarray(r)), c(r))


# Solutions beside SciPy's


def compared(op, f, **more):
    """(solution, its largest distance to SciPy's in parts of that)."""
    a = (
        matrix(op)
        if not isinstance(op, Stencil)
        else sp.csc_array(np.asarray(op.as_matrix(np.float64)))
    )
    inside = np.ones(op.field_shape, bool) if op.inside is None else np.asarray(op.inside)
    keep = np.flatnonzero(inside)
    want = np.zeros(a.shape[0], a.dtype)
    want[keep] = sla.spsolve(a[keep][:, keep].tocsc(), np.asarray(f).ravel()[keep])
    answer = solve(op, f, report=True, **more)
    far = np.abs(np.asarray(answer.value).ravel() - want).max() / np.abs(want).max()
    return answer, far


@pytest.mark.parametrize("name", [k for k in SURVEY.SURVEY if "Neumann all" not in k])
def test_survey_beside_scipy(name):
    """Of 16² (4³) unknowns, by default; what is claimed is so."""
    with xc.enable_x64():
        op = SURVEY.SURVEY[name](16)
        f = rng.standard_normal(op.field_shape)
        f = f if op.inside is None else f * np.asarray(op.inside)
        answer, far = compared(op, f)
        # a jump of 1e8 leaves eight digits to a matrix, SciPy's too
        assert bool(answer.ok) and far < (1e-6 if "1e8" in name else 1e-8)
        left = np.linalg.norm(np.asarray(op(answer.value)) - f) / np.linalg.norm(f)
        assert np.isclose(left, float(answer.error), rtol=0.1, atol=1e-13)


@pytest.mark.parametrize(
    "name",
    ["checkers 1e8", "anisotropy 1e4 that switches", "flow bent, Péclet 1e3, outflow", "flow round, Péclet 1",
     "periodic, odd numbers", "stretched 1:1000 one, Neumann", "complex diffusion", "order 4"],
)  # fmt: skip
def test_cycles_solve_the_survey_in_few_steps(name, monkeypatch):
    monkeypatch.setattr(_portrait, "_COARSEST", dict.fromkeys((1, 2, 3), 100))
    monkeypatch.setattr(_portrait, "FACTORS_UP_TO", dict.fromkeys((1, 2, 3), 100))
    with xc.enable_x64():
        op = SURVEY.SURVEY[name](40)
        by_transforms = {"order 4": "gcr", "stretched 1:1000 one, Neumann": "cg"}
        method = by_transforms.get(name, "auto")
        answer, far = compared(op, rng.standard_normal(op.field_shape), method=method)
        assert bool(answer.ok) and answer.method in ("cg", "gcr")
        assert int(answer.steps) <= 20 and far < 1e-6


def test_fourth_derivatives_take_wide_cuts_and_no_cycle_of_next_neighbours(monkeypatch):
    for shape, reach in (((9, 30), 2), ((50,), 3), ((7, 8, 9), 2), ((1, 2), 2)):
        order = _factors.dissected(shape, reach)
        assert np.array_equal(np.sort(order), np.arange(np.prod(shape)))
    monkeypatch.setattr(_portrait, "FACTORS_UP_TO", dict.fromkeys((1, 2, 3), 100))
    with xc.enable_x64():
        plate = Laplacian(Grid((48, 40)), [D, (D, N)])
        rows = {
            o: x.copy()
            for o, x in _general.elements(plate @ plate + 100.0).elements.items()
            if x.any()
        }
        inner = {
            o: x[24, 20] for o, x in rows.items()
        }  # as a stencil: nothing tells that it is a product
        op = pde.Stencil(plate.grid, lambda u: sum(x * u[o] for o, x in inner.items()), plate.faces)
        answer, far = compared(op, rng.standard_normal(op.field_shape))
        assert bool(answer.ok) and answer.method == "sparse" and far < 1e-9
        assert "next neighbours tell little" in answer.reason
        c = _general.elements(op)
        every = tuple(c.elements[o] for o in _factors.offsets(2, 2))
        lu, _ = _factors._factored(_factors.Spec(c.shape, c.rings, "all"), every)
        monkeypatch.setattr(_factors, "dissected", lambda shape, *_: dissected(shape, 1))
        narrow, _ = _factors._factored(_factors.Spec(c.shape, c.rings, "all"), every)
        assert lu.nnz < 0.8 * narrow.nnz
        alike = Laplacian(Grid((40, 41)), order=6) - Advection(Grid((40, 41)), (9.0, 2.0), order=6)
        assert _general._acts_alike(_general.elements(alike))


@pytest.mark.parametrize("reach", [1, 2, 3])
@pytest.mark.parametrize("rings", [(True, False), (False, True), (True, True), (True, False, True)])
def test_rings_are_cut_open_before_they_are_halved(rings, reach):
    for shape in ((50, 47, 9), (7, 5, 20)):
        shape = shape[: len(rings)]
        order = _factors.dissected(shape, reach, rings)
        assert np.array_equal(np.sort(order), np.arange(np.prod(shape)))


@pytest.mark.parametrize("rings", [(True, False), (False, True), (True, True)])
def test_factors_of_rings_are_not_filled_by_ends_that_meet(rings, monkeypatch):
    """They took four times as long at 256², and for twice as many elements."""
    every = [rng.standard_normal((50, 47)) + 99.0 * (o == (0, 0)) for o in _factors.offsets(2, 2)]
    filled_in = lambda: _factors._factored(_factors.Spec((50, 47), rings, "all"), every)[0].nnz
    opened = filled_in()
    monkeypatch.setattr(_factors, "dissected", lambda shape, reach, _: dissected(shape, reach))
    assert opened < 0.8 * filled_in()


def test_numbers_added_to_masks_leave_the_sign_of_the_diagonal(monkeypatch):
    monkeypatch.setattr(_portrait, "FACTORS_UP_TO", dict.fromkeys((1, 2, 3), 100))
    with xc.enable_x64():
        disc = Masked(Grid((40, 38), -1.0, 1.0), lambda x, y: 0.9**2 - x**2 - y**2)
        for op in (disc - 3.0, (disc - 3.0) * (1 + 2j), 5.0 - disc):
            answer, far = compared(op, np.where(np.asarray(op.inside), 1.0, 0.0))
            assert bool(answer.ok) and answer.method == "gcr" and far < 1e-8
            assert "changes sign" not in answer.reason


@pytest.mark.parametrize("bc", [[(N, Dirichlet(1.0)), P], N], ids=["mixed", "N"])
def test_constant_coefficients_are_solved_by_transforms(bc):
    with xc.enable_x64():
        grid = Grid((14, 11))
        lap = Laplacian(grid, bc)
        for op in (
            lap * 2.0, 3.0 - 2 * lap, 2 * Diffusion(grid, 2.0, bc, c=1.0) - lap + pde.Helmholtz(grid, 1.5, bc),
            (1 + 2j) * Laplacian(grid, bc, 4) - 3j,
        ):  # fmt: skip
            f = rng.standard_normal(op.field_shape)
            f = f - np.sum(op.weights * f) / np.sum(op.weights) if bc is N else f
            answer = solve(op, f, report=True)
            assert bool(answer.ok) and answer.method == "direct"
            assert np.allclose(op(answer.value) + op.boundary(), f, atol=1e-9)
        u = xc.jit(lambda k: solve(Laplacian(Grid((700, 700))) * k - 1.0, 1.0))(2.0)
        assert u.shape == (699, 699)


def test_large_diffusions_and_waves_that_vary_are_solved_by_their_elements():
    with xc.enable_x64():
        waves = pde.Helmholtz(Grid((20, 17)), lambda x, y: 300 + 100 * x)
        answer, far = compared(waves, rng.standard_normal(waves.field_shape))
        assert bool(answer.ok) and answer.method == "sparse" and far < 1e-9
    large = Diffusion(Grid((257, 257)), lambda x, y: 1 + x)
    answer = solve(large, 1.0, report=True)  # in float32
    assert bool(answer.ok) and answer.method == "sparse"
    answer = solve(1.0 * large, 1.0, method="cg", report=True)
    assert bool(answer.ok) and "elements" in answer.reason
    old = solve(large, 1.0, smoother="chebyshev")
    assert np.allclose(answer.value, old, atol=1e-4 * np.abs(np.asarray(old)).max())


def test_matrices_that_turn_are_solved_by_their_elements(monkeypatch):
    def a(x, y):
        c, s = xnp.cos(3 * x + 2 * y), xnp.sin(3 * x + 2 * y)
        return ((1e3 * c * c + s * s, 999 * c * s), (999 * c * s, 1e3 * s * s + c * c))

    with xc.enable_x64():
        monkeypatch.setattr(_portrait, "FACTORS_UP_TO", dict.fromkeys((1, 2, 3), 100))
        monkeypatch.setattr(_portrait, "_COARSEST", dict.fromkeys((1, 2, 3), 500))
        op = Diffusion(Grid((60, 56)), a)
        answer, far = compared(op, rng.standard_normal(op.field_shape), method="gcr")
        assert bool(answer.ok) and answer.method == "gcr" and far < 1e-9
        assert int(answer.steps) <= 20
        answer, far = compared(op, rng.standard_normal(op.field_shape))
        assert bool(answer.ok) and answer.method == "sparse" and far < 1e-9
        assert "slanted lines" in answer.reason
        walls = Diffusion(Grid((20, 24)), a, N)
        f = rng.standard_normal(walls.field_shape)
        f = f - np.sum(walls.weights * f) / np.sum(walls.weights)
        u = solve(walls, f)
        assert np.allclose(walls(u), f, atol=1e-8) and abs(float(walls.integrate(u))) < 1e-10


def test_constants_in_the_kernel():
    with xc.enable_x64():
        op = Diffusion(Grid((20, 17)), lambda x, y: 1 + x * y, N) * 2.0
        f = rng.standard_normal(op.field_shape)
        f = f - np.sum(op.weights * f) / np.sum(op.weights)
        answer = solve(op, f, report=True)
        assert bool(answer.ok) and np.allclose(op(answer.value), f, atol=1e-9)
        assert abs(float(op.integrate(answer.value))) < 1e-10
        with pytest.raises(IncompatibleError, match="balance"):
            solve(op, f + 1.0)
        ring = Diffusion(Grid((9, 8)), 1.0, P) - Advection(Grid((9, 8)), (30.0, 2.0), P)
        f = rng.standard_normal(ring.field_shape)
        u = solve(ring, f - f.mean())
        assert np.allclose(ring(u), f - f.mean(), atol=1e-9) and abs(float(u.sum())) < 1e-10


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_units_change_nothing(dtype, scale):
    op = flow(Grid((12, 11)), D)
    f = rng.standard_normal(op.field_shape).astype(dtype)
    for factor in (scale, 1 / scale):
        answer = solve(op * factor, f, report=True, history=True)
        assert bool(answer.ok) and float(answer.history[0]) == 1
        assert np.allclose(np.asarray(answer.value, float) * factor, solve(op, f), rtol=1e-3)
    op = op * 1e-5
    f = rng.standard_normal(op.field_shape).astype(dtype)
    plain, other = (
        solve(op, xnp.asarray(f * s, dtype), report=True) for s in (1.0, dtype == dtype and scale)
    )
    assert bool(plain.ok) and bool(other.ok)
    assert np.allclose(np.asarray(other.value) / np.float64(scale), plain.value, rtol=1e-3)


def test_small_terms_of_single_precision_are_seen():
    """1 beside 4e6 is more than its rounding: there is a solution, for which nothing has to balance."""
    bc = P
    op = Diffusion(Grid(1000), lambda x: 1 + 0 * x, bc) - Advection(Grid(1000), 3.0, bc) - 1.0
    answer = solve(op, np.ones(1000, np.float32), report=True)
    assert bool(answer.ok) and np.allclose(answer.value, -1, rtol=1e-3)
    one = solve(Stencil(Grid((6, 6)), lambda u: 2 * u[0, 0]), 1.0)
    assert np.allclose(one, 0.5)


# What is claimed


def test_no_success_without_a_solution(monkeypatch):
    with xc.enable_x64():
        f = rng.standard_normal((39, 39))
        monkeypatch.setattr(_portrait, "_COARSEST", dict.fromkeys((1, 2, 3), 100))
        monkeypatch.setattr(_portrait, "FACTORS_UP_TO", dict.fromkeys((1, 2, 3), 100))
        hard = SURVEY.rotated(40, np.pi / 4, 1e4)
        short = solve(hard, f, method="gcr", max_steps=2, report=True)
        assert Status(int(short.status)) == Status.max_steps and float(short.error) > 1e-3
        left = np.linalg.norm(np.asarray(hard(short.value)) - f) / np.linalg.norm(f)
        assert np.isclose(left, float(short.error), rtol=1e-6)
        strict = solve(flow(Grid((40, 40)), D), f, rtol=1e-17, report=True)
        assert not bool(strict.ok)
        # a resonance: the discrete eigenvalue itself
        lap = Laplacian(Grid((24, 24)))
        near = -float(np.asarray(lap.eigenvalues(np.float64)).max())
        f = rng.standard_normal(lap.field_shape)
        for q in (near + 0 * f, near * (1 + 1e-15) + 0 * f):
            at = solve(lap + q, f, report=True)
            good = np.linalg.norm(np.asarray((lap + q)(at.value)) - f) <= 1e-9 * np.linalg.norm(f)
            assert not bool(at.ok) or good
        wrong = solve(lap + (np.nan + 0 * f), f, report=True)
        assert Status(int(wrong.status)) == Status.not_finite


def test_derivatives_are_those_of_the_equation():
    with xc.enable_x64():
        grid = Grid((7, 6))
        f = rng.standard_normal((6, 5))

        def op(k, v):
            bc = Dirichlet(1.0)
            return (
                Diffusion(grid, 1 + k * xnp.ones(grid.shape), bc)
                - Advection(grid, (v, -2.0), bc)
                - 1.0
            )

        loss = lambda k, v, f: (solve(op(k, v), f) ** 2).sum()
        check_grads(loss, (0.5, 3.0, f), order=1)
        slopes = xc.grad(loss, argnums=(0, 1))(0.5, 3.0, f)
        assert np.allclose(xc.jit(xc.grad(loss, argnums=(0, 1)))(0.5, 3.0, f), slopes)
        many = xc.vmap(lambda v: loss(0.5, v, f))(xnp.asarray([1.0, 2.0]))
        assert np.allclose(many, [loss(0.5, v, f) for v in (1.0, 2.0)])


def test_derivatives_through_cycles(monkeypatch):
    monkeypatch.setattr(_portrait, "_COARSEST", dict.fromkeys((1, 2, 3), 60))
    with xc.enable_x64():
        grid, f = Grid((20, 18)), rng.standard_normal((19, 17))
        loss = lambda v: (solve(flow(grid, D, v), f, method="gcr", rtol=1e-12) ** 2).sum()
        slope, h = xc.grad(loss)(20.0), 1e-3
        assert np.isclose(slope, (loss(20 + h) - loss(20 - h)) / (2 * h), rtol=1e-6)


# Schemes for flows


def test_fitted_differences_are_exact_in_one_dimension_and_of_order_two():
    with xc.enable_x64():
        for v in (-300.0, -3.0, 1e-3, 3.0, 300.0):
            grid, bc = Grid(16), [(Dirichlet(0.0), Dirichlet(1.0))]
            op = Diffusion(grid, 1.0, bc) - Advection(grid, v, bc, scheme="fitted", diffusion=1.0)
            x = grid.nodes(0)[1:-1]
            want = np.expm1(v * x) / np.expm1(v) if v < 100 else np.exp(v * (x - 1))
            assert np.allclose(solve(op, 0.0), want, atol=1e-9)
        errors = []
        for n in (16, 32, 64):
            op = Diffusion(Grid(n), 1.0) - Advection(Grid(n), 5.0, scheme="fitted", diffusion=1.0)
            u = lambda x: np.sin(np.pi * x) * x
            x = Grid(n).nodes(0)[1:-1]
            slope = np.pi * np.cos(np.pi * x) * x + np.sin(np.pi * x)
            bend = 2 * np.pi * np.cos(np.pi * x) - np.pi**2 * u(x)
            errors.append(np.abs(np.asarray(solve(op, bend - 5 * slope)) - u(x)).max())
        assert np.log2(errors[1] / errors[2]) > 1.9


def test_fitted_and_upwind_make_no_new_extremes():
    with xc.enable_x64():
        for scheme in ("upwind", "fitted"):
            op = SURVEY.wind(24, 50.0, scheme, SURVEY.BENT)
            a = matrix(op).toarray()
            off = a - np.diag(np.diag(a))
            assert off.min() >= -1e-9 and np.all(a.sum(1) <= 1e-9 * np.abs(np.diag(a)))


# Errors


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: Diffusion(Grid((4, 4)), 1.0, Dirichlet(1.0)) + Advection(Grid((4, 4)), (1.0, 1.0)), "same faces"),
        (lambda: Laplacian(Grid((4, 4))) + Laplacian(Grid((4, 5))), "second grid"),
        (lambda: Laplacian(Grid((4, 4))) + Laplacian(Grid((4, 4)), N), "same faces"),
        (lambda: Masked(Grid((8, 8)), True) + Laplacian(Grid((8, 8))), "Masked as well"),
        (lambda: Laplacian(Grid((4, 4))) * np.ones((3, 3)), "number"),
        (lambda: solve(Laplacian(Grid((4, 4))) - 1.0, np.ones((4, 4))), "all nodes"),
        (lambda: solve(Laplacian(Grid((4, 4))) - 1.0, 1.0, method="lu"), "one of"),
        (lambda: solve(Laplacian(Grid((4, 4))) - 1.0, 1.0, rtol=-1.0), "rtol"),
        (lambda: Laplacian(Grid((4, 4)), order="compact") * 2, "order 2, 4 or 6"),
        (lambda: solve(flow(Grid((4, 4)), D), 1.0, cycle="W"), "the default"),
        (lambda: Advection(Grid(4), 1.0, scheme="fitted"), "needs the diffusion"),
        (lambda: Advection(Grid(4), 1.0, diffusion=1.0), "fitted"),
        (lambda: solve(np.eye(4), 1.0), "operator"),
        (lambda: xc.jit(lambda k: solve(Diffusion(Grid((1100, 1100)), lambda x, y: 1 + k * x) * 2, 1.0))(1.0), "outside of jit"),
    ],
)  # fmt: skip
def test_errors_say_what_to_do(make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make()


def test_axes_that_take_turns_are_solved_by_default():
    """Axes that take turns in outweighing each other: lines along one of them do not do."""
    strong = lambda first: lambda x, y: xnp.where((x < y) == first, 1e4, 1.0)
    faces = [(pde.Dirichlet(), pde.Neumann()), (pde.Neumann(), pde.Robin(1.0, 2.0))]
    op = pde.Diffusion(pde.Grid((48, 48)), (strong(True), strong(False)), faces)
    found = pde.solve(op, lambda x, y: xnp.cos(3 * x + y), report=True)
    assert found.ok
    right = np.asarray(op.field(lambda x, y: xnp.cos(3 * x + y))).ravel()
    want = np.linalg.solve(op.as_matrix(), right)
    np.testing.assert_allclose(found.value.ravel(), want, atol=1e-3 * abs(want).max())
    assert found.method == "sparse"
    few = pde.solve(op, -1.0, method="cg", max_steps=2, report=True)
    assert few.status == pde.Status.max_steps


def test_a_stencil_may_close_over_what_is_differentiated():
    grid = pde.Grid((6, 7))

    def f(a, closed=True):
        rule = lambda u, p: p * (u[1, 0] + u[-1, 0]) + u[0, 1] + u[0, -1] - (2 * p + 3) * u[0, 0]
        op = pde.Stencil(
            grid, (lambda u: rule(u, a)) if closed else rule, params=None if closed else a
        )
        return xnp.sum(pde.solve(op, -1.0))

    a = xnp.asarray(1.5, "float64")
    want = xc.grad(lambda a: f(a, False))(a)
    np.testing.assert_allclose(xc.grad(f)(a), want, rtol=1e-9)
    np.testing.assert_allclose(xc.jit(xc.grad(f))(a), want, rtol=1e-9)
    two = xc.vmap(f)(xnp.stack([a, 2 * a]))
    np.testing.assert_allclose(two, [f(a), f(2 * a)], rtol=1e-9)
