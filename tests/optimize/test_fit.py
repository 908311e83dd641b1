"""Training loops, and states that survive on disk."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo

RNG = np.random.default_rng(2)
X = RNG.normal(size=(50, 3)).astype("f")
W = np.array([1.0, -2.0, 0.5], "f")
DATA = (X, X @ W)


def loss(w, batch):
    x, y = batch
    return xnp.mean((x @ w - y) ** 2)


def test_full_batches_are_gradient_descent():
    done = xo.fit(loss, xnp.zeros(3), DATA, xo.sgd(0.1), epochs=20)
    w, losses = np.zeros(3), []
    for _ in range(20):
        losses.append(np.mean((X @ w - DATA[1]) ** 2))
        w = w - 0.1 * 2 * X.T @ (X @ w - DATA[1]) / 50
    np.testing.assert_allclose(done.params, w, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(done.losses[:, 0], losses, rtol=1e-4)


def test_small_batches_are_shuffled_rows():
    done = xo.fit(loss, xnp.zeros(3), DATA, xo.adam(0.05), epochs=40, batch_size=16,
                  key=xc.random.key(0))  # fmt: skip
    assert done.losses.shape == (40, 3)
    np.testing.assert_allclose(done.params, W, atol=1e-2)
    other = xo.fit(loss, xnp.zeros(3), DATA, xo.adam(0.05), epochs=1, batch_size=16,
                   key=xc.random.key(1))  # fmt: skip
    assert not np.array_equal(other.losses[0], done.losses[0])


def test_a_run_that_is_stopped_and_saved_goes_on_to_the_same_bits(tmp_path):
    settings = {"batch_size": 16, "key": xc.random.key(3)}
    opt = xo.adam(xo.linear_schedule(0.1, 0.0, 30))
    whole = xo.fit(loss, xnp.zeros(3), DATA, opt, epochs=6, **settings)
    first = xo.fit(loss, xnp.zeros(3), DATA, opt, epochs=2, **settings)
    xo.save(tmp_path / "run.npz", first)
    again = xo.load(tmp_path / "run.npz", xc.tree.map(xnp.zeros_like, first))
    rest = xo.fit(loss, None, DATA, opt, epochs=4, resume=again, **settings)
    for a, b in zip(xc.tree.leaves(whole.replace(losses=None)), xc.tree.leaves(rest.replace(losses=None)),
                    strict=True):  # fmt: skip
        assert a.dtype == b.dtype and np.asarray(a).tobytes() == np.asarray(b).tobytes()
    np.testing.assert_array_equal(whole.losses[2:], rest.losses)


def test_all_dtypes_and_keys_survive_on_disk(tmp_path):
    state = {
        "half": xnp.asarray([1.5, np.inf], "bfloat16"),
        "z": xnp.asarray([1j]),
        "n": xnp.int32(3),
        "key": xc.random.key(7),
        "none": None,
        "empty": xnp.zeros((0, 2)),
    }
    xo.save(tmp_path / "s.npz", state)
    back = xo.load(tmp_path / "s.npz", state)
    for name in ("half", "z", "n", "empty"):
        assert back[name].dtype == state[name].dtype
        np.testing.assert_array_equal(np.asarray(back[name]), np.asarray(state[name]))
    assert np.array_equal(xc.random.key_data(back["key"]), xc.random.key_data(state["key"]))
    assert [p.name for p in tmp_path.iterdir()] == ["s.npz"]


def test_a_file_of_another_tree_is_refused(tmp_path):
    xo.save(tmp_path / "s.npz", {"a": xnp.ones(2)})
    with pytest.raises(ValueError, match="another tree"):
        xo.load(tmp_path / "s.npz", {"b": xnp.ones(2)})
    with pytest.raises(ValueError, match="is expected"):
        xo.load(tmp_path / "s.npz", {"a": xnp.ones(3)})


def test_no_data_and_under_jit():
    train = xc.jit(
        lambda p: xo.fit(lambda p: (p - 2.0) ** 2, p, None, xo.sgd(0.25), epochs=30).params
    )
    assert float(train(0.0)) == pytest.approx(2.0, abs=1e-5)


@pytest.mark.parametrize(
    "kwargs, words",
    [
        ({"batch_size": 51}, "between 1 and 50"),
        ({"epochs": -1}, ">= 0"),
        ({"optimizer": 3.0}, "adam"),
        ({"data": (X, W)}, "same length"),
    ],
)
def test_wrong_settings_are_explained(kwargs, words):
    settings = {
        "loss": loss,
        "params": xnp.zeros(3),
        "data": DATA,
        "optimizer": xo.sgd(0.1),
    } | kwargs
    with pytest.raises((ValueError, TypeError), match=words):
        xo.fit(**settings)


@pytest.mark.parametrize("params, name", [
    (0, r"params must"), ({"a": 1.0, "b": [1, 2.0]}, r"params\['b'\]\[0\] must"),
    (xnp.arange(3), r"params must"), ((1.0, True), r"params\[1\] must"),
])  # fmt: skip
def test_integers_are_no_parameters(params, name):
    with pytest.raises(
        TypeError, match=rf"optimize\.fit: {name} be a floating-point number, .*given"
    ):
        xo.fit(lambda p, b: (b**2).mean(), params, xnp.ones(8), xo.sgd(0.1))


@pytest.mark.parametrize("data", [[1.0, 2.0], ([1.0, 2.0], [3.0, 4.0]), {"x": [1, 2]}, 3.0])
def test_lists_are_no_data(data):
    with pytest.raises(
        TypeError, match=r"optimize\.fit: data must be a tree of arrays.*xnp\.asarray"
    ):
        xo.fit(lambda p, b: p**2, 0.0, data, xo.sgd(0.1))
    rows = xnp.ones(2), np.ones(2)  # lists of arrays are trees as others are
    assert xo.fit(lambda p, b: p**2, 0.0, [*rows], xo.sgd(0.1)).epoch == 1


def test_a_callback_beside_a_progress_bar(capfd):
    line = lambda w, batch: xnp.mean((w * batch[0] - batch[1]) ** 2)
    x = xnp.linspace(0.0, 1.0, 8)
    seen = []
    done = xo.fit(
        line, xnp.asarray(0.0), (x, 3 * x), xo.sgd(0.5), epochs=5, progress="training",
        callback=lambda f: seen.append(int(f.epoch)) or f.epoch == 3,
    )  # fmt: skip
    assert seen == [1, 2, 3] and int(done.epoch) == 3
    shown = capfd.readouterr().err
    assert "training" in shown and "3/5" in shown
