"""Jacobians and Hessians, of functions of pytrees."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import Value, boundary, dtypes, errors, tree, typeof
from .._core.source import wraps
from .._core.typing import P
from .._ops import add, full_like_type, iota, reshape, slice
from .._ops.elementwise import convert, eq, to_user, weakened
from .api import (
    Flat,
    Split,
    Typed,
    cotangent_result,
    dense,
    float0,
    linearize_flat,
    values_of,
)
from .gradients import check_holomorphic_results, check_inputs
from .jvp import jvp_flat
from .map import vmap
from .transpose import pull_back

if TYPE_CHECKING:
    from .._core.typing import Operand, SupportsType


def _basis(leaves: Sequence[Operand | SupportsType]) -> list[Operand]:
    """For each leaf the unit vectors of all leaves together: shape (total, *leaf.shape)."""
    total = sum(typeof(x).size for x in leaves)
    out: list[Operand] = []
    start = 0
    for x in leaves:
        t = typeof(x)
        rows = iota(shape=(total, t.size), dtype=dtypes.int32, axis=0)
        columns = iota(shape=(total, t.size), dtype=dtypes.int32, axis=1)
        shifted = add(columns, full_like_type(typeof(columns), start))
        block = convert(eq(rows, shifted), dtype=t.dtype)
        out.append(reshape(block, shape=(total, *t.shape)))
        start += t.size
    return out


def _split_columns(x: Operand, leaves: Iterable[Operand], axis: int) -> list[Operand]:
    """One array with an axis over all inputs, as one for each input with the input's shape there."""
    t = typeof(x)
    out: list[Operand] = []
    start = 0
    for leaf in leaves:
        shape = typeof(leaf).shape
        size = math.prod(shape)
        low, high = [0] * t.ndim, list(t.shape)
        low[axis], high[axis] = start, start + size
        part = slice(x, start=tuple(low), limit=tuple(high), strides=(1,) * t.ndim)
        out.append(reshape(part, shape=(*t.shape[:axis], *shape, *t.shape[axis + 1 :])))
        start += size
    return out


def _weak_like(blocks: Iterable[Operand], leaves: Iterable[Operand], x: Operand) -> list[Operand]:
    """Blocks of a Jacobian are weak if what they are derivatives of, and with respect to, are."""
    weak = typeof(x).weak
    return [
        weakened(b) if weak and typeof(leaf).weak else to_user(b)
        for b, leaf in zip(blocks, leaves, strict=True)
    ]


def _no_derivatives(p: Operand, outs: Iterable[Operand]) -> list[np.ndarray]:
    """Blocks with respect to an integer: float0, as its gradients are."""
    return [np.zeros((*typeof(x).shape, *typeof(p).shape), float0) for x in outs]


def _all_real(who: str, what: str, one: str, leaves: Sequence[Operand]) -> None:
    """An error where a direction is one of two: a derivative along the real one alone would be shown."""
    for x in leaves:
        t = typeof(x)
        if dtypes.is_complex(t.dtype):
            raise errors.DTypeError(
                f"xcore.{who}: {what} must be real, given {t}. For holomorphic functions pass holomorphic=True; else "
                f"take the real and the imaginary part of the {one} apart, or use jvp and vjp."
            )


def _check_results(who: str, outs: Sequence[Operand], holomorphic: bool) -> None:
    """An error for results that have no derivative, which zeros would pretend."""
    check_holomorphic_results(who, outs, holomorphic)
    for t in map(typeof, outs):
        if not dtypes.is_inexact(t.dtype):
            raise errors.DTypeError(
                f"xcore.{who}: the results must be floating-point numbers, but the function returned {t}. Convert it "
                "with .astype(float), or return it as aux, with has_aux=True."
            )


def jacfwd(
    fun: Callable[P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[P, Any]:  # fmt: skip
    """The Jacobian of a function, column by column in forward mode: good for few inputs.

    Result: the structure of fun's result, each leaf replaced by the structure of the input, with
    leaves of shape ``result.shape + input.shape``.

    Args:
      fun: function of pytrees.
      argnums: position of the argument to differentiate with respect to, or several.
      has_aux, holomorphic: as for ``grad``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.jacfwd(lambda x: x**2)(xnp.asarray([1.0, 2.0]))
    Array([[2., 0.],
           [0., 4.]], dtype=float32)
    """
    errors.check_function("jacfwd", fun)

    @wraps(fun)
    @boundary
    def jacobian_of(*args: P.args, **kwargs: P.kwargs) -> Any:
        split = Split(fun, argnums, args, kwargs)
        ps, structure = values_of("jacfwd", split.chosen(), "arguments")
        check_inputs("jacfwd", ps, split, holomorphic, False)
        if not holomorphic:
            _all_real("jacfwd", "the inputs", "input", ps)
        flat = Flat("jacfwd", split, structure, has_aux)

        def columns(*ts: Operand) -> tuple[list[Operand], list[Value]]:
            outs, out_ts = jvp_flat(flat, ps, ts)
            n = flat.out.num_leaves
            _check_results("jacfwd", outs[:n], holomorphic)
            jac = [dense(t, p) for p, t in zip(outs[:n], out_ts[:n], strict=True)]
            return jac, [to_user(x) for x in outs[n:]]

        jac, aux = vmap(columns, out_axes=(-1, None))(*_basis(ps))
        rows = [
            tree.unflatten(structure, _weak_like(_split_columns(x, ps, typeof(x).ndim - 1), ps, x))
            for x in jac
        ]
        rows = [r[0] for r in rows] if split.single else rows
        result = tree.unflatten(flat.out, rows)
        return (result, flat.other([None] * len(jac) + aux)) if has_aux else result

    return jacobian_of


def jacrev(
    fun: Callable[P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False,
    holomorphic: bool = False, allow_int: bool = False,
) -> Callable[P, Any]:  # fmt: skip
    """The Jacobian of a function, row by row in reverse mode: good for few results.

    The result has the form described at ``jacfwd``.

    Args:
      fun: function of pytrees.
      argnums: position of the argument to differentiate with respect to, or several.
      has_aux, holomorphic, allow_int: as for ``grad``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.jacrev(lambda x: x.sum() ** 2)(xnp.asarray([1.0, 2.0]))
    Array([6., 6.], dtype=float32)
    """
    errors.check_function("jacrev", fun)

    @wraps(fun)
    @boundary
    def jacobian_of(*args: P.args, **kwargs: P.kwargs) -> Any:
        split = Split(fun, argnums, args, kwargs)
        ps, structure = values_of("jacrev", split.chosen(), "arguments")
        check_inputs("jacrev", ps, split, holomorphic, allow_int)
        flat = Flat("jacrev", split, structure, has_aux)
        done = linearize_flat(flat, ps)
        n = flat.out.num_leaves
        outs = done.outs[:n]
        _check_results("jacrev", outs, holomorphic)
        if not holomorphic:
            _all_real("jacrev", "the results", "result", outs)

        def rows(*cts: Operand) -> list[Value | np.ndarray | None]:
            found = pull_back(done, [*cts, *[None] * (len(done.outs) - n)])
            made = [cotangent_result(c, typeof(p)) for c, p in zip(found, ps, strict=True)]
            return [None if x.dtype == float0 else x for x in made]

        by_input = vmap(rows)(*_basis([Typed(typeof(x).strong()) for x in outs]))
        split_rows = [
            _no_derivatives(p, outs)
            if x is None
            else _weak_like(_split_columns(x, outs, 0), outs, x)
            for x, p in zip(by_input, ps, strict=True)
        ]
        trees = [tree.unflatten(structure, [r[j] for r in split_rows]) for j in range(n)]
        trees = [t[0] for t in trees] if split.single else trees
        result = tree.unflatten(flat.out, trees)
        return (result, flat.other(done.outs)) if has_aux else result

    return jacobian_of


def jacobian(
    fun: Callable[P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False,
    holomorphic: bool = False, allow_int: bool = False,
) -> Callable[P, Any]:  # fmt: skip
    """The Jacobian of a function: ``jacrev``, as in JAX.

    Args:
      fun: function of arrays.
      argnums: the arguments to differentiate with respect to.
      has_aux, holomorphic, allow_int: as for ``grad``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.jacobian(lambda x: xnp.stack([x[0] * x[1], x[0]]))(xnp.asarray([2.0, 3.0]))
    Array([[3., 2.],
           [1., 0.]], dtype=float32)
    """
    return jacrev(fun, argnums, has_aux, holomorphic, allow_int)


def hessian(
    fun: Callable[P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[P, Any]:  # fmt: skip
    """The matrix of second derivatives: forward mode over reverse mode.

    Args:
      fun: function of pytrees, as a rule with a scalar result.
      argnums: position of the argument to differentiate with respect to, or several.
      has_aux, holomorphic: as for ``grad``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.hessian(lambda x: x[0] ** 2 + x[0] * x[1])(xnp.asarray([1.0, 2.0]))
    Array([[2., 1.],
           [1., 0.]], dtype=float32)
    """
    inner = jacrev(fun, argnums, has_aux, holomorphic)
    return jacfwd(inner, argnums, has_aux, holomorphic)
