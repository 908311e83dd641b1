"""How many Python functions a warm call runs: equal on every machine, where a time is not.

A bound is what was counted on Python 3.11, which counts comprehensions too, with some room. Who needs more says why in the
commit that raises it. Small arrays are computed with on the host: one call more of Python, in place of the runtime's.
"""

import sys

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import decomp, linalg, optimize, pde, random, sparse
from xcore._core import host
from xcore.experimental.ode import odeint

X, M = xnp.arange(5.0), xnp.eye(4) + 1
K = xnp.asarray([3, 1])
TREE = {"a": X, "b": [X, X]}
KEY = random.key(0)
GRID, FIELD = pde.Grid((16, 16)), xnp.ones((15, 15))
LAPLACIAN, DIFFUSION = pde.Laplacian(GRID), pde.Diffusion(GRID, xnp.ones((17, 17)))
TENSOR = xnp.asarray(np.random.default_rng(0).normal(size=(6, 6, 6)).astype("float32"))
BAND = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(8, 8))
SYMMETRIC = xnp.diag(xnp.arange(1.0, 9.0))
RIGHT, CG = xnp.ones(8), linalg.CG()

one, through = xc.jit(lambda x: x + 1), xc.jit(lambda t: t)
gradient = xc.jit(xc.grad(lambda x: (x**2).sum()))


def valley(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


CALLS = {
    "operator": (2, lambda: X + X),
    "two operators": (8, lambda: X * 2 + 1),
    "comparison": (2, lambda: X > 0),
    "element": (2, lambda: X[2]),
    "slice": (2, lambda: X[1:3]),
    "elements": (15, lambda: X[K]),
    "mask": (17, lambda: X[X > 0]),
    "cast": (21, lambda: X.astype(xnp.int32)),
    "sort": (6, lambda: xnp.sort(X)),
    "total of integers": (5, lambda: xnp.cumsum(K)),
    "operation": (3, lambda: xc.lax.neg(X)),
    "update": (5, lambda: X.at[2].set(1.0)),
    "sum": (1, X.sum),
    "where": (6, lambda: xnp.where(X > 0, X, X)),
    "reshape": (7, lambda: X.reshape(5, 1)),
    "jit": (1, lambda: one(X)),
    "jit of a tree": (4, lambda: through(TREE)),
    "gradient under jit": (4, lambda: gradient(X)),
    "normal": (40, lambda: random.normal(KEY, (3,))),
    "split": (26, lambda: random.split(KEY)),
    "solve": (30, lambda: linalg.solve(M, X[:4])),
    "solve with a report": (30, lambda: linalg.solve(M, X[:4], report=True)),
    "eigh": (22, lambda: linalg.eigh(M)),
    "cg": (700, lambda: linalg.linear_solve(M, X[:4], CG)),
    "eigsh": (770, lambda: linalg.eigsh(SYMMETRIC, 1)),
    "lobpcg": (360, lambda: linalg.lobpcg(SYMMETRIC, 1)),
    "odeint": (180, lambda: odeint(lambda y, t: -y, 1.0, X)),
    "integrate": (370, lambda: pde.integrate(lambda u, t: -u, X, (0.0, 1.0))),
    "minimize": (570, lambda: optimize.minimize(valley, xnp.zeros(4))),
    "poisson": (85, lambda: pde.poisson(FIELD, GRID)),
    "pde.solve": (110, lambda: pde.solve(LAPLACIAN, FIELD)),
    "pde.solve of a diffusion": (2400, lambda: pde.solve(DIFFUSION, FIELD)),
    "cp_als": (580, lambda: decomp.cp_als(TENSOR, 2, max_steps=3)),
    "sparse product": (16, lambda: BAND @ RIGHT),
    "sparse solution": (98, lambda: sparse.solve(BAND, RIGHT)),
}  # fmt: skip


ON_THE_HOST = ("elements", "mask", "cg")  # what small arrays there save them


def count(f) -> int:
    """Calls of Python functions, f's own left out, when f has run some times before."""
    calls = 0

    def see(frame, event, arg):
        nonlocal calls
        calls += event == "call"

    for _ in range(4):
        f()
    before = sys.getprofile()
    sys.setprofile(see)
    try:
        f()
    finally:
        sys.setprofile(before)
    return calls - 1


@pytest.mark.parametrize("name", CALLS)
def test_warm_calls(name):
    bound, f = CALLS[name]
    if name in ON_THE_HOST and not host.ENABLED:
        pytest.skip("XCORE_HOST_CALLS=0")
    checks = xc.config.enable_checks
    xc.config.update(
        "enable_checks", False
    )  # not in a block: what overrides settings takes the long way
    try:
        assert count(f) <= bound
    finally:
        xc.config.update("enable_checks", checks)
