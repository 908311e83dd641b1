"""Graphs under SciPy's names: functions of ``xcore.sparse``, which work on the host."""

from ...sparse import connected_components, dijkstra, laplacian, minimum_spanning_tree
from .._names import guide

_ABSENT = {
    "shortest_path floyd_warshall bellman_ford johnson": "Take dijkstra, or on the host scipy.sparse.csgraph.",
    "breadth_first_order depth_first_order maximum_flow reverse_cuthill_mckee maximum_bipartite_matching":
        "It works on the host: scipy.sparse.csgraph takes a.to_scipy().",
}  # fmt: skip
__getattr__ = guide(__name__, _ABSENT)
__all__ = ["connected_components", "dijkstra", "laplacian", "minimum_spanning_tree"]
