"""Norms, errors and scores of tensors in formats: with all digits, at every size that the dtype holds."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import decomp
from xcore.decomp import CP, TT

RNG = np.random.default_rng(8)
FACTORS = [RNG.normal(size=(n, 2)) for n in (4, 3, 5)]
NEAR = [f + 1e-5 * RNG.normal(size=f.shape) for f in FACTORS]
OTHER = RNG.normal(size=(4, 3, 5))
SIZES = {"float32": (1e-35, 1e-22, 1.0, 1e22, 1e37), "float64": (1e-300, 1e-170, 1.0, 1e170, 1e300)}
FORMS = {"cp": lambda c: c, "tucker": decomp.to_tucker, "tt": decomp.to_tt}
CASES = [(dtype, size) for dtype, sizes in SIZES.items() for size in sizes]


def _cp(factors, dtype="float64", size=1.0):
    first, *others = factors
    return CP(None, tuple(xnp.asarray(f.astype(dtype)) for f in (first * size, *others)))


def _whole(cp):
    return np.einsum("ar,br,cr->abc", *[np.asarray(f, np.longdouble) for f in cp.factors])


def _length(x):
    return float(np.sqrt((np.asarray(x, np.longdouble) ** 2).sum()))


@pytest.mark.parametrize(("dtype", "size"), CASES)
def test_numbers_of_tensors_know_no_units(dtype, size):
    cp, near = _cp(FACTORS, dtype, size), _cp(NEAR, dtype, size)
    eps, whole = float(np.finfo(dtype).eps), _whole(cp)
    other = (OTHER * size).astype(dtype)
    close, far = (
        _length(whole - _whole(near)) / _length(whole),
        _length(whole - other) / _length(whole),
    )
    for form in FORMS.values():
        x = form(cp)
        assert abs(float(decomp.norm(x)) / _length(whole) - 1) < 50 * eps
        assert abs(float(decomp.relative_error(x, xnp.asarray(other))) / far - 1) < 50 * eps
        assert abs(float(decomp.relative_error(x, near)) - close) < 50 * eps
    dense = xnp.asarray(whole.astype(dtype))
    assert abs(float(decomp.norm(dense)) / _length(whole) - 1) < 50 * eps
    assert abs(float(decomp.relative_error(dense, cp))) < 50 * eps


@pytest.mark.parametrize(("dtype", "size"), CASES)
def test_terms_and_scores_know_no_units(dtype, size):
    cp = _cp(FACTORS, dtype, size)
    eps, whole = float(np.finfo(dtype).eps), _whole(cp)
    lengths = np.prod([np.linalg.norm(f, axis=0) for f in FACTORS], 0)
    unit = decomp.normalize(cp)
    np.testing.assert_allclose(np.asarray(unit.weights) / size, lengths, rtol=50 * eps)
    assert abs(float(decomp.factor_match_score(cp, cp)) - 1) < 50 * eps
    consistency = decomp.core_consistency(xnp.asarray(whole.astype(dtype)), cp)
    assert abs(float(consistency) - 100) < 1e4 * eps
    ratio = lengths.max() * size / _length(whole)
    assert abs(float(decomp.degeneracy(cp).weight_ratio) / ratio - 1) < 1e3 * eps


def test_norms_of_what_lies_far_apart():
    columns = [[[1e-20, 1e20], [0, 0]], [[1e20, 1e-20]]]
    apart = CP(None, tuple(xnp.asarray(np.asarray(f, np.float32)) for f in columns))
    assert abs(float(decomp.norm(apart)) - 2) < 1e-6
    assert float(decomp.norm(TT((xnp.ones((1, 2, 1)),) * 200))) == 2.0**100
    assert float(decomp.norm(xnp.arange(5).astype("uint8"))) == pytest.approx(30**0.5)
    few, more = (xnp.asarray([v, 1], "uint8") for v in (3, 5))
    assert float(decomp.relative_error(few, more)) == pytest.approx(2 / 10**0.5)
    zero = CP(None, (xnp.zeros((3, 2)), xnp.ones((2, 2))))
    assert float(decomp.norm(zero)) == 0
    assert not np.asarray(xc.grad(decomp.norm)(zero).factors[0]).any()


def test_derivatives_of_norms_and_errors():
    """First and second ones along a line, beside those of the elements themselves."""
    a, b, way = _cp(FACTORS), _cp([f + 0.3 for f in FACTORS]), _cp([f[::-1] for f in FACTORS])
    moved = lambda t: CP(None, tuple(f + t * g for f, g in zip(a.factors, way.factors)))
    size = lambda x: xnp.sqrt((x.to_dense() ** 2).sum())
    pairs = [
        (decomp.norm, size),
        (lambda x: decomp.norm(decomp.to_tt(x)), size),
        (lambda x: decomp.normalize(x).weights.sum(), lambda x: sum(_lengths(x))),
        (lambda x: decomp.relative_error(x, b), lambda x: size(x - b) / size(x)),
        (
            lambda x: decomp.relative_error(decomp.to_tt(x), decomp.to_tucker(b)),
            lambda x: size(x - b) / size(x),
        ),
    ]
    both = lambda f: lambda t: (xc.grad(f)(t), xc.grad(xc.grad(f))(t))
    for f, g in pairs:
        got, want = (
            xc.jit(both(lambda t, h=h: h(moved(t))))(xnp.asarray(0.1, "float64")) for h in (f, g)
        )
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-9)


def _lengths(cp):
    return [xnp.sqrt(xnp.stack([(f[:, r] ** 2).sum() for f in cp.factors]).prod()) for r in (0, 1)]


def test_trains_of_tucker_tensors_have_the_least_bonds():
    for shape in ((2, 3, 4), (5, 2, 2), (2, 2, 9), (3,), (1, 4, 1), (2, 2, 2, 2)):
        core = RNG.normal(size=shape)
        t = decomp.Tucker(xnp.asarray(core), tuple(xnp.eye(n, dtype="float64") for n in shape))
        train = decomp.to_tt(t)
        np.testing.assert_array_equal(np.asarray(train.to_dense()), core)
        cuts = [(np.prod(shape[:k]), np.prod(shape[k:])) for k in range(len(shape) + 1)]
        assert train.rank == tuple(int(min(c)) for c in cuts)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["one", "slices", "few", "spread"])
def test_nonnegative_fits_of_data_with_zeros(kind, dtype):
    x = np.abs(np.einsum("ar,br,cr->abc", *FACTORS))
    x = {
        "one": np.eye(60)[13].reshape(x.shape),
        "slices": x * (np.arange(4) > 0)[:, None, None] * (np.arange(3) != 1)[:, None],
        "few": x * (RNG.random(x.shape) < 0.2),
        "spread": x * 10.0 ** (-4.0 * np.arange(4))[:, None, None],
    }[kind]
    found = decomp.tucker_nonneg(xnp.asarray(x.astype(dtype)), 2)
    left = x - np.asarray(found.value.to_dense(), np.float64)
    assert abs(np.linalg.norm(left) / np.linalg.norm(x) - float(found.error)) < 1e-4
    assert float(found.error) < 0.9 and int(found.status) in (0, 1)


@pytest.mark.parametrize("dtype", SIZES)
def test_what_is_0_is_met_by_0_alone(dtype):
    """The error of a fit of zeros is 0; it was NaN when computed again."""
    zero, some = (
        decomp.CP(None, tuple(xnp.full((n, 2), v, dtype) for n in (2, 3, 4))) for v in (0, 1)
    )
    for form in (lambda c: c.to_dense(), *FORMS.values()):
        for other in (lambda c: c.to_dense(), *FORMS.values()):
            assert float(decomp.relative_error(form(zero), other(zero))) == 0
            assert float(decomp.relative_error(form(zero), other(some))) == np.inf
    assert np.isnan(float(decomp.relative_error(xnp.full((2, 3, 4), xnp.nan), zero)))
    fit = decomp.cp_als(zero.to_dense(), 1)
    assert float(decomp.relative_error(zero.to_dense(), fit.value)) == float(fit.error) == 0
