"""Functions of Hermitian matrices, with derivatives of all orders where eigenvalues repeat too.

With a = v diag(w) vᴴ and pₖ = vᴴ eₖ v the derivatives of f(a) are made of the multilinear

    m(a; e₁ … eₖ) = v (Σ f[w[i₀], …, w[iₖ]] p₁[i₀,i₁] … pₖ[iₖ₋₁,iₖ])[i₀,iₖ] vᴴ

of divided differences f[…], which are smooth where their arguments meet: the derivative of m along d
is the sum of m with d put before, between and after the e. (Daleckii and Krein 1965; Bhatia 1997,
"Matrix analysis", section V.3)
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import custom_jvp, jvp, linear_call
from .._core import Array, ArrayLike, dtypes, fused, typeof
from .._ops import adjoint, matmul, swapped
from .._solution import Solution
from ._arguments import as_inexact, check_matrices, epsilon, in_lapack_dtype
from ._at_eigenvalues import of_hermitian
from ._sensitivity import nothing

# Divided differences

_FINE, _COARSE = 5, 3  # nodes of the rule that is used, and of the one that tells its error


def divided_difference(f, xs):
    """(f[x₀, …, xₖ], about its error) for a smooth f and real arrays, equal or not.

    Either the quotient of differences, which rounding spoils where the x are close, or an integral,
        f[x₀, …, xₖ] = ∫₀¹ sᵏ⁻¹ f′[x₀ + s (x₁ - x₀), …, x₀ + s (xₖ - x₀)] ds,
    which is good where they are: at each place the one of less error.
    """
    first = xs[0]
    if len(xs) == 1:
        value = f(first)
        return value, epsilon(first) * xnp.abs(value)
    xs = list(xnp.sort(xnp.stack(xs), axis=0))
    width = xs[-1] - xs[0]
    apart = xnp.where(width > 0, width, 1)
    (high, high_error), (low, low_error) = (
        divided_difference(f, part) for part in (xs[1:], xs[:-1])
    )
    quotient, rounded = (high - low) / apart, (high_error + low_error) / apart
    integral = _by_integral(f, xs, _FINE)
    truncated = xnp.abs(integral - _by_integral(f, xs, _COARSE)) + epsilon(first) * xnp.abs(
        integral
    )
    better = (width > 0) & ~(truncated <= rounded)  # and where the integral is not finite
    return xnp.where(better, quotient, integral), xnp.where(better, rounded, truncated)


def _by_integral(f, xs, count: int):
    if len(xs) == 1:
        return f(xs[0])
    nodes, weights = np.polynomial.legendre.leggauss(count)
    total = 0.0
    for s, w in zip((nodes + 1) / 2, weights / 2, strict=True):
        inner = [xs[0] + float(s) * (x - xs[0]) for x in xs[1:]]
        total = total + float(w * s ** (len(xs) - 2)) * _by_integral(_slope(f), inner, count)
    return total


def _slope(f):
    return lambda x: jvp(f, (x,), (xnp.ones_like(x),))[1]


# Functions


def _differences(f, w, order: int):
    """f[w[i₀], …, w[iₖ]] for all indices."""
    *lead, n = typeof(w).shape
    full = (*lead, *[n] * (order + 1))
    beside = lambda k: (*lead, *[1] * k, n, *[1] * (order - k))  # noqa: E731
    xs = [xnp.broadcast_to(xnp.reshape(w, beside(k)), full) for k in range(order + 1)]
    return divided_difference(f, xs)[0]


def _summed(differences, ps):
    letters = "abcdefghijklmnop"
    whole = letters[: len(ps) + 1]
    pairs = ",".join(f"...{whole[k : k + 2]}" for k in range(len(ps)))
    return xnp.einsum(
        f"...{whole},{pairs}->...{whole[0]}{whole[-1]}", differences, *ps, precision="highest"
    )


def _multilinear(f):
    """m as a function of a and e₁, …, eₖ, for any k."""

    @custom_jvp
    def m(a, *es):
        w, v = ops.eigh(ops.stop_gradient(a), vectors=True)
        differences = _differences(f, w, len(es)).astype(_dtype_of(f, w, a))
        v, *es = (x.astype(typeof(differences).dtype) for x in (v, *es))
        back = adjoint(v)
        if not es:
            return matmul(v * differences[..., None, :], back)
        ps = [matmul(back, matmul(e, v)) for e in es]
        return matmul(v, matmul(_summed(differences, ps), back))

    def linear_in(a, before, after, e):
        """m(a, *before, e, *after), linear in e, with its transpose: what stands in a trace may go
        around."""

        def transposed(held, ct):
            a, before, after = held
            out = swapped(m(a, *after, swapped(ct), *before))
            return out if dtypes.is_complex(typeof(e).dtype) else xnp.real(out)

        along = lambda held, e: m(held[0], *held[1], e, *held[2])  # noqa: E731
        return linear_call(along, transposed, (a, before, after), e)

    @m.defjvp
    def _(primals, tangents):
        (a, *es), (d, *moves) = primals, tangents
        terms = [linear_in(a, es[:i], es[i:], d) for i in range(len(es) + 1)]
        terms += [linear_in(a, es[:i], es[i + 1 :], e) for i, e in enumerate(moves)]
        return m(a, *es), functools.reduce(xnp.add, terms)

    return m


def _dtype_of(f, w, a):
    """The dtype of f(a): complex if f or a is."""
    value = xnp.asarray(f(w[..., :0]))
    wide = typeof(a).dtype
    return dtypes.to_complex(wide) if dtypes.is_complex(typeof(value).dtype) else wide


@fused(1)
def _funmh(a, f, report):
    """(f(a), status and report if asked for)"""
    given = as_inexact("linalg.funmh", a)
    eps = epsilon(given[0])
    a, back = in_lapack_dtype(*given)
    check_matrices("linalg.funmh", square=True, a=a)
    if 0 in typeof(a).shape:
        return back(a), nothing(a, eps) if report else None
    hermitian = (a + adjoint(a)) * ops.full_like_type(typeof(a), 0.5)
    values_of = lambda w: xnp.asarray(f(w))  # noqa: E731
    x = back(_multilinear(values_of)(hermitian))
    if not report:
        return x, None
    w, v = ops.eigh(ops.stop_gradient(hermitian), vectors=True)
    return x, of_hermitian(hermitian, w, v, values_of, x, eps)


def funmh(a: ArrayLike, f: Callable[[Array], Array], *, report: bool = False) -> Array | Solution:
    """f(a) = v diag(f(w)) vᴴ for a Hermitian matrix a = v diag(w) vᴴ and a function f of numbers.

    Derivatives are right where eigenvalues repeat, or nearly so (tests go to the third; one rule makes
    those of every order), and cost what evaluations cost: the k-th holds nᵏ⁺¹ numbers.
    (``eigh`` and a product give NaN there, for what
    is differentiated backwards then is not determined.)

    Args:
      a: matrices (..., n, n); their Hermitian part is taken.
      f: function of real arrays, elementwise; smooth where derivatives are asked for.
      report: return a ``Solution`` with a ``Certificate`` of the error, |a - v diag(w) vᴴ| max |f[λ, μ]| and
        how far x is from v diag(f(w)) vᴴ, in the Frobenius norm and relative to the largest element, and the
        condition max |f[λ, μ]| |a| / |x|, with divided differences of f between numbers as near to eigenvalues
        as rounding leaves them. Where f jumps there nothing is claimed. f is taken to be right to rounding.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> root = lambda a: xc.linalg.funmh(a, xnp.sqrt)
    >>> xnp.round(root(xnp.asarray([[5.0, 4.0], [4.0, 5.0]])), 3)
    Array([[2., 1.],
           [1., 2.]], dtype=float32)
    >>> change = xnp.asarray([[0.0, 1.0], [1.0, 0.0]])
    >>> xnp.round(xc.jvp(root, (4 * xnp.eye(2),), (change,))[1], 3)
    Array([[0.  , 0.25],
           [0.25, 0.  ]], dtype=float32)
    """
    x, verdict = _funmh(a, f, report)
    return x if verdict is None else Solution(x, *verdict)
