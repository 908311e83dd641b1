"""How much does coaching help, if eight schools report eight different effects?

The classical hierarchical model, sampled with numpyro's NUTS on xcore (`import xcore.as_jax`); and the same
posterior in plain xcore without samples: given the mean and the spread the eight effects are normal and drop
out, and what is left is an integral over two variables.
"""
# pyright: reportMissingImports=false

import numpy as np
from _extras import needs
from _figures import figure

needs("numpyro")
import xcore.as_jax
import jax
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS
from numpyro.infer.reparam import LocScaleReparam

import xcore as xc
import xcore.numpy as xnp

EFFECT = np.array([28.0, 8, -3, 7, -1, 1, 18, 12], "f")
ERROR = np.array([15.0, 10, 16, 11, 9, 11, 10, 18], "f")


def model():
    mean = numpyro.sample("mean", dist.Normal(0, 5))
    spread = numpyro.sample("spread", dist.HalfCauchy(5))
    with numpyro.plate("schools", 8):
        with numpyro.handlers.reparam(config={"theta": LocScaleReparam(0)}):
            theta = numpyro.sample("theta", dist.Normal(mean, spread))
        numpyro.sample("effect", dist.Normal(theta, ERROR), obs=EFFECT)


chains = MCMC(
    NUTS(model), num_warmup=500, num_samples=1000, num_chains=2, chain_method="vectorized", progress_bar=False,
)  # fmt: skip
chains.run(jax.random.key(0))
draws = chains.get_samples()


# Plain xcore: effect ~ N(mean, error² + spread²), on a grid; log spread is the variable of the second axis.
@xc.jit
def moments():
    mean, log_spread = xnp.linspace(-25, 35, 400)[:, None], xnp.linspace(-6, 6, 400)
    spread = xnp.exp(log_spread)
    scale = xnp.sqrt(ERROR**2 + spread[:, None] ** 2)
    logs = xc.stats.norm.logpdf(EFFECT, mean[..., None], scale).sum(-1)
    logs += xc.stats.norm.logpdf(mean, 0, 5) - xnp.log1p((spread / 5) ** 2) + log_spread
    p = xc.nn.softmax(logs, axis=(0, 1))
    return [(p * mean).sum(), (p * mean**2).sum(), (p * xnp.log(spread)).sum()], p.sum(1)


(average, square, log_spread), density = moments()
found = float(draws["mean"].mean()), float(np.log(draws["spread"]).mean())
deviation = float(xnp.sqrt(square - average**2))
print(
    f"mean effect: {found[0]:.2f} by chains, {float(average):.2f} ± {deviation:.2f} by the integral"
)
print(f"logarithm of the spread: {found[1]:.2f} by chains, {float(log_spread):.2f} by the integral")
with figure("mean", title="The mean effect") as ax:
    ax.hist(np.asarray(draws["mean"]), bins=50, density=True, label="NUTS")
    ax.plot(np.linspace(-25, 35, 400), np.asarray(density) * 399 / 60, label="integral")
    ax.set(xlabel="mean effect, points of the test", ylabel="density")
    ax.legend()

assert abs(found[0] - float(average)) < 0.1 * deviation and abs(found[1] - float(log_spread)) < 0.2
