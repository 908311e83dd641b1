"""Dtypes and shapes that the Array API standard prescribes, function by function."""

import enum

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.array_api import make_strategies_namespace

import xcore as xc
import xcore.numpy as xnp

INTS = "int8 int16 int32 int64".split()
UINTS = "uint8 uint16 uint32 uint64".split()
REALS, COMPLEX = ["float32", "float64"], ["complex64", "complex128"]
NUMERIC = INTS + UINTS + REALS + COMPLEX
ALL = ["bool", *NUMERIC]


def some(dtype, shape=(2, 3)):
    return xnp.asarray((np.arange(np.prod(shape)).reshape(shape) % 2 + 1).astype(dtype))


def dtype_of(function, *args, **options):
    """The dtype of a result, without compiling anything; a function may be given by its name."""
    function = getattr(xnp, function) if isinstance(function, str) else function
    return xc.eval_shape(lambda: function(*args, **options)).dtype


# Which dtypes functions take

KINDS = {"bool": ["bool"], "integer": INTS + UINTS, "real": REALS, "complex": COMPLEX}
TAKES = {  # name: (kinds of arguments, kind of the result; None for that of the arguments)
    "abs acosh": ("real complex", None),
    "acos asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2 sin sinh sqrt tan tanh": ("real complex", None),
    "ceil floor round trunc": ("integer real", None), "positive negative square sign": ("integer real complex", None),
    "reciprocal": ("real complex", None), "conj": ("complex", None), "real imag": ("complex", "part"),
    "bitwise_invert": ("bool integer", None), "logical_not": ("bool", "bool"), "signbit": ("real", "bool"),
    "isfinite isinf isnan": ("integer real complex", "bool"),
}  # fmt: skip
TAKES_TWO = {
    "add subtract multiply": ("integer real complex", None), "divide": ("real complex", None),
    "floor_divide remainder": ("integer real", None), "pow": ("integer real complex", None),
    "atan2 copysign hypot logaddexp nextafter": ("real", None), "maximum minimum": ("integer real", None),
    "bitwise_and bitwise_or bitwise_xor": ("bool integer", None), "bitwise_left_shift bitwise_right_shift": ("integer", None),
    "logical_and logical_or logical_xor": ("bool", "bool"), "less less_equal greater greater_equal": ("integer real", "bool"),
    "equal not_equal": ("bool integer real complex", "bool"),
}  # fmt: skip


def cases(table):
    return [
        (name, kinds, result) for names, (kinds, result) in table.items() for name in names.split()
    ]


def expected(dtype, result):
    if result == "part":
        return {"complex64": "float32", "complex128": "float64"}[dtype]
    return result or dtype


@pytest.mark.parametrize("name, kinds, result", cases(TAKES))
def test_functions_of_one_array(name, kinds, result):
    for dtype in [d for k in kinds.split() for d in KINDS[k]]:
        x = some(dtype)
        want = (
            {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
            if name == "abs"
            else expected(dtype, result)
        )
        assert dtype_of(name, x) == want, dtype


@pytest.mark.parametrize("name, kinds, result", cases(TAKES_TWO))
def test_functions_of_two_arrays(name, kinds, result):
    for dtype in [d for k in kinds.split() for d in KINDS[k]]:
        x = some(dtype)
        got = xc.eval_shape(lambda x=x: getattr(xnp, name)(x, x[0]))
        assert got.dtype == expected(dtype, result) and got.shape == (2, 3), dtype


def widest(a, b):
    return str(np.promote_types(a, b))


@pytest.mark.parametrize(
    "group", [INTS, UINTS, REALS, COMPLEX, REALS + COMPLEX], ids=lambda g: g[0]
)
def test_promotion_within_a_kind(group):
    for a in group:
        for b in group:
            x, y = some(a), some(b)
            want = widest(a, b)
            assert dtype_of("add", x, y) == dtype_of("concat", [x, y]) == want
            assert xnp.result_type(x, y) == xnp.result_type(x.dtype, y) == want
            assert dtype_of("where", some("bool"), x, y) == want


@pytest.mark.parametrize("bits", [32, 64])
def test_promotion_of_signed_with_unsigned(bits):
    """No value is lost, whatever the default width."""
    with xc.config.override(default_bits=bits):
        for a in INTS:
            for b in UINTS[:-1]:
                assert dtype_of("add", some(a), some(b)) == widest(a, b)
                assert xnp.result_type(a, b) == widest(a, b)


# Reductions


@pytest.mark.parametrize("bits", [32, 64])
def test_sums_have_the_default_width_at_least(bits):
    with xc.config.override(default_bits=bits):
        for dtype in INTS + UINTS:
            x = some(dtype)
            kind = "int" if dtype in INTS else "uint"
            wide = x.dtype if x.dtype.itemsize * 8 >= bits else np.dtype(f"{kind}{bits}")
            for name in ("sum", "prod", "cumulative_sum", "cumulative_prod"):
                axis = {"axis": 0} if "cum" in name else {}
                assert dtype_of(name, x, **axis) == wide, (name, dtype)
        for dtype in REALS + COMPLEX:
            assert dtype_of("sum", some(dtype)) == dtype
            assert dtype_of("prod", some(dtype), dtype=dtype) == dtype
        for dtype in REALS:
            for name in ("mean", "std", "var"):
                assert dtype_of(name, some(dtype)) == dtype
        index = xnp.__array_namespace_info__().default_dtypes()["indexing"]
        for name in ("argmax", "argmin", "count_nonzero", "argsort"):
            assert dtype_of(name, some("int8")) == index
        assert (
            xnp.nonzero(some("int8"))[0].dtype == index
            and xnp.unique_all(some("int8")).counts.dtype == index
        )
        assert dtype_of("searchsorted", some("float32", (3,)), some("float32")) == index


def test_extrema_and_logic_keep_or_give():
    for dtype in INTS + UINTS + REALS:
        assert dtype_of("max", some(dtype)) == dtype_of("min", some(dtype)) == dtype
        assert dtype_of("sort", some(dtype)) == dtype
    for dtype in ALL:
        assert dtype_of("any", some(dtype)) == dtype_of("all", some(dtype)) == bool


@pytest.mark.parametrize(
    "name", ["sum", "prod", "max", "min", "mean", "any", "all", "count_nonzero", "std"]
)
def test_axes_and_keepdims(name):
    x = some("float32", (2, 3, 4))
    for axis in (None, 0, -1, (0, 2), (1,), ()):
        for keep in (False, True):
            got = xc.eval_shape(
                lambda axis=axis, keep=keep: getattr(xnp, name)(x, axis=axis, keepdims=keep)
            )
            assert got.shape == np.sum(np.zeros((2, 3, 4)), axis=axis, keepdims=keep).shape, (
                axis,
                keep,
            )
    with pytest.raises(ValueError, match="axis 3"):
        getattr(xnp, name)(x, axis=3)


def test_empty_reductions():
    x = xnp.zeros((0, 2))
    assert xnp.sum(x, axis=0).tolist() == [0, 0] and xnp.prod(x, axis=0).tolist() == [1, 1]
    assert xnp.any(x, axis=0).tolist() == [False] * 2 and xnp.all(x, axis=0).tolist() == [True] * 2
    with pytest.raises(ValueError, match="max"):
        xnp.max(x, axis=0)
    assert xnp.max(x, axis=1).shape == (0,)


# Python numbers, wrong dtypes


def test_python_numbers_take_the_dtype():
    for dtype in NUMERIC:
        x = some(dtype)
        numbers = [1] + [0.5] * (dtype in REALS + COMPLEX) + [1j] * (dtype in COMPLEX)
        for number in numbers:
            for f in (
                lambda x, n: x + n,
                lambda x, n: n * x,
                lambda x, n: n - x,
                lambda x, n: xnp.add(x, n),
                lambda x, n: x**n,
            ):
                assert dtype_of(f, x, number) == dtype
            assert dtype_of("equal", x, number) == bool
    big = xnp.asarray([1], "uint64") + (2**64 - 2)
    assert int(big[0]) == 2**64 - 1 and int((xnp.asarray([-1], "int64") - (2**63 - 1))[0]) == -(
        2**63
    )


WRONG = [
    lambda: xnp.bitwise_and(some("float32"), 1), lambda: ~some("float32"), lambda: some("float32") << 1,
    lambda: xnp.floor(some("complex64")), lambda: some("complex64") // 1, lambda: xnp.atan2(some("complex64"), 1.0),
    lambda: xnp.add(some("int8"), "1"), lambda: some("int8") + None, lambda: xnp.sin([1.0]), lambda: xnp.sum("abc"),
    lambda: xnp.iinfo(xnp.float32), lambda: xnp.finfo(xnp.int32), lambda: xnp.zeros(2, dtype="str"),
    lambda: xnp.take(some("int8"), xnp.asarray([0.0])), lambda: some("bool") - some("bool"), lambda: -some("bool"),
    lambda: xnp.arange("3"), lambda: xnp.gcd(some("float32"), 2), lambda: some("int8") @ "x",
]  # fmt: skip


@pytest.mark.parametrize("call", WRONG)
def test_wrong_types_are_type_errors(call):
    with pytest.raises(TypeError):
        call()


# Devices, DLPack, generated arrays


def test_devices():
    info = xnp.__array_namespace_info__()
    for device in info.devices()[:2]:
        made = [
            xnp.zeros(2, device=device), xnp.ones(2, device=device), xnp.empty(2, device=device), xnp.arange(2, device=device),
            xnp.full(2, 1, device=device), xnp.eye(2, device=device), xnp.linspace(0, 1, 2, device=device),
            xnp.asarray([1, 2], device=device), xnp.zeros_like(xnp.ones(2), device=device), xnp.ones(2).to_device(device),
            xnp.full_like(xnp.ones(2), 3, device=device), xnp.astype(xnp.ones(2), "int8", device=device),
        ]  # fmt: skip
        assert {x.device for x in made} == {device}
        for kind in (None, "bool", "integral", "numeric", ("real floating", "complex floating")):
            for dtype in info.dtypes(kind=kind, device=device).values():
                assert xnp.empty(1, dtype=dtype).dtype == dtype


@pytest.mark.parametrize("dtype", ALL)
def test_dlpack_arguments(dtype):
    for shape in ((), (0, 2), (2, 3)):
        x = some(dtype, shape)
        for arguments in (
            {},
            {"max_version": (1, 0)},
            {"max_version": (0, 8)},
            {"dl_device": (1, 0)},
            {"copy": True},
            {"copy": False},
        ):
            assert x.__dlpack__(**arguments) is not None
        back = xnp.from_dlpack(x)
        assert back.tolist() == x.tolist() and back.device == x.device and back.dtype == dtype


xps = make_strategies_namespace(xnp, api_version="2024.12")


@settings(max_examples=40)
@given(
    xps.arrays(
        xps.scalar_dtypes(), xps.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
    ),
    st.data(),
)
def test_generated_arrays_and_indices(x, data):
    """Hypothesis' strategies for array libraries work with this one."""
    index = data.draw(xps.indices(x.shape, allow_newaxis=True))
    np.testing.assert_array_equal(np.asarray(x[index]), np.asarray(x)[index])
    assert x.dtype in xnp.__array_namespace_info__().dtypes().values()


NARROW = """float4_e2m1fn float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2
float8_e5m2fnuz bfloat16""".split()


@pytest.mark.parametrize("name", NARROW)
def test_conversions_round_once_and_to_even(name):
    """At all numbers of a dtype, halfway between them, and just beside: as ml_dtypes converts."""
    dtype = xnp.dtype(name)
    bits = np.arange(16 if "float4" in name else 256, dtype=np.uint8)
    bits = bits if dtype.itemsize == 1 else bits.astype(np.uint16) * 97
    known = np.unique(bits.view(dtype).astype(np.float32))
    known = known[np.isfinite(known)]
    middle = known[:-1] / 2 + known[1:] / 2
    x = np.concatenate([known, middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf)])
    x = x[(np.abs(x) > 1e-37) | (x == 0)].astype(np.float32)  # smaller ones are flushed
    for source in ("float32", "float16"):
        with np.errstate(over="ignore"):
            given = x.astype(source)
            want = given.astype(dtype).astype(np.float32)
        found = np.asarray(xc.jit(lambda v: v.astype(dtype))(given)).astype(np.float32)
        np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize(
    "name", ["bool_", "int8", "uint32", "float16", "bfloat16", "complex64", "int_"]
)
def test_dtypes_stand_for_their_scalars(name):
    """isinstance asks for NumPy's scalars, and a class that names a dtype as a base extends them."""
    dtype = getattr(xnp, name)
    scalar = dtype.dtype.type
    assert isinstance(scalar(1), dtype) and not isinstance("1", dtype)
    assert not isinstance(xnp.ones((), dtype), dtype)
    if name != "bool_":  # which has no subclasses
        made = type("Step", (scalar,), {})
        assert made.__mro__[1] is scalar

        class Step(dtype):
            FIRST = dtype(0)

        assert Step.__mro__[1] is scalar and Step.FIRST.dtype == dtype


def test_members_of_enumerations_are_numbers():
    class Step(enum.IntEnum):
        MID = 1

    for f in (
        lambda m: xnp.stack([m, m]),
        lambda m: xnp.select([xnp.ones(2) > 0], [m]),
        lambda m: xnp.array([m, 2]),
    ):
        for g in (f, xc.jit(f, static_argnums=0)):
            assert g(Step.MID).dtype == f(1).dtype and g(Step.MID).tolist() == f(1).tolist()
    assert xnp.result_type(Step.MID, xnp.int8(1)) == np.int8
    assert xnp.clip(xnp.arange(3), Step.MID, 2).tolist() == [1, 1, 2]
