"""The runner of the examples shows what a script says, prints and draws, and notices failures."""

import re

import pytest

from examples import gallery

GOOD = '''"""What is one plus one?

It prints `1 + 1` & draws a <dot>.

    kept = "as it stands"
"""
from _figures import figure, figure_path

print("the answer <2>:", 1 + 1)
with figure("zebra", title="first") as ax:
    ax.plot([0, 1])
with figure("aardvark", rows=2) as axes:
    axes[1].plot([0, 1])
figure_path("table.csv").write_text("1,2")
'''
BAD = '"""Does this work?"""\nprint("before")\nraise ValueError("no, because of <this>")\n'


@pytest.fixture
def folder(tmp_path):
    """A course of two scripts, of which the second fails."""
    (tmp_path / "_figures.py").write_text((gallery.EXAMPLES / "_figures.py").read_text())
    (tmp_path / "01_good.py").write_text(GOOD)
    (tmp_path / "02_bad.py").write_text(BAD)
    (tmp_path / "helper.py").write_text("raise SystemExit('not an example')")
    return tmp_path


def show(folder, *words):
    out = folder / "page"
    status = gallery.main([*words, "--examples", str(folder), "--out", str(out)])
    return status, out / "index.html"


def test_page_shows_text_output_and_figures_in_order(folder):
    stale = folder / "page" / "01_good" / "stale.png"
    stale.parent.mkdir(parents=True)
    stale.write_bytes(b"old")
    status, page = show(folder, "good")
    text = page.read_text()
    assert status == 0 and not stale.exists()
    assert "01. What is one plus one?" in text
    assert "<p>It prints <code>1 + 1</code> &amp; draws a &lt;dot&gt;.</p>" in text
    assert "<pre>    kept = " in text
    assert "the answer &lt;2&gt;: 2" in text
    figures = re.findall(r'<img src="([^"]+)"', text)
    assert figures == ["01_good/zebra.png", "01_good/aardvark.png"]
    assert all((page.parent / f).stat().st_size > 1000 for f in figures)


def test_a_failing_script_fails_the_gallery_and_is_shown(folder, capsys):
    status, page = show(folder)
    assert status == 1
    assert "no, because of &lt;this&gt;" in page.read_text()
    said = capsys.readouterr().out
    assert "1 of 2 examples ran" in said
    assert "failed: 02_bad.py" in said
    assert "ValueError: no, because of <this>" in said


def test_a_script_that_hangs_is_stopped(folder):
    (folder / "03_slow.py").write_text('"""Does it end?"""\nimport time\ntime.sleep(60)\n')
    run = gallery.run(folder / "03_slow.py", folder, timeout=0.5)
    assert not run.ok and "stopped after 0.5 s" in run.errors


def test_no_match_is_an_error(folder):
    assert show(folder, "nothing-like-this")[0] == 1


def test_a_script_whose_packages_are_missing_is_skipped_with_a_word(folder, capsys):
    helper = (gallery.EXAMPLES / "_extras.py").read_text()
    (folder / "_extras.py").write_text(helper)
    script = '"""Is it there?"""\nfrom _extras import needs\nneeds("json", "no_such_package")\nraise ValueError\n'
    (folder / "03_needs.py").write_text(script)
    status, page = show(folder, "needs")
    assert status == 0 and "skipped: no_such_package not installed" in page.read_text()
    assert "skipped: no_such_package" in capsys.readouterr().out
