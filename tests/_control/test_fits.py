"""Scripts followed by types: what is seen of them, where they are left, and the verdict. Devices are this CPU's.

What accelerators' compilers say of scripts is in tests/accelerators/test_fits.py.
"""

import re
from types import SimpleNamespace

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax
from xcore._control import fits
from xcore._control.costs import costs

N = 300


def device(memory: int = 1 << 30, count: int = 1):
    """What a topology says, of devices that are here."""
    flops = {"bfloat16": 4e12, "float32": 2e12, "float64": 1e12}
    return SimpleNamespace(
        name="CPU", devices=tuple(xc.devices()[:count]), memory=memory, bandwidth=1e12, flops=flops
    )


@pytest.fixture
def follow(tmp_path, capsys):
    """``follow(text)``: status and output of a script."""

    def run(text: str, where=None, arguments=()):
        path = tmp_path / "script.py"
        path.write_text(
            f"import sys, numpy as np, xcore as xc, xcore.numpy as xnp\nN = {N}\n{text}"
        )
        status = fits.examine(str(path), [str(path), *arguments], where or device())
        return status, capsys.readouterr().out

    return run


PRODUCT = "f = xc.jit(lambda x: x @ x)\ny = f(xnp.ones((N, N)))\n"


def cells(out: str, line: int) -> list[str]:
    """The row of what is called at a line of the script."""
    rows = [re.split(r"\s{2,}", text) for text in out.splitlines()]
    return next(r for r in rows if len(r) > 2 and r[1] == f"script.py:{line}")


def test_a_script_is_followed_to_its_end(follow):
    status, out = follow(PRODUCT + "z = f(y)\nprint(sys.argv[1:], y.shape)", arguments=["a", "b"])
    assert status == 0 and out.startswith("['a', 'b'] (300, 300)")
    assert cells(out, 4)[2:5] == ["2", "351.56 KiB", "351.56 KiB"]
    assert "followed to its end" in out and out.rstrip().endswith("\nfits")


def test_nothing_that_is_jitted_runs(follow):
    huge = "x = xnp.ones((2**17, 2**17))\ny = xc.jit(xnp.sin, donate_argnums=0)(x)\n"
    status, out = follow(huge)
    assert status == 1 and "does not fit: sin script.py:4: 64.00 GiB of 1.00 GiB" in out
    assert follow(huge, device(memory=1 << 40))[0] == 0


@pytest.mark.parametrize(
    "line", ["float(y[0, 0])", "if (y > 0).all(): pass", "np.asarray(y)", "y.tolist()", "range(y[0, 0].astype(int))"]
)  # fmt: skip
def test_where_a_value_is_needed_the_script_is_left(follow, line):
    status, out = follow(f"{PRODUCT}{line}\n1 / 0")
    assert status == 0 and f"followed to line 5: {line}, which needs a value" in out
    assert "fits, as far as it was followed" in out


def test_small_values_that_depend_on_nothing_are_there(follow):
    text = "s = xnp.linspace(0, 1, 5)\nif s.sum() > 2:\n    xc.jit(xnp.sin)(xc.random.normal(xc.random.key(0)))\n"
    status, out = follow(text)
    assert status == 0 and "sin" in out


def test_what_the_script_holds_is_counted(follow):
    held = "kept = [xc.jit(lambda i: i * xnp.ones((N, N)))(float(i)) for i in range(3)]\n"
    assert cells(follow(held + PRODUCT)[1], 5)[6] == "1.03 MiB"
    assert cells(follow(f"{held}kept = None\n{PRODUCT}")[1], 6)[6] == "0 B"


def test_loops_derivatives_and_maps_are_programs(follow):
    text = """
g = xc.grad(lambda x: f(x).sum())(y)
many = xc.vmap(f)(xnp.ones((2, N, N)))
z = xc.lax.fori_loop(0, 3, lambda i, x: 2 * x, y)
f.lower(y)
"""
    status, out = follow(PRODUCT + text)
    assert status == 0 and "scan" in out and all(cells(out, n) for n in (6, 7, 8))


def test_what_does_not_compile_is_told(follow, monkeypatch):
    def refuse(*args):
        raise NotImplementedError("there is no such thing here\nat all")

    monkeypatch.setattr(fits.compile, "executable", refuse)
    status, out = follow(PRODUCT)
    assert (
        status == 1
        and "<lambda> script.py:4 does not compile: there is no such thing here\n" in out
    )


def test_callbacks_are_told(follow):
    status, out = follow("xc.jit(lambda x: xc.pure_callback(np.sin, x, x))(xnp.ones(3))")
    assert status == 0 and "done by the host" in out


def test_results_have_what_arrays_have_but_values(follow):
    text = """
assert y.devices() == {y.device} == set(xc.devices()[:1]) and y.sharding.device is y.device
assert xc.block_until_ready(y).block_until_ready().is_ready() and not y.is_deleted()
assert (len(y), y.nbytes, y.at[0].set(1).shape, y.T[0].shape) == (N, 4 * N * N, (N, N), (N,))
y.delete()
z = f(xnp.ones((N, N)))
"""
    status, out = follow(PRODUCT + text)
    assert status == 0 and "followed to its end" in out and cells(out, 4)[6] == "0 B"


@pytest.mark.parametrize("text", ["1 / 0", "x = (", "sys.exit(3)", "pass"])
def test_of_a_script_that_fails_or_jits_nothing_nothing_can_be_said(follow, text):
    assert follow(text)[0] == 2


def test_meshes_are_of_the_devices_asked_for(follow):
    if len(xc.devices()) < 4:
        pytest.skip("needs 4 devices")
    text = """
assert len(xc.devices()) == xc.device_count() == 4
mesh = xc.make_mesh((4,), "x")
x = xc.device_put(np.ones((N, N), "f"), xc.NamedSharding(mesh, xc.P("x")))
y = xc.jit(xnp.sin)(x)
assert y.sharding.spec == xc.P("x"), y.sharding
z = xc.jit(lambda y: y @ y.T)(y)
"""
    status, out = follow(text, device(count=4))
    assert status == 0 and cells(out, 7)[3:5] == ["87.89 KiB", "87.89 KiB"]
    assert cells(out, 9)[3] == "87.89 KiB" and out.rstrip().endswith("fits")


def test_the_least_time_is_that_of_the_slower_ceiling():
    def times(f, *shapes, dtype=np.float32):
        p = xc.jit(f).trace(*[xc.ShapeDtypeStruct(s, dtype) for s in shapes]).program
        return fits.least_time(p, device(), 1)

    seconds, bound = times(lambda x: x @ x, (1000, 1000))
    assert bound == "arithmetic" and seconds == pytest.approx(2e9 / 2e12)
    assert times(lambda x: x @ x, (1000, 1000), dtype=np.float64)[0] == pytest.approx(2e9 / 1e12)
    seconds, bound = times(lambda x: x + 1, (1000, 1000))
    assert bound == "memory" and seconds == pytest.approx(8e6 / 1e12)


def test_a_program_of_each_device_costs_as_often_as_there_are_devices():
    mesh = xc.make_mesh((1,), "x") if len(xc.devices()) < 4 else xc.make_mesh((4,), "x")
    f = xc.shard_map(lambda x: x @ x.T, mesh=mesh, in_specs=xc.P("x"), out_specs=xc.P("x"))
    x = xc.ShapeDtypeStruct((8, 5), np.float32)
    n = 8 // mesh.size
    assert costs(xc.jit(f).trace(x).program)["flops"] == mesh.size * 2 * n * n * 5


def test_no_device_is_faster_than_the_time_told():
    """Of programs that need not read, or write, all of what they are given."""

    def seconds(f, *given, donate=()):
        traced = xc.jit(f, donate_argnums=donate).trace(*given)
        return fits.least_time(traced.program, device(), 1, traced._found.donors)[0]

    half, whole = (xc.ShapeDtypeStruct((2**12, 2**12), t) for t in ("bfloat16", "float32"))
    small, huge = xc.ShapeDtypeStruct((), "int32"), xc.ShapeDtypeStruct((2**14, 2**14), "float32")
    product, one = 2 * 2.0**36, 2.0**30 / 1e12
    loop = lambda b: lax.fori_loop(0, 100, lambda i, b: b.at[i].set(1.0), b)
    steps = lambda b: lax.fori_loop(0, 100, lambda i, b: 2 * b + 1, b)
    assert seconds(lambda t, i: t[i], huge, small) < 1e-3 * one
    assert seconds(loop, huge, donate=0) == 0
    assert seconds(steps, huge, donate=0) == pytest.approx(199 * one)
    assert seconds(lambda x: x.sum(), huge) == pytest.approx(one)
    assert seconds(lambda a: (a @ a).astype("float32").sum(), half) == pytest.approx(product / 4e12)
    fast = lambda a: xnp.matmul(a, a, precision="default")
    assert seconds(fast, whole) == pytest.approx(product / 4e12)
    assert seconds(lambda a: a @ a, whole) == pytest.approx(product / 2e12)
    pick = lambda i, a: lax.cond(i > 0, lambda a: a, lambda a: a @ a, a)
    assert seconds(pick, small, whole) < 1e-3
    factors = costs(xc.jit(xnp.linalg.qr).trace(whole).program)["flops"]
    assert factors == pytest.approx(8 / 3 * 2.0**36, rel=0.01)
    assert costs(xc.jit(lax.linalg.lu).trace(whole).program)["flops"] == pytest.approx(
        2 / 3 * 2.0**36, rel=0.01
    )


@pytest.mark.skipif(len(xc.devices()) < 4, reason="needs four devices")
def test_operations_outside_of_jit_spread_their_results_as_when_they_run(follow):
    operations = {
        "concatenate": "xnp.concatenate([x, x])", "reshape": "x.reshape(-1)", "zeros": "xnp.zeros_like(x)",
        "transpose": "x.T", "sum": "x.sum(1)", "literal": "(1.0 - x)", "maximum": "xnp.maximum(0.0, x)",
    }  # fmt: skip
    start = (
        'mesh = xc.make_mesh((4,), "x")\n'
        'x = xc.device_put(np.ones((8 * N, 8 * N), "f"), xc.NamedSharding(mesh, xc.P("x")))\n'
    )
    for name, text in operations.items():
        status, out = follow(
            f"{start}print({text}.sharding.shard_shape({text}.shape))", device(count=4)
        )
        seen = {"xc": xc, "xnp": xnp, "np": np, "N": N}
        exec(f"{start}shape = {text}.sharding.shard_shape({text}.shape)", seen)
        assert out.startswith(str(seen["shape"])), name
    status, out = follow(f"{start}y = xc.device_put(np.ones(7), x.sharding)", device(count=4))
    assert status == 2 and "the script failed" in out


def test_an_operation_that_does_not_compile_does_not_fit(follow, monkeypatch):
    def fails(*given):
        raise RuntimeError("no room for it")

    text = (
        'mesh = xc.make_mesh((4,), "x")\n'
        'x = xc.device_put(np.ones((8, 8), "f"), xc.NamedSharding(mesh, xc.P("x")))\ny = x + 1\n'
    )
    monkeypatch.setattr(fits.compile, "executable", fails)
    status, out = follow(text, device(count=4))
    assert status == 1 and "script.py:5 does not compile: no room for it" in out
