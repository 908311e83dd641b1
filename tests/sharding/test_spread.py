"""Programs on sharded arrays: computation follows data, jit's shardings, constraints; same numbers."""

import re

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore.sharding import Mesh, NamedSharding, P, PositionalSharding

if xc.device_count() < 8:
    pytest.skip("needs eight devices", allow_module_level=True)

DEVICES = xc.devices()[:8]
MESH = xc.make_mesh((4, 2), ("x", "y"), devices=DEVICES)
LINE = xc.make_mesh((8,), "z", devices=DEVICES)
SHUFFLED = Mesh(np.array(DEVICES, dtype=object)[[3, 1, 0, 2, 7, 6, 5, 4]].reshape(4, 2), ("a", "b"))
rng = np.random.default_rng(0)
A = rng.standard_normal((8, 16)).astype(np.float32)


def named(*spec, mesh=MESH):
    return NamedSharding(mesh, P(*spec))


def put(value, *spec, mesh=MESH):
    return xc.device_put(value, named(*spec, mesh=mesh))


def collectives(f, *args):
    """The names of the collectives in a compiled program."""
    text = xc.jit(f).lower(*args).compile().as_text()
    return set(
        re.findall(r"(all-reduce|all-gather|all-to-all|collective-permute|reduce-scatter)", text)
    )


# Computation follows data

CASES = {
    "elementwise": lambda a: xnp.sin(a) * 2 + a,
    "sum of an axis": lambda a: a.sum(0),
    "mean": lambda a: a.mean(),
    "transpose": lambda a: a.T,
    "reshape": lambda a: a.reshape(-1),
    "slice": lambda a: a[1:, ::2],
    "take": lambda a: a[xnp.asarray([3, 1])],
    "update": lambda a: a.at[2].set(0),
    "matmul": lambda a: a @ a.T,
    "sort": lambda a: xnp.sort(a, axis=0),
    "argsort": lambda a: xnp.argsort(a, axis=1),
    "cumsum": lambda a: xnp.cumsum(a, axis=0),
    "fft": lambda a: xnp.abs(xnp.fft.fft(a, axis=1)),
    "where": lambda a: xnp.where(a > 0, a, -a),
    "concatenate": lambda a: xnp.concatenate([a, a], 0),
    "scan": lambda a: xc.lax.scan(lambda c, r: (c + r, c * r), xnp.zeros(16, a.dtype), a),
    "while": lambda a: xc.lax.while_loop(lambda v: v.max() < 100, lambda v: 2 * v, xnp.abs(a)),
    "cond": lambda a: xc.lax.cond(a.sum() > 0, lambda v: v + 1, lambda v: v - 1, a),
    "gradient": lambda a: xc.grad(lambda v: (xnp.tanh(v) ** 2).sum())(a),
    "batched": lambda a: xc.vmap(lambda r: r / r.sum())(a),
    "captured": lambda a: a + CAPTURED,
}
CAPTURED = xnp.asarray(A[::-1].copy())


@pytest.mark.parametrize("case", CASES)
def test_sharded_is_unsharded(case):
    f = xc.jit(CASES[case])
    want = xc.tree.leaves(f(xnp.asarray(A)))
    for given in (put(A, "x", "y"), put(A, None, "z", mesh=LINE)):
        for got, w in zip(xc.tree.leaves(f(given)), want, strict=True):
            assert len(got.sharding.devices) == 8
            np.testing.assert_allclose(got, w, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("spec", [("x", "y"), ("y",), (None, ("y", "x")), ()], ids=str)
def test_eager(spec):
    a = put(A, *spec)
    for _ in range(3):  # the slow path, the one that learns, the fast one
        np.testing.assert_array_equal(a + a, 2 * A)
        np.testing.assert_array_equal(2.0 * a, 2 * A)
        np.testing.assert_array_equal(xnp.maximum(a, 0.0), np.maximum(A, 0))
    assert (a + a).sharding.is_equivalent_to(named(*spec), 2)
    np.testing.assert_array_equal(a[3], A[3])
    np.testing.assert_array_equal(a + A, 2 * A)


def test_result_keeps_the_layout():
    f = xc.jit(lambda a, b: a @ b)
    out = f(put(A, "x"), put(A.T.copy(), None, "y"))
    assert out.sharding == named("x", "y")
    assert collectives(lambda a, b: a @ b, put(A, "x"), put(A.T.copy(), None, "y")) == set()
    # a contracted axis that is split needs one sum over its devices, and no gather
    assert collectives(lambda a: (a * a).sum(), put(A, "x", "y")) == {"all-reduce"}


def test_meshes_meet():
    a, b = put(A, "x", "y"), put(A, "z", mesh=LINE)
    c = put(A, "a", "b", mesh=SHUFFLED)
    d = xc.device_put(A, PositionalSharding(DEVICES).reshape(2, 4))
    np.testing.assert_allclose(a + b + c + d, 4 * A, rtol=1e-6)
    np.testing.assert_allclose(xc.jit(lambda *xs: sum(xs))(d, c, b, a), 4 * A, rtol=1e-6)


def test_other_devices_do_not_meet():
    half = xc.make_mesh((4,), "x", devices=DEVICES[:4])
    with pytest.raises(ValueError, match=r"committed to different devices.*0, 1, 2, 3"):
        put(A, "x") + put(A, "x", mesh=half)
    with pytest.raises(ValueError, match="committed to different devices"):
        put(A, "x") + xc.device_put(A, DEVICES[1])
    np.testing.assert_array_equal(put(A, "x", mesh=half) + xnp.asarray(A), 2 * A)


def test_calls_of_one_function_in_many_places():
    f = xc.jit(lambda d: {"s": d["a"] + d["b"] * 2.0, "t": d["a"].sum()})
    places = [None, named("x"), named(None, "y"), DEVICES[2]]
    for _ in range(5):  # enough for a call path to be generated for each place
        for place in places:
            d = {"a": xc.device_put(A, place), "b": xc.device_put(A, place)}
            out = f(d)
            np.testing.assert_allclose(out["s"], 3 * A, rtol=1e-6)
            assert out["s"].sharding.is_equivalent_to(d["a"].sharding, 2)
    assert f._cache_size() == 1  # one trace for all


def test_captured_values_on_the_fast_path():
    f = xc.jit(lambda a: (a + CAPTURED, 1.0))
    for _ in range(6):
        np.testing.assert_allclose(f(put(A, "x"))[0], A + A[::-1], rtol=1e-6)
        np.testing.assert_allclose(f(xnp.asarray(A))[0], A + A[::-1], rtol=1e-6)


def test_donation():
    a = put(A, "x")
    out = xc.jit(lambda v: v + 1, donate_argnums=0)(a)
    np.testing.assert_array_equal(out, A + 1)
    assert a.is_deleted()


# Jit's shardings


def test_in_and_out_shardings():
    f = xc.jit(lambda a, b: (a + b, a.T), in_shardings=(named("x"), None),
               out_shardings=(named(None, "y"), named("y", "x")))  # fmt: skip
    for given in (A, xnp.asarray(A), put(A, "x")):
        s, t = f(given, A)
        assert (s.sharding, t.sharding) == (named(None, "y"), named("y", "x"))
        np.testing.assert_array_equal(s, 2 * A)
        np.testing.assert_array_equal(t, A.T)
    with pytest.raises(ValueError, match="in_shardings of <lambda> asks for"):
        f(put(A, None, "x"), A)


def test_specs_in_the_context_of_a_mesh():
    with MESH:
        f = xc.jit(lambda d: d["v"] * 2, in_shardings=({"v": P("x")},), out_shardings=P("y"))
        out = f({"v": A})
    assert out.sharding == named("y")


def test_out_shardings_under_another_jit_and_grad():
    f = xc.jit(lambda v: v * v, out_shardings=named("y", "x"))
    out = xc.jit(lambda v: f(v))(put(A, "x"))
    assert out.sharding == named("y", "x")
    np.testing.assert_allclose(xc.grad(lambda v: f(v).sum())(put(A, "x")), 2 * A, rtol=1e-6)


def test_results_on_one_device():
    f = xc.jit(lambda v: (v.sum(), v * 2), out_shardings=(DEVICES[3], named("x")))
    for _ in range(4):
        total, double = f(put(A, "x"))
        assert total.devices() == {DEVICES[3]} and double.sharding == named("x")
    on_last = xc.jit(lambda v: v + 1, device=DEVICES[7])
    assert on_last(A).devices() == {DEVICES[7]}


def test_ahead_of_time():
    lowered = xc.jit(lambda v: v @ v.T).lower(
        xc.ShapeDtypeStruct((8, 16), np.float32, sharding=named("x"))
    )
    assert 'sdy.mesh @mesh = <["x"=4, "y"=2]>' in lowered.as_text()
    compiled = lowered.compile()
    assert compiled.input_shardings == ((named("x"),), {})
    assert compiled.output_shardings == named("x")
    for given in (A, put(A, "x"), put(A, "y")):
        np.testing.assert_allclose(compiled(given), A @ A.T, rtol=1e-5)


# Constraints


def test_constraint():
    def f(v):
        return xc.lax.with_sharding_constraint(v * 2, named(None, "y"))

    for g in (f, xc.jit(f)):
        for given in (put(A, "x"), xnp.asarray(A)):
            out = g(given)
            assert out.sharding == named(None, "y")
            np.testing.assert_array_equal(out, 2 * A)
    assert "sharding_constraint" in str(xc.make_jaxpr(f)(A))


def test_constraint_is_differentiable_and_batchable():
    def f(v):
        return xc.lax.with_sharding_constraint(v, named("y"))

    a = put(A, "x")
    np.testing.assert_allclose(xc.grad(lambda v: (f(v) ** 2).sum())(a), 2 * A, rtol=1e-6)
    primal, tangent = xc.jit(lambda v: xc.jvp(f, (v,), (2 * v,)))(a)
    assert tangent.sharding == named("y")
    np.testing.assert_allclose(tangent, 2 * A)
    for g in (xc.vmap(f), xc.jit(xc.vmap(f))):
        np.testing.assert_array_equal(g(a), A)
        assert g(a).sharding.is_equivalent_to(named("x", "y"), 2)


def test_constraint_of_a_tree():
    with MESH:
        out = xc.lax.with_sharding_constraint({"a": A, "b": A[0]}, {"a": P("x"), "b": P("y")})
    assert out["a"].sharding == named("x") and out["b"].sharding == named("y")
    with pytest.raises(ValueError, match="cannot be split into 4"):
        xc.jit(lambda v: xc.lax.with_sharding_constraint(v, named("x")))(A[:3])
    with pytest.raises(ValueError, match="needs a mesh"):
        xc.lax.with_sharding_constraint(A, P("x"))


def test_device_put_in_a_program_is_a_constraint():
    out = xc.jit(lambda v: xc.device_put(v, named("y")) + 1)(put(A, "x"))
    assert out.sharding == named("y")


def test_what_the_compiler_chose():
    seen = []

    @xc.jit
    def f(v):
        w = v.T @ v
        xc.debug.inspect_array_sharding(w, callback=seen.append)  # the operation inspect_sharding
        return w.sum()

    for _ in range(3):
        f(put(A, None, "x"))
    f(xnp.asarray(A))
    assert len(seen) == 2 and seen[0].is_equivalent_to(named("x"), 2)
    assert seen[1].num_devices == 1
    xc.grad(lambda v: f(v))(put(A, None, "y"))
    xc.vmap(lambda v: xc.debug.inspect_array_sharding(v, callback=seen.append))(put(A, "x"))
    assert seen[-1].is_equivalent_to(named("x"), 2)


# What runs on the host


def test_callbacks_see_whole_arrays_once():
    seen = []

    def f(v):
        xc.debug.callback(lambda w: seen.append(np.asarray(w)), v)
        s = xc.pure_callback(lambda w: w.sum(0), xc.ShapeDtypeStruct((16,), v.dtype), v)
        return v + s

    out = xc.jit(f)(put(A, "x", "y"))
    np.testing.assert_allclose(out, A + A.sum(0), rtol=1e-5)
    xc.effects_barrier()
    assert len(seen) == 1
    np.testing.assert_array_equal(seen[0], A)


def test_ordered_callbacks(capsys):
    def f(v):
        xc.debug.print("total {}", v.sum(), ordered=True)
        xc.debug.print("first {}", v[0, 0], ordered=True)
        return v

    xc.jit(f)(put(np.ones((8, 8), np.float32), "x", "y"))
    xc.effects_barrier()
    assert capsys.readouterr().out == "total 64.0\nfirst 1.0\n"


def test_large_sorts_and_sums():
    big = rng.standard_normal((8, 40000)).astype(
        np.float32
    )  # on one device kernels in NumPy do these
    for spec in (("x",), (None, "x")):
        b = put(big, *spec)
        np.testing.assert_array_equal(xnp.sort(b, axis=1), np.sort(big, axis=1))
        np.testing.assert_allclose(
            xnp.cumsum(b, axis=1), np.cumsum(big, axis=1, dtype=float), rtol=1e-3, atol=0.05
        )


def test_factorisations():
    m = rng.standard_normal((8, 4, 4)).astype(np.float32)
    m = m @ m.swapaxes(1, 2) + 4 * np.eye(4, dtype=np.float32)
    got = xc.jit(xnp.linalg.cholesky)(put(m, "x"))
    np.testing.assert_allclose(got, np.linalg.cholesky(m), rtol=1e-4, atol=1e-5)


def test_nan_check():
    with xc.config.override(debug_nans=True), pytest.raises(FloatingPointError, match="log"):
        xc.jit(lambda v: xnp.log(v) + 1)(put(A, "x"))


def test_random_bits():
    key = xc.random.key(3)
    want = xc.random.bits(key, (16, 8))
    f = xc.jit(lambda k: xc.random.bits(k, (16, 8)), out_shardings=named("x", "y"))
    np.testing.assert_array_equal(f(key), want)


def test_many_programs_under_way():
    """More calls than the runtime lets be under way at once, without waiting for any of them."""
    rows, w = put(A, "x"), put(A.T[:, :4].copy())
    step = xc.jit(lambda w: w - 1e-3 * xc.grad(lambda w: ((rows @ w) ** 2).mean())(w))
    for _ in range(100):
        w = step(w)
    assert np.isfinite(w).all()
