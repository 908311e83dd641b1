"""eval_shape of shapes with sizes that are not known, against the shapes of arrays."""

import itertools

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import export, lax

shape = export.symbolic_shape

FUNCTIONS = {
    "same": lambda x, y: x * 2,
    "sum": lambda x, y: x.sum(0),
    "pad": lambda x, y: xnp.pad(x, 1),
    "twice": lambda x, y: xnp.concatenate([x, x], 0),
    "both": lambda x, y: xnp.concatenate([x[:, 0], y], 0),
    "outer": lambda x, y: x[:, :, None] * y,
    "flat": lambda x, y: x.reshape(-1),
    "flat with y": lambda x, y: (x[..., None] * y).reshape(-1),
    "half": lambda x, y: x[::2],
    "square": lambda x, y: xnp.outer(y, y).reshape(-1),
    "conv": lambda x, y: xnp.convolve(y, xnp.ones(3), mode="full"),
    "tree": lambda x, y: {"a": (x.T, y), "n": xnp.float32(3)},
    "scan": lambda x, y: lax.scan(lambda c, r: (c + r.sum(), r), 0.0, x),
    "number": lambda x, y: 3 * x.shape[0],
}


def at(found, sizes):
    """Known shapes, None for those of which only the names are told."""
    told = [d.names <= set(sizes) if hasattr(d, "names") else True for d in found]
    return [
        (d.value(sizes) if hasattr(d, "value") else d) if t else None for d, t in zip(found, told)
    ]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_shapes_are_those_of_arrays(name):
    f = FUNCTIONS[name]
    x = xc.ShapeDtypeStruct(shape("b, 4"), np.float32)
    y = xc.ShapeDtypeStruct(shape("n"), np.float32)
    found = xc.eval_shape(f, x, y)
    depends = []
    for b, n in itertools.product([4, 7, 12], [3, 5]):
        real = xc.eval_shape(f, xnp.ones((b, 4)), xnp.ones(n))
        assert xc.tree.structure(real) == xc.tree.structure(found)
        for want, got in zip(xc.tree.leaves(real), xc.tree.leaves(found), strict=True):
            assert want.dtype == got.dtype and len(want.shape) == len(got.shape)
            told = at(got.shape, {"b": b, "n": n})
            assert all(t in (None, w) for t, w in zip(told, want.shape, strict=True))
        depends.append([x.shape for x in xc.tree.leaves(real)])
    # a size is a number just where it is always the same
    for i, leaf in enumerate(xc.tree.leaves(found)):
        for axis, d in enumerate(leaf.shape):
            assert isinstance(d, int) == (len({s[i][axis] for s in depends}) == 1)


@pytest.mark.parametrize(
    "text, like, want",
    [
        ("b, 3", None, "(b, 3)"), ("(b, 3)", None, "(b, 3)"), ("", None, "()"), ("b", None, "(b,)"),
        ("2*b + 1, b//2", None, "(2*b+1, b//2)"), ("(a + 1) * 2, mod(a, 3)", None, "((a+1)*2, mod(a, 3))"),
        ("2*(a - 1), a//(2*b), (a + 1)%(b - 1)", None, "(2*(a-1), a//(2*b), (a+1)%(b-1))"),
        ("a - (b - 1), (2*a)**2, 2**(a*b), (mod(a, 3) + 1)*2", None, "(a-(b-1), (2*a)**2, 2**(a*b), (mod(a, 3)+1)*2)"),
        ("..., b", (2, 3), "(2, b)"), ("b, ...", (2, 3, 4), "(b, 3, 4)"), ("_, b", (7, 1), "(7, b)"),
    ],
)  # fmt: skip
def test_texts(text, like, want):
    assert str(shape(text, like=like)) == want


def test_expressions_have_values():
    (d,) = shape("max(2*b + 1, 10) - mod(b, 4)")
    assert [d.value({"b": b}) for b in (2, 7)] == [8, 12]


@pytest.mark.parametrize("text", ["b,,", "b@c", "b 3", "2.5", "_", "sin(b)", "b[0]"])
def test_texts_that_are_none(text):
    with pytest.raises(ValueError, match="shape_spec must be sizes with commas"):
        shape(text)


@pytest.mark.parametrize(
    "use",
    [
        lambda x: xc.jit(xnp.sin).lower(x), lambda x: xc.make_jaxpr(xnp.sin)(x), lambda x: int(x.shape[0]),
        lambda x: x.shape[0] > 3, lambda x: range(x.shape[0]),
    ],
)  # fmt: skip
def test_nothing_else_takes_them(use):
    with pytest.raises(export.ExportError, match="a size that is not known"):
        use(xc.ShapeDtypeStruct(shape("b, 3"), np.float32))


def test_axes_whose_number_depends_on_a_size():
    with pytest.raises(export.ExportError, match="number of axes"):
        xc.eval_shape(
            lambda x: x if x.shape[0] > 300 else x[0], xc.ShapeDtypeStruct(shape("b"), np.float32)
        )
