"""distrax: distributions and bijectors."""

import distrax
import jax
import jax.numpy as jnp

KEY = jax.random.PRNGKey(0)


def first_example():
    d = distrax.MultivariateNormalDiag(jnp.asarray([0.5, -1.0]), jnp.asarray([1.0, 2.0]))
    x = d.sample(seed=KEY, sample_shape=(3,))
    return x, d.log_prob(x), d.entropy()


def scalar_distributions():
    made = [
        distrax.Normal(0.3, 1.2),
        distrax.Laplace(0.0, 2.0),
        distrax.Logistic(0.1, 0.8),
        distrax.Uniform(-1.0, 3.0),
        distrax.Gumbel(0.0, 1.0),
        distrax.LogStddevNormal(0.1, 0.2),
    ]
    x = jnp.asarray([0.2, 0.9])
    return [
        (d.log_prob(x), d.mean(), d.stddev(), d.sample(seed=KEY, sample_shape=(2,))) for d in made
    ]


def discrete():
    c = distrax.Categorical(logits=jnp.asarray([0.1, 1.0, -0.5]))
    b = distrax.Bernoulli(probs=jnp.asarray([0.2, 0.7]))
    return (
        c.log_prob(1),
        c.entropy(),
        c.probs,
        b.log_prob(jnp.asarray([0, 1])),
        c.sample(seed=KEY, sample_shape=(6,)),
        b.mode(),
    )


def bijectors():
    x = jnp.asarray([0.2, -0.7])
    made = [
        distrax.Tanh(),
        distrax.Sigmoid(),
        distrax.ScalarAffine(1.0, 2.0),
        distrax.Chain([distrax.Tanh(), distrax.ScalarAffine(0.1, 0.5)]),
    ]
    return [(b.forward_and_log_det(x), b.inverse(b.forward(x))) for b in made]


def by_lambda_inverted():
    b = distrax.Lambda(lambda x: 2.0 * jnp.tanh(x) + 1.0)
    x = jnp.asarray([0.3, -0.2])
    y = b.forward(x)
    return y, b.inverse(y), b.forward_log_det_jacobian(x)


def transformed():
    d = distrax.Transformed(distrax.Normal(0.0, 1.0), distrax.Lambda(jnp.exp))
    x, lp = d.sample_and_log_prob(seed=KEY, sample_shape=(4,))
    return x, lp, d.log_prob(jnp.asarray(1.3))


def flows():
    cond = lambda x: jnp.stack([jnp.sin(x), 0.1 * x], -1)
    layer = distrax.MaskedCoupling(
        jnp.asarray([True, False]),
        lambda x: jnp.stack([jnp.sin(x), 0.1 * x], -1),
        lambda p: distrax.ScalarAffine(p[..., 0], log_scale=p[..., 1]),
    )
    spline = distrax.RationalQuadraticSpline(jnp.linspace(-0.5, 0.5, 13), -2.0, 2.0)
    x = jnp.asarray([0.4, -0.6])
    return layer.forward_and_log_det(x), spline.forward_and_log_det(x), spline.inverse(x), cond(x)


def mixtures_and_independent():
    m = distrax.MixtureSameFamily(
        distrax.Categorical(probs=jnp.asarray([0.3, 0.7])),
        distrax.Normal(jnp.asarray([-1.0, 1.0]), jnp.ones(2)),
    )
    i = distrax.Independent(distrax.Normal(jnp.zeros(3), 1.0), 1)
    return (
        m.log_prob(0.2),
        m.mean(),
        m.sample(seed=KEY, sample_shape=(3,)),
        i.log_prob(jnp.ones(3)),
        i.kl_divergence(i),
    )


def hidden_markov():
    hmm = distrax.HMM(
        distrax.Categorical(probs=jnp.asarray([0.6, 0.4])),
        distrax.Categorical(probs=jnp.asarray([[0.7, 0.3], [0.2, 0.8]])),
        distrax.Normal(jnp.asarray([-1.0, 1.0]), jnp.ones(2)),
    )
    obs = jnp.asarray([0.3, -0.5, 1.2, 0.8])
    return hmm.forward(obs), hmm.viterbi(obs), hmm.forward_backward(obs)


def gradients():
    f = lambda m, s: distrax.Normal(m, s).kl_divergence(distrax.Normal(0.0, 1.0))
    g = lambda s: distrax.Normal(0.0, s).sample(seed=KEY)
    return jax.grad(f, (0, 1))(0.5, 2.0), jax.grad(g)(1.5)
