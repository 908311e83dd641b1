"""Saying and seeing how values are laid out over devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core import Array, Tracer, boundary, errors, is_evaluating, tree, typeof
from .._core.eval import is_array_like, to_array, to_value
from .._core.placing import reshard
from .._core.sharding import Sharding, as_sharding, is_placement, shape_of_tile, tile_indices
from .._core.typing import DeviceLike, PyTree, R, Shape
from .._ops.sharding import inspect_sharding, sharding_constraint


@boundary
def with_sharding_constraint(x: R, shardings: DeviceLike) -> R:
    """The same values, laid out over devices as given; inside ``jit`` it steers the compiler.

    Args:
      x: pytree of arrays.
      shardings: sharding, or PartitionSpec in ``with mesh:``, or a pytree of them; axes with
        ``P.UNCONSTRAINED`` are left to the compiler.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> s = xc.NamedSharding(xc.make_mesh((1,), "x"), xc.P("x"))
    >>> xc.jit(lambda v: xc.lax.with_sharding_constraint(2 * v, s))(xnp.ones(2))
    Array([2., 2.], dtype=float32)
    """
    who = "lax.with_sharding_constraint"
    leaves, structure = tree.flatten(x)
    targets = tree.broadcast_prefix(shardings, x, is_placement, who)
    return tree.unflatten(structure, [_constrain(who, v, t) for v, t in zip(leaves, targets)])


def _constrain(who: str, x, target):
    if target is None:
        return x
    if not is_array_like(x):
        raise errors.not_an_array(who, x)
    sharding = as_sharding(who, target)
    x = to_array(x) if is_evaluating() else to_value(x)
    shape_of_tile(sharding, typeof(x).shape)
    if len(sharding.devices) == 1 and is_evaluating():
        return reshard(x, sharding)
    return x if len(sharding.devices) == 1 else sharding_constraint(x, sharding=sharding)


# Pictures


def _cells(shape: tuple, sharding: Sharding) -> list:
    """Rows of texts, one for each tile: the devices that hold it."""
    rows: dict = {}
    for device, index in zip(sharding.devices, tile_indices(sharding, shape), strict=True):
        place = tuple([s.start or 0 for s in index])
        rows.setdefault(((0,) * (2 - len(place)) + place)[:2], []).append(device)
    grid: dict = {}
    for (i, j), devices in sorted(rows.items()):
        ids = ",".join(str(d.id) for d in devices)
        grid.setdefault(i, {})[j] = f"{devices[0].platform.upper()} {ids}"
    return [list(row.values()) for row in grid.values()]


def _table(rows, min_width: int) -> str:
    width = max(min_width, *(len(text) + 2 for row in rows for text in row))
    columns = len(rows[0])

    def line(left, middle, right):
        return left + middle.join(["─" * width] * columns) + right

    inner = [f"│{'│'.join(text.center(width) for text in row)}│" for row in rows]
    body = f"\n{line('├', '┼', '┤')}\n".join(inner)
    return "\n".join([line("┌", "┬", "┐"), body, line("└", "┴", "┘")])


@boundary
def visualize_sharding(
    shape: Shape, sharding: Sharding, *, use_color: bool = False, min_width: int = 0
) -> None:
    """Print which device holds which part of an array of one or two axes.

    Args:
      shape: shape of the array.
      sharding: how it is laid out.
      use_color: must be False: the picture is plain text.
      min_width: the least width of a cell.

    >>> import xcore as xc
    >>> s = xc.NamedSharding(xc.make_mesh((1,), "x", devices=xc.devices("cpu")), xc.P("x"))
    >>> xc.debug.visualize_sharding((4, 4), s)
    ┌───────┐
    │ CPU 0 │
    └───────┘
    """
    if use_color:
        raise errors.bad_argument("debug.visualize_sharding", "use_color", use_color, "False")
    shape = tuple(shape)
    if not 1 <= len(shape) <= 2:
        raise ValueError(
            f"xcore.debug.visualize_sharding: arrays of one or two axes can be drawn, given shape {shape}."
        )
    print(_table(_cells(shape, as_sharding("debug.visualize_sharding", sharding)), min_width))


@boundary
def visualize_array_sharding(arr: Array, **kwargs: Any) -> None:
    """Print which device holds which part of an array of one or two axes.

    Args:
      arr: the array.
      kwargs: as for ``visualize_sharding``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.debug.visualize_array_sharding(xc.device_put(xnp.zeros((4, 4)), xc.devices("cpu")[0]))
    ┌───────┐
    │ CPU 0 │
    └───────┘
    """
    inspect_array_sharding(arr, callback=lambda s: visualize_sharding(np.shape(arr), s, **kwargs))


@boundary
def inspect_array_sharding(value: PyTree, *, callback: Callable[[Sharding], Any]) -> None:
    """Call ``callback(sharding)`` with the sharding of an array.

    Inside ``jit`` it is called when the program is compiled, with what the compiler has chosen (in
    the function that is compiled itself, not in jitted functions that it calls).

    Args:
      value: array, or tracer under ``jit``.
      callback: function of a sharding.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.debug.inspect_array_sharding(xnp.ones(2), callback=lambda s: print(type(s).__name__))
    SingleDeviceSharding
    """
    inspect_sharding(value if isinstance(value, Tracer) else to_array(value), callback=callback)
