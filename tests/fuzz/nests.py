"""Transformations and control flow: steps that hold functions, and what they mean in NumPy."""

import dataclasses
import functools
import itertools
from collections.abc import Callable

import numpy as np

from tests.fuzz.helpers import Unfit


@dataclasses.dataclass(frozen=True)
class Nest:
    code: str
    reference: Callable
    differentiates: bool = False
    closes: bool = True  # its function may use names from outside


NESTS: dict[str, Nest] = {}


def nest(name, code, **settings):
    def add(reference):
        NESTS[name] = Nest(code, reference, **settings)
        return reference

    return add


def _params(step):
    return dict(step.params)


# Calls


@nest("jit", "xc.jit({f})({args})")
@nest("checkpoint", "xc.checkpoint({f})({args})")
@nest("own_jvp", "own_jvp({f})({args})", closes=False)
@nest("own_vjp", "own_vjp({f})({args})", closes=False)
def _call(run, step, env, args):
    return run.call(step.bodies[0], env, args)


def _value(like, data):
    return type(like)(data, like.type.dtype, like.type.weak)


def _lane(value, axis, k):
    return value if axis is None else _value(value, np.take(value.data, k, axis))


def stacked(lanes, axis):
    return _value(lanes[0], np.stack([v.data for v in lanes], axis))


@nest("vmap", "xc.vmap({f}, in_axes={in_axes}, out_axes={out_axes})({args})")
def _vmap(run, step, env, args):
    in_axes, out_axes = _params(step)["in_axes"], _params(step)["out_axes"]
    sizes = {a.data.shape[i] for a, i in zip(args, in_axes) if i is not None}
    if len(sizes) != 1 or sizes == {0}:
        raise Unfit("axes of different lengths")
    lanes = [
        run.call(step.bodies[0], env, [_lane(a, i, k) for a, i in zip(args, in_axes)])
        for k in range(sizes.pop())
    ]
    return [stacked(outs, out_axes) for outs in zip(*lanes)]


# Control flow


def _same_types(*results):
    for outs in zip(*results):
        if len({v.type for v in outs}) > 1:
            raise Unfit("types change")


@nest("cond", "lax.cond({0}, {f}, {g}, {rest})")
def _cond(run, step, env, args):
    outs = [run.call(body, env, args[1:]) for body in step.bodies]
    _same_types(*outs)
    return outs[0 if args[0].data else 1]


@nest("switch", "lax.switch({0}, [{f}, {g}, {h}], {rest})")
def _switch(run, step, env, args):
    outs = [run.call(body, env, args[1:]) for body in step.bodies]
    _same_types(*outs)
    return outs[int(np.clip(int(args[0].data), 0, 2))]


def _looped(run, body, env, carry, count, first=None):
    for i in range(count):
        before = carry
        given = carry if first is None else [first(i), *carry]
        carry = run.call(body, env, given)
        _same_types(before, carry)
    return carry


@nest("while", "lax.while_loop(lambda c: c[0] < {n}, lambda c: (c[0] + 1, {f}(c[1])), (0, {0}))[1]")
def _while(run, step, env, args):
    return _looped(run, step.bodies[0], env, args, _params(step)["n"])


@nest("fori", "lax.fori_loop(0, {n}, lambda i, c: {f}(xnp.int32(i), c), {0})")
def _fori(run, step, env, args):
    def position(i):
        return type(args[0])(np.asarray(i, np.int32), "int32")

    return _looped(run, step.bodies[0], env, args, _params(step)["n"], position)


@nest("scan", "lax.scan({f}, {0}, {1}, reverse={flag})")
def _scan(run, step, env, args):
    carry, xs = args
    count, ys = xs.data.shape[0], []
    if count == 0:
        raise Unfit("nothing to scan")
    order = range(count)[:: -1 if _params(step)["flag"] else 1]
    for k in order:
        new, y = run.call(step.bodies[0], env, [carry, _lane(xs, 0, k)])
        _same_types([carry], [new])
        carry, ys = new, [*ys, y]
    if order.step < 0:
        ys.reverse()
    return [carry, stacked(ys, 0)]


@nest("map", "lax.map({f}, {0})")
def _map(run, step, env, args):
    if args[0].data.shape[0] == 0:
        raise Unfit("nothing to map")
    lanes = [run.call(step.bodies[0], env, [_lane(args[0], 0, k)]) for k in range(args[0].data.shape[0])]  # fmt: skip
    return [stacked(outs, 0) for outs in zip(*lanes)]


# Derivatives

_STEPS = [2.0**-k for k in range(5, 13)]


class Slopes:
    """The function of a body, and its numerical derivatives with their errors.

    Central differences at eight steps, extrapolated in pairs; the pair that agrees best with the next
    one is taken, and the difference is its error. Where the slopes from both sides do not approach
    each other with the step, there is a kink and the derivative a matter of convention.
    """

    def __init__(self, run, step, env, args):
        self.run, self.body, self.env, self.args = run, step.bodies[0], env, args
        self.name = step.outs[0]

    def value(self, shift=None, h=0.0):
        args = self.args
        if shift is not None:
            args = [_value(a, a.data + h * v) for a, v in zip(self.args, shift)]
        self.run.depth += 1
        if self.run.depth > 1:
            self.run.marks.add("slopes of slopes")
        try:
            (out,) = self.run.call(self.body, self.env, args)
        finally:
            self.run.depth -= 1
        if out.type.kind not in "fc" or args[0].type.kind not in "fc":
            raise Unfit("no derivative of integers")
        return out

    def along(self, direction, key=""):
        """The derivative of the result along a direction."""
        centre = self.value().data
        right = [self.value(direction, h).data for h in _STEPS]
        left = [self.value(direction, -h).data for h in _STEPS]
        if any(x.shape != centre.shape for x in right + left):
            raise Unfit("the shape of a result depends on values")
        slopes = [(r - l) / (2 * h) for r, l, h in zip(right, left, _STEPS)]
        better = np.stack([(4 * b - a) / 3 for a, b in itertools.pairwise(slopes)])
        gaps = np.abs(np.diff(better, axis=0))
        gaps = np.where(np.isnan(gaps), np.inf, gaps)
        best = np.argmin(gaps, axis=0)[None]
        slope = np.take_along_axis(better, best + 1, 0)[0]
        error = np.take_along_axis(gaps, best, 0)[0] + 1e-12 * np.abs(centre)
        bends = [np.abs(r - 2 * centre + l) / h for r, l, h in zip(right, left, _STEPS)]
        if not all(np.all(np.isfinite(a.data)) for a in self.args):
            error = np.full(error.shape, np.inf)  # 0 * NaN may be either
        bend = functools.reduce(np.maximum, bends[4:])  # a jump nearby is met by some of the steps
        kink = ~(bend <= 0.5 * bends[2] + 1e-8 * (1e-3 + np.abs(centre)))
        if np.any(kink):  # or the edge of where the function is defined
            self.run.marks.add("kink")
        return self._uncertain(slope, np.where(kink, 1e3 * (1 + np.abs(slope)), error), key)

    def _uncertain(self, slope, error, key):
        """In the runs that make errors the slope has its own, except inside another derivative."""
        if self.run.run == 0 or self.run.depth:
            return slope
        u = self.run.noise(f"{self.name} {key}", slope.shape)
        slope = np.where(np.isnan(slope), u, slope)  # unlike NaN in run 0: not known
        if (
            self.run.is_last
        ):  # what may be 0 is, of either sign: steps and ``count_nonzero`` see that
            return np.where(np.abs(slope) <= error, -0.0, slope)
        return slope + u * np.where(np.isfinite(error), error, 1e300)

    def partial(self, which):
        """d result / d argument: the axes of the result, then those of the argument."""
        x = self.args[which].data
        if x.size > 12:
            raise Unfit("too many directions")
        columns = [self._column(which, k, x) for k in range(x.size)]
        shape = self.value().data.shape
        if x.size > 1:
            self._mark_corners(which, columns, x)
        out = np.stack(columns, -1) if columns else np.zeros((*shape, 0))
        return out.reshape((*shape, *x.shape))

    def _column(self, which, k, x):
        unit = np.zeros(x.size)
        unit[k] = 1
        return self.along(self._only(which, unit, x), f"{which} {k}")

    def _only(self, which, direction, x):
        shift = [np.zeros(a.data.shape) for a in self.args]
        shift[which] = direction.reshape(x.shape)
        return shift

    def _mark_corners(self, which, columns, x):
        """A derivative is linear in its direction; a median of equal numbers has none, though it has
        smooth slopes along each of them."""
        if self.run.run:
            return
        direction = 1 / (1.5 + np.arange(x.size))
        slope = self.along(self._only(which, direction, x))
        parts = np.stack(columns, -1) * direction
        if np.any(np.abs(np.sum(parts, -1) - slope) > 1e-2 * np.max(np.abs(parts), initial=0)):
            self.run.marks.add("kink")


def _slopes_of(run, step, env, args, count=None):
    return Slopes(run, step, env, args[:count])


@nest("grad", "xc.grad({f}, {n})({args})", differentiates=True)
def _grad(run, step, env, args):
    n = _params(step)["n"]
    return [_value(args[n], _slopes_of(run, step, env, args).partial(n))]


@nest("value_and_grad", "xc.value_and_grad({f})({args})", differentiates=True)
def _value_and_grad(run, step, env, args):
    slopes = _slopes_of(run, step, env, args)
    return [*run.call(step.bodies[0], env, args), _value(args[0], slopes.partial(0))]


@nest("jvp", "xc.jvp({f}, {head}, {tail})", differentiates=True)
def _jvp(run, step, env, args):
    half = len(args) // 2
    slopes = _slopes_of(run, step, env, args, half)
    (out,) = run.call(step.bodies[0], env, args[:half])
    return [out, _value(out, slopes.along([t.data for t in args[half:]]))]


@nest("linearize", "xc.linearize({f}, {0})[1]({1})", differentiates=True)
def _linearize(run, step, env, args):
    return _jvp(run, step, env, args)[1:]


@nest("vjp", "xc.vjp({f}, {most})[1]({last})[{n}]", differentiates=True)
def _vjp(run, step, env, args):
    n, ct = _params(step)["n"], args[-1].data
    slopes = _slopes_of(run, step, env, args, -1).partial(n)
    if not np.all(np.isfinite(ct)):
        run.marks.add("0 times NaN")
    return [_value(args[n], np.tensordot(ct, slopes, ct.ndim))]


@nest("jacfwd", "xc.jacfwd({f})({0})", differentiates=True)
def _jacfwd(run, step, env, args):
    slopes = _slopes_of(run, step, env, args)
    return [_value(slopes.value(), slopes.partial(0))]


@nest("jacrev", "xc.jacrev({f})({0})", differentiates=True)
def _jacrev(run, step, env, args):
    """Made of cotangents, which have the argument's dtype."""
    return [_value(args[0], _slopes_of(run, step, env, args).partial(0))]


@nest("hessian", "xc.hessian({f})({0})", differentiates=True)
def _hessian(run, step, env, args):
    if args[0].data.size > 3:
        raise Unfit("too many directions")
    inner = _slopes_of(run, step, env, args)
    outer = _slopes_of(run, step, env, args)

    def gradient(shift=None, h=0.0):
        moved = args if shift is None else [_value(args[0], args[0].data + h * shift[0])]
        inner.args = moved
        run.depth += 1
        try:
            return _value(args[0], inner.partial(0))
        finally:
            run.depth -= 1

    outer.value = gradient
    return [_value(args[0], outer.partial(0))]
