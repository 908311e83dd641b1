"""Pages of the examples, from the results that ``examples/gallery.py`` keeps; which names an example uses."""

from __future__ import annotations

import ast
import functools
import json
import os
import textwrap
from pathlib import Path

from examples import gallery

from .names import ROOT, canonical
from .prose import inline
from .write import heading, write

RESULTS = ROOT / "build" / "gallery"
GROUPS = {
    0: (
        "Programs and derivatives",
        "What happens to a Python function, and what can be asked of it.",
    ),
    1: ("Random numbers", "Streams for many workers, and what bad ones do."),
    2: ("Linear algebra", "Elimination, digits, eigenvalues."),
    3: ("Partial differential equations", "Fields, waves, modes, inverse problems."),
    4: ("Optimisation and fits", "Minimisation, training, least squares with error bars."),
    5: ("Tensor decompositions", "Factors of data in three and more dimensions."),
    6: ("Several devices", "The same programs on many devices, and runs that survive a crash."),
    7: ("Sparse matrices", "Patterns that are known, values that are traced."),
    8: ("Domains and time", "Cells, curved edges, waves that leave, stiff equations."),
    9: ("Beside other libraries", "Programs written for JAX and PyTorch, run here."),
}


def scripts() -> list[Path]:
    return gallery.find(gallery.EXAMPLES, [])


def page(script: Path) -> str:
    return f"gallery/{script.stem}"


def result(script: Path) -> gallery.Run | None:
    return gallery.recorded(script, RESULTS)


def question(script: Path) -> str:
    return gallery.story(script)[0].rstrip(".")


# ----- What an example uses -----


@functools.cache
def uses() -> dict[Path, frozenset[str]]:
    """The public names, by their pages' names, that each example calls or mentions."""
    return {s: frozenset(_names(ast.parse(s.read_text(encoding="utf-8")))) for s in scripts()}


@functools.cache
def examples_of(name: str) -> tuple[Path, ...]:
    return tuple(s for s, names in uses().items() if name in names)


def _names(tree: ast.Module) -> set[str]:
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            known |= {a.asname: a.name for a in node.names if a.asname}
            known |= {(top := a.name.partition(".")[0]): top for a in node.names if not a.asname}
        elif isinstance(node, ast.ImportFrom) and node.module:
            known |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    dotted = {_dotted(n, known) for n in ast.walk(tree) if isinstance(n, ast.Attribute | ast.Name)}
    return {canonical()[name] for name in dotted if name in canonical()}


def _dotted(node: ast.AST, known: dict[str, str]) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value, known)}.{node.attr}"
    return known.get(node.id, "") if isinstance(node, ast.Name) else ""


# ----- Pages -----


def by_theme(figure: Path) -> dict[str, Path]:
    """A figure by the class of pages that show it: with a copy at its side for dark pages, if there is one."""
    dark = figure.with_suffix(f".dark{figure.suffix}")
    return {"only-light": figure, "only-dark": dark} if dark.exists() else {"": figure}


def thumbnails(script: Path, source: Path) -> list[str]:
    """Small pictures of an example's first figure, made anew where the figure is newer."""
    run = result(script)
    figures = [p for p in run.figures if p.suffix == ".png"] if run else []
    shown = []
    for theme, figure in by_theme(figures[0]).items() if figures else ():
        made = source / "gallery" / "thumbnails" / f"{script.stem}{theme[4:]}.png"
        if not made.exists() or made.stat().st_mtime < figure.stat().st_mtime:
            _shrink(figure, made)
        alt = question(script).replace("`", "")
        shown.append(_image(f"/gallery/thumbnails/{made.name}", alt, f"thumbnail {theme}"))
    return shown


def _shrink(figure: Path, made: Path) -> None:
    from PIL import Image

    made.parent.mkdir(parents=True, exist_ok=True)
    picture = Image.open(figure).convert("RGB")
    paper = Image.new("RGB", (480, 320), picture.getpixel((0, 0)))
    picture.thumbnail(paper.size)
    paper.paste(picture, ((480 - picture.width) // 2, (320 - picture.height) // 2))
    paper.save(made, optimize=True)


def _image(path: str, alt: str, classes: str) -> str:
    return f".. image:: {path}\n   :alt: {alt}\n   :class: {classes.strip()}"


def card(script: Path, source: Path) -> str:
    """The example on a card: a picture or what it prints, its question."""
    pictures = thumbnails(script, source)
    lines = [
        ".. grid-item-card::",
        f"   :link: /{page(script)}",
        "   :link-type: doc",
        "   :class-card: example",
    ]
    for picture in pictures:
        lines += ["", textwrap.indent(picture, "   ")]
    lines += ["", f"   {inline(question(script))}"]
    run = result(script)
    if not pictures and run and run.output:
        said = "\n".join(line[:44] for line in run.output.splitlines()[:6])
        lines += ["", "   .. code-block:: text", "", textwrap.indent(said, "      ")]
    return "\n".join(lines)


def cards(chosen: list[Path], source: Path, columns: str = "1 2 3 3") -> str:
    body = "\n\n".join(textwrap.indent(card(s, source), "   ") for s in chosen)
    return f".. grid:: {columns}\n   :gutter: 3\n\n{body}\n"


def write_pages(source: Path) -> None:
    write(source / "gallery" / "index.rst", _index(source))
    for script in scripts():
        write(source / f"{page(script)}.rst", _page(script, source))
        write(source / "gallery" / "downloads" / script.name, script.read_text(encoding="utf-8"))
        write(source / "gallery" / "downloads" / f"{script.stem}.ipynb", notebook(script))
    helpers = (gallery.EXAMPLES / "_figures.py").read_text(encoding="utf-8")
    write(source / "gallery" / "downloads" / "_figures.py", helpers)


def _index(source: Path) -> str:
    parts = [
        heading("Gallery"),
        "Each example asks one question, answers it in a page of code, prints the number that matters and asserts "
        "it. ``make gallery`` runs them all.",
    ]
    for tens, (name, what) in GROUPS.items():
        chosen = [s for s in scripts() if int(s.stem[0]) == tens]
        if chosen:
            parts += [heading(name, "-"), what, cards(chosen, source)]
    entries = "\n".join(f"   {s.stem}" for s in scripts())
    parts.append(f".. toctree::\n   :hidden:\n\n{entries}")
    return "\n\n".join(parts) + "\n"


def _page(script: Path, source: Path) -> str:
    run = result(script)
    parts = [heading(question(script))]
    parts += [_paragraph(p) for p in gallery.story(script)[1:]]
    if run is None:
        parts.append(
            ".. note::\n   Not run when this site was built: ``make gallery`` shows its figures."
        )
    else:
        parts += [_figure(p, script, source) for p in run.figures]
        if run.output:
            said = textwrap.indent(run.output.rstrip(), "   ")
            parts.append(f".. rubric:: What it prints\n\n.. code-block:: text\n\n{said}")
    parts.append(".. rubric:: The script\n\n" + _code(script))
    parts.append(
        f":download:`Script <downloads/{script.name}>` · :download:`Notebook <downloads/{script.stem}.ipynb>` · "
        "figures are made by :download:`_figures.py <downloads/_figures.py>`"
        + (f" · ran for {run.seconds:.0f} s" if run else "")
    )
    names = sorted(uses()[script])
    if names:
        parts.append(".. rubric:: What it uses\n\n" + ", ".join(f":py:obj:`{n}`" for n in names))
    return "\n\n".join(parts) + "\n"


def _code(script: Path) -> str:
    """The script without its docstring, which stands above as text."""
    text = script.read_text(encoding="utf-8")
    start = ast.parse(text).body[0].end_lineno or 0
    body = "\n".join(text.splitlines()[start:]).strip("\n")
    return ".. code-block:: python\n\n" + textwrap.indent(body, "   ")


def _paragraph(text: str) -> str:
    if text.startswith("    "):
        return "::\n\n" + textwrap.indent(textwrap.dedent(text), "   ")
    return inline(" ".join(text.split()))


def _figure(path: Path, script: Path, source: Path) -> str:
    shown = []
    for theme, figure in by_theme(path).items():
        kept = source / "gallery" / "figures" / script.stem / figure.name
        if not kept.exists() or kept.read_bytes() != figure.read_bytes():
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(figure.read_bytes())
        where = os.path.relpath(kept, source / "gallery")
        shown.append(_image(where, path.stem.replace("_", " "), f"figure {theme}"))
    return "\n\n".join(shown)


INLINE = """\
# Figures appear below their cell instead of in a folder.
import sys, types
from contextlib import contextmanager
from pathlib import Path
from IPython.display import display
from matplotlib.figure import Figure

@contextmanager
def figure(name, *, rows=1, cols=1, title="", size=(6, 4)):
    canvas = Figure(figsize=size, layout="constrained")
    axes = canvas.subplots(rows, cols)
    canvas.suptitle(title)
    yield axes
    display(canvas)

sys.modules["_figures"] = types.SimpleNamespace(figure=figure, figure_path=Path)
"""


def notebook(script: Path) -> str:
    """The example as a notebook: its text, a cell for figures, its code."""
    text = script.read_text(encoding="utf-8")
    first = ast.parse(text).body[0].end_lineno or 0
    told, code = gallery.story(script), "\n".join(text.splitlines()[first:]).strip("\n")
    words = "\n\n".join([f"# {told[0]}", *told[1:]])
    cells = [_cell("markdown", words), _cell("code", INLINE), _cell("code", code)]
    kept = {
        "cells": cells,
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 4,
    }
    return json.dumps(kept, indent=1, ensure_ascii=False) + "\n"


def _cell(kind: str, text: str) -> dict[str, object]:
    told: dict[str, object] = {
        "cell_type": kind,
        "metadata": {},
        "source": text.splitlines(keepends=True),
    }
    return told | ({"execution_count": None, "outputs": []} if kind == "code" else {})
