"""What ``integrate`` claims where rounding of the time, and sizes of times and states, are in the way."""

import warnings

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.pde import (
    DORMAND_PRINCE,
    KVAERNO5,
    RK4,
    RODAS5P,
    Grid,
    Laplacian,
    RungeKutta,
    Status,
    ThetaMethod,
    integrate,
    trajectory,
)

METHODS = {"explicit": DORMAND_PRINCE, "stiff": RODAS5P, "sdirk": KVAERNO5}
SPEEDS = np.array([-1.0, -50.0, 0.5], np.float32)


@pytest.mark.parametrize("method", METHODS)
def test_times_that_rounding_swallows_make_no_false_claim(method):
    """Of u' = s u from times at which float32 has steps of 1e-7 to 1: e^s after a unit of time, or no claim."""

    def run(speed, start):
        times = start + xnp.asarray([0.0, 1.0, 2.0], np.float32)
        return integrate(
            lambda u, t: speed * u,
            xnp.ones(1),
            times,
            tableau=METHODS[method],
            report=True,
            max_steps=300,
        )

    starts = np.array([0.0, 1e4, 1e6, -1e6, 4e6], np.float32)
    answer = xc.jit(xc.vmap(xc.vmap(run, (0, None)), (None, 0)))(SPEEDS, starts)
    ok, u = np.asarray(answer.ok), np.asarray(answer.value)[..., 0]
    exact = np.exp(np.outer(SPEEDS, [0.0, 1.0, 2.0]))
    for i in range(len(starts)):
        near = np.abs(u[i] - exact) <= 3e-4 * np.abs(exact) + 3e-6
        assert (near.all(1) | ~ok[i]).all(), (starts[i], u[i])
    assert ok[0].all() and ok[1].all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_units_of_time_and_state_change_nothing(method, dtype):
    with xc.enable_x64(dtype == "float64"):

        def run(size, unit):
            times = unit * xnp.asarray([0.0, 1.0, 2.0], dtype)
            return integrate(
                lambda u, t: -u / unit, size * xnp.ones(1, dtype), times, tableau=METHODS[method], atol=0.0,
                report=True,
            )  # fmt: skip

        units = np.array([1e-18, 1.0, 1e18], dtype)  # slopes are in range, too
        answer = xc.jit(xc.vmap(xc.vmap(run, (0, None)), (None, 0)))(units, units)
        assert np.asarray(answer.ok).all()
        found = np.asarray(answer.value)[..., 0] / units[:, None]
        assert np.allclose(found, np.exp([0.0, -1.0, -2.0]), rtol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_a_pole_ends_by_steps_that_vanish(method):
    found = integrate(lambda u, t: u * u, xnp.ones(1), xnp.asarray([0.0, 0.5, 2.0]),
                      tableau=METHODS[method], report=True)  # fmt: skip
    assert found.status == Status.stagnation and np.isclose(found.value[1, 0], 2.0, rtol=1e-4)
    few = integrate(lambda u, t: -u, xnp.ones(1), xnp.asarray([1e6, 1e6 + 2]), tableau=METHODS[method],
                    max_step=1e-3, report=True)  # fmt: skip
    assert few.status == Status.stagnation


def test_times_that_fall_together_are_refused():
    with pytest.raises(ValueError, match="apart in float32"):
        integrate(lambda u, t: -u, np.float32(1), np.array([1e8, 1e8 + 1, 1e8 + 2]))
    with pytest.raises(ValueError, match="one array at least"):
        integrate(lambda u, t: u, (), np.array([0.0, 1.0]))


@pytest.mark.parametrize("method", METHODS)
def test_states_of_no_elements_and_of_few_digits(method):
    times = xnp.asarray([0.0, 1.0])
    empty = integrate(lambda u, t: -u, xnp.zeros(0), times, tableau=METHODS[method], report=True)
    assert empty.ok and empty.value.shape == (2, 0)
    if method == "explicit":
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            u = integrate(lambda u, t: -u, np.ones(1, np.float16), times)
        assert abs(float(u[1, 0]) - np.exp(-1)) < 2e-3


@pytest.mark.parametrize("method", METHODS)
def test_rounding_of_times_that_f_depends_on_is_judged(method):
    """Of u' = a ω cos ωt, near solutions or no claim; f is given times that are 1e-7 to 1e-3 off."""

    def run(speed, start):
        times = start + xnp.asarray([0.0, 2.0], np.float32)
        wave = lambda u, t: speed * xnp.cos(speed * t) * xnp.ones(1)
        return integrate(wave, xnp.ones(1), times, tableau=METHODS[method], report=True)

    speeds, starts = (
        np.array([0.3, 1.0, 3.0], np.float32),
        np.array([0.0, -100.0, 1e3, 1e4], np.float32),
    )
    found = xc.jit(xc.vmap(xc.vmap(run, (0, None)), (None, 0)))(speeds, starts)
    ok, u = np.asarray(found.ok), np.asarray(found.value)[:, :, 1, 0]
    w, t = speeds.astype(float), starts.astype(float)[:, None]
    exact = 1 + np.sin(w * (t + 2)) - np.sin(w * t)
    assert ((np.abs(u - exact) <= 3e-4 * (np.abs(exact) + 0.1)) | ~ok).all(), (ok, u - exact)
    assert ok[:2].all() and not ok[-1, 1:].any()
    assert np.isfinite(u).all()  # they are near, and nothing more is claimed


@pytest.mark.parametrize("method", METHODS)
def test_errors_below_rounding_are_not_taken_for_none(method):
    """Where the estimate of an error rounds to 0, the next step is not as long as can be: u' = ω cos ωt in float32."""

    def run(speed):
        wave = lambda u, t: speed * xnp.cos(speed * t) * xnp.ones(1)
        times = xnp.linspace(0, 2, 9, dtype=np.float32)
        return integrate(wave, xnp.ones(1), times, tableau=METHODS[method], report=True)

    speeds = np.linspace(0.3, 4, 40, dtype=np.float32)
    found = xc.jit(xc.vmap(run))(speeds)
    exact = 1 + np.sin(speeds[:, None].astype(float) * np.linspace(0, 2, 9))
    assert np.asarray(found.ok).all()
    assert np.abs(np.asarray(found.value)[..., 0] - exact).max() < 1.5e-4


def test_times_of_autonomous_equations_may_be_far_away():
    found = integrate(
        lambda u, t: -u + 0 * u, xnp.ones(1), xnp.asarray([1e4, 1e4 + 1]), report=True
    )
    assert found.ok
    with pytest.warns(RuntimeWarning, match="count time from where the run starts"):
        integrate(lambda u, t: xnp.cos(t) + u, xnp.ones(1), xnp.asarray([1e4, 1e4 + 1]))

    def python(u, t):
        return u * xc.pure_callback(np.cos, xc.ShapeDtypeStruct((), np.float32), t)

    near, far = xnp.asarray([0.0, 1.0]), xnp.asarray([1e4, 1e4 + 1])
    assert integrate(python, xnp.ones(1), near, report=True).ok
    assert not integrate(python, xnp.ones(1), far, report=True).ok


def test_times_of_steps_that_rounding_joins():
    """Steps of a trajectory that depend on the time are refused where times are no more apart than these."""
    wave = RungeKutta(lambda u, t: xnp.cos(t) * xnp.ones(1), RK4)
    run = lambda t0, stepper=wave: trajectory(stepper, xnp.ones(1), 0.1, 8, t0=t0, report=True)
    assert run(0.0).ok and run(-10.0).ok
    with pytest.raises(ValueError, match="Count time from t0"):
        run(1e8)
    assert run(1e8, RungeKutta(lambda u, t: -u, RK4)).ok
    told = xc.jit(run)
    assert told(0.0).ok and told(1e8).status == Status.stagnation
    still = trajectory(ThetaMethod(Laplacian(Grid(4))), xnp.ones(3), 0.1, 4, t0=1e8, report=True)
    assert still.ok


STEPPERS = {
    "Newmark": pde.Newmark,
    "Leapfrog": pde.Leapfrog,
    "ExponentialIntegrator": pde.ExponentialIntegrator,
}
WORLDS = (
    (1e-9, 1.0, 1.0),
    (1e12, 1.0, 1e-12),
    (1e-7, 3e8, 1.0),
    (1e-12, 1.0, 1e6),
    (1e15, 1e4, 1.0),
)


@pytest.mark.parametrize("name", STEPPERS)
@pytest.mark.parametrize("varying", [False, True])
def test_steps_do_not_depend_on_units(name, varying):
    """In single precision op(u), its squares and those of dt leave the range long before the result of a step does."""
    first, second = (np.random.default_rng(k).standard_normal(11) for k in (0, 1))

    def end(length, speed, size, dtype):
        grid = pde.Grid(12, 0.0, length)
        op = (
            pde.Diffusion(grid, np.full(12, speed**2, dtype))
            if varying
            else speed**2 * pde.Laplacian(grid)
        )
        waves = name != "ExponentialIntegrator"
        dt = dtype(0.05 * length / speed if waves else 0.01 * (length / speed) ** 2)
        state = (size * first).astype(dtype)
        state = (state, (size / dt * second).astype(dtype)) if waves else state
        stepper = STEPPERS[name](op)
        for _ in range(3):
            state = stepper.step(state, dtype(0), dt)
        return np.asarray(state[0] if waves else state, float) / size

    want = end(1.0, 1.0, 1.0, np.float64)
    for length, speed, size in WORLDS:
        found = end(length, speed, size, np.float32)
        np.testing.assert_allclose(found, want, atol=2e-5, err_msg=str((length, speed, size)))


def test_squares_of_steps_out_of_range_are_no_steps():
    op = pde.Laplacian(pde.Grid(4))
    state, status = pde.Newmark(op).attempt(
        (np.ones(3, "f4"), np.ones(3, "f4")), 0.0, np.float32(1e-22)
    )
    assert int(status) == int(xc.Status.not_finite) and np.isnan(np.asarray(state[0])).all()


FORMS = [
    (lambda u, t: [u[1], -u[0]], "f\\(u, t\\) must be of the form of u, one array, given '\\[\\*, \\*\\]'.*xnp.stack"),
    (lambda u, t: (u, u), "of the form of u.*xnp.stack"), (lambda u, t: None, "of the form of u"),
    (lambda u: -u, "two arguments, the state and the time"), (lambda t, u: -u, "Exchange its arguments"),
    (lambda u, t: u[:1], "of the shape of u"), (lambda u, t: 1j * u, "imaginary part would be lost"),
]  # fmt: skip


@pytest.mark.parametrize("tableau", [pde.DORMAND_PRINCE, pde.RODAS5P, pde.KVAERNO5])
@pytest.mark.parametrize("f, words", FORMS)
def test_functions_of_another_form_are_refused_in_words(f, words, tableau):
    with pytest.raises(ValueError, match=words):
        pde.integrate(f, xnp.ones(2), [0.0, 1.0], tableau=tableau)


def test_lists_and_times_that_fall_are_told_what_to_do():
    with pytest.raises(
        ValueError, match=r"of the form of u, \[\*, \*\], given 'one array'.*asarray\(x0\)"
    ):
        pde.integrate(lambda u, t: -xnp.asarray(u), [1.0, 2.0], [0.0, 1.0])
    t0, times = 1.0, np.array([1.0, 0.25])
    f = lambda u, t: -u * t
    with pytest.raises(
        ValueError, match=r"Backward .* integrate\(lambda u, s: -f\(u, t0 - s\), x0, t0 - t_eval\)"
    ):
        pde.integrate(f, xnp.ones(()), times)
    back = pde.integrate(lambda u, s: -f(u, t0 - s), xnp.ones(()), t0 - times)
    assert np.allclose(back, np.exp((1 - times**2) / 2), rtol=1e-4)


@pytest.mark.parametrize("make", [pde.ThetaMethod, pde.ExponentialIntegrator, pde.Newmark])
def test_states_of_masks_may_have_numbers_outside(make):
    """They are no unknowns: steps once told of infinities for such a state, or carried them along."""
    op = pde.Masked(pde.Grid((8, 6)), lambda x, y: x < 0.7)
    state = lambda u: (u, 0 * u) if make is pde.Newmark else u
    whole, field = (state(u) for u in (xnp.ones(op.field_shape), op.field(1.0)))
    found, wanted = (pde.trajectory(make(op), u, 0.002, 3, report=True) for u in (whole, field))
    assert found.ok and wanted.ok
    for a, b in zip(xc.tree.leaves(found.value), xc.tree.leaves(wanted.value), strict=True):
        assert np.array_equal(a, b)


# u' = g' - λ (u - g) has the solution g + (u - g)(0) exp(-λ t): (g, g', its solution from the start)
STIFF = {
    "smooth": (xnp.cos, lambda t: -xnp.sin(t), 1.0, lambda t, rate: np.cos(t)),
    "from aside": (xnp.cos, lambda t: -xnp.sin(t), 3.0, lambda t, rate: np.cos(t) + 2 * np.exp(-rate * t)),
    "a switch": (
        lambda t: xnp.where(t < 1.7, 0.0, 1.0), lambda t: 0 * t, 1.0,
        lambda t, rate: np.where(t < 1.7, np.exp(-rate * t), 1 - np.exp(-rate * np.maximum(t - 1.7, 0))),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STIFF)
@pytest.mark.parametrize("method", ["stiff", "sdirk"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_stiff_solutions_are_right_between_the_ends_of_steps(name, method, dtype):
    """A step that is right where it ends had gone beside the solution on its way, by up to 1e5 tolerances."""
    g, slope, start, solution = STIFF[name]
    times = np.linspace(0, 3, 13)
    with xc.enable_x64(dtype == "float64"):

        def run(rate, rtol):
            f = lambda u, t: (slope(t) - rate * (u - g(t))).astype(dtype)
            return integrate(
                f, xnp.full(1, start, dtype), times.astype(dtype), tableau=METHODS[method], rtol=rtol, atol=1e-3 * rtol,
                report=True,
            )  # fmt: skip

        rates = np.array([1e3, 1e4, 1e6], dtype)
        rtols = np.array([1e-3, 1e-4, 1e-5, 1e-8][: 2 if dtype == "float32" else 4], dtype)
        answer = xc.jit(xc.vmap(xc.vmap(run, (0, None)), (None, 0)))(rates, rtols)
    ok, u = np.asarray(answer.ok), np.asarray(answer.value)[..., 0]
    exact = solution(times, rates[:, None].astype(float))
    off = np.abs(u - exact) / (rtols[:, None, None] * (np.abs(exact) + 1e-3))
    assert (~ok | (off.max(-1) < 10)).all(), off.max(-1)
    assert ok.all() if dtype == "float64" else True


@pytest.mark.parametrize("method", ["Rodas5P", "Kvaerno5"])
def test_solve_ivp_of_stiff_equations_between_the_ends_of_steps(method):
    from xcore.scipy.integrate import solve_ivp

    times = np.linspace(0, 3, 13)
    for name, (g, slope, start, solution) in STIFF.items():
        found = solve_ivp(
            lambda t, u, g=g, slope=slope: slope(t) - 1e4 * (u - g(t)), (0.0, 3.0), np.array([start]), method,
            times, rtol=1e-3, atol=1e-6,
        )  # fmt: skip
        exact = solution(times, 1e4)
        off = np.abs(found.y[0] - exact) / (1e-3 * np.abs(exact) + 1e-6)
        assert not found.success or off.max() < 10, (name, off.max())


def test_a_slope_that_is_none_half_way_is_not_passed_over():
    """Seven steps ask for it at some sixty times; where half-way is the one that is no number, steps become shorter."""

    def run(a):
        f = lambda u, t: xnp.where((t > a) & (t < a + 0.02), np.nan, -u)
        found = pde.integrate(
            f, xnp.ones(1), [0.0, 3.0], tableau=pde.RODAS5P, rtol=1e-2, atol=1e-2, max_steps=300, report=True
        )  # fmt: skip
        return found.ok, found.steps, found.stats["rejected"]

    with xc.enable_x64():
        ok, steps, rejected = map(np.asarray, xc.jit(xc.vmap(run))(xnp.linspace(0.05, 2.9, 200)))
    far = steps > 50
    assert far.any() and (rejected[far] > 0).all() and not ok[far].any()
