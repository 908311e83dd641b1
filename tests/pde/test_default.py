"""What ``solve`` does by default with operators that cycles find hard: few steps, no false success."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.pde import Diffusion, Dirichlet, Grid, Neumann, Robin, _portrait

rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def double():
    with xc.enable_x64():
        yield


def solved(op, **more):
    """The solution of op(u) = f, with its residual computed anew."""
    f = 1 + 0.3 * rng.standard_normal(op.field_shape)
    f = f if op.inside is None else f * np.asarray(op.inside)
    answer = pde.solve(op, f, report=True, **more)
    left = np.asarray(op(answer.value)) + np.asarray(op.boundary()) - f
    return answer, float(np.linalg.norm(left) / np.linalg.norm(f))


def test_waves_on_large_grids_are_real_where_the_equation_is(monkeypatch):
    """Cycles are those of damped waves there, whose elements are complex."""
    monkeypatch.setitem(_portrait.FACTORS_AT_MOST, 2, 400)
    waves = pde.Helmholtz(Grid((40, 40)), lambda x, y: 100 * (1 + 0.1 * x))
    answer, left = solved(waves, method="auto")
    assert answer.value.dtype == np.float64
    assert answer.ok and left < 1e-9, (answer, left)
    other, left = solved(1.0 * waves, method="gcr")
    assert "damped" in other.reason and other.ok and left < 1e-9


def test_coarse_grids_carry_waves_that_go_in_all_directions():
    """Nodes between coarse ones take less than the mean of their neighbours, as sums of rows tell: 20 steps else."""
    op = pde.Helmholtz(Grid((160, 160)), lambda x, y: 1600 * (1 + 0.2 * y))
    answer, left = solved(op)
    assert answer.ok and left < 1e-9 and answer.method == "gcr" and int(answer.steps) <= 15


def test_planes_that_are_tied_weakly_are_not_coarsened_across():
    """Where cells are flat on one end of the box and long on the other; 35 steps else."""
    z = (1e3 ** np.linspace(0, 1, 21) - 1) / 999
    grid = Grid((20, 20, 20), stretched=(None, None, tuple(z)))
    op = Diffusion(
        grid, lambda x, y, z: 1 + x, [Neumann(), Neumann(), (Dirichlet(), Robin(1.0, 1.0))]
    )
    answer, left = solved(op)
    assert answer.ok and left < 1e-9 and answer.method == "cg" and int(answer.steps) <= 20


def test_curved_edges_take_as_few_steps_as_straight_ones():
    """Cycles of flows took 52 for given flows and holes at 256², 24 at 64²."""
    circle = lambda a, b, r: lambda x, y: ((x - a) ** 2 + (y - b) ** 2) ** 0.5 - r
    outer = lambda x, y: -circle(0, 0, 0.95)(x, y)
    inside = [outer, circle(0.3, 0.0, 0.2), circle(-0.4, 0.1, 0.15)]
    edge = [Neumann(), Robin(5.0, 1.0), Dirichlet(1.0)]
    op = pde.CutDiffusion(Grid((160, 160), -1.0, 1.0), inside=inside, edge=edge)
    f = op.only_inside(xnp.ones(op.field_shape))
    answer, exact = pde.solve(op, f, report=True), pde.solve(1.0 * op, f, method="sparse")
    assert answer.ok and answer.method == "cg" and int(answer.steps) <= 10
    assert abs(answer.value - exact).max() < 1e-8 * abs(exact).max()


@pytest.mark.parametrize("nodes, jump", [(512, 1e8), (4096, 1e8), (4096, 1e11)])
def test_what_elements_lose_flows_keep(nodes, jump):
    """On a line the flow is known: what goes in. Rows of elements sum to their rounding, and not to zero."""
    op = Diffusion(Grid(nodes), lambda x: xnp.where(xnp.sin(40 * x) > 0, jump, 1.0))
    f = 1 + 0.3 * rng.standard_normal(op.field_shape)
    x = np.linspace(0, 1, nodes + 1)
    a = np.where(np.sin(40 * x) > 0, jump, 1.0)
    resistance, gone = (
        (1 / a[1:] + 1 / a[:-1]) / 2 / nodes,
        np.concatenate([[0], np.cumsum(f) / nodes]),
    )
    first = np.sum(resistance * gone) / np.sum(resistance)
    want = np.cumsum(resistance * (gone - first))[:-1]
    answer = pde.solve(op, f, report=True)
    assert answer.ok and abs(answer.value - want).max() < 1e-8 * abs(want).max()
