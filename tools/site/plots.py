"""What the examples of ``xcore.plot`` draw, for the pages of its functions."""

from __future__ import annotations

import doctest
import functools
import inspect
import os
import tempfile
from pathlib import Path
from typing import Any

import xcore.plot
from examples._figures import PAPER, darken

from .pictures import STYLE, saved
from .write import write


def image(place: str) -> str:
    """The picture of a function of ``xcore.plot``, in reStructuredText; nothing for others."""
    package, _, name = place.rpartition(".")
    if package != "xcore.plot" or name not in xcore.plot.__all__:
        return ""
    alt = f"What the example of {name} draws"
    return f".. image:: /_static/made/plot/{name}.{kind(name)}\n   :alt: {alt}\n   :class: figure"


def kind(name: str) -> str:
    """Of its file: fields as lines would be large."""
    return {"movie": "gif", "modes": "png"}.get(name, "svg")


def write_plots(folder: Path) -> None:
    for name in xcore.plot.__all__:
        drawn, suffix = shown(name), kind(name)
        if isinstance(drawn, bytes):  # a film has no second theme
            write(folder / f"{name}.{suffix}", drawn)
            continue
        write(folder / f"{name}.{suffix}", saved(drawn, suffix))
        darken(drawn)
        drawn.set_facecolor(PAPER)
        write(folder / f"{name}.dark.{suffix}", saved(drawn, suffix))


@functools.cache
def code(name: str) -> str:
    text = inspect.getdoc(getattr(xcore.plot, name)) or ""
    return "".join(e.source for e in doctest.DocTestParser().get_examples(text))


def shown(name: str) -> Any:
    """The figure that the example of a function draws, or the bytes of the film that it writes."""
    import matplotlib.pyplot as plt

    before, names = os.getcwd(), {}
    with tempfile.TemporaryDirectory() as folder, plt.rc_context(STYLE):
        os.chdir(folder)
        try:
            exec(code(name), names)
            films = list(Path().glob("*.gif"))
            drawn = films[0].read_bytes() if films else plt.gcf()
        finally:
            os.chdir(before)
    plt.close("all")
    return drawn
