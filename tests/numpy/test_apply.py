"""vectorize, functions along axes, dtype inquiries, files, DLPack, bits: against NumPy."""

import io
import warnings

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp

import xcore as xc
import xcore.numpy as xnp
from tests.numpy.reference import ALL, assert_same, dtype_of, values

A, B = values("float32", (4, 1, 3)), values("float32", (2, 3), seed=1)


# vectorize


def test_vectorize_numbers():
    f = xnp.vectorize(lambda a, b: xnp.where(a > b, a - b, a + b))
    want = np.where(A > B, A - B, A + B)
    assert_same(f(xnp.asarray(A), xnp.asarray(B)), want, 1)
    assert_same(xc.jit(f)(A, B), want, 1)
    assert f(1.0, 2.0).tolist() == 3.0
    both = xnp.vectorize(lambda a: (a, -a))(xnp.arange(3))
    assert [p.tolist() for p in both] == [[0, 1, 2], [0, -1, -2]]


@pytest.mark.parametrize("signature, f, want", [
    ("(n),(n)->()", xnp.dot, lambda a, b: (a * b).sum(-1)), ("(n),(n)->(n)", lambda a, b: a + b, lambda a, b: a + b),
    ("(i),(j)->(i,j)", xnp.outer, lambda a, b: a[..., :, None] * b[..., None, :]),
    ("(3),(n)->()", lambda a, b: a[0] + b[-1], lambda a, b: a[..., 0] + b[..., -1]),
])  # fmt: skip
def test_vectorize_with_signature(signature, f, want):
    got = xnp.vectorize(f, signature=signature)(xnp.asarray(A), xnp.asarray(B))
    assert_same(got, want(A, B), 8, floor=4)


@pytest.mark.parametrize("signature, f", [
    ("(2)->()", lambda a: a.sum()), ("(2),(2)->()", lambda a, b: (a * b).sum()), ("(3)->(2)", lambda a: a[:2]),
    ("(2),(3)->(2,3)", lambda a, b: a[:, None] * b),
])  # fmt: skip
def test_numbers_in_signatures_are_names_of_axes(signature, f):
    arrays = [A[..., :3], B[..., :3]][: signature.partition("->")[0].count("(")]
    want = np.vectorize(f, signature=signature)(*arrays)
    assert_same(xnp.vectorize(f, signature=signature)(*map(xnp.asarray, arrays)), want, 8)
    with pytest.raises(ValueError, match="has lengths 2 and 3"):
        xnp.vectorize(lambda a, b: a[0] + b[0], signature="(5),(5)->()")(xnp.ones(2), xnp.ones(3))


def test_vectorize_details():
    f = xnp.vectorize(lambda x, power, *, shift=0: x**power + shift, excluded={1})
    assert f(xnp.arange(3), 2).tolist() == [0, 1, 4]
    assert f(xnp.arange(3), 2, shift=xnp.asarray([[1], [2]])).tolist() == [[1, 2, 5], [2, 3, 6]]
    g = xnp.vectorize(lambda x, s: x if s == "up" else -x, excluded={"s"})
    assert g(xnp.arange(2), s="down").tolist() == [0, -1]
    assert xnp.vectorize(lambda a, b: a + b)(xnp.zeros((0, 3)), xnp.ones(3)).shape == (0, 3)
    gradient = xnp.vectorize(xc.grad(lambda x: x**2))(xnp.arange(3.0))
    assert gradient.tolist() == [0, 2, 4]
    for call, message in (
        (lambda: xnp.vectorize(xnp.dot, signature="n,n->"), "of a form such as"),
        (
            lambda: xnp.vectorize(xnp.dot, signature="(n),(n)->()")(xnp.ones(2), xnp.ones(3)),
            "has lengths 2 and 3",
        ),
        (
            lambda: xnp.vectorize(xnp.dot, signature="(n),(n)->()")(1.0, xnp.ones(3)),
            "with at most 0 axes",
        ),
        (
            lambda: xnp.vectorize(xnp.dot, signature="(n)->()")(xnp.ones(3), xnp.ones(3)),
            "for 2 arguments",
        ),
        (
            lambda: xnp.vectorize(xnp.outer, signature="(n),(n)->(n)")(xnp.ones(3), xnp.ones(3)),
            "with 2 axes for the result",
        ),
        (lambda: xnp.vectorize(xnp.sin, excluded={1.5}), "positions and names"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_apply_along_axis_gives_trees():
    x = np.arange(12.0).reshape(3, 4)
    for axis in (0, 1):
        total, rest = xnp.apply_along_axis(
            lambda v: [v.sum(), {"rest": v[1:]}], axis, xnp.asarray(x)
        )
        assert_same(total, x.sum(axis), 1)
        assert_same(rest["rest"], np.take(x, range(1, x.shape[axis]), axis), 1)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_along_an_axis(axis):
    x = values("float64", (2, 3, 4))
    for f, g in (
        (xnp.sum, np.sum),
        (lambda v: v[:2] * 2, lambda v: v[:2] * 2),
        (lambda v: xnp.outer(v, v), lambda v: np.outer(v, v)),
    ):
        assert_same(
            xnp.apply_along_axis(f, axis, xnp.asarray(x)),
            np.apply_along_axis(g, axis, x),
            8,
            floor=8,
        )
    assert_same(
        xnp.apply_over_axes(xnp.sum, xnp.asarray(x), (0, axis)),
        np.apply_over_axes(np.sum, x, (0, axis)),
        8,
        floor=8,
    )
    with pytest.raises(ValueError, match="keeps or drops one axis"):
        xnp.apply_over_axes(lambda a, axis: a[0, 0], xnp.asarray(x), 0)


# Inquiries


@pytest.mark.parametrize("dtype", [d for d in ALL if dtype_of(d).kind in "fcV"])
def test_finfo(dtype):
    got, want = xnp.finfo(dtype), ml_dtypes.finfo(dtype_of(dtype))
    for name in (
        "eps",
        "max",
        "min",
        "smallest_normal",
        "tiny",
        "resolution",
        "epsneg",
        "smallest_subnormal",
    ):
        assert isinstance(getattr(got, name), float) and getattr(got, name) == float(
            getattr(want, name)
        )
    assert isinstance(got.bits, int) and got.bits == want.bits and got.nmant == want.nmant
    assert xnp.finfo(xnp.ones(2, dtype)).eps == got.eps and "finfo" in repr(got)
    assert got.dtype == (np.zeros(1, dtype_of(dtype)).real.dtype)
    with pytest.raises(AttributeError):
        got.nothing  # noqa: B018


def test_iinfo():
    for dtype in ("int8", "uint8", "int32", "uint64"):
        got, want = xnp.iinfo(dtype), np.iinfo(dtype)
        assert (got.bits, got.min, got.max, got.dtype) == (
            want.bits,
            want.min,
            want.max,
            want.dtype,
        )
        assert type(got.max) is int and xnp.iinfo(int_type=xnp.ones(1, dtype)).max == got.max
    for call in (lambda: xnp.iinfo("float32"), lambda: xnp.finfo("int8")):
        with pytest.raises(TypeError):
            call()


def test_result_types():
    assert xnp.result_type(xnp.int8, 3) == np.int8 and xnp.result_type(1, 2.0) == np.float32
    assert xnp.result_type(xnp.ones(1, "float16"), "int32") == np.float16
    assert (
        xnp.result_type(None, "int32") == xnp.result_type(None) == np.float32
    )  # a float by default
    assert (
        xnp.result_type(np.float64(1), xnp.ones(1)) == np.float64
        and xnp.result_type(float) == np.float32
    )
    assert (
        xnp.result_type("int8", float) == np.float32
        and xnp.result_type("bfloat16", float) == ml_dtypes.bfloat16
    )
    assert (
        xnp.promote_types("uint8", "int8") == np.int16
        and xnp.promote_types("float16", "bfloat16") == np.float32
    )
    for a in ALL:
        for b in ALL:
            got = (
                (xnp.ones(1, a) + xnp.ones(1, b)).dtype
                if a == "float32"
                else xnp.promote_types(a, b)
            )
            assert got == xnp.result_type(a, b) == xnp.result_type(b, a)
    with pytest.raises(ValueError, match="at least one"):
        xnp.result_type()


def test_can_cast():
    own = [d for d in ALL if d != "bfloat16"]
    for a in own:
        for b in own:
            assert xnp.can_cast(a, b) == np.can_cast(dtype_of(a), dtype_of(b)), (a, b)
    exact = {"bool", "int8", "uint8", "bfloat16", "float8_e5m2", "float8_e4m3fn"}
    for a in [*ALL, "float8_e5m2", "float8_e4m3fn"]:
        assert xnp.can_cast(a, "bfloat16") == (a in exact), a
    assert xnp.can_cast("bfloat16", "float32") and not xnp.can_cast("bfloat16", "float16")
    assert xnp.can_cast(xnp.ones(1, "int8"), "int16") and xnp.can_cast("float32", "int8", "unsafe")


KINDS = {
    "bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f",
    "complex floating": "c", "numeric": "iufc",
}  # fmt: skip


def test_kinds_of_dtypes():
    for dtype in [d for d in ALL if d != "bfloat16"]:
        for kind, letters in KINDS.items():
            assert xnp.isdtype(dtype_of(dtype), kind) == (dtype_of(dtype).kind in letters)
        assert xnp.isdtype(dtype_of(dtype), dtype_of(dtype)) and xnp.isdtype(
            xnp.bool, ("bool", xnp.int8)
        )
        for abstract in (
            np.number,
            np.integer,
            np.signedinteger,
            np.unsignedinteger,
            np.inexact,
            np.floating,
            np.complexfloating,
            float,
            int,
            complex,
            bool,
            np.float64,
            np.int32,
            "float32",
        ):
            assert xnp.issubdtype(dtype_of(dtype), abstract) == np.issubdtype(
                dtype_of(dtype), abstract
            )
    assert xnp.issubdtype(xnp.bfloat16, xnp.floating) and not xnp.issubdtype(
        xnp.bfloat16, np.float32
    )
    for kind, wide in ((float, np.float64), (int, np.int64), (complex, np.complex128)):
        assert xnp.issubdtype(kind, wide) and xnp.issubdtype(kind, kind)
        assert xnp.issubdtype(kind, np.number) and not xnp.issubdtype(np.number, kind)
    assert xnp.issubdtype(np.floating, np.number) and not xnp.issubdtype(np.integer, np.floating)
    with pytest.raises(ValueError, match="kind"):
        xnp.isdtype("int8", "whole")


def test_inquiries():
    x = xnp.ones((2, 3))
    assert xnp.shape(x) == (2, 3) and xnp.ndim(x) == 2 and xnp.size(x) == 6 and xnp.size(x, 1) == 3
    assert xnp.shape([[1, 2]]) == (1, 2) and xnp.ndim(3) == 0 and xnp.size(x, (0, -1)) == 6
    assert xc.jit(lambda x: xnp.size(x) * xnp.ndim(x) * xnp.shape(x)[0])(x) == 24
    assert (
        xnp.isscalar(3)
        and xnp.isscalar(xnp.asarray(3))
        and not xnp.isscalar(x)
        and not xnp.isscalar([1])
    )
    assert (
        xnp.iterable(x) and not xnp.iterable(x[0, 0]) and xnp.iterable([1]) and not xnp.iterable(3)
    )
    assert xnp.iscomplexobj(1j) and xnp.isrealobj(x) and not xnp.isrealobj(xnp.ones(1, "complex64"))
    assert isinstance(x, xnp.ndarray) and xc.jit(lambda x: isinstance(x, xnp.ndarray) * x)(2) == 2
    with pytest.raises(TypeError):
        xnp.shape(None)


def test_namespace_info():
    x = xnp.ones(1)
    assert x.__array_namespace__() is xnp and x.__array_namespace__(api_version="2023.12") is xnp
    with pytest.raises(ValueError, match="Array API"):
        x.__array_namespace__(api_version="1999.01")
    info = xnp.__array_namespace_info__()
    assert info.capabilities()["boolean indexing"] and info.default_device() in info.devices()
    assert set(info.default_dtypes()) == {
        "real floating",
        "complex floating",
        "integral",
        "indexing",
    }
    assert set(info.dtypes(kind="integral")) == {
        f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)
    }
    assert len(info.dtypes()) == 13 and set(info.dtypes(kind=("bool", "complex floating"))) == {
        "bool",
        "complex64",
        "complex128",
    }


def test_printing():
    x = xnp.asarray([1.23456, 2.0])
    with xnp.printoptions(precision=2):
        assert str(x) == "[1.23 2.  ]" and xnp.get_printoptions()["precision"] == 2
    assert xnp.array_repr(x, precision=1) == "Array([1.2, 2. ], dtype=float32)" and xnp.array_str(
        x
    ) == str(x)


# In and out


@pytest.mark.parametrize("dtype", ALL)
def test_files(dtype):
    x = xnp.asarray(values(dtype, (2, 3)))
    file = io.BytesIO()
    xnp.save(file, x)
    file.seek(0)
    back = xnp.load(file)
    assert back.dtype == x.dtype and back.tolist() == x.tolist()
    file = io.BytesIO()
    xnp.savez(file, x, y=2 * x)
    file.seek(0)
    both = xnp.load(file)
    assert sorted(both) == ["arr_0", "y"] and both["y"].dtype == (2 * x).dtype


def test_buffers_texts_iterables_functions(tmp_path):
    data = np.arange(4, dtype="int16")
    assert xnp.frombuffer(data.tobytes(), "int16", count=2, offset=2).tolist() == [1, 2]
    assert xnp.fromstring("1,2.5", sep=",").tolist() == [1, 2.5]
    assert xnp.fromiter((i for i in range(3)), "int8").dtype == np.int8
    data.tofile(tmp_path / "x")
    assert xnp.fromfile(tmp_path / "x", "int16").tolist() == data.tolist()
    assert (
        xnp.fromfunction(lambda i, j: i + j, (2, 3), dtype=int).tolist()
        == np.fromfunction(lambda i, j: i + j, (2, 3), dtype=int).tolist()
    )
    assert xnp.fromfunction(lambda i: 7, (3,)).tolist() == [7, 7, 7]


@pytest.mark.parametrize("dtype", [d for d in ALL if d not in ("bfloat16",)])
def test_dlpack(dtype):
    host = values(dtype, (3, 4))
    for source in (host, host.T, host[::2], np.zeros((0, 2), dtype), np.asarray(host[0, 0])):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got = xnp.from_dlpack(source)
        assert got.dtype == source.dtype
        np.testing.assert_array_equal(np.asarray(got), source)
    x = xnp.asarray(host, device=xc.devices("cpu")[0])  # NumPy sees no other memory
    np.testing.assert_array_equal(np.from_dlpack(x), host)
    assert xnp.from_dlpack(x) is x and xnp.from_dlpack(x, copy=True) is not x
    assert x.__dlpack_device__() == (1, 0)


def test_dlpack_shares_aligned_memory():
    raw = np.zeros(64 + 16, np.uint8)
    start = -raw.ctypes.data % 64
    aligned = raw[start : start + 64].view("float32")
    assert xnp.from_dlpack(aligned, copy=False).unsafe_buffer_pointer() == aligned.ctypes.data
    assert xnp.from_dlpack(aligned, copy=True).unsafe_buffer_pointer() != aligned.ctypes.data
    crooked = np.arange(12, dtype="float32").reshape(3, 4).T
    with pytest.raises(BufferError, match="copy=False forbids"):
        xnp.from_dlpack(crooked, copy=False)
    with pytest.raises(TypeError, match="no __dlpack__"):
        xnp.from_dlpack([1])


@given(hnp.arrays(bool, hnp.array_shapes(max_dims=2, max_side=11)))
def test_bits(flags):
    for axis in (None, 0, -1):
        for order in ("big", "little"):
            packed = xnp.packbits(xnp.asarray(flags), axis=axis, bitorder=order)
            want = np.packbits(flags, axis=axis, bitorder=order)
            np.testing.assert_array_equal(np.asarray(packed), want)
            back = xnp.unpackbits(packed, axis=axis, bitorder=order)
            np.testing.assert_array_equal(
                np.asarray(back), np.unpackbits(want, axis=axis, bitorder=order)
            )


def test_unpacking_some_bits():
    x = np.array([[7, 200]], np.uint8)
    for count in (3, 20, -2):
        np.testing.assert_array_equal(
            np.asarray(xnp.unpackbits(xnp.asarray(x), axis=1, count=count)),
            np.unpackbits(x, axis=1, count=count),
        )
    for call in (lambda: xnp.unpackbits(xnp.ones(2)), lambda: xnp.packbits(xnp.ones(2))):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ValueError, match="'big' or 'little'"):
        xnp.packbits(xnp.ones(2, bool), bitorder="odd")


def test_vectorize_of_keys():
    keys = xc.random.split(xc.random.key(0), 3)
    draw = xnp.vectorize(lambda k, m: xc.random.normal(k, (2,)) + m, signature="(),()->(n)")
    for f in (draw, xc.jit(draw)):
        found = f(keys, xnp.arange(4.0)[:, None])
        want = [[xc.random.normal(k, (2,)) + m for k in keys] for m in range(4)]
        np.testing.assert_allclose(found, np.asarray(want), rtol=1e-6)
        assert f(keys[:1], xnp.ones(5)).shape == (5, 2) and f(keys[0], 1.0).shape == (2,)
    assert xnp.vectorize(lambda k: xc.random.split(k, 2), signature="()->(n)")(keys).shape == (3, 2)
