"""Conditions on the faces of a box."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import Value, dtypes, errors, static, struct, typeof
from ._grid import Grid, evaluated


@struct
class Dirichlet:
    """The solution is given on the face: u = value.

    Attributes:
      value: a number, an array that broadcasts to the nodes of the face, or a function of the
        coordinates there.

    >>> from xcore import pde
    >>> pde.poisson(0.0, pde.Grid(4), [(pde.Dirichlet(1.0), pde.Dirichlet(2.0))]).round(2)
    Array([1.25, 1.5 , 1.75], dtype=float32)
    """

    value: Any = 0.0

    @property
    def kind(self):
        return (1.0, 0.0)


@struct
class Neumann:
    """The derivative along the outward normal is given: ∂u/∂n = value.

    >>> from xcore import pde
    >>> pde.poisson(0.0, pde.Grid(4), [(pde.Dirichlet(1.0), pde.Neumann(2.0))]).round(2)
    Array([1.5, 2. , 2.5, 3. ], dtype=float32)
    """

    value: Any = 0.0

    @property
    def kind(self):
        return (0.0, 1.0)


@struct
class Robin:
    """A combination is given: alpha u + beta ∂u/∂n = value; alpha >= 0 and beta > 0.

    Attributes:
      alpha, beta: numbers, which are part of the program. In ``Diffusion`` also arrays, functions of the coordinates
        of the face, or what is traced: coefficients that vary along the face, and derivatives by them.
      value: as in ``Dirichlet``.
      leak: alpha / beta where they are more than numbers; alpha, beta and value are 0, 1 and value / beta then.

    >>> import xcore as xc
    >>> from xcore import pde
    >>> wall = lambda alpha: [(pde.Dirichlet(1.0), pde.Robin(alpha, 1.0, 3.0))]
    >>> pde.poisson(0.0, pde.Grid(4), wall(1.0)).round(2)
    Array([1.25, 1.5 , 1.75, 2.  ], dtype=float32)
    >>> end = lambda alpha: pde.solve(pde.Diffusion(pde.Grid(4), 1.0, wall(alpha)), 0.0)[-1]
    >>> round(float(xc.grad(end)(1.0)), 3)  # of (1 + 3) / (1 + alpha)
    -1.0
    """

    alpha: Any = static(default=1.0)
    beta: Any = static(default=1.0)
    value: Any = 0.0
    leak: Any = None

    def __post_init__(self):
        coefficients = {"alpha": self.alpha, "beta": self.beta}
        for name, given in coefficients.items():
            _check_coefficient(name, given)
        if not all(map(_is_number, coefficients.values())):
            for name, x in (("leak", self.alpha), ("value", self.value)):
                object.__setattr__(self, name, _quotient(x, self.beta))
            object.__setattr__(self, "alpha", 0.0)
            return object.__setattr__(self, "beta", 1.0)
        if not (0 <= self.alpha < np.inf and 0 < self.beta < np.inf):
            advice = "beta = 0 is Dirichlet; a negative alpha gives energy to the solution."
            given = (self.alpha, self.beta)
            raise errors.bad_argument(
                "pde.Robin", "(alpha, beta)", given, "alpha >= 0 and beta > 0", advice
            )

    @property
    def kind(self):
        if self.leak is not None:
            given = errors.Words("an array, a function or a traced number")
            advice = "pde.Diffusion takes those, on boxes of any coordinates; with a = 1 it is the Laplace operator."
            raise errors.bad_argument("pde.Robin", "alpha", given, "one Python number here", advice)
        return (float(self.alpha), float(self.beta))


def _is_number(x) -> bool:
    return isinstance(x, (int, float, np.number)) and np.isrealobj(x)


def _check_coefficient(name: str, given) -> None:
    """A real number, an array of them, or a function."""
    if callable(given) or _is_number(given):
        return
    kind = typeof(given).dtype if isinstance(given, (Value, np.ndarray)) else None
    if kind is None or dtypes.is_complex(kind):
        want = "real: a number, an array or a function of the coordinates of the face"
        advice = "For waves that leave the box there is pde.OpenHelmholtz."
        raise errors.bad_argument("pde.Robin", name, given, want, advice)


def _quotient(x, y):
    """x / y of arrays and functions."""
    if callable(x) or callable(y):
        known = lambda v, at: evaluated("pde.Robin", "a coefficient", v, at) if callable(v) else v  # noqa: E731
        return lambda *at: _quotient(known(x, at), known(y, at))
    return xnp.asarray(x) / xnp.asarray(y)


@struct
class Periodic:
    """The axis is periodic: both of its faces are one. Its last node is not an unknown.

    >>> import xcore.numpy as xnp
    >>> from xcore import pde
    >>> ring = pde.Laplacian(pde.Grid(4), pde.Periodic())
    >>> ring(xnp.array([0.0, 1.0, 0.0, -1.0]))
    Array([  0., -32.,   0.,  32.], dtype=float32)
    """

    @property
    def kind(self):
        return None


ZERO = Dirichlet()
CONDITIONS = (Dirichlet, Neumann, Robin, Periodic)


def resolve(who: str, grid: Grid, bc, *more, leaks: bool = False) -> tuple:
    """For each axis the pair of conditions (low, high), functions replaced by their values.

    Args:
      bc: one condition for all faces, or for each axis one or a pair (low, high).
      more: further arguments for functions, behind the coordinates, say the time.
      leaks: whether ``Robin`` may have coefficients that are more than numbers.
    """
    per_axis = [bc] * grid.ndim if isinstance(bc, CONDITIONS) else _listed(who, grid, bc)
    pairs = [(b, b) if isinstance(b, CONDITIONS) else b for b in per_axis]
    for pair in pairs:
        listed = isinstance(pair, (tuple, list)) and len(pair) == 2
        if not listed or not all(isinstance(b, CONDITIONS) for b in pair):
            raise errors.bad_argument(who, "faces", bc, _EXPECTED)
        if isinstance(pair[0], Periodic) != isinstance(pair[1], Periodic):
            raise errors.bad_argument(
                who, "faces", pair, "Periodic on both faces of an axis or none"
            )
        _ = leaks or [b.kind for b in pair]
    return tuple(
        tuple(_evaluated(who, grid, axis, side, pairs, more) for side in (0, 1))
        for axis in range(grid.ndim)
    )


_EXPECTED = "a condition (pde.Dirichlet(0.0), pde.Neumann(), …), or for each axis one or a pair (low, high) of them"


def _listed(who, grid, bc) -> list:
    if not isinstance(bc, (tuple, list)) or len(bc) != grid.ndim:
        advice = "On one axis a pair stands in a list: [(low, high)]." * (grid.ndim == 1)
        raise errors.bad_argument(
            who, "faces", bc, f"{_EXPECTED}, here {grid.ndim} of them", advice
        )
    return list(bc)


def _evaluated(who, grid, axis, side, pairs, more):
    condition = pairs[axis][side]
    if isinstance(condition, Periodic):
        return condition
    names = ("value", "leak") if getattr(condition, "leak", None) is not None else ("value",)
    values = {name: _on_face(who, grid, axis, side, pairs, more, name) for name in names}
    return condition.replace(**values)


def _on_face(who, grid, axis, side, pairs, more, name: str):
    """The data of a condition, functions replaced by what they are on the face."""
    value, shape = getattr(pairs[axis][side], name), face_shape(grid, axis, pairs)
    if type(value) in (int, float, complex):
        return value
    if callable(value):
        points = _face_points(grid, axis, side, pairs)
        value = evaluated(who, "data on a face", value, points, more)
    given = xnp.asarray(value)
    try:
        fits = np.broadcast_shapes(given.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        where = f"on face {'low' if side == 0 else 'high'} of axis {axis}"
        raise errors.shape_mismatch(who, f"need values {shape} {where}", **{name: given})
    return value


def nodes_of(grid: Grid, axis: int, pairs) -> int:
    """How many nodes an axis has; the last one of a periodic axis is its first."""
    return grid.shape[axis] - (isinstance(pairs[axis][0], Periodic) and not grid.centred)


def face_shape(grid: Grid, axis: int, pairs) -> tuple[int, ...]:
    """The nodes of a face, one axis less than the grid has."""
    return tuple(nodes_of(grid, i, pairs) for i in range(grid.ndim) if i != axis)


def _face_points(grid, axis, side, pairs) -> list:
    lines = [grid.nodes(i)[: nodes_of(grid, i, pairs)] for i in range(grid.ndim)]
    lines[axis] = grid.corners(axis)[[0 if side == 0 else -1]]
    points = [xnp.asarray(x) for x in np.meshgrid(*lines, indexing="ij")]
    return [xnp.squeeze(x, axis) for x in points]


def face_values(condition, shape, dtype):
    """The data of a condition at all nodes of its face."""
    value = as_dtype("pde", "data on a face", xnp.asarray(condition.value), dtype)
    return xnp.broadcast_to(value, shape)


def fewer(condition):
    """A condition with the data at every second node of its face."""
    if not hasattr(condition, "value"):
        return condition
    value = xnp.asarray(condition.value)
    keep = [slice(None) if n == 1 else slice(None, None, 2) for n in value.shape]
    return condition.replace(value=value[tuple(keep)])


def as_dtype(who: str, name: str, x, dtype):
    """The array in a dtype that does not lose its imaginary part."""
    t = typeof(x)
    if dtypes.is_complex(t.dtype) and not dtypes.is_complex(dtype):
        advice = "Its imaginary part would be lost: make the field complex, or take xnp.real(...)."
        raise errors.bad_argument(who, name, x, f"real beside numbers of {np.dtype(dtype)}", advice)
    return x if t.dtype == dtype else x.astype(dtype)


def complex_if(dtype, *parts):
    """The dtype, made complex if one of the arrays or dtypes is."""
    wide = any(map(_is_complex, parts))
    return xnp.promote_types(dtype, np.complex64) if wide else np.dtype(dtype)


def _is_complex(x) -> bool:
    if isinstance(x, (int, float, complex)):
        return isinstance(x, complex)
    return dtypes.is_complex(x if isinstance(x, np.dtype) else typeof(xnp.asarray(x)).dtype)


def real_only(who: str, name: str, x) -> None:
    """Raises where a coefficient is complex."""
    if dtypes.is_complex(typeof(x).dtype):
        advice = "Data and fields may be complex, and q of a pde.Helmholtz."
        raise errors.bad_argument(who, name, x, "real", advice)
