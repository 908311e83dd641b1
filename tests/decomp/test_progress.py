"""All iterative fits show their steps, and keep the error after each."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import decomp
from xcore._control import progress

X = np.random.default_rng(2).random((4, 5, 3))


class Recorder:
    bars: dict = {}

    def __init__(self, label, total):
        self.label = label
        self.bars[label] = 0

    def update(self, n):
        self.bars[self.label] += n

    def close(self):
        pass


@pytest.fixture
def bars(monkeypatch):
    monkeypatch.setattr(progress, "open_bar", Recorder)
    Recorder.bars.clear()
    return Recorder.bars


FITS = {
    "als": lambda **kw: decomp.cp_als(X, 2, max_steps=7, **kw),
    "hals": lambda **kw: decomp.cp_nonneg(X, 2, max_steps=7, **kw),
    "admm": lambda **kw: decomp.cp_constrained(X, 2, lambda a, _: a, max_steps=7, **kw),
    "sampled": lambda **kw: decomp.cp_arls(X, 2, max_steps=7, **kw),
    "gauss-newton": lambda **kw: decomp.cp_gauss_newton(X, 2, max_steps=7, **kw),
    "gradient": lambda **kw: decomp.cp_gradient(X, 2, max_steps=7, rtol=0.0, **kw),
    "tucker": lambda **kw: decomp.tucker_als(X, 2, max_steps=7, **kw),
    "not negative": lambda **kw: decomp.tucker_nonneg(X, 2, max_steps=7, **kw),
}


@pytest.mark.parametrize("name", FITS)
def test_fits_show_their_steps_and_keep_their_errors(name, bars):
    found = FITS[name](progress=name)
    steps, history = int(found.steps), np.asarray(found.history)
    xc.block_until_ready(found)
    # the first search of an optimiser only evaluates where it starts
    assert bars == {name: steps + (name == "gradient")} and not progress._runs
    assert history.shape == (steps + 1,) and np.isfinite(history).all()
    assert history[-1] <= history[1]
    if name != "sampled":  # there the best of all steps is kept
        np.testing.assert_allclose(history[-1], found.error, rtol=1e-6)
        assert (np.diff(history[1:]) < 1e-12).all() or name in ("admm", "hals")


def test_sweeps_of_hooi_show(bars):
    shown, silent = decomp.hooi(X, 2, max_steps=5, progress="hooi"), decomp.hooi(X, 2, max_steps=5)
    assert bars == {"hooi": 5}
    np.testing.assert_allclose(shown.core, silent.core, rtol=1e-10, atol=1e-12)


def test_tucker_als_is_hooi_until_it_stops():
    found = decomp.tucker_als(X, (2, 3, 2), rtol=1e-12)
    iterated = decomp.hooi(X, (2, 3, 2), max_steps=int(found.steps))
    np.testing.assert_allclose(found.value.to_dense(), iterated.to_dense(), atol=1e-10)
    np.testing.assert_allclose(found.error, decomp.relative_error(X, found.value), rtol=1e-10)
    assert int(found.status) == 0 and int(found.steps) < 100
    lanes = xc.vmap(lambda x: decomp.tucker_als(x, (2, 3, 2), max_steps=2).error)(
        xnp.stack([X, X**2])
    )
    alone = decomp.tucker_als(X**2, (2, 3, 2), max_steps=2).error
    np.testing.assert_allclose(lanes[1], alone, rtol=1e-10)
