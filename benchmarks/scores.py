"""Public test collections, solved: writes benchmarks/SCORES.md.

    python benchmarks/scores.py                  all tables
    python benchmarks/scores.py hock             one table; the others stay as they are
    python benchmarks/scores.py --nist FOLDER    NIST's data sets are here: not downloaded

The certified data sets of NIST are in NIST_STRD of lmfit's source distribution (BSD), fetched with pip.
"""

import argparse
import itertools
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import hock_schittkowski
import more_garbow_hillstrom
import numpy as np
import scipy.optimize
from harness import facts

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo

SCORES = Path(__file__).resolve().parent / "SCORES.md"
PREFACE = (
    "# Scores on public test collections\n\nWritten by `benchmarks/scores.py`; 64-bit numbers.\n"
)

# NIST

exp, sin, cos, pi = xnp.exp, xnp.sin, xnp.cos, np.pi
MODELS = {
    "Bennett5": lambda x, a, b, c: a * (b + x) ** (-1 / c),
    "BoxBOD": lambda x, a, b: a * (1 - exp(-b * x)),
    "Chwirut1": lambda x, a, b, c: exp(-a * x) / (b + c * x),
    "DanWood": lambda x, a, b: a * x**b,
    "ENSO": lambda x, a, b, c, d, e, f, g, h, i: a
    + b * cos(2 * pi * x / 12) + c * sin(2 * pi * x / 12) + e * cos(2 * pi * x / d)
    + f * sin(2 * pi * x / d) + h * cos(2 * pi * x / g) + i * sin(2 * pi * x / g),
    "Eckerle4": lambda x, a, b, c: a / b * exp(-0.5 * ((x - c) / b) ** 2),
    "Gauss1": lambda x, a, b, c, d, e, f, g, h: a * exp(-b * x)
    + c * exp(-((x - d) ** 2) / e**2) + f * exp(-((x - g) ** 2) / h**2),
    "Hahn1": lambda x, a, b, c, d, e, f, g: (a + b * x + c * x**2 + d * x**3)
    / (1 + e * x + f * x**2 + g * x**3),
    "Kirby2": lambda x, a, b, c, d, e: (a + b * x + c * x**2) / (1 + d * x + e * x**2),
    "Lanczos1": lambda x, a, b, c, d, e, f: a * exp(-b * x) + c * exp(-d * x) + e * exp(-f * x),
    "MGH09": lambda x, a, b, c, d: a * (x**2 + x * b) / (x**2 + x * c + d),
    "MGH10": lambda x, a, b, c: a * exp(b / (x + c)),
    "MGH17": lambda x, a, b, c, d, e: a + b * exp(-x * d) + c * exp(-x * e),
    "Misra1a": lambda x, a, b: a * (1 - exp(-b * x)),
    "Misra1b": lambda x, a, b: a * (1 - (1 + b * x / 2) ** -2),
    "Misra1c": lambda x, a, b: a * (1 - (1 + 2 * b * x) ** -0.5),
    "Misra1d": lambda x, a, b: a * b * x * (1 + b * x) ** -1,
    "Nelson": lambda x, a, b, c: a - b * x[0] * exp(-c * x[1]),
    "Rat42": lambda x, a, b, c: a / (1 + exp(b - c * x)),
    "Rat43": lambda x, a, b, c, d: a / (1 + exp(b - c * x)) ** (1 / d),
    "Roszman1": lambda x, a, b, c, d: a - b * x - xnp.arctan(c / (x - d)) / pi,
}  # fmt: skip
SAME = {"Chwirut2": "Chwirut1", "Gauss2": "Gauss1", "Gauss3": "Gauss1", "Lanczos2": "Lanczos1",
        "Lanczos3": "Lanczos1", "Thurber": "Hahn1"}  # fmt: skip


def read_nist(path: Path):
    """(data, starts, certified parameters, their standard deviations)."""
    lines = path.read_text().splitlines()
    rows = [line.split("=")[1].split() for line in lines if re.match(r"\s*b\d+\s*=", line)]
    table = np.array([[float(v) for v in row[:4]] for row in rows])
    begin = next(int(m[1]) for line in lines if (m := re.search(r"Data\s+\(lines\s+(\d+)", line)))
    data = np.array(
        [[float(v) for v in line.split()] for line in lines[begin - 1 :] if line.split()]
    )
    return data.T, table[:, :2].T, table[:, 2], table[:, 3]


def digits(found, certified) -> float:
    """Certified digits of the worst parameter: the negative logarithm of its relative error."""
    error = np.max(np.abs(np.asarray(found) - certified) / np.abs(certified))
    return float(min(11.0, -np.log10(max(error, 1e-11)))) if np.isfinite(error) else 0.0


def nist(folder: Path):
    head = ["| problem | parameters | digits, start 1 | SciPy's, start 1 | digits, start 2 | "
            "SciPy's, start 2 | of errors |",
            "|---|---:|---:|---:|---:|---:|---:|"]  # fmt: skip
    lines, scores = [], []
    for path in sorted(folder.glob("*.dat")):
        (y, *x), starts, certified, errors = read_nist(path)
        x = x[0] if len(x) == 1 else np.stack(x)
        y = np.log(y) if path.stem == "Nelson" else y
        model = MODELS[SAME.get(path.stem, path.stem)]
        fit = xc.jit(
            lambda p, m=model, x=x, y=y: xo.curve_fit(lambda x, *p: m(x, *p), x, y, tuple(p))
        )
        residuals = xc.jit(lambda p, m=model, x=x, y=y: m(x, *p) - y)
        row = []
        for start in starts:
            done = fit([np.float64(v) for v in start])
            row.append(digits(done.popt, certified))
            peer = scipy.optimize.least_squares(
                lambda p, r=residuals: np.asarray(r(list(map(np.float64, p)))), start, method="lm", xtol=1e-14,
                ftol=1e-14, gtol=1e-14, max_nfev=20000,
            )  # fmt: skip
            row.append(digits(peer.x, certified))
        scores.append(row)
        lines.append(
            f"| {path.stem} | {len(certified)} | {row[0]:.1f} | {row[1]:.1f} | {row[2]:.1f} | {row[3]:.1f} | "
            f"{digits(done.stderr, errors):.1f} |"
        )
        print(lines[-1], flush=True)
    a = np.array(scores)
    total = (
        f"At least 8 certified digits: from start 2 on {np.sum(a[:, 2] >= 8)} of {len(a)}; from start 1 on "
        f"{np.sum(a[:, 0] >= 8)}, SciPy's MINPACK (differences for derivatives) on {np.sum(a[:, 1] >= 8)}."
    )
    return [
        "NIST Statistical Reference Datasets, nonlinear regression, `curve_fit`.",
        "",
        *head,
        *lines,
        "",
        total,
    ]


def fetch_nist(into: str) -> Path:
    """The folder of NIST's data sets, from lmfit's source distribution."""
    # pip asks the source distribution for its metadata, and gets what it needs for that by itself
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-binary", "lmfit", "--no-deps"]
    subprocess.run([*pip, "--dest", into, "lmfit==1.0.2"], check=True)
    archive = next(Path(into).glob("lmfit-*.tar.gz"))
    with tarfile.open(archive) as tar:
        tar.extractall(into, filter="data")
    return next(Path(into).glob("lmfit-*/NIST_STRD"))


# Collections


def groups(problems, key):
    """Lists of problems that are solved by one program."""
    return [list(g) for _, g in itertools.groupby(sorted(problems, key=key), key=key)]


def one_of(functions):
    """f(which, x): one of several functions with results alike."""
    if len(functions) == 1:
        return lambda _, x: functions[0](x)
    return lambda which, x: xc.lax.switch(which, functions, x)


def padded(f, size: int, value: float):
    """f with ``value`` after its results, up to a size."""

    def more(x):
        y = xnp.asarray(f(x)) if f else xnp.zeros(0, x.dtype)
        return xnp.pad(y, (0, size - y.size), constant_values=value)

    return more


# Hock–Schittkowski


def length(f, start) -> int:
    return 0 if f is None else f(xnp.asarray(start)).size


def side(p, which: int):
    none = (-np.inf, np.inf)[which]
    given = None if p.bounds is None else p.bounds[which]
    return np.broadcast_to(np.float64(none if given is None else given), p.start.shape)


def hock_solver(group):
    """(which, start, lower, upper) -> the solution, for problems of as many variables and equations."""
    most = max(length(p.ineq, p.start) for p in group)
    f = one_of([lambda x, p=p: xnp.asarray(p.f(x)) for p in group])
    eq = group[0].eq and one_of([p.eq for p in group])
    ineq = one_of([padded(p.ineq, most, 1.0) for p in group]) if most else None

    def solve(which, x, lower, upper):
        at = lambda g: None if g is None else lambda x: g(which, x)  # noqa: E731
        constraints = xo.Constraints(at(eq), at(ineq))
        return xo.minimize_constrained(at(f), x, (), constraints, bounds=(lower, upper))

    return xc.jit(solve)


def hock(_):
    rows, solved = {}, 0
    every = hock_schittkowski.problems()
    for group in groups(every, lambda p: (len(p.start), length(p.eq, p.start))):
        solve = hock_solver(group)
        for i, p in enumerate(group):
            args = np.int32(i), p.start, side(p, 0), side(p, 1)
            found = solve(*map(xnp.asarray, args))
            error = abs(float(found.fun) - p.least) / max(1, abs(p.least))
            violated = float(found.certificate.feasibility)
            # published values have some eight digits
            fine = error <= 1e-6 and violated <= 1e-6
            solved += fine
            rows[p.number] = (
                f"| {p.number} | {len(p.start)} | {int(found.nit)} | {float(found.fun):.9g} | {p.least:.9g} | "
                f"{error:.0e} | {violated:.0e} | {xo.Status(int(found.status)).name} | {'yes' if fine else '**no**'} |"
            )
            print(rows[p.number], flush=True)
    return [
        "Hock and Schittkowski's problems, `minimize_constrained` with its defaults (SQP). Problems of as many",
        "variables and equations share one program, in which some have inequalities 1 ≥ 0 besides their own.", "",
        "| number | variables | steps | found | published | error | violated | status | to 1e-6 |",
        "|---:|---:|---:|---:|---:|---:|---:|---|---|", *(rows[n] for n in sorted(rows)), "",
        f"{solved} of {len(rows)} to 1e-6.",
    ]  # fmt: skip


# Moré–Garbow–Hillstrom

LIMIT = 1000  # steps
SOLVERS = ("LM", "SciPy's LM", "BFGS", "SciPy's BFGS")
FACTORS = (1, 1.25, 1.5, 2, 4, 8)


def near(f, least) -> bool:
    return any(abs(f - v) <= 1e-5 * v + 1e-8 for v in least)


def first_near(values, evaluations, least) -> float:
    """The number of evaluations after which the value was near a published one."""
    return next((float(n) for f, n in zip(values, evaluations) if near(f, least)), np.inf)


def more_solvers(group):
    """Ours, and residuals with their Jacobian for the peer."""
    most = max(p.count for p in group)
    residuals = one_of([padded(p.residuals, most, 0.0) for p in group])

    def fit(which, x):
        return xo.least_squares(
            lambda x: residuals(which, x), x, maxiter=LIMIT, history=True
        ).history

    def local(which, x):
        return residuals(which, x), xc.jacfwd(lambda x: residuals(which, x))(x)

    return xc.jit(fit), xc.jit(local)


def bfgs_solver(problems):
    """One program for all: variables that a problem does not use have no gradient, and stay."""
    square = one_of([
        lambda x, p=p: xnp.sum(p.residuals(x[: len(p.start)]) ** 2) for p in problems
    ])  # fmt: skip
    most = max(len(p.start) for p in problems)

    @xc.jit
    def solve(which, x):
        f = lambda x: square(which, x)  # noqa: E731
        return xo.minimize(f, x, method="bfgs", tol=1e-9, maxiter=LIMIT, history=True).history

    def padded_solve(which, p):
        return solve(which, xnp.asarray(np.pad(p.start, (0, most - len(p.start)))))

    return padded_solve


def peers(local, which, p):
    """(values, evaluations) of SciPy's LM and BFGS, with exact derivatives."""
    seen: list[float] = []
    memo: dict = {}

    def at(x):
        key = x.tobytes()
        if key not in memo:
            memo.clear()
            memo[key] = tuple(np.asarray(v)[: p.count] for v in local(which, xnp.asarray(x)))
        return memo[key]

    def residuals(x):
        seen.append(float(np.sum(at(x)[0] ** 2)))
        return at(x)[0]

    def square(x):
        r = residuals(x)
        return r @ r, 2 * r @ at(x)[1]

    tight = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "max_nfev": LIMIT}
    scipy.optimize.least_squares(residuals, p.start, lambda x: at(x)[1], method="lm", **tight)
    lm, seen[:] = list(seen), []
    options = {"gtol": 1e-9, "maxiter": LIMIT}
    scipy.optimize.minimize(square, p.start, jac=True, method="BFGS", options=options)
    return lm, list(seen)


def more(_):
    counts, every = {}, more_garbow_hillstrom.problems()
    bfgs = bfgs_solver(every)
    for group in groups(every, lambda p: len(p.start)):
        fit, local = more_solvers(group)
        for i, p in enumerate(group):
            which, x = xnp.asarray(np.int32(i)), xnp.asarray(p.start)
            ours = [
                first_near(scale * np.asarray(h["f"]), np.asarray(h["nfev"]), p.least)
                for h, scale in ((fit(which, x), 2), (bfgs(np.int32(p.number - 1), p), 1))
            ]
            theirs = [first_near(v, itertools.count(1), p.least) for v in peers(local, which, p)]
            counts[p.number] = [ours[0], theirs[0], ours[1], theirs[1]]
            print(p.number, p.name, counts[p.number], flush=True)
    return more_lines(counts)


def more_lines(counts):
    problems = more_garbow_hillstrom.problems()
    show = lambda n: f"{n:.0f}" if np.isfinite(n) else "–"  # noqa: E731
    lines = [
        f"| {p.number} | {p.name} | {len(p.start)} | {p.count} | {' | '.join(map(show, row))} |"
        for p in problems
        for row in [counts[p.number]]
    ]
    table = np.array([counts[p.number] for p in problems])
    solved = ", ".join(f"{name} {n}" for name, n in zip(SOLVERS, np.isfinite(table).sum(axis=0)))
    return [
        "Moré, Garbow and Hillstrom's problems: evaluations, derivatives with them, until the sum of squares is",
        "near a published minimum (1e-5 of it, or 1e-8); –: never, in so many steps as " f"{LIMIT}.", "",
        f"| number | problem | variables | residuals | {' | '.join(SOLVERS)} |",
        "|---:|---|---:|---:|---:|---:|---:|---:|", *lines, "", f"Solved of {len(counts)}: {solved}.", "",
        "Performance profile (Dolan, Moré 2002): the part of the problems that needs at most so many times the",
        "evaluations of the better of both.", "",
        f"| solver | {' | '.join(f'{t:g} ×' for t in FACTORS)} | ever |", "|---|" + "---:|" * (len(FACTORS) + 1),
        *profile(SOLVERS[:2], table[:, :2]), *profile(SOLVERS[2:], table[:, 2:]),
    ]  # fmt: skip


def profile(names, counts):
    """Rows of a performance profile."""
    best = counts.min(axis=1, keepdims=True)
    ratio = np.where(np.isfinite(counts), counts / best, np.inf)
    shares = [[np.mean(r <= t) for t in FACTORS] + [np.mean(np.isfinite(r))] for r in ratio.T]
    return [
        f"| {name} | {' | '.join(f'{s:.2f}' for s in row)} |" for name, row in zip(names, shares)
    ]


TABLES = {"nist": nist, "hock": hock, "more": more}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "tables", nargs="*", metavar="table", help="nist, hock, more; all by default"
    )
    parser.add_argument("--nist", type=Path, help="folder with the data sets of NIST")
    args = parser.parse_args()
    sections = read()
    with tempfile.TemporaryDirectory() as room:
        for name in args.tables or TABLES:
            folder = (args.nist or fetch_nist(room)) if name == "nist" else None
            sections[name] = "\n".join([f"{facts()}.", "", *TABLES[name](folder)])
            SCORES.write_text(
                PREFACE + "".join(f"\n## {n}\n\n{sections[n]}\n" for n in sorted(sections))
            )


def read() -> dict[str, str]:
    """The sections that are there already."""
    if not SCORES.exists():
        return {}
    _, *parts = re.split(r"^## (\w+)\n\n", SCORES.read_text(), flags=re.MULTILINE)
    return {n: text.rstrip("\n") for n, text in zip(parts[::2], parts[1::2], strict=True)}


if __name__ == "__main__":
    main()
