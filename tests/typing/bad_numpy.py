"""Mistakes in calls of the functions of packages."""

# pyright: basic, reportUnusedExpression=false

import xcore as xc
import xcore.numpy as xnp
from xcore import lax, nn, random, special, stats


def elementwise(x: xc.Array) -> None:
    xnp.sin("a")  # error: reportArgumentType
    xnp.sin([1.0, 2.0])  # error: reportArgumentType
    xnp.sin(x, x)  # error: reportCallIssue
    xnp.add(x)  # error: reportCallIssue
    xnp.sine(x)  # error: reportAttributeAccessIssue
    xnp.sin(x, out=x)  # error: reportArgumentType
    s: str = xnp.sin(x)  # error: reportAssignmentType
    print(s)


def reductions(x: xc.Array) -> None:
    xnp.sum(x, axis="x")  # error: reportArgumentType
    xnp.mean(x, keepdim=True)  # error: reportCallIssue
    xnp.sum(x, dtype=3)  # error: reportArgumentType
    xnp.argmax(x, keepdims="yes")  # error: reportArgumentType
    xnp.stack(x, axis=None)  # error: reportArgumentType


def creation() -> None:
    xnp.zeros((2, 3.5))  # error: reportArgumentType
    xnp.zeros(2, 3)  # error: reportArgumentType
    xnp.geomspace(1, 2, 2.5)  # error: reportArgumentType
    xnp.asarray([1.0], shape=(1,))  # error: reportCallIssue


def packages(x: xc.Array) -> None:
    random.normal(x, ("a",))  # error: reportArgumentType
    random.normal(shape=(3,))  # error: reportCallIssue
    random.normal(x, 3, "float32", 1)  # error: reportCallIssue
    special.gammaln("a")  # error: reportArgumentType
    stats.norm.logpdf(x, mean=1)  # error: reportCallIssue
    stats.norm.pmf(x)  # error: reportAttributeAccessIssue
    nn.softmax(x, axis="x")  # error: reportArgumentType
    lax.rsqrt("a")  # error: reportArgumentType
    lax.fori_loop(0, 3)  # error: reportCallIssue
    xnp.linalg.solve(x)  # error: reportCallIssue
    xnp.linalg.svd(x).V  # error: reportAttributeAccessIssue
    xnp.fft.fft(x, n="3")  # error: reportArgumentType
