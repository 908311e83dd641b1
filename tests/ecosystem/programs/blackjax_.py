"""blackjax: samplers as functions of keys and states."""

import blackjax
import jax
import jax.numpy as jnp

KEY = jax.random.PRNGKey(0)


def _logdensity(x):
    return -0.5 * jnp.sum((x - jnp.asarray([1.0, -0.5])) ** 2 / jnp.asarray([1.0, 0.25]))


def _loop(kernel, state, n=20, key=KEY):
    def step(state, k):
        state, info = kernel(k, state)
        return state, (
            state.position,
            info.acceptance_rate if hasattr(info, "acceptance_rate") else 0.0,
        )

    return jax.lax.scan(step, state, jax.random.split(key, n))[1]


def first_example():
    nuts = blackjax.nuts(_logdensity, 0.3, jnp.ones(2))
    return _loop(jax.jit(nuts.step), nuts.init(jnp.zeros(2)))


def hamiltonian():
    hmc = blackjax.hmc(_logdensity, 0.2, jnp.ones(2), 5)
    return _loop(hmc.step, hmc.init(jnp.zeros(2)))


def random_walks():
    rw = blackjax.additive_step_random_walk(
        _logdensity, blackjax.mcmc.random_walk.normal(jnp.ones(2) * 0.3)
    )
    mala = blackjax.mala(_logdensity, 0.1)
    return _loop(rw.step, rw.init(jnp.zeros(2))), _loop(mala.step, mala.init(jnp.zeros(2)))


def window_adaptation():
    warm = blackjax.window_adaptation(blackjax.nuts, _logdensity)
    (state, params), _ = warm.run(KEY, jnp.zeros(2), num_steps=60)
    return params["step_size"], params["inverse_mass_matrix"], state.position


def elliptical_slices():
    es = blackjax.elliptical_slice(lambda x: _logdensity(x), mean=jnp.zeros(2), cov=jnp.eye(2))
    state = es.init(jnp.zeros(2))
    positions = []
    for k in jax.random.split(KEY, 5):
        state, _ = es.step(k, state)
        positions.append(state.position)
    return jnp.stack(positions)


def tempered_smc():
    kernel = blackjax.hmc.build_kernel()
    smc = blackjax.adaptive_tempered_smc(
        lambda x: -0.5 * jnp.sum(x**2),
        _logdensity,
        kernel,
        blackjax.hmc.init,
        {
            "step_size": jnp.full(1, 0.2),
            "inverse_mass_matrix": jnp.ones((1, 2)),
            "num_integration_steps": jnp.full(1, 3),
        },
        blackjax.smc.resampling.systematic,
        0.5,
        num_mcmc_steps=2,
    )
    state = smc.init(jax.random.normal(KEY, (16, 2)))
    state, _ = jax.jit(smc.step)(jax.random.PRNGKey(3), state)
    return state.tempering_param if hasattr(state, "tempering_param") else state.lmbda


def stochastic_gradients():
    sgld = blackjax.sgld(lambda x, batch: jax.grad(lambda x: -jnp.mean((x - batch) ** 2))(x))
    x = jnp.zeros(2)
    for k in jax.random.split(KEY, 5):
        x = sgld.step(k, x, jnp.ones(2), 1e-2)
    return x


def variational():
    import optax

    mf = blackjax.meanfield_vi(_logdensity, optax.adam(0.1), 10)
    state = mf.init(jnp.zeros(2))
    for k in jax.random.split(KEY, 8):
        state, info = jax.jit(mf.step)(k, state)
    return state.mu, state.rho


def many_chains():
    nuts = blackjax.nuts(_logdensity, 0.3, jnp.ones(2))
    states = jax.vmap(nuts.init)(jnp.asarray([[0.0, 0.0], [2.0, 1.0], [-1.0, 3.0]]))
    step = jax.jit(jax.vmap(nuts.step))
    for k in jax.random.split(KEY, 4):
        states, _ = step(jax.random.split(k, 3), states)
    return states.position


def diagnostics():
    chains = jax.random.normal(KEY, (2, 50, 3))
    return blackjax.diagnostics.effective_sample_size(
        chains
    ), blackjax.diagnostics.potential_scale_reduction(chains)
