"""Small faces of SciPy beside SciPy's own."""

import numpy as np
import pytest
import scipy.cluster.vq
import scipy.integrate
import scipy.interpolate
import scipy.ndimage
import scipy.optimize

import xcore as xc
import xcore.numpy as xnp
import xcore.scipy as xs
from xcore.testing import check_grads

rng = np.random.default_rng(0)


def test_trapezoid():
    y, x = rng.standard_normal((3, 4)), np.sort(rng.standard_normal(4))
    assert np.allclose(xs.integrate.trapezoid(y, x), scipy.integrate.trapezoid(y, x))
    assert np.allclose(
        xs.integrate.trapezoid(y, dx=0.3, axis=0), scipy.integrate.trapezoid(y, dx=0.3, axis=0)
    )


def test_minimize_as_scipy_has_it():
    def rosenbrock(x, a):
        return 100 * (x[1] - x[0] ** 2) ** 2 + (a - x[0]) ** 2

    run = xc.jit(
        lambda a: xs.optimize.minimize(rosenbrock, np.array([-1.2, 1.0]), (a,), method="BFGS")
    )
    found = run(np.float64(1.5))
    wanted = scipy.optimize.minimize(rosenbrock, [-1.2, 1.0], (1.5,), method="BFGS")
    assert found.success and found.status == 0 and wanted.success
    assert found._fields == (
        "x",
        "success",
        "status",
        "fun",
        "jac",
        "hess_inv",
        "nfev",
        "njev",
        "nit",
    )
    assert np.allclose(found.x, [1.5, 2.25], atol=1e-5) and found.fun < 1e-9
    assert np.abs(found.jac).max() < 1e-5
    exact = np.linalg.inv(xc.hessian(lambda x: rosenbrock(x, 1.5))(np.array([1.5, 2.25])))
    assert np.allclose(found.hess_inv, exact, rtol=0.2)  # BFGS approaches it, no more
    assert np.allclose(xc.jacfwd(lambda a: run(a).x)(np.float64(1.5)), [1, 3], atol=1e-4)


def test_minimize_says_what_it_cannot_do():
    f = lambda x: (x**2).sum()
    few = xs.optimize.minimize(
        lambda x: (x**4).sum(), np.ones(2), method="bfgs", options={"maxiter": 2}
    )
    assert few.status == 1 and not few.success and few.nit == 2
    other = xs.optimize.minimize(f, np.ones(2), method="l-bfgs-experimental-do-not-rely-on-this")
    assert other.success and other.hess_inv is None
    with pytest.raises(ValueError, match="options"):
        xs.optimize.minimize(f, np.ones(2), method="BFGS", options={"steps": 2})
    with pytest.raises(ValueError, match="method"):
        xs.optimize.minimize(f, np.ones(2), method="simplest")


GRID = np.array([0.0, 1.0, 1.5, 4.0]), np.array([-1.0, 0.0, 3.0])
POINTS = np.stack([rng.uniform(-1, 5, 30), rng.uniform(-2, 4, 30)], -1).reshape(5, 6, 2)


@pytest.mark.parametrize("method", ["linear", "nearest"])
@pytest.mark.parametrize("fill", [np.nan, None, 7.0])
def test_grid_interpolation(method, fill):
    values = rng.standard_normal((4, 3, 2)) + 1j * rng.standard_normal((4, 3, 2))
    ours = xs.interpolate.RegularGridInterpolator(GRID, values, method, fill_value=fill)
    theirs = scipy.interpolate.RegularGridInterpolator(GRID, values, method, False, fill)
    assert np.allclose(xc.jit(ours.__call__)(POINTS), theirs(POINTS), equal_nan=True)


def test_grid_interpolation_of_other_forms():
    rgi, (x, y) = xs.interpolate.RegularGridInterpolator, GRID
    values = rng.standard_normal((4, 3))
    a, b = rgi((x, y), values, fill_value=None), rgi((x[::-1], y), values[::-1], fill_value=None)
    assert np.allclose(a(POINTS), b(POINTS)) and np.allclose(
        a((0.5, y)), a(np.stack([0 * y + 0.5, y], -1))
    )
    assert np.array_equal(rgi((x,), np.arange(4))([0.5, 2.75]), [0.5, 2.5])
    assert np.array_equal(rgi((x[:1],), np.ones(1))([0.0, 1.0]), [1, np.nan], equal_nan=True)
    check_grads(
        lambda v, p: rgi(GRID, v, fill_value=None)(p), (values, np.array([[0.3, 1.1], [2.0, -0.5]]))
    )


def test_grid_interpolation_refuses():
    rgi, v = xs.interpolate.RegularGridInterpolator, np.ones((4, 3))
    with pytest.raises(ValueError, match="outside"):
        rgi(GRID, v, bounds_error=True)(POINTS)
    with pytest.raises(ValueError, match="traced"):
        xc.jit(rgi(GRID, v, bounds_error=True).__call__)(POINTS)
    for points, match in (
        ((GRID[0],) * 3, "points"),
        (GRID[::-1], r"points\[0\]"),
        ((GRID[0] * 0, GRID[1]), "monotone"),
    ):
        with pytest.raises(ValueError, match=match):
            rgi(points, v)
    with pytest.raises(ValueError, match="method"):
        rgi(GRID, v, "cubic")
    with pytest.raises(ValueError, match="xi"):
        rgi(GRID, v)(np.ones(3))


MODES = {
    "constant": "grid-constant",
    "nearest": "nearest",
    "wrap": "grid-wrap",
    "mirror": "mirror",
    "reflect": "reflect",
}


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("dtype", [np.float64, np.int32])
def test_map_coordinates(order, dtype):
    image = (rng.standard_normal((4, 3)) * 20).astype(dtype)
    where = rng.uniform(-9, 12, (2, 5, 4))
    ours = xc.jit(
        lambda i, c: {m: xs.ndimage.map_coordinates(i, c, order, m, cval=3) for m in MODES}
    )
    for mode, found in ours(image, where).items():
        wide = scipy.ndimage.map_coordinates(
            image.astype(float), where, order=order, mode=MODES[mode], cval=3
        )
        assert found.dtype == dtype
        assert np.allclose(found, np.round(wide) if dtype == np.int32 else wide), mode


def test_map_coordinates_of_integers_rounds_halves_as_scipy():
    image, at = np.asarray([-5, -2, 0, 1, 4]), [np.linspace(-0.5, 4.5, 41)]
    found = xs.ndimage.map_coordinates(image, at, 1, "nearest")
    assert np.array_equal(found, scipy.ndimage.map_coordinates(image, at, order=1, mode="nearest"))


def test_map_coordinates_of_other_forms():
    image, at = rng.standard_normal((4, 3)), [np.array([0, 3, 4]), np.array([1, 2, 2])]
    for order in (0, 1):
        found = xs.ndimage.map_coordinates(image, at, order)
        assert np.array_equal(found, [image[0, 1], image[3, 2], 0])
    one = xs.ndimage.map_coordinates(np.array([2.0]), [np.array([-1.5, 0.0, 3.2])], 1, "mirror")
    assert np.array_equal(one, [2, 2, 2])
    check_grads(
        lambda i, c: xs.ndimage.map_coordinates(i, c, 1, "reflect"),
        (image, np.array([[0.3, 4.2], [1.6, -2.1]])),
    )
    for args, match in (
        ((image, at[:1], 1), "coordinates"),
        ((image, at, 2), "order"),
        ((image, at, 1, "edge"), "mode"),
    ):
        with pytest.raises(ValueError, match=match):
            xs.ndimage.map_coordinates(*args)


def test_vq():
    obs, codes = rng.standard_normal((6, 3)), rng.standard_normal((4, 3))
    for a, b in ((obs, codes), (obs[:, 0], codes[:, 0])):
        for ours, theirs in zip(
            xc.jit(xs.cluster.vq.vq)(a, b), scipy.cluster.vq.vq(a, b), strict=True
        ):
            assert np.allclose(ours, theirs)
    assert (
        xs.cluster.vq.vq(np.array([[1, 5]]), np.array([[1, 2]]))[1].dtype == xnp.asarray(1.0).dtype
    )
    assert np.array_equal(xs.cluster.vq.vq(obs[:0], codes)[0], [])
    with pytest.raises(ValueError, match="rows"):
        xs.cluster.vq.vq(obs, codes[:, :2])


@pytest.mark.parametrize("bits", [32, 64])
def test_vq_at_any_scale(bits):
    r = np.random.default_rng(0)
    rows, codes = r.normal(size=(300, 3)), r.normal(size=(7, 3))
    codes[3] = rows[5]
    wanted = scipy.cluster.vq.vq(rows, codes)[0]
    with xc.enable_x64(bits == 64):
        for power in (0, 30, -30) if bits == 32 else (0, 200, -200, 300, -290):
            given = [(x * 10.0**power).astype(f"float{bits}") for x in (rows, codes)]
            np.testing.assert_array_equal(xc.scipy.cluster.vq.vq(*given)[0], wanted)
        far = np.concatenate([codes, np.full((1, 3), 1e37 if bits == 32 else 1e300)])
        given = [x.astype(f"float{bits}") for x in (rows, far)]
        np.testing.assert_array_equal(xc.scipy.cluster.vq.vq(*given)[0], wanted)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_curves_of_data_that_are_not_finite(value):
    x, y = np.arange(5.0), np.array([1.0, 2.0, value, 4.0, 5.0])
    for data, name in (((x, y), "ydata"), ((y, x), "xdata")):
        with pytest.raises(ValueError, match=f"{name} must be without NaN.*isfinite"):
            xs.optimize.curve_fit(lambda t, a, b: a * t + b, *data)
    keep = np.isfinite(y)
    np.testing.assert_allclose(
        xs.optimize.curve_fit(lambda t, a, b: a * t + b, x[keep], y[keep])[0], 1.0, rtol=1e-6
    )


@pytest.mark.parametrize("mode", ["constant", "nearest", "wrap", "reflect", "mirror"])
@pytest.mark.parametrize("order", [0, 1])
def test_coordinates_beyond_the_numbers_of_pixels(mode, order):
    """Far away, where the number of a pixel is no int32, as SciPy has it; what is no coordinate has no value."""
    image = np.random.default_rng(0).standard_normal(7)
    names = {"constant": "grid-constant", "wrap": "grid-wrap"}
    for dtype in ("float32", "float64"):
        for base in (0, -5, 1e3, 3e9, -3e9, 1e12, -1e15):
            x = (base + np.array([0.0, 0.25, 1.75, 3.4, 6.0, 6.6, 9.3])).astype(dtype)
            want = scipy.ndimage.map_coordinates(
                image, [x.astype(float)], order=order, mode=names.get(mode, mode), prefilter=False
            )
            found = xc.scipy.ndimage.map_coordinates(image, [x], order, mode)
            np.testing.assert_allclose(found, want, atol=1e-3 if dtype == "float32" else 1e-12)
    found = xc.scipy.ndimage.map_coordinates(image, [np.array([np.nan, 1.0])], order, mode)
    assert np.isnan(found[0]) and found[1] == image[1]
