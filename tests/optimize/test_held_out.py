"""A slice of the problems that nothing was tuned on, in three systems of units: no success that is none.

With all of ``held_out.FREE`` and all methods in place of these it takes a quarter of an hour.
"""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo
from tests.optimize import held_out

PAIRS = (
    "CUBE",
    "CLIFF",
    "DENSCHNA",
    "EXPFIT",
    "HIMMELBH",
    "SISSER",
    "SINEVAL",
    "Zettl",
    "MARATOSB",
    "LOGROS",
)
UNITS = {
    np.float64: ((0, 1.0), (12, 1e20), (-12, 1e-20)),
    np.float32: ((0, 1.0), (6, 1e8), (-6, 1e-8)),
}
local = held_out.local_of(PAIRS)


@pytest.mark.parametrize("method, dtype, solved", [
    ("lbfgs", np.float64, 25), ("trust-exact", np.float64, 26), ("bfgs", np.float32, 18)])  # fmt: skip
def test_success_is_a_minimum(method, dtype, solved):
    f = held_out.one_of(PAIRS)

    @xc.jit
    def solve(which, start, units, size):
        return xo.minimize(lambda x: size * f(which, x / units), start, method=method)

    successes, tol = 0, float(np.finfo(dtype).eps) ** 0.4
    for which, name in enumerate(PAIRS):
        start = np.array(held_out.FREE[name][1], float)
        for decades, size in UNITS[dtype]:
            units = held_out.units(2, decades)
            found = solve(
                np.int32(which), (start * units).astype(dtype), units.astype(dtype), dtype(size)
            )
            successes += int(found.success)
            if found.success and not int(found.certificate.undetermined):
                x = np.asarray(found.x, float) / units
                least, is_minimum = held_out.refined(local, which, x)
                assert is_minimum, (name, decades)
                assert held_out.error_of(x, least, start) <= 3 * tol, (name, decades)
    assert successes >= solved


# where Newton steps are short of the way, and gradients fall below their rounding errors
FLAT = {
    "fourth order": lambda x: xnp.sum((x - 1) ** 4) + xnp.sum(xnp.diff(x) ** 2),
    "sixth order": lambda x: xnp.sum((x - 1) ** 6),
    "eighth order": lambda x: (x[0] - 1) ** 8 + (x[1] - x[0]) ** 2 + (x[2] - 1) ** 2,
    "a large constant": lambda x: 1e6 + xnp.sum((x - 1) ** 2 * np.array([1, 1e4, 1e-4])).astype(x.dtype),
}  # fmt: skip


@pytest.mark.parametrize("method, tol", [
    ("lbfgs", 1e-5), ("lbfgs", None), ("newton-cg", None), ("nelder-mead", None)])  # fmt: skip
def test_flat_minima_are_reached_or_told(method, tol):
    @xc.jit
    def solve(which, x):
        f = lambda x: xc.lax.switch(which, list(FLAT.values()), x)
        return xo.minimize(f, x, method=method, tol=tol)

    for which, name in enumerate(FLAT):
        start = np.random.default_rng(which).uniform(0.4, 1.6, 3)
        found = solve(np.int32(which), xnp.asarray(start))
        error = np.abs(np.asarray(found.x) - 1).max()
        good = error <= 3 * (tol or 5.5e-7)
        if int(found.certificate.undetermined):  # where no curvature is left nothing is said of x
            good |= float(found.fun - FLAT[name](xnp.ones(3, np.float64))) <= 1e-30
        assert not found.success or good, (name, error, found.message)
        status = xo.Status(int(found.status)).name
        assert status in ("success", "flat", "stagnation", "max_steps"), (name, status)


@pytest.mark.parametrize("method", ["nelder-mead", "lbfgs"])
def test_values_that_a_constant_hides_prove_no_minimum(method):
    """Values as far as the tolerance away must be visibly higher; none a hundred reaches away counts."""

    @xc.jit
    def solve(constant, size, start):
        f = lambda x: size * (constant + xnp.sum((x - 1) ** 2))
        return xo.minimize(f, start, method=method)

    starts = np.random.default_rng(5).uniform(-1, 5, (5, 3)).astype("float32")
    tol = float(np.finfo(np.float32).eps) ** 0.4
    for constant, size in [(1e2, 1), (1e4, 1), (1e6, 1), (1e6, 1e15), (1e6, 1e-15), (1e8, 1)]:
        for start in [*starts, np.float32([0.3, 0.2, 5])]:
            found = solve(np.float32(constant), np.float32(size), start)
            reach = np.maximum(1, np.abs(start - 1)).max()
            error = np.abs(np.asarray(found.x) - 1).max() / reach
            assert not found.success or error <= 3 * tol, (constant, size, start, error)


# With constraints: units of variables, of the objective, of constraints

SCALES = ((0, 1.0, 1.0), (3, 1e20, 1e12), (-6, 1e-20, 1e-12))


def named(f):
    return lambda x: xnp.stack([xnp.asarray(v, x.dtype) for v in f(*x)])


@pytest.mark.parametrize("number", [62, 83, 97])
def test_constrained_success_is_feasible_and_low(number):
    f, eq, ineq, bounds, start, least = held_out.BOUND[number]
    start = np.array(start, float)
    sides = [np.broadcast_to(side, start.shape).astype(float) for side in bounds]

    @xc.jit
    def solve(units, size, row):
        inner = [
            None if c is None else lambda x, c=c: row * named(c)(x / units) for c in (eq, ineq)
        ]
        low, high = (side * units for side in sides)
        constraints = xo.Constraints(*inner)
        value = lambda x: size * f(*(x / units))
        return xo.minimize(value, start * units, constraints=constraints, bounds=(low, high))

    for decades, size, row in SCALES:
        units = 2.0 ** np.round(
            np.log2(10.0) * decades * np.where(np.arange(start.size) % 2, -1, 1)
        )
        found = solve(units, np.float64(size), np.float64(row))
        assert found.success, (decades, found.message)
        z = xnp.asarray(np.asarray(found.x) / units)
        # one of the published minima
        np.testing.assert_allclose(np.min(np.abs(f(*z) / np.ravel(least) - 1)), 0, atol=1e-6)
        for c, wrong in ((eq, np.abs), (ineq, lambda v: np.maximum(-v, 0))):
            if c is not None:
                rows = np.abs(xc.jacfwd(named(c))(z)) @ np.maximum(np.abs(z), np.abs(z - start))
                assert np.all(wrong(np.asarray(named(c)(z))) <= 5e-6 * rows), decades
