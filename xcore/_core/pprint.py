"""Programs as text. Knows them by their attributes only: program.py imports this, not the reverse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from .program import Atom, Eqn, Literal, Program, Var


def _is_program(value: Any) -> TypeIs[Program]:
    return hasattr(value, "eqns") and hasattr(value, "memo")  # views of programs (as_jax) are none


def _is_literal(a: Atom) -> TypeIs[Literal]:
    return hasattr(a, "value")


def _is_tuple(value: Any) -> TypeIs[tuple[Any, ...]]:
    return isinstance(value, tuple)


def subprograms(params: dict[str, Any]) -> Iterator[Program]:
    """The programs among an equation's params.

    Args:
      params: the parameters of an equation, by their names.

    >>> import xcore as xc
    >>> program = xc.make_jaxpr(xc.jit(lambda x: x + 1))(1.0)
    >>> len(list(xc.core.jaxprs_in_params(program.eqns[0].params)))
    1
    """
    for value in params.values():
        if _is_program(value):
            yield value
        elif _is_tuple(value):
            yield from filter(_is_program, value)


def _names() -> Iterator[str]:
    """a b … z aa ab …"""
    n = 0
    while True:
        text, k = "", n
        while True:
            text = chr(97 + k % 26) + text
            k = k // 26 - 1
            if k < 0:
                break
        yield text
        n += 1


def _param(value: Any) -> str:
    if callable(value) and hasattr(value, "__name__"):
        return value.__name__
    if _is_tuple(value) and any(map(_is_program, value)):
        return ""
    return str(value).replace(" ", "")


def _literal(value: Any) -> str:
    return "[…]" if getattr(value, "ndim", 0) else str(value)


def _params(params: dict[str, Any]) -> str:
    shown = [
        f"{k}={text}"
        for k, v in params.items()
        if not _is_program(v) and v is not None and (text := _param(v))
    ]
    return f"[{' '.join(shown)}]" if shown else ""


def _equation(
    e: Eqn, name: Callable[[Var], str], atom: Callable[[Atom], str], indent: str
) -> list[str]:
    ins = " ".join(map(atom, e.inputs))
    outs = " ".join(f"{name(v)}:{v.type}" for v in e.outputs)
    lines = [f"{indent}{outs or '_'} = {e.op.name}{_params(e.params)} {ins}".rstrip()]
    for q in subprograms(e.params):
        lines += _lines(q, indent + "    ")
    return lines


def _lines(p: Program, indent: str) -> list[str]:
    fresh = _names()
    names: dict[Var, str] = {}

    def name(v: Var) -> str:
        if v not in names:
            names[v] = next(fresh)
        return names[v]

    def atom(a: Atom) -> str:
        return f"{_literal(a.value)}:{a.type}" if _is_literal(a) else name(a)

    head = " ".join(f"{name(v)}:{v.type}" for v in p.inputs)
    lines = [f"{indent}{{ lambda {head} . let"]
    for e in p.eqns:
        lines += _equation(e, name, atom, indent + "    ")
    results = ", ".join(map(atom, p.outputs)) + ("," if len(p.outputs) == 1 else "")
    return [*lines, f"{indent}  in ({results}) }}"]


def format_program(p: Program) -> str:
    """The program in a notation close to the one of published tutorials."""
    return "\n".join(_lines(p, ""))
