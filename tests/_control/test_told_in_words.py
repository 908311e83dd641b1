"""What is refused is refused in words, with the user's line, by whatever way it is reached."""

import re
import unittest.mock

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax

HERE = re.escape(__file__)


def raises(f, *words, kind=Exception):
    with pytest.raises(kind) as e:
        f()
    for w in words:
        assert w in str(e.value), str(e.value)


def with_rules():
    """Functions whose rules return what they should not, each with how its derivative is asked for."""
    forward = xc.custom_jvp(lambda x: x.sum())
    forward.defjvp(lambda p, t: (p[0], t[0]))
    terms = xc.custom_jvp(lambda x: x.sum())
    terms.defjvps(lambda t, ans, x: t[:2])
    reverse = xc.custom_vjp(lambda x: x.sum())
    reverse.defvjp(lambda x: (x.sum(), None), lambda r, c: (c,))
    gradient = xc.custom_gradient(lambda x: (x.sum(), lambda c: (c * x[:2],)))
    jitted = xc.jit(forward)
    return {
        "defjvp in jit": lambda x: xc.jvp(jitted, (x,), (x,)),
        "defjvps": lambda x: xc.jvp(terms, (x,), (x,)),
        "defvjp": lambda x: xc.grad(reverse)(x),
        "custom_gradient": lambda x: xc.grad(gradient)(x),
    }


@pytest.mark.parametrize("name", with_rules())
def test_rules_are_named_by_the_line_that_they_are_written_at(name):
    with pytest.raises((xc.errors.DTypeError, xc.errors.MismatchError), match=HERE):
        with_rules()[name](xnp.ones(3))


def nested(n, wrap):
    f = lambda x: x + 1
    for _ in range(n):
        f = (lambda g: wrap(lambda x: g(x)))(f)
    return f


@pytest.mark.parametrize("wrap", [xc.jit, xc.checkpoint])
@pytest.mark.parametrize("ask", [
    lambda f: xc.grad(f)(1.0), lambda f: xc.vmap(f)(xnp.ones(3)), lambda f: xc.jvp(f, (1.0,), (1.0,)), lambda f: xc.jit(f)(1.0),
])  # fmt: skip
def test_functions_nested_too_deep(wrap, ask):
    raises(lambda: ask(nested(400, wrap)), "nested too deep", kind=RecursionError)


def test_a_users_own_recursion_keeps_its_lines():
    def endless(x):
        return endless(x) + 1

    for f in (
        lambda: endless(1.0),
        lambda: xc.grad(endless)(1.0),
        lambda: xnp.add(1, endless(1.0)),
    ):
        with pytest.raises(RecursionError) as e:
            f()
        assert sum(t.name == "endless" for t in e.traceback) > 50


def test_deleted_arrays_are_not_handed_on():
    x = xnp.arange(4.0) + 1
    x.delete()
    for f in (
        lambda: xc.device_put(x, xc.devices()[0]), lambda: xc.device_put(x), lambda: xnp.asarray(x), lambda: xnp.array(x),
    ):  # fmt: skip
        raises(f, "no longer has a buffer", kind=xc.errors.DeletedError)


FOREIGN = [
    np.longdouble(1),
    np.clongdouble(1),
    np.str_("a"),
    np.bytes_(b"a"),
    np.void(b"abc"),
    np.datetime64("2020-01-01"),
]


@pytest.mark.parametrize("x", FOREIGN, ids=lambda x: type(x).__name__)
def test_scalars_that_arrays_cannot_hold(x):
    for f in (
        lambda: xnp.ones(2) + x,
        lambda: xnp.add(x, xnp.ones(2)),
        lambda: xnp.maximum(xnp.ones(2), x),
    ):
        with pytest.raises(
            TypeError, match=r"not a dtype that arrays can have|unsupported operand|holds"
        ):
            f()


@pytest.mark.parametrize("f", [
    lambda: xc.jit(lambda x, d: x.astype(d))(xnp.ones(2), np.float32), lambda: xnp.asarray(np.float32),
    lambda: xc.vmap(lambda x, d: x)(xnp.ones(2), np.float32), lambda: xc.device_put(np.float32),
])  # fmt: skip
def test_classes_are_no_arrays(f):
    raises(f, "numpy.float32", kind=TypeError)


@pytest.mark.parametrize("axes", [(0.0,), ("a",), 0, None])
def test_axes_of_gather_and_scatter_are_integers(axes):
    at = xnp.zeros((2, 1), int)
    numbers = lax.GatherDimensionNumbers((1,), (0,), axes)
    raises(
        lambda: lax.gather(xnp.ones((2, 3)), at, numbers, (1, 3)),
        "tuples of integers",
        kind=xc.errors.ArgumentError,
    )
    numbers = lax.ScatterDimensionNumbers((1,), (0,), axes)
    raises(
        lambda: lax.scatter_add(xnp.ones((2, 3)), at, xnp.ones((2, 3)), numbers),
        "tuples of integers",
    )


@pytest.mark.parametrize("axes", [[0], np.array([0]), (np.int64(0),)])
def test_axes_of_gather_may_be_lists(axes):
    numbers = lax.GatherDimensionNumbers((1,), (0,), axes)
    got = lax.gather(xnp.eye(3), xnp.asarray([[2], [0]]), numbers, (1, 3))
    np.testing.assert_array_equal(got, np.eye(3)[[2, 0]])


def test_names_in_messages_are_those_that_were_called():
    raises(lambda: lax.fori_loop(0, 3, lambda i, c: c[:2], xnp.ones(3)), "xcore.lax.fori_loop:")
    raises(lambda: lax.padtype_to_pads((10,), (3,), (2,), "other"), "xcore.lax.padtype_to_pads:")
    raises(
        lambda: xc.jit(lambda i: xnp.add.reduceat(xnp.arange(8.0), i))(xnp.zeros(1)), "of integers"
    )


# What values are


def test_dtypes_stand_for_numpys_scalar_types():
    for name in ("float32", "int8", "complex64", "uint16", "bool_"):
        ours, numpys = getattr(xnp, name), getattr(np, name)
        assert ours == unittest.mock.ANY
        assert ours == numpys == ours.dtype and ours.dtype in {ours}
        assert ours != "any text" and ours != 3 and {ours: 1}.get("any text") is None


@pytest.mark.parametrize("impl", ["threefry2x32", "philox4x32"])
def test_types_of_keys(impl):
    key = xc.random.key(0, impl=impl)
    assert str(xc.typeof(key)) == f"{key.dtype}[]"
    assert str(xc.typeof(xc.random.split(key, 3))) == f"{key.dtype}[3]"
    assert xc.typeof(key).to_tangent_aval().dtype == xc.dtypes.float0
    assert xc.jit(lambda k: xnp.asarray(str(xc.typeof(k)) == f"{k.dtype}[]"))(key)


@pytest.mark.parametrize("collective", [lax.psum, lax.pmean, lax.pmax, lax.pmin])
def test_collectives_over_no_axis(collective):
    x = xnp.arange(3.0)
    np.testing.assert_array_equal(xc.vmap(lambda v: collective(v, ()), axis_name="i")(x), x)
    assert (
        lax.axis_index(()) == 0
        and (xc.vmap(lambda v: lax.pargmin(v, ()), axis_name="i")(x) == 0).all()
    )
    assert lax.psum(xnp.asarray(True), ()).dtype == xnp.int32


def test_places_of_extrema_beside_nan():
    for f, g in ((lax.pargmin, np.argmin), (lax.pargmax, np.argmax)):
        for x in ([3.0, np.nan, 2.0], [np.nan] * 3, [1.0, 2.0, 2.0]):
            assert (
                np.asarray(xc.vmap(lambda v, f=f: f(v, "i"), axis_name="i")(xnp.asarray(x))) == g(x)
            ).all()


def test_draws_refuse_what_numpy_refuses():
    rng = xc.random.Generator(xc.random.key(0))
    for lam in (np.nan, -1.0, np.inf, [1.0, np.nan]):
        raises(lambda lam=lam: rng.poisson(lam), "lam", kind=ValueError)
    for scale in (
        1e-30,
        1e-3,
        1.0,
        3.0,
        1e30,
    ):  # a pivot that is exactly 0 has a factor, one below has none
        try:
            x = rng.multivariate_normal(xnp.zeros(2), xnp.full((2, 2), scale), method="cholesky")
        except np.linalg.LinAlgError as e:
            assert "not positive definite" in str(e)
        else:
            assert np.isfinite(x).all()
    raises(
        lambda: rng.multivariate_normal(xnp.zeros(2), -xnp.eye(2), method="cholesky"),
        kind=np.linalg.LinAlgError,
    )
