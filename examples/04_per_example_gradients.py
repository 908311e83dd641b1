"""What is the gradient of every single example, not only of their sum?

`vmap(grad(loss))` maps over the examples and keeps the weights the same. Two lines replace a loop
over the data, and the norms show at once which examples pull hardest: the three wrong labels.
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp

rng = np.random.default_rng(0)
w_true = np.asarray([2.0, -1.0], np.float32)
xs = rng.normal(size=(60, 2)).astype(np.float32)
ys = (xs @ w_true > 0).astype(np.float32)
wrong = np.argsort(-np.abs(xs @ w_true))[:3]
ys[wrong] = 1 - ys[wrong]


def loss(w, x, y):
    """Negative log-likelihood of logistic regression, one example."""
    z = x @ w
    return xnp.logaddexp(0.0, z) - y * z


per_example = xc.jit(xc.vmap(xc.grad(loss), in_axes=(None, 0, 0)))
total = xc.grad(lambda w: xc.vmap(loss, in_axes=(None, 0, 0))(w, xs, ys).sum())
w = xnp.zeros(2)
for _ in range(100):
    w = w - 0.02 * total(w)
gradients = per_example(w, xs, ys)
norms = np.linalg.norm(gradients, axis=1)
with figure("pull", title="The size of a point is the norm of its gradient") as ax:
    ax.scatter(*xs.T, s=10 + 80 * norms, c=ys, cmap="coolwarm", alpha=0.7)
    ax.plot(*xs[wrong].T, "kx", markersize=12, label="wrong label")
    ax.set(xlabel="first feature", ylabel="second feature")
    ax.legend()

largest = set(np.argsort(-norms)[:3].tolist())
print("gradients of shape", gradients.shape, "in one compiled call")
print(
    "the three largest belong to examples", sorted(largest), "- wrong are", sorted(wrong.tolist())
)
assert np.allclose(gradients.sum(0), total(w), atol=1e-4)
assert largest == set(wrong.tolist())
