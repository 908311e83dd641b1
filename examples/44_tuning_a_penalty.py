"""Which ridge penalty predicts best? Descend along the gradient through the fitted model.

Weights w(p) minimise |X w - y|² + eᵖ |w|² on training data. The loss on validation data is a function
of p alone, and its derivative goes through the minimum by the implicit function theorem: one more
linear solve, whatever the number of steps that found w.
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo

rng = np.random.default_rng(0)
truth = rng.normal(size=20) * (rng.random(20) < 0.4)
X = rng.normal(size=(60, 20))
Y = X @ truth + 1.5 * rng.normal(size=60)
train, valid = (X[:30], Y[:30]), (X[30:], Y[30:])


def ridge(w, p, x, y):
    return xnp.sum((xnp.asarray(x) @ w - y) ** 2) + xnp.exp(p) * xnp.sum(w**2)


def validation(p):
    w = xo.minimize(ridge, xnp.zeros(20, np.float64), (p, *train), tol=1e-10).x
    return xnp.mean((xnp.asarray(valid[0]) @ w - valid[1]) ** 2)


best = xo.minimize(validation, np.float64(0.0), method="bfgs", tol=1e-7)
h, p = 1e-4, np.float64(1.0)
score = xc.jit(validation)
slope = float(xc.jit(xc.grad(validation))(p))
numeric = float((score(p + h) - score(p - h)) / (2 * h))
print(f"best penalty e^{float(best.x):.4f} with validation error {float(best.fun):.4f}")
print(f"slope at e^1: {slope:.8f} by the implicit function theorem, {numeric:.8f} by differences")

grid = np.linspace(-4, 6, 41)
errors = xc.jit(xc.vmap(validation))(xnp.asarray(grid))
with figure("penalty", title="Error on validation data") as ax:
    ax.plot(grid, np.asarray(errors), ".-", label="grid")
    ax.plot(float(best.x), float(best.fun), "*", color="C1", markersize=12, label="descent")
    ax.set(xlabel="logarithm of the penalty", ylabel="mean square error")
    ax.legend()

assert abs(slope - numeric) < 1e-5 * abs(numeric)
assert float(best.fun) <= float(np.min(errors)) + 1e-9
