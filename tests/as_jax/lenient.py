"""As ``checks.py``: what is said aloud in xcore and is silent in JAX, and what has another dtype there."""

import numpy as np
from results import close, raises, tell

import xcore.as_jax  # noqa: F401 (from here on jax is xcore)

import jax  # isort: skip
import jax.numpy as jnp  # isort: skip
from jax.scipy import linalg as sl  # isort: skip
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # isort: skip

INDEFINITE, ZERO, TWICE = (
    jnp.asarray(x) for x in ([[1.0, 2], [2, 1]], np.zeros((3, 3)), [[1.0, 2], [2, 4]])
)


def check_singular_matrices_give_numbers():
    for f in (
        lambda: sl.cholesky(INDEFINITE), lambda: sl.cho_factor(INDEFINITE)[0], lambda: sl.inv(ZERO),
        lambda: sl.solve(ZERO, jnp.zeros(3)), lambda: sl.solve(INDEFINITE, jnp.ones(2), assume_a="pos"),
        lambda: jax.grad(lambda x: sl.cholesky(x).sum())(INDEFINITE), lambda: sl.solve_sylvester(ZERO, ZERO, ZERO + 1),
    ):  # fmt: skip
        assert np.isnan(np.asarray(f())).any()
    close(sl.solve_triangular(jnp.asarray([[1.0, 2], [0, 0]]), jnp.ones(2)), [-np.inf, np.inf])
    lu, pivots = sl.lu_factor(TWICE)
    close(lu, [[2, 4], [0.5, 0]])
    close(pivots, [1, 1])


def check_counts_of_narrow_integers():
    for dtype in (np.uint8, np.int8, bool):
        counts, _ = jnp.histogram(jnp.ones(300, dtype), bins=2)
        assert counts.dtype == np.float32 and int(counts.sum()) == 300
    f = jax.jit(lambda x: jnp.histogram(x, bins=2, range=(0, 255))[0])
    close(f(jnp.ones(300, jnp.uint8)), [300, 0])


def check_limits_are_as_strong_as_their_dtype():
    eps = jnp.finfo(jnp.float32).eps
    assert type(eps) is np.float32 and (eps * jnp.asarray(1, jnp.bfloat16)).dtype == np.float32
    v = jnp.arange(3.0)
    assert jnp.where(v > 1, v.astype(jnp.float16), jnp.finfo(jnp.float32).min).dtype == np.float32
    assert (
        jnp.finfo("bfloat16").bits == 16 and jax.dtypes.finfo(jnp.float16).max.dtype == np.float16
    )


def check_lists_that_name_classes():
    close(jax.nn.one_hot([0, 1], 2), np.eye(2))
    close(jax.nn.one_hot(((1,), (0,)), 2), [[[0, 1]], [[1, 0]]])


def check_shardings_of_one_device():
    mesh = Mesh(np.asarray(jax.devices()[:1]), ("x",))
    place = NamedSharding(mesh, PartitionSpec("x"))
    f = jax.jit(lambda: jnp.zeros(6), out_shardings=place)
    g = jax.jit(
        lambda x: (2 * x, x.sum()), out_shardings=(place, NamedSharding(mesh, PartitionSpec()))
    )
    for _ in range(5):
        assert f().sharding == place
        assert [y.sharding.spec for y in g(f())] == [PartitionSpec("x"), PartitionSpec()]


def check_arrays_in_lists_by_their_own_word():
    class Held:
        def __init__(self, x):
            self.x = x

        def __jax_array__(self):
            return self.x

    close(jnp.array([Held(jnp.arange(3.0)), Held(jnp.ones(3))]), [[0, 1, 2], [1, 1, 1]])
    close(jax.jit(lambda v: jnp.array([[Held(v), 2], [3, 4]]))(1), [[1, 2], [3, 4]])
    assert jnp.isscalar(Held(jnp.ones(()))) and not jnp.isscalar(Held(jnp.ones(2)))


def check_powers_by_known_whole_numbers_keep_the_dtype():
    u = jnp.asarray([60000, 3], "uint32")
    for two in (2, np.int32(2), np.int8(2), np.array(2), jnp.int32(2)):
        for found in (
            u**two,
            jnp.power(u, two),
            jnp.pow(u, two),
            jax.jit(lambda u, e=two: u**e)(u),
        ):
            assert found.dtype == np.uint32 and found.tolist() == [3600000000, 9]
    assert (jnp.asarray([2, 3], "int16") ** np.int32(20)).dtype == np.int16
    assert (u ** np.array([2, 2])).dtype == np.int32 and (
        jnp.ones(2) ** np.int32(2)
    ).dtype == np.float32


def check_names_of_arguments():
    close(sl.solve_sylvester(A=jnp.eye(2), B=jnp.eye(2), C=jnp.ones((2, 2))), 0.5 * np.ones((2, 2)))
    assert jnp.issubdtype(arg1=np.float32, arg2=np.floating)
    raises(TypeError, jax.jit, lambda x: x, static_argnums=1.5)
    assert int(jax.jit(lambda a, b: a + b, static_argnums=np.int64(1))(1, 2)) == 3


def check_states_past_the_end_of_a_sequence():
    from jax.experimental import rnn

    sizes = {"input_size": 1, "hidden_size": 1, "num_layers": 1, "bidirectional": False}
    w = rnn.init_lstm_weight(jax.random.PRNGKey(0), *sizes.values())
    z = jnp.zeros((1, 1, 1))
    parts = rnn.unpack_lstm_weights(w, *sizes.values())
    y, h, _ = rnn.lstm_ref(
        jnp.ones((1, 4, 1)), z, z, *parts, seq_lengths=jnp.asarray([2]), dropout=0.0, **sizes
    )
    assert (np.asarray(y[0, :2]) != 0).all() and (np.asarray(y[0, 2:]) == 0).all()
    close(y[0, 1], h[0, 0])


def check_sparse_products_of_sizes_that_do_not_fit():
    from jax.experimental.sparse import BCOO, BCSR

    m = BCOO.fromdense(jnp.asarray([[0, 1.0, 0, 2], [3, 0, 0, 0], [0, 0, 4, 5]]))
    for a in (m, BCSR.from_bcoo(m)):
        for b in (jnp.ones(3), jnp.ones(5), jnp.ones((3, 2))):
            raises(TypeError, lambda a=a, b=b: a @ b)
            raises(TypeError, jax.jit(lambda b, a=a: a @ b), b)
        close(a @ jnp.ones(4), [3, 3, 9])


if __name__ == "__main__":
    tell(globals())
