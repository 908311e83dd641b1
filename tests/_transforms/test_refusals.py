"""What transformations refuse, and what they say: which argument, what was given, what to do."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax

X = xnp.ones(3)
Z = xnp.ones(2, dtype=complex)


def pulled(f, x, cotangent):
    return xc.vjp(f, x)[1](cotangent)


def turned(f, x, cotangent):
    return xc.linear_transpose(f, x)(cotangent)


def square(x):
    return x * x


REFUSED = {
    "no array": (lambda: xc.jvp(square, ("text",), (1.0,)), TypeError, ["jvp", "primals[0]", "text"]),
    "no array in a tree": (lambda: xc.vjp(lambda d: d["a"], {"a": "text"}), TypeError, ["vjp", "['a']"]),
    "primals alone": (lambda: xc.jvp(square, 1.0, (1.0,)), TypeError, ["primals must be a tuple or list"]),
    "tangents alone": (lambda: xc.jvp(square, (1.0,), 1.0), TypeError, ["tangents must be a tuple or list"]),
    "tangents of another tree": (lambda: xc.jvp(square, ({"a": 1.0},), ({"b": 1.0},)), ValueError, ["jvp", "'a'", "'b'"]),
    "tangents of another shape": (lambda: xc.jvp(square, (X,), (X[:2],)), ValueError, ["tangents of their own shape", "float32[3]", "float32[2]"]),
    "a tangent of integers": (lambda: xc.jvp(square, (3,), (1,)), TypeError, ["float0", "Make the argument a float"]),
    "linearized with another tree": (lambda: xc.linearize(square, X)[1](X, X), ValueError, ["linearize"]),
    "linearized with another shape": (lambda: xc.linearize(square, X)[1](X[:2]), ValueError, ["tangents of their own shape"]),
    "no pair": (lambda: xc.grad(lambda x: x, has_aux=True)(1.0), TypeError, ["grad", "has_aux=True", "pair (result, aux)"]),
    "no pair of vjp": (lambda: xc.vjp(lambda x: x, 1.0, has_aux=True), TypeError, ["vjp", "has_aux=True"]),
    "cotangents of another tree": (lambda: pulled(square, X, (X, X)), ValueError, ["vjp"]),
    "cotangents of another shape": (lambda: pulled(square, X, X[:2]), ValueError, ["cotangents of the results' shapes", "float32[3]"]),
    "cotangents of another dtype": (lambda: pulled(square, X, np.ones(3)), TypeError, ["must have its dtype", "float64[3]"]),
    "reduce_axes": (lambda: xc.linear_transpose(square, X, reduce_axes=("i",)), ValueError, ["reduce_axes", "lax.psum"]),
    "reduce_axes of grad": (lambda: xc.grad(square, reduce_axes=("i",)), ValueError, ["reduce_axes", "lax.psum"]),
    "transposed with another tree": (lambda: turned(lambda x: 2 * x, X, (X, X)), ValueError, ["linear_transpose"]),
    "transposed with another shape": (lambda: turned(lambda x: 2 * x, X, X[:2]), ValueError, ["linear_transpose", "cotangents"]),
    "transposed of what is not linear": (lambda: turned(square, X, X), TypeError, ["mul", "linear_transpose must be linear", "xcore.vjp"]),
    "a gradient of integers": (lambda: xc.grad(lambda x: 1.0 * x)(3), TypeError, ["grad", "argument 0", "int"]),
    "of integers in a tree": (lambda: xc.grad(lambda y, d: d["w"] * 1.0, argnums=1)(1.0, {"w": 3}), TypeError, ["argument 1['w']"]),
    "a gradient of a vector": (lambda: xc.grad(square)(X), ValueError, ["scalar results", "float32[3]", ".sum()", "xc.vjp"]),
    "a gradient of a pair": (lambda: xc.grad(lambda x: (x, x))(1.0), TypeError, ["one scalar", "has_aux=True"]),
    "a gradient of an integer": (lambda: xc.grad(lambda x: (x > 0).astype(int))(1.0), TypeError, ["floating-point number", ".astype(float)"]),
    "a complex value": (lambda: xc.grad(lambda x: x * 1j)(1.0), TypeError, ["real number", "holomorphic=True"]),
    "holomorphic of reals": (lambda: xc.grad(lambda x: x * 1j, holomorphic=True)(1.0), TypeError, ["needs complex inputs", "argument 0"]),
    "holomorphic with real values": (lambda: xc.grad(lambda z: z.real, holomorphic=True)(1j), TypeError, ["needs complex results"]),
    "columns of complex inputs": (lambda: xc.jacfwd(lambda z: z)(Z), TypeError, ["jacfwd", "must be real", "holomorphic=True"]),
    "rows of complex results": (lambda: xc.jacrev(lambda x: x * 1j)(X), TypeError, ["jacrev", "must be real", "holomorphic=True"]),
    "an axis that is none": (lambda: xc.vmap(square, in_axes="0")(X), TypeError, ["vmap", "in_axes", "'0'"]),
    "an axis beyond": (lambda: xc.vmap(square, in_axes=1)(X), ValueError, ["vmap", "axis 1"]),
    "sizes that differ": (lambda: xc.vmap(lambda x, y: x)(X, X[:2]), ValueError, ["vmap", "3", "2"]),
    "a size that differs": (lambda: xc.vmap(square, axis_size=4)(X), ValueError, ["axis_size", "4", "3"]),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_told(case):
    call, kind, words = REFUSED[case]
    with pytest.raises(kind) as told:
        call()
    missing = [w for w in words if w not in str(told.value)]
    assert not missing, f"{missing} not in: {told.value}"


@pytest.mark.parametrize("case", REFUSED)
def test_so_it_is_while_a_program_is_traced(case):
    """jit changes neither the class of an error nor what it says of it first."""
    call, kind, words = REFUSED[case]
    with pytest.raises(kind) as told:
        xc.jit(lambda x: (call(), x)[1])(1.0)
    assert words[0] in str(told.value)


def test_cotangents_of_several_uses_meet_in_one_dtype():
    """A value used in two dtypes has cotangents of two."""

    def f(x):
        return (lax.convert_element_type(x, np.float32) * 2).sum() + (x * 3).sum().astype(
            np.float32
        )

    for dtype in (np.float16, np.float64, np.float32):
        found = xc.grad(f)(xnp.ones(3, dtype=dtype))
        assert found.dtype == dtype and (np.asarray(found) == 5).all()


def test_a_transpose_evaluates_what_does_not_depend_on_its_input():
    def f(x):
        a = lax.sin(xnp.arange(3.0)) + 1
        return x * (a * a)

    a = np.sin(np.arange(3.0, dtype=np.float32)) + 1
    np.testing.assert_allclose(turned(f, X, X)[0], a * a, rtol=1e-6)
    np.testing.assert_allclose(xc.jit(lambda c: turned(f, X, c)[0])(X), a * a, rtol=1e-6)


M = xnp.ones((3, 3))
NOT_LINEAR = {
    "a square": square, "a quotient": lambda x: 1 / x, "a product of matrices": lambda x: x @ x,
    "a convolution": lambda x: lax.conv(x[None, None], x[None, None], (1, 1), "SAME"), "a sine": xnp.sin,
    "a choice": lambda x: xnp.where(x > 0, x, 0), "a maximum": lambda x: xnp.maximum(x, 0),
    "a solution": lambda x: xnp.linalg.solve(x, x), "a triangular one": lambda x: lax.linalg.triangular_solve(x, x),
    "a tridiagonal one": lambda x: lax.linalg.tridiagonal_solve(x[0], x[1], x[2], x),
    "a power": lambda x: x**3, "places": lambda x: x[x[0].astype(int)], "order": xnp.sort, "a product": xnp.prod,
    "a factor": xnp.linalg.cholesky, "a product at places": lambda x: x.at[0].multiply(x[1]),
    "a branch": lambda x: lax.cond(x[0, 0] > 5, square, lambda y: y, x),
    "a loop": lambda x: lax.scan(lambda c, y: (c * y, c), x[0], x)[0],
    "a loop with a condition": lambda x: lax.while_loop(lambda c: c.sum() < 3, lambda c: c * 2, x), "a rest": lambda x: x % 2,
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_LINEAR)
def test_transposes_of_what_is_not_linear(name):
    f = NOT_LINEAR[name]
    out = xc.eval_shape(f, M)
    transposed = lambda c: xc.linear_transpose(f, M)(c)
    for call in (transposed, xc.jit(transposed)):
        with pytest.raises(xc.errors.MissingRuleError, match="linear_transpose"):
            call(xnp.ones(out.shape, out.dtype))


@pytest.mark.parametrize("numbers", [(0, 0), (0, -2), (1, 0, 1)])
@pytest.mark.parametrize("of", [xc.grad, xc.value_and_grad, xc.jacfwd, xc.jacrev, xc.hessian])
def test_an_argument_named_twice(of, numbers):
    with pytest.raises(TypeError, match=r"names one argument of .* twice"):
        of(lambda a, b: a * b, argnums=numbers)(2.0, 3.0)
