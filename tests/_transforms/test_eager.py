"""Derivatives and batches outside of ``jit``: longer functions are one operation there, with the same results."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore._core.eval import EvalTrace

X = np.linspace(0.1, 0.9, 6, dtype=np.float32)
M = np.asarray([[2.0, 0.3], [0.1, 1.5]], np.float32)
FUNCTIONS = {
    "var": (xnp.var, X), "std": (lambda x: xnp.std(x, ddof=1), X), "gelu": (xc.nn.gelu, X),
    "interp": (lambda x: xnp.interp(x, X, X**2), X * 0.9), "median": (xnp.median, X), "cov": (xnp.cov, M),
    "convolve": (lambda x: xnp.convolve(x, X), X), "softmax": (lambda x: xc.nn.softmax(x, axis=0), M),
    "logsumexp": (lambda x: xc.nn.logsumexp(x, axis=1), M), "cross": (lambda x: xnp.cross(x, X[:3]), X[3:]),
    "betainc": (lambda x: xc.special.betainc(2.0, 3.0, x), X), "unwrap": (xnp.unwrap, 9 * X),
    "sinc": (xnp.sinc, X), "nanvar": (xnp.nanvar, X), "percentile": (lambda x: xnp.percentile(x, 30.0), X),
    "complex": (lambda x: abs(xnp.var(x + 1j * x**2)), X), "gammaln": (xc.special.gammaln, X),
    "gradient": (xnp.gradient, X), "polyval": (lambda x: xnp.polyval(xnp.asarray(X), x), M),
}  # fmt: skip
TRANSFORMS = {
    "grad": lambda f: xc.grad(lambda x: xnp.sum(f(x) ** 2)),
    "jvp": lambda f: lambda x: xc.jvp(f, (x,), (x,)),
    "vmap": lambda f: lambda x: xc.vmap(f)(xnp.stack([x, 2 * x / 3])),
    "hessian": lambda f: xc.hessian(lambda x: xnp.sum(f(x) ** 2)),
    "vmap of grad": lambda f: lambda x: xc.vmap(xc.grad(lambda x: xnp.sum(f(x))))(xnp.stack([x, x / 2])),
    "grad of vmap": lambda f: xc.grad(lambda x: xnp.sum(xc.vmap(f)(xnp.stack([x, x / 2])))),
}  # fmt: skip


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_those_of_the_compiled_function(name, transform):
    f, x = FUNCTIONS[name]
    g = TRANSFORMS[transform](f)
    found, expected = xc.tree.leaves(g(xnp.asarray(x))), xc.tree.leaves(xc.jit(g)(x))
    for a, b in zip(found, expected, strict=True):
        assert xc.typeof(a) == xc.typeof(b)
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


def operations(monkeypatch, thunk):
    ran, process = [], EvalTrace.process
    with monkeypatch.context() as patch:
        patch.setattr(
            EvalTrace, "process", lambda self, op, *rest: ran.append(op.name) or process(self, op, *rest)
        )  # fmt: skip
        thunk()
    return ran


@pytest.mark.parametrize("name", ["var", "gelu", "nanvar"])
def test_a_longer_function_is_one_operation(name, monkeypatch):
    f, x = FUNCTIONS[name]
    x = xnp.asarray(x)
    assert "call" in operations(monkeypatch, lambda: xc.vmap(f)(x[None]))
    assert len(operations(monkeypatch, lambda: xc.grad(lambda x: f(x).sum())(x))) <= 20


def test_what_must_see_values_sees_them():
    """As without derivatives: the number of places is not known to a recorded program."""
    x = xnp.asarray([3.0, 1.0, 3.0])
    primal, tangent = xc.jvp(
        lambda x: x * xnp.count_nonzero(xnp.nonzero(x > 2)[0] >= 0), (x,), (x,)
    )
    assert primal.tolist() == [6.0, 2.0, 6.0] and tangent.tolist() == [6.0, 2.0, 6.0]


@pytest.mark.parametrize("transform", [xc.grad, xc.vmap])
def test_errors_are_those_of_the_plain_call(transform):
    x = xnp.ones((3, 4))
    for f in (lambda x: xnp.interp(x, x, xnp.ones(7)).sum(), lambda x: xnp.var(x, axis=5).sum()):
        messages = []
        for call in (f, transform(f)):
            with pytest.raises((ValueError, TypeError)) as e:
                call(x)
            messages.append(type(e.value))
        assert messages[0] is messages[1]


def test_settings_of_the_moment_count():
    f = lambda x: xnp.var(x * np.float32(2.0))
    for setting in (
        {"debug_nans": True},
        {"numpy_rank_promotion": "raise"},
        {"disable_jit": True},
        {},
    ):
        with xc.config.override(**setting):
            np.testing.assert_allclose(xc.grad(f)(xnp.asarray(X)), xc.jit(xc.grad(f))(X), rtol=1e-5)
