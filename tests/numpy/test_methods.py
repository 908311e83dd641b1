"""Methods of arrays and of elementwise functions, also where arrays are traced."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore._core.program import RecordTracer
from xcore._core.trace import Tracer
from xcore._transforms.jvp import JVPTracer
from xcore._transforms.vmap import BatchTracer
from xcore.numpy._methods import METHODS, PROPERTIES

X = np.array([[3.0, -1.0, 2.0], [0.5, 4.0, -2.0], [1.0, 1.5, -0.25]], np.float32)

# a row for each method: what a user writes, for NumPy's array and for ours
CALLS = """
x.reshape(9) | x.reshape((1, -1)) | x.reshape(3, 3, order="F") | x.transpose() | x.transpose(1, 0) | x.transpose((1, 0))
x.ravel() | x.ravel("F") | x[:1].squeeze() | x[:1].squeeze(0) | x.flatten() | x.swapaxes(0, 1) | x.repeat(2) | x.repeat(2, axis=1)
x.astype("int32") | x.view("int32") | x.round(1) | x.clip(0, 1) | x.clip(max=1) | x.conj() | x.conjugate()
x.take([0, 2]) | x.take([0, 2], axis=1) | x.diagonal() | x.diagonal(1)
x.argsort() | x.argsort(axis=0) | x.argpartition(1)[:, 1] | x[0].searchsorted(x[1])
x.sum() | x.sum(0) | x.sum(axis=1, keepdims=True) | x.prod(1) | x.mean(0) | x.var() | x.var(ddof=1) | x.var(axis=0) | x.std(0)
x.max() | x.min(axis=1) | x.max(initial=9) | x.argmax() | x.argmin(1) | x.any() | x.all(axis=0) | x.trace() | x.trace(1)
x.cumsum() | x.cumsum(1) | x.cumprod(axis=0) | x.dot(x) | x.real | x.imag | x.T | x.mT | x.nbytes + 0 * x[0, 0] | x.size + 0 * x[0, 0]
abs(x) | -x | +x | x @ x | x ** 2 | 2 ** x | x // 2 | x % 2 | divmod(x, 2)[1] | x == x.T | x < 1 | 1 - x | 1 / x | x.ndim + 0 * x[0, 0]
"""
EXPRESSIONS = [e.strip() for line in CALLS.strip().splitlines() for e in line.split(" | ")]


def call(text, x):
    return eval(text, {"x": x})


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_methods_as_numpy(text):
    want = call(text, X)
    x = xnp.asarray(X)
    for got in (call(text, x), xc.jit(lambda x: call(text, x))(x)):
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6, atol=1e-6)


def test_sort_returns_a_copy():
    x = xnp.asarray(X)
    assert x.sort().tolist() == np.sort(X).tolist() and x.tolist() == X.tolist()
    assert x.sort(axis=0, descending=True)[0].tolist() == X.max(0).tolist()


@pytest.mark.parametrize("tracer", [Tracer, RecordTracer, BatchTracer, JVPTracer])
def test_tracers_hide_no_method(tracer):
    assert set(vars(tracer)) & (set(METHODS) | set(PROPERTIES)) == set()


def test_methods_under_vmap_and_grad():
    x = xnp.asarray(X)
    np.testing.assert_allclose(np.asarray(xc.vmap(lambda v: v.var())(x)), X.var(1), rtol=1e-6)
    got = xc.grad(lambda x: x.trace() + x.var())(x)
    np.testing.assert_allclose(np.asarray(got), np.eye(3) + 2 * (X - X.mean()) / 9, rtol=1e-5)


UNARY = "negative exp absolute square logical_not sqrt sign floor".split()


@pytest.mark.parametrize("name", UNARY)
def test_unary_functions_at_positions(name):
    f, x = getattr(xnp, name), np.array([1.0, 2.5, 4.0])
    want = x.copy()
    getattr(np, name).at(want, [0, 2, 0])
    got = f.at(xnp.asarray(x), xnp.asarray([0, 2, 0]), inplace=False)
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-15)
    assert (f.nin, f.nout, f.nargs) == (1, 1, 2)
    with pytest.raises(ValueError, match="immutable"):
        f.at(xnp.asarray(x), 0)


def test_division_at_positions_is_true_division():
    assert xnp.arange(3).at[1:].divide(2).tolist() == [0.0, 0.5, 1.0]
    assert xnp.arange(3.0).at[1].divide(2).dtype == "float32"


def test_narrowest_dtypes_are_stored_and_converted():
    for name, values in (
        ("int2", [-2, -1, 0, 1]),
        ("uint2", [0, 1, 2, 3]),
        ("float4_e2m1fn", [0, 0.5, 1.5, -6]),
    ):
        x = xnp.asarray(values, xnp.float32).astype(getattr(xnp, name))
        assert x.dtype.name == name and x.astype("float32").tolist() == values
        assert np.asarray(x).astype(float).tolist() == values
        assert xc.jit(lambda x: x.astype("int8"))(x).tolist() == [int(v) for v in values]
        if name[0] == "f":
            assert x.astype("bool").tolist() == [v != 0 for v in values]


@pytest.mark.parametrize(
    "dtype", "bool int8 int16 uint32 float64 bfloat16 complex64 complex128".split()
)
def test_byteswap(dtype):
    x = np.arange(6).reshape(2, 3).astype(xnp.dtype(dtype))
    for part in (x, x[0, 1], x[:, :0]):
        got, want = np.asarray(xnp.asarray(part).byteswap()), part.byteswap()
        assert (got.shape, got.dtype, got.tobytes()) == (want.shape, want.dtype, want.tobytes())
    with pytest.raises(ValueError, match="inplace"):
        xnp.asarray(x).byteswap(inplace=True)


def test_flat():
    x = xnp.arange(6).reshape(2, 3)
    assert x.flat[4] == 4 and [int(i) for i in x.flat] == list(range(6)) and len(x.flat) == 6


@pytest.mark.parametrize("dtype", "bfloat16 float16 float32 float64 complex64 complex128".split())
def test_limits_are_numbers_of_python(dtype):
    info = xnp.finfo(dtype)
    found = [info.eps, info.max, info.min, info.smallest_normal, info.resolution]
    assert {type(x) for x in found} == {float} and type(info.bits) is int


@pytest.mark.parametrize("name", ["int2", "uint2", "uint4"])
def test_narrowest_integers_move(name):
    """XLA's code for the CPU cannot pad or join 2-bit integers, nor take the sign of unsigned ones."""
    x = xnp.asarray([1, 0, 1]).astype(name)
    assert xnp.pad(x, 1).astype("int8").tolist() == [0, 1, 0, 1, 0]
    assert xnp.concatenate([x, x[:1]]).astype("int8").tolist() == [1, 0, 1, 1]
    for f in (xnp.abs, xnp.sign):
        assert f(x).astype("int8").tolist() == [1, 0, 1]


@pytest.mark.parametrize("name", ["int2", "uint2", "int4"])
def test_narrowest_integers_are_ordered(name):
    """XLA's code for the CPU sorts 2-bit integers wrongly and cannot order them beside positions."""
    given = np.array([1, 0, 2, 1, 0, 3, 1]) - (0 if name[0] == "u" else 2)
    x = xnp.asarray(given).astype(name)
    assert xnp.sort(x).dtype == x.dtype and xnp.sort(x).astype("int8").tolist() == sorted(given)
    np.testing.assert_array_equal(xnp.argsort(x), np.argsort(given, kind="stable"))
    assert (xnp.argmax(x), xnp.argmin(x)) == (given.argmax(), given.argmin())
    values, where = xc.lax.top_k(x, 2)
    assert values.astype("int8").tolist() == sorted(given)[:-3:-1]
    assert where.tolist() == np.argsort(-given, kind="stable")[:2].tolist()


def test_views_of_half_bytes():
    x = np.array([[0x21, 0xF3, 7, 0x80]], np.uint8)
    parts = xnp.asarray(x).view("uint4")
    assert parts.astype("uint8").tolist() == [[1, 2, 3, 15, 7, 0, 0, 8]]
    np.testing.assert_array_equal(parts.view("uint8"), x)
    np.testing.assert_array_equal(parts.view("float32"), x.view("float32"))


class Readable:
    """What another package has that can be read as an array, and answers operators itself."""

    def __array__(self, dtype=None, copy=None):
        return np.ones(3)

    def answer(self, other, *more):
        return "answered"

    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = (
        __rmatmul__
    ) = answer
    __rand__ = __ror__ = __rxor__ = __rlshift__ = __rrshift__ = answer


class OnlyReadable:
    def __array__(self, dtype=None, copy=None):
        return np.ones(3)


@pytest.mark.parametrize("sign", "+ - * / // % ** @ & | ^ << >>".split())
def test_operands_of_other_packages_answer_themselves(sign):
    x, codes = xnp.arange(3), {}
    exec(f"def f(x, y): return x {sign} y", codes)
    f = codes["f"]
    assert f(x, Readable()) == "answered"
    seen = []
    xc.jit(lambda x: seen.append(f(x, Readable())) or x)(x)
    assert seen == ["answered"]
    if sign in "+ - * / @".split():
        np.testing.assert_allclose(f(x, OnlyReadable()), f(np.arange(3), np.ones(3)))
