"""One axis of a grid with its conditions: a derivative along it as a matrix, as bands, and the second
one as eigenvectors. All of it is NumPy on the host, made once for each kind of axis.

A kind is ``None`` for a periodic axis, or (alpha, beta) of the condition alpha u + beta ∂u/∂n = g.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from .._ops.trigonometric import matrix as trig_matrix

DIRICHLET, NEUMANN = (1.0, 0.0), (0.0, 1.0)


def fit(points, at: float, derivative: int, boundary=None) -> np.ndarray:
    """Weights of values at points, and of boundary data, that give a derivative at a place.

    They are exact for polynomials of as high a degree as there are data. ``boundary`` is
    (place, alpha, beta, sign of the normal); its weight comes last.
    """
    points = np.asarray(points)
    scale = np.max(np.abs(points - at)) or 1.0
    t = (points - at) / scale
    count = len(t) + (boundary is not None)
    powers = np.arange(count)
    rows = np.array([t**k for k in powers])
    if boundary is None:
        return np.linalg.solve(rows, _sought(derivative, count, scale))
    place, alpha, beta, sign = boundary
    # in units in which no number is lost beside the others, of whatever size alpha, beta and scale are
    unit = max(abs(alpha), abs(beta) / scale)
    values, slopes = alpha / unit, beta / unit / scale * sign
    s, here = (place - at) / scale, np.flatnonzero(points == place)
    steep = np.array([k * s ** max(k - 1, 0) for k in powers])
    data = steep if here.size else values * s**powers + slopes * steep
    found = np.linalg.solve(np.column_stack([rows, data]), _sought(derivative, count, scale))
    if here.size:  # of a point on the face itself the condition says the slope
        found[-1] /= slopes
        found[here[0]] -= values * found[-1]
    found[-1] /= unit
    return found


def fit_many(points, at, derivative: int) -> np.ndarray:
    """``fit`` of many places at once, without data: (places, points)."""
    scale = np.max(np.abs(points - at[:, None]), axis=1)
    t, count = (points - at[:, None]) / scale[:, None], points.shape[1]
    right = np.zeros((len(at), count, 1))
    right[:, derivative, 0] = math.factorial(derivative) / scale**derivative
    rows = np.stack([t**k for k in np.arange(count)], axis=1)
    return np.linalg.solve(rows, right)[..., 0]


def _sought(derivative: int, count: int, scale: float) -> np.ndarray:
    right = np.zeros(count)
    right[derivative] = math.factorial(derivative) / scale**derivative
    return right


@dataclass(frozen=True)
class Axis:
    """A derivative on the unknowns of an axis: matrix @ u + low * g_low + high * g_high.

    Attributes:
      nodes: positions of all nodes (of a periodic axis all but the last).
      start, count: the unknowns are nodes[start : start + count].
      elements: (keys, values) of the matrix, which is made dense where all of it is needed: element (i, j) has the
        key i * count + j, and keys go up.
      low, high: (count,), what data of the faces add.
      weights: (count,), cells' widths: with order 2, weights[:, None] * matrix is symmetric.
      width: how far the stencil reaches away from the faces.
      derivative: 2, or 1.
      centred: whether nodes are the middles of cells, and faces half a cell away from the first and the last.
    """

    nodes: np.ndarray
    start: int
    count: int
    elements: tuple[np.ndarray, np.ndarray]
    low: np.ndarray
    high: np.ndarray
    weights: np.ndarray
    kinds: tuple
    order: int
    uniform: bool
    period: float
    derivative: int = 2
    lean: int = 0
    centred: bool = False

    @property
    def ring(self) -> bool:
        return self.kinds[0] is None

    @property
    def width(self) -> int:
        return self.order // 2

    @property
    def cells(self) -> int:
        """How many there are."""
        return len(self.nodes) - (not self.ring and not self.centred)

    @property
    def spacing(self) -> float:
        return self.period / self.cells

    @property
    def unknowns(self) -> np.ndarray:
        """Positions of the unknowns."""
        return self.nodes[self.start : self.start + self.count]

    @property
    def slice(self) -> slice:
        return slice(self.start, self.start + self.count)

    @property
    def singular(self) -> bool:
        """Whether constants are in the kernel."""
        return self.ring or self.kinds == (NEUMANN, NEUMANN)

    @functools.cached_property
    def matrix(self) -> np.ndarray:
        """All of it: (count, count)."""
        out = np.zeros((self.count, self.count))
        rows, columns = np.divmod(self.elements[0], self.count)
        out[rows, columns] = self.elements[1]
        return out

    def at(self, rows, columns) -> np.ndarray:
        """Elements of the matrix."""
        return _looked_up(*self.elements, rows * self.count + columns)

    # Bands

    @functools.cached_property
    def bands(self) -> dict[int, np.ndarray]:
        """offset -> coefficients of u[i + offset] in row i, (1,) where all are equal.

        Those of order above 2 are the inner stencil alone; ``corners`` is the rest.
        """
        n, w = self.count, self.width
        found = {}
        for k in range(-w, w + 1):
            rows = np.arange(n)
            if self.ring and not self.uniform:
                line = self.at(rows, (rows + k) % n)
            elif self.ring or w > 1:
                line = np.full(n, self._inner[k + w])
            else:
                line = np.where((rows + k >= 0) & (rows + k < n), 0.0, np.nan)
                inside = ~np.isnan(line)
                line[inside] = self.at(rows[inside], rows[inside] + k)
            found[k] = _shortened(line)
        return found

    @functools.cached_property
    def _inner(self) -> np.ndarray:
        h = self.spacing
        if self.lean:
            return np.array([-1.0, 1.0, 0.0] if self.lean < 0 else [0.0, -1.0, 1.0]) / h
        return stencil(self.derivative, self.order) / h**self.derivative

    @functools.cached_property
    def corners(self) -> tuple[np.ndarray, np.ndarray]:
        """Blocks to add to the first and to the last rows: (rows, columns) each; may be empty."""
        if self.ring or self.width == 1:
            return np.zeros((0, 0)), np.zeros((0, 0))
        n = self.count
        parts = [(*_diagonal(n, k), c[0]) for k, c in self.bands.items() if abs(k) < n]
        band = _summed([(r, c, np.full(len(r), v)) for r, c, v in parts], n)
        keys = np.union1d(self.elements[0], band[0])
        rest = _looked_up(*self.elements, keys) - _looked_up(*band, keys)
        held = np.abs(rest) >= 1e-9 * np.abs(self.elements[1]).max()
        keys, rest = keys[held], rest[held]
        rows, cols = np.divmod(keys, n)
        top, bottom = rows < n / 2, rows >= n / 2
        depth = (rows[top] + 1).max(initial=0), (n - rows[bottom]).max(initial=0)
        reach = (cols[top] + 1).max(initial=0), (n - cols[bottom]).max(initial=0)
        blocks = np.zeros((depth[0], reach[0])), np.zeros((depth[1], reach[1]))
        blocks[0][rows[top], cols[top]] = rest[top]
        blocks[1][rows[bottom] - n + depth[1], cols[bottom] - n + reach[1]] = rest[bottom]
        return blocks

    @property
    def leaks(self) -> tuple[float, float]:
        """What the first and the last row of the second derivative of order 2 sum up to, but for the
        sign: what flows out through the faces where u is 1. All other rows sum up to nothing."""
        if self.ring:
            return 0.0, 0.0
        columns = self.low[0], self.high[-1]
        return tuple(float(c * k[0]) for c, k in zip(columns, self.kinds, strict=True))  # pyright: ignore[reportReturnType]

    # Eigenvalues

    @property
    def _slopes(self) -> np.ndarray:
        """B with weights[:, None] * matrix = -Bᵀ B: the slopes between nodes, and towards faces. Its
        singular values have twice the digits that eigenvalues of the matrix would have."""
        n, x = self.count, self.unknowns
        gaps = np.diff(np.append(x, x[0] + self.period) if self.ring else x)
        rows = np.arange(len(gaps))
        b = np.zeros((len(gaps), n))
        b[rows, rows], b[rows, (rows + 1) % n] = -1 / np.sqrt(gaps), 1 / np.sqrt(gaps)
        ends = np.zeros((2, n))
        ends[0, 0], ends[1, -1] = np.sqrt(self.leaks * self.weights[[0, -1]])
        return np.concatenate([b, ends[ends.any(axis=1)]])

    @property
    def transform(self):
        """(kind, type of the analysis, type of the synthesis) of the fast transform, if there is
        one besides Fourier's."""
        if self.ring or self.order != 2 or not self.uniform:
            return None
        return (_OF_CELLS if self.centred else _TRANSFORMS).get(self.kinds)

    @functools.cached_property
    def eigenvalues(self) -> np.ndarray:
        """In the order of ``modes`` and of the fast transform; of a periodic axis in that of the FFT."""
        n = self.count
        if self.transform:
            first, by_half = _FREQUENCIES[self.kinds]
            angle = np.pi * (np.arange(n) + first + 0.5 * by_half) / self.cells
            return -4 * np.sin(angle / 2) ** 2 / self.spacing**2
        if self.ring and self.uniform:
            angle = 2 * np.pi * np.fft.fftfreq(n)
            offsets = np.arange(-self.width, self.width + 1)
            return np.cos(angle[:, None] * offsets) @ self._inner
        return self._decomposed[0]

    @functools.cached_property
    def modes(self) -> tuple[np.ndarray, np.ndarray]:
        """(v, its inverse): matrix = v diag(eigenvalues) v⁻¹."""
        n = self.count
        if self.transform:
            kind, forward, backward = self.transform
            scale = 1 / (2 * self.cells)
            return trig_matrix(kind, backward, n), trig_matrix(kind, forward, n) * scale
        if self.ring and self.uniform:
            return _real_fourier(n)
        return self._decomposed[1:]

    @functools.cached_property
    def _decomposed(self):
        if self.order == 2:  # symmetric after scaling
            root = np.sqrt(self.weights)
            _, sizes, rows = np.linalg.svd(self._slopes / root)
            values = np.zeros(self.count)  # without faces there is one slope less
            values[: len(sizes)] = -(sizes**2)
            if self.singular:
                values[-1] = 0.0
            return values[::-1], (rows / root)[::-1].T, (rows * root)[::-1]
        w, v = np.linalg.eig(self.matrix)
        if np.any(np.imag(w)):
            return w, v, np.linalg.inv(v)
        w, v = np.real(w), np.real(v)  # NumPy 2.5 returns complex numbers always
        place = np.argsort(-w)
        return w[place], v[:, place], np.linalg.inv(v[:, place])


def _diagonal(n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows and columns of a diagonal."""
    rows = np.arange(max(0, -k), min(n, n - k))
    return rows, rows + k


def _summed(parts, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """(keys, values) of the sum of elements given as (rows, columns, values)."""
    rows, cols, values = (
        np.concatenate([np.ravel(x) for x in xs]) for xs in zip(*parts, strict=True)
    )
    keys, place = np.unique(rows * columns + cols, return_inverse=True)
    out = np.zeros(len(keys))
    np.add.at(out, place.ravel(), values)
    return keys, out


def _looked_up(keys, values, wanted) -> np.ndarray:
    """The values of wanted keys, 0 for those that are not there."""
    if not len(keys):
        return np.zeros(len(wanted))
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, values[place], 0.0)


def _shortened(line: np.ndarray) -> np.ndarray:
    """One number if all that count are equal; numbers that do not exist become zeros."""
    there = line[~np.isnan(line)]
    if there.size and np.ptp(there) <= 1e-14 * np.abs(there).max():
        return there[:1]
    return np.nan_to_num(line)


def _real_fourier(n: int):
    """Orthonormal cosines and sines in the order of the FFT's frequencies."""
    k, x = np.fft.fftfreq(n, 1 / n), np.arange(n)
    angle = 2 * np.pi * x[:, None] * np.abs(k) / n
    v = np.where(k >= 0, np.cos(angle), np.sin(angle)) * np.sqrt(2 / n)
    v[:, 0] = 1 / np.sqrt(n)
    if n % 2 == 0:
        v[:, n // 2] = np.cos(np.pi * x) / np.sqrt(n)
    return v, v.T


_TRANSFORMS = {
    (DIRICHLET, DIRICHLET): ("DST", 1, 1),
    (NEUMANN, NEUMANN): ("DCT", 1, 1),
    (DIRICHLET, NEUMANN): ("DST", 3, 2),
    (NEUMANN, DIRICHLET): ("DCT", 3, 2),
}
_OF_CELLS = {
    (DIRICHLET, DIRICHLET): ("DST", 2, 3),
    (NEUMANN, NEUMANN): ("DCT", 2, 3),
    (DIRICHLET, NEUMANN): ("DST", 4, 4),
    (NEUMANN, DIRICHLET): ("DCT", 4, 4),
}
# the first frequency, and whether all are moved by one half
_FREQUENCIES = {
    (DIRICHLET, DIRICHLET): (1, False),
    (NEUMANN, NEUMANN): (0, False),
    (DIRICHLET, NEUMANN): (0, True),
    (NEUMANN, DIRICHLET): (0, True),
}


@functools.cache
def stencil(derivative: int, order: int) -> np.ndarray:
    """Centred weights of a first or second derivative for spacing 1."""
    width = order // 2
    return fit(np.arange(-width, width + 1.0), 0.0, derivative)


@functools.lru_cache(maxsize=256)
def make_axis(
    nodes: tuple | None, cells: int, lower: float, upper: float, low, high, order: int,
    derivative: int = 2, lean: int = 0, centred: bool = False,
) -> Axis:  # fmt: skip
    """The axis with these nodes, or with equal cells from lower to upper. A first derivative that
    leans, to -1 or 1, takes the node itself and the next one on that side. Of an axis that is ``centred``
    nodes say where cells end."""
    uniform = nodes is None
    if centred:
        x = np.linspace(lower, upper, cells + 1) if uniform else np.array(nodes)
        return _axis_of_cells(x, low, high, uniform, derivative, lean)
    x = np.linspace(lower, upper, cells + 1) if uniform else np.array(nodes)
    ring, n = low is None, cells + 1
    if ring:
        x, n = x[:-1], cells
    start = 0 if ring or low[1] else 1
    stop = n if ring or high[1] else n - 1
    period = upper - lower
    offsets = np.array([0, lean]) if lean else np.arange(-(order // 2), order // 2 + 1)
    inner = np.arange(start, stop)
    if not ring:
        inner = np.arange(max(start, -offsets.min()), min(stop, n - offsets.max()))
    parts = [_inner_rows(inner, x, offsets, period, derivative, start)]
    for i in np.setdiff1d(np.arange(start, stop), inner):
        places, w = (
            _leaning_row(i, x, low, high, lean)
            if lean
            else _row(i, x, low, high, order, derivative)
        )
        parts.append((np.full(len(places), i - start), places, w))
    held, low_column, high_column = _apart(parts, n, start, stop)
    return Axis(
        nodes=x, start=start, count=stop - start, elements=held,
        low=low_column, high=high_column, weights=_widths(x, ring, upper - lower)[start:stop],
        kinds=(low, high), order=order, uniform=uniform, period=period, derivative=derivative,
        lean=lean,
    )  # fmt: skip


def _inner_rows(at, x, offsets, period: float, derivative: int, start: int) -> tuple:
    """(rows, places, weights) of differences that meet no face; around a ring places go on with the period."""
    places, n = at[:, None] + offsets, len(x)
    weights = fit_many(x[places % n] + period * (places // n), x[at], derivative)
    return np.broadcast_to(at[:, None] - start, places.shape), places % n, weights


def _apart(parts, n: int, start: int, stop: int) -> tuple:
    """(elements of the unknowns, what data of both faces add), of rows on n values and then the data of both faces."""
    keys, values = _summed(parts, n + 2)
    rows, places = np.divmod(keys, n + 2)
    mine = (places >= start) & (places < stop)
    held = rows[mine] * (stop - start) + places[mine] - start, values[mine]
    low, high = np.zeros((2, stop - start))
    for column, chosen in ((low, places == n), (high, places == n + 1)):
        column[rows[chosen]] += values[chosen]
    if start:
        low[rows[places == 0]] += values[places == 0]
    if stop < n:
        high[rows[places == n - 1]] += values[places == n - 1]
    return held, low, high


def _axis_of_cells(corners, low, high, uniform: bool, derivative: int, lean: int) -> Axis:
    """The axis whose unknowns are the middles of cells. The second derivative is what flows into a cell
    over its width; through a face half a cell away from the unknown u flows what both its condition and
    the slope up to there say: (g - alpha u) / (beta + alpha h / 2)."""
    n, ring, period = len(corners) - 1, low is None, corners[-1] - corners[0]
    x = (corners[:-1] + corners[1:]) / 2
    widths = np.full(n, period / n) if uniform else np.diff(corners)
    if derivative == 2:
        i = np.arange(n if ring else n - 1)
        j = (i + 1) % n
        slope = 2 / (widths[i] + widths[j])
        four = lambda *xs: np.stack(xs, axis=1)  # noqa: E731
        parts = [(four(i, i, j, j), four(j, i, i, j), four(slope, -slope, slope, -slope))]
        for side, kind in enumerate(() if ring else (low, high)):
            place = side and n - 1
            slope = 1 / (kind[1] + kind[0] * widths[place] / 2)
            parts.append(([place, place], [place, n + side], [-kind[0] * slope, slope]))
        parts = [(rows, places, w / widths[np.asarray(rows)]) for rows, places, w in parts]
    else:
        offsets = np.array([0, lean]) if lean else np.arange(-1, 2)
        inner = np.arange(n)
        inner = inner if ring else inner[-offsets.min() : n - offsets.max()]
        parts = [_inner_rows(inner, x, offsets, period, 1, 0)]
        for i in np.setdiff1d(np.arange(n), inner):
            places, w = _slope_of_cell(i, x, corners, low, high, offsets)
            parts.append((np.full(len(places), i), places, w))
    held, low_column, high_column = _apart(parts, n, 0, n)
    return Axis(
        nodes=x, start=0, count=n, elements=held, low=low_column,
        high=high_column, weights=widths, kinds=(low, high), order=2, uniform=uniform,
        period=float(period), derivative=derivative, lean=lean, centred=True,
    )  # fmt: skip


def _slope_of_cell(i: int, x, corners, low, high, offsets):
    """(places, weights) of a first derivative in the middle of a cell next to a face, whose condition stands in place
    of the cell beyond it."""
    n, places = len(x), i + offsets
    at_low = places.min() < 0
    face = (corners[0], *low, -1.0) if at_low else (corners[-1], *high, 1.0)
    places = places[(places >= 0) & (places < n)]
    return np.append(places, n if at_low else n + 1), fit(x[places], x[i], 1, face)


def _widths(x, ring: bool, period: float) -> np.ndarray:
    if ring:
        gaps = np.diff(np.append(x, x[0] + period))
        return (gaps + np.roll(gaps, 1)) / 2  # pyright: ignore[reportOperatorIssue]
    gaps = np.diff(x)
    return (np.append(gaps, 0) + np.insert(gaps, 0, 0)) / 2


def _row(i: int, x: np.ndarray, low, high, order: int, derivative: int):
    """(places, weights) of a derivative at a node that is near a face; face data are places n and n + 1."""
    n = len(x)
    at_low = i < order // 2
    condition = low if at_low else high
    if not condition[1]:
        # of the second one six points: exact enough for orders 4 and 6; with more, order 6 has complex eigenvalues
        points = 6 if derivative == 2 else order + 1
        places = np.arange(points) if at_low else np.arange(n - points, n)
        return places, fit(x[places], x[i], derivative)
    places = np.arange(order) if at_low else np.arange(n - order, n)
    face = (x[0], *condition, -1.0) if at_low else (x[-1], *condition, 1.0)
    return np.append(places, n if at_low else n + 1), fit(x[places], x[i], derivative, face)


def _leaning_row(i: int, x: np.ndarray, low, high, lean: int):
    """The same for the difference to the next node beyond a face, whose condition says the derivative."""
    n, condition = len(x), low if lean < 0 else high
    face = (x[i], *condition, float(lean))
    return np.array([i, n if lean < 0 else n + 1]), fit(x[[i]], x[i], 1, face)


def fewest_cells(order: int) -> int:
    """So many cells an axis needs at least for its stencils to fit."""
    return {2: 2, 4: 6, 6: 8}[order]
