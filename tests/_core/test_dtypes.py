"""Promotion against literal tables, and what is and is not a dtype."""

import itertools

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xcore._core import config, dtypes
from xcore._core.exceptions import DTypeError

SHORT = {
    "b": "bool",
    "i": "int4",
    "u": "uint4",
    "p": "float8_e4m3fn",
    "q": "float8_e5m2",
    "bf": "bfloat16",
    **{f"i{n}": f"int{8 * n}" for n in (1, 2, 4, 8)},
    **{f"u{n}": f"uint{8 * n}" for n in (1, 2, 4, 8)},
    **{f"f{n}": f"float{8 * n}" for n in (2, 4, 8)},
    "c": "complex64",
    "z": "complex128",
}
ALL = [dtype for members in dtypes.KINDS.values() for dtype in members]

# The published promotion rules of JAX, written out: the first column names the row, the columns are
# in the order of the rows. A star is a weak type, a dash is an error.
WITH_64_BITS = """
b    b   i1  i2  i4  i8  u1  u2  u4  u8  bf  f2  f4  f8  c   z   i   u   p   q   i8* f8* z*
i1   i1  i1  i2  i4  i8  i2  i4  i8  f8* bf  f2  f4  f8  c   z   -   -   p   q   i1  f8* z*
i2   i2  i2  i2  i4  i8  i2  i4  i8  f8* bf  f2  f4  f8  c   z   -   -   p   q   i2  f8* z*
i4   i4  i4  i4  i4  i8  i4  i4  i8  f8* bf  f2  f4  f8  c   z   -   -   p   q   i4  f8* z*
i8   i8  i8  i8  i8  i8  i8  i8  i8  f8* bf  f2  f4  f8  c   z   -   -   p   q   i8  f8* z*
u1   u1  i2  i2  i4  i8  u1  u2  u4  u8  bf  f2  f4  f8  c   z   -   -   p   q   u1  f8* z*
u2   u2  i4  i4  i4  i8  u2  u2  u4  u8  bf  f2  f4  f8  c   z   -   -   p   q   u2  f8* z*
u4   u4  i8  i8  i8  i8  u4  u4  u4  u8  bf  f2  f4  f8  c   z   -   -   p   q   u4  f8* z*
u8   u8  f8* f8* f8* f8* u8  u8  u8  u8  bf  f2  f4  f8  c   z   -   -   p   q   u8  f8* z*
bf   bf  bf  bf  bf  bf  bf  bf  bf  bf  bf  f4  f4  f8  c   z   -   -   -   -   bf  bf  c
f2   f2  f2  f2  f2  f2  f2  f2  f2  f2  f4  f2  f4  f8  c   z   -   -   -   -   f2  f2  c
f4   f4  f4  f4  f4  f4  f4  f4  f4  f4  f4  f4  f4  f8  c   z   -   -   -   -   f4  f4  c
f8   f8  f8  f8  f8  f8  f8  f8  f8  f8  f8  f8  f8  f8  z   z   -   -   -   -   f8  f8  z
c    c   c   c   c   c   c   c   c   c   c   c   c   z   c   z   -   -   -   -   c   c   c
z    z   z   z   z   z   z   z   z   z   z   z   z   z   z   z   -   -   -   -   z   z   z
i    i   -   -   -   -   -   -   -   -   -   -   -   -   -   -   i   -   -   -   i   -   -
u    u   -   -   -   -   -   -   -   -   -   -   -   -   -   -   -   u   -   -   u   -   -
p    p   p   p   p   p   p   p   p   p   -   -   -   -   -   -   -   -   p   -   p   p   -
q    q   q   q   q   q   q   q   q   q   -   -   -   -   -   -   -   -   -   q   q   q   -
i8*  i8* i1  i2  i4  i8  u1  u2  u4  u8  bf  f2  f4  f8  c   z   i   u   p   q   i8* f8* z*
f8*  f8* f8* f8* f8* f8* f8* f8* f8* f8* bf  f2  f4  f8  c   z   -   -   p   q   f8* f8* z*
z*   z*  z*  z*  z*  z*  z*  z*  z*  z*  c   c   c   z   c   z   -   -   -   -   z*  z*  z*
"""
# The same with 32-bit defaults, for operands of at most 32 bits: a uint32 and a signed integer need
# 64 bits all the same (JAX has none there and gives int32, which may be wrong).
WITH_32_BITS = """
b    b   i1  i2  i4  u1  u2  u4  bf  f2  f4  c   i   u   p   q   i4* f4* c*
i1   i1  i1  i2  i4  i2  i4  i8  bf  f2  f4  c   -   -   p   q   i1  f4* c*
i2   i2  i2  i2  i4  i2  i4  i8  bf  f2  f4  c   -   -   p   q   i2  f4* c*
i4   i4  i4  i4  i4  i4  i4  i8  bf  f2  f4  c   -   -   p   q   i4  f4* c*
u1   u1  i2  i2  i4  u1  u2  u4  bf  f2  f4  c   -   -   p   q   u1  f4* c*
u2   u2  i4  i4  i4  u2  u2  u4  bf  f2  f4  c   -   -   p   q   u2  f4* c*
u4   u4  i8  i8  i8  u4  u4  u4  bf  f2  f4  c   -   -   p   q   u4  f4* c*
bf   bf  bf  bf  bf  bf  bf  bf  bf  f4  f4  c   -   -   -   -   bf  bf  c
f2   f2  f2  f2  f2  f2  f2  f2  f4  f2  f4  c   -   -   -   -   f2  f2  c
f4   f4  f4  f4  f4  f4  f4  f4  f4  f4  f4  c   -   -   -   -   f4  f4  c
c    c   c   c   c   c   c   c   c   c   c   c   -   -   -   -   c   c   c
i    i   -   -   -   -   -   -   -   -   -   -   i   -   -   -   i   -   -
u    u   -   -   -   -   -   -   -   -   -   -   -   u   -   -   u   -   -
p    p   p   p   p   p   p   p   -   -   -   -   -   -   p   -   p   p   -
q    q   q   q   q   q   q   q   -   -   -   -   -   -   -   q   q   q   -
i4*  i4* i1  i2  i4  u1  u2  u4  bf  f2  f4  c   i   u   p   q   i4* f4* c*
f4*  f4* f4* f4* f4* f4* f4* f4* bf  f2  f4  c   -   -   p   q   f4* f4* c*
c*   c*  c*  c*  c*  c*  c*  c*  c   c   c   c   -   -   -   -   c*  c*  c*
"""
# Under strict promotion only weak operands change, in the order of the columns above.
STRICT_WEAK_ROWS = """
i8*  -   i1  i2  i4  i8  u1  u2  u4  u8  bf  f2  f4  f8  c   z   i   u   p   q   i8* f8* z*
f8*  -   -   -   -   -   -   -   -   -   bf  f2  f4  f8  c   z   -   -   p   q   f8* f8* z*
z*   -   -   -   -   -   -   -   -   -   -   -   -   -   c   z   -   -   -   -   z*  z*  z*
"""


def read(text):
    """{(row, column): result} of a table."""
    rows = [line.split() for line in text.strip().splitlines()]
    columns = [row[0] for row in rows] if len(rows) > 3 else list(names(WITH_64_BITS))
    return {(row[0], column): cell for row in rows for column, cell in zip(columns, row[1:])}


def names(text):
    return [line.split()[0] for line in text.strip().splitlines()]


def parse(name):
    return dtypes.as_dtype(SHORT[name.rstrip("*")]), name.endswith("*")


def promoted(*operands, **options):
    """The cell that ``promote`` gives for operands written as in the tables."""
    try:
        dtype, weak = dtypes.promote(*map(parse, operands), **options)
    except DTypeError:
        return "-"
    return next(s for s, name in SHORT.items() if name == dtype.name) + "*" * weak


def differences(table, **options):
    found = {pair: promoted(*pair, **options) for pair in table}
    return {pair: (found[pair], cell) for pair, cell in table.items() if found[pair] != cell}


def narrow(cell):
    return {"i8*": "i4*", "f8*": "f4*", "z*": "c*"}.get(cell, cell)


@pytest.mark.parametrize(("text", "bits"), [(WITH_64_BITS, 64), (WITH_32_BITS, 32)])
def test_promotion_table(text, bits):
    table = read(text)
    assert len(table) == len(names(text)) ** 2
    assert not differences(table, bits=bits)


def test_64_bit_operands_keep_their_width_with_32_bit_defaults():
    """No dtype that was asked for is given up: what would be weak with other defaults is strong."""
    table = read(WITH_64_BITS)
    wide = [n for n in names(WITH_64_BITS) if n in ("i8", "u8", "f8", "z")]
    some = {
        (narrow(a), narrow(b)): cell.rstrip("*")
        for (a, b), cell in table.items()
        if a in wide or b in wide
    }
    assert len(some) > 100
    assert not differences(some, bits=32)


def test_strict_promotion():
    table = read(STRICT_WEAK_ROWS)
    table |= {(b, a): cell for (a, b), cell in table.items()}
    strong = [n for n in names(WITH_64_BITS) if "*" not in n]
    table |= {(a, b): a if a == b else "-" for a in strong for b in strong}
    assert not differences(table, bits=64, strict=True)


def test_promotion_of_two_agrees():
    some = [(dtype, weak) for dtype in ALL for weak in (False, True)]
    for a, b in itertools.product(some, some):
        try:
            expected = dtypes.promote(a, b, bits=64)
        except DTypeError:
            with pytest.raises(DTypeError):
                dtypes.promote2(*a, *b, 64)
        else:
            assert dtypes.promote2(*a, *b, 64) == expected
            assert dtypes.promote2(*a, *b, 64) == expected  # from the cache


@pytest.mark.parametrize(
    ("operands", "bits", "expected"),
    [
        (("i4*",), 64, "i4*"),
        (("f8*",), 32, "f8*"),
        (("i4*", "i8*"), 32, "i8*"),
        (("f8*", "i4*"), 32, "f8*"),
        (("f4*", "i8*"), 64, "f4*"),
        (("f8*", "c*"), 32, "z*"),
        (("i4", "f8*"), 32, "f8*"),
        (("i4", "f8*", "c*"), 32, "z*"),
        (("b", "i8*"), 32, "i8*"),
        (("u8", "i8"), 32, "f8"),
        (("u8", "i8"), 64, "f8*"),
        (("u8", "i8", "f2"), 64, "f2"),
        (("i2*", "u1*"), 32, "i2*"),
        (("bf", "f2", "i8", "f8*"), 32, "f4"),
        (("b", "b", "b"), 32, "b"),
        (("p", "q", "b"), 32, "-"),
    ],
)
def test_weak_results_keep_the_width_of_their_operands(operands, bits, expected):
    assert promoted(*operands, bits=bits) == expected


def test_bool_is_never_weak():
    assert dtypes.promote((dtypes.bool_, True), (dtypes.bool_, True)) == (dtypes.bool_, False)


operand_names = st.sampled_from(["b", "i1", "u1", "i4", "u4", "i8", "u8", "bf", "f2", "f4", "f8"])
weak_names = st.sampled_from(["i4*", "i8*", "f4*", "f8*", "c*", "z*", "p", "i"])


@given(st.lists(operand_names | weak_names, min_size=1, max_size=5), st.randoms())
def test_order_and_repetition_do_not_matter(operands, random):
    shuffled = operands + operands[:2]
    random.shuffle(shuffled)
    assert promoted(*shuffled, bits=32) == promoted(*operands, bits=32)


def test_promotion_error_says_what_to_do():
    with pytest.raises(DTypeError, match=r"float8_e5m2 and float32.*astype"):
        dtypes.promote((dtypes.float8_e5m2, False), (dtypes.float32, False))
    with pytest.raises(TypeError, match=r"strict.*Python scalars.*astype"):
        dtypes.promote((dtypes.int32, False), (dtypes.float32, True), strict=True)


# What is a dtype


class _Carrier:
    dtype = np.dtype(np.int16)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (np.float32, "float32"),
        (np.dtype(">f4"), "float32"),
        (">i8", "int64"),
        ("f2", "float16"),
        ("?", "bool"),
        ("bfloat16", "bfloat16"),
        (ml_dtypes.bfloat16, "bfloat16"),
        (ml_dtypes.float8_e8m0fnu, "float8_e8m0fnu"),
        ("uint4", "uint4"),
        (np.bool_, "bool"),
        (bool, "bool"),
        (int, "int32"),
        (float, "float32"),
        ("complex", "complex64"),
        (np.zeros(2, np.complex128), "complex128"),
        (np.float64(3), "float64"),
        (_Carrier(), "int16"),
        (_Carrier, "int16"),
    ],
)
def test_as_dtype(spec, expected):
    dtype = dtypes.as_dtype(spec)
    assert dtype.name == expected
    assert dtype.isnative


def test_python_types_follow_the_default_width():
    with config.override(default_bits=64):
        found = [dtypes.as_dtype(t).name for t in (bool, int, float, complex, "float")]
    assert found == ["bool", "int64", "float64", "complex128", "float64"]
    assert dtypes.as_dtype(int, bits=64) == np.int64
    assert dtypes.default_dtype("uint", 64) == np.uint64


@pytest.mark.parametrize(
    "spec",
    [
        None,
        object,
        str,
        "S5",
        "datetime64[s]",
        "nonsense",
        np.longdouble,
        [1, 2],
        {"a": 1},
        3,
        np.dtype([("a", "f4")]),
        np.array(["a"]),
        ml_dtypes.float6_e2m3fn,
    ],
)
def test_what_is_no_dtype(spec):
    with pytest.raises(DTypeError, match=r"not a dtype that arrays can have.*Supported are bool.*"):
        dtypes.as_dtype(spec)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_kinds(dtype):
    kind = dtypes.kind(dtype)
    # ml_dtypes and NumPy know independently which dtypes have a mantissa, and which a sign.
    is_float = dtype.name.startswith(("float", "bfloat"))
    assert dtypes.as_dtype(dtype) is dtype
    assert dtypes.as_dtype(dtype.name) is dtype
    assert dtypes.is_floating(dtype) == is_float
    assert dtypes.is_complex(dtype) == (np.zeros(1, dtype).dtype.kind == "c")
    assert dtypes.is_inexact(dtype) == (is_float or kind == "complex")
    assert dtypes.is_integer(dtype) == ("int" in dtype.name)
    assert dtypes.is_bool(dtype) == (not dtypes.is_numeric(dtype)) == (kind == "bool")
    assert kind.startswith("u") == dtype.name.startswith("u")


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_conversions_between_kinds(dtype):
    real = np.float64 if dtype.itemsize == 8 and dtypes.kind(dtype) != "complex" else None
    if dtypes.is_complex(dtype):
        assert dtypes.to_real(dtype) == np.zeros(1, dtype).real.dtype
        assert dtypes.to_complex(dtype) is dtypes.to_inexact(dtype) is dtype
        return
    assert dtypes.to_real(dtype) is dtype
    assert dtypes.to_complex(dtype) == (np.complex128 if real else np.complex64)
    assert dtypes.to_inexact(dtype) == (dtype if dtypes.is_floating(dtype) else real or np.float32)


def test_limits():
    assert dtypes.finfo("float32").eps == np.finfo(np.float32).eps
    assert dtypes.finfo(np.complex128).max == np.finfo(np.float64).max
    assert float(dtypes.finfo("float8_e4m3fn").max) == 448
    assert dtypes.iinfo("int4").min == -8
    assert dtypes.iinfo(np.uint16).max == 65535
    with pytest.raises(DTypeError, match=r"finfo.*floating.*int32"):
        dtypes.finfo(np.int32)
    with pytest.raises(DTypeError, match=r"iinfo.*integer.*float32"):
        dtypes.iinfo(np.float32)


def test_kind_of_something_else_is_an_error():
    with pytest.raises(DTypeError):
        dtypes.kind(np.dtype("U3"))
