"""Kernels: elementwise operations whose program is that of a Python function.

A special function is one operation to every transform, with the derivative its author wrote: programs
stay short, a loop inside it is never batched or differentiated by accident, and its text appears when
the program is lowered. For 16 and 32 bits a kernel computes in float64 and rounds once, so what is
written and tested for float64 is right to half an ulp in the others; where that is too slow for how
often a function is called, and its formulas hold in float32, it is ``narrow`` and computes there.
"""

from __future__ import annotations

import functools
import math

from .. import _ops as ops
from .._control import while_loop
from .._core import ArrayType, config, dtypes, trace_closed, trace_program, typeof
from .._core.op import BOUNDED, texts
from .._ops.families import ZERO, elementwise, ones, zeros
from .._transforms.jvp import jvp_flat
from ..numpy._promote import astype
from ._elementary import where


class _Auto:
    def __repr__(self):
        return "AUTO"


AUTO = _Auto()  # a derivative by forward mode through the kernel's own function


def kernel(name: str, f, *slopes, kind: str = "float", narrow: bool = False):
    """An operation on arrays of one shape and ``kind`` that computes ``f(*args)`` element by element.

    ``f`` is called with float64 (complex128) tracers, or, if it is ``narrow``, for all but float64
    arguments with float32 ones. ``slopes`` has one entry per argument: ``None`` where there is no
    derivative, ``AUTO``, or a function ``slope(y, *args)`` of the result and the arguments, which
    becomes a kernel itself, as narrow as this one, when it is first needed.
    """
    how = {"kind": kind, "narrow": narrow}
    rules = tuple(_rule(name, f, i, slope, len(slopes), how) for i, slope in enumerate(slopes))
    lower = _lowering(name, f, narrow)
    texts[name] = lambda *types: _program(name, f, types[0], len(types), narrow)
    return elementwise(name, args=len(slopes), kinds={kind}, jvp=rules, lower=lower)


def _wide_dtype(kind: str):
    return dtypes.complex128 if kind == "complex" else dtypes.float64


def _working_dtype(dtype, narrow: bool):
    if narrow and dtypes.to_real(dtype) != dtypes.float64:
        return dtypes.complex64 if dtypes.is_complex(dtype) else dtypes.float32
    return _wide_dtype(dtypes.kind(dtype))


def _lowering(name, f, narrow):
    def lower(ctx, *values):
        program = _program(name, f, ctx.out_types[0].strong(), len(values), narrow)
        return ctx.call_program(program, values)[0]

    return lower


def _unless_nan(xs, value):
    """The value, and NaN (in both parts) wherever an argument is: kernels' comparisons may have lost it."""
    nan = ops.full_like_type(typeof(value), math.nan)
    nan = ops.complex(ops.real(nan), ops.real(nan)) if dtypes.is_complex(nan.dtype) else nan
    for x in xs:
        value = ops.select(ops.eq(x, x), value, nan)
    return value


# The kernels that are right to the last digit but one of float32 when pairs of it stand for float64
# (tests/_control/test_in_pairs.py); a TPU refuses all others that compute in float64.
_IN_PAIRS = {
    f"special.{name}"
    for name in """dawsn ellipe ellipk ellipkm1 exp1 expi fresnel_c fresnel_cos fresnel_s fresnel_sin gammaln
        gammasgn i0 i0e i1 i1e inv_boxcox k0 k0e k1 k1e lambertw_0 lambertw_1 legendre log1mexp si
        spence xlog1py xlogy""".split()
}


def _program(name, f, t: ArrayType, count: int, narrow: bool):
    """The kernel's text for arguments of one type. What the user has set is not its business."""
    dtype = _working_dtype(t.dtype, narrow)

    def text(*xs):
        return [_unless_nan(xs, astype(f(*[astype(x, dtype) for x in xs]), t.dtype))]

    with config.override(default_bits=64, numpy_dtype_promotion="standard", disable_jit=False):
        made = trace_closed(text, [t] * count, name)
    made.cache[BOUNDED] = name in _IN_PAIRS
    return made


# Derivatives


def _rule(name, f, i, slope, count, how):
    if slope is None:
        return ZERO
    if slope is AUTO:
        made = functools.cache(lambda: _forward(name, f, i, count, how))
        return lambda g, y, *args: _times(g, made(), args)
    made = functools.cache(lambda: kernel(f"{name}_d{i}", slope, *[AUTO] * (count + 1), **how))
    return lambda g, y, *args: _times(g, made(), (y, *args))


def _times(g, op, args):
    return None if op is None else ops.mul(g, op(*args))


def forward_slope(f, *args, i: int = 0):
    """The partial derivative of ``f(*args)`` in its i-th argument, by forward mode; None if it is 0."""
    steps = [ones(typeof(x)) if k == i else None for k, x in enumerate(args)]
    return jvp_flat(lambda *xs: [f(*xs)], args, steps)[1][0]


def _forward(name, f, i, count, how):
    """The kernel of the i-th partial derivative; None if it vanishes identically."""

    def partial(*args):
        slope = forward_slope(f, *args, i=i)
        moves.append(slope is not None)
        return zeros(typeof(args[i])) if slope is None else slope

    moves: list[bool] = []
    with config.override(default_bits=64, numpy_dtype_promotion="standard", disable_jit=False):
        trace_program(lambda *xs: [partial(*xs)], [ArrayType((), _wide_dtype(how["kind"]))] * count)
    return kernel(f"{name}_d{i}", partial, *[AUTO] * count, **how) if moves[0] else None


# Loops


def converge(step, state, limit: int, active, linger: float = 1.0):
    """Repeat ``step(k, *state) -> (state, more)`` for every active element until its ``more`` is False.

    An element that has finished keeps its state, so its result does not depend on the others. ``k``
    counts from 0 as a float64. ``linger`` is how many times longer an element goes on: derivatives of
    a series or a continued fraction, which take the same steps, converge a little later.
    """

    def body(carry):
        k, end, *state = carry
        number = _spread(k, end)
        new, more = step(number, *state)
        running = ops.lt(number, end)
        kept = [where(running, a, b) for a, b in zip(new, state, strict=True)]
        finish = linger * (number + 1.0) + (4.0 if linger > 1.0 else 0.0)
        return (k + 1.0, where(more, end, ops.min(end, finish)), *kept)

    def unfinished(carry):
        return ops.lt(carry[0], _largest(carry[1]))

    end = where(active, float(limit), 0.0)
    return while_loop(unfinished, body, (0.0, end, *state))[2:]


def repeat(step, state, times: int):
    """``step(k, *state)`` a fixed number of times."""

    def body(carry):
        k, *state = carry
        return (k + 1.0, *step(k, *state))

    return while_loop(lambda carry: carry[0] < float(times), body, (0.0, *state))[1:]


def forward(step, state, counts):
    """``state = step(k, *state)`` for k = 0, 1, … as often as each element's count says."""
    counts = _only_finite(counts)

    def body(carry):
        k, *state = carry
        number = _spread(k, counts)
        running = ops.lt(number, counts)
        new = step(number, *state)
        return (k + 1.0, *[where(running, a, b) for a, b in zip(new, state, strict=True)])

    last = _largest(counts)
    return while_loop(lambda carry: ops.lt(carry[0], last), body, (0.0, *state))[1:]


def backward(step, state, counts):
    """``state = step(n, *state)`` for n from each element's count, rounded up, down to 1.

    The stable way to sum a continued fraction, or to find a recurrence's decaying solution, when it
    is known how far out to start.
    """
    counts = _only_finite(counts)

    def body(carry):
        n, *state = carry
        number = _spread(n, counts)
        running = ops.lt(number, counts + 1.0)
        new = step(number, *state)
        return (n - 1.0, *[where(running, a, b) for a, b in zip(new, state, strict=True)])

    return while_loop(lambda carry: carry[0] >= 1.0, body, (ops.ceil(_largest(counts)), *state))[1:]


def _only_finite(counts):
    """The counts, and 0 for those that are NaN or infinite: the largest one is everybody's limit."""
    return where(ops.abs(counts) < math.inf, counts, 0.0)


def _spread(scalar, like):
    """A scalar in the shape of an array."""
    return ops.broadcast_in_dim(scalar, shape=typeof(like).shape, dims=())


def _largest(x):
    return ops.reduce_max(x, axes=tuple(range(typeof(x).ndim)))
