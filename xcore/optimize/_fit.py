"""Training: one compiled program that goes through the data in small batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as xnp
from .. import random
from .._control import jit, scan, value_and_grad
from .._core import Key, PyTree, dtypes, errors, is_evaluating, struct, tree, typeof
from .._iterate import counted
from ._transform import GradientTransformation, apply_updates


@struct
class TrainState:
    """The outcome of ``fit``, and where a next call goes on.

    Attributes:
      params: the trained parameters.
      opt_state: the optimizer's state.
      epoch: how many passes through the data were made in all.
      losses: the loss of each step, before it: shape (epochs, steps per epoch).

    >>> import xcore.numpy as xnp, xcore.optimize as xo
    >>> loss = lambda w: (w - 3) ** 2
    >>> done = xo.fit(loss, xnp.asarray(0.0), None, xo.sgd(0.5), epochs=2)
    >>> done.params, done.epoch, done.losses.shape
    (Array(3., dtype=float32, weak_type=True), Array(2, dtype=int32), (2, 1))
    """

    params: Any
    opt_state: Any
    epoch: Any
    losses: Any


def _rows(data) -> int:
    sizes = {typeof(xnp.asarray(x)).shape[:1] for x in tree.leaves(data)}
    if len(sizes) != 1 or sizes == {()}:
        raise ValueError(
            "xcore.optimize.fit: all arrays of data must have the same length along their first axis, "
            f"given {tree.map(lambda x: typeof(xnp.asarray(x)).shape, data)}."
        )
    return sizes.pop()[0]


def _batches(data, batch_size, key, epoch):
    """The data in batches, in an order that depends on the key and the epoch alone."""
    if data is None:
        return None, 1
    n = _rows(data)
    size = n if batch_size is None else batch_size
    if not isinstance(size, (int, np.integer)) or not 1 <= size <= n:
        raise ValueError(
            f"xcore.optimize.fit: batch_size must be a whole number between 1 and {n}, the number of "
            f"examples; given {size!r}."
        )
    steps = n // size
    if key is not None:
        order = random.permutation(random.fold_in(key, epoch), n)[: steps * size]
        data = tree.map(lambda x: xnp.asarray(x)[order], data)
    cut = lambda x: xnp.asarray(x)[: steps * size].reshape(steps, size, *x.shape[1:])  # noqa: E731
    return tree.map(cut, data), steps


def fit(
    loss: Callable[..., Any], params: PyTree, data: PyTree, optimizer: GradientTransformation, *,
    epochs: int = 1, batch_size: int | None = None, key: Key | None = None,
    resume: TrainState | None = None, progress: str | bool = False,
    callback: Callable[..., Any] | None = None,
) -> TrainState:  # fmt: skip
    """Train parameters: ``epochs`` passes through the data, one optimizer step for each batch.

    All of it is one compiled program. What is left of the data after the last whole batch waits for
    another epoch, in which the order is another one.

    Args:
      loss: ``loss(params, batch)``, a scalar; with ``data=None``, ``loss(params)``.
      params: tree of arrays to start from, real or complex.
      data: tree of arrays with the examples along the first axis, or None.
      optimizer: a gradient transformation, such as ``adam(1e-3)``.
      epochs: passes through the data.
      batch_size: examples for each step; all by default.
      key: random key of the order; None leaves it as it is.
      resume: the result of an earlier call, which is continued as if it had not ended; then
        ``params`` is not used. With the same key the numbers are the same to the last bit.
      progress: show a progress bar; a text is its label.
      callback: ``callback(fit)`` after each epoch, given a ``TrainState`` with the losses of this epoch; training ends
        early where it returns True. Each epoch is then a call of one compiled program.

    >>> import xcore.optimize as xo, xcore.numpy as xnp
    >>> x = xnp.linspace(0.0, 1.0, 8)
    >>> line = lambda w, batch: xnp.mean((w * batch[0] - batch[1]) ** 2)
    >>> done = xo.fit(line, xnp.asarray(0.0), (x, 3 * x), xo.sgd(0.5), epochs=100)
    >>> round(float(done.params), 3), done.losses.shape
    (3.0, (100, 1))
    >>> xo.fit(line, 0.0, (x, 3 * x), xo.sgd(0.5), epochs=100, callback=lambda f: f.losses[-1] < 1e-3).epoch
    Array(11, dtype=int32)
    """
    _check("optimizer", optimizer, hasattr(optimizer, "init") and hasattr(optimizer, "update"))
    _check("loss", loss, callable(loss))
    if not isinstance(epochs, (int, np.integer)) or epochs < 0:
        raise ValueError(f"xcore.optimize.fit: epochs must be a number >= 0, given {epochs!r}.")
    params = tree.map(xnp.asarray, params)
    _check_params(params if resume is None else resume.params)
    _check_data(data)
    start = resume or TrainState(params, optimizer.init(params), xnp.zeros((), np.int32), None)

    def step(state, batch):
        params, opt_state = state
        value, g = value_and_grad(loss)(params, *([] if data is None else [batch]))
        uphill = tree.map(
            xnp.conj, g
        )  # of complex numbers a gradient is the conjugate of the way up
        updates, opt_state = optimizer.update(uphill, opt_state, params)
        return (apply_updates(params, updates), opt_state), value

    def run(start, data, key, epochs):
        def one_epoch(state, epoch):
            batches, steps = _batches(data, batch_size, key, epoch)
            return scan(step, state, batches, length=steps)

        numbers = start.epoch + xnp.arange(epochs, dtype=np.int32)
        state = (start.params, start.opt_state)
        (params, opt_state), losses = scan(
            one_epoch, state, numbers, progress=progress if callback is None else False
        )
        return TrainState(params, opt_state, start.epoch + np.int32(epochs), losses)

    go = jit(run, static_argnums=3) if is_evaluating() else run
    start = start.replace(losses=None)
    if callback is None or not epochs:
        return go(start, data, key, epochs)
    _check_callback(callback)
    with counted(progress, int(epochs)) as count:
        return _watched(lambda start: go(start, data, key, 1), start, epochs, callback, count)


def _watched(one_epoch, start: TrainState, epochs: int, callback, count) -> TrainState:
    """Epoch by epoch, each counted, until the callback says that it is enough."""
    losses = []
    for _ in range(epochs):
        found = one_epoch(start)
        start = found.replace(losses=None)
        losses.append(found.losses)
        count()
        if callback(found):
            break
    return start.replace(losses=xnp.concatenate(losses) if losses else None)


def _check_callback(callback) -> None:
    if not callable(callback):
        raise TypeError(
            f"xcore.optimize.fit: callback must be a function, given {errors.describe(callback)}."
        )
    if not is_evaluating():
        raise ValueError(
            "xcore.optimize.fit: a callback runs between compiled epochs: not inside of jit, grad or vmap."
        )


def _check_data(data) -> None:
    if any(isinstance(x, (int, float, complex)) for x in tree.leaves(data)):
        raise TypeError(
            "xcore.optimize.fit: data must be a tree of arrays, given one of Python numbers, as lists are "
            "(containers of their elements). Make arrays of them: xnp.asarray(…)."
        )


def _check_params(params) -> None:
    for path, x in tree.leaves_with_path(params):
        if not dtypes.is_inexact(typeof(x).dtype):
            raise errors.DTypeError(
                f"xcore.optimize.fit: params{tree.keystr(path)} must be a floating-point number, as it is moved down a "
                f"gradient, given {typeof(x)}. Give 1.0 instead of 1, or convert with .astype(float); what is not to "
                "be trained belongs to loss or data."
            )


def _check(name: str, value, fine: bool) -> None:
    if not fine:
        what = "a function" if name == "loss" else "a gradient transformation such as adam(1e-3)"
        raise TypeError(
            f"xcore.optimize.fit: {name} must be {what}, given {errors.describe(value)}."
        )
