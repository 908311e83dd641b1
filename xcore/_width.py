"""How wide Python's numbers are where a function of wider data takes them."""

from __future__ import annotations

import contextlib

import numpy as np

from . import numpy as xnp
from ._control import eval_shape
from ._core import dtypes, tree, typeof


def are_plain(x) -> bool:
    """Whether a tree has numbers of Python, and nothing else."""
    leaves = tree.leaves(x)
    plain = (isinstance(v, (int, float, complex)) and not isinstance(v, np.generic) for v in leaves)
    return bool(leaves) and all(plain)


def width_of(fun, x, args=()):
    """The real dtype that holds x, and the floats that fun gives of it: it may refer to wider data."""
    seen = []

    def look(x):
        found = fun(x, *(args if isinstance(args, tuple) else (args,)))
        seen.extend(getattr(leaf, "dtype", None) for leaf in tree.leaves(found))

    with contextlib.suppress(
        Exception
    ):  # it comes again where the function is used, after the checks there
        eval_shape(look, x)
    given = [typeof(leaf).dtype for leaf in tree.leaves(x)] + seen
    reals = [dtypes.to_real(d) for d in given if d is not None and dtypes.is_inexact(d)]
    return xnp.result_type(*reals, dtypes.default_dtype("float"))


def as_wide(fun, x0, args=()):
    """x0; where it has but Python's numbers, arrays as wide as what fun gives of them."""
    if hasattr(x0, "dtype") or not (callable(fun) and are_plain(x0)):
        return x0
    leaves, structure = tree.flatten(x0)
    narrow = [xnp.asarray(x, complex if isinstance(x, complex) else float) for x in leaves]
    wide = width_of(fun, tree.unflatten(structure, narrow), args)
    if wide == dtypes.default_dtype("float"):
        return x0
    kinds = [dtypes.to_complex(wide) if isinstance(x, complex) else wide for x in leaves]
    return tree.unflatten(structure, [xnp.asarray(x, kind) for x, kind in zip(leaves, kinds)])
