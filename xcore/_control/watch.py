"""The setting ``sanitize`` at run time: programs run with their checks, and their results are looked at.

Checks that stand in a program (positions, casts, singular matrices) are made into a number that the
program returns. NaN and infinities are looked for in the results alone, so that what a ``where``
takes away counts for nothing. If there are some, the program is run once more, one operation at a
time, and the way goes back from the result to the operation that made them of finite numbers.
"""

from __future__ import annotations

import functools

import numpy as np

from .._core import Array, config, dtypes, findings
from .._core.eval import execute, prepare, to_array
from .._core.findings import Pending
from .._core.op import Op
from .._core.program import Literal, Program, Var, literal_value, trace_closed
from .._core.source import borrowed, describe_where, user_frame
from .._core.trace import bind, evaluating
from .._ops import elementwise, transcendental, zeros
from .checked import MOVE, checker
from .checks import Error, tell_failed

_KINDS = frozenset({"user"})
_ENOUGH = 3  # so often is looked for the origin in a program that has shown to have none
_STEPS = 20000  # of a loop that are run one by one


def run(p: Program, arrays) -> list[Array]:
    """The results of a program, if nothing is wrong."""
    outs = _with_checks(p, arrays)
    if config.settings().sanitize:
        bad = [_bad(x) for x in outs]
        if any(bad):
            _judge(p, arrays, outs, bad)
        elif findings.pending:
            _settle(arrays)
    return outs


def _plain(p: Program, arrays) -> list[Array]:
    exe, arrays = prepare(p, arrays)
    return execute(exe, arrays)


# Checks


def _with_checks(p: Program, arrays) -> list[Array]:
    threader = p.memo("sanitizer", lambda: checker(p, _KINDS))
    if not threader.finds(p):
        return _plain(p, arrays)

    outs = _plain(p.memo("sanitized", lambda: _threaded(threader, p)), arrays)
    n = len(threader.types)
    tell_failed(Error(outs[0], outs[1:n]))
    return outs[n:]


def _threaded(threader, p: Program) -> Program:
    """inputs -> (error, results)."""

    def flat(*args):
        error, outs = threader.run(p, [zeros(t) for t in threader.types], args)
        return [*error, *outs]

    q = trace_closed(flat, p.in_types, p.name)
    q.options = p.options
    return q


# NaN and infinities


def _host(x: Array):
    """The content as far as this process has it."""
    if not x.is_fully_addressable:
        parts = [np.asarray(s.data._content()) for s in x.addressable_shards]  # pyright: ignore[reportOptionalMemberAccess]
        return parts[0] if parts else np.zeros(0)
    return x._content()


def _bad(x) -> str | None:
    """What is in an array: "nan", "infinity" or nothing."""
    if not dtypes.is_inexact(x.dtype) or x.dtype.itemsize < 2:
        return None
    host = _host(x) if type(x) is Array else np.asarray(x)
    if np.isfinite(host).all():
        return None
    return "nan" if np.isnan(host).any() else "infinity"


def _where_bad(x, kind: str) -> np.ndarray:
    host = _host(x) if type(x) is Array else np.asarray(x)
    if not dtypes.is_inexact(host.dtype) or host.dtype.itemsize < 2:
        return np.zeros(host.shape, bool)
    return np.isnan(host) if kind == "nan" else np.isinf(host)


def _settle(arrays) -> None:
    """Nothing came of what was pending: somebody took it away."""
    for x in arrays:
        p = findings.pending_in(x)
        if p is not None:
            p.settled = True


def _judge(p: Program, arrays, outs, bad) -> None:
    """Tell of bad results, now or when they are read."""
    kind = "nan" if "nan" in bad else "infinity"
    place = user_frame()
    if findings.is_allowed(kind, place) or findings.is_ignored(kind):
        return
    low = _only_low(outs, bad)
    wrong = sorted((i for i, b in enumerate(bad) if b == kind), key=lambda i: _is_low(outs[i]))
    search = functools.partial(_origin, p, arrays, wrong, kind, low, place)
    found = _pending_of(arrays, low)
    direct = findings.is_direct()
    if not direct or _is_guarded(place):
        found = found or Pending(kind, None, place, search=search, direct=direct)
    else:
        found = search() or found
        if found is None or findings.is_allowed(found.kind, found.where):
            return
        if found.known() is not None and not found.mild:
            found.settled = True
            findings.report(found.kind, found.text, found.where or ())
    for x, b in zip(outs, bad, strict=True):
        if b:
            findings.mark_pending(x, found)


def _is_guarded(place) -> bool:
    """Whether it is open if a bad value counts, as the user's line guards it."""
    return borrowed.where is None and bool(place) and findings.is_guarded(place)


def _pending_of(arrays, low: bool) -> Pending | None:
    """What was pending for the arguments, and has come through."""
    for x in arrays:
        p = findings.pending_in(x)
        if p is not None:
            return Pending(p.kind, p.text, p.where) if p.mild and not low else p
    return None


def _only_low(outs, bad) -> bool:
    """Whether all that is not finite is minus infinity, as in the logarithm of a probability."""
    return all(_is_low(x) for x, b in zip(outs, bad, strict=True) if b)


def _is_low(x) -> bool:
    host = _host(x) if type(x) is Array else np.asarray(x)
    if dtypes.is_complex(host.dtype):
        return False
    return not bool((np.isnan(host) | (host == np.inf)).any())


# The origin


class _Found(Exception):
    def __init__(self, birth):
        self.birth = birth


class _Birth:
    """An operation that made a NaN or an infinity, and of what."""

    __slots__ = ("eqn", "ins", "kind", "then")

    def __init__(self, eqn, ins, kind):
        self.eqn, self.ins, self.kind = eqn, ins, kind
        self.then = None  # what made a NaN of the infinity


# What makes infinities of finite numbers that hardly anybody wants. Elsewhere, as for the quantile
# of 0, they are the function's value.
_OVERFLOWING = frozenset(
    "div mul add sub exp expm1 exp2 pow integer_pow square sinh cosh reduce_sum cumsum cumprod "
    "reduce_prod dot_general conv fft callback convert rsqrt reciprocal log log1p scatter sqrt cumlogsumexp".split()
)
_LOGARITHMS = ("log", "log1p", "log2", "cumlogsumexp")


def _origin(p: Program, arrays, wrong, kind: str, low: bool, place) -> Pending | None:
    """What made the bad results of a program, those numbered in ``wrong``, if it was made in it."""
    if p.cache.get("without origin", 0) >= _ENOUGH:
        return None
    birth = None
    with config.override(sanitize=False, sanitize_cancellation=False), evaluating():
        for i in wrong:
            birth = birth or _search(p, arrays, i, kind)
    if birth is None:
        p.cache["without origin"] = p.cache.get("without origin", 0) + 1
        return None
    name = birth.eqn.op.name
    if kind == "infinity" and name not in _OVERFLOWING and not birth.eqn.op.nested:
        return None
    mild = kind == "infinity" and name in _LOGARITHMS and low
    return Pending(kind, _describe(birth), birth.eqn.where or place, mild)


def _search(p: Program, arrays, output: int, kind: str) -> _Birth | None:
    """The operation of a program that made what is bad in one of its results."""
    env: dict = dict(zip(p.inputs, arrays, strict=True))
    maker: dict = {}

    def value(a):
        return env[a] if type(a) is Var else literal_value(a)

    for e in p.eqns:
        if not e.outputs:
            continue
        ins = [value(a) for a in e.inputs]
        for v, x in zip(e.outputs, bind(e.op, *ins, **e.params), strict=True):
            env[v], maker[v] = x, e
    seen: set = set()

    def root(birth) -> _Birth:
        """Where an infinity was made, if a NaN came of one."""
        for x in birth.eqn.inputs:
            if _where_bad(_concrete(value(x)), "infinity").any():
                found = back(x, "infinity")
                if found is not None and found.eqn.op.name in _OVERFLOWING:
                    found.then = birth
                    return found
        return birth

    def back(a, kind) -> _Birth | None:
        e = maker.get(a) if type(a) is Var else None
        if e is None or (a, kind) in seen:
            return None
        seen.add((a, kind))
        ins, sure = [value(x) for x in e.inputs], True
        if e.op.nested:
            found, sure = _inside(e, ins, kind)
            if found is not None:
                return found
        else:
            birth = _born(e, ins, env[a], kind)
            if birth is not None:
                return root(birth) if kind == "nan" else birth
        for x, v in _suspects(e, ins, env[a], kind):
            found = back(x, kind) if _where_bad(v, kind).any() else None
            if found is not None:
                return found
        if e.op.nested and not sure:
            return _Birth(e, list(map(_concrete, ins)), kind)
        return None

    return back(p.outputs[output], kind)


def _concrete(x):
    return to_array(x) if isinstance(x, Literal) else x


def _born(e, ins, out, kind: str) -> _Birth | None:
    """The operation itself, if it made what is bad: nothing that it was given was so."""
    bad = _where_bad(out, kind)
    given = [_where_bad(v, kind) for v in map(_concrete, ins)]
    if e.op.name in MOVE and (kind == "nan" or e.op.name != "convert"):
        return None  # it hands on what it was given (a narrower float may not hold it)
    if e.op.name in _ELEMENTWISE:
        before = np.zeros(bad.shape, bool)
        for g in given:
            before |= g
        new = bad & ~before
    else:
        new = bad if not any(g.any() for g in given) else np.zeros(1, bool)
    return _Birth(e, list(map(_concrete, ins)), kind) if new.any() else None


def _suspects(e, ins, out, kind: str) -> list:
    """The arguments that what is bad may have come from."""
    pairs = list(zip(e.inputs, map(_concrete, ins), strict=True))
    if e.op.name == "select":
        which = np.broadcast_to(np.asarray(_concrete(ins[0])), out.shape)
        bad = _where_bad(out, kind)
        return [pairs[1]] * bool((bad & which).any()) + [pairs[2]] * bool((bad & ~which).any())
    return pairs


_ELEMENTWISE = frozenset(
    op.name for m in (elementwise, transcendental) for op in vars(m).values() if type(op) is Op
)
_RUN_ONCE = ("call", "cond", "one_kernel", "custom_jvp", "custom_vjp")


def _inside(e, ins, kind: str) -> tuple:
    """(the origin in the programs that an operation holds, whether all of them could be searched)."""
    steps = 0

    def run(q, args):
        nonlocal steps
        steps += 1
        if steps > _STEPS:
            raise _Found(None)
        args = [to_array(a) for a in args]
        outs = _plain(q, args)
        fresh = not any(_where_bad(x, kind).any() for x in args)
        for i, x in enumerate(outs):
            if (fresh or e.op.name in _RUN_ONCE) and _where_bad(x, kind).any():
                found = _search(q, args, i, kind)
                if found is not None:
                    raise _Found(found)
        return outs

    try:
        e.op.run_steps(run, [to_array(v) for v in ins], e.params)
    except _Found as found:
        return found.birth, found.birth is not None
    return None, True


# Words

_ADVICE = {
    "log": "Logarithms are of positive numbers.",
    "log1p": "log1p is of numbers above -1.",
    "sqrt": "Square roots are of numbers not below 0.",
    "rsqrt": "Square roots are of numbers not below 0.",
    "pow": "Powers with a broken exponent are of numbers not below 0.",
    "div": "Choose the divisor before dividing: x / xnp.where(y == 0, 1, y).",
    "cholesky": "The matrix is not positive definite.",
    "exp": "The exponent is above what the dtype holds; subtract the largest first, as logsumexp does.",
}


def _describe(b: _Birth) -> str:
    types = ", ".join(str(getattr(x, "type", getattr(x, "dtype", type(x)))) for x in b.ins)
    made = "a NaN" if b.kind == "nan" else "an infinity"
    infinite = b.kind == "nan" and any(_where_bad(x, "infinity").any() for x in b.ins)
    source = "infinite numbers" if infinite else "finite numbers"
    advice = _ADVICE.get(b.eqn.op.name, "")
    message = f"the operation {b.eqn.op.name} ({types}) made {made} of {source}{_extremes(b.ins)}"
    if b.then is not None:
        place = describe_where(b.then.eqn.where)
        message += f", of which {b.then.eqn.op.name} made a NaN {place}".rstrip()
    return f"{message}. {advice}".rstrip()


def _extremes(ins) -> str:
    """The smallest and the largest number of the first argument."""
    if not ins or not np.size(ins[0]) or dtypes.is_complex(ins[0].dtype):
        return ""
    x = np.asarray(_host(ins[0]) if type(ins[0]) is Array else ins[0])
    if x.dtype.itemsize < 2:
        return ""
    low, high = np.nanmin(x), np.nanmax(x)
    return f" ({low:g})" if low == high else f" (from {low:g} to {high:g})"
