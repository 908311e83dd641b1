"""Transformations in any order, to depth three.

Every word of three of {jit, vmap, checkpoint, scan, grad, jvp} is applied to one of a dozen
functions, and compared with the same word without the transformations that do not change values.
What is left, words of grad and jvp, is compared with finite differences.
"""

import itertools

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax
from xcore.testing import assert_close

X = np.asarray([0.4, -0.7, 1.1])
W = np.asarray([[0.5, -0.3, 0.2], [0.1, 0.9, -0.4], [-0.6, 0.2, 0.7]])

# Transformations


def by_vmap(f):
    return lambda x: xc.vmap(f)(xnp.stack([x, 0.5 * x]))[0]


def by_scan(f):
    return lambda x: lax.scan(lambda c, _: (f(c), c), x, None, length=1)[0]


def by_grad(f):
    return xc.grad(lambda x: (f(x) * xnp.asarray([1.0, 2.0, -1.0])).sum())


def by_jvp(f):
    return lambda x: xc.jvp(f, (x,), (np.asarray([0.3, 1.0, -0.5]),))[1]


TRANSFORMS = {
    "jit": xc.jit,
    "vmap": by_vmap,
    "checkpoint": xc.checkpoint,
    "scan": by_scan,
    "grad": by_grad,
    "jvp": by_jvp,
}
DERIVATIVES = ("grad", "jvp")


def transformed(word, f):
    for name in word:
        f = TRANSFORMS[name](f)
    return f


def derivatives_in(word) -> tuple:
    return tuple(name for name in word if name in DERIVATIVES)


# Functions


def elementary(x):
    return xnp.sin(x) * xnp.exp(-(x**2)) + xnp.log1p(x**2)


def layers(x):
    h = xnp.tanh(W @ x)
    return W.T @ (h * xnp.cos(h)) + x


def softmax(x):
    z = xnp.exp(x - x.max())
    return z / z.sum() * x.sum()


def guarded(x):
    """The branch that is not taken would give nan."""
    safe = xnp.where(x > 0, x, 1.0)
    return xnp.where(x > 0, xnp.sqrt(safe) * x, x**3)


def indexing(x):
    y = x.at[xnp.asarray([0, 2])].add(xnp.sin(x[1:]) * x[0])
    return y[::-1] * lax.dynamic_slice(xnp.concatenate([x, y]), (2,), (3,))


def orderings(x):
    return xnp.sort(x) * xnp.cumsum(x) + xnp.cumprod(xnp.sin(x)) * xnp.max(x)


def branches(x):
    chosen = lax.cond(x[1] < 0, lambda x: xnp.sin(x) * x, lambda x: x**2, x)
    return chosen + lax.switch(1, [xnp.exp, xnp.cos, xnp.sin], x * x[0])


def loops(x):
    y = lax.fori_loop(0, 3, lambda i, y: xnp.sin(y) * x + i * y**2 / 10, x)
    carry, ys = lax.scan(lambda c, x: (c * xnp.cos(x), c + x), y.sum(), x)
    return carry * ys


def jitted_inside(x):
    double = xc.jit(lambda x: (x * xc.jit(xnp.sin)(x), x**3))
    a, b = double(x)
    c, _ = double(a)
    return b * c


@xc.custom_jvp
def own_rule(x):
    return xnp.sin(x) * x


own_rule.defjvp(
    lambda p, t: (own_rule(*p), t[0] * (xnp.cos(p[0]) * p[0] + xc.checkpoint(xnp.sin)(p[0])))
)


def custom_rule(x):
    return own_rule(own_rule(x) + x.sum())


def implicit(x):
    """y + y³ = x² and (1 + x²) z = y, by their equations."""
    y = lax.custom_root(
        lambda y: y + y**3 - x**2,
        xnp.zeros_like(x),
        lambda f, y: lax.fori_loop(0, 40, lambda i, y: y - f(y) / (1 + 3 * y**2), y),
        lambda g, y: y / g(xnp.ones_like(y)),
    )
    d = 1 + x**2
    return lax.custom_linear_solve(
        lambda z: d * z, y, lambda _, b: b / lax.stop_gradient(d), symmetric=True
    )


def through_complex_numbers(x):
    z = xnp.exp(1j * x) * x[::-1]
    return xnp.real(z * z + xnp.conj(z).sum()) + xnp.abs(z + 2.0)


FUNCTIONS = [
    elementary, layers, softmax, guarded, indexing, orderings, branches, loops, jitted_inside,
    custom_rule, implicit, through_complex_numbers,
]  # fmt: skip
WORDS = list(itertools.product(TRANSFORMS, repeat=3))
every_function = pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)


def words_of(f) -> list:
    """A share of all words, such that every word is tried with some function."""
    return WORDS[FUNCTIONS.index(f) :: len(FUNCTIONS)]


# Tests


def test_every_word_is_tried():
    assert sorted(w for f in FUNCTIONS for w in words_of(f)) == sorted(WORDS)


@every_function
def test_words_mean_the_same_without_the_transformations_that_keep_values(f):
    words = words_of(f)
    needed = sorted({derivatives_in(w) for w in words})

    def everything(x):
        return [transformed(w, f)(x) for w in words], [transformed(w, f)(x) for w in needed]

    found, plain = xc.jit(everything)(X)
    known = dict(zip(needed, plain, strict=True))
    for word, value in zip(words, found, strict=True):
        wanted = np.asarray(known[derivatives_in(word)])
        scale = max(1.0, np.abs(wanted).max())
        assert_close(value, wanted, rtol=1e-12, atol=1e-13 * scale, err_msg=" of ".join(word[::-1]))


STEP = 2.0**-11


def difference(f):
    """by_jvp, by a difference of fourth order."""

    def along(x):
        v = np.asarray([0.3, 1.0, -0.5])
        y = [f(x + h * STEP * v) for h in (1, -1, 2, -2)]
        return (8 * (y[0] - y[1]) - (y[2] - y[3])) / (12 * STEP)

    return along


@every_function
def test_derivatives_are_those_of_differences(f):
    """jvp against differences at each order, grad against jvp, both after either of them."""

    def everything(x):
        pairs = []
        for word in ((), ("grad",), ("jvp",), ("grad", "grad"), ("jvp", "grad")):
            g = transformed(word, f)
            pairs.append((by_jvp(g)(x), difference(g)(x)))
            v = np.asarray([0.3, 1.0, -0.5])
            weights = np.asarray([1.0, 2.0, -1.0])
            pairs.append(((by_grad(g)(x) * v).sum(), (by_jvp(g)(x) * weights).sum()))
        return pairs

    for found, wanted in xc.jit(everything)(X):
        assert_close(found, wanted, rtol=1e-7, atol=1e-7 * max(1.0, np.abs(wanted).max()))


@every_function
def test_outside_of_jit(f):
    """The same calls without a program around them: a word with and one without derivatives."""
    x = xnp.asarray(X)
    assert_close(transformed(("checkpoint", "vmap"), f)(x), f(x), rtol=1e-12, atol=1e-13)
    found, wanted = transformed(("scan", "grad", "vmap"), f)(x), xc.jit(by_grad(f))(x)
    assert_close(found, wanted, rtol=1e-12, atol=1e-13)
