"""What the records say: a summary, and the page."""

import collections
import datetime
import platform
import re
import statistics
import sys
from importlib import metadata

from tests.accuracy.matrices import DTYPES

_INTRO = """# The ledger of accuracy

Written by `make accuracy` (`python -m tests.accuracy`); not edited by hand. Every routine is run on families of
problems, in every dtype, as one problem, compiled, in a batch and under `vmap`. Residuals are computed by NumPy in a
wider type, references by mpmath, exact formulas or rotations in extended precision: never by xcore.

| | |
|---|---|
"""

_RATIOS = """## Largest ratios

A residual over n·eps and the norms of what was given, as in the tests of LAPACK; special functions: errors in units of the
last place. Each cell has the largest one, with its family and size. Some units are what rounding leaves; ∞ is a
result that is not finite where a finite one exists. "-": not asked for.
"""

_NOTES = """### Ratios that are large and known

- `lu`, growth: elimination with exchanges of rows lets elements grow by 2ⁿ on this family, everybody's does.
- `eig`, rows and columns: LAPACK scales the matrix before it iterates. Residuals are small for the scaled one, not
  beside the norm of the one that was given; the report's status says so, and trusts no digit.
"""

_CLAIMS = """## Claims

What routines say of their results: that they are good (ok, success), digits, bounds of errors, intervals. A claim is
false where an independent computation finds the result worse than claimed. *Unclaimed*: nothing was claimed, though it
would have been true. *Pessimism*: decimal digits between a bound and the truth, the median and the largest.
"""


def summary(entries) -> str:
    false = [f"{e.command()}   {e.what}: {e.words}" for e in entries if e.false]
    total, wrong = sum(e.claims for e in entries), sum(e.false for e in entries)
    told = [x for e in entries for x in e.pessimism]
    median = f"{statistics.median(told):.2f} digits" if told else "none"
    return "\n".join([*false, f"{total} claims, {wrong} false; median pessimism {median}"])


def text(entries, options, seconds) -> str:
    parts = [_INTRO + _facts(options, seconds, entries), "## Summary\n\n" + _totals(entries), _false(entries),
             _RATIOS + _ratios(entries), _NOTES,
             "## By family and way\n\n" + _by_family(entries) + "\n" + _by_way(entries),
             _CLAIMS + _claims(entries), _refused(entries)]  # fmt: skip
    return "\n".join(p.rstrip() + "\n" for p in parts)


# The head


def _facts(options, seconds, entries) -> str:
    rows = {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "processor": _processor(options), "system": f"{platform.system()}, Python {platform.python_version()}",
        "routines and dtypes": _complete(entries), "versions": ", ".join(f"{n} {metadata.version(n)}" for n in ("jaxlib", "numpy", "scipy", "mpmath")),
        "command": _command(options), "time": f"{seconds / 60:.0f} min" if seconds else "",
    }  # fmt: skip
    return "".join(f"| {k} | {v} |\n" for k, v in rows.items() if v)


def _complete(entries) -> str:
    """Whether every routine was run in every dtype that is asked of it."""
    from tests.accuracy.routines import ROUTINES

    asked = {(r.name, d) for r in ROUTINES for d in r.dtypes}
    missing = asked - {(e.routine, e.dtype) for e in entries}
    return f"all {len(asked)}" if not missing else f"{len(asked) - len(missing)} of {len(asked)}; the others were not run"  # fmt: skip


def _command(options) -> str:
    if options.load:
        return "parts of `python -m tests.accuracy` (`--save`), put together (`--load`)"
    return f"`python -m tests.accuracy {_arguments()}`" if _arguments() else "`make accuracy`"


def _arguments() -> str:
    """Without places of this machine."""
    return re.sub(r"--(save|load|write|jobs) \S+ ?", "", " ".join(sys.argv[1:])).strip()


def _processor(options) -> str:
    if options.platform and options.platform != "cpu":
        import xcore as xc

        return str(xc.devices()[0])
    return {"AMD64": "x86-64", "x86_64": "x86-64"}.get(platform.machine(), platform.machine())


def _totals(entries) -> str:
    """A row for each package, and one for all."""
    rows = [[part, *_total(those)] for part, those in _grouped(entries, lambda e: e.part).items()]
    head = ["", "routines", "problems", "ratios", "claims", "false", "unclaimed", "refused", "pessimism"]  # fmt: skip
    words = "A problem is one of a family, in a size and a dtype, run in one way. Pessimism: the median, in decimal digits.\n"  # fmt: skip
    return _table(head, [*rows, ["**all**", *_total(entries)]]) + "\n" + words


def _total(entries) -> list:
    problems = {(e.routine, e.dtype, e.family, e.n, e.way) for e in entries}
    told = [x for e in entries for x in e.pessimism]
    kinds = collections.Counter(e.kind for e in entries)
    sums = [sum(getattr(e, what) for e in entries) for what in ("claims", "false", "shy")]
    median = f"{statistics.median(told):.1f}" if told else "-"
    routines = {e.routine for e in entries}
    return [len(routines), len(problems), kinds["ratio"], *sums, kinds["refused"], median]


# Tables


def _table(head, rows) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return (
        "\n".join(lines + ["| " + " | ".join(_plain(str(x)) for x in r) + " |" for r in rows])
        + "\n"
    )


def _number(x) -> str:
    return "∞" if x == float("inf") else f"{x:.2g}" if x < 1e4 else f"{x:.0e}"


def _worst(entries):
    return max(entries, key=lambda e: e.ratio)


def _grouped(entries, key):
    found = collections.defaultdict(list)
    for e in entries:
        found[key(e)].append(e)
    return found


def _ratios(entries) -> str:
    measured = [e for e in entries if e.kind == "ratio"]
    refused = {(e.routine, e.dtype) for e in entries if e.kind == "refused"}
    pages = []
    for part, those in _grouped(measured, lambda e: e.part).items():
        by = _grouped(those, lambda e: (e.routine, e.dtype))
        rows = [
            [name, *(_cell(by.get((name, d)), (name, d) in refused) for d in DTYPES)]
            for name in dict.fromkeys(e.routine for e in those)
        ]
        pages.append(f"### {part}\n\n" + _table(["routine", *DTYPES], rows))
    return "\n" + "\n".join(pages)


def _cell(found, refused: bool) -> str:
    if not found:
        return "refused" if refused else "-"
    worst = _worst(found)
    return _number(worst.ratio) + (f" {worst.family} {worst.n}" if worst.n else "")


def _by_family(entries) -> str:
    measured = [e for e in entries if e.kind == "ratio" and e.part.endswith("linalg")]
    by = _grouped(measured, lambda e: (e.family, e.dtype))

    def cell(found):
        return f"{_number(_worst(found).ratio)} {_worst(found).routine}" if found else "-"

    rows = [[f, *(cell(by.get((f, d))) for d in DTYPES)] for f in dict.fromkeys(e.family for e in measured)]  # fmt: skip
    return _table(["matrices", *DTYPES], rows)


def _by_way(entries) -> str:
    """How many problems ran in each way, by dtype; and the largest ratio and claims of each."""
    rows = []
    for way, those in _grouped(entries, lambda e: e.way).items():
        ratios = [e for e in those if e.kind == "ratio"]
        largest = _number(_worst(ratios).ratio) if ratios else "-"
        counts = [len({(e.routine, e.family, e.n) for e in those if e.dtype == d}) for d in DTYPES]
        rows.append([way, *counts, largest, sum(e.claims for e in those), sum(e.false for e in those)])  # fmt: skip
    head = ["problems run", *DTYPES, "largest ratio", "claims", "false"]
    return _table(head, rows)


def _claims(entries) -> str:
    rows = []
    for (name, what), those in _grouped([e for e in entries if e.kind == "claim"], lambda e: (e.routine, e.what)).items():  # fmt: skip
        told = [x for e in those for x in e.pessimism]
        distance = f"{statistics.median(told):.1f}, {max(told):.1f}" if told else "-"
        rows.append([name, what, sum(e.claims for e in those), sum(e.false for e in those), sum(e.shy for e in those), distance])  # fmt: skip
    return "\n" + _table(["routine", "claim", "claims", "false", "unclaimed", "pessimism"], rows)


def _false(entries) -> str:
    """One line for each claim of a routine in a dtype: how many are false, and the worst, to run again."""
    lines = []
    for (name, dtype, what), those in _grouped([e for e in entries if e.claims], lambda e: (e.routine, e.dtype, e.what)).items():  # fmt: skip
        bad = [e for e in those if e.false]
        if bad:
            worst = max(bad, key=lambda e: e.excess)
            families = ", ".join(dict.fromkeys(e.family for e in bad))
            lines.append(f"- {name} {dtype}, {what}: {sum(e.false for e in bad)} of {sum(e.claims for e in those)} ({families}); {worst.words}\n  `{worst.command()}`")  # fmt: skip
    return "## False claims\n\nWith the worst of each.\n\n" + ("\n".join(lines) if lines else "None.") + "\n"  # fmt: skip


def _refused(entries) -> str:
    """Errors that users see in place of a result, with the families and sizes they came for."""
    refused = [e for e in entries if e.kind == "refused"]
    rows = []
    for (name, _), those in _grouped(refused, lambda e: (e.routine, e.what)).items():
        dtypes = [d for d in DTYPES if any(e.dtype == d for e in those)]
        families = dict.fromkeys(e.family for e in those)
        rows.append([name, " ".join(dtypes), len(those), ", ".join(families), those[0].words[:200]])
    head = "## Refused\n\nErrors in place of results, and the words of the first. Singular matrices are meant to be refused.\n\n"  # fmt: skip
    return head + (_table(["routine", "dtypes", "times", "families", "words"], rows) if rows else "None.\n")  # fmt: skip


def _plain(words) -> str:
    """A bar would end the cell."""
    return words.replace("|", "\\|")
