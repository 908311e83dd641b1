"""What the example of a docstring calls: the function itself, or of a class what its instance is used in.

A method of optimization is used by `minimize`, a solver by `linear_solve`, an operator by `@` or by its own call.
The first such call in the example of a class is the one that is tried (`facts.py`). Where the example only shows
what an instance looks like, it is applied to a vector, or written out in full.
"""

from __future__ import annotations

import contextlib
import dataclasses
import doctest
import enum
import functools
import importlib
import inspect
import io
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import xcore as xc
import xcore.numpy as xnp
from xcore.decomp import CP, TT, CanonicalTT, Tucker
from xcore.linalg import LinearOperator
from xcore.pde._fields import GridOperator

from .imports import surroundings
from .names import Place, places

# That take an instance among their arguments.
FUNCTIONS = """
    xcore.linalg.linear_solve xcore.optimize.minimize xcore.optimize.least_squares xcore.optimize.root
    xcore.optimize.proximal_gradient xcore.pde.integrate xcore.pde.trajectory xcore.pde.solve
""".split()
# Of the instance itself.
METHODS = "__call__ __matmul__ solve step read update".split()
# Factors that an example takes apart: tried by what makes them.
MAKERS = {
    "xcore.linalg.LUFactors": "xcore.linalg.lu_factor", "xcore.linalg.LDL": "xcore.linalg.ldl",
    "xcore.linalg.PivotedQR": "xcore.linalg.qr", "xcore.linalg.GaussLU": "xcore.linalg.gauss_lu",
}  # fmt: skip
# Where the example calls nothing: the method, and what it takes.
OTHERWISE = (
    ((CP, Tucker, TT, CanonicalTT), "to_dense", lambda made: ()),
    ((GridOperator,), "__call__", lambda made: (_vector(made.field_shape),)),
    ((LinearOperator,), "__matmul__", lambda made: (_vector(made.shape[1]),)),
)
# Classes that do not compute, by what they are instead.
NOTHING = {
    "a result, whose function has a row": """
        xcore.decomp.Degeneracy xcore.decomp.RankScan xcore.linalg.EliminationSteps xcore.numpy.linalg.EigResult
        xcore.numpy.linalg.EighResult xcore.numpy.linalg.QRResult xcore.numpy.linalg.SVDResult
        xcore.numpy.linalg.SlogdetResult xcore.optimize.CurveFit xcore.optimize.Result xcore.optimize.TrainState
        xcore.pde.FieldSolution xcore.pde.TrajectorySolution xcore.scipy.integrate.OdeResult
        xcore.scipy.optimize.OptimizeResults xcore.sparse.Inertia xcore.stats.ModeResult""",
    "a description that functions read": """
        xcore.lax.ConvDimensionNumbers xcore.lax.GatherDimensionNumbers xcore.lax.ScatterDimensionNumbers
        xcore.numpy.finfo xcore.numpy.iinfo xcore.optimize.Constraints xcore.optimize.LookaheadParams
        xcore.pde.Grid xcore.sparse.Pattern xcore.random.KeyArray""",
    "a condition on a boundary": "xcore.pde.Dirichlet xcore.pde.Neumann xcore.pde.Periodic xcore.pde.Robin",
    "a watcher of a run": "xcore.pde.Event xcore.pde.Print xcore.pde.Steady xcore.pde.Store",
    "a maker of functions, or of numbers from a state": "xcore.numpy.ufunc xcore.random.Generator",
}


class Use(NamedTuple):
    """A call, and through what a class is tried: the name of a function, of a method, or nothing."""

    via: str
    f: Callable
    args: tuple
    kwargs: dict


class _Seen(Exception):
    """Ends an example once the call is known."""


def computes(value: object) -> bool:
    """Whether it is a class of this package that can have a row; kinds of numbers, choices and errors have none."""
    return (
        inspect.isclass(value)
        and value.__module__.startswith("xcore")
        and not issubclass(value, enum.Enum | BaseException)
    )


@functools.cache
def without_rows() -> frozenset[str]:
    return frozenset(name for names in NOTHING.values() for name in names.split())


def recorded(place: Place) -> Use | None:
    """The first call in the example of a function, the first use in that of a class."""
    if inspect.isclass(place.value):
        return _of_class(place)
    kept: list[Use] = []

    @functools.wraps(place.value)
    def keep(*args, **kwargs):
        kept.append(Use("", place.value, args, kwargs))
        raise _Seen

    if _run(place, {place.name: keep}) is None:
        return None
    if not kept and (other := _of_one_text(place)):
        return recorded(other)
    return kept[0] if kept and not _traced(kept[0]) else None


def _of_class(place: Place) -> Use | None:
    cls: Any = place.value
    kept: list[Use] = []

    def keeping(via: str, f: Callable, goes_on: Callable, always: bool = False):
        @functools.wraps(goes_on)
        def keep(*args, **kwargs):
            use = Use(via, f, args, kwargs)
            here = sys._getframe(1).f_code.co_filename == "<example>"  # not from within
            if here and (always or _holds((args, kwargs), cls)) and not _traced(use):
                kept.append(use)
                raise _Seen
            return goes_on(*args, **kwargs)

        return keep

    maker = MAKERS.get(place.name)
    functions = {n: places()[n].value for n in ([maker] if maker else FUNCTIONS)}
    others = {n: keeping(n, f, f, bool(maker)) for n, f in functions.items()}
    found = [] if maker else [m for m in METHODS if hasattr(cls, m)]
    methods = {m: keeping(m, _method(m), _bound(inspect.getattr_static(cls, m))) for m in found}
    with _methods(cls, methods):
        scope = _run(place, others) or {}
    return kept[0] if kept else _otherwise([v for v in scope.values() if isinstance(v, cls)])


def _run(place: Place, others: dict[str, Callable]) -> dict[str, Any] | None:
    """The names that an example leaves, run with functions replaced up to where one of these ends it."""
    known = {id(places()[name].value): f for name, f in others.items()}
    around = {n: known.get(id(v), v) for n, v in surroundings(place.value).items()}
    short = others.get(place.name, place.value)
    scope: dict[str, Any] = {"xc": xc, "xnp": xnp, "np": np} | around | {place.short: short}
    before = set(scope) - {place.short}
    with contextlib.ExitStack() as stack:
        for name, f in others.items():
            stack.enter_context(_replaced(places()[name], f))
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        for example in doctest.DocTestParser().get_examples(inspect.getdoc(place.value) or ""):
            try:
                exec(compile(example.source, "<example>", "single"), scope)
            except _Seen:
                break
            except Exception:
                if not example.exc_msg:
                    return None
    return {n: v for n, v in scope.items() if n not in before}


def _otherwise(instances: list) -> Use | None:
    for kinds, name, args in OTHERWISE if instances else ():
        if isinstance(instances[0], kinds):
            return Use(name, _method(name), (instances[0], *args(instances[0])), {})
    return None


def _vector(shape):
    return xnp.cos(xnp.arange(np.prod(shape), dtype=xnp.float32)).reshape(shape)


def _method(name: str) -> Callable:
    """As functions of the instance, looked up when it is called."""
    return lambda made, *args, **kwargs: getattr(made, name)(*args, **kwargs)


def _bound(held: Any) -> Callable:
    return lambda made, *args, **kwargs: held.__get__(made, type(made))(*args, **kwargs)


@contextlib.contextmanager
def _methods(cls: type, others: dict[str, Callable]) -> Iterator[None]:
    own = {n: vars(cls)[n] for n in others if n in vars(cls)}
    for name, f in others.items():
        setattr(cls, name, f)
    try:
        yield
    finally:
        for name in others:
            if name in own:
                setattr(cls, name, own[name])
            else:
                delattr(cls, name)


@contextlib.contextmanager
def _replaced(place: Place, other: Callable) -> Iterator[None]:
    homes = [name.rpartition(".") for name in (place.name, *place.aliases)]
    modules = [(importlib.import_module(package), short) for package, _, short in homes]
    for module, short in modules:
        setattr(module, short, other)
    try:
        yield
    finally:
        for module, short in modules:
            setattr(module, short, place.value)


def _of_one_text(place: Place) -> Place | None:
    """The function whose docstring this one has taken, which its example calls."""
    doc = inspect.getdoc(place.value)
    found = [p for p in places().values() if p.short == place.short and p is not place]
    return next((p for p in found if ">>>" in (doc or "") and inspect.getdoc(p.value) == doc), None)


def _traced(use: Use) -> bool:
    """As in the example of a collective, whose axis is there under vmap only."""
    leaves = xc.tree.leaves((use.args, use.kwargs))
    return any(isinstance(leaf, xc.core.Tracer) for leaf in leaves)


def _holds(x: Any, cls: type) -> bool:
    """Whether an instance is in it: a line search in a method, a tableau in a stepper."""
    if isinstance(x, cls):
        return True
    if isinstance(x, dict):
        return any(_holds(v, cls) for v in x.values())
    if isinstance(x, list | tuple):
        return any(_holds(v, cls) for v in x)
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        return any(_holds(getattr(x, f.name, None), cls) for f in dataclasses.fields(x))
    return False
