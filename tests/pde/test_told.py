"""What operators are given and results say: values on faces, equal faces, balance, steps that are too long."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore.pde import (
    Advection,
    CutDiffusion,
    Diffusion,
    Dirichlet,
    Gradient,
    Grid,
    Helmholtz,
    Laplacian,
    Neumann,
    Periodic,
    RungeKutta,
    march,
    solve,
    trajectory,
)  # fmt: skip

GRID = Grid((6, 5))
OPERATORS = {
    "Laplacian": lambda faces: Laplacian(GRID, faces),
    "Diffusion": lambda faces: Diffusion(GRID, 1.0, faces),
    "Advection": lambda faces: Advection(GRID, (1.0, 2.0), faces),
    "Helmholtz": lambda faces: Helmholtz(GRID, 2.0, faces),
    "Gradient": lambda faces: Gradient(GRID, faces),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("as_given", [np.asarray, xnp.asarray])
def test_values_on_faces_are_not_dropped_in_silence(name, as_given):
    op, rng = OPERATORS[name](Dirichlet(0.0)), np.random.default_rng(0)
    inner = rng.standard_normal(op.field_shape)
    whole = np.pad(inner, 1)
    for x, y in zip(
        xc.tree.leaves(op(as_given(whole))), xc.tree.leaves(op(as_given(inner))), strict=True
    ):
        np.testing.assert_array_equal(x, y)
    with pytest.raises(xc.errors.ArgumentError, match=r"0 on Dirichlet faces.*op.boundary"):
        op(as_given(np.pad(inner, 1, constant_values=1.0)))
    op(op.field(as_given(np.pad(inner, 1, constant_values=1.0))))  # said to be meant
    op(as_given(np.pad(inner, 1, constant_values=1e-16)))  # as sin π
    inner[1, 1] = np.nan
    op(as_given(np.pad(inner, 1)))
    with pytest.raises(xc.errors.ArgumentError, match="0 on Dirichlet faces"):
        op(np.ones(GRID.shape).tolist())


@pytest.mark.parametrize("dtype", ["int32", "bfloat16", "float32", "float64", "complex64"])
def test_values_at_all_nodes_of_other_faces(dtype):
    x = np.linspace(0, 1, 9)
    wave, bow = np.cos(2 * np.pi * x), np.sin(np.pi * x)
    for faces, u, count in (
        (Periodic(), wave, 8), (Neumann(), wave, 9), ([(Dirichlet(0.0), Neumann())], x, 8), (Dirichlet(0.0), bow, 7),
    ):  # fmt: skip
        assert Laplacian(Grid((8,)), faces)(xnp.asarray(u).astype(dtype)).shape == (count,)
    both = Laplacian(Grid((8, 8)), [Periodic(), Dirichlet(0.0)])
    assert both(xnp.asarray(np.outer(wave, bow)).astype(dtype)).shape == (8, 7)
    with pytest.raises(xc.errors.ArgumentError, match="on Dirichlet faces"):
        both(xnp.asarray(np.outer(wave, 3 * x)).astype(dtype))


@pytest.mark.parametrize("data", [lambda p: p, lambda p: lambda x, y: p * (1 + x)])
def test_sums_of_operators_with_data_that_are_traced(data):
    def total(p):
        faces = Dirichlet(data(p))
        return solve(Diffusion(GRID, 1.0, faces) - Advection(GRID, (1.0, 2.0), faces), 1.0).sum()

    with xc.enable_x64():
        np.testing.assert_allclose(xc.jit(total)(1.3), total(1.3), rtol=1e-12)
        slope = (total(1.3 + 1e-4) - total(1.3 - 1e-4)) / 2e-4
        for f in (xc.grad(total), xc.jit(xc.grad(total)), xc.jacfwd(total)):
            np.testing.assert_allclose(f(1.3), slope, rtol=1e-8)
        faces = Dirichlet(lambda x, y: 1 + x)
        op = lambda p: Diffusion(GRID, p, faces) - Advection(GRID, (1.0, 2.0), faces)
        p = xnp.ones(GRID.shape)
        np.testing.assert_allclose(
            xc.jit(lambda p: solve(op(p), 1.0))(p), solve(op(p), 1.0), rtol=1e-10
        )
    for kind in (float, np.float64, np.float32, np.asarray, xnp.asarray):
        with pytest.raises(xc.errors.ArgumentError, match="same faces"):
            Diffusion(GRID, 1.0, Dirichlet(kind(1))) - Advection(
                GRID, (1.0, 2.0), Dirichlet(kind(2))
            )


@pytest.mark.parametrize("n", [8, 11, 16, 17, 24, 33])
@pytest.mark.parametrize("unit", [1e-20, 1.0, 1e20])
def test_flows_through_curved_edges_that_nearly_balance(n, unit):
    """∇²u = 1 in a disc of radius 0.8 with slope 0.4 at its edge: u = r²/4."""
    disc = lambda x, y: 0.8 - xnp.sqrt(x * x + y * y)
    with xc.enable_x64():
        op = CutDiffusion(Grid((n, n + 1), -1.0, 1.0), 1.0, inside=disc, edge=Neumann(0.4 * unit))
        answer = solve(op, unit, report=True)
        assert answer.ok and answer.error < 1e-11
        x, y = op.points()
        held = np.asarray(op.only_inside(xnp.ones(op.field_shape))) > 0
        off = np.asarray(answer.value / unit - (x * x + y * y) / 4)[held]
        assert np.ptp(off) < 2 / n**2


@pytest.mark.parametrize("step", [0.002, 0.014, 1.0])
def test_reports_of_steps_that_are_too_long_name_the_longest(step):
    lap = Laplacian(Grid((16, 16)))
    stepper = RungeKutta(lambda u, t: lap(u))
    with xc.enable_x64():
        start = np.ones(lap.field_shape)
        told = trajectory(stepper, start, step, 400, every=200, report=True)
        assert not told.ok and "too long" in told.message
        short = trajectory(stepper, start, 0.99 * float(told.stable), 400, every=200, report=True)
        assert short.ok and np.isinf(short.stable)
        for names in ("ab", "ba"):
            two = RungeKutta(lambda u, t: {names[0]: 0 * u[names[0]], names[1]: lap(u[names[1]])})  # noqa: B023
            told = trajectory(two, dict.fromkeys(names, start), step, 400, every=200, report=True)
            assert "too long" in told.message
        with pytest.raises(xc.errors.SolverError, match="too long"):
            march(stepper, start, step, 400)
        pole = trajectory(RungeKutta(lambda u, t: u * u), np.ones(3), 0.1, 40, every=1, report=True)
        assert not pole.ok and "not finite" in pole.message
