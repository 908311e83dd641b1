"""Zeros on the way of a solution: their times, what they do, and derivatives of both."""

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


@pytest.mark.parametrize("tableau", ["DORMAND_PRINCE", "BOGACKI_SHAMPINE", "RODAS5P", "KVAERNO5"])
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
