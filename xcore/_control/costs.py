"""What a program costs at least: operations and bytes, counted from its equations.

For compilers that do not tell. A loop whose number of steps is not known counts once; of branches
the most expensive one counts. Bytes are those of arguments and results, and of what products,
transforms, sorts, reductions, moves and factorisations read and write: chains of operations
element by element are taken to be one pass, as XLA makes of them.
"""

# Checkers do not see: None is excluded by another value.
# pyright: reportOptionalMemberAccess=false

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

from .._core import Eqn, Program, dtypes

_TRANSCENDENTAL = frozenset(
    """acos acosh asin asinh atan atan2 atanh cbrt cos cosh digamma erf erf_inv erfc exp expm1 lgamma log
    log1p logistic polygamma pow rsqrt sin sinh sqrt tan tanh zeta""".split()
)
# They move or name elements: no arithmetic.
_MOVES = frozenset(
    """bitcast_convert broadcast_in_dim callback concatenate convert dynamic_slice dynamic_update_slice
    gather iota imag complex name optimization_barrier pad real reshape rev scatter select sharding_constraint
    slice spread_along stop_gradient transpose top_k sort""".split()
)
# They do not join their neighbours' pass over memory.
_PASSES = frozenset(
    """concatenate convolution dot_general dynamic_update_slice eig eigh exchange_rows fft gather geqrf hessenberg
    householder_product lu cholesky pad qr scatter schur sort svd top_k transpose triangular_solve tridiagonal
    tridiagonal_solve trig""".split()
)


def _eliminated(m: int, n: int) -> float:
    """Σ (m - k) (n - k) over the columns k that are eliminated, to leading order."""
    k = min(m, n)
    return m * n * k - (m + n) * k**2 / 2 + k**3 / 3


# Multiplications and additions of factorisations of n × n matrices (m × n where they may be), to
# leading order. (Golub and Van Loan 2013, "Matrix computations", sections 4.2, 3.2, 5.2, 7.5, 8.3, 8.6)
FACTORS: dict[str, Callable[[int, int], float]] = {
    "cholesky": lambda m, n: n**3 / 3,
    "lu": lambda m, n: 2 * _eliminated(m, n),
    "qr": lambda m, n: 8 * _eliminated(m, n),
    "geqrf": lambda m, n: 4 * _eliminated(m, n),
    "householder_product": lambda m, n: 2 * m * n * n - 2 * n**3 / 3,
    "eigh": lambda m, n: 9 * n**3,
    "svd": lambda m, n: 4 * m * n * min(m, n) + 8 * min(m, n) ** 3,
    "eig": lambda m, n: 25 * n**3,
    "schur": lambda m, n: 25 * n**3,
    "hessenberg": lambda m, n: 14 * n**3 / 3,
    "tridiagonal": lambda m, n: 4 * n**3 / 3,
}


def costs(p: Program) -> dict[str, float]:
    """The costs of a program: "flops", "transcendentals", "bytes accessed"."""
    found = _inner(p)
    found["bytes accessed"] += sum(t.nbytes for t in [*p.in_types, *p.out_types])
    return {k: float(found[k]) for k in ("flops", "transcendentals", "bytes accessed")}


def _inner(p: Program) -> Counter:
    return p.memo("costs", lambda: sum(map(_of_equation, p.eqns), Counter()))


def _of_equation(e: Eqn) -> Counter:
    return _nested(e) if e.op.nested else _single(e)


def _nested(e: Eqn) -> Counter:
    programs = e.params.get("branches")
    if programs:
        return max(map(_inner, programs), key=Counter.total)
    times = {"scan": lambda: e.params["length"], "shard_map": lambda: e.params["mesh"].size}
    times = times.get(e.op.name, lambda: 1)()
    inside = [v for k, v in e.params.items() if type(v) is Program and k not in ("matvec", "f")]
    found: Counter = sum(map(_inner, inside), Counter())
    return Counter({k: times * v for k, v in found.items()})


def _single(e: Eqn) -> Counter:
    found: Counter = Counter()
    name, out = e.op.name, e.outputs[0].type if e.outputs else None
    if name in _TRANSCENDENTAL:
        found["transcendentals"] = out.size
    elif name not in _MOVES and out is not None:
        found["flops"] = operations(e)
    if name in _PASSES or name.startswith(("reduce_", "arg", "cum")):
        found["bytes accessed"] = sum(a.type.nbytes for a in [*e.inputs, *e.outputs])
    return found


def operations(e: Eqn) -> float:
    """Multiplications and additions of one equation."""
    name, first, out = e.op.name, e.inputs[0].type if e.inputs else None, e.outputs[0].type
    parts = 4 if first is not None and dtypes.is_complex(first.dtype) else 1  # of a product
    if name == "dot_general":
        terms = math.prod(first.shape[i] for i in e.params["contract"][0])
        return 2 * parts * out.size * terms
    if name == "convolution":
        return 2 * parts * out.size * math.prod(e.inputs[1].type.shape[1:])
    if name in ("fft", "trig"):
        size = max(first.size, out.size)
        return 5 * size * math.log2(max(2, math.prod(e.params.get("lengths", first.shape[-1:]))))
    if name in FACTORS:
        *batch, m, n = first.shape
        return parts * math.prod(batch) * FACTORS[name](m, n)
    if name == "triangular_solve":
        return parts * out.size * first.shape[-1]
    if name.startswith(("reduce_", "arg", "cum")):
        return first.size
    return out.size


# In words


def in_bytes(n: float) -> str:
    """A size in words: ``1.50 MiB``."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n < 1024 or unit == "GiB":
            return f"{n:.0f} {unit}" if unit == "B" else f"{n:.2f} {unit}"
        n /= 1024
    raise AssertionError


def in_seconds(seconds: float) -> str:
    """A time in words: ``12.3 ms``."""
    for scale, unit in ((1, "s"), (1e-3, "ms")):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"
