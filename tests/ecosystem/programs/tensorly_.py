"""tensorly with its jax backend."""

import jax
import jax.numpy as jnp
import numpy as np
import tensorly as tl

tl.set_backend("jax")
RNG = np.random.default_rng(0)
T = jnp.asarray(RNG.normal(size=(4, 5, 3)).astype("float32"))


def first_example():
    x = tl.tensor(jnp.arange(24.0).reshape(3, 4, 2))
    return [tl.unfold(x, k) for k in range(3)], tl.fold(tl.unfold(x, 1), 1, x.shape)


def products():
    m, v = jnp.ones((2, 5)) * 0.5, jnp.arange(3.0)
    return (
        tl.tenalg.mode_dot(T, m, 1),
        tl.tenalg.mode_dot(T, v, 2),
        tl.tenalg.kronecker([m, m[:, :2]]),
        tl.tenalg.khatri_rao([jnp.ones((2, 3)), jnp.arange(6.0).reshape(2, 3)]),
        tl.tenalg.outer([v, v]),
    )


def cp_by_least_squares():
    from tensorly.decomposition import parafac

    cp = parafac(T, 2, init="svd", n_iter_max=30, tol=0)
    return tl.cp_to_tensor(cp)


def tucker_by_hooi():
    from tensorly.decomposition import tucker

    core, factors = tucker(T, [2, 2, 2], n_iter_max=20, tol=0)
    return tl.tucker_to_tensor((core, factors)), tl.norm(core)


def trains():
    from tensorly.decomposition import tensor_train

    tt = tensor_train(T, [1, 2, 2, 1])
    return tl.tt_to_tensor(tt)


def non_negative():
    from tensorly.decomposition import non_negative_parafac

    x = jnp.abs(T)
    start = tl.cp_tensor.CPTensor(
        (
            jnp.ones(2),
            [jnp.abs(jnp.asarray(RNG2.normal(size=(n, 2)).astype("float32"))) for n in (4, 5, 3)],
        )
    )
    return tl.cp_to_tensor(non_negative_parafac(x, 2, init=start, n_iter_max=20, tol=0))


RNG2 = np.random.default_rng(1)


def gradients_through():
    def loss(factors):
        return tl.norm(T - tl.cp_to_tensor((None, factors))) ** 2

    factors = [jnp.ones((n, 2)) * 0.3 for n in (4, 5, 3)]
    return jax.grad(loss)(factors)


def backend_functions():
    x = T[:, :, 0]
    return (
        tl.svd_interface(x, n_eigenvecs=2)[1]
        if hasattr(tl, "svd_interface")
        else tl.partial_svd(x, 2)[1],
        tl.norm(x, 1),
        tl.qr(x)[1] ** 2,
        tl.max(x),
        tl.concatenate([x, x], 0),
        tl.index_update(x, tl.index[0, :], 0.0),
        tl.solve(x[:4, :4], x[:4, 4]),
    )
