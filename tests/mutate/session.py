"""One session of pytest whose tests are run in copies of it: first as they are, then beside mistakes."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import sys
import threading
import time
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

from tests.mutate.live import ROOT

STORE = ROOT / "build" / "mutate"


def digest(path: str) -> str:
    return hashlib.blake2b((ROOT / path).read_bytes(), digest_size=8).hexdigest()


def by_content() -> None:
    """Let the cache of executables on disk know programs by their StableHLO.

    It knows them by their operations and by the source files otherwise, and a mistake that is made in
    memory in how an operation is lowered changes neither.
    """
    from xcore._backend import cache
    from xcore._core import compile as compiler

    before = compiler._disk_name
    cache._source_files = lambda root, prefix="": []
    lowering = compiler.lowering()

    def name(p, devices, donors, layout):
        platform = compiler.backend.platform_of(devices[0])
        with lowering.lowered(p, platform, donors=donors, verify=True, layout=layout) as ctx:
            text = str(ctx.module) + str([getattr(c, "key", c) for c in ctx.callbacks])
        key = text + before(p, devices, donors, layout)
        return hashlib.sha256(key.encode()).hexdigest()

    compiler._disk_name = name


class Session:
    """The plugin: collects, and hands over to ``work(session)`` where pytest would run the tests."""

    def __init__(self, work):
        self.work, self.session, self.items = work, None, {}

    def pytest_runtestloop(self, session):
        import hypothesis

        hypothesis.settings.register_profile(
            "mutate", parent=hypothesis.settings.get_profile("xcore"), database=None
        )
        hypothesis.settings.load_profile("mutate")
        by_content()
        session.config._tmp_path_factory.getbasetemp()
        self.session, self.items = session, {i.nodeid: i for i in session.items}
        _no_client()
        gc.collect()
        gc.freeze()
        self.work(self)
        return True

    def item(self, nodeid: str):
        """A test; one of a file that starts the client when it is imported is collected here."""
        found = self.items.get(nodeid)
        if found is None:
            path = nodeid.split("::")[0]
            for item in self.session.perform_collect([path], genitems=True):
                self.items[item.nodeid] = item
            found = self.items[nodeid]
        return found

    def passes(self, nodeid: str) -> bool:
        item = self.item(nodeid)
        reports = runtestprotocol(item, log=False, nextitem=None)
        return not any(r.failed for r in reports)

    def collected(self, path: str) -> list[str]:
        return [i.nodeid for i in self.session.perform_collect([path], genitems=True)]


def _no_client() -> None:
    from xcore._backend import client

    if client.has_started():
        raise RuntimeError("a test file has started XLA's client: this process cannot be copied")


def start(paths, work) -> None:
    options = [
        "-q",
        "-s",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--no-header",
        "-W",
        "ignore",
    ]
    options += ["-o", "addopts=--import-mode=importlib", "-o", "tmp_path_retention_policy=none"]
    paths = paths or ["tests/mutate/test_mutate.py"]  # without any, pytest would collect them all
    code = pytest.main([*options, *paths], plugins=[Session(work)])
    if code not in (0, 5):
        raise SystemExit(f"pytest could not collect the tests ({code})")


# Which test runs what


def _files(paths) -> list[str]:
    found = []
    for p in paths:
        place = ROOT / p
        found += sorted(place.rglob("test_*.py")) if place.is_dir() else [place]
    return list(dict.fromkeys(f.relative_to(ROOT).as_posix() for f in found))


def starters(paths) -> tuple[list[str], list[str]]:
    """Test files that can be imported without starting the client, and those that cannot."""
    known_file = STORE / "starters.json"
    known = json.loads(known_file.read_text()) if known_file.exists() else {}
    quiet, loud = [], []
    for path in _files(paths):
        key = f"{path} {digest(path)}"
        if key not in known:
            known[key] = _starts(path)
        (loud if known[key] else quiet).append(path)
    STORE.mkdir(parents=True, exist_ok=True)
    known_file.write_text(json.dumps(known))
    return quiet, loud


def _starts(path: str) -> bool:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            import importlib.util

            from xcore._backend import client

            name = path[:-3].replace("/", ".")
            spec = importlib.util.spec_from_file_location(name, ROOT / path)
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
            code = int(client.has_started())
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0


def _packages(paths) -> set[str]:
    return {p.split("/")[1] for p in paths}


class Map:
    """For each test: how long it takes, which lines of which rule files it runs; kept between runs."""

    def __init__(self, watched):
        self.watched = {str(ROOT / p): p for p in watched}
        self.file = STORE / "map.json"
        found = json.loads(self.file.read_text()) if self.file.exists() else {}
        self.lists = found.get("watched", {})  # by their digests: what was watched then
        self.tests = found.get("tests", {})
        self.digests = {p: digest(p) for p in watched}
        self.names = hashlib.blake2b(repr(sorted(watched)).encode(), digest_size=8).hexdigest()
        self.lists[self.names] = sorted(watched)
        self._tests: dict = {}
        self._new: dict = {}

    def is_fresh(self, nodeid: str) -> bool:
        known = self.tests.get(nodeid)
        if known is None or known["self"] != self._own(nodeid):
            return False
        new = set(self.watched.values()) - set(self.lists.get(known["watched"], ()))
        if _packages(new) & _packages(known["lines"]):
            return False
        return all(self.digests.get(p, d) == d for p, (d, _) in known["lines"].items())

    def _own(self, nodeid: str) -> str:
        path = nodeid.split("::")[0]
        if path not in self._tests:
            self._tests[path] = digest(path)
        return self._tests[path]

    def measure(self, session, nodeids) -> list[dict]:
        """Run in a copy: some tests, line by line in the watched files.

        What an earlier one has traced or compiled a later one does not run again: of the tests of a
        copy one at least is known to run a line.
        """
        seen: dict = {}

        def local(frame, event, arg):
            if event == "line":
                seen.setdefault(frame.f_code.co_filename, set()).add(frame.f_lineno)
            return local

        def watch(frame, event, arg):
            name = frame.f_code.co_filename
            if name not in self.watched:
                return None
            seen.setdefault(name, set()).add(frame.f_lineno)
            return local

        found = []
        for nodeid in nodeids:
            session.item(nodeid)
            seen.clear()
            threading.settrace(watch)
            start = time.process_time()
            sys.settrace(watch)
            try:
                good = session.passes(nodeid)
            finally:
                sys.settrace(None)
            lines = {k: sorted(v) for k, v in seen.items()}
            found.append({"good": good, "seconds": time.process_time() - start, "lines": lines})
        return found

    def store(self, nodeid: str, found) -> None:
        if isinstance(found, str):
            found = {"good": False, "seconds": 1e3, "lines": {}}
        lines = {
            self.watched[k]: (self.digests[self.watched[k]], v) for k, v in found["lines"].items()
        }
        self.tests[nodeid] = self._new[nodeid] = {
            "self": self._own(nodeid), "good": found["good"], "lines": lines,
            "seconds": round(found["seconds"], 3), "watched": self.names,
        }  # fmt: skip

    def save(self) -> None:
        """Beside what another run has measured in the meantime."""
        STORE.mkdir(parents=True, exist_ok=True)
        if self.file.exists():
            found = json.loads(self.file.read_text())
            self.lists = found["watched"] | self.lists
            self.tests = self.tests | found["tests"] | self._new
        temporary = Path(f"{self.file}.{os.getpid()}")
        temporary.write_text(json.dumps({"watched": self.lists, "tests": self.tests}))
        temporary.replace(self.file)

    def by_line(self, nodeids) -> dict:
        """(file, line) → the tests that run it, fast ones first."""
        found: dict = {}
        for nodeid in sorted(nodeids, key=lambda n: self.tests[n]["seconds"]):
            for path, (known, lines) in self.tests[nodeid]["lines"].items():
                if self.tests[nodeid]["good"] and known == self.digests.get(path):
                    for line in lines:
                        found.setdefault((path, line), []).append(nodeid)
        return found
