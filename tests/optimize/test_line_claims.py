"""Functions of one number: what is called a root or a minimum is one, in whatever units x is."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo

SCALES = {
    "float32": (1e-12, 1e-5, 1.0, 1e5, 1e12),
    "float64": (1e-150, 1e-12, 1e-5, 1.0, 1e5, 1e12, 1e150),
}


@pytest.mark.parametrize("method", ["toms748", "brent", "bisect"])
@pytest.mark.parametrize("dtype", SCALES)
def test_roots(dtype, method):
    """x³ = 2 s³ and more, for s all at once, to 4 eps of the bracket of 5 s."""
    s = xnp.asarray(SCALES[dtype], dtype)
    for f, root in (
        (lambda x: (x / s) ** 3 - 2, 2 ** (1 / 3)),
        (lambda x: xnp.expm1(x / s - 0.3), 0.3),
        (lambda x: xnp.arctan(x / s - 4.9), 4.9),
    ):
        found = xc.jit(lambda f=f: xo.root_scalar(f, (0 * s, 5 * s), method=method))()
        assert (np.asarray(found.status) == 0).all()
        np.testing.assert_allclose(
            np.asarray(found.x / s), root, atol=20 * float(np.finfo(dtype).eps)
        )


@pytest.mark.parametrize("method", ["brent", "golden"])
@pytest.mark.parametrize("given", ["bounds", "bracket", "three"])
@pytest.mark.parametrize("dtype", SCALES)
def test_minima(dtype, given, method):
    """Within a few roots of eps of the width of what was given."""

    @xc.vmap
    def found(s):
        points = {"bounds": (0 * s, 4 * s), "bracket": (0 * s, s), "three": (0 * s, 2 * s, 4 * s)}[
            given
        ]
        f = lambda x: 3 + (x / s - 1.3) ** 2 + 0.1 * (x / s - 1.3) ** 4
        return xo.minimize_scalar(
            f, **{"bounds" if given == "bounds" else "bracket": points}, method=method
        )

    s = xnp.asarray(SCALES[dtype], dtype)
    out = found(s)
    assert (np.asarray(out.status) == 0).all()
    np.testing.assert_allclose(
        np.asarray(out.x / s), 1.3, atol=8 * float(np.finfo(dtype).eps) ** 0.5
    )


@pytest.mark.parametrize("method", ["toms748", "brent", "bisect"])
@pytest.mark.parametrize("dtype", SCALES)
def test_poles_and_holes_are_no_roots(dtype, method):
    """A change of sign through infinity, and one over places where there are no numbers."""

    @xc.jit
    def solve(which, s, size):
        hole = lambda z: xnp.where(xnp.abs(z - 0.5) < 0.2, xnp.nan, z - 0.5)
        odd = lambda z: xnp.where(z > 0.3, 1, -1)
        functions = (lambda z: 1 / (z - 0.3), lambda z: (z - 0.3) ** -3, lambda z: xnp.tan(z + 0.5),
                     lambda z: 1 / xnp.cbrt(z - 0.3), lambda z: odd(z) * xnp.log(xnp.abs(z - 0.3) / 2),
                     lambda z: odd(z) * xnp.abs(z - 0.3) ** -0.1, hole,
                     lambda z: z - 0.3, lambda z: xnp.cbrt(z - 0.3), lambda z: odd(z) - z / 9,
                     lambda z: xnp.where(z > 1.3, xnp.inf, z - 0.3), lambda z: (z - 0.3) ** 3)  # fmt: skip
        f = lambda x: size * xc.lax.switch(which, functions, x / s).astype(x.dtype)
        return xo.root_scalar(f, (0.03 * s, 1.4 * s), method=method)

    for s in SCALES[dtype][1:-1]:
        for size in (1e-10, 1.0, 1e10):
            states = [solve(np.int32(k), *np.array([s, size], dtype)).status for k in range(12)]
            names = [xo.Status(int(k)).name for k in states]
            assert names[:6] == ["stagnation"] * 6 and names[6] == "not_finite", (s, size, names)
            assert names[7:] == ["success"] * 5, (s, size, names)


@pytest.mark.parametrize("method", ["toms748", "brent", "bisect"])
@pytest.mark.parametrize("dtype", SCALES)
def test_poles_of_sums_that_hold_few_digits_of_x_are_no_roots(dtype, method):
    """Near the pole x is lost in a sum, so |f| is a constant there: it stays between two numbers, and does not grow."""
    odd = lambda z: xnp.where(z > 0, 1, -1)
    tiny = xnp.finfo(dtype).tiny
    poles = (
        lambda z: 1 / (z + tiny * odd(z)), lambda z: -1 / xnp.tan(z + tiny * odd(z)),
        lambda z: odd(z) * xnp.log(xnp.maximum(xnp.abs(z), 1e-30) / 9),
        lambda z: 1 / xnp.cbrt(z + tiny * odd(z)),
    )  # fmt: skip
    roots = (
        lambda z: z,
        xnp.sin,
        xnp.cbrt,
        lambda z: z / (z * z + 1e-5),
        lambda z: odd(z).astype(dtype),
    )

    @xc.jit
    def solve(which, s, far):
        z = lambda x: (s * x + far) - far
        f = lambda x: xc.lax.switch(which, poles + roots, z(x)).astype(x.dtype)
        return xo.root_scalar(f, (-0.4 / s, 0.7 / s), method=method)

    eps = float(np.finfo(dtype).eps)
    for s in (1.0, 1e-8, 1e8):
        for far in (0.0, 1.0, np.pi / 2, 1e-5 / eps):
            found = [solve(np.int32(k), *np.array([s, far], dtype)) for k in range(9)]
            names = [xo.Status(int(r.status)).name for r in found]
            assert names == ["stagnation"] * 4 + ["success"] * 5, (s, far, names)
    # among a few dozen numbers, so that the last bracket is of several of them
    few = xnp.asarray(0.05 / eps, dtype)
    near = xo.root_scalar(lambda x: 1 / (x - few), (few - 0.7, few + 0.9), method=method)
    assert not near.success
    tan = lambda u: xnp.tan(xnp.asarray(1e-8, dtype) * u + np.asarray(np.pi / 2, dtype))
    ends = np.array([-1e7, 2e7], dtype)
    assert not xo.root_scalar(tan, tuple(ends), method=method).success


@pytest.mark.parametrize("method", ["toms748", "brent", "bisect"])
def test_brackets_without_an_end_are_refused(method):
    """Their width is infinite, as is what it is compared with: any end was called a root."""
    f = lambda x: xnp.arctan(x) - 1
    for ends in ((-np.inf, np.inf), (0.0, np.inf), (-np.inf, 5.0), (np.nan, 1.0)):
        with pytest.raises(ValueError, match="both ends of a bracket must be finite"):
            xo.root_scalar(f, ends, method=method)
        within = xc.jit(lambda a, b: xo.root_scalar(f, (a, b), method=method).status)
        assert xo.Status(int(within(*ends))) is xo.Status.no_bracket


@pytest.mark.parametrize("method", ["brent", "golden"])
@pytest.mark.parametrize("dtype", SCALES)
def test_a_point_beside_numbers_that_are_none_is_no_minimum(dtype, method):
    """NaN on one side says nothing of that side; where it is not reached, or infinity is, all is well."""
    walls = {
        "not_finite": (xnp.log, xnp.sqrt, lambda z: xnp.where(z < 0.3, xnp.nan, z)),
        "success": (
            lambda z: z - xnp.log(z), lambda z: z * xnp.log(z), lambda z: xnp.where(z < 0.3, xnp.inf, z),
        ),
    }  # fmt: skip

    @xc.jit
    def solve(which, s, size):
        functions = [f for fs in walls.values() for f in fs]
        f = lambda x: (size * xc.lax.switch(which, functions, x / s)).astype(x.dtype)
        return xo.minimize_scalar(f, bounds=(-s, 2 * s), method=method)

    for s in SCALES[dtype][1:-1]:
        for size in (1e-6, 1.0, 1e6):
            for k, expected in enumerate(name for name, fs in walls.items() for _ in fs):
                out = solve(np.int32(k), *np.array([s, size], dtype))
                assert xo.Status(int(out.status)).name == expected, (k, s, size, out.message)


FALLS = {
    "unbounded": (lambda z: -xnp.sqrt(xnp.abs(z)), lambda z: -xnp.log(1 + xnp.abs(z)), lambda z: -z, lambda z: -z * z),
    "flat": (lambda z: 1 / (1 + xnp.abs(z)), lambda z: 5 + 1 / (1 + z * z) ** 0.1),
}  # fmt: skip


@pytest.mark.parametrize("method", ["brent", "golden"])
@pytest.mark.parametrize("dtype", SCALES)
def test_what_falls_towards_a_limit_is_bounded(dtype, method):
    @xc.jit
    def solve(which, s, size):
        functions = [
            lambda x, f=f: (size * f(x / s)).astype(x.dtype) for fs in FALLS.values() for f in fs
        ]
        f = lambda x: xc.lax.switch(which, functions, x)
        single = xo.minimize(f, s, method=method).status
        return xo.minimize_scalar(f, (0 * s, s), method=method).status, single

    for s in (1e-5, 1.0, 1e5):
        for size in (1e-6, 1.0, 1e6):
            for k, expected in enumerate(name for name, fs in FALLS.items() for _ in fs):
                found = [
                    xo.Status(int(v)).name for v in solve(np.int32(k), *np.array([s, size], dtype))
                ]
                assert found[0] == expected, (k, s, size, found)
                # squares of what went far are no numbers
                assert found[1] in ("unbounded", "not_finite") or expected == "flat", (k, s, size)
                assert found[1] != "unbounded" or expected == "unbounded", (k, s, size)
