"""What each function can do, found by trying it on the arguments of its own example.

python -m tools.site.facts [names that begin so]     writes tools/site/facts.tsv, all of it or these rows

The example of a docstring is run with the function replaced by one that keeps what it is called with. On these
arguments it is traced, batched, differentiated (the derivative is held against differences of the values in double
precision, and the transposed derivative against it), given other dtypes, and lowered for other platforms. Of
optimizers, schedules and proximal maps what they make is tried, of distributions the density, of functions that make
arrays of nothing the dtypes, and of classes what their example uses an instance for (`uses.py`). A test does it
again for a part of the rows (`tests/site/test_facts.py`).
"""

from __future__ import annotations

import csv
import datetime
import functools
import inspect
import platform
import sys
import warnings
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import xcore as xc
import xcore.numpy as xnp
from xcore.stats._family import Family

from . import families, uses
from .names import Place, places

FILE = Path(__file__).with_name("facts.tsv")
# Whose functions compute with arrays; the others handle functions, files, devices.
PACKAGES = """
    xcore.numpy xcore.numpy.linalg xcore.numpy.fft xcore.lax xcore.lax.linalg xcore.linalg xcore.sparse xcore.pde
    xcore.optimize xcore.optimize.prox xcore.decomp xcore.special xcore.fft xcore.nn xcore.nn.initializers
    xcore.image xcore.random xcore.stats
    xcore.scipy.linalg xcore.scipy.sparse.linalg xcore.scipy.optimize xcore.scipy.integrate xcore.scipy.interpolate
    xcore.scipy.signal xcore.scipy.ndimage xcore.ops
""".split()
# Whose derivative is that of the exact solution, by the implicit rule: the start and the last step play no part.
SOLUTIONS = """
    xcore.optimize.minimize xcore.optimize.differential_evolution xcore.optimize.least_squares xcore.optimize.root
    xcore.optimize.root_scalar xcore.optimize.fixed_point xcore.optimize.proximal_gradient xcore.optimize.multistart
    xcore.optimize.minimize_constrained xcore.lax.custom_root xcore.scipy.optimize.minimize xcore.scipy.optimize.fmin
    xcore.scipy.optimize.bisect xcore.scipy.optimize.brentq xcore.scipy.optimize.fixed_point
    xcore.scipy.optimize.fsolve xcore.scipy.optimize.least_squares xcore.scipy.optimize.newton
    xcore.scipy.optimize.root xcore.scipy.optimize.root_scalar xcore.scipy.optimize.toms748 xcore.pde.solve_nonlinear
""".split()
# Whose first argument is an order.
IN_THE_LAST = "xcore.lax.polygamma xcore.lax.zeta".split()
# Of which nothing is said: where they stop, or which factors they find, jumps with their arguments; or the arrays
# of their example are positions and templates.
UNSAID = """
    xcore.decomp.cp_als xcore.decomp.cp_arls xcore.decomp.cp_constrained xcore.decomp.cp_gauss_newton
    xcore.decomp.cp_gradient xcore.decomp.cp_nonneg xcore.sparse.factorise xcore.sparse.hessian
    xcore.numpy.full_like xcore.lax.full_like xcore.numpy.putmask xcore.numpy.place xcore.numpy.take
    xcore.numpy.take_along_axis xcore.numpy.select xcore.lax.index_take xcore.lax.fori_loop
""".split()
# Whose derivative is not the limit of differences at one key: conventions of JAX; samples that are moved at fixed
# probability; vectors that have a phase of their own.
CONVENTION = """
    xcore.lax.nextafter xcore.numpy.nextafter xcore.lax.reduce_precision xcore.numpy.linalg.eig xcore.lax.linalg.eig
    xcore.random.beta xcore.random.chisquare xcore.random.dirichlet xcore.random.f xcore.random.gamma
    xcore.random.generalized_normal xcore.random.t xcore.random.truncated_normal xcore.linalg.condest
    xcore.nn.scaled_dot_general
""".split()
# What makes the size of the result known, so that a function can be traced.
WITH = (
    ("size", 2, """
        xcore.numpy.argwhere xcore.numpy.compress xcore.numpy.extract xcore.numpy.flatnonzero xcore.numpy.intersect1d
        xcore.numpy.nonzero xcore.numpy.setdiff1d xcore.numpy.setxor1d xcore.numpy.union1d xcore.numpy.unique
        xcore.numpy.unique_all xcore.numpy.unique_counts xcore.numpy.unique_inverse xcore.numpy.unique_values
        xcore.linalg.gauss_null_space xcore.linalg.null_space xcore.linalg.orth xcore.scipy.linalg.null_space
        xcore.scipy.linalg.orth"""),
    ("num_segments", 4, "xcore.ops.segment_max xcore.ops.segment_min xcore.ops.segment_prod xcore.ops.segment_sum"),
    ("ranks", 2, "xcore.decomp.hosvd xcore.decomp.round_tt xcore.decomp.round_tucker xcore.decomp.tt_svd"),
    ("length", 8, "xcore.numpy.bincount"),
    ("mode", "clip", "xcore.numpy.choose xcore.numpy.ravel_multi_index"),
    ("strip_zeros", False, "xcore.numpy.roots"),
    ("steps", 4, "xcore.linalg.expm_multiply"),
)  # fmt: skip
KNOWN = (
    (CONVENTION, "by convention"), (SOLUTIONS, "of the solution"), (IN_THE_LAST, "in the last argument"),
    (UNSAID, ""),
)  # fmt: skip
REAL = ("bfloat16", "float16", "float32", "float64", "complex64", "complex128")
_NARROW = {"float64": "float32", "complex128": "complex64", "int64": "int32", "uint64": "uint32"}
WHOLE = ("bool", "int32", "int64", "uint8")


class Call(NamedTuple):
    """A function of the arrays among the arguments of a call, and these arrays."""

    f: Callable
    arrays: list
    via: str = ""


class Facts(NamedTuple):
    """A row: what `jit`, `vmap`, `grad` give, which dtypes are taken, where it compiles; of a class through what."""

    name: str
    jit: str
    vmap: str
    derivative: str
    dtypes: str
    cuda: str
    tpu: str
    via: str = ""


# ----- The call -----


def call(place: Place, **more: Any) -> Call | None:
    """The function of the arrays in its example; numbers that can be arrays are."""
    if isinstance(place.value, Family):
        return _density(place.value)
    use = uses.recorded(place)
    if use is None:
        return None
    use = use._replace(kwargs={**use.kwargs, **more})
    tries = [_of_arrays(use, n) for n in (float | complex, (), int | float | complex)]
    for made in tries:
        if (
            made.arrays
            and _tried(lambda made=made: xc.eval_shape(made.f, *made.arrays)) is not None
        ):
            return made
    return _of_what_it_makes(use.f, use.args, use.kwargs) or tries[1]


def _density(family: Family) -> Call:
    """By its shapes, and where it has no steps by the point, its place and its scale."""
    shapes, places = families.quantiles(family)
    held = [xnp.asarray(float(s)) for s in shapes]
    if family.discrete:
        return Call(lambda *shapes: family.pmf(places[1], *shapes), held)
    return Call(family.pdf, [1.25 * places[1] + 0.1, *held, xnp.asarray(0.1), xnp.asarray(1.25)])


def _of_what_it_makes(f: Callable, args: tuple, kwargs: dict) -> Call | None:
    """Of an optimizer its update, of a schedule the value at counts, of a proximal map the point."""
    made = _tried(lambda: f(*args, **kwargs))
    x = xnp.asarray([[0.5, -1.5, 2.5], [1.5, 0.25, -0.5]])
    tries = [
        Call(lambda x, g: made.update(g, made.init(x), x)[0], [x, x[::-1] / 3]),
        Call(lambda x: made(x, 0.5), [x]),
        Call(lambda x: made(x, 0.5), [x[0]]),
        Call(lambda x: made(x), [x]),
    ]
    tries = tries[:1] if hasattr(made, "update") else tries[1:] if callable(made) else []
    return next((t for t in tries if _given(t)), None)


def _given(made: Call) -> bool:
    """Whether arrays come out."""
    shapes = _tried(lambda: xc.eval_shape(made.f, *made.arrays))
    return shapes is not None and all(hasattr(s, "dtype") for s in xc.tree.leaves(shapes))


def _of_arrays(use: uses.Use, numbers: Any) -> Call:
    leaves, tree = xc.tree.flatten(_as_arrays((use.args, use.kwargs), numbers))
    free = [i for i, leaf in enumerate(leaves) if _array(leaf)]

    def of(*arrays):
        filled = list(leaves)
        for i, x in zip(free, arrays, strict=True):
            filled[i] = x
        args, kwargs = xc.tree.unflatten(tree, filled)
        return use.f(*args, **kwargs)

    return Call(of, [xnp.asarray(leaves[i]) for i in free], use.via)


def _array(leaf) -> bool:
    return (
        isinstance(leaf, xc.Array | np.ndarray)
        and np.dtype(leaf.dtype).kind in "biufcV"
        and not _key(leaf)
    )


def _key(leaf) -> bool:
    return "key" in str(leaf.dtype)


def _as_arrays(x, numbers: Any):
    """Lists of floats as arrays, and numbers of some classes, of integers lists too."""
    if isinstance(x, dict):
        return {k: _as_arrays(v, numbers) for k, v in x.items()}
    if isinstance(x, numbers) and not isinstance(x, bool):
        return xnp.asarray(x)
    if isinstance(x, list):
        flat = np.asarray(x) if _regular(x) else None
        return (
            xnp.asarray(x)
            if flat is not None
            and flat.dtype.kind in ("fc" if numbers != int | float | complex else "iufc")
            else [_as_arrays(v, numbers) for v in x]
        )
    if type(x) is tuple:
        return tuple(_as_arrays(v, numbers) for v in x)
    return x


def _regular(x: list) -> bool:
    try:
        return all(isinstance(v, int | float | complex) for v in np.asarray(x, object).ravel())
    except ValueError:
        return False


# ----- What it can do -----


def facts(place: Place) -> Facts | None:
    """The row of a function, or None where its example calls it with no array."""
    made = call(place)
    if made is None or not made.arrays or place.package == "xcore.nn.initializers":
        return _created(place)  # keys are not what they are of
    jit = "yes" if _traces(made) else "no"
    for name, value, functions in WITH:
        if jit == "no" and place.name in functions.split():
            made = call(place, **{name: value}) or made
            jit = f"with {name}=" if _traces(made) else "no"
    if jit == "no":
        return Facts(place.name, "no", "", "", "", "", "", made.via)
    batch = [xnp.stack([x, x]) for x in made.arrays]
    vmap = _tried(lambda: xc.eval_shape(xc.vmap(made.f), *batch)) is not None
    slope = _slope(place, made)
    return Facts(
        place.name,
        jit,
        "yes" if vmap else "no",
        slope,
        dtypes(made),
        lowers(made, "cuda"),
        lowers(made, "tpu"),
        made.via,
    )


def _slope(place: Place, made: Call) -> str:
    """Where the function or what a class is tried through is known, that; a method may still have no derivative."""
    said = [words for names, words in KNOWN if place.name in names or made.via in names]
    if said and not (made.via and derivative(made) == "no"):
        return said[0]
    return derivative(made)


def _traces(made: Call) -> bool:
    return _tried(lambda: xc.eval_shape(made.f, *made.arrays)) is not None


def _created(place: Place) -> Facts | None:
    """Of what makes arrays from counts and bounds, or from a key: the dtypes, and where it compiles."""
    got = None if inspect.isclass(place.value) else uses.recorded(place)
    if got is None:
        return None
    kept = [f for f in _makers(got.f, got.args, got.kwargs) if _array_of(f, "float32")]
    if not kept:
        return None
    with xc.enable_x64(True):
        taken = [d for d in WHOLE + REAL if _array_of(kept[0], d)]
    made = Call(functools.partial(kept[0], "float32"), [])
    return Facts(
        place.name, "yes", "", "", " ".join(taken), lowers(made, "cuda"), lowers(made, "tpu")
    )


def _makers(f: Callable, args: tuple, kwargs: dict) -> list[Callable]:
    """Functions of a dtype: this one, or the initializer that it makes, for matrices or kernels."""
    inner = [lambda d, s=s: f(*args, **kwargs)(xc.random.key(0), s, d) for s in ((3, 4), (3, 3, 4))]
    signature = _tried(lambda: inspect.signature(f))
    if signature is None or "dtype" not in signature.parameters:
        return [lambda d, s=s: f(xc.random.key(0), s, d) for s in ((3, 4),)] + inner
    given = signature.bind(*args, **kwargs).arguments
    plain = lambda d: f(**{**given, "dtype": d})  # noqa: E731
    positional = lambda d: f(*args, **{**kwargs, "dtype": d})  # noqa: E731
    return [positional, plain, *inner]


def _array_of(f: Callable, dtype: str) -> bool:
    shapes = xc.tree.leaves(_tried(lambda: xc.eval_shape(lambda: f(dtype))))
    return bool(shapes) and all(getattr(s, "dtype", None) == np.dtype(dtype) for s in shapes)


def dtypes(made: Call) -> str:
    kinds = [np.dtype(x.dtype).kind for x in made.arrays]
    real = any(k in "fcV" for k in kinds)

    def takes(dtype: str) -> bool:
        with xc.enable_x64(True):
            cast = [
                x.astype(dtype) if np.dtype(x.dtype).kind in ("fcV" if real else "biu") else x
                for x in made.arrays
            ]
            return _tried(lambda: xc.eval_shape(made.f, *cast)) is not None

    return " ".join(d for d in (REAL if real else WHOLE + REAL) if takes(d))


def derivative(made: Call) -> str:
    """How the derivative beside differences of values comes out."""
    whole = all(np.dtype(x.dtype).kind in "biu" for x in made.arrays)
    with xc.enable_x64(True):
        at = [_double(x, whole) for x in made.arrays]
        free = [i for i, x in enumerate(at) if np.dtype(x.dtype).kind in "fc"]
        if not free:
            return ""

        def f(*xs):
            filled = list(at)
            for i, x in zip(free, xs, strict=True):
                filled[i] = x
            return [y for y in xc.tree.leaves(made.f(*filled)) if hasattr(y, "dtype")]

        xs = [at[i] for i in free]
        slopes = [_direction(x, i) for i, x in enumerate(xs)]
        said = "differs"
        # many an example stands where the function has a kink, or at its end, or where it is flat
        for size in (1.0, 0.8, 1.2, 0.0):
            now = _compared(f, _near_to(xs, size), slopes)
            if size == 0 and now not in ("both", "forward", "backward"):
                continue
            said = said if now.startswith("differs") and said != "differs" else now
            if not said.startswith(("differs", "zero")):
                break
        return "" if whole and said in ("no", "?") else said


def _near_to(xs: list, size: float) -> list:
    if size == 1:
        return xs
    if size == 0:
        return [_direction(x, 100 + i) for i, x in enumerate(xs)]
    far = [0.02 * abs(x).max(initial=0.1) * _direction(x, 100 + i) for i, x in enumerate(xs)]
    return [size * x + d.astype(x.dtype) for x, d in zip(xs, far, strict=True)]


def _double(x, whole: bool):
    kind = np.dtype(x.dtype).kind
    return x.astype("complex128" if kind == "c" else "float64") if whole or kind in "fcV" else x


def _direction(x, seed: int):
    """A direction at random; symmetric at a symmetric matrix."""
    rng = np.random.default_rng(seed)
    kind, host = np.dtype(x.dtype).kind, np.asarray(x)
    d = np.asarray(rng.normal(size=x.shape) + (1j * rng.normal(size=x.shape) if kind == "c" else 0))
    turned = np.conj(np.swapaxes(host, -1, -2)) if host.ndim > 1 else host
    if host.ndim > 1 and turned.shape == host.shape and np.array_equal(turned, host):
        d = d + np.conj(np.swapaxes(d, -1, -2))
    return xnp.asarray(d, x.dtype)


def _compared(f: Callable, xs: list, ds: list) -> str:
    shapes = _tried(lambda: xc.eval_shape(f, *xs))
    if shapes is None:
        return "?"
    if not any(np.dtype(s.dtype).kind in "fc" for s in shapes):
        return ""
    floats = [i for i, s in enumerate(shapes) if np.dtype(s.dtype).kind in "fc"]

    def g(*xs):
        ys = f(*xs)
        return [ys[i] for i in floats]

    forward = _tried(lambda: xc.jit(lambda xs, ds: xc.jvp(g, xs, ds)[1])(tuple(xs), tuple(ds)))
    back = _tried(lambda: _pulled(g, xs, ds))
    if forward is None and back is None:
        return "no"
    slope = forward if forward is not None else back[1]  # pyright: ignore[reportOptionalSubscript]
    measured = [_differences(g, xs, ds, h) for h in (1e-6, 1e-4)]
    if forward is not None:
        if not any(_near(forward, m) for m in measured if m):
            return "differs"
        if back is None:
            return "forward"
    pairing = _paired(back[0], slope) if forward is not None else _paired(back[0], measured[0])  # pyright: ignore
    size = 1 + abs(back[2]) if np.isfinite(back[2]) else 0  # pyright: ignore
    if not np.isclose(pairing, back[2], rtol=1e-3, atol=1e-6 * size):  # pyright: ignore
        return "differs back"
    if forward is None:
        return "backward"
    return "both" if any(np.any(np.asarray(s)) for s in forward) else "zero"


def _pulled(g: Callable, xs: list, ds: list):
    """Cotangents of ones and their number beside the direction: Σ⟨vjp(c), d⟩."""

    def run(xs, ds):
        ys, back = xc.vjp(g, *xs)
        cs = [
            xnp.ones_like(y)
            * (1 + 0.5 * xnp.cos(xnp.arange(y.size).reshape(y.shape))).astype(y.dtype)
            for y in ys
        ]
        return cs, sum(xnp.sum(v * d).real for v, d in zip(back(cs), ds, strict=True))

    cs, total = xc.jit(run)(tuple(xs), tuple(ds))
    return cs, None, complex(total).real


def _paired(cs, slopes) -> float:
    return float(
        sum(np.sum(np.asarray(c) * np.asarray(s)).real for c, s in zip(cs, slopes, strict=True))
    )


def _differences(g: Callable, xs: list, ds: list, h: float):
    values = _tried(
        lambda: xc.jit(lambda xs, ds, h: g(*[x + h * d for x, d in zip(xs, ds, strict=True)]))
    )
    if values is None:
        return None
    ends = [_tried(lambda s=s: values(tuple(xs), tuple(ds), s * h)) for s in (1.0, -1.0)]
    if ends[0] is None or ends[1] is None:
        return None
    return [(np.asarray(a) - np.asarray(b)) / (2 * h) for a, b in zip(*ends, strict=True)]


def _near(found, measured) -> bool:
    """To 3 digits of the largest entry, where there are finite differences."""
    for a, b in zip(found, measured, strict=True):
        known = np.isfinite(b)
        a, b = np.asarray(a)[known], b[known]
        scale = max(1e-3, float(np.max(np.abs(b), initial=0.0)))
        if not np.allclose(a, b, rtol=1e-3, atol=1e-3 * scale):
            return False
    return True


def lowers(made: Call, platform: str) -> str:
    """With 32 bits, which every platform has."""
    at = [x.astype(_NARROW.get(str(x.dtype), x.dtype)) for x in made.arrays]
    lowered = _tried(lambda: xc.jit(made.f).trace(*at).lower(platform).as_text())
    if lowered is None:
        return "no"
    return "host" if "python" in lowered or "callback" in lowered else "yes"


def _tried(f: Callable) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f()
        except Exception:
            return None


# ----- The file -----


def of_classes() -> list[Place]:
    kinds = [p for p in places().values() if p.package in PACKAGES and uses.computes(p.value)]
    return [p for p in kinds if p.name not in uses.without_rows()]


def of_interest() -> list[Place]:
    kinds = [p for p in places().values() if p.package in PACKAGES]
    return [p for p in kinds if inspect.isroutine(p.value) or isinstance(p.value, Family)]


@functools.cache
def _kept() -> list[list[str]]:
    with FILE.open(encoding="utf-8", newline="") as file:
        return [*csv.reader(file, delimiter="\t")]


def when() -> str:
    """The day of the last row, and with what."""
    return _kept()[0][0]


@functools.cache
def table() -> dict[str, Facts]:
    """The rows that are kept, by names."""
    return {row[0]: Facts(*row) for row in _kept()[1:]}


def _today() -> str:
    machine = {"AMD64": "x86-64", "x86_64": "x86-64"}.get(platform.machine(), platform.machine())
    used = ", ".join(f"{name} {metadata.version(name)}" for name in ("jaxlib", "numpy", "scipy"))
    return f"{datetime.date.today()}; {machine}, Python {platform.python_version()}, {used}"


def _line(row: Facts) -> tuple:
    """Of a function without an empty last column."""
    return row if row.via else row[:-1]


def main(begins: list[str]) -> None:
    xc.config.update("disable_most_optimizations", True)
    rows = dict(table()) if begins else {}
    for place in of_interest() + of_classes():
        if begins and not place.name.startswith(tuple(begins)):
            continue
        row = facts(place)
        print(*(row or (place.name, "no array in its example")), sep="\t", flush=True)
        rows.pop(place.name, None)
        rows |= {place.name: row} if row else {}
    with FILE.open("w", encoding="utf-8", newline="") as file:
        kept = [(_today(),), *(_line(rows[n]) for n in sorted(rows))]
        csv.writer(file, delimiter="\t", lineterminator="\n").writerows(kept)


if __name__ == "__main__":
    main(sys.argv[1:])
