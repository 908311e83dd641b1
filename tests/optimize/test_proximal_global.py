"""Proximal maps by their definition, sparse recovery, global searches."""

import numpy as np
import pytest
import scipy.optimize

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo

RNG = np.random.default_rng(6)
X = RNG.normal(size=5) * 2
NORMAL = RNG.normal(size=5)

# map, and the function it belongs to (infinite outside a set)
MAPS = {
    "l1": (xo.prox.l1(0.7), lambda y: 0.7 * np.abs(y).sum()),
    "l2": (xo.prox.l2(0.7), lambda y: 0.7 * np.sqrt(y @ y)),
    "squared l2": (xo.prox.squared_l2(0.7), lambda y: 0.35 * y @ y),
    "elastic net": (xo.prox.elastic_net(0.7, 0.4), lambda y: 0.7 * np.abs(y).sum() + 0.2 * y @ y),
}
SETS = {
    "nonnegative": (xo.prox.nonnegative(), lambda y: np.all(y >= 0)),
    "box": (xo.prox.box(-0.5, 1.0), lambda y: np.all((y >= -0.5) & (y <= 1))),
    "ball": (xo.prox.ball(1.3), lambda y: y @ y <= 1.69 + 1e-9),
    "simplex": (xo.prox.simplex(1.5), lambda y: np.all(y >= 0) and abs(y.sum() - 1.5) < 1e-9),
    "l1 ball": (xo.prox.l1_ball(1.5), lambda y: np.abs(y).sum() <= 1.5 + 1e-9),
    "half-space": (xo.prox.halfspace(NORMAL, -3.0), lambda y: NORMAL @ y <= -3 + 1e-9),
    "affine": (
        xo.prox.affine(xnp.asarray(NORMAL[None]), xnp.asarray([0.3])), lambda y: abs(NORMAL @ y - 0.3) < 1e-6,
    ),
    "cone": (xo.prox.second_order_cone(), lambda y: np.sqrt(y[1:] @ y[1:]) <= y[0] + 1e-9),
}  # fmt: skip


@pytest.mark.parametrize("name", MAPS)
def test_proximal_maps_are_least(name):
    prox, g = MAPS[name]
    y = np.asarray(prox(xnp.asarray(X), 0.6))
    value = lambda y: 0.6 * g(y) + 0.5 * (y - X) @ (y - X)
    around = [value(y + 1e-3 * RNG.normal(size=5)) for _ in range(50)]
    assert value(y) <= min(around)


@pytest.mark.parametrize("name", SETS)
def test_projections_are_nearest(name):
    """A projection onto a convex set: inside, itself where it is, and (x - y)·(z - y) ≤ 0 for z inside."""
    project, inside = SETS[name]
    y = np.asarray(project(xnp.asarray(X)))
    assert inside(y)
    np.testing.assert_allclose(project(xnp.asarray(y)), y, atol=1e-6)
    for _ in range(10):
        z = np.asarray(project(xnp.asarray(RNG.normal(size=5) * 3)))
        assert (X - y) @ (z - y) <= 1e-6


# of what they are told in units of x: all maps are homogeneous
OF_A_SCALE = {
    "l1": lambda s: xo.prox.l1(0.7 * s), "l2": lambda s: xo.prox.l2(0.7 * s), "ball": lambda s: xo.prox.ball(1.3 * s),
    "group lasso": lambda s: xo.prox.group_lasso(0.7 * s), "simplex": lambda s: xo.prox.simplex(1.5 * s),
    "l1 ball": lambda s: xo.prox.l1_ball(1.5 * s), "cone": lambda s: xo.prox.second_order_cone(),
    "half-space": lambda s: xo.prox.halfspace(NORMAL.astype("float32") * np.float32(1e30), s * np.float32(-3e30)),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_A_SCALE)
@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_maps_of_large_and_small_numbers(name, scale):
    if name == "half-space" and scale > 1:
        pytest.skip("its offset is beyond the range")
    s = np.float32(scale)
    x = X.astype("float32")
    found = np.asarray(OF_A_SCALE[name](s)(xnp.asarray(x * s), 0.6)) / s
    np.testing.assert_allclose(
        found, OF_A_SCALE[name](np.float32(1))(xnp.asarray(x), 0.6), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("name", ["simplex", "l1 ball", "cone", "group lasso"])
def test_maps_of_vectors_take_each_of_a_batch(name):
    prox, many = OF_A_SCALE[name](1.0), RNG.normal(size=(2, 3, 5))
    alone = [[prox(xnp.asarray(x)) for x in row] for row in many]
    np.testing.assert_allclose(prox(xnp.asarray(many)), alone, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", OF_A_SCALE)
def test_derivatives_at_zero_are_finite(name):
    slope = xc.grad(lambda x: xnp.sum(OF_A_SCALE[name](1.0)(x, 0.6) ** 2))(xnp.zeros(5))
    assert np.isfinite(slope).all()


def test_the_simplex_keeps_its_sum_for_large_numbers():
    for x in ([1e8, 1e8 - 0.25, 0.0], [-1e30, -1e30, 5.0]):
        np.testing.assert_allclose(
            np.sum(xo.prox.simplex()(xnp.asarray(x, "float32"))), 1, rtol=1e-6
        )


@pytest.mark.parametrize("name", ["nonnegative", "simplex", "second_order_cone"])
def test_an_order_needs_real_numbers(name):
    with pytest.raises(ValueError, match=f"prox.{name}.*real"):
        getattr(xo.prox, name)()(xnp.asarray([1.0 + 1j, 2.0]))


NEGATIVE = ["l1", "l2", "squared_l2", "group_lasso", "nuclear", "ball", "simplex", "l1_ball"]


@pytest.mark.parametrize("name", NEGATIVE)
def test_weights_and_radii_below_zero_are_refused(name):
    with pytest.raises(ValueError, match=f"prox.{name}: .* at least 0"):
        getattr(xo.prox, name)(-1.0)
    xc.jit(lambda w: getattr(xo.prox, name)(w)(xnp.ones((2, 2)), 1.0))(1.0)


@pytest.mark.parametrize("scale", [1.0, 1e25, 1e-25])
def test_affine_sets_of_all_scales_and_of_complex_numbers(scale):
    a = RNG.normal(size=(2, 5)) + 1j * RNG.normal(size=(2, 5))
    x, b = RNG.normal(size=5) + 1j * RNG.normal(size=5), np.array([1.0, 2j])
    y = np.asarray(
        xo.prox.affine(*((scale * z).astype("complex64") for z in (a, b)))(x.astype("complex64"))
    )
    np.testing.assert_allclose(a @ y, b, atol=1e-5)
    np.testing.assert_allclose(y, x - np.linalg.pinv(a) @ (a @ x - b), atol=1e-5)


def test_single_numbers_keep_their_shape():
    for prox in (xo.prox.l2(1.0), xo.prox.ball(1.0), xo.prox.l1(1.0)):
        assert prox(xnp.asarray(3.0), 1.0).shape == ()


@pytest.mark.parametrize("name", ["simplex", "l1_ball", "group_lasso", "second_order_cone"])
@pytest.mark.parametrize("x", [[1.0, 2.0], 3.0, np.zeros((2, 0))])
def test_maps_of_vectors_say_what_they_need(name, x):
    with pytest.raises(ValueError, match=f"prox.{name}: .*vector"):
        getattr(xo.prox, name)()(x)


def test_a_half_space_of_trees():
    project = xo.prox.halfspace({"a": xnp.ones(2), "b": 1.0}, 1.0)
    y = project({"a": xnp.asarray([1.0, 2.0]), "b": xnp.asarray(4.0)})
    np.testing.assert_allclose(y["a"], [-1, 0], atol=1e-6)
    np.testing.assert_allclose(y["b"], 2, atol=1e-6)


def test_matrices_and_rows():
    a = RNG.normal(size=(4, 3))
    s = np.linalg.svd(xo.prox.nuclear(0.5)(xnp.asarray(a), 1.0), compute_uv=False)
    np.testing.assert_allclose(
        s, np.maximum(np.linalg.svd(a, compute_uv=False) - 0.5, 0), atol=1e-12
    )
    rows = np.asarray(xo.prox.group_lasso(1.0)(xnp.asarray(a), 1.0))
    size = np.linalg.norm(a, axis=1, keepdims=True)
    np.testing.assert_allclose(rows, a * np.maximum(1 - 1 / size, 0), rtol=1e-12)


def test_sparse_recovery_satisfies_the_conditions_of_the_lasso():
    a = RNG.normal(size=(30, 60))
    truth = np.zeros(60)
    truth[[3, 17, 40]] = [2.0, -3.0, 1.5]
    b = xnp.asarray(a @ truth)
    found = xo.proximal_gradient(
        lambda x: 0.5 * xnp.sum((xnp.asarray(a) @ x - b) ** 2),
        xnp.zeros(60, np.float64),
        xo.prox.l1(0.5),
    )
    assert found.success
    x, g = np.asarray(found.x), a.T @ (a @ found.x - b)
    assert set(np.flatnonzero(np.abs(x) > 0.1)) == {3, 17, 40}
    np.testing.assert_allclose(g[x != 0], -0.5 * np.sign(x[x != 0]), atol=1e-4)
    assert np.abs(g).max() <= 0.5 + 1e-4


def test_derivative_of_a_lasso_with_respect_to_its_penalty():
    solve = lambda w: (
        xo.proximal_gradient(
            lambda x: 0.5 * xnp.sum((x - xnp.asarray([3.0, 0.2])) ** 2), xnp.zeros(2), xo.prox.l1(w)
        ).x
    )
    np.testing.assert_allclose(xc.jacfwd(solve)(1.0), [-1.0, 0.0], atol=1e-5)


def rastrigin(x):
    return 10 * x.shape[0] + xnp.sum(x**2 - 10 * xnp.cos(2 * np.pi * x))


def test_evolution_finds_the_least_of_many_minima():
    found = xo.differential_evolution(
        rastrigin, (-5.12 * np.ones(3), 5.12 * np.ones(3)), key=xc.random.key(1)
    )
    assert found.success
    np.testing.assert_allclose(found.x, 0, atol=1e-6)
    assert found.stats["population"].shape == (45, 3)
    assert np.all(np.abs(found.stats["population"]) <= 5.12)


def test_multistart_keeps_the_best_lane():
    f = lambda x: xnp.sum((x**2 - 1) ** 2 + 0.3 * x)
    starts = xnp.asarray(RNG.uniform(-2, 2, size=(20, 2)))
    found = xo.multistart(f, starts)
    least = scipy.optimize.brute(lambda x: np.sum((x**2 - 1) ** 2 + 0.3 * x), [(-2, 2)] * 2, Ns=41)
    np.testing.assert_allclose(found.x, least, atol=1e-3)
    assert float(found.fun) == np.min(found.stats["all"].fun)


def test_errors():
    with pytest.raises(ValueError, match="finite"):
        xo.differential_evolution(
            rastrigin, (np.zeros(2), np.inf * np.ones(2)), key=xc.random.key(0)
        )
    with pytest.raises(TypeError, match="prox"):
        xo.proximal_gradient(rastrigin, xnp.zeros(2), 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_population_gathers_whatever_is_added_to_its_values(dtype):
    """Relative to a mean of 1e6 all values had gathered from the start; below all numbers there is no minimum."""

    @xc.jit
    def solve(key, offset):
        f = lambda x: offset + xnp.sum(100 * (x - 0.3) ** 2)
        box = (-5 * xnp.ones(2, dtype), 5 * xnp.ones(2, dtype))
        return xo.differential_evolution(f, box, key=key, polish=False)

    for seed in range(3):
        for offset in np.array([0, 1e3, 1e6 if dtype == np.float64 else 1e4, -1e4], dtype):
            found = solve(xc.random.key(seed), offset)
            assert found.success and np.max(np.abs(found.x - 0.3)) < 1, (seed, offset, found.x)
    hole = xo.differential_evolution(
        lambda x: xnp.log(xnp.sum(xnp.abs(x))), (-np.ones(2, dtype), np.ones(2, dtype)), key=xc.random.key(0), x0=np.zeros(2, dtype)
    )  # fmt: skip
    assert hole.fun == -np.inf and xo.Status(int(hole.status)) is xo.Status.unbounded
