"""The Laplace operator: its matrix, order of accuracy, eigenvalues, and direct solutions."""

import numpy as np
import pytest
from scipy.sparse.linalg import factorized as sparse_solver

import xcore as xc
import xcore.numpy as xnp
from xcore.pde import (
    Dirichlet,
    Grid,
    IncompatibleError,
    Laplacian,
    Neumann,
    Periodic,
    Robin,
    _direct,
    poisson,
)
from xcore.testing import check_grads

rng = np.random.default_rng(0)
D, N, R, P = Dirichlet(), Neumann(), Robin(1.0, 2.0), Periodic()
UNEVEN = tuple(np.linspace(0, 1, 21) ** 1.5)

# grid, conditions, order
KINDS = {
    "line": (Grid(9), D, 2),
    "plane": (Grid((20, 14)), D, 2),
    "ring": (Grid((12, 16)), [(D, N), P], 2),
    "fourth": (Grid((12, 16)), [P, (R, D)], 4),
    "sixth": (Grid((10, 9)), [(N, D), (R, N)], 6),
    "box": (Grid((6, 7, 8), upper=(1, 2, 3.0)), [D, P, (N, D)], 2),
    "compact": (Grid((9, 8)), [D, P], "compact"),
    "compact box": (Grid((7, 8, 9)), D, "compact"),
    "stretched": (Grid((20, 5), stretched=(UNEVEN, None)), [(D, R), N], 2),
    "transforms": (Grid((1200, 3)), [(N, D), D], 2),
    "long ring": (Grid((3, 1100)), [D, P], 2),
    "long box": (Grid((300, 4, 5), upper=(9, 1, 2.0)), [(D, R), P, (N, D)], 2),
}
LONG = ("transforms", "long ring", "long box")


def make(name):
    grid, bc, order = KINDS[name]
    return Laplacian(grid, bc, order)


@pytest.mark.parametrize("name", KINDS)
def test_is_its_matrix(name):
    lap = make(name)
    u = rng.standard_normal(lap.field_shape)
    expected = lap.as_sparse() @ u.ravel()
    assert np.allclose(np.ravel(lap(u)), expected, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("name", KINDS)
def test_direct_solution_is_exact(name):
    lap = make(name)
    f = rng.standard_normal(lap.field_shape)
    u = np.ravel(xc.jit(xc.pde.solve_direct)(lap, f, 0.5, -2.0))
    residual = 0.5 * u - 2 * (lap.as_sparse() @ u) - f.ravel()
    assert (
        np.abs(residual).max() < 1e-13 * np.abs(lap.as_sparse()).sum(axis=1).max() * np.abs(u).max()
    )


NEVER, ALWAYS = 10**6, 2
WAYS = {"whole matrices": (NEVER, NEVER), "halves": (ALWAYS, NEVER), "fast": (NEVER, ALWAYS)}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["plane", "ring", "box", "neumann box", "fourth"])
def test_each_way_to_the_modes(name, way, monkeypatch):
    halves, matrices = WAYS[way]
    monkeypatch.setattr(_direct, "HALVES_FROM", halves)
    monkeypatch.setattr(_direct, "MATRIX_UP_TO", matrices)
    monkeypatch.setattr(_direct, "_SMOOTH_UP_TO", (matrices, matrices))
    lap = Laplacian(Grid((6, 7, 8)), [(D, N), N, (N, D)]) if name == "neumann box" else make(name)
    f = rng.standard_normal(lap.field_shape)
    u = np.ravel(xc.jit(lambda f: xc.pde.solve_direct(lap, f, 0.5, -2.0))(f))
    expected = np.linalg.solve(0.5 * np.eye(f.size) - 2 * lap.as_sparse().toarray(), f.ravel())
    assert np.allclose(u, expected, atol=1e-11 * np.abs(expected).max())


SLABS = {
    "odd": (Grid((13, 12, 17)), D, 2),
    "elimination": (Grid((300, 9, 40)), [(D, R), N, (N, D)], 2),
    "singular": (Grid((9, 34, 10)), [N, P, N], 2),
    "fourth": (Grid((8, 33, 9)), [P, (R, D), N], 4),
    "compact": (Grid((40, 8, 9)), D, "compact"),
    "narrow": (Grid((9, 2, 9), upper=(1, 2, 3.0)), D, 2),
}


@pytest.mark.parametrize("name", SLABS)
def test_slabs_give_what_the_whole_field_gives(name, monkeypatch):
    lap = Laplacian(*SLABS[name])
    f = rng.standard_normal((2, *lap.field_shape))

    def answers(f):
        solve = lambda f: xc.pde.solve_direct(lap, f, 0.0, -1.0)
        _, back = xc.vjp(solve, f[0])
        return solve(f[0]), back(f[1])[0], xc.vmap(solve)(f)

    whole = answers(xnp.asarray(f))
    monkeypatch.setattr(_direct, "IN_SLABS_FROM", 0)
    for x, y in zip(whole, answers(xnp.asarray(f)), strict=True):
        assert np.allclose(x, y, rtol=0, atol=1e-12 * np.abs(x).max())


@pytest.mark.parametrize("slabs_from", [0, NEVER])
@pytest.mark.parametrize("name", SLABS)
def test_accelerators_transform_what_a_cpu_eliminates(name, slabs_from, monkeypatch):
    lap = Laplacian(*SLABS[name])
    f = rng.standard_normal(lap.field_shape)
    solve = lambda f: xc.pde.solve_direct(lap, f, 0.0, -1.0)
    known = xc.jit(lambda f: solve(f))(f)
    monkeypatch.setattr(_direct, "platform_dependent", lambda *a, cpu, default: default(*a))
    monkeypatch.setattr(_direct, "IN_SLABS_FROM", slabs_from)
    assert np.allclose(
        xc.jit(lambda f: solve(f))(f), known, rtol=0, atol=1e-11 * np.abs(known).max()
    )


@pytest.mark.parametrize("faces", [D, N, P, [D, P, N], [P, D, N]], ids=str)
@pytest.mark.parametrize("cells", [(32, 33, 9), (31, 12, 33)])
def test_accelerators_take_products_along_the_first_axis(cells, faces, monkeypatch):
    """In slabs, where a CPU takes transforms; of odd axes not by halves."""
    lap = Laplacian(Grid(cells), faces)
    f = rng.standard_normal(lap.field_shape)
    solve = lambda f: xc.pde.solve_direct(lap, f, 1.0, -1.0)
    known = solve(xnp.asarray(f))
    for name, value in (("IN_SLABS_FROM", 0), ("_SMOOTH_UP_TO", (5, 5)), ("HALVES_FROM", 10)):
        monkeypatch.setattr(_direct, name, value)
    monkeypatch.setattr(_direct, "platform_dependent", lambda *a, cpu, default: default(*a))
    u, back = xc.vjp(solve, xnp.asarray(f))
    np.testing.assert_allclose(u, known, atol=1e-11 * np.abs(known).max())
    np.testing.assert_allclose(np.vdot(back(known)[0], f), np.vdot(known, u), rtol=1e-9)


def test_large_boxes_are_solved_in_the_place_of_their_solutions():
    shape = (511,) * 3
    made = xc.jit(lambda f: poisson(f, Grid((512,) * 3)))
    memory = made.lower(xc.ShapeDtypeStruct(shape, "float32")).compile().memory_analysis()
    assert memory.temp_size_in_bytes < 0.1 * 4 * 511**3


def graded(n, ratio, length=1.0):
    x = np.append(0, np.cumsum(np.geomspace(1, ratio, n)))
    return tuple(x / x[-1] * length)


STIFF = {
    "long": (Grid(3000), [D]), "leaking": (Grid(301), [(N, Robin(1e-4, 1.0))]),
    "leaking plane": (Grid((31, 30)), [(N, Robin(1e-7, 1.0)), N]),
    "short": (Grid(31, upper=1e-6), [(N, Robin(1.0, 1.0))]), "thin": (Grid((30, 31), upper=(1.0, 1e-3)), [D, P]),
    "graded ring": (Grid((30, 31), stretched=(None, graded(31, 1e4, 1e-3))), [D, P]),
    "graded": (Grid((24, 25), stretched=(graded(24, 1e4), graded(25, 1e3))), [(D, N), (Robin(1e-5, 1.0), N)]),
    "graded solid": (Grid((9, 8, 7), stretched=(None, None, graded(7, 1e4))), [D, N, P]),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", STIFF)
def test_direct_solutions_have_their_digits_whatever_the_condition_number(name, dtype):
    """Up to 1e15: matrices of flows have inverses that small changes of conductances change little."""
    with xc.enable_x64():
        lap = Laplacian(*STIFF[name])
        exact = sparse_solver(lap.as_sparse().tocsc()) if dtype == "float32" else None
        for f in (np.ones(lap.field_shape), rng.standard_normal(lap.field_shape)):
            f = f.astype(dtype)
            answer = xc.pde.solve(lap, f, report=True)
            assert answer.ok and answer.value.dtype == dtype
            if exact:
                u = exact(f.astype(np.float64).ravel()).reshape(f.shape)
                assert np.abs(answer.value - u).max() < 3e-5 * np.abs(u).max()


@pytest.mark.parametrize("name", ["plane", "ring", "box", "compact box", "stretched"])
def test_symmetric_when_weighted(name):
    lap = make(name)
    a = lap.weights.ravel()[:, None] * lap.as_sparse().toarray()
    assert np.allclose(a, a.T, atol=1e-13 * np.abs(a).max())
    plain = lap.as_sparse().toarray()
    assert not lap.symmetric or np.allclose(plain, plain.T)


@pytest.mark.parametrize("name", [n for n in KINDS if n not in LONG])
def test_eigenvalues(name):
    lap = make(name)
    w = np.sort(np.linalg.eigvals(lap.as_sparse().toarray()).real)
    assert np.allclose(lap.eigenvalues(np.float64), w, atol=1e-12 * np.abs(w).max())


def test_long_axes_hold_no_table():
    n = 2**17
    with xc.enable_x64():
        u = rng.standard_normal(n - 1)
        wide = np.concatenate([[0.0], u, [0.0]])
        want = n**2 * np.diff(wide, 2)
        assert np.allclose(Laplacian(Grid(n))(u), want, rtol=1e-12, atol=1e-3)
        ring, fourth = Laplacian(Grid(n), P), Laplacian(Grid(n), [(N, D)], order=4)
        assert np.allclose(ring(np.ones(n)), 0, atol=1e-3)
        few = Laplacian(Grid(40), [(N, D)], order=4).axes[0].corners
        for block, like in zip(fourth.axes[0].corners, few, strict=True):
            assert np.allclose(block, like * (n / 40) ** 2, rtol=1e-6, atol=1.0)


def test_transposed():
    lap = make("sixth")
    u, v = rng.standard_normal((2, lap.shape[0]))
    assert np.isclose(v @ np.asarray(lap @ u), u @ np.asarray(lap.T @ v))


# Order of accuracy
# u = exp(k·x) has no symmetry that could hide an error; for rings sines and cosines.


def exact_for(ndim, ring):
    def along(i, x):
        return xnp.sin(2 * np.pi * x + 0.3) if ring[i] else xnp.exp((2.0 + 0.5 * i) * x)

    def u(*xs):
        out = along(0, xs[0])
        for i in range(1, ndim):
            out = out * along(i, xs[i])
        return out

    rates = [-4 * np.pi**2 if ring[i] else (2.0 + 0.5 * i) ** 2 for i in range(ndim)]
    return u, sum(rates)


def conditions(letters, u):
    """Conditions whose data belong to u, from a pair of letters for each axis."""

    def one(letter, axis, sign):
        def slope(*xs):
            return sign * (2.0 + 0.5 * axis) * u(*xs)

        if letter == "D":
            return Dirichlet(u)
        if letter == "N":
            return Neumann(slope)
        return Robin(1.0, 2.0, lambda *xs: u(*xs) + 2 * slope(*xs)) if letter == "R" else P

    return [(one(a, i, -1), one(b, i, 1)) for i, (a, b) in enumerate(letters)]


CASES = [
    *[(letters, order) for order in (2, 4, 6) for letters in (["DD"], ["DN"], ["RD"])],
    *[(letters, order) for order in (2, 4, 6) for letters in (["DN", "PP"], ["RD", "DD"])],
    (["DD", "DD"], "compact"),
    (["DD", "PP"], "compact"),
    (["DD", "DD", "DD"], "compact"),
    (["DD", "DN", "PP"], 2),
    (["DR", "DD", "ND"], 4),
]


# Cells, and how far the slope may be below the order. Rows next to faces reach orders 4 and 6 from
# below; in one dimension order 6 is at 5.8 where rounding takes over.
GRIDS = {
    (2, 1): ((12, 24), 0.1), (2, 2): ((12, 24), 0.1), (2, 3): ((12, 24), 0.1),
    (4, 1): ((48, 96), 0.15), (4, 2): ((48, 96), 0.15), (4, 3): ((32, 64), 0.2),
    (6, 1): ((32, 64), 0.25), (6, 2): ((64, 128), 0.2),
    ("compact", 2): ((24, 48), 0.1), ("compact", 3): ((12, 24), 0.1),
}  # fmt: skip


@pytest.mark.parametrize("letters, order", CASES)
def test_order_of_accuracy(letters, order):
    ndim = len(letters)
    u, rate = exact_for(ndim, [x == "PP" for x in letters])
    counts, less = GRIDS[order, ndim]
    errors = []
    with xc.enable_x64():
        for n in counts:
            grid = Grid((n,) * ndim)
            lap = Laplacian(grid, conditions(letters, u), order)
            got = xc.pde.poisson(lambda *xs: -rate * u(*xs), grid, lap.faces, order=order)
            errors.append(float(xnp.max(xnp.abs(got - u(*lap.points())))))
    number = 4 if order == "compact" else order
    assert np.log2(errors[0] / errors[1]) > number - less, errors
    assert errors[1] < 0.2


def test_pure_neumann():
    with xc.enable_x64():
        grid = Grid((16, 16))
        f = lambda x, y: xnp.cos(np.pi * x) * xnp.cos(2 * np.pi * y)
        u = xc.pde.poisson(f, grid, N)
        x, y = grid.coordinates()
        assert np.abs(u - f(x, y) / (5 * np.pi**2)).max() < 2e-3
        assert abs(grid.integrate(u)) < 1e-14
    with pytest.raises(IncompatibleError, match="must balance"):
        xc.pde.poisson(1.0, grid, N)


def test_full_field_has_the_given_edges():
    grid = Grid((4, 3))
    g = lambda x, y: 1 + x + 2 * y
    u = xc.pde.poisson(0.0, grid, Dirichlet(g))
    full = Laplacian(grid, Dirichlet(g)).full(u)
    assert np.allclose(full, g(*grid.coordinates()), atol=1e-5)
    ring = Laplacian(grid, [P, (D, N)])
    full = ring.full(ring.field(lambda x, y: y))
    assert full.shape == grid.shape and np.allclose(full[0], full[-1])


# Derivatives


def test_gradients():
    grid = Grid((6, 5))
    edge = rng.standard_normal(6)

    def solve(f, g, shift):
        lap = Laplacian(grid, [(Dirichlet(g), Neumann(g)), (R, D)])
        return xc.pde.solve_direct(lap, f - lap.boundary(), shift, -1.0)

    lap = Laplacian(grid, [(D, N), (R, D)])
    f = rng.standard_normal(lap.field_shape)
    check_grads(solve, (f, edge, 0.7), order=1)
    fourth = Laplacian(Grid((8, 7)), D, 4)
    f = rng.standard_normal(fourth.field_shape)
    check_grads(lambda f: xc.pde.solve_direct(fourth, f), (f,), order=1)


def test_batches_of_sources_and_edges():
    grid = Grid((6, 5))
    f, g = rng.standard_normal((3, 5, 4)), rng.standard_normal(3)
    many = xc.vmap(lambda f, g: xc.pde.poisson(f, grid, Dirichlet(g)))(f, g)
    one = xc.pde.poisson(f[1], grid, Dirichlet(g[1]))
    assert np.allclose(many[1], one)


# Errors

BAD = [
    (lambda: Grid((4, 0)), "positive whole numbers"),
    (lambda: Grid((4, 4, 4, 4)), "1 to 3"),
    (lambda: Grid(np.nan), "positive whole numbers"),
    (lambda: Grid(4, upper=-1.0), "above lower"),
    (lambda: Grid(4, upper=np.inf), "finite"),
    (lambda: Grid(2, stretched=((0.0, 2.0, 1.0),)), "rising"),
    (lambda: Laplacian(Grid(4), "Dirichlet"), r"faces must be a condition \(pde.Dirichlet"),
    (lambda: Grid(2, stretched=((0.0, np.nan, 1.0),)), "rising"),
    (lambda: Laplacian(Grid((4, 4)), [D]), "2 of them"),
    (lambda: Laplacian(Grid(4), [None]), "a condition"),
    (lambda: Laplacian(Grid(4), [0.0]), "a condition"),
    (lambda: Laplacian(Grid(4), [(D, P)]), "faces must be Periodic on both faces"),
    (lambda: Laplacian(Grid((4, 5)), Dirichlet(np.ones(4))), "on face low of axis 0"),
    (lambda: Laplacian(Grid(4), D, 3), "2, 4, 6"),
    (lambda: Laplacian(Grid(4), D, 4), "6 or more"),
    (lambda: Laplacian(Grid((8, 8)), N, "compact"), "Dirichlet or Periodic"),
    (lambda: Laplacian(Grid(20, stretched=(UNEVEN,)), D, 4), "Stretched axes have order 2"),
    (lambda: Robin(-1.0), "gives energy"),
    (lambda: Robin(np.inf), "gives energy"),
    (lambda: xc.pde.poisson(np.ones(7), Grid((4, 5))), "of all nodes"),
    (lambda: Grid((4, 5)).integrate(np.ones(3)), "all nodes"),
    (lambda: Grid((4, 5)).coarser(), "even numbers"),
]


@pytest.mark.parametrize("call, words", BAD)
def test_errors_explain(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_grid_is_hashable_and_moves_between_levels():
    assert hash(Grid((4, 6))) == hash(Grid([4, 6])) and Grid((4, 6)) == Grid((4, 6))
    grid = Grid((8, 4), stretched=(tuple(np.linspace(0, 1, 9) ** 2), None))
    coarse = grid.coarser()
    assert coarse.cells == (4, 2) and coarse.finer().shape == grid.shape
    x, y = coarse.coordinates()
    fine = coarse.finer().coordinates()
    assert np.allclose(coarse.prolong(1 + x + y), 1 + fine[0] + fine[1], atol=1e-6)
    assert np.allclose(coarse.finer().restrict(np.ones(grid.shape)), 1)


# Memory, in fields


def captured(f, x) -> float:
    """Bytes of the arrays that a jitted function captures, relative to its argument."""
    return sum(c.nbytes for c in xc.jit(f).trace(x).jaxpr.consts) / x.dtype.itemsize / x.size


@pytest.mark.parametrize("bc", [D, N, P, [(D, N), P, R]], ids=["D", "N", "P", "mixed"])
def test_no_table_of_the_size_of_a_field_is_captured(bc):
    grid = Grid((40, 41, 42))
    f = xc.ShapeDtypeStruct(Laplacian(grid, bc).field_shape, np.float32)
    assert captured(lambda f: poisson(f, grid, bc), f) < 0.4  # the modes of axes: n² of n³
    assert captured(xc.grad(lambda f: (poisson(f, grid, bc) ** 2).sum()), f) < 0.4


def test_temporaries_of_a_direct_solution_are_two_fields():
    grid = Grid((65,) * 3)
    f = xc.ShapeDtypeStruct((64,) * 3, np.float64)
    memory = xc.jit(lambda f: poisson(f, grid)).lower(f).compile().memory_analysis()
    fields = 8 * 64**3
    assert memory.temp_size_in_bytes < 2.1 * fields
    assert memory.argument_size_in_bytes + memory.output_size_in_bytes < 2.25 * fields


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_widths_multiply_within_the_range(scale):
    """Volumes about 1 of float32 whose first two factors together are far outside of its range."""
    last = tuple(np.asarray([0, 0.1, 0.3, 0.6, 1.0]) * scale**-5)
    grid = Grid((4, 4, 4), upper=(scale**2.5, scale**2.5, 1), stretched=(None, None, last))
    lap = Laplacian(grid)
    w = np.asarray(lap.volumes(np.float32), np.float64)
    np.testing.assert_allclose(w, lap.weights, rtol=1e-5)
