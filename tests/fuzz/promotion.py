"""Types of results, by the rules of the documentation and by none of xcore's code."""

import functools

from tests.fuzz.programs import Type, kind

# Each type and what lies right above it. A star is a Python number.
_ABOVE = {
    "bool": "i*",
    "i*": "uint8 int8",
    "uint8": "uint16 int16",
    "uint16": "uint32 int32",
    "uint32": "uint64 int64",
    "uint64": "f*",
    "int8": "int16",
    "int16": "int32",
    "int32": "int64",
    "int64": "f*",
    "f*": "bfloat16 float16 c*",
    "bfloat16": "float32",
    "float16": "float32",
    "float32": "float64 complex64",
    "float64": "complex128",
    "c*": "complex64",
    "complex64": "complex128",
    "complex128": "",
}
_STARS = {"i": "i*", "f": "f*", "c": "c*"}


@functools.cache
def _upwards(node: str) -> frozenset:
    return frozenset([node]).union(*(_upwards(n) for n in _ABOVE[node].split()))


@functools.cache
def _join(a: str, b: str) -> str:
    common = _upwards(a) & _upwards(b)
    return next(n for n in common if _upwards(n) == common)


def default(letter: str, bits: int) -> str:
    return {"b": "bool", "i": f"int{bits}", "f": f"float{bits}", "c": f"complex{2 * bits}"}[letter]


def join(types, bits: int) -> Type:
    """The dtype in which values of these types meet (the shape is left out)."""
    nodes = [_STARS[t.kind] if t.weak and t.dtype != "bool" else t.dtype for t in types]
    node = functools.reduce(_join, nodes)
    if node in ("f*", "c*") and any("int64" in t.dtype and not t.weak for t in types):
        return Type((), default(node[0], 64), bits == 64)  # data of 64 bits keeps them
    if node.endswith("*"):
        return Type((), default(node[0], bits), True)
    return Type((), node)


def to_inexact(t: Type, bits: int) -> Type:
    """As functions such as ``sin`` convert it: wide integers become wide floats."""
    if kind(t.dtype) in "fc":
        return t
    return Type((), "float64" if "64" in t.dtype else default("f", bits), t.weak)


def to_real(t: Type) -> Type:
    real = {"complex64": "float32", "complex128": "float64"}
    return Type((), real.get(t.dtype, t.dtype), t.weak)


def summed(t: Type, bits: int) -> Type:
    """As sums and products of it: narrow integers have the default width. Always strong."""
    widened = {"b": "int", "i": "int", "u": "uint"}.get(t.kind)
    if widened is None or (t.kind != "b" and int(t.dtype.lstrip("uint")) >= bits):
        return Type((), t.dtype)
    return Type((), f"{widened}{bits}")


def _strong(t):
    return Type((), t.dtype)


# name of a rule → the type of results from types of arguments ("!": strong whatever they are)
RULES = {
    "join": lambda ts, bits: join(ts, bits),
    "join!": lambda ts, bits: _strong(join(ts, bits)),
    "inexact": lambda ts, bits: to_inexact(join(ts, bits), bits),
    "with float": lambda ts, bits: join([*ts, Type((), default("f", bits), True)], bits),
    "inexact!": lambda ts, bits: _strong(to_inexact(join(ts, bits), bits)),
    "real": lambda ts, bits: to_real(join(ts, bits)),
    "real!": lambda ts, bits: _strong(to_real(join(ts, bits))),
    "compare": lambda ts, bits: Type((), "bool"),
    "first": lambda ts, bits: Type((), ts[0].dtype, ts[0].weak),
    "first!": lambda ts, bits: Type((), ts[0].dtype),
    "inexact1": lambda ts, bits: to_inexact(Type((), ts[0].dtype, ts[0].weak), bits),
    "mean": lambda ts, bits: _strong(to_inexact(ts[0], bits)),
    "spread": lambda ts, bits: _strong(to_real(to_inexact(ts[0], bits))),
    "sum": lambda ts, bits: summed(ts[0], bits),
    "cumsum": lambda ts, bits: Type((), default("i", bits) if ts[0].kind == "b" else ts[0].dtype),
    "bool": lambda ts, bits: Type((), "bool"),
    "index": lambda ts, bits: Type((), default("i", bits)),
    "uint8": lambda ts, bits: Type((), "uint8"),
    "float": lambda ts, bits: Type((), default("f", bits)),
    "int": lambda ts, bits: Type((), default("i", bits)),
}
# rules whose arguments all meet in one dtype
MEETING = {"join", "join!", "with float", "inexact", "inexact!", "real", "real!", "compare"}
