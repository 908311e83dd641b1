"""What the operations with dimension numbers compute, written as plain loops over NumPy arrays."""

import itertools

import numpy as np


def windows(shape, indices, dims, sizes):
    """(place of the window in the batch of indices, its start in the operand) for each window."""
    batch_axes = [a for a in range(indices.ndim - 1) if a not in dims.indices_batch]
    del batch_axes
    for at in itertools.product(*map(range, indices.shape[:-1])):
        start = [0] * len(shape)
        for k, axis in enumerate(dims.start_map):
            start[axis] = int(indices[(*at, k)])
        for axis, source in zip(dims.operand_batch, dims.indices_batch, strict=True):
            start[axis] = at[source]
        yield at, start


def _inside(offset, dims, sizes):
    """A position in a window as a position relative to its start, with the dropped axes at 0."""
    gone = set(dims.collapsed) | set(dims.operand_batch)
    position = iter(offset)
    return [0 if i in gone else next(position) for i in range(len(sizes))]


def _window_shape(dims, sizes):
    gone = set(dims.collapsed) | set(dims.operand_batch)
    return [s for i, s in enumerate(sizes) if i not in gone]


def _target(at, offset, dims, rank):
    """Where an element of a window stands in the result (or in the updates)."""
    window, batch = iter(offset), iter(at)
    return tuple(next(window) if i in dims.offset else next(batch) for i in range(rank))


def _fits(start, shape, sizes, dims):
    return all(0 <= start[a] <= shape[a] - sizes[a] for a in dims.start_map)


def _clamped(start, shape, sizes, dims):
    return [
        min(max(s, 0), shape[i] - sizes[i]) if i in dims.start_map else s
        for i, s in enumerate(start)
    ]


def gather(x, indices, *, dims, sizes, mode="clip", fill_value=None, **_):
    extent = _window_shape(dims, sizes)
    rank = len(extent) + indices.ndim - 1
    window, batch = iter(extent), iter(indices.shape[:-1])
    shape = [next(window) if i in dims.offset else next(batch) for i in range(rank)]
    out = np.zeros(shape, x.dtype)
    for at, start in windows(x.shape, indices, dims, sizes):
        fits = mode != "fill" or _fits(start, x.shape, sizes, dims)
        start = _clamped(start, x.shape, sizes, dims)
        for offset in itertools.product(*map(range, extent)):
            here = tuple(np.add(start, _inside(offset, dims, sizes)))
            missing = np.nan if fill_value is None else fill_value
            out[_target(at, offset, dims, rank)] = x[here] if fits else missing
    return out


COMBINE = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "set": lambda old, new: new,
}


def scatter(x, indices, updates, *, dims, how, mode="drop", **_):
    out = x.copy()
    extent = [updates.shape[a] for a in dims.offset]
    gone = set(dims.collapsed) | set(dims.operand_batch)
    window = iter(extent)
    sizes = [1 if i in gone else next(window) for i in range(x.ndim)]
    for at, start in windows(x.shape, indices, dims, sizes):
        if mode == "clip":
            start = _clamped(start, x.shape, sizes, dims)
        elif not _fits(start, x.shape, sizes, dims):
            continue
        for offset in itertools.product(*map(range, extent)):
            here = tuple(np.add(start, _inside(offset, dims, sizes)))
            update = updates[_target(at, offset, dims, updates.ndim)]
            out[here] = COMBINE[how](out[here], update)
    return out


def pad(x, value, *, low, high, interior):
    for axis, (a, b, gap) in enumerate(zip(low, high, interior, strict=True)):
        n = x.shape[axis]
        wide = np.full((*x.shape[:axis], n + max(n - 1, 0) * gap, *x.shape[axis + 1 :]), value)
        wide[(slice(None),) * axis + (slice(None, None, gap + 1),)] = x
        x = np.pad(
            wide, [(max(a, 0), max(b, 0)) if i == axis else (0, 0) for i in range(x.ndim)],
            constant_values=value,
        )  # fmt: skip
        stop = x.shape[axis] + min(b, 0)
        x = x[(slice(None),) * axis + (slice(-min(a, 0), stop),)]
    return x


def conv(x, kernel, *, strides, padding, lhs_dilation, rhs_dilation, groups=1, **_):
    """x (N, C, *space), kernel (O, C / groups, *space) -> (N, O, *space), one element at a time."""
    zero = np.zeros((), x.dtype)
    none = [0, 0]
    x = pad(
        x, zero, low=none + [p[0] for p in padding], high=none + [p[1] for p in padding],
        interior=none + [d - 1 for d in lhs_dilation],
    )  # fmt: skip
    reach = [(k - 1) * d + 1 for k, d in zip(kernel.shape[2:], rhs_dilation, strict=True)]
    space = [(n - r) // s + 1 for n, r, s in zip(x.shape[2:], reach, strides, strict=True)]
    out = np.zeros((x.shape[0], kernel.shape[0], *space), x.dtype)
    per_group, features = kernel.shape[0] // groups, kernel.shape[1]
    for o in range(kernel.shape[0]):
        first = (o // per_group) * features
        for at in itertools.product(*map(range, space)):
            cut = tuple(
                slice(i * s, i * s + r, d)
                for i, s, r, d in zip(at, strides, reach, rhs_dilation, strict=True)
            )
            patch = x[(slice(None), slice(first, first + features), *cut)]
            out[(slice(None), o, *at)] = (patch * kernel[o]).reshape(x.shape[0], -1).sum(1)
    return out


def _nan_last(keys):
    """Keys for ``np.lexsort`` under which NaN comes after all numbers and -0 equals 0."""
    out = []
    for k in keys:
        parts = [k.real, k.imag] if k.dtype.kind == "c" else [k]
        for p in parts:
            p = p + np.zeros((), p.dtype) if p.dtype.kind == "f" else p
            out += (
                [np.isnan(p), np.nan_to_num(p, posinf=np.inf, neginf=-np.inf)]
                if p.dtype.kind == "f"
                else [p]
            )
    return out


def sort(*xs, axis, num_keys=1, stable=True):
    rows = [np.moveaxis(x, axis, -1) for x in xs]
    outs = [np.empty_like(r) for r in rows]
    for at in np.ndindex(rows[0].shape[:-1]):
        order = np.lexsort(_nan_last([r[at] for r in rows[:num_keys]])[::-1])
        for out, r in zip(outs, rows, strict=True):
            out[at] = r[at][order]
    return [np.moveaxis(o, -1, axis) for o in outs]


def top_k(x, *, k):
    order = np.argsort(_descending(x), axis=-1, kind="stable")[..., :k]
    return [np.take_along_axis(x, order, -1), order.astype(np.int32)]


def _descending(x):
    """Numbers whose ascending order is the descending one of x."""
    if x.dtype.kind == "b":
        return ~x
    if x.dtype.kind in "iu":
        return ~x  # without overflow
    return -np.where(np.isnan(x), np.inf, x.astype(np.float64))


def argextremum(x, *, axis, dtype, find):
    """The first extremal element; a NaN is more extremal than any number."""
    return find(x, axis=axis).astype(dtype)


def running(function):
    """A running total along an axis, from either end."""

    def reference(x, *, axis, reverse=False):
        x = np.flip(x, axis) if reverse else x
        out = function(x, axis)
        return np.flip(out, axis) if reverse else out

    return reference
