"""Pictures of the pages on background, drawn when the site is put together.

python -m tools.site.pictures FOLDER
"""

from __future__ import annotations

import io
import itertools
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from examples._figures import PAPER, darken

from .write import write

# Two inks and a grey that can be told apart by everyone, on white paper and on dark.
BLUE, ORANGE, GREY = "#0b6e95", "#c8641b", "#8a8f98"
STYLE = {
    "svg.hashsalt": "xcore", "svg.fonttype": "path", "axes.spines.top": False, "axes.spines.right": False,
    "font.size": 10, "axes.axisbelow": True,
}  # fmt: skip


def checkpoints(canvas: Figure, steps: int = 64, places: int = 8) -> None:
    """Which states of a loop are kept: while it runs, and while the walk goes back."""
    axes = canvas.subplots()
    rows = [*forward(steps, places), *backward(steps, places)]
    for y, (at, kept) in enumerate(rows):
        back = y >= steps // 4
        axes.plot(kept, [y] * len(kept), "o", color=ORANGE if back else BLUE, ms=3.5)
        axes.plot([at], [y], "|", color="black", ms=8)
    axes.set(xlabel="step of the loop", ylabel="time, downwards")
    axes.set_yticks([])
    axes.invert_yaxis()
    axes.text(steps + 1, steps // 8, "the loop runs:\nthe stride doubles", color=BLUE, va="center")
    axes.text(
        steps + 1, 3 * steps // 8, "the way back:\nplaces are refilled", color=ORANGE, va="center"
    )
    axes.set_xlim(-1, steps + 22)


def forward(steps: int, places: int) -> list[tuple[int, list[int]]]:
    kept, stride, rows = [0], 1, []
    for i in range(1, steps + 1):
        if i % stride == 0:
            if len(kept) == places:
                stride *= 2
                kept = [k for k in kept if k % stride == 0]
            if i % stride == 0:
                kept.append(i)
        if i % 4 == 0:
            rows.append((i, list(kept)))
    return rows


def backward(steps: int, places: int) -> list[tuple[int, list[int]]]:
    kept, rows = forward(steps, places)[-1][1], []
    for i in range(steps - 1, -1, -1):
        kept = [k for k in kept if k <= i]
        low = kept[-1]
        while len(kept) < places and i - low > 1:  # on the way from the last one up to i
            low = (low + i + 1) // 2
            kept.append(low)
        if i % 4 == 0:
            rows.append((i, list(kept)))
    return rows


def keys(canvas: Figure) -> None:
    """A tree of keys, and the mistake of using one twice."""
    left, right = canvas.subplots(1, 2, width_ratios=(2, 1))
    for axes in (left, right):
        axes.axis("off")
        axes.set(xlim=(0, 1), ylim=(0, 1))
    places = {"key": (0.5, 0.9), "first": (0.25, 0.55), "second": (0.75, 0.55)}
    leaves = {
        "normal": (0.12, 0.15),
        "poisson": (0.38, 0.15),
        "uniform": (0.62, 0.15),
        "fold_in(7)": (0.88, 0.15),
    }
    for name, (x, y) in leaves.items():
        _arrow(left, places["first" if x < 0.5 else "second"], (x, y))
        _box(left, (x, y), name, GREY)
    for name in ("first", "second"):
        _arrow(left, places["key"], places[name])
        _box(left, places[name], name, BLUE)
    _box(left, places["key"], "key", BLUE)
    left.text(0.5, 0.73, "split", ha="center", color=GREY)
    for x in (0.25, 0.75):
        _arrow(right, (0.5, 0.9), (x, 0.35))
        _box(right, (x, 0.35), "normal", ORANGE)
    _box(right, (0.5, 0.9), "key", BLUE)
    right.text(0.5, 0.15, "the same numbers twice", ha="center", color=ORANGE)


def _box(axes, at: tuple[float, float], name: str, colour: str) -> None:
    axes.text(
        *at, name, ha="center", va="center", bbox={"boxstyle": "round", "fc": "white", "ec": colour}
    )


def _arrow(axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    axes.annotate(
        "", end, start, arrowprops={"arrowstyle": "->", "color": GREY, "shrinkA": 12, "shrinkB": 12}
    )


def multigrid(canvas: Figure) -> None:
    """Residuals of -Δu = f, f of all wave lengths, by damped Jacobi and by V-cycles written out here."""
    axes = canvas.subplots()
    for n, tone in ((32, 0.45), (64, 0.7), (128, 1.0)):
        f = 1 + np.random.default_rng(0).normal(size=(n - 1, n - 1))
        axes.semilogy(
            *_history(f, _smoothed, 40, 1.0), color=ORANGE, alpha=tone, label=f"Jacobi, {n}² cells"
        )
    for n, tone in ((32, 0.45), (64, 0.7), (128, 1.0)):
        f = 1 + np.random.default_rng(0).normal(size=(n - 1, n - 1))
        axes.semilogy(
            *_history(f, _cycle, 7, 16 / 3), color=BLUE, alpha=tone, label=f"multigrid, {n}² cells"
        )
    axes.set(xlabel="work, in products with the matrix", ylabel="residual / that of 0")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)


def _history(f: np.ndarray, step: Callable, count: int, price: float):
    u, sizes = np.zeros_like(f), [1.0]
    for _ in range(count):
        u = step(u, f)
        sizes.append(float(np.linalg.norm(f - _minus_laplace(u)) / np.linalg.norm(f)))
    return price * np.arange(count + 1), sizes


def _minus_laplace(u: np.ndarray) -> np.ndarray:
    p = np.pad(u, 1)
    return (4 * u - p[2:, 1:-1] - p[:-2, 1:-1] - p[1:-1, 2:] - p[1:-1, :-2]) * (len(u) + 1) ** 2


def _smoothed(u: np.ndarray, f: np.ndarray) -> np.ndarray:
    return u + 0.8 / 4 / (len(u) + 1) ** 2 * (f - _minus_laplace(u))


def _cycle(u: np.ndarray, f: np.ndarray) -> np.ndarray:
    if len(f) == 1:
        return f / (16 * 1.0)
    u = _smoothed(u, f)
    r = f - _minus_laplace(u)
    e = _cycle(np.zeros((len(f) // 2,) * 2), _coarser(_coarser(r).T).T)
    return _smoothed(u + _finer(_finer(e).T).T, f)


def _coarser(r: np.ndarray) -> np.ndarray:
    return (r[:-2:2] + 2 * r[1:-1:2] + r[2::2]) / 4


def _finer(e: np.ndarray) -> np.ndarray:
    fine = np.zeros((2 * len(e) + 1, e.shape[1]))
    fine[1::2] = e
    p = np.pad(e, ((1, 1), (0, 0)))
    fine[::2] = (p[1:] + p[:-1]) / 2
    return fine


def mttkrp(canvas: Figure) -> None:
    """The product that costs, in two steps."""
    axes = canvas.subplots()
    axes.axis("off")
    axes.set(xlim=(0, 10), ylim=(0, 4))
    _block(axes, 0.3, 0.8, 1.8, 1.8, "X\nI × J × K", BLUE, depth=0.7)
    axes.text(3.15, 1.8, "· C", fontsize=13, ha="center")
    axes.annotate("", (4.0, 1.5), (2.9, 1.5), arrowprops={"arrowstyle": "->", "color": GREY})
    axes.text(3.4, 0.95, "one product\nof matrices", ha="center", va="top", fontsize=8, color=GREY)
    _block(axes, 4.2, 0.8, 1.8, 1.8, "I × J × R", ORANGE, depth=0.25)
    axes.text(7.0, 1.8, "· columns of B", fontsize=10, ha="center")
    axes.annotate("", (7.7, 1.5), (6.5, 1.5), arrowprops={"arrowstyle": "->", "color": GREY})
    _block(axes, 8.1, 0.8, 0.7, 1.8, "I × R", BLUE, depth=0.0)


def _block(
    axes, x: float, y: float, w: float, h: float, name: str, colour: str, depth: float
) -> None:
    for k in np.linspace(depth, 0, 5 if depth else 1):
        axes.fill(
            [x + k, x + w + k, x + w + k, x + k],
            [y + k, y + k, y + h + k, y + h + k],
            fc="white",
            ec=colour,
        )
    axes.text(x + w / 2, y + h / 2, name, ha="center", va="center", color=colour)


def walks(canvas: Figure) -> None:
    """sin(2 x) summed: its values, its tangents beside them, and the tangents' part walked back."""
    axes = canvas.subplots()
    axes.axis("off")
    axes.set(xlim=(-0.16, 1.02), ylim=(0.02, 1))
    rows = (
        (0.85, "values", BLUE, ("x", "· 2", "sin", "sum", "y"), False),
        (0.5, "forward", ORANGE, ("ẋ", "· 2", "· cos 2x", "sum", "ẏ"), False),
        (0.15, "reverse", GREY, ("x̄", "· 2", "· cos 2x", "broadcast", "ȳ = 1"), True),
    )
    for y, name, colour, steps, back in rows:
        places = [(0.08 + 0.21 * k, y) for k in range(len(steps))]
        axes.text(-0.15, y, name, color=colour, va="center")
        for start, end in itertools.pairwise(places):
            _arrow(axes, *((end, start) if back else (start, end)))
        for place, step in zip(places, steps, strict=True):
            _box(axes, place, step, colour)
    _arrow(axes, (0.29, 0.85), (0.5, 0.5))  # what the slope depends on


def batches(canvas: Figure) -> None:
    """A loop over four vectors, and one program with one more axis."""
    left, right = canvas.subplots(1, 2)
    for axes, name in ((left, "a loop"), (right, "vmap")):
        axes.axis("off")
        axes.set(xlim=(0, 10), ylim=(0, 6))
        axes.set_title(name, color=GREY, fontsize=10)
    for k in range(4):
        _block(left, 0.5, 0.4 + 1.4 * k, 3, 0.8, "3", BLUE, depth=0)
        _arrow(left, (3.2, 0.8 + 1.4 * k), (5.3, 0.8 + 1.4 * k))
        left.text(5.5, 0.8 + 1.4 * k, "f", ha="center", va="center")
        _arrow(left, (5.7, 0.8 + 1.4 * k), (7.8, 0.8 + 1.4 * k))
        _block(left, 7.8, 0.4 + 1.4 * k, 0.8, 0.8, "", ORANGE, depth=0)
    _block(right, 0.5, 1, 3, 4, "4 × 3", BLUE, depth=0)
    _arrow(right, (3.2, 3), (4.7, 3))
    right.text(5.75, 3, "f of one\nmore axis", ha="center", va="center")
    _arrow(right, (6.8, 3), (8.2, 3))
    _block(right, 8.0, 1, 0.8, 4, "4", ORANGE, depth=0)


def implicit(canvas: Figure) -> None:
    """Roots of x³ = p: the steps of one iteration, and the slope of the curve that they end on."""
    axes = canvas.subplots()
    p = np.linspace(0.3, 16, 200)
    axes.plot(p, np.cbrt(p), color=BLUE, label="x³ = p")
    x = [1.2]
    for _ in range(5):
        x.append(x[-1] - (x[-1] ** 3 - 8) / (3 * x[-1] ** 2))
    axes.plot([8] * len(x), x, "o:", color=GREY, ms=4, lw=1, label="Newton's steps at p = 8")
    axes.plot(
        [3, 13],
        [2 + (q - 8) / 12 for q in (3, 13)],
        color=ORANGE,
        label="slope 1 / (3 x²), of the equation",
    )
    axes.set(xlabel="p", ylabel="x", ylim=(0.6, 3.1))
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, loc="lower right")


def waves(canvas: Figure) -> None:
    """The waves of a box, and what the operator multiplies each by."""
    left, right = canvas.subplots(1, 2)
    n = 32
    x = np.linspace(0, 1, n + 1)
    for j, tone in ((1, 1.0), (2, 0.75), (3, 0.5), (4, 0.3)):
        left.plot(x, 0.42 * np.sin(np.pi * j * x) + j, ".-", ms=3, lw=1, color=BLUE, alpha=tone)
    left.set(xlabel="x", ylabel="number j of the wave", yticks=[1, 2, 3, 4])
    j = np.arange(1, n)
    right.loglog(
        j, 4 * n**2 * np.sin(np.pi * j / 2 / n) ** 2, "o", ms=3, color=ORANGE, label="λ on 32 cells"
    )
    right.loglog(j, (np.pi * j) ** 2, color=GREY, lw=1, label="π² j²")
    right.set(xlabel="number j of the wave", ylabel="λ")
    right.grid(alpha=0.3)
    right.legend(fontsize=8)


PICTURES: dict[Callable[[Figure], None], tuple[float, float]] = {
    checkpoints: (6.4, 3.6), keys: (6.8, 2.6), multigrid: (6.0, 3.8), mttkrp: (6.8, 2.4), walks: (6.8, 2.8),
    batches: (6.8, 2.6), implicit: (6.0, 3.4), waves: (6.8, 2.8),
}  # fmt: skip


def write_pictures(folder: Path) -> None:
    for draw, size in PICTURES.items():
        with rc_context(STYLE):
            canvas = Figure(figsize=size, layout="constrained")
            draw(canvas)
            write(folder / f"{draw.__name__}.svg", saved(canvas))
            darken(canvas)
            canvas.set_facecolor(PAPER)
            write(folder / f"{draw.__name__}.dark.svg", saved(canvas))


def saved(canvas: Figure, kind: str = "svg") -> bytes:
    kept = io.BytesIO()
    same = {"metadata": {"Date": None}} if kind == "svg" else {"dpi": 150}
    canvas.savefig(kept, format=kind, **same)
    return kept.getvalue()


if __name__ == "__main__":
    write_pictures(Path(sys.argv[1]))
