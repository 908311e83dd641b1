"""How methods end: where values no longer tell points apart, where variables start and end at 0, beside saddles."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo


def beale(x):
    return sum((c - x[0] * (1 - x[1] ** k)) ** 2 for k, c in ((1, 1.5), (2, 2.25), (3, 2.625)))


def helix(x):
    turn = xnp.arctan2(x[1], x[0]) / (2 * np.pi)
    turn = xnp.where(turn < -0.25, turn + 1, turn)
    out = xnp.sqrt(x[0] ** 2 + x[1] ** 2)
    return 100 * ((x[2] - 10 * turn) ** 2 + (out - 1) ** 2) + x[2] ** 2


def wood(x):
    a, b, c, d = x
    return (100 * (b - a**2) ** 2 + (1 - a) ** 2 + 90 * (d - c**2) ** 2 + (1 - c) ** 2
            + 10 * (b + d - 2) ** 2 + 0.1 * (b - d) ** 2)  # fmt: skip


def watson(x):
    t, powers = np.arange(1, 30)[:, None] / 29, np.arange(6)
    slopes = np.concatenate([np.zeros((29, 1)), powers[1:] * t ** powers[:-1]], axis=1)
    rest = slopes @ x - (t**powers @ x) ** 2 - 1
    return xnp.sum(rest**2) + x[0] ** 2 + (x[1] - x[0] ** 2 - 1) ** 2


WATSON = [-0.01572508640, 1.0124348693, -0.2329916259, 1.2604300878, -1.5137289227, 0.9929964324]
PROBLEMS = {
    "beale": (beale, [1.0, 1.0], [3, 0.5]), "helix": (helix, [-1.0, 0.0, 0.0], [1, 0, 0]),
    "wood": (wood, [-3.0, -1.0, -3.0, -1.0], [1, 1, 1, 1]), "watson": (watson, [0.0] * 6, WATSON),
}  # fmt: skip
PAIRS = [
    ("beale", "lbfgs"), ("beale", "trust-exact"), ("helix", "trust-ncg"), ("helix", "trust-exact"),
    ("helix", "lbfgs"), ("wood", "newton-cg"), ("wood", "trust-ncg"), ("watson", "lbfgs"),
    ("watson", "bfgs"), ("watson", "trust-ncg"), ("watson", "trust-exact"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "method"), PAIRS)
def test_standard_problems_are_solved_in_all_units(name, method):
    f, start, least = PROBLEMS[name]

    @xc.jit
    def solve(start, units, size):
        return xo.minimize(lambda x: size * f(x / units), start * units, method=method)

    start, odd = np.array(start), np.arange(len(start)) % 2
    for far in (1, 10) if name == "wood" else (1,):
        for units in (1.0, 1e8, np.where(odd, 1e-6, 1e6)):
            for size in (1, 1e30, 1e-30):
                found = solve(far * start, units * np.ones(len(start)), np.float64(size))
                assert found.success, (units, size, far, xo.Status(int(found.status)))
                assert found.certificate.error <= 5.5e-7
                x = np.asarray(found.x) / units
                np.testing.assert_allclose(x, least, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("method", ["lbfgs", "newton-cg", "trust-exact"])
def test_no_unit_makes_a_slope_a_saddle(method):
    """A Hessian with a 0 on its diagonal, and a gradient that is not 0."""

    @xc.jit
    def begin(start, size):
        return xo.minimize(lambda x: size * beale(x), start, method=method, maxiter=2).status

    for size in 10.0 ** np.arange(-40, 41, 8):
        for start in ([1.0, 1.0], [2.0, 1.0], [1e-3, 1.0], [30.0, 1.0]):
            assert int(begin(np.array(start), size)) != xo.Status.saddle, (size, start)


@pytest.mark.parametrize("method", ["lbfgs", "bfgs", "newton-cg", "trust-ncg", "trust-exact"])
@pytest.mark.parametrize("far", [30, 100, 300])
def test_a_variable_has_its_own_size_beside_stiff_ones(method, far):
    """From there y has little curvature beside x: no success where Newton's step for y is a part of y."""
    found = xo.minimize(beale, xnp.full(2, far, "float32"), method=method)
    x = xnp.asarray(np.asarray(found.x, float))
    step = np.linalg.solve(xc.hessian(beale)(x), xc.grad(beale)(x))
    assert not found.success or np.max(np.abs(step / x)) < 1e-2
