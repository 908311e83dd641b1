"""What all formats share: inner products, norms, conversions, comparison, files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import pure_callback
from .._core import Array, ArrayLike, ShapeDtypeStruct, dtypes, errors
from ..linalg._range import magnitude
from ..numpy._select import safe_divide
from ._cp import CP, CanonicalTT, _as_inexact, as_cp, gram_product, inner_cp, normalize
from ._products import mttkrp, multi_mode_product
from ._tt import TT, inner_tt
from ._tucker import Tucker, inner_tucker

if TYPE_CHECKING:  # loaded when something is drawn
    from matplotlib.figure import Figure

FORMATS = {"CP": CP, "Tucker": Tucker, "TT": TT}

Tensor = ArrayLike | CP | Tucker | TT  # what functions of tensors take


def as_tensor(x: Tensor) -> Array | CP | Tucker | TT:
    """A tensor in a format as it is; a ``CanonicalTT`` as CP; what is an array as an array."""
    if not is_dense(x):
        return x  # pyright: ignore[reportReturnType]
    return x.to_cp() if isinstance(x, CanonicalTT) else xnp.asarray(x)


def is_dense(x) -> bool:
    return not isinstance(x, tuple(FORMATS.values()))


# Inner products and norms


def inner(a: Tensor, b: Tensor) -> Array:
    """Σ conj(a) b over all elements, for tensors in any formats; none of them is expanded.

    Args:
      a, b: CP, Tucker, TT or dense tensors of one shape.

    >>> import xcore.numpy as xnp
    >>> inner(CP(None, (xnp.ones((2, 1)), xnp.ones((3, 1)))), xnp.ones((2, 3)))
    Array(6., dtype=float32)
    """
    a, b = as_tensor(a), as_tensor(b)
    if tuple(a.shape) != tuple(b.shape):
        raise errors.shape_mismatch("decomp.inner", a=a, b=b)
    if is_dense(a):
        return (a.conj() * b).sum() if is_dense(b) else inner(b, a).conj()
    if is_dense(b):
        return _INNER_WITH_DENSE[type(a)](a, b)
    if type(a) is type(b):
        return {CP: inner_cp, Tucker: inner_tucker, TT: inner_tt}[type(a)](a, b)
    if Tucker in (type(a), type(b)) and CP in (type(a), type(b)):
        return _cp_with_tucker(a, b) if type(a) is CP else _cp_with_tucker(b, a).conj()
    return inner_tt(to_tt(a), to_tt(b))


def _cp_with_dense(cp: CP, x):
    if cp.ndim == 1:
        return ((cp.factors[0].conj() @ cp.weights.conj()) * x).sum()
    met = mttkrp(x, [f.conj() for f in cp.factors], 0)
    return ((met * cp.factors[0].conj()).sum(0) * cp.weights.conj()).sum()


def _tucker_with_dense(t: Tucker, x):
    return (t.core.conj() * multi_mode_product(x, t.factors, transpose=True)).sum()


def _tt_with_dense(t: TT, x):
    for core in t.cores[:-1]:
        left, length, right = core.shape
        x = core.conj().reshape(left * length, right).T @ x.reshape(left * length, -1)
    return (t.cores[-1].conj().ravel() * x.ravel()).sum()


_INNER_WITH_DENSE = {CP: _cp_with_dense, Tucker: _tucker_with_dense, TT: _tt_with_dense}


def _cp_with_tucker(cp: CP, t: Tucker):
    """The Tucker tensor's core with the CP's factors seen from its own."""
    small = CP(
        cp.weights, tuple(g.conj().T @ f for f, g in zip(cp.factors, t.factors, strict=True))
    )
    return _cp_with_dense(small, t.core)


def norm(x: Tensor) -> Array:
    """The square root of the sum of squares of all elements.

    Args:
      x: CP, Tucker, TT or dense tensor; it is not expanded.

    >>> import xcore.numpy as xnp
    >>> norm(CP(None, (xnp.ones((2, 1)), xnp.ones((8, 1)))))
    Array(4., dtype=float32)
    """
    return xnp.ldexp(*_size(as_tensor(x)))


def _size(x):
    """(f, power) with the norm f 2^power, whose square need not be in range."""
    x, power = _in_units(_dense(x) if is_dense(x) else x)
    if isinstance(x, TT):
        f, more = _size_of_tt(x)
        return f, power + more
    square = inner(x, x).real
    return _root(square), power


def _size_of_tt(t: TT):
    """In units anew at each core: squares of long trains outgrow the range."""
    met, power = xnp.ones((1, 1), t.dtype), 0
    for core in t.cores:
        met = xnp.einsum("ab,aic,bid->cd", met, core.conj(), core)
        unit = _unit(xnp.sqrt(xnp.abs(met)))
        met, power = met / unit / unit, power + _exponent(unit)
    return _root(met[0, 0].real), power


def _root(square):
    """Its root; 0, with the derivative 0, where it is not positive."""
    empty = square <= 0
    return xnp.where(empty, 0, xnp.sqrt(xnp.where(empty, 1, square)))


def _unit(x, axis=None):
    return ops.stop_gradient(magnitude(x, axis))


def _exponent(unit):
    """k of 2ᵏ."""
    return xnp.frexp(unit)[1] - 1


def _in_units(x):
    """(y, power) with x = 2^power y and no part of y far from 1, so that squares are in range."""
    if is_dense(x):
        unit = _unit(x)
        return x / unit, _exponent(unit)
    if isinstance(x, CP):
        return _cp_in_units(x)
    parts = (x.core, *x.factors) if isinstance(x, Tucker) else x.cores
    units = [_unit(p) for p in parts]
    parts = tuple(p / u for p, u in zip(parts, units, strict=True))
    power = sum(map(_exponent, units))
    return (Tucker(parts[0], parts[1:]) if isinstance(x, Tucker) else TT(parts)), power


def _cp_in_units(x: CP):
    """Term by term, as columns may be of any lengths whose product is in range."""
    units = [_unit(f, 0) for f in x.factors]
    own = _unit(x.weights[None], 0)
    powers = xnp.concatenate([_exponent(u) for u in (own, *units)]).sum(0)
    power = xnp.max(xnp.where(x.weights == 0, -(2**30), powers), initial=-(2**30))
    power = xnp.where(power > -(2**30), power, 0)
    factors = tuple(f / u for f, u in zip(x.factors, units, strict=True))
    return CP(_times(x.weights / own[0], powers - power), factors), power


def _times(x, power):
    """2^power x, complex numbers as well."""
    if not dtypes.is_complex(x.dtype):
        return xnp.ldexp(x, power)
    return xnp.ldexp(x.real, power) + 1j * xnp.ldexp(x.imag, power)


def relative_error(x: Tensor, approximation: Tensor) -> Array:
    """‖x - approximation‖ / ‖x‖, where x may be dense, from the elements themselves; 0 if both are 0, as fits have it.

    Args:
      x: the tensor, dense or in a format.
      approximation: another one of its shape.

    >>> import xcore.numpy as xnp
    >>> float(relative_error(xnp.ones((2, 2)), CP(None, (xnp.ones((2, 1)), xnp.ones((2, 1))))))
    0.0
    """
    x, y = as_tensor(x), as_tensor(approximation)
    if is_dense(x) or is_dense(y):
        left, power = _size(_dense(x) - _dense(y))
    else:
        left, power = _distance(x, y)
    size, less = _size(x)
    share = safe_divide(left, size, where=(left != 0) | (size != 0))
    return xnp.ldexp(share, power - less)


def _dense(x):
    """Its elements; integers as floats, whose differences and squares do not wrap around."""
    return _as_inexact(x) if is_dense(x) else x.to_dense()


def _distance(x, y):
    """(f, power) with ‖x - y‖ = f 2^power of two tensors in formats.

    The difference of squares of norms has half the digits. The value is that of an orthogonalised train of the
    difference, √(c + s) with the c found there and s = 0 such that derivatives of all orders are those of the squares.
    """
    (x, one), (y, other) = _in_units(x), _in_units(y)
    power = xnp.maximum(one, other)
    x, y = _longer(x, one - power), _longer(y, other - power)
    square = inner(x, x).real - 2 * inner(x, y).real + inner(y, y).real
    size = ops.stop_gradient(_size_by_qr(to_tt(x) - to_tt(y)))
    return _root(size * size + (square - ops.stop_gradient(square))), power


def _longer(x, power):
    """2^power times a tensor in a format."""
    if isinstance(x, CP):
        return CP(_times(x.weights, power), x.factors)
    if isinstance(x, Tucker):
        return Tucker(_times(x.core, power), x.factors)
    return TT((_times(x.cores[0], power), *x.cores[1:]))


def _size_by_qr(t: TT):
    left = xnp.ones((1, 1), t.dtype)
    for core in t.cores:
        rows, _, right = core.shape
        left = xnp.linalg.qr((left @ core.reshape(rows, -1)).reshape(-1, right))[1]
    return xnp.abs(left[0, 0])


# Conversion


def to_tucker(x: Tensor) -> Tucker:
    """A tensor in Tucker form, exactly. A CP tensor gets a core with its weights on the diagonal.

    Args:
      x: CP, TT or Tucker tensor; dense ones take ``hosvd``.

    >>> import xcore.numpy as xnp
    >>> to_tucker(CP(None, (xnp.ones((3, 2)), xnp.ones((4, 2))))).rank
    (2, 2)
    """
    x = as_tensor(x)
    if isinstance(x, CP):
        eye = [xnp.eye(x.rank, dtype=x.dtype)] * x.ndim
        return Tucker(CP(x.weights, tuple(eye)).to_dense(), x.factors)
    if isinstance(x, TT):
        return _tucker_of_tt(x)
    if isinstance(x, Tucker):
        return x
    raise _no_format("to_tucker", x, "hosvd(x, ranks)")


def _tucker_of_tt(t: TT) -> Tucker:
    """Each core's slices as combinations of as few slices as there are rows: by QR, where there are more."""
    cores, factors = [], []
    for core in t.cores:
        left, length, right = core.shape
        if length <= left * right:
            cores.append(core)
            factors.append(xnp.eye(length, dtype=core.dtype))
            continue
        q, r = xnp.linalg.qr(xnp.moveaxis(core, 1, 0).reshape(length, left * right))
        factors.append(q)
        cores.append(xnp.moveaxis(r.reshape(r.shape[0], left, right), 0, 1))
    return Tucker(TT(tuple(cores)).to_dense(), tuple(factors))


def to_tt(x: Tensor) -> TT:
    """A tensor as a tensor train, exactly. The bonds of a CP tensor are of its rank.

    Args:
      x: CP, Tucker or TT tensor; dense ones take ``tt_svd``.

    >>> import xcore.numpy as xnp
    >>> to_tt(CP(None, [xnp.ones((3, 2))] * 3)).rank
    (1, 2, 2, 1)
    """
    x = as_tensor(x)
    if isinstance(x, TT):
        return x
    if isinstance(x, CP):
        return _tt_of_cp(x)
    if isinstance(x, Tucker):
        chain = _tt_of_dense(x.core)
        cores = [
            xnp.einsum("aib,ji->ajb", c, f) for c, f in zip(chain.cores, x.factors, strict=True)
        ]
        return TT(tuple(cores))
    raise _no_format("to_tt", x, "tt_svd(x, rtol=…)")


def _tt_of_cp(cp: CP) -> TT:
    if cp.ndim == 1:
        return TT(((cp.factors[0] @ cp.weights)[None, :, None],))
    eye = xnp.eye(cp.rank, dtype=cp.dtype)
    first = (cp.factors[0] * cp.weights)[None]
    inside = [eye[:, None, :] * f.T[:, :, None] for f in cp.factors[1:-1]]
    return TT((first, *inside, cp.factors[-1].T[:, :, None]))


def _tt_of_dense(x) -> TT:
    """Without rounding: the elements in one core, the others made of unit vectors, no bond longer than need be."""
    before = [math.prod(x.shape[:k]) for k in range(x.ndim + 1)]
    after = [math.prod(x.shape[k:]) for k in range(x.ndim + 1)]
    middle = next(k for k in range(x.ndim) if before[k + 1] >= after[k + 1])
    cores = []
    for k, n in enumerate(x.shape):
        left, right = (
            (before if k <= middle else after)[k],
            (before if k < middle else after)[k + 1],
        )
        whole = x if k == middle else xnp.eye(max(left, right), dtype=x.dtype)
        cores.append(whole.reshape(left, n, right))
    return TT(tuple(cores))


def _no_format(who: str, x, advice: str):
    return errors.bad_argument(
        f"decomp.{who}", "x", x, "a CP, Tucker or TT tensor", f"For a dense tensor: {advice}."
    )


# Comparison


def factor_match_score(a: CP, b: CP) -> Array:
    """How alike the terms of two CP tensors are, from 0 to 1 (the factor match score).

    The terms are paired so that the sum of their scores is the largest; the score of a pair is
    (1 - |w - v| / max(w, v)) Π_k |⟨a_k, b_k⟩| for normalised columns, and what is returned is the
    mean over the terms of the smaller one.

    Args:
      a, b: of one shape; the ranks may differ.

    >>> import xcore.numpy as xnp
    >>> a = CP(None, (xnp.eye(3), xnp.eye(3)))
    >>> factor_match_score(a, CP(None, tuple(f[:, ::-1] for f in a.factors)))
    Array(1., dtype=float32)
    """
    a, b = as_cp("factor_match_score", a), as_cp("factor_match_score", b)
    if tuple(a.shape) != tuple(b.shape):
        raise errors.shape_mismatch("decomp.factor_match_score", a=a, b=b)
    if a.rank > b.rank:
        a, b = b, a
    a, b = normalize(a), normalize(b)
    v, w = xnp.abs(a.weights)[:, None], xnp.abs(b.weights)[None, :]
    larger = xnp.maximum(v, w)
    penalty = 1 - xnp.abs(v - w) / xnp.where(larger == 0, 1, larger)
    scores = penalty * xnp.abs(gram_product(a.factors, b.factors))
    partner = pure_callback(
        _assign, ShapeDtypeStruct((a.rank,), np.int32), scores, vmap_method="sequential"
    )
    return scores[xnp.arange(a.rank), partner].mean()


def _assign(scores):
    from scipy.optimize import linear_sum_assignment

    scores = np.nan_to_num(np.asarray(scores, np.float64))
    return linear_sum_assignment(scores, maximize=True)[1].astype(np.int32)


# Files


def save(path: str | Path, x: CP | Tucker | TT) -> None:
    """Write a tensor in any format to a file (NumPy's npz).

    Args:
      path: of the file.
      x: CP, Tucker or TT tensor.

    >>> import tempfile, pathlib, xcore.numpy as xnp
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "cp.npz"
    >>> save(path, CP(None, (xnp.ones((3, 2)),)))
    >>> load(path)
    CP(shape=(3,), rank=2, dtype=float32)
    """
    x = as_tensor(x)  # pyright: ignore[reportAssignmentType]
    name = next((n for n, kind in FORMATS.items() if type(x) is kind), None)
    if name is None:
        raise _no_format("save", x, "numpy.save")
    parts = {
        "CP": lambda: [x.weights, *x.factors],
        "Tucker": lambda: [x.core, *x.factors],
        "TT": lambda: x.cores,
    }[name]()
    with open(path, "wb") as file:
        np.savez(
            file,
            format=np.asarray(name),
            **{f"part{k}": np.asarray(p) for k, p in enumerate(parts)},
        )


def load(path: str | Path) -> CP | Tucker | TT:
    """What ``save`` has written.

    Args:
      path: the file that ``save`` wrote.

    >>> import tempfile, pathlib, xcore.numpy as xnp
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tt.npz"
    >>> save(path, TT((xnp.ones((1, 3, 1)),)))
    >>> load(path).shape
    (3,)
    """
    with np.load(path, allow_pickle=False) as data:
        name = str(data["format"]) if "format" in data else None
        if name not in FORMATS:
            raise errors.bad_argument(
                "decomp.load", "path", str(path), "a file that decomp.save has written"
            )
        parts = [xnp.asarray(data[f"part{k}"]) for k in range(len(data.files) - 1)]
    return TT(tuple(parts)) if name == "TT" else FORMATS[name](parts[0], tuple(parts[1:]))


def plot_factors(cp: CP, axes: Any = None) -> Figure:
    """Draw the columns of each factor, a row of axes for each term; returns the figure (matplotlib).

    Args:
      cp: a CP tensor.
      axes: array of matplotlib axes (rank, ndim) to draw into, else a new figure.

    >>> plot_factors(CP(None, (np.eye(3), np.eye(4, 3)))).savefig("factors.png")  # doctest: +SKIP
    """
    import matplotlib.pyplot as plt

    cp = normalize(as_cp("plot_factors", cp))
    if axes is None:
        _, axes = plt.subplots(
            cp.rank, cp.ndim, squeeze=False, figsize=(3 * cp.ndim, 1.4 * cp.rank), sharex="col"
        )
    if np.shape(axes) != (cp.rank, cp.ndim):
        wanted = f"an array of axes of shape {(cp.rank, cp.ndim)}: a row for each term"
        raise errors.bad_argument("decomp.plot_factors", "axes", np.shape(axes), wanted)
    for k, factor in enumerate(map(np.asarray, cp.factors)):
        for r in range(cp.rank):
            axes[r, k].plot(factor[:, r].real)
            axes[r, k].set_ylabel(f"term {r}" if k == 0 else "")
        axes[0, k].set_title(f"mode {k}")
    return axes[0, 0].figure
