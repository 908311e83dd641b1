"""Can one find the lowest notes of a drum without ever writing down its matrix?

The membrane is an L of small squares; the operator is a function that adds up differences. Lanczos'
method on the inverse finds the lowest eigenvalues, and the inverse is conjugate gradients.
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp

xc.config.update("default_bits", 64)
n = 31
inside = np.ones((n, n))
inside[n // 2 :, n // 2 :] = 0
h = 2 / (n + 1)


def laplacian(mask, x):
    u = xnp.zeros((n + 2, n + 2)).at[1:-1, 1:-1].set(x.reshape(n, n) * mask)
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    on = (4 * u[1:-1, 1:-1] - around) / h**2 * mask
    return (on + (1 - mask) * x.reshape(n, n) * 1e4).reshape(-1)  # points outside: far up


mask = xnp.asarray(inside)
drum = xc.linalg.FunctionOperator(laplacian, mask, (n * n, n * n), symmetric=True, positive=True)
inverse = xc.linalg.FunctionOperator(
    lambda mask, x: xc.linalg.linear_solve(drum, x, xc.linalg.CG(rtol=1e-12)),
    mask, (n * n, n * n), symmetric=True,
)  # fmt: skip
w, v = xc.jit(lambda: xc.linalg.eigsh(drum, 4, sigma=0.0, inverse=inverse, ncv=24))()
with figure("drum", cols=4, size=(11, 3), title="The lowest four modes") as axes:
    for k, ax in enumerate(axes):
        mode = np.where(mask, np.asarray(v[:, k]).reshape(n, n), np.nan)
        top = np.nanmax(abs(mode))
        ax.imshow(mode, cmap="RdBu", vmin=-top, vmax=top, interpolation="bilinear")
        ax.set(title=f"λ = {float(w[k]):.2f}", xticks=[], yticks=[])
        ax.grid(False)

residual = max(float(xnp.linalg.norm(drum @ v[:, k] - w[k] * v[:, k])) for k in range(4))
print(
    "eigenvalues", np.round(np.asarray(w), 3), "of the continuous drum: 9.64, 15.20, 19.74, 29.52"
)
print(f"largest residual {residual:.1e}")
assert residual < 1e-5
assert np.allclose(w, [9.64, 15.20, 19.74, 29.52], rtol=0.03)
