"""Operators of SciPy's in functions of xcore and the reverse; columns of tables; arrays where NumPy's are expected."""

import importlib
import types
import warnings

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg as theirs

import xcore as xc
import xcore.numpy as xnp
from xcore import linalg
from xcore.linalg._operators import as_operator

RNG = np.random.default_rng(0)
HALF = RNG.normal(size=(8, 8)) / 8
DENSE = {
    "real": HALF @ HALF.T + np.diag(np.arange(1.0, 9)),
    "complex": (lambda c: c @ c.conj().T + np.diag(np.arange(1.0, 9)))(HALF + 1j * HALF[::-1]),
    "general": HALF + np.eye(8), "wide": RNG.normal(size=(3, 8)), "complex wide": HALF[:5] + 1j * HALF[3:],
    "column": RNG.normal(size=(4, 1)), "single": (HALF + np.eye(8)).astype(np.float32),
}  # fmt: skip


def their(a):
    """An operator that is nothing but functions."""
    return theirs.LinearOperator(a.shape, lambda x: a @ x, lambda y: a.conj().T @ y, dtype=a.dtype)


def close(found, wanted, rtol=1e-12):
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=rtol, atol=rtol)


@pytest.mark.parametrize("name", DENSE)
def test_products_of_theirs(name):
    a = DENSE[name]
    m, n = a.shape
    x, y, s = RNG.normal(size=n), RNG.normal(size=m), RNG.normal(size=(n, 2))
    op = as_operator(their(a))
    assert op.shape == a.shape
    rtol = 1e-6 if name == "single" else 1e-12
    for f in (lambda g: g, xc.jit):
        close(f(lambda x: op @ x)(x), a @ x, rtol)
        close(f(lambda y: op.T @ y)(y), a.T @ y, rtol)
        close(f(lambda s: op @ s)(s), a @ s, rtol)
    close(op.as_matrix("float64"), a, rtol)
    loss = lambda g: xc.grad(lambda x: xnp.abs(g(x) * y).sum())(x)
    close(loss(lambda x: op @ x), loss(lambda x: xnp.asarray(a) @ x), rtol)
    close(xc.vmap(lambda x: op @ x)(s.T), (a @ s).T, rtol)
    low = op @ x.astype(np.float32)
    assert low.dtype == np.result_type(a.dtype, np.float32)


def test_solvers_take_theirs():
    a, b = DENSE["real"], RNG.normal(size=8)
    wanted = np.linalg.solve(a, b)
    jacobi = their(np.diag(1 / np.diag(a)))
    close(linalg.linear_solve(their(a), b, linalg.GMRES(rtol=1e-12)), wanted, 1e-9)
    symmetric = as_operator(their(a)).replace(symmetric=True, positive=True)
    close(
        linalg.linear_solve(symmetric, b, linalg.CG(rtol=1e-12), preconditioner=jacobi),
        wanted,
        1e-9,
    )
    through = xc.grad(lambda b: linalg.linear_solve(symmetric, b, linalg.CG(rtol=1e-12)).sum())(
        xnp.asarray(b)
    )
    close(through, np.linalg.solve(a, np.ones(8)), 1e-9)
    close(xc.scipy.sparse.linalg.cg(their(a), b, rtol=1e-12, M=jacobi)[0], wanted, 1e-9)
    close(xc.scipy.sparse.linalg.eigsh(their(a), 2)[0], np.linalg.eigvalsh(a)[-2:], 1e-9)
    close((linalg.Diagonal(b) + their(a)) @ b, b * b + a @ b)
    g = DENSE["complex wide"]
    close(
        linalg.lsmr(their(g), b[:5] + 0j, rtol=1e-13),
        np.linalg.lstsq(g, b[:5], rcond=None)[0],
        1e-8,
    )


OURS = {
    "matrix": lambda a: linalg.Matrix(xnp.asarray(a)),
    "function": lambda a: linalg.FunctionOperator(lambda p, x: p @ x, xnp.asarray(a), a.shape),
    "sum": lambda a: linalg.Matrix(xnp.asarray(a)) * 0.5 + linalg.Matrix(xnp.asarray(a)) * 0.5,
    "theirs": lambda a: as_operator(their(a)),
}


@pytest.mark.parametrize("name", ["general", "complex wide", "single", "column"])
@pytest.mark.parametrize("kind", OURS)
def test_ours_in_scipy(name, kind):
    a = DENSE[name]
    m, n = a.shape
    op = OURS[kind](a).to_scipy()
    assert isinstance(op, theirs.LinearOperator) and op.shape == a.shape and op.dtype == a.dtype
    x, y, s = RNG.normal(size=n), RNG.normal(size=m), RNG.normal(size=(n, 2))
    rtol = 1e-6 if name == "single" else 1e-12
    close(op @ x, a @ x, rtol)
    close(op @ s, a @ s, rtol)
    close(op.H @ y, a.conj().T @ y, rtol)
    close(op.T @ y, a.T @ y, rtol)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # SciPy 1.18 would have matmat
        close(op.matvec(x[:, None]), (a @ x)[:, None], rtol)
    out = op @ x
    out += 1  # it is the caller's own
    if m == n and a.dtype == float:
        close(theirs.gmres(op, y, rtol=1e-12)[0], np.linalg.solve(a, y), 1e-9)
        close(theirs.svds(op, 2, rng=np.random.default_rng(0))[1], np.linalg.svd(a)[1][1::-1], 1e-9)


def test_ours_keeps_its_tag_of_dtype():
    assert linalg.Diagonal(xnp.ones(3)).to_scipy("float64").dtype == np.float64
    assert isinstance(xc.sparse.eye_array(3).to_scipy(), scipy.sparse.sparray)


# Columns of tables


class Column:
    """What pandas, xarray and polars have in common: NumPy's values on request."""

    def __init__(self, values, index=None):
        self.values, self.index = values, index

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)

    def __len__(self):
        return len(self.values)


def columns():
    values = np.array([1.0, 2.0, 4.0])
    yield Column(values)
    tables = {
        "pandas": lambda m: m.Series(values, index=[3, 1, 2]), "xarray": lambda m: m.DataArray(values, dims="t"),
        "polars": lambda m: m.Series(values),
    }  # fmt: skip
    for name, make in tables.items():
        try:
            yield make(importlib.import_module(name))
        except ImportError:
            yield types.SimpleNamespace(missing=name)


@pytest.mark.parametrize(
    "column", [*columns()], ids=lambda x: getattr(x, "missing", type(x).__name__)
)
def test_columns_go_in(column):
    if hasattr(column, "missing"):
        pytest.skip(f"{column.missing} is not installed")
    x = np.array([1.0, 2.0, 4.0])
    for found in (
        xnp.asarray(column),
        xnp.array(column),
        xc.device_put(column),
        xc.jit(lambda c: c * 1)(column),
    ):
        assert (
            isinstance(found, xc.Array)
            and found.dtype == np.float64
            and found.tolist() == [1, 2, 4]
        )
    close(xnp.sin(column), np.sin(x))
    close(xnp.mean(column), x.mean())
    close(xnp.asarray([1.0, 2.0, 4.0]) * xnp.asarray(column), x * x)
    close(xc.grad(lambda c: (c**2).sum())(column), 2 * x)
    close(xnp.stack([xnp.asarray(column)] * 2), np.stack([x, x]))
    close(xnp.asarray(column, dtype="float32"), x)
    assert xnp.asarray(column, dtype="int32").dtype == np.int32


def test_a_column_of_text_is_refused_in_words():
    with pytest.raises(TypeError, match="strings"):
        xnp.asarray(Column(np.array(["a", "b"])))


def test_matplotlib_draws_arrays():
    plt = pytest.importorskip("matplotlib.figure")
    ax = plt.Figure().subplots()
    x = xnp.linspace(0, 1, 5)
    (line,) = ax.plot(x, x**2)
    close(line.get_ydata(), np.linspace(0, 1, 5, dtype=np.float32) ** 2, 1e-6)
    ax.imshow(xnp.ones((2, 3)))
    ax.hist(x)
    ax.fill_between(x, x, 2 * x)
