"""``solve(…, rtol, of)`` beside exact functionals: how good its estimates are, and that no success is claimed falsely."""

import dataclasses
import functools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import dblquad, quad

import xcore as xc
import xcore.numpy as xnp
from xcore import pde


@pytest.fixture(autouse=True)
def _double():
    with xc.enable_x64():
        yield


@dataclasses.dataclass
class Problem:
    """op(u) = f, and a functional of u that is known."""

    op: Any
    f: Any
    of: Callable
    exact: float

    def off(self, found) -> float:
        """The true error of the functional."""
        return abs(float(found.certificate.functional) - self.exact)


def total(u, op):
    """∫ u over the box, values on its faces too."""
    return op.grid.integrate(op.full(u))


def middle(u, op):
    """u in the middle of the box."""
    whole = op.full(u)
    return whole[tuple(n // 2 for n in whole.shape)]


def square(u, op):
    """∫ u²."""
    return op.grid.integrate(op.full(u) ** 2)


# On lines of length L, u = s Im exp(z x / L + i p): derivatives are powers of z


def wave(s, L, z, p, order=0):
    return lambda x: s * np.imag((z / L) ** order * np.exp(z * np.asarray(x) / L + 1j * p))


def line(s, L, *, z, p, slope=0.0, v=0.0, c=0.0, ends="values", of=total, stretch=0.0, cells=32):
    """a u'' + a' u' - v u' - c u = f with a = 1 + slope x, lengths in units of L."""
    u, du, ddu = (wave(s, L, z, p, k) for k in range(3))
    a = lambda x: 1 + slope * x / L
    f = lambda x: a(x) * ddu(x) + (slope - v) / L * du(x) - c / L**2 * u(x)
    faces = {
        "values": pde.Dirichlet(u),
        "flows": [(pde.Dirichlet(u), pde.Neumann(du))],
        "Robin": [(pde.Robin(1.0, L, lambda x: u(x) - L * du(x)), pde.Robin(2.0, L, lambda x: 2 * u(x) + L * du(x)))],
    }[ends]  # fmt: skip
    t = np.linspace(0, 1, cells + 1)
    nodes = tuple(L * (t + stretch * np.sin(np.pi * t) / np.pi))
    grid = pde.Grid(cells, 0.0, L, stretched=(nodes,) if stretch else None)
    op = pde.Diffusion(grid, a, faces)
    if v:
        op = op - pde.Advection(grid, v / L, faces, scheme="centred")
    op = op - c / L**2 if c else op
    w = lambda x: float(np.imag(np.exp(z * x + 1j * p)))
    exact = {
        total: lambda: s * L * quad(w, 0, 1)[0],
        square: lambda: s * s * L * quad(lambda x: w(x) ** 2, 0, 1)[0],
        middle: lambda: s * w(0.5 + stretch / np.pi),
    }[of]()
    return Problem(op, f, of, exact)


def root(s, L):
    """u'' = f for u = x^1.5, whose f is not bounded."""
    u = lambda x: s * (x / L) ** 1.5
    f = lambda x: 0.75 * s / L**2 * (x / L) ** -0.5
    return Problem(pde.Laplacian(pde.Grid(32, 0.0, L), pde.Dirichlet(u)), f, total, 0.4 * s * L)


# On squares with sides L, u = s Im exp(z x / L + i p) exp(m y / L)


def plane(s, L, *, z, p, m, kind, of=total, cells=16):
    Y = lambda y, k=0: (m / L) ** k * np.exp(m * np.asarray(y) / L)
    u = lambda x, y, i=0, j=0: wave(s, L, z, p, i)(x) * Y(y, j)
    lap = lambda x, y: u(x, y, 2) + u(x, y, 0, 2)
    grid, on = pde.Grid((cells, cells), 0.0, L), pde.Dirichlet(u)
    if kind == "cells":
        grid = pde.Grid.cells((cells, cells), 0.0, L)
    if kind == "stretched":
        t = np.linspace(0, 1, cells + 1)
        grid = pde.Grid((cells, cells), stretched=(tuple(L * t**1.3), tuple(L * (t + t**2) / 2)))
    a = lambda x, y: 1 + x * y / L**2
    k = lambda x, y: 5 / L**2 * (x + y) / L
    sides = [(on, pde.Neumann(lambda x, y: u(x, y, 1))),
             (pde.Robin(1.0, L, lambda x, y: u(x, y) - L * u(x, y, 0, 1)), on)]  # fmt: skip
    op, f = {
        "Laplacian": lambda: (pde.Laplacian(grid, on), lap),
        "order 4": lambda: (pde.Laplacian(grid, on, order=4), lap),
        "cells": lambda: (pde.Laplacian(grid, on), lap),
        "stretched": lambda: (pde.Laplacian(grid, on), lap),
        "mixed": lambda: (pde.Laplacian(grid, sides), lap),
        "reaction": lambda: (pde.Diffusion(grid, 1.0, on) - k, lambda x, y: lap(x, y) - k(x, y) * u(x, y)),
        "diffusion": lambda: (
            pde.Diffusion(grid, a, on),
            lambda x, y: a(x, y) * lap(x, y) + (y * u(x, y, 1) + x * u(x, y, 0, 1)) / L**2,
        ),
        "flow": lambda: (
            pde.Diffusion(grid, 1.0, on) - pde.Advection(grid, (lambda x, y: 4 * y / L**2, 2 / L), on, scheme="centred"),
            lambda x, y: lap(x, y) - 4 * y / L**2 * u(x, y, 1) - 2 / L * u(x, y, 0, 1),
        ),
        "upwind": lambda: (
            pde.Diffusion(grid, 1.0, on) - pde.Advection(grid, (3 / L, 0.0), on, scheme="upwind"),
            lambda x, y: lap(x, y) - 3 / L * u(x, y, 1),
        ),
    }[kind]()  # fmt: skip
    w = lambda x, y: float(np.imag(np.exp(z * x + 1j * p)) * np.exp(m * y))
    exact = s * (
        L * L * dblquad(lambda y, x: w(x, y), 0, 1, 0, 1)[0] if of is total else w(0.5, 0.5)
    )
    return Problem(op, f, of, exact)


def corner(s, L, domain):
    """u = r^(2/3) sin(2 θ / 3), harmonic, in a square with the corner as its own or without a quarter."""

    def u(x, y):
        x, y = np.asarray(x) / L, np.asarray(y) / L
        return s * (x * x + y * y) ** (1 / 3) * np.sin(2 * (np.arctan2(y, x) % (2 * np.pi)) / 3)

    if domain == "square":
        op = pde.Laplacian(pde.Grid((16, 16), 0.0, L), pde.Dirichlet(u))
        return Problem(op, 0.0, middle, float(u(L / 2, L / 2)))
    op = pde.Masked(pde.Grid((16, 16), -L, L), lambda x, y: (x < 0) | (y > 0), value=u)
    at = lambda u, op: op.full(u)[op.grid.cells[0] // 4, 3 * op.grid.cells[1] // 4]
    return Problem(op, 0.0, at, float(u(-L / 2, L / 2)))


def disc(s, L, kind):
    """Δu = f for u = R⁴ - r⁴, in a disc; and its middle."""
    R, inside = 0.8 * L, lambda x, y: 0.8 * L - xnp.hypot(x, y)
    f, grid = lambda x, y: -16 * s / L**4 * (x * x + y * y), pde.Grid((24, 24), -L, L)
    if kind == "masked":
        op, edge = pde.Masked(grid, inside), 0.0
    else:
        edge = 4 * (R / L) ** 3 * s  # u = -L ∂u/∂n there
        op = pde.CutDiffusion(grid, inside=inside, edge=pde.Robin(1.0, L))
    return Problem(
        op, f, lambda u, op: op.full(u)[tuple(n // 2 for n in op.grid.cells)], s * 0.8**4 + edge
    )


P = functools.partial
LINES = {
    "sine": P(line, z=3j, p=0.2),
    "decay": P(line, z=-2 + 5j, p=1.0, slope=1.0, c=4.0),
    "flow": P(line, z=1 + 2j, p=0.5, v=10.0),
    "flow, square": P(line, z=4j, p=0.3, v=-6.0, slope=2.0, of=square),
    "reaction, middle": P(line, z=1 + 4j, p=2.0, c=20.0, of=middle),
    "given flows": P(line, z=2j, p=0.7, slope=0.5, ends="flows"),
    "Robin": P(line, z=-1 + 3j, p=0.4, ends="Robin", c=1.0),
    "stretched": P(line, z=5j, p=0.9, stretch=0.5),
    "stretched, middle": P(line, z=1 + 3j, p=0.1, stretch=-0.6, slope=1.0, of=middle),
    "root": root,
}
PLANES = {
    "Laplacian": P(plane, z=2j, p=0.4, m=1.0, kind="Laplacian"),
    "middle": P(plane, z=4j, p=1.0, m=-1.0, kind="Laplacian", of=middle),
    "diffusion": P(plane, z=3j, p=0.3, m=0.5, kind="diffusion"),
    "reaction": P(plane, z=1 + 3j, p=0.5, m=-2.0, kind="reaction"),
    "flow": P(plane, z=3j, p=0.3, m=1.0, kind="flow"),
    "upwind": P(plane, z=2j, p=1.0, m=0.4, kind="upwind"),
    "stretched": P(plane, z=3j, p=0.6, m=-0.5, kind="stretched"),
    "mixed": P(plane, z=2j, p=0.3, m=0.7, kind="mixed"),
    "cells": P(plane, z=3j, p=1.2, m=-0.6, kind="cells"),
    "order 4, middle": P(plane, z=6j, p=0.2, m=2.0, kind="order 4", of=middle),
    "corner": P(corner, domain="square"),
    "L": P(corner, domain="L"),
    "masked disc": P(disc, kind="masked"),
    "cut disc": P(disc, kind="cut"),
}
PROBLEMS = {f"line {k}": v for k, v in LINES.items()} | {f"plane {k}": v for k, v in PLANES.items()}
# where values on coarse grids fall unevenly, or faster than the order: estimates are larger than errors there
CAREFUL = {"line reaction, middle", "plane order 4, middle"}


@pytest.mark.parametrize("name", PROBLEMS)
def test_estimates_are_right_within_a_factor_of_two(name):
    """Of twenty-four problems with exact functionals all but two: more than 90 %."""
    problem = PROBLEMS[name](1.0, 1.0)
    found = pde.solve(problem.op, problem.f, rtol=1e-3, of=problem.of, report=True)
    assert bool(found.ok) and found.error <= 1e-3 and found.value.shape != ()
    assert problem.off(found) <= 2e-3 * abs(problem.exact)
    ratio = float(found.certificate.functional_error) / problem.off(found)
    assert 0.5 < ratio < (3 if name in CAREFUL else 2)


def test_few_are_beyond_that():
    assert len(PROBLEMS) >= 20 and len(CAREFUL) <= 0.1 * len(PROBLEMS)


@pytest.mark.parametrize(
    "scale, length, rtol", [(1e30, 1e-3, 1e-2), (1e-30, 1e4, 1e-2), (1e-30, 1e-3, 1e-4)]
)
@pytest.mark.parametrize("name", PROBLEMS)
def test_no_success_is_claimed_falsely_in_any_units(name, scale, length, rtol):
    problem = PROBLEMS[name](scale, length)
    found = pde.solve(problem.op, problem.f, rtol=rtol, of=problem.of, report=True)
    assert bool(found.ok) or name == "plane upwind"  # of order 1: too many unknowns
    assert not bool(found.ok) or problem.off(found) <= 2 * rtol * abs(problem.exact)


def integral(u, op):
    return op.integrate(u)


def test_operators_are_made_anew_through_arithmetic():
    """Beside pde.refine, of functions in factors, sums and conditions; the grids before and behind that of op."""
    make = lambda g: (
        (lambda x: 2 + x) * pde.Diffusion(g, lambda x: 1 + x * x, pde.Dirichlet(lambda x: x)) / 2
        - (lambda x: 1 + x)
        + 3j
    )
    f = lambda x: xnp.cos(x)
    found = pde.solve(make(pde.Grid(32)), f, rtol=1e-3, of=total, report=True)
    other = pde.refine(make, f, pde.Grid(8), of=total, rtol=1e-3, report=True)
    assert bool(found.ok) and bool(other.ok) and found.value.shape == other.value.shape
    np.testing.assert_array_equal(found.history, other.history)
    assert len(found.history) == found.steps + 1 and found.goal == 1e-3
    assert found.certificate.functional == found.history[-1]
    np.testing.assert_allclose(
        found.error, found.certificate.functional_error / abs(found.history[-1]), rtol=1e-12
    )
    assert found.certificate.residual < 1e-10


def test_estimate_makes_what_is_not_known():
    make = lambda g: pde.Stencil(g, lambda u: (u[1] - 2 * u[0] + u[-1]) / g.spacing[0] ** 2)
    found = pde.solve(make(pde.Grid(16)), -1.0, rtol=1e-3, of=integral, estimate=make, report=True)
    assert bool(found.ok) and abs(found.certificate.functional - 1 / 12) <= 1e-3 / 12
    plain = pde.solve(make(pde.Grid(16)), -1.0, rtol=1e-3, of=integral, estimate=make)
    np.testing.assert_array_equal(plain, found.value)


def test_what_ends_it_short_of_the_tolerance():
    line = pde.Laplacian(pde.Grid(8))
    odd = lambda x: xnp.sin(2 * np.pi * x)
    nothing = pde.solve(line, odd, rtol=1e-3, of=integral, report=True)  # 0, but for rounding
    assert not bool(nothing.ok)
    zero = pde.solve(line, 0.0, rtol=1e-3, of=integral, report=True)
    assert bool(zero.ok) and zero.error == 0 and zero.certificate.functional == 0
    lost = pde.solve(line, -1.0, rtol=1e-3, of=lambda u, op: np.nan, report=True)
    assert lost.status == xc.Status.not_finite
    loose = pde.solve(line, -1.0, rtol=np.inf, of=integral, report=True)
    assert bool(loose.ok) and np.isfinite(loose.error)
    short = pde.refine(
        pde.Laplacian, -1.0, pde.Grid((4, 4, 4)), of=integral, rtol=1e-6, most=4000, report=True
    )
    assert short.status == xc.Status.max_steps and "with most" in short.message
    free = pde.solve(
        pde.Laplacian(pde.Grid(8), pde.Neumann()), 1.0, rtol=1e-3, of=integral, report=True
    )
    assert not bool(free.ok) and "must balance" in free.message
    with xc.enable_x64(False):
        narrow = pde.solve(pde.Laplacian(pde.Grid(8)), -1.0, rtol=1e-9, of=integral, report=True)
    assert narrow.status == xc.Status.stagnation and "wider numbers" in narrow.message


def test_chance_is_not_taken_for_an_error_that_fell():
    """Values whose last two agree by chance: what the order makes of the difference before counts."""
    values = {8: 0.0, 16: 1.0, 32: 1.0, 64: 1.0, 128: 1.0}
    of = lambda u, op: values[op.grid.cells[0]]
    found = pde.solve(pde.Laplacian(pde.Grid(8)), -1.0, rtol=0.05, of=of, report=True)
    assert found.value.shape == (63,) and bool(found.ok)


def test_what_is_refused():
    grid = pde.Grid((16, 16))
    lap, ones = pde.Laplacian(grid), np.ones((15, 15))
    again = lambda op, f=1.0, of=integral, **more: (
        lambda: pde.solve(op, f, rtol=1e-3, of=of, **more)
    )
    for call, words in (
        (again(lap, ones), "f must be a number or a function .* an array has no values"),
        (again(lap, None), "a function of the coordinates"),
        (again(pde.Diffusion(grid, np.ones((17, 17)))), r"pde.Diffusion of an array \(17, 17\).*pde.refine\(make"),
        (again(lap - ones), r"pde.Combined of an array.*estimate=lambda grid"),
        (again(pde.Laplacian(grid, pde.Dirichlet(np.ones(17)))), r"pde.Laplacian of an array \(17,\)"),
        (again(xc.tree.map(lambda x: x, lap)), "pde.Laplacian that was copied"),
        (again(pde.Stencil(grid, lambda u: u[0, 0])), "given a pde.Stencil"),
        (again(pde.OpenHelmholtz(grid, 3.0)), "given a pde.OpenHelmholtz"),
        (again(np.eye(3)), "A matrix is solved by"),
        (again(lap, estimate=lambda g: lap), "on the grid that it was given"),
        (again(lap, of=3), "of must be a function of"),
        (again(lap, of=lambda u: 1.0), "of must be a function of"),
        (again(lap, of=lambda u, op: u), "gives one number"),
        (again(lap, of=lambda u, op: None), "one number"),
        (again(lap, of=lambda u, op: u[0, 0] > 0), "one number"),
        (lambda: pde.solve(lap, 1.0, rtol=0.0, of=integral), "rtol must be positive"),
    ):  # fmt: skip
        with pytest.raises(Exception, match=words):
            call()


def test_what_is_remembered_is_no_part_of_an_operator():
    """Pickles and trees of operators made of functions are what they were."""
    op = pde.Diffusion(pde.Grid(8), lambda x: 1 + x) - (lambda x: x)
    back = pickle.loads(pickle.dumps(op))
    np.testing.assert_array_equal(back(xnp.ones(7)), op(xnp.ones(7)))
    assert len(xc.tree.leaves(back)) == len(xc.tree.leaves(op))


def test_refining_under_transformations_is_told():
    of = lambda u, op: op.integrate(u)
    solved = lambda a: pde.solve(pde.Diffusion(pde.Grid(12), a), -1.0, rtol=1e-2, of=of)
    made = lambda a: pde.refine(lambda g: pde.Diffusion(g, a), -1.0, pde.Grid(8), of=of)
    for f in (xc.jit(solved), lambda a: xc.vmap(solved)(xnp.ones(2) * a), xc.jit(made)):
        with pytest.raises(
            xc.errors.ConcretizationError, match=r"with rtol and of grids are refined"
        ):
            f(1.5)
