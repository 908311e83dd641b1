"""Constrained minima do not depend on units; what is no minimum is not called one."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo


@pytest.mark.parametrize("method", ["sqp", "augmented-lagrangian"])
def test_units_of_constraints_values_and_variables(method):
    # the nearest point of x + y = 1 to (1, 1), and a bound of x y that does not hold it
    @xc.jit
    def solve(start, rows, size, units):
        z = lambda x: x / units
        f = lambda x: size * xnp.sum((z(x) - 1) ** 2)
        constraints = xo.Constraints(
            eq=lambda x: rows[0] * (xnp.sum(z(x)) - 1),
            ineq=lambda x: rows[1] * (1 - xnp.prod(z(x))),
        )
        return xo.minimize_constrained(f, start, (), constraints, method)

    for rows, size, units in (
        ([1, 1], 1, [1, 1]), ([1e-6, 1], 1, [1, 1]), ([1e-12, 1e12], 1, [1, 1]), ([1e12, 1e-9], 1e20, [1, 1]),
        ([1, 1], 1e-20, [1, 1]), ([1, 1], 1, [1e8, 1e-8]), ([1e9, 1], 1e-9, [1e-12, 1e12]),
    ):  # fmt: skip
        rows, units = np.float64(rows), np.float64(units)
        found = solve(np.float64([0.707, 0.707]) * units, rows, np.float64(size), units)
        assert found.success, (rows, size, units, found.message)
        np.testing.assert_allclose(np.asarray(found.x) / units, 0.5, rtol=1e-6)
        assert float(found.certificate.error) <= 1e-6
        y, _ = found.certificate.multipliers
        np.testing.assert_allclose(y, -size / rows[0], rtol=1e-5)


def test_problem_106():
    # three heat exchangers: variables of 10 to 1e4, constraints of 1 to 1e6
    def less(x):
        return xnp.stack([
            1 - 0.0025 * (x[3] + x[5]), 1 - 0.0025 * (x[4] + x[6] - x[3]), 1 - 0.01 * (x[7] - x[4]),
            x[0] * x[5] - 833.33252 * x[3] - 100 * x[0] + 83333.333,
            x[1] * x[6] - 1250 * x[4] - x[1] * x[3] + 1250 * x[3],
            x[2] * x[7] - 1250000 - x[2] * x[4] + 2500 * x[4],
        ])  # fmt: skip

    start = np.array([5000, 5000, 5000, 200, 350, 150, 225, 425.0])
    bounds = np.array([100, 1000, 1000, *[10.0] * 5]), np.array([1e4] * 3 + [1e3] * 5)
    found = xo.minimize_constrained(
        lambda x: x[0] + x[1] + x[2], start, (), xo.Constraints(ineq=less), bounds=bounds
    )
    assert found.success, found.message
    np.testing.assert_allclose(found.fun, 7049.24802, rtol=1e-8)


C = xo.Constraints
VERDICTS = {
    "a ray": (lambda x: -x[0] - x[1], C(ineq=lambda x: x[0] - x[1]), "unbounded"),
    "a parabola": (lambda x: -(x[0] ** 2), C(eq=lambda x: x[0] - x[1]), "unbounded"),
    "a square below 0": (lambda x: x[0] + x[1] ** 2, C(ineq=lambda x: -(x[0] ** 2)), "degenerate"),
    "a square that is 0": (
        lambda x: x[0] ** 2 + 2 * x[1] ** 2, C(eq=lambda x: (x[0] + x[1] - 2) ** 2), "degenerate",
    ),
    "nothing": (
        lambda x: x @ x, C(ineq=lambda x: 1e-8 * xnp.stack([x[0] - 2, 1 - x[0]])), "infeasible",
    ),
    "inside": (
        lambda x: (x[0] - 1) ** 2 + (x[1] - 2) ** 2, C(ineq=lambda x: 10 - x[0] - x[1]), "success",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VERDICTS)
def test_verdicts(name):
    f, constraints, expected = VERDICTS[name]
    found = xo.minimize_constrained(f, np.array([1.0, 1.1]), (), constraints)
    assert xo.Status(int(found.status)).name == expected, found.message
    if expected == "degenerate":
        assert float(found.certificate.qualification) < 1e-3
    if expected == "success":
        assert "distances" in found.certificate.tested
        np.testing.assert_allclose(found.x, [1, 2], rtol=1e-6)


def below(*c):
    """Four inequalities, those that are not given hold always."""
    return lambda x: xnp.stack([*[f(x) for f in c], *[1 + 0 * x[0]] * (4 - len(c))])


SQUARE = below(*[lambda x, i=i, s=s: 1 + s * x[i] for i in (0, 1) for s in (1, -1)])
SECOND = {
    "leaving with a negative multiplier": (lambda x: x[0] + x[1], below(lambda x: 2 - x @ x), [1, 1], "success"),
    "a maximum inside": (lambda x: -x @ x, SQUARE, [0, 0], "saddle"),
    "a saddle inside": (lambda x: x[0] * x[1], SQUARE, [0, 0], "saddle"),
    "from a bound without multiplier": (
        lambda x: x[1] ** 2 - x[0] ** 2, below(lambda x: x[0], lambda x: 2 - x[0]), [0, 0], "saddle"),
    "not beyond a bound": (lambda x: x[0] ** 3 + x[1] ** 2, below(lambda x: x[0]), [0, 0], "success"),
    "between two bounds": (lambda x: -x[0] * x[1], below(lambda x: x[0], lambda x: x[1]), [0, 0], "saddle"),
    "not between two bounds": (lambda x: x[0] * x[1], below(lambda x: x[0], lambda x: x[1]), [0, 0], "success"),
    "along a curve": (
        lambda x: (x[0] - 3) ** 2 + x[1] ** 2, below(lambda x: x @ x - 1), [-1, 0], "saddle"),
    "of the fourth order": (lambda x: xnp.sum((x - 0.5) ** 4), SQUARE, [0.3, 0.1], "success"),
    "steep": (lambda x: -(xnp.abs(x[0]) ** 6), below(lambda x: 1000 - x[0]), [1, 0], "success"),
    "very steep": (lambda x: -xnp.exp(x[0]), below(lambda x: 40 - x[0]), [0, 0], "success"),
    "without an end": (lambda x: -(x[0] ** 2), below(lambda x: 40 - x[1]), [1, 0], "unbounded"),
}  # fmt: skip


def test_second_order_conditions_and_falls():
    """A maximum is no success though multipliers exist; a function that falls far is not without bound."""

    @xc.jit
    def solve(which, start, units, size, row):
        pick = lambda k: lambda x: xc.lax.switch(which, [p[k] for p in SECOND.values()], x / units)
        constraints = xo.Constraints(ineq=lambda x: row * pick(1)(x))
        return xo.minimize_constrained(lambda x: size * pick(0)(x), start * units, (), constraints)

    for which, (name, (_, _, start, expected)) in enumerate(SECOND.items()):
        for units, size, row in (
            ([1, 1], 1, 1),
            ([1e6, 1e-6], 1e10, 1e-8),
            ([1e-6, 1e-6], 1e-10, 1e8),
        ):
            given = np.float64(start), np.float64(units), np.float64(size), np.float64(row)
            found = solve(np.int32(which), *given)
            assert xo.Status(int(found.status)).name == expected, (name, units, found.message)


@pytest.mark.parametrize("method", ["sqp", "augmented-lagrangian"])
def test_a_maximum_where_an_equation_holds_is_a_saddle(method):
    on = xo.Constraints(eq=lambda x: x @ x - 2)
    found = xo.minimize_constrained(lambda x: x[0] + x[1], np.ones(2), (), on, method)
    assert xo.Status(int(found.status)) is xo.Status.saddle and not found.success
