"""Families of distributions on the line: formulas of a standard variate in, public functions out.

A family's formulas take the standardised variable z = (x - loc) / scale, inside the support, and the
shape parameters. What surrounds them is here, once: arguments read and broadcast, values outside the
support, parameters that make no sense (NaN), the logarithms and inverses that follow from others.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import while_loop
from .._core import boundary, config, dtypes, fused, typeof
from ..numpy._promote import as_array, as_arrays, astype
from ._moments import MOMENTS
from ._slopes import by_density, quantile_by_density

CONTINUOUS = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
# How the formula of a density begins, of continuous families and of discrete ones.
_DENSITY = ("The density at loc = 0 and scale = 1 is f(x)", "The probability at loc = 0 is P(k)")
OF_SHAPES = ("entropy", "mean", "var", "std")  # of no point
DISCRETE = ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")


@dataclass(frozen=True, eq=False)
class Formulas:
    """What must be known of a family: functions of (z, *shapes), or of (q, *shapes) for ``ppf``, ``isf``.

    Attributes:
      shapes: names of the shape parameters.
      log_density: log of the density, or of the probability of a whole number.
      cdf, sf: the distribution function and what is missing to 1, each accurate where it is small.
      logcdf, logsf: their logarithms, where these are more than that.
      ppf, isf: the inverses of cdf and sf; without them one is found by bisection.
      entropy: function of the shapes; the family has a method of this name if it is given.
      low, high: ends of the support, numbers or functions of the shapes.
      inside: function of the shapes: a point in the support.
      valid: function of the shapes: where they make sense.
      symmetric: sf(z) = cdf(-z).
      open_low: the lower end does not belong to the support.
      whole: the variate is a whole number.
      wide: the terms of the formulas cancel, so 32 bits are computed in float64.
      flat: cdf's formula changes its form at the middle, where it is flat: its derivatives by z are the density's. Far
        in a tail formulas of logarithms have more digits than the difference of two logarithms.
      slopes: how derivatives of ppf and isf are found: from the "formula"; by q from the density, where the formula is
        flat at the "level" 1/2; or all of them from the "equation" cdf = q, as without a formula.
    """

    log_density: Callable
    cdf: Callable | None = None
    sf: Callable | None = None
    logcdf: Callable | None = None
    logsf: Callable | None = None
    ppf: Callable | None = None
    isf: Callable | None = None
    entropy: Callable | None = None
    shapes: tuple = ()
    low: float | Callable = -np.inf
    high: float | Callable = np.inf
    inside: Callable = lambda *shapes: 0.0
    valid: Callable = lambda *shapes: True
    symmetric: bool = False
    open_low: bool = False
    whole: bool = False
    wide: bool = False
    slopes: str = "formula"
    flat: bool = False


def named(name: str) -> Any:
    """What the package has under a name: copies and pickles of families are these themselves."""
    return getattr(sys.modules[__package__], name)


class Family:
    """A family of distributions; its methods are functions of arrays that broadcast.

    They are differentiable in x and in the parameters, and NaN where a parameter makes no sense.
    """

    def __init__(self, name: str, doc: str, formulas: Formulas, density: str = ""):
        self.name, self.formulas, self.discrete = name, formulas, formulas.whole
        self.__doc__ = f"{doc}\n\n{_DENSITY[self.discrete]} = {density}." if density else doc
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [inspect.Parameter(n, kind) for n in formulas.shapes]
        parameters.append(inspect.Parameter("loc", kind, default=0))
        if not self.discrete:
            parameters.append(inspect.Parameter("scale", kind, default=1))
        self.__signature__ = inspect.Signature(parameters)
        more = ("entropy",) if formulas.entropy else ()
        more += OF_SHAPES[1:] if name in MOMENTS else ()
        for which in (*(DISCRETE if self.discrete else CONTINUOUS), *more):
            setattr(self, which, self._function(which))

    def __repr__(self):
        return f"xcore.stats.{self.name}{self.__signature__}"

    def __reduce__(self):
        return named, (self.name,)

    @boundary
    def __call__(self, *parameters, **named) -> Frozen:
        """The distribution with these parameters: its methods take the rest.

        >>> from xcore import stats
        >>> stats.norm(loc=1.0, scale=2.0).cdf(1.0)
        Array(0.5, dtype=float32)
        """
        try:
            bound = self.__signature__.bind(*parameters, **named)
        except TypeError as e:
            raise TypeError(
                f"xcore.stats.{self.name}: {e}; it takes {self.__signature__}."
            ) from None
        bound.apply_defaults()
        return Frozen(self, bound.args)

    def median(self, *parameters, **named):
        """The quantile of a half."""
        return self.ppf(0.5, *parameters, **named)

    def interval(self, confidence, *parameters, **named):
        """(low, high), the quantiles between which a part ``confidence`` lies, with equal parts beside it."""
        low, high = 0.5 * (1 - confidence), 0.5 * (1 + confidence)
        return self.ppf(low, *parameters, **named), self.ppf(high, *parameters, **named)

    @boundary
    def __getattr__(self, which: str):
        kinds = DISCRETE if self.discrete else CONTINUOUS
        instead = _INSTEAD.get(which, "")
        raise AttributeError(
            f"xcore.stats.{self.name} has {', '.join(kinds)}, but no {which!r}.{instead} SciPy's own takes arrays of "
            f"xcore, on the host: from scipy.stats import {self.name}."
        )

    def _function(self, which: str):
        argument = "q" if which in ("ppf", "isf") else "k" if self.discrete else "x"
        first = inspect.Parameter(argument, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        parameters = [] if which in OF_SHAPES else [first]
        signature = self.__signature__.replace(
            parameters=[*parameters, *self.__signature__.parameters.values()]
        )

        def compute(*arguments):
            return _compute(self, which, *arguments)

        compute.__name__ = f"{self.name}_{which}"
        program = fused(len(signature.parameters))(compute)
        count = len(signature.parameters)

        def f(*args, **named):
            if named or len(args) != count:
                bound = signature.bind(*args, **named)
                bound.apply_defaults()
                args = bound.args
            return program(*args)

        f.__name__, f.__qualname__ = which, f"{self.name}.{which}"
        f.__signature__ = signature
        f.__doc__ = (
            f"{_WHAT[which]} of ``xcore.stats.{self.name}``: {str(self.__doc__).splitlines()[0]}"
        )
        return f


_INSTEAD = {
    "fit": " Maximise xnp.sum(logpdf(x, ...)) by xcore.optimize.minimize.",
    "rvs": " Numbers are drawn by xcore.random, with a key: xcore.random.normal(key, shape).",
}
_WHAT = {
    "pdf": "The density",
    "logpdf": "The logarithm of the density",
    "pmf": "The probability of k",
    "logpmf": "The logarithm of the probability of k",
    "cdf": "The probability of at most x",
    "logcdf": "The logarithm of the probability of at most x",
    "sf": "The probability of more than x",
    "logsf": "The logarithm of the probability of more than x",
    "ppf": "The quantile, where cdf reaches q,",
    "isf": "The upper quantile, where sf falls to q,",
    "entropy": "The entropy",
    "mean": "The mean",
    "var": "The variance",
    "std": "The standard deviation",
}


class Frozen:
    """A distribution of a family, by its parameters: ``pdf(x)``, ``cdf(x)`` and all methods of the family."""

    def __init__(self, family: Family, parameters: tuple):
        self.family, self.parameters = family, parameters

    def __repr__(self):
        return f"xcore.stats.{self.family.name}{self.parameters}"

    @boundary
    def __getattr__(self, which: str):
        if which.startswith("__"):
            raise AttributeError(which)
        f = getattr(self.family, which)
        return lambda *x, **named: f(*x, *self.parameters, **named)


# Reading arguments


def _compute(family: Family, which: str, *arguments):
    """One function of a family, of arguments as the user gave them."""
    who = f"stats.{family.name}.{which}"
    promoted = as_arrays(who, *arguments, inexact=True, kinds=("float",))
    t = typeof(promoted[0])
    wide = family.formulas.wide or t.dtype.itemsize < 4 or family.discrete
    work = dtypes.float64 if wide else t.dtype
    with config.override(narrow=False):  # what is asked for here is not the user's
        return _computed(family, which, who, arguments, t, work)


def _computed(family: Family, which: str, who: str, arguments, t, work):
    # integers go straight to the working dtype: float32 does not tell large ones apart
    given = [xnp.broadcast_to(astype(as_array(who, a), work), t.shape) for a in arguments]
    x = None if which in OF_SHAPES else given.pop(0)
    scale = xnp.ones_like(given[-1]) if family.discrete else given.pop()
    *shapes, loc = given
    valid = (scale > 0) & family.formulas.valid(*shapes)
    shapes = [xnp.where(valid, s, np.nan) for s in shapes]
    if which in OF_SHAPES:
        out = _of_shapes(family, which, shapes, loc, scale)
    else:
        out = _evaluator(family, which)(family.formulas, which, x, shapes, loc, scale)
        valid = valid & ~xnp.isnan(x) & ~xnp.isnan(loc)
    return astype(xnp.where(valid, out, np.nan), t.dtype)


def _of_shapes(family: Family, which: str, shapes, loc, scale):
    if which == "entropy":
        return family.formulas.entropy(*shapes) + xnp.log(scale)  # pyright: ignore[reportOptionalCall]
    mean, variance = MOMENTS[family.name]
    if which == "mean":
        return loc + scale * mean(*shapes)
    if which == "std":
        return scale * xnp.sqrt(variance(*shapes) * xnp.ones_like(scale))  # a number without shapes
    return scale**2 * variance(*shapes)


def _evaluator(family: Family, which: str) -> Callable:
    if which in ("ppf", "isf"):
        return _quantile
    return _discrete if family.discrete else _density


def _ends(f: Formulas, shapes, like) -> list:
    ends = [e(*shapes) if callable(e) else e for e in (f.low, f.high)]
    return [xnp.zeros_like(like) + e for e in ends]


# Logarithms


def _mirrored(g):
    return lambda z, *shapes: g(-z, *shapes)


def log_of(p, rest):
    """log p, given p and 1 - p, of which the smaller one is the accurate one."""
    small = p < 0.5
    return xnp.where(
        small, xnp.log(xnp.where(small, p, 0.5)), xnp.log1p(-xnp.where(small, 0.5, rest))
    )


@functools.cache
def sides(f: Formulas) -> dict:
    """cdf, sf, and their logarithms, those that are not given made from the others."""
    cdf = f.cdf
    assert cdf is not None
    sf = f.sf or _mirrored(cdf)
    logcdf = f.logcdf or (lambda z, *s: log_of(cdf(z, *s), sf(z, *s)))
    mirrored = _mirrored(logcdf) if f.symmetric else None
    logsf = f.logsf or mirrored or (lambda z, *s: log_of(sf(z, *s), cdf(z, *s)))
    given = {"cdf": cdf, "sf": sf, "logcdf": logcdf, "logsf": logsf}
    return {which: by_density(f, which, g) for which, g in given.items()} if f.flat else given


# What the four are below and above the support.
_OUTSIDE = {"cdf": (0.0, 1.0), "sf": (1.0, 0.0), "logcdf": (-np.inf, 0.0), "logsf": (0.0, -np.inf)}


def _within(f: Formulas, z, shapes):
    """(z where it is in the support and a point of it elsewhere, below it, above it)."""
    low, high = _ends(f, shapes, z)
    below = (z <= low if f.open_low else z < low) | (z == -np.inf)
    above = (z > high) | (z == np.inf)
    return xnp.where(below | above, f.inside(*shapes), z), below, above


def _density(f: Formulas, which: str, x, shapes, loc, scale):
    z = (x - loc) / scale
    if which not in ("pdf", "logpdf"):
        return _side(f, which, z, shapes)
    inner, below, above = _within(f, z, shapes)
    log_p = f.log_density(inner, *shapes) - xnp.log(scale)
    log_p = xnp.where(below | above, -np.inf, log_p)
    return log_p if which == "logpdf" else xnp.exp(log_p)


def _side(f: Formulas, which: str, z, shapes):
    """cdf, sf or one of their logarithms at z, which may lie outside of the support."""
    low, high = _ends(f, shapes, z)
    below, above = z <= low, z >= high
    inner = xnp.where(below | above, f.inside(*shapes), z)
    at_low, at_high = _OUTSIDE[which]
    value = sides(f)[which](inner, *shapes)
    return xnp.where(below, at_low, xnp.where(above, at_high, value))


def _discrete(f: Formulas, which: str, x, shapes, loc, scale):
    z = x - loc
    if which in ("pmf", "logpmf"):
        inner, below, above = _within(f, z, shapes)
        out = below | above | (z != xnp.floor(z))
        log_p = xnp.where(out, -np.inf, f.log_density(xnp.floor(inner), *shapes))
        return log_p if which == "logpmf" else xnp.exp(log_p)
    return _count_side(f, which, xnp.floor(z), shapes)


def _count_side(f: Formulas, which: str, k, shapes):
    """Unlike in the continuous case the lowest number has a probability, and cdf(low) is it."""
    low, high = _ends(f, shapes, k)
    below, above = k < low, k >= high
    inner = xnp.where(below | above, f.inside(*shapes), k)
    at_low, at_high = _OUTSIDE[which]
    return xnp.where(below, at_low, xnp.where(above, at_high, sides(f)[which](inner, *shapes)))


# Quantiles


def _quantile(f: Formulas, which: str, q, shapes, loc, scale):
    low, high = _ends(f, shapes, q)
    low = low - 1 if f.ppf is None and f.whole else low
    at_zero, at_one = (high, low) if which == "isf" else (low, high)
    inner = (q > 0) & (q < 1)
    z = _quantiles(f, which)(xnp.where(inner, q, 0.5), *shapes)
    z = xnp.where(inner, z, xnp.where(q == 0, at_zero, xnp.where(q == 1, at_one, np.nan)))
    return loc + scale * z


@functools.cache
def _quantiles(f: Formulas, which: str) -> Callable:
    """The inverse of cdf or sf, of 0 < q < 1."""
    found = f.ppf is not None or f.isf is not None
    value = _inverse(f, which) if found else lambda q, *s: _sought(f, which, q, s)
    if f.whole or (found and f.slopes == "formula"):
        return value
    return quantile_by_density(f, sides(f), which, value)


def _inverse(f: Formulas, which: str):
    given = f.ppf if which == "ppf" else f.isf
    if given is not None:
        return given
    other = f.isf if which == "ppf" else f.ppf
    assert other is not None
    return (lambda q, *s: -other(q, *s)) if f.symmetric else (lambda q, *s: other(1 - q, *s))


def _sought(f: Formulas, which: str, q, shapes):
    """The quantile by bisection, and for densities a step of Newton's.

    Densities go by the smaller of q and 1 - q; of counts the quantile of cdf(k) is k.
    """
    shapes = [ops.stop_gradient(s) for s in shapes]
    side = _count_side if f.whole else _side
    far = (q > 0.5) & (not f.whole)
    upper = far if which == "ppf" else ~far
    level = ops.stop_gradient(xnp.where(far, 1 - q, q))

    def probability(z):
        return xnp.where(upper, side(f, "sf", z, shapes), side(f, "cdf", z, shapes))

    def reached(z):
        p = probability(z)
        return xnp.where(upper, p <= level, p >= level)

    z = _bisected(reached, *_ends(f, shapes, level), whole=f.whole, known=_known_ends(f))
    if f.whole:
        return z
    miss = xnp.where(upper, -1.0, 1.0) * (level - probability(z))
    step = miss / xnp.exp(f.log_density(z, *shapes))
    return z + xnp.where(xnp.isfinite(step), step, 0.0)


def _known_ends(f: Formulas) -> tuple[bool, bool]:
    """Whether the support's lower and upper end are finite whatever the parameters are."""
    low, high = [not callable(e) and np.isfinite(e) for e in (f.low, f.high)]
    return bool(low), bool(high)


def _bisected(reached, low, high, whole: bool, known: tuple[bool, bool]):
    """Where a condition that holds from some z on begins to hold.

    An end that is ``known`` to be finite need not be searched for.
    """
    first = xnp.where(xnp.isfinite(low), low - (1.0 if whole else 0.0), -1.0)
    last = xnp.where(xnp.isfinite(high), high, 1.0)
    if not known[0]:
        first = _widened(first, lambda z: reached(z) & ~xnp.isfinite(low))
    if not known[1]:
        last = _widened(last, lambda z: ~reached(z) & ~xnp.isfinite(high))

    def halve(state):
        t, a, b = state
        middle = a + 0.5 * (b - a)
        middle = xnp.floor(middle) if whole else middle
        hit = reached(middle)
        return t + 1, xnp.where(hit, a, middle), xnp.where(hit, middle, b)

    def unfinished(state):
        t, a, b = state
        open_ = (b - a > 1) if whole else (b - a > 1e-15 * xnp.maximum(xnp.abs(a), xnp.abs(b)))
        return (t < 1100) & xnp.any(open_)

    return while_loop(unfinished, halve, (np.int32(0), first, last))[2]


def _widened(edge, needed):
    """The edge moved outwards, each time to twice its distance, as long as that is needed."""

    def move(state):
        t, z, _ = state
        short = needed(z)
        return t + 1, xnp.where(short, 2 * z, z), xnp.any(short)

    start = (np.int32(0), edge, np.bool_(True))
    return while_loop(lambda s: (s[0] < 1000) & s[2], move, start)[1]
