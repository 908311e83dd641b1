"""Schur forms, ordered as one likes, and Hessenberg forms. By LAPACK, from a GPU on its host, and without derivatives.

A form is reordered, or made triangular, by rotations of two neighbouring rows and columns: with x of
norm 1, of two elements, the rotation (x₁ -x̄₂; x₂ x̄₁) makes an eigenvector x of a diagonal block its
first basis vector. (Golub and Van Loan 2013, "Matrix computations", section 7.6.2)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import fori_loop, vmap
from .._core import Array, ArrayLike, dtypes, errors, fused, one_of, typeof
from .._ops import adjoint, diagonal, part
from ._arguments import as_inexact, check_matrices, in_lapack_dtype, over_batch, product
from ._range import in_units


def _prepared(who: str, *xs) -> tuple:
    *xs, back = in_lapack_dtype(*as_inexact(who, *xs))
    check_matrices(who, square=True, a=xs[0])
    return (*xs, back)


def _complex(x):
    return x.astype(dtypes.to_complex(typeof(x).dtype))


# Rotations


def _eigenvector(block):
    """A unit eigenvector of a 2 × 2 block whose lower left element is not zero, else (1, 0).

    For an eigenvalue w it is (w - d, c), and w - d = (a - d) / 2 ± √((a - d)² / 4 + b c), whichever
    is larger.
    """
    _, block = in_units(block)  # its eigenvectors are the same
    a, b, c, d = (block[i, j] for i in (0, 1) for j in (0, 1))
    half = (a - d) / 2
    root = xnp.sqrt(half * half + b * c)
    root = xnp.where(xnp.abs(half - root) > xnp.abs(half + root), -root, root)
    x = xnp.stack([xnp.where(c == 0, 1, half + root), c])
    return x / xnp.sqrt((xnp.abs(x) ** 2).sum()).astype(typeof(x).dtype)


def _later_eigenvector(block):
    """The unit eigenvector of an upper triangular 2 × 2 block that belongs to its second eigenvalue."""
    _, block = in_units(block)
    x = xnp.stack([block[0, 1], block[1, 1] - block[0, 0]])
    size = xnp.sqrt((xnp.abs(x) ** 2).sum())
    other = xnp.asarray([0, 1], typeof(x).dtype)  # the two are equal, and the block is diagonal
    return xnp.where(size == 0, other, x / xnp.where(size == 0, 1, size).astype(typeof(x).dtype))


def _rotated(form, k, vector_of):
    """(t, z) where a vector of the block k, k + 1 of t has become its first basis vector."""
    t, z = form
    n = typeof(t).shape[-1]
    x = vector_of(ops.dynamic_slice(t, k, k, sizes=(2, 2)))
    turn = xnp.stack([xnp.stack([x[0], -xnp.conj(x[1])]), xnp.stack([x[1], xnp.conj(x[0])])])
    zero = xnp.zeros((), np.int32)
    rows = ops.dynamic_slice(t, k, zero, sizes=(2, n))
    t = ops.dynamic_update_slice(t, product(adjoint(turn), rows), k, zero)
    out = []
    for y in (t, z):
        pair = ops.dynamic_slice(y, zero, k, sizes=(typeof(y).shape[-2], 2))
        out.append(ops.dynamic_update_slice(y, product(pair, turn), zero, k))
    return tuple(out)


def _triangular(t, z):
    """The complex Schur form of one real one, from its last rows to its first."""
    n = typeof(t).shape[-1]

    def step(i, form):
        t, z = form
        k = (n - 2 - i).astype(np.int32)
        t, z = _rotated((t, z), k, _eigenvector)
        return t.at[k + 1, k].set(0), z

    return fori_loop(0, n - 1, step, (t, z)) if n > 1 else (t, z)


def _ordered(t, z, chosen):
    """A triangular Schur form whose chosen eigenvalues come first; the order is kept otherwise."""

    def move(i, state):
        form, done = state

        def swap(j, form):
            return _rotated(form, (i - 1 - j).astype(np.int32), _later_eigenvector)

        form = fori_loop(0, xnp.where(chosen[i], i - done, 0), swap, form)
        return form, done + chosen[i]

    start = ((t, z), xnp.zeros((), np.int32))
    (t, z), done = fori_loop(0, typeof(t).shape[-1], move, start)
    return part(t, ops.le), z, done


@fused(2)
def rsf2csf(t: ArrayLike, z: ArrayLike) -> tuple[Array, Array]:
    """(t, z): the triangular Schur form of the matrix whose real Schur form is given, z t zᴴ.

    Args:
      t: upper triangular matrices (..., n, n) but for 2 × 2 blocks on their diagonals.
      z: orthogonal matrices of the same shape.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> t, z = xc.linalg.rsf2csf(xnp.asarray([[1.0, -4.0], [1.0, 1.0]]), xnp.eye(2))
    >>> t[1, 0], xnp.round(xnp.diag(t), 4)
    (Array(0.+0.j, dtype=complex64), Array([1.+2.j, 1.-2.j], dtype=complex64))
    """
    t, z, _ = _prepared("linalg.rsf2csf", t, z)
    if typeof(t).shape != typeof(z).shape:
        raise errors.shape_mismatch("linalg.rsf2csf", "need one shape", t=t, z=z)
    t, z = over_batch(_triangular, _complex(t), _complex(z))
    return part(t, ops.le), z  # pyright: ignore[reportReturnType]


# Schur

_SORTS = {
    "lhp": lambda w: xnp.real(w) < 0,
    "rhp": lambda w: xnp.real(w) >= 0,
    "iuc": lambda w: xnp.abs(w) <= 1,
    "ouc": lambda w: xnp.abs(w) > 1,
}


@fused(1)
def _schur(a, output):
    a, back = _prepared("linalg.schur", a)
    return tuple(map(back, ops.schur(_complex(a) if output == "complex" else a)))


def _chosen_of(sort, w):
    """Which of these eigenvalues are wanted; a function sees one at a time."""
    if not callable(sort):
        return _SORTS[sort](w)
    if type(w) is Array:
        flat = [bool(sort(x)) for x in np.asarray(w).ravel().tolist()]
        return xnp.asarray(np.reshape(flat, np.shape(w)))
    each = lambda x: xnp.asarray(sort(x)).astype(bool)  # noqa: E731
    return vmap(each)(w.reshape(-1)).reshape(typeof(w).shape)


@fused(3)
def _sorted(t, z, chosen):
    if 0 in typeof(t).shape or typeof(t).shape[-1] == 1:
        return t, z, chosen.sum(-1, dtype=np.int32)
    each = _ordered
    for _ in typeof(chosen).shape[:-1]:
        each = vmap(each)
    return each(t, z, chosen)


def _real_sorted(a, t, z, sort):
    """The ordered real Schur form of one known matrix.

    The chosen eigenvalues' space has a real basis. In a basis that begins with it the matrix is block
    upper triangular, and each block has a Schur form of its own.
    """
    n = np.shape(t)[-1]
    wide, basis = rsf2csf(t, z)
    chosen = np.asarray(_chosen_of(sort, xnp.diagonal(wide)))
    pairs = np.diagonal(np.asarray(t), -1) != 0
    chosen = chosen | np.append(pairs, False)[:n] & np.roll(chosen, -1)
    chosen = chosen | np.append(False, pairs)[:n] & np.roll(chosen, 1)
    basis = _sorted(wide, basis, xnp.asarray(chosen))[1]
    k = int(chosen.sum())
    both = xnp.concatenate([basis[:, :k].real, basis[:, :k].imag], axis=-1)
    q = ops.svd(both, full=True, vectors=True)[1] if k else xnp.eye(n, dtype=np.asarray(t).dtype)
    inner = product(q.mT, product(a, q))
    (t1, z1), (t2, z2) = _schur(inner[:k, :k], "real"), _schur(inner[k:, k:], "real")
    q1, q2 = product(q[:, :k], z1), product(q[:, k:], z2)
    beside = product(z1.mT, product(inner[:k, k:], z2))
    top, low = (
        xnp.concatenate([t1, beside], -1),
        xnp.concatenate([xnp.zeros_like(beside.mT), t2], -1),
    )
    return xnp.concatenate([top, low], -2), xnp.concatenate([q1, q2], -1), np.int32(k)


def _every_real_sorted(a, t, z, sort):
    if not all(type(x) is Array for x in (t, z)):
        raise errors.bad_argument(
            "linalg.schur", "output", "real", "'complex' where a sorted form is traced",
            "The blocks of a real form decide on shapes.",
        )  # fmt: skip
    lead, n = typeof(t).shape[:-2], typeof(t).shape[-1]
    if 0 in typeof(t).shape:
        return t, z, xnp.zeros(lead, np.int32)
    each = zip(*(x.reshape(-1, n, n) for x in (xnp.asarray(a), t, z)), strict=True)
    found = [_real_sorted(*x, sort) for x in each]
    t, z, k = (xnp.stack(list(map(xnp.asarray, x))) for x in zip(*found, strict=True))
    return t.reshape(*lead, n, n), z.reshape(*lead, n, n), k.reshape(lead)


def schur(
    a: ArrayLike, output: str = "real", sort: str | Callable[[Array], Array] | None = None
) -> tuple[Array, Array] | tuple[Array, Array, Array]:
    """(t, z): the Schur form of a = z t zᴴ, t upper triangular and z unitary. Not on a TPU.

    Args:
      a: square matrices (..., n, n).
      output: "real" leaves of real matrices 2 × 2 blocks on the diagonal, for pairs of complex
        eigenvalues; "complex" is triangular in any case.
      sort: which eigenvalues come first: those of the left or right half plane ("lhp", "rhp"),
        inside or outside of the unit circle ("iuc", "ouc"), or those of which a function is true.
        Then a third result says how many they are.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> t, z = xc.linalg.schur(xnp.asarray([[1.0, 2.0], [0.0, 3.0]]))
    >>> t
    Array([[1., 2.],
           [0., 3.]], dtype=float32)
    >>> xc.linalg.schur(xnp.diag(xnp.asarray([1.0, -3.0, -2.0])), "complex", sort="lhp")[2]
    Array(2, dtype=int32)
    """
    one_of("linalg.schur", "output", output, ("real", "complex"))
    t, z = _schur(a, output)
    if sort is None:
        return t, z
    if not callable(sort):
        one_of("linalg.schur", "sort", sort, (None, *_SORTS, "a function"))
    if not dtypes.is_complex(typeof(t).dtype):
        return _every_real_sorted(a, t, z, sort)
    return _sorted(t, z, _chosen_of(sort, diagonal(t)))


# Hessenberg


@fused(1)
def hessenberg(a: ArrayLike) -> tuple[Array, Array]:
    """(h, q): the Hessenberg form of a = q h qᴴ, zero below its first subdiagonal. Not on a TPU.

    Args:
      a: square matrices (..., n, n).

    >>> import xcore as xc, xcore.numpy as xnp
    >>> a = xnp.asarray([[1.0, 2, 3], [3, 4, 5], [4, 6, 7]])
    >>> h, q = xc.linalg.hessenberg(a)
    >>> print(h[2, 0], xnp.allclose(q @ h @ q.mT, a, rtol=1e-5))
    0.0 True
    """
    a, back = _prepared("linalg.hessenberg", a)
    packed, taus = ops.hessenberg(a)
    n, dtype = typeof(a).shape[-1], typeof(a).dtype
    q = xnp.broadcast_to(xnp.eye(n, dtype=dtype), typeof(a).shape)
    if n > 1:
        inner = ops.householder_product(packed[..., 1:, :-1], taus)
        q = q.at[..., 1:, 1:].set(inner)
    return back(xnp.triu(packed, -1)), back(q)
