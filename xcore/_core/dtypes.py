"""Dtypes: which exist, of what kind each is, and what several of them promote to.

A dtype is a ``numpy.dtype`` object, those of ``ml_dtypes`` included. A *weak* dtype belongs to a
value born from a bare Python scalar, which takes the dtype of what it meets.
"""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import ml_dtypes
import numpy as np

from . import config, errors

float0 = np.dtype([("float0", np.void, 0)])  # of derivatives with respect to integers

bool_ = np.dtype(np.bool_)
int8, int16 = np.dtype(np.int8), np.dtype(np.int16)
int32, int64 = np.dtype(np.int32), np.dtype(np.int64)
uint8, uint16 = np.dtype(np.uint8), np.dtype(np.uint16)
uint32, uint64 = np.dtype(np.uint32), np.dtype(np.uint64)
float16, bfloat16 = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)
float32, float64 = np.dtype(np.float32), np.dtype(np.float64)
complex64, complex128 = np.dtype(np.complex64), np.dtype(np.complex128)

# Storage only: they are converted to and from, and compute nothing themselves.
int2, uint2 = np.dtype(ml_dtypes.int2), np.dtype(ml_dtypes.uint2)
int4, uint4 = np.dtype(ml_dtypes.int4), np.dtype(ml_dtypes.uint4)
float4_e2m1fn = np.dtype(ml_dtypes.float4_e2m1fn)
float8_e3m4 = np.dtype(ml_dtypes.float8_e3m4)
float8_e4m3 = np.dtype(ml_dtypes.float8_e4m3)
float8_e4m3b11fnuz = np.dtype(ml_dtypes.float8_e4m3b11fnuz)
float8_e4m3fn = np.dtype(ml_dtypes.float8_e4m3fn)
float8_e4m3fnuz = np.dtype(ml_dtypes.float8_e4m3fnuz)
float8_e5m2 = np.dtype(ml_dtypes.float8_e5m2)
float8_e5m2fnuz = np.dtype(ml_dtypes.float8_e5m2fnuz)
float8_e8m0fnu = np.dtype(ml_dtypes.float8_e8m0fnu)


_BITS = {int2: 2, uint2: 2, int4: 4, uint4: 4, float4_e2m1fn: 4}


def bits_of(dtype: np.dtype[Any]) -> int:
    """How many bits an element has on a device, where several share a byte if they are narrow.

    >>> bits_of(int4), bits_of(np.dtype(np.int16))
    (4, 16)
    """
    return _BITS.get(dtype, dtype.itemsize * 8)


class extended(np.generic):
    """The family of the dtypes that NumPy does not have, whose elements are not numbers.

    >>> import xcore as xc
    >>> xc.dtypes.issubdtype(xc.random.key(0).dtype, xc.dtypes.extended)
    True
    """


class prng_key(extended):
    """The family of the dtypes of random keys.

    >>> import xcore as xc
    >>> xc.numpy.issubdtype(xc.random.key(0).dtype, xc.dtypes.prng_key)
    True
    """


class ExtendedDtype:
    """A dtype that NumPy does not have; ``type`` is its family."""

    __slots__ = ()
    type: type


KINDS: dict[str, tuple[np.dtype[Any], ...]] = {
    "bool": (bool_,),
    "int": (int2, int4, int8, int16, int32, int64),
    "uint": (uint2, uint4, uint8, uint16, uint32, uint64),
    "float8": (
        float4_e2m1fn,
        float8_e3m4,
        float8_e4m3,
        float8_e4m3b11fnuz,
        float8_e4m3fn,
        float8_e4m3fnuz,
        float8_e5m2,
        float8_e5m2fnuz,
        float8_e8m0fnu,
    ),
    "float": (bfloat16, float16, float32, float64),
    "complex": (complex64, complex128),
}
_KIND = {dtype: kind for kind, members in KINDS.items() for dtype in members}
_NAMED = {dtype.name: dtype for dtype in _KIND}
_DEFAULT = {
    (kind, bits): _NAMED[f"{kind}{bits * (1 + (kind == 'complex'))}"]
    for kind in ("int", "uint", "float", "complex")
    for bits in (32, 64)
}
_NARROWER = {int64: int32, uint64: uint32, float64: float32, complex128: complex64}
_PYTHON = {bool: "bool", int: "int", float: "float", complex: "complex"} | {
    name: name for name in ("bool", "int", "uint", "float", "complex")
}


# What is a dtype


def default_dtype(kind: str, bits: int | None = None) -> np.dtype[Any]:
    """The dtype of a kind when none is asked for; ``bits`` defaults to the setting default_bits.

    >>> default_dtype("float", 32), default_dtype("complex", 64)
    (dtype('float32'), dtype('complex128'))
    """
    if kind == "bool":
        return bool_
    return _DEFAULT[kind, bits or config.settings().default_bits]


def as_dtype(spec: Any, bits: int | None = None) -> np.dtype[Any]:
    """The dtype that ``spec`` names: a dtype, its name, a scalar type, or anything with a dtype.

    Python's ``bool``, ``int``, ``float``, ``complex`` and their names mean the default dtype of
    that kind. A byte order is dropped: arrays on a device have the machine's.

    >>> as_dtype("bfloat16"), as_dtype(np.int8), as_dtype(float, bits=64)
    (dtype(bfloat16), dtype('int8'), dtype('float64'))
    """
    found = named(spec, bits)
    return at_width(found) if bits is None else found


def named(spec: Any, bits: int | None = None) -> np.dtype[Any]:
    """The same whatever the setting narrow says.

    >>> named(np.float64)
    dtype('float64')
    """
    given: Any = spec
    if isinstance(spec, np.dtype) and given in _KIND:
        return given
    if isinstance(spec, (str, type)):
        found = _default_or_named(spec, bits)
        if found is not None:
            return found
    return _from_numpy(spec)


def is_known(dtype: np.dtype[Any]) -> bool:
    """Whether arrays can have this dtype of NumPy's.

    >>> is_known(np.dtype("int8")), is_known(np.dtype("M8[s]"))
    (True, False)
    """
    return dtype in _KIND


def at_width(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that values of this one get: narrower where the setting narrow says so."""
    if dtype.itemsize < 8 or dtype not in _NARROWER:
        return dtype
    settings = config.settings()
    return _NARROWER[dtype] if settings.narrow and settings.default_bits == 32 else dtype


def _default_or_named(spec: Any, bits: int | None) -> np.dtype[Any] | None:
    kind = _PYTHON.get(spec)
    return _NAMED.get(spec) if kind is None else default_dtype(kind, bits)


def _from_numpy(spec: Any) -> np.dtype[Any]:
    own: Any = getattr(spec, "dtype", spec)
    # A class such as np.float32 has a descriptor called dtype; numpy reads None as float64.
    given = cast(Any, own if isinstance(own, np.dtype) else spec)
    try:
        dtype: Any = None if given is None else np.dtype(given)
        if dtype is not None and not dtype.isnative:
            dtype = np.dtype(dtype.type)  # NumPy's one object, which some compare by identity
    except TypeError:
        dtype = None
    if dtype is None or dtype not in _KIND:
        raise errors.unknown_dtype(spec, _NAMED)
    return dtype


def kind(dtype: np.dtype[Any]) -> str:
    """One of "bool", "int", "uint", "float", "float8", "complex".

    >>> kind(bfloat16), kind(float8_e5m2), kind(uint4)
    ('float', 'float8', 'uint')
    """
    try:
        return _KIND[dtype]
    except KeyError:
        return _KIND[named(dtype)]


def is_bool(dtype: np.dtype[Any]) -> bool:
    return kind(dtype) == "bool"


def is_integer(dtype: np.dtype[Any]) -> bool:
    """Whether the dtype is a signed or unsigned integer (bool is not)."""
    return kind(dtype) in ("int", "uint")


def is_floating(dtype: np.dtype[Any]) -> bool:
    """Whether the dtype is real floating point, 8-bit floats included."""
    return kind(dtype) in ("float", "float8")


def is_complex(dtype: np.dtype[Any]) -> bool:
    return kind(dtype) == "complex"


def is_inexact(dtype: np.dtype[Any]) -> bool:
    """Whether the dtype is floating or complex."""
    return kind(dtype) in ("float", "float8", "complex")


def is_numeric(dtype: np.dtype[Any]) -> bool:
    """Whether the dtype is anything but bool."""
    return kind(dtype) != "bool"


def finfo(dtype: np.dtype[Any]) -> Any:
    """Machine limits of a floating dtype, or of the parts of a complex one.

    >>> float(finfo(bfloat16).eps)
    0.0078125
    """
    dtype = named(dtype)
    if not is_inexact(dtype):
        raise errors.dtype_not_allowed("numpy.finfo", dtype, "floating and complex")
    return cast(Any, ml_dtypes).finfo(dtype)


def iinfo(dtype: np.dtype[Any]) -> Any:
    """Limits of an integer dtype.

    >>> iinfo(int4).max
    7
    """
    dtype = named(dtype)
    if not is_integer(dtype):
        raise errors.dtype_not_allowed("numpy.iinfo", dtype, "integer")
    return ml_dtypes.iinfo(dtype)


# From one kind to another


def to_inexact(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which ``sin`` of this dtype is computed: 64-bit integers go to float64.

    >>> to_inexact(int8), to_inexact(int64), to_inexact(float16)
    (dtype('float32'), dtype('float64'), dtype('float16'))
    """
    if is_inexact(dtype):
        return dtype
    return float64 if dtype.itemsize == 8 else float32


def to_solve(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which equations are solved: that of ``sin``, of 32 bits at least.

    >>> to_solve(int64), to_solve(float16)
    (dtype('float64'), dtype('float32'))
    """
    dtype = to_inexact(dtype)
    return float32 if dtype.itemsize < 4 else dtype


def to_real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the real part.

    >>> to_real(complex64), to_real(int32)
    (dtype('float32'), dtype('int32'))
    """
    if dtype == complex64:
        return float32
    return float64 if dtype == complex128 else dtype


def to_complex(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The complex dtype whose parts hold this dtype.

    >>> to_complex(float16), to_complex(int64)
    (dtype('complex64'), dtype('complex128'))
    """
    if is_complex(dtype):
        return dtype
    return complex128 if to_inexact(dtype) == float64 else complex64


# Promotion

# The dtypes just above each one; a promotion is the least common upper bound. i*, f* and c* are
# weak integers, floats and complex numbers: a weak value is below every dtype of its kind, which
# is how it takes the dtype of what it meets. Between 8-bit floats and others there is no path, so
# mixing them is an error and not a silent loss.
_FLOAT8 = " ".join(dtype.name for dtype in KINDS["float8"])
_ABOVE = {
    "bool": "i*",
    "i*": "int2 uint2 int4 uint4 int8 uint8",
    "int2": "",
    "uint2": "",
    "int4": "",
    "uint4": "",
    "int8": "int16",
    "int16": "int32",
    "int32": "int64",
    "int64": "f*",
    "uint8": "int16 uint16",
    "uint16": "int32 uint32",
    "uint32": "int64 uint64",
    "uint64": "f*",
    "f*": f"bfloat16 float16 {_FLOAT8} c*",
    "bfloat16": "float32",
    "float16": "float32",
    "float32": "float64 complex64",
    "float64": "complex128",
    "c*": "complex64",
    "complex64": "complex128",
    "complex128": "",
} | dict.fromkeys(_FLOAT8.split(), "")
# Strict promotion: only a Python scalar changes its dtype.
_ABOVE_STRICT = dict.fromkeys(_ABOVE, "") | {
    "i*": "f* " + " ".join(d.name for d in KINDS["int"] + KINDS["uint"]),
    "f*": "c* bfloat16 float16 float32 float64 " + _FLOAT8,
    "c*": "complex64 complex128",
}
_WEAK = {"int": "i*", "uint": "i*", "float": "f*", "complex": "c*"}
_WEAK_KINDS = {"i*": ("int", "uint"), "f*": ("float",), "c*": ("float", "complex")}
_DEFAULT_KIND = {"i*": "int", "f*": "float", "c*": "complex"}
_LONG = (int64, uint64)
_promoted: dict[tuple[Any, ...], tuple[np.dtype[Any], bool]] = {}


def promote2(
    a: np.dtype[Any],
    weak_a: bool,
    b: np.dtype[Any],
    weak_b: bool,
    bits: int = 32,
    strict: bool = False,
):
    """``promote`` of two, for paths where its cost shows.

    >>> promote2(int32, False, float32, True)
    (dtype('float32'), True)
    """
    try:
        return _promoted[a, weak_a, b, weak_b, bits, strict]
    except KeyError:
        found = promote((a, weak_a), (b, weak_b), bits=bits, strict=strict)
        return _promoted.setdefault((a, weak_a, b, weak_b, bits, strict), found)


def promote(*pairs: tuple[np.dtype[Any], bool], bits: int = 32, strict: bool = False):
    """The (dtype, weak) to which operands of the given (dtype, weak) are converted.

    A weak result has the widest dtype that its weak operands of that kind have; where there is
    none it has the default width ``bits``. Integers of 64 bits that meet no float dtype (but a Python
    float, or ``uint64`` meets ``int64``) are data that floats of a narrower default would spoil: they
    become 64-bit floats, which are then not weak, as in ``x / 2``.

    >>> promote((int64, False), (float32, True))
    (dtype('float64'), False)
    >>> promote((int8, False), (int64, True))
    (dtype('int8'), False)
    >>> promote((bfloat16, False), (float16, False), (float64, True))
    (dtype('float32'), False)
    """
    try:
        return _promoted[pairs, bits, strict]
    except KeyError:
        return _promoted.setdefault((pairs, bits, strict), _promote(pairs, bits, strict))


def _promote(pairs: Any, bits: int, strict: bool):
    for dtype, _ in pairs:
        named(dtype)  # others are refused there, in words
    node = _join({_node(*pair) for pair in pairs}, strict)
    if node is None:
        raise errors.no_promotion([_describe(*pair) for pair in pairs], strict)
    if node not in _DEFAULT_KIND:
        return _NAMED[node], False
    if bits < 64 and node != "i*" and any(not weak and dtype in _LONG for dtype, weak in pairs):
        return default_dtype(_DEFAULT_KIND[node], 64), False
    return _weak_dtype(node, pairs, bits), True


def _node(dtype: np.dtype[Any], weak: bool):
    return _WEAK.get(kind(dtype), dtype.name) if weak else dtype.name


def _describe(dtype: np.dtype[Any], weak: bool):
    return f"{dtype.name} (a Python scalar)" if weak else dtype.name


def _weak_dtype(node: str, pairs: Any, bits: int):
    kinds = _WEAK_KINDS[node]
    own = {dtype.name for dtype, weak in pairs if weak and kind(dtype) in kinds}
    joined = _join(own, False) if own else None
    return _NAMED.get(joined or "") or default_dtype(_DEFAULT_KIND[node], bits)


def _join(nodes: Any, strict: bool) -> str | None:
    """The least upper bound: the common upper bound that is below all others."""
    reach = _ancestors(strict)
    common: Any = frozenset[str].intersection(*(reach[node] for node in nodes))
    return next((node for node in common if reach[node] == common), None)


@cache
def _ancestors(strict: bool) -> dict[str, frozenset[str]]:
    """For each node of the lattice, itself and everything above it."""
    above = _ABOVE_STRICT if strict else _ABOVE
    reach: dict[str, frozenset[str]] = {}

    def visit(node: str) -> frozenset[str]:
        if node not in reach:
            reach[node] = frozenset({node}.union(*map(visit, above[node].split())))
        return reach[node]

    for node in above:
        visit(node)
    return reach


def scalar_dtype(value: Any, wide: bool = False, any_int: bool = True) -> np.dtype[Any]:
    """The dtype that carries a Python scalar: of default width, or 64 bits when it needs them.

    Beside wide arrays floats are carried ``wide``, not to lose digits before they meet them; an
    integer that fits has none to lose. An int that becomes an array (not ``any_int``) has to fit in 32
    bits where there are no more, as in JAX (narrow).
    """
    cls: Any = value.__class__
    if cls is bool:
        return bool_
    bits = 64 if wide and cls is not int else config.settings().default_bits
    if cls is int:
        if bits == 64 or not -(2**31) <= value < 2**31:
            if not -(2**63) <= value < 2**64:
                raise OverflowError(f"The Python int {value} does not fit in 64 bits.")
            dtype = int64 if value < 2**63 else uint64
            if not any_int and at_width(dtype) != dtype:
                why = "fit in int32; 64-bit values are off (enable_x64)"
                raise OverflowError(f"The Python int {value} does not {why}.")
            return dtype
        return int32
    return default_dtype("float" if cls is float else "complex", bits)
