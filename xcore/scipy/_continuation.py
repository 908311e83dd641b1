"""Solutions between the ends of steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import Array, ArrayLike, dtypes, errors
from ..pde._events import within


def between(step: Sequence[Any], t: Any) -> Any:
    """The solution at a time within a step (t0, t1, y0, y1, rows that bend it)."""
    t0, t1, y0, y1, *bends = step
    return within((y0, y1 - y0, *bends), (t - t0) / (t1 - t0))


class OdeSolution:
    """A solution as a function of the time: ``sol(t)`` is a column for each time.

    Beyond the ends its first and last pieces go on. It can be jitted and differentiated in t.

    >>> from xcore.scipy.integrate import solve_ivp
    >>> sol = solve_ivp(lambda t, y: -y, (0, 1), [1.0], dense_output=True).sol
    >>> sol(0.5).round(2)
    Array([0.61], dtype=float32)
    """

    def __init__(self, steps: list, points: list, real: np.dtype) -> None:
        self.t_min, self.t_max = sorted((points[0][0], points[-1][0]))
        self._falls = points[-1][0] < points[0][0]
        self.ts = np.array([p[0] for p in points], real)
        t0, t1 = (np.array([s[i] for s in steps], real)[:, None] for i in (0, 1))
        self._pieces = (
            t0,
            t1,
            *(np.stack([np.asarray(s[i]) for s in steps]) for i in range(2, len(steps[0]))),
        )

    def __call__(self, t: ArrayLike) -> Array:
        t = xnp.asarray(t)
        if dtypes.is_complex(t.dtype):
            raise errors.bad_argument("scipy.integrate.OdeSolution", "t", t, "real")
        flat = t.reshape(-1).astype(self.ts.dtype)
        ends = -self.ts[1:-1] if self._falls else self.ts[1:-1]
        which = xnp.searchsorted(ends, -flat if self._falls else flat, side="left")
        pieces = [xnp.asarray(p)[which] for p in self._pieces]
        return between(pieces, flat[:, None]).T.reshape(-1, *t.shape)
