"""What all pictures share: axes, values, scales of colours."""

from __future__ import annotations

from typing import Any

import numpy as np


def axes_of(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError('xcore.plot needs matplotlib: pip install "xcore[plot]"') from error
    return pyplot.subplots(layout="constrained")[1]


def value_of(found: Any) -> Any:
    """The value of a Solution, or what is not one itself."""
    return found.value if hasattr(found, "status") and hasattr(found, "value") else found


def add_scale(ax: Any, drawn: Any, label: str = "") -> None:
    """The colours' scale, as high as the axes, whatever their shape."""
    ax.figure.colorbar(
        drawn, cax=ax.inset_axes((1.03, 0, 0.045, 1), label="<colorbar>"), label=label
    )


def limits(values: np.ndarray) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)


def colours(values: np.ndarray) -> dict[str, Any]:
    """A scale from dark to light, or, where there are both signs, colours centred at zero."""
    low, high = limits(values)
    if low < 0 < high and min(-low, high) > 0.02 * max(-low, high):
        return symmetric_limits(values)
    return {"cmap": "viridis", "vmin": low, "vmax": high}


def symmetric_limits(values: np.ndarray) -> dict[str, Any]:
    most = max(map(abs, limits(values))) or 1.0
    return {"cmap": "RdBu_r", "vmin": -most, "vmax": most}
