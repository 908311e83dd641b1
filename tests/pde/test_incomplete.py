"""Sparse factors without their small elements, where no other way takes few steps; SciPy's LU is the judge."""

import numpy as np
import pytest
import scipy.sparse.linalg as sla

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.pde import Advection, Diffusion, Grid, Laplacian, Masked, Neumann, _portrait

rng = np.random.default_rng(0)
GRID = Grid((12, 11, 13))


def turning(grid, fast, faces=None):
    """A wind that turns around in each of four columns, with nothing but diffusion along them."""
    wind = (
        lambda x, y, z: fast * xnp.sin(2 * np.pi * x) * xnp.cos(2 * np.pi * y) * xnp.sin(np.pi * z),
        lambda x, y, z: (
            -fast * xnp.cos(2 * np.pi * x) * xnp.sin(2 * np.pi * y) * xnp.sin(np.pi * z)
        ),
        0.0,
    )
    more = () if faces is None else (faces,)
    return Diffusion(grid, 1.0, *more) - Advection(grid, wind, *more, scheme="upwind")


OPERATORS = {
    "a wind that turns around": lambda: turning(GRID, 2e4),
    "walls all around": lambda: turning(GRID, 2e4, Neumann()) - 1.0,
    "constants in the kernel": lambda: 1.0 * Diffusion(GRID, lambda x, y, z: 1 + x * y, Neumann()),
    "fourth order": lambda: (lambda x, y, z: 1 + x * y) * Laplacian(GRID, order=4) - 1.0,
    "complex": lambda: 1.0 * Laplacian(GRID) + (lambda x, y, z: (60 + 5j) * (1 + x)),
    "outside of a domain": lambda: 1.0 * Masked(GRID, lambda x, y, z: x + y + z < 1.6),
    "in a plane": lambda: 1.0 * Diffusion(Grid((40, 41)), lambda x, y: xnp.exp(3 * xnp.sin(9 * x * y))),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("unit", [1e-25, 1.0, 1e25])
def test_any_operator(name, dtype, unit):
    with xc.enable_x64():
        op = OPERATORS[name]()
        f = rng.standard_normal(op.field_shape)
        f = f - np.sum(np.asarray(op.weights) * f) / np.sum(np.asarray(op.weights))
        f = np.asarray(op.only_inside(xnp.asarray(unit * f))).astype(dtype)
        answer = pde.solve(op, f, method="incomplete", report=True)
        assert answer.ok and answer.method == "incomplete" and int(answer.steps) <= 20
        a, u = (
            op.as_sparse().tocsc(),
            np.ravel(answer.value).astype(np.promote_types(answer.value.dtype, np.float64)),
        )
        left = np.linalg.norm(
            a @ (u / unit) - np.ravel(f).astype(np.float64) / unit
        ) / np.linalg.norm(np.float64(f) / unit)
        assert left < (2e-3 if dtype == np.float32 else 1e-9)
        if name != "constants in the kernel" and dtype == np.float64:
            inside = np.abs(a).sum(1) > 0
            exact = sla.spsolve(a[inside][:, inside], np.ravel(f)[inside])
            np.testing.assert_allclose(u[inside], exact, rtol=1e-6, atol=1e-7 * abs(exact).max())


def test_what_multigrid_is_slow_at_is_solved_by_them(monkeypatch):
    for name in ("FACTORS_UP_TO", "FACTORS_AT_MOST"):
        monkeypatch.setattr(_portrait, name, dict.fromkeys((1, 2, 3), 100))
    monkeypatch.setattr(_portrait, "_COARSEST", dict.fromkeys((1, 2, 3), 500))
    op = turning(Grid((24, 24, 24)), 5e4)
    answer = pde.solve(op, 1.0, report=True)
    assert answer.ok and answer.method == "incomplete" and "that was no success" in answer.reason
    assert int(answer.steps) <= 20
    again = pde.solve(op, 2.0, report=True)
    np.testing.assert_allclose(again.value, 2 * answer.value, rtol=1e-6)


def test_derivatives_are_those_of_the_equation():
    with xc.enable_x64():
        op = turning(GRID, 2e3)
        f, w = (xnp.asarray(rng.standard_normal(op.field_shape)) for _ in range(2))
        a = op.as_sparse().tocsc()
        found = xc.grad(lambda f: xnp.sum(w * pde.solve(op, f, method="incomplete")))(f)
        exact = sla.spsolve(a.T.tocsc(), np.ravel(w))
        np.testing.assert_allclose(np.ravel(found), exact, rtol=1e-7, atol=1e-9 * abs(exact).max())
