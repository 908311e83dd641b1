"""As ``checks.py``: names of smaller modules, beside NumPy or their definition."""

import numpy as np
from results import close, raises, tell

import xcore.as_jax  # noqa: F401 (from here on jax is xcore)

import jax  # isort: skip
import jax.numpy as jnp  # isort: skip
from jax import lax  # isort: skip

RNG = np.random.default_rng(26)


def drawn(*shape):
    return RNG.normal(size=shape).astype("f")


# lax


def check_ragged_products():
    x, w, sizes = drawn(7, 4), drawn(3, 4, 5), np.array([3, 0, 2], np.int32)
    owner = np.repeat(np.arange(3), sizes)
    expected = np.zeros((7, 5), "f")
    expected[:5] = np.einsum("mk,mkn->mn", x[:5], w[owner])
    close(lax.ragged_dot(x, w, sizes), expected)
    close(jax.jit(lax.ragged_dot)(x, w, sizes), expected)
    batch = jax.vmap(lax.ragged_dot, (0, None, None))(np.stack([x, 2 * x]), w, sizes)
    close(batch, np.stack([expected, 2 * expected]))
    grad = jax.grad(lambda w: lax.ragged_dot(x, w, sizes).sum())(w)
    close(grad[2], np.repeat(x[3:5].sum(0)[:, None], 5, 1))
    close(grad[1], np.zeros((4, 5)))
    numbers = lax.RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), [0], [])
    got = lax.ragged_dot_general(x, x, sizes, numbers)
    close(got, np.stack([x[:3].T @ x[:3], np.zeros((4, 4)), x[3:5].T @ x[3:5]]))
    numbers = lax.RaggedDotDimensionNumbers((((2,), (2,)), ((0,), (0,))), [1], [1])
    both = np.stack([sizes, sizes])
    got = lax.ragged_dot_general(np.stack([x, x]), np.stack([w, w]), both, numbers)
    close(got, np.stack([expected, expected]))
    small = lax.ragged_dot(jnp.bfloat16(x), jnp.bfloat16(w), sizes, preferred_element_type="f")
    assert small.dtype == np.float32 and lax.ragged_dot(x[:0], w, sizes * 0).shape == (0, 5)
    raises(TypeError, lax.ragged_dot, x, w, np.stack([sizes, sizes]))


def check_kernels_of_their_own_at_each_place():
    x, k = drawn(2, 5, 4, 3), drawn(4, 3, 3 * 4, 6)
    got = lax.conv_general_dilated_local(
        x, k, (1, 1), "VALID", (2, 2), dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    window = x[1, 2:4, 1:3].transpose(2, 0, 1).ravel()
    assert got.shape == (2, 4, 3, 6)
    close(got[1, 2, 1], window @ k[2, 1])


def check_shapes_of_convolutions():
    nhwc = ("NHWC", "HWIO", "NHWC")
    assert lax.conv_shape_tuple((1, 2, 5, 5), (3, 2, 3, 3), (1, 1), "SAME") == (1, 3, 5, 5)
    shapes = (1, 5, 5, 2), (3, 3, 2, 4), (2, 2)
    assert lax.conv_general_shape_tuple(*shapes, "VALID", nhwc) == (1, 2, 2, 4)
    assert lax.conv_transpose_shape_tuple(*shapes, "SAME", nhwc) == (1, 10, 10, 4)
    assert lax.reduce_window_shape_tuple((4, 4), (2, 2), (2, 2), "VALID") == (2, 2)
    assert lax.conv_general_permutations(nhwc)[1] == (3, 2, 0, 1)


def check_small_names_of_lax():
    x = drawn(3, 3)
    for precision in (
        "F32_F32_F32",
        lax.DotAlgorithmPreset.BF16_BF16_F32_X9,
        lax.DotAlgorithm("f", "f", "f"),
    ):
        close(lax.dot(x, x, precision=precision), x @ x)
    close(lax.composite(lambda x: x * x, name="my.square")(3.0), 9.0)
    assert lax.broadcast_like(jnp.ones(3), jnp.zeros((2, 3))).shape == (2, 3)
    values, places = lax.approx_max_k(jnp.array([3.0, 1.0, 2.0]), 2, recall_target=0.9)
    assert values.tolist() == [3, 2] and places.tolist() == [0, 2]
    state, bits = lax.rng_bit_generator(jnp.arange(4, dtype=jnp.uint32), (1000,))
    again = lax.rng_bit_generator(state, (1000,))[1]
    assert abs(float(jnp.mean(bits / 2.0**32)) - 0.5) < 0.05 and (bits != again).any()
    close(lax.scaled_dot(x, x, rhs_scale=jnp.full((1, 3), 2.0)), 2 * x @ x)


# sparse


def check_sparse_elements_keep_their_number_when_they_move():
    """Zeros that are stored too, and room past the end."""
    from jax.experimental import sparse

    a = np.zeros((3, 4), "f")
    a[[0, 0, 2], [1, 3, 2]] = 1.0, -2.0, 5.0
    m = sparse.BCOO.fromdense(a, nse=5)
    m = sparse.BCOO((m.data.at[1].set(0), m.indices), shape=m.shape)
    a = np.asarray(m.todense())
    thin = sparse.bcoo_broadcast_in_dim(m, shape=(1, 3, 1, 4), broadcast_dimensions=(1, 3))
    for found, want in {
        thin: a[None, :, None], sparse.bcoo_squeeze(thin, dimensions=(0, 2)): a,
        m.reshape(2, 6): a.reshape(2, 6), jax.jit(lambda m: m.reshape(12))(m): a.reshape(12),
        sparse.bcoo_rev(m, (1,)): a[:, ::-1],
    }.items():  # fmt: skip
        assert found.nse == 5
        close(found.todense(), want)
    assert thin.n_batch == 1 and thin.indices.shape == (1, 5, 3)
    many = sparse.BCOO.fromdense(np.stack([a, 2 * a]), n_batch=1)
    assert many.reshape(2, 12).n_batch == sparse.bcoo_rev(many, (2,)).n_batch == 1
    close(many.reshape(2, 12).todense(), np.stack([a, 2 * a]).reshape(2, 12))
    wide = sparse.bcoo_broadcast_in_dim(many, shape=(3, 2, 3, 4), broadcast_dimensions=(1, 2, 3))
    close(wide.todense(), np.broadcast_to(np.stack([a, 2 * a]), (3, 2, 3, 4)))
    close(
        sparse.bcoo_concatenate([many, many], dimension=2).todense()[1],
        np.concatenate([2 * a, 2 * a], 1),
    )
    both = sparse.bcoo_concatenate([m, m], dimension=1)
    assert both.nse == 10
    close(both.todense(), np.concatenate([a, a], 1))
    product = sparse.sparsify(jnp.matmul)
    for x, y in ((m, m.T), (sparse.BCOO.fromdense(np.stack([a, a]), n_batch=1), m.T)):
        assert isinstance(product(x, y), sparse.BCOO)
        close(product(x, y).todense(), np.asarray(x.todense()) @ a.T)
    close(product(m, a.T, preferred_element_type="float32"), a @ a.T)
    shared = sparse.BCOO((m.data[None], m.indices[None]), shape=(2, 3, 4))  # by both batch elements
    b = np.arange(24.0).reshape(2, 3, 4)
    close((shared * b).todense(), a * b)


def check_sparse_batches_are_mapped_over():
    from jax.experimental import sparse

    a, v = drawn(2, 3, 4) * (RNG.random((2, 3, 4)) < 0.5), drawn(4)
    for kind in (sparse.BCOO, sparse.BCSR):
        many = kind.fromdense(a, n_batch=1)
        for ways in (lambda f: f, jax.jit):
            close(ways(jax.vmap(lambda m: m @ v))(many), a @ v)
            close(ways(jax.vmap(lambda m: m.todense()))(many), a)
            close(ways(jax.vmap(lambda m: 3 * m))(many).todense(), 3 * a)
            close(ways(jax.vmap(lambda m, x: m @ x, in_axes=(0, None)))(many, v), a @ v)
        assert jax.vmap(lambda m: m)(many).shape == jax.jit(lambda m: m)(many).shape == (2, 3, 4)
    slopes = jax.grad(lambda m: jax.vmap(lambda m: (m @ v).sum())(m).sum(), allow_int=True)
    m = sparse.BCOO.fromdense(a, n_batch=1)
    close(slopes(m).data, np.asarray(v)[m.indices[..., 1] % 4] * (m.indices[..., 1] < 4))
    shared = sparse.BCOO((m.data[:1], m.indices[:1]), shape=(2, 3, 4))
    close(jax.jit(lambda m: m.todense())(shared), np.stack([a[0], a[0]]))
    assert jax.vmap(lambda i: shared)(jnp.arange(5)).shape == (5, 2, 3, 4)
    twice = sparse.BCOO(
        (jnp.asarray([1.0, -2.0, 3.0]), jnp.asarray([[0, 0], [0, 0], [1, 1]])), shape=(2, 2)
    )
    close(abs(twice).todense(), [[1, 0], [0, 3]])
    close((twice**2).todense(), [[1, 0], [0, 9]])


def check_sparse_arrays_beside_dense_ones():
    from jax.experimental import sparse

    a = drawn(4, 5) * (RNG.random((4, 5)) < 0.5)
    b, v, w = drawn(4, 5) * (RNG.random((4, 5)) < 0.5), drawn(5), drawn(4)
    for kind in (sparse.BCOO, sparse.BCSR, sparse.CSR, sparse.CSC, sparse.COO):
        m = kind.fromdense(a)
        assert isinstance(m, sparse.JAXSparse) and m.shape == (4, 5) and m.nse == (a != 0).sum()
        close((2 * m).todense(), 2 * a)
        close(m.T @ w, a.T @ w)
    m, n = sparse.BCOO.fromdense(a), sparse.CSR.fromdense(b)
    close(m @ v, a @ v)
    close(w @ n, w @ b)
    close(m @ drawn(5, 2)[:, :0], np.zeros((4, 0)))
    close((m - n).todense(), a - b)
    close((m * n).todense(), a * b)
    close((m * v).todense(), a * v)
    close((m @ n.T).todense(), a @ b.T)
    close(m.sum(), a.sum())
    close(jax.jit(lambda m: m.todense())(n), b)
    close(jax.grad(lambda d: (m._with_data(d).todense() ** 2).sum())(m.data), 2 * m.data)
    m = sparse.BCOO.fromdense(a)
    close(m[1].todense(), a[1])
    close(m[:, 1:3].todense(), a[:, 1:3])
    close(m.reshape(2, 10).todense(), a.reshape(2, 10))
    close(sparse.bcoo_reduce_sum(m, axes=(0,)).todense(), a.sum(0))
    close(sparse.BCSR.from_bcoo(m).indptr, np.cumsum([0, *(a != 0).sum(1)]))


def check_sparse_arrays_with_batches_repetitions_and_padding():
    from jax.experimental import sparse

    a = drawn(3, 4, 5) * (RNG.random((3, 4, 5)) < 0.5)
    for layout in ({"n_batch": 1}, {"n_dense": 1}, {"n_batch": 1, "n_dense": 1}, {}):
        m = sparse.BCOO.fromdense(a, **layout)
        assert m.n_batch + m.n_sparse + m.n_dense == 3
        close(m.todense(), a)
        close(sparse.bcoo_update_layout(m, n_batch=0, n_dense=0).todense(), a)
        close(m.sum_duplicates().todense(), a)
        close(sparse.bcoo_multiply_dense(m, a), m.data**2)
    m = sparse.BCOO.fromdense(a, n_batch=1)
    close(sparse.bcoo_transpose(m, permutation=(0, 2, 1)).todense(), a.transpose(0, 2, 1))
    dims = (((2,), (1,)), ((0,), (0,)))
    x = drawn(3, 5, 2)
    close(sparse.bcoo_dot_general(m, x, dimension_numbers=dims), a @ x)
    places = jnp.array([[0, 0], [1, 1], [0, 0], [2, 2]])  # the last is padding
    m = sparse.BCOO((jnp.arange(1.0, 5.0), places), shape=(2, 2))
    close(m.todense(), [[4, 0], [0, 2]])
    close(m @ jnp.ones(2), [4, 2])
    close(m.sum(), 6)
    assert m.sum_duplicates().data.tolist() == [4, 2]
    close(jax.jit(lambda m: m.sum_duplicates(nse=3))(m).todense(), m.todense())
    assert sparse.random_bcoo(jax.random.key(0), (6, 5), nse=0.5).nse == 15
    close(sparse.eye(3, k=1).todense(), np.eye(3, k=1))
    close(sparse.empty((2, 3), nse=2).todense(), np.zeros((2, 3)))
    raises(TypeError, jax.jit(sparse.BCOO.fromdense), a)


def check_derivatives_and_solutions_of_sparse_arrays():
    from jax.experimental import sparse
    from jax.experimental.sparse.linalg import spsolve

    a = np.eye(4, dtype="f") * 3 + np.eye(4, k=1, dtype="f")
    m = sparse.BCOO.fromdense(a)
    got = sparse.grad(lambda m: (m.todense() ** 2).sum())(m)
    close(got.todense(), 2 * a)
    value, got = sparse.value_and_grad(lambda m, c: c * (m @ jnp.ones(4)).sum())(m, 2.0)
    close(value, 2 * a.sum())
    close(got.todense(), 2 * (a != 0))
    jac = sparse.jacrev(lambda m: m @ jnp.arange(4.0))(m)
    close(jac.todense(), np.eye(4)[:, :, None] * np.arange(4.0) * (a != 0))
    r, b = sparse.BCSR.fromdense(a), drawn(4)
    close(spsolve(r.data, r.indices, r.indptr, b), np.linalg.solve(a, b))
    close(sparse.sparsify(lambda m, v: jnp.sin(m @ v))(m, b), np.sin(a @ b))


# types and meshes


def check_types_tell_where_arrays_lie():
    t = jax.typeof(jnp.ones((2, 3)))
    assert t.sharding.spec == jax.P(None, None) and t.sharding.mesh.empty
    assert t == jax.core.ShapedArray((2, 3), jnp.float32) and len({t, t.type}) == 1
    assert str(t) == "float32[2,3]" and repr(t) == "ShapedArray(float32[2,3])"
    assert repr(jax.typeof(1.0)) == "ShapedArray(float32[], weak_type=True)"
    mesh = jax.make_mesh((1,), ("x",))
    assert mesh.axis_types == (jax.sharding.AxisType.Explicit,) and mesh.explicit_axes == ("x",)
    x = jax.device_put(jnp.ones((2, 3)), jax.NamedSharding(mesh, jax.P("x")))
    assert str(jax.typeof(x)) == "float32[2@x,3]" and jax.typeof(x).sharding.spec == jax.P(
        "x", None
    )
    assert repr(jax.P("x")) == "P('x',)" and "axis_types=(Explicit,)" in repr(x.sharding)
    seen = []
    jax.jit(lambda x: (seen.append(jax.typeof(x).sharding.spec), x)[1])(x)
    assert seen == [jax.P(None, None)]
    both = jax.sharding.Mesh(jax.devices()[:1], "x", axis_types=jax.sharding.AxisType.Auto)
    assert both is not mesh and both.auto_axes == ("x",) and both != mesh
    y = jax.sharding.auto_axes(lambda x: x * 2, out_sharding=jax.NamedSharding(mesh, jax.P()))(x)
    close(y, 2 * x)


def check_results_lie_as_types_say():
    x, key = jnp.ones((4, 2)), jax.random.key(0)
    nothing, mesh = jax.typeof(x).sharding, jax.make_mesh((1,), ("x",))
    draws = lambda place: jax.random.bernoulli(key, 0.5, (4, 2), out_sharding=place)
    assert (draws(nothing) == draws(None)).all()
    close(jnp.zeros((4, 2), out_sharding=nothing), 0 * x)
    close(x.reshape(2, 4).reshape(4, 2, out_sharding=nothing), x)
    same = jax.jit(lambda x: jnp.einsum("ij->ij", x, out_sharding=jax.typeof(x).sharding))
    close(same(x), x)
    place = jax.NamedSharding(mesh, jax.P("x"))
    assert draws(place).sharding == place and (draws(place) == draws(None)).all()
    with jax.set_mesh(mesh):
        assert jax.jit(lambda: draws(jax.P("x")))().sharding.spec == jax.P("x")
        assert x.reshape(8, out_sharding=jax.P("x")).sharding.spec == jax.P("x")


# what is small


def check_calls_that_come_back_narrow_what_numpy_gives():
    """A call path that is generated after some calls took 64-bit arrays as they were."""
    f = jax.jit(lambda p, x, n: (p["w"] @ x, x * n))
    for dtype in ("f8", "i8", "u8", "c16", "f4"):
        for i in range(20):
            x = np.full((3, 2), i, dtype)
            product, scaled = f({"w": jnp.ones((2, 3))}, x, np.asarray(2, dtype))
            close(product.real, np.full((2, 2), 3.0 * i))
            close(scaled.real, 2 * x.real)
            assert scaled.dtype.itemsize == (8 if dtype == "c16" else 4)


def check_lstms_beside_numpy():
    from jax.experimental import rnn

    w = rnn.init_lstm_weight(jax.random.key(0), 3, 4, 2, True)
    assert w.size == rnn.get_num_params_in_lstm(3, 4, 2, True) and abs(w).max() <= 0.5
    close(rnn.swap_lstm_gates(rnn.swap_lstm_gates(w, 3, 4, 2, True), 3, 4, 2, True), w)
    w = rnn.init_lstm_weight(jax.random.key(0), 3, 4, 1, False)
    parts = rnn.unpack_lstm_weights(w, 3, 4, 1, False)
    wi, wh, bi, bh = (np.asarray(p[0]) for p in parts)
    x, h, c = drawn(1, 5, 3), np.zeros(4), np.zeros(4)
    s, states = lambda z: 1 / (1 + np.exp(-z)), []
    for t in range(5):
        i, f, g, o = np.split(wi @ x[0, t] + bi + wh @ h + bh, 4)
        c = s(f) * c + s(i) * np.tanh(g)
        h = s(o) * np.tanh(c)
        states.append((h, c))
    zero = jnp.zeros((1, 1, 4))
    for n in (5, 3):
        got, last_h, last_c = rnn.lstm(x, zero, zero, w, jnp.array([n]), 3, 4, 1, 0.0, False)
        close(got[0, :n], [h for h, _ in states[:n]])
        close(last_h[0, 0], states[n - 1][0])
        close(last_c[0, 0], states[n - 1][1])


def check_keys_of_other_generators():
    for impl in ("rbg", "unsafe_rbg"):
        key = jax.random.key(0, impl=impl)
        u = jax.random.uniform(jax.random.split(key)[1], (1000,))
        assert abs(float(u.mean()) - 0.5) < 0.05
        with jax.default_prng_impl(impl):
            assert jax.random.key(0).dtype == key.dtype
    assert jax.random.key(0).dtype != key.dtype
    from jax.extend import random

    assert (random.seed_with_impl(random.threefry_prng_impl, 3) == jax.random.key(3)).all()
    assert random.random_seed(jnp.arange(3), random.threefry_prng_impl).shape == (3,)
    words = jnp.arange(6, dtype=jnp.uint32)
    pair = random.threefry_2x32((jnp.uint32(1), jnp.uint32(2)), words)
    one = jax.xcore.random.threefry2x32(
        jnp.array([1, 2], jnp.uint32), jnp.stack([words[:3], words[3:]], -1)
    )
    assert pair.tolist() == one.T.ravel().tolist()


def check_lifting_of_arguments():
    from jax import api_util
    from jax.extend import linear_util as lu

    structure = jax.tree.structure(((1, {"a": 2, "b": 3}), 4))
    assert api_util.flatten_axes("axes", structure, (0, None)) == [0, 0, 0, None]
    given = jax.tree.structure(((1, (2, 3)), {"z": 4}))
    assert api_util.donation_vector((1,), ("z",), given) == (False, True, True, True)
    assert api_util.rebase_donate_argnums((2, 3), (0,)) == (1, 2)
    f, args = api_util.argnums_partial(lu.wrap_init(lambda *a: a), (0, 2), (1, 2, 3))
    assert args == (1, 3) and f.call_wrapped(7, 8) == (7, 2, 8)


def check_equations_tell_what_interpreters_read():
    x = jnp.ones((2, 3))

    def params(f, *args):
        return jax.make_jaxpr(f)(*args).jaxpr.eqns[-1].params

    assert params(jnp.dot, x, x.T)["dimension_numbers"] == (((1,), (0,)), ((), ()))
    assert params(lambda x: x.sum(1), x)["axes"] == (1,)
    assert params(jnp.transpose, x)["permutation"] == (1, 0)
    assert params(lambda x: x.reshape(6), x)["new_sizes"] == (6,)
    assert params(lambda x: jnp.pad(x, 1), x)["padding_config"] == ((1, 1, 0), (1, 1, 0))
    assert params(lambda x: lax.argmax(x, 1, jnp.int32), x)["axes"] == (1,)

    def f(x, k):
        with jax.named_scope("part"):
            y = jnp.where(x > 0, x, jnp.sin(x)) @ jnp.pad(x.T, ((0, 0), (1, 0)))[:, 1:]
        y = jnp.concatenate([y, lax.rev(y, (0,))])[:, None] + jnp.argmax(x, 0)[:2]
        return jnp.sort(lax.conv_general_dilated(y, k, (1,), "SAME"), 0), jnp.cumsum(y, 0)

    k = jnp.ones((2, 1, 2))
    closed = jax.make_jaxpr(f)(x, k)
    assert "part" in [str(e.source_info.name_stack) for e in closed.jaxpr.eqns]
    env = dict(zip([*closed.jaxpr.constvars, *closed.jaxpr.invars], [*closed.consts, x, k]))
    read = lambda v: v.val if isinstance(v, jax.extend.core.Literal) else env[v]
    for e in closed.jaxpr.eqns:
        outs = e.primitive.bind(*map(read, e.invars), **e.params)
        env.update(zip(e.outvars, outs if e.primitive.multiple_results else [outs]))
    for got, expected in zip(map(read, closed.jaxpr.outvars), f(x, k)):
        close(got, expected)
    (choice,) = [e for e in closed.jaxpr.eqns if e.primitive is lax.select_n_p]
    assert str(choice.primitive) == "select_n" and lax.squeeze_p.name == "squeeze"
    close(lax.select_n_p.bind(jnp.array([True, False]), jnp.zeros(2), jnp.ones(2)), [1, 0])
    close(lax.clamp_p.bind(0.0, jnp.array([-1.0, 2.0]), 1.0), [0, 1])
    jax.extend.core.check_jaxpr(closed.jaxpr)


def check_jaxprs_are_printed_as_jax_prints_them():
    show = lambda f, *args: str(jax.make_jaxpr(f)(*args))
    x = jnp.ones((2, 3))
    assert show(lambda x: jnp.sin(x) * 2.0, 1.0) == (
        "{ lambda ; a:f32[]. let b:f32[] = sin a; c:f32[] = mul b 2.0:f32[] in (c,) }"
    )
    assert (
        show(lambda x, y: (x @ y, jnp.sum(x)), x, x.T)
        == """\
{ lambda ; a:f32[2,3] b:f32[3,2]. let
    c:f32[2,2] = dot_general[
      dimension_numbers=(([1], [0]), ([], []))
      preferred_element_type=float32
    ] a b
    d:f32[] = reduce_sum[axes=(0, 1) out_sharding=None] a
  in (c, d) }"""
    )
    assert (
        show(lambda x: x.T, x)
        == """\
{ lambda ; a:f32[2,3]. let
    b:f32[3,2] = transpose[permutation=(1, 0)] a
  in (b,) }"""
    )
    assert "jaxpr={ lambda ; c:f32[]. let d:f32[] = sin c in (d,) }" in show(
        lambda x: jax.jit(jnp.sin)(x) + 1, 1.0
    )
    assert show(lambda x: x + w, 1.0).startswith("{ lambda a:f32[3]; b:f32[]. let")
    assert str(jax.jit(jnp.sin).trace(1.0).jaxpr) == (
        "{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }"
    )
    struct = jax.ShapeDtypeStruct((2, 3), jnp.float32)
    assert len(struct) == 2 and struct.update(shape=()).shape == () and struct.update(shape=())
    raises(TypeError, len, struct.update(shape=()))
    assert str(jax.typeof(np.arange(3))) == "int32[3]"


w = jnp.arange(3.0)


def check_paths_of_contractions_are_pairs():
    path, text = jnp.einsum_path("ij,jk,kl->il", *[jnp.ones((2, 2))] * 3)
    assert path == [(0, 1), (0, 1)] and isinstance(text, str)


def check_dtypes_of_counts():
    for x in (jnp.array([1.0, 2.0, 2.0]), jnp.array([1, 2, 2])):
        for counts in (jnp.histogram(x, 2)[0], jnp.histogram(a=x, bins=2)[0]):
            assert counts.dtype == "float32" and counts.tolist() == [1, 2]
        assert jnp.histogram2d(x, x, bins=2)[0].dtype == "int32"
        assert jnp.histogramdd(jnp.stack([x, x], 1), bins=2)[0].dtype == "int32"
        assert jnp.histogram2d(x, x, bins=2, density=True)[0].dtype == "float32"
    half = jnp.histogram(jnp.array([1.0, 2.0], jnp.bfloat16), 2)[0]
    assert half.dtype == jnp.bfloat16
    assert jnp.histogram(jnp.array([1, 2]), 2, weights=jnp.array([0.5, 0.5]))[0].tolist() == [
        0.5,
        0.5,
    ]


def check_results_have_the_form_that_jax_gives():
    x = jnp.array([[2.0, 1.0], [1.0, 3.0]])
    assert jax.tree.structure(jax.lax.top_k(w, 2)) == jax.tree.structure([0, 0])
    factors = jax.lax.linalg
    for f in (factors.lu, factors.hessenberg, factors.schur, jax.scipy.linalg.schur):
        assert type(f(x)) is list and type(jax.jit(f)(x)) is list
    assert type(factors.tridiagonal(x, lower=True)) is list
    assert type(jax.scipy.linalg.lu_factor(x)) is tuple
    for f in (jax.scipy.sparse.linalg.cg, jax.scipy.sparse.linalg.bicgstab):
        found, info = f(lambda v: x @ v, jnp.ones(2))
        assert info is None
        close(found, [0.4, 0.2])
    for dtype in ("int32", "int8", "float16", "float32"):
        counts = jnp.bincount(jnp.array([1, 1, 3]), jnp.array([2, 3, 4], dtype))
        assert counts.dtype == dtype and counts.tolist() == [0, 5, 0, 4]
    assert jax.lax.conj(2.0).dtype == jax.lax.conj(2.0 + 1j).dtype == "complex64"


def check_one_vector_for_each_matrix():
    """Where there is an axis less than matrices have, as JAX's functions but ``solve`` read it."""
    linalg, rng = jax.scipy.linalg, np.random.default_rng(3)
    for count in (2, 3):
        a = rng.normal(size=(count, 2, 2))
        a, b = a @ a.mT + np.eye(2), rng.normal(size=(count, 2))
        low = np.linalg.cholesky(a)
        want = np.linalg.solve(a, b[..., None])[..., 0]
        half = np.linalg.solve(low, b[..., None])[..., 0]
        close(linalg.cho_solve((low, True), b), want)
        close(linalg.lu_solve(linalg.lu_factor(a), b), want)
        close(linalg.solve(a, b, assume_a="pos"), want)
        close(linalg.solve_triangular(low, b, lower=True), half)
        close(jax.lax.linalg.triangular_solve(low, b, left_side=True, lower=True), half)
        right = np.linalg.solve(low.mT, b[..., None])[..., 0]
        close(jax.lax.linalg.triangular_solve(low, b, lower=True), right)


def check_callbacks_are_given_arrays():
    struct, given = jax.ShapeDtypeStruct((3,), jnp.float32), []

    def doubled(x):
        given.append(isinstance(x, jax.Array))
        return x.at[0].set(5.0) * 2

    for call in (jax.pure_callback, jax.experimental.io_callback):
        for run in (lambda f: f, jax.jit):
            close(run(lambda x, call=call: call(doubled, struct, x))(w), [10, 2, 4])
    stacked = jax.vmap(lambda x: jax.pure_callback(doubled, struct, x, vmap_method="sequential"))
    close(stacked(jnp.stack([w, w])), [[10, 2, 4]] * 2)
    kept = []
    jax.jit(lambda x: jax.debug.callback(lambda tree: kept.append(tree), {"x": x + 1}))(w)
    jax.effects_barrier()
    assert all(given) and len(given) == 6 and isinstance(kept[0]["x"], jax.Array)
    close(kept[0]["x"], [1, 2, 3])


def check_structs_are_of_their_class():
    struct = jax.ShapeDtypeStruct((2,), jnp.float32)
    assert type(struct) is jax.ShapeDtypeStruct and struct.update(shape=()).shape == ()
    assert type(jax.eval_shape(lambda: w)) is jax.ShapeDtypeStruct
    named = type("Named", (jax.ShapeDtypeStruct,), {})((2,), jnp.float32)
    assert isinstance(named, jax.ShapeDtypeStruct) and named.shape == (2,)
    key = jax.random.key(0)
    kept = jax.eval_shape(lambda: key)
    assert isinstance(kept, jax.ShapeDtypeStruct) and not isinstance(key, jax.ShapeDtypeStruct)
    assert isinstance(jax.ShapeDtypeStruct((3,), key.dtype), jax.ShapeDtypeStruct)
    for dtype in (np.int64, "float64", float, int):  # shown as given; programs see them narrow
        wide = jax.ShapeDtypeStruct((2,), dtype)
        assert wide.dtype == np.dtype(dtype) and jax.eval_shape(lambda x: x, wide) != wide
        assert jnp.zeros_like(wide).dtype.itemsize == 4


def check_what_is_traced_keeps_its_derivatives_in_asarray():
    made = (jnp.asarray, jnp.array, jnp.copy, lambda x: jnp.array([x, 1.0])[0])
    made = (*made, lambda x: jnp.asarray((x,))[0], lambda x: jnp.asarray(x, jnp.float32))
    for convert in made:

        def f(x, convert=convert):
            return convert(x) ** 2

        for g in (jax.grad(f), jax.jacfwd(f), jax.jit(jax.grad(f)), jax.grad(jax.jit(f))):
            close(g(3.0), 6)
        close(jax.hessian(f)(3.0), 2)
        close(jax.vmap(jax.grad(f))(w), [0, 2, 4])
        close(jax.linearize(f, 3.0)[1](1.0), 6)


def check_keys_are_leaves_and_arrays():
    from jax._src import tree_util

    keys = jax.random.split(jax.random.key(0), 3)
    assert issubclass(type(keys), jax.Array) and not issubclass(np.ndarray, jax.Array)
    raises(ValueError, tree_util.flatten_one_level, keys)
    assert keys.is_fully_addressable and keys.aval.shape == (3,)


def check_zeros_of_rules_pass_through_vmap():
    from jax.interpreters import ad

    zero = ad.Zero(jax.core.ShapedArray((3,), jnp.float32))
    linear = ad.UndefinedPrimal(zero.aval)
    assert jax.tree.leaves((zero, linear)) == []
    for x in (zero, linear):
        seen = []
        jax.vmap(lambda a, b, seen=seen: (seen.append(b), a)[1], (0, None))(w, x)
        assert type(seen[0]) is type(x) and seen[0].aval == x.aval


def check_star_imports_and_small_names():
    names: dict = {}
    exec("from jax.numpy import *\nfrom jax.sharding import *", names)
    assert names["sin"] is jnp.sin and names["AxisType"] is jax.sharding.AxisType
    from jax.experimental.compute_on import compute_on
    from jax.experimental.layout import with_layout_constraint
    from jax.nn.initializers import Initializer  # noqa: F401

    with compute_on("device_host"):
        close(with_layout_constraint(jnp.ones(2), None), [1, 1])
    assert jax.dlpack.is_supported_dtype(jnp.float32) and jax.dtypes.itemsize_bits("int4") == 4
    assert issubclass(jax.errors.JAXTypeError, TypeError)
    assert not jax.export.is_symbolic_dim(3)
    (batch,) = jax.export.symbolic_args_specs((jnp.ones((3, 2)),), "b, ...")
    assert jax.export.is_symbolic_dim(batch.shape[0]) and batch.shape[1] == 2
    raises(ValueError, jax.jit(jnp.sin).lower, batch)


def check_nodes_are_taken_apart_and_made_again():
    registry = jax.tree_util._registry
    for value in ([1, {"a": 2}], (3,), {"b": 1, "a": [2]}):
        node = registry[type(value)]
        children, data = node.to_iter(value)
        assert node.from_iter(data, list(children)) == value
    assert int not in registry
    raises(KeyError, lambda: registry[int])


# Equations of programs, bound again as interpreters bind them


def check_params_lead_back():
    def f(x):
        y = lax.cumsum(x, reverse=True) + lax.cumprod(jnp.tanh(x)) - lax.cummax(x, reverse=True)
        y = lax.sort(y)[1:3:2] * jnp.round(x[:1]) + lax.top_k(x, 2)[0].max() + x[:1] ** -3
        return lax.exp(y.astype("bfloat16").astype("float32")).sum()

    x = drawn(5)
    closed = jax.make_jaxpr(f)(x)

    def run(jaxpr, consts, *args):
        env = dict(zip(jaxpr.constvars, consts)) | dict(zip(jaxpr.invars, args))
        read = lambda a: a.val if hasattr(a, "val") else env[a]
        for e in jaxpr.eqns:
            values = map(read, e.invars)
            if e.primitive.name in ("jit", "pjit"):
                inner = e.params["jaxpr"]
                outs = run(inner.jaxpr, inner.consts, *values)
            else:
                outs = e.primitive.bind(*values, **e.primitive.get_bind_params(e.params))
                functions, params = e.primitive.get_bind_params(e.params)  # as versions before
                assert functions == [] and params == dict(e.params)
            outs = outs if e.primitive.multiple_results or isinstance(outs, list) else [outs]
            env.update(zip(e.outvars, outs))
        return [read(a) for a in jaxpr.outvars]

    close(run(closed.jaxpr, closed.consts, x)[0], f(x))


def check_primitives_take_params_of_jax():
    x = jnp.arange(3)
    close(lax.cumsum_p.bind(x, axis=0, reverse=True), [3, 3, 2])
    close(lax.cumsum_p.bind(x, axis=0, reverse=False), [0, 1, 3])
    close(lax.exp_p.bind(0.0, accuracy=None), 1)
    close(lax.integer_pow_p.bind(2.0, y=3), 8)
    close(lax.slice_p.bind(x, start_indices=(1,), limit_indices=(3,), strides=None), [1, 2])
    close(lax.sort_p.bind(x[::-1], dimension=0, is_stable=True, num_keys=1)[0], [0, 1, 2])
    close(lax.reduce_max_p.bind(jnp.ones(2), axes=(0,), out_sharding=None), 1)
    close(lax.top_k_p.bind(x, k=1, axis=0)[1], [2])
    for method, want in (
        (lax.RoundingMethod.TO_NEAREST_EVEN, 2),
        (lax.RoundingMethod.AWAY_FROM_ZERO, 3),
    ):
        close(lax.round_p.bind(2.5, rounding_method=method), want)
    close(lax.copy_p.bind(1.0), 1)
    kind = np.dtype("float32")
    found = lax.convert_element_type_p.bind(1, new_dtype=kind, weak_type=False, sharding=None)
    assert found.dtype == kind
    aval = jax.core.ShapedArray((3,), kind)
    assert lax.sub_p.abstract_eval(aval, aval)[0].shape == (3,)


def check_errors_are_told_apart():
    seen = []

    def ask(x):
        for f in (bool, int, float, lambda x: [1, 2, 3][x], np.asarray):
            try:
                f(x)
            except jax.errors.TracerArrayConversionError:
                seen.append("array")
            except jax.errors.TracerBoolConversionError:
                seen.append("bool")
            except jax.errors.TracerIntegerConversionError:
                seen.append("integer")
            except jax.errors.ConcretizationTypeError:
                seen.append("number")

    jax.jit(ask)(1)
    assert seen == ["bool", "number", "number", "integer", "array"]
    assert issubclass(jax.errors.JaxRuntimeError, RuntimeError)
    assert issubclass(jax.errors.KeyReuseError, TypeError)
    raises(jax.errors.JaxRuntimeError, lambda: jax.jit(lambda a: a[:, None] * a)(jnp.ones(10**7)))
    try:
        jnp.ones(3) + jnp.ones(2)
    except jax.errors.JaxRuntimeError:
        raise AssertionError("a mistake in shapes is none of the running program") from None
    except TypeError:
        pass


def check_keys_of_negative_seeds():
    close(jax.random.key_data(jax.random.key(-1)), [0, 2**32 - 1])
    with jax.enable_x64(True):
        close(jax.random.key_data(jax.random.key(-1)), [2**32 - 1, 2**32 - 1])


def check_lists_are_not_compared():
    raises(TypeError, lambda: jnp.array([1.0, 2.0]) == [1.0, 2.0])
    raises(TypeError, lambda: jnp.array([1.0, 2.0]) != (1.0, 2.0))
    assert (jnp.array(1.0) == None) is False  # noqa: E711


if __name__ == "__main__":
    tell(globals())
