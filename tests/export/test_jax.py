"""Functions that jax exports here, called by xcore."""

import numpy as np
import pytest

import xcore as xc

jax = pytest.importorskip("jax")
pytest.importorskip("flatbuffers")
import jax.numpy as jnp  # noqa: E402
from jax import export  # noqa: E402

A = np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32)
FUNCTIONS = {
    "cumsum": (jnp.cumsum, A),
    "solve": (lambda a: jnp.linalg.solve(a, a[0]), A),
    "svd": (lambda a: tuple(jnp.linalg.svd(a)), A),
    "eigh": (lambda a: tuple(jnp.linalg.eigh(a + a.T)), A),
    "sort": (lambda a: (jnp.sort(a), jax.lax.top_k(a, 2)), A),
    "fft": (jnp.fft.rfft2, A),
    "scan": (lambda a: jax.lax.scan(lambda c, x: (c + x, c), a[0], a), A),
    "bits": (lambda a: jax.random.normal(jax.random.key(0), a.shape) + a, A),
    "int8": (lambda a: (a * 2).astype(jnp.int4), np.arange(3, dtype=np.int8)),
    "bfloat16": (lambda a: jnp.tanh(a), A.astype(jnp.bfloat16)),
    "complex": (lambda a: jnp.exp(1j * a), A),
    "nothing": (lambda a: {"a": None, "b": (), "c": [a]}, A),
    "erf": (jax.scipy.special.erf, A),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_jax(name):
    f, a = FUNCTIONS[name]
    struct = jax.ShapeDtypeStruct(a.shape, a.dtype)
    read = xc.export.deserialize(export.export(jax.jit(f))(struct).serialize())
    found, known = read.call(a), jax.jit(f)(a)
    assert str(jax.tree.structure(known)) == str(xc.tree.structure(found))
    for x, y in zip(xc.tree.leaves(found), jax.tree.leaves(known), strict=True):
        x, y = np.asarray(x), np.asarray(y)
        assert x.dtype == y.dtype
        # programs of tests are compiled fast rather than well: another order of operations
        np.testing.assert_allclose(x.astype(complex), y.astype(complex), rtol=1e-6, atol=1e-6)


REFUSED = {
    "symbolic shapes": lambda: export.export(jax.jit(jnp.sin))(
        jax.ShapeDtypeStruct(export.symbolic_shape("b, 3"), np.float32)
    ),
    "random keys": lambda: export.export(jax.jit(jax.random.key_data))(jax.random.key(0)),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_called_is_told(words):
    with pytest.raises(xc.export.ExportError, match=words):
        xc.export.deserialize(REFUSED[words]().serialize())


def ring(x):
    moved = jax.lax.ppermute(x, "x", [(0, 1), (1, 2), (2, 3), (3, 0)])
    gathered = jax.lax.all_gather(x, "y", axis=1, tiled=True)
    whole = jax.lax.psum_scatter(gathered, "y", scatter_dimension=1, tiled=True)
    return whole + moved * jax.lax.axis_index("x")


@pytest.mark.skipif(xc.device_count() < 8, reason="needs eight devices")
def test_a_function_over_several_devices():
    auto = jax.sharding.AxisType.Auto
    mesh = jax.sharding.AbstractMesh((4, 2), ("x", "y"), (auto, auto))
    spec = jax.P("x", "y")
    f = jax.shard_map(ring, mesh=mesh, in_specs=spec, out_specs=spec)
    a = np.arange(32, dtype=np.float32).reshape(8, 4)
    struct = jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=jax.NamedSharding(mesh, spec))
    read = xc.export.deserialize(export.export(jax.jit(f))(struct).serialize())
    swapped = np.concatenate([a[6:], a[:6]]) * (np.arange(8)[:, None] // 2)
    for order in (1, -1):
        here = xc.sharding.Mesh(np.array(xc.devices()[:8])[::order].reshape(4, 2), ("x", "y"))
        (s,) = read.in_shardings_jax(here)
        np.testing.assert_array_equal(read.call(xc.device_put(a, s)), 2 * a + swapped)
