"""What libraries lift functions with: ``linear_util``, ``api_util``, ``partial_eval``."""

from __future__ import annotations

import functools
from typing import NamedTuple

from .._core import ArrayType, ShapeDtypeStruct, to_value, tree, typeof
from .._core.program import RecordTracer
from .._core.trace import current, using
from .._transforms.jvp import LinearTrace
from ..random._keys import KeyArray, KeyType
from . import _trees
from ._jaxprs import view_of

# linear_util


class StoreException(Exception):
    """Raised where a result beside the results is asked for before there is one, or given twice."""


class Store:
    """Keeps what a transformation finds out while the function runs."""

    def __init__(self):
        self.held = ()

    def store(self, value) -> None:
        if self.held:
            raise StoreException("Store occupied")
        self.held = (value,)

    def reset(self) -> None:
        self.held = ()

    @property
    def val(self):
        if not self.held:
            raise StoreException("Store empty")
        return self.held[0]


class WrappedFun:
    """A function and the transformations around it, the last one outermost."""

    def __init__(self, f, transforms=(), params=(), debug_info=None):
        self.f, self.transforms, self.params, self.debug_info = f, transforms, params, debug_info
        self.in_type = None

    @property
    def __name__(self) -> str:
        return getattr(self.f, "__name__", "<unnamed function>")

    def wrap(self, transform) -> WrappedFun:
        return WrappedFun(self.f, (*self.transforms, transform), self.params, self.debug_info)

    def call_wrapped(self, *args, **kwargs):
        f = functools.partial(self.f, **dict(self.params))
        for transform in self.transforms:
            f = functools.partial(transform, f)
        return f(*args, **kwargs)

    def __repr__(self) -> str:
        return f"Wrapped function {self.__name__} in {len(self.transforms)} transformations"


def wrap_init(f, params=None, *, debug_info=None) -> WrappedFun:
    return WrappedFun(f, params=tuple(sorted((params or {}).items())), debug_info=debug_info)


def transformation(gen, fun=None, *static):
    """Adds a generator that yields (args, kwargs), is sent the results, and yields its own."""
    if fun is None:
        return functools.partial(transformation, gen)

    def around(f, *args, **kwargs):
        run = gen(*static, *args, **kwargs)
        args_, kwargs_ = next(run)
        return run.send(f(*args_, **kwargs_))

    return fun.wrap(around)


def transformation_with_aux(gen, fun=None, *static, use_eq_store: bool = False):
    """The same for generators that yield (results, something beside); also a function that gives that."""
    if fun is None:
        return functools.partial(transformation_with_aux, gen, use_eq_store=use_eq_store)
    kept = Store()

    def around(f, *args, **kwargs):
        run = gen(*static, *args, **kwargs)
        args_, kwargs_ = next(run)
        results, beside = run.send(f(*args_, **kwargs_))
        _keep(kept, beside, use_eq_store)
        return results

    return fun.wrap(around), lambda: kept.val


def transformation2(gen, fun=None, *static):
    """Adds a function ``gen(f, *static, *args)`` around another."""
    if fun is None:
        return functools.partial(transformation2, gen)
    return fun.wrap(lambda f, *args, **kwargs: gen(f, *static, *args, **kwargs))


def transformation_with_aux2(gen, fun=None, *static, use_eq_store: bool = False):
    """Adds a function ``gen(f, store, *static, *args)`` around another, and gives what it stores."""
    if fun is None:
        return functools.partial(transformation_with_aux2, gen, use_eq_store=use_eq_store)
    kept = Store()
    wrapped = fun.wrap(lambda f, *args, **kwargs: gen(f, kept, *static, *args, **kwargs))
    return wrapped, lambda: kept.val


def _keep(store: Store, value, again: bool) -> None:
    if again and store.held and store.val != value:
        raise StoreException(f"Store occupied with not-equal value: {store.val} and {value}")
    if again:
        store.reset()
    store.store(value)


def cache(call, *args, **kwargs):
    return functools.lru_cache(maxsize=None)(call)


# api_util


class DebugInfo(NamedTuple):
    """Where a function comes from, for messages."""

    traced_for: str
    func_src_info: str
    arg_names: tuple | None = None
    result_paths: tuple | None = None


def debug_info(traced_for, fun, args, kwargs, **more) -> DebugInfo:
    return DebugInfo(traced_for, getattr(fun, "__name__", str(fun)))


def _flatten_with(fun: WrappedFun, in_tree, unflatten):
    kept = Store()

    def around(f, *leaves):
        args, kwargs = unflatten(tree.unflatten(in_tree, leaves))
        outs, structure = _trees.flatten(f(*args, **kwargs))  # pyright: ignore
        _keep(kept, structure, True)
        return outs

    return fun.wrap(around), lambda: kept.val


def flatten_fun(fun: WrappedFun, in_tree):
    """A function of leaves that returns leaves, of one of (args, kwargs); and its results' structure."""
    return _flatten_with(fun, in_tree, lambda given: given)


def flatten_fun_nokwargs(fun: WrappedFun, in_tree):
    """The same of a function of positional arguments alone."""
    return _flatten_with(fun, in_tree, lambda given: (given, {}))


def safe_map(f, *lists) -> list:
    """``map`` as a list, of lists that must have one length."""
    lists = [list(x) for x in lists]
    if len({len(x) for x in lists}) > 1:
        raise ValueError(f"safe_map: lengths differ: {[len(x) for x in lists]}")
    return [f(*row) for row in zip(*lists)]


def shaped_abstractify(x) -> ArrayType:
    return typeof(to_value(x)).strong() if not isinstance(x, ShapeDtypeStruct) else x.type


# partial_eval


class PartialVal(tuple):
    """A value that is known, (None, value), or of which the type is known, (type, None)."""

    @classmethod
    def known(cls, value) -> PartialVal:
        return cls((None, value))

    @classmethod
    def unknown(cls, aval) -> PartialVal:
        return cls((aval, None))

    def is_known(self) -> bool:
        return self[0] is None

    def get_known(self):
        return self[1] if self.is_known() else None

    def get_aval(self):
        return typeof(self[1]) if self.is_known() else self[0]


def _argument(trace, t):
    made = trace.argument(t.type)
    return KeyArray(made, t.dtype.stream) if isinstance(t.dtype, KeyType) else made


def trace_to_jaxpr_nounits(fun: WrappedFun, pvals, instantiate=False):
    """Computes what depends on known values, and records the rest.

    Returns:
      (jaxpr of the rest, a PartialVal for each result, the values that the jaxpr refers to).
    """
    trace = LinearTrace(current())
    trace.splitting = False
    args = [v if t is None else _argument(trace, t) for t, v in pvals]
    with using(trace):
        found = list(fun.call_wrapped(*args))
        outs = list(map(_trees.data, found))
    rest = [type(x) is RecordTracer and x.owner is trace for x in outs]
    if instantiate is True:
        rest = [True] * len(outs)
    program, captured = trace.finish([x for x, r in zip(outs, rest) if r])
    pvals = [
        PartialVal.unknown(typeof(x)) if r else PartialVal.known(_trees.with_kinds([x], [k])[0])
        for x, r, k in zip(outs, rest, _trees.kinds(found))
    ]
    return view_of(program).jaxpr, pvals, captured
