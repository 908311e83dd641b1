"""Whole programs on a 4 × 2 mesh give what they give on one device, with the communication expected."""

import re

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import decomp, lax
from xcore.sharding import NamedSharding, P

if xc.device_count() < 8:
    pytest.skip("needs eight devices", allow_module_level=True)

MESH = xc.make_mesh((4, 2), ("data", "model"), devices=xc.devices()[:8])
rng = np.random.default_rng(0)


def put(value, *spec):
    return xc.device_put(value, NamedSharding(MESH, P(*spec)))


def normal(*shape):
    return (rng.standard_normal(shape) / 4).astype(np.float32)


def collectives(f, *args):
    text = xc.jit(f).lower(*args).compile().as_text()
    return re.findall(
        r"= (.*?) (all-reduce|all-gather|all-to-all|collective-permute|reduce-scatter)(?:-start)?\(",
        text,
    )


# Training


def predict(params, x):
    for w, b in params[:-1]:
        x = xnp.tanh(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def loss(params, x, y):
    return ((predict(params, x) - y) ** 2).mean()


def step(state, x, y):
    params, velocity = state
    value, grads = xc.value_and_grad(loss)(params, x, y)
    velocity = xc.tree.map(lambda v, g: 0.9 * v - 0.1 * g, velocity, grads)
    return (xc.tree.map(lambda p, v: p + v, params, velocity), velocity), value


PARAMS = [(normal(8, 32), normal(32)), (normal(32, 32), normal(32)), (normal(32, 4), normal(4))]
# layers split by columns, then by rows: between the two nothing has to be exchanged
SPECS = [((None, "model"), ("model",)), (("model", None), ()), ((), ())]
X, Y = normal(16, 8), normal(16, 4)


def sharded_params():
    return [(put(w, *ws), put(b, *bs)) for (w, b), (ws, bs) in zip(PARAMS, SPECS, strict=True)]


def test_training_data_and_tensor_parallel():
    run = xc.jit(step)
    plain, spread = xc.device_put(PARAMS), sharded_params()
    one = (plain, xc.tree.map(xnp.zeros_like, plain))
    many = (spread, xc.tree.map(xnp.zeros_like, spread))
    for _ in range(5):
        one, a = run(one, X, Y)
        many, b = run(many, put(X, "data"), put(Y, "data"))
        np.testing.assert_allclose(b, a, rtol=1e-5)
    for p, q in zip(xc.tree.leaves(one), xc.tree.leaves(many), strict=True):
        np.testing.assert_allclose(q, p, rtol=1e-4, atol=1e-6)
    for (w, _), (ws, _) in zip(many[0], SPECS, strict=True):
        assert w.sharding.is_equivalent_to(NamedSharding(MESH, P(*ws)), 2)


def test_training_exchanges_sums_only():
    found = collectives(loss, sharded_params(), put(X, "data"), put(Y, "data"))
    assert {name for _, name in found} == {"all-reduce"}
    grads = collectives(xc.grad(loss), sharded_params(), put(X, "data"), put(Y, "data"))
    assert "all-gather" not in {name for _, name in grads}


def test_a_step_of_training_exchanges_sums_of_slopes():
    """Each parameter's slope is summed over the data axis, in parts where it lies in parts."""
    spread = sharded_params()
    state = (spread, xc.tree.map(xnp.zeros_like, spread))
    found = collectives(step, state, put(X, "data"), put(Y, "data"))
    assert {name for _, name in found} == {"all-reduce"}
    summed = " ".join(shape for shape, _ in found)
    sizes = [set(map(int, s.split(","))) for s in re.findall(r"f32\[(\d+,\d+)\]", summed)]
    # halves of the layers that the model axis splits, one way or transposed; no layer as a whole
    assert {8, 16} in sizes and {16, 32} in sizes
    assert {8, 32} not in sizes and {32} not in sizes


MATRICES = {  # layouts of both factors, and what has to be exchanged
    "rows times columns": (("data",), (None, "model"), set()),
    "inner axis in parts": ((None, "model"), ("model",), {("f32[16,32]", "all-reduce")}),
    "both": (("data", "model"), ("model",), {("f32[4,32]", "all-reduce")}),
    "rows of both": (("data",), ("data",), {("f32[24,32]", "all-gather")}),  # the smaller one
}


@pytest.mark.parametrize("name", MATRICES)
def test_products_of_matrices_exchange_what_they_must(name):
    first, second, wanted = MATRICES[name]
    a, b = normal(16, 24), normal(24, 32)
    args = put(a, *first), put(b, *second)
    np.testing.assert_allclose(xc.jit(xnp.matmul)(*args), a @ b, rtol=1e-4, atol=1e-5)
    found = collectives(xnp.matmul, *args)
    assert {(shape.split("{")[0], kind) for shape, kind in found} == wanted


def test_fully_sharded_parameters():
    """Parameters lie in parts on the data axis and are gathered a layer at a time."""

    def sharded(params, x, y):
        def f(params, x, y):
            whole = xc.tree.map(lambda p: lax.all_gather(p, "data", tiled=True), params)
            return lax.pmean(loss(whole, x, y), "data")

        specs = xc.tree.map(lambda _: P("data"), params)
        return xc.shard_map(f, MESH, (specs, P("data"), P("data")), P())(params, x, y)

    got = xc.jit(xc.grad(sharded))(PARAMS, X, Y)
    want = xc.grad(loss)(PARAMS, X, Y)
    for g, w in zip(xc.tree.leaves(got), xc.tree.leaves(want), strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-4, atol=1e-6)
        assert g.sharding.spec[0] == "data"
    assert {name for _, name in collectives(xc.grad(sharded), PARAMS, X, Y)} >= {"reduce-scatter", "all-gather"}  # fmt: skip


# Transforms of arrays


ROWS = ("data", "model")
TRANSFORMS = {
    "there and back": lambda v: xnp.fft.ifft(xnp.fft.fft(v, axis=1) * 2, axis=1),
    "real, there and back": lambda v: xnp.fft.irfft(xnp.fft.rfft(v, axis=1)[:, :20], axis=1),
    "first axis": lambda v: xnp.fft.fft(v, axis=0),
    "two axes": xnp.fft.fft2,
    "two axes, real": lambda v: xnp.fft.irfft2(xnp.fft.rfft2(v) ** 2),
    "two axes of three": lambda v: xnp.fft.rfft2(v.reshape(8, 8, 8)),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_fft(name):
    f, x = TRANSFORMS[name], normal(8, 64)
    want = xc.jit(f)(x)
    for spec in ((ROWS,), ("data", "model"), (None, "model"), ()):
        np.testing.assert_allclose(xc.jit(f)(put(x, *spec)), want, rtol=1e-4, atol=1e-4)
    grads = [xc.grad(lambda v: (abs(f(v)) ** 2).sum())(v) for v in (put(x, "data"), x)]
    np.testing.assert_allclose(*grads, rtol=1e-3, atol=1e-2)


def test_fft_of_rows_needs_no_communication():
    x = normal(8, 64)
    for name in ("there and back", "real, there and back"):
        assert collectives(TRANSFORMS[name], put(x, ROWS)) == []
    g = xc.shard_map(TRANSFORMS["there and back"], MESH, P(ROWS), P(ROWS))
    np.testing.assert_allclose(xc.jit(g)(x), 2 * x, rtol=1e-4, atol=1e-5)
    assert collectives(g, x) == []


def test_fft_of_two_axes_by_transposition():
    """Rows, then columns, exchanged in between: nothing is gathered."""

    def part(v):
        rows = xnp.fft.fft(v, axis=1)
        return xnp.fft.fft(lax.all_to_all(rows, "data", 1, 0, tiled=True), axis=0)

    fft2 = xc.shard_map(part, MESH, P("data"), P(None, "data"))
    x = normal(16, 16)
    np.testing.assert_allclose(xc.jit(fft2)(x), np.fft.fft2(x), rtol=1e-4, atol=1e-4)
    assert {name for _, name in collectives(fft2, x)} == {"all-to-all"}


def positive(count, n, kind=np.float32):
    x = rng.standard_normal((count, n, n)) + (1j if kind == np.complex64 else 0) * np.ones(n)
    return (x @ np.conj(x.swapaxes(1, 2)) + n * np.eye(n)).astype(kind)


def factors(x):
    """Each of them may wait for threads, where it is not cut into pieces."""
    low = lax.linalg.cholesky(x)
    b = lax.linalg.triangular_solve(low, x, left_side=True, lower=True)
    return (
        low,
        b,
        lax.linalg.triangular_solve(low, x[..., :2], left_side=True, lower=True),
        *xnp.linalg.eigh(x),
    )


@pytest.mark.parametrize("kind", [np.float32, np.complex64])
@pytest.mark.parametrize("spec", [(ROWS,), ("data", "model"), ("data", None, "model"), ()])
def test_factors_of_batches(spec, kind):
    """Each device cuts its own part of a batch into pieces; parts of matrices are made whole."""
    x = positive(80, 40, kind)
    f = xc.jit(factors)
    for _ in range(10):  # in one of two runs of 60 all threads waited for ever
        found = f(put(x, *spec))
    low, b, few, w, v = map(np.asarray, found)
    np.testing.assert_allclose(low, np.linalg.cholesky(x), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(b, np.conj(low.swapaxes(1, 2)), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(few, b[..., :2], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(w, np.linalg.eigvalsh(x), rtol=1e-3)
    np.testing.assert_allclose(x @ v, v * w[:, None], rtol=1e-3, atol=1e-2)


def test_factors_of_batches_need_no_communication():
    x = positive(80, 40)
    assert collectives(factors, put(x, ROWS)) == []
    g = xc.shard_map(factors, MESH, P(ROWS), P(ROWS))
    for y, z in zip(xc.jit(g)(x), xc.jit(factors)(put(x, ROWS)), strict=True):
        np.testing.assert_allclose(y, z, rtol=1e-3, atol=1e-4)


def test_callbacks_of_programs_that_communicate_may_factorise():
    """Both kinds of programs run one after another, but not one for the other."""
    some, factor = positive(40, 60), xc.jit(lax.linalg.cholesky)

    def part(v):
        found = xc.pure_callback(
            lambda x: np.asarray(factor(some))[0, 0, :8] + x[0] * 0,
            xc.ShapeDtypeStruct((8,), np.float32),
            v,
        )
        return lax.psum(v, "data") + found

    g = xc.jit(xc.shard_map(part, MESH, P("data"), P("data")))
    want = np.linalg.cholesky(some)[0, 0, :8] + 4
    for _ in range(3):
        np.testing.assert_allclose(np.asarray(g(np.ones(32, np.float32)))[:8], want, rtol=1e-4)


def test_sort_of_rows_needs_no_communication():
    x = normal(8, 500)
    np.testing.assert_array_equal(xnp.sort(put(x, ("data", "model")), axis=1), np.sort(x, 1))
    assert collectives(lambda v: xnp.sort(v, axis=1), put(x, ("data", "model"))) == []
    np.testing.assert_array_equal(xnp.sort(put(x, "data", "model"), axis=None), np.sort(x, None))


def test_random_numbers_do_not_depend_on_the_mesh():
    key = xc.random.key(3)
    want = xc.random.normal(key, (16, 8))
    spread = xc.jit(
        lambda k: xc.random.normal(k, (16, 8)),
        out_shardings=NamedSharding(MESH, P("data", "model")),
    )
    np.testing.assert_allclose(spread(key), want, rtol=1e-6)


# Solvers

N = 32
SOURCE = normal(N, N)


def laplacian(u):
    padded = xnp.pad(u, 1)
    near = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    return 4 * u - near


def conjugate_gradients(apply, dot, b, steps=120):
    def one(state, _):
        x, r, p, rr = state
        q = apply(p)
        a = rr / dot(p, q)
        r = r - a * q
        new = dot(r, r)
        return (x + a * p, r, r + new / rr * p, new), None

    start = (xnp.zeros_like(b), b, b, dot(b, b))
    return lax.scan(one, start, None, length=steps)[0][0]


def poisson(b):
    return conjugate_gradients(laplacian, xnp.vdot, b)


def exact():
    """By the eigenvectors of the matrix, which are sines."""
    k = np.arange(1, N + 1)
    s = np.sin(np.pi * np.outer(k, k) / (N + 1)) * np.sqrt(2 / (N + 1))
    lam = 2 - 2 * np.cos(np.pi * k / (N + 1))
    return s @ ((s @ SOURCE @ s) / (lam[:, None] + lam)) @ s


def test_poisson_spread_by_the_compiler():
    got = xc.jit(poisson)(put(SOURCE, "data", "model"))
    np.testing.assert_allclose(got, exact(), rtol=1e-3, atol=1e-4)
    shapes = {shape for shape, _ in collectives(poisson, put(SOURCE, "data", "model"))}
    assert not any(f"f32[{N},{N}]" in s for s in shapes), "the whole field is nowhere gathered"


def halo(u, axis, name):
    """The part with one more row at both ends: the neighbours' last rows, or zeros at the edge."""
    n = lax.axis_size(name)
    last = lax.slice_in_dim(u, u.shape[axis] - 1, u.shape[axis], axis=axis)
    first = lax.slice_in_dim(u, 0, 1, axis=axis)
    below = lax.ppermute(last, name, [(i, i + 1) for i in range(n - 1)])
    above = lax.ppermute(first, name, [(i + 1, i) for i in range(n - 1)])
    return xnp.concatenate([below, u, above], axis)


def test_poisson_by_hand():
    def apply(u):
        v, h = halo(u, 0, "data"), halo(u, 1, "model")
        return 4 * u - v[:-2] - v[2:] - h[:, :-2] - h[:, 2:]

    spec = P("data", "model")
    solve = xc.shard_map(
        lambda b: conjugate_gradients(apply, lambda a, c: lax.psum(xnp.vdot(a, c), ("data", "model")), b),
        MESH, spec, spec,
    )  # fmt: skip
    np.testing.assert_allclose(xc.jit(solve)(SOURCE), exact(), rtol=1e-3, atol=1e-4)
    names = {name for _, name in collectives(solve, SOURCE)}
    assert names == {"collective-permute", "all-reduce"}


@pytest.mark.parametrize("spec", [("data",), ("data", "model"), (None, None, "model")], ids=str)
def test_alternating_least_squares(spec):
    """CP decomposition of a tensor of rank two, factor by factor."""
    parts = [normal(8, 2) + 1, normal(4, 2) + 1, normal(6, 2) + 1]
    tensor = np.einsum("ir,jr,kr->ijk", *parts)

    def sweep(factors, t):
        a, b, c = factors
        a = xnp.linalg.solve((b.T @ b) * (c.T @ c), xnp.einsum("ijk,jr,kr->ri", t, b, c)).T
        b = xnp.linalg.solve((a.T @ a) * (c.T @ c), xnp.einsum("ijk,ir,kr->rj", t, a, c)).T
        c = xnp.linalg.solve((a.T @ a) * (b.T @ b), xnp.einsum("ijk,ir,jr->rk", t, a, b)).T
        return a, b, c

    @xc.jit
    def run(t, factors):
        return lax.scan(lambda f, _: (sweep(f, t), None), factors, None, length=20)[0]

    start = tuple(normal(n, 2) + 1 for n in tensor.shape)
    want, got = run(tensor, start), run(put(tensor, *spec), start)
    for w, g in zip(want, got, strict=True):
        np.testing.assert_allclose(g, w, rtol=2e-2, atol=1e-3)


@pytest.mark.parametrize("spec", [("data",), ("data", "model"), (None, None, "model")], ids=str)
def test_fits_of_tensors_exchange_factors_only(spec):
    factors = [normal(n, 3) + 1 for n in (16, 12, 10)]
    tensor = np.einsum("ir,jr,kr->ijk", *factors)
    start = tuple(normal(n, 3) + 1 for n in tensor.shape)

    def fit(t):
        found = decomp.cp_als(t, 3, init=start, max_steps=20, rtol=0.0)
        return found.error, found.value.to_dense()

    spread = put(tensor, *spec)
    for got, want in zip(xc.jit(fit)(spread), xc.jit(fit)(tensor), strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-2, atol=1e-2)
    shapes = " ".join(shape for shape, _ in collectives(fit, spread))
    sizes = [
        np.prod([int(n) for n in s.split(",") if n]) for s in re.findall(r"\[([\d,]*)\]", shapes)
    ]
    assert sizes and max(sizes) <= 3 * tensor[0].size  # the largest partial product, of rank three


def test_tutorial_of_positional_shardings():
    """4-way batch data parallelism and 2-way model tensor parallelism, as tutorials write it."""
    params = [(normal(8, 16), normal(16)), (normal(16, 16), normal(16)), (normal(16, 16), normal(16)), (normal(16, 4), normal(4))]  # fmt: skip
    batch = normal(16, 8)
    want = predict(params, xnp.asarray(batch))
    sharding = xc.sharding.PositionalSharding(xc.devices()[:8]).reshape(4, 2)
    batch = xc.device_put(batch, sharding.replicate(1))
    (W1, b1), (W2, b2), (W3, b3), (W4, b4) = params
    W1 = xc.device_put(W1, sharding.replicate())
    b1 = xc.device_put(b1, sharding.replicate())
    W2 = xc.device_put(W2, sharding.replicate(0))
    b2 = xc.device_put(b2, sharding.replicate(0))
    W3 = xc.device_put(W3, sharding.replicate(0).T)
    b3 = xc.device_put(b3, sharding.replicate())
    W4 = xc.device_put(W4, sharding.replicate())
    b4 = xc.device_put(b4, sharding.replicate())
    spread = (W1, b1), (W2, b2), (W3, b3), (W4, b4)
    got = xc.jit(predict)(spread, batch)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    assert {name for _, name in collectives(predict, spread, batch)} == {"all-reduce"}
