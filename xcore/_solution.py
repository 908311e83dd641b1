"""What solvers return: one list of outcomes, one form of result, one form of evidence."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator, KeysView
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from . import numpy as xnp
from ._core import Array, Value, is_traced, static, struct, typeof
from ._core.exceptions import SingularMatrixError, SolverError
from ._core.notebook import shown

if TYPE_CHECKING:
    from ._core.typing import ArrayLike, PyTree
Figure = Any  # a number, or an array of them; None where it is not known


class Status(enum.IntEnum):
    """How a method ended: one numbering for all packages. Solutions carry the number, int32.

    >>> Status(5)
    <Status.singular: 5>
    >>> Status.singular.message
    'the matrix is singular: a pivot vanishes'
    """

    message: str

    def __new__(cls, number: int, message: str) -> Self:
        self = int.__new__(cls, number)
        self._value_, self.message = number, message
        return self

    running = -1, "not finished"
    success = 0, "what was asked for was reached"
    max_steps = 1, "the limit of steps was reached first; allow more"
    stagnation = 2, "no step improves the result any more, short of the accuracy asked for"
    not_finite = 3, "infinities or NaN turned up"
    breakdown = 4, "the method broke down: a number that it divides by vanished"
    singular = 5, "the matrix is singular: a pivot vanishes"
    ill_conditioned = 6, "the matrix is singular up to rounding: no digit can be trusted"
    not_definite = 7, "the matrix is not positive definite"
    unbounded = 8, "the function falls without bound"
    infeasible = 9, "no point that satisfies the constraints was found"
    no_bracket = 10, "the points given enclose no root or minimum"
    degenerate = 11, "the gradients of the active constraints are dependent (LICQ fails)"
    incompatible = 12, "the data contradict each other, so that there is no solution"
    saddle = 13, "the point is a saddle or a maximum, from where the function falls"
    flat = 14, "nothing that the function can show is to be gained any more"


_ABOUT_MATRIX = (Status.singular, Status.not_definite, Status.ill_conditioned)


def first_that_holds(*rules: tuple[ArrayLike, Status], default: Status = Status.max_steps) -> Array:
    """The value of the first status whose condition holds, of (condition, status); else the default.

    >>> int(first_that_holds((False, Status.singular), (True, Status.success)))
    0
    """
    status: ArrayLike = np.int32(default)
    for holds, which in reversed(rules):
        status = xnp.where(holds, np.int32(which), status)
    return xnp.asarray(status).astype(np.int32)


# Evidence


@struct
class Certificate:
    """What is known of how good a result is, computed from the result itself. None: not known.

    Fields are attributes and keys, ``found.error`` and ``found["error"]``; so are further ones that
    only some functions have, and their docstrings name (``angle``, ``rank``, …).

    Attributes:
      digits: decimal digits that can be trusted of the largest elements of the result (of numbers
        that come as lists, such as eigenvalues, of the largest), from 0 to those of the dtype.
      error: a bound of the error, up to rounding and estimates of norms: of eigenvalues, singular
        values and logarithms in their own units, one for each; of all else the largest, relative
        to the largest element of each column.
      residual: what is left of the equations, in their own units.
      condition: how much relative changes of what was given are amplified, at least; in the 1-norm
        where nothing else is said.
      more: further figures by name. Of linear equations: ``backward_error``, the smallest relative
        change of a and b in the ∞-norm for which x is exact; ``componentwise``, the same where each
        element changes relative to itself; ``condition_inf``, the condition in the ∞-norm; ``pivot``,
        the number of the first vanishing pivot, or -1.

    Of a minimum, a root or a fit, all in the largest of the absolute values:
      error: estimated error of x: the largest component of the Newton steps from there, and of what rounding
        errors of the gradient leave open, each relative to the largest size and way of its variable (of one that
        started at 0, what it was on the way; of one that never left 0, what others make of it); 1 or more
        where a lower value was seen nearby; with constraints, the largest violation, as such a
        distance. It does not depend on units.
      stationarity: of the gradient; with bounds, of x minus the projection of x - gradient; with
        constraints, of the gradient of the Lagrangian, relative to the largest of its terms or of its curvature.
      feasibility: of the violated constraints.
      complementarity: of the products of inequalities and multipliers, relative to the same.
      smallest_eigenvalue: of the Hessian, if asked for; with bounds, of its free part.
      multipliers: of the constraints, in their order.
      gain: how much lower that step promises to be.
      qualification: with constraints, the smallest gradient of an active one, relative to what it had at
        the start, or to its change over the sizes of the variables: where it is near 0, multipliers mean nothing.
      undetermined: number of directions in which the Hessian shows no curvature but rounding errors: a success says
        nothing of where along them x is, but that no lower value was seen.
      tested: what was compared with ``tol``, in words.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> found = xc.linalg.solve(xnp.asarray([[2.0, 1.0], [1.0, 3.0]]), xnp.ones(2), report=True)
    >>> found.certificate.condition.round(2)
    Array(3.2, dtype=float32)
    >>> found.certificate.digits > 6
    Array(True, dtype=bool)
    """

    digits: Figure = None
    error: Figure = None
    residual: Figure = None
    condition: Figure = None
    more: dict[str, Figure] = dataclasses.field(default_factory=dict[str, Figure])
    stationarity: Figure = None
    feasibility: Figure = None
    complementarity: Figure = None
    smallest_eigenvalue: Figure = None
    multipliers: Figure = None
    gain: Figure = None
    qualification: Figure = None
    undetermined: Figure = None
    tested: str | None = static(default=None)

    def __getattr__(self, name: str) -> Figure:
        more: dict[str, Figure] | None = self.__dict__.get("more")
        if type(more) is dict and name in more:
            return more[name]
        raise AttributeError(f"this certificate has no {name!r}; it has {list(self.keys())}")

    def __getitem__(self, name: str) -> Figure:
        found = dict(self.items())
        if name not in found:
            raise KeyError(f"this certificate has no {name!r}; it has {list(found)}")
        return found[name]

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> KeysView[str]:
        return dict(self.items()).keys()

    def items(self) -> list[tuple[str, Figure]]:
        """(name, figure) of all that is known."""
        own = [(f.name, self.__dict__.get(f.name)) for f in dataclasses.fields(self)]
        own = [(k, v) for k, v in own if k not in ("more", "tested") and v is not None]
        return [*own, *(self.__dict__.get("more") or {}).items()]


# Solutions


@struct
class Solution:
    """What was found, and the truth about it. Of a batch, each array has the batch's axes.

    Attributes:
      value: what was sought: an array, a tree, a tuple of factors. Also ``x``, ``root``.
      status: number of a ``Status``; 0 is success.
      certificate: a ``Certificate``, where one was asked for.
      steps: iterations, sweeps, cycles. Also ``nit``, ``iterations``.
      error: what the test of the method looked at. Also ``residual``.
      history: where it is kept, a row for the start and for what each step ended with; as long as the steps
        taken. Under ``jit`` and ``vmap``, where their number is not known, it has a row for each that there
        might have been, those past the end repeat the last, and ``history[: steps + 1]`` cuts them.
      stats: what only this method counts, by name.
      who, method, reason: the function, what it did, and why that was taken.
      advice: (status, words) to follow its general message.

    >>> found = Solution(2.0, Status.max_steps, steps=10, error=0.1, who="linalg.eigsh")
    >>> found
    Solution of linalg.eigsh: the limit of steps was reached first; allow more
      value: 2.0
      steps: 10
      error: 0.1
    >>> bool(found.ok), found.x
    (False, 2.0)
    """

    value: PyTree
    status: Figure
    certificate: Any = None  # a Certificate, where something was measured
    steps: Figure = None
    error: Figure = None
    history: PyTree = None
    stats: dict[str, Figure] = dataclasses.field(default_factory=dict[str, Figure])
    who: str = static(default="")
    method: str = static(default="")
    reason: str = static(default="")
    advice: tuple[tuple[int, str], ...] = static(default=())

    @property
    def ok(self) -> Array:
        """Whether the method's test holds."""
        return xnp.asarray(self.status) == 0

    success = converged = ok
    x = root = property(lambda self: self.value, doc="The value, by SciPy's name.")
    nit = iterations = property(lambda self: self.steps, doc="The steps, by SciPy's name.")
    residual = property(lambda self: self.error, doc="The error, as linear solvers call it.")

    @property
    def message(self) -> str:
        """The status in words; of a batch, how many ended how."""
        if is_traced(self.status):
            return "known when the compiled function has run"
        ends, counts = np.unique(np.asarray(self.status), return_counts=True)
        if len(ends) < 2:
            return self._words(int(ends[0]) if len(ends) else 0)
        parts = [f"{k} of {counts.sum()}: {self._words(int(end))}" for end, k in zip(ends, counts)]
        return "; ".join(parts)

    def _words(self, end: int) -> str:
        said: dict[int, str] = dict(self.advice)
        return Status(int(end)).message + said.get(end, "")

    def check(self, who: str = "") -> Self:
        """Itself, or an error with the status in words. Traced solutions pass.

        >>> Solution(1.0, Status.max_steps).check()  # doctest: +IGNORE_EXCEPTION_DETAIL
        Traceback (most recent call last):
        SolverError: ...
        """
        if not is_traced(self.status) and np.any(np.asarray(self.status)):
            raise self.failure(who)
        return self

    def failure(self, who: str = "") -> Exception:
        """The exception that says what the status says."""
        failed = np.asarray(self.status).max()
        kind = SingularMatrixError if failed in _ABOUT_MATRIX else SolverError
        figures = ", ".join(f"{name} {_short(x)}" for name, x in self._figures() if _is_figure(x))
        who = who or self.who or "Solution.check"
        return kind(f"xcore.{who}: {self.message}{f' ({figures})' if figures else ''}.")

    def _figures(self) -> list[tuple[str, Figure]]:
        """(name, figure) of all that was measured."""
        names = [f.name for f in dataclasses.fields(self) if not f.metadata.get("static")]
        own = [(name, getattr(self, name)) for name in names if name not in _NO_FIGURES]
        own += self.stats.items()
        more = self.certificate.items() if isinstance(self.certificate, Certificate) else ()
        return [(name, x) for name, x in [*own, *more] if x is not None]

    def __repr__(self) -> str:
        by = f" by {self.method}" if self.method else ""
        of = f" of {self.who}" if self.who else ""
        lines = [
            f"{type(self).__name__}{of}{by}: {self.message}",
            f"  value: {_type_of(self.value)}",
        ]
        return "\n".join(lines + [f"  {name}: {_type_of(x)}" for name, x in self._figures()])

    def _repr_html_(self) -> str:
        """For notebooks: how it ended, and every figure."""
        head, *lines = repr(self).splitlines()
        rows = (line.strip().partition(": ") for line in lines)
        return shown(head, [(name, value) for name, _, value in rows])


_NO_FIGURES = ("value", "status", "certificate", "history", "stats")


def _is_figure(x: Any) -> bool:
    one = isinstance(x, (Value, np.ndarray, np.generic, int, float))
    return one and not is_traced(x) and np.asarray(x).dtype.kind in "biuf"


def _short(x: Figure) -> str:
    x = np.asarray(x)
    return f"{x:.3g}" if x.ndim == 0 else f"up to {x.max(initial=0):.3g}"


def _type_of(x: Any) -> str:
    """A number as it is, arrays by their type, trees by that of their leaves."""
    given: Any = x
    if isinstance(x, (tuple, list)) and not hasattr(given, "_fields"):
        return "(" + ", ".join(_type_of(part) for part in given) + ")"
    if not isinstance(x, (Value, np.ndarray, np.generic)):
        return repr(given)
    kind = typeof(given if isinstance(x, Value) else xnp.asarray(given))
    return f"{np.asarray(given):.6g}" if not kind.shape and _is_figure(given) else str(kind)
