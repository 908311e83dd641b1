"""Functions of scipy.sparse, its linalg and csgraph, beside SciPy's own, with SciPy's arguments."""

import importlib
import inspect
import io

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.csgraph as their_graphs
import scipy.sparse.linalg as theirs

import xcore as xc
import xcore.numpy as xnp
from xcore import sparse
from xcore.scipy import sparse as face
from xcore.scipy.sparse import csgraph, linalg

rng = np.random.default_rng(0)
A = sp.csr_array(sp.random_array((30, 30), density=0.15, rng=rng) + 3 * sp.eye_array(30))
TALL = sp.csr_array(sp.random_array((40, 12), density=0.3, rng=rng) + sp.eye_array(40, 12))
B, LONG = rng.normal(size=30), rng.normal(size=40)


def dense(x):
    return np.asarray(x.todense() if hasattr(x, "todense") else x)


NAMES = "splu spilu inv expm matrix_power onenormest is_sptriangular spbandwidth lsmr lsqr lobpcg".split()
GRAPH_NAMES = [n for n in csgraph.__all__ if n != "MaximumFlow"]


@pytest.mark.parametrize(
    "module, name", [("linalg", n) for n in NAMES] + [("csgraph", n) for n in GRAPH_NAMES]
)
def test_arguments_are_scipys(module, name):
    ours = getattr(importlib.import_module(f"xcore.scipy.sparse.{module}"), name)
    scipys = getattr(importlib.import_module(f"scipy.sparse.{module}"), name)
    assert list(inspect.signature(ours).parameters) == list(inspect.signature(scipys).parameters)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_factors_solve_as_scipys(scale, dtype):
    a = sp.csc_array((A + (1j * A.T if dtype[0] == "c" else 0)) * scale)
    for ours, exact in ((linalg.splu(a), theirs.splu(a)), (linalg.spilu(a), theirs.spilu(a))):
        for trans in "NTH":
            for b in (B, np.stack([B, 2 * B], 1)):
                x, y = ours.solve(b, trans), exact.solve(b.astype(dtype), trans)
                # incomplete factors are SciPy's of the transpose
                close = 1e-10 if ours.factors.kind == "lu" else 0.1
                assert np.abs(np.asarray(x) - y).max() <= close * np.abs(y).max()
        assert ours.shape == (30, 30) and ours.nnz == exact.nnz
    f = linalg.splu(a)
    rows = np.argsort(f.perm_r)
    whole = dense(f.L) @ dense(f.U)
    np.testing.assert_allclose(
        a.toarray()[rows][:, f.perm_c.argsort()], whole, rtol=1e-12, atol=1e-12 * scale
    )


def test_factors_are_traced_and_singular_ones_told():
    a = sparse.from_scipy(A)
    slope = xc.grad(lambda v: xnp.sum(linalg.splu(a.like(v)).solve(B)))(a.values)
    x, y = theirs.spsolve(A.tocsc(), B), theirs.spsolve(A.T.tocsc(), np.ones(30))
    np.testing.assert_allclose(slope, -y[a.pattern.rows] * x[a.pattern.columns], rtol=1e-9)
    with pytest.raises(xc.errors.SingularMatrixError):
        linalg.splu(sparse.from_dense(np.ones((2, 2)))).solve(np.ones(2))
    with pytest.raises(ValueError, match="trans"):
        linalg.splu(A).solve(B, "C")


def test_functions_of_matrices():
    np.testing.assert_allclose(
        dense(linalg.inv(A)), np.linalg.inv(A.toarray()), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(dense(linalg.expm(A)), theirs.expm(A.tocsc()).toarray(), rtol=1e-9)
    for power in (0, 1, 2, 5, 6):
        exact = theirs.matrix_power(A, power).toarray()
        np.testing.assert_allclose(
            dense(linalg.matrix_power(A, power)), exact, rtol=1e-10, atol=1e-9
        )
    for m in (A, sp.csr_array(A * 1j), -A.T):
        assert 0.3 < float(linalg.onenormest(m)) / abs(m).sum(axis=0).max() <= 1 + 1e-12
        assert (
            0.3
            < linalg.onenormest(theirs.aslinearoperator(m)) / abs(m).sum(axis=0).max()
            <= 1 + 1e-6
        )
    for m in (
        A,
        sp.tril(A),
        sp.triu(A, 2),
        sp.eye_array(3),
    ):
        m = sp.csr_array(m)
        assert linalg.is_sptriangular(m) == theirs.is_sptriangular(m)
        assert linalg.spbandwidth(m) == tuple(theirs.spbandwidth(m))
    for empty in (sparse.eye_array(0), sp.csr_array((4, 4))):  # SciPy's raises
        assert linalg.is_sptriangular(empty) == (True, True)
    with pytest.raises(ValueError, match="power"):
        linalg.matrix_power(A, -1)


INTERVALS = [
    {"start": 0, "stop": 1, "num": 5}, {"start": -1, "stop": 2.5, "num": 4, "endpoint": False}, {"start": 1, "stop": 0},
    {"start": 0.5, "stop": 3, "num": 2, "endpoint": True}, {"start": 0, "stop": 8, "num": 7}, {"start": 2, "stop": 2},
]  # fmt: skip


@pytest.mark.parametrize("options", INTERVALS)
@pytest.mark.parametrize("n, dtype", [(1, "float64"), (3, "complex128"), (8, "float64")])
def test_exponentials_over_intervals_are_scipys(n, dtype, options):
    a, b = rng.normal(size=(n, n)).astype(dtype), rng.normal(size=(n, 2)).astype(dtype)
    times = np.linspace(**{"num": 50, **options})
    for m in (a, sp.csr_array(a)):
        for x in (b, b[:, 0]):
            exact = np.stack([scipy.linalg.expm(t * a) @ x for t in times])
            if options["start"] < options["stop"]:  # else SciPy may return memory as it was
                np.testing.assert_allclose(exact, theirs.expm_multiply(m, x, **options), rtol=1e-9)
            got = linalg.expm_multiply(m, x, **options)
            assert got.shape == exact.shape and got.dtype == exact.dtype
            assert np.abs(got - exact).max() <= 1e-12 * np.abs(exact).max()


def test_intervals_into_the_complex_plane():
    a, b = rng.normal(size=(3, 3)), rng.normal(size=3)
    for start, stop in ((0, 2j), (1j, 1), (0.5, 1 + 1j)):
        found = linalg.expm_multiply(a, b, start, stop, 4)
        exact = [scipy.linalg.expm(t * a) @ b for t in np.linspace(start, stop, 4)]
        np.testing.assert_allclose(found, exact, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"start": 0}, "stop must be a number"),
        ({"stop": 1, "num": 3}, "start must be a number"),
        ({"num": 3}, "start must be a number"),
        ({"start": 0, "stop": 1, "num": 1}, "at least 2"),
        ({"start": 0, "stop": 1, "num": 2.5}, "at least 2"),
        ({"start": 0, "stop": np.nan}, "finite norm"),
        ({"start": 0, "stop": np.inf}, "finite norm"),
    ],
)
def test_intervals_that_are_none(options, words):
    with pytest.raises(ValueError, match=words):
        linalg.expm_multiply(np.eye(2), np.ones(2), **options)


@pytest.mark.parametrize("name", ["lsqr", "lsmr"])
def test_least_squares_are_scipys(name):
    ours, exact = getattr(linalg, name), getattr(theirs, name)
    consistent = TALL @ np.ones(12)
    for b, more in (
        (LONG, {}), (LONG, {"damp": 0.7}), (LONG, {"x0": np.arange(12.0)}), (consistent, {}),
        (LONG, {"damp": 0.7, "x0": np.arange(12.0)}), (0 * LONG, {}),
    ):  # fmt: skip
        x, y = (f(TALL, b, atol=1e-10, btol=1e-10, **more) for f in (ours, exact))
        assert len(x) == len(y)
        np.testing.assert_allclose(x[0], y[0], rtol=1e-5, atol=1e-6)  # of the tolerance
        damp, moved = more.get("damp", 0), y[0] - more.get("x0", 0)
        left = np.linalg.norm(b - TALL @ y[0])
        sizes = [left, 0, np.linalg.norm(y[0])]
        sizes = (
            [left, np.hypot(left, damp * np.linalg.norm(moved)), *sizes[1:]]
            if len(x) > 8
            else sizes
        )
        at = {"lsqr": (3, 4, 7, 8), "lsmr": (3, 4, 7)}[name]
        np.testing.assert_allclose([x[k] for k in at], sizes, rtol=1e-6, atol=1e-6)
        assert int(x[1]) in (0, 1, 2)
    assert int(ours(TALL, LONG, 0.0, 1e-12, 1e-12, 1e8, 1)[1]) == 7


def test_lobpcg_is_scipys():
    line = sp.csr_array(sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(40, 40)))
    start = rng.normal(size=(40, 3))
    for largest in (True, False):
        w, v = linalg.lobpcg(line, start, largest=largest, maxiter=400)
        exact = np.linalg.eigvalsh(line.toarray())
        np.testing.assert_allclose(w, exact[::-1][:3] if largest else exact[:3], rtol=1e-6)
        np.testing.assert_allclose(line @ np.asarray(v), np.asarray(v) * np.asarray(w), atol=1e-4)


WEIGHTS = sp.csr_array(rng.integers(0, 4, (12, 12)) * (rng.random((12, 12)) < 0.3))
CALLS = {
    "shortest_path": {}, "floyd_warshall": {}, "bellman_ford": {"indices": [0, 3]}, "johnson": {"directed": False},
    "yen": {"source": 0, "sink": 5, "K": 3}, "breadth_first_order": {"i_start": 0}, "depth_first_order": {"i_start": 0},
    "breadth_first_tree": {"i_start": 0}, "depth_first_tree": {"i_start": 0}, "reverse_cuthill_mckee": {},
    "maximum_flow": {"source": 0, "sink": 5}, "maximum_bipartite_matching": {}, "structural_rank": {},
    "min_weight_full_bipartite_matching": {},
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_graphs_are_scipys(name):
    a = sp.csr_array(WEIGHTS + 2 * sp.eye_array(12, dtype=int) if "full" in name else WEIGHTS)
    ours = getattr(csgraph, name)(sparse.from_scipy(a), **CALLS[name])
    exact = getattr(their_graphs, name)(a, **CALLS[name])
    if name == "maximum_flow":
        assert ours.flow_value == exact.flow_value > 0
        ours, exact = ours.flow, exact.flow
    parts = zip(ours, exact, strict=True) if isinstance(exact, tuple) else [(ours, exact)]
    for x, y in parts:
        np.testing.assert_allclose(dense(x), y.toarray() if sp.issparse(y) else y, rtol=1e-6)


def test_ways_are_made_of_predecessors():
    lengths, before = csgraph.dijkstra(WEIGHTS, indices=0, return_predecessors=True)
    tree = csgraph.reconstruct_path(WEIGHTS, before)
    assert tree.nnz == np.isfinite(lengths).sum() - 1
    negative = sp.csr_array(np.array([[0.0, -1], [-1, 0]]))
    with pytest.raises(csgraph.NegativeCycleError):
        csgraph.bellman_ford(negative)


def test_elements_and_files(tmp_path):
    a = sp.csr_array(A)
    a.data[:3] = 0
    rows, columns, values = face.find(a)
    np.testing.assert_array_equal(
        sp.coo_array((values, (rows, columns)), a.shape).toarray(), a.toarray()
    )
    face.save_npz(tmp_path / "a.npz", sparse.from_scipy(a))
    np.testing.assert_array_equal(sp.load_npz(tmp_path / "a.npz").toarray(), a.toarray())
    file = io.BytesIO()
    sp.save_npz(file, a.tocsc())
    np.testing.assert_array_equal(dense(face.load_npz(io.BytesIO(file.getvalue()))), a.toarray())


def test_older_names_of_scipy():
    theirs = scipy.sparse
    for ours, want in (
        (sparse.eye(3, 4, 1), theirs.eye(3, 4, 1)),
        (sparse.diags([1.0, -2.0], [0, 2], (4, 4)), theirs.diags([1.0, -2.0], [0, 2], (4, 4))),
        (sparse.diags([1.0, 2.0, 3.0]), theirs.diags([1.0, 2.0, 3.0])),
        (sparse.diags([[1.0, 2.0], [3.0]], [0, -1]), theirs.diags([[1.0, 2.0], [3.0]], [0, -1])),
        (
            sparse.block([[sparse.eye(2), None], [None, 3 * sparse.eye(1)]]),
            theirs.bmat([[theirs.eye(2), None], [None, 3 * theirs.eye(1)]]),
        ),
    ):
        np.testing.assert_array_equal(ours.todense(), want.toarray())
    drawn = sparse.random(xc.random.key(0), (20, 10), density=0.25)
    assert drawn.shape == (20, 10) and drawn.nnz == 50


def test_matrices_that_are_not_triangular_are_refused():
    a = sparse.diags_array([-1.0, 2.5, -1.2], offsets=[-1, 0, 1], shape=(4, 4))
    solve = xc.scipy.sparse.linalg.spsolve_triangular
    for lower, part in ((True, sparse.tril), (False, sparse.triu)):
        with pytest.raises(ValueError, match="triangular"):
            solve(a, xnp.ones(4), lower=lower)
        x = solve(part(a), xnp.ones(4), lower=lower)
        np.testing.assert_allclose(part(a).todense() @ x, np.ones(4), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "int32", "complex64"])
def test_booleans_are_taken_off(dtype):
    a, b = sparse.eye_array(4).astype(dtype) * 3, scipy.sparse.eye_array(4, dtype=bool)
    np.testing.assert_array_equal((a - b).todense(), 2 * np.eye(4))
    assert (a - b).dtype == dtype


@pytest.mark.parametrize(
    ("diags", "size"),
    [
        ([0, 1, -2], (4, 4)),
        ([0, -1, 2], (3, 6)),
        ([0, -1, 2], (6, 3)),
        ([0, 1, -1], (4, ())),
        ([0, 5, -7], (2, 4)),
    ],
)
def test_matrices_of_diagonals_are_scipys(diags, size):
    data = np.arange(1.0, 13.0).reshape(3, 4)
    size = size if size[1] != () else ()
    ours, exact = face.spdiags(data, diags, *size), sp.spdiags(data, diags, *size)
    np.testing.assert_array_equal(ours.todense(), exact.toarray())
    if size:
        np.testing.assert_array_equal(face.spdiags(data, diags, size).todense(), exact.toarray())
