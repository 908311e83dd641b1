"""The rules of every first-order operation: derivatives to second order, in both modes, and lanes.

The rows are in ``samples.py``. The values of the operations are those that users get, in
``test_ops.py``; here the rules are tested, so programs are compiled fast rather than well.
"""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from tests._ops.compare import check
from tests._ops.samples import LINEAR, SAMPLES, Sample
from xcore._core import dtypes

# Derivatives


def smooth_part(s: Sample, args):
    """The operation as a function of its inexact arguments, to its inexact results."""
    moving = [i for i, a in enumerate(args) if dtypes.is_inexact(a.dtype)]

    def f(*xs):
        full = list(args)
        for i, x in zip(moving, xs, strict=True):
            full[i] = x
        return [y for y in s.results(full) if dtypes.is_inexact(y.type.dtype)]

    return f, [args[i] for i in moving]


def directions(rng, types):
    def one(t):
        v = rng.uniform(-1, 1, t.shape)
        v = v + 1j * rng.uniform(-1, 1, t.shape) if dtypes.is_complex(t.dtype) else v
        return np.asarray(v).astype(t.dtype)

    return [one(t) for t in types]


STEP = 2.0**-11  # of differences of fourth order: errors of 1e-13 both from below and from above


def difference(g, xs, vs):
    """The derivative of g along vs, all four values from one call."""

    def at(h):
        return g(*[x + (h * v).astype(x.dtype) for x, v in zip(xs, vs, strict=True)])

    found = xc.vmap(at)(STEP * np.asarray([1.0, -1.0, 2.0, -2.0]))
    return [(8 * (y[0] - y[1]) - (y[2] - y[3])) / (12 * STEP) for y in found]


def pairing(a, b):
    return sum(xnp.real(x * y).sum() for x, y in zip(a, b, strict=True))


def all_orders(f, xs, out_types, order: int):
    """Pairs (found, wanted): jvp against differences, vjp against jvp, and, for the second
    derivative, forward over forward against differences, and the other three against that."""
    rng = np.random.default_rng(0)
    vs, us, cts = (directions(rng, t) for t in (xs, xs, out_types))

    def forward(*xs):
        return xc.jvp(f, xs, tuple(vs))[1]

    def backward(*xs):
        return list(xc.vjp(f, *xs)[1](list(cts)))

    first = forward(*xs)
    pairs = [(first, difference(f, xs, vs)), (pairing(backward(*xs), vs), pairing(cts, first))]
    if order > 1:
        second = xc.jvp(forward, tuple(xs), tuple(us))[1]
        mixed = xc.jvp(backward, tuple(xs), tuple(us))[1]
        wanted = pairing(cts, second)
        pairs += [(second, difference(forward, xs, us)), (pairing(mixed, vs), wanted)]
        for g, weights in ((forward, cts), (backward, vs)):
            pairs.append((pairing(xc.vjp(g, *xs)[1](list(weights)), us), wanted))
    return pairs


def check_derivatives(s: Sample, dtype: str, order: int) -> None:
    f, xs = smooth_part(s, s.arguments(dtype))
    outs = xc.eval_shape(f, *xs)
    for found, wanted in xc.jit(lambda *xs: all_orders(f, xs, outs, order))(*xs):
        compare(found, wanted, tolerance=1e-7)


def compare(found, wanted, tolerance: float) -> None:
    for a, b in zip(xc.tree.leaves(found), xc.tree.leaves(wanted), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        size = np.abs(b).max(initial=1.0)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * size)


differentiable = [s for s in SAMPLES if s.order]


@pytest.mark.parametrize("s", differentiable, ids=lambda s: s.id)
def test_derivatives_are_those_of_differences(s):
    """Linear operations are linear in any dtype: those that take complex numbers are given them."""
    is_complex = "complex128" in s.dtypes
    if "float64" in s.dtypes and not (is_complex and s.order == LINEAR):
        check_derivatives(s, "float64", s.order)
    if is_complex:
        check_derivatives(s, "complex128", 1)


@pytest.mark.parametrize("s", [s for s in SAMPLES if s.order == 0], ids=lambda s: s.id)
def test_derivatives_that_vanish(s):
    dtype = next((d for d in ("float64", "complex128", "float32") if d in s.dtypes), None)
    if dtype is None:
        return
    args = s.arguments(dtype)
    f = lambda *xs: s.results(xs)
    vs = tuple(
        np.ones_like(a) if dtypes.is_inexact(a.dtype) else np.zeros(a.shape, xc.float0)
        for a in args
    )
    outs, tangents = xc.jvp(f, tuple(args), vs)
    for y, t in zip(outs, tangents, strict=True):
        assert t.dtype == (y.dtype if dtypes.is_inexact(y.dtype) else xc.float0)
        assert t.dtype == xc.float0 or not np.asarray(t).any()


# Lanes


def lanes_of(s: Sample, dtype: str):
    """Arguments for two lanes; those that a row fixes are turned round for the second."""
    first, second = (s.arguments(dtype, seed=seed) for seed in (0, 1))

    def other(a, b):
        if (
            a.size
            and np.array_equal(a, b, equal_nan=dtypes.is_inexact(a.dtype))
            and a.dtype != bool
        ):
            return np.flip(b, 0) if b.ndim else (b + 1).astype(b.dtype)
        return ~b if a.dtype == bool and not b.ndim and a == b else b

    return first, [other(a, b) for a, b in zip(first, second, strict=True)]


def which_batched(count: int):
    """Marks for which arguments vary over lanes: each alone, and all of them."""
    alone = [tuple(i == j for j in range(count)) for i in range(count)]
    return [*alone, (True,) * count] if count > 1 else alone


def calls_of_lanes(s: Sample, dtype: str):
    """(marks, arguments with two lanes, arguments of each lane) for each way to vary arguments."""
    both = list(zip(*lanes_of(s, dtype), strict=True))
    for marks in which_batched(len(both)):
        full = [np.stack(p) if m else p[0] for p, m in zip(both, marks, strict=True)]
        loop = [[p[k] if m else p[0] for p, m in zip(both, marks, strict=True)] for k in (0, 1)]
        yield marks, full, loop


@pytest.mark.parametrize(
    "s", [s for s in SAMPLES if s.inputs and not s.repeats], ids=lambda s: s.id
)
def test_vmap_is_a_loop_over_lanes(s):
    calls = list(calls_of_lanes(s, "float32" if "float32" in s.dtypes else s.dtypes[-1]))

    def lanes(marks, args):
        axes = tuple(0 if m else None for m in marks)
        return xc.vmap(lambda *xs: s.results(xs), in_axes=axes)(*args)

    found = xc.jit(lambda each: [lanes(m, a) for (m, *_), a in zip(calls, each, strict=True)])(
        [full for _, full, _ in calls]
    )
    for outs, (_, _, loop) in zip(found, calls, strict=True):
        for k, args in enumerate(loop):
            check(s, args, [y[k] for y in outs])
