"""The runner of the examples shows what a script says, prints and draws, and notices failures."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from examples import _figures, gallery

GOOD = '''"""What is one plus one?

It prints `1 + 1` & draws a <dot>.

    kept = "as it stands"
"""
from _figures import figure, figure_path

print("the answer <2>:", 1 + 1)
with figure("zebra", title="first") as ax:
    ax.plot([0, 1])
    ax.set(xlabel="x", ylabel="y")
with figure("aardvark", rows=2) as axes:
    axes[0].axis("off")
    axes[1].imshow([[0, 1]])
    axes[1].set(xticks=[], yticks=[])
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
    assert (page.parent / "01_good" / "zebra.dark.png").stat().st_size > 1000


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


def test_the_memory_of_a_run_is_that_of_its_process(folder):
    for name, size in (("03_small", 1), ("04_large", 150_000_000)):
        (folder / f"{name}.py").write_text(f'"""How large?"""\nkept = b"1" * {size}\n')
    options = ["3_", "4_", "--examples", str(folder), "--out", str(folder)]
    subprocess.run([sys.executable, gallery.__file__, *options], check=True, timeout=60)
    small, large = (gallery.recorded(folder / f"{n}.py", folder) for n in ("03_small", "04_large"))
    least, most = (125, 175) if hasattr(os, "wait4") else (-1, 1)  # elsewhere it is not told: 0
    assert least < large.memory - small.memory < most


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


def test_only_what_changed_runs_again(folder, capsys):
    show(folder, "good")
    key = folder / "page" / "01_good.key"
    capsys.readouterr()
    assert show(folder, "good", "--cached")[0] == 0 and "01_good" not in capsys.readouterr().out
    key.unlink()  # as after a run that was broken off
    assert show(folder, "good", "--cached")[0] == 0 and "01_good" in capsys.readouterr().out
    with (folder / "01_good.py").open("a") as script:
        script.write("# changed")
    assert show(folder, "good", "--cached")[0] == 0 and "01_good" in capsys.readouterr().out


def test_axes_with_numbers_say_what_they_count(folder):
    bare = '"""Is it labelled?"""\nfrom _figures import figure\nwith figure("a") as ax:\n    ax.plot([0, 1])\n'
    (folder / "03_bare.py").write_text(bare)
    run = gallery.run(folder / "03_bare.py", folder, timeout=60)
    assert not run.ok and "numbers and no label: x of number 0, y of number 0" in run.errors


@pytest.mark.parametrize("inside", [False, True], ids=["beside", "inside of the axes"])
def test_colour_bars_say_what_they_count(inside):
    canvas = pytest.importorskip("matplotlib.figure").Figure()
    ax = canvas.subplots()
    ax.set(xlabel="x", ylabel="y")
    image = ax.imshow([[0, 1]])
    place = {"cax": ax.inset_axes((1, 0, 0.1, 1), label="<colorbar>")} if inside else {"ax": ax}
    bar = canvas.colorbar(image, **place)
    assert _figures.unlabelled(canvas) == ["colour bar of number 0"]
    bar.set_label("temperature (K)")
    assert _figures.unlabelled(canvas) == []
    other = canvas.colorbar(image, ax=ax, orientation="horizontal")
    assert _figures.unlabelled(canvas) == ["colour bar of number 1"]
    other.set_label("temperature (K)")
    assert _figures.unlabelled(canvas) == []


def test_at_night_greys_turn_and_colours_stay():
    night = _figures.night
    assert night("black")[0] > 0.85 and night("white")[0] < 0.1
    assert np.allclose(night("#d55e00")[:3], (0xD5 / 255, 0x5E / 255, 0))
    assert night("none") == "none" and len(night(np.zeros((3, 4)))) == 3
    assert night((0, 0, 0, 0.25))[3] == 0.25


def test_black_marks_are_white_at_night():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    (line,) = figure.subplots().plot([0, 1], "kx")
    _figures.darken(figure)
    assert line.get_color()[0] > 0.85 and line.get_markeredgecolor()[0] > 0.85
