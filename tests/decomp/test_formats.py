"""CP, Tucker and TT tensors against the dense tensors that they stand for."""

import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xcore as xc
import xcore.numpy as xnp
from xcore import decomp

RNG = np.random.default_rng(0)
SHAPE = (3, 4, 5)


def cp(shape=SHAPE, rank=2, rng=RNG):
    return decomp.CP(rng.normal(size=rank), [rng.normal(size=(n, rank)) for n in shape])


def tucker(shape=SHAPE, ranks=(2, 3, 2), rng=RNG):
    return decomp.Tucker(
        rng.normal(size=ranks), [rng.normal(size=p) for p in zip(shape, ranks, strict=True)]
    )


def tt(shape=SHAPE, rank=3, rng=RNG):
    ranks = [1, *[rank] * (len(shape) - 1), 1]
    return decomp.TT(
        [rng.normal(size=(a, n, b)) for a, n, b in zip(ranks, shape, ranks[1:], strict=False)]
    )


LETTERS = "ijklmn"


def dense(x):
    """By einsum over all the parts, which is how the formats are defined."""
    if isinstance(x, decomp.CP):
        spec = "r," + ",".join(f"{c}r" for c in LETTERS[: x.ndim])
        return np.einsum(f"{spec}->{LETTERS[: x.ndim]}", x.weights, *x.factors)
    if isinstance(x, decomp.Tucker):
        core = "abcdef"[: x.ndim]
        pairs = ",".join(f"{i}{a}" for i, a in zip(LETTERS, core, strict=False))
        return np.einsum(f"{core},{pairs}->{LETTERS[: x.ndim]}", x.core, *x.factors)
    if isinstance(x, decomp.TT):
        parts = [f"{a}{i}{b}" for a, i, b in zip("abcdef", LETTERS, "bcdefg", strict=True)][
            : x.ndim
        ]
        return np.einsum(f"{','.join(parts)}->{LETTERS[: x.ndim]}", *x.cores)
    return np.asarray(x)


EACH = [cp(), tucker(), tt()]
each = pytest.mark.parametrize("x", EACH, ids=lambda x: type(x).__name__)


def close(found, wanted):
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-10, atol=1e-10)


@each
def test_the_whole(x):
    assert x.shape == SHAPE and x.ndim == 3 and x.size == 60 and x.dtype == np.float64
    close(x.to_dense(), dense(x))
    close(xc.jit(lambda x: x.to_dense())(x), dense(x))
    assert type(x).__name__ in repr(x) and str(SHAPE) in repr(x)


INDICES = [
    (0, 1, 2), (-1, -1, -1), (slice(None), 1), (Ellipsis, -1), (slice(0, 2), slice(None, None, 2), 3),
    ([0, 2], [1, 3], [4, 0]), (np.array([[0], [1]]), np.array([1, 2]), 0), 1, (),
    (slice(None, None, -1), Ellipsis, slice(1, 1)),
    ([0, 2], slice(None), [1, 1]), (slice(None), [0, 1], [2, 3]), (slice(None), 0, [1, 2]),
    ([0, 1], 2, slice(None)), (np.array([True, False, True]),),
    (0, slice(None), [1, 3]), (slice(None), [1, 2]), ([1], slice(1, None), [0, 4, 2]), ([2, 0], [1, 3], slice(None)),
]  # fmt: skip


@each
def test_indexing_is_that_of_numpy(x):
    for index in INDICES:
        part = x[index]
        close(dense(part), dense(x)[index])
        assert np.shape(part) == dense(x)[index].shape


@each
def test_indices_known_at_run_time(x):
    close(xc.jit(lambda x, i: x[i, i, 0])(x, 2), dense(x)[2, 2, 0])
    rows = np.array([0, 2, 1])
    close(xc.jit(lambda x, i: x[i, i, i])(x, rows), dense(x)[rows, rows, rows])


@each
def test_wrong_indices(x):
    for index, words in [
        ((3, 0, 0), "3"),
        ((0, 0, 0, 0), "too many"),
        ((0.5, 0, 0), "integer"),
        ((None, 0), "new axes"),
    ]:
        with pytest.raises(IndexError, match=words):
            x[index]


@each
def test_arithmetic(x):
    other = {decomp.CP: cp, decomp.Tucker: tucker, decomp.TT: tt}[type(x)]()
    for op in (operator.add, operator.sub, operator.mul):
        close(dense(op(x, other)), op(dense(x), dense(other)))
    close(dense(-x), -dense(x))
    close(dense(2 * x), 2 * dense(x))
    close(dense(x / 4), dense(x) / 4)
    with pytest.raises(ValueError, match="addition"):
        x + type(x)(*_shorter(x))
    with pytest.raises(TypeError):
        x + 1.0


def _shorter(x):
    y = x[:2]
    return (
        (y.cores,)
        if isinstance(y, decomp.TT)
        else (y.core if isinstance(y, decomp.Tucker) else y.weights, y.factors)
    )


@pytest.mark.parametrize("a", [*EACH, RNG.normal(size=SHAPE)], ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("b", EACH, ids=lambda x: type(x).__name__)
def test_inner_products_and_norms(a, b):
    close(decomp.inner(a, b), (dense(a) * dense(b)).sum())
    close(decomp.inner(1j * b, a), (np.conj(1j * dense(b)) * dense(a)).sum())
    close(decomp.norm(b), np.linalg.norm(dense(b)))
    close(
        decomp.relative_error(a, b), np.linalg.norm(dense(a) - dense(b)) / np.linalg.norm(dense(a))
    )


@each
def test_conversions_are_exact(x):
    for convert in (decomp.to_tt, decomp.to_tucker):
        close(dense(convert(x)), dense(x))
    with pytest.raises(ValueError, match="tt_svd"):
        decomp.to_tt(np.ones((2, 2)))


@each
def test_pytrees(x, tmp_path):
    leaves, structure = xc.tree.flatten(x)
    assert type(xc.tree.unflatten(structure, leaves)) is type(x)
    grads = xc.grad(lambda x: (x.to_dense() ** 2).sum() / 2)(x)
    # the tensor is linear in each part p, so that ∂(‖x‖²/2)/∂p · p is ‖x‖² for every one
    for slope, part in zip(xc.tree.leaves(grads), leaves, strict=True):
        close((slope * part).sum(), (dense(x) ** 2).sum())
    two = xc.tree.map(lambda a: xnp.stack([a, 2 * a]), x)
    close(xc.vmap(lambda x: x[0, 1, 2])(two)[0], dense(x)[0, 1, 2])
    decomp.save(tmp_path / "x.npz", x)
    close(dense(decomp.load(tmp_path / "x.npz")), dense(x))


def test_gradient_of_an_element():
    x = cp()
    found = xc.grad(lambda x: x[1, 2, 3])(x)
    a, b, c = (np.asarray(f)[i] for f, i in zip(x.factors, (1, 2, 3), strict=True))
    close(found.weights, a * b * c)
    close(found.factors[0][1], np.asarray(x.weights) * b * c)
    assert not np.asarray(found.factors[0])[[0, 2]].any()


# The same tensor


def test_normal_forms_are_the_same_tensor():
    x = cp(rank=4)
    for f in (decomp.normalize, decomp.arrange, decomp.fix_signs):
        close(dense(f(x)), dense(x))
    y = decomp.arrange(x)
    close([np.linalg.norm(f, axis=0) for f in y.factors], np.ones((3, 4)))
    assert (np.diff(np.abs(y.weights)) <= 0).all()
    for f in decomp.fix_signs(x).factors[:-1]:
        f = np.asarray(f)
        assert (f[np.abs(f).argmax(0), range(4)] > 0).all()


def test_orthogonal_factors():
    x = tucker()
    y = decomp.orthogonalize(x)
    close(dense(y), dense(x))
    for f in y.factors:
        close(np.asarray(f).T @ np.asarray(f), np.eye(f.shape[1]))


def test_a_zero_column_has_finite_slopes():
    x = decomp.CP(None, [np.zeros((3, 1)), np.ones((4, 1))])
    found = xc.grad(lambda x: decomp.normalize(x).to_dense().sum())(x)
    assert all(np.isfinite(f).all() for f in found.factors)
    assert np.isfinite(xc.grad(decomp.norm)(x).factors[0]).all()


def test_match_score():
    x = cp(rank=3)
    order = [2, 0, 1]
    same = decomp.CP(
        x.weights[np.array(order)],
        [f[:, order] * s for f, s in zip(x.factors, (-1, -1, 1), strict=True)],
    )
    close(decomp.factor_match_score(x, same), 1)
    close(xc.jit(decomp.factor_match_score)(x, same), 1)
    close(decomp.factor_match_score(x, x.replace(weights=2 * x.weights)), 0.5)
    assert decomp.factor_match_score(x, cp(rank=5)) < 0.9
    with pytest.raises(ValueError, match="factor_match_score"):
        decomp.factor_match_score(x, cp((2, 2, 2)))


@each
def test_mode_products_stay_in_the_format(x):
    a = np.arange(2.0 * x.shape[1]).reshape(2, -1)
    found = decomp.mode_product(x, a, 1)
    assert type(found) is type(x)
    close(found.to_dense(), np.moveaxis(np.tensordot(a, dense(x), axes=(1, 1)), 0, 1))
    both = decomp.multi_mode_product(found, [None, a.T], transpose=False)
    close(both.to_dense(), decomp.multi_mode_product(xnp.asarray(dense(x)), [None, a.T @ a]))
    with pytest.raises(ValueError, match="matrix"):
        decomp.mode_product(x, a, 0)


def test_what_only_cp_tensors_have():
    train = decomp.to_tt(cp())
    for f in (decomp.normalize, decomp.arrange, decomp.fix_signs, decomp.degeneracy, decomp.plot_factors,
              lambda t: decomp.factor_match_score(t, t), lambda t: decomp.core_consistency(dense(t), t)):  # fmt: skip
        with pytest.raises(ValueError, match=r"cp must be a CP tensor.* It is a TT"):
            f(train)


def test_canonical_as_tutorials_write_it():
    c = decomp.CanonicalTT([xnp.ones((3, 2)), xnp.ones((3, 2))], (3, 3), 2)
    assert (c.ndim, c.rank, c.shape) == (2, 2, (3, 3))
    getitem = xc.jit(lambda c, i: c.cores[0][i[0]] @ c.cores[1][i[1]])
    close(getitem(c, (0, 0)), 2.0)
    close(c[0, 0], 2.0)
    assert type(decomp.mode_product(c, xnp.ones((4, 3)), 0)) is decomp.CanonicalTT
    close(decomp.normalize(c).weights, [3.0, 3.0])
    with pytest.raises(ValueError, match="cores"):
        decomp.CanonicalTT([xnp.ones((3, 2))], (3, 3), 2)


@pytest.mark.parametrize("make, words", [
    (lambda: decomp.CP(None, ()), "at least one matrix"),
    (lambda: decomp.CP(None, (np.ones((2, 2)), np.ones((2, 3)))), "one rank"),
    (lambda: decomp.CP(np.ones(3), (np.ones((2, 2)),)), "weights"),
    (lambda: decomp.Tucker(np.ones((2, 2)), (np.ones((3, 2)),)), "factors"),
    (lambda: decomp.TT((np.ones((1, 3, 2)), np.ones((3, 3, 1)))), "fit together"),
    (lambda: decomp.TT((np.ones((2, 3, 1)),)), "1 at both ends"),
])  # fmt: skip
def test_parts_that_do_not_fit(make, words):
    with pytest.raises(ValueError, match=words):
        make()


# Products


def check_mttkrp(shape, rank, rng):
    x, factors = rng.normal(size=shape), [rng.normal(size=(n, rank)) for n in shape]
    letters = LETTERS[: len(shape)]
    for mode in range(len(shape)):
        others = [k for k in range(len(shape)) if k != mode]
        spec = ",".join([letters, *[f"{letters[k]}r" for k in others]])
        want = np.einsum(f"{spec}->{letters[mode]}r", x, *[factors[k] for k in others])
        close(decomp.mttkrp(x, factors, mode), want)


@pytest.mark.parametrize("order", range(2, 7))
def test_mttkrp_of_every_order(order):
    check_mttkrp((3, 5, 2, 4, 2, 3)[:order], 3, RNG)


@settings(max_examples=5, deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=2, max_size=4), st.integers(1, 3), st.integers(0, 2**31)
)
def test_mttkrp_of_any_shape(shape, rank, seed):
    check_mttkrp(shape, rank, np.random.default_rng(seed))


def test_unfoldings():
    x, factors = dense(EACH[0]), EACH[0].factors
    for mode in range(3):
        m = decomp.unfold(x, mode)
        close(m, np.moveaxis(x, mode, 0).reshape(SHAPE[mode], -1))
        close(decomp.fold(m, mode, SHAPE), x)
        others = decomp.khatri_rao([factors[k] for k in range(3) if k != mode])
        close((factors[mode] * EACH[0].weights) @ others.T, m)
    a = RNG.normal(size=(6, 4))
    close(decomp.mode_product(x, a, 1), np.einsum("ijk,mj->imk", x, a))
    close(
        decomp.multi_mode_product(x, [None, a.T[:, :4].T[:4], None], transpose=True).shape,
        (3, 4, 5),
    )
    for call in (lambda: decomp.mode_product(x, a, 0), lambda: decomp.unfold(x, 3), lambda: decomp.mttkrp(x, factors[:2], 0),
                 lambda: decomp.khatri_rao([]), lambda: decomp.khatri_rao([np.ones(2)] * 2),
                 lambda: decomp.multi_mode_product(x, [a], modes=[0, 1]), lambda: decomp.orthogonalize(EACH[0])):  # fmt: skip
        with pytest.raises(ValueError, match="decomp"):
            call()


def test_figure():
    pytest.importorskip("matplotlib").use("Agg")
    assert len(decomp.plot_factors(cp()).axes) == 6
    with pytest.raises(ValueError, match="axes must be an array of axes of shape"):
        decomp.plot_factors(cp(), axes=decomp.plot_factors(cp()).axes[0])


@pytest.mark.parametrize("mode", range(4))
def test_products_of_mixed_dtypes(mode):
    x = RNG.normal(size=(3, 4, 5, 2)) + 1j
    factors = [RNG.normal(size=(n, 2)) for n in x.shape]
    whole = [f.astype(complex) for f in factors]
    for a, fs in ((x, factors), (x.real, whole), (x.real.astype("float32"), factors)):
        found = decomp.mttkrp(xnp.asarray(a), [xnp.asarray(f) for f in fs], mode)
        close(found, decomp.mttkrp(xnp.asarray(a + 0j), [xnp.asarray(f) for f in whole], mode))
