"""What ``xc.explain`` says of a call, beside what is known of it."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore._control.explain import Ceilings, ceilings, host_calls, instructions


def test_counts_are_those_of_the_formula():
    n, m, k = 40, 30, 20
    found = xc.explain(lambda a, b: xnp.exp(a @ b))(xnp.ones((n, m)), xnp.ones((m, k), "float32"))
    assert found.operations == {"dot_general": 1, "exp": 1}
    assert (found.flops, found.transcendentals) == (2 * n * m * k, n * k)
    assert found.memory["arguments"] == 4 * (n * m + m * k)
    assert found.memory["results"] == 4 * n * k
    assert found.memory["peak"] >= found.memory["arguments"] + found.memory["results"]
    assert found.host_calls == {} and found.traces == ("its first call.",)
    assert found.types == ("float32[40,30], float32[30,20]", "float32[40,20]")


def test_loops_and_branches_are_looked_into():
    def f(x):
        x, _ = xc.lax.scan(lambda c, _: (xnp.sin(c), None), x, None, length=7)
        return xc.lax.cond(x[0] > 0, xnp.cos, lambda x: x, x)

    found = xc.explain(f)(xnp.ones(5))
    assert found.transcendentals == 7 * 5 + 5
    assert found.operations["scan"] == found.operations["sin"] == found.operations["cos"] == 1
    assert found.instructions["while"] == 1


def test_time_is_measured_and_compared():
    f = xc.jit(lambda x: xnp.sort(x))
    found = xc.explain(f)(xnp.arange(3000.0))
    assert 0 < found.seconds < 10 and 0 < found.compile_seconds < 100
    assert found.least_seconds == max(
        found.flops / found.ceilings.flops, found.bytes / found.ceilings.bandwidth
    )
    assert "the fastest call" in str(found)


def test_types_are_enough_and_nothing_runs():
    called = []
    f = xc.jit(lambda x: (called.append(1), xnp.sum(x))[1])
    found = xc.explain(f)(xc.ShapeDtypeStruct((10**6, 10**4), "float32"))
    assert found.seconds is None and called == [1]
    assert found.memory["arguments"] == 4 * 10**10
    assert "not measured: an argument is a type" in str(found)


def test_arguments_given_away_are_still_there():
    f = xc.jit(lambda x: x + 1, donate_argnums=0)
    x = xnp.zeros(1000)
    xc.explain(f)(x)
    assert float(x.sum()) == 0


def test_it_says_why_there_were_several_traces():
    f = xc.jit(lambda x, n: x * n, static_argnames="n")
    f(xnp.ones(3), 2)
    f(xnp.ones(3), 3)
    found = xc.explain(f)(xnp.ones(4), 3)
    assert len(found.traces) == 3
    assert "static arguments" in found.traces[1] and "float32[4]" in found.traces[2]


def test_host_calls_are_named():
    def f(x):
        return xc.pure_callback(lambda x: np.sin(x), x, x)

    found = xc.explain(f)(xnp.ones(3))
    assert sum(found.host_calls.values()) == 1 and "python" in str(found)


def test_derivatives_trees_and_several_devices():
    mesh = xc.make_mesh((4,), ("i",))
    x = xc.device_put(xnp.arange(8.0), xc.NamedSharding(mesh, xc.P("i")))
    loss = lambda p: (p["x"] ** 2).sum()
    found = xc.explain(xc.grad(loss))({"x": x})
    assert found.memory["arguments"] == 8  # on each device
    assert xc.explain(lambda x: x.sum())(x).instructions.get("all-reduce") == 1
    assert xc.explain(lambda: 3.0)().operations == {}


def test_fusions_are_told_by_what_is_in_them():
    text = """
%fused (p: f32[3]) -> f32[3] {
  %p = f32[3]{0} parameter(0)
  %s = f32[3]{0} sine(%p)
  ROOT %a = f32[3]{0} add(%s, %s)
}

ENTRY %main (x: f32[3]) -> f32[3] {
  %x = f32[3]{0} parameter(0)
  %c = (f32[3]{0}, s32[3]{0}) custom-call(%x), custom_call_target="xla_ffi_python_cpu_callback"
  ROOT %f = f32[3]{0} fusion(%x), kind=kLoop, calls=%fused
}
"""
    assert instructions(text) == {"custom-call": 1, "fusion of sine, add": 1}
    assert host_calls(text) == {"xla_ffi_python_cpu_callback": 1}


def test_ceilings_only_rise():
    device = xc.devices()[0]
    first = ceilings(device, np.dtype("float32"))
    again = ceilings(device, np.dtype("float32"), remeasure=True)
    assert isinstance(first, Ceilings) and first.flops > 0
    assert again.flops >= first.flops and again.bandwidth >= first.bandwidth


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match="expected a function"):
        xc.explain(3)
