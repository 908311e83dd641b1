"""Sound: orders beside standing waves, what comes back from edges and jumps, energy, equality with ``Wave``."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.pde import AcousticWave, Grid, Points, Wave


@pytest.mark.parametrize("order", [2, 4, 8])
def test_standing_waves_have_the_order_asked_for(order):
    """p = sin πx cos πct between walls, and v = -cos πx sin πct / ρc half a step earlier."""
    errors = []
    c, rho, until = 2.0, 3.0, 0.2
    with xc.enable_x64():
        for n in (10, 20):
            wave = AcousticWave(Grid(n), c, rho, layer=0, order=order)
            x = np.linspace(0, 1, n + 1)
            dt = 1e-3 if order < 8 else 1e-4
            steps = round(until / dt)
            start = wave.start(np.sin(np.pi * x), dt=dt)
            end = pde.trajectory(wave, start, dt, steps, every=steps)
            omega = 2 / dt * np.arcsin(np.pi * c * dt / 2)  # of the mode in steps of the leapfrog
            between = (x[1:] + x[:-1]) / 2
            v = -np.cos(np.pi * between) * np.sin(omega * (until - dt / 2)) / (rho * c)
            errors.append(max(
                abs(np.asarray(end["p"][0]) - np.sin(np.pi * x) * np.cos(omega * until)).max(),
                rho * c * abs(np.asarray(end["v"][0][0]) - v).max(),
            ))  # fmt: skip
    assert np.log2(errors[0] / errors[1]) > order - 0.3


def test_order_in_time_is_two():
    with xc.enable_x64():
        x, errors = np.linspace(0, 1, 41), []
        for steps in (40, 80):
            wave, dt = AcousticWave(Grid(40), 1.0, layer=0, order=8), 0.7 / steps
            end = pde.trajectory(wave, wave.start(np.sin(np.pi * x), dt=dt), dt, steps, every=steps)
            errors.append(
                abs(np.asarray(end["p"][0]) - np.sin(np.pi * x) * np.cos(0.7 * np.pi)).max()
            )
    assert 1.9 < np.log2(errors[0] / errors[1]) < 2.1


def test_with_constant_density_it_is_the_wave_of_second_order():
    """In the layers too: for s = ρ (q(t + dt/2) - q(t - dt/2)) / dt, and for one that begins in the box."""
    grid, dt, rho = Grid((20, 17)), 0.015, 2.5
    rng = np.random.default_rng(0)
    q = lambda t: xnp.exp(-(((t - 0.4) / 0.05) ** 2))
    s = lambda t: rho * (q(t + dt / 2) - q(t - dt / 2)) / dt
    with xc.enable_x64():
        speed = 1 + 0.5 * rng.random(grid.shape)
        source = Points(grid, [[0.31, 0.42]])
        x, y = np.meshgrid(np.linspace(0, 1, 21), np.linspace(0, 1, 18), indexing="ij")
        bump = (
            np.exp(-200 * ((x - 0.5) ** 2 + (y - 0.5) ** 2))
            * (abs(x - 0.5) < 0.3)
            * (abs(y - 0.5) < 0.3)
        )
        layer = ((6, 0), (5, 7))
        first = AcousticWave(grid, speed, rho, source, q, layer=layer)
        second = Wave(grid, speed, source, s, layer=layer)
        ends = [
            pde.trajectory(
                w, w.start(bump, dt=dt), dt, 90, every=30, save=lambda s, t, w=w: w.inside(s)
            )
            for w in (first, second)
        ]
    np.testing.assert_allclose(*ends, atol=1e-12)


@pytest.mark.parametrize("ndim, per_unit, order", [(1, 100, 2), (1, 100, 8), (2, 40, 4)])
def test_little_comes_back_from_open_edges(ndim, per_unit, order):
    """A pulse where density varies up to the edges, beside one in a box so large that nothing can come back."""

    def pulse(cells, layer, shift):
        grid = Grid((cells,) * ndim, -shift, -shift + cells / per_unit)
        x = np.stack(np.meshgrid(*[grid.nodes(i) for i in range(ndim)], indexing="ij"))
        rho = 1 + np.exp(-8 * (np.clip(x[-1], 0, 1) - 0.5) ** 2)
        source = Points(grid, np.array([[0.31, 0.42][:ndim]]))
        signal = lambda t: xnp.exp(-(((t - 0.15) / 0.04) ** 2)) * (t - 0.15)
        wave = AcousticWave(grid, 1.0, rho, source, signal, layer=layer, order=order)
        dt, first = 0.6 / per_unit / np.sqrt(ndim), round(shift * per_unit)
        box = (slice(first, first + per_unit + 1),) * ndim
        save = lambda s, t: wave.inside(s)[box]
        return np.asarray(pde.trajectory(wave, wave.start(dt=dt), dt, int(1.6 / dt), save=save))

    small, large = pulse(per_unit, 20, 0.0), pulse(3 * per_unit, 0, 1.0)
    axes = tuple(range(1, ndim + 1))
    assert ((small - large) ** 2).sum(axes).max() < 1e-5 * (large**2).sum(axes).max()


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("fast, dense", [(1.0, 4.0), (2.0, 0.3), (0.5, 1.0)])
def test_a_jump_sends_back_what_impedances_say(order, fast, dense):
    """(Z₂ - Z₁) / (Z₂ + Z₁) of the pressure, half-way between two nodes; 2 Z₂ / (Z₂ + Z₁) goes on."""
    n = 800
    with xc.enable_x64():
        grid = Grid(n, -1.0, 1.0)
        x = grid.nodes(0)
        there = x > 0.25 / n  # the jump is where nodes are not
        wave = AcousticWave(
            grid, np.where(there, fast, 1.0), np.where(there, dense, 1.0), layer=20, order=order
        )
        dt = 0.5 / n / max(fast, 1)
        pulse = lambda x: np.exp(-(((x + 0.5) / 0.08) ** 2))
        steps = round(0.85 / dt)
        end = wave.inside({k: v[-1] for k, v in pde.trajectory(
            wave, wave.start(pulse(x), (pulse(x),), dt=dt), dt, steps, every=steps,
        ).items() if k == "p"})  # fmt: skip
    end, z, time, middle = np.asarray(end), fast * dense, steps * dt, 1 / n
    back = (z - 1) / (z + 1) * pulse(2 * middle - (x + time))
    on = 2 * z / (z + 1) * pulse(middle + (x - middle) / fast - time)
    want = np.where(there, on, back + pulse(x - time))
    assert abs(end - want).max() < 4e-3


@pytest.mark.parametrize("order", [2, 4])
def test_energy_is_kept_between_walls(order):
    rng = np.random.default_rng(0)
    with xc.enable_x64():
        grid = Grid((12, 14))
        c, rho = 1 + rng.random((2, *grid.shape))
        wave = AcousticWave(grid, c, rho, layer=0, order=order)
        dt = pde.stable_step(wave)
        state = wave.start(rng.standard_normal(grid.shape), dt=dt)
        energies = pde.trajectory(
            wave, state, dt, 1000, every=100, save=lambda s, t: pde.wave_energy(wave, s, dt)
        )
    first = float(pde.wave_energy(wave, state, dt))
    np.testing.assert_allclose(energies, first, rtol=1e-11)
    with pytest.raises(ValueError, match="dt"):
        pde.wave_energy(wave, state)


def test_the_longest_step_is_stable_and_near_the_truth():
    """Beside the largest eigenvalue of the steps' own matrix, where ρ jumps from node to node."""
    rng = np.random.default_rng(1)
    with xc.enable_x64():
        grid = Grid((6, 5))
        for rho, least in ((1, 0.7), (np.exp(rng.standard_normal(grid.shape)), 0.5),
                           (np.exp(4 * rng.standard_normal(grid.shape)), 0.1)):  # fmt: skip
            wave = AcousticWave(grid, 1 + rng.random(grid.shape), rho, layer=0, order=4)
            dt = 1e-4

            def force(p, wave=wave, dt=dt):
                s = wave.step(wave.start(p, dt=dt), 0.0, dt)  # p + dt² / 2 (…) p
                return (p - s["p"]) * 2 / dt**2

            eye = np.eye(20).reshape(20, 5, 4)
            eye = np.pad(eye, ((0, 0), (1, 1), (1, 1)))
            rows = np.asarray(xc.vmap(force)(eye))[:, 1:-1, 1:-1].reshape(20, 20)
            true = 2 / np.sqrt(np.linalg.eigvals(rows).real.max())
            assert least * true < pde.stable_step(wave) <= true * (1 + 1e-6)
        with pytest.raises(pde.UnstableStepError, match="longest stable"):
            pde.trajectory(wave, wave.start(dt=dt), 1.01 * pde.stable_step(wave), 10)


@pytest.mark.parametrize("ndim", [1, 2])
def test_derivatives_by_speed_and_density(ndim):
    grid, dt, rng = Grid((12, 10)[:ndim], upper=(1.2, 1.0)[:ndim]), 0.02, np.random.default_rng(0)
    with xc.enable_x64():
        media = tuple(1 + 0.3 * rng.random((2, *grid.shape)))

        def loss(speed, density):
            receivers = Points(grid, np.array([[0.9, 0.3], [0.7, 0.73]])[:, :ndim])
            q = lambda t: xnp.exp(-(((t - 0.3) / 0.1) ** 2))
            wave = AcousticWave(
                grid, speed, density, Points(grid, [[0.33, 0.41][:ndim]]), q, layer=5
            )
            heard = pde.trajectory(
                wave,
                wave.start(dt=dt),
                dt,
                60,
                save=lambda s, t: receivers.read(wave.inside(s)),
                checkpoints=12,
            )
            return (heard**2).sum()

        value, slopes = xc.jit(loss), xc.jit(xc.grad(loss, argnums=(0, 1)))(*media)
        for i, way in enumerate(rng.standard_normal((2, *grid.shape))):
            ends = [
                value(*[m + e * way * (i == j) for j, m in enumerate(media)]) for e in (1e-5, -1e-5)
            ]
            assert np.isclose(
                float(ends[0] - ends[1]) / 2e-5, float((slopes[i] * way).sum()), rtol=1e-6
            )


def test_units_do_not_matter():
    def end(length, duration, dense):
        wave = AcousticWave(
            Grid(40, 0.0, length), length / duration, dense * np.linspace(1, 2, 41), layer=10
        )
        x, dt = np.linspace(0, 1, 41), 0.02 * duration
        state = wave.start(xnp.asarray(np.exp(-((x - 0.4) ** 2) / 0.01), "float32"), dt=dt)
        return np.asarray(pde.trajectory(wave, state, dt, 40, every=40)["p"])

    want = end(1.0, 1.0, 1.0)
    for units in ((1e6, 1.0, 1e3), (1.0, 1e-9, 1e-6), (1e-9, 3e-18, 1e9), (1e-15, 1e-20, 1e-9)):
        np.testing.assert_allclose(end(*units), want, atol=1e-5)


@pytest.mark.parametrize("make, told", [
    (lambda g: AcousticWave(g, 1.0, order=3), "order"), (lambda g: AcousticWave(g, 1.0, -1.0), "positive"),
    (lambda g: AcousticWave(g, 1.0, 0.0), "nowhere 0"), (lambda g: AcousticWave(g, 1.0, np.ones(4)), "density"),
    (lambda g: AcousticWave(g, 1.0, 1.0, Points(g, [[0.5, 0.5]])), "signal"), (lambda g: AcousticWave(g, 0), "nowhere 0"),
    (lambda g: AcousticWave(g).start(velocity=(1.0,), dt=0.1), "velocity"),
    (lambda g: AcousticWave(g, lambda x: x), "coordinates"), (lambda g: AcousticWave(g, 1j), "real"),
    (lambda g: AcousticWave(g, 1.0, 1.0, Points(g, [[0.5, 0.5]]), 3.0), "function of the time"),
    (lambda g: pde.march(AcousticWave(g), xnp.ones((9, 9)), 0.01, 2), "start"),
])  # fmt: skip
def test_wrong_arguments_are_named(make, told):
    with pytest.raises(ValueError, match=told):
        make(Grid((8, 8)))
