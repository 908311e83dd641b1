"""Graphs as sparse matrices: element (i, j) is the weight of the edge from i to j. By SciPy, on the host.

Where edges are is the pattern, so what depends on it alone is known while tracing; weights must be known, but for
``laplacian``, which is made of them.
"""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from .. import numpy as xnp
from .._core import Array, DTypeLike, Tracer, dtypes, errors
from ._making import coo_array, diags_array, from_scipy, issparse
from ._matrix import Sparse


def edges_of(a: Any) -> Sparse:
    """A graph as a sparse matrix. In a dense one infinities and NaN, as 0, say that there is no edge."""
    if not issparse(a) and not hasattr(a, "tocoo") and not isinstance(a, Tracer):
        a = np.asarray(xnp.asarray(a) if isinstance(a, (list, tuple)) else a)
        a = np.where(np.isfinite(a), a, np.zeros((), a.dtype)) if a.dtype.kind in "fc" else a
    return coo_array(a)


def check_vertices(who: str, name: str, given: Any, n: int) -> None:
    """Raise where a number is none of a vertex; SciPy goes on with some."""
    known = np.asarray(0 if given is None else given)
    low = -n if name == "indices" else 0  # counted from the end
    if known.dtype.kind not in "iu" or (
        known.size and not (low <= known.min() and known.max() < n)
    ):
        want = f"vertices as whole numbers from {low} to {n - 1}"
        raise errors.bad_argument(who, name, given, want)


def _graph(who: str, a: Any, make: Any = edges_of) -> Sparse:
    a = make(a)
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise errors.shape_mismatch(who, "need one square matrix", graph=a)
    return a


@overload
def connected_components(
    csgraph: Any, directed: bool = True, connection: str = "weak", return_labels: Literal[True] = True,
) -> tuple[int, Array]: ...  # fmt: skip
@overload
def connected_components(
    csgraph: Any, directed: bool = True, connection: str = "weak", *, return_labels: Literal[False],
) -> int: ...  # fmt: skip
@overload
def connected_components(
    csgraph: Any, directed: bool = True, connection: str = "weak", return_labels: bool = True,
) -> tuple[int, Array] | int: ...  # fmt: skip
def connected_components(
    csgraph: Any, directed: bool = True, connection: str = "weak", return_labels: bool = True
) -> tuple[int, Array] | int:
    """(how many, the number of each vertex's component): a stored element is an edge, whatever its value; one of a
    dense matrix is where it is finite and not 0.

    Args:
      csgraph: square matrix.
      directed: whether edges have a direction; else each goes both ways.
      connection: of directed graphs, "weak" or "strong" (there is a way back).
      return_labels: False gives the number alone.

    >>> from xcore import sparse
    >>> connected_components(sparse.coo_array(([1.0], ([0], [1])), shape=(3, 3)))
    (2, Array([0, 0, 1], dtype=int32))
    """
    import scipy.sparse

    a = _graph("sparse.connected_components", csgraph)
    p = a.pattern
    graph = scipy.sparse.csr_array((np.ones(p.nnz), p.indices, p.indptr), shape=p.shape)
    count, labels = scipy.sparse.csgraph.connected_components(graph, directed, connection)
    return (count, xnp.asarray(labels)) if return_labels else count


@overload
def laplacian(
    csgraph: Any, normed: bool = False, return_diag: Literal[False] = False, use_out_degree: bool = False, *,
    copy: bool = True, form: str = "array", dtype: DTypeLike | None = None, symmetrized: bool = False,
) -> Sparse: ...  # fmt: skip
@overload
def laplacian(
    csgraph: Any, normed: bool = False, *, return_diag: Literal[True], use_out_degree: bool = False,
    copy: bool = True, form: str = "array", dtype: DTypeLike | None = None, symmetrized: bool = False,
) -> tuple[Sparse, Array]: ...  # fmt: skip
@overload
def laplacian(
    csgraph: Any, normed: bool = False, return_diag: bool = False, use_out_degree: bool = False, *, copy: bool = True,
    form: str = "array", dtype: DTypeLike | None = None, symmetrized: bool = False,
) -> Sparse | tuple[Sparse, Array]: ...  # fmt: skip
def laplacian(
    csgraph: Any, normed: bool = False, return_diag: bool = False, use_out_degree: bool = False, *,
    copy: bool = True, form: str = "array", dtype: DTypeLike | None = None, symmetrized: bool = False,
) -> Sparse | tuple[Sparse, Array]:  # fmt: skip
    """D - A of a graph with the weights A, D the sums of the columns; the diagonal of A does not count. Traced.

    Args:
      csgraph: square matrix.
      normed: divide by the roots of D from both sides.
      return_diag: return D too (its root with ``normed``).
      use_out_degree: D is the sums of the rows.
      copy: of no effect.
      form: "array", as ``xcore.linalg.as_operator`` of it is an operator.
      dtype: of the result; that of the weights, floating, by default.
      symmetrized: take A + Aᴴ for A.

    >>> from xcore import sparse
    >>> laplacian(sparse.coo_array(([2.0, 2.0], ([0, 1], [1, 0])))).todense()
    Array([[ 2., -2.],
           [-2.,  2.]], dtype=float32)
    """
    who, a = "sparse.laplacian", _graph("sparse.laplacian", csgraph, coo_array)
    if form != "array":
        raise errors.bad_argument(who, "form", form, "'array', which is an operator as well")
    a = a.astype(dtypes.to_solve(a.dtype) if dtype is None else dtype)
    a = a + a.H if symmetrized else a
    a = a._chosen(a.pattern.rows != a.pattern.columns)
    d = a.sum(1 if use_out_degree else 0)
    if not normed:
        made = diags_array(d) - a
        return (made, d) if return_diag else made
    alone = d == 0
    root = xnp.where(alone, 1, xnp.sqrt(xnp.where(alone, 1, d)))
    scaled = a * (1 / root)[:, None] * (1 / root)
    made = diags_array(xnp.where(alone, 0, xnp.ones_like(d))) - scaled
    return (made, root) if return_diag else made


def minimum_spanning_tree(csgraph: Any, overwrite: bool = False) -> Sparse:
    """The edges of least weight that connect all vertices which are connected; those of weight 0 are not stored.

    Args:
      csgraph: square matrix of known weights, those of both directions of an edge the same or one of them stored.
      overwrite: of no effect.

    >>> from xcore import sparse
    >>> a = sparse.coo_array(([1.0, 2.0, 3.0], ([0, 1, 0], [1, 2, 2])), shape=(3, 3))
    >>> float(minimum_spanning_tree(a).sum())
    3.0
    """
    import scipy.sparse

    a = _graph("sparse.minimum_spanning_tree", csgraph)
    return from_scipy(scipy.sparse.csgraph.minimum_spanning_tree(a.to_scipy()))


@overload
def dijkstra(
    csgraph: Any, directed: bool = True, indices: Any = None, return_predecessors: Literal[False] = False,
    unweighted: bool = False, limit: float = np.inf, min_only: bool = False,
) -> Array: ...  # fmt: skip
@overload
def dijkstra(
    csgraph: Any, directed: bool = True, indices: Any = None, *, return_predecessors: Literal[True],
    unweighted: bool = False, limit: float = np.inf, min_only: Literal[False] = False,
) -> tuple[Array, Array]: ...  # fmt: skip
@overload
def dijkstra(
    csgraph: Any, directed: bool = True, indices: Any = None, *, return_predecessors: Literal[True],
    unweighted: bool = False, limit: float = np.inf, min_only: Literal[True],
) -> tuple[Array, Array, Array]: ...  # fmt: skip
@overload
def dijkstra(
    csgraph: Any, directed: bool = True, indices: Any = None, return_predecessors: bool = False,
    unweighted: bool = False, limit: float = np.inf, min_only: bool = False,
) -> Array | tuple[Array, Array] | tuple[Array, Array, Array]: ...  # fmt: skip
def dijkstra(
    csgraph: Any, directed: bool = True, indices: Any = None, return_predecessors: bool = False,
    unweighted: bool = False, limit: float = np.inf, min_only: bool = False,
) -> Array | tuple[Array, Array] | tuple[Array, Array, Array]:  # fmt: skip
    """Lengths of shortest ways between vertices, infinite where there is none; weights are 0 or more.

    Args:
      csgraph: square matrix of known weights; a stored 0 is an edge of length 0.
      directed: whether edges have a direction; else each goes both ways, at the lesser weight.
      indices: from which vertices; from all by default.
      return_predecessors: also return the vertex before each on its way, -9999 where there is none.
      unweighted: count edges.
      limit: look no farther.
      min_only: of ways from any of the indices only the shortest; with predecessors, where it begins as well.

    >>> from xcore import sparse
    >>> a = sparse.coo_array(([1.0, 2.0, 9.0], ([0, 1, 0], [1, 2, 2])), shape=(3, 3))
    >>> dijkstra(a, indices=0)
    Array([0., 1., 3.], dtype=float32)
    """
    import scipy.sparse

    a = _graph("sparse.dijkstra", csgraph)
    weights = np.asarray(a.values)
    if (weights < 0).any():
        raise errors.bad_argument("sparse.dijkstra", "csgraph", a, "of weights that are 0 or more")
    check_vertices("sparse.dijkstra", "indices", indices, a.shape[0])
    found = scipy.sparse.csgraph.dijkstra(
        a.to_scipy(), directed, indices, return_predecessors, unweighted, limit, min_only
    )
    lengths, *others = found if return_predecessors else (found,)
    lengths: Array = xnp.asarray(lengths.astype(dtypes.to_solve(a.dtype)))
    return (lengths, *map(xnp.asarray, others)) if others else lengths  # pyright: ignore[reportReturnType]
