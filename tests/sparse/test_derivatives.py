"""Patterns are those of dense derivatives, values theirs; colourings are valid."""

import functools
import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import xcore as xc
import xcore.numpy as xnp
from xcore import lax, sparse
from xcore.sparse import _colouring as colouring
from xcore.sparse._orders import order_of

N = 8
MASK = np.arange(N) % 3 == 1
INDEX = np.array([3, 0, 0, 7])
BAND = np.triu(np.tril(np.ones((N, N)), 1), -1)


def custom(x):
    f = xc.custom_jvp(lambda x: xnp.round(x))
    f.defjvp(lambda p, t: (f(*p), t[0]))
    return f(x)


def straight(x):
    f = xc.custom_jvp(lambda x: (x > 1).astype("float32"))
    f.defjvp(lambda p, t: (f(*p), t[0]))
    return f(x)


FUNCTIONS = {
    "powers": lambda x: x**2 + 1,
    "neighbours": lambda x: x[1:] * x[:-1],
    "roll": lambda x: xnp.roll(x, 1) - 2 * x,
    "reversed": lambda x: x[::-1] * x,
    "pad": lambda x: xnp.pad(x, 2) ** 2,
    "concatenate": lambda x: xnp.concatenate([x[:3], x**2]),
    "stack": lambda x: xnp.stack([x, xnp.sin(x)], axis=1),
    "gather": lambda x: x[INDEX] * 2,
    "take": lambda x: xnp.take(x, INDEX, axis=0),
    "scatter set": lambda x: (x**2).at[INDEX].set(0.0),
    "scatter add": lambda x: x.at[INDEX].add(x[:4] ** 2),
    "segment sum": lambda x: xc.ops.segment_sum(x**2, np.arange(N) // 3, 3),
    "mask": lambda x: xnp.where(MASK, x, 0.0),
    "product with zeros": lambda x: x * MASK,
    "choice by the unknowns": lambda x: xnp.where(x > 0, x, xnp.roll(x, 1)),
    "sum": lambda x: x.sum()[None],
    "sums of rows": lambda x: x.reshape(2, 4).sum(1) ** 2,
    "max of rows": lambda x: x.reshape(4, 2).max(0),
    "broadcast": lambda x: x[:, None] * x[:2],
    "transpose": lambda x: x.reshape(2, 4).T * 3,
    "matrix with zeros": lambda x: BAND @ x,
    "matrix of unknowns": lambda x: x.reshape(2, 4) @ x[:4],
    "two of unknowns": lambda x: x.reshape(2, 4) @ x.reshape(4, 2),
    "einsum": lambda x: xnp.einsum("ij,ij->i", x.reshape(2, 4), x.reshape(2, 4)),
    "cumsum": lambda x: xnp.cumsum(x**2),
    "cumsum of columns": lambda x: xnp.cumsum(x.reshape(4, 2), axis=0),
    "sort of rows": lambda x: xnp.sort(x.reshape(2, 4), axis=1),
    "steps": lambda x: xnp.floor(x) + x * xnp.sign(x),
    "stop": lambda x: x * lax.stop_gradient(xnp.roll(x, 1)),
    "integers": lambda x: x[xnp.argmax(x)] * x,
    "nested": lambda x: xc.jit(lambda y: y * xnp.roll(y, 2))(x),
    "checkpoint": lambda x: xc.checkpoint(lambda y: xnp.sin(y[1:]))(x),
    "rule of its own": custom,
    "comparison with a rule": lambda x: straight(x),
    "cond": lambda x: lax.cond(x[0] > 0, lambda y: y, lambda y: xnp.roll(y, 1), x),
    "fori": lambda x: lax.fori_loop(0, 2, lambda i, y: y + xnp.roll(y, 1), x),
    "while": lambda x: lax.while_loop(lambda y: y[0] < 9, lambda y: 2 * y + 1, x),
    "scan": lambda x: lax.scan(lambda c, u: (c + u, c * u), 0.0, x)[1],
    "map": lambda x: lax.map(lambda u: u**2, x),
    "long scan": lambda x: lax.scan(lambda c, u: (0.5 * c, u**2), x[0], xnp.tile(x, 80))[1][:N],
    "vmap": lambda x: xc.vmap(lambda r: r * r[0])(x.reshape(4, 2)),
    "slices at places": lambda x: lax.dynamic_slice(x, (3,), (2,)) * 2,
    "update at places": lambda x: lax.dynamic_update_slice(x, x[:2] ** 2, (3,)),
    "inverse": lambda x: xnp.linalg.inv(x[:4].reshape(2, 2) + 3 * xnp.eye(2)),
    "fft": lambda x: xnp.abs(xnp.fft.fft(x[:3])) ** 2,
    "convolve": lambda x: xnp.convolve(x, np.array([1.0, 2.0]), "valid"),
    "constant": lambda x: xnp.ones(3),
    "nothing": lambda x: x[:0],
}
WIDER = {
    "stop",
    "integers",
    "cond",
    "while",
    "choice by the unknowns",
    "long scan",
}  # than at one point


@pytest.mark.parametrize("name", FUNCTIONS)
def test_patterns_and_values(name):
    f = FUNCTIONS[name]
    x = np.random.default_rng(3).uniform(0.5, 2.0, N).astype("float32")
    dense = np.asarray(xc.jacfwd(f)(xnp.asarray(x))).reshape(-1, N)
    for mode in ("fwd", "rev", "bidirectional") if name != "while" else ("fwd",):
        found = sparse.jacobian(f, mode=mode)(xnp.asarray(x))
        np.testing.assert_allclose(found.todense(), dense, rtol=1e-5, atol=1e-6)
    places = np.zeros(dense.shape, bool)
    places[found.pattern.rows, found.pattern.columns] = True
    assert not ((dense != 0) & ~places).any()
    if name not in WIDER | {"max of rows", "sort of rows"}:
        assert found.nnz == (dense != 0).sum()


def bratu(u, n):
    u = xnp.pad(u.reshape(n, n), 1)
    around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
    return (4 * u[1:-1, 1:-1] - around - xnp.exp(u[1:-1, 1:-1]) / n**2).reshape(-1)


def test_a_grid_needs_few_directions():
    n = 20
    u = xnp.zeros(n * n)
    j = sparse.jacobian(lambda u: bratu(u, n))(u)
    assert j.nnz == 5 * n * n - 4 * n
    assert colouring.columns(j.pattern).max() < 9
    x = np.random.default_rng(0).normal(size=n * n).astype("float32")
    np.testing.assert_allclose(
        j @ x, xc.jvp(lambda u: bratu(u, n), (u,), (xnp.asarray(x),))[1], rtol=1e-4, atol=1e-4
    )


def test_newton_with_sparse_jacobians_compiles():
    n = 12

    @xc.jit
    def step(u):
        f = lambda u: bratu(u, n)
        return u - sparse.solve(sparse.jacobian(f)(u), f(u))

    u = xnp.zeros(n * n)
    for _ in range(5):
        u = step(u)
    assert xnp.abs(bratu(u, n)).max() < 1e-6


def test_hessians():
    f = lambda x: (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
    x = xnp.asarray(np.random.default_rng(0).normal(size=9))
    dense = np.asarray(xc.hessian(f)(x))
    found = sparse.hessian(f)(x)
    assert found.symmetric and found.nnz == 9 + 2 * 8
    np.testing.assert_allclose(found.todense(), dense, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(
        sparse.hessian(f, symmetric=False)(x).todense(), dense, rtol=1e-5, atol=1e-4
    )


@pytest.mark.parametrize("density", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("shape", [(30, 30), (13, 40)])
def test_colourings_are_valid(shape, density):
    p = sparse.random_array(xc.random.key(0), shape, density=density).pattern
    colour = colouring.columns(p)
    pairs = p.rows * 1000 + colour[p.columns]
    assert len(np.unique(pairs)) == p.nnz
    if shape[0] == shape[1]:
        q = (
            sparse.Sparse(np.ones(p.nnz), p)
            + sparse.Sparse(np.ones(p.nnz), p).T
            + sparse.eye_array(30)
        ).pattern
        colour = colouring.star(q)
        values = np.random.default_rng(0).normal(size=(30, 30))
        h = np.where(
            np.asarray(sparse.Sparse(np.ones(q.nnz), q).todense()) != 0, values + values.T, 0
        )
        products = h @ (np.arange(colour.max() + 1) == colour[:, None])
        row, group = colouring.recovered(q, colour)
        np.testing.assert_allclose(products[row, group], h[q.rows, q.columns], rtol=1e-12)
        assert colour.max() <= colouring.columns(q).max()


def symmetric_places(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, 40))
    a = rng.random((n, n)) < rng.choice([0.0, 0.03, 0.1, 0.5, 1.0])
    return a | a.T | (rng.random() < 0.5) * np.eye(n, dtype=bool)


def is_forest(edges):
    trees = connected_components(csr_array(edges), directed=False)[0] if len(edges) else 0
    return edges.sum() == 2 * (len(edges) - trees)


ORDERS = ("auto", "natural", "largest-first", "smallest-last", "incidence-degree")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", range(12))
def test_colours_of_symmetric_places_tell_all_elements(seed, order):
    places = symmetric_places(seed)
    p = sparse.Pattern(*np.nonzero(places), places.shape)
    values = np.random.default_rng(seed).normal(size=places.shape)
    h = np.where(places, values + values.T, 0)
    products = lambda colour: h @ (colour[:, None] == np.arange(colouring.count(colour)))
    colour, elements = colouring.by_substitution(p, order)
    neighbours = places & ~np.eye(len(places), dtype=bool)
    assert not (neighbours & (colour == colour[:, None])).any()
    for a, b in itertools.combinations(range(colouring.count(colour)), 2):
        both = np.flatnonzero((colour == a) | (colour == b))
        assert is_forest(neighbours[np.ix_(both, both)])
    found = elements.of(xnp.asarray(products(colour).T))
    np.testing.assert_allclose(found, h[p.rows, p.columns], rtol=0, atol=1e-12)
    star = colouring.star(p, order)
    row, group = colouring.recovered(p, star)
    np.testing.assert_allclose(products(star)[row, group], h[p.rows, p.columns], rtol=1e-12)
    columns = colouring.columns(p, order)
    assert len(np.unique(p.rows * 1000 + columns[p.columns])) == p.nnz
    if order == "auto":
        for kind in (colouring.star, colouring.without_cycles):
            each = [colouring.count(kind(p, o)) for o in ("natural", "smallest-last")]
            assert colouring.count(kind(p)) <= max(2, min(each))


def test_orders_are_those_of_their_papers():
    a = np.zeros((6, 6), bool)  # a triangle 0 1 2 with a path 2 3 4 and a vertex alone
    for i, j in ((0, 1), (1, 2), (0, 2), (2, 3), (3, 4)):
        a[i, j] = a[j, i] = True
    graph = sparse.Pattern(*np.nonzero(a), a.shape)
    assert order_of(graph, "largest-first") == [2, 0, 1, 3, 4, 5]
    assert order_of(graph, "smallest-last")[-1] == 5
    left = list(range(6))
    for v in order_of(graph, "smallest-last")[::-1]:  # each has fewest neighbours among those left
        degrees = a[np.ix_(left, left)].sum(0)
        assert degrees[left.index(v)] == degrees.min()
        left.remove(v)
    first = []
    for v in order_of(graph, "incidence-degree"):
        before = a[:, first].sum(1)
        assert before[v] == max(before[w] for w in range(6) if w not in first)
        first.append(v)


@pytest.mark.parametrize("order", ORDERS)
def test_hessians_by_substitution(order):
    f = lambda x: xnp.sum(xnp.sin(x[1:] * x[:-1])) + xnp.sum(x**4) + xnp.sum(x[5:] * x[:-5] ** 2)
    x = xnp.linspace(0, 1, 23, dtype="float64")
    h = sparse.hessian(f, colouring="acyclic", order=order)
    whole = xc.hessian(f)(x)
    np.testing.assert_allclose(h(x).todense(), whole, atol=1e-14)
    np.testing.assert_allclose(xc.jit(h)(x).todense(), whole, atol=1e-14)
    two = xc.vmap(lambda x: h(x).values)(xnp.stack([x, 2 * x]))
    np.testing.assert_allclose(two, [h(x).values, h(2 * x).values], atol=1e-13)
    slope = xc.grad(lambda x: h(x).values.sum())(x)
    np.testing.assert_allclose(slope, xc.grad(lambda x: xc.hessian(f)(x).sum())(x), atol=1e-13)
    j = sparse.jacobian(xc.grad(f), order=order)(x)
    np.testing.assert_allclose(j.todense(), whole, atol=1e-14)


def test_colours_need_fewer_products_by_substitution():
    line = sparse.diags([1.0, 2.0, 1.0], offsets=[-1, 0, 1], shape=(20, 20))
    grid = sparse.kronsum(line, line).pattern
    number = lambda kind: int(sparse.colours(grid, kind).max()) + 1
    assert [number(k) for k in ("columns", "rows", "star", "acyclic")] == [7, 7, 6, 4]
    with pytest.raises(ValueError, match="symmetric"):
        sparse.colours(sparse.Pattern([0], [1], (2, 2)), "acyclic")
    with pytest.raises(ValueError, match="Pattern"):
        sparse.colours(np.eye(3))
    with pytest.raises(ValueError, match="order must be one of"):
        sparse.hessian(lambda x: x.sum(), order="last")
    row = sparse.Pattern(np.zeros(20_000, int), np.arange(20_000), (1, 20_000))
    with pytest.raises(ValueError, match="order='auto'"):
        sparse.colours(row, order="smallest-last")


def arrow(n, full=1):
    a = np.eye(n, dtype=bool)
    a[:full] = a[:, :full] = True
    return a


def random_places(seed):
    """Some of them with rows and columns that are full, or half full, or empty."""
    rng = np.random.default_rng(seed)
    m, n = rng.integers(1, 40, 2)
    a = rng.random((m, n)) < rng.choice([0.0, 0.03, 0.1, 0.5])
    for axis in (a, a.T):
        for i in rng.integers(0, len(axis), rng.integers(0, 4)):
            axis[i] = rng.random(axis.shape[1]) < rng.choice([0.0, 0.5, 1.0])
    return a


@pytest.mark.parametrize("seed", range(60))
def test_rows_and_columns_together_tell_each_element(seed):
    places = random_places(seed)
    p = sparse.Pattern(*np.nonzero(places), places.shape)
    values = np.where(places, np.random.default_rng(seed).normal(size=places.shape), 0)
    cover = colouring.cover(p)
    products = lambda a, colour: a @ (colour[:, None] == np.arange(colour.max(initial=0) + 1))
    forward, back = products(values, cover.columns), products(values.T, cover.rows)
    read = np.where(
        cover.forward,
        forward[p.rows, np.maximum(cover.columns[p.columns], 0)],
        back[p.columns, np.maximum(cover.rows[p.rows], 0)],
    )
    np.testing.assert_array_equal(read, values[p.rows, p.columns])
    alone = [colouring.count(colouring.columns(q)) for q in (p, p.T)]
    assert cover.count <= min(alone)
    assert cover.count == colouring.cover(p.T).count


def test_arrows_need_few_products():
    for n, full, most in ((50, 1, 3), (50, 2, 5), (1, 1, 1)):
        a = arrow(n, full)
        p = sparse.Pattern(*np.nonzero(a), a.shape)
        assert colouring.cover(p).count <= most
    band = np.abs(np.subtract.outer(np.arange(60), np.arange(60))) < 2
    band[7] = band[:, 30] = band[40, :30] = (
        True  # of two rows that share a column, one product each
    )
    p = sparse.Pattern(*np.nonzero(band), band.shape)
    assert colouring.cover(p).count <= 7
    assert colouring.cover(sparse.Pattern([], [], (3, 0))).count == 0


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_jacobians_of_arrows(dtype):
    def f(x):
        y = x**2
        return y.at[0].set((x * y).sum()) + 3 * x[0] * x

    x = np.random.default_rng(0).normal(size=30).astype(dtype)
    dense = xc.jacfwd(f, holomorphic=dtype == "complex128")(xnp.asarray(x))
    seen = []

    def watched(x):
        seen.append(1)
        return f(x)

    for mode in ("auto", "bidirectional"):
        found = xc.jit(sparse.jacobian(watched, mode=mode))(x)
        np.testing.assert_allclose(found.todense(), dense, rtol=1e-5, atol=1e-5)
        assert found.dtype == dtype and found.nnz == 30 + 29 * 2
    cover = colouring.cover(found.pattern)
    assert (colouring.count(cover.rows), colouring.count(cover.columns)) == (1, 2)
    text = str(xc.make_jaxpr(sparse.jacobian(f, found.pattern))(x))
    assert "[30,30]" not in text and "[29,30]" not in text  # no batch of as many directions
    slopes = lambda mode: xc.grad(
        lambda x: xnp.abs(sparse.jacobian(f, mode=mode)(x).values ** 2).sum()
    )(x.real)
    np.testing.assert_allclose(slopes("auto"), slopes("fwd"), rtol=1e-4)


def test_derivatives_from_real_to_complex_numbers():
    f = lambda x: x[:1] * x[1] * (1 + 2j) + x.sum()
    x = xnp.asarray([1.0, 2.0, 3.0])
    for mode in ("auto", "fwd"):
        np.testing.assert_allclose(
            sparse.jacobian(f, mode=mode)(x).todense(), [[3 + 4j, 2 + 2j, 1]]
        )
    for mode in ("rev", "bidirectional"):
        with pytest.raises(ValueError, match="from real to complex"):
            sparse.jacobian(f, mode=mode)(x)
    with pytest.raises(TypeError, match="holomorphic"):
        sparse.jacobian(lambda z: xnp.abs(z))(xnp.asarray([1 + 1j]))


def test_what_is_not_followed_is_named():
    with pytest.raises(ValueError, match=r"cholesky.*pattern"):
        sparse.jacobian_pattern(lambda x: xnp.linalg.cholesky(x.reshape(150, 150)), xnp.ones(22500))


def test_arguments():
    with pytest.raises(TypeError, match="floating"):
        sparse.jacobian(lambda x: x)(xnp.arange(3))
    with pytest.raises(ValueError, match="one of"):
        sparse.jacobian(lambda x: x, mode="both")
    with pytest.raises(ValueError, match="of shape"):
        sparse.jacobian(lambda x: x, sparse.eye_array(2).pattern)(xnp.ones(3))
    j = sparse.jacobian(lambda x, a: a * x)(xnp.ones(3), xnp.asarray([1.0, 0.0, 2.0]))
    np.testing.assert_array_equal(j.todense(), np.diag([1.0, 0.0, 2.0]))


@pytest.mark.parametrize("make", [np.asarray, xnp.asarray])
def test_what_a_function_holds_may_change_between_calls(make):
    held = {"mask": make(np.array([1.0, 0.0, 1.0], "float32")), "shift": 1}
    f = lambda x: held["mask"] * xnp.roll(x, held["shift"])
    jacobian, hessian = sparse.jacobian(f), sparse.hessian(lambda x: (f(x) ** 2 * x).sum())
    x = xnp.asarray([1.0, 2.0, 4.0])
    for mask, shift in (([1, 0, 1], 1), ([0, 1, 1], 1), ([1, 1, 1], 2), ([1, 0, 1], 1)):
        held.update(mask=make(np.array(mask, "float32")), shift=shift)
        np.testing.assert_array_equal(jacobian(x).todense(), xc.jacfwd(f)(x))
        dense = xc.hessian(lambda x: (f(x) ** 2 * x).sum())(x)
        np.testing.assert_allclose(hessian(x).todense(), dense, rtol=1e-6)
        if isinstance(held["mask"], np.ndarray):  # written to, not replaced
            held["mask"][:] = 1.0
            np.testing.assert_array_equal(jacobian(x).todense(), xc.jacfwd(f)(x))


def test_the_mode_that_there_is_is_taken():
    """Of few results rows are fewest; a loop without reverse mode has columns only."""

    def f(x):
        y = xc.lax.while_loop(
            lambda v: v[0] < 9, lambda v: v.at[0].add(v[1] ** 2), x, checkpoints=0
        )
        return (y * xnp.arange(5.0)).sum()[None] + y[:1]

    x = xnp.asarray([1.0, 2.0, 3.0, 4.0, 5.0])
    got = sparse.jacobian(f)(x)
    np.testing.assert_allclose(got.todense(), xc.jacfwd(f)(x), rtol=1e-6)
    with pytest.raises(xc.errors.MissingRuleError, match="reverse"):
        sparse.jacobian(f, mode="rev")(x)
    loop = lambda x: xc.lax.while_loop(
        lambda v: v[0] < 9, lambda v: v.at[0].add(v[1] ** 2), x
    ).sum()
    np.testing.assert_allclose(sparse.hessian(loop)(x).todense(), xc.hessian(loop)(x), rtol=1e-6)


def test_functions_that_are_linear_are_matrices():
    f = lambda x, k=2.0: k * (x[1:] - x[:-1])
    np.testing.assert_array_equal(
        sparse.as_sparse(f, columns=3).todense(), [[-2, 2, 0], [0, -2, 2]]
    )
    assert sparse.as_sparse(f, columns=3, dtype="float64").dtype == np.float64
    for given, words in (({}, "columns must be"), ({"columns": 3}, "linear")):
        with pytest.raises(ValueError, match=words):
            sparse.as_sparse(lambda x: x + 1, **given)


def test_functions_may_have_arguments_by_name():
    f = lambda x, k=1.0: k * x[1:] * x[:-1]
    x = xnp.asarray([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(sparse.jacobian(f)(x, k=3.0).todense(), 3 * xc.jacfwd(f)(x))
    g = lambda x, p=2: (x**p).sum()
    np.testing.assert_allclose(sparse.hessian(g)(x, p=3).todense(), xc.hessian(g)(x, p=3))


@xc.custom_jvp
def turned_round(x):
    return x**2


turned_round.defjvp(lambda p, t: (p[0] ** 2, 2 * p[0] * t[0][::-1]))


@xc.custom_vjp
def coupled(x, y):
    return xnp.sum(x) * y, xnp.round(x)


coupled.defvjp(
    lambda x, y: (coupled(x, y), y), lambda y, c: (c[0] * y[::-1] + c[1], c[0] * xnp.float32(2))
)


@pytest.mark.parametrize("mode", ["auto", "fwd", "rev"])
def test_rules_of_ones_own_say_where_elements_are(mode):
    x = xnp.arange(1.0, 5.0)
    found = sparse.jacobian(turned_round, mode=mode)
    np.testing.assert_array_equal(found(x).todense(), xc.jacfwd(turned_round)(x))
    np.testing.assert_array_equal(xc.jit(found)(x).todense(), xc.jacfwd(turned_round)(x))
    f = lambda x: xnp.concatenate(coupled(x, 3 * x))
    for g in (f, lambda x: xc.jit(f)(x) * 2) if mode != "fwd" else ():
        whole, found = xc.jacrev(g)(x), sparse.jacobian(g, mode=mode)
        np.testing.assert_array_equal(found(x).todense(), whole)
        np.testing.assert_array_equal(xc.jit(found)(x).todense(), whole)


def test_conditions_of_loops_may_hold_values():
    def f(x):
        limit, factor = xnp.sum(xnp.asarray([3.0, 1.0])), 2 * x
        step = lambda c: (c[0] + 1, c[1] * factor)
        return lax.while_loop(lambda c: c[0] < limit, step, (0.0, x))[1]

    x = xnp.arange(1.0, 4.0)
    assert sparse.jacobian_pattern(f, x).nnz == 3
    np.testing.assert_allclose(sparse.jacobian(f)(x).todense(), xc.jacfwd(f)(x), rtol=1e-6)
    g = lambda x: xc.scipy.linalg.expm(xnp.diag(x)).ravel()
    np.testing.assert_allclose(sparse.jacobian(g)(x).todense(), xc.jacfwd(g)(x), rtol=1e-4)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x**2,
        lambda x: xnp.sin(x) * x[::-1],
        xnp.abs,
        xnp.expm1,
        xnp.sort,
        lambda x: x + 1e-4 * x**3,
    ],
)
def test_what_is_not_linear_is_no_matrix(f):
    with pytest.raises(ValueError, match="linear"):
        sparse.as_sparse(f, columns=3)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_what_is_linear_is_a_matrix(dtype):
    for size in (1e-30, 1.0, 1e30):
        f = functools.partial(lambda size, x: xnp.cumsum(x)[::-1] * size + x * size, size)
        found = sparse.as_sparse(f, columns=9, dtype=dtype).todense()
        want = (np.tril(np.ones((9, 9)))[::-1] + np.eye(9)) * size
        np.testing.assert_allclose(found, want.astype(dtype), rtol=1e-6)
    bad = np.vander(np.linspace(0, 1, 6)).astype(
        dtype
    )  # of condition 5e3: its inverse has few digits
    found = sparse.as_sparse(lambda x: xc.linalg.solve(bad, x), columns=6, dtype=dtype)
    np.testing.assert_allclose(found @ bad, np.eye(6), atol=1e-2)
    assert sparse.as_sparse(lambda x: x, columns=0, dtype=dtype).shape == (0, 0)
