"""Waves in open boxes: what comes back from the edges, amplitudes beside closed forms, derivatives."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.pde import Grid, Points, Wave


def heard(wave, receivers):
    return lambda s, t: receivers.read(wave.inside(s))


def ricker(t, peak, late):
    z = (np.pi * peak * (t - late)) ** 2
    return (1 - 2 * z) * xnp.exp(-z)


def pulse(ndim, cells, per_unit, layer, shift, order):
    """Fields on the unit box of a pulse from a point, in a box that reaches ``shift`` further on all sides."""
    grid = Grid((cells,) * ndim, -shift, -shift + cells / per_unit)
    source = Points(grid, np.array([[0.31, 0.42, 0.52][:ndim]]))
    wave = Wave(grid, 1.0, source, lambda t: ricker(t, 8.0, 0.15), layer=layer, order=order)
    dt = 0.7 / per_unit / np.sqrt(ndim)
    first = round(shift * per_unit)
    box = (slice(first, first + per_unit + 1),) * ndim
    save = lambda s, t: wave.inside(s)[box]
    return np.asarray(pde.trajectory(wave, wave.start(dt=dt), dt, int(1.6 / dt), save=save))


@pytest.mark.parametrize(
    "ndim, per_unit, order", [(1, 100, 2), (1, 100, 8), (2, 40, 4), (3, 24, 4)]
)
def test_little_comes_back_from_open_edges(ndim, per_unit, order):
    """A pulse in the box, beside the same in one so large that nothing can come back: to 1e-4 of the energy, and 1e-5."""
    small = pulse(ndim, per_unit, per_unit, 20, 0.0, order)
    large = pulse(ndim, 3 * per_unit, per_unit, 0, 1.0, order)
    axes = tuple(range(1, ndim + 1))
    energy = (large**2).sum(axes).max()
    assert ((small - large) ** 2).sum(axes).max() < 1e-5 * energy
    closed = pulse(ndim, per_unit, per_unit, 0, 0.0, order)
    assert ((closed - large) ** 2).sum(axes).max() > 0.3 * energy


def test_amplitudes_of_sources_between_the_nodes():
    """On a line u = c/2 times the integral of the signal up to t - |x - x₀| / c; differences of order 4 at least."""
    c, errors = 2.0, []
    with xc.enable_x64():
        for n in (50, 100):
            grid = Grid(n, -1.0, 1.0)
            source, receivers = Points(grid, [0.1234]), Points(grid, [-0.4321, 0.777])
            signal = lambda t: xnp.exp(-(((t - 0.3) / 0.06) ** 2))
            wave = Wave(grid, c, source, signal, layer=25, order=8)
            dt = 0.02 / n  # short: errors are those in space
            steps = 30 * n
            got = pde.trajectory(
                wave,
                wave.start(dt=dt),
                dt,
                steps,
                every=20,
                save=heard(wave, receivers),
            )
            times = dt * (1 + np.arange(steps // 20)) * 20
            delay = abs(np.array([-0.4321, 0.777]) - 0.1234) / c
            late = times[:, None] - delay
            total = np.vectorize(
                lambda t: 0.06 * np.sqrt(np.pi) / 2 * (xc.special.erf((t - 0.3) / 0.06) + 1)
            )
            errors.append(abs(np.asarray(got) - c / 2 * total(late)).max())
    assert errors[1] < 2e-4 and np.log2(errors[0] / errors[1]) > 3.5


def test_amplitudes_in_space():
    """u = s(t - r / c) / 4πr."""
    grid = Grid((20, 20, 20))
    at, where = np.array([0.41, 0.5, 0.53]), np.array([[0.8, 0.55, 0.5], [0.3, 0.9, 0.2]])
    source, receivers = Points(grid, at[None]), Points(grid, where)
    wave = Wave(grid, 1.5, source, lambda t: ricker(t, 4.0, 0.3), layer=10, order=8)
    dt, steps = 0.005, 140
    got = xc.jit(lambda: pde.trajectory(
        wave, wave.start(dt=dt), dt, steps, save=lambda s, t: receivers.read(wave.inside(s))
    ))()  # fmt: skip
    far = np.linalg.norm(where - at, axis=1)
    times = dt * (1 + np.arange(steps))[:, None]
    want = np.asarray(ricker(times - far / 1.5, 4.0, 0.3)) / (4 * np.pi * far)
    assert abs(np.asarray(got) - want).max() < 0.03 * abs(want).max()


@pytest.mark.parametrize("order", [2, 4, 8])
def test_walls_reflect_at_the_edge_and_the_order_is_that_asked_for(order):
    """Standing waves sin πx cos πct between walls."""
    errors = []
    with xc.enable_x64():
        for n in (10, 20):
            wave = Wave(Grid(n), 2.0, layer=0, order=order)
            x = np.linspace(0, 1, n + 1)
            dt = 1e-3 if order < 8 else 1e-4
            steps = round(0.2 / dt)
            end = pde.trajectory(
                wave, wave.start(np.sin(np.pi * x), dt=dt), dt, steps, every=steps
            )["u"][0]
            omega = 2 / dt * np.arcsin(np.pi * dt)  # of the exact mode in steps of the leapfrog
            errors.append(abs(np.asarray(end) - np.sin(np.pi * x) * np.cos(omega * 0.2)).max())
    assert np.log2(errors[0] / errors[1]) > order - 0.3


def test_the_longest_step_is_stable_and_longer_ones_are_refused():
    with xc.enable_x64():
        rough = 1 + 0.5 * np.random.default_rng(0).random((13, 15))
        wave = Wave(Grid((12, 14)), rough, layer=((5, 5), (0, 5)), order=4)
        dt = pde.stable_step(wave)
        state = wave.start(np.random.default_rng(1).standard_normal((13, 15)), dt=dt)
        last = pde.trajectory(wave, state, dt, 4000, every=4000)["u"]
        assert abs(np.asarray(last)).max() < 1
        with pytest.raises(pde.UnstableStepError, match="longest stable"):
            pde.trajectory(wave, state, 1.01 * dt, 10)


def record(grid, wave, receivers, dt, steps, kept=None):
    return pde.trajectory(
        wave,
        wave.start(dt=dt),
        dt,
        steps,
        save=lambda s, t: receivers.read(wave.inside(s)),
        checkpoints=kept,
    )


def test_derivatives_by_the_speed_and_by_places_are_those_of_the_record():
    grid, dt = Grid((16, 12), upper=(1.6, 1.2)), 0.02
    rng = np.random.default_rng(0)
    with xc.enable_x64():
        speed = 1 + 0.3 * rng.random(grid.shape)
        place = np.array([[0.33, 0.41]])

        def loss(speed, place):
            receivers = Points(grid, np.array([[1.21, 0.3], [0.9, 0.93]]))
            wave = Wave(grid, speed, Points(grid, place), lambda t: ricker(t, 2.0, 0.4), layer=6)
            return (record(grid, wave, receivers, dt, 60, 12) ** 2).sum()

        value, slopes = xc.jit(loss), xc.jit(xc.grad(loss, argnums=(0, 1)))(speed, place)
        for i, way in enumerate((rng.standard_normal(grid.shape), rng.standard_normal((1, 2)))):
            ways = [way if i == j else 0 * way[:1, :1] for j in range(2)]
            ends = [value(speed + e * ways[0], place + e * ways[1]) for e in (1e-5, -1e-5)]
            slope = float(ends[0] - ends[1]) / 2e-5
            assert np.isclose(slope, float((slopes[i] * way).sum()), rtol=1e-6)


def test_memory_of_a_gradient_does_not_grow_with_the_steps():
    grid = Grid((60, 60))
    receivers = Points(grid, np.array([[0.5, 0.5]]))

    def plan(steps):
        def loss(speed):
            wave = Wave(grid, speed, receivers, lambda t: ricker(t, 8.0, 0.1), layer=10, order=2)
            return (record(grid, wave, receivers, 0.005, steps, 40) ** 2).sum()

        made = xc.jit(xc.grad(loss)).lower(xnp.ones(grid.shape)).compile()
        return made.memory_analysis().temp_size_in_bytes

    state = 81 * 81 * 6 * 4
    assert plan(4000) < 100 * state


def test_units_do_not_matter():
    """The same waves, in single precision, with lengths and times of other units."""

    def end(length, duration):
        grid = Grid(40, 0.0, length)
        wave = Wave(grid, length / duration, layer=10)
        x = np.linspace(0, 1, 41)
        dt = 0.02 * duration
        state = wave.start(xnp.asarray(np.exp(-((x - 0.4) ** 2) / 0.01), "float32"), dt=dt)
        return np.asarray(pde.trajectory(wave, state, dt, 40, every=40)["u"])

    want = end(1.0, 1.0)
    for length, duration in ((1e6, 1.0), (1.0, 1e-9), (1e-6, 1e-12), (1e-9, 3e-18), (1e-15, 1e-20)):
        np.testing.assert_allclose(end(length, duration), want, atol=1e-5)


@pytest.mark.parametrize("make, told", [
    (lambda g: Wave(g, 1.0, order=3), "order"), (lambda g: Wave(g, np.ones(4)), "speed"), (lambda g: Wave(g, layer=-1), "layer"),
    (lambda g: Wave(g, 0), "nowhere 0"), (lambda g: Wave(g, np.nan), "finite"), (lambda g: Wave(g, np.eye(9)), "nowhere 0"),
    (lambda g: Wave(g, layer=(1, 2, 3)), "layer"), (lambda g: Wave(g, 1.0, Points(g, [[0.5, 0.5]])), "signal"),
    (lambda g: Points(g, [0.5, 0.5]), "where"), (lambda g: Points(g, [[0.5, 1.5]]), "in the box"), (lambda g: Wave(Grid(2)), "nodes"),
    (lambda g: Wave(Grid(9), 1.0, Points(Grid(8), [0.5]), ricker), "same grid"), (lambda g: Wave(Grid.cells((9, 9))), "nodes"),
    (lambda g: Wave(g, 1.0, Points(g, [[0.5, 0.5]]), lambda t: xnp.ones(2)).start(dt=0.1), "signal"),
])  # fmt: skip
def test_wrong_arguments_are_named(make, told):
    with pytest.raises(ValueError, match=told):
        make(Grid((8, 8)))


@pytest.mark.parametrize(
    "make", [lambda g, c: Wave(g, c, layer=4), lambda g, c: pde.AcousticWave(g, c, c, layer=4)]
)
def test_media_as_functions_are_those_as_fields(make):
    grid, c = Grid((8, 9)), lambda x, y: 1 + x * y
    states = [
        make(grid, m).start(np.ones(grid.shape), dt=0.01) for m in (c, c(*grid.coordinates()))
    ]
    first, second = (
        make(grid, m).step(s, 0.0, 0.01)
        for m, s in zip((c, c(*grid.coordinates())), states, strict=True)
    )
    assert all(
        np.array_equal(a, b)
        for a, b in zip(xc.tree.leaves(first), xc.tree.leaves(second), strict=True)
    )
    with pytest.raises(ValueError, match=r"speed must be a function of 2 coordinates, \(x, y\)"):
        make(grid, lambda x: x)


@pytest.mark.parametrize("kind", ["wave", "sound"])
def test_steps_of_changing_lengths(kind):
    """A standing wave sin πx cos πt between walls; a state that did not know of its last step took another velocity."""
    x, ends = np.linspace(0, 1, 65), []
    with xc.enable_x64():
        make = Wave if kind == "wave" else pde.AcousticWave
        wave = make(Grid(64), 1.0, layer=0, order=8)
        for dt in (0.004, 0.002):
            state = wave.start(np.sin(np.pi * x), dt=dt)
            for h, steps in ((dt, 50), (dt / 2, 100), (1.5 * dt, 40)):
                steps = round(steps * 0.004 / dt)
                state = xc.tree.map(
                    lambda a: a[-1], pde.trajectory(wave, state, h, steps, every=steps)
                )
            total = 0.2 + 0.2 + 0.24
            want = np.sin(np.pi * x) * np.cos(np.pi * total)
            ends.append(abs(np.asarray(wave.inside(state)) - want).max())
    assert ends[0] < 1e-4 and ends[0] / ends[1] > 3.5


@pytest.mark.parametrize("make", [Wave, pde.AcousticWave])
def test_states_have_the_digits_that_were_asked_for(make):
    """Numbers are no arrays of single precision: rounding once made up for all of the error of short steps."""
    single, start = (
        np.ones(9, np.float32),
        lambda wave, u: wave.inside(wave.start(u, dt=0.01)).dtype,
    )
    assert start(make(Grid(8), 2.0), 0.0) == start(make(Grid(8), 2), 1) == np.float32
    with xc.enable_x64():
        assert start(make(Grid(8), 2.0), 0.0) == start(make(Grid(8), 2), 1) == np.float64
        assert start(make(Grid(8), 2.0), single) == np.float32
        assert start(make(Grid(8), 2.0), single.astype(float)) == np.float64
