"""What the setting ``sanitize`` looks at in the user's calls: casts, columns beside rows, lost results."""

from __future__ import annotations

import functools

import numpy as np

from .. import _ops as ops
from .._control.checks import first_bad, report
from .._core import config, dtypes, findings, fused, typeof
from .._ops import full_like_type
from ._columns import called_name, is_meant

# Casts


def check_cast(who: str, x, dtype) -> None:
    """Tell of numbers that do not survive a cast: out of range, NaN, or cut off by fewer bits.

    Integers of the same width, signed and unsigned, hold the same bits, and that is not a loss.
    """
    if isinstance(x, np.ndarray):
        _check_floats(who, x, np.dtype(dtype))
    if not _may_lose(typeof(x), dtype) or not findings.looks_for("overflow"):
        return
    if findings.is_guarded_here():
        return
    lost, value = _lost(x, dtype)
    name = np.dtype(dtype).name
    report("overflow", lost, f"{who}: the number {{}} does not fit in {name}", value)


def _check_floats(who: str, x: np.ndarray, dtype) -> None:
    """The same for floats on the host that overflow in fewer bits; compiled casts are checked by their results."""
    if {dtypes.kind(x.dtype), dtypes.kind(dtype)} == {"float"} and findings.looks_for("infinity"):
        with np.errstate(over="ignore"):
            lost = x[np.isfinite(x) & ~np.isfinite(x.astype(dtype))]
        if lost.size:
            findings.report(
                "infinity", f"{who}: the number {lost.flat[0]} does not fit in {dtype.name}"
            )


def _may_lose(t, dtype) -> bool:
    old, new = dtypes.kind(t.dtype), dtypes.kind(dtype)
    if new not in ("int", "uint") or not t.size or old not in ("int", "uint", "float"):
        return False
    return old == "float" or t.dtype.itemsize > dtype.itemsize or (old, new) == ("int", "uint")


@fused(1)
def _lost(x, dtype):
    t = typeof(x)
    x = ops.convert(ops.stop_gradient(x) if dtypes.is_inexact(t.dtype) else x, dtype=t.dtype)
    if dtypes.is_inexact(t.dtype):
        bad = ops.not_(_in_range(ops.convert(x, dtype=_roomy(t.dtype)), dtype))
    else:
        bad = ops.ne(ops.convert(ops.convert(x, dtype=dtype), dtype=t.dtype), x)
    return first_bad(bad, x)


def _roomy(dtype):
    """A dtype in which the bounds of integers are finite, which float16's are not."""
    return dtypes.float32 if dtype.itemsize < 4 else dtype


def _in_range(x, dtype):
    info, t = dtypes.iinfo(dtype), typeof(x).strong()
    low, high = float(info.min), float(info.max // 2 + 1) * 2
    below = t.dtype.type(low - 1) < t.dtype.type(low)  # whether there is a number in between
    above = ops.gt(x, full_like_type(t, low - 1)) if below else ops.ge(x, full_like_type(t, low))
    return ops.and_(above, ops.lt(x, full_like_type(t, high)))


# Whole numbers have no infinity


def dividing(op):
    """A quotient or remainder of integers, which tells where it is asked to divide by 0."""

    def on_values(x, y):
        if typeof(y).size and findings.looks_for("infinity") and not findings.is_guarded_here():
            lost, value = first_bad(ops.eq(y, ops.zeros(typeof(y).strong())), x)
            report("infinity", lost, "the whole number {} is divided by 0", value)
        return op(x, y)

    return on_values


# Lost digits

_DIGITS = 1e-3  # of a sum that is wrong by more, fewer than three digits are left


def check_digits(who: str, a, total, axes, count=None) -> None:
    """Tell of a sum in float32 whose terms cancel: in float64 it is another. ``count``: what a mean divides by."""
    if typeof(a).dtype != dtypes.float32 or findings.is_allowed("cancellation"):
        return
    a, total = (ops.convert(ops.stop_gradient(x), dtype=dtypes.float64) for x in (a, total))
    true = ops.reduce_sum(a, axes=axes)
    t = typeof(true)
    if count is not None:
        true = ops.div(true, full_like_type(t, count))
    wrong = ops.abs(ops.sub(total, true))
    bad = ops.gt(wrong, ops.mul(ops.abs(true), full_like_type(t, _DIGITS)))
    finite = ops.lt(wrong, full_like_type(t, np.inf))
    lost, value = first_bad(ops.and_(bad, finite), true)
    message = f"{who}: the sum loses its digits by cancellation: in float64 it is {{}}"
    report("cancellation", lost, message, value)


# Columns beside rows

_BETWEEN = tuple(
    f"xcore.numpy.{m}"
    for m in ("_sanitize", "_promote", "_apply", "_elementwise", "_operators", "_select")
)


def note_columns(who: str, shapes) -> None:
    """Tell of (n,) beside (n, 1), which make (n, n), unless the line speaks of the new axis."""
    rows = {s[0] for s in shapes if len(s) == 1 and s[0] > 1}
    columns = {s[0] for s in shapes if len(s) == 2 and s[1] == 1}
    both = rows & columns
    if not both or not findings.looks_for("broadcast"):
        return
    places = findings.places_of_callers()
    if not places or not (findings.only_through(*_BETWEEN) or _is_called(who, places[0])):
        return
    findings.do_not_reuse_trace()
    if not is_meant(places):
        n = both.pop()
        findings.report(
            "broadcast", f"{who}: ({n},) beside ({n}, 1) makes ({n}, {n}). If every pair is meant, write the "
            "axis into the line: x[:, None]; if not, flatten the column: y[:, 0].", places[0],
        )  # fmt: skip


def _is_called(who: str, place) -> bool:
    """Whether the user's line calls this function, which broadcasts what it is given, and not one that needs it."""
    name = who.rpartition(".")[2]
    return called_name(place) in (name, {"isclose": "allclose"}.get(name))


# Lost results


def kept(name: str, function):
    """A method that in NumPy works in place: a result that nobody keeps is a finding."""

    @functools.wraps(function)
    def method(self, *args, **kwargs):
        if config.settings().sanitize:
            findings.report_discarded(
                f"x.{name}() gives a new array, and nobody keeps it: arrays do not change. "
                f"Write x = x.{name}().", __name__,
            )  # fmt: skip
        return function(self, *args, **kwargs)

    return method
