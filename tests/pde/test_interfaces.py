"""Coefficients that jump between nodes: order 2 of the largest error beside exact solutions, both ways round."""

from functools import partial

import numpy as np
import pytest
from scipy.sparse.linalg import spsolve

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore._core.errors import ArgumentError

WAYS = pytest.mark.parametrize("a", [(1.0, 1000.0), (1000.0, 1.0)], ids=["up", "down"])
EDGE = 1 / np.pi


@pytest.fixture(autouse=True)
def _double():
    with xc.enable_x64():
        yield


def error(op, f, exact):
    """The largest error of the solution of the operator's matrix, relative to the largest value."""
    b = np.ravel(op.field(f) - op.boundary())
    u, want = spsolve(op.as_sparse().tocsc(), b), np.ravel(op.field(exact))
    return np.abs(u - want).max() / np.abs(want).max()


def order(cells, errors):
    """The slope of a line through all of them."""
    return -np.polyfit(np.log(cells), np.log(errors), 1)[0]


def of_line(a, flow: bool):
    """(a, exact, f, faces) with a u' = (1 + x) (1 + x²), where a is a step times 1 + x."""
    rise = lambda x: x + x**3 / 3
    exact = lambda x: xnp.where(
        x < EDGE, rise(x) / a[0], rise(EDGE) / a[0] + (rise(x) - rise(EDGE)) / a[1]
    )
    f = lambda x: 1 + x * x + (1 + x) * 2 * x
    end = pde.Neumann(2.0 / a[1]) if flow else pde.Dirichlet(exact)
    return (lambda s: lambda x: s * (1 + x)), exact, f, [(pde.Dirichlet(0.0), end)]


@WAYS
@pytest.mark.parametrize("flow", [False, True], ids=["value", "flow"])
@pytest.mark.parametrize("way", ["nodes", "cells", "level set"])
def test_on_a_line(way, flow, a):
    part, exact, f, faces = of_line(a, flow)
    whole = lambda x: xnp.where(x < EDGE, a[0], a[1]) * (1 + x)
    cells, errors = (16, 32, 64, 128), []
    for n in cells:
        if way == "level set":
            op = pde.interface_diffusion(
                pde.Grid(n), lambda x: EDGE - x, part(a[0]), part(a[1]), faces
            )
        else:
            grid = pde.Grid(n) if way == "nodes" else pde.Grid.cells(n)
            op = pde.Diffusion(grid, whole, faces, mean="located")
        errors.append(error(op, f, exact))
    assert order(cells, errors) > 1.75, errors


def of_strip(a):
    """(exact, f) where tangential flows jump at a straight interface, and f does not."""
    k, step = 2 * np.pi, lambda x: xnp.where(x < EDGE, a[0], a[1])

    def exact(x, y):
        d = x - EDGE
        return d * d / step(x) + (0.3 * d / step(x) + 1 + k * k * d * d / 2) * xnp.cos(k * y)

    def f(x, y):
        d = x - EDGE
        return 2 - (0.3 * k**2 * d + step(x) * k**4 * d * d / 2) * xnp.cos(k * y)

    return exact, f


@WAYS
@pytest.mark.parametrize("way", ["nodes", "cells", "level set"])
def test_a_straight_interface_in_two_dimensions(way, a):
    exact, f = of_strip(a)
    turned = way == "nodes"  # along the other axis, and a wall or a ring across
    flip = lambda g: (lambda x, y: g(y, x)) if turned else g
    faces = [pde.Dirichlet(flip(exact)), pde.Neumann() if way == "level set" else pde.Periodic()]
    faces = faces[::-1] if turned else faces
    cells, errors = (10, 20, 40, 80), []
    for n in cells:
        if way == "level set":
            op = pde.interface_diffusion(pde.Grid((n, n)), lambda x, y: EDGE - x, *a, faces)
        else:
            grid = pde.Grid((n, n)) if way == "nodes" else pde.Grid.cells((n, n))
            step = flip(lambda x, y: xnp.where(x < EDGE, a[0], a[1]))
            op = pde.Diffusion(grid, step, faces, mean="located")
        errors.append(error(op, flip(f), flip(exact)))
    assert order(cells, errors) > 1.75, errors


def of_disc(a, centre, radius=0.53):
    """(level, inside, outside, exact, f) with a ∂u/∂r = r² where a is a step times 1 + r²."""
    r = lambda *x: xnp.sqrt(sum((y - k) ** 2 for y, k in zip(x, centre, strict=False)))
    rise = lambda r: r - xnp.arctan(r)
    beyond = lambda r: rise(radius) / a[0] + (rise(r) - rise(radius)) / a[1]
    exact = lambda *x: xnp.where(r(*x) < radius, rise(r(*x)) / a[0], beyond(r(*x)))
    part = lambda s: lambda *x: s * (1 + r(*x) ** 2)
    return lambda *x: radius - r(*x), part(a[0]), part(a[1]), exact, lambda *x: (len(x) + 1) * r(*x)


@WAYS
def test_a_curved_interface_in_two_dimensions(a):
    level, inside, outside, exact, f = of_disc(a, (0.013, 0.027))
    cells, errors = (14, 28, 56, 84), []
    for n in cells:
        grid = pde.Grid((n, n), -1.0, (1.0, 0.8))
        op = pde.interface_diffusion(grid, level, inside, outside, pde.Dirichlet(exact))
        errors.append(error(op, f, exact))
    assert order(cells, errors) > 1.6, (
        errors
    )  # how nodes lie beside the circle changes it by a factor of 2


def test_a_ball_and_what_solvers_make_of_it():
    level, inside, outside, exact, f = of_disc((1.0, 1000.0), (0.013, 0.027, 0.05))
    cells, errors = (6, 8, 12), []
    for n in cells:
        grid = pde.Grid((n,) * 3, -1.0, 1.0)
        op = pde.interface_diffusion(grid, level, inside, outside, pde.Dirichlet(exact))
        errors.append(error(op, f, exact))
        assert len(op.params) == 26 and all(np.all(np.asarray(x) >= 0) for x in op.params)
    assert order(cells, errors) > 1.5, errors
    answer = pde.solve(op, f, report=True)
    found = np.abs(answer.value - op.field(exact)).max() / np.abs(op.field(exact)).max()
    assert bool(answer.ok) and abs(found / errors[-1] - 1) < 1e-3


def test_located_jumps_beside_solvers_and_integrals():
    """What is solved by cycles, its symmetry, its volumes; a smooth a is what it was but for h²."""
    op = pde.Diffusion(
        pde.Grid((20, 14)), lambda x, y: xnp.where(x < EDGE, 1.0, 1e3), mean="located"
    )
    m, v = op.as_sparse().toarray(), np.ravel(op.volumes(np.float64))
    assert np.abs(v[:, None] * m - (v[:, None] * m).T).max() < 1e-11 * np.abs(v[:, None] * m).max()
    assert np.allclose(op.integrate(1.0), 0.95 * (13 / 14), rtol=0.05)
    u = pde.solve(op, 1.0)
    assert np.allclose(np.ravel(u), np.linalg.solve(m, np.ones(len(m))), rtol=1e-8)
    w, modes = pde.eigenmodes(op, 2)
    assert np.allclose(w, np.sort(np.linalg.eigvals(-m).real)[:2], rtol=1e-6)
    smooth, near = (
        pde.Diffusion(pde.Grid(40), lambda x: xnp.exp(x), mean=m) for m in ("located", "harmonic")
    )
    assert 0 < np.abs(pde.solve(smooth, 1.0) - pde.solve(near, 1.0)).max() < 1e-4
    scale = lambda s: pde.Diffusion(
        pde.Grid(9), lambda x: s * xnp.where(x < EDGE, 1, 9.0), mean="located"
    )
    total = lambda s: xnp.sum(pde.solve(scale(s), 1.0))
    assert np.allclose(xc.grad(total)(2.0), -total(2.0) / 2)


def test_in_single_precision():
    """Elements of 1:1000 in float32: the status is a success, the solution that of float64."""
    disc = lambda x, y: 0.53 - xnp.sqrt(x**2 + y**2)
    make = lambda: pde.interface_diffusion(pde.Grid((40, 40), -1.0, 1.0), disc, 1000.0, 1.0)
    want = pde.solve(make(), -1.0)
    with xc.enable_x64(False):
        got = pde.solve(make(), -1.0, report=True)
        assert bool(got.ok) and got.value.dtype == np.float32
    assert np.abs(np.asarray(got.value) - np.asarray(want)).max() < 1e-4 * np.abs(want).max()


def test_what_is_refused():
    nodes = pde.Grid((8, 8))
    make = lambda level, a=1.0, grid=nodes: pde.interface_diffusion(grid, level, a, 9.0)
    for level, words in (
        (lambda x, y: x + 1, "positive here and negative there"),
        (lambda x, y: x > 0.3, "real numbers"),
        (np.ones((3, 3)), "at all nodes"),
        (lambda x, y: xnp.cos(40 * x) * xnp.cos(40 * y) - 0.5, "not resolved"),
    ):
        with pytest.raises(Exception, match=words):
            make(level)
    with pytest.raises(Exception, match="positive and finite"):
        make(lambda x, y: x - 0.3, -1.0)
    with pytest.raises(Exception, match="equal cells, of nodes"):
        make(lambda x, y: x - 0.3, 1.0, pde.Grid.cells((8, 8)))
    with pytest.raises(Exception, match="known when the operator is made"):
        xc.grad(lambda a: xnp.sum(pde.solve(make(lambda x, y: x - 0.3, a), 1.0)))(2.0)
    with pytest.raises(Exception, match="jumps are looked for"):
        a = lambda s: lambda x: xnp.where(x < s, 1.0, 9.0)
        xc.jit(lambda s: pde.Diffusion(pde.Grid(9), a(s), mean="located")(1.0))(0.3)


def test_arrays_are_not_located():
    grid = pde.Grid(9)
    a = xnp.where(grid.nodes(0) < EDGE, 1.0, 9.0)
    with pytest.raises(ArgumentError, match="where a jumps"):
        pde.Diffusion(grid, a, mean="located")
    assert pde.Diffusion(grid, 2.0, mean="located").dtype == pde.Diffusion(grid, 2.0).dtype


@pytest.mark.parametrize("grid", [pde.Grid(9), pde.Grid((12, 9)), pde.Grid.cells((8, 7))], ids=str)
@pytest.mark.parametrize("v", [(5.0, 1.0, 3.0), (1e3, 1.0, 1e-2)])
def test_located_jumps_have_the_derivatives_of_values(grid, v):
    """Volumes end where the resistance has its centre, which moves with the values."""

    def media(x, y=0.5, *, v):
        return xnp.where(x < EDGE, v[0], xnp.where(y < 0.3, v[1], v[2]))

    def f(v):
        return pde.solve(pde.Diffusion(grid, partial(media, v=v), mean="located"), -1.0).sum()

    with xc.enable_x64():
        v = xnp.asarray(v[:3])
        found = xc.grad(f)(v)
        for i, e in enumerate(np.eye(3)):
            h = 1e-4 * v[i]
            slope = (f(v + h * e) - f(v - h * e)) / (2 * h)
            np.testing.assert_allclose(found[i], slope, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("n", "most"), [(12, 1e-2), (48, 2.5e-3)])
def test_derivatives_of_values_across_a_curved_jump_come_nearer(n, most):
    def f(v):
        disc = lambda x, y: xnp.where((x - 0.5) ** 2 + (y - 0.45) ** 2 > 0.1, v[0], v[1])
        return pde.solve(pde.Diffusion(pde.Grid((n, n)), disc, mean="located"), -1.0).sum()

    with xc.enable_x64():
        v, h = xnp.asarray([5.0, 1.0]), 1e-4
        slopes = [(f(v + h * e) - f(v - h * e)) / (2 * h) for e in np.eye(2)]
        np.testing.assert_allclose(xc.grad(f)(v), slopes, rtol=most)
