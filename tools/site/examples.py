"""The gallery: what Sphinx-Gallery makes its pages from, and which names an example uses.

Sphinx-Gallery executes scripts in the process of Sphinx; ours set up devices of their own, start processes, or
change what ``import jax`` means. So ``examples/gallery.py`` runs each in a process of its own, as ``make gallery``
does, and what it kept is what Sphinx-Gallery finds where it executes a script (`execute`) and looks for its
figures (`figures`).
"""

from __future__ import annotations

import ast
import functools
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from examples import gallery

from .names import ROOT, canonical
from .prose import inline
from .write import heading, write

RESULTS = ROOT / "build" / "gallery"
HELPERS = {
    p.stem: p for p in sorted(gallery.EXAMPLES.glob("_*.py"))
}  # modules that examples import
GROUPS = {
    0: ("Programs and derivatives", "What happens to a Python function, and what can be asked of it."),
    1: ("Random numbers", "Streams for many workers, and what bad ones do."),
    2: ("Linear algebra", "Elimination, digits, eigenvalues."),
    3: ("Partial differential equations", "Fields, waves, modes, patterns, learnt solutions."),
    4: ("Optimisation and fits", "Minimisation, training, least squares with error bars."),
    5: ("Tensor decompositions", "Factors of data in three and more dimensions."),
    6: ("Several devices", "The same programs on many devices, and runs that survive a crash."),
    7: ("Sparse matrices", "Patterns that are known, values that are traced."),
    8: ("Domains and time", "Cells, curved edges, waves that leave, stiff equations, orbits."),
    9: ("Beside other libraries", "Programs written for JAX and PyTorch, run here."),
}  # fmt: skip
# Examples whose number is not that of their topic, and the group where they stand.
ELSEWHERE = {
    "25_drum_of_your_own": 3, "55_neural_operator": 3, "56_dance_of_three": 8, "58_zoo_of_spots": 3,
    "84_lines_of_hydrogen_chloride": 3,
}  # fmt: skip


def group(script: Path) -> int:
    return ELSEWHERE.get(script.stem, int(script.stem[0]))


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


def helpers(script: Path) -> list[Path]:
    """The helpers that an example imports."""
    tree = ast.walk(ast.parse(script.read_text(encoding="utf-8")))
    modules = {n.module for n in tree if isinstance(n, ast.ImportFrom)}
    return [path for name, path in HELPERS.items() if name in modules]


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


ON_THE_LANDING_PAGE = """
    25_drum_of_your_own 38_cpu_cooler 42_curve_with_confidence 58_zoo_of_spots 80_conductivity_of_an_image
    85_wave_in_the_open
""".split()


def cards(chosen: list[Path], source: Path, columns: str = "1 2 3 3") -> str:
    body = "\n\n".join(textwrap.indent(card(s, source), "   ") for s in chosen)
    return f".. grid:: {columns}\n   :gutter: 3\n\n{body}\n"


# ----- What Sphinx-Gallery reads -----


def write_pages(source: Path) -> None:
    """The scripts with their docstrings as pages begin, beside the page of all of them."""
    folder = source.parent / "examples"
    for script in scripts():
        write(folder / script.name, _staged(script))
    for helper in HELPERS.values():  # where Sphinx-Gallery makes its zips
        write(source / "gallery" / helper.name, helper.read_bytes())
    write(folder / "index.rst", _index(source))
    chosen = [s for s in scripts() if s.stem in ON_THE_LANDING_PAGE]
    write(source / "_static" / "made" / "landing.inc", cards(chosen, source, "2 2 3 3"))


def _staged(script: Path) -> str:
    text = script.read_text(encoding="utf-8")
    code = "\n".join(text.splitlines()[ast.parse(text).body[0].end_lineno or 0 :])
    title = re.sub(r"`(.*?)`", r"``\1``", question(script))
    told = [heading(title), *map(_paragraph, gallery.story(script)[1:])]
    story = "\n\n".join(told)
    raw = "r" if "\\" in story else ""
    return f'{raw}"""\n{story}\n"""\n{code}\n'


def _paragraph(text: str) -> str:
    if text.startswith("    "):
        return "::\n\n" + textwrap.indent(textwrap.dedent(text), "   ")
    # as notebooks write code, too
    return re.sub(r":code:`(.*?)`", r"``\1``", inline(" ".join(text.split())))


def _index(source: Path) -> str:
    parts = [
        heading("Gallery"),
        "Each example asks one question, answers it in a page of code, prints the number that matters and asserts "
        "it. ``make gallery`` runs them all. To take with you: :download:`all scripts <gallery_python.zip>`, "
        ":download:`all notebooks <gallery_jupyter.zip>`.",
    ]
    for number, (name, what) in GROUPS.items():
        chosen = [s for s in scripts() if group(s) == number]
        if chosen:
            parts += [heading(name, "-"), what, cards(chosen, source)]
    entries = "\n".join(f"   {s.stem}" for s in scripts())
    parts.append(f".. toctree::\n   :hidden:\n\n{entries}")
    return "\n\n".join(parts) + "\n"


# ----- What Sphinx-Gallery calls -----


def execute(block: Callable[[], None]) -> tuple[float, None]:
    """In the place of executing a block: prints what its script printed, and gives the memory it took, in MB."""
    code, space = getattr(block, "code", None), getattr(block, "fake_main", None)
    if code is None or space is None or hasattr(space, "___"):
        return (
            0.0,
            None,
        )  # asked for the memory in use at the start; or for the last line on its own
    space.___ = None
    run = result(gallery.EXAMPLES / Path(code.co_filename).name)
    print(
        run.output if run else "Not run when this site was built: make gallery shows its figures."
    )
    return (run.memory if run else 0.0), None


def figures(block: Any, variables: dict[str, Any], conf: dict[str, Any]) -> str:
    """The figures of a script, by day and by night; the first is the one of its thumbnail."""
    script, folder = Path(variables["src_file"]), Path(variables["target_file"]).parent
    run = result(gallery.EXAMPLES / script.name)
    shown = [_figure(path, folder / "images" / script.stem) for path in run.figures] if run else []
    stills = [p for p in run.figures if p.suffix == ".png"] if run else []
    if stills:
        Path(next(variables["image_path_iterator"])).write_bytes(stills[0].read_bytes())
    needed = [f":download:`{p.name} <{p.name}>`" for p in helpers(script)]
    helper = f"It imports {' and '.join(needed)}." if needed else ""
    ran = f"Ran for {run.seconds:.0f} s in a process of its own. " if run else ""
    return "\n\n".join([*shown, ran + helper])


def _figure(path: Path, folder: Path) -> str:
    shown = []
    for theme, figure in by_theme(path).items():
        write(folder / figure.name, figure.read_bytes())
        place = f"images/{folder.name}/{figure.name}"
        shown.append(_image(place, path.stem.replace("_", " "), f"figure {theme}"))
    return "\n\n".join(shown)


def zips_with_helpers() -> None:
    """Scripts are zipped together with the helpers that they import, notebooks without, as they stand alone."""
    from sphinx_gallery import downloads, gen_rst  # pyright: ignore[reportMissingImports]

    plain = gen_rst.zip_files

    def zip_files(files: list[str], name: Path, folder: Path, extension: str | None = None) -> str:
        chosen = [path for f in files if (path := Path(f)).stem not in HELPERS]
        code = [p for p in chosen if p.suffix == ".py" and extension != ".ipynb"]
        needed = sorted({Path(folder) / h.name for script in code for h in helpers(script)})
        return plain([*chosen, *needed], name, folder, extension)

    gen_rst.zip_files = downloads.zip_files = zip_files


def _of_helper(module: str, name: str) -> str:
    """The source of a function of a helper."""
    text = HELPERS[module].read_text(encoding="utf-8")
    (found,) = (n for n in ast.parse(text).body if getattr(n, "name", "") == name)
    first = min(d.lineno for d in [*found.decorator_list, found])  # pyright: ignore
    return "\n".join(text.splitlines()[first - 1 : found.end_lineno])


# The first cell of a notebook.
INLINE = f"""\
# Figures appear below their cell instead of in a folder.
import importlib.util, sys, types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from IPython.display import HTML, display
from matplotlib.figure import Figure

figure_path = Path


@contextmanager
def figure(name, *, rows=1, cols=1, title="", size=(6, 4)):
    canvas = Figure(figsize=size, layout="constrained")
    axes = canvas.subplots(rows, cols)
    canvas.suptitle(title)
    yield axes
    display(canvas)


{_of_helper("_figures", "film")}


@contextmanager
def shown(name, *, drawing=film, **options):  # a cell below calls this one film
    with drawing(name, **options) as drawn:
        yield drawn
    display(HTML(f'<img src="{{name}}.webp">'))


{_of_helper("_extras", "needs")}


sys.modules["_figures"] = types.SimpleNamespace(figure=figure, film=shown, figure_path=Path)
sys.modules["_extras"] = types.SimpleNamespace(needs=needs)
"""
