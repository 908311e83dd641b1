"""Settings of the site; its source is put together by ``python -m tools.site``."""

import functools
import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = next(p for p in HERE.parents if (p / "pyproject.toml").exists())

project = "xcore"
author = "The xcore authors"
copyright = author
sys.path.insert(0, str(ROOT))
from tools.site.examples import INLINE, execute, zips_with_helpers  # noqa: E402
from tools.site.peers import outside  # noqa: E402

(version,) = re.findall(r'__version__ = "(.*)"', (ROOT / "xcore" / "__init__.py").read_text())
release = version

extensions = [
    "myst_parser", "sphinx.ext.mathjax", "sphinx_copybutton", "sphinx_design", "sphinx_gallery.gen_gallery",
]  # fmt: skip
exclude_patterns = ["_static", "_templates"]
templates_path = ["_templates"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_links_external_new_tab = False
mathjax_path = "mathjax/tex-svg.js"
mathjax_options = {"defer": "defer"}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
python_maximum_signature_line_length = 72
python_use_unqualified_type_names = True
toc_object_entries = False
add_module_names = True

# Where it executes a script it finds what examples/gallery.py kept of it; see tools/site/examples.py.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "copyfile_regex": "index.rst",
    "filename_pattern": ".",
    "ignore_pattern": "^_",
    "within_subsection_order": "FileNameSortKey",
    "show_memory": execute,
    "image_scrapers": ["tools.site.examples.figures"],
    "run_stale_examples": True,
    "reset_modules": (),
    "inspect_global_variables": False,
    "first_notebook_cell": INLINE,
    "min_reported_time": float("inf"),
    "write_computation_times": False,
    "show_signature": False,
}
suppress_warnings = ["config.cache"]  # a function among the settings

html_theme = "pydata_sphinx_theme"
html_title = "xcore"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["tables.js"]
html_search_scorer = str(HERE / "_static" / "scorer.js")  # written by tools/site
html_show_search_summary = False  # a page in a folder may not read its neighbours
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_context = {"default_mode": "auto"}
html_sidebars = {
    "index": [],
    "search": [],
    "genindex": [],
    "gallery/index": [],
    "reference/index": [],
    "reference/*/*": ["package.html"],
}
html_theme_options = {
    "logo": {"text": "xcore"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "show_nav_level": 1,
    "navigation_depth": 2,
    "collapse_navigation": True,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "search_bar_text": "Search: a function, or what you want to do",
    "footer_start": ["footer.html"],
    "footer_end": [],
    "secondary_sidebar_items": {
        "**": ["page-toc"], "index": [], "gallery/index": ["page-toc"], "search": [], "genindex": [],
    },
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}  # fmt: skip


@functools.cache
def neighbours():
    """Pages of the reference by packages, for the list at the left."""
    found = {}
    for name, page in json.loads((HERE.parent / "names.json").read_text()).items():
        found.setdefault(name.rpartition(".")[0], []).append((name.rpartition(".")[2], page))
    return {p: sorted(rows, key=lambda r: r[0].casefold()) for p, rows in found.items()}


def types_that_lead(app, doctree):
    """Of the types in signatures only those become links that are public names, written out in full."""
    from docutils import nodes
    from sphinx.addnodes import desc_signature, pending_xref, pending_xref_condition

    for signature in doctree.findall(desc_signature):
        for xref in list(signature.findall(pending_xref)):
            if not xref["reftarget"].startswith("xcore."):
                names = list(xref.findall(pending_xref_condition)) or [xref]
                xref.replace_self(nodes.inline("", names[0].astext()))


# What names on pages are written with, and the package whose names a page is about.
SHORT = {
    "xc": "xcore", "xnp": "xcore.numpy", "xo": "xcore.optimize", "optimize": "xcore.optimize", "linalg": "xcore.linalg",
    "pde": "xcore.pde", "decomp": "xcore.decomp", "sparse": "xcore.sparse", "random": "xcore.random",
    "lax": "xcore.lax", "plot": "xcore.plot", "checkpoint": "xcore.checkpoint", "xcore": "xcore",
}  # fmt: skip
ABOUT = {
    "numpy": "xcore.numpy",
    "special": "xcore.special",
    "pde": "xcore.pde",
    "sparse": "xcore.sparse",
}


@functools.cache
def public():
    """Every public name, and the one whose page it is on."""
    return json.loads((HERE.parent / "canonical.json").read_text())


def meant(code, page):
    """The public name that a piece of code on a page begins with."""
    found = re.fullmatch(r"([A-Za-z_][\w.]*)(\(.*\))?", code, re.DOTALL)
    if not found:
        return None
    head, dot, rest = found[1].partition(".")
    if dot:
        return public().get(f"{SHORT[head]}.{rest}") if head in SHORT else None
    return public().get(f"{ABOUT[page]}.{head}") if page in ABOUT else None


def code_that_leads(app, doctree):
    """Code between backticks on pages written by hand becomes a link where it is a public name."""
    from docutils import nodes
    from sphinx.addnodes import pending_xref

    page = app.env.docname
    if page.startswith(("reference/", "gallery/")):
        return
    for code in list(doctree.findall(nodes.literal)):
        above = code.parent
        if isinstance(above, nodes.title | nodes.reference | pending_xref):
            continue
        found = re.match(r"(?:np|numpy|scipy|jax)(?:\.\w+)+", code.astext())
        if found and (address := outside(found[0])):
            leads = nodes.reference("", "", internal=False, refuri=address)
            code.replace_self(leads)
            leads += code
        elif name := meant(code.astext(), page):
            leads = pending_xref(
                "", refdomain="py", reftype="obj", reftarget=name, refexplicit=True, refwarn=True
            )
            code.replace_self(leads)
            leads += code


def pages_at_night(app, doctree):
    """Pictures that were made for light and for dark pages; no empty line at the end of what is doctested."""
    from docutils import nodes

    for picture in list(doctree.findall(nodes.image)):
        if "_static/made/" in picture["uri"] and not picture["uri"].endswith(".gif"):
            dark = picture.deepcopy()
            dark["uri"] = re.sub(r"\.(\w+)$", r".dark.\1", dark["uri"])
            dark["candidates"] = {"*": dark["uri"]}
            app.env.images.add_file(app.env.docname, dark["uri"])
            picture["classes"].append("only-light")
            dark["classes"].append("only-dark")
            picture.parent.insert(picture.parent.index(picture) + 1, dark)
    for block in doctree.findall(nodes.literal_block):
        if (text := block.astext()).endswith("\n"):
            block.rawsource = text.rstrip("\n")
            block.children = [nodes.Text(block.rawsource)]


def memory_that_is_known(app, page, text):
    """Sphinx-Gallery tells the memory of every example, also of those that were not run."""
    if page.startswith("gallery/"):
        text[0] = re.sub(r"\*\*Estimated memory usage:\*\*  0 MB\n", "", text[0])


def package_list(app, pagename, templatename, context, doctree):
    if pagename.startswith("reference/") and pagename.count("/") == 2:
        context["package"] = pagename.split("/")[1]
        context["package_pages"] = neighbours().get(context["package"], [])


def setup(app):
    zips_with_helpers()
    app.connect("doctree-read", types_that_lead)
    app.connect("doctree-read", code_that_leads)
    app.connect("doctree-read", pages_at_night)
    app.connect("source-read", memory_that_is_known)
    app.connect("html-page-context", package_list)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
