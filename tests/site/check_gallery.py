"""The pages of the examples, in the built site. Not with `make test`, by `make docs-check`."""

import ast
import html
import json
import os
import re
import subprocess
import sys
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
    """As a script, which is that of examples/ under its docstring, as a notebook, and with its helpers as both."""
    text = read(stem)
    *helpers, script = sorted(downloads(text, "py"), key=lambda p: p.stem[0].isdigit())
    needed = {p.name for p in examples.helpers(SCRIPTS[stem])}
    assert {h.name for h in helpers} == needed and script.name == f"{stem}.py"
    body = [ast.unparse(ast.parse(p.read_text()).body[1:]) for p in (script, SCRIPTS[stem])]
    assert body[0] == body[1]
    (notebook,) = downloads(text, "ipynb")
    cells = [c for c in json.loads(notebook.read_text())["cells"] if c["cell_type"] == "code"]
    code = "\n".join("".join(c["source"]) for c in cells)
    assert code.startswith(examples.INLINE.strip()) and ast.parse(code)
    (together,) = downloads(text, "zip")
    assert {script.name, notebook.name} | needed == set(zipfile.ZipFile(together).namelist())


def run(script, folder):
    env = {k: v for k, v in os.environ.items() if k != "XCORE_GALLERY_DIR"}
    command = [sys.executable, script]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("stem", ["04_per_example_gradients", "90_flax_on_xcore"])
def test_what_is_in_the_zip_of_an_example_runs(stem, tmp_path):
    """Far from the repository; the second imports a helper more, and may find that its packages are missing."""
    (together,) = downloads(read(stem), "zip")
    zipfile.ZipFile(together).extractall(tmp_path)
    done = run(f"{stem}.py", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("skipped: ") or list((tmp_path / "figures" / stem).glob("*.png"))


def test_the_zip_of_all_scripts_has_what_they_import():
    (together,) = (p for p in downloads(read("index"), "zip") if p.stem == "gallery_python")
    files = set(zipfile.ZipFile(together).namelist())
    assert files == {p.name for p in (*SCRIPTS.values(), *examples.HELPERS.values())}


def test_the_first_cell_of_a_notebook_stands_in_for_the_helpers(tmp_path):
    """For every name that an example imports of one."""
    wanted = {
        (node.module, name.name)
        for script in SCRIPTS.values()
        for node in ast.walk(ast.parse(script.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module in examples.HELPERS
        for name in node.names
    }
    display = 'import sys, types\nsys.modules["IPython.display"] = types.SimpleNamespace(HTML=str, display=print)\n'
    asked = "".join(f"from {module} import {name}\n" for module, name in sorted(wanted))
    film = (
        'from _figures import film\nwith film("f") as (ax, take):\n    take("t")\n    take("u")\n'
    )
    (tmp_path / "cell.py").write_text(display + examples.INLINE + asked + film)
    done = run("cell.py", tmp_path)
    assert done.returncode == 0 and "f.webp" in done.stdout, done.stderr


def test_no_page_without_a_source():
    pages = {p.stem for p in (OUT / "gallery").glob("*.html")}
    assert pages == {*SCRIPTS, "index"}


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
        assert figure.stat().st_size < 2**20
        assert f'alt="{figure.stem.replace("_", " ")}"' in text


@pytest.mark.parametrize("stem", SCRIPTS)
def test_names_in_the_code_of_an_example_lead_to_their_pages(stem):
    """Functions that its own code calls as what was imported; not methods, which a reader of code cannot tell."""
    found = set(re.findall(r'<a class="sphx-glr-backref[^>]*title="(xcore[\w.]*)"', read(stem)))
    assert found or not any(n.count(".") > 1 for n in examples.uses()[SCRIPTS[stem]])
