"""shard_map, pmap and collectives between devices: values against NumPy, derivatives, batches, errors."""

import re

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax
from xcore.sharding import Mesh, NamedSharding, P

if xc.device_count() < 8:
    pytest.skip("needs eight devices", allow_module_level=True)

DEVICES = xc.devices()[:8]
MESH = xc.make_mesh((4, 2), ("x", "y"), devices=DEVICES)
SHUFFLED = Mesh(np.array(DEVICES, dtype=object)[[3, 1, 0, 2, 7, 6, 5, 4]].reshape(4, 2), ("x", "y"))
N = 4  # devices along x
rng = np.random.default_rng(0)
A = rng.standard_normal((8, 8)).astype(np.float32)


X = P("x")


def over_x(f, mesh=MESH, out=X, check=None):
    return xc.shard_map(f, mesh, X, out, check_vma=check)


# Collectives: (on a device's rows, in NumPy on the rows of all devices, stacked)

PERM = [(0, 1), (1, 3), (3, 0)]


def permuted(s):
    out = np.zeros_like(s)
    for a, b in PERM:
        out[b] = s[a]
    return out


GROUPS = [[0, 3], [2, 1]]


def in_groups(s, f):
    """What f gives for the lanes of each group: a value for both of them, or a list of two."""
    out: list = [None] * N
    for group in GROUPS:
        found = f(s[group])
        for k, i in enumerate(group):
            out[i] = found[k] if isinstance(found, list) else found
    return np.stack(out)


COLLECTIVES = {
    "psum": (lambda v: lax.psum(v, "x"), lambda s: np.stack([s.sum(0)] * N)),
    "pmean": (lambda v: lax.pmean(v, "x"), lambda s: np.stack([s.mean(0)] * N)),
    "pmax": (lambda v: lax.pmax(v, "x"), lambda s: np.stack([s.max(0)] * N)),
    "pmin": (lambda v: lax.pmin(v, "x"), lambda s: np.stack([s.min(0)] * N)),
    "all_gather": (lambda v: lax.all_gather(v, "x").reshape(-1, 8), lambda s: np.stack([s.reshape(-1, 8)] * N)),
    "all_gather, tiled": (lambda v: lax.all_gather(v, "x", axis=1, tiled=True), lambda s: np.stack([np.concatenate(list(s), 1)] * N)),
    "psum_scatter": (lambda v: lax.psum_scatter(v, "x", scatter_dimension=1, tiled=True), lambda s: np.stack(np.split(s.sum(0), N, 1))),
    "psum_scatter, one each": (lambda v: lax.psum_scatter(v.reshape(N, 4), "x")[None], lambda s: s.sum(0).reshape(N, 1, 4)),
    "all_to_all": (lambda v: lax.all_to_all(v, "x", 1, 0, tiled=True), lambda s: np.stack([np.concatenate([r[:, 2 * i : 2 * i + 2] for r in s], 0) for i in range(N)])),
    "all_to_all, untiled": (lambda v: lax.all_to_all(v.reshape(2, N, 2), "x", 1, 0).reshape(-1, 2), lambda s: np.stack([s.reshape(N, 2, N, 2)[:, :, i].reshape(-1, 2) for i in range(N)])),
    "ppermute": (lambda v: lax.ppermute(v, "x", PERM), permuted),
    "pshuffle": (lambda v: lax.pshuffle(v, "x", [2, 0, 3, 1]), lambda s: s[[2, 0, 3, 1]]),
    "pbroadcast": (lambda v: lax.pbroadcast(v, "x", 2), lambda s: np.stack([s[2]] * N)),
    "pswapaxes": (lambda v: lax.pswapaxes(v.reshape(2, N, 2), "x", 1).transpose(1, 0, 2).reshape(2, -1), lambda s: np.stack([s.reshape(N, 2, N, 2)[:, :, i].reshape(2, -1) for i in range(N)])),
    "pcast": (lambda v: lax.pcast(v, "x", to="varying"), lambda s: s),
    "psum, groups": (lambda v: lax.psum(v, "x", axis_index_groups=GROUPS), lambda s: in_groups(s, lambda g: g.sum(0))),
    "pmean, groups": (lambda v: lax.pmean(v, "x", axis_index_groups=GROUPS), lambda s: in_groups(s, lambda g: g.mean(0))),
    "pmax, groups": (lambda v: lax.pmax(v, "x", axis_index_groups=GROUPS), lambda s: in_groups(s, lambda g: g.max(0))),
    "all_gather, groups": (lambda v: lax.all_gather(v, "x", axis=1, tiled=True, axis_index_groups=GROUPS), lambda s: in_groups(s, lambda g: np.concatenate(list(g), 1))),
    "psum_scatter, groups": (lambda v: lax.psum_scatter(v, "x", scatter_dimension=1, tiled=True, axis_index_groups=GROUPS), lambda s: in_groups(s, lambda g: np.split(g.sum(0), 2, 1))),
    "all_to_all, groups": (lambda v: lax.all_to_all(v, "x", 1, 0, tiled=True, axis_index_groups=GROUPS), lambda s: in_groups(s, lambda g: [np.concatenate([r[:, 4 * k : 4 * k + 4] for r in g], 0) for k in range(2)])),
    "axis_index": (lambda v: v + lax.axis_index("x"), lambda s: s + np.arange(N)[:, None, None]),
    "axis_size": (lambda v: v * lax.axis_size("x"), lambda s: s * N),
}  # fmt: skip


def stacked(a):
    return a.reshape(N, -1, a.shape[-1])


@pytest.mark.parametrize("name", COLLECTIVES)
def test_collective(name):
    device, whole = COLLECTIVES[name]
    want = np.concatenate(list(whole(stacked(A))), 0)
    for f in (over_x(device), xc.jit(over_x(device)), xc.jit(over_x(device, SHUFFLED))):
        np.testing.assert_allclose(f(A), want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", COLLECTIVES)
def test_collective_is_differentiable(name):
    """Against the same collective over an axis of vmap, whose rules are plain array operations."""
    device, _ = COLLECTIVES[name]
    weights = rng.standard_normal(over_x(device)(A).shape).astype(np.float32)
    tangent = rng.standard_normal(A.shape).astype(np.float32)

    def lanes(a):
        return xnp.concatenate(list(xc.vmap(device, axis_name="x")(a.reshape(N, 2, 8))), 0)

    both = lambda f: xc.jit(
        lambda a, t, w: (xc.grad(lambda v: (f(v) * w).sum())(a), xc.jvp(f, (a,), (t,))[1])
    )(A, tangent, weights)
    for got, want in zip(both(over_x(device)), both(lanes), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", COLLECTIVES)
def test_collective_is_batchable(name):
    device, _ = COLLECTIVES[name]
    batch = np.stack([A, 2 * A, A - 1])
    got = xc.jit(xc.vmap(over_x(device), in_axes=0, out_axes=0))(batch)
    want = [over_x(device)(b) for b in batch]
    np.testing.assert_allclose(got, np.stack(want), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint32", "int64", "bfloat16", "float16", "float64", "complex64"]
)
def test_collectives_of_dtypes(dtype):
    value = np.asarray(xnp.asarray(A > 0.3).astype(dtype))
    total = over_x(lambda v: lax.psum(v, "x"))(value)
    counted = value.astype(int if dtype == "bool" else value.dtype)
    np.testing.assert_array_equal(np.asarray(total)[:2], stacked(counted).sum(0))
    gathered = over_x(lambda v: lax.all_gather(v, "x", tiled=True), out=P())(value)
    np.testing.assert_array_equal(gathered, value)
    if dtype != "complex64":
        largest = over_x(lambda v: lax.pmax(v, "x"), out=P())(value)
        np.testing.assert_array_equal(largest, stacked(value).max(0))


def test_functions_without_results():
    """They are called for what they find out about the shapes, or for what they print."""
    seen, told = [], []

    def f(x):
        seen.append(x.shape)
        xc.debug.callback(lambda n: told.append(int(n)), x.sum())

    assert xc.shard_map(f, MESH, X, None)(A) is None and seen[-1] == (2, 8)
    assert xc.jit(xc.shard_map(lambda x: (), MESH, X, P()))(A) == ()
    xc.effects_barrier()
    assert sorted(set(told)) == sorted({int(r.sum()) for r in A.reshape(4, 2, 8)})


def test_several_axes():
    f = xc.shard_map(
        lambda v: (lax.psum(v, ("x", "y")), lax.axis_index(("x", "y"))[None], lax.axis_index("y")[None]),
        mesh=MESH, in_specs=P("x", "y"), out_specs=(P(), P(("x", "y")), P("y")), check_vma=False,
    )  # fmt: skip
    total, both, y = f(A)
    np.testing.assert_allclose(total, A.reshape(4, 2, 2, 4).sum((0, 2)), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(both, np.arange(8))
    np.testing.assert_array_equal(y, [0, 1])
    g = xc.shard_map(lambda v: lax.all_gather(v, ("x", "y"), tiled=True), MESH, P(("x", "y")), P())
    np.testing.assert_array_equal(g(A), A)


@pytest.mark.parametrize("groups", [[[0, 1]], [[0, 1], [1, 2]], [[0], [1, 2, 3]], [[0, 1], [2, 4]]])
def test_wrong_groups(groups):
    with pytest.raises(ValueError, match="axis_index_groups"):
        over_x(lambda v: lax.psum(v, "x", axis_index_groups=groups))(A)


def test_a_sum_of_a_group_differs_between_devices():
    total = lambda v: lax.psum(v, "x", axis_index_groups=GROUPS)
    with pytest.raises(ValueError, match="x"):
        over_x(total, out=P(), check=True)(A)
    with pytest.raises(ValueError, match="members 0 to 7"):
        xc.shard_map(lambda v: lax.psum(v, ("x", "y"), axis_index_groups=[[0]]), MESH, X, X)(A)
    assert (
        over_x(lambda v: v[:, 0] + lax.psum(1, "x", axis_index_groups=GROUPS))(A)[0] == A[0, 0] + 2
    )


def test_order_of_devices():
    place = xc.shard_map(lambda: lax.axis_index("x")[None], SHUFFLED, (), P("x"))()
    for shard in place.addressable_shards:
        (row,) = np.argwhere(SHUFFLED.device_ids == shard.device.id)[:, 0]
        assert int(shard.data[0]) == row


# The function


def test_trees_and_captured_values():
    w = xnp.arange(8.0)

    @xc.shard_map(mesh=MESH, in_specs=({"v": P("x")}, P()), out_specs={"s": P("x"), "t": P()})
    def f(d, k):
        return {"s": d["v"] * w + k, "t": lax.psum(d["v"].sum(), "x")}

    for g in (f, xc.jit(f)):
        out = g({"v": A}, 2.0)
        np.testing.assert_allclose(
            out["s"], A * np.arange(8) + 2, rtol=1e-6, atol=1e-6
        )  # some nearly cancel
        np.testing.assert_allclose(out["t"], A.sum(), rtol=1e-4)
    assert out["s"].sharding == NamedSharding(MESH, P("x"))


def test_arguments_go_where_they_are_wanted():
    f = xc.shard_map(lambda v: v * 2, MESH, P("y", "x"), P("y", "x"))
    text = xc.jit(f).lower(A).compile().as_text()
    assert not re.search("all-gather|all-to-all|collective-permute", text)
    assert f(A).sharding == NamedSharding(MESH, P("y", "x"))
    moved = xc.jit(f)(xc.device_put(A, NamedSharding(MESH, P("x"))))
    np.testing.assert_array_equal(moved, 2 * A)


def test_some_axes_manual():
    z = xc.device_put(A, NamedSharding(MESH, P("x", "y")))

    def f(v):
        return v + lax.psum(v, "x") * (1 + lax.axis_index("x"))

    g = xc.shard_map(f, MESH, P("x"), P("x"), axis_names={"x"})
    factor = 1 + np.repeat(np.arange(4), 2)[:, None]
    want = A + np.tile(A.reshape(4, 2, 8).sum(0), (4, 1)) * factor
    for h in (g, xc.jit(g)):
        np.testing.assert_allclose(h(z), want, rtol=1e-5, atol=1e-5)
        assert h(z).sharding.is_equivalent_to(z.sharding, 2)
    grads = xc.jit(xc.grad(lambda v: (g(v) ** 2).sum()))(z)
    np.testing.assert_allclose(
        grads, xc.grad(lambda v: ((v + xnp.tile(v.reshape(4, 2, 8).sum(0), (4, 1)) * factor) ** 2).sum())(xnp.asarray(A)),
        rtol=1e-4, atol=1e-4,
    )  # fmt: skip
    older = xc.experimental.shard_map.shard_map(
        f, mesh=MESH, in_specs=P("x"), out_specs=P("x"), check_rep=False, auto=frozenset({"y"})
    )
    np.testing.assert_allclose(xc.jit(older)(z), want, rtol=1e-5, atol=1e-5)


def test_one_in_another():
    def inner(v):
        return lax.psum(v, "y")

    def outer(v):
        here = xc.shard_map(inner, MESH, P(None, "y"), P(), axis_names={"y"})(v)
        return here + lax.axis_index("x")

    f = xc.shard_map(outer, MESH, P("x"), P("x"), axis_names={"x"})
    want = A.reshape(8, 2, 4).sum(1) + np.repeat(np.arange(4), 2)[:, None]
    np.testing.assert_allclose(xc.jit(f)(A), want, rtol=1e-5, atol=1e-6)


def test_loops_and_branches_inside():
    def f(v):
        def step(c, _):
            c = c + lax.ppermute(c, "x", [(i, (i + 1) % N) for i in range(N)])
            return c, lax.pmax(c.sum(), "x")

        c, tops = lax.scan(step, v, None, length=3)
        c = lax.cond(lax.axis_index("x") == 0, lambda u: -u, lambda u: u, c)
        return c, tops

    c, tops = xc.jit(over_x(f, out=(P("x"), P())))(A)
    s, wanted = stacked(A), []
    for _ in range(3):
        s = s + np.roll(s, 1, 0)
        wanted.append(s.sum((1, 2)).max())
    s[0] *= -1
    np.testing.assert_allclose(c, s.reshape(8, 8), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(tops, wanted, rtol=1e-4)


def test_while_loop_until_all_agree():
    def f(v):
        return lax.while_loop(lambda u: lax.pmax(xnp.abs(u).max(), "x") < 100, lambda u: 2 * u, v)

    k = np.ceil(np.log2(100 / np.abs(A).max()))
    np.testing.assert_allclose(xc.jit(over_x(f))(A), A * 2**k, rtol=1e-6)


def test_jit_inside_and_outside():
    f = xc.jit(over_x(xc.jit(lambda v: xc.jit(lambda u: lax.psum(u, "x"))(v) * v)))
    np.testing.assert_allclose(f(A), np.tile(stacked(A).sum(0), (4, 1)) * A, rtol=1e-5, atol=1e-6)


def test_gradients_inside():
    """Each device's own derivative; shared values are averaged by hand."""
    w = rng.standard_normal(8).astype(np.float32)

    @xc.shard_map(mesh=MESH, in_specs=(P(), P("x")), out_specs=P())
    def step(w, rows):
        g = xc.grad(lambda w: (xnp.tanh(rows @ w) ** 2).mean())(w)
        return w - 0.1 * lax.pmean(g, "x")

    want = w - 0.1 * xc.grad(lambda w: (xnp.tanh(A @ w) ** 2).mean())(xnp.asarray(w))
    np.testing.assert_allclose(xc.jit(step)(w, A), want, rtol=1e-4, atol=1e-6)


def test_gradients_outside():
    w = rng.standard_normal(8).astype(np.float32)

    def sharded(w, a):
        def f(w, v):
            hidden = lax.psum(v @ w[:, None], "y")  # the contracted axis is split over y
            return lax.pmean((xnp.tanh(hidden) ** 2).mean(), "x")

        return xc.shard_map(f, MESH, (P("y"), P("x", "y")), P())(w, a)

    def plain(w, a):
        return (xnp.tanh(a @ w) ** 2).mean()

    for transform in (
        lambda f: xc.grad(f, argnums=(0, 1)),
        lambda f: xc.hessian(f),
        lambda f: xc.vmap(xc.grad(f), in_axes=(None, 0)),
        lambda f: xc.jit(xc.jacfwd(xc.grad(f))),
        lambda f: xc.value_and_grad(xc.checkpoint(f)),
    ):
        a = np.stack([A, A / 2]) if "vmap" in str(transform.__code__.co_names) else A
        got, want = transform(sharded)(w, a), transform(plain)(w, a)
        for g, e in zip(xc.tree.leaves(got), xc.tree.leaves(want), strict=True):
            np.testing.assert_allclose(g, e, rtol=2e-4, atol=1e-5)


def test_random_streams():
    keys = xc.random.split(xc.random.key(0), 8)
    f = xc.shard_map(
        lambda k: xc.vmap(lambda q: xc.random.normal(q, (3,)))(k),
        MESH,
        P(("x", "y")),
        P(("x", "y")),
    )
    np.testing.assert_allclose(
        f(keys), xc.vmap(lambda q: xc.random.normal(q, (3,)))(keys), rtol=1e-6
    )


def test_callbacks_inside():
    seen = []

    def f(v):
        xc.debug.callback(lambda u: seen.append(np.asarray(u)), v)
        return xc.pure_callback(lambda u: 2 * u, xc.ShapeDtypeStruct(v.shape, v.dtype), v)

    np.testing.assert_array_equal(xc.jit(over_x(f, check=False))(A), 2 * A)
    xc.effects_barrier()
    assert len(seen) == 8 and all(u.shape == (2, 8) for u in seen)


def test_one_device():
    mesh = xc.make_mesh((1,), "x", devices=DEVICES[:1])
    f = xc.shard_map(
        lambda v: lax.psum(v, "x") + lax.axis_index("x") + lax.all_gather(v, "x")[0]
        + lax.ppermute(v, "x", [(0, 0)]) + lax.psum_scatter(v, "x", tiled=True)
        + lax.all_to_all(v, "x", 0, 0, tiled=True), mesh, P("x"), P("x"),
    )  # fmt: skip
    np.testing.assert_allclose(xc.jit(f)(A), 5 * A, rtol=1e-6)


def test_host_kernels_inside():
    big = rng.standard_normal((8, 20000)).astype(np.float32)
    got = xc.jit(over_x(lambda v: xnp.sort(v, axis=1)))(big)
    np.testing.assert_array_equal(got, np.sort(big, axis=1))


@pytest.mark.parametrize(
    ("call", "pattern"),
    [
        (lambda: over_x(lambda v: v, out=P())(A), "same along the axis 'x'"),
        (lambda: over_x(lambda v: v, out={"a": P("x")})(A), "out_specs"),
        (lambda: over_x(lambda v: v)(A[:7]), "cannot be split into 4"),
        (lambda: xc.shard_map(lambda v: v, MESH, P("z"), P())(A), "'z'"),
        (lambda: xc.shard_map(lambda v: v, MESH, "x", P())(A), "must hold PartitionSpecs"),
        (lambda: xc.shard_map(lambda v: v, None, P("x"), P("x"))(A), "needs a mesh"),
        (lambda: xc.shard_map(lambda v: v, MESH, P("y"), P("y"), axis_names={"x"})(A), "only .'x',. are manual"),
        (lambda: xc.shard_map(lambda v: v, MESH, P(), P(), axis_names={"q"})(A), "axis_names has 'q'"),
        (lambda: over_x(lambda v: lax.psum(v, "q"))(A), "no axis named 'q'"),
        (lambda: over_x(lambda v: v[0])(A[:4]).shape and over_x(lambda v: v.sum(), check=False)(A), "at least 1 axes"),
        (lambda: xc.shard_map(3), "expected a function"),
        (lambda: xc.pmap(lambda v: v)(xnp.ones(9)), "9 batch elements need 9 devices, there are 8"),
        (lambda: xc.pmap(lambda v, w: v)(xnp.ones(2), xnp.ones(3)), "must agree, given .2, 3."),
        (lambda: xc.pmap(lambda v: v, in_axes=2)(xnp.ones(2)), "axis of an array of 1 axes"),
    ],
)  # fmt: skip
def test_errors(call, pattern):
    with pytest.raises((ValueError, TypeError, NameError), match=pattern):
        call()


def test_check_sees_through_structure():
    def fine(v):
        total = lax.scan(lambda c, r: (c + lax.psum(r.sum(), "x"), None), 0.0, v)[0]
        return lax.cond(total > 0, lambda t: t, lambda t: -t, xc.jit(lambda t: t * 2)(total))

    def wrong(v):
        return lax.while_loop(lambda t: t < v.sum(), lambda t: t + 1.0, 0.0)

    assert over_x(fine, out=P())(A).shape == ()
    with pytest.raises(ValueError, match="may differ there"):
        over_x(wrong, out=P())(A)
    assert over_x(wrong, out=P(), check=False)(xnp.ones((8, 8))).shape == ()


# pmap


def test_pmap_matrix_product():
    """The tutorials' example: vdot, then a matrix times a vector by vmap, then pmap over columns."""
    vv = lambda x, y: xnp.vdot(x, y)
    mv = xc.vmap(vv, (0, None), 0)
    mm = xc.pmap(mv, in_axes=(None, 1), out_axes=1)
    b = A[:, :5].copy()
    np.testing.assert_allclose(mm(A, b), A @ b, rtol=1e-4, atol=1e-5)
    assert len(mm(A, b).sharding.devices) == 5


def test_pmap_collectives():
    out = xc.pmap(lambda v: v / lax.psum(v, "i"), axis_name="i")(xnp.arange(8.0))
    np.testing.assert_allclose(out, np.arange(8) / 28, rtol=1e-6)
    assert out.sharding == NamedSharding(Mesh(DEVICES, ("i",)), P("i"))


def test_pmap_options():
    f = xc.pmap(lambda v, n, d: {"a": v[:n] + d["k"], "b": v.sum()}, in_axes=(1, None, {"k": None}),
                out_axes={"a": 1, "b": 0}, static_broadcasted_argnums=1, devices=DEVICES[4:])  # fmt: skip
    for _ in range(3):
        out = f(A[:, :4].copy(), 3, {"k": 1.0})
        np.testing.assert_allclose(out["a"], A[:3, :4] + 1, rtol=1e-6)
        np.testing.assert_allclose(out["b"], A[:, :4].sum(0), rtol=1e-5, atol=1e-6)
    assert out["a"].devices() == set(DEVICES[4:])
    same = xc.pmap(lambda v: lax.psum(v, "i"), axis_name="i", out_axes=None)(xnp.arange(4.0))
    assert float(same) == 6
    assert xc.pmap(lambda: lax.axis_index("i"), axis_name="i", axis_size=3)().tolist() == [0, 1, 2]
    d = xc.device_put(A, NamedSharding(Mesh(DEVICES, ("i",)), P("i")))
    xc.pmap(lambda v: v + 1, axis_name="i", donate_argnums=0)(d)
    assert d.is_deleted()


def test_pmap_is_differentiable():
    f = xc.pmap(lambda v: xnp.sin(v) * lax.psum(v, "i"), axis_name="i")
    g = xc.vmap(lambda v: xnp.sin(v) * lax.psum(v, "i"), axis_name="i")
    v = xnp.arange(8.0)
    np.testing.assert_allclose(
        xc.grad(lambda u: f(u).sum())(v), xc.grad(lambda u: g(u).sum())(v), rtol=1e-5, atol=1e-5
    )
    np.testing.assert_allclose(
        xc.vmap(f, in_axes=1, out_axes=1)(A),
        xc.vmap(g, in_axes=1, out_axes=1)(A),
        rtol=1e-5,
        atol=1e-5,
    )


# Forms that published programs use


def test_groups_over_several_axes():
    """Lanes of several axes are numbered with the last name fastest."""
    f = lambda v: lax.all_gather(
        v, ("x", "y"), axis=1, tiled=True, axis_index_groups=[[0, 1, 6, 7], [2, 3, 4, 5]]
    )
    out = xc.shard_map(f, MESH, P(("x", "y")), P(("x", "y")))(A)
    want = np.stack(
        [A[[0, 1, 6, 7] if i in (0, 1, 6, 7) else [2, 3, 4, 5]].reshape(-1) for i in range(8)]
    )
    np.testing.assert_array_equal(out, want)
    total = lambda v: lax.psum(v, ("y", "x"), axis_index_groups=[[0, 4], [1, 5], [2, 6], [3, 7]])
    out = xc.shard_map(total, MESH, P(("y", "x")), P(("y", "x")))(A)
    np.testing.assert_array_equal(out, np.tile(A[:4] + A[4:], (2, 1)))


def test_collectives_over_several_axes():
    rows = P(("x", "y"))
    scattered = xc.shard_map(
        lambda v: lax.psum_scatter(v, ("x", "y"), scatter_dimension=1, tiled=True), MESH, rows, P(None, ("x", "y"))
    )  # fmt: skip
    np.testing.assert_allclose(scattered(A), A.sum(0, keepdims=True), rtol=1e-5)
    np.testing.assert_allclose(
        xc.grad(lambda a: (scattered(a) ** 2).sum())(A), np.tile(2 * A.sum(0), (8, 1)), rtol=1e-5
    )
    turned = xc.shard_map(
        lambda v: lax.ppermute(v, ("x", "y"), [(i, (i + 1) % 8) for i in range(8)]),
        MESH,
        rows,
        rows,
    )
    np.testing.assert_array_equal(turned(A), np.roll(A, 1, 0))
    exchanged = xc.shard_map(
        lambda v: lax.all_to_all(v, ("x", "y"), 1, 0, tiled=True), MESH, rows, P(None, ("x", "y"))
    )
    np.testing.assert_array_equal(exchanged(A), A)


def test_several_axes_and_one_of_a_vmap():
    groups = [[0, 1, 2, 3], [4, 5, 6, 7]]  # each row of a device with that row of the others
    total = lambda w: lax.psum(w, ("i", "x"), axis_index_groups=groups)
    out = over_x(xc.vmap(total, axis_name="i"))(A)
    np.testing.assert_allclose(out, np.tile([A[::2].sum(0), A[1::2].sum(0)], (4, 1)), rtol=1e-5)


def test_arguments_without_a_spec():
    """They are what they are outside: Python values, or arrays that all devices have whole."""
    f = xc.shard_map(lambda v, shape, w: v + xnp.ones(shape) * w[0], MESH, (X, None, None), X)
    np.testing.assert_array_equal(f(A, (2, 8), xnp.arange(3.0) + 2), A + 2)
    slope = xc.grad(lambda w: f(A, (2, 8), w).sum())(xnp.ones(2))
    np.testing.assert_array_equal(slope, [64.0, 0.0])
    with pytest.raises(TypeError, match="shard_map"):
        over_x(lambda v: v)("text")


def test_devices_of_an_abstract_mesh():
    f = xc.shard_map(lambda v: v * 2, MESH.abstract_mesh, X, X)
    spread = xc.device_put(A, NamedSharding(MESH, P("x", "y")))
    np.testing.assert_array_equal(f(spread), A * 2)
    with pytest.raises(ValueError, match="has no devices"):
        f(A)
