"""Where the examples put their pictures: build/gallery/<name of the script>/.

    from _figures import figure

    with figure("error", title="Second order") as ax:
        ax.loglog(steps, errors)

The gallery runner moves the folder with the environment variable XCORE_GALLERY_DIR. No window is
ever opened and no global state of matplotlib is touched, so a script behaves the same alone, in the
gallery and on a machine without a display.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
STYLE: Any = {"axes.grid": True, "grid.alpha": 0.3, "axes.axisbelow": True, "savefig.dpi": 120}


def figure_path(name: str) -> Path:
    """A file in the running script's folder, which is made; for animations and the like."""
    script = getattr(sys.modules["__main__"], "__file__", None)
    root = Path(os.environ.get("XCORE_GALLERY_DIR", REPOSITORY / "build" / "gallery"))
    folder = root / (Path(script).stem if script else "interactive")
    folder.mkdir(parents=True, exist_ok=True)
    return folder / name


@contextmanager
def figure(
    name: str, *, rows: int = 1, cols: int = 1, title: str = "", size: tuple[float, float] = (6, 4)
) -> Iterator[Any]:
    """Axes to draw on (an array of them if there are several), saved as `name`.png on leaving."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SystemExit(
            f'{name}.png needs matplotlib: pip install "xcore[plot]", or run `make venv`'
        ) from error
    with rc_context(STYLE):
        canvas = Figure(figsize=size, layout="constrained")
        axes = canvas.subplots(rows, cols)
        if title:
            canvas.suptitle(title)
        yield axes
        canvas.savefig(figure_path(f"{name}.png"))
