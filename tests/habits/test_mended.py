"""What newcomers were told wrongly, or not at all."""

import collections

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo
from xcore import checkpoint, pde

Pair = collections.namedtuple("Pair", "a b")


@pytest.mark.parametrize("tree", [
    {"x": xnp.ones(3), "y": [1.5, (xnp.zeros(()), None)], "n": {}},
    [xnp.ones(2), ({"a": ()},)], (2,), xnp.arange(3), {1: xnp.ones(1), 2: 3j}, {"a": {"b": {"c": True}}}, None,
], ids=str)  # fmt: skip
def test_what_was_saved_is_restored(tmp_path, tree):
    checkpoint.save(tmp_path / "a", tree)
    back = checkpoint.restore(tmp_path / "a")
    assert xc.tree.structure(back) == xc.tree.structure(tree)
    for x, y in zip(xc.tree.leaves(back), xc.tree.leaves(tree), strict=True):
        assert type(x) is type(y)
        np.testing.assert_array_equal(x, y)


def test_other_classes_are_restored_as_dicts(tmp_path):
    checkpoint.save(tmp_path / "a", {"p": Pair(1.0, [2.0])})
    assert checkpoint.restore(tmp_path / "a") == {"p": {"a": 1.0, "b": [2.0]}}
    assert checkpoint.restore(tmp_path / "a", like={"p": Pair(0.0, [0.0])})["p"].b == [2.0]


@pytest.mark.parametrize("run", [
    lambda f: pde.integrate(f, xnp.ones(2), xnp.asarray([0.0, 1.0])),
    lambda f: xc.experimental.ode.odeint(f, xnp.ones(2), xnp.asarray([0.0, 1.0])),
    lambda f: pde.RungeKutta(f).step(xnp.ones(2), 0.0, 0.1),
], ids=["integrate", "odeint", "RungeKutta"])  # fmt: skip
def test_functions_of_time_and_state_are_told_from_those_of_state_and_time(run):
    with pytest.raises(ValueError, match=r"\(t, y\).*solve_ivp"):
        run(lambda t, y: -y)
    for f in (lambda y, t: -y, lambda u, time: -u, lambda *a: -a[0]):
        assert run(f).shape[-1] == 2


LINE = lambda w, batch: xnp.mean((w * batch[0] - batch[1]) ** 2)
X = xnp.linspace(0.0, 1.0, 8)


def test_fit_calls_back_and_ends_early():
    arguments = LINE, 0.0, (X, 3 * X), xo.sgd(0.3, momentum=0.5)
    options = {"batch_size": 2, "key": xc.random.key(1)}
    seen = []
    done = xo.fit(
        *arguments, epochs=50, callback=lambda f: seen.append(f) or f.epoch == 4, **options
    )
    whole = xo.fit(*arguments, epochs=4, **options)
    assert int(done.epoch) == 4 and [f.losses.shape for f in seen] == [(1, 4)] * 4
    np.testing.assert_allclose(done.losses, whole.losses, rtol=1e-6)
    on = xo.fit(*arguments, epochs=2, resume=done, callback=lambda f: None, **options)
    assert int(on.epoch) == 6 and on.losses.shape == (2, 4)
    assert xo.fit(*arguments, epochs=0, callback=print, **options).losses.shape == (0, 4)
    with pytest.raises(TypeError, match="callback"):
        xo.fit(*arguments, callback=1)
    with pytest.raises(ValueError, match="callback"):
        xc.jit(lambda w: xo.fit(arguments[0], w, *arguments[2:], callback=print).params)(0.0)


def test_pictures_of_what_poisson_returns():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    for cells in (8, (8, 6), (4, 6, 8)):
        grid = pde.Grid(cells)
        u = pde.poisson(1.0, grid)
        assert u.shape != grid.shape
        for field in (u, pde.Laplacian(grid).full(u)):
            _, ax = pyplot.subplots()
            assert grid.plot(field, ax) is ax
            pyplot.close("all")
    with pytest.raises(ValueError, match=r"full\(u\)"):
        pde.Grid((8, 6)).plot(np.zeros((8, 6)))


def test_svd_by_numpys_names():
    a = xnp.arange(6.0).reshape(3, 2)
    u, s, vh = xc.linalg.svd(a, full_matrices=True)
    assert u.shape == (3, 3) and xc.linalg.svd(a, full_matrices=False)[0].shape == (3, 2)
    np.testing.assert_allclose(xc.linalg.svd(a, compute_uv=False), s, rtol=1e-5)


def test_lists_are_told_once_and_as_they_were_given():
    with pytest.raises(TypeError, match=r"\[\[0, 1, 1\]") as told:
        xc.linalg.solve_banded((1, 1), [[0, 1, 1], [4, 4, 4], [1, 1, 0]], [1, 2, 3])
    assert told.value.__context__ is None


class AskedByJax:
    """jax looks at values by these two names before it computes."""

    traced = staticmethod(lambda x: x.__jax_array__)
    like = staticmethod(lambda x: x.sharding._is_concrete)


def test_what_jax_is_told_of_our_arrays():
    with pytest.raises(TypeError, match=r"xcore\.optimize for optax"):
        xc.jit(AskedByJax.traced)(X)
    with pytest.raises(TypeError, match=r"xcore\.optimize for optax"):
        AskedByJax.like(X)


def test_fsolve_tells_what_is_no_solution():
    from xcore.scipy.optimize import fsolve

    with pytest.warns(RuntimeWarning, match="x is no solution"):
        fsolve(lambda x: x**2 + 1, 1.0)
    assert int(fsolve(lambda x: x**2 + 1, 1.0, full_output=True)[2]) == 5
    np.testing.assert_allclose(fsolve(lambda x: x**2 - 4, 1.0), [2.0], rtol=1e-6)
