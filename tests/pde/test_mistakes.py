"""What newcomers write first: errors say what is meant and what to write."""

import operator

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.pde import Diffusion, Grid, Laplacian, Stencil

GRID = Grid((8, 8))
LAP = Laplacian(GRID)


@pytest.mark.parametrize("f", [
    lambda u: xnp.roll(u, 1, 0) - u[0, 0], lambda u: np.roll(u, 1, 0), lambda u: xnp.pad(u, 1)[2:, 1:-1],
    lambda u: u[1, 0] - u, lambda u: u - u[1, 0], lambda u: 2.0 * u, lambda u: u / 2, lambda u: -u,
    lambda u: np.ones((7, 7)) * u, lambda u: sum(u),
])  # fmt: skip
def test_stencils_look_at_shifted_fields(f):
    with pytest.raises(
        ValueError, match=r"looked at by whole numbers.*u\[0, 0\] is the field.*xnp.roll"
    ):
        Stencil(GRID, f)


@pytest.mark.parametrize("mistake, words", [
    (lambda: Stencil(GRID, lambda u: u[1:, :] - u[:-1, :]), r"2 whole numbers of nodes, as u\[1, 0\]"),
    (lambda: Stencil(GRID, lambda u: u[1] - u[0]), r"2 whole numbers of nodes, as u\[1, 0\]"),
    (lambda: Stencil(GRID, lambda u: np.ones((9, 9)) * u[1, 0]), r"arrays of that shape.*shorter than grid.shape"),
    (lambda: operator.mul(LAP, lambda x, y: x), "the field or function in front"),
    (lambda: LAP * np.ones((7, 7)), "the field or function in front"),
    (lambda: pde.stable_step(LAP), "what takes steps.*RungeKutta"),
    (lambda: pde.stable_step(lambda u, t: u), "what takes steps"),
    (lambda: pde.Points(GRID, [[0.5, 0.5]]).read(np.ones((7, 7))), r"all nodes, of shape \(9, 9\).*op.full"),
    (lambda: pde.Points(GRID, [[0.5, 0.5]]).read(2.0), r"all nodes, of shape \(9, 9\)"),
    (lambda: pde.Points(GRID, [[0.5, 0.5]]).spread([1.0, 2.0]), "one number or 1"),
    (lambda: pde.Wave(GRID, 1.0, [[0.5, 0.5]], lambda t: t), "pde.Points on the same grid"),
    (lambda: pde.solve_direct(Diffusion(GRID, 2.0), 1.0), "pde.solve takes any"),
    (lambda: pde.solve(LAP, 1.0, rtol="a"), "rtol must be positive"),
    (lambda: pde.ThetaMethod(LAP, lambda x, y: x).step(LAP.field(1.0), 0.0, 0.1), r"a function \(x, y\).*op.field"),
    (lambda: pde.ThetaMethod(LAP, np.ones(3)).step(LAP.field(1.0), 0.0, 0.1), r"source must be a field of shape"),
    (lambda: pde.ExponentialIntegrator(LAP, np.ones(3)).step(LAP.field(1.0), 0.0, 0.1), "source must be a field"),
    (lambda: pde.IMEX(LAP, lambda u, t: np.ones(3)).step(LAP.field(1.0), 0.0, 0.1), "of the shape of u"),
])  # fmt: skip
def test_errors_say_what_to_write(mistake, words):
    with pytest.raises(ValueError, match=words):
        mistake()


def test_powers_are_products_that_are_solved():
    u = pde.solve(LAP**2, 1.0)
    assert xnp.allclose(u, pde.solve(LAP @ LAP, 1.0))
    assert (Diffusion(GRID, 2.0) ** 3).reach == (3, 3) and (LAP**1).shape == LAP.shape
    with pytest.raises(ValueError, match="1 or more"):
        operator.pow(LAP, 0)


@pytest.mark.parametrize(
    "op",
    [
        pde.Laplacian(pde.Grid((8, 8))),
        pde.Laplacian(pde.Grid.cells((8, 8))),
        pde.Masked(pde.Grid((8, 8)), lambda x, y: x + y < 1.2),
    ],
    ids=["nodes", "cells", "masked"],
)
def test_integrals_of_what_is_no_field_say_what_one_is(op):
    assert float(op.integrate(1.0)) == pytest.approx(float(op.integrate(np.ones(op.field_shape))))
    assert float(op.integrate(lambda x, y: x + 0 * y)) > 0
    for wrong in ((3, 3), (10, 10)):
        with pytest.raises(ValueError, match=r"\.field: operands need a function, or an array"):
            op.integrate(np.ones(wrong))


@pytest.mark.parametrize("length", [1e-200, 1e200])
@pytest.mark.parametrize(
    "grid",
    [
        lambda x: Grid(8, 0.0, x), lambda x: Grid((4, 8), 0.0, (x, 1.0)), lambda x: Grid.cells(8, 0.0, x),
        lambda x: Grid(2, stretched=((0.0, x / 3, x),)),
    ],
)  # fmt: skip
def test_lengths_whose_squares_are_out_of_the_range_are_refused(grid, length):
    for op in (Laplacian(grid(length)), Diffusion(grid(length), 1.0)):
        with pytest.raises(
            ValueError, match="widths of the grid's cells must be such that their squares"
        ):
            pde.solve(op, 1.0)


@pytest.mark.parametrize("tableau", [pde.DORMAND_PRINCE, pde.RODAS5P])
def test_lists_of_numbers_are_no_arrays(tableau):
    for x0, f in (
        ([1.0, 2.0], lambda u, t: -u),
        ((1.0, 2.0), lambda u, t: u * 0.5),
        ([1.0], lambda u, t: u + 1.0),
    ):
        with pytest.raises(ValueError, match=r"x0 must be .*write xcore\.numpy\.asarray\(x0\)"):
            pde.integrate(f, x0, [0.0, 1.0], tableau=tableau)
    got = pde.integrate(lambda u, t: [-u[0], -u[1]], [1.0, 2.0], [0.0, 1.0], tableau=tableau)
    np.testing.assert_allclose([x[1] for x in got], np.exp(-1) * np.array([1, 2]), rtol=1e-4)
    with pytest.raises(TypeError, match="'str'"):  # of another reason
        pde.integrate(lambda u, t: [-u[0], "a" - u[1]], [1.0, 2.0], [0.0, 1.0], tableau=tableau)


@pytest.mark.parametrize("given", [lambda u: u.max(), "heat", -1.0, float("nan")])
def test_figures_without_a_name(given):
    with pytest.raises(
        ValueError, match=r"seconds must be a number, 0 or more, .* Figures have names"
    ):
        pde.Print(given)


def test_complex_times():
    from_complex = lambda: pde.integrate(lambda u, t: -u, 1.0, xnp.asarray([0, 1 + 2j]))
    with pytest.raises(ValueError, match="t_eval must be a row of one or more real numbers"):
        from_complex()


@pytest.mark.parametrize("method", [pde.ThetaMethod, pde.ExponentialIntegrator])
@pytest.mark.parametrize(
    "state", [(np.ones(4), np.ones(4)), {"a": np.ones(4)}, [1.0, 2.0, 3.0, 4.0], None]
)
def test_implicit_steps_take_one_field(method, state):
    stepper = method(pde.Diffusion(pde.Grid(5), 1.0))
    for run in (
        lambda: pde.trajectory(stepper, state, 1e-3, 2), lambda: pde.march(stepper, state, 1e-3, 2),
        lambda: stepper.step(state, 0.0, 1e-3), lambda: xc.jit(stepper.step)(state, 0.0, 1e-3),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="must be one field"):
            run()


def test_a_sum_has_one_kind_of_coordinates():
    grid = pde.Grid.cells((5,))
    faces = [(pde.Neumann(), pde.Dirichlet(0.0))]
    polar = pde.Diffusion(grid, 1.0, faces, coordinates="polar")
    plain = pde.Diffusion(grid, 1.0, faces)
    for make in (lambda: polar + plain, lambda: plain - 2 * polar, lambda: plain + polar + 1):
        with pytest.raises(ValueError, match="coordinates must be those of the first"):
            make()
    assert pde.solve(polar + polar, -1.0).shape == (5,)
