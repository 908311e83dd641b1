"""Branches that batch elements choose on their own: what the others' slopes are does not matter."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax

X = np.float32([0.0, 2.0])


def _cond(x):
    return lax.cond(x > 0, xnp.log, lambda x: 0.0 * x, x)


def _closed(x):
    return lax.cond(x > 0, lambda: xnp.sqrt(x) * xnp.log(x), lambda: 3.0 * x)


def _switch(x):
    return lax.switch((x > 0).astype(int), [lambda x: 0.0 * x, lambda x: xnp.log(x)], x)


def _shown(x):
    return lax.cond(x > 0, lambda x: (xc.debug.print("{}", x), xnp.log(x))[1], lambda x: 0.0 * x, x)


SLOPES = {
    _cond: [0, 0.5],
    _closed: [3, (1 + np.log(2) / 2) / np.sqrt(2)],
    _switch: [0, 0.5],
    _shown: [0, 0.5],
}
WRAPS = {
    "vmap": lambda f: xc.vmap(f),
    "jit": lambda f: xc.jit(xc.vmap(f)),
    "two batches": lambda f: lambda x: xc.vmap(xc.vmap(f))(x[None])[0],
    "scan": lambda f: lambda x: lax.scan(lambda c, _: (c, xc.vmap(f)(c)), x, None, 1)[1][0],
    "checkpoint": lambda f: xc.checkpoint(xc.vmap(f)),
    "name": lambda f: xc.vmap(f, axis_name="i"),
}


@pytest.mark.parametrize("f", SLOPES)
@pytest.mark.parametrize("wrap", WRAPS)
def test_branches_that_are_not_taken_have_no_slope(wrap, f, capfd):
    g = WRAPS[wrap](f)
    total = lambda x: g(x).sum()
    for gradient in (xc.grad(total), xc.jit(xc.grad(total))):
        np.testing.assert_allclose(gradient(X), SLOPES[f], rtol=1e-6)
    np.testing.assert_allclose(g(X), [f(x) for x in X], rtol=1e-6)
    np.testing.assert_allclose(
        xc.jvp(g, (X,), (np.float32([0, 3]),))[1], [0, 3 * SLOPES[f][1]], rtol=1e-6
    )


def test_what_the_batch_shares_has_its_slope():
    f = lambda t: xc.vmap(lambda x: lax.cond(x > 0, lambda: t * xnp.log(x), lambda: 0.0))(X).sum()
    np.testing.assert_allclose(xc.grad(f)(3.0), np.log(2), rtol=1e-6)
    np.testing.assert_allclose(xc.jit(xc.grad(f))(3.0), np.log(2), rtol=1e-6)


def test_second_derivatives():
    x = np.float32([0.0, 2.0])
    f = lambda x: xc.vmap(_cond)(x).sum()
    np.testing.assert_allclose(xc.hessian(f)(x), [[0, 0], [0, -0.25]], atol=1e-6)


# Products at places


def _slopes(f, x):
    """Of a function that is linear in each element."""
    steps = 1e-3 * np.eye(x.size)
    return np.stack([(np.asarray(f(x + d)) - np.asarray(f(x - d))) / 2e-3 for d in steps], -1)


@pytest.mark.parametrize(
    ("at", "unique"), [([0, 2], False), ([0, 2], True), ([0, 0, 2, 1, 1, 1], False)]
)
@pytest.mark.parametrize("x", [[1.5, 2.0, 0.0, 4.0], [0.0, 0.0, 1.0, 1.0]])
@pytest.mark.parametrize("wrap", [lambda f: f, xc.jit])
def test_derivatives_of_products_some_of_whose_factors_are_zero(at, unique, x, wrap):
    x, u, at = np.array(x), np.array([0.0, 2, 3, 0, 0, 5])[: len(at)], np.array(at)
    f = lambda x, u: xnp.asarray(x).at[at].multiply(u, unique_indices=unique)
    by_x, by_u = wrap(xc.jacrev(f, (0, 1)))(x, u)
    np.testing.assert_allclose(by_x, _slopes(lambda x: f(x, u), x), atol=1e-9)
    np.testing.assert_allclose(by_u, _slopes(lambda u: f(x, u), u), atol=1e-9)
