"""Tensor decompositions: whether the error told is the error, and whether intervals cover."""

import numpy as np

import xcore as xc
import xcore.numpy as xnp
from tests.accuracy import wide as w
from tests.accuracy.book import Claim, Routine
from tests.accuracy.matrices import DTYPES, eps, generator

decomp = xc.decomp
RANK = 2
# name: (size of the tensor, noise relative to it, cosine of the columns of the first factor)
FAMILIES = {
    "exact": (1.0, 0.0, None), "noise": (1.0, 0.1, None), "large": (1e15, 0.01, None), "small": (1e-15, 0.01, None),
    "tiny": (1e-25, 0.01, None), "huge": (1e25, 0.01, None), "alike": (1.0, 0.01, 0.999), "zero": (0.0, 0.0, None),
}  # fmt: skip


def _factors(n, rng, alike=None, kind="f"):
    shapes = (n, n + 1, n - 1)
    made = [rng.standard_normal((m, RANK)) for m in shapes]
    if kind == "c":
        made = [a + 1j * rng.standard_normal(a.shape) for a in made]
    if alike is not None:
        made[0][:, 1] = alike * made[0][:, 0] + (1 - alike**2) ** 0.5 * made[0][:, 1]
    return made


def _dense(factors):
    return np.einsum("ir,jr,kr->ijk", *factors)


def _tensor(family, n, dtype):
    size, noise, alike = FAMILIES[family]
    if (
        size not in (0, 1)
        and not float(xnp.finfo(dtype).tiny) * 1e6 < size < float(xnp.finfo(dtype).max) * 1e-6
    ):
        return None
    rng = generator("tensor", family, n)
    x = _dense(_factors(n, rng, alike, dtype.kind))
    x = x / np.abs(x).max()
    return ((size * (x + noise * rng.standard_normal(x.shape))).astype(dtype),)


def _told(fit):
    return fit.value.to_dense(), fit.error, fit.status


def _judge(arrays, found):
    """The error told is the error; below the root of eps it is rounding of a product."""
    (x,), (value, told, status) = arrays, found
    x, value = w.widest(x), w.widest(value)
    size = np.abs(x).max() or 1
    norm = np.linalg.norm(w.narrow(x / size))
    error = np.linalg.norm(w.narrow((x - value) / size)) / (norm or 1)
    error = error if np.isfinite(error) else np.inf
    e = eps(arrays[0].dtype)
    told, ok = float(told), status == 0
    return [
        Claim("success: error", error, 1.01 * told + 10 * e**0.5, ok, floor=e),
        Claim("success: finite", 0.0 if np.isfinite(error) else 1.0, 0.5, ok),
    ]


def _row(name, call):
    kinds = tuple(d for d in DTYPES if d in ("f32", "f64", "c64"))
    return Routine(name, "decomp", _tensor, call, _judge, tuple(FAMILIES), kinds, (4, 9), ("one", "vmap"), (4,))  # fmt: skip


# Intervals: the truth up to signs, order and sizes of columns

TRIALS = 150


def _trials(family, n, dtype):
    rng = generator("uncertain", family)
    true = _factors(n, rng)
    x = _dense(true)
    noise = {"little": 0.01, "some": 0.05}[family] * np.abs(x).max()
    drawn = x + noise * rng.standard_normal((TRIALS, *x.shape))
    return (drawn.astype(dtype), *(f.astype(dtype) for f in true))


def _uncertain(x, *true):
    def one(x):
        fit = decomp.cp_als(x, RANK, init=decomp.CP(None, true), rtol=1e-12, max_steps=100)
        cp = fit.value
        spread = decomp.factor_uncertainty(x, cp)
        return cp.weights, tuple(cp.factors), tuple(spread)

    return xc.vmap(one)(x)


def _covers(arrays, found):
    """Standard deviations against what the entries of the fitted factors do, all gauges alike:

    of each fit the truth is brought to its columns' order, sign and size.
    """
    true = [w.narrow(f) for f in arrays[1:]]
    weights, factors, spreads = found
    inside = []
    for k in range(len(weights)):
        own = [w.narrow(f[k]) for f in factors]
        inside.append(_hits(own, [w.narrow(s[k]) for s in spreads], true))
    share = np.mean(inside, 0)
    return [Claim("95% intervals", np.abs(share - 0.95), 4 * (0.95 * 0.05 / len(inside)) ** 0.5)]


def _hits(own, spreads, true):
    match = np.prod([np.abs(_units(a).T @ _units(t)) for a, t in zip(own, true)], 0)
    order = [int(np.argmax(match[:, r])) for r in range(RANK)]
    hits = []
    brought = [t.copy() for t in true]
    for r, mine in enumerate(order):
        for mode in range(3):
            scale = np.linalg.norm(own[mode][:, mine]) / np.linalg.norm(true[mode][:, r])
            scale *= np.sign(own[mode][:, mine] @ true[mode][:, r])
            brought[mode][:, r] *= scale
    for mode in range(3):
        off = np.abs(own[mode][:, order] - brought[mode])
        hits.append((off <= 1.96 * spreads[mode][:, order]).ravel())
    return np.concatenate(hits)


def _units(f):
    return f / np.linalg.norm(f, axis=0)


ROUTINES = [
    _row("cp_als", lambda x: _told(decomp.cp_als(x, RANK))),
    _row("cp_gauss_newton", lambda x: _told(decomp.cp_gauss_newton(x, RANK))),
    _row("cp_als-restarts", lambda x: _told(decomp.cp_als(x, RANK, restarts=3))),
    Routine("factor_uncertainty", "decomp", _trials, _uncertain, _covers, ("little", "some"), ("f64",), (5,), ("one",), ()),
]  # fmt: skip
