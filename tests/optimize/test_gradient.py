"""Optimizers against Optax, step by step, and against their formulas in NumPy."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo

STEPS = 12
RNG = np.random.default_rng(5)
PARAMS = {
    "w": RNG.normal(size=(4, 3)).astype("f"),
    "b": (RNG.normal(size=3).astype("f"), np.float32(0.5)),
}
GRADS = [
    {
        "w": RNG.normal(size=(4, 3)).astype("f"),
        "b": (RNG.normal(size=3).astype("f"), np.float32(RNG.normal())),
    }
    for _ in range(STEPS)
]
RATE = {"init_value": 0.1, "end_value": 0.01, "transition_steps": 6}
MASK = {"w": True, "b": False}

# what, made from the names of either library
CASES = {
    "sgd": lambda o: o.sgd(0.1),
    "sgd with a schedule": lambda o: o.sgd(o.linear_schedule(**RATE)),
    "momentum": lambda o: o.sgd(0.1, momentum=0.9),
    "nesterov": lambda o: o.sgd(0.1, momentum=0.9, nesterov=True),
    "l2": lambda o: o.chain(o.add_decayed_weights(0.1), o.sgd(0.1)),
    "adagrad": lambda o: o.adagrad(0.1),
    "rmsprop": lambda o: o.rmsprop(0.1),
    "rmsprop centred": lambda o: o.rmsprop(0.1, centered=True, momentum=0.5, initial_scale=0.3),
    "rmsprop debiased": lambda o: o.rmsprop(0.1, bias_correction=True, eps_in_sqrt=False),
    "adadelta": lambda o: o.adadelta(0.7, weight_decay=0.1),
    "adam": lambda o: o.adam(0.1),
    "adam with a schedule": lambda o: o.adam(o.cosine_decay_schedule(0.1, 10), eps_root=1e-5),
    "adamw": lambda o: o.adamw(0.1, weight_decay=0.1, mask=MASK),
    "nadam": lambda o: o.nadam(0.1),
    "nadamw": lambda o: o.nadamw(0.1),
    "amsgrad": lambda o: o.amsgrad(0.1),
    "adamax": lambda o: o.adamax(0.1),
    "radam": lambda o: o.radam(0.1),
    "radam nesterov": lambda o: o.radam(0.1, b2=0.9, nesterov=True),
    "lion": lambda o: o.lion(0.1),
    "lamb": lambda o: o.lamb(0.1, weight_decay=0.1),
    "lars": lambda o: o.lars(0.1, weight_decay=0.1),
    "adabelief": lambda o: o.adabelief(0.1),
    "yogi": lambda o: o.yogi(0.1),
    "sign": lambda o: o.sign_sgd(0.1),
    "adafactor": lambda o: o.adafactor(0.1),
    "adafactor factored": lambda o: o.adafactor(
        0.1, min_dim_size_to_factor=2, momentum=0.9, weight_decay_rate=0.01
    ),
    "clip": lambda o: o.chain(o.clip(0.5), o.sgd(0.1)),
    "clip the norm": lambda o: o.chain(o.clip_by_global_norm(1.0), o.adam(0.1)),
    "clip blocks": lambda o: o.chain(o.clip_by_block_rms(0.3), o.sgd(0.1)),
    "clip units": lambda o: o.chain(o.adaptive_grad_clip(0.1), o.sgd(0.1)),
    "centralize": lambda o: o.chain(o.centralize(), o.sgd(0.1)),
    "ema": lambda o: o.chain(o.ema(0.9), o.scale(-0.1)),
    "ema biased": lambda o: o.chain(o.ema(0.9, debias=False), o.scale(-0.1)),
    "masked": lambda o: o.masked(o.adam(0.1), MASK),
    "partition": lambda o: o.multi_transform({1: o.adam(0.1), 2: o.set_to_zero()}, {"w": 1, "b": 2}),
    "if finite": lambda o: o.apply_if_finite(o.adam(0.1), 2),
    "accumulated": lambda o: o.MultiSteps(o.adam(0.1), 3).gradient_transformation(),
    "accumulated sum": lambda o: o.MultiSteps(
        o.sgd(0.1), lambda n: 1 + n, use_grad_mean=False
    ).gradient_transformation(),
    "nonnegative": lambda o: o.chain(o.sgd(0.3), o.keep_params_nonnegative()),
    "named": lambda o: o.named_chain(("a", o.scale_by_adam()), ("b", o.scale(-0.1))),
    "injected": lambda o: o.inject_hyperparams(o.adam)(o.linear_schedule(**RATE), b1=0.8),
}  # fmt: skip


def trajectory(lib, apply_updates, tree_map, make, jit, grads=GRADS, params=PARAMS):
    opt = make(lib)
    update = jit(lambda g, s, p: opt.update(g, s, p))
    state, found = opt.init(params), []
    for g in grads:
        updates, state = update(g, state, params)
        params = apply_updates(params, updates)
        found.append(tree_map(np.asarray, params))
    return found


def ours(make, **kwargs):
    params = xc.tree.map(xnp.asarray, kwargs.pop("params", PARAMS))
    return trajectory(xo, xo.apply_updates, xc.tree.map, make, xc.jit, params=params, **kwargs)


def leaves(history):
    return [np.asarray(x) for x in xc.tree.leaves(history)]


@pytest.mark.parametrize("name", CASES)
def test_steps_are_those_of_optax(name):
    optax = pytest.importorskip("optax")
    import jax

    params = jax.tree.map(jax.numpy.asarray, PARAMS)
    theirs = trajectory(
        optax, optax.apply_updates, jax.tree.map, CASES[name], jax.jit, params=params
    )
    for a, b in zip(leaves(ours(CASES[name])), leaves(theirs), strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        # a few roundings in each of a dozen steps
        np.testing.assert_allclose(a, b, rtol=5e-6, atol=2e-6)


SCHEDULES = {
    "constant": lambda o: o.constant_schedule(0.3),
    "polynomial": lambda o: o.polynomial_schedule(1.0, 0.1, 2, 20, 5),
    "linear": lambda o: o.linear_schedule(0.0, 1.0, 20),
    "steps": lambda o: o.piecewise_constant_schedule(1.0, {5: 0.5, 12: 0.1}),
    "lines": lambda o: o.piecewise_interpolate_schedule("linear", 1.0, {5: 0.5, 12: 3.0}),
    "waves": lambda o: o.piecewise_interpolate_schedule("cosine", 1.0, {5: 0.5, 12: 3.0}),
    "cosine": lambda o: o.cosine_decay_schedule(1.0, 20, alpha=0.1, exponent=1.5),
    "exponential": lambda o: o.exponential_decay(1.0, 7, 0.5, 3, end_value=0.1),
    "staircase": lambda o: o.exponential_decay(1.0, 7, 0.5, staircase=True),
    "warm-up": lambda o: o.warmup_constant_schedule(0.1, 1.0, 10),
    "warm-up, cosine": lambda o: o.warmup_cosine_decay_schedule(0.1, 1.0, 5, 25, 0.01),
    "warm-up, exponential": lambda o: o.warmup_exponential_decay_schedule(0.1, 1.0, 5, 10, 0.5),
    "restarts": lambda o: o.sgdr_schedule(
        [{"init_value": 0.0, "peak_value": p, "warmup_steps": 2, "decay_steps": 10} for p in (1.0, 0.5, 0.2)]
    ),
    "one cycle, lines": lambda o: o.linear_onecycle_schedule(25, 1.0),
    "one cycle, waves": lambda o: o.cosine_onecycle_schedule(25, 1.0),
    "joined": lambda o: o.join_schedules([o.constant_schedule(2.0), o.linear_schedule(1.0, 0.0, 9)], [4]),
}  # fmt: skip


def test_schedules_are_those_of_optax():
    optax = pytest.importorskip("optax")
    import jax

    def values(lib, array, library):
        """Of all schedules at the steps from 0 to 31, from one program."""
        made = {name: make(library) for name, make in SCHEDULES.items()}
        at = lambda f: lib.vmap(lambda i: array(f(i)) * 1.0)
        return lib.jit(lambda n: {name: at(f)(n) for name, f in made.items()})(np.arange(32))

    ours, theirs = values(xc, xnp.asarray, xo), values(jax, jax.numpy.asarray, optax)
    for name in SCHEDULES:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=2e-5, atol=3e-7, err_msg=name)


# Formulas, without a peer


def numpy_adam(grads, x, rate, b1=0.9, b2=0.999, eps=1e-8, decay=0.0):
    m = v = np.zeros_like(x)
    for n, g in enumerate(grads, 1):
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        x = x - rate * (m / (1 - b1**n) / (np.sqrt(v / (1 - b2**n)) + eps) + decay * x)
    return x


def numpy_momentum(grads, x, rate, momentum, nesterov):
    t = 0
    for g in grads:
        t = g + momentum * t
        x = x - rate * (g + momentum * t if nesterov else t)
    return x


def numpy_amsgrad(grads, x, rate):
    m = v = most = np.zeros_like(x)
    for n, g in enumerate(grads, 1):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        most = np.maximum(most, v / (1 - 0.999**n))
        x = x - rate * (m / (1 - 0.9**n)) / (np.sqrt(most) + 1e-8)
    return x


FORMULAS = {
    "sgd with l2": (
        lambda: xo.chain(xo.add_decayed_weights(0.3), xo.scale(-0.1)),
        lambda gs, x: [x := x - 0.1 * (g + 0.3 * x) for g in gs][-1],
    ),
    "momentum": (lambda: xo.sgd(0.1, 0.9), lambda gs, x: numpy_momentum(gs, x, 0.1, 0.9, False)),
    "nesterov": (
        lambda: xo.sgd(0.1, 0.9, nesterov=True), lambda gs, x: numpy_momentum(gs, x, 0.1, 0.9, True)
    ),
    "adam": (lambda: xo.adam(0.1), lambda gs, x: numpy_adam(gs, x, 0.1)),
    "adamw": (
        lambda: xo.adamw(0.1, weight_decay=0.2), lambda gs, x: numpy_adam(gs, x, 0.1, decay=0.2)
    ),
    "amsgrad": (lambda: xo.amsgrad(0.1), lambda gs, x: numpy_amsgrad(gs, x, 0.1)),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMULAS)
def test_steps_are_the_formula_in_64_bits(name):
    make, formula = FORMULAS[name]
    grads = RNG.normal(size=(STEPS, 7))
    start = RNG.normal(size=7)
    found = ours(lambda _: make(), params=xnp.asarray(start), grads=[xnp.asarray(g) for g in grads])
    assert np.asarray(found[-1]).dtype == np.float64
    np.testing.assert_allclose(found[-1], formula(list(grads), start), rtol=1e-13, atol=1e-13)


def test_complex_parameters_move_against_the_conjugate_gradient():
    target = xnp.asarray(np.array([1 + 2j, -0.5j], np.complex64))
    loss = lambda z: xnp.sum(xnp.abs(z - target) ** 2)
    opt = xo.adam(0.1)

    @xc.jit
    def train(z):
        def step(i, state):
            z, s = state
            u, s = opt.update(xnp.conj(xc.grad(loss)(z)), s)
            return xo.apply_updates(z, u), s

        return xc.lax.fori_loop(0, 300, step, (z, opt.init(z)))[0]

    np.testing.assert_allclose(train(xnp.zeros(2, np.complex64)), target, atol=1e-3)


def test_lookahead_pulls_fast_parameters_back():
    opt = xo.lookahead(xo.sgd(1.0), 3, 0.25)
    params = xo.LookaheadParams.init_synced(xnp.asarray(8.0))
    state, fast, slow = opt.init(params), 8.0, 8.0
    for n in range(7):
        u, state = opt.update(xnp.asarray(1.0), state, params)
        params = xo.apply_updates(params, u)
        fast -= 1.0
        if n % 3 == 2:
            slow = fast = slow + 0.25 * (fast - slow)
        assert (float(params.fast), float(params.slow)) == pytest.approx((fast, slow))


def test_not_finite_gradients_change_nothing_until_there_are_too_many():
    opt = xo.apply_if_finite(xo.adam(0.1), 2)
    x = xnp.asarray([1.0, 2.0])
    state = opt.init(x)
    bad = xnp.asarray([1.0, np.nan])
    for count in (1, 2):
        u, state = opt.update(bad, state, x)
        assert not np.any(u) and int(state.notfinite_count) == count
    u, state = opt.update(xnp.ones(2), state, x)
    assert np.all(np.isfinite(u)) and np.all(np.asarray(u) < 0) and int(state.notfinite_count) == 0
    for _ in range(3):
        u, state = opt.update(bad, state, x)
    assert np.isnan(np.asarray(u)).any() and int(state.total_notfinite) == 5


def test_accumulated_batches_are_one_large_batch():
    x, gs = xnp.asarray([1.0, -1.0]), RNG.normal(size=(6, 2)).astype("f")
    small = ours(
        lambda _: xo.MultiSteps(xo.adam(0.1), 3).gradient_transformation(), params=x, grads=list(gs)
    )
    large = ours(lambda _: xo.adam(0.1), params=x, grads=[gs[:3].mean(0), gs[3:].mean(0)])
    np.testing.assert_allclose(small[-1], large[-1], rtol=1e-6)
    np.testing.assert_array_equal(small[0], x)


def test_noise_has_the_variance_that_was_asked_for():
    opt = xo.add_noise(0.04, 0.5, xc.random.key(1))
    g = xnp.zeros(20000)
    state = opt.init(g)
    for n in range(1, 4):
        u, state = opt.update(g, state)
        assert float(u.std()) == pytest.approx(0.2 / n**0.25, rel=0.03)


def test_hyperparameters_can_be_changed_between_steps():
    opt = xo.inject_hyperparams(xo.sgd)(learning_rate=0.1)
    state = opt.init(1.0)
    state = state._replace(hyperparams=dict(state.hyperparams, learning_rate=xnp.asarray(0.5)))
    assert float(opt.update(xnp.asarray(2.0), state)[0]) == -1.0


ERRORS = {
    "a chain of something else": (TypeError, "must be a gradient transformation", lambda: xo.chain(3)),
    "parameters are missing": (
        TypeError, "call update", lambda: xo.adamw(0.1).update(1.0, xo.adamw(0.1).init(1.0)),
    ),
    "an unknown label": (
        ValueError, "no transformation for", lambda: xo.partition({"a": xo.sgd(1.0)}, "b").init(1.0),
    ),
    "fewer boundaries": (
        ValueError, "one boundary less", lambda: xo.join_schedules([xo.constant_schedule(1.0)], [3]),
    ),
    "another chain's state": (
        ValueError, "was given a state of", lambda: xo.adam(0.1).update(1.0, (), None),
    ),
    "no decay": (ValueError, "must be positive", lambda: xo.cosine_decay_schedule(1.0, 0)),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_what_to_do(name):
    kind, words, call = ERRORS[name]
    with pytest.raises(kind, match=words):
        call()
