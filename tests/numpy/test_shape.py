"""Rearranging elements, against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import xcore as xc
import xcore.numpy as xnp
from tests.numpy.reference import values

A, B, C = values("float32", (2, 3)), values("float32", (2, 3), seed=1), values("int32", (4, 1, 3))

# name, arguments (arrays among them are converted), keywords
CASES = [
    ("reshape", (A, (3, 2)), {}), ("reshape", (A, -1), {}), ("reshape", (A, (6, -1, 1)), {}),
    ("reshape", (A, (3, 2)), {"order": "F"}), ("reshape", (np.float32(1), (1, 1)), {}),
    ("reshape", (np.zeros((0, 3)), (3, 0)), {}), ("ravel", (A,), {}), ("ravel", (A,), {"order": "F"}),
    ("ravel", (np.zeros((0, 2)),), {}), ("transpose", (C,), {}), ("transpose", (C, (1, 2, 0)), {}),
    ("transpose", (C, (-1, 0, 1)), {}), ("permute_dims", (C, (2, 0, 1)), {}), ("matrix_transpose", (C,), {}),
    ("swapaxes", (C, 0, -1), {}), ("moveaxis", (C, 0, -1), {}), ("moveaxis", (C, [0, 1], [-1, 0]), {}),
    ("rollaxis", (C, 2), {}), ("rollaxis", (C, 0, 3), {}), ("rollaxis", (C, -1, 1), {}), ("squeeze", (C,), {}),
    ("squeeze", (C, 1), {}), ("squeeze", (C, (-2,)), {}), ("expand_dims", (A, 0), {}), ("expand_dims", (A, (0, -1)), {}),
    ("broadcast_to", (A, (4, 2, 3)), {}), ("broadcast_to", (np.float32(2), (2,)), {}),
    ("broadcast_arrays", (A, C), {}), ("broadcast_arrays", (), {}), ("atleast_1d", (3.0,), {}),
    ("atleast_1d", (A, 2), {}), ("atleast_2d", (3.0,), {}), ("atleast_2d", (np.arange(3), A), {}),
    ("atleast_3d", (3.0,), {}), ("atleast_3d", (np.arange(3),), {}), ("atleast_3d", (A,), {}), ("atleast_3d", (C,), {}),
    ("concatenate", ([A, B],), {}), ("concatenate", ([A, B], 1), {}), ("concatenate", ([A, B], None), {}),
    ("concatenate", (A,), {}), ("concatenate", ([A, np.zeros((0, 3), "int8")],), {}),
    ("concatenate", ([A, B],), {"dtype": "int32", "casting": "unsafe"}), ("concat", ([A, B],), {"axis": -1}),
    ("stack", ([A, B],), {}), ("stack", ([A, B], -1), {}), ("stack", (A, 1), {}), ("vstack", ([A, B],), {}),
    ("vstack", ([np.arange(3), np.arange(3)],), {}), ("hstack", ([A, B],), {}), ("hstack", ([np.arange(2), np.arange(3)],), {}),
    ("dstack", ([A, B],), {}), ("dstack", ([np.arange(3), np.arange(3)],), {}),
    ("column_stack", ([np.arange(2), A],), {}), ("append", (A, [1, 2]), {}), ("append", (A, B, 0), {}),
    ("block", ([[A, B], [B, A]],), {}), ("block", ([A, np.float32(1) * np.ones((2, 1), "float32")],), {}),
    ("block", (A,), {}), ("block", ([1.0, 2.0],), {}), ("split", (C, 2), {}), ("split", (C, [1, 3]), {}),
    ("split", (A, 3, 1), {}), ("split", (A, [5, 1], -1), {}), ("array_split", (C, 3), {}), ("array_split", (A, 5, 1), {}),
    ("vsplit", (C, 2), {}), ("hsplit", (A, 3), {}), ("hsplit", (np.arange(4), 2), {}), ("dsplit", (C, 3), {}),
    ("unstack", (A,), {}), ("unstack", (A,), {"axis": -1}), ("tile", (A, 2), {}), ("tile", (A, (2, 1, 3)), {}),
    ("tile", (np.arange(2), (2, 2)), {}), ("tile", (A, ()), {}), ("tile", (A, 0), {}), ("repeat", (A, 2), {}),
    ("repeat", (A, 2), {"axis": 1}), ("repeat", (A, np.array([1, 2])), {"axis": 0}), ("repeat", (A, 0), {"axis": 0}),
    ("repeat", (A, [1, 2, 0, 1, 1, 3]), {}), ("repeat", (np.float32(3), 4), {}), ("flip", (A,), {}),
    ("flip", (C,), {"axis": (0, 2)}), ("flip", (A, -1), {}), ("fliplr", (A,), {}), ("flipud", (A,), {}),
    ("rot90", (A,), {}), ("rot90", (A, 2), {}), ("rot90", (C, 3, (0, 2)), {}), ("rot90", (A, -1), {}), ("rot90", (A, 4), {}),
    ("roll", (A, 1), {}), ("roll", (A, -4), {}), ("roll", (A, 2), {"axis": 1}), ("roll", (A, (1, -1)), {"axis": (0, 1)}),
    ("roll", (A, 1), {"axis": (0, 1)}), ("roll", (A, (1, 2)), {"axis": 0}), ("roll", (np.zeros((0, 2)), 1), {"axis": 0}),
    ("resize", (A, (3, 3)), {}), ("resize", (A, 4), {}), ("resize", (np.zeros(0), (2,)), {}),
    ("resize", (A, (0, 2)), {}), ("diagonal", (A,), {}), ("diagonal", (A, 1), {}), ("diagonal", (C, -2, 0, 2), {}),
]  # fmt: skip
JITTED = CASES[::5]


def convert(x):
    if isinstance(x, (np.ndarray, np.float32)):
        return xnp.asarray(x)
    return (
        [convert(i) for i in x]
        if isinstance(x, list) and any(isinstance(i, (np.ndarray, list)) for i in x)
        else x
    )


def numpy_call(name, args, options):
    with np.errstate(all="ignore"):
        return getattr(np, name)(*args, **options)


def assert_equal(got, want):
    if isinstance(want, (list, tuple)):
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            assert_equal(a, b)
        return
    np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.parametrize(
    "name, args, options", CASES, ids=lambda v: v if isinstance(v, str) else ""
)
def test_against_numpy(name, args, options):
    mine = {k: v for k, v in options.items() if k != "casting"}
    given = [xnp.asarray(a) if name == "append" else convert(a) for a in args]
    assert_equal(getattr(xnp, name)(*given, **mine), numpy_call(name, args, options))


@pytest.mark.parametrize(
    "name, args, options", JITTED, ids=lambda v: v if isinstance(v, str) else ""
)
def test_compiled(name, args, options):
    mine = {k: v for k, v in options.items() if k != "casting"}
    traced = [convert(a) for a in args[:1]]
    got = xc.jit(lambda *xs: getattr(xnp, name)(*xs, *args[1:], **mine))(*traced)
    assert_equal(got, numpy_call(name, args, options))


def test_methods():
    x = xnp.asarray(C)
    assert_equal(x.reshape(3, -1), C.reshape(3, -1))
    assert_equal(x.reshape((3, 4)), C.reshape((3, 4)))
    assert_equal(x.T, C.T)
    assert_equal(x.mT, np.matrix_transpose(C))
    assert_equal(x.transpose(2, 0, 1), C.transpose(2, 0, 1))
    assert_equal(x.transpose((2, 0, 1)), C.transpose((2, 0, 1)))
    assert_equal(x.transpose(), C.transpose())
    for name, args in [
        ("flatten", ()),
        ("ravel", ()),
        ("squeeze", ()),
        ("swapaxes", (0, 1)),
        ("repeat", (2, 1)),
    ]:
        assert_equal(getattr(x, name)(*args), getattr(C, name)(*args))
    with pytest.raises(ValueError, match="2 or more axes"):
        xnp.ones(2).mT  # noqa: B018


def test_dtypes_of_joined_arrays():
    assert xnp.concatenate([xnp.ones(1, "int8"), xnp.ones(1, "float16")]).dtype == np.float16
    assert xnp.stack([1, 2.5]).dtype == np.float32
    assert xnp.concatenate([xnp.ones(1), xnp.ones(1)], dtype="float64").dtype == np.float64
    assert xnp.hstack([xnp.ones(1), xnp.ones(1)], dtype="int8").dtype == np.int8


@given(hnp.array_shapes(min_dims=0, max_dims=4, max_side=3), st.data())
def test_transposes(shape, data):
    x = np.arange(int(np.prod(shape))).reshape(shape)
    perm = data.draw(st.permutations(range(len(shape))))
    assert_equal(xnp.transpose(xnp.asarray(x), perm), np.transpose(x, perm))


@given(hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=3, max_side=3))
def test_broadcast_shapes(shapes):
    assert xnp.broadcast_shapes(*shapes.input_shapes) == shapes.result_shape


def test_traced_shifts_and_repetitions():
    x = xnp.asarray(A)
    for shift in (-1, 0, 4):
        assert_equal(xc.jit(lambda s: xnp.roll(x, s, axis=1))(shift), np.roll(A, shift, axis=1))
        assert_equal(xc.jit(lambda s: xnp.roll(x, s))(shift), np.roll(A, shift))
    both = xc.jit(lambda s: xnp.roll(x, s, axis=(0, 1)))(xnp.asarray([1, 2]))
    assert_equal(both, np.roll(A, (1, 2), axis=(0, 1)))
    counts = np.array([1, 0, 2])
    f = xc.jit(lambda r: xnp.repeat(x, r, axis=1, total_repeat_length=3))
    assert_equal(f(xnp.asarray(counts)), np.repeat(A, counts, axis=1))
    assert_equal(xnp.repeat(x, counts, axis=1, total_repeat_length=5), A[:, [0, 2, 2, 2, 2]])
    assert_equal(
        xc.jit(lambda r: xnp.repeat(x, r, axis=1, total_repeat_length=5))(counts),
        A[:, [0, 2, 2, 2, 2]],
    )
    with pytest.raises(xc.errors.ConcretizationError, match="total_repeat_length"):
        xc.jit(lambda r: xnp.repeat(x, r, axis=1))(counts)


def test_derivatives_and_lanes():
    x = xnp.asarray(A)
    for f in (
        lambda x: xnp.roll(x, 2),
        lambda x: xnp.tile(x, (2, 1)),
        lambda x: xnp.rot90(x),
        lambda x: xnp.diagonal(x),
    ):
        weights = xnp.asarray(
            np.random.default_rng(0).standard_normal(f(x).shape).astype("float32")
        )
        total = lambda x, f=f, w=weights: (w * f(x)).sum()
        basis = np.eye(6, dtype="float32").reshape(6, 2, 3)
        want = np.array([float(total(xnp.asarray(e))) for e in basis]).reshape(2, 3)
        np.testing.assert_allclose(np.asarray(xc.grad(total)(x)), want, rtol=1e-5)
    stack = xnp.asarray(np.stack([A, B]))
    assert_equal(
        xc.vmap(lambda x: xnp.roll(x, 1, axis=1))(stack), np.roll(np.stack([A, B]), 1, axis=2)
    )
    assert_equal(
        xc.vmap(xnp.roll)(stack, xnp.asarray([1, 2])), np.stack([np.roll(A, 1), np.roll(B, 2)])
    )


ERRORS = [
    (lambda: xnp.reshape(xnp.ones(6), (4, 2)), "6 elements cannot take the shape"),
    (lambda: xnp.reshape(xnp.ones(6), (-1, -1)), "more than one -1"),
    (lambda: xnp.reshape(xnp.ones(6), (5, -1)), "6 elements cannot take the shape"),
    (lambda: xnp.transpose(xnp.ones((2, 3)), (0, 0)), "permutation"),
    (lambda: xnp.squeeze(xnp.ones((2, 1)), 0), "axes of length 1"),
    (lambda: xnp.expand_dims(xnp.ones(2), 3), "axis 3 is out of bounds"),
    (lambda: xnp.broadcast_to(xnp.ones(3), (2,)), "cannot be broadcast"),
    (lambda: xnp.concatenate([]), "at least one array"),
    (lambda: xnp.concatenate([xnp.ones(()), xnp.ones(())]), "1 or more axes"),
    (lambda: xnp.concatenate([xnp.ones((2, 1)), xnp.ones((3, 2))]), "must agree but for axis 0"),
    (lambda: xnp.stack([xnp.ones(2), xnp.ones(3)]), "need equal shapes"),
    (lambda: xnp.split(xnp.ones(5), 2), "a divisor of the length 5"),
    (lambda: xnp.array_split(xnp.ones(5), 0), "1 or more"),
    (lambda: xnp.moveaxis(xnp.ones((2, 3)), (0, 1), 0), "of 2 axes"),
    (lambda: xnp.moveaxis(xnp.ones((2, 3)), (0, 0), (0, 1)), "duplicate"),
    (lambda: xnp.repeat(xnp.ones(2), -1), "not negative"),
    (lambda: xnp.tile(xnp.ones(2), -1), "tile: reps must be made of non-negative sizes"),
    (lambda: xnp.tile(xnp.ones(2), 2**62), "more bytes than can be addressed"),
    (lambda: xnp.broadcast_to(xnp.ones(3), (-1, 3)), "non-negative sizes"),
    (lambda: xnp.reshape(xnp.ones(3), (-3,)), "non-negative sizes"),
    (lambda: xnp.nonzero(xnp.ones(3), size=-2), "a negative size"),
    (lambda: xnp.repeat(xnp.ones(2), [1, 2, 3]), "an int, or 2 ints"),
    (lambda: xnp.roll(xnp.ones((2, 2)), (1, 2, 3), axis=(0, 1)), "shift must be"),
    (lambda: xnp.swapaxes(xnp.ones(2), 0, 1), "axis 1 is out of bounds"),
    (lambda: xnp.diagonal(xnp.ones(2)), "2 or more axes"),
]  # fmt: skip


@pytest.mark.parametrize("call, message", ERRORS, ids=[m for _, m in ERRORS])
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
