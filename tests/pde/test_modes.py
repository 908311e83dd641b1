"""Eigenmodes against closed forms."""

import functools

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import xcore as xc
import xcore.numpy as xnp
from xcore.pde import (
    Diffusion,
    Dirichlet,
    Grid,
    Laplacian,
    Masked,
    Neumann,
    Periodic,
    Robin,
    eigenmodes,
)

D, N, P = Dirichlet(), Neumann(), Periodic()


@pytest.mark.parametrize("bc", [Dirichlet(), Neumann()])
def test_modes_of_the_laplace_operator(bc):
    with xc.enable_x64():
        lap = Laplacian(Grid((12, 9), upper=(1.0, 0.7)), bc)
        w, modes = eigenmodes(lap, 4)
        assert np.allclose(w, np.sort(-np.asarray(lap.eigenvalues()))[:4], rtol=1e-9, atol=1e-8)
        assert np.allclose([-lap(m) for m in modes], w[:, None, None] * modes, atol=1e-6)
        gram = [[float(lap.integrate(a * b)) for a in modes] for b in modes]
        assert np.allclose(gram, np.eye(4), atol=1e-9)


R = Robin(2.0, 0.5)
BENT = tuple((np.arange(8) / 7) ** 1.5)
BOXES = {
    **{f"{bc} {n}": (Grid(n), [bc]) for n in (2, 3, 16, 17, 64)
       for bc in (D, N, P, R, (D, N), (N, D), (R, D), (N, R)) if n < 64 or bc is D},
    "stretched": (Grid((7, 6), stretched=(BENT, None)), [(N, R), D]),
    "stretched ring": (Grid((7, 6), stretched=(BENT, None)), [P, N]),
    "square": (Grid((9, 9)), D), "torus": (Grid((8, 8)), P), "Neumann": (Grid((6, 6)), N),
    "cube": (Grid((5, 5, 5)), D), "3-torus": (Grid((4, 4, 4)), P),
    "mixed": (Grid((4, 5, 6), upper=(1.0, 2.0, 0.1)), [R, (D, N), P]),
    "large": (Grid((5, 6), upper=1e30), [D, (N, D)]), "small": (Grid((5, 6), upper=1e-30), [N, P]),
}  # fmt: skip


@pytest.mark.parametrize("name", BOXES)
def test_all_modes_of_boxes_beside_dense_matrices(name):
    """Of the Laplace operator, and of a Δ - c with a number for each axis: every multiple is there."""
    grid, bc = BOXES[name]
    with xc.enable_x64():
        lap = Laplacian(grid, bc)
        a = tuple(1.0 + np.arange(grid.ndim)) if name == "mixed" else 2.5
        c = abs(lap.as_matrix()).max() / 7
        for op in (lap, Diffusion(grid, a, bc, c)):
            matrix = -np.asarray(op.as_matrix())
            root = np.sqrt(np.ravel(op.weights))
            even = matrix * root[:, None] / root
            expected, large = np.linalg.eigvalsh((even + even.T) / 2), abs(matrix).max()
            for k in {1, min(6, root.size), root.size}:
                w, modes = eigenmodes(op, k)
                rows = np.asarray(modes).reshape(k, -1)
                assert abs(w - expected[:k]).max() <= 1e-13 * large * root.size
                assert np.allclose(rows * root**2 @ rows.T, np.eye(k), atol=1e-12)
                wrong = (rows @ matrix.T - np.asarray(w)[:, None] * rows) * root
                assert abs(wrong).max() <= 1e-12 * large


HIGHER = {
    "line": ((9,), [D]), "ring": ((9,), [P]), "Neumann line": ((12,), [N]), "mixed": ((9, 8), [(D, N), P]),
    "Robin": ((10, 9), [(R, N), D]), "square": ((8, 8), [D, D]), "torus": ((8, 8), [P, P]),
    "solid": ((8, 9, 8), [D, P, D]), "3-torus": ((4, 4, 4), [P, P, P]),
}  # fmt: skip


@pytest.mark.parametrize("order", [4, 6, "compact"])
@pytest.mark.parametrize("name", HIGHER)
def test_modes_of_higher_order_beside_dense_matrices(name, order):
    """Of the compact operator L those of -L u = w M u, with its local mean M."""
    cells, bc = HIGHER[name]
    if not all(c in (D, P) for c in bc) if order == "compact" else min(cells) < 8:
        pytest.skip("an operator that is refused")
    with xc.enable_x64():
        lap = Laplacian(Grid(cells, upper=(1.0, 1.3, 1.6)[: len(cells)]), bc, order)
        matrix, root = -np.asarray(lap.as_matrix()), np.sqrt(np.ravel(lap.weights))
        mean, large = np.eye(root.size), abs(matrix).max()
        if order == "compact":
            second = [[b.matrix if i == j else np.eye(b.count) for j, b in enumerate(lap.axes)]
                      for i in range(len(cells))]  # fmt: skip
            squares = [a.spacing**2 / 12 for a in lap.axes]
            mean = mean + sum(
                s * functools.reduce(np.kron, x) for s, x in zip(squares, second, strict=True)
            )
        if order == "compact":
            expected = np.sort(sl.eig(matrix, mean)[0].real)
        else:
            expected = np.sort(np.linalg.eigvals(matrix).real)
        for k in {1, 6, root.size // 2}:
            w, modes = eigenmodes(lap, k)
            rows = np.asarray(modes).reshape(k, -1)
            assert np.allclose(w, expected[:k], rtol=1e-10, atol=1e-12 * large)
            assert (
                abs(rows @ matrix.T - np.asarray(w)[:, None] * rows @ mean.T).max() < 1e-13 * large
            )
            assert np.allclose(((rows * root) ** 2).sum(1), 1, atol=1e-12)
        if name == "3-torus" and order == "compact":
            with pytest.raises(ValueError, match="the local mean vanishes"):
                eigenmodes(lap, root.size)


@pytest.mark.parametrize("order, least", [(2, 1.9), (4, 3.8), (6, 5.8), ("compact", 3.9)])
def test_orders_of_eigenvalues(order, least):
    with xc.enable_x64():
        value = lambda n: float(eigenmodes(Laplacian(Grid((n, n)), D, order), 1)[0][0])
        errors = [abs(value(n) / (2 * np.pi**2) - 1) for n in (24, 48)]
        assert np.log2(errors[0] / errors[1]) > least


@pytest.mark.parametrize("n", [16, 64, 128])
def test_first_modes_of_a_square_and_of_a_cube_in_single_precision(n):
    values = (2 * n * np.sin(np.pi * np.arange(1, 4) / (2 * n))) ** 2
    expected = np.sort(np.add.outer(values, values).ravel())[:6]
    assert np.allclose(eigenmodes(Laplacian(Grid((n, n))), 6)[0], expected, rtol=3e-7)
    if n == 16:
        w, modes = eigenmodes(Laplacian(Grid((n, n, n)), P), 8)
        assert w[0] == 0 and np.allclose(w[1:7], (2 * n * np.sin(np.pi / n)) ** 2, rtol=3e-7)
        assert float(abs(modes[0] - 1).max()) < 1e-6


def test_derivatives_of_modes_of_boxes():
    """w is linear in a number for each axis; lanes and jit give the same."""
    with xc.enable_x64():
        op = lambda a: Diffusion(Grid((6, 7)), (a[0], a[1]), N, c=a[2])
        f = lambda a: eigenmodes(op(a), 5)[0]
        a = xnp.asarray([1.0, 0.3, 2.0])
        assert np.allclose(xc.jacrev(f)(a) @ a, f(a)) and np.allclose(xc.jacfwd(f)(a) @ a, f(a))
        assert np.allclose(xc.jacrev(f)(a)[:, 2], 1)
        assert np.allclose(xc.jit(xc.vmap(f))(xnp.stack([a, 2 * a])), [f(a), 2 * f(a)])


def lshape(x, y):
    return (x < 0) | (y > 0)


def varying(x, y):
    return 1 + x * y


OPERATORS = {
    "jump": lambda: Diffusion(Grid((20, 15)), lambda x, y: xnp.where(x < 0.6, 1.0, 1e3)),
    "mixed": lambda: Diffusion(Grid((18, 15)), varying, [(N, D), N], c=1.0),
    "Neumann": lambda: Diffusion(Grid((16, 15)), varying, N),
    "L": lambda: Masked(Grid((18, 18), -1.0, 1.0), lshape, edge="symmetric"),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_modes_by_shift_and_inversion(name):
    """Of operators whose inverse is known by multigrid only, beside dense matrices."""
    with xc.enable_x64():
        op = OPERATORS[name]()
        w, modes = eigenmodes(op, 3, method="shift-invert", rtol=1e-8)
        at = np.ravel(op.inside) if isinstance(op, Masked) else slice(None)
        matrix = -op.as_sparse().toarray()[at][:, at]
        assert np.allclose(w, np.sort(np.linalg.eigvals(matrix).real)[:3], rtol=1e-8, atol=1e-8)
        gram = [[float(op.integrate(a * b)) for a in modes] for b in modes]
        assert np.allclose(gram, np.eye(3), atol=1e-8)
        for value, mode in zip(w, modes, strict=True):
            assert np.allclose(
                -op(mode), value * mode, atol=1e-5 * np.abs(value * mode).max() + 1e-6
            )
    if name == "L":
        few, _ = eigenmodes(op, 3, method="shift-invert", ncv=3)  # restarts make up for it
        assert np.allclose(few, w, rtol=1e-4)


def rooms(x, y):
    """Two, and a door between them that coarse grids do not see: two values 1e-4 apart."""
    return (x < 0.45) | (x > 0.55) | (abs(y - 0.5) < 0.02)


def discs(x, y):
    """Three; boundaries nearly touch nodes, where diagonals are 1e7 times as large as elsewhere."""
    near = lambda a, b, r: (x - a) ** 2 + (y - b) ** 2 < r
    return near(0.25, 0.3, 0.04) | near(0.75, 0.3, 0.04) | near(0.5, 0.85, 0.01)


@pytest.mark.parametrize("method", ["lobpcg", "shift-invert"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("inside, k", [(rooms, 1), (discs, 20), (discs, 1)])
def test_no_mode_of_parts_is_lost(inside, k, dtype, method):
    """Also where modes have more digits than the coefficients, which are float32 here."""
    op = Masked(Grid((24, 24)), inside, edge="symmetric")
    at = np.ravel(op.inside)
    matrix = -op.as_sparse().toarray().astype(float)[at][:, at]
    w, modes = eigenmodes(op, k, dtype=dtype, method=method)
    assert np.allclose(w, np.linalg.eigvalsh((matrix + matrix.T) / 2)[:k], rtol=1e-5)
    assert modes.dtype == dtype and not np.any(np.asarray(modes)[:, ~np.asarray(op.inside)])


def dotted(x, y):
    """Two discs, the small one not seen by a coarse grid."""
    return (x**2 + y**2 < 0.4) | ((x - 0.84) ** 2 + (y - 0.84) ** 2 < 0.02)


LARGER = {
    "jump": lambda: Diffusion(Grid((40, 33)), lambda x, y: xnp.where(x < 0.6, 1.0, 1e3)),
    "Neumann and ring": lambda: Diffusion(Grid((36, 32)), varying, [N, P]),
    "discs": lambda: Masked(Grid((36, 36), -1.0, 1.0), dotted, edge="symmetric"),
}


@pytest.mark.parametrize("name", LARGER)
def test_modes_from_coarse_grids_up(name):
    """Of grids that have coarser ones, beside SciPy's shift and inversion."""
    with xc.enable_x64():
        op = LARGER[name]()
        w, modes = eigenmodes(op, 5, rtol=1e-8)
        at = np.ravel(op.inside) if isinstance(op, Masked) else slice(None)
        root = np.sqrt(np.broadcast_to(op.weights, op.field_shape)).ravel()[at]
        matrix = sp.diags_array(root) @ -op.as_sparse()[at][:, at] @ sp.diags_array(1 / root)
        expected, _ = sla.eigsh(matrix.tocsc(), 5, sigma=-1.0, tol=1e-12)
        # the square of the modes' error, and rounding by the largest eigenvalue
        assert np.allclose(w, expected, rtol=1e-10, atol=1e-14 * abs(matrix).max())
        rows = np.asarray(modes).reshape(5, -1)[:, at] * root
        assert np.allclose(rows @ rows.T, np.eye(5), atol=1e-10)
        inverted = sla.splu((matrix + sp.eye_array(root.size)).tocsc()).solve(rows.T)
        assert np.linalg.norm(rows.T - inverted * (1 + expected), axis=0).max() < 1e-8


def test_modes_in_single_precision_their_derivatives_and_lanes():
    """w is proportional to a, and its derivatives are those of that."""
    a = np.exp(np.sin(np.arange(41 * 29)).reshape(41, 29)).astype(np.float32)
    first = xc.vmap(
        xc.value_and_grad(lambda s: eigenmodes(Diffusion(Grid((40, 28)), s * a), 2)[0][1])
    )
    values, slopes = first(xnp.asarray([1.0, 3.0]))
    with xc.enable_x64():
        w = eigenmodes(Diffusion(Grid((40, 28)), a.astype(np.float64)), 2, rtol=1e-6)[0][1]
    assert values.dtype == np.float32
    # single precision of numbers some thousand times as large as w
    assert np.allclose(values, w * np.array([1.0, 3.0]), rtol=1e-4)
    assert np.allclose(slopes, w, rtol=1e-4)


def test_errors_explain():
    with pytest.raises(ValueError, match="shift-invert"):
        eigenmodes(Laplacian(Grid(8)), 1, method="lanczos")

    lap = Laplacian(Grid(8))
    for k in (0, 8, 2.5):
        with pytest.raises(ValueError, match="from 1 to the 7 unknowns"):
            eigenmodes(lap, k)
    with pytest.raises(ValueError, match="a third of the 7"):
        eigenmodes(lap, 5, method="shift-invert")
    with pytest.raises(ValueError, match="where coefficients vary"):
        eigenmodes(Diffusion(Grid(8), np.ones(9)), 1, method="axes")
    with pytest.raises(ValueError, match="range of float32"):
        eigenmodes(Laplacian(Grid(8, upper=1e30)), 1)
    with pytest.raises(ValueError, match='"axes" for orders'):
        eigenmodes(Laplacian(Grid(8), Dirichlet(), 4), 1, method="lobpcg")
