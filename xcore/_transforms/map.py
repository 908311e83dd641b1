"""vmap for functions of pytrees."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .._core import Value, boundary, errors, is_array_like, to_value, tree, typeof
from .._core.source import wraps
from .._core.typing import P, PyTree, R
from .._ops import broadcast, move_axis
from .._ops.elementwise import to_user, weakened
from .integers import is_float0, numbers_of, without_axis
from .vmap import vmap_flat

if TYPE_CHECKING:
    from .._core.typing import Operand


def _is_none(x: object) -> bool:
    return x is None


def _check_axis(axis: Any, ndim: int, name: str, who: str) -> int:
    if not isinstance(axis, int) or isinstance(axis, bool):
        raise TypeError(
            f"xcore.{who}: an axis must be an int or None, given {errors.describe(axis)} for {name}."
        )
    if not -ndim <= axis < ndim:
        raise ValueError(
            f"xcore.{who}: {name} has {ndim} dimensions, so it has no axis {axis} to map over. Use in_axes=None "
            "for arguments that are the same for every batch element."
        )
    return axis % ndim


def _names(
    args: tuple[PyTree, ...], kwargs: Mapping[str, PyTree], fun: Callable[..., Any]
) -> list[str]:
    """How messages call the leaves of the arguments."""
    code = getattr(fun, "__code__", None)
    known: tuple[str, ...] = code.co_varnames[: code.co_argcount] if code else ()
    out: list[str] = []
    for path, _ in tree.flatten_with_path((args, kwargs))[0]:
        key: Any = path[1]
        if hasattr(key, "key"):
            first = f"keyword {key.key}"
        else:
            first = f"argument {known[key.idx]}" if key.idx < len(known) else f"args[{key.idx}]"
        out.append(first + tree.keystr(path[2:]))
    return out


def _size(
    who: str, fun: Callable[..., Any], args: tuple[PyTree, ...], kwargs: Mapping[str, PyTree],
    values: Sequence[Operand], axes: Iterable[int | None], given: int | None,
) -> int:  # fmt: skip
    found = [(i, typeof(values[i]).shape, a) for i, a in enumerate(axes) if a is not None]
    sizes = {shape[a] for _, shape, a in found}
    if given is not None:
        sizes.add(given)
    if len(sizes) == 1:
        return sizes.pop()
    if not sizes:
        raise ValueError(
            f"xcore.{who}: there is nothing to map over: every in_axes is None (or there are no arrays). Give "
            "at least one axis, or axis_size."
        )
    names = _names(args, kwargs, fun)
    listed: list[tuple[str, int, Any, tuple[int, ...]]] = [
        (names[i], shape[a], a, shape) for i, shape, a in found
    ]
    if given is not None:
        listed.append(("axis_size", given, "-", ()))
    raise errors.batch_sizes_differ(who, listed)


def _tuple_of_list(axes: PyTree) -> PyTree:
    """Axes of several arguments or results may be given as a list, which those are not."""
    return tuple(cast("list[PyTree]", axes)) if isinstance(axes, list) else axes


def _check_in_axes(who: str, in_axes: PyTree) -> None:
    """Axes are ints or None, alone or in what stands for the arguments."""
    known = in_axes is None or isinstance(in_axes, (int, tuple, list))
    if not known or any(type(a) is not int for a in tree.leaves(in_axes)):
        raise TypeError(
            f"xcore.{who}: in_axes must be an int, None, or a tuple with one of these, or a pytree of them, "
            f"for each argument; given {in_axes!r}."
        )


def in_axes_of(
    who: str, in_axes: PyTree, args: tuple[PyTree, ...], kwargs: Mapping[str, PyTree]
) -> list[Any]:
    """The axis of each leaf of the arguments; keyword arguments are mapped over axis 0."""
    in_axes = _tuple_of_list(in_axes)
    count = len(cast("tuple[PyTree, ...]", in_axes)) if isinstance(in_axes, tuple) else len(args)
    if count != len(args):
        raise ValueError(
            f"xcore.{who}: in_axes has {count} entries, but {len(args)} positional arguments were given."
        )
    axes = tree.broadcast_prefix(in_axes, args, _is_none, f"{who}(in_axes)")
    return axes + [0] * len(tree.leaves(kwargs))


def vmap(
    fun: Callable[P, R], in_axes: PyTree = 0, out_axes: PyTree = 0,
    axis_name: Hashable | None = None, axis_size: int | None = None,
    spmd_axis_name: Hashable | None = None,
) -> Callable[P, R]:  # fmt: skip
    """A function that maps ``fun`` over array axes, all batch elements at once.

    Args:
      fun: function of one example.
      in_axes: for each argument the axis to map over, None for the same value in every batch element; an
        int for all, or pytrees that match the arguments' beginning. Keyword arguments: axis 0.
      out_axes: where the mapped axis goes in the results, likewise.
      axis_name: a name for the axis, for collectives such as ``lax.psum(x, axis_name)``.
      axis_size: its size, needed when nothing is mapped.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.vmap(lambda row: row.sum())(xnp.ones((3, 2)))
    Array([2., 2., 2.], dtype=float32)
    """
    errors.check_function("vmap", fun)
    _check_in_axes("vmap", in_axes)

    call: Callable[..., PyTree] = fun

    @wraps(fun)
    @boundary
    def mapped(*args: P.args, **kwargs: P.kwargs) -> R:
        leaves, structure = tree.flatten((args, kwargs))
        axes = in_axes_of("vmap", in_axes, args, kwargs)
        for i, (x, a) in enumerate(zip(leaves, axes, strict=True)):
            if a is not None and is_float0(x):
                leaves[i], axes[i] = without_axis(x, a), None
            elif a is not None and not is_array_like(x):
                raise errors.not_an_array("vmap", x, _names(args, kwargs, fun)[i])
        # what is the same in all batch elements may be anything; Python numbers stay so, for static arguments
        values = [
            x if a is None and (is_float0(x) or not isinstance(x, np.ndarray)) else to_value(x)
            for x, a in zip(leaves, axes, strict=True)
        ]
        axes = [
            None
            if a is None
            else _check_axis(a, typeof(v).ndim, _names(args, kwargs, fun)[i], "vmap")
            for i, (a, v) in enumerate(zip(axes, values, strict=True))
        ]
        size = _size("vmap", fun, args, kwargs, values, axes, axis_size)
        mapped_ones = [
            move_axis(v, a, 0) for v, a in zip(values, axes, strict=True) if a is not None
        ]
        out_structure: list[tree.PyTreeDef] = []

        def flat(*batched: Operand) -> list[Operand]:
            remaining = iter(batched)
            full = [x if a is None else next(remaining) for x, a in zip(values, axes, strict=True)]
            args_, kwargs_ = tree.unflatten(structure, full)
            _, outs, found = numbers_of(call(*args_, **kwargs_), size)
            out_structure.append(found)
            return [to_value(x) for x in outs]

        every = [True] * len(mapped_ones)
        outs, batched = vmap_flat(flat, size, mapped_ones, every, axis_name)
        return _place_results(outs, batched, out_structure[0], out_axes, size)

    return mapped


def _broadcast_constant(x: Operand, size: int) -> Operand:
    wide = broadcast(x, size)
    return weakened(wide) if typeof(x).weak else wide


def _place_results(
    outs: Sequence[Operand], batched: Sequence[bool], structure: tree.PyTreeDef, out_axes: PyTree,
    size: int,
) -> PyTree:  # fmt: skip
    axes: list[Any] = [out_axes] * len(outs)
    if not (out_axes is None or isinstance(out_axes, int)):
        whole = tree.unflatten(structure, range(len(outs)))
        given = out_axes if isinstance(whole, list) else _tuple_of_list(out_axes)
        axes = tree.broadcast_prefix(given, whole, _is_none, "vmap(out_axes)")
    placed: list[Value] = []
    for i, (x, b, axis) in enumerate(zip(outs, batched, axes, strict=True)):
        if axis is None:
            if b:
                raise ValueError(
                    f"xcore.vmap: out_axes is None for result leaf {i}, but its value differs between batch elements. "
                    "Give an axis, or reduce over the batch elements (lax.psum with an axis_name)."
                )
            placed.append(to_user(x))
            continue
        x = x if b else _broadcast_constant(x, size)
        axis = _check_axis(axis, typeof(x).ndim, f"result leaf {i}", "vmap")
        placed.append(to_user(move_axis(x, 0, axis)))
    return tree.unflatten(structure, placed)
