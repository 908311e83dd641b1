"""Programs interpreted with NumPy, operation by operation, in float64 and complex128.

A value has the dtype that it would have and is held wide. Run 0 makes no rounding errors to speak of; the
further ones make other ones at each inexact step, of the size that the dtype has. How far the runs
lie apart is how far apart right answers may lie: ill-conditioned programs, decisions at a tie and
cancelled digits give themselves away.
"""

import functools
import math
import warnings
import zlib

import ml_dtypes
import numpy as np
import scipy.special

from tests.fuzz import helpers, nests, promotion
from tests.fuzz.helpers import Unfit
from tests.fuzz.programs import Const, Type, kind, np_dtype, steps_of
from tests.fuzz.table import ROWS

RUNS = 5  # besides the one without errors
BUDGET = 60_000  # operations of one run
_NAMES = {"np": np, "xnp": np, "sp": scipy.special, "h": helpers}


class Value:
    """An array held wide, and its type."""

    __slots__ = ("data", "type")

    def __init__(self, data, dtype: str, weak: bool = False):
        self.data = data
        self.type = Type(tuple(data.shape), dtype, bool(weak))


def wide(dtype: str):
    return {"f": np.dtype(np.float64), "c": np.dtype(np.complex128)}.get(kind(dtype), np_dtype(dtype))  # fmt: skip


@functools.cache
def limits(dtype: str):
    """(largest, smallest normal, rounding error) of a float or complex dtype."""
    info = ml_dtypes.finfo(np_dtype(dtype))
    return float(info.max), float(info.tiny), float(info.eps) / 2


@functools.lru_cache(4096)
def _compiled(code: str):
    return compile(code, code, "eval")


def _within(x, largest):
    """Infinite where the dtype overflows."""
    if x.dtype.kind == "c":
        out = np.empty_like(x)
        out.real, out.imag = _within(x.real, largest), _within(x.imag, largest)
        return out
    return np.where(np.abs(x) > largest, np.copysign(np.inf, x), x)


SQUARED = {"norm", "xnp.std", "xnp.var", "xnp.nanvar"}


def _has_large_squares(value) -> bool:
    """Whether the sum of its squares may be beyond its dtype, the numbers being within it."""
    sizes = np.abs(value.data[np.isfinite(value.data)])
    return kind(value.type.dtype) in "fc" and bool(
        4 * (sizes**2).sum() > limits(value.type.dtype)[0]
    )


class Reference:
    """One run. ``bodies`` of nests are run by the functions of ``nests``."""

    def __init__(self, bits: int, run: int = 0):
        self.bits, self.run, self.spent, self.depth = bits, run, 0, 0
        self.marks: set = set()  # what happened that the table of differences asks for
        self._noise: dict = {}  # derivatives run the same steps many times

    @property
    def is_last(self) -> bool:
        return self.run == RUNS

    # Running

    def program(self, program) -> list:
        with np.errstate(all="ignore"):
            env = {i.name: self.input(i) for i in program.inputs}
            return self.body(program.as_body(), env)

    def input(self, given):
        if given.how == "python":
            return self.constant(given.data)
        dtype = str(given.data.dtype)
        return Value(given.data.astype(wide(dtype)), dtype)

    def constant(self, x):
        letter = np.asarray(x).dtype.kind
        dtype = promotion.default(letter, self.bits)
        value = Value(np.asarray(x, wide(dtype)), dtype, letter != "b")
        if self.run and letter in "fc":  # rounded to the default width, or in a program not
            value.data = self._nudged(value.data, Type((), "float32"), "number", 1.0)
        return value

    def body(self, body, env) -> list:
        for step in body.steps:
            env.update(zip(step.outs, self.step(step, env)))
        return [env[name] for name in body.results]

    def call(self, body, env, args) -> list:
        """A body on these values."""
        return self.body(body, {**env, **dict(zip(body.args, args))})

    def step(self, step, env) -> list:
        args = [self.constant(a.value) if isinstance(a, Const) else env[a] for a in step.args]
        if step.row in nests.NESTS:
            return nests.NESTS[step.row].reference(self, step, env, args)
        self.spent += 1
        if self.spent > BUDGET:
            raise Unfit("too expensive")
        row, params = ROWS[step.row], dict(step.params)
        types = self._types(row, args, params)
        self._mark(step.row, args)
        data = self._meeting(row, args, step.outs[0])
        if self.run and row.error > 1:
            data = [self._nudged(x, a.type, step.outs[0], 1.0) for x, a in zip(data, args)]
        outs = self._evaluated(row, data, params, types)
        return [self._result(x, t, row.error, name) for x, t, name in zip(outs, types, step.outs)]

    def _mark(self, row, args):
        if any(a.type.weak for a in args):
            self.marks.add(f"weak {row}")
        if row in SQUARED and any(map(_has_large_squares, args)):
            self.marks.add("squares")
        if row == "xnp.count_nonzero" and "slopes of slopes" in self.marks:
            sizes = np.abs(args[0].data)
            if np.any((sizes > 0) & (sizes < 1e-4)):
                self.marks.add("nearly 0 counted")
        if row == "xnp.signbit" and np.any(np.isnan(args[0].data)):
            self.marks.add("sign of NaN")
        if row == "interp" and any(np.any(np.isinf(a.data)) for a in args):
            self.marks.add("interp at infinity")

    def _types(self, row, args, params):
        rules = row.out if isinstance(row.out, tuple) else (row.out,)
        types = [a.type for a in args]
        return [self._type(rule, types, params) for rule in rules]

    def _type(self, rule, types, params):
        if rule == "param":
            return Type((), params["dtype"])
        if rule == "join2":
            return promotion.join(types[1:], self.bits)
        if rule == "complex":
            return Type(
                (), "complex128" if types[0].dtype in ("float64", "complex128") else "complex64"
            )
        if rule == "int32":
            return Type((), "int32")
        return promotion.RULES[rule](types, self.bits)

    def _meeting(self, row, args, name):
        if row.out[0] in promotion.MEETING or row.out in promotion.MEETING:
            joined = promotion.join([a.type for a in args], self.bits)
            rule = row.out[0] if isinstance(row.out, tuple) else row.out
            if rule.startswith("inexact"):
                joined = promotion.to_inexact(joined, self.bits)
            return [self._joining(a, joined, f"{name} {k}") for k, a in enumerate(args)]
        return [a.data for a in args]

    def _joining(self, value, joined, name):
        """A value in the joined dtype: to a narrower one, as a weak number's may be, it is rounded."""
        x = _converted(value.data, joined.dtype)
        if not self.run or not _is_narrower(joined.dtype, value.type.dtype):
            return x
        return self._nudged(x, Type((), joined.dtype), name, 1.0)

    def _evaluated(self, row, data, params, types):
        if "spd" in row.domain and not all(np.all(np.isfinite(x)) for x in data):
            raise Unfit("eager solvers refuse what is not finite")
        names = [f"v{k}" for k in range(len(data))]
        code = row.reference.format(*names, **{k: repr(v) for k, v in params.items()})
        try:
            out = eval(_compiled(code), dict(zip(names, data), dtype=types[0].dtype, **_NAMES))
        except (np.linalg.LinAlgError, ValueError, IndexError, TypeError, ZeroDivisionError) as e:
            raise Unfit(f"{code}: {e}") from e
        return out if isinstance(row.out, tuple) else (out,)

    def _result(self, x, t, error, name):
        x = np.asarray(x)
        if kind(t.dtype) not in "fc":
            return Value(x.astype(wide(t.dtype)), t.dtype, t.weak)
        x = _within(x.astype(wide(t.dtype)), limits(t.dtype)[0])
        if self.run and error:
            x = self._nudged(x, t, name, error)
        return Value(x, t.dtype, t.weak)

    # Errors

    def noise(self, name, shape):
        """Numbers in [-1, 1] that belong to a name and a run."""
        if (name, shape) not in self._noise:
            rng = np.random.default_rng([self.run, zlib.crc32(name.encode())])
            self._noise[name, shape] = rng.uniform(-1, 1, shape)
        return self._noise[name, shape]

    def _nudged(self, x, t, name, error):
        """x with rounding errors; what the dtype holds exactly has none (but where a derivative is
        taken: there each step must stay smooth)."""
        if kind(t.dtype) not in "fc":
            return x
        _, tiny, eps = limits(t.dtype)
        u = self.noise(name, x.shape)
        moved = x * (1 + error * eps * u)
        moved = np.where((np.abs(x) < tiny) & (u > 0), 0 * x, moved)
        if self.depth or error > 1:
            return moved
        return np.where(x.astype(np_dtype(t.dtype)) == x, x, moved)


def _is_narrower(dtype, given):
    return kind(dtype) in "fc" and kind(given) in "fc" and limits(dtype)[2] > limits(given)[2]


def _converted(x, dtype):
    return x if x.dtype == wide(dtype) else x.astype(wide(dtype))


# The answer


class Expected:
    """What a result should be: its type, its value, how far off it may be (inf: not known)."""

    def __init__(self, base, others, floor=0.0):
        self.type, self.data = base.type, base.data
        with np.errstate(all="ignore"):
            self.slack = self._slack(base, others) + floor * self._unit(base)

    def _unit(self, base):
        return limits(base.type.dtype)[2] if base.type.kind in "fc" else 0.0

    def _slack(self, base, others):
        x = base.data
        free = np.zeros(x.shape, bool)
        spread = np.zeros(x.shape)
        for other in others:
            if other.data.shape != x.shape:
                return np.full(x.shape, np.inf)
            same = (other.data == x) | ((other.data != other.data) & (x != x))
            free |= ~same & ~(np.isfinite(x) & np.isfinite(other.data))
            gap = (
                np.abs(other.data.astype(x.dtype) - x) if x.dtype.kind in "fc" else ~same * math.inf
            )
            spread = np.fmax(spread, np.where(same, 0, gap))
        if x.dtype.kind not in "fc":
            return np.where(np.isnan(spread) | (spread > 0), np.inf, 0.0)
        largest, tiny, eps = limits(base.type.dtype)
        scale = np.max(np.abs(x[np.isfinite(x)]), initial=0.0)
        slack = 30 * spread + 8 * eps * np.abs(x) + 2 * eps * scale + 4 * tiny
        slack = np.where(slack > np.maximum(1, np.abs(x)), np.inf, slack)  # says nothing
        edge = np.abs(x) + slack >= largest  # may or may not overflow
        return np.where(free | (edge & np.isfinite(x)), np.inf, slack)


def _floor(step) -> float:
    """Where terms of a derivative cancel, NumPy's differences are exactly 0 in every run: rounding
    errors of the terms, which in second derivatives are larger."""
    if step.row == "hessian":
        return 128.0
    return 8.0 if step.row in nests.NESTS and nests.NESTS[step.row].differentiates else 0.0


def expected(program, count: int = RUNS) -> tuple:
    """What each result should be, and the marks of the run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runs = [Reference(program.bits, run) for run in range(count + 1)]
        results = zip(*[run.program(program) for run in runs])
        floor = max(map(_floor, steps_of(program)), default=0.0)
        return [Expected(outs[0], outs[1:], floor) for outs in results], runs[0].marks
