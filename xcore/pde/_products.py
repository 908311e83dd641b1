"""Products and polynomials of operators, which are solved one factor after another.

Next neighbours tell nothing of a fourth derivative, but all of each factor of Δ Δ. A polynomial of one operator is a
product of differences to its zeros, which may be complex, so Δ Δ + c and (1 + Δ)² - r are products as well; of a
Laplace operator with constant coefficients its modes are those of the polynomial. What is added to a product of two
others is left to Krylov's method, but for a number, of which each factor gets its part.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from .. import numpy as xnp
from .._core import tree, typeof
from ..numpy._select import safe_divide
from ._diffusion import Diffusion
from ._direct import apply_function
from ._fields import Combined, Composed, GridOperator
from ._laplacian import Laplacian
from ._operators import Helmholtz

_BESIDE = (
    0.1  # of a zero's size: as far from the real axis no eigenvalue of a symmetric operator is near
)


class Polynomial(NamedTuple):
    """Σ coefficients[k] base^k."""

    base: Any
    coefficients: Any

    @property
    def zeros(self) -> np.ndarray:
        return np.roots(np.asarray(self.coefficients)[::-1])

    def inverse(self, u):
        """What solves it, of a Laplace operator: modes are divided by its values at their eigenvalues. What a singular
        operator takes to 0 is left out."""
        c = self.coefficients.astype(xnp.result_type(u, self.coefficients))

        def of(w):
            value = functools.reduce(lambda p, k: p * w + c[k], range(len(c) - 2, -1, -1), c[-1])
            least = 1e-3 * float(xnp.finfo(typeof(w).dtype).eps) * xnp.max(xnp.abs(w))
            kept = (xnp.abs(w) > least) | (c[0] != 0)
            return safe_divide(1.0, value, where=kept)

        return apply_function(self.base, u.astype(typeof(c).dtype), of)


def shifted(term) -> tuple | None:
    """(Laplace operator, q, a) of a Δ + q with constant coefficients."""
    if isinstance(term, Laplacian):
        return term, 0.0, 1.0
    return term.shifted() if isinstance(term, Diffusion | Helmholtz) and term.constant else None


def polynomial(op: GridOperator) -> Polynomial | None:
    """Of which operator this is a polynomial, and which; None of sums and products of several ones."""
    if isinstance(op, Composed):
        parts = [polynomial(x) for x in (op.outer, op.inner)]
        return _joined(parts, np.polynomial.polynomial.polymul)
    if not isinstance(op, Combined):
        own = shifted(op)
        if own is None:
            return Polynomial(op, np.array([0.0, 1.0]))
        return Polynomial(own[0], np.array([np.asarray(x).item() for x in own[1:]]))
    numbers = [*op.factors, 0.0 if op.c is None else op.c]
    if any(xnp.ndim(x) for x in numbers):
        return None
    *factors, c = [np.asarray(x).item() for x in numbers]
    parts = [p and p._replace(coefficients=k * p.coefficients)
             for p, k in zip(map(polynomial, op.terms), factors, strict=True)]  # fmt: skip
    made = _joined(parts, np.polynomial.polynomial.polyadd)
    return made and made._replace(
        coefficients=np.polynomial.polynomial.polyadd(made.coefficients, [c])
    )


def _joined(parts: list, how) -> Polynomial | None:
    if any(p is None or not _same(p.base, parts[0].base) for p in parts):
        return None
    return Polynomial(parts[0].base, functools.reduce(how, [p.coefficients for p in parts]))


def _same(a, b) -> bool:
    """Whether operators are the same, of Laplace operators but for the data on faces."""
    if isinstance(a, Laplacian) and isinstance(b, Laplacian):
        kinds = [[c.kind for pair in x.faces for c in pair] for x in (a, b)]
        return (a.grid, a.order, kinds[0]) == (b.grid, b.order, kinds[1])
    (these, one), (those, other) = tree.flatten(a), tree.flatten(b)
    return one == other and all(map(np.array_equal, map(np.asarray, these), map(np.asarray, those)))


def is_product(op: GridOperator) -> bool:
    """Whether there is a product in it."""
    return isinstance(op, Composed) or (isinstance(op, Combined) and any(map(is_product, op.terms)))


def by_modes(op: GridOperator) -> Polynomial | None:
    """The polynomial of a Laplace operator that it is."""
    p = polynomial(op)
    return p if p is not None and isinstance(p.base, Laplacian) else None


def with_mean(op: GridOperator) -> GridOperator:
    """An operator with the mean of what multiplies u in place of it."""
    if not isinstance(op, Combined) or op.c is None or not xnp.ndim(op.c):
        return op
    return op.replace(c=xnp.mean(op.c))


def factors(op: GridOperator) -> tuple | None:
    """(factors, whether they are all of it) of a product, the outermost first; None where there is no product."""
    p = polynomial(op)
    if p is not None:
        if len(p.coefficients) < 3:
            return None
        first, *rest = [1.0 * p.base - _real_if(z) for z in p.zeros]
        return (_real_if(p.coefficients[-1]) * first, *rest), True
    if isinstance(op, Composed):
        parts = [factors(x) or ((x,), True) for x in (op.outer, op.inner)]
        return (*parts[0][0], *parts[1][0]), parts[0][1] and parts[1][1]
    if not isinstance(op, Combined):
        return None
    return _leading(op)


def _leading(op: Combined) -> tuple | None:
    """Of the one product in a sum, with a part of what multiplies u in each of its factors: (a + is)(b - it) is
    a b + s t, but for multiples of the factors, s and t going with their sizes."""
    places = [i for i, t in enumerate(op.terms) if isinstance(t, Composed)]
    if len(places) != 1 or xnp.ndim(op.factors[places[0]]):
        return None
    k, product = op.factors[places[0]], op.terms[places[0]]
    own = [factors(x) for x in (product.outer, product.inner)]
    if op.c is None or any(own):
        made = factors(product) or ((product.outer, product.inner), True)
        return (k * made[0][0], *made[0][1:]), False
    s = np.sqrt(complex(np.mean(np.asarray(op.c)) / np.asarray(k)))
    probe = np.random.default_rng(0).standard_normal(product.field_shape)
    sizes = [
        float(np.linalg.norm(np.asarray(x(probe)))) or 1.0 for x in (product.outer, product.inner)
    ]
    by = (sizes[0] / sizes[1]) ** 0.5
    first = 1.0 * product.outer + _real_if(1j * s * by)
    return (k * first, 1.0 * product.inner - _real_if(1j * s / by)), False


def _real_if(z):
    return z.real if np.imag(z) == 0 else complex(z)


def positive(op: GridOperator, seen) -> bool:
    """Whether a polynomial of a symmetric operator is known to be definite, which it is away from its zeros: these must
    not lie where eigenvalues may be. ``seen`` gives the portrait of an operator."""
    p = polynomial(op)
    if p is None or len(p.coefficients) < 3:
        return False
    base = seen(p.base)
    z = p.zeros * np.real(base.turn)
    away = (z.real <= 0) | (np.abs(z.imag) > _BESIDE * np.abs(z))
    return base.symmetric and base.one_sided and bool(np.all(away))
