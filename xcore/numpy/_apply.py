"""Functions of arrays made from functions of numbers, vectors and slices."""

from __future__ import annotations

import re

from .._control import vmap
from .._core import dtypes, errors, is_array_like, tree, typeof
from .._core.source import wraps
from ._creation import asarray
from ._promote import as_array, broadcast_shapes, one_axis
from ._shape import expand_dims

# vectorize

_NAME = r"\w+"
_CORE = rf"\((?:(?:{_NAME})(?:,(?:{_NAME}))*)?\)"
_SIGNATURE = rf"{_CORE}(?:,{_CORE})*->{_CORE}(?:,{_CORE})*$"


def _parsed_signature(signature: str):
    """The core dimensions of each argument and each result."""
    text = signature.replace(" ", "")
    if not re.match(_SIGNATURE, text):
        raise errors.bad_argument(
            "numpy.vectorize", "signature", signature, "of a form such as '(m,n),(n)->(m)'"
        )
    sides = text.split("->")
    return [
        [tuple(d for d in core.split(",") if d) for core in re.findall(r"\(([^)]*)\)", s)]
        for s in sides
    ]


def vectorize(pyfunc, *, excluded=frozenset(), signature=None):
    """A function of numbers (or of small arrays) applied over arrays that broadcast.

    Args:
      pyfunc: a function written with xcore functions.
      excluded: positions and names of arguments that are passed on as they are.
      signature: the axes that the function itself handles, such as '(n),(n)->()'. A number is a name too,
        as in NumPy's vectorize: of axes of one length, whatever it is.

    >>> import xcore.numpy as xnp
    >>> xnp.vectorize(lambda a, b: xnp.where(a > b, a, b))(xnp.arange(3), 1)
    Array([1, 1, 2], dtype=int32)
    """
    if not callable(pyfunc):
        raise errors.bad_argument("numpy.vectorize", "pyfunc", pyfunc, "a function")
    listed = isinstance(excluded, (set, frozenset, list, tuple))
    if not listed or any(not isinstance(e, str) and not _is_position(e) for e in excluded):
        raise errors.bad_argument(
            "numpy.vectorize",
            "excluded",
            excluded,
            "a set of positions and names, positions from 0 on",
        )
    cores = None if signature is None else _parsed_signature(signature)

    def vectorized(*args, **kwargs):
        static = {i for i in excluded if isinstance(i, int)}
        missing = {i for i, x in enumerate(args) if x is None}  # passed on as None
        held = static | missing
        free = {k: v for k, v in kwargs.items() if k not in excluded}
        names = list(free)
        arrays = [x for i, x in enumerate(args) if i not in held] + list(free.values())

        def f(*values):
            it = iter(values)
            filled = [x if i in held else next(it) for i, x in enumerate(args)]
            return pyfunc(*filled, **(kwargs | dict(zip(names, it, strict=True))))

        given = [i for i in range(len(args)) if i not in static]
        return _apply_over(f, arrays, _without(cores, given, missing), signature)

    return wraps(pyfunc)(vectorized)


def _is_position(e) -> bool:
    return isinstance(e, int) and e >= 0


def _without(cores, given: list, missing: set):
    """The axes in a signature without those of arguments that are None."""
    if cores is None or not missing:
        return cores
    here = [c for i, c in zip(given, cores[0], strict=False) if i not in missing]
    return [here + cores[0][len(given) :], cores[1]]


def _apply_over(f, arrays, cores, signature):
    who = "numpy.vectorize"
    arrays = [_mapped(who, x) for x in arrays]
    inputs = [()] * len(arrays) if cores is None else cores[0]
    if len(inputs) != len(arrays):
        raise errors.bad_argument(who, "signature", signature, f"for {len(arrays)} arguments")
    sizes: dict = {}
    for x, core in zip(arrays, inputs, strict=True):
        _note_sizes(sizes, typeof(x), core, signature)
    shapes = [
        typeof(x).shape[: typeof(x).ndim - len(core)]
        for x, core in zip(arrays, inputs, strict=True)
    ]
    common = broadcast_shapes(who, *shapes) if shapes else ()
    checked = f if cores is None else _checked_results(f, cores[1], sizes, signature)
    return _vmap_each(checked, shapes, common)(
        *[_without_unit_axes(x, s) for x, s in zip(arrays, shapes, strict=True)]
    )


def _mapped(who: str, x):
    """An argument as an array; keys stay what they are."""
    if _is_of_keys(x):
        return x
    return as_array(who, x if is_array_like(x) else asarray(x))


def _is_of_keys(x) -> bool:
    return isinstance(getattr(x, "dtype", None), dtypes.ExtendedDtype)


def _note_sizes(sizes: dict, t, core, signature) -> None:
    if t.ndim < len(core):
        raise errors.bad_argument(
            "numpy.vectorize", "signature", signature, f"with at most {t.ndim} axes for {t}"
        )
    for name, n in zip(core, t.shape[t.ndim - len(core) :], strict=True):
        wanted = sizes.setdefault(name, n)
        if wanted != n:
            raise errors.ShapeError(
                f"xcore.numpy.vectorize: axis {name!r} of the signature {signature} has lengths {wanted} and {n}."
            )


def _checked_results(f, results, sizes: dict, signature):
    def checked(*values):
        out = f(*values)
        parts = out if isinstance(out, tuple) else (out,)
        if len(parts) != len(results):
            raise errors.bad_argument(
                "numpy.vectorize", "signature", signature, f"with {len(parts)} results"
            )
        for part, core in zip(parts, results, strict=True):
            t = typeof(part if _is_of_keys(part) else as_array("numpy.vectorize", part))
            if t.ndim != len(core):
                raise errors.bad_argument(
                    "numpy.vectorize",
                    "signature",
                    signature,
                    f"with {t.ndim} axes for the result {t}",
                )
            _note_sizes(sizes, t, core, signature)
        return out

    return checked


def _without_unit_axes(x, lead):
    """Leading axes of length 1 are not mapped over: they are dropped."""
    gone = tuple(i for i, n in enumerate(lead) if n == 1)
    rest = tuple(n for i, n in enumerate(typeof(x).shape) if i not in gone)
    return x.reshape(rest) if gone else x


def _vmap_each(f, shapes, common):
    """The function under one vmap for each common axis, the last axis innermost."""
    axes = [[len(s) - len(common) + i for s in shapes] for i in range(len(common))]
    for i in reversed(range(len(common))):
        in_axes = tuple(
            0 if p >= 0 and s[p] != 1 else None for s, p in zip(shapes, axes[i], strict=True)
        )
        if common[i] == 1 or all(a is None for a in in_axes):
            f = _with_new_axis(f)
        else:
            f = vmap(f, in_axes=in_axes)
    return f


def _with_new_axis(f):
    return lambda *values: tree.map(lambda y: expand_dims(y, 0), f(*values))


# Along an axis


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """A function of vectors applied to all slices along an axis.

    Args:
      func1d: a function of a 1-d array; its result takes the place of the axis. It may be a tree of arrays.
      axis: along which axis.
      arr: array.
      *args, **kwargs: passed on.

    >>> import xcore.numpy as xnp
    >>> xnp.apply_along_axis(xnp.sum, 0, xnp.arange(4).reshape(2, 2))
    Array([2, 4], dtype=int32)
    """
    arr = as_array("numpy.apply_along_axis", arr)
    ndim = typeof(arr).ndim
    axis = one_axis("numpy.apply_along_axis", axis, ndim)

    def f(x):
        found = func1d(x, *args, **kwargs)
        return tree.map(lambda part: as_array("numpy.apply_along_axis", part, "func1d"), found)

    # axes before it become leading, axes behind it trailing axes of the result
    for k in range(1, ndim - axis):
        f = vmap(f, in_axes=1, out_axes=-k)
    for _ in range(axis):
        f = vmap(f, in_axes=0, out_axes=0)
    return f(arr)


def apply_over_axes(func, a, axes):
    """A function of an array and an axis applied along several axes, one after the other.

    Args:
      func: such as ``xnp.sum``; if its result has an axis less, the axis is put back.
      a: array.
      axes: an int or several.

    >>> import xcore.numpy as xnp
    >>> xnp.apply_over_axes(xnp.sum, xnp.ones((2, 3)), (0, 1))
    Array([[6.]], dtype=float32)
    """
    who = "numpy.apply_over_axes"
    a = as_array(who, a)
    ndim = typeof(a).ndim
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        axis = one_axis(who, axis, ndim)
        out = as_array(who, func(a, axis))
        a = out if typeof(out).ndim == ndim else expand_dims(out, axis)
        if typeof(a).ndim != ndim:
            raise errors.bad_argument(who, "func", out, "a function that keeps or drops one axis")
    return a
