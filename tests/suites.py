"""The tests that NumPy and SciPy ship, with our functions in the place of theirs.

``python -m tests.suites numpy.lib.tests.test_function_base -k interp`` runs tests of the installed NumPy in which every
function that ``xcore.numpy`` has too is ours: given NumPy's arrays, and giving them back. What we do not have, and
what is given to it that our arrays cannot hold (strings, objects, ``out=``), stays theirs. Failures are told by what
was said, most frequent first; those that ``BY_DESIGN`` knows are only counted. ``FAILURES=file`` writes all of them.
"""

import collections
import functools
import importlib
import os
import re
import signal
import sys
import types

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint
from scipy.sparse.linalg import LinearOperator

import xcore as xc
import xcore.numpy as xnp
from xcore import Array

PACKAGES = {
    "numpy": "xcore.numpy", "numpy.linalg": "xcore.numpy.linalg", "numpy.fft": "xcore.numpy.fft",
    **{f"scipy.{name}": f"xcore.scipy.{name}" for name in (
        "cluster", "cluster.vq", "fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse",
        "sparse.csgraph", "sparse.linalg", "spatial", "spatial.transform", "special", "stats")},
}  # fmt: skip

# what makes the arrays of the tests; ours where something is traced
MAKERS = frozenset("array asanyarray asarray ascontiguousarray copy".split())
# of arrays that change in place, of memory, of printing
THEIRS = frozenset(
    "array2string array_repr array_str asfortranarray copyto empty "
    "empty_like errstate fill_diagonal finfo frombuffer frompyfunc geterr iinfo isdtype may_share_memory nditer place "
    "printoptions put put_along_axis putmask require set_printoptions seterr shares_memory vectorize".split()
)

BY_DESIGN = {
    "arrays do not change": "out must be None|shares_memory|return arrays must be of ArrayType|output must be an array",
    "no warnings": "DID NOT WARN|FloatingPointError|Emitted warnings",
    "other words": "Regex pattern did not match|does not match",
    "dtypes that NumPy alone has": "is not a dtype that arrays can have|longdouble|metadata",
    "lists are not arrays": "Lists are not arrays",
    "arguments we do not have": "unexpected keyword argument|exact must be|positional argument",
    "values that are traced": "has no concrete value|unhashable type: 'Array'",
}


def _fits(x) -> bool:
    """Whether a value can be given to our functions."""
    if isinstance(x, (np.ndarray, np.generic, np.dtype)):
        dtype = x if isinstance(x, np.dtype) else x.dtype
        plain = not isinstance(x, np.ndarray) or type(x) is np.ndarray
        return plain and dtype.kind in "biufc" and dtype.char not in "gG" and dtype.isnative
    if isinstance(x, (list, tuple)):
        return all(map(_fits, x))
    if isinstance(x, type):
        return x in (int, float, complex, bool) or (
            issubclass(x, np.generic) and _fits(np.dtype(x))
        )
    if scipy.sparse.issparse(x):
        return _fits(x.dtype)
    return x is None or callable(x) or isinstance(x, _PLAIN)


_PLAIN = (
    bool, int, float, complex, str, slice, range, dict, xnp.ndarray, xc.sparse.Sparse, Bounds,
    LinearConstraint, NonlinearConstraint, LinearOperator,
)  # fmt: skip


def _traced(x) -> bool:
    if isinstance(x, (list, tuple)):
        return any(map(_traced, x))
    return isinstance(x, xnp.ndarray) and type(x) is not Array


def _theirs(x):
    """A result as NumPy would give it."""
    if type(x) is Array:
        return np.array(x)[()]
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*map(_theirs, x))
    return type(x)(map(_theirs, x)) if type(x) in (list, tuple) else x


class Function:
    """Ours under the name of theirs, which is called where ours has no such arguments."""

    def __init__(self, ours, theirs):
        functools.update_wrapper(self, theirs, updated=())
        self.ours, self.theirs = ours, theirs

    def __call__(self, *args, **options):
        given = [*args, *options.values()]
        if {"out", "like", "subok", "order"} & options.keys() or not _fits(given):
            return self.theirs(*args, **options)
        if getattr(self.theirs, "__name__", "") in MAKERS and self.ours.__module__.startswith(
            "xcore.numpy"
        ):
            if not _traced(given):
                return self.theirs(*args, **options)
        try:
            return _theirs(self.ours(*args, **options))
        except TypeError as e:
            if "Lists are not arrays" not in str(e):
                raise
        arrays = [np.asarray(x) if isinstance(x, (list, tuple)) else x for x in args]
        return _theirs(self.ours(*arrays, **options))

    def __getattr__(self, name):
        theirs = getattr(self.theirs, name)
        ours = getattr(self.ours, name, None)
        return Function(ours, theirs) if callable(theirs) and callable(ours) else theirs

    def __instancecheck__(self, x):  # of what was a class
        ours = self.ours if isinstance(self.ours, type) else xc.sparse.Sparse
        return isinstance(x, (ours, self.theirs))


class Face(types.ModuleType):
    """A module of theirs with our functions."""

    def __init__(self, name):
        super().__init__(name)
        self.__dict__["_theirs"] = importlib.import_module(name)

    def __getattr__(self, name):
        return in_their_place(getattr(self._theirs, name))


@functools.cache
def _known() -> dict:
    """Our functions by theirs."""
    found = {}
    for theirs, ours in (
        (importlib.import_module(a), importlib.import_module(b)) for a, b in PACKAGES.items()
    ):
        for name in set(dir(theirs)) - THEIRS:
            f = getattr(theirs, name)
            mine = getattr(ours, name, None) if _is_function(theirs, f) else None
            if (callable(mine) or hasattr(mine, "ppf")) and not name.startswith("_"):
                found.setdefault(id(f), Function(mine, f))
    return found


def _is_function(module, x) -> bool:
    """Whether it is called for what it returns: classes are, where ours are made alike."""
    makes = module.__name__.removeprefix("scipy.") in ("sparse", "spatial.transform", "stats")
    return callable(x) and (makes or not isinstance(x, type))


def in_their_place(x):
    if isinstance(x, types.ModuleType):
        return Face(x.__name__) if x.__name__ in (*PACKAGES, "scipy") else x
    if type(x) in (list, tuple):
        return type(x)(map(in_their_place, x))
    return _known().get(id(x), x)


_failures: list[tuple[str, str]] = []


def pytest_collection_modifyitems(items):
    for space in {id(i.module): vars(i.module) for i in items if hasattr(i, "module")}.values():
        _replace(space, space.update)
        for cls in [x for x in space.values() if isinstance(x, type)]:
            if cls.__module__ == space["__name__"]:
                _replace(
                    vars(cls), lambda found, cls=cls: [setattr(cls, *row) for row in found.items()]
                )
    for item in items:
        if hasattr(item, "callspec"):
            item.callspec.params.update(
                {k: in_their_place(x) for k, x in item.callspec.params.items()}
            )


def _replace(space, update):
    found = {k: (x, in_their_place(x)) for k, x in space.items() if not k.startswith("__")}
    update({k: new for k, (old, new) in found.items() if new is not old})


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    signal.alarm(int(os.environ.get("SECONDS", 60)))
    try:
        return (yield)
    finally:
        signal.alarm(0)


def _too_long(*_):
    raise TimeoutError("the test takes longer than SECONDS")


def pytest_runtest_logreport(report):
    if report.failed:
        said = [
            line[1:].strip() for line in str(report.longrepr).splitlines() if line.startswith("E ")
        ]
        _failures.append((report.nodeid, " / ".join(filter(None, said[:6]))))


def pytest_terminal_summary(terminalreporter):
    groups = collections.defaultdict(list)
    for test, said in _failures:
        reasons = [why for why, pattern in BY_DESIGN.items() if re.search(pattern, said)]
        groups[f"by design: {reasons[0]}" if reasons else re.sub(r"\d+", "#", said)[:300]].append(
            test
        )
    for said, tests in sorted(groups.items(), key=lambda row: -len(row[1])):
        terminalreporter.write_line(f"{len(tests):5}  {said}")
        if not said.startswith("by design"):
            terminalreporter.write_line(f"       {tests[0]}")
    if path := os.environ.get("FAILURES"):
        with open(path, "w") as file:
            file.writelines(f"{test}: {said}\n" for test, said in _failures)


def main(args):
    signal.signal(signal.SIGALRM, _too_long)
    xc.config.update("enable_x64", True)
    xc.config.update("disable_most_optimizations", True)  # most of the time is compiling
    sys.exit(pytest.main([
        "-c", os.devnull, "--pyargs", "-q", "--no-header", "--no-summary",
        "-p", "tests.suites", "-p", "no:cacheprovider", "-W", "ignore", *args,
    ]))  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
