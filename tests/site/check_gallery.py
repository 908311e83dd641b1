"""The pages of the examples, in the built site. Not with `make test`, by `make docs-check`."""

import ast
import html
import json
import re
import zipfile

import pytest

from tools.site import examples
from tools.site.names import ROOT

OUT = ROOT / "build" / "docs"
pytestmark = pytest.mark.skipif(not (OUT / "gallery").exists(), reason="no site: make docs")
SCRIPTS = {s.stem: s for s in examples.scripts()}


def read(stem):
    return (OUT / "gallery" / f"{stem}.html").read_text(encoding="utf-8")


def downloads(text, kind):
    found = re.findall(rf'href="\.\./(_downloads/\w+/[^"]+\.{kind})"', text)
    return [OUT / f for f in found]


@pytest.mark.parametrize("stem", SCRIPTS)
def test_an_example_is_to_be_taken_home(stem):
    """As a script, which is that of examples/ under its docstring, as a notebook, and as both."""
    text = read(stem)
    helper, script = sorted(downloads(text, "py"), key=lambda p: p.stem[0].isdigit())
    assert helper.name == "_figures.py" and script.name == f"{stem}.py"
    body = [ast.unparse(ast.parse(p.read_text()).body[1:]) for p in (script, SCRIPTS[stem])]
    assert body[0] == body[1]
    (notebook,) = downloads(text, "ipynb")
    cells = [c for c in json.loads(notebook.read_text())["cells"] if c["cell_type"] == "code"]
    code = "\n".join("".join(c["source"]) for c in cells)
    assert code.startswith(examples.INLINE.strip()) and ast.parse(code)
    (together,) = downloads(text, "zip")
    assert {script.name, notebook.name} <= set(zipfile.ZipFile(together).namelist())


@pytest.mark.parametrize("stem", SCRIPTS)
def test_an_example_shows_what_its_run_said_and_drew(stem):
    run, text = examples.result(SCRIPTS[stem]), read(stem)
    if run is None:
        assert "Not run when this site was built" in text and "memory usage" not in text
        return
    assert run.ok
    shown = [
        html.unescape(re.sub(r"<[^>]+>", "", b))
        for b in re.findall(r"<pre>.*?</pre>", text, re.DOTALL)
    ]
    said = run.output.strip().expandtabs()
    assert not said or any(block.strip() == said for block in shown)
    for figure in run.figures:
        assert f'alt="{figure.stem.replace("_", " ")}"' in text


@pytest.mark.parametrize("stem", SCRIPTS)
def test_names_in_the_code_of_an_example_lead_to_their_pages(stem):
    """Functions that its own code calls as what was imported; not methods, which a reader of code cannot tell."""
    found = set(re.findall(r'<a class="sphx-glr-backref[^>]*title="(xcore[\w.]*)"', read(stem)))
    assert found or not any(n.count(".") > 1 for n in examples.uses()[SCRIPTS[stem]])
