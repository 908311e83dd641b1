"""Who has to know what of whom, when a field is cut into parts?

−Δu = f on a square, solved by conjugate gradients with the field cut into 4 × 2 parts. Written for
whole arrays, the compiler finds out that neighbours need each other's edge. Written by hand with
`shard_map`, each device sends its last rows to its neighbours and all add up their share of inner
products. Both do the same and give the same.
"""

import os

os.environ.setdefault("XCORE_NUM_CPU_DEVICES", "8")

import re
from collections import Counter

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
from xcore import lax
from xcore.sharding import NamedSharding, P

N, STEPS = 64, 220
mesh = xc.make_mesh((4, 2), ("rows", "columns"))
parts = P("rows", "columns")


def conjugate_gradients(apply, dot, b):
    def step(state, _):
        x, r, p, rr = state
        q = apply(p)
        a = rr / dot(p, q)
        r = r - a * q
        new = dot(r, r)
        return (x + a * p, r, r + new / rr * p, new), new

    state, residuals = lax.scan(step, (xnp.zeros_like(b), b, b, dot(b, b)), None, length=STEPS)
    return state[0], residuals


def minus_laplacian(u):
    v = xnp.pad(u, 1)
    return 4 * u - v[:-2, 1:-1] - v[2:, 1:-1] - v[1:-1, :-2] - v[1:-1, 2:]


def with_edges(u, axis, name):
    """The part between the neighbours' edges; zeros at the boundary of the square."""
    n, last = lax.axis_size(name), u.shape[axis] - 1
    forward, back = [(i, i + 1) for i in range(n - 1)], [(i + 1, i) for i in range(n - 1)]
    below = lax.ppermute(lax.slice_in_dim(u, last, last + 1, axis=axis), name, forward)
    above = lax.ppermute(lax.slice_in_dim(u, 0, 1, axis=axis), name, back)
    return xnp.concatenate([below, u, above], axis)


def by_hand(b):
    def apply(u):
        v, h = with_edges(u, 0, "rows"), with_edges(u, 1, "columns")
        return 4 * u - v[:-2] - v[2:] - h[:, :-2] - h[:, 2:]

    return conjugate_gradients(apply, lambda x, y: lax.psum(xnp.vdot(x, y), ("rows", "columns")), b)


whole = xc.jit(lambda b: conjugate_gradients(minus_laplacian, xnp.vdot, b))
cut = xc.jit(xc.shard_map(by_hand, mesh, parts, (parts, P())))

s = np.linspace(0, 1, N + 2)[1:-1]
xx, yy = np.meshgrid(s, s, indexing="ij")
f = np.where((abs(xx - 0.3) < 0.1) & (abs(yy - 0.6) < 0.2), 1.0, 0.0) - (xx > 0.8)
b = (f / (N + 1) ** 2).astype("f")
spread = xc.device_put(b, NamedSharding(mesh, parts))

alone, _ = whole(b)
u, _ = whole(spread)
v, residuals = cut(spread)
for name, function in (("by the compiler", whole), ("by hand", cut)):
    text = function.lower(spread).compile().as_text()
    found = re.findall(r"(all-reduce|all-gather|all-to-all|collective-permute)\(", text)
    print(f"{name}: {dict(Counter(found))}, largest difference to one device "
          f"{abs(np.asarray(function(spread)[0]) - np.asarray(alone)).max():.1e}")  # fmt: skip

k = np.pi * np.arange(1, N + 1) / (N + 1)
sines = np.sin(np.outer(np.arange(1, N + 1), k)) * np.sqrt(2 / (N + 1))
lam = 2 - 2 * np.cos(k)
exact = sines @ ((sines @ b @ sines) / (lam[:, None] + lam)) @ sines
print(f"error: {abs(np.asarray(v) - exact).max() / abs(exact).max():.1e}")
assert np.allclose(v, exact, atol=1e-4 * abs(exact).max())
assert np.allclose(u, alone, atol=1e-4 * abs(exact).max())

with figure("field", cols=2, title="−Δu = f in 4 × 2 parts", size=(9, 4)) as (left, right):
    top = float(abs(v).max())
    image = left.imshow(
        np.asarray(v), origin="lower", cmap="RdBu_r", vmin=-top, vmax=top, interpolation="bilinear"
    )
    left.figure.colorbar(image, ax=left, label="u (dimensionless)")
    left.set(xlabel="column of cells", ylabel="row of cells")
    for i in range(1, 4):
        left.axhline(i * N / 4 - 0.5, color="k", lw=0.8)
    left.axvline(N / 2 - 0.5, color="k", lw=0.8)
    left.grid(False)
    right.semilogy(np.sqrt(residuals))
    right.set(xlabel="step", ylabel="residual")
