"""Sums of products written with indices."""

from __future__ import annotations

import functools
import operator
import string
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _ops as ops
from .._core import dtypes, errors, fused, typeof
from ._dot import contracted, operands_of, wider
from ._placement import spreads
from ._promote import (
    as_value,
    astype,
    broadcast_to,
    no_out,
)
from ._shape import moveaxis
from ._triangles import diagonal_of


def _parse_arguments(args):
    """(subscripts of each operand, of the result, operands) from both ways to call einsum."""
    if isinstance(args[0], str):
        text, operands = args[0].replace(" ", ""), list(args[1:])
    else:
        text, operands = _from_lists(args)
    text = _named_ellipsis(text, operands)
    inputs, arrow, output = text.partition("->")
    inputs = inputs.split(",")
    if len(inputs) != len(operands):
        raise errors.bad_argument(
            "numpy.einsum", "subscripts", text, f"for {len(operands)} operands"
        )
    if not arrow:
        joined = "".join(inputs)
        output = "".join(sorted(c for c in set(joined) if joined.count(c) == 1))
    return *_in_letters(inputs, output), operands


def _in_letters(inputs, output):
    """Indices that are digits, or letters of other alphabets, as letters that nothing else has."""
    used = set("".join([*inputs, output]))
    odd = sorted(c for c in used - set(string.ascii_letters) if c.isalnum())
    free = [c for c in string.ascii_letters if c not in used]
    names = str.maketrans(dict(zip(odd, free)))
    return [t.translate(names) for t in inputs], output.translate(names)


def _from_lists(args):
    """einsum(op0, sublist0, op1, sublist1, ..., [sublistout]) as a text."""
    operands, lists = list(args[: len(args) // 2 * 2 : 2]), list(args[1::2])
    letter = _letters_of([*lists, args[-1]] if len(args) % 2 else lists)

    def text(items):
        return "".join("..." if i is Ellipsis else letter(i) for i in items)

    subscripts = ",".join(map(text, lists))
    return (f"{subscripts}->{text(args[-1])}" if len(args) % 2 else subscripts), operands


def _letters_of(lists) -> Callable[[Any], str]:
    """The letter of an index: of a number that one, of names and other objects those in their order."""
    others = {i for items in lists for i in items if i is not Ellipsis and not _is_number(i)}
    if not others:
        return lambda i: string.ascii_letters[operator.index(i)]
    every = {i for items in lists for i in items if i is not Ellipsis}
    letters = dict(zip(_in_order(every), sorted(string.ascii_letters), strict=False))
    if len(letters) < len(every):
        raise ValueError(
            f"xcore.numpy.einsum: subscripts have {len(every)} different indices, and {len(letters)} are possible."
        )
    return letters.__getitem__


def _is_number(i: Any) -> bool:
    return hasattr(i, "__index__")


def _in_order(values) -> list:
    try:
        return sorted(values)
    except TypeError:  # of several kinds
        return sorted(values, key=lambda i: (type(i).__name__, str(i)))


def _named_ellipsis(text: str, operands) -> str:
    """The text with every ellipsis replaced by letters for the axes it stands for."""
    if "." not in text:
        return text
    inputs, arrow, output = text.partition("->")
    free = [c for c in string.ascii_letters if c not in text]
    terms, widest = inputs.split(","), 0
    counts = []
    for term, x in zip(terms, operands, strict=False):
        n = np.ndim(x) - len(term.replace("...", "")) if "..." in term else 0
        if n < 0:
            raise errors.bad_argument(
                "numpy.einsum", "subscripts", text, "for operands of these shapes"
            )
        counts.append(n)
        widest = max(widest, n)
    names = "".join(free[:widest])
    filled = [t.replace("...", names[widest - n :]) for t, n in zip(terms, counts, strict=True)]
    if not arrow:
        joined = "".join(t.replace("...", "") for t in terms)
        arrow, output = (
            "->",
            "..." + "".join(sorted(c for c in set(joined) if joined.count(c) == 1)),
        )
    return ",".join(filled) + arrow + output.replace("...", names)


def _check_subscripts(inputs, output, operands) -> None:
    who = "numpy.einsum"
    sizes: dict = {}
    for term, x in zip(inputs, operands, strict=True):
        shape = np.shape(x)
        if not all(c.isalpha() for c in term) or len(term) != len(shape):
            raise errors.bad_argument(
                who, "subscripts", term, f"letters, one for each axis of shape {shape}"
            )
        for c, n in zip(term, shape, strict=True):
            known = sizes.get(c, 1)
            if n != known and 1 not in (n, known):
                raise errors.ShapeError(f"xcore.{who}: index {c!r} has lengths {known} and {n}.")
            sizes[c] = n if known == 1 else known
    if len(set(output)) != len(output) or not set(output) <= set(sizes):
        raise errors.bad_argument(
            who, "subscripts", output, "a result of different letters of the operands"
        )


@functools.lru_cache(maxsize=4096)
def contraction_path(text: str, shapes: tuple, optimize) -> tuple:
    """Which operands to contract, pair by pair: found once for each expression and shapes."""
    if len(shapes) <= 2 and not isinstance(optimize, tuple):
        return (tuple(range(len(shapes))),)
    dummies = [np.broadcast_to(np.zeros(()), s) for s in shapes]
    if isinstance(optimize, tuple):
        optimize = ["einsum_path", *optimize]
    return tuple(tuple(step) for step in np.einsum_path(text, *dummies, optimize=optimize)[0][1:])


def _strategy(optimize, count: int):
    """JAX's names for path strategies as NumPy's."""
    if optimize is True or optimize == "auto":
        return "optimal" if count <= 5 else "greedy"
    if isinstance(optimize, (list, tuple)):
        return tuple(tuple(step) for step in optimize if not isinstance(step, str))
    return optimize


@spreads
def einsum(subscripts, /, *operands, out=None, optimize="auto", precision=None,
           preferred_element_type=None, out_sharding=None):  # fmt: skip
    """Sums of products written with indices: ``"ij,jk->ik"`` is a matrix product.

    Args:
      subscripts: letters (digits too, unlike NumPy) for the axes of each operand, and after ``->`` those of
        the result; or operands and lists of ints, names or other objects in turn.
      operands: arrays.
      out: must be None: arrays are immutable.
      optimize: "auto", "optimal", "greedy", False, or a path from ``einsum_path``.
      precision, preferred_element_type: as in ``matmul``.

    >>> import xcore.numpy as xnp
    >>> xnp.einsum("ij,j->i", xnp.ones((2, 3)), xnp.arange(3.0))
    Array([3., 3.], dtype=float32)
    """
    no_out("numpy.einsum", out)
    inputs, output, operands = _parse_arguments((subscripts, *operands))
    operands = [as_value("numpy.einsum", x) for x in operands]
    _check_subscripts(inputs, output, operands)
    text = ",".join(inputs) + "->" + output
    path = contraction_path(
        text, tuple(tuple(np.shape(x)) for x in operands), _strategy(optimize, len(operands))
    )
    if not isinstance(precision, (str, type(None))):
        precision = ops.precision_name(precision)
    return _einsum(operands, tuple(inputs), output, path, precision, preferred_element_type)


def einsum_path(subscripts, /, *operands, optimize="greedy"):
    """The order in which ``einsum`` contracts its operands, and a description of it.

    Args:
      subscripts: as for ``einsum``: a string, or the first operand.
      operands: arrays, of which only the shapes matter.
      optimize: how the order is looked for, as in ``numpy.einsum_path``; "auto" is "greedy".

    >>> import xcore.numpy as xnp
    >>> x = xnp.ones((2, 2))
    >>> xnp.einsum_path("ij,jk,kl->il", x, x, x)[0]
    ['einsum_path', (0, 1), (0, 1)]
    """
    inputs, output, operands = _parse_arguments((subscripts, *operands))
    _check_subscripts(inputs, output, operands)
    dummies = [np.broadcast_to(np.zeros(()), np.shape(x)) for x in operands]
    optimize = "greedy" if optimize == "auto" else optimize
    return np.einsum_path(",".join(inputs) + "->" + output, *dummies, optimize=optimize)


@fused(1)
def _einsum(operands, inputs, output, path, precision, preferred):
    operands = operands_of("numpy.einsum", *operands)
    dtype, wide = typeof(operands[0]).dtype, None
    if preferred is not None:
        wide = wider(dtype, dtypes.as_dtype(preferred))
        if not dtypes.is_inexact(dtype):
            operands = [astype(x, wide) for x in operands]
    if dtypes.is_bool(typeof(operands[0]).dtype):
        counts = _einsum(
            [astype(x, dtypes.int32) for x in operands], inputs, output, path, precision, None
        )
        return astype(counts, dtypes.bool_)
    terms = list(zip(inputs, operands, strict=True))
    for step in path:
        taken = [terms[i] for i in step]
        terms = [t for i, t in enumerate(terms) if i not in step]
        while len(taken) > 1:
            needed = set(output).union(*[t[0] for t in terms], *[t[0] for t in taken[2:]])
            taken = [_pair(taken[0], taken[1], needed, precision, wide), *taken[2:]]
        terms.append(_single_labels(*taken[0], set(output).union(*[t[0] for t in terms])))
    ((labels, x),) = terms
    x = ops.transpose(x, perm=tuple(labels.index(c) for c in output)) if labels != output else x
    return x if preferred is None else astype(x, dtypes.as_dtype(preferred))


def _single_labels(labels: str, x, needed: set):
    """An operand without repeated labels and without those that nothing else needs."""
    for c in sorted(set(labels)):
        while labels.count(c) > 1:
            i = labels.index(c)
            j = labels.index(c, i + 1)
            x = diagonal_of(moveaxis(_equal_axes(x, i, j), (i, j), (-2, -1)), 0)
            labels = labels[:i] + labels[i + 1 : j] + labels[j + 1 :] + c
    gone = tuple(i for i, c in enumerate(labels) if c not in needed)
    if gone:
        x = ops.reduce_sum(x, axes=gone)
        labels = "".join(c for c in labels if c in needed)
    return labels, x


def _equal_axes(x, i, j):
    """Axes of length 1 count as broadcast."""
    shape = list(typeof(x).shape)
    shape[i] = shape[j] = shape[j] if shape[i] == 1 else shape[i]
    return broadcast_to(x, tuple(shape))


def _pair(first, second, needed: set, precision, wide):
    """Two operands contracted to one, of the wide dtype if there is one."""
    both = set(first[0]) & set(second[0])
    (la, a), (lb, b) = _single_labels(*first, needed | both), _single_labels(*second, needed | both)
    la, a, lb, b = *_without_ones(la, a, lb, b), *_without_ones(lb, b, la, a)
    both = [c for c in la if c in lb]
    batch = [c for c in both if c in needed]
    contract = [c for c in both if c not in needed]
    if typeof(a).dtype != typeof(b).dtype:  # one of them is the product of others
        a, b = astype(a, wide), astype(b, wide)
    out = contracted(
        a, b, (_places(la, contract), _places(lb, contract)), (_places(la, batch), _places(lb, batch)),
        precision, wide,
    )  # fmt: skip
    labels = "".join([*batch, *[c for c in la if c not in both], *[c for c in lb if c not in both]])
    return labels, out


def _places(labels: str, chosen) -> tuple:
    return tuple(labels.index(c) for c in chosen)


def _without_ones(labels, x, other_labels, other):
    """Axes of length 1 that the other operand has longer: dropped, since they only broadcast."""
    gone = [
        i for i, c in enumerate(labels)
        if c in other_labels and typeof(x).shape[i] == 1 != typeof(other).shape[other_labels.index(c)]
    ]  # fmt: skip
    if not gone:
        return labels, x
    shape = tuple(n for i, n in enumerate(typeof(x).shape) if i not in gone)
    return "".join(c for i, c in enumerate(labels) if i not in gone), ops.reshape(x, shape=shape)
