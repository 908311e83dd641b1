"""``scipy.spatial.transform``: rotations in three dimensions, and paths between them.

A rotation is a unit quaternion (x, y, z, w), as SciPy orders it; q and -q are the same one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import numpy as _xnp
from ... import random as _random
from ..._control import stop_gradient as _stop_gradient
from ..._core import Array as _Array
from ..._core import Index as _Index
from ..._core import Key as _Key
from ..._core import Tracer as _Tracer
from ..._core import errors as _errors
from ..._core.struct import struct as _struct
from ..._core.types import typeof as _typeof
from ..._core.typing import ArrayLike as _ArrayLike
from ..._width import are_plain as _are_plain
from .._names import guide as _guide

__all__ = ["Rotation", "Slerp"]


def _vectors(name: str, x: Any, size: int, who: str) -> _Array:
    """Floating vectors along the last axis."""
    x = _xnp.asarray(x)
    x = x if _xnp.issubdtype(x.dtype, _xnp.inexact) else x.astype(float)
    if not _typeof(x).ndim or _typeof(x).shape[-1] != size:
        raise _errors.shape_mismatch(
            f"scipy.spatial.transform.{who}",
            f"needs {size} numbers along its last axis",
            **{name: x},
        )
    return x


def _product(p: _Array, q: _Array) -> _Array:
    """The quaternion of "first q, then p"."""
    u, a, v, b = p[..., :3], p[..., 3:], q[..., :3], q[..., 3:]
    vector = a * v + b * u + _xnp.cross(u, v)
    return _xnp.concatenate([vector, a * b - _xnp.sum(u * v, -1, keepdims=True)], -1)


def _series(x: _Array, terms: list[float]) -> _Array:
    total = _xnp.full_like(x, terms[-1])
    for term in terms[-2::-1]:
        total = total * x + term
    return total


_SINE = [(-1) ** k / (2 ** (2 * k + 1) * math.factorial(2 * k + 1)) for k in range(9)]
_COSINE = [(-1) ** k / (2 ** (2 * k) * math.factorial(2 * k)) for k in range(9)]
_ARCTAN = [2 * (-1) ** k / (2 * k + 1) for k in range(9)]


def _half_angle(square: _Array) -> tuple[_Array, _Array]:
    """(sin(a / 2) / a, cos(a / 2)) of a², smooth where it is 0: near that by their series."""
    near = square < 0.25
    angle = _xnp.sqrt(_xnp.where(near, 1, square))
    small = _xnp.where(near, square, 0)
    return (
        _xnp.where(near, _series(small, _SINE), _xnp.sin(angle / 2) / angle),
        _xnp.where(near, _series(small, _COSINE), _xnp.cos(angle / 2)),
    )


def _angle_by_sine(square: _Array, cosine: _Array) -> _Array:
    """a / sin(a / 2) of the square of that sine and of cos(a / 2) >= 0, smooth where the sine is 0."""
    near = square < 0.01 * cosine * cosine
    divisor = _xnp.where(near, cosine, 1)
    tangent = _xnp.where(near, square, 0) / (divisor * divisor)
    sine = _xnp.sqrt(_xnp.where(near, 1, square))
    return _xnp.where(
        near, _series(tangent, _ARCTAN) / divisor, 2 * _xnp.arctan2(sine, cosine) / sine
    )


def _unit(q: _Array) -> _Array:
    return q / _xnp.linalg.norm(q, axis=-1, keepdims=True)


def _length(v: _Array) -> _Array:
    """The norm along the last axis, with derivative 0 at 0."""
    square = _xnp.sum(v * v, -1)
    moves = square > 0
    return _xnp.where(moves, _xnp.sqrt(_xnp.where(moves, square, 1)), 0)


# The element of a matrix that is the largest of its diagonal, or its trace, says which of the four
# components of the quaternion is large; the others follow by division by it (Shepperd 1978).
def _of_matrix(m: _Array) -> _Array:
    d = _xnp.diagonal(m, axis1=-2, axis2=-1)
    trace = _xnp.sum(d, -1, keepdims=True)
    off = lambda i, j: m[..., i, j]  # noqa: E731
    skew = _xnp.stack([off(2, 1) - off(1, 2), off(0, 2) - off(2, 0), off(1, 0) - off(0, 1)], -1)
    rows = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        row: list[Any] = [None] * 4
        row[i], row[3] = 1 - trace[..., 0] + 2 * d[..., i], skew[..., i]
        row[j], row[k] = off(j, i) + off(i, j), off(k, i) + off(i, k)
        rows.append(_xnp.stack(row, -1))
    rows.append(_xnp.concatenate([skew, 1 + trace], -1))
    which = _xnp.argmax(_xnp.concatenate([d, trace], -1), -1)
    chosen = _xnp.take_along_axis(_xnp.stack(rows, -2), which[..., None, None], axis=-2)[..., 0, :]
    return _unit(chosen)


def _axes(seq: str, who: str) -> tuple[str, bool]:
    """The axes of Euler angles as small letters, and whether they turn with the body."""
    small = seq.lower()
    mixed = seq not in (small, seq.upper())
    repeats = any(2 * a in small for a in "xyz")
    if mixed or repeats or not 1 <= len(seq) <= 3 or set(small) - set("xyz"):
        raise _errors.bad_argument(
            f"scipy.spatial.transform.Rotation.{who}", "seq", seq,
            "1 to 3 of the letters xyz (fixed axes) or XYZ (axes that turn), none twice in a row",
        )  # fmt: skip
    return small, seq != small


@_struct
class Rotation:
    """Rotations of three-dimensional space, one or an array of them.

    >>> import xcore.numpy as xnp
    >>> from xcore.scipy.spatial.transform import Rotation
    >>> quarter = Rotation.from_euler("z", 90, degrees=True)
    >>> print(quarter.apply(xnp.asarray([1.0, 0.0, 0.0])).round(3))
    [0. 1. 0.]
    >>> print((quarter * quarter).as_rotvec(degrees=True).round(1))
    [  0.   0. 180.]
    """

    quat: _Array

    # Made of other descriptions

    @classmethod
    def from_quat(cls, quat: _ArrayLike, *, scalar_first: bool = False) -> Rotation:
        """Of quaternions (x, y, z, w), which need not be of length 1; known ones of length 0 are refused."""
        q = _vectors("quat", quat, 4, "Rotation.from_quat")
        if type(q) is _Array and not bool(_xnp.all(_xnp.any(q != 0, -1))):
            raise _errors.bad_argument(
                "scipy.spatial.transform.Rotation.from_quat", "quat", q, "of a length that is not 0"
            )
        size = _xnp.max(_xnp.abs(q), axis=-1, keepdims=True)
        q = q / _stop_gradient(_xnp.where((size > 0) & (size < _xnp.inf), size, 1))
        return cls(_unit(_xnp.roll(q, -1, -1) if scalar_first else q))

    @classmethod
    def from_matrix(cls, matrix: _ArrayLike) -> Rotation:
        """Of orthogonal matrices of determinant 1; known ones that are not, by more than 1e-3, are refused."""
        m = _vectors("matrix", matrix, 3, "Rotation.from_matrix")
        if _typeof(m).shape[-2:] != (3, 3):
            raise _errors.shape_mismatch(
                "scipy.spatial.transform.Rotation.from_matrix", "needs 3 by 3 numbers", matrix=m
            )
        if type(m) is _Array and m.size:
            off = _xnp.abs(m.mT @ m - np.eye(3)).max(axis=(-2, -1))
            if bool(_xnp.any((off > 1e-3) | (_xnp.linalg.det(m) <= 0))):
                raise _errors.bad_argument(
                    "scipy.spatial.transform.Rotation.from_matrix", "matrix", m, "orthogonal, of determinant 1",
                    "The nearest rotation is u @ vh of u, s, vh = xnp.linalg.svd(m), for det(m) > 0.",
                )  # fmt: skip
        return cls(_of_matrix(m))

    @classmethod
    def from_rotvec(cls, rotvec: _ArrayLike, degrees: bool = False) -> Rotation:
        """Of vectors along the axis, as long as the angle."""
        v = _vectors("rotvec", rotvec, 3, "Rotation.from_rotvec")
        v = _xnp.deg2rad(v) if degrees else v
        sine, cosine = _half_angle(_xnp.sum(v * v, -1, keepdims=True))
        return cls(_xnp.concatenate([sine * v, cosine], -1))

    @classmethod
    def from_mrp(cls, mrp: _ArrayLike) -> Rotation:
        """Of modified Rodrigues parameters, vectors along the axis of length tan(angle / 4)."""
        v = _vectors("mrp", mrp, 3, "Rotation.from_mrp")
        square = _xnp.sum(v * v, -1, keepdims=True)
        return cls(_xnp.concatenate([2 * v, 1 - square], -1) / (1 + square))

    @classmethod
    def from_euler(cls, seq: str, angles: _ArrayLike, degrees: bool = False) -> Rotation:
        """Of angles about up to three axes, one after the other.

        Args:
          seq: the axes: of "xyz" fixed ones, of "XYZ" those that turn with the body.
          angles: an angle for each axis along the last axis; of a single axis a number too.
          degrees: whether they are in degrees.
        """
        axes, turning = _axes(seq, "from_euler")
        angles = _xnp.asarray(angles)
        angles = angles if _xnp.issubdtype(angles.dtype, _xnp.inexact) else angles.astype(float)
        if len(seq) == 1 and (not _typeof(angles).ndim or _typeof(angles).shape[-1] != 1):
            angles = angles[..., None]
        angles = _vectors("angles", angles, len(seq), "Rotation.from_euler")
        half = (_xnp.deg2rad(angles) if degrees else angles) / 2
        found = None
        for i, axis in enumerate(axes):
            unit = (_xnp.arange(3) == "xyz".index(axis)).astype(half.dtype)
            c, s = _xnp.cos(half[..., i, None]), _xnp.sin(half[..., i, None])
            one = _xnp.concatenate([s * unit, c], -1)
            found = one if found is None else _product(*((found, one) if turning else (one, found)))
        assert found is not None
        return cls(found)

    @classmethod
    def identity(cls, num: int | None = None, dtype: Any = float) -> Rotation:
        """The rotation that moves nothing, or ``num`` of them."""
        shape = (4,) if num is None else (num, 4)
        return cls(_xnp.zeros(shape, dtype).at[..., 3].set(1))

    @classmethod
    def random(cls, random_key: _Key, num: int | None = None) -> Rotation:
        """Rotations drawn evenly from all."""
        return cls.from_quat(_random.normal(random_key, (4,) if num is None else (num, 4)))

    @classmethod
    def concatenate(cls, rotations: Sequence[Rotation]) -> Rotation:
        """Several arrays of rotations one behind the other."""
        return cls(_xnp.concatenate([_xnp.atleast_2d(r.quat) for r in rotations]))

    # As other descriptions

    def as_quat(self, canonical: bool = False, scalar_first: bool = False) -> _Array:
        """Quaternions (x, y, z, w).

        Args:
          canonical: of both signs take that where the first of w, x, y, z that is not 0 is positive.
          scalar_first: give (w, x, y, z).
        """
        q = self.quat
        if canonical:
            x, y, z, w = (q[..., i] for i in range(4))
            leads = _xnp.where(w != 0, w, _xnp.where(x != 0, x, _xnp.where(y != 0, y, z)))
            q = _xnp.where(leads[..., None] < 0, -q, q)
        return _xnp.roll(q, 1, -1) if scalar_first else q

    def as_matrix(self) -> _Array:
        """Orthogonal matrices."""
        x, y, z, w = (self.quat[..., i] for i in range(4))
        rows = [
            [x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), y * y - x * x - z * z + w * w, 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), z * z - x * x - y * y + w * w],
        ]
        return _xnp.stack([_xnp.stack(row, -1) for row in rows], -2)

    def as_rotvec(self, degrees: bool = False) -> _Array:
        """Vectors along the axis, as long as the angle, which is at most π."""
        q = _xnp.where(self.quat[..., 3:] < 0, -self.quat, self.quat)
        square = _xnp.sum(q[..., :3] ** 2, -1, keepdims=True)
        v = _angle_by_sine(square, q[..., 3:]) * q[..., :3]
        return _xnp.rad2deg(v) if degrees else v

    def as_mrp(self) -> _Array:
        """Modified Rodrigues parameters, of length at most 1."""
        q = _xnp.where(self.quat[..., 3:] < 0, -self.quat, self.quat)
        return q[..., :3] / (1 + q[..., 3:])

    # Bernardes, Viollet, Quaternion to Euler angles conversion: a direct, general and computationally
    # efficient method, PLoS ONE 17 (2022).
    def as_euler(self, seq: str, degrees: bool = False) -> _Array:
        """Angles about three axes, the second in [-π/2, π/2], or in [0, π] where the first axis is the last.

        Where the second angle is at an end only the sum or the difference of the others is known; the third is 0.

        Args:
          seq: three axes, as of ``from_euler``.
          degrees: whether to give degrees.
        """
        axes, turning = _axes(seq, "as_euler")
        if len(seq) != 3:
            raise _errors.bad_argument(
                "scipy.spatial.transform.Rotation.as_euler", "seq", seq, "three axes"
            )
        i, j, k = ("xyz".index(a) for a in (axes[::-1] if turning else axes))
        same = i == k
        k = 3 - i - j if same else k
        sign = (i - j) * (j - k) * (k - i) // 2
        x = [self.quat[..., n] for n in range(4)]
        parts = x[3], x[i], x[j], sign * x[k]
        a, b, c, d = parts if same else (
            parts[0] - parts[2], parts[1] + parts[3], parts[2] + parts[0], parts[3] - parts[1]
        )  # fmt: skip
        middle = 2 * _xnp.arctan2(_xnp.hypot(c, d), _xnp.hypot(a, b))
        total, gap = _xnp.arctan2(b, a), _xnp.arctan2(d, c)
        low, ends = middle <= 1e-7, (middle <= 1e-7) | (middle >= np.pi - 1e-7)
        alone = _xnp.where(low, 2 * total, 2 * gap * (1 if turning else -1))
        one, other = total - gap, (1 if same else sign) * (total + gap)
        first = _xnp.where(ends, (1 if same else sign) * alone, other) if turning else (
            _xnp.where(ends, alone, one)
        )  # fmt: skip
        third = _xnp.where(ends, 0, one if turning else other)
        middle = middle if same else middle - np.pi / 2
        angles = _xnp.stack([first, middle, third], -1)
        angles = (angles + np.pi) % (2 * np.pi) - np.pi
        return _xnp.rad2deg(angles) if degrees else angles

    # What is done with them

    def apply(self, vectors: _ArrayLike, inverse: bool = False) -> _Array:
        """Vectors turned; ``inverse`` turns back."""
        v = _vectors("vectors", vectors, 3, "Rotation.apply")
        m = self.as_matrix()
        return _xnp.einsum("...ji,...j->...i" if inverse else "...ij,...j->...i", m, v)

    def inv(self) -> Rotation:
        """The rotations back."""
        return Rotation(self.quat * np.asarray([-1, -1, -1, 1], self.quat.dtype))

    def magnitude(self) -> _Array:
        """Angles, in [0, π]."""
        return 2 * _xnp.arctan2(_length(self.quat[..., :3]), _xnp.abs(self.quat[..., 3]))

    def mean(self, weights: _ArrayLike | None = None) -> Rotation:
        """The rotation nearest to all, in the mean of squared distances of their matrices."""
        q = self.quat
        w = _xnp.ones(q.shape[:-1], q.dtype) if weights is None else _xnp.asarray(weights, q.dtype)
        moments = _xnp.einsum("...n,...ni,...nj->...ij", w, q, q)
        return Rotation(_xnp.linalg.eigh(moments)[1][..., -1])

    @property
    def single(self) -> bool:
        """Whether it is one rotation, not an array of them."""
        return self.quat.ndim == 1

    def __mul__(self, other: Rotation) -> Rotation:
        """First the other rotation, then this one."""
        return Rotation(_product(self.quat, other.quat))

    def __pow__(self, n: Any) -> Rotation:
        """The rotation about the same axis by n times the angle."""
        return Rotation.from_rotvec(n * self.as_rotvec())

    def __len__(self) -> int:
        if self.single:
            raise TypeError(
                "xcore.scipy.spatial.transform.Rotation: a single rotation has no length."
            )
        return self.quat.shape[0]

    def __getitem__(self, index: _Index) -> Rotation:
        if self.single:
            raise TypeError(
                "xcore.scipy.spatial.transform.Rotation: a single rotation has no parts."
            )
        return Rotation(self.quat[index])


@_struct
class Slerp:
    """The path from rotation to rotation on which each turn is even.

    >>> from xcore.scipy.spatial.transform import Rotation, Slerp
    >>> path = Slerp([0.0, 1.0], Rotation.from_euler("z", [0.0, 90.0], degrees=True))
    >>> print(path(0.5).as_euler("xyz", degrees=True).round(3))
    [ 0.  0. 45.]
    """

    times: _ArrayLike
    rotations: Rotation

    @classmethod
    def init(cls, times: _ArrayLike, rotations: Rotation) -> Slerp:
        """What JAX makes it by."""
        return cls(times if _are_plain(times) else _xnp.asarray(times), rotations)

    def __call__(self, times: _ArrayLike) -> Rotation:
        """The rotations at some times between the first and the last."""
        kind = _typeof(self.rotations.as_quat()).dtype
        known, times = (
            _xnp.asarray(t, kind) if _are_plain(t) else _xnp.asarray(t) for t in (self.times, times)
        )
        if len(self.rotations) != known.shape[0] or known.shape[0] < 2:
            raise _errors.shape_mismatch(
                "scipy.spatial.transform.Slerp",
                "need two or more, as many as rotations",
                times=known,
            )
        self._check(known, times)
        i = _xnp.clip(_xnp.searchsorted(known, times, side="right") - 1, 0, known.shape[0] - 2)
        part = ((times - known[i]) / (known[i + 1] - known[i]))[..., None]
        start = self.rotations[i]
        turn = (start.inv() * self.rotations[i + 1]).as_rotvec()
        return start * Rotation.from_rotvec(part * turn)

    def _check(self, known: _Array, times: _Array) -> None:
        """Errors for times that are known and cannot be right."""
        if isinstance(known, _Tracer):
            return
        who, t = "scipy.spatial.transform.Slerp", np.asarray(known)
        if not (t[1:] > t[:-1]).all():
            raise _errors.bad_argument(who, "times", self.times, "numbers that rise")
        at = None if isinstance(times, _Tracer) else np.asarray(times)
        if at is not None and ((at < t[0]) | (at > t[-1])).any():
            need = f"numbers from {t[0]} to {t[-1]}, between which the rotations are known"
            raise _errors.bad_argument(who, "times", times, need)


__getattr__ = _guide(__name__)
