"""Trees of arrays as one vector."""

from __future__ import annotations

import itertools

from .. import _ops as ops
from .._core import Array, PyTree, boundary, dtypes, errors, tree, typeof
from ._creation import asarray, zeros
from ._info import result_type
from ._join import concatenate
from ._shape import ravel


class Unravel:
    """The way back: a function of vectors that returns trees. Equal ones are interchangeable.

    Without a dtype it takes vectors of any, which the leaves keep.

    >>> import xcore.numpy as xnp
    >>> from xcore.flatten_util import ravel_pytree
    >>> flat, unravel = ravel_pytree({"a": 1.0, "b": xnp.zeros(2)})
    >>> unravel(2 * flat)
    {'a': Array(2., dtype=float32), 'b': Array([0., 0.], dtype=float32)}
    """

    __slots__ = ("dtype", "structure", "types")

    def __init__(self, structure, types, dtype):
        self.structure, self.types, self.dtype = structure, tuple(types), dtype

    def _content(self):
        return self.structure, self.types, self.dtype

    def __eq__(self, other):
        return type(other) is Unravel and self._content() == other._content()

    def __hash__(self):
        return hash(self._content())

    def __call__(self, vector):
        vector = asarray(vector)
        size = sum(t.size for t in self.types)
        if vector.shape != (size,) or self.dtype not in (None, vector.dtype):
            raise errors.MismatchError(
                f"xcore.flatten_util: unravel needs a vector {self.dtype or ''}[{size}], given {typeof(vector)}."
            )
        ends = list(itertools.accumulate([t.size for t in self.types], initial=0))
        parts = [vector[a:b].reshape(t.shape) for a, b, t in zip(ends, ends[1:], self.types)]  # pyright: ignore[reportIndexIssue]
        if self.dtype is not None:
            parts = map(_in_dtype, parts, self.types)
        return tree.unflatten(self.structure, list(parts))

    def of_any_dtype(self) -> Unravel:
        return Unravel(self.structure, self.types, None)


def _in_dtype(x, t):
    if dtypes.is_complex(x.dtype) and not dtypes.is_complex(t.dtype):
        x = ops.real(x)
    return x.astype(t.dtype)


@boundary
def ravel_pytree(pytree: PyTree) -> tuple[Array, Unravel]:
    """All numbers of a tree as one vector, and the function that makes such trees of such vectors.

    Args:
      pytree: tree of arrays and numbers; the vector has the dtype to which all of them promote.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> vector, unravel = xc.flatten_util.ravel_pytree({"a": xnp.ones(2), "b": 3.0})
    >>> vector
    Array([1., 1., 3.], dtype=float32)
    >>> unravel(2 * vector)
    {'a': Array([2., 2.], dtype=float32), 'b': Array(6., dtype=float32)}
    """
    leaves, structure = tree.flatten(pytree)
    arrays = [asarray(x) for x in leaves]
    types = [typeof(x).strong() for x in arrays]
    dtype = result_type(*arrays) if arrays else dtypes.default_dtype("float")
    parts = [ravel(x).astype(dtype) for x in arrays] or [zeros(0, dtype)]
    vector = parts[0] if len(parts) == 1 else concatenate(parts)
    return vector, Unravel(structure, types, vector.dtype)
