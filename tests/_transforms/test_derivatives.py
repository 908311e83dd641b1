"""grad, vjp, jvp, linearize, Jacobians and Hessians against closed forms and finite differences."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax


@pytest.fixture(autouse=True)
def _double():
    with xc.config.override(default_bits=64):
        yield


def central(f, x, h=1e-6):
    return (f(x + h) - f(x - h)) / (2 * h)


def poly_trig(x):
    return xnp.sin(x) * x**3 + xnp.exp(-x)


def test_three_derivatives_agree_with_the_closed_form():
    x = 0.7
    s, c, e = np.sin(x), np.cos(x), np.exp(-x)
    first = c * x**3 + s * 3 * x**2 - e
    second = -s * x**3 + 6 * c * x**2 + 6 * s * x + e
    third = -c * x**3 - 9 * s * x**2 + 18 * c * x + 6 * s - e
    d1, d2, d3 = (
        xc.grad(poly_trig),
        xc.grad(xc.grad(poly_trig)),
        xc.grad(xc.grad(xc.grad(poly_trig))),
    )
    assert np.allclose([d1(x), d2(x), d3(x)], [first, second, third], rtol=1e-12)


def test_every_nesting_of_modes_gives_the_second_derivative():
    x = 0.7
    second = xc.grad(xc.grad(poly_trig))(x)
    nestings = [
        xc.jacfwd(xc.grad(poly_trig)), xc.jacrev(xc.jacfwd(poly_trig)), xc.jacfwd(xc.jacfwd(poly_trig)),
        xc.hessian(poly_trig), xc.grad(xc.jit(xc.grad(poly_trig))), xc.jit(xc.grad(xc.jit(xc.grad(poly_trig)))),
    ]  # fmt: skip
    for f in nestings:
        assert np.allclose(f(x), second, rtol=1e-12)


def test_perturbations_are_not_confused():
    # d/dx [x * d/dy (x + y)] at x = 1 is 1; confusing the two tangents would give 2
    assert float(xc.grad(lambda x: x * xc.grad(lambda y: x + y)(1.0))(1.0)) == 1.0
    assert (
        float(xc.jvp(lambda x: x * xc.jvp(lambda y: x + y, (1.0,), (1.0,))[1], (1.0,), (1.0,))[1])
        == 1.0
    )


def test_value_and_grad_of_trees_with_aux():
    params = {"w": np.asarray([1.0, 2.0]), "b": 3.0}

    def loss(p, x):
        y = p["w"] @ x + p["b"]
        return y**2, {"y": y}

    (value, aux), grads = xc.value_and_grad(loss, has_aux=True)(params, np.asarray([1.0, -1.0]))
    assert float(value) == 4.0 and float(aux["y"]) == 2.0
    assert np.allclose(grads["w"], [4.0, -4.0]) and float(grads["b"]) == 4.0


def test_argnums():
    f = lambda a, b, c: a * b**2 + c
    assert [float(g) for g in xc.grad(f, argnums=(0, 1))(2.0, 3.0, 1.0)] == [9.0, 12.0]
    assert float(xc.grad(f, argnums=-1)(2.0, 3.0, 1.0)) == 1.0
    with pytest.raises(TypeError, match="argument number 3"):
        xc.grad(f, argnums=3)(2.0, 3.0, 1.0)


def test_jvp_vjp_and_linearize_agree_on_a_vector_function():
    rng = np.random.default_rng(0)
    a, x, v, w = rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=4), rng.normal(size=3)
    f = lambda x: xnp.tanh(a @ x) * (x**2).sum()
    numeric = central(lambda t: np.tanh(a @ (x + t * v)) * ((x + t * v) ** 2).sum(), 0.0)
    y, push = xc.jvp(f, (x,), (v,))
    y2, f_lin = xc.linearize(f, x)
    y3, pull = xc.vjp(f, x)
    assert np.allclose(push, numeric, rtol=1e-8)
    assert np.allclose(f_lin(v), push, rtol=1e-13) and np.allclose(y, y2) and np.allclose(y, y3)
    assert np.allclose(pull(w)[0] @ v, w @ numeric, rtol=1e-8)
    assert np.allclose(xc.jacfwd(f)(x), xc.jacrev(f)(x), rtol=1e-12)
    assert np.allclose(xc.jacfwd(f)(x) @ v, push, rtol=1e-12)


def test_vjp_function_may_leave_jit():
    @xc.jit
    def pull_of(x):
        return xc.vjp(xnp.sin, x)[1]

    assert np.allclose(pull_of(0.3)(2.0)[0], 2 * np.cos(0.3))


def test_jacobian_of_trees():
    def f(p):
        return {"s": p["x"].sum() * p["y"], "v": p["x"] * 2}

    point = {"x": np.asarray([1.0, 2.0]), "y": 3.0}
    for jac in (xc.jacfwd(f)(point), xc.jacrev(f)(point)):
        assert np.allclose(jac["s"]["x"], [3.0, 3.0]) and np.allclose(jac["s"]["y"], 3.0)
        assert np.allclose(jac["v"]["x"], 2 * np.eye(2)) and np.allclose(jac["v"]["y"], [0.0, 0.0])


def test_hessian_of_rosenbrock():
    f = lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
    x, y = -1.2, 1.0
    expected = [[1200 * x**2 - 400 * y + 2, -400 * x], [-400 * x, 200.0]]
    assert np.allclose(xc.hessian(f)(np.asarray([x, y])), expected, rtol=1e-12)


def test_linear_transpose():
    a = np.arange(6.0).reshape(2, 3)
    f = xc.linear_transpose(lambda x: a @ x, np.zeros(3))
    assert np.allclose(f(np.asarray([1.0, 2.0]))[0], a.T @ [1.0, 2.0])


def doubled_twice(x):
    return lax.scan(lambda c, _: (2 * c, c), x, None, length=2)


LINEAR = {  # functions of one array of 3, and their matrices
    "sum": (lambda x: xnp.sum(x)[None], np.ones((1, 3))),
    "reversed": (lambda x: 3 * x[::-1] - x, 3 * np.eye(3)[::-1] - np.eye(3)),
    "matrix": (lambda x: xnp.arange(6).reshape(2, 3).astype(x.dtype) @ x, np.arange(6).reshape(2, 3)),
    "gathered": (lambda x: x[xnp.asarray([0, 0, 1])], np.asarray([[1, 0, 0], [1, 0, 0], [0, 1, 0]])),
    "scan": (
        lambda x: xnp.concatenate([doubled_twice(x)[0], doubled_twice(x)[1].ravel()]),
        np.concatenate([4 * np.eye(3), np.eye(3), 2 * np.eye(3)]),
    ),
    "slices": (
        lambda x: lax.scan(lambda c, v: (c + 2 * v, c), 0 * x[0], x)[1],
        np.asarray([[0, 0, 0], [2, 0, 0], [2, 2, 0]]),
    ),
    "map": (lambda x: lax.map(lambda v: 5 * v, x), 5 * np.eye(3)),
    "cond": (lambda x: lax.cond(True, lambda v: 2 * v, lambda v: v, x), 2 * np.eye(3)),
    "call": (lambda x: xc.jit(lambda v: -v)(x), -np.eye(3)),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("name", LINEAR)
def test_linear_transpose_of_what_users_write(name, dtype):
    f, matrix = LINEAR[name]
    x, ct = np.zeros(3, dtype), np.arange(1, 1 + len(matrix)).astype(dtype)
    for g in (lambda ct: xc.linear_transpose(f, x)(ct), xc.jit(xc.linear_transpose(f, x))):
        (found,) = g(ct)
        assert found.dtype == dtype and np.array_equal(found, matrix.T @ ct)


def test_linear_transpose_of_a_scan_whose_carry_starts_elsewhere():
    sums = lambda x: lax.scan(lambda c, v: (c + 2 * v, c), np.ones(2, x.dtype) * 0, x)
    ct = np.arange(2.0, dtype="float32"), np.asarray([[1, 2], [3, 4]], "float32")
    (found,) = xc.linear_transpose(sums, np.zeros((2, 2), "float32"))(ct)
    assert np.array_equal(found, [2 * (ct[0] + ct[1][1]), 2 * ct[0]])


def test_cotangents_are_of_the_dtype_of_results():
    for pull in (xc.linear_transpose(lambda x: 2 * x, 1), xc.vjp(lambda x: 2 * x, 1.0)[1]):
        with pytest.raises(TypeError, match="cotangent of a result"):
            pull(1j)
    with pytest.raises(TypeError, match="linear_transpose: the cotangent of a result int64"):
        xc.linear_transpose(lambda x: 2 * x, 1)(1.5)


def test_holomorphic_functions_have_complex_results():
    for transform in (xc.grad, xc.value_and_grad, xc.jacfwd, xc.jacrev, xc.hessian):
        with pytest.raises(TypeError, match="holomorphic=True needs complex results"):
            transform(xnp.abs, holomorphic=True)(1 + 1j)


def test_jacobians_with_respect_to_integers():
    by_x, by_n = xc.jacrev(lambda x, n: x * n, (0, 1), allow_int=True)(np.ones(2), np.arange(2))
    assert np.array_equal(by_x, np.diag([0.0, 1.0]))
    assert by_n.dtype == xc.float0 and by_n.shape == (2, 2)


def test_argnums_are_integers_of_any_kind():
    for transform in (xc.grad, xc.jacfwd, xc.jacrev, xc.hessian, xc.value_and_grad):
        f = lambda x, y: x * y * y
        a, b = transform(f, 1)(2.0, 3.0), transform(f, np.int64(1))(2.0, 3.0)
        assert np.array_equal(a, b)


# Special places


def test_derivatives_at_special_points():
    assert float(xc.grad(xnp.abs)(0.0)) == 0.0
    assert np.isinf(xc.grad(xnp.sqrt)(0.0))
    assert float(xc.grad(lambda x: xnp.maximum(x, 0.0))(0.0)) == 0.5  # ties share
    assert np.allclose(xc.grad(lambda x: x.max())(np.asarray([1.0, 3.0, 3.0])), [0, 0.5, 0.5])
    assert float(xc.grad(lambda x: x**2.0)(0.0)) == 0.0
    assert float(xc.grad(lambda x: x**0.0)(0.0)) == 0.0


def test_where_guards_a_singularity():
    safe = lambda x: xnp.where(x > 0, xnp.log(xnp.where(x > 0, x, 1.0)), 0.0)
    assert np.allclose(xc.vmap(xc.grad(safe))(np.asarray([-1.0, 0.0, 2.0])), [0.0, 0.0, 0.5])


def test_product_with_zeros():
    x = np.asarray([2.0, 0.0, 5.0])
    assert np.allclose(xc.grad(lambda x: x.prod())(x), [0.0, 10.0, 0.0])
    assert np.allclose(xc.hessian(lambda x: x.prod())(x), [[0, 5, 0], [5, 0, 2], [0, 2, 0]])


# Complex numbers


def test_complex_conventions():
    z = 0.3 + 0.4j
    # a real function: df/dx - i df/dy
    assert np.allclose(xc.grad(lambda z: abs(z) ** 2)(z), 2 * np.conj(z))
    assert np.allclose(xc.grad(lambda z: (z * z).real)(z), 2 * z)
    # a holomorphic one: its complex derivative
    assert np.allclose(
        xc.grad(lambda z: xnp.exp(z * z), holomorphic=True)(z), 2 * z * np.exp(z * z)
    )
    assert np.allclose(xc.jvp(xnp.sin, (z,), (1.0 + 0j,))[1], np.cos(z))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_jacobian_is_half_of_one(dtype):
    """By rows complex results, by columns complex inputs have two directions each; one was shown, without a word."""
    with xc.enable_x64():
        x = xnp.asarray([1.0, 2.0], dtype)
        to_complex = lambda x: x * (1 + 2j) + xnp.exp(1j * x)
        from_complex = lambda z: xnp.abs(z) ** 2
        for f in (xc.jacrev, xc.jacobian, xc.hessian):
            with pytest.raises(xc.errors.DTypeError, match="the results must be real"):
                f(to_complex)(x)
        with pytest.raises(xc.errors.DTypeError, match="the inputs must be real"):
            xc.jacfwd(from_complex)(x + 1j)
        want = np.diag(1 + 2j + 1j * np.exp(1j * np.asarray(x)))
        np.testing.assert_allclose(xc.jacfwd(to_complex)(x), want, rtol=1e-6)
        parts = xc.jacrev(lambda x: (xnp.real(to_complex(x)), xnp.imag(to_complex(x))))(x)
        np.testing.assert_allclose(parts[0] + 1j * parts[1], want, rtol=1e-6)
        z = x + 1j
        np.testing.assert_allclose(xc.jacrev(from_complex)(z), np.diag(2 * np.conj(z)), rtol=1e-6)
        for f in (xc.jacrev, xc.jacfwd):
            np.testing.assert_allclose(
                f(xnp.sin, holomorphic=True)(z), np.diag(np.cos(z)), rtol=1e-6
            )


def test_complex_needs_a_real_result_or_holomorphic():
    with pytest.raises(TypeError, match="must return a real number"):
        xc.grad(lambda z: z * z)(1.0 + 0j)
    with pytest.raises(TypeError, match="needs complex inputs"):
        xc.grad(lambda z: z * z, holomorphic=True)(1.0)


# Integers and zeros


def test_integer_inputs():
    with pytest.raises(TypeError, match="argument 0 is int64"):
        xc.grad(lambda n: n * 1.0)(3)
    g = xc.grad(lambda n, x: n * x, argnums=(0, 1), allow_int=True)(3, 2.0)
    assert g[0].dtype == xc.float0 and float(g[1]) == 3.0
    assert float(xc.grad(lambda x, n: x * n)(2.0, 3)) == 3.0


def test_function_that_ignores_its_input():
    assert float(xc.grad(lambda x: 3.0)(1.0)) == 0.0
    assert np.allclose(xc.jacfwd(lambda x: xnp.ones(2))(1.0), [0, 0])
    assert np.allclose(xc.grad(lambda x: xnp.floor(x).sum())(np.ones(3)), 0)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: xc.grad(lambda x: x * 2)(np.ones(3)), r"float64\[3\].*sum.*jacobian"),
        (lambda: xc.grad(lambda x: (x, x))(1.0), "has_aux"),
        (lambda: xc.grad(lambda x: "no")(1.0), "'no'"),
        (lambda: xc.grad(lambda x: x)("text"), "'text'"),
        (lambda: xc.jvp(xnp.sin, (np.ones(2),), (np.ones(3),)), "shape"),
        (lambda: xc.jvp(xnp.sin, 1.0, (1.0,)), "must be a tuple"),
        (lambda: xc.vjp(xnp.sin, 1.0)[1](np.ones(3)), "shape"),
        (lambda: xc.grad(lambda x: x > 0)(1.0), "floating-point"),
        (lambda: xc.grad(xnp.sin, reduce_axes=("i",)), "reduce_axes must be empty.*lax.psum"),
    ],
)
def test_errors_explain(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
