"""With ``disable_jit`` loops and branches are Python's, under derivatives and batches too, and give the same."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax

X = xnp.linspace(0.5, 1.5, 4)


def newton(x):
    return lax.while_loop(lambda y: abs(y * y - x) > 1e-5, lambda y: (y + x / y) / 2, x)


PROGRAMS = {
    "scan": lambda x: lax.scan(lambda c, y: (c * y, c + y), x, xnp.arange(1.0, 4.0))[0],
    "results of a scan": lambda x: lax.scan(lambda c, y: (c * y, {"a": c + y}), x, xnp.arange(1.0, 4.0))[1]["a"].sum(),
    "rows of a scan": lambda x: lax.scan(lambda c, y: (c + y.sum(), c), x, x * xnp.ones((3, 2)), reverse=True)[1].sum(),
    "a scan of nothing": lambda x: lax.scan(lambda c, y: (c * y, (c, 2 * y)), x, xnp.ones(0))[0],
    "fori": lambda x: lax.fori_loop(0, 3, lambda i, c: c * (x + i), 1.0),
    "a while": lambda x: lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * x), (0, x))[1],
    "map": lambda x: lax.map(lambda y: xnp.sin(x * y), xnp.arange(3.0)).sum(),
    "an associative scan": lambda x: lax.associative_scan(lambda a, b: a * b, x * xnp.arange(1.0, 4.0))[-1],
    "cond": lambda x: lax.cond(x > 1, lambda y: y * y, lambda y: 3 * y, x),
    "cond by a number": lambda x: lax.cond(2, lambda y: y * y, lambda y: 3 * y, x),
    "switch": lambda x: lax.switch((2 * x - 1).astype(int), [lambda y: y, xnp.sin, lambda y: y**3], x),
    "checkpoint": lambda x: xc.checkpoint(lambda y: xnp.sin(y) * y)(x),
    "jit in jit": lambda x: xc.jit(lambda y: xc.jit(xnp.cos)(y) * y)(x),
    "a root": lambda x: lax.custom_root(lambda y: y * y - x, x, lambda f, y: newton(x), lambda g, y: y / g(1.0)),
    "platforms": lambda x: lax.platform_dependent(x, cpu=lambda y: 2 * y, default=lambda y: y),
    "nested": lambda x: lax.fori_loop(
        0, 2, lambda i, c: lax.cond(c > 1, lambda y: lax.scan(lambda a, b: (a * x, b), y, xnp.ones(2))[0], xnp.sin, c), x
    ),
}  # fmt: skip
WAYS = {
    "as it is": lambda f: f(X[2]), "jvp": lambda f: xc.jvp(f, (X[2],), (2.0,)), "jacfwd": lambda f: xc.jacfwd(f)(X[1]),
    "grad": lambda f: xc.grad(f)(X[2]), "vjp": lambda f: xc.vjp(f, X[1])[1](3.0), "twice": lambda f: xc.grad(xc.grad(f))(X[2]),
    "vmap": lambda f: xc.vmap(f)(X), "gradients of a batch": lambda f: xc.vmap(xc.grad(f))(X), "jit": lambda f: xc.jit(f)(X[2]),
    "the gradient of a sum": lambda f: xc.grad(lambda x: xc.vmap(f)(x).sum())(X), "linearize": lambda f: xc.linearize(f, X[2])[1](1.0),
}  # fmt: skip
REVERSE = {"grad", "vjp", "twice", "gradients of a batch", "the gradient of a sum"}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_plain_python_gives_the_same(name, way):
    run = lambda: WAYS[way](PROGRAMS[name])
    no_reverse = name == "a while" and way in REVERSE  # but in Python
    wanted = WAYS[way](lambda x: x * x**3) if no_reverse else run()
    with xc.disable_jit():
        found = run()
    for a, b in zip(xc.tree.leaves(wanted), xc.tree.leaves(found), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_batch_that_stops_at_different_steps():
    with xc.disable_jit():
        np.testing.assert_allclose(xc.vmap(newton)(X), np.sqrt(X), rtol=1e-5)


def test_a_scan_of_nothing_has_empty_results():
    with xc.disable_jit():
        _, (a, b) = lax.scan(lambda c, y: (c, (c, xnp.ones((2, 3)))), 0.0, xnp.ones((0, 5)))
    assert a.shape == (0,) and b.shape == (0, 2, 3)


def test_errors_of_a_user_are_theirs():
    def body(c):
        return c + float(c)

    with xc.disable_jit(), pytest.raises(xc.errors.ConcretizationError):
        xc.vmap(lambda x: lax.while_loop(lambda c: c < 3, body, x))(X)
