"""optax: optimisers, schedules, losses."""

import jax
import jax.numpy as jnp
import optax


def _rosenbrock(x):
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def _run(tx, steps=20):
    x = jnp.asarray([0.5, -0.3, 0.8])
    state = tx.init(x)

    @jax.jit
    def step(x, state):
        value, g = jax.value_and_grad(_rosenbrock)(x)
        updates, state = tx.update(g, state, x)
        return optax.apply_updates(x, updates), state, value

    for _ in range(steps):
        x, state, value = step(x, state)
    return x, value


def first_example():
    params = {"w": jnp.ones((2,)), "b": jnp.zeros(())}
    xs = jnp.asarray([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]])
    ys = jnp.asarray([2.0, 1.0, 0.7])

    def loss(p):
        return jnp.mean(optax.l2_loss(xs @ p["w"] + p["b"], ys))

    tx = optax.adam(1e-2)
    state = tx.init(params)
    for _ in range(10):
        updates, state = tx.update(jax.grad(loss)(params), state)
        params = optax.apply_updates(params, updates)
    return params, loss(params)


def sgd_with_momentum():
    return _run(optax.sgd(1e-3, momentum=0.9, nesterov=True))


def adamw_with_schedule_and_clipping():
    rate = optax.warmup_cosine_decay_schedule(0.0, 1e-1, 5, 20)
    return _run(optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate, weight_decay=1e-3)))


def factored_and_sign_methods():
    return [_run(tx, 8) for tx in (optax.adafactor(1e-2), optax.lion(1e-2), optax.rmsprop(1e-2))]


def lbfgs_with_linesearch():
    tx = optax.lbfgs()
    x = jnp.asarray([0.5, -0.3])
    state = tx.init(x)
    step = optax.value_and_grad_from_state(_rosenbrock)
    for _ in range(6):
        value, g = step(x, state=state)
        updates, state = tx.update(g, state, x, value=value, grad=g, value_fn=_rosenbrock)
        x = optax.apply_updates(x, updates)
    return x


def schedules():
    steps = jnp.arange(0, 30, 3)
    made = [
        optax.exponential_decay(1.0, 10, 0.5),
        optax.polynomial_schedule(1.0, 0.1, 2, 20),
        optax.join_schedules(
            [optax.constant_schedule(0.3), optax.linear_schedule(1.0, 0.0, 10)], [10]
        ),
        optax.piecewise_constant_schedule(1.0, {5: 0.1, 15: 0.5}),
        optax.cosine_onecycle_schedule(30, 1.0),
    ]
    return [jax.vmap(s)(steps) for s in made]


def losses():
    logits = jnp.asarray([[1.0, -0.5, 0.2], [0.1, 2.0, -1.0]])
    labels = jnp.asarray([2, 1])
    return (
        optax.softmax_cross_entropy_with_integer_labels(logits, labels),
        optax.sigmoid_binary_cross_entropy(logits, jnp.eye(3)[labels]),
        optax.huber_loss(logits, 0.5),
        optax.cosine_similarity(logits[0], logits[1]),
        optax.ctc_loss(
            jnp.zeros((1, 4, 3)), jnp.zeros((1, 4)), jnp.asarray([[1, 2]]), jnp.zeros((1, 2))
        ),
    )


def masks_and_parts():
    params = {"a": jnp.ones(2), "b": jnp.ones(3)}
    tx = optax.multi_transform(
        {"x": optax.adam(0.1), "y": optax.set_to_zero()}, {"a": "x", "b": "y"}
    )
    tx = optax.MultiSteps(tx, every_k_schedule=2)
    state = tx.init(params)
    for k in range(4):
        g = jax.tree.map(lambda p, k=k: (k + 1.0) * p, params)
        updates, state = tx.update(g, state, params)
        params = optax.apply_updates(params, updates)
    return params


def inject_hyperparams():
    tx = optax.inject_hyperparams(optax.adam)(learning_rate=optax.linear_schedule(0.1, 0.0, 5))
    x = jnp.ones(2)
    state = tx.init(x)
    for _ in range(5):
        updates, state = tx.update(x, state, x)
        x = optax.apply_updates(x, updates)
    return x, state.hyperparams["learning_rate"]


def ema_and_lookahead():
    tx = optax.lookahead(optax.sgd(0.1), sync_period=3, slow_step_size=0.5)
    params = optax.LookaheadParams.init_synced(jnp.asarray([1.0, 2.0]))
    state = tx.init(params)
    for _ in range(7):
        updates, state = tx.update(params.fast, state, params)
        params = optax.apply_updates(params, updates)
    return params.fast, params.slow
