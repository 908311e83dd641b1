"""The loop of all solvers: steps, histories, batch elements that stop on their own, other loops, states on disk."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax, linalg
from xcore._control import progress
from xcore._iterate import Checkpoints, Steps, first_row, history_of, iterate
from xcore.linalg._cg import cg_begin, cg_step

HALVE = Steps(lambda x: x / 2, lambda x: x < 1)
STARTS = np.asarray([[12.0, 0.5], [100.0, 3.0]])


def by_hand(x, limit=50):
    rows = [x]
    while x >= 1 and len(rows) <= limit:
        x = x / 2
        rows.append(x)
    return x, len(rows) - 1, rows


@pytest.mark.parametrize("limit", [50, 2, 0])
@pytest.mark.parametrize("start", [12.0, 1.0, 0.25])
def test_steps_and_their_history(start, limit):
    state, steps, rows = iterate(HALVE, xnp.float64(start), limit, row=lambda x: {"x": x})
    x, n, seen = by_hand(start, limit)
    assert (float(state), int(steps)) == (x, n)
    assert rows["x"].shape == (limit + 1,)
    np.testing.assert_array_equal(history_of(rows, steps)["x"], seen)
    assert iterate(HALVE, xnp.float64(start), limit).rows is None


def run(x):
    ran = iterate(HALVE, x, 50, row=lambda x: x)
    return ran.state, ran.steps, history_of(ran.rows, ran.steps)


def test_batch_elements_stop_on_their_own():
    alone = [[by_hand(x) for x in row] for row in STARTS]
    for f in (xc.vmap(xc.vmap(run)), xc.jit(xc.vmap(xc.vmap(run))), xc.vmap(xc.vmap(xc.jit(run)))):
        state, steps, rows = f(STARTS)
        for i, j in np.ndindex(2, 2):
            x, n, seen = alone[i][j]
            assert (float(state[i, j]), int(steps[i, j])) == (x, n)
            np.testing.assert_array_equal(rows[i, j, : n + 1], seen)
            assert (rows[i, j, n:] == x).all()
    assert xc.vmap(run)(np.zeros(0))[1].shape == (0,)


def test_of_several_problems_all_must_be_done():
    solver = Steps(lambda x: xnp.where(x < 1, x, x / 2), lambda x: x < 1)
    state, steps, _ = iterate(solver, xnp.asarray([12.0, 0.5, 3.0]), 50)
    np.testing.assert_array_equal(state, [0.75, 0.5, 0.75])
    assert int(steps) == 4


def test_derivatives_go_through_it():
    grow = Steps(lambda x: x * x, lambda x: x > 100)
    slope = xc.grad(lambda x: iterate(grow, x, 20).state)(np.float64(3.0))
    np.testing.assert_allclose(slope, 8 * 3.0**7, rtol=1e-14)
    _, change = xc.jvp(lambda x: iterate(grow, x, 20).state, (np.float64(3.0),), (np.float64(1.0),))
    np.testing.assert_allclose(change, 8 * 3.0**7, rtol=1e-14)


def test_goes_on_with_a_history():
    first = iterate(
        HALVE, xnp.float64(100.0), 3, rows=first_row(xnp.float64(100.0), 10), row=lambda x: x
    )
    rest = iterate(HALVE, first.state, 10, rows=first.rows, steps=first.steps, row=lambda x: x)
    whole = iterate(HALVE, xnp.float64(100.0), 10, row=lambda x: x)
    assert int(rest.steps) == int(whole.steps) == 7
    np.testing.assert_array_equal(rest.rows, whole.rows)
    kept = iterate(HALVE, xnp.float64(100.0), 10, first=xnp.float64(-1.0), row=lambda x: x).rows
    np.testing.assert_array_equal(kept[:2], [-1.0, 50.0])


def test_other_loops_run_it():
    seen = []

    def loop(going, body, carry):
        seen.append(carry)
        return lax.while_loop(going, body, carry, checkpoints=0)

    assert int(iterate(HALVE, xnp.float64(12.0), 50, loop=loop).steps) == 4
    assert len(seen) == 1


def test_states_on_disk(tmp_path, monkeypatch):
    plain = iterate(HALVE, xnp.float64(1e6), 50, row=lambda x: x)
    kept = iterate(
        HALVE, xnp.float64(1e6), 50, row=lambda x: x, checkpoint=Checkpoints("f", tmp_path)
    )
    again = iterate(
        HALVE, xnp.float64(7.0), 50, row=lambda x: x, checkpoint=Checkpoints("f", tmp_path)
    )
    for ran in (kept, again):  # the last goes on where the other ended
        np.testing.assert_array_equal(ran.rows, plain.rows)
        assert float(ran.state) == float(plain.state) and int(ran.steps) == int(plain.steps)
    shown = []

    class Recorder:
        def __init__(self, label, total):
            shown.append(0)

        def update(self, n):
            shown[-1] += n

        def close(self):
            pass

    monkeypatch.setattr(progress, "open_bar", Recorder)
    checkpoint = Checkpoints("f", tmp_path / "other")
    iterate(HALVE, xnp.float64(12.0), 50, progress=True, checkpoint=checkpoint)
    assert shown == [4]  # one bar for all parts


@pytest.mark.parametrize("flexible", [False, True])
def test_conjugate_gradients_end_after_n_steps(flexible):
    rng = np.random.default_rng(0)
    q = rng.normal(size=(6, 6))
    a, b, scale = q @ q.T + 6 * np.eye(6), rng.normal(size=6), 1 + rng.random(6)
    state = cg_begin(xnp.zeros(6), xnp.asarray(b), flexible)
    for _ in range(6):
        state, curvature = cg_step(state, lambda x: a @ x, lambda r: scale * r, flexible=flexible)
        np.testing.assert_allclose(curvature, state["p"] @ a @ state["p"], rtol=1e-12)
        np.testing.assert_allclose(state["r"], b - a @ state["x"], atol=1e-12)
    np.testing.assert_allclose(state["x"], np.linalg.solve(a, b), rtol=1e-10)


def test_flexible_gradients_tolerate_a_preconditioner_that_is_not_symmetric():
    n = 60
    a = np.diag(np.linspace(1.0, 1000.0, n))
    skew = np.diag(1 / np.diag(a)) @ (np.eye(n) + 0.3 * np.eye(n, k=1))
    solve = lambda cg: linalg.linear_solve(
        linalg.Matrix(a, symmetric=True, positive=True),
        np.ones(n),
        cg,
        preconditioner=lambda r: skew @ r,
        report=True,
    )
    plain, flexible = (solve(linalg.CG(rtol=1e-10, flexible=f)) for f in (False, True))
    assert bool(flexible.ok) and int(flexible.steps) <= int(plain.steps)
    np.testing.assert_allclose(flexible.value, 1 / np.diag(a), rtol=1e-7)
