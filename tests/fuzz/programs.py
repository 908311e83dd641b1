"""Programs as data: steps that name rows of the table, and the source text that they stand for."""

import dataclasses
from typing import Any

import ml_dtypes
import numpy as np


@dataclasses.dataclass(frozen=True)
class Type:
    """What a value is known to be: shape, dtype, and whether it is weak."""

    shape: tuple
    dtype: str
    weak: bool = False

    @property
    def kind(self) -> str:
        return kind(self.dtype)


@dataclasses.dataclass(frozen=True)
class Const:
    """A Python number among the arguments of a step."""

    value: Any


@dataclasses.dataclass(frozen=True)
class Code:
    """A parameter that is written as it stands."""

    text: str

    def __repr__(self):
        return self.text


@dataclasses.dataclass(frozen=True)
class Input:
    """An argument of the program. How it is passed: as an "array" of the library, as one of
    "numpy", or as a "python" number."""

    name: str
    data: Any  # an array of NumPy of the dtype, or a Python number
    how: str = "array"


@dataclasses.dataclass(frozen=True)
class Body:
    """A function inside a program: its arguments' names, its steps, the names it returns. It may use
    every name of the program around it."""

    args: tuple
    steps: tuple
    results: tuple


@dataclasses.dataclass(frozen=True)
class Step:
    """``outs = row(*args, **params)``; ``row`` is a name in the table or in ``nests``."""

    outs: tuple
    row: str
    args: tuple
    params: tuple = ()  # of (name, value)
    bodies: tuple = ()


@dataclasses.dataclass(frozen=True)
class Program:
    inputs: tuple
    steps: tuple
    results: tuple
    bits: int = 32
    seed: str = ""

    def as_body(self) -> Body:
        return Body(tuple(i.name for i in self.inputs), self.steps, self.results)


def kind(dtype: str) -> str:
    """The letter of a dtype: b, i, u, f, c."""
    if dtype == "bfloat16":
        return "f"
    return np.dtype(dtype).kind


def np_dtype(dtype: str):
    return np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)


def steps_of(body):
    """All steps of a body and of the bodies in it."""
    for step in body.steps:
        yield step
        for inner in step.bodies:
            yield from steps_of(inner)


# Source text

PRELUDE = """\
def own_jvp(f):  # a custom rule that gives the true derivative
    g = xc.custom_jvp(f)
    g.defjvp(lambda x, t: xc.jvp(f, x, t))
    return g


def own_vjp(f):
    g = xc.custom_vjp(f)
    g.defvjp(lambda *x: (f(*x), x), lambda x, ct: xc.vjp(f, *x)[1](ct))
    return g
"""

IMPORTS = {
    "xcore": """\
import numpy as np
import xcore as xc
import xcore.numpy as xnp
from xcore import lax, linalg, nn, random, special
""",
    "jax": """\
import numpy as np
import jax as xc
import jax.numpy as xnp
from jax import lax, nn, random
from jax.numpy import linalg
from jax.scipy import special
""",
}


def written(arg) -> str:
    return repr(arg.value) if isinstance(arg, Const) else arg


def source(program: Program, rows) -> str:
    """The function ``program`` as Python, for either library."""
    head, *rest = _function("program", program.as_body(), rows, "")
    names = ", ".join(i.name for i in program.inputs)
    arrays = [f"    {names}, = map(xnp.asarray, ({names},))"] if names else []
    lines = [PRELUDE, "", head, *arrays, *rest]
    return "\n".join(lines) + "\n"


def _function(name, body, rows, indent) -> list:
    lines = [f"{indent}def {name}({', '.join(body.args)}):"]
    for step in body.steps:
        lines += _statement(step, rows, indent + "    ")
    lines.append(f"{indent}    return {_tuple(body.results)}")
    return lines


def _statement(step, rows, indent) -> list:
    lines, names = [], []
    for letter, body in zip("fgh", step.bodies):
        names.append(f"{letter}_{step.outs[0]}")
        lines += _function(names[-1], body, rows, indent)
    args, half = [written(a) for a in step.args], len(step.args) // 2
    code = rows[step.row].code.format(
        *args,
        **dict(zip("fgh", names)),
        args=", ".join(args),
        rest=", ".join(args[1:]),
        most=", ".join(args[:-1]),
        last=args[-1] if args else "",
        head=f"({', '.join(args[:half])},)",
        tail=f"({', '.join(args[half:])},)",
        **{k: repr(v) for k, v in step.params},
    )
    return [*lines, f"{indent}{', '.join(step.outs)} = {code}"]


def _tuple(names) -> str:
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def argument(given: Input) -> str:
    """The source of a program's argument."""
    if given.how == "python":
        return _number(given.data)
    dtype = str(given.data.dtype)
    data = given.data.astype("float32") if dtype == "bfloat16" else given.data
    values = f"np.array({_nested(data.tolist())}, {str(data.dtype)!r}).reshape({data.shape})"
    if given.how == "numpy" and dtype != "bfloat16":
        return values
    return f"xnp.asarray({values}, dtype={dtype!r})"


def _number(x) -> str:
    if isinstance(x, complex):
        return f"complex({_number(x.real)}, {_number(x.imag)})"
    return f"float({str(x)!r})" if isinstance(x, float) and not np.isfinite(x) else repr(x)


def _nested(values) -> str:
    if isinstance(values, list):
        return f"[{', '.join(map(_nested, values))}]"
    return _number(values)


def arguments(program: Program) -> str:
    return f"[{', '.join(argument(i) for i in program.inputs)}]"
