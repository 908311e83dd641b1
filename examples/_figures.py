"""Where the examples put their pictures: build/gallery/<name of the script>/.

    from _figures import figure

    with figure("error", title="Second order") as ax:
        ax.loglog(steps, errors)

The gallery runner moves the folder with the environment variable XCORE_GALLERY_DIR; where this file was taken
home it is figures/ beside it. No window is ever opened and no global state of matplotlib is touched, so a
script behaves the same alone, in the gallery and on a machine without a display.
"""

import colorsys
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
HOME = HERE.parent / "build" / "gallery" if (HERE / "gallery.py").exists() else HERE / "figures"
# Okabe and Ito's colours, of which none is mistaken for another by colour-blind readers and none is lost on
# black or white paper.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8f98")
STYLE: Any = {
    "axes.grid": True, "grid.alpha": 0.3, "axes.axisbelow": True, "savefig.dpi": 120, "image.interpolation": "nearest",
    "axes.spines.top": False, "axes.spines.right": False,
}  # fmt: skip
PAPER = "#14181e"  # of the site at night


def figure_path(name: str) -> Path:
    """A file in the running script's folder, which is made; for animations and the like."""
    script = getattr(sys.modules["__main__"], "__file__", None)
    root = Path(os.environ.get("XCORE_GALLERY_DIR", HOME))
    folder = root / (Path(script).stem if script else "interactive")
    folder.mkdir(parents=True, exist_ok=True)
    return folder / name


@contextmanager
def figure(
    name: str, *, rows: int = 1, cols: int = 1, title: str = "", size: tuple[float, float] = (6, 4)
) -> Iterator[Any]:
    """Axes to draw on (an array of them if there are several), saved as `name`.png on leaving.

    Beside it lies `name`.dark.png, the same for a page that is dark. Images have no grid, and axes with numbers and
    colour bars say what they count.
    """
    try:
        from matplotlib import cycler, rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SystemExit(
            f'{name}.png needs matplotlib: pip install "xcore[plot]", or run `make venv`'
        ) from error
    with rc_context(STYLE | {"axes.prop_cycle": cycler(color=COLOURS)}):
        canvas = Figure(figsize=size, layout="constrained")
        axes = canvas.subplots(rows, cols)
        if title:
            canvas.suptitle(title)
        yield axes
        for ax in canvas.axes:
            if ax.images:
                ax.grid(False)
                ax.spines[:].set_visible(True)
        canvas.savefig(figure_path(f"{name}.png"))
        darken(canvas)
        canvas.savefig(figure_path(f"{name}.dark.png"), facecolor=PAPER)
    if bare := unlabelled(canvas):
        raise ValueError(f"{name}: these axes have numbers and no label: {', '.join(bare)}")


@contextmanager
def film(
    name: str, *, size: tuple[float, float] = (4, 4), fps: int = 20, quality: int = 85
) -> Iterator[Any]:
    """Axes to draw on and a function that takes a picture of them, with a text in its corner; saved as `name`.webp.

        with film("wave") as (ax, take):
            image = ax.imshow(states[0])
            for k, state in enumerate(states):
                image.set_data(state)
                take(f"t = {k * dt:.2f}")

    The axes fill the picture, and what is not drawn on is transparent, so that it suits a page by day and by night.
    A `quality` of 100 keeps every pixel.
    """
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL import Image

    canvas = Figure(figsize=size, dpi=120, facecolor="none")
    agg = FigureCanvasAgg(canvas)
    ax = canvas.add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    box = {"boxstyle": "round", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    label = ax.text(0.03, 0.97, "", transform=ax.transAxes, va="top", bbox=box)
    label.set_visible(False)
    pictures = []

    def take(text: str = "") -> None:
        label.set(text=text, visible=bool(text))
        agg.draw()
        pictures.append(Image.fromarray(np.array(agg.buffer_rgba())))

    yield ax, take
    pictures[0].save(
        figure_path(f"{name}.webp"), save_all=True, append_images=pictures[1:], duration=round(1000 / fps),
        loop=0, quality=quality, lossless=quality == 100, alpha_quality=80,
    )  # fmt: skip


def unlabelled(canvas: Any) -> list[str]:
    """Axes and scales of colours whose ticks are numbers of nobody knows what."""
    bars = [ax for ax in everything(canvas) if ax.get_label() == "<colorbar>"]
    shown = [ax for ax in canvas.axes if ax.axison and ax not in bars]
    return [
        f"{direction} of number {k}"
        for k, ax in enumerate(shown)
        for direction, axis in (("x", ax.xaxis), ("y", ax.yaxis))
        if len(axis.get_ticklocs()) and not axis.get_label_text()
    ] + [
        f"colour bar of number {k}"
        for k, bar in enumerate(bars)
        if not (bar.get_xlabel() or bar.get_ylabel())
    ]


def everything(canvas: Any) -> list[Any]:
    """Axes, and those that lie in them."""
    return [each for ax in canvas.axes for each in (ax, *ax.child_axes)]


# ----- At night -----


def darken(canvas: Any) -> None:
    """Black on white becomes white on black; colours, and what colours stand for, stay."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

    on_images = {a for ax in canvas.axes if ax.images for a in (*ax.lines, *ax.texts)}
    for artist in canvas.findobj():
        if isinstance(artist, ScalarMappable) and artist.get_array() is not None:
            continue  # its colours are values
        if artist in on_images:
            continue
        if isinstance(artist, Text):
            artist.set_color(night(artist.get_color()))
            if box := artist.get_bbox_patch():
                box.set(facecolor=night(box.get_facecolor()), edgecolor=night(box.get_edgecolor()))
        elif isinstance(artist, Line2D):
            edge, face = artist.get_markeredgecolor(), artist.get_markerfacecolor()
            artist.set_color(night(artist.get_color()))  # which those that follow it have, too
            artist.set_markeredgecolor(night(edge))
            artist.set_markerfacecolor(night(face))
        elif hasattr(artist, "get_facecolor") and hasattr(artist, "get_edgecolor"):
            faces, edges = artist.get_facecolor(), artist.get_edgecolor()
            artist.set_facecolor(night(faces))
            artist.set_edgecolor(night(edges))
    for ax in canvas.axes:
        ax.tick_params(which="both", colors=night("black"), labelcolor=night("black"))


def night(colour: Any) -> Any:
    """A grey as light as it was dark; other colours as they are. One colour, or the rows of several."""
    from matplotlib.colors import to_rgba, to_rgba_array

    if isinstance(colour, str) and colour in ("none", "auto", "face", "edge"):
        return colour
    if not isinstance(colour, str) and getattr(colour, "ndim", 1) == 2:
        return [night(tuple(row)) for row in to_rgba_array(colour)]
    red, green, blue, alpha = to_rgba(colour)
    _, light, colourful = colorsys.rgb_to_hls(red, green, blue)
    if colourful > 0.15 and max(red, green, blue) - min(red, green, blue) > 0.1:
        return red, green, blue, alpha
    low, high = to_rgba(PAPER)[:3], (0.9, 0.9, 0.9)
    return *(light * a + (1 - light) * b for a, b in zip(low, high, strict=True)), alpha
