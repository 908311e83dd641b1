"""Checks of values that exist only at run time, and error values that say which check failed.

Every check has a site: its message, and where it stands. A site has a number, derived from its
content, so that programs are the same in every process; number 0 means that all is well. A failing
check hands on its number and the arrays that its message shows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _ops as ops
from .._backend.cache import blake2b
from .._backend.callbacks import wrap_callback
from .._core import Array, ArrayLike, Op, config, dtypes, errors, findings, nodes, tree
from .._core.eval import is_array_like, to_array, to_value
from .._core.program import INERT, canonical
from .._core.source import NOWHERE, boundary, source_line, user_frame
from .._core.trace import bind, is_evaluating
from .._core.types import ArrayType, Value, typeof
from .._ops import broadcast
from .callback import check_format, format_values

# Sites

_DYNAMIC = type("Dynamic", (), {"canonical": lambda self: "?"})()  # a place that an array fills
_ERRORS = {"index": errors.CheckIndexError, "overflow": errors.SanitizeOverflowError}


class Site:
    """A place where something is checked.

    Attributes:
      kind: "user", "index", "nan" or "div".
      fmt, in_tree, statics: the message, and its arguments but for the arrays.
      types: the types of the arrays.
      place: (file, line, function) of the user's line, or None.
    """

    __slots__ = ("fmt", "in_tree", "kind", "number", "place", "statics", "types", "where")

    def __init__(self, kind: str, fmt: str, in_tree, statics, types, where):
        self.kind, self.fmt, self.in_tree, self.statics = kind, fmt, in_tree, statics
        self.types, self.place, self.where = tuple(types), source_line(where), where
        self.number = _number(self)

    def key(self) -> str:
        statics = [canonical(s) for s in self.statics]
        return repr((self.kind, self.fmt, str(self.in_tree), statics, self.types, self.place))

    def message(self, values) -> str:
        place = " ({}:{} in {})".format(*self.place) if self.place else ""
        return self.text(values) + place

    def text(self, values) -> str:
        found = iter(values)
        leaves = [next(found) if s is _DYNAMIC else s for s in self.statics]
        args, kwargs = tree.unflatten(self.in_tree, leaves)
        return format_values(self.fmt, args, kwargs)


_sites: dict[int, Site] = {}


def _number(site: Site) -> int:
    """The id of a site with this content. It is positive and fits in int32."""
    key = site.key()
    number = int.from_bytes(blake2b(key.encode(), digest_size=4).digest()) >> 1 or 1
    while number in _sites and _sites[number].key() != key:
        number = number % (2**31 - 1) + 1
    _sites.setdefault(number, site)
    return number


def make_site(kind: str, fmt: str, args=(), kwargs=None, where=NOWHERE) -> tuple[Site, list]:
    """The site of a check and the arrays that its message shows."""
    leaves, in_tree = tree.flatten((tuple(args), kwargs or {}))
    dynamic = [is_array_like(x) and not isinstance(x, (bool, int, float)) for x in leaves]
    statics = [_DYNAMIC if d else x for x, d in zip(leaves, dynamic, strict=True)]
    values = [to_value(x) for x, d in zip(leaves, dynamic, strict=True) if d]
    return Site(kind, fmt, in_tree, statics, [typeof(v).strong() for v in values], where), values


_INDEX = "index {index} is out of bounds for axis {axis} of an array of shape {shape}"


def index_site(index, axis, shape, where) -> tuple[Site, list]:
    """The site of a check of positions; ``index`` and ``axis`` are int64 scalars."""
    return make_site(
        "index", _INDEX, (), {"index": index, "axis": axis, "shape": tuple(shape)}, where
    )


# Error values


def slots_for(slots, types) -> list[int]:
    """Which slots hold values of these types: the first of each type, the second, …"""
    taken, found = set(), []
    for t in types:
        i = next(i for i, s in enumerate(slots) if s == t and i not in taken)
        taken.add(i)
        found.append(i)
    return found


class Error:
    """Whether a check failed, as a value: a pytree that functions can return and take.

    ``get()`` is the message or None, ``throw()`` raises it. Made by ``checkify``; under vmap it
    holds an error for each batch element.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> error, y = xc.checkify.checkify(lambda x: 1 / x, errors=xc.checkify.div_checks)(0.0)
    >>> error.get() is None
    False
    >>> error.throw()  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    CheckError: division by zero (<e>:1 in <lambda>)
    """

    __slots__ = ("_code", "_payload")

    def __init__(self, code=None, payload=()):
        self._code = np.int32(0) if code is None else code
        self._payload = tuple(payload)

    def get(self) -> str | None:
        """The message of the first check that failed, for each failing batch element; None if none did.

        >>> import xcore as xc
        >>> def f(x):
        ...     xc.checkify.check(x > 0, "x is {}", x)
        >>> err, _ = xc.checkify.checkify(f)(-1.0)
        >>> err.get().startswith("x is -1.0")
        True
        """
        found = list(self._failures())
        if not found:
            return None
        if not found[0][0]:
            return found[0][1].message(found[0][2])
        return "\n".join(
            f"batch element {', '.join(map(str, i))}: {site.message(v)}" for i, site, v in found
        )

    def _failures(self):
        """(batch element, site, values) of every batch element that failed."""
        codes = np.asarray(self._code)
        payload = [np.asarray(p) for p in self._payload]
        own = [ArrayType(p.shape[codes.ndim :], p.dtype) for p in payload]
        for element in np.argwhere(codes).tolist():
            site, at = _sites[int(codes[tuple(element)])], (*element, ...)
            yield element, site, [payload[i][at] for i in slots_for(own, site.types)]

    def site(self) -> tuple[Site, str] | None:
        """Where the first check failed, and its message without the place."""
        for _, site, values in self._failures():
            return site, site.text(values)
        return None

    def exception(self) -> errors.CheckError | None:
        """The exception that ``throw`` raises, or None."""
        message = self.get()
        if message is None:
            return None
        return _ERRORS.get(next(self._failures())[1].kind, errors.CheckError)(message)

    def throw(self) -> None:
        """Raise JaxRuntimeError (a ValueError) if a check failed.

        >>> import xcore as xc
        >>> xc.checkify.Error().throw()
        """
        found = self.exception()
        if found is not None:
            raise found

    def __repr__(self):
        traced = isinstance(self._code, Value) and type(self._code) is not Array
        return f"Error({'...' if traced else self.get()})"


def _from_children(_, children) -> Error:
    made = object.__new__(Error)
    made._code, *payload = children
    made._payload = tuple(payload)
    return made


nodes.register_pytree_node(Error, lambda e: ((e._code, *e._payload), None), _from_children)

# The operation
# Arguments: the id of the site that failed (0: none), and values for its message. Both may have
# leading axes: batch elements.


def _raise_if_failed(code, *payload):
    Error(code, payload).throw()


def tell_failed(error: Error) -> None:
    """Raise or warn of a check that failed under the setting ``sanitize``."""
    found = error.site()
    if found is None:
        return
    site, text = found
    kind = site.kind if site.kind in findings.KINDS else "singular"
    if findings.is_allowed(kind, site.where):
        return
    if site.place is not None and findings.KINDS[kind]:
        raise findings.raised(error.exception())  # pyright: ignore[reportGeneralTypeIssues]
    if site.place is None:  # of a function of the library, which serves callers on any line
        findings.report(kind, text)
    else:
        findings.report(kind, text, site.where)


def _check_type(code, *payload, active, kind="user"):
    if code.dtype != dtypes.int32 or any(p.shape[: code.ndim] != code.shape for p in payload):
        raise errors.shape_mismatch(
            "check", "need an int32 code with the same batch elements", code=code
        )
    return []


def _check_eager(*args, active, kind="user"):
    sanitized = config.settings().sanitize
    if active or sanitized:
        code, *payload = [np.asarray(to_array(a)) for a in args]
        error = Error(code, payload)
        tell_failed(error) if sanitized and (kind == "index" or not active) else error.throw()
    return []


def _check_lower(ctx, *values, active, kind="user"):
    return (
        ctx.host_call(wrap_callback(_raise_if_failed, [], None), list(values), []) if active else []
    )


def _check_batch(size, args, batched, **params):
    full = [a if b else broadcast(a, size) for a, b in zip(args, batched, strict=True)]
    return bind(check_op, *full, **params), []


check_op = Op(
    "check",
    type=_check_type,
    lower=_check_lower,
    jvp=lambda primals, tangents, **params: (bind(check_op, *primals, **params), []),
    batch=_check_batch,
    eager=_check_eager,
    effects=lambda active, kind="user": frozenset({"check" if active else INERT}),
    many=True,
)


def fail_if(failed, site: Site, values, active: bool = True) -> None:
    code = ops.select(failed, np.int32(site.number), np.int32(0))
    kind = {"kind": "index"} if site.kind == "index" else {}
    bind(check_op, code, *values, active=active, **kind)


def first_bad(bad, values):
    """(whether any is bad, the value at the first bad place) of two arrays of one shape."""
    n = typeof(bad).size
    bad, values = ops.reshape(bad, shape=(n,)), ops.reshape(values, shape=(n,))
    place = ops.argmax(bad, axis=0, dtype=dtypes.int32)
    value = ops.dynamic_slice(values, place, sizes=(1,))
    return ops.reduce_or(bad, axes=(0,)), ops.reshape(value, shape=())


def outside(index, low: int, high: int):
    """Where positions (int64) are not in low, …, high."""
    t = typeof(index).strong()
    return ops.or_(
        ops.lt(index, ops.full_like_type(t, low)), ops.gt(index, ops.full_like_type(t, high))
    )


# Public functions


def _check(who: str, pred, msg, fmt_args, fmt_kwargs, active: bool) -> None:
    p = to_value(pred) if is_array_like(pred) else None
    if p is None or typeof(p).shape or typeof(p).dtype != bool:
        raise errors.DTypeError(
            f"xcore.checkify.{who}: the condition must be a boolean scalar, given {errors.describe(pred)}. "
            "Reduce arrays with .all() or .any()."
        )
    check_format(f"checkify.{who}", msg, len(fmt_args), fmt_kwargs)
    if is_evaluating() and (not active or bool(to_array(p))):
        return
    site, values = make_site("user", msg, fmt_args, fmt_kwargs, user_frame())
    if is_evaluating():
        Error(np.int32(site.number), values).throw()
    fail_if(ops.not_(p), site, values, active)


@boundary
def check(
    pred: ArrayLike, msg: str, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any
) -> None:
    """Demand that a condition holds when the program runs.

    Inside of a function transformed by ``checkify`` a failure becomes an error value. Elsewhere it
    raises JaxRuntimeError (a ValueError): at once, or from the compiled program.

    Args:
      pred: boolean scalar, True if all is well.
      msg: the message, a format string.
      fmt_args, fmt_kwargs: arrays or Python values for its fields.
      debug: check only inside of ``checkify`` or under the setting debug_checks.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> @xc.jit
    ... def mean(x):
    ...     xc.checkify.check((x > 0).all(), "all must be positive, given {x}", x=x)
    ...     return x.mean()
    >>> mean(xnp.asarray([1.0, -1.0]))  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    CheckError: all must be positive, given [ 1. -1.] (...)
    """
    _check("check", pred, msg, fmt_args, fmt_kwargs, not debug or config.settings().debug_checks)


@boundary
def debug_check(pred: ArrayLike, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """As ``check``, but only inside of ``checkify`` or under the setting debug_checks.

    Args:
      pred, msg, fmt_args, fmt_kwargs: as for ``check``.

    >>> import xcore as xc
    >>> xc.checkify.debug_check(False, "not looked at")
    >>> with xc.config.override(debug_checks=True):
    ...     xc.checkify.debug_check(True, "looked at")
    """
    _check("debug_check", pred, msg, fmt_args, fmt_kwargs, config.settings().debug_checks)


@boundary
def check_error(error: Error) -> None:
    """Demand that an error value holds no error: it is raised, or joins that of a ``checkify`` around.

    Args:
      error: the error value that a function made by ``checkify`` returned.

    >>> import xcore as xc
    >>> def f(x):
    ...     err, y = xc.checkify.checkify(lambda x: xc.checkify.check(x > 0, "no"))(x)
    ...     xc.checkify.check_error(err)
    >>> xc.checkify.checkify(f)(1.0)[0].get()
    """
    if not isinstance(error, Error):
        raise TypeError(
            f"xcore.checkify.check_error: expected an Error, given {errors.describe(error)}."
        )
    bind(check_op, error._code, *error._payload, active=True)


def report(kind: str, failed, fmt: str, *values) -> None:
    """Leave a check for the setting ``sanitize``: it is a finding if ``failed``, a boolean scalar, is true.

    Args:
      kind: one of ``findings.KINDS``, which says whether it is an error.
      failed: may be traced.
      fmt, values: the message, and the numbers in its braces.
    """
    if not findings.looks_for(kind):
        return
    if is_evaluating():
        if bool(to_array(failed)):
            findings.report(kind, format_values(fmt, values, {}))
    else:
        site, arrays = make_site(kind, fmt, values, None, user_frame())
        fail_if(failed, site, arrays, active=False)


def check_rows(rows, dims, shape, sizes) -> None:
    """Demand that the windows of a gather or scatter lie within an array."""
    t = typeof(rows)
    if t.size:
        ones, front = (1,) * t.ndim, t.shape[:-1]
        for k, axis in enumerate(dims.start_map):
            column = ops.slice(
                rows, start=(*(0,) * len(front), k), limit=(*front, k + 1), strides=ones
            )
            column = ops.convert(column, dtype=dtypes.int64)
            failed, value = first_bad(outside(column, 0, shape[axis] - sizes[axis]), column)
            fail_if(failed, *index_site(value, np.int64(axis), shape, user_frame()))


_WINDOW = "a window of size {size} at {index} does not lie within axis {axis} of an array of shape {shape}"


def check_starts(starts, shape, sizes) -> None:
    """Demand that windows of known sizes, at traced places, lie within an array."""
    for axis, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        index = ops.convert(start, dtype=dtypes.int64)
        failed = outside(index, 0, shape[axis] - size)
        about = {"size": size, "index": index, "axis": axis, "shape": tuple(shape)}
        fail_if(failed, *make_site("index", _WINDOW, (), about, user_frame()))


def check_positions(index, axis: int, shape, low: int | None = None) -> None:
    """Demand that traced positions lie within an axis: from ``low`` on, or negative ones count from the end."""
    if typeof(index).size:
        index = ops.convert(index, dtype=dtypes.int64)
        low = -shape[axis] if low is None else low
        failed, value = first_bad(outside(index, low, shape[axis] - 1), index)
        fail_if(failed, *index_site(value, np.int64(axis), shape, user_frame()))


def check_branch(index, count: int) -> None:
    """Demand that a branch which is chosen at run time is there."""
    index = ops.convert(index, dtype=dtypes.int64)
    text = "branch {index} is asked for, and there are {count}: the last one or the first would run instead"
    about = {"index": index, "count": count}
    fail_if(outside(index, 0, count - 1), *make_site("index", text, (), about, user_frame()))
