"""Zeros on the way of a solution: their times, what they do, and derivatives of both."""

import functools

import numpy as np
import pytest
import scipy.integrate

import xcore as xc
import xcore.numpy as xnp
from xcore import pde

G = 9.81


def falling(u, t):
    return {"x": u["v"], "v": -G + 0 * u["v"]}


def bounces(v, keep, most=6, end=6.0):
    """A ball from the ground with speed v that keeps a part of its speed."""
    hit = pde.Event(
        lambda u, t: u["x"],
        direction=-1,
        most=most,
        jump=lambda u, t: {"x": u["x"], "v": -keep * u["v"]},
    )
    top = pde.Event(lambda u, t: u["v"], direction=-1)
    return pde.integrate(
        falling, {"x": xnp.zeros(()), "v": v}, xnp.asarray([0.0, 1.0, 3.0, end]), events=[hit, top], rtol=1e-9,
        atol=1e-12, report=True,
    )  # fmt: skip


def test_a_ball_bounces_when_it_should_and_so_do_derivatives():
    with xc.enable_x64():
        got = xc.jit(bounces)(10.0, 0.8)
        want = 20 / G * np.cumsum(0.8 ** np.arange(6))
        count = int((want < 6).sum())
        assert got.ok and got.events.tolist()[0] == count
        np.testing.assert_allclose(got.t_events[0][:count], want[:count], rtol=1e-9)
        assert np.isnan(got.t_events[0][count:]).all()
        np.testing.assert_allclose(
            got.y_events[0]["v"][:count], -10 * 0.8 ** np.arange(count), rtol=1e-9
        )
        np.testing.assert_allclose(got.t_events[1][0], 10 / G, rtol=1e-9)
        after = 3 - want[0]
        np.testing.assert_allclose(got.value["x"][2], 8 * after - G / 2 * after**2, rtol=1e-8)

        # the third bounce at 2 v (1 + k + k²) / g
        def third(v, k):
            found = bounces(v, k)
            return found.t_events[0][2] + found.value["x"][2]

        t = 20 / G
        slopes = 0.8 * (3 - t) - (8 - G * (3 - t)) * 2 / G, 10 * (3 - t)  # of x after the first
        slopes = np.array(slopes) + np.array([2 * 2.44 / G, 20 * 2.6 / G])
        np.testing.assert_allclose(
            xc.jit(xc.grad(third, argnums=(0, 1)))(10.0, 0.8), slopes, rtol=1e-7
        )


@pytest.mark.parametrize(
    "tableau", ["DORMAND_PRINCE", "DOP853", "BOGACKI_SHAMPINE", "RODAS5P", "KVAERNO5"]
)
def test_a_terminal_zero_ends_the_run(tableau):
    half = pde.Event(lambda u, t: u[1] - 0.5, terminal=True)

    def end(rate):
        return pde.integrate(
            lambda u, t: -rate * u, xnp.ones(2), xnp.asarray([0.0, 0.1, 2.0]), events=half, rtol=1e-7,
            tableau=getattr(pde, tableau), report=True,
        )  # fmt: skip

    with xc.enable_x64():
        rates = xnp.asarray([1.0, 4.0, 0.1])  # the last does not get there
        got = xc.jit(xc.vmap(end))(rates)
        assert np.all(got.ok) and got.events[:, 0].tolist() == [1, 1, 0]
        np.testing.assert_allclose(got.ended, [np.log(2), np.log(2) / 4, 2.0], rtol=1e-5)
        assert np.isnan(got.value[:, 2, 0]).tolist() == [True, True, False]
        np.testing.assert_allclose(got.value[:, 1, 0], np.exp(-0.1 * rates), rtol=1e-5)


def test_directions_and_counts_are_scipys():
    wave = lambda u, t: xnp.stack([u[1], -u[0]])
    third = lambda u, t: u[0] - 0.5
    third.terminal = 3
    events = [pde.Event(third, direction=d, most=8) for d in (1, -1, 0)]
    with xc.enable_x64():
        got = pde.integrate(
            wave, xnp.asarray([1.0, 0.0]), [0.0, 20.0], events=events, rtol=1e-8, report=True
        )
        for d, found in zip((1, -1, 0), got.t_events, strict=True):
            g = lambda t, y: y[0] - 0.5
            g.direction = d
            want = scipy.integrate.solve_ivp(
                lambda t, y: [y[1], -y[0]], (0, 20), [1.0, 0.0], events=g, rtol=1e-10, atol=1e-12
            ).t_events[0]
            kept = np.asarray(found)[np.isfinite(found)]
            np.testing.assert_allclose(kept, want[: len(kept)], rtol=1e-6)
            assert len(kept) == min(len(want), 8)
        stopped = pde.integrate(
            wave, xnp.asarray([1.0, 0.0]), [0.0, 20.0], events=third, report=True
        )
        assert int(stopped.events[0]) == 3 and abs(float(stopped.ended) - (7 * np.pi / 3)) < 1e-3


def test_endless_bounces_end_with_a_status():
    """After 2 v / (g (1 - k)) the bounces follow one another without end."""
    hit = pde.Event(
        lambda u, t: u["x"], direction=-1, jump=lambda u, t: {"x": 0 * u["x"], "v": -u["v"] / 2}
    )
    got = pde.integrate(
        falling,
        {"x": xnp.zeros(()), "v": xnp.ones(())},
        [0.0, 0.1, 1.0],
        events=hit,
        max_steps=500,
        report=True,
    )
    assert not got.ok and np.isnan(got.value["x"][2]) and float(got.ended) <= 4 / G * 1.001


def wave(u, t):
    return xnp.stack([u[1], -u[0]])


HALF = np.sort(
    np.r_[np.pi / 3 + 2 * np.pi * np.arange(3), 5 * np.pi / 3 + 2 * np.pi * np.arange(3)]
)
ALIKE = {
    "the same": lambda u, t: u[0] - 0.5, "three times it": lambda u, t: 3 * u[0] - 1.5,
    "minus it": lambda u, t: 0.5 - u[0], "of other roundings": lambda u, t: (u[0] - 0.5) * (1 + u[0] ** 2),
    "of fewer digits": lambda u, t: (u[0] + 1e3) - 1000.5,
}  # fmt: skip


@pytest.mark.parametrize("tableau", ["DORMAND_PRINCE", "RODAS5P"])
@pytest.mark.parametrize("act", ["jump", "terminal", "both jump"])
def test_zeros_at_the_same_time_are_all_found_and_each_once(act, tableau):
    """Rounding puts one of them before and one behind the other, where the run is cut."""

    @xc.jit
    def counts():
        acts = {"terminal": 3} if act == "terminal" else {"jump": lambda u, t: u}
        other = {"jump": lambda u, t: u} if act == "both jump" else {}
        found = []
        for name, f in ALIKE.items():
            if (name, act) == ("of fewer digits", "terminal"):
                continue  # its zero may lie behind the end by what it does not show
            pair = [pde.Event(ALIKE["the same"], **acts), pde.Event(f, **other)]
            for events in (pair, pair[::-1]):
                got = pde.integrate(
                    wave, xnp.asarray([1.0, 0.0]), [0.0, 19.0], events=events, rtol=1e-7,
                    tableau=getattr(pde, tableau), report=True,
                )  # fmt: skip
                found.append((got.events, got.t_events))
        return found

    want = HALF[: 3 if act == "terminal" else 6]
    with xc.enable_x64():
        for number, times in counts():
            assert number.tolist() == [len(want)] * 2
            for t in times:
                np.testing.assert_allclose(t[: len(want)], want, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_jump_away_from_zero_is_found_again(dtype):
    """A sawtooth: it rises to 1 and is set back, within what would be one step. Beside it, what only looks on."""
    with xc.enable_x64():
        for unit in np.array([1, 1e-12, 1e12], dtype):
            full = lambda u, t: u[0] - unit  # noqa: B023
            events = [
                pde.Event(full, jump=lambda u, t: 0 * u), pde.Event(full),
                pde.Event(lambda u, t: u[0] - unit / 2, direction=1),  # noqa: B023
            ]  # fmt: skip
            got = pde.integrate(
                lambda u, t: 0 * u + unit,  # noqa: B023
                np.zeros(1, dtype), np.array([0, 7.25], dtype), events=events, report=True, atol=1e-9 * float(unit),
            )  # fmt: skip
            assert got.ok and got.events.tolist() == [7, 7, 7]
            np.testing.assert_allclose(got.value[-1] / unit, 0.25, rtol=1e-4)
            np.testing.assert_allclose(got.t_events[2][:7], 0.5 + np.arange(7), rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_who_looks_on_sees_a_ball_fall_to_the_ground_and_never_rise_through_it(dtype):
    ground = lambda u, t: u["x"]
    back = lambda u, t: u | {"v": -0.8 * u["v"]}
    events = [pde.Event(ground, jump=back), *(pde.Event(ground, direction=d) for d in (-1, 0, 1))]
    for order in (events, events[::-1]):
        with xc.enable_x64():
            start = {"x": np.ones((), dtype), "v": np.zeros((), dtype)}
            got = pde.integrate(falling, start, np.array([0, 3], dtype), events=order, report=True)
        want = (2 / G) ** 0.5 * (1 + 2 * 0.8 * (1 - 0.8 ** np.arange(9)) / 0.2)
        hits = int((want < 3).sum())
        assert got.events.tolist() == [hits, hits, hits, 0][:: 1 if order is events else -1]


def test_two_jumps_at_once_are_both_made():
    """A ball in a corner; each of the walls turns one speed round."""
    turn = lambda i: lambda u, t: u.at[i].multiply(-1)
    with xc.enable_x64():
        got = pde.integrate(
            lambda u, t: xnp.stack([u[2], u[3], 0 * t, 0 * t]), xnp.asarray([1.0, 0.3, -1.0, -0.3]), [0.0, 3.0],
            events=[pde.Event(lambda u, t: u[0], jump=turn(2)), pde.Event(lambda u, t: u[1], jump=turn(3))], report=True,
        )  # fmt: skip
        assert got.events.tolist() == [1, 1]
        np.testing.assert_allclose(got.value[-1], [2, 0.6, 1, 0.3], rtol=1e-9)


@pytest.mark.parametrize("power", [1, 2, 3])
def test_what_starts_at_zero_without_a_slope_is_found_later(power):
    with xc.enable_x64():
        got = pde.integrate(
            lambda u, t: 0 * u + 1, np.zeros(1), [0.0, 3.0], first_step=2.0, report=True,
            events=lambda u, t: u[0] ** power * (1 - u[0]),
        )  # fmt: skip
        assert got.events.tolist() == [1]
        np.testing.assert_allclose(got.t_events[0][0], 1, rtol=1e-12)


@pytest.mark.parametrize("method", ["RK45", "Rodas5P"])
def test_solve_ivp_tells_what_is_zero_at_the_end_of_a_step_once(method):
    twice = lambda t, y: (y[0] - 1) * (y[0] - 2)
    twice.terminal = 2
    rising = lambda t, y: y[0] - 1
    rising.direction = 1
    with xc.enable_x64():
        got = xc.scipy.integrate.solve_ivp(
            lambda t, y: 0 * y + 1, (0.0, 4.0), np.zeros(1), method=method, first_step=0.25, max_step=0.25,
            events=[lambda t, y: y[0] - 1, rising, lambda t, y: t - 1.5, twice],
        )  # fmt: skip
    assert got.status == 1
    for found, want in zip(got.t_events, [[1], [1], [1.5], [1, 2]], strict=True):
        assert len(found) == len(want)
        np.testing.assert_allclose(found, want, rtol=1e-14)


def _hit(p, tableau=pde.DORMAND_PRINCE):
    """When a growing u is 1.5: log(1.5) / p."""
    return pde.integrate(
        lambda u, t: p * u, xnp.asarray(1.0), [0.0, 1.0], events=pde.Event(lambda u, t: u - 1.5), rtol=1e-9,
        atol=1e-9, tableau=tableau, report=True,
    ).t_events[0][0]  # fmt: skip


def _thrown(v, tableau=pde.DORMAND_PRINCE):
    """When a ball thrown upwards from 1 is at 0."""
    return pde.integrate(
        lambda u, t: xnp.stack([u[1], -G + 0 * u[1]]), xnp.stack([1.0 + 0 * v, v]), [0.0, 1.0],
        events=pde.Event(lambda u, t: u[0], direction=-1), rtol=1e-9, atol=1e-9, tableau=tableau, report=True,
    ).t_events[0][0]  # fmt: skip


def _after_a_jump(v, tableau=pde.DORMAND_PRINCE):
    """Where the ball is at 1, having kept 0.8 of its speed."""
    hit = pde.Event(
        lambda u, t: u[0], direction=-1, jump=lambda u, t: xnp.stack([0 * u[0], -0.8 * u[1]])
    )
    return pde.integrate(
        lambda u, t: xnp.stack([u[1], -G + 0 * u[1]]), xnp.stack([1.0 + 0 * v, v]), [0.0, 1.0], events=hit,
        rtol=1e-9, atol=1e-9, tableau=tableau,
    )[-1, 0]  # fmt: skip


def _closed_after_a_jump(v):
    t, s = (v + np.sqrt(v * v + 2 * G)) / G, np.sqrt(v * v + 2 * G)
    return 0.8 * s * (1 - t) - G / 2 * (1 - t) ** 2


@pytest.mark.parametrize(
    "tableau", ["DORMAND_PRINCE", pytest.param("RODAS5P", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    "f, closed",
    [
        pytest.param(_hit, lambda p: np.log(1.5) / p, marks=pytest.mark.slow),
        pytest.param(_thrown, lambda v: (v + np.sqrt(v * v + 2 * G)) / G, marks=pytest.mark.slow),
        (_after_a_jump, _closed_after_a_jump),
    ],
)
def test_second_derivatives(f, closed, tableau):
    with xc.enable_x64():
        f = functools.partial(f, tableau=getattr(pde, tableau))
        x, h = xnp.asarray(1.0), 1e-4
        assert float(f(x)) == pytest.approx(closed(1.0), rel=1e-7)
        slope = (closed(1 + h) - closed(1 - h)) / (2 * h)
        assert float(xc.grad(f)(x)) == pytest.approx(slope, rel=1e-6)
        bend = (closed(1 + h) - 2 * closed(1.0) + closed(1 - h)) / h**2
        assert float(xc.jacfwd(xc.jacfwd(f))(x)) == pytest.approx(bend, rel=1e-5)
        if tableau == "DORMAND_PRINCE":
            assert float(xc.hessian(f)(x)) == pytest.approx(bend, rel=1e-5)
