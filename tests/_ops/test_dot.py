"""Products whose left side is transposed, which a CPU stores anew where that is faster."""

import numpy as np
import pytest

import xcore as xc
from xcore import lax
from xcore._backend import quirks
from xcore._core import dtypes
from xcore._cpu.dot import _better_form
from xcore._ops.dot import dot_general

SIZES = {(160, 100, 128): "n large", (400, 100, 30): "n small", (24, 300, 200): "m small"}


def operands(m, k, n, dtype, turned):
    rng = np.random.default_rng([m, k, n])
    y = rng.standard_normal((n, k) if turned else (k, n))
    return rng.standard_normal((k, m)).astype(dtype), y.astype(dtype)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_transposed_left_sides(dtype, turned):
    @xc.jit
    def product(x, y):
        return lax.dot_general(x, y, (((0,), (int(turned),)), ((), ())))

    for size in SIZES:
        x, y = operands(*size, dtype, turned)
        bound = 4 * size[1] * np.finfo(dtype).eps
        np.testing.assert_allclose(product(x, y), x.T @ (y.T if turned else y), rtol=0, atol=bound)


@pytest.mark.parametrize(
    "contract", [((0, 1), (0, 1)), ((0, 1), (1, 2)), ((1, 0), (0, 1)), ((0, 1), (2, 1))]
)
def test_several_axes(contract):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((10, 12, 20, 10))
    y = rng.standard_normal([(10, 12, 96), (96, 10, 12)][contract[1] in ((1, 2), (2, 1))])
    if contract[1] == (2, 1):
        x = x.transpose(1, 0, 2, 3)
    if contract[0] == (1, 0):
        y = y.transpose(1, 0, 2)
    got = xc.jit(lambda x, y: lax.dot_general(x, y, (contract, ((), ()))))(x, y)
    np.testing.assert_allclose(got, np.tensordot(x, y, contract), rtol=0, atol=1e-12)


def test_in_loops_and_derivatives():
    # the gradient of a product in both sides, with a form of its own for each, inside of a loop
    x, y = operands(160, 100, 128, "float64", False)

    def total(x, y):
        return lax.fori_loop(0, 3, lambda i, s: s + ((x.T @ y) ** 2).sum(), 0.0 * x[0, 0])

    got = xc.jit(xc.grad(total, (0, 1)))(x, y)
    p = x.T @ y
    np.testing.assert_allclose(got[0], 6 * y @ p.T, atol=1e-10)
    np.testing.assert_allclose(got[1], 6 * x @ p, atol=1e-10)


def test_the_form_is_the_smallest_one():
    f32, f64 = dtypes.float32, dtypes.float64
    assert _better_form(1000, 1000, 1000, False, f64) == "left"
    assert _better_form(200, 40000, 20, False, f64) == "right"
    assert _better_form(40000, 200, 20, False, f32) == "right"
    assert _better_form(16, 1000, 1000, True, f32) == "result"
    assert _better_form(1000, 1000, 1000, True, f64) in ("left", "result")
    assert _better_form(1000, 1000, 1000, False, f32) is None  # as fast as it is
    assert _better_form(20, 20000, 20, False, f64) is None  # the transposition would cost more
    assert _better_form(1, 1000, 5000, False, f64) is None
    assert _better_form(64, 64, 64, False, f64) is None


@pytest.mark.parametrize("after", [lambda y: y, lambda y: y * 0.03 - 1])
@pytest.mark.skipif(not quirks.DOT_IN_REDUCTION_SLOW.is_here(), reason="this compiler's are fast")
def test_a_large_product_is_no_part_of_the_sum_over_it(after):
    x = xc.ShapeDtypeStruct((512, 512), "float32")
    text = xc.jit(lambda x: after(x @ x).sum()).lower(x).compile().as_text()
    parts = [part for part in text.split("\n}") if " dot(" in part]
    assert parts and not any(" reduce(" in part for part in parts)


@pytest.mark.parametrize("write", [lambda x, y: x.T @ y, lambda x, y: x.T @ (y.T).T])
def test_transposes_that_users_write(write):
    x, y = operands(160, 100, 128, "float64", False)
    run = xc.jit(write).lower(x, y).compile()
    np.testing.assert_allclose(run(x, y), x.T @ y, rtol=0, atol=1e-12)
    assert "lhs_contracting_dims={0}" not in run.as_text()  # the slow form


@pytest.mark.parametrize("out", ["float32", "float64"])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_derivatives_of_products_in_another_dtype(dtype, out):
    """Operands narrow, the result wide: cotangents of the operands are narrow again."""
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-3, 4, s).astype(dtype) for s in ((2, 3, 4), (4, 2, 5)))
    ct = rng.integers(-3, 4, (2, 3, 5)).astype(out)
    dims = (((2,), (0,)), ((0,), (1,)))
    f = lambda x, y: lax.dot_general(x, y, dims, preferred_element_type=out)
    value, back = xc.vjp(f, x, y)
    gx, gy = back(ct)
    assert (value.dtype, gx.dtype, gy.dtype) == (out, dtype, dtype)
    np.testing.assert_array_equal(
        value, np.einsum("bik,kbj->bij", *(a.astype(out) for a in (x, y)))
    )
    np.testing.assert_array_equal(gx, np.einsum("bij,kbj->bik", ct, y.astype(out)))  # whole numbers
    np.testing.assert_array_equal(gy, np.einsum("bij,bik->kbj", ct, x.astype(out)))
    tangent = xc.jvp(f, (x, y), (x, y))[1]
    assert tangent.dtype == out
    np.testing.assert_array_equal(tangent, 2 * np.asarray(value))


def test_cotangents_of_the_operation_are_as_narrow_as_its_operands():
    x, y = np.ones((2, 3), np.float16), np.full((3, 4), 2, np.float16)
    ct = np.arange(8, dtype=np.float32).reshape(2, 4)
    options = {"contract": ((1,), (0,)), "batch": ((), ()), "out": np.dtype("float32")}
    back = xc.vjp(lambda x, y: dot_general(x, y, **options), x, y)[1]
    for got, want in zip(back(ct), (ct @ y.T.astype("f4"), x.T.astype("f4") @ ct), strict=True):
        assert got.dtype == np.float16
        np.testing.assert_array_equal(got, want)


def test_lanes_that_stand_last():
    """Large enough for the forms of one product, which know no lanes."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((100, 60, 3)), rng.standard_normal((100, 50, 3))
    got = lax.dot_general(x, y, (((0,), (0,)), ((2,), (2,))))
    np.testing.assert_allclose(got, np.einsum("kmb,knb->bmn", x, y), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("dtype", "out"), [("float32", "float64"), ("float16", "float32"), ("int8", "int32")]
)
def test_sums_in_a_wider_dtype(dtype, out):
    """The operation itself: its value, and what its transposes give, narrow again."""
    rng = np.random.default_rng(0)
    x, y = rng.integers(-9, 9, (3, 4)).astype(dtype), rng.integers(-9, 9, (4, 5)).astype(dtype)
    f = lambda x, y: dot_general(x, y, contract=((1,), (0,)), batch=((), ()), out=np.dtype(out))
    got = xc.jit(f)(x, y)
    assert got.dtype == out
    np.testing.assert_array_equal(got, x.astype(out) @ y.astype(out))
    np.testing.assert_array_equal(xc.vmap(f, (0, None))(np.stack([x, -x]), y)[1], -np.asarray(got))
    if dtype == "int8":
        return
    ct = rng.integers(-9, 9, (3, 5)).astype(out)
    gx, gy = xc.vjp(f, x, y)[1](ct)
    assert gx.dtype == gy.dtype == dtype
    np.testing.assert_array_equal(gx, ct @ y.T.astype(out))
    np.testing.assert_array_equal(gy, x.T.astype(out) @ ct)


@pytest.mark.parametrize("narrow", ["bfloat16", "float16", "int8"])
def test_derivatives_have_the_dtype_of_what_they_are_of(narrow):
    """Products of narrow numbers that are asked for in wide ones."""
    x, y = np.ones((2, 3)), np.arange(6.0).reshape(3, 2)
    x, y = xc.numpy.asarray(x, narrow), xc.numpy.asarray(y, narrow)

    def f(x, y):
        wide = (((1,), (0,)), ((), ()))
        return lax.dot_general(x, y, wide, preferred_element_type="float32").sum()

    if narrow == "int8":
        assert f(x, y).dtype == "float32"
        return
    for way in (xc.grad(f, (0, 1)), xc.jit(xc.grad(f, (0, 1)))):
        left, right = way(x, y)
        assert left.dtype == narrow and right.dtype == narrow
        assert left.tolist() == [[1.0, 5.0, 9.0]] * 2 and right.tolist() == [[2.0, 2.0]] * 3
