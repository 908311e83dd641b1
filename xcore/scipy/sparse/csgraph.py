"""Graphs under SciPy's names, on the host: functions of ``xcore.sparse``, and SciPy's own of our matrices.

Weights must be known, but for ``laplacian``. What SciPy gives as arrays and matrices are ours.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ... import numpy as xnp
from ..._core import Array, boundary, dtypes, errors
from ...sparse import (
    Sparse,
    connected_components,
    coo_array,
    dijkstra,
    from_scipy,
    issparse,
    laplacian,
    minimum_spanning_tree,
)
from ...sparse._graphs import check_vertices, edges_of
from .._names import guide


class MaximumFlow(NamedTuple):
    """How much flows, and how much of it along each edge.

    >>> from scipy import sparse
    >>> from xcore.scipy.sparse.csgraph import maximum_flow
    >>> found = maximum_flow(sparse.csr_array([[0, 3, 2], [0, 0, 2], [0, 0, 0]]), 0, 2)
    >>> found.flow_value
    4
    """

    flow_value: int
    flow: Sparse


# What parameters are, by their names; a graph is a matrix, sparse or dense, of SciPy's too.
_TYPES = {
    "bool": "directed maximize overwrite return_predecessors symmetric_mode unweighted",
    "int": "K i_start sink source",
    "str": "method perm_type",
    "ArrayLike": "predecessors",
    "ArrayLike | Sequence[int] | None": "indices",
}
_VERTICES = {"i_start", "source", "sink", "indices"}
_TYPE_OF = {name: kind for kind, names in _TYPES.items() for name in names.split()}
_LENGTHS = "Array | tuple[Array, Array]"  # and the vertices before, if they are asked for


def _on_host(signature: str, gives: str, graph: str, ends: str) -> Callable[..., Any]:
    """SciPy's function for our matrices.

    Args:
      signature: as SciPy's, and the result's type; the first parameter is the graph.
      gives: the first sentence of its docstring.
      graph, ends: of its example.
    """
    call, result = signature.split(" -> ")
    name, parameters = call.split("(", 1)
    first = parameters.split(",")[0].rstrip(")")

    def f(*args: Any, **kwargs: Any) -> Any:
        given = inspect.signature(f).bind(*args, **kwargs).arguments
        a = (edges_of if first == "csgraph" else coo_array)(given[first])
        if a.ndim != 2:
            raise errors.shape_mismatch(f"scipy.sparse.csgraph.{name}", "need one matrix", graph=a)
        for what in _VERTICES & given.keys():
            check_vertices(f"scipy.sparse.csgraph.{name}", what, given[what], a.shape[0])
        rest = {k: np.asarray(x) if isinstance(x, Array) else x for k, x in given.items()}
        theirs = getattr(importlib.import_module("scipy.sparse.csgraph"), name)
        return _ours(theirs(**rest | {first: a.to_scipy()}), a)

    scope = {"inf": np.inf}
    plain = inspect.signature(eval(f"lambda {parameters[:-1]}: 0", scope))
    typed = [p.replace(annotation=_TYPE_OF.get(p.name, "Any")) for p in plain.parameters.values()]
    f.__signature__ = plain.replace(parameters=typed, return_annotation=result)  # pyright: ignore[reportFunctionMemberAccess]
    f.__name__ = f.__qualname__ = name
    others = [k for k in inspect.signature(f).parameters if k != first]
    about = f"  {', '.join(others)}: as of ``scipy.sparse.csgraph.{name}``.\n    " if others else ""
    f.__doc__ = f"""{gives}

    Args:
      {first}: a matrix of known values, sparse or dense.
    {about}
    >>> a = [{graph}]
    >>> {ends}
    """
    return boundary(f)


def _ours(x: Any, a: Sparse) -> Any:
    if isinstance(x, tuple):
        return tuple(_ours(y, a) for y in x)
    if hasattr(x, "flow_value"):
        return MaximumFlow(int(x.flow_value), from_scipy(x.flow))
    if not isinstance(x, np.ndarray):
        return from_scipy(x) if issparse(x) else x
    return xnp.asarray(x.astype(dtypes.to_solve(a.dtype)) if x.dtype.kind == "f" else x)


_WAY = "[0.0, 1.0, 4.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]"
_PAIRS = "[1, 1], [1, 0]"

shortest_path = _on_host(
    "shortest_path(csgraph, method='auto', directed=True, return_predecessors=False, unweighted=False, "
    f"overwrite=False, indices=None) -> {_LENGTHS}",
    "Lengths of shortest ways, by the method that is best or named.", _WAY,
    "shortest_path(a, indices=0)\n    Array([0., 1., 3.], dtype=float32)",
)  # fmt: skip
floyd_warshall = _on_host(
    "floyd_warshall(csgraph, directed=True, return_predecessors=False, unweighted=False, overwrite=False) -> "
    f"{_LENGTHS}",
    "Lengths of shortest ways between all vertices, by Floyd and Warshall's method.", _WAY,
    "floyd_warshall(a)[0]\n    Array([0., 1., 3.], dtype=float32)",
)  # fmt: skip
bellman_ford = _on_host(
    f"bellman_ford(csgraph, directed=True, indices=None, return_predecessors=False, unweighted=False) -> {_LENGTHS}",
    "Lengths of shortest ways, of weights below 0 too, by Bellman and Ford's method.", _WAY,
    "bellman_ford(a, indices=0)\n    Array([0., 1., 3.], dtype=float32)",
)  # fmt: skip
johnson = _on_host(
    f"johnson(csgraph, directed=True, indices=None, return_predecessors=False, unweighted=False) -> {_LENGTHS}",
    "Lengths of shortest ways, of weights below 0 too, by Johnson's method.", _WAY,
    "johnson(a, indices=0)\n    Array([0., 1., 3.], dtype=float32)",
)  # fmt: skip
yen = _on_host(
    f"yen(csgraph, source, sink, K, *, directed=True, return_predecessors=False, unweighted=False) -> {_LENGTHS}",
    "Lengths of the K shortest ways from one vertex to another.", _WAY,
    "yen(a, 0, 2, 2)\n    Array([3., 4.], dtype=float32)",
)  # fmt: skip
breadth_first_order = _on_host(
    f"breadth_first_order(csgraph, i_start, directed=True, return_predecessors=True) -> {_LENGTHS}",
    "(vertices in the order of a search in breadth, the one before each).", _WAY,
    "breadth_first_order(a, 0)[0]\n    Array([0, 1, 2], dtype=int32)",
)  # fmt: skip
depth_first_order = _on_host(
    f"depth_first_order(csgraph, i_start, directed=True, return_predecessors=True) -> {_LENGTHS}",
    "(vertices in the order of a search in depth, the one before each).", _WAY,
    "depth_first_order(a, 0)[0]\n    Array([0, 1, 2], dtype=int32)",
)  # fmt: skip
breadth_first_tree = _on_host(
    "breadth_first_tree(csgraph, i_start, directed=True) -> Sparse",
    "The edges along which a search in breadth goes.", _WAY,
    "breadth_first_tree(a, 0).nnz\n    2",
)  # fmt: skip
depth_first_tree = _on_host(
    "depth_first_tree(csgraph, i_start, directed=True) -> Sparse",
    "The edges along which a search in depth goes.", _WAY,
    "depth_first_tree(a, 0).nnz\n    2",
)  # fmt: skip
reconstruct_path = _on_host(
    "reconstruct_path(csgraph, predecessors, directed=True) -> Sparse",
    "The edges of the tree that predecessors tell.", _WAY,
    "reconstruct_path(a, dijkstra(a, indices=0, return_predecessors=True)[1]).nnz\n    2",
)  # fmt: skip
reverse_cuthill_mckee = _on_host(
    "reverse_cuthill_mckee(graph, symmetric_mode=False) -> Array",
    "An order of rows and columns in which a matrix has a narrow band, by Cuthill and McKee's method.", _PAIRS,
    "reverse_cuthill_mckee(a)\n    Array([0, 1], dtype=int32)",
)  # fmt: skip
maximum_flow = _on_host(
    "maximum_flow(csgraph, source, sink, *, method='dinic') -> MaximumFlow",
    "The largest flow between two vertices, by whole capacities: ``flow_value`` and ``flow``.",
    "[0, 2, 1], [0, 0, 1], [0, 0, 0]", "maximum_flow(a, 0, 2).flow_value\n    2",
)  # fmt: skip
maximum_bipartite_matching = _on_host(
    "maximum_bipartite_matching(graph, perm_type='row') -> Array",
    "For each row or column its partner in a matching of the most pairs; -1 where it has none.", _PAIRS,
    "maximum_bipartite_matching(a, 'column')\n    Array([1, 0], dtype=int32)",
)  # fmt: skip
min_weight_full_bipartite_matching = _on_host(
    "min_weight_full_bipartite_matching(biadjacency, maximize=False) -> tuple[Array, Array]",
    "(rows, columns) of a full matching of least weight.", _PAIRS,
    "min_weight_full_bipartite_matching(a)[1]\n    Array([1, 0], dtype=int32)",
)  # fmt: skip
structural_rank = _on_host(
    "structural_rank(graph) -> np.integer", "The largest rank that a matrix of these places can have.", _PAIRS,
    "int(structural_rank(a))\n    2",
)  # fmt: skip

_ABSENT = {
    "csgraph_from_dense csgraph_from_masked csgraph_masked_from_dense":
        "Take xcore.sparse.from_dense, which leaves out zeros.",
    "csgraph_to_dense csgraph_to_masked": "Take A.todense().",
}  # fmt: skip
__getattr__ = guide(__name__, _ABSENT, borrowed="NegativeCycleError")
__all__ = [
    "bellman_ford", "breadth_first_order", "breadth_first_tree", "connected_components", "depth_first_order",
    "depth_first_tree", "dijkstra", "floyd_warshall", "johnson", "laplacian", "maximum_bipartite_matching",
    "maximum_flow", "MaximumFlow", "min_weight_full_bipartite_matching", "minimum_spanning_tree", "reconstruct_path",
    "reverse_cuthill_mckee", "shortest_path", "structural_rank", "yen",
]  # fmt: skip
