"""What is looked at in a process of its own, where ``jax`` is xcore: each function returns when it is so."""

import subprocess
import sys

import numpy as np

import xcore.as_jax  # noqa: F401 (from here on jax is xcore)

import jax  # isort: skip
import jax.numpy as jnp  # isort: skip


def close(x, y, tol=1e-6):
    np.testing.assert_allclose(np.asarray(x, float), np.asarray(y, float), rtol=tol, atol=tol)


def raises(kind, f, *args):
    try:
        f(*args)
    except kind as e:
        return str(e)
    raise AssertionError(f"no {kind}")


# Modules and names


def check_jax_is_xcore():
    import xcore
    import xcore.numpy

    assert xcore.as_jax.is_active() and jax.xcore is xcore
    assert jnp.sin is xcore.numpy.sin and jax.grad is xcore.grad
    assert ".".join(map(str, jax.__version_info__)) == jax.__version__


def check_names_that_are_missing():
    assert not hasattr(jax, "pde") and not hasattr(jax.numpy, "no_such_function")
    assert not hasattr(jax.lax, "no_such_p") and not hasattr(jax, "tree_map")
    raises(AttributeError, lambda: jax.no_such_name)
    raises(ImportError, lambda: __import__("jax.no_such_module"))
    raises(ImportError, exec, "from jax.numpy import no_such_function")


def check_kernels_can_be_imported_and_not_used():
    from jax.experimental import pallas as pl
    from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel

    assert not hasattr(pl, "pallas_call")
    assert "by the compiler" in raises(AttributeError, lambda: pl.pallas_call)
    assert "by the compiler" in raises(AttributeError, lambda: splash_attention_kernel.SegmentIds)
    assert "by the compiler" in raises(ImportError, exec, "import jax.experimental.pallas.no_such")


def check_every_name_of_the_table_is_there():
    from xcore.as_jax._table import _read

    for module, (_, own) in _read().items():
        face = __import__(module, fromlist=["_"])
        for name in own:
            assert hasattr(face, name), f"{module}.{name}"
        assert all(hasattr(face, n) for n in dir(face)), module


def check_nothing_of_another_jax_is_loaded():
    import jax.scipy.stats.norm as norm

    close(norm.logpdf(0.0), -0.5 * np.log(2 * np.pi))
    files = {getattr(m, "__file__", "") for n, m in sys.modules.items() if n.split(".")[0] == "jax"}
    assert all("as_jax" in f for f in files), files


def check_settings():
    assert jax.config.jax_enable_x64 is False and jax.config.x64_enabled is False
    jax.config.update("jax_transfer_guard", "log")
    assert jax.config.read("jax_transfer_guard") == "log"
    assert "jax_debug_nans" in jax.config.values
    raises(AttributeError, lambda: jax.config.jax_no_such_option)
    raises(AttributeError, jax.config.update, "jax_no_such_option", 1)
    with jax.experimental.enable_x64():
        assert jnp.zeros(1).dtype == np.float64


def check_types_of_types():
    t = jax.core.ShapedArray(shape=(2, 3), dtype=jnp.float32, weak_type=True)
    assert isinstance(t, jax.core.ShapedArray) and isinstance(t, jax.core.AbstractValue)
    assert t.weak_type and t.shape == (2, 3) and not isinstance(3, jax.core.ShapedArray)
    assert isinstance(jax.typeof(1.0), jax.extend.core.ShapedArray)
    assert jax.core.valid_jaxtype(1.0) and not jax.core.valid_jaxtype("a")


def check_states_of_traces():
    import jax.extend.core as jex

    state = jex.get_opaque_trace_state
    seen = [state()]
    assert seen[0] == state()
    jax.jit(lambda x: (seen.append(state()), x)[1])(1.0)
    jax.vmap(lambda x: (seen.append(state()), x)[1])(jnp.ones(2))
    jax.grad(lambda x: (seen.append(state()), x)[1])(1.0)
    assert all(s != seen[0] for s in seen[1:]) and state() == seen[0]
    assert len(set(seen)) == 4


def check_events():
    from jax import monitoring

    seen = []
    listener = lambda event, *values, **tags: seen.append((event, values, tags))
    monitoring.register_event_duration_secs_listener(listener)
    monitoring.record_event_duration_secs("a", 1.5, n=1)
    monitoring.unregister_event_duration_listener(listener)
    monitoring.record_event_duration_secs("b", 1.0)
    assert seen == [("a", (1.5,), {"n": 1})]


# Primitives


def _made(name="scaled", several=False):
    """x ↦ scale · x with all rules, which are filled in after the primitive has been made."""
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir

    p = Primitive(name)
    listed = (lambda x: [x]) if several else (lambda x: x)
    p.multiple_results = several
    first = (lambda xs: xs[0]) if several else (lambda x: x)
    seen = []

    def impl(x, *, scale):
        seen.append("impl")
        return listed(scale * x)

    def jvp(primals, tangents, *, scale):
        (x,), (t,) = primals, tangents
        out = p.bind(x, scale=scale)
        change = ad.Zero(jax.typeof(x)) if type(t) is ad.Zero else first(p.bind(t, scale=scale))
        return out, listed(change)

    def transpose(ct, x, *, scale):
        assert ad.is_undefined_primal(x)
        ct = first(ct)
        return [ct if type(ct) is ad.Zero else first(p.bind(ct, scale=scale))]

    def batch(args, dims, *, scale):
        seen.append("batch")
        return p.bind(args[0], scale=scale), listed(dims[0])

    p.def_impl(impl)
    p.def_abstract_eval(lambda x, *, scale: listed(jax.core.ShapedArray(x.shape, x.dtype)))
    ad.primitive_jvps[p], ad.primitive_transposes[p] = jvp, transpose
    batching.primitive_batchers[p] = batch
    mlir.register_lowering(p, mlir.lower_fun(impl, multiple_results=several))
    return (lambda x, scale=3.0: first(p.bind(x, scale=scale))), p, seen


def check_primitives_under_every_transformation():
    for several in (False, True):
        _look_at(*_made(f"scaled{several}", several))


def _look_at(f, p, seen):
    x = jnp.arange(3.0)
    close(f(x), 3 * x)
    close(jax.jit(f)(x), 3 * x)
    close(jax.jit(jax.vmap(f))(jnp.ones((2, 3))), 3 * np.ones((2, 3)))
    assert "batch" in seen
    g = lambda x: jnp.sum(f(jnp.sin(x)) ** 2)
    want = 2 * 9 * np.sin(x) * np.cos(x)
    for h in (jax.grad(g), jax.jit(jax.grad(g)), jax.grad(jax.jit(g)), jax.jacfwd(g)):
        close(h(x), want, 1e-5)
    close(jax.vmap(jax.grad(g))(jnp.stack([x, x])), np.stack([want, want]), 1e-5)
    close(jax.hessian(g)(x), np.diag(18 * np.cos(2 * np.asarray(x))), 1e-4)
    close(jax.linearize(f, x)[1](x), 3 * x)
    (eqn,) = jax.make_jaxpr(f)(x).eqns
    assert eqn.primitive is p and eqn.params == {"scale": 3.0}
    close(jax.lax.scan(lambda c, v: (f(c) + v, None), jnp.ones(()), x)[0], 3 * (3 * 3 + 1) + 2)
    assert jax.eval_shape(f, x).shape == (3,)


def check_primitives_without_a_rule_say_so():
    from jax.extend.core import Primitive

    p = Primitive("bare")
    raises(NotImplementedError, jax.jit(p.bind), 1.0)
    p.def_abstract_eval(lambda x: jax.core.ShapedArray(x.shape, x.dtype))
    assert "bare" in raises(Exception, jax.jit(p.bind), 1.0)
    p.def_impl(lambda x: x + 1)
    assert float(p.bind(1.0)) == 2.0
    assert "primitive_jvps" in raises(Exception, jax.grad(p.bind), 1.0)
    assert "primitive_batchers" in raises(Exception, jax.vmap(p.bind), jnp.ones(2))


def check_batching_on_other_axes_and_by_size():
    from jax.extend.core import Primitive
    from jax.interpreters import batching

    p = Primitive("turned")
    p.def_impl(lambda x: x.T)
    p.def_abstract_eval(lambda x: jax.core.ShapedArray(x.shape[::-1], x.dtype))
    batching.primitive_batchers[p] = lambda args, dims: (jnp.transpose(args[0], (2, 1, 0)), 2)
    x = jnp.arange(24.0).reshape(4, 2, 3)
    close(jax.vmap(p.bind)(x), np.swapaxes(x, 1, 2))
    q = Primitive("sized")
    q.def_impl(lambda x: x)
    q.def_abstract_eval(lambda x: x)
    batching.axis_primitive_batchers[q] = lambda size, name, kind, args, dims: (args[0] * size, 0)
    close(jax.vmap(q.bind)(x), 4 * x)


def check_rules_by_helpers():
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching

    def made(name, f, count):
        p = Primitive(name)
        p.def_impl(f)
        p.def_abstract_eval(lambda *xs: jax.core.ShapedArray(xs[0].shape, xs[0].dtype))
        batching.defvectorized(p)
        return p

    cube = made("cube", lambda x: x**3, 1)
    ad.defjvp(cube, lambda t, x: 3 * x**2 * t)
    close(jax.vmap(jax.grad(cube.bind))(jnp.arange(3.0)), 3 * np.arange(3.0) ** 2)
    half = made("half", lambda x: x / 2, 1)
    ad.deflinear(half, lambda ct: [half.bind(ct)])
    close(jax.grad(lambda x: half.bind(x) ** 2)(3.0), 1.5)
    times = made("times", lambda x, y: x * y, 2)
    ad.defbilinear(times, lambda ct, x, y: times.bind(ct, y), lambda ct, x, y: times.bind(x, ct))
    close(jax.grad(lambda x: times.bind(x, x))(3.0), 6.0)


def check_lowering_that_calls_python_or_writes_stablehlo():
    from jax.extend.core import Primitive
    from jax.interpreters import mlir
    from jaxlib.mlir.dialects import stablehlo as hlo

    p = Primitive("median")
    p.def_impl(np.median)
    p.def_abstract_eval(lambda x: jax.core.ShapedArray((), x.dtype))

    def lower(ctx, x):
        host = lambda v: (np.median(v).astype(v.dtype),)
        outs, _, keep = mlir.emit_python_callback(
            ctx, host, None, [x], ctx.avals_in, ctx.avals_out, has_side_effect=False
        )
        ctx.module_context.add_keepalive(keep)
        return outs

    mlir.register_lowering(p, lower)
    close(jax.jit(p.bind)(jnp.asarray([3.0, 1.0, 2.0])), 2.0)
    q = Primitive("twice")
    q.def_abstract_eval(lambda x: jax.core.ShapedArray(x.shape, x.dtype))
    mlir.register_lowering(q, lambda ctx, x: hlo.AddOp(x, x).results)
    close(jax.jit(q.bind)(jnp.arange(3.0)), 2 * np.arange(3.0))
    close(q.bind(jnp.arange(3.0)), 2 * np.arange(3.0))


def check_positions_and_seeds():
    x = jnp.arange(3.0)
    assert (
        float(x[5]) == 2.0
        and float(jax.jit(lambda y: y[7])(x)) == 2.0
        and float(x.at[9].get()) == 2.0
    )
    assert jax.random.PRNGKey(2**33 + 1).tolist() == [0, 1] and jax.random.PRNGKey(-1).tolist() == [
        0,
        2**32 - 1,
    ]
    assert jax.random.key_data(jax.random.key(2**32 + 3)).tolist() == [0, 3]


# Draws by rejection

# Of jax 0.10.2, with PRNGKey(7) and the arguments below.
DRAWN = {
    "gamma": [5.715881e-07, 0.5218955, 26.13199],
    "loggamma": [-14.37485, -0.650288, 3.26316],
    "beta": [0.001258527, 0.3607473, 0.9257546],
    "dirichlet": [2.144482e-08, 0.01958047, 0.9804196],
    "chisquare": [4.406247e-13, 0.9576584, 24.45029],
    "t": [1.139892, 0.3826833, -0.5027614],
    "f": [2.850712, 0.19468, 2.016871],
    "poisson": [0.0, 1.0, 48.0],
    "generalized_normal": [-0.1130596, -0.6796276, 0.05358308],
    "ball": [-0.3638842, 0.3945854, 0.1197582],
}


def check_draws_have_the_bits_of_jax():
    key, a, r = jax.random.PRNGKey(7), jnp.asarray([0.3, 1.5, 30.0]), jax.random
    found = {
        "gamma": r.gamma(key, a), "loggamma": r.loggamma(key, a), "beta": r.beta(key, a, 2.0),
        "dirichlet": r.dirichlet(key, a), "chisquare": r.chisquare(key, a), "t": r.t(key, a), "f": r.f(key, a, 3.0),
        "poisson": r.poisson(key, jnp.asarray([0.0, 3.0, 50.0])),
        "generalized_normal": r.generalized_normal(key, 2.5, (3,)), "ball": r.ball(key, 3),
    }  # fmt: skip
    for name, want in DRAWN.items():
        np.testing.assert_allclose(found[name], want, rtol=3e-6, atol=1e-7, err_msg=name)
    assert r.gamma(jax.random.key(0), 2.0, (0, 2)).shape == (0, 2)
    assert r.poisson(key, 3.0).dtype == jnp.int32
    # derivatives are those of the distribution function at fixed probability
    slope = jax.grad(lambda a: r.gamma(key, a).sum())(a)
    close(slope, jax.lax.random_gamma_grad(a, found["gamma"]), 1e-5)
    close(jax.vmap(lambda k: r.gamma(k, 2.0))(r.split(key, 3))[1], r.gamma(r.split(key, 3)[1], 2.0))


# Interpreters


def check_an_interpreter_of_jaxprs():
    """The inverse of a function, equation by equation, as JAX's documentation builds one."""
    from jax.extend.core import Literal
    from jax.extend.core.primitives import exp_p, jit_p, log_p, tanh_p

    table = {exp_p: jnp.log, tanh_p: jnp.arctanh, log_p: jnp.exp}

    def inverse(f):
        def g(y):
            closed = jax.make_jaxpr(f)(y)
            return backward(closed.jaxpr, closed.consts, y)

        return g

    def backward(jaxpr, consts, y):
        env = dict(zip(jaxpr.constvars, consts)) | {jaxpr.outvars[0]: y}
        for eqn in jaxpr.eqns[::-1]:
            out = env[eqn.outvars[0]]
            assert not isinstance(eqn.invars[0], Literal)
            if eqn.primitive is jit_p:
                inner = eqn.params["jaxpr"]
                env[eqn.invars[0]] = backward(inner.jaxpr, inner.consts, out)
            else:
                env[eqn.invars[0]] = table[eqn.primitive](out)
        return env[jaxpr.invars[0]]

    f = lambda x: jnp.exp(jax.jit(jnp.tanh)(x))
    close(jax.jit(inverse(f))(f(0.3)), 0.3)


def check_jaxprs_run_again():
    w = jnp.arange(3.0)

    def f(x):
        y = jax.lax.scan(lambda c, v: (c * v + x, c), x, w)[0]
        return jax.lax.cond(y > 0, lambda z: z * 2, lambda z: -z, y), jax.jit(lambda z: z + w)(x)

    closed, shapes = jax.make_jaxpr(f, return_shape=True)(0.5)
    found = jax.core.eval_jaxpr(closed.jaxpr, closed.consts, 0.7)
    for a, b in zip(found, f(0.7)):
        close(a, b)
    close(jax.extend.core.jaxpr_as_fun(closed)(0.7)[1], f(0.7)[1])
    again = {}
    for v, x in zip([*closed.jaxpr.constvars, *closed.jaxpr.invars], [*closed.consts, 0.7]):
        again[v] = x
    for eqn in closed.eqns:  # each equation by its primitive's bind, as interpreters do
        ins = [v.val if isinstance(v, jax.core.Literal) else again[v] for v in eqn.invars]
        outs = eqn.primitive.bind(*ins, **eqn.params)
        again.update(zip(eqn.outvars, outs if eqn.primitive.multiple_results else [outs]))
    for v, b in zip(closed.jaxpr.outvars, f(0.7)):
        close(again[v], b)
    assert (
        any(True for _ in jax.core.jaxprs_in_params(closed.eqns[0].params)) or len(closed.eqns) > 1
    )
    assert shapes[1].shape == (3,)


def check_lifting():
    from jax import api_util
    from jax.extend import linear_util as lu
    from jax.interpreters import partial_eval as pe

    @lu.transformation_with_aux
    def counted(n, *args):
        outs = yield args, {}
        yield [n * x for x in outs], len(args)

    leaves, structure = jax.tree.flatten(((1.0, {"a": 2.0}), {"k": 3.0}))
    f = lambda x, t, k: {"s": x + t["a"], "k": k}
    flat, out_tree = api_util.flatten_fun(lu.wrap_init(f), structure)
    both, count = counted(flat, 2)
    assert both.call_wrapped(*leaves) == [6.0, 6.0] and count() == 3
    assert jax.tree.unflatten(out_tree(), [0, 1]) == {"k": 0, "s": 1}

    g = lu.wrap_init(lambda x, y: [jnp.sin(x), jnp.sin(x) * y])
    known, unknown = (
        pe.PartialVal.known(jnp.float32(0.5)),
        pe.PartialVal.unknown(jax.core.ShapedArray((2,), jnp.float32)),
    )
    jaxpr, outs, consts = pe.trace_to_jaxpr_nounits(g, [known, unknown])
    assert outs[0].is_known() and not outs[1].is_known()
    close(outs[0].get_known(), np.sin(0.5))
    close(jax.core.eval_jaxpr(jaxpr, consts, jnp.ones(2))[0], np.sin(0.5) * np.ones(2))


def check_squares_and_reciprocals_have_one_variable():
    x = jnp.arange(1.0, 4.0)
    (square,) = jax.make_jaxpr(jnp.square)(x).eqns
    assert square.primitive is jax.lax.square_p and len(square.invars) == 1
    assert np.array_equal(square.primitive.bind(x), x * x)
    (product,) = jax.make_jaxpr(lambda x, y: x * y)(x, x).eqns
    assert product.primitive is jax.lax.mul_p and len(product.invars) == 2
    (inverse,) = jax.make_jaxpr(jnp.reciprocal)(x).eqns
    assert inverse.primitive is jax.lax.div_p
    v, out = square.invars[0], square.outvars[0]
    again = jax.extend.core.new_jaxpr_eqn([v], [out], jax.lax.square_p, {})
    jaxpr = jax.core.Jaxpr((), [v], [out], [again])
    assert np.array_equal(jax.core.eval_jaxpr(jaxpr, [], x)[0], x * x)


def check_what_is_put_somewhere_is_narrowed():
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("x",))
    spread = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
    for place in None, jax.devices()[0], spread:
        x = jax.device_put(np.arange(4.0).reshape(1, 4), place)
        assert x.dtype == np.float32
        for _ in range(3):  # calls of small arrays take another path from the second on
            assert np.array_equal(jnp.abs(x + x) - 1, 2 * np.arange(4.0)[None] - 1)


def check_dtypes_of_trees_with_keys():
    assert jax.dtypes.canonicalize_dtype(None) == np.float32
    for name in "float32", "int8", "bfloat16":  # libraries compare dtypes by identity
        assert jax.dtypes.canonicalize_dtype(name) is np.dtype(name)
    a, b = jax.tree.map(lambda x: x.dtype, (jax.random.key(0), jax.random.key(1)))
    assert a == b and not (a != b) and repr(a) == "key<fry>"


def check_trees():
    from jax._src.tree_util import _registry

    class Node:
        pass

    assert dict in _registry and Node not in _registry
    jax.tree_util.register_pytree_node(Node, lambda n: ((), None), lambda d, c: Node())
    assert Node in _registry


def check_lowered_modules_are_printed():
    lowered = jax.jit(lambda x: x * x).lower(1.0)
    assert "ENTRY" in lowered.compiler_ir(dialect="hlo").as_hlo_text()
    assert "stablehlo.multiply" in str(lowered.compiler_ir())


def check_parts_of_sparse_matrices():
    from jax.experimental import sparse

    dense = np.array([[0, 1.0, 0], [2.0, 0, 3.0]], "f")
    m = sparse.BCOO.fromdense(dense)
    assert (
        m.nse == 3
        and m.data.tolist() == [1, 2, 3]
        and m.indices.tolist() == [[0, 1], [1, 0], [1, 2]]
    )
    v = jnp.asarray([1.0, 2.0, 3.0])
    product = lambda data: (sparse.BCOO((data, m.indices), shape=m.shape) @ v).sum()
    close(jax.grad(product)(m.data), np.array([2.0, 1.0, 3.0]))


# How libraries that take arrays of any package find out whose an array is


def check_namespaces_of_arrays_are_jax_numpy():
    spaces = [jnp.ones(2).__array_namespace__()]
    jax.jit(lambda x: spaces.append(x.__array_namespace__(api_version="2024.12")) or x)(1.0)
    assert all(space is jnp and space.__name__ == "jax.numpy" for space in spaces)
    raises(ValueError, lambda: jnp.ones(2).__array_namespace__(api_version="1999.12"))


def check_modules_come_along():
    code = "import xcore.as_jax, jax, sys; assert sys.modules['jax.core'].Tracer and 'jax.lax.linalg' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def check_constants_are_traced_in_jit():
    def is_traced(x):
        try:
            bool(x)
        except jax.errors.TracerBoolConversionError:
            return True
        return False

    found = []

    def f(x):
        found.extend(is_traced(make(False)) for make in (jnp.asarray, jnp.array))
        with jax.ensure_compile_time_eval():
            found.append(is_traced(jnp.asarray(False)))
        return x * jnp.asarray(2.0)

    close(jax.jit(f)(3.0), 6.0)
    close(jax.jit(jax.grad(f))(3.0), 2.0)
    assert found == [True, True, False] * 2
    found.clear()
    close(jax.vmap(jax.grad(f))(jnp.arange(3.0)), [2.0] * 3)
    assert found == [False] * 3


if __name__ == "__main__":
    import results  # beside this script

    results.tell(globals())
