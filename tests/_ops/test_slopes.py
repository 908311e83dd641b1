"""Slopes of elementwise operations keep their digits at all scales: beside closed forms in 60 digits."""

import mpmath as mp
import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp

mp.mp.dps = 60


def _logistic_slope(x):
    return 1 / (2 + mp.exp(x) + mp.exp(-x))


SLOPES = {
    "tan": (xnp.tan, lambda x: mp.sec(x) ** 2),
    "expm1": (xnp.expm1, mp.exp),
    "log1p": (xnp.log1p, lambda x: 1 / (1 + x)),
    "sqrt": (xnp.sqrt, lambda x: 1 / (2 * mp.sqrt(x))),
    "rsqrt": (xc.lax.rsqrt, lambda x: -mp.power(x, -1.5) / 2),
    "cbrt": (xnp.cbrt, lambda x: mp.power(abs(x), -mp.mpf(2) / 3) / 3),
    "arcsin": (xnp.arcsin, lambda x: 1 / mp.sqrt(1 - x * x)),
    "arccos": (xnp.arccos, lambda x: -1 / mp.sqrt(1 - x * x)),
    "arctan": (xnp.arctan, lambda x: 1 / (1 + x * x)),
    "arcsinh": (xnp.arcsinh, lambda x: 1 / mp.sqrt(1 + x * x)),
    "arccosh": (xnp.arccosh, lambda x: 1 / mp.sqrt(x * x - 1)),
    "arctanh": (xnp.arctanh, lambda x: 1 / (1 - x * x)),
    "logistic": (xc.lax.logistic, _logistic_slope),
    "sigmoid": (xc.nn.sigmoid, _logistic_slope),
    "log_sigmoid": (xc.nn.log_sigmoid, lambda x: 1 / (1 + mp.exp(x))),
    "softplus": (xc.nn.softplus, lambda x: 1 / (1 + mp.exp(-x))),
    "soft_sign": (xc.nn.soft_sign, lambda x: 1 / (1 + abs(x)) ** 2),
    "silu": (xc.nn.silu, lambda x: 1 / (1 + mp.exp(-x)) + x * _logistic_slope(x)),
    "celu": (xc.nn.celu, lambda x: mp.mpf(1) if x > 0 else mp.exp(x)),
    "x**-1": (lambda x: x**-1, lambda x: -1 / x**2),
    "x**-2": (lambda x: x**-2, lambda x: -2 / x**3),
    "x**-3": (lambda x: x**-3, lambda x: -3 / x**4),
    "x**3": (lambda x: x**3, lambda x: 3 * x * x),
    "x**1.5": (lambda x: x**1.5, lambda x: 1.5 * mp.sqrt(x)),
}  # fmt: skip
ENDS = {"float32": 35, "float64": 300}


def points(dtype: str) -> np.ndarray:
    """Both signs of powers of ten, of usual numbers, and of what is close to 1."""
    digits = np.finfo(dtype).nmant
    close = 2.0 ** -np.arange(1, digits)
    powers = 10.0 ** np.linspace(-ENDS[dtype], ENDS[dtype], 29)
    half = np.concatenate([powers, [0.1, 0.5, 2, 5, 9, 20, 80], 1 - close, 1 + close])
    return np.concatenate([half, -half]).astype(dtype)


def is_right(got: float, want, dtype: str, digits_lost: float = 1e3) -> bool:
    limits = np.finfo(dtype)
    if abs(want) < 8 * float(limits.tiny):
        return abs(got) <= 32 * float(limits.tiny)
    if abs(want) > float(limits.max) / 8:
        return abs(got) >= float(limits.max) / 32
    return abs(got - float(want)) <= digits_lost * float(limits.eps) * abs(float(want))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SLOPES)
def test_slopes_at_all_scales(name, dtype):
    f, slope = SLOPES[name]
    x = points(dtype)
    device = xnp.asarray(x)
    value = np.asarray(f(device))
    for way in (xc.vmap(xc.grad(f)), xc.jit(xc.vmap(xc.jacfwd(f)))):
        got = np.asarray(way(device), np.float64)
        wrong = []
        for at, y, g in zip(x, value, got, strict=True):
            try:
                want = slope(mp.mpf(float(at)))
            except (ZeroDivisionError, ValueError):
                continue
            if np.isfinite(y) and not isinstance(want, mp.mpc) and not is_right(g, want, dtype):
                wrong.append((float(at), g, float(want)))
        assert not wrong


PAIRS = {
    "arctan2": (xnp.arctan2, lambda x, y: (y / (x * x + y * y), -x / (x * x + y * y))),
    "angle": (
        lambda x, y: xnp.angle(xc.lax.complex(x, y)),
        lambda x, y: (-y / (x * x + y * y), x / (x * x + y * y)),
    ),
    "hypot": (xnp.hypot, lambda x, y: (x / mp.sqrt(x * x + y * y), y / mp.sqrt(x * x + y * y))),
    "abs": (
        lambda x, y: xnp.abs(xc.lax.complex(x, y)),
        lambda x, y: (x / mp.sqrt(x * x + y * y), y / mp.sqrt(x * x + y * y)),
    ),
    "logaddexp": (
        xnp.logaddexp,
        lambda x, y: (1 / (1 + mp.exp(y - x)), 1 / (1 + mp.exp(x - y))),
    ),
    "divide": (xnp.divide, lambda x, y: (1 / y, -x / y**2)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", PAIRS)
def test_slopes_of_pairs_at_all_scales(name, dtype):
    f, slopes = PAIRS[name]
    powers = 10.0 ** np.round(np.linspace(-ENDS[dtype] + 5, ENDS[dtype] - 5, 7))
    sides = np.concatenate([powers, -1.7 * powers]).astype(dtype)
    x, y = (side.ravel() for side in np.meshgrid(sides, sides))
    got = xc.jit(xc.vmap(xc.grad(f, argnums=(0, 1))))(xnp.asarray(x), xnp.asarray(y))
    value = np.asarray(f(xnp.asarray(x), xnp.asarray(y)))
    wrong = []
    for a, b, v, *found in zip(x, y, value, *map(np.asarray, got), strict=True):
        want = slopes(mp.mpf(float(a)), mp.mpf(float(b)))
        if np.isfinite(v) and not all(map(is_right, found, want, [dtype] * 2)):
            wrong.append((float(a), float(b), found, want))
    assert not wrong


def test_at_zero_and_infinity():
    """As the limits, where there are any."""
    for n, at_zero in ((-1, -np.inf), (-2, -np.inf), (-3, -np.inf), (2, 0), (3, 0), (1, 1), (0, 0)):
        for way in (xc.grad, lambda f: xc.jit(xc.grad(f)), xc.jacfwd):
            f = way(lambda x, n=n: x**n)
            assert float(f(0.0)) == at_zero
            assert float(f(np.inf)) == (0 if n < 1 else 1 if n == 1 else np.inf)
    assert float(xc.grad(lambda x: x**-2)(-0.0)) == np.inf
    assert [float(xc.grad(xc.nn.soft_sign)(x)) for x in (0.0, np.inf, -np.inf)] == [1, 0, 0]
    assert [float(xc.grad(xnp.tanh)(x)) for x in (0.0, np.inf, -np.inf)] == [1, 0, 0]
    assert [float(xc.grad(xnp.arcsinh)(x)) for x in (0.0, np.inf, -np.inf)] == [1, 0, 0]


@pytest.mark.parametrize("f", [xnp.tanh, xnp.arcsinh, xc.nn.sigmoid, xnp.expm1, xnp.arcsin, xnp.arctanh, lambda x: (2 + x)**-2,
    lambda x: xnp.arctan2(x, 1.0), lambda x: xnp.arctan2(1.0, x + 2)])  # fmt: skip
def test_slopes_of_slopes(f):
    """Third derivatives beside differences of second ones."""
    second, third = xc.grad(xc.grad(f)), xc.grad(xc.grad(xc.grad(f)))
    for x in (0.0, 0.3, -0.6):
        h = 1e-4
        x = xnp.asarray(x, "float64")
        want = (float(second(x + h)) - float(second(x - h))) / (2 * h)
        assert float(third(x)) == pytest.approx(want, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", ["arcsinh", "arcsin", "arctanh", "tanh", "arctan"])
def test_slopes_of_complex_numbers(name):
    f = getattr(xnp, name)
    z = np.array([0.3 + 0.4j, -2 + 0.5j, 0.5 - 3j, -0.2 - 0.1j, 2j, 1e100 + 1e100j])
    exact = {"arcsinh": lambda z: 1 / np.sqrt(1 + 1j * z) / np.sqrt(1 - 1j * z), "arctan": lambda z: 1 / (1 + z * z),
             "arcsin": lambda z: 1 / np.sqrt(1 - z) / np.sqrt(1 + z), "arctanh": lambda z: 1 / (1 - z) / (1 + z),
             "tanh": lambda z: 1 - np.tanh(z) ** 2}  # fmt: skip
    z = z if name == "arcsinh" else z[:4]
    got = xc.vmap(xc.grad(f, holomorphic=True))(xnp.asarray(z))
    np.testing.assert_allclose(got, exact[name](z), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_slopes_of_sinc_keep_their_digits_near_zero(dtype):
    x = np.geomspace(1e-6, 0.9, 60).astype(dtype)
    found = xc.vmap(xc.grad(xnp.sinc))(x)
    right = [
        float(mp.cos(mp.pi * t) / t - mp.sin(mp.pi * t) / (mp.pi * t * t))
        for t in map(mp.mpf, map(float, x))
    ]
    np.testing.assert_allclose(found, right, rtol=30 * np.finfo(dtype).eps)
