"""Runs the numbered examples and writes build/gallery/index.html: what each says, prints and draws.

    python examples/gallery.py              all of them, two at a time
    python examples/gallery.py 04 heat      those whose name contains one of the words
    python examples/gallery.py --cached     runs only what has changed, or xcore has, since it last ran

Beside a script's folder of figures lies a record of its run, from which the site is built, too. Leaves
with status 1 when a script fails. Uses the standard library only.
"""

import argparse
import ast
import functools
import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent
PICTURES = {".png", ".svg", ".gif", ".webp", ".jpg"}


@dataclass(frozen=True)
class Run:
    """One script and what became of it."""

    script: Path
    output: str
    errors: str
    status: int
    seconds: float
    figures: tuple[Path, ...]
    memory: float = 0.0  # at its peak, in MB

    @property
    def ok(self) -> bool:
        return self.status == 0


def main(argv: list[str] | None = None) -> int:
    args = parse(argv)
    scripts = find(args.examples, args.words)
    if not scripts:
        print(f"no example matches {' '.join(args.words) or 'NN_*.py'} in {args.examples}")
        return 1
    args.out.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(args.jobs) as pool:
        runs = list(pool.map(lambda s: remembered(s, args), scripts))
    page = args.out / "index.html"
    page.write_text(render(runs, args.out), encoding="utf-8")
    failed = [r.script.name for r in runs if not r.ok]
    print(f"{len(runs) - len(failed)} of {len(runs)} examples ran; page: {page}")
    if failed:
        print("failed: " + ", ".join(failed))
    return int(bool(failed))


def parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Runs the numbered examples.")
    parser.add_argument("words", nargs="*", help="run scripts whose name contains one of these")
    parser.add_argument(
        "--cached", action="store_true", help="run only what changed since its last run"
    )
    parser.add_argument("--jobs", type=int, default=2, help="scripts run at a time")
    parser.add_argument("--timeout", type=float, default=600, help="seconds a script may take")
    parser.add_argument("--out", type=Path, default=Path("build/gallery"))
    parser.add_argument("--examples", type=Path, default=EXAMPLES)
    return parser.parse_args(argv)


def find(folder: Path, words: list[str]) -> list[Path]:
    scripts = sorted(folder.glob("[0-9][0-9]_*.py"))
    return [s for s in scripts if not words or any(w in s.stem for w in words)]


def run(script: Path, out: Path, timeout: float) -> Run:
    """Runs one script in a process of its own, with an empty folder for its figures."""
    folder = out / script.stem
    shutil.rmtree(folder, ignore_errors=True)
    env = dict(os.environ, MPLBACKEND="Agg", XCORE_GALLERY_DIR=str(out.resolve()))
    start = time.perf_counter()
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as told:
        child = subprocess.Popen([sys.executable, str(script)], env=env, stdout=said, stderr=told)
        late = threading.Event()
        watch = threading.Timer(timeout, lambda: (late.set(), child.kill()))
        watch.start()
        memory = wait(child)
        watch.cancel()
        seconds = time.perf_counter() - start
        output, errors = (f.seek(0) or f.read() for f in (said, told))
    status = 124 if late.is_set() else child.returncode
    errors = f"stopped after {timeout:g} s" if late.is_set() else errors
    return Run(script, output, errors, status, seconds, pictures(folder), memory)


def wait(child: subprocess.Popen) -> float:
    """Waits for a process and returns the memory it took at its peak, in MB; 0 where systems do not tell."""
    if not hasattr(os, "wait4"):
        child.wait()
        return 0.0
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def remembered(script: Path, args: argparse.Namespace) -> Run:
    """The run of a script: with --cached an earlier one of the same sources, if it ended well."""
    found = recorded(script, args.out) if args.cached else None
    key = args.out / f"{script.stem}.key"  # written last: not there where a run was broken off
    if found and found.ok and key.exists() and key.read_text() == digest(script):
        return found
    return record(report(run(script, args.out, args.timeout)), args.out)


def record(run: Run, out: Path) -> Run:
    """Writes what a run said beside the folder of its figures."""
    kept = {n: getattr(run, n) for n in ("output", "errors", "status", "seconds", "memory")}
    kept["figures"] = [p.name for p in run.figures]
    (out / f"{run.script.stem}.json").write_text(json.dumps(kept), encoding="utf-8")
    (out / f"{run.script.stem}.key").write_text(digest(run.script))
    return run


def recorded(script: Path, out: Path) -> Run | None:
    """The last run of a script, None if there is none or its figures are gone."""
    try:
        kept = json.loads((out / f"{script.stem}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    figures = tuple(out / script.stem / name for name in kept.pop("figures"))
    return Run(script, figures=figures, **kept) if all(p.exists() for p in figures) else None


def digest(script: Path) -> str:
    """Of all that a run depends on: the script, its helpers, and xcore."""
    helpers = sorted(script.parent.glob("_*.py"))
    digest = hashlib.sha256(library().encode())
    for path in (script, *helpers):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@functools.cache
def library() -> str:
    """Of xcore's sources."""
    digest = hashlib.sha256()
    for path in sorted((EXAMPLES.parent / "xcore").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def pictures(folder: Path) -> tuple[Path, ...]:
    """The figures in the order in which the script made them, without their copies for dark pages."""
    if not folder.is_dir():
        return ()
    found = [p for p in folder.iterdir() if p.suffix in PICTURES and ".dark" not in p.suffixes]
    return tuple(sorted(found, key=lambda p: (p.stat().st_mtime_ns, p.name)))


def report(run: Run) -> Run:
    """Says on the terminal how it went."""
    figures = f"{len(run.figures)} figures" if len(run.figures) != 1 else "1 figure"
    skipped = run.output.startswith("skipped: ")  # by _extras.needs
    state = "ok" if run.ok else f"FAILED with status {run.status}"
    state = run.output.strip() if run.ok and skipped else state
    lines = [f"{run.script.name:<40} {run.seconds:6.1f} s  {figures:<10}  {state}"]
    if not run.ok:
        lines += ["    " + line for line in run.errors.splitlines()[-20:]]
    print("\n".join(lines), flush=True)
    return run


# The page

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 54rem; margin: 2rem auto;
       padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 3rem; border-top: 1px solid #ddd; padding-top: 1rem; }
pre { background: #f6f6f4; padding: .8rem; overflow-x: auto; font-size: 13px; line-height: 1.4; }
code { background: #f6f6f4; padding: 0 .2em; } img { max-width: 100%; }
.note { color: #777; font-size: 14px; } .failed { color: #b00020; } summary { cursor: pointer; }
"""


def render(runs: list[Run], out: Path) -> str:
    contents = "\n".join(
        f'<li><a href="#{r.script.stem}">{html.escape(title(r.script))}</a>{mark(r)}</li>'
        for r in runs
    )
    sections = "\n".join(section(r, out) for r in runs)
    total = sum(r.seconds for r in runs)
    return (
        '<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>xcore: gallery</title>'
        f"<style>{STYLE}</style>\n<h1>xcore: gallery</h1>\n"
        f'<p class="note">{len(runs)} examples, {total:.0f} s of running. Each is a script of '
        f"<code>examples/</code> and can be run alone.</p>\n<ol>\n{contents}\n</ol>\n{sections}\n"
        "</html>\n"
    )


def section(run: Run, out: Path) -> str:
    parts = [
        f'<h2 id="{run.script.stem}">{html.escape(title(run.script))}{mark(run)}</h2>',
        f'<p class="note"><code>examples/{run.script.name}</code>, {run.seconds:.1f} s</p>',
        *map(paragraph, story(run.script)[1:]),
    ]
    if run.output:
        parts.append(f"<pre>{html.escape(run.output.rstrip())}</pre>")
    parts += [image(p.relative_to(out)) for p in run.figures]
    if not run.ok:
        parts.append(f'<pre class="failed">{html.escape(run.errors.rstrip())}</pre>')
    source = html.escape(run.script.read_text(encoding="utf-8"))
    parts.append(f"<details><summary>source</summary><pre>{source}</pre></details>")
    return "\n".join(parts)


def mark(run: Run) -> str:
    return "" if run.ok else ' <span class="failed">failed</span>'


def image(path: Path) -> str:
    return f'<p><img src="{html.escape(path.as_posix())}" alt="{html.escape(path.stem)}"></p>'


def story(script: Path) -> list[str]:
    """The paragraphs of the script's docstring; the first one is its title."""
    text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or script.stem
    first, _, rest = text.partition("\n")
    return [first, *(p for p in re.split(r"\n\s*\n", rest.strip("\n")) if p.strip())]


def title(script: Path) -> str:
    return f"{script.stem[:2]}. {story(script)[0].rstrip('.')}"


def paragraph(text: str) -> str:
    """A paragraph; indented ones keep their lines, `words in backticks` become code."""
    escaped = html.escape(text)
    if text.startswith("    "):
        return f"<pre>{escaped}</pre>"
    return "<p>" + re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped) + "</p>"


if __name__ == "__main__":
    raise SystemExit(main())
