"""As ``checks.py``: derivatives taken inside of ``shard_map`` are those of values that devices share.

Each is compared with the derivative of a ``vmap`` over the parts, taken outside of it.
"""

import os

os.environ["XCORE_NUM_CPU_DEVICES"] = "4"
os.environ["XCORE_DISABLE_MOST_OPTIMIZATIONS"] = "1"

import numpy as np

import xcore.as_jax  # noqa: F401 (from here on jax is xcore)

import jax  # isort: skip
import jax.numpy as jnp  # isort: skip
from jax import lax  # isort: skip
from jax.sharding import PartitionSpec as P  # isort: skip

RNG = np.random.default_rng(31)
MESH = jax.make_mesh((4,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
W, X = RNG.normal(size=3).astype("f"), RNG.normal(size=(8, 3)).astype("f")


SAME = P()


def mapped(f, *args, out=SAME, **kwargs):
    """``f(w, x)`` on each device: w is shared, x is split."""
    return jax.shard_map(f, mesh=MESH, in_specs=(P(), P("d")), out_specs=out, **kwargs)(*args)


def close(x, y):
    np.testing.assert_allclose(x, y, rtol=2e-5, atol=1e-6)


# Losses of a part, the same on all devices


def _mean(w, x):
    return lax.pmean(jnp.tanh(x @ w).sum(), "d")


def _regularised(w, x):
    return _mean(w, x) + (w**3).sum()


def _total_of_shared(w, x):
    return lax.psum((w**2).sum(), "d") + lax.psum(x.sum() * w[0], "d") * w[1]


def _jitted(w, x):
    return jax.jit(_mean)(w, x) * w[0]


def _recomputed(w, x):
    return lax.pmean(jax.checkpoint(lambda w: jnp.sin(x @ w).sum())(w), "d")


def _recurrent(w, x):
    def step(carry, row):
        return jnp.tanh(carry * w[0] + row.sum()), carry * w[1]

    return lax.pmean(lax.scan(step, x[0, 0], x)[1].sum(), "d") + w[2]


def _sums_in_a_loop(w, x):
    return lax.scan(lambda c, row: (c + lax.psum(row @ w, "d") * w[0], None), 0.0, x)[0]


def _repeated(w, x):
    return lax.pmean(lax.fori_loop(0, 3, lambda i, c: jnp.sin(c * w[0]), x.sum()), "d")


def _branches(w, x):
    return lax.pmean(lax.cond(x[0, 0] > 0, lambda w: w @ x[0], lambda w: (w**2).sum(), w), "d")


def _gathered(w, x):
    return lax.pmean((lax.all_gather(x * w, "d", tiled=True) ** 3).sum(), "d")


def _scattered(w, x):
    parts = jnp.outer(jnp.arange(4.0), w) * x[0]
    return lax.psum((lax.psum_scatter(parts, "d", tiled=True) ** 2).sum(), "d")


def _moved(w, x):
    return lax.pmean(
        (lax.ppermute(x * w, "d", [(i, (i + 1) % 4) for i in range(4)]) * x).sum(), "d"
    )


def _places(w, x):
    return lax.psum((w * lax.axis_index("d")).sum(), "d")


@jax.custom_jvp
def _product(w, x):
    return (w * x).sum()


_product.defjvp(lambda p, t: (_product(*p), (t[0] * p[1]).sum() + (p[0] * t[1]).sum()))


def _custom(w, x):
    return lax.pmean(_product(w, x[0]) ** 2, "d")


def _inner(w, x):
    return (jax.grad(_mean)(w, x) ** 2).sum()


def _inner_of_each(w, x):
    g = jax.grad(lambda w: jnp.tanh(x @ w).sum())(lax.pcast(w, "d", to="varying"))
    return lax.pmean((g**2).sum(), "d")


SHARED = [
    _mean, _regularised, _total_of_shared, _jitted, _recomputed, _recurrent, _sums_in_a_loop, _repeated, _branches,
    _gathered, _scattered, _moved, _places, _custom, _inner_of_each,
]  # fmt: skip


def whole(loss):
    """The loss as a function of all parts, by vmap."""
    return lambda w, x: jax.vmap(loss, (None, 0), axis_name="d")(w, x.reshape(4, 2, 3))[0]


def _all_ways(loss):
    """The gradient with respect to w by each way to take it, and the derivative along w."""

    def ways(w, x):
        return (
            jax.grad(loss)(w, x), jax.value_and_grad(loss)(w, x)[1], lax.pmean(jax.grad(loss)(w, x), "d"),
            jax.vjp(loss, w, x)[1](1.0)[0], jax.linearize(loss, w, x)[1](w, x * 0),
        )  # fmt: skip

    return ways


def check_gradients_of_shared_losses():
    for loss in SHARED:
        want = jax.jit(jax.grad(whole(loss)))(W, X)
        *found, along = jax.jit(lambda w, x, f=loss: mapped(_all_ways(f), w, x))(W, X)
        for x in found:
            close(x, want)
        close(along, want @ W)


def check_second_derivatives_of_shared_losses():
    for loss in (_regularised, _recurrent, _jitted, _gathered):
        want = jax.hessian(whole(loss))(W, X)
        close(mapped(jax.jacrev(jax.grad(loss)), W, X), want)
        close(mapped(jax.jacfwd(jax.grad(loss)), W, X), want)
    total = jax.grad(lambda w: (jax.grad(whole(_mean))(w, X) ** 2).sum())(W)
    close(mapped(jax.grad(_inner), W, X), total)


def check_gradients_of_losses_that_differ_are_summed():
    def loss(w, x):
        return jnp.tanh(x @ w).sum() + 0.1 * (w**2).sum()

    total = jax.grad(lambda w: loss(w, X) + 0.3 * (w**2).sum())(W)
    close(mapped(lambda w, x: lax.pmean(jax.grad(loss)(w, x), "d"), W, X), total)
    close(mapped(jax.grad(loss), W, X), total)
    rows = mapped(lambda w, x: jax.vmap(jax.grad(loss), (None, 0))(lax.pcast(w, "d", to="varying"), x),
                  W, X, out=P("d"))  # fmt: skip
    close(rows, jax.vmap(jax.grad(loss), (None, 0))(W, X))
    alone = mapped(lambda w, x: lax.pmean(jax.grad(loss)(w, x), "d"), W, X, check_vma=False)
    close(alone, total / 4)


def check_gradients_in_loops_and_jitted_functions():
    def descend(w, gradient):
        for _ in range(3):
            w = w - 0.1 * gradient(w)
        return w

    want = descend(W, lambda w: jax.grad(whole(_mean))(w, X))
    close(mapped(lambda w, x: descend(w, lambda w: jax.grad(_mean)(w, x)), W, X), want)

    def step(w, x):
        return w - 0.1 * jax.grad(_mean)(w, x)

    close(mapped(lambda w, x: lax.fori_loop(0, 3, lambda i, w: step(w, x), W), W, X), want)
    jitted = jax.jit(step)
    close(mapped(lambda w, x: jitted(jitted(jitted(w, x), x), x), W, X), want)
    close(jax.jit(lambda w, x: mapped(lambda w, x: lax.scan(
        lambda w, _: (jitted(w, x), None), w, None, 3)[0], w, x))(W, X), want)  # fmt: skip
    rows = mapped(lambda w, x: lax.scan(
        lambda g, row: (g + jax.grad(_mean)(w, row[None]), None), jnp.zeros(3), x)[0], W, X)  # fmt: skip
    close(rows, jax.grad(whole(_mean))(W, X))


def check_derivatives_of_what_took_some_inside():
    def outside(w, x):
        return (mapped(jax.grad(_recurrent), w, x) ** 2).sum()

    def reference(w, x):
        return (jax.grad(whole(_recurrent))(w, x) ** 2).sum()

    for i in range(2):
        close(jax.grad(outside, i)(W, X), jax.grad(reference, i)(W, X))


def check_gradients_are_summed_once():
    """What a pvary spreads, one psum_invariant sums on the way back; the transpose of a sum is no work."""
    inside = str(jax.make_jaxpr(lambda w, x: mapped(jax.grad(_mean), w, x))(W, X))
    assert inside.count("psum[") == 1


def check_shared_and_split_arguments():
    def loss(v, x):
        return lax.psum((x[0, 0] * v).sum(), "d") ** 2

    v = np.arange(4, dtype="f")
    got = jax.shard_map(jax.grad(loss), mesh=MESH, in_specs=P("d"), out_specs=P("d"))(v, X[::2])
    close(got, jax.grad(lambda v: (X[::2, 0] * v).sum() ** 2)(v))


if __name__ == "__main__":
    import results  # beside this script

    results.tell(globals())
