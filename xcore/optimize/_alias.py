"""Optimizers by their names: chains of the parts. Arguments and defaults as Optax's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._core import Array, DTypeLike, PyTree
from ._masking import add_decayed_weights, masked
from ._scaling import (
    scale_by_adadelta,
    scale_by_adam,
    scale_by_adamax,
    scale_by_amsgrad,
    scale_by_belief,
    scale_by_lion,
    scale_by_radam,
    scale_by_rms,
    scale_by_rss,
    scale_by_stddev,
    scale_by_yogi,
    trace,
)  # fmt: skip
from ._sizes import scale_by_sign, scale_by_trust_ratio
from ._transform import GradientTransformation, chain, scale_by_learning_rate


def _stepping(*parts, learning_rate):
    return chain(*[p for p in parts if p is not None], scale_by_learning_rate(learning_rate))


def sgd(
    learning_rate: float | Array | Callable[[Any], Any], momentum: float | None = None,
    nesterov: bool = False, accumulator_dtype: DTypeLike | None = None,
) -> GradientTransformation:  # fmt: skip
    """Gradient descent, with momentum if it is given. (Nesterov 1983; Sutskever et al. 2013)

      mₜ = momentum mₜ₋₁ + gₜ
      xₜ = xₜ₋₁ - α mₜ

    with gradients gₜ at parameters xₜ₋₁ and the learning rate α. (Nesterov's step is gₜ + momentum mₜ in place of mₜ.)

    Args:
      learning_rate: a number, or a schedule: a function of the step's index.
      momentum: how much of the last step is kept.
      nesterov: look ahead by the momentum.
      accumulator_dtype: dtype of the momentum; by default the parameters'.

    >>> import xcore.optimize as xo, xcore.numpy as xnp
    >>> opt = xo.sgd(0.1)
    >>> params = xnp.asarray([1.0, 2.0])
    >>> xo.apply_updates(params, opt.update(params, opt.init(params))[0])
    Array([0.9, 1.8], dtype=float32)
    """
    kept = None if momentum is None else trace(momentum, nesterov, accumulator_dtype)
    return _stepping(kept, learning_rate=learning_rate)


def adagrad(
    learning_rate: float | Array | Callable[[Any], Any], initial_accumulator_value: float = 0.1,
    eps: float = 1e-7,
) -> GradientTransformation:  # fmt: skip
    """Steps divided by the root of the sum of all squared gradients. (Duchi et al. 2011)

      sₜ = sₜ₋₁ + gₜ²
      xₜ = xₜ₋₁ - α gₜ / √(sₜ + eps)

    with gradients gₜ at parameters xₜ₋₁ and the learning rate α.

    Args:
      learning_rate: a number, or a schedule: a function of the step's index.
      initial_accumulator_value: number; where the sums of squares begin.
      eps: number added to the root.

    >>> opt = adagrad(1.0, 0.0)
    >>> round(float(opt.update(2.0, opt.init(0.0))[0]), 3)
    -1.0
    """
    return _stepping(scale_by_rss(initial_accumulator_value, eps), learning_rate=learning_rate)


def rmsprop(
    learning_rate: float | Array | Callable[[Any], Any], decay: float = 0.9, eps: float = 1e-8,
    initial_scale: float = 0.0, eps_in_sqrt: bool = True, centered: bool = False,
    momentum: float | None = None, nesterov: bool = False, bias_correction: bool = False,
) -> GradientTransformation:  # fmt: skip
    """Steps divided by the root of the average squared gradient. (Hinton 2012; Graves 2013)

      vₜ = decay vₜ₋₁ + (1 - decay) gₜ²
      xₜ = xₜ₋₁ - α gₜ / √(vₜ + eps)

    with gradients gₜ at parameters xₜ₋₁ and the learning rate α.

    Args:
      learning_rate: a number, or a schedule: a function of the step's index.
      decay: how much of the average is kept at each step.
      eps: number added to the root.
      initial_scale: number; where the average square begins.
      eps_in_sqrt: whether eps is added inside of the root.
      centered: divide by the standard deviation instead.
      momentum: how much of the last step is kept; None for no momentum.
      nesterov: look ahead by the momentum.
      bias_correction: whether averages are freed of their start at zero.

    >>> opt = rmsprop(1.0, decay=0.75)
    >>> round(float(opt.update(2.0, opt.init(0.0))[0]), 3)
    -2.0
    """
    divide = scale_by_stddev if centered else scale_by_rms
    parts = [
        divide(decay, eps, initial_scale, eps_in_sqrt, bias_correction),
        scale_by_learning_rate(learning_rate),
    ]
    return chain(*parts, *([] if momentum is None else [trace(momentum, nesterov)]))


def adadelta(
    learning_rate: float | Array | Callable[[Any], Any] | None = None, rho: float = 0.9,
    eps: float = 1e-6, weight_decay: float = 0.0, weight_decay_mask: PyTree = None,
) -> GradientTransformation:  # fmt: skip
    """Steps of the size of earlier ones, without a scale of their own. (Zeiler 2012)

      aₜ = rho aₜ₋₁ + (1 - rho) gₜ²
      uₜ = √(bₜ₋₁ + eps) gₜ / √(aₜ + eps)
      bₜ = rho bₜ₋₁ + (1 - rho) uₜ²
      xₜ = xₜ₋₁ - α uₜ

    with gradients gₜ at parameters xₜ₋₁ and the learning rate α.

    Args:
      learning_rate: a number or a schedule; 1 by default.
      rho: how much of the average squares is kept at each step.
      eps: number added to the root.
      weight_decay: this times the parameters is added to the updates.
      weight_decay_mask: a tree of booleans, or a function that makes it: what decays.

    >>> opt = adadelta(1.0)
    >>> round(float(opt.update(2.0, opt.init(0.0), 0.0)[0]), 5)
    -0.00316
    """
    return chain(
        add_decayed_weights(weight_decay, weight_decay_mask),
        scale_by_adadelta(rho, eps),
        scale_by_learning_rate(1.0 if learning_rate is None else learning_rate),
    )


def adam(
    learning_rate: float | Array | Callable[[Any], Any], b1: float = 0.9, b2: float = 0.999,
    eps: float = 1e-8, eps_root: float = 0.0, mu_dtype: DTypeLike | None = None, *,
    nesterov: bool = False,
) -> GradientTransformation:  # fmt: skip
    """Adam: average gradient over the root of the average square. (Kingma, Ba 2014)

      mₜ = b1 mₜ₋₁ + (1 - b1) gₜ
      vₜ = b2 vₜ₋₁ + (1 - b2) gₜ²
      xₜ = xₜ₋₁ - α (mₜ / (1 - b1ᵗ)) / (√(vₜ / (1 - b2ᵗ)) + eps)

    with gradients gₜ at parameters xₜ₋₁ and the learning rate α.

    Args:
      learning_rate: a number, or a schedule.
      b1, b2: how much the averages keep at each step.
      eps, eps_root: added to the root, and inside it.
      mu_dtype: dtype of the average gradient; by default the parameters'.
      nesterov: Nesterov's variant, ``nadam``. (Dozat 2016)

    >>> import xcore.optimize as xo
    >>> opt = xo.adam(0.1)
    >>> round(float(opt.update(2.0, opt.init(0.0))[0]), 4)
    -0.1
    """
    inner = scale_by_adam(b1, b2, eps, eps_root, mu_dtype, nesterov=nesterov)
    return _stepping(inner, learning_rate=learning_rate)


def nadam(
    learning_rate: float | Array | Callable[[Any], Any], b1: float = 0.9, b2: float = 0.999,
    eps: float = 1e-8, eps_root: float = 0.0, mu_dtype: DTypeLike | None = None,
) -> GradientTransformation:  # fmt: skip
    """Adam with Nesterov's momentum. (Dozat 2016)

      mₜ = b1 mₜ₋₁ + (1 - b1) gₜ
      vₜ = b2 vₜ₋₁ + (1 - b2) gₜ²
      nₜ = b1 mₜ / (1 - b1^(t + 1)) + (1 - b1) gₜ / (1 - b1ᵗ)
      xₜ = xₜ₋₁ - α nₜ / (√(vₜ / (1 - b2ᵗ)) + eps)

    with gradients gₜ at parameters xₜ₋₁ and the learning rate α.

    Args:
      learning_rate: a number, or a schedule: a function of the step's index.
      b1: how much of the average gradient is kept at each step.
      b2: how much of the average square is kept at each step.
      eps: number added to the root.
      eps_root: number added inside of the root.
      mu_dtype: dtype of the average gradient; by default the parameters'.

    >>> opt = nadam(0.1)
    >>> round(float(opt.update(2.0, opt.init(0.0))[0]), 3)
    -0.147
    """
    return adam(learning_rate, b1, b2, eps, eps_root, mu_dtype, nesterov=True)


def adamw(
    learning_rate: float | Array | Callable[[Any], Any], b1: float = 0.9, b2: float = 0.999,
    eps: float = 1e-8, eps_root: float = 0.0, mu_dtype: DTypeLike | None = None,
    weight_decay: float = 1e-4, mask: PyTree = None, *, nesterov: bool = False,
) -> GradientTransformation:  # fmt: skip
    """Adam whose weight decay is not divided by the root. (Loshchilov, Hutter 2017)

      mₜ = b1 mₜ₋₁ + (1 - b1) gₜ
      vₜ = b2 vₜ₋₁ + (1 - b2) gₜ²
      xₜ = xₜ₋₁ - α ((mₜ / (1 - b1ᵗ)) / (√(vₜ / (1 - b2ᵗ)) + eps) + λ xₜ₋₁)

    with gradients gₜ at parameters xₜ₋₁, the learning rate α and λ the ``weight_decay``.

    Arguments besides these are those of ``adam``.

    Args:
      weight_decay: this times the parameters is added to the step, times the learning rate.
      mask: a tree of booleans, or a function that makes it: what decays.

    >>> opt = adamw(0.1, weight_decay=0.5)
    >>> round(float(opt.update(2.0, opt.init(4.0), 4.0)[0]), 4)
    -0.3
    """
    return _stepping(
        scale_by_adam(b1, b2, eps, eps_root, mu_dtype, nesterov=nesterov),
        add_decayed_weights(weight_decay, mask),
        learning_rate=learning_rate,
    )


def nadamw(
    learning_rate: float | Array | Callable[[Any], Any], b1: float = 0.9, b2: float = 0.999,
    eps: float = 1e-8, eps_root: float = 0.0, mu_dtype: DTypeLike | None = None,
    weight_decay: float = 1e-4, mask: PyTree = None,
) -> GradientTransformation:  # fmt: skip
    """``adamw`` with Nesterov's momentum.

    Args:
      learning_rate: a number, or a schedule: a function of the step's index.
      b1: how much of the average gradient is kept at each step.
      b2: how much of the average square is kept at each step.
      eps: number added to the root.
      eps_root: number added inside of the root.
      mu_dtype: dtype of the average gradient; by default the parameters'.
      weight_decay: this times the parameters is added to the updates.
      mask: a tree of booleans, or a function that makes it: what decays.

    >>> opt = nadamw(0.1, weight_decay=0.0)
    >>> round(float(opt.update(2.0, opt.init(4.0), 4.0)[0]), 3)
    -0.147
    """
    return adamw(learning_rate, b1, b2, eps, eps_root, mu_dtype, weight_decay, mask, nesterov=True)


def amsgrad(
    learning_rate: float | Array | Callable[[Any], Any], b1: float = 0.9, b2: float = 0.999,
    eps: float = 1e-8, eps_root: float = 0.0, mu_dtype: DTypeLike | None = None,
) -> GradientTransformation:  # fmt: skip
    """Adam with the largest average square so far. (Reddi et al. 2018)

      mₜ = b1 mₜ₋₁ + (1 - b1) gₜ
      vₜ = b2 vₜ₋₁ + (1 - b2) gₜ²
      wₜ = max(wₜ₋₁, vₜ / (1 - b2ᵗ))
      xₜ = xₜ₋₁ - α (mₜ / (1 - b1ᵗ)) / (√wₜ + eps)

    with gradients gₜ at parameters xₜ₋₁ and the learning rate α.

    Args:
      learning_rate: a number, or a schedule: a function of the step's index.
      b1: how much of the average gradient is kept at each step.
      b2: how much of the average square is kept at each step.
      eps: number added to the root.
      eps_root: number added inside of the root.
      mu_dtype: dtype of the average gradient; by default the parameters'.

    >>> opt = amsgrad(0.1)
    >>> round(float(opt.update(2.0, opt.init(0.0))[0]), 4)
    -0.1
    """
    return _stepping(scale_by_amsgrad(b1, b2, eps, eps_root, mu_dtype), learning_rate=learning_rate)


def adamax(
    learning_rate: float | Array | Callable[[Any], Any], b1: float = 0.9, b2: float = 0.999,
    eps: float = 1e-8,
) -> GradientTransformation:  # fmt: skip
    """Adam with a decaying maximum. (Kingma, Ba 2014, section 7.1)

      mₜ = b1 mₜ₋₁ + (1 - b1) gₜ
      vₜ = max(b2 vₜ₋₁, |gₜ| + eps)
      xₜ = xₜ₋₁ - α (mₜ / (1 - b1ᵗ)) / vₜ

    with gradients gₜ at parameters xₜ₋₁ and the learning rate α.

    Args:
      learning_rate: a number, or a schedule: a function of the step's index.
      b1: how much of the average gradient is kept at each step.
      b2: how much of the largest gradient is kept at each step.
      eps: number added to the root.

    >>> opt = adamax(0.1)
    >>> round(float(opt.update(2.0, opt.init(0.0))[0]), 4)
    -0.1
    """
    return _stepping(scale_by_adamax(b1, b2, eps), learning_rate=learning_rate)


def radam(
    learning_rate: float | Array | Callable[[Any], Any], b1: float = 0.9, b2: float = 0.999,
    eps: float = 1e-8, eps_root: float = 0.0, threshold: float = 5.0, *, nesterov: bool = False,
) -> GradientTransformation:  # fmt: skip
    """Rectified Adam: plain momentum until the average square can be trusted. (Liu et al. 2019)

      ρₜ = ρ - 2 t b2ᵗ / (1 - b2ᵗ)
      rₜ² = (ρₜ - 4) (ρₜ - 2) ρ / ((ρ - 4) (ρ - 2) ρₜ)
      ρ = 2 / (1 - b2) - 1

    The step is Adam's times rₜ where ρₜ is ``threshold`` or more, and -α mₜ / (1 - b1ᵗ) before.

    Args:
      learning_rate: a number, or a schedule: a function of the step's index.
      b1: how much of the average gradient is kept at each step.
      b2: how much of the average square is kept at each step.
      eps: number added to the root.
      eps_root: number added inside of the root.
      threshold: how many values the average square must rest on to be used.
      nesterov: Nesterov's variant.

    >>> opt = radam(0.1)
    >>> round(float(opt.update(2.0, opt.init(0.0))[0]), 4)
    -0.2
    """
    inner = scale_by_radam(b1, b2, eps, eps_root, threshold, nesterov=nesterov)
    return _stepping(inner, learning_rate=learning_rate)


def lion(
    learning_rate: float | Array | Callable[[Any], Any], b1: float = 0.9, b2: float = 0.99,
    mu_dtype: DTypeLike | None = None, weight_decay: float = 1e-3, mask: PyTree = None,
) -> GradientTransformation:  # fmt: skip
    """The sign of an average gradient, and weight decay. (Chen et al. 2023)

      uₜ = sign(b1 mₜ₋₁ + (1 - b1) gₜ)
      mₜ = b2 mₜ₋₁ + (1 - b2) gₜ
      xₜ = xₜ₋₁ - α (uₜ + λ xₜ₋₁)

    with gradients gₜ at parameters xₜ₋₁, the learning rate α and λ the ``weight_decay``.

    Args:
      learning_rate: a number, or a schedule: a function of the step's index.
      b1: weight of the kept average in the sign.
      b2: how much of the kept average is kept at each step.
      mu_dtype: dtype of the average gradient; by default the parameters'.
      weight_decay: this times the parameters is added to the updates.
      mask: a tree of booleans, or a function that makes it: what decays.

    >>> opt = lion(0.1, weight_decay=0.0)
    >>> round(float(opt.update(2.0, opt.init(0.0), 0.0)[0]), 4)
    -0.1
    """
    return _stepping(
        scale_by_lion(b1, b2, mu_dtype),
        add_decayed_weights(weight_decay, mask),
        learning_rate=learning_rate,
    )


def lamb(
    learning_rate: float | Array | Callable[[Any], Any], b1: float = 0.9, b2: float = 0.999,
    eps: float = 1e-6, eps_root: float = 0.0, weight_decay: float = 0.0, mask: PyTree = None,
) -> GradientTransformation:  # fmt: skip
    """Adam with steps in proportion to each leaf's norm, for large batches. (You et al. 2019)

      xₜ = xₜ₋₁ - α ‖xₜ₋₁‖ uₜ / ‖uₜ‖

    leaf by leaf, with the learning rate α and Adam's uₜ, to which the decay has been added.

    Args:
      learning_rate: a number, or a schedule: a function of the step's index.
      b1: how much of the average gradient is kept at each step.
      b2: how much of the average square is kept at each step.
      eps: number added to the root.
      eps_root: number added inside of the root.
      weight_decay: this times the parameters is added to the updates.
      mask: a tree of booleans, or a function that makes it: what decays.

    >>> opt = lamb(0.1)
    >>> round(float(opt.update(2.0, opt.init(3.0), 3.0)[0]), 4)
    -0.3
    """
    return _stepping(
        scale_by_adam(b1, b2, eps, eps_root),
        add_decayed_weights(weight_decay, mask),
        scale_by_trust_ratio(),
        learning_rate=learning_rate,
    )


def lars(
    learning_rate: float | Array | Callable[[Any], Any], weight_decay: float = 0.0,
    weight_decay_mask: PyTree = True, trust_coefficient: float = 0.001, eps: float = 0.0,
    trust_ratio_mask: PyTree = True, momentum: float = 0.9, nesterov: bool = False,
) -> GradientTransformation:  # fmt: skip
    """Momentum with steps in proportion to each leaf's norm, for large batches. (You et al. 2017)

      uₜ = c ‖xₜ₋₁‖ (gₜ + λ xₜ₋₁) / ‖gₜ + λ xₜ₋₁‖
      mₜ = momentum mₜ₋₁ - α uₜ
      xₜ = xₜ₋₁ + mₜ

    leaf by leaf, with gradients gₜ, the learning rate α, c the ``trust_coefficient`` and λ the ``weight_decay``.

    Args:
      learning_rate: a number, or a schedule: a function of the step's index.
      weight_decay: this times the parameters is added to the gradient.
      weight_decay_mask: a tree of booleans, or a function that makes it: what decays.
      trust_coefficient: factor of the ratio of norms.
      eps: number added to the norm of the update.
      trust_ratio_mask: a tree of booleans, or a function that makes it: what is scaled by norms.
      momentum: how much of the last step is kept.
      nesterov: look ahead by the momentum.

    >>> opt = lars(0.1, trust_coefficient=1.0)
    >>> round(float(opt.update(2.0, opt.init(3.0), 3.0)[0]), 4)
    -0.3
    """
    return chain(
        add_decayed_weights(weight_decay, weight_decay_mask),
        masked(
            scale_by_trust_ratio(trust_coefficient=trust_coefficient, eps=eps), trust_ratio_mask
        ),
        scale_by_learning_rate(learning_rate),
        trace(momentum, nesterov),
    )


def adabelief(
    learning_rate: float | Array | Callable[[Any], Any], b1: float = 0.9, b2: float = 0.999,
    eps: float = 1e-16, eps_root: float = 1e-16, *, nesterov: bool = False,
) -> GradientTransformation:  # fmt: skip
    """Adam that trusts gradients that are as expected. (Zhuang et al. 2020)

      mₜ = b1 mₜ₋₁ + (1 - b1) gₜ
      vₜ = b2 vₜ₋₁ + (1 - b2) (gₜ - mₜ)²
      xₜ = xₜ₋₁ - α (mₜ / (1 - b1ᵗ)) / (√(vₜ / (1 - b2ᵗ)) + eps)

    with gradients gₜ at parameters xₜ₋₁ and the learning rate α.

    Args:
      learning_rate: a number, or a schedule: a function of the step's index.
      b1: how much of the average gradient is kept at each step.
      b2: how much of the average square is kept at each step.
      eps: number added to the root.
      eps_root: number added inside of the root.
      nesterov: Nesterov's variant.

    >>> opt = adabelief(0.1)
    >>> round(float(opt.update(2.0, opt.init(0.0))[0]), 4)
    -0.1111
    """
    inner = scale_by_belief(b1, b2, eps, eps_root, nesterov=nesterov)
    return _stepping(inner, learning_rate=learning_rate)


def yogi(
    learning_rate: float | Array | Callable[[Any], Any], b1: float = 0.9, b2: float = 0.999,
    eps: float = 1e-3,
) -> GradientTransformation:  # fmt: skip
    """Adam whose average square moves by a limited amount. (Zaheer et al. 2018)

      mₜ = b1 mₜ₋₁ + (1 - b1) gₜ
      vₜ = vₜ₋₁ - (1 - b2) sign(vₜ₋₁ - gₜ²) gₜ²
      xₜ = xₜ₋₁ - α (mₜ / (1 - b1ᵗ)) / (√(vₜ / (1 - b2ᵗ)) + eps)

    with gradients gₜ at parameters xₜ₋₁ and the learning rate α.

    Args:
      learning_rate: a number, or a schedule: a function of the step's index.
      b1: how much of the average gradient is kept at each step.
      b2: how much of the average square is kept at each step.
      eps: number added to the root.

    >>> opt = yogi(0.1)
    >>> round(float(opt.update(2.0, opt.init(0.0))[0]), 4)
    -0.0999
    """
    return _stepping(scale_by_yogi(b1, b2, eps), learning_rate=learning_rate)


def sign_sgd(learning_rate: float | Array | Callable[[Any], Any]) -> GradientTransformation:
    """Steps of one size, in the direction of the gradient's signs. (Bernstein et al. 2018)

      xₜ = xₜ₋₁ - α sign(gₜ)

    with gradients gₜ at parameters xₜ₋₁ and the learning rate α.

    Args:
      learning_rate: a number, or a schedule: a function of the step's index.

    >>> opt = sign_sgd(0.1)
    >>> round(float(opt.update(2.0, opt.init(0.0))[0]), 4)
    -0.1
    """
    return _stepping(scale_by_sign(), learning_rate=learning_rate)
