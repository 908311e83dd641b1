"""Graphs beside SciPy's functions; Laplacians traced."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.csgraph as theirs

import xcore as xc
import xcore.numpy as xnp
from xcore import sparse
from xcore.scipy.sparse import csgraph
from xcore.sparse import Sparse

rng = np.random.default_rng(0)
GRAPHS = {
    "none": sp.csr_array((0, 0)), "apart": sp.csr_array((5, 5)), "few": sp.random_array((40, 40), density=0.03, rng=rng),
    "many": sp.random_array((30, 30), density=0.3, rng=rng),
}  # fmt: skip


@pytest.mark.parametrize("name", GRAPHS)
def test_as_scipy(name):
    a = sp.csr_array(GRAPHS[name])
    s, n = sparse.from_scipy(a), a.shape[0]
    for directed, connection in ((True, "weak"), (True, "strong"), (False, "weak")):
        if n:
            count, labels = theirs.connected_components(a, directed, connection)
            mine = csgraph.connected_components(s, directed, connection)
            assert mine[0] == count
            np.testing.assert_array_equal(mine[1], labels)
        if n and directed != (connection == "weak"):
            lengths, before = csgraph.dijkstra(s, directed, return_predecessors=True)
            exact = theirs.dijkstra(a, directed, return_predecessors=True)
            np.testing.assert_allclose(lengths, exact[0], rtol=1e-6)
            np.testing.assert_array_equal(before, exact[1])
    if n:
        tree, exact = csgraph.minimum_spanning_tree(s), theirs.minimum_spanning_tree(a)
        np.testing.assert_allclose(tree.todense(), exact.toarray())
    for normed in (False, True):
        made, d = csgraph.laplacian(s, normed, True)
        if n:
            exact, e = theirs.laplacian(a.toarray(), normed, True)
            np.testing.assert_allclose(made.todense(), exact, rtol=1e-6, atol=1e-7)
            np.testing.assert_allclose(d, e, rtol=1e-6)
        assert made.shape == (n, n)


def test_laplacians_are_traced():
    a = sparse.from_scipy(sp.csr_array(GRAPHS["few"] + GRAPHS["few"].T))
    x = rng.normal(size=40)

    def energy(v, normed):
        return x @ (sparse.laplacian(Sparse(v, a.pattern), normed) @ x)

    with xc.enable_x64():
        v = xnp.asarray(a.values)
        for normed in (False, True):
            slope = xc.jit(xc.grad(energy), static_argnums=1)(v, normed)
            d = rng.normal(size=v.shape)
            change = (energy(v + 1e-6 * d, normed) - energy(v - 1e-6 * d, normed)) / 2e-6
            np.testing.assert_allclose(slope @ d, change, rtol=1e-6)


def test_arguments():
    with pytest.raises(ValueError, match="square"):
        sparse.laplacian(np.ones((2, 3)))
    with pytest.raises(ValueError, match="0 or more"):
        sparse.dijkstra(np.array([[0.0, -1.0], [0.0, 0.0]]))
    with pytest.raises(ValueError):
        sparse.connected_components(np.eye(3), connection="loose")


@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize(
    "options",
    [{"use_out_degree": True}, {"symmetrized": True}, {"dtype": "float32", "copy": True}],
)
def test_options_of_laplacian(options, normed):
    a = np.abs(np.random.default_rng(2).integers(-2, 3, (5, 5))) * 1.0
    want = theirs.laplacian(a, normed, True, **options)
    ours = sparse.laplacian(sparse.csr_array(a), normed, True, **options)
    assert ours[0].dtype == want[0].dtype
    np.testing.assert_allclose(ours[0].todense(), want[0], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(ours[1], want[1], rtol=1e-6)
    with pytest.raises(ValueError, match="form"):
        sparse.laplacian(a, form="function")


def test_nearest_of_several_starts():
    a = sparse.coo_array(([1.0, 2.0, 9.0, 4.0], ([0, 1, 0, 3], [1, 2, 2, 2])), shape=(4, 4))
    want = theirs.dijkstra(a.to_scipy(), indices=[0, 3], return_predecessors=True, min_only=True)
    ours = sparse.dijkstra(a, indices=[0, 3], return_predecessors=True, min_only=True)
    for x, y in zip(ours, want, strict=True):
        np.testing.assert_array_equal(x, y)


def test_what_is_no_number_is_no_edge_of_a_dense_graph():
    """As SciPy reads them; matrices of distances have infinities where nothing leads."""
    r = np.random.default_rng(0)
    for n in (1, 3, 9):
        a = r.uniform(1, 2, (n, n))
        a[r.random((n, n)) < 0.5] = np.inf
        a[r.random((n, n)) < 0.1] = np.nan
        a[r.random((n, n)) < 0.1] = 0
        for (
            f
        ) in "breadth_first_order depth_first_order breadth_first_tree depth_first_tree".split():
            same(getattr(csgraph, f)(a, 0), getattr(theirs, f)(a, 0))
        for kind in ("weak", "strong"):
            for found in (csgraph, sparse):
                got = found.connected_components(a, connection=kind)
                want = theirs.connected_components(a, connection=kind)
                assert got[0] == want[0]
                np.testing.assert_array_equal(got[1], want[1])
        s = np.maximum(a, a.T)
        same(csgraph.minimum_spanning_tree(s), theirs.minimum_spanning_tree(s))
        same(sparse.dijkstra(a), theirs.dijkstra(a))
        same(csgraph.shortest_path(a), theirs.shortest_path(a))


def same(ours, theirs):
    for a, b in zip(*[x if isinstance(x, tuple) else (x,) for x in (ours, theirs)], strict=True):
        a, b = (x.todense() if hasattr(x, "todense") else x for x in (a, b))
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-6)


def test_vertices_that_are_not_there():
    a = np.ones((2, 2))
    for call in (
        lambda: csgraph.breadth_first_order(a, 5), lambda: csgraph.depth_first_tree(a, -1), lambda: sparse.dijkstra(a, indices=7),
        lambda: csgraph.shortest_path(a, indices=[0, 2]), lambda: csgraph.maximum_flow(a.astype(int), 0, 2),
        lambda: csgraph.bellman_ford(a, indices=-3), lambda: csgraph.breadth_first_order(a, 0.5),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"must be vertices as whole numbers from -?\d to 1"):
            call()
    assert csgraph.bellman_ford(a, indices=-1).shape == (2,)
