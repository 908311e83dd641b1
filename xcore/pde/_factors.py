"""Sparse factors of an operator on a grid, kept on the host, in the order of nested dissection.

The grid is cut in halves by a line or plane of nodes, which comes last, and each half likewise: what the factors
fill in grows as n log n in two dimensions. (George 1973, "Nested dissection of a regular finite element mesh")
"""

from __future__ import annotations

import functools
import hashlib
import threading
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np

from .._control import linear_call, pure_callback
from .._core import ShapeDtypeStruct, typeof
from ..sparse._superlu import superlu
from ._couplings import Couplings, inside, offsets
from ._grid import size

_MOST_KEPT, _MOST_BYTES = 64, 2**30
_DROPPED, _FILLED = (
    3e-4,
    30,
)  # of incomplete factors: what is left out, how many times the matrix they may hold
_SMALL = 6  # nodes along the longest axis: not cut any more
_kept: OrderedDict[Any, Any] = OrderedDict()
_lock = threading.Lock()


@functools.lru_cache(16)
def dissected(shape: tuple, reach: int = 1, rings: tuple = ()) -> np.ndarray:
    """The flat places of all nodes in the order of nested dissection; halves are so far apart that rows that look as
    far as ``reach`` do not meet. A ring is cut open first: its two ends meet, and halves would fill in what is
    between them."""
    rest, opened = np.arange(size(shape)).reshape(shape), []
    for axis in (i for i, ring in enumerate(rings) if ring and shape[i] > _SMALL * reach):
        ends, rest = np.split(rest, [reach], axis)
        opened.append(ends)
    parts = [x.ravel()[_in_halves(x.shape, reach)] for x in (rest, *reversed(opened))]
    return np.concatenate(parts)


def _in_halves(shape: tuple, reach: int) -> np.ndarray:
    """The order for a box whose sides do not meet."""
    parts: list[np.ndarray] = []

    def cut(low, high):
        wide = [b - a for a, b in zip(low, high, strict=True)]
        if min(wide) <= 0:
            return
        if max(wide) <= _SMALL * reach:
            box = np.ix_(*[np.arange(a, b) for a, b in zip(low, high, strict=True)])
            parts.append(np.ravel_multi_index(box, shape).ravel())
            return
        axis = int(np.argmax(wide))
        middle = (low[axis] + high[axis] - reach + 1) // 2
        put = lambda x, v: (*x[:axis], v, *x[axis + 1 :])  # noqa: E731
        cut(low, put(high, middle))
        cut(put(low, middle + reach), high)
        box = np.ix_(*[np.arange(a, b) for a, b in
                       zip(put(low, middle), put(high, middle + reach), strict=True)])  # fmt: skip
        parts.append(np.ravel_multi_index(box, shape).ravel())

    cut((0,) * len(shape), shape)
    return np.concatenate(parts)


class Spec(NamedTuple):
    """Which equations are solved, and how.

    Attributes:
      shape, rings: of fields.
      way: "all"; "pinned", all with one unknown held, of an operator with constants in its kernel; either followed by
        ", incomplete", without elements that are small in their column of the factors; or for each axis
        1 or -1: the elements that lead back where nodes are numbered in these directions, which one sweep solves.
        (Bey and Wittum 1997, "Downwind numbering")
    """

    shape: tuple
    rings: tuple
    way: Any


def prepared(c: Couplings, way: Any) -> np.ndarray:
    """Makes factors and keeps them; what they are found by."""
    every = tuple(c.elements[o] for o in offsets(len(c.shape), c.reach))
    return np.frombuffer(_key(Spec(c.shape, c.rings, way), every), np.uint8)


def _key(spec: Spec, every: tuple) -> bytes:
    digest = hashlib.blake2b(repr(spec).encode(), digest_size=16)
    for x in every:
        digest.update(np.ascontiguousarray(x).data)
    key = digest.digest()
    with _lock:
        known = key in _kept
    if not known:
        _keep(key, _factored(spec, every))
    return key


def _keep(key: bytes, made) -> None:
    with _lock:
        _kept[key] = made
        while len(_kept) > _MOST_KEPT or (len(_kept) > 1 and _bytes_kept() > _MOST_BYTES):
            _kept.popitem(last=False)


def _bytes_kept() -> int:
    return sum(made[0].nnz * 12 for made in _kept.values() if made is not None)


def _found(spec: Spec, key: bytes, every: tuple):
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    made = _factored(spec, every)  # they were dropped, or are of another process
    _keep(key, made)
    return made


def _factored(spec: Spec, every: tuple):
    """(SuperLU's factors, the order of unknowns); None of a singular matrix."""
    from scipy import sparse

    reach = (round(len(every) ** (1 / len(spec.shape))) - 1) // 2
    wide = np.complex128 if any(np.iscomplexobj(x) for x in every) else np.float64
    named = zip(offsets(len(spec.shape), reach), every, strict=True)
    c = Couplings({o: np.asarray(x).astype(wide) for o, x in named}, spec.shape, spec.rings)
    if not all(np.isfinite(x).all() for x in c.elements.values()):
        return None
    whole = isinstance(spec.way, str)
    order = dissected(c.shape, max(1, reach), c.rings) if whole else _numbered(c.shape, spec.way)
    values, rows, columns = (c if whole else _led_back(c, spec.way)).triples()
    n, place = size(c.shape), np.empty(size(c.shape), np.int64)
    place[order] = np.arange(n)
    if whole and spec.way.startswith(
        "pinned"
    ):  # rows still balance, so the unknown that is held becomes 0
        values = np.append(values, np.abs(c.centre).max())
        last = order[~c.alone.ravel()[order]][-1]
        rows, columns = (np.append(x, last) for x in (rows, columns))
    a = sparse.coo_array((values, (place[rows], place[columns])), shape=(n, n)).tocsc()
    own: dict[str, Any] = {"diag_pivot_thresh": 1e-3, "options": {"SymmetricMode": True}}
    own = own if whole else {"diag_pivot_thresh": 0.0, "relax": 1, "panel_size": 1}
    small = whole and spec.way.endswith("incomplete")
    own |= {"drop_tol": _DROPPED, "fill_factor": _FILLED} if small else {}
    made = superlu(a, small, permc_spec="NATURAL", **own)
    return None if made is None else (made, order)


def _numbered(shape: tuple, signs: tuple) -> np.ndarray:
    places = np.arange(size(shape)).reshape(shape)
    return places[tuple(slice(None, None, s) for s in signs)].ravel()


def _led_back(c: Couplings, signs: tuple) -> Couplings:
    """The elements from where an offset leads to nodes of a lower number, none of them around a ring."""
    open_ = inside(c._replace(rings=(False,) * len(signs)))
    back = lambda o: tuple(s * x for s, x in zip(signs, o, strict=True)) <= (0,) * len(signs)  # noqa: E731
    return open_._replace(elements={o: x for o, x in open_.elements.items() if back(o)})


def _on_host(spec: Spec, turned: bool, key, every, b):
    every, b = tuple(map(np.asarray, every)), np.asarray(b)
    made = _found(spec, np.asarray(key).tobytes() or _key(spec, every), every)
    if made is None:
        return np.full_like(b, np.nan)
    lu, order = made
    flat = b.reshape(-1)[order]
    solve = functools.partial(lu.solve, trans="T" if turned else "N")
    wide = np.complex128 if np.iscomplexobj(every[0]) else np.float64
    if np.iscomplexobj(b) and wide is np.float64:
        found = solve(flat.real.astype(wide)) + 1j * solve(flat.imag.astype(wide))
    else:
        found = solve(flat.astype(wide))
    out = np.empty_like(b.reshape(-1))
    out[order] = found if np.iscomplexobj(out) else found.real
    return out.reshape(b.shape)


def solved(spec: Spec, key, every: tuple, b):
    """The solution by factors that ``prepared`` made; linear in b, with its transpose."""

    def call(turned: bool, given, b):
        host = functools.partial(_on_host, spec, turned)
        like = ShapeDtypeStruct(spec.shape, typeof(b).dtype)
        return pure_callback(host, like, *given, b, vmap_method="sequential")

    given = key, every
    return linear_call(lambda g, b: call(False, g, b), lambda g, b: call(True, g, b), given, b)
