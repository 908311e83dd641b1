"""``scipy.spatial``: rotations."""

from .._names import guide as _guide
from . import transform

__all__ = ["transform"]
_ABSENT = {
    "distance":
        "Of distances there is xcore.scipy.cluster.vq, else the norm of x[:, None] - y[None]; on the "
        "host, from scipy import spatial.",
    "cKDTree KDTree ConvexHull Delaunay Voronoi SphericalVoronoi HalfspaceIntersection Rectangle procrustes":
        "It works on the host: import it from scipy.spatial.",
}  # fmt: skip
__getattr__ = _guide(__name__, _ABSENT)
