"""Robin conditions whose coefficients are arrays, functions or traced."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.pde import Diffusion, Dirichlet, Grid, Laplacian, Neumann, Robin

GRIDS = {
    "nodes": Grid((12, 10)),
    "cells": Grid.cells((12, 11)),
    "stretched": Grid((12, 10), stretched=(np.linspace(0, 1, 13) ** 1.5, None)),
    "stretched cells": Grid.cells((12, 10), stretched=(np.linspace(0, 1, 13) ** 1.5, None)),
}


def plate(grid, alpha, beta, value, **more):
    faces = [(Dirichlet(1.0), Robin(alpha, beta, value)), (Robin(alpha, beta, value), Neumann(0.3))]
    return Diffusion(grid, lambda x, y: 1 + x * y, faces, **more)


def sector(grid, alpha, beta, value, **more):
    """Conditions across an angle too, where lengths are r dθ."""
    faces = [(Dirichlet(1.0), Robin(alpha, beta, value)), (Robin(alpha, beta, value), Neumann(0.3))]
    return Diffusion(grid, 1.0, faces, coordinates="polar", **more)


CASES = {name: (plate, grid) for name, grid in GRIDS.items()}
CASES["polar"] = (sector, Grid.cells((9, 8), (0.5, 0.0), (1.5, 2.0)))

SAME = {  # coefficients that are 2 and 1 / 2
    "array": lambda: (xnp.asarray(2.0), 0.5),
    "arrays": lambda: (np.asarray(2.0), xnp.asarray(0.5)),
    "function": lambda: (lambda x, y: 2 + 0 * x, 0.5),
    "functions": lambda: (lambda x, y: 4 / 2 + 0 * x, lambda x, y: 0.5 + 0 * y),
    "beta": lambda: (2.0, xnp.asarray(0.5)),
}


FEW = ("nodes", "polar")
cases = pytest.mark.parametrize(
    "case", [name if name in FEW else pytest.param(name, marks=pytest.mark.slow) for name in CASES]
)


@cases
@pytest.mark.parametrize("given", SAME)
def test_are_what_numbers_are(case, given):
    with xc.enable_x64():
        make, grid = CASES[case]
        one, other = make(grid, 2.0, 0.5, 3.0), make(grid, *SAME[given](), 3.0)
        u = np.random.default_rng(0).standard_normal(one.field_shape)
        np.testing.assert_allclose(other(u), one(u), rtol=1e-12, atol=1e-10)
        np.testing.assert_allclose(other.boundary(), one.boundary(), rtol=1e-12, atol=1e-10)
        np.testing.assert_allclose(pde.solve(other, 1.0), pde.solve(one, 1.0), rtol=1e-9)
        np.testing.assert_allclose(other.absolute(), one.absolute(), rtol=1e-12)


@cases
@pytest.mark.parametrize("which", [0, 1])
def test_derivatives(case, which):
    with xc.enable_x64():
        make, grid = CASES[case]
        start, step = (2.0, 0.5)[which], 1e-4

        def total(x):
            alpha, beta = (x, 0.5) if which == 0 else (2.0, x)
            return xnp.sum(pde.solve(make(grid, alpha, beta, 3.0), 1.0, rtol=1e-12) ** 2)

        slope = xc.grad(total)
        number = lambda x: float(total(float(x)))  # by Python numbers, as the peer of all this
        want = (number(start + step) - number(start - step)) / (2 * step)
        assert float(slope(start)) == pytest.approx(want, rel=1e-6)
        second = (slope(start + step) - slope(start - step)) / (2 * step)
        assert float(xc.jit(xc.grad(slope))(start)) == pytest.approx(float(second), rel=1e-5)
        both = xc.vmap(total)(start + xnp.array([0.0, step]))
        assert both.tolist() == pytest.approx([number(start), number(start + step)], rel=1e-9)


@pytest.mark.parametrize("centred", [False, True])
def test_varies_along_the_face_at_second_order(centred):
    """u = exp(x) sin(1 + y) of -Δu = 0 with alpha(y) on the right: errors fall by four."""
    u = lambda x, y: xnp.exp(x) * xnp.sin(1 + y)
    alpha, errors = (lambda x, y: 1 + 3 * y**2), []
    with xc.enable_x64():
        for n in (16, 32):
            grid = (Grid.cells if centred else Grid)((n, n))
            wall = Robin(alpha, 2.0, lambda x, y: alpha(x, y) * u(x, y) + 2.0 * u(x, y))
            op = Diffusion(grid, 1.0, [(Dirichlet(u), wall), Dirichlet(u)])
            found = pde.solve(op, 0.0, rtol=1e-11, report=True)
            assert found.ok
            errors.append(float(xnp.abs(found.value - op.field(u)).max()))
    assert 3.4 < errors[0] / errors[1] < 4.6


def test_coefficient_of_heat_transfer_from_measurements():
    """α(y) in three parameters, from u on the wall."""
    with xc.enable_x64():
        grid = Grid((16, 16))

        def wall(p):
            film = Robin(lambda x, y: xnp.exp(p[0] + p[1] * y + p[2] * y**2), 1.0)
            op = Diffusion(grid, 1.0, [(Dirichlet(1.0), film), Neumann()])
            return pde.solve(op, 0.0, rtol=1e-12)[-1]

        true = xnp.array([0.5, -1.0, 2.0])
        measured = wall(true)
        found = xc.optimize.least_squares(lambda p: wall(p) - measured, xnp.zeros(3), rtol=1e-10)
        np.testing.assert_allclose(found.x, true, rtol=1e-6)


def test_estimates_and_modes():
    with xc.enable_x64():
        grid, faces = (
            Grid((16, 16)),
            lambda alpha: [(Dirichlet(), Robin(alpha, 1.0, 2.0)), Neumann()],
        )
        one, other = (Diffusion(grid, 1.0, faces(a)) for a in (3.0, xnp.asarray(3.0)))
        figures = [
            float(
                pde.solve(
                    op, 1.0, method="cg", estimate=True, report=True
                ).certificate.discretization_error
            )
            for op in (one, other)
        ]
        assert figures[0] == pytest.approx(figures[1], rel=1e-6)
        modes = [pde.eigenmodes(op, 3)[0] for op in (one, other)]
        np.testing.assert_allclose(*modes, rtol=1e-7)
        matrices = [op.as_sparse().toarray() for op in (one, other)]
        np.testing.assert_allclose(*matrices, rtol=1e-12)


def test_cut_domains_and_sums():
    with xc.enable_x64():
        grid, alphas = Grid((16, 16)), (2.0, xnp.asarray(2.0))
        faces = lambda a: [(Robin(a, 0.5, 1.0), Neumann()), Neumann()]
        inside, edge = (lambda x, y: 0.8 - x - 0.1 * y), Neumann(1.0)
        cut = [pde.CutDiffusion(grid, 1.0, faces(a), inside=inside, edge=edge) for a in alphas]
        plain = [Diffusion(grid, lambda x, y: 1 + x, faces(a)) for a in alphas]
        for one, other in (cut, plain, [x + x for x in plain], [x @ x for x in plain]):
            u = np.random.default_rng(0).standard_normal(one.field_shape)
            assert not one.singular and not other.singular
            np.testing.assert_allclose(other(u), one(u), rtol=1e-12)
            np.testing.assert_allclose(other.boundary(), one.boundary(), rtol=1e-12)
            np.testing.assert_allclose(pde.solve(other, 1.0), pde.solve(one, 1.0), rtol=1e-7)


REFUSED = {
    "Laplacian": (lambda: Laplacian(Grid(4), Robin(xnp.asarray(1.0))), "pde.Diffusion takes those"),
    "poisson": (lambda: pde.poisson(1.0, Grid(4), Robin(xnp.asarray(1.0))), "pde.Diffusion takes"),
    "traced": (lambda: xc.grad(lambda a: pde.poisson(1.0, Grid(4), Robin(a))[0])(1.0), "takes those"),
    "negative": (lambda: Diffusion(Grid((4, 4)), 1.0, Robin(-np.ones(5))), "nowhere negative"),
    "beta 0": (lambda: Diffusion(Grid((4, 4)), 1.0, Robin(1.0, np.zeros(5))), "nowhere negative"),
    "shape": (lambda: Diffusion(Grid((4, 4)), 1.0, Robin(np.ones(4))), r"need values \(5,\)"),
    "curved": (lambda: pde.CutDiffusion(Grid((8, 8)), inside=lambda x, y: 0.7 - x, edge=Robin(xnp.asarray(1.0))),
               "on boxes"),
    "list": (lambda: Robin([1.0, 2.0]), "a function of the coordinates of the face"),
    "complex": (lambda: Robin(np.ones(5) * 1j), "OpenHelmholtz"),
    "one coordinate": (lambda: Diffusion(Grid((4, 4)), 1.0, Robin(lambda x: x)), "2 coordinates"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    make, words = REFUSED[name]
    with pytest.raises(ValueError, match=words):
        make()
