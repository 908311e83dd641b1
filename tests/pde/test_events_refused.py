"""Where a run cannot go on at an event it says so; what is no event is refused."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import pde

G = 9.81
DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])
STEPS = pytest.mark.parametrize("tableau", ["DORMAND_PRINCE", "RODAS5P"])
GROUNDS = {
    "a height": (lambda x: x, -1), "in both directions": (lambda x: x * (2 + x * x), 0),
    "rising": (lambda x: -x, 1),
}  # fmt: skip


def falling(u, t):
    return xnp.stack([u[1], -G + 0 * u[1]])


def run(f, start, times, dtype, tableau, events):
    with xc.enable_x64():
        return pde.integrate(
            f, np.array(start, dtype), np.array(times, dtype), events=events, report=True,
            tableau=getattr(pde, tableau), max_steps=3000,
        )  # fmt: skip


def bounce(keep, ground=GROUNDS["a height"]):
    f, direction = ground
    back = lambda u, t: xnp.stack([u[0], -keep * u[1]])
    return pde.Event(lambda u, t: f(u[0]), direction=direction, jump=back)


@DTYPES
@STEPS
@pytest.mark.parametrize("ground", GROUNDS)
def test_a_ball_that_comes_to_rest_does_not_fall_through_the_ground(ground, tableau, dtype):
    """Its bounces end at 2 v / (g (1 - k)); all that fall through it end with a status before."""
    for keep, start in ((0.5, 0.0), (1e-3, 0.0), (1e-12, 0.0), (0.5, 1e3)):
        rest = 14 / G / (1 - keep)
        times = np.array([0, 1.2, 2 * rest]) + start
        got = run(falling, [0, 7], times, dtype, tableau, bounce(keep, GROUNDS[ground]))
        assert int(got.status) == xc.Status.stagnation
        assert float(got.ended) - start == pytest.approx(rest, rel=1e-3)
        np.testing.assert_allclose(got.value[1, 0], 7 * 1.2 - G / 2 * 1.2**2, atol=2e-3)
        assert np.isnan(got.value[2]).all()
        assert f"events accumulate at t = {float(got.ended):.6g}: events[0]" in got.message
        assert "terminal=" in got.message


def test_accumulated_events_under_jit_and_vmap_and_in_the_warning():
    def bounces(v):
        return pde.integrate(
            falling, xnp.stack([0 * v, v]), [0.0, 2.0], events=bounce(0.5), report=True
        )

    got = xc.jit(xc.vmap(bounces))(xnp.asarray([100.0, 3.0, 1.0]))
    assert got.status.tolist() == [0, 2, 2] and got.stats["blamed"].tolist() == [-1, 0, 0]
    np.testing.assert_allclose(got.ended[1:], [12 / G, 4 / G], rtol=1e-3)
    assert "t = 1.22" in got.message
    with pytest.warns(RuntimeWarning, match="events accumulate"):
        pde.integrate(falling, xnp.asarray([0.0, 1.0]), [0.0, 2.0], events=bounce(0.5))


@DTYPES
@STEPS
def test_jumps_that_let_the_state_through_do_not_accumulate(tableau, dtype):
    """A slower way beyond a wall, a stop at it, and one that starts on it."""
    events = [
        (pde.Event(lambda u, t: u[0], jump=lambda u, t: xnp.stack([u[0], u[1] / 2])), 3, 0.5),
        (pde.Event(lambda u, t: u[0], jump=lambda u, t: xnp.stack([u[0], 0 * u[1]])), 3, 0.0),
    ]  # fmt: skip
    for e, end, half in events:
        # from -1 with speed 2 and a growth of it by 1: at 0 after √6 - 2
        got = run(
            lambda u, t: xnp.stack([u[1], 1 + 0 * u[1]]), [-1, 2], [0, end], dtype, tableau, e
        )
        s = 6**0.5
        after, speed = end - (s - 2), half * s
        assert got.ok and got.events.tolist() == [1] and int(got.stats["blamed"]) == -1
        np.testing.assert_allclose(got.value[-1, 0], speed * after + after**2 / 2, rtol=1e-5)


@DTYPES
@STEPS
@pytest.mark.parametrize("height", [0.0, 1000.0])
def test_a_ball_that_starts_on_the_ground_rises_first(height, tableau, dtype):
    """Far from 0 it is on the ground for a while in single precision."""
    e = pde.Event(
        lambda u, t: u[0] - height, direction=-1, jump=lambda u, t: xnp.stack([u[0], -0.5 * u[1]])
    )
    got = run(falling, [height, 2], [0, 0.5], dtype, tableau, e)
    assert got.ok and got.events.tolist() == [1]
    t = 0.5 - 4 / G
    np.testing.assert_allclose(got.value[-1, 0] - height, t - G / 2 * t**2, atol=2e-3)


@DTYPES
@STEPS
def test_grazing_the_ground_ends_nothing(tableau, dtype):
    """(t - 1)², with a jump that is harmless there."""
    e = bounce(0.5)
    f = lambda u, t: xnp.stack([u[1], 2 + 0 * u[1]])
    for height in (1.0, 1 + 1e-6, 1 - 1e-6):
        assert run(f, [height, -2], [0, 3], dtype, tableau, e).ok


GAPS = {
    "until its zero is near": (lambda u, t: xnp.log(u[0] - 1.7), 0), "always": (lambda u, t: 0 * u[0] * np.nan, 0),
    "behind its zero": (lambda u, t: xnp.sqrt(1 - u[0]) + (u[0] < 1) * 0.1, 1),
    "between its signs": (lambda u, t: xnp.where(abs(u[0] - 1.5) < 0.4, np.nan, u[0] - 1.5), 1.0),
}  # fmt: skip


@DTYPES
@STEPS
@pytest.mark.parametrize("where", GAPS)
@pytest.mark.parametrize("act", [{"terminal": True}, {}, {"jump": lambda u, t: u}])
def test_functions_that_are_nan_end_the_run(act, where, tableau, dtype):
    f, least = GAPS[where]
    events = [pde.Event(lambda u, t: u[0] - 9), pde.Event(f, **act)]
    got = run(lambda u, t: 0 * u + 1, [0], [0, 2.9, 3], dtype, tableau, events)
    assert int(got.status) == xc.Status.not_finite and np.isnan(got.value[1:]).all()
    assert "the function of events[1] is NaN at t = " in got.message
    assert got.stats["blamed"] == 1 and (where == "between its signs" or got.ended >= least)


@DTYPES
def test_what_is_nan_behind_the_end_or_a_jump_does_not_matter(dtype):
    back = {"jump": lambda u, t: 0 * u}
    for act in ({"terminal": True}, back):
        events = [
            pde.Event(lambda u, t: u[0] - 1, **act),
            pde.Event(lambda u, t: xnp.log(1.25 - u[0]) + 10),
        ]
        got = run(lambda u, t: 0 * u + 1, [0], [0, 2.5], dtype, "DORMAND_PRINCE", events)
        assert got.ok and got.events.tolist() == [1 if act is not back else 2, 0]


@STEPS
@pytest.mark.parametrize(
    "f",
    [
        lambda u, t: u[0] > 0.4, lambda u, t: u[0] - 0.4 + 0j, lambda u, t: True, lambda u, t: u - 0.4,
    ],
)  # fmt: skip
def test_functions_to_what_has_no_sign_are_refused(f, tableau):
    with pytest.raises(
        xc.errors.ArgumentError, match=r"real number that changes its sign.*u\[0\] - 0\.4 in place"
    ):
        run(lambda u, t: -u, [1.0, 2.0], [0, 1], np.float32, tableau, pde.Event(f))


@pytest.mark.parametrize(
    "jump, said",
    [
        (lambda u, t: u[:2], r"need jump\(u, t\) of the shape of u, \(3,\); given jump: float32\[2\]"),
        (lambda u, t: (u, u), r"jump\(u, t\) must be of the form of u, one array, given"),
        (lambda u, t: u + 1j, r"jump\(u, t\) must be real"),
    ],
)  # fmt: skip
def test_jumps_to_what_is_no_state_are_named(jump, said):
    with pytest.raises(xc.errors.XcoreError, match=said) as told:
        run(
            lambda u, t: -u,
            [1.0, 2, 3],
            [0, 1],
            np.float32,
            "DORMAND_PRINCE",
            pde.Event(lambda u, t: u[0] - 0.5, jump=jump),
        )
    assert "f(u, t)" not in str(told.value)
