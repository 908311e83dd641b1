"""``solve_ivp`` and ``odeint`` beside SciPy's, and what they claim."""

import warnings

import numpy as np
import pytest
import scipy.integrate as theirs

import xcore as xc
import xcore.numpy as xnp
from xcore.scipy import integrate as ours


def landing(t, y):
    return y[0]


landing.terminal, landing.direction = True, -1


def twice(t, y):
    return y[0] - 0.5


twice.terminal = 3

PROBLEMS = {
    "decay": (lambda t, y: -0.5 * y, (0, 10), [2.0, 4.0, 8.0], {}),
    "oscillator": (lambda t, y: [y[1], (1 - y[0] ** 2) * y[1] - y[0]], (0, 10), [2.0, 0.0], {}),
    "prey": (
        lambda t, z, a, b: [z[0] * (a - z[1]), z[1] * (z[0] - b)],
        (0, 8),
        [10.0, 5.0],
        {"args": (1.5, 3.0)},
    ),
    "lorenz": (
        lambda t, y: [10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]],
        (0, 2),
        [1.0] * 3,
        {},
    ),
    "falling time": (lambda t, y: -y * t, (3, 0), [0.1], {}),
    "complex": (lambda t, y: 1j * y, (0, 5), [1 + 0j], {}),
    "event": (
        lambda t, y: [y[1], -9.81],
        (0, 100),
        [0.0, 10.0],
        {"events": landing, "max_step": 0.1},
    ),
    "events": (
        lambda t, y: [y[1], -y[0]],
        (0, 20),
        [1.0, 0.0],
        {"events": [twice, lambda t, y: y[1]]},
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_steps_are_scipys(name):
    f, span, y0, options = PROBLEMS[name]
    method = "RK23" if name in ("decay", "events") else "RK45"
    options = {"rtol": 1e-5, "atol": 1e-7, "dense_output": True, "method": method, **options}
    a = ours.solve_ivp(f, span, np.array(y0), **options)
    b = theirs.solve_ivp(f, span, y0, **options)
    assert (a.status, a.success, a.nfev) == (b.status, b.success, b.nfev)
    np.testing.assert_allclose(a.t, b.t, rtol=1e-6)  # lengths follow errors, which are differences
    np.testing.assert_allclose(a.y, b.y, rtol=1e-6, atol=1e-8)
    inside = np.linspace(b.t[0], b.t[-1], 9)
    np.testing.assert_allclose(a.sol(inside), b.sol(inside), rtol=1e-7, atol=1e-9)
    assert a.sol(inside[3]).shape == b.sol(inside[3]).shape
    for x, y in zip(a.t_events or [], b.t_events or [], strict=True):
        np.testing.assert_allclose(x, y, atol=1e-9)
    for x, y in zip(a.y_events or [], b.y_events or [], strict=True):
        np.testing.assert_allclose(x, y, atol=1e-8)
    kept = ours.solve_ivp(f, span, np.array(y0), t_eval=inside, **options)
    np.testing.assert_allclose(kept.y[:, :-1], b.sol(inside[:-1]), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_pole_is_no_success(dtype, scale):
    """y' = y² / s from y = s ends at t = 1."""
    f = lambda t, y: y * y / scale
    start = np.array([scale], dtype)
    before = ours.solve_ivp(f, (0, 0.9), start, atol=1e-9 * scale)
    assert before.success and before.y.dtype == dtype
    np.testing.assert_allclose(before.y[0, -1], 10 * scale, rtol=0.05)
    beyond = ours.solve_ivp(f, (0, 2), start, atol=1e-9 * scale)
    assert not beyond.success and beyond.status == -1 and 0.99 < float(beyond.t[-1]) < 1.01
    inside = xc.jit(lambda y: ours.solve_ivp(f, (0, 2), y, t_eval=[0.5, 1.5], atol=1e-9 * scale))(
        start
    )
    assert not inside.success and inside.status == -1


def test_what_is_not_finite_is_no_success():
    found = ours.solve_ivp(lambda t, y: xnp.where(t < 0.5, 1.0, xnp.nan) * y, (0, 1), np.ones(1))
    assert not found.success and float(found.t[-1]) <= 0.5 and "not finite" in found.message
    with pytest.raises(ValueError, match="finite"):
        ours.solve_ivp(lambda t, y: y, (0, 1), [np.nan])


def test_derivatives_and_lanes():
    at = lambda a: ours.solve_ivp(
        lambda t, y: -a * y, (0, 1), np.ones(1), t_eval=[0.5, 1.0], rtol=1e-8, atol=1e-10
    )
    run = xc.jit(lambda a: at(a).y[0, -1])
    for derive in (xc.grad, xc.jacfwd):
        np.testing.assert_allclose(derive(run)(2.0), -np.exp(-2), rtol=1e-6)
    np.testing.assert_allclose(xc.vmap(run)(np.arange(3.0)), np.exp(-np.arange(3.0)), rtol=1e-6)
    back = xc.jit(
        lambda y: ours.solve_ivp(lambda t, y: -y, (1, 0), y, t_eval=[0.5, 0.0], rtol=1e-8)
    )(np.ones(1))
    np.testing.assert_allclose(back.y[0], np.exp([0.5, 1]), rtol=1e-6)
    with pytest.raises(ValueError, match="inside of jit"):
        xc.jit(lambda y: ours.solve_ivp(lambda t, y: -y, (0, 1), y).y)(np.ones(1))


def test_stiff_equations_beside_scipys():
    """The same zeros and states as by Radau's method, with tighter tolerances, in few steps."""
    f = lambda t, y: [y[1], 100 * (1 - y[0] ** 2) * y[1] - y[0]]
    options = {"dense_output": True, "events": lambda t, y: y[0]}
    b = theirs.solve_ivp(f, (0, 120), [2.0, 0.0], "Radau", rtol=1e-9, atol=1e-11, **options)
    a = ours.solve_ivp(f, (0, 120), np.array([2.0, 0.0]), "BDF", rtol=1e-7, atol=1e-9, **options)
    assert a.success and len(a.t) < 600 and a.njev < 600
    inside = np.linspace(0, 80, 33)
    np.testing.assert_allclose(a.sol(inside)[0], b.sol(inside)[0], atol=1e-5)
    np.testing.assert_allclose(a.t_events[0], b.t_events[0], rtol=1e-6)
    back = ours.solve_ivp(
        lambda t, y: 1j * y - 1e3 * y, (3, 2.99), np.ones(1) + 0j, "Radau", rtol=1e-8
    )
    np.testing.assert_allclose(back.y[0, -1], np.exp(10 - 0.01j), rtol=1e-6)


def test_widths_follow_what_was_given():
    f = lambda t, y: -y
    assert ours.solve_ivp(f, (0, 1), [1]).y.dtype == np.float32
    assert ours.solve_ivp(f, (0, 1), [1], t_eval=np.array([0.5])).y.dtype == np.float64
    assert ours.solve_ivp(f, (0, 1), np.ones(1)).t.dtype == np.float64
    with pytest.warns(UserWarning, match="below what float32 holds"):
        ours.solve_ivp(f, (0, 1), [1.0], rtol=1e-8)


@pytest.mark.parametrize("rtol", [1e-5, 1e-9, 1e-12])
@pytest.mark.parametrize("name", PROBLEMS)
def test_order_eight_is_as_accurate_as_scipys(name, rtol):
    """Its errors are asked of each element, so that steps are a little shorter."""
    f, span, y0, options = PROBLEMS[name]
    options = {"atol": rtol * 1e-2, "dense_output": True, "method": "DOP853", **options}
    a = ours.solve_ivp(f, span, np.array(y0), rtol=rtol, **options)
    b = theirs.solve_ivp(f, span, y0, rtol=rtol, **options)
    exact = theirs.solve_ivp(f, span, y0, **options | {"rtol": 3e-14, "atol": 1e-15})
    inside = np.linspace(b.t[0], exact.t[-1], 40)
    size = np.abs(exact.sol(inside)).max()
    near = lambda x: np.abs(x.sol(inside) - exact.sol(inside)).max() / size
    assert (a.status, a.success) == (b.status, b.success) and a.nfev <= 1.6 * b.nfev
    assert near(a) <= 3 * near(b) + 2e-13
    for x, y in zip(a.t_events or [], exact.t_events or [], strict=True):
        np.testing.assert_allclose(x, y, atol=max(1e-11, 300 * rtol))
    if name not in ("event", "events"):
        told = ours.solve_ivp(f, span, np.array(y0), t_eval=inside, **options | {"rtol": rtol})
        np.testing.assert_allclose(told.y, a.sol(inside), rtol=1e-12, atol=1e-12)
    ends = ours.solve_ivp(f, span, np.array(y0), **{k: x for k, x in options.items() if k not in ("dense_output", "events")}, rtol=rtol)  # fmt: skip
    assert ends.success and (name.startswith("event") or ends.nfev < a.nfev)


@pytest.mark.parametrize("wrong, told", [
    ({"method": "bdf"}, "BDF"), ({"t_eval": [0.5, 2.0]}, "t_eval"), ({"y0": 1.0}, "vector"),
    ({"fun": lambda y, t: -y}, "odeint"), ({"fun": lambda t, y: y[:1]}, "alike"), ({"t_span": (0, 1, 2)}, "pair"),
    ({"fun": lambda t, y: 1j * y}, "complex"), ({"events": 3}, "events"),
])  # fmt: skip
def test_wrong_arguments_are_named(wrong, told):
    given = {"fun": lambda t, y: -y, "t_span": (0, 1), "y0": np.ones(2)} | wrong
    with pytest.raises((ValueError, TypeError), match=told):
        ours.solve_ivp(**given)


def test_odeint_is_scipys():
    f = lambda y, t, b: [y[1], -b * y[1] - 5 * xnp.sin(y[0])]
    g = lambda y, t, b: [y[1], -b * y[1] - 5 * np.sin(y[0])]
    t, y0 = np.linspace(0, 10, 21), [3.0, 0.0]
    wanted = theirs.odeint(g, y0, t, (0.25,), rtol=1e-10, atol=1e-10)
    got = ours.odeint(f, y0, t, (0.25,), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(got, wanted, atol=1e-7)
    other = ours.odeint(lambda t, y, b: f(y, t, b), y0, t, (0.25,), tfirst=True)
    np.testing.assert_allclose(other, wanted, atol=1e-5)
    with warnings.catch_warnings(), pytest.raises(ValueError, match="Exchange"):
        ours.odeint(lambda t, y: -y, y0, t)
