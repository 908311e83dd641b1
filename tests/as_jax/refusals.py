"""As ``checks.py``: what JAX refuses, and what it takes, where xcore is of another mind."""

import numpy as np
from results import close, raises, tell

import xcore.as_jax  # noqa: F401 (from here on jax is xcore)

import jax  # isort: skip
import jax.numpy as jnp  # isort: skip
from jax import lax  # isort: skip

X, Y = jnp.ones(3, jnp.float32), jnp.ones(3, jnp.int32)


def check_what_is_no_function_is_refused_at_once():
    for made in (jax.grad, jax.jacfwd, jax.hessian, jax.vmap, jax.make_jaxpr):
        for given in (3, "sin", None, [1.0]):
            raises(TypeError, made, given)


BINARY = (
    "add sub mul div rem max min atan2 nextafter complex eq ne lt le gt ge bitwise_and bitwise_or bitwise_xor shift_left "
    "shift_right_logical shift_right_arithmetic pow zeta polygamma"
).split()


def check_lax_promotes_nothing():
    for name in BINARY:
        f = getattr(lax, name)
        raises(TypeError, f, Y, jnp.ones(3, bool))
        raises(TypeError, f, X, jnp.ones(3, jnp.bfloat16))
        raises(TypeError, f, Y, jnp.asarray(2.0))
        raises(TypeError, f, X, jnp.ones((2, 3)))
        raises(TypeError, jax.jit(f), Y, 2.5)
        if name != "pow":
            raises(TypeError, f, X, 2)
    raises(TypeError, lax.select, X > 0, X, Y)
    raises(TypeError, lax.clamp, 0, X, 1)
    raises(TypeError, lax.pad, X, 0, [(1, 1, 0)])
    raises(TypeError, lax.dynamic_update_slice, X, Y, (0,))
    raises(TypeError, lax.conv_general_dilated, X[None, None], Y[None, None], (1,), "SAME")


def check_lax_takes_what_is_alike():
    assert (X + Y).dtype == jnp.add(X, 2).dtype == np.float32  # jax.numpy promotes
    for name in ("add", "mul", "max", "pow", "eq"):
        f = getattr(lax, name)
        for y in (2.0, np.float64(2), np.float32(2), jnp.float32(2), jnp.ones(1), np.ones(3)):
            assert f(X, y).shape == (3,)
    assert (
        lax.add(Y, 2).dtype == np.int32 and lax.pow(X, Y).dtype == lax.pow(X, 2).dtype == np.float32
    )
    assert lax.clamp(0.0, X, 1.0).dtype == np.float32
    close(lax.reduce(X, 0.0, lax.add, (0,)), 3)
    close(lax.reduce_window(X, -jnp.inf, lax.max, (2,), (1,), "VALID"), [1, 1])
    close(lax.associative_scan(lax.add, X), [1, 2, 3])


def check_bounds_that_are_no_integers():
    key = jax.random.key(0)
    want = jax.random.randint(key, (3,), 0, 5).tolist()
    for low, high in (
        (0.0, 5.0),
        (0.5, 5.5),
        (0, 5.0),
        (jnp.float32(0), 5),
        (-0.9, np.float64(5.9)),
    ):
        found = jax.random.randint(key, (3,), low, high)
        assert found.tolist() == want and found.dtype == np.int32
        assert jax.jit(lambda a, b: jax.random.randint(key, (3,), a, b))(low, high).tolist() == want
    raises(TypeError, jax.random.randint, key, (3,), 0, 5, jnp.float32)


def check_python_ints_that_a_dtype_does_not_hold():
    """They wrap around as in JAX where the default dtype holds them; others are refused, and none is another number."""
    for a, v, want in (
        (jnp.array([5, 100], "int8"), 200, [-51, 44]),
        (jnp.array([5, 100], "uint8"), -1, [4, 99]),
        (jnp.array([5, 100], "uint32"), -1, [4, 99]),
        (jnp.array([5, 100], "int16"), 70000, [4469, 4564]),
    ):
        for f in (lambda a, v=v: a + v, lambda a, v=v: v + a, lambda a, v=v: a.at[:].add(v)):
            assert f(a).tolist() == jax.jit(f)(a).tolist() == want
        assert jnp.where(a > 50, a, v).dtype == a.dtype
    for v in (2**31, 2**40, -(2**31) - 1):
        for made in (
            jnp.asarray,
            jnp.array,
            lambda v: jnp.array([v]),
            lambda v: jnp.array([[v], [1]]),
            lambda v: jnp.full(2, v),
        ):
            raises(OverflowError, made, v)
    assert jnp.array([2**40, 1.5]).dtype == np.float32 and jnp.array(2**31, "uint32") == 2**31
    with jax.enable_x64(True):
        assert jnp.asarray(2**40).dtype == jnp.array([2**40]).dtype == np.int64


def check_ints_that_32_bits_do_not_hold():
    """A Python int that comes into a program, or onto a device, is of 32 bits, unless 64-bit values are on."""
    big, f = 2**40, lambda x: x
    for call in (
        jax.jit(f), lambda x: jax.vmap(f, in_axes=None, axis_size=2)(x), jax.device_put, lambda x: jax.eval_shape(f, x),
        lambda x: lax.scan(lambda c, x: (c, x), x, None, length=1), lambda x: jax.jit(lambda y: y + x)(jnp.int32(1)),
    ):  # fmt: skip
        raises(OverflowError, call, big)
        with jax.enable_x64(True):
            call(1)
    assert jnp.int32(5) < big and (jnp.uint32(1) + 2**31).dtype == np.uint32
    assert jnp.ones_like([1, 2]).dtype == jnp.zeros_like([True], dtype=int).dtype == np.int32


def check_promotion_without_64_bits():
    """Dtypes of 64 bits come of such alone; with them, a common one of unsigned and signed integers is wider."""
    for a in ("int8", "int16", "int32"):
        assert jnp.promote_types(a, "uint32") == jnp.promote_types("uint32", a) == np.int32
        assert jnp.promote_types(a, "int64") == np.int64
        with jax.enable_x64(True):
            assert jnp.promote_types(a, "uint32") == np.int64
    assert jnp.promote_types("complex64", "float64") == np.complex128
    assert not jnp.issubdtype(jnp.float32, float) and jnp.issubdtype(float, np.float64)


def check_static_arguments_that_are_traced():
    f = jax.custom_vjp(lambda n, x: n * x, nondiff_argnums=(0,))
    f.defvjp(lambda n, x: (n * x, n), lambda n, r, g: (g,))
    raises(jax.errors.UnexpectedTracerError, jax.grad(lambda x: f(x, x)), 2.0)
    raises(
        ValueError, lambda: jax.pmap(lambda a, b: a + b, static_broadcasted_argnums=1)(X[None], b=1)
    )


def check_values_of_checkify_and_linalg():
    from jax.experimental import checkify

    assert checkify.init_error.get() is None
    a = jnp.asarray([[4.0, 1.0], [1.0, -3.0]])
    for found, wanted in zip(jnp.linalg.slogdet(a, method="qr"), np.linalg.slogdet(a), strict=True):
        close(found, wanted)


def check_loops_refuse_what_is_none():
    raises(TypeError, lax.associative_scan, 42, X)
    raises(TypeError, lax.switch, 0, [42])
    raises(TypeError, lax.cond, 1j, lambda: 1, lambda: 2)
    raises(TypeError, jax.named_scope, 3)
    for unroll in (-1, 1.5):
        raises(
            (ValueError, TypeError), lambda u=unroll: lax.scan(lambda c, x: (c, x), 0, X, unroll=u)
        )
    close(lax.map(lambda x: x + 1, X, batch_size=0), X + 1)


def check_zeros_of_primals_are_cotangents():
    f = jax.custom_vjp(lambda x, y: x * y)
    zero = jax.custom_derivatives.zero_from_primal
    f.defvjp(lambda x, y: (x * y, y), lambda y, g: (2 * g, zero(y)))
    for y in (1.0, jnp.ones(()), np.float32(1)):
        close(jax.grad(f, (0, 1))(3.0, y), (2, 0))


def check_matrices_without_an_inverse_give_no_error():
    zero = jnp.zeros((2, 2))
    assert not jnp.isfinite(jnp.linalg.inv(zero)).all()
    assert not jnp.isfinite(jnp.linalg.solve(zero, jnp.ones(2))).all()
    assert jnp.isnan(jnp.linalg.cholesky(-jnp.eye(2))).any()


def check_nans_on_the_way_to_results_without():
    """Functions of jax.numpy are looked at as they are where they run at once under derivatives and batches, too."""
    xs = jnp.asarray([0.0, 1.0, 2.0])
    functions = [
        jnp.sinc, jax.nn.logsumexp, jax.nn.softmax, jnp.std, jax.nn.gelu, jax.nn.log_sigmoid,
        lambda x: jnp.nan_to_num(x), lambda x: jnp.max(x, initial=-jnp.inf), lambda x: jnp.clip(x, -1, jnp.inf),
        lambda x: jax.scipy.special.xlogy(x, x + 1),
    ]  # fmt: skip
    for setting in ("jax_debug_nans", "jax_debug_infs"):
        jax.config.update(setting, True)
        try:
            for f in functions:
                jax.vmap(f)(jnp.stack([xs, xs]))
                jax.jvp(f, (xs,), (xs,))
                jax.grad(lambda x, f=f: f(x).sum())(xs + 1)
            bad = -1.0 if setting == "jax_debug_nans" else 0.0
            raises(FloatingPointError, jax.vmap(jnp.log), xs + bad)
            raises(FloatingPointError, jax.grad(lambda x: jnp.log(x).sum()), xs + bad)
        finally:
            jax.config.update(setting, False)


if __name__ == "__main__":
    tell(globals())
