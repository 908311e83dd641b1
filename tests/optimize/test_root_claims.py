"""What ``root`` and ``fixed_point`` claim: at every scale, up to singular, a success is a solution."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo

SYSTEMS = ("hybr", "newton", "broyden", "krylov")


def coupled(z):
    return xnp.stack([z[0] ** 2 + z[1] ** 2 - 5, z[0] * z[1] - 2, z[2] ** 3 + z[0] - 3])


@pytest.mark.parametrize("method", SYSTEMS)
@pytest.mark.parametrize("dtype, far", [(np.float64, 12), (np.float32, 4)])
def test_units_change_no_verdict(method, dtype, far):
    one = np.ones(3)

    @xc.jit
    def solve(x_units, f_units):
        f = lambda x: f_units * coupled(x / x_units)
        return xo.root(f, x_units * np.array([2.5, 0.7, 0.8], dtype), method=method)

    sizes = [one, 10.0 ** np.array([far, -far, 0]), 10.0 ** np.array([-far, -far, -far])]
    same = {"krylov": sizes[::2]}.get(method, sizes)  # GMRES knows no units of variables
    for x_units in same:
        for f_units in (*sizes, 1e-30 * one if far == 12 else 1e-15 * one):
            found = solve(x_units.astype(dtype), f_units.astype(dtype))
            assert found.success
            z = np.asarray(found.x, float) / x_units
            np.testing.assert_allclose(z, [2, 1, 1], rtol=1e-7 if far == 12 else 1e-3)


# (function of x, start, whether there is a root)
NONE = {
    "no root": (lambda x: x * x + 1, [1.3]),
    "small, no root": (lambda x: 1e-13 * (x * x + 1), [1.3]),
    "nearly": (lambda x: x * x + 1e-6, [1.3]),
    "contradiction": (lambda x: xnp.stack([x[0] + x[1] - 1, x[0] + x[1] - 2]), [0.3, 0.2]),
    "small contradiction": (
        lambda x: 1e-14 * xnp.stack([x[0] + x[1] - 1, x[0] + x[1] - 2]), [0.3, 0.2]
    ),
    "exponential": (lambda x: xnp.exp(-x), [1.0]),
    "constant": (lambda x: 0 * x + 1e-20, [1.0]),
}  # fmt: skip


@pytest.mark.parametrize("method", [*SYSTEMS, "anderson"])
@pytest.mark.parametrize("name", NONE)
def test_what_has_no_root_is_no_success(method, name):
    f, start = NONE[name]
    for dtype in (np.float64, np.float32):
        found = xo.root(f, xnp.asarray(np.array(start, dtype)), method=method, maxiter=300)
        assert not found.success, found.x


@pytest.mark.parametrize("method", ["hybr", "newton", "broyden", "anderson"])
def test_a_contradiction_is_none_in_any_units(method):
    """Far away its terms round to more than what it is; and a plateau beside a variable that ran away is no root."""
    rng = np.random.default_rng(1)
    wide = lambda k: (10.0 ** (rng.uniform(-k, k, (48, 1)) + rng.uniform(-3, 3, (48, 2)))).astype(
        "f"
    )
    x_units, f_units, z = wide(12), wide(12), rng.normal(size=(48, 2)).astype("f") * 3

    def solve(x_unit, f_unit, z, number):
        systems = (
            lambda y: xnp.stack([y[0] + y[1] - 1, y[0] + y[1] - 2]),
            lambda y: xnp.stack([xnp.arctan(y[0] - 1), xnp.tanh(y[1]) + y[0] - 1.5]),
        )
        f = lambda x: f_unit * xc.lax.switch(number, systems, x / x_unit)
        found = xo.root(f, z * x_unit, method=method)
        return found.x, found.success

    number = np.arange(48, dtype="int32") % 2
    x, ok = map(np.asarray, xc.jit(xc.vmap(solve))(x_units, f_units, z, number))
    y = x.astype(float) / x_units
    assert not ok[::2].any()
    claimed = ok & (number == 1)
    assert claimed.any() and np.allclose(y[claimed], [1, np.arctanh(0.5)], rtol=1e-2)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_claims_of_linear_systems_up_to_singular(dtype):
    solve = xc.jit(lambda a, b: xo.root(lambda x: a @ x - b, xnp.zeros(5, dtype), method="newton"))
    rng, claims = np.random.default_rng(0), 0
    for condition in 10.0 ** np.arange(0, 17, 2):
        for scale in (1, 1e-12, 1e12):
            u, v = (np.linalg.qr(rng.normal(size=(5, 5)))[0] for _ in range(2))
            a = (scale * (u * np.geomspace(1, 1 / condition, 5)) @ v).astype(dtype)
            b = (a.astype(float) @ rng.normal(size=5)).astype(dtype)
            found = solve(a, b)
            if found.success:
                claims += 1
                # the residual is what rounding lets it be
                r = a.astype(float) @ np.asarray(found.x, float) - b
                size = np.abs(a).astype(float) @ np.abs(np.asarray(found.x, float)) + np.abs(b)
                assert np.max(np.abs(r) / size) < 30 * np.finfo(dtype).eps
    assert claims >= (12 if dtype == np.float64 else 6)


@pytest.mark.parametrize("method", ["anderson", "picard"])
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_fixed_points_at_every_scale(method, scale):
    fun = lambda x: scale * xnp.cos(x / scale)
    found = xo.fixed_point(fun, xnp.asarray(np.array([scale, 0.1 * scale])), method=method)
    assert found.success
    np.testing.assert_allclose(np.asarray(found.x) / scale, 0.7390851332151607, rtol=1e-9)
    away = xo.fixed_point(lambda x: 2 * x + scale, xnp.asarray(np.array([scale])), method="picard")
    assert not away.success


@pytest.mark.parametrize("method", [*SYSTEMS, "anderson"])
def test_starts_at_the_solution_and_beyond_numbers(method):
    at = xo.root(lambda x: x - 1, xnp.ones(2, np.float64), method=method)
    assert at.success and int(at.nit) == 0
    for start in (np.inf, np.nan):
        lost = xo.root(lambda x: x - 1, xnp.full(2, start), method=method)
        assert xo.Status(int(lost.status)) is xo.Status.not_finite


@pytest.mark.parametrize("method", ["toms748", "brent", "bisect"])
def test_triple_roots_are_found_in_the_steps_there_are(method):
    a, b = np.array([-1.0, -2.0, -0.5]), np.array([2.0, 1.7, 1.0])
    found = xo.root_scalar(lambda x: 1e-20 * (x - 0.3) ** 3, (a, b), method=method)
    assert np.all(found.success) and np.allclose(found.x, 0.3, rtol=1e-14)


@pytest.mark.parametrize("method", ["hybr", "newton"])
@pytest.mark.parametrize(
    "dtype, sizes",
    [(np.float32, (1, 1e-10, 1e-25, 1e-36)), (np.float64, (1, 1e-100, 1e-200, 1e-300))],
)
def test_an_equation_that_never_holds_is_not_solved_however_small_it_is(dtype, sizes, method):
    """It was compared with its unit, which is no smaller than the root of the smallest number."""

    @xc.jit
    def solve(size):
        f = lambda x: xnp.stack([size + 0 * x[0], x[1] - 1])
        return xo.root(f, np.array([1, 5], dtype), method=method).status

    for size in sizes:
        assert int(solve(dtype(size))) != 0, size


@pytest.mark.parametrize("method", ["hybr", "newton", "krylov"])
def test_a_slope_below_the_range_is_no_root(method):
    """Of (z - 1)⁵ in large units: an equation is compared with rounding of its own terms, not of the others'."""

    @xc.jit
    def solve(unit, start):
        f = lambda x: xnp.stack([(x[0] / unit - 1) ** 5, x[1] / unit - 2])
        found = xo.root(f, start * unit, method=method, maxiter=200)
        return found.x / unit, found.success

    rng, eps = np.random.default_rng(0), float(np.finfo("f").eps)
    for unit in np.float32([1.0, 1e25, 1e30, 1e33]):
        for start in 1 + rng.uniform(0, 1, (6, 2)):
            z, ok = solve(unit, start.astype("f"))
            if ok:  # a step is a fifth of the way
                assert abs(float(z[0]) - 1) <= 5 * eps**0.5 and abs(float(z[1]) - 2) < 1e-3


@pytest.mark.parametrize(
    "solve", [xo.fixed_point, lambda f, x, method: xo.root(lambda x: x - f(x), x, method=method)]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_shift_has_no_fixed_point_where_rounding_swallows_it(solve, dtype):
    """Steps lead so far that x + c is x: one that is so by rounding only is none, however large x and c are."""
    maps = (
        lambda z, c: z + c,
        lambda z, c: xnp.stack([z[0] + c, xnp.cos(z[1])]),
        lambda z, c: xnp.concatenate([z[:1] - c, xnp.zeros_like(z[1:])]),
    )
    fine = lambda z, c: xnp.stack([z[0] + c * (1 - z[0]), xnp.cos(z[1])])
    shifts, units = np.array([1e-2, 1e-3, 1e-5], dtype), np.array([1e-20, 1, 1e20], dtype)
    for n, f, good in (
        (1, maps[0], False),
        (2, maps[1], False),
        (90, maps[2], False),
        (2, fine, True),
    ):

        def run(c, unit, n=n, f=f):
            return solve(
                lambda x: unit * f(x / unit, c), xnp.full(n, dtype(0.4)) * unit, method="anderson"
            ).ok

        ok = xc.jit(xc.vmap(xc.vmap(run, (None, 0)), (0, None)))(shifts, units)
        assert np.all(np.asarray(ok)[:1] == good)
        assert good or not np.any(ok)
