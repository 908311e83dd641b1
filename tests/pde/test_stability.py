"""Runs that leave the finite numbers say so, and when; the longest stable step is found from f."""

import warnings

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.pde import Grid, Laplacian, Periodic, Status

N = 24
LAP = Laplacian(Grid(N))
RADIUS = float(-LAP.eigenvalues()[0])
TABLEAUS = [name for name in pde.__all__ if isinstance(getattr(pde, name), pde.Tableau)]
START = np.sin(1.0 + np.arange(N - 1) ** 2).astype(np.float32)


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e10])
@pytest.mark.parametrize("name", TABLEAUS)
def test_longest_steps_for_heat_are_those_of_the_tables(name, scale):
    tableau = getattr(pde, name)
    found = pde.stable_step(pde.RungeKutta(lambda u, t: scale * LAP(u), tableau), u=START)
    assert np.isclose(found, tableau.real / (scale * RADIUS), rtol=0.02)


@pytest.mark.parametrize("name", TABLEAUS)
def test_longest_steps_for_waves_are_those_on_the_imaginary_axis(name):
    """Advection by centred differences, and Schrödinger's equation: no step of some methods is stable."""
    tableau = getattr(pde, name)
    ring = pde.Advection(Grid(N), 1.0, Periodic(), 2, "centred")
    cases = [(lambda u, t: -ring(u), START[0] * np.ones(N, np.float32), N),
             (lambda u, t: 1j * LAP(u), START.astype(np.complex64), RADIUS)]  # fmt: skip
    for f, u, radius in cases:
        found = pde.stable_step(pde.RungeKutta(f, tableau), u=u)
        known = {"SSP3": 3**0.5, "BOGACKI_SHAMPINE": 3**0.5, "RK4": 8**0.5}.get(name)
        if name in ("EULER", "MIDPOINT", "HEUN"):
            assert found == 0
        elif known:
            assert np.isclose(found, known / radius, rtol=0.03)


def test_the_estimate_is_the_border_of_what_stays_bounded():
    f = lambda u, t: {"a": LAP(u["a"]) - u["a"] ** 3, "b": 3j * LAP(u["b"])}
    u = {"a": START, "b": START.astype(np.complex64)}
    step = pde.RungeKutta(f)
    longest = pde.stable_step(step, u=u)
    for factor, fine in ((0.95, True), (1.2, False)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            end = pde.trajectory(step, u, factor * longest, 2000, every=2000)
        assert np.all(np.isfinite(end["b"])) == fine


def test_a_run_that_leaves_the_finite_numbers_warns_with_the_time_and_a_step():
    step = pde.RungeKutta(lambda u, t: LAP(u))
    with pytest.warns(
        RuntimeWarning, match=r"after t = .* and by t = .*longest stable one is about"
    ) as told:
        kept = pde.trajectory(step, START, 0.01, 60, every=2, t0=5.0)
    last = int(np.isfinite(np.asarray(kept)).all(axis=1).sum())
    assert f"after t = {5 + 0.02 * last:.6g} and by t = {5 + 0.02 * (last + 1):.6g}." in str(
        told[0].message
    )
    with pytest.warns(RuntimeWarning, match=r"by t = 5.6\."):
        pde.trajectory(step, START, 0.01, 60, every=2, t0=5.0, save=lambda u, t: t)
    with pytest.warns(RuntimeWarning, match="RK4 or SSP3"):
        pde.trajectory(pde.RungeKutta(lambda u, t: 1j * LAP(u), pde.EULER), START + 0j, 1.0, 20)
    report = pde.trajectory(step, START, 0.01, 60, every=2, t0=5.0, report=True)
    assert not report.ok and np.isclose(report.left, 5 + 0.02 * (last + 1))
    assert f"from t = {5 + 0.02 * (last + 1):.6g} on" in report.message


def test_reports_of_lanes():
    """Each lane has its own time, under jit too; those that stay finite say so."""

    def run(dt):
        return pde.trajectory(
            pde.RungeKutta(lambda u, t: LAP(u)), START, dt, 40, save=lambda u, t: t, report=True
        )

    dts = xnp.asarray([1e-4, 0.01, 0.1])
    found = xc.jit(xc.vmap(run))(dts)
    assert found.ok.tolist() == [True, False, False] and np.isinf(found.left[0])
    for dt, left in zip(dts[1:], found.left[1:], strict=True):
        assert np.isclose(run(dt).left, left) and left > dt
    grow = lambda x: pde.trajectory(pde.RungeKutta(lambda u, t: u), x, 0.1, 2, report=True).value[
        -1
    ]
    assert np.isclose(xc.grad(grow)(1.0), grow(1.0))


SHORT, MANY = "shorter than rounding", "limit of steps"
ENDINGS = {
    "a pole": (lambda u, t: u * u, {}, Status.stagnation, SHORT, 2),
    "stiff": (lambda u, t: -1e6 * u, {"max_steps": 50}, Status.max_steps, MANY, 1),
    "no number": (lambda u, t: xnp.where(t > 1, np.nan, u), {}, Status.stagnation, SHORT, 2),
}


@pytest.mark.parametrize("scale", [1.0, 1e-20, 1e20])
@pytest.mark.parametrize("name", ENDINGS)
def test_adaptive_steps_that_end_early_say_why(name, scale):
    """In any unit of time."""
    f, options, status, words, first = ENDINGS[name]
    run = lambda u: pde.integrate(
        lambda u, t: f(u, t / scale) / scale, u, scale * np.array([0.0, 0.5, 2.0, 3.0]),
        report=True, **options,
    )  # fmt: skip
    found = run(1.0)
    assert found.status == status.value and np.isclose(found.left, scale * [0, 0.5, 2][first])
    assert np.isfinite(found.value[:first]).all() and np.isnan(found.value[first:]).all()
    assert xc.jit(run)(1.0).status == status.value
    with pytest.warns(RuntimeWarning, match=f"from t = .* on are NaN: .*{words}"):
        pde.integrate(f, 1.0, [0.0, 0.5, 2.0, 3.0], **options)


def test_lanes_of_adaptive_steps_end_alone():
    run = lambda u: pde.integrate(lambda u, t: u * u, u, [0.0, 0.5, 2.0], report=True)
    found = xc.vmap(run)(xnp.asarray([1.0, 0.1, np.nan, 3.0]))
    assert found.left.tolist() == [2.0, np.inf, 0.0, 0.5]
    assert found.ok.tolist() == [False, True, False, False]
    assert np.isclose(found.value[1, 2], 0.1 / 0.8, rtol=1e-4)


class _Lazy:
    """A stepper that does not solve its systems from t = 0.25 on."""

    def attempt(self, u, t, dt):
        return u, xnp.where(t < 0.25, 0, Status.stagnation.value).astype(np.int32)

    def step(self, u, t, dt):
        return self.attempt(u, t, dt)[0]


@pytest.mark.parametrize("in_parts", [False, True])
def test_linear_systems_of_steps_that_are_not_solved_are_told(in_parts, tmp_path):
    options = {"every": 2, "checkpoint": tmp_path if in_parts else None}
    with pytest.warns(
        RuntimeWarning, match="linear system of a step was not solved: no step improves"
    ):
        pde.trajectory(_Lazy(), 1.0, 0.1, 10, **options)
    found = pde.trajectory(_Lazy(), 1.0, 0.1, 10, every=2, report=True)
    assert found.status == Status.stagnation.value and np.isclose(found.unsolved, 0.4)
    assert "before t = 0.4" in found.message and np.isinf(found.left)


@pytest.mark.parametrize("spread", [0.0, 5.0, 40.0])
@pytest.mark.parametrize("theta", [0.5, 1.0])
def test_implicit_steps_claim_what_their_residual_shows(theta, spread):
    """Up to coefficients whose range is beyond that of single precision's digits."""
    rng = np.random.default_rng(0)
    op = pde.Diffusion(Grid((16, 16)), np.exp(spread * rng.choice([-1.0, 1.0], (17, 17))))
    u = rng.normal(size=(15, 15)).astype(np.float32)
    got, status = pde.ThetaMethod(op, theta=theta).attempt(u, 0.0, 1.0)
    matrix = op.as_sparse().astype(float)
    x, old = (np.asarray(v, float).ravel() for v in (got, u))
    right = old + (1 - theta) * (matrix @ old)
    left = np.linalg.norm(x - theta * (matrix @ x) - right)
    rounding = np.linalg.norm(abs(matrix) @ abs(x)) + np.linalg.norm(abs(matrix) @ abs(old))
    assert status != 0 or left <= 3e-5 * np.linalg.norm(right) + 5e-7 * rounding
    assert spread > 5 or status == 0


def test_errors():
    with pytest.raises(ValueError, match="a state to estimate the step at"):
        pde.stable_step(pde.RungeKutta(lambda u, t: -u))


def test_finite_numbers_of_steps_that_are_too_long_are_no_success():
    """Before it leaves the finite numbers a run that falls apart is as wrong; what grows by itself is none of it."""
    lap = pde.Laplacian(pde.Grid(16))
    u, heat = (
        xnp.asarray(np.sin(np.arange(1.0, 16) ** 2)),
        pde.RungeKutta(lambda u, t: lap(u), pde.RK4),
    )
    run = lambda part, steps: pde.trajectory(heat, u, part * 2.785 / 4 / 16**2, steps, report=True)
    assert run(0.95, 40).ok and run(1.3, 1).ok
    found = run(1.3, 40)
    assert np.isfinite(np.asarray(found.value)).all() and found.status == pde.Status.breakdown
    assert "grew a hundredfold" in found.message and np.isclose(
        found.stable, 2.785 / 4 / 16**2, rtol=0.1
    )
    with pytest.warns(RuntimeWarning, match="steps are too long"):
        pde.trajectory(heat, u, 1.3 * 2.785 / 4 / 16**2, 40)
    growth = pde.RungeKutta(lambda u, t: 5 * u, pde.RK4)
    assert pde.trajectory(growth, u, 0.5, 10, report=True).ok
    swing = pde.RungeKutta(lambda u, t: xnp.stack([u[1], -u[0]]), pde.EULER)
    found = pde.trajectory(swing, xnp.asarray([1.0, 0.0]), 1.0, 20, report=True)
    assert not found.ok and "no step of this method is stable" in found.message
