"""Both passes of reverse mode as functions, the stages' types, and arrays over devices."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp


def test_forward_and_backward_compile_once():
    traced = []

    def f(tree, y):
        traced.append(1)
        return {"out": xnp.sin(tree["a"]) * y}, y + 1

    fwd, bwd = xc.fwd_and_bwd(f, (0, 1), has_aux=True)
    for x in (0.5, 1.5):
        out, kept, aux = fwd({"a": xnp.asarray(x)}, xnp.asarray(2.0))
        da, dy = bwd(kept, {"out": 3.0})
        assert np.allclose(aux, 3.0) and np.allclose(out["out"], 2 * np.sin(x))
        assert np.allclose([da["a"], dy], [6 * np.cos(x), 3 * np.sin(x)])
    assert len(traced) == 1 and bwd._cache_size() == 1


@pytest.mark.parametrize("jitted", [True, False])
def test_one_argument_gives_one_cotangent(jitted):
    fwd, bwd = xc.fwd_and_bwd(lambda n, x: n * x**2, 1, jitted=jitted)
    y, kept = fwd(2, 3.0)
    assert float(y) == 18.0 and float(bwd(kept, 1.0)) == 12.0
    with pytest.raises(TypeError, match="argument number 1"):
        fwd(2)


def test_stages_have_names():
    f = xc.jit(lambda x: x + 1)
    traced = f.trace(1.0)
    lowered = traced.lower()
    assert isinstance(f, xc.stages.Wrapped) and not isinstance(len, xc.stages.Wrapped)
    assert isinstance(traced, xc.stages.Traced) and isinstance(lowered, xc.stages.Lowered)
    assert isinstance(lowered.compile(), xc.stages.Compiled)
    assert isinstance(xc.devices()[0], xc.Device)


def test_environment_is_told(capsys):
    told = xc.print_environment_info(return_string=True)
    assert f"xcore: {xc.__version__}" in told and np.__version__ in told
    assert xc.print_environment_info() is None
    assert capsys.readouterr().out == told + "\n"


def test_one_shard_for_each_device():
    devices = xc.devices()[:3]
    rows = [{"a": np.full((2,), i, np.int8), "b": float(i)} for i in range(3)]
    found = xc.device_put_sharded(rows, devices)
    assert np.array_equal(found["a"], [[0, 0], [1, 1], [2, 2]]) and found["a"].dtype == np.int8
    assert [s.device for s in found["b"].addressable_shards] == devices
    copies = xc.device_put_replicated(np.arange(2.0), devices)
    assert copies.shape == (3, 2) and np.array_equal(copies.addressable_shards[2].data, [[0, 1]])
    assert np.array_equal(xc.pmap(lambda x: x + 1, devices=devices)(found["b"]), [1, 2, 3])


def test_shards_must_fit():
    with pytest.raises(ValueError, match="shards"):
        xc.device_put_sharded([1.0], xc.devices()[:2])
    with pytest.raises(ValueError, match="shape"):
        xc.device_put_sharded([np.ones(2), np.ones(3)], xc.devices()[:2])
    with pytest.raises(ValueError, match="devices"):
        xc.device_put_replicated(1.0, [])
