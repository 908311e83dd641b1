"""Direct solution by SuperLU on the host, through SciPy, with derivatives and certificates of the equation.

Programs call the host with the values; what was factorised last is kept there, by pattern and values, so a second
right side costs two triangular solutions only.
"""

from __future__ import annotations

import functools
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np

from .. import numpy as xnp
from .._control import custom_linear_solve, pure_callback, stop_gradient
from .._control.jit import ShapeDtypeStruct, jit
from .._core import Array, ArrayLike, Tracer, dtypes, errors, one_of, static, struct
from .._solution import Solution, Status, first_that_holds
from ..linalg import LinearOperator
from ..linalg._arguments import epsilon
from ..linalg._equations import Equation, coins, judged, power_of_two, roundings, through
from ..numpy._determinant import SlogdetResult
from ._balance import Balance, balance
from ._cholesky import Cholesky, cholesky
from ._cholmod import Hermitian, hermitian
from ._incomplete import IncompleteLU, incomplete_lu, places_by_size
from ._ldl import LDL, ldl
from ._lu import LU, determinant, lu, row_order, sign_of
from ._making import coo_array
from ._matrix import Sparse, over_batches
from ._pattern import Pattern
from ._products import product_of, transposed_values
from ._qr import QR, qr
from ._residuals import columns_for, each, each_values, unless_lost
from ._superlu import superlu

_MOST_KEPT = 8
_NOT_FINITE = 2
_kept: OrderedDict[Any, Any] = OrderedDict()
_lock = threading.Lock()

KINDS = ("lu", "ilu")  # of SuperLU


# On the host


def _factors_of(pattern: Pattern, values: np.ndarray, kind: str, options: tuple) -> Any:
    """SuperLU's factors; None of a matrix that is singular or not finite."""
    key = (
        pattern,
        hashlib.blake2b(values.tobytes(), digest_size=16).digest(),
        values.dtype.char,
        kind,
        options,
    )
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    made = _factorised(pattern, values, kind, dict(options))
    with _lock:
        _kept[key] = made
        while len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
    return made


def _factorised(pattern: Pattern, values: np.ndarray, kind: str, options: dict) -> Any:
    import scipy.sparse

    # SuperLU takes columns, and the transpose has those: it is solved with Aᵀ in place of A.
    parts = values, pattern.indices, pattern.indptr
    transpose = scipy.sparse.csc_array(parts, shape=pattern.shape[::-1])
    if not np.isfinite(values).all():
        return None
    if kind == "lu" and (found := hermitian(pattern, values)) is not None:
        return found
    # A symmetric order keeps symmetric places so; a step of refinement makes up for smaller pivots.
    own = {
        "permc_spec": "MMD_AT_PLUS_A",
        "diag_pivot_thresh": 0.1,
        "options": {"SymmetricMode": True},
    }
    if kind == "ilu" or not pattern.is_symmetric:
        own = {}
    return superlu(transpose, incomplete=kind == "ilu", **own, **options)


def _solved_on_host(
    pattern: Pattern, kind: str, options: tuple, turned: bool, values: Any, b: Any
) -> tuple[np.ndarray, np.ndarray]:
    """(x, whether a pivot vanished: 1, or elements are not finite: 2) of each matrix of a batch."""
    values, b = np.asarray(values), np.asarray(b)
    lead = values.shape[:-1]
    x, bad = np.empty_like(b), np.empty(lead, np.int32)
    for i in np.ndindex(*lead):
        factors = _factors_of(pattern, np.ascontiguousarray(values[i]), kind, options)
        bad[i] = 0 if factors is not None else 1 if np.isfinite(values[i]).all() else _NOT_FINITE
        x[i] = (
            np.nan
            if factors is None
            else factors.solve(np.ascontiguousarray(b[i]), "N" if turned else "T")
        )
    return x, bad


def _determinants_on_host(pattern: Pattern, values: Any) -> tuple[np.ndarray, np.ndarray]:
    """(sign, log |det|) of each matrix of a batch, by P Aᵀ Q = L U with ones on the diagonal of L."""
    values = np.asarray(values)
    sign = np.zeros(values.shape[:-1], values.dtype)
    log = np.full(sign.shape, -np.inf, np.real(values).dtype)
    for i in np.ndindex(*sign.shape):
        factors = _factors_of(pattern, np.ascontiguousarray(values[i]), "lu", ())
        if isinstance(factors, Hermitian):
            sign[i], log[i] = 1, factors.logdet()
        elif factors is not None:
            pivots = factors.U.diagonal()
            turned = sign_of(factors.perm_r) * sign_of(factors.perm_c)
            sign[i], log[i] = (
                turned * np.prod(pivots / np.abs(pivots)),
                np.log(np.abs(pivots)).sum(),
            )
        elif not np.isfinite(values[i]).all():
            sign[i] = log[i] = np.nan
    return sign, log


# In programs


def _host_det(pattern: Pattern, values: Array) -> tuple[Array, Array]:
    promised = (
        ShapeDtypeStruct((), values.dtype),
        ShapeDtypeStruct((), dtypes.to_real(values.dtype)),
    )
    call = functools.partial(_determinants_on_host, pattern)
    return pure_callback(call, promised, values, vmap_method="broadcast_all")


def host_solve(
    pattern: Pattern,
    values: Array,
    b: Array,
    turned: bool = False,
    kind: str = "lu",
    options: tuple = (),
) -> tuple[Array, Array]:
    promised = ShapeDtypeStruct(b.shape, b.dtype), ShapeDtypeStruct((), np.int32)
    call = functools.partial(_solved_on_host, pattern, kind, options, turned)
    return pure_callback(call, promised, values, b, vmap_method="broadcast_all")


def _solution(pattern: Pattern, values: Array, b: Array) -> tuple[Array, Array]:
    """x of one matrix with columns b, a step of refinement included, with the derivatives of the equation."""
    known = stop_gradient(values)

    def solver(p: Pattern, v: Array, turned: bool) -> Callable[..., Any]:
        def solve(_: Any, b: Array) -> tuple[Array, Array]:
            x, bad = host_solve(pattern, known, b, turned)
            more, _ = host_solve(pattern, known, b - product_of(p)(v, x), turned)
            better = x + more
            return xnp.where(xnp.isfinite(better), better, x), bad

        return solve

    back = transposed_values(pattern, known)
    return custom_linear_solve(
        lambda x: product_of(pattern)(values, x), b, solver(pattern, known, False),
        solver(pattern.T, back, True), has_aux=True,
    )  # fmt: skip


def _equation(pattern: Pattern, known: Array, lengths: Array, s: Array, v: Array) -> Equation:
    """Of v = known / s², in ``lengths`` of the unknowns; the factors are those of the values that are known."""
    times = lambda v, x: each(product_of(pattern), v, x)  # noqa: E731

    def solve(b: Array, turned: bool) -> Array:
        return each(lambda v, b: host_solve(pattern, v, b, turned)[0], known, b)

    lengths = lengths.astype(v.dtype)
    size = xnp.abs(v)
    ones = xnp.ones((*v.shape[:-1], pattern.shape[0], 1), size.dtype)
    columns = each(product_of(pattern.T), each_values(pattern, size), ones)
    return Equation(
        lambda x: times(v, x), lambda x: times(size, x), through(lambda b: lengths * solve(b, False), s),
        through(lambda b: xnp.conj(solve(lengths * xnp.conj(b), True)), s), xnp.max(columns, axis=(-2, -1), initial=0),
        roundings(int(pattern.lengths.max(initial=1))),
    )  # fmt: skip


def _square(who: str, a: Any) -> Sparse:
    a = coo_array(a)
    if a.shape[-1] != a.shape[-2]:
        raise errors.shape_mismatch(who, "need a square matrix", a=a)
    return a


def solve(a: Sparse, b: ArrayLike, *, report: bool = False) -> Array | Solution:
    """The solution x of a x = b by sparse LU factors (SuperLU, on the host), refined once.

    Derivatives are those of the equation: with respect to a they live on its pattern. A batch of matrices of one
    pattern is one call. Factors of the same values are kept.

    Args:
      a: a square ``Sparse`` matrix (or what ``coo_array`` takes), perhaps a batch of them.
      b: a vector (n,) or columns (..., n, k).
      report: return a ``Solution`` with status and certificate instead of raising where a is singular.

    >>> from xcore import sparse
    >>> a = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(3, 3))
    >>> solve(a, [1.0, 0.0, 1.0])
    Array([1., 1., 1.], dtype=float32)
    >>> bool(solve(a, [1.0, 0.0, 1.0], report=True).ok)
    True
    """
    who = "sparse.solve"
    x, status, told = _solved(_square(who, a), xnp.asarray(b), report=report)
    solution = Solution(x, status, certificate=told, who=who, method="SuperLU")
    return solution if report else solution.check().value


@functools.partial(jit, static_argnames="report", inline=True)
def _solved(a: Sparse, b: Array, report: bool) -> tuple[Array, Array, Any]:
    v, columns, vector = columns_for("sparse.solve", a, b)
    scale = balance(a.pattern, v)
    inside, right = scale.matrix(a.pattern, v), scale.right(columns)
    f, inside, right = over_batches(
        functools.partial(_solution, a.pattern), (inside, 1), (right, 2)
    )
    y, bad = f(inside, right)
    x = scale.solution(y)
    status, told = _status(bad), None
    if report:
        more, told = _judged(a.pattern, scale, *map(stop_gradient, (inside, y, right)), bad)
        more, told = scale.in_range(a.pattern, *map(stop_gradient, (v, columns, x)), more, told)
        status = xnp.where(status == np.int32(Status.not_finite), status, more)
    return (x[..., 0] if vector else x), status, told


def _status(bad: Array) -> Array:
    return first_that_holds(
        (bad == _NOT_FINITE, Status.not_finite), (bad > 0, Status.singular), default=Status.success
    )


def _judged(
    p: Pattern, scale: Balance, v: Array, y: Array, b: Array, bad: Array
) -> tuple[Array, Any]:
    """(status, Certificate) from the balanced equation of y."""
    v, b = xnp.broadcast_to(v, (*y.shape[:-2], v.shape[-1])), xnp.broadcast_to(b, y.shape)
    lengths, least = scale.lengths()
    make = functools.partial(_equation, p, v, least)
    pivot = xnp.where(bad > 0, 0, -1).astype(np.int32)
    status, told = judged(make, (v,), y, b, epsilon(y), pivot, lengths=lengths)
    told = scale.told(told, b - each(product_of(p), v, y))
    return unless_lost(_returned(p, v), status, told)


_SIGNS = 2


def _returned(pattern: Pattern, v: Array) -> Array:
    """How far F⁻¹ A y is from y, for factors F of A and random y in units of A's columns, relative to y.

    Bounds are made of F⁻¹ in place of A⁻¹. Where rows differ in size and pivots are not the largest, that can be
    another matrix though x solves the equations well. Units of columns are those of A with rows of size 1, as sizes of
    rows change neither x nor the pivots.
    """
    size = xnp.abs(v)
    ones = xnp.ones((*v.shape[:-1], pattern.shape[0], 1), size.dtype)
    size = size / power_of_two(each(product_of(pattern), size, ones))[..., pattern.rows, 0]
    unit = power_of_two(each(product_of(pattern.T), each_values(pattern, size), ones))
    y = (coins(pattern.shape[0], _SIGNS, unit.dtype) / unit).astype(v.dtype)
    solve = lambda v, b: host_solve(pattern, v, b)[0]  # noqa: E731
    found = each(solve, v, each(product_of(pattern), v, y))
    return xnp.max(xnp.abs(found - y) * unit, axis=(-2, -1), initial=0)


@struct
class Factors(LinearOperator):
    """Factors of a square sparse matrix, as the operator A⁻¹ (of ``kind="ilu"`` about that): a preconditioner.

    >>> import xcore.numpy as xnp
    >>> from xcore import sparse
    >>> a = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(4, 4))
    >>> m = sparse.factorise(a)
    >>> (m @ xnp.ones(4)).round(3)
    Array([2., 3., 3., 2.], dtype=float32)
    """

    a: Sparse
    kind: str = static(default="lu")
    options: tuple = static(default=())

    @property
    def shape(self) -> Any:
        return self.a.shape

    @overload
    def solve(self, b: ArrayLike, *, report: Literal[False] = False) -> Array: ...
    @overload
    def solve(self, b: ArrayLike, *, report: Literal[True]) -> Solution: ...
    def solve(self, b: ArrayLike, *, report: bool = False) -> Array | Solution:
        """The solution of a x = b; with incomplete factors about that.

        Args:
          b: a vector (n,) or columns (..., n, k).
          report: of ``kind="lu"`` return a ``Solution`` with status and certificate, as ``sparse.solve``.
        """
        if self.kind == "lu":
            return solve(self.a, b, report=report)
        if report:
            need = "False for incomplete factors; linear_solve with them as preconditioner has a report"
            raise errors.bad_argument("sparse.Factors.solve", "report", report, need)
        v, columns, vector = columns_for("sparse.Factors.solve", self.a, b)
        f = functools.partial(host_solve, self.a.pattern, kind=self.kind, options=self.options)
        g, v, columns = over_batches(f, (stop_gradient(v), 1), (columns, 2))
        x, bad = g(v, columns)
        x = x[..., 0] if vector else x
        found = Solution(x, _status(bad), who="sparse.Factors.solve", method="SuperLU")
        return found.check().value

    def mv(self, x: Array) -> Array:
        return self.solve(x)  # pyright: ignore[reportReturnType]

    def matmat(self, x: Array) -> Array:
        return self.solve(x)  # pyright: ignore[reportReturnType]

    @property
    def T(self) -> Factors:
        return self.replace(a=self.a.T)

    def slogdet(self) -> Any:
        """The sign of the determinant and the logarithm of its size, with the derivatives by ``LU``'s inverse."""
        self._check_whole()
        a = self.a.astype(dtypes.to_solve(self.a.dtype))
        p, order = a.pattern, row_order(a)
        f = p.kept(
            ("slogdet", order), lambda: determinant(p, order, functools.partial(_host_det, p))
        )
        return SlogdetResult(*a._of_each(f, a.values))

    def logdet(self) -> Array:
        """The logarithm of the determinant's size."""
        return self.slogdet()[1]

    def inverse(self) -> Sparse:
        """The elements of the inverse at the places of the matrix's transpose, by factors within the program."""
        self._check_whole()
        return factorise(self.a, "lu", on="device").inverse()

    def _check_whole(self) -> None:
        if self.kind != "lu":
            need = "'lu': incomplete factors are not those of a"
            raise errors.bad_argument("sparse.Factors", "kind", self.kind, need)


@overload
def factorise(
    a: Sparse, kind: Literal["lu"] = "lu", *, on: Literal["host"] = "host", reuse: Any = None
) -> Factors: ...
@overload
def factorise(
    a: Sparse, kind: Literal["lu"] = "lu", *, on: Literal["device"], reuse: Any = None
) -> LU: ...
@overload
def factorise(a: Sparse, kind: Literal["ilu"], *, reuse: Any = None, **options: Any) -> Factors: ...
@overload
def factorise(a: Sparse, kind: Literal["cholesky"], *, reuse: Any = None) -> Cholesky: ...
@overload
def factorise(a: Sparse, kind: Literal["ldl"], *, reuse: Any = None) -> LDL: ...
@overload
def factorise(a: Sparse, kind: Literal["qr"], *, reuse: Any = None) -> QR: ...
@overload
def factorise(
    a: Sparse, kind: Literal["ilu0", "ic0", "ilut"], *, reuse: Any = None, **options: Any
) -> IncompleteLU: ...
@overload
def factorise(
    a: Sparse, kind: str, *, reuse: Any = None, **options: Any
) -> Factors | LU | Cholesky | LDL | QR | IncompleteLU: ...
def factorise(
    a: Sparse, kind: str = "lu", *, reuse: Any = None, **options: Any
) -> Factors | LU | Cholesky | LDL | QR | IncompleteLU:
    """Factors of a sparse matrix: an operator that is its inverse, or about that.

    "lu" and "ilu" are made by SuperLU on the host when first needed, and kept there. The others stay within programs:
    their places are settled on the host, their values traced, so they work under ``vmap`` and on any device; so does
    "lu" with ``on="device"`` (``LU``), whose rows are exchanged before, and within dense fronts only.

    Args:
      a: a square ``Sparse`` matrix; for "qr" of any shape.
      kind: "lu"; "cholesky" of a Hermitian positive definite matrix, which also has ``logdet()`` and ``inverse()``, the
        elements of the inverse at the places of a; "ldl" of a Hermitian matrix, definite or not, which has
        ``inertia()``: pivots are not exchanged, and a status says whether refinement made up for that (known values
        that are not Hermitian are refused by both); "qr" for least squares and solutions of least norm, the operator
        A⁺, with ``R`` and ``full_rank``; and for preconditioners "ilu", "ilu0" (no fill), "ic0" (the same of a
        Hermitian matrix: Hermitian too), "ilut" (fill where elements are not small, found from values that must be
        known).
      reuse: factors, of the same kind, of a matrix of the same pattern: the order of elimination is theirs, and that of
        rows which their values were known for. (Patterns keep what was found of them in any case.)
      options: of "lu" ``on``: "host" or "device"; of "ilu" those of ``scipy.sparse.linalg.spilu``: ``drop_tol``,
        ``fill_factor``, …; of "ilut" these two.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> from xcore import sparse
    >>> a = sparse.diags_array([-1.0, 2.5, -1.2], offsets=[-1, 0, 1], shape=(9, 9))
    >>> x = xc.linalg.linear_solve(a, xnp.ones(9), preconditioner=factorise(a, "ilu0"))
    >>> bool(xnp.allclose(a @ x, 1, atol=1e-4))
    True
    """
    who = "sparse.factorise"
    one_of(who, "kind", kind, (*KINDS, *TRACED), f"one of {(*KINDS, *TRACED)}")
    if extra := set(options) - set(OPTIONS[kind]):
        raise errors.bad_argument(who, "options", sorted(extra), f"those of kind={kind!r}")
    a = coo_array(a) if kind == "qr" else _square(who, a)
    if reuse is not None:
        _check_reuse(who, reuse, a)
    if kind == "lu" and _on_device(who, options):
        return lu(a.astype(dtypes.to_solve(a.dtype)), getattr(reuse, "order", None))
    if kind in KINDS:
        return Factors(a, kind, tuple(sorted(options.items())))
    a = a.astype(dtypes.to_solve(a.dtype))
    if kind in ("cholesky", "ldl", "ic0"):
        _check_hermitian(who, kind, a)
    if kind == "cholesky":
        return cholesky(a)
    if kind in ("ldl", "qr"):
        return ldl(a) if kind == "ldl" else qr(a)
    if a.ndim != 2:
        raise errors.shape_mismatch(who, f"need one matrix for kind={kind!r}; vmap makes many", a=a)
    where = (
        places_by_size(a, **{"drop_tol": 1e-3, "fill_factor": 10} | options)
        if kind == "ilut"
        else None
    )
    return incomplete_lu(a, where, kind == "ic0")


def _check_reuse(who: str, reuse: Any, a: Sparse) -> None:
    before = getattr(reuse, "a", None)
    if not isinstance(before, Sparse):
        raise errors.bad_argument(who, "reuse", reuse, "factors that sparse.factorise returned")
    if before.pattern != a.pattern and before.pattern != a.pattern.union(a.pattern.T)[0]:
        need = "factors of a matrix of the same pattern: other places have another order of elimination"
        raise errors.bad_argument(who, "reuse", before, need)


def _on_device(who: str, options: dict) -> bool:
    """Whether factors are made within programs; by SuperLU otherwise, which is on the host."""
    on = options.pop("on", "host")
    one_of(who, "on", on, ("host", "device"), "'host' or 'device'")
    return on == "device"


def _check_hermitian(who: str, kind: str, a: Sparse) -> None:
    """Refuses matrices that are not, where their values are known; of others the residual tells."""
    if a.symmetric:
        return
    other = {"ic0": "'ilu0'", "cholesky": "'lu'", "ldl": "'lu'"}[kind]
    need = f"Hermitian for kind={kind!r}; {other} takes any matrix, (a + a.H) / 2 is Hermitian"
    if not a.pattern.is_symmetric and kind == "ic0":
        raise errors.bad_argument(who, "a", a, need)
    if isinstance(a.values, Tracer) or not a.nnz:
        return
    if not _is_hermitian(a.pattern, np.asarray(a.values)):
        raise errors.bad_argument(who, "a", a, need)


def _is_hermitian(p: Pattern, v: np.ndarray) -> bool:
    """Up to half of the digits, beside the largest elements of both rows."""
    whole, mine, turned = p.union(p.T)
    both = np.zeros((2, *v.shape[:-1], whole.nnz), v.dtype)
    both[0][..., mine], both[1][..., turned] = v, v[..., p.order].conj()
    with np.errstate(all="ignore"):
        size = np.abs(both).max(0)
        most = np.zeros((*size.shape[:-1], p.shape[0]), size.dtype)
        for i in np.ndindex(*size.shape[:-1]):
            np.maximum.at(most[i], whole.rows, size[i])
        most = np.sqrt(most)
        allowed = np.finfo(size.dtype).eps ** 0.5 * most[..., whole.rows] * most[..., whole.columns]
        return not (np.abs(both[0] - both[1]) > allowed).any()


TRACED = ("cholesky", "ldl", "qr", "ilu0", "ic0", "ilut")
OPTIONS = {
    "lu": ("on",),
    "ilu": (
        "drop_tol",
        "fill_factor",
        "drop_rule",
        "permc_spec",
        "diag_pivot_thresh",
        "relax",
        "panel_size",
        "options",
    ),
    "cholesky": (),
    "ldl": (),
    "qr": (),
    "ilu0": (),
    "ic0": (),
    "ilut": ("drop_tol", "fill_factor"),
}
