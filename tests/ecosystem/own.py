"""The tests that libraries ship, under JAX and on xcore: which pass there and not here.

    python tests/ecosystem/own.py FOLDER --fetch      source distributions of the libraries that are installed
    python tests/ecosystem/own.py FOLDER              all files of FILES, in the environment of make test-ecosystem
    python tests/ecosystem/own.py FOLDER optax "flax/tests/core/*"     some of them; --jax or --xcore: one side
    python tests/ecosystem/own.py FOLDER --table      counts and differences of what has run

Of a test with many parameters OWN_MOST cases are run, evenly spaced. Under xcore run those tests that passed with
JAX, as many as end in OWN_SECONDS per file.
"""

from __future__ import annotations

import collections
import fnmatch
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

SIDES = {"jax": [], "xcore": ["-m", "xcore.as_jax"]}
SECONDS, MOST = int(os.environ.get("OWN_SECONDS", "240")), int(os.environ.get("OWN_MOST", "12"))
HERE = Path(__file__).resolve().parent
FILES = """
chex/_src/*_test.py
optax/_src/*_test.py optax/*/*_test.py
distrax/_src/*/*_test.py
dm_haiku/haiku/_src/*_test.py
flax/tests/*_test.py flax/tests/core/*_test.py flax/tests/core/design/*_test.py flax/tests/linen/*_test.py
flax/tests/nnx/*_test.py flax/tests/nnx/nn/*_test.py
blackjax/tests/*/test_*.py
numpyro/test/test_*.py
""".split()

# What pytest loads (-p own): it chooses tests, and writes a line for each as it ends.


def pytest_collection_modifyitems(config, items):
    wanted = os.environ.get("OWN_WANTED")
    if wanted:
        names = set(json.loads(Path(wanted).read_text()))
        items[:] = [i for i in items if i.nodeid in names]
        return
    cases = collections.defaultdict(list)
    for item in items:
        cases[re.sub(r"(\[.*|_?\d+)$", "", item.nodeid, flags=re.S)].append(item)
    kept = set()
    for group in cases.values():
        step = max(1.0, len(group) / MOST)
        kept.update(group[int(i * step)].nodeid for i in range(min(len(group), MOST)))
    items[:] = [i for i in items if i.nodeid in kept]


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        place = getattr(report.longrepr, "reprcrash", None)
        line = [report.nodeid, report.outcome, place.message if place else ""]
        with open(os.environ["OWN_RESULTS"], "a") as f:
            f.write(json.dumps([*line, str(report.longrepr or "")[-6000:]]) + "\n")


# What runs pytest


def fetch(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for library in sorted({row.partition("/")[0] for row in FILES}):
        name = library.replace("_", "-")
        wanted = f"{name}=={importlib.metadata.version(name)}"
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-binary",
            ":all:",
            "--no-deps",
        ]
        subprocess.run([*command, wanted, "-d", str(folder)], check=True)
    for file in folder.glob("*.tar.gz"):
        with tarfile.open(file) as f:
            f.extractall(folder, filter="data")


def kept(folder: Path, side: str, file: Path) -> Path:
    name = str(file.relative_to(folder)).replace("/", "+")
    return folder / "own" / side / f"{name}.jsonl"


def outcomes(path: Path) -> dict:
    """The last outcome of each test, a failure before all others."""
    found: dict = {}
    if path.exists():
        for line in path.read_text().splitlines():
            name, outcome, message, text = json.loads(line)
            if found.get(name, ("",))[0] != "failed":
                found[name] = outcome, message, text
    return found


def passed(folder: Path, file: Path) -> list:
    return [n for n, o in outcomes(kept(folder, "jax", file)).items() if o[0] == "passed"]


def run(folder: Path, file: Path, side: str) -> None:
    results = kept(folder, side, file)
    results.parent.mkdir(parents=True, exist_ok=True)
    results.unlink(missing_ok=True)
    top = folder / file.relative_to(folder).parts[0]
    variables = {
        "OWN_RESULTS": str(results), "PYTHONPATH": f"{HERE.parents[1]}:{HERE}", "JAX_PLATFORMS": "cpu",
    }  # fmt: skip
    if side == "xcore":
        wanted = results.with_suffix(".wanted")
        wanted.write_text(json.dumps(passed(folder, file)))
        variables["OWN_WANTED"] = str(wanted)
    command = [
        sys.executable, *SIDES[side], "-m", "pytest", "-q", "-p", "own", "-p", "no:cacheprovider",
        "-o", "addopts=", "--continue-on-collection-errors", str(file.relative_to(top)),
    ]  # fmt: skip
    with results.with_suffix(".log").open("w") as log:
        try:
            subprocess.run(
                command, cwd=top, env={**os.environ, **variables}, stdout=log, stderr=log,
                timeout=SECONDS,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            log.write("\nended by the time limit\n")


def chosen(folder: Path, patterns) -> list[Path]:
    """The files of FILES, whose first part may lack its version, that one of the patterns is for."""
    found = []
    for row in FILES:
        library, _, rest = row.partition("/")
        for top in sorted(folder.glob(f"{library}-*")):
            places = [f"{library}/{rest}", rest] if library != "dm_haiku" else [rest]
            found += [p for place in places for p in sorted(top.glob(place)) if p not in found]
    names = {f: re.sub(r"^([^/]*)-[\d.]+/", r"\1/", str(f.relative_to(folder))) for f in found}
    if not patterns:
        return found
    return [
        f for f in found if any(p in names[f] or fnmatch.fnmatch(names[f], p) for p in patterns)
    ]


def table(folder: Path, files) -> None:
    rows = collections.defaultdict(lambda: [0, 0, 0, 0])
    for file in files:
        there, here = passed(folder, file), outcomes(kept(folder, "xcore", file))
        if not there or not here:
            continue
        row = rows[file.relative_to(folder).parts[0]]
        ended = [n for n in there if n in here]
        bad = [n for n in ended if here[n][0] == "failed"]
        for i, x in enumerate((1, len(there), len(ended), len(ended) - len(bad))):
            row[i] += x
        for n in bad:
            print(n, "|", here[n][1].strip().replace("\n", " ")[:230])
    print("library | files | passed with JAX | of these ended here | passed here")
    for name, row in sorted(rows.items()):
        print(" | ".join(map(str, [name, *row])), f"| {100 * row[3] / max(row[2], 1):.1f} %")


def main() -> None:
    folder, *patterns = sys.argv[1:]
    folder = Path(folder).resolve()
    if "--fetch" in patterns:
        return fetch(folder)
    show = "--table" in patterns
    sides = [s for s in SIDES if f"--{s}" in patterns] or [*SIDES]
    files = chosen(folder, [p for p in patterns if not p.startswith("--")])
    for file in [] if show else files:
        for side in sides:
            run(folder, file, side)
    return table(folder, files)


if __name__ == "__main__":
    main()
