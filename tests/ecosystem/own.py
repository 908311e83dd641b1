"""The tests that libraries ship, on xcore and under JAX: which pass there and not here.

    python tests/ecosystem/own.py FOLDER --fetch      source distributions of the libraries that are installed
    python tests/ecosystem/own.py FOLDER              all files of FILES, in the environment of make test-ecosystem
    python tests/ecosystem/own.py FOLDER optax "flax/tests/core/*"     some of them; --new: those that have not run
    python tests/ecosystem/own.py FOLDER flax --again     what failed here before
    python tests/ecosystem/own.py FOLDER --table      counts and differences of what has run

Of a test with many parameters OWN_MOST cases are run, evenly spaced, each for OWN_EACH seconds at most. What fails here
runs under JAX too. OWN_TOGETHER files share a process, which has OWN_SECONDS for each of them.
"""

from __future__ import annotations

import collections
import fnmatch
import importlib.metadata
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

SIDES = {"xcore": ["-m", "xcore.as_jax"], "jax": []}
SECONDS, EACH, MOST, TOGETHER = (
    int(os.environ.get(f"OWN_{name}", usual))
    for name, usual in (("SECONDS", 60), ("EACH", 40), ("MOST", 4), ("TOGETHER", 8))
)
HERE = Path(__file__).resolve().parent
FILES = """
chex/_src/*_test.py
optax/_src/*_test.py optax/*/*_test.py
distrax/_src/*/*_test.py
dm_haiku/haiku/_src/*_test.py
flax/tests/*_test.py flax/tests/core/*_test.py flax/tests/core/design/*_test.py flax/tests/linen/*_test.py
flax/tests/nnx/*_test.py flax/tests/nnx/nn/*_test.py
blackjax/tests/*/test_*.py
tinygp/tests/**/test_*.py
e3nn_jax/tests/**/*_test.py e3nn_jax/tests/**/test_*.py
penzai/tests/**/*_test.py
dynamax/**/*_test.py dynamax/**/test_*.py
matfree/tests/**/test_*.py
scico/test/**/test_*.py
quimb/tests/**/test_*.py
autoray/tests/test_*.py
gpjax/tests/**/test_*.py
jax_md/tests/*_test.py
kfac_jax/tests/test_*.py
rlax/_src/*_test.py
jmp/_src/*_test.py
mctx/_src/tests/*_test.py
jraph/_src/*_test.py
rax/_src/*_test.py
dm_pix/_src/*_test.py
jaxlie/tests/test_*.py
interpax/tests/test_*.py
flowjax/tests/**/test_*.py
gymnax/tests/**/test_*.py
nifty8/test/test_re/test_*.py
jax_galsim/tests/jax/test_*.py
brax/**/*_test.py
keras/keras/src/*/*_test.py keras/keras/src/*/*/*_test.py
numpyro/test/test_*.py
cola_ml/tests/**/test_*.py
jax_cosmo/tests/test_*.py
coix/coix/*_test.py
tree_math/tree_math/_src/*_test.py
mujoco_mjx/mujoco/mjx/_src/*_test.py
sbijax/sbijax/**/*_test.py
jaxley/tests/test_*.py
orthax/tests/test_*.py
probdiffeq/tests/**/test_*.py
quadax/tests/test_*.py
s2fft/tests/test_*.py
flowmc/tests/**/test_*.py
traceax/tests/test_*.py
""".split()

# What pytest loads (-p own): it chooses tests, and writes a line for each as it ends.


def pytest_collection_modifyitems(config, items):
    wanted = os.environ.get("OWN_WANTED")
    if wanted:
        names = set(json.loads(Path(wanted).read_text()))
        items[:] = [i for i in items if {i.nodeid, file_of(i.nodeid)} & names]
        if not any(n.endswith(".py") for n in names):
            return
    cases = collections.defaultdict(list)
    for item in items:
        cases[re.sub(r"(\[.*|_?\d+)$", "", item.nodeid, flags=re.S)].append(item)
    kept = set()
    for group in cases.values():
        step = max(1.0, len(group) / MOST)
        kept.update(group[int(i * step)].nodeid for i in range(min(len(group), MOST)))
    items[:] = [i for i in items if i.nodeid in kept]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """A test that takes longer is skipped, as one of which nothing is known."""

    def stop(*_):
        pytest.skip(f"longer than {EACH} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(EACH)
    try:
        return (yield)
    finally:
        signal.alarm(0)


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        note(report.nodeid, report.outcome, report)


def pytest_collectreport(report):
    """A file that cannot be imported is one that failed; its tests are those that JAX finds in it."""
    if report.nodeid.endswith(".py"):
        note(report.nodeid, "collected" if report.passed else report.outcome, report)


def note(name, outcome, report):
    place = getattr(report.longrepr, "reprcrash", None)
    text = str(report.longrepr or "")[-6000:]
    line = [name, outcome, place.message if place else text[-300:]]
    with open(os.environ["OWN_RESULTS"], "a") as f:
        f.write(json.dumps([*line, text]) + "\n")


# What runs pytest


def file_of(name: str) -> str:
    return name.partition("::")[0]


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


def kept(folder: Path, side: str, library: str) -> Path:
    return folder / "own" / f"{library}.{side}.jsonl"


def outcomes(path: Path) -> dict:
    """The last outcome of each test, with the message and the text of a failure; one of its parts is one of it."""
    found: dict = {}
    part = ""  # the test of which a part has failed
    for line in path.read_text().splitlines() if path.exists() else ():
        name, *outcome = json.loads(line)
        if part != name or outcome[0] in ("failed", "collected"):
            found[name] = outcome
        part = name if outcome[0] == "failed" else ""
    return found


def names(results: dict, outcome: str, files=None) -> list:
    """The tests that ended so, of some files."""
    wanted = files and {str(f) for f in files}
    return [
        n
        for n, found in results.items()
        if found[0] == outcome and (not wanted or file_of(n) in wanted)
    ]


def run(folder: Path, library: str, files, side: str, again: bool = False) -> None:
    results = kept(folder, side, library)
    results.parent.mkdir(parents=True, exist_ok=True)
    variables = {
        "OWN_RESULTS": str(results), "PYTHONPATH": f"{HERE.parents[1]}:{HERE}", "JAX_PLATFORMS": "cpu",
        "KERAS_BACKEND": "jax",
    }  # fmt: skip
    if side == "jax" or again:
        bad = names(outcomes(kept(folder, "xcore", library)), "failed", files)
        if side == "jax":  # what has run there has not changed since
            bad = [n for n in bad if n not in outcomes(results)]
        if not bad:
            return
        wanted = results.with_suffix(".wanted")
        wanted.write_text(json.dumps(bad))
        variables["OWN_WANTED"] = str(wanted)
        files = sorted({file_of(n) for n in bad})
    command = [
        sys.executable, *SIDES[side], "-m", "pytest", "-q", "-p", "own", "-p", "no:cacheprovider",
        "--rootdir", ".", "-o", "pythonpath=tests", "--confcutdir", ".", "-c", os.devnull, "--continue-on-collection-errors", *map(str, files),
    ]  # fmt: skip
    with results.with_suffix(".log").open("a") as log:
        try:
            subprocess.run(
                command, cwd=folder / library, env={**os.environ, **variables}, stdout=log,
                stderr=log, timeout=SECONDS * len(files),
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            log.write("\nended by the time limit\n")


def together(files) -> list[list]:
    """Files that one process runs; those that change settings or devices are alone."""
    alone = [f for f in files if re.search("float64|x64|fake|shard|multi|variants", str(f))]
    rest = [f for f in files if f not in alone]
    chunks = [rest[i : i + TOGETHER] for i in range(0, len(rest), TOGETHER)]
    return chunks + [[f] for f in alone]


def chosen(folder: Path, patterns) -> list[Path]:
    """The files of FILES, whose first part may lack its version, that one of the patterns is for."""
    found = []
    for row in FILES:
        library, _, rest = row.partition("/")
        for top in sorted(folder.glob(f"{library.replace('_', '[-_]')}-*")):
            places = [f"{library}/{rest}", rest] if library != "dm_haiku" else [rest]
            found += [p for place in places for p in sorted(top.glob(place)) if p not in found]
    names = {f: re.sub(r"^([^/]*)-[\d.]+/", r"\1/", str(f.relative_to(folder))) for f in found}
    if not patterns:
        return found
    return [
        f for f in found if any(p in names[f] or fnmatch.fnmatch(names[f], p) for p in patterns)
    ]


def by_library(folder: Path, files) -> dict:
    found = collections.defaultdict(list)
    for f in files:
        library, *rest = f.relative_to(folder).parts
        found[library].append(Path(*rest))
    return found


def table(folder: Path, files) -> None:
    rows = []
    for library, chosen_files in by_library(folder, files).items():
        here, there = (outcomes(kept(folder, side, library)) for side in SIDES)
        bad = names(there, "passed", chosen_files)
        here |= {n: here[file_of(n)] for n in bad if n not in here and file_of(n) in here}
        bad = [n for n in bad if here.get(n, ("",))[0] == "failed"]
        good = names(here, "passed", chosen_files)
        for n in bad:
            print(n, "|", here[n][1].strip().replace("\n", " ")[:230])
        ran = {file_of(n) for n in here} & {str(f) for f in chosen_files}
        total = len(good) + len(bad)
        rows.append(
            (library, len(ran), total, len(good), f"{100 * len(good) / max(total, 1):.1f} %")
        )
    print("library | files | passed here or with JAX | passed here")
    for row in rows:
        print(" | ".join(map(str, row)))


def main() -> None:
    folder, *patterns = sys.argv[1:]
    folder = Path(folder).resolve()
    if "--fetch" in patterns:
        return fetch(folder)
    files = chosen(folder, [p for p in patterns if not p.startswith("--")])
    for library, mine in by_library(folder, files).items() if "--table" not in patterns else ():
        if "--new" in patterns:
            ran = {file_of(n) for n in outcomes(kept(folder, "xcore", library))}
            mine = [f for f in mine if str(f) not in ran]
        for chunk in together(mine):
            for side in SIDES:
                run(folder, library, chunk, side, "--again" in patterns)
    return table(folder, files)


if __name__ == "__main__":
    main()
