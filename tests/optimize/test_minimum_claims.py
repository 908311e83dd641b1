"""Minima of one number, and those of high order: a success is one to tol, or the status says why not."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo

# the function, and its minima; () where there is none, None where all of a plateau is
LINES = {
    "plain": (lambda x: (x - 1) ** 2, [1]), "far above 0": (lambda x: 1e8 + (x - 1) ** 2, [1]),
    "hidden": (lambda x: 1e16 + (x - 1) ** 2, [1]), "fourth": (lambda x: 1e4 + (x - 1) ** 4, [1]),
    "constant": (lambda x: 0 * x + 3, ()), "flat": (lambda x: xnp.maximum(xnp.abs(x - 1) - 0.3, 0) ** 2, ()),
    "steps": (lambda x: xnp.floor(x) ** 2, ()), "wave": (xnp.sin, [-np.pi / 2 + 2 * np.pi * k for k in range(-60, 60)]),
    "line": (lambda x: x, ()), "falls": (lambda x: xnp.exp(-x), ()), "jumps": (lambda x: xnp.where(x <= 1, 2 - x, x + 3), [1]),
    "inside": (lambda x: xnp.where(x > 0, x - xnp.log(xnp.where(x > 0, x, 1)), xnp.inf), [1]),
    "nan": (lambda x: x - xnp.log(x), [1]), "kink": (lambda x: xnp.abs(x - 1), [1]),
    "cusp": (lambda x: xnp.sqrt(xnp.abs(x - 1)), [1]), "pole": (lambda x: xnp.log(xnp.abs(x - 1)), ()),
    "second pole": (lambda x: -1 / (x - 1) ** 2, ()), "no numbers": (lambda x: x * xnp.nan, ()),
    "narrow": (lambda x: -xnp.exp(-((x - 30) ** 2)), [30]),
}  # fmt: skip
BRACKETS = ((0, 1), (-3, 5), (10, 11), (-100, -90), (5, 5))


@pytest.mark.parametrize(
    ("dtype", "method"),
    [(np.float64, "brent"), (np.float32, "brent"), (np.float16, "brent"), (np.float32, "golden")],
)
def test_a_minimum_on_a_line_is_one(dtype, method):
    def lane(which, a, b):
        f = lambda x: xc.lax.switch(which, [f for f, _ in LINES.values()], x).astype(dtype)
        free, box = (
            xo.minimize_scalar(f, (a, b), method=method),
            xo.minimize_scalar(f, bounds=(a, b), method=method),
        )
        return free.x, free.status, box.x, box.status

    solve, tol, found = xc.jit(lane), float(np.finfo(dtype).eps) ** 0.4, 0
    with np.errstate(over="ignore"):
        for which, (name, (_, minima)) in enumerate(LINES.items()):
            for a, b in BRACKETS:
                x, status, y, inside = map(float, solve(np.int32(which), dtype(a), dtype(b)))
                assert a <= y <= b, (name, a, b)
                ends = [a, b] if inside == 0 and len(minima) else []
                for success, place, places in (
                    (status, x, [*minima]),
                    (inside, y, [*minima, *ends]),
                ):
                    if success == 0 and places:
                        error = min(abs(place - p) for p in places) / max(1, abs(place))
                        found += error <= tol
                        assert error <= tol, (name, a, b, place)
                wide = a != b
                places = (
                    "pole" not in name or dtype != np.float16
                )  # where 1 ± tol is all that is seen
                assert status != 0 or (wide and len(minima)) or not places, (name, a, b)
                assert wide or status == xo.Status.no_bracket.value
                nowhere = name in ("constant", "steps", "pole", "second pole", "no numbers")
                assert inside != 0 or not (nowhere and wide and b == 5 and places), (name, a, b)
    assert found >= (60 if dtype != np.float16 else 45)


def test_a_bound_above_the_other_is_refused():
    with pytest.raises(ValueError, match="must not be above"):
        xo.minimize_scalar(lambda x: x * x, bounds=(2.0, 1.0))


TURN = np.array([[np.cos(0.7), np.sin(0.7)], [-np.sin(0.7), np.cos(0.7)]])


def turned(f):
    return lambda x: f(TURN.astype(x.dtype) @ (x - 1))


HIGH = {
    "6": turned(lambda z: z[0] ** 6 + z[1] ** 2), "8": turned(lambda z: z[0] ** 8 + z[1] ** 2),
    "valley": lambda x: (x[0] - 1) ** 6 + 10 * (x[1] - x[0] ** 2) ** 2,
    "mixed": turned(lambda z: (z[0] - z[1] ** 2) ** 2 + z[1] ** 6), "both": lambda x: 1 + xnp.sum((x - 1) ** 6),
    "inflection": lambda x: (x[0] - 1) ** 3 + (x[1] - 1) ** 2, "fifth": lambda x: (x[0] - 1) ** 5 + (x[1] - 1) ** 2,
    "ring": lambda x: (xnp.sum(x * x) - 2) ** 2, "plane": lambda x: (x[0] + x[1] - 2) ** 2,
}  # fmt: skip
STARTS = ([0, 0.1], [3, -2], [1.5, 1.4], [-10, 7], [1, 2], [1, 1])


@pytest.mark.parametrize("method", ["lbfgs", "nelder-mead"])
def test_success_at_minima_of_high_order_is_as_near_as_it_says(method):
    """And whole valleys are successes, whose certificates tell that x is not determined in them."""

    @xc.jit
    def solve(which, start):
        return xo.minimize(
            lambda x: xc.lax.switch(which, list(HIGH.values()), x),
            start,
            method=method,
            maxiter=800,
        )

    for dtype, tol in ((np.float64, 1.1e-6), (np.float32, 3.5e-3)):
        for which, name in enumerate(HIGH):
            for start in np.array(STARTS, dtype):
                found = solve(np.int32(which), start)
                status, x = xo.Status(int(found.status)).name, np.asarray(found.x, float)
                reach = np.maximum(np.abs(x - start), np.maximum(np.abs(x), np.abs(start)))
                if name in ("ring", "plane"):
                    error = abs(np.sum(x * x) - 2) if name == "ring" else abs(x.sum() - 2)
                    assert name == "ring" or status == "success", (name, start, status)
                    assert status != "success" or error < 20 * tol
                elif status == "success":
                    assert name not in ("inflection", "fifth"), (dtype, start)
                    assert np.max(np.abs(x - 1) / reach) <= tol, (name, dtype, start, x)


def coupled(x):
    """Of the fourth order where all variables are equal, and of the second beside it."""
    return xnp.sum((x - 1) ** 4) + xnp.sum(xnp.diff(x) ** 2)


@pytest.mark.parametrize("method", ["cg", "bfgs"])
def test_curvature_that_is_lost_on_the_way_is_no_success(method):
    """Gradients lost in rounding errors, over a curvature at x that is less where they lead."""
    rng, trials = np.random.default_rng(3), 200

    def solve(start, unit):
        found = xo.minimize(lambda x: unit * coupled(x), start, method=method)
        return found.x, found.status

    for dtype in (np.float32, np.float64):
        tol = float(np.finfo(dtype).eps) ** 0.4
        starts = (1 + rng.uniform(-0.5, 0.5, (trials, 5))).astype(dtype)
        units = (10.0 ** rng.integers(-20, 20, trials)).astype(dtype)

        x, status = map(np.asarray, xc.jit(xc.vmap(solve))(starts, units))
        error = np.abs(x.astype(float) - 1).max(axis=1)
        assert error[status == 0].max(initial=0) <= 3 * tol, dtype


@pytest.mark.parametrize("method", ["barzilai-borwein", "newton-cg", "lbfgs"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_saddle_along_a_valley_that_bends_is_no_minimum(dtype, method):
    """Dixon and Price's function at (1/3, 0, 0): along x₂ = 18 x₃² it falls like x₃⁴, on straight ways nowhere."""

    def fun(x):
        return (x[0] - 1) ** 2 + 2 * (2 * x[1] ** 2 - x[0]) ** 2 + 3 * (2 * x[2] ** 2 - x[1]) ** 2

    starts = np.stack([np.random.default_rng(k).normal(size=3) * 2 for k in range(60)])
    found = xc.vmap(lambda x: xo.minimize(fun, x, method=method))(starts.astype(dtype))
    claimed = np.asarray(found.status) == 0
    assert np.sum(claimed) > 40 and np.all(np.asarray(found.fun)[claimed] < 1e-4)
