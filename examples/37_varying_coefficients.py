"""How many steps does it take to solve div(a grad u) = f where a jumps a thousandfold?

Conjugate gradients alone need more steps on each finer grid. With one multigrid cycle as
preconditioner their number stays the same, so work grows like the number of unknowns.
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
from xcore.pde import Diffusion, Grid, solve

xc.config.update("default_bits", 64)


def coefficient(x, y):
    return xnp.where((x > 0.3) & (x < 0.7) & (y > 0.2) & (y < 0.6), 1000.0, 1.0)


sizes, plain, multigrid = [16, 32, 64], [], []
for n in sizes:
    op = Diffusion(Grid((n, n)), coefficient)
    answer = solve(op, -1.0, rtol=1e-8, method="cg", report=True)
    multigrid.append(int(answer.iterations))
    matrix = xc.linalg.FunctionOperator(
        lambda op, x: -op.mv(x), op, op.shape, symmetric=True, positive=True
    )
    alone = xc.linalg.linear_solve(
        matrix, xnp.ones(op.shape[0]), xc.linalg.CG(rtol=1e-8), report=True
    )
    plain.append(int(alone.steps))
print("steps alone:", plain, "with multigrid:", multigrid)

goals = 10.0 ** -np.arange(1, 11)
reached = [
    int(solve(op, -1.0, rtol=float(g), method="cg", report=True).iterations) for g in goals[::3]
]
with figure("convergence", cols=3, size=(10, 3.3)) as (first, second, third):
    xc.plot.field(op, answer, first, label="u (dimensionless)").set_title("solution")
    second.loglog(sizes, plain, "o-", label="conjugate gradients")
    second.loglog(sizes, multigrid, "s-", label="with multigrid")
    second.set(xlabel="cells along an axis", ylabel="steps", xticks=sizes, xticklabels=sizes)
    second.minorticks_off()
    second.legend()
    third.semilogy(reached, goals[::3], "o-")
    third.set(xlabel="steps with multigrid", ylabel="tolerance that was asked for")
assert max(multigrid) <= 12 and plain[-1] > 3 * plain[0]
