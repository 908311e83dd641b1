"""Runs the benchmark scripts and writes their tables to benchmarks/RESULTS.md.

    python benchmarks/run.py                all of them
    python benchmarks/run.py core           one; the other sections of RESULTS.md stay

A section has one table for each processor, Python and jaxlib that was seen: a run adds its own, or replaces it.
Each script runs in a process of its own. Leaves with status 1 if a script or a case fails; a figure
over its bar is shown, not an error.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import HEAD, Row, line

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "RESULTS.md"
NOT_SCRIPTS = {"dieharder", "harness", "hock_schittkowski", "run", "scale_worker", "scores"}
PREFACE = """# Benchmark results

Written by `make bench`; how it is measured stands in `harness.py`. A ratio is ours / peer, the
median over interleaved rounds (the peer is jax where a line names no other); a bar is the most that
we allow ourselves. There is a table for each processor, Python and jaxlib that was seen.
"""
SEEN = re.compile(
    r"^\d{4}-\d\d-\d\d; .*?\((.+?)\), Python (\d+\.\d+).*?, jaxlib (\d+\.\d+)", re.MULTILINE
)


def main(names: list[str]) -> int:
    # an underscore at the end of a name keeps a script from hiding a module of that name
    found = {p.stem.rstrip("_"): p for p in sorted(FOLDER.glob("*.py"))}
    scripts = {name: p for name, p in found.items() if name not in NOT_SCRIPTS}
    unknown = set(names) - set(scripts)
    if unknown:
        print(f"no script named {', '.join(sorted(unknown))}; there are {', '.join(scripts)}")
        return 1
    sections = read(RESULTS)
    failed = False
    for name in names or scripts:
        print(f"== {name}", flush=True)
        report = run(scripts[name])
        if report is None:
            failed = True
            continue
        rows = [Row(**row) for row in report["rows"]]
        failed |= any(row.error for row in rows)
        tables = tables_of(sections.get(name, "")) | tables_of(table(report["facts"], rows))
        sections[name] = "\n".join([report["title"], *tables.values()])
        RESULTS.write_text(
            PREFACE + "".join(f"\n## {n}\n\n{sections[n]}" for n in sorted(sections))
        )
    return int(failed)


def run(script: Path) -> dict | None:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "rows.json"
        done = subprocess.run([sys.executable, str(script), "--json", str(out)])
        return json.loads(out.read_text()) if done.returncode == 0 and out.exists() else None


def table(facts: str, rows: list[Row]) -> str:
    barred = [row for row in rows if row.bar is not None or row.error]
    met = f"{sum(row.ok for row in barred)} of {len(barred)} at or under their bar."
    return "\n".join([f"{facts}.", "", HEAD, *map(line, rows), "", met, ""])


def tables_of(section: str) -> dict[tuple[str, ...], str]:
    """The tables of a section, by what they were measured on."""
    found = list(SEEN.finditer(section))
    ends = [m.start() for m in found[1:]] + [len(section)]
    return {
        m.groups(): section[m.start() : e].rstrip("\n") + "\n"
        for m, e in zip(found, ends, strict=True)
    }


def read(path: Path) -> dict[str, str]:
    """The sections that are there already, by script."""
    if not path.exists():
        return {}
    _, *parts = re.split(r"^## (\w+)\n\n", path.read_text(), flags=re.MULTILINE)
    return {
        name: text.rstrip("\n") + "\n" for name, text in zip(parts[::2], parts[1::2], strict=True)
    }


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
