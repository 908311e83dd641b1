"""Products of vectors, matrices and tensors, against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xcore as xc
import xcore.numpy as xnp
from tests.numpy.reference import ALL, assert_same, dtype_of, values, wide

SHAPES = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)),
    ((2, 3), (5, 3, 4)), ((5, 1, 2, 3), (4, 3, 2)), ((3,), (5, 3, 2)), ((5, 2, 3), (3,)), ((0, 3), (3, 2)),
    ((2, 0), (0, 3)), ((1, 2, 3), (5, 3, 1)), ((4, 0, 3), (3, 2)),
]  # fmt: skip


@pytest.mark.parametrize("left, right", SHAPES)
def test_matmul(left, right):
    a, b = values("float64", left), values("float64", right, seed=1)
    assert_same(xnp.matmul(xnp.asarray(a), xnp.asarray(b)), a @ b, 16, floor=10)
    assert_same(xnp.asarray(a) @ b, a @ b, 16, floor=10)
    assert_same(a @ xnp.asarray(b), a @ b, 16, floor=10)


@pytest.mark.parametrize("dtype", ALL)
def test_dtypes(dtype):
    a, b = values(dtype, (3, 4)), values(dtype, (4, 2), seed=1)
    for name in ("matmul", "dot"):
        got = getattr(xnp, name)(xnp.asarray(a), xnp.asarray(b))
        assert got.dtype == dtype_of(dtype)
        want = getattr(np, name)(wide(a), wide(b))
        assert_same(got, want.astype(got.dtype) if got.dtype.kind in "biu" else want, 8, floor=10)


DOT_SHAPES = [
    ((), ()),
    ((), (2, 3)),
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((4, 2, 3), (5, 3, 2)),
    ((0,), (0,)),
]


@pytest.mark.parametrize("left, right", DOT_SHAPES)
def test_dot(left, right):
    a, b = values("float64", left), values("float64", right, seed=1)
    assert_same(xnp.dot(xnp.asarray(a), xnp.asarray(b)), np.dot(a, b), 16, floor=10)
    assert_same(xnp.asarray(a).dot(b), np.dot(a, b), 16, floor=10)


INNER = [((), (3,)), ((3,), (3,)), ((2, 3), (4, 3)), ((2, 5, 3), (3,))]


@pytest.mark.parametrize("left, right", INNER)
def test_inner_outer_kron(left, right):
    a, b = values("complex128", left), values("complex128", right, seed=1)
    for name in ("inner", "outer", "kron"):
        assert_same(
            getattr(xnp, name)(xnp.asarray(a), xnp.asarray(b)),
            getattr(np, name)(a, b),
            16,
            floor=10,
        )


def test_conjugating_products():
    a, b = values("complex128", (2, 3)), values("complex128", (2, 3), seed=1)
    assert_same(xnp.vdot(xnp.asarray(a), xnp.asarray(b)), np.vdot(a, b), 16, floor=10)
    for options in ({}, {"axis": 0}, {"axis": -2}):
        assert_same(
            xnp.vecdot(xnp.asarray(a), xnp.asarray(b), **options),
            np.vecdot(a, b, **options),
            16,
            floor=10,
        )
    assert_same(xnp.vecdot(xnp.asarray(a), xnp.asarray(b[0])), np.vecdot(a, b[0]), 16, floor=10)
    m = values("complex128", (4, 2, 3))
    assert_same(xnp.matvec(xnp.asarray(m), xnp.asarray(a[:1])), np.matvec(m, a[:1]), 16, floor=10)
    assert_same(xnp.matvec(xnp.asarray(m), xnp.asarray(a[0])), np.matvec(m, a[0]), 16, floor=10)
    assert_same(
        xnp.vecmat(xnp.asarray(a[:, 0]), xnp.asarray(m)), np.vecmat(a[:, 0], m), 16, floor=10
    )
    batch = values("complex128", (4, 2), seed=2)
    assert_same(xnp.vecmat(xnp.asarray(batch), xnp.asarray(m)), np.vecmat(batch, m), 16, floor=10)


@pytest.mark.parametrize("axes", [0, 1, 2, ([2], [0]), ([1, 2], [1, 0]), (2, 0), ([-1, 1], [0, 1])])
def test_tensordot(axes):
    a, b = values("float64", (2, 4, 3)), values("float64", (3, 4, 5), seed=1)
    if axes == 2:
        b = values("float64", (4, 3, 5), seed=1)
    assert_same(
        xnp.tensordot(xnp.asarray(a), xnp.asarray(b), axes), np.tensordot(a, b, axes), 32, floor=10
    )


def test_trace_and_diagonal():
    x = values("int8", (3, 4, 5))
    for args in ((), (1,), (-2, 1, 2), (0, -1, 0), (9,)):
        assert_same(xnp.trace(xnp.asarray(x), *args), np.trace(x, *args), 0)
        assert_same(xnp.diagonal(xnp.asarray(x), *args), np.diagonal(x, *args), 0)
    assert xnp.trace(xnp.asarray(x)).dtype == np.int32
    assert xnp.trace(xnp.asarray(x), dtype="float64").dtype == np.float64


@pytest.mark.parametrize("left, right, options", [
    ((3,), (3,), {}), ((4, 3), (3,), {}), ((4, 3), (4, 3), {}), ((3, 4), (3, 4), {"axis": 0}),
    ((3, 4), (4, 3), {"axisa": 0, "axisc": 0}), ((5, 1, 3), (4, 3), {}),
])  # fmt: skip
def test_cross(left, right, options):
    a, b = values("float64", left), values("float64", right, seed=1)
    assert_same(
        xnp.cross(xnp.asarray(a), xnp.asarray(b), **options), np.cross(a, b, **options), 8, floor=10
    )


def test_cross_in_the_plane():
    a, b = values("float64", (4, 2)), values("float64", (4, 2), seed=1)
    assert_same(
        xnp.cross(xnp.asarray(a), xnp.asarray(b)), a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0], 4, floor=4
    )
    c = values("float64", (4, 3), seed=2)
    flat = np.concatenate([a, np.zeros((4, 1))], axis=1)
    assert_same(xnp.cross(xnp.asarray(a), xnp.asarray(c)), np.cross(flat, c), 4, floor=4)


EINSUM = [
    ("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk", (2, 3), (3, 4)), ("ij,ij->", (2, 3), (2, 3)), ("ij->ji", (2, 3)),
    ("ij->j", (2, 3)), ("ii->i", (3, 3)), ("ii", (3, 3)), ("iij->j", (3, 3, 2)), ("i,j->ij", (2,), (3,)),
    ("i,i,i->i", (3,), (3,), (3,)), ("ij,kj,il->kl", (2, 3), (4, 3), (2, 5)), ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
    ("...ij,...jk->...ik", (5, 2, 3), (3, 4)), ("...ij,...jk", (4, 1, 2, 3), (5, 3, 2)), ("i...->...", (3, 2, 4)),
    ("...i->...", (2, 3)), ("ab,b,c->ca", (2, 3), (3,), (4,)), ("i,->i", (3,), ()), (",", (), ()),
    ("abc,cd,de,ef->abf", (2, 3, 4), (4, 2), (2, 3), (3, 5)), ("ij,ij->ij", (2, 3), (1, 3)), ("ij,jk->ik", (0, 3), (3, 2)),
    ("ij,j->i", (2, 0), (0,)), ("ea,fb,abcd,gc,hd->efgh", (2, 2), (2, 2), (2, 2, 2, 2), (2, 2), (2, 2)),
    ("ba,ab->", (2, 3), (3, 2)), ("i...,i...->...", (2, 3), (2, 4, 3)),
]  # fmt: skip


@pytest.mark.parametrize("case", EINSUM, ids=lambda c: c[0])
def test_einsum(case):
    text, *shapes = case
    xs = [values("float64", s, seed=i) for i, s in enumerate(shapes)]
    want = np.einsum(text, *xs)
    ours = [xnp.asarray(x) for x in xs]
    for optimize in ("auto", False, "optimal"):
        assert_same(xnp.einsum(text, *ours, optimize=optimize), want, 64, floor=10)
    assert_same(xc.jit(lambda *xs: xnp.einsum(text, *xs))(*ours), want, 64, floor=10)


@pytest.mark.parametrize("text", ["i1,1k->ik", "10,02->12", "αβ,βγ->αγ", "i1,1k"])
def test_einsum_with_other_characters(text):
    """Digits and letters of other alphabets, as in jax; NumPy has the letters of ASCII only."""
    a, b = values("float32", (2, 3), seed=1), values("float32", (3, 4), seed=2)
    assert_same(xnp.einsum(text, a, b), a @ b, 16, floor=10)
    assert_same(xnp.einsum(text, a, b), xnp.einsum(text, a, b, optimize="greedy"), 1)
    assert xnp.einsum_path(text, a, b)[0][0] == "einsum_path"


def test_einsum_by_lists_and_paths():
    a, b, c = (values("float64", s, seed=i) for i, s in enumerate([(2, 3), (3, 4), (4, 2)]))
    ours = [xnp.asarray(x) for x in (a, b, c)]
    assert_same(xnp.einsum(ours[0], [0, 1], ours[1], [1, 2], [0, 2]), a @ b, 16, floor=10)
    assert_same(xnp.einsum(ours[0], [0, 1], ours[1], [1, 2]), a @ b, 16, floor=10)
    assert_same(xnp.einsum(ours[0], [Ellipsis, 1], ours[1], [1, 2]), a @ b, 16, floor=10)
    for i, j, k in (
        ("batch", "in", "out"),
        (("x", 1), ("x", 2), ("x", 3)),
        ("i", 1, None),
        (7, "j", "k"),
    ):
        assert_same(xnp.einsum(ours[0], [i, j], ours[1], [j, k], [i, k]), a @ b, 16, floor=10)
        assert_same(xnp.einsum(ours[0], [..., j], ours[1], [j, k], [..., k]), a @ b, 16, floor=10)
    assert_same(xnp.einsum(ours[0], ["b", "j"], ours[1], ["j", "a"]), (a @ b).T, 16, floor=10)
    with pytest.raises(ValueError, match="53 different indices"):
        xnp.einsum(xnp.ones((1,) * 53), [f"i{n}" for n in range(53)])
    path, text = xnp.einsum_path("ij,jk,kl->il", *ours)
    assert (
        path == ["einsum_path", *np.einsum_path("ij,jk,kl->il", a, b, c)[0][1:]]
        and "contraction" in text
    )
    assert_same(xnp.einsum("ij,jk,kl->il", *ours, optimize=path), a @ b @ c, 64, floor=10)
    assert_same(
        xnp.einsum("ij,jk,kl->il", *ours, optimize=[(0, 1), (0, 1)]), a @ b @ c, 64, floor=10
    )
    flags = xnp.asarray([[True, False], [True, True]])
    assert xnp.einsum("ij,jk->ik", flags, flags).tolist() == [[True, False], [True, True]]
    mixed = xnp.einsum("i,i", xnp.arange(3), xnp.ones(3, "float16"))
    assert mixed.dtype == np.float16 and float(mixed) == 3


@given(st.data())
def test_any_einsum(data):
    sizes = {"a": 2, "b": 3, "c": 1, "d": 2}
    terms = data.draw(st.lists(st.text("abcd", max_size=3), min_size=1, max_size=3))
    used = sorted(set("".join(terms)))
    output = "".join(data.draw(st.lists(st.sampled_from(used), unique=True))) if used else ""
    text = ",".join(terms) + "->" + output
    xs = [values("float64", tuple(sizes[c] for c in t), seed=i) for i, t in enumerate(terms)]
    assert_same(xnp.einsum(text, *[xnp.asarray(x) for x in xs]), np.einsum(text, *xs), 64, floor=30)


@pytest.mark.parametrize("text, shapes, message", [
    ("ij,jk", [(2, 3)], "for 1 operands"), ("ij", [(3,)], "letters, one for each axis"),
    ("ij,jk", [(2, 3), (4, 5)], "index 'j' has lengths"), ("ij->ii", [(2, 3)], "result of different letters"),
    ("ij->k", [(2, 3)], "result of different letters"), ("i_", [(2, 3)], "letters"),
])  # fmt: skip
def test_einsum_errors(text, shapes, message):
    with pytest.raises(ValueError, match=message):
        xnp.einsum(text, *[xnp.ones(s) for s in shapes])


def test_shape_errors():
    for call in (
        lambda: xnp.matmul(xnp.ones((2, 3)), xnp.ones((2, 3))), lambda: xnp.matmul(1.0, xnp.ones(2)),
        lambda: xnp.dot(xnp.ones(2), xnp.ones(3)), lambda: xnp.inner(xnp.ones(2), xnp.ones(3)),
        lambda: xnp.vdot(xnp.ones(2), xnp.ones(3)), lambda: xnp.tensordot(xnp.ones((2, 3)), xnp.ones((2, 3)), 1),
        lambda: xnp.cross(xnp.ones(4), xnp.ones(3)), lambda: xnp.vecdot(xnp.ones(2), xnp.ones(3)),
        lambda: xnp.matmul(xnp.ones((2, 2, 3)), xnp.ones((3, 3, 2))), lambda: xnp.trace(xnp.ones(2)),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"xcore\.numpy\."):
            call()


def test_preferred_dtype_and_precision():
    a = xnp.ones((2, 300), "int8")
    assert xnp.matmul(a, a.T, preferred_element_type="int32").tolist() == [[300, 300], [300, 300]]
    h = xnp.ones((2, 3), "bfloat16")
    assert xnp.dot(h, h.T, preferred_element_type="float32").dtype == np.float32
    assert xnp.einsum("ij,kj->ik", h, h, preferred_element_type="float32").dtype == np.float32
    assert xnp.matmul(h, h.T, precision="highest").dtype == h.dtype
    with pytest.raises(ValueError, match="precision"):
        xnp.matmul(h, h.T, precision="best")


def test_derivatives_and_lanes():
    a, b = values("float64", (2, 3)), values("float64", (3, 2), seed=1)
    weights = values("float64", (2, 2), seed=2)
    for f in (
        xnp.matmul,
        lambda a, b: xnp.einsum("ij,jk->ik", a, b),
        lambda a, b: xnp.tensordot(a, b, 1),
    ):
        da, db = xc.grad(lambda a, b, f=f: (f(a, b) * xnp.asarray(weights)).sum(), argnums=(0, 1))(
            xnp.asarray(a), xnp.asarray(b)
        )
        assert_same(da, weights @ b.T, 16, floor=10)
        assert_same(db, a.T @ weights, 16, floor=10)
    stack = values("float64", (4, 2, 3))
    assert_same(
        xc.vmap(xnp.matmul, in_axes=(0, None))(xnp.asarray(stack), xnp.asarray(b)),
        stack @ b,
        16,
        floor=10,
    )
    assert_same(
        xc.vmap(lambda m: xnp.trace(m[:, :2]))(xnp.asarray(stack)),
        np.trace(stack[:, :, :2], axis1=1, axis2=2),
        4,
        floor=4,
    )


PRODUCTS = {
    "matmul": xnp.matmul, "dot": xnp.dot, "inner": lambda a, b, **kw: xnp.inner(a, b.T, **kw),
    "tensordot": lambda a, b, **kw: xnp.tensordot(a, b, 1, **kw),
    "einsum": lambda a, b, **kw: xnp.einsum("ij,jk", a, b, **kw),
    "einsum of three": lambda a, b, **kw: xnp.einsum("ij,jk,kl", a, b, np.eye(3, dtype=b.dtype), **kw),
    "lax.dot": xc.lax.dot,
}  # fmt: skip


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize(
    ("dtype", "asked", "factor", "wanted"),
    [
        ("bfloat16", "float32", 1 + 2.0**-7, 4.062744140625),  # of 14 bits behind the point
        ("float16", "float32", 300.0, 360000.0),
        ("float32", "bfloat16", 1 + 2.0**-7, 4.0625),
        ("int8", "int32", 100, 40000),
        ("uint8", "float32", 200, 160000.0),
        ("bool", "int32", True, 4),
    ],
)
def test_sums_are_formed_in_the_dtype_that_is_asked_for(name, dtype, asked, factor, wanted):
    a, b = (xnp.full(shape, factor, dtype) for shape in ((2, 4), (4, 3)))
    got = PRODUCTS[name](a, b, preferred_element_type=asked)
    assert got.dtype == xnp.dtype(asked)
    np.testing.assert_array_equal(np.asarray(got), np.asarray(wanted, got.dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int32", "complex64"])
def test_three_products_of_tensor_cores(dtype):
    """Asked for by name, as JAX's preset or as the setting; of float32 and on a GPU alone."""
    a, b = xnp.ones((3, 4), dtype), xnp.ones((4, 2), dtype)

    tpu = () if dtype == "float64" else ("tpu",)

    class TF32_TF32_F32_X3:
        name = "TF32_TF32_F32_X3"

    def under_setting(a, b):
        with xc.default_matmul_precision("tensorfloat32_3x"):
            return a @ b

    for f in (
        lambda a, b: xnp.matmul(a, b, precision="tensorfloat32_3x"),
        lambda a, b: xnp.matmul(a, b, precision=TF32_TF32_F32_X3),
        under_setting,
    ):
        texts = {k: v.as_text() for k, v in xc.jit(f).lower(a, b).for_platforms("cpu", "cuda", *tpu).items()}  # fmt: skip
        threes = {k for k, v in texts.items() if "num_primitive_operations = 3" in v}
        assert threes == ({"cuda"} if dtype == "float32" else set())
        assert np.array_equal(xc.jit(f)(a, b), a @ b)
        assert "HIGHEST" in texts.get("tpu", "HIGHEST")
    if dtype == "float32":
        slope = xc.jit(xc.grad(lambda a: xnp.matmul(a, b, precision="tensorfloat32_3x").sum()))
        text = slope.lower(a).for_platforms("cuda")["cuda"].as_text()
        assert text.count("num_primitive_operations = 3") == text.count("stablehlo.dot_general")
