"""Sizes that are not known yet, for ``eval_shape``: which sizes of results depend on them, and how.

A function is traced for two numbers in the place of each unknown: what differs depends on it. Inside of it
shapes are numbers, as everywhere.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import Any

from .._core import ShapeDtypeStruct, errors, tree

_BETWEEN: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add), ast.Sub: ("-", operator.sub), ast.Mult: ("*", operator.mul),
    ast.FloorDiv: ("//", operator.floordiv), ast.Mod: ("%", operator.mod), ast.Pow: ("**", operator.pow),
}  # fmt: skip
_OF_TWO = {"floordiv": operator.floordiv, "mod": operator.mod, "max": max, "min": min}


class Size:
    """A size that depends on unknown ones: no number, so that nothing is decided by it."""

    __slots__ = ("names", "text", "value")

    is_unknown_size = True  # what the core asks

    def __init__(self, text: str, names: frozenset[str], value: Callable[[Mapping], int]) -> None:
        self.text, self.names, self.value = text, names, value

    def __repr__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __int__(self) -> int:
        raise errors.ExportError(
            f"xcore: {self.text} is a size that is not known, which eval_shape takes and nothing else. Trace or export "
            "the function for each shape, or for one element of a batch, and call it under vmap."
        )

    __index__ = __int__
    __lt__ = __le__ = __gt__ = __ge__ = lambda self, other: int(self)


def _joined(sign: str, f: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    if not (isinstance(x, Size) or isinstance(y, Size)):
        return f(x, y)
    names = frozenset().union(*(v.names for v in (x, y) if isinstance(v, Size)))
    if sign.isalpha():
        text = f"{sign}({x}, {y})"
    else:
        left, right = _bound(x, sign, "+-*/%" if sign == "**" else "+-"), _bound(y, sign, "+-*/%")
        text = f"{left}{sign}{right}"
    return Size(text, names, lambda at: f(known(x, at), known(y, at)))


def _bound(x: Any, sign: str, weaker: str) -> str:
    """The text of an operand, in parentheses where operations in it are weaker than the one beside it."""
    text = bare = str(x)
    while bare != (bare := re.sub(r"\([^()]*\)", "", bare)):
        pass
    return f"({text})" if sign != "+" and set(weaker) & set(bare) else text


def _operator(sign: str, f: Callable[[Any, Any], Any], swapped: bool) -> Callable[[Any, Any], Any]:
    return lambda x, y: _joined(sign, f, y, x) if swapped else _joined(sign, f, x, y)


for _sign, _f in _BETWEEN.values():
    for _swapped in (False, True):
        _method = f"__{'r' if _swapped else ''}{_f.__name__.strip('_')}__"
        setattr(Size, _method, _operator(_sign, _f, _swapped))


def known(size: Any, at: Mapping[str, int]) -> Any:
    """A size where the unknown ones are these numbers."""
    return size.value(at) if isinstance(size, Size) else size


def symbolic_shape(
    shape_spec: str, *, constraints: Iterable[str] = (), scope: Any = None, like: Any = None
) -> tuple[Any, ...]:
    """A shape with unknown sizes, which ``eval_shape`` takes: names and expressions of them beside numbers.

    Programs have no such sizes: they are traced, compiled and exported for numbers. ``eval_shape`` looks at a
    function for 240 and 360 in the place of an unknown size: what is the same for both counts as a number.

    Args:
      shape_spec: sizes with commas between them, of names, whole numbers, ``+ - * // % **``, ``floordiv``, ``mod``,
        ``max`` and ``min``; ``_`` and ``...`` stand for sizes of ``like``.
      constraints: taken and not looked at.
      scope: the same.
      like: a shape.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> x = xc.ShapeDtypeStruct(xc.export.symbolic_shape("b, 3"), xnp.float32)
    >>> xc.eval_shape(lambda x: xnp.concatenate([x, x]), x)
    ShapeDtypeStruct(shape=(2*b, 3), dtype=float32)
    """
    try:
        (*parts,) = ast.parse(f"[{shape_spec}]", mode="eval").body.elts  # pyright: ignore
        if len(parts) == 1 and isinstance(parts[0], ast.Tuple):
            parts = parts[0].elts
        return tuple(_sizes(parts, tuple(like or ())))
    except (SyntaxError, KeyError, AttributeError, TypeError) as error:
        want = "sizes with commas between them, as 'b, 2*b + 1, 3'"
        raise errors.bad_argument(
            "export.symbolic_shape", "shape_spec", shape_spec, want
        ) from error


def _sizes(parts: list, like: tuple) -> list:
    dots = [i for i, p in enumerate(parts) if isinstance(p, ast.Constant) and p.value is ...]
    if not dots:
        return [_size(p, like[i] if i < len(like) else None) for i, p in enumerate(parts)]
    head, tail = parts[: dots[0]], parts[dots[0] + 1 :]
    end = len(like) - len(tail)
    return [*_sizes(head, like), *like[len(head) : end], *_sizes(tail, like[end:])]


def _size(part: Any, like: Any = None) -> Any:
    """The size that a part of a text is; ``like``: what ``_`` stands for."""
    if isinstance(part, ast.Constant):
        return operator.index(part.value)
    if isinstance(part, ast.Name):
        name = part.id
        if name == "_":
            return operator.index(like)
        return _name(name)
    if isinstance(part, ast.Call):
        name = part.func.id  # pyright: ignore[reportAttributeAccessIssue]
        return _joined(name, _OF_TWO[name], *map(_size, part.args))
    return _joined(*_BETWEEN[type(part.op)], _size(part.left), _size(part.right))


# Results


def names_in(leaves: Iterable[Any]) -> list[str]:
    """The unknown sizes among the shapes of leaves, sorted."""
    structs = [x for x in leaves if isinstance(x, ShapeDtypeStruct)]
    return sorted({n for x in structs for d in x.shape if isinstance(d, Size) for n in d.names})


def of_unknown_sizes(names: list[str], types_at: Callable[[Callable[[Any], Any]], Any]) -> Any:
    """Types of results in terms of these sizes; ``types_at(fill)`` are those for the numbers that ``fill`` puts."""
    usual = {n: _STEP * (i + 1) for i, n in enumerate(names)}

    def seen(**changes: int) -> Any:
        return types_at(lambda x: _filled(x, usual | changes))

    base, structure = tree.flatten(seen())
    moved = {n: tree.leaves(seen(**{n: usual[n] + _MOVE})) for n in names}
    made = [
        _merged(x, {n: others[i] for n, others in moved.items()}, usual) for i, x in enumerate(base)
    ]
    sums = {d for x in made if isinstance(x, ShapeDtypeStruct) for d in x.shape if _is_a_sum(d)}
    if sums:  # that they are, a third look tells
        far = {n: v + 3 * _MOVE for n, v in usual.items()}
        last = tree.leaves(seen(**far))
        made = [_confirmed(x, y, far) for x, y in zip(made, last, strict=True)]
    return tree.unflatten(structure, made)


def _is_a_sum(d: Any) -> bool:
    return isinstance(d, Size) and d.text not in d.names


def _confirmed(x: Any, there: Any, at: Mapping[str, int]) -> Any:
    if not isinstance(x, ShapeDtypeStruct):
        return x
    good = [not _is_a_sum(d) or d.value(at) == n for d, n in zip(x.shape, there.shape, strict=True)]
    return x.update(
        shape=tuple(d if ok else _some(d.names) for d, ok in zip(x.shape, good, strict=True))
    )


def _some(names: Iterable[str]) -> Size:
    """A size of which is known on what it depends."""
    name = f"size_of_{'_'.join(sorted(names))}"
    return _name(name)


def _name(name: str) -> Size:
    return Size(name, frozenset({name}), lambda at: at[name])


# The numbers: with many divisors, as sizes are halved and cut in parts; no two are ever the same.
_STEP, _MOVE = 240, 120


def _filled(x: Any, at: Mapping[str, int]) -> Any:
    if not isinstance(x, ShapeDtypeStruct):
        return x
    return x.update(shape=tuple(known(d, at) for d in x.shape))


def _merged(x: Any, moved: Mapping[str, Any], usual: Mapping[str, int]) -> Any:
    if not isinstance(x, ShapeDtypeStruct):
        return x
    if any(len(y.shape) != len(x.shape) for y in moved.values()):
        raise errors.ExportError(
            "xcore.eval_shape: the number of axes of a result depends on a size that is not known."
        )
    shapes = {n: y.shape for n, y in moved.items()}
    dims = [
        _dependent(d, {n: s[i] for n, s in shapes.items()}, usual) for i, d in enumerate(x.shape)
    ]
    return x.update(shape=tuple(dims))


def _dependent(size: int, moved: Mapping[str, int], usual: Mapping[str, int]) -> Any:
    """A size, or the expression with the values that were seen: a sum of multiples, if they are whole."""
    slopes = {n: divmod(m - size, _MOVE) for n, m in moved.items() if m != size}
    if not slopes:
        return size
    if any(rest for _, rest in slopes.values()):
        return _some(slopes)
    fixed: Any = size - sum(k * usual[n] for n, (k, _) in slopes.items())
    terms = [
        _name(n) if k == 1 else _joined(*_BETWEEN[ast.Mult], k, _name(n))
        for n, (k, _) in slopes.items()
    ]
    total = reduce(operator.add, terms)
    return total if fixed == 0 else total + fixed if fixed > 0 else total - -fixed
