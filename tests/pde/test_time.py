"""Time: order of each method, laws of conservation, stability limits, derivatives."""

import functools

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.pde import Dirichlet, Grid, Laplacian, Neumann
from xcore.pde._events import within
from xcore.testing import check_grads

rng = np.random.default_rng(0)
TABLEAUX = [name for name in pde.__all__ if isinstance(getattr(pde, name), pde.Tableau)]


@functools.cache
def forests(nodes: int, most: int) -> list:
    """Rooted trees with so many nodes in all, none with more than ``most``, as tuples of trees."""
    if not nodes:
        return [()]
    found = []
    for first in range(min(nodes, most), 0, -1):
        for tree in forests(first - 1, first - 1):
            found += [(tree, *others) for others in forests(nodes - first, first)]
    return list({tuple(sorted(f)): f for f in found})


def weights_of(tree, a) -> tuple:
    """(its elementary weights in each stage, its nodes, its density). (Butcher 1963)"""
    stage, nodes, density = np.ones(len(a)), 1, 1
    for child in tree:
        inner, n, d = weights_of(child, a)
        stage, nodes, density = stage * (a @ inner), nodes + n, density * d
    return stage, nodes, nodes * density


def conditions(a, order):
    """(elementary weights, order, density) of all trees of up to so many nodes."""
    return [weights_of(tree, a) for n in range(1, order + 1) for tree in forests(n - 1, n - 1)]


def matrix(tableau):
    rows = ((), *tableau.a, *tableau.more)
    return np.array([[*row, *[0.0] * (len(rows) - len(row))] for row in rows])


def test_as_many_trees_as_are_known():
    assert [len(forests(n - 1, n - 1)) for n in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]


@pytest.mark.parametrize("name", TABLEAUX)
def test_tableaux_fulfil_the_order_conditions(name):
    t = getattr(pde, name)
    s = len(t.b)
    a, b = matrix(t)[:s, :s], np.array(t.b)
    assert np.allclose(t.c, a.sum(axis=1), atol=1e-15)
    for stage, _, density in conditions(a, t.order):
        assert abs(b @ stage - 1 / density) < 1e-13
    beyond = [abs(b @ stage - 1 / d) for stage, n, d in conditions(a, t.order + 1) if n > t.order]
    assert max(beyond) > 1e-8
    for row, least in ((t.error, {8: 5}.get(t.order, t.order - 1)), (t.coarse, 3)):
        for stage, _, _ in conditions(a, least) if row else []:
            assert abs(np.array(row) @ stage) < 1e-13
    # the region of stability: |R(z)| <= 1 up to the stated ends, and not far beyond
    r = lambda z: 1 + z * (b @ np.linalg.solve(np.eye(s) - z * a, np.ones(s)))
    assert abs(r(-t.real)) < 1 + 1e-3 and abs(r(-1.02 * t.real)) > 1
    assert abs(r(1j * t.imaginary)) < 1 + 1e-3


@pytest.mark.parametrize("kind", [list, np.array])
@pytest.mark.parametrize("name", ["HEUN", "BOGACKI_SHAMPINE"])
def test_coefficients_in_lists_and_arrays(name, kind):
    known = getattr(pde, name)
    given = pde.Tableau(
        [kind(row) for row in known.a], kind(known.b), kind(known.error), known.order
    )
    decay = lambda u, t: -u
    runs = (
        lambda t: pde.trajectory(pde.RungeKutta(decay, t), 1.0, 0.1, 10),
        lambda t: pde.integrate(decay, 1.0, [0.0, 1.0], tableau=t),
        lambda t: pde.integrate(decay, 1.0, [0.0, 1.0], tableau=t, max_step=0.2),
    )
    for run in runs:
        np.testing.assert_allclose(run(given), run(known), rtol=1e-6)


@pytest.mark.parametrize(
    "name, order", [("BOGACKI_SHAMPINE", 3), ("DORMAND_PRINCE", 4), ("DOP853", 7)]
)
def test_between_the_ends_of_a_step_the_order_is_that_of_the_continuation(name, order):
    t = getattr(pde, name)
    a, slopes = matrix(t), np.eye(len(t.b) + len(t.more))
    rise = np.array([*t.b, *[0.0] * len(t.more)])
    first, last = slopes[0], slopes[len(t.b) - 1]
    bends = np.zeros((1, len(rise))) if not t.powers else np.array(t.powers)
    piece = (0.0, rise, first - rise, 2 * rise - first - last + bends[0], *bends[1:])
    for part in (0.1, 0.35, 0.5, 0.8):
        weights = within(piece, part)
        for stage, nodes, density in conditions(a, order):
            assert abs(weights @ stage - part**nodes / density) < 1e-13


@pytest.mark.parametrize("x64, rtol", [(True, 1e-6), (True, 1e-12), (False, 1e-5)])
@pytest.mark.parametrize("extra", [{}, {"max_step": 1.0}, {"events": lambda u, t: u["x"]}])
def test_order_eight_keeps_what_was_asked_of_an_orbit(x64, rtol, extra):
    """Kepler's, with eccentricity 0.5, whose place is known by his equation; complex numbers beside it."""
    with xc.enable_x64(x64):
        times = xnp.linspace(0.0, 9.0, 14)

        def orbit(start):
            return pde.integrate(
                lambda u, t: {"x": u["v"].real, "y": u["v"].imag, "v": -(u["x"] + 1j * u["y"]) / xnp.hypot(u["x"], u["y"]) ** 3},
                {"x": start, "y": 0 * start, "v": 1j * xnp.sqrt(3.0 + 0 * start)},
                times, tableau=pde.DOP853, rtol=rtol, atol=rtol, report=True, **extra,
            )  # fmt: skip

        found = orbit(xnp.asarray(0.5))
        anomaly = np.array(times, float)
        for _ in range(60):
            anomaly -= (anomaly - 0.5 * np.sin(anomaly) - np.asarray(times, float)) / (
                1 - 0.5 * np.cos(anomaly)
            )
        assert found.ok
        np.testing.assert_allclose(
            found.value["x"], np.cos(anomaly) - 0.5, atol=max(100 * rtol, 2e-4 * (not x64))
        )
        if "events" in extra:
            crossings = np.arccos(0.5) - 0.5 * np.sin(np.arccos(0.5))
            at = np.sort(
                np.concatenate([2 * np.pi * k + np.array([crossings, -crossings]) for k in (0, 1)])
            )[1:]
            np.testing.assert_allclose(
                found.t_events[0][:3], at[at < 9][:3], atol=max(100 * rtol, 2e-4)
            )
        if rtol != 1e-6:
            return
        both = xc.jit(xc.vmap(lambda s: orbit(s).value["x"][-1]))(xnp.asarray([0.5, 0.6]))
        np.testing.assert_allclose(both[0], found.value["x"][-1], rtol=max(1e-8, 10 * rtol))
        check_grads(lambda s: orbit(s).value["y"][-1], (xnp.asarray(0.5),), order=1, rtol=0.05)


@pytest.mark.parametrize("theta, order", [(0.5, 2), (1.0, 1)])
def test_heat_decays_at_the_right_rate(theta, order):
    with xc.enable_x64():
        lap = Laplacian(Grid((10, 8)))
        x, y = lap.points()
        u = xnp.sin(np.pi * x) * xnp.sin(2 * np.pi * y)
        rate = float(lap(u)[2, 1] / u[2, 1])
        errors = []
        for n in (8, 16):
            last = pde.trajectory(pde.ThetaMethod(lap, theta=theta), u, 0.02 / n, n, every=n)[-1]
            errors.append(abs(float(last[2, 1] / u[2, 1]) - np.exp(0.02 * rate)))
        assert abs(np.log2(errors[0] / errors[1]) - order) < 0.15
        exact = pde.ExponentialIntegrator(lap).step(u, 0.0, 0.02)
        assert np.allclose(exact, np.exp(0.02 * rate) * u, atol=1e-13)


def test_steady_state_and_maximum_principle():
    with xc.enable_x64():
        lap = Laplacian(Grid((8, 8)), [(Dirichlet(1.0), Neumann()), Dirichlet(0.5)])
        u = lap.field(0.0)
        kept = pde.trajectory(pde.ThetaMethod(lap, theta=1.0), u, 0.05, 60)
        assert np.allclose(kept[-1], pde.poisson(0.0, lap.grid, lap.faces), atol=1e-9)
        assert kept.min() >= 0 and kept.max() <= 1
        jump = pde.ExponentialIntegrator(lap).step(u, 0.0, 50.0)
        assert np.allclose(jump, kept[-1], atol=1e-9)


@pytest.mark.parametrize("faces", [[(Dirichlet(1.0), Neumann(0.5)), Dirichlet(0.5)], Neumann()])
def test_many_steps_at_once_are_the_steps(faces):
    with xc.enable_x64():
        lap = Laplacian(Grid((6, 5)), faces)
        stepper, u = pde.ThetaMethod(lap, 2.0), rng.standard_normal(lap.field_shape)
        each = pde.trajectory(stepper, u, 0.03, 10)  # saves all, so takes them one by one
        for every in (5, 10):
            at_once = pde.trajectory(stepper, u, 0.03, 10, every=every)
            assert np.allclose(at_once, each[every - 1 :: every], atol=1e-12)
        end = lambda dt, every: pde.trajectory(stepper, u, dt, 4, every=every)[-1].sum()
        slopes = [xc.grad(end)(0.03, every) for every in (1, 4)]
        assert np.allclose(*slopes, rtol=1e-12)


def test_implicit_steps_with_varying_coefficients():
    with xc.enable_x64():
        op = pde.Diffusion(
            Grid((7, 6)), lambda x, y: 1 + x, [(Dirichlet(1.0), Neumann()), Neumann()]
        )
        u = rng.standard_normal(op.field_shape)
        got = np.ravel(pde.ThetaMethod(op).step(u, 0.0, 0.1))
        a, one = np.asarray(op.as_matrix(np.float64)), np.eye(op.shape[0])
        right = (one + 0.05 * a) @ u.ravel() + 0.1 * np.ravel(op.boundary())
        assert np.allclose(got, np.linalg.solve(one - 0.05 * a, right), atol=1e-8)


def test_mass_is_kept_without_flow():
    with xc.enable_x64():
        lap = Laplacian(Grid((6, 5)), Neumann())
        u = rng.standard_normal(lap.field_shape)
        later = pde.trajectory(pde.ThetaMethod(lap), u, 0.1, 5)[-1]
        assert np.isclose(lap.integrate(later), lap.integrate(u), atol=1e-12)


def test_waves_keep_their_energy():
    with xc.enable_x64():
        lap = Laplacian(Grid((10, 9)))
        state = tuple(rng.standard_normal((2, *lap.field_shape)))
        energy = lambda s, t: pde.wave_energy(lap, s)
        first = float(pde.wave_energy(lap, state))
        newmark = pde.trajectory(pde.Newmark(lap), state, 0.3, 20, save=energy)
        assert np.allclose(newmark, first, rtol=1e-12)
        dt = 0.5 * pde.stable_step(pde.Leapfrog(lap))
        leapfrog = pde.trajectory(pde.Leapfrog(lap), state, dt, 200, save=energy)
        assert np.abs(leapfrog / first - 1).max() < 0.15


@pytest.mark.parametrize("method", [pde.Leapfrog, pde.Newmark])
def test_waves_have_second_order(method):
    with xc.enable_x64():
        lap = Laplacian(Grid(12))
        u = np.sin(np.pi * lap.points()[0])
        w = np.sqrt(-float(lap(u)[0] / u[0]))
        errors = []
        for n in (16, 32):
            end = pde.trajectory(method(lap), (u, 0 * u), 0.7 / n, n, every=n)[0][-1]
            errors.append(float(abs(end - np.cos(0.7 * w) * u).max()))
        assert abs(np.log2(errors[0] / errors[1]) - 2) < 0.1


def test_imex_has_second_order():
    with xc.enable_x64():
        lap = Laplacian(Grid(8))
        u = 0.5 * np.sin(np.pi * lap.points()[0])
        f = lambda u, t: 3 * u * (1 - u)
        exact = pde.integrate(lambda u, t: lap(u) + f(u, t), u, [0.0, 0.2], rtol=1e-11, atol=1e-12)[
            -1
        ]
        errors = []
        for n in (8, 16):
            errors.append(
                float(
                    abs(pde.trajectory(pde.IMEX(lap, f), u, 0.2 / n, n, every=n)[-1] - exact).max()
                )
            )
        assert abs(np.log2(errors[0] / errors[1]) - 2) < 0.25


def test_adaptive_steps_meet_the_tolerance():
    with xc.enable_x64():
        times = np.linspace(0, 6, 4)
        spin = lambda u, t: {"x": u["y"], "y": -u["x"]}
        got = pde.integrate(spin, {"x": 1.0, "y": 0.0}, times, rtol=1e-9, atol=1e-12)
        assert np.allclose(got["x"], np.cos(times), atol=1e-7)
    with pytest.raises(ValueError, match="error estimate"):
        pde.integrate(spin, 1.0, times, tableau=pde.RK4)


def test_unstable_steps_are_refused_with_the_limit():
    lap = Laplacian(Grid((10, 10)))
    u = lap.field(1.0)
    heat = pde.RungeKutta(lambda u, t: lap(u), pde.EULER)
    limit = pde.stable_step(heat, lap)
    assert np.isclose(limit, 2 / 800 / np.cos(np.pi / 20) ** 2, rtol=1e-6)
    with pytest.raises(pde.UnstableStepError, match=f"{limit:.6g}"):
        pde.trajectory(heat, u, 0.01, 4, op=lap)
    with pytest.raises(pde.UnstableStepError, match="longest stable step"):
        pde.trajectory(pde.ThetaMethod(lap, theta=0.0), u, 0.01, 4)
    with pytest.raises(pde.UnstableStepError, match="Leapfrog"):
        pde.trajectory(pde.Leapfrog(lap), (u, u), 0.1, 4)
    with pytest.raises(ValueError, match="multiple of every"):
        pde.trajectory(heat, u, 0.001, 4, every=3)
    with pytest.raises(ValueError, match="from 0 to 1"):
        pde.ThetaMethod(lap, theta=2.0)


def test_derivatives_through_time():
    grid = Grid((5, 4), upper=5.0)
    lap = Laplacian(grid)

    def later(u, edge):
        lap = Laplacian(grid, Dirichlet(edge))
        return pde.trajectory(pde.ThetaMethod(lap), u, 0.1, 3)

    check_grads(later, (rng.standard_normal(lap.field_shape), np.float64(0.5)), order=1)


def test_derivative_by_the_length_of_steps():
    """Against the complex step through dense matrices, exact to rounding: a step's rational
    function of dt changes within 2 / |λ| = 0.01 here, where central differences with the step
    that suits rounding (7e-4) are off by (h λ / 2)⁴, 1e-5."""
    with xc.enable_x64():
        lap = Laplacian(Grid((5, 4)), Dirichlet(0.5))
        u = rng.standard_normal(lap.field_shape)
        a, b = lap.as_sparse().toarray(), np.ravel(lap.boundary())

        def dense(dt):
            v, one, kept = u.ravel(), np.eye(len(b)), []
            for _ in range(3):
                v = np.linalg.solve(one - dt / 2 * a, v + dt / 2 * (a @ v) + dt * b)
                kept.append(v)
            return np.array(kept)

        ours = lambda dt: pde.trajectory(pde.ThetaMethod(lap), u, dt, 3).reshape(3, -1)
        want = dense(0.1 + 1e-30j).imag / 1e-30
        out, pull = xc.vjp(ours, 0.1)
        weights = rng.standard_normal(want.shape)
        assert np.allclose(out, dense(0.1), atol=1e-13)
        assert np.allclose(xc.jvp(ours, (0.1,), (1.0,))[1], want, atol=1e-12)
        assert np.isclose(pull(weights)[0], np.sum(weights * want), rtol=1e-12)


# Data that change, and checkpoints


@pytest.mark.parametrize("method", ["theta", "imex"])
def test_data_on_the_faces_may_change(method):
    """u = exp(-t) cos x solves u_t = u_xx with edges that fall, exp(-2t) cos x u_t = u_xx - u."""
    with xc.enable_x64():
        grid, rate = Grid(40), 1 if method == "theta" else 2
        exact = lambda x, t: xnp.exp(-rate * t) * xnp.cos(x)
        op = lambda t: Laplacian(grid, Dirichlet(lambda x: exact(x, t)), 4)
        stepper = pde.ThetaMethod(op) if method == "theta" else pde.IMEX(op, lambda u, t: -u)
        (x,) = op(0.0).points()
        errors = []
        for n in (16, 32):
            end = pde.trajectory(stepper, exact(x, 0.0), 1.0 / n, n, every=n)[-1]
            errors.append(float(abs(end - exact(x, 1.0)).max()))
        # IMEX comes down to 2 from above: 2.33, 2.27, 2.19 for 8 to 64 steps
        assert -0.1 < np.log2(errors[0] / errors[1]) - 2 < 0.35, errors


def test_advection_and_diffusion_have_second_order():
    """A travelling, fading wave on a ring: u = exp(-κ k² t) sin k (x - v t), k = 2 π."""
    with xc.enable_x64():
        kappa, v, k = 0.01, 1.0, 2 * np.pi
        exact = lambda x, t: np.exp(-kappa * k**2 * t) * np.sin(k * (x - v * t))
        errors = []
        for n in (32, 64):
            grid = Grid(n)
            spread = pde.Diffusion(grid, kappa, pde.Periodic())
            carry = pde.Advection(grid, v, pde.Periodic(), scheme="centred")
            f = lambda u, t, spread=spread, carry=carry: spread(u) - carry(u)
            x = np.asarray(carry.points()[0])
            end = pde.trajectory(pde.RungeKutta(f, pde.SSP3), exact(x, 0), 0.4 / n, n, every=n)[-1]
            errors.append(float(abs(end - exact(x, 0.4)).max()))
        assert abs(np.log2(errors[0] / errors[1]) - 2) < 0.2, errors


def test_runs_go_on_from_the_disk(tmp_path, capsys):
    with xc.enable_x64():
        spin = pde.RungeKutta(lambda u, t: {"x": u["y"], "y": -u["x"] + 0 * t}, pde.RK4)
        first, whole = {"x": 1.0, "y": 0.0}, (spin, {"x": 1.0, "y": 0.0}, 0.1, 12)
        straight = pde.trajectory(*whole, every=2, progress="turns")
        assert "turns" in capsys.readouterr().err
        parts = pde.trajectory(*whole, every=2, checkpoint=tmp_path, parts=3)
        assert all(np.array_equal(parts[k], straight[k]) for k in "xy")
        # a run that was cut off: its last part is missing, and the first is believed as it stands
        xc.checkpoint.save(tmp_path / "0", xc.checkpoint.restore(tmp_path / "0"))
        (tmp_path / "2").rename(tmp_path / "away")
        with pytest.raises(ValueError, match="of the same run"):
            pde.trajectory(*whole, every=2, checkpoint=tmp_path, parts=3)
        (tmp_path / "0").rename(tmp_path / "spoiled")
        again = pde.trajectory(*whole, every=2, checkpoint=tmp_path, parts=3)
        assert all(np.array_equal(again[k], straight[k]) for k in "xy")
        assert sorted(p.name for p in tmp_path.iterdir() if p.name.isdigit()) == ["0", "1", "2"]
        with pytest.raises(ValueError, match="None inside of jit"):
            xc.jit(lambda x: pde.trajectory(spin, first | {"x": x}, 0.1, 2, checkpoint=tmp_path))(
                1.0
            )


# Bad input

LAP = Laplacian(Grid(6))
GROW = pde.RungeKutta(lambda u, t: u, pde.EULER)
WRONG = {
    "dt must be positive and finite": [
        *[lambda dt=dt: pde.trajectory(pde.ThetaMethod(LAP), np.ones(5), dt, 2)
          for dt in (0.0, -0.1, np.nan, np.inf, xnp.zeros(()))],
        lambda: pde.trajectory(GROW, 1.0, -0.1, 2),
    ],
    "t_eval must be": [
        lambda times=times: pde.integrate(lambda u, t: u, 1.0, times)
        for times in ([0.0, 1.0, 0.5], [0.0, 1.0, 1.0], [0.0, np.nan], 1.0, [])
    ],
    "both 0": [lambda: pde.integrate(lambda u, t: u, 1.0, [0.0, 1.0], rtol=0, atol=0)],
    "not negative": [lambda: pde.integrate(lambda u, t: u, 1.0, [0.0, 1.0], rtol=-1.0)],
    "first_step must be": [lambda: pde.integrate(lambda u, t: u, 1.0, [0.0, 1.0], first_step=0.0)],
    "stepper must be": [lambda: pde.trajectory(None, 1.0, 0.1, 2)],
    "a pair": [lambda: pde.trajectory(pde.Leapfrog(LAP), np.ones(5), 0.01, 2)],
    "stand still": [lambda: pde.Newmark(lambda t: LAP).step((np.ones(5), np.ones(5)), 0.0, 0.1)],
    "a field to a field": [lambda: pde.ExponentialIntegrator(pde.Gradient(Grid(6))).step(1.0, 0.0, 0.1)],
    "f must be a function": [lambda: pde.IMEX(LAP, 2.0).step(np.ones(5), 0.0, 0.1)],
    "function of the time": [
        lambda op=op: pde.ThetaMethod(op).step(np.ones(5), 0.0, 0.1) for op in (None, lambda x, y: x)
    ],
    "of .state, time., in this order": [
        lambda: pde.IMEX(LAP, lambda t, u: u), lambda: pde.Event(lambda t, u: u),
        lambda: pde.Event(lambda u, t: u, jump=lambda t, u: u),
    ],
    "direction must be -1, 0 or 1": [lambda: pde.Event(lambda u, t: u, direction=2)],
    "atol must be": [
        lambda atol=atol: pde.integrate(lambda u, t: u, np.ones(3), [0.0, 1.0], atol=atol)
        for atol in (np.ones(2), [1.0, 1.0], np.ones((1, 3)))
    ],
    "takes a field to a field": [lambda: pde.wave_energy((np.ones(5), np.ones(5)), LAP)],
    "eigenvalues are real": [lambda: pde.stable_step(GROW, pde.Advection(Grid(6)))],
}  # fmt: skip


@pytest.mark.parametrize("words", WRONG)
def test_what_is_wrong_with_a_run_is_said(words):
    for call in WRONG[words]:
        with pytest.raises(ValueError, match=words):
            call()


def test_limits_of_other_operators_and_of_coefficients_that_come_later():
    radius = lambda op: float(abs(np.linalg.eigvals(op.as_matrix())).max())
    stencil = pde.Stencil(Grid(6), lambda u: 36 * (u[1] - 2 * u[0] + u[-1]))
    for op in (pde.Helmholtz(Grid(6), lambda x: -9 * x), stencil):
        limit = pde.stable_step(GROW, op)
        assert 0.9 * 2 / radius(op) < limit <= 2 / radius(op)
    op = lambda a: pde.Diffusion(Grid(6), a)
    end = lambda a: pde.trajectory(pde.Leapfrog(op(a)), (np.ones(5, np.float32),) * 2, 0.01, 2)[0]
    assert np.allclose(xc.jit(end)(1.5), end(1.5), atol=1e-5)


def explicit(kept, every, steps=60):
    """A nonlinear heat equation by pde.RK4, as a function of its state and a coefficient."""
    lap = Laplacian(Grid(9))

    def loss(u, k):
        stepper = pde.RungeKutta(lambda u, t: k * lap(u) - u**3 + t, pde.EULER)
        states = pde.trajectory(stepper, u, 1e-3, steps, every=every, checkpoints=kept)
        return (states[-1] ** 2).sum() + states.sum() / len(states)

    return loss


@pytest.mark.parametrize("every", [60, 6])
def test_derivatives_with_few_states_are_those_with_all(every):
    with xc.enable_x64():
        u = rng.standard_normal(8)
        want = xc.grad(explicit(None, every), argnums=(0, 1))(u, 1.0)
        for kept in (20,):
            found = xc.grad(explicit(kept, every), argnums=(0, 1))(u, 1.0)
            assert all(np.allclose(a, b, rtol=1e-10) for a, b in zip(found, want, strict=True))


def test_memory_of_derivatives_is_that_of_the_states_that_are_kept():
    """8000 steps of pde.RK4 with 127² unknowns take 18 GB with all of them."""
    with xc.enable_x64():
        lap = Laplacian(Grid((128, 128)))

        def loss(u, every):
            stepper = pde.RungeKutta(lambda u, t: lap(u) - u**3, pde.RK4)
            return (
                pde.trajectory(stepper, u, 1e-5, 8000, every=every, checkpoints=60)[-1] ** 2
            ).sum()

        u = xnp.zeros(lap.field_shape)
        plan = xc.jit(xc.grad(loss), static_argnums=1).lower(u, 400).compile().memory_analysis()
        assert plan.temp_size_in_bytes < 100e6


def test_adaptive_steps_with_few_states():
    with xc.enable_x64():
        f = lambda u, t: -5 * u**3 + xnp.sin(9 * t)
        times = xnp.linspace(0.0, 2.0, 9)

        def loss(u, kept):
            return (pde.integrate(f, u, times, rtol=1e-6, checkpoints=kept) ** 2).sum()

        u = xnp.asarray([1.0, -0.5])
        want = xc.grad(loss)(u, None)
        assert all(np.allclose(xc.grad(loss)(u, kept), want, rtol=1e-9) for kept in (5,))
        with pytest.raises(ValueError, match="2 or more"):
            pde.integrate(f, u, times, checkpoints=1)
        with pytest.raises(ValueError, match="2 or more"):
            pde.trajectory(pde.RungeKutta(f, pde.RK4), u, 0.1, 3, checkpoints=True)


def test_imex_without_an_explicit_part_is_crank_nicolson():
    lap, u = pde.Laplacian(pde.Grid(8)), xnp.ones(7)
    alone, zero = pde.IMEX(lap), pde.IMEX(lap, lambda u, t: 0 * u)
    found = [pde.trajectory(s, u, 0.01, 5) for s in (alone, zero)]
    np.testing.assert_array_equal(*found)
    with pytest.raises(ValueError, match="function of u and t"):
        pde.trajectory(pde.IMEX(lap, 2.0), u, 0.01, 5)
