"""Pages of the reference, from the docstrings: one for each public object, one for each package."""

from __future__ import annotations

import ast
import dataclasses
import enum
import functools
import importlib
import inspect
import re
import textwrap
from pathlib import Path

from xcore._core.package import Elsewhere
from xcore.stats._family import Family

from . import facts, families, foreign, names, peers, plots, related, signatures
from .examples import cards, examples_of
from .imports import with_imports
from .names import ROOT, Place, canonical, page_of, places, public_modules, public_names
from .prose import escape, inline, rest, summary
from .words import WORDS
from .write import heading, write

# The packages by what they are for; those that stand nowhere are names of JAX's that lead here.
PACKAGES = {
    "Arrays and programs": "xcore xcore.numpy xcore.numpy.linalg xcore.numpy.fft xcore.lax xcore.lax.linalg xcore.tree",
    "Methods": "xcore.linalg xcore.sparse xcore.pde xcore.optimize xcore.optimize.prox xcore.decomp xcore.plot",
    "Functions": "xcore.special xcore.fft xcore.nn xcore.nn.initializers xcore.image",
    "Chance": "xcore.random xcore.random.stream xcore.stats",
    "SciPy's names": """
        xcore.scipy xcore.scipy.linalg xcore.scipy.sparse xcore.scipy.sparse.linalg xcore.scipy.optimize
        xcore.scipy.integrate xcore.scipy.interpolate xcore.scipy.signal xcore.scipy.ndimage xcore.scipy.fft
        xcore.scipy.special xcore.scipy.stats xcore.scipy.cluster xcore.scipy.cluster.vq
        xcore.scipy.spatial xcore.scipy.spatial.transform""",
    "Devices and runs": """
        xcore.config xcore.sharding xcore.distributed xcore.multihost xcore.checkpoint xcore.profiler xcore.stages
        xcore.export""",
    "Finding mistakes": "xcore.errors xcore.sanitize xcore.checkify xcore.debug xcore.testing xcore.typing",
}


def write_pages(source: Path) -> None:
    for name, place in places().items():
        write(source / f"{page_of()[name]}.rst", _page(place, source))
    for module in public_modules():
        write(source / "reference" / module / "index.rst", _package(module))
    write(source / "reference" / "index.rst", _index())
    write(source / "reference" / "facts.rst", _facts_page())


def link_from(package: str):
    """Public names as they are written in docstrings of a package."""

    def link(code: str) -> str | None:
        name = code.removesuffix("()")
        if name.startswith(("numpy.", "np.", "scipy.", "jax.")):  # not xcore.numpy
            return peers.outside(name)
        short = name.replace("xc.", "xcore.", 1) if name.startswith("xc.") else name
        short = short.replace("xnp.", "xcore.numpy.", 1) if short.startswith("xnp.") else short
        for full in (short, f"{package}.{short}", f"xcore.{short}"):
            if full in canonical() and (full != f"xcore.{short}" or len(short) > 2):
                return canonical()[full]
        return None

    return link


# ----- One object -----


def _page(place: Place, source: Path) -> str:
    parts = [":orphan:", heading(place.name), _crumbs(place.package), _object(place)]
    parts += [_hidden(name, place.kind) for name in place.aliases]
    if beside := related.of(place.name):
        rows = [f":py:obj:`{n.removeprefix('xcore.')} <{n}>`" for n in beside]
        parts.append(".. rubric:: See also\n\n" + ", ".join(rows))
    if chosen := list(examples_of(place.name)):
        more = (
            f"\n\n… and {len(chosen) - 6} more in the :doc:`gallery </gallery/index>`."
            if len(chosen) > 6
            else ""
        )
        parts.append(
            ".. rubric:: Examples that use it\n\n" + cards(chosen[:6], source, "2 2 3 3") + more
        )
    return "\n\n".join(parts) + "\n"


def _crumbs(package: str) -> str:
    return f":doc:`Reference </reference/index>` › :doc:`{package} </reference/{package}/index>`"


def _hidden(name: str, kind: str) -> str:
    return f".. py:{kind}:: {name}\n   :no-typesetting:"


def _object(place: Place) -> str:
    doc = documentation(place)
    body = [rest(with_imports(doc, place), link_from(place.package))] if doc else []
    if isinstance(place.value, Family):
        body.insert(
            0, f".. code-block:: python\n\n   {place.short}{inspect.signature(place.value)}"
        )
    body.append(plots.image(place.name))
    if place.kind == "data":
        body.insert(0, _value(place))
    body += _inherited(place)
    body.append(_facts(place))
    body += _members(place)
    call = signatures.signature(place) if place.kind != "data" else ""
    head = f".. py:{place.kind}:: {place.name}{call}"
    return head + "\n\n" + textwrap.indent("\n\n".join(b for b in body if b), "   ")


def _inherited(place: Place) -> list[str]:
    """What bases without a page say of their attributes: the settings that all solvers have."""
    bases = place.value.__mro__[1:] if inspect.isclass(place.value) else ()
    told = [vars(b).get("__doc__") or "" for b in bases if b not in public_classes()]
    link = link_from(place.package)
    told = [inspect.cleandoc(d) for d in told]  # as Python 3.13 keeps them
    return [rest(d, link) for d in told if "\nAttributes:" in d]


@functools.cache
def public_classes() -> frozenset[type]:
    return frozenset(p.value for p in places().values() if inspect.isclass(p.value))


def documentation(place: Place) -> str:
    """The docstring of an object, but not that of the class of a constant."""
    if place.name in foreign.TOLD:
        return inspect.cleandoc(foreign.TOLD[place.name])
    doc = inspect.getdoc(place.value) or ""
    if isinstance(place.value, Family) and (shown := families.example(place.value)):
        return f"{doc}\n\n{shown}"
    if place.kind == "data" and not (type(place.value).__module__ or "").startswith("xcore"):
        return ""
    return doc


def _value(place: Place) -> str:
    if isinstance(place.value, int | float | str | tuple | frozenset):
        shown = (
            repr(sorted(place.value)) if isinstance(place.value, frozenset) else repr(place.value)
        )
        return f":code:`{escape(shown)}`" if len(shown) < 400 and " at 0x" not in shown else ""
    return ""


def _facts(place: Place) -> str:
    rows = []
    if beside := names.peer(place) or names.jax_names().get(place.name):
        page = peers.address(beside)
        rows.append(f":As: `{escape(beside)} <{page}>`__" if page else f":As: :code:`{beside}`")
    if place.aliases:
        rows.append(":Also: " + ", ".join(f":code:`{n}`" for n in place.aliases))
    if known := facts.table().get(place.name):
        how = f"(:doc:`as tried </reference/facts>` in the example{_through(known.via)})"
        rows.append(f":Can: {escape(_abilities(known))} {how}")
    if place.name in WORDS:
        rows.append(f":Search words: {escape(WORDS[place.name])}")
    if found := names.source(place):
        path, line = found
        shown = path.relative_to(ROOT).as_posix()
        rows.append(
            f":Source: `{escape(shown)}, line {line} <../../source/{shown}.html#L-{line}>`__"
        )
    return "\n".join(rows)


DERIVATIVES = {
    "both": "derivatives forward and in reverse", "forward": "forward derivatives", "backward": "reverse derivatives",
    "zero": "derivative 0 in the example's arrays", "no": "no derivative there",
    "by convention": "derivatives by convention",
    "of the solution": "derivatives of the solution, by the implicit rule",
    "in the last argument": "derivatives in the last argument",
}  # fmt: skip
PLATFORMS = {"yes": "{}", "host": "{} by a call of the host"}
OPERATIONS = {"__matmul__": ":code:`@`", "__call__": "a call"}


def _through(via: str) -> str:
    """Of a class the function that took an instance, or the method of it."""
    if not via:
        return ""
    link = f":py:obj:`{via.removeprefix('xcore.')} <{via}>`" if "." in via else f":code:`{via}`"
    return f", through {OPERATIONS.get(via, link)}"


def _abilities(known: facts.Facts) -> str:
    """A row of the table in a line; how it was established, the table's page says."""
    if known.jit == "no":
        return (
            "the example's call looks at values; what it needs under jit stands with the arguments"
        )
    can = [
        "jit" if known.jit == "yes" else f"jit {known.jit}",
        "vmap" if known.vmap == "yes" else "",
        DERIVATIVES.get(known.derivative, ""),
    ]
    can.append("CPU")  # where it was tried
    for platform, how in (("CUDA", known.cuda), ("TPU", known.tpu)):
        can.append(PLATFORMS.get(how, "").format(platform))
    return ", ".join(filter(None, can)) + "; arrays of " + known.dtypes


def _facts_page() -> str:
    rows = [".. list-table::", "   :header-rows: 1", "   :class: names facts", ""]
    rows += _row("Name", *("jit", "vmap", "derivative", "dtypes", "CUDA", "TPU"))
    for name, known in sorted(facts.table().items()):
        short = name.removeprefix("xcore.")
        rows += _row(
            f":py:obj:`{short} <{name}>`" + _through(known.via),
            *known._replace(dtypes=_short(known.dtypes))[1:-1],
        )
    title = heading("What each function and class can do")
    return "\n\n".join([title, FACTS_TEXT, facts.when() + ".", "\n".join(rows)]) + "\n"


FACTS_TEXT = """
Found by trying, with the arguments that each function has in its own example: whether it is traced and
batched; whether its derivative agrees with differences of its values in double precision, and the reverse one
with the forward one; which dtypes are taken; whether it is lowered for an NVIDIA GPU and a TPU, where *host*
means that the program calls the host. In other uses it may be otherwise: an argument that chooses an
algorithm may change a row. Classes are tried through what their example uses an instance in, which stands beside
the name: a solver through the function that solves, an operator through its product, factors that are taken apart
through what makes them. Functions whose example has no array are not here, nor classes that do not compute. A test
repeats a part of the rows.
"""


def _short(kinds: str) -> str:
    """float32 as f32, complex64 as c64, and so on: columns stay narrow."""
    return re.sub(r"(b?)([a-z])[a-z]*?(\d+)", r"\1\2\3", kinds)


def _row(*cells: str) -> list[str]:
    return [f"   * - {cells[0]}", *[f"     - {c}" for c in cells[1:]]]


# What solvers ask of each other, and of operators, and nobody else.
INTERNAL = set(
    """
    check usable limit absolute automatic balance checked_for coarser_faces combine constant dtype_for edges evened
    face faces in_differences instead_of lift lines only_inside own_volumes prepared reach right shifted sinks
    slopes volumes widened with_data
    """.split()
)


def _members(place: Place) -> list[str]:
    """Methods and properties with a docstring: of a class its own and those of bases without a page."""
    cls = place.value if inspect.isclass(place.value) else type(place.value)
    if not cls.__module__.startswith("xcore") or issubclass(cls, BaseException):
        return []
    found: dict[str, object] = {}
    for base in cls.__mro__:
        if (base is not cls and base in public_classes()) or not base.__module__.startswith(
            "xcore"
        ):
            continue
        for name, value in vars(base).items():
            if name[0] != "_" and name not in INTERNAL | found.keys() and _documented(value):
                found[name] = value
    fields = {f.name for f in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else set()
    own = (
        {} if inspect.isclass(place.value) else getattr(place.value, "__dict__", {})
    )  # of a distribution its functions
    held = {n: staticmethod(v) for n, v in own.items() if n[0] != "_" and inspect.isroutine(v)}
    found = {n: v for n, v in (held | found).items() if not isinstance(v, Elsewhere)}
    told = [_member(place, n, v) for n, v in found.items() if n not in fields]
    unsaid = [(n, "method") for n in _unsaid(cls, {*found, *fields})]
    told_above = [(n, "attribute") for n in sorted(_attributes(cls, fields)) if n not in found]
    return told + [_hidden(f"{place.name}.{n}", kind) for n, kind in unsaid + told_above]


def _attributes(cls: type, fields: set[str]) -> set[str]:
    """Fields of a record, and members of an enumeration: the docstring of the class tells of them."""
    members = getattr(cls, "__members__", {}) if issubclass(cls, enum.Enum) else {}
    return {n for n in {*fields, *members} if n[0] != "_"}


def _unsaid(cls: type, told: set[str]) -> list[str]:
    """Other public methods and properties, which have a place to link to: other names of those, and plain ones."""
    held = {
        n: v
        for base in reversed(cls.__mro__)
        if base.__module__.startswith("xcore")
        for n, v in vars(base).items()
    }
    plain = {n for n, v in held.items() if inspect.isroutine(v) or isinstance(v, property)}
    return sorted(
        n for n in plain - told - INTERNAL if n[0] != "_" and not isinstance(held[n], Elsewhere)
    )


def _documented(value: object) -> bool:
    inner = getattr(value, "__func__", value)
    if not (inspect.isroutine(inner) or isinstance(inner, property) or hasattr(inner, "func")):
        return False
    return bool(inspect.getdoc(inner))


def _member(place: Place, name: str, value: object) -> str:
    inner = getattr(value, "__func__", getattr(value, "func", value))
    doc = inspect.getdoc(inner) or ""
    link = link_from(place.package)
    text = (
        rest(doc, link)
        if len(doc) < 1500 and place.name != "xcore.Array"
        else inline(summary(doc), link)
    )
    is_property = (
        isinstance(value, property) or not inspect.isroutine(inner) or hasattr(value, "func")
    )
    kind = "property" if is_property else "method"
    call = "" if is_property else signatures.of(inner, bound=not isinstance(value, staticmethod))
    return f".. py:{kind}:: {place.name}.{name}{call}\n\n" + textwrap.indent(text, "   ")


# ----- Packages -----


def _package(module: str) -> str:
    held = importlib.import_module(module)
    doc = inspect.getdoc(held) or ""
    has_table = re.search(r"^=+( +=+)+$", doc, re.M)  # written in Sphinx's own form
    parts = [heading(module), f".. py:module:: {module}"]
    parts.append(doc if has_table else rest(doc, link_from(module)))
    inner = [n for n, v in public_names(held).items() if inspect.ismodule(v)]
    if inner and module != "xcore":
        packages = [full for n in inner if (full := f"{module}.{n}") in public_modules()]
        kept = [f":doc:`{n} </reference/{n}/index>`" for n in packages]
        parts.append("Packages in it: " + ", ".join(kept))
    for head, rows in _groups(module).items():
        if head and len(_groups(module)) > 1:
            parts.append(heading(escape(head), "-"))
        parts.append(_table(module, rows))
    return "\n\n".join(parts) + "\n"


def _groups(module: str) -> dict[str, list[str]]:
    """Names of a package by the file that defines them, whose first sentence is the heading."""
    held = importlib.import_module(module)
    found: dict[str, list[str]] = {}
    for name, value in public_names(held).items():
        if inspect.ismodule(value):
            continue
        where = names.definition(module, name)
        head = _subject(where[0]) if where else ""
        found.setdefault(head, []).append(name)
    small = [h for h, rows in found.items() if len(rows) < 2]
    if len(small) > 1:
        rest_ = [n for h in small for n in found.pop(h)]
        found["More"] = rest_
    return found


def _subject(path: Path) -> str:
    tree = names.tree(
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    )
    text = ast.get_docstring(tree[1]) or "" if tree else ""
    return summary(text).rstrip(".").split(": ")[0].replace("`", "")


def _table(module: str, rows: list[str]) -> str:
    lines = [".. list-table::", "   :widths: 30 70", "   :class: names", ""]
    for name in sorted(rows, key=str.casefold):
        full = canonical().get(f"{module}.{name}", f"{module}.{name}")
        doc = documentation(places()[full])
        lines += [
            f"   * - :py:obj:`{name} <{full}>`",
            f"     - {inline(summary(doc), link_from(module), True)}",
        ]
    return "\n".join(lines)


def _index() -> str:
    listed = {m for text in PACKAGES.values() for m in text.split()}
    other = [m for m in public_modules() if m not in listed]
    groups = {h: [m for m in text.split() if m in public_modules()] for h, text in PACKAGES.items()}
    parts = [
        heading("Reference"),
        "Every public name has a page or an anchor; the search finds them by their names, by NumPy's and SciPy's, "
        "and by the words that people type. :ref:`genindex` lists all.",
    ]
    for head, modules in (groups | {"Names of JAX's packages": other}).items():
        parts += [heading(head, "-"), _modules(modules)]
    parts.append(":doc:`facts` is one table of all: derivatives, batches, dtypes, platforms.")
    every = "\n".join(f"   {m} <{m}/index>" for m in public_modules())
    parts.append(f".. toctree::\n   :hidden:\n\n   facts\n{every}")
    return "\n\n".join(parts) + "\n"


def _modules(modules: list[str]) -> str:
    lines = [
        ".. list-table::",
        "   :widths: 30 60 10",
        "   :header-rows: 1",
        "   :class: names",
        "",
    ]
    lines += _row("Package", "What is in it", "Names")
    for module in modules:
        held = importlib.import_module(module)
        told = inline(summary(inspect.getdoc(held) or ""), link_from(module))
        count = sum(not inspect.ismodule(v) for v in public_names(held).values())
        lines += [
            f"   * - :doc:`{module} </reference/{module}/index>`",
            f"     - {told}",
            f"     - {count}",
        ]
    return "\n".join(lines)
