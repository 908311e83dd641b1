"""As ``checks.py``: keys as leaves of trees, programs as data, and what needs four devices."""

import os

os.environ["XCORE_NUM_CPU_DEVICES"] = "4"

import numpy as np

import xcore.as_jax  # noqa: F401 (from here on jax is xcore)

import jax  # isort: skip
import jax.numpy as jnp  # isort: skip
from jax import lax  # isort: skip

RNG = np.random.default_rng(27)


# Keys in trees


def _tree():
    key = jax.random.key(0)
    return {"a": key, "b": [jnp.ones(2), jax.random.split(key, 3)]}


def check_keys_are_leaves():
    tree, structure = _tree(), jax.tree.structure({"a": 0, "b": [0, 0]})
    assert jax.tree.structure(tree) == structure == jax.tree_util.tree_structure(tree)
    leaves = jax.tree.leaves(tree)
    assert leaves[0] is tree["a"] and jnp.shape(leaves[2]) == (3,)
    assert jax.tree.unflatten(structure, leaves)["b"][1] is leaves[2]
    assert jax.tree.map(jnp.shape, tree) == {"a": (), "b": [(2,), (3,)]}
    data = jax.tree.map(lambda x: jnp.issubdtype(x.dtype, jax.dtypes.prng_key), tree)
    assert data == {"a": True, "b": [False, True]}
    paths = [jax.tree_util.keystr(p) for p, _ in jax.tree_util.tree_leaves_with_path(tree)]
    assert paths == ["['a']", "['b'][0]", "['b'][1]"]
    both = jax.tree.transpose(jax.tree.structure([0, 0]), None, [tree, tree])
    assert both["a"] == [tree["a"]] * 2
    assert jnp.result_type(tree["a"]) == jnp.result_type(*both["a"]) == tree["a"].dtype
    assert jax.tree.broadcast(1, tree) == {"a": 1, "b": [1, 1]}
    assert jax.tree.reduce(lambda n, x: n + x.size, tree, 0) == 6
    assert jax.tree.leaves(tree, is_leaf=lambda x: isinstance(x, list))[1] is tree["b"]
    assert jax.tree.map(lambda key, shape: shape, tree["a"], 3) == 3
    assert jax.tree_util.all_leaves([tree["a"], 1]) and not jax.tree.all(data)


def check_keys_go_through_transformations():
    tree = _tree()
    moved = jax.jit(lambda t: jax.tree.map(lambda x: x, t))(tree)
    assert jax.tree.map(lambda x, y: x.dtype == y.dtype, moved, tree)["b"][1]
    each = jax.vmap(lambda t: jax.random.normal(jax.tree.leaves(t)[0]))([tree["b"][1]])
    assert each.tolist() == jax.vmap(jax.random.normal)(tree["b"][1]).tolist()
    flat, structure = jax.tree.flatten(tree)
    f = jax.jit(lambda *xs: jax.random.normal(jax.tree.unflatten(structure, xs)["a"]))
    assert f(*flat) == jax.random.normal(tree["a"])


def check_keys_go_through_jaxprs():
    key = jax.random.key(3)
    made, shapes = jax.make_jaxpr(lambda k: (jax.random.split(k), 1.0), return_shape=True)(key)
    keys, one = jax.core.jaxpr_as_fun(made)(*jax.tree.leaves(key))
    assert keys.dtype == key.dtype and one == 1 and bool((keys == jax.random.split(key)).all())
    assert jax.tree.leaves(shapes)[0].dtype == key.dtype


def check_types_of_keys():
    key = jax.random.key(0)
    struct = jax.ShapeDtypeStruct((3,), key.dtype)
    assert isinstance(struct, jax.ShapeDtypeStruct) and struct.shape == (3,)
    assert not isinstance(key, jax.ShapeDtypeStruct)
    for t in (jax.typeof(jax.random.split(key, 3)), jax.core.get_aval(jax.random.split(key, 3))):
        assert t.shape == (3,) and t.dtype == key.dtype and "key<fry>[3]" in str(t)
    given = jax.core.ShapedArray((3,), key.dtype)
    assert given == jax.typeof(jax.random.split(key, 3)) and given.dtype == key.dtype
    assert jnp.shape(None) == ()
    assert jax.jit(lambda k: jnp.zeros(jax.typeof(k).shape))(key) == 0
    found = jax.eval_shape(jax.vmap(jax.random.normal), struct)
    assert found == jax.ShapeDtypeStruct((3,), jnp.float32)
    assert isinstance(jax.eval_shape(jax.random.split, key), jax.ShapeDtypeStruct)


# Programs as data


def check_jaxprs_are_changed():
    made = jax.make_jaxpr(lambda x, y: (jnp.sin(x) * 2, jnp.cos(y)))(1.0, 1.0)
    assert made.invars == made.jaxpr.invars and made.outvars == made.jaxpr.outvars
    doubled = [e.replace() if e.primitive.name != "sin" else _cosine(e) for e in made.eqns]
    other = made.replace(jaxpr=made.jaxpr.replace(eqns=doubled))
    out = jax.core.eval_jaxpr(other.jaxpr, other.consts, 0.5, 0.0)[0]
    np.testing.assert_allclose(out, 2 * np.cos(0.5), rtol=1e-6)


def _cosine(eqn):
    return eqn.replace(primitive=lax.cos_p)


def check_what_is_not_used_goes():
    from jax.extend import linear_util
    from jax.interpreters import partial_eval

    made = jax.make_jaxpr(lambda x, y: (jnp.sin(x), jnp.cos(y) * x))(1.0, 1.0)
    short, used = partial_eval.dce_jaxpr(made.jaxpr, [True, False])
    assert used == [True, False] and [e.primitive.name for e in short.eqns] == ["sin"]
    assert partial_eval.dce_jaxpr(made.jaxpr, [True, False], True)[1] == [True, True]
    fun = linear_util.wrap_init(lambda x: [jnp.sin(x)])
    jaxpr, types, _ = partial_eval.trace_to_jaxpr_dynamic(fun, made.in_avals[:1])
    assert [e.primitive.name for e in jaxpr.eqns] == ["sin"] and types[0].shape == ()


def check_functions_of_keys_are_split_by_what_is_known():
    from jax.extend import linear_util
    from jax.interpreters import partial_eval as pe

    t, key = jax.core.ShapedArray((2,), jax.random.key(0).dtype), jax.random.key(1)
    fun = linear_util.wrap_init(lambda ks, k: [jax.random.normal(ks[0]), jax.random.split(k)])
    pvals = [pe.PartialVal.unknown(t), pe.PartialVal.known(key)]
    jaxpr, found, _ = pe.trace_to_jaxpr_nounits(fun, pvals)
    assert not found[0].is_known() and found[1].get_known().dtype == key.dtype
    assert [v.aval.shape for v in jaxpr.outvars] == [()]


def check_params_of_primitives_may_be_jaxprs():
    from jax.extend.core import Primitive
    from jax.interpreters import mlir

    run = Primitive("run")
    run.multiple_results = True
    run.def_impl(lambda *xs, jaxpr: jax.core.jaxpr_as_fun(jaxpr)(*xs))
    run.def_abstract_eval(lambda *types, jaxpr: jaxpr.out_avals)
    mlir.register_lowering(run, mlir.lower_fun(run.impl, multiple_results=True))
    held = jax.make_jaxpr(lambda x: x * jax.nn.sigmoid(x))(1.0)
    assert jax.jit(lambda x: run.bind(x, jaxpr=held)[0])(0.0) == 0


def check_types_of_tangents():
    t = jax.typeof(jnp.ones(3))
    assert t.at_least_vspace() == t.to_tangent_aval() == t.to_ct_aval()
    assert jax.typeof(jnp.arange(3)).at_least_vspace().dtype == jax.dtypes.float0
    assert t.update_weak_type(True).weak_type


def check_what_counts_as_an_array():
    yes = 1, 1.5, True, np.ones(2), np.float32(1), jnp.ones(2), jax.random.key(0)
    no = print, None, object(), "a", [1.0], {}, np.array(["a"])
    assert all(map(jax.core.valid_jaxtype, yes)) and not any(map(jax.core.valid_jaxtype, no))
    for x in (print, object(), "a", np.array([None])):
        try:
            jax.typeof(x)
        except TypeError:
            continue
        raise AssertionError(x)


def check_types_in_sets():
    assert np.int32 in {jnp.int32, jnp.int64} and jnp.int32 in {np.int32}
    assert {jnp.float32: 1}[np.float32] == {np.float32: 1}[jnp.float32] == 1
    for t in jnp.int32, jnp.bfloat16, jnp.float32:
        assert jnp.zeros(2, t).astype(t).dtype == t and jnp.dtype(t) == t


# Settings


def check_settings_of_the_runtime_are_read():
    assert jax.config.jax_num_cpu_devices == len(jax.devices()) == 4
    before = jax.config.jax_compilation_cache_dir
    jax.config.update("jax_compilation_cache_dir", "/tmp/no such place")
    assert jax.config.jax_compilation_cache_dir == "/tmp/no such place"
    jax.config.update("jax_compilation_cache_dir", None)
    assert jax.config.jax_compilation_cache_dir is None
    jax.config.update("jax_compilation_cache_dir", before)
    jax.config.update("jax_optimization_level", "O2")
    assert jax.config.jax_optimization_level == "O2"


def check_backends_are_there_when_started():
    from jax._src import xla_bridge

    jax.devices()
    assert xla_bridge._backends and xla_bridge._backends.get("cpu").device_count() == 4
    assert xla_bridge._backends.get("tpu") is None


# Several devices


def _mesh():
    return jax.make_mesh((4,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))


def check_smap():
    x = jnp.arange(8.0).reshape(2, 4)
    with jax.set_mesh(_mesh()):
        f = jax.smap(
            lambda x, y: (lax.psum(x, "i"), x + y), in_axes=(1, None), out_axes=(None, 1),
            axis_name="i",
        )  # fmt: skip
        total, moved = f(x, 1.0)
    assert total.tolist() == [[6], [22]] and moved.tolist() == (x + 1).tolist()


def check_ragged_all_to_all():
    n, rows = 4, 9
    sizes = RNG.integers(0, 3, (n, n))  # of what device j sends to device i
    starts = np.cumsum(sizes, 1) - sizes
    places = np.cumsum(sizes, 0) - sizes
    x = RNG.normal(size=(n, rows, 2)).astype("f")
    expected = -np.ones((n, rows, 2), "f")
    for j in range(n):
        for i in range(n):
            s, p, k = starts[j, i], places[j, i], sizes[j, i]
            expected[i, p : p + k] = x[j, s : s + k]

    def f(x, starts, sizes, places, got):
        rows = [a[0] for a in (x, -jnp.ones_like(x), starts, sizes, places, got)]
        return lax.ragged_all_to_all(*rows, axis_name="i")[None]

    given = x, starts, sizes, places, sizes.T
    spec = jax.P("i")
    spread = jax.shard_map(f, mesh=_mesh(), in_specs=(spec,) * 5, out_specs=spec)
    assert np.array_equal(jax.jit(spread)(*given), expected)
    sent = np.zeros((n, rows, 1), "f")
    for j in range(n):
        sent[j, : sizes[j].sum()] = 1
    grad = jax.grad(lambda x: spread(x, *given[1:]).sum())(x)
    assert np.array_equal(grad, np.broadcast_to(sent, x.shape))


def check_advice_to_compilers_changes_nothing():
    from jax.experimental.custom_partitioning import custom_partitioning
    from jax.experimental.scheduling_groups import scheduling_group
    from jax.experimental.shard_alike import shard_alike
    from jax.experimental.xla_metadata import set_xla_metadata

    f = custom_partitioning(lambda x, n: x * n, static_argnums=(1,))
    f.def_partition(infer_sharding_from_operands=None, partition=None)
    mesh = _mesh()
    x = jax.device_put(jnp.arange(4.0), jax.NamedSharding(mesh, jax.P("i")))
    assert jax.jit(lambda x: f(x, 3))(x).tolist() == [0, 3, 6, 9]
    assert shard_alike(1, 2) == (1, 2) and scheduling_group("g")(f) is f
    with set_xla_metadata(key="value"):
        assert set_xla_metadata(x, key="value") is x


def check_parts_are_as_narrow_as_arrays():
    whole = np.arange(8.0)
    for devices in (jax.devices(), jax.devices()[:1]):
        spread = jax.NamedSharding(
            jax.make_mesh((len(devices),), ("i",), devices=devices), jax.P("i")
        )
        x = jax.make_array_from_callback((8,), spread, lambda i: whole[i])
        y = jax.make_array_from_process_local_data(spread, whole)
        assert x.dtype == y.dtype == np.float32
        assert np.array_equal(x + y, 2 * whole)


def check_places_with_layouts():
    from jax.experimental.layout import Format, Layout

    place = Format(Layout((0,)), jax.NamedSharding(_mesh(), jax.P("i")))
    out = jax.jit(lambda x: lax.with_sharding_constraint(x * 2, place))(jnp.ones(4))
    assert out.sharding.spec == jax.P("i")


def check_rules_that_speak_of_the_axes_around():
    """Derivatives and batches from outside of what is run on each device."""
    mesh = _mesh()
    n = mesh.shape["i"]

    @jax.custom_vjp
    def same(x):
        return x

    same.defvjp(lambda x: (x, None), lambda _, g: (lax.psum(g, "i"),))
    turned = jax.custom_jvp(lambda x: x)
    turned.defjvp(lambda p, t: (p[0], t[0] * (lax.axis_index("i") + 1)))
    x = jnp.arange(float(n))
    for checked in (False, True):
        g = jax.shard_map(
            lambda w, x: lax.psum(same(w) * x, "i"), mesh=mesh, in_specs=(jax.P(), jax.P("i")),
            out_specs=jax.P(), check_vma=checked,
        )  # fmt: skip
        for wrap in (lambda f: f, jax.jit):
            assert float(wrap(jax.grad(lambda w, g=g: g(w, x).sum()))(2.0)) == n * x.sum()
    h = jax.shard_map(turned, mesh=mesh, in_specs=jax.P("i"), out_specs=jax.P("i"))
    assert jax.jvp(h, (x,), (jnp.ones(n),))[1].tolist() == [1.0 + i for i in range(n)]
    rows = jax.grad(lambda x: jax.vmap(h)(x).sum())(jnp.ones((2, n)))
    assert rows.tolist() == [[1.0 + i for i in range(n)]] * 2
    f = jax.pmap(lambda x: same(x) * 2, axis_name="i", devices=jax.devices()[:n])
    assert jax.grad(lambda x: f(x).sum())(x).tolist() == [2.0 * n] * n


def check_lists_of_results_have_lists_of_places():
    mesh = _mesh()
    x = jnp.arange(float(mesh.shape["i"]))
    two = lambda a: [a, 2 * a]
    split = [jax.P("i"), jax.P("i")]
    out = jax.shard_map(two, mesh=mesh, in_specs=jax.P("i"), out_specs=split)(x)
    assert type(out) is list and np.array_equal(out[1], 2 * x)
    out = jax.jit(two, out_shardings=[jax.NamedSharding(mesh, s) for s in split])(x)
    assert [y.sharding.spec for y in out] == split
    assert [y.shape for y in jax.vmap(two, out_axes=[0, 1])(jnp.ones((2, 3)))] == [(2, 3), (3, 2)]


def check_parts_that_are_repeated_are_as_narrow():
    mesh = jax.make_mesh((1, 1), ("i", "j"), devices=jax.devices()[:1])
    if len(jax.devices()) >= 4:
        mesh = jax.make_mesh((2, 2), ("i", "j"), devices=jax.devices()[:4])
    whole = np.random.default_rng(0).random((8, 2))
    place = jax.NamedSharding(mesh, jax.P("j"))
    x = jax.make_array_from_callback((8, 2), place, lambda i: whole[i])
    assert x.dtype == np.float32 and np.allclose(x, whole)


if __name__ == "__main__":
    import results  # beside this script

    results.tell(globals())
