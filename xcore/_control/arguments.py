"""The arguments of a jitted function: by number and by name, static and donated, and how messages call them."""

from __future__ import annotations

import inspect

import numpy as np

from .._core import Literal, ShapeDtypeStruct, Tracer, errors, is_array_like, to_array, tree
from .._core.keys import exact


def _as_tuple(x) -> tuple:
    if x is None:
        return ()
    return (x,) if isinstance(x, (int, str, np.integer)) else tuple(x)


class Arguments:
    """What is known of a function's arguments, by number and by name."""

    def __init__(self, f, static_argnums, static_argnames, donate_argnums, donate_argnames):
        self.f, self._signature = f, None
        self.name = getattr(f, "__name__", type(f).__name__)
        self.static_argnums = _as_tuple(static_argnums)
        self.static_argnames = _as_tuple(static_argnames)
        self.donate_argnums = _as_tuple(donate_argnums)
        self.donate_argnames = _as_tuple(donate_argnames)
        self._resolve_names()

    @property
    def signature(self):
        if self._signature is None:
            try:
                self._signature = inspect.signature(self.f)
            except (TypeError, ValueError):
                self._signature = inspect.signature(lambda *args, **kwargs: None)
        return self._signature

    def _positional_names(self) -> list[str]:
        positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        return [p.name for p in self.signature.parameters.values() if p.kind in positional]

    def _resolve_names(self) -> None:
        """Arguments given by number are also meant by name, and the reverse, as far as they can be."""
        if not (
            self.static_argnums
            or self.static_argnames
            or self.donate_argnums
            or self.donate_argnames
        ):
            return
        names = self._positional_names()
        known = {p.name for p in self.signature.parameters.values()}
        takes_any = any(p.kind is p.VAR_KEYWORD for p in self.signature.parameters.values())
        unknown = [n for n in self.static_argnames + self.donate_argnames if n not in known]
        if unknown and not takes_any:
            raise ValueError(
                f"xcore.jit: static_argnames or donate_argnames name {unknown}, but {self.name} has only the "
                f"parameters {sorted(known)}."
            )
        self.static_argnums, self.static_argnames = self._numbers_and_names(
            names, self.static_argnums, self.static_argnames
        )
        self.donate_argnums, self.donate_argnames = self._numbers_and_names(
            names, self.donate_argnums, self.donate_argnames
        )
        both = set(self.static_argnums) & set(self.donate_argnums)
        if both:
            raise ValueError(
                f"xcore.jit: arguments {sorted(both)} of {self.name} are both static and donated."
            )

    def _numbers_and_names(self, names, numbers, given):
        n = len(names)
        varies = any(p.kind is p.VAR_POSITIONAL for p in self.signature.parameters.values())
        for i in numbers:
            if not -n <= i < n and not varies:
                raise ValueError(
                    f"xcore.jit: argument number {i} given, but {self.name} takes {n} arguments."
                )
        numbers = [i % n if i < 0 else i for i in numbers]
        numbers += [names.index(g) for g in given if g in names and names.index(g) not in numbers]
        return tuple(sorted(numbers)), tuple(given) + tuple(
            names[i] for i in numbers if i < n and names[i] not in given
        )

    def split(self, args, kwargs):
        """(dynamic args, dynamic keywords, key of the static ones)."""
        if not (self.static_argnums or self.static_argnames):
            return args, kwargs, ()
        numbers = [i for i in self.static_argnums if i < len(args)]
        given = [(i, args[i]) for i in numbers]
        given += [(k, v) for k, v in sorted(kwargs.items()) if k in self.static_argnames]
        for name, value in given:
            self._check_hashable(name, value)
        statics = [(name, exact(value), value) for name, value in given]
        args = [None if i in numbers else a for i, a in enumerate(args)]
        return (
            args,
            {k: v for k, v in kwargs.items() if k not in self.static_argnames},
            tuple(statics),
        )

    def _check_hashable(self, name, value) -> None:
        if isinstance(value, Tracer):
            raise errors.no_concrete_value(
                value, f"the value of the static argument {name!r} of {self.name}", value.origin()
            )
        try:
            hash(value)
        except TypeError:
            shown = (
                self._positional_names()[name]
                if isinstance(name, int) and name < len(self._positional_names())
                else name
            )
            raise ValueError(
                f"xcore.jit: the static argument {shown!r} of {self.name} must be hashable, because traced "
                f"programs are looked up by it; given {errors.describe(value)}. Pass a tuple instead of a list, a "
                "frozen dataclass instead of a dict, or do not mark it static."
            ) from None

    def leaf_names(self, dynamic) -> list[str]:
        """How messages call the leaves of the arguments."""
        args, kwargs = dynamic
        names, out = self._positional_names(), []
        paths, _ = tree.flatten_with_path((tuple(args), kwargs))
        for path, _ in paths:
            key = path[1]
            first = (
                key.key
                if hasattr(key, "key")
                else names[key.idx]
                if key.idx < len(names)
                else f"args[{key.idx}]"
            )
            out.append(f"the argument {first}{tree.keystr(path[2:])} of {self.name}")
        return out

    def _leaf_value(self, x, i, dynamic):
        if isinstance(x, ShapeDtypeStruct):
            return x
        if isinstance(x, Literal) or is_array_like(x):
            foreign = not isinstance(getattr(x, "dtype", None), np.dtype | None)
            return to_array(x) if foreign else x  # columns of polars have dtypes of their own
        name = self.leaf_names(dynamic)[i]
        raise TypeError(
            f"xcore.jit: {name} is {errors.describe(x)}, which is not an array, a number or a pytree of them. "
            "Mark it static (static_argnames) if the function only needs its Python value, or register its class "
            "as a pytree (xcore.tree_util.register_pytree_node_class)."
        )
