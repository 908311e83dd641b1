"""Mistakes with arrays, each with the rule that finds it."""

# pyright: basic, reportUnusedExpression=false

import xcore as xc
from xcore.typing import ArrayLike


def operators(x: xc.Array) -> None:
    x + "a"  # error: reportOperatorIssue
    [1, 2] @ x  # error: reportOperatorIssue
    x + {}  # error: reportOperatorIssue
    {x: 1}  # error: reportUnhashable
    h: int = x + 1  # error: reportAssignmentType
    print(h)


def parts(x: xc.Array) -> None:
    x[1.5]  # error: reportArgumentType
    x["a"]  # error: reportArgumentType
    x[0] = 1.0  # error: reportIndexIssue
    x.at["a"]  # error: reportArgumentType
    x.at[0].put(1.0)  # error: reportAttributeAccessIssue
    x.at[0].set(1.0, mode=3)  # error: reportArgumentType


def methods(x: xc.Array) -> None:
    x.nosuch  # error: reportAttributeAccessIssue
    x.sum(axis="x")  # error: reportArgumentType
    x.sum(axes=0)  # error: reportCallIssue
    x.reshape("2")  # error: reportArgumentType
    x.shape = (2,)  # error: reportAttributeAccessIssue


def like(x: ArrayLike) -> None:
    x + 1  # error: reportOperatorIssue


like("a")  # error: reportArgumentType
like([1.0])  # error: reportArgumentType
