"""Can 60 measurements find a signal of 200 numbers? If few of them are not zero, yes.

Least squares with a penalty on the sum of absolute values (the lasso), by FISTA: steps along the
gradient, soft thresholding, momentum. The plain least-squares solution of smallest norm explains the
same measurements and finds nothing.
"""

import numpy as np
from _figures import figure

import xcore.numpy as xnp
import xcore.optimize as xo

rng = np.random.default_rng(3)
signal = np.zeros(200)
places = rng.choice(200, 8, replace=False)
signal[places] = rng.normal(size=8) * 2 + np.sign(rng.normal(size=8))
A = rng.normal(size=(60, 200)) / np.sqrt(60)
b = A @ signal + 0.01 * rng.normal(size=60)


def misfit(x):
    return 0.5 * xnp.sum((xnp.asarray(A) @ x - b) ** 2)


runs = {
    name: xo.proximal_gradient(
        misfit,
        xnp.zeros(200, np.float64),
        xo.prox.l1(0.02),
        method=name,
        maxiter=3000,
        history=True,
    )
    for name in ("fista", "proximal-gradient")
}
for name, found in runs.items():
    print(f"{name:18} {int(found.nit):5} steps, status {xo.Status(int(found.status)).name}")
x = np.asarray(runs["fista"].x)
plain = np.linalg.lstsq(A, b, rcond=None)[0]
for name, y in (("lasso", x), ("least squares", plain)):
    print(f"{name:14} relative error {np.linalg.norm(y - signal) / np.linalg.norm(signal):.3f}")

with figure("signal", rows=2, size=(8, 5)) as axes:
    for ax, y, name in zip(axes, (x, plain), ("lasso", "least squares of smallest norm")):
        ax.stem(signal, linefmt="0.7", markerfmt=" ", basefmt=" ")
        ax.plot(y, ".", label=name)
        ax.set(xlabel="place", ylabel="signal")
        ax.legend()

found = set(np.flatnonzero(np.abs(x) > 0.1))
assert found == set(places.tolist())
assert runs["fista"].success and runs["fista"].nit <= runs["proximal-gradient"].nit
