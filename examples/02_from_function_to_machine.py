"""What becomes of a function: its Program, its HLO, its machine code, its speed?

`jit` keeps every stage in reach: `.trace` gives the Program, `.lower` the StableHLO that goes into
the compiler, `.compile` what comes out of it. The five operations of `selu` become one fused loop.
"""

import time

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp


def selu(x, alpha=1.67, lambda_=1.05):
    return lambda_ * xnp.where(x > 0, x, alpha * xnp.exp(x) - alpha)


def fastest(f, x, rounds=7):
    """Microseconds of the fastest of several calls; waiting for the result counts."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        f(x).block_until_ready()
        times.append(time.perf_counter() - start)
    return 1e6 * min(times)


x = xnp.linspace(-2, 2, 1000)
stages = xc.jit(selu).trace(x)
print("Program:", stages.program, "\nStableHLO:", stages.lower().as_text(), sep="\n")
compiled = stages.lower().compile()
optimized = compiled.as_text()
print("optimised:", *[line for line in optimized.splitlines() if "ROOT" in line], sep="\n")
print("cost by the compiler's own count:", compiled.cost_analysis()["flops"], "flops")

sizes = [10**k for k in range(1, 7)]
eager, jitted = [], []
compiled_selu = xc.jit(selu)
for n in sizes:
    x = xnp.linspace(-2, 2, n)
    compiled_selu(selu(x))
    eager.append(fastest(selu, x))
    jitted.append(fastest(compiled_selu, x))
with figure("selu", title="selu, one operation at a time or compiled") as ax:
    ax.loglog(sizes, eager, "o-", label="eager")
    ax.loglog(sizes, jitted, "s-", label="jit")
    ax.set(xlabel="elements", ylabel="microseconds")
    ax.legend()

ratio = eager[-1] / jitted[-1]
print(f"at a million elements jit is {ratio:.1f} times as fast as eager")
assert np.allclose(compiled(xnp.linspace(-2, 2, 1000)), selu(xnp.linspace(-2, 2, 1000)), atol=1e-6)
assert "fusion" in optimized
