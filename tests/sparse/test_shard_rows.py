"""Sparse matrices spread over devices: the same numbers, and nothing exchanged but what rows need."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

import xcore as xc
import xcore.numpy as xnp
from xcore import linalg, sparse

if xc.device_count() < 8:
    pytest.skip("needs eight devices", allow_module_level=True)

LINE = xc.make_mesh((8,), "i", devices=xc.devices()[:8])
GRID = xc.make_mesh((4, 2), ("x", "y"), devices=xc.devices()[:8])
rng = np.random.default_rng(0)


def collectives(text):
    kinds = "all-reduce|all-gather|all-to-all|collective-permute|reduce-scatter"
    return re.findall(rf" = .*? ({kinds})(?:-start)?\(", text)


def random(m, n, density, dtype):
    a = sp.random_array((m, n), density=density, rng=rng, dtype="float64")
    return sp.csr_array((a * (1 + 2j) if dtype[0] == "c" else a).astype(dtype))


def five_points(n):
    line = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n), dtype="float64")
    return sparse.kronsum(line, line)


CASES = [  # more long rows than pieces fit in, empty rows, fewer rows than devices, nothing, float16
    (40, 40, 0.1, "float64"), (37, 53, 0.02, "complex64"), (30, 150, 0.4, "float32"), (3, 5, 0.5, "complex128"),
    (0, 5, 0.5, "float32"), (5, 0, 0.5, "float32"), (41, 41, 0.1, "bfloat16"),
]  # fmt: skip


@pytest.mark.parametrize("m, n, density, dtype", CASES)
def test_products_are_those_of_the_whole(m, n, density, dtype):
    exact = "float32" if dtype == "bfloat16" else dtype
    theirs = random(m, n, density, exact)
    a = sparse.from_scipy(theirs).astype(dtype)
    spread = sparse.shard_rows(a, LINE)
    x, several, y = rng.normal(size=n), rng.normal(size=(n, 3)), rng.normal(size=m)
    x, several, y = (v.astype(exact) for v in (x, several, y))
    eps = float(xnp.finfo(dtype).eps) * 100
    put = lambda v: spread.shard(v).astype(dtype)
    f = xc.jit(lambda a, x, s, y: (a @ x, a @ s, a.T @ y))
    found = f(spread, put(x), put(several), put(y))
    for got, want in zip(found, (theirs @ x, theirs @ several, theirs.T @ y), strict=True):
        assert got.dtype == dtype and got.shape[0] % 8 == 0
        assert not a.nnz or got.sharding.is_equivalent_to(spread.sharding, got.ndim)
        got = np.asarray(got).astype(exact)
        np.testing.assert_allclose(got[: len(want)], want, atol=eps, rtol=eps)
        assert not np.any(got[len(want) :])
    np.testing.assert_array_equal(spread.to_sparse().todense(), a.todense())


@pytest.mark.parametrize("axis", ["x", ("y", "x"), None])
def test_axes_of_a_mesh(axis):
    a = five_points(6)
    spread = sparse.shard_rows(a, GRID, axis)
    b = rng.normal(size=36)
    np.testing.assert_allclose((spread @ spread.shard(b))[:36], a.to_scipy() @ b, rtol=1e-12)
    np.testing.assert_array_equal(spread.diagonal()[:36], a.diagonal())


def test_what_is_exchanged():
    a = sparse.shard_rows(five_points(16), LINE)
    x = a.shard(np.ones(256))
    compiled = lambda f, *args: xc.jit(f).lower(*args).compile().as_text()
    product = lambda a, x: a @ x
    assert collectives(compiled(product, a, x)) == ["all-to-all"]
    assert a.plan.tables["send"].shape == (8, 8, 16)  # a line of the grid at most
    f = lambda a, x: ((a @ x) ** 2).sum()
    assert set(collectives(compiled(xc.grad(f, (0, 1)), a, x))) == {"all-to-all"}
    apart = sparse.shard_rows(sparse.eye_array(16), LINE)
    assert collectives(compiled(product, apart, apart.shard(np.ones(16)))) == []


def test_conjugate_gradients_and_their_derivatives():
    a = five_points(15).replace(symmetric=True, positive=True)
    b = rng.normal(size=225)
    with xc.enable_x64():
        right = sparse.shard_rows(a, LINE).shard(b)

        def solve(v, b):
            spread = sparse.shard_rows(a.replace(values=v), LINE)
            return linalg.linear_solve(spread, b, linalg.CG(rtol=1e-11))

        both = xc.value_and_grad(lambda v, b: solve(v, b).sum(), (0, 1))
        total, (by_values, by_b) = xc.jit(both)(a.values, right)
        dense = np.linalg.inv(a.to_scipy().toarray())
        x, back = dense @ b, dense @ np.ones(225)
        np.testing.assert_allclose(total, x.sum(), rtol=1e-9)
        np.testing.assert_allclose(by_b[:225], back, rtol=1e-7)
        exact = -np.outer(back, x)[a.pattern.rows, a.pattern.columns]
        np.testing.assert_allclose(by_values, exact, rtol=1e-6, atol=1e-7)


def test_a_solution_gathers_nothing():
    a = sparse.shard_rows(five_points(15), LINE)
    solve = lambda a, b: linalg.linear_solve(a, b, linalg.CG(), report=True)
    b = a.shard(rng.normal(size=225))
    made = xc.jit(solve).lower(a, b).compile()
    assert set(collectives(made.as_text())) == {"all-to-all", "all-reduce"}
    found = made(a, b)
    assert found.ok and found.value.sharding.is_equivalent_to(a.sharding, 1)
    assert not np.any(np.asarray(found.value)[225:])


def test_derivatives_of_second_order_and_batches():
    a = sparse.from_scipy(random(24, 16, 0.3, "float64"))
    spread, dense = sparse.shard_rows(a, LINE), a.todense()
    x, many = xnp.asarray(rng.normal(size=16)), xnp.asarray(rng.normal(size=(2, 16)))
    with xc.enable_x64():

        def f(a, x):
            return (xnp.sin(a @ x) ** 2).sum()

        along = lambda a, x: xc.jvp(xc.grad(lambda x: f(a, x)), (x,), (x,))[1]
        got = xc.jit(lambda a, x: xc.value_and_grad(lambda a: along(a, x).sum())(a))(spread, x)
        want = xc.value_and_grad(lambda a: along(a, x).sum())(dense)
        np.testing.assert_allclose(got[0], want[0], rtol=1e-10)
        by_values = got[1].to_sparse().values
        np.testing.assert_allclose(by_values, want[1][a.pattern.rows, a.pattern.columns], rtol=1e-9)
        np.testing.assert_allclose(xc.vmap(lambda x: spread @ x)(many), many @ dense.T, rtol=1e-10)


def test_arguments():
    a = five_points(3)
    with pytest.raises(ValueError, match="names, of the mesh's axes"):
        sparse.shard_rows(a, GRID, "z")
    with pytest.raises(ValueError, match="names, of the mesh's axes"):
        sparse.shard_rows(a, GRID, ("x", "x"))
    with pytest.raises(ValueError, match="make_mesh"):
        sparse.shard_rows(a, "i")
    with pytest.raises(ValueError, match="vmap"):
        sparse.shard_rows(a.like(xnp.ones((2, a.nnz))), LINE)
    spread = sparse.shard_rows(a, LINE)
    with pytest.raises(ValueError, match=r"shard\(x\) pads"):
        _ = spread @ xnp.ones(9)
    with pytest.raises(ValueError, match="rows or columns"):
        spread.shard(xnp.ones(10))
