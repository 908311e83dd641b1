"""Python's numbers and float0 within traces: functions get them as usable as outside."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax
from xcore.dtypes import float0

NONE = np.zeros((), float0)
WRAPS = {
    "eager": lambda f: f,
    "jit": xc.jit,
    "vmap": lambda f: lambda x: xc.vmap(f)(xnp.full(2, x))[0],
    "scan": lambda f: lambda x: lax.scan(lambda c, _: (c, f(c)), x, None, 2)[1][1],
    "grad": lambda f: lambda x: xc.value_and_grad(f)(x)[0],
}
# how a function of (x, a whole number) is asked for its value
ASKED = {
    "vjp": lambda f, x, n: xc.vjp(f, x, n)[0],
    "vjp, of x alone": lambda f, x, n: xc.vjp(f, x, n)[1](1.0)[0] * 0 + f(x, n),
    "jvp": lambda f, x, n: xc.jvp(f, (x, n), (1.0, NONE))[0],
    "linearize": lambda f, x, n: xc.linearize(f, x, n)[0],
}
USES = {
    "product": (lambda x, n: x * n, 3, 6.0),
    "sum": (lambda x, n: n + x, 3, 5.0),
    "power": (lambda x, n: x**n, 3, 8.0),
    "count": (lambda x, n: sum(x for _ in range(n)), 3, 6.0),
    "index": (lambda x, n: (x * xnp.arange(3.0))[n], 2, 4.0),
    "choice": (lambda x, n: xnp.where(n > 2, x, 0), 3, 2.0),
    "branch": (lambda x, n: 2 * x if n else x, True, 4.0),
    "shape": (lambda x, n: (x * xnp.ones(n)).sum(), 4, 8.0),
    "tree": (lambda x, d: x * d["n"], {"n": 3}, 6.0),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("wrap", WRAPS)
def test_whole_numbers_beside_what_is_differentiated(wrap, asked, use):
    f, n, expected = USES[use]
    if asked == "jvp" and isinstance(n, dict):
        pytest.skip("its tangent would be a tree")
    found = WRAPS[wrap](lambda x: ASKED[asked](f, x, n))(2.0)
    assert float(found) == expected


AUX = {
    "grad": lambda f, y: xc.grad(f, has_aux=True)(y)[1],
    "value_and_grad": lambda f, y: xc.value_and_grad(f, has_aux=True)(y)[0][1],
    "vjp": lambda f, y: xc.vjp(f, y, has_aux=True)[2],
    "jvp": lambda f, y: xc.jvp(f, (y,), (1.0,), has_aux=True)[2],
    "linearize": lambda f, y: xc.linearize(f, y, has_aux=True)[2],
    "jacrev": lambda f, y: xc.jacrev(f, has_aux=True)(y)[1],
    "jacfwd": lambda f, y: xc.jacfwd(f, has_aux=True)(y)[1],
}


@pytest.mark.parametrize("name", AUX)
@pytest.mark.parametrize("wrap", WRAPS)
def test_numbers_that_come_back_as_aux(wrap, name):
    found = WRAPS[wrap](lambda x: AUX[name](lambda y: (y * x, {"y": y, "n": 2}), 3.0)["y"] * x)(2.0)
    assert float(found) == 6.0


# Derivatives by integers


def _picked(p):
    return (p["x"][p["i"]] ** 2).sum()


POINT = {"i": np.array([1, 0]), "x": np.array([3.0, 4.0, 5.0], np.float32)}


def _check(g, shape):
    assert g["i"].dtype == float0 and g["i"].shape == (*shape, 2)
    np.testing.assert_array_equal(g["x"], np.broadcast_to(np.float32([6, 8, 0]), (*shape, 3)))


def test_derivatives_by_integers_come_out_of_programs():
    gradient = xc.jit(xc.grad(_picked, allow_int=True))
    for _ in range(6):  # beyond the call for which a path is generated
        _check(gradient(POINT), ())
    pull = xc.vjp(lambda p: _picked(p), POINT)[1]
    _check(xc.jit(pull)(1.0)[0], ())


def test_derivatives_by_integers_of_batches():
    batch = {k: np.stack([v] * 4) for k, v in POINT.items()}
    gradient = xc.vmap(xc.grad(_picked, allow_int=True))
    for f in (gradient, xc.jit(gradient)):
        _check(f(batch), (4,))
    twice = {k: np.stack([v] * 3, axis=1) for k, v in batch.items()}
    _check(xc.vmap(gradient, in_axes=1)(twice), (3, 4))


def test_derivatives_by_integers_go_into_programs():
    add = lambda a, b: xc.tree.map(lambda x, y: x if x.dtype == float0 else x + y, a, b)
    g = {"i": np.zeros((4, 2), float0), "x": xnp.ones((4, 3))}
    for f, shape in ((xc.jit(add), (4, 2)), (xc.vmap(add), (4, 2)), (xc.jit(xc.vmap(add)), (4, 2))):
        for _ in range(5):
            out = f(g, g)
            assert out["i"].dtype == float0 and out["i"].shape == shape
            np.testing.assert_array_equal(out["x"], np.full((4, 3), 2.0))
    longer = {**g, "i": np.zeros((4, 7), float0)}
    assert xc.jit(add)(longer, longer)["i"].shape == (4, 7)


# Results without derivatives


@pytest.mark.parametrize("of", [xc.jacrev, xc.jacfwd, xc.hessian, xc.jacobian])
@pytest.mark.parametrize("f", [lambda x: x.astype(int), lambda x: (x, x > 0), xnp.argmax])
def test_results_that_are_no_floats_have_no_jacobian(of, f):
    with pytest.raises(TypeError, match="must be floating-point numbers"):
        of(f)(xnp.ones(2))


# Linear functions


def test_transposes_ignore_results_that_nobody_takes():
    f = lambda x: xc.jit(lambda x: (2 * x, x > 0, xnp.argmax(x)))(x)[0]
    np.testing.assert_array_equal(xc.linear_transpose(f, xnp.ones(2))(xnp.ones(2))[0], [2.0, 2.0])


def test_transposes_are_trees():
    transposed = xc.jit(lambda x: xc.linear_transpose(lambda y: x * y, x))(3.0)
    assert [float(v) for v in xc.jit(lambda t, c: t(c))(transposed, 2.0)] == [6.0]
    assert float(xc.linear_transpose(lambda n: 2 * n, 1)(3)[0]) == 6
    with pytest.raises(TypeError, match="all be floats or complex, or all integers"):
        xc.linear_transpose(lambda n: 2.0 * n, 1)
