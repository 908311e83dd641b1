"""Jaxprs in the form in which JAX prints them."""

from __future__ import annotations

import itertools
import string

import numpy as np

from .._core import Literal

_WIDTH = 80
_SHORT = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c"}


def dtype_name(dtype) -> str:
    """f32, i8, bf16, bool, …"""
    word = dtype.name.rstrip(string.digits)
    return _SHORT[word] + dtype.name[len(word) :] if word in _SHORT else dtype.name


def type_name(t) -> str:
    return f"{dtype_name(t.dtype)}[{','.join(map(str, t.shape))}]"


class _Names:
    """Letters for variables in the order in which they are met: a, b, …, z, ba, bb, …"""

    def __init__(self):
        self.known: dict = {}
        self.fresh = map(self._spelled, itertools.count())

    @staticmethod
    def _spelled(i: int) -> str:
        word = string.ascii_lowercase[i % 26]
        while i >= 26:
            i //= 26
            word = string.ascii_lowercase[i % 26] + word
        return word

    def of(self, v) -> str:
        if isinstance(v, Literal):
            return f"{_number(v)}:{type_name(v.type)}"
        if v not in self.known:
            self.known[v] = next(self.fresh)
        return self.known[v]

    def typed(self, v) -> str:
        return f"{self.of(v)}:{type_name(v.type)}"


def _number(v) -> str:
    value = np.asarray(v.value)
    return str(value.reshape(-1)[0].item() if value.size else "[]")


def text(jaxpr, names: _Names | None = None) -> str:
    """A jaxpr, on one line where it fits."""
    first, *eqns, last = _lines(jaxpr, _Names() if names is None else names)
    flat = f"{first} {'; '.join(x.strip() for x in eqns)} {last.strip()}"
    return flat if len(flat) <= _WIDTH and "\n" not in flat else "\n".join([first, *eqns, last])


def _lines(jaxpr, names: _Names) -> list[str]:
    consts = " ".join(map(names.typed, jaxpr.constvars))
    args = " ".join(map(names.typed, jaxpr.invars))
    found = [f"{{ lambda {consts}; {args}. let"]
    for eqn in jaxpr.eqns:
        args = " ".join(map(names.of, eqn.invars))
        outs = " ".join(map(names.typed, eqn.outvars))
        found.append(_equation(outs, eqn, args, names))
    outs = ", ".join(map(names.of, jaxpr.outvars))
    return [*found, f"  in ({outs}{',' if len(jaxpr.outvars) == 1 else ''}) }}"]


def _equation(outs: str, eqn, args: str, names: _Names) -> str:
    shown = [f"{k}={_value(v, names)}" for k, v in _shown_params(eqn)]
    head = f"    {outs} = {eqn.primitive}"
    line = f"{head}[{' '.join(shown)}] {args}" if shown else f"{head} {args}"
    line = line.rstrip()
    if not shown or (len(line) <= _WIDTH and "\n" not in line):
        return line
    inside = ["      " + s.replace("\n", "\n      ") for s in shown]
    return "\n".join([f"{head}[", *inside, f"    ] {args}".rstrip()])


def _shown_params(eqn) -> list:
    name, params = str(eqn.primitive), dict(eqn.params)
    if name == "dot_general":
        (lc, rc), (lb, rb) = params["dimension_numbers"]
        pairs = ([*lc], [*rc]), ([*lb], [*rb])
        found = {"dimension_numbers": pairs, "preferred_element_type": eqn.outvars[0].aval.dtype}
        return [*found.items()]
    if name == "broadcast_in_dim" and not params.get("broadcast_dimensions"):
        return []
    if name == "broadcast_in_dim":
        params = {"broadcast_dimensions": params["broadcast_dimensions"]}
    if name in ("jit", "pjit"):
        return [(k, params[k]) for k in ("name", "jaxpr") if k in params]
    if name == "convert_element_type":
        params.setdefault("weak_type", False)
    if name == "slice" and all(s == 1 for s in params["strides"] or ()):
        params["strides"] = None
    return sorted([(k, v) for k, v in params.items() if v is not None or k not in _unsaid(name)])


def _unsaid(name: str) -> tuple[str, ...]:
    """Params that JAX prints where they ask for something only."""
    if name == "convert_element_type":
        return "accuracy", "sharding"
    return (
        ("accuracy",) if name in ("reduce_sum", "iota", "reshape") else ("accuracy", "out_sharding")
    )


def _value(v, names: _Names) -> str:
    if hasattr(v, "jaxpr") or hasattr(v, "eqns"):
        return text(getattr(v, "jaxpr", v), names)
    if isinstance(v, np.dtype):
        return v.name
    if isinstance(v, tuple) and any(hasattr(x, "jaxpr") for x in v):
        return "(\n  " + "\n  ".join(_value(x, names).replace("\n", "\n  ") for x in v) + "\n)"
    return str(v)
