"""Public test collections, solved: writes benchmarks/SCORES.md.

    python benchmarks/scores.py --nist FOLDER    NIST_STRD of lmfit's source distribution (BSD)
    python benchmarks/scores.py hock             one table; the others stay as they are

`pip download --no-binary :all: --no-deps lmfit` fetches the certified data sets.
"""

import argparse
import re
import time
from pathlib import Path

import numpy as np
import scipy.optimize
from hock_schittkowski import problems

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo

SCORES = Path(__file__).resolve().parent / "SCORES.md"
PREFACE = (
    "# Scores on public test collections\n\nWritten by `benchmarks/scores.py`; 64-bit numbers.\n"
)

# ------------------------------------------------------------------------------------------ NIST

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


# ------------------------------------------------------------------------------ Hock–Schittkowski


def hock(_):
    lines, solved = [], 0
    for p in problems():
        begin = time.perf_counter()
        found = xo.minimize_constrained(
            p.f, xnp.asarray(p.start), (), xo.Constraints(p.eq, p.ineq), bounds=p.bounds
        )
        error = abs(float(found.fun) - p.least) / max(1, abs(p.least))
        violated = float(found.certificate.feasibility)
        # published values have some eight digits
        fine = error <= 1e-6 and violated <= 1e-6
        solved += fine
        lines.append(
            f"| {p.number} | {len(p.start)} | {int(found.nit)} | {float(found.fun):.9g} | {p.least:.9g} | "
            f"{error:.0e} | {violated:.0e} | {xo.Status(int(found.status)).name} | {'yes' if fine else '**no**'} |"
        )
        print(lines[-1], f"{time.perf_counter() - begin:.1f} s", flush=True)
    return [
        "Hock and Schittkowski's problems, `minimize_constrained` with its defaults (SQP).", "",
        "| number | variables | steps | found | published | error | violated | status | to 1e-6 |",
        "|---:|---:|---:|---:|---:|---:|---:|---|---|", *lines, "", f"{solved} of {len(lines)} to 1e-6.",
    ]  # fmt: skip


TABLES = {"nist": nist, "hock": hock}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="table", help="nist, hock; all by default")
    parser.add_argument("--nist", type=Path, help="folder with the data sets of NIST")
    args = parser.parse_args()
    sections = read()
    for name in args.tables or TABLES:
        if name == "nist" and args.nist is None:
            print("nist: give its folder with --nist")
            continue
        sections[name] = "\n".join(TABLES[name](args.nist))
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
