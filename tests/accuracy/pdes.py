"""Fields of partial differential equations: residuals by a stencil of our own, modes in closed form."""

import numpy as np

import xcore as xc
from tests.accuracy import wide as w
from tests.accuracy.book import Claim, Ratio, Routine
from tests.accuracy.matrices import eps, generator

pde = xc.pde
SIZES = (8, 33, 64)
DTYPES = ("f32", "f64")
MODES = 4


def _rtol(dtype):
    return eps(dtype) ** (2 / 3)  # the default


def _nodes(n, stretch):
    """0 … 1: even, or with cells that grow by so much from the first to the last."""
    cells = np.float64(stretch) ** (np.arange(n) / max(n - 1, 1))
    return np.concatenate([[0.0], np.cumsum(cells) / cells.sum()])


# Coefficients at the nodes


def _checkers(jump):
    return lambda x, y, rng: np.where((np.floor(4 * x) + np.floor(4 * y)) % 2 == 0, 1.0, jump)


COEFFICIENTS = {
    "smooth": lambda x, y, rng: 1 + 0.5 * np.sin(6 * x) * np.cos(5 * y),
    "jump-1e2": _checkers(1e2), "jump-1e4": _checkers(1e4), "jump-1e6": _checkers(1e6),
    "inclusion": lambda x, y, rng: np.where((x - 0.4) ** 2 + (y - 0.6) ** 2 < 0.04, 1e-4, 1.0),
    "random": lambda x, y, rng: np.exp(2 * rng.standard_normal(x.shape)),
    "small": lambda x, y, rng: 1e-12 * (1 + x), "large": lambda x, y, rng: 1e12 * (1 + y),
}  # fmt: skip


def _problem(stretch):
    def problem(family, n, dtype):
        rng = generator("pde", family, n)
        x = _nodes(n, stretch)
        a = COEFFICIENTS[family](*np.meshgrid(x, x, indexing="ij"), rng)
        f = rng.standard_normal((n - 1, n - 1)) + 1
        return a.astype(dtype), f.astype(dtype)

    return problem


def _grid(n, stretch):
    if stretch == 1:
        return pde.Grid((n, n))
    x = tuple(_nodes(n, stretch).tolist())
    return pde.Grid((n, n), stretched=(x, x))


def _largest(a, u, x):
    """For each row the sum of |element| |u|: u with the signs of a chessboard, then no terms cancel."""
    sign = (-1.0) ** np.add.outer(*map(np.arange, u.shape))
    return np.abs(divergence(a, sign * np.abs(u), x)[0])


def _harmonic(a, axis):
    left, right = np.delete(a, -1, axis), np.delete(a, 0, axis)
    return 2 * left * right / (left + right)


def divergence(a, u, x):
    """div(a grad u) at the inner nodes, u = 0 on the boundary; and the volumes there."""
    h = np.diff(x)
    around = (h[1:] + h[:-1]) / 2
    padded = np.pad(u, 1)
    across = _harmonic(a, 0) * np.diff(padded, axis=0) / h[:, None]
    along = _harmonic(a, 1) * np.diff(padded, axis=1) / h
    total = np.diff(across, axis=0)[:, 1:-1] / around[:, None] + np.diff(along, axis=1)[1:-1] / around  # fmt: skip
    return total, np.outer(around, around)


def _share(left, f, largest):
    """(residual, goal), relative to f: the goal is eps^(2/3), or what four roundings of u change it by.

    ``largest``: for each row the sum of |element| |u|.
    """
    size = lambda x: float(np.linalg.norm(w.narrow(x)))
    return size(left - f) / size(f), size(largest) / size(f)


def _solved_claim(what, left, f, largest, dtype, ok):
    share, rounding = _share(left, f, largest)
    goal = max(_rtol(dtype), 4 * eps(dtype) * rounding)
    share = share if np.isfinite(share) else np.inf
    return Claim(f"ok: |{what} - f| <= goal |f|", share, 1.05 * goal, ok)


def _field(stretch):
    """Residuals are weighted by volumes, as the report says."""

    def judge(arrays, answer):
        a, f = map(w.wide, arrays)
        u, dtype = w.wide(answer.value), arrays[0].dtype
        x = w.widest(_nodes(len(a) - 1, stretch))
        left, volumes = divergence(a, u, x)
        largest = volumes * _largest(a, u, x)
        ok = answer.status == 0
        return [_solved_claim("div a grad u", volumes * left, volumes * f, largest, dtype, ok)]

    return judge


def _solved(stretch, method):
    def call(a, f):
        op = pde.Diffusion(_grid(f.shape[0] + 1, stretch), a)
        return pde.solve(op, f, method=method, report=True)

    return call


# Poisson's equation, directly


def _right(family, n, dtype):
    rng = generator("poisson", family, n)
    size = {"random": 1.0, "small": 1e-25, "large": 1e25}[family]
    return ((rng.standard_normal((n - 1, n - 1)) * size).astype(dtype),)


def _poisson(arrays, u):
    """The solver is direct: the residual over eps and the terms of the stencil, 8 |u| / h²."""
    (f,), n = arrays, len(arrays[0]) + 1
    left, _ = divergence(np.ones((n + 1, n + 1)), w.widest(u), w.widest(_nodes(n, 1)))
    size = 8 * n**2 * np.abs(w.widest(u)).max()
    return [Ratio("|Δu + f|", float(np.abs(left + w.widest(f)).max() / (size * eps(f.dtype))))]


# Masks: parts of a square, whose boundary lies on nodes


def _disc(x, y):
    return (x - 0.5) ** 2 + (y - 0.5) ** 2 < 0.2


def _comb(x, y):
    """Narrow teeth on a narrow back."""
    return (x < 0.2) | (np.floor(12 * y) % 2 == 0)


SHAPES = {
    "disc": _disc, "corner": lambda x, y: (x < 0.5) | (y > 0.5), "comb": _comb,
    "islands": lambda x, y: _disc(2 * x % 1, 2 * y % 1),
}  # fmt: skip
MASK_COEFFICIENTS = ("smooth", "jump-1e4", "jump-1e6", "random", "small", "large")


def _inside(shape, n):
    x = _nodes(n, 1)
    return SHAPES[shape](*np.meshgrid(x, x, indexing="ij"))


def masked_divergence(a, u, inside):
    """div(a grad u) of the nodes inside, u = 0 at all others; a half-way is the mean of both ends."""
    n = len(a) - 1
    u = np.pad(np.where(inside[1:-1, 1:-1], u, 0), 1)
    flow = [(np.delete(a, -1, k) + np.delete(a, 0, k)) / 2 * np.diff(u, axis=k) * n for k in (0, 1)]
    total = np.diff(flow[0], axis=0)[:, 1:-1] * n + np.diff(flow[1], axis=1)[1:-1] * n
    return np.where(inside[1:-1, 1:-1], total, 0)


def _masked(shape):
    def call(a, f):
        n = f.shape[0] + 1
        op = pde.Masked(pde.Grid((n, n)), _inside(shape, n), a, edge="staircase")
        return pde.solve(op, f, report=True)

    def judge(arrays, answer):
        a, f = map(w.wide, arrays)
        u, inside = w.wide(answer.value), _inside(shape, len(a) - 1)
        f = np.where(inside[1:-1, 1:-1], f, 0)
        sign = (-1.0) ** np.add.outer(*map(np.arange, u.shape))
        largest = np.abs(masked_divergence(a, sign * np.abs(u), inside))
        left, dtype = masked_divergence(a, u, inside), arrays[0].dtype
        outside = np.abs(np.where(inside[1:-1, 1:-1], 0, u)).max()
        return [
            _solved_claim("div a grad u", left, f, largest, dtype, answer.status == 0),
            Claim("ok: zero outside", outside, 0.0, answer.status == 0),
        ]  # fmt: skip

    return call, judge


# Modes


def _box(family, n, dtype):
    return (np.ones((), dtype),)


def _exact_modes(n, width):
    k = np.arange(1, n)
    line = 4 * n**2 * np.sin(k * np.pi / (2 * n)) ** 2
    return np.sort((line[:, None] + line / width**2).ravel())[:MODES]


WIDTHS = {"square": 1.0, "oblong": 2.0, "thin": 16.0}


def _modes(width, method):
    """Closed forms know the values, copies included; a result without an error is a claim."""

    def call(one, n=32):
        op = pde.Laplacian(pde.Grid((n, n), upper=(1.0, width)))
        return pde.eigenmodes(op, MODES, dtype=one.dtype, method=method)

    def judge(arrays, found):
        true, dtype = _exact_modes(32, width), arrays[0].dtype
        error = np.abs(w.narrow(found[0]) - true) / true
        return [Claim("returned: those wanted", error, 10 * eps(dtype) ** 0.5, floor=eps(dtype))]

    return call, judge


def _row(name, problem, call, judge, families, **more):
    more = {"sizes": SIZES, "compiled": (33,), "ways": ("one", "jit", "vmap")} | more
    return Routine(name, "pde", problem, call, judge, families, DTYPES, **more)


ROUTINES = [
    *(
        _row(f"diffusion-{method.replace(' ', '-')}{'-stretched' * (stretch > 1)}", _problem(stretch),
             _solved(stretch, method), _field(stretch), tuple(COEFFICIENTS))
        for method, stretch in (("cg", 1), ("multigrid", 1), ("cg", 100), ("multigrid", 100))
    ),
    *(_row(f"masked-{shape}", _problem(1), *_masked(shape), MASK_COEFFICIENTS) for shape in SHAPES),
    _row("poisson", _right, lambda f: pde.poisson(f, _grid(f.shape[0] + 1, 1)), _poisson, ("random", "small", "large")),
    *(
        _row(f"eigenmodes-{method}-{shape}", _box, *_modes(width, method), (shape,), sizes=(32,), ways=("one",), compiled=())
        for shape, width in WIDTHS.items() for method in ("shift-invert", "lobpcg")
    ),
]  # fmt: skip
