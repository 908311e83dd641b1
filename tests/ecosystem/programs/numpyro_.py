"""numpyro: models, samplers, variational inference, distributions."""

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.handlers import condition, seed, substitute, trace
from numpyro.infer import HMC, MCMC, NUTS, SVI, Predictive, Trace_ELBO, autoguide, log_likelihood

Y = jnp.asarray([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
SIGMA = jnp.asarray([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def _eight_schools(sigma, y=None):
    mu = numpyro.sample("mu", dist.Normal(0, 5))
    tau = numpyro.sample("tau", dist.HalfCauchy(5))
    with numpyro.plate("J", 8):
        theta = numpyro.sample("theta", dist.Normal(0, 1))
        numpyro.sample("obs", dist.Normal(mu + tau * theta, sigma), obs=y)


def first_example():
    mcmc = MCMC(NUTS(_eight_schools), num_warmup=4, num_samples=3, progress_bar=False)
    mcmc.run(jax.random.PRNGKey(0), SIGMA, Y)
    return {k: v[:3] for k, v in mcmc.get_samples().items()}


def hamiltonian_chains():
    mcmc = MCMC(
        HMC(
            _eight_schools,
            step_size=0.1,
            num_steps=5,
            adapt_step_size=False,
            adapt_mass_matrix=False,
        ),
        num_warmup=2,
        num_samples=10,
        num_chains=2,
        chain_method="vectorized",
        progress_bar=False,
    )
    mcmc.run(jax.random.PRNGKey(1), SIGMA, Y)
    return mcmc.get_samples(group_by_chain=True)["mu"]


def variational():
    def model(x):
        scale = numpyro.sample("scale", dist.LogNormal(0.0, 1.0))
        numpyro.sample("obs", dist.Normal(0.5, scale), obs=x)

    svi = SVI(model, autoguide.AutoNormal(model), numpyro.optim.Adam(0.05), Trace_ELBO())
    out = svi.run(jax.random.PRNGKey(0), 30, jnp.asarray([0.1, 2.0, -1.0]), progress_bar=False)
    return out.params, out.losses


def log_densities():
    x = jnp.asarray([0.2, 0.7])
    made = [
        dist.Beta(2.0, 3.0),
        dist.Gamma(2.0, 1.5),
        dist.StudentT(3.0),
        dist.LogNormal(0.0, 1.0),
        dist.Cauchy(),
        dist.Laplace(0.5),
        dist.Weibull(1.0, 2.0),
        dist.TruncatedNormal(0.0, 1.0, low=0.0),
        dist.Gumbel(),
        dist.VonMises(0.1, 2.0),
        dist.Kumaraswamy(2.0, 3.0),
        dist.Logistic(0.0, 1.0),
    ]
    counts = [
        dist.Poisson(2.0),
        dist.BinomialProbs(0.3, 5),
        dist.NegativeBinomial2(2.0, 3.0),
        dist.ZeroInflatedPoisson(0.2, 2.0),
    ]
    return [d.log_prob(x) for d in made], [d.log_prob(jnp.asarray([0, 2])) for d in counts]


def multivariate():
    cov = jnp.asarray([[1.0, 0.3], [0.3, 2.0]])
    x = jnp.asarray([0.5, -0.2])
    mvn = dist.MultivariateNormal(jnp.zeros(2), covariance_matrix=cov)
    lkj = dist.LKJCholesky(3, 1.5)
    return (
        mvn.log_prob(x),
        mvn.sample(jax.random.PRNGKey(0), (3,)),
        dist.Dirichlet(jnp.ones(3) * 2).log_prob(jnp.ones(3) / 3),
        dist.Categorical(logits=jnp.arange(3.0)).log_prob(1),
        lkj.log_prob(jnp.eye(3)),
        dist.Multinomial(4, jnp.ones(3) / 3).log_prob(jnp.asarray([1, 2, 1])),
    )


def handlers():
    def model():
        x = numpyro.sample("x", dist.Normal(0, 1))
        return numpyro.deterministic("y", 2 * x)

    t = trace(seed(model, 0)).get_trace()
    c = trace(seed(condition(model, {"x": jnp.asarray(0.5)}), 0)).get_trace()
    s = trace(seed(substitute(model, {"x": jnp.asarray(1.5)}), 0)).get_trace()
    return t["x"]["value"], t["y"]["value"], c["y"]["value"], s["y"]["value"]


def predictive_and_likelihood():
    samples = {
        "mu": jnp.asarray([4.0, 5.0]),
        "tau": jnp.asarray([1.0, 2.0]),
        "theta": jnp.zeros((2, 8)),
    }
    pred = Predictive(_eight_schools, samples)(jax.random.PRNGKey(2), SIGMA)
    return pred["obs"], log_likelihood(_eight_schools, samples, SIGMA, Y)["obs"]


def transformed():
    c = dist.constraints
    t = dist.transforms
    d = dist.TransformedDistribution(
        dist.Normal(0, 1), [t.AffineTransform(1.0, 2.0), t.ExpTransform()]
    )
    stick = t.StickBreakingTransform()
    x = jnp.asarray([0.2, -0.4])
    return (
        d.log_prob(1.5),
        stick(x),
        stick.log_abs_det_jacobian(x, stick(x)),
        t.CorrCholeskyTransform()(jnp.asarray([0.1, 0.2, 0.3])),
        dist.biject_to(c.interval(0.0, 2.0))(x),
        t.OrderedTransform()(x),
    )


def discrete_and_subsampled():
    def model(data):
        w = numpyro.sample("w", dist.Dirichlet(jnp.ones(2)))
        with numpyro.plate("n", len(data)):
            z = numpyro.sample("z", dist.Categorical(w), infer={"enumerate": "parallel"})
            numpyro.sample("x", dist.Normal(jnp.asarray([-1.0, 1.0])[z], 1.0), obs=data)

    from numpyro.infer.util import log_density

    out, _ = log_density(
        lambda d: _eight_schools(SIGMA, d), (Y,), {}, {"mu": 1.0, "tau": 2.0, "theta": jnp.zeros(8)}
    )
    provenance = numpyro.infer.inspect.get_dependencies(_eight_schools, (SIGMA, Y))
    return out, jnp.asarray(len(provenance["prior_dependencies"]))


def diagnostics():
    x = jax.random.normal(jax.random.PRNGKey(0), (2, 40))
    d = numpyro.diagnostics
    return d.effective_sample_size(x), d.gelman_rubin(x), d.hpdi(x.reshape(-1), 0.9)
