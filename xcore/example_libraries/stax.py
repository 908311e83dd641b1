"""Layers of neural networks as pairs of functions.

A layer is ``(init_fun, apply_fun)``: ``init_fun(key, input_shape)`` gives ``(output_shape, params)``,
and ``apply_fun(params, inputs, rng=None)`` the outputs. Its parameters are an ordinary pytree. A -1
in an input shape stands for a size that the parameters do not depend on, that of the batch.

>>> import xcore as xc, xcore.numpy as xnp
>>> from xcore.example_libraries import stax
>>> init, apply = stax.serial(stax.Dense(8), stax.Relu, stax.Dense(2), stax.LogSoftmax)
>>> shape, params = init(xc.random.key(0), (-1, 3))
>>> shape, apply(params, xnp.ones((5, 3))).shape
((-1, 2), (5, 2))
"""

from __future__ import annotations

import functools
import math
import operator as op
from collections.abc import Callable, Sequence
from typing import Any

from .. import lax, nn, random
from .. import numpy as xnp
from .._control import eval_shape
from .._core import Array, ArrayLike, Shape, ShapeDtypeStruct, errors, one_of

__all__ = [
    "Dense", "GeneralConv", "Conv", "GeneralConvTranspose", "Conv1DTranspose", "ConvTranspose",
    "BatchNorm", "elementwise", "Tanh", "Relu", "Exp", "LogSoftmax", "Softmax", "Softplus",
    "Sigmoid", "Elu", "LeakyRelu", "Selu", "Gelu", "MaxPool", "SumPool", "AvgPool", "Flatten",
    "Identity", "FanOut", "FanInSum", "FanInConcat", "Dropout", "serial", "parallel",
    "shape_dependent",
]  # fmt: skip

Initializer = Callable[..., Array]
Layer = tuple[Callable[..., Any], Callable[..., Any]]  # init_fun, apply_fun
Padding = str | Sequence[tuple[int, int]]

normal, glorot_normal = nn.initializers.normal, nn.initializers.glorot_normal
randn, glorot = normal, glorot_normal  # names in the oldest tutorials


# Shapes


def _shape_after(f, shape, batch_in: int, batch_out: int) -> tuple:
    """The shape of ``f`` of an array of this shape, in which the batch may be -1."""
    known = tuple(1 if i == batch_in and n == -1 else n for i, n in enumerate(shape))
    result = list(eval_shape(f, ShapeDtypeStruct(known, "float32")).shape)
    result[batch_out] = shape[batch_in]
    return tuple(result)


def _without_parameters(shape_of, f):
    """A layer that has no parameters, from its rule of shapes and ``f(inputs, **kwargs)``."""

    def init_fun(rng, input_shape):
        return shape_of(input_shape), ()

    def apply_fun(params, inputs, **kwargs):
        return f(inputs, **kwargs)

    return init_fun, apply_fun


# Layers with parameters


def Dense(
    out_dim: int,
    W_init: Initializer = glorot_normal(),  # noqa: B008
    b_init: Initializer = normal(),  # noqa: B008
) -> Layer:
    """The affine layer ``x @ W + b``.

    Args:
      out_dim: number of outputs.
      W_init, b_init: functions of (key, shape), as those of ``xcore.nn.initializers``.

    >>> import xcore as xc
    >>> from xcore.example_libraries import stax
    >>> shape, (W, b) = stax.Dense(4)[0](xc.random.key(0), (-1, 3))
    >>> shape, W.shape, b.shape
    ((-1, 4), (3, 4), (4,))
    """

    def init_fun(rng, input_shape):
        key_w, key_b = random.split(rng)
        weights = W_init(key_w, (input_shape[-1], out_dim)), b_init(key_b, (out_dim,))
        return (*input_shape[:-1], out_dim), weights

    def apply_fun(params, inputs, **kwargs):
        W, b = params
        return xnp.dot(inputs, W) + b

    return init_fun, apply_fun


def _convolution(
    convolve, name, dimension_numbers, out_chan, filter_shape, strides, W_init, b_init
):
    """A layer of filters; ``convolve(inputs, W, strides)`` is without the bias."""
    lhs, rhs, out = dimension_numbers
    strides = strides or (1,) * len(filter_shape)
    if len(filter_shape) != len(lhs) - 2 or len(strides) != len(filter_shape):
        given = f"filter_shape={filter_shape} and strides={strides} for {dimension_numbers}"
        raise errors.bad_argument(name, "filter_shape", given, f"{len(lhs) - 2} numbers each")
    W_init = W_init or glorot_normal(rhs.index("I"), rhs.index("O"))

    def init_fun(rng, input_shape):
        sizes = iter(filter_shape)
        channels = {"O": out_chan, "I": input_shape[lhs.index("C")]}
        shape = tuple(channels[c] if c in channels else next(sizes) for c in rhs)
        biases = tuple(out_chan if c == "C" else 1 for c in out)
        key_w, key_b = random.split(rng)
        W, b = W_init(key_w, shape), b_init(key_b, biases)
        after = lambda x: convolve(x, W.astype(x.dtype), strides)  # noqa: E731
        return _shape_after(after, input_shape, lhs.index("N"), out.index("N")), (W, b)

    def apply_fun(params, inputs, **kwargs):
        W, b = params
        return convolve(inputs, W, strides) + b

    return init_fun, apply_fun


def GeneralConv(
    dimension_numbers: Sequence[str], out_chan: int, filter_shape: Shape,
    strides: Shape | None = None, padding: Padding = "VALID", W_init: Initializer | None = None,
    b_init: Initializer = normal(1e-6),  # noqa: B008
) -> Layer:  # fmt: skip
    """A layer of correlations with filters, plus a bias for each channel.

    Args:
      dimension_numbers: the axes of inputs, filters and outputs, as ("NHWC", "HWIO", "NHWC").
      out_chan: number of output channels.
      filter_shape: sizes of the filters along the spatial axes.
      strides: steps along these, 1 each by default.
      padding: "VALID", "SAME", or pairs of numbers.
      W_init, b_init: functions of (key, shape).

    >>> import xcore as xc
    >>> from xcore.example_libraries import stax
    >>> init, apply = stax.GeneralConv(("NCHW", "OIHW", "NCHW"), 6, (3, 3), padding="SAME")
    >>> init(xc.random.key(0), (-1, 3, 8, 8))[0]
    (-1, 6, 8, 8)
    """

    def convolve(x, W, strides):
        return lax.conv_general_dilated(x, W, strides, padding, dimension_numbers=dimension_numbers)

    return _convolution(
        convolve, "GeneralConv", dimension_numbers, out_chan, filter_shape, strides, W_init, b_init
    )


def GeneralConvTranspose(
    dimension_numbers: Sequence[str], out_chan: int, filter_shape: Shape,
    strides: Shape | None = None, padding: Padding = "VALID", W_init: Initializer | None = None,
    b_init: Initializer = normal(1e-6),  # noqa: B008
) -> Layer:  # fmt: skip
    """A layer of transposed convolutions, which enlarge; arguments as those of `GeneralConv`.

    Args:
      dimension_numbers, out_chan, filter_shape, strides, padding, W_init, b_init: as for
        `GeneralConv`.

    >>> import xcore as xc
    >>> from xcore.example_libraries import stax
    >>> init, apply = stax.GeneralConvTranspose(("NHC", "HIO", "NHC"), 2, (3,), (2,))
    >>> init(xc.random.key(0), (-1, 4, 3))[0]
    (-1, 9, 2)
    """

    def convolve(x, W, strides):
        return lax.conv_transpose(x, W, strides, padding, dimension_numbers=dimension_numbers)

    return _convolution(
        convolve, "GeneralConvTranspose", dimension_numbers, out_chan, filter_shape, strides,
        W_init, b_init,
    )  # fmt: skip


Conv = functools.partial(GeneralConv, ("NHWC", "HWIO", "NHWC"))
Conv1DTranspose = functools.partial(GeneralConvTranspose, ("NHC", "HIO", "NHC"))
ConvTranspose = functools.partial(GeneralConvTranspose, ("NHWC", "HWIO", "NHWC"))


def BatchNorm(
    axis: int | Sequence[int] = (0, 1, 2), epsilon: float = 1e-5, center: bool = True,
    scale: bool = True, beta_init: Initializer = nn.initializers.zeros,
    gamma_init: Initializer = nn.initializers.ones,
) -> Layer:  # fmt: skip
    """Normalisation to mean 0 and variance 1 over the batch, then ``gamma * z + beta``.

    Args:
      axis: the axes that are averaged over.
      epsilon: added to the variance.
      center, scale: whether there are beta and gamma.
      beta_init, gamma_init: functions of (key, shape).

    >>> import xcore as xc, xcore.numpy as xnp
    >>> from xcore.example_libraries import stax
    >>> init, apply = stax.BatchNorm(axis=0)
    >>> _, params = init(xc.random.key(0), (-1, 1))
    >>> apply(params, xnp.array([[1.0], [3.0]])).round(3)
    Array([[-1.],
           [ 1.]], dtype=float32)
    """
    axes = (axis,) if isinstance(axis, int) else tuple(axis)

    def init_fun(rng, input_shape):
        shape = tuple(n for i, n in enumerate(input_shape) if i not in axes)
        key_beta, key_gamma = random.split(rng)
        beta = beta_init(key_beta, shape) if center else ()
        return input_shape, (beta, gamma_init(key_gamma, shape) if scale else ())

    def apply_fun(params, x, **kwargs):
        beta, gamma = (xnp.expand_dims(p, axes) if used else None
                       for p, used in zip(params, (center, scale), strict=True))  # fmt: skip
        z = nn.standardize(x, axes, epsilon=epsilon)
        z = z * gamma if scale else z  # pyright: ignore[reportOperatorIssue]
        return z + beta if center else z  # pyright: ignore[reportOperatorIssue]

    return init_fun, apply_fun


# Layers without parameters


def elementwise(fun: Callable[..., Any], **fun_kwargs: Any) -> Layer:
    """The layer that applies a function to its inputs.

    Args:
      fun: function of an array.
      fun_kwargs: its further arguments, by name.

    >>> from xcore.example_libraries import stax
    >>> import xcore.numpy as xnp
    >>> stax.elementwise(xnp.sum, axis=0)[1]((), xnp.array([3.0, 1.0]))
    Array(4., dtype=float32)
    """
    return _without_parameters(tuple, lambda x, **kwargs: fun(x, **fun_kwargs))


Tanh = elementwise(xnp.tanh)
Relu = elementwise(nn.relu)
Exp = elementwise(xnp.exp)
LogSoftmax = elementwise(nn.log_softmax, axis=-1)
Softmax = elementwise(nn.softmax, axis=-1)
Softplus = elementwise(nn.softplus)
Sigmoid = elementwise(nn.sigmoid)
Elu = elementwise(nn.elu)
LeakyRelu = elementwise(nn.leaky_relu)
Selu = elementwise(nn.selu)
Gelu = elementwise(nn.gelu)


def _pooling(name: str, text: str, start: float, combine, average: bool):
    """A layer that combines the values in windows."""

    def pool(
        window_shape: Shape, strides: Shape | None = None, padding: Padding = "VALID",
        spec: str | None = None,
    ) -> Layer:  # fmt: skip
        strides = strides or (1,) * len(window_shape)
        letters = spec or "N" + "." * len(window_shape) + "C"
        if len(letters) != len(window_shape) + 2:
            raise errors.bad_argument(name, "spec", spec, f"{len(window_shape) + 2} letters")

        def whole(sizes):
            inside = iter(sizes)
            return tuple(1 if c in "NC" else next(inside) for c in letters)

        windows = whole(window_shape), whole(strides), padding

        def f(x, **kwargs):
            total = lax.reduce_window(x, start, combine, *windows)
            if not average:
                return total
            return total / lax.reduce_window(xnp.ones_like(x), start, combine, *windows)

        n = letters.index("N")
        return _without_parameters(lambda shape: _shape_after(f, shape, n, n), f)

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"""{text}

    Args:
      window_shape: sizes of the windows along the spatial axes.
      strides: steps along these, 1 each by default.
      padding: "VALID", "SAME", or pairs of numbers for all axes.
      spec: the axes' letters, "NHWC" by default: those other than N and C are spatial.

    >>> import xcore as xc
    >>> from xcore.example_libraries import stax
    >>> stax.{name}((2, 2), strides=(2, 2))[0](xc.random.key(0), (-1, 8, 8, 3))
    ((-1, 4, 4, 3), ())
    """
    return pool


MaxPool = _pooling("MaxPool", "The largest value of each window.", -math.inf, lax.max, False)
SumPool = _pooling("SumPool", "The sum of each window.", 0.0, lax.add, False)
AvgPool = _pooling(
    "AvgPool", "The mean of each window; padding does not count.", 0.0, lax.add, True
)
Flatten = _without_parameters(
    lambda shape: (shape[0], math.prod(shape[1:])),
    lambda x, **kwargs: xnp.reshape(x, (x.shape[0], -1)),
)
Identity = _without_parameters(tuple, lambda x, **kwargs: x)


def FanOut(num: int) -> Layer:
    """The layer that gives its input ``num`` times, for `parallel` to follow.

    Args:
      num: how many times.

    >>> from xcore.example_libraries import stax
    >>> stax.FanOut(2)[1]((), 1.0)
    [1.0, 1.0]
    """
    return _without_parameters(lambda shape: [shape] * num, lambda x, **kwargs: [x] * num)


FanInSum = _without_parameters(op.itemgetter(0), lambda xs, **kwargs: functools.reduce(op.add, xs))


def FanInConcat(axis: int = -1) -> Layer:
    """The layer that joins several inputs along an axis.

    Args:
      axis: along which to join; the last one by default.

    >>> from xcore.example_libraries import stax
    >>> stax.FanInConcat()[0](None, [(-1, 2), (-1, 3)])
    ((-1, 5), ())
    """

    def shape_of(shapes):
        joined = list(shapes[0])
        joined[axis] = sum(shape[axis] for shape in shapes)
        return tuple(joined)

    return _without_parameters(shape_of, lambda xs, **kwargs: xnp.concatenate(xs, axis))


def Dropout(rate: ArrayLike, mode: str = "train") -> Layer:
    """In training, keeps each value with probability ``rate``, divided by it, and drops the others.

    Args:
      rate: the probability of keeping a value, in (0, 1].
      mode: "train"; or "eval", or "test", for the identity.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> from xcore.example_libraries import stax
    >>> apply = stax.Dropout(0.5)[1]
    >>> sorted(set(apply((), xnp.ones(50), rng=xc.random.key(0)).tolist()))
    [0.0, 2.0]
    """
    one_of("Dropout", "mode", mode, ("train", "eval", "test"), "'train', 'eval' or 'test'")

    def f(x, rng=None, **kwargs):
        if mode != "train":
            return x
        if rng is None:
            raise errors.bad_argument(
                "Dropout", "rng", None, "a key in training: apply_fun(params, inputs, rng=key)"
            )
        kept = random.bernoulli(rng, rate, x.shape)
        return xnp.where(kept, x / rate, 0)

    return _without_parameters(tuple, f)


# Combining layers


def _keys(rng, count: int):
    return (None,) * count if rng is None else random.split(rng, count)


def serial(*layers: Layer) -> Layer:
    """Layers one after the other, as one layer.

    Args:
      *layers: pairs (init, apply) in the order in which they act.

    >>> import xcore as xc
    >>> from xcore.example_libraries import stax
    >>> init, apply = stax.serial(stax.Dense(4), stax.Tanh)
    >>> shape, params = init(xc.random.key(0), (-1, 2))
    >>> shape, len(params)
    ((-1, 4), 2)
    """
    inits, applies = tuple(zip(*layers, strict=True)) or ((), ())

    def init_fun(rng, input_shape):
        params = []
        for init in inits:
            rng, key = random.split(rng)
            input_shape, param = init(key, input_shape)
            params.append(param)
        return input_shape, params

    def apply_fun(params, inputs, *, rng=None, **kwargs):
        for f, param, key in zip(applies, params, _keys(rng, len(applies)), strict=True):
            inputs = f(param, inputs, rng=key, **kwargs)
        return inputs

    return init_fun, apply_fun


def parallel(*layers: Layer) -> Layer:
    """Layers side by side: a layer of a list of inputs, one for each.

    Args:
      *layers: pairs (init, apply), in the order of the inputs.

    >>> import xcore as xc
    >>> from xcore.example_libraries import stax
    >>> both = stax.serial(stax.FanOut(2), stax.parallel(stax.Dense(4), stax.Identity))
    >>> both[0](xc.random.key(0), (-1, 2))[0]
    [(-1, 4), (-1, 2)]
    """
    inits, applies = tuple(zip(*layers, strict=True)) or ((), ())

    def init_fun(rng, input_shape):
        keys = random.split(rng, len(inits))
        made = [f(key, shape) for f, key, shape in zip(inits, keys, input_shape, strict=True)]
        return [shape for shape, _ in made], [param for _, param in made]  # pyright: ignore[reportGeneralTypeIssues]

    def apply_fun(params, inputs, *, rng=None, **kwargs):
        rows = zip(applies, params, inputs, _keys(rng, len(applies)), strict=True)
        return [f(param, x, rng=key, **kwargs) for f, param, x, key in rows]

    return init_fun, apply_fun


def shape_dependent(make_layer: Callable[[Any], Layer]) -> Layer:
    """A layer that is made when the shape of its input is known.

    Args:
      make_layer: function from the input's shape to a layer.

    >>> import xcore as xc
    >>> from xcore.example_libraries import stax
    >>> same = stax.shape_dependent(lambda shape: stax.Dense(shape[-1]))
    >>> same[0](xc.random.key(0), (-1, 3))[0]
    (-1, 3)
    """

    def init_fun(rng, input_shape):
        return make_layer(input_shape)[0](rng, input_shape)

    def apply_fun(params, inputs, **kwargs):
        return make_layer(inputs.shape)[1](params, inputs, **kwargs)

    return init_fun, apply_fun
