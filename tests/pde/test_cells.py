"""Fields of cells: matrices, modes, orders of accuracy, coefficients on faces, and what they refuse."""

import itertools

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.pde._faces import axes_of
from xcore.testing import check_grads

rng = np.random.default_rng(0)
CONDITIONS = {"D": pde.Dirichlet(), "N": pde.Neumann(), "R": pde.Robin(2.0, 0.5)}
PAIRS = [*itertools.product("DNR", "DNR"), ("P", "P")]
UNEVEN = (0.0, 0.1, 0.3, 0.35, 0.5, 0.8, 1.0)


@pytest.fixture(autouse=True)
def _double():
    with xc.enable_x64():
        yield


def faces(*pairs):
    conditions = CONDITIONS | {"P": pde.Periodic()}
    return [tuple(conditions[k] for k in pair) for pair in pairs]


def by_numpy(op, f):
    """The solution from the operator's matrix: independent of all of our solvers."""
    right = np.ravel(op.field(f) - op.boundary())
    return np.linalg.solve(op.as_sparse().toarray(), right).reshape(op.field_shape)


def flows(a, corners, pair):
    """(matrix, what data add) of (a u')' on one axis of cells, from flows over faces."""
    a, corners = np.asarray(a, float), np.asarray(corners, float)
    n, w = len(a), np.diff(corners)
    m, data, robin = np.zeros((n, n)), np.zeros((n, 2)), {"D": (1, 0), "N": (0, 1), "R": (2, 0.5)}
    for i in range(n if pair[0] == "P" else n - 1):
        j = (i + 1) % n
        flow = 2 / (w[i] / a[i] + w[j] / a[j])
        m[i, [i, j]] += np.array([-flow, flow]) / w[i]
        m[j, [j, i]] += np.array([-flow, flow]) / w[j]
    for side, i in enumerate((0, n - 1) if pair[0] != "P" else ()):
        alpha, beta = robin[pair[side]]
        # alpha face + beta (face - u) / (w/2) = g
        face_g = 1 / (alpha + 2 * beta / w[i])
        face_u = 2 * beta / w[i] * face_g
        m[i, i] += a[i] * (face_u - 1) * 2 / w[i] ** 2
        data[i, side] += a[i] * face_g * 2 / w[i] ** 2
    return m, data


@pytest.mark.parametrize("corners", [None, UNEVEN], ids=["equal", "uneven"])
def test_axes_are_flows_over_faces_and_know_their_modes(corners):
    grid = pde.Grid.cells(6, stretched=None if corners is None else (corners,))
    for pair in PAIRS:
        (axis,) = axes_of(grid, faces(pair))
        m, data = flows(np.ones(6), grid.corners(0), pair)
        assert np.allclose(axis.matrix, m, atol=1e-11)
        if pair[0] != "P":
            assert np.allclose(np.stack([axis.low, axis.high], 1), data, atol=1e-11)
        v, inverse = axis.modes
        assert np.allclose(v * axis.eigenvalues @ inverse, m, atol=1e-10)


def test_diffusion_is_flows_over_faces():
    grid = pde.Grid.cells((6, 5), stretched=(UNEVEN, None))
    a = 10.0 ** rng.uniform(-3, 3, grid.shape)
    for pairs in (("DR", "ND"), ("NN", "PP"), ("PP", "RD")):
        op, want = pde.Diffusion(grid, a, faces(*pairs)), 0
        u = rng.standard_normal(grid.shape)
        want = np.stack(
            [flows(a[:, j], grid.corners(0), pairs[0])[0] @ u[:, j] for j in range(5)], 1
        )
        want += np.stack([flows(a[i], grid.corners(1), pairs[1])[0] @ u[i] for i in range(6)])
        assert np.allclose(op(u), want, rtol=1e-10, atol=1e-10 * np.abs(want).max())


@pytest.mark.parametrize("pair", ["DD", "NN", "DN", "ND", "PP"])
def test_long_axes_by_transforms(pair):
    lap = pde.Laplacian(pde.Grid.cells(1100), faces(pair))
    f = rng.standard_normal(1100)
    u = pde.solve_direct(lap, f, -1.0, 1.0)
    assert np.allclose(lap.as_sparse() @ np.asarray(u) - u, f, atol=1e-8)


def smooth(x, y):
    return xnp.sin(1.3 * x + 0.4) * xnp.exp(0.7 * y) + x * y


def slopes(x, y):
    wave = xnp.exp(0.7 * y)
    return 1.3 * xnp.cos(1.3 * x + 0.4) * wave + y, 0.7 * xnp.sin(1.3 * x + 0.4) * wave + x


def data(kind, axis, side):
    out = (-1, 1)[side]
    normal = lambda x, y: out * slopes(x, y)[axis]
    return {
        "D": pde.Dirichlet(smooth), "N": pde.Neumann(normal),
        "R": pde.Robin(2.0, 0.5, lambda x, y: 2 * smooth(x, y) + 0.5 * normal(x, y)),
    }[kind]  # fmt: skip


@pytest.mark.parametrize("pairs", [("DN", "RD"), ("RR", "NN")])
def test_order_of_accuracy_with_constant_and_smooth_coefficients(pairs):
    errors = []
    weight = lambda x, y: 1 + x + y
    for n in (6, 18):
        grid = pde.Grid.cells((n, n // 2 * 3), upper=(1, 1.5))
        bc = [tuple(data(k, i, s) for s, k in enumerate(p)) for i, p in enumerate(pairs)]
        x, y = grid.coordinates()
        right = (0.49 - 1.69) * (smooth(x, y) - x * y)
        u = pde.poisson(-right, grid, bc)
        v = by_numpy(pde.Diffusion(grid, weight, bc), weight(x, y) * right + sum(slopes(x, y)))
        errors.append([float(xnp.abs(w - smooth(x, y)).max()) for w in (u, v)])
    # the largest of several errors, which fall at different places
    assert np.all(np.log(np.divide(*errors)) / np.log(3) > 1.7)


@pytest.mark.parametrize("jump", [1e3])
def test_jumps_on_faces_keep_the_order(jump):
    # (a u')' = -eˣ, a = 1 up to 1/2, then the jump; u(0) = 0, 2 u(1) + u'(1) = 3
    def exact(x, q):
        left = lambda x: 1 - np.exp(x) + (q + 1) * x
        beyond = left(0.5) + (np.exp(0.5) - np.exp(x) + (q + 1) * (x - 0.5)) / jump
        return np.where(x < 0.5, left(x), beyond)

    miss = lambda q: 2 * exact(1.0, q) + (1 - np.e + q) / jump - 3
    q = -miss(0) / (miss(1) - miss(0))
    errors = []
    for n in (10, 30):
        grid = pde.Grid.cells(n)
        x = grid.nodes(0)
        op = pde.Diffusion(
            grid, np.where(x < 0.5, 1, jump), [(pde.Dirichlet(), pde.Robin(2.0, 1.0, 3.0))]
        )
        u = by_numpy(op, lambda x: -xnp.exp(x))
        errors.append(np.abs(u - exact(x, q)).max() / np.abs(exact(x, q)).max())
    assert np.log(np.divide(*errors)) / np.log(3) > 1.9


@pytest.mark.parametrize("centred", [False, True], ids=["nodes", "cells"])
def test_coefficients_on_faces(centred):
    # the harmonic means of a are what lies between its nodes, so both say the same
    grid = pde.Grid((5, 4), centred=centred)
    a = rng.uniform(1, 9, grid.shape)
    mean = lambda x, y: 2 / (1 / x + 1 / y)
    inner = mean(a[1:], a[:-1]), mean(a[:, 1:], a[:, :-1])
    if centred:
        inner = (np.concatenate([a[:1], inner[0], a[-1:]]),
                 np.concatenate([a[:, :1], inner[1], a[:, -1:]], 1))  # fmt: skip
    kinds = [("DD", "DD")] + [("DR", "NN")] * centred
    for pairs in kinds:
        first, second = (pde.Diffusion(grid, v, faces(*pairs)) for v in (a, inner))
        u = rng.standard_normal(first.field_shape)
        assert np.allclose(first(u), second(u))
        assert np.allclose(first.boundary(), second.boundary())
    # around a ring: the last one leads back to the first node
    ring = pde.Grid(4, centred=centred)
    edges = np.array([1.0, 2.0, 3.0, 4.0] + [1.0] * centred)
    op = pde.Diffusion(ring, (edges,), pde.Periodic())
    m = op.as_sparse().toarray() / 16
    if centred:  # the first is before the first cell
        edges = np.roll(edges[:4], -1)
    want = sum(
        e * np.outer(x := np.eye(4)[i] - np.eye(4)[(i + 1) % 4], -x)
        for i, e in enumerate(edges[:4])
    )
    assert np.allclose(m, want)


def test_order_with_coefficients_between_nodes_and_flows_through_faces():
    errors = []
    for n in (10, 30):
        grid = pde.Grid(n)
        middle = (grid.nodes(0)[1:] + grid.nodes(0)[:-1]) / 2
        op = pde.Diffusion(
            grid, (1 + middle**2,), [(pde.Neumann(-1.0), pde.Robin(1.0, 2.0, float(np.exp(1) * 3)))]
        )
        right = op.field(lambda x: xnp.exp(x) * (1 + x**2 + 2 * x))
        errors.append(float(np.abs(by_numpy(op, right) - xnp.exp(op.points()[0])).max()))
    assert np.log(np.divide(*errors)) / np.log(3) > 1.8


def test_derivatives_with_respect_to_coefficients_and_data():
    grid = pde.Grid.cells((4, 3))
    w = rng.standard_normal(grid.shape)

    def flow(log_a, between, g):
        bc = [(pde.Dirichlet(g), pde.Robin(2.0, 0.5, g[0])), pde.Neumann(0.3)]
        first = pde.solve(pde.Diffusion(grid, xnp.exp(log_a), bc), 1.0)
        second = pde.solve(pde.Diffusion(grid, (xnp.exp(between), xnp.exp(log_a)), bc), 1.0)
        return xnp.sum(w * (first + second**2))

    args = rng.standard_normal(grid.shape), rng.standard_normal((5, 3)), rng.standard_normal(3)
    check_grads(flow, args, order=1, modes=["rev"], rtol=1e-5)


def test_modes_and_time():
    grid = pde.Grid.cells((12, 10))
    lap = pde.Laplacian(grid, faces("DN", "DD"))
    w, modes = pde.eigenmodes(lap, 5)
    dense = -np.sort(-np.linalg.eigvals(lap.as_sparse().toarray()).real)
    assert np.allclose(w, -dense[:5])
    assert np.allclose(-lap(modes[3]), w[3] * modes[3], atol=1e-9)
    step = pde.ThetaMethod(lap)
    after = pde.trajectory(step, modes[0], 0.01, 3)[-1]
    assert np.allclose(after, ((1 - 0.005 * w[0]) / (1 + 0.005 * w[0])) ** 3 * modes[0])
    op = pde.Diffusion(grid, lambda x, y: 1 + 5 * x * y, faces("NN", "RN"))
    m = op.as_sparse().toarray()
    assert np.allclose(pde.eigenmodes(op, 3)[0], np.sort(np.linalg.eigvals(-m).real)[:3], rtol=1e-6)
    u = rng.standard_normal(grid.shape)
    after = pde.trajectory(pde.ThetaMethod(op), u, 0.01, 1)[-1]
    one = np.eye(120)
    want = np.linalg.solve(one - 0.005 * m, (one + 0.005 * m) @ u.ravel())
    assert np.allclose(np.ravel(after), want)


@pytest.mark.parametrize("pairs", [("DN", "RD"), ("PP", "NR")])
def test_first_derivatives_and_stencils(pairs):
    grid = pde.Grid.cells((5, 6), upper=(2, 1.5))
    square = lambda x, y: 1 + x - 2 * y + 3 * x * x - y * y
    normal = {0: lambda x, y: 1 + 6 * x + 0 * y, 1: lambda x, y: -2 - 2 * y + 0 * x}

    def given(axis, side, kind):
        out = lambda x, y: (-1, 1)[side] * normal[axis](x, y)
        return {"D": pde.Dirichlet(square), "N": pde.Neumann(out), "P": pde.Periodic(),
                "R": pde.Robin(2.0, 0.5, lambda x, y: 2 * square(x, y) + 0.5 * out(x, y))}[kind]  # fmt: skip

    bc = [tuple(given(i, s, k) for s, k in enumerate(pair)) for i, pair in enumerate(pairs)]
    points = grid.coordinates()
    slope = pde.Gradient(grid, bc)
    for axis, (part, rest) in enumerate(zip(slope(square(*points)), slope.boundary(), strict=True)):
        if pairs[axis] != "PP":  # a parabola is none that goes around
            assert np.allclose(part + rest, normal[axis](*points))
    u = rng.standard_normal(grid.shape)
    hx, hy = (h**-2 for h in grid.spacing)
    five = pde.Stencil(
        grid,
        lambda u: hx * (u[1, 0] + u[-1, 0]) + hy * (u[0, 1] + u[0, -1]) - 2 * (hx + hy) * u[0, 0],
        bc,
    )
    lap = pde.Laplacian(grid, bc)
    assert np.allclose(five(u), lap(u))
    assert np.allclose(five.boundary(), lap.boundary())
    flow = 0.1 * lap - pde.Advection(grid, (1.0, -2.0), bc)
    v = pde.solve(flow, u)
    assert np.allclose(flow(v) + flow.boundary(), u)


def test_waves_and_diffusions_are_solved_by_their_elements():
    grid = pde.Grid.cells((40, 30))
    wave = pde.Helmholtz(grid, lambda x, y: 9 + x, faces("ND", "DD"))
    f = rng.standard_normal(grid.shape)
    assert np.allclose(wave(pde.solve(wave, f)), f, atol=1e-6)
    op = pde.Diffusion(grid, 10.0 ** rng.uniform(-3, 3, grid.shape), faces("NN", "NN"))
    for method, steps in (("auto", 1), ("cg", 39)):
        answer = pde.solve(op, f - f.mean(), method=method, report=True)
        assert bool(answer.ok) and int(answer.steps) <= steps
        assert np.allclose(op(answer.value), f - f.mean(), atol=1e-5)


def test_grids_of_cells():
    grid = pde.Grid.cells((6, 4), upper=(1, 2), stretched=(UNEVEN, None))
    x, y = grid.coordinates()
    assert grid.shape == grid.cells == (6, 4) and grid.finer().cells == (12, 8)
    assert np.isclose(grid.integrate(x * y), 1.0)  # midpoints integrate what is linear
    assert np.isclose(grid.coarser().integrate(grid.restrict(x * y**2)), grid.integrate(x * y**2))
    fine, (fx, fy) = grid.prolong(x + 2 * y), grid.finer().coordinates()
    assert np.allclose(fine[1:-1, 1:-1], (fx + 2 * fy)[1:-1, 1:-1])
    assert pde.Grid.cells(4) == pde.Grid(4, centred=True) != pde.Grid(4)
    pyplot = pytest.importorskip("matplotlib.pyplot")
    shown = xc.plot.field(pde.Diffusion(grid), x)
    assert shown.collections[0].get_array().size == 24
    grid.plot(x)
    pyplot.close("all")


CELLS = pde.Grid.cells((8, 8))
REFUSED = {
    "estimate": (lambda: pde.solve(pde.Laplacian(CELLS), 1.0, estimate=True), "grid.coarser"),
    "full multigrid": (lambda: pde.solve(pde.Diffusion(CELLS), 1.0, method="full multigrid"), "cells"),
    "order": (lambda: pde.Laplacian(CELLS, order=4), "2 for fields of cells"),
    "compact": (lambda: pde.Laplacian(CELLS, order="compact"), "2 for fields of cells"),
    "mask": (lambda: pde.Masked(CELLS, lambda x, y: x > 0.5), "nodes"),
    "fitted": (lambda: pde.Advection(CELLS, (1.0, 1.0), scheme="fitted", diffusion=1.0), "cells"),
    "at nodes": (lambda: pde.Diffusion(CELLS, np.ones((9, 9))), r"of all cells, \(8, 8\)"),
    "field": (lambda: pde.solve(pde.Laplacian(CELLS), np.ones((9, 9))), r"cells \(8, 8\)"),
    "faces": (lambda: pde.Diffusion(CELLS, (np.ones((8, 9)), 1.0)), r"on the faces.*\(9, 8\)"),
    "mixed": (lambda: pde.Laplacian(CELLS) + pde.Laplacian(pde.Grid((9, 9))), "that of the first"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cells_refuse_is_said_in_words(name):
    call, words = REFUSED[name]
    with pytest.raises(ValueError, match=words):
        call()


# Coefficients that are matrices


def turned(x, y):
    """A symmetric matrix that turns from place to place, with eigenvalues 1 and 9."""
    c, s = xnp.cos(x + 2 * y), xnp.sin(x + 2 * y)
    return (9 * c * c + s * s, 8 * c * s), (8 * c * s, c * c + 9 * s * s)


def flux(axis):
    """The element of a grad u of ``smooth``."""
    return lambda x, y: sum(a * s for a, s in zip(turned(x, y)[axis], slopes(x, y), strict=True))


def test_order_with_a_matrix_that_turns():
    conormal = lambda axis, sign: lambda x, y: sign * flux(axis)(x, y) / turned(x, y)[axis][axis]
    robin = pde.Robin(2.0, 1.0, lambda x, y: 2 * smooth(x, y) + conormal(0, 1)(x, y))
    bc = [(pde.Dirichlet(smooth), robin), pde.Dirichlet(smooth)]
    errors = []
    for n in (12, 30):
        op = pde.Diffusion(pde.Grid((n, n), upper=(1, 1.5)), turned, bc)
        x, y = op.points()
        one, zero = xnp.ones_like(x), xnp.zeros_like(x)
        right = xc.jvp(flux(0), (x, y), (one, zero))[1] + xc.jvp(flux(1), (x, y), (zero, one))[1]
        errors.append(float(np.abs(by_numpy(op, right) - smooth(x, y)).max()))
    assert np.log(np.divide(*errors)) / np.log(2.5) > 1.8, errors


@pytest.mark.parametrize("pairs", [("DN", "RD"), ("PP", "NN")])
def test_a_matrix_is_symmetric_and_definite_and_solved_in_each_way(pairs):
    grid = pde.Grid((9, 8), stretched=(None, tuple(np.linspace(0, 1, 9) ** 1.3)))
    q = rng.standard_normal((10, 9, 2, 2))
    a = np.moveaxis(q @ np.swapaxes(q, 2, 3) + 0.1 * np.eye(2), (2, 3), (0, 1))
    op = pde.Diffusion(grid, a, faces(*pairs))
    m = op.as_sparse().toarray() * np.ravel(op.weights)[:, None]
    assert np.allclose(m, m.T, atol=1e-12) and np.linalg.eigvalsh(m).max() < 1e-10
    assert np.allclose(np.abs(m).sum(1) / np.ravel(op.weights), np.ravel(op.absolute()))
    u = rng.standard_normal(op.field_shape)
    f = op(u) + op.boundary()
    got = pde.solve(op, f, rtol=1e-10)
    assert np.allclose(op(got) + op.boundary(), f, atol=1e-6)
    one = np.eye(u.size) - 0.01 * op.as_sparse().toarray()
    after = pde.trajectory(pde.ThetaMethod(op, theta=1.0), u, 0.01, 1)[-1]
    assert np.allclose(one @ np.ravel(after), u.ravel(), atol=1e-8)


def test_a_constant_matrix_in_space_is_exact_for_parabolas():
    grid = pde.Grid((4, 5, 3))
    m = np.array([[3.0, 1.0, -0.5], [1.0, 2.0, 0.7], [-0.5, 0.7, 1.5]])
    h = rng.standard_normal((3, 3))
    parabola = lambda *p: sum(h[i, j] * p[i] * p[j] for i in range(3) for j in range(3)) + p[0]
    op = pde.Diffusion(grid, m, pde.Dirichlet(parabola), c=2.0)
    u = op.field(parabola)
    assert np.allclose(op(u) + op.boundary() + 2 * u, np.sum(m * (h + h.T)), atol=1e-9)
    with pytest.raises(ValueError, match="symmetric"):
        pde.Diffusion(grid, m + np.triu(np.ones((3, 3))))
    with pytest.raises(ValueError, match="positive definite"):
        pde.Diffusion(grid, m - 3 * np.eye(3))
    with pytest.raises(ValueError, match="cells"):
        pde.Diffusion(CELLS, ((2.0, 1.0), (1.0, 2.0)))
    with pytest.raises(ValueError, match="all nodes"):
        pde.Diffusion(pde.Grid((4, 4)), np.ones((2, 2, 4, 4)))


def test_derivatives_with_respect_to_a_matrix():
    grid = pde.Grid((4, 4))
    w, shape = rng.standard_normal((3, 4)), (5, 5)

    def flow(p, b):
        op = pde.Diffusion(
            grid,
            ((xnp.exp(p), b), (b, 2 + b**2)),
            [pde.Dirichlet(p[0]), (pde.Dirichlet(), pde.Neumann())],
        )
        return xnp.sum(w * pde.solve(op, 1.0))

    check_grads(
        flow,
        (rng.standard_normal(shape), 0.3 * rng.standard_normal(shape)),
        order=1,
        modes=["rev"],
        rtol=1e-5,
    )


def test_an_image_on_nodes_is_told_where_it_belongs():
    with pytest.raises(ValueError, match=r"an image, a value in each cell, belongs on Grid\.cells"):
        pde.Diffusion(pde.Grid((4, 5)), np.ones((4, 5)))
