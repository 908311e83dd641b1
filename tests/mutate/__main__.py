"""Mistakes made on purpose in the rules of operations, to see which of them the tests find.

    python -m tests.mutate [--op NAME] [--package P] [--jobs J] [--minutes M] [--json FILE]

Every rule (type, lower, jvp, transpose, batch) and every derivative rule of the domain packages is
changed in one place, by its syntax tree, in a copy of a process that has xcore and the tests loaded.
The tests that run the changed line are run there until one fails. Which test runs which line is
measured first and kept in ``build/mutate``, as are the results; ``benchmarks/MUTATIONS.md`` is the report.
"""

from __future__ import annotations

import argparse
import collections
import importlib
import os
import random
import re
import sys
import time

os.environ["XCORE_CACHE_DIR"] = os.environ.get("XCORE_MUTATE_CACHE", "build/mutate/cache")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("XCORE_CACHE_MAX_BYTES", str(4 << 30))

from tests.mutate import forks, live, report, session, targets
from tests.mutate.report import Mutant


def say(*words) -> None:
    print(*words, file=sys.stderr, flush=True)


def options(argv=None):
    p = argparse.ArgumentParser(prog="python -m tests.mutate", description=__doc__.splitlines()[0])
    p.add_argument("--op", action="append", default=[], help="only rules of this operation")
    p.add_argument("--package", action="append", default=[], choices=[*targets.TESTS])
    p.add_argument(
        "--tests", action="append", default=[], help="only these files of tests, for speed"
    )
    p.add_argument("--match", default="", help="only where file:function has this in it")
    p.add_argument("--jobs", type=int, default=1, help="processes at a time")
    p.add_argument("--minutes", type=float, default=float("inf"), help="begin no mutant after this")
    p.add_argument("--json", help="file of results (default: build/mutate/results.json)")
    p.add_argument("--budget", type=float, default=10.0, help="seconds of tests for one mutant")
    p.add_argument("--seed", type=int, default=0, help="of the order in which mutants are tried")
    p.add_argument("--sample", type=int, default=0, help="only so many, drawn by the seed")
    p.add_argument("--survivors", action="store_true", help="only those that survived before")
    p.add_argument("--unknown", action="store_true", help="only those that were not tried yet")
    p.add_argument(
        "--hurry",
        action="store_true",
        help="measure tests only when they have found a mistake; an operation's own are known by name",
    )
    p.add_argument("--measure", action="store_true", help="measure the tests, and try nothing")
    p.add_argument("--list", action="store_true", help="list what survived, and try nothing")
    p.add_argument(
        "--page", action="store_true", help="write the page from known results, and try nothing"
    )
    return p.parse_args(argv)


_GUESS = 0.3  # seconds of a test that was not measured
_LIKELY = {  # which tests find mistakes in a rule
    "type": "test_types", "lower": "test_values", "jvp": "derivatives", "transpose": "derivatives",
    "batch": "vmap",
}  # fmt: skip


def by_name(nodeids) -> dict:
    """The first word of a test's parameters → the tests; most rows are of an operation."""
    found: dict = collections.defaultdict(list)
    for n in nodeids:
        if "[" in n:
            found[re.split(r"[ \-\]]", n.split("[", 1)[1])[0]].append(n)
    return found


def in_parts(nodeids, most: int = 25) -> list[list[str]]:
    """Tests of one function stay together, some at a time."""
    groups: dict = collections.defaultdict(list)
    for n in nodeids:
        groups[n.split("[")[0]].append(n)
    return [g[i : i + most] for g in groups.values() for i in range(0, len(g), most)]


class Run:
    """All mutants of the chosen packages, and how they are tried."""

    def __init__(self, o):
        self.o, self.start = o, time.monotonic()
        self.packages = o.package or [*targets.TESTS]
        everything = [f for p in targets.TESTS for f in targets.files(p)]
        for path in everything:
            importlib.import_module(path[:-3].replace("/", "."))
        registry = importlib.import_module("xcore._core.op").registry
        self.owned = targets.owners(registry)
        self.living = live.functions_of(str(live.ROOT / "xcore"))
        self.sources, self.sites, self.mutants, self.watched = {}, {}, [], []
        for path in everything:
            self._read(path)
        self.found: dict = {}
        self.learn()
        self.killers: dict = collections.defaultdict(collections.Counter)

    def learn(self) -> None:
        """Take over what runs have found, this one or others."""
        known = report.load(self.o.json)
        for m in self.mutants:
            for name, value in known.get(m.key, {}).items():
                setattr(m, name, value if name != "line" else m.line)

    def _read(self, path: str) -> None:
        source = live.Source(path)
        chosen = targets.chosen(source, self.owned)
        if not chosen:
            return
        self.sources[path] = source
        self.watched.append(path)
        assert source.originals  # made here once, not in each copy
        rules = {source.names[f]: targets.owner_of(source, f, self.owned) for f in chosen}
        seen: collections.Counter = collections.Counter()
        for site in source.sites(chosen):
            owned = rules.get(site.function, [])
            rule = owned[0].split(".")[-1] if owned else "derivative"
            names = list(dict.fromkeys(r.rsplit(".", 1)[0] for r in owned))
            same = site.function, site.kind, site.text
            m = Mutant(
                path, site.line, site.function, site.kind, site.text, seen[same], rule, names
            )
            seen[same] += 1
            self.mutants.append(m)
            self.sites[m.key] = site

    def is_wanted(self, m: Mutant) -> bool:
        o = self.o
        if m.path.split("/")[1] not in self.packages or o.match not in f"{m.path}:{m.function}":
            return False
        if o.op and not set(o.op) & set(m.ops):
            return False
        if not (o.unknown or o.survivors):
            return True
        return (o.unknown and not m.status) or (
            o.survivors and m.verdict in ("survived", "not run")
        )

    # Tests

    def tests(self) -> list[str]:
        return self.o.tests or [t for p in self.packages for t in targets.TESTS[p]]

    def __call__(self, s) -> None:
        nodeids = self._collected(s)
        map_ = session.Map(self.watched)
        if not self.o.hurry:
            self._measure(s, map_, nodeids)
        self.map, known = map_, [n for n in nodeids if n in map_.tests]
        self.by_line, self.beside = map_.by_line(known), collections.defaultdict(list)
        for n in known:
            self.beside[n.split("[")[0]].append(n)
        self.seconds = {n: map_.tests[n]["seconds"] for n in known}
        self.by_name = by_name([n for n in nodeids if n not in map_.tests])
        bad = [n for n in known if not map_.tests[n]["good"]]
        say(f"{len(nodeids)} tests, {len(bad)} of which fail alone and are left out", *bad[:9])
        if not self.o.measure:
            self._try(s)

    def _collected(self, s) -> list[str]:
        nodeids = list(s.items)
        for _, found, _ in forks.run(self.loud, s.collected, jobs=self.o.jobs, limit=lambda _: 120):
            nodeids += found if isinstance(found, list) else []
        return nodeids

    def _measure(self, s, map_, nodeids) -> None:
        stale = [n for n in nodeids if not map_.is_fresh(n)]
        if stale:
            say(f"measuring which lines {len(stale)} tests run …")
        last = time.monotonic()
        for names, found, _ in forks.run(
            in_parts(stale),
            lambda names: map_.measure(s, names),
            jobs=self.o.jobs,
            limit=lambda _: 400,
        ):
            for k, nodeid in enumerate(names):
                map_.store(nodeid, found if isinstance(found, str) else found[k])
            if time.monotonic() - last > 30:
                map_.save()
                last = time.monotonic()
        map_.save()

    def _candidates(self, m: Mutant) -> list[str]:
        """Tests that run the mutant's line, or the nearest line of its function above it."""
        for line in range(m.line, self.sites[m.key].start - 1, -1):
            found = self.by_line.get((m.path, line))
            if found:
                functions = dict.fromkeys(n.split("[")[0] for n in found)
                return list(
                    dict.fromkeys([*found, *(n for f in functions for n in self.beside[f])])
                )
        return []

    def _chosen(self, m: Mutant) -> list[str]:
        """In the order to try: what killed others there, the operation's own, then some of each test."""
        groups: dict = collections.defaultdict(list)
        for n in self._candidates(m):
            groups[n.split("[")[0]].append(n)
        own = tuple(f"[{name}{end}" for name in m.ops for end in (" ", "-", "]"))
        rows = [(1, i, _GUESS, n) for i, n in enumerate(self._unmeasured(m))]
        for g in groups.values():
            mine = [n for n in g if any(o in n for o in own)]
            others = [n for n in g if n not in mine]
            rows += [(0, 0, self.seconds[n], n) for n in mine]
            rows += [(2 * (i > 0), i, self.seconds[n], n) for i, n in enumerate(others)]
        rows.sort()
        first = [n for n, _ in self.killers[m.path, m.function].most_common(3)]
        order = [n for *_, n in rows]
        order = list(dict.fromkeys([*(n for n in first if n in set(order)), *order]))
        chosen, total = [], 0.0
        for n in order:
            total += self.seconds.get(n, _GUESS)
            if total > 2 * self.o.budget and chosen:
                break
            chosen.append(n)
        return chosen

    def _unmeasured(self, m: Mutant) -> list[str]:
        """The operation's own tests, or those of a few where the rule is shared, likely ones first."""
        names = [n for n in m.ops if n in self.by_name]
        names = random.Random(m.key).sample(names, min(len(names), 6))
        found = [n for name in names for n in self.by_name[name]]
        return sorted(found, key=lambda n: _LIKELY.get(m.rule, "") not in n)

    def _is_good(self, s, nodeid: str) -> bool:
        """Whether a test passes where no mistake was made."""
        if nodeid not in self.map.tests:
            work = lambda names: self.map.measure(s, names)
            for _, found, _ in forks.run([[nodeid]], work, jobs=1, limit=lambda _: 240):
                self.map.store(nodeid, found if isinstance(found, str) else found[0])
        return self.map.tests[nodeid]["good"]

    # Mutants

    def _try(self, s) -> None:
        wanted = [m for m in self.mutants if self.is_wanted(m)]
        random.Random(self.o.seed).shuffle(wanted)
        wanted = wanted[: self.o.sample or None]
        say(f"{len(wanted)} mutants")
        until = self.start + 60 * self.o.minutes
        last = time.monotonic()
        for i, (task, found, seconds) in enumerate(
            forks.run(
                self._tasks(wanted),
                lambda t: self._one(s, *t),
                jobs=self.o.jobs,
                limit=lambda t: 30 + 4 * self.o.budget,
                until=until,
            )
        ):
            m, _ = task
            m.seconds = round(seconds, 2)
            m.status, m.by = (found, "") if isinstance(found, str) else found
            if m.status == "killed" and not self._is_good(s, m.by):
                m.status, m.by = "", ""
                continue
            if m.status == "killed":
                self.killers[m.path, m.function][m.by] += 1
            self.found[m.key] = report.outcome(m)
            if m.verdict == "survived":
                say(f"survived {m.path}:{m.line} {m.function}: {m.kind}: {m.text}")
            if time.monotonic() - last > 30:
                last = time.monotonic()
                self._save()
                say(f"… {i + 1} of {len(wanted)}")
        self._save()

    def _save(self) -> None:
        report.save(self.found, self.o.json)
        self.map.save()

    def _tasks(self, wanted):
        for m in wanted:
            tests = self._chosen(m)
            if tests:
                yield m, tests
            elif not (self.o.hurry or self.o.tests):  # else too little is known
                m.status, m.by = "not run", ""
                self.found[m.key] = report.outcome(m)

    def _one(self, s, m: Mutant, tests) -> tuple[str, str]:
        """In a copy: make the mistake, run the tests until one fails."""
        if not self.sources[m.path].exchange(self.sites[m.key], self.living):
            return "not run", ""
        start = time.process_time()  # on a busy machine as many tests are run as on an idle one
        for n in tests:
            if not s.passes(n):
                return "killed", n
            if time.process_time() - start > self.o.budget:
                break
        return "survived", ""


def main() -> None:
    o = options()
    run = Run(o)
    if o.list:
        for m in run.mutants:
            if run.is_wanted(m) and m.verdict in ("survived", "not run"):
                print(f"{m.path}:{m.line} {m.function} [{m.status}] {m.kind}: {m.text}")
        return
    if not o.page:
        quiet, run.loud = session.starters(run.tests())
        say(f"{len(quiet)} test files here, {len(run.loud)} in copies")
        session.start(quiet, run)
    run.learn()
    report.PAGE.write_text(report.page(run.mutants, report.earlier()))
    wanted = [m for m in run.mutants if run.is_wanted(m) and m.status]
    counts = collections.Counter(m.verdict for m in wanted)
    say(", ".join(f"{n} {what}" for what, n in counts.most_common()))


if __name__ == "__main__":
    main()
