"""Eigenvalues and singular values of operators: Lanczos, random projections.

Derivatives of eigenvalues and their vectors are those of the equations that they solve
(``_eigenpairs``): the iterations are not looked into.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import cond, fori_loop
from .._control.levels import OF_MANY_OPERATIONS
from .._control.once import as_one_program
from .._core import Array, ArrayLike, Key, dtypes, errors, require, tree, typeof
from .._core.settings import one_of
from .._iterate import checkpoints, history_of
from .._solution import Solution, Status, first_that_holds
from ..numpy._matrices import SVDResult
from ..numpy._select import safe_divide
from ..random import normal
from ._arguments import epsilon, modulus
from ._eigenpairs import with_derivatives
from ._elimination import first_zero
from ._factors import factorise, kind_for
from ._krylov import MINRES
from ._linear_solve import solved_within
from ._mass import Mass, dual_lengths, lengths, mass_of, rounded, weighted
from ._operators import (
    FunctionOperator,
    InUnits,
    LinearOperator,
    Matrix,
    as_operator,
    in_dtype_of_products,
)  # fmt: skip
from ._range import (
    any_subnormal,
    divided,
    in_units,
    inner,
    magnitude,
    norm,
    unit_for,
    unit_of,
)
from ._restarted import WHICH, fresh, largest_pairs
from ._truth import check_later, check_status, fail, of_pairs


def _dtype_of(a: LinearOperator):
    """The dtype that an operator's arrays have; the default one if it has none."""
    held = [typeof(xnp.asarray(x)).dtype for x in tree.leaves(a)]
    inexact = [d for d in held if dtypes.is_inexact(d)]
    return inexact[0] if inexact else dtypes.default_dtype("float")


def _irregular(shape: tuple, dtype):
    """Fixed numbers without order, to start from where nothing is known."""
    numbers = np.sin(1.0 + np.arange(np.prod(shape)) ** 2).reshape(shape)
    return xnp.asarray(numbers.astype(dtypes.to_real(dtype))).astype(dtype)


def _letters(word: str) -> np.ndarray:
    return np.frombuffer(word.encode(), np.uint8)


def _square(who: str, a) -> LinearOperator:
    a = as_operator(a)
    if a.shape[0] != a.shape[1]:
        raise errors.ShapeError(f"xcore.{who}: need a symmetric operator, given shape {a.shape}.")
    return a


def rayleigh(a: LinearOperator, v):
    """vᴴ a v for each column."""
    return xnp.real(xnp.sum(xnp.conj(v) * a.matmat(v), axis=0))


def lanczos(a: ArrayLike | LinearOperator, x0: ArrayLike, ncv: int) -> tuple[Array, Array, Array]:
    """(q, alpha, beta): a q ≈ q t with orthonormal columns q (n, ncv) and t tridiagonal.

    Vectors are orthogonalised against all earlier ones, twice. (Parlett 1998, chapter 13) Where they
    span an invariant space, a new one starts the next: beta is 0 there.

    Args:
      a: symmetric operator or matrix (n, n).
      x0: vector (n,) to start from.
      ncv: how many columns, at most n.

    >>> import xcore.numpy as xnp
    >>> q, alpha, beta = lanczos(xnp.diag(xnp.asarray([1.0, 2.0])), xnp.ones(2), 2)
    >>> [round(float(x), 4) for x in alpha]
    [1.5, 1.5]
    """
    a, start = _square("linalg.lanczos", a), xnp.asarray(x0)
    n = a.shape[0]
    if start.shape != (n,):
        raise errors.shape_mismatch("linalg.lanczos", f"need x0 of shape ({n},)", x0=start)
    if not 0 < ncv <= n:
        raise errors.bad_argument("linalg.lanczos", "ncv", ncv, f"a number from 1 to {n}")
    start = start.astype(dtypes.to_inexact(start.dtype))
    start = in_dtype_of_products(a, start)
    dtype = typeof(start).dtype
    real = dtypes.to_real(dtype)

    def orthogonal(q, w):
        for _ in range(2):
            w = w - q.T @ (xnp.conj(q) @ w)
        return w

    def another(q, k):
        """A vector out of the space so far, which is invariant."""
        return orthogonal(q, xnp.sin(xnp.arange(n) * (k + 2.5)).astype(dtype))

    def body(k, state):
        q, alpha, beta, v = state
        q = q.at[k].set(v)
        w = times(v)
        alpha = alpha.at[k].set(xnp.real(inner(v, w)))
        w = orthogonal(q, w)
        size = norm(w)
        small = size <= 10 * xnp.finfo(real).eps * xnp.max(xnp.abs(alpha))
        beta = beta.at[k].set(xnp.where(small, 0, size))
        w = cond(small, lambda q, w: another(q, k), lambda q, w: w, q, w)
        return q, alpha, beta, safe_divide(w, norm(w).astype(dtype))

    empty = xnp.zeros(ncv, real)
    _, start = in_units(start)
    size = norm(start)
    start = xnp.where(size == 0, _irregular((n,), dtype), start)
    first = start / norm(start).astype(dtype)
    unit = ops.stop_gradient(unit_of(a.mv(first)))
    times = divided(a.mv, unit)
    q, alpha, beta, _ = fori_loop(0, ncv, body, (xnp.zeros((ncv, n), dtype), empty, empty, first))
    return q.T, alpha * unit, beta[:-1] * unit


INVERSES: dict[type, Any] = {}  # of classes of operators: functions of (a, σ)


def _inverse_of(a: LinearOperator, sigma, unit) -> LinearOperator:
    """(a - σ)⁻¹, with both divided by a unit.

    Of a matrix by its factors, of a sparse one by what its package does, of others by MINRES.
    """
    shape, dtype = a.shape, _dtype_of(a)
    if type(a) in INVERSES:
        return InUnits(INVERSES[type(a)](a, sigma), 1 / unit)
    if isinstance(a, Matrix):
        matrix = (xnp.asarray(a.a) / unit).astype(dtype)
        shifted = matrix - (sigma / unit) * xnp.eye(shape[0], dtype=dtype)
        factors = factorise(ops.stop_gradient(shifted), kind_for(shifted))
        pivot = first_zero(factors.pivots())
        fail("linalg.eigsh (a - sigma, so sigma is an eigenvalue)", shifted, pivot, "lapack")
        return FunctionOperator(_solved_by, factors, shape, symmetric=True)
    of_minres = (InUnits(a, unit), sigma / unit)
    return FunctionOperator(_solved_by_minres, of_minres, shape, symmetric=True)


def _solved_by(factors, x):
    return factors.solve(x[:, None])[:, 0]


def _solved_by_minres(params, x):
    a, sigma = params
    shifted = FunctionOperator(
        lambda p, x: p[0].mv(x) - p[1] * x, (a, sigma), a.shape, symmetric=True
    )
    eps = float(dtypes.finfo(dtypes.to_real(typeof(x).dtype)).eps)
    return solved_within(shifted, x, MINRES(rtol=eps**0.75), eps**0.5, "linalg.eigsh with a shift")


def eigsh(
    a: ArrayLike | LinearOperator, k: int = 6, *, M: ArrayLike | LinearOperator | None = None,
    which: str = "largest", x0: ArrayLike | None = None, ncv: int | None = None,
    sigma: ArrayLike | None = None, inverse: ArrayLike | LinearOperator | None = None,
    rtol: float | None = None, max_steps: int = 300, report: bool = False, history: bool = False,
    progress: str | bool = False, checkpoint: str | Path | None = None,
) -> tuple[Array, Array] | Solution:  # fmt: skip
    """(w, v): k eigenvalues, ascending, of a symmetric operator and their vectors, by Lanczos.

        a v = w v, or with M  a v = w M v

    The space is restarted until all residuals |a v - w v| meet the tolerance, and then searched once more
    from a random vector orthogonal to what was found, for copies of eigenvalues that repeat.
    Derivatives, of any order, need the eigenvalues found to be distinct from all others. They, and
    shifts without an ``inverse``, take solutions by MINRES; where these fail all is NaN, and
    ``checkify`` says why.

    Args:
      a: symmetric operator or matrix (n, n).
      k: how many.
      M: matrix, dense or sparse, or operator, Hermitian and positive definite. Vectors are orthonormal in its inner
        product then, vᴴ M v = 1, and residuals r are told, and bound errors of w, as (rᴴ M⁻¹ r)^½. Solutions with
        M are by Cholesky factors, of operators by conjugate gradients.
      which: "largest" or "smallest"; SciPy's "LA", "SA" are the same, "LM" and "SM" go by modulus,
        "BE" takes half from each end. Not used with a shift.
      x0: vector (n,) to start from; a fixed one of irregular numbers by default.
      ncv: size of the space; min(n, max(2 k + 1, 20)) by default. More takes fewer restarts.
      sigma: find the eigenvalues next to this shift, from solutions with a - σ (a - σ M); that takes far
        fewer steps where eigenvalues are close, as the smallest of a discrete Laplacian are.
      inverse: operator x ↦ (a - σ M)⁻¹ x; by default factors of a matrix, sparse or not, or MINRES.
      rtol: tolerance for the residuals, relative to the norm of a; precision^¾ by default.
      max_steps: at most this many restarts.
      report: return a ``Solution`` instead of raising SolverError where the tolerance was missed. Its certificate
        are, for each pair, the residual, a bound of the error of w with it, and one of the sine of the
        angle of v, from the gaps to the other values found; and the number of products.
      history: with ``report``, keep the residuals of the pairs wanted, as the space shows them (with a shift those
        of the inverse): row k after restart k, row 0 infinite, for nothing is known yet.
      progress: show the number of restarts and their rate; a text is the label.
      checkpoint: a folder, in which the state is kept about every ten seconds; a call with the same folder goes
        on from there. Not inside of ``jit``, ``grad`` and ``vmap``. A folder of another problem is refused.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> a = xnp.diag(xnp.arange(1.0, 9.0))
    >>> [round(float(x), 3) for x in xc.linalg.eigsh(a, 2)[0]]
    [7.0, 8.0]
    >>> [round(float(x), 3) for x in xc.linalg.eigsh(a, 2, sigma=3.2)[0]]
    [3.0, 4.0]
    >>> [round(float(x), 3) for x in xc.linalg.eigsh(a, 2, M=2 * xnp.eye(8))[0]]
    [3.5, 4.0]
    """
    who = "linalg.eigsh"
    one_of(who, "which", which, tuple(WHICH))
    require("0 or more", who, rtol=rtol)
    require("1 or more", who, max_steps=max_steps, ncv=ncv)
    a = _square(who, a)
    n, shifted = a.shape[0], sigma is not None or inverse is not None
    _check_count(who, k, n)
    _check_symmetric(who, a)
    m = max(2 * k + 1, 20) if ncv is None else ncv
    start = _start(who, a, x0)
    rtol = epsilon(start) ** 0.75 if rtol is None else rtol
    real = dtypes.to_real(typeof(start).dtype)
    shift = xnp.asarray(0.0 if sigma is None else sigma, real) if shifted else None
    of_mass = None if M is None else weight(who, M, n)
    operator = _shifted(a, start, shift, inverse, of_mass) if shifted else None

    def run(a, start, operator, of_mass):
        def probed(v):
            return a.mv(v), shift, _letters(which), *(() if M is None else (of_mass.mv(v),))

        kept = checkpoints(who, checkpoint, probed, ops.stop_gradient(start))
        return _by_lanczos(
            a, start, operator, of_mass, k, min(n, max(k + 2, m)), "LM" if shifted else WHICH[which], rtol,
            max_steps, shift, history=history, progress=progress, checkpoint=kept,
        )  # fmt: skip

    # what factors of sparse matrices hold on the host is new in each call
    direct = checkpoint or (shifted and (inverse is not None or type(a) in INVERSES))
    solve = run if direct else functools.partial(as_one_program, run, options=OF_MANY_OPERATIONS)
    return _answer(who, report, *solve(a, start, operator, of_mass))


def weight(who: str, m, n: int) -> LinearOperator:
    """M of A x = w M x as an operator."""
    m = as_operator(m)
    if m.shape != (n, n):
        raise errors.shape_mismatch(who, f"need a matrix of inner products ({n}, {n})", M=m)
    _check_symmetric(who, m)
    return m


def _constant(x):
    """Without derivatives."""
    return tree.map(lambda x: ops.stop_gradient(xnp.asarray(x)), x)


def in_mass(of_mass, start) -> Mass | None:
    """M in units, with its inverse, for vectors like one; None of None."""
    if of_mass is None:
        return None
    return mass_of(of_mass, _unit_of(_constant(of_mass), start), start)


def _shifted(a, start, shift, inverse, of_mass) -> LinearOperator:
    """What has the largest eigenvalues for those of a that are nearest to a shift."""
    held = _constant(a)
    unit = _unit_of(held, start)
    if inverse is not None:
        return InUnits(as_operator(inverse), 1 / unit)
    if of_mass is None:
        return _inverse_of(held, shift, unit)
    shift = shift.astype(start.dtype)
    if isinstance(held, Matrix) and isinstance(of_mass, Matrix):
        both = Matrix(
            xnp.asarray(held.a) - shift * _constant(xnp.asarray(of_mass.a)), symmetric=True
        )
    else:
        both = held - _constant(of_mass) * shift
    return _inverse_of(as_operator(both), xnp.zeros_like(shift), unit)


def _by_lanczos(
    a, start, operator, of_mass, k: int, m: int, wanted: str, rtol, max_steps: int, shift, **how
) -> tuple:
    """((w, v), status, certificate, steps, history) of k pairs, in a space of m vectors."""
    held, mass = _constant(a), in_mass(of_mass, start)
    of_a, of_m = _unit_of(held, start), xnp.ones(()) if mass is None else mass.unit
    unit = of_a if mass is None else of_a / of_m
    if operator is None:
        operator = InUnits(held, of_a)
        operator = operator if mass is None else mass.inverse @ operator
    else:
        operator = _constant(operator)
        operator = operator if mass is None else operator @ mass.m
    sample, back = xnp.zeros(()), None
    if shift is not None:
        inside = InUnits(held, of_a)
        back = _less(inside, (shift / unit).astype(start.dtype), mass)
        sample = dual_lengths(_product_of(inside, start, mass)[:, None], mass)[0]
    end, steps, rows = largest_pairs(
        operator,
        start,
        k,
        m,
        wanted,
        rtol,
        max_steps,
        mass=mass,
        back=back,
        goal=rtol * sample / 2,
        **how,
    )
    w, v, image, weighted = rayleigh_in(InUnits(held, of_a), end["v"].T, mass)
    order = xnp.argsort(w)
    w, v, image, weighted = w[order], v[:, order], image[:, order], weighted[:, order]
    size, beyond, unsure = end["scale"], end["others"], 0.0
    if shift is not None:
        sample = _product_of(InUnits(held, of_a), start, mass)
        size = xnp.maximum(
            xnp.max(dual_lengths(image, mass)), dual_lengths(sample[:, None], mass)[0]
        )
        # rounding of the largest 1 / (λ - shift) moves the small ones
        apart = safe_divide(xnp.ones_like(beyond), beyond)
        beyond = shift / unit + apart
        unsure = xnp.abs(shift) / unit + size + end["scale"] * apart * apart
        unsure = 10 * a.shape[0] * epsilon(w) * unsure * unit
    told, vanished = _handed_out(w, unit)
    left = dual_lengths(image - weighted * w.astype(typeof(v).dtype), mass)
    left = left + _missed(held, unit) + vanished
    status = status_of_pairs(w, left, rtol * size, end["done"], mass)  # pyright: ignore[reportOptionalOperand]
    n = a.shape[0]
    others = None if k == n else unit * beyond.astype(typeof(w).dtype)
    unsure_of_residuals = rounded(v, size, mass) * unit
    w, rows = told, None if rows is None else rows / unit if shift is not None else rows * unit
    left, size = _above_zero(left, unit), _above_zero(size, unit)
    certificate = of_pairs(
        w, left, size, n, others, unsure, rounding=unsure_of_residuals, products=end["products"]
    )
    found = with_derivatives(a, w, own_lengths(v, mass), precondition_by(mass), of_mass)
    return found, status, certificate, steps, rows


def _less(a, shift, mass) -> LinearOperator:
    """a - shift M."""

    def product(params, x):
        a, shift, mass = params
        return a.mv(x).astype(typeof(x).dtype) - shift * weighted(x, mass)

    return FunctionOperator(product, (a, shift, mass), a.shape)


def own_lengths(v, mass):
    """Vectors of length 1 by M itself."""
    return v if mass is None else v * mass.own_length().astype(typeof(v).dtype)


def precondition_by(mass):
    """M⁻¹ of vectors."""
    return None if mass is None else mass.inverse.mv


def status_of_pairs(w, left, limit, done, mass):
    """The status of each pair, from its residual computed anew."""
    not_definite = xnp.zeros((), bool) if mass is None else ~mass.definite
    return first_that_holds(
        (not_definite, Status.not_definite), (~xnp.isfinite(left) | ~xnp.isfinite(w), Status.not_finite),
        (done & (left <= limit), Status.success), (done, Status.stagnation),
    )  # fmt: skip


_ADVICE = ((
    Status.not_definite,
    ": the matrix of inner products (M, or B) must be; xcore.scipy.linalg.eig(A, M) takes any two",
),)  # fmt: skip


def _answer(who: str, report: bool, found, status, certificate, steps, rows):
    """A ``Solution``, or what was found: with an error, or a check, where it is not what was wanted."""
    history = None if rows is None else history_of(rows, steps)
    solution = Solution(found, status, certificate, steps, history=history, who=who, advice=_ADVICE)
    if report:
        return solution
    if type(status) is not Array:
        check_status(who, status)
    return solution.check().value


def _product_of(a: LinearOperator, like, mass):
    """The product with a random vector of length 1: how large the operator is."""
    blank = xnp.zeros((1, *typeof(like).shape), typeof(like).dtype)
    return a.mv(fresh(blank, 0, mass)).astype(typeof(like).dtype)


def _unit_of(a: LinearOperator, like):
    """What products with vectors of length 1 are divided by, also where theirs are below the range."""
    x = fresh(xnp.zeros((1, *typeof(like).shape), typeof(like).dtype), 0)
    limits = dtypes.finfo(dtypes.to_real(typeof(x).dtype))
    longer, least = 2.0 ** (limits.maxexp // 8), np.asarray(4 * limits.tiny, limits.dtype)
    plain, far = a.mv(x), a.mv(x * np.asarray(longer, typeof(x).dtype))
    seen = xnp.all(xnp.isfinite(far)) & xnp.any(far != 0)
    size = xnp.maximum(magnitude(far) / longer, least)
    return unit_for(xnp.where(seen, size, magnitude(plain)))


def _missed(a: LinearOperator, unit):
    """What products with unit vectors may miss, by the unit: elements that count as zero and are not."""
    tiny = a.shape[0] * float(xnp.finfo(typeof(unit).dtype).tiny)
    return xnp.where(any_subnormal(tree.leaves(a)), tiny / unit, xnp.zeros_like(unit))


def _above_zero(size, unit):
    """size * unit, and the least normal number where that is less and size is not 0."""
    told = size * unit
    return xnp.where(size > 0, xnp.maximum(told, dtypes.finfo(typeof(told).dtype).tiny), told)


def _handed_out(w, unit) -> tuple:
    """(w in its own units, what vanished of it below the range, in those of w)."""
    unit = unit.astype(typeof(w).dtype)
    told = w * unit
    return told, xnp.abs(w - told / unit)


def rayleigh_in(a: LinearOperator, v, mass) -> tuple:
    """(vᴴ a v of each column, v, a v, M v); with M the columns are made to be of length 1."""
    if mass is not None:
        v = v / lengths(v, mass).astype(typeof(v).dtype)
    image = a.matmat(v).astype(typeof(v).dtype)
    return xnp.real(xnp.sum(xnp.conj(v) * image, axis=0)), v, image, weighted(v, mass)


def _start(who: str, a, x0):
    """A vector to start from, in the dtype of products."""
    n = a.shape[0]
    start = _irregular((n,), _dtype_of(a)) if x0 is None else xnp.asarray(x0)
    if start.shape != (n,):
        raise errors.shape_mismatch(who, f"need x0 of shape ({n},)", x0=start)
    start = start.astype(dtypes.to_inexact(start.dtype))
    start = ops.stop_gradient(in_dtype_of_products(a, start))
    return xnp.where(xnp.any(start != 0), start, _irregular((n,), typeof(start).dtype))


def _check_symmetric(who: str, a) -> None:
    """An error for a matrix at hand that is not symmetric, and a check for a traced one."""
    if not isinstance(a, Matrix):
        return
    x = ops.stop_gradient(xnp.asarray(a.a))
    size = xnp.max(modulus(x), initial=0)
    limit = 100 * epsilon(x if dtypes.is_inexact(typeof(x).dtype) else size.astype(np.float32))
    far = xnp.max(modulus(x - xnp.conj(x).T), initial=0) > limit * size
    need = "need a symmetric (Hermitian) matrix; linalg.eig takes any, (a + aᴴ) / 2 is one"
    if type(far) is Array:
        if bool(far):
            raise errors.not_matrices(who, need, a=x)
        return
    check_later(far, f"{who}: {need}")


def _check_count(who: str, k: int, n: int, what: str = "the size ") -> None:
    if not isinstance(k, (int, np.integer)) or not 0 < k <= n:
        raise errors.bad_argument(who, "k", k, f"a whole number from 1 to {what}{n}")


# Random projections


def randomized_svd(
    a: ArrayLike | LinearOperator, k: int, key: Key, *, n_oversamples: int = 8, n_iter: int = 2
) -> SVDResult:
    """The k largest singular values and their vectors, from products with random vectors.

    The error is about that of the best approximation of rank k, less with more ``n_iter``.
    (Halko, Martinsson and Tropp 2011, "Finding structure with randomness", algorithms 4.4 and 5.1)

    Args:
      a: operator or matrix (m, n).
      k: how many.
      key: random key, as from ``random.key``.
      n_oversamples: this many random vectors more than k.
      n_iter: this many products with a aᴴ sharpen the difference between large and small values.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> a = xnp.diag(xnp.asarray([5.0, 4.0, 0.0, 0.0]))
    >>> s = xc.linalg.randomized_svd(a, 2, xc.random.key(0)).S
    >>> [round(float(x), 3) for x in s]
    [5.0, 4.0]
    """
    a = as_operator(a)
    m, n = a.shape
    _check_count("linalg.randomized_svd", k, min(m, n))
    require("0 or more", "linalg.randomized_svd", n_oversamples=n_oversamples, n_iter=n_iter)
    dtype = _dtype_of(a)
    size = min(k + n_oversamples, m, n)
    adjoint = lambda y: xnp.conj(a.T.matmat(xnp.conj(y)))  # noqa: E731
    q, _ = xnp.linalg.qr(a.matmat(normal(key, (n, size), dtypes.to_real(dtype)).astype(dtype)))
    for _ in range(n_iter):
        z, _ = xnp.linalg.qr(adjoint(q))
        q, _ = xnp.linalg.qr(a.matmat(z))
    u, s, vh = xnp.linalg.svd(xnp.conj(adjoint(q)).T, full_matrices=False)
    return SVDResult(q @ u[:, :k], s[:k], vh[:k])
