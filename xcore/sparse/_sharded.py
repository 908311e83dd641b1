"""Sparse matrices whose rows are spread over the devices of a mesh.

Device d has the d-th block of rows, and of vectors the d-th block of elements. Before a product it sends each other
device the elements that one's rows need, in one ``all_to_all``; which these are is known from the pattern. The
transposed product sends sums back the same way. As in ``_products``, with A of the values v,

D(v, x) = A x,    T(v, c) = Aᵀ c,    S(c, x)_e = Σ_k c_{i k} x_{j k} for each element e = (i, j)

are each other's derivatives, and rows are gathered and summed, never scattered.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import jit, stop_gradient
from .._control.collectives import all_to_all
from .._control.mapped import shard_map
from .._core import Array, ArrayLike, NamedSharding, errors, static, struct, tree, typeof
from .._core.devices import device_put
from .._core.mesh import Mesh, PartitionSpec
from .._core.trace import ensure_compile_time_eval
from ..linalg import LinearOperator
from ._making import coo_array
from ._matrix import Sparse, _in_one_dtype
from ._pattern import Bucket, Pattern, pointers_of, shared, stable_order
from ._products import _gathered, _sums, bilinear, pick, spread


@struct
class ShardedRows(LinearOperator):
    """A sparse matrix whose rows lie block by block on the devices of a mesh; ``shard_rows`` makes it.

    Attributes:
      values: (devices, elements of the fullest one), the only leaf; what fills up counts as 0, whatever it is.
      pattern: the places, static.
      mesh, axes: the devices, and the names of the axes that rows are spread over.
      symmetric, positive: whether it is known to be Hermitian, and positive definite as well.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> a = xc.sparse.shard_rows(xc.sparse.diags_array([1.0, 2.0, 3.0]), xc.make_mesh((1,), ("i",)))
    >>> a @ xnp.ones(3)
    Array([1., 2., 3.], dtype=float32)
    """

    values: Any
    pattern: Pattern = static()
    mesh: Mesh = static()
    axes: tuple[str, ...] = static()
    symmetric: bool = static(default=False)
    positive: bool = static(default=False)

    @property
    def plan(self) -> Plan:
        return _plan(self.pattern, self.mesh, self.axes)

    @property
    def shape(self) -> Any:
        """Rows and columns, with those that make them divisible by the number of devices."""
        p = self.plan
        return p.parts * p.rows, p.parts * p.columns

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.values.dtype

    @property
    def sharding(self) -> NamedSharding:
        """How vectors lie that it is multiplied with, and the products."""
        return self.plan.sharding

    def __repr__(self) -> str:
        m, n = self.pattern.shape
        name = typeof(self.values).dtype.name
        return f"ShardedRows({m}x{n}, {self.pattern.nnz} elements over {self.plan.parts} devices, {name})"

    def shard(self, x: ArrayLike) -> Array:
        """A vector of rows or columns, or a matrix of such, with zeros at its end where it is padded, on the mesh."""
        x = xnp.asarray(x)
        sizes = dict(zip(self.pattern.shape, self.shape, strict=True))
        if not x.ndim or x.shape[0] not in sizes:
            why = f"need as many elements as the matrix has rows or columns, {self.pattern.shape}"
            raise errors.shape_mismatch("sparse.ShardedRows.shard", why, x=x)
        more = sizes[x.shape[0]] - x.shape[0]
        return device_put(xnp.pad(x, [(0, more)] + [(0, 0)] * (x.ndim - 1)), self.sharding)

    def mv(self, x: Array) -> Array:
        v, x, finish = _in_one_dtype(self.values, x)
        return finish(self.plan.product(v, x))

    matmat = mv

    def __matmul__(self, other: Any) -> Any:
        n = self.pattern.shape[1]
        if not isinstance(other, LinearOperator) and xnp.shape(other)[:1] == (n,) != self.shape[1:]:
            why = f"need {self.shape[1]} rows, a multiple of the number of devices; A.shard(x) pads"
            raise errors.shape_mismatch("sparse.ShardedRows @", why, x=other)
        return super().__matmul__(other)

    def diagonal(self) -> Array:
        """The main diagonal, of a square matrix, on the mesh."""
        return self.plan.diagonal(self.values)

    def to_sparse(self) -> Sparse:
        """The matrix as it was, without what it was padded with."""
        v = pick(self.values.reshape(-1), self.plan.places[: self.pattern.nnz])
        return Sparse(v, self.pattern, self.symmetric, self.positive)


def shard_rows(a: Any, mesh: Mesh, axis: str | tuple[str, ...] | None = None) -> ShardedRows:
    """A sparse matrix as an operator whose rows lie block by block on the devices of a mesh.

    A product exchanges, in one ``all_to_all``, the elements of the vector that other devices need and no others; so
    does the product with the transpose, and derivatives by values and vectors. Where the number of rows or columns is
    not divisible by the number of devices, others follow, which meet none of them: empty ones, and of square matrices
    ones with the largest element of the diagonal on it, so that these stay regular and definite. ``.shard(x)`` pads
    vectors with zeros, and puts them on the mesh.

    Args:
      a: one ``Sparse`` matrix (or what ``coo_array`` takes); its values may be traced.
      mesh: the devices.
      axis: the name of the mesh's axis (or names) that rows are spread over; all axes by default.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> from xcore import linalg, sparse
    >>> a = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(4, 4))
    >>> spread = sparse.shard_rows(a, xc.make_mesh((1,), "rows"))
    >>> spread
    ShardedRows(4x4, 10 elements over 1 devices, float32)
    >>> linalg.linear_solve(spread, spread.shard(xnp.ones(4)), linalg.CG()).round(3)
    Array([2., 3., 3., 2.], dtype=float32)
    """
    who = "sparse.shard_rows"
    a = coo_array(a)
    if a.ndim != 2:
        raise errors.shape_mismatch(who, "need one matrix; vmap for batches", a=a)
    if not isinstance(mesh, Mesh):
        raise errors.bad_argument(who, "mesh", mesh, "a Mesh of devices, as make_mesh gives it")
    axes = mesh.axis_names if axis is None else (axis,) if isinstance(axis, str) else tuple(axis)
    if not axes or set(axes) - set(mesh.axis_names) or len(set(axes)) < len(axes):
        need = f"a name, or different names, of the mesh's axes, {tuple(mesh.axis_names)}"
        raise errors.bad_argument(who, "axis", axis, need)
    p = _plan(a.pattern, mesh, axes)
    v = a.values
    if more := len(p.places) - a.nnz:
        d = a.diagonal()
        top = d[xnp.argmax(xnp.abs(d))] if d.size else xnp.zeros((), d.dtype)
        v = xnp.concatenate(
            [v, xnp.full(more, stop_gradient(xnp.where(top == 0, 1, top)), v.dtype)]
        )
    v = spread(v, p.places, p.parts * p.most).reshape(p.parts, p.most)
    return ShardedRows(device_put(v, p.sharding), a.pattern, mesh, axes, a.symmetric, a.positive)


def _plan(pattern: Pattern, mesh: Mesh, axes: tuple[str, ...]) -> Plan:
    pattern = shared(pattern)
    return pattern.kept(("rows over", mesh, axes), lambda: Plan(pattern, mesh, axes))


# Which elements go where, once and on the host


class Plan:
    """What devices exchange and sum, as tables that lie on them, and the products by these.

    Attributes:
      parts: the number of devices.
      rows, columns: of each device.
      most: elements that the fullest device has.
      places: of the elements among the values of all devices.
    """

    def __init__(self, pattern: Pattern, mesh: Mesh, axes: tuple[str, ...]) -> None:
        self.mesh, self.axes = mesh, axes
        self.spec = PartitionSpec(axes)
        self.sharding = NamedSharding(mesh, self.spec)
        self.parts = parts = mesh.size_of(axes)
        self.rows, self.columns = (-(-n // parts) for n in pattern.shape)
        pattern = _padded(pattern, parts * self.rows)
        owner, row = np.divmod(pattern.rows.astype(np.int64), max(self.rows, 1))
        counts = np.bincount(owner, minlength=parts)
        self.most = int(counts.max(initial=0))
        self.places = (
            owner * self.most + np.arange(pattern.nnz) - (np.cumsum(counts) - counts)[owner]
        )
        send, column = _exchange(pattern, owner, parts, max(self.columns, 1))
        ends = np.cumsum(counts)[:-1]
        local = self.rows, self.columns + send[0].size
        own = [
            _grouped(*x, local)
            for x in zip(np.split(row, ends), np.split(column, ends), strict=True)
        ]
        tables = self._tables(pattern, send, row, column, own)
        # of a topology, for which programs are only compiled, there are none
        here = mesh.devices.flat[0].client.local_devices()
        with ensure_compile_time_eval():
            self.tables = (
                device_put(tables, self.sharding) if here else tree.map(xnp.asarray, tables)
            )
        self._products()

    def _tables(
        self, pattern: Pattern, send: np.ndarray, row: np.ndarray, column: np.ndarray, own: list[Pattern]
    ) -> dict[str, Any]:  # fmt: skip
        of_values = np.zeros((3, self.parts * self.most), np.int32)
        of_values[:, self.places] = row, column, np.ones_like(row)
        of_values = of_values.reshape(3, self.parts, self.most)
        found = pattern.diagonal
        there = np.flatnonzero(found >= 0)
        diagonal = np.full(self.parts * self.rows, -1, np.int32)
        diagonal[there] = self.places[found[there]] % max(self.most, 1)
        back = [_given_back(s.reshape(-1), self.columns) for s in send] if send.size else []
        return {
            "send": np.maximum(send, 0), "row": of_values[0], "column": of_values[1], "there": of_values[2] > 0,
            "diagonal": diagonal.reshape(self.parts, self.rows), "rows": _ladder(own),
            "columns": _ladder([p.T for p in own], [p.order for p in own]), "back": _ladder(back),
        }  # fmt: skip

    # What each device does

    def _on_each(self, f: Callable[..., Array]) -> Callable[..., Array]:
        """f(its tables, its parts of arrays), of the whole arrays."""
        each = functools.partial(tree.map, lambda t: t[0])
        return lambda *xs: shard_map(
            lambda t, *xs: f(each(t), *xs), self.mesh, self.spec, self.spec
        )(self.tables, *xs)

    def _seen(self, t: Any, x: Array) -> Array:
        """A device's elements of x, and behind them those that others send."""
        if not t["send"].size:
            return x
        got = all_to_all(_gathered(x, t["send"]), self.axes, 0, 0)
        return xnp.concatenate([x, got.reshape(-1, *x.shape[1:])])

    def _times(self, t: Any, v: Array, x: Array) -> Array:
        return _climbed(t["rows"], v[0], self._seen(t, x), self.rows)

    def _back(self, t: Any, v: Array, c: Array) -> Array:
        size = t["send"].size
        out = _climbed(t["columns"], v[0], c, self.columns + size)
        if not size:
            return out
        beyond = out[self.columns :].reshape(*t["send"].shape, *c.shape[1:])
        got = all_to_all(beyond, self.axes, 0, 0).reshape(size, *c.shape[1:])
        one = xnp.ones(1, v.dtype)
        return out[: self.columns] + _climbed(t["back"], one, got, self.columns)

    def _sample(self, t: Any, c: Array, x: Array) -> Array:
        terms = _gathered(c, t["row"]) * _gathered(self._seen(t, x), t["column"])
        terms = terms.sum(tuple(range(1, terms.ndim)), dtype=terms.dtype)
        return xnp.where(t["there"], terms, xnp.zeros((), terms.dtype))[None]

    def _diagonal(self, t: Any, v: Array) -> Array:
        at = t["diagonal"]
        return xnp.where(at >= 0, _gathered(v[0], xnp.maximum(at, 0)), xnp.zeros((), v.dtype))

    def _products(self) -> None:
        times, back, sample = map(self._on_each, (self._times, self._back, self._sample))
        d = bilinear(times, lambda ct, x: s(ct, x), lambda ct, v: t(v, ct))
        t = bilinear(back, lambda ct, c: s(c, ct), lambda ct, v: d(v, ct))
        s = bilinear(sample, lambda ct, x: d(ct, x), lambda ct, c: t(ct, c))
        self.product, self.diagonal = jit(d, inline=True), jit(self._on_each(self._diagonal))


def _padded(p: Pattern, size: int) -> Pattern:
    """A square pattern with further rows, which have elements on the diagonal alone."""
    n = p.shape[0]
    if size == n or n != p.shape[1]:
        return p
    more = np.arange(size - n)
    pointers = np.concatenate([p.indptr, p.nnz + 1 + more])
    return Pattern.of_rows(pointers, np.concatenate([p.indices, n + more]), (size, size))


def _exchange(
    pattern: Pattern, owner: np.ndarray, parts: int, size: int
) -> tuple[np.ndarray, np.ndarray]:
    """What each device sends to each other one, filled up with -1, and where each element's column is then.

    Of its own elements of a vector come first, then those of the others, device by device.
    """
    source, column = np.divmod(pattern.columns.astype(np.int64), size)
    far = source != owner
    wanted, at = np.unique(owner[far] * (parts * size) + pattern.columns[far], return_inverse=True)
    pair = wanted // size  # of the device that needs it and the one that has it
    counts = np.bincount(pair, minlength=parts * parts)
    place = np.arange(len(wanted)) - (np.cumsum(counts) - counts)[pair]
    reach = int(counts.max(initial=0))
    send = np.full((parts, parts, reach), -1, np.int32)
    send[pair % parts, pair // parts, place] = wanted % size
    column[far] = size + ((pair % parts) * reach + place)[at.reshape(-1)]
    return send, column


def _grouped(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> Pattern:
    return Pattern.of_rows(pointers_of(rows, shape[0]), columns, shape)


def _given_back(sent: np.ndarray, size: int) -> Pattern:
    """For each element of a device the places from which sums come back: those to which it was sent."""
    at = np.flatnonzero(sent >= 0)
    at = at[stable_order(sent[at], size)]
    return _grouped(sent[at], at, (size, len(sent)))


# Rows summed, by tables of one shape for all devices


_LONGEST = 16  # terms that are summed in one expression


def _ladder(patterns: list[Pattern], order: list[np.ndarray] | None = None) -> tuple[Bucket, ...]:
    """Sums of the rows of the patterns, one for each device: of pieces of rows, of pieces of these sums, and so on.

    Positions are those of the elements, or what ``order`` says of them.
    """
    if not patterns:
        return ()
    longest = max(int(p.lengths.max(initial=0)) for p in patterns)
    sizes = [k for k in (longest, 2, 4, 8, 16) if k <= min(longest, _LONGEST)]
    size = min(sizes, key=functools.partial(_cost, patterns, longest))
    fine, rows = patterns, []
    if size < longest:
        fine, rows = map(list, zip(*[p.pieces(size) for p in patterns], strict=True))
    most = max(p.shape[0] for p in fine)
    tables = [_table(p, size, most) for p in fine]
    if order is not None:
        tables = [
            b._replace(positions=o.astype(np.int32)[b.positions] if len(o) else b.positions)
            for b, o in zip(tables, order, strict=True)
        ]
    return Bucket(*map(np.stack, zip(*tables, strict=True))), *_ladder(rows)


def _cost(patterns: list[Pattern], longest: int, size: int) -> int:
    """Terms of sums of pieces of that size, and of those of rows of these."""
    if size == longest:
        return size * patterns[0].shape[0]
    pieces = max(int((-(-p.lengths // size)).sum()) for p in patterns)
    return size * pieces - -longest // size * -patterns[0].shape[0]


def _table(p: Pattern, size: int, count: int) -> Bucket:
    step = np.arange(size)[:, None]
    lengths = np.pad(p.lengths, (0, count - p.shape[0]))
    valid = step < lengths
    at = np.where(valid, np.pad(p.indptr[:-1], (0, len(lengths) - p.shape[0])) + step, 0)
    return Bucket(at, p.columns[at] if p.nnz else at, valid)


def _climbed(ladder: tuple[Bucket, ...], v: Array, x: Array, rows: int) -> Array:
    """The sums of v at positions times x at columns; those of no positions, where v is one number, of x."""
    for step in ladder:
        if v.shape[0] == 1:
            step = step._replace(positions=xnp.zeros_like(step.positions))
        x, v = _sums(step, v, x), xnp.ones(1, v.dtype)
    return x[:rows]
