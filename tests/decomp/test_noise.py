"""All CP methods at 1 to 10 % noise, as the literature's tables have it, each as one program of lanes."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import decomp

SHAPE, RANK = (10, 11, 12), 3
SHARES = (0.01, 0.02, 0.05, 0.1)
RNG = np.random.default_rng(4)


def above(a, step):
    return xnp.maximum(a, 0)


# method, and the sign of the factors; sampled equations see a part of the tensor in each sweep
METHODS = {
    "als": (lambda x: decomp.cp_als(x, RANK), False),
    "als, singular vectors": (lambda x: decomp.cp_als(x, RANK, init="hosvd"), False),
    "als, extrapolated": (lambda x: decomp.cp_als(x, RANK, extrapolate=True), False),
    "als, restarts": (lambda x: decomp.cp_als(x, RANK, restarts=3), False),
    "hals": (lambda x: decomp.cp_nonneg(x, RANK), True),
    "admm": (lambda x: decomp.cp_constrained(x, RANK, above), True),
    # a random start would end in a local minimum here
    "sampled": (lambda x: decomp.cp_arls(x, RANK, init="hosvd"), False),
    "gauss-newton": (lambda x: decomp.cp_gauss_newton(x, RANK), False),
    "gradient": (lambda x: decomp.cp_gradient(x, RANK, rtol=1e-6), False),
}


def problem(positive: bool):
    """The true tensor and one lane for each share of noise."""
    factors = [RNG.normal(size=(n, RANK)) for n in SHAPE]
    true = decomp.CP(None, [np.abs(f) for f in factors] if positive else factors)
    x, noise = np.asarray(true.to_dense()), RNG.normal(size=SHAPE)
    noise *= np.linalg.norm(x) / np.linalg.norm(noise)
    return true, np.stack([x + share * noise for share in SHARES])


PROBLEMS = {positive: problem(positive) for positive in (False, True)}


@pytest.mark.parametrize("name", METHODS)
def test_factors_under_noise(name):
    method, positive = METHODS[name]
    true, lanes = PROBLEMS[positive]
    found = xc.jit(xc.vmap(method))(lanes)
    # a fit takes the noise in as many dimensions as it has parameters, and leaves the others
    parameters = RANK * (sum(SHAPE) - len(SHAPE) + 1)
    least = np.sqrt(1 - parameters / np.prod(SHAPE))
    for k, share in enumerate(SHARES):
        value = decomp.CP(found.value.weights[k], tuple(f[k] for f in found.value.factors))
        of_truth = np.linalg.norm(lanes[k] - np.asarray(true.to_dense())) / np.linalg.norm(lanes[k])
        most = 1.3 if name == "sampled" else 1
        assert 0.95 * least * of_truth < float(found.error[k]) < most * of_truth, share
        assert decomp.factor_match_score(true, value) > 1 - share / 2


def test_sampled_lanes_are_fits_alone():
    _, lanes = PROBLEMS[False]
    method = METHODS["sampled"][0]
    every, alone = xc.jit(xc.vmap(method))(lanes), method(lanes[1])
    np.testing.assert_allclose(every.value.weights[1], alone.value.weights, rtol=1e-6)
    assert int(every.steps[1]) == int(alone.steps) and int(every.status[1]) == 0
    n = int(alone.steps) + 1
    np.testing.assert_allclose(every.history[1, :n], alone.history, rtol=1e-6)
