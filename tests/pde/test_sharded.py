"""Grids spread over several devices give what one device gives, to round-off."""

import functools
import math
import re

import numpy as np
import pytest

import xcore as xc
from xcore import pde
from xcore.pde import Diffusion, Grid, Laplacian, _direct
from xcore.sharding import NamedSharding, P

pytestmark = pytest.mark.skipif(len(xc.devices()) < 8, reason="needs 8 devices")

SOLVERS = {
    "direct": lambda f: pde.solve(Laplacian(Grid((33, 33))), f),
    "cg": lambda f: pde.solve(
        Diffusion(Grid((33, 33)), lambda x, y: 1 + x * y), f, method="cg", rtol=1e-12
    ),
    "heat": lambda f: pde.trajectory(pde.ThetaMethod(Laplacian(Grid((33, 33)))), f, 1e-3, 3),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_spread_over_eight_devices(name):
    with xc.enable_x64():
        f = np.random.default_rng(0).standard_normal((32, 32))
        run = xc.jit(SOLVERS[name])
        alone = run(f)
        mesh = xc.make_mesh((4, 2), ("x", "y"), devices=xc.devices()[:8])
        parts = xc.device_put(f, NamedSharding(mesh, P("x", "y")))
        assert len(parts.sharding.device_set) == 8
        spread = run(parts)
        # sums are taken in another order; CG ends at its goal, 1e-12 of the right-hand side
        assert np.allclose(spread, alone, rtol=0, atol=1e-11 * np.abs(alone).max())


def test_fields_that_are_spread_have_no_other_slabs(monkeypatch):
    monkeypatch.setattr(_direct, "IN_SLABS_FROM", 0)
    lap = Laplacian(Grid((9, 9, 9)))
    f = np.random.default_rng(0).standard_normal((8, 8, 8))
    run = xc.jit(lambda f: pde.solve_direct(lap, f))
    mesh = xc.make_mesh((8,), ("x",), devices=xc.devices()[:8])
    parts = xc.device_put(f, NamedSharding(mesh, P("x")))
    assert "while" in run.lower(f).as_text()
    assert "while" not in run.lower(parts).as_text()
    assert np.allclose(run(parts), run(f), rtol=0, atol=1e-13 * np.abs(run(f)).max())


# What is exchanged


def _exchanges(f, *args):
    """{operation: the most elements of one result} of what the compiled program exchanges of float32. (In float64 is the
    matrix of the coarsest level of cycles, for which there are 256 unknowns.)"""
    found = {}
    pattern = re.compile(
        r" = (.*?) (all-gather|all-reduce|all-to-all|collective-permute|reduce-scatter)(-start)?\("
    )
    for shapes, name, _ in pattern.findall(xc.jit(f).lower(*args).compile().as_text()):
        sizes = [math.prod(map(int, s.split(","))) for s in re.findall(r"f32\[([\d,]+)\]", shapes)]
        if sizes or "f32" in shapes:
            found[name] = max([found.get(name, 0), *sizes, 1])
    return found


def _spread(shape, *spec, mesh=((4,), ("x",)), dtype=np.float32):
    mesh = xc.make_mesh(*mesh, devices=xc.devices()[: math.prod(mesh[0])])
    f = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    return xc.device_put(f, NamedSharding(mesh, P(*spec)))


LAP = Laplacian(Grid((65, 65)))
HALOS = {
    "product": lambda u: LAP(u),
    "explicit steps": lambda u: pde.trajectory(pde.RungeKutta(lambda u, t: LAP(u)), u, 1e-5, 3),
    "waves": lambda u: pde.trajectory(pde.Leapfrog(LAP), (u, u), 1e-3, 3),
    "cycles": lambda u: pde.solve(
        Diffusion(Grid((65, 65)), lambda x, y: 1 + x * y), u, method="multigrid"
    ),
}


@pytest.mark.parametrize("name", HALOS)
def test_stencils_and_cycles_exchange_rows_at_edges(name):
    found = _exchanges(HALOS[name], _spread((64, 64), "x"))
    most = found.pop("collective-permute")
    assert most <= 3 * 66, "rows at the edges of parts"
    sums = found.pop("all-reduce", 1)
    assert sums == 1 or (name == "cycles" and sums <= 256), "inner products, the coarsest level"
    assert max(found.values(), default=0) <= (256 if name == "cycles" else 0), found


def test_transforms_turn_fields_over():
    """By the operation spread_along."""
    cases = [
        (LAP, ("x",), 2), (Laplacian(Grid((65, 34, 31))), ("x",), 2),
        (Laplacian(Grid((34, 65, 31))), (None, "x"), 4), (Laplacian(Grid((31, 34, 65))), (None, None, "x"), 4),
        (Laplacian(Grid((64, 33)), pde.Periodic()), ("x",), 2),
    ]  # fmt: skip
    for lap, spec, turns in cases:
        run = xc.jit(functools.partial(pde.solve_direct, lap))
        f = _spread(lap.field_shape, *spec)
        u = run(f)
        assert u.sharding.spec == P(*spec)
        alone = run(np.asarray(f))
        np.testing.assert_allclose(u, alone, rtol=0, atol=3e-6 * np.abs(alone).max())
        text = run.lower(f).compile().as_text()
        assert len(re.findall(r" all-to-all(?:-start)?\(", text)) == turns
        assert set(_exchanges(run, f)) == {"all-to-all"}


def test_transforms_of_steps_and_gradients_turn_fields_over():
    f = _spread((64, 64), "x")
    functions = [
        (lambda u: pde.apply_function(LAP, u, lambda w: xc.numpy.exp(1e-4 * w)), {"all-to-all"}),
        (lambda u: pde.trajectory(pde.ThetaMethod(LAP), u, 1e-3, 3), {"all-to-all", "collective-permute"}),
        (xc.grad(lambda f: (pde.solve_direct(LAP, f) ** 2).sum()), {"all-to-all"}),
    ]  # fmt: skip
    for function, wanted in functions:
        assert set(_exchanges(function, f)) == wanted
        alone = xc.jit(function)(np.asarray(f))
        np.testing.assert_allclose(
            xc.jit(function)(f), alone, rtol=0, atol=3e-6 * np.abs(alone).max()
        )


def test_each_device_solves_its_own_problems_of_a_batch():
    assert not _exchanges(xc.vmap(lambda f: pde.solve_direct(LAP, f)), _spread((8, 64, 64), "x"))


@pytest.mark.parametrize("mesh, spec", [((2, 4), ("x", "y")), ((2, 3), ("x", "y")), ((3,), ("x",))])
def test_other_meshes(mesh, spec):
    lap = Laplacian(Grid((49, 37)))
    f = _spread(lap.field_shape, *spec, mesh=(mesh, spec))
    run = xc.jit(lambda f: pde.solve_direct(lap, f))
    alone = run(np.asarray(f))
    np.testing.assert_allclose(run(f), alone, rtol=0, atol=3e-6 * np.abs(alone).max())


def test_inside_of_shard_map_fields_are_of_one_device():
    f = _spread((8, 64, 64), "x")
    mesh = f.sharding.mesh
    each = xc.shard_map(xc.vmap(lambda f: pde.solve_direct(LAP, f)), mesh, P("x"), P("x"))
    alone = xc.vmap(lambda f: pde.solve_direct(LAP, f))(np.asarray(f))
    np.testing.assert_allclose(each(f), alone, rtol=0, atol=3e-6 * np.abs(alone).max())
