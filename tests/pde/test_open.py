"""Waves of one frequency in open boxes, beside those of free space, those of larger boxes and steps in time."""

import numpy as np
import pytest
from scipy.special import hankel1

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.pde import Grid, OpenHelmholtz, Points


def of_point(op, at):
    """The field in the box of a point with amplitude 1."""
    return np.asarray(op.in_box(pde.solve(op, -Points(op.box, [at]).spread([1.0]))))


def free(k, r):
    """e^{ikr} on a line: the exact field of a point."""
    return 1j * np.exp(1j * k * r) / (2 * k)


@pytest.mark.parametrize("order, cells", [(2, (80, 160)), (4, (40, 80)), (6, (30, 60))])
def test_order_beside_free_space_on_a_line(order, cells):
    with xc.enable_x64():
        for k in (24.0, 30 + 1.5j):
            errors = []
            for n in cells:
                r = abs(np.linspace(0, 1, n + 1) - 0.3)
                op = OpenHelmholtz(Grid(n), k, layer=30 if order < 6 else 60, order=order)
                off = abs(of_point(op, [0.3]) - free(k, r))
                errors.append(off[r > 0.15].max() / abs(free(k, r)).max())
            assert np.log2(errors[0] / errors[1]) > order - 0.3, k


def test_order_beside_free_space_in_two_dimensions():
    at, errors, k = [0.25, 0.5], [], 16.0
    with xc.enable_x64():
        for n in (20, 40):
            op = OpenHelmholtz(Grid((n, n)), k, layer=10)
            x, y = np.meshgrid(*[np.linspace(0, 1, n + 1)] * 2, indexing="ij")
            r = np.hypot(x - at[0], y - at[1])
            far = r > 0.2
            want = 0.25j * hankel1(0, k * r[far])
            errors.append(np.linalg.norm(of_point(op, at)[far] - want) / np.linalg.norm(want))
    assert errors[1] < 2e-3 and np.log2(errors[0] / errors[1]) > 3.5


@pytest.mark.parametrize("ndim, n, k", [(1, 60, 2.0), (1, 60, 40.0), (2, 20, 1.0), (2, 20, 12.0)])
def test_little_comes_back_from_open_edges(ndim, n, k):
    """Beside a box three times as long with layers twice as thick: less than 1e-4 of the energy, and than 1e-6."""
    at = [0.15, 0.4][:ndim]
    box, large = Grid((n,) * ndim), Grid((3 * n,) * ndim, -1.0, 2.0)
    with xc.enable_x64():
        small = of_point(OpenHelmholtz(box, k, layer=12), at)
        want = of_point(OpenHelmholtz(large, k, layer=24), at)[(slice(n, 2 * n + 1),) * ndim]
    assert np.sum(abs(small - want) ** 2) < 1e-6 * np.sum(abs(want) ** 2)


def test_derivatives_by_the_wave_number_and_the_source():
    box, rng = Grid((9, 8)), np.random.default_rng(0)
    with xc.enable_x64():
        k = 4 + rng.random(box.shape)
        f, weights = rng.standard_normal((2, *box.shape))

        def loss(k, f):
            op = OpenHelmholtz(box, k, layer=((4, 0), (4, 5)), order=2)
            u = op.in_box(pde.solve(op, f))
            return (weights * abs(u) ** 2).sum() + (weights * u.real).sum()

        slopes = xc.grad(loss, argnums=(0, 1))(k, f)
        inside = xc.jit(xc.grad(loss))(k, f)
        np.testing.assert_allclose(inside, slopes[0], rtol=1e-6, atol=1e-12)
        value = xc.jit(loss)
        for i, way in enumerate(rng.standard_normal((2, *box.shape))):
            ends = [value(k + e * way * (i == 0), f + e * way * (i == 1)) for e in (1e-5, -1e-5)]
            assert np.isclose(
                float(ends[0] - ends[1]) / 2e-5, float((slopes[i] * way).sum()), rtol=1e-6
            )


def test_steps_in_time_end_as_waves_of_one_frequency():
    """A wave driven by cos ωt, where c varies, an edge being a wall: its Fourier coefficient, of time and space."""
    n, omega = 60, 2 * np.pi * 3
    box = Grid(n)
    x = np.linspace(0, 1, n + 1)
    c = 1 + 0.5 * np.sin(3 * x) ** 2
    source, dt = Points(box, [0.4]), 1 / (3 * 120)
    with xc.enable_x64():
        wave = pde.Wave(box, c, source, lambda t: xnp.cos(omega * t), layer=((20, 0),), order=4)
        late = pde.trajectory(
            wave, wave.start(dt=dt), dt, 120 * 16, save=lambda s, t: wave.inside(s)
        )
        late, times = np.asarray(late)[-240:], dt * (1 + np.arange(120 * 16))[-240:]
        got = 2 * np.mean(late * np.exp(1j * omega * times)[:, None], axis=0)
        # steps of time act on e^{-iωt} as a frequency 2 sin(ω dt / 2) / dt does
        op = OpenHelmholtz(box, 2 / dt * np.sin(omega * dt / 2) / c, layer=((20, 0),), order=4)
        want = of_point(op, [0.4])
    assert abs(got - want).max() < 2e-3 * abs(want).max()


def test_what_solve_says_is_true_of_cycles_too():
    """The residual beside that of SciPy's matrix; minimal residuals where factors would do."""
    with xc.enable_x64():
        op = OpenHelmholtz(Grid((36, 36)), 10.0, layer=8, order=2)
        f = op.right(lambda x, y: xnp.exp(-100 * ((x - 0.4) ** 2 + (y - 0.5) ** 2)))
        found = [pde.solve(op, f, method=m, report=True) for m in ("gcr", "sparse")]
        matrix = op.as_sparse()
        for one in found:
            left = np.linalg.norm(matrix @ np.asarray(one.value).ravel() - np.asarray(f).ravel())
            assert bool(one.ok) and left < 1e-10 * np.linalg.norm(f)
        assert np.all(np.asarray(op.in_box(found[0].value)).shape == (37, 37))


def test_in_three_dimensions_and_over_several_sources():
    box = Grid((8, 8, 8))
    op = OpenHelmholtz(box, 3.0, layer=4, order=4)
    at = np.array([[3 / 8, 4 / 8, 4 / 8], [5 / 8, 4 / 8, 3 / 8]])
    sources = xnp.stack([-Points(box, a[None]).spread([1.0]) for a in at])
    both = np.asarray(xc.vmap(lambda f: op.in_box(pde.solve(op, f)))(sources))
    x = np.stack(np.meshgrid(*[np.linspace(0, 1, 9)] * 3, indexing="ij"), -1)
    for u, a in zip(both, at, strict=True):
        r = np.linalg.norm(x - a, axis=-1)
        want = np.exp(3j * r[r > 0.3]) / (4 * np.pi * r[r > 0.3])
        assert np.linalg.norm(u[r > 0.3] - want) < 0.03 * np.linalg.norm(want)


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_units_do_not_matter(unit):
    """Of single precision: lengths of other units, f in units of 1 / length²."""
    want, got = (
        np.asarray(
            op.in_box(pde.solve(op, op.box.cells[0] * xnp.eye(25, dtype="float32")[7] / s**2))
        )
        for s in (1.0, unit)
        for op in [OpenHelmholtz(Grid(24, 0.0, s), 9.0 / s, layer=8)]
    )
    np.testing.assert_allclose(got, want, atol=1e-4 * abs(want).max())


@pytest.mark.parametrize("make, told", [
    (lambda g: OpenHelmholtz(g, 0.0), "nowhere 0"), (lambda g: OpenHelmholtz(g, np.nan), "finite"),
    (lambda g: OpenHelmholtz(g, 3 - 1j), "imaginary"), (lambda g: OpenHelmholtz(g, np.ones(4)), "field on all nodes"),
    (lambda g: OpenHelmholtz(g, 1.0, layer=2), "3 cells or more"), (lambda g: OpenHelmholtz(g, 1.0, layer=-1), "layer"),
    (lambda g: OpenHelmholtz(g, 1.0, order=8), "order"), (lambda g: OpenHelmholtz(Grid.cells((8, 8)), 1.0), "nodes"),
    (lambda g: pde.solve(OpenHelmholtz(g, 1.0), np.ones(3)), "unknowns"),
    (lambda g: pde.solve(OpenHelmholtz(g, 1.0), 1.0, estimate=True), "estimate"),
    (lambda g: OpenHelmholtz(g, lambda x: x), "2 coordinates"),
])  # fmt: skip
def test_wrong_arguments_are_named(make, told):
    with pytest.raises(ValueError, match=told):
        make(Grid((8, 8)))
