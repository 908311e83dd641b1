"""The smallest eigenmodes by multigrid: found on a coarse grid, improved on each finer one.

On every level A u = w M u; M holds volumes, summed up as residuals are. Vectors are kept as M^½ u,
orthonormal, a few more than are wanted. A step of LOBPCG takes the best ones in the space of all
vectors, of corrections z to those that are wanted, and of their last changes. (Knyazev 2001) One
cycle gives the corrections,

    (A - w M) z ≈ A u - w M u,

with the shift on all levels. On the coarsest grid all modes are known: the first ones are left out,
and the others are divided by their distance to the one that is corrected. So neighbours of a mode
do not slow it down, as they do where a cycle for A stands in place of that for A - w M.
(Knyazev and Neymeyr 2003, "Efficient solution of symmetric eigenvalue problems using multigrid
preconditioners in the locally optimal block conjugate gradient method"; Sleijpen and van der Vorst
1996, "A Jacobi–Davidson iteration method for linear eigenvalue problems")
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import vmap
from .._core import dtypes, static, struct, tree, typeof
from .._iterate import iterate
from ._grid import size
from ._multigrid import Level, cycle, levels, prolong, restrict

_DENSE_UP_TO = 1000  # unknowns of the grid on which all modes are found
_MAX_STEPS = 60


def vectors_for(k: int, n: int) -> int:
    """How many vectors are kept for k modes among n."""
    return min(k + 2 + k // 3, n // 2)


def coarsest_for(level: Level, k: int) -> int | None:
    """The index of the level to start on: the coarsest with enough nodes for the modes."""
    sizes = [size(x.shape) for x in levels(level)]
    enough = [i for i, n in enumerate(sizes) if n >= min(8 * vectors_for(k, n), sizes[0])]
    return enough[-1] if sizes[enough[-1]] <= _DENSE_UP_TO else None


def search(
    level: Level,
    weights,
    k: int,
    first: int,
    dtype,
    smoother: str,
    rtol: float,
    history=False,
    progress=False,
):
    """(modes (k, ...) orthonormal as M^½ u, estimated errors (k,), steps on the finest level, the history of
    the errors or None), from the level numbered ``first`` up."""
    parts, roots = levels(level)[: first + 1], _roots(level, weights)[: first + 1]
    m = vectors_for(k, size(parts[-1].shape))
    low = np.float32 if dtype == np.float64 else dtype
    wc, vc = _all_modes(parts[-1], roots[-1])
    gaps = xnp.maximum(wc - wc[:m, None], 0.01 * wc)
    factors = xnp.where(np.arange(typeof(wc).shape[0]) < m, 0, 1 / gaps)
    fields = (vc[:, :m].T / roots[-1].reshape(-1)).reshape(m, *parts[-1].shape)
    for i in range(first, -1, -1):
        if i < first:
            fields = vmap(lambda u, i=i: prolong(parts[i], u))(fields)
        cut = _cut_off(parts[i:])
        state = _Search(
            *_in(dtype, (cut.replace(coarse=None, inverse=None), roots[i])),
            *_in(low, (cut, roots[i:], vc, factors)),
            rtol, min(k + 1, m) if i == 0 else m, k, smoother,
        )  # fmt: skip
        found = state.begin((_filled(fields, cut) * roots[i]).astype(dtype))
        if i:
            found = state.step(found)
        else:
            row = (lambda s: s["size"][:k]) if history else None
            found, steps, rows = iterate(state, found, _MAX_STEPS, row=row, progress=progress)
        fields = found["x"] / roots[i]
    return found["x"][:k], found["size"][:k], steps, rows


def _in(dtype, x):
    """The arrays of a tree in another precision."""
    cast = lambda x: x.astype(dtype) if dtypes.is_inexact(x.dtype) else x  # noqa: E731
    return tree.map(lambda x: cast(xnp.asarray(x)), x)


def _cut_off(parts: list) -> Level:
    """The first of these levels, with the others below it and nothing below them."""
    below = None if len(parts) == 1 else _cut_off(parts[1:])
    return parts[0].replace(coarse=below, inverse=None)


def _filled(fields, level: Level):
    """Irregular numbers in place of fields that vanish: a coarse grid may miss parts of a mask."""
    shape = typeof(fields).shape
    numbers = np.sin(1.0 + np.arange(size(shape)) ** 2 % 1e6).reshape(shape)
    numbers = numbers if level.inside is None else xnp.where(level.inside, numbers, 0)
    zero = xnp.max(xnp.abs(fields), axis=tuple(range(1, len(shape))), keepdims=True) == 0
    return xnp.where(zero, numbers, fields)


def _roots(level: Level, weights) -> list:
    """M^½ on all levels; at nodes outside so that they look like the roughest modes."""
    found, mass = [], weights
    for part in levels(level):
        root = xnp.sqrt(mass)
        if part.inside is not None:
            rough = xnp.max(xnp.where(part.inside, part.diagonal / mass, 0))
            root = xnp.where(part.inside, root, xnp.sqrt(part.diagonal / rough))
        found.append(root)
        mass = None if part.coarse is None else restrict(part, mass)
    return found


def _all_modes(level: Level, root):
    """(w, v): all eigenvalues and vectors of M^-½ A M^-½. In double precision: where a boundary
    nearly touches a node, the largest eigenvalue is 1e7 times the smallest."""
    level, root = _in(np.float64, (level.replace(coarse=None, inverse=None), root))
    n = size(level.shape)
    units = xnp.eye(n, dtype=np.float64).reshape(n, *level.shape)
    return xnp.linalg.eigh((vmap(level)(units / root) / root).reshape(n, n))


@struct
class _Spectrum:
    """What stands in place of a dense inverse: v diag(factors) vᵀ between M^½."""

    v: Any
    root: Any
    factors: Any

    def __matmul__(self, b):
        root = self.root.reshape(-1)
        return (self.v @ (self.factors * ((b / root) @ self.v))) / root


def _moved(level: Level, roots, w, end: _Spectrum) -> Level:
    """The levels of A - w M."""
    if level.coarse is None:
        return level.replace(inverse=end)
    coarse, by = _moved(level.coarse, roots[1:], w, end), w * roots[0] ** 2
    if level.stencil is None:
        return level.replace(coarse=coarse, sinks=level.sinks - by)
    middle = len(level.stencil) // 2
    parts = [x - by if i == middle else x for i, x in enumerate(level.stencil)]
    return level.replace(coarse=coarse, stencil=tuple(parts))


@struct
class _Search:
    """The search on one level: what ``iterate`` drives.

    Attributes:
      level, root: the operator and M^½.
      near, roots: the levels for cycles, in lower precision, and M^½ on them.
      v, factors: of the coarsest of them: all modes, and for each vector what multiplies them.
      rtol: tolerance for the size of corrections to vectors of norm 1.
      k: so many vectors are corrected.
      wanted: so many of them have to reach the tolerance; the next one only what shows that it is no
        mode that is wanted.
    """

    level: Any
    root: Any
    near: Any
    roots: Any
    v: Any
    factors: Any
    rtol: float = static()
    k: int = static()
    wanted: int = static()
    smoother: str = static()

    def done(self, s):
        size = s["size"][: self.wanted]
        return ((size <= self.rtol) & s["apart"]) | ~xnp.isfinite(size)

    def begin(self, x):
        return self._best(x, self._images(x), typeof(x).shape[0], typeof(x).shape[0])

    def step(self, s):
        m = typeof(s["x"]).shape[0]
        rows = xnp.concatenate([s["x"], s["z"], s["p"]])
        images = xnp.concatenate([s["image"], self._images(rows[m : m + self.k]), s["p image"]])
        return self._best(rows, images, m, m)

    def _images(self, x):
        return vmap(self.level)(x / self.root) / self.root

    def _best(self, rows, images, m: int, old: int):
        """The state for the best m vectors in a space that begins with the ``old`` ones."""
        w, c, gram = _smallest(rows, images, m)
        # changes are what does not come from the old vectors, without a part in the new ones
        p = c[:, : self.k] * (np.arange(typeof(c).shape[0]) >= (old))[:, None]
        both = xnp.concatenate([c, p - c @ (c.T @ (gram @ p))], axis=1)
        mixed, image = (xnp.tensordot(both, y, axes=(0, 0)) for y in (rows, images))
        x, image, p_image = mixed[:m], image[:m], image[m:]
        r = image[: self.k] - w[: self.k].reshape(-1, *(1,) * len(self.level.shape)) * x[: self.k]
        z = self._corrections(x, r, w)
        square, gain = (xnp.sum(z * y, axis=tuple(range(1, typeof(z).ndim))) for y in (z, r))
        return {
            "x": x, "image": image, "p": mixed[m:], "p image": p_image, "w": w, "z": z,
            "size": xnp.sqrt(square), "apart": self._apart(w, gain),
        }  # fmt: skip

    def _apart(self, w, gain):
        """Whether the first vector beyond those that are wanted stays there: its correction takes
        about ``gain`` from its eigenvalue. A coarse grid may not see which of two is smaller."""
        n = self.wanted
        if self.k == n:
            return xnp.ones((), bool)
        gain = xnp.abs(gain[n])
        return (w[n] - 4 * gain > w[n - 1]) | (gain <= 0.1 * self.rtol * w[n])

    def _corrections(self, x, r, w):
        """By one cycle each, without their parts in the space of the vectors."""
        k, kind = self.k, typeof(self.roots[0]).dtype
        z = vmap(self._cycle)((r * self.root).astype(kind), w[:k].astype(kind), self.factors[:k])
        z = z.astype(typeof(x).dtype) * self.root
        flat, z = x.reshape(typeof(x).shape[0], -1), z.reshape(k, -1)
        return (z - (z @ flat.T) @ flat).reshape(k, *self.level.shape)

    def _cycle(self, r, w, factors):
        end = _Spectrum(self.v, self.roots[-1], factors)
        return cycle(_moved(self.near, self.roots, w, end), r, "V", self.smoother, 3)


def _smallest(rows, images, m: int):
    """(w, c, gram): the m smallest eigenvalues in the space of rows, coefficients of the vectors.

    Rows may depend on each other: directions that are nothing but rounding are left out. (Stathopoulos
    and Wu 2002, "A block orthogonalization procedure with constant synchronization requirements")
    """
    rows, images = (x.reshape(typeof(x).shape[0], -1) for x in (rows, images))
    n, eps = typeof(rows).shape[0], float(dtypes.finfo(typeof(rows).dtype).eps)
    gram, inner = rows @ rows.T, rows @ images.T
    square = xnp.diagonal(gram)
    scale = xnp.where(square > 0, 1 / xnp.sqrt(xnp.where(square > 0, square, 1)), 0)
    sizes, u = xnp.linalg.eigh(gram * scale * scale[:, None])
    good = sizes > 10 * n * eps
    turn = scale[:, None] * u * xnp.where(good, 1 / xnp.sqrt(xnp.where(good, sizes, 1)), 0)
    inner = turn.T @ ((inner + inner.T) / 2) @ turn
    beyond = 2 * xnp.max(xnp.sum(xnp.abs(inner), axis=1)) + 1
    w, y = xnp.linalg.eigh(inner + xnp.diag(xnp.where(good, 0, beyond)))
    return w[:m], turn @ y[:, :m], gram
