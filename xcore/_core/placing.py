"""Arrays over several devices: moving them, and running programs on them.

Computation follows data: a program runs where its committed arguments are, spread as they are.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .array import Array, from_host
from .compile import executable, put
from .layout import Layout, check_one_place, layout_for, wanted
from .op import registry
from .program import Eqn, Program, Var
from .sharding import Sharding, same_layout, shape_of_tile
from .spans import Span, devices_of
from .types import Placed

if TYPE_CHECKING:
    from .._backend.client import Device, Executable
    from .._backend.surface import Buffer


def is_spread(p: Program, arrays: Sequence[Array]) -> bool:
    """Whether a program of these arguments runs on a mesh."""
    return bool(p.meshes or p.spans) or any([
        a._t.sharding is not None and len(a._t.sharding.devices) > 1 for a in arrays
    ])  # fmt: skip


def prepare_spread(
    p: Program, arrays: Sequence[Array], donors: Sequence[int] = ()
) -> tuple[Executable, list[Array]]:
    """The executable of a program on several devices, and its arguments where it wants them."""
    check_one_place(arrays, p.meshes)
    layout = layout_of(p, [a._t.sharding for a in arrays])
    assert layout is not None, "the program is spread"
    if p.spans:
        check_one_place(arrays, [layout.mesh])
    return executable(p, layout, donors), list(map(reshard, arrays, layout.inputs))


def layout_of(p: Program, shardings: Iterable[Sharding | None]) -> Layout | None:
    """The layout of a program of arguments with these shardings; None if all is on one device.

    An argument that is not spread already is laid out as the program wants it.
    """
    spread = [s if s is not None and len(s.devices) > 1 else None for s in shardings]
    if not p.meshes and not p.spans and not any(spread):
        return None
    ndims = [t.ndim for t in p.in_types]
    given, order, meshes = tuple(zip(spread, ndims, strict=True)), (), p.meshes
    for span in p.spans:
        order = devices_of(span, meshes, given)
        meshes = (*meshes, *span.over(order))
    pairs = zip(spread, wanted(p, order), ndims, strict=True)
    return layout_for(meshes, tuple([(s or w, n) for s, w, n in pairs]))


def order_for(span: Span, arrays: Sequence[Array]) -> tuple[Device, ...]:
    """The devices on which an exported program is called with these arguments."""
    spread = [
        (a._t.sharding, a, p)
        for a, p in itertools.zip_longest(arrays, span.ins)
        if a is not None and a._t.sharding is not None and len(a._t.sharding.devices) > 1
    ]
    same = (span.order_on(p, s) for s, _, p in reversed(spread) if p is not None and s is not None)
    found = next(filter(None, same), None)
    order = found or devices_of(span, (), [(s, a.ndim) for s, a, _ in spread])
    check_one_place([a for _, a, _ in spread], span.over(order)[:1])
    return order


def reshard(a: Array, sharding: Sharding, committed: bool = True) -> Array:
    """The array laid out in another way; itself if it is laid out so."""
    here = a._t.sharding
    if here is sharding or here == sharding:
        return a
    target = Placed(a.type, sharding, committed)
    if here is not None and same_layout(here, sharding, a.ndim):
        return Array(a._live_buffer(), target)
    shape_of_tile(sharding, a.shape)
    if here is not None and here.devices == sharding.devices and not _through_host(here):
        return Array(_in_layout(a, sharding), target)
    if len(sharding.devices) == 1:
        return from_host(np.asarray(a), put(a.type, sharding, committed))
    return from_host(np.asarray(a), target)


def _through_host(here: Sharding) -> bool:
    """Whether resharding goes through host memory: the devices are the host's, and all parts are here."""
    return here.is_fully_addressable and here.devices[0].platform == "cpu"


def _in_layout(a: Array, sharding: Sharding) -> Buffer:
    """The array's buffer in another layout on the same devices, by a compiled identity."""
    x, y = Var(a.type), Var(a.type)
    op = registry["sharding_constraint"]
    p = Program([x], [Eqn(op, [x], [y], {"sharding": sharding})], [y], "reshard")
    layout = layout_of(p, [a._t.sharding])
    assert layout is not None, "the array is spread"
    return executable(p, layout)([reshard(a, layout.inputs[0])._buffer()])[0]
