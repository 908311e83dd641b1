"""Curved edges with given flows: geometry, orders of accuracy, claims, and derivatives with respect to the shape."""

import numpy as np
import pytest
from scipy.sparse.linalg import spsolve

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.testing import check_grads

rng = np.random.default_rng(0)
Box = pde.Grid


@pytest.fixture(autouse=True)
def _double():
    with xc.enable_x64():
        yield


def by_scipy(op, f):
    """The solution from the operator's matrix: independent of all of our solvers."""
    at = np.ravel(op.inside)
    m = op.as_sparse().tocsc()[at][:, at]
    u = np.zeros(at.size)
    u[at] = spsolve(m, np.ravel(op.field(f) - op.boundary())[at])
    return u.reshape(op.field_shape)


ellipse = lambda x, y: 0.83 - xnp.sqrt(x**2 + (y / 0.8) ** 2)
hole = lambda x, y: xnp.sqrt((x - 0.1) ** 2 + (y + 0.1) ** 2) - 0.3
exact = lambda x, y: xnp.exp(x) * xnp.sin(2 * y + 1)
weight = lambda x, y: 1 + 0.3 * x + 0 * y
right = lambda x, y: -3 * weight(x, y) * exact(x, y) + 0.3 * exact(x, y)


def outward(level):
    """The derivative of ``exact`` along the normal of an ellipse or of the hole."""

    def of(x, y):
        gx, gy = (-x, -y / 0.64) if level is ellipse else (x - 0.1, y + 0.1)
        size = xnp.maximum(xnp.sqrt(gx**2 + gy**2), 1e-9)
        return -(gx * exact(x, y) + gy * 2 * xnp.exp(x) * xnp.cos(2 * y + 1)) / size

    return of


def neumann(level):
    return pde.Neumann(outward(level))


def robin(level):
    return pde.Robin(2.0, 0.7, lambda x, y: 2 * exact(x, y) + 0.7 * outward(level)(x, y))


PIECES = {
    "robin": ([ellipse], [robin(ellipse)]),
    "dirichlet": ([ellipse], [pde.Dirichlet(exact)]),
    "neumann, fixed hole": ([ellipse, hole], [neumann(ellipse), pde.Dirichlet(exact)]),
    "robin, neumann hole": ([ellipse, hole], [robin(ellipse), neumann(hole)]),
    "fixed, robin hole": ([ellipse, hole], [pde.Dirichlet(exact), robin(hole)]),
}


@pytest.mark.parametrize("name", PIECES)
def test_order_of_accuracy_on_curved_edges(name):
    levels, edge = PIECES[name]
    errors = []
    # grids that the edge cuts in other ways: the error depends on that
    for cells in ((15, 16), (61, 62)):
        found = []
        for n in cells:
            op = pde.CutDiffusion(Box((n, n + 1), -1.0, 1.0), weight, inside=levels, edge=edge)
            off, points = np.abs(by_scipy(op, right) - exact(*op.points())), op.points()
            held = np.asarray(op.inside)
            proper = held & np.all([level(*points) > 0 for level in levels], axis=0)
            found.append([np.sqrt(np.mean(off[held] ** 2)), off[proper].max()])
        errors.append(np.mean(found, axis=0))
    mean, largest = np.log(np.divide(*errors)) / np.log(61.5 / 15.5)
    assert mean > 1.8 and largest > 1.75, errors  # constants hang on how cells are cut


def test_areas_of_edges_and_shares_of_volumes():
    off = []
    for n in (20, 80):
        op = pde.CutDiffusion(Box((n, n), -1.0, 1.0), inside=ellipse)
        off.append(abs(float(op.integrate(1.0)) - np.pi * 0.83**2 * 0.8))
        assert np.isclose(
            float(op.cuts["area"].sum()), 4.7065, rtol=10 / n**2
        )  # a complete elliptic integral
    assert off[1] < off[0] / 10
    ball = pde.CutDiffusion(
        Box((14, 15, 16), -1.0, 1.0), inside=lambda x, y, z: 0.8 - xnp.sqrt(x**2 + y**2 + z**2)
    )
    assert np.isclose(ball.integrate(1.0), 4 / 3 * np.pi * 0.8**3, rtol=2e-2)
    assert np.isclose(ball.cuts["area"].sum(), 4 * np.pi * 0.8**2, rtol=2e-2)


def test_planes_are_exact():
    # u = 1 + 2 x - y + 3 z behind a plane across the cells
    u = lambda x, y, z: 1 + 2 * x - y + 3 * z
    m = np.array([0.6, 0.48, 0.64])
    plane = lambda x, y, z: 0.71 - m[0] * x - m[1] * y - m[2] * z
    slope = float(m @ [2, -1, 3])
    faces = [
        (pde.Dirichlet(u), pde.Neumann(2.0)),
        (pde.Neumann(1.0), pde.Dirichlet(u)),
        pde.Dirichlet(u),
    ]
    op = pde.CutDiffusion(
        Box((5, 6, 4)),
        2.0,
        faces,
        inside=plane,
        edge=pde.Robin(1.0, 0.5, lambda *p: u(*p) + 0.5 * slope),
    )
    made = op(u) + op.boundary()
    assert float(xnp.abs(op.evened() * made).max()) < 1e-9
    # a line: the last node's volume ends at 0.53
    line = pde.CutDiffusion(
        Box(10), 1.0, pde.Dirichlet(0.0), inside=lambda x: 0.53 - x, edge=pde.Robin(3.0, 1.0, 5.0)
    )
    u = pde.solve(line, 0.0)
    assert np.allclose(u, np.where(line.inside, line.points()[0] * 5 / (1 + 3 * 0.53), 0))
    whole = line.full(u, outside=-7.0)
    assert whole.shape == (11,) and whole[0] == 0 and whole[-2] == -7 and whole[5] == u[4]


def test_solutions_without_fixed_values_balance():
    op = pde.CutDiffusion(
        Box((40, 40), -1.0, 1.0), inside=[ellipse, hole], edge=[pde.Neumann(1.0), pde.Neumann()]
    )
    assert op.singular
    around = float(op.integrate(op.boundary()))
    answer = pde.solve(op, around / float(op.integrate(1.0)), report=True)
    assert bool(answer.ok) and int(answer.steps) < 25
    u = answer.value
    assert abs(float(op.integrate(u))) < 1e-10
    off = op.evened() * (op(u) + op.boundary() - op.field(around / float(op.integrate(1.0))))
    assert float(xnp.abs(off).max()) < 1e-8 * float(xnp.abs(op.boundary()).max())
    with pytest.raises(pde.IncompatibleError):
        pde.solve(op, 1.0)


@pytest.mark.parametrize("n, method", [(24, "auto"), (90, "auto"), (90, "cg"), (90, "gcr")])
def test_sums_and_multiples_have_the_same_kernel(n, method):
    """Of a disc without given values, as multiples and sums of it: no mean, or words where there is no solution."""
    one = pde.CutDiffusion(pde.Grid((n, n), -1.0, 1.0), inside=disc, edge=pde.Neumann())
    f = one.points()[0]
    wanted = np.asarray(pde.solve(one, f, rtol=1e-10))
    for op, factor in ((2 * one, 0.5), (one + 0.0, 1.0), (one + one, 0.5)):
        found = pde.solve(op, f, method=method, rtol=1e-10, report=True)
        assert found.ok and abs((one.weights * found.value).sum()) < 1e-10
        np.testing.assert_allclose(found.value, factor * wanted, atol=1e-8)
        with pytest.raises(pde.IncompatibleError, match="must balance"):
            pde.solve(op, 1.0, method=method)


def disc(x, y):
    return 0.8 - (x**2 + y**2) ** 0.5


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_claims_over_scales(scale):
    op = pde.CutDiffusion(Box((24, 30), -1.0, 1.0), scale * 10.0 ** rng.uniform(-2, 2, (25, 31)), inside=[ellipse, hole],
                          edge=[pde.Robin(2.0, 0.7, 1.0), pde.Dirichlet(3.0)])  # fmt: skip
    answer = pde.solve(op, scale, report=True)
    assert bool(answer.ok)
    want = by_scipy(op, scale)
    assert np.abs(answer.value - want).max() < 1e-8 * np.abs(want).max()


def test_steps_in_time():
    op = pde.CutDiffusion(
        Box((9, 10), -1.0, 1.0),
        weight,
        inside=[ellipse, hole],
        edge=[pde.Robin(2.0, 0.7, 1.0), pde.Dirichlet(3.0)],
    )
    u = op.field(rng.standard_normal(op.field_shape))
    after = pde.trajectory(pde.ThetaMethod(op, theta=1.0), u, 0.05, 1)[-1]
    assert np.allclose(after - 0.05 * (op(after) + op.boundary()), u, atol=1e-8)


def test_derivatives_with_respect_to_shape_data_and_coefficients():
    w = rng.standard_normal((8, 7))
    grid = Box((9, 8), -1.0, 1.0)

    def flow(shape, log_a, g):
        level = lambda x, y: shape[0] - xnp.sqrt(x**2 + (y / shape[1]) ** 2)
        inner = lambda x, y: xnp.sqrt((x - shape[2]) ** 2 + y**2) - 0.3
        op = pde.CutDiffusion(grid, xnp.exp(log_a), inside=[level, inner],
                              edge=[pde.Robin(2.0, 0.7, g), pde.Dirichlet(lambda x, y: 1 + x)])  # fmt: skip
        u = pde.solve(op, 1.0, rtol=1e-12)
        return xnp.sum(op.volumes(np.float64) * w * u)

    args = np.array([0.84, 0.79, 0.11]), 0.3 * rng.standard_normal((10, 9)), np.array(0.4)
    check_grads(flow, args, order=1, modes=["rev"], rtol=1e-4)


SQUARE = Box((8, 8), -1.0, 1.0)
REFUSED = {
    "booleans": (lambda: pde.CutDiffusion(SQUARE, inside=lambda x, y: x**2 + y**2 < 0.5), "real numbers"),
    "nothing": (lambda: pde.CutDiffusion(SQUARE), "level set"),
    "nowhere": (lambda: pde.CutDiffusion(SQUARE, inside=lambda x, y: -1 - x**2), "positive together"),
    "conditions": (lambda: pde.CutDiffusion(SQUARE, inside=[ellipse, hole], edge=[pde.Neumann()]), "each of 2"),
    "too few cells": (lambda: pde.CutDiffusion(SQUARE, inside=ellipse, edge=pde.Robin(1e3, 1.0)), "alpha × spacing"),
    "cells": (lambda: pde.CutDiffusion(Box.cells((8, 8), -1.0, 1.0), inside=ellipse), "nodes"),
    "matrix": (lambda: pde.CutDiffusion(SQUARE, np.eye(2), inside=ellipse), "one for each axis"),
    "estimate": (lambda: pde.solve(pde.CutDiffusion(SQUARE, inside=ellipse), 1.0, estimate=True), "finer"),
    "traced": (lambda: xc.jit(lambda r: pde.CutDiffusion(SQUARE, inside=lambda x, y: r - x**2 - y**2)(1.0))(0.5), "outside of jit"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_said_in_words(name):
    call, words = REFUSED[name]
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("radius, inner", [(0.9, 0.4), (0.8501, 0.4001), (0.75 + 1e-6, 0.4001)])
def test_success_in_single_precision_beside_given_values_is_true(radius, inner):
    """Short ways to values on a curved edge make rows large: they must not drown the residuals of all others."""
    out = lambda x, y: radius - (x**2 + y**2) ** 0.5
    hole = lambda x, y: (x**2 + y**2) ** 0.5 - inner
    edge = [pde.Robin(2.0, 1.0), pde.Dirichlet(1.0)]

    def ring():
        return pde.CutDiffusion(Box((40, 40), -1.0, 1.0), 1.0, inside=[out, hole], edge=edge)

    want = by_scipy(ring(), 0.0)
    with xc.enable_x64(False):
        found = pde.solve(ring(), 0.0, report=True)
    assert found.value.dtype == "float32" and bool(found.ok)
    np.testing.assert_allclose(found.value, want, atol=2e-4)


def _from_one_side(f, p, step=1e-6):
    return (float(f(p)) - float(f(p - step))) / step


@pytest.mark.parametrize("edge", [pde.Neumann(1.0), pde.Robin(1.0, 2.0, 1.0), pde.Dirichlet(1.0)])
@pytest.mark.parametrize("place", [0.5, 5 / 9, 0.51])  # on a side of volumes, on nodes, on neither
def test_derivatives_of_edges_that_lie_on_sides_and_nodes(edge, place):
    """One half of the derivative was lost there: at limits minimum and maximum share it with a constant."""

    def flow(p):
        faces = [pde.Dirichlet(0.0), pde.Neumann()]
        op = pde.CutDiffusion(Box((9, 4)), 1.0, faces, inside=lambda x, y: p - x, edge=edge)
        return op.integrate(pde.solve(op, -1.0, rtol=1e-13))

    found = float(xc.grad(flow)(xnp.asarray(place)))
    assert np.isclose(found, _from_one_side(flow, place), rtol=1e-4)


def test_derivatives_where_an_edge_touches_a_corner_of_a_volume():
    corner = np.array([-1 + 2 * 10.5 / 24, -1 + 2 * 16.5 / 25])  # where four volumes meet
    at = lambda p: pde.CutDiffusion(
        Box((24, 25), -1.0, 1.0),
        inside=lambda x, y: 0.6 * (corner[0] + p - x) + 0.8 * (corner[1] - y),
    )
    area = lambda p: at(p).integrate(1.0)
    found = float(xc.grad(area)(xnp.asarray(0.0)))
    assert np.isclose(found, (float(area(1e-3)) - float(area(-1e-3))) / 2e-3, rtol=1e-2)


def test_level_sets_that_say_nothing_are_refused():
    grid, x = Box((8, 7), -1.0, 1.0), np.asarray(Box((8, 7), -1.0, 1.0).coordinates()[0])
    makes = (lambda s: pde.Masked(grid, s)), (lambda s: pde.CutDiffusion(grid, inside=s))
    for make in makes:
        for level in (lambda x, y: xnp.where(x > 0, np.nan, 1.0), np.where(x > 0, np.nan, 1.0)):
            with pytest.raises(ValueError, match=r"NaN at some points.*nan_to_num"):
                make(level)
        with pytest.raises(ValueError, match="complex"):
            make(lambda x, y: x + 1j * y)
    for mask in (x > 0, (x > 0) * 1, (x > 0) * 1.0):
        for make in (makes[1], lambda s: pde.interface_diffusion(grid, s, 1.0, 2.0)):
            with pytest.raises(ValueError, match="Booleans hide"):
                make(mask)
    with pytest.raises(ValueError, match="between the nodes needs more cells"):
        makes[1](lambda x, y: 0.02 - xnp.sqrt((x - 0.1) ** 2 + (y - 0.1) ** 2))
