"""LU factors within programs: solutions, determinants and inverses of many matrices of one pattern, all told truly."""

import functools

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

import xcore as xc
import xcore.numpy as xnp
from xcore import sparse

WIDE = {
    "float32": "float64",
    "float64": "float64",
    "complex64": "complex128",
    "complex128": "complex128",
}


def many(n, dtype, seed, count=60):
    """A pattern with holes in its diagonal, and matrices r A c on it: with zeros, singular, of rows in other units."""
    rng = np.random.default_rng(seed)
    place = (rng.random((n, n)) < 0.25) | np.eye(n, k=1, dtype=bool)
    place[-1, 0] = True
    base = rng.standard_normal((count, n, n)) * place
    if "complex" in dtype:
        base = base + 1j * rng.standard_normal((count, n, n)) * place
    base[3::4] *= rng.random((count, n, n))[3::4] < 0.8
    base[4::12, :, 0] = base[4::12, :, -1]  # where both have elements: singular or not
    base = (base * place).astype(dtype)
    far = 3.0 if dtype in ("float32", "complex64") else 30.0
    r, c = (2.0 ** np.round(far * rng.standard_normal((count, n))) for _ in range(2))
    r[::4], c[::3] = 1, 1
    rows, columns = np.nonzero(place)
    full = (base * r[:, :, None] * c[:, None, :]).astype(dtype)
    return sparse.Pattern(rows, columns, (n, n)), full[:, rows, columns], base, r, c


@functools.cache
def solver(pattern, order=None):
    def one(v, b):
        f = sparse.factorise(sparse.Sparse(v, pattern), "lu", on="device")
        found = f.solve(b, report=True)
        det = f.slogdet()
        return (
            found.value,
            found.status,
            found.certificate.error,
            det.sign,
            det.logabsdet,
            f.inverse().todense(),
        )

    return xc.jit(xc.vmap(one))


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("n", [2, 3, 24])
def test_what_is_told_is_true(n, dtype):
    pattern, values, base, r, c = many(n, dtype, n)
    b = r[:, :, None] * np.random.default_rng(1).standard_normal((len(values), n, 2))
    x, status, error, sign, log, inverse = map(np.asarray, solver(pattern)(values, b.astype(dtype)))
    ok, wide, eps = status == 0, base.astype(WIDE[dtype]), np.finfo(dtype).eps
    condition = np.linalg.cond(wide)
    assert ok[condition < 1 / (1e4 * eps)].mean() > 0.97
    assert not ok[condition > 1e3 / eps].any()
    right = np.linalg.solve(wide[ok], b[ok] / r[ok][:, :, None]) / c[ok][:, :, None]
    off = np.abs(x[ok] - right).max((1, 2)) / np.abs(right).max((1, 2))
    assert (off <= error[ok] + 1e3 * np.finfo(wide.dtype).eps * condition[ok]).all()
    known = ok & ~np.isnan(log) & (condition < 1e-3 / eps)
    assert known.sum() > 0.7 * ok.sum()  # of others a pivot was changed
    s, size = np.linalg.slogdet(wide[known])
    size = size + (np.log(r) + np.log(c)).sum(1)[known]
    assert np.abs(sign[known] - s).max(initial=0) < 1e-3
    assert (np.abs(log[known] - size) < n * eps * (10 * condition[known] + np.abs(size))).all()
    mine = inverse[known] * r[known][:, None, :] * c[known][:, :, None]
    z = np.linalg.inv(wide[known])
    off = np.where(np.swapaxes(base[known], 1, 2) != 0, z - mine, 0)
    assert (np.abs(off).max((1, 2)) < 10 * n * eps * condition[known] * np.abs(z).max((1, 2))).all()


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives_are_those_of_dense_matrices(dtype):
    pattern, values, *_ = many(9, dtype, 2)
    b = np.random.default_rng(3).standard_normal((9, 2)).astype(dtype)
    v = xnp.asarray(values[0])
    of = lambda v: sparse.factorise(sparse.Sparse(v, pattern), "lu", on="device")
    dense = lambda v: sparse.Sparse(v, pattern).todense()
    size = lambda x: xnp.sum(xnp.abs(x) ** 2)
    pairs = [
        (lambda v: size(of(v).solve(b)), lambda v: size(xnp.linalg.solve(dense(v), b))),
        (lambda v: size(of(v).T.solve(b)), lambda v: size(xnp.linalg.solve(dense(v).T, b))),
        (lambda v: of(v).logdet(), lambda v: xnp.linalg.slogdet(dense(v))[1]),
        (
            lambda v: xnp.real(1j * of(v).slogdet()[0]),
            lambda v: xnp.real(1j * xnp.linalg.slogdet(dense(v))[0]),
        ),
    ]
    for mine, whole in pairs:
        np.testing.assert_allclose(mine(v), whole(v), rtol=1e-8)
        np.testing.assert_allclose(xc.grad(mine)(v), xc.grad(whole)(v), rtol=1e-6, atol=1e-9)
    bent = [xc.jvp(xc.grad(f), (v,), (v * v,))[1] for f in pairs[2]]
    np.testing.assert_allclose(*bent, rtol=1e-6, atol=1e-9)


def test_large_and_empty_ones():
    n = 31
    d = scipy.sparse.diags_array([-1.3, 2.0, -0.7], offsets=[-1, 0, 1], shape=(n, n))
    a = scipy.sparse.csr_array(scipy.sparse.kronsum(d, d))
    f = sparse.factorise(sparse.from_scipy(a), "lu", on="device")
    b = np.random.default_rng(0).standard_normal(n * n)
    np.testing.assert_allclose(f.solve(b), scipy.sparse.linalg.spsolve(a.tocsc(), b), rtol=1e-10)
    none = sparse.factorise(sparse.coo_array((0, 0)), "lu", on="device")
    assert none.solve(np.zeros((0, 2))).shape == (0, 2)
    assert none.slogdet() == (1, 0)


def test_a_row_without_elements_is_told():
    a = sparse.coo_array(([1.0, 2.0], ([0, 0], [0, 1])), shape=(2, 2))
    f = sparse.factorise(a, "lu", on="device")
    assert not f.solve(np.ones(2), report=True).ok
    assert np.isnan(f.logdet())
    with pytest.raises(xc.errors.XcoreError):
        f.solve(np.ones(2))


def test_factors_of_all_kinds_know_determinant_inverse_and_adjoint():
    a = sparse.diags_array([-1.0, 3.0, -1.5], offsets=[-1, 0, 1], shape=(6, 6))
    s = a + a.T
    for m, f in [
        (a, sparse.factorise(a, on="host")),
        (a, sparse.factorise(a, on="device")),
        (s, sparse.factorise(s, "ldl")),
        (s, sparse.factorise(s, "cholesky")),
    ]:
        dense = np.asarray(m.todense(), np.float64)
        z = np.linalg.inv(dense)
        np.testing.assert_allclose(f.logdet(), np.linalg.slogdet(dense)[1], rtol=1e-5)
        np.testing.assert_allclose(f.inverse().diagonal(), np.diag(z), rtol=1e-4)
        np.testing.assert_allclose(f.H @ np.ones(6, np.float32), z.T @ np.ones(6), rtol=1e-4)
    with pytest.raises(ValueError, match="'lu'"):
        sparse.factorise(a, "ilu").logdet()


def test_an_order_found_once_is_taken_again():
    v = np.array([1e-9, 1.0, 1.0, 1e-9])
    full = sparse.coo_array((v, ([0, 0, 1, 1], [0, 1, 0, 1])), shape=(2, 2))
    before = sparse.factorise(full, on="device")
    np.testing.assert_array_equal(before.order.columns, [1, 0])

    def again(v, b):
        return sparse.factorise(full.replace(values=v), on="device", reuse=before).solve(b)

    np.testing.assert_allclose(xc.jit(again)(v, np.ones(2)), np.ones(2), rtol=1e-8)
    for kind in ("cholesky", "ldl", "qr", "lu"):
        unit = sparse.eye_array(2)
        assert sparse.factorise(unit, kind, reuse=sparse.factorise(unit, kind)).shape == (2, 2)
        with pytest.raises(ValueError, match="same pattern"):
            sparse.factorise(full, kind, reuse=sparse.factorise(unit, kind))
    with pytest.raises(ValueError, match=r"that sparse\.factorise returned"):
        sparse.factorise(full, reuse=3)
    with pytest.raises(ValueError, match="'host'"):
        sparse.factorise(full, on="gpu")


@pytest.mark.parametrize("dtype", WIDE)
def test_determinants_by_the_host_are_those_of_dense_matrices(dtype):
    pattern, _, base, *_ = many(12, dtype, 4, count=24)
    base[0] = 0
    v = base[:, pattern.rows, pattern.columns]
    v[1, 3] = np.nan
    f = lambda v: sparse.factorise(sparse.Sparse(v, pattern)).slogdet()
    sign, log = map(np.asarray, xc.jit(xc.vmap(f))(v))
    right, size = np.linalg.slogdet(base.astype(WIDE[dtype]))
    assert sign[0] == 0 and log[0] == -np.inf and np.isnan(log[1])
    known = np.isfinite(size) & (np.arange(24) > 1) & (size > -20)
    np.testing.assert_allclose(sign[known], right[known], atol=1e-3)
    np.testing.assert_allclose(log[known], size[known], atol=1e5 * np.finfo(dtype).eps)
    one = lambda v: sparse.factorise(sparse.Sparse(v, pattern)).logdet()
    dense = lambda v: xnp.linalg.slogdet(sparse.Sparse(v, pattern).todense())[1]
    best = int(np.argmax(np.where(known, size, -np.inf)))
    mine, theirs = (np.asarray(xc.grad(g)(v[best])) for g in (one, dense))
    np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-3 * np.abs(theirs).max())
