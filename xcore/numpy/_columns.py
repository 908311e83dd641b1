"""Columns beside rows in the user's line, and whether every pair of them is meant.

``x[:, None] - y`` says that it wants (n, n). So does a name that was given such a value, or a parameter for
which the caller has given one. ``x @ w - y``, whose column came out of a product, does not.
"""

from __future__ import annotations

import ast
import builtins
import functools
import re
import sys

from .._core import Array, findings

_DELIBERATE = re.compile(
    r"expand_dims|atleast_|outer|meshgrid|ogrid|mgrid|\bix_\b|broadcast|swapaxes|newaxis"
)
_COLUMN = re.compile(
    r"reshape|column"
)  # which say it in the line itself only, and in a call's arguments
_NAME, _CALLER, _LINE = range(
    3
)  # where an expression stands: where a name gets it, in the call, in the line
_PRODUCTS = frozenset(
    "dot vdot matmul matvec vecmat einsum tensordot inner solve lstsq inv pinv vmap jit grad".split()
)
_DEEP = 6  # names and callers that are followed
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def is_meant(places) -> bool:
    """Whether an expression of the user's, and of those who called for it, speaks of a new axis.

    Args:
      places: (code, instruction) of the user's line, of the one that called it, ….
    """
    return _is_meant(tuple(places[:_DEEP]))


@functools.lru_cache(512)
def _is_meant(places) -> bool:
    line = _Line(places)
    return line.node is not None and any(line.means(x, _LINE) for x in _operands(line.node))


def called_name(place) -> str:
    """The name of the function that is called at a place; "" where an operator is."""
    node = findings.node_at(place)
    return findings.name_of_call(node) if isinstance(node, ast.Call) else ""


class _Line:
    """A place in the user's code: its syntax, and who called for it."""

    def __init__(self, places):
        self.places = places
        self.around = findings.nodes_around(places[0]) if places else []
        innermost = self.around[0] if self.around else None
        self.node = (findings.node_at(places[0]) if places else None) or innermost

    def means(self, x, seen: int = _NAME, left: int = _DEEP) -> bool:
        """Whether a value was made with a new axis. ``seen``: where its expression stands."""
        match x:
            case ast.Subscript():
                return _adds_axis(x.slice) or self.means(x.value, seen, left)
            case ast.Name():
                return left > 0 and self._name_means(x.id, left - 1)
            case ast.Attribute():
                return self._attribute_means(x, seen, left)
            case ast.Call():
                return self._call_means(x, seen, left)
            case ast.BinOp(op=ast.MatMult()):
                return False
            case ast.Constant() | ast.Lambda():
                return False
        return any(self.means(y, seen, left) for y in ast.iter_child_nodes(x))

    def _call_means(self, x, seen: int, left: int) -> bool:
        name = findings.name_of_call(x)
        if _DELIBERATE.search(name) or (seen > _NAME and _COLUMN.search(name)):
            return True
        if any(k.arg == "keepdims" for k in x.keywords):
            return True
        if name in _PRODUCTS or not (seen == _LINE or _is_known(name)):
            return False  # a function of the user's may well make a column of its own
        return any(self.means(y, seen, left) for y in _operands(x))

    def _attribute_means(self, x, seen: int, left: int) -> bool:
        if _DELIBERATE.search(x.attr) or self.means(x.value, seen, left):
            return True
        given = _values_given(
            self.around[-1:], lambda t: isinstance(t, ast.Attribute) and t.attr == x.attr
        )
        return left > 0 and any(self.means(v, left=left - 1) for v in given)

    def _name_means(self, name: str, left: int) -> bool:
        """By what the innermost scope that has the name gives it, or by what the caller gave."""
        for scope in (n for n in self.around if isinstance(n, (*_FUNCTIONS, ast.Module))):
            given = _values_given([scope], lambda t: isinstance(t, ast.Name) and t.id == name)
            is_parameter = isinstance(scope, _FUNCTIONS) and name in _parameters(scope)
            if any(self.means(v, left=left) for v in given):
                return True
            if is_parameter:
                return self._caller_means()
            if given:
                return False
        return False

    def _caller_means(self) -> bool:
        outer = _Line(self.places[1:])
        return isinstance(outer.node, ast.Call) and any(
            outer.means(x, _CALLER) for x in _operands(outer.node)
        )


def _operands(node) -> list:
    if isinstance(node, ast.Call):
        owner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return [*owner, *node.args, *(k.value for k in node.keywords)]
    return [*ast.iter_child_nodes(node)]


def _adds_axis(index) -> bool:
    """Whether an index has None or newaxis, or takes a slice of columns from a place on: x[:, 0:1]."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(
        (isinstance(p, ast.Constant) and p.value is None)
        or (isinstance(p, (ast.Name, ast.Attribute)) and "newaxis" in ast.unparse(p))
        or (k > 0 and isinstance(p, ast.Slice) and isinstance(p.lower, ast.Constant))
        for k, p in enumerate(parts)
    )


def _parameters(function) -> set:
    a = function.args
    named = [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]
    return {p.arg for p in named if p is not None}


def _values_given(scopes, is_it) -> list:
    """What assignments within scopes give to a target."""
    found = []
    for n in (n for scope in scopes for n in ast.walk(scope)):
        if isinstance(n, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
            found += [n.value] if n.value is not None and is_it(n.target) else []
        elif isinstance(n, ast.Assign):
            found += [v for t in n.targets for v in _parts_given(t, n.value, is_it)]
    return found


def _parts_given(target, value, is_it) -> list:
    if not isinstance(target, (ast.Tuple, ast.List)):
        return [value] if is_it(target) else []
    values = value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value] * len(target.elts)
    pairs = zip(target.elts, values, strict=False)
    return [v for t, part in pairs for v in _parts_given(t, part, is_it)]


@functools.lru_cache(512)
def _is_known(name: str) -> bool:
    """Whether a function of this name is one of ours or of Python's, which keeps an axis that it is given."""
    places = (sys.modules.get(f"xcore.{m}") for m in ("numpy", "special", "nn", "lax"))
    return any(hasattr(p, name) for p in (*places, Array, builtins))
