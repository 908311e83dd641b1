"""As ``checks.py``: what libraries read behind JAX's interface, and traces and primitives of their own."""

import numpy as np
from results import close, raises, tell

import xcore.as_jax  # noqa: F401 (from here on jax is xcore)

import jax  # isort: skip
import jax.numpy as jnp  # isort: skip
from jax import lax  # isort: skip


def check_names_behind_the_interface_are_those_before_it():
    from jax._src import api_util, core, mesh, pjit
    from jax._src.lax import control_flow
    from jax._src.numpy import lax_numpy
    from jax._src.scipy.special import gammaln
    from jax._src.typing import DTypeLike

    assert lax_numpy.array is jnp.array and control_flow.scan is lax.scan
    assert mesh.Mesh is jax.sharding.Mesh and pjit.auto_axes is jax.sharding.auto_axes
    assert gammaln is jax.scipy.special.gammaln and DTypeLike is not None
    assert api_util.flatten_axes is jax.api_util.flatten_axes
    (call,) = jax.make_jaxpr(jax.jit(lambda x: x * 2))(1.0).eqns
    assert call.primitive is pjit.jit_p
    assert core.Primitive is jax.extend.core.Primitive and core.Tracer is jax.core.Tracer
    for name in ("Effects", "no_effects", "gensym", "DebugInfo", "new_jaxpr_eqn"):
        assert getattr(jax.core, name) is getattr(jax.extend.core, name)


def check_arguments_by_number_and_by_name():
    import inspect

    from jax._src.api_util import infer_argnums_and_argnames as infer

    def f(a, b, *more, c, d=1):
        """Only a and b have a number and a name."""

    sig = inspect.signature(f)
    assert infer(sig, None, None) == ((), ())
    assert infer(sig, 1, None) == ((1,), ("b",))
    assert infer(sig, None, ("b", "c")) == ((1,), ("b", "c"))
    assert infer(sig, (0, 1), "a") == ((0, 1), ("a",))


def check_promotion_of_several():
    from jax._src.numpy import util

    a, b = jnp.int32(1), jnp.ones((2, 1), jnp.bfloat16)
    for args, name, dtype in (
        ((a, b), "promote_dtypes", "bfloat16"),
        ((a, True), "promote_dtypes", "int32"),
        ((True, True), "promote_dtypes_numeric", "int32"),
        ((a, a), "promote_dtypes_inexact", "float32"),
        ((b, 1), "promote_dtypes_inexact", "bfloat16"),
        ((a, b), "promote_dtypes_complex", "complex64"),
    ):
        found = getattr(util, name)(*args)
        assert [x.dtype for x in found] == [dtype] * 2, name
    assert [x.shape for x in util.promote_args("f", a, b)] == [(1, 1), (2, 1)]
    assert util.ensure_arraylike("f", 2.0).shape == ()
    assert "position 1" in raises(TypeError, util.check_arraylike, "f", a, "text")


def check_lists_behind_the_interface():
    from jax._src import util

    assert util.split_list([1, 2, 3, 4], [1, 2]) == [[1], [2, 3], [4]]
    assert util.unzip2([]) == ((), ()) and util.unzip3([(1, 2, 3)]) == ((1,), (2,), (3,))
    parts = util.partition_list([True, False, True], "abc")
    assert parts == (["b"], ["a", "c"])
    assert util.merge_lists([True, False, True], *parts) == ["a", "b", "c"]
    assert util.canonicalize_axis(-1, 3) == 2
    raises(ValueError, util.canonicalize_axis, 3, 3)
    raises(ValueError, util.safe_zip, [1], [1, 2])
    same = [util.HashablePartial(max, 1, key=abs) for _ in range(2)]
    assert same[0] == same[1] and len(set(same)) == 1 and same[0](-2) == -2


class Dual(jax.core.Tracer):
    """A value and its change, as a library's own forward mode has them."""

    def __init__(self, trace, value, change):
        self._trace, self.value, self.change = trace, value, change

    @property
    def aval(self):
        return jax.typeof(self.value)


class DualTrace(jax.core.Trace):
    """Knows of products, sines and choices; of anything else it takes the value."""

    def __init__(self, outside):
        self.outside, self.names = outside, []

    def process_primitive(self, primitive, tracers, params):
        self.names.append(primitive.name)
        with jax.extend.core.set_current_trace(self.outside):
            pairs = [(t.value, t.change) if isinstance(t, Dual) else (t, 0 * t) for t in tracers]
            values, changes = zip(*pairs)
            out = primitive.bind(*values, **params)
            if primitive is lax.sin_p:
                change = jnp.cos(values[0]) * changes[0]
            elif primitive is lax.mul_p:
                change = values[0] * changes[1] + changes[0] * values[1]
            elif primitive is lax.select_n_p:
                change = jnp.where(values[0], changes[2], changes[1])
            elif primitive is lax.reduce_sum_p:
                change = primitive.bind(*changes, **params)
            else:
                change = jax.tree.map(jnp.zeros_like, out)
        if primitive.multiple_results:
            return [Dual(self, x, d) for x, d in zip(out, change)]
        return Dual(self, out, change)


def check_traces_of_ones_own():
    def f(x):
        return jnp.where(x > 1, 3 * jnp.sin(x), x * x).sum()

    def changed(x):
        change = jnp.ones_like(x)
        with jax.extend.core.take_current_trace() as outside:
            trace = DualTrace(outside)
            with jax.extend.core.set_current_trace(trace):
                out = f(Dual(trace, x, change))
            return out.value, out.change

    x = jnp.array([0.5, 2.0])
    expected = np.sum([2 * 0.5, 3 * np.cos(2.0)])
    for run in (changed, jax.jit(changed)):
        value, change = run(x)
        close(value, f(x))
        close(change, expected)
    close(jax.grad(lambda x: changed(x)[1])(x), [2, -3 * np.sin(2.0)])
    close(jax.vmap(changed)(jnp.stack([x, x]))[1], [expected] * 2)


class Twice(jax.extend.core.Primitive):
    """A primitive that writes its rules as methods."""

    multiple_results = True

    def abstract_eval(self, *types, **params):
        return [jax.core.ShapedArray(t.shape, t.dtype) for t in types], jax.core.no_effects

    def impl(self, *args, **params):
        return [2 * x for x in args]


def check_primitives_with_rules_as_methods():
    from jax.interpreters import mlir

    twice = Twice("twice")
    mlir.register_lowering(twice, mlir.lower_fun(twice.impl, multiple_results=True))
    for run in (lambda f: f, jax.jit):
        x, y = run(lambda x, y: twice.bind(x, y))(jnp.ones(2), jnp.arange(3))
        assert x.tolist() == [2, 2] and y.tolist() == [0, 2, 4]
    untyped = jax.extend.core.Primitive("untyped")
    assert "def_abstract_eval" in raises(NotImplementedError, jax.jit(untyped.bind), 1.0)


def check_numpy_scalars_are_as_wide_as_arrays():
    """Under transformations as without them; a 64-bit array inside keeps all digits of a scalar."""
    scalars = np.float64(1.5), np.int64(3), np.complex128(1 + 2j), np.uint64(3)

    def dtypes(x):
        found = [f(x, s) for s in scalars for f in (jnp.multiply, lambda x, s: s * x, jnp.maximum)]
        found += [f(s) for s in scalars for f in (jnp.sin, jnp.negative, jnp.abs)]
        found += [jnp.stack([x.ravel()[0], s]) for s in scalars] + [
            jnp.where(True, s, x) for s in scalars
        ]
        names.append({str(a.dtype) for a in found})
        return x

    for x in (jnp.ones(2), jnp.arange(2)):
        for run in (lambda f: f, jax.jit, jax.vmap, lambda f: jax.jit(jax.vmap(f))):
            names: list = []
            run(dtypes)(x[None])
            assert not names[0] & {"float64", "int64", "uint64", "complex128"}, names
    with jax.enable_x64(True):
        assert (jax.jit(lambda x: x * np.float64(0.1))(jnp.float64(3))) == 3 * 0.1


def check_draws_of_parameters_that_are_none():
    """No error, as in JAX; categorical choices are its own."""
    key, inf, nan = jax.random.PRNGKey(0), np.inf, np.nan
    rows = [[inf, 0, 1], [0, nan, inf], [-inf] * 3, [0, inf, inf], [-inf, 2, -inf], [nan, nan, 0]]
    for run in (lambda f: f, jax.jit):
        found = run(lambda x: jax.random.categorical(key, x))(jnp.array(rows))
        assert found.tolist() == [0, 1, 0, 1, 1, 0]
        found = run(lambda x: jax.random.categorical(key, x, axis=0, shape=(5, 6)))(
            jnp.array(rows).T
        )
        assert found.tolist() == [[0, 1, 0, 1, 1, 0]] * 5
        first = run(lambda x: jax.random.categorical(key, x, replace=False, shape=(2,)))(
            jnp.full(3, -inf)
        )
        assert first.tolist() == [0, 1]
        draws = run(lambda p: jax.random.bernoulli(key, p, (3,)))
        assert draws(1.5).all() and not draws(-0.5).any()
        close(run(lambda a: jax.random.uniform(key, (2,), minval=a, maxval=1.0))(2.0), [nan, nan])
        assert run(lambda p: jax.random.choice(key, 2, p=p))(jnp.array([-1.0, 1.0])) == 1
    weights = jnp.log(jnp.array([0.2, 0.3, 0.5]))
    some = jax.random.categorical(key, weights, shape=(1000,))
    close(jnp.bincount(some) / 1000, [0.2, 0.3, 0.5], 0.05)


def check_counts_without_x64():
    """Samplers that compute in float64 do so."""
    key, p = jax.random.PRNGKey(0), jnp.array([0.2, 0.3, 0.5])
    for run in (lambda f: f, jax.jit):
        counts = run(lambda p: jax.random.multinomial(key, 20, p))(p)
        assert counts.dtype == np.float32 and counts.sum() == 20
        counts = run(lambda p: jax.random.binomial(key, 20, p))(p)
        assert counts.dtype == np.float32 and (0 <= counts).all() and (counts <= 20).all()


def check_legendre():
    from scipy.special import assoc_legendre_p_all, sph_harm_y

    z = np.linspace(-0.9, 0.95, 5).astype(np.float32)
    values, slopes = jax.scipy.special.lpmn(4, 4, z)
    expected = assoc_legendre_p_all(4, 4, z.astype(float), diff_n=1)[:, :, :5].transpose(0, 2, 1, 3)
    close(values, expected[0], 1e-4)
    close(slopes, expected[1], 1e-3)
    unit = jax.scipy.special.lpmn_values(4, 4, z, True)
    n, m = np.arange(5)[:, None], np.arange(5)[:, None, None]
    expected = np.where(m <= n, sph_harm_y(n, m, np.arccos(z.astype(float)), 0.0).real, 0)
    close(unit, expected, 1e-5)


def check_lobpcg_standard():
    from jax.experimental.sparse.linalg import lobpcg_standard

    r = np.random.default_rng(0)
    a, start = r.normal(size=(30, 30)).astype("f"), r.normal(size=(30, 2)).astype("f")
    a = a @ a.T
    for operator in (a, lambda x: a @ x):
        w, v, steps = lobpcg_standard(operator, start, m=300)
        close(w, np.linalg.eigvalsh(a)[:-3:-1], 1e-3)
        close(a @ v, v * w, 0.05)
    assert "fifth" in raises(ValueError, lobpcg_standard, a, a[:, :6])


def check_close_trees():
    from jax._src.public_test_util import check_close

    check_close({"a": jnp.ones(2), "b": 1}, {"a": np.ones(2), "b": 1})
    check_close(jnp.ones(1), jnp.ones(1) + 1e-4, atol={"float32": 5e-4}, rtol={"float32": 0})
    raises(AssertionError, check_close, jnp.ones(1), jnp.ones(1) + 1e-4)
    raises(AssertionError, check_close, 1, 2)


def check_more_names_behind():
    from jax._src.dtypes import to_complex_dtype, to_inexact_dtype
    from jax.interpreters.batching import register_vmappable

    assert [to_complex_dtype(d).name for d in ("int8", "int64", "float32")] == [
        "complex64",
        "complex128",
        "complex64",
    ]
    assert [to_inexact_dtype(d).name for d in ("bool", "int64", "float16")] == [
        "float32",
        "float64",
        "float16",
    ]
    seen = []
    jax.vmap(
        lambda x: (seen.extend(jax.core.unsafe_get_axis_names_DO_NOT_USE()), x)[1], axis_name="i"
    )(jnp.ones(2))
    assert seen == ["i"] and jax.core.unsafe_get_axis_names_DO_NOT_USE() == []
    assert jax.lib.__version__ == jax.__version__
    register_vmappable(type(None), int, int, None, None, None)
    with jax.extend.source_info_util.user_context(None):
        pass


def check_derivatives_at_python_numbers():
    """What is checked has 32 bits, and so have the steps and bounds."""
    from jax.test_util import check_grads, check_jvp, check_vjp

    def f(x, y):
        return jnp.sqrt(jnp.sum(jnp.square(x - y)))

    for args in ((0.3, 1.5), (np.float64(0.3), np.ones(2))):
        check_grads(f, args, order=2)
        check_jvp(f, lambda *a: jax.jvp(f, *a), args)
        check_vjp(f, lambda *a: jax.vjp(f, *a), args)


def check_classes_of_arrays_are_found_by_their_module():
    """As autoray, opt_einsum and others tell arrays of different packages."""
    import pickle

    classes = [type(jnp.ones(2))]

    def f(x):
        classes.append(type(x))
        return x

    jax.jit(f)(1.0)
    jax.vmap(f)(jnp.ones(2))
    jax.vmap(jax.grad(f))(jnp.ones(2))
    jax.linearize(f, 1.0)
    jax.make_jaxpr(f)(1.0)
    assert len(set(classes)) > 3
    for cls in classes:
        assert cls.__module__.partition(".")[0] in ("jax", "jaxlib"), cls
    assert pickle.loads(pickle.dumps(jax.Array)) is jax.Array
    close(pickle.loads(pickle.dumps(jnp.arange(3.0))), [0, 1, 2])


def check_names_of_dtypes_are_wide_and_values_narrow():
    wide = [jnp.float64, jnp.int64, jnp.uint64, jnp.complex128]
    narrow = [jnp.float32, jnp.int32, jnp.uint32, jnp.complex64]
    assert len({*wide, *narrow}) == 8  # as keys of tables
    for dtype, other in zip(wide, narrow, strict=True):
        assert dtype != other and jnp.zeros(2, dtype).dtype == other
        assert np.zeros(2, dtype).dtype == dtype == jnp.dtype(dtype) and dtype(2).dtype == other
        assert jnp.zeros(2, dtype).dtype != dtype and jnp.ones(1).astype(dtype).dtype == other
        assert jnp.result_type(dtype) == jax.dtypes.canonicalize_dtype(dtype) == other
    with jax.enable_x64(True):
        for dtype in wide:
            assert jnp.zeros(2, dtype).dtype == dtype


def check_results_of_branches_are_weak_as_those_of_the_first():
    def branches(x):
        strong, same = lambda x: x.astype(int), lambda x: x
        weak = [
            jax.lax.cond(x > 0, strong, same, x),
            jax.lax.cond(x > 0, same, strong, x),
            jax.lax.switch(x, [same, strong, strong], x),
            jax.lax.switch(x, [strong, same, same], x),
        ]
        return tuple(weak)

    for f in (branches, jax.jit(branches)):
        assert [y.weak_type for y in f(jnp.asarray(1))] == [True, False, True, False]


def check_trees_are_made_of_vectors_of_another_dtype():
    from jax.flatten_util import ravel_pytree

    vector, unravel = ravel_pytree({"a": jnp.ones(2), "b": jnp.zeros((1, 2))})
    for dtype in (complex, int, jnp.bfloat16, float):
        back = unravel(vector.astype(dtype))
        assert {x.dtype for x in back.values()} == {vector.astype(dtype).dtype}
        close(back["a"].astype(float), [1, 1])
    assert unravel == ravel_pytree({"a": jnp.zeros(2), "b": jnp.ones((1, 2))})[1]
    vector, unravel = ravel_pytree((jnp.ones(2), jnp.arange(3)))
    assert [x.dtype for x in unravel(vector)] == [jnp.float32, jnp.int32]
    raises(TypeError, unravel, vector.astype(complex))
    raises(TypeError, ravel_pytree(jnp.ones(2))[1], jnp.ones(3))


def check_types_stand_for_values():
    """ShapeDtypeStructs in questions about shapes, and classes of libraries' own with a shape and a dtype."""
    import types

    struct = jax.ShapeDtypeStruct((2, 3), jnp.float32)
    assert (jnp.shape(struct), jnp.ndim(struct), jnp.size(struct)) == ((2, 3), 2, 6)
    assert (jnp.shape(None), jnp.ndim(3.0), jnp.size(jnp.ones((2, 3)), 1)) == ((), 0, 3)
    for dtype in (jnp.float32, float, np.float64):
        own = types.SimpleNamespace(shape=(3,), dtype=dtype)
        (back,) = jax.linear_transpose(lambda x: 2 * x, own)(jnp.ones(3))
        close(back, [2, 2, 2])
        assert back.dtype == jnp.float32


def check_modules_show_all_their_names():
    """For who walks over ``vars(jax.numpy)`` and wraps what is there."""
    for module in (jnp, jnp.linalg, jax.lax, jax.random, jax.scipy.special):
        shown = vars(module)
        missing = [n for n in dir(module) if n not in shown]
        assert not missing and shown["__name__"] == module.__name__, missing
    assert vars(jnp)["abs"] is jnp.abs and vars(jnp.fft)["fft"] is jnp.fft.fft


def check_the_layout_of_bits_before():
    key = jax.random.PRNGKey(7)
    new = jax.random.bits(key, (3,))
    old = [276534068, 861967409, 1905761346]
    with jax.threefry_partitionable(False):
        assert jax.random.bits(key, (3,))[:2].tolist() != new[:2].tolist()
        assert jax.random.split(key, 3).ravel()[:3].tolist() == old
    jax.config.update("jax_threefry_partitionable", False)
    assert not jax.config.jax_threefry_partitionable
    assert jax.random.split(key, 3).ravel()[:3].tolist() == old
    jax.config.update("jax_threefry_partitionable", True)
    assert jax.random.bits(key, (3,)).tolist() == new.tolist()


if __name__ == "__main__":
    tell(globals())
