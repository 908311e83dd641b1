"""On the device that programs run on by default: what an accelerator's libraries, memory and runtime do.

``XCORE_TEST_PLATFORM=cuda make test`` runs these on a GPU; elsewhere they say the same of the CPU.
Everything is compared with NumPy, or with the CPU of the same process.
"""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import checkpoint, lax, linalg, pde, random
from xcore._control.per_element import while_per_element
from xcore.experimental import io_callback
from xcore.scipy.linalg import lu as scipy_lu
from xcore.sharding import NamedSharding, P

pytestmark = pytest.mark.gpu
rng = np.random.default_rng(0)
HERE, CPU = xc.devices()[0], xc.devices("cpu")[0]
DTYPES = ("float32", "complex128") if HERE.platform != "tpu" else ("float32", "complex64")
ON_TPU = HERE.platform == "tpu"


def draw(dtype, *shape):
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if "complex" in dtype else x).astype(dtype)


def adjoint(a):
    return np.swapaxes(np.conj(a), -1, -2)


def columns(x, w):
    return x * np.asarray(w)[..., None, :]


def tridiagonal(a, x):
    """The product of the matrix whose diagonals are the first three rows of a, transposed, with x."""
    low, mid, up = a[..., 0, 1:], a[..., 1, :], a[..., 2, :-1]
    y = mid[..., None] * x
    y[..., 1:, :] += low[..., None] * x[..., :-1, :]
    y[..., :-1, :] += up[..., None] * x[..., 1:, :]
    return y


# f(a), and (what should be, what is) from a and NumPy's copies of what it gave
FACTORS = {
    "cholesky": (lambda a: xnp.linalg.cholesky(a @ xnp.conj(xnp.swapaxes(a, -1, -2)) + xnp.eye(6, dtype=a.dtype)),
                 lambda a, l: (a @ adjoint(a) + np.eye(6), l @ adjoint(l))),
    "lu": (scipy_lu, lambda a, p, l, u: (a, p @ l @ u)),
    "qr": (xnp.linalg.qr, lambda a, q, r: (a, q @ r)),
    "svd": (lambda a: xnp.linalg.svd(a, full_matrices=False), lambda a, u, s, vh: (a, columns(u, s) @ vh)),
    "eigh": (lambda a: xnp.linalg.eigh(a + xnp.conj(xnp.swapaxes(a, -1, -2))),
             lambda a, w, v: (a + adjoint(a), columns(v, w) @ adjoint(v))),
    "solve": (lambda a: xnp.linalg.solve(a, a[..., :2] + 1), lambda a, x: (a[..., :2] + 1, a @ x)),
    "solve_triangular": (lambda a: linalg.solve_triangular(a + 9 * xnp.eye(6, dtype=a.dtype), a),
                         lambda a, x: (a, np.triu(a + 9 * np.eye(6)) @ x)),
    "tridiagonal": (lambda a: linalg.solve_tridiagonal(a[..., 0, :], a[..., 1, :], a[..., 2, :], a[..., :, :1]),
                    lambda a, x: (a[..., :, :1], tridiagonal(a, x))),
    "expm": (lambda a: linalg.expm(a) @ linalg.expm(-a), lambda a, x: (0 * a + np.eye(6), x)),
    "sqrtm": (lambda a: linalg.sqrtm(a @ a + 30 * xnp.eye(6, dtype=a.dtype)),
              lambda a, x: (a @ a + 30 * np.eye(6), x @ x)),
    "sylvester": (lambda a: linalg.solve_sylvester(a + 9 * xnp.eye(6, dtype=a.dtype), a, a),
                  lambda a, x: (a, (a + 9 * np.eye(6)) @ x + x @ a)),
}  # fmt: skip
ON_HOSTS = {
    "qr_pivoting": (lambda a: linalg.qr(a, pivoting=True),
                    lambda a, q, r, p: (np.take_along_axis(a, p[..., None, :], -1), q @ r)),
    "eig": (xnp.linalg.eig, lambda a, w, v: (a @ v, columns(v, w))),
    "schur": (linalg.schur, lambda a, t, z: (a, z @ t @ adjoint(z))),
    "hessenberg": (linalg.hessenberg, lambda a, h, q: (a, q @ h @ adjoint(q))),
}  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*FACTORS, *ON_HOSTS])
def test_factorisations(name, dtype):
    """Of one matrix and of a batch."""
    if ON_TPU and name in ON_HOSTS:
        pytest.skip("refused in words")
    f, products = {**FACTORS, **ON_HOSTS}[name]
    for a in (draw(dtype, 6, 6), draw(dtype, 3, 6, 6)):
        outs = xc.tree.leaves(xc.jit(f)(a))
        want, got = products(a, *map(np.asarray, outs))
        size = max(abs(want).max(), abs(a).max())
        assert abs(want - got).max() < 3000 * np.finfo(dtype).eps * size, name


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint64", "bfloat16", "float16", "float32", "float64", "complex128"]
)
@pytest.mark.parametrize("shape", [(), (0, 3), (5,), (64, 1000)])
def test_copies(dtype, shape):
    """To the device, to the CPU and back, and to the host, of arrays in any order."""
    if ON_TPU and dtype in ("float64", "complex128"):
        pytest.skip("a TPU has none")
    x = np.asarray(rng.integers(0, 100, shape)).astype(xnp.dtype(dtype))
    there = xc.device_put(x, HERE)
    back = xc.device_put(xc.device_put(there, CPU), HERE)
    assert back.devices() == {HERE} and back.dtype == x.dtype
    assert np.array_equal(np.asarray(back), x) and np.array_equal(np.asarray(there), x)
    if len(shape) == 2:
        assert np.array_equal(xc.device_put(x.T[::-1], HERE), x.T[::-1])


def test_results_stay_where_they_are_made():
    x = xc.jit(lambda x: x @ x)(xnp.ones((8, 8)))
    assert x.devices() == {HERE}
    y = xc.jit(lambda x: x + 1)(xc.device_put(np.ones(3), CPU))
    assert y.devices() == {CPU}


def test_donation():
    x = xnp.arange(1e5)
    y = xc.jit(lambda x: 2 * x, donate_argnums=0)(x)
    assert x.is_deleted() and float(y[-1]) == 2 * 99999
    with pytest.raises(RuntimeError, match=r"delet|donat"):
        np.asarray(x)


@pytest.mark.skipif(ON_TPU, reason="refused in words")
def test_callbacks(capfd):
    seen = []

    def f(x):
        xc.debug.print("x is {}", x[0])
        io_callback(
            lambda v: seen.append(np.asarray(v)) or np.float32(0),
            xc.ShapeDtypeStruct((), "float32"),
            x,
        )
        return (
            xc.pure_callback(lambda v: np.asarray(v) * 2, xc.ShapeDtypeStruct((3,), "float32"), x)
            + 1
        )

    assert np.array_equal(xc.jit(f)(xnp.arange(3.0)), [1, 3, 5])
    xc.effects_barrier()
    assert np.array_equal(seen[0], [0, 1, 2]) and "x is 0" in capfd.readouterr().out
    with pytest.raises(Exception, match="on purpose"):
        xc.block_until_ready(
            xc.jit(lambda x: xc.pure_callback(_fails, xc.ShapeDtypeStruct((), "float32"), x))(1.0)
        )


@pytest.mark.skipif(ON_TPU, reason="refused in words")
def test_callbacks_see_axes_in_their_order():
    """However the compiler keeps what it computes for them."""
    x, index = draw("complex128", 30, 7, 2), np.array([3, 1, 2])
    same = lambda v: np.asarray(v).copy()

    def one(v):
        return xc.pure_callback(
            same, xc.ShapeDtypeStruct(v.shape, v.dtype), v, vmap_method="broadcast_all"
        )

    for axis in range(3):
        f = xc.jit(
            lambda x, axis=axis: xc.vmap(lambda v: one((2 * v)[index % v.shape[0]]), axis)(x)
        )
        rest = np.moveaxis(x, axis, 0)
        assert np.allclose(f(x), 2 * rest[:, index % rest.shape[1]])


def _fails(_):
    raise ValueError("on purpose")


GRAPHS = {
    "xla_gpu_enable_command_buffer": "FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL,DYNAMIC_SLICE_FUSION,WHILE,CONDITIONAL"
}


def _until_small(x):
    """A loop of a number of turns that is not known, with a branch in it."""
    halve = lambda x: lax.cond(x.sum() > 4, lambda x: x / 2, lambda x: 0.9 * x, x)
    return lax.while_loop(lambda s: s[0].sum() > 1, lambda s: (halve(s[0]), s[1] + 1), (x, 0))


def _until_told(x):
    """The condition is a boolean that goes around."""
    told = lambda s: (xnp.sin(s[0]) + 0.5, s[0].sum() > s[2], s[2] + 1)
    return lax.while_loop(lambda s: s[1], told, (x, xnp.ones((), bool), 0))


def _of_loops(x):
    inner = lambda x, t: (lax.fori_loop(0, 3, lambda i, x: xnp.sin(x + t), x), x.sum())
    return lax.scan(inner, x, xnp.arange(5.0))


def _with_a_callback(x):
    double = lambda x: xc.pure_callback(
        lambda v: 2 * np.asarray(v), xc.ShapeDtypeStruct(x.shape, x.dtype), x
    )
    return lax.fori_loop(0, 4, lambda i, x: double(x) - 1, x)


@pytest.mark.parametrize("f", [_until_small, _until_told, _of_loops, _with_a_callback])
def test_loops_as_graphs(f):
    """What docs/howto/gpu.md advises changes no result, in a second and third call either."""
    if ON_TPU and f is _with_a_callback:
        pytest.skip("refused in words")
    x = xnp.asarray(np.linspace(0.5, 3, 2000).astype("float32"))
    graphs = xc.jit(f, compiler_options=GRAPHS)
    for y in (x, x + 1, x * 2):
        for want, got in zip(xc.tree.leaves(xc.jit(f)(y)), xc.tree.leaves(graphs(y)), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("lanes, n", [(1, 1000), (300, 7), (2, 5000)])
def test_many_tridiagonal_systems(lanes, n):
    """One of them is singular, another has what is not finite: they touch no other."""
    dtype = "float32" if ON_TPU else "float64"
    low, mid, up = (draw(dtype, lanes, n) for _ in range(3))
    mid[:, 0] = 0  # so that rows must be exchanged
    b = draw(dtype, lanes, n, 2)
    solve = xc.jit(lambda *xs: linalg.solve_tridiagonal(*xs, report=True).value)
    bad = [0, lanes - 1] if lanes > 2 else []
    if bad:
        low[0, 1] = up[0, 0] = 0
        b[-1, 3] = np.inf
    x = np.asarray(xc.vmap(solve)(low, mid, up, b))
    good = [i for i in range(lanes) if i not in bad]
    y = tridiagonal(np.stack([low, mid, up], 1)[good], x[good])
    size = abs(x[good]).max((1, 2), keepdims=True) * 5
    assert (abs(y - b[good]) < 3000 * np.finfo(dtype).eps * size).all()
    assert not np.isfinite(x[bad]).all((1, 2)).any()


@pytest.mark.parametrize("shape", [(40,), (70, 41), (600, 33), (9, 8, 40)])
@pytest.mark.parametrize("sides", [pde.Dirichlet(), pde.Neumann(), pde.Periodic()])
def test_poisson_on_boxes(shape, sides):
    dtype = "float32" if ON_TPU else "float64"
    grid = pde.Grid(shape)
    op = pde.Laplacian(grid, [sides] * len(shape))
    f = np.asarray(xc.jit(op)(draw(dtype, *op.field_shape)))  # of which there is a solution
    u = xc.jit(lambda f: pde.solve_direct(op, f))(f)
    residual = np.asarray(xc.jit(op)(u)) - f
    size = abs(np.asarray(u)).max() * sum(8 * n**2 for n in shape)
    assert abs(residual).max() < 100 * np.finfo(dtype).eps * size


@pytest.mark.parametrize("dtype", ["float32", "float64"][: 1 if ON_TPU else 2])
def test_logarithms_of_powers_of_two_are_whole(dtype):
    e = np.arange(-120, 120)
    np.testing.assert_array_equal(xnp.log2(xnp.asarray(2.0**e, dtype)), e)


@pytest.mark.parametrize("few", [0, 1, 7])
def test_many_loops_of_which_few_are_long(few):
    """Of 10⁶ batch elements those that go on when all others have stopped go on alone."""
    n = 10**6 if HERE.platform != "cpu" else 5000
    steps = np.full(n, 3, np.int32)
    steps[:: n // max(few, 1)] = 40 if few else 3
    x, count = xc.jit(xc.vmap(lambda k: while_per_element(
        "test", lambda s: s[1] < k, lambda s: (s[0] * 0.5 + 1, s[1] + 1), (xnp.float32(0), np.int32(0))
    )))(steps)  # fmt: skip
    np.testing.assert_array_equal(count, steps)
    np.testing.assert_allclose(x, 2 - 2.0 ** (1 - steps), rtol=1e-6)


def test_whole_numbers_are_exact():
    """Running sums of many, products, and convolutions of all integers."""
    for dtype in ("int8", "int32", "uint32") + (() if ON_TPU else ("int64",)):
        info = np.iinfo(dtype)
        x = rng.integers(info.min, info.max, 5000, dtype, endpoint=True)
        with np.errstate(over="ignore"):
            assert np.array_equal(xc.jit(lambda x: lax.cumsum(x))(x), np.cumsum(x, dtype=dtype))
            want = np.convolve(x[:300], x[300:307])
        got = xc.jit(lambda x, k: xnp.convolve(x, k))(x[:300], x[300:307])
        assert got.dtype == dtype and np.array_equal(got, want)


def test_collectives_over_all_devices():
    devices = xc.devices()
    n = len(devices)
    mesh = xc.make_mesh((n,), "x", devices=devices)
    x = np.arange(4.0 * n, dtype="float32")
    spread = xc.device_put(x, NamedSharding(mesh, P("x")))
    x_axis = P("x")
    over = lambda f, out=x_axis: xc.jit(xc.shard_map(f, mesh, x_axis, out))(spread)
    assert np.array_equal(over(lambda v: lax.psum(v, "x"), P()), x.reshape(n, 4).sum(0))
    ring = [(i, (i + 1) % n) for i in range(n)]
    assert np.array_equal(over(lambda v: lax.ppermute(v, "x", ring)), np.roll(x, 4))
    assert np.array_equal(over(lambda v: lax.all_gather(v, "x", tiled=True)), np.tile(x, n))
    assert float(xc.jit(lambda v: (v * v).sum())(spread)) == (x * x).sum()


@pytest.mark.parametrize("impl", ["threefry2x32", "philox4x32"])
def test_random_bits_are_those_of_the_cpu(impl):
    draws = {
        "bits": lambda k: random.bits(k, (1001,)), "uniform": lambda k: random.uniform(k, (1001,)),
        "permutation": lambda k: random.permutation(k, 100), "split": lambda k: random.bits(random.split(k, 3)[2]),
    }  # fmt: skip
    for name, f in draws.items():
        here = f(random.key(7, impl=impl))
        there = f(xc.device_put(random.key(7, impl=impl), CPU))
        assert there.devices() == {CPU} and np.array_equal(here, there), name
    normal = lambda k: random.normal(k, (1001,))
    here, there = (
        normal(random.key(7, impl=impl)),
        normal(xc.device_put(random.key(7, impl=impl), CPU)),
    )
    assert np.allclose(here, there, rtol=1e-6, atol=1e-7)


def test_checkpoints(tmp_path):
    tree = {
        "w": xnp.asarray(draw("float32", 5, 3)),
        "n": xnp.asarray(3),
        "b": xnp.ones(4, "bfloat16"),
    }
    checkpoint.save(tmp_path / "a", tree)
    found = checkpoint.restore(tmp_path / "a", like=tree)
    for x, y in zip(xc.tree.leaves(tree), xc.tree.leaves(found), strict=True):
        assert y.devices() == {HERE} and x.dtype == y.dtype and np.array_equal(x, y)


def test_too_much_memory_is_an_error_in_words():
    with pytest.raises(MemoryError, match=r"(?s)ran out of memory.*donate"):
        x = xnp.ones(2**22)
        (x[:, None] + x).block_until_ready()
    assert float(xnp.ones(3).sum()) == 3
