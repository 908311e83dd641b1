"""Over which distance is a random field correlated, given one noisy picture of it?

A Gaussian Markov field has a sparse precision matrix, here (κ² - Δ)² τ, whose correlations reach about √8 / κ far. The
likelihood of the picture needs a solution and two log-determinants: compiled Cholesky factors of the sparse matrix
give both, with derivatives in κ and τ. (Lindgren, Rue and Lindström 2011, "An explicit link between Gaussian fields
and Gaussian Markov random fields")
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
from xcore import sparse

n, noise = 20, 0.1
line = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
laplace = sparse.kronsum(line, line)


def precision(theta):
    kappa, tau = xnp.exp(theta)
    a = sparse.eye_array(n * n) * kappa**2 + laplace
    return (a @ a) * tau**2


with xc.enable_x64():
    laplace = laplace.astype("float64")
    truth = xnp.log(xnp.asarray([0.4, 1.5]))
    q = np.asarray(precision(truth).todense())
    rng = np.random.default_rng(3)
    field = np.linalg.solve(np.linalg.cholesky(q).T, rng.normal(size=n * n))
    picture = field + noise * rng.normal(size=n * n)

    @xc.jit
    def misfit(theta):
        """-2 log of the likelihood, but for constants."""
        q = precision(theta)
        seen = sparse.factorise(q + sparse.eye_array(n * n) * noise**-2, "cholesky")
        mean = seen.solve(picture * noise**-2)
        of_field = sparse.factorise(q, "cholesky").logdet()
        return seen.logdet() - of_field + picture @ (picture - mean) * noise**-2

    slope = xc.jit(xc.grad(misfit))
    x, step = xnp.zeros(2), 1.0
    while step > 1e-6:  # Newton's method, with differences of slopes
        g, h = slope(x), 1e-4
        curvature = xnp.stack([(slope(x + h * e) - slope(x - h * e)) / (2 * h) for e in np.eye(2)])
        d = xnp.linalg.solve((curvature + curvature.T) / 2, g)
        x, step = x - d / xnp.maximum(1, xnp.abs(d).max() / 0.5), float(xnp.abs(d).max())
    spread = xnp.sqrt(2 * xnp.diag(xnp.linalg.inv(curvature)))

with figure("field", cols=2, size=(8, 4)) as axes:
    top = np.abs(picture).max()
    for ax, u, title in zip(axes, (field, picture), ("the field", "as it is seen"), strict=True):
        ax.imshow(u.reshape(n, n), cmap="RdBu_r", vmin=-top, vmax=top, interpolation="bilinear")
        ax.set(title=title, xlabel="column of the grid", ylabel="row of the grid")

for name, y, s, t in zip(("log κ", "log τ"), x, spread, truth, strict=True):
    print(f"{name}: {float(y):.3f} ± {float(s):.3f} (truth {float(t):.3f})")
assert (xnp.abs(x - truth) < 3 * spread).all() and spread.max() < 0.3
