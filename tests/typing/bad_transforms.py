"""Mistakes in calls of transformed functions."""

# pyright: basic, reportUnusedExpression=false

import xcore as xc


def loss(w: xc.Array, scale: float = 1.0) -> xc.Array:
    return scale * (w**2).sum()


@xc.jit
def step(w: xc.Array, n: int) -> xc.Array:
    return w * n


class Model:
    @xc.jit
    def pair(self, x: xc.Array) -> tuple[xc.Array, int]:
        return x, 1


def run(w: xc.Array) -> None:
    step(w)  # error: reportCallIssue
    step(w, "a")  # error: reportArgumentType
    step(w, 1).nosuch  # error: reportAttributeAccessIssue
    Model().pair("a")  # error: reportArgumentType
    h: int = step(w, 1)  # error: reportAssignmentType
    print(h)
    xc.grad(loss)(w, scal=2.0)  # error: reportCallIssue
    xc.grad(loss, argnums="w")  # error: reportArgumentType
    xc.value_and_grad(loss)("w")  # error: reportArgumentType
    xc.vmap(step)(w)  # error: reportCallIssue
    xc.jit(step, static_argnum=1)  # error: reportCallIssue
    xc.checkpoint(step)(w, 1, 2)  # error: reportCallIssue
    xc.jvp(step, w)  # error: reportCallIssue
    xc.linaglg  # error: reportAttributeAccessIssue
