"""How does one spread the training of a network over eight devices without changing it?

The batch is split over 4 groups of devices and the weights over 2: layers by columns, then by rows,
so that between two layers nothing has to be exchanged. The program is the one for a single device;
how its arguments lie decides how it runs, and the compiler puts in the sums over devices.
"""

import os

os.environ.setdefault("XCORE_NUM_CPU_DEVICES", "8")

import re
from itertools import pairwise

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
from xcore.sharding import NamedSharding, P

rng = np.random.default_rng(0)
sizes = [8, 128, 128, 1]
params = [
    (rng.standard_normal((n, m)).astype("f") / n**0.5, np.zeros(m, "f")) for n, m in pairwise(sizes)
]
x = rng.uniform(-1, 1, (512, 8)).astype("f")
y = np.sin(x.sum(1, keepdims=True)).astype("f")


def predict(params, x):
    *hidden, (w, b) = params
    for v, c in hidden:
        x = xnp.tanh(x @ v + c)
    return x @ w + b


def loss(params, x, y):
    return ((predict(params, x) - y) ** 2).mean()


@xc.jit
def step(params, x, y):
    value, grads = xc.value_and_grad(loss)(params, x, y)
    return xc.tree.map(lambda p, g: p - 0.1 * g, params, grads), value


mesh = xc.make_mesh((4, 2), ("data", "model"))
columns = (NamedSharding(mesh, P(None, "model")), NamedSharding(mesh, P("model")))
rows = (NamedSharding(mesh, P("model", None)), NamedSharding(mesh, P()))
whole = (NamedSharding(mesh, P()), NamedSharding(mesh, P()))
examples = NamedSharding(mesh, P("data"))

spread = xc.device_put(params, [columns, rows, whole])
many = (xc.device_put(x, examples), xc.device_put(y, examples))
single, one = xc.device_put(params), (x, y)

print("the weights of the first layer, and the batch:")
xc.debug.visualize_array_sharding(spread[0][0])
xc.debug.visualize_array_sharding(many[0])
program = step.lower(spread, *many).compile().as_text()
found = re.findall(r"(all-reduce|all-gather|all-to-all|collective-permute)\(", program)
print(f"one step exchanges: {len(found)} × {', '.join(sorted(set(found)))}")

curves = {"8 devices": [], "1 device": []}
for _ in range(60):
    spread, a = step(spread, *many)
    single, b = step(single, *one)
    curves["8 devices"].append(float(a))
    curves["1 device"].append(float(b))

difference = max(abs(a - b) for a, b in zip(*curves.values()))
print(f"loss {curves['8 devices'][0]:.3f} → {curves['8 devices'][-1]:.3f}")
print(f"largest difference between 8 devices and 1: {difference:.1e}")
assert difference < 1e-3 and curves["8 devices"][-1] < 0.5 * curves["8 devices"][0]

with figure("loss", title="The same program, spread and not") as ax:
    ax.plot(curves["1 device"], lw=4, alpha=0.4, label="1 device")
    ax.plot(curves["8 devices"], "k--", lw=1, label="8 devices, 4 × 2")
    ax.set(xlabel="step", ylabel="loss", yscale="log")
    ax.legend()
