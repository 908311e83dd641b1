"""Polynomials and products of operators: solved one factor after another, beside sparse factors of all of it."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.pde import (
    Advection,
    Diffusion,
    Dirichlet,
    Grid,
    Laplacian,
    Neumann,
    Periodic,
    Robin,
    _general,
    _portrait,
    _products,
)

rng = np.random.default_rng(0)
D, N, P, R = Dirichlet(), Neumann(), Periodic(), Robin(2.0, 1.0)
ROBIN = Laplacian(Grid((24, 19)), [(D, R), N])
RING = Laplacian(Grid((21, 22), upper=(9.0, 2.0)), P)
STRETCHED = Diffusion(Grid(18, stretched=(tuple(np.linspace(0, 1, 19) ** 2),)), 2.0)
SPACE = Laplacian(Grid((7, 8, 9)), [D, N, P])
HIGHER = Laplacian(Grid((20, 18)), order=4)
CELLS = Diffusion(Grid.cells((15, 16)), 3.0, [(D, N), D])
VARIED = Diffusion(Grid((20, 21)), lambda x, y: 1 + x * y, [D, (N, D)])
POLYNOMIALS = {
    "plate": ROBIN @ ROBIN,
    "plate on springs": ROBIN @ ROBIN + 1e3,
    "patterns": (RING + 1.0) @ (RING + 1.0) + 0.3,
    "mixtures": 1.0 + 1e-3 * RING @ (0.1 * RING + 1.0),
    "stretched": STRETCHED @ STRETCHED - 3.0 * STRETCHED,
    "three factors": ROBIN @ ROBIN @ ROBIN - 5.0,
    "in space": 2.0 - SPACE @ (SPACE - 1.0) * 0.1,
    "order 4": HIGHER @ HIGHER + 1.0,
    "cells": -(CELLS @ CELLS) - 1.0,
    "complex": 1.0 + 0.01j * (ROBIN @ ROBIN) - ROBIN,
    "varied": (VARIED + 1.0) @ (VARIED - 2.0) + 0.3,
    "varied, three": VARIED @ VARIED @ VARIED - 1.0,
}


@pytest.fixture
def double():
    with xc.enable_x64():
        yield


@pytest.fixture
def large(monkeypatch):
    """As if few unknowns were many."""
    monkeypatch.setattr(_portrait, "FACTORS_UP_TO", few := dict.fromkeys((1, 2, 3), 50))
    monkeypatch.setattr(_general, "FACTORS_UP_TO", few)
    monkeypatch.setattr(_general, "_BY_FACTORS", 50)


def solved(op, **more):
    f = 1 + 0.3 * rng.standard_normal(op.field_shape)
    return pde.solve(op, f, report=True, **more), pde.solve(op, f, report=True, method="sparse")


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_are_solved_by_their_factors(name, double, large):
    op = POLYNOMIALS[name]
    got, want = solved(op)
    assert got.method == "product" and int(got.steps) <= 2 + 12 * ("varied" in name)
    assert bool(got.ok) and xnp.allclose(
        got.value, want.value, rtol=1e-7, atol=1e-7 * abs(want.value).max()
    )


@pytest.mark.parametrize("op, want", [
    (ROBIN @ ROBIN + 1e3, [1e3, 0, 1]), ((RING + 1.0) @ (RING + 1.0) + 0.3, [1.3, 2, 1]),
    (2.0 * (ROBIN @ (3.0 * ROBIN - 1.0)) / 4 + ROBIN, [0, 0.5, 1.5]), (CELLS @ CELLS, [0, 0, 9]),
    (RING @ Diffusion(RING.grid, 2.0, P), [0, 0, 2]), (VARIED - 1.0, [-1, 1]),
])  # fmt: skip
def test_what_it_is_a_polynomial_of(op, want):
    found = _products.polynomial(op)
    assert found is not None
    np.testing.assert_allclose(found.coefficients, want, rtol=1e-6)


def test_products_of_two_operators_have_no_polynomial():
    other = Diffusion(VARIED.grid, 1.0, VARIED.faces)
    assert _products.polynomial(VARIED @ other) is None
    assert _products.polynomial(VARIED @ VARIED + (lambda x, y: x)) is None


@pytest.mark.parametrize("op", [
    ROBIN @ ROBIN + (lambda x, y: 300 * x),
    VARIED @ Diffusion(VARIED.grid, lambda x, y: 2 - y, VARIED.faces),
    VARIED @ Diffusion(VARIED.grid, 1.0, VARIED.faces) + 10.0,
    VARIED @ VARIED - Advection(VARIED.grid, (5.0, 2.0), VARIED.faces),
])  # fmt: skip
def test_what_is_beside_a_product_takes_steps(op, double, large):
    got, want = solved(op)
    assert bool(got.ok) and got.method == "product" and int(got.steps) <= 20
    assert xnp.allclose(got.value, want.value, rtol=1e-7, atol=1e-7 * abs(want.value).max())


def test_singular_polynomials_leave_constants_out(double, large):
    lap = Laplacian(Grid.cells((20, 18)), N)
    f = rng.standard_normal(lap.field_shape)
    answer = pde.solve(lap @ lap, f - f.mean(), report=True)
    left = np.asarray((lap @ lap)(answer.value)) - f + f.mean()
    assert bool(answer.ok) and answer.method == "product" and abs(left).max() < 1e-8
    with pytest.raises(pde.IncompatibleError):
        pde.solve(lap @ lap, 1.0)


def test_derivatives_through_factors(double, large):
    def energy(f, k):
        return xnp.sum(pde.solve(1.0 * (VARIED @ VARIED) + k, f) ** 2)

    f = xnp.asarray(1 + 0.3 * rng.standard_normal(VARIED.field_shape))
    by_f = xc.grad(energy)(f, 2.0)
    way = rng.standard_normal(f.shape)
    step = 1e-4
    want = (energy(f + step * way, 2.0) - energy(f - step * way, 2.0)) / (2 * step)
    assert abs(xnp.sum(by_f * way) / want - 1) < 1e-5


@pytest.mark.parametrize("c", [0.0, 100.0])
def test_plates_are_a_success_where_rounding_leaves_a_residual(c):
    """Their residual is that of rounded u, which says nothing of its error: which is small."""
    with xc.enable_x64():
        lap = Laplacian(Grid((96, 96)))
        op = lap @ lap + c
        f = 1 + 0.3 * rng.standard_normal(op.field_shape)
        answer = pde.solve(op, f, report=True)
        assert bool(answer.ok)
        u = np.asarray(answer.value)
        a = op.as_sparse().astype(np.longdouble)
        left = (f - (a @ u.astype(np.longdouble).ravel()).reshape(f.shape)).astype(float)
        error = np.asarray(pde.solve(op, left, report=True).value)
        assert abs(error).max() < 1e-9 * abs(u).max()  # a is rounded as well
    single = pde.solve(lap @ lap + c, f.astype(np.float32), report=True)
    assert bool(single.ok) and abs(np.asarray(single.value) - u).max() < 1e-5 * abs(u).max()


def test_operators_that_may_vanish_are_not_excused_by_rounding(double):
    """The sum of a plate and of waves may be singular: no factor tells that it is not."""
    seen = _general._portrait_of
    assert _products.positive(ROBIN @ ROBIN + 1.0, seen)
    assert _products.positive(1.0 * (ROBIN @ ROBIN) - ROBIN, seen)
    assert not _products.positive(ROBIN @ ROBIN - 500.0, seen)
    assert not _products.positive((ROBIN + 40.0) @ (ROBIN + 40.0), seen)
    assert not _products.positive(ROBIN @ (ROBIN + 40.0), seen)
    assert not _products.positive(RING + 1.0, seen) and not _products.positive(ROBIN, seen)


def test_wide_stencils_that_are_too_many_for_factors_are_refused_in_words(
    double, large, monkeypatch
):
    monkeypatch.setattr(_portrait, "FACTORS_AT_MOST", few := dict.fromkeys((1, 2, 3), 100))
    monkeypatch.setattr(_general, "FACTORS_AT_MOST", few)
    fourth = lambda u: u[2, 0] - 4 * u[1, 0] + 6 * u[0, 0] - 4 * u[-1, 0] + u[-2, 0] + u[0, 0]
    with pytest.raises(ValueError, match="one factor after another"):
        pde.solve(pde.Stencil(Grid((40, 40)), fourth), 1.0)
    with pytest.raises(ValueError, match="a product of operators"):
        pde.solve(VARIED, 1.0, method="product")


def test_wide_stencils_take_cycles_where_factors_would_fill_more(double, monkeypatch):
    """Separators are as thick as rows reach: at 256² factors of order 6 took 40 seconds."""
    monkeypatch.setattr(_portrait, "FACTORS_UP_TO", dict.fromkeys((1, 2, 3), 5000))
    op = Laplacian(Grid((40, 40)), order=6) - Advection(
        Grid((40, 40)), (5.0, 2.0), order=6, scheme="centred"
    )
    got, want = solved(op)
    assert bool(got.ok) and got.method == "gcr" and int(got.steps) <= 15
    assert xnp.allclose(got.value, want.value, rtol=1e-8, atol=1e-9 * abs(want.value).max())
