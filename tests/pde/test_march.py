"""Long runs with trackers, beside ``trajectory`` and exact solutions."""

import io
import os

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.errors import ArgumentError, ShapeError, SolverError

DECAY = pde.RungeKutta(lambda u, t: -u, pde.RK4)
HEAT = pde.Diffusion(pde.Grid(16), 1.0)


def heated():
    return pde.ThetaMethod(HEAT), HEAT.field(
        lambda x: xnp.sin(np.pi * x) + 0.1 * xnp.sin(3 * np.pi * x)
    )


def test_it_ends_where_trajectory_does():
    stepper, u = heated()
    seen = []
    end = pde.march(
        stepper, u, 0.01, 12, every=4, trackers=lambda u, t: seen.append((t, u)), t0=1.0
    )
    kept = pde.trajectory(stepper, u, 0.01, 12, every=4, t0=1.0)
    np.testing.assert_allclose(end, kept[-1], rtol=1e-6)
    np.testing.assert_allclose([t for t, _ in seen], [1.0, 1.04, 1.08, 1.12], rtol=1e-6)
    np.testing.assert_allclose(xnp.stack([u for _, u in seen[1:]]), kept, rtol=1e-6)


def test_a_tracker_ends_it():
    found = pde.march(DECAY, xnp.ones(()), 0.1, 100, trackers=[lambda u, t: u < 0.5], report=True)
    assert found.ok
    assert int(found.steps) == 7
    np.testing.assert_allclose(found.ended, 0.7, rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("rate, dt, every", [(1.0, 0.1, 1), (1.0, 0.01, 7), (100.0, 0.001, 20)])
def test_what_is_left_is_less_than_was_asked_for(unit, rate, dt, every):
    """u' = rate (1 - u), in any unit, with any steps: not the change by a step, but the way that is left, is small."""
    with xc.enable_x64():
        stepper = pde.RungeKutta(lambda u, t: rate * (unit - u), pde.RK4)
        steady = pde.Steady(rtol=1e-5)
        found = pde.march(
            stepper, xnp.zeros(3), dt, 7 * 2000, every=every, trackers=steady, report=True
        )
        assert found.ok
        away = float(abs(found.value / unit - 1).max())
        assert away < 1.01e-5
        assert away > 1e-5 * np.exp(-4 * rate * dt * every)  # and it does not go on for long
        np.testing.assert_allclose(steady.away, away, rtol=0.1)


def test_slow_changes_are_not_taken_for_rest():
    """A test of the change by one interval, 1e-6 of the state, would end here at once."""
    slow = pde.RungeKutta(lambda u, t: 1e-3 * (1 - u), pde.RK4)
    with xc.enable_x64():
        found = pde.march(
            slow, xnp.full(2, 0.5), 1e-3, 200, trackers=pde.Steady(rtol=1e-5), report=True
        )
        assert found.status == pde.Status.max_steps
        assert "ran out" in found.message
        growing = pde.RungeKutta(lambda u, t: 1e-9 * u, pde.RK4)
        found = pde.march(growing, xnp.ones(2), 1.0, 50, trackers=pde.Steady(), report=True)
        assert found.status == pde.Status.max_steps
    with pytest.raises(SolverError, match="waited for"):
        pde.march(slow, xnp.full(2, 0.5), 1e-3, 20, trackers=pde.Steady())


def test_rest_is_reached_at_zero_and_of_trees():
    state = {"a": xnp.zeros((0,)), "b": (xnp.ones(2), xnp.zeros(3))}
    still = pde.RungeKutta(lambda u, t: xc.tree.map(xnp.zeros_like, u), pde.EULER)
    found = pde.march(still, state, 1.0, 10, trackers=pde.Steady(), report=True)
    assert found.ok
    assert int(found.steps) == 3
    decay = pde.march(
        DECAY, xnp.ones(2), 0.5, 500, trackers=pde.Steady(rtol=0, atol=1e-4), report=True
    )
    assert decay.ok
    assert 0 < decay.value.max() < 1e-4


@pytest.mark.parametrize(("fast", "slow"), [(10.0, 1e-4), (3.0, 1e-3), (30.0, 1e-2)])
def test_what_is_slow_is_seen_when_it_begins_to_show(fast, slow):
    """Changes that shrink by 1e-4 and then by 0.9 lead nowhere near where those of the slow part do."""
    rates = xnp.asarray([fast, slow])
    run = pde.RungeKutta(lambda u, t: rates * (1 - u))
    found = pde.march(
        run, xnp.zeros(2), 0.02, 1500, every=50, trackers=pde.Steady(rtol=1e-2), report=True
    )
    assert not found.ok or abs(found.value - 1).max() < 0.05


def test_it_tells_what_goes_wrong():
    explicit = pde.RungeKutta(lambda u, t: u**2, pde.EULER)
    found = pde.march(explicit, xnp.ones(()), 0.5, 40, every=5, report=True)
    assert found.status == pde.Status.not_finite
    assert float(found.left) == float(found.ended)
    with pytest.raises(SolverError, match="not finite from"):
        pde.march(explicit, xnp.ones(()), 0.5, 40, every=5)
    wild = pde.march(
        pde.RungeKutta(lambda u, t: -50 * u, pde.EULER), xnp.ones(2), 0.1, 4, report=True
    )
    assert wild.status == pde.Status.breakdown
    with pytest.raises(ArgumentError, match="trackers"):
        pde.march(DECAY, xnp.ones(2), 0.1, 4, trackers=["progress"])
    with pytest.raises(ArgumentError, match="jit"):
        xc.jit(lambda u: pde.march(DECAY, u, 0.1, 4))(xnp.ones(2))
    with pytest.raises(ArgumentError, match="multiple of every"):
        pde.march(DECAY, xnp.ones(2), 0.1, 5, every=2)


def test_figures_are_printed():
    out = io.StringIO()
    look = pde.Print(file=out, mass=xnp.sum, first=lambda u, t: u[0] * np.exp(t))
    pde.march(DECAY, xnp.ones(2), 0.1, 4, every=2, trackers=look)
    lines = out.getvalue().splitlines()
    assert lines[0] == "t = 0  mass = 2  first = 1"
    assert [x.split("  ")[0] for x in lines] == ["t = 0", "t = 0.2", "t = 0.4"]


KINDS = {".npz": None, ".h5": "h5py", ".zarr": "zarr"}


@pytest.mark.parametrize("ending", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "complex64", "bfloat16"])
def test_states_come_back_from_the_disk(tmp_path, ending, dtype):
    if KINDS[ending]:
        pytest.importorskip(KINDS[ending])
    path = tmp_path / f"run{ending}"
    u = xnp.asarray([1.0, 2.0], dtype)
    pde.march(DECAY, u, 0.25, 4, every=2, trackers=pde.Store(path))
    times, states = pde.Store.read(path)
    np.testing.assert_allclose(times, [0.0, 0.5, 1.0])
    np.testing.assert_allclose(states, np.exp(-times)[:, None] * np.array([1, 2]), rtol=0.02)
    assert states.dtype == ("float32" if dtype == "bfloat16" else dtype)
    with pytest.raises(ArgumentError, match="overwrite"):
        pde.Store(path)
    saved = lambda u, t: {"sum": u.sum(), "parts": (u, u > 1)}
    pde.march(DECAY, u, 0.25, 2, trackers=pde.Store(path, saved, overwrite=True))
    times, states = pde.Store.read(path)
    assert sorted(states) == ["u.parts.0", "u.parts.1", "u.sum"]
    assert states["u.parts.1"].dtype == bool


def test_states_are_written_whatever_ends_the_run(tmp_path):
    def interrupted(u, t):
        if t > 0.4:
            raise KeyboardInterrupt

    path = tmp_path / "run.npz"
    with pytest.raises(KeyboardInterrupt):
        pde.march(DECAY, xnp.ones(2), 0.25, 4, trackers=[pde.Store(path), interrupted])
    assert len(pde.Store.read(path)[0]) == 3
    assert os.listdir(tmp_path) == ["run.npz"]


def test_endings_and_packages_that_are_not_there(tmp_path, monkeypatch):
    with pytest.raises(ArgumentError, match=r"\.npz, \.h5"):
        pde.Store(tmp_path / "run.csv")
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(ArgumentError, match="pip install h5py"):
        pde.march(DECAY, xnp.ones(2), 0.25, 4, trackers=pde.Store(tmp_path / "run.h5"))


def test_a_place_for_what_a_run_gives_is_looked_for_before_it(tmp_path):
    (tmp_path / "a.h5").mkdir()
    (tmp_path / "a.zarr").write_text("")
    for path, words in [
        ("no/run.npz", "folder that is there"),
        ("a.h5", "no folder"),
        ("a.zarr", "no file"),
    ]:
        with pytest.raises(ArgumentError, match=words):
            pde.Store(tmp_path / path, overwrite=True)
    with pytest.raises(ArgumentError, match="save must be a function"):
        pde.Store(tmp_path / "run.npz", save="u")


@pytest.mark.parametrize("ending", KINDS)
@pytest.mark.parametrize(
    "save, words",
    [(lambda u, t: u[:1] if t else u, "shape"), (lambda u, t: float(t) if t else 0, "dtype"),
     (lambda u, t: {"b": u} if t else {"a": u}, "same names"), (lambda u, t: None, "returns arrays"),
     (lambda u, t: {"a.b": u, "a": {"b": u}}, "different names"), (lambda u, t: {"a/b": u}, "without")],
)  # fmt: skip
def test_nothing_is_written_that_is_not_what_was_given(tmp_path, ending, save, words):
    if KINDS[ending]:
        pytest.importorskip(KINDS[ending])
    path = tmp_path / f"run{ending}"
    with pytest.raises(ArgumentError, match=words):
        pde.march(DECAY, xnp.ones(2), 0.25, 4, trackers=pde.Store(path, save))


def test_files_of_one_run_each(tmp_path):
    store = pde.Store(tmp_path / "run.npz")
    pde.march(DECAY, xnp.ones(2), 0.25, 4, trackers=store)
    with pytest.raises(ArgumentError, match="a new Store"):
        pde.march(DECAY, xnp.ones(2), 0.25, 4, trackers=store)
    assert len(pde.Store.read(store.path)[0]) == 5
    np.savez(tmp_path / "other.npz", a=np.ones(2))
    (tmp_path / "text.npz").write_text("t")
    for name in ("other.npz", "text.npz"):
        with pytest.raises(ArgumentError, match="has written"):
            pde.Store.read(tmp_path / name)
    with pytest.raises(ArgumentError, match="is there"):
        pde.Store.read(tmp_path / "none.npz")


def test_mistakes_in_trackers_and_states_are_told():
    run = lambda trackers: pde.march(DECAY, xnp.ones(2), 0.1, 4, trackers=trackers)
    for look, words in [(pde.Steady, r"Steady\(\) makes one"), (lambda u: None, "of .u, t."),
                        (lambda u, t: u > 0, "whether the run ends"),
                        (pde.Print(all=lambda u: u), "one number")]:  # fmt: skip
        with pytest.raises(ArgumentError, match=words):
            run(look)
    with pytest.raises(ArgumentError, match="a function of u"):
        pde.Print(mass=3.0)
    heat = pde.ThetaMethod(pde.Diffusion(pde.Grid(8), 1.0))
    for u in (xnp.ones(9), xnp.ones(3)):
        with pytest.raises(ShapeError, match="unknowns of op"):
            pde.march(heat, u, 0.1, 4)
