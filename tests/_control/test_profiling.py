"""Profiles are written and name what ran; memory is counted; running out of it is explained."""

import gc
import gzip
import json

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore.sharding import NamedSharding, P

DEVICES = xc.devices()[:8]


def events(folder):
    (file,) = [
        p for p in folder.glob("plugins/profile/*/*.trace.json.gz") if "perfetto" not in p.name
    ]
    return {
        e.get("name", "") for e in json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]
    }


def test_trace(tmp_path):
    f = xc.jit(lambda v: xnp.tanh(v @ v).sum())
    v = xnp.ones((64, 64))
    with xc.profiler.trace(tmp_path, create_perfetto_trace=True):
        with xc.profiler.TraceAnnotation("my annotation"):
            f(v).block_until_ready()
        with xc.profiler.StepTraceAnnotation("my step", step_num=3):
            xc.profiler.annotate_function(lambda: f(v), name="my function")().block_until_ready()
    names = events(tmp_path)
    assert any("my annotation" in n for n in names) and any("my function" in n for n in names)
    assert any("my step" in n for n in names)
    recorded = [n for n in names if "dot" in n or "fusion" in n]  # by the compiler's names
    assert recorded, "operations of the program are recorded"
    assert list(tmp_path.glob("plugins/profile/*/*.xplane.pb"))
    assert list(tmp_path.glob("plugins/profile/*/perfetto_trace.json.gz"))


def test_trace_in_two_calls(tmp_path):
    with pytest.raises(RuntimeError, match="no trace is being recorded"):
        xc.profiler.stop_trace()
    xc.profiler.start_trace(tmp_path)
    with pytest.raises(RuntimeError, match="already"):
        xc.profiler.start_trace(tmp_path)
    xc.profiler.stop_trace()
    assert list(tmp_path.glob("plugins/profile/*/*.xplane.pb"))


def layer(x):
    with xc.named_scope("outer"):
        with xc.named_scope("inner"):
            x = xnp.sin(x)
        return x * x


def test_named_scopes():
    lowered = xc.jit(xc.grad(lambda x: layer(x).sum())).lower(np.ones(3, np.float32))
    text = lowered.as_text(debug_info=True)
    assert "outer/inner/layer" in text and "test_profiling.py" in text
    optimised = lowered.compile().as_text()
    assert 'op_name="' in optimised and "outer" in optimised

    @xc.named_scope("decorated")
    def g(x):
        return xnp.cos(x)

    assert "decorated/g" in xc.jit(g).lower(1.0).as_text(debug_info=True)
    h = xc.named_call(lambda x: xnp.exp(x), name="called")
    assert "called/" in xc.jit(h).lower(1.0).as_text(debug_info=True)
    assert "called/" not in xc.jit(lambda x: xnp.log(x)).lower(1.0).as_text(debug_info=True)


def test_errors_in_scopes_still_name_the_line():
    def f(x):
        with xc.named_scope("s"):
            y = x * 2
        return xnp.ones(3)[: int(y)]

    with pytest.raises(xc.errors.ConcretizationError, match=r"y = x \* 2|int\(y\)"):
        xc.jit(f)(1.0)


def test_memory():
    gc.collect()  # what others left would be given back in between
    before = xc.memory_stats(DEVICES[0])["bytes_in_use"]
    x = xc.device_put(np.zeros((1000, 100), np.float32), DEVICES[0])
    assert xc.memory_stats(DEVICES[0])["bytes_in_use"] >= before + x.nbytes
    mesh = xc.make_mesh((len(DEVICES),), "x", devices=DEVICES)
    before = xc.memory_stats(DEVICES[-1])["bytes_in_use"]
    y = xc.device_put(np.zeros((len(DEVICES), 999)), NamedSharding(mesh, P("x")))
    if DEVICES[0].platform == "cpu":
        assert xc.memory_stats(DEVICES[-1])["bytes_in_use"] >= before + 999 * 8
    (live,) = [a for a in xc.live_arrays() if a.shape == y.shape]
    assert live.sharding.is_equivalent_to(y.sharding, 2)
    del live, y
    assert not [a for a in xc.live_arrays() if a.shape == (len(DEVICES), 999)]


def test_memory_profile(tmp_path):
    xc.profiler.save_device_memory_profile(tmp_path / "memory.prof")
    assert b"bytes" in (tmp_path / "memory.prof").read_bytes()  # a unit named in pprof's format


def test_out_of_memory_lists_the_largest_arrays():
    kept = [xnp.full((317, 1013), i, dtype="float32") for i in range(2)]
    big = xc.jit(lambda v: xnp.broadcast_to(v[:, None, None], (1000, 2**20, 2**14)) + 1)
    with pytest.raises(xc.errors.OutOfMemoryError, match=r"2 of float32\[317,1013\], 2\.4 MiB"):
        big(xnp.ones(1000)).block_until_ready()
    assert len(kept) == 2
