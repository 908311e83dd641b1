"""Puts the source of the site together and builds it.

python -m tools.site                    build/docs/index.html
python -m tools.site --stage            the source alone, in build/site/source
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

from . import examples, pictures, plots, reference, sources
from .names import ROOT, canonical, page_of
from .words import PAGES as PAGE_WORDS
from .words import keywords, scorer
from .write import write, written

BUILD = ROOT / "build" / "site"
SOURCE = BUILD / "source"
OUT = ROOT / "build" / "docs"
# Pages that stand elsewhere, and where they are in the site.
PAGES = {
    "ARCHITECTURE.md": "background/architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "benchmarks/RESULTS.md": "trust/speed_results.md",
    "benchmarks/RESULTS-gpu.md": "trust/speed_gpu.md",
    "benchmarks/RESULTS-dieharder.md": "trust/random_tests.md",
    "benchmarks/SCORES.md": "trust/scores.md",
    "benchmarks/MUTATIONS.md": "trust/mutations.md",
    "CODE_OF_CONDUCT.md": "code_of_conduct.md",
}

GENERATED = {"genindex", "py-modindex", "search"}  # pages without a source


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Builds the documentation site.")
    parser.add_argument("--stage", action="store_true", help="write the source alone")
    parser.add_argument("--jobs", default="2", help="processes of Sphinx")
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args(argv)
    if args.stage:
        stage()
        return 0
    # in a process of its own: it computes with xcore, and Sphinx forks
    subprocess.run([sys.executable, "-m", "tools.site", "--stage"], cwd=ROOT, check=True)
    return build(args.out, args.jobs)


def stage() -> None:
    """docs/ and all that is generated, in one folder; what was there and is no longer goes."""
    kept = SOURCE / "conf.py"
    if kept.exists() and kept.read_bytes() != (ROOT / "docs" / "conf.py").read_bytes():
        shutil.rmtree(BUILD / "doctrees", ignore_errors=True)  # what its functions made of pages
    for path in sorted((ROOT / "docs").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            place = path.relative_to(ROOT / "docs")
            page = place.with_suffix("").as_posix()
            content = (
                keywords(page, path.read_text(encoding="utf-8")) if page in PAGE_WORDS else None
            )
            write(SOURCE / place, content or path.read_bytes())
    for name, place in PAGES.items():
        if (ROOT / name).exists():
            write(SOURCE / place, (ROOT / name).read_bytes())
    reference.write_pages(SOURCE)
    examples.write_pages(SOURCE)
    pictures.write_pictures(SOURCE / "_static" / "made")
    plots.write_plots(SOURCE / "_static" / "made" / "plot")
    write(SOURCE / "_static" / "scorer.js", scorer(page_of()))
    for name, table in (("names", page_of()), ("canonical", canonical())):
        text, kept = json.dumps(table, indent=0), BUILD / f"{name}.json"
        if kept.exists() and kept.read_text(encoding="utf-8") != text:
            # links on every page may lead elsewhere now, which Sphinx cannot see
            shutil.rmtree(BUILD / "doctrees", ignore_errors=True)
        write(kept, text)
    gone = {*SOURCE.rglob("*"), *(BUILD / "examples").glob("*")} - written
    scripts = {p.stem for p in examples.scripts()} | {"index"}
    for path in sorted(
        gone
    ):  # what Sphinx-Gallery made of our scripts stays: it writes what changes
        made = path.parent.name in ("gallery", "examples") and path.stem in scripts
        if path.is_file() and not made and path.suffix in (".rst", ".md", ".py", ".ipynb"):
            path.unlink()


def build(out: Path, jobs: str) -> int:
    from sphinx.cmd.build import main as sphinx

    options = ["-b", "html", "-W", "--keep-going", "-q", "-j", jobs, "-d", str(BUILD / "doctrees")]
    status = sphinx([*options, str(SOURCE), str(out)])
    sources.write_pages(out)
    remove_stale(out)
    shutil.copytree(mathjax(), out / "_static" / "mathjax", dirs_exist_ok=True)
    print(f"site: {out / 'index.html'}")
    return status


def remove_stale(out: Path) -> None:
    """Sphinx leaves the pages of an earlier build whose source is gone."""
    for page in out.rglob("*.html"):
        place = page.relative_to(out).as_posix().removesuffix(".html")
        sphinx = "data-content_root=" in page.read_text(encoding="utf-8")[:400]
        sources_of = [SOURCE / f"{place}{suffix}" for suffix in (".md", ".rst")]
        if sphinx and place not in GENERATED and not any(s.exists() for s in sources_of):
            page.unlink()


def mathjax() -> Path:
    """What sets formulas, without its fonts: one file that writes SVG."""
    import importlib.util

    found = importlib.util.find_spec("sphinx-mathjax-offline")
    assert found and found.origin
    kept = BUILD / "mathjax"
    kept.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(found.origin).parent / "static" / "mathjax" / "tex-svg.js", kept)
    return kept


if __name__ == "__main__":
    sys.exit(main())
