"""The reference of the site has a place for every public name, and reads docstrings as they are meant."""

import ast
import doctest
import importlib
import inspect
import re

import pytest

from tools.site import (
    examples,
    foreign,
    formulas,
    imports,
    names,
    peers,
    prose,
    reference,
    related,
    signatures,
)
from tools.site.words import PAGES as PAGE_WORDS
from tools.site.words import WORDS, keywords


def test_every_public_name_has_a_place():
    for module in names.public_modules():
        for short, value in names.public_names(importlib.import_module(module)).items():
            if not inspect.ismodule(value):
                owner = names.canonical()[f"{module}.{short}"]
                assert owner in names.page_of(), f"{module}.{short}"


def test_no_two_pages_are_one_file_where_case_does_not_count():
    pages = [p.casefold() for p in names.page_of().values()]
    assert len(set(pages)) == len(pages)


def test_signatures_can_be_read():
    wrong = {}
    for name, place in names.places().items():
        told = signatures.signature(place) if place.kind != "data" else ""
        try:
            ast.parse(f"def f{told or '()'}: pass")
        except SyntaxError:
            wrong[name] = told
    assert wrong == {}


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("xcore.numpy.sin", "(x: xcore.typing.ArrayLike, *"),
        ("xcore.linalg.solve", "-> xcore.Array | xcore.Solution"),
        ("xcore.numpy.sum", "axis: xcore.typing.Axis"),
    ],
)
def test_signatures_have_types(name, part):
    assert part in signatures.signature(names.places()[name])


# What was stored or set, of whatever type, and a field of a dataclass, as in ``dataclasses.field``.
ANYTHING = ("xcore.checkpoint.read_metadata", "xcore.config.read", "xcore.tree.static")


def test_results_have_types():
    """No page says that a function returns anything whatever, but of those that do."""
    from typing import Any

    told = set()
    for module in names.public_modules():
        held = importlib.import_module(module)
        for short in getattr(held, "__all__", ()):
            value = getattr(held, short)
            if inspect.isroutine(value) and f"{module}.{short}" in names.page_of():
                back = inspect.signature(value).return_annotation
                told |= {f"{module}.{short}"} if back in ("Any", Any) else set()
    assert told == set(ANYTHING)


def test_sources_are_where_the_name_is_bound():
    for name in (
        "xcore.numpy.sin",
        "xcore.linalg.solve",
        "xcore.pde.Grid",
        "xcore.special.gammaln",
    ):
        path, line = names.source(names.places()[name])
        shown = path.read_text().splitlines()[line - 1 : line + 2]
        assert re.search(rf"\b{name.rpartition('.')[2]}\b", "\n".join(shown)), name


def test_peers():
    told = {
        n: names.peer(names.places()[n])
        for n in ("xcore.numpy.sin", "xcore.linalg.solve", "xcore.vmap")
    }
    assert told == {
        "xcore.numpy.sin": "numpy.sin",
        "xcore.linalg.solve": "scipy.linalg.solve",
        "xcore.vmap": None,
    }


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("numpy.linalg.eigvals", "https://numpy.org/doc/stable/reference/generated/numpy.linalg.eigvals.html"),
        ("np.float32", "https://numpy.org/doc/stable/reference/arrays.scalars.html#numpy.float32"),
        ("numpy.pi", "https://numpy.org/doc/stable/reference/constants.html#numpy.pi"),
        ("scipy.fft.dct", "https://docs.scipy.org/doc/scipy/reference/generated/scipy.fft.dct.html"),
        ("numpy.newaxis", "https://numpy.org/doc/stable/reference/constants.html#numpy.newaxis"),
        ("numpy.concat", "https://numpy.org/doc/stable/reference/generated/numpy.concatenate.html"),
        ("np.abs", "https://numpy.org/doc/stable/reference/generated/numpy.absolute.html"),
        ("scipy.special.jn", "https://docs.scipy.org/doc/scipy/reference/generated/scipy.special.jv.html"),
        ("scipy.stats.norm", "https://docs.scipy.org/doc/scipy/reference/generated/scipy.stats.norm.html"),
        ("jax.lax.scan", "https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html"),
        ("jax.vmap", "https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html"),
        ("jax.lax.Precision", None),
        ("jax.lax", None),
        ("numpy.add.reduce", None),
        ("numpy.random.normal", None),
        ("numpy.typecodes", None),
        ("scipy.special.errstate.no", None),
        ("scipy.linalg.no_such_name", None),
        ("numpy.no_such_name", None),
        ("numpy.linalg", None),
        ("os.path", None),
    ],
)  # fmt: skip
def test_names_of_peers_lead_to_their_manuals(name, address):
    assert reference.link_from("xcore.linalg")(name) == address
    told = prose.inline(f"As `{name}` does.", reference.link_from("xcore.linalg"))
    assert (f"<{address}>`__" in told) == (address is not None)


def test_the_peer_on_a_page_is_a_link():
    """Of all functions that NumPy or SciPy has by this name; others are told in words where no page is certain."""
    without, count = [], 0
    for place in names.places().values():
        beside = names.peer(place)
        if beside and place.kind == "function":
            count += 1
            without += [beside] * (peers.address(beside) is None)
    assert without == [] and count > 600
    rows = {n: reference._facts(names.places()[f"xcore.{n}"]) for n in ("linalg.solve", "lax.scan")}
    assert (
        f":As: `scipy.linalg.solve <{peers.SCIPY}/scipy.linalg.solve.html>`__"
        in rows["linalg.solve"]
    )
    assert f":As: `jax.lax.scan <{peers.JAX}/jax.lax.scan.html>`__" in rows["lax.scan"]
    assert ":As: :code:`jax.stages.Lowered`" in reference._facts(
        names.places()["xcore.stages.Lowered"]
    )


def test_families_are_of_names_that_are_there():
    rows = [*related.FAMILIES.items(), ("xcore", related.ACROSS)]
    told = {f"{package}.{name}" for package, text in rows for name in text.split()}
    assert told - set(names.canonical()) == set()


def test_see_also():
    assert "xcore.pde.eigenmodes" in related.of("xcore.pde.poisson")
    assert related.of("xcore.numpy.sin")[:2] == ["xcore.numpy.cos", "xcore.numpy.tan"]
    assert {"xcore.stats.truncnorm", "xcore.random.normal"} <= set(related.of("xcore.stats.norm"))
    told = []
    for name, place in list(names.places().items())[::7]:
        beside = related.of(name)
        assert name not in beside and len(set(beside)) == len(beside) <= related.MOST
        assert set(beside) <= set(names.page_of())
        told += [bool(beside)] * (place.kind == "function")
    assert sum(told) > 0.8 * len(told)


DOC = """The root of x|*y and x_, if x > 0; see ``Grid``.

With a formula:
    u'' = f

Args:
  a, b: two numbers,
    both real.
  c: another.

- one item
  that goes on
- ``f(x)``s

>>> 1 + 1
2
"""
RST = r"""The root of x\|\*y and x\_, if :math:`x > 0`; see :py:obj:`Grid <xcore.pde.Grid>`.

With a formula:

.. math:: \begin{aligned} & u'' = f \end{aligned}

.. rubric:: Arguments

**a**, **b**
    two numbers, both real.

**c**
    another.


- one item that goes on
- :code:`f(x)`\ s

.. code-block:: pycon

    >>> 1 + 1
    2
"""


def test_docstrings_become_text():
    assert prose.rest(DOC, reference.link_from("xcore.pde")) == RST
    assert prose.rest("Such as:\n    one  two\n").endswith("::\n\n    one  two\n")
    assert prose.summary("What it is. More of it.") == "What it is."
    assert prose.summary("As in\nNumPy 2.0; see there. Next.") == "As in NumPy 2.0; see there."


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The x that makes |a x - b|² + ridge |x|² least.", [r"|a\, x - b|^{2} + \mathrm{ridge}\, |x|^{2}"]),
        ("The left polar factor (side: a = p u), if a is square.", [r"a = p\, u"]),
        ("Density e^(-x²/2) / √(2π) of x.", [r"e^{-x^{2}/2} / \sqrt{2π}"]),
        ("E₁(x) = ∫ₓ^∞ e^-t/t dt, for x > 0.", [r"E_{1}(x) = \int _{x}^{\infty } e^{-t}/t\, dt", "x > 0"]),
        ("The box [a, b) has n cells, and I count (m, n) a second time - or not.", []),
        ("From 3 to 5: a matrix (..., n, n), x and y.", []),
        ("x -> y, min over n_max and a_min", []),
    ],
)  # fmt: skip
def test_formulas_are_found_in_sentences(text, found):
    pieces = list(formulas.split(text))
    assert "".join(piece for _, piece in pieces) == text
    assert [formulas.latex(piece) for is_formula, piece in pieces if is_formula] == found


def test_every_formula_of_the_reference_is_set(monkeypatch):
    """Each becomes TeX whose braces are whole, and nothing of its sentence is lost."""
    monkeypatch.setattr(
        reference.families, "example", lambda family: ""
    )  # they run, and hold no formula
    count = 0
    for place in names.places().values():
        for block in prose.blocks(reference.documentation(place)):
            text = re.sub(r"``.+?``|`[^`]+?`", " ", " ".join(block))
            pieces = list(formulas.split(text)) if ">>>" not in text else []
            assert "".join(piece for _, piece in pieces) == text or ">>>" in text
            for tex in (formulas.latex(piece) for is_formula, piece in pieces if is_formula):
                bare = tex.replace(r"\{", "").replace(r"\}", "")
                assert bare.count("{") == bare.count("}"), tex
                count += 1
    assert count > 400


def test_words_are_of_names_that_are_there():
    assert set(WORDS) - set(names.page_of()) == set()
    for page in PAGE_WORDS:  # which have no front matter of their own
        assert not (names.ROOT / "docs" / f"{page}.md").read_text().startswith("---")
    assert 'keywords: "use, gpu, cuda' in keywords("howto/gpu", "# On a GPU")


def test_examples_name_what_they_use():
    used = {s.stem: names_ for s, names_ in examples.uses().items()}
    assert {"xcore.pde.Leapfrog", "xcore.pde.trajectory"} <= used["34_wave"]
    assert {"xcore.pde.Masked", "xcore.pde.eigenmodes"} <= used["32_lshape_eigenmodes"]


def test_a_page_has_what_a_reader_looks_for():
    page = reference._object(names.places()["xcore.linalg.solve"])
    for part in (
        "**assume\\_a**",
        ">>> xc.linalg.solve(a, b)",
        "scipy.linalg.solve",
        "xcore/linalg/",
        "mldivide",
    ):
        assert part in page
    assert r"The solution x of :math:`a\, x = b`." in page


def test_a_class_that_computes_says_what_it_can_do_and_through_what():
    told = {n: reference._object(names.places()[n]) for n in ("xcore.linalg.CG", "xcore.pde.Grid")}
    assert (
        "through :py:obj:`linalg.linear_solve <xcore.linalg.linear_solve>`)"
        in told["xcore.linalg.CG"]
    )
    assert ":Can:" not in told["xcore.pde.Grid"]


# ----- What pages call is there -----

SHORT = {
    "xc": "xcore", "xnp": "xcore.numpy", "xo": "xcore.optimize", "linalg": "xcore.linalg", "pde": "xcore.pde",
    "decomp": "xcore.decomp", "checkpoint": "xcore.checkpoint", "lax": "xcore.lax", "plot": "xcore.plot",
}  # fmt: skip
PAGES = sorted(
    p
    for d in ("start", "howto", "background", "trust")
    for p in (names.ROOT / "docs" / d).glob("*.md")
)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_names_on_pages_are_there(page):
    """Of all that stands between backticks within a line, as `xc.grad(f)(x)`."""
    lost = set()
    for quoted in re.findall(r"`([^`\n]+)`", page.read_text()):
        for short, rest in re.findall(
            r"(?<![\w.])(xc|xnp|xo|linalg|pde|decomp|checkpoint|lax|plot)((?:\.\w+)+)", quoted
        ):
            full = f"{SHORT[short]}{rest}"
            found = importlib.import_module("xcore")
            try:
                for part in full.split(".")[1:]:
                    found = getattr(found, part)
            except AttributeError:
                lost.add(full)
    assert lost == set()


def test_every_page_is_listed_somewhere():
    """A page that no table of contents names stops the building of the site."""
    docs = names.ROOT / "docs"
    listed = set()
    for page in docs.glob("**/index.md"):
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), re.DOTALL):
            entries = [e for e in block.split() if not e.startswith(":")]
            listed |= {(page.parent / f"{e}.md").resolve() for e in entries}
    pages = {p.resolve() for p in docs.glob("**/*.md")} - {(docs / "index.md").resolve()}
    assert pages - listed == set()


@pytest.mark.parametrize("page", ["numpy", "special", "accuracy", "devices"])
def test_pages_of_tables_say_when_where_and_beside_what(page):
    """Each has a table that a click sorts, and before it the day, the processor and the versions."""
    text = (names.ROOT / "docs" / f"{page}.md").read_text()
    told = dict(
        re.findall(r"^\| (date|processors?|versions|compared with|command) \| (.+) \|$", text, re.M)
    )
    assert re.match(r"20\d\d-\d\d-\d\d", told["date"])
    assert "x86-64" in told.get("processor", told.get("processors"))
    versions = " ".join(told.get(k, "") for k in ("versions", "compared with"))
    assert re.search(r"(?i)(numpy|scipy|mpmath) \d+\.\d+", versions)
    tables = [t.count("\n") - 2 for t in re.findall(r"(?:^\|.*\n)+", text, re.M)]
    assert max(tables) >= 4 and text.index("| date |") < text.index("\n## ", text.index("| date |"))


def test_errors_of_special_functions_are_below_their_bounds():
    """The page has the bounds that the tests have, and what was measured is not more."""
    from tests.special.table import ROWS

    text = (names.ROOT / "docs" / "special.md").read_text()
    rows = re.findall(r"^\| `([^`]+)` \| .+ \| (.+) \| (.*) \| (.+) \| (.*) \|$", text, re.M)
    told = {name: cells for name, *cells in rows}
    assert set(told) == {str(row) for row in ROWS}
    for row in ROWS:
        bound, found, narrow, narrow_found = told[str(row)]
        assert float(bound) == row.f64 and 0 <= float(found) <= row.f64
        if narrow == "out of range":
            assert row.f32 == float("inf") and not narrow_found
        else:
            assert float(narrow) == row.f32 and 0 <= float(narrow_found) <= row.f32


def test_devices_says_of_each_platform_whether_it_ran():
    """As accelerators.md does, which names what was only compiled."""
    text = (names.ROOT / "docs" / "devices.md").read_text()
    rows = dict(re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|[^|]*\|$", text, re.M))
    from xcore._backend.topologies import KINDS

    for kind in KINDS:
        platform = "TPU" if kind.startswith("v") and kind != "v100" else "NVIDIA"
        (row,) = (r for r in rows if platform in r and kind.casefold() in r.casefold())
        assert (rows[row] == "nothing") == (kind != "h200")


@pytest.mark.parametrize("page", ["SECURITY.md", "docs/trust/security.md"])
def test_it_is_said_how_to_report_a_vulnerability(page):
    """Privately, by what the repository's host has for it; there is no address that nobody reads."""
    text = (names.ROOT / page).read_text()
    assert "Report a vulnerability" in text and "privat" in text
    assert not re.search(r"[\w.]+@\w+\.\w+|https?:", text)


def with_example():
    return [p for p in names.places().values() if ">>>" in reference.documentation(p)]


def test_examples_of_pages_can_be_copied():
    """Nothing that they use comes from nowhere, and what they import is public and there."""
    assert len(with_example()) > 1400
    for place in with_example():
        doc = reference.documentation(place)
        assert not imports.undefined(imports.with_imports(doc, place)), place.name
        for line in imports.imports(doc, place):
            assert "._" not in line, (place.name, line)
            if "torch" not in line and "jax" not in line:
                exec(line, {})


def test_every_function_and_class_has_an_example():
    without = {
        p.name
        for p in names.places().values()
        if p.kind != "data" and ">>>" not in reference.documentation(p)
    }
    assert without == set()


def test_what_is_told_of_foreign_classes_is_so():
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for name, doc in foreign.TOLD.items():
        assert name in names.places()
        runner.run(doctest.DocTestParser().get_doctest(doc, {}, name, None, None))
    assert runner.summarize(verbose=False).failed == 0


def test_a_distribution_shows_its_functions():
    page = reference._object(names.places()["xcore.stats.t"])
    assert (
        "method:: xcore.stats.t.ppf(q, df, loc=0, scale=1)" in page and ">>> t.cdf(q, 2.5)" in page
    )
    page = reference._object(names.places()["xcore.stats.poisson"])
    assert "method:: xcore.stats.poisson.pmf(k, mu, loc=0)" in page


def test_arrays_list_what_they_have():
    """And not what their errors know of other libraries; methods without the array itself."""
    page = reference._object(names.places()["xcore.Array"])
    assert "Array.sum(axis=None" in page and "backward" not in page


def test_a_solver_shows_the_settings_that_all_have():
    page = reference._object(names.places()["xcore.linalg.GMRES"])
    assert (
        all(name in page for name in ("restart: int = 20", "10 n by default"))
        and "usable" not in page
    )


def test_every_object_has_a_page():
    """`make docs` writes all; here a part, dealt out by place, of each kind."""
    for kind in ("function", "class", "data"):
        chosen = [p for p in names.places().values() if p.kind == kind]
        for place in chosen if kind == "data" else chosen[::9]:
            assert f".. py:{kind}:: {place.name}" in reference._object(place)
