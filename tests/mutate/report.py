"""What was found: results kept between runs, and the page made of them."""

from __future__ import annotations

import collections
import datetime
import json
import os
import platform
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from tests.mutate.equivalent import reason
from tests.mutate.live import ROOT
from tests.mutate.session import STORE

PAGE = ROOT / "benchmarks" / "MUTATIONS.md"
KILLED = ("killed", "crash", "hang")


@dataclass
class Mutant:
    """A site in a file, and what became of it."""

    path: str
    line: int
    function: str
    kind: str
    text: str
    nth: int  # of those of the same text in the same function
    rule: str
    ops: list
    status: str = ""
    by: str = ""
    seconds: float = 0.0

    @property
    def key(self) -> str:
        return f"{self.path}|{self.function}|{self.kind}|{self.text}|{self.nth}"

    @property
    def verdict(self) -> str:
        """killed, equivalent, survived, not run (no test comes there) or unknown."""
        if self.status in KILLED:
            return "killed"
        if self.status and reason(self):
            return "equivalent"
        return self.status or "unknown"


def load(path=None) -> dict:
    """key → what is known of a mutant."""
    file = Path(path) if path else STORE / "results.json"
    return json.loads(file.read_text()) if file.exists() else {}


def save(new: dict, path=None) -> None:
    """Beside what another run has found in the meantime."""
    file = Path(path) if path else STORE / "results.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_suffix(f".{os.getpid()}")
    temporary.write_text(json.dumps(load(path) | new, indent=0))
    temporary.replace(file)


def outcome(m: Mutant) -> dict:
    return {k: v for k, v in asdict(m).items() if k in ("status", "by", "seconds", "line")}


def _row(name: str, mutants) -> str:
    found = collections.Counter(m.verdict for m in mutants)
    tried = sum(found.values()) - found["unknown"]
    real = tried - found["equivalent"]
    share = f"{100 * found['killed'] / real:.1f} %" if real else ""
    left = found["survived"] + found["not run"]
    return f"| {name} | {len(mutants)} | {tried} | {found['killed']} | {found['equivalent']} | {left} | {share} |"


def _table(title: str, groups: dict) -> list[str]:
    head = [f"| {title} | mutants | tried | killed | equivalent | survived | killed of the rest |"]
    rows = [_row(name, ms) for name, ms in sorted(groups.items()) if any(m.status for m in ms)]
    return [*head, "|---|--:|--:|--:|--:|--:|--:|", *rows, ""]


def _grouped(mutants, by) -> dict:
    groups: dict = collections.defaultdict(list)
    for m in mutants:
        groups[by(m)].append(m)
    return groups


def _shown(text: str) -> str:
    return text.replace("|", "¦").replace("`", "'")


EARLIER = "\n## Until "  # begins what is told of results that are not kept any more


def earlier() -> str:
    """What the page tells of runs before: it stays, for their results may be gone."""
    text = PAGE.read_text() if PAGE.exists() else ""
    return text[text.index(EARLIER) :].lstrip() if EARLIER in text else ""


def page(mutants: list[Mutant], before: str = "") -> str:
    """The report as text, with that of runs before under it."""
    tried = [m for m in mutants if m.status]
    package = lambda m: m.path.split("/")[1]
    lines = [
        "# Mutations", "",
        "Written by `python -m tests.mutate`. A mutant is one small mistake in one rule: a sign, a factor, a",
        "term, an axis, an argument, a branch, a check. Each is made in memory and shown to the tests that",
        "run its line, until one fails. *Equivalent* are those that change nothing that can be seen;",
        "`tests/mutate/equivalent.py` says why, each in a line.", "",
        f"{len(mutants)} mutants, of which {len(tried)} were tried, drawn uniformly from some packages. What no",
        "table names was not tried. Survivors wait for a test, a reason, or a run of more tests."
        + (" Earlier runs, whose results were not kept, stand at the end." if before else ""), "",
        f"{datetime.date.today()}; {platform.machine()}, Python {platform.python_version()}, jaxlib {metadata.version('jaxlib')}.", "",
        *_table("package", {**_grouped(mutants, package), "**all**": mutants}),
        *_table("rule", _grouped(mutants, lambda m: m.rule)),
        *_table("kind", _grouped(mutants, lambda m: m.kind)),
        *_table("file", _grouped(mutants, lambda m: m.path)),
    ]  # fmt: skip
    left = [m for m in tried if m.verdict in ("survived", "not run")]
    if left:
        lines += ["## Survived", ""]
        for path, ms in sorted(_grouped(left, lambda m: m.path).items()):
            lines += [f"### {path}", ""]
            lines += [
                f"- {m.line}, `{m.function}`, {m.kind}: `{_shown(m.text)}`"
                + ("" if m.verdict == "survived" else " (no test comes here)")
                for m in sorted(ms, key=lambda m: m.line)
            ] + [""]
    return "\n".join([*lines, before]).rstrip() + "\n"
